/* What happens at the edges: objects that outlive one another, calls while a graph is recorded, sizes whose
   products overflow, failures in the middle of a call. */
#include "api_support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

static const char source[] = "kernel void add(global int *a, int v) { a[get_global_id(0)] += v; }\n"
                             "kernel void real(global float *a, float v) { a[0] = v; }\n" SPIN_SOURCE;
static const char big_source[] = "kernel void big(global int *a) {\n"
                                 "    local int room[20000];\n"
                                 "    room[get_local_id(0)] = 1;\n"
                                 "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                                 "    a[0] = room[0];\n"
                                 "}\n";

/* An allocator that counts live blocks and can be told to give none. */
typedef struct counter {
    atomic_size_t live;
    atomic_bool empty;
} counter;

static void *allocate(void *user, size_t size) {
    counter *c = user;
    void *memory = c->empty ? NULL : malloc(size);
    if (memory) c->live++;
    return memory;
}

static void *reallocate(void *user, void *memory, size_t size) {
    counter *c = user;
    void *grown = c->empty ? NULL : realloc(memory, size);
    if (grown && !memory) c->live++;
    return grown;
}

static void release(void *user, void *memory) {
    counter *c = user;
    free(memory);
    c->live--;
}

static qn_context *make_counted(counter *c) {
    return make_context(
        &(qn_context_desc){.allocator = {allocate, reallocate, release, c}, .cpu_compile_first = true});
}

/* The view keeps the second buffer, which the caller has destroyed, up to the end. */
static void the_context_takes_everything_along(void **state) {
    (void)state;
    counter c = {0};
    qn_context *context = make_counted(&c);
    qn_device *device = get_device(context, test_device());
    qn_buffer *left = make_buffer(device, 100, NULL), *parent = make_buffer(device, 64, NULL), *view;
    assert_ok(context, qn_buffer_view(parent, 16, 16, &view));
    qn_buffer_destroy(parent);
    assert_non_null(left);
    qn_context_destroy(context);
    assert_int_equal(c.live, 0);
}

static void the_context_ends_a_recording(void **state) {
    (void)state;
    counter c = {0};
    qn_context *context = make_counted(&c);
    qn_device *device = get_device(context, "null");
    qn_buffer *buffer = make_buffer(device, 64, NULL);
    qn_stream *stream;
    assert_ok(context, qn_stream_create(device, &stream));
    assert_ok(context, qn_graph_begin(stream));
    assert_ok(context, qn_stream_write(stream, buffer, 0, "0123", 4));
    qn_buffer_destroy(buffer);
    qn_context_destroy(context);
    assert_int_equal(c.live, 0);
}

/* Blocking calls and new buffers have nothing to do with a graph that the default stream records. */
static void blocking_calls_are_not_recorded(void **state) {
    const char *names[] = {test_device(), "null"};
    (void)state;
    for (int d = 0; d < 2; d++) {
        qn_context *context = make_context(NULL);
        qn_device *device = get_device(context, names[d]);
        qn_stream *stream = qn_device_stream(device);
        qn_buffer *buffer = make_buffer(device, 4, "old!");
        qn_graph *graph;
        char out[4] = {0}, *host;
        assert_ok(context, qn_graph_begin(stream));
        assert_fails(context, qn_buffer_write(buffer, 0, "new!", 4), QN_ERROR_STATE, "record");
        assert_fails(context, qn_buffer_read(buffer, 0, out, 4), QN_ERROR_STATE, "record");
        qn_buffer *filled = make_buffer(device, 4, "fill"), *zero = make_buffer(device, 4, NULL);
        assert_ok(context, qn_buffer_map(filled, QN_MAP_READ, (void **)&host));
        assert_memory_equal(host, "fill", 4);
        assert_ok(context, qn_buffer_unmap(filled));
        assert_ok(context, qn_graph_end(stream, &graph));
        assert_ok(context, qn_stream_fill(NULL, zero, 0, 4, "z", 1));
        assert_ok(context, qn_graph_launch(NULL, graph));
        assert_ok(context, qn_buffer_read(buffer, 0, out, 4));
        assert_memory_equal(out, "old!", 4);
        assert_ok(context, qn_buffer_read(zero, 0, out, 4));
        assert_memory_equal(out, "zzzz", 4);
        qn_context_destroy(context);
    }
}

static void a_read_map_inside_a_write_map_keeps_what_was_written(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, "null");
    qn_buffer *buffer = make_buffer(device, 4, "devi");
    char *host, *again, out[4];
    assert_ok(context, qn_buffer_map(buffer, QN_MAP_WRITE, (void **)&host));
    memcpy(host, "host", 4);
    assert_ok(context, qn_buffer_map(buffer, QN_MAP_READ, (void **)&again));
    assert_memory_equal(again, "host", 4);
    assert_ok(context, qn_buffer_unmap(buffer));
    assert_ok(context, qn_buffer_unmap(buffer));
    assert_ok(context, qn_buffer_read(buffer, 0, out, 4));
    assert_memory_equal(out, "host", 4);
    qn_context_destroy(context);
}

static void work_sizes_do_not_overflow(void **state) {
    const uint64_t big = (uint64_t)1 << 48; /* the most that the processor takes */
    (void)state;
    fixture f = make_fixture("cpu", source, "add");
    qn_buffer *buffer = make_buffer(f.device, 4, NULL);
    assert_fails(f.context, qn_launch(NULL, f.kernel, QN_RANGE(1, big, big), QN_ARGS(buffer, 1)),
                 QN_ERROR_LAUNCH_SIZE, "work-items");
    assert_fails(f.context, qn_launch(NULL, f.kernel, QN_RANGE(big, 65536, 1), QN_ARGS(buffer, 1)),
                 QN_ERROR_LAUNCH_SIZE, "work-items");
    assert_fails(f.context, qn_launch(NULL, f.kernel, QN_RANGE(big + 1), QN_ARGS(buffer, 1)),
                 QN_ERROR_LAUNCH_SIZE, "allows");
    qn_range range = {.global = {2}, .offset = {UINT64_MAX - 1}};
    assert_fails(f.context, qn_launch(NULL, f.kernel, &range, QN_ARGS(buffer, 1)), QN_ERROR_LAUNCH_SIZE,
                 "offset");
    assert_ok(f.context, qn_launch(NULL, f.kernel, QN_RANGE_LOCAL({1}, {64}), QN_ARGS(buffer, 1)));
    assert_ok(f.context, qn_launch(NULL, f.kernel, QN_RANGE(0, big, big), QN_ARGS(buffer, 1)));
    qn_context_destroy(f.context);
}

static void local_memory_of_the_kernel_itself_is_limited(void **state) {
    (void)state;
    fixture f = make_fixture("null", big_source, "big");
    qn_buffer *buffer = make_buffer(f.device, 4, NULL);
    assert_fails(f.context, qn_launch(NULL, f.kernel, QN_RANGE(1), QN_ARGS(buffer)), QN_ERROR_LAUNCH_SIZE,
                 "bytes of local memory");
    qn_context_destroy(f.context);
}

static void numbers_do_not_turn_infinite(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), source, "real");
    qn_buffer *buffer = make_buffer(f.device, 4, NULL);
    float out;
    assert_fails(f.context, qn_launch(NULL, f.kernel, QN_RANGE(1), QN_ARGS(buffer, 1e300)),
                 QN_ERROR_KERNEL_ARGUMENT, "does not fit");
    assert_ok(f.context, qn_launch(NULL, f.kernel, QN_RANGE(1), QN_ARGS(buffer, -1.0 / 0.0)));
    assert_ok(f.context, qn_buffer_read(buffer, 0, &out, 4));
    assert_true(out < -3e38f);
    qn_context_destroy(f.context);
}

static void a_failed_recording_leaves_the_event_as_it_was(void **state) {
    const char *names[] = {test_device(), "null"};
    (void)state;
    for (int d = 0; d < 2; d++) {
        counter c = {0};
        qn_context *context = make_counted(&c);
        qn_device *device = get_device(context, names[d]);
        qn_event *event;
        qn_stream *stream;
        assert_ok(context, qn_event_create(device, &event));
        assert_ok(context, qn_stream_create(device, &stream));
        c.empty = true;
        assert_int_equal(qn_stream_record(stream, event), QN_ERROR_OUT_OF_MEMORY);
        c.empty = false;
        assert_int_equal(qn_event_wait(event, 1000000), QN_ERROR_STATE);
        qn_context_destroy(context);
        assert_int_equal(c.live, 0);
    }
}

static void destroyed_objects_say_so(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), source, "add");
    qn_kernel_info info;
    qn_param_info param;
    qn_kernel_destroy(f.kernel);
    qn_program_destroy(f.program);
    assert_fails(f.context, qn_kernel_get_info(f.kernel, &info), QN_ERROR_DESTROYED, "destroyed");
    assert_fails(f.context, qn_kernel_get_param(f.kernel, 0, &param), QN_ERROR_DESTROYED, "destroyed");
    qn_context_destroy(f.context);
}

/* Also where the object that is wrong has no context to find the message by. */
static void wrong_objects_get_a_sentence(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), source, "add");
    qn_stream *stream = qn_device_stream(f.device);
    qn_buffer *buffer = make_buffer(f.device, 4, NULL);
    assert_fails(f.context, qn_stream_write(stream, NULL, 0, "x", 1), QN_ERROR_NULL, "buffer is NULL");
    assert_fails(f.context, qn_launch(stream, NULL, QN_RANGE(1), QN_NO_ARGS), QN_ERROR_NULL,
                 "kernel is NULL");
    assert_fails(f.context, qn_stream_record(stream, NULL), QN_ERROR_NULL, "event is NULL");
    assert_fails(f.context, qn_graph_launch(stream, NULL), QN_ERROR_NULL, "graph is NULL");
    assert_fails(f.context, qn_launch(stream, (qn_kernel *)(void *)buffer, QN_RANGE(1), QN_NO_ARGS),
                 QN_ERROR_ARGUMENT, "kernel is a buffer");
    qn_context_destroy(f.context);
}

static void a_deadline_is_for_the_whole_device(void **state) {
    enum { STREAMS = 8 };
    (void)state;
    fixture f = make_fixture(test_device(), source, "spin");
    const int count = spin_for(&f, 0.4);
    qn_stream *streams[STREAMS];
    qn_buffer *buffers[STREAMS];
    bool in_time = false;
    for (int i = 0; i < STREAMS; i++) {
        assert_ok(f.context, qn_stream_create(f.device, &streams[i]));
        buffers[i] = make_buffer(f.device, 4, NULL);
    }
    /* On a busy machine the work may be done before, or this process has to wait: then there is more work, and another look. */
    for (int kernels = 1; kernels < 20 && !in_time; kernels += 2) {
        for (int i = 0; i < STREAMS * kernels; i++)
            assert_ok(f.context, spin(&f, streams[i % STREAMS], buffers[i % STREAMS], count));
        const double start = test_seconds();
        const qn_status status = qn_device_wait(f.device, 100000000);
        const double took = test_seconds() - start;
        if (status) assert_fails(f.context, status, QN_ERROR_TIMEOUT, "spin");
        in_time = status && took < 0.1 * (STREAMS - 1) /* one deadline a stream would be more */
                  && qn_device_wait(f.device, 0) == QN_ERROR_TIMEOUT;
        assert_ok(f.context, qn_device_wait(f.device, QN_FOREVER - 1)); /* far away, but no overflow */
    }
    assert_true(in_time);
    qn_context_destroy(f.context);
}

static void *fail_once(void *user) {
    qn_device *device;
    return (void *)(uintptr_t)qn_device_get(user, "moon", &device);
}

static void messages_of_ended_threads_are_used_again(void **state) {
    (void)state;
    counter c = {0};
    qn_context *context = make_counted(&c);
    size_t before = 0;
    for (int i = 0; i < 200; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, fail_once, context), 0);
        pthread_join(thread, NULL);
        if (i == 100) before = c.live;
    }
    assert_true(c.live < before + 50);
    qn_context_destroy(context);
    assert_int_equal(c.live, 0);
}

static void too_many_threads_are_not_made(void **state) {
    (void)state;
    qn_context *context = make_context(&(qn_context_desc){.cpu_threads = UINT32_MAX});
    qn_device *device;
    qn_device_info info;
    if (qn_device_get(context, "cpu", &device) == QN_OK) {
        assert_ok(context, qn_device_get_info(device, &info));
        assert_true(info.compute_units <= 4096);
    }
    qn_context_destroy(context);
}

typedef struct printed {
    char text[20000];
    size_t length;
} printed;

static void collect(void *user, const char *text, size_t size) {
    printed *p = user;
    if (size >= sizeof p->text - p->length) return;
    memcpy(p->text + p->length, text, size);
    p->text[p->length += size] = 0;
}

static void print_once(const char *text, printed *p) {
    *p = (printed){.length = 0};
    qn_context *context = make_context(&(qn_context_desc){.print = collect, .print_user = p});
    qn_device *device = get_device(context, test_device());
    qn_kernel *kernel = make_kernel(make_program(device, text), context, "f");
    assert_ok(context, qn_launch(NULL, kernel, QN_RANGE(1), QN_NO_ARGS));
    assert_ok(context, qn_device_wait(device, QN_FOREVER));
    qn_context_destroy(context);
}

static void long_output_is_printed_whole(void **state) {
    static printed p;
    (void)state;
    print_once("kernel void f(void) { printf(\"%2000d|%1500s|%.700f|\\n\", 7, \"end\", 0.5f); }", &p);
    assert_int_equal(p.length, 2000 + 1 + 1500 + 1 + 702 + 2);
    assert_int_equal(p.text[1999], '7');
    assert_memory_equal(p.text + 2001 + 1497, "end|0.5000", 10);
    print_once("kernel void f(void) { printf(\"%4000d%4000d%4000d%4000d%4000d\\n\", 7, 8, 9, 10, 11); }", &p);
    assert_int_equal(p.length, 16384); /* the most that one call prints */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_context_takes_everything_along),
        cmocka_unit_test(the_context_ends_a_recording),
        cmocka_unit_test(blocking_calls_are_not_recorded),
        cmocka_unit_test(a_read_map_inside_a_write_map_keeps_what_was_written),
        cmocka_unit_test(work_sizes_do_not_overflow),
        cmocka_unit_test(local_memory_of_the_kernel_itself_is_limited),
        cmocka_unit_test(numbers_do_not_turn_infinite),
        cmocka_unit_test(a_failed_recording_leaves_the_event_as_it_was),
        cmocka_unit_test(destroyed_objects_say_so),
        cmocka_unit_test(wrong_objects_get_a_sentence),
        cmocka_unit_test(a_deadline_is_for_the_whole_device),
        cmocka_unit_test(messages_of_ended_threads_are_used_again),
        cmocka_unit_test(too_many_threads_are_not_made),
        cmocka_unit_test(long_output_is_printed_whole),
    };
    return run_device_tests(tests);
}
