/* Buffers and their host views. A buffer's newest contents are on the device, on the host, or both; copies
   are made when the other side is needed and not before. With shared memory there is nothing to copy and
   mapping only waits. */
#include <sched.h>
#include <string.h>

#include "runtime/runtime.h"

static void count_memory(qn_device *device, uint64_t size) {
    uint64_t used = atomic_fetch_add(&device->used, size) + size;
    uint64_t peak = atomic_load(&device->peak);
    while (used > peak && !atomic_compare_exchange_weak(&device->peak, &peak, used)) {
    }
    atomic_fetch_add(&device->buffers, 1);
}

static qn_status check_create(qn_device *device, const qn_buffer_desc *desc, qn_buffer **out) {
    qn_status status = qn__check(device, QN__OBJECT_DEVICE, "qn_buffer_create", "device");
    if (status) return status;
    qn_context *context = device->object.context;
    if (!desc) return qn__fail_null(context, "qn_buffer_create", "desc");
    if (!out) return qn__fail_null(context, "qn_buffer_create", "buffer");
    status = qn__device_ready(device);
    if (status) return status;
    if (desc->size == 0) return qn__fail(context, QN_ERROR_RANGE, "qn_buffer_create: the size is 0");
    if (desc->size <= device->info.max_buffer) return QN_OK;
    return qn__fail(context, QN_ERROR_RANGE, "qn_buffer_create: %llu bytes; %s allows %llu in a buffer",
                    (unsigned long long)desc->size, device->name,
                    (unsigned long long)device->info.max_buffer);
}

/* A failed allocation first gives pooled memory back, then tries once more. */
static qn_status allocate(qn_buffer *buffer) {
    qn_device *device = buffer->device;
    const qn_backend *backend = device->backend;
    char why[QN__WHY] = "";
    qn_status status = backend->memory_create(device->gpu, buffer->size, &buffer->memory, &buffer->address,
                                              &buffer->shared, why);
    if (status == QN_ERROR_DEVICE_MEMORY && backend->trim) {
        uint64_t pooled;
        backend->trim(device->gpu, &pooled);
        status = backend->memory_create(device->gpu, buffer->size, &buffer->memory, &buffer->address,
                                        &buffer->shared, why);
    }
    if (status == QN_OK) {
        count_memory(device, buffer->size);
        return QN_OK;
    }
    buffer->memory = NULL;
    return qn__fail(buffer->object.context, status, "a buffer of %llu bytes on %s: %s",
                    (unsigned long long)buffer->size, device->name, why);
}

/* Runs a transfer of the buffer alone on the default stream, even while a graph is recorded there. */
static qn_status run_now(qn_buffer *buffer, const qn__command *command) {
    qn_stream *stream = buffer->device->stream;
    qn_status status = qn__stream_submit_now(stream, command, &buffer->object);
    return status ? status : qn__stream_wait_number(stream, qn__stream_last(stream), QN_FOREVER);
}

static qn_status set_contents(qn_buffer *buffer, const qn_buffer_desc *desc) {
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
                           .pattern_size = 1};
    return run_now(buffer, &command);
}

static char *copy_label(qn_context *context, const char *label) {
    size_t size = strlen(label) + 1;
    char *copy = qn__allocate(&context->allocator, size);
    return copy ? memcpy(copy, label, size) : NULL;
}

qn_status qn_buffer_create(qn_device *device, const qn_buffer_desc *desc, qn_buffer **out) {
    if (out) *out = NULL;
    qn_status status = check_create(device, desc, out);
    if (status) return status;
    qn_buffer *buffer = qn__object_new(device->object.context, QN__OBJECT_BUFFER);
    if (!buffer) return QN_ERROR_OUT_OF_MEMORY;
    buffer->device = device;
    buffer->size = desc->size;
    buffer->state = QN_BUFFER_DEVICE;
    if (desc->label) buffer->label = copy_label(device->object.context, desc->label);
    status = allocate(buffer);
    if (!status) status = set_contents(buffer, desc);
    if (status)
        qn__object_destroy(&buffer->object, QN__OBJECT_BUFFER);
    else
        *out = buffer;
    return status;
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
    qn__object_destroy(buffer ? &buffer->object : NULL, QN__OBJECT_BUFFER);
}

void qn__buffer_finalise(qn_buffer *buffer) {
    const qn__allocator *allocator = &buffer->object.context->allocator;
    qn_device *device = buffer->device;
    qn__release(allocator, buffer->label);
    if (buffer->parent) {
        qn__drop(&buffer->parent->object);
        return;
    }
    if (buffer->view) {
        qn__release(allocator, buffer->view);
        atomic_fetch_sub(&device->host, buffer->size);
    }
    if (!buffer->memory) return;
    device->backend->memory_destroy(device->gpu, buffer->memory);
    atomic_fetch_sub(&device->used, buffer->size);
    atomic_fetch_sub(&device->buffers, 1);
}

uint64_t qn_buffer_size(const qn_buffer *buffer) { return buffer ? buffer->size : 0; }

qn_device *qn_buffer_device(const qn_buffer *buffer) { return buffer ? buffer->device : NULL; }

qn_buffer_state qn_buffer_get_state(const qn_buffer *buffer) {
    return buffer ? qn__buffer_root((qn_buffer *)buffer)->state : QN_BUFFER_DEVICE;
}

/* A call that blocks cannot be part of a graph. */
static qn_status check_blocking(qn_buffer *buffer, const char *function) {
    qn_status status = qn__check(buffer, QN__OBJECT_BUFFER, function, "buffer");
    if (status || !buffer->device->stream->recording) return status;
    return qn__fail(buffer->object.context, QN_ERROR_STATE, "%s: the default stream records a graph",
                    function);
}

qn_status qn_buffer_write(qn_buffer *buffer, uint64_t offset, const void *data, uint64_t size) {
    qn_status status = check_blocking(buffer, "qn_buffer_write");
    if (!status) status = qn_stream_write(NULL, buffer, offset, data, size);
    return status || size == 0 ? status : qn_stream_wait(buffer->device->stream, QN_FOREVER);
}

qn_status qn_buffer_read(qn_buffer *buffer, uint64_t offset, void *data, uint64_t size) {
    qn_status status = check_blocking(buffer, "qn_buffer_read");
    if (!status) status = qn_stream_read(NULL, buffer, offset, data, size);
    return status || size == 0 ? status : qn_stream_wait(buffer->device->stream, QN_FOREVER);
}

/* ---- the two sides ---- */

/* Waits for the commands that use the buffer. A stream that is just being destroyed waits for its own work
   and then forgets its buffers: until then this looks again. */
static qn_status wait_for_users(qn_buffer *root) {
    qn_device *device = root->device;
    for (;;) {
        pthread_mutex_lock(&device->use_lock);
        bool many = root->many_streams;
        qn_stream *last = root->last_stream;
        uint64_t number = root->last_number;
        bool kept = last && qn__try_retain(&last->object);
        if (kept) root->many_streams = false;
        pthread_mutex_unlock(&device->use_lock);
        if (!last) return many ? qn_device_wait(device, QN_FOREVER) : QN_OK;
        if (!kept) {
            sched_yield();
            continue;
        }
        qn_status status =
            many ? qn_device_wait(device, QN_FOREVER) : qn__stream_wait_number(last, number, QN_FOREVER);
        qn__drop(&last->object);
        return status;
    }
}

void qn__buffers_forget(qn_stream *stream) {
    qn_context *context = stream->object.context;
    pthread_mutex_lock(&stream->device->use_lock);
    pthread_mutex_lock(&context->lock);
    for (qn__object *o = context->objects[QN__OBJECT_BUFFER].first; o; o = o->next)
        if (((qn_buffer *)o)->last_stream == stream) ((qn_buffer *)o)->last_stream = NULL;
    pthread_mutex_unlock(&context->lock);
    pthread_mutex_unlock(&stream->device->use_lock);
}

/* Without shared memory: newer host contents go to the device, in order on the stream. */
static qn_status send_host_side(qn_buffer *root, qn_stream *stream) {
    if (root->shared || root->state != QN_BUFFER_HOST) return QN_OK;
    qn__command command = {
        .kind = QN__COMMAND_WRITE, .to = root->memory, .size = root->size, .host = root->view};
    qn_status status = qn__stream_submit(stream, &command, (qn__object *[]){&root->object}, 1);
    if (!status) root->state = QN_BUFFER_BOTH;
    return status;
}

qn_status qn__buffer_use(qn_buffer *buffer, qn_stream *stream, bool writes, const char *function) {
    qn_buffer *root = qn__buffer_root(buffer);
    pthread_mutex_lock(&root->device->use_lock);
    bool for_writing = root->write_maps > 0, refused = for_writing || (root->maps && writes);
    /* a graph's buffers are sent at its launch */
    qn_status status = refused || stream->recording ? QN_OK : send_host_side(root, stream);
    pthread_mutex_unlock(&root->device->use_lock);
    if (!refused) return status;
    return qn__fail(buffer->object.context, QN_ERROR_STATE, "%s: the buffer%s%s is mapped%s", function,
                    root->label ? " " : "", root->label ? root->label : "",
                    for_writing ? " for writing" : "");
}

void qn__buffer_used(qn_buffer *buffer, qn_stream *stream, bool writes) {
    if (stream->recording) return;
    qn_buffer *root = qn__buffer_root(buffer);
    uint64_t number = qn__stream_last(stream);
    pthread_mutex_lock(&root->device->use_lock);
    if (root->last_stream && root->last_stream != stream) root->many_streams = true;
    root->last_stream = stream;
    root->last_number = number;
    if (writes) root->state = QN_BUFFER_DEVICE;
    pthread_mutex_unlock(&root->device->use_lock);
}

static qn_status make_view(qn_buffer *buffer) {
    if (buffer->view) return QN_OK;
    buffer->view = qn__allocate_zeroed(&buffer->object.context->allocator, buffer->size);
    if (!buffer->view) return qn__fail_memory(buffer->object.context, buffer->size);
    atomic_fetch_add(&buffer->device->host, buffer->size);
    return QN_OK;
}

static qn_status fetch_device_side(qn_buffer *buffer) {
    qn_status status = make_view(buffer);
    if (status || buffer->state != QN_BUFFER_DEVICE) return status;
    qn__command command = {
        .kind = QN__COMMAND_READ, .from = buffer->memory, .size = buffer->size, .host = buffer->view};
    status = run_now(buffer, &command);
    if (!status) buffer->state = QN_BUFFER_BOTH;
    return status;
}

qn_status qn_buffer_map(qn_buffer *buffer, qn_map_access access, void **pointer) {
    qn_status status = qn__check(buffer, QN__OBJECT_BUFFER, "qn_buffer_map", "buffer");
    if (status) return status;
    qn_context *context = buffer->object.context;
    if (!pointer) return qn__fail_null(context, "qn_buffer_map", "pointer");
    *pointer = NULL;
    if (access != QN_MAP_READ && access != QN_MAP_WRITE && access != QN_MAP_READ_WRITE)
        return qn__fail(context, QN_ERROR_ARGUMENT, "qn_buffer_map: access %d is not a qn_map_access",
                        (int)access);
    if (buffer->parent) return qn__fail(context, QN_ERROR_ARGUMENT, "qn_buffer_map: a view cannot be mapped");
    status = wait_for_users(buffer);
    bool fetches = (access & QN_MAP_READ) && !buffer->write_maps; /* what is being written is the newest */
    if (!status && !buffer->shared) status = fetches ? fetch_device_side(buffer) : make_view(buffer);
    if (status) return status;
    pthread_mutex_lock(&buffer->device->use_lock);
    buffer->maps++;
    buffer->write_maps += (access & QN_MAP_WRITE) != 0;
    pthread_mutex_unlock(&buffer->device->use_lock);
    *pointer = buffer->shared ? buffer->shared : buffer->view;
    return QN_OK;
}

/* Maps end in any order; the host's writes are taken to be complete when the last one ends. */
qn_status qn_buffer_unmap(qn_buffer *buffer) {
    qn_status status = qn__check(buffer, QN__OBJECT_BUFFER, "qn_buffer_unmap", "buffer");
    if (status) return status;
    if (buffer->maps == 0)
        return qn__fail(buffer->object.context, QN_ERROR_STATE, "qn_buffer_unmap: the buffer is not mapped");
    pthread_mutex_lock(&buffer->device->use_lock);
    if (--buffer->maps == 0) {
        if (buffer->write_maps) buffer->state = buffer->shared ? QN_BUFFER_BOTH : QN_BUFFER_HOST;
        buffer->write_maps = 0;
    }
    pthread_mutex_unlock(&buffer->device->use_lock);
    return QN_OK;
}
