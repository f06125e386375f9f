/* Graphs beyond recording and replaying: which of their buffers they write. */
#include "api_support.h"

/* Only what a kernel does says that `in` is read: it is no pointer to const. */
static const char source[] = "kernel void add(global int *in, global int *out, int by) {\n"
                             "    size_t i = get_global_id(0);\n"
                             "    global int *from = by > 100 ? in + 1 : in;\n"
                             "    out[i] = from[i] + by;\n"
                             "}\n";

static qn_buffer_state state_after_map(fixture *f, qn_buffer *buffer) {
    void *host;
    assert_ok(f->context, qn_buffer_map(buffer, QN_MAP_READ, &host));
    assert_ok(f->context, qn_buffer_unmap(buffer));
    return qn_buffer_get_state(buffer);
}

static void only_what_is_written_is_newer(void **state) {
    const char *names[] = {test_device(), "null"};
    (void)state;
    for (int d = 0; d < 2; d++) {
        fixture f = make_fixture(names[d], source, "add");
        const int values[4] = {1, 2, 3, 4};
        qn_buffer *in = make_buffer(f.device, sizeof values, values);
        qn_buffer *out = make_buffer(f.device, sizeof values, values),
                  *copy = make_buffer(f.device, 16, NULL);
        qn_stream *stream = qn_device_stream(f.device);
        qn_graph *graph;
        assert_ok(f.context, qn_graph_begin(stream));
        assert_ok(f.context, qn_launch(stream, f.kernel, QN_RANGE(4), QN_ARGS(in, out, 1)));
        assert_ok(f.context, qn_stream_copy(stream, in, 0, copy, 0, 16));
        assert_ok(f.context, qn_graph_end(stream, &graph));
        const qn_buffer_state before = state_after_map(&f, in);
        void *host;
        assert_ok(f.context, qn_buffer_map(in, QN_MAP_READ, &host)); /* who only reads may run beside it */
        assert_ok(f.context, qn_graph_launch(stream, graph));
        assert_ok(f.context, qn_launch(stream, f.kernel, QN_RANGE(4), QN_ARGS(in, out, 1)));
        assert_int_equal(qn_buffer_get_state(in), before);
        assert_int_equal(qn_buffer_get_state(out), QN_BUFFER_DEVICE);
        assert_int_equal(qn_buffer_get_state(copy), QN_BUFFER_DEVICE);
        assert_ok(f.context, qn_buffer_unmap(in));
        assert_ok(f.context, qn_buffer_map(out, QN_MAP_READ, &host));
        assert_fails(f.context, qn_graph_launch(stream, graph), QN_ERROR_STATE, "is mapped");
        assert_fails(f.context, qn_launch(stream, f.kernel, QN_RANGE(4), QN_ARGS(in, out, 1)), QN_ERROR_STATE,
                     "is mapped");
        if (d == 0) assert_int_equal(((int *)host)[3], 5);
        assert_ok(f.context, qn_buffer_unmap(out));
        qn_context_destroy(f.context);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_what_is_written_is_newer)};
    return run_device_tests(tests);
}
