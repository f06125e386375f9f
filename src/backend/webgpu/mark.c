/* Events: the submission behind which they stand, and when the host saw that it was done, for which
   it has to look: whoever waits does. */
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

/* The lock is held. What is before it is submitted, since others may wait for it. */
void qn__wg_record(qn__gpu *gpu, const qn__command *command) {
    qn__mark *mark = command->mark;
    char why[QN__WHY];
    if (command->mark_version < mark->version) return;
    if (!gpu->encoder) qn__wg_encode(gpu, false, why); /* a submission of its own, with its own time */
    unlink_mark(mark);
    mark->serial = gpu->encoder ? gpu->serial : gpu->serial - 1;
    mark->version = command->mark_version;
    mark->next = gpu->marks;
    gpu->marks = mark;
    qn__wg_flush(gpu);
}

void qn__wg_reach_marks(qn__gpu *gpu, uint64_t serial) {
    for (qn__mark **link = &gpu->marks; *link;) {
        qn__mark *mark = *link;
        if (mark->serial > serial) {
            link = &mark->next;
            continue;
        }
        *link = mark->next;
        mark->done_version = mark->version;
        mark->time_ns = qn__now_ns();
    }
}

bool qn__wg_mark_done(qn__mark *mark, uint64_t version, uint64_t *time_ns) {
    qn__gpu *gpu = mark->gpu;
    qn__wg_advance(gpu);
    pthread_mutex_lock(&gpu->lock);
    if (qn__is_lost(&gpu->loss)) qn__wg_reach_marks(gpu, UINT64_MAX);
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
    return qn__poll(is_done, &w, timeout_ns, false) ? QN_OK : QN_ERROR_TIMEOUT;
}
