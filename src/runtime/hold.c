/* A held stream's commands: kept with numbers of the stream's own, and submitted when what they wait for is there. While
   a stream is held or has commands in flight that were, a ring says which of its numbers stand for which of its queue's. */
#include "runtime/hold.h"

#include <stdio.h>
#include <string.h>

#include "runtime/runtime.h"
#include "util/file.h"
#include "util/thread.h"

enum { FIRST_CAP = 64 };

void qn__hold_init(qn__hold *hold) { qn__cond_init(&hold->moved); }

void qn__hold_free(qn_stream *stream) {
    qn__release(&stream->object.context->allocator, stream->hold.placed);
    pthread_cond_destroy(&stream->hold.moved);
}

/* ---- numbers ---- */

/* Room for what is held and for `more`, so that what is submitted later always finds it. */
static bool reserve(qn_stream *stream, size_t more) {
    qn__hold *hold = &stream->hold;
    const size_t wanted = hold->num_placed + hold->num_held + more;
    size_t cap = hold->cap_placed ? hold->cap_placed : FIRST_CAP;
    if (wanted <= hold->cap_placed) return true;
    while (cap < wanted) cap *= 2;
    const qn__allocator *allocator = &stream->object.context->allocator;
    qn__placed *grown = qn__allocate(allocator, cap * sizeof *grown);
    if (!grown) return false;
    for (size_t i = 0; i < hold->num_placed; i++)
        grown[i] = hold->placed[(hold->first_placed + i) & (hold->cap_placed - 1)];
    qn__release(allocator, hold->placed);
    hold->placed = grown;
    hold->first_placed = 0;
    hold->cap_placed = cap;
    return true;
}

/* The stream's command `number` is the queue's `backend`; 0: it is none of its own, and done when those before are. */
static void add_placed(qn__hold *hold, uint64_t number, uint64_t backend) {
    if (backend > hold->backend) hold->backend = backend;
    hold->placed[(hold->first_placed + hold->num_placed++) & (hold->cap_placed - 1)] =
        (qn__placed){number, hold->backend};
}

static void turn_on(qn_stream *stream) {
    qn__hold *hold = &stream->hold;
    if (hold->on) return;
    hold->on = true;
    hold->backend = stream->submitted - hold->offset;
    hold->done = stream->device->backend->completed(stream->queue) + hold->offset;
    if (hold->done < stream->submitted) add_placed(hold, stream->submitted, hold->backend);
}

uint64_t qn__hold_completed(qn_stream *stream) {
    qn__hold *hold = &stream->hold;
    const uint64_t completed = stream->device->backend->completed(stream->queue);
    if (!hold->on) return completed + hold->offset;
    while (hold->num_placed && hold->placed[hold->first_placed].backend <= completed) {
        hold->done = hold->placed[hold->first_placed].number;
        hold->first_placed = (hold->first_placed + 1) & (hold->cap_placed - 1);
        hold->num_placed--;
    }
    /* a number that several entries have is done with the last */
    const bool partly = (hold->num_placed && hold->placed[hold->first_placed].number == hold->done) ||
                        (hold->first && hold->first->number == hold->done);
    if (hold->num_placed || hold->first) return hold->done - partly;
    hold->on = false;
    hold->offset = stream->submitted - hold->backend;
    return stream->submitted;
}

/* What the queue has to have done for `number` to be done, as far as it is submitted. */
static uint64_t backend_number(const qn_stream *stream, uint64_t number) {
    const qn__hold *hold = &stream->hold;
    uint64_t found = 0;
    if (!hold->on) return number - hold->offset;
    for (size_t i = 0; i < hold->num_placed; i++) {
        const qn__placed *placed = &hold->placed[(hold->first_placed + i) & (hold->cap_placed - 1)];
        if (placed->number > number) break;
        found = placed->backend;
    }
    return found;
}

/* ---- holding ---- */

static void append(qn_stream *stream, qn__held *held) {
    qn__hold *hold = &stream->hold;
    if (hold->last)
        hold->last->next = held;
    else
        hold->first = held;
    hold->last = held;
    hold->num_held++;
    if (held->kind == QN__HELD_COMMAND && held->command->kind == QN__COMMAND_RECORD)
        qn__courier_add_recording(stream->object.context, held);
}

static void free_held(qn_stream *stream, qn__held *held) {
    const qn__allocator *allocator = &stream->object.context->allocator;
    if (held->crossing) qn__crossing_free(held->crossing);
    qn__release(allocator, held->command);
    qn__release(allocator, held);
}

static qn__held *new_held(qn_stream *stream, qn__held_kind kind, const qn__command *command) {
    const qn__allocator *allocator = &stream->object.context->allocator;
    qn__held *held = qn__allocate_zeroed(allocator, sizeof *held);
    if (!held) return NULL;
    held->kind = kind;
    if (command) held->command = qn__command_copy(allocator, command);
    if (!command || held->command) return held;
    qn__release(allocator, held);
    return NULL;
}

/* The stream is with the courier, and there is room for `count` more commands. */
static qn_status begin(qn_stream *stream, size_t count) {
    qn__hold *hold = &stream->hold;
    if (!reserve(stream, count + 1)) return QN_ERROR_OUT_OF_MEMORY; /* and one for what is in flight */
    qn_status status = hold->first ? QN_OK : qn__courier_add(stream);
    if (!status) turn_on(stream);
    return status;
}

static qn_status submit(qn_stream *stream, const qn__command *command, const qn__graph_replay *replay,
                        uint64_t *number, char *why) {
    const qn_backend *backend = stream->device->backend;
    return replay ? backend->replay_submit(stream->queue, replay->replay, number, why)
                  : backend->submit(stream->queue, command, number, why);
}

/* Directly, with nothing held before it. */
static qn_status submit_now(qn_stream *stream, const qn__command *command, const qn__graph_replay *replay,
                            uint64_t *number, char *why) {
    qn__hold *hold = &stream->hold;
    uint64_t backend = 0;
    if (!reserve(stream, 2)) return QN_ERROR_OUT_OF_MEMORY;
    qn_status status = submit(stream, command, replay, &backend, why);
    if (backend > hold->backend) add_placed(hold, *number = stream->submitted + 1, backend);
    return status;
}

bool qn__hold_count(qn_stream *stream, uint64_t backend, uint64_t *number) {
    if (!backend) return true;
    if (!stream->hold.on)
        *number = backend + stream->hold.offset;
    else if (!reserve(stream, 2))
        return false;
    else
        add_placed(&stream->hold, *number = stream->submitted + 1, backend);
    return true;
}

/* Whether a wait is for a recording that is held itself. */
static bool waits_for_held(qn_stream *stream, const qn__command *command) {
    qn_status missed;
    return command->kind == QN__COMMAND_WAIT &&
           qn__recording_is_held(stream->object.context, command->mark, command->mark_version, &missed);
}

qn_status qn__hold_command(qn_stream *stream, const qn__command *command, qn_device *of, uint64_t *number,
                           char *why) {
    if (!of && waits_for_held(stream, command)) of = stream->device;
    if (stream->hold.on && !stream->hold.first && !of) return submit_now(stream, command, NULL, number, why);
    qn__held *held = new_held(stream, of ? QN__HELD_WAIT : QN__HELD_COMMAND, command);
    if (!held) return QN_ERROR_OUT_OF_MEMORY;
    held->of = of;
    qn_status status = begin(stream, 1);
    if (status) {
        free_held(stream, held);
        return status;
    }
    held->number = *number = stream->submitted + 1;
    append(stream, held);
    return QN_OK;
}

/* It must not be changed before it is submitted (graph.c). */
qn_status qn__hold_replay(qn_stream *stream, qn__graph_replay *replay, uint64_t *number, char *why) {
    if (!stream->hold.first) return submit_now(stream, NULL, replay, number, why);
    qn__held *held = new_held(stream, QN__HELD_REPLAY, NULL);
    if (!held) return QN_ERROR_OUT_OF_MEMORY;
    qn_status status = begin(stream, 1);
    if (status) {
        free_held(stream, held);
        return status;
    }
    atomic_fetch_add(&replay->held, 1);
    held->replay = replay;
    held->number = *number = stream->submitted + 1;
    append(stream, held);
    return QN_OK;
}

qn_status qn__hold_crossing(qn_stream *stream, qn__crossing *crossing, uint64_t *number) {
    qn__held *held = new_held(stream, QN__HELD_CROSSING, NULL);
    if (!held) return QN_ERROR_OUT_OF_MEMORY;
    qn_status status = begin(stream, 1);
    if (status) {
        free_held(stream, held);
        return status;
    }
    held->crossing = crossing;
    held->number = *number = stream->submitted + 1;
    append(stream, held);
    return QN_OK;
}

/* ---- going on ---- */

static bool is_unreported(const qn__hold *hold) { return hold->failure && !hold->reported; }

static void fail(qn_stream *stream, qn_status status, const char *why) {
    qn__hold *hold = &stream->hold;
    if (is_unreported(hold)) return;
    hold->failure = status;
    hold->reported = false;
    hold->num_failures++;
    snprintf(hold->why, sizeof hold->why, "%s", qn__reason(why, status));
}

/* Whether the mark's recording is reached, or never will be. */
static bool is_reached(qn_stream *stream, const qn__held *held) {
    const qn_backend *backend = held->of->backend;
    const qn__command *wait = held->command;
    qn_status status = QN_OK;
    char why[QN__WHY] = "", text[QN__WHY];
    uint64_t time;
    if (qn__recording_is_held(stream->object.context, wait->mark, wait->mark_version, &status)) return false;
    if (!status) {
        if (!backend->mark_done(wait->mark, wait->mark_version, &time)) return false;
        status = backend->mark_wait(wait->mark, wait->mark_version, 0, why);
        if (status == QN_ERROR_TIMEOUT) return false; /* just being recorded */
    }
    if (!status) return true;
    snprintf(text, sizeof text, "waiting for an event of %s: %.400s", held->of->name,
             qn__reason(why, status));
    fail(stream, status, text);
    return true;
}

static void submit_held(qn_stream *stream, qn__held *held) {
    char why[QN__WHY] = "";
    uint64_t backend = 0;
    qn_status status = submit(stream, held->command, held->replay, &backend, why);
    if (held->replay) atomic_fetch_sub(&held->replay->held, 1);
    add_placed(&stream->hold, held->number, backend);
    if (status) fail(stream, status, why);
    held->missed = status;
}

/* The lock is given up meanwhile: the first held command stays where it is. */
static bool cross(qn_stream *stream, qn__held *held, bool *moved) {
    qn__hold *hold = &stream->hold;
    char why[QN__WHY] = "";
    qn_status status = QN_OK;
    if (stream->device->backend->completed(stream->queue) < hold->backend) return false;
    hold->busy = true;
    pthread_mutex_unlock(&stream->lock);
    bool ended = qn__crossing_step(held->crossing, moved, &status, why);
    pthread_mutex_lock(&stream->lock);
    hold->busy = false;
    if (status) fail(stream, status, why);
    return ended;
}

/* Whether the first of what is held has been done with. */
static bool go_on(qn_stream *stream, qn__held *held, bool *moved) {
    switch (held->kind) {
    case QN__HELD_COMMAND:
    case QN__HELD_REPLAY: submit_held(stream, held); return true;
    case QN__HELD_WAIT:
        if (!is_reached(stream, held)) return false;
        break;
    case QN__HELD_CROSSING:
        if (!cross(stream, held, moved)) return false;
        break;
    case QN__HELD_PLACED: break;
    }
    add_placed(&stream->hold, held->number, 0);
    return true;
}

bool qn__hold_step(qn_stream *stream, bool *empty) {
    qn__hold *hold = &stream->hold;
    bool moved = false;
    pthread_mutex_lock(&stream->lock);
    while (hold->first && go_on(stream, hold->first, &moved)) {
        qn__held *held = hold->first;
        moved = true;
        hold->first = held->next;
        if (!hold->first) hold->last = NULL;
        hold->num_held--;
        if (held->kind == QN__HELD_COMMAND && held->command->kind == QN__COMMAND_RECORD)
            qn__courier_placed_recording(stream->object.context, held);
        else
            free_held(stream, held);
    }
    *empty = !hold->first;
    if (*empty) qn__courier_remove(stream);
    if (moved) pthread_cond_broadcast(&hold->moved);
    pthread_mutex_unlock(&stream->lock);
    return moved;
}

static bool drop_held(const qn__hold *hold, qn__held *held) {
    const bool is_record = held->kind == QN__HELD_COMMAND && held->command->kind == QN__COMMAND_RECORD;
    if (is_record || held->kind == QN__HELD_PLACED || (hold->busy && held == hold->first)) return false;
    if (held->kind == QN__HELD_CROSSING && qn__crossing_has_begun(held->crossing)) return false;
    if (held->replay) atomic_fetch_sub(&held->replay->held, 1);
    held->replay = NULL;
    held->kind = QN__HELD_PLACED;
    return true;
}

bool qn__hold_cancel(qn_stream *stream) {
    const qn_backend *backend = stream->device->backend;
    const qn__hold *hold = &stream->hold;
    char why[QN__WHY];
    unsigned dropped = 0;
    uint32_t since = UINT32_MAX;
    pthread_mutex_lock(&stream->lock);
    for (qn__held *held = hold->first; held; held = held->next) dropped += drop_held(hold, held);
    if (dropped && (!backend->failure || !backend->failure(stream->queue, &since, why))) {
        snprintf(why, sizeof why, "the stream was cancelled; commands that waited for another device: %u",
                 dropped);
        fail(stream, QN_ERROR_CANCELLED, why);
    }
    const uint64_t given = hold->on ? hold->backend : stream->submitted - hold->offset;
    const bool is_idle = backend->completed(stream->queue) >= given;
    pthread_mutex_unlock(&stream->lock);
    return is_idle;
}

/* ---- waiting ---- */

qn_status qn__hold_place(qn_stream *stream, uint64_t number, uint64_t timeout_ns, uint64_t *backend) {
    qn__hold *hold = &stream->hold;
    qn_status status = QN_OK;
    pthread_mutex_lock(&stream->lock);
    if (hold->first && hold->first->number <= number) {
        struct timespec until = qn__deadline(timeout_ns);
        while (!status && hold->first && hold->first->number <= number)
            if (!qn__cond_wait(&hold->moved, &stream->lock, timeout_ns, &until)) status = QN_ERROR_TIMEOUT;
    }
    *backend = backend_number(stream, number);
    pthread_mutex_unlock(&stream->lock);
    return status;
}

static qn_status take_failure(qn_stream *stream, char *why) {
    qn__hold *hold = &stream->hold;
    pthread_mutex_lock(&stream->lock);
    qn_status status = is_unreported(hold) ? hold->failure : QN_OK;
    if (status) memcpy(why, hold->why, sizeof hold->why);
    hold->reported = true;
    pthread_mutex_unlock(&stream->lock);
    return status;
}

qn_status qn__hold_failure(qn_stream *stream, uint32_t *since, char *why) {
    const qn__hold *hold = &stream->hold;
    pthread_mutex_lock(&stream->lock);
    const bool asks = *since > hold->num_failures; /* where to begin */
    qn_status status = *since < hold->num_failures ? hold->failure : QN_OK;
    if (status) memcpy(why, hold->why, sizeof hold->why);
    *since = hold->num_failures - (asks && is_unreported(hold));
    pthread_mutex_unlock(&stream->lock);
    return status;
}

qn_status qn__hold_wait(qn_stream *stream, uint64_t number, uint64_t timeout_ns, char *why) {
    const qn_backend *backend = stream->device->backend;
    const qn__hold *hold = &stream->hold;
    uint64_t wanted = number;
    pthread_mutex_lock(&stream->lock);
    const bool plain = !hold->on && !is_unreported(hold);
    wanted -= hold->offset;
    pthread_mutex_unlock(&stream->lock);
    if (plain) return backend->wait(stream->queue, wanted, timeout_ns, why);
    const uint64_t start = timeout_ns == QN_FOREVER ? 0 : qn__now_ns();
    qn_status status = qn__hold_place(stream, number, timeout_ns, &wanted);
    if (!status)
        status = backend->wait(stream->queue, wanted,
                               timeout_ns == QN_FOREVER ? QN_FOREVER : qn__time_left(start, timeout_ns), why);
    return status ? status : take_failure(stream, why);
}

void qn__hold_unfinished(qn_stream *stream, char *names, size_t size) {
    const char *kernel = NULL;
    pthread_mutex_lock(&stream->lock);
    for (const qn__held *held = stream->hold.first; held && !kernel; held = held->next)
        if (held->kind == QN__HELD_COMMAND && held->command->kind == QN__COMMAND_LAUNCH)
            kernel = held->command->kernel_name;
    snprintf(names, size, "%s", kernel ? kernel : "");
    pthread_mutex_unlock(&stream->lock);
}

qn_device *qn__hold_waits_for(qn_stream *stream) {
    qn_device *device = NULL;
    pthread_mutex_lock(&stream->lock);
    const qn__held *first = stream->hold.first;
    if (first && first->kind == QN__HELD_WAIT && first->of != stream->device) device = first->of;
    if (first && first->kind == QN__HELD_CROSSING)
        device = qn__crossing_other(first->crossing, stream->device);
    pthread_mutex_unlock(&stream->lock);
    return device;
}
