/* Messages of all sizes, to rings whose slots they fill in different ways: where a bus is between, in pieces of 12 bytes that one
   work-item looks for, or all of a group, or plain. */
#include "ring_support.h"

enum { MOST = 768 };

/* Answers with what it gets, all of it in one go. */
static const char echo_text[] =
    "#include \"quern/ring.cl\"\n"
    "void echo(qn_ring *ring, local const void *in) {\n"
    "    qn_ring_reply(ring, (local const uint *)in, qn_ring_current(ring)->size);\n"
    "}\n";

typedef struct kind {
    const char *name;
    uint32_t most, group_size, groups, bands;
} kind;

static void fill(unsigned char *bytes, uint32_t size, uint32_t number) {
    for (uint32_t i = 0; i < size; i++) bytes[i] = (unsigned char)(number * 37 + i * 11 + i / 256);
}

/* In a band that changes; one of the lowest is a call. */
static void check(qn_context *context, qn_ring *ring, uint32_t size, uint32_t number) {
    unsigned char in[MOST] = {0}, out[MOST];
    qn_ring_message message = {.priority = (uint8_t)(number * 128)};
    fill(in, size, number);
    memset(out, 0x5a, sizeof out);
    if (message.priority == 0) {
        assert_ok(context, qn_ring_call(ring, in, size, out, sizeof out, SECONDS(60)));
    } else {
        assert_ok(context, qn_ring_send(ring, &message, in, size, SECONDS(60)));
        assert_ok(context, qn_ring_receive(ring, NULL, out, sizeof out, SECONDS(60)));
    }
    assert_memory_equal(in, out, size);
    for (uint32_t i = size; i < MOST; i++) assert_int_equal(out[i], 0x5a);
}

/* Sizes around those that end a piece, up and down, so that a slot has old bytes behind a short message. */
static void all_sizes(void **state) {
    const kind *k = *state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, test_device());
    qn_device_info info;
    assert_ok(context, qn_device_get_info(device, &info));
    if (k->group_size > 1 && info.capabilities & QN_CAN_EMULATE) skip();
    /* C compilers take long to optimise loops of groups around barriers. */
    const char *options = info.kind == QN_DEVICE_CPU && k->group_size > 1 ? "-cl-opt-disable" : NULL;
    const qn_ring_desc desc = {.program = {.source = echo_text, .options = options},
                               .handler = "echo",
                               .message_size = k->most,
                               .reply_size = k->most,
                               .capacity = 4,
                               .reply_capacity = 4,
                               .group_size = k->group_size,
                               .groups = k->groups,
                               .bands = k->bands,
                               /* A processor of two threads keeps one group. */
                               .mode = k->groups > 1 ? QN_RING_LAUNCHES : QN_RING_AUTO};
    qn_ring *ring;
    assert_ok(context, qn_ring_create(device, &desc, &ring));
    assert_ok(context, qn_ring_launch(ring, SECONDS(60)));
    assert_ok(context, qn_ring_activate(ring, SECONDS(60)));
    uint32_t number = 0;
    for (uint32_t size = 0; size <= k->most; size += size < 40 ? 1 : 11) check(context, ring, size, number++);
    for (uint32_t size = k->most; size > 20; size -= 19) check(context, ring, size, number++);
    for (uint32_t i = 0; i < 20; i++) check(context, ring, i % 2 ? k->most : i, number++);
    assert_ok(context, qn_ring_close(ring, SECONDS(60)));
    assert_ok(context, qn_context_close(context, SECONDS(60)));
}

static const char stays_text[] =
    "#include \"quern/ring.cl\"\n"
    "void stays(qn_ring *ring, local const uint *in, global uint *state) {\n"
    "    const uint before = *in;\n"
    "    qn_ring_reply(ring, in, 4);\n"
    "    if (*(volatile local const uint *)in != before) atomic_inc((volatile global uint *)state);\n"
    "}\n";

/* The message is the work-items' until the last of them is back, though the first one looks for the next already. */
static void a_message_stays(void **state) {
    (void)state;
    enum { MESSAGES = 50 };
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, test_device());
    qn_device_info info;
    assert_ok(context, qn_device_get_info(device, &info));
    if (info.capabilities & QN_CAN_EMULATE) skip();
    uint32_t changed = 0, answer = 0;
    qn_buffer *count = make_buffer(device, sizeof changed, &changed);
    const qn_ring_desc desc = {.program = {.source = stays_text},
                               .handler = "stays",
                               .message_type = "uint",
                               .message_size = sizeof answer,
                               .reply_size = sizeof answer,
                               .state = count,
                               .state_type = "uint",
                               .group_size = 64};
    qn_ring *ring;
    assert_ok(context, qn_ring_create(device, &desc, &ring));
    assert_ok(context, qn_ring_launch(ring, SECONDS(60)));
    assert_ok(context, qn_ring_activate(ring, SECONDS(60)));
    for (uint32_t i = 1; i <= MESSAGES; i++)
        assert_ok(context, qn_ring_send(ring, NULL, &i, sizeof i, SECONDS(60)));
    for (uint32_t i = 1; i <= MESSAGES; i++) {
        assert_ok(context, qn_ring_receive(ring, NULL, &answer, sizeof answer, SECONDS(60)));
        assert_int_equal(answer, i);
    }
    assert_ok(context, qn_ring_stop(ring, QN_RING_DRAIN, SECONDS(60)));
    assert_ok(context, qn_buffer_read(count, 0, &changed, sizeof changed));
    assert_int_equal(changed, 0);
    assert_ok(context, qn_ring_close(ring, SECONDS(60)));
    assert_ok(context, qn_context_close(context, SECONDS(60)));
}

int main(void) {
    static kind kinds[] = {{"one work-item, small", 228, 1, 1, 1},
                           {"one work-item, large", MOST, 1, 1, 1},
                           {"a group, small", 100, 32, 1, 1},
                           {"a group, large", MOST, 32, 1, 1},
                           {"a group, small, two bands", 100, 32, 1, 2},
                           {"a group, large, two bands", MOST, 32, 1, 2},
                           {"two groups, large", MOST, 32, 2, 1}};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    struct CMUnitTest tests[KINDS + 1] = {cmocka_unit_test(a_message_stays)};
    for (int i = 0; i < KINDS; i++)
        tests[1 + i] = (struct CMUnitTest){kinds[i].name, all_sizes, NULL, NULL, &kinds[i]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
