/* quern embed: a file as an array of a C program. One symbol, whose declaration has its size; C99 and C++. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "tool.h"

typedef struct embed_options {
    program_options program;
    const char *targets, *archs, *devices, *output, *name;
} embed_options;

static bool is_to_pack(const embed_options *o) { return o->targets || o->archs || o->devices; }

static int parse(int argc, char **argv, embed_options *o) {
    for (int i = 1; i < argc; i++) {
        const char *value = "", *given = argv[i];
        int result = program_option(&o->program, argc, argv, &i);
        if (result < 0) continue;
        if (result > 0) return result;
        if (option_value("--target", argc, argv, &i, &value))
            o->targets = value;
        else if (option_value("--arch", argc, argv, &i, &value))
            o->archs = value;
        else if (option_value("--device", argc, argv, &i, &value))
            o->devices = value;
        else if (option_value("--name", argc, argv, &i, &value))
            o->name = value;
        else if (option_value("-o", argc, argv, &i, &value))
            o->output = value;
        else if ((result = program_file(&o->program, argv[i])))
            return result;
        if (!value) return needs_value(given);
    }
    if (!o->program.num_files) return tool_fail(TOOL_USAGE, "no file; see `quern embed --help`");
    if (!o->output || !tool_ends_with(o->output, ".c") || strlen(o->output) < 3)
        return tool_fail(TOOL_USAGE, "-o NAME.c is needed");
    if (program_overwrites(&o->program, o->output))
        return tool_fail(TOOL_USAGE, "-o %s would overwrite the file itself", o->output);
    if (o->program.num_files > 1 && !is_to_pack(o))
        return tool_fail(TOOL_USAGE, "several files are embedded packed: --target, --arch or --device is "
                                     "needed, such as --target ptx,spirv,clc,c,ir");
    return TOOL_OK;
}

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* "k.qnb" as k_qnb. */
static char *symbol_of(const char *path) {
    const char *base = base_name(path);
    char *symbol = tool_alloc(strlen(base) + 2), *to = symbol;
    if (!isalpha((unsigned char)base[0])) *to++ = 'q';
    for (; *base; base++) *to++ = isalnum((unsigned char)*base) ? *base : '_';
    return symbol;
}

/* Of C to C23 and C++ to C++20, where they begin with a letter. */
static const char keywords[] =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t "
    "char8_t class co_await co_return co_yield compl concept const const_cast consteval constexpr "
    "constinit continue decltype default delete do double dynamic_cast else enum explicit export "
    "extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq "
    "nullptr operator or or_eq private protected public register reinterpret_cast requires restrict "
    "return short signed sizeof static static_assert static_cast struct switch template this "
    "thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using "
    "virtual void volatile wchar_t while xor xor_eq ";

static bool is_keyword(const char *name) {
    char between[32];
    const int length = snprintf(between, sizeof between, " %s ", name);
    return (size_t)length < sizeof between && strstr(keywords, between);
}

/* Why an array cannot be called so, or NULL. */
static const char *why_no_symbol(const char *name) {
    if (!name[0] || isdigit((unsigned char)name[0])) return "no name in C";
    for (const char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) && *at != '_') return "no name in C";
    if (name[0] == '_' || strcmp(name, "main") == 0) return "reserved in C";
    return is_keyword(name) ? "a keyword of C or C++" : NULL;
}

static void put_header(FILE *out, const char *symbol, bool packed, size_t size) {
    fprintf(out,
            "/* Made by `quern embed`: %s. */\n#ifndef %s_H\n#define %s_H\n\n#ifdef __cplusplus\nextern "
            "\"C\" {\n#endif\n"
            "extern const unsigned char %s[%zu];\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n",
            packed ? "for qn_program_desc.binary, with sizeof as .binary_size"
                   : "for qn_program_desc.source, cast to const char *; a zero ends it",
            symbol, symbol, symbol, size);
}

static void put_array(FILE *out, const char *header, const char *symbol, const unsigned char *data,
                      size_t size) {
    fprintf(out, "/* Made by `quern embed`. */\n#include \"%s\"\n\nconst unsigned char %s[%zu] = {", header,
            symbol, size);
    for (size_t i = 0; i < size; i++) fprintf(out, "%s%u,", i % 24 ? "" : "\n    ", data[i]);
    fprintf(out, "\n};\n");
}

/* Writes through `put_header`, or `put_array` where there is data. */
static int write_file(const char *path, const char *header, const char *symbol, bool packed,
                      const unsigned char *data, size_t size) {
    FILE *out = fopen(path, "w");
    if (out && data) put_array(out, header, symbol, data, size);
    if (out && !data) put_header(out, symbol, packed, size);
    const bool written = out && !ferror(out);
    if (out && fclose(out) == 0 && written) return TOOL_OK;
    return tool_fail(TOOL_RUN_FAILED, "%s cannot be written", path);
}

static int write_files(const embed_options *o, bool packed, const unsigned char *data, size_t size) {
    char *symbol = o->name ? NULL : symbol_of(o->output), *header = tool_alloc(strlen(o->output) + 1);
    if (symbol) symbol[strlen(symbol) - 2] = 0; /* "_c" */
    const char *name = o->name ? o->name : symbol;
    strcpy(header, o->output);
    header[strlen(header) - 1] = 'h';
    const char *why = why_no_symbol(name);
    int result = why ? tool_fail(TOOL_USAGE, "'%s' is %s: give --name SYMBOL", name, why) : TOOL_OK;
    if (!result) result = write_file(o->output, base_name(header), name, packed, data, size);
    if (!result) result = write_file(header, NULL, name, packed, NULL, size);
    free(symbol);
    free(header);
    return result;
}

/* Of a source the zero behind it is embedded, too: tool_file_read's buffer is larger than what it holds. */
static int read_file(const embed_options *o, bool *packed, unsigned char **data, size_t *size) {
    static const unsigned char packed_start[] = {0x8f, 'q', 'n', 'b'};
    const char *path = o->program.files[0];
    const bool is_stdin = strcmp(path, "-") == 0;
    const char *error = is_stdin ? NULL : tool_file_read(path, data, size);
    if (error) return tool_fail(TOOL_RUN_FAILED, "%s: %s", path, error);
    const int result = is_stdin ? program_read_stdin(data, size) : TOOL_OK;
    if (result) return result;
    *packed = *size > sizeof packed_start && memcmp(*data, packed_start, sizeof packed_start) == 0;
    if (*packed) return TOOL_OK;
    if (memchr(*data, 0, *size)) return tool_fail(TOOL_RUN_FAILED, "it is no source: it has a zero byte");
    unsigned char *longer = tool_alloc(*size + 1);
    memcpy(longer, *data, *size);
    free(*data);
    *data = longer;
    ++*size;
    return TOOL_OK;
}

static int run(int argc, char **argv) {
    embed_options o = {0};
    unsigned char *data = NULL;
    size_t size = 0;
    bool packed = true;
    int result = parse(argc, argv, &o);
    if (!result && is_to_pack(&o))
        result = program_pack(&o.program, o.targets, o.archs, o.devices, &data, &size);
    else if (!result)
        result = read_file(&o, &packed, &data, &size);
    if (!result) result = write_files(&o, packed, data, size);
    free(data);
    program_options_free(&o.program);
    return result;
}

const tool_command tool_embed = {
    "embed", "make a C file and header of a kernel file, or of what it is packed to",
    "usage: quern embed FILE... -o NAME.c [--name SYMBOL] [--target LIST] [--arch LIST] [--device LIST]\n"
    "                   " PROGRAM_OPTIONS_USAGE "\n\n"
    "Writes NAME.c with an array of the bytes of FILE, and NAME.h that declares it with its size, for C99 "
    "and C++.\n"
    "FILE is a packed program (quern compile -o k.qnb) for qn_program_desc.binary, or a source for\n"
    "qn_program_desc.source; - is the standard input. With --target, --arch or --device a source is packed "
    "first, as `quern compile` does it,\n"
    "and there may be several.\n"
    "The array is called NAME, or SYMBOL.\n\n" PROGRAM_OPTIONS_HELP
    "exit status: 0 done; 1 the kernel does not compile; 2 usage; 3 other failure\n\n"
    "example: quern embed saxpy.cl --target ptx,spirv,c,ir -o saxpy_kernels.c\n",
    run};
