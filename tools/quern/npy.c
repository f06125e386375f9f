/* NumPy's .npy files (format versions 1 to 3, numpy.lib.format): a magic, a Python dict literal with the
   element type, order and shape, then the elements. */
#include <stdlib.h>
#include <string.h>

#include "tool.h"

static const struct dtype {
    const char *name; /* without byte order */
    qn_type type;
    unsigned lanes;
} dtypes[] = {{"i1", QN_TYPE_I8, 1},   {"u1", QN_TYPE_U8, 1},   {"b1", QN_TYPE_U8, 1},
              {"i2", QN_TYPE_I16, 1},  {"u2", QN_TYPE_U16, 1},  {"i4", QN_TYPE_I32, 1},
              {"u4", QN_TYPE_U32, 1},  {"i8", QN_TYPE_I64, 1},  {"u8", QN_TYPE_U64, 1},
              {"f2", QN_TYPE_F16, 1},  {"f4", QN_TYPE_F32, 1},  {"f8", QN_TYPE_F64, 1},
              {"c8", QN_TYPE_F32, 2},  {"c16", QN_TYPE_F64, 2}, {"V2", QN_TYPE_BF16, 1},
              {"V1", QN_TYPE_E4M3, 1}, {"V1", QN_TYPE_E5M2, 1}}; /* as ml_dtypes writes them */

/* Behind "'key':" in the header; NULL when it is not there. */
static const char *value_of(const char *header, const char *key) {
    char quoted[32];
    snprintf(quoted, sizeof quoted, "'%s'", key);
    const char *at = strstr(header, quoted);
    if (!at) return NULL;
    at += strlen(quoted);
    at += strspn(at, " :");
    return at;
}

static const char *read_dtype(const char *at, tool_arg *arg, bool *swap) {
    if (*at != '\'') return "structured element types are not supported";
    char order = at[1];
    *swap = order == '>';
    at += order && strchr("<>|=", order) ? 2 : 1;
    size_t length = strcspn(at, "'");
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++)
        if (strlen(dtypes[i].name) == length && memcmp(dtypes[i].name, at, length) == 0) {
            arg->type = (tool_type){dtypes[i].type, dtypes[i].lanes};
            return NULL;
        }
    return "its element type is none of the numeric ones (integers, float16 to float64, complex)";
}

static const char *read_shape(const char *at, tool_shape *shape, uint64_t *elements) {
    *elements = 1;
    shape->known = true;
    if (*at++ != '(') return "the header has no shape";
    for (;;) {
        at += strspn(at, " ,");
        if (*at == ')') return NULL;
        char *end;
        unsigned long long length = strtoull(at, &end, 10);
        if (end == at || shape->ndim == TOOL_MAX_DIMS - 1) return "the header's shape is damaged";
        if (length && *elements > (UINT64_MAX >> 8) / length) return "the header's shape is too large";
        shape->dims[shape->ndim++] = length;
        *elements *= length;
        at = end;
    }
}

static void swap_bytes(unsigned char *data, uint64_t size, unsigned width) {
    for (uint64_t i = 0; i + width <= size; i += width)
        for (unsigned b = 0; b < width / 2; b++) {
            unsigned char kept = data[i + b];
            data[i + b] = data[i + width - 1 - b];
            data[i + width - 1 - b] = kept;
        }
}

static const char *read_header(const char *header, tool_arg *arg, uint64_t *bytes, bool *swap) {
    const char *descr = value_of(header, "descr"), *order = value_of(header, "fortran_order"),
               *shape = value_of(header, "shape");
    if (!descr || !order || !shape) return "the .npy header is damaged";
    const char *error = read_dtype(descr, arg, swap);
    uint64_t elements = 0;
    if (!error) error = read_shape(shape, &arg->shape, &elements);
    arg->shape.fortran_order = strncmp(order, "True", 4) == 0;
    if (!error) *bytes = elements * tool_type_size(arg->type);
    return error;
}

const char *tool_npy_read(const unsigned char *file, size_t file_size, tool_arg *arg) {
    if (file_size < 12 || memcmp(file, "\x93NUMPY", 6) != 0) return "it is no .npy file";
    bool wide = file[6] >= 2, swap;
    size_t start = wide ? 12 : 10, length = file[8] | (size_t)file[9] << 8;
    if (wide) length |= (size_t)file[10] << 16 | (size_t)file[11] << 24;
    if (length > file_size - start) return "the .npy header is cut off";
    char *header = tool_alloc(length + 1);
    memcpy(header, file + start, length);
    uint64_t bytes = 0;
    const char *error = read_header(header, arg, &bytes, &swap);
    free(header);
    if (error) return error;
    if (bytes > file_size - start - length) return "the file is shorter than its shape says";
    arg->data = tool_alloc((size_t)bytes);
    memcpy(arg->data, file + start + length, (size_t)bytes);
    if (swap) swap_bytes(arg->data, bytes, tool_type_scalar_size(arg->type.type));
    arg->size = bytes;
    arg->has_type = arg->type.type < QN_TYPE_BF16; /* else it is the parameter's: V2 is any two bytes */
    return NULL;
}

static const char *dtype_name(qn_type type) {
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++)
        if (dtypes[i].type == type) return dtypes[i].name;
    return "u1";
}

/* The shape as it came, or one dimension (and the lanes); memory of 3-vectors has 4 places. */
static int put_shape(char *out, size_t size, tool_type type, const tool_shape *shape, uint64_t bytes) {
    unsigned places = type.lanes == 3 ? 4 : type.lanes;
    uint64_t elements = bytes / tool_type_size(type), total = 1;
    int n = 0;
    for (unsigned i = 0; i < shape->ndim; i++) total *= shape->dims[i];
    out[0] = 0;
    bool fits = shape->known && (total == elements || total == elements * type.lanes) && type.lanes != 3;
    if (!fits) {
        n = snprintf(out, size, "%llu,", (unsigned long long)elements);
        return places > 1 ? n + snprintf(out + n, size - (size_t)n, " %u", places) : n;
    }
    for (unsigned i = 0; i < shape->ndim; i++)
        n += snprintf(out + n, size - (size_t)n, "%s%llu%s", i ? " " : "", (unsigned long long)shape->dims[i],
                      i + 1 < shape->ndim || shape->ndim == 1 ? "," : "");
    if (type.lanes > 1 && total == elements)
        n += snprintf(out + n, size - (size_t)n, "%s %u", shape->ndim > 1 ? "," : "", type.lanes);
    return n;
}

const char *tool_npy_write(const char *path, tool_type type, const tool_shape *shape,
                           const unsigned char *data, uint64_t size) {
    char header[1024], dims[800];
    put_shape(dims, sizeof dims, type, shape, size);
    int n = snprintf(header, sizeof header, "{'descr': '%c%s', 'fortran_order': %s, 'shape': (%s), }",
                     tool_type_scalar_size(type.type) == 1 ? '|' : '<', dtype_name(type.type),
                     shape->fortran_order ? "True" : "False", dims);
    size_t length = ((size_t)n + 1 + 10 + 63) / 64 * 64 - 10;
    unsigned char *file = tool_alloc(10 + length + (size_t)size);
    memcpy(file, "\x93NUMPY\x01\x00", 8);
    file[8] = (unsigned char)(length & 255);
    file[9] = (unsigned char)(length >> 8);
    memset(file + 10, ' ', length);
    memcpy(file + 10, header, (size_t)n);
    file[10 + length - 1] = '\n';
    memcpy(file + 10 + length, data, (size_t)size);
    const char *error = tool_file_write(path, file, 10 + length + (size_t)size);
    free(file);
    return error;
}
