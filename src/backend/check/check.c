/* The checker as a device: kernels are interpreted under src/check, buffers are a memory of its own. One launch runs at a
   time. */
#include "check/check.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "backend/common/host_queue.h"
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

struct qn__code {
    const qn__code_info *info;
    qn__check_program **programs;
    qn__arena arena;
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
        .capabilities = QN_CAN_SHARE_COHERENTLY,
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

static qn_status make_memory(qn__gpu *gpu, uint64_t size, bool is_shared, qn__memory **memory, char *why) {
    pthread_mutex_lock(&gpu->lock);
    *memory = qn__check_memory_create(gpu->checker, size, is_shared);
    pthread_mutex_unlock(&gpu->lock);
    if (*memory) return QN_OK;
    snprintf(why, QN__WHY, "the system has no more memory");
    return QN_ERROR_DEVICE_MEMORY;
}

static qn_status check_memory_create(qn__gpu *gpu, uint64_t size, qn__memory **memory, uint64_t *address,
                                     void **host, char *why) {
    const qn_status status = make_memory(gpu, size, false, memory, why);
    *address = (uint64_t)(uintptr_t)*memory;
    *host = NULL;
    return status;
}

static qn_status check_memory_share(qn__gpu *gpu, uint64_t size, qn__memory **memory, uint64_t *address,
                                    void **host, char *why) {
    const qn_status status = make_memory(gpu, size, true, memory, why);
    *address = (uint64_t)(uintptr_t)*memory;
    *host = *memory;
    return status;
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

static const char *run(qn__gpu *gpu, const qn__command *command, void *worker, qn__host_running *running,
                       char *why) {
    (void)worker, (void)why;
    const qn_cpu_services services = {(void *)gpu->services, print};
    qn_cpu_launch launch = {.work_dim = command->work_dim, .args = command->args, .services = &services};
    for (int d = 0; d < 3; d++) {
        launch.global_size[d] = command->global[d];
        launch.global_offset[d] = command->offset[d];
        launch.local_size[d] = command->local[d];
        launch.num_groups[d] = (command->global[d] + command->local[d] - 1) / command->local[d];
    }
    const char *error = NULL;
    pthread_mutex_lock(&gpu->lock);
    if (!qn__host_show(running, &launch.cancelled))
        error = qn__check_run(gpu->checker, command->code->programs[command->kernel], &launch,
                              command->extents, command->local_memory);
    tell(gpu);
    pthread_mutex_unlock(&gpu->lock);
    return qn__host_show(running, NULL) ? qn__host_cancelled : error;
}

/* Of what a command has put into memory each byte is known to be written, or as much so as where it is from. */
static void moved(qn__gpu *gpu, const qn__command *command) {
    unsigned char *to = (unsigned char *)command->to + command->to_offset;
    const unsigned char *from = (const unsigned char *)command->from + command->from_offset;
    pthread_mutex_lock(&gpu->lock);
    if (command->kind == QN__COMMAND_COPY)
        qn__check_copied(gpu->checker, to, from, command->size);
    else if (command->kind == QN__COMMAND_WRITE || command->kind == QN__COMMAND_FILL)
        qn__check_wrote(gpu->checker, to, command->size);
    pthread_mutex_unlock(&gpu->lock);
}

/* ---- streams ---- */

static const qn__host_kind kind = {.run = run, .moved = moved};

static qn_status check_queue_create(qn__gpu *gpu, qn__queue **queue, char *why) {
    return qn__host_queue_create(&kind, gpu->services->allocator, gpu, queue, why);
}

static qn_status check_mark_create(qn__gpu *gpu, qn__mark **mark, char *why) {
    (void)why;
    return qn__host_mark_create(gpu->services->allocator, mark);
}

static qn_status check_replay_create(qn__gpu *gpu, const qn__command *commands, size_t count,
                                     qn__replay **replay, char *why) {
    return qn__host_replay_create(&kind, gpu->services->allocator, gpu, commands, count, replay, why);
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
    .is_hidden = true,
    .open = check_open,
    .close = check_close,
    .gpu_open = check_gpu_open,
    .gpu_close = check_gpu_close,
    .gpu_info = check_gpu_info,
    .target = check_target,
    .cache_key = check_cache_key,
    .memory_create = check_memory_create,
    .memory_share = check_memory_share,
    .memory_destroy = check_memory_destroy,
    .queue_create = check_queue_create,
    .queue_destroy = qn__host_queue_destroy,
    .submit = qn__host_submit,
    .clock_next = qn__host_clock_next,
    .completed = qn__host_completed,
    .wait = qn__host_wait,
    .failure = qn__host_failure,
    .cancel = qn__host_cancel,
    .unfinished = qn__host_unfinished,
    .mark_create = check_mark_create,
    .mark_destroy = qn__host_mark_destroy,
    .mark_done = qn__host_mark_done,
    .mark_wait = qn__host_mark_wait,
    .code_load = check_code_load,
    .code_unload = check_code_unload,
    .choose_local = check_choose_local,
    .replay_create = check_replay_create,
    .replay_destroy = qn__host_replay_destroy,
    .replay_submit = qn__host_replay_submit,
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
