/* The arena and what grows in it: empty allocations, growth in place and by moving, the escape at the budget. */
#include "util/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "util/str.h"
#include "util/vec.h"

/* A first growth starts from no memory at all: under UBSan this finds arithmetic on null pointers. */
static void the_first_growth_needs_no_block(void **state) {
    (void)state;
    qn__arena arena;
    jmp_buf escape;
    qn__arena_init(&arena, NULL, 0);
    arena.escape = &escape;
    if (setjmp(escape)) fail();
    QN__VEC(int) numbers = {0};
    for (int i = 0; i < 100000; i++) qn__vec_push(&arena, &numbers, i);
    for (int i = 0; i < 100000; i++) assert_int_equal(numbers.data[i], i);
    qn__arena_free(&arena);
}

static void nothing_can_be_allocated_and_copied(void **state) {
    (void)state;
    qn__arena arena;
    jmp_buf escape;
    qn__arena_init(&arena, NULL, 0);
    arena.escape = &escape;
    if (setjmp(escape)) fail();
    assert_non_null(qn__arena_alloc(&arena, 0));
    assert_non_null(qn__arena_copy(&arena, NULL, 0));
    qn__arena_free(&arena);
}

static void what_is_not_last_moves(void **state) {
    (void)state;
    qn__arena arena;
    jmp_buf escape;
    qn__arena_init(&arena, NULL, 0);
    arena.escape = &escape;
    if (setjmp(escape)) fail();
    qn__buf a, b;
    qn__buf_init(&a, &arena);
    qn__buf_init(&b, &arena);
    for (int i = 0; i < 5000; i++) {
        qn__buf_puts(&a, "left");
        qn__buf_puts(&b, "right");
    }
    assert_int_equal(a.len, 20000);
    assert_int_equal(b.len, 25000);
    assert_memory_equal(a.data + 19996, "left", 5);
    assert_memory_equal(b.data + 24995, "right", 6);
    qn__arena_free(&arena);
}

static void the_budget_escapes(void **state) {
    (void)state;
    qn__arena arena;
    jmp_buf escape;
    qn__arena_init(&arena, NULL, 1000);
    arena.escape = &escape;
    int reason = setjmp(escape);
    if (!reason) {
        for (;;) qn__arena_alloc(&arena, 100);
    }
    assert_int_equal(reason, QN__ESCAPE_BUDGET);
    qn__arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_growth_needs_no_block),
        cmocka_unit_test(nothing_can_be_allocated_and_copied),
        cmocka_unit_test(what_is_not_last_moves),
        cmocka_unit_test(the_budget_escapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
