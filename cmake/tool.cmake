# The command line tool.
file(GLOB tool_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/quern/*.c)
add_executable(quern ${tool_sources})
target_link_libraries(quern PRIVATE quern_tensor_static quern_ring_static)
target_compile_options(quern PRIVATE -Wall -Wextra -Wpedantic $<$<BOOL:${QUERN_WERROR}>:-Werror>)
target_compile_definitions(quern PRIVATE _POSIX_C_SOURCE=200809L _XOPEN_SOURCE=700)
set(stb_required REQUIRED)
include(cmake/stb.cmake)
target_include_directories(quern SYSTEM PRIVATE ${STB_INCLUDE})

# Texts that the bench compiles, itself or by others (tools/quern/bench_text.h).
file(GLOB bench_texts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/quern/texts/*)
set(bench_text_source ${PROJECT_BINARY_DIR}/generated/bench_text.c)
add_custom_command(
    OUTPUT ${bench_text_source}
    COMMAND ${CMAKE_COMMAND} "-DFILES=${bench_texts}" -DOUT=${bench_text_source} -P ${PROJECT_SOURCE_DIR}/cmake/bench_text.cmake
    DEPENDS ${bench_texts} ${PROJECT_SOURCE_DIR}/cmake/bench_text.cmake
    VERBATIM)
target_sources(quern PRIVATE ${bench_text_source})
target_include_directories(quern PRIVATE ${PROJECT_SOURCE_DIR}/tools/quern)
