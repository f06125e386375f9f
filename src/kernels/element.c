/* Types of elements: what kernel texts call them, and numbers as their bytes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/op.h"

#define INTEGER(name, size, type, word)                                                                      \
    { name, size, false, type, type, word "_load", word "_store", "convert_" type "_sat" }

static const qn__element_info elements[QN_ELEMENT_COUNT] = {
    [QN_F32] = {"f32", 4, true, "float", "float", "f32_load", "f32_store", "convert_float"},
    [QN_F64] = {"f64", 8, true, "double", "double", "f64_load", "f64_store", "convert_double"},
    [QN_F16] = {"f16", 2, true, "half", "float", "f16_load", "f16_store", "convert_float"},
    [QN_BF16] = {"bf16", 2, true, "qn_bf16", "float", "bf16_load", "bf16_store", "convert_float"},
    [QN_E4M3] = {"e4m3", 1, true, "qn_e4m3", "float", "e4m3_load", "e4m3_store", "convert_float"},
    [QN_E5M2] = {"e5m2", 1, true, "qn_e5m2", "float", "e5m2_load", "e5m2_store", "convert_float"},
    [QN_I8] = INTEGER("i8", 1, "char", "i8"),
    [QN_I16] = INTEGER("i16", 2, "short", "i16"),
    [QN_I32] = INTEGER("i32", 4, "int", "i32"),
    [QN_I64] = INTEGER("i64", 8, "long", "i64"),
    [QN_U8] = INTEGER("u8", 1, "uchar", "u8"),
    [QN_U16] = INTEGER("u16", 2, "ushort", "u16"),
    [QN_U32] = INTEGER("u32", 4, "uint", "u32"),
    [QN_U64] = INTEGER("u64", 8, "ulong", "u64"),
    [QN_BOOL] = {"bool", 1, false, "uchar", "uchar", "u8_load", "u8_store", "to_bool"},
};

const char *qn_element_name(qn_element type) {
    return (unsigned)type < QN_ELEMENT_COUNT ? elements[type].name : NULL;
}

uint32_t qn_element_size(qn_element type) {
    return (unsigned)type < QN_ELEMENT_COUNT ? elements[type].size : 0;
}

const qn__element_info *qn__element(qn_element type) { return &elements[type]; }

const char *qn__element_word(uint32_t bytes) {
    return bytes >= 16  ? "uint4"
           : bytes >= 8 ? "uint2"
           : bytes >= 4 ? "uint"
           : bytes >= 2 ? "ushort"
                        : "uchar";
}

const char *qn__element_limit(qn_element type, bool largest) {
    static const char *const least[QN_ELEMENT_COUNT] = {
        [QN_F32] = "-INFINITY", [QN_F64] = "-INFINITY", [QN_I8] = "CHAR_MIN", [QN_I16] = "SHRT_MIN",
        [QN_I32] = "INT_MIN",   [QN_I64] = "LONG_MIN",  [QN_U8] = "0",        [QN_U16] = "0",
        [QN_U32] = "0",         [QN_U64] = "0",         [QN_BOOL] = "0"};
    static const char *const most[QN_ELEMENT_COUNT] = {
        [QN_F32] = "INFINITY", [QN_F64] = "INFINITY",  [QN_I8] = "CHAR_MAX",   [QN_I16] = "SHRT_MAX",
        [QN_I32] = "INT_MAX",  [QN_I64] = "LONG_MAX",  [QN_U8] = "UCHAR_MAX",  [QN_U16] = "USHRT_MAX",
        [QN_U32] = "UINT_MAX", [QN_U64] = "ULONG_MAX", [QN_BOOL] = "UCHAR_MAX"};
    return largest ? most[type] : least[type];
}

static bool is_narrow(const qn__element_info *e) { return e->is_float && e->size < 4; }

qn__conversion qn__element_conversion(qn_element from, qn_element to) {
    const qn__element_info *f = &elements[from], *t = &elements[to];
    qn__conversion c = {""};
    if (from == to || (f->is_float && t->is_float && strcmp(f->value, t->value) == 0)) return c;
    if (is_narrow(t) && from == QN_F64)
        snprintf(c.text, sizeof c.text, "double_to_narrow");
    else if (is_narrow(t) && !f->is_float && f->size >= 4)
        snprintf(c.text, sizeof c.text, f->value[0] == 'u' ? "ulong_to_narrow" : "long_to_narrow");
    else if (f->is_float || to == QN_BOOL)
        snprintf(c.text, sizeof c.text, "%s", t->to_value);
    else
        snprintf(c.text, sizeof c.text, "convert_%s", t->value);
    return c;
}

/* How a float narrower than 32 bits is laid out. */
typedef struct narrow {
    int mantissa, bias;
    uint32_t largest, beyond, nan, sign; /* `beyond`: what larger numbers become */
} narrow;

static uint32_t encode_narrow(const narrow *n, double value) {
    const uint32_t sign = signbit(value) ? n->sign : 0;
    if (isnan(value)) return sign | n->nan;
    const double size = fabs(value);
    if (isinf(size)) return sign | n->beyond;
    int exponent = 0;
    if (size > 0) frexp(size, &exponent);
    exponent -= 1; /* of a significand from 1 to 2 */
    if (size == 0 || exponent < 1 - n->bias) exponent = 1 - n->bias;
    /* In units of the last place. The leading one, and a carry, go into the exponent by themselves. */
    const double units = nearbyint(ldexp(size, n->mantissa - exponent));
    const uint64_t code = ((uint64_t)(exponent + n->bias - 1) << n->mantissa) + (uint64_t)units;
    return sign | (code > n->largest ? n->beyond : (uint32_t)code);
}

static const narrow f16 = {10, 15, 0x7bff, 0x7c00, 0x7e00, 0x8000};
static const narrow bf16 = {7, 127, 0x7f7f, 0x7f80, 0x7fc0, 0x8000};
static const narrow e4m3 = {3, 7, 0x7e, 0x7f, 0x7f, 0x80};
static const narrow e5m2 = {2, 15, 0x7b, 0x7c, 0x7e, 0x80};

static int64_t to_signed(double value, int bits) {
    const double end = ldexp(1, bits - 1);
    if (isnan(value)) return 0;
    const int64_t most = (int64_t)((1ull << (bits - 1)) - 1);
    return value >= end ? most : value <= -end ? -most - 1 : (int64_t)value;
}

static uint64_t to_unsigned(double value, int bits) {
    if (!(value > 0)) return 0;
    return value >= ldexp(1, bits) ? UINT64_MAX >> (64 - bits) : (uint64_t)value;
}

static uint64_t encode(qn_element type, double value) {
    uint64_t bits = 0;
    const float as_float = (float)value;
    switch (type) {
    case QN_F32: {
        uint32_t word;
        memcpy(&word, &as_float, 4);
        return word;
    }
    case QN_F64: memcpy(&bits, &value, 8); return bits;
    case QN_F16: return encode_narrow(&f16, value);
    case QN_BF16: return encode_narrow(&bf16, value);
    case QN_E4M3: return encode_narrow(&e4m3, value);
    case QN_E5M2: return encode_narrow(&e5m2, value);
    case QN_BOOL: return value != 0;
    case QN_U8:
    case QN_U16:
    case QN_U32:
    case QN_U64: return to_unsigned(value, (int)elements[type].size * 8);
    default: return (uint64_t)to_signed(value, (int)elements[type].size * 8);
    }
}

void qn__element_encode(qn_element type, double value, void *bytes) {
    const uint64_t wide = encode(type, value);
    const uint32_t word = (uint32_t)wide;
    const uint16_t half = (uint16_t)wide;
    const uint8_t byte = (uint8_t)wide;
    switch (elements[type].size) {
    case 1: memcpy(bytes, &byte, 1); break;
    case 2: memcpy(bytes, &half, 2); break;
    case 4: memcpy(bytes, &word, 4); break;
    default: memcpy(bytes, &wide, 8); break;
    }
}
