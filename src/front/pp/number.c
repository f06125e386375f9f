/* Decimal and hexadecimal floating literals to binary, rounded once and whatever the locale.
   A short decimal number is one exact operation on doubles (Clinger, "How to read floating point numbers
   accurately", 1990). Any other is held as a string of decimal digits that is multiplied and divided by
   powers of two until its integer part has as many bits as the result (the "simple decimal conversion" of
   Go's strconv). */
#include <math.h>
#include <string.h>

#include "front/token.h"

typedef struct format {
    int mantissa;     /* bits, the leading one included */
    int min_exponent; /* of the smallest normal number as 0.1... * 2^e */
    int max_exponent; /* of the largest, in the same way */
} format;

static const format formats[] = {
    [FRONT_F64] = {53, -1021, 1024}, [FRONT_F32] = {24, -125, 128}, [FRONT_F16] = {11, -13, 16}};

/* More digits than any double needs to be told from its neighbour's midpoint; what lies behind is only known
   to be zero or not. */
enum { KEPT_DIGITS = 800, MAX_DIGITS = 2400, MAX_EXPONENT = 100000, MAX_SHIFT = 59 };

/* 0.d0d1d2... * 10^point */
typedef struct decimal {
    int len, point;
    bool sticky; /* digits that are not zero were dropped behind the last */
    uint8_t digits[MAX_DIGITS];
} decimal;

static void trim(decimal *d) {
    while (d->len && !d->digits[d->len - 1]) d->len--;
    if (!d->len) d->point = 0;
}

static void append_digit(decimal *d, unsigned digit) {
    if (d->len < MAX_DIGITS)
        d->digits[d->len++] = (uint8_t)digit;
    else if (digit)
        d->sticky = true;
}

/* Divides by 2^bits. */
static void shift_right(decimal *d, int bits) {
    uint64_t rest = 0, mask = ((uint64_t)1 << bits) - 1;
    int read = 0, old_len = d->len, old_point = d->point;
    while (!(rest >> bits)) {
        rest = rest * 10 + (read < old_len ? d->digits[read] : 0);
        read++;
    }
    d->point = old_point - (read - 1);
    d->len = 0;
    for (; read < old_len; read++) {
        d->digits[d->len++] = (uint8_t)(rest >> bits);
        rest = (rest & mask) * 10 + d->digits[read];
    }
    for (; rest; rest = (rest & mask) * 10) append_digit(d, (unsigned)(rest >> bits));
    trim(d);
}

/* Multiplies by 2^bits. */
static void shift_left(decimal *d, int bits) {
    uint8_t carried[24];
    int count = 0;
    uint64_t carry = 0;
    for (int i = d->len - 1; i >= 0; i--) {
        carry += (uint64_t)d->digits[i] << bits;
        d->digits[i] = (uint8_t)(carry % 10);
        carry /= 10;
    }
    for (; carry; carry /= 10) carried[count++] = (uint8_t)(carry % 10);
    int keep = d->len + count > MAX_DIGITS ? MAX_DIGITS - count : d->len;
    for (int i = keep; i < d->len; i++) d->sticky |= d->digits[i] != 0;
    memmove(d->digits + count, d->digits, (size_t)keep);
    for (int i = 0; i < count; i++) d->digits[i] = carried[count - 1 - i];
    d->len = keep + count;
    d->point += count;
    trim(d);
}

/* The integer part, which fits 64 bits, rounded to nearest even. */
static uint64_t rounded_integer(const decimal *d) {
    uint64_t value = 0;
    for (int i = 0; i < d->point; i++) value = value * 10 + (i < d->len ? d->digits[i] : 0);
    if (d->point < 0 || d->point >= d->len) return value;
    bool half = d->digits[d->point] == 5 && d->point + 1 == d->len && !d->sticky;
    if (half) return value + (value & 1);
    return value + (d->digits[d->point] >= 5);
}

/* mantissa * 2^exponent, where the mantissa has been rounded for the format. */
static double assemble(uint64_t mantissa, int exponent, const format *f, bool nonzero, bool *out_of_range) {
    if (!mantissa) {
        *out_of_range |= nonzero;
        return 0;
    }
    int top = 0;
    while (mantissa >> top) top++;
    if (top + exponent <= f->max_exponent) return ldexp((double)mantissa, exponent);
    *out_of_range = true;
    return (double)INFINITY;
}

/* Bits that a number 0.1... * 2^exponent has in the format: fewer for subnormals, at least 0. */
static int bits_at(const format *f, int exponent) {
    int bits = exponent < f->min_exponent ? f->mantissa - (f->min_exponent - exponent) : f->mantissa;
    return bits < 0 ? 0 : bits;
}

static double decimal_to_binary(decimal *d, const format *f, bool *out_of_range) {
    /* The largest shift that leaves 10^n above 1 / below 10^(n+1). */
    static const uint8_t shifts[] = {1, 3, 6, 9, 13, 16, 19, 23, 26, 29, 33, 36, 39, 43, 46, 49, 53, 56};
    int exponent = 0;
    if (!d->len) return 0;
    if (d->point > 310) return *out_of_range = true, (double)INFINITY;
    if (d->point < -330) return *out_of_range = true, 0.0;
    while (d->point > 0) {
        int shift = d->point < (int)QN__COUNT(shifts) ? shifts[d->point] : MAX_SHIFT;
        shift_right(d, shift);
        exponent += shift;
    }
    while (d->point < 0 || d->digits[0] < 5) {
        int shift = -d->point < (int)QN__COUNT(shifts) ? shifts[-d->point] : MAX_SHIFT;
        shift_left(d, shift);
        exponent -= shift;
    }
    int bits = bits_at(f, exponent);
    /* Below half of the smallest subnormal: nothing is left. With no bits left the value is compared with
       1/2. */
    if (bits == 0 && exponent < f->min_exponent - f->mantissa) return *out_of_range = true, 0.0;
    if (bits) shift_left(d, bits);
    return assemble(rounded_integer(d), exponent - bits, f, true, out_of_range);
}

/* Reads an exponent's digits; beyond MAX_EXPONENT it no longer matters. */
static int read_exponent(const char *p, const char *end) {
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    int value = 0;
    for (; p < end && *p >= '0' && *p <= '9'; p++)
        if (value < MAX_EXPONENT) value = value * 10 + (*p - '0');
    return negative ? -value : value;
}

static int clamp_exponent(long long value) {
    return value > 4 * MAX_EXPONENT    ? 4 * MAX_EXPONENT
           : value < -4 * MAX_EXPONENT ? -4 * MAX_EXPONENT
                                       : (int)value;
}

static double short_decimal(uint64_t digits, int exponent, bool *exact) {
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    *exact = digits >> 53 == 0 && exponent >= -22 && exponent <= 22;
    if (!*exact) return 0;
    return exponent < 0 ? (double)digits / powers[-exponent] : (double)digits * powers[exponent];
}

/* A double may be rounded a second time if it is well inside float's or half's range and not just at a
   midpoint of them: it is within half an ulp of the number, so only a midpoint could have been reached from
   either side. */
static bool round_again(double value, front_float_suffix kind, double *result) {
    if (value == 0 || kind == FRONT_F64) return *result = value, true;
    if (kind == FRONT_F16) return false;
    if (!(value > 1e-37 && value < 1e38)) return false;
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x1fffffff) == 0x10000000) return false;
    return *result = (double)(float)value, true;
}

static double parse_decimal(const char *text, size_t len, front_float_suffix kind, bool *out_of_range) {
    decimal d; /* its digits are many, and few are used */
    d.len = 0;
    d.sticky = false;
    const char *p = text, *end = text + len;
    uint64_t head = 0;
    long long point = 0;
    bool after_point = false;
    for (; p < end && *p != 'e' && *p != 'E'; p++) {
        if (*p == '.') {
            after_point = true;
            continue;
        }
        unsigned digit = (unsigned)(*p - '0');
        if (!after_point && (d.len || digit)) point++;
        if (after_point && !d.len && !digit) point--;
        if (!d.len && !digit) continue;
        if (d.len < 19) head = head * 10 + digit;
        if (d.len < KEPT_DIGITS)
            d.digits[d.len++] = (uint8_t)digit;
        else
            d.sticky |= digit != 0;
    }
    int given = d.len;
    if (p < end) point += read_exponent(p + 1, end);
    d.point = clamp_exponent(point);
    if (given <= 19 && given > 0) {
        bool exact;
        double value = short_decimal(head, d.point - given, &exact), result;
        if (exact && round_again(value, kind, &result)) return result;
    }
    trim(&d);
    return decimal_to_binary(&d, &formats[kind], out_of_range);
}

static unsigned hex_digit(char c) {
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a') + 10;
}

static double parse_hex(const char *text, size_t len, front_float_suffix kind, bool *out_of_range) {
    const format *f = &formats[kind];
    const char *p = text + 2, *end = text + len;
    uint64_t mantissa = 0;
    long long exponent = 0;
    bool sticky = false, after_point = false;
    for (; p < end && *p != 'p' && *p != 'P'; p++) {
        if (*p == '.') {
            after_point = true;
            continue;
        }
        unsigned digit = hex_digit(*p);
        if (mantissa >> 60 == 0) {
            mantissa = mantissa << 4 | digit;
            if (after_point) exponent -= 4;
        } else {
            sticky |= digit != 0;
            if (!after_point) exponent += 4;
        }
    }
    if (p < end) exponent += read_exponent(p + 1, end);
    if (!mantissa) return 0;
    int top = 0, scale = clamp_exponent(exponent);
    while (top < 64 && mantissa >> top) top++;
    int drop = top - bits_at(f, top + scale);
    if (top + scale < f->min_exponent - f->mantissa) return *out_of_range = true, 0.0;
    if (drop > 0) {
        uint64_t rest = drop < 64 ? mantissa & (((uint64_t)1 << drop) - 1) : mantissa;
        uint64_t half = (uint64_t)1 << (drop - 1);
        mantissa = drop < 64 ? mantissa >> drop : 0;
        mantissa += rest > half || (rest == half && (sticky || (mantissa & 1)));
        scale += drop;
    }
    return assemble(mantissa, scale, f, true, out_of_range);
}

double qn__number_parse(const char *text, size_t len, front_float_suffix kind, bool *out_of_range) {
    *out_of_range = false;
    bool hex = len > 2 && text[0] == '0' && (text[1] | 0x20) == 'x';
    return hex ? parse_hex(text, len, kind, out_of_range) : parse_decimal(text, len, kind, out_of_range);
}
