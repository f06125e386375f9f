/* Being told that work is done: callbacks behind a stream's work, and descriptors of events for event loops. One thread a
   context, the notifier, is started by the first use. It looks at what is waited for again and again, at growing
   pauses, because no driver has a wait that is for streams and events of all kinds of device and costs launches nothing.
   While nothing is waited for, it sleeps. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runtime/runtime.h"
#include "util/thread.h"

#ifdef __linux__
#include <sys/eventfd.h>
#endif

enum { LEAST_PAUSE_NS = 20000, MOST_PAUSE_NS = 500000 };

/* Something that is waited for: a stream's command with a callback, or a recording of an event. */
struct qn__notice {
    qn__notice *next;
    qn_stream *stream; /* a reference, as is `event`; one of the two is NULL */
    uint64_t number;
    uint32_t failures, held_failures; /* of the stream, that were reported before */
    qn_done_callback *callback;
    void *user;
    qn_event *event;
    uint64_t version;
};

static void call(const qn__notice *notice, qn_status status, const char *why) {
    notice->callback(notice->user, status, status ? qn__reason(why, status) : why);
}

/* A recording that is no longer the event's newest says nothing. */
static void signal_event(qn__notifier *notifier, const qn__notice *notice) {
    const uint64_t one = 1;
    pthread_mutex_lock(&notifier->lock);
    if (notice->version == notice->event->awaited && write(notice->event->fd, &one, sizeof one) < 0) {
        /* full: it is readable already */
    }
    pthread_mutex_unlock(&notifier->lock);
}

/* Of a stream the same all through a round, so that none is told before one that came earlier. */
static uint64_t completed(qn_stream *stream, uint64_t round) {
    if (stream->looked_at != round) {
        stream->looked_at = round;
        stream->looked_completed = qn__stream_completed(stream);
    }
    return stream->looked_completed;
}

static bool is_done(const qn__notice *notice, uint64_t round) {
    uint64_t time;
    if (notice->stream) return completed(notice->stream, round) >= notice->number;
    qn_status missed;
    const bool held =
        qn__recording_is_held(notice->event->object.context, notice->event->mark, notice->version, &missed);
    if (held || missed) return !held;
    return notice->event->device->backend->mark_done(notice->event->mark, notice->version, &time);
}

static void tell_of(qn__notifier *notifier, qn__notice *notice) {
    char why[QN__WHY] = "";
    if (notice->stream) {
        const qn_backend *backend = notice->stream->device->backend;
        qn_status status = QN_OK;
        if (backend->failure) status = backend->failure(notice->stream->queue, &notice->failures, why);
        if (!status) status = qn__hold_failure(notice->stream, &notice->held_failures, why);
        call(notice, status, status ? why : "");
    } else {
        signal_event(notifier, notice);
    }
}

static void let_go(qn_context *context, qn__notice *notice) {
    qn__drop(notice->stream ? &notice->stream->object : &notice->event->object);
    qn__release(&context->allocator, notice);
}

/* Tells of what is done; the others stay in their order. */
static qn__notice *look(qn_context *context, qn__notice *list, bool *told) {
    qn__notice *rest = NULL, **last = &rest;
    const uint64_t round = ++context->notifier.round;
    for (qn__notice *notice = list, *next; notice; notice = next) {
        next = notice->next;
        if (is_done(notice, round)) {
            tell_of(&context->notifier, notice);
            let_go(context, notice);
            *told = true;
        } else {
            *last = notice;
            last = &notice->next;
        }
    }
    *last = NULL;
    return rest;
}

/* The lock is held. False: something came meanwhile. */
static bool pause_for(qn__notifier *notifier, long ns) {
    const struct timespec until = qn__deadline((uint64_t)ns);
    return !qn__cond_wait(&notifier->wake, &notifier->lock, (uint64_t)ns, &until);
}

static void put_back(qn__notifier *notifier, qn__notice *rest) {
    qn__notice **last = &rest;
    if (!rest) return;
    while (*last) last = &(*last)->next;
    *last = notifier->first;
    if (!notifier->first) notifier->last = last;
    notifier->first = rest;
}

static void *notify_main(void *argument) {
    qn_context *context = argument;
    qn__notifier *notifier = &context->notifier;
    long pause = LEAST_PAUSE_NS;
    pthread_mutex_lock(&notifier->lock);
    while (!notifier->stop) {
        if (!notifier->first) {
            pthread_cond_wait(&notifier->wake, &notifier->lock);
            pause = LEAST_PAUSE_NS;
            continue;
        }
        qn__notice *list = notifier->first;
        bool told = false;
        notifier->first = NULL;
        notifier->last = &notifier->first;
        pthread_mutex_unlock(&notifier->lock);
        list = look(context, list, &told);
        pthread_mutex_lock(&notifier->lock);
        put_back(notifier, list);
        if (told || notifier->stop || !notifier->first) continue;
        pause = pause_for(notifier, pause) ? pause + pause / 2 : LEAST_PAUSE_NS;
        if (pause > MOST_PAUSE_NS) pause = MOST_PAUSE_NS;
    }
    pthread_mutex_unlock(&notifier->lock);
    return NULL;
}

/* ---- the notifier's life ---- */

void qn__notifier_init(qn_context *context) {
    pthread_mutex_init(&context->notifier.lock, NULL);
    qn__cond_init(&context->notifier.wake);
    context->notifier.last = &context->notifier.first;
}

/* The work that can end has ended: what is still waited for after one more look never is. */
void qn__notifier_end(qn_context *context) {
    qn__notifier *notifier = &context->notifier;
    pthread_mutex_lock(&notifier->lock);
    notifier->stop = true;
    pthread_cond_signal(&notifier->wake);
    pthread_mutex_unlock(&notifier->lock);
    if (notifier->started) pthread_join(notifier->thread, NULL);
    notifier->started = false;
    bool told;
    for (qn__notice *notice = look(context, notifier->first, &told), *next; notice; notice = next) {
        next = notice->next;
        if (notice->callback)
            call(notice, QN_ERROR_TIMEOUT, "the context was closed before the work was done");
        let_go(context, notice);
    }
    notifier->first = NULL;
    notifier->last = &notifier->first;
}

void qn__notifier_free(qn_context *context) {
    pthread_cond_destroy(&context->notifier.wake);
    pthread_mutex_destroy(&context->notifier.lock);
}

static bool start(qn_context *context) {
    qn__notifier *notifier = &context->notifier;
    pthread_mutex_lock(&notifier->lock);
    if (!notifier->started) notifier->started = qn__thread_start(&notifier->thread, notify_main, context);
    const bool started = notifier->started;
    pthread_mutex_unlock(&notifier->lock);
    return started;
}

/* The lock is held. */
static void add(qn__notifier *notifier, qn__notice *notice) {
    *notifier->last = notice;
    notifier->last = &notice->next;
    pthread_cond_signal(&notifier->wake);
}

/* With its thread running, so that nothing can fail later. NULL: with a message. */
static qn__notice *new_notice(qn_context *context) {
    qn__notice *notice = qn__allocate_zeroed(&context->allocator, sizeof *notice);
    if (!notice) {
        qn__fail_memory(context, sizeof *notice);
        return NULL;
    }
    if (start(context)) return notice;
    qn__release(&context->allocator, notice);
    qn__fail(context, QN_ERROR_OUT_OF_MEMORY, "no more threads");
    return NULL;
}

/* ---- streams ---- */

qn_status qn_stream_on_done(qn_stream *stream, qn_done_callback *callback, void *user) {
    qn_status status = qn__check_stream(stream, "qn_stream_on_done");
    if (status) return status;
    qn_context *context = stream->object.context;
    if (!callback) return qn__fail_null(context, "qn_stream_on_done", "callback");
    if (stream->recording)
        return qn__fail(context, QN_ERROR_STATE, "qn_stream_on_done: the stream records a graph");
    qn__notice *notice = new_notice(context);
    if (!notice) return QN_ERROR_OUT_OF_MEMORY;
    const qn_backend *backend = stream->device->backend;
    char why[QN__WHY];
    notice->failures = notice->held_failures = UINT32_MAX;
    if (backend->failure) backend->failure(stream->queue, &notice->failures, why);
    qn__hold_failure(stream, &notice->held_failures, why);
    notice->stream = stream;
    notice->number = qn__stream_last(stream);
    notice->callback = callback;
    notice->user = user;
    qn__retain(&stream->object);
    pthread_mutex_lock(&context->notifier.lock);
    add(&context->notifier, notice);
    pthread_mutex_unlock(&context->notifier.lock);
    return QN_OK;
}

/* ---- events ---- */

static void clear(int fd) {
    uint64_t count;
    while (read(fd, &count, sizeof count) > 0) {
    }
}

qn_status qn__event_prepare(qn_event *event, qn__notice **notice) {
    *notice = NULL;
    if (!atomic_load(&event->has_fd)) return QN_OK;
    *notice = new_notice(event->object.context);
    return *notice ? QN_OK : QN_ERROR_OUT_OF_MEMORY;
}

void qn__event_await(qn_event *event, qn__notice *notice, uint64_t version) {
    if (!notice) return;
    qn__notifier *notifier = &event->object.context->notifier;
    notice->event = event;
    notice->version = version;
    qn__retain(&event->object);
    pthread_mutex_lock(&notifier->lock);
    if (version > event->awaited) {
        event->awaited = version;
        clear(event->fd);
    }
    add(notifier, notice);
    pthread_mutex_unlock(&notifier->lock);
}

static qn_status make_fd(qn_event *event) {
#ifdef __linux__
    qn_context *context = event->object.context;
    qn__notice *notice = new_notice(context);
    if (!notice) return QN_ERROR_OUT_OF_MEMORY;
    const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (fd < 0) {
        qn__release(&context->allocator, notice);
        return qn__fail(context, QN_ERROR_DRIVER, "qn_event_fd: %s", strerror(errno));
    }
    event->fd = fd;
    atomic_store(&event->has_fd, true); /* a recording from now on sees to it itself */
    const uint64_t version = atomic_load(&event->version);
    if (version)
        qn__event_await(event, notice, version);
    else
        qn__release(&context->allocator, notice);
    return QN_OK;
#else
    return qn__fail(event->object.context, QN_ERROR_UNSUPPORTED, "qn_event_fd: this system has no eventfd");
#endif
}

qn_status qn_event_fd(qn_event *event, int *fd) {
    if (fd) *fd = -1;
    qn_status status = qn__check(event, QN__OBJECT_EVENT, "qn_event_fd", "event");
    if (status) return status;
    if (!fd) return qn__fail_null(event->object.context, "qn_event_fd", "fd");
    pthread_mutex_lock(&event->device->lock);
    if (!atomic_load(&event->has_fd)) status = make_fd(event);
    if (!status) *fd = event->fd;
    pthread_mutex_unlock(&event->device->lock);
    return status;
}

void qn__event_close_fd(qn_event *event) {
    if (atomic_load(&event->has_fd)) close(event->fd);
}
