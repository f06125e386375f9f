/* The checker's findings through the API: what a finding tells, counts, the log, buffers that are gone, kernels that are run
   again, and other devices, which check nothing. */
#include "api_support.h"
#include <quern/check.h>

#include <stdatomic.h>

static const char source[] = "kernel void f(global int *x, int n) {\n"
                             "    int i = get_global_id(0);\n"
                             "    if (i <= n) x[i] = i;\n"
                             "}\n"
                             "kernel void keep(global ulong *place, global int *x) { place[0] = (ulong)x; }\n"
                             "kernel void use(global const ulong *place) { *(global int *)place[0] = 1; }\n"
                             "kernel void endless(global int *x) { while (x[0] == 0) x[1]++; }\n"
                             "kernel void shift(global int *x) { x[0] = x[0] << x[1]; }\n"
                             "kernel void grow(global int *x) { x[0] += x[1]; }\n"
                             "kernel void divide(global float *x) { x[0] = x[0] / x[1]; }\n"
                             "kernel void look(global int *x) { if (x[0]) x[1] = 1; }\n"
                             "kernel void count(global int *x) { atomic_inc(&x[get_group_id(0) & 1]); }\n"
                             "kernel void race(global int *x) { x[0] = get_global_id(0); }\n"
                             "constant int table[2] = {1, 2};\n"
                             "void put(local int *p, int i) { p[i] = i; }\n"
                             "kernel void beside(global int *x) {\n"
                             "    local int shared[4]; int own[4] = {0};\n"
                             "    const int i = get_global_id(0), none[1];\n"
                             "    put(shared, i + 4);\n"
                             "    own[i + 4] = 1;\n"
                             "    x[0] += own[0] + table[i + 2] + none[i];\n"
                             "}\n";

typedef struct told {
    unsigned count;
    char text[1024];
} told;

static void note(void *user, qn_log_level level, const char *message) {
    told *t = user;
    if (level != QN_LOG_ERROR) return;
    t->count++;
    snprintf(t->text, sizeof t->text, "%s", message);
}

static void ignore(void *user, qn_log_level level, const char *message) {
    (void)user, (void)level, (void)message;
}

static void a_finding_tells_all(void **state) {
    (void)state;
    told t = {0};
    qn_context *context = make_context(&(qn_context_desc){.log = note, .log_user = &t});
    qn_device *device = get_device(context, "check");
    qn_program *program = make_program(device, source);
    qn_kernel *kernel = make_kernel(program, context, "f");
    qn_buffer *x = make_buffer(device, 32, NULL);
    qn_finding finding;
    int values[8];
    assert_ok(context, qn_launch(NULL, kernel, QN_RANGE(7), QN_ARGS(x, 8)));
    assert_ok(context, qn_device_wait(device, QN_FOREVER));
    assert_int_equal(qn_check_count(device), 0);
    assert_ok(context, qn_launch(NULL, kernel, QN_RANGE(9), QN_ARGS(x, 8)));
    assert_ok(context, qn_launch(NULL, kernel, QN_RANGE(9), QN_ARGS(x, 8)));
    assert_ok(context, qn_device_wait(device, QN_FOREVER));
    assert_int_equal(qn_check_count(device), 1);
    assert_ok(context, qn_check_get(device, 0, &finding));
    assert_int_equal(finding.kind, QN_FINDING_OUT_OF_BOUNDS);
    assert_string_equal(qn_finding_kind_name(finding.kind), "out-of-bounds");
    assert_int_equal(finding.count, 2);
    assert_string_equal(finding.kernel, "f");
    assert_string_equal(finding.object, "x");
    assert_int_equal(finding.object_size, 32);
    assert_int_equal(finding.offset, 32);
    assert_int_equal(finding.size, 4);
    assert_int_equal(finding.place.line, 3);
    assert_int_equal(finding.place.column, 22);
    assert_int_equal(finding.place.work_item[0], 8);
    assert_null(finding.other.file);
    assert_non_null(strstr(finding.text, "    if (i <= n) x[i] = i;\n                     ^\n"));
    assert_int_equal(t.count, 1); /* told once */
    assert_string_equal(t.text, finding.text);
    assert_ok(context, qn_buffer_read(x, 0, values, sizeof values));
    for (int i = 0; i < 8; i++) assert_int_equal(values[i], i);
    assert_fails(context, qn_check_get(device, 1, &finding), QN_ERROR_RANGE, "there are 1");
    assert_fails(context, qn_check_get(device, 0, NULL), QN_ERROR_NULL, "finding");
    assert_ok(context, qn_check_clear(device));
    assert_int_equal(qn_check_count(device), 0);
    qn_buffer_destroy(x);
    qn_kernel_destroy(kernel);
    qn_program_destroy(program);
    qn_context_destroy(context);
}

/* Runs a kernel of the program over a buffer or two and gives what is found first. */
static qn_finding find_first(qn_device *device, qn_program *program, const char *name, uint64_t items,
                             qn_buffer *a, qn_buffer *b) {
    qn_context *context = qn_device_context(device);
    qn_kernel *kernel = make_kernel(program, context, name);
    qn_finding finding = {0};
    const qn_arg args[] = {qn_arg_buffer(a), qn_arg_buffer(b)};
    assert_ok(context, qn_check_clear(device));
    assert_ok(context, qn_launch(NULL, kernel, &(qn_range){.global = {items}}, args, b ? 2 : 1));
    assert_ok(context, qn_device_wait(device, QN_FOREVER));
    if (qn_check_count(device)) assert_ok(context, qn_check_get(device, 0, &finding));
    qn_kernel_destroy(kernel);
    return finding;
}

static void a_destroyed_buffer_is_known(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, "check");
    qn_program *program = make_program(device, source);
    qn_buffer *place = make_buffer(device, 8, NULL), *x = make_buffer(device, 64, NULL);
    assert_int_equal(find_first(device, program, "keep", 1, place, x).kind, QN_FINDING_NONE);
    const qn_finding alive = find_first(device, program, "use", 2, place, NULL);
    assert_int_equal(alive.kind, QN_FINDING_NONE); /* both write one value */
    qn_buffer_destroy(x);
    const qn_finding gone = find_first(device, program, "use", 2, place, NULL);
    assert_int_equal(gone.kind, QN_FINDING_FREED_BUFFER);
    assert_int_equal(gone.object_size, 64);
    qn_buffer_destroy(place);
    qn_program_destroy(program);
    qn_context_destroy(context);
}

static void a_race_has_two_places(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, "check");
    qn_program *program = make_program(device, source);
    qn_buffer *x = make_buffer(device, 8, NULL);
    const qn_finding race = find_first(device, program, "race", 2, x, NULL);
    assert_int_equal(race.kind, QN_FINDING_RACE);
    assert_int_equal(race.place.line, 13);
    assert_non_null(race.other.file);
    assert_int_equal(race.other.line, 13);
    assert_int_equal(race.place.work_item[0] + race.other.work_item[0], 1);
    qn_buffer_destroy(x);
    qn_program_destroy(program);
    qn_context_destroy(context);
}

/* Of each object: the line and column of its declaration. */
static void objects_have_declarations(void **state) {
    (void)state;
    static const struct {
        const char *name;
        uint32_t line, column;
        qn_finding_kind kind;
    } wanted[] = {{"shared", 17, 15, QN_FINDING_OUT_OF_BOUNDS},
                  {"own", 17, 30, QN_FINDING_OUT_OF_BOUNDS},
                  {"table", 14, 14, QN_FINDING_OUT_OF_BOUNDS},
                  {"none", 18, 37, QN_FINDING_UNINITIALISED}};
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, "check");
    qn_program *program = make_program(device, source);
    qn_buffer *x = make_buffer(device, 8, NULL);
    find_first(device, program, "beside", 1, x, NULL);
    assert_int_equal(qn_check_count(device), sizeof wanted / sizeof *wanted);
    for (uint32_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        qn_finding finding;
        assert_ok(context, qn_check_get(device, i, &finding));
        assert_int_equal(finding.kind, wanted[i].kind);
        assert_string_equal(finding.object, wanted[i].name);
        assert_int_equal(finding.declared.line, wanted[i].line);
        assert_int_equal(finding.declared.column, wanted[i].column);
        assert_non_null(strstr(finding.text, "is declared here\n"));
        assert_null(finding.buffer);
        assert_int_equal(finding.buffer_number, 0);
    }
    qn_buffer_destroy(x);
    qn_program_destroy(program);
    qn_context_destroy(context);
}

/* Variables in no memory, too: given a value in a branch, in a loop, or not at all. */
static void variables_have_declarations(void **state) {
    (void)state;
    static const char *const bodies[] = {
        "int v;\n if (x[0]) v = 1;\n x[1] = v;", "int v;\n for (int i = 0; i < x[0]; i++) v = i;\n x[1] = v;",
        "int v;\n for (int i = 0; i < 4; i++) v += x[i];\n x[1] = v;", "int v;\n x[1] = v + 1;"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char text[256];
        snprintf(text, sizeof text, "kernel void f(global int *x) {\n %s\n}\n", bodies[i]);
        qn_context *context = make_context(&(qn_context_desc){.log = ignore});
        qn_device *device = get_device(context, "check");
        qn_program *program = make_program(device, text);
        qn_buffer *x = make_buffer(device, 16, (int[4]){0});
        const qn_finding finding = find_first(device, program, "f", 1, x, NULL);
        assert_int_equal(finding.kind, QN_FINDING_UNINITIALISED);
        assert_string_equal(finding.object, "v");
        if (!finding.declared.file) fail_msg("%s: not told where", bodies[i]);
        assert_int_equal(finding.declared.line, 2);
        qn_context_destroy(context);
    }
}

/* An argument that is a view: which buffer it is of, by its label, and where in it. */
static void buffers_have_labels(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, "check");
    qn_program *program = make_program(device, source);
    qn_buffer *weights, *view, *place = make_buffer(device, 8, NULL);
    assert_ok(context, qn_buffer_create(device, &(qn_buffer_desc){.size = 64, .label = "weights"}, &weights));
    assert_ok(context, qn_buffer_view(weights, 16, 4, &view));
    const qn_finding outside = find_first(device, program, "look", 1, view, NULL);
    assert_int_equal(outside.kind, QN_FINDING_NONE); /* x[0] is 0 */
    const qn_finding grown = find_first(device, program, "grow", 1, view, NULL);
    assert_int_equal(grown.kind, QN_FINDING_OUT_OF_BOUNDS);
    assert_string_equal(grown.object, "x");
    assert_int_equal(grown.object_size, 4);
    assert_string_equal(grown.buffer, "weights");
    assert_int_equal(grown.buffer_size, 64);
    assert_int_equal(grown.buffer_number, 2);
    assert_non_null(strstr(grown.text,
                           "'x' is declared here; it lies from byte 16 on in the buffer 'weights' of 64 "
                           "bytes, number 2 of the device\n"));
    /* One that is gone is still known. */
    assert_int_equal(find_first(device, program, "keep", 1, place, weights).kind, QN_FINDING_NONE);
    qn_buffer_destroy(view);
    qn_buffer_destroy(weights);
    const qn_finding gone = find_first(device, program, "use", 1, place, NULL);
    assert_int_equal(gone.kind, QN_FINDING_FREED_BUFFER);
    assert_string_equal(gone.buffer, "weights");
    qn_buffer_destroy(place);
    qn_program_destroy(program);
    qn_context_destroy(context);
}

static void findings_are_suppressed(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, "check");
    qn_program *program = make_program(device, source);
    qn_buffer *x = make_buffer(device, 8, NULL);
    qn_suppression s;
    assert_ok(context, qn_check_suppress(device, "out-of-bounds * object=y\nrace * kernel=rac?\n", NULL));
    assert_int_equal(find_first(device, program, "race", 2, x, NULL).kind, QN_FINDING_NONE);
    assert_int_equal(find_first(device, program, "beside", 1, x, NULL).kind, QN_FINDING_OUT_OF_BOUNDS);
    assert_int_equal(qn_check_suppression_count(device), 2);
    assert_ok(context, qn_check_suppression_get(device, 1, &s));
    assert_string_equal(s.path, "suppressions");
    assert_string_equal(s.text, "race * kernel=rac?");
    assert_int_equal(s.line, 2);
    assert_int_equal(s.count, 1);
    assert_ok(context, qn_check_suppression_get(device, 0, &s));
    assert_int_equal(s.count, 0);
    assert_fails(context, qn_check_suppression_get(device, 2, &s), QN_ERROR_RANGE, "there are 2");
    assert_fails(context, qn_check_suppression_get(device, 0, NULL), QN_ERROR_NULL, "suppression");
    assert_fails(context, qn_check_suppress(device, NULL, NULL), QN_ERROR_NULL, "text");
    assert_fails(context, qn_check_suppress(device, "race *\nrase *", "mine"), QN_ERROR_ARGUMENT,
                 "mine:2: 'rase'");
    assert_int_equal(qn_check_suppression_count(device), 2); /* nor is its first line taken */
    qn_device *other = get_device(context, "null");
    assert_fails(context, qn_check_suppress(other, "", NULL), QN_ERROR_UNSUPPORTED, "checks nothing");
    assert_fails(context, qn_check_suppression_get(other, 0, &s), QN_ERROR_UNSUPPORTED, "checks nothing");
    assert_int_equal(qn_check_suppression_count(other), 0);
    qn_buffer_destroy(x);
    qn_program_destroy(program);
    qn_context_destroy(context);
}

static void operations_and_bytes_are_counted(void **state) {
    (void)state;
    static const char text[] =
        "kernel void k(global float *x, global const float4 *y, global const int *n) {\n"
        "    local float t[8];\n"
        "    int l = get_local_id(0), i = get_global_id(0);\n"
        "    float4 v = y[i];\n"
        "    t[l] = v.x / v.y;\n"
        "    barrier(CLK_LOCAL_MEM_FENCE);\n"
        "    if (l < 2) x[i] = fma(t[7 - l], v.z, v.w) + n[0];\n"
        "}\n";
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, "check");
    assert_ok(context, qn_check_configure(device, &(qn_check_desc){.also = QN_CHECK_PROFILE}));
    qn_program *program = make_program(device, text);
    qn_kernel *kernel = make_kernel(program, context, "k");
    qn_buffer *x = make_buffer(device, 64, NULL), *y = make_buffer(device, 256, NULL);
    const qn_range range = {.global = {16}, .local = {8}};
    qn_check_profile p;
    for (int i = 0; i < 2; i++) assert_ok(context, qn_launch(NULL, kernel, &range, QN_ARGS(x, y, y)));
    assert_ok(context, qn_device_wait(device, QN_FOREVER));
    assert_int_equal(qn_check_profile_count(device), 1);
    assert_ok(context, qn_check_profile_get(device, 0, &p));
    assert_string_equal(p.kernel, "k");
    assert_int_equal(p.launches, 2);
    assert_int_equal(p.work_items, 32);
    assert_int_equal(p.special, 32);
    assert_int_equal(p.f32,
                     32 + 2 * 4 * 3); /* the quotients; of two work-items of a group an fma and a sum */
    assert_int_equal(p.f64 + p.f16 + p.i8 + p.i16 + p.atomics, 0);
    assert_int_equal(p.barriers, 4);
    assert_int_equal(p.global_read, 32 * 16 + 8 * 4);
    assert_int_equal(p.global_written, 8 * 4);
    assert_int_equal(p.local_read, 8 * 4);
    assert_int_equal(p.local_written, 32 * 4);
    assert_true(p.intensity > 56.0 / 576 - 1e-9 && p.intensity < 56.0 / 576 + 1e-9);
    assert_fails(context, qn_check_profile_get(device, 1, &p), QN_ERROR_RANGE, "there are 1");
    assert_fails(context, qn_check_profile_get(device, 0, NULL), QN_ERROR_NULL, "profile");
    assert_ok(context, qn_check_clear(device));
    assert_int_equal(qn_check_profile_count(device), 0);
    qn_buffer_destroy(x);
    qn_buffer_destroy(y);
    qn_kernel_destroy(kernel);
    qn_program_destroy(program);
    qn_context_destroy(context);
}

static void architectures_have_names(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, "check");
    const qn_check_desc good = {.also = QN_CHECK_PERFORMANCE, .arch = "sm_90"}, bad = {.arch = "sm_91"};
    assert_ok(context, qn_check_configure(device, &good));
    assert_fails(context, qn_check_configure(device, &bad), QN_ERROR_ARGUMENT,
                 "'sm_91' is not known; these are: sm_70, ");
    qn_program *program = make_program(device, source);
    qn_buffer *x = make_buffer(device, 8, NULL);
    const qn_finding finding = find_first(device, program, "shift", 1, x, NULL);
    assert_int_equal(finding.kind, QN_FINDING_OCCUPANCY);
    assert_true(qn_finding_kind_is_advice(finding.kind));
    assert_false(qn_finding_kind_is_advice(QN_FINDING_RUNAWAY));
    assert_false(qn_finding_kind_is_advice(QN_FINDING_KIND_COUNT));
    qn_buffer_destroy(x);
    qn_program_destroy(program);
    qn_context_destroy(context);
}

static qn_finding_kind kind_with(qn_device *device, uint32_t also, const char *name, const void *data) {
    qn_context *context = qn_device_context(device);
    assert_ok(context, qn_check_configure(device, &(qn_check_desc){.also = also}));
    qn_program *program = make_program(device, source);
    const qn_buffer_desc desc = {.size = 8, .data = data, .uninitialised = !data};
    qn_buffer *x;
    assert_ok(context, qn_buffer_create(device, &desc, &x));
    const qn_finding finding = find_first(device, program, name, 1, x, NULL);
    qn_buffer_destroy(x);
    qn_program_destroy(program);
    return finding.kind;
}

static void more_is_found_when_asked(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, "check");
    const int by_32[] = {1, 32}, by_31[] = {1, 31}, over[] = {INT32_MAX, 1}, under[] = {INT32_MAX, -1};
    const float by_zero[] = {1, 0}, by_one[] = {1, 1};
    assert_int_equal(kind_with(device, 0, "shift", by_32), QN_FINDING_NONE);
    assert_int_equal(kind_with(device, QN_CHECK_SHIFTS, "shift", by_32), QN_FINDING_SHIFT);
    assert_int_equal(kind_with(device, QN_CHECK_SHIFTS, "shift", by_31), QN_FINDING_NONE);
    assert_int_equal(kind_with(device, 0, "grow", over), QN_FINDING_NONE);
    assert_int_equal(kind_with(device, QN_CHECK_OVERFLOWS, "grow", over), QN_FINDING_OVERFLOW);
    assert_int_equal(kind_with(device, QN_CHECK_OVERFLOWS, "grow", under), QN_FINDING_NONE);
    assert_int_equal(kind_with(device, QN_CHECK_NANS, "divide", by_one), QN_FINDING_NONE);
    assert_int_equal(kind_with(device, 0, "divide", by_zero), QN_FINDING_NONE);
    assert_int_equal(kind_with(device, QN_CHECK_NANS, "divide", by_zero), QN_FINDING_NAN);
    assert_int_equal(kind_with(device, QN_CHECK_BUFFERS, "look", NULL), QN_FINDING_UNINITIALISED);
    assert_int_equal(kind_with(device, QN_CHECK_BUFFERS, "look", by_31), QN_FINDING_NONE);
    assert_int_equal(kind_with(device, 0, "look", NULL), QN_FINDING_NONE);
    assert_fails(context, qn_check_configure(device, &(qn_check_desc){.also = 1u << 20}), QN_ERROR_ARGUMENT,
                 "0x100000");
    qn_context_destroy(context);
}

/* A buffer that is written takes 16 bytes of shadow memory for each 4 of its own, or for each one where it is accessed by bytes; what
   atomics order takes as much as there is to know, not as often as they are done. */
static void shadow_memory_is_bounded(void **state) {
    (void)state;
    enum { SIZE = 1 << 20, REST = 1 << 19 };
    static const char text[] =
        "kernel void words(global int *x) { x[get_global_id(0)] = 1; }\n"
        "kernel void bytes(global char *x) { x[get_global_id(0)] = 1; }\n"

        "kernel void count(global atomic_int *n) {\n"
        "    for (int k = 0; k < 1000; k++)\n"
        "        atomic_fetch_add_explicit(n + k % 2, 1, memory_order_acq_rel, memory_scope_device);\n"
        "}\n"
        "kernel void publish(global atomic_int *n) {\n"
        "    for (int k = 0; k < 1000; k++)\n"
        "        atomic_fetch_add_explicit(n + k % 2, 1, memory_order_release, memory_scope_device);\n"
        "}\n";
    static const struct {
        const char *kernel;
        uint64_t items, most;
    } rows[] = {{"words", SIZE / 4, 4 * (uint64_t)SIZE},
                {"bytes", SIZE, 20 * (uint64_t)SIZE},
                {"count", 512, 4 * (uint64_t)SIZE},
                {"publish", 512, 4 * (uint64_t)SIZE}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        qn_context *context = make_context(NULL);
        qn_device *device = get_device(context, "check");
        qn_program *program = make_program(device, text);
        qn_kernel *kernel = make_kernel(program, context, rows[i].kernel);
        qn_buffer *x = make_buffer(device, SIZE, NULL);
        qn_check_stats stats;
        assert_ok(context,
                  qn_launch(NULL, kernel, &(qn_range){.global = {rows[i].items}, .local = {64}}, QN_ARGS(x)));
        assert_ok(context, qn_device_wait(device, QN_FOREVER));
        assert_ok(context, qn_check_get_stats(device, &stats));
        assert_int_equal(stats.memory, SIZE);
        if (stats.shadow > rows[i].most + REST)
            fail_msg("%s: %llu bytes of shadow memory", rows[i].kernel, (unsigned long long)stats.shadow);
        qn_context_destroy(context);
    }
}

static void some_of_the_groups_are_run(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, "check");
    qn_program *program = make_program(device, source);
    qn_kernel *kernel = make_kernel(program, context, "count");
    qn_buffer *x = make_buffer(device, 8, NULL);
    qn_check_stats stats;
    int counts[2];
    const qn_range range = {.global = {1000}, .local = {10}};
    assert_ok(context, qn_check_configure(device, &(qn_check_desc){.groups = 7, .seed = 3}));
    assert_ok(context, qn_launch(NULL, kernel, &range, QN_ARGS(x)));
    assert_ok(context, qn_buffer_read(x, 0, counts, sizeof counts));
    assert_int_equal(counts[0] + counts[1], 70);
    assert_true(counts[0] && counts[1]);
    assert_ok(context, qn_check_get_stats(device, &stats));
    assert_int_equal(stats.launches, 1);
    assert_int_equal(stats.groups, 7);
    assert_int_equal(stats.groups_left_out, 93);
    assert_true(stats.memory >= 8 && stats.shadow > 0);
    assert_ok(context, qn_check_configure(device, NULL));
    assert_ok(context, qn_launch(NULL, kernel, &range, QN_ARGS(x)));
    assert_ok(context, qn_buffer_read(x, 0, counts, sizeof counts));
    assert_int_equal(counts[0] + counts[1], 1070);
    assert_int_equal(qn_check_count(device), 0);
    qn_buffer_destroy(x);
    qn_kernel_destroy(kernel);
    qn_program_destroy(program);
    qn_context_destroy(context);
}

static void other_devices_check_nothing(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, "null");
    qn_finding finding;
    assert_int_equal(qn_check_count(device), 0);
    assert_fails(context, qn_check_get(device, 0, &finding), QN_ERROR_UNSUPPORTED, "the device 'check' does");
    assert_fails(context, qn_check_configure(device, NULL), QN_ERROR_UNSUPPORTED, "checks nothing");
    assert_fails(context, qn_check_clear(device), QN_ERROR_UNSUPPORTED, "'null' checks nothing");
    assert_null(qn_finding_kind_name(QN_FINDING_NONE));
    assert_null(qn_finding_kind_name(QN_FINDING_KIND_COUNT));
    for (int kind = 1; kind < QN_FINDING_KIND_COUNT; kind++)
        assert_non_null(qn_finding_kind_name((qn_finding_kind)kind));
    qn_context_destroy(context);
}

/* Undefined values that were copied are told of the variable that nobody has written. */
static void copies_are_not_to_blame(void **state) {
    (void)state;
    static const char text[] = "kernel void f(global int *x) {\n"
                               "    local int shared[4]; int own[2];\n"
                               "    int l = get_local_id(0);\n"
                               "    shared[l] = own[l & 1];\n"
                               "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                               "    int v = shared[3 - l];\n"
                               "    if (v) x[l] = v;\n"
                               "}\n";
    for (int level = -1; level < 2; level++) {
        qn_context *context = make_context(&(qn_context_desc){.log = ignore});
        qn_device *device = get_device(context, "check");
        qn_program *program;
        assert_ok(context, qn_program_create(device, &(qn_program_desc){.source = text, .opt_level = level},
                                             &program));
        qn_kernel *kernel = make_kernel(program, context, "f");
        qn_buffer *x = make_buffer(device, 16, NULL);
        qn_finding finding;
        const qn_range range = {.global = {4}, .local = {4}};
        assert_ok(context, qn_launch(NULL, kernel, &range, QN_ARGS(x)));
        assert_ok(context, qn_device_wait(device, QN_FOREVER));
        assert_true(qn_check_count(device) >= 1);
        assert_ok(context, qn_check_get(device, 0, &finding));
        assert_int_equal(finding.kind, QN_FINDING_UNINITIALISED);
        assert_string_equal(finding.object, "own");
        assert_int_equal(finding.declared.line, 2);
        qn_context_destroy(context);
    }
}

/* A launch does not keep its caller: waits have deadlines, and what does not end is cancelled, with what it found before. */
static void launches_are_cancelled(void **state) {
    (void)state;
    qn_context *context = make_context(&(qn_context_desc){.log = ignore});
    qn_device *device = get_device(context, "check");
    qn_program *program = make_program(device, "kernel void spin(global int *x) {\n"
                                               "    x[get_global_id(0) + 1] = 0;\n"
                                               "    while (x[0] == 0) x[0] &= 1;\n"
                                               "}\n");
    qn_kernel *kernel = make_kernel(program, context, "spin");
    qn_buffer *x = make_buffer(device, 4, NULL);
    qn_stream *stream = qn_device_stream(device);
    qn_event *event;
    const int one = 1;
    assert_ok(context, qn_event_create(device, &event));
    assert_ok(context, qn_launch(NULL, kernel, QN_RANGE(1), QN_ARGS(x)));
    assert_ok(context, qn_stream_record(NULL, event));
    assert_fails(context, qn_stream_wait(stream, 20000000), QN_ERROR_TIMEOUT, "kernel spin");
    assert_fails(context, qn_event_wait(event, 1000000), QN_ERROR_TIMEOUT, "");
    assert_ok(context, qn_stream_cancel(stream));
    assert_fails(context, qn_stream_wait(stream, QN_FOREVER), QN_ERROR_CANCELLED, "kernel spin");
    assert_int_equal(qn_check_count(device), 1);
    assert_ok(context, qn_buffer_write(x, 0, &one, sizeof one));
    assert_ok(context, qn_launch(NULL, kernel, QN_RANGE(1), QN_ARGS(x)));
    assert_ok(context, qn_stream_wait(stream, QN_FOREVER));
    qn_event_destroy(event);
    qn_context_destroy(context);
}

/* Host and running kernels see shared memory alike, and the host may pass on what one work-group has told it to another. */
static void memory_is_shared_with_the_host(void **state) {
    (void)state;
    qn_context *context = make_context(&(qn_context_desc){.log = ignore});
    qn_device *device = get_device(context, "check");
    qn_program *program = make_program(
        device, "#define AT memory_scope_all_svm_devices\n"
                "kernel void relay(global int *x, global atomic_uint *words) {\n"
                "    if (get_group_id(0) == 0) {\n"
                "        x[0] = 40;\n"
                "        atomic_store_explicit(words, 1, memory_order_release, AT);\n"
                "    } else {\n"
                "        while (!atomic_load_explicit(words + 1, memory_order_acquire, AT)) continue;\n"
                "        x[0] += 2;\n"
                "    }\n"
                "}\n"
                "kernel void race(global int *x) { x[0] = get_group_id(0); }\n");
    qn_kernel *relay = make_kernel(program, context, "relay"), *race = make_kernel(program, context, "race");
    qn_buffer *x = make_buffer(device, 4, NULL), *words;
    const qn_range range = {.global = {2}, .local = {1}};
    qn_finding finding;
    int value;
    assert_ok(context,
              qn_buffer_create(device, &(qn_buffer_desc){.size = 8, .memory = QN_MEMORY_SHARED}, &words));
    _Atomic uint32_t *seen = qn_buffer_host(words);
    assert_non_null(seen);
    assert_ok(context, qn_launch(NULL, relay, &range, QN_ARGS(x, words)));
    while (!atomic_load(&seen[0])) continue;
    atomic_store(&seen[1], 1);
    assert_ok(context, qn_buffer_read(x, 0, &value, sizeof value));
    assert_int_equal(value, 42);
    assert_int_equal(qn_check_count(device), 0);
    assert_ok(context, qn_launch(NULL, race, &range, QN_ARGS(words)));
    assert_ok(context, qn_device_wait(device, QN_FOREVER));
    assert_int_equal(qn_check_count(device), 1);
    assert_ok(context, qn_check_get(device, 0, &finding));
    assert_int_equal(finding.kind, QN_FINDING_RACE);
    qn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_finding_tells_all),         cmocka_unit_test(a_destroyed_buffer_is_known),
        cmocka_unit_test(a_race_has_two_places),       cmocka_unit_test(more_is_found_when_asked),
        cmocka_unit_test(shadow_memory_is_bounded),    cmocka_unit_test(some_of_the_groups_are_run),
        cmocka_unit_test(other_devices_check_nothing), cmocka_unit_test(objects_have_declarations),
        cmocka_unit_test(variables_have_declarations), cmocka_unit_test(buffers_have_labels),
        cmocka_unit_test(findings_are_suppressed),     cmocka_unit_test(operations_and_bytes_are_counted),
        cmocka_unit_test(architectures_have_names),    cmocka_unit_test(launches_are_cancelled),
        cmocka_unit_test(copies_are_not_to_blame),     cmocka_unit_test(memory_is_shared_with_the_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
