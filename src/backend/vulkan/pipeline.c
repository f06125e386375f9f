/* Pipelines: a kernel compiled by the driver for a local size and lengths of its local arguments, which are
   specialisation constants. Made at first use and kept. */
#include <stdio.h>
#include <string.h>

#include "backend/vulkan/vulkan.h"
#include "util/file.h"
#include "util/hash.h"

static qn__vk_pipeline *find(const qn__code *code, uint32_t bucket, uint32_t kernel, const uint32_t *key,
                             uint32_t num_key) {
    for (qn__vk_pipeline *p = code->buckets[bucket]; p; p = p->next)
        if (p->kernel == kernel && p->num_key == num_key && memcmp(p->key, key, num_key * sizeof *key) == 0)
            return p;
    return NULL;
}

/* Whether the driver compiled, and not only loaded, is what it says itself; unsaid, it did. */
static void note_compilation(qn__code *code, const qn__kernel_info *kernel,
                             const VkPipelineCreationFeedback *feedback) {
    const qn__services *services = code->gpu->services;
    enum { HIT = VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT };
    bool valid = feedback->flags & VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT;
    bool hit = valid && (feedback->flags & HIT);
    char line[QN__WHY];
    if (!hit) code->grown = true;
    snprintf(line, sizeof line, "vulkan: kernel %.200s %s by the driver, %.3g ms", kernel->name,
             hit ? "found in the pipeline cache" : "compiled",
             valid ? (double)feedback->duration / 1e6 : 0.0);
    services->log(services->log_user, QN_LOG_DEBUG, line);
}

qn_status qn__vk_pipeline_create(const qn__code *code, uint32_t index, const uint32_t *key, uint32_t num_key,
                                 uint32_t flags, VkPipelineCreationFeedback *feedback, VkPipeline *pipeline,
                                 char *why) {
    qn__gpu *gpu = code->gpu;
    const qn__kernel_info *kernel = &code->info->kernels[index];
    VkSpecializationMapEntry entries[QN__VK_MAX_KEY];
    for (uint32_t i = 0; i < num_key; i++)
        entries[i] = (VkSpecializationMapEntry){i, i * (uint32_t)sizeof *key, sizeof *key};
    VkSpecializationInfo constants = {num_key, entries, num_key * sizeof *key, key};
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo sub_group = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
        .requiredSubgroupSize = kernel->required_sub_group_size};
    bool sized = gpu->can.sub_group_sizes && kernel->required_sub_group_size >= gpu->can.min_sub_group &&
                 kernel->required_sub_group_size <= gpu->can.max_sub_group;
    VkPipelineCreationFeedback stage_feedback = {0};
    VkPipelineCreationFeedbackCreateInfo feedback_info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO,
        .pPipelineCreationFeedback = feedback,
        .pipelineStageCreationFeedbackCount = 1,
        .pPipelineStageCreationFeedbacks = &stage_feedback};
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .pNext = gpu->can.feedback ? &feedback_info : NULL,
        .flags = flags,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .pNext = sized ? &sub_group : NULL,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = code->module,
                  .pName = kernel->symbol ? kernel->symbol : kernel->name,
                  .pSpecializationInfo = &constants},
        .layout = gpu->layout};
    const VkPipelineCache cache = flags ? 0 : code->cache;
    *feedback = (VkPipelineCreationFeedback){0};
    VkResult result = gpu->vk.CreateComputePipelines(gpu->device, cache, 1, &info, NULL, pipeline);
    if (result == VK_SUCCESS) return QN_OK;
    *pipeline = 0;
    char reason[QN__WHY];
    qn_status status = qn__vk_failed(gpu, "vkCreateComputePipelines", result, reason);
    snprintf(why, QN__WHY, "kernel %.100s: the driver does not compile it: %.300s", kernel->name, reason);
    return status == QN_ERROR_DEVICE_LOST ? status : QN_ERROR_DRIVER;
}

static qn_status make(qn__code *code, qn__vk_pipeline *entry, char *why) {
    const qn__services *services = code->gpu->services;
    const qn__kernel_info *kernel = &code->info->kernels[entry->kernel];
    VkPipelineCreationFeedback feedback;
    const uint64_t start = qn__now_ns();
    qn_status status = qn__vk_pipeline_create(code, entry->kernel, entry->key, entry->num_key, 0, &feedback,
                                              &entry->handle, why);
    if (status) return status;
    note_compilation(code, kernel, &feedback);
    if (services->did) services->did(services->did_user, "driver's compiler", kernel->name, start);
    return QN_OK;
}

/* Under the code's lock. NULL: out of memory. */
static qn__vk_pipeline *find_or_add(qn__code *code, uint32_t kernel, const uint32_t *key, uint32_t num_key) {
    const uint32_t bucket = (uint32_t)qn__hash(key, num_key * sizeof *key, kernel) % QN__VK_BUCKETS;
    qn__vk_pipeline *entry = find(code, bucket, kernel, key, num_key);
    if (entry) return entry;
    entry = qn__allocate(code->gpu->services->allocator, sizeof *entry + num_key * sizeof *key);
    if (!entry) return NULL;
    *entry = (qn__vk_pipeline){.next = code->buckets[bucket], .kernel = kernel, .num_key = num_key};
    memcpy(entry->key, key, num_key * sizeof *key);
    code->buckets[bucket] = entry;
    return entry;
}

qn_status qn__vk_pipeline_get(const qn__code *const_code, uint32_t kernel, const uint32_t *key,
                              uint32_t num_key, VkPipeline *pipeline, char *why) {
    qn__code *code = (qn__code *)const_code; /* only what its lock guards is changed */
    pthread_mutex_lock(&code->lock);
    qn__vk_pipeline *entry = find_or_add(code, kernel, key, num_key);
    qn_status status = entry ? QN_OK : QN_ERROR_OUT_OF_MEMORY;
    if (entry && !entry->handle) status = make(code, entry, why);
    *pipeline = entry ? entry->handle : 0;
    pthread_mutex_unlock(&code->lock);
    return status;
}

qn_status qn__vk_pipeline_statistics(const qn__code *const_code, uint32_t kernel, const uint32_t *key,
                                     uint32_t num_key, uint64_t told[QN__VK_STATISTICS], char *why) {
    qn__code *code = (qn__code *)const_code;
    pthread_mutex_lock(&code->lock);
    qn__vk_pipeline *entry = find_or_add(code, kernel, key, num_key);
    qn_status status = entry ? QN_OK : QN_ERROR_OUT_OF_MEMORY;
    if (entry && !entry->asked) status = qn__vk_statistics_ask(code, kernel, key, num_key, entry->told, why);
    if (!status) {
        entry->asked = true;
        memcpy(told, entry->told, sizeof entry->told);
    }
    pthread_mutex_unlock(&code->lock);
    return status;
}

void qn__vk_pipelines_free(qn__code *code) {
    for (int i = 0; i < QN__VK_BUCKETS; i++)
        for (qn__vk_pipeline *p = code->buckets[i], *next; p; p = next) {
            next = p->next;
            if (p->handle) code->gpu->vk.DestroyPipeline(code->gpu->device, p->handle, NULL);
            qn__release(code->gpu->services->allocator, p);
        }
}
