/* qn_kernels: a device's shipped kernels. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kernels/op.h"

enum { MAGIC = 0x6b65726e };
enum { KEPT = 64 << 20 }; /* bytes of buffers between kernels */

qn_status qn__op_fail(const qn_kernels *kernels, qn_status status, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return qn_error_set(kernels->context, status, text);
}

static qn_status check_object(const qn_kernels *kernels, const char *function) {
    if (kernels && kernels->magic == MAGIC) return QN_OK;
    char text[128];
    snprintf(text, sizeof text,
             kernels ? "%s: kernels is no object of qn_kernels_create" : "%s: kernels is NULL", function);
    return qn_error_set(NULL, kernels ? QN_ERROR_ARGUMENT : QN_ERROR_NULL, text);
}

qn_status qn__op_check(const qn_kernels *kernels, const void *desc, const char *function) {
    const qn_status status = check_object(kernels, function);
    if (status) return status;
    return desc ? QN_OK : qn__op_fail(kernels, QN_ERROR_NULL, "%s: desc is NULL", function);
}

qn_status qn__op_own(const qn_kernels *kernels, const qn_device *device, const char *function,
                     const char *what) {
    qn_device_info info;
    if (device == kernels->device) return QN_OK;
    if (qn_device_context(device) != kernels->context)
        return qn__op_fail(kernels, QN_ERROR_WRONG_CONTEXT, "%s: %s is of another context than kernels",
                           function, what);
    if (qn_device_get_info((qn_device *)device, &info) || strcmp(info.name, kernels->info.name) == 0)
        return QN_OK;
    return qn__op_fail(kernels, QN_ERROR_WRONG_CONTEXT, "%s: %s is of %s, and kernels of %s", function, what,
                       info.name, kernels->info.name);
}

qn_status qn__op_begin(const qn_kernels *kernels, const qn_stream *stream, const void *desc,
                       const char *function) {
    const qn_status status = qn__op_check(kernels, desc, function);
    if (status || !stream) return status;
    const qn_device *device = qn_stream_device(stream);
    if (!device)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "%s: the stream has been destroyed, or is none",
                           function);
    return qn__op_own(kernels, device, function, "the stream");
}

void *qn__op_allocate(const qn_kernels *kernels, size_t size) {
    void *memory = kernels->allocator.allocate(kernels->allocator.user, size);
    if (!memory) {
        qn__op_fail(kernels, QN_ERROR_OUT_OF_MEMORY, "out of host memory (%zu bytes were wanted)", size);
        return NULL;
    }
    return memset(memory, 0, size);
}

void qn__op_release(const qn_kernels *kernels, void *memory) {
    if (memory) kernels->allocator.release(kernels->allocator.user, memory);
}

qn_status qn_kernels_create_for(uint32_t header, qn_device *device, const qn_kernels_desc *desc,
                                qn_kernels **out) {
    if (out) *out = NULL;
    qn_kernels made = {.magic = MAGIC, .header = header, .device = device};
    qn_status status = qn_device_get_info(device, &made.info);
    if (status) return status;
    made.context = qn_device_context(device);
    if (!out) return qn__op_fail(&made, QN_ERROR_NULL, "qn_kernels_create: kernels is NULL");
    if (header == 0 || header > QN_HEADER_VERSION)
        return qn__op_fail(&made, QN_ERROR_UNSUPPORTED,
                           "qn_kernels_create: the program was built with the header's version %u; this "
                           "libquern_kernels knows 1 to %u",
                           (unsigned)header, (unsigned)QN_HEADER_VERSION);
    status = qn_context_get_allocator(made.context, &made.allocator);
    if (status) return status;
    if (desc && desc->tuning) status = qn__tuning_read(&made, desc->tuning, &made.tuning);
    if (status) return status;
    qn_kernels *kernels = qn__op_allocate(&made, sizeof *kernels);
    if (!kernels) {
        qn__op_release(&made, made.tuning);
        return QN_ERROR_OUT_OF_MEMORY;
    }
    /* New memory of a processor costs a page fault for every few KiB, which is more than to multiply what is packed there. */
    if (made.info.kind == QN_DEVICE_CPU)
        status = qn_memory_pool_create(device, &(qn_memory_pool_desc){.keep = KEPT, .label = "of qn_kernels"},
                                       &made.pool);
    if (status) {
        qn__op_release(&made, made.tuning);
        qn__op_release(&made, kernels);
        return status;
    }
    *kernels = made;
    pthread_mutex_init(&kernels->plan_lock, NULL);
    pthread_mutex_init(&kernels->compile_lock, NULL);
    *out = kernels;
    return QN_OK;
}

void qn_kernels_destroy(qn_kernels *kernels) {
    if (!kernels || check_object(kernels, "qn_kernels_destroy")) return;
    qn__plans_free(kernels);
    qn__compiled_free(kernels);
    qn__op_release(kernels, kernels->tuning);
    qn_memory_pool_destroy(kernels->pool);
    pthread_mutex_destroy(&kernels->plan_lock);
    pthread_mutex_destroy(&kernels->compile_lock);
    kernels->magic = 0;
    qn__op_release(kernels, kernels);
}

qn_device *qn_kernels_device(const qn_kernels *kernels) {
    return check_object(kernels, "qn_kernels_device") ? NULL : kernels->device;
}
