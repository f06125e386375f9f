/* A ring's queues, on any device: priorities, what happens to a full queue, many producers and work-groups, batches, and what a
   ring tells of itself. */
#include "ring_support.h"

#include <pthread.h>

static void send_one(const rig *r, int value, uint32_t priority) {
    const numbers in = {{value}};
    qn_ring_message message = {.priority = priority};
    assert_ok(r->context, qn_ring_send(r->ring, &message, &in, sizeof in, SECONDS(60)));
}

/* Of the next reply, the number that was doubled. */
static int receive_one(const rig *r) {
    numbers out;
    assert_ok(r->context, qn_ring_receive(r->ring, NULL, &out, sizeof out, SECONDS(60)));
    return (out.x[0] - 1) / 2;
}

static void receives_nothing(const rig *r) {
    numbers out;
    assert_fails(r->context, qn_ring_receive(r->ring, NULL, &out, sizeof out, 30000000), QN_ERROR_TIMEOUT,
                 "nothing came");
}

static bool device_emulates(void) {
    qn_context *context = make_context(NULL);
    qn_device_info info;
    assert_ok(context, qn_device_get_info(get_device(context, test_device()), &info));
    qn_context_destroy(context);
    return info.capabilities & QN_CAN_EMULATE;
}

static rig make_dormant(const qn_ring_desc *desc) {
    rig r = make(desc);
    assert_ok(r.context, qn_ring_launch(r.ring, SECONDS(60)));
    return r;
}

static void activate(const rig *r) { assert_ok(r->context, qn_ring_activate(r->ring, SECONDS(60))); }

static void priorities_come_first(void **state) {
    (void)state;
    rig r = make_dormant(&(qn_ring_desc){0});
    static const struct {
        int value;
        uint32_t priority;
    } sent[] = {{1, 0}, {2, 255}, {3, 100}, {4, 63}, {5, 192}, {6, 64}, {7, 0}};
    static const int order[] = {2, 5, 3, 6, 1, 4, 7}; /* bands of 64; first in, first out in each */
    for (size_t i = 0; i < 7; i++) send_one(&r, sent[i].value, sent[i].priority);
    activate(&r);
    for (size_t i = 0; i < 7; i++) assert_int_equal(receive_one(&r), order[i]);
    finish(&r);
}

static void a_full_queue(void **state) {
    (void)state;
    enum { CAPACITY = 64 };
    numbers in = {{9}};
    for (int policy = QN_RING_BLOCK; policy <= QN_RING_DROP_OLDEST; policy++) {
        qn_ring_stats stats;
        rig r = make_dormant(&(qn_ring_desc){.capacity = CAPACITY, .policy = (qn_ring_policy)policy});
        for (int i = 0; i < CAPACITY; i++) send_one(&r, i, 0);
        send_one(&r, 100, 200); /* the other band has room */
        for (int i = 0; i < 3; i++) {
            in.x[0] = CAPACITY + i;
            if (policy <= QN_RING_REJECT)
                assert_fails(r.context, qn_ring_send(r.ring, NULL, &in, sizeof in, 1000000), QN_ERROR_TIMEOUT,
                             "was full");
            else
                send_one(&r, CAPACITY + i, 0);
        }
        assert_ok(r.context, qn_ring_get_stats(r.ring, &stats));
        assert_int_equal(stats.depth, CAPACITY + 1);
        assert_int_equal(stats.peak, CAPACITY);
        assert_int_equal(stats.bands[0].dropped, policy <= QN_RING_REJECT ? 0 : 3);
        assert_int_equal(stats.bands[3].dropped, 0);
        activate(&r);
        assert_int_equal(receive_one(&r), 100);
        const int first = policy == QN_RING_DROP_OLDEST ? 3 : 0;
        for (int i = 0; i < CAPACITY; i++) assert_int_equal(receive_one(&r), first + i);
        receives_nothing(&r);
        for (int i = 0; i < 9; i++) { /* the queue is as good as before */
            send_one(&r, 50 + i, 0);
            assert_int_equal(receive_one(&r), 50 + i);
        }
        finish(&r);
    }
}

enum { BATCH = 250 };

/* Each is answered with its own, in order. */
static void run_batch(rig *r, const qn_ring_batch *batch) {
    static numbers out[BATCH];
    static qn_ring_message messages[BATCH];
    uint32_t sent, got;
    assert_ok(r->context, qn_ring_send_batch(r->ring, batch, &sent, SECONDS(60)));
    assert_int_equal(sent, BATCH);
    for (uint32_t all = 0; all < BATCH; all += got) {
        assert_ok(r->context, qn_ring_receive_batch(r->ring, messages + all, out + all, sizeof *out,
                                                    BATCH - all, &got, SECONDS(60)));
        assert_true(got >= 1);
    }
    for (int i = 0; i < BATCH; i++) {
        assert_int_equal(messages[i].correlation - messages[0].correlation, i);
        assert_int_equal(out[i].x[0], 2 * i + 1);
        assert_int_equal(out[i].x[1], 1 - 2 * i);
    }
}

static void batches(void **state) {
    (void)state;
    static numbers in[BATCH], out[1];
    for (int i = 0; i < BATCH; i++) in[i] = (numbers){{i, -i}};
    const qn_ring_batch batch = {
        .payloads = in, .size = sizeof *in, .stride = sizeof *in, .count = BATCH, .type = 3};
    rig r = start(&(qn_ring_desc){.bands = 1, .read_ahead = 32});
    for (int round = 0; round < 3; round++) run_batch(&r, &batch);
    finish(&r);
    uint32_t sent;
    r = start(&(qn_ring_desc){0});
    run_batch(&r, &batch);
    /* What there is no room for is told. */
    assert_ok(r.context, qn_ring_pause(r.ring, SECONDS(60)));
    assert_fails(r.context, qn_ring_send_batch(r.ring, &batch, &sent, 1000000), QN_ERROR_TIMEOUT, "was full");
    assert_int_equal(sent, 64);
    assert_fails(r.context, qn_ring_send_batch(r.ring, NULL, &sent, 0), QN_ERROR_NULL, "batch is NULL");
    assert_fails(r.context, qn_ring_receive_batch(r.ring, NULL, out, 16, 1, NULL, 0), QN_ERROR_NULL,
                 "received is NULL");
    finish(&r);
}

/* What is sent again is dropped, as long as it is among the newest. */
/* A deadline is by the clock of the message's time, and ends a wait for room. */
static void deadlines(void **state) {
    (void)state;
    enum { CAPACITY = 64 };
    rig r = make_dormant(&(qn_ring_desc){0});
    numbers in = {{1}}, out;
    qn_ring_message message = {0}, got;
    assert_ok(r.context, qn_ring_send(r.ring, &message, &in, sizeof in, 0));
    const uint64_t now = message.time_ns;
    message = (qn_ring_message){.deadline_ns = now - 1};
    assert_fails(r.context, qn_ring_send(r.ring, &message, &in, sizeof in, SECONDS(60)), QN_ERROR_TIMEOUT,
                 "the message's deadline is past");
    for (int i = 1; i < CAPACITY; i++) {
        message = (qn_ring_message){.deadline_ns = now + SECONDS(60)};
        assert_ok(r.context, qn_ring_send(r.ring, &message, &in, sizeof in, 0));
    }
    /* On a busy machine it may be past before the call looks at the queue: then it is further away. */
    bool was_full = false;
    const uint64_t then = message.time_ns;
    for (uint64_t after = 50000000; !was_full && after < SECONDS(40); after *= 3) {
        message = (qn_ring_message){.deadline_ns = then + after};
        assert_int_equal(qn_ring_send(r.ring, &message, &in, sizeof in, QN_FOREVER), QN_ERROR_TIMEOUT);
        was_full = strstr(qn_error_message(r.context), "was full");
    }
    assert_true(was_full);
    activate(&r);
    for (int i = 0; i < CAPACITY; i++) {
        assert_ok(r.context, qn_ring_receive(r.ring, &got, &out, sizeof out, SECONDS(60)));
        assert_true(got.deadline_ns == (i ? now + SECONDS(60) : 0));
    }
    finish(&r);
}

static void duplicates(void **state) {
    (void)state;
    enum { WINDOW = 8 };
    rig r = make_dormant(&(qn_ring_desc){.window = WINDOW, .policy = QN_RING_REJECT});
    qn_ring_stats stats;
    numbers in = {{1}};
    for (uint64_t i = 1; i <= 20; i++) {
        for (uint64_t back = 0; back < WINDOW && back < i; back += 3) {
            qn_ring_message message = {.correlation = 1000 + i - back};
            assert_ok(r.context, qn_ring_send(r.ring, &message, &in, sizeof in, 0));
            assert_int_equal(message.id != 0, back == 0);
        }
    }
    assert_ok(r.context, qn_ring_get_stats(r.ring, &stats));
    assert_int_equal(stats.sent, 20);
    assert_int_equal(stats.duplicates, 17 + 14);
    qn_ring_message old = {.correlation = 1000 + 12}, none = {0};
    assert_ok(r.context, qn_ring_send(r.ring, &old, &in, sizeof in, 0));
    assert_true(old.id != 0);
    for (int i = 0; i < 43; i++) assert_ok(r.context, qn_ring_send(r.ring, &none, &in, sizeof in, 0));
    /* What was not sent is not known. */
    for (int i = 0; i < 2; i++) {
        qn_ring_message message = {.correlation = 5};
        assert_fails(r.context, qn_ring_send(r.ring, &message, &in, sizeof in, 0), QN_ERROR_TIMEOUT,
                     "was full");
    }
    finish(&r);
}

/* ---- many at a time ---- */

enum { THREADS = 4, EACH = 60 };

typedef struct caller {
    const rig *r;
    int number, wrong;
    pthread_t thread;
} caller;

static void *call_many(void *argument) {
    caller *c = argument;
    for (int i = 0; i < EACH; i++) {
        const numbers in = {{c->number * EACH + i, i}};
        numbers out = {{0}};
        if (qn_ring_call(c->r->ring, &in, sizeof in, &out, sizeof out, SECONDS(60)) ||
            out.x[0] != 2 * in.x[0] + 1 || out.x[1] != 2 * i + 1)
            c->wrong++;
    }
    return NULL;
}

static void call_from_threads(const rig *r) {
    caller callers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        callers[i] = (caller){.r = r, .number = i};
        assert_int_equal(pthread_create(&callers[i].thread, NULL, call_many, &callers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(callers[i].thread, NULL);
        assert_int_equal(callers[i].wrong, 0);
    }
}

static void threads_and_groups(void **state) {
    (void)state;
    for (uint32_t groups = 1; groups <= 3; groups += 2) {
        qn_ring_stats stats;
        const qn_ring_mode mode =
            groups > 1 && testing("cpu") ? QN_RING_LAUNCHES : QN_RING_AUTO; /* for two threads */
        rig r = start(&(qn_ring_desc){.groups = groups, .mode = mode, .spins = 1000});
        call_from_threads(&r);
        assert_ok(r.context, qn_ring_stop(r.ring, QN_RING_DRAIN, SECONDS(60)));
        assert_ok(r.context, qn_ring_get_stats(r.ring, &stats));
        assert_int_equal(stats.sent, THREADS * EACH);
        assert_int_equal(stats.handled, THREADS * EACH);
        assert_int_equal(stats.received, THREADS * EACH);
        assert_int_equal(stats.latency.count, THREADS * EACH);
        assert_int_equal(stats.depth + stats.reply_depth + stats.lost + stats.late + stats.dropped, 0);
        finish(&r);
    }
}

/* A work-group handles a message together: each work-item adds up a part. */
static void a_group_handles_together(void **state) {
    (void)state;
    static const char text[] = "#include \"quern/ring.cl\"\n"
                               "typedef struct row { int x[256]; } row;\n"
                               "void sum(qn_ring *ring, local const row *in) {\n"
                               "    local int parts[32];\n"
                               "    int part = 0;\n"
                               "    for (int i = get_local_id(0); i < 256; i += 32) part += in->x[i];\n"
                               "    parts[get_local_id(0)] = part;\n"
                               "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                               "    if (get_local_id(0) == 0)\n"
                               "        for (int i = 1; i < 32; i++) parts[0] += parts[i];\n"
                               "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                               "    qn_ring_reply(ring, parts, sizeof *parts);\n"
                               "}\n";
    int row[256], sum;
    const qn_ring_desc desc = {.program = {.source = text},
                               .handler = "sum",
                               .message_type = "row",
                               .message_size = sizeof row,
                               .reply_size = sizeof sum,
                               .group_size = 32};
    if (device_emulates()) {
        rig other = make(&(qn_ring_desc){0});
        qn_ring *none;
        assert_fails(other.context, qn_ring_create(other.device, &desc, &none), QN_ERROR_UNSUPPORTED,
                     "group_size is 32");
        finish(&other);
        return;
    }
    rig r = start(&desc);
    for (int k = 0; k < 20; k++) {
        for (int i = 0; i < 256; i++) row[i] = i * k;
        assert_ok(r.context, qn_ring_call(r.ring, row, sizeof row, &sum, sizeof sum, SECONDS(60)));
        assert_int_equal(sum, 255 * 128 * k);
    }
    finish(&r);
}

/* Without barriers of their own: two messages of each handler, and the next one's. */
static void work_items_that_send_twice(void **state) {
    (void)state;
    static const char text[] = "#include \"quern/ring.cl\"\n"
                               "void both(qn_ring *ring, local const int *in) {\n"
                               "    int out[3] = {*in, *in, *in};\n"
                               "    qn_ring_reply(ring, out, 12);\n"
                               "    qn_ring_reply(ring, out, 4);\n"
                               "}\n";
    if (device_emulates()) return;
    int in[20], out[3];
    rig r = start(&(qn_ring_desc){.program = {.source = text},
                                  .handler = "both",
                                  .message_type = "int",
                                  .message_size = sizeof *in,
                                  .reply_size = sizeof out,
                                  .sends = 2,
                                  .group_size = 4});
    for (int i = 0; i < 20; i++) in[i] = i;
    const qn_ring_batch batch = {.payloads = in, .size = sizeof *in, .stride = sizeof *in, .count = 20};
    assert_ok(r.context, qn_ring_send_batch(r.ring, &batch, NULL, SECONDS(60)));
    for (int i = 0; i < 40; i++) {
        qn_ring_message message;
        assert_ok(r.context, qn_ring_receive(r.ring, &message, out, sizeof out, SECONDS(60)));
        assert_int_equal(message.size, i % 2 ? 4 : 12);
        assert_int_equal(out[0], i / 2);
    }
    finish(&r);
}

/* More work-groups than the device keeps are refused with the numbers. */
static void too_many_groups(void **state) {
    (void)state;
    qn_ring_desc desc = {.program = {.source = ring_text}, .handler = "twice", .groups = 1 << 20};
    rig r = make(&(qn_ring_desc){0});
    qn_ring_info info;
    qn_ring *ring;
    assert_ok(r.context, qn_ring_get_info(r.ring, &info));
    if (info.mode == QN_RING_RESIDENT)
        assert_fails(r.context, qn_ring_create(r.device, &desc, &ring), QN_ERROR_LAUNCH_SIZE,
                     "ring 'twice' wants 1048576 work-groups of 1; ");
    else
        assert_non_null(strstr(info.reason, "runs this ring as short launches: "));
    finish(&r);
}

/* ---- what it tells ---- */

static void telemetry(void **state) {
    (void)state;
    enum { COUNT = 40 };
    static char text[16384];
    qn_ring_stats stats;
    size_t needed;
    rig r = start(&(qn_ring_desc){.label = "a \"ring\""});
    for (int i = 0; i < COUNT; i++) {
        send_one(&r, i, i % 4 ? 0 : 255);
        receive_one(&r);
    }
    assert_ok(r.context, qn_ring_pause(r.ring, SECONDS(60)));
    assert_ok(r.context, qn_ring_get_stats(r.ring, &stats));
    const qn_ring_latency *l = &stats.latency;
    assert_int_equal(l->count, COUNT);
    assert_true(l->min_ns > 0 && l->min_ns <= l->p50_ns && l->p50_ns <= l->p99_ns && l->p99_ns <= l->p999_ns);
    assert_true(l->p999_ns <= l->max_ns && l->min_ns <= l->mean_ns && l->mean_ns <= l->max_ns);
    uint64_t all = 0;
    for (int i = 0; i < QN_RING_BUCKETS; i++) all += l->histogram[i];
    assert_int_equal(all, COUNT);
    assert_int_equal(stats.bands[0].sent, 30);
    assert_int_equal(stats.bands[3].sent, 10);
    assert_int_equal(stats.handled, COUNT);
    assert_true(stats.uptime_ns > 0 && stats.per_second > 0 && stats.launches >= 1);
    assert_ok(r.context, qn_ring_format_stats(r.ring, QN_RING_JSON, text, sizeof text, &needed));
    assert_int_equal(needed, strlen(text) + 1);
    assert_non_null(strstr(text, "{\"ring\": \"a \\\"ring\\\"\", \"device\": \""));
    assert_non_null(strstr(text, "\"state\": \"paused\", \"sent\": 40, \"handled\": 40, \"received\": 40"));
    assert_non_null(strstr(text, "{\"band\": 3, \"sent\": 10, \"dropped\": 0, \"depth\": 0, \"peak\": "));
    assert_ok(r.context, qn_ring_format_stats(r.ring, QN_RING_PROMETHEUS, text, sizeof text, NULL));
    assert_non_null(strstr(
        text, "# TYPE quern_ring_sent_total counter\nquern_ring_sent_total{ring=\"a \\\"ring\\\"\",device="));
    assert_non_null(
        strstr(text, "quern_ring_latency_seconds_bucket{ring=\"a \\\"ring\\\"\",le=\"+Inf\"} 40\n"));
    assert_fails(r.context, qn_ring_format_stats(r.ring, QN_RING_JSON, text, 10, &needed), QN_ERROR_RANGE,
                 "room for 10");
    assert_fails(r.context, qn_ring_format_stats(r.ring, (qn_ring_format)7, text, 10, NULL),
                 QN_ERROR_ARGUMENT, "format");
    assert_fails(r.context, qn_ring_get_stats(r.ring, NULL), QN_ERROR_NULL, "stats is NULL");
    finish(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(priorities_come_first),
        cmocka_unit_test(a_full_queue),
        cmocka_unit_test(deadlines),
        cmocka_unit_test(duplicates),
        cmocka_unit_test(batches),
        cmocka_unit_test(threads_and_groups),
        cmocka_unit_test(a_group_handles_together),
        cmocka_unit_test(work_items_that_send_twice),
        cmocka_unit_test(too_many_groups),
        cmocka_unit_test(telemetry),
    };
    return run_device_tests(tests);
}
