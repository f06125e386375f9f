/* What a kernel takes of the device, as the driver's compiler tells it (VK_KHR_pipeline_executable_properties). Only a
   pipeline that is made for it tells, and a driver may leave its caches alone then: it is one that nothing else uses,
   made when somebody asks. What statistics are called and what they count is the driver's own affair. */
#include <stdio.h>
#include <string.h>

#include "backend/vulkan/vulkan.h"

enum { MOST_EXECUTABLES = 4, MOST_STATISTICS = 256, DRIVER_ID_MESA_NVK = 24 };

/* What a number is of. */
typedef enum unit {
    ITEM, /* a work-item, or the pipeline */
    SUB_GROUP,
    LOW_WORD /* a work-item; NVIDIA's drivers add 2^36 */
} unit;

/* Of a driver without rows nothing is known: Mesa's Turnip, say, counts registers of four words, and its code in words. */
static const struct {
    uint32_t driver_id;
    const char *name;
    qn__vk_statistic statistic;
    unit unit;
} names[] = {
    {VK_DRIVER_ID_NVIDIA_PROPRIETARY, "Register Count", QN__VK_REGISTERS, ITEM},
    {VK_DRIVER_ID_NVIDIA_PROPRIETARY, "Local Memory Size", QN__VK_PRIVATE, LOW_WORD},
    {VK_DRIVER_ID_NVIDIA_PROPRIETARY, "Binary Size", QN__VK_CODE_SIZE, ITEM},
    {VK_DRIVER_ID_MESA_RADV, "VGPRs", QN__VK_REGISTERS, ITEM},
    {VK_DRIVER_ID_MESA_RADV, "Scratch size", QN__VK_PRIVATE, SUB_GROUP},
    {VK_DRIVER_ID_MESA_RADV, "Code size", QN__VK_CODE_SIZE, ITEM},
    {VK_DRIVER_ID_AMD_OPEN_SOURCE, "numUsedVgprs", QN__VK_REGISTERS, ITEM},
    {VK_DRIVER_ID_AMD_PROPRIETARY, "numUsedVgprs", QN__VK_REGISTERS, ITEM},
    {VK_DRIVER_ID_INTEL_OPEN_SOURCE_MESA, "Scratch Memory Size", QN__VK_PRIVATE, SUB_GROUP},
    {VK_DRIVER_ID_INTEL_OPEN_SOURCE_MESA, "Code size", QN__VK_CODE_SIZE, ITEM},
    {VK_DRIVER_ID_MESA_PANVK, "Registers used", QN__VK_REGISTERS, ITEM},
    {VK_DRIVER_ID_MESA_PANVK, "Code size", QN__VK_CODE_SIZE, ITEM},
    {DRIVER_ID_MESA_NVK, "Number of GPRs", QN__VK_REGISTERS, ITEM},
    {DRIVER_ID_MESA_NVK, "SLM size", QN__VK_PRIVATE, ITEM},
    {DRIVER_ID_MESA_NVK, "SLM Size", QN__VK_PRIVATE, ITEM}, /* older ones */
    {DRIVER_ID_MESA_NVK, "Code size", QN__VK_CODE_SIZE, ITEM},
    {DRIVER_ID_MESA_NVK, "Code Size", QN__VK_CODE_SIZE, ITEM},
};

static uint64_t value_of(const VkPipelineExecutableStatisticKHR *statistic) {
    switch (statistic->format) {
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR: return statistic->value.b32;
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR:
        return statistic->value.i64 > 0 ? (uint64_t)statistic->value.i64 : 0;
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR: return statistic->value.u64;
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR:
        return statistic->value.f64 > 0 && statistic->value.f64 < 0x1p63 ? (uint64_t)statistic->value.f64 : 0;
    default: return 0;
    }
}

static void take(uint32_t driver_id, const VkPipelineExecutableStatisticKHR *statistic,
                 uint64_t told[QN__VK_STATISTICS]) {
    const uint64_t value = value_of(statistic), items = told[QN__VK_SUB_GROUP_SIZE];
    for (size_t i = 0; i < QN__COUNT(names); i++) {
        if (names[i].driver_id != driver_id || strcmp(names[i].name, statistic->name) != 0) continue;
        uint64_t *to = &told[names[i].statistic];
        switch (names[i].unit) {
        case ITEM: *to = value; break;
        case SUB_GROUP: *to = items ? value / items : 0; break;
        case LOW_WORD: *to = (uint32_t)value; break;
        }
    }
}

/* All that the driver tells, whether or not it has a row here. */
static void log_all(const qn__code *code, uint32_t kernel, const VkPipelineExecutableStatisticKHR *statistics,
                    uint32_t count) {
    char line[2 * QN__WHY];
    const qn__services *services = code->gpu->services;
    int used = snprintf(line, sizeof line, "vulkan: kernel %.200s", code->info->kernels[kernel].name);
    for (uint32_t i = 0; i < count && used > 0 && (size_t)used < sizeof line; i++)
        used += snprintf(line + used, sizeof line - (size_t)used, "%s %.60s %llu", i ? "," : ":",
                         statistics[i].name, (unsigned long long)value_of(&statistics[i]));
    services->log(services->log_user, QN_LOG_DEBUG, line);
}

static qn_status ask_executable(const qn__code *code, uint32_t kernel, VkPipeline pipeline, uint32_t index,
                                uint64_t told[QN__VK_STATISTICS], char *why) {
    qn__gpu *gpu = code->gpu;
    const VkPipelineExecutableInfoKHR info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR,
                                              .pipeline = pipeline,
                                              .executableIndex = index};
    uint32_t count = 0;
    VkResult result = gpu->get_statistics(gpu->device, &info, &count, NULL);
    if (count > MOST_STATISTICS) count = MOST_STATISTICS;
    if (result < 0) return qn__vk_failed(gpu, "vkGetPipelineExecutableStatisticsKHR", result, why);
    if (count == 0) return QN_OK;
    const qn__allocator *allocator = gpu->services->allocator;
    VkPipelineExecutableStatisticKHR *list = qn__allocate_zeroed(allocator, count * sizeof *list);
    if (!list) return QN_ERROR_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < count; i++) list[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR;
    result = gpu->get_statistics(gpu->device, &info, &count, list);
    for (uint32_t i = 0; i < count && result >= 0; i++) take(gpu->can.driver_id, &list[i], told);
    if (result >= 0) log_all(code, kernel, list, count);
    qn__release(allocator, list);
    return result < 0 ? qn__vk_failed(gpu, "vkGetPipelineExecutableStatisticsKHR", result, why) : QN_OK;
}

static qn_status ask_pipeline(const qn__code *code, uint32_t kernel, VkPipeline pipeline,
                              uint64_t told[QN__VK_STATISTICS], char *why) {
    qn__gpu *gpu = code->gpu;
    const VkPipelineInfoKHR info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR, .pipeline = pipeline};
    VkPipelineExecutablePropertiesKHR list[MOST_EXECUTABLES] = {{0}};
    uint32_t count = QN__COUNT(list), index = 0;
    for (uint32_t i = 0; i < count; i++) list[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR;
    const VkResult result = gpu->get_executables(gpu->device, &info, &count, list);
    if (result < 0) return qn__vk_failed(gpu, "vkGetPipelineExecutablePropertiesKHR", result, why);
    while (index < count && !(list[index].stages & VK_SHADER_STAGE_COMPUTE_BIT)) index++;
    if (index == count) return QN_OK;
    told[QN__VK_SUB_GROUP_SIZE] = list[index].subgroupSize;
    return ask_executable(code, kernel, pipeline, index, told, why);
}

qn_status qn__vk_statistics_ask(const qn__code *code, uint32_t kernel, const uint32_t *key, uint32_t num_key,
                                uint64_t told[QN__VK_STATISTICS], char *why) {
    qn__gpu *gpu = code->gpu;
    VkPipeline pipeline;
    VkPipelineCreationFeedback ignored;
    qn_status status = qn__vk_pipeline_create(
        code, kernel, key, num_key, VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR, &ignored, &pipeline, why);
    if (status) return status;
    status = ask_pipeline(code, kernel, pipeline, told, why);
    gpu->vk.DestroyPipeline(gpu->device, pipeline, NULL);
    return status;
}

/* Local arguments count as empty, and no array has a length of 0. */
qn_status qn__vk_kernel_resources(qn__gpu *gpu, const qn__code *code, uint32_t index, const uint32_t local[3],
                                  qn_kernel_resources *resources, char *why) {
    const qn__kernel_info *kernel = &code->info->kernels[index];
    uint32_t key[QN__VK_MAX_KEY] = {local[0], local[1], local[2]};
    uint64_t told[QN__VK_STATISTICS];
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    if (!gpu->get_executables || kernel->num_local_units > QN__VK_LOCAL_ARGS) return QN_OK;
    for (uint32_t i = 0; i < kernel->num_local_units; i++) key[3 + i] = 1;
    qn_status status = qn__vk_pipeline_statistics(code, index, key, 3 + kernel->num_local_units, told, why);
    if (status) return status;
    resources->registers = told[QN__VK_REGISTERS] > UINT32_MAX ? 0 : (uint32_t)told[QN__VK_REGISTERS];
    resources->private_memory = told[QN__VK_PRIVATE];
    resources->code_size = told[QN__VK_CODE_SIZE];
    if (told[QN__VK_SUB_GROUP_SIZE] > 0)
        resources->preferred_multiple = (uint32_t)told[QN__VK_SUB_GROUP_SIZE];
    return QN_OK;
}
