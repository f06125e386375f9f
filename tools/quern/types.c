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
    {"ptrdiff_t", QN_TYPE_I64}, {"bool", QN_TYPE_U8},   {"unsigned", QN_TYPE_U32},
};

enum { NUM_SCALARS = sizeof scalars / sizeof scalars[0] };

unsigned tool_type_scalar_size(qn_type type) {
    static const unsigned char sizes[] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8};
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
        if (lanes_parse(text + name, length - name, &type->lanes)) return true;
    }
    return false;
}

/* ---- half ---- */

static uint16_t half_of(double value) {
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    double magnitude = fabs(value);
    if (isnan(value)) return 0x7E00;
    if (magnitude >= 65520) return sign | 0x7C00;
    int exponent;
    frexp(magnitude, &exponent);
    if (exponent < -13) exponent = -13;                   /* denormal: steps of 2^-24 */
    double steps = rint(ldexp(magnitude, 11 - exponent)); /* to nearest even; may carry into the exponent */
    return (uint16_t)(sign | (magnitude == 0 ? 0 : (uint16_t)((exponent + 13) * 1024 + (int)steps)));
}

static double half_value(uint16_t bits) {
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = exponent == 0    ? ldexp(fraction, -24)
                   : exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
                                    : ldexp(fraction + 1024, exponent - 25);
    return bits & 0x8000 ? -value : value;
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
        uint16_t half = half_of(value);
        if (is_too_large(copy, type == QN_TYPE_F16 ? half_value(half) : value)) return false;
        if (type == QN_TYPE_F16)
            memcpy(to, &half, sizeof half);
        else
            memcpy(to, &value, sizeof value);
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
    uint16_t half;
    switch (type) {
    case QN_TYPE_F16: memcpy(&half, from, sizeof half); return half_value(half);
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
    uint16_t half;
    switch (type) {
    case QN_TYPE_F16:
        memcpy(&half, from, sizeof half);
        fprintf(out, "%.9g", half_value(half));
        break;
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
