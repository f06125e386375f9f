/* Rings that are stopped and launched again while others send: all that was sent is handled and answered, and no thread is at a queue that is emptied. */
#include <pthread.h>

#include "ring/internal.h"
#include "ring_support.h"

static const char text[] = "#include \"quern/ring.cl\"\n"
                           "typedef struct numbers { int x[4]; } numbers;\n"
                           "void echo(qn_ring *ring, local const numbers *in, global uint *handled) {\n"
                           "    ++*handled;\n"
                           "    qn_ring_reply(ring, in, sizeof *in);\n"
                           "}\n";

typedef struct load {
    rig r;
    _Atomic bool stops, is_over;
    _Atomic uint64_t sent, got, answered;
    _Atomic int wrong;
} load;

/* Messages one by one, and in batches that may not fit in. */
static void *send_all(void *argument) {
    load *l = argument;
    static const numbers many[24];
    for (uint32_t i = 0; !l->stops; i++) {
        uint32_t sent = 0;
        const qn_ring_batch batch = {many, sizeof *many, sizeof *many, i % 24 + 1, 0, 0};
        const qn_status status = qn_ring_send_batch(l->r.ring, &batch, &sent, 1000000);
        l->sent += sent;
        if (status && status != QN_ERROR_TIMEOUT && status != QN_ERROR_STATE) l->wrong = status;
        if (status) continue;
        if (!qn_ring_send(l->r.ring, NULL, many, sizeof *many, 1000000)) l->sent++;
    }
    return NULL;
}

/* Each call ends: with its answer, or since the ring has stopped. */
static void *call_all(void *argument) {
    load *l = argument;
    numbers in = {{5}}, out;
    while (!l->stops) {
        const qn_status status = qn_ring_call(l->r.ring, &in, sizeof in, &out, sizeof out, QN_FOREVER);
        if (status == QN_OK)
            l->answered++;
        else if (status != QN_ERROR_STATE)
            l->wrong = status;
    }
    return NULL;
}

static void *receive_all(void *argument) {
    load *l = argument;
    numbers out[32];
    while (!l->is_over) {
        uint32_t got = 0;
        const qn_status status = qn_ring_receive_batch(l->r.ring, NULL, out, sizeof *out, 32, &got, 1000000);
        l->got += got;
        if (status && status != QN_ERROR_TIMEOUT && status != QN_ERROR_STATE) l->wrong = status;
    }
    return NULL;
}

static qn_ring_stats stats_of(const load *l) {
    qn_ring_stats stats;
    assert_ok(l->r.context, qn_ring_get_stats(l->r.ring, &stats));
    return stats;
}

/* Launching empties the queues: all answers are received before. */
static void await_answers(const load *l) {
    for (int i = 0; i < 60000 && l->got + l->answered < stats_of(l).sent; i++) pause_ms(1);
    assert_int_equal(l->got + l->answered, stats_of(l).sent);
}

static void make_ring(load *l, const qn_ring_desc *how) {
    const uint32_t zero = 0;
    qn_ring_desc desc = *how;
    l->r.context = make_context(NULL);
    l->r.device = get_device(l->r.context, test_device());
    desc.program.source = text;
    desc.handler = "echo";
    desc.message_type = "numbers";
    desc.message_size = sizeof(numbers);
    desc.state = l->r.state = make_buffer(l->r.device, sizeof zero, &zero);
    desc.state_type = "uint";
    assert_ok(l->r.context, qn_ring_create(l->r.device, &desc, &l->r.ring));
    assert_ok(l->r.context, qn_ring_launch(l->r.ring, SECONDS(60)));
    assert_ok(l->r.context, qn_ring_activate(l->r.ring, SECONDS(60)));
}

static void stops_beside_sends(const qn_ring_desc *how) {
    enum { TURNS = 40 };
    load l = {.wrong = QN_OK};
    pthread_t threads[4];
    uint32_t handled;
    make_ring(&l, how);
    qn_ring *ring = l.r.ring;
    assert_int_equal(pthread_create(&threads[0], NULL, send_all, &l), 0);
    assert_int_equal(pthread_create(&threads[1], NULL, send_all, &l), 0);
    assert_int_equal(pthread_create(&threads[2], NULL, call_all, &l), 0);
    assert_int_equal(pthread_create(&threads[3], NULL, receive_all, &l), 0);
    for (int turn = 0; turn < TURNS; turn++) {
        pause_ms(turn % 3);
        assert_ok(l.r.context, qn_ring_stop(ring, QN_RING_DRAIN, SECONDS(60)));
        const qn_ring_stats stats = stats_of(&l);
        assert_int_equal(stats.handled, stats.sent);
        await_answers(&l);
        assert_ok(l.r.context, qn_ring_launch(ring, SECONDS(60)));
        assert_ok(l.r.context, qn_ring_activate(ring, SECONDS(60)));
    }
    l.stops = true;
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    assert_ok(l.r.context, qn_ring_stop(ring, QN_RING_DRAIN, SECONDS(60)));
    await_answers(&l);
    l.is_over = true;
    pthread_join(threads[3], NULL);
    assert_int_equal(l.wrong, QN_OK);
    assert_ok(l.r.context, qn_buffer_read(l.r.state, 0, &handled, sizeof handled));
    assert_int_equal(handled, stats_of(&l).sent);
    finish(&l.r);
}

static void adaptive(void **state) {
    (void)state;
    stops_beside_sends(&(qn_ring_desc){.capacity = 64});
}

static void short_launches(void **state) {
    (void)state;
    stops_beside_sends(&(qn_ring_desc){.capacity = 64, .mode = QN_RING_LAUNCHES});
}

/* ---- what is dropped ---- */

typedef struct caller {
    const rig *r;
    qn_status status;
    char said[200];
} caller;

static void *call_once(void *argument) {
    caller *c = argument;
    numbers in = {{5}}, out;
    c->status = qn_ring_call(c->r->ring, &in, sizeof in, &out, sizeof out, SECONDS(60));
    snprintf(c->said, sizeof c->said, "%s", qn_error_message(c->r->context));
    return NULL;
}

static void note_status(void *user, qn_status status, const qn_ring_message *reply, const void *payload) {
    (void)reply, (void)payload;
    *(_Atomic int *)user = (int)status;
}

/* Calls that wait for what a stop drops end with it, also where the ring is launched again before they look. */
static void dropped_calls_end(void **state) {
    (void)state;
    for (int again = 0; again < 2; again++) {
        enum { CALLS = 2 };
        load l = {.wrong = QN_OK};
        make_ring(&l, &(qn_ring_desc){.capacity = 64});
        const rig *r = &l.r;
        caller callers[CALLS] = {{.r = r}, {.r = r}};
        pthread_t threads[CALLS];
        numbers in = {{7}}, out;
        _Atomic int told = -1;
        assert_ok(r->context, qn_ring_pause(r->ring, SECONDS(60)));
        for (int i = 0; i < CALLS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, call_once, &callers[i]), 0);
        assert_ok(r->context,
                  qn_ring_call_async(r->ring, &in, sizeof in, note_status, (void *)&told, QN_FOREVER));
        for (int i = 0; i < 60000 && stats_of(&l).sent < CALLS + 1; i++) pause_ms(1);
        assert_ok(r->context, qn_ring_stop(r->ring, QN_RING_DROP, SECONDS(60)));
        if (again) {
            assert_ok(r->context, qn_ring_launch(r->ring, SECONDS(60)));
            assert_ok(r->context, qn_ring_activate(r->ring, SECONDS(60)));
        }
        for (int i = 0; i < CALLS; i++) {
            pthread_join(threads[i], NULL);
            assert_int_equal(callers[i].status, QN_ERROR_STATE);
            if (!strstr(callers[i].said, "qn_ring_call: ring 'echo' was stopped, and message "))
                fail_msg("%s", callers[i].said);
        }
        for (int i = 0; i < 60000 && told < 0; i++) pause_ms(1);
        assert_int_equal(told, QN_ERROR_STATE);
        if (again) {
            assert_ok(r->context, qn_ring_call(r->ring, &in, sizeof in, &out, sizeof out, SECONDS(60)));
            assert_int_equal(out.x[0], 7);
        }
        finish(&l.r);
    }
}

/* And beside an answer of which a kernel that failed has written a part. */
static void half_an_answer_is_none(void **state) {
    (void)state;
    load l = {.wrong = QN_OK};
    make_ring(&l, &(qn_ring_desc){.capacity = 64});
    const rig *r = &l.r;
    caller c = {.r = r};
    pthread_t thread;
    numbers in = {{7}}, out;
    if (!r->ring->out.pieces) { /* else it shows when all of it is there */
        finish(&l.r);
        skip();
    }
    assert_ok(r->context, qn_ring_pause(r->ring, SECONDS(60)));
    assert_int_equal(pthread_create(&thread, NULL, call_once, &c), 0);
    for (int i = 0; i < 60000 && stats_of(&l).sent < 1; i++) pause_ms(1);
    const uint32_t at = atomic_load(&r->ring->out.at[0]);
    atomic_store(&qn__ring_queue_slot(&r->ring->out, 0, at)->sequence, at + 1);
    assert_ok(r->context, qn_ring_stop(r->ring, QN_RING_DROP, SECONDS(60)));
    pthread_join(thread, NULL);
    assert_int_equal(c.status, QN_ERROR_STATE);
    assert_ok(r->context, qn_ring_launch(r->ring, SECONDS(60)));
    assert_ok(r->context, qn_ring_activate(r->ring, SECONDS(60)));
    assert_ok(r->context, qn_ring_call(r->ring, &in, sizeof in, &out, sizeof out, SECONDS(60)));
    assert_int_equal(out.x[0], 7);
    finish(&l.r);
}

/* So do those whose message a full queue drops: the newest, which is a call's own, or the oldest, for what others send. */
static void calls_that_a_full_queue_drops(void **state) {
    (void)state;
    enum { CAPACITY = 64 };
    for (int oldest = 0; oldest < 2; oldest++) {
        load l = {.wrong = QN_OK};
        make_ring(&l, &(qn_ring_desc){.capacity = CAPACITY,
                                      .policy = oldest ? QN_RING_DROP_OLDEST : QN_RING_DROP_NEWEST});
        const rig *r = &l.r;
        caller c = {.r = r};
        pthread_t thread;
        numbers in = {{7}}, out;
        _Atomic int told = -1;
        assert_ok(r->context, qn_ring_pause(r->ring, SECONDS(60)));
        if (oldest) {
            assert_int_equal(pthread_create(&thread, NULL, call_once, &c), 0);
            assert_ok(r->context,
                      qn_ring_call_async(r->ring, &in, sizeof in, note_status, (void *)&told, QN_FOREVER));
            for (int i = 0; i < 60000 && stats_of(&l).sent < 2; i++) pause_ms(1);
            for (int i = 0; i < CAPACITY; i++)
                assert_ok(r->context, qn_ring_send(r->ring, NULL, &in, sizeof in, 0));
            pthread_join(thread, NULL);
            for (int i = 0; i < 60000 && told < 0; i++) pause_ms(1);
            assert_int_equal(told, QN_ERROR_STATE);
        } else {
            for (int i = 0; i < CAPACITY; i++)
                assert_ok(r->context, qn_ring_send(r->ring, NULL, &in, sizeof in, 0));
            call_once(&c);
            assert_fails(r->context,
                         qn_ring_call_async(r->ring, &in, sizeof in, note_status, (void *)&told, QN_FOREVER),
                         QN_ERROR_STATE, "qn_ring_call_async: the queue of ring 'echo' was full");
        }
        assert_int_equal(c.status, QN_ERROR_STATE);
        if (!strstr(c.said, "qn_ring_call: the queue of ring 'echo' was full, and ")) fail_msg("%s", c.said);
        assert_int_equal(stats_of(&l).bands[0].dropped, 2);
        assert_ok(r->context, qn_ring_resume(r->ring, SECONDS(60)));
        for (int i = 0; i < CAPACITY; i++)
            assert_ok(r->context, qn_ring_receive(r->ring, NULL, &out, sizeof out, SECONDS(60)));
        assert_true(told == (oldest ? QN_ERROR_STATE : -1)); /* once, or never */
        finish(&l.r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adaptive), cmocka_unit_test(short_launches), cmocka_unit_test(dropped_calls_end),
        cmocka_unit_test(half_an_answer_is_none), cmocka_unit_test(calls_that_a_full_queue_drops)};
    return run_device_tests(tests);
}
