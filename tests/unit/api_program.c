/* What a program is made of: defines, and several files. */
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

/* ---- several files ---- */

static const char main_text[] = "int helper(int x);\nextern __constant int table[2];\n#define N 100\n"
                                "kernel void f(global int *x) { x[0] = helper(N) + table[1]; }\n";
static const char helper_text[] =
    "#include \"five.h\"\n__constant int table[2] = {10, 20};\n"
    "#ifndef N\n#define N FIVE\n#endif\nint helper(int x) { return x + N + ADDED; }\n";
static const qn_header five = {"five.h", "#define FIVE 5\n"};

static qn_program_desc files_desc(const qn_source *sources, size_t count, const qn_define *added) {
    return (qn_program_desc){.sources = sources,
                             .num_sources = count,
                             .headers = &five,
                             .num_headers = 1,
                             .defines = added,
                             .num_defines = 1};
}

static int run_files(qn_device *device, const qn_program_desc *desc) {
    qn_context *context = qn_device_context(device);
    qn_program *program;
    assert_ok(context, qn_program_create(device, desc, &program));
    assert_string_equal(qn_program_log(program), "");
    const int x = result_of(program, context, device);
    qn_program_destroy(program);
    return x;
}

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Given as text, one not to its end, and read; options, defines and headers are for all of them. */
static void files_make_one_program(void **state) {
    (void)state;
    char path[] = "/tmp/quern-files-XXXXXX";
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, test_device());
    const qn_define added = {"ADDED", "3"};
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    write_text(path, helper_text);
    const qn_source sources[] = {{.text = main_text, .path = "main.cl"},
                                 {.text = "int unused(void) { return 1; } nonsense", .size = 30},
                                 {.path = path}};
    const qn_program_desc desc = files_desc(sources, 3, &added);
    assert_int_equal(run_files(device, &desc), 128);
    const qn_source one = {.text = number_source};
    const qn_define number = {"N", "1"};
    qn_program_desc single = files_desc(&one, 1, &number);
    single.options = "-D FROM_OPTIONS=6";
    assert_int_equal(run_files(device, &single), 7);
    unlink(path);
    char missing[64];
    snprintf(missing, sizeof missing, "cannot read '%s'", path);
    qn_program *program;
    assert_fails(context, qn_program_create(device, &desc, &program), QN_ERROR_IO, missing);
    qn_context_destroy(context);
}

static void wrong_files_are_refused(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, "null");
    const qn_define added = {"ADDED", "3"};
    qn_program *program;
    char *text = NULL;
    qn_source sources[] = {{.text = main_text, .path = "main.cl"}, {0}};
    qn_program_desc desc = files_desc(sources, 2, &added);
    assert_fails(context, qn_program_create(device, &desc, &program), QN_ERROR_NULL,
                 "text and path of sources[1] are NULL");
    sources[1].text = "kernel void f(global int *x) {}";
    assert_fails(context, qn_program_create(device, &desc, &program), QN_ERROR_COMPILE,
                 "kernel.cl:1:13: error: redefinition of 'f'");
    assert_fails(context, qn_translate(context, &(qn_translate_desc){.program = desc}, &text, NULL),
                 QN_ERROR_COMPILE, "main.cl:4:13: note: previous definition");
    desc.source = main_text;
    assert_fails(context, qn_program_create(device, &desc, &program), QN_ERROR_ARGUMENT, "not both");
    desc.source = NULL;
    desc.path = "main.cl";
    assert_fails(context, qn_program_create(device, &desc, &program), QN_ERROR_ARGUMENT, "not both");
    desc.path = NULL;
    desc.binary = "x";
    desc.headers = NULL;
    assert_fails(context, qn_program_create(device, &desc, &program), QN_ERROR_ARGUMENT,
                 "sources with a packed program");
    desc = files_desc(NULL, 2, &added);
    assert_fails(context, qn_program_create(device, &desc, &program), QN_ERROR_NULL, "sources is NULL");
    desc = files_desc(sources, SIZE_MAX / 2, &added);
    assert_fails(context, qn_program_create(device, &desc, &program), QN_ERROR_OUT_OF_MEMORY, "");
    desc = files_desc(sources, 0, &added);
    assert_fails(context, qn_program_create(device, &desc, &program), QN_ERROR_NULL,
                 "source, path, sources and binary are NULL");
    qn_context_destroy(context);
}

static uint64_t cache_hits(qn_context *context) {
    qn_cache_stats stats;
    assert_ok(context, qn_cache_get_stats(context, &stats));
    return stats.hits;
}

/* Each file's text and name, and where one ends. */
static void files_are_part_of_the_cache_key(void **state) {
    (void)state;
    char dir[] = "/tmp/quern-files-XXXXXX", command[64];
    assert_non_null(mkdtemp(dir));
    qn_context *context = make_context(&(qn_context_desc){.cache_dir = dir});
    qn_device *device = get_device(context, "cpu");
    const qn_define added = {"ADDED", "1"};
    static const char kernel[] = "int g(void);\nkernel void f(global int *x) { x[0] = g(); }\n";
    const struct {
        qn_source files[3];
        int result;
    } programs[] = {
        {{{.text = kernel}, {.text = "int g(void) { return 1; }\n"}, {.text = "\n"}}, 1},
        {{{.text = kernel}, {.text = "int g(void) { return 2; }\n"}, {.text = "\n"}}, 2},
        {{{.text = kernel}, {.text = "int g(void) { return 2; }\n\n"}, {.text = ""}}, 2},
        {{{.text = kernel}, {.text = "int g(void) { return __LINE__; }\n"}, {.text = "\n"}}, 1},
        {{{.text = kernel}, {.text = "int g(void) { return sizeof __FILE__; }\n", .path = "1"}, {.text = ""}},
         2},
        {{{.text = kernel},
          {.text = "int g(void) { return sizeof __FILE__; }\n", .path = "12"},
          {.text = ""}},
         3},
    };
    const size_t count = sizeof programs / sizeof *programs;
    for (size_t round = 0; round < 2; round++)
        for (size_t i = 0; i < count; i++) {
            const qn_program_desc desc = files_desc(programs[i].files, 3, &added);
            qn_program *program;
            assert_ok(context, qn_program_create(device, &desc, &program));
            assert_ok(context, qn_program_wait(program, QN_FOREVER)); /* the entry is there then */
            assert_int_equal(result_of(program, context, device), programs[i].result);
            qn_program_destroy(program);
            assert_int_equal(cache_hits(context), round ? i + 1 : 0);
        }
    qn_context_destroy(context);
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

static void files_are_packed(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, "cpu");
    const qn_define added = {"ADDED", "3"};
    const qn_source sources[] = {{.text = main_text, .path = "main.cl"},
                                 {.text = helper_text, .path = "h.cl"}};
    const qn_program_desc desc = files_desc(sources, 2, &added);
    char *data;
    size_t size;
    assert_ok(context, qn_program_pack(context, &(qn_pack_desc){.program = &desc, .targets = "ir"}, &data,
                                       &size, NULL));
    assert_int_equal(run_files(device, &(qn_program_desc){.binary = data, .binary_size = size}), 128);
    char path[] = "/tmp/quern-files-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
    const qn_source packed[] = {{.text = main_text}, {.path = path}};
    const qn_program_desc mixed = files_desc(packed, 2, &added);
    qn_program *program;
    assert_fails(context, qn_program_create(device, &mixed, &program), QN_ERROR_ARGUMENT,
                 "is a packed program, which is no file of another");
    unlink(path);
    qn_text_free(context, data);
    qn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defines_are_taken_as_they_are),
        cmocka_unit_test(wrong_defines_are_refused),
        cmocka_unit_test(defines_are_part_of_the_cache_key),
        cmocka_unit_test(files_make_one_program),
        cmocka_unit_test(wrong_files_are_refused),
        cmocka_unit_test(files_are_part_of_the_cache_key),
        cmocka_unit_test(files_are_packed),
    };
    return run_device_tests(tests);
}
