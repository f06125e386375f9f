/* What kernels want of devices and arrays: contiguous copies of arrays whose strides a kernel does not take, memory between
   kernels, whether the device is a processor. */
#include "kernels/op.h"

bool qn__array_is_packed(const qn_array *array) {
    uint64_t stride = 1;
    for (uint32_t d = array->rank; d-- > 0; stride *= array->sizes[d])
        if (array->sizes[d] > 1 && (uint64_t)array->strides[d] != stride) return false;
    return true;
}

qn_status qn__scratch(qn_kernels *kernels, uint64_t bytes, qn_buffer **buffer) {
    const qn_buffer_desc desc = {.size = bytes ? bytes : 1, .pool = kernels->pool};
    return qn_buffer_create(kernels->device, &desc, buffer);
}

/* A contiguous array of the same sizes in a buffer of its own. */
static qn_status make_copy(qn_kernels *kernels, const qn_array *array, qn__packed *packed) {
    const uint64_t count = qn_array_count(array);
    if (count > UINT64_MAX / 8)
        return qn__op_fail(kernels, QN_ERROR_DEVICE_MEMORY, "a contiguous copy of %s elements is too large",
                           qn__shape(array).text);
    packed->array = *array;
    packed->array.offset = 0;
    int64_t stride = 1;
    for (uint32_t d = array->rank; d-- > 0; stride *= (int64_t)array->sizes[d])
        packed->array.strides[d] = stride;
    const qn_status status = qn__scratch(kernels, count * qn__element(array->type)->size, &packed->copy);
    packed->array.buffer = packed->copy;
    return status;
}

qn_status qn__packed_blank(qn_kernels *kernels, const qn_array *array, qn__packed *packed) {
    *packed = (qn__packed){.array = *array};
    return qn_array_count(array) == 0 || qn__array_is_packed(array) ? QN_OK
                                                                    : make_copy(kernels, array, packed);
}

qn_status qn__packed_open(qn_kernels *kernels, qn_stream *stream, const qn_array *array, qn__packed *packed) {
    const qn_status status = qn__packed_blank(kernels, array, packed);
    if (status || !packed->copy) return status;
    return qn_kernels_copy(kernels, stream, &(qn_copy_desc){.to = packed->array, .from = *array});
}

qn_status qn__packed_close(qn_kernels *kernels, qn_stream *stream, const qn_array *to, qn__packed *packed,
                           qn_status status) {
    if (packed->copy && to && !status)
        status = qn_kernels_copy(kernels, stream, &(qn_copy_desc){.to = *to, .from = packed->array});
    qn_buffer_destroy(packed->copy);
    packed->copy = NULL;
    return status;
}

bool qn__is_processor(const qn_kernels *kernels) {
    const qn_device_info *info = &kernels->info;
    return info->kind == QN_DEVICE_CPU ||
           (info->kind == QN_DEVICE_OPENCL && (info->capabilities & QN_CAN_EMULATE));
}
