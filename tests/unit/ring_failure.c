/* Rings that fail, on any device: which message did it, what is left, and how it goes on; and that nothing else waits for a ring. */
#include "ring/internal.h"
#include "ring_support.h"

#include <pthread.h>
#include <stdatomic.h>

/* Counts its messages in the state, after so many iterations as the second number says; -1 gives up, -2 never comes back, -3 writes
   far outside of the state, -4 does both. */
static const char text[] =
    "#include \"quern/ring.cl\"\n"
    "typedef struct numbers { int x[4]; } numbers;\n"
    "void count(qn_ring *ring, local const numbers *in, global volatile int *state) {\n"
    "    if (in->x[0] == -1) {\n"
    "        qn_ring_fail(ring, 42);\n"
    "        return;\n"
    "    }\n"
    "    if (in->x[0] <= -3) state[100000000]++;\n"
    "    while (in->x[0] == -2 || in->x[0] == -4) state[1]++;\n"
    "    numbers out;\n"
    "    for (int i = 0; i < in->x[1]; i++) state[1]++;\n"
    "    out.x[0] = ++state[0];\n"
    "    qn_ring_reply(ring, &out, sizeof out);\n"
    "}\n";

static rig create_counting_as(const qn_ring_desc *how) {
    const qn_context_desc threads = {.cpu_threads = 6}; /* enough for two work-groups anywhere */
    rig r = {.context = make_context(how->groups > 1 ? &threads : NULL)};
    r.device = get_device(r.context, test_device());
    qn_ring_desc desc = *how;
    desc.program.source = text;
    desc.handler = "count";
    desc.message_type = "numbers";
    desc.message_size = sizeof(numbers);
    desc.state = r.state = make_buffer(r.device, 64, NULL);
    desc.state_type = "volatile int";
    assert_ok(r.context, qn_ring_create(r.device, &desc, &r.ring));
    return r;
}

static rig create_counting(uint64_t handler_ns) {
    return create_counting_as(&(qn_ring_desc){.handler_ns = handler_ns});
}

static void begin(const rig *r) {
    assert_ok(r->context, qn_ring_launch(r->ring, SECONDS(60)));
    assert_ok(r->context, qn_ring_activate(r->ring, SECONDS(60)));
}

static rig start_counting(uint64_t handler_ns) {
    const rig r = create_counting(handler_ns);
    begin(&r);
    return r;
}

static int call(const rig *r, int value) {
    const numbers in = {{value}};
    numbers out = {{0}};
    assert_ok(r->context, qn_ring_call(r->ring, &in, sizeof in, &out, sizeof out, SECONDS(60)));
    return out.x[0];
}

static void send(const rig *r, int value) {
    const numbers in = {{value, 77}};
    assert_ok(r->context, qn_ring_send(r->ring, NULL, &in, sizeof in, SECONDS(60)));
}

static void a_poisoned_message(void **state) {
    (void)state;
    static const char what[] =
        "ring 'count' has failed: its handler gave up message 8 with code 42 (qn_ring_fail)";
    rig r = start_counting(0);
    numbers out;
    qn_ring_message message;
    qn_ring_stats stats;
    for (int i = 1; i <= 5; i++) assert_int_equal(call(&r, i), i);
    assert_ok(r.context, qn_ring_checkpoint(r.ring, SECONDS(60)));
    for (int i = 6; i <= 7; i++) assert_int_equal(call(&r, i), i);
    assert_ok(r.context, qn_ring_watch(r.ring));
    assert_ok(r.context, qn_ring_pause(r.ring, SECONDS(60)));
    send(&r, -1);
    for (int i = 0; i < 3; i++) send(&r, i);
    assert_ok(r.context, qn_ring_resume(r.ring, SECONDS(60)));
    assert_fails(r.context, qn_ring_receive(r.ring, NULL, &out, sizeof out, SECONDS(60)),
                 QN_ERROR_KERNEL_FAILED, what);
    assert_int_equal(state_of(&r), QN_RING_FAILED);
    assert_fails(r.context, qn_ring_send(r.ring, NULL, &out, sizeof out, 0), QN_ERROR_KERNEL_FAILED, what);
    assert_fails(r.context, qn_ring_pause(r.ring, 0), QN_ERROR_KERNEL_FAILED, what);
    assert_fails(r.context, qn_ring_watch(r.ring), QN_ERROR_KERNEL_FAILED, what);
    assert_fails(r.context, qn_ring_checkpoint(r.ring, 0), QN_ERROR_STATE, "is failed");
    assert_fails(r.context, qn_ring_dead_letter(r.ring, NULL, &out, sizeof out), QN_ERROR_STATE, "has none");
    assert_ok(r.context, qn_ring_restart(r.ring, SECONDS(60)));
    assert_fails(r.context, qn_ring_restart(r.ring, 0), QN_ERROR_STATE, "is launched");
    assert_ok(r.context, qn_ring_dead_letter(r.ring, &message, &out, sizeof out));
    assert_int_equal(message.id, 8);
    assert_int_equal(out.x[0], -1);
    assert_int_equal(out.x[1], 77);
    assert_fails(r.context, qn_ring_dead_letter(r.ring, NULL, &out, sizeof out), QN_ERROR_STATE, "has none");
    assert_ok(r.context, qn_ring_activate(r.ring, SECONDS(60)));
    for (int i = 0; i < 3; i++) { /* those behind it, with the state of the checkpoint */
        assert_ok(r.context, qn_ring_receive(r.ring, &message, &out, sizeof out, SECONDS(60)));
        assert_int_equal(message.correlation, 9 + i);
        assert_int_equal(out.x[0], 6 + i);
    }
    assert_ok(r.context, qn_ring_get_stats(r.ring, &stats));
    assert_int_equal(stats.errors, 1);
    assert_int_equal(stats.last_error, QN_ERROR_KERNEL_FAILED);
    assert_string_equal(stats.last_error_text, what);
    finish(&r);
}

static void a_handler_that_never_comes_back(void **state) {
    (void)state;
    if (!device_can(QN_CAN_CANCEL, "work that can be cancelled")) return;
    rig r = start_counting(SECONDS(3));
    numbers out;
    assert_int_equal(call(&r, 1), 1);
    send(&r, -2);
    assert_fails(r.context, qn_ring_receive(r.ring, NULL, &out, sizeof out, SECONDS(60)),
                 QN_ERROR_KERNEL_FAILED, "its handler has been at message 2 for ");
    assert_non_null(strstr(qn_error_message(r.context), " us; 3000000 are allowed"));
    assert_ok(r.context, qn_ring_restart(r.ring, SECONDS(60)));
    assert_ok(r.context, qn_ring_dead_letter(r.ring, NULL, &out, sizeof out));
    assert_int_equal(out.x[0], -2);
    assert_ok(r.context, qn_ring_activate(r.ring, SECONDS(60)));
    assert_int_equal(call(&r, 3), 2); /* without a checkpoint the state is as it was left */
    finish(&r);
}

static const char waiting_text[] = "#include \"quern/ring.cl\"\n"
                                   "void wait(qn_ring *ring, local const int *in) {\n"
                                   "    while (*in < 0 && !qn_ring_should_stop(ring)) {}\n"
                                   "    qn_ring_reply(ring, in, sizeof *in);\n"
                                   "}\n"
                                   "kernel void some(QN_RING_PARAMETERS) {\n"
                                   "    QN_RING(ring);\n"
                                   "    for (int i = 0; i < 2 && qn_ring_receive(&ring); i++) "
                                   "qn_ring_reply(&ring, qn_ring_payload(&ring), 4);\n"
                                   "}\n";

static rig start_waiting(const qn_ring_desc *how) {
    qn_ring_desc desc = *how;
    desc.program.source = waiting_text;
    desc.message_size = desc.reply_size = sizeof(int32_t);
    if (!desc.loop) desc.handler = "wait", desc.message_type = "int";
    rig r = {.context = make_context(NULL)};
    r.device = get_device(r.context, test_device());
    assert_ok(r.context, qn_ring_create(r.device, &desc, &r.ring));
    begin(&r);
    return r;
}

/* As above, on all devices whose kernels stay: the handler looks whether it is to stop, so that the kernel ends without being
   cancelled. */
static void a_handler_over_its_time(void **state) {
    (void)state;
    const int32_t good = 5, bad = -1;
    int32_t out = 0;
    rig r = start_waiting(&(qn_ring_desc){.handler_ns = SECONDS(3)});
    if (!runs_by_launches(&r)) {
        assert_ok(r.context, qn_ring_call(r.ring, &good, 4, &out, 4, SECONDS(60)));
        assert_int_equal(out, 5);
        assert_ok(r.context, qn_ring_send(r.ring, NULL, &bad, 4, SECONDS(60)));
        while (atomic_load(&qn__ring_groups(r.ring)->taken) < 2) pause_ms(1);
        r.ring->heart.bound_ns = 1000000; /* a handler's time is no standing still */
        assert_ok(r.context, qn_ring_send(r.ring, NULL, &good, 4, SECONDS(60)));
        /* who receives may get what the handler answers as it is told to end */
        assert_fails(r.context, wait_for_failure(&r), QN_ERROR_KERNEL_FAILED,
                     "its handler has been at message 2 for ");
        assert_non_null(strstr(qn_error_message(r.context), " us; 3000000 are allowed"));
        r.ring->heart.bound_ns = SECONDS(30);
        assert_ok(r.context, qn_ring_restart(r.ring, SECONDS(60)));
        assert_ok(r.context, qn_ring_activate(r.ring, SECONDS(60)));
        do { /* that comes first, if it was in time */
            assert_ok(r.context, qn_ring_receive(r.ring, NULL, &out, 4, SECONDS(60)));
        } while (out != 5);
    }
    finish(&r);
}

/* A loop by hand that comes to its end is no ring any more. */
static void a_loop_that_ends(void **state) {
    (void)state;
    int32_t number = 5;
    rig r = start_waiting(&(qn_ring_desc){.loop = "some", .idle = QN_RING_CONTINUOUS});
    if (!runs_by_launches(&r)) {
        assert_ok(r.context, qn_ring_call(r.ring, &number, 4, &number, 4, SECONDS(60)));
        assert_ok(r.context, qn_ring_call(r.ring, &number, 4, &number, 4, SECONDS(60)));
        assert_fails(r.context, qn_ring_call(r.ring, &number, 4, &number, 4, SECONDS(60)),
                     QN_ERROR_KERNEL_FAILED, "ring 'some' has failed: with message 2: its kernel has ended");
    }
    finish(&r);
}

/* Also of a ring with mail, which looks at the host's side less often. */
static void the_heartbeat_goes_up(void **state) {
    (void)state;
    for (uint32_t mail = 0; mail <= 8; mail += 8) {
        rig r = start_waiting(&(qn_ring_desc){.idle = QN_RING_CONTINUOUS, .mail_capacity = mail});
        const uint32_t before = atomic_load(&qn__ring_groups(r.ring)->heartbeat);
        for (int i = 0; i < 60000 && !runs_by_launches(&r); i++) {
            if (atomic_load(&qn__ring_groups(r.ring)->heartbeat) - before > 2) break;
            pause_ms(1);
        }
        if (!runs_by_launches(&r)) assert_true(atomic_load(&qn__ring_groups(r.ring)->heartbeat) - before > 2);
        finish(&r);
    }
}

static bool catches_faults(void) {
    if (!strcmp(test_device(), "cpu")) return true;
    print_message("skipped: an access outside of memory is caught on the processor\n");
    return false;
}

static void expect_fault(const qn_ring_desc *how) {
    rig r = create_counting_as(how);
    const numbers bad = {{-3, 5}};
    numbers out;
    begin(&r);
    assert_int_equal(call(&r, 1), 1);
    assert_fails(r.context, qn_ring_call(r.ring, &bad, sizeof bad, &out, sizeof out, SECONDS(60)),
                 QN_ERROR_KERNEL_FAILED, "ring 'count' has failed: with message 2: ");
    assert_fails(r.context, qn_ring_watch(r.ring), QN_ERROR_KERNEL_FAILED,
                 "an access at byte 400000000 of the 64 of 'qn_state'");
    assert_int_equal(state_of(&r), QN_RING_FAILED);
    assert_ok(r.context, qn_ring_restart(r.ring, SECONDS(60)));
    assert_ok(r.context, qn_ring_dead_letter(r.ring, NULL, &out, sizeof out));
    assert_int_equal(out.x[1], 5);
    assert_ok(r.context, qn_ring_activate(r.ring, SECONDS(60)));
    assert_int_equal(call(&r, 1), 2);
    assert_ok(r.context, qn_ring_watch(r.ring));
    finish(&r);
}

/* The launch ends by it, also its other work-groups, and says nothing through memory that both see. */
static void a_fault_in_the_handler(void **state) {
    (void)state;
    if (!catches_faults()) return;
    for (int idle = QN_RING_ADAPTIVE; idle <= QN_RING_EVENTS; idle++)
        expect_fault(&(qn_ring_desc){.idle = (qn_ring_idle)idle});
    expect_fault(&(qn_ring_desc){.idle = QN_RING_CONTINUOUS, .groups = 2});
}

/* Until a message is being handled, or is in a launch that is under way. */
static void await_handler(const rig *r) {
    bool is_there = false;
    for (int i = 0; i < 60000 && !is_there; i++) {
        const qn__ring_group *group = qn__ring_groups(r->ring);
        uint32_t messages;
        uint64_t id = 0;
        pthread_mutex_lock(&r->ring->lock);
        is_there = r->ring->mirror ? qn__ring_mirror_age(r->ring, &messages, &id) && id
                                   : atomic_load(&group->taken) != atomic_load(&group->done);
        pthread_mutex_unlock(&r->ring->lock);
        if (is_there) break;
        pause_ms(1);
        assert_ok(r->context, qn_ring_watch(r->ring));
    }
    assert_true(is_there);
}

/* A kernel that never ends is given up in time. */
static void closing_in_the_midst(void **state) {
    (void)state;
    if (!device_can(QN_CAN_CANCEL, "work that can be cancelled")) return;
    rig r = start_counting(0);
    send(&r, -2);
    await_handler(&r);
    assert_fails(r.context, qn_ring_stop(r.ring, QN_RING_DROP, 20000000), QN_ERROR_TIMEOUT,
                 "had not ended in 20000 us");
    assert_int_equal(state_of(&r), QN_RING_STOPPING);
    const double begin = test_seconds();
    assert_fails(r.context, qn_ring_close(r.ring, 20000000), QN_ERROR_TIMEOUT, "kernel qn_handler_count");
    assert_true(test_seconds() - begin < 60);
    assert_ok(r.context, qn_context_close(r.context, SECONDS(60)));
}

/* ---- supervision ---- */

static qn_ring_stats stats_of(const rig *r) {
    qn_ring_stats stats;
    assert_ok(r->context, qn_ring_get_stats(r->ring, &stats));
    return stats;
}

static rig start_supervised(const qn_ring_supervision *supervision) {
    rig r = create_counting(0);
    assert_ok(r.context, qn_ring_supervise(r.ring, supervision));
    begin(&r);
    return r;
}

static void note_status(void *user, qn_status status, const qn_ring_message *reply, const void *payload) {
    (void)reply, (void)payload;
    *(_Atomic int *)user = (int)status;
}

/* Blocks of the context's memory. */
static void *count_allocate(void *user, size_t size) {
    atomic_fetch_add((atomic_long *)user, 1);
    return malloc(size);
}

static void *count_reallocate(void *user, void *memory, size_t size) {
    if (!memory) atomic_fetch_add((atomic_long *)user, 1);
    return realloc(memory, size);
}

static void count_release(void *user, void *memory) {
    if (memory) atomic_fetch_sub((atomic_long *)user, 1);
    free(memory);
}

/* A context is closed beside a ring that nobody has: in time, also where a handler is under way, and with the ring's thread. */
static void a_context_is_closed_first(void **state) {
    (void)state;
    const bool cancels = device_can(QN_CAN_CANCEL, "work that can be cancelled");
    for (int is_busy = 0; is_busy < 1 + cancels; is_busy++) {
        atomic_long blocks = 0;
        _Atomic int status = -1;
        const qn_context_desc desc = {
            .allocator = {count_allocate, count_reallocate, count_release, &blocks}};
        rig r = {.context = make_context(&desc)};
        r.device = get_device(r.context, test_device());
        r.state = make_buffer(r.device, 64, NULL);
        const numbers in = {{is_busy ? -2 : 3}};
        numbers out;
        qn_ring_info info;
        assert_ok(r.context, qn_ring_create(r.device,
                                            &(qn_ring_desc){.program = {.source = text},
                                                            .handler = "count",
                                                            .message_type = "numbers",
                                                            .message_size = sizeof in,
                                                            .state = r.state,
                                                            .idle = QN_RING_CONTINUOUS},
                                            &r.ring));
        begin(&r);
        assert_ok(r.context, qn_ring_call_async(r.ring, &in, sizeof in, note_status, &status, QN_FOREVER));
        while (!is_busy && atomic_load(&status) < 0) pause_ms(1);
        const double start = test_seconds();
        assert_int_equal(qn_context_close(r.context, 20000000), QN_OK);
        assert_true(test_seconds() - start < 60);
        assert_int_equal(atomic_load(&status), is_busy ? QN_ERROR_STATE : QN_OK);
        assert_fails(NULL, qn_ring_call(r.ring, &in, sizeof in, &out, sizeof out, 0), QN_ERROR_STATE,
                     "qn_ring_call: the context of ring 'count' is closed");
        assert_fails(NULL, qn_ring_send(r.ring, NULL, &in, sizeof in, 0), QN_ERROR_STATE, "is closed");
        assert_fails(NULL, qn_ring_receive(r.ring, NULL, &out, sizeof out, 0), QN_ERROR_STATE, "is closed");
        assert_fails(NULL, qn_ring_stop(r.ring, QN_RING_DROP, 0), QN_ERROR_STATE, "is closed");
        assert_fails(NULL, qn_ring_get_info(r.ring, &info), QN_ERROR_STATE, "is closed");
        assert_int_equal(atomic_load(&blocks), 1);
        assert_int_equal(qn_ring_close(r.ring, 0), QN_OK);
        assert_int_equal(atomic_load(&blocks), 0);
    }
}

typedef struct caller {
    const rig *r;
    numbers in, out;
    qn_status status;
} caller;

static void *call_once(void *argument) {
    caller *c = argument;
    c->status = qn_ring_call(c->r->ring, &c->in, sizeof c->in, &c->out, sizeof c->out, SECONDS(60));
    return NULL;
}

/* The answer to a message before the one that fails arrives, though the host may see both at once: to who receives, calls, or has left a
   callback. */
static void an_answer_before_a_failure(void **state) {
    (void)state;
    for (int how = 0; how < 3; how++) {
        rig r = start_counting(0);
        caller c = {.r = &r, .in = {{1, 1 << 14}}}; /* below what software drivers end a loop at */
        pthread_t thread;
        numbers out;
        _Atomic int told = -1;
        assert_ok(r.context, qn_ring_pause(r.ring, SECONDS(60)));
        if (how == 0) {
            assert_ok(r.context, qn_ring_send(r.ring, NULL, &c.in, sizeof c.in, SECONDS(60)));
        } else if (how == 1) {
            assert_int_equal(pthread_create(&thread, NULL, call_once, &c), 0);
        } else {
            assert_ok(r.context, qn_ring_call_async(r.ring, &c.in, sizeof c.in, note_status, (void *)&told,
                                                    SECONDS(60)));
        }
        for (int i = 0; i < 60000 && stats_of(&r).sent < 1; i++) pause_ms(1);
        send(&r, -1);
        assert_ok(r.context, qn_ring_resume(r.ring, SECONDS(60)));
        if (how == 0) {
            c.status = qn_ring_receive(r.ring, NULL, &out, sizeof out, SECONDS(60));
            assert_fails(r.context, qn_ring_receive(r.ring, NULL, &out, sizeof out, SECONDS(60)),
                         QN_ERROR_KERNEL_FAILED, "gave up message 2 with code 42");
        } else if (how == 1) {
            pthread_join(thread, NULL);
        } else {
            for (int i = 0; i < 60000 && told < 0; i++) pause_ms(1);
            c.status = (qn_status)told;
        }
        assert_int_equal(c.status, QN_OK);
        qn_ring_destroy(r.ring);
        qn_context_destroy(r.context);
    }
}

/* Who waits goes on to, but those whose message it was. */
static void restarts_by_itself(void **state) {
    (void)state;
    rig r = start_supervised(&(qn_ring_supervision){.restarts = 4, .backoff_ns = 1000000});
    const numbers poison = {{-1}};
    numbers out;
    _Atomic int told = -1;
    for (int i = 1; i <= 3; i++) assert_int_equal(call(&r, i), i);
    assert_ok(r.context, qn_ring_checkpoint(r.ring, SECONDS(60)));
    for (int i = 4; i <= 5; i++) assert_int_equal(call(&r, i), i);
    assert_fails(r.context, qn_ring_call(r.ring, &poison, sizeof poison, &out, sizeof out, SECONDS(60)),
                 QN_ERROR_KERNEL_FAILED,
                 "qn_ring_call: ring 'count' failed at message 6, which is a dead letter");
    assert_int_equal(call(&r, 0), 4); /* from the checkpoint */
    assert_ok(r.context,
              qn_ring_call_async(r.ring, &poison, sizeof poison, note_status, (void *)&told, SECONDS(60)));
    assert_int_equal(call(&r, 0), 4);
    for (int i = 0; i < 60000 && told < 0; i++) pause_ms(1);
    assert_int_equal(told, QN_ERROR_KERNEL_FAILED);
    assert_int_equal(stats_of(&r).restarts, 2);
    assert_int_equal(stats_of(&r).dead, 2);
    assert_ok(r.context, qn_ring_dead_letter(r.ring, NULL, &out, sizeof out));
    assert_int_equal(out.x[0], -1);
    assert_ok(r.context, qn_ring_stop(r.ring, QN_RING_DRAIN, SECONDS(60)));
    finish(&r);
}

static void too_many_failures(void **state) {
    (void)state;
    rig r = start_supervised(
        &(qn_ring_supervision){.restarts = 2, .within_ns = SECONDS(3600), .backoff_ns = 1000000});
    const numbers poison = {{-1}};
    numbers out;
    for (int i = 0; i < 3; i++)
        assert_fails(r.context, qn_ring_call(r.ring, &poison, sizeof poison, &out, sizeof out, SECONDS(60)),
                     QN_ERROR_KERNEL_FAILED,
                     i < 2 ? "a dead letter now" : "its handler gave up message 3 with code 42");
    assert_int_equal(state_of(&r), QN_RING_FAILED);
    assert_int_equal(stats_of(&r).restarts, 2);
    assert_fails(r.context, qn_ring_send(r.ring, NULL, &poison, sizeof poison, 0), QN_ERROR_KERNEL_FAILED,
                 "");
    /* By hand it begins anew. */
    assert_ok(r.context, qn_ring_restart(r.ring, SECONDS(60)));
    assert_ok(r.context, qn_ring_activate(r.ring, SECONDS(60)));
    assert_fails(r.context, qn_ring_call(r.ring, &poison, sizeof poison, &out, sizeof out, SECONDS(60)),
                 QN_ERROR_KERNEL_FAILED, "a dead letter now");
    assert_int_equal(call(&r, 0), 1);
    assert_fails(r.context, qn_ring_supervise(r.ring, NULL), QN_ERROR_STATE, "is active");
    finish(&r);
}

/* Who restarts by hand activates by hand: the ring's thread does neither in between. */
static void restarted_by_hand(void **state) {
    (void)state;
    rig r =
        start_supervised(&(qn_ring_supervision){.restarts = 1, .within_ns = SECONDS(3600), .backoff_ns = 1});
    const numbers poison = {{-1}};
    numbers out;
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 2; i++)
            assert_fails(r.context,
                         qn_ring_call(r.ring, &poison, sizeof poison, &out, sizeof out, SECONDS(60)),
                         QN_ERROR_KERNEL_FAILED, i < 1 ? "a dead letter now" : "its handler gave up message");
        assert_ok(r.context, qn_ring_restart(r.ring, SECONDS(60)));
        pause_ms(5);
        assert_int_equal(state_of(&r), QN_RING_LAUNCHED);
        assert_ok(r.context, qn_ring_activate(r.ring, SECONDS(60)));
    }
    assert_int_equal(stats_of(&r).restarts, 10);
    finish(&r);
}

/* Behind an access that a safe program has noted: where the host learns of that behind the launch, by the time that the handler has. */
static void an_access_outside_before_an_endless_loop(void **state) {
    (void)state;
    if (!device_can(QN_CAN_CANCEL, "work that can be cancelled")) return;
    rig r = create_counting_as(&(qn_ring_desc){.handler_ns = SECONDS(1), .program = {.safe = true}});
    numbers out;
    begin(&r);
    assert_int_equal(call(&r, 1), 1);
    send(&r, -4);
    assert_fails(r.context, qn_ring_receive(r.ring, NULL, &out, sizeof out, SECONDS(60)),
                 QN_ERROR_KERNEL_FAILED,
                 runs_by_launches(&r) ? "its handler has been at message 2" : "at byte 400000000 of its 64");
    assert_ok(r.context, qn_ring_restart(r.ring, SECONDS(60)));
    assert_ok(r.context, qn_ring_dead_letter(r.ring, NULL, &out, sizeof out));
    assert_int_equal(out.x[0], -4);
    assert_ok(r.context, qn_ring_activate(r.ring, SECONDS(60)));
    assert_int_equal(call(&r, 1), 2);
    finish(&r);
}

/* What a launch has left is fetched when it has ended, and not waited for under the ring's lock. */
static void an_endless_launch_is_not_waited_for(void **state) {
    (void)state;
    if (!device_can(QN_CAN_CANCEL, "work that can be cancelled")) return;
    rig r = start_counting(0);
    send(&r, -2);
    await_handler(&r);
    pthread_mutex_lock(&r.ring->lock);
    const qn_status status = r.ring->mirror ? qn__ring_mirror_recover(r.ring) : QN_ERROR_TIMEOUT;
    pthread_mutex_unlock(&r.ring->lock);
    assert_int_equal(status, QN_ERROR_TIMEOUT);
    assert_fails(r.context, qn_ring_close(r.ring, 20000000), QN_ERROR_TIMEOUT, "kernel qn_handler_count");
    assert_ok(r.context, qn_context_close(r.context, SECONDS(60)));
}

/* The handler goes on, and the kernel goes on for ever; what another stream waits for is no affair of the ring's. */
static void an_access_outside_that_is_counted(void **state) {
    (void)state;
    if (!device_can(QN_CAN_PERSIST, "kernels that stay")) return;
    for (int idle = QN_RING_ADAPTIVE; idle <= QN_RING_EVENTS; idle++) {
        rig r = create_counting_as(&(qn_ring_desc){.idle = (qn_ring_idle)idle, .program = {.safe = true}});
        if (runs_by_launches(&r)) { /* whoever waits first is told */
            printf("skipped: a ring of launches shares what safe programs have noted with other streams\n");
            finish(&r);
            return;
        }
        begin(&r);
        assert_int_equal(call(&r, 1), 1);
        assert_ok(r.context, qn_ring_watch(r.ring));
        send(&r, -3);
        assert_ok(r.context, qn_stream_wait(qn_device_stream(r.device), SECONDS(60)));
        assert_fails(r.context, wait_for_failure(&r), QN_ERROR_KERNEL_FAILED, "at byte 400000000 of its 64");
        assert_int_equal(state_of(&r), QN_RING_FAILED);
        assert_ok(r.context, qn_ring_restart(r.ring, SECONDS(60)));
        assert_ok(r.context, qn_ring_activate(r.ring, SECONDS(60)));
        assert_in_range(call(&r, 1), 2, 3); /* the kernel may have been cancelled before it counted */
        assert_ok(r.context, qn_ring_watch(r.ring));
        finish(&r);
    }
}

static int call_with_iterations(const rig *r, int iterations) {
    const numbers in = {{0, iterations}};
    numbers out = {{0}};
    assert_ok(r->context, qn_ring_call(r->ring, &in, sizeof in, &out, sizeof out, SECONDS(60)));
    return out.x[0];
}

/* Each call of the handler has the budget: neither looking for messages takes from it, nor messages before. */
static void a_budget_of_iterations(void **state) {
    (void)state;
    enum { BUDGET = 5000, MESSAGES = 40 };
    rig r = create_counting_as(
        &(qn_ring_desc){.idle = QN_RING_CONTINUOUS, .program = {.safe = true, .loop_budget = BUDGET}});
    begin(&r);
    for (int i = 1; i <= MESSAGES; i++) {
        if (i % 16 == 0) pause_ms(20); /* it looks more often than that */
        assert_int_equal(call_with_iterations(&r, BUDGET - 10), i);
    }
    assert_ok(r.context, qn_ring_watch(r.ring));
    const numbers many = {{0, BUDGET + 10}};
    assert_ok(r.context, qn_ring_send(r.ring, NULL, &many, sizeof many, SECONDS(60)));
    assert_fails(r.context, wait_for_failure(&r), QN_ERROR_KERNEL_FAILED,
                 "has a loop that goes on when a work-item's have gone round 5000 times");
    assert_ok(r.context, qn_ring_restart(r.ring, SECONDS(60)));
    assert_ok(r.context, qn_ring_activate(r.ring, SECONDS(60)));
    assert_in_range(call_with_iterations(&r, BUDGET - 10), MESSAGES + 1, MESSAGES + 2);
    assert_ok(r.context, qn_ring_watch(r.ring));
    finish(&r);
}

static void a_loop_by_hand_has_no_budget(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, test_device());
    qn_ring *ring;
    const qn_ring_desc desc = {.program = {.source = text, .safe = true, .loop_budget = 9}, .loop = "mine"};
    assert_fails(context, qn_ring_create(device, &desc, &ring), QN_ERROR_ARGUMENT,
                 "loop_budget goes with `handler`, of which each call has it");
    qn_context_destroy(context);
}

static void restarts_after_a_fault(void **state) {
    (void)state;
    if (!catches_faults()) return;
    rig r = start_supervised(&(qn_ring_supervision){.restarts = 2, .backoff_ns = 1000000});
    const numbers bad = {{-3}};
    numbers out;
    assert_int_equal(call(&r, 1), 1);
    assert_fails(r.context, qn_ring_call(r.ring, &bad, sizeof bad, &out, sizeof out, SECONDS(60)),
                 QN_ERROR_KERNEL_FAILED, "a dead letter now");
    assert_int_equal(call(&r, 0), 2);
    assert_int_equal(stats_of(&r).restarts, 1);
    finish(&r);
}

/* Checkpoints by themselves; what may not be asked for. */
static void supervised_checkpoints(void **state) {
    (void)state;
    rig r = create_counting(0);
    const numbers poison = {{-1}};
    numbers out;
    assert_fails(r.context, qn_ring_supervise(r.ring, &(qn_ring_supervision){.restarts = 17}), QN_ERROR_RANGE,
                 "restarts is 17; at most 16");
    assert_ok(r.context,
              qn_ring_supervise(r.ring, &(qn_ring_supervision){.restarts = 16, .checkpoint_ns = 2000000}));
    assert_ok(r.context, qn_ring_launch(r.ring, SECONDS(60)));
    assert_ok(r.context, qn_ring_activate(r.ring, SECONDS(60)));
    for (int i = 1; i <= 5; i++) assert_int_equal(call(&r, i), i);
    int counted = 5, forgotten = 5;
    for (int ms = 200; forgotten && ms < 1000; ms += 150) { /* nothing, but on a busy machine */
        pause_ms(ms);
        assert_fails(r.context, qn_ring_call(r.ring, &poison, sizeof poison, &out, sizeof out, SECONDS(60)),
                     QN_ERROR_KERNEL_FAILED, "a dead letter now");
        const int now = call(&r, 0);
        forgotten = counted + 1 - now;
        counted = now;
    }
    assert_int_equal(forgotten, 0);
    finish(&r);
}

/* While the state is mapped a ring of short launches cannot be launched. No message is lost by that, nor is one told of twice. */
static void a_launch_that_is_refused(void **state) {
    (void)state;
    void *mapped;
    numbers in = {{0}}, out;
    qn_ring_stats stats;
    qn_context *context;
    rig r = create_counting_as(&(qn_ring_desc){.mode = QN_RING_LAUNCHES, .label = "launched"});
    context = r.context;
    assert_ok(context, qn_buffer_map(r.state, QN_MAP_READ, &mapped));
    assert_fails(context, qn_ring_launch(r.ring, SECONDS(60)), QN_ERROR_STATE, "is mapped");
    assert_int_equal(state_of(&r), QN_RING_CREATED);
    assert_ok(context, qn_buffer_unmap(r.state));
    begin(&r);
    assert_int_equal(call(&r, 0), 1);
    assert_ok(context, qn_buffer_map(r.state, QN_MAP_READ, &mapped));
    assert_int_equal(*(int *)mapped, 1);
    assert_ok(context, qn_ring_send(r.ring, NULL, &in, sizeof in, SECONDS(60)));
    assert_fails(context, qn_ring_receive(r.ring, NULL, &out, sizeof out, SECONDS(60)), QN_ERROR_STATE,
                 "is mapped");
    assert_fails(context, qn_ring_call(r.ring, &in, sizeof in, &out, sizeof out, SECONDS(60)), QN_ERROR_STATE,
                 "is mapped");
    assert_ok(context, qn_buffer_unmap(r.state));
    assert_ok(context, qn_ring_receive(r.ring, NULL, &out, sizeof out, SECONDS(60)));
    assert_int_equal(out.x[0], 2);
    assert_int_equal(call(&r, 0), 4);
    assert_ok(context, qn_ring_get_stats(r.ring, &stats));
    assert_int_equal(stats.handled, 4);
    assert_int_equal(stats.late, 1);
    assert_int_equal(stats.received, 3);
    finish(&r);
}

/* What a finding, or a message about what is unfinished, calls the kernel, which the program has not written. */
static void keep_finding(void *user, qn_log_level level, const char *message) {
    if (level == QN_LOG_ERROR) snprintf(user, 1024, "%s", message);
}

static void findings_name_the_handler(void **state) {
    (void)state;
    static char said[1024];
    const numbers bad = {{-3, 5}};
    numbers out;
    rig r = {.context = make_context(&(qn_context_desc){.log = keep_finding, .log_user = said})};
    r.device = get_device(r.context, "check");
    const qn_ring_desc desc = {.program = {.source = text},
                               .handler = "count",
                               .message_type = "numbers",
                               .message_size = sizeof(numbers),
                               .state = make_buffer(r.device, 64, NULL),
                               .state_type = "volatile int"};
    assert_ok(r.context, qn_ring_create(r.device, &desc, &r.ring));
    begin(&r);
    (void)qn_ring_call(r.ring, &bad, sizeof bad, &out, sizeof out, SECONDS(60));
    (void)qn_ring_close(r.ring, SECONDS(60));
    (void)qn_context_close(r.context, SECONDS(60)); /* no thread tells more */
    if (!strstr(said, "kernel 'qn_handler_count': ")) fail_msg("it says: %s", said);
}

static void nothing_else_waits(void **state) {
    (void)state;
    static const char other[] = "kernel void add(global int *a, int v) { a[get_global_id(0)] += v; }";
    rig r = {.context = make_context(NULL)};
    r.device = get_device(r.context, test_device());
    qn_program *program = make_program(r.device, other); /* CUDA's driver loads none beside a ring */
    qn_kernel *kernel = make_kernel(program, r.context, NULL);
    const qn_ring_desc desc = {.program = {.source = ring_text},
                               .handler = "twice",
                               .message_type = "numbers",
                               .message_size = sizeof(numbers),
                               .capacity = 64,
                               .bands = 4,
                               .idle = QN_RING_CONTINUOUS};
    int host[64] = {0}, *mapped;
    assert_ok(r.context, qn_ring_create(r.device, &desc, &r.ring));
    assert_ok(r.context, qn_ring_launch(r.ring, SECONDS(60)));
    assert_ok(r.context, qn_ring_activate(r.ring, SECONDS(60)));
    for (int i = 1; i <= 3; i++) {
        qn_stream *stream;
        qn_buffer *buffer = make_buffer(r.device, sizeof host, NULL);
        assert_ok(r.context, qn_stream_create(r.device, &stream));
        assert_ok(r.context, qn_launch(stream, kernel, QN_RANGE(64), QN_ARGS(buffer, i)));
        assert_ok(r.context, qn_stream_wait(stream, SECONDS(60)));
        assert_ok(r.context, qn_launch(NULL, kernel, QN_RANGE(64), QN_ARGS(buffer, i)));
        assert_ok(r.context, qn_buffer_map(buffer, QN_MAP_READ, (void **)&mapped));
        assert_int_equal(mapped[63], 2 * i);
        assert_ok(r.context, qn_buffer_unmap(buffer));
        assert_ok(r.context, qn_device_wait(r.device, SECONDS(60)));
        qn_buffer_destroy(buffer);
        qn_stream_destroy(stream);
        const numbers in = {{i}};
        numbers out;
        assert_ok(r.context, qn_ring_call(r.ring, &in, sizeof in, &out, sizeof out, SECONDS(60)));
        assert_int_equal(out.x[0], 2 * i + 1);
    }
    qn_kernel_destroy(kernel);
    qn_program_destroy(program);
    finish(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_poisoned_message),
        cmocka_unit_test(a_handler_that_never_comes_back),
        cmocka_unit_test(a_handler_over_its_time),
        cmocka_unit_test(a_loop_that_ends),
        cmocka_unit_test(the_heartbeat_goes_up),
        cmocka_unit_test(an_answer_before_a_failure),
        cmocka_unit_test(closing_in_the_midst),
        cmocka_unit_test(a_context_is_closed_first),
        cmocka_unit_test(restarts_by_itself),
        cmocka_unit_test(too_many_failures),
        cmocka_unit_test(restarted_by_hand),
        cmocka_unit_test(supervised_checkpoints),
        cmocka_unit_test(nothing_else_waits),
        cmocka_unit_test(a_fault_in_the_handler),
        cmocka_unit_test(restarts_after_a_fault),
        cmocka_unit_test(an_access_outside_that_is_counted),
        cmocka_unit_test(a_budget_of_iterations),
        cmocka_unit_test(a_loop_by_hand_has_no_budget),
        cmocka_unit_test(an_access_outside_before_an_endless_loop),
        cmocka_unit_test(an_endless_launch_is_not_waited_for),
        cmocka_unit_test(a_launch_that_is_refused),
        cmocka_unit_test(findings_name_the_handler),
    };
    return run_device_tests(tests);
}
