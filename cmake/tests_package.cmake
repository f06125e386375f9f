# Tests of what a user touches: the installed package, the shared library's face, the command line, a debugger.
# Status 77 of a script: skipped, with the reason in its output.
function(quern_script_test name)
    add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 900)
endfunction()

# Pages that are generated from the sources are up to date, and their links lead somewhere.
quern_script_test(docs scripts/docs --check)

if(TARGET quern)
    find_package(Python3 COMPONENTS Interpreter)
    if(Python3_Interpreter_FOUND)
        file(GLOB cli_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/cli/test_*.py)
        foreach(source ${cli_tests})
            get_filename_component(name ${source} NAME_WE)
            string(REPLACE "test_" "cli." name ${name})
            quern_script_test(${name} ${Python3_EXECUTABLE} -B ${source} $<TARGET_FILE:quern>)
        endforeach()
    endif()
    # A part of the corpus; `make bench-check` compares all of it.
    if(Python3_Interpreter_FOUND)
        quern_script_test(check.oclgrind ${Python3_EXECUTABLE} -B scripts/compare-oclgrind $<TARGET_FILE:quern> tests/check/uninitialised.cl)
    endif()
    quern_script_test(emit.compilers tests/emit/check.sh $<TARGET_FILE:quern> ${PROJECT_SOURCE_DIR})
    if(Python3_Interpreter_FOUND)
        quern_script_test(emit.ptx ${Python3_EXECUTABLE} -B tests/emit/check_ptx.py $<TARGET_FILE:quern>
                          ${PROJECT_SOURCE_DIR})
        quern_script_test(emit.spirv ${Python3_EXECUTABLE} -B tests/emit/check_spirv.py $<TARGET_FILE:quern>
                          ${PROJECT_SOURCE_DIR})
        quern_script_test(emit.operations ${Python3_EXECUTABLE} -B tests/emit/check_operations.py
                          $<TARGET_FILE:op_kernels> $<TARGET_FILE:quern>)
    endif()
    quern_script_test(emit.clc tests/emit/check_clc.sh $<TARGET_FILE:quern> ${PROJECT_SOURCE_DIR})
endif()

# A sanitizer's library would have to be linked to everything that follows.
if(TARGET quern AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize")
    quern_script_test(gdb.kernel tests/gdb/check.sh $<TARGET_FILE:quern> ${PROJECT_SOURCE_DIR})
    quern_script_test(install.package tests/install/check.sh ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR}
                      ${CMAKE_INSTALL_LIBDIR} ${CMAKE_C_COMPILER})
    quern_script_test(packages tests/packaging/check.sh ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
    if(CMAKE_BUILD_TYPE STREQUAL "Release") # the first two: 3 MB together
        set(library_limit 2359296)
        set(kernels_limit 786432)
        set(tensor_limit 900000)
        set(ring_limit 250000)
    else()
        set(library_limit 0)
        set(kernels_limit 0)
        set(tensor_limit 0)
        set(ring_limit 0)
    endif()
    quern_script_test(library.exports tests/library/check.sh $<TARGET_FILE:quern_shared> ${PROJECT_SOURCE_DIR}
                      ${CMAKE_C_COMPILER} ${library_limit})
    quern_script_test(library.kernels tests/library/check.sh $<TARGET_FILE:quern_kernels_shared> ${PROJECT_SOURCE_DIR}
                      ${CMAKE_C_COMPILER} ${kernels_limit} $<TARGET_FILE:quern_shared>)
    quern_script_test(library.tensor tests/library/check.sh $<TARGET_FILE:quern_tensor_shared> ${PROJECT_SOURCE_DIR}
                      ${CMAKE_C_COMPILER} ${tensor_limit} "$<TARGET_FILE:quern_kernels_shared> $<TARGET_FILE:quern_shared>")
    quern_script_test(library.ring tests/library/check.sh $<TARGET_FILE:quern_ring_shared> ${PROJECT_SOURCE_DIR}
                      ${CMAKE_C_COMPILER} ${ring_limit} $<TARGET_FILE:quern_shared>)
    quern_script_test(library.alone tests/library/alone.sh $<TARGET_FILE:quern_shared>
                      $<TARGET_FILE:quern_kernels_shared> ${PROJECT_SOURCE_DIR} ${CMAKE_C_COMPILER})
    # Other machines and C libraries, played by emulators.
    foreach(kind aarch64 musl windows)
        quern_script_test(cross.${kind} tests/cross/check.sh ${kind} ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR})
    endforeach()
endif()
