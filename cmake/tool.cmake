# The command line tool.
file(GLOB tool_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/quern/*.c)
add_executable(quern ${tool_sources})
target_link_libraries(quern PRIVATE quern_kernels_static)
target_compile_options(quern PRIVATE -Wall -Wextra -Wpedantic $<$<BOOL:${QUERN_WERROR}>:-Werror>)
target_compile_definitions(quern PRIVATE _POSIX_C_SOURCE=200809L _XOPEN_SOURCE=700)
include(cmake/stb.cmake)
target_include_directories(quern SYSTEM PRIVATE ${STB_INCLUDE})
