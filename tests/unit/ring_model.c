/* The queue algorithms under all schedules of a few preemptions. The library's own texts run as they are: queue.c for the host,
   ring.cl for the kernel, as C, with atomics that may hand over to the other side. A schedule is the list of atomic operations
   before which the running side is preempted; all lists up to a length are tried.
   Usage: unit_ring_model [PREEMPTIONS] (2) */
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

/* ---- handing over ---- */

enum { HOST, KERNEL, FAIR = 60, ENDLESS = 100000 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t turn_changed;
    int turn;
    bool ended[2];
    uint32_t steps, alone; /* in all; since the last change of turns */
    uint32_t preempted[4], num_preempted, next;
} model = {.lock = PTHREAD_MUTEX_INITIALIZER, .turn_changed = PTHREAD_COND_INITIALIZER};

static void hand_over(int me) {
    pthread_mutex_lock(&model.lock);
    if (!model.ended[!me]) {
        model.turn = !me;
        model.alone = 0;
        pthread_cond_signal(&model.turn_changed);
        while (model.turn != me) pthread_cond_wait(&model.turn_changed, &model.lock);
    }
    pthread_mutex_unlock(&model.lock);
}

/* Before each atomic operation. A side that only waits for the other must not run for ever. */
static void step(void) {
    const uint32_t now = model.steps++;
    if (now > ENDLESS) {
        fprintf(stderr, "a schedule does not end; preempted before operations %u %u\n",
                (unsigned)model.preempted[0], (unsigned)model.preempted[1]);
        _Exit(1);
    }
    const bool preempted = model.next < model.num_preempted && model.preempted[model.next] == now;
    if (preempted) model.next++;
    if (preempted || ++model.alone > FAIR) hand_over(model.turn);
}

static uint32_t model_load(volatile void *word) {
    step();
    return *(volatile uint32_t *)word;
}
static void model_store(volatile void *word, uint32_t value) {
    step();
    *(volatile uint32_t *)word = value;
}
static uint32_t model_add(volatile void *word, uint32_t value) {
    step();
    const uint32_t before = *(volatile uint32_t *)word;
    *(volatile uint32_t *)word = before + value;
    return before;
}
static bool model_exchange(volatile void *word, uint32_t *expected, uint32_t value) {
    step();
    const uint32_t before = *(volatile uint32_t *)word;
    if (before == *expected) *(volatile uint32_t *)word = value;
    const bool done = before == *expected;
    *expected = before;
    return done;
}

#undef atomic_load
#undef atomic_store
#undef atomic_load_explicit
#undef atomic_store_explicit
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub_explicit
#undef atomic_compare_exchange_weak_explicit
#undef atomic_thread_fence
#define atomic_store(word, value)                   model_store(word, value)
#define atomic_load_explicit(word, ...)             model_load((volatile void *)(word))
#define atomic_store_explicit(word, value, ...)     model_store((volatile void *)(word), value)
#define atomic_fetch_add_explicit(word, value, ...) model_add((volatile void *)(word), value)
#define atomic_fetch_sub_explicit(word, value, ...) model_add((volatile void *)(word), 0u - (value))
#define atomic_compare_exchange_weak_explicit(word, old, n, ...)                                             \
    model_exchange((volatile void *)(word), old, n)
#define atomic_thread_fence(order) step()

/* The library has these under their own names. */
#define qn__ring_queue_create     model_queue_create
#define qn__ring_queue_destroy    model_queue_destroy
#define qn__ring_queue_reset      model_queue_reset
#define qn__ring_queue_put        model_queue_put
#define qn__ring_queue_put_run    model_queue_put_run
#define qn__ring_queue_revoke     model_queue_revoke
#define qn__ring_queue_warm       model_queue_warm
#define qn__ring_queue_first      model_queue_first
#define qn__ring_queue_drop_first model_queue_drop_first
#define qn__ring_queue_is_empty   model_queue_is_empty
#define qn__ring_queue_is_pending model_queue_is_pending
#define qn__ring_queue_has_room   model_queue_has_room
#define qn__ring_queue_credits    model_queue_credits
#define qn__ring_queue_orphan     model_queue_orphan
#define qn__ring_queue_free       model_queue_free
#define qn__ring_queue_slot       model_queue_slot

static int model_revokes;
#define get_group_id(d)             0
#define atomic_work_item_fence(...) step()
#ifndef AS_C_GROUPS
#define AS_C_GROUPS 1
#endif
#define AS_C_CAPACITY 2
#ifndef AS_C_BATCH /* else unit/ring_model_batch.c includes this file */
#define AS_C_BATCH    0
#define AS_C_PER_ITEM 0
#endif
#define get_local_id(d) 0
#define barrier(fences) (void)0
#define AS_C_STAYS      0
#define AS_C_REVOKES    model_revokes
#include "ring_as_c.h"

#if !AS_C_MAIL

/* ---- a run ---- */

enum { MESSAGES = 4 };

static struct {
    uint32_t epoch, launched, done; /* launches that the host made, and that have ended */
    bool host_ended;
    uint32_t dropped, received, last; /* ids that were received are in order */
    const char *wrong;
} world;

static void *kernel_side(void *ignored) {
    (void)ignored;
    pthread_mutex_lock(&model.lock);
    while (model.turn != KERNEL) pthread_cond_wait(&model.turn_changed, &model.lock);
    pthread_mutex_unlock(&model.lock);
    while (!world.host_ended || world.done < world.launched) {
        if (world.done < world.launched) {
            run_kernel();
            world.done++;
        } else {
            hand_over(KERNEL);
        }
    }
    pthread_mutex_lock(&model.lock);
    model.ended[KERNEL] = true;
    model.turn = HOST;
    pthread_cond_signal(&model.turn_changed);
    pthread_mutex_unlock(&model.lock);
    return NULL;
}

/* As qn__ring_kick. */
static void kick(void) {
    atomic_thread_fence(memory_order_seq_cst);
    if (model_load(&shared.control.parked) != world.epoch) return;
    if (!model_queue_is_pending(&in) || !model_queue_has_room(&out, 1)) return;
    world.epoch++;
    model_store(&shared.control.epoch, world.epoch);
    world.launched++;
}

static void receive_all(void) {
    for (const qn__ring_slot *slot; (slot = model_queue_first(&out)) != NULL; model_queue_drop_first(&out)) {
        const uint32_t id = (uint32_t)slot->message.correlation;
        const uint32_t *payload = (const uint32_t *)(const void *)(slot + 1);
        if (id <= world.last) world.wrong = "out of order, or twice";
        if (payload[0] != id || payload[3] != ~id) world.wrong = "a payload is not its message's";
        world.last = id;
        world.received++;
    }
}

static void send(uint32_t id) {
    const uint32_t payload[4] = {id, 0, 0, ~id};
    const qn_ring_message message = {.id = id, .size = sizeof payload};
    while (!model_queue_put(&in, 0, &message, payload)) {
        if (model_revokes) {
            world.dropped += model_queue_revoke(&in, 0, &shared.control.revoked[0], &(uint64_t){0});
        } else {
            kick();
            receive_all();
            kick();
            hand_over(HOST);
        }
    }
    kick();
}

/* Positions begin short of where they wrap. */
static void set_up(void) {
    memset(&model.ended, 0, sizeof model.ended);
    model.turn = HOST;
    model.steps = model.alone = model.next = 0;
    memset(&world, 0, sizeof world);
    set_up_queues(0u - 2);
}

static uint32_t run(void) {
    pthread_t thread;
    set_up();
    assert_int_equal(pthread_create(&thread, NULL, kernel_side, NULL), 0);
    for (uint32_t id = 1; id <= MESSAGES; id++) send(id);
    /* Whatever launches there are have ended: nothing more will come by itself. */
    while (world.done < world.launched) {
        hand_over(HOST);
        receive_all();
    }
    receive_all();
    const uint32_t steps = model.steps;
    world.host_ended = true;
    hand_over(HOST);
    pthread_join(thread, NULL);
    if (world.received + world.dropped != MESSAGES) world.wrong = "a message was lost";
    if (world.last != MESSAGES) world.wrong = "the last message was lost";
    if (!world.wrong) return steps;
    char list[64] = "";
    for (uint32_t i = 0; i < model.num_preempted; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), " %u", (unsigned)model.preempted[i]);
    fail_msg("%s; preempted before operations%s", world.wrong, list);
    return 0;
}

#else
static uint32_t run(void); /* unit/ring_model_mail.c's */
#endif

static uint32_t most = 2;
static uint64_t runs;

/* All schedules with `left` more preemptions, at operations from `first` on. */
static void explore(uint32_t left, uint32_t first) {
    const uint32_t steps = run();
    runs++;
    if (!left) return;
    for (uint32_t at = first; at < steps; at++) {
        const uint32_t depth = model.num_preempted;
        model.preempted[model.num_preempted++] = at;
        explore(left - 1, at + 1);
        model.num_preempted = depth;
    }
}

static void nothing_is_lost(void **state) {
    model_revokes = *(int *)*state;
    runs = 0;
    explore(most, 0);
    printf("%llu schedules\n", (unsigned long long)runs);
    assert_true(runs > 1000);
}

#if !AS_C_MAIL

static void a_full_output(void **state) {
    (void)state;
    set_up();
    assert_false(full_output_has_room());
}

#if !AS_C_BATCH && !AS_C_PIECES

/* Between its look and its claim the host goes round the queue, however often: the message is one of those that were dropped. */
static void a_claim_that_is_late(void **state) {
    (void)state;
    model_revokes = 1;
    for (uint32_t later = 0; later < 4 * AS_C_CAPACITY; later++) {
        qn__ring_control *qn__control = &shared.control;
        unsigned char *qn__in = in_slots, *qn__out = out_slots;
        uint32_t *qn__in_ends = in_ends, *qn__out_ends = out_ends;
        const qn_ring_message message = {.id = 1};
        set_up();
        model.ended[KERNEL] = true;
        QN_RING(ring);
        for (uint32_t i = 0; i < AS_C_CAPACITY; i++) assert_true(model_queue_put(&in, 0, &message, NULL));
        const qn__ring_sight sight = qn__ring_see(&ring, 0, NULL);
        assert_int_equal(sight.ahead, 0);
        for (uint32_t i = 0; i < later; i++)
            while (!model_queue_put(&in, 0, &message, NULL))
                model_queue_revoke(&in, 0, &shared.control.revoked[0], &(uint64_t){0});
        void *slot = qn__ring_in_slot(&ring, qn__ring_index(0, sight.at));
        assert_int_equal(qn__ring_keep(&ring, slot, 0, sight.at), later == 0);
    }
}

#endif

int main(int argc, char **argv) {
    static int keeps = 0, drops = 1;
    if (argc > 1) most = (uint32_t)strtoul(argv[1], NULL, 10);
    (void)qn_ring_should_stop;
    (void)qn_ring_fail;
    (void)qn_ring_send;
    (void)drops;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_output),
        cmocka_unit_test_prestate(nothing_is_lost, &keeps),
#if !AS_C_BATCH && !AS_C_PIECES /* which drop no messages */
        cmocka_unit_test(a_claim_that_is_late),
        cmocka_unit_test_prestate(nothing_is_lost, &drops),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
