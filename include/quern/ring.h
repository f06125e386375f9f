/* Rings: kernels that stay on the device and exchange messages with the host. A library of its own above quern.h (libquern_ring;
   CMake's quern::ring, pkg-config's quern_ring).

       // double.h, for the host and for the kernel:   typedef struct numbers { float x[4]; } numbers;
       static const char text[] =
           "#include \"quern/ring.cl\"\n"
           "#include \"double.h\"\n"
           "void twice(qn_ring *ring, local const numbers *in) {\n"
           "    numbers out;\n"
           "    for (int i = 0; i < 4; i++) out.x[i] = 2 * in->x[i];\n"
           "    qn_ring_reply(ring, &out, sizeof out);\n"
           "}\n";
       qn_ring *ring;
       qn_ring_create(device, &(qn_ring_desc){.program = {.source = text}, .handler = "twice", .message_type = "numbers",
                                              .message_size = sizeof(numbers), .reply_size = sizeof(numbers)}, &ring);
       qn_ring_launch(ring, QN_FOREVER);
       qn_ring_activate(ring, QN_FOREVER);
       qn_ring_call(ring, &in, sizeof in, &out, sizeof out, QN_FOREVER);
       qn_ring_destroy(ring);

   A launch and a wait for it cost microseconds each time; a kernel that is there already takes a message in the time that memory
   needs. The handler is a function in kernel C that gets a message; the library makes the loop around it. What it may call to
   send, and how to write the whole loop by hand, is in docs/language.md, Rings.

   In a trace ($QUERN_TRACE) each message that the host sends is an event of the sending thread, each that it gets one of the receiving
   thread, and an arrow leads from a message to what answers it, also where rings have sent it on: what is between is the kernels'
   and the way.

   Conventions are those of quern.h. Any thread may send, receive and call; the other calls on one ring are for one thread at a
   time. Sending takes no lock, but with QN_RING_DROP_OLDEST, a `window`, or where it launches a kernel that has parked; who takes
   messages out of the ring, by receiving or for a call, holds a lock of the ring's while it copies them. Deadlines (`timeout_ns`) are from the call on; QN_FOREVER: none. Beside what is listed each function can return
   QN_ERROR_NULL, QN_ERROR_ARGUMENT (no ring) and, from when a ring has failed, the failure (mostly QN_ERROR_KERNEL_FAILED) with its
   sentence; who waits for messages or a reply gets those first that came before it. */
#ifndef QUERN_RING_H
#define QUERN_RING_H

#include <quern/quern.h>
#include <quern/ring_message.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qn_ring qn_ring;

/* Where its kernel is. */
typedef enum qn_ring_mode {
    QN_RING_AUTO,     /* as the device can */
    QN_RING_RESIDENT, /* stays on the device: CUDA, the processor */
    QN_RING_LAUNCHES /* short launches of a recorded graph, each until the queue is empty: devices that cannot keep a kernel. Where host
                        and running kernels see no memory alike (no QN_CAN_SHARE_COHERENTLY: WebGPU, NVIDIA's OpenCL) the messages are
                        copied around each launch, and the next one comes when a call of the program's sees that one has ended */
} qn_ring_mode;

/* What a resident kernel does while there are no messages. */
typedef enum qn_ring_idle {
    QN_RING_ADAPTIVE, /* looks for a while (`spins`), then ends; the next message launches it again */
    QN_RING_CONTINUOUS, /* looks for ever: the shortest way, at the price of a thread of the processor, or of the bus */
    QN_RING_EVENTS /* ends at once */
} qn_ring_idle;

/* What a send does that finds the queue full. */
typedef enum qn_ring_policy {
    QN_RING_BLOCK,  /* waits, up to its deadline */
    QN_RING_REJECT, /* fails at once, with QN_ERROR_TIMEOUT */
    /* A call whose message is dropped ends at once, with QN_ERROR_STATE. Where messages are copied around launches (QN_RING_LAUNCHES), one
       that a launch has with it already may be handled all the same, and is not counted as dropped then. */
    QN_RING_DROP_NEWEST, /* succeeds, and the message is lost and counted */
    QN_RING_DROP_OLDEST /* succeeds, and the oldest message of the same band is; of rings with one work-group */
} qn_ring_policy;

/* Defaults: one work-group of one work-item, 256 messages each way, payloads of 64 bytes, one band, QN_RING_ADAPTIVE,
   QN_RING_BLOCK, as many sends as replies: one a message. Everything is copied or used during the call only, but `state`, which
   the ring keeps a reference to. */
typedef struct qn_ring_desc {
    qn_program_desc
        program; /* text with the handler, or the loop; without `binary` and `sources`; loop_budget: of each call of the handler */
    const char
        *handler; /* void NAME(qn_ring *, local const MESSAGE *), and with `state`: , global STATE *) */
    const char
        *loop; /* instead: the name of a kernel with a loop by hand, kernel void NAME(QN_RING_PARAMETERS) */
    const char *message_type; /* MESSAGE in the text; NULL: void. Its size is checked to be message_size */
    const char *state_type;   /* STATE; NULL: void */
    qn_buffer *state;         /* of the device, at least a STATE; may be NULL. The program may read, write
                                 and map it while the ring is PAUSED or STOPPED, and unmaps it before it goes on */
    /* Bytes of the largest payload in each direction; 0: 64. Over a bus calls are quickest where neither is above 228, or 6,084 with a
       group_size of 32 and more, and not in a network, in batches or with QN_RING_DROP_OLDEST; with a state, blocks or several groups
       they take a fence more. */
    uint32_t message_size, reply_size;
    uint32_t capacity, reply_capacity; /* messages of each queue, rounded up to a power of two, at least 2 */
    uint32_t groups;                   /* work-groups, each of which takes messages by itself; 0: 1 */
    /* work-items of a group, which handle a message together, or each its own (per_item); 0: 1. More are refused on a software driver
       (QN_CAN_EMULATE) */
    uint32_t group_size;
    uint32_t bands; /* 1 to 4: priorities are told apart in as many equal ranges; order is kept within each */
    uint32_t
        sends; /* that the handler makes for a message at most: it gets one when there is room for so many. 0: 1 */
    uint32_t
        spins; /* QN_RING_ADAPTIVE: how often it looks for a message in vain; 0: for some 100 us, on a processor 15 */
    uint32_t budget; /* QN_RING_LAUNCHES: messages that a work-group takes in a launch; 0: 64 */
    qn_ring_mode mode;
    qn_ring_idle idle;
    qn_ring_policy policy; /* of sends by the host */
    const char *label;     /* for messages; copied; may be NULL */
    uint64_t
        handler_ns; /* a handler that takes longer is a failure, seen by whoever waits, and by qn_ring_watch; 0: none is.
                       Without QN_CAN_SHARE_COHERENTLY: a launch that takes a second longer than so much for each of its messages */
    uint32_t
        high_water; /* messages of the host that wait in a band: from so many on QN_RING_HIGH_WATER; 0: never */
    uint32_t low_water; /* and where no band has more than so many, QN_RING_LOW_WATER */
    uint32_t links;     /* rings that the handler sends to (qn_ring_connect); at most 8 */
    uint32_t
        mail_capacity; /* messages of other rings that wait, rounded up to a power of two; 0: it gets none */
    uint32_t
        window; /* qn_ring_send drops a message with the correlation (not 0) of one of the last so many; 0: of none */
    uint32_t blocks,
        block_size; /* memory that messages may refer to (qn_ring_take_block): how many, and bytes of each */
    /* Where messages wait, a work-group takes several at a time, and shows together what answers them, in their order: it is paused
       and stopped between such, and its kernel's end by a failure makes dead letters of all of them (qn_ring_fail: of the one). Their
       handler has no barriers and no collectives (work_group_*, sub_group_*), and makes no more than `sends`. With a `loop`, links, mail,
       blocks or QN_RING_DROP_OLDEST per_item is refused, and read_ahead has no effect.
       per_item: each of the group's work-items handles a message of its own, side by side with the others'; group_size is at most
       capacity, and half of reply_capacity / sends. read_ahead: where the queues are a bus away, other work-items copy up to so
       many (128; as go into 40 KB) for the one that handles them in turn; only one is where groups or group_size are more than 1, and of
       QN_RING_LAUNCHES. */
    uint32_t read_ahead;
    bool per_item;
} qn_ring_desc;

typedef enum qn_ring_state {
    QN_RING_CREATED,
    QN_RING_LAUNCHED, /* on the device, takes no messages yet */
    QN_RING_ACTIVE,
    QN_RING_PAUSED,
    QN_RING_STOPPING,
    QN_RING_STOPPED,
    QN_RING_FAILED
} qn_ring_state;

/* Makes a ring, with its kernel compiled. CUDA's driver loads no code beside a kernel that runs: for the time that takes a ring's
   kernel leaves the device, between two messages, and is launched again behind it; what is sent waits. So programs, kernels and other
   rings can be made beside rings. It is refused (QN_ERROR_STATE) where a handler takes more than 5 seconds without asking
   qn_ring_should_stop, and beside a `loop` with QN_RING_CONTINUOUS, which may count on its never being launched again. Errors: as
   qn_program_create, qn_kernel_create, qn_buffer_create and qn_stream_set_persistent; QN_ERROR_ARGUMENT, QN_ERROR_RANGE (a size), QN_ERROR_UNSUPPORTED (the
   null device; a group_size above 1 on a software driver (QN_CAN_EMULATE); QN_RING_RESIDENT without QN_CAN_PERSIST and QN_CAN_SHARE_COHERENTLY, or where a driver ends long loops),
   QN_ERROR_LAUNCH_SIZE (more work-groups than the device keeps at a time: the message has the numbers). Any thread. */
QN_API qn_status qn_ring_create_for(uint32_t header_version, qn_device *device, const qn_ring_desc *desc,
                                    qn_ring **ring);
static inline qn_status qn_ring_create(qn_device *device, const qn_ring_desc *desc, qn_ring **ring) {
    return qn_ring_create_for(QN_HEADER_VERSION, device, desc, ring);
}

/* From CREATED or STOPPED to LAUNCHED: empties the queues, and returns when all of the kernel is on the device. Messages that are
   sent from now on wait for qn_ring_activate. Errors: QN_ERROR_STATE, QN_ERROR_TIMEOUT (other kernels have the device, say, or on
   CUDA eight rings stay already, its driver's CUDA_DEVICE_MAX_CONNECTIONS: the ring is STOPPING then), and as qn_launch. */
QN_API qn_status qn_ring_launch(qn_ring *ring, uint64_t timeout_ns);
/* From LAUNCHED to ACTIVE. Errors: QN_ERROR_STATE, QN_ERROR_TIMEOUT (the kernel has not begun in that time; it will). */
QN_API qn_status qn_ring_activate(qn_ring *ring, uint64_t timeout_ns);
/* From ACTIVE to PAUSED: returns when no message is being handled. Those that are sent meanwhile wait. Errors: QN_ERROR_STATE,
   QN_ERROR_TIMEOUT (a handler has not ended; the ring is PAUSED, and takes no further message). */
QN_API qn_status qn_ring_pause(qn_ring *ring, uint64_t timeout_ns);
/* From PAUSED to ACTIVE. */
QN_API qn_status qn_ring_resume(qn_ring *ring, uint64_t timeout_ns);

typedef enum qn_ring_stop_how {
    QN_RING_DRAIN, /* when all that was sent is handled */
    QN_RING_DROP /* when what is being handled is; the rest is lost, and a call whose message it was gets QN_ERROR_STATE at once */
} qn_ring_stop_how;
/* Any state but CREATED and FAILED to STOPPED, by way of STOPPING, in which nothing can be sent. What the kernel has sent can
   still be received. Of a STOPPED ring: nothing to do. Errors: QN_ERROR_STATE, QN_ERROR_TIMEOUT (it is STOPPING; call it again,
   or give it up by qn_ring_close). */
QN_API qn_status qn_ring_stop(qn_ring *ring, qn_ring_stop_how how, uint64_t timeout_ns);
/* Destroys the ring (NULL: nothing to do) whatever the status is: what is being handled may end within `timeout_ns`; then as
   qn_stream_close. No other call on the ring may be under way. A context that is closed ends its rings so, each within a second (ten without QN_CAN_CANCEL): all
   calls on them fail then (QN_ERROR_STATE) but this one, which frees what is left of one, by the context's allocator. */
QN_API qn_status qn_ring_close(qn_ring *ring, uint64_t timeout_ns);
/* qn_ring_close with a second. */
QN_API void qn_ring_destroy(qn_ring *ring);

/* Looks whether the ring has failed, and launches one that has parked with messages left, as every call does that waits for long; for
   programs that do not wait, by a timer: QN_OK, or the failure. A ring fails when its kernel does (QN_ERROR_KERNEL_FAILED, QN_ERROR_DEVICE_LOST), when that of a safe program has
   accessed what is outside, when its handler says so (qn_ring_fail), when it is over its time (handler_ns), when its kernel has ended by itself (a `loop`), and when it stands still: for 30 seconds a
   message has waited, none was being handled, and the kernel's heartbeat in the memory that both see has not moved (QN_RING_RESIDENT; a
   kernel that has parked, or waits for the device, is none of these). The sentence names the message. The kernel is then told to
   end, and cancelled where the device can. Any thread. */
QN_API qn_status qn_ring_watch(qn_ring *ring);
/* Keeps a copy of the ring's state, from between two messages, for qn_ring_restart: pauses the ring meanwhile if it is ACTIVE.
   Errors: QN_ERROR_STATE (no state, or CREATED, STOPPING or FAILED), QN_ERROR_TIMEOUT, and as qn_stream_copy. */
QN_API qn_status qn_ring_checkpoint(qn_ring *ring, uint64_t timeout_ns);
/* From FAILED to LAUNCHED: with its state from the last checkpoint, if there is one, and with the messages that had not been taken.
   Those that were being handled become dead letters. Replies that were on the way can still be received. Errors: QN_ERROR_STATE,
   QN_ERROR_TIMEOUT (the kernel has not ended, as one that a GPU's driver cannot stop; it is still FAILED),
   QN_ERROR_DEVICE_LOST. */
QN_API qn_status qn_ring_restart(qn_ring *ring, uint64_t timeout_ns);
/* Defaults: 3 restarts in a minute, the first after 10 ms; no checkpoints. */
typedef struct qn_ring_supervision {
    uint32_t restarts;   /* at most 16, within ... */
    uint64_t within_ns;  /* ... so long: at one more the ring stays FAILED */
    uint64_t backoff_ns; /* before the first of them; each other one waits twice as long */
    uint64_t
        checkpoint_ns; /* a qn_ring_checkpoint so often, while the ring is ACTIVE; 0: the program's own alone */
} qn_ring_supervision;
/* Has a ring that is CREATED restarted and activated when it fails, by a thread of its own, until it is stopped. Who sends or waits meanwhile goes on to;
   a qn_ring_call or callback whose message becomes a dead letter gets QN_ERROR_KERNEL_FAILED at once. When there were too many
   restarts all get the failure; qn_ring_restart and qn_ring_launch begin anew. NULL: with the defaults. The other calls on the ring
   may be made beside it. Errors: QN_ERROR_STATE (not CREATED; checkpoints without a state), QN_ERROR_RANGE (restarts),
   QN_ERROR_OUT_OF_MEMORY. */
QN_API qn_status qn_ring_supervise(qn_ring *ring, const qn_ring_supervision *supervision);
/* Gets the oldest message that was being handled in a failure; from qn_ring_restart on, since the kernel that failed may be at it until
   then. Errors: QN_ERROR_STATE (there is none), QN_ERROR_RANGE (as
   qn_ring_receive). */
QN_API qn_status qn_ring_dead_letter(qn_ring *ring, qn_ring_message *message, void *payload, size_t size);

/* Sends a message of `size` bytes. Where the ring has to be launched for it and cannot be now (its state is mapped), the message
   waits, and whoever receives is told. `message` may be NULL; else its priority, type, correlation and deadline are sent, and its id,
   time, clock (later than what is there) and size filled in; its id is 0 where it was dropped as a duplicate. Errors: QN_ERROR_STATE (not LAUNCHED, ACTIVE or PAUSED), QN_ERROR_RANGE (size, priority),
   QN_ERROR_TIMEOUT (no room all that time, or its deadline is past). */
QN_API qn_status qn_ring_send(qn_ring *ring, qn_ring_message *message, const void *payload, size_t size,
                              uint64_t timeout_ns);
/* Messages of one size, type and priority, that are sent together: cheaper than one by one. */
typedef struct qn_ring_batch {
    const void *payloads; /* `count` of them */
    size_t size, stride;  /* bytes of each, and from one to the next */
    uint32_t count, priority, type;
} qn_ring_batch;
/* Sends them in order, with ids that follow each other. *sent (may be NULL) says how many were, also after an error, which are
   those of qn_ring_send. */
QN_API qn_status qn_ring_send_batch(qn_ring *ring, const qn_ring_batch *batch, uint32_t *sent,
                                    uint64_t timeout_ns);

/* Gets what the kernel has sent, in the order of sending of each work-group, but replies to qn_ring_call. `message` may be NULL;
   its size says how much of the `size` bytes at `payload` was written. Errors: QN_ERROR_TIMEOUT (nothing came), QN_ERROR_RANGE
   (the payload is larger than `size`; it stays), QN_ERROR_STATE (nothing is there, and nothing will come: CREATED or STOPPED). */
QN_API qn_status qn_ring_receive(qn_ring *ring, qn_ring_message *message, void *payload, size_t size,
                                 uint64_t timeout_ns);
/* Waits for a message and gets those that are there, up to `count`: their payloads `stride` bytes apart at `payloads`, each of at
   most `stride` bytes, and what comes with them at `messages` (may be NULL). *received: how many. Errors: as qn_ring_receive; a
   message whose payload is too large ends the batch, and is an error where it is the first. */
QN_API qn_status qn_ring_receive_batch(qn_ring *ring, qn_ring_message *messages, void *payloads,
                                       size_t stride, uint32_t count, uint32_t *received,
                                       uint64_t timeout_ns);
/* Sends a message and waits for its reply. Errors: as qn_ring_send and qn_ring_receive; after QN_ERROR_TIMEOUT a reply that comes
   late is dropped. */
QN_API qn_status qn_ring_call(qn_ring *ring, const void *payload, size_t size, void *reply, size_t reply_size,
                              uint64_t timeout_ns);

/* ---- messages that refer to memory ---- */

/* A ring may have blocks (desc.blocks), which are memory that host and kernel see: large data that is not copied with a message. A
   block is taken, filled, sent with any number of messages, and freed; it can be taken again when the program has freed it and the
   last handler of a message with it is back. A handler gets it by qn_ring_block(ring), and may give it to the host with its answer by
   qn_ring_reply_block: it is the program's then, to be freed once more for each such message that was received (a qn_ring_call does not
   give it). A dead letter's block is the program's in the same way. Not for rings that drop messages. Any thread. */

/* A free block is the program's. Errors: QN_ERROR_OUT_OF_MEMORY (none is free), QN_ERROR_RANGE (the ring has none). */
QN_API qn_status qn_ring_take_block(qn_ring *ring, uint32_t *block, void **bytes);
/* As qn_ring_send, with a block that the program has, and keeps until it frees it. Errors: QN_ERROR_STATE also where it has not. */
QN_API qn_status qn_ring_send_block(qn_ring *ring, qn_ring_message *message, const void *payload, size_t size,
                                    uint32_t block, uint64_t timeout_ns);
/* The block that a message refers to that was received, or a dead letter. Errors: QN_ERROR_STATE (none). */
QN_API qn_status qn_ring_get_block(qn_ring *ring, const qn_ring_message *message, uint32_t *block,
                                   void **bytes);
/* The program is done with it, once. Errors: QN_ERROR_STATE (it has it not), QN_ERROR_RANGE. */
QN_API qn_status qn_ring_free_block(qn_ring *ring, uint32_t block);

/* ---- rings that send to each other ---- */

/* Handlers of `from` send to `to` by qn_ring_forward(ring, link, ...). */
typedef struct qn_ring_link {
    qn_ring *from;
    uint32_t link; /* of `from`, below its desc.links */
    qn_ring *to;   /* with a desc.mail_capacity, or on another device; may be `from` */
} qn_ring_link;
/* Makes a network of rings of one context, which are in no other yet and have not been launched: pipelines, fans, circles. Rings of one
   device send to each other in its memory, without the host; to one of another device the host sends on what comes (by a
   thread of the sender's), which counts as one of its `sends`. A handler gets a message when each of its links has room for `sends`: so a
   full ring holds up those before it, and in a circle the mail has to have room for all that goes round. A ring that has parked is
   launched for its mail by whoever waits for, sends to or watches a ring of the network. Close the senders first: what a closed ring has
   in its mail stays, until it is full. Errors: QN_ERROR_STATE, QN_ERROR_RANGE (link), QN_ERROR_ARGUMENT (a link twice; no
   mail_capacity; another context), as qn_buffer_create. */
QN_API qn_status qn_ring_connect(const qn_ring_link *links, size_t count);
/* Whether the ring at a link gets what is published to a topic (0 to 15; qn_ring_publish in kernels); at first none does. Any state; any
   thread, one at a time for a ring. Errors: QN_ERROR_RANGE (topic, link). */
QN_API qn_status qn_ring_subscribe(qn_ring *ring, uint32_t topic, uint32_t link, bool subscribed);

/* ---- without waiting ---- */

/* The reply to a qn_ring_call_async, or why there is none: `status` is QN_OK, or QN_ERROR_TIMEOUT, QN_ERROR_STATE (the ring has
   stopped or is closed), or that of a ring that has failed; `reply` and `payload` are NULL then, else the callee's until it
   returns. On a thread of the ring's, one call after another, in the order in which the replies come. It may send and call by
   qn_ring_call_async; it must not wait for the ring, nor close it. */
typedef void (*qn_ring_callback)(void *user, qn_status status, const qn_ring_message *reply,
                                 const void *payload);
/* Sends a message, and calls `callback` once: with its reply, or when there will be none. The queue is not waited for: where it is
   full, QN_ERROR_TIMEOUT under QN_RING_BLOCK, too. After an error there is no callback. The first such call of a ring starts its
   thread, which looks for replies as a call does, and sleeps while none is due. Errors: as qn_ring_send. */
QN_API qn_status qn_ring_call_async(qn_ring *ring, const void *payload, size_t size,
                                    qn_ring_callback callback, void *user, uint64_t timeout_ns);

/* What has happened, for loops that wait for many things. */
enum {
    QN_RING_RECEIVABLE = 1, /* qn_ring_receive has something to give */
    QN_RING_HIGH_WATER = 2, /* a band has got desc.high_water messages that wait */
    QN_RING_LOW_WATER = 4,  /* after that, none has more than desc.low_water */
    QN_RING_HAS_FAILED = 8  /* qn_ring_watch says why */
};
/* A file descriptor (an eventfd) that is readable from when something has happened until qn_ring_take_events; the ring's, which
   closes it. The first such call starts the ring's thread, which from then on looks for messages all the time, in the end every
   millisecond. Errors: QN_ERROR_UNSUPPORTED (other systems than Linux), QN_ERROR_OUT_OF_MEMORY (no descriptor or thread). */
QN_API qn_status qn_ring_event_fd(qn_ring *ring, int *fd);
/* What has happened since the last such call. Receive then until there is QN_ERROR_TIMEOUT: QN_RING_RECEIVABLE comes again for what
   comes later, or was left. Any thread. */
QN_API qn_status qn_ring_take_events(qn_ring *ring, uint32_t *events);
/* How many messages of a priority can be sent now without waiting; others may do so meanwhile. Any thread. */
QN_API qn_status qn_ring_get_credits(qn_ring *ring, uint32_t priority, uint32_t *credits);

typedef struct qn_ring_info {
    const char *label;
    qn_ring_state state;
    qn_ring_mode mode;  /* never QN_RING_AUTO */
    const char *reason; /* why the mode is QN_RING_LAUNCHES, as a sentence; else NULL */
    uint32_t groups, group_size, capacity, reply_capacity, message_size, reply_size, bands;
    uint64_t resident_groups; /* how many work-groups the device can keep; 0: not known */
    uint32_t links, mail_capacity;
} qn_ring_info;
QN_API qn_status qn_ring_get_info(const qn_ring *ring, qn_ring_info *info);

/* ---- telemetry ---- */

enum { QN_RING_BUCKETS = 40, QN_RING_MOST_BANDS = 4 };

/* From sending a message to when the host gets its reply. */
typedef struct qn_ring_latency {
    uint64_t count, min_ns, mean_ns, max_ns;
    uint64_t p50_ns, p99_ns, p999_ns; /* to a sixteenth */
    uint64_t histogram
        [QN_RING_BUCKETS]; /* replies that took 2^i ns and more, below 2^(i + 1); the last: and longer */
} qn_ring_latency;

typedef struct qn_ring_band_stats {
    uint64_t sent, dropped;
    uint32_t depth, peak;
} qn_ring_band_stats;

/* What happened since the ring was made, but where it says otherwise. */
typedef struct qn_ring_stats {
    uint64_t sent, handled; /* messages of the host; those whose handler has returned */
    uint64_t replied,
        received;     /* messages of the kernel; those that the host has got, calls' replies among them */
    uint64_t dropped; /* messages of the host, by its policy */
    uint64_t lost;    /* messages of the kernel, for which there was no room */
    uint64_t late;    /* replies to calls that had given up */
    uint64_t errors;
    qn_status last_error;
    char last_error_text[256];
    uint64_t launches;           /* of the kernel: one, but where it parks or is of short launches */
    uint32_t depth, reply_depth; /* messages that wait now, in either direction */
    uint32_t peak;               /* the most that have waited, of one band */
    uint64_t uptime_ns;          /* since the last qn_ring_launch */
    uint64_t per_second;         /* messages handled since then, per second */
    qn_ring_latency latency;
    uint32_t num_bands;
    qn_ring_band_stats bands[QN_RING_MOST_BANDS]; /* of the host's messages, the lowest priority first */
    uint64_t forwarded,
        mailed; /* messages to other rings, by the host's hand or not; of other rings, taken from the mail */
    uint32_t mail_depth; /* those that wait there */
    uint64_t duplicates; /* messages of the host that were dropped as such (desc.window) */
    uint64_t restarts;   /* by qn_ring_supervise */
    uint64_t dead;       /* messages that have become dead letters */
} qn_ring_stats;
/* Any thread. */
QN_API qn_status qn_ring_get_stats(qn_ring *ring, qn_ring_stats *stats);

/* What is known of the GPU that a ring is on, as bits. */
enum {
    QN_RING_GPU_MEMORY = 1,
    QN_RING_GPU_UTILIZATION = 2,
    QN_RING_GPU_TEMPERATURE = 4,
    QN_RING_GPU_POWER = 8
};
typedef struct qn_ring_gpu {
    uint32_t known;                     /* QN_RING_GPU_* */
    uint64_t memory_used, memory_total; /* bytes, of all that use it */
    uint32_t utilization,
        memory_utilization; /* percent of the last second or so in which it, or its memory, was busy */
    uint32_t temperature;   /* degrees Celsius */
    uint32_t power_mw;      /* milliwatts */
} qn_ring_gpu;
/* By NVIDIA's management library (NVML), which is opened at the first such call. Takes up to milliseconds. Errors:
   QN_ERROR_UNSUPPORTED (there is no such library, or it does not know the device). Any thread. */
QN_API qn_status qn_ring_get_gpu(qn_ring *ring, qn_ring_gpu *gpu);

typedef enum qn_ring_format { QN_RING_JSON, QN_RING_PROMETHEUS } qn_ring_format;
/* The same as a text, with what qn_ring_get_gpu tells: one JSON object, or metrics as Prometheus reads them. *needed (may be NULL): bytes of it with the zero at its
   end. Errors: QN_ERROR_RANGE (it is cut), QN_ERROR_ARGUMENT (format). Any thread. */
QN_API qn_status qn_ring_format_stats(qn_ring *ring, qn_ring_format format, char *text, size_t size,
                                      size_t *needed);

/* Has the ring's thread write that JSON to a file in `folder` (made if it is not there) four times a second, for `quern rings` and
   others: PROCESS-NUMBER.json, written beside and renamed, and removed by qn_ring_close. Where $QUERN_RINGS names a folder each ring does so
   from qn_ring_create on, but in processes with more rights than their user. Errors: QN_ERROR_STATE (it does already), QN_ERROR_RANGE (the name's
   length), QN_ERROR_UNSUPPORTED (Windows), QN_ERROR_OUT_OF_MEMORY. */
QN_API qn_status qn_ring_report(qn_ring *ring, const char *folder);

#ifdef __cplusplus
}
#endif

#endif
