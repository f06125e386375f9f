/* OpenCL through the public API, on the fake driver (tests/fake): what the disk cache keeps of a driver whose binaries
   are PTX; and failures that no real driver gives when asked. */
#include <stdlib.h>
#include <unistd.h>

#include "api_support.h"
#include "fake_opencl.h"

static fake_opencl cl;

static const char source[] = "kernel void fill(global uint *p, uint value) { p[get_global_id(0)] = value; }\n"
                             "kernel __attribute__((reqd_work_group_size(8, 1, 1)))\n"
                             "void turn(global int *a, local int *t) {\n"
                             "    int l = get_local_id(0);\n"
                             "    t[l] = a[get_global_id(0)];\n"
                             "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                             "    a[get_global_id(0)] = t[get_local_size(0) - 1 - l];\n"
                             "}\n";

static char place[64];

static int find_fakes(void **state) {
    (void)state;
    if (!find_fake_opencl(&cl)) fail_msg("libOpenCL.so.1 is not the fake one (LD_LIBRARY_PATH)");
    return 0;
}

static int make_place(void **state) {
    (void)state;
    snprintf(place, sizeof place, "/tmp/quern-opencl-XXXXXX");
    cl.reset();
    return mkdtemp(place) ? 0 : -1;
}

static int remove_place(void **state) {
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", place);
    return system(command);
}

/* ---- a start: a context, the program, a launch of each kernel ---- */

typedef struct counts {
    long texts; /* made PTX by OpenCL's driver */
    long ptx;   /* made machine code by it */
    bool from_cache;
} counts;

typedef struct rig {
    qn_context *context;
    qn_device *device;
    qn_program *program;
} rig;

static rig open_rig(void) {
    rig r = {.context = make_context(&(qn_context_desc){.cache_dir = place})};
    r.device = get_device(r.context, "opencl:0");
    r.program = make_program(r.device, source);
    return r;
}

static void close_rig(rig *r) {
    qn_context_destroy(r->context);
    assert_int_equal(cl.live(), 0);
    assert_int_equal(cl.warned(), 0);
}

/* The global size of `turn` leaves a smaller group at the end. */
static void launch_both(const rig *r) {
    qn_buffer *buffer = make_buffer(r->device, 256, NULL);
    qn_kernel *fill = make_kernel(r->program, r->context, "fill");
    qn_kernel *turn = make_kernel(r->program, r->context, "turn");
    assert_ok(r->context, qn_launch(NULL, fill, QN_RANGE(20), QN_ARGS(buffer, 1)));
    assert_ok(r->context, qn_launch(NULL, turn, QN_RANGE(20), QN_ARGS(buffer, qn_arg_local(32))));
    assert_ok(r->context, qn_stream_wait(qn_device_stream(r->device), QN_FOREVER));
}

static counts count_start(bool launches) {
    counts c = {-cl.translated(), -cl.assembled(), false};
    qn_program_times times;
    rig r = open_rig();
    assert_ok(r.context, qn_program_get_times(r.program, &times));
    if (launches) launch_both(&r);
    close_rig(&r);
    c.texts += cl.translated();
    c.ptx += cl.assembled();
    c.from_cache = times.from_cache;
    return c;
}

#define assert_start(launches, ...)                                                                          \
    do {                                                                                                     \
        counts c_ = count_start(launches), wanted_ = {__VA_ARGS__};                                          \
        if (c_.texts != wanted_.texts || c_.ptx != wanted_.ptx || c_.from_cache != wanted_.from_cache)       \
            fail_msg("%ld texts, %ld times PTX, from the cache: %d", c_.texts, c_.ptx, c_.from_cache);       \
    } while (0)

/* ---- the cache ---- */

/* The text is not translated again; PTX is made machine code by the driver, and that is told. */
static void second_start_translates_nothing(void **state) {
    (void)state;
    assert_start(false, .texts = 1, .ptx = 1);
    assert_start(false, .ptx = 1);
    assert_int_equal(cl.count("clCreateProgramWithBinary"), 1);
}

static void smaller_groups_are_kept_too(void **state) {
    (void)state;
    assert_start(true, .texts = 2, .ptx = 2);
    assert_start(true, .ptx = 2);
    assert_start(false, .ptx = 1);
}

/* They are asked for when the file is there already. */
static void smaller_groups_are_added(void **state) {
    (void)state;
    assert_start(false, .texts = 1, .ptx = 1);
    assert_start(true, .texts = 1, .ptx = 2);
    assert_start(true, .ptx = 2);
}

static void a_refused_binary_is_built_anew(void **state) {
    (void)state;
    assert_start(true, .texts = 2, .ptx = 2);
    cl.fault("clCreateProgramWithBinary", 1, -42);
    assert_start(false, .texts = 1, .ptx = 1);
    assert_start(true, .texts = 1, .ptx = 2);
    assert_start(true, .ptx = 2);
}

/* A driver that gives no binary has none in the cache. */
static void nothing_to_keep(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        cl.fault("clGetProgramInfo", 1 + i, -5);
        assert_start(false, .texts = 1, .ptx = 1);
    }
}

/* ---- failures ---- */

static void a_text_that_does_not_build_is_explained(void **state) {
    (void)state;
    rig r = open_rig();
    assert_fails(r.context,
                 qn_program_create(r.device, &(qn_program_desc){.source = "kernel void refused(void) {}"},
                                   &(qn_program *){0}),
                 QN_ERROR_DRIVER,
                 "cannot compile refused: CL_BUILD_PROGRAM_FAILURE: <kernel>:1:2: error: the fake driver "
                 "refuses this");
    cl.fault("clBuildProgram", 1, -6);
    assert_fails(r.context,
                 qn_program_create(r.device, &(qn_program_desc){.source = "kernel void f(void) {}"},
                                   &(qn_program *){0}),
                 QN_ERROR_OUT_OF_MEMORY, "CL_OUT_OF_HOST_MEMORY");
    close_rig(&r);
}

/* The build for smaller groups comes at a launch. */
static void a_late_build_that_fails_is_the_launchs_failure(void **state) {
    (void)state;
    rig r = open_rig();
    qn_buffer *buffer = make_buffer(r.device, 256, NULL);
    qn_kernel *turn = make_kernel(r.program, r.context, "turn");
    cl.fault("clBuildProgram", 1, -11);
    assert_fails(r.context, qn_launch(NULL, turn, QN_RANGE(20), QN_ARGS(buffer, qn_arg_local(32))),
                 QN_ERROR_DRIVER, "cannot compile fill, turn");
    assert_ok(r.context, qn_launch(NULL, turn, QN_RANGE(20), QN_ARGS(buffer, qn_arg_local(32))));
    assert_ok(r.context, qn_stream_wait(qn_device_stream(r.device), QN_FOREVER));
    close_rig(&r);
}

/* The queue that tells the time is made for the first event. */
static void an_event_needs_a_queue_with_time(void **state) {
    static const char *const functions[] = {"clCreateCommandQueue", "clEnqueueMarkerWithWaitList",
                                            "clEnqueueBarrierWithWaitList"};
    (void)state;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        rig r = open_rig();
        qn_event *event;
        assert_ok(r.context, qn_event_create(r.device, &event));
        launch_both(&r);
        cl.fault(functions[i], 1, -5);
        assert_fails(r.context, qn_stream_record(qn_device_stream(r.device), event), QN_ERROR_DRIVER,
                     "an event: the driver says CL_OUT_OF_RESOURCES");
        assert_ok(r.context, qn_stream_record(qn_device_stream(r.device), event));
        assert_ok(r.context, qn_event_wait(event, QN_FOREVER));
        launch_both(&r);
        close_rig(&r);
    }
}

/* CL_DEVICE_NOT_AVAILABLE: the driver's context beside the old one works, and the old one goes with quern's. */
static void a_lost_device_is_opened_again(void **state) {
    enum { NOT_AVAILABLE = -2 };
    (void)state;
    int host[16] = {0};
    rig r = open_rig();
    qn_buffer *before = make_buffer(r.device, sizeof host, NULL);
    qn_event *reached;
    bool done = false;
    assert_fails(r.context, qn_device_reopen(r.device), QN_ERROR_STATE, "opencl:0 is not lost");
    assert_ok(r.context, qn_event_create(r.device, &reached));
    assert_ok(r.context, qn_stream_record(NULL, reached));
    assert_ok(r.context, qn_event_wait(reached, QN_FOREVER));
    cl.fault("clEnqueueFillBuffer", 1, NOT_AVAILABLE);
    assert_fails(r.context, qn_stream_fill(NULL, before, 0, sizeof host, host, 4), QN_ERROR_DEVICE_LOST,
                 "stopped");
    assert_ok(r.context, qn_device_reopen(r.device));
    assert_fails(r.context, qn_buffer_read(before, 0, host, sizeof host), QN_ERROR_DEVICE_LOST, "stopped");
    assert_fails(r.context, qn_event_wait(reached, 0), QN_ERROR_DEVICE_LOST, "stopped");
    assert_fails(r.context, qn_event_done(reached, &done), QN_ERROR_DEVICE_LOST, "stopped");
    assert_true(done);
    assert_fails(r.context, qn_stream_fill(qn_device_stream(r.device), before, 0, sizeof host, host, 4),
                 QN_ERROR_DEVICE_LOST, "lost and opened again");
    qn_buffer *buffer = make_buffer(r.device, sizeof host, NULL);
    assert_ok(r.context, qn_stream_fill(NULL, buffer, 0, sizeof host, &(int){9}, 4));
    assert_ok(r.context, qn_buffer_read(buffer, 0, host, sizeof host));
    assert_int_equal(host[15], 9);
    r.program = make_program(r.device, source);
    launch_both(&r);
    close_rig(&r);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_place, remove_place)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(second_start_translates_nothing),
        TEST(smaller_groups_are_kept_too),
        TEST(smaller_groups_are_added),
        TEST(a_refused_binary_is_built_anew),
        TEST(nothing_to_keep),
        TEST(a_text_that_does_not_build_is_explained),
        TEST(a_late_build_that_fails_is_the_launchs_failure),
        TEST(a_lost_device_is_opened_again),
        TEST(an_event_needs_a_queue_with_time),
    };
    return cmocka_run_group_tests(tests, find_fakes, NULL);
}
