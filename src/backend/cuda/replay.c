/* Graphs: the commands are captured from a stream of their own into a CUDA graph. What they write is copied to
   pinned memory that lives with the graph. A graph whose kernels print is waited for at each launch, because
   its print buffers are part of it. The driver runs one instance of a graph at a time. */
#include <stdio.h>
#include <string.h>

#include "backend/cuda/cuda.h"

typedef struct graph_print {
    qn__cu_address buffer;
    const qn__code_info *info;
} graph_print;

struct qn__replay {
    qn__cu_exec exec;
    unsigned char *data; /* of the writes; pinned */
    graph_print *prints;
    size_t num_prints;
    const char *name; /* of its kernels, for messages: "a or b" */
    /* one launch at a time, as the driver asks for; a printing graph's until it has printed */
    pthread_mutex_t lock;
};

static bool prints(const qn__command *command) {
    return command->kind == QN__COMMAND_LAUNCH && command->code->info->kernels[command->kernel].uses_printf;
}

/* Which of them runs is not known when one fails. */
static bool name_kernels(qn__gpu *gpu, qn__replay *replay, const qn__command *commands, size_t count) {
    char text[160];
    qn__cuda_names found = {.count = 0};
    for (size_t i = 0; i < count; i++)
        if (commands[i].kind == QN__COMMAND_LAUNCH)
            qn__cuda_note_name(&found, commands[i].code->kernels[commands[i].kernel].name);
    if (!found.count) return true;
    qn__cuda_list_names(&found, "", text, sizeof text);
    replay->name = qn__cuda_intern(gpu, text);
    return replay->name != NULL;
}

static uint64_t padded(uint64_t size) { return (size + 15) / 16 * 16; }

/* Everything that must be there before the capture begins. */
static qn_status prepare(qn__gpu *gpu, qn__replay *replay, const qn__command *commands, size_t count,
                         char *why) {
    uint64_t data = 0;
    size_t num_prints = 0;
    for (size_t i = 0; i < count; i++) {
        const qn__command *command = &commands[i];
        if (command->kind == QN__COMMAND_WRITE) data += padded(command->size);
        if (prints(command)) num_prints++;
    }
    if (data) {
        void *memory;
        qn__cu_result result =
            data > SIZE_MAX ? QN__CU_ERROR_OUT_OF_MEMORY : gpu->cu->host_alloc(&memory, (size_t)data, 0);
        if (result) return qn__cuda_fail(gpu, result, "memory for what a graph writes", why);
        replay->data = memory;
    }
    replay->prints = qn__allocate_zeroed(gpu->services->allocator, (num_prints + 1) * sizeof *replay->prints);
    if (!replay->prints || !name_kernels(gpu, replay, commands, count)) return QN_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++) {
        if (!prints(&commands[i])) continue;
        graph_print *print = &replay->prints[replay->num_prints];
        qn_status status = qn__cuda_print_buffer(gpu, &print->buffer, why);
        if (status) return status;
        print->info = commands[i].code->info;
        replay->num_prints++;
    }
    return QN_OK;
}

static qn_status capture(qn__gpu *gpu, const qn__replay *replay, qn__cu_stream stream,
                         const qn__command *commands, size_t count, char *why) {
    qn__cuda_target target = {.gpu = gpu, .stream = stream};
    unsigned char *data = replay->data;
    const graph_print *print = replay->prints;
    for (size_t i = 0; i < count; i++) {
        qn__command command = commands[i];
        if (command.kind == QN__COMMAND_WRITE) {
            command.host = memcpy(data, command.host, (size_t)command.size);
            data += padded(command.size);
        }
        target.print = prints(&command) ? print++->buffer : 0;
        qn_status status = qn__cuda_execute(&target, &command, why);
        if (status) return status;
    }
    return QN_OK;
}

/* A capture that was begun is ended, whatever came of it. */
static qn_status record(qn__gpu *gpu, qn__replay *replay, qn__cu_stream stream, const qn__command *commands,
                        size_t count, char *why) {
    const qn__cu *cu = gpu->cu;
    qn__cu_graph graph = NULL;
    qn__cu_result result = cu->stream_begin_capture(stream, QN__CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    if (result) return qn__cuda_fail(gpu, result, "recording a graph", why);
    qn_status status = capture(gpu, replay, stream, commands, count, why);
    result = cu->stream_end_capture(stream, &graph);
    if (!status && !result) {
        result = cu->graph_instantiate(&replay->exec, graph, 0);
        if (qn__cuda_make_room(gpu, result)) result = cu->graph_instantiate(&replay->exec, graph, 0);
        if (result) replay->exec = NULL;
    }
    if (!status && !result) {
        result = cu->exec_upload(replay->exec, stream);
        if (!result) result = cu->stream_synchronize(stream);
    }
    if (graph) cu->graph_destroy(graph);
    if (!status && result) status = qn__cuda_fail(gpu, result, "recording a graph", why);
    return status;
}

static qn_status make(qn__gpu *gpu, qn__replay *replay, const qn__command *commands, size_t count,
                      char *why) {
    qn__cu_stream stream;
    qn_status status = prepare(gpu, replay, commands, count, why);
    if (status) return status;
    qn__cu_result result = gpu->cu->stream_create(&stream, QN__CU_STREAM_NON_BLOCKING);
    if (result) return qn__cuda_fail(gpu, result, "a stream", why);
    status = record(gpu, replay, stream, commands, count, why);
    gpu->cu->stream_destroy(stream);
    return status;
}

qn_status qn__cuda_replay_create(qn__gpu *gpu, const qn__command *commands, size_t count, qn__replay **out,
                                 char *why) {
    if (atomic_load(&gpu->lost)) return qn__cuda_lost(gpu, why);
    qn__replay *replay = qn__allocate_zeroed(gpu->services->allocator, sizeof *replay);
    if (!replay) return QN_ERROR_OUT_OF_MEMORY;
    pthread_mutex_init(&replay->lock, NULL);
    const bool entered = qn__cuda_enter(gpu);
    qn_status status = make(gpu, replay, commands, count, why);
    qn__cuda_leave(gpu, entered);
    if (status)
        qn__cuda_replay_destroy(gpu, replay);
    else
        *out = replay;
    return status;
}

void qn__cuda_replay_destroy(qn__gpu *gpu, qn__replay *replay) {
    const bool entered = qn__cuda_enter(gpu);
    if (replay->exec) gpu->cu->exec_destroy(replay->exec);
    if (replay->data) gpu->cu->host_free(replay->data);
    for (size_t i = 0; i < replay->num_prints; i++) qn__cuda_print_release(gpu, replay->prints[i].buffer);
    qn__cuda_leave(gpu, entered);
    pthread_mutex_destroy(&replay->lock);
    qn__release(gpu->services->allocator, replay->prints);
    qn__release(gpu->services->allocator, replay);
}

/* Earlier launches of the stream have printed before, because they are waited for too. */
static qn_status print_all(qn__queue *queue, qn__replay *replay, uint64_t number, char *why) {
    qn_status status = qn__cuda_wait(queue, number, QN_FOREVER, why);
    if (status) return status;
    const bool entered = qn__cuda_enter(queue->gpu);
    for (size_t i = 0; i < replay->num_prints; i++)
        qn__cuda_print_records(queue->gpu, replay->prints[i].buffer, replay->prints[i].info);
    qn__cuda_leave(queue->gpu, entered);
    return QN_OK;
}

qn_status qn__cuda_replay_submit(qn__queue *queue, qn__replay *replay, uint64_t *number, char *why) {
    qn__gpu *gpu = queue->gpu;
    if (atomic_load(&gpu->lost)) return qn__cuda_lost(gpu, why);
    pthread_mutex_lock(&replay->lock);
    const bool entered = qn__cuda_enter(gpu);
    qn__cu_result result = gpu->cu->exec_launch(replay->exec, queue->stream);
    if (!result) qn__cuda_count(queue, replay->name, number);
    qn__cuda_leave(gpu, entered);
    qn_status status = result ? qn__cuda_fail(gpu, result, "launching a graph", why) : QN_OK;
    if (!status && replay->num_prints) status = print_all(queue, replay, *number, why);
    pthread_mutex_unlock(&replay->lock);
    return status;
}
