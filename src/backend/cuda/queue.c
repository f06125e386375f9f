/* Streams. Commands are counted; how far the device is, is known from checkpoints: an event behind every
   QN__CUDA_CHECKPOINT_EVERY commands, and one behind the last when somebody waits with a deadline. A wait for
   the last command without one asks the driver for the whole stream, which is its fastest way. What kernels
   print is printed when their command is found to be done. */
#include <stdio.h>
#include <string.h>

#include "backend/cuda/cuda.h"

enum { MAX_PRINTS = 64 /* launches whose output is waiting, before submission waits for it */ };

qn_status qn__cuda_queue_create(qn__gpu *gpu, qn__queue **out, char *why) {
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    qn__queue *queue = qn__allocate_zeroed(gpu->services->allocator, sizeof *queue);
    if (!queue) return QN_ERROR_OUT_OF_MEMORY;
    queue->gpu = gpu;
    pthread_mutex_init(&queue->lock, NULL);
    const bool entered = qn__cuda_enter(gpu);
    qn__cu_result result = gpu->cu->stream_create(&queue->stream, QN__CU_STREAM_NON_BLOCKING);
    qn__cuda_leave(gpu, entered);
    if (result) {
        pthread_mutex_destroy(&queue->lock);
        qn__release(gpu->services->allocator, queue);
        return qn__cuda_fail(gpu, result, "a stream", why);
    }
    pthread_mutex_lock(&gpu->lock);
    queue->next = gpu->queues;
    gpu->queues = queue;
    pthread_mutex_unlock(&gpu->lock);
    *out = queue;
    return QN_OK;
}

static void leave_list(qn__queue *queue) {
    qn__gpu *gpu = queue->gpu;
    pthread_mutex_lock(&gpu->lock);
    qn__queue **at = &gpu->queues;
    while (*at != queue) at = &(*at)->next;
    *at = queue->next;
    pthread_mutex_unlock(&gpu->lock);
}

void qn__cuda_queue_destroy(qn__queue *queue) {
    qn__gpu *gpu = queue->gpu;
    qn__cuda_set_aside(queue, &(qn__aside){0});
    leave_list(queue);
    const bool entered = qn__cuda_enter(gpu);
    for (qn__print *print; (print = qn__prints_take(&queue->prints, UINT64_MAX));)
        qn__cuda_print_drop(gpu, (qn__cuda_print *)print);
    for (unsigned i = 0; i < QN__CUDA_CHECKPOINTS; i++)
        if (queue->checkpoints[i].event) gpu->cu->event_destroy(queue->checkpoints[i].event);
    qn__cuda_stages_free(queue);
    gpu->cu->stream_destroy(queue->stream);
    qn__cuda_set_endless(queue, false);
    qn__cuda_leave(gpu, entered);
    pthread_mutex_destroy(&queue->lock);
    qn__release(gpu->services->allocator, queue);
}

/* ---- how far it is; in the context, the lock is held ---- */

/* A command is not done before what it printed is out. */
static void retire(qn__queue *queue, uint64_t done) {
    for (qn__print *print; (print = qn__prints_take(&queue->prints, done));) {
        qn__cuda_print_records(queue->gpu, (qn__cuda_print *)print);
        qn__cuda_print_drop(queue->gpu, (qn__cuda_print *)print);
    }
    while (queue->num_checkpoints && queue->checkpoints[queue->first_checkpoint].number <= done) {
        queue->first_checkpoint = (queue->first_checkpoint + 1) % QN__CUDA_CHECKPOINTS;
        queue->num_checkpoints--;
    }
    qn__flight_reach(&queue->flight, done);
}

/* An event behind all that is submitted. With no place left, the newest one moves there. */
static qn__cu_result set_checkpoint(qn__queue *queue) {
    const qn__cu *cu = queue->gpu->cu;
    unsigned at = queue->num_checkpoints;
    if (at == QN__CUDA_CHECKPOINTS) at--;
    qn__cuda_checkpoint *checkpoint =
        &queue->checkpoints[(queue->first_checkpoint + at) % QN__CUDA_CHECKPOINTS];
    qn__cu_result result = QN__CU_SUCCESS;
    if (!checkpoint->event) result = cu->event_create(&checkpoint->event, QN__CU_EVENT_DISABLE_TIMING);
    if (result) {
        checkpoint->event = NULL;
        return result;
    }
    uint64_t number = atomic_load(&queue->flight.submitted);
    result = cu->event_record(checkpoint->event, queue->stream);
    if (result) return result;
    checkpoint->number = number;
    queue->num_checkpoints = at + 1;
    return QN__CU_SUCCESS;
}

/* Looks at the checkpoints, oldest first. */
static qn__cu_result advance(qn__queue *queue) {
    while (queue->num_checkpoints) {
        qn__cuda_checkpoint *oldest = &queue->checkpoints[queue->first_checkpoint];
        qn__cu_result result = queue->gpu->cu->event_query(oldest->event);
        if (result == QN__CU_ERROR_NOT_READY) return QN__CU_SUCCESS;
        if (result) return result;
        retire(queue, oldest->number);
    }
    return QN__CU_SUCCESS;
}

static bool covered(const qn__queue *queue, uint64_t number) {
    if (queue->num_checkpoints == 0) return false;
    unsigned newest = (queue->first_checkpoint + queue->num_checkpoints - 1) % QN__CUDA_CHECKPOINTS;
    return queue->checkpoints[newest].number >= number;
}

/* It may lag: what is behind the last checkpoint counts when one behind it is reached, which is set here if there
   is none. */
uint64_t qn__cuda_completed(qn__queue *queue) {
    uint64_t submitted = atomic_load(&queue->flight.submitted),
             completed = atomic_load(&queue->flight.completed);
    if (completed == submitted) return completed;
    if (qn__is_lost(&queue->gpu->loss)) return submitted;
    if (pthread_mutex_trylock(&queue->lock)) return completed;
    char why[QN__WHY];
    const bool entered = qn__cuda_enter(queue->gpu);
    qn__cu_result result = advance(queue);
    if (!result && !queue->num_checkpoints && atomic_load(&queue->flight.completed) < submitted)
        result = set_checkpoint(queue);
    if (result) qn__cuda_fail(queue->gpu, result, "the stream", why);
    qn__cuda_leave(queue->gpu, entered);
    pthread_mutex_unlock(&queue->lock);
    return atomic_load(&queue->flight.completed);
}

/* ---- waiting ---- */

typedef struct waiting {
    qn__queue *queue;
    uint64_t number;
    qn__cu_result result;
} waiting;

static bool reached(void *user) {
    waiting *w = user;
    qn__queue *queue = w->queue;
    pthread_mutex_lock(&queue->lock);
    w->result = advance(queue);
    bool done = w->result || atomic_load(&queue->flight.completed) >= w->number;
    if (!done && !covered(queue, w->number)) w->result = set_checkpoint(queue);
    pthread_mutex_unlock(&queue->lock);
    return done || w->result || qn__is_lost(&queue->gpu->loss);
}

static qn__cu_result synchronize(qn__queue *queue, uint64_t number) {
    qn__cu_result result = queue->gpu->cu->stream_synchronize(queue->stream);
    if (result) return result;
    pthread_mutex_lock(&queue->lock);
    retire(queue, number);
    pthread_mutex_unlock(&queue->lock);
    return QN__CU_SUCCESS;
}

void qn__cuda_unfinished(qn__queue *queue, char *names, size_t size) {
    qn__kernel_names found = {.count = 0};
    qn__flight_names(&queue->flight, &found);
    qn__kernel_names_print(&found, "", names, size);
}

qn_status qn__cuda_wait(qn__queue *queue, uint64_t number, uint64_t timeout_ns, char *why) {
    qn__gpu *gpu = queue->gpu;
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    if (atomic_load(&queue->flight.completed) >= number) return QN_OK;
    waiting w = {.queue = queue, .number = number};
    bool in_time = true;
    const bool entered = qn__cuda_enter(gpu);
    if (timeout_ns == QN_FOREVER && number == atomic_load(&queue->flight.submitted))
        w.result = synchronize(queue, number);
    else
        in_time = qn__poll(reached, &w, timeout_ns, true);
    qn_status status = w.result ? qn__cuda_fail(gpu, w.result, "the stream", why) : QN_OK;
    qn__cuda_leave(gpu, entered);
    if (status) return status;
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    return in_time ? QN_OK : QN_ERROR_TIMEOUT;
}

/* Each stream is a queue of the driver's, which waits for no other. */
qn_status qn__cuda_set_persistent(qn__queue *queue, bool persistent, char *why) {
    (void)why;
    const bool entered = qn__cuda_enter(queue->gpu);
    qn__cuda_set_endless(queue, persistent);
    qn__cuda_leave(queue->gpu, entered);
    return QN_OK;
}

void qn__cuda_leave_queue(qn__queue *queue) {
    qn__cuda_set_aside(queue, &(qn__aside){0});
    const bool entered = qn__cuda_enter(queue->gpu);
    qn__cuda_set_endless(queue, true);
    qn__cuda_leave(queue->gpu, entered);
}

/* Nothing but the device's loss. */
qn_status qn__cuda_failure(qn__queue *queue, uint32_t *since, char *why) {
    (void)since;
    return qn__is_lost(&queue->gpu->loss) ? qn__lost(&queue->gpu->loss, why) : QN_OK;
}

/* ---- submission ---- */

void qn__cuda_count(qn__queue *queue, const char *name, uint64_t *number) {
    const uint64_t n = *number = qn__flight_add(&queue->flight, name);
    if (n % QN__CUDA_CHECKPOINT_EVERY) return;
    pthread_mutex_lock(&queue->lock);
    set_checkpoint(queue); /* if it fails, the next one does or the stream's failure is found */
    pthread_mutex_unlock(&queue->lock);
}

void qn__cuda_add_print(qn__queue *queue, qn__cuda_print *print) {
    pthread_mutex_lock(&queue->lock);
    qn__prints_add(&queue->prints, &print->print, atomic_load(&queue->flight.submitted) + 1);
    pthread_mutex_unlock(&queue->lock);
}

qn_status qn__cuda_print_room(qn__queue *queue, char *why) {
    pthread_mutex_lock(&queue->lock);
    bool many = queue->prints.count >= MAX_PRINTS;
    pthread_mutex_unlock(&queue->lock);
    qn__cu_result result = many ? synchronize(queue, atomic_load(&queue->flight.submitted)) : QN__CU_SUCCESS;
    return result ? qn__cuda_fail(queue->gpu, result, "the stream", why) : QN_OK;
}

/* A launch that prints: the buffer comes along and is looked at when the launch is done. */
static qn_status submit_printing(qn__cuda_target *target, const qn__command *command, uint64_t *number,
                                 char *why) {
    qn__queue *queue = target->queue;
    qn__cuda_print *print;
    qn_status status = qn__cuda_print_room(queue, why);
    if (!status) status = qn__cuda_print_new(target->gpu, command->code->info, &print, why);
    if (status) return status;
    target->print = print->buffer;
    status = qn__cuda_execute(target, command, why);
    if (status) print->print.info = NULL;
    qn__cuda_add_print(queue, print);
    qn__cuda_count(queue, command->code->kernels[command->kernel].name, number);
    return status;
}

/* What fails counts too, as a part of it may be on the stream. */
qn_status qn__cuda_submit(qn__queue *queue, const qn__command *command, uint64_t *number, char *why) {
    qn__gpu *gpu = queue->gpu;
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    qn__cuda_target target = {.gpu = gpu, .stream = queue->stream, .queue = queue};
    bool launch = command->kind == QN__COMMAND_LAUNCH;
    const bool entered = qn__cuda_enter(gpu), endless = launch && qn__cuda_launch_begin(queue);
    qn_status status;
    if (launch && command->code->info->kernels[command->kernel].uses_printf)
        status = submit_printing(&target, command, number, why);
    else {
        status = qn__cuda_execute(&target, command, why);
        qn__cuda_count(queue, launch ? command->code->kernels[command->kernel].name : NULL, number);
    }
    qn__cuda_launch_end(gpu, endless);
    qn__cuda_leave(gpu, entered);
    return status;
}

/* ---- work of others on the stream ---- */

/* All that was submitted is with the driver, which is for any thread. */
qn_status qn__cuda_lend(qn__queue *queue, char *why) {
    return qn__is_lost(&queue->gpu->loss) ? qn__lost(&queue->gpu->loss, why) : QN_OK;
}

/* It counts as a command: a wait for that is one for the stream, or for an event behind it. */
qn_status qn__cuda_take_back(qn__queue *queue, uint64_t *number, char *why) {
    if (qn__is_lost(&queue->gpu->loss)) return qn__lost(&queue->gpu->loss, why);
    const bool entered = qn__cuda_enter(queue->gpu);
    qn__cuda_count(queue, NULL, number);
    qn__cuda_leave(queue->gpu, entered);
    return QN_OK;
}
