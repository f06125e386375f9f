/* A Vulkan device: its queues, what it can do, and the table of functions that the runtime sees. */
#include <stdio.h>
#include <string.h>

#include "backend/vulkan/vulkan.h"
#include "util/system.h"

#define NAMED(result, name, parameters) {"vk" #name, offsetof(qn__vk_device_functions, name)},
static const struct {
    const char *name;
    size_t offset;
} device_functions[] = {VK_DEVICE_FUNCTIONS(NAMED)};
#undef NAMED

/* What only imports and exports need may be missing. */
static void get_import_functions(qn__gpu *gpu) {
    VkFunction get = NULL, ask = NULL;
    if (gpu->can.import_handles | gpu->can.export_handles) {
        get = gpu->driver->vk.GetDeviceProcAddr(gpu->device, "vkGetMemoryFdKHR");
        ask = gpu->driver->vk.GetDeviceProcAddr(gpu->device, "vkGetMemoryFdPropertiesKHR");
    }
    memcpy(&gpu->get_memory_fd, &get, sizeof get);
    memcpy(&gpu->get_fd_properties, &ask, sizeof ask);
    if (!get || !ask) gpu->can.import_handles = gpu->can.export_handles = 0;
    VkFunction function =
        gpu->can.import_alignment
            ? gpu->driver->vk.GetDeviceProcAddr(gpu->device, "vkGetMemoryHostPointerPropertiesEXT")
            : NULL;
    memcpy(&gpu->get_host_pointer_properties, &function, sizeof function);
}

static void get_statistics_functions(qn__gpu *gpu) {
    VkFunction executables = NULL, statistics = NULL;
    if (gpu->can.statistics) {
        executables = gpu->driver->vk.GetDeviceProcAddr(gpu->device, "vkGetPipelineExecutablePropertiesKHR");
        statistics = gpu->driver->vk.GetDeviceProcAddr(gpu->device, "vkGetPipelineExecutableStatisticsKHR");
    }
    if (!executables || !statistics) return;
    memcpy(&gpu->get_executables, &executables, sizeof executables);
    memcpy(&gpu->get_statistics, &statistics, sizeof statistics);
}

static qn_status get_functions(qn__gpu *gpu, char *why) {
    for (size_t i = 0; i < QN__COUNT(device_functions); i++) {
        VkFunction function = gpu->driver->vk.GetDeviceProcAddr(gpu->device, device_functions[i].name);
        if (!function) {
            snprintf(why, QN__WHY, "the driver is too old: it has no %s", device_functions[i].name);
            return QN_ERROR_DRIVER;
        }
        memcpy((char *)&gpu->vk + device_functions[i].offset, &function, sizeof function);
    }
    get_import_functions(gpu);
    get_statistics_functions(gpu);
    return QN_OK;
}

/* The first family with compute but without graphics, if there is one: an H200 takes 11 us there for twenty small
   kernels, in the family with graphics 16 us. Else the first with compute. */
static bool choose_family(qn__gpu *gpu) {
    VkQueueFamilyProperties families[16];
    uint32_t count = QN__COUNT(families);
    gpu->driver->vk.GetPhysicalDeviceQueueFamilyProperties(gpu->physical->handle, &count, families);
    uint32_t chosen = count;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t flags = families[i].queueFlags;
        if (!(flags & VK_QUEUE_COMPUTE_BIT) || families[i].queueCount == 0) continue;
        if (chosen == count) chosen = i;
        if (flags & VK_QUEUE_GRAPHICS_BIT) continue;
        chosen = i;
        break;
    }
    if (chosen == count) return false;
    const VkQueueFamilyProperties *family = &families[chosen];
    gpu->family = chosen;
    gpu->timestamp_bits = family->timestampValidBits;
    const uint32_t queues = family->queueCount;
    gpu->num_lanes = queues <= QN__VK_MAX_LANES ? queues - (queues > 1) : QN__VK_MAX_LANES;
    gpu->all_lanes = queues - gpu->num_lanes < QN__VK_OWN_LANES ? queues : gpu->num_lanes + QN__VK_OWN_LANES;
    return true;
}

static qn_status create_device(qn__gpu *gpu, char *why) {
    static const float priorities[QN__VK_ALL_LANES] = {1, 1, 1, 1, 1, 1, 1, 1};
    qn__vk_features features;
    qn_status status = qn__vk_features_choose(gpu->driver, gpu->physical, &features, &gpu->can, why);
    if (status) return status;
    if (!choose_family(gpu)) {
        snprintf(why, QN__WHY, "the device has no queue for compute");
        return QN_ERROR_NO_DEVICE;
    }
    VkDeviceQueueCreateInfo queues = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                      .queueFamilyIndex = gpu->family,
                                      .queueCount = gpu->all_lanes,
                                      .pQueuePriorities = priorities};
    VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                               .pNext = &features.base,
                               .queueCreateInfoCount = 1,
                               .pQueueCreateInfos = &queues,
                               .enabledExtensionCount = features.num_extensions,
                               .ppEnabledExtensionNames = features.extensions};
    VkResult result = gpu->driver->vk.CreateDevice(gpu->physical->handle, &info, NULL, &gpu->device);
    if (result == VK_SUCCESS) return get_functions(gpu, why);
    gpu->device = NULL;
    return qn__vk_failed(gpu, "vkCreateDevice", result, why);
}

static qn_status create_layout(qn__gpu *gpu, char *why) {
    VkPushConstantRange range = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .size = QN__MAX_PUSH_CONSTANTS};
    VkPipelineLayoutCreateInfo info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                       .pushConstantRangeCount = 1,
                                       .pPushConstantRanges = &range};
    VkResult result = gpu->vk.CreatePipelineLayout(gpu->device, &info, NULL, &gpu->layout);
    return result == VK_SUCCESS ? QN_OK : qn__vk_failed(gpu, "vkCreatePipelineLayout", result, why);
}

/* ---- texts ---- */

static void describe(qn__gpu *gpu) {
    const VkPhysicalDeviceProperties *properties = &gpu->physical->properties;
    VkPhysicalDeviceDriverProperties driver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                       .pNext = &driver};
    gpu->driver->vk.GetPhysicalDeviceProperties2(gpu->physical->handle, &all);
    uint32_t version = properties->apiVersion;
    snprintf(gpu->driver_text, sizeof gpu->driver_text, "%.255s %.255s, Vulkan %u.%u.%u", driver.driverName,
             driver.driverInfo, (unsigned)(version >> 22 & 127), (unsigned)(version >> 12 & 1023),
             (unsigned)(version & 4095));
    char uuid[33];
    for (int i = 0; i < 16; i++)
        snprintf(uuid + 2 * i, sizeof uuid - 2 * (size_t)i, "%02x", properties->pipelineCacheUUID[i]);
    snprintf(gpu->cache_key, sizeof gpu->cache_key, "%x:%x %.255s %x %.600s %s",
             (unsigned)properties->vendorID, (unsigned)properties->deviceID, properties->deviceName,
             (unsigned)properties->driverVersion, gpu->driver_text, uuid);
}

const char *qn__vk_cache_key(const qn__gpu *gpu) { return gpu->cache_key; }

void qn__vk_gpu_info(const qn__gpu *gpu, qn_device_info *info) {
    const VkPhysicalDeviceLimits *limits = &gpu->physical->properties.limits;
    bool emulated = gpu->physical->properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    const unsigned processors = emulated ? qn__processors() : 0;
    *info = (qn_device_info){
        .description = gpu->physical->properties.deviceName,
        .driver = gpu->driver_text,
        .capabilities = (gpu->num_lanes < gpu->all_lanes ? QN_CAN_PERSIST : 0u) |
                        (gpu->unified ? QN_CAN_SHARE_MEMORY : 0u) |
                        (gpu->can.coherent ? QN_CAN_SHARE_COHERENTLY : 0u) |
                        (gpu->get_host_pointer_properties ? QN_CAN_IMPORT_HOST : 0u),
        .import_handles = gpu->can.import_handles,
        .export_handles = gpu->can.export_handles,
        .compute_units = gpu->can.compute_units ? gpu->can.compute_units
                         : processors > 0       ? (uint32_t)processors
                                                : 0,
        .sub_group_size = qn__vk_sub_group_size(gpu),
        .max_group_size = limits->maxComputeWorkGroupInvocations,
        .local_memory = limits->maxComputeSharedMemorySize,
        .memory = gpu->memory_size,
        .max_buffer = gpu->max_buffer,
        .max_args_size = QN__MAX_ARGS_SIZE,
    };
    for (int d = 0; d < 3; d++) {
        info->max_local_size[d] = limits->maxComputeWorkGroupSize[d];
        info->max_global_size[d] = UINT32_MAX; /* numbers of groups are 32 bits wide */
    }
}

/* ---- opening ---- */

void qn__vk_gpu_close(qn__gpu *gpu) {
    qn__vk_watcher_stop(gpu);
    if (gpu->device && gpu->vk.DestroyDevice) {
        if (!qn__is_lost(&gpu->loss)) gpu->vk.DeviceWaitIdle(gpu->device);
        qn__vk_stamps_free(gpu);
        qn__vk_timelines_free(gpu);
        qn__vk_heaps_free(gpu);
        if (gpu->layout) gpu->vk.DestroyPipelineLayout(gpu->device, gpu->layout, NULL);
        gpu->vk.DestroyDevice(gpu->device, NULL);
    }
    for (uint32_t i = 0; i < QN__VK_ALL_LANES; i++) pthread_mutex_destroy(&gpu->lanes[i].lock);
    qn__loss_free(&gpu->loss);
    pthread_mutex_destroy(&gpu->lock);
    qn__release(gpu->services->allocator, gpu);
}

qn_status qn__vk_gpu_open(qn__driver *driver, uint32_t index, qn__gpu **out, char *why) {
    qn__gpu *gpu = qn__allocate_zeroed(driver->services->allocator, sizeof *gpu);
    if (!gpu) return QN_ERROR_OUT_OF_MEMORY;
    gpu->services = driver->services;
    gpu->driver = driver;
    gpu->physical = &driver->devices[index];
    pthread_mutex_init(&gpu->lock, NULL);
    qn__loss_init(&gpu->loss);
    qn__vk_watcher_init(gpu);
    for (uint32_t i = 0; i < QN__VK_ALL_LANES; i++) pthread_mutex_init(&gpu->lanes[i].lock, NULL);
    qn_status status = create_device(gpu, why);
    if (!status) status = create_layout(gpu, why);
    if (!status) status = qn__vk_heaps_init(gpu, why);
    if (status) {
        qn__vk_gpu_close(gpu);
        return status;
    }
    for (uint32_t i = 0; i < gpu->all_lanes; i++)
        gpu->vk.GetDeviceQueue(gpu->device, gpu->family, i, &gpu->lanes[i].queue);
    memcpy(gpu->max_groups, gpu->physical->properties.limits.maxComputeWorkGroupCount,
           sizeof gpu->max_groups);
    describe(gpu);
    *out = gpu;
    return QN_OK;
}

static bool is_lost(qn__gpu *gpu, char *why) { return qn__is_lost_by(&gpu->loss, why); }

const qn_backend qn__backend_vulkan = {
    .kind = QN_DEVICE_VULKAN,
    .name = "vulkan",
    .code_extension = ".spv",
    .rewrites_code = true, /* when the driver has compiled more */
    .has_hardware = qn__has_hardware,
    .open = qn__vk_open,
    .close = qn__vk_close,
    .identify = qn__vk_identify,
    .gpu_open = qn__vk_gpu_open,
    .gpu_close = qn__vk_gpu_close,
    .is_lost = is_lost,
    .gpu_info = qn__vk_gpu_info,
    .target = qn__vk_target,
    .cache_key = qn__vk_cache_key,
    .memory_create = qn__vk_memory_create,
    .memory_share = qn__vk_memory_share,
    .memory_destroy = qn__vk_release,
    .host_import = qn__vk_host_import,
    .host_import_end = qn__vk_host_import_end,
    .external_create = qn__vk_external_create,
    .external_import = qn__vk_external_import,
    .external_export = qn__vk_external_export,
    .external_destroy = qn__vk_external_destroy,
    .host_create = qn__vk_host_create,
    .host_destroy = qn__vk_host_destroy,
    .trim = qn__vk_trim,
    .pooled = qn__vk_pooled,
    .queue_create = qn__vk_queue_create,
    .queue_destroy = qn__vk_queue_destroy,
    .submit = qn__vk_submit,
    .completed = qn__vk_completed,
    .wait = qn__vk_wait,
    .failure = qn__vk_failure,
    .set_persistent = qn__vk_set_persistent,
    .unfinished = qn__vk_unfinished,
    .mark_create = qn__vk_mark_create,
    .mark_destroy = qn__vk_mark_destroy,
    .mark_done = qn__vk_mark_done,
    .mark_wait = qn__vk_mark_wait,
    .code_load = qn__vk_code_load,
    .code_unload = qn__vk_code_unload,
    .choose_local = qn__vk_choose_local,
    .kernel_resources = qn__vk_kernel_resources,
    .replay_create = qn__vk_replay_create,
    .replay_destroy = qn__vk_replay_destroy,
    .replay_submit = qn__vk_replay_submit,
    .native = qn__vk_native,
    .lend = qn__vk_lend,
    .take_back = qn__vk_take_back,
};
