/* The CPU device: what it is, and the backend's table. */
#include "backend/cpu/cpu.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/file.h"
#include "util/hash.h"
#include "util/system.h"
#include "util/trap.h"

/* A path, or a program on PATH; false when it is not there. */
static bool find_compiler(const char *name, char *out, size_t size) {
    if (!strchr(name, '/')) return qn__find_program(name, out, size);
    snprintf(out, size, "%s", name);
    return qn__is_program(name);
}

static void choose_compiler(const qn__services *services, char *out, size_t size) {
    static const char *const usual[] = {"cc", "gcc", "clang"};
    out[0] = 0;
    if (!qn__compiles_for_itself()) return;
    if (services->cpu_compiler) {
        if (strcmp(services->cpu_compiler, "none") == 0) return;
        if (find_compiler(services->cpu_compiler, out, size)) return;
        char text[512];
        snprintf(text, sizeof text, "cpu: the C compiler '%.300s' is not there; kernels are interpreted",
                 services->cpu_compiler);
        services->log(services->log_user, QN_LOG_WARNING, text);
        out[0] = 0;
        return;
    }
    for (size_t i = 0; i < QN__COUNT(usual); i++)
        if (find_compiler(usual[i], out, size)) return;
    out[0] = 0;
    services->log(services->log_user, QN_LOG_WARNING,
                  "cpu: no C compiler (cc, gcc, clang) on PATH; kernels are interpreted");
}

static qn_status cpu_open(const qn__services *services, qn__driver **driver, uint32_t *num_devices,
                          char *why) {
    (void)why;
    *driver = qn__allocate_zeroed(services->allocator, sizeof **driver);
    if (!*driver) return QN_ERROR_OUT_OF_MEMORY;
    (*driver)->services = services;
    choose_compiler(services, (*driver)->compiler, sizeof(*driver)->compiler);
    *num_devices = 1;
    return QN_OK;
}

static void cpu_close(qn__driver *driver) { qn__release(driver->services->allocator, driver); }

/* Copies the value of a line like "model name : ..." */
static void cpuinfo_line(const char *text, const char *name, char *out, size_t size) {
    const char *at = strstr(text, name), *colon = at ? strchr(at, ':') : NULL;
    out[0] = 0;
    if (!colon) return;
    colon += strspn(colon, ": \t");
    snprintf(out, size, "%.*s", (int)strcspn(colon, "\n"), colon);
}

/* The cache's key: code for this processor by this compiler. The compiler is known by its file, because
   asking it for its version would cost more than loading from the cache may take. */
static void describe(qn__gpu *gpu) {
    char text[8192] = "", vendor[64] = "", model[128] = "", flags[4096] = "";
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (file) {
        size_t got = fread(text, 1, sizeof text - 1, file);
        text[got] = 0;
        fclose(file);
    }
    cpuinfo_line(text, "vendor_id", vendor, sizeof vendor);
    cpuinfo_line(text, "model name", model, sizeof model);
    cpuinfo_line(text, "flags", flags, sizeof flags);
    if (!flags[0]) cpuinfo_line(text, "Features", flags, sizeof flags); /* as Arm says */
    gpu->machine = qn__cpu_machine(flags);
    gpu->has_tile_registers = qn__cpu_has_tile_registers(flags);
    gpu->has_pair_products = qn__cpu_has_pair_products(vendor, flags);
    qn__program compiler = {.path = "interpreter"};
    if (gpu->compiler[0] && !qn__program_identify(gpu->compiler, &compiler))
        compiler = (qn__program){.path = "interpreter"};
    const char *slash = strrchr(compiler.path, '/'), *base = slash ? slash + 1 : compiler.path;
    snprintf(gpu->description, sizeof gpu->description, "%s, %u threads", model[0] ? model : "processor",
             gpu->num_workers);
    snprintf(gpu->driver, sizeof gpu->driver, "%.120s", base);
    snprintf(gpu->cache_key, sizeof gpu->cache_key, "abi %d %.400s %lld %lld %s %016llx", QN__CPU_ABI_VERSION,
             compiler.path, (long long)compiler.size, (long long)compiler.time, model,
             (unsigned long long)qn__hash(flags, strlen(flags), 0));
}

static qn_status cpu_gpu_open(qn__driver *driver, uint32_t index, qn__gpu **out, char *why) {
    (void)index;
    const qn__services *services = driver->services;
    qn__gpu *gpu = qn__allocate_zeroed(services->allocator, sizeof *gpu);
    if (!gpu) return QN_ERROR_OUT_OF_MEMORY;
    gpu->services = services;
    gpu->compiler = driver->compiler;
    gpu->memory = qn__machine_memory();
    gpu->pool = qn__pool_create(services->allocator, services->cpu_threads);
    gpu->num_workers = gpu->pool ? qn__pool_threads(gpu->pool) : 0;
    gpu->workers =
        gpu->pool ? qn__allocate_zeroed(services->allocator, gpu->num_workers * sizeof *gpu->workers) : NULL;
    if (!gpu->workers) {
        snprintf(why, QN__WHY, "threads or memory for them are not to be had");
        qn__pool_destroy(gpu->pool);
        qn__release(services->allocator, gpu);
        return QN_ERROR_OUT_OF_MEMORY;
    }
    describe(gpu);
    gpu->traps = gpu->compiler[0] && !services->cpu_leave_signals && qn__traps_open();
    pthread_mutex_init(&gpu->compile_lock, NULL);
    pthread_mutex_init(&gpu->memory_lock, NULL);
    pthread_cond_init(&gpu->compile_left, NULL);
    *out = gpu;
    return QN_OK;
}

static void cpu_gpu_close(qn__gpu *gpu) {
    pthread_cond_destroy(&gpu->compile_left);
    pthread_mutex_destroy(&gpu->compile_lock);
    pthread_mutex_destroy(&gpu->memory_lock);
    qn__pool_destroy(gpu->pool);
    if (gpu->traps) qn__traps_close();
    for (unsigned i = 0; i < gpu->num_workers; i++)
        qn__release(gpu->services->allocator, gpu->workers[i].memory);
    qn__release(gpu->services->allocator, gpu->workers);
    qn__release(gpu->services->allocator, gpu);
}

static void cpu_gpu_info(const qn__gpu *gpu, qn_device_info *info) {
    *info = (qn_device_info){
        .description = gpu->description,
        .driver = gpu->driver,
        .capabilities = QN_CAN_SHARE_MEMORY | QN_CAN_SHARE_COHERENTLY | QN_CAN_IMPORT_HOST | QN_CAN_PERSIST,
        .compute_units = gpu->num_workers,
        .sub_group_size = QN__CPU_SUB_GROUP,
        .max_group_size = QN__CPU_MAX_GROUP,
        .max_local_size = {QN__CPU_MAX_GROUP, QN__CPU_MAX_GROUP, QN__CPU_MAX_GROUP},
        .max_global_size = {(uint64_t)1 << 48, (uint64_t)1 << 48, (uint64_t)1 << 48},
        .local_memory = QN__CPU_LOCAL_MEMORY,
        .memory = gpu->memory,
        .max_buffer = gpu->memory,
        .max_args_size = QN__MAX_ARGS_SIZE,
    };
}

static void cpu_target(const qn__gpu *gpu, qn__target *target) {
    target->sub_group_size = QN__CPU_SUB_GROUP;
    target->kind = gpu->compiler[0] ? QN__TARGET_C : QN__TARGET_IR;
    if (!gpu->compiler[0]) return;
    target->vector_bytes = qn__cpu_vector_bytes(gpu);
    target->has_tile_registers = gpu->has_tile_registers;
    target->has_pair_products = gpu->has_pair_products;
}

static const char *cpu_cache_key(const qn__gpu *gpu) { return gpu->cache_key; }

/* ---- local sizes ---- */

/* So many rows of one dimension that a group has `room` work-items more, if there are enough groups for all threads. */
static uint32_t rows_of_group(const qn__gpu *gpu, uint64_t rows, uint64_t room, uint64_t others) {
    const uint64_t least = gpu->num_workers > 1 ? gpu->num_workers * 8u : 1;
    uint64_t count = rows < room ? rows : room;
    while (count > 1 && (rows + count - 1) / count * others < least) count /= 2;
    return count ? (uint32_t)count : 1;
}

/* Without synchronisation a group is only a piece of work for a thread: long rows, or several short ones, and enough pieces for
   all threads. With it, a usual GPU size. */
static void cpu_choose_local(const qn__gpu *gpu, const qn__code *code, uint32_t kernel,
                             const uint64_t global[3], uint32_t local[3]) {
    uint64_t rows = global[1] * global[2], wanted = 1024;
    if (code->kernels[kernel].uses_sync)
        wanted = 64;
    else if (rows < gpu->num_workers * 4u) {
        uint64_t share = global[0] / (gpu->num_workers * 8u) / 16 * 16;
        if (share < wanted) wanted = share < 16 ? 16 : share;
    }
    local[0] = (uint32_t)(global[0] < wanted ? global[0] : wanted);
    if (local[0] == 0) local[0] = 1;
    local[1] = local[2] = 1;
    if (code->kernels[kernel].uses_sync) return;
    const uint64_t groups = (global[0] + local[0] - 1) / local[0];
    local[1] = rows_of_group(gpu, global[1], wanted / local[0], groups * global[2]);
    if (local[1] < global[1]) return;
    local[2] = rows_of_group(gpu, global[2], wanted / local[0] / local[1], groups);
}

/* A thread, which counts as a compute unit, runs a group at a time. */
static qn_status cpu_kernel_resources(qn__gpu *gpu, const qn__code *code, uint32_t kernel,
                                      const uint32_t local[3], qn_kernel_resources *resources, char *why) {
    (void)gpu, (void)local, (void)why;
    if (atomic_load(&code->kernels[kernel].function)) resources->code_size = code->kernels[kernel].code_size;
    resources->private_memory = code->info->kernels[kernel].scratch_per_item;
    resources->resident_groups = 1;
    return QN_OK;
}

/* ---- streams ---- */

/* Who waits may have little stack left; a launch that takes more is left to the stream's thread. */
static bool is_for_any_thread(const qn__command *launch) {
    enum { CALLER_STACK = 32 << 10 };
    const struct qn__cpu_code_kernel *kernel = &launch->code->kernels[launch->kernel];
    return launch->code->info->kernels[launch->kernel].stack <= CALLER_STACK &&
           (!kernel->program || qn__vm_stack(kernel->program) <= CALLER_STACK);
}

static void worker_end(qn__gpu *gpu, void *worker) {
    qn__release(gpu->services->allocator, ((qn__cpu_worker *)worker)->memory);
}

static const qn__host_kind kind = {.look_at = qn__cpu_check_memory,
                                   .is_for_any_thread = is_for_any_thread,
                                   .run = qn__cpu_run,
                                   .worker_size = sizeof(qn__cpu_worker),
                                   .worker_end = worker_end};

static qn_status queue_create(qn__gpu *gpu, qn__queue **queue, char *why) {
    return qn__host_queue_create(&kind, gpu->services->allocator, gpu, queue, why);
}

static qn_status mark_create(qn__gpu *gpu, qn__mark **mark, char *why) {
    (void)why;
    return qn__host_mark_create(gpu->services->allocator, mark);
}

static qn_status replay_create(qn__gpu *gpu, const qn__command *commands, size_t count, qn__replay **replay,
                               char *why) {
    return qn__host_replay_create(&kind, gpu->services->allocator, gpu, commands, count, replay, why);
}

const qn_backend qn__backend_cpu = {
    .kind = QN_DEVICE_CPU,
    .name = "cpu",
    .single = true,
    .open = cpu_open,
    .close = cpu_close,
    .gpu_open = cpu_gpu_open,
    .gpu_close = cpu_gpu_close,
    .gpu_info = cpu_gpu_info,
    .target = cpu_target,
    .cache_key = cpu_cache_key,
    .memory_create = qn__cpu_memory_create,
    .memory_share = qn__cpu_memory_create,
    .memory_destroy = qn__cpu_memory_destroy,
    .host_import = qn__cpu_host_import,
    .host_import_end = qn__cpu_host_import_end,
    .queue_create = queue_create,
    .queue_destroy = qn__host_queue_destroy,
    .submit = qn__host_submit,
    .clock_next = qn__host_clock_next,
    .completed = qn__host_completed,
    .wait = qn__host_wait,
    .failure = qn__host_failure,
    .cancel = qn__host_cancel,
    .set_persistent = qn__host_set_persistent,
    .unfinished = qn__host_unfinished,
    .mark_create = mark_create,
    .mark_destroy = qn__host_mark_destroy,
    .mark_done = qn__host_mark_done,
    .mark_wait = qn__host_mark_wait,
    .code_load = qn__cpu_code_load,
    .code_wait = qn__cpu_code_wait,
    .code_unload = qn__cpu_code_unload,
    .find_machine = qn__cpu_find_machine,
    .runs_binary = qn__cpu_runs_binary,
    .code_object = qn__cpu_code_object,
    .choose_local = cpu_choose_local,
    .kernel_resources = cpu_kernel_resources,
    .replay_create = replay_create,
    .replay_destroy = qn__host_replay_destroy,
    .replay_submit = qn__host_replay_submit,
};
