/* What the API's tests share: a context that fails the test when it cannot be made, and checks of status and
   message. */
#ifndef API_SUPPORT_H
#define API_SUPPORT_H

#include <quern/quern.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The call must give `wanted`, and the message must contain `part`. */
#define assert_fails(context, call, wanted, part)                                                            \
    do {                                                                                                     \
        qn_status status_ = (call);                                                                          \
        if (status_ != (wanted)) fail_msg("%s gave %s", #call, qn_status_name(status_));                     \
        if (!strstr(qn_error_message(context), part))                                                        \
            fail_msg("%s said: %s", #call, qn_error_message(context));                                       \
    } while (0)

#define assert_ok(context, call)                                                                             \
    do {                                                                                                     \
        qn_status status_ = (call);                                                                          \
        if (status_) fail_msg("%s gave %s: %s", #call, qn_status_name(status_), qn_error_message(context));  \
    } while (0)

static inline qn_context *make_context(const qn_context_desc *desc) {
    qn_context *context;
    assert_int_equal(qn_context_create(desc, &context), QN_OK);
    return context;
}

static inline qn_device *get_device(qn_context *context, const char *name) {
    qn_device *device;
    assert_ok(context, qn_device_get(context, name, &device));
    return device;
}

/* NVIDIA's OpenCL gives text as binaries, which it compiles at each start. */
static inline bool keeps_machine_code(qn_device *device) {
    qn_device_info info;
    return qn_device_get_info(device, &info) || !strstr(info.driver, "NVIDIA CUDA");
}

/* With its final code: what tests measure and count does not depend on how fast a C compiler is. */
static inline qn_program *make_program(qn_device *device, const char *source) {
    qn_program *program;
    assert_ok(qn_device_context(device),
              qn_program_create(device, &(qn_program_desc){.source = source}, &program));
    assert_ok(qn_device_context(device), qn_program_wait(program, QN_FOREVER));
    return program;
}

static inline qn_kernel *make_kernel(qn_program *program, qn_context *context, const char *name) {
    qn_kernel *kernel;
    assert_ok(context, qn_kernel_create(program, name, &kernel));
    return kernel;
}

static inline qn_buffer *make_buffer(qn_device *device, uint64_t size, const void *data) {
    qn_buffer *buffer;
    assert_ok(qn_device_context(device),
              qn_buffer_create(device, &(qn_buffer_desc){.size = size, .data = data}, &buffer));
    return buffer;
}

/* The device under test: $QUERN_DEVICE, or the processor. */
static inline const char *test_device(void) {
    const char *name = getenv("QUERN_DEVICE");
    return name && name[0] ? name : "cpu";
}

static inline bool testing(const char *kind) { return strncmp(test_device(), kind, strlen(kind)) == 0; }

/* Whether it has these capabilities (QN_CAN_*); says so when not. */
static inline bool device_can(uint32_t bits, const char *what) {
    qn_context *context = make_context(NULL);
    qn_device_info info;
    assert_ok(context, qn_device_get_info(get_device(context, test_device()), &info));
    bool can = (info.capabilities & bits) == bits;
    if (!can) print_message("skipped: %s has no %s\n", info.name, what);
    qn_context_destroy(context);
    return can;
}

enum { TEST_SKIPPED = 77 }; /* exit status for CTest */

/* Says why when the device under test is not there. Asked in a process of its own: what a driver leaves behind
   would be in the way of tests that fork. */
static inline bool device_is_missing(void) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        qn_context *context = NULL;
        qn_device *device = NULL;
        if (qn_context_create(NULL, &context) || qn_device_get(context, test_device(), &device))
            printf("skipped: %s\n", qn_error_message(context));
        fflush(stdout);
        _exit(device ? 0 : TEST_SKIPPED);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == TEST_SKIPPED;
}

/* What keeps_machine_code denies of the device under test, asked in the same way. */
static inline bool text_is_kept(void) {
    const pid_t child = fork();
    if (child == 0) {
        qn_context *context = NULL;
        qn_device *device = NULL;
        const bool is_there =
            !qn_context_create(NULL, &context) && !qn_device_get(context, test_device(), &device);
        _exit(is_there && !keeps_machine_code(device));
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status);
}

#define run_device_tests(tests)                                                                              \
    (device_is_missing() ? TEST_SKIPPED : cmocka_run_group_tests(tests, NULL, NULL))

static inline double test_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A kernel on a device of a context of its own; every test starts from one of these. */
typedef struct fixture {
    qn_context *context;
    qn_device *device;
    qn_program *program;
    qn_kernel *kernel;
} fixture;

static inline fixture make_fixture(const char *device, const char *source, const char *kernel) {
    fixture f;
    f.context = make_context(NULL);
    f.device = get_device(f.context, device);
    f.program = make_program(f.device, source);
    f.kernel = make_kernel(f.program, f.context, kernel);
    return f;
}

/* A kernel that runs for as long as one wants, on any device. */
#define SPIN_SOURCE                                                                                          \
    "kernel void spin(global volatile int *a, int n) {\n"                                                    \
    "    for (int i = 0; i < n; i++) a[0] = a[0] * 3 + i;\n"                                                 \
    "}\n"

/* On Vulkan and WebGPU in pieces, one behind the other in the stream: Mesa's software driver ends a work-item's loops after
   65,535 turns in all. */
static inline qn_status spin(const fixture *f, qn_stream *stream, qn_buffer *buffer, int count) {
    const int most = testing("vulkan") || testing("webgpu") ? 32768 : INT32_MAX;
    qn_status status = QN_OK;
    for (int left = count; left > 0 && !status; left -= left < most ? left : most)
        status = qn_launch(stream, f->kernel, QN_RANGE(1), QN_ARGS(buffer, left < most ? left : most));
    return status;
}

static inline double spin_seconds(const fixture *f, qn_buffer *buffer, int count) {
    double start = test_seconds();
    assert_ok(f->context, spin(f, NULL, buffer, count));
    assert_ok(f->context, qn_device_wait(f->device, QN_FOREVER));
    return test_seconds() - start;
}

/* The count that makes the fixture's kernel spin for about that long. The first launch does not count: some
   drivers compile then. Nor does what other programs take away: the shortest of several times is taken. */
static inline int spin_for(const fixture *f, double seconds) {
    qn_buffer *buffer = make_buffer(f->device, 4, NULL);
    double took = 0;
    int count = 500;
    spin_seconds(f, buffer, 1);
    while (took < 0.02 && count < 500000000) took = spin_seconds(f, buffer, count *= 2);
    for (int i = 0; i < 3; i++) {
        double again = spin_seconds(f, buffer, count);
        if (again < took) took = again;
    }
    qn_buffer_destroy(buffer);
    double wanted = count * (seconds / took);
    return wanted < 2e9 ? (int)wanted : 2000000000;
}

#endif
