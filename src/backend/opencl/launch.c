/* Launches: arguments are set where they differ from the last launch of the same kernel object, and each part of the
   launch is one NDRange. */
#include <stdio.h>
#include <string.h>

#include "backend/opencl/opencl.h"

static qn_status bad_argument(const qn__kernel_info *kernel, uint32_t index, int32_t error, char *why) {
    snprintf(why, QN__WHY, "kernel %s: the driver does not take parameter %u: %s", kernel->name,
             (unsigned)index, qn__cl_error_name(error));
    return QN_ERROR_DRIVER;
}

static const qn__binding *binding_of(const qn__command *launch, uint32_t param) {
    for (uint32_t i = 0; i < launch->num_bindings; i++)
        if (launch->bindings[i].param == param) return &launch->bindings[i];
    return NULL;
}

/* Local arguments lie one after another: each reaches to the next, the last to the end of all. */
static uint64_t local_size(const qn__command *launch, const qn__kernel_info *kernel, uint32_t index) {
    uint64_t begin, end = launch->local_memory;
    memcpy(&begin, launch->args + kernel->params[index].offset, sizeof begin);
    for (uint32_t i = index + 1; i < kernel->num_params; i++) {
        if (kernel->params[i].kind != QN__PARAM_LOCAL) continue;
        memcpy(&end, launch->args + kernel->params[i].offset, sizeof end);
        break;
    }
    return end > begin ? end - begin : 1;
}

/* 0, or OpenCL's error. */
static int32_t set_arg(qn__gpu *gpu, cl_instance *instance, const qn__command *launch,
                       const qn__kernel_info *kernel, uint32_t i) {
    const qn__param_info *arg = &kernel->params[i];
    const unsigned char *value = launch->args + arg->offset;
    if (arg->kind == QN__PARAM_BUFFER) {
        const qn__binding *binding = binding_of(launch, i);
        uint64_t address = binding ? binding->memory->address : 0;
        if (instance->set && instance->values[i] == address) return 0;
        instance->values[i] = address;
        return gpu->cl->clSetKernelArg(instance->kernel, i, sizeof(cl_object),
                                       binding ? &binding->memory->buffer : NULL);
    }
    if (arg->kind == QN__PARAM_LOCAL) {
        uint64_t size = local_size(launch, kernel, i);
        if (instance->set && instance->values[i] == size) return 0;
        instance->values[i] = size;
        return gpu->cl->clSetKernelArg(instance->kernel, i, (size_t)size, NULL);
    }
    if (instance->set && memcmp(instance->args + arg->offset, value, arg->size) == 0) return 0;
    memcpy(instance->args + arg->offset, value, arg->size);
    return gpu->cl->clSetKernelArg(instance->kernel, i, arg->size, value);
}

/* The struct of implicit arguments, and the print buffer behind it. */
static int32_t set_implicit(qn__gpu *gpu, cl_instance *instance, const qn__command *launch,
                            const qn__kernel_info *kernel, const qn__part *part, cl_object print) {
    static const qn__implicit_addresses none = {0, 0};
    uint64_t *values = instance->values + kernel->num_params;
    uint32_t words = kernel->num_implicit, index = kernel->num_params;
    bool same = instance->set;
    if (words && kernel->implicit[words - 1].kind == QN__IMPLICIT_PRINT) words--;
    for (uint32_t i = 0; i < words; i++) {
        uint64_t value = qn__implicit_value(&kernel->implicit[i], launch, part, &none);
        same = same && values[i] == value;
        values[i] = value;
    }
    int32_t error = 0;
    if (words && !same) error = gpu->cl->clSetKernelArg(instance->kernel, index, 8 * (size_t)words, values);
    if (words) index++;
    if (!error && words < kernel->num_implicit)
        error = gpu->cl->clSetKernelArg(instance->kernel, index, sizeof print, &print);
    return error;
}

qn_status qn__cl_set_args(qn__gpu *gpu, cl_instance *instance, const qn__command *launch,
                          const qn__part *part, cl_object print, char *why) {
    const qn__kernel_info *kernel = &launch->code->info->kernels[launch->kernel];
    for (uint32_t i = 0; i < kernel->num_params; i++) {
        int32_t error = set_arg(gpu, instance, launch, kernel, i);
        if (error) instance->set = false;
        if (error) return bad_argument(kernel, i + 1, error, why);
    }
    int32_t error = set_implicit(gpu, instance, launch, kernel, part, print);
    if (error) instance->set = false;
    if (error) return bad_argument(kernel, kernel->num_params + 1, error, why);
    instance->set = true;
    return QN_OK;
}

qn_status qn__cl_enqueue_part(qn__queue *queue, cl_instance *instance, const qn__command *launch,
                              const qn__part *part, char *why) {
    size_t offset[3], global[3], local[3];
    for (int d = 0; d < 3; d++) {
        offset[d] = (size_t)(launch->offset[d] + (uint64_t)part->group_base[d] * launch->local[d]);
        local[d] = part->local[d];
        global[d] = (size_t)part->groups[d] * part->local[d];
    }
    bool moved = (offset[0] | offset[1] | offset[2]) != 0;
    int32_t error =
        queue->gpu->cl->clEnqueueNDRangeKernel(queue->queue, instance->kernel, launch->work_dim,
                                               moved ? offset : NULL, global, local, 0, NULL, NULL);
    if (!error) return QN_OK;
    return qn__cl_failed(queue->gpu, queue->queue, error, "a launch", launch->kernel_name, why);
}

bool qn__cl_needs_any_size(const qn__command *launch, const qn__part *part) {
    const uint32_t *reqd = launch->code->info->kernels[launch->kernel].reqd_local;
    if (!reqd[0]) return false;
    for (int d = 0; d < 3; d++)
        if (part->local[d] != (reqd[d] ? reqd[d] : 1)) return true;
    return false;
}

qn_status qn__cl_launch(qn__queue *queue, const qn__command *launch, uint64_t number, char *why) {
    qn__gpu *gpu = queue->gpu;
    qn__code *code = (qn__code *)launch->code;
    const qn__kernel_info *kernel = &code->info->kernels[launch->kernel];
    cl_print *print = NULL;
    qn__parts parts;
    qn__part part;
    qn_status status = QN_OK;
    if (kernel->uses_printf) status = qn__cl_print_begin(queue, code, &print, why);
    qn__parts_begin(&parts, launch, kernel, gpu->max_groups);
    while (!status && qn__parts_next(&parts, &part)) {
        cl_instance *instance;
        status = qn__cl_instance(code, launch->kernel, queue, qn__cl_needs_any_size(launch, &part), &instance,
                                 why);
        if (!status)
            status = qn__cl_set_args(gpu, instance, launch, &part, print ? print->buffer : NULL, why);
        if (!status) status = qn__cl_enqueue_part(queue, instance, launch, &part, why);
    }
    if (print) {
        qn_status ended = qn__cl_print_end(queue, print, number, why);
        if (!status) status = ended;
        if (status) print->print.info = NULL;
    }
    return status;
}
