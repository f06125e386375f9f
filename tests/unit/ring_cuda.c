/* Rings on the fake CUDA driver, whose kernels report nothing: what the driver is asked for, and that a kernel which never comes is
   no reason to hang. */
#include <quern/ring.h>

#include "cuda_rig.h"

static const char loop_text[] =
    "#include \"quern/ring.cl\"\n"
    "kernel void hang(QN_RING_PARAMETERS) {\n"
    "    QN_RING(ring);\n"
    "    while (qn_ring_receive(&ring)) qn_ring_reply(&ring, qn_ring_payload(&ring), 4);\n"
    "}\n";

static void a_kernel_that_never_comes(void **state) {
    (void)state;
    fake.reset();
    qn_context *context = make_context(&no_cache);
    qn_device *device = get_device(context, "cuda:0");
    const qn_ring_desc desc = {.program = {.source = loop_text}, .loop = "hang"};
    qn_ring_desc large = desc;
    qn_ring *ring, *other;
    qn_ring_info info;
    large.groups = 1 << 20;
    assert_fails(context, qn_ring_create(device, &large, &ring), QN_ERROR_LAUNCH_SIZE,
                 "ring 'hang' wants 1048576 work-groups of 1; cuda:0 keeps ");
    assert_ok(context, qn_ring_create(device, &desc, &ring));
    assert_ok(context, qn_ring_get_info(ring, &info));
    assert_int_equal(info.mode, QN_RING_RESIDENT);
    assert_true(info.resident_groups > 0);
    assert_int_equal(fake.count("cuLaunchKernel"), 0);
    assert_fails(context, qn_ring_launch(ring, 5000000), QN_ERROR_TIMEOUT,
                 "qn_ring_launch: not all of the 1 work-groups of ring 'hang' got there in 5000 us");
    assert_int_equal(fake.count("cuLaunchKernel"), 1);
    assert_ok(context, qn_ring_get_info(ring, &info));
    assert_int_equal(info.state, QN_RING_STOPPING);
    assert_fails(context, qn_ring_stop(ring, QN_RING_DROP, 5000000), QN_ERROR_TIMEOUT,
                 "had not ended in 5000 us");
    /* The driver loads no code beside it: rings are made before the first is launched. */
    assert_fails(context, qn_ring_create(device, &desc, &other), QN_ERROR_STATE, "may never end");
    assert_ok(context, qn_device_wait(device, QN_FOREVER));
    fake.release();
    assert_ok(context, qn_ring_stop(ring, QN_RING_DROP, QN_FOREVER));
    assert_ok(context, qn_ring_close(ring, QN_FOREVER));
    qn_context_destroy(context);
    nothing_left();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_kernel_that_never_comes)};
    return cmocka_run_group_tests(tests, find_fake, NULL);
}
