# kernels/*.cl (and bench/kernels/*.cl) as C arrays in the static library quern_kernels; see kernels/shipped.h.
# Included by the build it sets up the library; run as a script (cmake -P) it writes the generated file.
if(TARGET quern_kernels)
    return()
elseif(NOT CMAKE_SCRIPT_MODE_FILE)
    file(GLOB shipped_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/*.cl
                                              ${PROJECT_SOURCE_DIR}/bench/kernels/*.cl)
    set(shipped_source ${PROJECT_BINARY_DIR}/generated/shipped.c)
    add_custom_command(
        OUTPUT ${shipped_source}
        COMMAND ${CMAKE_COMMAND} "-DFILES=${shipped_files}" -DOUT=${shipped_source}
                -P ${PROJECT_SOURCE_DIR}/cmake/kernels.cmake
        DEPENDS ${shipped_files} ${PROJECT_SOURCE_DIR}/cmake/kernels.cmake
        VERBATIM)
    add_library(quern_kernels STATIC ${shipped_source})
    target_include_directories(quern_kernels PUBLIC ${PROJECT_SOURCE_DIR}/kernels)
    return()
endif()

set(arrays "")
set(rows "")
set(index 0)
foreach(path ${FILES})
    get_filename_component(name ${path} NAME)
    file(READ ${path} bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(APPEND arrays "static const char text${index}[] = {${bytes}0};\n")
    string(APPEND rows "    {\"${name}\", text${index}},\n")
    math(EXPR index "${index} + 1")
endforeach()
file(WRITE ${OUT} "#include \"shipped.h\"
#include <stddef.h>
#include <string.h>
${arrays}static const struct { const char *name, *text; } files[] = {\n${rows}};
const char *shipped_kernel(const char *name) {
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(files[i].name, name) == 0) return files[i].text;
    return NULL;
}
")
