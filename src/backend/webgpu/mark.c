/* Events: the submission that they stand in, and a timestamp that the device writes there. Where the adapter has none, the time is that
   at which the host saw that the submission was done, for which it has to look: whoever waits does. */
#include "backend/webgpu/webgpu.h"
#include "util/file.h"

qn_status qn__wg_mark_create(qn__gpu *gpu, qn__mark **out, char *why) {
    (void)why;
    *out = qn__allocate_zeroed(gpu->services->allocator, sizeof **out);
    if (!*out) return QN_ERROR_OUT_OF_MEMORY;
    (*out)->gpu = gpu;
    return QN_OK;
}

static void unlink_mark(qn__mark *mark) {
    for (qn__mark **link = &mark->gpu->marks; *link; link = &(*link)->next) {
        if (*link != mark) continue;
        *link = mark->next;
        return;
    }
}

void qn__wg_mark_destroy(qn__mark *mark) {
    qn__gpu *gpu = mark->gpu;
    pthread_mutex_lock(&gpu->lock);
    unlink_mark(mark);
    pthread_mutex_unlock(&gpu->lock);
    qn__release(gpu->services->allocator, mark);
}

/* ---- timestamps ---- */

/* A place for them all is used again by each submission: what was there has been copied away in the last one. */
void qn__wg_times_begin(qn__gpu *gpu) {
    const wg_queries_desc desc = {.type = WG_QUERY_TIMES, .count = QN__WG_TIMES};
    gpu->queries = gpu->api->wgpuDeviceCreateQuerySet(gpu->device, &desc);
    char message[QN__WHY];
    gpu->resolved =
        qn__wg_buffer(gpu, WG_USE_RESOLVE | WG_USE_COPY_FROM, QN__WG_TIMES * sizeof(uint64_t), message);
    if (!gpu->resolved && gpu->queries) { /* then there are none */
        gpu->api->wgpuQuerySetRelease(gpu->queries);
        gpu->queries = NULL;
    }
    gpu->tick_ns =
        gpu->api->wgpuQueueGetTimestampPeriod ? (double)gpu->api->wgpuQueueGetTimestampPeriod(gpu->queue) : 1;
}

void qn__wg_times_end(qn__gpu *gpu) {
    if (gpu->queries) gpu->api->wgpuQuerySetRelease(gpu->queries);
    if (gpu->resolved) gpu->api->wgpuBufferRelease(gpu->resolved);
}

/* What was encoded is done when the pass begins, which has nothing in it. */
static uint32_t stamp(qn__gpu *gpu) {
    char why[QN__WHY];
    if (!gpu->queries || !gpu->resolved || qn__wg_encode(gpu, false, why)) return QN__WG_TIMES;
    wg_submission *s = gpu->current;
    if (!s->times) s->times = qn__allocate_zeroed(gpu->services->allocator, QN__WG_TIMES * sizeof *s->times);
    if (!s->times || s->num_times == QN__WG_TIMES) return QN__WG_TIMES;
    const wg_pass_times times = {.queries = gpu->queries, .begin = s->num_times, .end = UINT32_MAX};
    const wg_labelled desc = {.times = gpu->dialect->times_chained ? (const void *)&times
                                                                   : (const void *)&times.queries};
    wg_object pass = gpu->api->wgpuCommandEncoderBeginComputePass(gpu->encoder, &desc);
    if (!pass) return QN__WG_TIMES;
    gpu->api->wgpuComputePassEncoderEnd(pass);
    gpu->api->wgpuComputePassEncoderRelease(pass);
    return s->num_times++;
}

void qn__wg_times_resolve(qn__gpu *gpu) {
    const wg_submission *s = gpu->current;
    char why[QN__WHY];
    if (!s->num_times) return;
    gpu->api->wgpuCommandEncoderResolveQuerySet(gpu->encoder, gpu->queries, 0, s->num_times, gpu->resolved,
                                                0);
    qn__wg_read(gpu, gpu->resolved, 0, s->num_times * sizeof *s->times, s->times, NULL, why);
}

/* ---- marks ---- */

/* The lock is held. Without timestamps what is before it is submitted, for a time of its own. */
void qn__wg_record(qn__gpu *gpu, const qn__command *command) {
    qn__mark *mark = command->mark;
    char why[QN__WHY];
    if (command->mark_version < mark->version) return;
    if (gpu->current && gpu->current->num_times == QN__WG_TIMES) qn__wg_flush(gpu);
    unlink_mark(mark);
    mark->time = stamp(gpu);
    if (!gpu->encoder) qn__wg_encode(gpu, false, why);
    mark->serial = gpu->encoder ? gpu->serial : gpu->serial - 1;
    mark->version = command->mark_version;
    mark->next = gpu->marks;
    gpu->marks = mark;
    if (mark->time == QN__WG_TIMES) qn__wg_flush(gpu);
}

void qn__wg_reach_marks(qn__gpu *gpu, uint64_t serial, const uint64_t *ticks) {
    for (qn__mark **link = &gpu->marks; *link;) {
        qn__mark *mark = *link;
        if (mark->serial > serial) {
            link = &mark->next;
            continue;
        }
        const uint64_t tick = ticks && mark->serial == serial && mark->time < QN__WG_TIMES
                                  ? ticks[mark->time]
                                  : 0; /* also where the device was lost before */
        *link = mark->next;
        mark->done_version = mark->version;
        mark->time_ns = tick ? (uint64_t)((double)tick * gpu->tick_ns) : qn__now_ns();
    }
}

bool qn__wg_mark_done(qn__mark *mark, uint64_t version, uint64_t *time_ns) {
    qn__gpu *gpu = mark->gpu;
    pthread_mutex_lock(&gpu->lock);
    if (mark->version > mark->done_version && mark->serial == gpu->serial) qn__wg_flush(gpu);
    pthread_mutex_unlock(&gpu->lock);
    qn__wg_advance(gpu);
    pthread_mutex_lock(&gpu->lock);
    if (qn__is_lost(&gpu->loss)) qn__wg_reach_marks(gpu, UINT64_MAX, NULL);
    const bool done = mark->done_version >= version;
    *time_ns = mark->time_ns;
    pthread_mutex_unlock(&gpu->lock);
    return done;
}

typedef struct waiting {
    qn__mark *mark;
    uint64_t version;
} waiting;

static bool is_done(void *user) {
    const waiting *w = user;
    uint64_t time;
    return qn__wg_mark_done(w->mark, w->version, &time);
}

qn_status qn__wg_mark_wait(qn__mark *mark, uint64_t version, uint64_t timeout_ns, char *why) {
    waiting w = {mark, version};
    if (qn__is_lost(&mark->gpu->loss)) return qn__lost(&mark->gpu->loss, why);
    return qn__poll(is_done, &w, timeout_ns, true) ? QN_OK : QN_ERROR_TIMEOUT;
}
