/* Programs: a shader module, its constants in device memory, and the pipelines made from it. The disk cache's file is
   written when a program is loaded from text, and again when it is unloaded if the driver has compiled more by
   then. */
#include <stdio.h>
#include <string.h>

#include "backend/vulkan/vulkan.h"

/* The sections of the disk cache's file. */
enum { WORDS, PIPELINES /* what the driver's pipeline cache gave */ };

/* What the driver has compiled so far, to be released; NULL: nothing to be had. */
static unsigned char *pipeline_data(const qn__code *code, size_t *size) {
    const qn__gpu *gpu = code->gpu;
    *size = 0;
    if (gpu->vk.GetPipelineCacheData(gpu->device, code->cache, size, NULL) != VK_SUCCESS || *size == 0)
        return NULL;
    unsigned char *data = qn__allocate(gpu->services->allocator, *size);
    if (data && gpu->vk.GetPipelineCacheData(gpu->device, code->cache, size, data) == VK_SUCCESS) return data;
    qn__release(gpu->services->allocator, data);
    *size = 0;
    return NULL;
}

static void store(qn__code *code) {
    qn__section sections[QN__MAX_SECTIONS] = {[WORDS] = {code->words, code->words_size}};
    unsigned char *pipelines = pipeline_data(code, &sections[PIPELINES].size);
    sections[PIPELINES].data = pipelines;
    if (qn__code_file_write(code->gpu->services, code->path, sections)) code->grown = false;
    qn__release(code->gpu->services->allocator, pipelines);
}

/* The __constant objects, with their own address added where they point at each other. */
static qn_status load_constants(qn__code *code, const qn__code_source *source, char *why) {
    if (source->info->constants_size == 0) return QN_OK;
    qn__gpu *gpu = code->gpu;
    qn_status status =
        qn__vk_allocate(gpu, QN__VK_DEVICE_HEAP, source->info->constants_size, &code->constants, why);
    if (status) return status;
    unsigned char *copy = qn__allocate(gpu->services->allocator, source->info->constants_size);
    if (!copy) return QN_ERROR_OUT_OF_MEMORY;
    memcpy(copy, source->info->constants, source->info->constants_size);
    for (size_t i = 0; i < source->info->num_relocations; i++) {
        uint64_t word;
        memcpy(&word, copy + source->info->relocations[i], sizeof word);
        word += qn__vk_address(code->constants);
        memcpy(copy + source->info->relocations[i], &word, sizeof word);
    }
    status = qn__vk_upload_now(gpu, code->constants, copy, source->info->constants_size, why);
    qn__release(gpu->services->allocator, copy);
    return status;
}

static qn_status create_module(qn__code *code, qn__section pipelines, char *why) {
    qn__gpu *gpu = code->gpu;
    VkPipelineCacheCreateInfo cache_info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                            .initialDataSize = pipelines.size,
                                            .pInitialData = pipelines.size ? pipelines.data : NULL};
    VkResult result = gpu->vk.CreatePipelineCache(gpu->device, &cache_info, NULL, &code->cache);
    if (result != VK_SUCCESS) {
        code->cache = 0;
        return qn__vk_failed(gpu, "vkCreatePipelineCache", result, why);
    }
    VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                     .codeSize = code->words_size,
                                     .pCode = (const uint32_t *)(const void *)code->words};
    result = gpu->vk.CreateShaderModule(gpu->device, &info, NULL, &code->module);
    if (result == VK_SUCCESS) return QN_OK;
    code->module = 0;
    qn_status status = qn__vk_failed(gpu, "vkCreateShaderModule", result, why);
    return status == QN_ERROR_OUT_OF_MEMORY ? status : QN_ERROR_DRIVER;
}

/* Kernels whose local size is known are compiled by the driver now; the others at their first launch. */
static qn_status compile_known(qn__code *code, char *why) {
    qn_status status = QN_OK;
    for (uint32_t i = 0; i < code->info->num_kernels && !status; i++) {
        const qn__kernel_info *kernel = &code->info->kernels[i];
        VkPipeline pipeline;
        if (kernel->reqd_local[0] && kernel->num_local_units == 0)
            status = qn__vk_pipeline_get(code, i, kernel->reqd_local, 3, &pipeline, why);
    }
    return status;
}

static bool take_words(qn__code *code, qn__section words, const char *path) {
    const qn__allocator *allocator = code->gpu->services->allocator;
    code->words = qn__allocate(allocator, words.size ? words.size : 1);
    code->path = path ? qn__allocate(allocator, strlen(path) + 1) : NULL;
    if (!code->words || (path && !code->path)) return false;
    memcpy(code->words, words.data, words.size);
    code->words_size = words.size;
    if (path) memcpy(code->path, path, strlen(path) + 1);
    return true;
}

static qn_status load(qn__code *code, const qn__code_source *source, const qn__section *sections, char *why) {
    code->info = source->info;
    if (!take_words(code, sections[WORDS], source->binary_path)) return QN_ERROR_OUT_OF_MEMORY;
    qn_status status = create_module(code, sections[PIPELINES], why);
    if (!status) status = load_constants(code, source, why);
    if (!status) status = compile_known(code, why);
    if (!status && source->text && code->path) store(code);
    return status;
}

static void delete_code(qn__code *code) {
    qn__gpu *gpu = code->gpu;
    const qn__allocator *allocator = gpu->services->allocator;
    qn__vk_pipelines_free(code);
    if (code->module) gpu->vk.DestroyShaderModule(gpu->device, code->module, NULL);
    if (code->cache) gpu->vk.DestroyPipelineCache(gpu->device, code->cache, NULL);
    qn__vk_release(gpu, code->constants);
    pthread_mutex_destroy(&code->lock);
    qn__release(allocator, code->words);
    qn__release(allocator, code->path);
    qn__release(allocator, code);
}

qn_status qn__vk_code_load(qn__gpu *gpu, const qn__code_source *source, qn__code **out, char *why) {
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    qn__code *code = qn__allocate_zeroed(gpu->services->allocator, sizeof *code);
    if (!code) return QN_ERROR_OUT_OF_MEMORY;
    code->gpu = gpu;
    pthread_mutex_init(&code->lock, NULL);
    qn__section sections[QN__MAX_SECTIONS] = {[WORDS] = {source->text, source->text_size}};
    char *file = NULL;
    qn_status status = QN_OK;
    if (!source->text) status = qn__code_file_open(gpu->services, source, sections, &file, why);
    if (!status) status = load(code, source, sections, why);
    qn__release(gpu->services->allocator, file);
    if (status)
        delete_code(code);
    else
        *out = code;
    return status;
}

void qn__vk_code_unload(qn__gpu *gpu, qn__code *code) {
    if (code->path && code->grown && !qn__is_lost(&gpu->loss)) store(code);
    delete_code(code);
}

void qn__vk_choose_local(const qn__gpu *gpu, const qn__code *code, uint32_t kernel, const uint64_t global[3],
                         uint32_t local[3]) {
    const VkPhysicalDeviceLimits *limits = &gpu->physical->properties.limits;
    uint32_t work_dim = global[2] > 1 ? 3 : global[1] > 1 ? 2 : 1;
    qn__choose_local(global, work_dim, code->info->kernels[kernel].guarded,
                     limits->maxComputeWorkGroupInvocations, gpu->physical->properties_11.subgroupSize,
                     limits->maxComputeWorkGroupSize, local);
}
