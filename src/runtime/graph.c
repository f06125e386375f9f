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

static void step_free(const qn__allocator *allocator, qn__graph_step *step) {
    for (uint32_t i = 0; i < step->num_uses; i++) qn__drop(&step->uses[i].buffer->object);
    qn__drop(step->object);
    qn__release(allocator, step->uses);
    qn__release(allocator, step->command);
}

/* False: out of memory, and there is nothing to free. */
static bool step_make(const qn__allocator *allocator, const qn__command *command, const qn__use *uses,
                      size_t num_uses, qn__object *object, qn__graph_step *step) {
    const size_t size = num_uses * sizeof *uses;
    *step = (qn__graph_step){.command = qn__command_copy(allocator, command)};
    step->uses = step->command && size ? qn__allocate(allocator, size) : NULL;
    if (!step->command || (size && !step->uses)) {
        qn__release(allocator, step->command);
        return false;
    }
    if (size) memcpy(step->uses, uses, size);
    step->num_uses = (uint32_t)num_uses;
    step->object = object;
    for (size_t i = 0; i < num_uses; i++) qn__retain(&uses[i].buffer->object);
    if (object) qn__retain(object);
    return true;
}

static bool grow(qn_graph *graph) {
    if (graph->num_steps < graph->cap_steps) return true;
    const size_t cap = graph->cap_steps ? graph->cap_steps * 2 : 16;
    void *grown = qn__reallocate(&graph->object.context->allocator, graph->steps, cap * sizeof *graph->steps);
    if (!grown) return false;
    graph->steps = grown;
    graph->cap_steps = cap;
    return true;
}

qn_status qn__graph_add(qn_graph *graph, const qn__command *command, const qn__use *uses, size_t num_uses,
                        qn__object *object) {
    const qn__allocator *allocator = &graph->object.context->allocator;
    if (!grow(graph) ||
        !step_make(allocator, command, uses, num_uses, object, &graph->steps[graph->num_steps]))
        return qn__fail_memory(graph->object.context, sizeof *command);
    graph->num_steps++;
    return QN_OK;
}

qn_status qn_graph_begin(qn_stream *stream) {
    qn_status status = qn__check_stream(stream, "qn_graph_begin");
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

static void add_use(qn_graph *graph, const qn__use *use) {
    qn_buffer *root = qn__buffer_root(use->buffer);
    size_t at = 0;
    while (at < graph->num_uses && graph->uses[at].buffer != root) at++;
    if (at == graph->num_uses) graph->uses[graph->num_uses++] = (qn__use){root, false};
    graph->uses[at].writes |= use->writes;
}

/* Buffers that a graph writes are newer on the device after each launch; host contents go over before. Each
   buffer is looked at once a launch, however often the graph uses it. */
static qn_status list_uses(qn_graph *graph) {
    qn_context *context = graph->object.context;
    size_t count = 1;
    for (size_t i = 0; i < graph->num_steps; i++) count += graph->steps[i].num_uses;
    graph->uses = qn__allocate(&context->allocator, count * sizeof *graph->uses);
    if (!graph->uses) return qn__fail_memory(context, count * sizeof *graph->uses);
    for (size_t i = 0; i < graph->num_steps; i++)
        for (uint32_t k = 0; k < graph->steps[i].num_uses; k++) add_use(graph, &graph->steps[i].uses[k]);
    return QN_OK;
}

static qn_status make_replay(qn_graph *graph) {
    qn_context *context = graph->object.context;
    qn_status status = list_uses(graph);
    if (status) return status;
    qn__command *list = qn__allocate(&context->allocator, (graph->num_steps + 1) * sizeof *list);
    if (!list) return qn__fail_memory(context, graph->num_steps * sizeof *list);
    for (size_t i = 0; i < graph->num_steps; i++) list[i] = *graph->steps[i].command;
    char why[QN__WHY] = "";
    qn_device *device = graph->device;
    status = device->backend->replay_create(device->gpu, list, graph->num_steps, &graph->replay, why);
    qn__release(&context->allocator, list);
    return status ? qn__fail(context, status, "qn_graph_end: %s", why) : QN_OK;
}

qn_status qn_graph_end(qn_stream *stream, qn_graph **out) {
    if (out) *out = NULL;
    qn_status status = qn__check_stream(stream, "qn_graph_end");
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
    if (!status)
        qn__log(context, QN_LOG_DEBUG, "%s: launch of a graph of %zu commands", graph->device->name,
                graph->num_steps);
    return status;
}

void qn_graph_destroy(qn_graph *graph) {
    qn__handle_destroy(graph, QN__OBJECT_GRAPH, "qn_graph_destroy", "graph");
}

void qn__graph_finalise(qn_graph *graph) {
    const qn__allocator *allocator = &graph->object.context->allocator;
    if (graph->replay) graph->device->backend->replay_destroy(graph->device->gpu, graph->replay);
    for (size_t i = 0; i < graph->num_steps; i++) step_free(allocator, &graph->steps[i]);
    qn__release(allocator, graph->steps);
    qn__release(allocator, graph->uses);
}
