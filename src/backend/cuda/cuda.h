/* The CUDA backend's own objects. A device is the driver's primary context of it, a stream is a CUDA stream,
   memory an address from a pool of our own. Every entry point makes the context current and afterwards what
   the application had: qn__cuda_enter and qn__cuda_leave. A failure that the driver does not recover from
   (an illegal address in a kernel) loses the device: from then on everything on it fails at once with the
   same message. */
#ifndef QN__CUDA_H
#define QN__CUDA_H

#include <pthread.h>
#include <stdatomic.h>

#include "backend/common/common.h"
#include "backend/cuda/driver.h"

enum {
    QN__CUDA_CHECKPOINT_EVERY = 32, /* commands */
    QN__CUDA_PEER_WORDS = 4, /* of 64 devices each; those beyond are copied to as the driver does by itself */
    QN__CUDA_STAGES = 4,
    QN__CUDA_PINNED = 64, /* the least that is pinned: room for a qn__cuda_kept */
    QN__CUDA_STAGE_SIZE = 2 << 20,
    QN__CUDA_SMALL = 256 << 10,      /* reads up to that size are left to the driver */
    QN__CUDA_STATIC_LOCAL = 48 << 10 /* with more, all local memory is dynamic */
};

struct qn__driver {
    const qn__services *services;
    qn__cu cu;
    int version;          /* 12040: CUDA 12.4 */
    char text[96];        /* the same, and the driver's own version */
    uint32_t num_devices; /* that can be used */
    qn__cu_device *devices;
};

/* A place on the device's clock: times of events are measured from a recent one, because the driver gives
   differences as float. */
typedef struct qn__cuda_base {
    qn__cu_event event;
    double time_ns;      /* since the first one */
    uint64_t host_ns;    /* when it was recorded */
    unsigned references; /* guarded by the gpu's lock */
} qn__cuda_base;

typedef struct qn__cuda_name {
    struct qn__cuda_name *next;
    char text[];
} qn__cuda_name;

/* Something that is given up only when no kernel may be endless; the first member of what it is part of. */
typedef struct qn__cuda_kept {
    struct qn__cuda_kept *next;
    void (*release)(qn__gpu *gpu, struct qn__cuda_kept *kept); /* in the context */
} qn__cuda_kept;

/* Host memory that kernels see. */
typedef struct qn__cuda_seen {
    qn__cuda_kept kept;
    struct qn__cuda_seen *next;
    qn__cu_address address;
    void *host;
} qn__cuda_seen;

struct qn__gpu {
    const qn__services *services;
    const qn__cu *cu;
    qn__driver *driver;
    qn__cu_device device;
    qn__cu_context context;
    qn__cu_stream service; /* allocation, and reading what kernels print */
    qn__cu_pool pool;      /* NULL: not supported */
    int arch;              /* 90: compute capability 9.0 */
    uint32_t max_params;   /* bytes of a kernel's */
    uint32_t max_threads, max_block[3], max_grid[3];
    uint64_t shared_memory; /* bytes a group can have */
    char name[128], cache_key[256], machine[24];
    pthread_mutex_t lock; /* of what follows, and of use of `service` */
    qn__queue *queues;
    qn__cuda_seen *seen;
    qn__cuda_base *base;
    qn__cuda_name *names;   /* of kernels; kept, so that messages can name kernels that are gone */
    qn__prints free_prints; /* qn__cuda_print, with their buffers */
    struct qn__cuda_external *externals; /* memory that is shared by descriptors */
    bool shares_descriptors;
    uint64_t
        peers[QN__CUDA_PEER_WORDS]; /* bit of a device: it may access this one's memory, as far as it can */
    struct {
        pthread_mutex_t lock; /* taken before other locks */
        pthread_cond_t changed;
        qn__queue *queues; /* whose kernels may never end */
        qn__cuda_kept *kept;
        unsigned launching,
            loading; /* calls that launch on such a queue, and that load code or are about to */
    } endless;
    qn__loss loss;
};

typedef struct qn__cuda_kernel {
    qn__cu_function function; /* NULL: not asked for yet; set under the gpu's lock */
    const char *name;         /* the gpu's */
    uint32_t max_threads, registers;
    uint64_t static_local; /* bytes of a launch's local memory that are not dynamic */
    uint64_t code_size;    /* bytes; 0: not known */
} qn__cuda_kernel;

struct qn__code {
    qn__cuda_kept kept;
    qn__cu_module module;
    const qn__code_info *info;
    qn__cuda_kernel *kernels;
};

/* What a launch prints, to be fetched when it is done. */
typedef struct qn__cuda_print {
    qn__print print;
    qn__cu_address buffer;
} qn__cuda_print;

/* An event behind command `number`. */
typedef struct qn__cuda_checkpoint {
    qn__cu_event event;
    uint64_t number;
} qn__cuda_checkpoint;

enum { QN__CUDA_CHECKPOINTS = 64 };

struct qn__queue {
    qn__gpu *gpu;
    qn__queue *next; /* of the gpu's; guarded by its lock */
    qn__cu_stream stream;
    atomic_bool endless;     /* its kernels may never end */
    qn__queue *next_endless; /* guarded by endless.lock, with what its kernels do about loading: */
    qn__aside aside;         /* no functions: nothing */
    bool is_asked;           /* to leave, and not to come back yet */
    unsigned calls_back;     /* that are under way */
    qn__flight flight;       /* commands up to `completed` have printed, too */
    /* pinned blocks for transfers of ordinary memory; the submitting thread's */
    struct qn__cuda_stage {
        unsigned char *memory;
        qn__cu_event event; /* behind the last transfer */
        bool busy;          /* the event was recorded and not waited for */
    } stages[QN__CUDA_STAGES];
    unsigned stage; /* that small writes fill up */
    size_t stage_used;
    pthread_mutex_t lock;                                  /* of what follows */
    qn__cuda_checkpoint checkpoints[QN__CUDA_CHECKPOINTS]; /* ring, oldest first */
    unsigned first_checkpoint, num_checkpoints;
    qn__prints prints;
};

typedef struct qn__cuda_event {
    qn__cu_event event;
    unsigned
        references; /* the mark's, and one of each thread that waits for it; guarded by the mark's lock */
} qn__cuda_event;

struct qn__mark {
    qn__gpu *gpu;
    qn__cuda_event *latest; /* recording */
    pthread_mutex_t lock;
    uint64_t version; /* of the latest recording */
    qn__cuda_base *base;
    uint64_t time_ns;
    bool timed; /* time_ns is of this version */
};

/* Where a command goes: a queue's stream, or a stream that is captured into a graph. */
typedef struct qn__cuda_target {
    qn__gpu *gpu;
    qn__cu_stream stream;
    qn__queue *queue;     /* NULL: captured */
    qn__cu_address print; /* buffer for what the kernel prints; 0: it prints nothing */
} qn__cuda_target;

/* The device's context is current from enter, whose answer leave is given, to leave. */
static inline bool qn__cuda_enter(const qn__gpu *gpu) {
    return gpu->cu->context_push(gpu->context) == QN__CU_SUCCESS;
}
static inline void qn__cuda_leave(const qn__gpu *gpu, bool entered) {
    qn__cu_context popped;
    if (entered) gpu->cu->context_pop(&popped);
}

/* driver.c */
qn_status qn__cuda_open(const qn__services *services, qn__driver **driver, uint32_t *num_devices, char *why);
void qn__cuda_close(qn__driver *driver);
void qn__cuda_identify(const qn__driver *driver, uint32_t index, qn__identity *identity);

/* fail.c */
/* "CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected" */
void qn__cuda_error_text(const qn__cu *cu, qn__cu_result result, char *out, size_t size);
/* The status for a result and its message: `what` failed. Notes a loss. */
qn_status qn__cuda_fail(qn__gpu *gpu, qn__cu_result result, const char *what, char *why);
const char *qn__cuda_intern(qn__gpu *gpu, const char *name); /* NULL: out of memory */

/* abandon.c */
bool qn__cuda_is_lost(qn__gpu *gpu, char *why);
void qn__cuda_abandon(qn__gpu *gpu);

/* memory.c */
qn_status qn__cuda_memory_create(qn__gpu *gpu, uint64_t size, qn__memory **memory, uint64_t *address,
                                 void **host, char *why);
qn_status qn__cuda_memory_share(qn__gpu *gpu, uint64_t size, qn__memory **memory, uint64_t *address,
                                void **host, char *why);
void qn__cuda_memory_destroy(qn__gpu *gpu, qn__memory *memory);
qn_status qn__cuda_host_import(qn__gpu *gpu, void *host, uint64_t size, bool read_only, qn__memory **memory,
                               uint64_t *address, char *why);
void qn__cuda_host_import_end(qn__gpu *gpu, qn__memory *memory, void *host, uint64_t size);
qn_status qn__cuda_host_create(qn__gpu *gpu, uint64_t size, void **host, char *why);
void qn__cuda_host_destroy(qn__gpu *gpu, void *host);
void qn__cuda_trim(qn__gpu *gpu, uint64_t *pooled);
uint64_t qn__cuda_pooled(const qn__gpu *gpu);
/* For callers that are in the context. After a call that wanted device memory: whether it failed for lack of it and
   is to be tried once more, now that what is pooled has been given back. */
bool qn__cuda_make_room(qn__gpu *gpu, qn__cu_result result);
/* Print buffers are kept for reuse. */
qn_status qn__cuda_print_new(qn__gpu *gpu, const qn__code_info *info, qn__cuda_print **print, char *why);
void qn__cuda_print_drop(qn__gpu *gpu, qn__cuda_print *print);
/* Prints what a launch that is done has left in the buffer. */
void qn__cuda_print_records(qn__gpu *gpu, const qn__cuda_print *print);
void qn__cuda_prints_free(qn__gpu *gpu);

/* endless.c; in the context */
void qn__cuda_set_endless(qn__queue *queue, bool endless);
void qn__cuda_set_aside(qn__queue *queue, const qn__aside *aside); /* in any context */
void qn__cuda_put_off(qn__gpu *gpu, qn__cuda_kept *kept, void (*release)(qn__gpu *, qn__cuda_kept *));
void qn__cuda_unpin(qn__gpu *gpu, void *host); /* pinned memory of at least QN__CUDA_PINNED bytes */
qn_status qn__cuda_load_begin(qn__gpu *gpu, char *why);
void qn__cuda_load_end(qn__gpu *gpu);
/* Whether the queue is endless, which qn__cuda_launch_end is told then; around each launch. */
bool qn__cuda_launch_begin(qn__queue *queue);
void qn__cuda_launch_end(qn__gpu *gpu, bool endless);

/* external.c */
qn_status qn__cuda_external_create(qn__gpu *gpu, uint64_t size, uint32_t kinds, qn__memory **memory,
                                   uint64_t *address, void **host, char *why);
qn_status qn__cuda_external_import(qn__gpu *gpu, const qn_import_desc *desc, qn__memory **memory,
                                   uint64_t *address, void **host, char *why);
qn_status qn__cuda_external_export(qn__gpu *gpu, const qn__memory *memory, qn_handle_kind kind,
                                   qn_export *out, char *why);
void qn__cuda_external_destroy(qn__gpu *gpu, qn__memory *memory, uint32_t import);

/* execute.c: one command on a stream; the caller is in the context. */
qn_status qn__cuda_execute(const qn__cuda_target *target, const qn__command *command, char *why);
qn_status qn__cuda_set_node(const qn__gpu *gpu, qn__cu_exec exec, qn__cu_node node,
                            const qn__command *command, char *why);
qn_status qn__cuda_set_copy(const qn__gpu *gpu, qn__cu_exec exec, qn__cu_node node,
                            const qn__command *command);
void qn__cuda_choose_local(const qn__gpu *gpu, const qn__code *code, uint32_t kernel,
                           const uint64_t global[3], uint32_t local[3]);

qn_status qn__cuda_kernel_resources(qn__gpu *gpu, const qn__code *code, uint32_t index,
                                    const uint32_t local[3], qn_kernel_resources *resources, char *why);

/* transfer.c: between ordinary memory and the device, through the queue's pinned blocks. */
qn_status qn__cuda_write(qn__queue *queue, qn__cu_address to, const void *from, uint64_t size, char *why);
qn_status qn__cuda_read(qn__queue *queue, void *to, qn__cu_address from, uint64_t size, char *why);
/* From the memory of one device to that of another, on the stream of either. */
qn_status qn__cuda_copy_peer(const qn__cuda_target *target, const qn__command *command, char *why);
qn_status qn__cuda_fill(const qn__cuda_target *target, const qn__command *command, char *why);
void qn__cuda_stages_free(qn__queue *queue);

/* queue.c */
qn_status qn__cuda_queue_create(qn__gpu *gpu, qn__queue **queue, char *why);
void qn__cuda_queue_destroy(qn__queue *queue);
qn_status qn__cuda_submit(qn__queue *queue, const qn__command *command, uint64_t *number, char *why);
uint64_t qn__cuda_completed(qn__queue *queue);
qn_status qn__cuda_failure(qn__queue *queue, uint32_t *since, char *why);
qn_status qn__cuda_set_persistent(qn__queue *queue, bool persistent, char *why);
void qn__cuda_leave_queue(qn__queue *queue);
void qn__cuda_unfinished(qn__queue *queue, char *names, size_t size);
qn_status qn__cuda_wait(qn__queue *queue, uint64_t number, uint64_t timeout_ns, char *why);
qn_status qn__cuda_lend(qn__queue *queue, char *why);
qn_status qn__cuda_take_back(qn__queue *queue, uint64_t *number, char *why);
/* After the work of the next command is on the stream: counts it. `name`: of its kernel, or NULL. */
void qn__cuda_count(qn__queue *queue, const char *name, uint64_t *number);
/* What a launch prints, which the queue then looks at when its next command is done. */
void qn__cuda_add_print(qn__queue *queue, qn__cuda_print *print);
qn_status qn__cuda_print_room(qn__queue *queue, char *why); /* waits where too many wait to be looked at */

/* mark.c */
qn_status qn__cuda_mark_create(qn__gpu *gpu, qn__mark **mark, char *why);
void qn__cuda_mark_destroy(qn__mark *mark);
bool qn__cuda_mark_done(qn__mark *mark, uint64_t version, uint64_t *time_ns);
qn_status qn__cuda_mark_wait(qn__mark *mark, uint64_t version, uint64_t timeout_ns, char *why);
qn_status qn__cuda_mark_record(const qn__cuda_target *target, qn__mark *mark, uint64_t version, char *why);
qn_status qn__cuda_mark_await(const qn__cuda_target *target, qn__mark *mark, char *why); /* on the device */
void qn__cuda_base_release(qn__gpu *gpu, qn__cuda_base *base);

/* code.c */
qn_status qn__cuda_code_load(qn__gpu *gpu, const qn__code_source *source, qn__code **code, char *why);
qn_status qn__cuda_kernel_prepare(qn__gpu *gpu, qn__code *code, uint32_t kernel, char *why);
void qn__cuda_code_unload(qn__gpu *gpu, qn__code *code);

/* tensor.c */
qn_status qn__cuda_tensor_map(qn__gpu *gpu, uint64_t address, const qn_tensor_desc *desc, qn_tensor_map *map,
                              char *why);
qn_status qn__cuda_window_map(qn__gpu *gpu, uint64_t address, const qn_window_desc *desc, qn_tensor_map *map,
                              char *why);

/* replay.c */
qn_status qn__cuda_replay_create(qn__gpu *gpu, const qn__command *commands, size_t count, qn__replay **replay,
                                 char *why);
qn_status qn__cuda_replay_update(qn__gpu *gpu, qn__replay *replay, size_t index, const qn__command *command,
                                 char *why);
void qn__cuda_replay_destroy(qn__gpu *gpu, qn__replay *replay);
qn_status qn__cuda_replay_submit(qn__queue *queue, qn__replay *replay, uint64_t *number, char *why);

#endif
