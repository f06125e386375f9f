/* The Vulkan backend's own objects. Device memory is cut from large blocks and known to kernels by its address.
   A stream is command buffers ("batches") on one of the device's queues, and a timeline semaphore that counts
   them. Locks are taken in this order: a timeline's, the
   watcher's, a queue's, a code's, the gpu's, a lane's. */
#ifndef QN__VULKAN_H
#define QN__VULKAN_H

#include <pthread.h>
#include <stdatomic.h>

#include "backend/common/common.h"
#include "backend/vulkan/vk.h"

enum {
    QN__VK_MAX_LANES = 4, /* that streams share */
    QN__VK_OWN_LANES = 4, /* for streams that may never be done, each its own */
    QN__VK_ALL_LANES = QN__VK_MAX_LANES + QN__VK_OWN_LANES,
    QN__VK_LOCAL_ARGS = 64,                 /* __local arguments of a kernel */
    QN__VK_MAX_KEY = 3 + QN__VK_LOCAL_ARGS, /* specialisation constants */
    QN__VK_STAMPS = 256,                    /* timestamps in a query pool */
    QN__VK_BATCH = 64,                      /* commands that are gathered in a batch at most */
    QN__VK_CHUNK = 8 << 20,                 /* bytes of a piece of a staged transfer */
    QN__VK_STAGING_LIMIT = 64 << 20         /* bytes that a stream stages before it waits for the oldest */
};

typedef struct qn__vk_device {
    VkPhysicalDevice handle;
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceVulkan11Properties properties_11;
} qn__vk_device;

struct qn__driver {
    const qn__services *services;
    void *library;
    VkInstance instance;
    uint32_t api_version; /* asked for: 1.2 or 1.3 */
    qn__vk_instance_functions vk;
    VkGetPhysicalDeviceCooperativeMatrixPropertiesKHR *get_matrices; /* NULL: the loader does not know it */
    qn__vk_device *devices; /* those that can be used; software last */
    uint32_t num_devices;
};

/* ---- memory ---- */

typedef enum qn__vk_heap_kind {
    QN__VK_DEVICE_HEAP, /* what kernels work on */
    QN__VK_UPLOAD_HEAP, /* written by the host, read by kernels: near the device if there is such memory */
    QN__VK_HOST_HEAP,   /* staging and pinned memory */
    QN__VK_HEAP_COUNT
} qn__vk_heap_kind;

typedef struct qn__vk_block qn__vk_block;

/* A piece of a block, free or in use; the pieces of a block are a list in the order of their addresses. */
struct qn__memory {
    qn__vk_block *block;
    uint64_t offset, size;
    qn__memory *before, *behind;
    qn__memory *free_before, *free_behind;
    bool used;
};

struct qn__vk_block {
    qn__vk_block *next;
    VkDeviceMemory memory;
    VkBuffer buffer; /* over the whole block */
    uint64_t address, size, used;
    uint64_t allocated;    /* bytes of the memory, where it can be exported */
    unsigned char *mapped; /* NULL: the host cannot see it */
    bool single;           /* made for one piece */
    qn__memory *first, *first_free;
};

typedef struct qn__vk_heap {
    uint32_t type; /* of the memory; its index */
    bool host_visible;
    uint64_t block_size, pool_limit;
    uint64_t pooled; /* bytes of empty blocks */
    qn__vk_block *blocks;
} qn__vk_heap;

/* Memory of host_create. */
typedef struct qn__vk_pinned {
    struct qn__vk_pinned *next;
    qn__memory *memory;
} qn__vk_pinned;

/* ---- device ---- */

/* A queue of the driver's, which several streams may share. */
typedef struct qn__vk_lane {
    pthread_mutex_t lock;
    VkQueue queue;
    bool taken; /* one of those for a stream alone; the gpu's lock guards it */
} qn__vk_lane;

/* The thread that submits what has gathered (watch.c). */
typedef struct qn__vk_watcher {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t work;
    qn__queue *first; /* watched streams */
    bool started, stop, asleep;
} qn__vk_watcher;

/* A place for a timestamp, held by the mark and by the batch that writes it. */
typedef struct qn__vk_stamp {
    struct qn__vk_stamp *next;
    VkQueryPool pool;
    uint32_t index;
    unsigned references;
} qn__vk_stamp;

typedef struct qn__vk_stamp_pool {
    struct qn__vk_stamp_pool *next;
    VkQueryPool pool;
    qn__vk_stamp stamps[QN__VK_STAMPS];
} qn__vk_stamp_pool;

/* What the device can do, from its features and limits. */
typedef struct qn__vk_abilities {
    uint32_t api_version;
    bool f16, f64, i8, i16, i64, storage_8, storage_16, i64_atomics, float_atomic_add;
    bool sub_groups, shuffles, sub_group_sizes, feedback, budget, statistics;
    bool matrices, bf16_matrices, f8_matrices; /* fragments are types, elements of theirs are these, too */
    bool fma, loop_results, zeros, byte_swaps, cut_signs, dot4, float_controls; /* see target/target.def */
    bool long_differences, long_signs;                                          /* the same */
    bool denormals, nearest;                                                    /* the same */
    bool flushes_compared;                                                      /* the same */
    bool f32_denormals;                      /* kept, whether or not a module asks for it */
    bool closes_failed;                      /* a descriptor of memory, also when it does not take it */
    bool coherent;                           /* host and running kernels see each other's writes */
    uint32_t import_handles, export_handles; /* qn_handle_kind bits */
    uint64_t import_alignment;               /* of host memory that becomes a buffer; 0: none can */
    uint32_t min_sub_group, max_sub_group;
    uint32_t private_bytes, loop_limit; /* see target/target.def */
    uint32_t compute_units;             /* 0: not known */
    uint32_t driver_id;                 /* VK_DRIVER_ID_* */
} qn__vk_abilities;

struct qn__gpu {
    const qn__services *services;
    qn__driver *driver;
    const qn__vk_device *physical;
    VkDevice device;
    qn__vk_device_functions vk;
    VkGetMemoryFdKHR *get_memory_fd; /* NULL, as the one below: there are no such handles */
    VkGetMemoryFdPropertiesKHR *get_fd_properties;
    VkGetMemoryHostPointerPropertiesEXT *get_host_pointer_properties; /* NULL: nothing is imported */
    VkGetPipelineExecutablePropertiesKHR *get_executables; /* NULL, as the one below: it tells nothing */
    VkGetPipelineExecutableStatisticsKHR *get_statistics;
    qn__vk_abilities can;
    uint32_t family, timestamp_bits;
    qn__vk_lane lanes[QN__VK_ALL_LANES];
    uint32_t num_lanes, all_lanes; /* shared ones first, then those for a stream alone */
    atomic_uint next_lane;
    VkPipelineLayout layout; /* of all pipelines: push constants, nothing else */
    bool unified;            /* device memory is host memory */
    atomic_bool host_looks;  /* there are buffers that the host sees without a transfer */
    uint32_t max_groups[3];
    uint64_t memory_size, max_buffer;
    pthread_mutex_t lock; /* of heaps, pinned, stamps and timelines */
    qn__vk_heap heaps[QN__VK_HEAP_COUNT];
    qn__vk_pinned *pinned;
    qn__vk_stamp_pool *stamp_pools;
    qn__vk_stamp *free_stamps;
    struct qn__vk_timeline *free_timelines;
    qn__vk_watcher watcher;
    qn__loss loss;
    char driver_text[640], cache_key[1024];
};

/* driver.c */
qn_status qn__vk_open(const qn__services *services, qn__driver **driver, uint32_t *num_devices, char *why);
void qn__vk_close(qn__driver *driver);
void qn__vk_identify(const qn__driver *driver, uint32_t index, qn__identity *identity);

/* fail.c */
/* A word for a result: "out of device memory". */
const char *qn__vk_text(VkResult result);
/* The status for a failed call, with a message: "vkCreateBuffer: out of device memory". Where the call says so, the device
   is lost from now on. `gpu` may be NULL: there is none yet. */
qn_status qn__vk_failed(qn__gpu *gpu, const char *function, VkResult result, char *why);
/* The device is gone: remembers why, with the names of the kernels that were running, or NULL. */
qn_status qn__vk_lost(qn__gpu *gpu, const qn__kernel_names *running, char *why);

/* device.c */
qn_status qn__vk_gpu_open(qn__driver *driver, uint32_t index, qn__gpu **gpu, char *why);
void qn__vk_gpu_close(qn__gpu *gpu);
void qn__vk_gpu_info(const qn__gpu *gpu, qn_device_info *info);
void qn__vk_target(const qn__gpu *gpu, qn__target *target);
uint32_t qn__vk_sub_group_size(const qn__gpu *gpu);
const char *qn__vk_cache_key(const qn__gpu *gpu);
/* features.c: what the device offers of what kernels can use; `chain` is what vkCreateDevice is given. */
typedef struct qn__vk_features {
    VkPhysicalDeviceFeatures2 base;
    VkPhysicalDeviceVulkan11Features v11;
    VkPhysicalDeviceVulkan12Features v12;
    VkPhysicalDeviceVulkan13Features v13;
    VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomic_float;
    VkPhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR workgroup_layout;
    VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR executables;
    VkPhysicalDeviceCooperativeMatrixFeaturesKHR matrices;
    VkPhysicalDeviceShaderBfloat16FeaturesKHR bf16;
    VkPhysicalDeviceShaderFloat8FeaturesEXT f8;
    const char *extensions[16];
    uint32_t num_extensions;
} qn__vk_features;
qn_status qn__vk_features_choose(const qn__driver *driver, const qn__vk_device *device,
                                 qn__vk_features *features, qn__vk_abilities *can, char *why);
/* The first thing that the backend needs and the device has not, as words; NULL: it can be used. */
const char *qn__vk_missing(const qn__driver *driver, VkPhysicalDevice device);

/* matrix.c: the shapes of matrix fragments that the device lists, into the target. */
void qn__vk_list_matrices(const qn__gpu *gpu, qn__target *target);

/* memory.c */
qn_status qn__vk_heaps_init(qn__gpu *gpu, char *why);
void qn__vk_heaps_free(qn__gpu *gpu);
VkBufferCreateInfo qn__vk_buffer_info(uint64_t size); /* of all buffers */
/* The block's buffer, for memory that comes by a handle of these types. */
qn_status qn__vk_buffer_over(qn__gpu *gpu, qn__vk_block *block, uint32_t handle_types, char *why);
void qn__vk_block_free(qn__gpu *gpu, qn__vk_block *block);
qn_status qn__vk_allocate(qn__gpu *gpu, qn__vk_heap_kind heap, uint64_t size, qn__memory **memory, char *why);
void qn__vk_release(qn__gpu *gpu, qn__memory *memory); /* NULL is fine */
static inline unsigned char *qn__vk_mapped(const qn__memory *memory) {
    return memory->block->mapped ? memory->block->mapped + memory->offset : NULL;
}
static inline uint64_t qn__vk_address(const qn__memory *memory) {
    return memory->block->address + memory->offset;
}
qn_status qn__vk_memory_create(qn__gpu *gpu, uint64_t size, qn__memory **memory, uint64_t *address,
                               void **host, char *why);
qn_status qn__vk_memory_share(qn__gpu *gpu, uint64_t size, qn__memory **memory, uint64_t *address,
                              void **host, char *why);
qn_status qn__vk_host_create(qn__gpu *gpu, uint64_t size, void **host, char *why);
void qn__vk_host_destroy(qn__gpu *gpu, void *host);
/* The pinned memory that [host, host + size) lies in and where; NULL: none. */
qn__memory *qn__vk_find_pinned(qn__gpu *gpu, const void *host, uint64_t size, uint64_t *offset);
void qn__vk_trim(qn__gpu *gpu, uint64_t *pooled);
uint64_t qn__vk_pooled(const qn__gpu *gpu);

/* import.c */
qn_status qn__vk_host_import(qn__gpu *gpu, void *host, uint64_t size, bool read_only, qn__memory **memory,
                             uint64_t *address, char *why);
void qn__vk_host_import_end(qn__gpu *gpu, qn__memory *memory, void *host, uint64_t size);

/* external.c */
qn_status qn__vk_external_create(qn__gpu *gpu, uint64_t size, uint32_t kinds, qn__memory **memory,
                                 uint64_t *address, void **host, char *why);
qn_status qn__vk_external_import(qn__gpu *gpu, const qn_import_desc *desc, qn__memory **memory,
                                 uint64_t *address, void **host, char *why);
qn_status qn__vk_external_export(qn__gpu *gpu, const qn__memory *memory, qn_handle_kind kind, qn_export *out,
                                 char *why);
void qn__vk_external_destroy(qn__gpu *gpu, qn__memory *memory, uint32_t import);

/* ---- recording ---- */

/* What is to be done when the commands are done, in order: bytes to the host, records to print; then the
   memory is given back. */
typedef struct qn__vk_after {
    struct qn__vk_after *next;
    qn__memory *memory;
    void *host;            /* READ: gets `size` bytes of the memory */
    const qn__code *print; /* whose records the memory holds */
    uint64_t size;
} qn__vk_after;

typedef struct qn__vk_use {
    const qn__memory *memory;
    bool writes;
} qn__vk_use;

enum {
    QN__VK_USES = 64,
    QN__VK_WORK_STAGES = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT
};

/* A command buffer under construction. */
typedef struct qn__vk_recorder {
    qn__gpu *gpu;
    VkCommandBuffer commands;
    qn__vk_after *first, *last;
    qn__memory *upload; /* room for parameter blocks and patterns, in `first` ... `last` as well */
    uint64_t upload_at;
    uint32_t stages;              /* that its commands use: a barrier is of no others */
    uint32_t before;              /* those of the commands before the next barrier */
    bool barrier;                 /* the next command waits for all before it */
    qn__vk_use uses[QN__VK_USES]; /* since the last barrier */
    uint32_t num_uses;
    bool host_reads; /* the host reads what the commands wrote */
    VkPipeline bound;
    unsigned char pushed[QN__MAX_PUSH_CONSTANTS]; /* the first pushed_size bytes are known */
    uint32_t pushed_size;
    uint64_t staged; /* bytes of staging memory */
    qn__kernel_names kernels;
} qn__vk_recorder;

/* record.c. Each records one command; on failure nothing of it, or a part that does no harm. */
void qn__vk_recorder_begin(qn__vk_recorder *r, qn__gpu *gpu, VkCommandBuffer commands, uint32_t stages);
void qn__vk_recorder_end(qn__vk_recorder *r);
/* Does what is to be done afterwards (`lost`: only gives the memory back) and empties the list. */
void qn__vk_recorder_finish(qn__vk_recorder *r, bool lost);
qn_status qn__vk_record_launch(qn__vk_recorder *r, const qn__command *command, char *why);
qn_status qn__vk_record_copy(qn__vk_recorder *r, const qn__command *command);
qn_status qn__vk_record_fill(qn__vk_recorder *r, const qn__command *command, char *why);
/* A piece [at, at + size) of a transfer, at most QN__VK_CHUNK bytes unless the host memory is pinned. */
qn_status qn__vk_record_write(qn__vk_recorder *r, const qn__command *command, uint64_t at, uint64_t size,
                              char *why);
qn_status qn__vk_record_read(qn__vk_recorder *r, const qn__command *command, uint64_t at, uint64_t size,
                             char *why);
void qn__vk_record_stamp(qn__vk_recorder *r, const qn__vk_stamp *stamp);
/* Bytes of the next piece of a transfer of which `rest` are left. */
uint64_t qn__vk_piece(const qn__command *command, uint64_t rest);

/* ---- queues ---- */

/* A stream's semaphore, kept by those who wait for it. */
typedef struct qn__vk_timeline {
    qn__gpu *gpu;
    atomic_uint references;
    VkSemaphore semaphore;
    pthread_mutex_t lock;
    qn__queue *queue; /* NULL: gone, and so all done */
    uint64_t last;    /* value given to a batch; the queue's lock guards it */
    struct qn__vk_timeline *next_free;
} qn__vk_timeline;

/* queue.c */
qn_status qn__vk_queue_create(qn__gpu *gpu, qn__queue **queue, char *why);
void qn__vk_queue_destroy(qn__queue *queue);
qn_status qn__vk_submit(qn__queue *queue, const qn__command *command, uint64_t *number, char *why);
uint64_t qn__vk_completed(qn__queue *queue); /* batch.c */
qn_status qn__vk_failure(qn__queue *queue, uint32_t *since, char *why);
qn_status qn__vk_set_persistent(qn__queue *queue, bool persistent, char *why);
void qn__vk_unfinished(qn__queue *queue, char *names, size_t size);
qn_status qn__vk_wait(qn__queue *queue, uint64_t number, uint64_t timeout_ns, char *why);
/* Submits a command buffer that was recorded before, behind its last submission, which this one then is. */
typedef struct qn__vk_reached qn__vk_reached;
qn_status qn__vk_submit_recorded(qn__queue *queue, const qn__vk_recorder *recorded, qn__vk_reached *last,
                                 uint64_t *number, char *why);
uint64_t qn__vk_native(const qn__gpu *gpu, const qn__queue *queue, const qn__memory *memory,
                       qn_native_kind kind);
/* The driver's queue is the caller's, and this thread's, until it is taken back. */
qn_status qn__vk_lend(qn__queue *queue, char *why);
qn_status qn__vk_take_back(qn__queue *queue, uint64_t *number, char *why);
/* Copies to memory now and waits; for what is loaded once. */
qn_status qn__vk_upload_now(qn__gpu *gpu, qn__memory *to, const void *data, uint64_t size, char *why);
/* Commands of a timeline up to `number` are handed to the driver. */
void qn__vk_timeline_flush(qn__vk_timeline *timeline);

/* timeline.c */
qn_status qn__vk_timeline_new(qn__gpu *gpu, qn__queue *queue, qn__vk_timeline **timeline, char *why);
void qn__vk_timeline_drop(qn__vk_timeline *timeline);
void qn__vk_timelines_free(qn__gpu *gpu);
/* NULL: none to be had, and the mark gets no time. */
qn__vk_stamp *qn__vk_stamp_new(qn__gpu *gpu);
void qn__vk_stamp_keep(qn__gpu *gpu, qn__vk_stamp *stamp); /* NULL is fine, here and below */
void qn__vk_stamp_drop(qn__gpu *gpu, qn__vk_stamp *stamp);
/* The device's clock in nanoseconds; without one, the time at which the host sees the event done. */
uint64_t qn__vk_stamp_time(qn__gpu *gpu, const qn__vk_stamp *stamp);
void qn__vk_stamps_free(qn__gpu *gpu);

/* watch.c */
void qn__vk_watcher_init(qn__gpu *gpu);
void qn__vk_watcher_stop(qn__gpu *gpu);

/* mark.c */
struct qn__vk_reached {        /* what a mark stands for */
    qn__vk_timeline *timeline; /* a reference for the caller; NULL: nothing recorded */
    uint64_t value;            /* that the timeline reaches with it */
    uint64_t number;           /* of the command */
};
qn_status qn__vk_mark_create(qn__gpu *gpu, qn__mark **mark, char *why);
void qn__vk_mark_destroy(qn__mark *mark);
bool qn__vk_mark_done(qn__mark *mark, uint64_t version, uint64_t *time_ns);
qn_status qn__vk_mark_wait(qn__mark *mark, uint64_t version, uint64_t timeout_ns, char *why);
/* The mark's newest recording is command `number`; timeline and stamp are given references. */
void qn__vk_mark_set(qn__mark *mark, uint64_t version, qn__vk_timeline *timeline, uint64_t value,
                     uint64_t number, qn__vk_stamp *stamp);
qn__vk_reached qn__vk_mark_get(qn__mark *mark);

/* ---- programs ---- */

/* What the driver's compiler tells of a pipeline. */
typedef enum qn__vk_statistic {
    QN__VK_REGISTERS, /* of a work-item */
    QN__VK_PRIVATE,   /* bytes of a work-item in memory */
    QN__VK_CODE_SIZE, /* bytes */
    QN__VK_SUB_GROUP_SIZE,
    QN__VK_STATISTICS
} qn__vk_statistic;

typedef struct qn__vk_pipeline { /* a kernel with a local size and sizes of local arguments */
    struct qn__vk_pipeline *next;
    VkPipeline handle;                /* 0: not made yet */
    bool asked;                       /* the driver, for the statistics */
    uint64_t told[QN__VK_STATISTICS]; /* 0: not known */
    uint32_t kernel, num_key;
    uint32_t key[]; /* specialisation constants 0, 1, ... */
} qn__vk_pipeline;

enum { QN__VK_BUCKETS = 32 };

struct qn__code {
    qn__gpu *gpu;
    const qn__code_info *info;
    VkShaderModule module;
    VkPipelineCache cache;
    qn__memory *constants;
    pthread_mutex_t lock; /* of the pipelines */
    qn__vk_pipeline *buckets[QN__VK_BUCKETS];
    /* the file of the disk cache */
    char *path;
    unsigned char *words; /* the module */
    size_t words_size;
    bool grown; /* the pipeline cache may hold more than the file */
};

/* code.c */
qn_status qn__vk_code_load(qn__gpu *gpu, const qn__code_source *source, qn__code **code, char *why);
void qn__vk_code_unload(qn__gpu *gpu, qn__code *code);
void qn__vk_choose_local(const qn__gpu *gpu, const qn__code *code, uint32_t kernel, const uint64_t global[3],
                         uint32_t local[3]);
/* pipeline.c */
qn_status qn__vk_pipeline_get(const qn__code *code, uint32_t kernel, const uint32_t *key, uint32_t num_key,
                              VkPipeline *pipeline, char *why);
/* What is known of that pipeline; it need not have been made. */
qn_status qn__vk_pipeline_statistics(const qn__code *code, uint32_t kernel, const uint32_t *key,
                                     uint32_t num_key, uint64_t told[QN__VK_STATISTICS], char *why);
void qn__vk_pipelines_free(qn__code *code);
/* The driver's call. `flags` other than 0: without the code's cache. The feedback is zeros where the driver gives
   none. */
qn_status qn__vk_pipeline_create(const qn__code *code, uint32_t kernel, const uint32_t *key, uint32_t num_key,
                                 uint32_t flags, VkPipelineCreationFeedback *feedback, VkPipeline *pipeline,
                                 char *why);

/* statistics.c */
qn_status qn__vk_statistics_ask(const qn__code *code, uint32_t kernel, const uint32_t *key, uint32_t num_key,
                                uint64_t told[QN__VK_STATISTICS], char *why);
qn_status qn__vk_kernel_resources(qn__gpu *gpu, const qn__code *code, uint32_t kernel,
                                  const uint32_t local[3], qn_kernel_resources *resources, char *why);

/* replay.c */
qn_status qn__vk_replay_create(qn__gpu *gpu, const qn__command *commands, size_t count, qn__replay **replay,
                               char *why);
void qn__vk_replay_destroy(qn__gpu *gpu, qn__replay *replay);
qn_status qn__vk_replay_submit(qn__queue *queue, qn__replay *replay, uint64_t *number, char *why);

#endif
