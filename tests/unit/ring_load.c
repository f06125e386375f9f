/* Rings under load whose calls meet launches in the midst: what a drop, a pause or a late look finds holds for all that was sent, also where the
   host learns of a launch behind its end. */
#include "ring_support.h"

#include <pthread.h>

enum { SENDERS = 3, EACH = 1500 };

/* As many answers as the second number says. */
static const char text[] =
    "#include \"quern/ring.cl\"\n"
    "typedef struct numbers { int x[4]; } numbers;\n"
    "void answer(qn_ring *ring, local const numbers *in) {\n"
    "    numbers out = *in;\n"
    "    for (out.x[2] = 0; out.x[2] < in->x[1]; out.x[2]++) qn_ring_reply(ring, &out, sizeof out);\n"
    "}\n";

static rig start_answering(const qn_ring_desc *how) {
    qn_ring_desc desc = *how;
    desc.program.source = text;
    desc.handler = "answer";
    desc.message_type = "numbers";
    return start(&desc);
}

static qn_ring_stats stats_of(const rig *r) {
    qn_ring_stats stats;
    assert_ok(r->context, qn_ring_get_stats(r->ring, &stats));
    return stats;
}

typedef struct sender {
    pthread_t thread;
    qn_ring *ring;
    int first;
    qn_status status;
    _Atomic bool *stops; /* NULL: it sends EACH */
} sender;

static void *send_each(void *argument) {
    sender *s = argument;
    for (int i = 0; s->stops ? !*s->stops : i < EACH; i++) {
        const numbers in = {{s->first + i % EACH, 1}};
        const qn_status status = qn_ring_send(s->ring, NULL, &in, sizeof in, SECONDS(60));
        if (status) s->status = status;
    }
    return NULL;
}

static void begin_senders(const rig *r, sender senders[SENDERS], _Atomic bool *stops) {
    for (int i = 0; i < SENDERS; i++) {
        senders[i] = (sender){.ring = r->ring, .first = i * EACH, .stops = stops};
        assert_int_equal(pthread_create(&senders[i].thread, NULL, send_each, &senders[i]), 0);
    }
}

static void end_senders(sender senders[SENDERS]) {
    for (int i = 0; i < SENDERS; i++) {
        pthread_join(senders[i].thread, NULL);
        assert_int_equal(senders[i].status, QN_OK);
    }
}

/* Of each sender a part arrives, in order; the others are counted. */
static void the_oldest_are_dropped(void **state) {
    (void)state;
    enum { ALL = SENDERS * EACH };
    for (uint32_t capacity = 2; capacity <= 32; capacity *= 4) {
        rig r = start_answering(&(qn_ring_desc){.policy = QN_RING_DROP_OLDEST,
                                                .capacity = capacity,
                                                .bands = 1,
                                                .reply_capacity = 2 * ALL,
                                                .budget = 3});
        sender senders[SENDERS];
        int last[SENDERS], got = 0;
        numbers out;
        for (int i = 0; i < SENDERS; i++) last[i] = -1;
        begin_senders(&r, senders, NULL);
        end_senders(senders);
        assert_ok(r.context, qn_ring_stop(r.ring, QN_RING_DRAIN, SECONDS(60)));
        for (; qn_ring_receive(r.ring, NULL, &out, sizeof out, 0) == QN_OK; got++) {
            assert_in_range(out.x[0], 0, ALL - 1);
            int *before = &last[out.x[0] / EACH];
            assert_true(out.x[0] % EACH > *before);
            *before = out.x[0] % EACH;
        }
        const qn_ring_stats stats = stats_of(&r);
        assert_int_equal(stats.sent, ALL);
        assert_int_equal(stats.handled, got);
        assert_int_equal(stats.handled + stats.dropped, ALL);
        finish(&r);
    }
}

/* From the pause's end on nothing is handled, and what was is there to be received. */
static void a_pause_is_one(void **state) {
    (void)state;
    rig r = start_answering(
        &(qn_ring_desc){.capacity = 256, .bands = 1, .reply_capacity = 4096, .policy = QN_RING_DROP_NEWEST});
    _Atomic bool stops = false;
    sender senders[SENDERS];
    uint64_t got = 0;
    numbers out;
    begin_senders(&r, senders, &stops);
    for (int turn = 0; turn < 20; turn++) {
        pause_ms(turn % 3);
        assert_ok(r.context, qn_ring_pause(r.ring, SECONDS(60)));
        const uint64_t handled = stats_of(&r).handled;
        while (qn_ring_receive(r.ring, NULL, &out, sizeof out, 0) == QN_OK) got++;
        assert_int_equal(got, handled);
        pause_ms(2);
        assert_int_equal(stats_of(&r).handled, handled);
        assert_ok(r.context, qn_ring_resume(r.ring, SECONDS(60)));
    }
    stops = true;
    end_senders(senders);
    finish(&r);
}

/* More answers than the ring was told of, around the end of the queue. */
static void more_answers_than_expected(void **state) {
    (void)state;
    rig r = start_answering(&(qn_ring_desc){.capacity = 16, .bands = 2, .reply_capacity = 64});
    for (int turn = 0; turn < 60; turn++) {
        const int count = turn % 5 + 1, each = 1 + turn % 7;
        numbers out;
        for (int i = 0; i < count; i++) {
            const numbers in = {{100 * turn + i, each}};
            assert_ok(r.context, qn_ring_send(r.ring, NULL, &in, sizeof in, SECONDS(60)));
        }
        for (int i = 0; i < count * each; i++) {
            assert_ok(r.context, qn_ring_receive(r.ring, NULL, &out, sizeof out, SECONDS(60)));
            assert_int_equal(out.x[0], 100 * turn + i / each);
            assert_int_equal(out.x[2], i % each);
        }
    }
    finish(&r);
}

/* A program that only sends, and looks now and then, has all of it handled. */
static void nobody_waits(void **state) {
    (void)state;
    enum { MESSAGES = 500 };
    rig r = start_answering(&(qn_ring_desc){.capacity = 512, .bands = 1, .reply_capacity = 16, .budget = 8});
    for (int i = 0; i < MESSAGES; i++) {
        const numbers in = {{i}};
        assert_ok(r.context, qn_ring_send(r.ring, NULL, &in, sizeof in, SECONDS(60)));
    }
    for (int i = 0; i < 60000 && stats_of(&r).handled < MESSAGES; i++) {
        pause_ms(1);
        assert_ok(r.context, qn_ring_watch(r.ring));
    }
    assert_int_equal(stats_of(&r).handled, MESSAGES);
    assert_int_equal(stats_of(&r).depth, 0);
    finish(&r);
}

/* Answers of any size, in each of their bytes, some rounds of the queue. */
static void large_answers(void **state) {
    (void)state;
    enum { WORDS = 700, ROUND = 4 };
    static const char words_text[] = "#include \"quern/ring.cl\"\n"
                                     "typedef struct words { uint x[700]; } words;\n"
                                     "void echo(qn_ring *ring, local const words *in) {\n"
                                     "    qn_ring_reply(ring, in, 4 * in->x[0]);\n"
                                     "}\n";
    rig r = start(&(qn_ring_desc){.program = {.source = words_text},
                                  .handler = "echo",
                                  .message_type = "words",
                                  .message_size = WORDS * sizeof(uint32_t),
                                  .reply_size = WORDS * sizeof(uint32_t),
                                  .capacity = ROUND,
                                  .reply_capacity = ROUND});
    for (uint32_t i = 0; i < 10 * ROUND; i++) {
        uint32_t in[WORDS], out[WORDS];
        qn_ring_message message;
        for (uint32_t k = 0; k < WORDS; k++) in[k] = i * WORDS + k;
        in[0] = WORDS - i;
        assert_ok(r.context, qn_ring_send(r.ring, NULL, in, sizeof in, SECONDS(60)));
        assert_ok(r.context, qn_ring_receive(r.ring, &message, out, sizeof out, SECONDS(60)));
        assert_int_equal(message.size, 4 * (WORDS - i));
        assert_memory_equal(out, in, message.size);
    }
    finish(&r);
}

/* From one ring to the other of a device, and back to the host. */
static void by_way_of_another(void **state) {
    (void)state;
    enum { MESSAGES = 300, AHEAD = 20 };
    static const char next_text[] = "#include \"quern/ring.cl\"\n"
                                    "typedef struct numbers { int x[4]; } numbers;\n"
                                    "void next(qn_ring *ring, local const numbers *in) {\n"
                                    "    numbers out = *in;\n"
                                    "    out.x[1]++;\n"
                                    "#if QN_RING_LINKS > 0\n"
                                    "    qn_ring_forward(ring, 0, &out, sizeof out);\n"
                                    "#else\n"
                                    "    qn_ring_reply(ring, &out, sizeof out);\n"
                                    "#endif\n"
                                    "}\n";
    qn_ring_desc desc = {.program = {.source = next_text},
                         .handler = "next",
                         .message_type = "numbers",
                         .bands = 1,
                         .links = 1};
    rig first = make(&desc);
    qn_ring *second;
    numbers out;
    desc.links = 0;
    desc.mail_capacity = 8;
    desc.message_size = sizeof out;
    assert_ok(first.context, qn_ring_create(first.device, &desc, &second));
    assert_ok(first.context, qn_ring_connect(&(qn_ring_link){first.ring, 0, second}, 1));
    qn_ring *const both[] = {first.ring, second};
    for (int i = 0; i < 2; i++) {
        assert_ok(first.context, qn_ring_launch(both[i], QN_FOREVER)); /* some drivers compile it now */
        assert_ok(first.context, qn_ring_activate(both[i], SECONDS(60)));
    }
    for (int i = 0; i < MESSAGES + AHEAD; i++) {
        const numbers in = {{i}};
        if (i < MESSAGES)
            assert_ok(first.context, qn_ring_send(first.ring, NULL, &in, sizeof in, SECONDS(60)));
        if (i < AHEAD) continue;
        assert_ok(first.context, qn_ring_receive(second, NULL, &out, sizeof out, SECONDS(60)));
        assert_int_equal(out.x[0], i - AHEAD);
        assert_int_equal(out.x[1], 2);
    }
    assert_ok(first.context, qn_ring_close(first.ring, SECONDS(60)));
    first.ring = second;
    finish(&first);
}

/* A device without memory that both sides see runs launches, and says why; a kernel that stays is refused. */
static void why_it_is_launched(void **state) {
    (void)state;
    static const char why[] = "the device has no memory that host and running kernels see alike";
    rig r = start_answering(&(qn_ring_desc){.bands = 1});
    qn_device_info device;
    qn_ring_info info;
    assert_ok(r.context, qn_device_get_info(r.device, &device));
    assert_ok(r.context, qn_ring_get_info(r.ring, &info));
    if (!(device.capabilities & QN_CAN_SHARE_COHERENTLY)) {
        const qn_ring_desc desc = {.program = {.source = text},
                                   .handler = "answer",
                                   .message_type = "numbers",
                                   .message_size = sizeof(numbers),
                                   .mode = QN_RING_RESIDENT};
        qn_ring *none;
        assert_int_equal(info.mode, QN_RING_LAUNCHES);
        assert_non_null(strstr(info.reason, why));
        assert_non_null(strstr(info.reason, "messages are copied before and behind each launch"));
        assert_fails(r.context, qn_ring_create(r.device, &desc, &none), QN_ERROR_UNSUPPORTED, why);
    }
    finish(&r);
}

static void none_on_null(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    const qn_ring_desc desc = {.program = {.source = text}, .handler = "answer"};
    qn_ring *none;
    assert_fails(context, qn_ring_create(get_device(context, "null"), &desc, &none), QN_ERROR_UNSUPPORTED,
                 "computes nothing, and so answers no messages");
    assert_ok(context, qn_context_close(context, SECONDS(60)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(why_it_is_launched),
        cmocka_unit_test(none_on_null),
        cmocka_unit_test(the_oldest_are_dropped),
        cmocka_unit_test(a_pause_is_one),
        cmocka_unit_test(more_answers_than_expected),
        cmocka_unit_test(nobody_waits),
        cmocka_unit_test(large_answers),
        cmocka_unit_test(by_way_of_another),
    };
    return run_device_tests(tests);
}
