/* The arena and what grows in it: empty allocations, growth in place and by moving, the escape at the budget, blocks
   that are handed on. */
#include "util/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

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

/* Three blocks and a part of a fourth. */
static void the_budget_is_that_of_all_blocks(void **state) {
    (void)state;
    enum { BUDGET = 2000000, PIECE = 1008 };
    qn__arena arena;
    jmp_buf escape;
    volatile int pieces = 0;
    qn__arena_init(&arena, NULL, BUDGET);
    arena.escape = &escape;
    const int reason = setjmp(escape);
    while (!reason) {
        qn__arena_alloc(&arena, PIECE);
        pieces++;
    }
    assert_int_equal(reason, QN__ESCAPE_BUDGET);
    assert_int_equal(pieces, BUDGET / PIECE);
    assert_int_equal(qn__arena_used(&arena), pieces * PIECE);
    qn__arena_free(&arena);
}

static void a_size_that_overflows_escapes(void **state) {
    (void)state;
    qn__arena arena;
    jmp_buf escape;
    qn__arena_init(&arena, NULL, 0);
    arena.escape = &escape;
    const int reason = setjmp(escape);
    if (!reason) (void)QN__NEW_ARRAY(&arena, uint64_t, SIZE_MAX / 8 + 2);
    assert_int_equal(reason, QN__ESCAPE_BUDGET);
    qn__arena_free(&arena);
}

/* ---- blocks handed on ---- */

typedef struct counter {
    int allocated, live;
} counter;

static void *count_allocate(void *user, size_t size) {
    counter *c = user;
    c->allocated++;
    c->live++;
    return malloc(size);
}

static void count_release(void *user, void *memory) {
    counter *c = user;
    c->live -= memory != NULL;
    free(memory);
}

/* As a compile and its passes: one arena, and another that comes and goes meanwhile. */
static void use_two(qn__arena_store *store, size_t size) {
    qn__arena outer, inner;
    jmp_buf escape;
    qn__arena_init(&outer, store->allocator, 0);
    qn__arena_init(&inner, store->allocator, 0);
    outer.store = inner.store = store;
    outer.escape = inner.escape = &escape;
    if (setjmp(escape)) fail();
    for (size_t done = 0; done < size / 2; done += 1000) qn__arena_alloc(&outer, 1000);
    for (size_t done = 0; done < size / 8; done += 1000) {
        const unsigned char *zeros = qn__arena_alloc(&inner, 1000);
        assert_int_equal(zeros[0] | zeros[999], 0);
        memset(qn__arena_alloc(&inner, 1000), 0xff, 1000);
    }
    qn__arena_reset(&inner);
    qn__arena_free(&inner);
    for (size_t done = 0; done < size / 2; done += 1000) qn__arena_alloc(&outer, 1000);
    qn__arena_free(&outer);
}

static void what_is_like_the_last_needs_no_new_blocks(void **state) {
    (void)state;
    counter c = {0};
    const qn__allocator allocator = {.allocate = count_allocate, .release = count_release, .user = &c};
    qn__arena_store store;
    qn__arena_store_init(&store, &allocator);
    use_two(&store, 2 << 20);
    const int first = c.allocated;
    assert_true(first > 3);
    assert_int_equal(c.live, first);
    for (int i = 0; i < 20; i++) use_two(&store, 2 << 20);
    assert_int_equal(c.allocated, first);
    qn__arena_store_free(&store);
    assert_int_equal(c.live, 0);
}

static void a_store_keeps_only_so_much(void **state) {
    (void)state;
    counter c = {0};
    const qn__allocator allocator = {.allocate = count_allocate, .release = count_release, .user = &c};
    qn__arena_store store;
    qn__arena_store_init(&store, &allocator);
    use_two(&store, 64 << 20);
    assert_true(c.live > 0);
    assert_true(store.size <= 8 << 20);
    qn__arena_store_free(&store);
    assert_int_equal(c.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_growth_needs_no_block),
        cmocka_unit_test(nothing_can_be_allocated_and_copied),
        cmocka_unit_test(what_is_not_last_moves),
        cmocka_unit_test(the_budget_escapes),
        cmocka_unit_test(the_budget_is_that_of_all_blocks),
        cmocka_unit_test(a_size_that_overflows_escapes),
        cmocka_unit_test(what_is_like_the_last_needs_no_new_blocks),
        cmocka_unit_test(a_store_keeps_only_so_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
