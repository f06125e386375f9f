/* Launching: arguments by value and by reference, what is refused and with which message. */
#include "api_support.h"

static const char source[] =
    "typedef struct { int a; float b; } pair;\n"
    "kernel void scale(int n, float factor, global const float *x, global float *y) {\n"
    "    int i = get_global_id(0);\n"
    "    if (i < n) y[i] = factor * x[i];\n"
    "}\n"
    "kernel void mixed(char c, ulong u, double d, float4 v, pair p, global double *out) {\n"
    "    out[0] = c; out[1] = u; out[2] = d; out[3] = v.x + v.y + v.z + v.w; out[4] = p.a + p.b;\n"
    "}\n"
    "kernel void sum(global const int *in, global int *out, local int *scratch) {\n"
    "    int l = get_local_id(0), n = get_local_size(0);\n"
    "    scratch[l] = in[get_global_id(0)];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (l == 0) { int s = 0; for (int i = 0; i < n; i++) s += scratch[i]; out[get_group_id(0)] = s; }\n"
    "}\n"
    "kernel __attribute__((reqd_work_group_size(4, 2, 1))) void fixed(global int *out) { out[0] = "
    "get_local_size(0); }\n"
    "kernel void group_size(global int *out) { out[get_global_id(0) + get_global_id(1) * get_global_size(0)] "
    "=\n"
    "    get_local_size(0) * get_local_size(1) * get_local_size(2); }\n"
    "kernel void is_null(global const int *p, global int *out) { out[0] = p == 0; }\n";

static void launches_compute(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), source, "scale");
    float x[100], y[100];
    for (int i = 0; i < 100; i++) x[i] = (float)i;
    qn_buffer *bx = make_buffer(f.device, sizeof x, x), *by = make_buffer(f.device, sizeof y, NULL);
    assert_ok(f.context, qn_launch(NULL, f.kernel, QN_RANGE(100), QN_ARGS(90, 2.0f, bx, by)));
    assert_ok(f.context, qn_buffer_read(by, 0, y, sizeof y));
    for (int i = 0; i < 100; i++) assert_true(y[i] == (i < 90 ? 2.0f * (float)i : 0.0f));
    qn_context_destroy(f.context);
}

static void values_of_all_kinds(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), source, "mixed");
    struct {
        int a;
        float b;
    } pair = {40, 2.5f};
    float v[4] = {1, 2, 3, 4};
    double out[5];
    qn_buffer *buffer = make_buffer(f.device, sizeof out, NULL);
    assert_ok(f.context,
              qn_launch(NULL, f.kernel, QN_RANGE(1),
                        QN_ARGS((signed char)-3, 1ull << 40, 0.1, QN_BYTES(v), QN_BYTES(pair), buffer)));
    assert_ok(f.context, qn_buffer_read(buffer, 0, out, sizeof out));
    const double wanted[5] = {-3, 1099511627776.0, 0.1, 10, 42.5};
    for (int i = 0; i < 5; i++) assert_true(out[i] == wanted[i]);
    qn_context_destroy(f.context);
}

/* A group of the CPU device has several of them, for what a group costs. */
static void short_rows_share_groups(void **state) {
    (void)state;
    enum { WIDE = 5, HIGH = 30011 };
    fixture f = make_fixture(test_device(), source, "group_size");
    qn_device_info info;
    int *sizes = calloc(WIDE * HIGH, sizeof *sizes), least = 1 << 20;
    qn_buffer *out = make_buffer(f.device, WIDE * HIGH * sizeof *sizes, NULL);
    assert_ok(f.context, qn_device_get_info(f.device, &info));
    assert_ok(f.context, qn_launch(NULL, f.kernel, QN_RANGE(WIDE, HIGH), QN_ARGS(out)));
    assert_ok(f.context, qn_buffer_read(out, 0, sizes, WIDE * HIGH * sizeof *sizes));
    for (int i = 0; i < WIDE * HIGH; i++) least = sizes[i] < least ? sizes[i] : least;
    assert_true(least > 0);
    if (info.kind == QN_DEVICE_CPU && info.compute_units <= 64) assert_true(sizes[0] >= 8 * WIDE);
    free(sizes);
    qn_context_destroy(f.context);
}

static void local_memory_is_given_at_launch(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), source, "sum");
    int in[64], out[8];
    for (int i = 0; i < 64; i++) in[i] = i;
    qn_buffer *bi = make_buffer(f.device, sizeof in, in), *bo = make_buffer(f.device, sizeof out, NULL);
    assert_ok(f.context, qn_launch(NULL, f.kernel, QN_RANGE_LOCAL(QN_GROUP(64), QN_GROUP(8)),
                                   QN_ARGS(bi, bo, qn_arg_local(8 * sizeof(int)))));
    assert_ok(f.context, qn_buffer_read(bo, 0, out, sizeof out));
    for (int g = 0; g < 8; g++) assert_int_equal(out[g], 64 * g + 28);
    qn_context_destroy(f.context);
}

enum { MOST_WORDS = 16384 }; /* what the compiler allows in all */

/* The block of a launch of the kernel `large`: numbers from `first` on. */
static qn_status launch_large(qn_kernel *kernel, qn_buffer *out, int first, int count) {
    static int block[MOST_WORDS];
    for (int i = 0; i < count; i++) block[i] = first + i;
    qn_arg args[] = {qn_arg_buffer(out), qn_arg_bytes(block, (size_t)count * sizeof *block)};
    return qn_launch(NULL, kernel, QN_RANGE((uint64_t)count), args, 2);
}

static void structures_of_all_sizes_are_passed_by_value(void **state) {
    (void)state;
    static const char text[] = "typedef struct { int a[N]; } block;\n"
                               "kernel void large(global int *out, block b) { int i = get_global_id(0);\n"
                               "    out[i] = out[i] * 3 + b.a[N - 1 - i]; }\n";
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, test_device());
    qn_device_info info;
    assert_ok(context, qn_device_get_info(device, &info));
    const int most = (int)(info.max_args_size - 8) / 4,
              counts[] = {5, 29, 32, 33, 1025, 4500, most, most + 1};
    static int out[MOST_WORDS];
    for (int c = 0; c < 8; c++) {
        int count = counts[c];
        char options[32];
        qn_program *program;
        if (c < 6 && count > most) continue;
        assert_true(count <= MOST_WORDS);
        memset(out, 0, sizeof out);
        snprintf(options, sizeof options, "-D N=%d", count);
        qn_status status =
            qn_program_create(device, &(qn_program_desc){.source = text, .options = options}, &program);
        if (status && count > most) { /* more than the compiler allows */
            assert_non_null(
                strstr(qn_error_message(context), "the arguments of kernel 'large' take more than"));
            break;
        }
        assert_ok(context, status);
        qn_kernel *kernel;
        if (count > most) {
            assert_fails(context, qn_kernel_create(program, "large", &kernel), QN_ERROR_UNSUPPORTED,
                         "bytes; ");
            break;
        }
        kernel = make_kernel(program, context, "large");
        qn_buffer *buffer = make_buffer(device, (uint64_t)count * 4, out);
        qn_graph *graph;
        assert_ok(context, launch_large(kernel, buffer, 1, count));
        assert_ok(context, qn_graph_begin(qn_device_stream(device)));
        assert_ok(context, launch_large(kernel, buffer, 20, count));
        assert_ok(context, qn_graph_end(qn_device_stream(device), &graph));
        for (int i = 0; i < 2; i++) assert_ok(context, qn_graph_launch(NULL, graph));
        assert_ok(context, launch_large(kernel, buffer, 300, count));
        assert_ok(context, qn_buffer_read(buffer, 0, out, (uint64_t)count * 4));
        for (int i = 0; i < count; i++) {
            int at = count - 1 - i;
            assert_int_equal(out[i], (((1 + at) * 3 + 20 + at) * 3 + 20 + at) * 3 + 300 + at);
        }
        qn_graph_destroy(graph);
    }
    qn_context_destroy(context);
}

static void null_pointers_can_be_passed(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), source, "is_null");
    int out = 7;
    qn_buffer *buffer = make_buffer(f.device, sizeof out, NULL);
    assert_ok(f.context, qn_launch(NULL, f.kernel, QN_RANGE(1), QN_ARGS(qn_arg_null(), buffer)));
    assert_ok(f.context, qn_buffer_read(buffer, 0, &out, sizeof out));
    assert_int_equal(out, 1);
    qn_context_destroy(f.context);
}

static void an_empty_launch_does_nothing(void **state) {
    (void)state;
    fixture f = make_fixture(test_device(), source, "scale");
    float one = 1, y = 5;
    qn_buffer *bx = make_buffer(f.device, sizeof one, &one), *by = make_buffer(f.device, sizeof y, &y);
    assert_ok(f.context, qn_launch(NULL, f.kernel, QN_RANGE(0), QN_ARGS(1, 2.0f, bx, by)));
    assert_ok(f.context, qn_buffer_read(by, 0, &y, sizeof y));
    assert_true(y == 5);
    qn_context_destroy(f.context);
}

static void wrong_arguments_are_named(void **state) {
    (void)state;
    fixture f = make_fixture("null", source, "scale");
    qn_buffer *b = make_buffer(f.device, 64, NULL);
    qn_context *c = f.context;
    qn_kernel *k = f.kernel;
    assert_fails(c, qn_launch(NULL, k, QN_RANGE(1), QN_ARGS(1, 2.0f, b)), QN_ERROR_ARGUMENT_COUNT,
                 "scale takes 4");
    assert_fails(c, qn_launch(NULL, k, QN_RANGE(1), QN_ARGS(b, 2.0f, b, b)), QN_ERROR_KERNEL_ARGUMENT,
                 "'int n'");
    assert_fails(c, qn_launch(NULL, k, QN_RANGE(1), QN_ARGS(1.5, 2.0f, b, b)), QN_ERROR_KERNEL_ARGUMENT,
                 "floating-point");
    assert_fails(c, qn_launch(NULL, k, QN_RANGE(1), QN_ARGS(1ll << 40, 2.0f, b, b)), QN_ERROR_KERNEL_ARGUMENT,
                 "does not fit");
    assert_fails(c, qn_launch(NULL, k, QN_RANGE(1), QN_ARGS(1, 16777217, b, b)), QN_ERROR_KERNEL_ARGUMENT,
                 "does not fit");
    assert_fails(c, qn_launch(NULL, k, QN_RANGE(1), QN_ARGS(1, 2.0f, 3, b)), QN_ERROR_KERNEL_ARGUMENT,
                 "number was given");
    assert_fails(c, qn_launch(NULL, k, QN_RANGE(1), QN_ARGS(1, 2.0f, (qn_buffer *)NULL, b)),
                 QN_ERROR_KERNEL_ARGUMENT, "is NULL");
    assert_fails(c, qn_launch(NULL, k, QN_RANGE(1), QN_ARGS(1, 2.0f, qn_arg_local(4), b)),
                 QN_ERROR_KERNEL_ARGUMENT, "local memory");
    assert_fails(c, qn_launch(NULL, k, QN_RANGE(1), NULL, 4), QN_ERROR_NULL, "args");
    assert_fails(c, qn_launch(NULL, k, NULL, QN_ARGS(1, 2.0f, b, b)), QN_ERROR_NULL, "range");
    assert_int_equal(qn_launch(NULL, NULL, QN_RANGE(1), QN_ARGS(1)), QN_ERROR_NULL);
    short three[3] = {0};
    assert_fails(c, qn_launch(NULL, k, QN_RANGE(1), QN_ARGS(QN_BYTES(three), 2.0f, b, b)),
                 QN_ERROR_KERNEL_ARGUMENT, "6 bytes");
    qn_context_destroy(c);
}

static void integers_become_exact_floats(void **state) {
    (void)state;
    fixture f = make_fixture("null", source, "scale");
    qn_buffer *b = make_buffer(f.device, 64, NULL);
    assert_ok(f.context, qn_launch(NULL, f.kernel, QN_RANGE(1), QN_ARGS(1, 3, b, b)));
    assert_ok(f.context, qn_launch(NULL, f.kernel, QN_RANGE(1), QN_ARGS(1, 0.1, b, b)));
    qn_context_destroy(f.context);
}

static void sizes_are_checked(void **state) {
    (void)state;
    fixture f = make_fixture("null", source, "sum");
    qn_buffer *b = make_buffer(f.device, 64, NULL);
    qn_context *c = f.context;
    assert_fails(c,
                 qn_launch(NULL, f.kernel, QN_RANGE_LOCAL(QN_GROUP(64), QN_GROUP(4096)),
                           QN_ARGS(b, b, qn_arg_local(4))),
                 QN_ERROR_LAUNCH_SIZE, "local size 4096");
    assert_fails(c,
                 qn_launch(NULL, f.kernel, QN_RANGE_LOCAL(QN_GROUP(64, 64), QN_GROUP(64, 64)),
                           QN_ARGS(b, b, qn_arg_local(4))),
                 QN_ERROR_LAUNCH_SIZE, "4096 work-items");
    assert_fails(c, qn_launch(NULL, f.kernel, QN_RANGE(UINT64_MAX), QN_ARGS(b, b, qn_arg_local(4))),
                 QN_ERROR_LAUNCH_SIZE, "global size");
    assert_fails(c, qn_launch(NULL, f.kernel, QN_RANGE(1), QN_ARGS(b, b, qn_arg_local(UINT64_MAX))),
                 QN_ERROR_LAUNCH_SIZE, "local memory");
    qn_kernel *fixed = make_kernel(f.program, c, "fixed");
    assert_fails(c, qn_launch(NULL, fixed, QN_RANGE_LOCAL(QN_GROUP(8, 8), QN_GROUP(8, 1)), QN_ARGS(b)),
                 QN_ERROR_LAUNCH_SIZE, "requires local size 4,2,1");
    assert_ok(c, qn_launch(NULL, fixed, QN_RANGE(8, 8), QN_ARGS(b)));
    assert_ok(c, qn_launch(NULL, fixed, QN_RANGE(7, 8), QN_ARGS(b)));
    const qn_program_desc uniform = {.source = source, .options = "-cl-uniform-work-group-size"};
    qn_program *program;
    assert_ok(c, qn_program_create(f.device, &uniform, &program));
    fixed = make_kernel(program, c, "fixed");
    assert_ok(c, qn_launch(NULL, fixed, QN_RANGE(8, 8), QN_ARGS(b)));
    assert_fails(c, qn_launch(NULL, fixed, QN_RANGE(8, 7), QN_ARGS(b)), QN_ERROR_LAUNCH_SIZE,
                 "in dimension 1 global size 7 is no multiple of local size 2");
    qn_context_destroy(c);
}

static void objects_of_other_contexts_are_refused(void **state) {
    (void)state;
    fixture f = make_fixture("null", source, "scale"), g = make_fixture("null", source, "scale");
    qn_buffer *mine = make_buffer(f.device, 64, NULL), *other = make_buffer(g.device, 64, NULL);
    assert_fails(f.context, qn_launch(NULL, f.kernel, QN_RANGE(1), QN_ARGS(1, 2.0f, other, mine)),
                 QN_ERROR_WRONG_CONTEXT, "float* x'");
    assert_fails(f.context,
                 qn_launch(qn_device_stream(g.device), f.kernel, QN_RANGE(1), QN_ARGS(1, 2.0f, mine, mine)),
                 QN_ERROR_WRONG_CONTEXT, "another context");
    qn_context_destroy(f.context);
    qn_context_destroy(g.context);
}

static void a_vector_of_three_has_twelve_bytes_or_sixteen(void **state) {
    (void)state;
    fixture f =
        make_fixture(test_device(),
                     "kernel void f(int3 v, global int *out) { out[0] = v.x * 100 + v.y * 10 + v.z; }", "f");
    const int32_t bytes[4] = {1, 2, 3, 4};
    qn_buffer *out = make_buffer(f.device, 4, NULL);
    for (uint64_t size = 12; size <= 16; size += 4) {
        int32_t result = 0;
        assert_ok(f.context, qn_launch(NULL, f.kernel, QN_RANGE(1), QN_ARGS(qn_arg_bytes(bytes, size), out)));
        assert_ok(f.context, qn_buffer_read(out, 0, &result, sizeof result));
        assert_int_equal(result, 123);
    }
    assert_fails(f.context, qn_launch(NULL, f.kernel, QN_RANGE(1), QN_ARGS(qn_arg_bytes(bytes, 8), out)),
                 QN_ERROR_KERNEL_ARGUMENT, "8 bytes were given, it has 16");
    qn_context_destroy(f.context);
}

static void destroyed_objects_are_refused(void **state) {
    (void)state;
    fixture f = make_fixture("null", source, "scale");
    qn_buffer *b = make_buffer(f.device, 64, NULL), *gone = make_buffer(f.device, 64, NULL);
    qn_buffer_destroy(gone);
    assert_fails(f.context, qn_launch(NULL, f.kernel, QN_RANGE(1), QN_ARGS(1, 2.0f, b, gone)),
                 QN_ERROR_DESTROYED, "y");
    assert_fails(f.context, qn_buffer_write(gone, 0, "x", 1), QN_ERROR_DESTROYED, "buffer");
    qn_kernel_destroy(f.kernel);
    assert_fails(f.context, qn_launch(NULL, f.kernel, QN_RANGE(1), QN_ARGS(1, 2.0f, b, b)),
                 QN_ERROR_DESTROYED, "kernel");
    qn_program_destroy(f.program);
    qn_program_destroy(f.program); /* twice is once */
    qn_context_destroy(f.context);
}

static void reflection_tells_the_parameters(void **state) {
    (void)state;
    fixture f = make_fixture("null", source, "mixed");
    qn_kernel_info info;
    assert_ok(f.context, qn_kernel_get_info(f.kernel, &info));
    assert_string_equal(info.name, "mixed");
    assert_int_equal(info.num_params, 6);
    static const struct {
        const char *name;
        qn_param_kind kind;
        qn_type type;
        uint32_t lanes, size;
        const char *type_name;
    } wanted[] = {{"c", QN_PARAM_VALUE, QN_TYPE_I8, 1, 1, "char"},
                  {"u", QN_PARAM_VALUE, QN_TYPE_U64, 1, 8, "ulong"},
                  {"d", QN_PARAM_VALUE, QN_TYPE_F64, 1, 8, "double"},
                  {"v", QN_PARAM_VALUE, QN_TYPE_F32, 4, 16, "float4"},
                  {"p", QN_PARAM_VALUE, QN_TYPE_BYTES, 1, 8, "pair"},
                  {"out", QN_PARAM_BUFFER, QN_TYPE_F64, 1, 8, "double*"}};
    for (uint32_t i = 0; i < 6; i++) {
        qn_param_info param;
        assert_ok(f.context, qn_kernel_get_param(f.kernel, i, &param));
        assert_string_equal(param.name, wanted[i].name);
        assert_int_equal(param.kind, wanted[i].kind);
        assert_int_equal(param.type, wanted[i].type);
        assert_int_equal(param.lanes, wanted[i].lanes);
        assert_int_equal(param.size, wanted[i].size);
        assert_string_equal(param.type_name, wanted[i].type_name);
    }
    qn_param_info param;
    assert_fails(f.context, qn_kernel_get_param(f.kernel, 6, &param), QN_ERROR_RANGE, "6 parameters");
    assert_fails(f.context, qn_kernel_create(f.program, "nothing", &f.kernel), QN_ERROR_NO_KERNEL,
                 "scale, mixed, sum");
    assert_fails(f.context, qn_kernel_create(f.program, NULL, &f.kernel), QN_ERROR_NO_KERNEL, "several");
    qn_context_destroy(f.context);
}

/* As the header says; qualifiers and address space are told apart. */
static void type_names_are_without_qualifiers(void **state) {
    (void)state;
    static const struct {
        const char *name;
        qn_param_kind kind;
        bool is_constant, is_const, is_restrict;
    } wanted[] = {{"float4*", QN_PARAM_BUFFER, false, true, true},
                  {"uint*", QN_PARAM_LOCAL, false, false, false},
                  {"struct item*", QN_PARAM_BUFFER, true, false, false},
                  {"int(*)[4]", QN_PARAM_BUFFER, false, false, false},
                  {"void*", QN_PARAM_BUFFER, false, false, false},
                  {"uchar3", QN_PARAM_VALUE, false, false, false}};
    fixture f = make_fixture("null",
                             "struct item { int a; };\n"
                             "kernel void f(global const float4 *restrict x, local volatile uint *l,\n"
                             "              constant struct item *c, global int (*t)[4], global void *v,\n"
                             "              const uchar3 u) {}\n",
                             "f");
    for (uint32_t i = 0; i < 6; i++) {
        qn_param_info param;
        assert_ok(f.context, qn_kernel_get_param(f.kernel, i, &param));
        assert_string_equal(param.type_name, wanted[i].name);
        assert_int_equal(param.kind, wanted[i].kind);
        assert_int_equal(param.is_constant_space, wanted[i].is_constant);
        assert_int_equal(param.is_restrict, wanted[i].is_restrict);
        if (!param.is_constant_space) assert_int_equal(param.is_const, wanted[i].is_const);
    }
    qn_context_destroy(f.context);
}

/* A kernel with many buffers that adds what is in all of them. */
static char *many_parameters(uint32_t count) {
    char *text = calloc(count + 2, 64), *at = text;
    assert_non_null(text);
    at += sprintf(at, "kernel void f(");
    for (uint32_t i = 0; i < count; i++) at += sprintf(at, "%sglobal int *p%u", i ? ", " : "", (unsigned)i);
    at += sprintf(at, ") {\n    p0[0] = 0");
    for (uint32_t i = 1; i < count; i++) at += sprintf(at, " + p%u[0]", (unsigned)i);
    sprintf(at, ";\n}\n");
    return text;
}

static void run_many(qn_device *device, qn_kernel *kernel, uint32_t count) {
    qn_context *context = qn_device_context(device);
    qn_arg *args = calloc(count, sizeof *args);
    assert_non_null(args);
    int sum = 0, out = -1;
    for (uint32_t i = 0; i < count; i++) {
        const int value = (int)i * 3;
        args[i] = qn_arg_buffer(make_buffer(device, sizeof value, &value));
        sum += value;
    }
    assert_fails(context, qn_launch(NULL, kernel, QN_RANGE(1), args, count - 1), QN_ERROR_ARGUMENT_COUNT,
                 "arguments");
    assert_ok(context, qn_launch(NULL, kernel, QN_RANGE(1), args, count));
    assert_ok(context, qn_buffer_read(args[0].value.buffer, 0, &out, sizeof out));
    assert_int_equal(out, sum);
    for (uint32_t i = 0; i < count; i++) qn_buffer_destroy(args[i].value.buffer);
    free(args);
}

static void kernels_may_have_many_parameters(void **state) {
    (void)state;
    static const uint32_t counts[] = {100, 257};
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, test_device());
    qn_device_info info;
    assert_ok(context, qn_device_get_info(device, &info));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        char *text = many_parameters(counts[i]);
        qn_program *program = make_program(device, text);
        qn_kernel *kernel;
        if (counts[i] * 8 <= info.max_args_size) {
            run_many(device, make_kernel(program, context, NULL), counts[i]);
        } else {
            char part[64];
            snprintf(part, sizeof part, "%u parameters of f take %u bytes", (unsigned)counts[i],
                     (unsigned)counts[i] * 8);
            assert_fails(context, qn_kernel_create(program, NULL, &kernel), QN_ERROR_UNSUPPORTED, part);
        }
        qn_program_destroy(program);
        free(text);
    }
    qn_context_destroy(context);
}

static void a_bad_program_gives_its_log(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, test_device());
    qn_program *program;
    qn_program_desc desc = {.source = "kernel void f(global int *a) {\n    a[0] = b;\n}\n", .path = "bad.cl"};
    assert_fails(context, qn_program_create(device, &desc, &program), QN_ERROR_COMPILE,
                 "bad.cl:2:12: error:");
    assert_null(program);
    assert_fails(context, qn_program_create(device, &(qn_program_desc){0}, &program), QN_ERROR_NULL,
                 "source, path, sources and binary");
    assert_fails(context, qn_program_create(device, &(qn_program_desc){.path = "/nonexistent.cl"}, &program),
                 QN_ERROR_IO, "nonexistent");
    desc = (qn_program_desc){.source = "", .opt_level = 9};
    assert_fails(context, qn_program_create(device, &desc, &program), QN_ERROR_ARGUMENT, "opt_level 9");
    qn_context_destroy(context);
}

static void headers_are_given_as_text(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, test_device());
    qn_program *program;
    qn_header header = {"answer.h", "#define ANSWER 42\n"};
    qn_program_desc desc = {
        .source = "#include \"answer.h\"\nkernel void f(global int *a) { a[0] = ANSWER + EXTRA; }",
        .headers = &header,
        .num_headers = 1,
        .options = "-D EXTRA=1"};
    assert_ok(context, qn_program_create(device, &desc, &program));
    qn_kernel *kernel = make_kernel(program, context, NULL);
    int out;
    qn_buffer *buffer = make_buffer(device, sizeof out, NULL);
    assert_ok(context, qn_launch(NULL, kernel, QN_RANGE(1), QN_ARGS(buffer)));
    assert_ok(context, qn_buffer_read(buffer, 0, &out, sizeof out));
    assert_int_equal(out, 43);
    qn_context_destroy(context);
}

/* ---- sources that are too large: what is beyond the limit must not just be missing ---- */

enum { MOST_SOURCE = 64 << 20 };

static void sources_are_not_cut_off(void **state) {
    (void)state;
    char folder[] = "/tmp/quern-large-XXXXXX", path[64], options[64];
    qn_context *context = make_context(&(qn_context_desc){.disable_cache = true});
    qn_device *device = get_device(context, "null");
    qn_program *program;
    char *text = malloc(MOST_SOURCE + 2);
    assert_non_null(text);
    memset(text, '\n', MOST_SOURCE + 1);
    memcpy(text, "kernel void f() {}", 18);
    text[MOST_SOURCE + 1] = 0;
    qn_program_desc whole = {.source = text};
    assert_fails(context, qn_program_create(device, &whole, &program), QN_ERROR_COMPILE, "more than 64 MiB");
    qn_program_desc header = {.source = "#include \"large.h\"\nkernel void g() {}\n",
                              .headers = &(qn_header){"large.h", text},
                              .num_headers = 1};
    assert_fails(context, qn_program_create(device, &header, &program), QN_ERROR_COMPILE,
                 "kernel.cl:1:2: error: 'large.h' has more than 64 MiB");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/large.h", folder);
    snprintf(options, sizeof options, "-I %s", folder);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), MOST_SOURCE + 1), 0);
    fclose(file);
    qn_program_desc included = {.source = "#include <large.h>\nkernel void g() {}\n", .options = options};
    assert_fails(context, qn_program_create(device, &included, &program), QN_ERROR_COMPILE,
                 "more than 64 MiB");
    assert_fails(context, qn_program_create(device, &(qn_program_desc){.path = path}, &program),
                 QN_ERROR_COMPILE, "large.h' has more than 64 MiB");
    unlink(path);
    rmdir(folder);
    free(text);
    qn_context_destroy(context);
}

/* Structs by value and behind pointers; what is no struct has no fields. */
static void structs_have_fields(void **state) {
    (void)state;
    static const char source[] =
        "typedef struct { char on; struct { double at[2][3]; } inner[2]; union { ushort low; half value; }; "
        "} item;\n"
        "typedef struct { char many[2000]; item items[1000]; } crowd;\n"
        "kernel void k(item v, global item *p, int n, global crowd *c) { p[0] = v; }\n";
    static const qn_field_info wanted[] = {{"on", QN_TYPE_I8, 1, 0, 1},
                                           {"inner[0].at", QN_TYPE_F64, 1, 8, 6},
                                           {"inner[1].at", QN_TYPE_F64, 1, 56, 6},
                                           {"low", QN_TYPE_U16, 1, 104, 1},
                                           {"value", QN_TYPE_F16, 1, 104, 1}};
    enum { WANTED = sizeof wanted / sizeof wanted[0] };
    fixture f = make_fixture("null", source, "k");
    qn_param_info param;
    qn_field_info field;
    for (uint32_t p = 0; p < 2; p++) {
        assert_ok(f.context, qn_kernel_get_param(f.kernel, p, &param));
        assert_int_equal(param.num_fields, WANTED);
        for (uint32_t i = 0; i < WANTED; i++) {
            assert_ok(f.context, qn_kernel_get_field(f.kernel, p, i, &field));
            assert_string_equal(field.name, wanted[i].name);
            assert_int_equal(field.type, wanted[i].type);
            assert_int_equal(field.offset, wanted[i].offset);
            assert_int_equal(field.count, wanted[i].count);
            assert_int_equal(field.lanes, 1);
        }
    }
    for (uint32_t p = 2; p < 4; p++) {
        assert_ok(f.context, qn_kernel_get_param(f.kernel, p, &param));
        assert_int_equal(param.num_fields, 0); /* a number; too many */
    }
    assert_fails(f.context, qn_kernel_get_field(f.kernel, 0, WANTED, &field), QN_ERROR_RANGE,
                 "'v' has 5 fields");
    assert_fails(f.context, qn_kernel_get_field(f.kernel, 4, 0, &field), QN_ERROR_RANGE,
                 "k has 4 parameters");
    assert_fails(f.context, qn_kernel_get_field(f.kernel, 0, 0, NULL), QN_ERROR_NULL, "info");
    qn_context_destroy(f.context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structs_have_fields),
        cmocka_unit_test(launches_compute),
        cmocka_unit_test(values_of_all_kinds),
        cmocka_unit_test(short_rows_share_groups),
        cmocka_unit_test(local_memory_is_given_at_launch),
        cmocka_unit_test(structures_of_all_sizes_are_passed_by_value),
        cmocka_unit_test(a_vector_of_three_has_twelve_bytes_or_sixteen),
        cmocka_unit_test(null_pointers_can_be_passed),
        cmocka_unit_test(an_empty_launch_does_nothing),
        cmocka_unit_test(wrong_arguments_are_named),
        cmocka_unit_test(integers_become_exact_floats),
        cmocka_unit_test(sizes_are_checked),
        cmocka_unit_test(objects_of_other_contexts_are_refused),
        cmocka_unit_test(destroyed_objects_are_refused),
        cmocka_unit_test(reflection_tells_the_parameters),
        cmocka_unit_test(type_names_are_without_qualifiers),
        cmocka_unit_test(kernels_may_have_many_parameters),
        cmocka_unit_test(sources_are_not_cut_off),
        cmocka_unit_test(a_bad_program_gives_its_log),
        cmocka_unit_test(headers_are_given_as_text),
    };
    return run_device_tests(tests);
}
