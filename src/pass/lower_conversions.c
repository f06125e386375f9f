/* Conversions for targets that have those between f32 and words alone, to floats to the nearest and to integers to zero.
   An i64 is rounded to a float by its 32 highest bits, of which the last says whether there is more below. f16 is an
   integer's work (lower_small_floats.c), but to the nearest where the target has that.

       %f = u2f %a  (i64 to f32)   ->   %m = high word of (%a << clz %a), its last bit set if the low word is not 0
                                        %f = bitcast (exponent, %m >> 8, rounded)
       %h = fconvert %f  (to f16)  ->   %h = bitcast (trunc (the code of %f)) */
#include "pass/small_float.h"

static const qn__small_float half = {16, 10, 15, 0x7bff, 0x7c00, 0x7e00, 65520, true};
static const ir_type I64 = {IR_I64, 1, 0}, I32 = {IR_I32, 1, 0}, F32 = {IR_F32, 1, 0};

static ir_value *with(qn__lowering *l, ir_op op, ir_value *a, uint64_t number) {
    return qn__make2(l, op, a, qn__make_int(l, a->type, number));
}

static ir_value *choose(qn__lowering *l, ir_value *when, ir_value *value, uint64_t otherwise) {
    return qn__make_select(l, when, value, qn__make_int(l, value->type, otherwise));
}

/* ---- integers to floats ---- */

static ir_value *negated_if(qn__lowering *l, ir_value *negative, ir_value *value) {
    ir_value *minus = qn__make2(l, IR_SUB, qn__make_int(l, value->type, 0), value);
    return qn__make_select(l, negative, minus, value);
}

/* What carries into the bits that stay, where `rest` is cut off. `negative`: a bool, or NULL. */
static ir_value *carry(qn__lowering *l, ir_value *rest, ir_value *odd, ir_value *negative,
                       ir_rounding rounding) {
    if (rounding == IR_ROUND_EVEN)
        return with(l, IR_LSHR, qn__make2(l, IR_ADD, with(l, IR_ADD, rest, 0x7f), odd), 8);
    ir_value *away = with(l, IR_LSHR, with(l, IR_ADD, rest, 0xff), 8);
    if (rounding == IR_ROUND_ZERO || (rounding == IR_ROUND_DOWN && !negative)) return qn__make_int(l, I32, 0);
    if (!negative) return away;
    ir_value *grows = rounding == IR_ROUND_UP ? qn__make1(l, IR_NOT, negative) : negative;
    return choose(l, grows, away, 0);
}

static ir_value *to_float(qn__lowering *l, const ir_instr *i, ir_value *const *operands) {
    enum { TOP = 127 + 63 }; /* exponent of bit 63 */
    const bool is_signed = i->op == IR_S2F;
    ir_value *value = qn__make_convert(l, is_signed ? IR_SEXT : IR_ZEXT, operands[0], I64);
    ir_value *negative = is_signed ? with(l, IR_SLT, value, 0) : NULL;
    ir_value *size = negative ? negated_if(l, negative, value) : value;
    ir_value *zeros = qn__make1(l, IR_CLZ, size);
    ir_value *both = qn__make2(l, IR_SHL, size, zeros);
    ir_value *low = qn__make_convert(l, IR_TRUNC, both, I32);
    ir_value *high = qn__make_convert(l, IR_TRUNC, with(l, IR_LSHR, both, 32), I32);
    ir_value *more = qn__make_convert(l, IR_ZEXT, with(l, IR_NE, low, 0), I32);
    high = qn__make2(l, IR_OR, high, more);
    ir_value *fraction = with(l, IR_LSHR, high, 8), *odd = with(l, IR_AND, fraction, 1);
    ir_value *up = carry(l, with(l, IR_AND, high, 0xff), odd, negative, (ir_rounding)i->attr.rounding);
    /* the first bit of the fraction adds one to the exponent */
    ir_value *fewer = qn__make_convert(l, IR_TRUNC, zeros, I32);
    ir_value *exponent = qn__make2(l, IR_SUB, qn__make_int(l, I32, TOP - 1), fewer);
    fraction = qn__make2(l, IR_ADD, fraction, up);
    ir_value *bits = qn__make2(l, IR_ADD, with(l, IR_SHL, exponent, 23), fraction);
    bits = choose(l, with(l, IR_NE, size, 0), bits, 0);
    if (negative) {
        ir_value *sign = with(l, IR_SHL, qn__make_convert(l, IR_ZEXT, negative, I32), 31);
        bits = qn__make2(l, IR_OR, bits, sign);
    }
    return qn__make_convert(l, IR_BITCAST, bits, F32);
}

/* ---- floats to integers ---- */

static ir_value *rounded(qn__lowering *l, ir_value *value, ir_rounding rounding) {
    static const ir_op ops[] = {[IR_ROUND_EVEN] = IR_FRINT,
                                [IR_ROUND_ZERO] = IR_FTRUNC,
                                [IR_ROUND_UP] = IR_FCEIL,
                                [IR_ROUND_DOWN] = IR_FFLOOR};
    return rounding == IR_ROUND_ZERO ? value : qn__make1(l, ops[rounding], value);
}

/* The size of a float as an i64, where it is below 2^64. */
static ir_value *whole_part(qn__lowering *l, ir_value *size) {
    enum { ONE = 127, FRACTION_BITS = 23 };
    ir_value *exponent = with(l, IR_LSHR, size, FRACTION_BITS);
    ir_value *fraction = with(l, IR_OR, with(l, IR_AND, size, 0x7fffff), 0x800000);
    fraction = qn__make_convert(l, IR_ZEXT, fraction, I64);
    ir_value *left = with(l, IR_AND, with(l, IR_SUB, exponent, ONE + FRACTION_BITS), 63);
    ir_value *right =
        with(l, IR_AND, qn__make2(l, IR_SUB, qn__make_int(l, I32, ONE + FRACTION_BITS), exponent), 63);
    ir_value *large = qn__make2(l, IR_SHL, fraction, qn__make_convert(l, IR_ZEXT, left, I64));
    ir_value *small = qn__make2(l, IR_LSHR, fraction, qn__make_convert(l, IR_ZEXT, right, I64));
    ir_value *is_large = qn__make2(l, IR_ULE, qn__make_int(l, I32, ONE + FRACTION_BITS), exponent);
    ir_value *value = qn__make_select(l, is_large, large, small);
    return choose(l, qn__make2(l, IR_ULE, qn__make_int(l, I32, ONE), exponent), value, 0);
}

static ir_value *to_long(qn__lowering *l, const ir_instr *i, ir_value *const *operands) {
    const bool is_signed = i->op == IR_F2S;
    ir_value *bits =
        qn__make_convert(l, IR_BITCAST, rounded(l, operands[0], (ir_rounding)i->attr.rounding), I32);
    ir_value *size = with(l, IR_AND, bits, 0x7fffffff), *value = whole_part(l, size);
    ir_value *negative = with(l, IR_SLT, bits, 0);
    ir_value *fits = qn__make2(l, IR_ULT, size, qn__make_int(l, I32, is_signed ? 0x5f000000 : 0x5f800000));
    value = choose(l, fits, value, is_signed ? INT64_MAX : UINT64_MAX);
    if (is_signed) {
        ir_value *least = qn__make_int(l, I64, (uint64_t)INT64_MIN), *minus = negated_if(l, negative, value);
        ir_value *below = qn__make2(l, IR_AND, negative, qn__make1(l, IR_NOT, fits));
        value = qn__make_select(l, below, least, minus);
    } else {
        value = choose(l, qn__make1(l, IR_NOT, negative), value, 0);
    }
    return choose(l, qn__make2(l, IR_ULE, size, qn__make_int(l, I32, 0x7f800000)), value, 0);
}

/* ---- the pass ---- */

static ir_value *convert_half(qn__lowering *l, const ir_instr *i) {
    ir_value *from = i->operands[0];
    if (l->context->options->target.has_f16_conversions && i->attr.rounding == IR_ROUND_EVEN) return NULL;
    const ir_type to = i->results[0]->type, narrow = qn__ir_type(IR_I16, to.lanes);
    if (from->type.kind == IR_F16 && to.kind == IR_F32) {
        ir_value *bits = qn__make_convert(l, IR_BITCAST, from, narrow);
        return qn__from_small_float(l, qn__make_convert(l, IR_ZEXT, bits, qn__words_like(to)), &half);
    }
    if (from->type.kind != IR_F32 || to.kind != IR_F16) return NULL;
    ir_value *code = qn__to_small_float(l, from, &half, (ir_rounding)i->attr.rounding, false);
    return qn__make_convert(l, IR_BITCAST, qn__make_convert(l, IR_TRUNC, code, narrow), to);
}

/* For drivers that promise nothing of floats and take x for (int)(float)x: the float is the sum of its halves' floats, which is rounded once. */
static ir_value *there_and_back(qn__lowering *l, const ir_instr *i) {
    const ir_value *value = i->operands[0];
    if (value->value_kind != IR_VALUE_RESULT || (value->def->op != IR_S2F && value->def->op != IR_U2F))
        return NULL;
    ir_value *whole = value->def->operands[0];
    const ir_type type = whole->type;
    if (type.kind != IR_I32 || value->type.kind != IR_F32 || i->results[0]->type.kind != IR_I32) return NULL;
    ir_value *half_bits = qn__make_int(l, type, 16),
             *low = qn__make2(l, IR_AND, whole, qn__make_int(l, type, 0xffff));
    ir_value *high = qn__make2(l, value->def->op == IR_S2F ? IR_ASHR : IR_LSHR, whole, half_bits);
    high = qn__make_convert(l, (ir_op)value->def->op, high, value->type);
    high = qn__make2(l, IR_FMUL, high, qn__make_float(l, value->type, 65536));
    low = qn__make_convert(l, IR_U2F, low, value->type);
    ir_value *result =
        qn__make_convert(l, (ir_op)i->op, qn__make2(l, IR_FADD, high, low), i->results[0]->type);
    if (result->value_kind == IR_VALUE_RESULT) result->def->attr.rounding = i->attr.rounding;
    return result;
}

static ir_value *lower(qn__lowering *l, ir_instr *i) {
    const qn__target *target = &l->context->options->target;
    const bool comes_back = target->lacks_float_controls && (i->op == IR_F2S || i->op == IR_F2U);
    ir_value *whole = comes_back ? there_and_back(l, i) : NULL;
    if (whole || !target->lacks_conversions) return whole;
    const ir_type from = i->operands[0]->type, to = i->results[0]->type;
    const unsigned rounding = i->attr.rounding;
    switch (i->op) {
    case IR_FCONVERT: return convert_half(l, i);
    case IR_S2F:
    case IR_U2F:
        if (to.kind != IR_F32 || from.kind == IR_BOOL || qn__ir_bits(from) < 32) return NULL;
        return from.kind == IR_I64 || rounding != IR_ROUND_EVEN ? qn__make_lanes(l, i, to_float) : NULL;
    default: break;
    }
    if (from.kind != IR_F32) return NULL;
    if (to.kind == IR_I64) return qn__make_lanes(l, i, to_long);
    if (rounding == IR_ROUND_ZERO) return NULL;
    ir_value *value =
        qn__make_convert(l, (ir_op)i->op, rounded(l, i->operands[0], (ir_rounding)rounding), to);
    if (value->value_kind == IR_VALUE_RESULT) value->def->attr.rounding = IR_ROUND_ZERO;
    return value;
}

bool qn__pass_lower_conversions(qn__pass_context *context) {
    static const ir_op ops[] = {IR_FCONVERT, IR_S2F, IR_U2F, IR_F2S, IR_F2U};
    return qn__lower_ops(context, ops, QN__COUNT(ops), lower);
}
