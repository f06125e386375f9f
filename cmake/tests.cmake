# Unit tests: tests/unit/<room>_*.c, one cmocka program each, linked to its room.
option(QUERN_OWN_CMOCKA "Build the unit tests with the stand-in for cmocka (tests/cross)" ${CMAKE_CROSSCOMPILING})
if(QUERN_OWN_CMOCKA)
    add_library(cmocka INTERFACE)
    target_include_directories(cmocka INTERFACE ${PROJECT_SOURCE_DIR}/tests/cross/include)
    add_library(PkgConfig::CMOCKA ALIAS cmocka)
else()
    find_package(PkgConfig REQUIRED)
    pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)
endif()

file(GLOB unit_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/unit/*.c)
foreach(source ${unit_tests})
    get_filename_component(name ${source} NAME_WE)
    string(REGEX REPLACE "_.*" "" room ${name})
    if(room MATCHES "^(api|backend|runtime)$" AND TARGET quern_static)
        set(library quern_static)
    elseif(room STREQUAL "kernels")
        set(library quern_kernels_static)
    elseif(room MATCHES "^(tensor|nn|data)$")
        set(library quern_tensor_static)
    elseif(room STREQUAL "ring")
        set(library quern_ring_static)
    elseif(TARGET quern_${room})
        set(library quern_${room})
    else()
        continue()
    endif()
    add_executable(unit_${name} ${source})
    target_link_libraries(unit_${name} PRIVATE quern_flags ${library} PkgConfig::CMOCKA m)
    if(room STREQUAL "compile" AND TARGET quern_backend_common)
        target_link_libraries(unit_${name} PRIVATE quern_backend_common)
    endif()
    target_compile_definitions(unit_${name} PRIVATE QN__SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    add_test(NAME unit.${name} COMMAND unit_${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(unit.${name} PROPERTIES SKIP_RETURN_CODE 77)
endforeach()

if(TARGET unit_ring_aside)
    target_link_libraries(unit_ring_aside PRIVATE quern_kernels_static)
endif()

# Rings as some devices have them, on the others, too: the library built with a definition, and its tests as unit.<name>.<test>.
function(quern_ring_tests name definition)
    if(NOT TARGET quern_ring_static)
        return()
    endif()
    add_library(quern_ring_${name} STATIC ${ring_sources} ${ring_text_source})
    add_dependencies(quern_ring_${name} quern_ring_objects) # which write the texts' source
    target_compile_definitions(quern_ring_${name} PRIVATE ${definition})
    target_link_libraries(quern_ring_${name} PRIVATE quern_flags PUBLIC quern_static)
    foreach(test ${ARGN})
        add_executable(unit_${name}_${test} ${PROJECT_SOURCE_DIR}/tests/unit/${test}.c)
        target_link_libraries(unit_${name}_${test} PRIVATE quern_flags quern_ring_${name} PkgConfig::CMOCKA m)
        target_compile_definitions(unit_${name}_${test} PRIVATE QN__SOURCE_DIR="${PROJECT_SOURCE_DIR}")
        add_test(NAME unit.${name}.${test} COMMAND unit_${name}_${test} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
        set_tests_properties(unit.${name}.${test} PROPERTIES SKIP_RETURN_CODE 77)
    endforeach()
endfunction()
# Without memory that both sides see (src/ring/mirror.c); with slots in pieces, as over a bus (src/ring/pieces.cl).
quern_ring_tests(mirrored QN__RING_MIRRORED ring_basic ring_batch ring_failure ring_load ring_net ring_queues ring_service ring_stopping)
quern_ring_tests(pieces QN__RING_IN_PIECES ring_basic ring_failure ring_load ring_service ring_sizes ring_stopping)

# Where the host's side has ThreadSanitizer a ring's kernel has it, too: it orders what they share by what both do.
if(CMAKE_C_FLAGS MATCHES "-fsanitize=thread")
    get_property(all_tests DIRECTORY PROPERTY TESTS)
    list(FILTER all_tests INCLUDE REGEX "^unit\\.(mirrored\\.|pieces\\.)?ring_")
    set_property(TEST ${all_tests} APPEND PROPERTY ENVIRONMENT QUERN_CC=${PROJECT_SOURCE_DIR}/tests/cc_thread)
endif()

# With a trace, calls do what they do without.
foreach(name api_random api_stream)
    if(TARGET unit_${name})
        add_test(NAME unit.traced.${name} COMMAND unit_${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
        set_tests_properties(unit.traced.${name} PROPERTIES SKIP_RETURN_CODE 77 ENVIRONMENT
                                                            "QUERN_TRACE=${PROJECT_BINARY_DIR}/${name}.json")
    endif()
endforeach()

# Pages that are generated from the sources are up to date.
add_test(NAME docs.ir COMMAND scripts/gen-ir-docs --check WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})

# Kernel tests: tests/cl/*.cl, found by listing, in parts that run side by side. cl_oracle is for people: it runs the
# same files on an OpenCL driver.
if(TARGET quern_static)
    set(case_sources ${PROJECT_SOURCE_DIR}/tests/cl_case.c)
    foreach(file arg types npy files)
        list(APPEND case_sources ${PROJECT_SOURCE_DIR}/tools/quern/${file}.c)
    endforeach()
    set(stb_required REQUIRED)
    include(cmake/stb.cmake)
    add_library(cl_case STATIC ${case_sources})
    target_link_libraries(cl_case PUBLIC quern_flags m)
    target_include_directories(cl_case SYSTEM PRIVATE ${STB_INCLUDE})
    add_executable(cl_runner ${PROJECT_SOURCE_DIR}/tests/cl_runner.c ${PROJECT_SOURCE_DIR}/tests/cl_pool.c
                             ${PROJECT_SOURCE_DIR}/tests/cl_findings.c)
    target_link_libraries(cl_runner PRIVATE cl_case quern_static)
    set(shards 4)
    math(EXPR last_shard "${shards} - 1")
    foreach(shard RANGE ${last_shard})
        add_test(NAME cl.${shard}
                 COMMAND cl_runner --only full --shard ${shard}/${shards} -j 1 --cache ${PROJECT_BINARY_DIR}/cl-cache tests/cl
                 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
        set_tests_properties(cl.${shard} PROPERTIES TIMEOUT 1800)
    endforeach()
    # WGSL: all of it interpreted, a part compiled; `make test-all` has all.
    add_test(NAME wgsl.vm COMMAND cl_runner --only vm -j 1 --batch 64 tests/wgsl WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    add_test(NAME wgsl.cpu COMMAND cl_runner --only "cpu, full" --shard 0/10 -j 1 --cache ${PROJECT_BINARY_DIR}/cl-cache tests/wgsl
             WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    add_test(NAME wgsl.check COMMAND cl_runner --device check -j 1 --batch 64 tests/wgsl WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(wgsl.vm wgsl.cpu wgsl.check PROPERTIES TIMEOUT 600)
    # The other levels, whose passes this one has too, and safe programs, for a part of them; `make test-all` has all.
    add_test(NAME cl.plain COMMAND cl_runner --only "not optimised" --shard 1/6 -j 1 --cache ${PROJECT_BINARY_DIR}/cl-cache tests/cl
             WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    add_test(NAME cl.quick COMMAND cl_runner --only quick --shard 0/10 -j 1 --cache ${PROJECT_BINARY_DIR}/cl-cache tests/cl
             WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    add_test(NAME cl.safe COMMAND cl_runner --safe --loop-budget 1000000000 --only full --shard 2/24 -j 1 --cache ${PROJECT_BINARY_DIR}/cl-cache tests/cl
             WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    # The checker's corpus: faults of safe programs are those that its comments name.
    add_test(NAME cl.safe.corpus COMMAND cl_runner --safe --loop-budget 1000000 --only "vm, full" -j 1 tests/check
             WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(cl.plain cl.quick cl.safe cl.safe.corpus PROPERTIES TIMEOUT 900)
    # By way of programs to ship, compiled and interpreted.
    add_test(NAME cl.packed COMMAND cl_runner --packed --only full --shard 0/16 -j 1 tests/cl
             WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(cl.packed PROPERTIES TIMEOUT 900)
    # Batches in several processes at a time, as on devices, come to an end.
    add_test(NAME cl.batches COMMAND cl_runner --device cpu --only full --batch 32 --shard 0/24 -j 6
                                     --cache ${PROJECT_BINARY_DIR}/cl-cache tests/cl
             WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(cl.batches PROPERTIES TIMEOUT 300)
    # What the checker finds: the faults of its corpus, and nothing in kernels that are right.
    add_test(NAME check.corpus COMMAND cl_runner --device check --batch 64 -j 1 tests/check WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    add_test(NAME check.cl COMMAND cl_runner --device check --batch 64 -j 1 tests/cl WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(check.corpus check.cl PROPERTIES TIMEOUT 600)
    find_package(OpenCL QUIET)
    if(OpenCL_FOUND)
        add_executable(cl_oracle EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/cl_oracle.c)
        target_link_libraries(cl_oracle PRIVATE cl_case OpenCL::OpenCL)
    endif()
endif()

# Tint and naga are asked what they think of the same files (tests/wgsl_oracle.c).
if(TARGET quern_static)
    add_executable(wgsl_oracle ${PROJECT_SOURCE_DIR}/tests/wgsl_oracle.c ${PROJECT_SOURCE_DIR}/tests/wgsl_shape.c)
    target_link_libraries(wgsl_oracle PRIVATE cl_case quern_static)
endif()

# One operation a kernel; here a part of them, by hand all: op_kernels --device NAME.
if(TARGET quern_static)
    add_executable(op_kernels ${PROJECT_SOURCE_DIR}/tests/op_kernels.c ${PROJECT_SOURCE_DIR}/tests/op_source.c)
    target_link_libraries(op_kernels PRIVATE quern_flags quern_static m)
    add_test(NAME operations.cpu COMMAND op_kernels --every 79)
    set_tests_properties(operations.cpu PROPERTIES TIMEOUT 900)
endif()

# Random kernels, a fixed number of seeds in two parts; by hand with more: random_kernels --count N.
if(TARGET quern_static)
    add_library(random_source STATIC ${PROJECT_SOURCE_DIR}/tests/random_source.c ${PROJECT_SOURCE_DIR}/tests/random_expressions.c
                                     ${PROJECT_SOURCE_DIR}/tests/random_launch.c)
    target_link_libraries(random_source PUBLIC quern_flags quern_static m)
    add_executable(random_kernels ${PROJECT_SOURCE_DIR}/tests/random_kernels.c ${PROJECT_SOURCE_DIR}/tests/guarded.c)
    target_link_libraries(random_kernels PRIVATE random_source)
    # The checker finds a fault that is planted in them; by hand with more: planted_kernels --count N.
    add_executable(planted_kernels ${PROJECT_SOURCE_DIR}/tests/planted_kernels.c)
    target_link_libraries(planted_kernels PRIVATE random_source)
    add_test(NAME check.planted COMMAND planted_kernels --count 40)
    set_tests_properties(check.planted PROPERTIES TIMEOUT 900)
    foreach(first 1 25)
        add_test(NAME random.${first} COMMAND random_kernels --first ${first} --count 24)
        set_tests_properties(random.${first} PROPERTIES TIMEOUT 1800)
    endforeach()
    add_test(NAME random.safe COMMAND random_kernels --safe --count 8)
    set_tests_properties(random.safe PROPERTIES TIMEOUT 900)
endif()
