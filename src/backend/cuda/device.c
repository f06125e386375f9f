/* A CUDA device: its limits, its context, its loss, and the backend's table. */
#include <stdio.h>
#include <string.h>

#include "backend/cuda/cuda.h"

enum {
    CACHE_VERSION = 1,            /* of what code.c writes */
    LARGE_PARAMS_VERSION = 12010, /* CUDA 12.1 */
    MOST_IMPLICIT = 192           /* bytes of parameters that quern adds, with gaps */
};

/* ---- opening ---- */

static uint32_t attribute(const qn__gpu *gpu, int which) {
    int value = 0;
    return gpu->cu->device_attribute(&value, which, gpu->device) || value < 0 ? 0 : (uint32_t)value;
}

static void read_limits(qn__gpu *gpu) {
    gpu->arch = (int)(attribute(gpu, QN__CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
                      attribute(gpu, QN__CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
    const bool takes_large = gpu->arch >= 70 && gpu->driver->version >= LARGE_PARAMS_VERSION;
    gpu->max_params = takes_large ? QN__PTX_MOST_PARAMS : QN__PTX_PARAMS;
    gpu->max_threads = attribute(gpu, QN__CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    for (int d = 0; d < 3; d++) {
        gpu->max_block[d] = attribute(gpu, QN__CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + d);
        gpu->max_grid[d] = attribute(gpu, QN__CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + d);
    }
    uint32_t usual = attribute(gpu, QN__CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    uint32_t most = attribute(gpu, QN__CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    gpu->shared_memory = most > usual ? most : usual;
    gpu->shares_descriptors =
        attribute(gpu, QN__CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) &&
        attribute(gpu, QN__CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED);
    if (gpu->cu->device_name(gpu->name, sizeof gpu->name, gpu->device))
        snprintf(gpu->name, sizeof gpu->name, "a CUDA device");
    gpu->name[sizeof gpu->name - 1] = 0;
    snprintf(gpu->machine, sizeof gpu->machine, "sm_%d", gpu->arch);
    snprintf(gpu->cache_key, sizeof gpu->cache_key, "cuda %d sm_%d %.100s %s", CACHE_VERSION, gpu->arch,
             gpu->name, gpu->driver->text);
}

/* A pool of our own, so that keeping freed memory changes nothing for the application's. */
static void make_pool(qn__gpu *gpu) {
    if (!attribute(gpu, QN__CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED)) return;
    qn__cu_pool_props props = {.allocation_type = QN__CU_MEM_ALLOCATION_TYPE_PINNED,
                               .location = {QN__CU_MEM_LOCATION_TYPE_DEVICE, gpu->device}};
    uint64_t keep = UINT64_MAX;
    if (gpu->cu->pool_create(&gpu->pool, &props)) {
        gpu->pool = NULL;
        return;
    }
    gpu->cu->pool_set(gpu->pool, QN__CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep);
}

static qn_status open_context(qn__gpu *gpu, char *why) {
    qn__cu_result result = gpu->cu->primary_retain(&gpu->context, gpu->device);
    if (result) return qn__cuda_fail(gpu, result, "the context", why);
    result = gpu->cu->context_push(gpu->context);
    if (!result) {
        result = gpu->cu->stream_create(&gpu->service, QN__CU_STREAM_NON_BLOCKING);
        if (!result) make_pool(gpu);
        qn__cuda_leave(gpu, true);
    }
    if (!result) return QN_OK;
    qn_status status = qn__cuda_fail(gpu, result, "the context", why);
    gpu->cu->primary_release(gpu->device);
    return status;
}

static void drop(qn__gpu *gpu) {
    qn__loss_free(&gpu->loss);
    pthread_cond_destroy(&gpu->endless.changed);
    pthread_mutex_destroy(&gpu->endless.lock);
    pthread_mutex_destroy(&gpu->lock);
    qn__release(gpu->services->allocator, gpu);
}

static qn_status gpu_open(qn__driver *driver, uint32_t index, qn__gpu **out, char *why) {
    const qn__allocator *allocator = driver->services->allocator;
    qn__gpu *gpu = qn__allocate_zeroed(allocator, sizeof *gpu);
    if (!gpu) return QN_ERROR_OUT_OF_MEMORY;
    gpu->services = driver->services;
    gpu->driver = driver;
    gpu->cu = &driver->cu;
    gpu->device = driver->devices[index];
    pthread_mutex_init(&gpu->lock, NULL);
    pthread_mutex_init(&gpu->endless.lock, NULL);
    pthread_cond_init(&gpu->endless.changed, NULL);
    qn__loss_init(&gpu->loss);
    read_limits(gpu);
    qn_status status = open_context(gpu, why);
    if (status) {
        drop(gpu);
        return status;
    }
    *out = gpu;
    return QN_OK;
}

static void gpu_close(qn__gpu *gpu) {
    const qn__allocator *allocator = gpu->services->allocator;
    bool entered = qn__cuda_enter(gpu);
    if (gpu->base) qn__cuda_base_release(gpu, gpu->base);
    qn__cuda_prints_free(gpu);
    gpu->cu->stream_destroy(gpu->service);
    if (gpu->pool) gpu->cu->pool_destroy(gpu->pool);
    qn__cuda_leave(gpu, entered);
    gpu->cu->primary_release(gpu->device);
    for (qn__cuda_name *name = gpu->names, *next; name; name = next) {
        next = name->next;
        qn__release(allocator, name);
    }
    drop(gpu);
}

static void gpu_info(const qn__gpu *gpu, qn_device_info *info) {
    const uint64_t far = (uint64_t)1 << 48;
    size_t memory = 0;
    gpu->cu->device_total_mem(&memory, gpu->device);
    *info = (qn_device_info){
        .description = gpu->name,
        .capabilities =
            QN_CAN_PERSIST |
            (gpu->arch == 90 && gpu->cu->tensor_map && gpu->cu->window_map ? QN_CAN_COPY_TILES : 0u) |
            (attribute(gpu, QN__CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY) ? QN_CAN_SHARE_COHERENTLY : 0u) |
            (attribute(gpu, QN__CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED) ? QN_CAN_IMPORT_HOST : 0u),
        .driver = gpu->driver->text,
        .import_handles = QN_HANDLE_CUDA_POINTER | (gpu->shares_descriptors ? QN_HANDLE_OPAQUE_FD : 0u),
        .export_handles = gpu->shares_descriptors ? QN_HANDLE_OPAQUE_FD : 0u,
        .compute_units = attribute(gpu, QN__CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
        .sub_group_size = attribute(gpu, QN__CU_DEVICE_ATTRIBUTE_WARP_SIZE),
        .max_group_size = gpu->max_threads,
        .max_local_size = {gpu->max_block[0], gpu->max_block[1], gpu->max_block[2]},
        .max_global_size = {far, far, far}, /* a launch is as many grids as it takes */
        .local_memory = gpu->shared_memory,
        .memory = memory,
        .max_buffer = memory,
        .max_args_size = gpu->max_params - MOST_IMPLICIT,
    };
}

static void target(const qn__gpu *gpu, qn__target *target) {
    *target = (qn__target){.kind = QN__TARGET_PTX,
                           .arch = (uint32_t)gpu->arch,
                           .sub_group_size = attribute(gpu, QN__CU_DEVICE_ATTRIBUTE_WARP_SIZE),
                           .lacks_large_params = gpu->max_params == QN__PTX_PARAMS};
}

static uint64_t native(const qn__gpu *gpu, const qn__queue *queue, const qn__memory *memory,
                       qn_native_kind kind) {
    switch (kind) {
    case QN_NATIVE_CUDA_DEVICE: return (uint64_t)gpu->device;
    case QN_NATIVE_CUDA_CONTEXT: return (uint64_t)(uintptr_t)gpu->context;
    case QN_NATIVE_CUDA_STREAM: return (uint64_t)(uintptr_t)queue->stream;
    default: return (uint64_t)(uintptr_t)memory; /* QN_NATIVE_CUDA_POINTER */
    }
}

static const char *cache_key(const qn__gpu *gpu) { return gpu->cache_key; }

/* A cubin runs on what is of the same major version and not older. */
static uint32_t runs_binary(const qn__gpu *gpu, const char *machine) {
    unsigned arch = 0;
    const bool named = sscanf(machine, "sm_%u", &arch) == 1;
    return named && arch / 10 == (unsigned)gpu->arch / 10 && arch <= (unsigned)gpu->arch ? arch : 0;
}

static const char *find_machine(const qn__gpu *gpu, const char *name, char *why) {
    (void)name, (void)why;
    return gpu->machine;
}

const qn_backend qn__backend_cuda = {
    .kind = QN_DEVICE_CUDA,
    .name = "cuda",
    .code_extension = ".cubin",
    .peers = true,
    .open = qn__cuda_open,
    .close = qn__cuda_close,
    .identify = qn__cuda_identify,
    .gpu_open = gpu_open,
    .gpu_close = gpu_close,
    .is_lost = qn__cuda_is_lost,
    .gpu_abandon = qn__cuda_abandon,
    .gpu_info = gpu_info,
    .target = target,
    .cache_key = cache_key,
    .memory_create = qn__cuda_memory_create,
    .memory_share = qn__cuda_memory_share,
    .memory_destroy = qn__cuda_memory_destroy,
    .host_import = qn__cuda_host_import,
    .host_import_end = qn__cuda_host_import_end,
    .external_create = qn__cuda_external_create,
    .external_import = qn__cuda_external_import,
    .external_export = qn__cuda_external_export,
    .external_destroy = qn__cuda_external_destroy,
    .host_create = qn__cuda_host_create,
    .host_destroy = qn__cuda_host_destroy,
    .trim = qn__cuda_trim,
    .pooled = qn__cuda_pooled,
    .queue_create = qn__cuda_queue_create,
    .queue_destroy = qn__cuda_queue_destroy,
    .submit = qn__cuda_submit,
    .completed = qn__cuda_completed,
    .wait = qn__cuda_wait,
    .failure = qn__cuda_failure,
    .set_persistent = qn__cuda_set_persistent,
    .set_aside = qn__cuda_set_aside,
    .leave = qn__cuda_leave_queue,
    .unfinished = qn__cuda_unfinished,
    .mark_create = qn__cuda_mark_create,
    .mark_destroy = qn__cuda_mark_destroy,
    .mark_done = qn__cuda_mark_done,
    .mark_wait = qn__cuda_mark_wait,
    .code_load = qn__cuda_code_load,
    .code_unload = qn__cuda_code_unload,
    .find_machine = find_machine,
    .runs_binary = runs_binary,
    .tensor_map = qn__cuda_tensor_map,
    .window_map = qn__cuda_window_map,
    .kernel_prepare = qn__cuda_kernel_prepare,
    .choose_local = qn__cuda_choose_local,
    .kernel_resources = qn__cuda_kernel_resources,
    .replay_create = qn__cuda_replay_create,
    .replay_update = qn__cuda_replay_update,
    .replay_destroy = qn__cuda_replay_destroy,
    .replay_submit = qn__cuda_replay_submit,
    .native = native,
    .lend = qn__cuda_lend,
    .take_back = qn__cuda_take_back,
};
