/* A real GPU that is lost by a kernel, and opened again. On CUDA, where a kernel that writes outside of all memory loses the
   device; elsewhere nothing that a test can do is sure to. */
#include "api_support.h"

static const char source[] = "kernel void bad(global int *a, ulong far) { a[far] = 1; }\n"
                             "kernel void put(global int *a, int v) { a[get_global_id(0)] = v; }\n";

static void a_gpu_is_opened_again(void **state) {
    (void)state;
    if (!testing("cuda")) {
        print_message("skipped: no sure way to lose %s\n", test_device());
        return;
    }
    qn_context *context = make_context(NULL);
    qn_device *device = get_device(context, test_device());
    qn_buffer *before = NULL;
    for (int round = 0; round < 3; round++) {
        int host[64] = {0};
        qn_program *program = make_program(device, source);
        qn_kernel *bad = make_kernel(program, context, "bad"), *put = make_kernel(program, context, "put");
        qn_buffer *buffer = make_buffer(device, sizeof host, NULL);
        assert_ok(context, qn_launch(NULL, put, QN_RANGE(64), QN_ARGS(buffer, round + 7)));
        assert_ok(context, qn_buffer_read(buffer, 0, host, sizeof host));
        assert_int_equal(host[63], round + 7);
        if (before)
            assert_fails(context, qn_buffer_read(before, 0, host, 4), QN_ERROR_DEVICE_LOST,
                         "kernel bad failed");
        if (before) qn_buffer_destroy(before);
        assert_ok(context, qn_launch(NULL, bad, QN_RANGE(1), QN_ARGS(buffer, (uint64_t)1 << 44)));
        assert_fails(context, qn_device_wait(device, QN_FOREVER), QN_ERROR_DEVICE_LOST, "kernel bad failed");
        const qn_status status = qn_device_reopen(device);
        if (status == QN_ERROR_DEVICE_LOST) { /* as CUDA documents: "the process must be terminated" */
            print_message("skipped: a new process is wanted: %s\n", qn_error_message(context));
            qn_context_destroy(context);
            return;
        }
        assert_ok(context, status);
        before = buffer;
    }
    qn_context_destroy(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_gpu_is_opened_again)};
    return run_device_tests(tests);
}
