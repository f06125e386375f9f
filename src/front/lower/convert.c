/* Conversions (OpenCL C 6.2): between numbers with rounding and saturation, between bits, to and from bool
   and pointers. f2s and f2u saturate by themselves; saturation from integers is minima and maxima. */
#include "front/lower/internal.h"

static const ast_type float_type = {
    .kind = AST_FLOAT, .unqualified = &float_type, .size = sizeof(float), .align = sizeof(float)};

ir_rounding qn__lower_rounding(ast_rounding rounding, ir_rounding standard) {
    switch (rounding) {
    case ROUND_RTE: return IR_ROUND_EVEN;
    case ROUND_RTZ: return IR_ROUND_ZERO;
    case ROUND_RTP: return IR_ROUND_UP;
    case ROUND_RTN: return IR_ROUND_DOWN;
    default: return standard;
    }
}

static ir_value *splat_int(lower *l, ir_type type, uint64_t bits) {
    return qn__ir_const_splat(l->b.function, type, bits);
}

static ir_value *rounded(lower *l, ir_op op, ir_value *v, ir_type to, ir_rounding rounding) {
    ir_value *result = qn__ir_convert(&l->b, op, v, to);
    if (result != v) result->def->attr.rounding = (uint8_t)rounding;
    return result;
}

ir_value *qn__lower_float_convert(lower *l, ir_value *v, ir_type to, ir_rounding rounding) {
    return rounded(l, IR_FCONVERT, v, to, rounding);
}

static uint64_t signed_max(unsigned bits) { return (UINT64_C(1) << (bits - 1)) - 1; }
static uint64_t unsigned_max(unsigned bits) { return ~UINT64_C(0) >> (64 - bits); }

/* Clamps v, in its own type, to what `to_bits` bits can hold. */
static ir_value *clamp(lower *l, ir_value *v, bool from_signed, unsigned to_bits, bool to_signed) {
    unsigned from_bits = qn__ir_bits(v->type);
    if (from_signed && to_signed && to_bits < from_bits) {
        v = qn__ir_op2(&l->b, IR_SMAX, v, splat_int(l, v->type, ~signed_max(to_bits)));
        v = qn__ir_op2(&l->b, IR_SMIN, v, splat_int(l, v->type, signed_max(to_bits)));
    } else if (from_signed && !to_signed) {
        v = qn__ir_op2(&l->b, IR_SMAX, v, splat_int(l, v->type, 0));
        if (to_bits < from_bits)
            v = qn__ir_op2(&l->b, IR_SMIN, v, splat_int(l, v->type, unsigned_max(to_bits)));
    } else if (!from_signed && to_signed && to_bits <= from_bits) {
        v = qn__ir_op2(&l->b, IR_UMIN, v, splat_int(l, v->type, signed_max(to_bits)));
    } else if (!from_signed && !to_signed && to_bits < from_bits) {
        v = qn__ir_op2(&l->b, IR_UMIN, v, splat_int(l, v->type, unsigned_max(to_bits)));
    }
    return v;
}

static ir_value *resize(lower *l, ir_value *v, ir_type to, bool is_signed) {
    unsigned from_bits = qn__ir_bits(v->type), to_bits = qn__ir_bits(to);
    ir_op op = to_bits < from_bits ? IR_TRUNC : is_signed ? IR_SEXT : IR_ZEXT;
    if (!qn__ir_is_const(v)) return qn__ir_convert(&l->b, op, v, to);
    uint64_t bits[16];
    for (unsigned i = 0; i < v->type.lanes; i++) {
        bits[i] = v->bits[i];
        if (op == IR_SEXT && from_bits < 64 && (bits[i] >> (from_bits - 1) & 1))
            bits[i] |= ~unsigned_max(from_bits);
        if (to_bits < 64) bits[i] &= unsigned_max(to_bits);
    }
    return qn__ir_const(l->b.function, to, bits);
}

ir_value *qn__lower_resize(lower *l, ir_value *v, ir_kind kind, bool is_signed) {
    ir_type to = qn__ir_type(kind, v->type.lanes);
    return resize(l, v, to, is_signed && v->type.kind != IR_BOOL);
}

ir_value *qn__lower_nonzero(lower *l, ir_value *v) {
    if (v->type.kind == IR_BOOL) return v;
    return qn__ir_op2(&l->b, qn__ir_is_float(v->type) ? IR_FNE : IR_NE, v, splat_int(l, v->type, 0));
}

ir_value *qn__lower_from_bool(lower *l, ir_value *v, ir_type to) {
    if (v->type.kind != IR_BOOL || to.kind == IR_BOOL) return v;
    if (qn__ir_is_float(to)) return rounded(l, IR_U2F, v, to, IR_ROUND_EVEN);
    return qn__ir_convert(&l->b, to.lanes > 1 ? IR_SEXT : IR_ZEXT, v, to);
}

/* ---- small floats ---- */

/* By ast_kind from AST_BF16 on. A bf16 never saturates. */
static const struct {
    ir_op from, to, to_saturated;
} small_ops[] = {{IR_BF16_TO_F32, IR_F32_TO_BF16, IR_F32_TO_BF16},
                 {IR_E4M3_TO_F32, IR_F32_TO_E4M3, IR_F32_TO_E4M3_SAT},
                 {IR_E5M2_TO_F32, IR_F32_TO_E5M2, IR_F32_TO_E5M2_SAT}};

static ir_value *back(lower *l, ir_value *v, const ast_type *from, ir_type to) {
    if (qn__ir_is_float(to)) return rounded(l, IR_FCONVERT, v, to, IR_ROUND_EVEN);
    return rounded(l, qn__type_is_signed(from) ? IR_F2S : IR_F2U, v, to, IR_ROUND_ZERO);
}

/* A number as f32 in such a way that rounding it again, to fewer bits, rounds it once: what is not exact is made odd
   (Boldo and Melquiond, "When double rounding is odd"). */
static ir_value *odd_f32(lower *l, ir_value *v, const ast_type *from) {
    const ir_type f32 = qn__ir_type(IR_F32, v->type.lanes), i32 = qn__ir_type(IR_I32, v->type.lanes);
    const ir_op op = qn__ir_is_float(v->type) ? IR_FCONVERT : qn__type_is_signed(from) ? IR_S2F : IR_U2F;
    if (v->type.kind == IR_F32) return v;
    if (v->type.kind == IR_F16 || qn__ir_bits(v->type) <= 16) return rounded(l, op, v, f32, IR_ROUND_EVEN);
    ir_value *cut = rounded(l, op, v, f32, IR_ROUND_ZERO), *again = back(l, cut, from, v->type);
    ir_value *differs = qn__ir_op2(&l->b, qn__ir_is_float(v->type) ? IR_FNE : IR_NE, again, v);
    ir_value *bits = qn__ir_convert(&l->b, IR_BITCAST, cut, i32);
    bits = qn__ir_op2(&l->b, IR_OR, bits, qn__ir_convert(&l->b, IR_ZEXT, differs, i32));
    return qn__ir_convert(&l->b, IR_BITCAST, bits, f32);
}

static ir_value *to_small(lower *l, ir_value *v, const ast_type *from, const ast_type *to,
                          ast_rounding rounding, bool saturate) {
    const unsigned kind = qn__type_element(to)->kind - AST_BF16;
    const ir_op op = saturate ? small_ops[kind].to_saturated : small_ops[kind].to;
    return rounded(l, op, odd_f32(l, v, from), qn__type_to_ir(to),
                   qn__lower_rounding(rounding, IR_ROUND_EVEN));
}

/* ---- numbers ---- */

static ir_value *number(lower *l, ir_value *v, const ast_type *from, const ast_type *to,
                        ast_rounding rounding, bool saturate) {
    ir_type type = qn__type_to_ir(to);
    bool from_signed = qn__type_is_signed(from), to_signed = qn__type_is_signed(to);
    if (type.kind == IR_BOOL) return qn__lower_nonzero(l, v);
    if (v->type.kind == IR_BOOL) {
        if (qn__ir_is_float(type)) return rounded(l, IR_U2F, v, type, IR_ROUND_EVEN);
        return qn__ir_convert(&l->b, IR_ZEXT, v, type);
    }
    bool from_float = qn__ir_is_float(v->type), to_float = qn__ir_is_float(type);
    if (from_float && to_float)
        return rounded(l, IR_FCONVERT, v, type, qn__lower_rounding(rounding, IR_ROUND_EVEN));
    if (from_float) {
        v = rounded(l, to_signed ? IR_F2S : IR_F2U, v, type, qn__lower_rounding(rounding, IR_ROUND_ZERO));
        if (!saturate && l->config->target.wants_checks && v->def) v->def->flags |= IR_WRITTEN;
        return v;
    }
    if (to_float)
        return rounded(l, from_signed ? IR_S2F : IR_U2F, v, type,
                       qn__lower_rounding(rounding, IR_ROUND_EVEN));
    if (saturate) v = clamp(l, v, from_signed, qn__ir_bits(type), to_signed);
    return resize(l, v, type, from_signed);
}

ir_value *qn__lower_number(lower *l, ir_value *v, const ast_type *from, const ast_type *to,
                           ast_rounding rounding, bool saturate) {
    const ast_type *a = qn__type_element(from), *b = qn__type_element(to);
    if (a == b) return v;
    if (qn__type_is_small_float(a)) {
        v = qn__ir_convert(&l->b, small_ops[a->kind - AST_BF16].from, v, qn__ir_type(IR_F32, v->type.lanes));
        from = &float_type;
    }
    if (qn__type_is_small_float(b)) return to_small(l, v, from, to, rounding, saturate);
    return number(l, v, from, to, rounding, saturate);
}

/* ---- bits ---- */

static ir_value *with_lanes(lower *l, ir_value *v, unsigned lanes) {
    static const uint8_t widen[4] = {0, 1, 2, 255}, narrow[3] = {0, 1, 2};
    if (v->type.lanes == lanes) return v;
    return qn__ir_shuffle(&l->b, v, v, lanes == 4 ? widen : narrow, lanes);
}

/* Bits move through whole 4-vectors where a 3-vector is on one side only. */
ir_value *qn__lower_bits(lower *l, ir_value *v, ir_type to) {
    if (v->type.kind == IR_PTR) v = qn__ir_convert(&l->b, IR_PTR2INT, v, qn__ir_type(IR_I64, 1));
    if (to.kind == IR_PTR) {
        v = qn__ir_convert(&l->b, IR_BITCAST, v, qn__ir_type(IR_I64, 1));
        return qn__ir_convert(&l->b, IR_INT2PTR, v, to);
    }
    if (v->type.kind == IR_BOOL) v = qn__ir_convert(&l->b, IR_ZEXT, v, qn__ir_type(IR_I8, v->type.lanes));
    if (v->type.lanes == to.lanes) return qn__ir_convert(&l->b, IR_BITCAST, v, to);
    if (v->type.lanes == 3) v = with_lanes(l, v, 4);
    v = qn__ir_convert(&l->b, IR_BITCAST, v, qn__ir_with_lanes(to, to.lanes == 3 ? 4 : to.lanes));
    return with_lanes(l, v, to.lanes);
}

/* ---- pointers ---- */

static ir_value *to_pointer(lower *l, ir_value *v, bool is_signed, ir_type to) {
    if (qn__ir_is_const(v) && v->bits[0] == 0) return qn__ir_const_splat(l->b.function, to, 0);
    v = qn__lower_resize(l, v, IR_I64, is_signed);
    return qn__ir_convert(&l->b, IR_INT2PTR, v, to);
}

static ir_value *pointer_to_pointer(lower *l, ir_value *v, ir_type to) {
    if (qn__ir_same(v->type, to)) return v;
    const bool is_generic = v->type.space == IR_GENERIC_SPACE || to.space == IR_GENERIC_SPACE;
    if (is_generic && !(qn__ir_is_const(v) && !v->bits[0])) return qn__ir_convert(&l->b, IR_PTR_CAST, v, to);
    if (qn__ir_is_const(v)) return qn__ir_const_splat(l->b.function, to, v->bits[0]);
    v = qn__ir_convert(&l->b, IR_PTR2INT, v, qn__ir_type(IR_I64, 1));
    return qn__ir_convert(&l->b, IR_INT2PTR, v, to);
}

ir_value *qn__lower_convert(lower *l, ast_expr *e) {
    if (e->convert == CONVERT_VOID) {
        qn__lower_effects(l, e->a);
        return NULL;
    }
    if (e->convert == CONVERT_TO_BOOL) return qn__lower_truth(l, e->a);
    ir_type to = qn__type_to_ir(e->type);
    ir_value *v = qn__lower_value(l, e->a);
    qn__lower_at(l, e->loc);
    switch (e->convert) {
    case CONVERT_SPLAT: return qn__ir_splat(&l->b, v, to.lanes);
    case CONVERT_BITS: return qn__lower_bits(l, v, to);
    case CONVERT_POINTER: return pointer_to_pointer(l, v, to);
    case CONVERT_TO_POINTER: return to_pointer(l, v, qn__type_is_signed(e->a->type), to);
    case CONVERT_FROM_POINTER: {
        ir_value *bits = qn__ir_convert(&l->b, IR_PTR2INT, v, qn__ir_type(IR_I64, 1));
        return to.kind == IR_BOOL ? qn__lower_nonzero(l, v)
                                  : qn__lower_resize(l, bits, (ir_kind)to.kind, false);
    }
    default: return qn__lower_number(l, v, e->a->type, e->type, (ast_rounding)e->rounding, e->saturate);
    }
}
