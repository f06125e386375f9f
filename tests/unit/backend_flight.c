/* What queues of all backends keep: names of kernels in flight, failures that stay, what waits to be printed, copies of
   commands, and waiting with a deadline. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backend/common/common.h"
#include "util/file.h"

/* ---- names ---- */

static void expect_names(const qn__kernel_names *names, const char *first, const char *wanted) {
    char text[128];
    qn__kernel_names_print(names, first, text, sizeof text);
    assert_string_equal(text, wanted);
}

static void names_are_listed_once(void **state) {
    (void)state;
    char copy[] = "add";
    qn__kernel_names names = {.count = 0};
    expect_names(&names, "kernel ", "");
    qn__kernel_names_add(&names, NULL);
    expect_names(&names, "kernel ", "");
    qn__kernel_names_add(&names, "add");
    qn__kernel_names_add(&names, copy);
    expect_names(&names, "kernel ", "kernel add");
    qn__kernel_names_add(&names, "sub");
    expect_names(&names, "", "add or sub");
    qn__kernel_names_add(&names, "mul");
    qn__kernel_names_add(&names, "div");
    expect_names(&names, "", "add, sub, mul or div");
    qn__kernel_names_add(&names, "sub");
    expect_names(&names, "", "add, sub, mul or div");
    qn__kernel_names_add(&names, "mod");
    expect_names(&names, "kernel ", "kernel add, sub, mul, div or another");
}

static void names_are_cut_to_the_room(void **state) {
    (void)state;
    const qn__kernel_names names = {
        .names = {"first", "second", "third", "fourth"}, .count = 4, .more = true};
    char whole[64];
    qn__kernel_names_print(&names, "kernel ", whole, sizeof whole);
    for (size_t size = 1; size <= strlen(whole); size++) {
        char *text = malloc(size);
        assert_non_null(text);
        qn__kernel_names_print(&names, "kernel ", text, size);
        assert_int_equal(strlen(text), size - 1);
        assert_memory_equal(text, whole, size - 1);
        free(text);
    }
}

/* ---- flight ---- */

static void expect_flight(const qn__flight *flight, const char *wanted, const char *first) {
    qn__kernel_names names = {.count = 0};
    qn__flight_names(flight, &names);
    expect_names(&names, "", wanted);
    const char *found = qn__flight_first(flight);
    assert_string_equal(found ? found : "", first);
}

static void commands_in_flight_have_names(void **state) {
    (void)state;
    qn__flight flight = {.submitted = 0};
    expect_flight(&flight, "", "");
    assert_int_equal(qn__flight_add(&flight, "one"), 1);
    assert_int_equal(qn__flight_add(&flight, NULL), 2);
    assert_int_equal(qn__flight_add(&flight, "three"), 3);
    assert_int_equal(qn__flight_add(&flight, "one"), 4);
    expect_flight(&flight, "one or three", "one");
    qn__flight_reach(&flight, 1);
    expect_flight(&flight, "three or one", "three");
    qn__flight_reach(&flight, 3);
    qn__flight_reach(&flight, 2); /* it goes on only */
    expect_flight(&flight, "one", "one");
    qn__flight_reach(&flight, 4);
    expect_flight(&flight, "", "");
}

/* The names of the latest commands are kept; an older one is never taken for a newer one's. */
static void older_names_are_forgotten(void **state) {
    (void)state;
    static char names[3 * QN__FLIGHT + 1][8];
    qn__flight flight = {.submitted = 0};
    for (int n = 1; n <= 3 * QN__FLIGHT; n++) {
        snprintf(names[n], sizeof names[n], "%d", n);
        assert_int_equal(qn__flight_add(&flight, names[n]), n);
        const int oldest = n < QN__FLIGHT ? 1 : n - QN__FLIGHT + 1;
        assert_string_equal(qn__flight_first(&flight), names[oldest]);
    }
    for (int n = 1; n < 3 * QN__FLIGHT; n++) {
        qn__flight_reach(&flight, (uint64_t)n);
        const int oldest = n < 2 * QN__FLIGHT ? 2 * QN__FLIGHT + 1 : n + 1;
        assert_string_equal(qn__flight_first(&flight), names[oldest]);
    }
}

/* ---- waiting ---- */

static bool count_down(void *user) { return --*(int *)user <= 0; }
static bool never(void *user) {
    ++*(int *)user;
    return false;
}

static void polls_until_done_or_late(void **state) {
    (void)state;
    for (int spins = 0; spins < 2; spins++) {
        int left = 20, looked = 0;
        assert_true(qn__poll(count_down, &left, QN_FOREVER, spins));
        assert_int_equal(left, 0);
        left = 1;
        assert_true(qn__poll(count_down, &left, 0, spins)); /* what is done is never late */
        assert_false(qn__poll(never, &looked, 0, spins));
        assert_int_equal(looked, 1);
        const uint64_t start = qn__now_ns();
        looked = 0;
        assert_false(qn__poll(never, &looked, 5000000, spins));
        assert_true(qn__now_ns() - start >= 5000000);
        /* This process may have had to wait behind the first look. */
        for (int i = 0; i < 100 && looked == 1; i++) {
            looked = 0;
            assert_false(qn__poll(never, &looked, 5000000, spins));
        }
        assert_true(looked > 1);
    }
}

/* ---- failures ---- */

static void a_loss_keeps_its_first_message(void **state) {
    (void)state;
    qn__loss loss = {.lost = false};
    char why[QN__WHY];
    qn__loss_init(&loss);
    assert_false(qn__is_lost(&loss));
    assert_int_equal(qn__lose(&loss, why, "kernel %s failed: %d", "add", 7), QN_ERROR_DEVICE_LOST);
    assert_string_equal(why, "kernel add failed: 7");
    assert_true(qn__is_lost(&loss));
    assert_int_equal(qn__lose(&loss, why, "another"), QN_ERROR_DEVICE_LOST);
    assert_string_equal(why, "kernel add failed: 7");
    why[0] = 0;
    assert_int_equal(qn__lost(&loss, why), QN_ERROR_DEVICE_LOST);
    assert_string_equal(why, "kernel add failed: 7");
    qn__loss_free(&loss);
}

static void a_failure_is_reported_once(void **state) {
    (void)state;
    qn__sticky failure = {.status = QN_OK};
    char why[QN__WHY] = "untouched";
    assert_int_equal(qn__sticky_take(&failure, why), QN_OK);
    assert_string_equal(why, "untouched");
    qn__sticky_set(&failure, QN_ERROR_KERNEL_FAILED, "the first");
    qn__sticky_set(&failure, QN_ERROR_DRIVER, "the second");
    assert_int_equal(qn__sticky_take(&failure, why), QN_ERROR_KERNEL_FAILED);
    assert_string_equal(why, "the first");
    assert_int_equal(qn__sticky_take(&failure, why), QN_OK);
    qn__sticky_set(&failure, QN_ERROR_DRIVER, "the third");
    assert_int_equal(qn__sticky_take(&failure, why), QN_ERROR_DRIVER);
    assert_string_equal(why, "the third");
}

/* ---- what waits to be printed ---- */

static void prints_come_in_order(void **state) {
    (void)state;
    qn__prints prints = {0};
    qn__print all[4] = {{0}};
    assert_null(qn__prints_take(&prints, UINT64_MAX));
    for (int round = 0; round < 2; round++) {
        for (uint64_t i = 0; i < 4; i++) qn__prints_add(&prints, &all[i], 10 * (i + 1));
        assert_int_equal(prints.count, 4);
        assert_null(qn__prints_take(&prints, 9));
        assert_ptr_equal(qn__prints_take(&prints, 20), &all[0]);
        assert_ptr_equal(qn__prints_take(&prints, 20), &all[1]);
        assert_null(qn__prints_take(&prints, 29));
        qn__prints_add(&prints, &all[0], 50);
        assert_ptr_equal(qn__prints_take(&prints, UINT64_MAX), &all[2]);
        assert_ptr_equal(qn__prints_take(&prints, UINT64_MAX), &all[3]);
        assert_ptr_equal(qn__prints_take(&prints, UINT64_MAX), &all[0]);
        assert_null(qn__prints_take(&prints, UINT64_MAX));
        assert_int_equal(prints.count, 0);
    }
}

static void what_is_filled_is_never_more_than_there_is(void **state) {
    (void)state;
    const uint32_t rows[][3] = {
        {100, 0, 0}, {100, 24, 24}, {100, 100, 100}, {100, 4000000000u, 100}, {0, 8, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned char header[QN__PRINT_HEADER];
        memcpy(header, rows[i], sizeof header);
        assert_int_equal(qn__print_filled(header), rows[i][2]);
    }
}

/* ---- commands ---- */

typedef struct counter {
    size_t live, left; /* allocations: there are; may yet be made */
} counter;

static void *allocate(void *user, size_t size) {
    counter *c = user;
    if (c->left == 0) return NULL;
    c->left--;
    c->live++;
    return malloc(size);
}

static void *reallocate(void *user, void *memory, size_t size) {
    (void)user;
    return realloc(memory, size);
}

static void release(void *user, void *memory) {
    counter *c = user;
    if (memory) c->live--;
    free(memory);
}

static void commands_are_copied_whole_or_not(void **state) {
    (void)state;
    char data[] = "some bytes";
    const qn__command commands[] = {{.kind = QN__COMMAND_WRITE, .host = data, .size = sizeof data},
                                    {.kind = QN__COMMAND_FILL, .pattern = {7}, .pattern_size = 1},
                                    {.kind = QN__COMMAND_COPY, .size = 3}};
    counter c = {.live = 0};
    const qn__allocator allocator = {allocate, reallocate, release, &c};
    qn__commands copies;
    for (size_t left = 0; left < 4; left++) {
        c.left = left;
        assert_int_equal(qn__commands_copy(&allocator, commands, 3, &copies), QN_ERROR_OUT_OF_MEMORY);
        assert_int_equal(copies.count, 0);
        assert_null(copies.list);
        assert_int_equal(c.live, 0);
    }
    c.left = 4;
    assert_int_equal(qn__commands_copy(&allocator, commands, 3, &copies), QN_OK);
    assert_int_equal(copies.count, 3);
    data[0] = 'S';
    assert_string_equal(copies.list[0]->host, "some bytes");
    assert_int_equal(copies.list[1]->pattern[0], 7);
    assert_int_equal(copies.list[2]->size, 3);
    qn__commands_free(&allocator, &copies);
    assert_int_equal(c.live, 0);
    qn__commands_free(&allocator, &copies);
    c.left = 1;
    assert_int_equal(qn__commands_copy(&allocator, NULL, 0, &copies), QN_OK);
    assert_int_equal(copies.count, 0);
    qn__commands_free(&allocator, &copies);
    assert_int_equal(c.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_listed_once),
        cmocka_unit_test(names_are_cut_to_the_room),
        cmocka_unit_test(commands_in_flight_have_names),
        cmocka_unit_test(older_names_are_forgotten),
        cmocka_unit_test(polls_until_done_or_late),
        cmocka_unit_test(a_loss_keeps_its_first_message),
        cmocka_unit_test(a_failure_is_reported_once),
        cmocka_unit_test(prints_come_in_order),
        cmocka_unit_test(what_is_filled_is_never_more_than_there_is),
        cmocka_unit_test(commands_are_copied_whole_or_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
