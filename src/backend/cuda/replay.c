/* Graphs: the commands are captured from a stream of their own into a CUDA graph. What they write is copied to
   pinned memory that lives with the graph. The buffers that its kernels print to are part of the graph too: behind
   each launch they are copied to others, and the next launch, on whatever stream, comes behind the copies. The
   driver runs one instance of a graph at a time. A launch that is set anew changes its node in the instance, of which
   launches in flight keep what they were launched with. */
#include <stdio.h>
#include <string.h>

#include "backend/cuda/cuda.h"

struct qn__replay {
    qn__cu_graph graph; /* its nodes name those of the instance */
    qn__cu_exec exec;
    qn__cu_node *nodes;  /* by command: of a launch or copy that can be set anew, or NULL */
    unsigned char *data; /* of the writes; pinned */
    qn__cuda_print **prints;
    size_t num_prints;
    qn__cu_event copied;  /* what the latest launch printed; NULL: the graph prints nothing */
    const char *name;     /* of its kernels, for messages: "a or b" */
    pthread_mutex_t lock; /* one launch at a time, as the driver asks for */
};

static bool prints(const qn__command *command) {
    return command->kind == QN__COMMAND_LAUNCH && command->code->info->kernels[command->kernel].uses_printf;
}

/* Which of them runs is not known when one fails. */
static bool name_kernels(qn__gpu *gpu, qn__replay *replay, const qn__command *commands, size_t count) {
    char text[160];
    qn__kernel_names found = {.count = 0};
    for (size_t i = 0; i < count; i++)
        if (commands[i].kind == QN__COMMAND_LAUNCH)
            qn__kernel_names_add(&found, commands[i].code->kernels[commands[i].kernel].name);
    if (!found.count) return true;
    qn__kernel_names_print(&found, "", text, sizeof text);
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
    replay->nodes = qn__allocate_zeroed(gpu->services->allocator, (count + 1) * sizeof *replay->nodes);
    if (!replay->prints || !replay->nodes || !name_kernels(gpu, replay, commands, count))
        return QN_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < count; i++) {
        if (!prints(&commands[i])) continue;
        const qn__code_info *info = commands[i].code->info;
        qn_status status = qn__cuda_print_new(gpu, info, &replay->prints[replay->num_prints], why);
        if (status) return status;
        replay->num_prints++;
    }
    if (!num_prints) return QN_OK;
    qn__cu_result result = gpu->cu->event_create(&replay->copied, QN__CU_EVENT_DISABLE_TIMING);
    if (result) replay->copied = NULL;
    return result ? qn__cuda_fail(gpu, result, "an event", why) : QN_OK;
}

static bool is_one_grid(const qn__gpu *gpu, const qn__command *command) {
    qn__parts parts;
    qn__part part;
    qn__parts_begin(&parts, command, &command->code->info->kernels[command->kernel], gpu->max_grid);
    return qn__parts_next(&parts, &part) && parts.done;
}

/* The node of the copy or launch that was captured last. One that prints has others before it, as one of several grids. */
static void note_node(const qn__gpu *gpu, qn__replay *replay, size_t index, qn__cu_stream stream,
                      const qn__command *command) {
    const qn__cu_node *last = NULL;
    size_t count = 0;
    uint64_t id;
    qn__cu_graph graph;
    int status;
    const bool is_copy = command->kind == QN__COMMAND_COPY && !command->from_gpu;
    if ((command->kind != QN__COMMAND_LAUNCH && !is_copy) || !gpu->cu->stream_capture_info) return;
    if (!is_copy && (prints(command) || !is_one_grid(gpu, command))) return;
    if (gpu->cu->stream_capture_info(stream, &status, &id, &graph, &last, &count) || count != 1) return;
    replay->nodes[index] = last[0];
}

static qn_status capture(qn__gpu *gpu, qn__replay *replay, qn__cu_stream stream, const qn__command *commands,
                         size_t count, char *why) {
    qn__cuda_target target = {.gpu = gpu, .stream = stream};
    unsigned char *data = replay->data;
    qn__cuda_print *const *print = replay->prints;
    for (size_t i = 0; i < count; i++) {
        qn__command command = commands[i];
        if (command.kind == QN__COMMAND_WRITE) {
            command.host = memcpy(data, command.host, (size_t)command.size);
            data += padded(command.size);
        }
        target.print = prints(&command) ? (*print++)->buffer : 0;
        qn_status status = qn__cuda_execute(&target, &command, why);
        if (status) return status;
        note_node(gpu, replay, i, stream, &command);
    }
    return QN_OK;
}

/* A capture that was begun is ended, whatever came of it. */
static qn_status record(qn__gpu *gpu, qn__replay *replay, qn__cu_stream stream, const qn__command *commands,
                        size_t count, char *why) {
    const qn__cu *cu = gpu->cu;
    qn__cu_result result = cu->stream_begin_capture(stream, QN__CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    if (result) return qn__cuda_fail(gpu, result, "recording a graph", why);
    qn_status status = capture(gpu, replay, stream, commands, count, why);
    result = cu->stream_end_capture(stream, &replay->graph);
    if (result) replay->graph = NULL;
    if (!status && !result) {
        result = cu->graph_instantiate(&replay->exec, replay->graph, 0);
        if (qn__cuda_make_room(gpu, result)) result = cu->graph_instantiate(&replay->exec, replay->graph, 0);
        if (result) replay->exec = NULL;
    }
    if (!status && !result) {
        result = cu->exec_upload(replay->exec, stream);
        if (!result) result = cu->stream_synchronize(stream);
    }
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
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
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

qn_status qn__cuda_replay_update(qn__gpu *gpu, qn__replay *replay, size_t index, const qn__command *command,
                                 char *why) {
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    if (!replay->nodes[index]) return QN_ERROR_UNSUPPORTED;
    const bool entered = qn__cuda_enter(gpu);
    pthread_mutex_lock(&replay->lock);
    qn_status status = command->kind == QN__COMMAND_COPY
                           ? qn__cuda_set_copy(gpu, replay->exec, replay->nodes[index], command)
                           : qn__cuda_set_node(gpu, replay->exec, replay->nodes[index], command, why);
    pthread_mutex_unlock(&replay->lock);
    qn__cuda_leave(gpu, entered);
    return status;
}

void qn__cuda_replay_destroy(qn__gpu *gpu, qn__replay *replay) {
    const bool entered = qn__cuda_enter(gpu);
    if (replay->exec) gpu->cu->exec_destroy(replay->exec);
    if (replay->graph) gpu->cu->graph_destroy(replay->graph);
    if (replay->data) qn__cuda_unpin(gpu, replay->data);
    if (replay->copied) gpu->cu->event_destroy(replay->copied);
    for (size_t i = 0; i < replay->num_prints; i++) qn__cuda_print_drop(gpu, replay->prints[i]);
    qn__cuda_leave(gpu, entered);
    pthread_mutex_destroy(&replay->lock);
    qn__release(gpu->services->allocator, replay->prints);
    qn__release(gpu->services->allocator, replay->nodes);
    qn__release(gpu->services->allocator, replay);
}

static void drop_prints(qn__gpu *gpu, qn__prints *prints) {
    for (qn__print *print; (print = qn__prints_take(prints, UINT64_MAX));)
        qn__cuda_print_drop(gpu, (qn__cuda_print *)print);
}

/* What one launch prints, in order; on failure nothing. */
static qn_status take_prints(qn__gpu *gpu, const qn__replay *replay, qn__prints *prints, char *why) {
    for (size_t i = 0; i < replay->num_prints; i++) {
        qn__cuda_print *print;
        qn_status status = qn__cuda_print_new(gpu, replay->prints[i]->print.info, &print, why);
        if (status) {
            drop_prints(gpu, prints);
            return status;
        }
        qn__prints_add(prints, &print->print, 0);
    }
    return QN_OK;
}

static qn__cu_result copy_prints(const qn__cu *cu, const qn__replay *replay, const qn__print *print,
                                 qn__cu_stream stream) {
    qn__cu_result result = QN__CU_SUCCESS;
    for (size_t i = 0; print && !result; print = print->next, i++)
        result = cu->copy_on_device(((const qn__cuda_print *)print)->buffer, replay->prints[i]->buffer,
                                    QN__PRINT_SIZE, stream);
    return result ? result : cu->event_record(replay->copied, stream);
}

static qn__cu_result launch(const qn__queue *queue, const qn__replay *replay, const qn__prints *prints) {
    const qn__cu *cu = queue->gpu->cu;
    qn__cu_result result =
        prints->count ? cu->stream_wait_event(queue->stream, replay->copied, 0) : QN__CU_SUCCESS;
    if (!result) result = cu->exec_launch(replay->exec, queue->stream);
    if (result || !prints->count) return result;
    result = copy_prints(cu, replay, prints->first, queue->stream);
    if (result) cu->stream_synchronize(queue->stream); /* nobody else waits for a launch that failed */
    return result;
}

static qn_status submit(qn__queue *queue, const qn__replay *replay, uint64_t *number, char *why) {
    qn__gpu *gpu = queue->gpu;
    qn__prints prints = {0};
    qn_status status = take_prints(gpu, replay, &prints, why);
    if (status) return status;
    qn__cu_result result = launch(queue, replay, &prints);
    if (result) {
        drop_prints(gpu, &prints);
        return qn__cuda_fail(gpu, result, "launching a graph", why);
    }
    for (qn__print *print; (print = qn__prints_take(&prints, UINT64_MAX));)
        qn__cuda_add_print(queue, (qn__cuda_print *)print);
    qn__cuda_count(queue, replay->name, number);
    return QN_OK;
}

qn_status qn__cuda_replay_submit(qn__queue *queue, qn__replay *replay, uint64_t *number, char *why) {
    qn__gpu *gpu = queue->gpu;
    if (qn__is_lost(&gpu->loss)) return qn__lost(&gpu->loss, why);
    const bool entered = qn__cuda_enter(gpu);
    const bool endless = qn__cuda_launch_begin(queue);
    qn_status status = replay->num_prints ? qn__cuda_print_room(queue, why) : QN_OK;
    if (!status) {
        pthread_mutex_lock(&replay->lock);
        status = submit(queue, replay, number, why);
        pthread_mutex_unlock(&replay->lock);
    }
    qn__cuda_launch_end(gpu, endless);
    qn__cuda_leave(gpu, entered);
    return status;
}
