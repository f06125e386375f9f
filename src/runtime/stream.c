/* Streams: submission, what is in flight, waits, and transfers. */
#include <stdio.h>
#include <string.h>

#include "runtime/runtime.h"
#include "runtime/trace.h"
#include "util/file.h"

enum { REAP_AT = 64 };

qn_status qn__stream_new(qn_device *device, qn_stream **out) {
    *out = NULL;
    qn_context *context = device->object.context;
    qn_stream *stream = qn__object_new(context, QN__OBJECT_STREAM);
    if (!stream) return QN_ERROR_OUT_OF_MEMORY;
    char why[QN__WHY] = "";
    qn__queue *queue = NULL;
    pthread_mutex_init(&stream->lock, NULL);
    qn__hold_init(&stream->hold);
    qn_status status = device->backend->queue_create(device->gpu, &queue, why);
    pthread_mutex_lock(&context->lock); /* it is in the list already: other threads look at it */
    stream->device = device;
    stream->queue = status ? NULL : queue;
    pthread_mutex_unlock(&context->lock);
    if (status == QN_OK) {
        *out = stream;
        return status;
    }
    qn__fail(context, status, "a stream on %s: %s", device->name, why);
    qn__object_destroy(&stream->object, QN__OBJECT_STREAM);
    return status;
}

void qn__stream_finalise(qn_stream *stream) {
    const qn_backend *backend = stream->device->backend;
    char why[QN__WHY];
    if (stream->queue) qn__hold_wait(stream, stream->submitted, QN_FOREVER, why);
    qn__buffers_forget(stream);
    /* until then another stream could have a hidden copy's mark recorded here */
    if (stream->queue) qn__hold_wait(stream, stream->submitted, QN_FOREVER, why);
    qn__trace_leave(stream);
    qn__stream_reap(stream, true);
    if (stream->recording) qn__drop(&stream->recording->object);
    if (stream->queue) backend->queue_destroy(stream->queue);
    qn__release(&stream->object.context->allocator, stream->in_flight);
    qn__hold_free(stream);
    pthread_mutex_destroy(&stream->lock);
}

qn_status qn_stream_create(qn_device *device, qn_stream **out) {
    qn_status status = qn__check(device, QN__OBJECT_DEVICE, "qn_stream_create", "device");
    if (status) return status;
    if (!out) return qn__fail_null(device->object.context, "qn_stream_create", "stream");
    *out = NULL;
    status = qn__device_ready(device);
    if (status) return status;
    return qn__stream_new(device, out);
}

qn_stream *qn__stream_of(qn_stream *stream, qn_device *device) { return stream ? stream : device->stream; }

/* Drops the references of commands that are done; the stream's lock is held. */
void qn__stream_reap(qn_stream *stream, bool all) {
    if (!stream->count) return;
    uint64_t done = all ? UINT64_MAX : qn__hold_completed(stream);
    while (stream->count && stream->in_flight[stream->first].number <= done) {
        qn__object *object = stream->in_flight[stream->first].object;
        stream->first = (stream->first + 1) & (stream->cap - 1);
        stream->count--;
        qn__drop(object);
    }
    stream->reap_at = stream->count < REAP_AT / 2 ? REAP_AT : stream->count * 2;
}

static bool grow_in_flight(qn_stream *stream, size_t wanted) {
    const qn__allocator *allocator = &stream->object.context->allocator;
    size_t cap = stream->cap ? stream->cap : REAP_AT;
    while (cap < wanted) cap *= 2;
    qn__in_flight *grown = qn__allocate(allocator, cap * sizeof *grown);
    if (!grown) return false;
    for (size_t i = 0; i < stream->count; i++)
        grown[i] = stream->in_flight[(stream->first + i) & (stream->cap - 1)];
    qn__release(allocator, stream->in_flight);
    stream->in_flight = grown;
    stream->first = 0;
    stream->cap = cap;
    return true;
}

static void add_in_flight(qn_stream *stream, uint64_t number, qn__object *object) {
    qn__retain(object);
    stream->in_flight[(stream->first + stream->count++) & (stream->cap - 1)] =
        (qn__in_flight){number, object};
}

/* What is submitted: a command, a graph's replay or a copy between devices. */
typedef struct work {
    const qn__command *command;
    qn__graph_replay *replay;
    qn__crossing *crossing;
    qn_device *of; /* the command waits for a mark of this other device, and its driver cannot */
} work;

/* Whether it is to be held, or the stream has commands in flight that were. */
static bool is_held(qn_stream *stream, const work *w) {
    qn_status missed;
    if (stream->hold.on || w->crossing || w->of) return true;
    return !w->replay && w->command->kind == QN__COMMAND_WAIT &&
           qn__recording_is_held(stream->object.context, w->command->mark, w->command->mark_version, &missed);
}

static qn_status hold(qn_stream *stream, const work *w, uint64_t *number, char *why) {
    if (w->crossing) return qn__hold_crossing(stream, w->crossing, number);
    if (w->replay) return qn__hold_replay(stream, w->replay, number, why);
    return qn__hold_command(stream, w->command, w->of, number, why);
}

static qn_status hand_over(qn_stream *stream, const work *w, uint64_t *number, char *why) {
    const qn_backend *backend = stream->device->backend;
    qn_status status = w->replay ? backend->replay_submit(stream->queue, w->replay->replay, number, why)
                                 : backend->submit(stream->queue, w->command, number, why);
    if (*number) *number += stream->hold.offset;
    return status;
}

qn_status qn__stream_put(qn_stream *stream, const qn__command *command) {
    const work w = {.command = command};
    char why[QN__WHY];
    uint64_t number = 0;
    const qn_status status =
        is_held(stream, &w) ? hold(stream, &w, &number, why) : hand_over(stream, &w, &number, why);
    if (number > stream->submitted) stream->submitted = number;
    return status;
}

static qn__span *begin_span(qn_stream *stream, const work *w) {
    const qn__command crossing = {.kind = QN__COMMAND_COPY,
                                  .size = w->crossing ? qn__crossing_size(w->crossing) : 0};
    const qn__command *command = w->crossing ? &crossing : w->command;
    return qn__trace_begin(stream, w->replay ? NULL : command, w->replay ? w->replay->count : 1,
                           is_held(stream, w));
}

/* Hands the work to the backend, or holds it, and keeps what it uses alive. The lock is held. *number is 0 where nothing
   got to the device. */
static qn_status submit_locked(qn_stream *stream, const work *w, const qn__use *uses, size_t num_uses,
                               qn__object *object, uint64_t *number, char *why) {
    const size_t num_used = num_uses + (object != NULL);
    *number = 0;
    why[0] = 0;
    if (QN__UNLIKELY(stream->lent != NULL)) {
        snprintf(why, QN__WHY, "the stream is its native queue's until qn_stream_native_end");
        return QN_ERROR_STATE;
    }
    if (stream->count + num_used > stream->reap_at) qn__stream_reap(stream, false);
    if (stream->count + num_used > stream->cap && !grow_in_flight(stream, stream->count + num_used))
        return QN_ERROR_OUT_OF_MEMORY;
    qn__span *span = NULL;
    if (QN__UNLIKELY(atomic_load_explicit(&stream->object.context->observed, memory_order_acquire)))
        span = begin_span(stream, w);
    qn_status status =
        QN__UNLIKELY(is_held(stream, w)) ? hold(stream, w, number, why) : hand_over(stream, w, number, why);
    if (*number <= stream->submitted)
        *number = 0;
    else {
        stream->submitted = *number;
        for (size_t i = 0; i < num_uses; i++) add_in_flight(stream, *number, &uses[i].buffer->object);
        if (object) add_in_flight(stream, *number, object);
    }
    if (QN__UNLIKELY(span != NULL)) qn__trace_end(stream, span, status);
    return status;
}

/* Not inlined with its caller's path: the message takes half a kilobyte of stack. */
static qn_status say(qn_stream *stream, qn_status status, const char *why) {
    return qn__fail(stream->object.context, status, "%s", qn__reason(why, status));
}

qn_status qn__stream_submit(qn_stream *stream, const qn__command *command, const qn__use *uses,
                            size_t num_uses, qn__object *object, uint64_t *number) {
    char why[QN__WHY];
    why[0] = 0;
    *number = 0;
    pthread_mutex_lock(&stream->lock);
    qn_status status = stream->recording ? qn__graph_add(stream->recording, command, uses, num_uses, object)
                                         : submit_locked(stream, &(work){.command = command}, uses, num_uses,
                                                         object, number, why);
    pthread_mutex_unlock(&stream->lock);
    return QN__LIKELY(status == QN_OK) ? QN_OK : say(stream, status, why);
}

qn_status qn__stream_submit_now(qn_stream *stream, const qn__command *command, qn__object *used,
                                uint64_t *number) {
    char why[QN__WHY];
    pthread_mutex_lock(&stream->lock);
    qn_status status = submit_locked(stream, &(work){.command = command}, NULL, 0, used, number, why);
    pthread_mutex_unlock(&stream->lock);
    return status ? say(stream, status, why) : QN_OK;
}

static qn_status submit_part(qn_stream *stream, const qn__graph_part *part, qn__graph_edition *edition,
                             const qn__use *sources, size_t num_sources, uint64_t *number, char *why) {
    qn__event_record_step record;
    if (!part->event && !part->replay) return QN_OK;
    qn_status status = part->event ? qn__event_record(part->event, &record) : QN_OK;
    if (status) return status;
    uint64_t n;
    status = submit_locked(stream, &(work){.command = &record.command, .replay = part->replay}, sources,
                           num_sources, &edition->object, &n, why);
    if (part->event) qn__event_recorded(part->event, &record, status);
    if (n) *number = n;
    return status;
}

qn_status qn__stream_submit_edition(qn_stream *stream, qn__graph_edition *edition, const qn__use *sources,
                                    size_t num_sources, uint64_t *number) {
    char why[QN__WHY] = "";
    qn_status status = QN_OK;
    *number = 0;
    pthread_mutex_lock(&stream->lock);
    for (size_t i = 0; i < edition->num_parts && !status; i++)
        status = submit_part(stream, &edition->parts[i], edition, sources, num_sources, number, why);
    pthread_mutex_unlock(&stream->lock);
    return status ? say(stream, status, why) : QN_OK;
}

qn_status qn__stream_submit_wait(qn_stream *stream, const qn__command *command, qn_device *of,
                                 qn__object *object, uint64_t *number) {
    char why[QN__WHY];
    pthread_mutex_lock(&stream->lock);
    qn_status status =
        submit_locked(stream, &(work){.command = command, .of = of}, NULL, 0, object, number, why);
    pthread_mutex_unlock(&stream->lock);
    return status ? say(stream, status, why) : QN_OK;
}

qn_status qn__stream_submit_crossing(qn_stream *stream, qn__crossing *crossing, uint64_t *number) {
    char why[QN__WHY];
    pthread_mutex_lock(&stream->lock);
    qn_status status = submit_locked(stream, &(work){.crossing = crossing}, NULL, 0, NULL, number, why);
    pthread_mutex_unlock(&stream->lock);
    return status ? say(stream, status, why) : QN_OK;
}

/* The buffers stay until the command is done; where that cannot be noted, it is waited for. */
qn_status qn__stream_take_back(qn_stream *stream, uint64_t *number) {
    const qn_backend *backend = stream->device->backend;
    char why[QN__WHY] = "";
    qn_status status = QN_OK;
    pthread_mutex_lock(&stream->lock);
    uint64_t count = 0;
    *number = stream->submitted;
    if (backend->take_back) status = backend->take_back(stream->queue, &count, why);
    bool fits = (stream->count + stream->num_lent <= stream->cap ||
                 grow_in_flight(stream, stream->count + stream->num_lent)) &&
                qn__hold_count(stream, count, number);
    stream->submitted = *number;
    for (size_t i = 0; i < stream->num_lent && fits; i++)
        add_in_flight(stream, *number, &stream->lent[i].buffer->object);
    pthread_mutex_unlock(&stream->lock);
    if (!fits) status = backend->wait(stream->queue, count, QN_FOREVER, why);
    return status ? say(stream, status, why) : QN_OK;
}

uint64_t qn__stream_last(qn_stream *stream) {
    pthread_mutex_lock(&stream->lock);
    uint64_t number = stream->submitted;
    pthread_mutex_unlock(&stream->lock);
    return number;
}

uint64_t qn__stream_completed(qn_stream *stream) {
    pthread_mutex_lock(&stream->lock);
    uint64_t number = qn__hold_completed(stream);
    pthread_mutex_unlock(&stream->lock);
    return number;
}

/* One without references has no work any more. */
qn_stream *qn__next_stream(qn_device *device, qn_stream *after) {
    qn_context *context = device->object.context;
    pthread_mutex_lock(&context->lock);
    qn__object *o = after ? after->object.next : context->objects[QN__OBJECT_STREAM].first;
    for (; o; o = o->next) {
        qn_stream *stream = (qn_stream *)o;
        if (stream->device == device && stream->queue && qn__try_retain(o)) break;
    }
    pthread_mutex_unlock(&context->lock);
    if (after) qn__drop(&after->object);
    return (qn_stream *)o;
}

/* ---- waiting ---- */

typedef struct names {
    char text[QN__WHY - 120];
    size_t length;
} names;

static void add_unfinished(names *n, qn_stream *stream) {
    const qn_backend *backend = stream->device->backend;
    char found[160];
    qn__stream_completed(stream);
    backend->unfinished(stream->queue, found, sizeof found);
    if (!found[0]) qn__hold_unfinished(stream, found, sizeof found);
    if (!found[0] || n->length + 1 >= sizeof n->text) return;
    n->length += (size_t)snprintf(n->text + n->length, sizeof n->text - n->length, "%s%s",
                                  n->length ? ", " : "", found);
}

/* Adds all streams' of a device but one's. A device that one of them waits for is the answer, or NULL. */
static qn_device *add_streams(names *n, qn_device *device, qn_stream *but) {
    qn_device *other = NULL;
    for (qn_stream *stream = NULL; (stream = qn__next_stream(device, stream));) {
        if (stream == but) continue;
        add_unfinished(n, stream);
        if (!other) other = qn__hold_waits_for(stream);
    }
    return other;
}

/* What a stream has finished may not be known before it was asked once. */
void qn__describe_timeout(qn_device *device, qn_stream *first, const char *what, uint64_t timeout_ns,
                          char *text) {
    names n = {.length = 0};
    for (qn_stream *stream = NULL; (stream = qn__next_stream(device, stream));) qn__stream_completed(stream);
    if (first) add_unfinished(&n, first);
    qn_device *waited = first ? qn__hold_waits_for(first) : NULL, *any = add_streams(&n, device, first);
    if (!first) waited = any;
    if (waited) add_streams(&n, waited, NULL);
    snprintf(text, QN__WHY, "%s in %.12g ms%s%s%s%s", what, (double)timeout_ns / 1e6,
             n.length ? "; unfinished: kernel " : "", n.text, waited ? "; it waits for " : "",
             waited ? waited->name : "");
}

qn_status qn__timed_out(qn_device *device, qn_stream *first, const char *what, uint64_t timeout_ns) {
    char text[QN__WHY];
    qn__describe_timeout(device, first, what, timeout_ns, text);
    return qn__fail(device->object.context, QN_ERROR_TIMEOUT, "%s", text);
}

/* A message tells the time that was `asked` for. */
static qn_status wait_number(qn_stream *stream, uint64_t number, uint64_t timeout_ns, uint64_t asked) {
    char why[QN__WHY] = "";
    qn_status status = qn__hold_wait(stream, number, timeout_ns, why);
    pthread_mutex_lock(&stream->lock);
    qn__stream_reap(stream, false);
    pthread_mutex_unlock(&stream->lock);
    const bool timed_out = status == QN_ERROR_TIMEOUT;
    if (status && !timed_out) return say(stream, status, why);
    /* A kernel that never ends may have noted something. */
    status = timed_out && !qn__stream_is_apart(stream) ? QN_OK : qn__faults_report(stream);
    return status || !timed_out ? status : qn__timed_out(stream->device, stream, "not done", asked);
}

qn_status qn__stream_wait_number(qn_stream *stream, uint64_t number, uint64_t timeout_ns) {
    return wait_number(stream, number, timeout_ns, timeout_ns);
}

qn_status qn_stream_wait(qn_stream *stream, uint64_t timeout_ns) {
    qn_status status = qn__check_stream(stream, "qn_stream_wait");
    if (status) return status;
    if (stream->recording)
        return qn__fail(stream->object.context, QN_ERROR_STATE, "qn_stream_wait: the stream records a graph");
    return qn__stream_wait_number(stream, qn__stream_last(stream), timeout_ns);
}

void qn__device_reap(qn_device *device, bool wait) {
    char why[QN__WHY];
    qn__left_collect(device);
    for (qn_stream *stream = NULL; (stream = qn__next_stream(device, stream));) {
        if (wait && !qn__stream_is_apart(stream))
            qn__hold_wait(stream, qn__stream_last(stream), QN_FOREVER, why);
        pthread_mutex_lock(&stream->lock);
        qn__stream_reap(stream, false);
        pthread_mutex_unlock(&stream->lock);
    }
}

qn_status qn_device_wait(qn_device *device, uint64_t timeout_ns) {
    qn_status status = qn__check(device, QN__OBJECT_DEVICE, "qn_device_wait", "device");
    if (status) return status;
    uint64_t start = qn__now_ns();
    for (qn_stream *stream = NULL; (stream = qn__next_stream(device, stream));) {
        if (qn__stream_is_apart(stream)) continue;
        uint64_t left = qn__time_left(start, timeout_ns);
        qn_status one = wait_number(stream, qn__stream_last(stream), left, timeout_ns);
        if (one && !status) status = one;
    }
    return status;
}

/* ---- transfers ---- */

/* NULL names the default stream of the buffer's device. */
static qn_stream *stream_for(qn_stream *stream, qn_buffer *buffer) {
    if (stream || !buffer || qn__check(buffer, QN__OBJECT_BUFFER, "a transfer", "buffer")) return stream;
    return buffer->device->stream;
}

static qn_status check_range(const qn_buffer *buffer, uint64_t offset, uint64_t size, const char *function) {
    if (offset <= buffer->size && size <= buffer->size - offset) return QN_OK;
    return qn__fail(buffer->object.context, QN_ERROR_RANGE, "%s: bytes %llu to %llu of a buffer of %llu",
                    function, (unsigned long long)offset, (unsigned long long)(offset + size),
                    (unsigned long long)buffer->size);
}

/* Checks device and range; the buffer is then ready to be used on the stream. */
static qn_status make_ready(qn_stream *stream, qn_buffer *buffer, uint64_t offset, uint64_t size, bool writes,
                            const char *function, qn__use *use) {
    const bool is_unified =
        qn__buffer_root(buffer)->unified && buffer->object.context == stream->object.context;
    if (buffer->device != stream->device && !is_unified)
        return qn__other_device(buffer->device, stream->device,
                                "%s: the buffer is of another device or context", function);
    qn_status status = check_range(buffer, offset, size, function);
    if (!status) status = qn__use_on(stream->device, buffer, writes, use);
    if (status) return status;
    use->overwrites = writes && size == use->root->size;
    return qn__buffers_use(use, 1, stream, QN_MOVE_TRANSFER, function);
}

/* The same, and both objects. */
static qn_status check_transfer(qn_stream *stream, qn_buffer *buffer, uint64_t offset, uint64_t size,
                                bool writes, const char *function, qn__use *use) {
    qn_status status = qn__check_beside(stream, buffer, QN__OBJECT_BUFFER, function, "buffer");
    if (!status) status = qn__check_beside(buffer, stream, QN__OBJECT_STREAM, function, "stream");
    return status ? status : make_ready(stream, buffer, offset, size, writes, function, use);
}

/* Of a copy the last buffer is the one that is written. */
static void count_transfer(const qn__command *command, const qn__use *last) {
    if (command->kind == QN__COMMAND_FILL) return;
    const qn_move move = command->kind == QN__COMMAND_WRITE  ? QN_MOVE_WRITE
                         : command->kind == QN__COMMAND_READ ? QN_MOVE_READ
                                                             : QN_MOVE_COPY;
    qn__count_move(last->root, move, command->size);
}

/* Submits a transfer of one or two buffers, or of one and pinned host memory, and remembers who uses them. */
static qn_status submit_transfer(qn_stream *stream, const qn__command *command, const qn__use *uses,
                                 size_t count, qn__host *host) {
    uint64_t number;
    qn_status status = qn__stream_submit(stream, command, uses, count, host ? &host->object : NULL, &number);
    if (number) qn__buffers_used(uses, count, stream, number);
    if (number) count_transfer(command, &uses[count - 1]);
    return status;
}

static qn_status check_host(qn_stream *stream, const void *data, uint64_t size, const char *function) {
    if (data || size == 0) return QN_OK;
    return qn__fail_null(stream ? stream->object.context : NULL, function, "data");
}

qn_status qn__stream_write(qn_stream *stream, qn_buffer *buffer, uint64_t offset, const void *data,
                           uint64_t size, bool data_stays) {
    stream = stream_for(stream, buffer);
    qn__use use;
    qn_status status = check_transfer(stream, buffer, offset, size, true, "qn_stream_write", &use);
    if (!status) status = check_host(stream, data, size, "qn_stream_write");
    if (status || size == 0) return status;
    /* a graph has a copy of its own */
    qn__host *pinned = stream->recording ? NULL : qn__host_find(stream->device, data, size);
    qn__command command = {.kind = QN__COMMAND_WRITE,
                           .to = use.root->memory,
                           .to_offset = buffer->offset + offset,
                           .size = size,
                           .host = (void *)data,
                           .host_stays = data_stays || pinned,
                           .host_pinned = pinned != NULL};
    status = submit_transfer(stream, &command, &use, 1, pinned);
    if (pinned) qn__drop(&pinned->object);
    return status;
}

qn_status qn_stream_write(qn_stream *stream, qn_buffer *buffer, uint64_t offset, const void *data,
                          uint64_t size) {
    return qn__stream_write(stream, buffer, offset, data, size, false);
}

qn_status qn_stream_read(qn_stream *stream, qn_buffer *buffer, uint64_t offset, void *data, uint64_t size) {
    stream = stream_for(stream, buffer);
    qn__use use;
    qn_status status = check_transfer(stream, buffer, offset, size, false, "qn_stream_read", &use);
    if (!status) status = check_host(stream, data, size, "qn_stream_read");
    if (status || size == 0) return status;
    if (stream->recording)
        return qn__fail(stream->object.context, QN_ERROR_STATE,
                        "qn_stream_read: reads cannot be recorded in a graph");
    qn__host *pinned = qn__host_find(stream->device, data, size);
    qn__command command = {.kind = QN__COMMAND_READ,
                           .from = use.root->memory,
                           .from_offset = buffer->offset + offset,
                           .size = size,
                           .host = data,
                           .host_pinned = pinned != NULL};
    status = submit_transfer(stream, &command, &use, 1, pinned);
    if (pinned) qn__drop(&pinned->object);
    return status;
}

static bool overlap(const qn_buffer *from, uint64_t from_offset, const qn_buffer *to, uint64_t to_offset,
                    uint64_t size) {
    if (qn__buffer_root((qn_buffer *)from) != qn__buffer_root((qn_buffer *)to)) return false;
    uint64_t a = from->offset + from_offset, b = to->offset + to_offset;
    return a < b + size && b < a + size;
}

static qn_status check_contexts(const qn_stream *stream, const qn_buffer *from, const qn_buffer *to) {
    qn_context *context = stream->object.context;
    const bool one_of_both = stream->device == from->device || stream->device == to->device;
    if (from->object.context == context && to->object.context == context && one_of_both) return QN_OK;
    return qn__fail_both(context, from->object.context != context ? from->object.context : to->object.context,
                         QN_ERROR_WRONG_CONTEXT, "qn_stream_copy: %s",
                         one_of_both ? "the buffers are of two contexts"
                                     : "the stream is of neither buffer's device");
}

static qn_status check_across(const qn_stream *stream, const qn_buffer *from, uint64_t from_offset,
                              const qn_buffer *to, uint64_t to_offset, uint64_t size) {
    qn_context *context = stream->object.context;
    qn_status status = check_contexts(stream, from, to);
    if (!status) status = check_range(from, from_offset, size, "qn_stream_copy");
    if (!status && (from->device->replaced || to->device->replaced))
        status = qn__other_device(from->device, to->device, "%s", "qn_stream_copy");
    if (!status) status = check_range(to, to_offset, size, "qn_stream_copy");
    if (!status && atomic_load(&stream->persistent))
        status = qn__fail(context, QN_ERROR_STATE,
                          "qn_stream_copy: copies between devices cannot be on a persistent stream");
    if (!status && stream->recording)
        status = qn__fail(context, QN_ERROR_STATE,
                          "qn_stream_copy: copies between devices cannot be recorded in a graph");
    return status;
}

/* By the driver itself, in order on the stream. */
static qn_status copy_by_peers(qn_stream *stream, const qn__command *command, const qn__use *own,
                               const qn__use *other, uint64_t *number) {
    qn__use uses[] = {*own, *other};
    qn_status status = qn__peer_reserve(other->root, stream);
    if (!status) status = qn__stream_submit(stream, command, uses, 2, NULL, number);
    if (*number) qn__peer_set(other->root, stream, *number);
    return status;
}

static qn__command copy_of(const qn_buffer *from, uint64_t from_offset, const qn_buffer *to,
                           uint64_t to_offset, uint64_t size) {
    return (qn__command){.kind = QN__COMMAND_COPY,
                         .from = qn__buffer_root((qn_buffer *)from)->memory,
                         .from_offset = from->offset + from_offset,
                         .to = qn__buffer_root((qn_buffer *)to)->memory,
                         .to_offset = to->offset + to_offset,
                         .size = size};
}

/* What is not the drivers' own affair, the courier does when the stream gets there. */
qn_status qn__stream_cross(qn_stream *stream, qn_buffer *from, uint64_t from_offset, qn_buffer *to,
                           uint64_t to_offset, uint64_t size, uint64_t *number) {
    const bool reads = stream->device == from->device;
    const qn__use own = qn__use_of(reads ? from : to, !reads), other = qn__use_of(reads ? to : from, reads);
    const bool in_host = own.root->shared || other.root->shared;
    qn__crossing *crossing = NULL;
    *number = 0;
    if (qn__are_peers(from->device, to->device) && !in_host && qn__buffer_is_sent(other.root)) {
        qn__command command = copy_of(from, from_offset, to, to_offset, size);
        command.from_gpu = from->device->gpu;
        command.to_gpu = to->device->gpu;
        return copy_by_peers(stream, &command, &own, &other, number);
    }
    qn_status status = qn__crossing_new(from, from_offset, to, to_offset, size, &crossing);
    if (!status) status = qn__stream_submit_crossing(stream, crossing, number);
    if (status && crossing) qn__crossing_free(crossing);
    return status;
}

/* Between two devices. */
static qn_status copy_across(qn_stream *stream, qn_buffer *from, uint64_t from_offset, qn_buffer *to,
                             uint64_t to_offset, uint64_t size) {
    qn_status status = check_across(stream, from, from_offset, to, to_offset, size);
    if (status || size == 0) return status;
    const bool reads = stream->device == from->device;
    const qn__use own = qn__use_of(reads ? from : to, !reads);
    uint64_t number = 0;
    status = qn__buffers_use(&own, 1, stream, QN_MOVE_TRANSFER, "qn_stream_copy");
    if (!status) status = qn__buffer_cross(reads ? to : from, reads, "qn_stream_copy");
    if (!status) status = qn__stream_cross(stream, from, from_offset, to, to_offset, size, &number);
    if (number) qn__buffers_used(&own, 1, stream, number);
    if (number) qn__count_move(qn__buffer_root(to), QN_MOVE_COPY, size);
    return status;
}

/* A unified buffer becomes its copy on the stream's device. */
static qn_status choose_copy(const qn_stream *stream, qn_buffer **buffer, uint64_t *offset, uint64_t size) {
    qn_buffer *root = qn__buffer_root(*buffer);
    if (!root->unified || root->object.context != stream->object.context) return QN_OK;
    qn_status status = check_range(*buffer, *offset, size, "qn_stream_copy");
    if (status) return status;
    *offset += (*buffer)->offset;
    return qn__unified_on(root, stream->device, buffer);
}

qn_status qn_stream_copy(qn_stream *stream, qn_buffer *from, uint64_t from_offset, qn_buffer *to,
                         uint64_t to_offset, uint64_t size) {
    stream = stream_for(stream, from);
    qn_status status = qn__check_beside(stream, from, QN__OBJECT_BUFFER, "qn_stream_copy", "buffer");
    if (!status) status = qn__check_beside(stream, to, QN__OBJECT_BUFFER, "qn_stream_copy", "buffer");
    if (!status) status = qn__check_beside(from, stream, QN__OBJECT_STREAM, "qn_stream_copy", "stream");
    if (!status) status = choose_copy(stream, &from, &from_offset, size);
    if (!status) status = choose_copy(stream, &to, &to_offset, size);
    if (status) return status;
    if (from->device != to->device) return copy_across(stream, from, from_offset, to, to_offset, size);
    qn__use uses[2];
    status = make_ready(stream, from, from_offset, size, false, "qn_stream_copy", &uses[0]);
    if (!status) status = make_ready(stream, to, to_offset, size, true, "qn_stream_copy", &uses[1]);
    if (status || size == 0) return status;
    if (overlap(from, from_offset, to, to_offset, size))
        return qn__fail(stream->object.context, QN_ERROR_RANGE, "qn_stream_copy: the ranges overlap");
    const qn__command command = copy_of(from, from_offset, to, to_offset, size);
    return submit_transfer(stream, &command, uses, 2, NULL);
}

qn_status qn_stream_fill(qn_stream *stream, qn_buffer *buffer, uint64_t offset, uint64_t size,
                         const void *pattern, size_t pattern_size) {
    stream = stream_for(stream, buffer);
    qn__use use;
    qn_status status = check_transfer(stream, buffer, offset, size, true, "qn_stream_fill", &use);
    if (status) return status;
    qn_context *context = stream->object.context;
    if (!pattern) return qn__fail_null(context, "qn_stream_fill", "pattern");
    bool power = pattern_size && pattern_size <= 16 && (pattern_size & (pattern_size - 1)) == 0;
    if (!power || size % pattern_size || offset % pattern_size)
        return qn__fail(
            context, QN_ERROR_ARGUMENT,
            "qn_stream_fill: a pattern of %zu bytes; it must be 1, 2, 4, 8 or 16 and divide offset and size",
            pattern_size);
    if (size == 0) return QN_OK;
    qn__command command = {.kind = QN__COMMAND_FILL,
                           .to = use.root->memory,
                           .to_offset = buffer->offset + offset,
                           .size = size,
                           .pattern_size = (uint32_t)pattern_size};
    memcpy(command.pattern, pattern, pattern_size);
    return submit_transfer(stream, &command, &use, 1, NULL);
}
