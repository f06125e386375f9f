/* Buffers: contents, views, ranges, and the lazy copying between host and device sides, which the null device
   with its separate memory shows. */
#include "api_support.h"

static void contents_go_there_and_back(void **state) {
    const char *names[] = {test_device(), "null"};
    (void)state;
    for (int d = 0; d < 2; d++) {
        qn_context *context = make_context(NULL);
        qn_device *device = get_device(context, names[d]);
        char out[16] = {0};
        qn_buffer *buffer = make_buffer(device, 16, "0123456789abcdef");
        assert_ok(context, qn_buffer_write(buffer, 4, "XY", 2));
        assert_ok(context, qn_buffer_read(buffer, 0, out, 16));
        assert_memory_equal(out, "0123XY6789abcdef", 16);
        qn_buffer *zero = make_buffer(device, 16, NULL);
        assert_ok(context, qn_stream_copy(NULL, buffer, 8, zero, 0, 4));
        assert_ok(context, qn_stream_fill(NULL, zero, 4, 6, "ab", 2));
        assert_ok(context, qn_buffer_read(zero, 0, out, 16));
        assert_memory_equal(out,
                            "89ab"
                            "ababab"
                            "\0\0\0\0\0\0",
                            16);
        qn_context_destroy(context);
    }
}

static void views_share_the_memory(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, test_device());
    qn_buffer *buffer = make_buffer(device, 64, NULL), *view, *inner;
    assert_ok(context, qn_buffer_view(buffer, 16, 32, &view));
    assert_ok(context, qn_buffer_view(view, 16, 16, &inner));
    uint64_t at = 7;
    assert_ptr_equal(qn_buffer_origin(inner, &at), buffer);
    assert_int_equal(at, 32);
    assert_ptr_equal(qn_buffer_origin(buffer, &at), buffer);
    assert_int_equal(at, 0);
    qn_buffer_destroy(buffer); /* lives on with its views */
    assert_ok(context, qn_buffer_write(inner, 0, "deep", 4));
    char out[4];
    assert_ok(context, qn_buffer_read(view, 16, out, 4));
    assert_memory_equal(out, "deep", 4);
    qn_buffer *none;
    assert_fails(context, qn_buffer_view(view, 8, 8, &none), QN_ERROR_ARGUMENT, "multiple of 16");
    assert_fails(context, qn_buffer_view(view, 16, 17, &none), QN_ERROR_RANGE, "17 bytes at 16");
    char *host, *inside;
    assert_ok(context, qn_buffer_map(view, QN_MAP_READ, (void **)&host));
    assert_memory_equal(host + 16, "deep", 4);
    assert_ok(context, qn_buffer_map_range(inner, QN_MAP_READ, 1, 3, (void **)&inside));
    assert_ptr_equal(inside, host + 17); /* the same memory */
    assert_fails(context, qn_buffer_map_range(inner, QN_MAP_READ, 16, 1, (void **)&inside), QN_ERROR_RANGE,
                 "qn_buffer_map_range: 1 bytes at 16 of a buffer of 16");
    assert_fails(context, qn_buffer_map_range(inner, QN_MAP_READ, 0, 0, (void **)&inside), QN_ERROR_RANGE,
                 "0 bytes");
    assert_fails(context, qn_buffer_write(view, 0, "x", 1), QN_ERROR_STATE, "mapped");
    assert_ok(context, qn_buffer_unmap(inner));
    assert_fails(context, qn_buffer_write(view, 0, "x", 1), QN_ERROR_STATE, "mapped");
    assert_ok(context, qn_buffer_unmap(inner)); /* all are the buffer's maps */
    assert_ok(context, qn_buffer_write(view, 0, "x", 1));
    qn_context_destroy(context);
}

static void ranges_are_checked_without_overflow(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, test_device());
    qn_buffer *buffer = make_buffer(device, 64, NULL);
    char byte = 0;
    assert_fails(context, qn_buffer_read(buffer, 60, &byte, 5), QN_ERROR_RANGE, "bytes 60 to 65");
    assert_fails(context, qn_buffer_read(buffer, UINT64_MAX, &byte, 2), QN_ERROR_RANGE, "of a buffer of 64");
    assert_fails(context, qn_buffer_write(buffer, 1, &byte, UINT64_MAX), QN_ERROR_RANGE, "of a buffer of 64");
    assert_fails(context, qn_buffer_write(buffer, 0, NULL, 1), QN_ERROR_NULL, "data");
    assert_fails(context, qn_stream_copy(NULL, buffer, 0, buffer, 8, 16), QN_ERROR_RANGE, "overlap");
    assert_fails(context, qn_stream_fill(NULL, buffer, 0, 9, "abc", 3), QN_ERROR_ARGUMENT, "3 bytes");
    assert_ok(context, qn_buffer_read(buffer, 64, &byte, 0));
    assert_ok(context, qn_buffer_read(buffer, 0, NULL, 0));
    assert_ok(context, qn_buffer_write(buffer, 64, NULL, 0));
    assert_fails(context, qn_buffer_write(buffer, 65, NULL, 0), QN_ERROR_RANGE, "of a buffer of 64");
    qn_buffer *none;
    assert_fails(context, qn_buffer_create(device, &(qn_buffer_desc){.size = 0}, &none), QN_ERROR_RANGE,
                 "size is 0");
    assert_fails(context, qn_buffer_create(device, &(qn_buffer_desc){.size = UINT64_MAX}, &none),
                 QN_ERROR_RANGE, "allows");
    assert_fails(context, qn_buffer_create(device, NULL, &none), QN_ERROR_NULL, "desc");
    assert_int_equal(qn_buffer_create(NULL, &(qn_buffer_desc){.size = 1}, &none), QN_ERROR_NULL);
    qn_context_destroy(context);
}

static void maps_copy_only_when_needed(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, "null");
    qn_buffer *buffer = make_buffer(device, 8, "devices!");
    char *host, out[8];
    qn_memory_stats stats;
    assert_int_equal(qn_buffer_get_state(buffer), QN_BUFFER_DEVICE);
    assert_ok(context, qn_buffer_map(buffer, QN_MAP_READ, (void **)&host));
    assert_memory_equal(host, "devices!", 8);
    assert_int_equal(qn_buffer_get_state(buffer), QN_BUFFER_BOTH);
    assert_ok(context, qn_device_memory(device, &stats));
    assert_int_equal(stats.host, 8);
    assert_ok(context, qn_buffer_read(buffer, 0, out, 8)); /* reading beside a read map is fine */
    assert_fails(context, qn_buffer_write(buffer, 0, "x", 1), QN_ERROR_STATE, "mapped");
    assert_ok(context, qn_buffer_unmap(buffer));
    assert_ok(context, qn_buffer_map(buffer, QN_MAP_WRITE, (void **)&host));
    memcpy(host, "hostside", 8);
    assert_fails(context, qn_buffer_read(buffer, 0, out, 8), QN_ERROR_STATE, "mapped for writing");
    assert_ok(context, qn_buffer_unmap(buffer));
    assert_int_equal(qn_buffer_get_state(buffer), QN_BUFFER_HOST);
    assert_ok(context, qn_buffer_read(buffer, 0, out, 8)); /* goes over now */
    assert_memory_equal(out, "hostside", 8);
    assert_int_equal(qn_buffer_get_state(buffer), QN_BUFFER_BOTH);
    assert_ok(context, qn_buffer_write(buffer, 0, "new", 3));
    assert_int_equal(qn_buffer_get_state(buffer), QN_BUFFER_DEVICE_NEWER);
    assert_fails(context, qn_buffer_unmap(buffer), QN_ERROR_STATE, "not mapped");
    void *pointer;
    assert_fails(context, qn_buffer_map(buffer, (qn_map_access)9, &pointer), QN_ERROR_ARGUMENT, "access 9");
    qn_context_destroy(context);
}

/* The device's memory is the null device's own. What is not mapped for writing stays as it is there. */
static void ranges_are_mapped_by_themselves(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, "null");
    qn_buffer *buffer = make_buffer(device, 12, "abcdefghijkl");
    char *host, *other, out[12];
    assert_ok(context, qn_buffer_map_range(buffer, QN_MAP_WRITE, 2, 2, (void **)&host));
    memcpy(host, "CD", 2);
    assert_ok(context, qn_buffer_map_range(buffer, QN_MAP_READ_WRITE, 3, 3, (void **)&other));
    assert_memory_equal(other, "Def", 3); /* what the first wrote, and the device's */
    other[2] = 'F';
    assert_int_equal(qn_buffer_get_state(buffer), QN_BUFFER_DEVICE_NEWER);
    assert_ok(context, qn_buffer_unmap(buffer));
    assert_ok(context, qn_buffer_unmap(buffer));
    assert_int_equal(qn_buffer_get_state(buffer), QN_BUFFER_HOST);
    assert_ok(context, qn_buffer_map_range(buffer, QN_MAP_WRITE, 9, 1, (void **)&host));
    *host = 'J';
    assert_ok(context, qn_buffer_unmap(buffer));
    assert_ok(context, qn_buffer_read(buffer, 0, out, 12));
    assert_memory_equal(out, "abCDeFghiJkl", 12);
    assert_int_equal(qn_buffer_get_state(buffer), QN_BUFFER_DEVICE_NEWER); /* the host has parts */
    assert_ok(context, qn_buffer_map(buffer, QN_MAP_READ, (void **)&host));
    assert_memory_equal(host, "abCDeFghiJkl", 12);
    assert_ok(context, qn_buffer_unmap(buffer));
    assert_int_equal(qn_buffer_get_state(buffer), QN_BUFFER_BOTH);
    assert_ok(context, qn_buffer_write(buffer, 0, "A", 1));
    assert_ok(context, qn_buffer_map_range(buffer, QN_MAP_READ, 0, 3, (void **)&host));
    assert_memory_equal(host, "AbC", 3);
    assert_ok(context, qn_buffer_unmap(buffer));
    qn_context_destroy(context);
}

static void maps_on_streams(void **state) {
    (void)state;
    fixture f =
        make_fixture(test_device(), "kernel void f(global int *a) { a[get_global_id(0)] += 1; }", "f");
    enum { COUNT = 100000 };
    qn_buffer *buffer = make_buffer(f.device, COUNT * sizeof(int), NULL), *view;
    qn_stream *stream;
    int *host, *first;
    assert_ok(f.context, qn_stream_create(f.device, &stream));
    assert_ok(f.context, qn_buffer_view(buffer, 400, 4000, &view));
    for (int round = 1; round < 4; round++) {
        assert_ok(f.context, qn_launch(stream, f.kernel, QN_RANGE(COUNT), QN_ARGS(buffer)));
        assert_ok(f.context, qn_stream_map(stream, buffer, QN_MAP_READ, 4, 8, (void **)&first));
        assert_ok(f.context, qn_stream_map(stream, view, QN_MAP_READ_WRITE, 400, 40, (void **)&host));
        assert_fails(f.context, qn_launch(stream, f.kernel, QN_RANGE(1), QN_ARGS(buffer)), QN_ERROR_STATE,
                     "mapped for writing");
        assert_ok(f.context, qn_stream_wait(stream, QN_FOREVER));
        assert_int_equal(first[0], round);
        assert_int_equal(first[1], round);
        for (int i = 0; i < 10; i++) {
            assert_int_equal(host[i], round + 100 * (round - 1));
            host[i] += 100;
        }
        assert_ok(f.context, qn_buffer_unmap(buffer));
        assert_ok(f.context, qn_buffer_unmap(view));
    }
    int got[12];
    assert_ok(f.context, qn_buffer_read(buffer, 796, got, sizeof got));
    assert_int_equal(got[0], 3);
    for (int i = 0; i < 10; i++) assert_int_equal(got[1 + i], 303);
    assert_int_equal(got[11], 3);
    assert_fails(f.context, qn_stream_map(stream, buffer, QN_MAP_READ, COUNT * 4, 1, (void **)&host),
                 QN_ERROR_RANGE, "qn_stream_map: 1 bytes at 400000");
    assert_ok(f.context, qn_graph_begin(stream));
    assert_fails(f.context, qn_stream_map(stream, buffer, QN_MAP_READ, 0, 1, (void **)&host), QN_ERROR_STATE,
                 "cannot be recorded in a graph");
    qn_graph *graph;
    assert_ok(f.context, qn_graph_end(stream, &graph));
    qn_device *null = get_device(f.context, "null");
    assert_fails(f.context, qn_stream_map(qn_device_stream(null), buffer, QN_MAP_READ, 0, 1, (void **)&host),
                 QN_ERROR_WRONG_CONTEXT, "of another device");
    qn_context_destroy(f.context);
}

/* Where memory is shared there is no second copy on the host. */
static void maps_see_what_kernels_write(void **state) {
    (void)state;
    fixture f =
        make_fixture(test_device(), "kernel void f(global int *a) { a[get_global_id(0)] += 1; }", "f");
    qn_buffer *buffer = make_buffer(f.device, 400, NULL);
    int *host;
    assert_ok(f.context, qn_buffer_map(buffer, QN_MAP_WRITE, (void **)&host));
    for (int i = 0; i < 100; i++) host[i] = i;
    assert_fails(f.context, qn_launch(NULL, f.kernel, QN_RANGE(100), QN_ARGS(buffer)), QN_ERROR_STATE,
                 "mapped");
    assert_ok(f.context, qn_buffer_unmap(buffer));
    assert_ok(f.context, qn_launch(NULL, f.kernel, QN_RANGE(100), QN_ARGS(buffer)));
    assert_ok(f.context, qn_buffer_map(buffer, QN_MAP_READ, (void **)&host)); /* waits for the kernel */
    for (int i = 0; i < 100; i++) assert_int_equal(host[i], i + 1);
    qn_memory_stats stats;
    assert_ok(f.context, qn_device_memory(f.device, &stats));
    qn_device_info info;
    assert_ok(f.context, qn_device_get_info(f.device, &info));
    assert_int_equal(stats.host, info.capabilities & QN_CAN_SHARE_MEMORY ? 0 : 400);
    qn_context_destroy(f.context);
}

static void memory_is_counted(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, test_device());
    qn_buffer *a = make_buffer(device, 1000, NULL), *b = make_buffer(device, 500, NULL);
    qn_memory_stats stats;
    assert_ok(context, qn_device_memory(device, &stats));
    assert_int_equal(stats.used, 1500);
    assert_int_equal(stats.buffers, 2);
    qn_buffer_destroy(a);
    assert_ok(context, qn_device_memory(device, &stats));
    assert_int_equal(stats.used, 500);
    assert_int_equal(stats.peak, 1500);
    qn_buffer_destroy(b);
    assert_ok(context, qn_device_trim(device));
    qn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contents_go_there_and_back),          cmocka_unit_test(views_share_the_memory),
        cmocka_unit_test(ranges_are_checked_without_overflow), cmocka_unit_test(maps_copy_only_when_needed),
        cmocka_unit_test(ranges_are_mapped_by_themselves),     cmocka_unit_test(maps_on_streams),
        cmocka_unit_test(maps_see_what_kernels_write),         cmocka_unit_test(memory_is_counted),
    };
    return run_device_tests(tests);
}
