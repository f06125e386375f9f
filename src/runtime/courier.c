/* The courier: the thread of a context that goes on with held streams (hold.h). It looks at one after the other, so that
   none has to wait for another to go on, and rests longer and longer while nothing moves. */
#include <time.h>

#include "runtime/runtime.h"
#include "util/thread.h"

enum { LEAST_REST_NS = 10000, MOST_REST_NS = 500000 };

void qn__courier_init(qn__courier *courier) {
    pthread_mutex_init(&courier->lock, NULL);
    qn__cond_init(&courier->work);
    qn__cond_init(&courier->moved);
}

/* ---- the thread ---- */

/* Once around. Only this thread takes streams off the list, and new ones come to its front. */
static bool look_after_all(qn__courier *courier, qn_stream *first) {
    bool moved = false;
    for (qn_stream *stream = first, *next; stream; stream = next) {
        bool empty;
        pthread_mutex_lock(&courier->lock);
        next = stream->hold.next_listed;
        pthread_mutex_unlock(&courier->lock);
        moved |= qn__hold_step(stream, &empty);
        if (empty) qn__drop(&stream->object);
    }
    return moved;
}

static void *courier_main(void *argument) {
    qn__courier *courier = argument;
    long rest = LEAST_REST_NS;
    pthread_mutex_lock(&courier->lock);
    while (!courier->stop) {
        qn_stream *first = courier->first;
        if (!first) {
            rest = LEAST_REST_NS;
            pthread_cond_wait(&courier->work, &courier->lock);
            continue;
        }
        pthread_mutex_unlock(&courier->lock);
        bool moved = look_after_all(courier, first);
        if (moved)
            rest = LEAST_REST_NS;
        else {
            nanosleep(&(struct timespec){.tv_nsec = rest}, NULL);
            rest = rest * 2 < MOST_REST_NS ? rest * 2 : MOST_REST_NS;
        }
        pthread_mutex_lock(&courier->lock);
    }
    pthread_mutex_unlock(&courier->lock);
    return NULL;
}

qn_status qn__courier_add(qn_stream *stream) {
    qn__courier *courier = &stream->object.context->courier;
    pthread_mutex_lock(&courier->lock);
    if (!courier->started) courier->started = qn__thread_start(&courier->thread, courier_main, courier);
    bool started = courier->started;
    if (started) {
        qn__retain(&stream->object);
        stream->hold.next_listed = courier->first;
        courier->first = stream;
        pthread_cond_signal(&courier->work);
    }
    pthread_mutex_unlock(&courier->lock);
    return started ? QN_OK : QN_ERROR_OUT_OF_MEMORY;
}

void qn__courier_remove(qn_stream *stream) {
    qn__courier *courier = &stream->object.context->courier;
    pthread_mutex_lock(&courier->lock);
    qn_stream **link = &courier->first;
    while (*link != stream) link = &(*link)->hold.next_listed;
    *link = stream->hold.next_listed;
    pthread_mutex_unlock(&courier->lock);
}

void qn__courier_stop(qn_context *context) {
    qn__courier *courier = &context->courier;
    pthread_mutex_lock(&courier->lock);
    bool started = courier->started;
    courier->stop = true;
    pthread_cond_signal(&courier->work);
    pthread_mutex_unlock(&courier->lock);
    if (started) pthread_join(courier->thread, NULL);
    courier->started = false;
}

void qn__courier_free(qn__courier *courier) {
    pthread_cond_destroy(&courier->work);
    pthread_cond_destroy(&courier->moved);
    pthread_mutex_destroy(&courier->lock);
}

/* ---- recordings that are held ---- */

void qn__courier_add_recording(qn_context *context, qn__held *held) {
    qn__courier *courier = &context->courier;
    pthread_mutex_lock(&courier->lock);
    held->next_recording = courier->recordings;
    courier->recordings = held;
    atomic_fetch_add(&courier->num_recordings, 1);
    pthread_mutex_unlock(&courier->lock);
}

/* The lock is held. */
static void remove_recording(qn_context *context, qn__held **link) {
    qn__held *held = *link;
    *link = held->next_recording;
    atomic_fetch_sub(&context->courier.num_recordings, 1);
    qn__release(&context->allocator, held->command);
    qn__release(&context->allocator, held);
}

/* One that never comes stays in the list, for those that wait for it. */
void qn__courier_placed_recording(qn_context *context, qn__held *held) {
    qn__courier *courier = &context->courier;
    pthread_mutex_lock(&courier->lock);
    qn__held **link = &courier->recordings;
    while (*link != held) link = &(*link)->next_recording;
    held->kind = QN__HELD_PLACED;
    if (!held->missed) remove_recording(context, link);
    pthread_cond_broadcast(&courier->moved);
    pthread_mutex_unlock(&courier->lock);
}

/* The lock is held. */
static bool is_held(const qn__courier *courier, const qn__mark *mark, uint64_t version, qn_status *missed) {
    *missed = QN_OK;
    for (const qn__held *held = courier->recordings; held; held = held->next_recording) {
        if (held->command->mark != mark || held->command->mark_version != version) continue;
        *missed = held->missed;
        return held->kind != QN__HELD_PLACED;
    }
    return false;
}

bool qn__recording_is_held(qn_context *context, const qn__mark *mark, uint64_t version, qn_status *missed) {
    qn__courier *courier = &context->courier;
    *missed = QN_OK;
    if (atomic_load(&courier->num_recordings) == 0) return false;
    pthread_mutex_lock(&courier->lock);
    bool held = is_held(courier, mark, version, missed);
    pthread_mutex_unlock(&courier->lock);
    return held;
}

qn_status qn__recording_wait(qn_context *context, const qn__mark *mark, uint64_t version,
                             uint64_t timeout_ns) {
    qn__courier *courier = &context->courier;
    if (atomic_load(&courier->num_recordings) == 0) return QN_OK;
    qn_status missed = QN_OK;
    bool in_time = true;
    struct timespec until = qn__deadline(timeout_ns);
    pthread_mutex_lock(&courier->lock);
    while (in_time && is_held(courier, mark, version, &missed))
        in_time = qn__cond_wait(&courier->moved, &courier->lock, timeout_ns, &until);
    pthread_mutex_unlock(&courier->lock);
    return in_time ? missed : QN_ERROR_TIMEOUT;
}

void qn__recordings_forget(qn_context *context, const qn__mark *mark) {
    qn__courier *courier = &context->courier;
    if (atomic_load(&courier->num_recordings) == 0) return;
    pthread_mutex_lock(&courier->lock);
    for (qn__held **link = &courier->recordings; *link;)
        if ((*link)->command->mark == mark && (*link)->kind == QN__HELD_PLACED)
            remove_recording(context, link);
        else
            link = &(*link)->next_recording;
    pthread_mutex_unlock(&courier->lock);
}
