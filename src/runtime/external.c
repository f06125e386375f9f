/* Buffers in memory of other APIs, and handles of ours for them. What a device takes and gives, it says in its
   description; what the handles are, the backends know. */
#include "runtime/runtime.h"

static const struct {
    qn_handle_kind kind;
    const char *name;   /* behind QN_HANDLE_ */
    bool is_descriptor; /* of a file */
} kinds[] = {
    {QN_HANDLE_CUDA_POINTER, "CUDA_POINTER", false},
    {QN_HANDLE_OPENCL_MEM, "OPENCL_MEM", false},
    {QN_HANDLE_OPAQUE_FD, "OPAQUE_FD", true},
    {QN_HANDLE_DMA_BUF, "DMA_BUF", true},
};

/* -1: there is no such kind. */
static int find_kind(qn_handle_kind kind) {
    for (size_t i = 0; i < QN__COUNT(kinds); i++)
        if (kinds[i].kind == kind) return (int)i;
    return -1;
}

/* The first kind of `bits` that is not in `known`. */
static const char *missing(uint32_t bits, uint32_t known) {
    for (size_t i = 0; i < QN__COUNT(kinds); i++)
        if (bits & (uint32_t)kinds[i].kind & ~known) return kinds[i].name;
    return NULL;
}

qn_status qn__check_exportable(const qn_device *device, const qn_buffer_desc *desc) {
    qn_context *context = device->object.context;
    const uint32_t wanted = desc->exportable, can = device->info.export_handles;
    if (!wanted) return QN_OK;
    if (desc->host || desc->memory != QN_MEMORY_DEVICE)
        return qn__fail(context, QN_ERROR_ARGUMENT, "qn_buffer_create: exportable does not go with %s",
                        desc->host ? "host" : "memory");
    const char *name = missing(wanted, can);
    if (name)
        return qn__fail(context, QN_ERROR_UNSUPPORTED, "qn_buffer_create: %s exports no QN_HANDLE_%s",
                        device->name, name);
    if (wanted & ~can)
        return qn__fail(context, QN_ERROR_ARGUMENT, "qn_buffer_create: exportable 0x%x has unknown bits",
                        (unsigned)wanted);
    return QN_OK;
}

/* ---- import ---- */

static qn_status check_place(const qn_device *device, const qn_import_desc *desc) {
    qn_context *context = device->object.context;
    if (desc->size == 0) return qn__fail(context, QN_ERROR_RANGE, "qn_buffer_import: the size is 0");
    if (desc->offset % 16)
        return qn__fail(context, QN_ERROR_ARGUMENT,
                        "qn_buffer_import: the offset %llu is not a multiple of 16",
                        (unsigned long long)desc->offset);
    if (desc->size > device->info.max_buffer)
        return qn__fail(context, QN_ERROR_RANGE, "qn_buffer_import: %llu bytes; %s allows %llu in a buffer",
                        (unsigned long long)desc->size, device->name,
                        (unsigned long long)device->info.max_buffer);
    const uint64_t all = desc->memory_size ? desc->memory_size : UINT64_MAX;
    if (desc->offset > all || desc->size > all - desc->offset)
        return qn__fail(context, QN_ERROR_RANGE, "qn_buffer_import: %llu bytes at %llu of memory of %llu",
                        (unsigned long long)desc->size, (unsigned long long)desc->offset,
                        (unsigned long long)all);
    return QN_OK;
}

static qn_status check_import(qn_device *device, const qn_import_desc *given, qn_import_desc *desc,
                              qn_buffer **out) {
    qn_status status = qn__check(device, QN__OBJECT_DEVICE, "qn_buffer_import", "device");
    if (status) return status;
    qn_context *context = device->object.context;
    if (!given) return qn__fail_null(context, "qn_buffer_import", "desc");
    if (!out) return qn__fail_null(context, "qn_buffer_import", "buffer");
    QN__READ(context, qn_import_desc, desc, given);
    status = qn__device_ready(device);
    if (status) return status;
    const int kind = find_kind(desc->kind);
    if (kind < 0)
        return qn__fail(context, QN_ERROR_ARGUMENT, "qn_buffer_import: kind %d is not one qn_handle_kind",
                        (int)desc->kind);
    if (!(device->info.import_handles & (uint32_t)desc->kind))
        return qn__fail(context, QN_ERROR_UNSUPPORTED, "qn_buffer_import: %s imports no QN_HANDLE_%s",
                        device->name, kinds[kind].name);
    if (kinds[kind].is_descriptor ? desc->handle > INT32_MAX : desc->handle == 0)
        return qn__fail(context, QN_ERROR_ARGUMENT, "qn_buffer_import: the handle 0x%llx is no %s",
                        (unsigned long long)desc->handle,
                        kinds[kind].is_descriptor ? "file descriptor" : "pointer");
    return check_place(device, desc);
}

static qn_status import(qn_buffer *buffer, const qn_import_desc *desc) {
    qn_device *device = buffer->device;
    char why[QN__WHY] = "";
    qn_status status = device->backend->external_import(device->gpu, desc, &buffer->memory, &buffer->address,
                                                        &buffer->shared, why);
    if (!status) {
        qn__count_memory(device, buffer->size);
        return QN_OK;
    }
    buffer->memory = NULL;
    return qn__fail(buffer->object.context, status, "qn_buffer_import: %s", qn__reason(why, status));
}

qn_status qn_buffer_import(qn_device *device, const qn_import_desc *given, qn_buffer **out) {
    qn_import_desc desc;
    if (out) *out = NULL;
    qn_status status = check_import(device, given, &desc, out);
    if (status) return status;
    qn_buffer *buffer = qn__buffer_new(device, desc.size, desc.label);
    if (!buffer) return QN_ERROR_OUT_OF_MEMORY;
    buffer->external = true;
    buffer->import = (uint32_t)desc.kind;
    status = import(buffer, &desc);
    if (status)
        qn__object_destroy(&buffer->object, QN__OBJECT_BUFFER);
    else
        *out = buffer;
    return status;
}

/* ---- export ---- */

static qn_status check_export(qn_buffer *buffer, qn_handle_kind kind, const qn_export *out) {
    qn_context *context = buffer->object.context;
    const qn_buffer *root = qn__buffer_root(buffer);
    const int index = find_kind(kind);
    if (!out) return qn__fail_null(context, "qn_buffer_export", "out");
    if (index < 0 || !kinds[index].is_descriptor)
        return qn__fail(context, QN_ERROR_ARGUMENT, "qn_buffer_export: kind %d is no file descriptor%s",
                        (int)kind, index < 0 ? "" : "; qn_buffer_native gives the handle");
    if (!(root->exportable & (uint32_t)kind))
        return qn__fail(context, QN_ERROR_STATE,
                        "qn_buffer_export: the buffer was not made exportable as QN_HANDLE_%s",
                        kinds[index].name);
    if (root->state == QN_BUFFER_HOST && !root->shared)
        return qn__fail(context, QN_ERROR_STATE,
                        "qn_buffer_export: the host has newer contents than the device");
    return QN_OK;
}

qn_status qn_buffer_export(qn_buffer *buffer, qn_handle_kind kind, qn_export *out) {
    qn_status status = qn__check(buffer, QN__OBJECT_BUFFER, "qn_buffer_export", "buffer");
    if (!status) status = check_export(buffer, kind, out);
    if (status) return status;
    qn_context *context = buffer->object.context;
    qn_device *device = buffer->device;
    qn_export result = {0};
    char why[QN__WHY] = "";
    status =
        device->backend->external_export(device->gpu, qn__buffer_root(buffer)->memory, kind, &result, why);
    if (status) return qn__fail(context, status, "qn_buffer_export: %s", qn__reason(why, status));
    result.offset += buffer->offset;
    result.size = buffer->size;
    QN__WRITE(context, qn_export, out, &result);
    return QN_OK;
}
