/* What a ring tells of itself is so: times by the host's clock, rates by what was counted, depths by what waits, and the texts by the
   struct. */
#include "ring/internal.h"
#include "ring_support.h"

static qn_ring_stats stats_of(const rig *r, qn_ring *ring) {
    qn_ring_stats stats;
    assert_ok(r->context, qn_ring_get_stats(ring, &stats));
    return stats;
}

static void number_is(const char *text, const char *before, uint64_t value) {
    const char *at = strstr(text, before);
    if (!at) fail_msg("no %s in %s", before, text);
    at += strlen(before);
    if (before[strlen(before) - 1] == '{') at += strcspn(at, "}") + 1; /* behind a metric's labels */
    if (strtoull(at, NULL, 10) != value)
        fail_msg("%s is not %llu in %s", before, (unsigned long long)value, text);
}

/* Of a ring that does nothing now. */
static void texts_agree(const rig *r, qn_ring *ring) {
    static char json[20000], metrics[40000];
    assert_ok(r->context, qn_ring_format_stats(ring, QN_RING_JSON, json, sizeof json, NULL));
    assert_ok(r->context, qn_ring_format_stats(ring, QN_RING_PROMETHEUS, metrics, sizeof metrics, NULL));
    const qn_ring_stats s = stats_of(r, ring);
#define COUNTER(field, help)                                                                                 \
    number_is(json, "\"" #field "\":", s.field);                                                             \
    number_is(metrics, "\nquern_ring_" #field "_total{", s.field);
#define GAUGE(field, help)                                                                                   \
    if (strcmp(#field, "uptime_ns") != 0 && strcmp(#field, "per_second") != 0) {                             \
        number_is(json, "\"" #field "\":", s.field);                                                         \
        number_is(metrics, "\nquern_ring_" #field "{", s.field);                                             \
    }
#define BAND_COUNTER(field, help)
#define BAND_GAUGE(field, help)
#define GPU_GAUGE(what, field, help)
#include "ring/stats.def"
    number_is(json, "\"min_ns\":", s.latency.min_ns);
    number_is(json, "\"p99_ns\":", s.latency.p99_ns);
    number_is(json, "\"max_ns\":", s.latency.max_ns);
}

static int by_size(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Two messages of twenty wait in a paused ring, which the host knows the length of. */
static void latencies(void **state) {
    (void)state;
    enum { COUNT = 20, LONG_MS = 80 };
    uint64_t seen[COUNT], sum = 0;
    rig r = start(&(qn_ring_desc){.mode = QN_RING_AUTO});
    for (int i = 0; i < COUNT; i++) {
        const bool is_long = i % 10 == 5;
        const numbers in = {{i}};
        numbers out;
        if (is_long) assert_ok(r.context, qn_ring_pause(r.ring, SECONDS(60)));
        const uint64_t start = qn__ring_now();
        assert_ok(r.context, qn_ring_send(r.ring, NULL, &in, sizeof in, SECONDS(60)));
        if (is_long) pause_ms(LONG_MS);
        if (is_long) assert_ok(r.context, qn_ring_resume(r.ring, SECONDS(60)));
        assert_ok(r.context, qn_ring_receive(r.ring, NULL, &out, sizeof out, SECONDS(60)));
        seen[i] = qn__ring_now() - start;
        sum += seen[i];
    }
    qsort(seen, COUNT, sizeof *seen, by_size);
    const qn_ring_latency l = stats_of(&r, r.ring).latency;
    const uint64_t longest = LONG_MS * 1000000ull;
    assert_int_equal(l.count, COUNT);
    assert_true(l.min_ns > 0 && l.min_ns <= seen[0]);
    assert_true(l.max_ns >= longest && l.max_ns <= seen[COUNT - 1]);
    assert_true(l.min_ns < l.max_ns);
    assert_true(l.mean_ns >= 2 * longest / COUNT && l.mean_ns <= sum / COUNT);
    /* To a sixteenth. */
    assert_true(l.p50_ns >= l.min_ns && l.p50_ns <= seen[COUNT / 2 - 1] / 16 * 17 + 1);
    assert_true(l.p99_ns >= longest / 17 * 16 && l.p50_ns <= l.p99_ns && l.p99_ns <= l.p999_ns &&
                l.p999_ns <= l.max_ns);
    uint64_t all = 0, of_longest = 0;
    for (int i = 0; i < QN_RING_BUCKETS; i++) {
        all += l.histogram[i];
        if ((uint64_t)2 << i > longest) of_longest += l.histogram[i];
    }
    assert_int_equal(all, COUNT);
    assert_true(of_longest >= 2);
    texts_agree(&r, r.ring);
    finish(&r);
}

static void rates_and_depths(void **state) {
    (void)state;
    enum { COUNT = 50 };
    rig r = make(&(qn_ring_desc){.mode = QN_RING_AUTO});
    numbers in = {{1}}, out;
    const uint64_t before_launch = qn__ring_now();
    assert_ok(r.context, qn_ring_launch(r.ring, SECONDS(60)));
    const uint64_t behind_launch = qn__ring_now();
    assert_ok(r.context, qn_ring_activate(r.ring, SECONDS(60)));
    for (int i = 0; i < COUNT; i++)
        assert_ok(r.context, qn_ring_call(r.ring, &in, sizeof in, &out, sizeof out, SECONDS(60)));
    pause_ms(20);
    while (stats_of(&r, r.ring).handled < COUNT) pause_ms(1);
    const uint64_t before_look = qn__ring_now();
    qn_ring_stats s = stats_of(&r, r.ring);
    const uint64_t behind_look = qn__ring_now();
    assert_in_range(s.uptime_ns, before_look - behind_launch, behind_look - before_launch);
    assert_true(s.uptime_ns >= 20000000);
    assert_int_equal(s.handled, COUNT);
    assert_in_range(s.per_second, (uint64_t)(COUNT * 1e9 / (double)(behind_look - before_launch)),
                    (uint64_t)(COUNT * 1e9 / (double)(before_look - behind_launch)) + 1);
    assert_int_equal(s.reply_depth, 0);
    for (int i = 0; i < 5; i++) assert_ok(r.context, qn_ring_send(r.ring, NULL, &in, sizeof in, SECONDS(60)));
    while (stats_of(&r, r.ring).replied < COUNT + 5) {
        assert_ok(r.context, qn_ring_watch(r.ring));
        pause_ms(1);
    }
    assert_int_equal(stats_of(&r, r.ring).reply_depth, 5);
    texts_agree(&r, r.ring);
    for (int i = 0; i < 2; i++)
        assert_ok(r.context, qn_ring_receive(r.ring, NULL, &out, sizeof out, SECONDS(60)));
    assert_int_equal(stats_of(&r, r.ring).reply_depth, 3);
    assert_ok(r.context, qn_ring_pause(r.ring, SECONDS(60)));
    for (int i = 0; i < 4; i++) assert_ok(r.context, qn_ring_send(r.ring, NULL, &in, sizeof in, SECONDS(60)));
    s = stats_of(&r, r.ring);
    assert_int_equal(s.depth, 4);
    assert_true(s.peak >= 4);
    texts_agree(&r, r.ring);
    finish(&r);
}

static const char text[] = "#include \"quern/ring.cl\"\n"
                           "typedef struct numbers { int x[4]; } numbers;\n"
                           "void relay(qn_ring *ring, local const numbers *in) {\n"
                           "    if (in->x[0] < 0) qn_ring_fail(ring, 7);\n"
                           "#if QN_RING_LINKS > 0\n"
                           "    else qn_ring_forward(ring, 0, in, sizeof *in);\n"
                           "#else\n"
                           "    else qn_ring_reply(ring, in, sizeof *in);\n"
                           "#endif\n"
                           "}\n";

/* A reply for which nobody waits any more, a dead letter, and messages from ring to ring. */
static void the_rarer_counts(void **state) {
    (void)state;
    enum { COUNT = 6 };
    rig r = {.context = make_context(NULL)};
    qn_ring *rings[2];
    numbers in = {{3}}, out;
    r.device = get_device(r.context, test_device());
    for (uint32_t i = 0; i < 2; i++) {
        const qn_ring_desc desc = {.program = {.source = text},
                                   .handler = "relay",
                                   .label = i ? "second" : "first",
                                   .message_type = "numbers",
                                   .message_size = sizeof in,
                                   .reply_size = sizeof in,
                                   .links = 1 - i,
                                   .mail_capacity = 8};
        assert_ok(r.context, qn_ring_create(r.device, &desc, &rings[i]));
    }
    assert_ok(r.context, qn_ring_connect(&(qn_ring_link){rings[0], 0, rings[1]}, 1));
    for (int i = 0; i < 2; i++) {
        assert_ok(r.context, qn_ring_launch(rings[i], SECONDS(60)));
        assert_ok(r.context, qn_ring_activate(rings[i], SECONDS(60)));
    }
    for (int i = 0; i < COUNT; i++) {
        assert_ok(r.context, qn_ring_send(rings[0], NULL, &in, sizeof in, SECONDS(60)));
        assert_ok(r.context, qn_ring_receive(rings[1], NULL, &out, sizeof out, SECONDS(60)));
    }
    assert_ok(r.context, qn_ring_pause(rings[1], SECONDS(60)));
    assert_int_equal(qn_ring_call(rings[1], &in, sizeof in, &out, sizeof out, 1000000), QN_ERROR_TIMEOUT);
    assert_ok(r.context, qn_ring_resume(rings[1], SECONDS(60)));
    while (stats_of(&r, rings[1]).late == 0)
        assert_int_equal(qn_ring_receive(rings[1], NULL, &out, sizeof out, 1000000), QN_ERROR_TIMEOUT);
    in.x[0] = -1;
    assert_ok(r.context, qn_ring_send(rings[1], NULL, &in, sizeof in, SECONDS(60)));
    assert_int_equal(qn_ring_receive(rings[1], NULL, &out, sizeof out, SECONDS(60)), QN_ERROR_KERNEL_FAILED);
    assert_ok(r.context, qn_ring_restart(rings[1], SECONDS(60)));
    const qn_ring_stats first = stats_of(&r, rings[0]), second = stats_of(&r, rings[1]);
    assert_int_equal(first.forwarded, COUNT);
    assert_int_equal(second.mailed, COUNT);
    assert_int_equal(second.late, 1);
    assert_int_equal(second.dead, 1);
    assert_int_equal(second.errors, 1);
    for (int i = 0; i < 2; i++) texts_agree(&r, rings[i]);
    for (int i = 0; i < 2; i++) assert_ok(r.context, qn_ring_close(rings[i], SECONDS(60)));
    assert_ok(r.context, qn_context_close(r.context, SECONDS(60)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latencies),
        cmocka_unit_test(rates_and_depths),
        cmocka_unit_test(the_rarer_counts),
    };
    return run_device_tests(tests);
}
