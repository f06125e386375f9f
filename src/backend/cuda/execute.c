/* One command put on a stream: a queue's own, or one that is being captured into a graph. */
#include <stdio.h>
#include <string.h>

#include "backend/cuda/cuda.h"

static qn_status check_group(const qn__cuda_kernel *kernel, const qn__command *command, char *why) {
    uint64_t items = (uint64_t)command->local[0] * command->local[1] * command->local[2];
    if (items <= kernel->max_threads) return QN_OK;
    snprintf(why, QN__WHY,
             "qn_launch: a work-group of %llu work-items; kernel %s, with %u registers each, can have %u",
             (unsigned long long)items, kernel->name, (unsigned)kernel->registers,
             (unsigned)kernel->max_threads);
    return QN_ERROR_LAUNCH_SIZE;
}

static qn_status launch_failed(const qn__cuda_target *target, const qn__command *command,
                               qn__cu_result result, char *why) {
    char what[256];
    snprintf(what, sizeof what,
             "launching kernel %.100s with groups of %u x %u x %u and %llu bytes of local memory",
             command->kernel_name, (unsigned)command->local[0], (unsigned)command->local[1],
             (unsigned)command->local[2], (unsigned long long)command->local_memory);
    qn_status status = qn__cuda_fail(target->gpu, result, what, why);
    bool too_much = result == QN__CU_ERROR_LAUNCH_OUT_OF_RESOURCES || result == QN__CU_ERROR_INVALID_VALUE;
    return too_much && status == QN_ERROR_DRIVER ? QN_ERROR_LAUNCH_SIZE : status;
}

/* The buffer's records begin as zeros (common/print.c relies on it), its first word is the capacity. */
static qn__cu_result clear_print(const qn__cuda_target *target) {
    const qn__cu *cu = target->gpu->cu;
    qn__cu_result result = cu->set_32(target->print, 0, QN__PRINT_SIZE / 4, target->stream);
    return result ? result : cu->set_32(target->print, QN__PRINT_CAPACITY, 1, target->stream);
}

/* A kernel's private memory may be all that is missing: what is pooled makes room, but not in the midst of a capture. */
static qn__cu_result launch_part(const qn__cuda_target *target, qn__cu_function function,
                                 const qn__part *part, unsigned shared, void **params) {
    const qn__cu *cu = target->gpu->cu;
    for (bool again = false;; again = true) {
        qn__cu_result result =
            cu->launch(function, part->groups[0], part->groups[1], part->groups[2], part->local[0],
                       part->local[1], part->local[2], shared, target->stream, params, NULL);
        if (again || !target->queue || !qn__cuda_make_room(target->gpu, result)) return result;
    }
}

static unsigned dynamic_local(const qn__cuda_kernel *kernel, const qn__command *command) {
    const uint64_t fixed = kernel->static_local;
    return command->local_memory > fixed ? (unsigned)(command->local_memory - fixed) : 0;
}

static qn_status launch(const qn__cuda_target *target, const qn__command *command, char *why) {
    const qn__cuda_kernel *kernel = &command->code->kernels[command->kernel];
    const qn__kernel_info *info = &command->code->info->kernels[command->kernel];
    qn_status status = check_group(kernel, command, why);
    if (status) return status;
    _Alignas(16) unsigned char block[QN__PTX_MOST_PARAMS]; /* the emitter allows no more */
    void *params[] = {block};
    const unsigned shared = dynamic_local(kernel, command);
    qn__implicit_addresses addresses = {.print = target->print};
    qn__cu_result result = target->print ? clear_print(target) : QN__CU_SUCCESS;
    qn__parts parts;
    qn__part part;
    qn__parts_begin(&parts, command, info, target->gpu->max_grid);
    while (!result && qn__parts_next(&parts, &part)) {
        qn__params_fill(block, command, info, &part, &addresses);
        result = launch_part(target, kernel->function, &part, shared, params);
    }
    return result ? launch_failed(target, command, result, why) : QN_OK;
}

/* A recorded launch of one grid becomes this one of the same kernel; QN_ERROR_UNSUPPORTED where it takes several, or the
   driver wants it recorded again. */
qn_status qn__cuda_set_node(const qn__gpu *gpu, qn__cu_exec exec, qn__cu_node node,
                            const qn__command *command, char *why) {
    const qn__cuda_kernel *kernel = &command->code->kernels[command->kernel];
    const qn__kernel_info *info = &command->code->info->kernels[command->kernel];
    qn_status status = check_group(kernel, command, why);
    if (status) return status;
    _Alignas(16) unsigned char block[QN__PTX_MOST_PARAMS];
    qn__parts parts;
    qn__part part;
    qn__parts_begin(&parts, command, info, gpu->max_grid);
    if (!qn__parts_next(&parts, &part) || !parts.done) return QN_ERROR_UNSUPPORTED;
    qn__params_fill(block, command, info, &part, &(qn__implicit_addresses){0});
    qn__cu_kernel_node params = {
        .function = kernel->function, .shared = dynamic_local(kernel, command), .params = (void *[]){block}};
    memcpy(params.grid, part.groups, sizeof params.grid);
    memcpy(params.block, part.local, sizeof params.block);
    return gpu->cu->exec_set_kernel(exec, node, &params) ? QN_ERROR_UNSUPPORTED : QN_OK;
}

/* A recorded copy reads from another place. */
qn_status qn__cuda_set_copy(const qn__gpu *gpu, qn__cu_exec exec, qn__cu_node node,
                            const qn__command *command) {
    qn__cu_copy_node params;
    if (!gpu->cu->copy_node_get || !gpu->cu->exec_set_copy || gpu->cu->copy_node_get(node, &params))
        return QN_ERROR_UNSUPPORTED;
    params.from.device = (qn__cu_address)(uintptr_t)command->from + command->from_offset;
    return gpu->cu->exec_set_copy(exec, node, &params, gpu->context) ? QN_ERROR_UNSUPPORTED : QN_OK;
}

/* What a captured command writes from stays as it is for as long as the graph (replay.c). From memory that stays
   the driver copies best itself: it knows what is pinned, also by others. */
static qn_status write(const qn__cuda_target *target, const qn__command *command, char *why) {
    qn__cu_address to = (qn__cu_address)(uintptr_t)command->to + command->to_offset;
    bool direct = !target->queue || command->host_stays;
    if (!direct) return qn__cuda_write(target->queue, to, command->host, command->size, why);
    qn__cu_result result =
        target->gpu->cu->copy_to_device(to, command->host, (size_t)command->size, target->stream);
    return result ? qn__cuda_fail(target->gpu, result, "a write", why) : QN_OK;
}

static qn_status read(const qn__cuda_target *target, const qn__command *command, char *why) {
    qn__cu_address from = (qn__cu_address)(uintptr_t)command->from + command->from_offset;
    bool direct = !target->queue || command->host_pinned;
    if (!direct) return qn__cuda_read(target->queue, command->host, from, command->size, why);
    qn__cu_result result =
        target->gpu->cu->copy_to_host(command->host, from, (size_t)command->size, target->stream);
    return result ? qn__cuda_fail(target->gpu, result, "a read", why) : QN_OK;
}

static qn_status copy(const qn__cuda_target *target, const qn__command *command, char *why) {
    if (command->from_gpu) return qn__cuda_copy_peer(target, command, why);
    qn__cu_result result =
        target->gpu->cu->copy_on_device((qn__cu_address)(uintptr_t)command->to + command->to_offset,
                                        (qn__cu_address)(uintptr_t)command->from + command->from_offset,
                                        (size_t)command->size, target->stream);
    return result ? qn__cuda_fail(target->gpu, result, "a copy", why) : QN_OK;
}

qn_status qn__cuda_execute(const qn__cuda_target *target, const qn__command *command, char *why) {
    switch (command->kind) {
    case QN__COMMAND_WRITE: return write(target, command, why);
    case QN__COMMAND_READ: return read(target, command, why);
    case QN__COMMAND_COPY: return copy(target, command, why);
    case QN__COMMAND_FILL: return qn__cuda_fill(target, command, why);
    case QN__COMMAND_LAUNCH: return launch(target, command, why);
    case QN__COMMAND_RECORD: return qn__cuda_mark_record(target, command->mark, command->mark_version, why);
    case QN__COMMAND_WAIT: return qn__cuda_mark_await(target, command->mark, why);
    }
    return QN_OK;
}

void qn__cuda_choose_local(const qn__gpu *gpu, const qn__code *code, uint32_t kernel,
                           const uint64_t global[3], uint32_t local[3]) {
    uint32_t work_dim = global[2] > 1 ? 3 : global[1] > 1 ? 2 : 1;
    qn__choose_local(global, work_dim, code->info->kernels[kernel].guarded, code->kernels[kernel].max_threads,
                     32, gpu->max_block, local);
}

qn_status qn__cuda_kernel_resources(qn__gpu *gpu, const qn__code *code, uint32_t index,
                                    const uint32_t local[3], qn_kernel_resources *resources, char *why) {
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    const qn__cuda_kernel *kernel = &code->kernels[index];
    const qn__command launch = {.local_memory = code->info->kernels[index].static_local};
    int memory = 0, blocks = 0;
    const bool entered = qn__cuda_enter(gpu);
    qn__cu_result result =
        gpu->cu->function_get(&memory, QN__CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, kernel->function);
    if (!result)
        result = gpu->cu->occupancy(&blocks, kernel->function, (int)(local[0] * local[1] * local[2]),
                                    dynamic_local(kernel, &launch));
    qn__cuda_leave(gpu, entered);
    if (result) return qn__cuda_fail(gpu, result, "what a kernel takes", why);
    resources->max_group_size = kernel->max_threads;
    resources->registers = kernel->registers;
    resources->private_memory = (uint64_t)memory;
    resources->code_size = kernel->code_size;
    resources->resident_groups = (uint32_t)blocks;
    return QN_OK;
}
