/* Programs in WGSL: bindings as parameters, overrides, whole work-groups, what a wrong use says; that a program's language is part of
   what the cache knows it by. What the language does is in tests/wgsl. */
#include "api_support.h"

static const char scale_source[] = "override factor: f32 = 2;\n"
                                   "@id(7) override added = 1.0;\n"
                                   "@group(1) @binding(0) var<storage, read_write> out: array<f32>;\n"
                                   "@group(0) @binding(3) var<uniform> count: u32;\n"
                                   "@group(0) @binding(1) var<storage> in: array<f32>;\n"
                                   "@group(0) @binding(2) var<storage> unused: array<f32>;\n"
                                   "@compute @workgroup_size(4)\n"
                                   "fn scale(@builtin(global_invocation_id) id: vec3u) {\n"
                                   "    if id.x < count { out[id.x] = in[id.x] * factor + added; }\n"
                                   "}\n";

enum { COUNT = 8 };

static qn_program_desc wgsl(const char *source) {
    return (qn_program_desc){.source = source, .path = "shader.wgsl", .language = QN_LANGUAGE_WGSL};
}

/* The last element after a run with these defines. */
static float run_scale(qn_context *context, qn_device *device, const qn_define *defines, size_t count) {
    float x[COUNT], y[COUNT] = {0};
    const uint32_t length = COUNT;
    qn_program *program;
    qn_program_desc desc = wgsl(scale_source);
    desc.defines = defines;
    desc.num_defines = count;
    for (int i = 0; i < COUNT; i++) x[i] = (float)i;
    assert_ok(context, qn_program_create(device, &desc, &program));
    qn_kernel *kernel = make_kernel(program, context, "scale");
    qn_buffer *n = make_buffer(device, sizeof length, &length), *in = make_buffer(device, sizeof x, x),
              *out = make_buffer(device, sizeof y, y);
    assert_ok(context, qn_launch(NULL, kernel, QN_RANGE(COUNT), QN_ARGS(in, n, out)));
    assert_ok(context, qn_buffer_read(out, 0, y, sizeof y));
    qn_buffer_destroy(n);
    qn_buffer_destroy(in);
    qn_buffer_destroy(out);
    qn_kernel_destroy(kernel);
    qn_program_destroy(program);
    return y[COUNT - 1];
}

static void overrides_are_set_by_name_and_number(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, test_device());
    const qn_define defines[] = {{"factor", "3"}, {"7", "0.5"}};
    assert_true(run_scale(context, device, NULL, 0) == 15);
    assert_true(run_scale(context, device, defines, 1) == 22);
    assert_true(run_scale(context, device, defines, 2) == 21.5F);
    qn_context_destroy(context);
}

static void bindings_are_parameters_in_order(void **state) {
    (void)state;
    static const char *const names[] = {"in", "count", "out"}, *const types[] = {"array<f32>", "u32",
                                                                                 "array<f32>"};
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, test_device());
    qn_program *program;
    const qn_program_desc desc = wgsl(scale_source);
    assert_ok(context, qn_program_create(device, &desc, &program));
    qn_kernel *kernel = make_kernel(program, context, NULL);
    qn_param_info none;
    assert_int_equal(qn_kernel_get_param(kernel, 3, &none), QN_ERROR_RANGE);
    for (uint32_t i = 0; i < 3; i++) {
        qn_param_info info;
        assert_ok(context, qn_kernel_get_param(kernel, i, &info));
        assert_string_equal(info.name, names[i]);
        assert_string_equal(info.type_name, types[i]);
    }
    qn_kernel_destroy(kernel);
    qn_program_destroy(program);
    qn_context_destroy(context);
}

static void work_groups_are_whole(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, test_device());
    qn_program *program;
    const qn_program_desc desc =
        wgsl("@group(0) @binding(0) var<storage, read_write> x: array<u32>;\n"
             "@compute @workgroup_size(4) fn f(@builtin(local_invocation_index) i: u32) { x[i] = i; }\n");
    assert_ok(context, qn_program_create(device, &desc, &program));
    qn_kernel *kernel = make_kernel(program, context, NULL);
    qn_buffer *x = make_buffer(device, 64, NULL);
    assert_fails(context, qn_launch(NULL, kernel, QN_RANGE(6), QN_ARGS(x)), QN_ERROR_LAUNCH_SIZE,
                 "global size 6 is no multiple of local size 4");
    qn_buffer_destroy(x);
    qn_kernel_destroy(kernel);
    qn_program_destroy(program);
    qn_context_destroy(context);
}

/* As WebGPU does: what is behind the end would be read without a look. */
static void buffers_have_the_bytes_of_their_type(void **state) {
    (void)state;
    static const char source[] = "struct Sizes { n: u32, at: vec3f, f: f32 }\n"
                                 "struct List { count: u32, items: array<vec2f> }\n"
                                 "@group(0) @binding(0) var<uniform> sizes: Sizes;\n"
                                 "@group(0) @binding(1) var<storage, read_write> list: List;\n"
                                 "@group(0) @binding(2) var<storage> x: array<f32>;\n"
                                 "@compute @workgroup_size(1) fn f() {\n"
                                 "    if sizes.n > 5 { list.items[sizes.n] = vec2f(sizes.f, x[sizes.n]); }\n"
                                 "}\n";
    static const uint64_t least[] = {32, 16, 4}, smaller[] = {28, 12, 1};
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, test_device());
    qn_program *program;
    const qn_program_desc desc = wgsl(source);
    assert_ok(context, qn_program_create(device, &desc, &program));
    qn_kernel *kernel = make_kernel(program, context, NULL);
    for (uint32_t small = 0; small <= 3; small++) { /* 3: none */
        qn_buffer *all[3];
        char part[100];
        uint64_t bytes;
        for (uint32_t i = 0; i < 3; i++)
            all[i] = make_buffer(device, i == small ? smaller[i] : least[i], NULL);
        const qn_arg args[] = {qn_arg_buffer(all[0]), qn_arg_buffer(all[1]), qn_arg_buffer(all[2])};
        const qn_status status = qn_launch(NULL, kernel, QN_RANGE(1), args, 3);
        if (small < 3) {
            snprintf(part, sizeof part, "the buffer has %u bytes, its type takes %u at least",
                     (unsigned)smaller[small], (unsigned)least[small]);
            assert_fails(context, status, QN_ERROR_KERNEL_ARGUMENT, part);
            assert_ok(context, qn_kernel_required_size(kernel, small, QN_RANGE(1), args, 3, &bytes));
            assert_int_equal(bytes, least[small]);
        } else {
            assert_ok(context, status);
        }
        for (uint32_t i = 0; i < 3; i++) qn_buffer_destroy(all[i]);
    }
    const qn_arg none[] = {qn_arg_null(), qn_arg_null(), qn_arg_null()};
    assert_fails(context, qn_launch(NULL, kernel, QN_RANGE(1), none, 3), QN_ERROR_KERNEL_ARGUMENT,
                 "'Sizes sizes': NULL was given");
    qn_kernel_destroy(kernel);
    qn_program_destroy(program);
    qn_context_destroy(context);
}

static void ids_have_32_bits(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, test_device());
    qn_program *program;
    const qn_program_desc desc = wgsl("@group(0) @binding(0) var<storage, read_write> x: array<u32>;\n"
                                      "@compute @workgroup_size(1) fn f(@builtin(global_invocation_id) id: "
                                      "vec3u) { x[id.x & 1] = id.x; }\n");
    assert_ok(context, qn_program_create(device, &desc, &program));
    qn_kernel *kernel = make_kernel(program, context, NULL);
    qn_buffer *x = make_buffer(device, 8, NULL);
    uint32_t got[2];
    qn_range range = {.global = {2}, .offset = {UINT32_MAX - 3}};
    assert_ok(context, qn_launch(NULL, kernel, &range, QN_ARGS(x)));
    assert_ok(context, qn_buffer_read(x, 0, got, sizeof got));
    assert_int_equal(got[0], UINT32_MAX - 3);
    assert_int_equal(got[1], UINT32_MAX - 2);
    range.offset[0] = UINT32_MAX - 1;
    assert_fails(
        context, qn_launch(NULL, kernel, &range, QN_ARGS(x)), QN_ERROR_LAUNCH_SIZE,
        "f has ids of 32 bits; global size 2 at offset 4294967294 in dimension 0 is too much for them");
    qn_buffer_destroy(x);
    qn_kernel_destroy(kernel);
    qn_program_destroy(program);
    qn_context_destroy(context);
}

static void wrong_uses_are_refused(void **state) {
    (void)state;
    const struct {
        qn_program_desc desc;
        qn_status status;
        const char *part;
    } rows[] = {
        {{.source = "fn f() {}", .language = (qn_language)2}, QN_ERROR_ARGUMENT, "language 2 is neither"},
        {{.source = scale_source, .language = QN_LANGUAGE_OPENCL_C}, QN_ERROR_COMPILE, "error"},
        {{.source = "kernel void f() {}", .language = QN_LANGUAGE_WGSL},
         QN_ERROR_COMPILE,
         "expected a declaration, found 'kernel'"},
        {{.source = scale_source, .options = "-D fctor=2", .language = QN_LANGUAGE_WGSL},
         QN_ERROR_COMPILE,
         "-D fctor names no 'override'"},
        {{.source = scale_source, .options = "-D factor=two", .language = QN_LANGUAGE_WGSL},
         QN_ERROR_COMPILE,
         "'two', which is no 'f32'"},
        {{.sources = (const qn_source[]){{.text = "fn f() {}"}, {.text = "fn g() {}"}},
          .num_sources = 2,
          .language = QN_LANGUAGE_WGSL},
         QN_ERROR_COMPILE,
         "a WGSL module is one file; this program has 2"},
        {{.source = "kernel void f() {}", .language = QN_LANGUAGE_WGSL}, QN_ERROR_COMPILE, "kernel.wgsl:1:1"},
        {{.source = "kernel void f() {}", .path = "f.wgsl"}, /* its ending tells */
         QN_ERROR_COMPILE,
         "f.wgsl:1:1: error: expected a declaration"},
        /* the construct around the barrier, not one before it */
        {{.source = "@group(0) @binding(0) var<storage, read_write> x: array<u32>;\n"
                    "@compute @workgroup_size(8) fn f(@builtin(local_invocation_index) i: u32) {\n"
                    "    var n = 0u;\n"
                    "    for (var k = 0u; k < x[i]; k++) { n += k; }\n"
                    "    if n > 3 { workgroupBarrier(); }\n}\n",
          .language = QN_LANGUAGE_WGSL},
         QN_ERROR_COMPILE,
         "kernel.wgsl:5:10: note: work-items part here"},
        {{.source = "kernel void f() {}", .options = "-D 7=2"},
         QN_ERROR_ARGUMENT,
         "does not begin with the name of a macro"},
    };
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, "null");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        qn_program *program;
        assert_fails(context, qn_program_create(device, &rows[i].desc, &program), rows[i].status,
                     rows[i].part);
    }
    qn_context_destroy(context);
}

/* A text that is right in both languages: comments nest in one. */
static void the_language_is_part_of_the_key(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, test_device());
    for (int round = 0; round < 2; round++) {
        qn_program_desc desc = {.source = "/* /* */ kernel void f(void) {}\n// */\n"};
        qn_program *program;
        desc.language = round ? QN_LANGUAGE_WGSL : QN_LANGUAGE_OPENCL_C;
        assert_ok(context, qn_program_create(device, &desc, &program));
        assert_int_equal(qn_program_kernel_count(program), round ? 0 : 1);
        qn_program_destroy(program);
    }
    qn_context_destroy(context);
}

/* A remainder of floats, which no target has as an op. */
static void remainders_of_floats_reach_all_targets(void **state) {
    (void)state;
    static const char *const targets[] = {"ptx", "spirv", "clc", "c", "wgsl"};
    qn_context *context = make_context(NULL);
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        char *text;
        const qn_translate_desc desc = {
            .program = wgsl("@group(0) @binding(0) var<storage, read_write> x: array<vec2f>;\n"
                            "@compute @workgroup_size(1) fn f() { x[0] %= x[1]; }\n"),
            .target = targets[i]};
        assert_ok(context, qn_translate(context, &desc, &text, NULL));
        qn_text_free(context, text);
    }
    qn_context_destroy(context);
}

/* Minima in the IR of a shader, which are what keeps indices inside. */
static int count_checks(qn_context *context, const char *source, const char *options) {
    char *text;
    int count = 0;
    qn_translate_desc desc = {.program = wgsl(source), .target = "ir"};
    desc.program.options = options;
    assert_ok(context, qn_translate(context, &desc, &text, NULL));
    for (const char *at = strstr(text, "umin"); at; at = strstr(at + 1, "umin")) count++;
    qn_text_free(context, text);
    return count;
}

static void indices_are_checked_where_they_may_leave(void **state) {
    (void)state;
    static const char head[] =
        "@group(0) @binding(0) var<storage, read_write> x: array<u32, 64>;\n"
        "var<workgroup> y: array<u32, 64>;\n"
        "@compute @workgroup_size(8, 8) fn f(@builtin(local_invocation_index) i: u32,\n"
        "    @builtin(global_invocation_id) id: vec3u) { ";
    static const struct {
        const char *body, *options;
        bool checks;
    } rows[] = {
        {"x[id.x] = 1;", NULL, true},
        {"x[id.x] = 1;", "-qn-unchecked", false},
        {"y[i] = 1; x[y[0] & 63] = y[i];", NULL, false},
        {"y[i + 1] = 1; x[0] = y[i];", NULL, true},
        {"x[id.x % 64] = 1;", NULL, false},
        {"x[id.x % 65] = 1;", NULL, true},
        {"x[i / 2 + 40] = 1;", NULL, true},
        {"x[(i & 7) * 8 + id.y % 8] = 1;", NULL, false},
    };
    qn_context *context = make_context(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char source[1000];
        snprintf(source, sizeof source, "%s%s }", head, rows[i].body);
        const int count = count_checks(context, source, rows[i].options);
        if ((count > 0) != rows[i].checks) fail_msg("%s: %d checks", rows[i].body, count);
    }
    qn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overrides_are_set_by_name_and_number),
        cmocka_unit_test(bindings_are_parameters_in_order),
        cmocka_unit_test(work_groups_are_whole),
        cmocka_unit_test(buffers_have_the_bytes_of_their_type),
        cmocka_unit_test(ids_have_32_bits),
        cmocka_unit_test(wrong_uses_are_refused),
        cmocka_unit_test(the_language_is_part_of_the_key),
        cmocka_unit_test(remainders_of_floats_reach_all_targets),
        cmocka_unit_test(indices_are_checked_where_they_may_leave),
    };
    return run_device_tests(tests);
}
