/* Streams, events, deadlines and graphs. */
#include <pthread.h>
#include <sched.h>

#include "api_support.h"

static const char source[] =
    "kernel void add(global int *a, int v) { a[get_global_id(0)] += v; }\n" SPIN_SOURCE;

static void streams_order_their_work(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), source, "add");
    qn_stream *stream;
    assert_ok(f.context, qn_stream_create(f.device, &stream));
    int out[64] = {0};
    qn_buffer *buffer = make_buffer(f.device, sizeof out, NULL);
    for (int i = 0; i < 200; i++)
        assert_ok(f.context, qn_launch(stream, f.kernel, QN_RANGE(64), QN_ARGS(buffer, i)));
    assert_ok(f.context, qn_stream_read(stream, buffer, 0, out, sizeof out));
    assert_ok(f.context, qn_stream_wait(stream, QN_FOREVER));
    for (int i = 0; i < 64; i++) assert_int_equal(out[i], 19900);
    qn_stream_destroy(stream);
    qn_context_destroy(f.context);
}

static void events_order_streams_and_tell_time(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), source, "spin");
    qn_kernel *add = make_kernel(f.program, f.context, "add");
    qn_stream *a, *b;
    qn_event *begin, *end;
    assert_ok(f.context, qn_stream_create(f.device, &a));
    assert_ok(f.context, qn_stream_create(f.device, &b));
    assert_ok(f.context, qn_event_create(f.device, &begin));
    assert_ok(f.context, qn_event_create(f.device, &end));
    int64_t elapsed;
    bool done;
    assert_fails(f.context, qn_event_wait(begin, 0), QN_ERROR_STATE, "never recorded");
    assert_fails(f.context, qn_stream_wait_event(b, begin), QN_ERROR_STATE, "never recorded");
    int zero = 0, out;
    qn_buffer *buffer = make_buffer(f.device, sizeof zero, &zero);
    int count = spin_for(&f, 0.01);
    assert_ok(f.context, qn_stream_record(a, begin));
    assert_ok(f.context, spin(&f, a, buffer, count));
    assert_ok(f.context, qn_stream_fill(a, buffer, 0, 4, &zero, 4));
    assert_ok(f.context, qn_stream_record(a, end));
    assert_ok(f.context, qn_stream_wait_event(b, end));
    assert_ok(f.context, qn_launch(b, add, QN_RANGE(1), QN_ARGS(buffer, 5)));
    assert_ok(f.context, qn_stream_read(b, buffer, 0, &out, sizeof out));
    assert_ok(f.context, qn_stream_wait(b, QN_FOREVER));
    assert_int_equal(out, 5);
    assert_ok(f.context, qn_event_wait(end, QN_FOREVER));
    assert_ok(f.context, qn_event_done(end, &done));
    assert_true(done);
    assert_ok(f.context, qn_event_elapsed(begin, end, &elapsed));
    assert_true(elapsed > 100000);
    qn_context_destroy(f.context);
}

/* Launches that are waited for at once, and after some of them one that nobody waits for, or that is followed by others before anybody does. */
static void what_nobody_waits_for_is_done_all_the_same(void **state) {
    (void)state;
    if (!testing("cpu")) return; /* what another device has done is not seen without a wait */
    enum { ROUNDS = 20, LAUNCHES = 50, SECONDS = 60, NEXT = 3 };
    fixture f = make_fixture(test_device(), source, "add");
    const int zero = 0;
    int sum = 0;
    uint64_t at;
    qn_stream *stream;
    assert_ok(f.context, qn_stream_create(f.device, &stream));
    qn_buffer *buffer = make_buffer(f.device, sizeof zero, &zero);
    assert_ok(f.context, qn_buffer_native(buffer, QN_NATIVE_HOST_POINTER, &at));
    const volatile int *there = (const volatile int *)(uintptr_t)at;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < LAUNCHES; i++, sum++) {
            assert_ok(f.context, qn_launch(stream, f.kernel, QN_RANGE(1), QN_ARGS(buffer, 1)));
            assert_ok(f.context, qn_stream_wait(stream, i % NEXT ? QN_FOREVER : SECONDS * 1000000000ull));
        }
        for (int i = 0; i <= round % NEXT; i++, sum++)
            assert_ok(f.context, qn_launch(stream, f.kernel, QN_RANGE(1), QN_ARGS(buffer, 1)));
        const double end = test_seconds() + SECONDS;
        while (*there != sum && test_seconds() < end) sched_yield();
        assert_int_equal(*there, sum);
    }
    qn_context_destroy(f.context);
}

/* Larger than what a backend stages at once, and not the last commands of the stream. */
static void large_reads_stand_between_other_commands(void **state) {
    (void)state;
    const size_t size = 80u << 20, last = size / sizeof(int) - 1;
    fixture f = make_fixture(test_device(), source, "add");
    qn_stream *stream = qn_device_stream(f.device);
    qn_event *event;
    assert_ok(f.context, qn_event_create(f.device, &event));
    qn_buffer *buffer = make_buffer(f.device, size, NULL);
    int *first_read = malloc(size), *second_read = malloc(size);
    const int seven = 7;
    assert_ok(f.context, qn_stream_fill(stream, buffer, 0, size, &seven, sizeof seven));
    assert_ok(f.context, qn_launch(NULL, f.kernel, QN_RANGE(64), QN_ARGS(buffer, 1)));
    assert_ok(f.context, qn_stream_read(stream, buffer, 0, first_read, size));
    assert_ok(f.context, qn_stream_read(stream, buffer, 0, second_read, size / 2));
    assert_ok(f.context, qn_stream_record(stream, event));
    assert_ok(f.context, qn_launch(NULL, f.kernel, QN_RANGE(64), QN_ARGS(buffer, 10)));
    assert_ok(f.context, qn_stream_read(stream, buffer, 0, second_read, size));
    assert_ok(f.context, qn_event_wait(event, QN_FOREVER));
    assert_int_equal(first_read[63], 8);
    assert_int_equal(first_read[last], 7);
    assert_ok(f.context, qn_stream_wait(stream, QN_FOREVER));
    assert_int_equal(second_read[0], 18);
    assert_int_equal(second_read[last], 7);
    free(first_read);
    free(second_read);
    qn_context_destroy(f.context);
}

/* What a deadline says of work that is not done. On a busy machine it may be done before: then there is more of it. */
static bool gives_up(const fixture *f, qn_status status, const char *part) {
    return status == QN_ERROR_TIMEOUT && strstr(qn_error_message(f->context), part);
}

static void with_more_and_more_work(bool (*was_said)(const fixture *f, int count, int kernels)) {
    fixture f = make_fixture(test_device(), source, "spin");
    const int count = spin_for(&f, 0.5);
    bool said = false;
    for (int kernels = 1; kernels < 100 && !said; kernels *= 4) {
        said = was_said(&f, count, kernels);
        assert_ok(f.context, qn_device_wait(f.device, QN_FOREVER)); /* the work went on */
    }
    if (!said) fail_msg("the last message is: %s", qn_error_message(f.context));
    qn_context_destroy(f.context);
}

static void spin_times(const fixture *f, qn_stream *stream, int count, int kernels) {
    qn_buffer *buffer = make_buffer(f->device, 4, NULL);
    for (int i = 0; i < kernels; i++) assert_ok(f->context, spin(f, stream, buffer, count));
    qn_buffer_destroy(buffer);
}

static bool a_deadline_names_it(const fixture *f, int count, int kernels) {
    spin_times(f, NULL, count, kernels);
    return gives_up(f, qn_stream_wait(qn_device_stream(f->device), 20000000), "kernel spin");
}

static void deadlines_name_the_kernel(void **state) {
    (void)state;
    with_more_and_more_work(a_deadline_names_it);
}

/* Behind another stream's work none of its own runs yet: that one is named too. */
static bool a_deadline_names_both(const fixture *f, int count, int kernels) {
    qn_kernel *add = make_kernel(f->program, f->context, "add");
    qn_buffer *buffer = make_buffer(f->device, 4, NULL);
    qn_stream *a, *b;
    qn_event *event;
    assert_ok(f->context, qn_stream_create(f->device, &a));
    assert_ok(f->context, qn_stream_create(f->device, &b));
    assert_ok(f->context, qn_event_create(f->device, &event));
    spin_times(f, a, count, kernels);
    assert_ok(f->context, qn_stream_record(a, event));
    assert_ok(f->context, qn_stream_wait_event(b, event));
    assert_ok(f->context, qn_launch(b, add, QN_RANGE(1), QN_ARGS(buffer, 1)));
    return gives_up(f, qn_stream_wait(b, 20000000), "unfinished: kernel add, spin");
}

static void deadlines_name_the_kernel_that_waits(void **state) {
    (void)state;
    with_more_and_more_work(a_deadline_names_both);
}

/* Of an event behind a kernel, and of one in a stream without any that waits for the first. */
static bool deadlines_of_events_name_it(const fixture *f, int count, int kernels) {
    qn_stream *a, *b;
    qn_event *events[2];
    bool said = true;
    assert_ok(f->context, qn_stream_create(f->device, &a));
    assert_ok(f->context, qn_stream_create(f->device, &b));
    for (int i = 0; i < 2; i++) assert_ok(f->context, qn_event_create(f->device, &events[i]));
    spin_times(f, a, count, kernels);
    assert_ok(f->context, qn_stream_record(a, events[0]));
    assert_ok(f->context, qn_stream_wait_event(b, events[0]));
    assert_ok(f->context, qn_stream_record(b, events[1]));
    for (int i = 0; i < 2 && said; i++)
        said = gives_up(f, qn_event_wait(events[i], 20000000),
                        "was not reached in 20 ms; unfinished: kernel spin");
    return said && gives_up(f, qn_stream_wait(b, 20000000), "unfinished: kernel spin") &&
           gives_up(f, qn_device_wait(f->device, 20000000), "not done in 20 ms") &&
           !qn_event_wait(events[1], QN_FOREVER);
}

static void deadlines_of_events_name_the_kernel(void **state) {
    (void)state;
    with_more_and_more_work(deadlines_of_events_name_it);
}

/* A later recording on a stream without work does not stand in for the one that a wait found. */
static void a_wait_is_for_the_recording_before_it(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), source, "spin");
    const int zero = 0, seven = 7;
    int out = 0;
    qn_buffer *spun = make_buffer(f.device, 4, NULL), *buffer = make_buffer(f.device, 4, &zero);
    qn_stream *reader, *writer, *idle;
    qn_event *event;
    assert_ok(f.context, qn_stream_create(f.device, &reader));
    assert_ok(f.context, qn_stream_create(f.device, &writer));
    assert_ok(f.context, qn_stream_create(f.device, &idle));
    assert_ok(f.context, qn_event_create(f.device, &event));
    assert_ok(f.context, spin(&f, writer, spun, spin_for(&f, 0.1)));
    assert_ok(f.context, qn_stream_write(writer, buffer, 0, &seven, sizeof seven));
    assert_ok(f.context, qn_stream_record(writer, event));
    assert_ok(f.context, qn_stream_wait_event(reader, event));
    assert_ok(f.context, qn_stream_read(reader, buffer, 0, &out, sizeof out));
    assert_ok(f.context, qn_stream_record(idle, event));
    assert_ok(f.context, qn_stream_wait(reader, QN_FOREVER));
    assert_int_equal(out, 7);
    qn_context_destroy(f.context);
}

typedef struct event_waiter {
    qn_event *waited, *before; /* `before` is recorded in front of `waited` */
    uint64_t timeout_ns;
    qn_status status;
    bool done;
    _Atomic bool begun;
} event_waiter;

static void *wait_for_event(void *argument) {
    event_waiter *w = argument;
    w->begun = true;
    w->status = qn_event_wait(w->waited, w->timeout_ns);
    if (!w->status) w->status = qn_event_done(w->before, &w->done);
    return NULL;
}

/* The thread has so many milliseconds to get into its wait, and the kernels before the event take longer. If it comes later, it finds the
   recording on the idle stream, and returns. */
static bool waits_for_the_first(const fixture *f, qn_stream *const *streams, uint64_t timeout_ns, int count,
                                int milliseconds) {
    event_waiter waiter = {.timeout_ns = timeout_ns};
    pthread_t thread;
    qn_buffer *buffer = make_buffer(f->device, 4, NULL);
    assert_ok(f->context, qn_event_create(f->device, &waiter.waited));
    assert_ok(f->context, qn_event_create(f->device, &waiter.before));
    for (int ms = 0; ms < milliseconds; ms += 50) assert_ok(f->context, spin(f, streams[0], buffer, count));
    assert_ok(f->context, qn_stream_record(streams[0], waiter.before));
    assert_ok(f->context, qn_stream_record(streams[0], waiter.waited));
    assert_int_equal(pthread_create(&thread, NULL, wait_for_event, &waiter), 0);
    while (!waiter.begun) sched_yield();
    nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000L}, NULL);
    assert_ok(f->context, qn_stream_record(streams[1], waiter.waited));
    pthread_join(thread, NULL);
    assert_int_equal(waiter.status, QN_OK);
    assert_ok(f->context, qn_device_wait(f->device, QN_FOREVER));
    return waiter.done;
}

static void a_thread_waits_for_the_recording_that_it_found(void **state) {
    (void)state;
    static const uint64_t timeouts[] = {QN_FOREVER, 60000000000u};
    fixture f = make_fixture(test_device(), source, "spin");
    const int count = spin_for(&f, 0.2);
    qn_stream *streams[2];
    for (int i = 0; i < 2; i++) assert_ok(f.context, qn_stream_create(f.device, &streams[i]));
    for (int i = 0; i < 2; i++) {
        int milliseconds = 50;
        while (!waits_for_the_first(&f, streams, timeouts[i], count, milliseconds))
            if ((milliseconds += 150) > 900) fail_msg("the wait ended with another recording");
    }
    qn_context_destroy(f.context);
}

/* Every thread of the pool is in the endless kernel. */
static void an_endless_kernel_stops_no_other_stream(void **state) {
    (void)state;
    if (!testing("cpu")) return; /* elsewhere the hardware decides */
    static const char endless[] =
        "kernel void release(global volatile atomic_int *go) { atomic_store(go, 1); }\n"
        "kernel void endless(global volatile atomic_int *go, global int *out) {\n"
        "    while (atomic_load(go) == 0);\n"
        "    out[get_global_id(0)] = 1;\n"
        "}\n"
        "kernel void add(global int *a, int v) { a[get_global_id(0)] += v; }\n";
    enum { N = 4096 };
    static const char *const compilers[] = {NULL, "none"}; /* compiled and interpreted */
    static int out[N];
    for (int i = 0; i < 2; i++) {
        fixture f = {.context =
                         make_context(&(qn_context_desc){.cpu_compiler = compilers[i], .cpu_threads = 4})};
        f.device = get_device(f.context, "cpu");
        f.program = make_program(f.device, endless);
        qn_kernel *stuck = make_kernel(f.program, f.context, "endless");
        qn_kernel *add = make_kernel(f.program, f.context, "add");
        qn_stream *a, *b, *c;
        assert_ok(f.context, qn_stream_create(f.device, &a));
        assert_ok(f.context, qn_stream_create(f.device, &b));
        assert_ok(f.context, qn_stream_create(f.device, &c));
        qn_buffer *go = make_buffer(f.device, 4, NULL), *buffer = make_buffer(f.device, sizeof out, NULL);
        qn_buffer *flags = make_buffer(f.device, sizeof out, NULL);
        assert_ok(f.context, qn_launch(a, stuck, QN_RANGE(N), QN_ARGS(go, flags)));
        assert_fails(f.context, qn_stream_wait(a, 50000000), QN_ERROR_TIMEOUT, "unfinished: kernel endless");
        for (int k = 0; k < 3; k++) assert_ok(f.context, qn_launch(b, add, QN_RANGE(N), QN_ARGS(buffer, 1)));
        assert_ok(f.context, qn_stream_read(b, buffer, 0, out, sizeof out));
        qn_status status = qn_stream_wait(b, 60000000000u);
        qn_kernel *release = make_kernel(f.program, f.context, "release");
        assert_ok(f.context, qn_launch(c, release, QN_RANGE(1), QN_ARGS(go)));
        assert_int_equal(status, QN_OK);
        for (int k = 0; k < N; k++) assert_int_equal(out[k], 3);
        assert_ok(f.context, qn_stream_wait(a, QN_FOREVER));
        qn_context_destroy(f.context);
    }
}

static void objects_in_flight_may_be_destroyed(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), source, "spin");
    qn_buffer *buffer = make_buffer(f.device, 4, NULL);
    qn_memory_stats stats;
    int count = spin_for(&f, 0.2);
    qn_event *end;
    bool done;
    assert_ok(f.context, qn_event_create(f.device, &end));
    assert_ok(f.context, spin(&f, NULL, buffer, count));
    assert_ok(f.context, qn_stream_record(NULL, end));
    qn_buffer_destroy(buffer);
    qn_kernel_destroy(f.kernel);
    qn_program_destroy(f.program);
    assert_ok(f.context, qn_device_memory(f.device, &stats));
    assert_ok(f.context, qn_event_done(end, &done));
    assert_true(stats.buffers == 1 || (done && stats.buffers == 0)); /* done: on a busy machine */
    assert_ok(f.context, qn_stream_wait(qn_device_stream(f.device), QN_FOREVER));
    assert_ok(f.context, qn_device_memory(f.device, &stats));
    assert_int_equal(stats.buffers, 0);
    qn_context_destroy(f.context);
}

static void graphs_replay(void **state) {
    const char *names[] = {test_device(), "null"};
    (void)state;
    for (int d = 0; d < 2; d++) {
        fixture f = make_fixture(names[d], source, "add");
        qn_stream *stream;
        qn_graph *graph;
        assert_ok(f.context, qn_stream_create(f.device, &stream));
        int out[8], one = 1;
        qn_buffer *buffer = make_buffer(f.device, sizeof out, NULL);
        assert_fails(f.context, qn_graph_end(stream, &graph), QN_ERROR_STATE, "does not record");
        assert_ok(f.context, qn_graph_begin(stream));
        assert_fails(f.context, qn_graph_begin(stream), QN_ERROR_STATE, "already records");
        assert_ok(f.context, qn_stream_fill(stream, buffer, 0, sizeof out, &one, 4));
        for (int i = 0; i < 20; i++)
            assert_ok(f.context, qn_launch(stream, f.kernel, QN_RANGE(8), QN_ARGS(buffer, i)));
        assert_fails(f.context, qn_stream_read(stream, buffer, 0, out, 4), QN_ERROR_STATE, "recorded");
        assert_fails(f.context, qn_stream_wait(stream, QN_FOREVER), QN_ERROR_STATE, "records");
        assert_ok(f.context, qn_graph_end(stream, &graph));
        qn_kernel_destroy(f.kernel); /* the graph keeps it */
        for (int i = 0; i < 3; i++) assert_ok(f.context, qn_graph_launch(stream, graph));
        assert_ok(f.context, qn_stream_read(stream, buffer, 0, out, sizeof out));
        assert_ok(f.context, qn_stream_wait(stream, QN_FOREVER));
        assert_int_equal(out[7], d == 0 ? 191 : 1);
        qn_graph_destroy(graph);
        qn_context_destroy(f.context);
    }
}

typedef struct printed {
    char text[4096];
    size_t length;
} printed;

static pthread_mutex_t collecting = PTHREAD_MUTEX_INITIALIZER;

static void collect(void *user, const char *text, size_t size) {
    printed *p = user;
    pthread_mutex_lock(&collecting);
    if (size < sizeof p->text - p->length) {
        memcpy(p->text + p->length, text, size);
        p->length += size;
    }
    pthread_mutex_unlock(&collecting);
}

static void printed_text_goes_to_the_hook(void **state) {
    (void)state;
    printed p = {.length = 0};
    qn_context *context =
        make_context(&(qn_context_desc){.print = collect, .print_user = &p, .cpu_threads = 1});
    qn_device *device = get_device(context, test_device());
    qn_program *program = make_program(device, "kernel void f(void) { printf(\"%d %5.2f %v4hlf %s|%c%%\\n\", "
                                               "7, 1.5f, (float4)(1, 2, 3, 4), \"text\", 'x'); }");
    qn_kernel *kernel = make_kernel(program, context, "f");
    assert_ok(context, qn_launch(NULL, kernel, QN_RANGE(1), QN_NO_ARGS));
    assert_ok(context, qn_device_wait(device, QN_FOREVER));
    p.text[p.length] = 0;
    assert_string_equal(p.text, "7  1.50 1.000000,2.000000,3.000000,4.000000 text|x%\n");
    qn_context_destroy(context);
}

static int lines_in(const printed *p) {
    int lines = 0;
    for (size_t i = 0; i < p->length; i++) lines += p->text[i] == '\n';
    return lines;
}

/* To launch it does not wait for it; each launch prints, on whatever stream. */
static void a_graph_that_prints_does_not_wait(void **state) {
    (void)state;
    printed p = {.length = 0};
    fixture f = {.context = make_context(&(qn_context_desc){.print = collect, .print_user = &p})};
    f.device = get_device(f.context, test_device());
    f.program = make_program(
        f.device, "kernel void say(global int *a, int v) { printf(\"%d\\n\", v + a[1]); }\n" SPIN_SOURCE);
    f.kernel = make_kernel(f.program, f.context, "spin");
    qn_kernel *say = make_kernel(f.program, f.context, "say");
    qn_stream *a, *b;
    qn_graph *graph;
    qn_buffer *buffer = make_buffer(f.device, 8, (int[]){0, 40});
    const int count = spin_for(&f, 0.3);
    assert_ok(f.context, qn_stream_create(f.device, &a));
    assert_ok(f.context, qn_stream_create(f.device, &b));
    assert_ok(f.context, qn_graph_begin(a));
    assert_ok(f.context, qn_launch(a, say, QN_RANGE(1), QN_ARGS(buffer, 1)));
    assert_ok(f.context, spin(&f, a, buffer, count));
    assert_ok(f.context, qn_launch(a, say, QN_RANGE(1), QN_ARGS(buffer, 2)));
    assert_ok(f.context, qn_graph_end(a, &graph));
    assert_ok(f.context, qn_graph_launch(a, graph));
    const qn_status status = qn_stream_wait(a, 0); /* done on a busy machine alone */
    if (status) assert_fails(f.context, status, QN_ERROR_TIMEOUT, "not done");
    assert_ok(f.context, qn_graph_launch(a, graph));
    assert_ok(f.context, qn_stream_wait(a, QN_FOREVER));
    p.text[p.length] = 0;
    assert_string_equal(p.text, "41\n42\n41\n42\n");
    assert_ok(f.context, qn_graph_launch(a, graph));
    assert_ok(f.context, qn_graph_launch(b, graph));
    qn_graph_destroy(graph);
    assert_ok(f.context, qn_device_wait(f.device, QN_FOREVER));
    assert_int_equal(lines_in(&p), 8);
    qn_context_destroy(f.context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_order_their_work),
        cmocka_unit_test(events_order_streams_and_tell_time),
        cmocka_unit_test(what_nobody_waits_for_is_done_all_the_same),
        cmocka_unit_test(large_reads_stand_between_other_commands),
        cmocka_unit_test(deadlines_name_the_kernel),
        cmocka_unit_test(deadlines_name_the_kernel_that_waits),
        cmocka_unit_test(deadlines_of_events_name_the_kernel),
        cmocka_unit_test(a_wait_is_for_the_recording_before_it),
        cmocka_unit_test(a_thread_waits_for_the_recording_that_it_found),
        cmocka_unit_test(an_endless_kernel_stops_no_other_stream),
        cmocka_unit_test(objects_in_flight_may_be_destroyed),
        cmocka_unit_test(graphs_replay),
        cmocka_unit_test(printed_text_goes_to_the_hook),
        cmocka_unit_test(a_graph_that_prints_does_not_wait),
    };
    return run_device_tests(tests);
}
