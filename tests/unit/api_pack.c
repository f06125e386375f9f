/* Packed programs: made for several targets, loaded without a compiler, refused where they are damaged or hold nothing for
   the device. */
#include "api_support.h"
#include "util/hash.h"

static const char source[] =
    "typedef struct { int add; float scale; } how;\n"
    "constant float table[4] = {1, 2, 3, 4};\n"
    "global int calls = 5;\n"
    "kernel void f(global float *x, how h, local float *t) {\n"
    "    size_t i = get_global_id(0), l = get_local_id(0);\n"
    "    t[l] = x[i] * h.scale + table[i & 3];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    x[i] = t[get_local_size(0) - 1 - l] + h.add + work_group_reduce_add(1) + FIVE;\n"
    "}\n"
    "kernel void g(global float *x) { x[0] = sin(x[0]) + calls; }\n"
    "kernel void p(global int *x) { printf(\"p %d %s\\n\", x[0], \"ok\"); }\n";

static const qn_define five = {"FIVE", "5"};
static const qn_program_desc program_desc = {
    .source = source, .path = "f.cl", .defines = &five, .num_defines = 1};

typedef struct packed {
    char *data;
    size_t size;
} packed;

static packed pack_by(qn_context *context, const qn_pack_desc *desc) {
    packed p;
    assert_ok(context, qn_program_pack(context, desc, &p.data, &p.size, NULL));
    assert_true(p.size > 0);
    return p;
}

static packed pack(qn_context *context, const char *text, const char *targets, const char *archs) {
    qn_program_desc program = program_desc;
    if (text) program = (qn_program_desc){.source = text};
    return pack_by(context, &(qn_pack_desc){.program = &program, .targets = targets, .archs = archs});
}

/* Makes the checksum right again. */
static void sign(const packed *p) {
    const uint64_t sum = qn__hash(p->data, p->size - 8, 0);
    memcpy(p->data + p->size - 8, &sum, sizeof sum);
}

static char *find(const packed *p, const char *bytes, size_t size) {
    for (size_t at = 0; at + size <= p->size; at++)
        if (memcmp(p->data + at, bytes, size) == 0) return p->data + at;
    fail_msg("'%s' is not in the file", bytes);
    return NULL;
}

static char printed[64];

static void print(void *user, const char *text, size_t size) {
    (void)user;
    snprintf(printed, sizeof printed, "%.*s", (int)size, text);
}

/* The program does what its source says. */
static void try_program(qn_context *context, qn_device *device, qn_program *program) {
    const struct {
        int add;
        float scale;
    } how = {7, 10};
    float x[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    qn_buffer *buffer = make_buffer(device, sizeof x, x);
    qn_kernel *f = make_kernel(program, context, "f");
    assert_ok(context, qn_launch(NULL, f, QN_RANGE_LOCAL(QN_GROUP(8), QN_GROUP(4)),
                                 QN_ARGS(buffer, QN_BYTES(how), qn_arg_local(4 * sizeof(float)))));
    assert_ok(context, qn_buffer_read(buffer, 0, x, sizeof x));
    for (int i = 0; i < 8; i++) {
        const int from = i / 4 * 4 + 3 - i % 4;
        assert_float_equal(x[i], from * 10 + from % 4 + 1 + 7 + 4 + 5, 0);
    }
    x[0] = 0;
    assert_ok(context, qn_buffer_write(buffer, 0, x, sizeof x));
    assert_ok(context, qn_launch(NULL, make_kernel(program, context, "g"), QN_RANGE(1), QN_ARGS(buffer)));
    assert_ok(context, qn_buffer_read(buffer, 0, x, sizeof x));
    assert_float_equal(x[0], 5, 0);
    const int number = 12;
    assert_ok(context, qn_buffer_write(buffer, 0, &number, sizeof number));
    assert_ok(context, qn_launch(NULL, make_kernel(program, context, "p"), QN_RANGE(1), QN_ARGS(buffer)));
    assert_ok(context, qn_device_wait(device, QN_FOREVER));
    assert_string_equal(printed, "p 12 ok\n");
}

static void load_and_try(const packed *p, const char *compiler) {
    qn_context *context =
        make_context(&(qn_context_desc){.print = print, .cpu_compiler = compiler, .disable_cache = true});
    qn_device *device = get_device(context, test_device());
    qn_program *program;
    const qn_program_desc desc = {.binary = p->data, .binary_size = p->size};
    assert_ok(context, qn_program_create(device, &desc, &program));
    assert_int_equal(qn_program_kernel_count(program), 3);
    try_program(context, device, program);
    qn_context_destroy(context);
}

static void a_packed_program_runs(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    packed p = pack(context, NULL, NULL, NULL);
    load_and_try(&p, testing("cpu") ? "none" : NULL);
    qn_text_free(context, p.data);
    if (testing("cpu")) {
        static const char *const targets[] = {"ir", "c", "ptx,c,ir", "ir,clc"};
        for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
            p = pack(context, NULL, targets[i], NULL);
            load_and_try(&p, "none");
            load_and_try(&p, NULL);
            qn_text_free(context, p.data);
        }
    }
    qn_context_destroy(context);
}

/* What can be done without is not left out of the program for it: a device that has doubles has the kernel. */
static void no_kernel_is_lost(void **state) {
    (void)state;
    static const char text[] = "kernel void a(global float *x, global int *y) {\n"
                               "    x[0] = fma(x[1], x[2], x[3]);\n"
                               "    y[0] = sub_group_reduce_add(y[1]);\n"
                               "}\n"
                               "#ifdef cl_khr_fp64\n"
                               "kernel void b(global double *x) { x[0] += 1; }\n"
                               "#endif\n";
    qn_context *context = make_context(&(qn_context_desc){.disable_cache = true});
    qn_device *device = get_device(context, test_device());
    const packed p = pack(context, text, NULL, NULL);
    qn_program *from_source, *from_pack;
    const qn_program_desc desc = {.binary = p.data, .binary_size = p.size};
    assert_ok(context, qn_program_create(device, &(qn_program_desc){.source = text}, &from_source));
    assert_ok(context, qn_program_create(device, &desc, &from_pack));
    assert_int_equal(qn_program_kernel_count(from_pack), qn_program_kernel_count(from_source));
    qn_text_free(context, p.data);
    qn_context_destroy(context);
}

static void a_file_is_read_by_its_path(void **state) {
    (void)state;
    char path[] = "/tmp/quern-pack-XXXXXX";
    qn_context *context = make_context(NULL);
    packed p = pack(context, NULL, NULL, NULL);
    const int file = mkstemp(path);
    assert_true(file >= 0 && write(file, p.data, p.size) == (ssize_t)p.size);
    close(file);
    qn_device *device = get_device(context, test_device());
    qn_program *program;
    assert_ok(context, qn_program_create(device, &(qn_program_desc){.path = path}, &program));
    assert_int_equal(qn_program_kernel_count(program), 3);
    char *json;
    const qn_translate_desc reflect = {.program = {.path = path}, .reflect = true};
    assert_ok(context, qn_translate(context, &reflect, &json, NULL));
    assert_non_null(strstr(json, "\"name\": \"g\""));
    assert_non_null(strstr(json, "{\"target\": \"ptx\", \"needs\": \"arch>="));
    qn_text_free(context, json);
    unlink(path);
    qn_text_free(context, p.data);
    qn_context_destroy(context);
}

/* A change of any byte, and an end after any. */
static void damage_is_found(void **state) {
    (void)state;
    qn_context *context = make_context(&(qn_context_desc){.disable_cache = true});
    qn_device *device = get_device(context, "null");
    const packed p = pack(context, "kernel void f(global int *x, int n) { x[0] = n; }", "ir", NULL);
    qn_program *program;
    for (size_t at = 0; at < p.size; at++) {
        char *changed = malloc(p.size), *cut = malloc(at + 1);
        assert_true(changed && cut);
        memcpy(changed, p.data, p.size);
        memcpy(cut, p.data, at);
        changed[at] ^= (char)(at % 255 + 1);
        const qn_program_desc wrong = {.binary = changed, .binary_size = p.size};
        assert_int_equal(qn_program_create(device, &wrong, &program), QN_ERROR_IO);
        const qn_program_desc half = {.binary = cut, .binary_size = at};
        assert_int_equal(qn_program_create(device, &half, &program), QN_ERROR_IO);
        free(changed);
        free(cut);
    }
    const qn_program_desc empty = {.binary = "", .binary_size = 0, .path = "some.qnb"};
    assert_fails(context, qn_program_create(device, &empty, &program), QN_ERROR_IO,
                 "some.qnb is no program of");
    qn_text_free(context, p.data);
    qn_context_destroy(context);
}

/* Of other versions, by what the file says of itself. */
static void other_versions_are_refused(void **state) {
    (void)state;
    qn_context *context = make_context(&(qn_context_desc){.disable_cache = true});
    qn_device *device = get_device(context, "null");
    const packed p = pack(context, NULL, "ir", NULL);
    qn_program *program;
    const qn_program_desc desc = {.binary = p.data, .binary_size = p.size, .path = "k.qnb"};
    for (int version = 8; version <= 16; version += 8) {
        p.data[version]++;
        sign(&p);
        assert_fails(context, qn_program_create(device, &desc, &program), QN_ERROR_IO,
                     "k.qnb was made by quern");
        p.data[version]--;
    }
    char *name = find(&p, "guarded", 7);
    *name = 'G';
    sign(&p);
    assert_fails(context, qn_program_create(device, &desc, &program), QN_ERROR_IO,
                 "does not know all that it says");
    *name = 'g';
    char *target = strstr(find(&p, "\2\0\0\0\0\0\0\0ir", 10) + 8, "ir");
    *target = 'x'; /* a target of a later version is passed over */
    sign(&p);
    assert_fails(context, qn_program_create(device, &desc, &program), QN_ERROR_UNSUPPORTED,
                 "nothing for null");
    qn_text_free(context, p.data);
    qn_context_destroy(context);
}

/* A device's own machine code: nothing is compiled. */
static void machine_code_is_taken(void **state) {
    (void)state;
    qn_context *context = make_context(&(qn_context_desc){.disable_cache = true, .print = print});
    qn_device *device = get_device(context, test_device());
    const packed p = pack_by(context, &(qn_pack_desc){.program = &program_desc, .devices = test_device()});
    qn_program *program;
    qn_program_times times;
    const qn_program_desc desc = {.binary = p.data, .binary_size = p.size};
    assert_ok(context, qn_program_create(device, &desc, &program));
    assert_ok(context, qn_program_get_times(program, &times));
    /* what NVIDIA's OpenCL gives as a program's binary is text, which it compiles when it is loaded */
    qn_device_info info;
    assert_ok(context, qn_device_get_info(device, &info));
    if (testing("opencl") && !(info.capabilities & QN_CAN_EMULATE) && !times.from_cache)
        print_message("compiled by the driver\n");
    else
        assert_true(times.from_cache);
    qn_text_free(context, p.data); /* the program has its own copy */
    try_program(context, device, program);
    qn_context_destroy(context);
}

static int warnings;

static void count_warnings(void *user, qn_log_level level, const char *message) {
    (void)user;
    warnings += level == QN_LOG_WARNING && strstr(message, "cannot be used") != NULL;
}

/* Machine code that the loader refuses is left for the text. */
static void what_is_refused_is_left(void **state) {
    (void)state;
    if (!testing("cpu")) skip();
    qn_context *context = make_context(&(qn_context_desc){.disable_cache = true,
                                                          .print = print,
                                                          .log = count_warnings,
                                                          .log_level = QN_LOG_WARNING,
                                                          .cpu_compile_first = true});
    qn_device *device = get_device(context, "cpu");
    const packed p = pack(context, NULL, "c", NULL);
    qn_program *program;
    find(&p, "\177ELF", 4)[1] = 'e';
    sign(&p);
    warnings = 0;
    const qn_program_desc desc = {.binary = p.data, .binary_size = p.size};
    assert_ok(context, qn_program_create(device, &desc, &program));
    assert_int_equal(warnings, 1);
    try_program(context, device, program);
    qn_text_free(context, p.data);
    qn_context_destroy(context);
}

#if defined(__aarch64__)
#define MACHINE "armv8-a"
#elif defined(__riscv)
#define MACHINE "rv64gc"
#else
#define MACHINE "x86-64"
#endif

/* The driver's code for a text is kept in the disk cache. */
static void text_is_compiled_once(void **state) {
    (void)state;
    char dir[] = "/tmp/quern-packed-XXXXXX", command[64];
    assert_non_null(mkdtemp(dir));
    for (int round = 0; round < 2; round++) {
        qn_context *context = make_context(&(qn_context_desc){.cache_dir = dir, .print = print});
        qn_device *device = get_device(context, test_device());
        packed p = pack(context, NULL, "ptx,spirv,clc,c", NULL);
        if (testing("cpu")) find(&p, MACHINE, strlen(MACHINE))[0] = '?', sign(&p); /* not for this machine */
        qn_program *program;
        qn_cache_stats stats;
        const qn_program_desc desc = {.binary = p.data, .binary_size = p.size};
        assert_ok(context, qn_program_create(device, &desc, &program));
        assert_ok(context, qn_cache_get_stats(context, &stats));
        assert_int_equal(stats.hits, round);
        try_program(context, device, program);
        qn_text_free(context, p.data);
        qn_context_destroy(context);
    }
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

static void what_is_missing_is_told(void **state) {
    (void)state;
    qn_context *context = make_context(&(qn_context_desc){.disable_cache = true});
    qn_device *device = get_device(context, test_device());
    const char *other = testing("cpu") ? "ptx,spirv" : "c,ir";
    const packed p = pack(context, NULL, other, testing("cpu") ? "sm_80,sm_90" : NULL);
    qn_program *program;
    const qn_program_desc desc = {.binary = p.data, .binary_size = p.size, .path = "x.qnb"};
    assert_fails(context, qn_program_create(device, &desc, &program), QN_ERROR_UNSUPPORTED,
                 "x.qnb has nothing for");
    assert_non_null(strstr(qn_error_message(context), testing("cpu") ? "ptx" : "c for "));
    qn_text_free(context, p.data);
    qn_context_destroy(context);
}

static void wrong_uses_are_refused(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, "null");
    const packed p = pack(context, NULL, "ir", NULL);
    char *data = NULL;
    size_t size;
    qn_pack_desc desc = {.program = &program_desc};
    assert_fails(context, qn_program_pack(context, NULL, &data, &size, NULL), QN_ERROR_NULL, "desc");
    assert_fails(context, qn_program_pack(context, &desc, NULL, &size, NULL), QN_ERROR_NULL, "data");
    assert_fails(context, qn_program_pack(context, &desc, &data, NULL, NULL), QN_ERROR_NULL, "size");
    desc.program = NULL;
    assert_fails(context, qn_program_pack(context, &desc, &data, &size, NULL), QN_ERROR_NULL, "program");
    desc.program = &program_desc;
    desc.targets = "ptx,moon";
    assert_fails(context, qn_program_pack(context, &desc, &data, &size, NULL), QN_ERROR_ARGUMENT, "'moon'");
    desc.targets = "c";
    desc.archs = "x86-64-v9";
    assert_fails(context, qn_program_pack(context, &desc, &data, &size, NULL), QN_ERROR_ARGUMENT,
                 "'x86-64-v9'");
    desc.archs = "sm_3";
    assert_fails(context, qn_program_pack(context, &desc, &data, &size, NULL), QN_ERROR_ARGUMENT, "'sm_3'");
    const qn_program_desc wrong = {.source = "kernel void f() { x; }"};
    desc = (qn_pack_desc){.program = &wrong, .targets = "clc"};
    assert_fails(context, qn_program_pack(context, &desc, &data, &size, NULL), QN_ERROR_COMPILE, "1:19");
    const qn_program_desc again = {.binary = p.data, .binary_size = p.size};
    desc.program = &again;
    assert_fails(context, qn_program_pack(context, &desc, &data, &size, NULL), QN_ERROR_ARGUMENT,
                 "packed already");
    assert_null(data);
    qn_program *program;
    qn_program_desc use = {.binary = p.data, .binary_size = p.size, .options = "-w"};
    assert_fails(context, qn_program_create(device, &use, &program), QN_ERROR_ARGUMENT,
                 "options with a packed");
    use = (qn_program_desc){.binary = p.data, .binary_size = p.size, .debug = true};
    assert_fails(context, qn_program_create(device, &use, &program), QN_ERROR_ARGUMENT,
                 "debug with a packed");
    use = (qn_program_desc){.binary = p.data, .binary_size = p.size, .safe = true};
    assert_fails(context, qn_program_create(device, &use, &program), QN_ERROR_ARGUMENT, "safe with a packed");
    const qn_translate_desc translate = {.program = again, .target = "ptx"};
    assert_fails(context, qn_translate(context, &translate, &data, NULL), QN_ERROR_ARGUMENT,
                 "compiled already");
    qn_text_free(context, p.data);
    qn_context_destroy(context);
}

/* ---- whatever allocation fails, the call says so and nothing leaks ---- */

static size_t live, total, fail_at; /* fail_at 0: never */

static bool fails(void) { return fail_at && ++total >= fail_at; }

static void *allocate(void *user, size_t size) {
    (void)user;
    void *memory = fails() ? NULL : malloc(size);
    live += memory != NULL;
    return memory;
}
static void *reallocate(void *user, void *memory, size_t size) {
    (void)user;
    if (fails()) return NULL;
    live += memory == NULL;
    return realloc(memory, size);
}
static void release(void *user, void *memory) {
    (void)user;
    live -= memory != NULL;
    free(memory);
}

static qn_status pack_and_load(qn_context *context, qn_device *device) {
    const qn_program_desc program = {
        .source = "kernel void f(global float *x, int n) { x[0] = fma(x[1], x[2], n); }"};
    const qn_pack_desc desc = {.program = &program, .targets = "ptx,spirv,ir"};
    qn_program_desc packed = {0};
    char *data = NULL, *log = NULL, *json = NULL;
    qn_program *loaded = NULL;
    qn_status status = qn_program_pack(context, &desc, &data, &packed.binary_size, &log);
    packed.binary = data;
    const qn_translate_desc reflect = {.program = packed, .reflect = true};
    if (!status) status = qn_program_create(device, &packed, &loaded);
    if (!status) status = qn_translate(context, &reflect, &json, NULL);
    qn_text_free(context, json);
    qn_text_free(context, log);
    qn_text_free(context, data);
    qn_program_destroy(loaded);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    if (!testing("cpu")) skip(); /* the interpreter is the processor's */
    const qn_context_desc desc = {.allocator = {allocate, reallocate, release, NULL},
                                  .cpu_compiler = "none",
                                  .cpu_threads = 1,
                                  .disable_cache = true};
    qn_status status = QN_ERROR_OUT_OF_MEMORY;
    for (size_t at = 1; status; at++) {
        qn_context *context = make_context(&desc);
        qn_device *device = get_device(context, "cpu");
        total = 0;
        fail_at = at;
        status = pack_and_load(context, device);
        fail_at = 0;
        assert_true(status == QN_OK || status == QN_ERROR_OUT_OF_MEMORY);
        assert_ok(context, pack_and_load(context, device));
        qn_context_destroy(context);
        assert_int_equal(live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packed_program_runs),     cmocka_unit_test(a_file_is_read_by_its_path),
        cmocka_unit_test(damage_is_found),           cmocka_unit_test(what_is_missing_is_told),
        cmocka_unit_test(wrong_uses_are_refused),    cmocka_unit_test(other_versions_are_refused),
        cmocka_unit_test(machine_code_is_taken),     cmocka_unit_test(what_is_refused_is_left),
        cmocka_unit_test(text_is_compiled_once),     cmocka_unit_test(no_kernel_is_lost),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return run_device_tests(tests);
}
