/* Hashes of texts: what finds damage in files and names what is cached depends on every bit, on the length and on the
   order, in short texts as in long ones, which go another way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "util/hash.h"

enum { MOST = 1200 };
static unsigned char text[MOST];

static void fill(void) {
    for (unsigned i = 0; i < MOST; i++) text[i] = (unsigned char)(i * 37 + i / 251);
}

static void every_bit_counts(void **state) {
    static const size_t sizes[] = {1, 7, 8, 9, 63, 64, 1023, 1024, 1031, 1088, MOST};
    (void)state;
    fill();
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const uint64_t hash = qn__hash(text, sizes[s], 0);
        for (size_t bit = 0; bit < sizes[s] * 8; bit++) {
            text[bit / 8] ^= (unsigned char)(1 << bit % 8);
            assert_true(qn__hash(text, sizes[s], 0) != hash);
            text[bit / 8] ^= (unsigned char)(1 << bit % 8);
        }
        assert_true(qn__hash(text, sizes[s], 1) != hash);
        assert_true(qn__hash(text, sizes[s], 0) == hash);
    }
}

static void every_length_counts(void **state) {
    static uint64_t hashes[MOST + 1];
    (void)state;
    memset(text, 0, sizeof text);
    for (size_t size = 0; size <= MOST; size++) {
        hashes[size] = qn__hash(text, size, 0);
        for (size_t before = 0; before < size; before++) assert_true(hashes[before] != hashes[size]);
    }
}

/* Words, and the blocks and lanes that long texts are taken in. */
static void the_order_counts(void **state) {
    static const size_t units[] = {8, 16, 32, 64, 128};
    unsigned char kept[128];
    (void)state;
    fill();
    const uint64_t hash = qn__hash(text, MOST, 0);
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        const size_t unit = units[u];
        for (size_t at = unit; at + unit <= MOST; at += unit) {
            memcpy(kept, text, unit);
            memcpy(text, text + at, unit);
            memcpy(text + at, kept, unit);
            assert_true(qn__hash(text, MOST, 0) != hash);
            fill();
        }
    }
    const qn__hash128 both = qn__hash_128(text, MOST);
    assert_true(both.a != both.b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bit_counts),
        cmocka_unit_test(every_length_counts),
        cmocka_unit_test(the_order_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
