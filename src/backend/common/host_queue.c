/* Streams of devices whose kernels this process runs. A stream's commands are run by its thread, or by a thread that waits
   for them without a deadline: then launch-and-wait needs no change of threads. Exactly one of them runs a
   command at a time. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "backend/common/host_queue.h"
#include "util/file.h"
#include "util/thread.h"

typedef struct node {
    struct node *next;
    qn__command *command; /* owned, unless it belongs to a replay */
    bool owned;
    uint64_t number;
    qn__host_recording recording; /* RECORD */
    qn__times *times;             /* to be told, or NULL: of this command alone, or of a graph's */
    bool begins, ends;            /* it is the first of these, the last */
} node;

struct qn__queue {
    const qn__host_kind *kind;
    const qn__allocator *allocator;
    qn__gpu *gpu;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    node *first, *last;
    qn__times *times; /* of what is submitted next, or NULL; the submitting thread's */
    uint64_t submitted;
    uint64_t cancelled; /* number of the last command that is */
    atomic_uint_fast64_t completed;
    bool running, stop;
    bool asleep, dozing; /* how the thread waits for work */
    bool awaited;        /* the last launch was waited for at once */
    uint64_t launched_ns;
    const char *kernel; /* that runs now, for messages */
    void *worker;       /* the kind's, of the thread that runs commands */
    qn__sticky failure;
    qn__host_running now;
};

struct qn__replay {
    const qn__allocator *allocator;
    qn__commands commands;
};

/* ---- running commands ---- */

static void fill(const qn__command *command) {
    unsigned char *to = (unsigned char *)command->to + command->to_offset;
    if (command->pattern_size == 1) {
        memset(to, command->pattern[0], (size_t)command->size);
        return;
    }
    /* What is there is copied behind itself, in pieces that stay in the first cache. */
    enum { PIECE = 4096 };
    uint64_t done = command->pattern_size < command->size ? command->pattern_size : command->size;
    memcpy(to, command->pattern, (size_t)done);
    while (done < command->size) {
        const uint64_t left = command->size - done,
                       from = done < PIECE ? done : PIECE / command->pattern_size * command->pattern_size,
                       size = from < left ? from : left;
        memcpy(to + done, to, (size_t)size);
        done += size;
    }
}

bool qn__host_show(qn__host_running *running, _Atomic uint32_t *flag) {
    pthread_mutex_lock(&running->lock);
    running->flag = flag;
    const bool cancelled = atomic_load(&running->cancelled);
    pthread_mutex_unlock(&running->lock);
    return cancelled;
}

static void wait_for_mark(qn__queue *queue, const qn__command *command) {
    qn__host_running *now = &queue->now;
    pthread_mutex_lock(&now->lock);
    now->mark = command->mark;
    pthread_mutex_unlock(&now->lock);
    qn__host_mark_await(command->mark, command->mark_version, &now->cancelled);
    pthread_mutex_lock(&now->lock);
    now->mark = NULL;
    pthread_mutex_unlock(&now->lock);
}

const char qn__host_cancelled[] = "it was cancelled";
const char qn__host_out_of_memory[] = "out of memory for a work-group";

/* NULL, or why it failed, which may lie in `why`. */
static const char *execute(qn__queue *queue, node *n, char *why) {
    const qn__command *command = n->command;
    const qn__host_kind *kind = queue->kind;
    qn__sticky failure;
    unsigned char *to = (unsigned char *)command->to + command->to_offset;
    const unsigned char *from = (const unsigned char *)command->from + command->from_offset;
    switch (command->kind) {
    case QN__COMMAND_WRITE: memcpy(to, command->host, (size_t)command->size); break;
    case QN__COMMAND_READ: memcpy(command->host, from, (size_t)command->size); break;
    case QN__COMMAND_COPY: memmove(to, from, (size_t)command->size); break;
    case QN__COMMAND_FILL: fill(command); break;
    case QN__COMMAND_LAUNCH: return kind->run(queue->gpu, command, queue->worker, &queue->now, why);
    case QN__COMMAND_RECORD:
        pthread_mutex_lock(&queue->lock);
        failure = queue->failure;
        pthread_mutex_unlock(&queue->lock);
        qn__host_mark_reach(command->mark, &n->recording, &failure);
        break;
    case QN__COMMAND_WAIT: wait_for_mark(queue, command); break;
    }
    if (kind->moved) kind->moved(queue->gpu, command);
    return NULL;
}

static qn_status status_of(const char *error) {
    if (!error) return QN_OK;
    if (error == qn__host_cancelled) return QN_ERROR_CANCELLED;
    return error == qn__host_out_of_memory ? QN_ERROR_OUT_OF_MEMORY : QN_ERROR_KERNEL_FAILED;
}

static void note_failure(qn__queue *queue, const qn__command *command, const char *error) {
    char why[2 * QN__WHY];
    if (!error || error == qn__host_cancelled) return; /* who cancels it notes that */
    snprintf(why, sizeof why, "kernel %s: %s", command->kernel_name, error);
    qn__sticky_set(&queue->failure, status_of(error), why);
}

static void note_end(const node *n, const char *error) {
    int none = QN_OK;
    if (error) atomic_compare_exchange_strong(&n->times->status, &none, (int)status_of(error));
    if (n->ends) atomic_store(&n->times->end_ns, qn__now_ns());
}

/* Takes the first command and runs it. The lock is held on entry and on return, not in between. */
static void run_first(qn__queue *queue) {
    node *first = queue->first;
    queue->first = first->next;
    if (!queue->first) queue->last = NULL;
    queue->running = true;
    queue->kernel = first->command->kind == QN__COMMAND_LAUNCH ? first->command->kernel_name : NULL;
    const bool dropped = first->number <= queue->cancelled && first->command->kind != QN__COMMAND_RECORD;
    atomic_store(&queue->now.cancelled, false);
    pthread_mutex_unlock(&queue->lock);
    char why[QN__WHY];
    if (first->begins && !dropped) atomic_store(&first->times->begin_ns, qn__now_ns());
    const char *error = dropped ? qn__host_cancelled : execute(queue, first, why);
    if (first->times) note_end(first, error);
    pthread_mutex_lock(&queue->lock);
    note_failure(queue, first->command, error);
    queue->running = false;
    queue->kernel = NULL;
    atomic_store(&queue->completed, first->number);
    pthread_cond_broadcast(&queue->done);
    if (first->owned) qn__release(queue->allocator, first->command);
    qn__release(queue->allocator, first);
}

/* ---- the stream's thread ---- */

/* Who launches and waits at once runs the launch itself: to wake the thread for it, and to be woken by it, would cost more than a small one
   takes. While launches are waited for so, the thread looks now and then whether there is work that nobody waits for. */
enum { DOZE_NS = 100000, AT_ONCE_NS = 10000 };

static void doze(qn__queue *queue) {
    const uint64_t submitted = queue->submitted;
    const struct timespec until = qn__deadline(DOZE_NS);
    queue->dozing = true;
    qn__cond_wait(&queue->work, &queue->lock, DOZE_NS, &until);
    queue->dozing = false;
    if (queue->first || queue->submitted == submitted) queue->awaited = false;
}

static void sleep_until_woken(qn__queue *queue) {
    queue->asleep = true;
    pthread_cond_wait(&queue->work, &queue->lock);
    queue->asleep = false;
}

static void *queue_main(void *argument) {
    qn__queue *queue = argument;
    pthread_mutex_lock(&queue->lock);
    while (!queue->stop) {
        if (queue->first && !queue->running)
            run_first(queue);
        else if (queue->awaited && !queue->first && !queue->now.persistent)
            doze(queue);
        else if (queue->running)
            pthread_cond_wait(&queue->done, &queue->lock);
        else
            sleep_until_woken(queue);
    }
    pthread_mutex_unlock(&queue->lock);
    return NULL;
}

qn_status qn__host_queue_create(const qn__host_kind *kind, const qn__allocator *allocator, qn__gpu *gpu,
                                qn__queue **out, char *why) {
    qn__queue *queue = qn__allocate_zeroed(allocator, sizeof *queue);
    void *worker = queue ? qn__allocate_zeroed(allocator, kind->worker_size + 1) : NULL;
    if (!worker) {
        qn__release(allocator, queue);
        return QN_ERROR_OUT_OF_MEMORY;
    }
    *queue = (qn__queue){.kind = kind, .allocator = allocator, .gpu = gpu, .worker = worker};
    pthread_mutex_init(&queue->lock, NULL);
    pthread_mutex_init(&queue->now.lock, NULL);
    qn__cond_init(&queue->work);
    qn__cond_init(&queue->done);
    if (!qn__thread_start(&queue->thread, queue_main, queue)) {
        snprintf(why, QN__WHY, "no more threads");
        qn__release(allocator, worker);
        qn__release(allocator, queue);
        return QN_ERROR_OUT_OF_MEMORY;
    }
    *out = queue;
    return QN_OK;
}

void qn__host_queue_destroy(qn__queue *queue) {
    pthread_mutex_lock(&queue->lock);
    queue->stop = true;
    pthread_cond_broadcast(&queue->work);
    pthread_mutex_unlock(&queue->lock);
    pthread_join(queue->thread, NULL);
    pthread_cond_destroy(&queue->work);
    pthread_cond_destroy(&queue->done);
    pthread_mutex_destroy(&queue->lock);
    pthread_mutex_destroy(&queue->now.lock);
    if (queue->kind->worker_end) queue->kind->worker_end(queue->gpu, queue->worker);
    qn__release(queue->allocator, queue->worker);
    qn__release(queue->allocator, queue);
}

/* Whether the device has what a launch needs. */
static qn_status look_at(const qn__host_kind *kind, const qn__gpu *gpu, const qn__command *command,
                         char *why) {
    if (command->kind != QN__COMMAND_LAUNCH || !kind->look_at) return QN_OK;
    return kind->look_at(gpu, command, why);
}

/* Before something is appended: whether the thread is to be woken then. One that dozes is left alone with a first launch, which
   whoever launched it may wait for. */
static bool is_to_wake(qn__queue *queue, qn__command_kind kind) {
    const bool is_first = kind == QN__COMMAND_LAUNCH && !queue->first && !queue->running;
    if (is_first) queue->launched_ns = qn__now_ns();
    return queue->asleep || (queue->dozing && (!is_first || queue->now.persistent));
}

static void append(qn__queue *queue, node *added) {
    added->number = ++queue->submitted;
    if (queue->last)
        queue->last->next = added;
    else
        queue->first = added;
    queue->last = added;
}

qn_status qn__host_submit(qn__queue *queue, const qn__command *command, uint64_t *number, char *why) {
    const qn_status status = look_at(queue->kind, queue->gpu, command, why);
    if (status) return status;
    const qn__allocator *allocator = queue->allocator;
    node *added = qn__allocate_zeroed(allocator, sizeof *added);
    qn__command *copy = added ? qn__command_copy(allocator, command) : NULL;
    if (!copy) {
        qn__release(allocator, added);
        return QN_ERROR_OUT_OF_MEMORY;
    }
    added->command = copy;
    added->owned = true;
    if (command->kind == QN__COMMAND_RECORD)
        qn__host_mark_announce(command->mark, &added->recording, command->mark_version);
    added->times = queue->times;
    added->begins = added->ends = added->times != NULL;
    queue->times = NULL;
    pthread_mutex_lock(&queue->lock);
    const bool wakes = is_to_wake(queue, command->kind);
    append(queue, added);
    *number = queue->submitted;
    pthread_mutex_unlock(&queue->lock);
    if (wakes) pthread_cond_signal(&queue->work); /* which finds the lock free */
    return QN_OK;
}

void qn__host_clock_next(qn__queue *queue, qn__times *times) { queue->times = times; }

uint64_t qn__host_completed(qn__queue *queue) { return atomic_load(&queue->completed); }

/* The stream's thread may not have come to a kernel yet, or waits for another stream. NULL: there is none. */
static const char *unfinished_kernel(const qn__queue *queue) {
    const char *kernel = queue->kernel;
    for (const node *n = queue->first; n && !kernel; n = n->next)
        if (n->command->kind == QN__COMMAND_LAUNCH) kernel = n->command->kernel_name;
    return kernel;
}

void qn__host_unfinished(qn__queue *queue, char *names, size_t size) {
    pthread_mutex_lock(&queue->lock);
    const char *kernel = unfinished_kernel(queue);
    snprintf(names, size, "%s", kernel ? kernel : "");
    pthread_mutex_unlock(&queue->lock);
}

static bool is_for_any_thread(const qn__queue *queue, const node *n) {
    return n->command->kind != QN__COMMAND_LAUNCH || !queue->kind->is_for_any_thread ||
           queue->kind->is_for_any_thread(n->command);
}

qn_status qn__host_wait(qn__queue *queue, uint64_t number, uint64_t timeout_ns, char *why) {
    struct timespec until = qn__deadline(timeout_ns);
    pthread_mutex_lock(&queue->lock);
    qn_status status = QN_OK;
    if (timeout_ns == QN_FOREVER)
        queue->awaited = number == queue->submitted && qn__now_ns() - queue->launched_ns < AT_ONCE_NS;
    while (!status && atomic_load(&queue->completed) < number) {
        if (timeout_ns == QN_FOREVER && queue->first && !queue->running &&
            is_for_any_thread(queue, queue->first))
            run_first(queue);
        else {
            if (queue->dozing && queue->first) pthread_cond_signal(&queue->work);
            if (!qn__cond_wait(&queue->done, &queue->lock, timeout_ns, &until)) status = QN_ERROR_TIMEOUT;
        }
    }
    if (!status) status = qn__sticky_take(&queue->failure, why);
    pthread_mutex_unlock(&queue->lock);
    return status;
}

qn_status qn__host_failure(qn__queue *queue, uint32_t *since, char *why) {
    pthread_mutex_lock(&queue->lock);
    const qn_status status = qn__sticky_look(&queue->failure, since, why);
    pthread_mutex_unlock(&queue->lock);
    return status;
}

qn_status qn__host_set_persistent(qn__queue *queue, bool persistent, char *why) {
    (void)why;
    pthread_mutex_lock(&queue->lock);
    queue->now.persistent = persistent;
    pthread_mutex_unlock(&queue->lock);
    return QN_OK;
}

static void interrupt(qn__host_running *now) {
    pthread_mutex_lock(&now->lock);
    atomic_store(&now->cancelled, true);
    if (now->flag) atomic_store(now->flag, 1);
    if (now->mark) qn__host_mark_wake(now->mark);
    pthread_mutex_unlock(&now->lock);
}

void qn__host_cancel(qn__queue *queue) {
    char why[QN__WHY];
    pthread_mutex_lock(&queue->lock);
    const uint64_t left = queue->submitted - atomic_load(&queue->completed);
    const char *kernel = unfinished_kernel(queue);
    if (left) {
        snprintf(why, sizeof why, "the stream was cancelled%s%.200s; commands that were not done: %llu",
                 kernel ? " with kernel " : "", kernel ? kernel : "", (unsigned long long)left);
        qn__sticky_set(&queue->failure, QN_ERROR_CANCELLED, why);
        queue->cancelled = queue->submitted;
    }
    if (left && queue->running) interrupt(&queue->now);
    pthread_mutex_unlock(&queue->lock);
}

/* ---- graphs ---- */

void qn__host_replay_destroy(qn__gpu *gpu, qn__replay *replay) {
    (void)gpu;
    const qn__allocator *allocator = replay->allocator;
    qn__commands_free(allocator, &replay->commands);
    qn__release(allocator, replay);
}

qn_status qn__host_replay_create(const qn__host_kind *kind, const qn__allocator *allocator, qn__gpu *gpu,
                                 const qn__command *commands, size_t count, qn__replay **out, char *why) {
    qn_status status = QN_OK;
    for (size_t i = 0; i < count && !status; i++) status = look_at(kind, gpu, &commands[i], why);
    if (status) return status;
    qn__replay *replay = qn__allocate_zeroed(allocator, sizeof *replay);
    if (!replay) return QN_ERROR_OUT_OF_MEMORY;
    replay->allocator = allocator;
    status = qn__commands_copy(allocator, commands, count, &replay->commands);
    if (status)
        qn__host_replay_destroy(gpu, replay);
    else
        *out = replay;
    return status;
}

qn_status qn__host_replay_submit(qn__queue *queue, qn__replay *replay, uint64_t *number, char *why) {
    (void)why;
    const qn__allocator *allocator = queue->allocator;
    node *first = NULL, *last = NULL;
    for (size_t i = 0; i < replay->commands.count; i++) {
        node *added = qn__allocate_zeroed(allocator, sizeof *added);
        if (!added) {
            for (node *next; first; first = next) next = first->next, qn__release(allocator, first);
            return QN_ERROR_OUT_OF_MEMORY;
        }
        added->command = replay->commands.list[i];
        added->times = queue->times;
        if (last)
            last->next = added;
        else
            first = added;
        last = added;
    }
    if (first && queue->times) {
        first->begins = last->ends = true;
        queue->times = NULL;
    }
    pthread_mutex_lock(&queue->lock);
    const bool wakes = first && is_to_wake(queue, QN__COMMAND_LAUNCH);
    for (node *next; first; first = next) {
        next = first->next;
        first->next = NULL;
        append(queue, first);
    }
    *number = queue->submitted;
    pthread_mutex_unlock(&queue->lock);
    if (wakes) pthread_cond_signal(&queue->work);
    return QN_OK;
}
