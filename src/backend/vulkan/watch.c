/* The watcher: one thread a device, started when commands first gather behind a batch. It sleeps until one of the
   watched streams' batches is done, then submits what has gathered behind it. A stream that a thread is just using
   needs no watcher, as that thread submits what is due itself: it would only be made to wait for the stream's lock,
   so it is looked at again a moment later. */
#include <time.h>

#include "backend/vulkan/queue.h"
#include "util/thread.h"

enum {
    MAX_WATCHED = 16,
    LOOK_AGAIN_NS = 2000000, /* for streams that came meanwhile */
    MOMENT_NS = 50000
};

typedef enum attention { RESTS, IN_USE, GATHERS } attention;

/* Submits what is due, unless the stream is in use. *value: of the batch to wait for, if commands gather. */
static attention attend(qn__queue *queue, uint64_t *value) {
    if (pthread_mutex_trylock(&queue->lock)) return IN_USE;
    attention found = RESTS;
    if (queue->seen != queue->submitted) {
        queue->seen = queue->submitted;
        found = IN_USE;
    } else {
        qn__vk_retire(queue);
        qn__vk_flush_if_due(queue);
        if (queue->open && queue->first && !qn__is_lost(&queue->gpu->loss)) {
            *value = queue->first->value;
            found = GATHERS;
        }
        queue->watched = found == GATHERS;
    }
    pthread_mutex_unlock(&queue->lock);
    return found;
}

typedef struct goals {
    qn__vk_timeline *timelines[MAX_WATCHED];
    VkSemaphore semaphores[MAX_WATCHED];
    uint64_t values[MAX_WATCHED];
    uint32_t count;
    bool in_use; /* some stream is: no time for waiting */
} goals;

static void add_goal(goals *g, const qn__queue *queue, uint64_t value) {
    if (g->count == MAX_WATCHED) return; /* it is looked at again soon */
    atomic_fetch_add(&queue->timeline->references, 1);
    g->timelines[g->count] = queue->timeline;
    g->semaphores[g->count] = queue->timeline->semaphore;
    g->values[g->count++] = value;
}

/* The watcher's lock is held. */
static void collect(qn__vk_watcher *watcher, goals *g) {
    g->count = 0;
    g->in_use = false;
    for (qn__queue **link = &watcher->first; *link;) {
        qn__queue *queue = *link;
        uint64_t value = 0;
        const attention found = attend(queue, &value);
        if (found == RESTS) {
            *link = queue->next_watched;
            continue;
        }
        if (found == GATHERS) add_goal(g, queue, value);
        if (found == IN_USE) g->in_use = true;
        link = &queue->next_watched;
    }
}

static void wait_for_any(qn__gpu *gpu, const goals *g) {
    VkSemaphoreWaitInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                .flags = VK_SEMAPHORE_WAIT_ANY_BIT,
                                .semaphoreCount = g->count,
                                .pSemaphores = g->semaphores,
                                .pValues = g->values};
    if (g->in_use)
        nanosleep(&(struct timespec){.tv_nsec = MOMENT_NS}, NULL);
    else if (g->count)
        gpu->vk.WaitSemaphores(gpu->device, &info, LOOK_AGAIN_NS);
    for (uint32_t i = 0; i < g->count; i++) qn__vk_timeline_drop(g->timelines[i]);
}

static void *watch_main(void *argument) {
    qn__gpu *gpu = argument;
    qn__vk_watcher *watcher = &gpu->watcher;
    goals g;
    pthread_mutex_lock(&watcher->lock);
    while (!watcher->stop) {
        collect(watcher, &g);
        if (!watcher->first) {
            watcher->asleep = true;
            pthread_cond_wait(&watcher->work, &watcher->lock);
            watcher->asleep = false;
            continue;
        }
        pthread_mutex_unlock(&watcher->lock);
        wait_for_any(gpu, &g);
        pthread_mutex_lock(&watcher->lock);
    }
    pthread_mutex_unlock(&watcher->lock);
    return NULL;
}

void qn__vk_watch(qn__queue *queue) {
    qn__vk_watcher *watcher = &queue->gpu->watcher;
    pthread_mutex_lock(&watcher->lock);
    if (!watcher->started) watcher->started = qn__thread_start(&watcher->thread, watch_main, queue->gpu);
    bool watches = watcher->started;
    if (watches) {
        queue->next_watched = watcher->first;
        watcher->first = queue;
        if (watcher->asleep) pthread_cond_signal(&watcher->work);
    }
    pthread_mutex_unlock(&watcher->lock);
    if (watches) return;
    pthread_mutex_lock(&queue->lock); /* no more threads: nothing may gather */
    queue->watched = false;
    qn__vk_flush(queue);
    pthread_mutex_unlock(&queue->lock);
}

void qn__vk_unwatch(qn__queue *queue) {
    qn__vk_watcher *watcher = &queue->gpu->watcher;
    pthread_mutex_lock(&watcher->lock);
    for (qn__queue **link = &watcher->first; *link; link = &(*link)->next_watched)
        if (*link == queue) {
            *link = queue->next_watched;
            break;
        }
    pthread_mutex_unlock(&watcher->lock);
}

void qn__vk_watcher_init(qn__gpu *gpu) {
    pthread_mutex_init(&gpu->watcher.lock, NULL);
    pthread_cond_init(&gpu->watcher.work, NULL);
}

void qn__vk_watcher_stop(qn__gpu *gpu) {
    qn__vk_watcher *watcher = &gpu->watcher;
    pthread_mutex_lock(&watcher->lock);
    watcher->stop = true;
    pthread_cond_signal(&watcher->work);
    pthread_mutex_unlock(&watcher->lock);
    if (watcher->started) pthread_join(watcher->thread, NULL);
    pthread_cond_destroy(&watcher->work);
    pthread_mutex_destroy(&watcher->lock);
}
