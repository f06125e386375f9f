# quern_bench: quern beside PoCL, which is opened at run time. Needs nothing more to build than quern itself.
include(cmake/kernels.cmake)
file(GLOB bench_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.c)
add_executable(quern_bench ${bench_sources})
target_link_libraries(quern_bench PRIVATE quern_static quern_kernels)
target_compile_options(quern_bench PRIVATE -Wall -Wextra -Wpedantic $<$<BOOL:${QUERN_WERROR}>:-Werror>)
target_compile_definitions(quern_bench PRIVATE _POSIX_C_SOURCE=200809L _XOPEN_SOURCE=700
                                               QUERN_SHARED_PATH="$<TARGET_FILE:quern_shared>")
add_dependencies(quern_bench quern_shared)
if(QUERN_TESTS)
    add_test(NAME bench.quick COMMAND quern_bench --quick)
endif()
