/* Rings whose work-items handle a message each (per_item), on any device that has work-groups; and those that copy several at a time
   for one work-item (read_ahead), which a processor's does not do. */
#include "ring/internal.h"
#include "ring_support.h"

/* x[0] messages go out, the last one as the answer, each with what its message has in x[1] and its number; of 9 a send fails; -1
   gives up; -2 never comes back. */
static const char text[] =
    "#include \"quern/ring.cl\"\n"
    "typedef struct numbers { int x[4]; } numbers;\n"
    "void answer(qn_ring *ring, local const numbers *in) {\n"
    "    numbers out = *in;\n"
    "    if (in->x[0] == -1) qn_ring_fail(ring, 7);\n"
    "    while (in->x[0] == -2 && out.x[3] != 12345) out.x[3] = 2 * out.x[3] + in->x[1];\n"
    "    for (out.x[2] = 1; out.x[2] < in->x[0]; out.x[2]++) {\n"
    "        if (!qn_ring_send(ring, &out, sizeof out)) return;\n"
    "    }\n"
    "    if (in->x[0] > 0) qn_ring_reply(ring, &out, sizeof out);\n"
    "}\n";

static qn_ring_desc batch_desc(uint32_t group_size) {
    return (qn_ring_desc){.program = {.source = text},
                          .handler = "answer",
                          .message_type = "numbers",
                          .message_size = sizeof(numbers),
                          .group_size = group_size,
                          .per_item = true,
                          .bands = 1,
                          .capacity = 64};
}

static void send_numbers(const rig *r, int first, int count, int sends, uint32_t priority) {
    numbers in[64];
    for (int i = 0; i < count; i++) in[i] = (numbers){{sends < 0 ? i % -sends : sends, first + i}};
    const qn_ring_batch batch = {.payloads = in,
                                 .size = sizeof *in,
                                 .stride = sizeof *in,
                                 .count = (uint32_t)count,
                                 .priority = priority};
    uint32_t sent;
    assert_ok(r->context, qn_ring_send_batch(r->ring, &batch, &sent, SECONDS(60)));
    assert_int_equal(sent, count);
}

/* All of them wait before the first is taken. */
static void send_while_paused(const rig *r, const numbers *in, uint32_t count) {
    const qn_ring_batch batch = {.payloads = in, .size = sizeof *in, .stride = sizeof *in, .count = count};
    uint32_t sent;
    assert_ok(r->context, qn_ring_pause(r->ring, SECONDS(60)));
    assert_ok(r->context, qn_ring_send_batch(r->ring, &batch, &sent, SECONDS(60)));
    assert_ok(r->context, qn_ring_resume(r->ring, SECONDS(60)));
}

static void expect(const rig *r, int value, int number) {
    numbers out;
    qn_ring_message message;
    assert_ok(r->context, qn_ring_receive(r->ring, &message, &out, sizeof out, SECONDS(60)));
    assert_int_equal(message.size, sizeof out);
    assert_int_equal(out.x[1], value);
    assert_int_equal(out.x[2], number);
}

/* Batches of all lengths, and rests of the queue: it wraps in the midst of them. */
static void in_order(void **state) {
    (void)state;
    const qn_ring_desc desc = batch_desc(8);
    rig r = start(&desc);
    qn_ring_stats stats;
    uint64_t clock = 0, id = 0;
    for (int i = 0, sent = 0; i < 40; i++) {
        send_numbers(&r, sent, i + 1, 1, 0);
        for (int k = 0; k <= i; k++, sent++) {
            numbers out;
            qn_ring_message message;
            assert_ok(r.context, qn_ring_receive(r.ring, &message, &out, sizeof out, SECONDS(60)));
            assert_int_equal(out.x[1], sent);
            assert_int_equal(message.correlation, sent + 1);
            assert_int_equal(message.id, ++id);
            assert_true(message.clock > clock);
            clock = message.clock;
        }
    }
    assert_ok(r.context, qn_ring_stop(r.ring, QN_RING_DRAIN, SECONDS(60)));
    assert_ok(r.context, qn_ring_get_stats(r.ring, &stats));
    assert_int_equal(stats.handled, 820);
    assert_int_equal(stats.replied, 820);
    finish(&r);
}

/* Fewer work-items than parts of a batch whose clocks they compare, and answers that end within 16 bytes: with each kernel under
   the checker nothing is read that was not written. */
static void few_work_items(void **state) {
    (void)state;
    qn_ring_desc desc = batch_desc(3);
    desc.program.source = "#include \"quern/ring.cl\"\n"
                          "void answer(qn_ring *ring, local const void *message) {\n"
                          "    local const int *in = message;\n"
                          "    int out[3] = {in[0], in[1], 1};\n"
                          "    qn_ring_reply(ring, out, sizeof out);\n"
                          "}\n";
    desc.message_type = NULL;
    rig r = start(&desc);
    for (int i = 0; i < 40; i += 8) {
        int out[3];
        qn_ring_message message;
        send_numbers(&r, i, 8, 1, 0);
        for (int k = 0; k < 8; k++) {
            assert_ok(r.context, qn_ring_receive(r.ring, &message, out, sizeof out, SECONDS(60)));
            assert_int_equal(message.size, sizeof out);
            assert_int_equal(out[1], i + k);
        }
    }
    finish(&r);
}

static void calls(void **state) {
    (void)state;
    qn_ring_desc desc = batch_desc(4);
    rig r = start(&desc);
    for (int i = 0; i < 100; i++) {
        const numbers in = {{1, i}};
        numbers out;
        assert_ok(r.context, qn_ring_call(r.ring, &in, sizeof in, &out, sizeof out, SECONDS(60)));
        assert_int_equal(out.x[1], i);
    }
    finish(&r);
}

/* None to three for a message; one more than the descriptor says is refused, and counted. */
static void several_sends(void **state) {
    (void)state;
    qn_ring_desc desc = batch_desc(8);
    desc.sends = 3;
    rig r = start(&desc);
    qn_ring_stats stats;
    for (int round = 0; round < 10; round++) {
        send_numbers(&r, 40 * round, 40, -4, 0);
        for (int i = 0; i < 40; i++)
            for (int k = 1; k <= i % 4; k++) expect(&r, 40 * round + i, k);
    }
    send_numbers(&r, 1000, 1, 9, 0);
    for (int k = 1; k <= 3; k++) expect(&r, 1000, k);
    assert_ok(r.context, qn_ring_stop(r.ring, QN_RING_DRAIN, SECONDS(60)));
    assert_ok(r.context, qn_ring_get_stats(r.ring, &stats));
    assert_int_equal(stats.replied, 10 * 60 + 3);
    assert_int_equal(stats.lost, 1);
    finish(&r);
}

/* The output takes a part of what waits. */
static void little_room(void **state) {
    (void)state;
    qn_ring_desc desc = batch_desc(8);
    desc.reply_capacity = 16;
    rig r = start(&desc);
    for (int round = 0; round < 5; round++) {
        send_numbers(&r, 64 * round, 64, 1, 0);
        pause_ms(5);
        for (int i = 0; i < 64; i++) expect(&r, 64 * round + i, 1);
    }
    finish(&r);
}

static void highest_first(void **state) {
    (void)state;
    qn_ring_desc desc = batch_desc(8);
    desc.bands = 4;
    rig r = start(&desc);
    assert_ok(r.context, qn_ring_pause(r.ring, SECONDS(60)));
    send_numbers(&r, 0, 20, 1, 10);
    send_numbers(&r, 100, 20, 1, 250);
    send_numbers(&r, 200, 20, 1, 100);
    assert_ok(r.context, qn_ring_resume(r.ring, SECONDS(60)));
    static const int firsts[] = {100, 200, 0};
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 20; i++) expect(&r, firsts[k] + i, 1);
    finish(&r);
}

/* Sends 20 messages of which number 7 gives up. */
static void fail_one(const rig *r) {
    numbers in[20];
    for (int i = 0; i < 20; i++) in[i] = (numbers){{i == 7 ? -1 : 1, i}};
    send_while_paused(r, in, 20);
    assert_fails(r->context, wait_for_failure(r), QN_ERROR_KERNEL_FAILED,
                 "its handler gave up message 8 with code 7 (qn_ring_fail)");
}

/* It alone is a dead letter; those beside it are answered, those behind it later. */
static void one_that_fails(void **state) {
    (void)state;
    qn_ring_desc descs[] = {batch_desc(8), batch_desc(1)};
    descs[1].per_item = false;
    descs[1].read_ahead = 8;
    for (int k = 0; k < 2; k++) {
        rig r = start(&descs[k]);
        numbers out;
        qn_ring_message message;
        fail_one(&r);
        assert_ok(r.context, qn_ring_restart(r.ring, SECONDS(60)));
        assert_ok(r.context, qn_ring_dead_letter(r.ring, &message, &out, sizeof out));
        assert_int_equal(message.id, 8);
        assert_int_equal(out.x[1], 7);
        assert_fails(r.context, qn_ring_dead_letter(r.ring, NULL, &out, sizeof out), QN_ERROR_STATE,
                     "has none");
        assert_ok(r.context, qn_ring_activate(r.ring, SECONDS(60)));
        for (int i = 0; i < 20; i++)
            if (i != 7) expect(&r, i, 1);
        assert_fails(r.context, qn_ring_receive(r.ring, NULL, &out, sizeof out, 1000000), QN_ERROR_TIMEOUT,
                     "");
        finish(&r);
    }
}

/* The slot of one that fails stays full while those before and behind it are free: a sender sees it, and the failure. */
static void sending_beside_a_failure(void **state) {
    (void)state;
    qn_ring_desc desc = batch_desc(8);
    rig r = start(&desc);
    numbers in[64];
    uint32_t sent;
    for (int i = 0; i < 64; i++) in[i] = (numbers){{i == 3 ? -1 : 1, i}};
    send_while_paused(&r, in, 64);
    qn_ring_stats stats = {0};
    for (int i = 0; i < 60000 && stats.handled < 7; i++) {
        pause_ms(1);
        assert_ok(r.context, qn_ring_get_stats(r.ring, &stats));
    }
    assert_int_equal(stats.handled, 7);
    const qn_ring_batch batch = {.payloads = in, .size = sizeof *in, .stride = sizeof *in, .count = 8};
    assert_fails(r.context, qn_ring_send_batch(r.ring, &batch, &sent, SECONDS(60)), QN_ERROR_KERNEL_FAILED,
                 "its handler gave up message 4 with code 7 (qn_ring_fail)");
    assert_int_equal(sent, 3);
    finish(&r);
}

/* Where one never comes back those beside it are lost with it, and are dead letters all; those behind them are not. */
static void one_that_never_comes_back(void **state) {
    (void)state;
    if (!device_can(QN_CAN_CANCEL, "work that can be cancelled")) return;
    qn_ring_desc desc = batch_desc(4);
    desc.handler_ns = SECONDS(3);
    desc.budget = 4;
    rig r = start(&desc);
    /* Where nothing is seen of a launch before it ends all its messages have their time. */
    if (r.ring->mirror) r.ring->desc.handler_ns = SECONDS(1);
    numbers in[20], out;
    uint32_t dead = 0;
    for (int i = 0; i < 20; i++) in[i] = (numbers){{i == 10 ? -2 : 1, i}};
    send_while_paused(&r, in, 20);
    assert_fails(r.context, wait_for_failure(&r), QN_ERROR_KERNEL_FAILED, "its handler has been at message ");
    assert_ok(r.context, qn_ring_restart(r.ring, SECONDS(60)));
    int first = 20;
    for (; qn_ring_dead_letter(r.ring, NULL, &out, sizeof out) == QN_OK; dead++) {
        if (dead == 0) first = out.x[1];
        assert_int_equal(out.x[1], first + (int)dead);
    }
    assert_in_range(first, 7, 10);
    assert_int_equal(dead, 4);
    assert_ok(r.context, qn_ring_activate(r.ring, SECONDS(60)));
    for (int i = 0; i < 20; i++)
        if (i < first || i >= first + 4) expect(&r, i, 1);
    finish(&r);
}

/* Each message has the budget of iterations, of which looking for messages, by however many work-items, takes none. */
static void a_budget_of_iterations(void **state) {
    (void)state;
    qn_ring_desc desc = batch_desc(4);
    desc.idle = QN_RING_CONTINUOUS;
    desc.program =
        (qn_program_desc){.safe = true,
                          .loop_budget = 1000,
                          .source = "#include \"quern/ring.cl\"\n"
                                    "typedef struct numbers { int x[4]; } numbers;\n"
                                    "void answer(qn_ring *ring, local const numbers *in) {\n"
                                    "    numbers out = *in;\n"
                                    "    for (int i = 0; i < 1000 - in->x[0] * 10; i++)\n"
                                    "        out.x[2] = out.x[2] * out.x[2] + i % (in->x[0] + 7);\n"
                                    "    qn_ring_reply(ring, &out, sizeof out);\n"
                                    "}\n"};
    for (int k = 0; k < 3; k++) {
        desc.per_item = k == 0;
        if (k == 2) { /* a compiler takes ten times as long for four work-items' mail */
            desc.group_size = 1;
            desc.mail_capacity = 16;
        }
        rig r = start(&desc);
        for (int i = 0; i < 5; i++) {
            pause_ms(10); /* it looks more often than that */
            send_numbers(&r, 20 * i, 20, 1, 0);
            for (int m = 0; m < 20; m++) {
                numbers out;
                assert_ok(r.context, qn_ring_receive(r.ring, NULL, &out, sizeof out, SECONDS(60)));
                assert_int_equal(out.x[1], 20 * i + m);
            }
        }
        const numbers many = {{-1}};
        assert_ok(r.context, qn_ring_send(r.ring, NULL, &many, sizeof many, SECONDS(60)));
        assert_fails(
            r.context, wait_for_failure(&r), QN_ERROR_KERNEL_FAILED,
            "ring_text.cl:5: kernel 'qn_handler_answer' has a loop that goes on when a work-item's have "
            "gone round 1000 times");
        assert_ok(r.context, qn_ring_restart(r.ring, SECONDS(60)));
        finish(&r);
    }
}

/* What was sent is handled before the ring stops, and what waits while it is paused afterwards. */
static void pauses_and_stops(void **state) {
    (void)state;
    qn_ring_desc desc = batch_desc(8);
    rig r = start(&desc);
    numbers out;
    send_numbers(&r, 0, 30, 1, 0);
    assert_ok(r.context, qn_ring_pause(r.ring, SECONDS(60)));
    send_numbers(&r, 30, 30, 1, 0);
    assert_ok(r.context, qn_ring_resume(r.ring, SECONDS(60)));
    assert_ok(r.context, qn_ring_stop(r.ring, QN_RING_DRAIN, SECONDS(60)));
    for (int i = 0; i < 60; i++) expect(&r, i, 1);
    assert_fails(r.context, qn_ring_receive(r.ring, NULL, &out, sizeof out, 0), QN_ERROR_STATE, "");
    assert_ok(r.context, qn_ring_launch(r.ring, SECONDS(60)));
    assert_ok(r.context, qn_ring_activate(r.ring, SECONDS(60)));
    send_numbers(&r, 0, 30, 1, 0);
    for (int i = 0; i < 30; i++) expect(&r, i, 1);
    finish(&r);
}

/* Each launch takes 10 messages at most. */
static void short_launches(void **state) {
    (void)state;
    qn_ring_desc desc = batch_desc(8);
    desc.mode = QN_RING_LAUNCHES;
    desc.budget = 10;
    rig r = start(&desc);
    qn_ring_stats stats;
    for (int round = 0; round < 4; round++) {
        send_numbers(&r, 64 * round, 64, 1, 0);
        for (int i = 0; i < 64; i++) expect(&r, 64 * round + i, 1);
    }
    assert_ok(r.context, qn_ring_get_stats(r.ring, &stats));
    assert_true(stats.launches >= 26);
    finish(&r);
}

/* Each message once, by several work-groups. */
static void several_groups(void **state) {
    (void)state;
    const qn_context_desc threads = {.cpu_threads = 6};
    rig r = {.context = make_context(&threads)};
    qn_ring_desc desc = batch_desc(4);
    static bool seen[20 * 50];
    memset(seen, 0, sizeof seen);
    desc.groups = 2;
    r.device = get_device(r.context, test_device());
    assert_ok(r.context, qn_ring_create(r.device, &desc, &r.ring));
    assert_ok(r.context, qn_ring_launch(r.ring, SECONDS(60)));
    assert_ok(r.context, qn_ring_activate(r.ring, SECONDS(60)));
    for (int round = 0; round < 20; round++) {
        send_numbers(&r, 50 * round, 50, 1, 0);
        for (int i = 0; i < 50; i++) {
            numbers out;
            assert_ok(r.context, qn_ring_receive(r.ring, NULL, &out, sizeof out, SECONDS(60)));
            assert_in_range(out.x[1], 0, 999);
            assert_false(seen[out.x[1]]);
            seen[out.x[1]] = true;
        }
    }
    finish(&r);
}

static void refusals(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, test_device());
    qn_ring *ring;
    qn_ring_desc desc = batch_desc(8);
    desc.policy = QN_RING_DROP_OLDEST;
    assert_fails(context, qn_ring_create(device, &desc, &ring), QN_ERROR_ARGUMENT,
                 "per_item goes with a handler");
    desc = batch_desc(8);
    desc.links = 1;
    assert_fails(context, qn_ring_create(device, &desc, &ring), QN_ERROR_ARGUMENT,
                 "per_item goes with a handler");
    desc = batch_desc(128);
    assert_fails(
        context, qn_ring_create(device, &desc, &ring), QN_ERROR_RANGE,
        "per_item and a group_size of 128 take a capacity of 128, and a reply_capacity of 256 at least");
    desc.capacity = desc.reply_capacity = 4096;
    desc.message_size = 60000;
    assert_fails(context, qn_ring_create(device, &desc, &ring), QN_ERROR_RANGE,
                 "128 work-items with a message each take ");
    desc = batch_desc(8);
    desc.program.source =
        "#include \"quern/ring.cl\"\n"
        "typedef struct numbers { int x[4]; } numbers;\n"
        "void answer(qn_ring *ring, local const numbers *in) { barrier(CLK_LOCAL_MEM_FENCE); }\n";
    assert_fails(context, qn_ring_create(device, &desc, &ring), QN_ERROR_COMPILE,
                 "a_handler_of_one_of_several_messages_has_no_barriers");
    static const char *const together[] = {"work_group_reduce_add(x)",
                                           "work_group_broadcast(x, 0)",
                                           "work_group_any(x)",
                                           "sub_group_scan_inclusive_max(x)",
                                           "sub_group_shuffle_xor(x, 1)",
                                           "sub_group_non_uniform_reduce_add(x)",
                                           "sub_group_clustered_reduce_min(x, 2)"};
    for (size_t i = 0; i < sizeof together / sizeof *together; i++) {
        char source[512];
        snprintf(source, sizeof source,
                 "#include \"quern/ring.cl\"\n"
                 "typedef struct numbers { int x[4]; } numbers;\n"
                 "void answer(qn_ring *ring, local const numbers *in) {\n"
                 "    int x = in->x[0];\n"
                 "    x = %s;\n"
                 "    qn_ring_reply(ring, &x, sizeof x);\n"
                 "}\n",
                 together[i]);
        desc.program.source = source;
        assert_fails(context, qn_ring_create(device, &desc, &ring), QN_ERROR_COMPILE,
                     "a_handler_of_one_of_several_messages_has_no_collectives");
    }
    qn_context_destroy(context);
}

/* Software drivers have no groups whose work-items wait for one. */
static bool has_groups(void) {
    qn_context *context = make_context(NULL);
    qn_device_info info;
    assert_ok(context, qn_device_get_info(get_device(context, test_device()), &info));
    qn_context_destroy(context);
    return !(info.capabilities & QN_CAN_EMULATE);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(in_order),
                                       cmocka_unit_test(calls),
                                       cmocka_unit_test(few_work_items),
                                       cmocka_unit_test(several_sends),
                                       cmocka_unit_test(little_room),
                                       cmocka_unit_test(highest_first),
                                       cmocka_unit_test(one_that_fails),
                                       cmocka_unit_test(sending_beside_a_failure),
                                       cmocka_unit_test(pauses_and_stops),
                                       cmocka_unit_test(short_launches),
                                       cmocka_unit_test(several_groups),
                                       cmocka_unit_test(a_budget_of_iterations),
                                       cmocka_unit_test(one_that_never_comes_back),
                                       cmocka_unit_test(refusals)};
    if (device_is_missing()) return TEST_SKIPPED;
    if (!has_groups()) return TEST_SKIPPED;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
