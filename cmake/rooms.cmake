# Rooms and who may call whom (see docs/architecture.md).
add_library(quern_flags INTERFACE)
target_compile_options(quern_flags INTERFACE -Wall -Wextra -Wpedantic $<$<BOOL:${QUERN_WERROR}>:-Werror>)
# QUERN_SHARED: what the public header declares is exported from the shared library; all else is hidden.
target_compile_definitions(quern_flags INTERFACE _POSIX_C_SOURCE=200809L _XOPEN_SOURCE=700 QUERN_SHARED)
target_include_directories(quern_flags INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include
                                                 ${PROJECT_BINARY_DIR}/generated)
find_package(Threads REQUIRED)

# A library of the files in FOLDERS under src/, without what is below them. In a Release build LOOPS are optimised for as CMake
# has it (-O3); what has none that matter would only grow by it, by a sixth of the library. SMALL is what runs through much code once,
# the compiler's stages: for size it is a fifth smaller, and as fast.
function(quern_room name)
    cmake_parse_arguments(ARG "LOOPS;SMALL" "" "FOLDERS;USES" ${ARGN})
    if(NOT ARG_FOLDERS)
        set(ARG_FOLDERS ${name})
    endif()
    list(TRANSFORM ARG_FOLDERS REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/src/\\1/*.c")
    file(GLOB sources CONFIGURE_DEPENDS ${ARG_FOLDERS})
    if(NOT sources)
        return()
    endif()
    add_library(quern_${name} STATIC ${sources})
    target_link_libraries(quern_${name} PRIVATE quern_flags)
    if(ARG_SMALL)
        target_compile_options(quern_${name} PRIVATE $<$<CONFIG:Release>:-Os>)
    elseif(NOT ARG_LOOPS)
        target_compile_options(quern_${name} PRIVATE $<$<CONFIG:Release>:-O2>)
    endif()
    foreach(room ${ARG_USES})
        if(TARGET quern_${room})
            target_link_libraries(quern_${name} PUBLIC quern_${room})
        endif()
    endforeach()
    set_property(GLOBAL APPEND PROPERTY QUERN_ROOMS quern_${name})
endfunction()

if(WIN32)
    quern_room(util LOOPS FOLDERS util util/windows)
else()
    quern_room(util LOOPS FOLDERS util util/posix)
endif()
quern_room(target USES util)
quern_room(ir USES util)
quern_room(front SMALL FOLDERS front front/pp front/parse front/sema front/lower USES ir target util)
quern_room(wgsl SMALL USES front ir target util)
quern_room(pass SMALL USES ir target util)
quern_room(emit SMALL FOLDERS emit emit/* USES ir target util pass)
quern_room(vm LOOPS USES ir util)
quern_room(check LOOPS USES vm ir util)
quern_room(backend_common FOLDERS backend/common USES util)
file(GLOB backends CONFIGURE_DEPENDS LIST_DIRECTORIES true RELATIVE ${PROJECT_SOURCE_DIR}/src/backend
     ${PROJECT_SOURCE_DIR}/src/backend/*)
list(REMOVE_ITEM backends common)
foreach(backend ${backends})
    quern_room(backend_${backend} FOLDERS backend/${backend} USES backend_common util)
endforeach()
target_link_libraries(quern_backend_cpu PUBLIC quern_vm)
target_link_libraries(quern_backend_check PUBLIC quern_check)
quern_room(compile SMALL FOLDERS . USES wgsl front pass emit vm ir target util)
quern_room(runtime USES compile target util)
if(TARGET quern_util)
    target_link_libraries(quern_util PUBLIC Threads::Threads m ${CMAKE_DL_LIBS})
endif()
include(${PROJECT_SOURCE_DIR}/cmake/lib.cmake)

# The cache's key names the build (src/runtime/cache.c).
file(GLOB_RECURSE all_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.c ${PROJECT_SOURCE_DIR}/src/*.h
     ${PROJECT_SOURCE_DIR}/src/*.def ${PROJECT_SOURCE_DIR}/src/*.cl)
list(FILTER all_sources EXCLUDE REGEX "/src/(kernels|tensor|nn|data)/") # above the core: users of the compiler
add_custom_command(
    OUTPUT ${PROJECT_BINARY_DIR}/generated/fingerprint.h
    COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR}/src -DOUTPUT=${PROJECT_BINARY_DIR}/generated/fingerprint.h
            -P ${PROJECT_SOURCE_DIR}/cmake/fingerprint.cmake
    DEPENDS ${all_sources} ${PROJECT_SOURCE_DIR}/cmake/fingerprint.cmake
    VERBATIM)
target_sources(quern_runtime PRIVATE ${PROJECT_BINARY_DIR}/generated/fingerprint.h)
