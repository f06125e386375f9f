/* An OpenCL device: what it is and can do, and the backend's table. */
#include <stdio.h>
#include <string.h>

#include "backend/opencl/opencl.h"

enum { MOST_ITEMS = 1024 }; /* in a group: for as many the lowered collectives have room (pass/group.h) */

/* Sub-groups are used only where all that kernels may ask for is there; else they are lowered to local memory. */
static bool has_sub_groups(const qn__cl *cl, cl_object device) {
    static const char *const wanted[] = {"cl_khr_subgroups", "cl_khr_subgroup_shuffle",
                                         "cl_khr_subgroup_ballot", "cl_khr_subgroup_extended_types",
                                         "cl_khr_subgroup_non_uniform_arithmetic"};
    for (size_t i = 0; i < QN__COUNT(wanted); i++)
        if (!qn__cl_has(cl, device, wanted[i])) return false;
    return true;
}

static void ask_limits(qn__gpu *gpu) {
    const qn__cl *cl = gpu->cl;
    cl_object device = gpu->device;
    size_t sizes[8] = {1, 1, 1};
    cl->clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, NULL);
    gpu->max_group = (uint32_t)qn__cl_number(cl, device, CL_DEVICE_MAX_WORK_GROUP_SIZE, 1);
    gpu->compute_units = (uint32_t)qn__cl_number(cl, device, CL_DEVICE_MAX_COMPUTE_UNITS, 1);
    gpu->memory = qn__cl_number(cl, device, CL_DEVICE_GLOBAL_MEM_SIZE, 0);
    gpu->max_buffer = qn__cl_number(cl, device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, 0);
    gpu->local_memory = qn__cl_number(cl, device, CL_DEVICE_LOCAL_MEM_SIZE, 0);
    gpu->max_params = qn__cl_number(cl, device, CL_DEVICE_MAX_PARAMETER_SIZE, 1024);
    if (!gpu->max_group) gpu->max_group = 1;
    if (gpu->max_group > MOST_ITEMS) gpu->max_group = MOST_ITEMS;
    for (int d = 0; d < 3; d++) { /* a part has fewer than 2^32 work-items in a row (QN__IMPLICIT_LIMIT) */
        gpu->max_local[d] = sizes[d] > UINT32_MAX ? UINT32_MAX : (uint32_t)sizes[d];
        gpu->max_groups[d] = d == 0 ? (UINT32_MAX - 1) / gpu->max_group : UINT16_MAX;
    }
}

static void ask_abilities(qn__gpu *gpu) {
    enum { SVM = CL_DEVICE_SVM_FINE_GRAIN_BUFFER | CL_DEVICE_SVM_ATOMICS };
    const qn__cl *cl = gpu->cl;
    gpu->float_config = qn__cl_number(cl, gpu->device, CL_DEVICE_SINGLE_FP_CONFIG, 0);
    gpu->exact_division = (gpu->float_config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    gpu->has_f64 = qn__cl_has(cl, gpu->device, "cl_khr_fp64");
    gpu->has_i64_atomics = qn__cl_has(cl, gpu->device, "cl_khr_int64_base_atomics") &&
                           qn__cl_has(cl, gpu->device, "cl_khr_int64_extended_atomics");
    gpu->has_sub_groups = has_sub_groups(cl, gpu->device);
    gpu->has_fine_svm = cl->clSVMAlloc && cl->clSVMFree &&
                        (qn__cl_number(cl, gpu->device, CL_DEVICE_SVM_CAPABILITIES, 0) & SVM) == SVM;
    gpu->is_nvidia = qn__cl_has(cl, gpu->device, "cl_nv_device_attribute_query");
    gpu->warp = gpu->is_nvidia ? (uint32_t)qn__cl_number(cl, gpu->device, CL_DEVICE_WARP_SIZE_NV, 32) : 32;
    if (gpu->is_cpu) gpu->warp = 8;
}

static void describe(qn__gpu *gpu) {
    const qn__cl *cl = gpu->cl;
    char name[128], platform[128], platform_version[160], driver[96];
    qn__cl_text(cl, NULL, gpu->device, CL_DEVICE_NAME, name, sizeof name);
    qn__cl_text(cl, gpu->platform, NULL, CL_PLATFORM_NAME, platform, sizeof platform);
    qn__cl_text(cl, gpu->platform, NULL, CL_PLATFORM_VERSION, platform_version, sizeof platform_version);
    qn__cl_text(cl, NULL, gpu->device, CL_DRIVER_VERSION, driver, sizeof driver);
    snprintf(gpu->description, sizeof gpu->description, "%s", name);
    snprintf(gpu->version, sizeof gpu->version, "%.60s, %.60s", platform, driver);
    snprintf(gpu->cache_key, sizeof gpu->cache_key, "%s; %s; %s; %s; %d", platform, platform_version, name,
             driver, gpu->exact_division);
}

static qn_status open_context(qn__gpu *gpu, char *why) {
    int32_t error = 0;
    gpu->context = gpu->cl->clCreateContext(NULL, 1, &gpu->device, NULL, NULL, &error);
    if (!error && gpu->context)
        gpu->service = gpu->cl->clCreateCommandQueue(gpu->context, gpu->device, 0, &error);
    if (!error && gpu->service) return QN_OK;
    snprintf(why, QN__WHY, "the driver cannot open the device: %s (%d)", qn__cl_error_name(error),
             (int)error);
    return error == CL_OUT_OF_HOST_MEMORY ? QN_ERROR_OUT_OF_MEMORY : QN_ERROR_DRIVER;
}

static void gpu_close(qn__gpu *gpu) {
    if (gpu->service) gpu->cl->clReleaseCommandQueue(gpu->service);
    if (gpu->context) gpu->cl->clReleaseContext(gpu->context);
    qn__loss_free(&gpu->loss);
    pthread_mutex_destroy(&gpu->lock);
    qn__release(gpu->services->allocator, gpu);
}

static qn_status gpu_open(qn__driver *driver, uint32_t index, qn__gpu **out, char *why) {
    const qn__services *services = driver->services;
    const cl_found *found = &driver->devices[index];
    qn__gpu *gpu = qn__allocate_zeroed(services->allocator, sizeof *gpu);
    if (!gpu) return QN_ERROR_OUT_OF_MEMORY;
    gpu->services = services;
    gpu->cl = &driver->cl;
    gpu->platform = found->platform;
    gpu->device = found->device;
    gpu->is_cpu = found->is_cpu;
    atomic_store(&gpu->next_address, (uint64_t)1 << 40);
    pthread_mutex_init(&gpu->lock, NULL);
    qn__loss_init(&gpu->loss);
    qn_status status = open_context(gpu, why);
    if (status) {
        gpu_close(gpu);
        return status;
    }
    ask_limits(gpu);
    ask_abilities(gpu);
    describe(gpu);
    *out = gpu;
    return QN_OK;
}

/* Without them those of pass/lower_sub_groups.c. */
static uint32_t sub_group_size_of(const qn__gpu *gpu) { return gpu->has_sub_groups ? gpu->warp : 32; }

/* Implicit arguments take some of the room for arguments. */
static void gpu_info(const qn__gpu *gpu, qn_device_info *info) {
    const uint64_t most = (uint64_t)1 << 48, large = QN__MAX_ARGS_SIZE + 256;
    const uint64_t args = gpu->max_params < large ? gpu->max_params : large;
    *info = (qn_device_info){
        .description = gpu->description,
        .driver = gpu->version,
        .capabilities = QN_CAN_PERSIST | (gpu->is_cpu ? QN_CAN_SHARE_MEMORY | QN_CAN_IMPORT_HOST : 0u) |
                        (gpu->has_fine_svm ? QN_CAN_SHARE_COHERENTLY : 0u),
        .import_handles = QN_HANDLE_OPENCL_MEM,
        .compute_units = gpu->compute_units,
        .sub_group_size = sub_group_size_of(gpu),
        .max_group_size = gpu->max_group,
        .max_local_size = {gpu->max_local[0], gpu->max_local[1], gpu->max_local[2]},
        .max_global_size = {most, most, most},
        .local_memory = gpu->local_memory,
        .memory = gpu->memory,
        .max_buffer = gpu->max_buffer,
        .max_args_size = (uint32_t)(args > 512 ? args - 256 : args / 2),
    };
}

static void target(const qn__gpu *gpu, qn__target *target) {
    *target = (qn__target){
        .kind = QN__TARGET_CLC,
        .sub_group_size = sub_group_size_of(gpu),
        .lacks_f64 = !gpu->has_f64,
        .lacks_fast_fma64 = !gpu->has_f64,
        .lacks_f32_denormals = !(gpu->float_config & CL_FP_DENORM),
        .lacks_fast_fma32 = !(gpu->float_config & CL_FP_FMA),
        .lacks_i64_atomics = !gpu->has_i64_atomics,
        .lacks_float_atomic_add = true,
        .lacks_sub_groups = !gpu->has_sub_groups,
        .lacks_sub_group_shuffle = !gpu->has_sub_groups,
        /* PoCL 3.1 orders the stages of a bitonic sort wrongly once they stand in a row, from its
                              own front end too. */
        .lacks_unrolled_barriers = gpu->is_cpu,
        .wants_unrolled = !gpu->is_cpu};
}

static uint64_t native(const qn__gpu *gpu, const qn__queue *queue, const qn__memory *memory,
                       qn_native_kind kind) {
    switch (kind) {
    case QN_NATIVE_OPENCL_DEVICE: return (uint64_t)(uintptr_t)gpu->device;
    case QN_NATIVE_OPENCL_CONTEXT: return (uint64_t)(uintptr_t)gpu->context;
    case QN_NATIVE_OPENCL_QUEUE: return (uint64_t)(uintptr_t)queue->queue;
    case QN_NATIVE_OPENCL_MEM: return (uint64_t)(uintptr_t)memory->buffer;
    default: return 0; /* QN_NATIVE_OFFSET: each has a memory object of its own */
    }
}

static const char *cache_key(const qn__gpu *gpu) { return gpu->cache_key; }

static bool is_lost(qn__gpu *gpu, char *why) { return qn__is_lost_by(&gpu->loss, why); }

const qn_backend qn__backend_opencl = {
    .kind = QN_DEVICE_OPENCL,
    .name = "opencl",
    .code_extension = ".clbin",
    .rewrites_code = true,
    .has_hardware = qn__has_hardware,
    .open = qn__cl_open,
    .close = qn__cl_close,
    .identify = qn__cl_identify,
    .gpu_open = gpu_open,
    .gpu_close = gpu_close,
    .is_lost = is_lost,
    .gpu_info = gpu_info,
    .target = target,
    .cache_key = cache_key,
    .memory_create = qn__cl_memory_create,
    .memory_share = qn__cl_memory_share,
    .memory_destroy = qn__cl_memory_destroy,
    .host_import = qn__cl_host_import,
    .host_import_end = qn__cl_host_import_end,
    .external_import = qn__cl_external_import,
    .external_destroy = qn__cl_external_destroy,
    .host_create = qn__cl_host_create,
    .host_destroy = qn__cl_host_destroy,
    .queue_create = qn__cl_queue_create,
    .queue_destroy = qn__cl_queue_destroy,
    .submit = qn__cl_submit,
    .completed = qn__cl_completed,
    .wait = qn__cl_wait,
    .failure = qn__cl_failure,
    .set_persistent = qn__cl_set_persistent,
    .unfinished = qn__cl_unfinished,
    .mark_create = qn__cl_mark_create,
    .mark_destroy = qn__cl_mark_destroy,
    .mark_done = qn__cl_mark_done,
    .mark_wait = qn__cl_mark_wait,
    .code_load = qn__cl_code_load,
    .code_compiled = qn__cl_code_compiled,
    .code_unload = qn__cl_code_unload,
    .choose_local = qn__cl_choose_local,
    .kernel_resources = qn__cl_kernel_resources,
    .replay_create = qn__cl_replay_create,
    .replay_destroy = qn__cl_replay_destroy,
    .replay_submit = qn__cl_replay_submit,
    .native = native,
    .lend = qn__cl_lend,
    .take_back = qn__cl_take_back,
};
