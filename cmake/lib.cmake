# Embeds the kernel-side library (src/lib) and the index of the built-in functions into quern_front.
add_executable(quern_embed ${PROJECT_SOURCE_DIR}/src/lib/embed.c ${PROJECT_SOURCE_DIR}/src/util/hash.c)
target_link_libraries(quern_embed PRIVATE quern_flags)
file(GLOB library_texts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/lib/*.cl)
set(library_data ${PROJECT_BINARY_DIR}/generated/library_data.c)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/generated)
add_custom_command(
    OUTPUT ${library_data}
    COMMAND quern_embed ${library_texts} > ${library_data}
    DEPENDS quern_embed ${library_texts} ${PROJECT_SOURCE_DIR}/src/front/builtins.def
    VERBATIM)
target_sources(quern_front PRIVATE ${library_data})

# Functions of that library as optimised IR (src/front/frozen.h), made by the front end and the passes themselves.
add_executable(quern_freeze ${PROJECT_SOURCE_DIR}/src/lib/freeze.c)
target_link_libraries(quern_freeze PRIVATE quern_flags quern_front quern_pass quern_ir quern_util)
set(library_ir ${PROJECT_BINARY_DIR}/generated/library_ir.c)
add_custom_command(
    OUTPUT ${library_ir}
    COMMAND quern_freeze > ${library_ir}
    DEPENDS quern_freeze
    VERBATIM)
target_sources(quern_compile PRIVATE ${library_ir})
