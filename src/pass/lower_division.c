/* For targets whose quotients and roots of f32 may be off by a few units in the last place, as Vulkan allows
   (specification, "Precision and Operation of SPIR-V Instructions"): they are corrected by the residual, which fma
   gives exactly (Markstein, "IA-64 and Elementary Functions", ch. 8 and 9). Those of halves are computed in f32 and
   rounded once more, which is right as 24 >= 2 * 11 + 2. f64 is left to the target.

       %q = fdiv %a, %b (f32)    ->    %q = if branch (%a and %b are ordinary) {
                                           %i = fdiv 1, %b;  %g = fmul %a, %i
                                           yield fma (fma (fneg %g), %b, %a), %i, %g
                                       } else { yield the same of their fractions, scaled }  */
#include <math.h>

#include "pass/lowering.h"

enum { F32_ONE = 0x3f800000 };

static ir_value *times(qn__lowering *l, ir_value *a, ir_value *b) {
    const bool is_one = qn__ir_is_const(b) && qn__ir_is_splat(b, F32_ONE);
    return is_one ? a : qn__make2(l, IR_FMUL, a, b);
}
static ir_value *divide(qn__lowering *l, ir_value *a, ir_value *b) { return qn__make2(l, IR_FDIV, a, b); }
static ir_value *like(qn__lowering *l, const ir_value *value, double number) {
    return qn__make_float(l, value->type, number);
}

/* What is not denormal here, or where that makes no difference: comparisons, magnitudes and the target's inverse root
   need no lowering themselves, and a sign no promise. */
static ir_value *plainly(ir_value *made) {
    if (!qn__ir_is_const(made)) made->def->flags |= IR_FAST;
    return made;
}

static ir_value *test(qn__lowering *l, ir_op op, ir_value *a, ir_value *b) {
    return plainly(qn__make2(l, op, a, b));
}

static ir_value *negated(qn__lowering *l, ir_value *a) { return plainly(qn__make1(l, IR_FNEG, a)); }

static ir_value *both(qn__lowering *l, ir_value *a, ir_value *b) {
    if (qn__ir_is_const(a) && qn__ir_is_splat(a, 1)) return b;
    if (qn__ir_is_const(b) && qn__ir_is_splat(b, 1)) return a;
    if (qn__ir_is_const(a) && qn__ir_is_splat(a, 0)) return a;
    if (qn__ir_is_const(b) && qn__ir_is_splat(b, 0)) return b;
    return qn__make2(l, IR_AND, a, b);
}

/* ---- roots ---- */

/* Small numbers are scaled up, so that the residual is not denormal. */
static ir_value *root_f32(qn__lowering *l, ir_value *a) {
    ir_value *small = test(l, IR_FLT, a, like(l, a, 0x1p-96));
    ir_value *x = qn__make_select(l, small, times(l, a, like(l, a, 0x1p64)), a);
    ir_value *y = plainly(qn__make1(l, IR_NATIVE_RSQRT, x)), *s = times(l, x, y),
             *half = times(l, y, like(l, a, 0.5));
    ir_value *rest = qn__make3(l, IR_FMA, negated(l, s), s, x);
    s = qn__make3(l, IR_FMA, half, rest, s);
    s = qn__make_select(l, small, times(l, s, like(l, a, 0x1p-32)), s);
    ir_value *zero = test(l, IR_FEQ, x, like(l, a, 0)); /* x is never denormal */
    ir_value *infinite = test(l, IR_FEQ, a, like(l, a, HUGE_VAL));
    return qn__make_select(l, qn__make2(l, IR_OR, zero, infinite), a, s);
}

/* ---- quotients ---- */

enum { F32_BIAS = 127, F32_FRACTION = 23 };

/* Whether the exponent is in [least, least + count): not zero, denormal, infinite or NaN, where least is above -127 and the end below 129. */
static ir_value *has_exponent(qn__lowering *l, ir_value *value, int least, unsigned count) {
    const ir_type words = qn__words_like(value->type);
    ir_value *bits = qn__make_convert(l, IR_BITCAST, value, words);
    ir_value *size = qn__make2(l, IR_SHL, bits, qn__make_int(l, words, 1)); /* without the sign */
    const uint64_t first = (uint64_t)(F32_BIAS + least) << (F32_FRACTION + 1);
    ir_value *distance = qn__make2(l, IR_SUB, size, qn__make_int(l, words, first));
    return qn__make2(l, IR_ULT, distance, qn__make_int(l, words, (uint64_t)count << (F32_FRACTION + 1)));
}

/* Whether no part of the correction of a quotient overflows or is denormal. */
static ir_value *is_ordinary(qn__lowering *l, ir_value *value) { return has_exponent(l, value, -60, 120); }

static ir_value *refined(qn__lowering *l, ir_value *q, ir_value *inverse, ir_value *a, ir_value *b) {
    ir_value *rest = qn__make3(l, IR_FMA, negated(l, q), b, a);
    return qn__make3(l, IR_FMA, rest, inverse, q);
}

/* Off by a few ulp, the target's inverse is its own correction, whose residual is about as large as an ulp of 1. Where there is no
   normal inverse, it stays as it is. */
static ir_value *inverse_f32(qn__lowering *l, ir_value *one, ir_value *b) {
    ir_value *r = divide(l, one, b), *better = refined(l, r, r, one, b);
    return qn__is_moderate(b) ? better : qn__make_select(l, has_exponent(l, b, -126, 251), better, r);
}

static ir_value *quick_quotient(qn__lowering *l, ir_value *a, ir_value *b) {
    ir_value *inverse = divide(l, like(l, b, 1), b);
    return refined(l, times(l, a, inverse), inverse, a, b);
}

/* The inverse is corrected, too: right whatever the target's is off by, unless the divisor's fraction is all ones, whose inverse is
   next to a tie that the correction may miss. */
static ir_value *sure_quotient(qn__lowering *l, ir_value *a, ir_value *b) {
    ir_value *one = like(l, b, 1), *inverse = divide(l, one, b);
    inverse = refined(l, inverse, inverse, one, b);
    return refined(l, times(l, a, inverse), inverse, a, b);
}

/* Vulkan bounds the error of a quotient for divisors up to 2^126; the inverse of a larger one is denormal, and zero
   to a driver that flushes. Such quotients are taken of both numbers scaled down. */
static ir_value *divide_any(qn__lowering *l, ir_value *a, ir_value *b) {
    ir_value *most = like(l, b, 0x1p96), *small = like(l, b, 0x1p-32), *one = like(l, b, 1);
    ir_value *large = test(l, IR_FLT, most, plainly(qn__make1(l, IR_FABS, b)));
    ir_value *down = qn__make_select(l, large, small, one);
    a = times(l, a, down);
    b = times(l, b, down);
    return divide(l, a, b);
}

static ir_value *exponent_bits(qn__lowering *l, ir_value *value) {
    const ir_type words = qn__words_like(value->type);
    ir_value *bits = qn__make_convert(l, IR_BITCAST, value, words);
    return qn__make2(l, IR_AND, bits, qn__make_int(l, words, (uint64_t)255 << F32_FRACTION));
}

static ir_value *is_normal(qn__lowering *l, ir_value *exponent) {
    const ir_type words = exponent->type;
    ir_value *above = qn__make2(l, IR_SUB, exponent, qn__make_int(l, words, 1u << F32_FRACTION));
    return qn__make2(l, IR_ULT, above, qn__make_int(l, words, 254u << F32_FRACTION));
}

/* The number with its sign, and with the exponent of 1. */
static ir_value *with_exponent_of_one(qn__lowering *l, ir_value *value, ir_value *exponent) {
    ir_value *bits = qn__make_convert(l, IR_BITCAST, value, exponent->type);
    bits = qn__make2(l, IR_XOR, bits, exponent);
    bits = qn__make2(l, IR_OR, bits, qn__make_int(l, exponent->type, F32_ONE));
    return qn__make_convert(l, IR_BITCAST, bits, value->type);
}

/* 2^n, of the bits of n where an exponent lies, for n in [-126, 127]. */
static ir_value *power_of_two(qn__lowering *l, ir_value *bits, ir_type type) {
    bits = qn__make2(l, IR_ADD, bits, qn__make_int(l, bits->type, F32_ONE));
    return qn__make_convert(l, IR_BITCAST, bits, type);
}

/* Of any numbers: of normal ones whose quotient is normal or overflows, that of their fractions, which is scaled in two steps since
   a power of two may be too large for one; else the target's. */
static ir_value *slow_quotient(qn__lowering *l, ir_value *a, ir_value *b) {
    ir_value *of_a = exponent_bits(l, a), *of_b = exponent_bits(l, b);
    const ir_type words = of_a->type;
    ir_value *a_normal = is_normal(l, of_a), *b_normal = is_normal(l, of_b);
    ir_value *one_a = with_exponent_of_one(l, a, of_a), *one_b = with_exponent_of_one(l, b, of_b);
    ir_value *q = sure_quotient(l, one_a, one_b);
    ir_value *difference = qn__make2(l, IR_SUB, of_a, of_b);
    ir_value *of_q = exponent_bits(l, q), *least = qn__make2(l, IR_SUB, qn__make_int(l, words, 0), of_q);
    ir_value *is_large = qn__make2(l, IR_SLT, least, difference);
    ir_value *half = qn__make2(l, IR_ASHR, difference, qn__make_int(l, words, 1));
    half = qn__make2(l, IR_AND, half, qn__make_int(l, words, (uint64_t)-1 << F32_FRACTION));
    ir_value *rest = qn__make2(l, IR_SUB, difference, half);
    q = times(l, q, power_of_two(l, half, a->type));
    q = times(l, q, power_of_two(l, rest, a->type));
    ir_value *good = both(l, both(l, a_normal, b_normal), is_large), *other = divide_any(l, a, b);
    return qn__make_select(l, good, q, other);
}

static ir_value *in_all_lanes(qn__lowering *l, ir_value *condition) {
    ir_value *all = qn__make_extract(l, condition, 0);
    for (unsigned i = 1; i < condition->type.lanes; i++)
        all = both(l, all, qn__make_extract(l, condition, i));
    return all;
}

/* Of ordinary numbers one inverse makes a quotient and its correction; others, which are rare, leave that way. */
static ir_value *quotient_f32(qn__lowering *l, ir_value *a, ir_value *b) {
    ir_value *ordinary = is_ordinary(l, b);
    ordinary = both(l, ordinary, is_ordinary(l, a));
    if (qn__ir_is_const(ordinary) && qn__ir_is_splat(ordinary, 0)) return slow_quotient(l, a, b);
    ir_instr *choice = qn__ir_if(&l->b, in_all_lanes(l, ordinary), &a->type, 1);
    choice->flags = IR_BRANCH;
    const ir_builder outside = l->b;
    qn__ir_at_end(&l->b, choice->regions[0]);
    ir_value *good = quick_quotient(l, a, b);
    qn__ir_yield(&l->b, &good, 1);
    qn__ir_at_end(&l->b, choice->regions[1]);
    ir_value *other = slow_quotient(l, a, b);
    qn__ir_yield(&l->b, &other, 1);
    l->b = outside;
    return choice->results[0];
}

/* ---- all of them ---- */

static ir_value *lower_f16(qn__lowering *l, const ir_instr *i) {
    const ir_type type = i->results[0]->type, wide = qn__ir_type(IR_F32, type.lanes);
    const bool exact = l->context->options->target.lacks_division && !(i->flags & IR_FAST);
    ir_value *a = qn__make_convert(l, IR_FCONVERT, i->operands[0], wide), *result;
    if (i->op == IR_FSQRT) {
        result = qn__make1(l, IR_FSQRT, a);
    } else {
        ir_value *b = qn__make_convert(l, IR_FCONVERT, i->operands[1], wide);
        result = exact ? quotient_f32(l, a, b) : divide(l, a, b);
    }
    return qn__make_convert(l, IR_FCONVERT, result, type);
}

static ir_value *lower(qn__lowering *l, ir_instr *i) {
    const qn__target *target = &l->context->options->target;
    ir_value *a = i->operands[0];
    if (a->type.kind == IR_F16 && target->lacks_f16_division) return lower_f16(l, i);
    if (a->type.kind != IR_F32 || !target->lacks_division || i->flags & IR_FAST) return NULL;
    if (i->op == IR_FSQRT) return root_f32(l, a);
    const bool is_inverse = qn__ir_is_const(a) && qn__ir_is_splat(a, F32_ONE);
    return is_inverse ? inverse_f32(l, a, i->operands[1]) : quotient_f32(l, a, i->operands[1]);
}

bool qn__pass_lower_division(qn__pass_context *context) {
    static const ir_op ops[] = {IR_FDIV, IR_FSQRT};
    return qn__lower_ops(context, ops, QN__COUNT(ops), lower);
}
