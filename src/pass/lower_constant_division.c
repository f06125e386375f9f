/* For targets whose compilers divide integers by constants as by any number (ptxas does, in some 20 instructions): the high half of a
   product with the divisor's reciprocal.

       %q = udiv %a, 12     ->     %h = umulhi %a, 0xaaaaaaab;  %q = lshr %h, 3
       %r = urem %a, 12     ->     %m = mul %q, 12;  %r = sub %a, %m

   With w bits a quotient by d is floor(a * m / 2^(w + s)), where m = floor(2^(w + s) / d) + 1 and s is so large that the error of the
   reciprocal, e = d - 2^(w + s) mod d, is at most 2^(s + w - b), for dividends below 2^b. Where m has w + 1 bits, its uppermost one is
   added to. Signed ones: the same of magnitudes up to 2^(w - 1), and one more where the dividend is negative, as quotients are cut.
   Source: T. Granlund, P. Montgomery, "Division by Invariant Integers using Multiplication", PLDI 1994. */
#include "pass/lowering.h"
#include "pass/peephole.h"

typedef struct reciprocal {
    uint64_t factor; /* its bits in the type */
    unsigned shift;
    bool is_longer; /* there is one */
} reciprocal;

/* Of a divisor that is no power of two, for dividends of `bits` bits, the least that is exact: one comes, as from log2(divisor) on,
   rounded up, all are. */
static reciprocal reciprocal_of(uint64_t divisor, unsigned width, unsigned bits) {
    uint64_t quotient = 0, rest = 1; /* of 2^i by the divisor; the quotient modulo 2^64 */
    for (unsigned i = 0;; i++) {
        const unsigned shift = i - width, room = shift + width - bits;
        if (i >= width && (room >= 64 || divisor - rest <= UINT64_C(1) << room)) {
            const bool is_longer = shift >= 64 || divisor >> shift == 0; /* 2^shift > divisor */
            return (reciprocal){quotient + 1, shift, is_longer};
        }
        const bool is_over = rest >> 63;
        rest *= 2;
        quotient *= 2;
        if (!is_over && rest < divisor) continue;
        rest -= divisor;
        quotient++;
    }
}

/* ---- quotients ---- */

static ir_value *shift_right(qn__lowering *l, ir_op op, ir_value *a, unsigned by) {
    return by ? qn__make2(l, op, a, qn__make_int(l, a->type, by)) : a;
}

/* `bits`: how many the dividend has at most. */
static ir_value *divide_unsigned(qn__lowering *l, ir_value *a, uint64_t divisor, unsigned bits) {
    const unsigned width = qn__ir_bits(a->type);
    reciprocal r = reciprocal_of(divisor, width, bits);
    const unsigned zeros = qn__trailing_zeros(divisor);
    if (r.is_longer && zeros) { /* a dividend of fewer bits needs no more */
        a = shift_right(l, IR_LSHR, a, zeros);
        r = reciprocal_of(divisor >> zeros, width, bits - zeros);
    }
    ir_value *high = qn__make2(l, IR_UMULHI, a, qn__make_int(l, a->type, r.factor));
    if (!r.is_longer) return shift_right(l, IR_LSHR, high, r.shift);
    /* (a + high) / 2^shift, whose sum may have a bit more. */
    ir_value *half = shift_right(l, IR_LSHR, qn__make2(l, IR_SUB, a, high), 1);
    return shift_right(l, IR_LSHR, qn__make2(l, IR_ADD, half, high), r.shift - 1);
}

static ir_value *divide_signed(qn__lowering *l, ir_value *a, int64_t divisor) {
    const unsigned width = qn__ir_bits(a->type);
    const uint64_t size = divisor < 0 ? 0 - (uint64_t)divisor : (uint64_t)divisor;
    const uint64_t sign = UINT64_C(1) << (width - 1);
    const reciprocal r = reciprocal_of(size, width, width - 1);
    ir_value *high = qn__make2(l, IR_SMULHI, a, qn__make_int(l, a->type, r.factor));
    if (r.factor & sign) high = qn__make2(l, IR_ADD, high, a); /* as a factor it is 2^width less */
    ir_value *cut = shift_right(l, IR_ASHR, high, r.shift), *one = shift_right(l, IR_LSHR, a, width - 1);
    ir_value *quotient = qn__make2(l, IR_ADD, cut, one);
    return divisor < 0 ? qn__make2(l, IR_SUB, qn__make_int(l, a->type, 0), quotient) : quotient;
}

/* By a power of two, which what is negative is rounded up for. */
static ir_value *divide_by_power(qn__lowering *l, ir_value *a, unsigned log2) {
    const unsigned width = qn__ir_bits(a->type);
    ir_value *signs = shift_right(l, IR_ASHR, a, width - 1);
    ir_value *less = shift_right(l, IR_LSHR, signs, width - log2);
    return shift_right(l, IR_ASHR, qn__make2(l, IR_ADD, a, less), log2);
}

static bool is_power(uint64_t bits) { return (bits & (bits - 1)) == 0; }

static ir_value *divide(qn__lowering *l, ir_value *a, uint64_t bits, bool is_signed) {
    const unsigned width = qn__ir_bits(a->type);
    const int64_t number = (int64_t)(bits << (64 - width)) >> (64 - width);
    if (is_signed && is_power(bits) && number > 1) return divide_by_power(l, a, qn__trailing_zeros(bits));
    const uint64_t size = is_signed && number < 0 ? 0 - (uint64_t)number : bits;
    if (is_power(size)) return NULL; /* 0, 1, what others make shifts of, and the least of all numbers */
    if (!is_signed) return divide_unsigned(l, a, bits, width);
    if (number > 0 && qn__is_non_negative(a)) return divide_unsigned(l, a, bits, width - 1);
    return divide_signed(l, a, number);
}

/* ---- instructions ---- */

static ir_value *lower(qn__lowering *l, ir_instr *i) {
    const bool is_signed = i->op == IR_SDIV || i->op == IR_SREM,
               is_rest = i->op == IR_UREM || i->op == IR_SREM;
    ir_value *a = i->operands[0], *b = i->operands[1];
    uint64_t bits;
    if (!qn__splat_bits(b, &bits) || qn__ir_bits(a->type) < 32) return NULL;
    ir_value *quotient = divide(l, a, bits & qn__lane_mask(a->type), is_signed);
    if (!quotient || !is_rest) return quotient;
    return qn__make2(l, IR_SUB, a, qn__make2(l, IR_MUL, quotient, b));
}

bool qn__pass_lower_constant_division(qn__pass_context *context) {
    static const ir_op ops[] = {IR_UDIV, IR_SDIV, IR_UREM, IR_SREM};
    return qn__lower_ops(context, ops, QN__COUNT(ops), lower);
}
