/* Giving up: work that is cancelled. */
#include "api_support.h"

#include <pthread.h>
#include <stdatomic.h>

/* Kernels that never end by themselves, in each form that loops have: alone, work-items that leave one after another, with
   barriers, counted without an end, and many groups. */
static const char source[] = "kernel void wait(global volatile int *a) { while (a[0] == 0) {} a[1] = 1; }\n"
                             "kernel void wait_for_all(global volatile int *a) {\n"
                             "    int i = get_global_id(0);\n"
                             "    while (a[i] == 0) {}\n"
                             "    a[i] = 2;\n"
                             "}\n"
                             "kernel void wait_in_step(global volatile int *a, local int *l) {\n"
                             "    for (;;) {\n"
                             "        l[get_local_id(0)] = a[get_local_id(0)];\n"
                             "        barrier(CLK_LOCAL_MEM_FENCE);\n"
                             "        if (l[get_local_id(0) ^ 1]) break;\n"
                             "        barrier(CLK_LOCAL_MEM_FENCE);\n"
                             "    }\n"
                             "}\n"
                             "kernel void count_on(global volatile int *a) {\n"
                             "    for (uint i = 0; i <= 0xffffffffu; i += a[2]) a[1] = a[1] * 3 + i;\n"
                             "}\n"
                             "kernel void count_long(global volatile int *a) {\n"
                             "    for (ulong i = 0; i < 0xffffffffffffffffUL; i++) a[1] = a[1] * 3 + i;\n"
                             "}\n"
                             "kernel void nest(global int *a, int n) {\n"
                             "    int s = a[1];\n"
                             "    for (int i = 0; i < n; i++)\n"
                             "        for (int j = 0; j < n; j++)\n"
                             "            for (int k = 0; k < n; k++) s = s * 3 + (i ^ j ^ k);\n"
                             "    a[1] = s;\n"
                             "}\n"
                             "kernel void groups(global int *a, local int *l) {\n"
                             "    int s = a[1];\n"
                             "    for (int i = 0; i < 100000; i++) s = s * 3 + i;\n"
                             "    l[0] = s;\n"
                             "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                             "    if (s == 77) a[1] = l[0];\n"
                             "}\n"
                             "kernel void put(global int *a, int at, int value) { a[at] = value; }\n";

enum { LOCAL = 32 };

static qn_status launch(const fixture *f, qn_stream *stream, const char *name, qn_buffer *buffer) {
    qn_kernel *kernel = make_kernel(f->program, f->context, name);
    qn_status status;
    if (strcmp(name, "nest") == 0)
        status = qn_launch(stream, kernel, QN_RANGE(1), QN_ARGS(buffer, 1 << 20));
    else if (strcmp(name, "wait_in_step") == 0)
        status = qn_launch(stream, kernel, QN_RANGE_LOCAL(QN_GROUP(64), QN_GROUP(LOCAL)),
                           QN_ARGS(buffer, qn_arg_local(4 * LOCAL)));
    else if (strcmp(name, "groups") == 0)
        status = qn_launch(stream, kernel, QN_RANGE_LOCAL(QN_GROUP(1u << 30), QN_GROUP(4)),
                           QN_ARGS(buffer, qn_arg_local(16)));
    else
        status = qn_launch(stream, kernel, QN_RANGE(strcmp(name, "wait_for_all") ? 1 : 100), QN_ARGS(buffer));
    qn_kernel_destroy(kernel);
    return status;
}

static void pause_ms(int ms) { nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, NULL); }

static void running_kernels_end(const char *compiler) {
    static const char *const names[] = {"wait",       "wait_for_all", "wait_in_step", "count_on",
                                        "count_long", "nest",         "groups"};
    qn_context *context = make_context(&(qn_context_desc){.cpu_compiler = compiler});
    fixture f = {.context = context, .device = get_device(context, "cpu")};
    f.program = make_program(f.device, source);
    qn_kernel *put = make_kernel(f.program, context, "put");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        qn_stream *stream;
        int host[128] = {0};
        qn_buffer *buffer = make_buffer(f.device, sizeof host, NULL);
        assert_ok(context, qn_stream_create(f.device, &stream));
        assert_ok(context, launch(&f, stream, names[i], buffer));
        assert_ok(context, qn_launch(stream, put, QN_RANGE(1), QN_ARGS(buffer, 100, 5))); /* is dropped */
        if (i % 2) pause_ms(3);
        assert_fails(context, qn_stream_wait(stream, 1000000), QN_ERROR_TIMEOUT, names[i]);
        assert_ok(context, qn_stream_cancel(stream));
        assert_fails(context, qn_stream_wait(stream, QN_FOREVER), QN_ERROR_CANCELLED, names[i]);
        assert_ok(context, qn_stream_wait(stream, QN_FOREVER)); /* told once */
        assert_ok(context, qn_launch(stream, put, QN_RANGE(1), QN_ARGS(buffer, 101, 6)));
        assert_ok(context, qn_stream_read(stream, buffer, 0, host, sizeof host));
        assert_ok(context, qn_stream_wait(stream, QN_FOREVER));
        assert_int_equal(host[100], 0);
        assert_int_equal(host[101], 6);
        qn_stream_destroy(stream);
        qn_buffer_destroy(buffer);
    }
    qn_context_destroy(context);
}

static void compiled_kernels_end(void **state) {
    (void)state;
    running_kernels_end(NULL);
}

static void interpreted_kernels_end(void **state) {
    (void)state;
    running_kernels_end("none");
}

/* A stream that waits for another's event, and one whose event stands in what is dropped. */
static void waits_for_events_end(void **state) {
    (void)state;
    fixture f = make_fixture("cpu", source, "wait");
    qn_stream *a, *b;
    qn_event *event, *dropped;
    bool done;
    qn_buffer *buffer = make_buffer(f.device, 512, NULL);
    assert_ok(f.context, qn_stream_create(f.device, &a));
    assert_ok(f.context, qn_stream_create(f.device, &b));
    assert_ok(f.context, qn_event_create(f.device, &event));
    assert_ok(f.context, qn_event_create(f.device, &dropped));
    assert_ok(f.context, launch(&f, a, "wait", buffer));
    assert_ok(f.context, qn_stream_record(a, event));
    assert_ok(f.context, qn_stream_wait_event(b, event));
    assert_ok(f.context, qn_stream_record(b, dropped));
    pause_ms(2);
    assert_ok(f.context, qn_stream_cancel(b));
    assert_fails(f.context, qn_stream_wait(b, QN_FOREVER), QN_ERROR_CANCELLED, "the stream was cancelled;");
    assert_ok(f.context, qn_event_wait(dropped, QN_FOREVER));
    assert_ok(f.context, qn_event_done(event, &done));
    assert_false(done);
    assert_ok(f.context, qn_stream_wait_event(b, event));
    assert_ok(f.context, qn_stream_cancel(a));
    assert_ok(f.context, qn_stream_wait(b, QN_FOREVER)); /* the event counts as reached */
    qn_context_destroy(f.context);
}

/* Commands that the runtime holds until another device is there. */
static void what_waits_for_another_device_is_dropped(void **state) {
    (void)state;
    fixture f = make_fixture("cpu", source, "wait");
    qn_device *other = get_device(f.context, "null");
    qn_event *event;
    qn_stream *stream;
    int host[128];
    qn_kernel *put = make_kernel(f.program, f.context, "put");
    qn_buffer *buffer = make_buffer(f.device, sizeof host, NULL),
              *far = make_buffer(other, sizeof host, NULL);
    qn_stream *behind;
    assert_ok(f.context, qn_stream_create(f.device, &stream));
    assert_ok(f.context, qn_stream_create(f.device, &behind));
    assert_ok(f.context, qn_event_create(f.device, &event));
    assert_ok(f.context, launch(&f, stream, "wait", buffer));
    assert_ok(f.context, qn_stream_copy(stream, far, 0, buffer, 0, sizeof host)); /* held behind the kernel */
    assert_ok(f.context, qn_launch(stream, put, QN_RANGE(1), QN_ARGS(buffer, 100, 5)));
    assert_ok(f.context, qn_stream_record(stream, event));
    assert_ok(f.context, qn_stream_wait_event(behind, event)); /* waits for what is held */
    assert_ok(f.context, qn_launch(behind, put, QN_RANGE(1), QN_ARGS(buffer, 101, 6)));
    assert_ok(f.context, qn_stream_cancel(stream));
    assert_fails(f.context, qn_stream_wait(stream, QN_FOREVER), QN_ERROR_CANCELLED, "with kernel wait");
    assert_ok(f.context, qn_stream_wait(stream, QN_FOREVER));
    assert_ok(f.context, qn_stream_wait(behind, QN_FOREVER));
    assert_ok(f.context, qn_buffer_read(buffer, 0, host, sizeof host));
    assert_int_equal(host[100], 0);
    assert_int_equal(host[101], 6);
    qn_context_destroy(f.context);
}

static void *wait_for_it(void *stream) { return (void *)(uintptr_t)qn_stream_wait(stream, QN_FOREVER); }

/* The thread that waits may be the one that runs the kernel. */
static void another_thread_cancels(void **state) {
    (void)state;
    fixture f = make_fixture("cpu", source, "wait");
    qn_buffer *buffer = make_buffer(f.device, 512, NULL);
    pthread_t thread;
    void *status;
    assert_ok(f.context, launch(&f, NULL, "wait", buffer));
    assert_int_equal(pthread_create(&thread, NULL, wait_for_it, qn_device_stream(f.device)), 0);
    pause_ms(20);
    assert_ok(f.context, qn_stream_cancel(qn_device_stream(f.device)));
    pthread_join(thread, &status);
    assert_int_equal((uintptr_t)status, QN_ERROR_CANCELLED);
    qn_context_destroy(f.context);
}

/* Loops that count to a number that ends soon, in many work-items of one group, for minutes together. */
static void groups_are_left(void **state) {
    (void)state;
    static const char text[] = "kernel void count(global volatile uint *o, uint n) {\n"
                               "    uint sum = 0;\n"
                               "    for (uint i = 0; i < n; i++) sum += o[i & 7];\n"
                               "    o[get_local_id(0)] = sum | 1;\n"
                               "}\n"
                               "kernel void in_step(global volatile uint *o, uint n) {\n"
                               "    for (uint i = 0; i < n; i++) {\n"
                               "        o[get_local_id(0)] += i;\n"
                               "        barrier(CLK_GLOBAL_MEM_FENCE);\n"
                               "    }\n"
                               "}\n";
    fixture f = make_fixture("cpu", text, "count");
    qn_buffer *buffer = make_buffer(f.device, 4 * 1024, NULL);
    qn_stream *stream = qn_device_stream(f.device);
    const char *const names[] = {"count", "in_step"};
    enum { ITEMS = 1024, TIMES = 1 << 28 };
    static uint32_t out[ITEMS];
    const uint32_t zero = 0, ends[] = {1, (TIMES - 1u) * (TIMES / 2)}; /* of the last work-item, by itself */
    for (size_t i = 0; i < 2; i++) {
        qn_kernel *kernel = make_kernel(f.program, f.context, names[i]);
        assert_ok(f.context, qn_stream_fill(stream, buffer, 0, sizeof out, &zero, sizeof zero));
        assert_ok(f.context, qn_launch(stream, kernel, &(qn_range){.global = {ITEMS}, .local = {ITEMS}},
                                       QN_ARGS(buffer, TIMES)));
        pause_ms(20);
        assert_ok(f.context, qn_stream_cancel(stream));
        assert_fails(f.context, qn_stream_wait(stream, QN_FOREVER), QN_ERROR_CANCELLED, names[i]);
        assert_ok(f.context, qn_buffer_read(buffer, 0, out, sizeof out));
        if (i ? out[ITEMS - 1] == ends[1] : out[ITEMS - 1] & ends[0])
            fail_msg("%s went to its end", names[i]);
    }
    qn_context_destroy(f.context);
}

static void keep_status(void *user, qn_status status, const char *message) {
    (void)message;
    atomic_store((atomic_int *)user, (int)status);
}

/* A failure that nobody waits for, and a stream without work. */
static void callbacks_tell_of_it(void **state) {
    (void)state;
    fixture f = make_fixture("cpu", source, "wait");
    qn_stream *stream = qn_device_stream(f.device);
    qn_buffer *buffer = make_buffer(f.device, 512, NULL);
    atomic_int status = -1;
    assert_ok(f.context, qn_stream_cancel(stream));
    assert_ok(f.context, qn_stream_wait(stream, QN_FOREVER));
    assert_ok(f.context, launch(&f, NULL, "wait", buffer));
    assert_ok(f.context, qn_stream_on_done(stream, keep_status, &status));
    assert_ok(f.context, qn_stream_cancel(stream));
    for (int i = 0; i < 60000 && atomic_load(&status) < 0; i++) pause_ms(1);
    assert_int_equal(atomic_load(&status), QN_ERROR_CANCELLED);
    assert_fails(f.context, qn_stream_wait(stream, QN_FOREVER), QN_ERROR_CANCELLED, "with kernel wait");
    qn_context_destroy(f.context);
}

/* Of what was held for another device, whether a wait has told it before or not. */
static void callbacks_tell_of_what_was_held(void **state) {
    (void)state;
    fixture f = make_fixture("cpu", source, "wait");
    qn_device *other = get_device(f.context, "null");
    qn_buffer *buffer = make_buffer(f.device, 512, NULL), *far = make_buffer(other, 512, NULL);
    qn_stream *stream = qn_device_stream(f.device), *behind;
    qn_event *event;
    assert_ok(f.context, qn_stream_create(f.device, &behind));
    assert_ok(f.context, qn_event_create(f.device, &event));
    for (int i = 0; i < 20; i++) {
        atomic_int status = -1;
        assert_ok(f.context, launch(&f, stream, "wait", buffer));
        assert_ok(f.context, qn_stream_copy(stream, far, 0, buffer, 0, 512));
        assert_ok(f.context, qn_stream_record(stream, event));
        assert_ok(f.context, qn_stream_wait_event(behind, event));
        assert_ok(f.context, qn_launch(behind, f.kernel, QN_RANGE(0), QN_ARGS(buffer)));
        assert_ok(f.context, qn_stream_fill(behind, buffer, 256, 4, "1234", 4));
        assert_ok(f.context, qn_stream_on_done(behind, keep_status, &status));
        assert_ok(f.context, qn_stream_cancel(behind));
        assert_fails(f.context, qn_stream_wait(behind, QN_FOREVER), QN_ERROR_CANCELLED, "another device");
        for (int n = 0; n < 60000 && atomic_load(&status) < 0; n++) pause_ms(1);
        assert_int_equal(atomic_load(&status), QN_ERROR_CANCELLED);
        assert_ok(f.context, qn_stream_cancel(stream));
        assert_fails(f.context, qn_stream_wait(stream, QN_FOREVER), QN_ERROR_CANCELLED, "with kernel wait");
    }
    qn_context_destroy(f.context);
}

static void graphs_are_dropped(void **state) {
    (void)state;
    fixture f = make_fixture("cpu", source, "wait");
    qn_stream *stream;
    qn_graph *graph;
    int host[128];
    qn_buffer *buffer = make_buffer(f.device, sizeof host, NULL);
    qn_kernel *put = make_kernel(f.program, f.context, "put");
    assert_ok(f.context, qn_stream_create(f.device, &stream));
    assert_ok(f.context, qn_graph_begin(stream));
    assert_fails(f.context, qn_stream_cancel(stream), QN_ERROR_STATE, "records a graph");
    assert_ok(f.context, launch(&f, stream, "wait", buffer));
    assert_ok(f.context, qn_launch(stream, put, QN_RANGE(1), QN_ARGS(buffer, 100, 5)));
    assert_ok(f.context, qn_graph_end(stream, &graph));
    for (int i = 0; i < 3; i++) {
        assert_ok(f.context, qn_graph_launch(stream, graph));
        assert_ok(f.context, qn_graph_launch(stream, graph));
        assert_ok(f.context, qn_stream_cancel(stream));
        assert_fails(f.context, qn_stream_wait(stream, QN_FOREVER), QN_ERROR_CANCELLED, "cancelled");
    }
    assert_ok(f.context, qn_buffer_read(buffer, 0, host, sizeof host));
    assert_int_equal(host[100], 0);
    qn_context_destroy(f.context);
}

/* The capability tells beforehand. */
static void who_cannot_says_so(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    static const char *const names[] = {"cpu", "null", NULL};
    for (int i = 0; i < 3; i++) {
        qn_device *device = get_device(context, names[i] ? names[i] : test_device());
        qn_device_info info;
        assert_ok(context, qn_device_get_info(device, &info));
        if (names[i]) assert_true(info.capabilities & QN_CAN_CANCEL);
        assert_fails(context, qn_device_reopen(device), QN_ERROR_STATE, "is not lost");
        if (info.capabilities & QN_CAN_CANCEL)
            assert_ok(context, qn_stream_cancel(qn_device_stream(device)));
        else
            assert_fails(context, qn_stream_cancel(qn_device_stream(device)), QN_ERROR_UNSUPPORTED,
                         info.name);
    }
    qn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compiled_kernels_end), cmocka_unit_test(interpreted_kernels_end),
        cmocka_unit_test(waits_for_events_end), cmocka_unit_test(another_thread_cancels),
        cmocka_unit_test(groups_are_left),      cmocka_unit_test(what_waits_for_another_device_is_dropped),
        cmocka_unit_test(callbacks_tell_of_it), cmocka_unit_test(callbacks_tell_of_what_was_held),
        cmocka_unit_test(graphs_are_dropped),   cmocka_unit_test(who_cannot_says_so),
    };
    return run_device_tests(tests);
}
