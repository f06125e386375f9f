/* A ring's own thread, for programs that do not wait: it looks for replies to calls with a callback, and says by an eventfd that
   something has happened. It is there from the first such call on, and sleeps while nothing is due. */
#include <string.h>
#include <time.h>
#if defined(__linux__)
#include <sys/eventfd.h>
#include <unistd.h>
#endif

#include "ring/internal.h"

#if defined(_WIN32)
#define SLEEP_CLOCK CLOCK_REALTIME /* winpthreads' conditions know no other */
#else
#define SLEEP_CLOCK CLOCK_MONOTONIC
#include <signal.h>
#endif

/* ---- events ---- */

#if defined(__linux__)

static int open_event(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

static void signal_event(int event) {
    const uint64_t one = 1;
    /* Where it cannot be written it is readable already. */
    if (write(event, &one, sizeof one) < 0) return;
}

static void clear_event(int event) {
    uint64_t count;
    if (read(event, &count, sizeof count) < 0) return;
}

static void close_event(int event) { close(event); }

#else

static int open_event(void) { return -1; }
static void signal_event(int event) { (void)event; }
static void clear_event(int event) { (void)event; }
static void close_event(int event) { (void)event; }

#endif

static void tell(qn__ring_service *service, uint32_t events) {
    if (!events || !service->has_event) return;
    const uint32_t before = atomic_fetch_or(&service->events, events);
    if (events & ~before) signal_event(service->event);
}

/* The marks that the host's messages have passed since the last look. */
static uint32_t look_at_water(qn_ring *ring) {
    uint32_t most = 0;
    if (!ring->desc.high_water) return 0;
    for (uint32_t band = 0; band < ring->desc.bands; band++) {
        const uint32_t depth = qn__ring_depth(ring, band);
        if (depth > most) most = depth;
    }
    qn__ring_service *service = &ring->service;
    const bool passed = service->above ? most <= ring->desc.low_water : most >= ring->desc.high_water;
    if (!passed) return 0;
    service->above = !service->above;
    return service->above ? QN_RING_HIGH_WATER : QN_RING_LOW_WATER;
}

static void look_for_events(qn_ring *ring, qn_status status) {
    qn__ring_service *service = &ring->service;
    if (!service->has_event) return;
    uint32_t events = look_at_water(ring);
    if (qn__ring_queue_first(&ring->out) || ring->inbox) events |= QN_RING_RECEIVABLE;
    if (atomic_load(&ring->state) != QN_RING_FAILED) {
        service->failure_told = false;
    } else if (status && !service->failure_told) {
        service->failure_told = true;
        events |= QN_RING_HAS_FAILED;
    }
    tell(service, events);
}

/* ---- calls ---- */

/* Under the lock the thread either has yet to look, or sleeps. It is told whatever `sleeps` says: qn__ring_service_wake, which takes
   no lock, may have cleared that as the thread lay down, and woken nobody. */
void qn__ring_service_due(qn_ring *ring) {
    atomic_store(&ring->service.sleeps, false);
    pthread_cond_signal(&ring->service.wake);
}

void qn__ring_service_done(qn_ring *ring, qn__ring_pending *call) {
    qn__ring_service *service = &ring->service;
    call->next = NULL;
    *service->done_end = call;
    service->done_end = &call->next;
    service->num_async--;
    qn__ring_service_due(ring);
}

/* Ends the calls with a callback whose deadline is before `now`, with `status`. Under the receive lock. */
static void give_up(qn_ring *ring, uint64_t now, qn_status status) {
    for (qn__ring_pending *call = ring->pending, *next; call; call = next) {
        next = call->next;
        if (!call->callback || call->deadline_ns > now) continue;
        qn__ring_remove_pending(ring, call);
        call->status = status;
        qn__ring_service_done(ring, call);
    }
}

static bool is_dropped(const qn__ring_pending *call, uint32_t stops) { return call->stops != stops; }
static bool has_failed(const qn__ring_pending *call, uint32_t recoveries) {
    return (int32_t)(call->recoveries - recoveries) <= 0;
}

/* The same for those whose message is put where a stop has dropped it: the ring has stopped since; or by the ring's failure, unless the
   ring had recovered from that when the message was put. `count`: of the stops, or of the recoveries, before the look that tells so. */
static void give_up_put(qn_ring *ring, bool (*is_over)(const qn__ring_pending *call, uint32_t count),
                        uint32_t count, qn_status status) {
    for (qn__ring_pending *call = ring->pending, *next; call; call = next) {
        next = call->next;
        if (!call->callback || !call->is_put || !is_over(call, count)) continue;
        qn__ring_remove_pending(ring, call);
        call->status = status;
        qn__ring_service_done(ring, call);
    }
}

/* Gives calls their replies, and ends those that will have none as the ring has stopped: the output held all answers then. */
static void settle(qn_ring *ring, bool keeps) {
    const bool never = false;
    const uint32_t stops = atomic_load(&ring->stops);
    qn__ring_sort_out(ring, keeps, &never);
    if (!qn__ring_queue_first(&ring->out)) give_up_put(ring, is_dropped, stops, QN_ERROR_STATE);
}

void qn__ring_service_forget(qn_ring *ring) {
    if (ring->service.num_async) settle(ring, true);
}

static void call_back(qn_ring *ring, qn__ring_pending *call) {
    for (qn__ring_pending *next; call; call = next) {
        next = call->next;
        const bool replied = call->status == QN_OK;
        call->callback(call->user, call->status, replied ? &call->message : NULL,
                       replied ? call->reply : NULL);
        ring->allocator.release(ring->allocator.user, call);
    }
}

static qn__ring_pending *take_done(qn__ring_service *service) {
    qn__ring_pending *done = service->done;
    service->done = NULL;
    service->done_end = &service->done;
    return done;
}

/* ---- the thread ---- */

static void sleep_for(qn__ring_service *service, pthread_mutex_t *lock, uint64_t ns) {
    struct timespec until;
    clock_gettime(SLEEP_CLOCK, &until);
    until.tv_nsec += (long)ns;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&service->wake, lock, &until);
}

static bool is_due(const qn_ring *ring) {
    const qn__ring_service *service = &ring->service;
    return service->num_async || service->has_event || ring->routes || qn__ring_is_supervised(ring) ||
           atomic_load(&ring->report);
}

/* Until somebody wakes it, or the next look is due; *wait begins anew in the first case. Under the receive lock. */
static void rest(qn_ring *ring, qn__ring_wait *wait) {
    qn__ring_service *service = &ring->service;
    const bool watches = is_due(ring);
    const uint64_t ns = watches ? qn__ring_wait_step(wait) : 0;
    if (watches && !ns) {
        pthread_mutex_unlock(&ring->receive_lock); /* others have a turn */
        pthread_mutex_lock(&ring->receive_lock);
        return;
    }
    atomic_store(&service->sleeps, true);
    if (watches)
        sleep_for(service, &ring->receive_lock, ns);
    else
        while (!is_due(ring) && !service->done && !atomic_load(&service->stops)) {
            atomic_store(&service->sleeps, true); /* a send has woken it, which is no work for it */
            pthread_cond_wait(&service->wake, &ring->receive_lock);
        }
    if (!atomic_load(&service->sleeps) || !watches) *wait = qn__ring_wait_begin(QN_FOREVER);
    atomic_store(&service->sleeps, false);
}

/* One look at all that may have happened. Under the receive lock, but while it calls back or asks the driver. */
static void look(qn_ring *ring, qn__ring_wait *wait) {
    qn__ring_service *service = &ring->service;
    /* Without memory for a message it stays where it is, and is looked at again. */
    settle(ring, service->num_async > 0 || ring->routes);
    if (qn__ring_wait_is_long(wait) && service->num_async) give_up(ring, qn__ring_now(), QN_ERROR_TIMEOUT);
    pthread_mutex_unlock(&ring->receive_lock);
    const uint32_t recoveries =
        atomic_load(&ring->recoveries); /* it may recover as soon as it is known that it has failed */
    const qn_status status = qn__ring_pass_time(ring, wait);
    qn__ring_supervise(ring);
    qn__ring_write_report(ring);
    pthread_mutex_lock(&ring->receive_lock);
    if (status) settle(ring, service->num_async > 0 || ring->routes); /* what came before a failure holds */
    if (status) give_up_put(ring, has_failed, recoveries, status);
    look_for_events(ring, status);
    qn__ring_pending *done = take_done(service);
    if (!done) return;
    *wait = qn__ring_wait_begin(QN_FOREVER);
    pthread_mutex_unlock(&ring->receive_lock);
    call_back(ring, done);
    pthread_mutex_lock(&ring->receive_lock);
}

static void *serve(void *argument) {
    qn_ring *ring = argument;
    qn__ring_wait wait = qn__ring_wait_begin(QN_FOREVER);
    pthread_mutex_lock(&ring->receive_lock);
    while (!atomic_load(&ring->service.stops)) {
        look(ring, &wait);
        if (!atomic_load(&ring->service.stops)) rest(ring, &wait);
    }
    pthread_mutex_unlock(&ring->receive_lock);
    return NULL;
}

/* Deaf to signals: they are for the program's threads. */
static bool create_thread(qn_ring *ring) {
#if defined(_WIN32)
    return pthread_create(&ring->service.thread, NULL, serve, ring) == 0;
#else
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool created = pthread_create(&ring->service.thread, NULL, serve, ring) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return created;
#endif
}

/* Under the receive lock. */
qn_status qn__ring_service_start(qn_ring *ring, const char *function) {
    if (atomic_load(&ring->service.runs)) return QN_OK;
    if (!create_thread(ring))
        return qn__ring_fail(ring, QN_ERROR_OUT_OF_MEMORY, "%s: the system gives no thread", function);
    atomic_store(&ring->service.runs, true);
    return QN_OK;
}

void qn__ring_service_wake(qn_ring *ring) {
    if (atomic_exchange(&ring->service.sleeps, false)) pthread_cond_signal(&ring->service.wake);
}

void qn__ring_service_init(qn_ring *ring) {
#if defined(_WIN32)
    pthread_cond_init(&ring->service.wake, NULL);
#else
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, SLEEP_CLOCK);
    pthread_cond_init(&ring->service.wake, &attributes);
    pthread_condattr_destroy(&attributes);
#endif
    ring->service.done_end = &ring->service.done;
}

bool qn__ring_service_is_here(const qn_ring *ring) {
    return atomic_load(&ring->service.runs) && pthread_equal(ring->service.thread, pthread_self());
}

void qn__ring_service_end(qn_ring *ring) {
    qn__ring_service *service = &ring->service;
    if (!atomic_load(&service->runs)) return;
    pthread_mutex_lock(&ring->receive_lock);
    atomic_store(&service->stops, true);
    qn__ring_service_due(ring);
    pthread_mutex_unlock(&ring->receive_lock);
    pthread_join(service->thread, NULL);
    atomic_store(&service->runs, false);
    give_up(ring, QN_FOREVER, QN_ERROR_STATE);
    call_back(ring, take_done(service));
    if (service->has_event) close_event(service->event);
}

/* ---- the calls ---- */

static uint64_t deadline(uint64_t timeout_ns) {
    const uint64_t now = qn__ring_now();
    return timeout_ns < QN_FOREVER - now ? now + timeout_ns : QN_FOREVER;
}

static qn__ring_pending *make_call(qn_ring *ring, qn_ring_callback callback, void *user,
                                   uint64_t timeout_ns) {
    const size_t size = ring->desc.reply_size;
    qn__ring_pending *call = ring->allocator.allocate(ring->allocator.user, sizeof(qn__ring_pending) + size);
    if (!call) {
        qn__ring_fail(ring, QN_ERROR_OUT_OF_MEMORY, "qn_ring_call_async: out of host memory");
        return NULL;
    }
    *call = (qn__ring_pending){.reply = call + 1,
                               .size = size,
                               .callback = callback,
                               .user = user,
                               .deadline_ns = deadline(timeout_ns)};
    return call;
}

/* Before it is sent, since its reply may come at once. */
static qn_status enlist(qn_ring *ring, qn__ring_pending *call) {
    pthread_mutex_lock(&ring->receive_lock);
    const qn_status status = qn__ring_service_start(ring, "qn_ring_call_async");
    if (!status) {
        qn__ring_add_pending(ring, call);
        ring->service.num_async++;
        qn__ring_service_due(ring);
    }
    pthread_mutex_unlock(&ring->receive_lock);
    return status;
}

/* The call, or its memory: mostly it is the last one still, where many wait. */
static bool is_pending(const qn_ring *ring, const qn__ring_pending *call, uint64_t id) {
    const qn__ring_pending *at = ring->pending;
    if (at && ring->pending_end == &call->next) return call->id == id;
    while (at && at->id != id) at = at->next;
    return at != NULL;
}

/* A call that was not sent, unless its callback is due all the same, since its time is over. */
static bool withdraw(qn_ring *ring, qn__ring_pending *call, uint64_t id) {
    pthread_mutex_lock(&ring->receive_lock);
    const bool waits = is_pending(ring, call, id);
    if (waits) {
        qn__ring_remove_pending(ring, call);
        ring->service.num_async--;
    }
    pthread_mutex_unlock(&ring->receive_lock);
    return waits;
}

void qn__ring_service_sent(qn_ring *ring, qn__ring_pending *call, uint64_t id, const qn__ring_wait *put) {
    pthread_mutex_lock(&ring->receive_lock);
    if (is_pending(ring, call, id)) {
        call->is_put = true;
        call->stops = put->stops;
        call->recoveries = put->recoveries;
        qn__ring_service_due(ring); /* the ring may have stopped since */
    }
    pthread_mutex_unlock(&ring->receive_lock);
}

qn_status qn_ring_call_async(qn_ring *ring, const void *payload, size_t size, qn_ring_callback callback,
                             void *user, uint64_t timeout_ns) {
    static const char function[] = "qn_ring_call_async";
    qn_status status = qn__ring_check_send(ring, function, NULL, payload, size);
    if (status) return status;
    if (!callback) return qn__ring_fail(ring, QN_ERROR_NULL, "%s: callback is NULL", function);
    qn__ring_pending *call = make_call(ring, callback, user, timeout_ns);
    if (!call) return QN_ERROR_OUT_OF_MEMORY;
    const qn_ring_message full = qn__ring_address(ring, NULL, size, QN__RING_CALL, 1);
    call->id = full.id;
    status = enlist(ring, call);
    if (status) {
        ring->allocator.release(ring->allocator.user, call);
        return status;
    }
    qn__ring_wait none = qn__ring_wait_begin(0);
    status = qn__ring_put(ring, function, &full, payload, &none);
    if (!status) {
        qn__ring_service_sent(ring, call, full.id, &none);
        return QN_OK;
    }
    if (!withdraw(ring, call, full.id)) return QN_OK;
    ring->allocator.release(ring->allocator.user, call);
    return status;
}

qn_status qn_ring_event_fd(qn_ring *ring, int *fd) {
    static const char function[] = "qn_ring_event_fd";
    qn_status status = qn__ring_check(ring, function);
    if (status) return status;
    if (!fd) return qn__ring_fail(ring, QN_ERROR_NULL, "%s: fd is NULL", function);
#if !defined(__linux__)
    return qn__ring_fail(ring, QN_ERROR_UNSUPPORTED, "%s: this system has no eventfd", function);
#endif
    qn__ring_service *service = &ring->service;
    pthread_mutex_lock(&ring->receive_lock);
    status = qn__ring_service_start(ring, function);
    if (!status && !service->has_event) {
        service->event = open_event();
        service->has_event = service->event >= 0;
        if (!service->has_event)
            status =
                qn__ring_fail(ring, QN_ERROR_OUT_OF_MEMORY, "%s: the system gives no descriptor", function);
        qn__ring_service_due(ring);
    }
    if (!status) *fd = service->event;
    pthread_mutex_unlock(&ring->receive_lock);
    return status;
}

qn_status qn_ring_take_events(qn_ring *ring, uint32_t *events) {
    const qn_status status = qn__ring_check(ring, "qn_ring_take_events");
    if (status) return status;
    if (!events) return qn__ring_fail(ring, QN_ERROR_NULL, "qn_ring_take_events: events is NULL");
    pthread_mutex_lock(&ring->receive_lock);
    if (ring->service.has_event) clear_event(ring->service.event);
    *events = atomic_exchange(&ring->service.events, 0);
    pthread_mutex_unlock(&ring->receive_lock);
    return QN_OK;
}

qn_status qn_ring_get_credits(qn_ring *ring, uint32_t priority, uint32_t *credits) {
    static const char function[] = "qn_ring_get_credits";
    const qn_ring_message message = {.priority = priority};
    const qn_status status = qn__ring_check_send(ring, function, &message, NULL, 0);
    if (status) return status;
    if (!credits) return qn__ring_fail(ring, QN_ERROR_NULL, "%s: credits is NULL", function);
    qn__ring_mirror_look(ring);
    *credits = qn__ring_queue_credits(&ring->in, qn__ring_band(ring, priority));
    return QN_OK;
}
