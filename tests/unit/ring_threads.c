/* The queue algorithms by threads: the host's text and the kernel's own, as C, with several producers and work-groups. Built with
   -fsanitize=thread it shows that what is in a slot is ordered by the slot's sequence number alone. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

#undef atomic_load
#undef atomic_store
#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub_explicit
#undef atomic_compare_exchange_weak_explicit
#undef atomic_compare_exchange_strong_explicit
#define WORD(word)                              ((volatile uint32_t *)(word))
#define atomic_load(word)                       __atomic_load_n(WORD(word), __ATOMIC_SEQ_CST)
#define atomic_store(word, value)               __atomic_store_n(WORD(word), value, __ATOMIC_SEQ_CST)
#define atomic_load_explicit(word, ...)         (let_run(), __atomic_load_n(WORD(word), ORDER(__VA_ARGS__, 0)))
#define ORDER(order, ...)                       order
#define atomic_store_explicit(word, value, ...) __atomic_store_n(WORD(word), value, ORDER(__VA_ARGS__, 0))
#define atomic_fetch_add_explicit(word, value, ...)                                                          \
    __atomic_fetch_add(WORD(word), value, ORDER(__VA_ARGS__, 0))
#define atomic_fetch_sub_explicit(word, value, ...)                                                          \
    __atomic_fetch_sub(WORD(word), value, ORDER(__VA_ARGS__, 0))
#define atomic_compare_exchange_weak_explicit(word, old, n, ...)                                             \
    __atomic_compare_exchange_n(WORD(word), old, n, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)
#define atomic_compare_exchange_strong_explicit(word, old, n, ...)                                           \
    __atomic_compare_exchange_n(WORD(word), old, n, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)
#define atomic_work_item_fence(...) atomic_thread_fence(memory_order_seq_cst)

/* The library has these under their own names. */
#define qn__ring_queue_create     threads_queue_create
#define qn__ring_queue_destroy    threads_queue_destroy
#define qn__ring_queue_reset      threads_queue_reset
#define qn__ring_queue_put        threads_queue_put
#define qn__ring_queue_put_run    threads_queue_put_run
#define qn__ring_queue_revoke     threads_queue_revoke
#define qn__ring_queue_warm       threads_queue_warm
#define qn__ring_queue_first      threads_queue_first
#define qn__ring_queue_drop_first threads_queue_drop_first
#define qn__ring_queue_is_empty   threads_queue_is_empty
#define qn__ring_queue_is_pending threads_queue_is_pending
#define qn__ring_queue_has_room   threads_queue_has_room
#define qn__ring_queue_credits    threads_queue_credits
#define qn__ring_queue_orphan     threads_queue_orphan
#define qn__ring_queue_free       threads_queue_free
#define qn__ring_queue_slot       threads_queue_slot

/* Work-groups are threads, which let others run now and then; or each of their work-items is one. */
static _Thread_local uint32_t ring_id, group_id, local_id, looked;
static void let_run(void) {
    if (++looked % 64 == 0) sched_yield();
}
#define get_group_id(d) group_id
#define get_local_id(d) local_id
#ifndef AS_C_GROUPS /* else unit/ring_threads_batch.c or ring_threads_turns.c includes this file */
#define AS_C_GROUPS   2
#define AS_C_BATCH    0
#define AS_C_PER_ITEM 0
#endif
#ifndef AS_C_ITEMS
#define AS_C_ITEMS 1
#endif
enum { ITEMS = AS_C_BATCH ? AS_C_BATCH : AS_C_ITEMS };
#if AS_C_BATCH || AS_C_ITEMS > 1
#define CLK_LOCAL_MEM_FENCE  0
#define CLK_GLOBAL_MEM_FENCE 0
static void barrier(int fences) {
    static uint32_t all_there[2 * AS_C_GROUPS], all_turns[2 * AS_C_GROUPS];
    uint32_t *there = &all_there[2 * group_id + ring_id], *turns = &all_turns[2 * group_id + ring_id];
    (void)fences;
    const uint32_t turn = __atomic_load_n(turns, __ATOMIC_ACQUIRE);
    if (__atomic_add_fetch(there, 1, __ATOMIC_ACQ_REL) == ITEMS) {
        __atomic_store_n(there, 0, __ATOMIC_RELAXED);
        __atomic_store_n(turns, turn + 1, __ATOMIC_RELEASE);
    }
    while (__atomic_load_n(turns, __ATOMIC_ACQUIRE) == turn) sched_yield();
}
#endif
#define AS_C_CAPACITY 16
#define AS_C_STAYS    1
#define AS_C_REVOKES  0
#include "ring_as_c.h"

enum { PRODUCERS = 2, EACH = AS_C_ITEMS > 1 ? 4000 : 20000 };

#if !AS_C_MAIL

static void *group(void *number) {
    group_id = *(uint32_t *)number / ITEMS;
    local_id = *(uint32_t *)number % ITEMS;
    run_kernel();
    return NULL;
}

#endif

/* One message at a time, and runs of all lengths. */
static void *produce(void *number) {
    const uint32_t me = *(uint32_t *)number;
    uint32_t payloads[5][4];
    for (uint32_t sent = 0, run; sent < EACH; sent += run) {
        run = sent % 5 + 1;
        if (run > EACH - sent) run = EACH - sent;
        for (uint32_t i = 0; i < run; i++)
            for (uint32_t k = 0; k < 4; k++) payloads[i][k] = (me * EACH + sent + i) * (k + 1);
        const qn_ring_message message = {.id = me * EACH + sent, .size = sizeof *payloads};
        if (run == 1)
            run = threads_queue_put(&in, 0, &message, payloads);
        else
            run = threads_queue_put_run(&in, 0, &message, (const unsigned char *)payloads, sizeof *payloads,
                                        run);
        if (run == 0) sched_yield();
    }
    return NULL;
}

/* Of each message one, of `size` bytes; where one work-group takes them, each producer's in order. */
static void take_answers(uint32_t size) {
    static bool seen[PRODUCERS * EACH];
    for (uint32_t got = 0; got < PRODUCERS * EACH;) {
        const qn__ring_slot *slot = threads_queue_first(&out);
        if (!slot) {
            sched_yield();
            continue;
        }
        const uint32_t id = (uint32_t)slot->message.correlation;
        const uint32_t *payload = (const uint32_t *)(const void *)(slot + 1);
        assert_true(id < PRODUCERS * EACH && !seen[id] && slot->message.size == size);
        if (AS_C_GROUPS == 1) assert_true(id % EACH == 0 || seen[id - 1]);
        for (uint32_t k = 0; k < size / 4; k++) assert_int_equal(payload[k], id * (k + 1));
        if (size % 4) assert_int_equal(payload[size / 4] & 255, id * (size / 4 + 1) & 255);
        seen[id] = true;
        got++;
        threads_queue_drop_first(&out);
    }
}

#if !AS_C_MAIL

static void each_message_once(void **state) {
    (void)state;
    static uint32_t numbers[AS_C_GROUPS * ITEMS + PRODUCERS];
    pthread_t groups[AS_C_GROUPS * ITEMS], producers[PRODUCERS];
    for (uint32_t i = 0; i < AS_C_GROUPS * ITEMS + PRODUCERS; i++) numbers[i] = i;
    set_up_queues(AS_C_PIECES ? QN__PIECES_ALL_EVERY / 2 - 100 : 0u - 100);
    shared.control.spins = QN__RING_FOREVER;
    for (int i = 0; i < AS_C_GROUPS * ITEMS; i++)
        assert_int_equal(pthread_create(&groups[i], NULL, group, &numbers[i]), 0);
    for (int i = 0; i < PRODUCERS; i++)
        assert_int_equal(pthread_create(&producers[i], NULL, produce, &numbers[i]), 0);
    take_answers(16);
    atomic_store(&shared.control.command, QN__RING_DRAIN);
    for (int i = 0; i < PRODUCERS; i++) pthread_join(producers[i], NULL);
    for (int i = 0; i < AS_C_GROUPS * ITEMS; i++) pthread_join(groups[i], NULL);
    assert_null(threads_queue_first(&out));
}

/* Where a queue is nearly full all the time, what is known of its room does not fall behind until positions wrap. */
static void nearly_full(void **state) {
    (void)state;
    const qn_ring_message message = {.id = 1};
    set_up_queues(0);
    in.in_order = true;
    for (uint32_t i = 0; i < AS_C_CAPACITY - 1; i++) assert_true(threads_queue_put(&in, 0, &message, NULL));
    for (uint32_t taken = 0; taken < 1000; taken++) {
        qn__ring_slot *slot = slot_at(&in, 0, taken);
        atomic_store(&slot->sequence, taken + AS_C_CAPACITY);
        assert_true(threads_queue_put(&in, 0, &message, NULL));
        assert_true(atomic_load(&in.at[0]) - atomic_load(&in.room[0]) <= AS_C_CAPACITY);
    }
    assert_true(threads_queue_put(&in, 0, &message, NULL));
    assert_false(threads_queue_put(&in, 0, &message, NULL));
}

static void a_full_output(void **state) {
    (void)state;
    assert_false(full_output_has_room());
}

#if AS_C_PIECES

/* A piece that short messages do not need must not have an old number when that comes again. */
static void all_pieces_now_and_then(void **state) {
    const qn_ring_message message = {.size = 0};
    const uint32_t due = QN__PIECES_ALL_EVERY / 2;
    (void)state;
    set_up_queues(due - 1);
    assert_true(threads_queue_put(&in, 0, &message, NULL));
    assert_true(threads_queue_put(&in, 0, &message, NULL));
    for (uint32_t i = 0; i < AS_C_PIECES; i++) {
        const bool is_needed = i < QN__PIECES_OF_MESSAGE;
        assert_int_equal(atomic_load(piece_at(slot_at(&in, 0, due - 1), i)), is_needed ? due : due - 1);
        assert_int_equal(atomic_load(piece_at(slot_at(&in, 0, due), i)), due + 1);
    }
}

#endif

int main(void) {
    (void)ring_id;
    (void)qn_ring_should_stop;
    (void)qn_ring_fail;
    (void)qn_ring_send;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_message_once),
        cmocka_unit_test(nearly_full),
        cmocka_unit_test(a_full_output),
#if AS_C_PIECES
        cmocka_unit_test(all_pieces_now_and_then)
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
