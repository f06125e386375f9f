/* The checker's findings through the API: what a finding tells, counts, the log, buffers that are gone, kernels that are run
   again, and other devices, which check nothing. */
#include "api_support.h"

#include <quern/check.h>

static const char source[] = "kernel void f(global int *x, int n) {\n"
                             "    int i = get_global_id(0);\n"
                             "    if (i <= n) x[i] = i;\n"
                             "}\n"
                             "kernel void keep(global ulong *place, global int *x) { place[0] = (ulong)x; }\n"
                             "kernel void use(global const ulong *place) { *(global int *)place[0] = 1; }\n"
                             "kernel void endless(global int *x) { while (x[0] == 0) x[1]++; }\n"
                             "kernel void race(global int *x) { x[0] = get_global_id(0); }\n";

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
static qn_finding find_first(qn_device *device, qn_program *program, const char *name, qn_buffer *a,
                             qn_buffer *b) {
    qn_context *context = qn_device_context(device);
    qn_kernel *kernel = make_kernel(program, context, name);
    qn_finding finding = {0};
    const qn_arg args[] = {qn_arg_buffer(a), qn_arg_buffer(b)};
    assert_ok(context, qn_check_clear(device));
    assert_ok(context, qn_launch(NULL, kernel, QN_RANGE(2), args, b ? 2 : 1));
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
    assert_int_equal(find_first(device, program, "keep", place, x).kind, QN_FINDING_NONE);
    const qn_finding alive = find_first(device, program, "use", place, NULL);
    assert_int_equal(alive.kind, QN_FINDING_NONE); /* both write one value */
    qn_buffer_destroy(x);
    const qn_finding gone = find_first(device, program, "use", place, NULL);
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
    const qn_finding race = find_first(device, program, "race", x, NULL);
    assert_int_equal(race.kind, QN_FINDING_RACE);
    assert_int_equal(race.place.line, 8);
    assert_non_null(race.other.file);
    assert_int_equal(race.other.line, 8);
    assert_int_equal(race.place.work_item[0] + race.other.work_item[0], 1);
    qn_buffer_destroy(x);
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
    assert_fails(context, qn_check_clear(device), QN_ERROR_UNSUPPORTED, "'null' checks nothing");
    assert_null(qn_finding_kind_name(QN_FINDING_NONE));
    assert_null(qn_finding_kind_name(QN_FINDING_KIND_COUNT));
    for (int kind = 1; kind < QN_FINDING_KIND_COUNT; kind++)
        assert_non_null(qn_finding_kind_name((qn_finding_kind)kind));
    qn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_finding_tells_all),
        cmocka_unit_test(a_destroyed_buffer_is_known),
        cmocka_unit_test(a_race_has_two_places),
        cmocka_unit_test(other_devices_check_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
