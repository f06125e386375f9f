/* The objects behind the API, and what the files of this room share. Every object starts with a qn__object:
   its kind (so that a wrong or destroyed pointer is an error, not a crash), its reference count and its place
   in the context's list of live objects. Memory of object structs is only reused for objects of the same
   kind, and late, so that looking at a destroyed handle is safe for as long as the context lives. Locks:
   device->use_lock, stream->lock (submission), host_lock, context->lock (lists), in this order; never held while a
   backend waits. */
#ifndef QN__RUNTIME_H
#define QN__RUNTIME_H

#include <pthread.h>
#include <stdatomic.h>

#include "compile.h"
#include "runtime/backend.h"
#include "runtime/hold.h"
#include "runtime/intervals.h"
#include "runtime/structs.h"

typedef enum qn__object_kind {
    QN__OBJECT_DEVICE,
    QN__OBJECT_BUFFER,
    QN__OBJECT_PROGRAM,
    QN__OBJECT_KERNEL,
    QN__OBJECT_STREAM,
    QN__OBJECT_EVENT,
    QN__OBJECT_GRAPH,
    QN__OBJECT_REPLAY, /* the library's own, as the next one */
    QN__OBJECT_EDITION,
    QN__OBJECT_POOL,
    QN__OBJECT_HOST,    /* pinned host memory; users have its address only */
    QN__OBJECT_CONTEXT, /* in no list of a context */
    QN__OBJECT_KINDS
} qn__object_kind;

typedef struct qn__object qn__object;
struct qn__object {
    uint32_t magic; /* QN__MAGIC + kind while alive */
    atomic_bool destroyed;
    atomic_uint references;
    qn_context *context;
    qn__object *next, *prev; /* live list, or the list of freed structs */
};

#define QN__MAGIC 0x514E0100u

typedef struct qn__object_list {
    qn__object *first;
    qn__object *freed_first, *freed_last; /* oldest first */
    size_t num_freed;
} qn__object_list;

typedef struct qn__message qn__message;
typedef struct qn__trace qn__trace; /* trace.h */
typedef struct qn__lane qn__lane;   /* a stream's part of it */

typedef struct qn__notice qn__notice;

/* The thread that tells what is done (notify.c), and what it waits for. */
typedef struct qn__notifier {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    qn__notice *first, **last; /* in the order in which they came */
    uint64_t round;            /* how often its thread has looked */
    bool started, stop;
} qn__notifier;
typedef struct qn__host qn__host;

enum {
#define BACKEND(name, doc) QN__BACKEND_##name,
#include "runtime/backends.def"
    QN__NUM_BACKENDS
};

typedef struct qn__backend_slot {
    const qn_backend *backend;
    qn__driver *driver;
    uint32_t num_devices, num_made;
    qn_device **devices;
    bool opened; /* looked for, found or not */
    char why[QN__WHY];
} qn__backend_slot;

struct qn_context {
    qn__object object; /* its context is itself */
    uint32_t header;   /* QN_HEADER_VERSION of the program: structs that it hands over are that version's */
    qn__allocator allocator;
    qn_context_desc desc;
    qn_log_callback *log; /* desc's, or of $QUERN_LOG; NULL: nobody listens */
    void *log_user;
    qn_log_level log_level;
    _Atomic(qn__trace *) trace; /* NULL: there was none yet; what is made stays */
    atomic_bool observed;       /* what is submitted is: a trace is written, or a history kept */
    char *cache_dir, *cpu_compiler;
    qn__services services;
    qn__arena_store store; /* memory that compiles hand on to the next */
    pthread_mutex_t lock;
    pthread_mutex_t message_lock;
    qn__message *messages; /* of all threads; guarded by message_lock */
    qn__object_list objects[QN__OBJECT_CONTEXT];
    pthread_mutex_t open_lock;
    qn__backend_slot slots[QN__NUM_BACKENDS]; /* guarded by open_lock until opened */
    atomic_bool opened;                       /* all slots: the list below is made */
    qn_device **devices;                      /* in order of preference */
    uint32_t num_devices;
    atomic_uint_fast64_t cache_hits, cache_misses;
    atomic_bool cache_refused; /* a warning has told why */
    qn__notifier notifier;
    qn__courier courier;
    struct qn__farewell *farewells; /* guarded by lock (leave.c) */
};

typedef struct qn__move_count {
    atomic_uint_fast64_t count, bytes;
} qn__move_count;

struct qn_device {
    qn__object object;
    const qn_backend *backend;
    qn__driver *driver;
    uint32_t index; /* in the backend */
    char name[32];
    qn__identity identity;
    qn__gpu *gpu; /* NULL until first used; guarded by lock */
    pthread_mutex_t lock;
    atomic_bool ready;
    qn_device_info info;
    qn__target target; /* what kernels are compiled for */
    qn_stream *stream; /* the default stream */
    atomic_uint safe_programs;
    bool replaced;                       /* it stands for what was made before a loss (reopen.c) */
    bool left;                           /* by a context that is closed, with a stream that is not done */
    qn__queue *crossing;                 /* the courier's, or NULL (crossing.c) */
    pthread_mutex_t use_lock;            /* guards state, maps and users of all its buffers */
    qn__move_count moves[QN_MOVE_COUNT]; /* of all its buffers */
    atomic_uint_fast64_t used, peak, buffers, host, host_peak, pinned, pinned_peak;
    atomic_uint_fast64_t kept; /* by pools */
    pthread_mutex_t host_lock; /* of what follows */
    qn__host **hosts;          /* pinned host memory that is not freed, by address */
    size_t num_hosts, cap_hosts;
};

typedef struct qn__block qn__block;

struct qn_memory_pool {
    qn__object object;
    qn_device *device;
    char *label;
    uint64_t limit, host_limit, keep;
    pthread_mutex_t lock; /* of what follows; nothing else is taken while it is held */
    qn__block *free;      /* newest first */
    uint64_t free_blocks, free_bytes, buffers, used, peak, taken, taken_peak, host, host_peak, pinned,
        pinned_peak, made, reused, refused;
};

/* Of a unified buffer (unified.c): its copies, each a root that no handle names. */
typedef struct qn__unified {
    pthread_mutex_t lock;
    qn_buffer *copies;
} qn__unified;

struct qn_buffer {
    qn__object object;
    qn_device *device;
    qn_buffer *parent; /* of a view; holds a reference */
    uint64_t offset;   /* of a view in its root */
    uint64_t size;
    char *label;
    /* root buffers only */
    qn_memory kind;
    bool imported; /* `shared` is the caller's memory */
    bool read_only;
    bool external;        /* the memory is of the backend's external_create or external_import */
    uint32_t exportable;  /* qn_handle_kind bits */
    uint32_t import;      /* what it was imported by, or 0 */
    qn_memory_pool *pool; /* a reference, or NULL */
    uint64_t block_size;  /* of the pool's block */
    qn__memory *memory;
    uint64_t address;
    void *shared;        /* host pointer where memory is shared */
    unsigned char *view; /* host copy otherwise, made by the first map */
    qn_buffer_state state;
    uint32_t maps, write_maps;
    bool view_pinned; /* the view is of the backend's host_create */
    bool view_lazy;   /* it is ordinary memory as only parts were mapped */
    /* Of the view: what is as new as on the device or newer, unless `state` says DEVICE; what of that is newer; and what maps
       for writing reach, up to the last unmap. */
    qn__intervals fresh, changed, written;
    bool fetch_runs;        /* a copy to the view may run that no map has waited for */
    qn_stream *last_stream; /* who used it last, and up to which command; not a reference: compared only */
    uint64_t last_number;
    bool many_streams; /* used by more than one stream since the last wait */
    /* The hidden copy from or to the view, while it may still run: other streams wait for it on the device. */
    qn_stream *sent_stream; /* not a reference; a stream that ends has done the copy */
    uint64_t sent_number;
    const qn_stream *sent_seen; /* the last other stream that waits already: compared only */
    qn__mark *sent_mark;
    uint64_t sent_version;
    bool is_beside;          /* a persistent stream may write it at any time */
    uint32_t crossings;      /* copies between devices that use it; guarded by the courier's lock */
    qn__peer_use *peer_uses; /* streams of other devices that do; the same */
    qn__move_count moves[QN_MOVE_COUNT];
    qn__unified *unified; /* of a unified one, which has no memory itself but the view */
    qn_buffer *copy_of;   /* of a copy: that one, which owns it */
    qn_buffer *next_copy;
    bool in_view;                /* a copy's memory is the view */
    const qn_stream *crossed_on; /* the stream that last got it from another device: compared only */
};

/* A buffer that a command uses. */
typedef struct qn__use {
    qn_buffer *buffer; /* what has to live as long as the command */
    bool writes;
    qn_buffer *root; /* what has the memory: of a unified buffer the device's copy */
    bool overwrites; /* writes all of the root, whatever is there */
} qn__use;

struct qn_program {
    qn__object object;
    qn_device *device;
    qn__compile_result *result;      /* NULL when it came from the cache */
    qn__compile_result *interpreted; /* what get_module of the backend's interface has made, or NULL */
    void *memory;                    /* the cache entry that the description points into, or NULL */
    qn__arena arena;                 /* of what was made of it */
    qn__code_info info;              /* a result's, or made of the entry */
    qn_buffer *state;                /* its variables in global memory; NULL: it has none */
    qn_buffer *faults;               /* of a safe program: qn__faults, else NULL */
    atomic_bool may_have_faults;     /* launched since they were looked at */
    _Atomic(const void *) apart;     /* the persistent stream of its newest launch, to compare; else NULL */
    const char *log;
    qn__code *code;
    struct qn__late_entry *late; /* the cache entry to write once the code is there, or NULL */
    qn_program_times times;      /* guarded by the context's lock once the program is made */
};

struct qn_kernel {
    qn__object object;
    qn_program *program;
    uint32_t index;
    const qn__kernel_info *info;
};

/* Pinned host memory: what qn_host_alloc gave. */
struct qn__host {
    qn__object object;
    qn_device *device;
    qn_memory_pool *pool; /* a reference, or NULL */
    unsigned char *begin;
    uint64_t size;
    unsigned char *base; /* as allocated; NULL: it is of the backend's host_create */
};

/* An object that a submitted command uses, until the command is done. */
typedef struct qn__in_flight {
    uint64_t number;
    qn__object *object;
} qn__in_flight;

struct qn_stream {
    qn__object object;
    qn_device *device;
    qn__queue *queue;
    pthread_mutex_t lock;
    uint64_t submitted;       /* number of the last command */
    qn__in_flight *in_flight; /* ring; cap is a power of two */
    size_t first, count, cap;
    size_t reap_at;      /* so many in flight: time to ask the driver what is done, which costs */
    qn_graph *recording; /* between qn_graph_begin and end */
    qn__lane *lane;      /* of the trace; made with the first command that is traced */
    qn__use *lent;       /* between qn_stream_native_begin and end: the buffers, with references; else NULL */
    size_t num_lent;
    qn__hold hold;
    uint64_t looked_at, looked_completed; /* the notifier's round, and what was completed in it */
    atomic_bool persistent;               /* may never be done */
    atomic_bool left;                  /* its user has given it up, and the handle's reference is its own */
    atomic_uint_fast64_t cancelled_ns; /* when it was last cancelled; 0: never */
};

struct qn_event {
    qn__object object;
    qn_device *device;
    qn__mark *mark;
    atomic_uint_fast64_t version; /* times recorded */
    atomic_bool has_fd;           /* qn_event_fd was asked for it */
    int fd;
    uint64_t awaited; /* the recording that it tells of; guarded by the notifier's lock */
};

/* A recorded command and what it uses, with references. */
typedef struct qn__graph_step {
    qn__command *command;
    qn__use *uses;
    uint32_t num_uses;
    qn__object *object; /* a launch's kernel, an event, pinned host memory, or NULL */
} qn__graph_step;

/* What the backend has made of commands; ends with the last edition that has it. */
struct qn__graph_replay {
    qn__object object;
    qn_device *device;
    qn__replay *replay;
    atomic_uint held; /* launches of it that are held by their streams: it must stay as it is */
    size_t count;     /* of its commands */
};

/* A part of a graph: commands between two events, or an event. */
typedef struct qn__graph_part {
    size_t first, count;      /* of its steps */
    qn__graph_replay *replay; /* a reference; NULL: there is nothing to do, or it is not made */
    qn_event *event;          /* or NULL */
} qn__graph_part;

/* A graph as it is between two updates: made by the first launch behind one, and kept by its launches, so that what an
   update takes away lasts as long as they run. */
typedef struct qn__graph_edition {
    qn__object object;
    qn__graph_part *parts;
    size_t num_parts;
    qn__object **used; /* references */
    size_t num_used;
    qn__use *uses; /* its buffers, each once */
    size_t num_uses;
} qn__graph_edition;

struct qn_graph {
    qn__object object;
    qn_device *device;
    qn__graph_step *steps;
    size_t num_steps, cap_steps;
    uint32_t num_launches; /* of the steps */
    qn__use *sources; /* of its copies, in order; not of the edition: they change from launch to launch */
    size_t num_sources;
    pthread_mutex_t lock; /* of all below, and of the steps once it is recorded */
    qn__graph_part *parts;
    size_t num_parts;
    qn__graph_edition *edition; /* a reference; NULL: to be made */
};

/* error.c: sets the calling thread's message and returns the status. context NULL: the call had none to tell. */
qn_status qn__fail(qn_context *context, qn_status status, const char *format, ...) QN__PRINTF(3, 4);
qn_status qn__fail_text(qn_context *context, qn_status status, const char *text); /* text of any length */
/* Objects of two contexts, or of one, are mixed: whichever of them the caller asks has the message. */
qn_status qn__fail_both(qn_context *a, qn_context *b, qn_status status, const char *format, ...)
    QN__PRINTF(4, 5);
qn_status qn__fail_null(qn_context *context, const char *function, const char *argument);
qn_status qn__fail_memory(qn_context *context, size_t size);
const char *qn__reason(const char *why, qn_status status); /* `why`, or the status's text where it is empty */
void qn__messages_free(qn_context *context);

/* log.c */
void qn__log_init(qn_context *context); /* once desc is set */
void qn__log(qn_context *context, qn_log_level level, const char *format, ...) QN__PRINTF(3, 4);
static inline bool qn__logs(const qn_context *context, qn_log_level level) {
    return context->log && level <= context->log_level;
}
enum { QN__RANGE_TEXT = 256 };
void qn__range_print(const qn__command *launch, char *out, size_t size); /* "global 900x600, local 32x8" */

/* object.c */
void *qn__object_new(qn_context *context, qn__object_kind kind); /* one reference; NULL: out of memory */
void qn__retain(qn__object *object);
bool qn__try_retain(qn__object *object); /* false when the last reference is already gone */
void qn__drop(qn__object *object);       /* gives a reference back; finalises at the last */
/* Once, then nothing. */
void qn__object_destroy(qn__object *object, qn__object_kind kind);
/* For qn_*_destroy, which may be given NULL: the same, and the message for another kind of object, or a second time. */
void qn__handle_destroy(void *pointer, qn__object_kind kind, const char *function, const char *argument);
/* QN_OK if `object` is a live handle of that kind; else sets the message: "qn_launch: kernel is NULL". */
qn_status qn__check(const void *object, qn__object_kind kind, const char *function, const char *argument);
/* The same, with a message also where `object` is NULL or no object at all, if `other` is one. */
qn_status qn__check_beside(const void *other, const void *object, qn__object_kind kind, const char *function,
                           const char *argument);
/* For calls whose only object is a stream: NULL names none. */
qn_status qn__check_stream(const qn_stream *stream, const char *function);
void qn__objects_free(qn_context *context);
void qn__objects_leave(qn_context *context); /* those of devices with a stream that was left stay */
/* What the last reference does, by kind; does not free the struct. */
void qn__buffer_finalise(qn_buffer *buffer);
void qn__program_finalise(qn_program *program);
void qn__kernel_finalise(qn_kernel *kernel);
void qn__stream_finalise(qn_stream *stream);
void qn__event_finalise(qn_event *event);
void qn__graph_finalise(qn_graph *graph);
void qn__graph_replay_finalise(qn__graph_replay *replay);
void qn__graph_edition_finalise(qn__graph_edition *edition);
void qn__host_finalise(qn__host *host);
void qn__pool_finalise(qn_memory_pool *pool);
void qn__device_finalise(qn_device *device);

/* device.c */
void qn__device_init(qn_device *device); /* its locks */
/* How many products of matrix fragments the target has; matrix.c. */
uint32_t qn__matrix_shapes(const qn__target *target);
bool qn__checks_all(void);                     /* $QUERN_CHECK=1 */
qn_status qn__device_ready(qn_device *device); /* opens the device, once */
void qn__drivers_close(qn_context *context);   /* after all objects are gone */

/* Whether the driver orders and copies between the two by itself. */
static inline bool qn__are_peers(const qn_device *a, const qn_device *b) {
    return a->backend == b->backend && a->backend->peers;
}

/* stream.c: lock held between begin and end. A NULL stream is the device's default. */
qn_stream *qn__stream_of(qn_stream *stream, qn_device *device);
/* What it uses is kept until it is done: buffers, and `object` (or NULL). *number is the command's in the stream. */
qn_status qn__stream_submit(qn_stream *stream, const qn__command *command, const qn__use *uses,
                            size_t num_uses, qn__object *object, uint64_t *number);
/* The same, also while the stream records a graph: for what has to do with the buffer, not with the stream. */
qn_status qn__stream_submit_now(qn_stream *stream, const qn__command *command, qn__object *used,
                                uint64_t *number);
/* For the trace, within a submission, whose lock is held: a RECORD that keeps nothing alive. */
qn_status qn__stream_put(qn_stream *stream, const qn__command *command);
/* A wait for a mark of another device, and a copy from or to one; the crossing is the stream's then, unless it fails. */
qn_status qn__stream_submit_wait(qn_stream *stream, const qn__command *command, qn_device *of,
                                 qn__object *object, uint64_t *number);
qn_status qn__stream_submit_crossing(qn_stream *stream, qn__crossing *crossing, uint64_t *number);
/* A copy between roots or views of two devices, one of which is the stream's; all is checked. */
qn_status qn__stream_cross(qn_stream *stream, qn_buffer *from, uint64_t from_offset, qn_buffer *to,
                           uint64_t to_offset, uint64_t size, uint64_t *number);
/* The stream's queue is quern's again: a command stands behind what was submitted to it meanwhile. */
qn_status qn__stream_take_back(qn_stream *stream, uint64_t *number);
/* All parts of it, with nothing of other threads between them. */
/* sources: what its copies read, which is not of the edition. */
qn_status qn__stream_submit_edition(qn_stream *stream, qn__graph_edition *edition, const qn__use *sources,
                                    size_t num_sources, uint64_t *number);
/* Objects that only finished work still holds are let go, on all streams of the device; `wait`: all of them. */
void qn__device_reap(qn_device *device, bool wait);
/* qn_stream_write; `data_stays` until the caller has waited, so that no copy of it is needed. */
qn_status qn__stream_write(qn_stream *stream, qn_buffer *buffer, uint64_t offset, const void *data,
                           uint64_t size, bool data_stays);
qn_status qn__stream_new(qn_device *device, qn_stream **stream);
qn_status qn__stream_wait_number(qn_stream *stream, uint64_t number, uint64_t timeout_ns);
/* QN_ERROR_TIMEOUT with a message: what was not done in that time, and the kernels that are unfinished on the device's
   streams, on `first` (or NULL) first. */
qn_status qn__timed_out(qn_device *device, qn_stream *first, const char *what, uint64_t timeout_ns);
/* Only the message; `text` has room for QN__WHY bytes. */
void qn__describe_timeout(qn_device *device, qn_stream *first, const char *what, uint64_t timeout_ns,
                          char *text);
uint64_t qn__stream_last(qn_stream *stream);      /* number of its last command */
uint64_t qn__stream_completed(qn_stream *stream); /* number of the last that is done */
void qn__stream_reap(qn_stream *stream, bool all);
/* The next stream of the device behind `after` (NULL: the first), with a reference; that of `after`, which has
   kept its place in the list, is given back. */
qn_stream *qn__next_stream(qn_device *device, qn_stream *after);
/* Nothing waits for it but a wait that names it. */
static inline bool qn__stream_is_apart(const qn_stream *stream) {
    return atomic_load(&((qn_stream *)stream)->persistent) || atomic_load(&((qn_stream *)stream)->left);
}

/* reopen.c: objects of two devices are mixed: QN_ERROR_WRONG_CONTEXT with the message, whose %s is the function; or
   QN_ERROR_DEVICE_LOST, where one was made before a loss. */
qn_status qn__other_device(const qn_device *a, const qn_device *b, const char *format, const char *function);

/* leave.c: streams that were left, and are done after all, go. */
void qn__left_collect(qn_device *device);

/* faults.c: of a safe program; what those of the device have noted that a wait for the stream is to tell, once:
   QN_ERROR_KERNEL_FAILED with the first; a persistent stream ends, and any wait may tell what was its own. */
qn_status qn__faults_create(qn_program *program);
void qn__faults_destroy(qn_program *program);
qn_status qn__faults_report(const qn_stream *stream);
void qn__faults_leave(const qn_stream *stream);

/* context.c: the end of one whose work is done; and of one that has left a stream: what that can reach stays. */
void qn__context_free(qn_context *context);
void qn__context_leave(qn_context *context);

/* buffer.c */
static inline qn_buffer *qn__buffer_root(qn_buffer *buffer) {
    return buffer->parent ? buffer->parent : buffer;
}

/* Of a buffer that is not unified, or of a copy. */
static inline qn__use qn__use_of(qn_buffer *buffer, bool writes) {
    qn_buffer *root = qn__buffer_root(buffer);
    return (qn__use){root->copy_of ? root->copy_of : buffer, writes, root, false};
}
/* Of any, on the device, where a unified one gets its copy if it has none. */
qn_status qn__use_on(const qn_device *device, qn_buffer *buffer, bool writes, qn__use *use);
qn_status qn__check_size(const qn_device *device, uint64_t size); /* whether a buffer may be so large */
qn_status qn__buffer_allocate(qn_buffer *buffer);

enum { QN__BUFFER_NAME = 160 };
void qn__buffer_name(const qn_buffer *root, char *text); /* "the buffer 'weights'", or "the buffer" */

/* sides.c: the host's side of a root goes with it. */
void qn__sides_free(qn_buffer *root);
/* Before a command on `stream` uses the buffers: refuses mapped ones, brings the host's newer contents over for that reason. */
qn_status qn__buffers_use(const qn__use *uses, size_t count, qn_stream *stream, qn_move move,
                          const char *function);
void qn__count_move(qn_buffer *root, qn_move move, uint64_t bytes);
/* For unified.c. Of a root: waits for the commands that use it; a stream waits for hidden copies; command `number` of the
   stream is one, or another one that uses it; its host side is made; what is said of a mapped and of a read-only one. */
qn_status qn__sides_wait(qn_buffer *root);
qn_status qn__sides_order(qn_buffer *root, qn_stream *stream);
void qn__sides_note(qn_buffer *root, qn_stream *stream, uint64_t number, bool is_hidden);
qn_status qn__sides_make_view(qn_buffer *root);
qn_status qn__sides_refuse(const qn_buffer *buffer, const char *function);
qn_status qn__sides_refuse_to_write(const qn_buffer *root, const char *function);

/* unified.c: the host's side with its contents, of a root that has no memory; and its end. The copy on a device; what a use of
   one takes, before the command, and that it was written, after. */
qn_status qn__unified_init(qn_buffer *home, const void *data);
void qn__unified_free(qn_buffer *home);
qn_status qn__unified_on(qn_buffer *home, const qn_device *device, qn_buffer **copy);
qn_status qn__unified_use(const qn__use *use, qn_stream *stream, qn_move move, const char *function);
void qn__unified_written(qn_buffer *copy);
void qn__unified_lose(qn_buffer *copy); /* its device is lost */
qn_buffer_state qn__unified_state(qn_buffer *home);
/* Refuses those, where one memory is needed. */
qn_status qn__unified_refuse(const qn_buffer *buffer, const char *function);
/* What a map takes, and what its end for writing means; the buffer's lock is held. */
qn_status qn__unified_fetch(qn_buffer *home, qn_map_access access, qn__interval interval, qn_move move);
void qn__unified_take_over(qn_buffer *home);
qn_status qn__unified_transfer(qn_buffer *buffer, uint64_t offset, void *data, uint64_t size, bool writes);

/* Without a stream: refuses those that are read-only and would be written. */
qn_status qn__buffers_check_writes(const qn__use *uses, size_t count, const char *function);
/* After: remembers that command `number` uses them. */
void qn__buffers_used(const qn__use *uses, size_t count, qn_stream *stream, uint64_t number);

/* For a copy between devices, on the side that the copy's stream is not of: refuses a mapped one, and has the host's newer
   contents on their way to the device, where they are once qn__buffer_is_sent. */
qn_status qn__buffer_cross(qn_buffer *buffer, bool writes, const char *function);
bool qn__buffer_is_sent(qn_buffer *root);

/* For buffers that are made: counts the device's memory; a buffer that has none yet (NULL after a message). */
void qn__count_memory(qn_device *device, uint64_t size);
qn_buffer *qn__buffer_new(qn_device *device, uint64_t size, const char *label);
/* external.c: whether the buffer can be made exportable. */
qn_status qn__check_exportable(const qn_device *device, const qn_buffer_desc *desc);

/* The host has nothing of the buffer any more; use_lock is held. */
void qn__buffer_lose_view(qn_buffer *root);
/* No buffer names the stream as its last user any more. */
void qn__buffers_forget(qn_stream *stream);

char *qn__copy_label(qn_context *context, const char *label); /* NULL: out of memory */

/* pool.c: memory for a buffer that has a pool, and from one whose memory no work uses any more; one was refused. */
qn_status qn__pool_take(qn_buffer *buffer, char *why);
void qn__pool_give(qn_buffer *buffer);
void qn__pool_refused(qn_memory_pool *pool);
void qn__pools_trim(qn_device *device); /* what all pools of the device keep */
/* Host memory is counted, before it is had (with a message where the pool's limit is in the way), as soon as it turns out to
   be pinned, and when it goes. */
qn_status qn__host_take(qn_device *device, qn_memory_pool *pool, uint64_t size);
void qn__host_pinned(qn_device *device, qn_memory_pool *pool, uint64_t size);
void qn__host_give(qn_device *device, qn_memory_pool *pool, uint64_t size, bool pinned);

void qn__hosts_clear(qn_memory_pool *pool); /* host.c: frees the pool's memory of qn_memory_pool_host_alloc */

/* host.c: the pinned memory of the device's that [memory, memory + size) lies in, with a reference; NULL: none. */
qn__host *qn__host_find(qn_device *device, const void *memory, uint64_t size);

/* event.c: the command that moves the event on, and what to do once it was submitted, or could not be. */
typedef struct qn__event_record_step {
    qn__command command;
    qn__notice *notice;
} qn__event_record_step;
qn_status qn__event_record(qn_event *event, qn__event_record_step *step);
void qn__event_recorded(qn_event *event, qn__event_record_step *step, qn_status status);

/* launch.c: the local size of a launch over the range, checked; and sets the launch's arguments and range, as qn_graph_set_launch; the graph's lock is held. */
qn_status qn__launch_local(qn_kernel *kernel, const char *function, const qn_range *range, uint32_t local[3]);
qn_status qn__graph_set(qn_graph *graph, qn__graph_step *step, const char *function, const qn_range *range,
                        const qn_arg *args, size_t num_args);

/* notify.c */
void qn__notifier_init(qn_context *context);
void qn__notifier_end(qn_context *context); /* after this nothing is told any more */
void qn__notifier_free(qn_context *context);
/* Before an event with a descriptor is recorded (else *notice is NULL), and after; awaiting takes the notice. */
qn_status qn__event_prepare(qn_event *event, qn__notice **notice);
void qn__event_await(qn_event *event, qn__notice *notice, uint64_t version);
void qn__event_close_fd(qn_event *event);

/* graph.c */
qn_status qn__graph_add(qn_graph *graph, const qn__command *command, const qn__use *uses, size_t num_uses,
                        qn__object *object);
/* The step's command and buffers become these; its kernel stays. */
qn_status qn__graph_replace(qn_graph *graph, qn__graph_step *step, const qn__command *command,
                            const qn__use *uses, size_t num_uses);

#endif
