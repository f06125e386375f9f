/* Host memory that devices work with: pinned. */
#include "api_support.h"

static const char add_source[] = "kernel void add(global int *a, int n) { a[get_global_id(0)] += n; }\n";

/* ---- pinned ---- */

static void pinned_memory_goes_there_and_back(void **state) {
    (void)state;
    enum { COUNT = 3 << 20 };
    fixture f = make_fixture(test_device(), add_source, "add");
    qn_buffer *buffer = make_buffer(f.device, COUNT * sizeof(int), NULL);
    int *host, *part;
    assert_ok(f.context, qn_host_alloc(f.device, COUNT * sizeof(int), (void **)&host));
    assert_ok(f.context, qn_host_alloc(f.device, 100, (void **)&part));
    assert_int_equal((uintptr_t)host % 64, 0);
    assert_int_equal((uintptr_t)part % 64, 0);
    for (int i = 0; i < COUNT; i++) {
        if (host[i]) fail_msg("it is not zeroed");
        host[i] = i;
    }
    assert_ok(f.context, qn_stream_write(NULL, buffer, 0, host, COUNT * sizeof(int)));
    assert_ok(f.context, qn_launch(NULL, f.kernel, QN_RANGE(COUNT), QN_ARGS(buffer, 5)));
    assert_ok(f.context, qn_stream_read(NULL, buffer, 40, part + 1, 80)); /* behind work, and odd */
    assert_ok(f.context, qn_stream_read(NULL, buffer, 0, host, COUNT * sizeof(int)));
    assert_ok(f.context, qn_stream_wait(qn_device_stream(f.device), QN_FOREVER));
    for (int i = 0; i < COUNT; i++)
        if (host[i] != i + 5) fail_msg("%d: %d", i, host[i]);
    for (int i = 0; i < 20; i++) assert_int_equal(part[1 + i], i + 15);
    part[24] = -1;
    assert_ok(f.context, qn_buffer_write(buffer, 8, part + 24, 4)); /* the blocking ones, too */
    assert_ok(f.context, qn_buffer_read(buffer, 4, host, 8));
    assert_int_equal(host[0], 6);
    assert_int_equal(host[1], -1);
    qn_host_free(f.device, host);
    qn_context_destroy(f.context);
}

static void wrong_uses_of_pinned_memory_are_told(void **state) {
    (void)state;
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, test_device());
    void *host = &host;
    assert_fails(context, qn_host_alloc(device, 0, &host), QN_ERROR_RANGE, "qn_host_alloc: the size is 0");
    assert_null(host);
    assert_fails(context, qn_host_alloc(device, 16, NULL), QN_ERROR_NULL, "memory");
    assert_fails(context, qn_host_alloc(device, (uint64_t)1 << 62, &host), QN_ERROR_OUT_OF_MEMORY,
                 "qn_host_alloc: 4611686018427387904 bytes on");
    assert_ok(context, qn_host_alloc(device, 16, &host));
    qn_host_free(device, (char *)host + 8);
    assert_non_null(strstr(qn_error_message(context), "is not memory that qn_host_alloc gave"));
    qn_host_free(device, host);
    qn_host_free(device, NULL);
    qn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pinned_memory_goes_there_and_back),
        cmocka_unit_test(wrong_uses_of_pinned_memory_are_told),
    };
    return run_device_tests(tests);
}
