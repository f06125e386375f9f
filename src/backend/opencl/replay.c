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
    qn__commands commands;
    char kernels[160]; /* the names of those that it launches: "a or b" */
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
    qn__kernel_names names = {.count = 0};
    qn_status status = qn__commands_copy(allocator, commands, count, &replay->commands);
    for (size_t i = 0; i < replay->commands.count && !status; i++) {
        qn__command *command = replay->commands.list[i];
        command->host_stays = true; /* what a write copies lies behind the command */
        const bool launch = command->kind == QN__COMMAND_LAUNCH;
        if (launch) qn__kernel_names_add(&names, command->kernel_name);
        status = launch ? add_launch(gpu, replay, command, why)
                        : add_step(gpu, replay, (cl_step){.command = command});
    }
    qn__kernel_names_print(&names, "", replay->kernels, sizeof replay->kernels);
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
    qn__commands_free(allocator, &replay->commands);
    qn__release(allocator, replay->steps);
    qn__release(allocator, replay);
}

static qn_status replay_step(qn__queue *queue, const cl_step *step, uint64_t number, char *why) {
    if (!step->instance) return qn__cl_execute(queue, step->command, number, why);
    return qn__cl_enqueue_part(queue, step->instance, step->command, &step->part, why);
}

qn_status qn__cl_replay_submit(qn__queue *queue, qn__replay *replay, uint64_t *number, char *why) {
    if (qn__is_lost(&queue->gpu->loss)) return qn__lost(&queue->gpu->loss, why);
    pthread_mutex_lock(&queue->lock);
    const uint64_t next = atomic_load(&queue->flight.submitted) + 1;
    qn_status status = QN_OK;
    for (size_t i = 0; i < replay->num_steps && !status; i++)
        status = replay_step(queue, &replay->steps[i], next, why);
    *number = qn__cl_submitted(queue, replay->kernels[0] ? replay->kernels : NULL);
    pthread_mutex_unlock(&queue->lock);
    return status;
}
