/* Kernels that may never end, and what CUDA's driver does only when all kernels of the context have ended (seen with
   580.159): freeing pinned memory, unregistering host memory, loading and unloading code. Giving up is put off until no
   queue is endless, or none runs as code is loaded. Loading asks such kernels to step aside, and is refused where one cannot or does
   not, for it would wait without a bound. */
#include <sched.h>
#include <stdio.h>

#include "backend/cuda/cuda.h"
#include "util/file.h"

#define LOOK_NS  UINT64_C(1000000)    /* what an endless queue that is done in fact is given to show it */
#define ASIDE_NS UINT64_C(5000000000) /* the same for one that has been asked to leave, as quern.h says */

static void release_all(qn__gpu *gpu, qn__cuda_kept *kept) {
    for (qn__cuda_kept *next; kept; kept = next) {
        next = kept->next;
        kept->release(gpu, kept);
    }
}

void qn__cuda_set_endless(qn__queue *queue, bool endless) {
    qn__gpu *gpu = queue->gpu;
    qn__cuda_kept *kept = NULL;
    if (atomic_load(&queue->endless) == endless) return;
    qn__cuda_set_aside(queue, &(qn__aside){0});
    pthread_mutex_lock(&gpu->endless.lock);
    if (endless) {
        queue->next_endless = gpu->endless.queues;
        gpu->endless.queues = queue;
    } else {
        qn__queue **link = &gpu->endless.queues;
        while (*link != queue) link = &(*link)->next_endless;
        *link = queue->next_endless;
    }
    atomic_store(&queue->endless, endless);
    if (!gpu->endless.queues) {
        kept = gpu->endless.kept;
        gpu->endless.kept = NULL;
    }
    pthread_mutex_unlock(&gpu->endless.lock);
    release_all(gpu, kept);
}

void qn__cuda_put_off(qn__gpu *gpu, qn__cuda_kept *kept, void (*release)(qn__gpu *, qn__cuda_kept *)) {
    kept->next = NULL;
    kept->release = release;
    pthread_mutex_lock(&gpu->endless.lock);
    const bool later = gpu->endless.queues != NULL;
    if (later) {
        kept->next = gpu->endless.kept;
        gpu->endless.kept = kept;
    }
    pthread_mutex_unlock(&gpu->endless.lock);
    if (!later) release(gpu, kept);
}

static void free_pinned(qn__gpu *gpu, qn__cuda_kept *kept) { gpu->cu->host_free(kept); }

void qn__cuda_unpin(qn__gpu *gpu, void *host) { qn__cuda_put_off(gpu, host, free_pinned); }

/* ---- stepping aside ---- */

void qn__cuda_set_aside(qn__queue *queue, const qn__aside *aside) {
    qn__gpu *gpu = queue->gpu;
    pthread_mutex_lock(&gpu->endless.lock);
    queue->aside = *aside;
    queue->is_asked = false;
    while (queue->calls_back) pthread_cond_wait(&gpu->endless.changed, &gpu->endless.lock);
    pthread_mutex_unlock(&gpu->endless.lock);
}

/* The lock is held, as in all up to the next mark. */
static bool has_work(const qn__queue *queue) {
    return atomic_load(&queue->flight.completed) < atomic_load(&queue->flight.submitted);
}

static bool runs(qn__queue *queue) {
    char why[QN__WHY];
    return has_work(queue) &&
           qn__cuda_wait(queue, atomic_load(&queue->flight.submitted), LOOK_NS, why) == QN_ERROR_TIMEOUT;
}

static bool can_leave(const qn__queue *queue) { return queue->aside.leave != NULL; }

/* One that runs, among all or those that cannot leave. */
static qn__queue *find_running(qn__gpu *gpu, bool all) {
    for (qn__queue *queue = gpu->endless.queues; queue; queue = queue->next_endless)
        if ((all || !can_leave(queue)) && runs(queue)) return queue;
    return NULL;
}

static void ask_to_leave(qn__gpu *gpu) {
    for (qn__queue *queue = gpu->endless.queues; queue; queue = queue->next_endless) {
        if (!can_leave(queue) || queue->is_asked || !has_work(queue)) continue;
        queue->is_asked = true;
        queue->aside.leave(queue->aside.user);
    }
}

/* Others get the lock. */
static bool is_time_left(qn__gpu *gpu, uint64_t start_ns) {
    pthread_mutex_unlock(&gpu->endless.lock);
    sched_yield();
    pthread_mutex_lock(&gpu->endless.lock);
    return qn__time_left(start_ns, ASIDE_NS) > 0;
}

/* Until no endless kernel runs; else, without an end, the names of one. One that was asked may be unable to leave by now: its stream
   is being closed. */
static bool clear_the_way(qn__gpu *gpu, char *names, size_t size) {
    const uint64_t start_ns = qn__now_ns();
    while (gpu->endless.launching && is_time_left(gpu, start_ns)) {
    }
    qn__queue *running = find_running(gpu, false);
    if (!running) ask_to_leave(gpu);
    for (bool in_time = !running; in_time; in_time = is_time_left(gpu, start_ns))
        if (!find_running(gpu, true)) break;
    if (!running) running = find_running(gpu, true);
    if (running) qn__cuda_unfinished(running, names, size);
    return !running && !gpu->endless.launching;
}

static qn__queue *find_asked(qn__gpu *gpu) {
    qn__queue *queue = gpu->endless.queues;
    while (queue && !queue->is_asked) queue = queue->next_endless;
    return queue;
}

/* While nothing is loaded: who loads next asks once more. A launch in `back` takes the lock. */
static void call_back(qn__gpu *gpu) {
    for (qn__queue *queue; !gpu->endless.loading && (queue = find_asked(gpu)) != NULL;) {
        const qn__aside aside = queue->aside;
        queue->is_asked = false;
        queue->calls_back++;
        pthread_mutex_unlock(&gpu->endless.lock);
        aside.back(aside.user);
        pthread_mutex_lock(&gpu->endless.lock);
        queue->calls_back--;
        pthread_cond_broadcast(&gpu->endless.changed);
    }
}

static void end_loading(qn__gpu *gpu) {
    gpu->endless.loading--;
    pthread_cond_broadcast(&gpu->endless.changed);
    call_back(gpu);
}

/* ---- loading ---- */

qn_status qn__cuda_load_begin(qn__gpu *gpu, char *why) {
    char names[QN__WHY / 4] = "";
    qn__cuda_kept *kept = NULL;
    pthread_mutex_lock(&gpu->endless.lock);
    gpu->endless.loading++;
    const bool is_free = clear_the_way(gpu, names, sizeof names);
    if (is_free) {
        kept = gpu->endless.kept;
        gpu->endless.kept = NULL;
    } else {
        end_loading(gpu);
    }
    pthread_mutex_unlock(&gpu->endless.lock);
    release_all(gpu, kept);
    if (is_free) return QN_OK;
    snprintf(why, QN__WHY,
             "CUDA's driver loads no code while a kernel that may never end is on the device%s%s: create "
             "programs and "
             "kernels before it is launched",
             names[0] ? ", kernel " : "", names);
    return QN_ERROR_STATE;
}

void qn__cuda_load_end(qn__gpu *gpu) {
    pthread_mutex_lock(&gpu->endless.lock);
    end_loading(gpu);
    pthread_mutex_unlock(&gpu->endless.lock);
}

/* What is being loaded comes first: it would wait for this launch. */
bool qn__cuda_launch_begin(qn__queue *queue) {
    qn__gpu *gpu = queue->gpu;
    if (!atomic_load_explicit(&queue->endless, memory_order_relaxed)) return false;
    pthread_mutex_lock(&gpu->endless.lock);
    while (gpu->endless.loading) pthread_cond_wait(&gpu->endless.changed, &gpu->endless.lock);
    gpu->endless.launching++;
    pthread_mutex_unlock(&gpu->endless.lock);
    return true;
}

void qn__cuda_launch_end(qn__gpu *gpu, bool endless) {
    if (!endless) return;
    pthread_mutex_lock(&gpu->endless.lock);
    gpu->endless.launching--;
    pthread_mutex_unlock(&gpu->endless.lock);
}
