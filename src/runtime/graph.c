/* Graphs: the commands recorded on a stream, handed to the backend as a whole, or in parts where events stand between
   them: a backend's replay holds none. A launch that is set anew has the backend make its part again, when the graph is
   next launched. */
#include <string.h>

#include "runtime/runtime.h"

/* The copy has its argument block behind it, then its bindings and extents, then its data. */
qn__command *qn__command_copy(const qn__allocator *allocator, const qn__command *command) {
    uint64_t data = command->kind == QN__COMMAND_WRITE && !command->host_stays ? command->size : 0;
    size_t args = ((size_t)command->args_size + 7) & ~(size_t)7;
    size_t bindings = command->num_bindings * sizeof *command->bindings;
    size_t extents = command->num_extents * sizeof *command->extents;
    if (data > SIZE_MAX / 2) return NULL;
    qn__command *copy = qn__allocate(allocator, sizeof *copy + args + bindings + extents + (size_t)data);
    if (!copy) return NULL;
    *copy = *command;
    unsigned char *behind = (unsigned char *)(copy + 1);
    if (args) copy->args = memcpy(behind, command->args, command->args_size);
    if (bindings) copy->bindings = memcpy(behind + args, command->bindings, bindings);
    if (extents) copy->extents = memcpy(behind + args + bindings, command->extents, extents);
    if (data) copy->host = memcpy(behind + args + bindings + extents, command->host, (size_t)data);
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
    graph->num_launches += command->kind == QN__COMMAND_LAUNCH;
    return QN_OK;
}

qn_status qn_graph_begin(qn_stream *stream) {
    qn_status status = qn__check_stream(stream, "qn_graph_begin");
    if (status) return status;
    qn_context *context = stream->object.context;
    if (stream->recording)
        return qn__fail(context, QN_ERROR_STATE, "qn_graph_begin: the stream already records");
    if (stream->lent)
        return qn__fail(context, QN_ERROR_STATE,
                        "qn_graph_begin: the stream is its native queue's until qn_stream_native_end");
    qn_graph *graph = qn__object_new(context, QN__OBJECT_GRAPH);
    if (!graph) return QN_ERROR_OUT_OF_MEMORY;
    graph->device = stream->device;
    pthread_mutex_init(&graph->lock, NULL);
    stream->recording = graph;
    return QN_OK;
}

/* ---- parts ---- */

static bool is_event(const qn__graph_step *step) { return step->command->kind == QN__COMMAND_RECORD; }

/* An empty launch is there only to be set anew. */
static bool is_empty(const qn__graph_step *step) {
    return step->command->kind == QN__COMMAND_LAUNCH && step->command->global[0] == 0;
}

static qn_status make_parts(qn_graph *graph) {
    qn_context *context = graph->object.context;
    const size_t size = (graph->num_steps + 1) * sizeof *graph->parts;
    graph->parts = qn__allocate_zeroed(&context->allocator, size);
    if (!graph->parts) return qn__fail_memory(context, size);
    for (size_t i = 0; i < graph->num_steps; i++) {
        qn__graph_step *step = &graph->steps[i];
        qn__graph_part *last = graph->num_parts ? &graph->parts[graph->num_parts - 1] : NULL;
        if (last && !last->event && !is_event(step))
            last->count++;
        else
            graph->parts[graph->num_parts++] = (qn__graph_part){
                .first = i, .count = 1, .event = is_event(step) ? (qn_event *)step->object : NULL};
    }
    return QN_OK;
}

void qn__graph_replay_finalise(qn__graph_replay *replay) {
    if (replay->replay) replay->device->backend->replay_destroy(replay->device->gpu, replay->replay);
}

/* The library's own objects have no handle to destroy. */
static void *new_object(qn_context *context, qn__object_kind kind) {
    qn__object *object = qn__object_new(context, kind);
    if (object) atomic_store(&object->destroyed, true);
    return object;
}

static qn_status make_replay(const qn_graph *graph, qn__graph_part *part, const char *function) {
    qn_context *context = graph->object.context;
    qn_device *device = graph->device;
    char why[QN__WHY] = "";
    qn__command *list = qn__allocate(&context->allocator, part->count * sizeof *list);
    if (!list) return qn__fail_memory(context, part->count * sizeof *list);
    size_t count = 0;
    for (size_t i = part->first; i < part->first + part->count; i++)
        if (!is_empty(&graph->steps[i])) list[count++] = *graph->steps[i].command;
    qn__graph_replay *made = count ? new_object(context, QN__OBJECT_REPLAY) : NULL;
    qn_status status = count && !made ? QN_ERROR_OUT_OF_MEMORY : QN_OK;
    if (made) {
        made->device = device;
        made->count = count;
        status = device->backend->replay_create(device->gpu, list, count, &made->replay, why);
        if (status) {
            made->replay = NULL;
            qn__drop(&made->object);
            qn__fail(context, status, "%s: %s", function, qn__reason(why, status));
        }
    }
    qn__release(&context->allocator, list);
    if (!status) part->replay = made;
    return status;
}

/* ---- editions ---- */

static void add_use(qn__graph_edition *edition, const qn__use *use) {
    size_t at = 0;
    while (at < edition->num_uses && edition->uses[at].root != use->root) at++;
    if (at == edition->num_uses) edition->uses[edition->num_uses++] = qn__use_of(use->root, false);
    edition->uses[at].writes |= use->writes;
}

static void add_used(qn__graph_edition *edition, qn__object *object) {
    if (!object) return;
    qn__retain(object);
    edition->used[edition->num_used++] = object;
}

/* Of a copy what it reads; NULL: the step is none. */
static qn__use *source_of(const qn__graph_step *step) {
    const bool is_copy = step->command->kind == QN__COMMAND_COPY && !step->command->from_gpu;
    for (uint32_t k = 0; is_copy && k < step->num_uses; k++)
        if (!step->uses[k].writes) return &step->uses[k];
    return NULL;
}

static qn_status list_sources(qn_graph *graph) {
    const size_t size = (graph->num_steps + 1) * sizeof *graph->sources;
    graph->sources = qn__allocate(&graph->object.context->allocator, size);
    if (!graph->sources) return qn__fail_memory(graph->object.context, size);
    for (size_t i = 0; i < graph->num_steps; i++) {
        const qn__use *source = source_of(&graph->steps[i]);
        if (source) graph->sources[graph->num_sources++] = *source;
    }
    return QN_OK;
}

/* Buffers that a graph writes are newer on the device after each launch; host contents go over before. Each
   buffer is looked at once a launch, however often the graph uses it. */
static qn_status list_uses(const qn_graph *graph, qn__graph_edition *edition) {
    const qn__allocator *allocator = &graph->object.context->allocator;
    size_t uses = 1, used = 1;
    for (size_t i = 0; i < graph->num_steps; i++) {
        uses += graph->steps[i].num_uses;
        used += graph->steps[i].num_uses + 1;
    }
    edition->uses = qn__allocate(allocator, uses * sizeof *edition->uses);
    edition->used = qn__allocate(allocator, used * sizeof *edition->used);
    if (!edition->uses || !edition->used)
        return qn__fail_memory(graph->object.context, used * sizeof *edition->used);
    for (size_t i = 0; i < graph->num_steps; i++) {
        const qn__graph_step *step = &graph->steps[i];
        if (is_empty(step)) continue;
        add_used(edition, step->object);
        for (uint32_t k = 0; k < step->num_uses; k++) {
            if (&step->uses[k] == source_of(step)) continue;
            add_used(edition, &step->uses[k].buffer->object);
            add_use(edition, &step->uses[k]);
        }
    }
    return QN_OK;
}

static qn_status copy_parts(const qn_graph *graph, qn__graph_edition *edition) {
    const size_t size = (graph->num_parts + 1) * sizeof *edition->parts;
    edition->parts = qn__allocate(&graph->object.context->allocator, size);
    if (!edition->parts) return qn__fail_memory(graph->object.context, size);
    for (size_t i = 0; i < graph->num_parts; i++) {
        edition->parts[edition->num_parts++] = graph->parts[i];
        if (graph->parts[i].replay) qn__retain(&graph->parts[i].replay->object);
    }
    return QN_OK;
}

void qn__graph_edition_finalise(qn__graph_edition *edition) {
    const qn__allocator *allocator = &edition->object.context->allocator;
    for (size_t i = 0; i < edition->num_parts; i++)
        if (edition->parts[i].replay) qn__drop(&edition->parts[i].replay->object);
    for (size_t i = 0; i < edition->num_used; i++) qn__drop(edition->used[i]);
    qn__release(allocator, edition->parts);
    qn__release(allocator, edition->used);
    qn__release(allocator, edition->uses);
}

/* What is new since the last launch is made now. */
static qn_status make_edition(qn_graph *graph, const char *function) {
    if (graph->edition) return QN_OK;
    qn_status status = QN_OK;
    for (size_t i = 0; i < graph->num_parts && !status; i++)
        if (!graph->parts[i].event && !graph->parts[i].replay)
            status = make_replay(graph, &graph->parts[i], function);
    if (status) return status;
    qn__graph_edition *edition = new_object(graph->object.context, QN__OBJECT_EDITION);
    if (!edition) return QN_ERROR_OUT_OF_MEMORY;
    status = list_uses(graph, edition);
    if (!status) status = copy_parts(graph, edition);
    if (status)
        qn__drop(&edition->object);
    else
        graph->edition = edition;
    return status;
}

static void forget_edition(qn_graph *graph) {
    if (graph->edition) qn__drop(&graph->edition->object);
    graph->edition = NULL;
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
    status = make_parts(graph);
    if (!status) status = list_sources(graph);
    if (!status) status = make_edition(graph, "qn_graph_end");
    if (status)
        qn_graph_destroy(graph);
    else
        *out = graph;
    return status;
}

/* Its safe kernels may note accesses outside again. */
static void expect_faults(const qn_graph *graph) {
    for (size_t i = 0; i < graph->num_steps && atomic_load(&graph->device->safe_programs); i++) {
        const qn__graph_step *step = &graph->steps[i];
        if (step->command->kind != QN__COMMAND_LAUNCH) continue;
        qn_program *program = ((const qn_kernel *)step->object)->program;
        if (program->faults) atomic_store(&program->may_have_faults, true);
    }
}

static qn_status launch(const qn_graph *graph, qn_stream *stream) {
    qn__graph_edition *edition = graph->edition;
    uint64_t number = 0;
    qn_status status =
        qn__buffers_use(edition->uses, edition->num_uses, stream, QN_MOVE_LAUNCH, "qn_graph_launch");
    if (!status)
        status =
            qn__buffers_use(graph->sources, graph->num_sources, stream, QN_MOVE_LAUNCH, "qn_graph_launch");
    if (!status)
        status = qn__stream_submit_edition(stream, edition, graph->sources, graph->num_sources, &number);
    if (number) qn__buffers_used(edition->uses, edition->num_uses, stream, number);
    if (number) qn__buffers_used(graph->sources, graph->num_sources, stream, number);
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
        return qn__other_device(stream->device, graph->device, "%s: the graph is of another device",
                                "qn_graph_launch");
    if (stream->recording)
        return qn__fail(context, QN_ERROR_STATE, "qn_graph_launch: the stream records a graph");
    pthread_mutex_lock(&graph->lock);
    status = make_edition(graph, "qn_graph_launch");
    if (!status) expect_faults(graph);
    if (!status) status = launch(graph, stream);
    pthread_mutex_unlock(&graph->lock);
    if (!status)
        qn__log(context, QN_LOG_DEBUG, "%s: launch of a graph of %zu commands", graph->device->name,
                graph->num_steps);
    return status;
}

/* ---- updates ---- */

uint32_t qn_graph_launch_count(const qn_graph *graph) {
    return qn__check(graph, QN__OBJECT_GRAPH, "qn_graph_launch_count", "graph") ? 0 : graph->num_launches;
}

static qn__graph_step *find_launch(const qn_graph *graph, uint32_t index) {
    for (size_t i = 0; i < graph->num_steps; i++) {
        qn__graph_step *step = &graph->steps[i];
        if (step->command->kind == QN__COMMAND_LAUNCH && index-- == 0) return step;
    }
    return NULL;
}

static qn__graph_part *part_of(const qn_graph *graph, const qn__graph_step *step) {
    size_t i = 0;
    while (graph->parts[i].first + graph->parts[i].count <= (size_t)(step - graph->steps)) i++;
    return &graph->parts[i];
}

/* The backend sets the launch in what it has made; QN_ERROR_UNSUPPORTED: that is to be made again. */
static qn_status update_replay(const qn_graph *graph, const qn__graph_part *part, const qn__graph_step *step,
                               const qn__command *command) {
    const qn_backend *backend = graph->device->backend;
    char why[QN__WHY] = "";
    size_t index = 0;
    if (!part->replay || !backend->replay_update || atomic_load(&part->replay->held) || is_empty(step) ||
        (command->kind == QN__COMMAND_LAUNCH && command->global[0] == 0))
        return QN_ERROR_UNSUPPORTED;
    for (const qn__graph_step *s = &graph->steps[part->first]; s < step; s++) index += !is_empty(s);
    qn_status status = backend->replay_update(graph->device->gpu, part->replay->replay, index, command, why);
    if (!status || status == QN_ERROR_UNSUPPORTED) return status;
    return qn__fail(graph->object.context, status, "%s", qn__reason(why, status));
}

qn_status qn__graph_replace(qn_graph *graph, qn__graph_step *step, const qn__command *command,
                            const qn__use *uses, size_t num_uses) {
    const qn__allocator *allocator = &graph->object.context->allocator;
    qn__graph_step made;
    if (!step_make(allocator, command, uses, num_uses, step->object, &made))
        return qn__fail_memory(graph->object.context, sizeof *command);
    qn__graph_part *part = part_of(graph, step);
    const qn_status status = update_replay(graph, part, step, made.command);
    if (status && status != QN_ERROR_UNSUPPORTED) {
        step_free(allocator, &made);
        return status;
    }
    if (status && part->replay) {
        qn__drop(&part->replay->object);
        part->replay = NULL;
    }
    forget_edition(graph);
    step_free(allocator, step);
    *step = made;
    return QN_OK;
}

qn_status qn_graph_set_launch(qn_graph *graph, uint32_t index, const qn_range *range, const qn_arg *args,
                              size_t num_args) {
    static const char function[] = "qn_graph_set_launch";
    qn_status status = qn__check(graph, QN__OBJECT_GRAPH, function, "graph");
    if (status) return status;
    pthread_mutex_lock(&graph->lock);
    qn__graph_step *step = find_launch(graph, index);
    if (step) status = qn__graph_set(graph, step, function, range, args, num_args);
    pthread_mutex_unlock(&graph->lock);
    if (step) return status;
    return qn__fail(graph->object.context, QN_ERROR_RANGE, "%s: launch %u of a graph that has %u", function,
                    (unsigned)index, (unsigned)graph->num_launches);
}

/* Copy `index`, whose source has that place in graph->sources. */
static qn__graph_step *find_copy(const qn_graph *graph, uint32_t index) {
    for (size_t i = 0; i < graph->num_steps; i++)
        if (source_of(&graph->steps[i]) && index-- == 0) return &graph->steps[i];
    return NULL;
}

static qn_status set_copy(qn_graph *graph, uint32_t index, qn_buffer *from, uint64_t offset) {
    static const char function[] = "qn_graph_set_copy";
    qn_context *context = graph->object.context;
    qn__graph_step *step = find_copy(graph, index);
    if (!step)
        return qn__fail(context, QN_ERROR_RANGE, "%s: copy %u of a graph that has %zu", function,
                        (unsigned)index, graph->num_sources);
    qn__command *command = step->command;
    if (offset > from->size || command->size > from->size - offset)
        return qn__fail(context, QN_ERROR_RANGE, "%s: %llu bytes from %llu of a buffer of %llu", function,
                        (unsigned long long)command->size, (unsigned long long)offset,
                        (unsigned long long)from->size);
    qn__use *source = source_of(step), made = qn__use_of(from, false);
    qn__graph_part *part = part_of(graph, step);
    qn__command changed = *command;
    changed.from = made.root->memory;
    changed.from_offset = from->offset + offset;
    const qn_status status = update_replay(graph, part, step, &changed);
    if (status && status != QN_ERROR_UNSUPPORTED) return status;
    if (status) {
        if (part->replay) qn__drop(&part->replay->object);
        part->replay = NULL;
        forget_edition(graph);
    }
    command->from = changed.from;
    command->from_offset = changed.from_offset;
    qn__retain(&from->object);
    qn__drop(&source->buffer->object);
    graph->sources[index] = *source = made;
    return QN_OK;
}

qn_status qn_graph_set_copy(qn_graph *graph, uint32_t index, qn_buffer *from, uint64_t from_offset) {
    static const char function[] = "qn_graph_set_copy";
    qn_status status = qn__check_beside(graph, graph, QN__OBJECT_GRAPH, function, "graph");
    if (!status) status = qn__check_beside(graph, from, QN__OBJECT_BUFFER, function, "buffer");
    if (status) return status;
    if (from->device != graph->device)
        return qn__other_device(from->device, graph->device, "%s: the buffer is of another device", function);
    if (qn__buffer_root(from)->unified)
        return qn__fail(graph->object.context, QN_ERROR_ARGUMENT, "%s: the buffer is a unified one",
                        function);
    if (!graph->device->backend->replay_update)
        return qn__fail(graph->object.context, QN_ERROR_UNSUPPORTED,
                        "%s: %s would record the graph again; copy before it is launched", function,
                        graph->device->name);
    pthread_mutex_lock(&graph->lock);
    status = set_copy(graph, index, from, from_offset);
    pthread_mutex_unlock(&graph->lock);
    return status;
}

void qn_graph_destroy(qn_graph *graph) {
    qn__handle_destroy(graph, QN__OBJECT_GRAPH, "qn_graph_destroy", "graph");
}

void qn__graph_finalise(qn_graph *graph) {
    const qn__allocator *allocator = &graph->object.context->allocator;
    forget_edition(graph);
    for (size_t i = 0; i < graph->num_parts; i++)
        if (graph->parts[i].replay) qn__drop(&graph->parts[i].replay->object);
    for (size_t i = 0; i < graph->num_steps; i++) step_free(allocator, &graph->steps[i]);
    qn__release(allocator, graph->steps);
    qn__release(allocator, graph->parts);
    qn__release(allocator, graph->sources);
    pthread_mutex_destroy(&graph->lock);
}
