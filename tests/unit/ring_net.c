/* Rings that send to each other, on any device: pipelines, fans, topics, circles, barriers, and rings of two devices. */
#include "ring/internal.h"
#include "ring_support.h"

/* What a node does with a message, by x[3]. One text for all nodes, since each kind of ring is a kernel to compile. */
enum { GO_ON, PUBLISH, CIRCLE, MEET, ASTRAY, POISON, ENDLESS };

static const char text[] =
    "#include \"quern/ring.cl\"\n"
    "typedef struct numbers { int x[4]; } numbers;\n"
    "#if QN_RING_LINKS > 0\n"
    "void node(qn_ring *ring, local const numbers *in, global volatile int *state) {\n"
    "    numbers out = *in, on = *in;\n"
    "    const int what = in->x[3];\n"
    "    int count = 0;\n"
    "    switch (what) {\n"
    /* To link x[1], as far as there are so many, with a trace of where it was. */
    "    default:\n"
    "        on.x[0] = 3 * in->x[0] + 1;\n"
    "        on.x[2]++;\n"
    "        count = 1;\n"
    "        break;\n"
    /* To the subscribers of a topic; the reply says how many they were. */
    "    case 1: out.x[2] = (int)qn_ring_publish(ring, in->x[0], in, sizeof *in); break;\n"
    /* Round and round. */
    "    case 2:\n"
    "        on.x[0]--;\n"
    "        on.x[1]++;\n"
    "        out = on;\n"
    "        count = on.x[0] > 0;\n"
    "        break;\n"
    /* Says what lies behind a barrier that both rings have to come to. */
    "    case 3:\n"
    "        for (int round = 0; round < 50; round++) {\n"
    "            atomic_inc(&state[round]);\n"
    "            out.x[0] = qn_ring_meet(ring, 0, 3, 2);\n"
    "            out.x[1] = atomic_add(&state[round], 0);\n"
    "            if (out.x[1] != 2) break;\n"
    "        }\n"
    "        break;\n"
    /* Where nothing is, and more than there are credits for: to 0, 1, 1, and 3. */
    "    case 4: count = 4; break;\n"
    "    }\n"
    /* One place for all, as each is a copy of it in the kernel. */
    "    for (int i = 0; i < count; i++) {\n"
    "        const uint link = what == 4 ? (i + 1) / 2 + i / 3 : what == 2 ? 0 : in->x[1] % QN_RING_LINKS;\n"
    "        const int sent = qn_ring_forward(ring, link, &on, i < 3 ? sizeof on : 0);\n"
    "        if (what == 4) out.x[i] = sent;\n"
    "        else if (!sent && what != 2) qn_ring_fail(ring, 1);\n"
    "    }\n"
    "    if (count == 0 || what == 4) qn_ring_reply(ring, &out, sizeof out);\n"
    "}\n"
    "#else\n"
    "void last(qn_ring *ring, local const numbers *in) {\n"
    "    int x = in->x[3];\n"
    "    while (in->x[3] == 6 && x != 12345) x *= 2;\n"
    "    if (x == 5) qn_ring_fail(ring, 3);\n"
    "    else qn_ring_reply(ring, in, sizeof *in);\n"
    "}\n"
    "#endif\n";

enum { MOST = 5 };

typedef struct net {
    rig r;
    qn_buffer *state;
    qn_ring *rings[MOST];
    uint32_t count;
} net;

static net begin(void) {
    net n = {.r = {.context = make_context(NULL)}};
    n.r.device = get_device(n.r.context, test_device());
    n.state = make_buffer(n.r.device, 256, NULL);
    return n;
}

/* A link is a third of a kernel, of which software drivers make 40 s of work where there are three. */
enum { NONE, ONE, FAN = 3 };

static qn_ring *add_on(net *n, qn_device *device, const char *handler, uint32_t links, qn_buffer *state) {
    const qn_ring_desc desc = {.program = {.source = text},
                               .handler = handler,
                               .links = links,
                               .state = state,
                               .state_type = state ? "volatile int" : NULL,
                               .message_type = "numbers",
                               .message_size = sizeof(numbers),
                               .reply_size = sizeof(numbers),
                               .capacity = 64,
                               .mail_capacity = 8};
    assert_true(n->count < MOST);
    assert_ok(n->r.context, qn_ring_create(device, &desc, &n->rings[n->count]));
    return n->rings[n->count++];
}

static qn_ring *add_node(net *n) { return add_on(n, n->r.device, "node", ONE, n->state); }
static qn_ring *add_fan(net *n) { return add_on(n, n->r.device, "node", FAN, n->state); }
static qn_ring *add_last(net *n) { return add_on(n, n->r.device, "last", NONE, NULL); }

static void go(net *n) {
    for (uint32_t i = 0; i < n->count; i++) {
        assert_ok(n->r.context, qn_ring_launch(n->rings[i], SECONDS(60)));
        assert_ok(n->r.context, qn_ring_activate(n->rings[i], SECONDS(60)));
    }
}

static void close_all(net *n) {
    for (uint32_t i = 0; i < n->count; i++) assert_ok(n->r.context, qn_ring_close(n->rings[i], SECONDS(60)));
    assert_ok(n->r.context, qn_context_close(n->r.context, SECONDS(60)));
}

static qn_ring_stats stats_of(const net *n, qn_ring *ring) {
    qn_ring_stats stats;
    assert_ok(n->r.context, qn_ring_get_stats(ring, &stats));
    return stats;
}

/* Sends `count` messages to `first` while it receives them from `last`; each has been at `hops` rings with handler `on`. */
static void stream(net *n, qn_ring *first, qn_ring *last, int count, int hops, int width) {
    static bool seen[400];
    uint64_t sent_clock = 0, got_clock = 0;
    int sent = 0, factor = 1, offset = 0;
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < hops; i++) factor *= 3, offset = 3 * offset + 1;
    for (int got = 0; got < count; got++) {
        qn_ring_message message = {.type = 7, .priority = 9};
        numbers out;
        for (; sent < count && sent - got < 40; sent++) {
            const numbers in = {{sent, sent % width}};
            assert_ok(n->r.context, qn_ring_send(first, &message, &in, sizeof in, SECONDS(60)));
            assert_true(message.clock > sent_clock);
            sent_clock = message.clock;
            message.clock = 0;
        }
        assert_ok(n->r.context, qn_ring_receive(last, &message, &out, sizeof out, SECONDS(60)));
        const int which = (int)message.correlation - 1;
        assert_true(which >= 0 && which < count && !seen[which]);
        if (width == 1) assert_int_equal(which, got);
        seen[which] = true;
        assert_int_equal(out.x[0], factor * which + offset);
        assert_int_equal(out.x[1], which % width);
        assert_int_equal(out.x[2], hops);
        assert_true(message.clock > got_clock);
        got_clock = message.clock;
    }
}

static void a_pipeline(void **state) {
    (void)state;
    net n = begin();
    qn_ring *a = add_node(&n), *b = add_node(&n), *c = add_last(&n);
    const qn_ring_link links[] = {{a, 0, b}, {b, 0, c}};
    assert_ok(n.r.context, qn_ring_connect(links, 2));
    go(&n);
    stream(&n, a, c, 300, 2, 1);
    const qn_ring_stats at_b = stats_of(&n, b), at_a = stats_of(&n, a);
    assert_int_equal(at_a.forwarded, 300);
    assert_int_equal(at_b.mailed, 300);
    assert_int_equal(at_b.forwarded, 300);
    assert_int_equal(at_b.mail_depth + at_b.sent + at_b.lost, 0);
    /* A ring that does not go on holds up those before it; nothing is lost. */
    assert_ok(n.r.context, qn_ring_pause(c, SECONDS(60)));
    const numbers in = {{1}};
    numbers out;
    for (int i = 0; i < 40; i++) assert_ok(n.r.context, qn_ring_send(a, NULL, &in, sizeof in, SECONDS(60)));
    assert_fails(n.r.context, qn_ring_receive(c, NULL, &out, sizeof out, 30000000), QN_ERROR_TIMEOUT,
                 "nothing came");
    assert_int_equal(stats_of(&n, c).mail_depth, 8);
    assert_int_equal(stats_of(&n, b).mail_depth, 8);
    assert_int_equal(stats_of(&n, a).depth, 24);
    assert_ok(n.r.context, qn_ring_resume(c, SECONDS(60)));
    for (int i = 0; i < 40; i++)
        assert_ok(n.r.context, qn_ring_receive(c, NULL, &out, sizeof out, SECONDS(60)));
    /* Drained from the first to the last. */
    assert_ok(n.r.context, qn_ring_send(a, NULL, &in, sizeof in, SECONDS(60)));
    for (uint32_t i = 0; i < n.count; i++)
        assert_ok(n.r.context, qn_ring_stop(n.rings[i], QN_RING_DRAIN, SECONDS(60)));
    assert_ok(n.r.context, qn_ring_receive(c, NULL, &out, sizeof out, SECONDS(60)));
    close_all(&n);
}

/* One ring to three, and those to one. */
static void fans(void **state) {
    (void)state;
    net n = begin();
    qn_ring *a = add_fan(&n), *c = add_last(&n);
    qn_ring_link links[6];
    for (uint32_t i = 0; i < 3; i++) {
        qn_ring *b = add_node(&n);
        links[i] = (qn_ring_link){a, i, b};
        links[3 + i] = (qn_ring_link){b, 0, c};
    }
    assert_ok(n.r.context, qn_ring_connect(links, 6));
    go(&n);
    stream(&n, a, c, 200, 2, 3);
    close_all(&n);
}

static void topics(void **state) {
    (void)state;
    net n = begin();
    qn_ring *a = add_fan(&n), *b = add_last(&n), *c = add_last(&n);
    const qn_ring_link links[] = {{a, 0, b}, {a, 1, c}};
    assert_ok(n.r.context, qn_ring_connect(links, 2));
    assert_ok(n.r.context, qn_ring_subscribe(a, 4, 0, true));
    assert_ok(n.r.context, qn_ring_subscribe(a, 5, 0, true));
    assert_ok(n.r.context, qn_ring_subscribe(a, 5, 1, true));
    assert_fails(n.r.context, qn_ring_subscribe(a, 16, 0, true), QN_ERROR_RANGE, "topic is 16 of 16");
    assert_fails(n.r.context, qn_ring_subscribe(a, 0, 3, true), QN_ERROR_RANGE, "has 3 links");
    go(&n);
    for (int topic = 3; topic < 6; topic++) {
        const numbers in = {{topic, 11, 0, PUBLISH}};
        numbers out;
        assert_ok(n.r.context, qn_ring_call(a, &in, sizeof in, &out, sizeof out, SECONDS(60)));
        assert_int_equal(out.x[2], topic - 3);
        for (int i = 0; i < topic - 3; i++) {
            assert_ok(n.r.context, qn_ring_receive(i ? c : b, NULL, &out, sizeof out, SECONDS(60)));
            assert_int_equal(out.x[0], topic);
        }
    }
    assert_ok(n.r.context, qn_ring_subscribe(a, 5, 0, false));
    const numbers in = {{5, 0, 0, PUBLISH}};
    numbers out;
    assert_ok(n.r.context, qn_ring_call(a, &in, sizeof in, &out, sizeof out, SECONDS(60)));
    assert_int_equal(out.x[2], 1);
    close_all(&n);
}

static void round_and_round(void **state) {
    (void)state;
    net n = begin();
    qn_ring *a = add_node(&n), *b = add_node(&n);
    const qn_ring_link links[] = {{a, 0, b}, {b, 0, a}};
    assert_ok(n.r.context, qn_ring_connect(links, 2));
    go(&n);
    for (int hops = 1; hops < 40; hops += 19) { /* an odd number ends where it began */
        const numbers in = {{hops, 0, 0, CIRCLE}};
        numbers out;
        qn_ring_message message = {0};
        assert_ok(n.r.context, qn_ring_send(a, &message, &in, sizeof in, SECONDS(60)));
        assert_ok(n.r.context, qn_ring_receive(hops % 2 ? a : b, &message, &out, sizeof out, SECONDS(60)));
        assert_int_equal(out.x[1], hops);
    }
    close_all(&n);
}

/* Two kernels that wait for each other. */
static void barriers(void **state) {
    (void)state;
    net n = begin();
    qn_ring_info info;
    for (int i = 0; i < 2; i++) add_node(&n);
    assert_ok(n.r.context,
              qn_ring_connect((qn_ring_link[]){{n.rings[0], 0, n.rings[0]}, {n.rings[1], 0, n.rings[0]}}, 2));
    assert_ok(n.r.context, qn_ring_get_info(n.rings[0], &info));
    const bool stays = info.mode == QN_RING_RESIDENT;
    const numbers in = {{0, 0, 0, MEET}};
    numbers out;
    go(&n);
    for (int i = 0; i < 2; i++)
        assert_ok(n.r.context, qn_ring_send(n.rings[i], NULL, &in, sizeof in, SECONDS(60)));
    for (int i = 0; i < 2; i++) {
        assert_ok(n.r.context, qn_ring_receive(n.rings[i], NULL, &out, sizeof out, SECONDS(60)));
        assert_int_equal(out.x[0], stays);
        if (stays) assert_int_equal(out.x[1], 2);
    }
    close_all(&n);
}

static void nothing_there(void **state) {
    (void)state;
    net n = begin();
    qn_ring *a = add_fan(&n), *b = add_last(&n), *other = add_last(&n);
    numbers in = {{1, 2, 3, ASTRAY}}, out;
    assert_fails(NULL, qn_ring_connect(NULL, 1), QN_ERROR_NULL, "no links");
    assert_fails(n.r.context, qn_ring_connect((qn_ring_link[]){{a, 3, b}}, 1), QN_ERROR_RANGE,
                 "has 3 links, and link is 3");
    assert_fails(n.r.context, qn_ring_connect((qn_ring_link[]){{a, 1, b}, {a, 1, other}}, 2),
                 QN_ERROR_ARGUMENT, "link 1 of ring 'node' is given twice");
    assert_ok(n.r.context, qn_ring_connect((qn_ring_link[]){{a, 1, b}}, 1));
    assert_fails(n.r.context, qn_ring_connect((qn_ring_link[]){{a, 0, other}}, 1), QN_ERROR_STATE,
                 "ring 'node' is connected already");
    go(&n);
    assert_ok(n.r.context, qn_ring_call(a, &in, sizeof in, &out, sizeof out, SECONDS(60)));
    assert_int_equal(out.x[0], 0);
    assert_int_equal(out.x[1], 1);
    assert_int_equal(out.x[2], 0);
    assert_int_equal(out.x[3], 0);
    assert_int_equal(stats_of(&n, a).lost, 1);
    assert_ok(n.r.context, qn_ring_receive(b, NULL, &out, sizeof out, SECONDS(60)));
    assert_memory_equal(&in, &out, sizeof in);
    close_all(&n);
}

/* A message of another ring that is poison is a dead letter, too, and those behind it are there. */
static void poisoned_mail(void **state) {
    (void)state;
    net n = begin();
    qn_ring *a = add_node(&n), *b = add_last(&n);
    numbers out;
    qn_ring_message message;
    assert_ok(n.r.context, qn_ring_connect((qn_ring_link[]){{a, 0, b}}, 1));
    go(&n);
    for (int i = 0; i < 3; i++) {
        const numbers in = {{i, 0, 0, i == 1 ? POISON : GO_ON}};
        assert_ok(n.r.context, qn_ring_send(a, NULL, &in, sizeof in, SECONDS(60)));
    }
    assert_ok(n.r.context, qn_ring_receive(b, &message, &out, sizeof out, SECONDS(60)));
    assert_int_equal(message.correlation, 1);
    assert_fails(n.r.context, qn_ring_receive(b, &message, &out, sizeof out, SECONDS(60)),
                 QN_ERROR_KERNEL_FAILED, "its handler gave up message 2 with code 3");
    assert_ok(n.r.context, qn_ring_restart(b, SECONDS(60)));
    assert_ok(n.r.context, qn_ring_dead_letter(b, &message, &out, sizeof out));
    assert_int_equal(message.id, 2);
    assert_int_equal(out.x[3], POISON);
    assert_ok(n.r.context, qn_ring_activate(b, SECONDS(60)));
    assert_ok(n.r.context, qn_ring_receive(b, &message, &out, sizeof out, SECONDS(60)));
    assert_int_equal(message.correlation, 3);
    close_all(&n);
}

/* A handler that never comes back with another ring's message is over its time, too. */
static void endless_mail(void **state) {
    (void)state;
    if (!device_can(QN_CAN_CANCEL, "work that can be cancelled")) return;
    net n = begin();
    qn_ring *a = add_node(&n), *b = add_last(&n);
    numbers out;
    b->desc.handler_ns = SECONDS(1);
    b->desc.budget = 2; /* where all messages of a launch have their time */
    assert_ok(n.r.context, qn_ring_connect((qn_ring_link[]){{a, 0, b}}, 1));
    go(&n);
    const numbers bad = {{0, 0, 0, ENDLESS}}, good = {{7, 0, 0, GO_ON}};
    assert_ok(n.r.context, qn_ring_send(a, NULL, &bad, sizeof bad, SECONDS(60)));
    assert_fails(n.r.context, qn_ring_receive(b, NULL, &out, sizeof out, SECONDS(60)), QN_ERROR_KERNEL_FAILED,
                 b->mirror ? "its handler has been at a message of another ring"
                           : "its handler has been at message ");
    assert_ok(n.r.context, qn_ring_restart(b, SECONDS(60)));
    assert_ok(n.r.context, qn_ring_dead_letter(b, NULL, &out, sizeof out));
    assert_int_equal(out.x[3], ENDLESS);
    assert_ok(n.r.context, qn_ring_activate(b, SECONDS(60)));
    assert_ok(n.r.context, qn_ring_send(a, NULL, &good, sizeof good, SECONDS(60)));
    assert_ok(n.r.context, qn_ring_receive(b, NULL, &out, sizeof out, SECONDS(60)));
    assert_int_equal(out.x[0], 22);
    close_all(&n);
}

static const char bytes_text[] =
    "#include \"quern/ring.cl\"\n"
    "void on(qn_ring *ring, local const void *in) {\n"
    "    const uint size = qn_ring_current(ring)->size;\n"
    "#if QN_RING_LINKS > 0\n"
    "    if (!qn_ring_forward(ring, 0, (local const uchar *)in, size)) qn_ring_fail(ring, 1);\n"
    "#else\n"
    "    qn_ring_reply(ring, (local const uchar *)in, size);\n"
    "#endif\n"
    "}\n";

static qn_ring *add_bytes(net *n, uint32_t links, uint32_t size, uint32_t group_size, uint32_t groups) {
    const qn_ring_desc desc = {.program = {.source = bytes_text},
                               .handler = "on",
                               .links = links,
                               .message_size = size,
                               .reply_size = size,
                               .group_size = group_size,
                               .groups = groups,
                               .mode = groups > 1 ? QN_RING_LAUNCHES
                                                  : QN_RING_AUTO, /* few processors keep four */
                               .capacity = 64,
                               .mail_capacity = 8};
    assert_ok(n->r.context, qn_ring_create(n->r.device, &desc, &n->rings[n->count]));
    return n->rings[n->count++];
}

/* Messages of all sizes, from two work-groups to two, and between groups of several work-items. */
static void all_sizes(void **state) {
    (void)state;
    enum { LARGE = 400, COUNT = 60 };
    static const struct { uint32_t size, group_size, groups; } kinds[] = {{LARGE, 1, 2}, {LARGE, 8, 1}};
    qn_device_info info;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        net n = begin();
        assert_ok(n.r.context, qn_device_get_info(n.r.device, &info));
        if (info.capabilities & QN_CAN_EMULATE && k > 0) {
            close_all(&n); /* software drivers keep no such groups */
            continue;
        }
        qn_ring *a = add_bytes(&n, 1, kinds[k].size, kinds[k].group_size, kinds[k].groups);
        qn_ring *b = add_bytes(&n, 0, kinds[k].size, kinds[k].group_size, kinds[k].groups);
        assert_ok(n.r.context, qn_ring_connect((qn_ring_link[]){{a, 0, b}}, 1));
        go(&n);
        unsigned char in[COUNT][LARGE], out[LARGE];
        uint64_t seen = 0;
        for (uint32_t i = 0; i < COUNT; i++) {
            const uint32_t size = (kinds[k].size * i + COUNT / 2) / (COUNT - 1);
            for (uint32_t at = 0; at < size; at++) in[i][at] = (unsigned char)(i * 7 + at * 3 + 1);
            assert_ok(n.r.context, qn_ring_send(a, NULL, in[i], size, SECONDS(60)));
        }
        for (uint32_t i = 0; i < COUNT; i++) {
            qn_ring_message message;
            assert_ok(n.r.context, qn_ring_receive(b, &message, out, sizeof out, SECONDS(60)));
            const uint32_t which = (uint32_t)message.correlation - 1;
            assert_true(which < COUNT && !(seen >> which & 1));
            if (kinds[k].groups == 1) assert_int_equal(which, i);
            seen |= (uint64_t)1 << which;
            assert_int_equal(message.size, (kinds[k].size * which + COUNT / 2) / (COUNT - 1));
            assert_memory_equal(in[which], out, message.size);
        }
        close_all(&n);
    }
}

static const char group_text[] = "#include \"quern/ring.cl\"\n"
                                 "typedef struct numbers { int x[16]; } numbers;\n"
                                 "void on(qn_ring *ring, local const numbers *in) {\n"
                                 "    numbers out;\n"
                                 "    for (int i = 0; i < 16; i++) out.x[i] = in->x[i] + 1;\n"
                                 "    if (out.x[0] < 20) qn_ring_forward(ring, 0, &out, sizeof out);\n"
                                 "    else qn_ring_reply(ring, &out, sizeof out);\n"
                                 "}\n";

/* A group of several work-items sends to itself: all of them read what the first one has written. */
static void a_group_by_itself(void **state) {
    (void)state;
    net n = begin();
    const qn_ring_desc desc = {.program = {.source = group_text},
                               .handler = "on",
                               .message_type = "numbers",
                               .group_size = 8,
                               .links = 1,
                               .mail_capacity = 8};
    qn_device_info info;
    assert_ok(n.r.context, qn_device_get_info(n.r.device, &info));
    if (!(info.capabilities & QN_CAN_EMULATE)) { /* software drivers keep no such groups */
        assert_ok(n.r.context, qn_ring_create(n.r.device, &desc, &n.rings[n.count++]));
        assert_ok(n.r.context, qn_ring_connect((qn_ring_link[]){{n.rings[0], 0, n.rings[0]}}, 1));
        go(&n);
        int in[16], out[16];
        for (int i = 0; i < 16; i++) in[i] = 100 * i;
        assert_ok(n.r.context, qn_ring_send(n.rings[0], NULL, in, sizeof in, SECONDS(60)));
        assert_ok(n.r.context, qn_ring_receive(n.rings[0], NULL, out, sizeof out, SECONDS(60)));
        for (int i = 0; i < 16; i++) assert_int_equal(out[i], 100 * i + 20);
    }
    close_all(&n);
}

typedef struct waiter {
    qn_ring *ring;
    _Atomic bool ends;
    _Atomic int looks, wrong;
} waiter;

/* Waits for long enough to look at all rings of the network, again and again. */
static void *wait_for_nothing(void *argument) {
    waiter *w = argument;
    while (!atomic_load(&w->ends)) {
        const qn_status status = qn_ring_receive(w->ring, NULL, NULL, 0, SECONDS(1) / 100);
        if (status != QN_ERROR_TIMEOUT) atomic_store(&w->wrong, status);
        atomic_fetch_add(&w->looks, 1);
    }
    return NULL;
}

/* A ring is closed while others of its network are waited for, by threads that look after it, too. Its thread is held up between the
   end of its stream and leaving the network, when there still is a message to launch it for. */
static void a_close_beside_others(void **state) {
    (void)state;
    net n = begin();
    qn_ring *a = add_node(&n), *b = add_last(&n);
    const numbers in = {{1, 0, 0, GO_ON}};
    const qn_ring_message message = {.size = sizeof in};
    pthread_t thread;
    waiter w = {.ring = b};
    assert_ok(n.r.context, qn_ring_connect((qn_ring_link[]){{a, 0, b}}, 1));
    go(&n);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_nothing, &w), 0);
    qn__ring_begin_close(a);
    assert_ok(n.r.context, qn_stream_close(a->stream, SECONDS(60)));
    a->stream = NULL;
    atomic_store(&a->control->command, QN__RING_RUN);
    assert_true(qn__ring_queue_put(&a->in, 0, &message, &in));
    const int looks = atomic_load(&w.looks);
    while (atomic_load(&w.looks) < looks + 3) pause_ms(1);
    assert_ok(n.r.context, qn_ring_close(a, SECONDS(60)));
    atomic_store(&w.ends, true);
    pthread_join(thread, NULL);
    assert_int_equal(w.wrong, QN_OK);
    assert_ok(n.r.context, qn_ring_close(b, SECONDS(60)));
    assert_ok(n.r.context, qn_context_close(n.r.context, SECONDS(60)));
}

/* A ring is closed while its launch is under way, of which the host knows nothing yet: what it sends on arrives. (Others are told by then to
   take nothing more.) */
static void sent_on_at_a_close(void **state) {
    (void)state;
    net n = begin();
    qn_ring *a = add_node(&n), *b = add_last(&n);
    numbers out;
    assert_ok(n.r.context, qn_ring_connect((qn_ring_link[]){{a, 0, b}}, 1));
    go(&n);
    const bool arrives = a->mirror != NULL;
    assert_ok(n.r.context, qn_ring_send(a, NULL, &(numbers){{5, 0, 0, GO_ON}}, sizeof(numbers), SECONDS(60)));
    assert_ok(n.r.context, qn_ring_close(a, SECONDS(60)));
    if (arrives) {
        assert_ok(n.r.context, qn_ring_receive(b, NULL, &out, sizeof out, SECONDS(60)));
        assert_int_equal(out.x[0], 16);
    }
    assert_ok(n.r.context, qn_ring_close(b, SECONDS(60)));
    assert_ok(n.r.context, qn_context_close(n.r.context, SECONDS(60)));
}

/* Rings whose threads look after them already are connected: these see the whole network, or none. (What races is for TSan to tell.) */
static void connected_while_threads_look(void **state) {
    (void)state;
    net n = begin();
    qn_ring *a = add_node(&n), *b = add_last(&n);
    const qn_ring_supervision none = {0};
    for (int i = 0; i < 2; i++) assert_ok(n.r.context, qn_ring_supervise(n.rings[i], &none));
    pause_ms(2);
    assert_ok(n.r.context, qn_ring_connect((qn_ring_link[]){{a, 0, b}}, 1));
    pause_ms(2);
    go(&n);
    stream(&n, a, b, 50, 1, 1);
    close_all(&n);
}

/* From one device to another and back, by the host. */
static void two_devices(void **state) {
    (void)state;
    net n = begin();
    qn_device *other;
    qn_device_info info;
    const char *name = testing("cpu") ? "vulkan:0" : "cpu";
    if (qn_device_get(n.r.context, name, &other) || other == n.r.device || qn_device_get_info(other, &info) ||
        !(info.capabilities & QN_CAN_SHARE_COHERENTLY)) {
        printf("no second device\n");
        close_all(&n);
        return;
    }
    qn_ring *a = add_node(&n);
    qn_ring *b = add_on(&n, other, "node", ONE, make_buffer(other, 256, NULL));
    qn_ring *c = add_last(&n);
    assert_ok(n.r.context, qn_ring_connect((qn_ring_link[]){{a, 0, b}, {b, 0, c}}, 2));
    go(&n);
    stream(&n, a, c, 200, 2, 1);
    assert_int_equal(stats_of(&n, a).forwarded, 200);
    assert_int_equal(stats_of(&n, b).sent, 200);
    close_all(&n);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pipeline),
        cmocka_unit_test(fans),
        cmocka_unit_test(topics),
        cmocka_unit_test(round_and_round),
        cmocka_unit_test(barriers),
        cmocka_unit_test(nothing_there),
        cmocka_unit_test(poisoned_mail),
        cmocka_unit_test(endless_mail),
        cmocka_unit_test(all_sizes),
        cmocka_unit_test(a_group_by_itself),
        cmocka_unit_test(a_close_beside_others),
        cmocka_unit_test(sent_on_at_a_close),
        cmocka_unit_test(connected_while_threads_look),
        cmocka_unit_test(two_devices),
    };
    return run_device_tests(tests);
}
