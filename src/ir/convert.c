/* Conversions between number types with any rounding mode, in integer arithmetic only: the host's rounding
   mode is neither read nor changed. A finite number is sign, significand and exponent (value = significand *
   2^exponent); every conversion takes one apart and rounds it once into its destination (IEEE 754-2019, 4.3
   and 5.8). */
#include "ir/fold.h"

typedef struct number {
    enum { ZERO_OR_FINITE, INFINITE, NOT_A_NUMBER } class;
    bool negative;
    uint64_t significand;
    int exponent;
} number;

/* precision counts the hidden bit; bias is also the largest exponent. */
typedef struct format {
    int precision, bias;
    unsigned bits;
} format;

static format format_of(ir_kind kind) {
    switch (kind) {
    case IR_F16: return (format){11, 15, 16};
    case IR_F32: return (format){24, 127, 32};
    default: return (format){53, 1023, 64};
    }
}

static unsigned width(ir_kind kind) { return qn__ir_bits(qn__ir_type(kind, 1)); }

static uint64_t mask(unsigned bits) { return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1; }

static int64_t sign_extended(uint64_t bits, unsigned w) {
    uint64_t sign = (uint64_t)1 << (w - 1);
    return (int64_t)(((bits & mask(w)) ^ sign) - sign);
}

static number from_float(ir_kind kind, uint64_t bits) {
    format f = format_of(kind);
    number n = {ZERO_OR_FINITE, bits >> (f.bits - 1) & 1, bits & mask((unsigned)f.precision - 1), 0};
    int field = (int)(bits >> (f.precision - 1) & mask(f.bits - (unsigned)f.precision));
    if (field == 2 * f.bias + 1) {
        n.class = n.significand ? NOT_A_NUMBER : INFINITE;
    } else {
        if (field) n.significand |= (uint64_t)1 << (f.precision - 1);
        n.exponent = (field ? field : 1) - f.bias - (f.precision - 1);
    }
    return n;
}

static number from_integer(uint64_t bits, unsigned w, bool is_signed) {
    bits &= mask(w);
    if (is_signed && sign_extended(bits, w) < 0)
        return (number){ZERO_OR_FINITE, true, 0 - (uint64_t)sign_extended(bits, w), 0};
    return (number){ZERO_OR_FINITE, false, bits, 0};
}

/* value / 2^shift as an integer, rounded; shift > 0. */
static uint64_t shift_rounded(uint64_t value, int shift, bool negative, ir_rounding rounding) {
    uint64_t whole = shift >= 64 ? 0 : value >> shift;
    uint64_t rest = shift >= 64 ? value : value & mask((unsigned)shift);
    if (rest == 0) return whole;
    bool up = false;
    if (rounding == IR_ROUND_UP) up = !negative;
    if (rounding == IR_ROUND_DOWN) up = negative;
    if (rounding == IR_ROUND_EVEN && shift <= 64) {
        uint64_t half = (uint64_t)1 << (shift - 1);
        up = rest > half || (rest == half && (whole & 1));
    }
    return whole + up;
}

static int highest_bit(uint64_t value) { return 63 - (int)qn__fold_clz(value, 64); }

static uint64_t to_float(number n, ir_kind kind, ir_rounding rounding) {
    format f = format_of(kind);
    uint64_t hidden = (uint64_t)1 << (f.precision - 1);
    uint64_t infinity = (uint64_t)(2 * f.bias + 1) << (f.precision - 1);
    uint64_t sign = (uint64_t)n.negative << (f.bits - 1);
    if (n.class == NOT_A_NUMBER) return sign | infinity | hidden >> 1;
    if (n.class == INFINITE) return sign | infinity;
    if (n.significand == 0) return sign;

    int top = highest_bit(n.significand) + n.exponent;
    int lowest = 1 - f.bias; /* exponent of the smallest normal number */
    int unit = (top > lowest ? top : lowest) - (f.precision - 1);
    int shift = unit - n.exponent;
    uint64_t m =
        shift > 0 ? shift_rounded(n.significand, shift, n.negative, rounding) : n.significand << -shift;
    /* A carry out of m increases the exponent field by itself, from subnormal to normal as well. */
    uint64_t field = (uint64_t)(unit + f.precision - 1 - lowest);
    uint64_t bits = (field << (f.precision - 1)) + m;
    if (top > f.bias || bits >= infinity) {
        bool away = rounding == IR_ROUND_EVEN || (rounding == IR_ROUND_UP && !n.negative) ||
                    (rounding == IR_ROUND_DOWN && n.negative);
        bits = away ? infinity : infinity - 1;
    }
    return sign | bits;
}

static uint64_t to_integer(number n, unsigned w, bool is_signed, ir_rounding rounding) {
    if (n.class == NOT_A_NUMBER) return 0;
    uint64_t limit = is_signed ? mask(w - 1) + n.negative : n.negative ? 0 : mask(w);
    uint64_t magnitude = limit;
    if (n.class == ZERO_OR_FINITE) {
        if (n.significand == 0) return 0;
        if (n.exponent < 0)
            magnitude = shift_rounded(n.significand, -n.exponent, n.negative, rounding);
        else if (highest_bit(n.significand) + n.exponent < 64)
            magnitude = n.significand << n.exponent;
        if (magnitude > limit) magnitude = limit;
    }
    return (n.negative ? 0 - magnitude : magnitude) & mask(w);
}

uint64_t qn__fold_convert(ir_op op, ir_kind from, ir_kind to, ir_rounding rounding, uint64_t bits) {
    switch (op) {
    case IR_TRUNC:
    case IR_ZEXT: return bits & mask(width(from)) & mask(width(to));
    case IR_SEXT: return (uint64_t)sign_extended(bits, width(from)) & mask(width(to));
    case IR_FCONVERT: return to_float(from_float(from, bits), to, rounding);
    case IR_F2S: return to_integer(from_float(from, bits), width(to), true, rounding);
    case IR_F2U: return to_integer(from_float(from, bits), width(to), false, rounding);
    case IR_S2F: return to_float(from_integer(bits, width(from), true), to, rounding);
    case IR_U2F: return to_float(from_integer(bits, width(from), false), to, rounding);
    default: return bits;
    }
}
