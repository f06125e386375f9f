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

static inline qn_program *make_program(qn_device *device, const char *source) {
    qn_program *program;
    assert_ok(qn_device_context(device),
              qn_program_create(device, &(qn_program_desc){.source = source}, &program));
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

#endif
