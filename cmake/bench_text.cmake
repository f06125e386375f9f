# Run as a script (cmake -P): writes OUT, a C file with FILES as arrays of bytes; see tools/quern/bench_text.h.
set(arrays "")
set(rows "")
set(index 0)
foreach(path ${FILES})
    get_filename_component(name ${path} NAME)
    file(READ ${path} bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(APPEND arrays "static const _Alignas(4) unsigned char text${index}[] = {${bytes}0};\n")
    string(APPEND rows "    {\"${name}\", text${index}, sizeof text${index} - 1},\n")
    math(EXPR index "${index} + 1")
endforeach()
file(WRITE ${OUT} "#include \"bench_text.h\"
#include <string.h>
${arrays}static const struct { const char *name; const unsigned char *text; size_t size; } files[] = {\n${rows}};
const char *bench_text(const char *name, size_t *size) {
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (strcmp(files[i].name, name) != 0) continue;
        if (size) *size = files[i].size;
        return (const char *)files[i].text;
    }
    return NULL;
}
")
