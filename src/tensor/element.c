/* Types of elements: what kernels call them, and which type two make together. */
#include <math.h>

#include "tensor/graph.h"

static const qn__element_info elements[QN_ELEMENT_COUNT] = {
    [QN_F32] = {"float", "float", 4, QN__FLOAT, "-INFINITY", "INFINITY"},
    [QN_F64] = {"double", "double", 8, QN__FLOAT, "-INFINITY", "INFINITY"},
    [QN_F16] = {"half", "float", 2, QN__FLOAT, "-INFINITY", "INFINITY"},
    [QN_BF16] = {"qn_bf16", "float", 2, QN__FLOAT, "-INFINITY", "INFINITY"},
    [QN_E4M3] = {"qn_e4m3", "float", 1, QN__FLOAT, "-INFINITY", "INFINITY"},
    [QN_E5M2] = {"qn_e5m2", "float", 1, QN__FLOAT, "-INFINITY", "INFINITY"},
    [QN_I8] = {"char", "char", 1, QN__SIGNED, "CHAR_MIN", "CHAR_MAX"},
    [QN_I16] = {"short", "short", 2, QN__SIGNED, "SHRT_MIN", "SHRT_MAX"},
    [QN_I32] = {"int", "int", 4, QN__SIGNED, "INT_MIN", "INT_MAX"},
    [QN_I64] = {"long", "long", 8, QN__SIGNED, "LONG_MIN", "LONG_MAX"},
    [QN_U8] = {"uchar", "uchar", 1, QN__UNSIGNED, "0", "UCHAR_MAX"},
    [QN_U16] = {"ushort", "ushort", 2, QN__UNSIGNED, "0", "USHRT_MAX"},
    [QN_U32] = {"uint", "uint", 4, QN__UNSIGNED, "0", "UINT_MAX"},
    [QN_U64] = {"ulong", "ulong", 8, QN__UNSIGNED, "0", "ULONG_MAX"},
    [QN_BOOL] = {"uchar", "uchar", 1, QN__UNSIGNED, "0", "1"},
};

const qn__element_info *qn__element_of(qn_element type) { return &elements[type]; }

bool qn__is_float(qn_element type) { return elements[type].class == QN__FLOAT; }

qn_element qn__value_type(qn_element type) { return qn__is_float(type) && type != QN_F64 ? QN_F32 : type; }

static qn_element common_float(qn_element a, qn_element b) {
    if (a == QN_F64 || b == QN_F64) return QN_F64;
    if (a == QN_F32 || b == QN_F32) return QN_F32;
    if (elements[a].size == 1 && elements[b].size == 1) return QN_F16; /* holds all that both have */
    if (elements[a].size != elements[b].size) return elements[a].size > elements[b].size ? a : b;
    return QN_F32;
}

static qn_element signed_of(uint32_t size) {
    return size == 1   ? QN_I8
           : size == 2 ? QN_I16
           : size == 4 ? QN_I32
           : size == 8 ? QN_I64
                       : QN_ELEMENT_COUNT;
}

qn_element qn__common_type(qn_element a, qn_element b) {
    if (a == b || b == QN_BOOL) return a;
    if (a == QN_BOOL) return b;
    const qn__element_info *x = &elements[a], *y = &elements[b];
    if (x->class == QN__FLOAT && y->class == QN__FLOAT) return common_float(a, b);
    if (x->class == QN__FLOAT || y->class == QN__FLOAT) return x->class == QN__FLOAT ? a : b;
    if (x->class == y->class) return x->size >= y->size ? a : b;
    const qn__element_info *s = x->class == QN__SIGNED ? x : y, *u = x->class == QN__SIGNED ? y : x;
    return signed_of(s->size > u->size ? s->size : u->size * 2);
}

qn__number qn__number_of(const qn_operand *x, qn_element type) {
    const qn__class class = elements[type].class;
    qn__number n = {.u = 0};
    if (class == QN__FLOAT)
        n.d = x->kind == QN_OPERAND_FLOAT    ? x->value.d
              : x->kind == QN_OPERAND_SIGNED ? (double)x->value.i
                                             : (double)x->value.u;
    else if (x->kind == QN_OPERAND_FLOAT && class == QN__SIGNED)
        n.i = (int64_t)x->value.d;
    else if (x->kind == QN_OPERAND_FLOAT)
        n.u = x->value.d > 0 ? (uint64_t)x->value.d : 0;
    else
        n.u = x->value.u;
    if (type == QN_BOOL) n.u = x->kind == QN_OPERAND_FLOAT ? x->value.d != 0 : x->value.u != 0;
    return n;
}

bool qn__holds(qn_element type, const qn_operand *x) {
    const qn__element_info *e = &elements[type];
    if (e->class == QN__FLOAT || type == QN_BOOL) return true;
    const uint32_t bits = e->size * 8;
    if (x->kind == QN_OPERAND_FLOAT)
        return e->class == QN__SIGNED
                   ? x->value.d >= -ldexp(1, (int)bits - 1) && x->value.d < ldexp(1, (int)bits - 1)
                   : x->value.d > -1 && x->value.d < ldexp(1, (int)bits);
    if (x->kind == QN_OPERAND_SIGNED && x->value.i < 0)
        return e->class == QN__SIGNED && x->value.i >= -(int64_t)(UINT64_MAX >> (65 - bits)) - 1;
    return x->value.u <= UINT64_MAX >> (64 - bits + (e->class == QN__SIGNED));
}
