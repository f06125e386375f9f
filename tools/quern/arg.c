/* Kernel arguments as text: see the help of `quern run`. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

enum { MAX_BUFFER_BITS = 40 };

static int wrong(const char *text, const char *what) {
    return tool_fail(TOOL_USAGE, "argument '%s': %s", text, what);
}

/* One value: V, or in a type of its own that is as large, TYPE:V. */
static bool parse_scalar(const char *text, size_t length, qn_type type, unsigned char *to) {
    const char *colon = memchr(text, ':', length);
    if (!colon) return tool_value_parse(text, length, type, to);
    tool_type own;
    if (!tool_type_parse(text, (size_t)(colon - text), &own) || own.lanes != 1) return false;
    return tool_type_scalar_size(own.type) == tool_type_scalar_size(type) &&
           tool_value_parse(colon + 1, (size_t)(text + length - colon - 1), own.type, to);
}

/* Values separated by commas into `to`, lanes of one element after another; a 3-vector skips its fourth
   place. Gives the number of values, or -1 for a bad one. */
static long parse_values(const char *text, size_t length, tool_type type, unsigned char *to, uint64_t room) {
    unsigned size = tool_type_scalar_size(type.type);
    long count = 0;
    for (const char *end = text + length; text <= end; count++) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        size_t n = (size_t)((comma ? comma : end) - text);
        uint64_t slot = type.lanes == 3 ? (uint64_t)(count / 3 * 4 + count % 3) : (uint64_t)count;
        unsigned char value[8];
        if (!parse_scalar(text, n, type.type, value)) return -1;
        if ((slot + 1) * size <= room) memcpy(to + slot * size, value, size);
        text += n + 1;
    }
    return count;
}

static int parse_value(const char *colon, tool_arg *arg) {
    arg->kind = ARG_VALUE;
    arg->has_type = true;
    if (!tool_type_parse(arg->text, (size_t)(colon - arg->text), &arg->type))
        return wrong(arg->text,
                     "it starts with no known type; a value is TYPE:V, as int:5; see `quern run --help`");
    arg->size = tool_type_size(arg->type);
    arg->data = tool_alloc(arg->size);
    long count = parse_values(colon + 1, strlen(colon + 1), arg->type, arg->data, arg->size);
    if (count < 0 || strchr(colon + 1, ':')) return wrong(arg->text, "a value is not a number of that type");
    if (count == 1 && arg->type.lanes > 1) { /* one value for all lanes */
        unsigned size = tool_type_scalar_size(arg->type.type);
        for (unsigned lane = 1; lane < arg->type.lanes; lane++)
            memcpy(arg->data + lane * size, arg->data, size);
    } else if ((unsigned long)count != arg->type.lanes)
        return wrong(arg->text, "the number of values is not the number of lanes");
    return TOOL_OK;
}

/* Takes "@PATH" off the end: the text is then only as long as the result says. A file that is there by the
   whole name is meant as such. */
static size_t take_output(const char *text, tool_arg *arg) {
    const char *at = strrchr(text, '@');
    if (!at || (arg->kind == ARG_FILE && access(text, F_OK) == 0)) return strlen(text);
    arg->output = at + 1;
    return (size_t)(at - text);
}

static int parse_flags(const char *flags, const char *colon, tool_arg *arg) {
    while (flags < colon) {
        const char *end = memchr(flags + 1, '+', (size_t)(colon - flags - 1));
        size_t length = (size_t)((end ? end : colon) - flags);
        if (length == 3 && memcmp(flags, "+ro", 3) == 0)
            arg->read_only = true;
        else if (length == 3 && memcmp(flags, "+wo", 3) == 0)
            arg->write_only = true;
        else if (length == 7 && memcmp(flags, "+uninit", 7) == 0)
            arg->uninitialised = true;
        else
            return wrong(arg->text, "the flags are +ro, +wo and +uninit");
        flags += length;
    }
    if (arg->read_only && arg->write_only) return wrong(arg->text, "+ro and +wo exclude each other");
    return TOOL_OK;
}

/* Repeats the first `count` values over the whole buffer. */
static void repeat_values(tool_arg *arg, uint64_t elements, uint64_t count) {
    unsigned size = tool_type_scalar_size(arg->type.type), lanes = arg->type.lanes,
             places = lanes == 3 ? 4 : lanes;
    for (uint64_t i = count; i < elements * lanes; i++) {
        uint64_t from = i - count;
        memcpy(arg->data + (i / lanes * places + i % lanes) * size,
               arg->data + (from / lanes * places + from % lanes) * size, size);
    }
}

/* TYPE:N[=V,V,...] */
static int parse_buffer(const char *text, tool_arg *arg) {
    arg->kind = ARG_BUFFER;
    arg->has_type = true;
    size_t length = take_output(text, arg);
    const char *colon = memchr(text, ':', length), *end = text + length;
    if (arg->output && !arg->output[0]) return wrong(arg->text, "the path behind @ is missing");
    if (!colon || !tool_type_parse(text, (size_t)(colon - text), &arg->type))
        return wrong(arg->text, "a buffer is buf:TYPE:N, as buf:float4:100");
    char *after;
    errno = 0;
    unsigned long long elements = strtoull(colon + 1, &after, 0);
    if (after == colon + 1 || errno || colon[1] == '-' || elements == 0 || (after != end && *after != '='))
        return wrong(arg->text, "the number of elements is missing or not a number above 0");
    if (elements >> MAX_BUFFER_BITS) return wrong(arg->text, "the buffer is too large");
    arg->size = elements * tool_type_size(arg->type);
    arg->data = calloc(1, arg->size);
    if (!arg->data) return tool_fail(TOOL_RUN_FAILED, "argument '%s': out of memory", arg->text);
    arg->shape =
        (tool_shape){.known = true, .ndim = arg->type.lanes > 1 ? 2 : 1, .dims = {elements, arg->type.lanes}};
    if (after == end) return TOOL_OK;
    if (arg->uninitialised) return wrong(arg->text, "+uninit and values exclude each other");
    long count = parse_values(after + 1, (size_t)(end - after - 1), arg->type, arg->data, arg->size);
    if (count < 0) return wrong(arg->text, "a value is not a number of that type");
    if ((uint64_t)count > elements * arg->type.lanes)
        return wrong(arg->text, "there are more values than places");
    repeat_values(arg, elements, (uint64_t)count);
    return TOOL_OK;
}

static int parse_file(const char *text, tool_arg *arg) {
    arg->kind = ARG_FILE;
    size_t length = take_output(text, arg), size = 0;
    if (arg->output && !arg->output[0]) return wrong(arg->text, "the path behind @ is missing");
    char *path = tool_alloc(length + 1);
    memcpy(path, text, length);
    unsigned char *file = NULL;
    const char *error;
    if (tool_ends_with(path, ".png") || tool_ends_with(path, ".jpg") || tool_ends_with(path, ".jpeg"))
        error = tool_image_read(path, arg);
    else {
        error = tool_file_read(path, &file, &size);
        if (!error && tool_ends_with(path, ".npy"))
            error = tool_npy_read(file, size, arg);
        else if (!error) {
            arg->data = file;
            arg->size = size;
            file = NULL;
        }
    }
    free(file);
    if (!error && arg->size == 0) error = "the file has no data";
    int result =
        error ? tool_fail(TOOL_RUN_FAILED, "argument '%s': %s: %s", arg->text, path, error) : TOOL_OK;
    free(path);
    return result;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 32;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int parse_raw(const char *text, tool_arg *arg) {
    size_t length = strlen(text);
    arg->kind = ARG_RAW;
    arg->size = length / 2;
    arg->data = tool_alloc(arg->size);
    if (length == 0 || length % 2) return wrong(arg->text, "raw bytes are pairs of hexadecimal digits");
    for (size_t i = 0; i < length; i += 2) {
        int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);
        if (high < 0 || low < 0) return wrong(arg->text, "raw bytes are pairs of hexadecimal digits");
        arg->data[i / 2] = (unsigned char)(high << 4 | low);
    }
    return TOOL_OK;
}

static int parse_local(const char *text, tool_arg *arg) {
    char *end;
    errno = 0;
    arg->kind = ARG_LOCAL;
    arg->size = strtoull(text, &end, 0);
    if (end == text || *end || errno || arg->size == 0 || *text == '-')
        return wrong(arg->text, "local memory is local:BYTES");
    return TOOL_OK;
}

int tool_arg_parse(const char *text, tool_arg *arg) {
    *arg = (tool_arg){.text = text};
    if (strcmp(text, "null") == 0) {
        arg->kind = ARG_NULL;
        return TOOL_OK;
    }
    const char *colon = strchr(text, ':');
    if (!colon)
        return wrong(
            text, "it is none of TYPE:V, buf:, file:, struct:, null, local:, raw:; see `quern run --help`");
    size_t word = strcspn(text, "+:");
    bool buffer = word == 3 && memcmp(text, "buf", 3) == 0, file = word == 4 && memcmp(text, "file", 4) == 0;
    if (buffer || file) {
        int result = parse_flags(text + word, colon, arg);
        if (result) return result;
        return buffer ? parse_buffer(colon + 1, arg) : parse_file(colon + 1, arg);
    }
    if (strncmp(text, "local:", 6) == 0) return parse_local(colon + 1, arg);
    if (strncmp(text, "struct:", 7) == 0) {
        arg->kind = ARG_STRUCT;
        const size_t length = strlen(colon + 1);
        const bool has_braces = length >= 2 && colon[1] == '{' && colon[length] == '}';
        return has_braces ? TOOL_OK : wrong(text, "a struct is struct:{FIELD=VALUE,...}");
    }
    if (strncmp(text, "raw:", 4) == 0) return parse_raw(colon + 1, arg);
    return parse_value(colon, arg);
}

/* ---- output ---- */

static void print_line(const tool_arg *arg, const char *name, const unsigned char *data) {
    unsigned size = tool_type_scalar_size(arg->type.type), lanes = arg->type.lanes,
             element = tool_type_size(arg->type);
    printf("%s = ", name);
    for (uint64_t i = 0; i < arg->size / element; i++)
        for (unsigned lane = 0; lane < lanes; lane++) {
            if (i || lane) fputs(", ", stdout);
            tool_value_print(stdout, data + i * element + lane * size, arg->type.type);
        }
    putchar('\n');
}

static const char *write_png(const tool_arg *arg, const unsigned char *data, const uint64_t global[3]) {
    if (arg->type.type != QN_TYPE_U8 && arg->type.type != QN_TYPE_I8)
        return "a PNG is made of uchar or uchar4 elements";
    unsigned channels = arg->type.lanes == 1 && arg->width ? 4 : arg->type.lanes;
    uint64_t width = arg->width ? arg->width : global[0], height = arg->width  ? arg->height
                                                                   : global[1] ? global[1]
                                                                               : 1;
    if (channels > 4 || channels == 3) return "a PNG is made of uchar or uchar4 elements";
    if (width > INT32_MAX / 4 || height > INT32_MAX / 4) return "the picture is too large";
    if (width * height * channels != arg->size)
        return "the picture's size is not known: the buffer holds no image file and is not one element a "
               "work-item";
    return tool_png_write(arg->output, (unsigned)width, (unsigned)height, channels, data);
}

int tool_arg_write(const tool_arg *arg, const char *name, const unsigned char *data,
                   const uint64_t global[3]) {
    const char *error;
    if (strcmp(arg->output, "-") == 0) {
        print_line(arg, name, data);
        return TOOL_OK;
    }
    if (tool_ends_with(arg->output, ".png"))
        error = write_png(arg, data, global);
    else if (tool_ends_with(arg->output, ".npy"))
        error = tool_npy_write(arg->output, arg->type, &arg->shape, data, arg->size);
    else
        error = tool_file_write(arg->output, data, arg->size);
    return error ? tool_fail(TOOL_RUN_FAILED, "%s: %s", arg->output, error) : TOOL_OK;
}
