# The benchmarks beside `quern bench`: quern_bench (the CPU device beside PoCL) and quern_gpu_bench (GPUs beside NVRTC and the
# bare drivers).
# Every peer is opened at run time; nothing more is needed to build them than quern itself. Where they are installed,
# Vulkan's headers and glslangValidator add the peers that need them.
file(GLOB bench_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.c)
set(bench_shared ${bench_sources})
list(FILTER bench_shared INCLUDE REGEX "/(cases[a-z_]*|engine_[a-z]*|workload)\\.c$")
set(bench_gpu ${bench_sources})
list(FILTER bench_gpu INCLUDE REGEX "/gpu_[a-z_]*\\.c$")
set(bench_cpu ${PROJECT_SOURCE_DIR}/bench/main.c)

# Files of bench/kernels as arrays; GLSL as SPIR-V.
file(GLOB bench_texts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/kernels/*.cl ${PROJECT_SOURCE_DIR}/bench/kernels/*.cuh)
file(GLOB bench_shaders CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/kernels/*.comp)
find_program(GLSLANG glslangValidator)
if(GLSLANG)
    foreach(shader ${bench_shaders})
        get_filename_component(name ${shader} NAME)
        set(module ${PROJECT_BINARY_DIR}/generated/${name}.spv)
        add_custom_command(OUTPUT ${module} COMMAND ${GLSLANG} --quiet --target-env vulkan1.2 -o ${module} ${shader}
                           DEPENDS ${shader} ${PROJECT_SOURCE_DIR}/bench/kernels/twin.glsl VERBATIM)
        list(APPEND bench_texts ${module})
    endforeach()
endif()
set(bench_text_source ${PROJECT_BINARY_DIR}/generated/bench_text.c)
add_custom_command(
    OUTPUT ${bench_text_source}
    COMMAND ${CMAKE_COMMAND} "-DFILES=${bench_texts}" -DOUT=${bench_text_source}
            -P ${PROJECT_SOURCE_DIR}/cmake/bench_text.cmake
    DEPENDS ${bench_texts} ${PROJECT_SOURCE_DIR}/cmake/bench_text.cmake
    VERBATIM)

add_library(bench_shared STATIC ${bench_shared} ${bench_text_source})
add_executable(quern_bench ${bench_cpu})
add_executable(quern_gpu_bench ${bench_gpu})
target_include_directories(bench_shared PRIVATE bench tools/quern)
target_include_directories(quern_gpu_bench PRIVATE bench tools/quern)
foreach(target bench_shared quern_bench quern_gpu_bench)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic $<$<BOOL:${QUERN_WERROR}>:-Werror>)
    target_compile_definitions(${target} PRIVATE _POSIX_C_SOURCE=200809L _XOPEN_SOURCE=700)
endforeach()
target_link_libraries(bench_shared PUBLIC quern_kernels_static)
target_link_libraries(quern_bench PRIVATE bench_shared)
target_link_libraries(quern_gpu_bench PRIVATE bench_shared)
if(QUERN_TESTS)
    add_test(NAME bench.quick COMMAND quern_bench --quick)
    add_test(NAME bench.tune COMMAND quern_bench --quick --only sum --tune no-looks)
    add_test(NAME bench.gpu COMMAND quern_gpu_bench --quick --only saxpy,scan --section code,bandwidth,overhead,software)
    add_test(NAME bench.variants COMMAND quern_gpu_bench --quick --only scan --section variants)
    set_tests_properties(bench.gpu bench.variants PROPERTIES LABELS device)
endif()
