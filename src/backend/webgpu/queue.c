/* Streams, which share the device's only queue, and graphs: their commands again. */
#include <stdio.h>
#include <string.h>

#include "backend/webgpu/webgpu.h"

enum { FLUSH_EVERY = 64 };

struct qn__replay {
    qn__commands commands;
    char kernels[160]; /* the names of those that it launches */
};

/* ---- streams ---- */

qn_status qn__wg_queue_create(qn__gpu *gpu, qn__queue **out, char *why) {
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    qn__queue *queue = qn__allocate_zeroed(gpu->services->allocator, sizeof *queue);
    if (!queue) return QN_ERROR_OUT_OF_MEMORY;
    queue->gpu = gpu;
    pthread_mutex_lock(&gpu->lock);
    queue->next = gpu->queues;
    gpu->queues = queue;
    pthread_mutex_unlock(&gpu->lock);
    *out = queue;
    return QN_OK;
}

void qn__wg_queue_destroy(qn__queue *queue) {
    qn__gpu *gpu = queue->gpu;
    pthread_mutex_lock(&gpu->lock);
    qn__queue **link = &gpu->queues;
    while (*link != queue) link = &(*link)->next;
    *link = queue->next;
    if (gpu->last_queue == queue) gpu->last_queue = NULL;
    pthread_mutex_unlock(&gpu->lock);
    qn__release(gpu->services->allocator, queue);
}

static qn_status execute(qn__queue *queue, const qn__command *command, char *why) {
    switch (command->kind) {
    case QN__COMMAND_LAUNCH: return qn__wg_launch(queue->gpu, command, why);
    case QN__COMMAND_RECORD: qn__wg_record(queue->gpu, command); return QN_OK;
    case QN__COMMAND_WAIT: return QN_OK; /* what is waited for stands before, in the one queue there is */
    default: return qn__wg_transfer(queue, command, why);
    }
}

/* Counts what was just encoded; the lock is held. */
static uint64_t submitted(qn__queue *queue, const char *name) {
    qn__gpu *gpu = queue->gpu;
    char why[QN__WHY];
    const uint64_t number = qn__flight_add(&queue->flight, name);
    gpu->last_queue = queue;
    if (!gpu->encoder) qn__wg_encode(gpu, false, why); /* so that a submission follows that counts it */
    const bool idle = atomic_load(&gpu->completed) + 1 == gpu->serial;
    if (idle || gpu->encoded >= FLUSH_EVERY) qn__wg_flush(gpu);
    return number;
}

qn_status qn__wg_submit(qn__queue *queue, const qn__command *command, uint64_t *number, char *why) {
    qn__gpu *gpu = queue->gpu;
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    pthread_mutex_lock(&gpu->lock);
    const qn_status status = execute(queue, command, why);
    const bool runs = command->kind == QN__COMMAND_LAUNCH && !status;
    *number = submitted(queue, runs ? command->kernel_name : NULL);
    pthread_mutex_unlock(&gpu->lock);
    return status;
}

/* ---- work of others on the queue ---- */

/* The lock is held until it comes back: Dawn is not thread-safe. */
qn_status qn__wg_lend(qn__queue *queue, char *why) {
    qn__gpu *gpu = queue->gpu;
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    pthread_mutex_lock(&gpu->lock);
    qn__wg_flush(gpu);
    return QN_OK;
}

qn_status qn__wg_take_back(qn__queue *queue, uint64_t *number, char *why) {
    (void)why;
    *number = submitted(queue, NULL);
    pthread_mutex_unlock(&queue->gpu->lock);
    return QN_OK;
}

/* ---- waiting ---- */

/* What a lost device has not done is over, and has failed; the lock is held. */
static void give_up(qn__queue *queue) {
    char why[QN__WHY];
    const uint64_t all = atomic_load(&queue->flight.submitted);
    if (!qn__is_lost(&queue->gpu->loss) || atomic_load(&queue->flight.completed) >= all) return;
    qn__sticky_set(&queue->failure, qn__lost(&queue->gpu->loss, why), why);
    qn__flight_reach(&queue->flight, all);
}

uint64_t qn__wg_completed(qn__queue *queue) {
    qn__gpu *gpu = queue->gpu;
    pthread_mutex_lock(&gpu->lock);
    if (atomic_load(&queue->flight.completed) < atomic_load(&queue->flight.submitted)) qn__wg_flush(gpu);
    pthread_mutex_unlock(&gpu->lock);
    qn__wg_advance(gpu);
    pthread_mutex_lock(&gpu->lock);
    give_up(queue);
    pthread_mutex_unlock(&gpu->lock);
    return atomic_load(&queue->flight.completed);
}

void qn__wg_unfinished(qn__queue *queue, char *names, size_t size) {
    qn__wg_advance(queue->gpu);
    pthread_mutex_lock(&queue->gpu->lock);
    const char *kernel = qn__flight_first(&queue->flight);
    snprintf(names, size, "%s", kernel ? kernel : "");
    pthread_mutex_unlock(&queue->gpu->lock);
}

qn_status qn__wg_failure(qn__queue *queue, uint32_t *since, char *why) {
    qn__gpu *gpu = queue->gpu;
    pthread_mutex_lock(&gpu->lock);
    const qn_status status =
        qn__is_lost(&gpu->loss) ? qn__lost(&gpu->loss, why) : qn__sticky_look(&queue->failure, since, why);
    pthread_mutex_unlock(&gpu->lock);
    return status;
}

typedef struct waiting {
    qn__queue *queue;
    uint64_t number;
} waiting;

static bool is_done(void *user) {
    const waiting *w = user;
    qn__wg_advance(w->queue->gpu);
    return atomic_load(&w->queue->flight.completed) >= w->number || qn__is_lost(&w->queue->gpu->loss);
}

qn_status qn__wg_wait(qn__queue *queue, uint64_t number, uint64_t timeout_ns, char *why) {
    qn__gpu *gpu = queue->gpu;
    qn_status status = QN_OK;
    const uint64_t all = atomic_load(&queue->flight.submitted);
    waiting w = {queue, number < all ? number : all};
    if (atomic_load(&queue->flight.completed) < w.number) {
        pthread_mutex_lock(&gpu->lock);
        qn__wg_flush(gpu);
        pthread_mutex_unlock(&gpu->lock);
        if (!qn__poll(is_done, &w, timeout_ns, true)) status = QN_ERROR_TIMEOUT;
    }
    pthread_mutex_lock(&gpu->lock);
    if (qn__is_lost(&gpu->loss)) status = QN_OK;
    give_up(queue);
    if (!status) status = qn__sticky_take(&queue->failure, why);
    pthread_mutex_unlock(&gpu->lock);
    return status;
}

/* ---- graphs ---- */

void qn__wg_replay_destroy(qn__gpu *gpu, qn__replay *replay) {
    qn__commands_free(gpu->services->allocator, &replay->commands);
    qn__release(gpu->services->allocator, replay);
}

qn_status qn__wg_replay_create(qn__gpu *gpu, const qn__command *commands, size_t count, qn__replay **out,
                               char *why) {
    const qn__allocator *allocator = gpu->services->allocator;
    (void)why;
    qn__replay *replay = qn__allocate_zeroed(allocator, sizeof *replay);
    if (!replay) return QN_ERROR_OUT_OF_MEMORY;
    qn__kernel_names names = {.count = 0};
    qn_status status = qn__commands_copy(allocator, commands, count, &replay->commands);
    for (size_t i = 0; i < replay->commands.count; i++)
        if (replay->commands.list[i]->kind == QN__COMMAND_LAUNCH)
            qn__kernel_names_add(&names, replay->commands.list[i]->kernel_name);
    qn__kernel_names_print(&names, "", replay->kernels, sizeof replay->kernels);
    if (status)
        qn__wg_replay_destroy(gpu, replay);
    else
        *out = replay;
    return status;
}

qn_status qn__wg_replay_submit(qn__queue *queue, qn__replay *replay, uint64_t *number, char *why) {
    qn__gpu *gpu = queue->gpu;
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    pthread_mutex_lock(&gpu->lock);
    qn_status status = QN_OK;
    for (size_t i = 0; i < replay->commands.count && !status; i++)
        status = execute(queue, replay->commands.list[i], why);
    *number = submitted(queue, replay->kernels[0] ? replay->kernels : NULL);
    pthread_mutex_unlock(&gpu->lock);
    return status;
}
