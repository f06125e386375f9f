/* Buffers: creation, views, blocking transfers. Their two sides are in sides.c. */
#include <stdio.h>
#include <string.h>

#include "runtime/runtime.h"

void qn__count_memory(qn_device *device, uint64_t size) {
    uint64_t used = atomic_fetch_add(&device->used, size) + size;
    uint64_t peak = atomic_load(&device->peak);
    while (used > peak && !atomic_compare_exchange_weak(&device->peak, &peak, used)) {
    }
    atomic_fetch_add(&device->buffers, 1);
}

static qn_status check_host(const qn_device *device, const qn_buffer_desc *desc) {
    qn_context *context = device->object.context;
    if (desc->data || desc->uninitialised || desc->memory)
        return qn__fail(context, QN_ERROR_ARGUMENT,
                        "qn_buffer_create: host memory is taken as it is; %s does not go with it",
                        desc->data            ? "data"
                        : desc->uninitialised ? "uninitialised"
                                              : "memory");
    if ((uintptr_t)desc->host % 16)
        return qn__fail(context, QN_ERROR_ARGUMENT,
                        "qn_buffer_create: host is %p, which is not a multiple of 16", desc->host);
    if (desc->size > UINTPTR_MAX - (uintptr_t)desc->host)
        return qn__fail(context, QN_ERROR_RANGE, "qn_buffer_create: host and size reach beyond all memory");
    if (device->info.capabilities & QN_CAN_IMPORT_HOST) return QN_OK;
    return qn__fail(
        context, QN_ERROR_UNSUPPORTED,
        "qn_buffer_create: %s cannot use host memory in place (QN_CAN_IMPORT_HOST); pass it as data",
        device->name);
}

static qn_status check_memory(const qn_device *device, const qn_buffer_desc *desc) {
    qn_context *context = device->object.context;
    if (desc->host) return check_host(device, desc);
    if ((unsigned)desc->memory > QN_MEMORY_UNIFIED)
        return qn__fail(context, QN_ERROR_ARGUMENT, "qn_buffer_create: memory %d is not a qn_memory",
                        (int)desc->memory);
    if (desc->memory != QN_MEMORY_SHARED || device->info.capabilities & QN_CAN_SHARE_COHERENTLY) return QN_OK;
    return qn__fail(context, QN_ERROR_UNSUPPORTED,
                    "qn_buffer_create: %s has no memory that kernels and the host see alike "
                    "(QN_CAN_SHARE_COHERENTLY); use QN_MEMORY_DEVICE, and map it",
                    device->name);
}

qn_status qn__check_size(const qn_device *device, uint64_t size) {
    if (size <= device->info.max_buffer) return QN_OK;
    char all[96] = "";
    if (device->info.memory)
        snprintf(all, sizeof all, "; it has %llu in all, of which buffers take %llu",
                 (unsigned long long)device->info.memory, (unsigned long long)atomic_load(&device->used));
    return qn__fail(device->object.context, QN_ERROR_RANGE,
                    "qn_buffer_create: %llu bytes; %s allows %llu in a buffer%s", (unsigned long long)size,
                    device->name, (unsigned long long)device->info.max_buffer, all);
}

static qn_status check_pool(qn_device *device, const qn_buffer_desc *desc) {
    static const char function[] = "qn_buffer_create";
    if (!desc->pool) return QN_OK;
    qn_status status = qn__check_beside(device, desc->pool, QN__OBJECT_POOL, function, "pool");
    if (status) return status;
    if (desc->pool->device != device)
        return qn__other_device(desc->pool->device, device, "%s: the pool is of another device or context",
                                function);
    if (!desc->host && !desc->exportable) return QN_OK;
    return qn__fail(device->object.context, QN_ERROR_ARGUMENT,
                    "%s: a pool has memory of the device's own; %s does not go with it", function,
                    desc->host ? "host" : "exportable");
}

static qn_status check_create(qn_device *device, const qn_buffer_desc *given, qn_buffer_desc *desc,
                              qn_buffer **out) {
    qn_status status = qn__check(device, QN__OBJECT_DEVICE, "qn_buffer_create", "device");
    if (status) return status;
    qn_context *context = device->object.context;
    if (!given) return qn__fail_null(context, "qn_buffer_create", "desc");
    QN__READ(context, qn_buffer_desc, desc, given);
    if (!out) return qn__fail_null(context, "qn_buffer_create", "buffer");
    status = qn__device_ready(device);
    if (status) return status;
    status = check_memory(device, desc);
    if (!status) status = check_pool(device, desc);
    if (!status) status = qn__check_exportable(device, desc);
    if (status) return status;
    if (desc->size == 0) return qn__fail(context, QN_ERROR_RANGE, "qn_buffer_create: the size is 0");
    return qn__check_size(device, desc->size);
}

static qn_status create_memory(qn_buffer *buffer, char *why) {
    qn_device *device = buffer->device;
    const qn_backend *backend = device->backend;
    why[0] = 0;
    if (buffer->imported)
        return backend->host_import(device->gpu, buffer->shared, buffer->size, buffer->read_only,
                                    &buffer->memory, &buffer->address, why);
    if (buffer->external)
        return backend->external_create(device->gpu, buffer->size, buffer->exportable, &buffer->memory,
                                        &buffer->address, &buffer->shared, why);
    if (buffer->pool) return qn__pool_take(buffer, why);
    return (buffer->kind == QN_MEMORY_SHARED ? backend->memory_share : backend->memory_create)(
        device->gpu, buffer->size, &buffer->memory, &buffer->address, &buffer->shared, why);
}

/* Where memory is short, destroyed buffers that are only kept for work in flight go first: those of finished work,
   and then, after waiting for it, all. */
qn_status qn__buffer_allocate(qn_buffer *buffer) {
    qn_device *device = buffer->device;
    const qn_backend *backend = device->backend;
    char why[QN__WHY];
    qn_status status = create_memory(buffer, why);
    for (int round = 0; round < 2 && status == QN_ERROR_DEVICE_MEMORY; round++) {
        uint64_t pooled;
        qn__device_reap(device, round > 0);
        qn__pools_trim(device);
        if (backend->trim) backend->trim(device->gpu, &pooled);
        status = create_memory(buffer, why);
    }
    if (status == QN_OK) {
        qn__count_memory(device, buffer->imported ? 0 : buffer->size);
        return QN_OK;
    }
    buffer->memory = NULL;
    if (buffer->pool) qn__pool_refused(buffer->pool);
    return qn__fail(buffer->object.context, status, "a buffer of %llu bytes on %s: %s",
                    (unsigned long long)buffer->size, device->name, qn__reason(why, status));
}

/* Runs a transfer of the buffer alone on the default stream, even while a graph is recorded there. */
static qn_status run_now(qn_buffer *buffer, const qn__command *command) {
    qn_stream *stream = buffer->device->stream;
    uint64_t number;
    qn_status status = qn__stream_submit_now(stream, command, &buffer->object, &number);
    return status ? status : qn__stream_wait_number(stream, number, QN_FOREVER);
}

static qn_status set_contents(qn_buffer *buffer, const qn_buffer_desc *desc) {
    if (buffer->imported || buffer->unified) return QN_OK;
    if (buffer->shared) { /* nothing uses it yet */
        if (desc->data)
            memcpy(buffer->shared, desc->data, desc->size);
        else if (!desc->uninitialised)
            memset(buffer->shared, 0, desc->size);
        return QN_OK;
    }
    if (!desc->data && desc->uninitialised) return QN_OK;
    qn__command command = {.kind = desc->data ? QN__COMMAND_WRITE : QN__COMMAND_FILL,
                           .to = buffer->memory,
                           .size = desc->size,
                           .host = (void *)desc->data,
                           .host_stays = true,
                           .pattern_size = 1};
    if (desc->data) qn__count_move(buffer, QN_MOVE_WRITE, desc->size);
    return run_now(buffer, &command);
}

void qn__buffer_name(const qn_buffer *root, char *text) {
    const char *quote = root->label ? "'" : "";
    snprintf(text, QN__BUFFER_NAME, "the buffer%s%s%.128s%s", root->label ? " " : "", quote,
             root->label ? root->label : "", quote);
}

char *qn__copy_label(qn_context *context, const char *label) {
    size_t size = strlen(label) + 1;
    char *copy = qn__allocate(&context->allocator, size);
    return copy ? memcpy(copy, label, size) : NULL;
}

qn_buffer *qn__buffer_new(qn_device *device, uint64_t size, const char *label) {
    qn_buffer *buffer = qn__object_new(device->object.context, QN__OBJECT_BUFFER);
    if (!buffer) return NULL;
    buffer->device = device;
    buffer->size = size;
    buffer->state = QN_BUFFER_DEVICE;
    if (label) buffer->label = qn__copy_label(device->object.context, label);
    return buffer;
}

qn_status qn_buffer_create(qn_device *device, const qn_buffer_desc *given, qn_buffer **out) {
    qn_buffer_desc desc;
    if (out) *out = NULL;
    qn_status status = check_create(device, given, &desc, out);
    if (status) return status;
    qn_buffer *buffer = qn__buffer_new(device, desc.size, desc.label);
    if (!buffer) return QN_ERROR_OUT_OF_MEMORY;
    buffer->kind = desc.memory;
    buffer->imported = desc.host != NULL;
    buffer->shared = desc.host;
    buffer->read_only = desc.read_only;
    buffer->external = desc.exportable != 0;
    buffer->exportable = desc.exportable;
    buffer->pool = desc.pool;
    if (buffer->pool) qn__retain(&buffer->pool->object);
    status =
        desc.memory == QN_MEMORY_UNIFIED ? qn__unified_init(buffer, desc.data) : qn__buffer_allocate(buffer);
    if (!status && buffer->memory && buffer->label && device->backend->memory_label)
        device->backend->memory_label(device->gpu, buffer->memory, buffer->label);
    if (!status) status = set_contents(buffer, &desc);
    if (status) {
        qn__object_destroy(&buffer->object, QN__OBJECT_BUFFER);
        return status;
    }
    qn__log(buffer->object.context, QN_LOG_DEBUG, "%s: a buffer of %llu bytes%s%s", device->name,
            (unsigned long long)desc.size, buffer->label ? ": " : "", buffer->label ? buffer->label : "");
    *out = buffer;
    return QN_OK;
}

qn_status qn_buffer_view(qn_buffer *buffer, uint64_t offset, uint64_t size, qn_buffer **out) {
    if (out) *out = NULL;
    qn_status status = qn__check(buffer, QN__OBJECT_BUFFER, "qn_buffer_view", "buffer");
    if (status) return status;
    qn_context *context = buffer->object.context;
    if (!out) return qn__fail_null(context, "qn_buffer_view", "view");
    if (offset % 16)
        return qn__fail(context, QN_ERROR_ARGUMENT, "qn_buffer_view: the offset %llu is not a multiple of 16",
                        (unsigned long long)offset);
    if (size == 0 || offset > buffer->size || size > buffer->size - offset)
        return qn__fail(context, QN_ERROR_RANGE, "qn_buffer_view: %llu bytes at %llu of a buffer of %llu",
                        (unsigned long long)size, (unsigned long long)offset,
                        (unsigned long long)buffer->size);
    qn_buffer *view = qn__object_new(context, QN__OBJECT_BUFFER);
    if (!view) return QN_ERROR_OUT_OF_MEMORY;
    view->device = buffer->device;
    view->parent = qn__buffer_root(buffer);
    view->offset = buffer->offset + offset;
    view->size = size;
    qn__retain(&view->parent->object);
    *out = view;
    return QN_OK;
}

void qn_buffer_destroy(qn_buffer *buffer) {
    qn__handle_destroy(buffer, QN__OBJECT_BUFFER, "qn_buffer_destroy", "buffer");
}

static void release_memory(qn_buffer *buffer) {
    qn_device *device = buffer->device;
    if (buffer->imported)
        device->backend->host_import_end(device->gpu, buffer->memory, buffer->shared, buffer->size);
    else if (buffer->external)
        device->backend->external_destroy(device->gpu, buffer->memory, buffer->import);
    else if (buffer->pool)
        qn__pool_give(buffer);
    else
        device->backend->memory_destroy(device->gpu, buffer->memory);
    if (!buffer->imported) atomic_fetch_sub(&device->used, buffer->size);
    atomic_fetch_sub(&device->buffers, 1);
}

void qn__buffer_finalise(qn_buffer *buffer) {
    const qn__allocator *allocator = &buffer->object.context->allocator;
    qn__release(allocator, buffer->label);
    if (buffer->parent) {
        qn__drop(&buffer->parent->object);
        return;
    }
    qn__peer_forget(buffer, NULL);
    if (buffer->unified) qn__unified_free(buffer);
    if (buffer->memory) release_memory(buffer);
    qn__sides_free(buffer);
    if (buffer->pool) qn__drop(&buffer->pool->object);
}

uint64_t qn_buffer_size(const qn_buffer *buffer) {
    return qn__check(buffer, QN__OBJECT_BUFFER, "qn_buffer_size", "buffer") ? 0 : buffer->size;
}

const qn_buffer *qn_buffer_origin(const qn_buffer *buffer, uint64_t *offset) {
    if (offset) *offset = 0;
    if (qn__check(buffer, QN__OBJECT_BUFFER, "qn_buffer_origin", "buffer")) return NULL;
    if (offset) *offset = buffer->offset;
    return buffer->parent ? buffer->parent : buffer;
}

qn_device *qn_buffer_device(const qn_buffer *buffer) {
    return qn__check(buffer, QN__OBJECT_BUFFER, "qn_buffer_device", "buffer") ? NULL : buffer->device;
}

bool qn_buffer_is_read_only(const qn_buffer *buffer) {
    return !qn__check(buffer, QN__OBJECT_BUFFER, "qn_buffer_is_read_only", "buffer") &&
           qn__buffer_root((qn_buffer *)buffer)->read_only;
}

void *qn_buffer_host(const qn_buffer *buffer) {
    if (qn__check(buffer, QN__OBJECT_BUFFER, "qn_buffer_host", "buffer")) return NULL;
    const qn_buffer *root = qn__buffer_root((qn_buffer *)buffer);
    if (root->kind == QN_MEMORY_SHARED) return (unsigned char *)root->shared + buffer->offset;
    char name[QN__BUFFER_NAME];
    qn__buffer_name(root, name);
    qn__fail(buffer->object.context, QN_ERROR_ARGUMENT,
             "qn_buffer_host: %s is not of QN_MEMORY_SHARED; map it", name);
    return NULL;
}

/* A call that blocks cannot be part of a graph. */
static qn_status check_blocking(qn_buffer *buffer, const char *function) {
    qn_status status = qn__check(buffer, QN__OBJECT_BUFFER, function, "buffer");
    if (status || !buffer->device->stream->recording) return status;
    return qn__fail(buffer->object.context, QN_ERROR_STATE, "%s: the default stream records a graph",
                    function);
}

/* By a map, of the bytes alone. */
static qn_status transfer_unified(qn_buffer *buffer, uint64_t offset, void *data, uint64_t size,
                                  bool writes) {
    const char *function = writes ? "qn_buffer_write" : "qn_buffer_read";
    const qn_buffer *root = qn__buffer_root(buffer);
    if (!data) return qn__fail_null(buffer->object.context, function, "data");
    if (root->write_maps || (root->maps && writes)) return qn__sides_refuse(root, function);
    return qn__unified_transfer(buffer, offset, data, size, writes);
}

qn_status qn_buffer_write(qn_buffer *buffer, uint64_t offset, const void *data, uint64_t size) {
    qn_status status = check_blocking(buffer, "qn_buffer_write");
    if (!status && size && qn__buffer_root(buffer)->unified)
        return transfer_unified(buffer, offset, (void *)data, size, true);
    if (!status) status = qn__stream_write(NULL, buffer, offset, data, size, true);
    return status || size == 0 ? status : qn_stream_wait(buffer->device->stream, QN_FOREVER);
}

qn_status qn_buffer_read(qn_buffer *buffer, uint64_t offset, void *data, uint64_t size) {
    qn_status status = check_blocking(buffer, "qn_buffer_read");
    if (!status && size && qn__buffer_root(buffer)->unified)
        return transfer_unified(buffer, offset, data, size, false);
    if (!status) status = qn_stream_read(NULL, buffer, offset, data, size);
    return status || size == 0 ? status : qn_stream_wait(buffer->device->stream, QN_FOREVER);
}
