/* What a WebGPU device does its own way: one buffer for several parameters, which Dawn refuses to bind twice; views that begin
   where no binding may; copies of parts of words, which go by way of the host; pointers that lead to one buffer or another; times; what launches keep; native handles; errors and loss. */
#include <dlfcn.h>
#include <stdlib.h>

#include "api_support.h"
#include "backend/webgpu/api.h"
#include <quern/interop.h>

static qn_buffer *buffer_of(qn_device *device, const void *data, size_t size) {
    qn_buffer *buffer;
    assert_ok(qn_device_context(device),
              qn_buffer_create(device, &(qn_buffer_desc){.size = size, .data = data}, &buffer));
    return buffer;
}

static bool has_device(qn_context *context, qn_device **device) {
    if (qn_device_get(context, "webgpu", device) == QN_OK) return true;
    printf("skipped: %s\n", qn_error_message(context));
    return false;
}

static void one_buffer_is_several_parameters(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device;
    if (has_device(context, &device)) {
        int numbers[] = {1, 2, 3, 4, 5, 6, 7, 8};
        qn_program *program = make_program(
            device, "kernel void add(global const int *a, global const int *b, global int *c) {\n"
                    "    int i = get_global_id(0);\n"
                    "    c[i] = a[i] + 10 * b[i];\n}\n"
                    "kernel void mixed(global const float *a, global int *b) {\n"
                    "    b[0] = (int)a[1];\n}\n");
        qn_kernel *add = make_kernel(program, context, "add"),
                  *mixed = make_kernel(program, context, "mixed");
        qn_buffer *all = buffer_of(device, numbers, sizeof numbers), *view;
        assert_ok(context, qn_buffer_view(all, 4 * sizeof(int), 4 * sizeof(int), &view));
        assert_ok(context, qn_launch(NULL, add, QN_RANGE(4), QN_ARGS(all, view, all)));
        assert_ok(context, qn_launch(NULL, add, QN_RANGE(4), QN_ARGS(view, view, view)));
        assert_ok(context, qn_buffer_read(all, 0, numbers, sizeof numbers));
        const int wanted[] = {51, 62, 73, 84, 55, 66, 77, 88};
        assert_memory_equal(numbers, wanted, sizeof wanted);
        const float two = 2.5f;
        assert_ok(context, qn_buffer_write(all, 4, &two, sizeof two));
        assert_ok(context, qn_launch(NULL, mixed, QN_RANGE(1), QN_ARGS(all, all)));
        assert_ok(context, qn_buffer_read(all, 0, numbers, sizeof numbers[0]));
        assert_int_equal(numbers[0], 2);
    }
    qn_context_destroy(context);
}

/* Narrow numbers are stored by atomics of words, halves by the language's own; what only reads is neither. */
static void one_buffer_is_parameters_of_several_types(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device;
    if (has_device(context, &device)) {
        const uint16_t halves[8] = {0x3c00, 0x4000, 0x4200, 0x4400, 1, 2, 3, 4};
        uint16_t out[8];
        qn_program *program =
            make_program(device, "kernel void next(global const ushort *a, global ushort *b) {\n"
                                 "    int i = get_global_id(0);\n"
                                 "    b[i] = a[i] + 1;\n}\n"
                                 "kernel void twice(global const half *x, global const half *y, global "
                                 "ushort *bits, global half *z,\n"
                                 "                  global const float4 *all) {\n"
                                 "    int i = get_global_id(0);\n"
                                 "    half sum = x[i] + y[i];\n"
                                 "    z[i] = sum;\n"
                                 "    bits[i + 4] = bits[i] + (all ? (int)all[0].w : 0);\n}\n");
        qn_kernel *next = make_kernel(program, context, "next"),
                  *twice = make_kernel(program, context, "twice");
        qn_buffer *all = buffer_of(device, halves, sizeof halves),
                  *other = buffer_of(device, halves, sizeof halves),
                  *floats = buffer_of(device, (const float[]){1, 2, 3, 4}, 16);
        assert_ok(context, qn_launch(NULL, next, QN_RANGE(8), QN_ARGS(all, all)));
        assert_ok(context, qn_buffer_read(all, 0, out, sizeof out));
        for (int i = 0; i < 8; i++) assert_int_equal(out[i], halves[i] + 1);
        assert_ok(context, qn_buffer_write(all, 0, halves, sizeof halves));
        assert_ok(context, qn_launch(NULL, twice, QN_RANGE(4), QN_ARGS(all, all, all, all, qn_arg_null())));
        assert_ok(context, qn_buffer_read(all, 0, out, sizeof out));
        const uint16_t wanted[] = {0x4000, 0x4400, 0x4600, 0x4800, 0x4000, 0x4400, 0x4600, 0x4800};
        assert_memory_equal(out, wanted, sizeof wanted);
        /* apart again, and two that are read alone in one */
        assert_ok(context, qn_buffer_write(all, 0, halves, sizeof halves));
        assert_ok(context, qn_launch(NULL, twice, QN_RANGE(4), QN_ARGS(all, all, other, other, floats)));
        assert_ok(context, qn_buffer_read(other, 0, out, sizeof out));
        for (int i = 0; i < 8; i++) assert_int_equal(out[i], wanted[i] + (i < 4 ? 0 : 4));
    }
    qn_context_destroy(context);
}

/* More buffers than an adapter may bind share one: of several types, one passed more than once, views, and null. */
static void many_buffers_share_a_binding(void **state) {
    (void)state;
    enum { MANY = 60 };
    qn_context *context = make_context(NULL);
    qn_device *device;
    if (has_device(context, &device)) {
        char source[8192];
        size_t at =
            (size_t)snprintf(source, sizeof source,
                             "kernel void many(global int *out, global float *halved, global ushort *narrow");
        for (int k = 0; k < MANY; k++)
            at += (size_t)snprintf(source + at, sizeof source - at, ", global const int *p%d", k);
        at += (size_t)snprintf(source + at, sizeof source - at,
                               ") {\n    int i = get_global_id(0), sum = 0;\n");
        for (int k = 0; k < MANY; k++)
            at += (size_t)snprintf(source + at, sizeof source - at, "    if (p%d) sum += %d * p%d[i];\n", k,
                                   k + 1, k);
        snprintf(source + at, sizeof source - at,
                 "    halved[i] = halved[i] / 2;\n    narrow[i] = narrow[i] + i;\n    out[i] = sum;\n}\n");
        qn_program *program = make_program(device, source);
        qn_kernel *many = make_kernel(program, context, "many");
        int numbers[100];
        for (int i = 0; i < 100; i++) numbers[i] = i * i;
        qn_buffer *all = buffer_of(device, numbers, sizeof numbers), *view,
                  *out = buffer_of(device, NULL, 4 * sizeof(int)),
                  *floats = buffer_of(device, (const float[]){1, 2, 3, 4}, 4 * sizeof(float)),
                  *narrow = buffer_of(device, (const uint16_t[]){10, 20, 30, 40, 50}, 5 * sizeof(uint16_t));
        assert_ok(context, qn_buffer_view(all, 92 * sizeof(int), 4 * sizeof(int), &view));
        qn_arg args[MANY + 3] = {qn_arg_buffer(out), qn_arg_buffer(floats), qn_arg_buffer(narrow)};
        int wanted[4] = {0};
        for (int k = 0; k < MANY; k++) {
            args[3 + k] = k % 7 == 3 ? qn_arg_null() : k % 2 ? qn_arg_buffer(view) : qn_arg_buffer(all);
            for (int i = 0; i < 4 && k % 7 != 3; i++) wanted[i] += (k + 1) * numbers[k % 2 ? 92 + i : i];
        }
        for (int round = 0; round < 2; round++) /* the second finds what the first has made */
            assert_ok(context, qn_launch(NULL, many, QN_RANGE(4), args, MANY + 3));
        int sums[4];
        float halves[4];
        uint16_t parts[5];
        assert_ok(context, qn_buffer_read(out, 0, sums, sizeof sums));
        assert_memory_equal(sums, wanted, sizeof sums);
        assert_ok(context, qn_buffer_read(floats, 0, halves, sizeof halves));
        assert_memory_equal(halves, ((const float[]){0.25f, 0.5f, 0.75f, 1}), sizeof halves);
        assert_ok(context, qn_buffer_read(narrow, 0, parts, sizeof parts));
        assert_memory_equal(parts, ((const uint16_t[]){10, 22, 34, 46, 50}), sizeof parts);
    }
    qn_context_destroy(context);
}

/* All halves of a kernel are one type: also of what is only moved, in a view, or null. */
static void one_buffer_is_several_parameters_of_halves(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device;
    if (has_device(context, &device)) {
        const uint16_t halves[12] = {[0] = 0x3c00, [8] = 0x4200, 0x4400};
        uint16_t out[12];
        qn_program *program = make_program(
            device, "kernel void next(global const half *x, global const half *moved, global half *y) {\n"
                    "    int i = get_global_id(0);\n"
                    "    half kept = moved ? moved[0] : 0.0h;\n"
                    "    y[i] = x[i] * 2.0h;\n"
                    "    y[i + 1] = kept;\n}\n");
        qn_kernel *next = make_kernel(program, context, "next");
        qn_buffer *all = buffer_of(device, halves, sizeof halves), *view;
        assert_ok(context, qn_buffer_view(all, 16, 4, &view));
        assert_ok(context, qn_launch(NULL, next, QN_RANGE(1), QN_ARGS(all, view, view)));
        assert_ok(context, qn_buffer_read(all, 0, out, sizeof out));
        assert_memory_equal(out, ((const uint16_t[12]){[0] = 0x3c00, [8] = 0x4000, 0x4200}), sizeof out);
        assert_ok(context, qn_launch(NULL, next, QN_RANGE(1), QN_ARGS(all, qn_arg_null(), view)));
        assert_ok(context, qn_buffer_read(all, 0, out, sizeof out));
        assert_memory_equal(out, ((const uint16_t[12]){[0] = 0x3c00, [8] = 0x4000, 0}), sizeof out);
    }
    qn_context_destroy(context);
}

/* They are bound all the same, beside buffers for reading and for writing. */
static void null_pointers_are_of_any_type(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device;
    if (has_device(context, &device)) {
        int out[2];
        qn_program *program = make_program(device, "kernel void which(global const float *a, global const "
                                                   "int *b, global uint *c, global int *out) {\n"
                                                   "    if (c) c[0] = 1;\n"
                                                   "    out[0] = (a ? (int)a[0] : 10) + (b ? b[0] : 20);\n"
                                                   "    out[1] = b ? b[1] : 30;\n}\n");
        qn_kernel *which = make_kernel(program, context, "which");
        qn_buffer *buffer = buffer_of(device, (const int[]){5, 6}, sizeof out),
                  *outs = buffer_of(device, NULL, sizeof out);
        assert_ok(context, qn_launch(NULL, which, QN_RANGE(1),
                                     QN_ARGS(qn_arg_null(), qn_arg_null(), qn_arg_null(), outs)));
        assert_ok(context, qn_buffer_read(outs, 0, out, sizeof out));
        assert_memory_equal(out, ((const int[]){30, 30}), sizeof out);
        assert_ok(context,
                  qn_launch(NULL, which, QN_RANGE(1), QN_ARGS(qn_arg_null(), buffer, qn_arg_null(), buffer)));
        assert_ok(context, qn_buffer_read(buffer, 0, out, sizeof out));
        assert_memory_equal(out, ((const int[]){15, 6}), sizeof out);
    }
    qn_context_destroy(context);
}

static void pointers_lead_to_either_buffer(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device;
    if (has_device(context, &device)) {
        int a[] = {1, 2, 3, 4}, b[] = {10, 20, 30, 40}, out[4];
        qn_program *program =
            make_program(device, "kernel void choose(global int *a, global int *b, global int *out) {\n"
                                 "    int i = get_global_id(0);\n"
                                 "    global int *p = i & 1 ? a : b;\n"
                                 "    atomic_add(p + i, 100);\n"
                                 "    out[i] = p[i] + (p == a);\n}\n");
        qn_kernel *choose = make_kernel(program, context, "choose");
        qn_buffer *as = buffer_of(device, a, sizeof a), *bs = buffer_of(device, b, sizeof b);
        qn_buffer *outs = buffer_of(device, NULL, sizeof out);
        assert_ok(context, qn_launch(NULL, choose, QN_RANGE(4), QN_ARGS(as, bs, outs)));
        assert_ok(context, qn_buffer_read(outs, 0, out, sizeof out));
        const int wanted[] = {110, 103, 130, 105};
        assert_memory_equal(out, wanted, sizeof wanted);
    }
    qn_context_destroy(context);
}

static void parts_of_words_are_copied(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device;
    if (has_device(context, &device)) {
        char text[16] = "abcdefghijklmno", out[17] = "";
        qn_buffer *buffer = buffer_of(device, text, sizeof text);
        assert_ok(context, qn_buffer_write(buffer, 3, "XYZ", 3));
        assert_ok(context, qn_stream_copy(NULL, buffer, 1, buffer, 9, 5));
        assert_ok(context, qn_stream_fill(NULL, buffer, 14, 1, "!", 1));
        assert_ok(context, qn_buffer_read(buffer, 1, out, 14));
        assert_string_equal(out, "bcXYZghibcXYZ!");
    }
    qn_context_destroy(context);
}

/* Both are looked at after the wait only; without timestamps they would have one time. */
static void events_have_the_times_of_the_device(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device;
    if (has_device(context, &device)) {
        int64_t elapsed = 0;
        qn_event *begin, *end, *marks[80];
        qn_program *program =
            make_program(device, "kernel void turn(global uint *a) {\n"
                                 "    uint x = a[get_global_id(0)];\n"
                                 "    for (uint i = 0; i < 50000; i++) x = x * 1664525u + i;\n"
                                 "    a[get_global_id(0)] = x;\n}\n");
        qn_kernel *turn = make_kernel(program, context, "turn");
        qn_buffer *buffer = buffer_of(device, NULL, 1 << 16);
        qn_stream *stream = qn_device_stream(device);
        assert_ok(context, qn_event_create(device, &begin));
        assert_ok(context, qn_event_create(device, &end));
        assert_ok(context, qn_launch(NULL, turn, QN_RANGE(1 << 14), QN_ARGS(buffer)));
        assert_ok(context, qn_stream_wait(stream, QN_FOREVER));
        assert_ok(context, qn_stream_record(stream, begin));
        assert_ok(context, qn_launch(NULL, turn, QN_RANGE(1 << 14), QN_ARGS(buffer)));
        assert_ok(context, qn_stream_record(stream, end));
        assert_ok(context, qn_stream_wait(stream, QN_FOREVER));
        assert_ok(context, qn_event_elapsed(begin, end, &elapsed));
        assert_true(elapsed > 50000); /* the loop is of 100,000 steps, each behind the one before */
        /* more than a submission has room for */
        for (int i = 0; i < 80; i++) {
            assert_ok(context, qn_event_create(device, &marks[i]));
            assert_ok(context, qn_stream_record(stream, marks[i]));
        }
        assert_ok(context, qn_event_wait(marks[79], QN_FOREVER));
        for (int i = 1; i < 80; i++) {
            assert_ok(context, qn_event_elapsed(marks[i - 1], marks[i], &elapsed));
            assert_true(elapsed >= 0 && elapsed < 60000000000);
        }
    }
    qn_context_destroy(context);
}

/* Launches like the last ones find their blocks written and their buffers bound; what differs in anything does not. */
static void launches_differ_in_any_part(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device;
    if (has_device(context, &device)) {
        enum { BUFFERS = 12, ROUNDS = 3 };
        int out[64];
        qn_buffer *buffers[BUFFERS], *views[BUFFERS];
        qn_program *program =
            make_program(device, "kernel void add(global int *a, int n) { a[get_global_id(0)] += n; }\n");
        qn_kernel *add = make_kernel(program, context, "add");
        for (int i = 0; i < BUFFERS; i++) {
            buffers[i] = buffer_of(device, NULL, sizeof out);
            assert_ok(context, qn_stream_fill(NULL, buffers[i], 0, sizeof out, "", 1));
            assert_ok(context, qn_buffer_view(buffers[i], 32 * sizeof(int), 32 * sizeof(int), &views[i]));
        }
        for (int round = 0; round < ROUNDS; round++)
            for (int i = 0; i < BUFFERS; i++) {
                assert_ok(context, qn_launch(NULL, add, QN_RANGE(64), QN_ARGS(buffers[i], 1)));
                assert_ok(context, qn_launch(NULL, add, QN_RANGE(64), QN_ARGS(buffers[i], 1)));
                assert_ok(context, qn_launch(NULL, add, QN_RANGE(64), QN_ARGS(buffers[i], i)));
                assert_ok(context, qn_launch(NULL, add, QN_RANGE(8), QN_ARGS(views[i], 100)));
                if (round == 1) assert_ok(context, qn_stream_wait(qn_device_stream(device), QN_FOREVER));
            }
        for (int i = 0; i < BUFFERS; i++) {
            assert_ok(context, qn_buffer_read(buffers[i], 0, out, sizeof out));
            for (int k = 0; k < 64; k++)
                assert_int_equal(out[k], ROUNDS * (2 + i + (k >= 32 && k < 40 ? 100 : 0)));
            qn_buffer_destroy(views[i]);
            qn_buffer_destroy(buffers[i]);
        }
        /* a new buffer in the place of one that is gone */
        qn_buffer *again = buffer_of(device, NULL, sizeof out);
        assert_ok(context, qn_stream_fill(NULL, again, 0, sizeof out, "", 1));
        assert_ok(context, qn_launch(NULL, add, QN_RANGE(64), QN_ARGS(again, 1)));
        assert_ok(context, qn_buffer_read(again, 0, out, sizeof out));
        assert_int_equal(out[63], 1);
    }
    qn_context_destroy(context);
}

/* ---- what the implementation itself is asked for ---- */

static void *symbol_of(const char *name) {
    const char *path = getenv("QUERN_WEBGPU_LIB");
    void *library = path ? dlopen(path, RTLD_NOW) : NULL;
    return library ? dlsym(library, name) : NULL;
}

static wg_object device_of(qn_context *context, qn_device *device) {
    uint64_t handle = 0;
    assert_ok(context, qn_device_native(device, QN_NATIVE_WEBGPU_DEVICE, &handle));
    assert_true(handle != 0);
    return (wg_object)(uintptr_t)handle;
}

static void the_queue_can_be_used_beside(void **state) {
    (void)state;
    void (*write)(wg_object queue, wg_object buffer, uint64_t offset, const void *data, size_t size);
    *(void **)&write = symbol_of("wgpuQueueWriteBuffer");
    qn_context *context = make_context(NULL);
    qn_device *device;
    if (write && has_device(context, &device)) {
        uint64_t queue, place, offset;
        int numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
        const int mine[] = {30, 40};
        qn_stream *stream = qn_device_stream(device);
        qn_program *program =
            make_program(device, "kernel void add(global int *a) { a[get_global_id(0)] += 1; }\n");
        qn_kernel *add = make_kernel(program, context, "add");
        qn_buffer *all = buffer_of(device, numbers, sizeof numbers), *view;
        assert_ok(context, qn_buffer_view(all, 4 * sizeof(int), 4 * sizeof(int), &view));
        assert_ok(context, qn_launch(NULL, add, QN_RANGE(8), QN_ARGS(all)));
        assert_ok(context, qn_stream_native_begin(stream, &view, 1));
        assert_ok(context, qn_stream_native(stream, QN_NATIVE_WEBGPU_QUEUE, &queue));
        assert_ok(context, qn_buffer_native(view, QN_NATIVE_WEBGPU_BUFFER, &place));
        assert_ok(context, qn_buffer_native(view, QN_NATIVE_OFFSET, &offset));
        assert_int_equal(offset, 4 * sizeof(int));
        write((wg_object)(uintptr_t)queue, (wg_object)(uintptr_t)place, offset, mine, sizeof mine);
        assert_ok(context, qn_stream_native_end(stream));
        assert_ok(context, qn_launch(NULL, add, QN_RANGE(8), QN_ARGS(all)));
        assert_ok(context, qn_buffer_read(all, 0, numbers, sizeof numbers));
        const int wanted[] = {3, 4, 5, 6, 31, 41, 9, 10};
        assert_memory_equal(numbers, wanted, sizeof wanted);
    }
    qn_context_destroy(context);
}

/* A device that can be told to fail, as Dawn's, not wgpu-native's, and a kernel on its stream, which is on loan. */
typedef struct victim {
    qn_context *context;
    qn_device *device;
    wg_object own;
    qn_kernel *add;
    qn_buffer *buffer;
    qn_stream *stream;
} victim;

/* Skips the test where the library has no such way. */
static void begin_failing(victim *v, const void *way_to_fail) {
    if (!way_to_fail) skip();
    *v = (victim){.context = make_context(NULL)};
    assert_true(has_device(v->context, &v->device));
    v->own = device_of(v->context, v->device);
    qn_program *program =
        make_program(v->device, "kernel void add(global int *a) { a[get_global_id(0)] += 1; }\n");
    v->add = make_kernel(program, v->context, "add");
    v->buffer = buffer_of(v->device, NULL, 64);
    v->stream = qn_device_stream(v->device);
    assert_ok(v->context, qn_launch(NULL, v->add, QN_RANGE(16), QN_ARGS(v->buffer)));
    assert_ok(v->context, qn_stream_native_begin(v->stream, &v->buffer, 1));
}

static void errors_of_the_device_are_sentences(void **state) {
    (void)state;
    enum { OUT_OF_MEMORY = 3 };
    victim v;
    void (*inject)(wg_object device, uint32_t type, wg_text message);
    *(void **)&inject = symbol_of("wgpuDeviceInjectError");
    begin_failing(&v, *(void **)&inject);
    inject(v.own, OUT_OF_MEMORY, (wg_text){"no room for it", WG_TEXT_END});
    assert_ok(v.context, qn_stream_native_end(v.stream));
    assert_fails(v.context, qn_stream_wait(v.stream, QN_FOREVER), QN_ERROR_DEVICE_MEMORY, "no room for it");
    assert_ok(v.context, qn_launch(NULL, v.add, QN_RANGE(16), QN_ARGS(v.buffer))); /* it goes on */
    assert_ok(v.context, qn_stream_wait(v.stream, QN_FOREVER));
    qn_context_destroy(v.context);
}

static void a_lost_device_says_so(void **state) {
    (void)state;
    enum { UNKNOWN = 1 };
    victim v;
    void (*lose)(wg_object device, uint32_t reason, wg_text message);
    *(void **)&lose = symbol_of("wgpuDeviceForceLoss");
    begin_failing(&v, *(void **)&lose);
    int first;
    lose(v.own, UNKNOWN, (wg_text){"it fell off the bus", WG_TEXT_END});
    assert_ok(v.context, qn_stream_native_end(v.stream));
    assert_fails(v.context, qn_stream_wait(v.stream, QN_FOREVER), QN_ERROR_DEVICE_LOST,
                 "it fell off the bus");
    assert_fails(v.context, qn_launch(NULL, v.add, QN_RANGE(16), QN_ARGS(v.buffer)), QN_ERROR_DEVICE_LOST,
                 "the device is lost");
    assert_fails(v.context, qn_buffer_read(v.buffer, 0, &first, sizeof first), QN_ERROR_DEVICE_LOST,
                 "the device is lost");
    qn_context_destroy(v.context);
}

/* What the device binds is less than what it has room for. */
static void large_buffers_are_bound_in_windows(void **state) {
    (void)state;
    enum { MIB = 1 << 20 };
    qn_context *context = make_context(NULL);
    qn_device *device;
    qn_device_info info;
    if (has_device(context, &device)) {
        wg_limits limits = {0};
        uint32_t (*get)(wg_object of, wg_limits * to);
        *(void **)&get = symbol_of("wgpuDeviceGetLimits");
        assert_ok(context, qn_device_get_info(device, &info));
        if (get) get(device_of(context, device), &limits);
        const uint64_t most = limits.storage_size, size = most + 64 * MIB;
        qn_buffer *all = NULL, *view;
        if (most && size <= info.max_buffer && size <= 512 * (uint64_t)MIB &&
            !qn_buffer_create(device, &(qn_buffer_desc){.size = size}, &all)) {
            int out;
            qn_program *program =
                make_program(device, "kernel void put(global int *a, int at) { a[at] = 7; }\n");
            qn_kernel *put = make_kernel(program, context, "put");
            char numbers[96];
            snprintf(numbers, sizeof numbers, "has %llu bytes; the device binds %llu at most",
                     (unsigned long long)size, (unsigned long long)most / 16 * 16);
            assert_fails(context, qn_launch(NULL, put, QN_RANGE(1), QN_ARGS(all, 0)), QN_ERROR_RANGE,
                         numbers);
            assert_ok(context, qn_buffer_view(all, 0, MIB, &view));
            assert_ok(context, qn_launch(NULL, put, QN_RANGE(1), QN_ARGS(view, 5)));
            assert_ok(context, qn_buffer_read(all, 5 * sizeof(int), &out, sizeof out));
            assert_int_equal(out, 7);
            qn_buffer_destroy(view);
            assert_ok(context, qn_buffer_view(all, size - MIB, MIB, &view));
            assert_ok(context, qn_launch(NULL, put, QN_RANGE(1), QN_ARGS(view, 9)));
            assert_ok(context, qn_buffer_read(all, size - MIB + 9 * sizeof(int), &out, sizeof out));
            assert_int_equal(out, 7);
        } else {
            printf("the device binds all that it has room for\n");
        }
    }
    qn_context_destroy(context);
}

static void too_many_buffers_are_refused_with_the_numbers(void **state) {
    (void)state;
    enum { MANY = 120, ROOM = 8192 };
    qn_context *context = make_context(NULL);
    qn_device *device;
    if (has_device(context, &device)) {
        char source[ROOM];
        qn_arg args[MANY];
        size_t used = (size_t)snprintf(source, ROOM, "kernel void all(");
        for (int i = 0; i < MANY; i++)
            used += (size_t)snprintf(source + used, ROOM - used, "%sglobal int *a%d", i ? ", " : "", i);
        used += (size_t)snprintf(source + used, ROOM - used, ") {\n");
        for (int i = 0; i < MANY; i++)
            used += (size_t)snprintf(source + used, ROOM - used, "a%d[0] = %d;\n", i, i);
        snprintf(source + used, ROOM - used, "}\n");
        qn_program *program = make_program(device, source);
        qn_kernel *all = make_kernel(program, context, "all");
        for (int i = 0; i < MANY; i++) args[i] = qn_arg_buffer(buffer_of(device, NULL, 16));
        assert_fails(context, qn_launch(NULL, all, QN_RANGE(1), args, MANY), QN_ERROR_UNSUPPORTED,
                     "uses 120 buffers; a kernel may use 112");
    }
    qn_context_destroy(context);
}

int main(void) {
    qn_context *context = make_context(NULL);
    qn_device *device;
    const bool there = has_device(context, &device);
    qn_context_destroy(context);
    if (!there) return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_buffer_is_several_parameters),
        cmocka_unit_test(one_buffer_is_several_parameters_of_halves),
        cmocka_unit_test(one_buffer_is_parameters_of_several_types),
        cmocka_unit_test(many_buffers_share_a_binding),
        cmocka_unit_test(null_pointers_are_of_any_type),
        cmocka_unit_test(pointers_lead_to_either_buffer),
        cmocka_unit_test(parts_of_words_are_copied),
        cmocka_unit_test(events_have_the_times_of_the_device),
        cmocka_unit_test(launches_differ_in_any_part),
        cmocka_unit_test(the_queue_can_be_used_beside),
        cmocka_unit_test(errors_of_the_device_are_sentences),
        cmocka_unit_test(a_lost_device_says_so),
        cmocka_unit_test(large_buffers_are_bound_in_windows),
        cmocka_unit_test(too_many_buffers_are_refused_with_the_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
