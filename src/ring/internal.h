/* What the files of this room share: a ring, its queues as the host sees them, and how the host waits. */
#ifndef QUERN_RING_INTERNAL_H
#define QUERN_RING_INTERNAL_H

#include <pthread.h>
#include <quern/ring.h>
#include <stdatomic.h>

#include "ring/layout.h"

/* ---- waiting ---- */

typedef struct qn__ring_wait {
    uint64_t start_ns, timeout_ns;
    uint32_t rounds;
    /* Of what waits for a message's answer: the ring's, when the message was put in. */
    uint32_t stops, recoveries;
} qn__ring_wait;

uint64_t qn__ring_now(void);
uint64_t qn__ring_wall(void); /* since 1970 */
qn__ring_wait qn__ring_wait_begin(uint64_t timeout_ns);
/* The same from a time on that is known already: reading the clock is a tenth of a call. */
qn__ring_wait qn__ring_wait_since(uint64_t start_ns, uint64_t timeout_ns);
/* Spins at first, then lets others run, then sleeps for growing times up to a millisecond. false: the time is up. */
bool qn__ring_wait_more(qn__ring_wait *wait);
/* The same for callers with a sleep of their own: how long it is to be; 0: none. */
uint64_t qn__ring_wait_step(qn__ring_wait *wait);
/* Something has come of it: the sleeps are short again, up to the same deadline. */
void qn__ring_wait_anew(qn__ring_wait *wait);
/* Whether it waits long enough for looks that cost something. */
bool qn__ring_wait_is_long(const qn__ring_wait *wait);
/* What is left of the time. */
uint64_t qn__ring_wait_left(const qn__ring_wait *wait);

/* ---- queues ---- */

/* A queue, of `bands` times `capacity` slots. One end is the host's; its positions are here, the kernels' in `ends`. */
typedef struct qn__ring_queue {
    qn_buffer *memory, *ends;
    unsigned char *slots; /* as the host sees them */
    struct {
        bool is_new; /* the device has none of it */
        uint32_t
            sent[QN__RING_BANDS_MOST]; /* the device knows of what the host has done before these positions */
        uint32_t seen[QN__RING_BANDS_MOST]; /* and the host of what kernels have done before these */
    } mirrored; /* of a ring with a mirror, whose copy for transfers lies behind the slots */
    uint32_t capacity, bands;
    uint32_t slot_size, stride; /* bytes of a message with its head, and from one to the next */
    uint32_t pieces;            /* of a slot that is in pieces (layout.h); 0: it is as it is handled */
    qn__ring_slot *gathered;    /* one such message, as it is handled */
    bool in_order; /* slots become free in order: there is one consumer, which takes one at a time */
    _Atomic uint32_t at[QN__RING_BANDS_MOST];   /* the host's end */
    _Atomic uint32_t room[QN__RING_BANDS_MOST]; /* slots before this position are known to be free */
    _Atomic uint32_t peak[QN__RING_BANDS_MOST]; /* most messages that were there when the host put one in */
    uint32_t padding[QN__RING_LINE];
} qn__ring_queue;

qn__ring_slot *qn__ring_queue_slot(const qn__ring_queue *queue, uint32_t band, uint32_t at);
qn_status qn__ring_queue_create(qn_ring *ring, qn__ring_queue *queue, const char *label);
void qn__ring_queue_destroy(qn_ring *ring, qn__ring_queue *queue);
/* Empties it while no kernel uses it; `stream` has to be waited for. */
qn_status qn__ring_queue_reset(qn__ring_queue *queue, qn_stream *stream);
/* Any thread. false: the band is full. */
bool qn__ring_queue_put(qn__ring_queue *queue, uint32_t band, const qn_ring_message *message,
                        const void *payload);
/* The same for up to `count` messages of following ids, payloads `stride` bytes apart; how many there was room for. */
uint32_t qn__ring_queue_put_run(qn__ring_queue *queue, uint32_t band, const qn_ring_message *first,
                                const unsigned char *payloads, size_t stride, uint32_t count);
/* Has the processor fetch the next message's slot, to write so many bytes of payload, while it has nothing else to do. */
void qn__ring_queue_warm(const qn__ring_queue *queue, uint32_t band, uint32_t size);
/* Drops the oldest message of a full band, for kernels that look at `revoked` (QN_RING_REVOKES); one thread at a time, beside
   others that put. *call: the id of the message where a call waits for its answer, else 0. false: none was dropped, as there is room by
   now. */
bool qn__ring_queue_revoke(qn__ring_queue *queue, uint32_t band, _Atomic uint32_t *revoked, uint64_t *call);
/* One thread at a time. The first message, which stays; NULL: there is none, or not all of it. Holds until the next such call. */
const qn__ring_slot *qn__ring_queue_first(const qn__ring_queue *queue);
/* Any thread. Whether the first has not come; else it has, but parts of one in pieces may be missing. */
bool qn__ring_queue_is_empty(const qn__ring_queue *queue);
void qn__ring_queue_drop_first(qn__ring_queue *queue);
/* Whether kernels have still to take something that the host has put in. */
bool qn__ring_queue_is_pending(const qn__ring_queue *queue);
/* Whether kernels find room for `count` messages. */
bool qn__ring_queue_has_room(const qn__ring_queue *queue, uint32_t count);
/* How many messages the host can put into a band now. */
uint32_t qn__ring_queue_credits(const qn__ring_queue *queue, uint32_t band);

/* ---- after failures ---- */

enum { QN__RING_RESTARTS_MOST = 16 };

/* The ring's thread's, but what is atomic. */
typedef struct qn__ring_supervisor {
    _Atomic bool is_on, gave_up;
    qn_ring_supervision policy;
    uint64_t due_ns;        /* of the next restart; 0: none is planned */
    uint64_t checkpoint_ns; /* of the last one */
    uint64_t times[QN__RING_RESTARTS_MOST];
    uint32_t count;
} qn__ring_supervisor;

/* Looks after a ring that is supervised. */
void qn__ring_supervise(qn_ring *ring);
bool qn__ring_is_supervised(const qn_ring *ring);
/* Has a supervised ring that was given up, or stopped, looked after anew. */
void qn__ring_supervise_anew(qn_ring *ring);

/* Correlations of the newest messages. */
typedef struct qn__ring_window qn__ring_window;
qn__ring_window *qn__ring_window_create(const qn_ring *ring, uint32_t size);
/* false: it is there already. The oldest one is forgotten. */
bool qn__ring_window_add(qn__ring_window *window, uint64_t id);
void qn__ring_window_remove(qn__ring_window *window, uint64_t id);

/* NVML, for qn_ring_get_gpu; NULL or why it tells nothing. */
const char *qn__ring_read_gpu(qn_ring *ring, qn_ring_gpu *gpu);
void qn__ring_gpu_close(qn_ring *ring);

/* What others see of the ring in a file: set up where $QUERN_RINGS asks for it; written when it is due; removed. */
void qn__ring_report_if_asked(qn_ring *ring);
void qn__ring_write_report(qn_ring *ring);
void qn__ring_end_report(qn_ring *ring);

/* Memory that messages refer to (block.c). A message of the kernel has come: its block is the program's where `is_kept`; one that was
   being handled in a failure is, too. */
qn_status qn__ring_blocks_create(qn_ring *ring);
void qn__ring_blocks_destroy(qn_ring *ring);
void qn__ring_block_came(qn_ring *ring, const qn_ring_message *message, bool is_kept);
void qn__ring_block_died(qn_ring *ring, const qn_ring_message *message);

/* The trace's events (trace.c), where ring->is_traced: messages that were sent now, of following ids; one that has come. */
void qn__ring_trace_sent(const qn_ring *ring, const qn_ring_message *first, uint32_t count);
void qn__ring_trace_got(const qn_ring *ring, const qn_ring_message *message);

/* ---- devices without memory that both see (mirror.c) ---- */

/* Memory of the ring that both sides use, and where the host sees it. Of a ring with a mirror the host has a memory of its own, with
   `copies` of it for transfers behind it. */
qn_status qn__ring_memory_create(qn_ring *ring, uint64_t size, uint32_t copies, const char *label,
                                 qn_buffer **buffer, void **host);
void qn__ring_memory_destroy(qn_ring *ring, qn_buffer *buffer, void *host);
bool qn__ring_needs_mirror(const qn_device_info *info);
qn_status qn__ring_mirror_create(qn_ring *ring);
void qn__ring_mirror_destroy(qn_ring *ring);
/* Around a launch, under the lock: what the host has done goes to the device, and what the kernel has done comes back. */
qn_status qn__ring_mirror_send(qn_ring *ring);
qn_status qn__ring_mirror_fetch(qn_ring *ring);
/* The launch has not come about. */
void qn__ring_mirror_call_off(qn_ring *ring);
/* Whether a launch is under way of which the host knows nothing yet. Any thread. */
bool qn__ring_mirror_is_away(const qn_ring *ring);
/* Shows the host what a launch that has ended has done; true: there was one. Under the lock; any thread, which takes it. */
bool qn__ring_mirror_update(qn_ring *ring);
bool qn__ring_mirror_look(qn_ring *ring);
/* The same now and then, in a wait. */
void qn__ring_mirror_pass(qn_ring *ring, const qn__ring_wait *wait);
/* Fetches anew what has not come back of a launch that has ended. Under the lock. */
qn_status qn__ring_mirror_complete(qn_ring *ring);
/* The same of a launch that has failed, of which nothing may have come back. QN_ERROR_TIMEOUT, without a wait: it has not ended. */
qn_status qn__ring_mirror_recover(qn_ring *ring);
/* How long the launch is under way (0: none is), and of how many messages at most, of which the host's first has this id (0: other rings'
   alone). Under the lock. */
uint64_t qn__ring_mirror_age(const qn_ring *ring, uint32_t *messages, uint64_t *id);

/* ---- networks ---- */

/* What rings send to: mail, which outlives its ring while others hold it. */
typedef struct qn__ring_mail {
    _Atomic uint32_t holders;
    qn_buffer *memory;
    uint32_t capacity;
} qn__ring_mail;

/* Rings that are connected. The lock comes before any ring's own, and after receive locks. */
typedef struct qn__ring_net {
    pthread_mutex_t lock;
    uint32_t count, alive;
    qn_ring *rings[]; /* NULL: closed */
} qn__ring_net;

typedef struct qn__ring_outlet {
    qn__ring_mail *mail;
    qn_ring *to;  /* under the net's lock; NULL: nowhere, or closed */
    bool by_host; /* of another device */
} qn__ring_outlet;

/* ---- a ring ---- */

/* A call that waits for its reply; on the caller's stack, or, with a callback, of the allocator with the reply behind it. */
typedef struct qn__ring_pending {
    struct qn__ring_pending *next;
    uint64_t id;
    void *reply;
    size_t size;
    uint32_t got; /* bytes of the reply */
    bool done;
    qn_ring_callback callback; /* NULL: somebody waits */
    void *user;
    uint64_t deadline_ns;       /* by qn__ring_now; QN_FOREVER: none */
    bool is_put;                /* of one with a callback: its message is in the queue, or was, */
    uint32_t stops, recoveries; /* and that is how often the ring had stopped, or recovered, then */
    qn_status status;
    qn_ring_message message; /* the reply's, for the callback */
} qn__ring_pending;

/* The ring's own thread (service.c); under the receive lock but what is atomic. */
typedef struct qn__ring_service {
    pthread_t thread;
    pthread_cond_t wake;
    _Atomic bool runs, stops, sleeps;
    bool has_event, failure_told; /* has_event: `event` is an eventfd */
    int event;
    uint32_t num_async;                 /* calls that wait with a callback */
    qn__ring_pending *done, **done_end; /* those whose callback is due */
    _Atomic uint32_t events;
    bool above; /* the high-water mark was reached, the low one not since */
} qn__ring_service;

/* A message that was met on the way to a reply. */
typedef struct qn__ring_letter {
    struct qn__ring_letter *next;
    qn_ring_message message; /* followed by the payload */
} qn__ring_letter;

enum { QN__RING_BUCKETS = 304 };

typedef struct qn__ring_latency {
    uint64_t count, sum, min, max, buckets[QN__RING_BUCKETS];
} qn__ring_latency;

struct qn_ring {
    uint32_t magic, header;
    qn_context *context;
    qn_device *device;
    qn_device_info device_info;
    qn_allocator allocator;
    qn_ring_desc desc; /* without what belongs to the caller, with its defaults */
    char label[64], reason[256];
    qn_program *program;
    qn_kernel *kernel;
    qn_stream *stream;
    qn_graph *graph;                /* QN_RING_LAUNCHES: one launch */
    qn_event *ended;                /* of the newest launch */
    struct qn__ring_mirror *mirror; /* NULL: the device has memory that both sides see alike */
    qn_buffer *control_buffer;
    qn__ring_control *control;
    qn__ring_queue in, out;
    uint64_t resident_groups;
    uint32_t items; /* work-items of a group: those of the descriptor, or those that take a batch together */
    bool batches;   /* a work-group takes several messages at a time */
    bool is_traced;
    bool is_orphan;               /* its context is closed, and it has nothing but its own memory */
    bool parks;                   /* the kernel may end by itself, and is launched again */
    pthread_mutex_t command_lock; /* of the kernel's command and what is next; after all other locks */
    _Atomic uint32_t aside;       /* those for whom it has left, or is about to */
    _Atomic bool is_closing;      /* nobody waits for the others */
    _Atomic bool has_left;        /* or is to, since it was launched */

    pthread_mutex_t
        life_lock; /* of the calls that lead to another state; before all other locks; recursive */
    qn__ring_supervisor supervisor;
    _Atomic uint64_t restarts, dead_count, duplicates;
    pthread_mutex_t lock;        /* of the stream, the state and what is below */
    _Atomic int state;           /* qn_ring_state */
    _Atomic uint32_t stops;      /* how often it has stopped: what was in its queues then comes no more */
    _Atomic uint32_t recoveries; /* after failures, which end no call whose message came later */
    _Atomic uint32_t epoch;
    bool launched;   /* `ended` is recorded */
    bool is_safe;    /* its program is */
    uint32_t judged; /* the newest launch whose end was looked at; 0: none */
    struct {
        uint32_t taken;
        uint64_t since_ns; /* 0: idle at the last look */
    } * watched;           /* each work-group, for handler_ns */
    struct {
        uint64_t bound_ns, still_ns; /* how long it may stand still, and has */
        uint64_t looked_ns;          /* 0: nothing waited at the last look */
        uint32_t signs;
    } heart;
    qn_buffer *checkpoint; /* NULL: there is none */
    qn__ring_letter *dead; /* messages that a failure left, the oldest first */
    qn_status failure;
    char why[512];
    uint64_t handled, replied, lost, errors; /* at the last look */
    uint64_t launch_ns, handled_before;      /* of the last qn_ring_launch */
    _Atomic uint32_t taken_before[QN__RING_BANDS_MOST];

    qn__ring_mail *mail; /* NULL: with neither mail nor links */
    qn__ring_outlet outlets[QN__RING_LINKS_MOST];
    qn__ring_net *_Atomic net;              /* NULL: not connected */
    uint32_t gone;                          /* messages of rings that are closed; under the net's lock */
    uint64_t forwarded, mailed;             /* at the last look */
    _Atomic uint64_t routed;                /* by the host */
    struct qn__ring_report *_Atomic report; /* NULL: none */
    struct qn__ring_blocks *blocks;         /* NULL: there are none */
    qn_buffer *block_memory;
    void *block_bytes;        /* as the host sees it */
    struct qn__ring_gpu *gpu; /* NULL: not opened yet; under the lock */
    bool routes;              /* it has outlets by the host */
    bool closes;              /* others of its network do not look after it; under the net's lock */

    _Atomic uint32_t senders;        /* threads that are at the input's host end */
    _Atomic uint64_t next_id, clock; /* hybrid logical clock of the host's side */
    _Atomic uint64_t heard;          /* the latest clock of what has come; written under the receive lock */
    uint64_t clock_offset;           /* from qn__ring_now to the clock's time */
    pthread_mutex_t receive_lock;    /* of the output's host end, the inbox and the calls that wait */
    qn__ring_pending *pending, **pending_end; /* the oldest first, as their replies come */
    qn__ring_service service;
    qn__ring_letter *inbox, **inbox_end;
    _Atomic uint32_t num_letters;
    qn__ring_latency latency; /* under the receive lock */
    _Atomic uint64_t received, late;
    _Atomic uint64_t sent[QN__RING_BANDS_MOST];
    pthread_mutex_t drop_lock;                     /* of `revoked` and the window */
    qn__ring_window *window;                       /* NULL: duplicates are sent */
    _Atomic uint64_t dropped[QN__RING_BANDS_MOST]; /* by the policy */
};

qn_status qn__ring_fail(const qn_ring *ring, qn_status status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;
qn_status qn__ring_check(const qn_ring *ring, const char *function);
/* The same, and the call is alone among those that lead to another state, up to qn__ring_change_end, which gives the status. */
qn_status qn__ring_change_begin(qn_ring *ring, const char *function);
qn_status qn__ring_change_end(qn_ring *ring, qn_status status);
const char *qn__ring_state_name(int state);
qn__ring_group *qn__ring_groups(const qn_ring *ring);

/* The program: the library's texts and the caller's, and a kernel around the handler. */
qn_status qn__ring_compile(qn_ring *ring, const qn_ring_desc *desc);

/* Sending, for qn_ring_send and calls: what is wrong with a call; the message with what the library adds (the first of `count`); putting it in, as the
   policy says where there is no room. */
qn_status qn__ring_check_send(qn_ring *ring, const char *function, const qn_ring_message *message,
                              const void *payload, size_t size);
qn_ring_message qn__ring_address(qn_ring *ring, const qn_ring_message *message, size_t size, uint32_t flags,
                                 uint32_t count);
qn_status qn__ring_put(qn_ring *ring, const char *function, const qn_ring_message *full, const void *payload,
                       qn__ring_wait *wait);

/* A message as a letter of its own; NULL, with a message: no memory. */
qn__ring_letter *qn__ring_letter_make(const qn_ring *ring, const qn__ring_slot *slot);
/* Puts all that is in the output into the inbox. */
qn_status qn__ring_save_output(qn_ring *ring);
/* Gives what a letter holds to the caller of `function`. */
qn_status qn__ring_hand_out(qn_ring *ring, const char *function, const qn_ring_message *from,
                            const void *data, qn_ring_message *message, void *payload, size_t size);
/* Calls that wait for a reply: a new one; taking one from the list, if it is still there. Under the receive lock. */
void qn__ring_add_pending(qn_ring *ring, qn__ring_pending *call);
bool qn__ring_remove_pending(qn_ring *ring, qn__ring_pending *call);
/* Ends the call that waits for the reply to a message, if there is one, without a reply. Takes the receive lock. */
void qn__ring_end_call(qn_ring *ring, uint64_t id, qn_status status);
/* Gives calls the replies that are there, and keeps what is not for them where `keeps`. Under the receive lock. */
qn_status qn__ring_sort_out(qn_ring *ring, bool keeps, const bool *enough);
/* What a wait does between two looks: sees after failures and launches. */
qn_status qn__ring_pass_time(qn_ring *ring, const qn__ring_wait *wait);

/* The ring's thread: a call's reply has come; there is something to do: both under the receive lock. */
void qn__ring_service_done(qn_ring *ring, qn__ring_pending *call);
void qn__ring_service_due(qn_ring *ring);
/* A call with a callback has been put into the queue, if it still waits. Takes the receive lock. */
void qn__ring_service_sent(qn_ring *ring, qn__ring_pending *call, uint64_t id, const qn__ring_wait *put);
/* It looks again at once, if it sleeps between two looks: of a send, which takes no lock. One that comes as it lies down it may miss. */
void qn__ring_service_wake(qn_ring *ring);
void qn__ring_service_init(qn_ring *ring);
void qn__ring_service_end(qn_ring *ring);
/* The queues are about to be emptied: calls with a callback get the replies that are there, and the others end. Under the receive lock. */
void qn__ring_service_forget(qn_ring *ring);
bool qn__ring_service_is_here(const qn_ring *ring);
/* Where messages of a priority wait. */
static inline uint32_t qn__ring_band(const qn_ring *ring, uint32_t priority) {
    return priority * ring->desc.bands / 256;
}
/* Messages of the host that wait in a band. */
uint32_t qn__ring_depth(const qn_ring *ring, uint32_t band);

/* The last launch has ended, or is about to, and none has been made since. */
bool qn__ring_is_parked(const qn_ring *ring);
/* What the kernel is told, and what it was told (QN__RING_PAUSE and others). */
void qn__ring_tell(qn_ring *ring, uint32_t command);
uint32_t qn__ring_command(const qn_ring *ring);
/* The kernel leaves the device until as many have called it back (`user`: the ring). A launch waits until it may come back,
   and the kernel then stays. */
void qn__ring_leave(void *user);
void qn__ring_come_back(void *user);
void qn__ring_await_turn(const qn_ring *ring);
void qn__ring_stay(qn_ring *ring);
/* Of one that is resident; `by_hand`: its loop is. */
qn_status qn__ring_offer_to_leave(qn_ring *ring, bool by_hand);

/* Launches the kernel, under the lock; waits until all of it is there, and stops it where that takes too long for a program's call. */
qn_status qn__ring_submit(qn_ring *ring);
qn_status qn__ring_await_launch(qn_ring *ring, uint64_t timeout_ns);
/* The message of a slot of the input that is full though the kernel's position has passed it: the oldest that is at most *back
   positions behind `head`; it is at *back then. NULL: there are no more. */
const qn__ring_slot *qn__ring_queue_orphan(const qn__ring_queue *queue, uint32_t band, uint32_t head,
                                           uint32_t *back);
/* Takes it out. */
void qn__ring_queue_free(qn__ring_queue *queue, uint32_t band, uint32_t head, uint32_t back);

/* Of a reply; under the receive lock. */
void qn__ring_note_latency(qn_ring *ring, uint64_t ns);

/* Brings what is counted up to date; under the lock. */
void qn__ring_count(qn_ring *ring);

/* Launches the kernel again if it has ended and there is something to do. Any thread. */
qn_status qn__ring_kick(qn_ring *ring);
/* The same behind what has been sent, or received: QN_OK, too, where a launch is not possible now, which whoever waits tries again. */
qn_status qn__ring_kick_after(qn_ring *ring);
/* The same for all rings of its network; `looks`: sees whether the others have failed, too. */
qn_status qn__ring_kick_net(qn_ring *ring, bool looks);
/* A network's lock; nothing without one, as a ring may be that is connected meanwhile. */
qn__ring_net *qn__ring_net_lock(const qn_ring *ring);
void qn__ring_net_unlock(qn__ring_net *net);
/* Messages of other rings that wait; whether the rings at its links have room. Under the net's lock. */
uint32_t qn__ring_mail_depth(const qn_ring *ring);
bool qn__ring_links_have_room(const qn_ring *ring);
/* The mail and empty outlets; their end. */
qn_status qn__ring_mail_create(qn_ring *ring);
void qn__ring_begin_close(qn_ring *ring);
void qn__ring_leave_net(qn_ring *ring);
void qn__ring_mail_destroy(qn_ring *ring);
/* Sends on a message to another device's ring, if there is room. Under the receive lock. */
bool qn__ring_route(qn_ring *ring, const qn__ring_slot *slot);
qn_status qn__ring_service_start(qn_ring *ring, const char *function);
/* For how long its kernel has not moved though messages wait, where that is too long; else 0. Under the lock, at each look. */
uint64_t qn__ring_stands_still(qn_ring *ring);
/* Looks whether the kernel has failed. Any thread; costs a call of the driver. QN_OK, too, for one that is supervised. */
qn_status qn__ring_look(qn_ring *ring);

#endif
