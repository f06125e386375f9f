/* Conversions between f32 and the small floats where the target has no instruction for them, on the bits. Rounding adds
   what carries into the bits that stay, if those that go say so; below the smallest normal number the significand moves
   further, and the rest is the same.

       %b = f32_to_bf16 %x   ->   %u = bitcast %x;  %r = %u + 0x7fff + (%u >> 16 & 1) >> 16
                                  %b = trunc select (isnan %x), 0x7fff, %r
       %x = bf16_to_f32 %b   ->   %x = bitcast (zext %b << 16) */
#include <math.h>

#include "pass/small_float.h"

enum {
    SIZE = 0x7fffffff, /* all but the sign */
    FRACTION = 0x7fffff,
    HIDDEN = 0x800000, /* of a significand */
    INFINITE = 0x7f800000,
    QUIET_NAN = 0x7fc00000
};

static const qn__small_float e4m3 = {8, 3, 7, 0x7e, 0x7f, 0x7f, 464, false},
                             e5m2 = {8, 2, 15, 0x7b, 0x7c, 0x7f, 61440, true};

static ir_value *with(qn__lowering *l, ir_op op, ir_value *a, uint64_t number) {
    return qn__make2(l, op, a, qn__make_int(l, a->type, number));
}

static ir_value *number(qn__lowering *l, ir_value *like, uint64_t value) {
    return qn__make_int(l, like->type, value);
}

static ir_value *words_of(qn__lowering *l, ir_value *x) {
    return qn__make_convert(l, IR_BITCAST, x, qn__words_like(x->type));
}

static ir_value *floats_of(qn__lowering *l, ir_value *words) {
    return qn__make_convert(l, IR_BITCAST, words, qn__ir_type(IR_F32, words->type.lanes));
}

static ir_value *choose(qn__lowering *l, ir_value *when, uint64_t value, ir_value *otherwise) {
    return qn__make_select(l, when, number(l, otherwise, value), otherwise);
}

static ir_value *is_nan(qn__lowering *l, ir_value *size) {
    return qn__make2(l, IR_ULT, number(l, size, INFINITE), size);
}

/* ---- to bf16 and back ---- */

/* All ones where the number is rounded away from zero, by its sign. */
static ir_value *away(qn__lowering *l, ir_value *bits, ir_rounding rounding) {
    ir_value *negative = with(l, IR_ASHR, bits, 31);
    return rounding == IR_ROUND_DOWN ? negative : qn__make1(l, IR_NOT, negative);
}

static ir_value *to_bf16(qn__lowering *l, const ir_instr *i, ir_rounding rounding) {
    enum { GONE = 16, NAN_BITS = 0x7fff };
    ir_value *bits = words_of(l, i->operands[0]), *size = with(l, IR_AND, bits, SIZE), *sum = bits;
    if (rounding == IR_ROUND_EVEN) {
        ir_value *odd = with(l, IR_AND, with(l, IR_LSHR, bits, GONE), 1);
        sum = qn__make2(l, IR_ADD, with(l, IR_ADD, bits, 0x7fff), odd);
    } else if (rounding != IR_ROUND_ZERO) {
        sum = qn__make2(l, IR_ADD, bits, with(l, IR_AND, away(l, bits, rounding), 0xffff));
    }
    ir_value *made = with(l, IR_LSHR, sum, GONE);
    made = choose(l, is_nan(l, size), NAN_BITS, made);
    return qn__make_convert(l, IR_TRUNC, made, i->results[0]->type);
}

static ir_value *from_bf16(qn__lowering *l, const ir_instr *i) {
    ir_value *bits = i->operands[0];
    return floats_of(l, with(l, IR_SHL, qn__make_convert(l, IR_ZEXT, bits, qn__words_like(bits->type)), 16));
}

/* ---- to fewer bits ---- */

/* A significand and by how much it is to be moved: to the place of the format's numbers, of which the smallest ones are not
   normal. Of a zero that is rounded up nothing may be left. */
static void align(qn__lowering *l, ir_value *size, const qn__small_float *f, ir_rounding rounding,
                  ir_value **bits, ir_value **shift) {
    const unsigned gone = 23 - f->fraction, lowest = 128 - f->bias;
    ir_value *exponent = with(l, IR_LSHR, size, 23);
    ir_value *hidden = number(l, size, HIDDEN);
    if (rounding != IR_ROUND_EVEN && rounding != IR_ROUND_ZERO)
        hidden = with(l, IR_SHL, with(l, IR_UMIN, exponent, 1), 23);
    ir_value *significand = qn__make2(l, IR_OR, with(l, IR_AND, size, FRACTION), hidden);
    ir_value *far = qn__make2(l, IR_SUB, number(l, size, gone + lowest), exponent);
    ir_value *is_small = qn__make2(l, IR_ULT, size, number(l, size, (uint64_t)lowest << 23));
    ir_value *normal = with(l, IR_SUB, size, (uint64_t)(lowest - 1) << 23);
    *bits = qn__make_select(l, is_small, significand, normal);
    far = with(l, IR_UMIN, far, 31);
    *shift = qn__make_select(l, is_small, far, number(l, size, gone));
}

static ir_value *rounded(qn__lowering *l, ir_value *bits, ir_value *shift, ir_value *up,
                         ir_rounding rounding) {
    ir_value *one = number(l, bits, 1);
    if (rounding == IR_ROUND_EVEN) {
        ir_value *half = qn__make2(l, IR_SHL, one, with(l, IR_SUB, shift, 1));
        ir_value *odd = with(l, IR_AND, qn__make2(l, IR_LSHR, bits, shift), 1);
        bits = qn__make2(l, IR_ADD, bits, qn__make2(l, IR_ADD, with(l, IR_SUB, half, 1), odd));
    } else if (up) {
        ir_value *rest = with(l, IR_SUB, qn__make2(l, IR_SHL, one, shift), 1);
        bits = qn__make2(l, IR_ADD, bits, qn__make2(l, IR_AND, rest, up));
    }
    return qn__make2(l, IR_LSHR, bits, shift);
}

/* What is too large: the largest number, or what is beyond it where it is rounded away from zero, and of infinity. */
static ir_value *limited(qn__lowering *l, ir_value *code, ir_value *size, ir_value *up,
                         const qn__small_float *f, ir_rounding rounding, bool saturates) {
    if (saturates) return with(l, IR_UMIN, code, f->largest);
    if (rounding == IR_ROUND_EVEN) return with(l, IR_UMIN, code, f->beyond);
    ir_value *limit = number(l, code, f->largest);
    if (up) limit = qn__make2(l, IR_ADD, limit, with(l, IR_AND, up, 1));
    code = qn__make2(l, IR_UMIN, code, limit);
    return choose(l, qn__make2(l, IR_EQ, size, number(l, size, INFINITE)), f->beyond, code);
}

ir_value *qn__to_small_float(qn__lowering *l, ir_value *value, const qn__small_float *f, ir_rounding rounding,
                             bool saturates) {
    const bool is_directed = rounding == IR_ROUND_UP || rounding == IR_ROUND_DOWN;
    ir_value *word = words_of(l, value), *size = with(l, IR_AND, word, SIZE), *bits, *shift;
    ir_value *up = is_directed ? away(l, word, rounding) : NULL;
    align(l, size, f, rounding, &bits, &shift);
    ir_value *code = rounded(l, bits, shift, up, rounding);
    code = limited(l, code, size, up, f, rounding, saturates);
    ir_value *sign = with(l, IR_AND, with(l, IR_LSHR, word, 32 - f->bits), 1u << (f->bits - 1));
    code = qn__make2(l, IR_OR, code, sign);
    return choose(l, is_nan(l, size), f->nan, code);
}

static ir_value *to_f8(qn__lowering *l, const ir_instr *i, const qn__small_float *f, bool saturates) {
    ir_value *code = qn__to_small_float(l, i->operands[0], f, (ir_rounding)i->attr.rounding, saturates);
    return qn__make_convert(l, IR_TRUNC, code, i->results[0]->type);
}

/* Where the target's own saturates: what is too large has become the largest number, which is one below what it is to be. */
static ir_value *beyond_saturated(qn__lowering *l, const ir_instr *i, const qn__small_float *f,
                                  ir_op saturating) {
    ir_value *x = i->operands[0], *size = qn__make1(l, IR_FABS, x);
    ir_value *code = qn__make_convert(l, saturating, x, i->results[0]->type);
    ir_value *overflow = qn__make_float(l, x->type, f->overflow);
    ir_value *is_over =
        f->overflows_at ? qn__make2(l, IR_FLE, overflow, size) : qn__make2(l, IR_FLT, overflow, size);
    return qn__make2(l, IR_ADD, code, qn__make_convert(l, IR_ZEXT, is_over, code->type));
}

/* ---- from fewer bits ---- */

ir_value *qn__from_small_float(qn__lowering *l, ir_value *word, const qn__small_float *f) {
    const uint64_t sizes = (UINT64_C(1) << (f->bits - 1)) - 1;
    ir_value *size = with(l, IR_AND, word, sizes);
    ir_value *normal =
        with(l, IR_ADD, with(l, IR_SHL, size, 23 - f->fraction), (uint64_t)(127 - f->bias) << 23);
    ir_value *whole = qn__make_convert(l, IR_U2F, size, qn__ir_type(IR_F32, word->type.lanes));
    const double unit = ldexp(1, 1 - (int)(f->bias + f->fraction));
    ir_value *tiny = words_of(l, qn__make2(l, IR_FMUL, whole, qn__make_float(l, whole->type, unit)));
    ir_value *is_tiny = qn__make2(l, IR_ULT, size, number(l, size, 1u << f->fraction));
    ir_value *made = qn__make_select(l, is_tiny, tiny, normal);
    if (f->beyond != f->nan)
        made = choose(l, qn__make2(l, IR_EQ, size, number(l, size, f->beyond)), INFINITE, made);
    const unsigned last = f->beyond == f->nan ? f->largest : f->beyond;
    made = choose(l, qn__make2(l, IR_ULT, number(l, size, last), size), QUIET_NAN, made);
    ir_value *sign = with(l, IR_SHL, with(l, IR_AND, word, sizes + 1), 32 - f->bits);
    return floats_of(l, qn__make2(l, IR_OR, made, sign));
}

static ir_value *from_f8(qn__lowering *l, const ir_instr *i, const qn__small_float *f) {
    ir_value *byte = i->operands[0];
    return qn__from_small_float(l, qn__make_convert(l, IR_ZEXT, byte, qn__words_like(byte->type)), f);
}

/* ---- the pass ---- */

static ir_value *lower(qn__lowering *l, ir_instr *i) {
    const qn__target *target = &l->context->options->target;
    const ir_rounding rounding = (ir_rounding)i->attr.rounding;
    const bool has_f8 = target->has_f8_convert && rounding == IR_ROUND_EVEN;
    const bool has_bf16 =
        target->has_bf16_convert && (rounding == IR_ROUND_EVEN || rounding == IR_ROUND_ZERO);
    switch (i->op) {
    case IR_BF16_TO_F32: return target->has_bf16_convert ? NULL : from_bf16(l, i);
    case IR_F32_TO_BF16: return has_bf16 ? NULL : to_bf16(l, i, rounding);
    case IR_E4M3_TO_F32: return target->has_f8_convert ? NULL : from_f8(l, i, &e4m3);
    case IR_E5M2_TO_F32: return target->has_f8_convert ? NULL : from_f8(l, i, &e5m2);
    case IR_F32_TO_E4M3_SAT: return has_f8 ? NULL : to_f8(l, i, &e4m3, true);
    case IR_F32_TO_E5M2_SAT: return has_f8 ? NULL : to_f8(l, i, &e5m2, true);
    case IR_F32_TO_E4M3:
        return has_f8 ? beyond_saturated(l, i, &e4m3, IR_F32_TO_E4M3_SAT) : to_f8(l, i, &e4m3, false);
    default: return has_f8 ? beyond_saturated(l, i, &e5m2, IR_F32_TO_E5M2_SAT) : to_f8(l, i, &e5m2, false);
    }
}

bool qn__pass_lower_small_floats(qn__pass_context *context) {
    static const ir_op ops[] = {IR_BF16_TO_F32,     IR_F32_TO_BF16, IR_E4M3_TO_F32, IR_F32_TO_E4M3,
                                IR_F32_TO_E4M3_SAT, IR_E5M2_TO_F32, IR_F32_TO_E5M2, IR_F32_TO_E5M2_SAT};
    return qn__lower_ops(context, ops, QN__COUNT(ops), lower);
}
