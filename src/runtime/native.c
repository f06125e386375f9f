/* Native handles, and the time in which a stream's native queue is the caller's. What is there to be asked for is a
   table; what the handles are, the backends say. */
#include "runtime/runtime.h"

typedef struct native_row {
    const char *name;   /* the header's, behind QN_NATIVE_ */
    qn__object_kind of; /* the object that has it */
    unsigned on;        /* bits of the qn_device_kinds */
    bool is_place;      /* a view's lies behind its buffer's by the view's offset */
} native_row;

enum {
    ON_ANY = (1 << QN_DEVICE_KIND_COUNT) - 1,
    ON_CUDA = 1 << QN_DEVICE_CUDA,
    ON_VULKAN = 1 << QN_DEVICE_VULKAN,
    ON_OPENCL = 1 << QN_DEVICE_OPENCL,
    ON_WEBGPU = 1 << QN_DEVICE_WEBGPU
};

static const native_row rows[] = {
    [QN_NATIVE_HOST_POINTER] = {"HOST_POINTER", QN__OBJECT_BUFFER, ON_ANY, true},
    [QN_NATIVE_CUDA_DEVICE] = {"CUDA_DEVICE", QN__OBJECT_DEVICE, ON_CUDA, false},
    [QN_NATIVE_CUDA_CONTEXT] = {"CUDA_CONTEXT", QN__OBJECT_DEVICE, ON_CUDA, false},
    [QN_NATIVE_CUDA_STREAM] = {"CUDA_STREAM", QN__OBJECT_STREAM, ON_CUDA, false},
    [QN_NATIVE_CUDA_POINTER] = {"CUDA_POINTER", QN__OBJECT_BUFFER, ON_CUDA, true},
    [QN_NATIVE_VULKAN_INSTANCE] = {"VULKAN_INSTANCE", QN__OBJECT_DEVICE, ON_VULKAN, false},
    [QN_NATIVE_VULKAN_PHYSICAL_DEVICE] = {"VULKAN_PHYSICAL_DEVICE", QN__OBJECT_DEVICE, ON_VULKAN, false},
    [QN_NATIVE_VULKAN_DEVICE] = {"VULKAN_DEVICE", QN__OBJECT_DEVICE, ON_VULKAN, false},
    [QN_NATIVE_VULKAN_QUEUE_FAMILY] = {"VULKAN_QUEUE_FAMILY", QN__OBJECT_DEVICE, ON_VULKAN, false},
    [QN_NATIVE_VULKAN_QUEUE] = {"VULKAN_QUEUE", QN__OBJECT_STREAM, ON_VULKAN, false},
    [QN_NATIVE_VULKAN_BUFFER] = {"VULKAN_BUFFER", QN__OBJECT_BUFFER, ON_VULKAN, false},
    [QN_NATIVE_VULKAN_ADDRESS] = {"VULKAN_ADDRESS", QN__OBJECT_BUFFER, ON_VULKAN, true},
    [QN_NATIVE_OPENCL_DEVICE] = {"OPENCL_DEVICE", QN__OBJECT_DEVICE, ON_OPENCL, false},
    [QN_NATIVE_OPENCL_CONTEXT] = {"OPENCL_CONTEXT", QN__OBJECT_DEVICE, ON_OPENCL, false},
    [QN_NATIVE_OPENCL_QUEUE] = {"OPENCL_QUEUE", QN__OBJECT_STREAM, ON_OPENCL, false},
    [QN_NATIVE_OPENCL_MEM] = {"OPENCL_MEM", QN__OBJECT_BUFFER, ON_OPENCL, false},
    [QN_NATIVE_OFFSET] = {"OFFSET", QN__OBJECT_BUFFER, ON_VULKAN | ON_OPENCL | ON_WEBGPU, true},
    [QN_NATIVE_WEBGPU_INSTANCE] = {"WEBGPU_INSTANCE", QN__OBJECT_DEVICE, ON_WEBGPU, false},
    [QN_NATIVE_WEBGPU_DEVICE] = {"WEBGPU_DEVICE", QN__OBJECT_DEVICE, ON_WEBGPU, false},
    [QN_NATIVE_WEBGPU_QUEUE] = {"WEBGPU_QUEUE", QN__OBJECT_STREAM, ON_WEBGPU, false},
    [QN_NATIVE_WEBGPU_BUFFER] = {"WEBGPU_BUFFER", QN__OBJECT_BUFFER, ON_WEBGPU, false},
};

/* ---- handles ---- */

static const char *object_name(qn__object_kind kind) {
    return kind == QN__OBJECT_DEVICE ? "device" : kind == QN__OBJECT_STREAM ? "stream" : "buffer";
}

static qn_status check_kind(qn_device *device, qn__object_kind of, qn_native_kind kind,
                            const uint64_t *handle) {
    qn_context *context = device->object.context;
    const char *object = object_name(of);
    if (!handle) return qn__fail(context, QN_ERROR_NULL, "qn_%s_native: handle is NULL", object);
    if ((size_t)kind >= QN__COUNT(rows) || !rows[kind].name)
        return qn__fail(context, QN_ERROR_ARGUMENT, "qn_%s_native: kind %d is not a qn_native_kind", object,
                        (int)kind);
    const native_row *row = &rows[kind];
    if (row->of != of)
        return qn__fail(context, QN_ERROR_ARGUMENT,
                        "qn_%s_native: QN_NATIVE_%s is a handle of a %s; qn_%s_native gives it", object,
                        row->name, object_name(row->of), object_name(row->of));
    if (!(row->on >> device->backend->kind & 1))
        return qn__fail(context, QN_ERROR_UNSUPPORTED, "qn_%s_native: %s has no QN_NATIVE_%s", object,
                        device->name, row->name);
    return qn__device_ready(device);
}

qn_status qn_device_native(const qn_device *const_device, qn_native_kind kind, uint64_t *handle) {
    qn_device *device = (qn_device *)const_device;
    qn_status status = qn__check(device, QN__OBJECT_DEVICE, "qn_device_native", "device");
    if (!status) status = check_kind(device, QN__OBJECT_DEVICE, kind, handle);
    if (!status) *handle = device->backend->native(device->gpu, NULL, NULL, kind);
    return status;
}

qn_status qn_stream_native(const qn_stream *stream, qn_native_kind kind, uint64_t *handle) {
    qn_status status = qn__check_stream(stream, "qn_stream_native");
    if (status) return status;
    qn_device *device = stream->device;
    status = check_kind(device, QN__OBJECT_STREAM, kind, handle);
    if (!status) *handle = device->backend->native(device->gpu, stream->queue, NULL, kind);
    return status;
}

qn_status qn_buffer_native(const qn_buffer *buffer, qn_native_kind kind, uint64_t *handle) {
    qn_status status = qn__check(buffer, QN__OBJECT_BUFFER, "qn_buffer_native", "buffer");
    if (status) return status;
    qn_device *device = buffer->device;
    status = check_kind(device, QN__OBJECT_BUFFER, kind, handle);
    if (!status) status = qn__unified_refuse(buffer, "qn_buffer_native");
    if (status) return status;
    const qn_buffer *root = qn__buffer_root((qn_buffer *)buffer);
    if (kind == QN_NATIVE_HOST_POINTER && !root->shared)
        return qn__fail(
            buffer->object.context, QN_ERROR_UNSUPPORTED,
            "qn_buffer_native: the buffers of %s are not host memory; qn_buffer_map gives a pointer",
            device->name);
    *handle = kind == QN_NATIVE_HOST_POINTER ? (uint64_t)(uintptr_t)root->shared
                                             : device->backend->native(device->gpu, NULL, root->memory, kind);
    if (rows[kind].is_place) *handle += buffer->offset;
    return QN_OK;
}

/* ---- the caller's own work on a stream ---- */

static qn_status check_buffers(qn_stream *stream, qn_buffer *const *buffers, size_t count) {
    qn_context *context = stream->object.context;
    if (count && !buffers) return qn__fail_null(context, "qn_stream_native_begin", "buffers");
    for (size_t i = 0; i < count; i++) {
        qn_status status =
            qn__check_beside(stream, buffers[i], QN__OBJECT_BUFFER, "qn_stream_native_begin", "buffer");
        if (status) return status;
        if (buffers[i]->device != stream->device)
            return qn__fail_both(context, buffers[i]->object.context, QN_ERROR_WRONG_CONTEXT,
                                 "qn_stream_native_begin: buffer %zu is of another device or context", i);
        status = qn__unified_refuse(buffers[i], "qn_stream_native_begin");
        if (status) return status;
    }
    return QN_OK;
}

static void forget_lent(qn_stream *stream) {
    for (size_t i = 0; i < stream->num_lent; i++) qn__drop(&stream->lent[i].buffer->object);
    qn__release(&stream->object.context->allocator, stream->lent);
    stream->lent = NULL;
    stream->num_lent = 0;
}

/* All counts as done where the backend has no queue to lend. */
static qn_status lend(qn_stream *stream) {
    const qn_backend *backend = stream->device->backend;
    char why[QN__WHY] = "";
    const uint64_t last = qn__stream_last(stream);
    uint64_t placed;
    if (!backend->lend) return qn__stream_wait_number(stream, last, QN_FOREVER);
    qn__hold_place(stream, last, QN_FOREVER, &placed);
    pthread_mutex_lock(&stream->lock);
    qn_status status = backend->lend(stream->queue, why);
    pthread_mutex_unlock(&stream->lock);
    if (!status) return QN_OK;
    return qn__fail(stream->object.context, status, "qn_stream_native_begin: %s", qn__reason(why, status));
}

qn_status qn_stream_native_begin(qn_stream *stream, qn_buffer *const *buffers, size_t num_buffers) {
    qn_status status = QN_OK;
    if (!stream && num_buffers && buffers) {
        status = qn__check(buffers[0], QN__OBJECT_BUFFER, "qn_stream_native_begin", "buffer");
        if (!status) stream = buffers[0]->device->stream;
    }
    if (!status) status = qn__check_stream(stream, "qn_stream_native_begin");
    if (!status) status = check_buffers(stream, buffers, num_buffers);
    if (status) return status;
    qn_context *context = stream->object.context;
    if (stream->recording || stream->lent)
        return qn__fail(context, QN_ERROR_STATE, "qn_stream_native_begin: the stream %s",
                        stream->lent ? "has begun already" : "records a graph");
    if (num_buffers >= SIZE_MAX / sizeof(qn__use))
        return qn__fail(context, QN_ERROR_RANGE, "qn_stream_native_begin: %zu buffers", num_buffers);
    qn__use *uses = qn__allocate(&context->allocator, (num_buffers + 1) * sizeof *uses);
    if (!uses) return qn__fail_memory(context, (num_buffers + 1) * sizeof *uses);
    for (size_t i = 0; i < num_buffers; i++) uses[i] = qn__use_of(buffers[i], true);
    status = qn__buffers_use(uses, num_buffers, stream, QN_MOVE_TRANSFER, "qn_stream_native_begin");
    if (!status) status = lend(stream);
    if (status) {
        qn__release(&context->allocator, uses);
        return status;
    }
    for (size_t i = 0; i < num_buffers; i++) qn__retain(&uses[i].buffer->object);
    stream->lent = uses;
    stream->num_lent = num_buffers;
    return QN_OK;
}

qn_status qn_stream_native_end(qn_stream *stream) {
    qn_status status = qn__check_stream(stream, "qn_stream_native_end");
    if (status) return status;
    if (!stream->lent)
        return qn__fail(stream->object.context, QN_ERROR_STATE,
                        "qn_stream_native_end: qn_stream_native_begin comes first");
    uint64_t number = qn__stream_last(stream);
    status = qn__stream_take_back(stream, &number);
    qn__buffers_used(stream->lent, stream->num_lent, stream, number);
    forget_lent(stream);
    return status;
}
