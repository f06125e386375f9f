/* The checker as a device: kernels are interpreted under src/check, buffers are a memory of its own, and work is done when it
   is submitted, by the thread that submits it. One launch runs at a time. */
#include "check/check.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "backend/common/common.h"
#include "util/file.h"
#include "util/system.h"

enum {
    MAX_GROUP = 4096,
    LOCAL_MEMORY = 256 << 10,
    SUB_GROUP = 32,
    GROUP = 256,
    SYNC_GROUP = 64,
    MOST_SUPPRESSIONS = 1 << 20
};

struct qn__driver {
    const qn__services *services;
};

struct qn__gpu {
    const qn__services *services;
    qn__checker *checker;
    pthread_mutex_t lock; /* of the checker */
    uint64_t memory;
};

struct qn__queue {
    qn__gpu *gpu;
    uint64_t submitted;
    qn__times *times; /* of what is submitted next, or NULL */
    qn__sticky failure;
};

struct qn__mark {
    const qn__allocator *allocator;
    atomic_uint_fast64_t version, time_ns;
};

struct qn__code {
    const qn__code_info *info;
    qn__check_program **programs;
    qn__arena arena;
};

struct qn__replay {
    qn__commands commands;
};

/* ---- the device ---- */

static qn_status check_open(const qn__services *services, qn__driver **driver, uint32_t *num_devices,
                            char *why) {
    (void)why;
    *driver = qn__allocate_zeroed(services->allocator, sizeof **driver);
    if (!*driver) return QN_ERROR_OUT_OF_MEMORY;
    (*driver)->services = services;
    *num_devices = 1;
    return QN_OK;
}

static void check_close(qn__driver *driver) { qn__release(driver->services->allocator, driver); }

static void check_gpu_close(qn__gpu *gpu) {
    pthread_mutex_destroy(&gpu->lock);
    qn__checker_destroy(gpu->checker);
    qn__release(gpu->services->allocator, gpu);
}

/* $QUERN_CHECK_SUPPRESS: a file of suppressions. */
static qn_status suppress_file(qn__gpu *gpu, char *why) {
    const char *path = qn__environment("QUERN_CHECK_SUPPRESS");
    const qn__allocator *allocator = gpu->services->allocator;
    char *text = NULL;
    size_t size;
    if (!path || !path[0]) return QN_OK;
    const int error = qn__file_read(allocator, path, MOST_SUPPRESSIONS, &text, &size);
    if (error) {
        snprintf(why, QN__WHY, "QUERN_CHECK_SUPPRESS: '%.200s' cannot be read: %s", path, strerror(error));
        return QN_ERROR_IO;
    }
    const qn_status status = qn__check_suppress(gpu->checker, text, path, why, QN__WHY);
    qn__release(allocator, text);
    return status;
}

static qn_status check_gpu_open(qn__driver *driver, uint32_t index, qn__gpu **out, char *why) {
    (void)index;
    const qn__allocator *allocator = driver->services->allocator;
    qn__gpu *gpu = qn__allocate_zeroed(allocator, sizeof *gpu);
    qn__checker *checker = gpu ? qn__checker_create(allocator) : NULL;
    if (!checker) {
        qn__release(allocator, gpu);
        return QN_ERROR_OUT_OF_MEMORY;
    }
    gpu->services = driver->services;
    gpu->checker = checker;
    gpu->memory = qn__machine_memory();
    pthread_mutex_init(&gpu->lock, NULL);
    const qn_status status = suppress_file(gpu, why);
    if (status)
        check_gpu_close(gpu);
    else
        *out = gpu;
    return status;
}

static void check_gpu_info(const qn__gpu *gpu, qn_device_info *info) {
    *info = (qn_device_info){
        .description = "interprets kernels and looks for faults in them",
        .driver = "",
        .compute_units = 1,
        .sub_group_size = SUB_GROUP,
        .max_group_size = MAX_GROUP,
        .max_local_size = {MAX_GROUP, MAX_GROUP, MAX_GROUP},
        .max_global_size = {(uint64_t)1 << 48, (uint64_t)1 << 48, (uint64_t)1 << 48},
        .local_memory = LOCAL_MEMORY,
        .memory = gpu->memory,
        .max_buffer = gpu->memory,
        .max_args_size = QN__MAX_ARGS_SIZE,
    };
}

static void check_target(const qn__gpu *gpu, qn__target *target) {
    (void)gpu;
    target->kind = QN__TARGET_IR;
    target->sub_group_size = SUB_GROUP;
    target->wants_checks = true;
    target->lacks_fast_fma32 = target->lacks_fast_fma64 = true;
    target->wants_unrolled = true; /* what ends a loop is looked at for each work-item */
}

static const char *check_cache_key(const qn__gpu *gpu) {
    (void)gpu;
    return "check";
}

static qn_status check_memory_create(qn__gpu *gpu, uint64_t size, qn__memory **memory, uint64_t *address,
                                     void **host, char *why) {
    pthread_mutex_lock(&gpu->lock);
    *memory = qn__check_memory_create(gpu->checker, size);
    pthread_mutex_unlock(&gpu->lock);
    *address = (uint64_t)(uintptr_t)*memory;
    *host = NULL;
    if (*memory) return QN_OK;
    snprintf(why, QN__WHY, "the system has no more memory");
    return QN_ERROR_DEVICE_MEMORY;
}

static void check_memory_destroy(qn__gpu *gpu, qn__memory *memory) {
    pthread_mutex_lock(&gpu->lock);
    qn__check_memory_destroy(gpu->checker, memory);
    pthread_mutex_unlock(&gpu->lock);
}

static void check_memory_label(qn__gpu *gpu, qn__memory *memory, const char *label) {
    pthread_mutex_lock(&gpu->lock);
    qn__check_memory_label(gpu->checker, memory, label);
    pthread_mutex_unlock(&gpu->lock);
}

/* ---- programs ---- */

static void check_code_unload(qn__gpu *gpu, qn__code *code) {
    qn__arena_free(&code->arena);
    qn__release(gpu->services->allocator, code);
}

static qn_status prepare(qn__gpu *gpu, qn__code *code, const qn__code_source *source, char *why) {
    jmp_buf escape;
    code->arena.escape = &escape;
    if (setjmp(escape)) return QN_ERROR_OUT_OF_MEMORY;
    code->programs = QN__NEW_ARRAY(&code->arena, qn__check_program *, source->info->num_kernels + 1);
    for (uint32_t i = 0; i < source->info->num_kernels; i++) {
        const char *error = NULL, *name = source->info->kernels[i].name;
        code->programs[i] =
            qn__check_prepare(gpu->checker, &code->arena, source->module, name, SUB_GROUP, &error);
        if (code->programs[i]) continue;
        snprintf(why, QN__WHY, "kernel %.200s: %.200s", name, error);
        return QN_ERROR_UNSUPPORTED;
    }
    return QN_OK;
}

static qn_status check_code_load(qn__gpu *gpu, const qn__code_source *source, qn__code **out, char *why) {
    qn__code *code = qn__allocate_zeroed(gpu->services->allocator, sizeof *code);
    if (!code) return QN_ERROR_OUT_OF_MEMORY;
    code->info = source->info;
    qn__arena_init(&code->arena, gpu->services->allocator, 0);
    qn_status status = QN_OK;
    if (source->module) {
        status = prepare(gpu, code, source, why);
    } else if (source->info->num_kernels) {
        snprintf(why, QN__WHY, "the program is not in a form that can be checked");
        status = QN_ERROR_UNSUPPORTED;
    }
    if (status)
        check_code_unload(gpu, code);
    else
        *out = code;
    return status;
}

static void check_choose_local(const qn__gpu *gpu, const qn__code *code, uint32_t kernel,
                               const uint64_t global[3], uint32_t local[3]) {
    (void)gpu;
    const uint64_t wanted = code->info->kernels[kernel].uses_sync ? SYNC_GROUP : GROUP;
    local[0] = (uint32_t)(global[0] < wanted ? global[0] : wanted);
    if (local[0] == 0) local[0] = 1;
    local[1] = local[2] = 1;
}

/* ---- commands ---- */

/* The value of a %s argument is a host pointer here. */
static const char *print_string(void *user, uint64_t word) {
    (void)user;
    return (const char *)(uintptr_t)word;
}

static int32_t print(void *user, const char *format, const unsigned char *values, uint64_t size) {
    return qn__print_call(user, format, values, size, print_string, NULL);
}

static void tell(qn__gpu *gpu) {
    const uint32_t count = qn__check_count(gpu->checker);
    for (uint32_t i = qn__check_tell(gpu->checker); i < count; i++) {
        qn_finding finding;
        qn__check_get(gpu->checker, i, &finding);
        gpu->services->log(gpu->services->log_user,
                           qn_finding_kind_is_advice(finding.kind) ? QN_LOG_WARNING : QN_LOG_ERROR,
                           finding.text);
    }
}

static void launch(qn__queue *queue, const qn__command *command) {
    qn__gpu *gpu = queue->gpu;
    const qn_cpu_services services = {(void *)gpu->services, print};
    qn_cpu_launch run = {.work_dim = command->work_dim, .args = command->args, .services = &services};
    for (int d = 0; d < 3; d++) {
        run.global_size[d] = command->global[d];
        run.global_offset[d] = command->offset[d];
        run.local_size[d] = command->local[d];
        run.num_groups[d] = (command->global[d] + command->local[d] - 1) / command->local[d];
    }
    pthread_mutex_lock(&gpu->lock);
    const char *error = qn__check_run(gpu->checker, command->code->programs[command->kernel], &run,
                                      command->extents, command->local_memory);
    tell(gpu);
    pthread_mutex_unlock(&gpu->lock);
    if (!error) return;
    char why[QN__WHY];
    snprintf(why, sizeof why, "kernel %.200s: %.200s", command->kernel_name, error);
    qn__sticky_set(&queue->failure, QN_ERROR_KERNEL_FAILED, why);
}

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

static void wrote(qn__gpu *gpu, unsigned char *to, uint64_t size) {
    pthread_mutex_lock(&gpu->lock);
    qn__check_wrote(gpu->checker, to, size);
    pthread_mutex_unlock(&gpu->lock);
}

static void execute(qn__queue *queue, const qn__command *command) {
    unsigned char *to = at(command->to, command->to_offset);
    const unsigned char *from = at(command->from, command->from_offset);
    switch (command->kind) {
    case QN__COMMAND_WRITE:
        memcpy(to, command->host, (size_t)command->size);
        wrote(queue->gpu, to, command->size);
        break;
    case QN__COMMAND_READ: memcpy(command->host, from, (size_t)command->size); break;
    case QN__COMMAND_COPY:
        memmove(to, from, (size_t)command->size);
        pthread_mutex_lock(&queue->gpu->lock);
        qn__check_copied(queue->gpu->checker, to, from, command->size);
        pthread_mutex_unlock(&queue->gpu->lock);
        break;
    case QN__COMMAND_FILL:
        for (uint64_t i = 0; i < command->size; i += command->pattern_size)
            memcpy(to + i, command->pattern, command->pattern_size);
        wrote(queue->gpu, to, command->size);
        break;
    case QN__COMMAND_RECORD:
        atomic_store(&command->mark->time_ns, qn__now_ns());
        reach(&command->mark->version, command->mark_version);
        break;
    case QN__COMMAND_LAUNCH: launch(queue, command); break;
    case QN__COMMAND_WAIT: break;
    }
}

static qn_status check_queue_create(qn__gpu *gpu, qn__queue **queue, char *why) {
    (void)why;
    *queue = qn__allocate_zeroed(gpu->services->allocator, sizeof **queue);
    if (!*queue) return QN_ERROR_OUT_OF_MEMORY;
    (*queue)->gpu = gpu;
    return QN_OK;
}

static void check_queue_destroy(qn__queue *queue) { qn__release(queue->gpu->services->allocator, queue); }
static void check_clock_next(qn__queue *queue, qn__times *times) { queue->times = times; }

static void note(qn__queue *queue, uint64_t begin_ns) {
    if (!queue->times) return;
    atomic_store(&queue->times->begin_ns, begin_ns);
    atomic_store(&queue->times->end_ns, qn__now_ns());
    queue->times = NULL;
}

static qn_status check_submit(qn__queue *queue, const qn__command *command, uint64_t *number, char *why) {
    (void)why;
    const uint64_t begin = queue->times ? qn__now_ns() : 0;
    execute(queue, command);
    note(queue, begin);
    *number = ++queue->submitted;
    return QN_OK;
}

static uint64_t check_completed(qn__queue *queue) { return queue->submitted; }

static void check_unfinished(qn__queue *queue, char *names, size_t size) {
    (void)queue;
    if (size) names[0] = 0;
}

static qn_status check_wait(qn__queue *queue, uint64_t number, uint64_t timeout_ns, char *why) {
    (void)number, (void)timeout_ns;
    return qn__sticky_take(&queue->failure, why);
}

static qn_status check_failure(qn__queue *queue, uint32_t *since, char *why) {
    return qn__sticky_look(&queue->failure, since, why);
}

/* ---- events ---- */

static qn_status check_mark_create(qn__gpu *gpu, qn__mark **mark, char *why) {
    (void)why;
    *mark = qn__allocate_zeroed(gpu->services->allocator, sizeof **mark);
    if (!*mark) return QN_ERROR_OUT_OF_MEMORY;
    (*mark)->allocator = gpu->services->allocator;
    return QN_OK;
}

static void check_mark_destroy(qn__mark *mark) { qn__release(mark->allocator, mark); }

static bool check_mark_done(qn__mark *mark, uint64_t version, uint64_t *time_ns) {
    const bool done = atomic_load(&mark->version) >= version;
    *time_ns = atomic_load(&mark->time_ns);
    return done;
}

static qn_status check_mark_wait(qn__mark *mark, uint64_t version, uint64_t timeout_ns, char *why) {
    (void)mark, (void)version, (void)timeout_ns, (void)why;
    return QN_OK;
}

/* ---- graphs ---- */

static void check_replay_destroy(qn__gpu *gpu, qn__replay *replay) {
    qn__commands_free(gpu->services->allocator, &replay->commands);
    qn__release(gpu->services->allocator, replay);
}

static qn_status check_replay_create(qn__gpu *gpu, const qn__command *commands, size_t count,
                                     qn__replay **out, char *why) {
    (void)why;
    const qn__allocator *allocator = gpu->services->allocator;
    qn__replay *replay = qn__allocate_zeroed(allocator, sizeof *replay);
    if (!replay) return QN_ERROR_OUT_OF_MEMORY;
    const qn_status status = qn__commands_copy(allocator, commands, count, &replay->commands);
    if (status)
        check_replay_destroy(gpu, replay);
    else
        *out = replay;
    return status;
}

static qn_status check_replay_submit(qn__queue *queue, qn__replay *replay, uint64_t *number, char *why) {
    (void)why;
    const uint64_t begin = queue->times ? qn__now_ns() : 0;
    for (size_t i = 0; i < replay->commands.count; i++) execute(queue, replay->commands.list[i]);
    note(queue, begin);
    *number = ++queue->submitted;
    return QN_OK;
}

/* ---- findings ---- */

static uint32_t check_finding_count(qn__gpu *gpu) {
    pthread_mutex_lock(&gpu->lock);
    const uint32_t count = qn__check_count(gpu->checker);
    pthread_mutex_unlock(&gpu->lock);
    return count;
}

static bool check_finding_get(qn__gpu *gpu, uint32_t index, qn_finding *finding) {
    pthread_mutex_lock(&gpu->lock);
    const bool exists = index < qn__check_count(gpu->checker);
    if (exists) qn__check_get(gpu->checker, index, finding);
    pthread_mutex_unlock(&gpu->lock);
    return exists;
}

static void check_finding_clear(qn__gpu *gpu) {
    pthread_mutex_lock(&gpu->lock);
    qn__check_clear(gpu->checker);
    pthread_mutex_unlock(&gpu->lock);
}

static qn_status check_configure(qn__gpu *gpu, const qn_check_desc *desc, char *why) {
    pthread_mutex_lock(&gpu->lock);
    const qn_status status = qn__check_configure(gpu->checker, desc, why, QN__WHY);
    pthread_mutex_unlock(&gpu->lock);
    return status;
}

static uint32_t check_profile_count(qn__gpu *gpu) {
    pthread_mutex_lock(&gpu->lock);
    const uint32_t count = qn__check_profile_count(gpu->checker);
    pthread_mutex_unlock(&gpu->lock);
    return count;
}

static bool check_profile_get(qn__gpu *gpu, uint32_t index, qn_check_profile *profile) {
    pthread_mutex_lock(&gpu->lock);
    const bool exists = index < qn__check_profile_count(gpu->checker);
    if (exists) qn__check_profile_get(gpu->checker, index, profile);
    pthread_mutex_unlock(&gpu->lock);
    return exists;
}

static void check_stats(qn__gpu *gpu, qn_check_stats *stats) {
    pthread_mutex_lock(&gpu->lock);
    *stats = qn__check_stats(gpu->checker);
    pthread_mutex_unlock(&gpu->lock);
}

static qn_status check_suppress(qn__gpu *gpu, const char *text, const char *path, char *why) {
    pthread_mutex_lock(&gpu->lock);
    const qn_status status = qn__check_suppress(gpu->checker, text, path, why, QN__WHY);
    pthread_mutex_unlock(&gpu->lock);
    return status;
}

static uint32_t check_suppression_count(qn__gpu *gpu) {
    pthread_mutex_lock(&gpu->lock);
    const uint32_t count = qn__check_suppression_count(gpu->checker);
    pthread_mutex_unlock(&gpu->lock);
    return count;
}

static bool check_suppression_get(qn__gpu *gpu, uint32_t index, qn_suppression *suppression) {
    pthread_mutex_lock(&gpu->lock);
    const bool exists = index < qn__check_suppression_count(gpu->checker);
    if (exists) qn__check_suppression_get(gpu->checker, index, suppression);
    pthread_mutex_unlock(&gpu->lock);
    return exists;
}

const qn_backend qn__backend_check = {
    .kind = QN_DEVICE_CHECK,
    .name = "check",
    .single = true,
    .by_name_only = true,
    .open = check_open,
    .close = check_close,
    .gpu_open = check_gpu_open,
    .gpu_close = check_gpu_close,
    .gpu_info = check_gpu_info,
    .target = check_target,
    .cache_key = check_cache_key,
    .memory_create = check_memory_create,
    .memory_destroy = check_memory_destroy,
    .queue_create = check_queue_create,
    .queue_destroy = check_queue_destroy,
    .submit = check_submit,
    .clock_next = check_clock_next,
    .completed = check_completed,
    .wait = check_wait,
    .failure = check_failure,
    .unfinished = check_unfinished,
    .mark_create = check_mark_create,
    .mark_destroy = check_mark_destroy,
    .mark_done = check_mark_done,
    .mark_wait = check_mark_wait,
    .code_load = check_code_load,
    .code_unload = check_code_unload,
    .choose_local = check_choose_local,
    .replay_create = check_replay_create,
    .replay_destroy = check_replay_destroy,
    .replay_submit = check_replay_submit,
    .finding_count = check_finding_count,
    .finding_get = check_finding_get,
    .finding_clear = check_finding_clear,
    .check_configure = check_configure,
    .check_stats = check_stats,
    .profile_count = check_profile_count,
    .profile_get = check_profile_get,
    .check_suppress = check_suppress,
    .suppression_count = check_suppression_count,
    .suppression_get = check_suppression_get,
    .memory_label = check_memory_label,
};
