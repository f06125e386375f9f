/* Rings on the fake CUDA driver, whose kernels report nothing: what the driver is asked for, and that a kernel which never comes is
   no reason to hang. */
#include <quern/ring.h>

#include "cuda_rig.h"
#include "ring/internal.h"

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
    assert_fails(
        context, qn_ring_launch(ring, 5000000), QN_ERROR_TIMEOUT,
        "qn_ring_launch: not all of the 1 work-groups of ring 'hang' got there in 5000 us, and none has "
        "begun: "
        "CUDA's driver runs no more kernels that stay, of all rings and streams, than it has connections");
    assert_int_equal(fake.count("cuLaunchKernel"), 1);
    assert_ok(context, qn_ring_get_info(ring, &info));
    assert_int_equal(info.state, QN_RING_STOPPING);
    assert_fails(context, qn_ring_stop(ring, QN_RING_DROP, 5000000), QN_ERROR_TIMEOUT,
                 "had not ended in 5000 us");
    /* The driver loads no code beside it, and it does not leave. */
    assert_fails(context, qn_ring_create(device, &desc, &other), QN_ERROR_STATE, "may never end");
    assert_ok(context, qn_device_wait(device, QN_FOREVER));
    fake.release();
    assert_ok(context, qn_ring_stop(ring, QN_RING_DROP, QN_FOREVER));
    assert_ok(context, qn_ring_close(ring, QN_FOREVER));
    qn_context_destroy(context);
    nothing_left();
}

static uint64_t restarts_of(qn_ring *ring) {
    qn_ring_stats stats;
    assert_int_equal(qn_ring_get_stats(ring, &stats), QN_OK);
    return stats.restarts;
}

/* One that is restarted by its own thread waits for the kernel that has failed, and is in use again however late the next one comes. */
static void a_restart_that_takes_long(void **state) {
    (void)state;
    const struct timespec pause = {.tv_nsec = 1000000};
    fake.reset();
    qn_context *context = make_context(&no_cache);
    const qn_ring_desc desc = {.program = {.source = loop_text}, .loop = "hang"};
    qn_ring *ring;
    assert_ok(context, qn_ring_create(get_device(context, "cuda:0"), &desc, &ring));
    assert_ok(context, qn_ring_supervise(ring, &(qn_ring_supervision){.restarts = 1, .backoff_ns = 1000000}));
    assert_int_equal(qn_ring_launch(ring, 1000000), QN_ERROR_TIMEOUT);
    atomic_store(&ring->state, QN_RING_ACTIVE);                         /* as if it had come, */
    atomic_store(&((qn__ring_group *)(ring->control + 1))->failed, 42); /* and failed at once */
    for (int i = 0; i < 60000 && atomic_load(&ring->state) != QN_RING_FAILED; i++) nanosleep(&pause, NULL);
    for (int i = 0; i < 1200; i++) nanosleep(&pause, NULL); /* it has not ended yet */
    assert_int_equal(atomic_load(&ring->state), QN_RING_FAILED);
    assert_int_equal(fake.count("cuLaunchKernel"), 1);
    fake.release();
    for (int i = 0; i < 60000 && restarts_of(ring) == 0; i++) nanosleep(&pause, NULL);
    assert_int_equal(fake.count("cuLaunchKernel"), 2);
    assert_int_equal(atomic_load(&ring->state), QN_RING_ACTIVE);
    assert_int_equal(restarts_of(ring), 1);
    assert_int_equal(qn_ring_stop(ring, QN_RING_DROP, 1000000), QN_ERROR_TIMEOUT);
    fake.release();
    assert_ok(context, qn_ring_stop(ring, QN_RING_DROP, QN_FOREVER));
    assert_ok(context, qn_ring_close(ring, QN_FOREVER));
    qn_context_destroy(context);
    nothing_left();
}

/* A kernel that has said it runs, and never looks again: with signs of life it goes on, however long that takes. */
static void a_heartbeat_that_stands_still(void **state) {
    (void)state;
    const struct timespec pause = {.tv_nsec = 5000000};
    fake.reset();
    qn_context *context = make_context(&no_cache);
    const qn_ring_desc desc = {.program = {.source = loop_text}, .loop = "hang"};
    int32_t number = 1;
    qn_ring *ring;
    assert_ok(context, qn_ring_create(get_device(context, "cuda:0"), &desc, &ring));
    assert_true(ring->heart.bound_ns >= 10000000000u);
    ring->heart.bound_ns = 40000000;
    assert_int_equal(qn_ring_launch(ring, 1000000), QN_ERROR_TIMEOUT);
    qn__ring_group *group = qn__ring_groups(ring);
    atomic_store(&ring->state, QN_RING_ACTIVE);
    qn__ring_tell(ring, QN__RING_RUN);
    assert_ok(context, qn_ring_send(ring, NULL, &number, sizeof number, 0));
    /* It has not come yet, has a message, looks, has parked, or is paused. */
    const struct {
        uint32_t status, taken, beats, command;
    } rows[] = {{QN__GROUP_ABSENT, 0, 0, QN__RING_RUN},
                {QN__GROUP_RUNNING, 1, 0, QN__RING_RUN},
                {QN__GROUP_RUNNING, 0, 1, QN__RING_RUN},
                {QN__GROUP_PARKED, 0, 0, QN__RING_RUN},
                {QN__GROUP_PAUSED, 0, 0, QN__RING_PAUSE}};
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        atomic_store(&group->status, rows[row].status);
        atomic_store(&group->taken, rows[row].taken);
        qn__ring_tell(ring, rows[row].command);
        for (int i = 0; i < 20; i++) {
            atomic_fetch_add(&group->heartbeat, rows[row].beats);
            assert_ok(context, qn_ring_watch(ring));
            nanosleep(&pause, NULL);
        }
    }
    atomic_store(&group->status, QN__GROUP_RUNNING);
    qn__ring_tell(ring, QN__RING_RUN);
    assert_fails(context, qn_ring_receive(ring, NULL, &number, sizeof number, QN_FOREVER),
                 QN_ERROR_KERNEL_FAILED,
                 "ring 'hang' has failed: its heartbeat has stood still for 0 s, though messages wait");
    fake.release();
    assert_ok(context, qn_ring_close(ring, QN_FOREVER));
    qn_context_destroy(context);
    nothing_left();
}

static void has(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("no '%s' in: %s", part, text);
}

/* By the fake NVML, which knows the first of the GPUs. */
static void the_gpu(void **state) {
    (void)state;
    static char text[20000];
    fake.reset();
    qn_context *context = make_context(&no_cache);
    const qn_ring_desc desc = {.program = {.source = loop_text}, .loop = "hang"};
    qn_ring *ring, *other;
    qn_ring_gpu gpu;
    assert_ok(context, qn_ring_create(get_device(context, "cuda:0"), &desc, &ring));
    assert_fails(context, qn_ring_get_gpu(ring, NULL), QN_ERROR_NULL, "gpu is NULL");
    assert_ok(context, qn_ring_get_gpu(ring, &gpu));
    assert_int_equal(gpu.known, 15);
    assert_true(gpu.memory_total == 1ull << 36 && gpu.memory_used == 1ull << 34);
    assert_int_equal(gpu.utilization, 73);
    assert_int_equal(gpu.memory_utilization, 21);
    assert_int_equal(gpu.temperature, 54);
    assert_int_equal(gpu.power_mw, 312500);
    assert_ok(context, qn_ring_format_stats(ring, QN_RING_JSON, text, sizeof text, NULL));
    has(text, "\"gpu\": {\"memory_used\": 17179869184, \"memory_total\": 68719476736, \"utilization\": 73, "
              "\"memory_utilization\": 21, \"temperature\": 54, \"power_mw\": 312500}}");
    setenv("QN_FAKE_NVML", "no-power", 1);
    assert_ok(context, qn_ring_get_gpu(ring, &gpu));
    assert_int_equal(gpu.known, 7);
    assert_ok(context, qn_ring_format_stats(ring, QN_RING_PROMETHEUS, text, sizeof text, NULL));
    has(text, "quern_ring_gpu_temperature{ring=\"hang\",device=\"cuda:0\"} 54\n");
    assert_null(strstr(text, "power_mw"));
    unsetenv("QN_FAKE_NVML");
    setenv("QN_FAKE_NVML", "no-gpu", 1);
    assert_ok(context, qn_ring_create(get_device(context, "cuda:0"), &desc, &other));
    assert_fails(context, qn_ring_get_gpu(other, &gpu), QN_ERROR_UNSUPPORTED,
                 "nobody tells of cuda:0: NVML does not know it");
    unsetenv("QN_FAKE_NVML");
    assert_ok(context, qn_ring_close(other, QN_FOREVER));
    assert_ok(context, qn_ring_close(ring, QN_FOREVER));
    qn_context_destroy(context);
    nothing_left();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_that_never_comes), cmocka_unit_test(a_restart_that_takes_long),
        cmocka_unit_test(a_heartbeat_that_stands_still), cmocka_unit_test(the_gpu)};
    return cmocka_run_group_tests(tests, find_fake, NULL);
}
