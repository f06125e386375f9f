/* qn_tensors: what the tensors of a device share. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tensor/graph.h"
#include "tensor/plan.h"

enum { MAGIC = 0x74656e73 };

qn_status qn__tensors_fail(const qn_tensors *tensors, qn_status status, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return qn_error_set(tensors ? tensors->context : NULL, status, text);
}

qn_status qn__tensors_check(const qn_tensors *tensors, const char *function) {
    if (tensors && tensors->magic == MAGIC) return QN_OK;
    return tensors ? qn__tensors_fail(NULL, QN_ERROR_ARGUMENT,
                                      "%s: tensors is no object of qn_tensors_create", function)
                   : qn__tensors_fail(NULL, QN_ERROR_NULL, "%s: tensors is NULL", function);
}

void *qn__tensors_allocate(qn_tensors *tensors, size_t size) {
    void *memory = tensors->allocator.allocate(tensors->allocator.user, size);
    if (memory) return memset(memory, 0, size);
    qn__tensors_fail(tensors, QN_ERROR_OUT_OF_MEMORY, "out of host memory (%zu bytes were wanted)", size);
    return NULL;
}

void qn__tensors_release(qn_tensors *tensors, void *memory) {
    if (memory) tensors->allocator.release(tensors->allocator.user, memory);
}

bool qn__reserve(qn_tensors *tensors, void *array, size_t *room, size_t count, size_t size) {
    if (count < *room) return true;
    const size_t wanted = *room ? *room * 2 : 32;
    void *old, *grown = qn__tensors_allocate(tensors, wanted * size);
    if (!grown) return false;
    memcpy(&old, array, sizeof old);
    if (count) memcpy(grown, old, count * size);
    qn__tensors_release(tensors, old);
    memcpy(array, &grown, sizeof grown);
    *room = wanted;
    return true;
}

static qn_status fill_in(qn_tensors *made, uint32_t header, qn_device *device, const qn_tensors_desc *desc) {
    qn_status status = qn_device_get_info(device, &made->info);
    if (status) return status;
    *made = (qn_tensors){.magic = MAGIC, .header = header, .device = device, .info = made->info};
    made->context = qn_device_context(device);
    if (header == 0 || header > QN_HEADER_VERSION)
        return qn__tensors_fail(made, QN_ERROR_UNSUPPORTED,
                                "qn_tensors_create: the program was built with the header's version %u; this "
                                "libquern_tensor knows 1 to %u",
                                (unsigned)header, (unsigned)QN_HEADER_VERSION);
    if (desc) made->desc = *desc;
    made->desc.eager = made->desc.eager || made->desc.check_numbers;
    made->stream = made->desc.stream ? made->desc.stream : qn_device_stream(device);
    made->out_of_memory = (qn_tensor){.status = QN_ERROR_OUT_OF_MEMORY};
    return qn_context_get_allocator(made->context, &made->allocator);
}

qn_status qn_tensors_create_for(uint32_t header, qn_device *device, const qn_tensors_desc *desc,
                                qn_tensors **out) {
    if (out) *out = NULL;
    qn_tensors made;
    qn_status status = fill_in(&made, header, device, desc);
    if (status) return status;
    if (!out) return qn__tensors_fail(&made, QN_ERROR_NULL, "qn_tensors_create: tensors is NULL");
    qn_tensors *tensors = qn__tensors_allocate(&made, sizeof *tensors);
    if (!tensors) return QN_ERROR_OUT_OF_MEMORY;
    *tensors = made;
    tensors->out_of_memory.owner = tensors;
    status = qn_kernels_create_for(header, device, NULL, &tensors->kernels);
    if (status) {
        qn__tensors_release(tensors, tensors);
        return status;
    }
    *out = tensors;
    return QN_OK;
}

void qn_tensors_destroy(qn_tensors *tensors) {
    if (!tensors || qn__tensors_check(tensors, "qn_tensors_destroy")) return;
    qn__plan_set_free(tensors);
    qn__programs_free(tensors);
    qn__memory_free(tensors);
    for (size_t i = 0; i < tensors->num_labels; i++) qn__tensors_release(tensors, tensors->labels[i]);
    qn__tensors_release(tensors, tensors->labels);
    qn__tensors_release(tensors, tensors->made);
    qn__tensors_release(tensors, tensors->scopes);
    qn_kernels_destroy(tensors->kernels);
    tensors->magic = 0;
    qn__tensors_release(tensors, tensors);
}

qn_device *qn_tensors_device(const qn_tensors *tensors) {
    return qn__tensors_check(tensors, "qn_tensors_device") ? NULL : tensors->device;
}

qn_kernels *qn_tensors_kernels(const qn_tensors *tensors) {
    return qn__tensors_check(tensors, "qn_tensors_kernels") ? NULL : tensors->kernels;
}

qn_stream *qn_tensors_stream(const qn_tensors *tensors) {
    return qn__tensors_check(tensors, "qn_tensors_stream") ? NULL : tensors->stream;
}

qn_status qn_tensors_get_stats(const qn_tensors *tensors, qn_tensors_stats *stats) {
    const qn_status status = qn__tensors_check(tensors, "qn_tensors_get_stats");
    if (status) return status;
    if (!stats) return qn__tensors_fail(tensors, QN_ERROR_NULL, "qn_tensors_get_stats: stats is NULL");
    *stats = tensors->stats;
    return QN_OK;
}

qn_status qn_tensors_wait(qn_tensors *tensors, uint64_t timeout_ns) {
    qn_status status = qn__tensors_check(tensors, "qn_tensors_wait");
    if (!status) status = qn_kernels_wait(tensors->kernels, timeout_ns);
    return status ? status : qn__programs_wait(tensors, timeout_ns);
}
