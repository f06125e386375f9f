/* Streams. Commands are counted; how far the device is, is known from checkpoints: an event behind every
   QN__CUDA_CHECKPOINT_EVERY commands, and one behind the last when somebody waits with a deadline. A wait for
   the last command without one asks the driver for the whole stream, which is its fastest way. What kernels
   print is printed when their command is found to be done. */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "backend/cuda/cuda.h"
#include "util/file.h"

enum {
    MAX_PRINTS = 64, /* launches whose output is waiting, before submission waits for it */
    SPIN_NS = 100 * 1000,
    YIELD_NS = 2 * 1000 * 1000,
    SLEEP_NS = 100 * 1000
};

qn_status qn__cuda_queue_create(qn__gpu *gpu, qn__queue **out, char *why) {
    if (atomic_load(&gpu->lost)) return qn__cuda_lost(gpu, why);
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
    leave_list(queue);
    const bool entered = qn__cuda_enter(gpu);
    for (qn__cuda_print *print = queue->first_print, *next; print; print = next) {
        next = print->next;
        qn__cuda_print_drop(gpu, print);
    }
    for (unsigned i = 0; i < QN__CUDA_CHECKPOINTS; i++)
        if (queue->checkpoints[i].event) gpu->cu->event_destroy(queue->checkpoints[i].event);
    qn__cuda_stages_free(queue);
    gpu->cu->stream_destroy(queue->stream);
    qn__cuda_leave(gpu, entered);
    pthread_mutex_destroy(&queue->lock);
    qn__release(gpu->services->allocator, queue);
}

/* ---- kernels that may be running ---- */

void qn__cuda_note_name(qn__cuda_names *found, const char *name) {
    unsigned i = 0;
    while (i < found->count && found->names[i] != name) i++;
    if (!name || i < found->count) return;
    if (found->count < QN__COUNT(found->names))
        found->names[found->count++] = name;
    else
        found->more = true;
}

static void find_running(const qn__queue *queue, qn__cuda_names *found) {
    uint64_t last = atomic_load(&queue->submitted), number = atomic_load(&queue->completed) + 1;
    if (last >= QN__CUDA_NAMES && number + QN__CUDA_NAMES <= last) number = last - QN__CUDA_NAMES + 1;
    for (; number <= last; number++) {
        qn__cuda_note_name(found, atomic_load(&queue->names[number % QN__CUDA_NAMES]));
    }
}

void qn__cuda_list_names(const qn__cuda_names *found, const char *first, char *out, size_t size) {
    size_t length = 0;
    out[0] = 0;
    for (unsigned i = 0; i < found->count && length < size; i++) {
        const char *before = i == 0 ? first : i + 1 == found->count && !found->more ? " or " : ", ";
        length += (size_t)snprintf(out + length, size - length, "%s%s", before, found->names[i]);
    }
    if (found->more && length < size) snprintf(out + length, size - length, " or another");
}

void qn__cuda_running(const qn__gpu *gpu, char *out, size_t size) {
    qn__cuda_names found = {.count = 0};
    for (const qn__queue *queue = gpu->queues; queue; queue = queue->next) find_running(queue, &found);
    qn__cuda_list_names(&found, "kernel ", out, size);
}

/* ---- how far it is; in the context, the lock is held ---- */

/* A command is not done before what it printed is out. */
static void retire(qn__queue *queue, uint64_t done) {
    for (qn__cuda_print *print; (print = queue->first_print) && print->number <= done;) {
        queue->first_print = print->next;
        if (!queue->first_print) queue->last_print = NULL;
        queue->num_prints--;
        if (print->info) qn__cuda_print_records(queue->gpu, print->buffer, print->info);
        qn__cuda_print_drop(queue->gpu, print);
    }
    while (queue->num_checkpoints && queue->checkpoints[queue->first_checkpoint].number <= done) {
        queue->first_checkpoint = (queue->first_checkpoint + 1) % QN__CUDA_CHECKPOINTS;
        queue->num_checkpoints--;
    }
    if (done > atomic_load(&queue->completed)) atomic_store(&queue->completed, done);
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
    uint64_t number = atomic_load(&queue->submitted);
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
    uint64_t submitted = atomic_load(&queue->submitted), completed = atomic_load(&queue->completed);
    if (completed == submitted) return completed;
    if (atomic_load_explicit(&queue->gpu->lost, memory_order_relaxed)) return submitted;
    if (pthread_mutex_trylock(&queue->lock)) return completed;
    char why[QN__WHY];
    const bool entered = qn__cuda_enter(queue->gpu);
    qn__cu_result result = advance(queue);
    if (!result && !queue->num_checkpoints && atomic_load(&queue->completed) < submitted)
        result = set_checkpoint(queue);
    if (result) qn__cuda_fail(queue->gpu, result, "the stream", why);
    qn__cuda_leave(queue->gpu, entered);
    pthread_mutex_unlock(&queue->lock);
    return atomic_load(&queue->completed);
}

/* ---- waiting ---- */

bool qn__cuda_poll(bool (*done)(void *user), void *user, uint64_t timeout_ns) {
    uint64_t start = qn__now_ns(), passed = 0;
    for (;;) {
        if (done(user)) return true;
        passed = qn__now_ns() - start;
        if (timeout_ns != QN_FOREVER && passed >= timeout_ns) return false;
        if (passed < SPIN_NS) continue;
        if (passed < YIELD_NS)
            sched_yield();
        else
            nanosleep(&(struct timespec){.tv_nsec = SLEEP_NS}, NULL);
    }
}

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
    bool done = w->result || atomic_load(&queue->completed) >= w->number;
    if (!done && !covered(queue, w->number)) w->result = set_checkpoint(queue);
    pthread_mutex_unlock(&queue->lock);
    return done || w->result || atomic_load(&queue->gpu->lost);
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
    qn__cuda_names found = {.count = 0};
    find_running(queue, &found);
    qn__cuda_list_names(&found, "", names, size);
}

qn_status qn__cuda_wait(qn__queue *queue, uint64_t number, uint64_t timeout_ns, char *why) {
    qn__gpu *gpu = queue->gpu;
    if (atomic_load(&gpu->lost)) return qn__cuda_lost(gpu, why);
    if (atomic_load(&queue->completed) >= number) return QN_OK;
    waiting w = {.queue = queue, .number = number};
    bool in_time = true;
    const bool entered = qn__cuda_enter(gpu);
    if (timeout_ns == QN_FOREVER && number == atomic_load(&queue->submitted))
        w.result = synchronize(queue, number);
    else
        in_time = qn__cuda_poll(reached, &w, timeout_ns);
    qn_status status = w.result ? qn__cuda_fail(gpu, w.result, "the stream", why) : QN_OK;
    qn__cuda_leave(gpu, entered);
    if (status) return status;
    if (atomic_load(&gpu->lost)) return qn__cuda_lost(gpu, why);
    return in_time ? QN_OK : QN_ERROR_TIMEOUT;
}

/* ---- submission ---- */

void qn__cuda_count(qn__queue *queue, const char *name, uint64_t *number) {
    uint64_t n = atomic_load_explicit(&queue->submitted, memory_order_relaxed) + 1;
    atomic_store_explicit(&queue->names[n % QN__CUDA_NAMES], name, memory_order_relaxed);
    atomic_store_explicit(&queue->submitted, n, memory_order_release);
    *number = n;
    if (n % QN__CUDA_CHECKPOINT_EVERY) return;
    pthread_mutex_lock(&queue->lock);
    set_checkpoint(queue); /* if it fails, the next one does or the stream's failure is found */
    pthread_mutex_unlock(&queue->lock);
}

void qn__cuda_add_print(qn__queue *queue, qn__cuda_print *print) {
    pthread_mutex_lock(&queue->lock);
    print->next = NULL;
    print->number = atomic_load(&queue->submitted) + 1;
    if (queue->last_print)
        queue->last_print->next = print;
    else
        queue->first_print = print;
    queue->last_print = print;
    queue->num_prints++;
    pthread_mutex_unlock(&queue->lock);
}

qn_status qn__cuda_print_room(qn__queue *queue, char *why) {
    pthread_mutex_lock(&queue->lock);
    bool many = queue->num_prints >= MAX_PRINTS;
    pthread_mutex_unlock(&queue->lock);
    qn__cu_result result = many ? synchronize(queue, atomic_load(&queue->submitted)) : QN__CU_SUCCESS;
    return result ? qn__cuda_fail(queue->gpu, result, "the stream", why) : QN_OK;
}

qn_status qn__cuda_print_new(qn__gpu *gpu, const qn__code_info *info, qn__cuda_print **out, char *why) {
    qn__cuda_print *print = qn__allocate_zeroed(gpu->services->allocator, sizeof *print);
    if (!print) return QN_ERROR_OUT_OF_MEMORY;
    print->info = info;
    qn_status status = qn__cuda_print_buffer(gpu, &print->buffer, why);
    if (status)
        qn__release(gpu->services->allocator, print);
    else
        *out = print;
    return status;
}

void qn__cuda_print_drop(qn__gpu *gpu, qn__cuda_print *print) {
    qn__cuda_print_release(gpu, print->buffer);
    qn__release(gpu->services->allocator, print);
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
    if (status) print->info = NULL;
    qn__cuda_add_print(queue, print);
    qn__cuda_count(queue, command->code->kernels[command->kernel].name, number);
    return status;
}

/* What fails counts too, as a part of it may be on the stream. */
qn_status qn__cuda_submit(qn__queue *queue, const qn__command *command, uint64_t *number, char *why) {
    qn__gpu *gpu = queue->gpu;
    if (atomic_load_explicit(&gpu->lost, memory_order_relaxed)) return qn__cuda_lost(gpu, why);
    qn__cuda_target target = {.gpu = gpu, .stream = queue->stream, .queue = queue};
    bool launch = command->kind == QN__COMMAND_LAUNCH;
    const bool entered = qn__cuda_enter(gpu);
    qn_status status;
    if (launch && command->code->info->kernels[command->kernel].uses_printf)
        status = submit_printing(&target, command, number, why);
    else {
        status = qn__cuda_execute(&target, command, why);
        qn__cuda_count(queue, launch ? command->code->kernels[command->kernel].name : NULL, number);
    }
    qn__cuda_leave(gpu, entered);
    return status;
}
