/* Unified buffers (QN_MEMORY_UNIFIED): a host side and, on each device that has used the buffer, a copy, made at the first use.
   A copy is a root of its own that no handle names. Which bytes are newest where is told by intervals: of the host's side
   what is fresh, of a copy what has changed elsewhere. Each byte is newest on at least one side. Whoever needs bytes that are
   newer elsewhere gets these and no more; whoever writes makes all other sides out of date. On the processor the copy is
   the host's side itself. A buffer's lock is taken before all others. */
#include <string.h>

#include "runtime/runtime.h"

static qn__interval whole(const qn_buffer *root) { return (qn__interval){0, root->size}; }

static const qn__allocator *allocator_of(const qn_buffer *root) { return &root->object.context->allocator; }

/* Room was reserved when it was made. */
static void set_all(qn__intervals *set, const qn_buffer *root) {
    set->count = 0;
    qn__intervals_add(set, whole(root));
}

void qn__unified_lose(qn_buffer *copy) { set_all(&copy->changed, copy); }

/* ---- making and ending ---- */

qn_status qn__unified_init(qn_buffer *home, const void *data) {
    const qn__allocator *allocator = allocator_of(home);
    qn__unified *unified = qn__allocate_zeroed(allocator, sizeof *unified);
    if (!unified) return qn__fail_memory(home->object.context, sizeof *unified);
    pthread_mutex_init(&unified->lock, NULL);
    home->unified = unified;
    qn_status status = qn__sides_make_view(home);
    if (!status && !qn__intervals_reserve(allocator, &home->fresh, 1))
        status = qn__fail_memory(home->object.context, sizeof(qn__interval));
    if (status) return status;
    set_all(&home->fresh, home);
    if (data) memcpy(home->view, data, (size_t)home->size);
    return QN_OK;
}

/* A copy that is the host's side may be in use still: it takes that along. */
void qn__unified_free(qn_buffer *home) {
    qn__unified *unified = home->unified;
    for (qn_buffer *copy = unified->copies, *next; copy; copy = next) {
        next = copy->next_copy;
        if (copy->in_view) {
            qn__host_give(home->device, home->pool, home->size, false);
            qn__host_take(copy->device, NULL, copy->size);
            copy->view = home->view;
            home->view = NULL;
        }
        copy->copy_of = NULL;
        qn__drop(&copy->object);
    }
    pthread_mutex_destroy(&unified->lock);
    qn__release(allocator_of(home), unified);
}

/* The processor uses the host's side where it is. Emulated devices want whole pages, or copy after all. */
static bool takes_view(const qn_device *device, const qn_buffer *home) {
    return device->backend->kind == QN_DEVICE_CPU && (uintptr_t)home->view % 16 == 0;
}

static qn_status fill_in(qn_buffer *copy, qn_buffer *home) {
    copy->copy_of = home;
    copy->read_only = home->read_only;
    copy->in_view = copy->imported = takes_view(copy->device, home);
    if (copy->in_view) copy->shared = home->view;
    if (!copy->in_view && home->pool && home->pool->device == copy->device) {
        copy->pool = home->pool;
        qn__retain(&copy->pool->object);
    }
    if (!qn__intervals_reserve(allocator_of(home), &copy->changed, home->written.count + 1))
        return qn__fail_memory(home->object.context, sizeof(qn__interval));
    if (!copy->in_view) set_all(&copy->changed, copy);
    return qn__buffer_allocate(copy);
}

/* No handle names it: the walk at the context's end passes over what counts as destroyed. */
static qn_status make_copy(qn_buffer *home, qn_device *device, qn_buffer **out) {
    qn_status status = qn__device_ready(device);
    if (!status) status = qn__check_size(device, home->size);
    if (status) return status;
    qn_buffer *copy = qn__buffer_new(device, home->size, home->label);
    if (!copy) return QN_ERROR_OUT_OF_MEMORY;
    atomic_store(&copy->object.destroyed, true);
    status = fill_in(copy, home);
    if (status) {
        qn__drop(&copy->object);
        return status;
    }
    copy->next_copy = home->unified->copies;
    home->unified->copies = copy;
    *out = copy;
    return QN_OK;
}

qn_status qn__unified_on(qn_buffer *home, const qn_device *device, qn_buffer **out) {
    qn_status status = QN_OK;
    pthread_mutex_lock(&home->unified->lock);
    *out = home->unified->copies;
    while (*out && (*out)->device != device) *out = (*out)->next_copy;
    if (!*out) status = make_copy(home, (qn_device *)device, out);
    pthread_mutex_unlock(&home->unified->lock);
    return status;
}

qn_status qn__unified_refuse(const qn_buffer *buffer, const char *function) {
    if (!qn__buffer_root((qn_buffer *)buffer)->unified) return QN_OK;
    return qn__fail(buffer->object.context, QN_ERROR_UNSUPPORTED,
                    "%s: a unified buffer has no memory of its own (QN_MEMORY_UNIFIED)", function);
}

/* ---- what is where; the buffer's lock is held ---- */

qn_buffer_state qn__unified_state(qn_buffer *home) {
    qn__unified *unified = home->unified;
    pthread_mutex_lock(&unified->lock);
    bool on_device = false;
    for (const qn_buffer *copy = unified->copies; copy; copy = copy->next_copy)
        on_device = on_device || copy->in_view || !copy->changed.count;
    const bool on_host = qn__intervals_have(&home->fresh, whole(home)), any = unified->copies != NULL;
    pthread_mutex_unlock(&unified->lock);
    if (!any) return home->object.context->header > 1 ? QN_BUFFER_HOST_ONLY : QN_BUFFER_HOST;
    if (!on_device) return QN_BUFFER_HOST;
    if (on_host) return QN_BUFFER_BOTH;
    return home->object.context->header > 1 ? QN_BUFFER_DEVICE_NEWER : QN_BUFFER_DEVICE;
}

/* `wanted` without what is out of date in a source: what that can give. */
static bool list_given(const qn_buffer *home, const qn__intervals *wanted, const qn__intervals *stale,
                       qn__intervals *given) {
    given->count = 0;
    if (!qn__intervals_reserve(allocator_of(home), given, wanted->count + stale->count + 1)) return false;
    for (size_t i = 0; i < wanted->count; i++) qn__intervals_add(given, wanted->list[i]);
    for (size_t i = 0; i < stale->count; i++) qn__intervals_remove(given, stale->list[i]);
    return true;
}

static bool list_host_stale(const qn_buffer *home, qn__intervals *stale) {
    stale->count = 0;
    if (!qn__intervals_reserve(allocator_of(home), stale, home->fresh.count + 2)) return false;
    qn__intervals_add(stale, whole(home));
    for (size_t i = 0; i < home->fresh.count; i++) qn__intervals_remove(stale, home->fresh.list[i]);
    return true;
}

static qn_status no_room(const qn_buffer *home) {
    return qn__fail_memory(home->object.context, sizeof(qn__interval));
}

static qn_status all_lost(const qn_buffer *home, const char *where) {
    char name[QN__BUFFER_NAME];
    qn__buffer_name(home, name);
    return qn__fail(home->object.context, QN_ERROR_DEVICE_LOST,
                    "the newest contents of %s were lost with their device, and are wanted on %s", name,
                    where);
}

/* What a device had that is lost is had no more. */
static qn_status wait_for_copy(qn_buffer *copy) {
    const qn_status status = qn__sides_wait(copy);
    if (status != QN_ERROR_DEVICE_LOST || copy->in_view) return status;
    qn__unified_lose(copy);
    return QN_OK;
}

static qn_status wait_for_others(qn_buffer *home, const qn_buffer *but) {
    qn_status status = QN_OK;
    for (qn_buffer *copy = home->unified->copies; copy && !status; copy = copy->next_copy)
        if (copy != but) status = wait_for_copy(copy);
    return status;
}

/* ---- to the host ---- */

static qn_status read_back(qn_buffer *copy, qn__interval piece, qn_move move) {
    qn_buffer *home = copy->copy_of;
    qn_stream *stream = copy->device->stream;
    const qn__command command = {.kind = QN__COMMAND_READ,
                                 .from = copy->memory,
                                 .from_offset = piece.begin,
                                 .size = piece.end - piece.begin,
                                 .host = home->view + piece.begin};
    uint64_t number = 0;
    qn_status status = qn__stream_submit_now(stream, &command, &home->object, &number);
    qn_status waited = number ? qn__stream_wait_number(stream, number, QN_FOREVER) : QN_OK;
    if (status || waited) return status ? status : waited;
    qn__count_move(copy, move, command.size);
    return QN_OK;
}

static qn_status fetch_from(qn_buffer *copy, qn__intervals *missing, qn_move move) {
    qn_buffer *home = copy->copy_of;
    qn__intervals given = {0};
    qn_status status = list_given(home, missing, &copy->changed, &given) ? QN_OK : no_room(home);
    for (size_t i = 0; i < given.count && !status; i++) {
        status = read_back(copy, given.list[i], move);
        if (status) break;
        qn__intervals_add(&home->fresh, given.list[i]);
        qn__intervals_remove(missing, given.list[i]);
    }
    qn__intervals_free(allocator_of(home), &given);
    return status;
}

/* Room for all that the fetch, and the unmap of a map, will note. */
static bool reserve(qn_buffer *home, size_t missing) {
    const qn__allocator *allocator = allocator_of(home);
    const size_t written = home->written.count + 2;
    size_t stale = missing + written;
    bool done = qn__intervals_reserve(allocator, &home->written, 1);
    for (qn_buffer *copy = home->unified->copies; copy && done; copy = copy->next_copy) {
        done = qn__intervals_reserve(allocator, &copy->changed, written);
        stale += copy->changed.count;
    }
    return done && qn__intervals_reserve(allocator, &home->fresh, stale);
}

/* The device's work on the buffer is waited for, but what uses the host's side itself where that is `by`. */
static qn_status fetch(qn_buffer *home, qn_map_access access, qn__interval interval, qn_move move,
                       const qn_buffer *by) {
    const qn__allocator *allocator = allocator_of(home);
    qn__intervals missing = {0};
    qn_status status = wait_for_others(home, by);
    if (status) return status;
    if (!qn__intervals_reserve(allocator, &missing, home->fresh.count + home->written.count + 2))
        return no_room(home);
    if (access & QN_MAP_READ) qn__intervals_add(&missing, interval);
    for (size_t i = 0; i < home->fresh.count; i++) qn__intervals_remove(&missing, home->fresh.list[i]);
    for (size_t i = 0; i < home->written.count; i++) qn__intervals_remove(&missing, home->written.list[i]);
    size_t stale = missing.count;
    for (qn_buffer *copy = home->unified->copies; copy; copy = copy->next_copy) stale += copy->changed.count;
    if (!reserve(home, stale) || !qn__intervals_reserve(allocator, &missing, stale + 1))
        status = no_room(home);
    for (qn_buffer *copy = home->unified->copies; copy && missing.count && !status; copy = copy->next_copy)
        if (!copy->in_view) status = fetch_from(copy, &missing, move);
    if (!status && missing.count) status = all_lost(home, "the host");
    qn__intervals_free(allocator, &missing);
    return status;
}

qn_status qn__unified_fetch(qn_buffer *home, qn_map_access access, qn__interval interval, qn_move move) {
    return fetch(home, access, interval, move, NULL);
}

void qn__unified_take_over(qn_buffer *home) {
    for (size_t i = 0; i < home->written.count; i++) {
        qn__intervals_add(&home->fresh, home->written.list[i]);
        for (qn_buffer *copy = home->unified->copies; copy; copy = copy->next_copy)
            if (!copy->in_view) qn__intervals_add(&copy->changed, home->written.list[i]);
    }
    home->written.count = 0;
}

/* ---- to a device ---- */

static qn_status send(qn_buffer *copy, qn__interval piece, qn_stream *stream, qn_move move) {
    qn_buffer *home = copy->copy_of;
    const qn__command command = {.kind = QN__COMMAND_WRITE,
                                 .to = copy->memory,
                                 .to_offset = piece.begin,
                                 .size = piece.end - piece.begin,
                                 .host = home->view + piece.begin,
                                 .host_stays = true};
    uint64_t number = 0;
    const qn_status status = qn__stream_submit_now(stream, &command, &home->object, &number);
    if (number) qn__sides_note(copy, stream, number, true);
    if (!status) qn__count_move(copy, move, command.size);
    return status;
}

static qn_status cross(qn_buffer *from, qn_buffer *copy, qn__interval piece, qn_stream *stream) {
    uint64_t number = 0;
    const uint64_t size = piece.end - piece.begin;
    const qn_status status = qn__stream_cross(stream, from, piece.begin, copy, piece.begin, size, &number);
    if (number) qn__sides_note(copy, stream, number, false);
    copy->crossed_on = stream;
    if (!status) qn__count_move(copy, QN_MOVE_BETWEEN, size);
    return status;
}

/* From another copy, or from the host's side (`from` NULL), what that has of what is out of date. */
static qn_status bring_from(qn_buffer *from, qn_buffer *copy, qn_stream *stream, qn_move move) {
    qn_buffer *home = copy->copy_of;
    qn__intervals given = {0}, stale = {0};
    bool room = from || list_host_stale(home, &stale);
    room = room && list_given(home, &copy->changed, from ? &from->changed : &stale, &given);
    room = room && qn__intervals_reserve(allocator_of(home), &copy->changed, given.count + 1);
    qn_status status = room ? QN_OK : no_room(home);
    for (size_t i = 0; i < given.count && !status; i++) {
        status = from ? cross(from, copy, given.list[i], stream) : send(copy, given.list[i], stream, move);
        if (!status) qn__intervals_remove(&copy->changed, given.list[i]);
    }
    qn__intervals_free(allocator_of(home), &given);
    qn__intervals_free(allocator_of(home), &stale);
    return status;
}

static qn_status wait_on_device(qn_stream *last, uint64_t number, qn_stream *stream) {
    qn_event *event;
    if (qn__stream_completed(last) >= number) return QN_OK;
    qn_status status = qn_event_create(last->device, &event);
    if (status) return status;
    status = qn_stream_record(last, event);
    if (!status) status = qn_stream_wait_event(stream, event);
    qn_event_destroy(event);
    return status;
}

/* The stream waits for what another device is still to do with its copy. Where that is the work of several streams, or of one
   that an event cannot be put behind, the host does. */
static qn_status order_behind(qn_buffer *from, qn_stream *stream) {
    pthread_mutex_lock(&from->device->use_lock);
    qn_stream *last = from->last_stream;
    const uint64_t number = from->last_number;
    const bool many = from->many_streams, idle = !last && !many;
    if (last && !qn__try_retain(&last->object)) last = NULL;
    pthread_mutex_unlock(&from->device->use_lock);
    if (idle) return QN_OK;
    const bool is_plain = last && !many && !last->recording && !last->lent && !qn__stream_is_apart(last);
    const bool ordered = is_plain && !wait_on_device(last, number, stream);
    if (last) qn__drop(&last->object);
    return ordered ? QN_OK : wait_for_copy(from);
}

static qn_status bring_from_copies(qn_buffer *copy, qn_stream *stream, bool peers) {
    qn_status status = QN_OK;
    qn_buffer *from = copy->copy_of->unified->copies;
    for (; from && copy->changed.count && !status; from = from->next_copy) {
        if (from == copy || from->in_view || qn__are_peers(from->device, copy->device) != peers) continue;
        if (qn__intervals_have(&from->changed, whole(from))) continue;
        status = order_behind(from, stream);
        if (!status) status = bring_from(from, copy, stream, QN_MOVE_BETWEEN);
    }
    return status;
}

static qn_status wait_for_view(qn_buffer *home) {
    for (qn_buffer *copy = home->unified->copies; copy; copy = copy->next_copy)
        if (copy->in_view) return wait_for_copy(copy);
    return QN_OK;
}

/* What has been brought by one stream another one waits for: on the device, or, as it came from another one, here. */
static qn_status order(qn_buffer *copy, qn_stream *stream) {
    if (copy->crossed_on && copy->crossed_on != stream) {
        const qn_status status = wait_for_copy(copy);
        if (status) return status;
        copy->crossed_on = NULL;
    }
    return qn__sides_order(copy, stream);
}

/* Directly from a device where the hardware can, else from the host, where that has it, else from a device by the host. */
static qn_status bring(qn_buffer *copy, qn_stream *stream, qn_move move) {
    qn_buffer *home = copy->copy_of;
    qn_status status = order(copy, stream);
    if (status || !copy->changed.count) return status;
    status = bring_from_copies(copy, stream, true);
    if (!status && copy->changed.count && home->fresh.count) {
        status = wait_for_view(home);
        if (!status) status = bring_from(NULL, copy, stream, move);
    }
    if (!status) status = bring_from_copies(copy, stream, false);
    if (!status && copy->changed.count) status = all_lost(home, copy->device->name);
    return status;
}

/* The host's side as a device's. Before it is written, other devices have got what they were to get of it. */
static qn_status bring_view(qn_buffer *copy, bool writes) {
    qn_buffer *home = copy->copy_of;
    if (!writes && qn__intervals_have(&home->fresh, whole(home))) return QN_OK;
    return fetch(home, QN_MAP_READ, whole(home), QN_MOVE_BETWEEN, copy);
}

qn_status qn__unified_use(const qn__use *use, qn_stream *stream, qn_move move, const char *function) {
    qn_buffer *copy = use->root, *home = copy->copy_of;
    qn_status status = QN_OK;
    pthread_mutex_lock(&home->unified->lock);
    if (home->write_maps || (home->maps && use->writes))
        status = qn__sides_refuse(home, function);
    else if (home->read_only && use->writes)
        status = qn__sides_refuse_to_write(home, function);
    else if (qn__stream_is_apart(stream))
        status = qn__fail(home->object.context, QN_ERROR_STATE,
                          "%s: unified buffers cannot be used on a persistent stream", function);
    else if (!stream->recording) {
        if (use->writes) status = qn__crossing_wait(copy); /* others may still be copying what is there */
        if (!status && use->overwrites)
            status = copy->in_view ? wait_for_others(home, copy) : order(copy, stream);
        else if (!status)
            status = copy->in_view ? bring_view(copy, use->writes) : bring(copy, stream, move);
    }
    pthread_mutex_unlock(&home->unified->lock);
    return status;
}

void qn__unified_written(qn_buffer *copy) {
    qn_buffer *home = copy->copy_of;
    pthread_mutex_lock(&home->unified->lock);
    for (qn_buffer *other = home->unified->copies; other; other = other->next_copy)
        if (other != copy && !other->in_view) set_all(&other->changed, other);
    copy->changed.count = 0;
    home->fresh.count = 0;
    if (copy->in_view) set_all(&home->fresh, home);
    pthread_mutex_unlock(&home->unified->lock);
}

/* ---- blocking transfers: by the host's side, so that no device has to have a copy ---- */

qn_status qn__unified_transfer(qn_buffer *buffer, uint64_t offset, void *data, uint64_t size, bool writes) {
    void *pointer;
    qn_status status =
        qn_buffer_map_range(buffer, writes ? QN_MAP_WRITE : QN_MAP_READ, offset, size, &pointer);
    if (status) return status;
    if (writes)
        memcpy(pointer, data, (size_t)size);
    else
        memcpy(data, pointer, (size_t)size);
    return qn_buffer_unmap(buffer);
}
