/* Programs: a shader module from WGSL, and pipelines of its kernels, one for each local size and amount of local memory
   that a launch has asked for. */
#include <stdio.h>
#include <string.h>

#include "backend/webgpu/webgpu.h"

/* ---- programs ---- */

static void name_kernels(const qn__code_info *info, char *out, size_t size) {
    size_t used = 0;
    out[0] = 0;
    for (uint32_t i = 0; i < info->num_kernels && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "", info->kernels[i].name);
}

wg_object qn__wg_make_module(const qn__gpu *gpu, const char *text, size_t size) {
    wg_wgsl source = {.chain = {.type = WG_SHADER_SOURCE_WGSL}, .code = {text, size}};
    const wg_labelled desc = {.chain = &source.chain};
    if (gpu->api->wgpuDeviceCreateShaderModuleTrusted) /* as on other devices, accesses are not checked */
        return gpu->api->wgpuDeviceCreateShaderModuleTrusted(gpu->device, &desc, 0);
    return gpu->api->wgpuDeviceCreateShaderModule(gpu->device, &desc);
}

static qn_status build(qn__code *code, const char *text, size_t size, char *why) {
    char message[QN__WHY], names[128];
    qn__gpu *gpu = code->gpu;
    qn__wg_scope_begin(gpu);
    code->module = qn__wg_make_module(gpu, text, size);
    if (!qn__wg_scope_end(gpu, message, sizeof message)) return QN_OK;
    name_kernels(code->info, names, sizeof names);
    snprintf(why, QN__WHY, "%s cannot compile %s: %.300s", gpu->dialect->name, names, message);
    return QN_ERROR_DRIVER;
}

static qn_status add_constants(qn__code *code, char *why) {
    qn__gpu *gpu = code->gpu;
    if (!code->info->constants_size) return QN_OK;
    char message[QN__WHY];
    code->constants =
        qn__wg_buffer(gpu, WG_USE_STORAGE | WG_USE_COPY_TO, code->info->constants_size, message);
    if (!code->constants) {
        snprintf(why, QN__WHY, "no memory for the program's constants%s%.200s", message[0] ? ": " : "",
                 message);
        return QN_ERROR_DEVICE_MEMORY;
    }
    gpu->api->wgpuQueueWriteBuffer(gpu->queue, code->constants, 0, code->info->constants,
                                   (size_t)code->info->constants_size);
    return QN_OK;
}

/* The directive, a line at the head of the text, becomes blanks. */
static void leave_out_enable(char *text) {
    static const char directive[] = "enable subgroups;\n";
    for (char *at = text; at && strncmp(at, "enable ", 7) == 0;) {
        if (strncmp(at, directive, sizeof directive - 1) == 0) memset(at, ' ', sizeof directive - 2);
        at = strchr(at, '\n');
        if (at) at++;
    }
}

static void split(qn__code *code) {
    char *line = strstr(code->text, QN__WGSL_ONE_TYPE);
    if (!line) return;
    *line = 0;
    code->one_type = line + sizeof QN__WGSL_ONE_TYPE - 1;
}

static qn_status load(qn__code *code, const char *text, size_t size, char *why) {
    if (!code->info->num_kernels) return QN_OK;
    code->text = qn__allocate(code->gpu->services->allocator, size + 1);
    if (!code->text) return QN_ERROR_OUT_OF_MEMORY;
    memcpy(code->text, text, size);
    code->text[size] = 0;
    split(code);
    if (code->gpu->dialect->refuses_enable) {
        leave_out_enable(code->text);
        leave_out_enable(code->one_type);
    }
    pthread_mutex_lock(&code->gpu->lock);
    qn_status status = build(code, code->text, strlen(code->text), why);
    if (!status) status = add_constants(code, why);
    pthread_mutex_unlock(&code->gpu->lock);
    return status;
}

/* The cache's file has the text: WebGPU gives no binary. */
static qn_status load_file(qn__code *code, const qn__code_source *source, char *why) {
    qn__section sections[QN__MAX_SECTIONS];
    char *file;
    qn_status status = qn__code_file_open(code->gpu->services, source, sections, &file, why);
    if (status) return status;
    status = load(code, sections[0].data, sections[0].size, why);
    qn__release(code->gpu->services->allocator, file);
    return status;
}

qn_status qn__wg_code_load(qn__gpu *gpu, const qn__code_source *source, qn__code **out, char *why) {
    const qn__allocator *allocator = gpu->services->allocator;
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    qn__code *code = qn__allocate_zeroed(allocator, sizeof *code);
    if (!code) return QN_ERROR_OUT_OF_MEMORY;
    code->gpu = gpu;
    code->info = source->info;
    code->pipelines =
        qn__allocate_zeroed(allocator, (source->info->num_kernels + 1) * sizeof *code->pipelines);
    qn_status status = QN_ERROR_OUT_OF_MEMORY;
    if (code->pipelines)
        status =
            source->text ? load(code, source->text, source->text_size, why) : load_file(code, source, why);
    if (!status && source->text && source->binary_path) {
        const qn__section sections[QN__MAX_SECTIONS] = {{source->text, source->text_size}};
        qn__code_file_write(gpu->services, source->binary_path, sections);
    }
    if (status)
        qn__wg_code_unload(gpu, code);
    else
        *out = code;
    return status;
}

void qn__wg_code_unload(qn__gpu *gpu, qn__code *code) {
    const qn__allocator *allocator = gpu->services->allocator;
    pthread_mutex_lock(&gpu->lock);
    for (uint32_t i = 0; code->pipelines && i < code->info->num_kernels; i++)
        for (wg_pipeline *at = code->pipelines[i], *next; at; at = next) {
            next = at->next;
            qn__wg_free_groups(gpu, at);
            gpu->api->wgpuBindGroupLayoutRelease(at->layout);
            gpu->api->wgpuComputePipelineRelease(at->pipeline);
            qn__release(allocator, at);
        }
    qn__wg_free_variants(code);
    if (code->constants) gpu->api->wgpuBufferRelease(code->constants);
    if (code->module) gpu->api->wgpuShaderModuleRelease(code->module);
    pthread_mutex_unlock(&gpu->lock);
    qn__release(allocator, code->text);
    qn__release(allocator, code->pipelines);
    qn__release(allocator, code);
}

/* ---- pipelines ---- */

static wg_object make_pipeline(const qn__code *code, wg_object module, const qn__kernel_info *kernel,
                               const wg_pipeline *p) {
    static const char *const sizes[] = {"local_x", "local_y", "local_z"};
    char words[256];
    wg_constant constants[4] = {{.key = {0}}};
    for (unsigned d = 0; d < 3; d++) {
        constants[d].key = qn__wg_text(sizes[d]);
        constants[d].value = p->local[d];
    }
    snprintf(words, sizeof words, "words_of_%s", kernel->symbol);
    constants[3].key = qn__wg_text(words);
    constants[3].value = p->words;
    wg_pipeline_desc desc = {.label = qn__wg_text(kernel->name)};
    desc.compute.module = module;
    desc.compute.entry = qn__wg_text(kernel->symbol);
    desc.compute.num_constants = p->words ? 4 : 3;
    desc.compute.constants = constants;
    return code->gpu->api->wgpuDeviceCreateComputePipeline(code->gpu->device, &desc);
}

static qn_status add_pipeline(qn__code *code, uint32_t index, wg_pipeline *p, char *why) {
    char message[QN__WHY];
    qn__gpu *gpu = code->gpu;
    const qn__kernel_info *kernel = &code->info->kernels[index];
    wg_object module = NULL;
    qn_status status = qn__wg_variant(code, index, p->roots, &module, why);
    if (status) return status;
    qn__wg_scope_begin(gpu);
    p->pipeline = make_pipeline(code, module, kernel, p);
    const bool failed = qn__wg_scope_end(gpu, message, sizeof message);
    if (failed || !p->pipeline) {
        snprintf(why, QN__WHY, "kernel %.100s: %s cannot make a pipeline: %.300s", kernel->name,
                 gpu->dialect->name, failed ? message : "it does not say why");
        if (p->pipeline) gpu->api->wgpuComputePipelineRelease(p->pipeline);
        return QN_ERROR_DRIVER;
    }
    p->layout = gpu->api->wgpuComputePipelineGetBindGroupLayout(p->pipeline, 0);
    return QN_OK;
}

qn_status qn__wg_pipeline(qn__code *code, uint32_t kernel, const wg_pipeline *wanted, wg_pipeline **out,
                          char *why) {
    for (wg_pipeline *at = code->pipelines[kernel]; at; at = at->next) {
        *out = at;
        if (at->words == wanted->words && memcmp(at->local, wanted->local, sizeof at->local) == 0 &&
            memcmp(at->roots, wanted->roots, sizeof at->roots) == 0)
            return QN_OK;
    }
    wg_pipeline *made = qn__allocate(code->gpu->services->allocator, sizeof *made);
    if (!made) return QN_ERROR_OUT_OF_MEMORY;
    *made = *wanted;
    qn_status status = add_pipeline(code, kernel, made, why);
    if (status) {
        qn__release(code->gpu->services->allocator, made);
        return status;
    }
    made->next = code->pipelines[kernel];
    code->pipelines[kernel] = made;
    *out = made;
    return QN_OK;
}

void qn__wg_choose_local(const qn__gpu *gpu, const qn__code *code, uint32_t kernel, const uint64_t global[3],
                         uint32_t local[3]) {
    enum { WIDE = 32 };
    const uint32_t dims = global[2] > 1 ? 3 : global[1] > 1 ? 2 : 1;
    qn__choose_local(global, dims, code->info->kernels[kernel].guarded, gpu->max_group, WIDE, gpu->max_local,
                     local);
}
