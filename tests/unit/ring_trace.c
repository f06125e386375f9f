/* $QUERN_TRACE: each message is an event, with an arrow from it to its answer. */
#include "ring_support.h"

enum { CALLS = 5, BATCH = 3, MOST = 64 };

typedef struct arrow {
    char id[48];
    double from, to; /* microseconds; 0: has no such end */
} arrow;

typedef struct seen {
    arrow arrows[MOST];
    int count, sent, got;
} seen;

static double number_at(const char *line, const char *key) {
    const char *at = strstr(line, key);
    if (!at) fail_msg("no %s in %s", key, line);
    return strtod(at + strlen(key), NULL);
}

static arrow *arrow_of(seen *s, const char *line) {
    char id[48];
    const char *at = strstr(line, "\"id\":\"");
    if (!at || sscanf(at, "\"id\":\"%47[0-9a-f.]\"", id) != 1) fail_msg("no id in %s", line);
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->arrows[i].id, id) == 0) return &s->arrows[i];
    assert_true(s->count < MOST);
    snprintf(s->arrows[s->count].id, sizeof id, "%s", id);
    return &s->arrows[s->count++];
}

static void read_line(seen *s, const char *line) {
    s->sent += strstr(line, "\"name\":\"to answers\",\"ph\":\"X\"") != NULL;
    s->got += strstr(line, "\"name\":\"from answers\",\"ph\":\"X\"") != NULL;
    const bool begins = strstr(line, "\"ph\":\"s\""), ends = strstr(line, "\"ph\":\"f\"");
    if (!begins && !ends) return;
    arrow *a = arrow_of(s, line);
    double *time = begins ? &a->from : &a->to;
    assert_true(*time == 0);
    *time = number_at(line, "\"ts\":");
    if (ends) assert_non_null(strstr(line, "\"bp\":\"e\""));
}

static void messages_are_arrows(void **state) {
    (void)state;
    char dir[] = "/tmp/quern-ring-XXXXXX", path[64], line[4096];
    seen s = {.count = 0};
    numbers in[BATCH] = {{{1}}}, out;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/t.json", dir);
    setenv("QUERN_TRACE", path, 1);
    rig r = start(&(qn_ring_desc){.label = "answers"});
    for (int i = 0; i < CALLS; i++)
        assert_ok(r.context, qn_ring_call(r.ring, in, sizeof *in, &out, sizeof out, SECONDS(60)));
    const qn_ring_batch batch = {in, sizeof *in, sizeof *in, BATCH, 0, 0};
    assert_ok(r.context, qn_ring_send_batch(r.ring, &batch, NULL, SECONDS(60)));
    for (int i = 0; i < BATCH; i++)
        assert_ok(r.context, qn_ring_receive(r.ring, NULL, &out, sizeof out, SECONDS(60)));
    finish(&r);
    unsetenv("QUERN_TRACE");
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) read_line(&s, line);
    fclose(file);
    assert_int_equal(s.sent, CALLS + BATCH);
    assert_int_equal(s.got, CALLS + BATCH);
    assert_int_equal(s.count, CALLS + BATCH);
    for (int i = 0; i < s.count; i++) assert_true(0 < s.arrows[i].from && s.arrows[i].from < s.arrows[i].to);
    remove(path);
    rmdir(dir);
}

static const char forwarding_text[] = "#include \"quern/ring.cl\"\n"
                                      "void pass(qn_ring *ring, local const int *in) {\n"
                                      "#if QN_RING_LINKS > 0\n"
                                      "    qn_ring_forward(ring, 0, in, sizeof *in);\n"
                                      "#else\n"
                                      "    qn_ring_reply(ring, in, sizeof *in);\n"
                                      "#endif\n"
                                      "}\n";

/* From where the host sent it to where it got it, at another ring. */
static void arrows_lead_from_ring_to_ring(void **state) {
    (void)state;
    char dir[] = "/tmp/quern-ring-XXXXXX", path[64], line[4096];
    int begun = 0, ended = 0;
    seen s = {.count = 0};
    int32_t number = 5;
    qn_ring *rings[2];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/t.json", dir);
    setenv("QUERN_TRACE", path, 1);
    rig r = {.context = make_context(NULL)};
    r.device = get_device(r.context, test_device());
    for (uint32_t i = 0; i < 2; i++) {
        const qn_ring_desc desc = {.program = {.source = forwarding_text},
                                   .handler = "pass",
                                   .label = i ? "answers" : "questions",
                                   .message_type = "int",
                                   .message_size = sizeof number,
                                   .reply_size = sizeof number,
                                   .links = 1 - i,
                                   .mail_capacity = 8};
        assert_ok(r.context, qn_ring_create(r.device, &desc, &rings[i]));
    }
    assert_ok(r.context, qn_ring_connect(&(qn_ring_link){rings[0], 0, rings[1]}, 1));
    for (int i = 0; i < 2; i++) {
        assert_ok(r.context, qn_ring_launch(rings[i], SECONDS(60)));
        assert_ok(r.context, qn_ring_activate(rings[i], SECONDS(60)));
    }
    for (int i = 0; i < CALLS; i++)
        assert_ok(r.context, qn_ring_send(rings[0], NULL, &number, sizeof number, SECONDS(60)));
    for (int i = 0; i < CALLS; i++)
        assert_ok(r.context, qn_ring_receive(rings[1], NULL, &number, sizeof number, SECONDS(60)));
    for (int i = 0; i < 2; i++) assert_ok(r.context, qn_ring_close(rings[i], SECONDS(60)));
    assert_ok(r.context, qn_context_close(r.context, SECONDS(60)));
    unsetenv("QUERN_TRACE");
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        read_line(&s, line);
        begun += strstr(line, "\"name\":\"to questions\",\"ph\":\"X\"") != NULL;
        ended += strstr(line, "\"name\":\"from answers\",\"ph\":\"X\"") != NULL;
    }
    fclose(file);
    assert_int_equal(begun, CALLS);
    assert_int_equal(ended, CALLS);
    assert_int_equal(s.count, CALLS);
    for (int i = 0; i < s.count; i++) assert_true(0 < s.arrows[i].from && s.arrows[i].from < s.arrows[i].to);
    remove(path);
    rmdir(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_arrows),
        cmocka_unit_test(arrows_lead_from_ring_to_ring),
    };
    return run_device_tests(tests);
}
