/* Program-scope variables in global memory: initialised once for a program, kept from launch to launch, a program's
   own, and the same through graphs and from the cache. */
#include "api_support.h"

static const char source[] = "global uint counter = 100;\n"
                             "global uint table[5000] = {[3] = 7};\n"
                             "kernel void add(global uint *out, uint by) {\n"
                             "    atomic_add(&counter, by);\n"
                             "}\n"
                             "kernel void get(global uint *out) {\n"
                             "    out[0] = counter;\n"
                             "    out[1] = table[3]++;\n"
                             "    out[2] = table[4999];\n"
                             "}\n";

typedef struct loaded {
    qn_program *program;
    qn_kernel *add, *get;
} loaded;

static loaded load(qn_context *context, qn_device *device) {
    loaded l;
    assert_ok(context, qn_program_create(device, &(qn_program_desc){.source = source}, &l.program));
    l.add = make_kernel(l.program, context, "add");
    l.get = make_kernel(l.program, context, "get");
    return l;
}

static void unload(loaded *l) {
    qn_kernel_destroy(l->add);
    qn_kernel_destroy(l->get);
    qn_program_destroy(l->program);
}

static void check(qn_context *context, const loaded *l, qn_buffer *buffer, uint32_t counter, uint32_t entry) {
    uint32_t out[3] = {0};
    assert_ok(context, qn_launch(NULL, l->get, QN_RANGE(1), QN_ARGS(buffer)));
    assert_ok(context, qn_buffer_read(buffer, 0, out, sizeof out));
    assert_int_equal(out[0], counter);
    assert_int_equal(out[1], entry);
    assert_int_equal(out[2], 0);
}

static void it_lasts_as_long_as_the_program(void **state) {
    (void)state;
    qn_context *context = make_context(&(qn_context_desc){0});
    qn_device *device = get_device(context, test_device());
    qn_buffer *buffer = make_buffer(device, 12, NULL);
    loaded first = load(context, device), second = load(context, device);
    assert_ok(context, qn_launch(NULL, first.add, QN_RANGE(1000), QN_ARGS(buffer, 2u)));
    check(context, &first, buffer, 2100, 7);
    check(context, &second, buffer, 100, 7); /* another program, though it is of the same source */
    check(context, &first, buffer, 2100, 8);
    unload(&first);
    first = load(context, device);
    check(context, &first, buffer, 100, 7);
    unload(&first);
    unload(&second);
    qn_buffer_destroy(buffer);
    qn_context_destroy(context);
}

/* The state goes with its last user, not with the handle of the program. */
static void work_in_flight_keeps_it(void **state) {
    (void)state;
    qn_context *context = make_context(&(qn_context_desc){0});
    qn_device *device = get_device(context, test_device());
    qn_buffer *buffer = make_buffer(device, 12, NULL);
    uint32_t out[3];
    loaded l = load(context, device);
    assert_ok(context, qn_launch(NULL, l.add, QN_RANGE(100000), QN_ARGS(buffer, 1u)));
    assert_ok(context, qn_launch(NULL, l.get, QN_RANGE(1), QN_ARGS(buffer)));
    unload(&l);
    assert_ok(context, qn_buffer_read(buffer, 0, out, sizeof out));
    assert_int_equal(out[0], 100100);
    qn_context_destroy(context);
}

static void graphs_share_it(void **state) {
    (void)state;
    qn_context *context = make_context(&(qn_context_desc){0});
    qn_device *device = get_device(context, test_device());
    qn_buffer *buffer = make_buffer(device, 12, NULL);
    loaded l = load(context, device);
    qn_stream *stream;
    qn_graph *graph;
    assert_ok(context, qn_stream_create(device, &stream));
    assert_ok(context, qn_graph_begin(stream));
    assert_ok(context, qn_launch(stream, l.add, QN_RANGE(10), QN_ARGS(buffer, 1u)));
    assert_ok(context, qn_graph_end(stream, &graph));
    for (int i = 0; i < 3; i++) assert_ok(context, qn_graph_launch(stream, graph));
    assert_ok(context, qn_stream_wait(stream, QN_FOREVER));
    check(context, &l, buffer, 130, 7);
    qn_context_destroy(context);
}

static void it_is_no_parameter(void **state) {
    (void)state;
    qn_context *context = make_context(&(qn_context_desc){0});
    qn_device *device = get_device(context, test_device());
    qn_buffer *buffer = make_buffer(device, 12, NULL);
    loaded l = load(context, device);
    qn_kernel_info info;
    qn_param_info param;
    assert_ok(context, qn_kernel_get_info(l.add, &info));
    assert_int_equal(info.num_params, 2);
    assert_int_equal(qn_kernel_get_param(l.add, 2, &param), QN_ERROR_RANGE);
    assert_int_equal(qn_launch(NULL, l.get, QN_RANGE(1), QN_ARGS(buffer, buffer)), QN_ERROR_ARGUMENT_COUNT);
    qn_context_destroy(context);
}

/* The program comes from the disk cache the second time. */
static void the_cache_has_it(void **state) {
    (void)state;
    char dir[] = "/tmp/quern-state-XXXXXX", command[64];
    assert_non_null(mkdtemp(dir));
    for (int i = 0; i < 2; i++) {
        qn_context *context = make_context(&(qn_context_desc){.cache_dir = dir});
        qn_device *device = get_device(context, test_device());
        qn_buffer *buffer = make_buffer(device, 12, NULL);
        loaded l = load(context, device);
        qn_program_times times;
        assert_ok(context, qn_program_wait(l.program, QN_FOREVER));
        assert_ok(context, qn_program_get_times(l.program, &times));
        assert_true(times.from_cache == (i == 1) || !keeps_machine_code(device));
        assert_ok(context, qn_launch(NULL, l.add, QN_RANGE(1), QN_ARGS(buffer, 5u)));
        check(context, &l, buffer, 105, 7);
        qn_context_destroy(context);
    }
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_lasts_as_long_as_the_program),
        cmocka_unit_test(work_in_flight_keeps_it),
        cmocka_unit_test(graphs_share_it),
        cmocka_unit_test(it_is_no_parameter),
        cmocka_unit_test(the_cache_has_it),
    };
    return run_device_tests(tests);
}
