/* Rings on any device: lifecycle, messages, replies, calls. */
#include "ring_support.h"

/* ---- exchanging ---- */

static void calls_and_replies(void **state) {
    (void)state;
    rig r = start(&(qn_ring_desc){0});
    for (int i = 0; i < 300; i++) { /* more than the queue has */
        numbers in = {{i, 2 * i, 3 * i, 4 * i}}, out = {{0}};
        assert_ok(r.context, qn_ring_call(r.ring, &in, sizeof in, &out, sizeof out, SECONDS(60)));
        assert_int_equal(out.x[0], 2 * i + 1);
        assert_int_equal(out.x[3], 8 * i + 1);
    }
    finish(&r);
}

/* Sent one after another, they come back in order, each as the answer to its message. */
static void order_is_kept(void **state) {
    (void)state;
    enum { COUNT = 60 };
    rig r = start(&(qn_ring_desc){0});
    for (int i = 0; i < COUNT; i++) {
        numbers in = {{i}};
        qn_ring_message message = {.type = 7};
        assert_ok(r.context, qn_ring_send(r.ring, &message, &in, sizeof in, SECONDS(60)));
        assert_int_equal(message.id, i + 1);
    }
    for (int i = 0; i < COUNT; i++) {
        numbers out;
        qn_ring_message message;
        assert_ok(r.context, qn_ring_receive(r.ring, &message, &out, sizeof out, SECONDS(60)));
        assert_int_equal(message.correlation, i + 1);
        assert_int_equal(message.size, sizeof out);
        assert_int_equal(out.x[0], 2 * i + 1);
    }
    finish(&r);
}

/* The whole loop by hand: each message is sent back from local memory, once as no answer and once as one. */
static void a_loop_by_hand(void **state) {
    (void)state;
    static const char text[] =
        "#include \"quern/ring.cl\"\n"
        "kernel void serve(QN_RING_PARAMETERS) {\n"
        "    QN_RING(ring);\n"
        "    while (qn_ring_receive(&ring)) {\n"
        "        if (qn_ring_should_stop(&ring)) continue;\n"
        "        qn_ring_send(&ring, qn_ring_payload(&ring), 8);\n"
        "        qn_ring_reply(&ring, qn_ring_payload(&ring), qn_ring_current(&ring)->size);\n"
        "    }\n"
        "}\n";
    rig r = start(&(qn_ring_desc){.program = {.source = text}, .loop = "serve", .sends = 2});
    for (int i = 0; i < 5; i++) {
        const numbers in = {{i, 5, 6, 7}};
        numbers out = {{0}};
        qn_ring_message message;
        assert_ok(r.context, qn_ring_call(r.ring, &in, 15, &out, sizeof out, SECONDS(60)));
        assert_memory_equal(&in, &out, 15);
        assert_ok(r.context, qn_ring_receive(r.ring, &message, &out, sizeof out, SECONDS(60)));
        assert_int_equal(message.correlation, 0);
        assert_int_equal(message.size, 8);
        assert_int_equal(out.x[0], i);
    }
    finish(&r);
}

/* ---- the lifecycle ---- */

static void states_are_kept(void **state) {
    (void)state;
    numbers in = {{1}}, out;
    rig r = make(&(qn_ring_desc){0});
    qn_context *c = r.context;
    assert_int_equal(state_of(&r), QN_RING_CREATED);
    assert_fails(c, qn_ring_activate(r.ring, 0), QN_ERROR_STATE, "qn_ring_activate: ring 'twice' is created");
    assert_fails(c, qn_ring_pause(r.ring, 0), QN_ERROR_STATE, "created");
    assert_fails(c, qn_ring_resume(r.ring, 0), QN_ERROR_STATE, "created");
    assert_fails(c, qn_ring_stop(r.ring, QN_RING_DRAIN, 0), QN_ERROR_STATE, "created");
    assert_fails(c, qn_ring_send(r.ring, NULL, &in, sizeof in, 0), QN_ERROR_STATE, "created");
    assert_fails(c, qn_ring_receive(r.ring, NULL, &in, sizeof in, 0), QN_ERROR_STATE, "nothing is left");
    for (int round = 0; round < 2; round++) {
        assert_ok(c, qn_ring_launch(r.ring, SECONDS(60)));
        assert_int_equal(state_of(&r), QN_RING_LAUNCHED);
        assert_fails(c, qn_ring_launch(r.ring, 0), QN_ERROR_STATE, "launched");
        assert_fails(c, qn_ring_call(r.ring, &in, sizeof in, &out, sizeof out, 20000000), QN_ERROR_TIMEOUT,
                     "has not answered in 20000 us");
        assert_ok(c, qn_ring_activate(r.ring, SECONDS(60)));
        assert_ok(c, qn_ring_call(r.ring, &in, sizeof in, &out, sizeof out, SECONDS(60)));
        assert_ok(c, qn_ring_pause(r.ring, SECONDS(60)));
        assert_fails(c, qn_ring_call(r.ring, &in, sizeof in, &out, sizeof out, 20000000), QN_ERROR_TIMEOUT,
                     "");
        assert_int_equal(state_of(&r), QN_RING_PAUSED);
        assert_ok(c, qn_ring_resume(r.ring, SECONDS(60)));
        assert_ok(c, qn_ring_send(r.ring, NULL, &in, sizeof in, SECONDS(60)));
        assert_ok(c, qn_ring_stop(r.ring, QN_RING_DRAIN, SECONDS(60)));
        assert_int_equal(state_of(&r), QN_RING_STOPPED);
        assert_ok(c, qn_ring_stop(r.ring, QN_RING_DRAIN, 0));
        assert_ok(c, qn_ring_receive(r.ring, NULL, &out, sizeof out, 0));
        assert_fails(c, qn_ring_receive(r.ring, NULL, &out, sizeof out, 0), QN_ERROR_STATE, "stopped");
        assert_fails(c, qn_ring_send(r.ring, NULL, &in, sizeof in, 0), QN_ERROR_STATE, "stopped");
    }
    finish(&r);
}

static void count_errors(void *user, qn_log_level level, const char *message) {
    (void)message;
    if (level == QN_LOG_ERROR) ++*(int *)user;
}

/* Looking for a message, or for the end of a stream's work, in vain is no error for the log; a wrong call is. */
static void deadlines_are_no_errors(void **state) {
    (void)state;
    int errors = 0;
    rig r = {.context = make_context(&(qn_context_desc){.log = count_errors, .log_user = &errors})};
    numbers in = {{1}}, out;
    bool done = false;
    r.device = get_device(r.context, test_device());
    const qn_ring_desc desc = {.program = {.source = ring_text},
                               .handler = "twice",
                               .message_type = "numbers",
                               .message_size = sizeof(numbers),
                               .capacity = 64,
                               .bands = 4};
    assert_ok(r.context, qn_ring_create(r.device, &desc, &r.ring));
    assert_ok(r.context, qn_ring_launch(r.ring, SECONDS(60)));
    assert_ok(r.context, qn_ring_activate(r.ring, SECONDS(60)));
    assert_fails(r.context, qn_ring_receive(r.ring, NULL, &out, sizeof out, 0), QN_ERROR_TIMEOUT,
                 "nothing came");
    assert_fails(r.context, qn_ring_receive(r.ring, NULL, &out, sizeof out, 1000000), QN_ERROR_TIMEOUT, "");
    assert_ok(r.context, qn_ring_send(r.ring, NULL, &in, sizeof in, SECONDS(60)));
    while (!done) {
        const qn_status status = qn_ring_receive(r.ring, NULL, &out, sizeof out, 0);
        done = status != QN_ERROR_TIMEOUT;
        if (done) assert_ok(r.context, status);
    }
    assert_int_equal(out.x[0], 3);
    assert_int_equal(errors, 0);
    assert_fails(r.context, qn_ring_receive(r.ring, NULL, NULL, 4, 0), QN_ERROR_NULL, "payload is NULL");
    assert_int_equal(errors, 1);
    finish(&r);
}

/* Between messages it ends by itself, and comes again. */
static void it_parks(void **state) {
    (void)state;
    static const qn_ring_idle idles[] = {QN_RING_ADAPTIVE, QN_RING_EVENTS};
    for (size_t k = 0; k < sizeof idles / sizeof *idles; k++) {
        rig r = start(&(qn_ring_desc){.idle = idles[k], .spins = 1});
        qn_ring_stats stats = {0};
        for (int i = 0; i < 20 || (i < 20000 && stats.launches < 4); i++) {
            numbers in = {{i}}, out = {{0}};
            if (i % 5 == 0) pause_ms(2);
            assert_ok(r.context, qn_ring_get_stats(r.ring, &stats));
            assert_ok(r.context, qn_ring_call(r.ring, &in, sizeof in, &out, sizeof out, SECONDS(60)));
            assert_int_equal(out.x[0], 2 * i + 1);
        }
        assert_true(stats.launches >= 4);
        finish(&r);
    }
}

/* One that looks for ever is launched once. */
static void it_does_not_park(void **state) {
    (void)state;
    rig r = start(&(qn_ring_desc){.idle = QN_RING_CONTINUOUS});
    qn_ring_stats stats;
    for (int i = 0; i < 10; i++) {
        numbers in = {{i}}, out;
        pause_ms(2);
        assert_ok(r.context, qn_ring_call(r.ring, &in, sizeof in, &out, sizeof out, SECONDS(60)));
    }
    assert_ok(r.context, qn_ring_get_stats(r.ring, &stats));
    if (!runs_by_launches(&r)) assert_int_equal(stats.launches, 1);
    finish(&r);
}

/* ---- what cannot be ---- */

static void wrong_calls(void **state) {
    (void)state;
    rig r = start(&(qn_ring_desc){0});
    char big[128] = {0};
    qn_ring_info info;
    numbers in = {{1}}, out;
    qn_ring_message message = {.priority = 256};
    qn_context *c = r.context;
    assert_fails(NULL, qn_ring_launch(NULL, 0), QN_ERROR_NULL, "qn_ring_launch: ring is NULL");
    assert_fails(c, qn_ring_get_info(r.ring, NULL), QN_ERROR_NULL, "info is NULL");
    assert_fails(c, qn_ring_send(r.ring, NULL, big, sizeof big, 0), QN_ERROR_RANGE, "at most 16");
    assert_fails(c, qn_ring_send(r.ring, NULL, NULL, 4, 0), QN_ERROR_NULL, "payload is NULL");
    assert_fails(c, qn_ring_send(r.ring, &message, &in, 4, 0), QN_ERROR_RANGE, "priority is 256");
    assert_fails(c, qn_ring_receive(r.ring, NULL, NULL, 4, 0), QN_ERROR_NULL, "payload is NULL");
    assert_fails(c, qn_ring_receive(r.ring, NULL, &out, sizeof out, 1000), QN_ERROR_TIMEOUT, "nothing came");
    assert_fails(c, qn_ring_call(r.ring, &in, sizeof in, &out, 4, SECONDS(60)), QN_ERROR_RANGE,
                 "has 16 bytes");
    assert_ok(c, qn_ring_send(r.ring, NULL, &in, sizeof in, SECONDS(60)));
    assert_fails(c, qn_ring_receive(r.ring, NULL, &out, 4, SECONDS(60)), QN_ERROR_RANGE,
                 "there is room for 4");
    assert_ok(c, qn_ring_receive(r.ring, NULL, &out, sizeof out, SECONDS(60)));
    assert_ok(c, qn_ring_get_info(r.ring, &info));
    assert_string_equal(info.label, "twice");
    assert_int_equal(info.capacity, 64);
    assert_int_equal(info.reply_capacity, 256);
    finish(&r);
}

#define INCLUDE       "#include \"quern/ring.cl\"\n"
#define CALLING(call) INCLUDE "void one(qn_ring *r, local const void *in) { " call "; }\n"
#define STATE_TEXT    INCLUDE "void one(qn_ring *r, local const void *in, global int4 *s) { *s += 1; }\n"

static void wrong_descriptors(void **state) {
    (void)state;
    rig r = make(&(qn_ring_desc){0});
    qn_buffer *small = make_buffer(r.device, 8, NULL);
    const struct {
        qn_ring_desc desc;
        qn_status status;
        const char *why;
    } rows[] = {
        {{.handler = NULL}, QN_ERROR_ARGUMENT, "either `handler` or `loop`"},
        {{.handler = "twice", .bands = 5}, QN_ERROR_RANGE, "bands is 5; at most 4"},
        {{.handler = "twice", .message_size = 1 << 20}, QN_ERROR_RANGE, "message_size is 1048576"},
        {{.handler = "twice", .mode = (qn_ring_mode)9}, QN_ERROR_ARGUMENT, "mode"},
        {{.handler = "twice"}, QN_ERROR_ARGUMENT, "program needs"},
        {{.handler = "nobody", .program = {.source = ring_text}}, QN_ERROR_COMPILE, "nobody"},
        {{.handler = "twice", .message_type = "numbers", .program = {.source = ring_text}},
         QN_ERROR_COMPILE,
         "message_size is not the size"},
        {{.handler = "twice", .program = {.source = ring_text}, .state_type = "int"},
         QN_ERROR_ARGUMENT,
         "state_type is 'int', and `state` is NULL"},
        {{.handler = "one", .program = {.source = STATE_TEXT}, .state_type = "int4", .state = small},
         QN_ERROR_COMPILE,
         "the ring's state is smaller than its state_type"},
        {{.loop = "loop", .program = {.source = "kernel void loop(global int *x) { x[0] = 1; }"}},
         QN_ERROR_ARGUMENT,
         "kernel 'loop' has 1 parameters, which are not QN_RING_PARAMETERS"},
        {{.handler = "one", .program = {.source = CALLING("qn_ring_forward(r, 0, in, 4)")}},
         QN_ERROR_COMPILE,
         "the_descriptor_has_no_links"},
        {{.handler = "one", .program = {.source = CALLING("qn_ring_publish(r, 0, in, 4)")}},
         QN_ERROR_COMPILE,
         "the_descriptor_has_no_links"},
        {{.handler = "one", .program = {.source = CALLING("qn_ring_meet(r, 0, 0, 1)")}},
         QN_ERROR_COMPILE,
         "the_descriptor_has_no_links"},
        {{.handler = "one", .program = {.source = CALLING("qn_ring_block(r)")}},
         QN_ERROR_COMPILE,
         "the_descriptor_has_no_blocks"},
        {{.handler = "one", .program = {.source = CALLING("qn_ring_reply_block(r, in, 4)")}},
         QN_ERROR_COMPILE,
         "the_descriptor_has_no_blocks"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        qn_ring *ring;
        assert_fails(r.context, qn_ring_create(r.device, &rows[i].desc, &ring), rows[i].status, rows[i].why);
        assert_null(ring);
    }
    qn_ring *ring;
    assert_fails(r.context, qn_ring_create(r.device, NULL, &ring), QN_ERROR_NULL, "desc is NULL");
    assert_fails(r.context, qn_ring_create_for(99, r.device, &rows[0].desc, &ring), QN_ERROR_UNSUPPORTED,
                 "99");
    qn_buffer_destroy(small);
    finish(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_and_replies),
        cmocka_unit_test(order_is_kept),
        cmocka_unit_test(a_loop_by_hand),
        cmocka_unit_test(states_are_kept),
        cmocka_unit_test(it_parks),
        cmocka_unit_test(it_does_not_park),
        cmocka_unit_test(wrong_calls),
        cmocka_unit_test(wrong_descriptors),
        cmocka_unit_test(deadlines_are_no_errors),
    };
    return run_device_tests(tests);
}
