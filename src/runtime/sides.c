/* The two sides of a buffer. Its newest contents are on the device, on the host, or both; copies are made when the
   other side is needed and not before. With shared memory there is nothing to copy and mapping only waits. */
#include <sched.h>

#include "runtime/runtime.h"

qn_buffer_state qn_buffer_get_state(const qn_buffer *buffer) {
    if (qn__check(buffer, QN__OBJECT_BUFFER, "qn_buffer_get_state", "buffer")) return QN_BUFFER_DEVICE;
    return qn__buffer_root((qn_buffer *)buffer)->state;
}

void qn__sides_free(qn_buffer *buffer) {
    const qn__allocator *allocator = &buffer->object.context->allocator;
    qn_device *device = buffer->device;
    if (buffer->view) {
        if (buffer->view_pinned)
            device->backend->host_destroy(device->gpu, buffer->view);
        else
            qn__release(allocator, buffer->view);
        atomic_fetch_sub(&device->host, buffer->size);
    }
    if (buffer->sent_mark) {
        qn__recordings_forget(buffer->object.context, buffer->sent_mark);
        device->backend->mark_destroy(buffer->sent_mark);
    }
}

/* Waits for the commands that use the buffer. A stream that is just being destroyed waits for its own work
   and then forgets its buffers: until then this looks again. */
static qn_status wait_for_users(qn_buffer *root) {
    qn_device *device = root->device;
    qn_status across = qn__crossing_wait(root);
    if (across) return across;
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
    for (qn__object *o = context->objects[QN__OBJECT_BUFFER].first; o; o = o->next) {
        qn_buffer *buffer = (qn_buffer *)o;
        if (buffer->last_stream == stream) buffer->last_stream = NULL;
        if (buffer->sent_stream == stream) buffer->sent_stream = NULL;
        if (buffer->sent_seen == stream) buffer->sent_seen = NULL;
        if (!buffer->parent) qn__peer_forget(buffer, stream);
    }
    pthread_mutex_unlock(&context->lock);
    pthread_mutex_unlock(&stream->device->use_lock);
}

static void mark_used(qn_buffer *root, qn_stream *stream, uint64_t number) {
    if (root->last_stream && root->last_stream != stream) root->many_streams = true;
    root->last_stream = stream;
    root->last_number = number;
}

/* Without shared memory: newer host contents go to the device, in order on the stream. The view stays as it is until
   that is done, because the next map for writing waits for the buffer's users. */
static qn_status send_host_side(qn_buffer *root, qn_stream *stream) {
    qn__command command = {.kind = QN__COMMAND_WRITE,
                           .to = root->memory,
                           .size = root->size,
                           .host = root->view,
                           .host_stays = true,
                           .host_pinned = root->view_pinned};
    uint64_t number;
    qn_status status = qn__stream_submit_now(stream, &command, &root->object, &number);
    if (number) mark_used(root, stream, number);
    if (status) return status;
    root->state = QN_BUFFER_BOTH;
    root->sent_stream = stream;
    root->sent_number = number;
    root->sent_seen = NULL;
    return QN_OK;
}

/* The hidden copy runs on the stream that needed it first. Another stream that comes while it may still run waits
   for it on the device. */
static qn_status wait_for_sent(qn_buffer *root, qn_stream *stream) {
    const qn_backend *backend = root->device->backend;
    qn_stream *sender = root->sent_stream;
    if (qn__stream_completed(sender) >= root->sent_number) {
        root->sent_stream = NULL;
        return QN_OK;
    }
    char why[QN__WHY] = "";
    qn_status status =
        root->sent_mark ? QN_OK : backend->mark_create(root->device->gpu, &root->sent_mark, why);
    if (status) return qn__fail(root->object.context, status, "%s", why[0] ? why : qn_status_text(status));
    qn__command record = {
        .kind = QN__COMMAND_RECORD, .mark = root->sent_mark, .mark_version = ++root->sent_version};
    qn__command wait = record;
    wait.kind = QN__COMMAND_WAIT;
    uint64_t number;
    status = qn__stream_submit_now(sender, &record, &root->object, &number);
    if (!status) status = qn__stream_submit_now(stream, &wait, &root->object, &number);
    if (!status) root->sent_seen = stream;
    return status;
}

static qn_status refuse(const qn_buffer *buffer, const char *function) {
    const qn_buffer *root = qn__buffer_root((qn_buffer *)buffer);
    return qn__fail(buffer->object.context, QN_ERROR_STATE, "%s: the buffer%s%s is mapped%s", function,
                    root->label ? " " : "", root->label ? root->label : "",
                    root->write_maps ? " for writing" : "");
}

static qn_status refuse_to_write(const qn_buffer *root, const char *function) {
    return qn__fail(root->object.context, QN_ERROR_ARGUMENT,
                    "%s: the buffer%s%s is read-only and would be written", function, root->label ? " " : "",
                    root->label ? root->label : "");
}

static qn_status use(const qn__use *u, qn_stream *stream, const char *function) {
    qn_buffer *root = qn__buffer_root(u->buffer);
    if (root->write_maps || (root->maps && u->writes)) return refuse(u->buffer, function);
    if (root->read_only && u->writes) return refuse_to_write(root, function);
    /* a graph's buffers are sent at its launch */
    if (root->shared || stream->recording) return QN_OK;
    if (root->state == QN_BUFFER_HOST) return send_host_side(root, stream);
    if (root->sent_stream && root->sent_stream != stream && root->sent_seen != stream)
        return wait_for_sent(root, stream);
    return QN_OK;
}

qn_status qn__buffer_cross(qn_buffer *buffer, bool writes, const char *function) {
    qn_buffer *root = qn__buffer_root(buffer);
    qn_device *device = buffer->device;
    qn_status status = QN_OK;
    pthread_mutex_lock(&device->use_lock);
    if (root->write_maps || (root->maps && writes))
        status = refuse(buffer, function);
    else if (root->read_only && writes)
        status = refuse_to_write(root, function);
    else if (!root->shared && root->state == QN_BUFFER_HOST)
        status = send_host_side(root, device->stream);
    if (!status && writes) root->state = QN_BUFFER_DEVICE;
    pthread_mutex_unlock(&device->use_lock);
    return status;
}

bool qn__buffer_is_sent(qn_buffer *root) {
    pthread_mutex_lock(&root->device->use_lock);
    bool sent = !root->sent_stream || qn__stream_completed(root->sent_stream) >= root->sent_number;
    pthread_mutex_unlock(&root->device->use_lock);
    return sent;
}

qn_status qn__buffers_use(const qn__use *uses, size_t count, qn_stream *stream, const char *function) {
    if (count == 0) return QN_OK;
    pthread_mutex_t *lock = &uses[0].buffer->device->use_lock;
    qn_status status = QN_OK;
    pthread_mutex_lock(lock);
    for (size_t i = 0; i < count && !status; i++) status = use(&uses[i], stream, function);
    pthread_mutex_unlock(lock);
    return status;
}

void qn__buffers_used(const qn__use *uses, size_t count, qn_stream *stream, uint64_t number) {
    if (count == 0 || stream->recording) return;
    pthread_mutex_t *lock = &uses[0].buffer->device->use_lock;
    pthread_mutex_lock(lock);
    for (size_t i = 0; i < count; i++) {
        qn_buffer *root = qn__buffer_root(uses[i].buffer);
        mark_used(root, stream, number);
        if (uses[i].writes) root->state = QN_BUFFER_DEVICE;
    }
    pthread_mutex_unlock(lock);
}

/* Memory that the driver copies from and to at full speed, where it has it to give. */
static qn_status make_view(qn_buffer *buffer) {
    qn_device *device = buffer->device;
    char why[QN__WHY] = "";
    if (buffer->view) return QN_OK;
    if (device->backend->host_create) {
        qn_status status = device->backend->host_create(device->gpu, buffer->size, &buffer->view, why);
        if (status) buffer->view = NULL;
        buffer->view_pinned = buffer->view != NULL;
    }
    if (!buffer->view) buffer->view = qn__allocate_zeroed(&buffer->object.context->allocator, buffer->size);
    if (!buffer->view) return qn__fail_memory(buffer->object.context, buffer->size);
    atomic_fetch_add(&device->host, buffer->size);
    return QN_OK;
}

static qn_status fetch_device_side(qn_buffer *buffer) {
    qn_status status = make_view(buffer);
    if (status || buffer->state != QN_BUFFER_DEVICE) return status;
    qn__command command = {.kind = QN__COMMAND_READ,
                           .from = buffer->memory,
                           .size = buffer->size,
                           .host = buffer->view,
                           .host_pinned = buffer->view_pinned};
    qn_stream *stream = buffer->device->stream;
    uint64_t number;
    status = qn__stream_submit_now(stream, &command, &buffer->object, &number);
    if (!status) status = qn__stream_wait_number(stream, number, QN_FOREVER);
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
    if (buffer->read_only && (access & QN_MAP_WRITE)) return refuse_to_write(buffer, "qn_buffer_map");
    status = wait_for_users(buffer);
    /* what the host has is whole, also when the device is gone */
    if (status == QN_ERROR_DEVICE_LOST && buffer->view && buffer->state != QN_BUFFER_DEVICE) status = QN_OK;
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
