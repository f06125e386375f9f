/* $QUERN_TRACE: what is in the file, whose events are a line each. On each track no event begins before the last has ended, and
   none before it was submitted; the file ends as an array, whenever one looks. */
#include "api_support.h"

static const char source[] = "kernel void add(global int *a, int by) { a[get_global_id(0)] += by; }\n";

typedef struct place {
    char dir[64], path[96], second[96];
} place;

static int make_place(void **state) {
    place *p = calloc(1, sizeof *p);
    *state = p;
    snprintf(p->dir, sizeof p->dir, "/tmp/quern-trace-XXXXXX");
    if (!mkdtemp(p->dir)) return -1;
    snprintf(p->path, sizeof p->path, "%s/a.b.json", p->dir);
    snprintf(p->second, sizeof p->second, "%s/a.b.2.json", p->dir);
    return setenv("QUERN_TRACE", p->path, 1);
}

static int drop_place(void **state) {
    place *p = *state;
    unsetenv("QUERN_TRACE");
    remove(p->path);
    remove(p->second);
    rmdir(p->dir);
    free(p);
    return 0;
}

typedef struct seen {
    int launches, graphs, copies, compiles, tracks, named; /* tracks of streams */
    double last_end[64];
    unsigned track[64];
    int others; /* names that are not `add` */
} seen;

static double number_at(const char *line, const char *key) {
    const char *at = strstr(line, key);
    if (!at) fail_msg("no %s in %s", key, line);
    return strtod(at + strlen(key), NULL);
}

static void check_order(seen *s, const char *line) {
    const unsigned track = (unsigned)number_at(line, "\"tid\":");
    const double begin = number_at(line, "\"ts\":"), end = begin + number_at(line, "\"dur\":");
    int t = 0;
    while (t < s->tracks && s->track[t] != track) t++;
    assert_true(t < 64);
    if (t == s->tracks) s->track[s->tracks++] = track;
    const double slack = 0.0021; /* microseconds: doubles of this size have steps */
    if (begin + slack < s->last_end[t]) fail_msg("it begins before the last event's end: %s", line);
    if (begin + slack < number_at(line, "\"submitted\":"))
        fail_msg("it begins before it was submitted: %s", line);
    assert_true(end <= test_seconds() * 1e6 + slack);
    s->last_end[t] = end;
}

static bool has(const char *line, const char *part) { return strstr(line, part) != NULL; }

/* A whole array of the events that are named. */
static seen read_trace(const char *path) {
    seen s = {0};
    char line[4096] = "", last[4096] = "";
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_string_equal(line, "[\n");
    while (fgets(line, sizeof line, file)) {
        if (last[0] == '{') assert_true(has(last, "},\n") == (line[0] == '{'));
        snprintf(last, sizeof last, "%s", line);
        if (line[0] != '{') continue;
        const bool launch = has(line, "\"cat\":\"launch\""), graph = has(line, "\"cat\":\"graph\""),
                   copy = has(line, "\"cat\":\"copy\"");
        assert_int_equal((long)number_at(line, "\"pid\":"), getpid());
        s.launches += launch;
        s.graphs += graph;
        s.copies += copy;
        s.compiles += has(line, "\"cat\":\"compile\"");
        s.named += has(line, "thread_name") && has(line, " stream ");
        if (launch && !has(line, "\"name\":\"add\"")) s.others++;
        if (launch) assert_true(has(line, "\"args\":{\"range\":\"global 64, local "));
        if (graph) assert_true(has(line, "\"args\":{\"commands\":2,"));
        if (launch || graph || copy) check_order(&s, line);
    }
    assert_string_equal(last, "]\n");
    fclose(file);
    return s;
}

static int count_named(const char *path, const char *part) {
    char line[4096];
    int count = 0;
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) count += has(line, part);
    fclose(file);
    return count;
}

static void streams_and_graphs_are_in_it(void **state) {
    const place *p = *state;
    const char *names[] = {test_device(), "null"};
    for (int d = 0; d < 2; d++) {
        fixture f = make_fixture(names[d], source, "add");
        qn_stream *a, *b;
        qn_graph *graph;
        qn_event *event;
        int out[64];
        qn_buffer *x = make_buffer(f.device, 256, NULL), *y = make_buffer(f.device, 256, NULL);
        assert_ok(f.context, qn_stream_create(f.device, &a));
        assert_ok(f.context, qn_stream_create(f.device, &b));
        assert_ok(f.context, qn_event_create(f.device, &event));
        assert_ok(f.context, qn_graph_begin(a));
        for (int i = 0; i < 2; i++) assert_ok(f.context, qn_launch(a, f.kernel, QN_RANGE(64), QN_ARGS(x, 1)));
        assert_ok(f.context, qn_stream_record(a, event));
        for (int i = 0; i < 2; i++) assert_ok(f.context, qn_launch(a, f.kernel, QN_RANGE(64), QN_ARGS(x, 1)));
        assert_ok(f.context, qn_graph_end(a, &graph));
        for (int i = 0; i < 100; i++) {
            assert_ok(f.context, qn_launch(a, f.kernel, QN_RANGE(64), QN_ARGS(x, 1)));
            assert_ok(f.context, qn_launch(b, f.kernel, QN_RANGE(64), QN_ARGS(y, 1)));
            if (i % 10 == 0) assert_ok(f.context, qn_graph_launch(a, graph));
        }
        assert_ok(f.context, qn_stream_read(a, x, 0, out, sizeof out));
        assert_ok(f.context, qn_device_wait(f.device, QN_FOREVER));
        if (d == 0) assert_int_equal(out[63], 140);
        qn_stream_destroy(b); /* what it did is written then */
        qn_kernel_destroy(f.kernel);
        qn_program_destroy(f.program); /* the kernel's name is still needed */
        qn_context_destroy(f.context);
        const seen s = read_trace(p->path);
        assert_int_equal(s.launches, 200);
        assert_int_equal(s.others, 0);
        assert_int_equal(s.graphs, 20); /* the event cuts it in two */
        assert_true(s.copies >= 1);
        assert_true(s.compiles >= 2);
        assert_true(s.tracks >= 2 && s.tracks == s.named);
    }
}

/* Without the end of the context, and while it works. */
static void it_is_whole_at_any_time(void **state) {
    const place *p = *state;
    fixture f = make_fixture(test_device(), source, "add");
    qn_buffer *x = make_buffer(f.device, 256, NULL);
    int launches = 0;
    for (int round = 0; round < 6000 && launches < 20; round++) {
        assert_ok(f.context, qn_launch(NULL, f.kernel, QN_RANGE(64), QN_ARGS(x, 1)));
        assert_ok(f.context, qn_device_wait(f.device, QN_FOREVER));
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        launches = read_trace(p->path).launches;
    }
    assert_true(launches >= 20);
    qn_context_destroy(f.context);
}

static void each_context_has_a_file(void **state) {
    const place *p = *state;
    fixture first = make_fixture("null", source, "add"), second = make_fixture("null", source, "add");
    for (int i = 0; i < 5; i++)
        assert_ok(second.context, qn_launch(NULL, second.kernel, QN_RANGE(64),
                                            QN_ARGS(make_buffer(second.device, 256, NULL), 1)));
    qn_context_destroy(first.context);
    qn_context_destroy(second.context);
    assert_int_equal(read_trace(p->path).launches, 0);
    assert_int_equal(read_trace(p->second).launches, 5);
}

/* What is cancelled while another device holds it back is there with no length, and not in the way of what comes later. */
static void what_is_cancelled_is_not_in_the_way(void **state) {
    const place *p = *state;
    fixture f = make_fixture("cpu", source, "add");
    qn_device *other;
    if (qn_device_get(f.context, "vulkan", &other)) {
        qn_context_destroy(f.context);
        skip();
    }
    qn_program *program = make_program(other, SPIN_SOURCE);
    qn_kernel *spinning = make_kernel(program, f.context, "spin");
    qn_buffer *x = make_buffer(f.device, 256, NULL), *y = make_buffer(other, 4, NULL);
    qn_event *event;
    int launches = 0;
    assert_ok(f.context, qn_event_create(other, &event));
    for (int i = 0; i < 400; i++)
        assert_ok(f.context, qn_launch(NULL, spinning, QN_RANGE(1), QN_ARGS(y, 30000)));
    assert_ok(f.context, qn_stream_record(qn_device_stream(other), event));
    qn_stream *stream;
    assert_ok(f.context, qn_stream_create(f.device, &stream));
    assert_ok(f.context, qn_stream_wait_event(stream, event));
    for (int i = 0; i < 5; i++)
        assert_ok(f.context, qn_launch(stream, f.kernel, QN_RANGE(64), QN_ARGS(x, 1)));
    assert_ok(f.context, qn_stream_cancel(stream));
    assert_int_equal(qn_stream_wait(stream, QN_FOREVER), QN_ERROR_CANCELLED);
    for (int i = 0; i < 3; i++)
        assert_ok(f.context, qn_launch(stream, f.kernel, QN_RANGE(64), QN_ARGS(x, 1)));
    assert_ok(f.context, qn_stream_wait(stream, QN_FOREVER));
    for (int round = 0; round < 6000 && launches < 8; round++) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        launches = count_named(p->path, "\"name\":\"add\"");
    }
    assert_int_equal(launches, 8);
    qn_context_destroy(f.context);
}

static void hear(void *user, qn_log_level level, const char *message) {
    (void)level;
    if (strstr(message, "no trace is written")) snprintf(user, 200, "%.199s", message);
}

static void what_cannot_be_written_is_told(void **state) {
    (void)state;
    char line[200] = "";
    setenv("QUERN_TRACE", "/nowhere/trace.json", 1);
    qn_context *context =
        make_context(&(qn_context_desc){.log = hear, .log_user = line, .log_level = QN_LOG_WARNING});
    get_device(context, "null");
    qn_context_destroy(context);
    assert_string_equal(line, "no trace is written to /nowhere/trace.json: No such file or directory");
}

/* A driver may compile at a launch, with a lock of the stream that the trace takes, too, to see what is done. */
static void compiles_go_on_while_it_looks(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), source, "add");
    qn_buffer *buffer = make_buffer(f.device, 4096, NULL);
    int out[1024];
    alarm(600); /* it stood still */
    for (uint32_t local = 1; local <= 120; local++)
        assert_ok(f.context, qn_launch(NULL, f.kernel, QN_RANGE_LOCAL(QN_GROUP(1000), QN_GROUP(local)),
                                       QN_ARGS(buffer, 1)));
    assert_ok(f.context, qn_buffer_read(buffer, 0, out, sizeof out));
    alarm(0);
    assert_int_equal(out[999], 120);
    qn_context_destroy(f.context);
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, make_place, drop_place)
    const struct CMUnitTest tests[] = {
        TEST(streams_and_graphs_are_in_it),   TEST(it_is_whole_at_any_time),
        TEST(each_context_has_a_file),        TEST(what_is_cancelled_is_not_in_the_way),
        TEST(what_cannot_be_written_is_told), TEST(compiles_go_on_while_it_looks),
    };
    return run_device_tests(tests);
}
