/* Events: the newest recording's place in a stream's timeline, and a timestamp that the device writes there. */
#include <time.h>

#include "backend/vulkan/vulkan.h"
#include "util/file.h"

struct qn__mark {
    qn__gpu *gpu;
    pthread_mutex_t lock;
    uint64_t version; /* of the newest recording; 0: none */
    qn__vk_timeline *timeline;
    uint64_t value, number; /* that the timeline reaches; of the command */
    qn__vk_stamp *stamp;
    bool timed;
    uint64_t time_ns;
};

qn_status qn__vk_mark_create(qn__gpu *gpu, qn__mark **out, char *why) {
    (void)why;
    qn__mark *mark = qn__allocate_zeroed(gpu->services->allocator, sizeof *mark);
    if (!mark) return QN_ERROR_OUT_OF_MEMORY;
    mark->gpu = gpu;
    pthread_mutex_init(&mark->lock, NULL);
    *out = mark;
    return QN_OK;
}

void qn__vk_mark_destroy(qn__mark *mark) {
    if (mark->timeline) qn__vk_timeline_drop(mark->timeline);
    qn__vk_stamp_drop(mark->gpu, mark->stamp);
    pthread_mutex_destroy(&mark->lock);
    qn__release(mark->gpu->services->allocator, mark);
}

void qn__vk_mark_set(qn__mark *mark, uint64_t version, qn__vk_timeline *timeline, uint64_t value,
                     uint64_t number, qn__vk_stamp *stamp) {
    pthread_mutex_lock(&mark->lock);
    qn__vk_timeline *old_timeline = NULL;
    qn__vk_stamp *old_stamp = NULL;
    if (version > mark->version) {
        old_timeline = mark->timeline;
        old_stamp = mark->stamp;
        atomic_fetch_add(&timeline->references, 1);
        qn__vk_stamp_keep(mark->gpu, stamp);
        mark->version = version;
        mark->timeline = timeline;
        mark->value = value;
        mark->number = number;
        mark->stamp = stamp;
        mark->timed = false;
    }
    pthread_mutex_unlock(&mark->lock);
    if (old_timeline) qn__vk_timeline_drop(old_timeline);
    qn__vk_stamp_drop(mark->gpu, old_stamp);
}

static qn__vk_reached get(qn__mark *mark, uint64_t version) {
    pthread_mutex_lock(&mark->lock);
    qn__vk_reached reached = {.timeline = mark->version >= version ? mark->timeline : NULL,
                              .value = mark->value,
                              .number = mark->number};
    if (reached.timeline) atomic_fetch_add(&reached.timeline->references, 1);
    pthread_mutex_unlock(&mark->lock);
    return reached;
}

qn__vk_reached qn__vk_mark_get(qn__mark *mark) { return get(mark, 1); }

/* The work is done, what it has for the host included. */
static bool timeline_done(qn__vk_timeline *timeline, uint64_t number) {
    pthread_mutex_lock(&timeline->lock);
    bool done = !timeline->queue || qn__vk_completed(timeline->queue) >= number;
    pthread_mutex_unlock(&timeline->lock);
    return done;
}

/* Once done, the time is read from the stamp, which is then free. */
static void take_time(qn__mark *mark, const qn__vk_reached *reached) {
    pthread_mutex_lock(&mark->lock);
    qn__vk_stamp *stamp = NULL;
    if (mark->timeline == reached->timeline && mark->value == reached->value && !mark->timed) {
        mark->time_ns = qn__vk_stamp_time(mark->gpu, mark->stamp);
        mark->timed = true;
        stamp = mark->stamp;
        mark->stamp = NULL;
    }
    pthread_mutex_unlock(&mark->lock);
    qn__vk_stamp_drop(mark->gpu, stamp);
}

bool qn__vk_mark_done(qn__mark *mark, uint64_t version, uint64_t *time_ns) {
    qn__vk_reached reached = get(mark, version);
    if (!reached.timeline) return false;
    bool done = timeline_done(reached.timeline, reached.number);
    if (done) take_time(mark, &reached);
    pthread_mutex_lock(&mark->lock);
    *time_ns = mark->time_ns;
    pthread_mutex_unlock(&mark->lock);
    if (!done) qn__vk_timeline_flush(reached.timeline);
    qn__vk_timeline_drop(reached.timeline);
    return done;
}

/* Until the device signals; the queue itself may go away meanwhile, its semaphore not. */
static qn_status wait_reached(qn__gpu *gpu, qn__vk_reached *reached, uint64_t timeout_ns, char *why) {
    qn__vk_timeline_flush(reached->timeline);
    VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                .semaphoreCount = 1,
                                .pSemaphores = &reached->timeline->semaphore,
                                .pValues = &reached->value};
    VkResult result = gpu->vk.WaitSemaphores(gpu->device, &info, timeout_ns);
    if (result == VK_TIMEOUT) return QN_ERROR_TIMEOUT;
    if (result == VK_SUCCESS) {
        timeline_done(reached->timeline, reached->number); /* reads are finished, output is printed */
        return QN_OK;
    }
    return qn__vk_failed(gpu, "vkWaitSemaphores", result, why);
}

qn_status qn__vk_mark_wait(qn__mark *mark, uint64_t version, uint64_t timeout_ns, char *why) {
    uint64_t start = qn__now_ns();
    if (qn__is_lost(&mark->gpu->loss)) return qn__lost(&mark->gpu->loss, why);
    qn__vk_reached reached = get(mark, version);
    while (!reached.timeline && qn__time_left(start, timeout_ns)) { /* another thread is just recording it */
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
        reached = get(mark, version);
    }
    qn_status status = QN_ERROR_TIMEOUT;
    if (reached.timeline) {
        status = wait_reached(mark->gpu, &reached, qn__time_left(start, timeout_ns), why);
        qn__vk_timeline_drop(reached.timeline);
    }
    return status;
}
