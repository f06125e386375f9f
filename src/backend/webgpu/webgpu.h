/* The WebGPU backend, inside. driver.c opens an implementation and finds adapters, device.c describes one, memory.c has
   buffers, code.c programs and pipelines, alias.c buffers passed twice, launch.c launches, flow.c what is encoded, submitted and done, queue.c streams,
   mark.c events, replay.c graphs.

   A WebGPU device has one queue. All streams share it, in the order of their commands: these go into one encoder, which
   is submitted when somebody waits, or when much is in it. A submission has a serial number; how far the device has come
   is the last serial that is done. All calls are made under one lock. */
#ifndef QN__WEBGPU_H
#define QN__WEBGPU_H

#include <pthread.h>
#include <stdatomic.h>

#include "backend/common/common.h"
#include "backend/webgpu/api.h"

/* What an implementation does its own way. */
typedef struct wg_dialect {
    const char *name;
    const char *asking;     /* what the names of functions with callbacks end in */
    bool backend_first;     /* order of the fields of an adapter's options */
    bool message_when_done; /* the callback of submitted work gets one */
    uint32_t limits_behind; /* words between the stride of vertices and the size of a work-group's memory */
    bool refuses_aliases;   /* buffers that a kernel may write are bound once */
    uint32_t times_feature; /* the number of timestamp queries */
    uint32_t sub_groups_feature, f16_feature;
    bool refuses_enable; /* of sub-groups: naga has them without */
    bool times_chained;  /* a pass's times begin with a chain */
    bool has_toggles;    /* Dawn's: that accesses are checked, local memory zeroed, times rounded */
} wg_dialect;

enum {
    QN__WG_BINDINGS = 112 /* of a kernel, at most */,
    QN__WG_WRITES_TOO = 128 /* in roots: see alias.c */
};
enum { QN__WG_TIMES = 64 /* of a submission, at most */ };
enum { QN__WG_MAX_DEVICES = 8, QN__WG_PARAMS = 1 << 17, QN__WG_PARAM_ALIGN = 256 };

/* What an adapter says of itself. */
typedef struct wg_about {
    char device[256], description[160];
    uint32_t backend, type, vendor_id, device_id;
} wg_about;

struct qn__driver {
    const qn__services *services;
    qn__wg api;
    const wg_dialect *dialect;
    wg_object instance;
    uint32_t num_devices;
    wg_object adapters[QN__WG_MAX_DEVICES];
};

/* Memory of the device that the host is to get when it has come there. */
typedef struct wg_read {
    struct wg_read *next;
    struct wg_submission *submission;
    wg_object staging;
    void *host;                /* or */
    const qn__code_info *info; /* what a kernel printed */
    uint64_t size, room, skip; /* bytes; of the staging buffer; before the first that is wanted */
} wg_read;

/* What was submitted together. */
typedef struct wg_submission {
    struct wg_submission *next;
    qn__gpu *gpu;
    uint64_t serial;
    uint32_t open; /* callbacks to come */
    bool failed;   /* the device has given it up */
    wg_read *reads;
    uint64_t *times; /* QN__WG_TIMES ticks; NULL: no event stands in it */
    uint32_t num_times;
} wg_submission;

struct qn__gpu {
    const qn__services *services;
    const qn__wg *api;
    const wg_dialect *dialect;
    wg_object instance, adapter, device, queue;
    uint32_t max_group, max_local[3], max_groups[3], local_memory, num_storage, storage_alignment;
    uint32_t sub_group_size; /* 0: not one that is known, or the device does not have them */
    uint64_t max_binding, max_buffer, max_uniform;
    bool emulated, has_f16;
    char description[256], version[160], cache_key[512];
    pthread_mutex_t lock;            /* for all below, and all calls */
    wg_object encoder, pass, params; /* what is being encoded; parameter blocks */
    wg_object nothing[2];            /* for null pointers: to write, and only to read */
    wg_object queries, resolved;     /* timestamps of the encoder's submission; NULL: the adapter has none */
    double tick_ns;
    /* What the buffer of parameter blocks holds when the encoder's submission begins. The next block goes to params_at, the last one
       begins at params_last; what is new is between params_new and params_at. */
    unsigned char *blocks;
    uint32_t params_at, params_last, params_new;
    wg_object pipeline_set, group_set; /* in the pass */
    uint32_t encoded;                  /* commands in the encoder */
    uint64_t serial;                   /* of the encoder's submission */
    wg_submission *current, *first, *last;
    wg_read *free_reads; /* with staging buffers */
    bool advancing;      /* a thread prints what is done */
    qn__queue *queues, *last_queue;
    qn__mark *marks;                /* recorded and not reached */
    atomic_uint_fast64_t completed; /* serial */
    atomic_uint_fast64_t next_address, used;
    qn__loss loss;
};

struct qn__memory {
    wg_object buffer;
    uint64_t address, size, room;
    bool is_shared; /* of one launch, for all its parameters */
};

enum { QN__WG_GROUPS = 8 /* of a pipeline that are kept */ };

/* A bind group, and what is bound: what no other has while it lives, and from where. */
typedef struct wg_group {
    struct wg_group *next;
    wg_object group;
    size_t count;
    struct wg_bound {
        uint64_t id, offset;
    } at[QN__WG_BINDINGS + 1];
} wg_group;

/* A pipeline for a local size and an amount of local memory. */
typedef struct wg_pipeline {
    struct wg_pipeline *next;
    uint32_t local[3], words;
    uint8_t roots[QN__WG_BINDINGS]; /* see alias.c */
    wg_object pipeline, layout;
    wg_group *groups; /* the last that launches had, the newest first */
} wg_pipeline;

/* The program's module where some bindings of a kernel are others. */
typedef struct wg_variant {
    struct wg_variant *next;
    uint32_t kernel;
    uint8_t roots[QN__WG_BINDINGS];
    wg_object module;
} wg_variant;

struct qn__code {
    qn__gpu *gpu;
    const qn__code_info *info;
    wg_object module, constants;
    wg_pipeline **pipelines; /* by kernel */
    char *text,
        *one_type; /* zero at the ends; the second is NULL, or behind the first: with buffers of one type */
    wg_variant *variants;
};

enum { QN__WG_MARKERS = 64 };

struct qn__queue {
    qn__gpu *gpu;
    qn__queue *next;
    qn__flight flight;
    struct {
        uint64_t number, serial;
    } markers[QN__WG_MARKERS]; /* commands up to number are in submissions up to serial */
    uint32_t first_marker, num_markers;
    qn__sticky failure;
};

struct qn__mark {
    qn__gpu *gpu;
    qn__mark *next; /* of those that are recorded and not reached */
    uint64_t version, serial, done_version, time_ns;
    uint32_t time; /* the place among its submission's; QN__WG_TIMES: it has none */
};

static inline wg_text qn__wg_text(const char *text) { return (wg_text){text, WG_TEXT_END}; }

/* driver.c */
qn_status qn__wg_open(const qn__services *services, qn__driver **driver, uint32_t *num_devices, char *why);
void qn__wg_close(qn__driver *driver);
void qn__wg_identify(const qn__driver *driver, uint32_t index, qn__identity *identity);
void qn__wg_ask_about(const qn__wg *api, wg_object adapter, wg_about *about);
void qn__wg_copy_text(char *out, size_t size, wg_text text);

/* flow.c; the lock is held by all but advance and wait */
qn_status qn__wg_encode(qn__gpu *gpu, bool pass, char *why); /* makes an encoder, and a pass in it or none */
void qn__wg_flush(qn__gpu *gpu);
/* Takes a part of a buffer to the host when it is done. info: prints it instead. */
qn_status qn__wg_read(qn__gpu *gpu, wg_object buffer, uint64_t offset, uint64_t size, void *host,
                      const qn__code_info *info, char *why);
void qn__wg_advance(qn__gpu *gpu); /* looks how far the device has come */
qn_status qn__wg_wait_serial(qn__gpu *gpu, uint64_t serial, uint64_t timeout_ns);
void qn__wg_drain(qn__gpu *gpu); /* waits for all, at the end */
/* The error since the last scope began, as a message; false: none. */
void qn__wg_scope_begin(qn__gpu *gpu);
bool qn__wg_scope_end(qn__gpu *gpu, char *why, size_t size);
void qn__wg_note_error(wg_object const *device, uint32_t type, wg_text message, void *user, void *second);

/* memory.c */
/* NULL: there is none, and `message` (QN__WHY bytes) has what the device says of it, or "". */
wg_object qn__wg_buffer(qn__gpu *gpu, uint64_t usage, uint64_t size, char *message);
qn_status qn__wg_memory_create(qn__gpu *gpu, uint64_t size, qn__memory **memory, uint64_t *address,
                               void **host, char *why);
void qn__wg_memory_destroy(qn__gpu *gpu, qn__memory *memory);
qn_status qn__wg_transfer(qn__queue *queue, const qn__command *command,
                          char *why); /* a write, read, copy or fill */

/* code.c */
qn_status qn__wg_code_load(qn__gpu *gpu, const qn__code_source *source, qn__code **code, char *why);
void qn__wg_code_unload(qn__gpu *gpu, qn__code *code);
wg_object qn__wg_make_module(const qn__gpu *gpu, const char *text, size_t size);
/* `wanted` has local, words and roots. */
qn_status qn__wg_pipeline(qn__code *code, uint32_t kernel, const wg_pipeline *wanted, wg_pipeline **out,
                          char *why);
void qn__wg_choose_local(const qn__gpu *gpu, const qn__code *code, uint32_t kernel, const uint64_t global[3],
                         uint32_t local[3]);

/* Of the n-th binding of a kernel. */
static inline uint32_t qn__wg_binding_number(const qn__kernel_info *kernel, uint32_t n) {
    return kernel->bindings[2 * n] & ~(uint32_t)QN__WGSL_READS;
}
static inline bool qn__wg_only_reads(const qn__kernel_info *kernel, uint32_t n) {
    return kernel->bindings[2 * n] & QN__WGSL_READS;
}

/* alias.c */
/* Which binding of the kernel each is, by its place in the fact `bindings`: itself, or an earlier one with the same buffer; with
   QN__WG_WRITES_TOO where that has to be for writing, though the kernel only reads it. */
void qn__wg_find_roots(const qn__gpu *gpu, const qn__command *launch, uint8_t roots[QN__WG_BINDINGS]);
/* The module where they are so; code->module where each is itself. */
qn_status qn__wg_variant(qn__code *code, uint32_t kernel, const uint8_t roots[QN__WG_BINDINGS],
                         wg_object *module, char *why);
void qn__wg_free_variants(qn__code *code);
const qn__binding *qn__wg_binding_of(const qn__command *launch, uint32_t param); /* NULL: a null pointer */
/* The same; where parameters share a buffer a null pointer is bound to that, too. */
const qn__binding *qn__wg_bound_of(const qn__command *launch, uint32_t param);

/* share.c */
/* A launch with more buffers than the device binds. */
qn_status qn__wg_launch_shared(qn__gpu *gpu, const qn__command *launch, char *why);

/* device.c */
void qn__wg_was_lost(qn__gpu *gpu, const char *message); /* the lock is held */

/* launch.c */
void qn__wg_put_params(qn__gpu *gpu); /* the blocks of the encoder's submission, before it goes */
void qn__wg_free_groups(qn__gpu *gpu, wg_pipeline *pipeline);
qn_status qn__wg_launch(qn__gpu *gpu, const qn__command *launch, char *why);
qn_status qn__wg_launch_bound(qn__gpu *gpu, const qn__command *launch, char *why); /* of what can be bound */

/* queue.c */
qn_status qn__wg_queue_create(qn__gpu *gpu, qn__queue **queue, char *why);
void qn__wg_queue_destroy(qn__queue *queue);
qn_status qn__wg_submit(qn__queue *queue, const qn__command *command, uint64_t *number, char *why);
uint64_t qn__wg_completed(qn__queue *queue);
qn_status qn__wg_wait(qn__queue *queue, uint64_t number, uint64_t timeout_ns, char *why);
qn_status qn__wg_failure(qn__queue *queue, uint32_t *since, char *why);
void qn__wg_unfinished(qn__queue *queue, char *names, size_t size);
qn_status qn__wg_replay_create(qn__gpu *gpu, const qn__command *commands, size_t count, qn__replay **replay,
                               char *why);
void qn__wg_replay_destroy(qn__gpu *gpu, qn__replay *replay);
qn_status qn__wg_replay_submit(qn__queue *queue, qn__replay *replay, uint64_t *number, char *why);

qn_status qn__wg_lend(qn__queue *queue, char *why);
qn_status qn__wg_take_back(qn__queue *queue, uint64_t *number, char *why);

/* mark.c */
qn_status qn__wg_mark_create(qn__gpu *gpu, qn__mark **mark, char *why);
void qn__wg_mark_destroy(qn__mark *mark);
bool qn__wg_mark_done(qn__mark *mark, uint64_t version, uint64_t *time_ns);
qn_status qn__wg_mark_wait(qn__mark *mark, uint64_t version, uint64_t timeout_ns, char *why);
void qn__wg_record(qn__gpu *gpu, const qn__command *command);
/* Marks of submissions up to that one are reached; the lock is held. ticks: of its events; NULL: now. */
void qn__wg_reach_marks(qn__gpu *gpu, uint64_t serial, const uint64_t *ticks);
void qn__wg_times_begin(qn__gpu *gpu); /* makes what timestamps need, where the adapter has them */
void qn__wg_times_end(qn__gpu *gpu);
void qn__wg_times_resolve(qn__gpu *gpu); /* those of the encoder's submission go to the host */

#endif
