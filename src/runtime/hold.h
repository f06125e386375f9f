/* What a stream is given while it waits for another device. A driver never sees a wait that another driver has to end:
   queues of one device may share hardware, and what is to end the wait could stand behind it. So the runtime holds the
   stream's commands itself (hold.c). One thread of the context, the courier, looks after the streams that are held:
   it sees when what they wait for is there, copies between devices, and submits what was held, in order (courier.c). */
#ifndef QN__HOLD_H
#define QN__HOLD_H

#include <pthread.h>
#include <stdatomic.h>

#include "runtime/backend.h"

/* A copy between two devices, which the courier does in pieces, on queues of its own: into host memory and from there,
   or directly where one side is host memory. */
typedef struct qn__crossing qn__crossing;
typedef struct qn__graph_replay qn__graph_replay;

typedef enum qn__held_kind {
    QN__HELD_COMMAND,
    QN__HELD_REPLAY,
    QN__HELD_WAIT,     /* the command is a WAIT for a mark of `of` */
    QN__HELD_CROSSING, /* begins when all before is done */
    QN__HELD_PLACED    /* a recording that was submitted, or refused */
} qn__held_kind;

typedef struct qn__held {
    struct qn__held *next;
    qn__held_kind kind;
    uint64_t number;      /* of the stream's command that it is, or is a part of */
    qn__command *command; /* owned; NULL: CROSSING */
    qn_device *of;        /* WAIT */
    qn__crossing *crossing;
    qn__graph_replay *replay;
    struct qn__held *next_recording; /* RECORD: in the courier's list */
    qn_status missed;                /* RECORD: why it never comes */
} qn__held;

/* Commands up to `number` of the stream are done when command `backend` of its queue is. */
typedef struct qn__placed {
    uint64_t number, backend;
} qn__placed;

/* A stream's part. While it is on, the stream's numbers are not its queue's. The stream's lock guards it, but for what is
   said otherwise. */
typedef struct qn__hold {
    bool on;
    bool busy;        /* the courier works at the first without the lock */
    uint64_t offset;  /* while it is off: a number of the stream less that of its queue */
    uint64_t backend; /* the queue's last number; while it is on */
    uint64_t done;    /* number up to which all is known to be done; while it is on */
    qn__held *first, *last;
    qn__placed *placed; /* ring; cap is a power of two */
    size_t first_placed, num_placed, cap_placed, num_held;
    pthread_cond_t moved; /* something was submitted */
    qn_status failure;    /* the last that counts: others are left out until a wait has reported it */
    bool reported;        /* by a wait */
    uint32_t num_failures;
    char why[QN__WHY];
    qn_stream *next_listed; /* with the courier; its lock guards it */
} qn__hold;

/* The context's thread, started when a stream is first held. */
typedef struct qn__courier {
    pthread_mutex_t lock; /* of all below; taken behind any other */
    pthread_cond_t work, moved;
    pthread_t thread;
    bool started, stop;
    qn_stream *first;     /* that are held */
    qn__held *recordings; /* of events, that are held, or will never come */
    atomic_uint_fast32_t num_recordings;
} qn__courier;

/* ---- hold.c; the stream's lock is held where nothing else is said ---- */

void qn__hold_init(qn__hold *hold);
void qn__hold_free(qn_stream *stream); /* nothing is held any more */
/* Holds a command, or a part of a graph, or submits it if nothing is held any more. `of`: the other device whose mark a
   WAIT is for. */
qn_status qn__hold_command(qn_stream *stream, const qn__command *command, qn_device *of, uint64_t *number,
                           char *why);
qn_status qn__hold_replay(qn_stream *stream, qn__graph_replay *replay, uint64_t *number, char *why);
/* The crossing is the stream's then. */
qn_status qn__hold_crossing(qn_stream *stream, qn__crossing *crossing, uint64_t *number);
/* The queue's command `backend` was not submitted from here: *number is the stream's for it. False: out of memory. */
bool qn__hold_count(qn_stream *stream, uint64_t backend, uint64_t *number);
/* Number of the last command that is done. */
uint64_t qn__hold_completed(qn_stream *stream);
/* As the backend's wait, for a number of the stream. The lock is not held. */
qn_status qn__hold_wait(qn_stream *stream, uint64_t number, uint64_t timeout_ns, char *why);
/* The last failure of what was held, if it came behind the first `*since`, which becomes what has come; with `*since` larger
   than that, it becomes what waits have reported, and there is none. The lock is not held. */
qn_status qn__hold_failure(qn_stream *stream, uint32_t *since, char *why);
/* What is held is given up: recordings are submitted when their turn comes, a copy that has begun ends, the rest is not done.
   True: the backend has done all that it was given. The lock is not held. */
bool qn__hold_cancel(qn_stream *stream);
/* Until all commands up to `number` are with the backend; *backend is what the last of them is there. QN_ERROR_TIMEOUT
   comes without a message. The lock is not held. */
qn_status qn__hold_place(qn_stream *stream, uint64_t number, uint64_t timeout_ns, uint64_t *backend);
/* The kernel of the first held launch, or "", and the device that the stream waits for, or NULL. The lock is not held. */
void qn__hold_unfinished(qn_stream *stream, char *names, size_t size);
qn_device *qn__hold_waits_for(qn_stream *stream);
/* For the courier: submits what can be. *empty: nothing is held any more, and the stream is off the courier's list. True:
   something moved. The lock is not held. */
bool qn__hold_step(qn_stream *stream, bool *empty);

/* ---- courier.c ---- */

void qn__courier_init(qn__courier *courier);
void qn__courier_stop(qn_context *context); /* before objects go; there is no work any more */
void qn__courier_free(qn__courier *courier);
/* The stream is looked after from now on, or no longer. The courier has a reference to those it looks after, which it
   gives back itself. The stream's lock is held. */
qn_status qn__courier_add(qn_stream *stream);
void qn__courier_remove(qn_stream *stream);
/* A held RECORD; and what became of it. */
void qn__courier_add_recording(qn_context *context, qn__held *held);
void qn__courier_placed_recording(qn_context *context, qn__held *held);
/* Whether a recording is held still. *missed: why it never comes, or QN_OK. */
bool qn__recording_is_held(qn_context *context, const qn__mark *mark, uint64_t version, qn_status *missed);
/* Until it is not held: QN_OK, QN_ERROR_TIMEOUT or why it never comes. */
qn_status qn__recording_wait(qn_context *context, const qn__mark *mark, uint64_t version,
                             uint64_t timeout_ns);
void qn__recordings_forget(qn_context *context, const qn__mark *mark); /* as the mark goes */

/* ---- crossing.c ---- */

/* Both buffers are kept, and cannot be mapped, until it ends. */
qn_status qn__crossing_new(qn_buffer *from, uint64_t from_offset, qn_buffer *to, uint64_t to_offset,
                           uint64_t size, qn__crossing **crossing);
/* For the courier, without a lock: goes on with it. True when it has ended, with its status and message. */
bool qn__crossing_step(qn__crossing *crossing, bool *moved, qn_status *status, char *why);
void qn__crossing_free(qn__crossing *crossing);
/* A stream of another device of the backend uses the buffer, by a command of its own: reserved before, set after. */
typedef struct qn__peer_use qn__peer_use;
qn_status qn__peer_reserve(qn_buffer *root, qn_stream *stream);
void qn__peer_set(qn_buffer *root, const qn_stream *stream, uint64_t number);
void qn__peer_forget(qn_buffer *root, const qn_stream *stream); /* NULL: all */
/* Pieces are under way, and it has to come to its end. Not while the courier is at it. */
bool qn__crossing_has_begun(const qn__crossing *crossing);
qn_device *qn__crossing_other(const qn__crossing *crossing,
                              const qn_device *device);   /* the other device of the two */
uint64_t qn__crossing_size(const qn__crossing *crossing); /* bytes */
qn_status qn__crossing_wait(qn_buffer *root);             /* until no other device uses the buffer */
void qn__crossing_close(qn_device *device);               /* as the device goes */

#endif
