/* Sets of bytes against a map of bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/intervals.h"

enum { BYTES = 40 };

static const qn__allocator plain;

static void check(const qn__intervals *intervals, const bool *model) {
    bool seen[BYTES] = {false};
    for (size_t i = 0; i < intervals->count; i++) {
        const qn__interval *interval = &intervals->list[i];
        assert_true(interval->begin < interval->end && interval->end <= BYTES);
        assert_true(i == 0 || interval[-1].end < interval->begin); /* in order, and apart */
        for (uint64_t at = interval->begin; at < interval->end; at++) seen[at] = true;
    }
    assert_memory_equal(seen, model, sizeof seen);
}

static void intervals_are_sets(void **state) {
    (void)state;
    bool model[BYTES] = {false};
    qn__intervals intervals = {0};
    uint64_t random = 1;
    for (int round = 0; round < 100000; round++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const uint64_t a = (random >> 33) % BYTES, size = 1 + (random >> 45) % (random >> 60 & 1 ? BYTES : 4);
        const qn__interval interval = {a, a + size < BYTES ? a + size : BYTES};
        bool all = true;
        for (uint64_t at = interval.begin; at < interval.end; at++) all = all && model[at];
        assert_int_equal(qn__intervals_have(&intervals, interval), all);
        const bool adds = random >> 62 & 1;
        const size_t before = intervals.count;
        assert_true(qn__intervals_reserve(&plain, &intervals, 1));
        if (adds)
            qn__intervals_add(&intervals, interval);
        else
            qn__intervals_remove(&intervals, interval);
        assert_true(intervals.count <= before + 1);
        memset(model + interval.begin, adds, interval.end - interval.begin);
        check(&intervals, model);
    }
    qn__intervals_free(&plain, &intervals);
    assert_int_equal(intervals.count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(intervals_are_sets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
