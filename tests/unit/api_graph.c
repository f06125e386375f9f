/* Graphs beyond recording and replaying: which of their buffers they write, launches that are set anew, events inside. */
#include "api_support.h"

#include <pthread.h>
#include <stdatomic.h>

/* Only what a kernel does says that `in` is read: it is no pointer to const. */
static const char source[] = "kernel void add(global int *in, global int *out, int by) {\n"
                             "    size_t i = get_global_id(0);\n"
                             "    global int *from = by > 100 ? in + 1 : in;\n"
                             "    out[i] = from[i] + by;\n"
                             "}\n";

static qn_buffer_state state_after_map(fixture *f, qn_buffer *buffer) {
    void *host;
    assert_ok(f->context, qn_buffer_map(buffer, QN_MAP_READ, &host));
    assert_ok(f->context, qn_buffer_unmap(buffer));
    return qn_buffer_get_state(buffer);
}

static void only_what_is_written_is_newer(void **state) {
    const char *names[] = {test_device(), "null"};
    (void)state;
    for (int d = 0; d < 2; d++) {
        fixture f = make_fixture(names[d], source, "add");
        const int values[4] = {1, 2, 3, 4};
        qn_buffer *in = make_buffer(f.device, sizeof values, values);
        qn_buffer *out = make_buffer(f.device, sizeof values, values),
                  *copy = make_buffer(f.device, 16, NULL);
        qn_stream *stream = qn_device_stream(f.device);
        qn_graph *graph;
        assert_ok(f.context, qn_graph_begin(stream));
        assert_ok(f.context, qn_launch(stream, f.kernel, QN_RANGE(4), QN_ARGS(in, out, 1)));
        assert_ok(f.context, qn_stream_copy(stream, in, 0, copy, 0, 16));
        assert_ok(f.context, qn_graph_end(stream, &graph));
        const qn_buffer_state before = state_after_map(&f, in);
        void *host;
        assert_ok(f.context, qn_buffer_map(in, QN_MAP_READ, &host)); /* who only reads may run beside it */
        assert_ok(f.context, qn_graph_launch(stream, graph));
        assert_ok(f.context, qn_launch(stream, f.kernel, QN_RANGE(4), QN_ARGS(in, out, 1)));
        assert_int_equal(qn_buffer_get_state(in), before);
        const bool shares = before == QN_BUFFER_BOTH && qn_buffer_get_state(copy) == QN_BUFFER_BOTH;
        assert_true(!shares || d == 0);
        assert_int_equal(qn_buffer_get_state(out), shares ? QN_BUFFER_BOTH : QN_BUFFER_DEVICE);
        assert_int_equal(qn_buffer_get_state(copy), shares ? QN_BUFFER_BOTH : QN_BUFFER_DEVICE);
        assert_ok(f.context, qn_buffer_unmap(in));
        assert_ok(f.context, qn_buffer_map(out, QN_MAP_READ, &host));
        assert_fails(f.context, qn_graph_launch(stream, graph), QN_ERROR_STATE, "is mapped");
        assert_fails(f.context, qn_launch(stream, f.kernel, QN_RANGE(4), QN_ARGS(in, out, 1)), QN_ERROR_STATE,
                     "is mapped");
        if (d == 0) assert_int_equal(((int *)host)[3], 5);
        assert_ok(f.context, qn_buffer_unmap(out));
        qn_context_destroy(f.context);
    }
}

/* ---- launches that are set anew ---- */

static const char sum_source[] = "kernel void add(global int *a, int by) { a[get_global_id(0)] += by; }\n";

typedef struct rig {
    fixture f;
    qn_stream *stream;
    qn_buffer *a, *b;
    qn_graph *graph;
    bool computes;
} rig;

/* A graph that fills `a` with ones, adds 1 to all eight, nothing to none, and 10 to four. */
static rig make_rig(const char *device) {
    rig r = {.f = make_fixture(device, sum_source, "add"), .computes = strcmp(device, "null") != 0};
    qn_context *context = r.f.context;
    const int one = 1;
    r.stream = qn_device_stream(r.f.device);
    r.a = make_buffer(r.f.device, 32, NULL);
    r.b = make_buffer(r.f.device, 32, NULL);
    assert_ok(context, qn_graph_begin(r.stream));
    assert_ok(context, qn_stream_fill(r.stream, r.a, 0, 32, &one, 4));
    assert_ok(context, qn_launch(r.stream, r.f.kernel, QN_RANGE(8), QN_ARGS(r.a, 1)));
    assert_ok(context, qn_launch(r.stream, r.f.kernel, QN_RANGE(0), QN_ARGS(r.a, 5)));
    assert_ok(context, qn_launch(r.stream, r.f.kernel, QN_RANGE(4), QN_ARGS(r.a, 10)));
    assert_ok(context, qn_graph_end(r.stream, &r.graph));
    assert_int_equal(qn_graph_launch_count(r.graph), 3);
    return r;
}

static void check(rig *r, qn_buffer *buffer, const char *wanted) {
    int out[8];
    char text[128] = "";
    assert_ok(r->f.context, qn_graph_launch(NULL, r->graph));
    assert_ok(r->f.context, qn_buffer_read(buffer, 0, out, sizeof out));
    for (int i = 0; i < 8; i++) snprintf(text + strlen(text), sizeof text - strlen(text), " %d", out[i]);
    if (r->computes) assert_string_equal(text, wanted);
}

static void launches_are_set_anew(void **state) {
    const char *names[] = {test_device(), "null"};
    (void)state;
    for (int d = 0; d < 2; d++) {
        rig r = make_rig(names[d]);
        qn_context *context = r.f.context;
        check(&r, r.a, " 12 12 12 12 2 2 2 2");
        assert_ok(context, qn_graph_set_launch(r.graph, 2, QN_RANGE(8), QN_ARGS(r.a, 20)));
        check(&r, r.a, " 22 22 22 22 22 22 22 22");
        assert_ok(context,
                  qn_graph_set_launch(r.graph, 0, QN_RANGE(2), QN_NO_ARGS));         /* keeps the arguments */
        assert_ok(context, qn_graph_set_launch(r.graph, 2, NULL, QN_ARGS(r.a, 30))); /* keeps the range */
        check(&r, r.a, " 32 32 31 31 31 31 31 31");
        assert_ok(context, qn_graph_set_launch(r.graph, 1, QN_RANGE(1), QN_NO_ARGS)); /* no longer empty */
        assert_ok(context, qn_graph_set_launch(r.graph, 2, QN_RANGE(0), QN_NO_ARGS)); /* left out */
        check(&r, r.a, " 7 2 1 1 1 1 1 1");
        const qn_range offset = {.global = {2}, .local = {2}, .offset = {6}};
        assert_ok(context, qn_graph_set_launch(r.graph, 2, &offset, QN_ARGS(r.b, 4)));
        qn_buffer_destroy(r.b); /* the graph has it */
        qn_buffer *b = make_buffer(r.f.device, 32, NULL);
        check(&r, r.a, " 7 2 1 1 1 1 1 1");
        assert_ok(context, qn_graph_set_launch(r.graph, 2, NULL, QN_ARGS(b, 4)));
        for (int i = 0; i < 2; i++) assert_ok(context, qn_graph_launch(NULL, r.graph));
        check(&r, b, " 0 0 0 0 0 0 12 12");
        qn_context_destroy(context);
    }
}

static void wrong_settings_change_nothing(void **state) {
    const char *names[] = {test_device(), "null"};
    (void)state;
    for (int d = 0; d < 2; d++) {
        rig r = make_rig(names[d]), other = make_rig("null");
        qn_context *c = r.f.context;
        assert_fails(c, qn_graph_set_launch(r.graph, 3, NULL, QN_ARGS(r.a, 1)), QN_ERROR_RANGE,
                     "qn_graph_set_launch: launch 3 of a graph that has 3");
        assert_fails(c, qn_graph_set_launch(r.graph, 0, NULL, QN_ARGS(r.b)), QN_ERROR_ARGUMENT_COUNT,
                     "qn_graph_set_launch: add takes 2 arguments, 1 were given");
        assert_fails(c, qn_graph_set_launch(r.graph, 0, NULL, NULL, 2), QN_ERROR_NULL, "args is NULL");
        assert_fails(c, qn_graph_set_launch(r.graph, 0, NULL, QN_ARGS(r.b, 1.5)), QN_ERROR_KERNEL_ARGUMENT,
                     "parameter 2 of add, 'int by'");
        assert_fails(c, qn_graph_set_launch(r.graph, 0, NULL, QN_ARGS(other.a, 1)), QN_ERROR_WRONG_CONTEXT,
                     "qn_graph_set_launch");
        const qn_range large = {.global = {8}, .local = {1u << 20}};
        assert_fails(c, qn_graph_set_launch(r.graph, 0, &large, QN_ARGS(r.b, 1)), QN_ERROR_LAUNCH_SIZE,
                     "qn_graph_set_launch: local size 1048576");
        check(&r, r.a, " 12 12 12 12 2 2 2 2");
        void *host;
        assert_ok(c, qn_graph_set_launch(r.graph, 0, NULL, QN_ARGS(r.b, 1)));
        assert_ok(c, qn_buffer_map(r.b, QN_MAP_WRITE, &host));
        assert_fails(c, qn_graph_launch(NULL, r.graph), QN_ERROR_STATE, "is mapped");
        assert_ok(c, qn_buffer_unmap(r.b));
        assert_ok(c, qn_graph_launch(NULL, r.graph));
        const qn_buffer_state after = qn_buffer_get_state(r.b); /* or memory is shared */
        assert_int_equal(after, d == 0 && after == QN_BUFFER_BOTH ? QN_BUFFER_BOTH : QN_BUFFER_DEVICE_NEWER);
        assert_int_equal(qn_graph_launch_count(NULL), 0);
        qn_context_destroy(c);
        qn_context_destroy(other.f.context);
    }
}

/* What an earlier launch runs on stays, though nothing else holds it. */
static void a_launch_that_runs_is_not_touched(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), SPIN_SOURCE, "spin");
    qn_program *program = make_program(f.device, sum_source);
    qn_kernel *add = make_kernel(program, f.context, "add");
    const int count = spin_for(&f, 0.05);
    qn_buffer *busy = make_buffer(f.device, 4, NULL), *kept = make_buffer(f.device, 32, NULL), *out;
    qn_stream *stream, *other;
    qn_graph *graph;
    assert_ok(f.context, qn_stream_create(f.device, &stream));
    assert_ok(f.context, qn_stream_create(f.device, &other));
    assert_ok(f.context, qn_graph_begin(stream));
    assert_ok(f.context, qn_launch(stream, add, QN_RANGE(8), QN_ARGS(kept, 1)));
    assert_ok(f.context, qn_stream_copy(stream, kept, 0, kept, 16, 16));
    assert_ok(f.context, qn_graph_end(stream, &graph));
    for (int round = 1; round <= 8; round++) {
        int got[8] = {0};
        out = make_buffer(f.device, 32, NULL);
        assert_ok(f.context, spin(&f, stream, busy, count));
        assert_ok(f.context, qn_graph_set_launch(graph, 0, QN_RANGE(8), QN_ARGS(out, round)));
        assert_ok(f.context, qn_graph_launch(stream, graph)); /* waits behind the spinning kernel */
        assert_ok(f.context, qn_stream_read(stream, out, 0, got, sizeof got));
        assert_ok(f.context, qn_graph_set_launch(graph, 0, QN_RANGE(1), QN_ARGS(kept, 100)));
        qn_buffer_destroy(out);
        if (round % 2) assert_ok(f.context, qn_graph_launch(round % 4 == 1 ? other : stream, graph));
        assert_ok(f.context, qn_device_wait(f.device, QN_FOREVER));
        for (int i = 0; i < 8; i++) assert_int_equal(got[i], round);
    }
    int last[8];
    assert_ok(f.context, qn_buffer_read(kept, 0, last, sizeof last));
    assert_int_equal(last[0], 400);
    assert_int_equal(last[1], 0);
    qn_graph_destroy(graph);
    qn_context_destroy(f.context);
}

/* Threads that set and launch one graph: each launch has one thread's range and arguments together. */
enum { SETTERS = 3, SETTINGS = 60, ITEMS = 64 };

typedef struct setter {
    rig *r;
    int by;
    bool failed;
} setter;

static void *set_and_launch(void *user) {
    setter *s = user;
    for (int i = 0; i < SETTINGS && !s->failed; i++) {
        s->failed = qn_graph_set_launch(s->r->graph, 0, QN_RANGE((uint64_t)s->by), QN_ARGS(s->r->b, s->by)) !=
                        QN_OK ||
                    qn_graph_launch(NULL, s->r->graph) != QN_OK;
    }
    return NULL;
}

static void threads_set_and_launch_one_graph(void **state) {
    (void)state;
    rig r = make_rig(test_device());
    int out[ITEMS];
    setter setters[SETTERS];
    pthread_t threads[SETTERS];
    qn_buffer_destroy(r.b);
    r.b = make_buffer(r.f.device, sizeof out, NULL);
    for (int i = 0; i < SETTERS; i++) {
        setters[i] = (setter){&r, ITEMS >> i, false};
        assert_int_equal(pthread_create(&threads[i], NULL, set_and_launch, &setters[i]), 0);
    }
    for (int i = 0; i < SETTERS; i++) {
        pthread_join(threads[i], NULL);
        assert_false(setters[i].failed);
    }
    assert_ok(r.f.context, qn_buffer_read(r.b, 0, out, sizeof out));
    /* what only the launches of 64 items added, of 32 as well, and of 16 too */
    const int of_64 = out[ITEMS - 1], of_32 = out[ITEMS / 2 - 1] - of_64, of_16 = out[0] - out[ITEMS / 2 - 1];
    for (int i = 0; i < ITEMS; i++)
        assert_int_equal(out[i], of_64 + (i < 32 ? of_32 : 0) + (i < 16 ? of_16 : 0));
    assert_true(of_64 % 64 == 0 && of_32 % 32 == 0 && of_16 % 16 == 0);
    assert_int_equal(of_64 / 64 + of_32 / 32 + of_16 / 16, SETTERS * SETTINGS);
    qn_context_destroy(r.f.context);
}

/* What is released is scribbled over, and stays so for a while. Sizes are kept in front of the memory. */
enum { IN_FRONT = 32 };

static void *keep_size(void *memory, size_t size) {
    if (!memory) return NULL;
    memcpy(memory, &size, sizeof size);
    return (unsigned char *)memory + IN_FRONT;
}

static void *sized_allocate(void *user, size_t size) {
    (void)user;
    return keep_size(malloc(size + IN_FRONT), size);
}

static void *sized_reallocate(void *user, void *memory, size_t size) {
    (void)user;
    return keep_size(realloc(memory ? (unsigned char *)memory - IN_FRONT : NULL, size + IN_FRONT), size);
}

static void scribbling_release(void *user, void *memory) {
    size_t size;
    if (!memory) return;
    memcpy(&size, (unsigned char *)memory - IN_FRONT, sizeof size);
    memset(memory, 0xdd, size);
    if (atomic_load((atomic_bool *)user)) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    free((unsigned char *)memory - IN_FRONT);
}

typedef struct counter {
    const qn_graph *graph;
    atomic_bool stop;
    unsigned wrong;
} counter;

static void *count_launches(void *user) {
    counter *c = user;
    while (!atomic_load(&c->stop)) c->wrong += qn_graph_launch_count(c->graph) != 1;
    return NULL;
}

/* Setting a launch releases what it was before. */
static void launches_are_counted_while_they_are_set(void **state) {
    (void)state;
    atomic_bool slow = false;
    const qn_context_desc desc = {.allocator = {sized_allocate, sized_reallocate, scribbling_release, &slow}};
    qn_context *context = make_context(&desc);
    qn_device *device = get_device(context, "null");
    qn_kernel *add = make_kernel(make_program(device, sum_source), context, "add");
    qn_buffer *buffer = make_buffer(device, 64, NULL);
    counter count = {.stop = false};
    pthread_t thread;
    qn_graph *graph;
    assert_ok(context, qn_graph_begin(qn_device_stream(device)));
    assert_ok(context, qn_launch(NULL, add, QN_RANGE(4), QN_ARGS(buffer, 1)));
    assert_ok(context, qn_graph_end(qn_device_stream(device), &graph));
    count.graph = graph;
    assert_int_equal(pthread_create(&thread, NULL, count_launches, &count), 0);
    atomic_store(&slow, true);
    for (int i = 0; i < 10; i++) assert_ok(context, qn_graph_set_launch(graph, 0, NULL, QN_ARGS(buffer, i)));
    atomic_store(&slow, false);
    atomic_store(&count.stop, true);
    pthread_join(thread, NULL);
    assert_int_equal(count.wrong, 0);
    qn_context_destroy(context);
}

/* ---- events ---- */

static void each_launch_moves_its_events(void **state) {
    const char *names[] = {test_device(), "null"};
    (void)state;
    for (int d = 0; d < 2; d++) {
        fixture f = make_fixture(names[d], SPIN_SOURCE, "spin");
        const int count = d ? 100 : spin_for(&f, 0.02);
        qn_buffer *buffer = make_buffer(f.device, 4, NULL);
        qn_event *begin, *end, *after;
        qn_graph *graph;
        bool done = false;
        qn_stream *stream = qn_device_stream(f.device);
        assert_ok(f.context, qn_event_create(f.device, &begin));
        assert_ok(f.context, qn_event_create(f.device, &end));
        assert_ok(f.context, qn_event_create(f.device, &after));
        assert_ok(f.context, qn_graph_begin(stream));
        assert_ok(f.context, qn_stream_record(stream, begin));
        assert_ok(f.context, spin(&f, stream, buffer, count));
        assert_ok(f.context, qn_stream_record(stream, end));
        assert_ok(f.context, qn_graph_end(stream, &graph));
        assert_fails(f.context, qn_event_wait(end, 0), QN_ERROR_STATE, "never recorded");
        for (int round = 0; round < 3; round++) {
            int64_t took = 0, since = 0;
            if (round) assert_ok(f.context, qn_stream_record(stream, after));
            const double start = test_seconds();
            assert_ok(f.context, qn_graph_launch(stream, graph));
            assert_ok(f.context, qn_event_wait(end, QN_FOREVER));
            assert_ok(f.context, qn_event_done(end, &done));
            assert_true(done);
            assert_ok(f.context, qn_event_elapsed(begin, end, &took));
            /* 20 ms, or far less where the processor's function came only after the spins had been counted. */
            const double most = test_seconds() - start + 1; /* two clocks */
            if (d == 0) assert_true(took > 20000 && (double)took < most * 1e9);
            if (round) assert_ok(f.context, qn_event_elapsed(after, end, &since));
            if (round) assert_true(since >= took); /* the newest launch's, not the first one's */
        }
        qn_event_destroy(end); /* the graph has it */
        assert_ok(f.context, qn_graph_launch(NULL, graph));
        assert_ok(f.context, qn_device_wait(f.device, QN_FOREVER));
        qn_graph_destroy(graph);
        qn_context_destroy(f.context);
    }
}

/* Another stream waits for the place of the newest launch. */
static void others_wait_for_a_graphs_event(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), SPIN_SOURCE, "spin");
    const int count = spin_for(&f, 0.02);
    qn_buffer *buffer = make_buffer(f.device, 4, NULL);
    qn_stream *a, *b;
    qn_event *event;
    qn_graph *graph;
    int seen = -1, one = 1, zero = 0;
    assert_ok(f.context, qn_stream_create(f.device, &a));
    assert_ok(f.context, qn_stream_create(f.device, &b));
    assert_ok(f.context, qn_event_create(f.device, &event));
    qn_buffer *flag = make_buffer(f.device, 4, NULL);
    assert_ok(f.context, qn_graph_begin(a));
    assert_ok(f.context, qn_stream_fill(a, flag, 0, 4, &zero, 4));
    assert_ok(f.context, spin(&f, a, buffer, count));
    assert_ok(f.context, qn_stream_fill(a, flag, 0, 4, &one, 4));
    assert_ok(f.context, qn_stream_record(a, event));
    assert_ok(f.context, spin(&f, a, buffer, count));
    assert_ok(f.context, qn_graph_end(a, &graph));
    for (int round = 0; round < 3; round++) {
        assert_ok(f.context, qn_graph_launch(a, graph));
        assert_ok(f.context, qn_stream_wait_event(b, event));
        assert_ok(f.context, qn_stream_read(b, flag, 0, &seen, 4));
        assert_ok(f.context, qn_stream_wait(b, QN_FOREVER));
        assert_int_equal(seen, 1);
        assert_ok(f.context, qn_device_wait(f.device, QN_FOREVER));
    }
    qn_context_destroy(f.context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_written_is_newer),
        cmocka_unit_test(launches_are_set_anew),
        cmocka_unit_test(wrong_settings_change_nothing),
        cmocka_unit_test(a_launch_that_runs_is_not_touched),
        cmocka_unit_test(threads_set_and_launch_one_graph),
        cmocka_unit_test(launches_are_counted_while_they_are_set),
        cmocka_unit_test(each_launch_moves_its_events),
        cmocka_unit_test(others_wait_for_a_graphs_event),
    };
    return run_device_tests(tests);
}
