/* Tensors and images in buffers as the device's tile copies want them: their description checked, and filled in by the backend. */
#include "runtime/runtime.h"

enum { DIMS = 3, WINDOW_DIMS = 4, UNIT = 16, MOST_TILE = 256, MOST_ROW = 128, MOST_STEP = 8, FAR = 128 };

/* What both kinds of description have. */
typedef struct tensor {
    const char *function;
    uint64_t offset, *sizes, *strides; /* one stride less than sizes */
    uint32_t element_size, channels;   /* of a tile's row */
    int rank;
} tensor;

static qn_status refuse(qn_context *context, const char *function, const char *what, int dim, long long value,
                        const char *rule) {
    return qn__fail(context, QN_ERROR_ARGUMENT, "%s: %s[%d] is %lld; %s", function, what, dim, value, rule);
}

static qn_status check_shape(qn_context *context, const tensor *t) {
    const uint32_t size = t->element_size, row = t->channels * size;
    if (size != 1 && size != 2 && size != 4 && size != 8)
        return qn__fail(context, QN_ERROR_ARGUMENT, "%s: element_size is %u; 1, 2, 4 or 8 are possible",
                        t->function, (unsigned)size);
    for (int i = 0; i < t->rank; i++)
        if (!t->sizes[i] || t->sizes[i] >> 32)
            return refuse(context, t->function, "sizes", i, (long long)t->sizes[i],
                          "1 to 2^32 - 1 are possible");
    if (t->channels > MOST_TILE)
        return refuse(context, t->function, "tile", 0, t->channels, "up to 256 are possible");
    if (!row || row % UNIT || row > MOST_ROW)
        return refuse(context, t->function, "tile", 0, t->channels,
                      "its bytes have to be a multiple of 16 up to 128");
    return QN_OK;
}

/* A stride that nothing uses need not be one. */
static qn_status check_place(const qn_buffer *buffer, const tensor *t) {
    qn_context *context = buffer->object.context;
    if (t->offset % UNIT)
        return qn__fail(context, QN_ERROR_ARGUMENT, "%s: offset is %llu, not a multiple of 16", t->function,
                        (unsigned long long)t->offset);
    uint64_t end = t->sizes[0] * t->element_size;
    for (int i = 0; i < t->rank - 1; i++) {
        const uint64_t stride = t->strides[i];
        if (t->sizes[i + 1] == 1)
            t->strides[i] = (stride + UNIT - 1) / UNIT * UNIT % ((uint64_t)1 << 40);
        else if (stride % UNIT || stride >> 40)
            return refuse(context, t->function, "strides", i, (long long)stride,
                          "a multiple of 16 below 2^40 is wanted");
        else if ((t->sizes[i + 1] - 1) > (UINT64_MAX - end) / (stride ? stride : 1))
            end = UINT64_MAX;
        else
            end += (t->sizes[i + 1] - 1) * stride;
    }
    if (t->offset > buffer->size || end > buffer->size - t->offset)
        return qn__fail(context, QN_ERROR_RANGE,
                        "%s: the tensor takes %llu bytes at %llu of a buffer of %llu", t->function,
                        (unsigned long long)end, (unsigned long long)t->offset,
                        (unsigned long long)buffer->size);
    return QN_OK;
}

static qn_status check(const qn_buffer *buffer, const tensor *t) {
    qn_status status = check_shape(buffer->object.context, t);
    if (!status) status = qn__unified_refuse(buffer, t->function);
    return status ? status : check_place(buffer, t);
}

static qn_status no_copies(const qn_buffer *buffer, const char *function) {
    return qn__fail(buffer->object.context, QN_ERROR_UNSUPPORTED,
                    "%s: %s has no tile copies (QN_CAN_COPY_TILES)", function, buffer->device->name);
}

static uint64_t address_of(qn_buffer *buffer, uint64_t offset) {
    return qn__buffer_root(buffer)->address + buffer->offset + offset;
}

/* ---- tensors ---- */

/* The defaults are filled in. */
static void complete(qn_tensor_desc *desc) {
    for (int i = 0; i < DIMS; i++) {
        if (!desc->sizes[i] && i) desc->sizes[i] = 1;
        if (!desc->tile[i]) desc->tile[i] = 1;
    }
    if (!desc->strides[0]) desc->strides[0] = desc->sizes[0] * desc->element_size;
    if (!desc->strides[1]) desc->strides[1] = desc->strides[0] * desc->sizes[1];
}

qn_status qn_buffer_tensor_map(qn_buffer *buffer, const qn_tensor_desc *given, qn_tensor_map *map) {
    static const char function[] = "qn_buffer_tensor_map";
    qn_status status = qn__check(buffer, QN__OBJECT_BUFFER, function, "buffer");
    if (status) return status;
    qn_context *context = buffer->object.context;
    const qn_device *device = buffer->device;
    char why[QN__WHY] = "";
    if (!given || !map) return qn__fail_null(context, function, given ? "map" : "desc");
    qn_tensor_desc desc = *given;
    complete(&desc);
    const tensor t = {function, desc.offset, desc.sizes, desc.strides, desc.element_size, desc.tile[0], DIMS};
    for (int i = 1; i < DIMS; i++)
        if (desc.tile[i] > MOST_TILE)
            return refuse(context, function, "tile", i, desc.tile[i], "up to 256 are possible");
    status = check(buffer, &t);
    if (status) return status;
    if (!device->backend->tensor_map || !(device->info.capabilities & QN_CAN_COPY_TILES))
        return no_copies(buffer, function);
    status = device->backend->tensor_map(device->gpu, address_of(buffer, desc.offset), &desc, map, why);
    return status ? qn__fail(context, status, "%s: %s", function, qn__reason(why, status)) : QN_OK;
}

/* ---- images ---- */

static qn_status check_window(qn_context *context, const char *function, const qn_window_desc *desc) {
    if (!desc->tile[1] || desc->tile[1] > MOST_TILE)
        return refuse(context, function, "tile", 1, desc->tile[1], "1 to 256 are possible");
    for (int i = 0; i < 2; i++) {
        const int64_t size = (int64_t)desc->sizes[i + 1], positions = desc->positions[i];
        const int64_t beyond = desc->first[i] + (positions - 1) * desc->steps[i] - (size - 1);
        if (desc->steps[i] > MOST_STEP)
            return refuse(context, function, "steps", i, desc->steps[i], "up to 8 are possible");
        if (desc->first[i] < -FAR || desc->first[i] >= FAR)
            return refuse(context, function, "first", i, desc->first[i], "-128 to 127 are possible");
        if (!positions || beyond < -FAR || beyond >= FAR)
            return refuse(context, function, "positions", i, positions,
                          "with the last one's pixel -128 to 127 from the image's last one");
    }
    return QN_OK;
}

qn_status qn_buffer_window_map(qn_buffer *buffer, const qn_window_desc *given, qn_tensor_map *map) {
    static const char function[] = "qn_buffer_window_map";
    qn_status status = qn__check(buffer, QN__OBJECT_BUFFER, function, "buffer");
    if (status) return status;
    qn_context *context = buffer->object.context;
    const qn_device *device = buffer->device;
    char why[QN__WHY] = "";
    if (!given || !map) return qn__fail_null(context, function, given ? "map" : "desc");
    qn_window_desc desc = *given;
    for (int i = 0; i < 2; i++)
        if (!desc.steps[i]) desc.steps[i] = 1;
    const tensor t = {function,          desc.offset,  desc.sizes, desc.strides,
                      desc.element_size, desc.tile[0], WINDOW_DIMS};
    status = check(buffer, &t);
    if (!status) status = check_window(context, function, &desc);
    if (status) return status;
    if (!device->backend->window_map || !(device->info.capabilities & QN_CAN_COPY_TILES))
        return no_copies(buffer, function);
    status = device->backend->window_map(device->gpu, address_of(buffer, desc.offset), &desc, map, why);
    return status ? qn__fail(context, status, "%s: %s", function, qn__reason(why, status)) : QN_OK;
}
