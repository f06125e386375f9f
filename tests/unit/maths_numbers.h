/* The float types that the maths library is measured in: their layout, their values as long double and as bits, and how
   far off a result is. */
#ifndef MATHS_NUMBERS_H
#define MATHS_NUMBERS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef enum number_type { HALF, FLOAT, DOUBLE, NUM_TYPES } number_type;

typedef struct type_info {
    const char *name;
    int digits, lowest; /* bits of the significand; exponent of the smallest number */
    int highest;        /* numbers are below 2^highest */
    size_t size;
} type_info;

static const type_info types[] = {
    {"half", 11, -24, 16, 2}, {"float", 24, -149, 128, 4}, {"double", 53, -1074, 1024, 8}};

static long double half_value(uint16_t bits) {
    int exponent = bits >> 10 & 31;
    long double fraction = bits & 1023;
    long double value = exponent == 31  ? (fraction != 0 ? NAN : INFINITY)
                        : exponent == 0 ? ldexpl(fraction, -24)
                                        : ldexpl(fraction + 1024, exponent - 25);
    return bits >> 15 ? -value : value;
}

static long double load(number_type type, const void *data, size_t i) {
    if (type == HALF) return half_value(((const uint16_t *)data)[i]);
    return type == FLOAT ? (long double)((const float *)data)[i] : (long double)((const double *)data)[i];
}

static void store(number_type type, void *data, size_t i, double value) {
    if (type == FLOAT) ((float *)data)[i] = (float)value;
    if (type == DOUBLE) ((double *)data)[i] = value;
    if (type != HALF) return;
    uint16_t best = isnan(value) ? 0x7e00 : 0x7c00;
    for (uint32_t low = 0, high = 0x7c00; !isnan(value) && low <= high;) { /* nearest below, by bisection */
        uint32_t middle = (low + high) / 2;
        if (half_value((uint16_t)middle) > fabsl((long double)value)) {
            if (!middle) break;
            high = middle - 1;
        } else {
            best = (uint16_t)middle;
            low = middle + 1;
        }
    }
    ((uint16_t *)data)[i] = (uint16_t)(best | (signbit(value) ? 0x8000 : 0));
}

/* How far off, in ulps of the true value; HUGE_VAL: wrong altogether. */
static double error_ulps(const type_info *type, long double got, long double want, bool any_zero_sign) {
    if (isnan(want)) return isnan(got) ? 0 : HUGE_VAL;
    if (isnan(got)) return HUGE_VAL;
    if (want == got) return got == 0 && !any_zero_sign && !signbit(got) != !signbit(want) ? HUGE_VAL : 0;
    if (isinf(want)) return HUGE_VAL;
    int exponent;
    frexpl(want, &exponent);
    if (want == 0 || exponent - type->digits < type->lowest) exponent = type->lowest + type->digits;
    if (exponent > type->highest) exponent = type->highest;
    long double limit = ldexpl(1, type->highest);
    long double reached = isinf(got) ? copysignl(limit, got) : got;
    long double meant = fabsl(want) > limit ? copysignl(limit, want) : want;
    return (double)ldexpl(fabsl(reached - meant), type->digits - exponent);
}

/* A value's bits, and back. */
static uint64_t bits_at(number_type type, const void *data, size_t i) {
    uint64_t bits = 0;
    memcpy(&bits, (const char *)data + i * types[type].size, types[type].size);
    return bits;
}

static uint64_t bits_of(number_type type, double value) {
    uint64_t slot = 0;
    store(type, &slot, 0, value);
    return bits_at(type, &slot, 0);
}

static double value_of(number_type type, uint64_t bits) { return (double)load(type, &bits, 0); }

static uint64_t sign_bit(number_type type) { return UINT64_C(1) << (types[type].size * 8 - 1); }

#endif
