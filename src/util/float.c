/* A finite number is sign, significand and exponent (value = significand * 2^exponent); every conversion takes one
   apart and rounds it once into its destination (IEEE 754-2019, 4.3 and 5.8). */
#include "util/float.h"

#include <string.h>

const qn__float_format qn__float_16 = {.precision = 11, .bias = 15, .bits = 16},
                       qn__float_32 = {.precision = 24, .bias = 127, .bits = 32},
                       qn__float_64 = {.precision = 53, .bias = 1023, .bits = 64};
const qn__float_format qn__float_bf16 = {.precision = 8, .bias = 127, .bits = 16, .nan = 0x7fff},
                       qn__float_e4m3 = {.precision = 4, .bias = 7, .bits = 8, .nan = 0x7f, .finite = true},
                       qn__float_e5m2 = {.precision = 3, .bias = 15, .bits = 8, .nan = 0x7f};

typedef struct number {
    enum { ZERO_OR_FINITE, INFINITE, NOT_A_NUMBER } class;
    bool negative;
    uint64_t significand;
    int exponent;
} number;

static uint64_t mask(unsigned bits) { return bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1; }

static int64_t sign_extended(uint64_t bits, unsigned w) {
    uint64_t sign = (uint64_t)1 << (w - 1);
    return (int64_t)(((bits & mask(w)) ^ sign) - sign);
}

static number from_float(const qn__float_format *format, uint64_t bits) {
    const qn__float_format f = *format;
    number n = {ZERO_OR_FINITE, bits >> (f.bits - 1) & 1, bits & mask((unsigned)f.precision - 1), 0};
    int field = (int)(bits >> (f.precision - 1) & mask(f.bits - (unsigned)f.precision));
    const bool is_last = field == 2 * f.bias + 1;
    if (f.finite ? is_last && n.significand == mask((unsigned)f.precision - 1) : is_last) {
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
static uint64_t shift_rounded(uint64_t value, int shift, bool negative, qn__rounding rounding) {
    uint64_t whole = shift >= 64 ? 0 : value >> shift;
    uint64_t rest = shift >= 64 ? value : value & mask((unsigned)shift);
    if (rest == 0) return whole;
    bool up = false;
    if (rounding == QN__ROUND_UP) up = !negative;
    if (rounding == QN__ROUND_DOWN) up = negative;
    if (rounding == QN__ROUND_EVEN && shift <= 64) {
        uint64_t half = (uint64_t)1 << (shift - 1);
        up = rest > half || (rest == half && (whole & 1));
    }
    return whole + up;
}

static int highest_bit(uint64_t value) {
    int bit = 0;
    for (int step = 32; step > 0; step /= 2)
        if (value >> (bit + step)) bit += step;
    return bit;
}

/* What follows the largest number: infinity, or NaN in a finite format. */
static uint64_t beyond(const qn__float_format *f) {
    return f->finite ? mask(f->bits - 1) : (uint64_t)(2 * f->bias + 1) << (f->precision - 1);
}

static uint64_t to_float(number n, const qn__float_format *format, qn__rounding rounding) {
    const qn__float_format f = *format;
    uint64_t hidden = (uint64_t)1 << (f.precision - 1);
    uint64_t infinity = beyond(format);
    uint64_t sign = (uint64_t)n.negative << (f.bits - 1);
    if (n.class == NOT_A_NUMBER) return f.nan ? f.nan : sign | infinity | hidden >> 1;
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
    if (top > f.bias + f.finite || bits >= infinity) {
        bool away = rounding == QN__ROUND_EVEN || (rounding == QN__ROUND_UP && !n.negative) ||
                    (rounding == QN__ROUND_DOWN && n.negative);
        bits = away ? infinity : infinity - 1;
    }
    return sign | bits;
}

static uint64_t to_integer(number n, unsigned w, bool is_signed, qn__rounding rounding) {
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

uint64_t qn__float_convert(const qn__float_format *from, const qn__float_format *to, qn__rounding rounding,
                           uint64_t bits) {
    return to_float(from_float(from, bits), to, rounding);
}

uint64_t qn__float_convert_saturated(const qn__float_format *from, const qn__float_format *to,
                                     qn__rounding rounding, uint64_t bits) {
    const number n = from_float(from, bits);
    const uint64_t made = to_float(n, to, rounding), size = made & mask(to->bits - 1);
    return n.class != NOT_A_NUMBER && size == beyond(to) ? made - 1 : made;
}

uint64_t qn__float_to_integer(const qn__float_format *from, unsigned width, bool is_signed,
                              qn__rounding rounding, uint64_t bits) {
    return to_integer(from_float(from, bits), width, is_signed, rounding);
}

uint64_t qn__float_from_integer(unsigned width, bool is_signed, const qn__float_format *to,
                                qn__rounding rounding, uint64_t bits) {
    return to_float(from_integer(bits, width, is_signed), to, rounding);
}

uint64_t qn__float_from_double(const qn__float_format *to, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return qn__float_convert(&qn__float_64, to, QN__ROUND_EVEN, bits);
}

double qn__float_to_double(const qn__float_format *from, uint64_t bits) {
    const uint64_t wide = qn__float_convert(from, &qn__float_64, QN__ROUND_EVEN, bits);
    double value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

double qn__float_largest(const qn__float_format *format) {
    return qn__float_to_double(format, beyond(format) - 1);
}

uint16_t qn__f16_from_double(double value) { return (uint16_t)qn__float_from_double(&qn__float_16, value); }

double qn__f16_to_double(uint16_t bits) { return qn__float_to_double(&qn__float_16, bits); }
