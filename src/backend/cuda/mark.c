/* Events. An event of the driver is recorded again and again; the versions say which recording is meant. One
   that a thread waits for is left as it is: the next recording gets another. The driver tells times as
   differences in float milliseconds, so that a time is measured from a base event that is at most a second
   older: the error is below 0.1 us, and over a longer time one part in 2^24. */
#include "backend/cuda/cuda.h"
#include "util/file.h"

#define BASE_NS 1000000000u /* when a new base is made */

/* ---- bases; the gpu's lock is held ---- */

void qn__cuda_base_release(qn__gpu *gpu, qn__cuda_base *base) {
    if (--base->references) return;
    gpu->cu->event_destroy(base->event);
    qn__release(gpu->services->allocator, base);
}

/* Recorded on the service stream, which is idle: it is there at once. */
static qn__cu_result new_base(qn__gpu *gpu, uint64_t now) {
    const qn__cu *cu = gpu->cu;
    float passed = 0;
    qn__cuda_base *base = qn__allocate_zeroed(gpu->services->allocator, sizeof *base);
    if (!base) return QN__CU_ERROR_OUT_OF_MEMORY;
    qn__cu_result result = cu->event_create(&base->event, QN__CU_EVENT_DEFAULT);
    if (result) {
        qn__release(gpu->services->allocator, base);
        return result;
    }
    base->references = 1;
    base->host_ns = now;
    result = cu->event_record(base->event, gpu->service);
    if (!result) result = cu->event_synchronize(base->event);
    if (!result && gpu->base) result = cu->event_elapsed(&passed, gpu->base->event, base->event);
    if (result) {
        qn__cuda_base_release(gpu, base);
        return result;
    }
    if (gpu->base) {
        base->time_ns = gpu->base->time_ns + (double)passed * 1e6;
        qn__cuda_base_release(gpu, gpu->base);
    }
    gpu->base = base;
    return QN__CU_SUCCESS;
}

/* A reference to a recent base, or NULL with the result. */
static qn__cuda_base *recent_base(qn__gpu *gpu, qn__cu_result *result) {
    uint64_t now = qn__now_ns();
    *result = QN__CU_SUCCESS;
    pthread_mutex_lock(&gpu->lock);
    if (!gpu->base || now - gpu->base->host_ns > BASE_NS) *result = new_base(gpu, now);
    qn__cuda_base *base = *result ? NULL : gpu->base;
    if (base) base->references++;
    pthread_mutex_unlock(&gpu->lock);
    return base;
}

static void release_base(qn__gpu *gpu, qn__cuda_base *base) {
    if (!base) return;
    pthread_mutex_lock(&gpu->lock);
    qn__cuda_base_release(gpu, base);
    pthread_mutex_unlock(&gpu->lock);
}

/* ---- marks ---- */

static qn__cuda_event *new_event(qn__gpu *gpu, qn__cu_result *result) {
    qn__cuda_event *event = qn__allocate_zeroed(gpu->services->allocator, sizeof *event);
    *result = event ? gpu->cu->event_create(&event->event, QN__CU_EVENT_DEFAULT) : QN__CU_ERROR_OUT_OF_MEMORY;
    if (*result) {
        qn__release(gpu->services->allocator, event);
        return NULL;
    }
    event->references = 1;
    return event;
}

static void drop_event(qn__gpu *gpu, qn__cuda_event *event) {
    if (--event->references) return;
    gpu->cu->event_destroy(event->event);
    qn__release(gpu->services->allocator, event);
}

qn_status qn__cuda_mark_create(qn__gpu *gpu, qn__mark **out, char *why) {
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    qn__mark *mark = qn__allocate_zeroed(gpu->services->allocator, sizeof *mark);
    if (!mark) return QN_ERROR_OUT_OF_MEMORY;
    mark->gpu = gpu;
    qn__cu_result result;
    const bool entered = qn__cuda_enter(gpu);
    mark->latest = new_event(gpu, &result);
    qn__cuda_leave(gpu, entered);
    if (result) {
        qn__release(gpu->services->allocator, mark);
        return qn__cuda_fail(gpu, result, "an event", why);
    }
    pthread_mutex_init(&mark->lock, NULL);
    *out = mark;
    return QN_OK;
}

void qn__cuda_mark_destroy(qn__mark *mark) {
    qn__gpu *gpu = mark->gpu;
    const bool entered = qn__cuda_enter(gpu);
    release_base(gpu, mark->base);
    drop_event(gpu, mark->latest);
    qn__cuda_leave(gpu, entered);
    pthread_mutex_destroy(&mark->lock);
    qn__release(gpu->services->allocator, mark);
}

/* Records the mark's event, or a new one if somebody waits for that; the lock is held. */
static qn__cu_result record(const qn__cuda_target *target, qn__mark *mark) {
    qn__gpu *gpu = target->gpu;
    qn__cu_result result = QN__CU_SUCCESS;
    qn__cuda_event *event = mark->latest->references == 1 ? mark->latest : new_event(gpu, &result);
    if (!result) result = gpu->cu->event_record(event->event, target->stream);
    if (event == mark->latest || !event) return result;
    if (!result) {
        mark->latest->references--;
        mark->latest = event;
    } else {
        drop_event(gpu, event);
    }
    return result;
}

qn_status qn__cuda_mark_record(const qn__cuda_target *target, qn__mark *mark, uint64_t version, char *why) {
    qn__gpu *gpu = target->gpu;
    qn__cu_result result;
    qn__cuda_base *base = recent_base(gpu, &result), *old = base;
    if (base) {
        pthread_mutex_lock(&mark->lock);
        result = record(target, mark);
        if (!result) {
            old = mark->base;
            mark->base = base;
            /* recordings by several threads may come in another order than they were counted in */
            if (version > mark->version) mark->version = version;
            mark->timed = false;
        }
        pthread_mutex_unlock(&mark->lock);
        release_base(gpu, old);
    }
    return result ? qn__cuda_fail(gpu, result, "recording an event", why) : QN_OK;
}

/* What was recorded last is waited for: that is the recording meant, or a later one. The mark may be another device's,
   whose loss is not this one's. */
qn_status qn__cuda_mark_await(const qn__cuda_target *target, qn__mark *mark, char *why) {
    if (qn__is_lost(&mark->gpu->loss)) return qn__lost(&mark->gpu->loss, why);
    pthread_mutex_lock(&mark->lock);
    qn__cu_result result = target->gpu->cu->stream_wait_event(target->stream, mark->latest->event, 0);
    pthread_mutex_unlock(&mark->lock);
    return result ? qn__cuda_fail(mark->gpu, result, "waiting for an event", why) : QN_OK;
}

/* The time of the latest recording, which is done. */
static void take_time(qn__mark *mark) {
    float passed = 0;
    if (mark->gpu->cu->event_elapsed(&passed, mark->base->event, mark->latest->event)) return;
    mark->time_ns = (uint64_t)(int64_t)(mark->base->time_ns + (double)passed * 1e6);
    mark->timed = true;
}

/* A lost device does nothing more: whoever polls must get to an end. */
bool qn__cuda_mark_done(qn__mark *mark, uint64_t version, uint64_t *time_ns) {
    qn__gpu *gpu = mark->gpu;
    char why[QN__WHY];
    qn__cu_result result = QN__CU_SUCCESS;
    pthread_mutex_lock(&mark->lock);
    bool lost = qn__is_lost(&gpu->loss), done = lost;
    if (!lost && mark->version >= version) {
        done = mark->timed;
        if (!done) {
            const bool entered = qn__cuda_enter(gpu);
            result = gpu->cu->event_query(mark->latest->event);
            done = result != QN__CU_ERROR_NOT_READY;
            if (!result) take_time(mark);
            qn__cuda_leave(gpu, entered);
        }
    }
    *time_ns = mark->time_ns;
    pthread_mutex_unlock(&mark->lock);
    if (result && result != QN__CU_ERROR_NOT_READY) qn__cuda_fail(gpu, result, "an event", why);
    return done;
}

typedef struct waiting {
    qn__mark *mark;
    uint64_t version;
    qn__cuda_event *event; /* of that recording, or a later one; held */
    qn__cu_result result;
} waiting;

/* False while another thread is just recording it. */
static bool hold(waiting *w) {
    pthread_mutex_lock(&w->mark->lock);
    if (w->mark->version >= w->version) {
        w->event = w->mark->latest;
        w->event->references++;
    }
    pthread_mutex_unlock(&w->mark->lock);
    return w->event != NULL;
}

static bool reached(void *user) {
    waiting *w = user;
    qn__gpu *gpu = w->mark->gpu;
    if (qn__is_lost(&gpu->loss)) return true;
    if (!w->event && !hold(w)) return false;
    qn__cu_result result = gpu->cu->event_query(w->event->event);
    if (result == QN__CU_ERROR_NOT_READY) return false;
    w->result = result;
    return true;
}

qn_status qn__cuda_mark_wait(qn__mark *mark, uint64_t version, uint64_t timeout_ns, char *why) {
    qn__gpu *gpu = mark->gpu;
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    waiting w = {.mark = mark, .version = version};
    bool in_time = true;
    const bool entered = qn__cuda_enter(gpu);
    if (timeout_ns == QN_FOREVER && hold(&w))
        w.result = gpu->cu->event_synchronize(w.event->event);
    else
        in_time = qn__poll(reached, &w, timeout_ns, true);
    pthread_mutex_lock(&mark->lock);
    if (w.event) drop_event(gpu, w.event);
    pthread_mutex_unlock(&mark->lock);
    qn__cuda_leave(gpu, entered);
    if (w.result) return qn__cuda_fail(gpu, w.result, "waiting for an event", why);
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    return in_time ? QN_OK : QN_ERROR_TIMEOUT;
}
