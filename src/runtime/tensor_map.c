/* Tensors in buffers as the device's tile copies want them: their description checked, and filled in by the backend. */
#include "runtime/runtime.h"

enum { DIMS = 3, UNIT = 16, MOST_TILE = 256, MOST_ROW = 128 };

static const char function[] = "qn_buffer_tensor_map";

static qn_status refuse(qn_context *context, const char *what, int dim, uint64_t value, const char *rule) {
    return qn__fail(context, QN_ERROR_ARGUMENT, "%s: %s[%d] is %llu; %s", function, what, dim,
                    (unsigned long long)value, rule);
}

/* The defaults are filled in. */
static void complete(qn_tensor_desc *desc) {
    for (int i = 0; i < DIMS; i++) {
        if (!desc->sizes[i] && i) desc->sizes[i] = 1;
        if (!desc->tile[i]) desc->tile[i] = 1;
    }
    if (!desc->strides[0]) desc->strides[0] = desc->sizes[0] * desc->element_size;
    if (!desc->strides[1]) desc->strides[1] = desc->strides[0] * desc->sizes[1];
}

static qn_status check_shape(qn_context *context, const qn_tensor_desc *desc) {
    const uint32_t size = desc->element_size, row = desc->tile[0] * size;
    if (size != 1 && size != 2 && size != 4 && size != 8)
        return qn__fail(context, QN_ERROR_ARGUMENT, "%s: element_size is %u; 1, 2, 4 or 8 are possible",
                        function, (unsigned)size);
    for (int i = 0; i < DIMS; i++) {
        if (!desc->sizes[i] || desc->sizes[i] >> 32)
            return refuse(context, "sizes", i, desc->sizes[i], "1 to 2^32 - 1 are possible");
        if (desc->tile[i] > MOST_TILE)
            return refuse(context, "tile", i, desc->tile[i], "up to 256 are possible");
    }
    if (row % UNIT || row > MOST_ROW)
        return refuse(context, "tile", 0, desc->tile[0], "its bytes have to be a multiple of 16 up to 128");
    return QN_OK;
}

/* A stride that nothing uses need not be one. */
static qn_status check_place(const qn_buffer *buffer, qn_tensor_desc *desc) {
    qn_context *context = buffer->object.context;
    if (desc->offset % UNIT)
        return qn__fail(context, QN_ERROR_ARGUMENT, "%s: offset is %llu, not a multiple of 16", function,
                        (unsigned long long)desc->offset);
    uint64_t end = desc->sizes[0] * desc->element_size;
    for (int i = 0; i < DIMS - 1; i++) {
        const uint64_t stride = desc->strides[i];
        if (desc->sizes[i + 1] == 1)
            desc->strides[i] = (stride + UNIT - 1) / UNIT * UNIT % ((uint64_t)1 << 40);
        else if (stride % UNIT || stride >> 40)
            return refuse(context, "strides", i, stride, "a multiple of 16 below 2^40 is wanted");
        else if ((desc->sizes[i + 1] - 1) > (UINT64_MAX - end) / (stride ? stride : 1))
            end = UINT64_MAX;
        else
            end += (desc->sizes[i + 1] - 1) * stride;
    }
    if (desc->offset > buffer->size || end > buffer->size - desc->offset)
        return qn__fail(
            context, QN_ERROR_RANGE, "%s: the tensor takes %llu bytes at %llu of a buffer of %llu", function,
            (unsigned long long)end, (unsigned long long)desc->offset, (unsigned long long)buffer->size);
    return QN_OK;
}

qn_status qn_buffer_tensor_map(qn_buffer *buffer, const qn_tensor_desc *given, qn_tensor_map *map) {
    qn_status status = qn__check(buffer, QN__OBJECT_BUFFER, function, "buffer");
    if (status) return status;
    qn_context *context = buffer->object.context;
    const qn_device *device = buffer->device;
    char why[QN__WHY] = "";
    if (!given || !map) return qn__fail_null(context, function, given ? "map" : "desc");
    qn_tensor_desc desc = *given;
    complete(&desc);
    status = check_shape(context, &desc);
    if (!status) status = check_place(buffer, &desc);
    if (status) return status;
    if (!device->backend->tensor_map || !(device->info.capabilities & QN_CAN_COPY_TILES))
        return qn__fail(context, QN_ERROR_UNSUPPORTED, "%s: %s has no tile copies (QN_CAN_COPY_TILES)",
                        function, device->name);
    const uint64_t address = qn__buffer_root(buffer)->address + buffer->offset + desc.offset;
    status = device->backend->tensor_map(device->gpu, address, &desc, map, why);
    return status ? qn__fail(context, status, "%s: %s", function, qn__reason(why, status)) : QN_OK;
}
