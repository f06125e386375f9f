/* What the numbers of bf16, e4m3 and e5m2 are and how others are rounded to them, from the definition: all numbers of a
   format in order, and the two that are next to the one that is rounded, in long double, which holds every double and every
   64-bit integer. */
#ifndef SMALL_FLOAT_REFERENCE_H
#define SMALL_FLOAT_REFERENCE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef enum small_rounding { TO_EVEN, TO_ZERO, UP, DOWN } small_rounding;

typedef struct small_format {
    const char *name;
    unsigned bits, fraction;
    int bias;
    uint16_t largest, beyond, nan; /* the last number; what is too large; what NaN becomes */
} small_format;

static const small_format small_formats[] = {{"bf16", 16, 7, 127, 0x7f7f, 0x7f80, 0x7fff},
                                             {"e4m3", 8, 3, 7, 0x7e, 0x7f, 0x7f},
                                             {"e5m2", 8, 2, 15, 0x7b, 0x7c, 0x7f}};
enum { SMALL_BF16, SMALL_E4M3, SMALL_E5M2, NUM_SMALL_FORMATS };

/* Of a positive number, or of the step behind the last one. */
static inline long double small_size(const small_format *f, unsigned code) {
    const unsigned exponent = code >> f->fraction, fraction = code & ((1u << f->fraction) - 1);
    if (!exponent) return ldexpl(fraction, 1 - f->bias - (int)f->fraction);
    return ldexpl((1u << f->fraction) + fraction, (int)exponent - f->bias - (int)f->fraction);
}

static inline long double small_value(const small_format *f, unsigned code) {
    const unsigned sign = code >> (f->bits - 1), size = code & ((1u << (f->bits - 1)) - 1);
    const long double value = size <= f->largest                    ? small_size(f, size)
                              : size == f->beyond && size != f->nan ? (long double)INFINITY
                                                                    : (long double)NAN;
    return sign ? -value : value;
}

/* All sizes of one of small_formats, and the step behind the last. */
static inline const long double *small_sizes(const small_format *f) {
    static long double sizes[NUM_SMALL_FORMATS][0x7f81];
    long double *own = sizes[f - small_formats];
    for (unsigned code = 0; own[1] == 0 && code <= f->largest + 1u; code++)
        own[f->largest + 1u - code] = small_size(f, f->largest + 1u - code); /* 1 comes near the end */
    return own;
}

/* The last number that is not above, from a guess that is often right. */
static inline unsigned small_below(const small_format *f, const long double *sizes, long double size,
                                   unsigned guess) {
    if (guess <= f->largest && sizes[guess] <= size && (guess == f->largest || size < sizes[guess + 1]))
        return guess;
    unsigned low = 0, high = f->largest;
    while (low < high) {
        const unsigned middle = (low + high + 1) / 2;
        if (sizes[middle] <= size)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* `guess` is kept from call to call. */
static inline unsigned small_of(const small_format *f, long double x, small_rounding rounding, bool saturates,
                                unsigned *guess) {
    const bool negative = signbit(x);
    const unsigned sign = negative ? 1u << (f->bits - 1) : 0;
    const long double size = fabsl(x);
    if (isnan(x)) return f->nan;
    if (isinf(x)) return sign | (saturates ? f->largest : f->beyond);
    const long double *sizes = small_sizes(f);
    const unsigned below = *guess = small_below(f, sizes, size, *guess);
    const long double low = sizes[below], high = sizes[below + 1];
    bool goes_up = false;
    switch (rounding) {
    case TO_EVEN: goes_up = size - low > high - size || (size - low == high - size && below & 1); break;
    case TO_ZERO: break;
    case UP: goes_up = !negative && size > low; break;
    case DOWN: goes_up = negative && size > low; break;
    }
    if (below == f->largest && goes_up) return sign | (saturates ? f->largest : f->beyond);
    return sign | (below + goes_up);
}

#endif
