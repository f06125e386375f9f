/* Recorded commands that are set anew, on the fake driver: nodes of the instance change, and it is made again only where the driver wants that. */
#include "backend/cuda/driver.h"
#include "cuda_rig.h"

static qn_status fill(const rig *r, uint32_t value) {
    return qn_launch(NULL, r->fill, QN_RANGE(1024), QN_ARGS(r->buffer, value, 1024));
}

/* A node is set in place; what cannot be is recorded again, at the next launch. */
static void set_launches(void **state) {
    (void)state;
    rig r = make_rig(&no_cache);
    qn_stream *stream = qn_device_stream(r.device);
    qn_graph *graph;
    uint32_t back[2];
    assert_ok(r.context, qn_graph_begin(stream));
    assert_ok(r.context, fill(&r, 11));
    assert_ok(r.context, fill(&r, 12));
    assert_ok(r.context, qn_graph_end(stream, &graph));
    for (uint32_t i = 20; i < 24; i++) {
        assert_ok(r.context, qn_graph_set_launch(graph, 1, QN_RANGE(32 * i), QN_ARGS(r.buffer, i, 2)));
        assert_ok(r.context, qn_graph_launch(stream, graph));
        assert_ok(r.context, qn_buffer_read(r.buffer, 0, back, 8));
        assert_int_equal(back[0], i);
        assert_int_equal(fake.last_launch().grid[0] * fake.last_launch().block[0], 32 * i);
    }
    assert_int_equal(fake.count("cuGraphInstantiateWithFlags"), 1);
    assert_int_equal(fake.count("cuGraphExecKernelNodeSetParams"), 4);
    fake.fault("cuGraphExecKernelNodeSetParams", 1, QN__CU_ERROR_INVALID_VALUE);
    assert_ok(r.context, qn_graph_set_launch(graph, 1, NULL, QN_ARGS(r.buffer, 30, 2)));
    assert_ok(r.context, qn_graph_set_launch(graph, 1, NULL, QN_ARGS(r.buffer, 31, 2)));
    assert_int_equal(fake.count("cuGraphInstantiateWithFlags"), 1);
    assert_ok(r.context, qn_graph_launch(stream, graph));
    assert_ok(r.context, qn_buffer_read(r.buffer, 0, back, 8));
    assert_int_equal(back[0], 31);
    assert_int_equal(fake.count("cuGraphInstantiateWithFlags"), 2);
    qn_graph_destroy(graph);
    drop_rig(&r);
    nothing_left();
}

/* The source of a copy, too. A graph keeps what its launches in flight read, and no other source but the latest. */
static void set_copies(void **state) {
    (void)state;
    rig r = make_rig(&no_cache);
    qn_stream *stream = qn_device_stream(r.device);
    qn_graph *graph;
    qn_buffer *from[3];
    uint32_t back[2];
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t words[] = {10 * i, 10 * i + 1, 10 * i + 2};
        assert_ok(r.context, qn_buffer_create(
                                 r.device, &(qn_buffer_desc){.size = sizeof words, .data = words}, &from[i]));
    }
    assert_ok(r.context, qn_graph_begin(stream));
    assert_ok(r.context, qn_stream_copy(stream, from[0], 0, r.buffer, 0, 8));
    assert_ok(r.context, qn_graph_end(stream, &graph));
    for (uint32_t i = 0; i < 3; i++) {
        assert_ok(r.context, qn_graph_set_copy(graph, 0, from[i], 4 * (i % 2)));
        qn_buffer_destroy(from[i]); /* the graph has it */
        assert_ok(r.context, qn_graph_launch(stream, graph));
        assert_ok(r.context, qn_buffer_read(r.buffer, 0, back, 8));
        assert_int_equal(back[0], 10 * i + i % 2);
    }
    assert_int_equal(fake.count("cuGraphExecMemcpyNodeSetParams"), 3);
    assert_int_equal(fake.count("cuGraphInstantiateWithFlags"), 1);
    qn_buffer *last;
    const uint32_t seven[] = {7, 8};
    assert_ok(r.context, qn_buffer_create(r.device, &(qn_buffer_desc){.size = 8, .data = seven}, &last));
    assert_fails(r.context, qn_graph_set_copy(graph, 1, last, 0), QN_ERROR_RANGE,
                 "copy 1 of a graph that has 1");
    assert_fails(r.context, qn_graph_set_copy(graph, 0, last, 4), QN_ERROR_RANGE,
                 "8 bytes from 4 of a buffer of 8");
    assert_fails(r.context, qn_graph_set_copy(graph, 0, NULL, 0), QN_ERROR_NULL, "buffer");
    fake.fault("cuGraphExecMemcpyNodeSetParams", 1, QN__CU_ERROR_INVALID_VALUE); /* it is recorded again */
    assert_ok(r.context, qn_graph_set_copy(graph, 0, last, 0));
    assert_ok(r.context, qn_graph_launch(stream, graph));
    assert_ok(r.context, qn_buffer_read(r.buffer, 0, back, 8));
    assert_int_equal(back[1], 8);
    assert_int_equal(fake.count("cuGraphInstantiateWithFlags"), 2);
    qn_buffer_destroy(last);
    qn_graph_destroy(graph);
    drop_rig(&r);
    nothing_left();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_launches),
        cmocka_unit_test(set_copies),
    };
    return cmocka_run_group_tests(tests, find_fake, NULL);
}
