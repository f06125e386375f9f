/* Pipelines: a kernel compiled by the driver for a local size and lengths of its local arguments, which are
   specialisation constants. Made at first use and kept. */
#include <stdio.h>
#include <string.h>

#include "backend/vulkan/vulkan.h"
#include "util/file.h"
#include "util/hash.h"

enum { MAX_KEY = 128 };

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
    qn__gpu *gpu = code->gpu;
    enum { HIT = VK_PIPELINE_CREATION_FEEDBACK_APPLICATION_PIPELINE_CACHE_HIT_BIT };
    bool valid = feedback->flags & VK_PIPELINE_CREATION_FEEDBACK_VALID_BIT;
    bool hit = valid && (feedback->flags & HIT);
    char line[QN__WHY];
    if (!hit) {
        atomic_fetch_add(&gpu->compilations, 1);
        code->grown = true;
    }
    snprintf(line, sizeof line, "vulkan: kernel %.200s %s by the driver, %.3g ms", kernel->name,
             hit ? "found in the pipeline cache" : "compiled",
             valid ? (double)feedback->duration / 1e6 : 0.0);
    gpu->services->log(gpu->services->log_user, QN_LOG_DEBUG, line);
}

static qn_status create(qn__code *code, uint32_t index, const uint32_t *key, uint32_t num_key,
                        VkPipeline *pipeline, char *why) {
    qn__gpu *gpu = code->gpu;
    const qn__kernel_info *kernel = &code->info->kernels[index];
    VkSpecializationMapEntry entries[MAX_KEY];
    for (uint32_t i = 0; i < num_key; i++)
        entries[i] = (VkSpecializationMapEntry){i, i * (uint32_t)sizeof *key, sizeof *key};
    VkSpecializationInfo constants = {num_key, entries, num_key * sizeof *key, key};
    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo sub_group = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO,
        .requiredSubgroupSize = kernel->required_sub_group_size};
    bool sized = gpu->can.sub_group_sizes && kernel->required_sub_group_size >= gpu->can.min_sub_group &&
                 kernel->required_sub_group_size <= gpu->can.max_sub_group;
    VkPipelineCreationFeedback feedback = {0}, stage_feedback = {0};
    VkPipelineCreationFeedbackCreateInfo feedback_info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CREATION_FEEDBACK_CREATE_INFO,
        .pPipelineCreationFeedback = &feedback,
        .pipelineStageCreationFeedbackCount = 1,
        .pPipelineStageCreationFeedbacks = &stage_feedback};
    VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .pNext = gpu->can.feedback ? &feedback_info : NULL,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .pNext = sized ? &sub_group : NULL,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = code->module,
                  .pName = kernel->symbol ? kernel->symbol : kernel->name,
                  .pSpecializationInfo = &constants},
        .layout = gpu->layout};
    const uint64_t start = qn__now_ns();
    VkResult result = gpu->vk.CreateComputePipelines(gpu->device, code->cache, 1, &info, NULL, pipeline);
    if (result == VK_SUCCESS) {
        note_compilation(code, kernel, &feedback);
        const qn__services *services = gpu->services;
        if (services->did) services->did(services->did_user, "driver's compiler", kernel->name, start);
        return QN_OK;
    }
    *pipeline = 0;
    char reason[QN__WHY];
    qn_status status = qn__vk_failed("vkCreateComputePipelines", result, reason);
    snprintf(why, QN__WHY, "kernel %.100s: the driver does not compile it: %.300s", kernel->name, reason);
    return status == QN_ERROR_DEVICE_LOST ? status : QN_ERROR_DRIVER;
}

static qn_status get_locked(qn__code *code, uint32_t bucket, uint32_t kernel, const uint32_t *key,
                            uint32_t num_key, VkPipeline *pipeline, char *why) {
    qn__vk_pipeline *found = find(code, bucket, kernel, key, num_key);
    if (found) {
        *pipeline = found->handle;
        return QN_OK;
    }
    const qn__allocator *allocator = code->gpu->services->allocator;
    qn__vk_pipeline *made = qn__allocate(allocator, sizeof *made + num_key * sizeof *key);
    if (!made) return QN_ERROR_OUT_OF_MEMORY;
    *made = (qn__vk_pipeline){.next = code->buckets[bucket], .kernel = kernel, .num_key = num_key};
    memcpy(made->key, key, num_key * sizeof *key);
    qn_status status = create(code, kernel, key, num_key, &made->handle, why);
    if (status) {
        qn__release(allocator, made);
        return status;
    }
    code->buckets[bucket] = made;
    *pipeline = made->handle;
    return QN_OK;
}

qn_status qn__vk_pipeline_get(const qn__code *const_code, uint32_t kernel, const uint32_t *key,
                              uint32_t num_key, VkPipeline *pipeline, char *why) {
    qn__code *code = (qn__code *)const_code; /* only what its lock guards is changed */
    uint32_t bucket = (uint32_t)qn__hash(key, num_key * sizeof *key, kernel) % QN__VK_BUCKETS;
    pthread_mutex_lock(&code->lock);
    qn_status status = get_locked(code, bucket, kernel, key, num_key, pipeline, why);
    pthread_mutex_unlock(&code->lock);
    return status;
}

void qn__vk_pipelines_free(qn__code *code) {
    for (int i = 0; i < QN__VK_BUCKETS; i++)
        for (qn__vk_pipeline *p = code->buckets[i], *next; p; p = next) {
            next = p->next;
            code->gpu->vk.DestroyPipeline(code->gpu->device, p->handle, NULL);
            qn__release(code->gpu->services->allocator, p);
        }
}
