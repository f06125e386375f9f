/* Element types by their OpenCL C names, and their values as text. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

static const struct scalar {
    const char *name; /* the canonical one comes first for its type */
    qn_type type;
} scalars[] = {
    {"char", QN_TYPE_I8},       {"uchar", QN_TYPE_U8},  {"short", QN_TYPE_I16},    {"ushort", QN_TYPE_U16},
    {"int", QN_TYPE_I32},       {"uint", QN_TYPE_U32},  {"long", QN_TYPE_I64},     {"ulong", QN_TYPE_U64},
    {"half", QN_TYPE_F16},      {"float", QN_TYPE_F32}, {"double", QN_TYPE_F64},   {"size_t", QN_TYPE_U64},
    {"ptrdiff_t", QN_TYPE_I64}, {"bool", QN_TYPE_U8},   {"unsigned", QN_TYPE_U32}, {"bf16", QN_TYPE_BF16},
    {"e4m3", QN_TYPE_E4M3},     {"e5m2", QN_TYPE_E5M2}, {"qn_bf16", QN_TYPE_BF16}, {"qn_e4m3", QN_TYPE_E4M3},
    {"qn_e5m2", QN_TYPE_E5M2},
};

enum { NUM_SCALARS = sizeof scalars / sizeof scalars[0] };

unsigned tool_type_scalar_size(qn_type type) {
    static const unsigned char sizes[] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
    return sizes[type];
}

unsigned tool_type_size(tool_type type) {
    return tool_type_scalar_size(type.type) * (type.lanes == 3 ? 4 : type.lanes);
}

const char *tool_type_name(qn_type type) {
    for (int i = 0; i < NUM_SCALARS; i++)
        if (scalars[i].type == type) return scalars[i].name;
    return "bytes";
}

static bool lanes_parse(const char *text, size_t length, unsigned *lanes) {
    static const struct {
        const char *text;
        unsigned lanes;
    } all[] = {{"", 1}, {"2", 2}, {"3", 3}, {"4", 4}, {"8", 8}, {"16", 16}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strlen(all[i].text) == length && memcmp(all[i].text, text, length) == 0) {
            *lanes = all[i].lanes;
            return true;
        }
    return false;
}

bool tool_type_parse(const char *text, size_t length, tool_type *type) {
    for (int i = 0; i < NUM_SCALARS; i++) {
        size_t name = strlen(scalars[i].name);
        if (length < name || memcmp(text, scalars[i].name, name) != 0) continue;
        type->type = scalars[i].type;
        const bool has_digits = type->type >= QN_TYPE_BF16; /* and so an 'x' before the lanes */
        if (has_digits && length > name && text[name++] != 'x') continue;
        if (has_digits && length == name && text[name - 1] == 'x') continue;
        if (lanes_parse(text + name, length - name, &type->lanes)) return true;
    }
    return false;
}

/* ---- floats of 8 and 16 bits ---- */

/* Bits of the fraction, those that the exponent is higher by, and the bits of infinity; e4m3 has NaN there. */
typedef struct small_format {
    int fraction, bias;
    uint16_t infinity, nan;
} small_format;

static const small_format *small_format_of(qn_type type) {
    static const small_format half = {10, 15, 0x7C00, 0x7E00}, bf16 = {7, 127, 0x7F80, 0x7FFF},
                              e4m3 = {3, 7, 0x7F, 0x7F}, e5m2 = {2, 15, 0x7C, 0x7F};
    switch (type) {
    case QN_TYPE_F16: return &half;
    case QN_TYPE_BF16: return &bf16;
    case QN_TYPE_E4M3: return &e4m3;
    case QN_TYPE_E5M2: return &e5m2;
    default: return NULL;
    }
}

static uint16_t small_of(const small_format *f, unsigned bits, double value) {
    const uint16_t sign = signbit(value) ? (uint16_t)(1u << (bits - 1)) : 0;
    const double magnitude = fabs(value);
    if (isnan(value)) return f->nan;
    int exponent;
    frexp(magnitude, &exponent);
    if (isinf(magnitude) || exponent > f->bias + 2) return sign | f->infinity;
    if (exponent < 2 - f->bias) exponent = 2 - f->bias; /* denormal: equal steps from there on */
    double steps = rint(ldexp(magnitude, f->fraction + 1 - exponent)); /* may carry into the exponent */
    uint32_t made =
        magnitude == 0 ? 0 : ((uint32_t)(exponent + f->bias - 2) << f->fraction) + (uint32_t)steps;
    return (uint16_t)(sign | (made > f->infinity ? f->infinity : made));
}

static double small_value(const small_format *f, unsigned bits, uint16_t code) {
    const uint16_t size = code & ((1u << (bits - 1)) - 1);
    const int exponent = size >> f->fraction, fraction = size & ((1 << f->fraction) - 1);
    double value = exponent == 0 ? ldexp(fraction, 1 - f->bias - f->fraction)
                                 : ldexp(fraction + (1 << f->fraction), exponent - f->bias - f->fraction);
    if (size >= f->infinity)
        value = size == f->infinity && f->nan != f->infinity ? (double)INFINITY : (double)NAN;
    return code >> (bits - 1) ? -value : value;
}

/* ---- values ---- */

static bool integer_parse(const char *text, char **end, qn_type type, unsigned char *to) {
    unsigned bits = 8 * tool_type_scalar_size(type);
    errno = 0;
    uint64_t word;
    if (text[strspn(text, " ")] == '-') {
        long long value = strtoll(text, end, 0);
        if (bits < 64 && value < -(1LL << (bits - 1))) return false;
        word = (uint64_t)value;
    } else {
        word = strtoull(text, end, 0);
        if (bits < 64 && word >> bits) return false;
    }
    /* The sign of the type does not matter: int:0xffffffff is a bit pattern, uint:-1 the largest value. */
    memcpy(to, &word, bits / 8);
    return errno == 0;
}

/* Digits that gave infinity: "inf" and "nan" have none. */
static bool is_too_large(const char *text, double value) {
    return isinf(value) && strpbrk(text, "0123456789");
}

bool tool_value_parse(const char *text, size_t length, qn_type type, unsigned char *to) {
    char copy[128], *end = copy;
    if (length == 0 || length >= sizeof copy) return false;
    memcpy(copy, text, length);
    copy[length] = 0;
    if (type < QN_TYPE_F16) return integer_parse(copy, &end, type, to) && end != copy && *end == 0;
    if (type == QN_TYPE_F32) { /* rounded once */
        float value = strtof(copy, &end);
        if (is_too_large(copy, (double)value)) return false;
        memcpy(to, &value, sizeof value);
    } else {
        double value = strtod(copy, &end);
        const small_format *small = small_format_of(type);
        const unsigned size = tool_type_scalar_size(type);
        const uint16_t code = small ? small_of(small, 8 * size, value) : 0;
        const bool is_lost = small && !isfinite(small_value(small, 8 * size, code)) && isfinite(value);
        if (is_lost || is_too_large(copy, value)) return false;
        memcpy(to, small ? (const void *)&code : &value, size); /* little-endian */
    }
    if (end != copy && *end == 'f' && end[1] == 0) end++; /* 1.5f */
    return end != copy && *end == 0;
}

static int64_t signed_value(const unsigned char *from, unsigned size) {
    uint64_t word = 0;
    memcpy(&word, from, size);
    unsigned shift = 64 - 8 * size;
    return (int64_t)(word << shift) >> shift;
}

static uint64_t unsigned_value(const unsigned char *from, unsigned size) {
    uint64_t word = 0;
    memcpy(&word, from, size);
    return word;
}

double tool_value_get(const unsigned char *from, qn_type type) {
    float narrow;
    double wide;
    uint16_t code = 0;
    const small_format *small = small_format_of(type);
    if (small) {
        memcpy(&code, from, tool_type_scalar_size(type));
        return small_value(small, 8 * tool_type_scalar_size(type), code);
    }
    switch (type) {
    case QN_TYPE_F32: memcpy(&narrow, from, sizeof narrow); return (double)narrow;
    case QN_TYPE_F64: memcpy(&wide, from, sizeof wide); return wide;
    case QN_TYPE_I8:
    case QN_TYPE_I16:
    case QN_TYPE_I32:
    case QN_TYPE_I64: return (double)signed_value(from, tool_type_scalar_size(type));
    default: return (double)unsigned_value(from, tool_type_scalar_size(type));
    }
}

void tool_value_print(FILE *out, const unsigned char *from, qn_type type) {
    float narrow;
    double wide;
    switch (type) {
    case QN_TYPE_F16:
    case QN_TYPE_BF16:
    case QN_TYPE_E4M3:
    case QN_TYPE_E5M2: fprintf(out, "%.9g", tool_value_get(from, type)); break;
    case QN_TYPE_F32:
        memcpy(&narrow, from, sizeof narrow);
        fprintf(out, "%.9g", (double)narrow);
        break;
    case QN_TYPE_F64:
        memcpy(&wide, from, sizeof wide);
        fprintf(out, "%.17g", wide);
        break;
    case QN_TYPE_I8:
    case QN_TYPE_I16:
    case QN_TYPE_I32:
    case QN_TYPE_I64: fprintf(out, "%lld", (long long)signed_value(from, tool_type_scalar_size(type))); break;
    default: fprintf(out, "%llu", (unsigned long long)unsigned_value(from, tool_type_scalar_size(type)));
    }
}
