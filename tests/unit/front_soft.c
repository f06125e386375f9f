/* Doubles made of integers (src/lib/soft.cl), whose text C reads too, beside the processor's own: special numbers with each
   other, and random ones, of which many are near each other or near a power of two. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef uint64_t ulong_bits;
#define ulong ulong_bits
#define uint  uint32_t
#define long int64_t
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))
#define clz(x)    ((int64_t)leading_zeros((x), 8 * sizeof(x)))
#define mul_hi    high_product

static int leading_zeros(uint64_t x, size_t bits) {
    int n = 0;
    while (n < (int)bits && !(x >> (bits - 1 - (size_t)n) & 1)) n++;
    return n;
}

static uint64_t high_product(uint64_t a, uint64_t b) {
    const uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX),
                   middle = (a >> 32) * (b & UINT32_MAX) + (low >> 32);
    const uint64_t other = (a & UINT32_MAX) * (b >> 32) + (middle & UINT32_MAX);
    return (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
}

#include "lib/soft.cl"

#undef ulong
#undef uint
#undef long
#undef min
#undef max

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double of_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t word_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float of_word(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint64_t next(uint64_t *state) { /* Steele and others: SplitMix64 */
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static const double specials[] = {0.0,
                                  0x1p-1074,
                                  0x1.8p-1073,
                                  0x0.fffffffffffffp-1022,
                                  0x1p-1022,
                                  0x1.0000000000001p-1022,
                                  0x1p-150,
                                  0x1p-149,
                                  0x1.8p-149,
                                  0x1.fffffep-127,
                                  0x1p-126,
                                  0x1p-25,
                                  0.25,
                                  0.49999999999999994,
                                  0.5,
                                  0x1.fffffffffffffp-1,
                                  1.0,
                                  0x1.0000000000001p0,
                                  1.5,
                                  2.0,
                                  2.5,
                                  3.0,
                                  0x1.000001p0,
                                  0x1.000003p0,
                                  0x1p31,
                                  0x1.fffffffcp30,
                                  0x1p32,
                                  0x1p52,
                                  0x1.8p51,
                                  0x1p53,
                                  0x1.fffffffffffffp62,
                                  0x1p63,
                                  0x1.fffffffffffffp63,
                                  0x1p64,
                                  0x1.fffffep127,
                                  0x1.fffffefp127,
                                  0x1.ffffffp127,
                                  0x1p128,
                                  0x1p511,
                                  0x1p1000,
                                  0x1.fffffffffffffp1023,
                                  INFINITY,
                                  NAN};
enum { SPECIALS = sizeof specials / sizeof *specials };

/* Any bits; close to `near`; small whole numbers; few bits of significand. */
static uint64_t random_bits(uint64_t *state, uint64_t near) {
    const uint64_t bits = next(state);
    switch (next(state) % 8) {
    case 0: return near ^ (bits & UINT64_C(0x800000000000000f));
    case 1: return near + (bits & UINT64_C(0x807fffffffffffff)) - UINT64_C(0x0040000000000000);
    case 2: return bits_of((double)(int64_t)(bits % 64) - 32);
    case 3: return bits & UINT64_C(0xfff8000000000007);
    case 4: return bits & UINT64_C(0x801fffffffffffff);
    case 5: return (bits & UINT64_C(0x807fffffffffffff)) + UINT64_C(0x3fc0000000000000);
    case 6: return bits_of(specials[bits % SPECIALS]) ^ (bits & UINT64_C(0x8000000000000000));
    default: return bits;
    }
}

static void same(const char *what, uint64_t a, uint64_t b, uint64_t c, uint64_t got, double wanted) {
    const bool right = isnan(wanted) ? f64_is_nan(got) : got == bits_of(wanted);
    if (right) return;
    fail_msg("%s of %a, %a and %a: %a, not %a", what, of_bits(a), of_bits(b), of_bits(c), of_bits(got),
             wanted);
}

static void check_two(uint64_t a, uint64_t b) {
    const double x = of_bits(a), y = of_bits(b);
    same("sum", a, b, 0, f64_add(a, b), x + y);
    same("difference", a, b, 0, f64_sub(a, b), x - y);
    same("product", a, b, 0, f64_mul(a, b), x * y);
    same("quotient", a, b, 0, f64_div(a, b), x / y);
    assert_int_equal(f64_eq(a, b), x == y);
    assert_int_equal(f64_ne(a, b), x != y);
    assert_int_equal(f64_lt(a, b), x < y);
    assert_int_equal(f64_le(a, b), x <= y);
    if (x == 0 && y == 0) return; /* either zero */
    same("minimum", a, b, 0, f64_min(a, b), isnan(x) || y < x ? y : x);
    same("maximum", a, b, 0, f64_max(a, b), isnan(x) || y > x ? y : x);
}

static void same_float(const char *what, double x, uint32_t got, float wanted) {
    if (got == word_of(wanted)) return;
    fail_msg("%s float of %a: %a, not %a", what, x, (double)of_word(got), (double)wanted);
}

/* Next to the nearest one are those in each direction, and the one whose last bit tells of what is cut off. */
static void check_float(uint64_t a) {
    const double x = of_bits(a);
    const float nearest = (float)x;
    float down = nearest, up = nearest;
    if (isnan(x)) {
        for (int rounding = 0; rounding < 5; rounding++)
            assert_true(isnan(of_word(f64_to_float(a, rounding))));
        return;
    }
    if ((double)nearest > x) down = nextafterf(nearest, -INFINITY);
    if ((double)nearest < x) up = nextafterf(nearest, INFINITY);
    up = copysignf(up, (float)x);
    down = copysignf(down, (float)x);
    const float zero = x < 0 ? up : down;
    same_float("nearest", x, f64_to_float(a, 0), nearest);
    same_float("next lesser", x, f64_to_float(a, 1), zero);
    same_float("next higher", x, f64_to_float(a, 2), up);
    same_float("next lower", x, f64_to_float(a, 3), down);
    same_float("odd", x, f64_to_float(a, 4), (double)zero == x ? zero : of_word(word_of(zero) | 1));
}

static void check_one(uint64_t a) {
    const double x = of_bits(a);
    same("root", a, 0, 0, f64_sqrt(a), sqrt(x));
    same("rint", a, 0, 0, f64_whole(a, 0), rint(x));
    same("trunc", a, 0, 0, f64_whole(a, 1), trunc(x));
    same("ceil", a, 0, 0, f64_whole(a, 2), ceil(x));
    same("floor", a, 0, 0, f64_whole(a, 3), floor(x));
    check_float(a);
    const double from = (double)of_word((uint32_t)a);
    same("double of a float", a, 0, 0, f64_from_float((uint32_t)a), from);
    same("double of an integer", a, 0, 0, f64_from_long(a), (double)(int64_t)a);
    same("double of an unsigned integer", a, 0, 0, f64_from_ulong(a), (double)a);
    const int64_t whole = isnan(x) ? 0 : x >= 0x1p63 ? INT64_MAX : x <= -0x1p63 ? INT64_MIN : (int64_t)x;
    const uint64_t size = !(x >= 1) ? 0 : x >= 0x1p64 ? UINT64_MAX : (uint64_t)x;
    assert_true((int64_t)f64_to_long(a) == whole);
    assert_true(f64_to_ulong(a) == size);
}

static void check_three(uint64_t a, uint64_t b, uint64_t c) {
    same("fma", a, b, c, f64_fma(a, b, c), fma(of_bits(a), of_bits(b), of_bits(c)));
}

static uint64_t special(unsigned n) { return bits_of(n < SPECIALS ? specials[n] : -specials[n - SPECIALS]); }

static void test_special_numbers(void **state) {
    (void)state;
    for (unsigned i = 0; i < 2 * SPECIALS; i++) {
        check_one(special(i));
        for (unsigned k = 0; k < 2 * SPECIALS; k++) {
            check_two(special(i), special(k));
            for (unsigned n = 0; n < 2 * SPECIALS; n++) check_three(special(i), special(k), special(n));
        }
    }
}

/* The third summand is often near the product, which then is cancelled. */
static void test_random_numbers(void **state) {
    (void)state;
    enum { CASES = 200000 };
    uint64_t seed = 1;
    for (int i = 0; i < CASES; i++) {
        const uint64_t a = random_bits(&seed, bits_of(1)), b = random_bits(&seed, a);
        const uint64_t product = bits_of(-of_bits(a) * of_bits(b)), c = random_bits(&seed, product);
        check_one(a);
        check_one(next(&seed) >> (next(&seed) % 64));
        check_two(a, b);
        check_three(a, b, c);
        check_three(a, b, product);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_special_numbers),
                                       cmocka_unit_test(test_random_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
