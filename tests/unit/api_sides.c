/* The two sides of a buffer: which is newer, what is moved between them and why, and that nothing is moved twice. */
#include "api_support.h"

static const char source[] = "kernel void add(global int *a, int n) { a[get_global_id(0)] += n; }\n"
                             "kernel void sum(global const int *a, global int *out) {\n"
                             "    int s = 0;\n"
                             "    for (int i = 0; i < 8; i++) s += a[i];\n"
                             "    out[get_global_id(0)] = s;\n"
                             "}\n";

enum { COUNT = 1000, BYTES = COUNT * sizeof(int) };

static bool shares_memory(qn_device *device) {
    qn_device_info info;
    assert_ok(qn_device_context(device), qn_device_get_info(device, &info));
    return info.capabilities & QN_CAN_SHARE_MEMORY;
}

/* "launch 1 4000, map 1 4000": what is not 0. */
static const char *moves_of(qn_buffer *buffer, char *text) {
    text[0] = 0;
    for (int move = 0; move < QN_MOVE_COUNT; move++) {
        qn_moves moves;
        assert_int_equal(qn_buffer_get_moves(buffer, (qn_move)move, &moves), QN_OK);
        if (moves.count)
            sprintf(text + strlen(text), "%s%s %d %d", text[0] ? ", " : "", qn_move_name((qn_move)move),
                    (int)moves.count, (int)moves.bytes);
    }
    return text;
}

#define assert_moves(buffer, wanted)                                                                         \
    do {                                                                                                     \
        char text_[512];                                                                                     \
        assert_string_equal(moves_of(buffer, text_), wanted);                                                \
    } while (0)

/* ---- the null device has memory of its own: each move can be counted ---- */

static void nothing_is_moved_twice(void **state) {
    (void)state;
    fixture f = make_fixture("null", source, "add");
    qn_buffer *buffer = make_buffer(f.device, BYTES, NULL), *out = make_buffer(f.device, BYTES, NULL);
    qn_kernel *sum = make_kernel(f.program, f.context, "sum");
    int *host;
    assert_moves(buffer, "");
    assert_int_equal(qn_buffer_get_state(buffer), QN_BUFFER_DEVICE);
    assert_ok(f.context, qn_buffer_map(buffer, QN_MAP_WRITE, (void **)&host));
    assert_ok(f.context, qn_buffer_unmap(buffer));
    assert_int_equal(qn_buffer_get_state(buffer), QN_BUFFER_HOST);
    assert_moves(buffer, ""); /* not before somebody needs it */
    for (int i = 0; i < 3; i++)
        assert_ok(f.context, qn_launch(NULL, sum, QN_RANGE(COUNT), QN_ARGS(buffer, out)));
    assert_int_equal(qn_buffer_get_state(buffer), QN_BUFFER_BOTH);
    assert_moves(buffer, "launch 1 4000");
    for (int i = 0; i < 3; i++) { /* only read by the kernel: the host has it still */
        assert_ok(f.context, qn_buffer_map(buffer, QN_MAP_READ, (void **)&host));
        assert_ok(f.context, qn_buffer_unmap(buffer));
    }
    assert_moves(buffer, "launch 1 4000");
    assert_moves(out, "");
    assert_ok(f.context, qn_launch(NULL, f.kernel, QN_RANGE(COUNT), QN_ARGS(buffer, 1)));
    assert_int_equal(qn_buffer_get_state(buffer), QN_BUFFER_DEVICE_NEWER);
    assert_ok(f.context, qn_buffer_map_range(buffer, QN_MAP_READ, 400, 40, (void **)&host));
    assert_ok(f.context, qn_buffer_unmap(buffer));
    assert_moves(buffer, "launch 1 4000, map 1 40");
    assert_ok(f.context, qn_buffer_map(buffer, QN_MAP_READ, (void **)&host)); /* in front and behind */
    assert_ok(f.context, qn_buffer_unmap(buffer));
    assert_moves(buffer, "launch 1 4000, map 3 4000");
    qn_moves all;
    assert_ok(f.context, qn_device_get_moves(f.device, QN_MOVE_MAP, &all));
    assert_int_equal(all.count, 3);
    qn_context_destroy(f.context);
}

static void each_reason_is_counted(void **state) {
    (void)state;
    fixture f = make_fixture("null", source, "add");
    int words[4] = {1, 2, 3, 4}, *host;
    qn_buffer *buffer = make_buffer(f.device, 16, words), *other = make_buffer(f.device, 16, NULL), *view;
    assert_ok(f.context, qn_buffer_write(buffer, 4, words, 8));
    assert_ok(f.context, qn_buffer_read(buffer, 0, words, 4));
    assert_ok(f.context, qn_stream_copy(NULL, buffer, 0, other, 4, 12));
    assert_ok(f.context, qn_buffer_map_range(other, QN_MAP_WRITE, 8, 4, (void **)&host));
    assert_ok(f.context, qn_buffer_unmap(other));
    assert_ok(f.context, qn_buffer_read(other, 0, words, 16));
    assert_moves(buffer, "write 2 24, read 1 4");
    assert_moves(other, "read 1 16, copy 1 12, transfer 1 4");
    assert_ok(f.context, qn_buffer_view(buffer, 0, 16, &view));
    assert_moves(view, "write 2 24, read 1 4");
    qn_moves moves;
    assert_fails(f.context, qn_buffer_get_moves(buffer, QN_MOVE_COUNT, &moves), QN_ERROR_ARGUMENT,
                 "is not a qn_move");
    assert_fails(f.context, qn_device_get_moves(f.device, QN_MOVE_MAP, NULL), QN_ERROR_NULL, "moves");
    assert_null(qn_move_name(QN_MOVE_COUNT));
    qn_buffer_destroy(view);
    qn_buffer_destroy(buffer);
    assert_ok(f.context, qn_device_get_moves(f.device, QN_MOVE_WRITE, &moves)); /* it is gone */
    assert_int_equal(moves.bytes, 24);
    qn_context_destroy(f.context);
}

/* What all of it is written over is not brought first; a part of it is. */
static void what_is_overwritten_is_not_moved(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, "null");
    for (int unified = 0; unified < 2; unified++) {
        const qn_buffer_desc desc = {.size = 16, .memory = unified ? QN_MEMORY_UNIFIED : QN_MEMORY_DEVICE};
        qn_buffer *buffer;
        char *host, got[16];
        assert_ok(context, qn_buffer_create(device, &desc, &buffer));
        assert_ok(context, qn_buffer_map(buffer, QN_MAP_WRITE, (void **)&host));
        memset(host, 'a', 16);
        assert_ok(context, qn_buffer_unmap(buffer));
        assert_ok(context, qn_stream_fill(NULL, buffer, 0, 16, "b", 1));
        assert_moves(buffer, "");
        assert_ok(context, qn_stream_read(NULL, buffer, 0, got, 16));
        assert_ok(context, qn_stream_wait(qn_device_stream(device), QN_FOREVER));
        assert_memory_equal(got, "bbbbbbbbbbbbbbbb", 16);
        assert_ok(context, qn_buffer_map(buffer, QN_MAP_READ_WRITE, (void **)&host));
        assert_memory_equal(host, "bbbbbbbbbbbbbbbb", 16);
        host[15] = 'c';
        assert_ok(context, qn_buffer_unmap(buffer));
        assert_ok(context, qn_stream_fill(NULL, buffer, 0, 8, "d", 1));
        assert_moves(buffer, "read 1 16, transfer 1 16, map 1 16");
        assert_ok(context, qn_stream_read(NULL, buffer, 0, got, 16));
        assert_ok(context, qn_stream_wait(qn_device_stream(device), QN_FOREVER));
        assert_memory_equal(got, "ddddddddbbbbbbbc", 16);
    }
    qn_context_destroy(context);
}

static void prefetched_sides_need_no_other_move(void **state) {
    (void)state;
    fixture f = make_fixture("null", source, "add");
    qn_buffer *buffer = make_buffer(f.device, BYTES, NULL), *view;
    int *host;
    assert_ok(f.context, qn_stream_prefetch(NULL, buffer, QN_SIDE_DEVICE)); /* nothing is newer */
    assert_moves(buffer, "");
    assert_ok(f.context, qn_buffer_map(buffer, QN_MAP_WRITE, (void **)&host));
    assert_fails(f.context, qn_stream_prefetch(NULL, buffer, QN_SIDE_HOST), QN_ERROR_STATE, "mapped for");
    assert_fails(f.context, qn_stream_prefetch(NULL, buffer, QN_SIDE_DEVICE), QN_ERROR_STATE, "mapped for");
    assert_fails(f.context, qn_buffer_sync(buffer), QN_ERROR_STATE, "qn_buffer_sync: the buffer is mapped");
    assert_ok(f.context, qn_buffer_unmap(buffer));
    assert_ok(f.context, qn_stream_prefetch(NULL, buffer, QN_SIDE_DEVICE));
    assert_ok(f.context, qn_launch(NULL, f.kernel, QN_RANGE(COUNT), QN_ARGS(buffer, 1)));
    assert_moves(buffer, "to device 1 4000");
    assert_ok(f.context, qn_buffer_view(buffer, 400, 800, &view));
    assert_ok(f.context, qn_stream_prefetch(NULL, view, QN_SIDE_HOST));
    assert_int_equal(qn_buffer_get_state(buffer), QN_BUFFER_DEVICE_NEWER); /* the host has a part */
    assert_ok(f.context, qn_buffer_map(view, QN_MAP_READ, (void **)&host));
    assert_ok(f.context, qn_buffer_unmap(view));
    assert_moves(buffer, "to device 1 4000, to host 1 800");
    assert_ok(f.context, qn_buffer_map_range(buffer, QN_MAP_WRITE, 0, 4, (void **)&host));
    assert_ok(f.context, qn_buffer_unmap(buffer));
    assert_ok(f.context, qn_buffer_sync(buffer)); /* both ways */
    assert_int_equal(qn_buffer_get_state(buffer), QN_BUFFER_BOTH);
    assert_moves(buffer, "to device 2 4004, to host 3 3996");
    assert_ok(f.context, qn_buffer_sync(buffer));
    assert_moves(buffer, "to device 2 4004, to host 3 3996");
    assert_fails(f.context, qn_stream_prefetch(NULL, buffer, (qn_side)2), QN_ERROR_ARGUMENT, "side 2");
    qn_graph *graph;
    assert_ok(f.context, qn_graph_begin(qn_device_stream(f.device)));
    assert_fails(f.context, qn_stream_prefetch(NULL, buffer, QN_SIDE_DEVICE), QN_ERROR_STATE,
                 "qn_stream_prefetch: cannot be recorded");
    assert_ok(f.context, qn_graph_end(qn_device_stream(f.device), &graph));
    qn_context_destroy(f.context);
}

/* ---- on any device ---- */

/* A chain of host and device work on two streams: results are right, and each side is brought over once a round. */
static void sides_follow_each_other(void **state) {
    (void)state;
    enum { ROUNDS = 5 };
    fixture f = make_fixture(test_device(), source, "add");
    qn_buffer *buffer = make_buffer(f.device, BYTES, NULL);
    qn_stream *stream;
    qn_moves moves[QN_MOVE_COUNT];
    int *host;
    assert_ok(f.context, qn_stream_create(f.device, &stream));
    for (int round = 0; round < ROUNDS; round++) {
        assert_ok(f.context, qn_buffer_map(buffer, QN_MAP_READ_WRITE, (void **)&host));
        for (int i = 0; i < COUNT; i++) host[i] += i;
        assert_ok(f.context, qn_buffer_unmap(buffer));
        assert_ok(f.context, qn_stream_prefetch(stream, buffer, QN_SIDE_DEVICE));
        assert_ok(f.context, qn_launch(stream, f.kernel, QN_RANGE(COUNT), QN_ARGS(buffer, 3)));
        assert_ok(f.context, qn_launch(stream, f.kernel, QN_RANGE(COUNT), QN_ARGS(buffer, 4)));
        assert_ok(f.context, qn_stream_prefetch(stream, buffer, QN_SIDE_HOST));
    }
    assert_ok(f.context, qn_buffer_sync(buffer));
    assert_int_equal(qn_buffer_get_state(buffer), QN_BUFFER_BOTH);
    assert_ok(f.context, qn_buffer_map(buffer, QN_MAP_READ, (void **)&host));
    for (int i = 0; i < COUNT; i++)
        if (host[i] != ROUNDS * (i + 7)) fail_msg("%d: %d", i, host[i]);
    for (int move = 0; move < QN_MOVE_COUNT; move++)
        assert_ok(f.context, qn_buffer_get_moves(buffer, (qn_move)move, &moves[move]));
    const bool shares = shares_memory(f.device);
    for (int move = 0; move < QN_MOVE_COUNT; move++) {
        const bool is_prefetch = move == QN_MOVE_TO_DEVICE || move == QN_MOVE_TO_HOST;
        const int first = move == QN_MOVE_MAP; /* the first map found nothing prefetched */
        assert_int_equal(moves[move].count, shares ? 0 : is_prefetch ? ROUNDS : first);
        assert_int_equal(moves[move].bytes, moves[move].count * BYTES);
    }
    qn_context_destroy(f.context);
}

/* The numbers are in the sentence: what is wanted, what there is, what is taken. */
static void buffers_larger_than_the_memory_are_refused(void **state) {
    (void)state;
    const char *names[] = {test_device(), "null"};
    qn_context *context = make_context(NULL);
    for (int d = 0; d < 2; d++) {
        qn_device *device = get_device(context, names[d]);
        qn_device_info info;
        qn_buffer *kept = make_buffer(device, 4096, NULL), *buffer = kept;
        char wanted[256];
        assert_ok(context, qn_device_get_info(device, &info));
        if (!info.memory) continue;
        snprintf(wanted, sizeof wanted,
                 "%llu bytes; %s allows %llu in a buffer; it has %llu in all, of which buffers take 4096",
                 (unsigned long long)info.memory + 1, info.name, (unsigned long long)info.max_buffer,
                 (unsigned long long)info.memory);
        assert_fails(context, qn_buffer_create(device, &(qn_buffer_desc){.size = info.memory + 1}, &buffer),
                     QN_ERROR_RANGE, wanted);
        assert_null(buffer);
        qn_buffer_destroy(kept);
    }
    qn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_moved_twice),
        cmocka_unit_test(each_reason_is_counted),
        cmocka_unit_test(what_is_overwritten_is_not_moved),
        cmocka_unit_test(prefetched_sides_need_no_other_move),
        cmocka_unit_test(sides_follow_each_other),
        cmocka_unit_test(buffers_larger_than_the_memory_are_refused),
    };
    return run_device_tests(tests);
}
