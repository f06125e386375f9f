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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_arrows),
    };
    return run_device_tests(tests);
}
