/* Events of devices whose kernels this process runs. A mark knows which of its recordings are announced and not yet reached, so that a
   wait is for the recording that it names: a later one, on another stream, may be reached first. */
#include <string.h>

#include "backend/common/host_queue.h"
#include "util/file.h"
#include "util/thread.h"

struct qn__mark {
    const qn__allocator *allocator;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    qn__host_recording *pending, **last; /* announced, not yet reached; the oldest first */
    uint64_t announced;                  /* the highest version */
    uint64_t timed, time_ns;             /* the highest version that was reached, and when */
    qn_status failure;                   /* of what was before it in its stream, and is not told yet */
    char why[QN__WHY];
};

/* ---- marks ---- */

qn_status qn__host_mark_create(const qn__allocator *allocator, qn__mark **out) {
    qn__mark *mark = qn__allocate_zeroed(allocator, sizeof *mark);
    if (!mark) return QN_ERROR_OUT_OF_MEMORY;
    mark->allocator = allocator;
    mark->last = &mark->pending;
    pthread_mutex_init(&mark->lock, NULL);
    qn__cond_init(&mark->changed);
    *out = mark;
    return QN_OK;
}

void qn__host_mark_destroy(qn__mark *mark) {
    pthread_cond_destroy(&mark->changed);
    pthread_mutex_destroy(&mark->lock);
    qn__release(mark->allocator, mark);
}

void qn__host_mark_announce(qn__mark *mark, qn__host_recording *recording, uint64_t version) {
    pthread_mutex_lock(&mark->lock);
    recording->version = version;
    recording->next = NULL;
    *mark->last = recording;
    mark->last = &recording->next;
    if (version > mark->announced) mark->announced = version;
    pthread_mutex_unlock(&mark->lock);
}

void qn__host_mark_reach(qn__mark *mark, qn__host_recording *recording, const qn__sticky *failure) {
    pthread_mutex_lock(&mark->lock);
    qn__host_recording **at = &mark->pending;
    while (*at != recording) at = &(*at)->next;
    *at = recording->next;
    if (mark->last == &recording->next) mark->last = at;
    if (recording->version > mark->timed) {
        mark->timed = recording->version;
        mark->time_ns = qn__now_ns();
        mark->failure = failure->status == QN_ERROR_CANCELLED ? QN_OK : failure->status;
        if (mark->failure) memcpy(mark->why, failure->why, sizeof mark->why);
    }
    pthread_cond_broadcast(&mark->changed);
    pthread_mutex_unlock(&mark->lock);
}

/* A version that is not announced is just being recorded by another thread. */
static bool is_reached(const qn__mark *mark, uint64_t version) {
    if (version > mark->announced) return false;
    for (const qn__host_recording *r = mark->pending; r; r = r->next)
        if (r->version == version) return false;
    return true;
}

bool qn__host_mark_done(qn__mark *mark, uint64_t version, uint64_t *time_ns) {
    pthread_mutex_lock(&mark->lock);
    bool done = is_reached(mark, version);
    *time_ns = mark->time_ns;
    pthread_mutex_unlock(&mark->lock);
    return done;
}

void qn__host_mark_await(qn__mark *mark, uint64_t version, const atomic_bool *stop) {
    pthread_mutex_lock(&mark->lock);
    while (!is_reached(mark, version) && !atomic_load(stop)) pthread_cond_wait(&mark->changed, &mark->lock);
    pthread_mutex_unlock(&mark->lock);
}

void qn__host_mark_wake(qn__mark *mark) {
    pthread_mutex_lock(&mark->lock);
    pthread_cond_broadcast(&mark->changed);
    pthread_mutex_unlock(&mark->lock);
}

qn_status qn__host_mark_wait(qn__mark *mark, uint64_t version, uint64_t timeout_ns, char *why) {
    struct timespec until = qn__deadline(timeout_ns);
    qn_status status = QN_OK;
    pthread_mutex_lock(&mark->lock);
    while (!is_reached(mark, version) && !status)
        if (!qn__cond_wait(&mark->changed, &mark->lock, timeout_ns, &until)) status = QN_ERROR_TIMEOUT;
    if (!status && mark->timed == version) status = mark->failure;
    if (status && status != QN_ERROR_TIMEOUT) memcpy(why, mark->why, sizeof mark->why);
    pthread_mutex_unlock(&mark->lock);
    return status;
}
