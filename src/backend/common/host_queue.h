/* Streams and events of devices whose kernels this process runs: the processor, and the checker. A stream is a list of
   commands and a thread. */
#ifndef QN__HOST_QUEUE_H
#define QN__HOST_QUEUE_H

#include "backend/common/common.h"

/* What a queue runs, for whoever cancels it. */
typedef struct qn__host_running {
    pthread_mutex_t lock;
    _Atomic uint32_t *flag; /* of the launch that runs, or NULL */
    qn__mark *mark;         /* that is waited for, or NULL */
    atomic_bool cancelled;  /* the command is */
    bool persistent;        /* the queue is */
} qn__host_running;

/* From here on whoever cancels the queue reaches the launch (NULL: no launch any more). Gives whether it is cancelled. */
bool qn__host_show(qn__host_running *running, _Atomic uint32_t *flag);

extern const char qn__host_out_of_memory[],
    qn__host_cancelled[]; /* why a launch failed, known by their addresses */

/* What kinds of devices differ in. NULL: nothing to do, or always. */
typedef struct qn__host_kind {
    /* Whether the device has what a launch needs. */
    qn_status (*look_at)(const qn__gpu *gpu, const qn__command *launch, char *why);
    /* Who waits may run it, who may have little stack left. */
    bool (*is_for_any_thread)(const qn__command *launch);
    /* Runs a launch to its end. NULL, or a message that says why it failed, which may lie in `why`. */
    const char *(*run)(qn__gpu *gpu, const qn__command *launch, void *worker, qn__host_running *running,
                       char *why);
    void (*moved)(qn__gpu *gpu, const qn__command *command); /* another command is done */
    size_t worker_size; /* of what `run` keeps in a queue, zeros at first */
    void (*worker_end)(qn__gpu *gpu, void *worker);
} qn__host_kind;

/* As the functions of qn_backend with these names. */
qn_status qn__host_queue_create(const qn__host_kind *kind, const qn__allocator *allocator, qn__gpu *gpu,
                                qn__queue **queue, char *why);
void qn__host_queue_destroy(qn__queue *queue);
qn_status qn__host_submit(qn__queue *queue, const qn__command *command, uint64_t *number, char *why);
void qn__host_clock_next(qn__queue *queue, qn__times *times);
uint64_t qn__host_completed(qn__queue *queue);
void qn__host_cancel(qn__queue *queue);
qn_status qn__host_set_persistent(qn__queue *queue, bool persistent, char *why);
void qn__host_unfinished(qn__queue *queue, char *names, size_t size);
qn_status qn__host_wait(qn__queue *queue, uint64_t number, uint64_t timeout_ns, char *why);
qn_status qn__host_failure(qn__queue *queue, uint32_t *since, char *why);
qn_status qn__host_replay_create(const qn__host_kind *kind, const qn__allocator *allocator, qn__gpu *gpu,
                                 const qn__command *commands, size_t count, qn__replay **replay, char *why);
void qn__host_replay_destroy(qn__gpu *gpu, qn__replay *replay);
qn_status qn__host_replay_submit(qn__queue *queue, qn__replay *replay, uint64_t *number, char *why);

/* host_mark.c */
typedef struct qn__host_recording { /* a RECORD in a queue */
    struct qn__host_recording *next;
    uint64_t version;
} qn__host_recording;
qn_status qn__host_mark_create(const qn__allocator *allocator, qn__mark **mark);
void qn__host_mark_destroy(qn__mark *mark);
/* Announced when it is submitted, reached when its queue comes to it; it stays where it is in between. Who waits for it gets the
   failure, unless that is a cancelling, which lets events be reached. */
void qn__host_mark_announce(qn__mark *mark, qn__host_recording *recording, uint64_t version);
void qn__host_mark_reach(qn__mark *mark, qn__host_recording *recording, const qn__sticky *failure);
bool qn__host_mark_done(qn__mark *mark, uint64_t version, uint64_t *time_ns);
qn_status qn__host_mark_wait(qn__mark *mark, uint64_t version, uint64_t timeout_ns, char *why);
/* Without a deadline, but until *stop is true, which whoever sets it tells by waking. */
void qn__host_mark_await(qn__mark *mark, uint64_t version, const atomic_bool *stop);
void qn__host_mark_wake(qn__mark *mark);

#endif
