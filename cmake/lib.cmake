# Embeds the kernel-side library (src/lib) and the index of the built-in functions into quern_front.
include(${PROJECT_SOURCE_DIR}/cmake/host_tools.cmake)
quern_host_tool(quern_embed embed SOURCES ${PROJECT_SOURCE_DIR}/src/lib/embed.c ${PROJECT_SOURCE_DIR}/src/util/hash.c
                USES quern_flags)
file(GLOB library_texts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/lib/*.cl)
set(library_data ${PROJECT_BINARY_DIR}/generated/library_data.c)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/generated)
add_custom_command(
    OUTPUT ${library_data}
    COMMAND ${embed} ${library_texts} > ${library_data}
    DEPENDS ${embed} ${library_texts} ${PROJECT_SOURCE_DIR}/src/front/builtins.def
    VERBATIM)
target_sources(quern_front PRIVATE ${library_data})

# Functions of that library as optimised IR (src/front/frozen.h), made by the front end and the passes themselves.
quern_host_tool(quern_freeze freeze SOURCES ${PROJECT_SOURCE_DIR}/src/lib/freeze.c
                USES quern_flags quern_front quern_pass quern_ir quern_util)
set(library_ir ${PROJECT_BINARY_DIR}/generated/library_ir.c)
add_custom_command(
    OUTPUT ${library_ir}
    COMMAND ${freeze} > ${library_ir}
    DEPENDS ${freeze}
    VERBATIM)
target_sources(quern_compile PRIVATE ${library_ir})
if(TARGET quern_host_tools)
    add_dependencies(quern_front quern_host_tools)
    add_dependencies(quern_compile quern_host_tools)
endif()
