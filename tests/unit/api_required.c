/* The least sizes of buffers that follow from range and arguments. The interpreter is the judge: with as many bytes a kernel
   runs, with one less it goes outside. */
#include "api_support.h"

static const char source[] =
    "typedef struct { short pad; int w, h; } size;\n"
    "kernel void plain(global int *x, int n) { x[get_global_id(0)] = n; }\n"
    "kernel void guarded(global int *x, int n) { int i = get_global_id(0); if (i < n) x[i] = 1; }\n"
    "kernel void early(global int *x, int n) { uint i = get_global_id(0); if (i >= n) return; x[i] += 1; }\n"
    "kernel void inner(global int *x, int n) {\n"
    "    int i = get_global_id(0); if (i == 0 || i >= n - 1) return; x[i] = x[i - 1] + x[i + 1]; }\n"
    "kernel void even(global int *x, int n) { int i = get_global_id(0); if (i % 2 == 0 && i < n) x[i] = 1; "
    "}\n"
    "kernel void vectors(global float4 *x, int n) { x[get_global_id(0) + n] = 1; }\n"
    "kernel void threes(global int *x, int n) { vstore3((int3)(n), get_global_id(0), x); }\n"
    "kernel void back(global int *x, int n) { x[n - 1 - (int)get_global_id(0)] = 1; }\n"
    "kernel void stride(global int *x, int n) { x[get_global_id(0) * n] = 1; }\n"
    "kernel void tile(global int *x, int n) { x[get_global_id(1) * n + get_global_id(0)] = 1; }\n"
    "kernel void cube(global int *x, int n) {\n"
    "    x[(get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + "
    "get_global_id(0)] = n; }\n"
    "kernel void grouped(global int *x, int n) { x[get_group_id(0) * get_local_size(0) + get_local_id(0)] = "
    "n; }\n"
    "kernel void groups(global int *x, int n) { if (get_local_id(0) == 0) x[get_group_id(0)] = n; }\n"
    "kernel __attribute__((reqd_work_group_size(8, 1, 1))) void eights(global int *x, int n) {\n"
    "    if (get_local_id(0) == 0) x[get_group_id(0)] = n; }\n"
    "kernel void first(global int *x, int n) { if (get_global_id(0) == 0) x[n] = 1; }\n"
    "kernel void rows(global int *x, int n) {\n"
    "    int s = 0; for (int k = 0; k < n; k++) s += x[get_global_id(0) * 4 + k]; x[0] = s; }\n"
    "kernel void sums(global int *x, int n) { atomic_add(&x[get_global_id(0) & n], 1); }\n"
    "kernel void least(global int *x, int n) { x[min((int)get_global_id(0), n)] = 1; }\n"
    "kernel void twice(global int *x, int n) { x[get_global_id(0)] = 1; if (n > 5) x[get_global_id(0) + n] = "
    "2; }\n"
    "kernel void of_memory(global int *x, int n) { int i = x[0]; if (i >= 0) x[i * 100 + get_global_id(0)] = "
    "n; }\n"
    "kernel void behind_memory(global int *x, int n) { if (x[0] != 1234) return; x[get_global_id(0) + n] = "
    "1; }\n"
    "kernel void led(global int *x, global int *to) { x[to[get_global_id(0)]] = 1; }\n"
    "kernel void choosy(global int *x, global int *y, int n) {\n"
    "    int i = get_global_id(0), t = y ? y[i] : 0; if (n > 3) x[t] = 1; }\n"
    "kernel void never(global int *x, int n) { if (n < -1000) x[get_global_id(0)] = 1; }\n"
    "kernel void left(global int *x, int n) {\n"
    "    for (int k = 0; k < 4; k++) if (x[k] == n) return; x[get_global_id(0) + 1000] = 1; }\n"
    "kernel void fields(global int *x, int n, size s) {\n"
    "    int i = get_global_id(0), j = get_global_id(1); if (i < s.w && j < s.h) x[j * s.w + i] = n; }\n";

/* required: bytes. 0: nothing is known, or nothing is accessed. */
static const struct {
    const char *kernel;
    uint64_t global[3];
    uint32_t local;
    uint64_t offset;
    int n;
    uint64_t required;
} cases[] = {
    {"plain", {10}, 0, 0, 0, 40},     {"plain", {10}, 4, 7, 0, 68},       {"plain", {1}, 0, 0, 0, 4},
    {"guarded", {10}, 0, 0, 100, 40}, {"guarded", {1024}, 0, 0, 10, 40},  {"guarded", {10}, 0, 5, 12, 48},
    {"guarded", {10}, 0, 0, 0, 0},    {"early", {1024}, 0, 0, 999, 3996}, {"early", {7}, 0, 0, 999, 28},
    {"inner", {100}, 0, 0, 100, 400}, {"inner", {1000}, 0, 0, 100, 400},  {"inner", {50}, 0, 0, 100, 204},
    {"even", {100}, 0, 0, 1000, 396}, {"vectors", {3}, 0, 0, 2, 80},      {"threes", {5}, 0, 0, 1, 60},
    {"back", {10}, 0, 0, 50, 200},    {"stride", {10}, 0, 0, 3, 112},     {"tile", {4, 3}, 0, 0, 5, 56},
    {"cube", {4, 3, 2}, 0, 0, 5, 96}, {"grouped", {10}, 4, 0, 1, 32},     {"groups", {10}, 4, 0, 1, 12},
    {"eights", {17}, 0, 0, 1, 12},    {"first", {100}, 0, 0, 9, 40},      {"rows", {4}, 0, 0, 1, 52},
    {"sums", {100}, 0, 0, 7, 16},     {"least", {100}, 0, 0, 30, 124},    {"twice", {4}, 0, 0, 9, 52},
    {"twice", {4}, 0, 0, 5, 16},      {"of_memory", {4}, 0, 0, 1, 4},     {"behind_memory", {4}, 0, 0, 1, 4},
    {"never", {4}, 0, 0, 1, 0},       {"left", {4}, 0, 0, 1, 4},          {"fields", {8, 8}, 0, 0, 1, 60},
};

typedef struct size {
    short pad;
    int w, h;
} size;

static qn_status run(const fixture *f, qn_kernel *kernel, const qn_range *range, int n, bool has_fields,
                     uint64_t bytes) {
    const size s = {0, 5, 3};
    qn_buffer *buffer = make_buffer(f->device, bytes, NULL);
    const qn_arg args[] = {QN_ARG(buffer), QN_ARG(n), QN_BYTES(s)};
    assert_ok(f->context, qn_launch(NULL, kernel, range, args, has_fields ? 3 : 2));
    const qn_status status = qn_device_wait(f->device, QN_FOREVER);
    qn_buffer_destroy(buffer);
    return status;
}

static void sizes_are_the_least(void **state) {
    (void)state;
    fixture f = {.context = make_context(&(qn_context_desc){.cpu_compiler = "none"})};
    f.device = get_device(f.context, "cpu");
    f.program = make_program(f.device, source);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const size s = {0, 5, 3};
        const bool has_fields = !strcmp(cases[i].kernel, "fields");
        qn_kernel *kernel = make_kernel(f.program, f.context, cases[i].kernel);
        qn_range range = {.local = {cases[i].local}, .offset = {cases[i].offset}};
        memcpy(range.global, cases[i].global, sizeof range.global);
        const qn_arg args[] = {qn_arg_null(), QN_ARG(cases[i].n), QN_BYTES(s)};
        uint64_t bytes = 1;
        assert_ok(f.context, qn_kernel_required_size(kernel, 0, &range, args, has_fields ? 3 : 2, &bytes));
        if (bytes != cases[i].required)
            fail_msg("%s, case %zu: %llu bytes", cases[i].kernel, i, (unsigned long long)bytes);
        if (bytes > 1 && run(&f, kernel, &range, cases[i].n, has_fields, bytes - 1) != QN_ERROR_KERNEL_FAILED)
            fail_msg("%s, case %zu runs with less", cases[i].kernel, i);
        /* loops and bits: some work-items go further */
        const bool is_all =
            bytes > 4 && strcmp(cases[i].kernel, "rows") != 0 && strcmp(cases[i].kernel, "sums") != 0;
        if (is_all) assert_ok(f.context, run(&f, kernel, &range, cases[i].n, has_fields, bytes));
        qn_kernel_destroy(kernel);
    }
    qn_context_destroy(f.context);
}

/* The same from every device's compiler, and from the disk cache. */
static void every_device_knows(void **state) {
    (void)state;
    char dir[] = "/tmp/quern-required-XXXXXX";
    assert_non_null(mkdtemp(dir));
    for (int round = 0; round < 2; round++) {
        qn_context *context = make_context(&(qn_context_desc){.cache_dir = dir});
        qn_device *device = get_device(context, test_device());
        qn_program *program = make_program(device, source);
        qn_kernel *kernel = make_kernel(program, context, "tile");
        uint64_t bytes = 0;
        assert_ok(context,
                  qn_kernel_required_size(kernel, 0, QN_RANGE(4, 3), QN_ARGS(qn_arg_null(), 5), &bytes));
        assert_int_equal(bytes, 56);
        qn_program_times times;
        assert_ok(context, qn_program_get_times(program, &times));
        if (round && keeps_machine_code(device)) assert_true(times.from_cache);
        qn_context_destroy(context);
    }
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

/* Where is not known, but an access takes its own bytes at least. */
static void unknown_places_take_their_size(void **state) {
    (void)state;
    fixture f = make_fixture("cpu", source, "led");
    const qn_arg args[] = {qn_arg_null(), qn_arg_null()};
    uint64_t bytes;
    assert_ok(f.context, qn_kernel_required_size(f.kernel, 0, QN_RANGE(10), args, 2, &bytes));
    assert_int_equal(bytes, 4);
    assert_ok(f.context, qn_kernel_required_size(f.kernel, 1, QN_RANGE(10), args, 2, &bytes));
    assert_int_equal(bytes, 40);
    qn_context_destroy(f.context);
}

/* A launch that is sure to follow a null pointer would end the process, or take the device along. */
static void null_pointers_are_refused_where_they_are_followed(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), source, "led");
    qn_kernel *choosy = make_kernel(f.program, f.context, "choosy"),
              *guarded = make_kernel(f.program, f.context, "guarded");
    const int zeros[16] = {0};
    qn_buffer *buffer = make_buffer(f.device, sizeof zeros, zeros);
    qn_stream *stream;
    qn_graph *graph;
    assert_ok(f.context, qn_stream_create(f.device, &stream));
    assert_fails(f.context, qn_launch(NULL, f.kernel, QN_RANGE(4), QN_ARGS(qn_arg_null(), buffer)),
                 QN_ERROR_KERNEL_ARGUMENT,
                 "qn_launch: parameter 1 of led, 'int* x': it is null, and the kernel accesses it");
    assert_fails(f.context, qn_launch(NULL, f.kernel, QN_RANGE(4), QN_ARGS(buffer, qn_arg_null())),
                 QN_ERROR_KERNEL_ARGUMENT, "parameter 2 of led, 'int* to': it is null");
    assert_ok(f.context, qn_launch(NULL, f.kernel, QN_RANGE(0), QN_ARGS(buffer, qn_arg_null())));
    /* the kernel looks at it itself, or does not come by */
    assert_ok(f.context, qn_launch(NULL, choosy, QN_RANGE(4), QN_ARGS(buffer, qn_arg_null(), 5)));
    assert_ok(f.context, qn_launch(NULL, choosy, QN_RANGE(4), QN_ARGS(qn_arg_null(), buffer, 3)));
    assert_fails(f.context, qn_launch(NULL, choosy, QN_RANGE(4), QN_ARGS(qn_arg_null(), buffer, 4)),
                 QN_ERROR_KERNEL_ARGUMENT, "parameter 1 of choosy");
    assert_ok(f.context, qn_launch(NULL, guarded, QN_RANGE(4), QN_ARGS(qn_arg_null(), 0)));
    assert_ok(f.context, qn_device_wait(f.device, QN_FOREVER));
    /* graphs, and what is set in them */
    assert_ok(f.context, qn_graph_begin(stream));
    assert_fails(f.context, qn_launch(stream, guarded, QN_RANGE(4), QN_ARGS(qn_arg_null(), 1)),
                 QN_ERROR_KERNEL_ARGUMENT, "parameter 1 of guarded");
    assert_ok(f.context, qn_launch(stream, guarded, &(qn_range){.global = {4}, .offset = {8}},
                                   QN_ARGS(qn_arg_null(), 8)));
    assert_ok(f.context, qn_graph_end(stream, &graph));
    assert_fails(f.context, qn_graph_set_launch(graph, 0, QN_RANGE(4), QN_NO_ARGS), QN_ERROR_KERNEL_ARGUMENT,
                 "qn_graph_set_launch: parameter 1 of guarded, 'int* x': it is null");
    assert_fails(f.context, qn_graph_set_launch(graph, 0, NULL, QN_ARGS(qn_arg_null(), 9)),
                 QN_ERROR_KERNEL_ARGUMENT, "parameter 1 of guarded");
    assert_ok(f.context, qn_graph_set_launch(graph, 0, QN_RANGE(4), QN_ARGS(buffer, 9)));
    assert_ok(f.context, qn_graph_launch(stream, graph));
    assert_ok(f.context, qn_stream_wait(stream, QN_FOREVER));
    qn_context_destroy(f.context);
}

static void what_is_not_known_is_nothing(void **state) {
    (void)state;
    fixture f = make_fixture("cpu", source, "groups");
    uint64_t bytes = 1;
    /* quern chooses the local size */
    assert_ok(f.context,
              qn_kernel_required_size(f.kernel, 0, QN_RANGE(10), QN_ARGS(qn_arg_null(), 1), &bytes));
    assert_int_equal(bytes, 0);
    assert_ok(f.context,
              qn_kernel_required_size(f.kernel, 1, QN_RANGE(10), QN_ARGS(qn_arg_null(), 1), &bytes));
    assert_int_equal(bytes, 0);
    assert_ok(f.context,
              qn_kernel_required_size(f.kernel, 0, QN_RANGE(0), QN_ARGS(qn_arg_null(), 1), &bytes));
    assert_int_equal(bytes, 0);
    qn_program *slow;
    assert_ok(f.context,
              qn_program_create(f.device, &(qn_program_desc){.source = source, .opt_level = -1}, &slow));
    qn_kernel *plain = make_kernel(slow, f.context, "plain");
    assert_ok(f.context, qn_kernel_required_size(plain, 0, QN_RANGE(10), QN_ARGS(qn_arg_null(), 1), &bytes));
    assert_int_equal(bytes, 0);
    qn_context_destroy(f.context);
}

static void wrong_calls_are_refused(void **state) {
    (void)state;
    fixture f = make_fixture("null", source, "plain");
    uint64_t bytes;
    assert_fails(f.context,
                 qn_kernel_required_size(f.kernel, 2, QN_RANGE(1), QN_ARGS(qn_arg_null(), 1), &bytes),
                 QN_ERROR_RANGE, "plain has 2 parameters");
    assert_fails(f.context, qn_kernel_required_size(f.kernel, 0, QN_RANGE(1), QN_ARGS(qn_arg_null()), &bytes),
                 QN_ERROR_ARGUMENT_COUNT, "plain takes 2 arguments");
    assert_fails(f.context,
                 qn_kernel_required_size(f.kernel, 0, QN_RANGE(1), QN_ARGS(qn_arg_null(), 1.5), &bytes),
                 QN_ERROR_KERNEL_ARGUMENT, "qn_kernel_required_size: parameter 2 of plain");
    assert_fails(f.context, qn_kernel_required_size(f.kernel, 0, NULL, QN_ARGS(qn_arg_null(), 1), &bytes),
                 QN_ERROR_NULL, "range");
    assert_fails(f.context,
                 qn_kernel_required_size(f.kernel, 0, QN_RANGE(1), QN_ARGS(qn_arg_null(), 1), NULL),
                 QN_ERROR_NULL, "bytes");
    qn_context_destroy(f.context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_the_least),
        cmocka_unit_test(every_device_knows),
        cmocka_unit_test(unknown_places_take_their_size),
        cmocka_unit_test(null_pointers_are_refused_where_they_are_followed),
        cmocka_unit_test(what_is_not_known_is_nothing),
        cmocka_unit_test(wrong_calls_are_refused),
    };
    return run_device_tests(tests);
}
