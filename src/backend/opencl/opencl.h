/* The OpenCL backend, inside. driver.c finds platforms and devices, device.c describes one, memory.c has buffers and
   pinned memory, code.c programs and their kernels, build.c makes programs, launch.c arguments and launches, queue.c
   streams and waits, mark.c events, print.c what kernels print, replay.c graphs, fail.c messages of failures. */
#ifndef QN__OPENCL_H
#define QN__OPENCL_H

#include <pthread.h>
#include <stdatomic.h>

#include "backend/common/common.h"
#include "backend/opencl/api.h"

enum { QN__CL_MAX_DEVICES = 64 };

typedef struct cl_found {
    cl_object platform, device;
    bool is_cpu;
} cl_found;

struct qn__driver {
    const qn__services *services;
    qn__cl cl;
    uint32_t num_devices;
    cl_found devices[QN__CL_MAX_DEVICES]; /* real ones first */
};

typedef struct cl_pinned cl_pinned;

struct qn__gpu {
    const qn__services *services;
    const qn__cl *cl;
    cl_object platform, device, context;
    cl_object service; /* a queue for what happens outside of streams */
    bool is_cpu, has_f64, has_i64_atomics, has_sub_groups, exact_division, is_nvidia;
    bool has_fine_svm; /* shared virtual memory, fine-grained, with atomics */
    uint32_t compute_units, max_group, warp;
    uint32_t max_local[3], max_groups[3];
    uint64_t float_config, memory, max_buffer, local_memory, max_params;
    char description[256], version[128], cache_key[640];
    pthread_mutex_t lock; /* for the lists */
    qn__code *codes;
    cl_pinned *pinned;
    atomic_uint_fast64_t next_address, used;
    qn__loss loss;
};

struct qn__memory {
    cl_object buffer;
    void *base; /* own allocation, or NULL */
    void *svm;  /* shared virtual memory, or NULL */
    uint64_t address, size;
};

/* ---- code ---- */

/* A cl_kernel with the arguments that were set last. One for each queue and each launch of a graph, because setting
   arguments and launching is not one step. */
typedef struct cl_instance {
    struct cl_instance *next;
    qn__queue *queue; /* NULL: free */
    bool graph;       /* belongs to a graph's launch */
    bool any_size;    /* from the program without a required local size */
    bool set;         /* the arguments below are the kernel's */
    cl_object kernel;
    unsigned char *args; /* as the argument block */
    uint64_t *values;    /* for each argument: the buffer's address or the local size; then implicit ones */
} cl_instance;

typedef struct cl_kernel_info {
    cl_instance *instances;
    uint32_t max_group, multiple; /* 0: not asked yet */
    uint64_t private_memory, local_memory;
} cl_kernel_info;

struct qn__code {
    qn__gpu *gpu;
    qn__code *next;
    pthread_mutex_t lock;
    const qn__code_info *info;
    cl_object program;
    cl_object any_size; /* built when first needed */
    char *text;         /* OpenCL C */
    size_t text_size;
    char *path;    /* of the disk cache's file, or NULL */
    bool compiled; /* by the driver, though it is from that file */
    bool debug;
    cl_kernel_info *kernels;
};

/* ---- queues ---- */

/* Something that is given back when command `number` is done. */
typedef struct cl_pending {
    struct cl_pending *next;
    uint64_t number;
    void *memory; /* staging copy */
} cl_pending;

typedef struct cl_marker {
    uint64_t number;
    cl_object event;
} cl_marker;

/* The print buffer of one launch. */
typedef struct cl_print {
    qn__print print;
    cl_object buffer;
    unsigned char *host;
    uint64_t dirty; /* bytes of records that hold something */
} cl_print;

enum { QN__CL_MARKERS = 64, QN__CL_PRINTS = 16 };

struct qn__queue {
    qn__gpu *gpu;
    pthread_mutex_t lock; /* for all below */
    cl_object queue;
    cl_object untimed; /* the queue before the first event; its commands come first; NULL: there was none */
    qn__flight flight; /* what commands that are done have printed may not be out yet */
    cl_marker markers[QN__CL_MARKERS];
    uint32_t first_marker, num_markers;
    uint32_t unflushed;
    cl_pending *pending, *last_pending;
    qn__prints prints, free_prints;
    uint32_t num_prints;        /* all that were made */
    pthread_mutex_t print_lock; /* who prints; never taken with `lock` held */
    qn__sticky failure;
};

struct qn__mark {
    qn__gpu *gpu;
    pthread_mutex_t lock;
    uint64_t version; /* recorded last */
    cl_object event;  /* of that; NULL once done */
    uint64_t time_ns, done_version;
};

/* fail.c */
const char *qn__cl_error_name(int32_t error);
/* The status and message for a call that failed; finds out whether the device is lost. */
qn_status qn__cl_failed(qn__gpu *gpu, cl_object queue, int32_t error, const char *what, const char *kernel,
                        char *why);

/* driver.c */
qn_status qn__cl_open(const qn__services *services, qn__driver **driver, uint32_t *num_devices, char *why);
void qn__cl_close(qn__driver *driver);
void qn__cl_identify(const qn__driver *driver, uint32_t index, qn__identity *identity);
/* Text of a platform's (device NULL) or device's property; cut to size. */
void qn__cl_text(const qn__cl *cl, cl_object platform, cl_object device, uint32_t what, char *out,
                 size_t size);
uint64_t qn__cl_number(const qn__cl *cl, cl_object device, uint32_t what, uint64_t otherwise);
bool qn__cl_has(const qn__cl *cl, cl_object device, const char *extension);
void qn__cl_uuid(const qn__cl *cl, cl_object device, uint8_t uuid[16]); /* zeros: not known */

/* memory.c */
qn_status qn__cl_memory_create(qn__gpu *gpu, uint64_t size, qn__memory **memory, uint64_t *address,
                               void **host, char *why);
qn_status qn__cl_memory_share(qn__gpu *gpu, uint64_t size, qn__memory **memory, uint64_t *address,
                              void **host, char *why);
void qn__cl_memory_destroy(qn__gpu *gpu, qn__memory *memory);
qn_status qn__cl_host_import(qn__gpu *gpu, void *host, uint64_t size, bool read_only, qn__memory **memory,
                             uint64_t *address, char *why);
void qn__cl_host_import_end(qn__gpu *gpu, qn__memory *memory, void *host, uint64_t size);
qn_status qn__cl_external_import(qn__gpu *gpu, const qn_import_desc *desc, qn__memory **memory,
                                 uint64_t *address, void **host, char *why);
void qn__cl_external_destroy(qn__gpu *gpu, qn__memory *memory, uint32_t import);
qn_status qn__cl_host_create(qn__gpu *gpu, uint64_t size, void **host, char *why);
void qn__cl_host_destroy(qn__gpu *gpu, void *host);

/* build.c: *program is NULL after a failure */
qn_status qn__cl_build_text(const qn__code *code, bool any_size, cl_object *program, char *why);
/* QN_ERROR_IO: the driver refuses it. */
qn_status qn__cl_build_binary(const qn__code *code, const unsigned char *binary, size_t size, bool any_size,
                              cl_object *program, char *why);
/* The driver's binary of a program; the caller releases it. NULL: there is none. */
unsigned char *qn__cl_binary(const qn__gpu *gpu, cl_object program, size_t *size);

/* code.c */
qn_status qn__cl_code_load(qn__gpu *gpu, const qn__code_source *source, qn__code **code, char *why);
bool qn__cl_code_compiled(const qn__code *code);
void qn__cl_code_unload(qn__gpu *gpu, qn__code *code);
void qn__cl_choose_local(const qn__gpu *gpu, const qn__code *code, uint32_t kernel, const uint64_t global[3],
                         uint32_t local[3]);
qn_status qn__cl_kernel_resources(qn__gpu *gpu, const qn__code *code, uint32_t kernel,
                                  const uint32_t local[3], qn_kernel_resources *resources, char *why);
/* A kernel object of the queue (NULL: of a graph), made where there is none. */
qn_status qn__cl_instance(qn__code *code, uint32_t kernel, qn__queue *queue, bool any_size,
                          cl_instance **instance, char *why);
void qn__cl_instance_free(qn__code *code, uint32_t kernel, cl_instance *instance);
void qn__cl_forget_queue(qn__queue *queue); /* its instances become free */

/* launch.c */
/* Sets what differs from last time. */
qn_status qn__cl_set_args(qn__gpu *gpu, cl_instance *instance, const qn__command *launch,
                          const qn__part *part, cl_object print, char *why);
qn_status qn__cl_enqueue_part(qn__queue *queue, cl_instance *instance, const qn__command *launch,
                              const qn__part *part, char *why);
bool qn__cl_needs_any_size(const qn__command *launch, const qn__part *part);
qn_status qn__cl_launch(qn__queue *queue, const qn__command *launch, uint64_t number, char *why);

/* queue.c */
qn_status qn__cl_queue_create(qn__gpu *gpu, qn__queue **queue, char *why);
void qn__cl_queue_destroy(qn__queue *queue);
qn_status qn__cl_submit(qn__queue *queue, const qn__command *command, uint64_t *number, char *why);
uint64_t qn__cl_completed(qn__queue *queue);
qn_status qn__cl_failure(qn__queue *queue, uint32_t *since, char *why);
qn_status qn__cl_set_persistent(qn__queue *queue, bool persistent, char *why);
void qn__cl_unfinished(qn__queue *queue, char *names, size_t size);
qn_status qn__cl_wait(qn__queue *queue, uint64_t number, uint64_t timeout_ns, char *why);
qn_status qn__cl_lend(qn__queue *queue, char *why);
qn_status qn__cl_take_back(qn__queue *queue, uint64_t *number, char *why);
/* One command of any kind but a graph's launch; the lock is held. */
qn_status qn__cl_execute(qn__queue *queue, const qn__command *command, uint64_t number, char *why);
/* Bookkeeping behind a command of which this kernel runs, or NULL; gives its number. The lock is held. */
uint64_t qn__cl_submitted(qn__queue *queue, const char *name);

/* mark.c */
/* Waits for an event; QN_ERROR_TIMEOUT without a message. *result is its status when done. */
qn_status qn__cl_wait_event(const qn__cl *cl, cl_object event, uint64_t timeout_ns, int32_t *result);
qn_status qn__cl_mark_create(qn__gpu *gpu, qn__mark **mark, char *why);
void qn__cl_mark_destroy(qn__mark *mark);
bool qn__cl_mark_done(qn__mark *mark, uint64_t version, uint64_t *time_ns);
qn_status qn__cl_mark_wait(qn__mark *mark, uint64_t version, uint64_t timeout_ns, char *why);
qn_status qn__cl_record(qn__queue *queue, const qn__command *command, char *why);
qn_status qn__cl_wait_for_mark(qn__queue *queue, const qn__command *command, char *why);

/* print.c: all with the queue's lock held but print_done */
qn_status qn__cl_print_begin(qn__queue *queue, const qn__code *code, cl_print **print, char *why);
qn_status qn__cl_print_end(qn__queue *queue, cl_print *print, uint64_t number,
                           char *why);    /* after the launch */
void qn__cl_print_done(qn__queue *queue); /* prints what has come back */
void qn__cl_print_free(qn__queue *queue);

/* replay.c */
qn_status qn__cl_replay_create(qn__gpu *gpu, const qn__command *commands, size_t count, qn__replay **replay,
                               char *why);
void qn__cl_replay_destroy(qn__gpu *gpu, qn__replay *replay);
qn_status qn__cl_replay_submit(qn__queue *queue, qn__replay *replay, uint64_t *number, char *why);

#endif
