/* A device that accepts everything and computes nothing: kernels are compiled and launches checked, memory is
   a separate device memory that transfers really reach. With it the API, and the copying between host and
   device sides that shared memory never shows, are tested on any machine. Work is done when it is
   submitted. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "backend/common/common.h"
#include "util/file.h"

struct qn__driver {
    const qn__services *services;
};

struct qn__gpu {
    const qn__services *services;
};

struct qn__queue {
    qn__gpu *gpu;
    uint64_t submitted;
    qn__times *times; /* of what is submitted next, or NULL */
};

struct qn__mark {
    const qn__allocator *allocator;
    atomic_uint_fast64_t version, time_ns;
};

struct qn__code {
    uint32_t num_kernels;
};

struct qn__replay {
    qn__commands commands;
};

enum { MAX_BUFFER = 1 << 30 };

static qn_status null_open(const qn__services *services, qn__driver **driver, uint32_t *num_devices,
                           char *why) {
    (void)why;
    *driver = qn__allocate_zeroed(services->allocator, sizeof **driver);
    if (!*driver) return QN_ERROR_OUT_OF_MEMORY;
    (*driver)->services = services;
    *num_devices = 1;
    return QN_OK;
}

static void null_close(qn__driver *driver) { qn__release(driver->services->allocator, driver); }

static qn_status null_gpu_open(qn__driver *driver, uint32_t index, qn__gpu **gpu, char *why) {
    (void)index, (void)why;
    *gpu = qn__allocate_zeroed(driver->services->allocator, sizeof **gpu);
    if (!*gpu) return QN_ERROR_OUT_OF_MEMORY;
    (*gpu)->services = driver->services;
    return QN_OK;
}

static void null_gpu_close(qn__gpu *gpu) { qn__release(gpu->services->allocator, gpu); }

static void null_gpu_info(const qn__gpu *gpu, qn_device_info *info) {
    (void)gpu;
    *info = (qn_device_info){
        .description = "accepts everything, computes nothing",
        .driver = "",
        .capabilities = QN_CAN_PERSIST,
        .compute_units = 1,
        .sub_group_size = 32,
        .max_group_size = 1024,
        .max_local_size = {1024, 1024, 64},
        .max_global_size = {(uint64_t)1 << 40, 1 << 16, 1 << 16},
        .local_memory = 48 << 10,
        .memory = MAX_BUFFER,
        .max_buffer = MAX_BUFFER,
        .max_args_size = QN__MAX_ARGS_SIZE,
    };
}

static void null_target(const qn__gpu *gpu, qn__target *target) {
    (void)gpu;
    target->kind = QN__TARGET_IR;
}

static const char *null_cache_key(const qn__gpu *gpu) {
    (void)gpu;
    return "null";
}

static qn_status null_memory_create(qn__gpu *gpu, uint64_t size, qn__memory **memory, uint64_t *address,
                                    void **host, char *why) {
    *memory = qn__allocate(gpu->services->allocator, (size_t)size);
    *address = (uint64_t)(uintptr_t)*memory;
    *host = NULL;
    if (*memory) return QN_OK;
    snprintf(why, QN__WHY, "the system has no more memory");
    return QN_ERROR_DEVICE_MEMORY;
}

static void null_memory_destroy(qn__gpu *gpu, qn__memory *memory) {
    qn__release(gpu->services->allocator, memory);
}

static qn_status null_queue_create(qn__gpu *gpu, qn__queue **queue, char *why) {
    (void)why;
    *queue = qn__allocate_zeroed(gpu->services->allocator, sizeof **queue);
    if (!*queue) return QN_ERROR_OUT_OF_MEMORY;
    (*queue)->gpu = gpu;
    return QN_OK;
}

static void null_queue_destroy(qn__queue *queue) { qn__release(queue->gpu->services->allocator, queue); }

/* Recordings on several streams may come in any order. */
static void reach(atomic_uint_fast64_t *latest, uint_fast64_t version) {
    uint_fast64_t before = atomic_load(latest);
    while (before < version && !atomic_compare_exchange_weak(latest, &before, version)) {
    }
}

/* Of a command that has no such memory: NULL. */
static unsigned char *at(qn__memory *memory, uint64_t offset) {
    return memory ? (unsigned char *)memory + offset : NULL;
}

static void execute(const qn__command *command) {
    unsigned char *to = at(command->to, command->to_offset);
    const unsigned char *from = at(command->from, command->from_offset);
    switch (command->kind) {
    case QN__COMMAND_WRITE: memcpy(to, command->host, (size_t)command->size); break;
    case QN__COMMAND_READ: memcpy(command->host, from, (size_t)command->size); break;
    case QN__COMMAND_COPY: memmove(to, from, (size_t)command->size); break;
    case QN__COMMAND_FILL:
        for (uint64_t i = 0; i < command->size; i += command->pattern_size)
            memcpy(to + i, command->pattern, command->pattern_size);
        break;
    case QN__COMMAND_RECORD:
        atomic_store(&command->mark->time_ns, qn__now_ns());
        reach(&command->mark->version, command->mark_version);
        break;
    case QN__COMMAND_LAUNCH:
    case QN__COMMAND_WAIT: break;
    }
}

static void null_clock_next(qn__queue *queue, qn__times *times) { queue->times = times; }

static void note(qn__queue *queue, uint64_t begin_ns) {
    if (!queue->times) return;
    atomic_store(&queue->times->begin_ns, begin_ns);
    atomic_store(&queue->times->end_ns, qn__now_ns());
    queue->times = NULL;
}

static qn_status null_submit(qn__queue *queue, const qn__command *command, uint64_t *number, char *why) {
    (void)why;
    const uint64_t begin = queue->times ? qn__now_ns() : 0;
    execute(command);
    note(queue, begin);
    *number = ++queue->submitted;
    return QN_OK;
}

static uint64_t null_completed(qn__queue *queue) { return queue->submitted; }
static void null_cancel(qn__queue *queue) { (void)queue; /* all is done */ }
static qn_status null_set_persistent(qn__queue *queue, bool persistent, char *why) {
    (void)queue, (void)persistent, (void)why;
    return QN_OK;
}
static void null_unfinished(qn__queue *queue, char *names, size_t size) {
    (void)queue;
    if (size) names[0] = 0;
}

static qn_status null_wait(qn__queue *queue, uint64_t number, uint64_t timeout_ns, char *why) {
    (void)queue, (void)number, (void)timeout_ns, (void)why;
    return QN_OK;
}

static qn_status null_mark_create(qn__gpu *gpu, qn__mark **mark, char *why) {
    (void)why;
    *mark = qn__allocate_zeroed(gpu->services->allocator, sizeof **mark);
    if (!*mark) return QN_ERROR_OUT_OF_MEMORY;
    (*mark)->allocator = gpu->services->allocator;
    return QN_OK;
}

static void null_mark_destroy(qn__mark *mark) { qn__release(mark->allocator, mark); }

static bool null_mark_done(qn__mark *mark, uint64_t version, uint64_t *time_ns) {
    bool done = atomic_load(&mark->version) >= version;
    *time_ns = atomic_load(&mark->time_ns);
    return done;
}

static qn_status null_mark_wait(qn__mark *mark, uint64_t version, uint64_t timeout_ns, char *why) {
    (void)mark, (void)version, (void)timeout_ns, (void)why;
    return QN_OK;
}

static qn_status null_code_load(qn__gpu *gpu, const qn__code_source *source, qn__code **code, char *why) {
    (void)why;
    *code = qn__allocate_zeroed(gpu->services->allocator, sizeof **code);
    if (!*code) return QN_ERROR_OUT_OF_MEMORY;
    (*code)->num_kernels = source->info->num_kernels;
    return QN_OK;
}

static void null_code_unload(qn__gpu *gpu, qn__code *code) { qn__release(gpu->services->allocator, code); }

static void null_choose_local(const qn__gpu *gpu, const qn__code *code, uint32_t kernel,
                              const uint64_t global[3], uint32_t local[3]) {
    (void)gpu, (void)code, (void)kernel;
    local[0] = global[0] < 64 ? (uint32_t)global[0] : 64;
    if (local[0] == 0) local[0] = 1;
    local[1] = local[2] = 1;
}

static void null_replay_destroy(qn__gpu *gpu, qn__replay *replay) {
    qn__commands_free(gpu->services->allocator, &replay->commands);
    qn__release(gpu->services->allocator, replay);
}

static qn_status null_replay_create(qn__gpu *gpu, const qn__command *commands, size_t count, qn__replay **out,
                                    char *why) {
    (void)why;
    const qn__allocator *allocator = gpu->services->allocator;
    qn__replay *replay = qn__allocate_zeroed(allocator, sizeof *replay);
    if (!replay) return QN_ERROR_OUT_OF_MEMORY;
    qn_status status = qn__commands_copy(allocator, commands, count, &replay->commands);
    if (status)
        null_replay_destroy(gpu, replay);
    else
        *out = replay;
    return status;
}

static qn_status null_replay_submit(qn__queue *queue, qn__replay *replay, uint64_t *number, char *why) {
    (void)why;
    const uint64_t begin = queue->times ? qn__now_ns() : 0;
    for (size_t i = 0; i < replay->commands.count; i++) execute(replay->commands.list[i]);
    note(queue, begin);
    *number = ++queue->submitted;
    return QN_OK;
}

const qn_backend qn__backend_null = {
    .kind = QN_DEVICE_NULL,
    .name = "null",
    .single = true,
    .by_name_only = true,
    .is_hidden = true,
    .open = null_open,
    .close = null_close,
    .gpu_open = null_gpu_open,
    .gpu_close = null_gpu_close,
    .gpu_info = null_gpu_info,
    .target = null_target,
    .cache_key = null_cache_key,
    .memory_create = null_memory_create,
    .memory_destroy = null_memory_destroy,
    .queue_create = null_queue_create,
    .queue_destroy = null_queue_destroy,
    .submit = null_submit,
    .clock_next = null_clock_next,
    .completed = null_completed,
    .wait = null_wait,
    .cancel = null_cancel,
    .set_persistent = null_set_persistent,
    .unfinished = null_unfinished,
    .mark_create = null_mark_create,
    .mark_destroy = null_mark_destroy,
    .mark_done = null_mark_done,
    .mark_wait = null_mark_wait,
    .code_load = null_code_load,
    .code_unload = null_code_unload,
    .choose_local = null_choose_local,
    .replay_create = null_replay_create,
    .replay_destroy = null_replay_destroy,
    .replay_submit = null_replay_submit,
};
