# The command line tool.
file(GLOB tool_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/quern/*.c)
add_executable(quern ${tool_sources})
target_link_libraries(quern PRIVATE quern_kernels_static)
target_compile_options(quern PRIVATE -Wall -Wextra -Wpedantic $<$<BOOL:${QUERN_WERROR}>:-Werror>)
target_compile_definitions(quern PRIVATE _POSIX_C_SOURCE=200809L _XOPEN_SOURCE=700)
include(cmake/stb.cmake)
target_include_directories(quern SYSTEM PRIVATE ${STB_INCLUDE})

# What the bench has nvcc make, as a text (tools/quern/bench_text.h).
set(peer_texts ${PROJECT_SOURCE_DIR}/bench/peers/cub.cu)
set(peer_text_source ${PROJECT_BINARY_DIR}/generated/peer_text.c)
add_custom_command(
    OUTPUT ${peer_text_source}
    COMMAND ${CMAKE_COMMAND} "-DFILES=${peer_texts}" -DOUT=${peer_text_source} -P ${PROJECT_SOURCE_DIR}/cmake/bench_text.cmake
    DEPENDS ${peer_texts} ${PROJECT_SOURCE_DIR}/cmake/bench_text.cmake
    VERBATIM)
target_sources(quern PRIVATE ${peer_text_source})
target_include_directories(quern PRIVATE ${PROJECT_SOURCE_DIR}/tools/quern)
