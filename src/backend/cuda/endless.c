/* Kernels that may never end, and what CUDA's driver does only when all kernels of the context have ended (seen with
   580.159): freeing pinned memory, unregistering host memory, loading and unloading code. Giving up is put off until no
   queue is endless; loading is refused while such a kernel runs, for it would wait without a bound. */
#include <stdio.h>

#include "backend/cuda/cuda.h"

enum { LOOK_NS = 1000000 /* what an endless queue that is done in fact is given to show it */ };

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

/* ---- loading ---- */

/* The lock is held. */
static bool runs(qn__queue *queue) {
    char why[QN__WHY];
    return qn__cuda_wait(queue, atomic_load(&queue->flight.submitted), LOOK_NS, why) == QN_ERROR_TIMEOUT;
}

static bool one_runs(qn__gpu *gpu, char *names, size_t size) {
    for (qn__queue *queue = gpu->endless.queues; queue; queue = queue->next_endless) {
        if (!runs(queue)) continue;
        qn__cuda_unfinished(queue, names, size);
        return true;
    }
    return gpu->endless.launching > 0;
}

qn_status qn__cuda_load_begin(qn__gpu *gpu, char *why) {
    char names[QN__WHY / 4] = "";
    pthread_mutex_lock(&gpu->endless.lock);
    const bool refused = one_runs(gpu, names, sizeof names);
    gpu->endless.loading += !refused;
    pthread_mutex_unlock(&gpu->endless.lock);
    if (!refused) return QN_OK;
    snprintf(why, QN__WHY,
             "CUDA's driver loads no code while a kernel that may never end is on the device%s%s: create "
             "programs and "
             "kernels before it is launched",
             names[0] ? ", kernel " : "", names);
    return QN_ERROR_STATE;
}

void qn__cuda_load_end(qn__gpu *gpu) {
    pthread_mutex_lock(&gpu->endless.lock);
    gpu->endless.loading--;
    pthread_cond_broadcast(&gpu->endless.changed);
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
