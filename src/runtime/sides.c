/* The two sides of a buffer. Its newest contents are on the device, on the host, or both, by intervals of bytes; copies are made
   when the other side is needed and not before. With shared memory there is nothing to copy and mapping only waits. The
   host's side is a view, memory of the buffer's size whatever part of it is mapped, so that maps that overlap
   are the same memory. */
#include <sched.h>

#include "runtime/runtime.h"

qn_buffer_state qn_buffer_get_state(const qn_buffer *buffer) {
    if (qn__check(buffer, QN__OBJECT_BUFFER, "qn_buffer_get_state", "buffer")) return QN_BUFFER_DEVICE;
    const qn_buffer *root = qn__buffer_root((qn_buffer *)buffer);
    if (root->unified) return qn__unified_state((qn_buffer *)root);
    if (root->shared) return QN_BUFFER_BOTH;
    if (root->state == QN_BUFFER_HOST) return QN_BUFFER_HOST;
    const bool all =
        root->state == QN_BUFFER_BOTH && qn__intervals_have(&root->fresh, (qn__interval){0, root->size});
    if (all) return QN_BUFFER_BOTH;
    return root->view && buffer->object.context->header > 1 ? QN_BUFFER_DEVICE_NEWER : QN_BUFFER_DEVICE;
}

/* ---- what was moved ---- */

/* Of a unified buffer's copy: the buffer's. */
void qn__count_move(qn_buffer *root, qn_move move, uint64_t bytes) {
    qn_buffer *counted = root->copy_of ? root->copy_of : root;
    qn__move_count *const both[] = {&counted->moves[move], &root->device->moves[move]};
    for (int i = 0; i < 2; i++) {
        atomic_fetch_add_explicit(&both[i]->count, 1, memory_order_relaxed);
        atomic_fetch_add_explicit(&both[i]->bytes, bytes, memory_order_relaxed);
    }
}

const char *qn_move_name(qn_move move) {
    static const char *const names[] = {
#define NAME(id, text) [id] = (text),
        QN_MOVE_MAP_OF(NAME)
#undef NAME
    };
    return (unsigned)move < QN_MOVE_COUNT ? names[move] : NULL;
}

static qn_status get_moves(const qn_device *device, const qn__move_count *all, qn_move move, qn_moves *moves,
                           const char *function) {
    qn_context *context = device->object.context;
    if (!moves) return qn__fail_null(context, function, "moves");
    if ((unsigned)move >= QN_MOVE_COUNT)
        return qn__fail(context, QN_ERROR_ARGUMENT, "%s: move %d is not a qn_move", function, (int)move);
    *moves = (qn_moves){atomic_load(&all[move].count), atomic_load(&all[move].bytes)};
    return QN_OK;
}

qn_status qn_buffer_get_moves(const qn_buffer *buffer, qn_move move, qn_moves *moves) {
    qn_status status = qn__check(buffer, QN__OBJECT_BUFFER, "qn_buffer_get_moves", "buffer");
    if (status) return status;
    const qn_buffer *root = qn__buffer_root((qn_buffer *)buffer);
    return get_moves(root->device, root->moves, move, moves, "qn_buffer_get_moves");
}

qn_status qn_device_get_moves(const qn_device *device, qn_move move, qn_moves *moves) {
    qn_status status = qn__check(device, QN__OBJECT_DEVICE, "qn_device_get_moves", "device");
    if (status) return status;
    return get_moves(device, device->moves, move, moves, "qn_device_get_moves");
}

/* ---- who uses it ---- */

/* Waits for the commands that use the buffer. A stream that is just being destroyed waits for its own work
   and then forgets its buffers: until then this looks again. */
qn_status qn__sides_wait(qn_buffer *root) {
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

/* A stream that was left is not sure to do the copy: all that the host has is its newest once more. */
static void send_again(qn_buffer *root) {
    const size_t count = root->changed.count + root->fresh.count;
    if (root->state != QN_BUFFER_BOTH ||
        !qn__intervals_reserve(&root->object.context->allocator, &root->changed, count))
        return;
    for (size_t i = 0; i < root->fresh.count; i++) qn__intervals_add(&root->changed, root->fresh.list[i]);
    if (root->changed.count) root->state = QN_BUFFER_HOST;
}

void qn__buffers_forget(qn_stream *stream) {
    qn_context *context = stream->object.context;
    const uint64_t completed = atomic_load(&stream->left) ? qn__stream_completed(stream) : UINT64_MAX;
    pthread_mutex_lock(&stream->device->use_lock);
    pthread_mutex_lock(&context->lock);
    for (qn__object *o = context->objects[QN__OBJECT_BUFFER].first; o; o = o->next) {
        qn_buffer *buffer = (qn_buffer *)o;
        if (buffer->last_stream == stream) buffer->last_stream = NULL;
        if (buffer->sent_stream == stream) {
            if (completed < buffer->sent_number) send_again(buffer);
            buffer->sent_stream = NULL;
        }
        if (buffer->sent_seen == stream) buffer->sent_seen = NULL;
        if (!buffer->parent) qn__peer_forget(buffer, stream);
    }
    pthread_mutex_unlock(&context->lock);
    pthread_mutex_unlock(&stream->device->use_lock);
}

/* A stream that may never be done is nobody to wait for. */
static void mark_used(qn_buffer *root, qn_stream *stream, uint64_t number) {
    if (qn__stream_is_apart(stream)) return;
    if (root->last_stream && root->last_stream != stream) root->many_streams = true;
    root->last_stream = stream;
    root->last_number = number;
}

/* A hidden copy, to the device or to the host. */
static void note_hidden(qn_buffer *root, qn_stream *stream, uint64_t number) {
    root->sent_stream = stream;
    root->sent_number = number;
    root->sent_seen = NULL;
}

/* Without shared memory: newer host contents go to the device, in order on the stream. The view stays as it is until
   that is done, because the next map for writing waits for the buffer's users. */
static qn_status send_host_side(qn_buffer *root, qn_stream *stream, qn_move move) {
    while (root->changed.count) {
        const qn__interval interval = root->changed.list[root->changed.count - 1];
        qn__command command = {.kind = QN__COMMAND_WRITE,
                               .to = root->memory,
                               .to_offset = interval.begin,
                               .size = interval.end - interval.begin,
                               .host = root->view + interval.begin,
                               .host_stays = true,
                               .host_pinned = root->view_pinned};
        uint64_t number;
        qn_status status = qn__stream_submit_now(stream, &command, &root->object, &number);
        if (number) mark_used(root, stream, number);
        if (status) return status;
        qn__count_move(root, move, command.size);
        note_hidden(root, stream, number);
        root->changed.count--;
    }
    root->state = QN_BUFFER_BOTH;
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
    if (status) return qn__fail(root->object.context, status, "%s", qn__reason(why, status));
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

/* Before work of the stream that uses the buffer, and before another hidden copy there. */
static qn_status wait_for_hidden(qn_buffer *root, qn_stream *stream) {
    const bool waits = root->sent_stream && root->sent_stream != stream && root->sent_seen != stream;
    return waits ? wait_for_sent(root, stream) : QN_OK;
}

/* Others could wait for ever for a copy on a stream that is apart: it is on the default stream then. */
static qn_status settle_sides(qn_buffer *root, qn_stream *stream, qn_move move) {
    qn_stream *sender = qn__stream_is_apart(stream) ? root->device->stream : stream;
    if (root->state != QN_BUFFER_HOST) return wait_for_hidden(root, stream);
    qn_status status = wait_for_hidden(root, sender);
    if (!status) status = send_host_side(root, sender, move);
    return status ? status : wait_for_hidden(root, stream);
}

qn_status qn__sides_refuse(const qn_buffer *buffer, const char *function) {
    const qn_buffer *root = qn__buffer_root((qn_buffer *)buffer);
    char name[QN__BUFFER_NAME];
    qn__buffer_name(root, name);
    return qn__fail(buffer->object.context, QN_ERROR_STATE, "%s: %s is mapped%s", function, name,
                    root->write_maps ? " for writing" : "");
}

qn_status qn__sides_refuse_to_write(const qn_buffer *root, const char *function) {
    char name[QN__BUFFER_NAME];
    qn__buffer_name(root, name);
    return qn__fail(root->object.context, QN_ERROR_ARGUMENT, "%s: %s is read-only and would be written",
                    function, name);
}

static qn_status use(const qn__use *u, qn_stream *stream, qn_move move, const char *function) {
    qn_buffer *root = u->root;
    if (root->copy_of) return QN_OK; /* it has been seen to */
    if (root->write_maps || (root->maps && u->writes)) return qn__sides_refuse(u->buffer, function);
    if (root->read_only && u->writes) return qn__sides_refuse_to_write(root, function);
    /* a graph's buffers are sent at its launch */
    if (root->shared || stream->recording) return QN_OK;
    if (u->overwrites) return wait_for_hidden(root, stream); /* what the host has newer is not wanted */
    return settle_sides(root, stream, move);
}

qn_status qn__buffer_cross(qn_buffer *buffer, bool writes, const char *function) {
    qn_buffer *root = qn__buffer_root(buffer);
    qn_device *device = buffer->device;
    qn_status status = QN_OK;
    pthread_mutex_lock(&device->use_lock);
    if (root->write_maps || (root->maps && writes))
        status = qn__sides_refuse(buffer, function);
    else if (root->read_only && writes)
        status = qn__sides_refuse_to_write(root, function);
    else if (!root->shared && root->state == QN_BUFFER_HOST)
        status = settle_sides(root, device->stream, QN_MOVE_TRANSFER);
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

qn_status qn__buffers_use(const qn__use *uses, size_t count, qn_stream *stream, qn_move move,
                          const char *function) {
    if (count == 0) return QN_OK;
    pthread_mutex_t *lock = &uses[0].root->device->use_lock;
    qn_status status = QN_OK;
    for (size_t i = 0; i < count && !status; i++)
        if (QN__UNLIKELY(uses[i].root->copy_of != NULL))
            status = qn__unified_use(&uses[i], stream, move, function);
    pthread_mutex_lock(lock);
    for (size_t i = 0; i < count && !status; i++) status = use(&uses[i], stream, move, function);
    pthread_mutex_unlock(lock);
    return status;
}

qn_status qn__use_on(const qn_device *device, qn_buffer *buffer, bool writes, qn__use *use) {
    *use = qn__use_of(buffer, writes);
    return use->root->unified ? qn__unified_on(use->root, device, &use->root) : QN_OK;
}

qn_status qn__buffers_check_writes(const qn__use *uses, size_t count, const char *function) {
    for (size_t i = 0; i < count; i++) {
        const qn_buffer *root = uses[i].root;
        if (root->read_only && uses[i].writes) return qn__sides_refuse_to_write(root, function);
    }
    return QN_OK;
}

void qn__buffers_used(const qn__use *uses, size_t count, qn_stream *stream, uint64_t number) {
    if (count == 0 || stream->recording) return;
    pthread_mutex_t *lock = &uses[0].root->device->use_lock;
    pthread_mutex_lock(lock);
    for (size_t i = 0; i < count; i++) {
        qn_buffer *root = uses[i].root;
        mark_used(root, stream, number);
        if (uses[i].writes) root->state = QN_BUFFER_DEVICE;
        if (uses[i].overwrites) root->changed.count = 0;
        if (uses[i].writes && qn__stream_is_apart(stream)) root->is_beside = true;
    }
    pthread_mutex_unlock(lock);
    for (size_t i = 0; i < count; i++)
        if (uses[i].writes && uses[i].root->copy_of) qn__unified_written(uses[i].root);
}

/* ---- maps ---- */

enum { LARGE_VIEW = 16 << 20 };

static void drop_view(qn_buffer *root) {
    qn_device *device = root->device;
    if (!root->view) return;
    if (root->view_pinned)
        device->backend->host_destroy(device->gpu, root->view);
    else
        qn__release(&root->object.context->allocator, root->view);
    qn__host_give(device, root->pool, root->size, root->view_pinned);
    root->view = NULL;
    root->view_pinned = root->view_lazy = false;
}

void qn__buffer_lose_view(qn_buffer *root) {
    if (root->unified) return; /* the host's side is none of the device's */
    if (root->copy_of) {
        qn__unified_lose(root);
        return;
    }
    drop_view(root);
    root->changed.count = root->fresh.count = 0;
    root->sent_stream = NULL;
    root->state = QN_BUFFER_DEVICE;
}

/* One that is not pinned though it could be goes as soon as nobody needs it. */
static void drop_lazy_view(qn_buffer *root) {
    if (!root->view_lazy || root->maps || root->state == QN_BUFFER_HOST || !qn__buffer_is_sent(root)) return;
    drop_view(root);
    root->state = QN_BUFFER_DEVICE;
}

/* Memory that the driver copies from and to at full speed, where it has it to give. Without `pin` ordinary memory, of
   which pages that nobody touches cost nothing. */
static qn_status make_view(qn_buffer *root, bool pin) {
    qn_device *device = root->device;
    char why[QN__WHY] = "";
    if (pin) drop_lazy_view(root);
    if (root->view) return QN_OK;
    qn_status status = qn__host_take(device, root->pool, root->size);
    if (status) return status;
    if (pin && device->backend->host_create) {
        void *pinned = NULL;
        status = device->backend->host_create(device->gpu, root->size, &pinned, why);
        root->view = status ? NULL : pinned;
        root->view_pinned = root->view != NULL;
    }
    if (!root->view) root->view = qn__allocate_zeroed(&root->object.context->allocator, root->size);
    if (!root->view) {
        qn__host_give(device, root->pool, root->size, false);
        return qn__fail_memory(root->object.context, root->size);
    }
    root->view_lazy = !pin;
    if (root->view_pinned) qn__host_pinned(device, root->pool, root->size);
    return QN_OK;
}

qn_status qn__sides_make_view(qn_buffer *root) { return make_view(root, false); }

qn_status qn__sides_order(qn_buffer *root, qn_stream *stream) {
    pthread_mutex_lock(&root->device->use_lock);
    const qn_status status = wait_for_hidden(root, stream);
    pthread_mutex_unlock(&root->device->use_lock);
    return status;
}

void qn__sides_note(qn_buffer *root, qn_stream *stream, uint64_t number, bool is_hidden) {
    pthread_mutex_lock(&root->device->use_lock);
    mark_used(root, stream, number);
    if (is_hidden) note_hidden(root, stream, number);
    pthread_mutex_unlock(&root->device->use_lock);
}

/* What is read and the host does not have: neither as on the device nor because it is being written. Then there is room for
   all that the map's fetch and the last unmap note. */
static bool list_missing(qn_buffer *root, qn_map_access access, qn__interval interval,
                         qn__intervals *missing) {
    const qn__allocator *allocator = &root->object.context->allocator;
    if (root->state == QN_BUFFER_DEVICE || (root->is_beside && root->state != QN_BUFFER_HOST))
        root->fresh.count = 0;
    if (!qn__intervals_reserve(allocator, missing, 1 + root->fresh.count + root->written.count)) return false;
    if (access & QN_MAP_READ) qn__intervals_add(missing, interval);
    for (size_t i = 0; i < root->fresh.count; i++) qn__intervals_remove(missing, root->fresh.list[i]);
    for (size_t i = 0; i < root->written.count; i++) qn__intervals_remove(missing, root->written.list[i]);
    const size_t written = root->written.count + 1;
    return qn__intervals_reserve(allocator, &root->fresh, 2 * missing->count + written) &&
           qn__intervals_reserve(allocator, &root->changed, written) &&
           qn__intervals_reserve(allocator, &root->written, 1);
}

/* Submits the copies to the view; the lock is held. *number: of the last. */
static qn_status fetch(qn_buffer *root, const qn__intervals *missing, qn_stream *stream, qn_move move,
                       uint64_t *number) {
    qn_status status = QN_OK;
    for (size_t i = 0; i < missing->count && !status; i++) {
        const qn__interval interval = missing->list[i];
        qn__command command = {.kind = QN__COMMAND_READ,
                               .from = root->memory,
                               .from_offset = interval.begin,
                               .size = interval.end - interval.begin,
                               .host = root->view + interval.begin,
                               .host_pinned = root->view_pinned};
        uint64_t submitted;
        status = qn__stream_submit_now(stream, &command, &root->object, &submitted);
        if (submitted) mark_used(root, stream, *number = submitted);
        if (status) break;
        qn__count_move(root, move, command.size);
        qn__intervals_add(&root->fresh, interval);
    }
    if (root->fresh.count && root->state == QN_BUFFER_DEVICE) root->state = QN_BUFFER_BOTH;
    return status;
}

static qn_status fetch_now(qn_buffer *root, const qn__intervals *missing, qn_move move) {
    qn_stream *stream = root->device->stream;
    uint64_t number = 0;
    pthread_mutex_lock(&root->device->use_lock);
    qn_status status = fetch(root, missing, stream, move, &number);
    pthread_mutex_unlock(&root->device->use_lock);
    qn_status waited = number ? qn__stream_wait_number(stream, number, QN_FOREVER) : QN_OK;
    if (!status) status = waited;
    for (size_t i = 0; i < missing->count && status; i++)
        qn__intervals_remove(&root->fresh, missing->list[i]);
    return status;
}

/* The same without waiting: streams that use the buffer later wait for it, as for what was sent. */
static qn_status fetch_later(qn_buffer *root, const qn__intervals *missing, qn_stream *stream, qn_move move) {
    uint64_t number = 0;
    pthread_mutex_lock(&root->device->use_lock);
    qn_status status = wait_for_hidden(root, stream);
    if (!status) status = fetch(root, missing, stream, move, &number);
    if (number) {
        note_hidden(root, stream, number);
        root->fetch_runs = true;
    }
    pthread_mutex_unlock(&root->device->use_lock);
    return status;
}

/* On a stream, or at once where that is NULL. What the host has can be mapped when the device is gone. */
static qn_status make_host_side(qn_buffer *root, qn_stream *stream, qn_map_access access,
                                qn__interval interval, qn_move move) {
    if (root->unified) return qn__unified_fetch(root, access, interval, move);
    qn_status status = stream ? QN_OK : qn__sides_wait(root);
    if (!stream && !status) root->fetch_runs = false;
    const bool has_some = root->view && root->state != QN_BUFFER_DEVICE && !root->fetch_runs;
    const bool lost = status == QN_ERROR_DEVICE_LOST && has_some;
    if (root->shared || (status && !lost)) return status;
    const bool pin = stream || interval.end - interval.begin == root->size || root->size < LARGE_VIEW;
    qn__intervals missing = {0};
    status = make_view(root, pin);
    if (!status && !list_missing(root, access, interval, &missing))
        status = qn__fail_memory(root->object.context, sizeof interval);
    if (!status && lost)
        status = missing.count ? QN_ERROR_DEVICE_LOST : QN_OK; /* the wait has left the message */
    else if (!status)
        status = stream ? fetch_later(root, &missing, stream, move) : fetch_now(root, &missing, move);
    qn__intervals_free(&root->object.context->allocator, &missing);
    return status;
}

static qn_status check_map(qn_buffer *buffer, qn_map_access access, uint64_t offset, uint64_t size,
                           void **pointer, const char *function) {
    qn_context *context = buffer->object.context;
    if (!pointer) return qn__fail_null(context, function, "pointer");
    if (access != QN_MAP_READ && access != QN_MAP_WRITE && access != QN_MAP_READ_WRITE)
        return qn__fail(context, QN_ERROR_ARGUMENT, "%s: access %d is not a qn_map_access", function,
                        (int)access);
    if (size == 0 || offset > buffer->size || size > buffer->size - offset)
        return qn__fail(context, QN_ERROR_RANGE, "%s: %llu bytes at %llu of a buffer of %llu", function,
                        (unsigned long long)size, (unsigned long long)offset,
                        (unsigned long long)buffer->size);
    const qn_buffer *root = qn__buffer_root(buffer);
    return root->read_only && (access & QN_MAP_WRITE) ? qn__sides_refuse_to_write(root, function) : QN_OK;
}

static void lock_unified(const qn_buffer *root) {
    if (root->unified) pthread_mutex_lock(&root->unified->lock);
}

static void unlock_unified(const qn_buffer *root) {
    if (root->unified) pthread_mutex_unlock(&root->unified->lock);
}

static qn_status map(qn_buffer *buffer, qn_stream *stream, qn_map_access access, uint64_t offset,
                     uint64_t size, void **pointer, const char *function) {
    if (pointer) *pointer = NULL;
    qn_status status = check_map(buffer, access, offset, size, pointer, function);
    if (status) return status;
    qn_buffer *root = qn__buffer_root(buffer);
    const uint64_t begin = buffer->offset + offset;
    const qn__interval interval = {begin, begin + size};
    lock_unified(root);
    status = make_host_side(root, stream, access, interval, QN_MOVE_MAP);
    pthread_mutex_lock(&root->device->use_lock);
    if (!status) {
        root->maps++;
        if (access & QN_MAP_WRITE) root->write_maps++;
        if ((access & QN_MAP_WRITE) && !root->shared) qn__intervals_add(&root->written, interval);
    }
    pthread_mutex_unlock(&root->device->use_lock);
    unlock_unified(root);
    if (status) return status;
    *pointer = (root->shared ? (unsigned char *)root->shared : root->view) + begin;
    return QN_OK;
}

qn_status qn_buffer_map(qn_buffer *buffer, qn_map_access access, void **pointer) {
    qn_status status = qn__check(buffer, QN__OBJECT_BUFFER, "qn_buffer_map", "buffer");
    return status ? status : map(buffer, NULL, access, 0, buffer->size, pointer, "qn_buffer_map");
}

qn_status qn_buffer_map_range(qn_buffer *buffer, qn_map_access access, uint64_t offset, uint64_t size,
                              void **pointer) {
    qn_status status = qn__check(buffer, QN__OBJECT_BUFFER, "qn_buffer_map_range", "buffer");
    return status ? status : map(buffer, NULL, access, offset, size, pointer, "qn_buffer_map_range");
}

/* Of calls that have the sides brought together on a stream; *stream is the default stream where it is NULL. */
static qn_status check_stream(qn_stream **stream, qn_buffer *buffer, const char *function) {
    qn_status status = qn__check_beside(*stream, buffer, QN__OBJECT_BUFFER, function, "buffer");
    if (!status && *stream) status = qn__check_beside(buffer, *stream, QN__OBJECT_STREAM, function, "stream");
    if (status) return status;
    *stream = qn__stream_of(*stream, buffer->device);
    const bool is_unified =
        qn__buffer_root(buffer)->unified && buffer->object.context == (*stream)->object.context;
    if (buffer->device != (*stream)->device && !is_unified)
        return qn__other_device(buffer->device, (*stream)->device,
                                "%s: the buffer is of another device or context", function);
    if ((*stream)->recording)
        return qn__fail(buffer->object.context, QN_ERROR_STATE, "%s: cannot be recorded in a graph",
                        function);
    return QN_OK;
}

static qn_status refuse_persistent(const qn_stream *stream, const char *function) {
    return qn__fail(stream->object.context, QN_ERROR_STATE,
                    "%s: copies to the host cannot be on a persistent stream", function);
}

qn_status qn_stream_map(qn_stream *stream, qn_buffer *buffer, qn_map_access access, uint64_t offset,
                        uint64_t size, void **pointer) {
    static const char function[] = "qn_stream_map";
    qn_status status = check_stream(&stream, buffer, function);
    if (status) return status;
    if (atomic_load(&stream->persistent)) return refuse_persistent(stream, function);
    return map(buffer, stream, access, offset, size, pointer, function);
}

/* ---- bringing them together ---- */

static qn_status bring_to_device(qn_buffer *buffer, qn_stream *stream, const char *function) {
    qn__use use;
    qn_status status = qn__use_on(stream->device, buffer, false, &use);
    return status ? status : qn__buffers_use(&use, 1, stream, QN_MOVE_TO_DEVICE, function);
}

/* On the stream, or now where that is NULL. What is mapped for reading may be brought over as well. */
static qn_status bring_to_host(qn_buffer *buffer, qn_stream *stream, const char *function) {
    qn_buffer *root = qn__buffer_root(buffer);
    const qn__interval interval = {buffer->offset, buffer->offset + buffer->size};
    if (root->write_maps) return qn__sides_refuse(root, function);
    lock_unified(root);
    const qn_status status = make_host_side(root, stream, QN_MAP_READ, interval, QN_MOVE_TO_HOST);
    unlock_unified(root);
    return status;
}

qn_status qn_stream_prefetch(qn_stream *stream, qn_buffer *buffer, qn_side side) {
    static const char function[] = "qn_stream_prefetch";
    qn_status status = check_stream(&stream, buffer, function);
    if (status) return status;
    if (side != QN_SIDE_DEVICE && side != QN_SIDE_HOST)
        return qn__fail(buffer->object.context, QN_ERROR_ARGUMENT, "%s: side %d is not a qn_side", function,
                        (int)side);
    if (side == QN_SIDE_DEVICE) return bring_to_device(buffer, stream, function);
    if (atomic_load(&stream->persistent)) return refuse_persistent(stream, function);
    if (qn__buffer_root(buffer)->shared) return QN_OK;
    return bring_to_host(buffer, stream, function);
}

qn_status qn_buffer_sync(qn_buffer *buffer) {
    static const char function[] = "qn_buffer_sync";
    qn_status status = qn__check(buffer, QN__OBJECT_BUFFER, function, "buffer");
    if (status) return status;
    qn_buffer *root = qn__buffer_root(buffer);
    status = bring_to_device(root, root->device->stream, function);
    if (!status) status = bring_to_host(root, NULL, function);
    return status;
}

/* What maps for writing reached is the newest there is now. */
static void take_over(qn_buffer *root) {
    if (root->unified) {
        qn__unified_take_over(root);
        return;
    }
    for (size_t i = 0; i < root->written.count; i++) {
        qn__intervals_add(&root->fresh, root->written.list[i]);
        qn__intervals_add(&root->changed, root->written.list[i]);
    }
    root->written.count = 0;
    root->state = root->shared ? QN_BUFFER_BOTH : QN_BUFFER_HOST;
}

/* Maps end in any order; the host's writes are taken to be complete when the last one ends. */
qn_status qn_buffer_unmap(qn_buffer *buffer) {
    qn_status status = qn__check(buffer, QN__OBJECT_BUFFER, "qn_buffer_unmap", "buffer");
    if (status) return status;
    qn_buffer *root = qn__buffer_root(buffer);
    if (root->maps == 0)
        return qn__fail(root->object.context, QN_ERROR_STATE, "qn_buffer_unmap: the buffer is not mapped");
    lock_unified(root);
    pthread_mutex_lock(&root->device->use_lock);
    if (--root->maps == 0) {
        if (root->write_maps) take_over(root);
        root->write_maps = 0;
    }
    pthread_mutex_unlock(&root->device->use_lock);
    unlock_unified(root);
    return QN_OK;
}

void qn__sides_free(qn_buffer *root) {
    const qn__allocator *allocator = &root->object.context->allocator;
    drop_view(root);
    qn__intervals_free(allocator, &root->fresh);
    qn__intervals_free(allocator, &root->changed);
    qn__intervals_free(allocator, &root->written);
    if (!root->sent_mark) return;
    qn__recordings_forget(root->object.context, root->sent_mark);
    root->device->backend->mark_destroy(root->sent_mark);
}
