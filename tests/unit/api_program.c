/* What a program is made of besides its source. */
#include "api_support.h"

/* Runs the only kernel, which sets x[0]. */
static int result_of(qn_program *program, qn_context *context, qn_device *device) {
    int x = -1;
    qn_kernel *kernel = make_kernel(program, context, NULL);
    qn_buffer *buffer = make_buffer(device, sizeof x, &x);
    assert_ok(context, qn_launch(NULL, kernel, QN_RANGE(1), QN_ARGS(buffer)));
    assert_ok(context, qn_buffer_read(buffer, 0, &x, sizeof x));
    qn_buffer_destroy(buffer);
    qn_kernel_destroy(kernel);
    return x;
}

static int run_defined(qn_context *context, qn_device *device, const char *source, const qn_define *defines,
                       size_t count) {
    qn_program *program;
    const qn_program_desc desc = {
        .source = source, .options = "-D FROM_OPTIONS=3", .defines = defines, .num_defines = count};
    assert_ok(context, qn_program_create(device, &desc, &program));
    const int x = result_of(program, context, device);
    qn_program_destroy(program);
    return x;
}

static const char text_source[] = "constant char text[] = TEXT;\n"
                                  "kernel void f(global int *x) { x[0] = sizeof text * 100 + text[1]; }\n";
static const char number_source[] = "kernel void f(global int *x) { x[0] = N + FROM_OPTIONS; }\n";

static void defines_are_taken_as_they_are(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, test_device());
    qn_define text = {"TEXT", "\"a b 'c' \\\" -D X\""};
    assert_int_equal(run_defined(context, device, text_source, &text, 1), 1500 + ' ');
    const qn_define numbers[][2] = {
        {{"N", "TWICE( FROM_OPTIONS )"}, {"TWICE(x)", "(2 * x)"}},
        {{"N", "5"}, {"FROM_OPTIONS", NULL}}, /* defined again is a warning's matter; the last counts */
        {{"UNUSED", "1 \\"}, {"N", "7"}},     /* the backslash does not swallow the next */
        {{"EMPTY", ""}, {"N", "(2 EMPTY)"}},
    };
    const int wanted[] = {9, 6, 10, 5};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        assert_int_equal(run_defined(context, device, number_source, numbers[i], 2), wanted[i]);
    qn_context_destroy(context);
}

static void wrong_defines_are_refused(void **state) {
    (void)state;
    static const char *const names[] = {"", "1N", "A B", "A=1", "A-B", "F(x", "F(x)y", "F)x(", "N\n"};
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, "null");
    qn_program *program;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const qn_define define = {names[i], "1"};
        const qn_program_desc desc = {.source = "kernel void f() {}", .defines = &define, .num_defines = 1};
        assert_fails(context, qn_program_create(device, &desc, &program), QN_ERROR_ARGUMENT,
                     "is no name of a macro");
    }
    const qn_define unnamed = {NULL, "1"};
    qn_program_desc desc = {.source = "kernel void f() {}", .defines = &unnamed, .num_defines = 1};
    assert_fails(context, qn_program_create(device, &desc, &program), QN_ERROR_NULL, "name of a define");
    desc.defines = NULL;
    assert_fails(context, qn_program_create(device, &desc, &program), QN_ERROR_NULL, "defines is NULL");
    desc.defines = &unnamed;
    desc.num_defines = SIZE_MAX / 2;
    assert_fails(context, qn_program_create(device, &desc, &program), QN_ERROR_OUT_OF_MEMORY, "");
    qn_context_destroy(context);
}

/* The cache tells defines from each other, and from options of the same words. */
static void defines_are_part_of_the_cache_key(void **state) {
    (void)state;
    char dir[] = "/tmp/quern-defines-XXXXXX", command[64];
    assert_non_null(mkdtemp(dir));
    qn_context *context = make_context(&(qn_context_desc){.cache_dir = dir});
    qn_device *device = get_device(context, test_device());
    for (int round = 0; round < 2; round++)
        for (int i = 1; i < 4; i++) {
            char value[2] = {(char)('0' + i), 0};
            const qn_define define = {"N", value};
            assert_int_equal(run_defined(context, device, number_source, &define, 1), i + 3);
        }
    qn_context_destroy(context);
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defines_are_taken_as_they_are),
        cmocka_unit_test(wrong_defines_are_refused),
        cmocka_unit_test(defines_are_part_of_the_cache_key),
    };
    return run_device_tests(tests);
}
