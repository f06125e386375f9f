/* OpenCL through the public API, on the fake driver (tests/fake): what the disk cache keeps of a driver whose binaries
   are PTX, with the fake CUDA driver for the linker; and failures that no real driver gives when asked. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "api_support.h"
#include "fake_opencl.h"
#include "find_fake.h"

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
    if (!find_fake_opencl(&cl)) fail_msg("libOpenCL.so.1 is not the fake one (LD_LIBRARY_PATH)");
    return find_fake(state);
}

static int make_place(void **state) {
    (void)state;
    snprintf(place, sizeof place, "/tmp/quern-opencl-XXXXXX");
    cl.reset();
    fake.reset();
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
    long texts;  /* made PTX by OpenCL's driver */
    long ptx;    /* made machine code by it */
    long linked; /* made machine code by CUDA's */
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
    assert_int_equal(fake.live(FAKE_CONTEXTS), 0);
    assert_int_equal(fake.live(FAKE_LINKS), 0);
    assert_int_equal(fake.depth(), 0);
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
    counts c = {-cl.translated(), -cl.assembled(), -fake.count("cuLinkComplete"), false};
    qn_program_times times;
    rig r = open_rig();
    assert_ok(r.context, qn_program_get_times(r.program, &times));
    if (launches) launch_both(&r);
    close_rig(&r);
    c.texts += cl.translated();
    c.ptx += cl.assembled();
    c.linked += fake.count("cuLinkComplete");
    c.from_cache = times.from_cache;
    return c;
}

#define assert_start(launches, ...)                                                                          \
    do {                                                                                                     \
        counts c_ = count_start(launches), wanted_ = {__VA_ARGS__};                                          \
        if (c_.texts != wanted_.texts || c_.ptx != wanted_.ptx || c_.linked != wanted_.linked ||             \
            c_.from_cache != wanted_.from_cache)                                                             \
            fail_msg("%ld texts, %ld times PTX, %ld linked, from the cache: %d", c_.texts, c_.ptx,           \
                     c_.linked, c_.from_cache);                                                              \
    } while (0)

/* ---- the cache ---- */

static void second_start_compiles_nothing(void **state) {
    (void)state;
    assert_start(false, .texts = 1, .ptx = 1, .linked = 1);
    assert_start(false, .from_cache = true);
    assert_int_equal(cl.count("clCreateProgramWithBinary"), 2);
}

static void smaller_groups_are_kept_too(void **state) {
    (void)state;
    assert_start(true, .texts = 2, .ptx = 2, .linked = 2);
    assert_start(true, .from_cache = true);
    assert_start(false, .from_cache = true);
}

/* They are asked for when the file is there already. */
static void smaller_groups_are_added(void **state) {
    (void)state;
    assert_start(false, .texts = 1, .ptx = 1, .linked = 1);
    assert_start(true, .texts = 1, .ptx = 1, .linked = 1, .from_cache = true);
    assert_start(true, .from_cache = true);
}

/* Then the driver compiles at the second start too, and that is told; the link is tried again. */
static void what_cannot_be_linked_stays_ptx(void **state) {
    static const struct {
        const char *function;
        int result;
        bool completes; /* the linker was there, and made it */
    } faults[] = {{"cuInit", 100, false},
                  {"cuDeviceGetCount", 100, false},
                  {"cuDeviceGetUuid_v2", 1, false},
                  {"cuDevicePrimaryCtxRetain", 2, false},
                  {"cuCtxPushCurrent_v2", 2, false},
                  {"cuLinkCreate_v2", 2, false},
                  {"cuLinkAddData_v2", 218, false},
                  {"cuLinkComplete", 218, true}};
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        fake.fault(faults[i].function, 1, faults[i].result);
        assert_start(false, .texts = 1, .ptx = 1, .linked = faults[i].completes);
        fake.fault(faults[i].function, 1, faults[i].result);
        assert_start(false, .ptx = 1, .linked = faults[i].completes);
        assert_start(false, .linked = 1);
        assert_start(true, .texts = 1, .ptx = 1, .linked = 1, .from_cache = true);
        assert_start(true, .from_cache = true);
        remove_place(NULL);
        make_place(NULL);
    }
}

/* What OpenCL does not take, or what lacks a kernel, is not kept. */
static void refused_machine_code_is_not_kept(void **state) {
    static const struct {
        const char *function;
        int result;
    } faults[] = {{"clCreateProgramWithBinary", -42}, {"clCreateKernel", -46}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        cl.fault(faults[i].function, 1, faults[i].result);
        assert_start(false, .texts = 1, .ptx = 1, .linked = 1);
        cl.fault(faults[i].function, 1, faults[i].result);
        assert_start(false, .ptx = 1, .linked = 1);
        assert_start(false, .linked = 1);
        assert_start(false, .from_cache = true);
        remove_place(NULL);
        make_place(NULL);
    }
}

static void a_refused_binary_is_built_anew(void **state) {
    (void)state;
    assert_start(true, .texts = 2, .ptx = 2, .linked = 2);
    cl.fault("clCreateProgramWithBinary", 1, -42);
    assert_start(false, .texts = 1, .ptx = 1, .linked = 1);
    assert_start(true, .texts = 1, .ptx = 1, .linked = 1, .from_cache = true);
    cl.fault("clCreateProgramWithBinary", 2, -42);
    assert_start(true, .texts = 1, .ptx = 1, .linked = 1, .from_cache = true);
    assert_start(true, .from_cache = true);
}

/* Without a cache nothing is linked, and a driver that gives no binary has none in it. */
static void nothing_to_keep(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        cl.fault("clGetProgramInfo", 1 + i, -5);
        assert_start(false, .texts = 1, .ptx = 1);
    }
    fake.reset();
    rig r = {.context = make_context(&(qn_context_desc){.disable_cache = true})};
    r.device = get_device(r.context, "opencl:0");
    r.program = make_program(r.device, source);
    launch_both(&r);
    close_rig(&r);
    assert_int_equal(fake.count("cuInit"), 0);
}

/* What the linker has on the device is given back where memory is short, and opened again for the next program. */
static void memory_comes_before_the_linker(void **state) {
    static const char *const functions[] = {"clCreateBuffer", "clEnqueueFillBuffer"};
    (void)state;
    rig r = open_rig();
    for (int i = 0; i < 2; i++) {
        assert_int_equal(fake.live(FAKE_CONTEXTS), 1);
        cl.fault(functions[i], 1, -4);
        make_buffer(r.device, 256, NULL);
        assert_int_equal(fake.live(FAKE_CONTEXTS), 0);
        make_program(r.device, i ? "kernel void f(void) {}" : "kernel void g(void) {}");
    }
    assert_int_equal(fake.live(FAKE_CONTEXTS), 1);
    assert_ok(r.context, qn_device_trim(r.device));
    assert_int_equal(fake.live(FAKE_CONTEXTS), 0);
    close_rig(&r);
}

static void *make_one(void *user) {
    const rig *r = user;
    static atomic_int number;
    char text[64];
    snprintf(text, sizeof text, "kernel void f%d(void) {}", atomic_fetch_add(&number, 1));
    make_program(r->device, text);
    return NULL;
}

static void threads_share_the_linker(void **state) {
    (void)state;
    pthread_t threads[8];
    rig r = {.context = make_context(&(qn_context_desc){.cache_dir = place})};
    r.device = get_device(r.context, "opencl:0");
    for (int i = 0; i < 8; i++) assert_int_equal(pthread_create(&threads[i], NULL, make_one, &r), 0);
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
    assert_int_equal(fake.count("cuDevicePrimaryCtxRetain"), 1);
    assert_int_equal(fake.count("cuLinkComplete"), 8);
    close_rig(&r);
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_place, remove_place)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(second_start_compiles_nothing),
        TEST(smaller_groups_are_kept_too),
        TEST(smaller_groups_are_added),
        TEST(what_cannot_be_linked_stays_ptx),
        TEST(refused_machine_code_is_not_kept),
        TEST(a_refused_binary_is_built_anew),
        TEST(nothing_to_keep),
        TEST(memory_comes_before_the_linker),
        TEST(threads_share_the_linker),
        TEST(a_text_that_does_not_build_is_explained),
        TEST(a_late_build_that_fails_is_the_launchs_failure),
        TEST(an_event_needs_a_queue_with_time),
    };
    return cmocka_run_group_tests(tests, find_fakes, NULL);
}
