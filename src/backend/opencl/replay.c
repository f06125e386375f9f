/* Graphs: the commands again, each part of a launch with a kernel object of its own whose arguments were set when
   the graph was made. */
#include <string.h>

#include "backend/opencl/opencl.h"

typedef struct cl_step {
    qn__command *command;
    cl_instance *instance; /* of a launch's part; NULL: the command is done as in a stream */
    qn__part part;
} cl_step;

struct qn__replay {
    qn__command **commands;
    size_t num_commands;
    cl_step *steps;
    size_t num_steps, cap;
};

static qn_status add_step(qn__gpu *gpu, qn__replay *replay, cl_step step) {
    if (replay->num_steps == replay->cap) {
        size_t cap = replay->cap ? 2 * replay->cap : 32;
        cl_step *grown = qn__reallocate(gpu->services->allocator, replay->steps, cap * sizeof *grown);
        if (!grown) return QN_ERROR_OUT_OF_MEMORY;
        replay->steps = grown;
        replay->cap = cap;
    }
    replay->steps[replay->num_steps++] = step;
    return QN_OK;
}

/* Launches that print get a buffer each time and are done as in a stream. */
static qn_status add_launch(qn__gpu *gpu, qn__replay *replay, qn__command *launch, char *why) {
    qn__code *code = (qn__code *)launch->code;
    const qn__kernel_info *kernel = &code->info->kernels[launch->kernel];
    qn__parts parts;
    cl_step step = {.command = launch};
    if (kernel->uses_printf) return add_step(gpu, replay, step);
    qn_status status = QN_OK;
    qn__parts_begin(&parts, launch, kernel, gpu->max_groups);
    while (!status && qn__parts_next(&parts, &step.part)) {
        bool any_size = qn__cl_needs_any_size(launch, &step.part);
        status = qn__cl_instance(code, launch->kernel, NULL, any_size, &step.instance, why);
        if (!status) status = add_step(gpu, replay, step);
        if (!status) status = qn__cl_set_args(gpu, step.instance, launch, &step.part, NULL, why);
    }
    return status;
}

qn_status qn__cl_replay_create(qn__gpu *gpu, const qn__command *commands, size_t count, qn__replay **out,
                               char *why) {
    const qn__allocator *allocator = gpu->services->allocator;
    qn__replay *replay = qn__allocate_zeroed(allocator, sizeof *replay);
    if (!replay) return QN_ERROR_OUT_OF_MEMORY;
    replay->commands = qn__allocate_zeroed(allocator, (count + 1) * sizeof *replay->commands);
    qn_status status = replay->commands ? QN_OK : QN_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < count && !status; i++) {
        qn__command *command = qn__command_copy(allocator, &commands[i]);
        if (!command) {
            status = QN_ERROR_OUT_OF_MEMORY;
            break;
        }
        command->host_stays = true; /* what a write copies lies behind the command */
        replay->commands[replay->num_commands++] = command;
        status = command->kind == QN__COMMAND_LAUNCH ? add_launch(gpu, replay, command, why)
                                                     : add_step(gpu, replay, (cl_step){.command = command});
    }
    if (status)
        qn__cl_replay_destroy(gpu, replay);
    else
        *out = replay;
    return status;
}

void qn__cl_replay_destroy(qn__gpu *gpu, qn__replay *replay) {
    const qn__allocator *allocator = gpu->services->allocator;
    for (size_t i = 0; i < replay->num_steps; i++)
        if (replay->steps[i].instance)
            qn__cl_instance_free((qn__code *)replay->steps[i].command->code, replay->steps[i].command->kernel,
                                 replay->steps[i].instance);
    for (size_t i = 0; i < replay->num_commands; i++) qn__release(allocator, replay->commands[i]);
    qn__release(allocator, replay->commands);
    qn__release(allocator, replay->steps);
    qn__release(allocator, replay);
}

static qn_status replay_step(qn__queue *queue, const cl_step *step, uint64_t number, char *why) {
    if (!step->instance) return qn__cl_execute(queue, step->command, number, why);
    qn__cl_note_launch(queue, number, step->command->kernel_name);
    return qn__cl_enqueue_part(queue, step->instance, step->command, &step->part, why);
}

qn_status qn__cl_replay_submit(qn__queue *queue, qn__replay *replay, uint64_t *number, char *why) {
    if (atomic_load(&queue->gpu->lost)) return qn__cl_lost(queue->gpu, why);
    pthread_mutex_lock(&queue->lock);
    uint64_t next = queue->submitted + 1;
    qn_status status = QN_OK;
    for (size_t i = 0; i < replay->num_steps && !status; i++)
        status = replay_step(queue, &replay->steps[i], next, why);
    qn__cl_submitted(queue, next);
    *number = next;
    pthread_mutex_unlock(&queue->lock);
    return status;
}
