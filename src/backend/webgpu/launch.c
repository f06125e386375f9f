/* Launches: each part of one is a bind group and a dispatch. Parameter blocks lie one behind another in a uniform buffer,
   which begins anew when it is full. */
#include <stdio.h>
#include <string.h>

#include "backend/webgpu/webgpu.h"

/* Where a buffer is bound from: what is behind that counts as the kernel's offset. One that may be bound once only is
   bound from the first place that a parameter has in it. */
static uint64_t bound_from(const qn__gpu *gpu, const qn__command *launch, const qn__binding *binding) {
    uint64_t first = binding->offset;
    for (uint32_t i = 0; gpu->dialect->refuses_aliases && i < launch->num_bindings; i++)
        if (launch->bindings[i].memory == binding->memory && launch->bindings[i].offset < first)
            first = launch->bindings[i].offset;
    return first / gpu->storage_alignment * gpu->storage_alignment;
}

static qn_status bind(qn__gpu *gpu, const qn__command *launch, const qn__kernel_info *kernel, uint32_t param,
                      wg_binding *entry, char *why) {
    const qn__binding *binding = qn__wg_binding_of(launch, param);
    if (!binding) {
        entry->buffer = gpu->nothing;
        entry->size = 16;
        return QN_OK;
    }
    entry->buffer = binding->memory->buffer;
    entry->offset = bound_from(gpu, launch, binding);
    entry->size = binding->memory->room - entry->offset;
    if (entry->size <= gpu->max_binding) return QN_OK;
    snprintf(why, QN__WHY,
             "kernel %.100s: parameter %u, %.100s, has %llu bytes behind it; the device binds %llu at most: "
             "pass a view",
             kernel->name, (unsigned)param + 1, kernel->params[param].name, (unsigned long long)entry->size,
             (unsigned long long)gpu->max_binding);
    return QN_ERROR_RANGE;
}

/* ---- parameter blocks ---- */

static void set_offsets(const qn__gpu *gpu, const qn__command *launch, const qn__kernel_info *kernel,
                        unsigned char *block) {
    for (uint32_t i = 0; i < kernel->num_implicit; i++) {
        const qn__implicit *implicit = &kernel->implicit[i];
        if (implicit->kind != QN__IMPLICIT_BUFFER_OFFSET) continue;
        const qn__binding *binding = qn__wg_binding_of(launch, implicit->dim);
        const uint32_t offset = binding ? (uint32_t)(binding->offset - bound_from(gpu, launch, binding))
                                        : (uint32_t)QN__WGSL_NULL;
        memcpy(block + implicit->offset, &offset, sizeof offset);
    }
}

static qn_status put_params(qn__gpu *gpu, const qn__command *launch, const qn__kernel_info *kernel,
                            const qn__part *part, wg_binding *entry) {
    static const qn__implicit_addresses none = {0, 0};
    unsigned char *block = qn__allocate_zeroed(gpu->services->allocator, kernel->params_size);
    if (!block) return QN_ERROR_OUT_OF_MEMORY;
    qn__params_fill(block, launch, kernel, part, &none);
    set_offsets(gpu, launch, kernel, block);
    if (gpu->params_at + kernel->params_size > QN__WG_PARAMS) {
        qn__wg_flush(gpu);
        gpu->params_at = 0;
    }
    *entry = (wg_binding){.binding = QN__WGSL_PARAMS,
                          .buffer = gpu->params,
                          .offset = gpu->params_at,
                          .size = kernel->params_size};
    gpu->api->wgpuQueueWriteBuffer(gpu->queue, gpu->params, gpu->params_at, block, kernel->params_size);
    gpu->params_at +=
        (kernel->params_size + QN__WG_PARAM_ALIGN - 1) / QN__WG_PARAM_ALIGN * QN__WG_PARAM_ALIGN;
    qn__release(gpu->services->allocator, block);
    return QN_OK;
}

/* ---- parts ---- */

static qn_status make_group(qn__gpu *gpu, const qn__command *launch, const qn__part *part,
                            const wg_pipeline *pipeline, wg_object print, wg_object *group, char *why) {
    const qn__kernel_info *kernel = &launch->code->info->kernels[launch->kernel];
    wg_binding entries[QN__WG_BINDINGS + 1] = {{.binding = 0}};
    size_t count = 0;
    qn_status status = QN_OK;
    if (kernel->params_size) status = put_params(gpu, launch, kernel, part, &entries[count++]);
    for (uint32_t i = 0; i < kernel->num_bindings && !status; i += 2) {
        if (pipeline->roots[i / 2] != i / 2) continue;
        wg_binding *entry = &entries[count++];
        entry->binding = kernel->bindings[i];
        if (kernel->bindings[i + 1] != QN__WGSL_NO_PARAM) {
            status = bind(gpu, launch, kernel, kernel->bindings[i + 1], entry, why);
        } else {
            const bool prints = entry->binding == QN__WGSL_PRINT;
            entry->buffer = prints ? print : launch->code->constants;
            entry->size = prints ? QN__PRINT_SIZE : launch->code->info->constants_size;
        }
    }
    const wg_group_desc desc = {.layout = pipeline->layout, .num_entries = count, .entries = entries};
    if (!status && !(*group = gpu->api->wgpuDeviceCreateBindGroup(gpu->device, &desc))) {
        snprintf(why, QN__WHY, "kernel %.100s: the device gives no bind group", kernel->name);
        status = QN_ERROR_DRIVER;
    }
    return status;
}

/* Words behind the variables, of a kernel that has __local parameters. */
static uint32_t dynamic_words(const qn__command *launch, const qn__kernel_info *kernel) {
    const uint64_t before = (kernel->static_local + QN__LOCAL_ALIGN - 1) / QN__LOCAL_ALIGN * QN__LOCAL_ALIGN;
    if (!kernel->num_local_units) return 0;
    return launch->local_memory > before ? (uint32_t)((launch->local_memory - before + 3) / 4) : 1;
}

static qn_status launch_part(qn__gpu *gpu, const qn__command *launch, const qn__part *part, wg_object print,
                             char *why) {
    const qn__kernel_info *kernel = &launch->code->info->kernels[launch->kernel];
    wg_pipeline *pipeline = NULL, wanted = {.words = dynamic_words(launch, kernel)};
    wg_object group = NULL;
    memcpy(wanted.local, part->local, sizeof wanted.local);
    qn__wg_find_roots(gpu, launch, wanted.roots);
    qn_status status = qn__wg_pipeline((qn__code *)launch->code, launch->kernel, &wanted, &pipeline, why);
    if (!status) status = make_group(gpu, launch, part, pipeline, print, &group, why);
    if (!status) status = qn__wg_encode(gpu, true, why);
    if (status) {
        if (group) gpu->api->wgpuBindGroupRelease(group);
        return status;
    }
    gpu->api->wgpuComputePassEncoderSetPipeline(gpu->pass, pipeline->pipeline);
    gpu->api->wgpuComputePassEncoderSetBindGroup(gpu->pass, 0, group, 0, NULL);
    gpu->api->wgpuComputePassEncoderDispatchWorkgroups(gpu->pass, part->groups[0], part->groups[1],
                                                       part->groups[2]);
    if (!qn__wg_keep(gpu, group)) gpu->api->wgpuBindGroupRelease(group);
    return QN_OK;
}

/* ---- launches ---- */

static qn_status begin_print(qn__gpu *gpu, wg_object *print, char *why) {
    const uint32_t header[2] = {QN__PRINT_CAPACITY, 0};
    *print = qn__wg_buffer(gpu, WG_USE_STORAGE | WG_USE_COPY_FROM | WG_USE_COPY_TO, QN__PRINT_SIZE);
    if (!*print) {
        snprintf(why, QN__WHY, "no memory for what the kernel prints");
        return QN_ERROR_DEVICE_MEMORY;
    }
    gpu->api->wgpuQueueWriteBuffer(gpu->queue, *print, 0, header, sizeof header); /* the rest is zero */
    return QN_OK;
}

qn_status qn__wg_launch(qn__gpu *gpu, const qn__command *launch, char *why) {
    const qn__kernel_info *kernel = &launch->code->info->kernels[launch->kernel];
    wg_object print = NULL;
    qn__parts parts;
    qn__part part;
    qn_status status = QN_OK;
    if (kernel->num_bindings / 2 > QN__WG_BINDINGS || kernel->num_bindings / 2 > gpu->num_storage) {
        snprintf(why, QN__WHY, "kernel %.100s uses %u buffers; the device binds %u at most", kernel->name,
                 (unsigned)kernel->num_bindings / 2, (unsigned)gpu->num_storage);
        return QN_ERROR_UNSUPPORTED;
    }
    if (kernel->uses_printf) status = begin_print(gpu, &print, why);
    qn__parts_begin(&parts, launch, kernel, gpu->max_groups);
    while (!status && qn__parts_next(&parts, &part)) status = launch_part(gpu, launch, &part, print, why);
    if (print && !status) status = qn__wg_read(gpu, print, 0, QN__PRINT_SIZE, NULL, launch->code->info, why);
    if (print) gpu->api->wgpuBufferRelease(print);
    return status;
}
