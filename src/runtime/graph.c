/* Graphs: the commands recorded on a stream, handed to the backend once as a whole. */
#include <string.h>

#include "runtime/runtime.h"

/* The copy has its argument block behind it, then its bindings, then its data. */
qn__command *qn__command_copy(const qn__allocator *allocator, const qn__command *command) {
    uint64_t data = command->kind == QN__COMMAND_WRITE && !command->host_stays ? command->size : 0;
    size_t args = ((size_t)command->args_size + 7) & ~(size_t)7;
    size_t bindings = command->num_bindings * sizeof *command->bindings;
    if (data > SIZE_MAX / 2) return NULL;
    qn__command *copy = qn__allocate(allocator, sizeof *copy + args + bindings + (size_t)data);
    if (!copy) return NULL;
    *copy = *command;
    unsigned char *behind = (unsigned char *)(copy + 1);
    if (args) copy->args = memcpy(behind, command->args, command->args_size);
    if (bindings) copy->bindings = memcpy(behind + args, command->bindings, bindings);
    if (data) copy->host = memcpy(behind + args + bindings, command->host, (size_t)data);
    return copy;
}

static bool grow(const qn__allocator *allocator, void **items, size_t *cap, size_t wanted) {
    if (wanted <= *cap) return true;
    size_t new_cap = *cap ? *cap * 2 : 16;
    while (new_cap < wanted) new_cap *= 2;
    void *grown = qn__reallocate(allocator, *items, new_cap * sizeof(void *));
    if (!grown) return false;
    *items = grown;
    *cap = new_cap;
    return true;
}

qn_status qn__graph_add(qn_graph *graph, const qn__command *command, qn__object *const *used,
                        size_t num_used) {
    const qn__allocator *allocator = &graph->object.context->allocator;
    void *commands = graph->commands, *objects = graph->used;
    bool fits = grow(allocator, &commands, &graph->cap_commands, graph->num_commands + 1);
    graph->commands = commands;
    fits = fits && grow(allocator, &objects, &graph->cap_used, graph->num_used + num_used);
    graph->used = objects;
    qn__command *copy = fits ? qn__command_copy(allocator, command) : NULL;
    if (!copy) return qn__fail_memory(graph->object.context, sizeof *command);
    graph->commands[graph->num_commands++] = copy;
    for (size_t i = 0; i < num_used; i++) {
        qn__retain(used[i]);
        graph->used[graph->num_used++] = used[i];
    }
    return QN_OK;
}

qn_status qn_graph_begin(qn_stream *stream) {
    qn_status status = qn__check(stream, QN__OBJECT_STREAM, "qn_graph_begin", "stream");
    if (status) return status;
    qn_context *context = stream->object.context;
    if (stream->recording)
        return qn__fail(context, QN_ERROR_STATE, "qn_graph_begin: the stream already records");
    qn_graph *graph = qn__object_new(context, QN__OBJECT_GRAPH);
    if (!graph) return QN_ERROR_OUT_OF_MEMORY;
    graph->device = stream->device;
    stream->recording = graph;
    return QN_OK;
}

/* Buffers that a graph writes are newer on the device after each launch; host contents go over before. Each
   buffer is looked at once a launch, however often the graph uses it. */
static qn_status list_uses(qn_graph *graph) {
    qn_context *context = graph->object.context;
    size_t size = (graph->num_used + 1) * sizeof *graph->uses;
    graph->uses = qn__allocate(&context->allocator, size);
    if (!graph->uses) return qn__fail_memory(context, size);
    for (size_t i = 0; i < graph->num_used; i++) {
        if (graph->used[i]->magic != QN__MAGIC + QN__OBJECT_BUFFER) continue;
        qn_buffer *root = qn__buffer_root((qn_buffer *)graph->used[i]);
        size_t at = 0;
        while (at < graph->num_uses && graph->uses[at].buffer != root) at++;
        if (at == graph->num_uses) graph->uses[graph->num_uses++] = (qn__use){root, true};
    }
    return QN_OK;
}

static qn_status make_replay(qn_graph *graph) {
    qn_context *context = graph->object.context;
    qn_status status = list_uses(graph);
    if (status) return status;
    qn__command *list = qn__allocate(&context->allocator, (graph->num_commands + 1) * sizeof *list);
    if (!list) return qn__fail_memory(context, graph->num_commands * sizeof *list);
    for (size_t i = 0; i < graph->num_commands; i++) list[i] = *graph->commands[i];
    char why[QN__WHY] = "";
    qn_device *device = graph->device;
    status = device->backend->replay_create(device->gpu, list, graph->num_commands, &graph->replay, why);
    qn__release(&context->allocator, list);
    return status ? qn__fail(context, status, "qn_graph_end: %s", why) : QN_OK;
}

qn_status qn_graph_end(qn_stream *stream, qn_graph **out) {
    if (out) *out = NULL;
    qn_status status = qn__check(stream, QN__OBJECT_STREAM, "qn_graph_end", "stream");
    if (status) return status;
    qn_context *context = stream->object.context;
    if (!out) return qn__fail_null(context, "qn_graph_end", "graph");
    qn_graph *graph = stream->recording;
    if (!graph) return qn__fail(context, QN_ERROR_STATE, "qn_graph_end: the stream does not record");
    stream->recording = NULL;
    status = make_replay(graph);
    if (status)
        qn_graph_destroy(graph);
    else
        *out = graph;
    return status;
}

qn_status qn_graph_launch(qn_stream *stream, qn_graph *graph) {
    qn_status status = qn__check_beside(stream, graph, QN__OBJECT_GRAPH, "qn_graph_launch", "graph");
    if (status) return status;
    stream = qn__stream_of(stream, graph->device);
    status = qn__check_beside(graph, stream, QN__OBJECT_STREAM, "qn_graph_launch", "stream");
    if (status) return status;
    qn_context *context = stream->object.context;
    if (stream->device != graph->device)
        return qn__fail(context, QN_ERROR_WRONG_CONTEXT, "qn_graph_launch: the graph is of another device");
    if (stream->recording)
        return qn__fail(context, QN_ERROR_STATE, "qn_graph_launch: the stream records a graph");
    uint64_t number = 0;
    status = qn__buffers_use(graph->uses, graph->num_uses, stream, "qn_graph_launch");
    if (!status) status = qn__stream_submit_replay(stream, graph, &number);
    if (number) qn__buffers_used(graph->uses, graph->num_uses, stream, number);
    return status;
}

void qn_graph_destroy(qn_graph *graph) {
    qn__handle_destroy(graph, QN__OBJECT_GRAPH, "qn_graph_destroy", "graph");
}

void qn__graph_finalise(qn_graph *graph) {
    const qn__allocator *allocator = &graph->object.context->allocator;
    if (graph->replay) graph->device->backend->replay_destroy(graph->device->gpu, graph->replay);
    for (size_t i = 0; i < graph->num_commands; i++) qn__release(allocator, graph->commands[i]);
    for (size_t i = 0; i < graph->num_used; i++) qn__drop(graph->used[i]);
    qn__release(allocator, graph->commands);
    qn__release(allocator, graph->used);
    qn__release(allocator, graph->uses);
}
