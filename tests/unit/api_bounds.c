/* The interpreter bounds every access: whatever a kernel does, the host's memory stays as it was, and the wait tells the
   kernel, the line and the access. What it may do works as ever. */
#include "api_support.h"

#include <sys/stat.h>

static const char source[] =
    "constant int table[4] = {1, 2, 3, 4};\n"
    "constant int *constant tables[2] = {table, table + 2};\n"
    "global int own[4];\n"
    "typedef struct { int n, a[4]; } item;\n"
    "kernel void writes(global int *x, int n) { x[get_global_id(0) + n] = 1; }\n" /* line 5 */
    "kernel void reads(global int *x, int n) { x[0] += x[n]; }\n"                 /* 6 */
    "kernel void bytes(global int *x, int n) { ((global char *)x)[n] = 1; }\n"    /* 7 */
    "kernel void wide(global int *x, int n) { x[0] = vload4(0, x + n).x; }\n"     /* 8 */
    "kernel void widely(global int *x, int n) { vstore4((int4)3, n, x); }\n"      /* 9 */
    "kernel void constants(global int *x, int n) { x[0] = table[n]; }\n"          /* 10 */
    "kernel void led(global int *x, int n) { x[0] = tables[n & 1][n]; }\n"        /* 11 */
    "kernel void locals(global int *x, int n) {\n"
    "    local int a[4]; a[get_local_id(0)] = 1; barrier(1); x[0] = a[n]; }\n" /* 13 */
    "kernel void given(global int *x, int n, local int *a) {\n"
    "    if (get_local_id(0) == 0) a[n] = 1; barrier(1); x[0] = a[0]; }\n" /* 15 */
    "kernel void privates(global int *x, int n) {\n"
    "    int a[4] = {x[0], x[1], 3, 4}; a[n] += 2; x[0] = a[1]; }\n"     /* 17 */
    "kernel void adds(global int *x, int n) { atomic_add(x + n, 1); }\n" /* 18 */
    "kernel void swaps(global int *x, int n) { atomic_cmpxchg((global int *)((global char *)x + n), "
    "0, 1); }\n"
    "kernel void stores(global int *x, int n) { atomic_store((volatile global atomic_int *)x + n, "
    "1); }\n" /* 20 */
    "kernel void copies(global int *x, int n) {\n"
    "    local int a[8]; event_t e = async_work_group_copy(a, x, n, 0); wait_group_events(1, &e); "
    "x[0] = a[0]; }\n"
    "kernel void returns(global int *x, int n) {\n" /* 23 */
    "    local int a[8]; event_t e = async_work_group_copy(x + n, a, 4, 0); wait_group_events(1, "
    "&e); }\n"
    "kernel void walks(global int *x, int n) { for (global int *q = x; q < x + n; q += 2) *q = 2; "
    "}\n"                                                                                  /* 25 */
    "kernel void casts(global int *x, int n) { *(global int *)((ulong)x + 4 * n) = 1; }\n" /* 26 */
    "kernel void chooses(global int *x, int n) { global int *y = n ? x : (global int *)0; y[n] = 1; "
    "}\n"                                                                                          /* 27 */
    "kernel void structs(global int *x, int n, item it) { x[0] = it.a[n]; }\n"                     /* 28 */
    "kernel void states(global int *x, int n) { own[n] = x[0]; }\n"                                /* 29 */
    "kernel void whole(global item *x, int n) { x[0] = x[n]; }\n"                                  /* 30 */
    "kernel void grid(global int *x, int n) { x[get_global_id(1) * 2 + get_global_id(0)] = n; }\n" /* 31 */
    "kernel void tells(global ulong *to, global int *x) { to[0] = (ulong)x; }\n"
    "kernel void follows(global ulong *from, int n) { ((global int *)from[0])[n] = 7; }\n" /* 33 */
    "kernel void one(global int *x, global int *y) { if (x[0] != 2) y[0] = 1; }\n"         /* 34 */
    "constant char text[4] = \"abc\", bare[3] = {'d', 'e', 'f'};\n"
    "kernel void prints(global int *x, int n) { printf(\"%d %s %c\\n\", 1, n < 4 ? text + n : text - n, "
    "'z'); }\n"                                                                                   /* 36 */
    "kernel void cuts(global int *x, int n) { printf(\"%%%.3s\\n\", bare + n); }\n"               /* 37 */
    "kernel void finds(global int *x, int n) { printf(\"%s\\n\", (constant char *)(ulong)n); }\n" /* 38 */
    "kernel void some(global int *x, int n) { if (get_global_id(0) == 3) x[n] = 1; }\n"           /* 39 */
    "kernel void splits(global int *x, int n) {\n"
    "    float f = frexp((float)n, x + n); if (f > 2) x[0] = 1; }\n" /* 41: what the library does is done by its caller */
    "void help(global int *x, int n) { float f = modf(n + 0.5f, (global float *)x + n); if (f > 2) x[0] = 1; "
    "}\n"
    "kernel void helped(global int *x, int n) { help(x, n); }\n";

enum { WORDS = 4, SIZE = 4 * WORDS };

typedef struct machine {
    qn_context *context;
    qn_device *device;
    qn_program *program;
    qn_buffer *buffer;
} machine;

static machine start(const qn_context_desc *desc) {
    machine m = {.context = make_context(desc)};
    m.device = get_device(m.context, "cpu");
    assert_ok(m.context,
              qn_program_create(
                  m.device, &(qn_program_desc){.source = source, .path = "k.cl", .options = "-cl-std=CL3.0"},
                  &m.program));
    m.buffer = make_buffer(m.device, SIZE, NULL);
    return m;
}

static void drop(void *user, const char *text, size_t size) { (void)user, (void)text, (void)size; }

static machine start_interpreter(void) {
    return start(&(qn_context_desc){.cpu_compiler = "none", .disable_cache = true, .print = drop});
}

static qn_status run(const machine *m, const char *name, const qn_range *range, const qn_arg *args,
                     size_t count) {
    qn_kernel *kernel = make_kernel(m->program, m->context, name);
    assert_ok(m->context, qn_launch(NULL, kernel, range, args, count));
    const qn_status status = qn_device_wait(m->device, QN_FOREVER);
    qn_kernel_destroy(kernel);
    return status;
}

typedef struct item {
    int n, a[4];
} item;

/* The case's kernel with x, n and what else it takes. */
static qn_status run_case(const machine *m, const char *name, int n) {
    const item it = {1, {2, 3, 4, 5}};
    const qn_arg args[] = {QN_ARG(m->buffer), QN_ARG(n),
                           strcmp(name, "given") ? QN_BYTES(it) : qn_arg_local(8)};
    const bool has_more = !strcmp(name, "given") || !strcmp(name, "structs");
    return run(m, name, QN_RANGE_LOCAL(QN_GROUP(4), QN_GROUP(4)), args, has_more ? 3 : 2);
}

static const struct {
    const char *kernel;
    int good, bad;
    const char *message; /* of the bad one */
} cases[] = {
    {"writes", 0, 1, "k.cl:5: work-item 3 writes 4 bytes at byte 16 of 'x', which has 16"},
    {"writes", 0, -2, "k.cl:5: work-item 0 writes 4 bytes at byte -8 of 'x', which has 16"},
    {"writes", 0, 1 << 28, "k.cl:5: work-item 0 writes 4 bytes at byte 1073741824 of 'x'"},
    {"reads", 3, 4, "k.cl:6: work-item 0 reads 4 bytes at byte 16 of 'x', which has 16"},
    {"bytes", 15, 16, "k.cl:7: work-item 0 writes 1 byte at byte 16 of 'x', which has 16"},
    {"wide", 0, 1, "k.cl:8: work-item 0 reads 16 bytes at byte 4 of 'x', which has 16"},
    {"widely", 0, 1, "k.cl:9: work-item 0 writes 16 bytes at byte 16 of 'x', which has 16"},
    {"constants", 3, 4, "k.cl:10: work-item 0 reads 4 bytes at byte 16 of 'table', which has 16"},
    {"constants", 3, -1, "k.cl:10: work-item 0 reads 4 bytes at byte -4 of 'table', which has 16"},
    {"led", 1, 4, "k.cl:11: work-item 0 reads 4 bytes at 0x"},
    {"locals", 3, 4, "k.cl:13: work-item 0 reads 4 bytes at byte 16 of 'a', which has 16"},
    {"given", 1, 2, "k.cl:15: work-item 0 writes 4 bytes at byte 8 of 'a', which has 8"},
    {"privates", 3, 4, "k.cl:17: work-item 0 reads 4 bytes at byte 16 of 'a', which has 16"},
    {"privates", 3, 100000000, "k.cl:17: work-item 0 reads 4 bytes at byte 400000000 of 'a', which has 16"},
    {"adds", 3, 4, "k.cl:18: work-item 0 changes 4 bytes at byte 16 of 'x', which has 16"},
    {"swaps", 12, 16, "k.cl:19: work-item 0 changes 4 bytes at byte 16 of 'x', which has 16"},
    {"swaps", 12, 2, "but atomics are done at multiples of their size"},
    {"stores", 3, -1, "k.cl:20: work-item 0 writes 4 bytes at byte -4 of 'x', which has 16"},
    {"copies", 4, 5, "k.cl:22: work-item 0 reads 4 bytes at byte 16 of 'x', which has 16"},
    {"copies", 0, 16, "k.cl:22: "},
    {"returns", 0, 1, "k.cl:24: "},
    {"splits", 0, 4, "k.cl:41: work-item 0 writes 4 bytes at byte 16 of 'x', which has 16"},
    {"helped", 0, 4, "k.cl:42: work-item 0 writes 4 bytes at byte 16 of 'x', which has 16"},
    {"walks", 4, 5, "k.cl:25: work-item 0 writes 4 bytes at byte 16 of 'x', which has 16"},
    {"casts", 3, 1 << 24, "k.cl:26: work-item 0 writes 4 bytes at 0x"},
    {"chooses", 1, 0, "k.cl:27: work-item 0 writes 4 bytes through a null pointer"},
    {"structs", 3, 4, "k.cl:28: work-item 0 reads 4 bytes at byte 20 of 'it', which has 20"},
    {"states", 3, 4, "k.cl:29: work-item 0 writes 4 bytes at byte 16 of "},
    {"prints", 3, 1000000000, "k.cl:36: work-item 0 prints a string of 1 byte at 0x"},
    {"cuts", 0, 2, "k.cl:37: work-item 0 prints a string of 2 bytes at 0x"},
    {"finds", 0, 77, "k.cl:38: work-item 0 prints a string of 1 byte at 0x"},
    {"some", 3, 4, "k.cl:39: work-item 3 writes 4 bytes at byte 16 of 'x', which has 16"},
};

static void accesses_outside_end_the_kernel(void **state) {
    (void)state;
    machine m = start_interpreter();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char kernel[64];
        snprintf(kernel, sizeof kernel, "kernel %s: ", cases[i].kernel);
        assert_ok(m.context, run_case(&m, cases[i].kernel, cases[i].good));
        assert_fails(m.context, run_case(&m, cases[i].kernel, cases[i].bad), QN_ERROR_KERNEL_FAILED,
                     cases[i].message);
        assert_non_null(strstr(qn_error_message(m.context), kernel));
        assert_ok(m.context, run_case(&m, cases[i].kernel, cases[i].good)); /* the device goes on */
    }
    qn_context_destroy(m.context);
}

static void whole_objects_and_grids(void **state) {
    (void)state;
    machine m = start_interpreter();
    qn_buffer *items = make_buffer(m.device, 2 * sizeof(item), NULL);
    assert_ok(m.context, run(&m, "whole", QN_RANGE(1), QN_ARGS(items, 1)));
    assert_fails(m.context, run(&m, "whole", QN_RANGE(1), QN_ARGS(items, 2)), QN_ERROR_KERNEL_FAILED,
                 "of 'x', which has 40");
    assert_ok(m.context, run(&m, "grid", QN_RANGE(2, 2), QN_ARGS(m.buffer, 3)));
    assert_fails(m.context, run(&m, "grid", QN_RANGE(2, 3), QN_ARGS(m.buffer, 3)), QN_ERROR_KERNEL_FAILED,
                 "work-item (0,2) writes 4 bytes at byte 16 of 'x'");
    qn_context_destroy(m.context);
}

static void null_buffers_are_named(void **state) {
    (void)state;
    machine m = start_interpreter();
    assert_fails(m.context, run(&m, "one", QN_RANGE(1), QN_ARGS(m.buffer, qn_arg_null())),
                 QN_ERROR_KERNEL_FAILED, "k.cl:34: work-item 0 writes 4 bytes through 'y', which is null");
    qn_context_destroy(m.context);
}

/* A view ends where it ends, though the buffer goes on. */
static void views_are_bounds(void **state) {
    (void)state;
    machine m = start_interpreter();
    qn_buffer *buffer = make_buffer(m.device, 64, NULL), *view;
    assert_ok(m.context, qn_buffer_view(buffer, 16, 16, &view));
    assert_ok(m.context, run(&m, "writes", QN_RANGE(4), QN_ARGS(view, 0)));
    assert_fails(m.context, run(&m, "writes", QN_RANGE(5), QN_ARGS(view, 0)), QN_ERROR_KERNEL_FAILED,
                 "at byte 16 of 'x', which has 16");
    assert_fails(m.context, run(&m, "writes", QN_RANGE(4), QN_ARGS(view, -1)), QN_ERROR_KERNEL_FAILED,
                 "at byte -4 of 'x', which has 16");
    qn_context_destroy(m.context);
}

/* An address that lies in a buffer leads to memory as long as that is there. */
static void freed_buffers_are_no_memory(void **state) {
    (void)state;
    machine m = start_interpreter();
    qn_buffer *far = make_buffer(m.device, SIZE, NULL), *address = make_buffer(m.device, 8, NULL);
    int words[WORDS];
    assert_ok(m.context, run(&m, "tells", QN_RANGE(1), QN_ARGS(address, far)));
    assert_ok(m.context, run(&m, "follows", QN_RANGE(1), QN_ARGS(address, 3)));
    assert_ok(m.context, qn_buffer_read(far, 0, words, sizeof words));
    assert_int_equal(words[3], 7);
    assert_fails(m.context, run(&m, "follows", QN_RANGE(1), QN_ARGS(address, 4)), QN_ERROR_KERNEL_FAILED,
                 "k.cl:33: work-item 0 writes 4 bytes at 0x");
    qn_buffer_destroy(far);
    assert_fails(m.context, run(&m, "follows", QN_RANGE(1), QN_ARGS(address, 3)), QN_ERROR_KERNEL_FAILED,
                 "in no memory that it may use");
    qn_context_destroy(m.context);
}

/* Memory of the caller's is the device's for as long as a buffer is made of it. */
static void imported_memory_is_memory(void **state) {
    (void)state;
    machine m = start_interpreter();
    static _Alignas(16) int words[2 * WORDS];
    qn_buffer *whole, *half, *address = make_buffer(m.device, 8, NULL);
    assert_ok(m.context,
              qn_buffer_create(m.device, &(qn_buffer_desc){.size = 2 * SIZE, .host = words}, &whole));
    assert_ok(m.context, qn_buffer_create(m.device, &(qn_buffer_desc){.size = SIZE, .host = words}, &half));
    assert_ok(m.context, run(&m, "tells", QN_RANGE(1), QN_ARGS(address, half)));
    assert_ok(m.context, run(&m, "follows", QN_RANGE(1), QN_ARGS(address, 3)));
    assert_int_equal(words[3], 7);
    assert_fails(m.context, run(&m, "writes", QN_RANGE(5), QN_ARGS(half, 0)), QN_ERROR_KERNEL_FAILED,
                 "at byte 16 of 'x', which has 16");
    qn_buffer_destroy(whole);
    assert_ok(m.context, run(&m, "follows", QN_RANGE(1), QN_ARGS(address, 2)));
    assert_int_equal(words[2], 7);
    assert_fails(m.context, run(&m, "follows", QN_RANGE(1), QN_ARGS(address, 4)), QN_ERROR_KERNEL_FAILED,
                 "in no memory that it may use");
    qn_buffer_destroy(half);
    assert_fails(m.context, run(&m, "follows", QN_RANGE(1), QN_ARGS(address, 1)), QN_ERROR_KERNEL_FAILED,
                 "in no memory that it may use");
    assert_int_equal(words[1], 0);
    qn_context_destroy(m.context);
}

static void graphs_have_bounds_too(void **state) {
    (void)state;
    machine m = start_interpreter();
    qn_kernel *kernel = make_kernel(m.program, m.context, "writes");
    qn_stream *stream = qn_device_stream(m.device);
    for (int n = 0; n < 2; n++) {
        qn_graph *graph;
        assert_ok(m.context, qn_graph_begin(stream));
        assert_ok(m.context, qn_launch(stream, kernel, QN_RANGE(4), QN_ARGS(m.buffer, n)));
        assert_ok(m.context, qn_graph_end(stream, &graph));
        assert_ok(m.context, qn_graph_launch(stream, graph));
        if (n)
            assert_fails(m.context, qn_stream_wait(stream, QN_FOREVER), QN_ERROR_KERNEL_FAILED,
                         "of 'x', which has");
        else
            assert_ok(m.context, qn_stream_wait(stream, QN_FOREVER));
        /* arguments that are kept keep their bounds */
        assert_ok(m.context, qn_graph_set_launch(graph, 0, QN_RANGE(n ? 3 : 5), QN_NO_ARGS));
        assert_ok(m.context, qn_graph_launch(stream, graph));
        if (n)
            assert_ok(m.context, qn_stream_wait(stream, QN_FOREVER));
        else
            assert_fails(m.context, qn_stream_wait(stream, QN_FOREVER), QN_ERROR_KERNEL_FAILED,
                         "of 'x', which has");
        qn_graph_destroy(graph);
    }
    qn_context_destroy(m.context);
}

/* A range that is set anew comes with the bounds of the arguments that were there. */
static void ranges_of_graphs_have_bounds(void **state) {
    (void)state;
    machine m = start_interpreter();
    qn_kernel *kernel = make_kernel(m.program, m.context, "writes");
    qn_stream *stream = qn_device_stream(m.device);
    qn_graph *graph;
    assert_ok(m.context, qn_graph_begin(stream));
    assert_ok(m.context, qn_launch(stream, kernel, QN_RANGE(2), QN_ARGS(m.buffer, 0)));
    assert_ok(m.context, qn_graph_end(stream, &graph));
    assert_ok(m.context, qn_graph_set_launch(graph, 0, QN_RANGE(4), QN_NO_ARGS));
    assert_ok(m.context, qn_graph_launch(stream, graph));
    assert_ok(m.context, qn_stream_wait(stream, QN_FOREVER));
    assert_ok(m.context, qn_graph_set_launch(graph, 0, QN_RANGE(5), QN_NO_ARGS));
    assert_ok(m.context, qn_graph_launch(stream, graph));
    assert_fails(m.context, qn_stream_wait(stream, QN_FOREVER), QN_ERROR_KERNEL_FAILED,
                 "at byte 16 of 'x', which has 16");
    qn_context_destroy(m.context);
}

/* While a C compiler works, kernels are interpreted, with the same bounds. The compiler is one that never ends. */
static void bounds_before_the_code_is_there(void **state) {
    (void)state;
    char path[] = "/tmp/quern-slow-XXXXXX";
    static const char script[] = "#!/bin/sh\nexec sleep 1000\n";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, script, sizeof script - 1), sizeof script - 1);
    assert_int_equal(fchmod(fd, 0700), 0);
    close(fd);
    machine m = start(&(qn_context_desc){.cpu_compiler = path, .disable_cache = true});
    assert_ok(m.context, run_case(&m, "reads", 3));
    assert_fails(m.context, run_case(&m, "reads", 4), QN_ERROR_KERNEL_FAILED, cases[3].message);
    qn_context_destroy(m.context);
    unlink(path);
}

/* An event behind a kernel that failed tells so each time, and the stream's next wait does all the same. */
static void events_tell_failures(void **state) {
    (void)state;
    machine m = start_interpreter();
    qn_kernel *kernel = make_kernel(m.program, m.context, "writes");
    qn_event *event;
    bool done;
    assert_ok(m.context, qn_event_create(m.device, &event));
    assert_ok(m.context, qn_launch(NULL, kernel, QN_RANGE(WORDS + 1), QN_ARGS(m.buffer, 0)));
    assert_ok(m.context, qn_stream_record(NULL, event));
    for (int again = 0; again < 2; again++)
        assert_fails(m.context, qn_event_wait(event, QN_FOREVER), QN_ERROR_KERNEL_FAILED,
                     "at byte 16 of 'x', which has 16");
    assert_fails(m.context, qn_event_done(event, &done), QN_ERROR_KERNEL_FAILED, "kernel writes");
    assert_true(done);
    assert_fails(m.context, qn_device_wait(m.device, QN_FOREVER), QN_ERROR_KERNEL_FAILED, "kernel writes");
    assert_ok(m.context, qn_launch(NULL, kernel, QN_RANGE(WORDS), QN_ARGS(m.buffer, 0)));
    assert_ok(m.context, qn_stream_record(NULL, event));
    assert_ok(m.context, qn_event_wait(event, QN_FOREVER));
    assert_ok(m.context, qn_event_done(event, &done));
    qn_event_destroy(event);
    qn_context_destroy(m.context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accesses_outside_end_the_kernel), cmocka_unit_test(whole_objects_and_grids),
        cmocka_unit_test(null_buffers_are_named),          cmocka_unit_test(views_are_bounds),
        cmocka_unit_test(freed_buffers_are_no_memory),     cmocka_unit_test(imported_memory_is_memory),
        cmocka_unit_test(graphs_have_bounds_too),          cmocka_unit_test(ranges_of_graphs_have_bounds),
        cmocka_unit_test(bounds_before_the_code_is_there), cmocka_unit_test(events_tell_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
