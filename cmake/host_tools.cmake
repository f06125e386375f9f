# Programs that run while quern is built: quern_embed and quern_freeze (cmake/lib.cmake). Cross compiling, a build of their
# own makes them for this machine, by the C compiler QUERN_HOST_CC; or they are in the folder QUERN_HOST_TOOLS already.
# The function sets OUT to the program's path, or to the target.
set(QUERN_HOST_TOOLS "" CACHE PATH "Cross compiling: a folder with quern_embed and quern_freeze for this machine")

if(CMAKE_CROSSCOMPILING AND NOT QUERN_HOST_TOOLS)
    include(ExternalProject)
    find_program(QUERN_HOST_CC NAMES cc gcc clang REQUIRED NO_CMAKE_FIND_ROOT_PATH)
    set(host_tools_folder ${PROJECT_BINARY_DIR}/host)
    # What the environment says of compilers is about the other machine's.
    set(host_cmake ${CMAKE_COMMAND} -E env --unset=CC --unset=CFLAGS --unset=CPPFLAGS --unset=LDFLAGS --unset=CMAKE_TOOLCHAIN_FILE
                   ${CMAKE_COMMAND})
    if(CMAKE_GENERATOR MATCHES "Makefiles")
        set(host_build $(MAKE)) # which shares this make's jobs
    else()
        set(host_build ${CMAKE_COMMAND} --build . --config Release --target)
    endif()
    ExternalProject_Add(
        quern_host_tools
        SOURCE_DIR ${PROJECT_SOURCE_DIR}
        BINARY_DIR ${host_tools_folder}
        CONFIGURE_COMMAND
            ${host_cmake} -S <SOURCE_DIR> -B <BINARY_DIR> -G ${CMAKE_GENERATOR} -DCMAKE_C_COMPILER=${QUERN_HOST_CC}
            -DCMAKE_BUILD_TYPE=Release -DCMAKE_RUNTIME_OUTPUT_DIRECTORY=<BINARY_DIR>/bin
            -DCMAKE_RUNTIME_OUTPUT_DIRECTORY_RELEASE=<BINARY_DIR>/bin -DQUERN_TOOL=OFF -DQUERN_TESTS=OFF -DQUERN_EXAMPLES=OFF
            -DQUERN_INSTALL=OFF
        BUILD_COMMAND ${host_build} quern_embed quern_freeze
        BUILD_ALWAYS ON
        BUILD_BYPRODUCTS ${host_tools_folder}/bin/quern_embed ${host_tools_folder}/bin/quern_freeze
        INSTALL_COMMAND "")
endif()

function(quern_host_tool name out)
    cmake_parse_arguments(ARG "" "" "SOURCES;USES" ${ARGN})
    set(suffix "")
    if(CMAKE_HOST_WIN32)
        set(suffix .exe)
    endif()
    if(NOT CMAKE_CROSSCOMPILING)
        add_executable(${name} ${ARG_SOURCES})
        target_link_libraries(${name} PRIVATE ${ARG_USES})
        set(${out} ${name} PARENT_SCOPE)
    elseif(QUERN_HOST_TOOLS)
        set(${out} ${QUERN_HOST_TOOLS}/${name}${suffix} PARENT_SCOPE)
    else()
        set(${out} ${host_tools_folder}/bin/${name}${suffix} PARENT_SCOPE)
    endif()
endfunction()
