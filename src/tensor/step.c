/* Steps: a function of tensors recorded once as a graph of launches, which is replayed with new inputs. Everything that the launches
   use lies still: inputs are copied into memory of the step, what lies between has its places in one memory of the step's, and a tensor that
   the function assigns has its old value's memory, where the kernel of the new value writes it if it can, and the last launches
   copy it otherwise. */
#include <string.h>

#include "tensor/plan.h"

enum { MAGIC = 0x73746570, MOST = 64 };

/* A tensor whose value the launches read or change, beside the inputs. */
typedef struct binding {
    qn_tensor *tensor;   /* retained */
    qn__storage *memory; /* where the launches have its value */
    qn__node *node;      /* that the tensor named last, counted: another one now is another value */
    bool assigned;
} binding;

typedef struct qn__recording {
    struct qn__recording *next;
    qn_element types[MOST];
    qn_shape shapes[MOST];
    size_t num_inputs, num_outputs;
    qn__node *inputs[MOST], *outputs[MOST]; /* counted */
    bool copies_inputs;                     /* the graph begins with copies of them */
    qn__storage *ordered[MOST];             /* of inputs that did not lie in order, until it is launched */
    /* What the launches compute: the outputs, then new values of assigned tensors, counted here, as others may know them, but their memory
       is the launches'. */
    qn__node **asked;
    size_t num_asked;
    binding *bindings;
    size_t num_bindings, binding_room;
    qn__storage *pool[QN__POOL_LISTS];
    uint64_t pooled;     /* bytes in it */
    qn__storage *memory; /* of what lies between the launches */
    qn__storage **held;  /* of the other values that the launches read, counted */
    size_t num_held, held_room;
    qn_graph *graph;
    qn_step *step;
    uint64_t random_words; /* that each run takes */
} recording;

struct qn_step {
    uint32_t magic;
    qn_tensors *tensors;
    qn_step_function *function;
    void *user;
    recording *recordings;
    qn_tensor *
        first_word; /* where the random numbers of the next run begin, retained; NULL: no recording takes any */
    uint64_t first_word_is; /* its value */
};

static qn_status check_step(const qn_step *step, const char *function) {
    if (step && step->magic == MAGIC) return QN_OK;
    return qn__tensors_fail(NULL, step ? QN_ERROR_ARGUMENT : QN_ERROR_NULL, "%s: step is %s", function,
                            step ? "no object of qn_step_create" : "NULL");
}

qn_status qn_step_create(qn_tensors *tensors, qn_step_function *function, void *user, qn_step **out) {
    const qn_status status = qn__tensors_check(tensors, "qn_step_create");
    if (status) return status;
    if (!function || !out)
        return qn__tensors_fail(tensors, QN_ERROR_NULL, "qn_step_create: %s is NULL",
                                function ? "step" : "function");
    qn_step *step = qn__tensors_allocate(tensors, sizeof *step);
    if (!step) return QN_ERROR_OUT_OF_MEMORY;
    *step = (qn_step){.magic = MAGIC, .tensors = tensors, .function = function, .user = user};
    *out = step;
    return QN_OK;
}

/* ---- ending ---- */

static void swap_pools(qn_tensors *tensors, recording *r) {
    qn__storage *pool[QN__POOL_LISTS];
    memcpy(pool, tensors->pool, sizeof pool);
    memcpy(tensors->pool, r->pool, sizeof pool);
    memcpy(r->pool, pool, sizeof pool);
    const uint64_t pooled = tensors->stats.pooled;
    tensors->stats.pooled = r->pooled;
    r->pooled = pooled;
}

static void free_recording(qn_tensors *tensors, recording *r) {
    qn_graph_destroy(r->graph);
    for (size_t i = 0; i < r->num_inputs; i++) qn__node_release(r->inputs[i]);
    for (size_t i = 0; i < r->num_outputs; i++) qn__node_release(r->outputs[i]);
    for (size_t i = r->num_outputs; i < r->num_asked; i++) qn__node_release(r->asked[i]);
    qn__tensors_release(tensors, r->asked);
    for (size_t i = 0; i < r->num_held; i++) qn__storage_release(tensors, r->held[i]);
    qn__tensors_release(tensors, r->held);
    for (size_t i = 0; i < r->num_bindings; i++) {
        if (r->bindings[i].assigned) r->bindings[i].memory->assigned = false;
        qn__storage_release(tensors, r->bindings[i].memory);
        qn__node_release(r->bindings[i].node);
        qn_tensor_release(r->bindings[i].tensor);
    }
    /* What only the launches used can be anyone's now: it is behind them on the stream. */
    qn__storage_release(tensors, r->memory);
    for (int i = 0; i < QN__POOL_LISTS; i++)
        while (r->pool[i]) {
            qn__storage *s = r->pool[i];
            r->pool[i] = s->next;
            s->next = tensors->pool[i];
            tensors->pool[i] = s;
        }
    tensors->stats.pooled += r->pooled;
    qn__tensors_release(tensors, r->bindings);
    qn__tensors_release(tensors, r);
}

void qn_step_destroy(qn_step *step) {
    if (!step || check_step(step, "qn_step_destroy")) return;
    qn_tensors *tensors = step->tensors;
    while (step->recordings) {
        recording *r = step->recordings;
        step->recordings = r->next;
        free_recording(tensors, r);
    }
    qn_tensor_release(step->first_word);
    step->magic = 0;
    qn__tensors_release(tensors, step);
}

/* ---- values that move ---- */

static qn_array array_of(const qn__node *node, const qn__storage *memory, bool own) {
    qn_array a = {.buffer = memory ? memory->buffer : NULL,
                  .offset = own ? node->offset : 0,
                  .type = (qn_element)node->type,
                  .rank = node->rank};
    memcpy(a.sizes, node->sizes, sizeof a.sizes);
    if (own) memcpy(a.strides, node->strides, sizeof a.strides);
    return a;
}

/* Whether a copy of bytes takes its value. */
static bool can_be_source(const qn__node *node) {
    return node->storage && qn__node_count(node) && qn__is_contiguous(node);
}

/* The value of a node into contiguous memory. What lies so already needs nothing of kernels.h, whose checks would be a part of what a replay
   takes. */
static qn_status copy_value(qn_tensors *tensors, const qn__node *node, const qn__storage *to) {
    if (!node->storage || node->storage == to) return QN_OK;
    const uint64_t size = qn_element_size((qn_element)node->type);
    if (can_be_source(node))
        return qn_stream_copy(tensors->stream, node->storage->buffer, node->offset * size, to->buffer, 0,
                              qn__node_count(node) * size);
    return qn_kernels_copy(
        tensors->kernels, tensors->stream,
        &(qn_copy_desc){.to = array_of(node, to, false), .from = array_of(node, node->storage, true)});
}

static uint64_t bytes_of(const qn__node *node) {
    const uint64_t bytes = qn__node_count(node) * qn_element_size((qn_element)node->type);
    return bytes ? bytes : 1;
}

/* A node with memory of its own for a value like that one. */
static qn_status make_like(qn_tensors *tensors, const qn__node *like, qn__node **out) {
    qn__storage *storage;
    qn__node *node = qn__node_make(tensors, QN__OP_VALUE, (qn_element)like->type, like->rank, like->sizes);
    if (!node) return QN_ERROR_OUT_OF_MEMORY;
    const qn_status status = qn__storage_create(tensors, bytes_of(node), &storage);
    if (status) {
        qn__node_release(node);
        return status;
    }
    qn__node_set_value(node, storage, 0, NULL);
    *out = node;
    return QN_OK;
}

/* ---- random numbers ---- */

/* A run takes the next words of the owner's sequence, as its ops would outside of a step. Where they begin is a tensor that the launches
   advance; it is written from here where others took words since the last run. */

static qn_tensor *make_first_word(qn_tensors *tensors) {
    qn__storage *storage;
    const qn_status status = qn__storage_create(tensors, sizeof(uint64_t), &storage);
    if (status)
        return qn__failed(tensors, "random numbers", status, "no memory for where a step's numbers begin");
    return qn__stored_tensor(tensors, QN_U64, &QN_SCALAR, storage, 0, NULL);
}

uint64_t *qn__step_position(qn_tensors *tensors) {
    return tensors->recording ? &tensors->recording->random_words : &tensors->random_words;
}

qn_tensor *qn__step_words(qn_tensors *tensors, uint64_t count) {
    recording *r = tensors->recording;
    if (!r) return NULL;
    qn_step *step = r->step;
    if (!step->first_word) {
        qn_tensor *made = make_first_word(tensors);
        if (qn_tensor_status(made)) return made;
        step->first_word = qn_tensor_retain(made);
        step->first_word_is = UINT64_MAX;
    }
    qn_tensor *first = qn_add(step->first_word, r->random_words);
    r->random_words += count;
    return first;
}

/* The launches end with the next run's first word. */
static qn_status advance_words(recording *r) {
    if (!r->random_words) return QN_OK;
    qn_tensor *first = r->step->first_word;
    return qn_assign(first, qn_add(first, r->random_words));
}

static qn_status bring_words(qn_tensors *tensors, const recording *r) {
    qn_step *step = r->step;
    if (!r->random_words || step->first_word_is == tensors->random_words) return QN_OK;
    qn_status status = qn_scope_begin(tensors);
    if (status) return status;
    status = qn_assign(step->first_word, qn_full(tensors, QN_U64, QN_SCALAR, tensors->random_words));
    step->first_word_is = tensors->random_words;
    const qn_status ended = qn_scope_end(tensors);
    return status ? status : ended;
}

static void count_words(qn_tensors *tensors, const recording *r) {
    if (!r->random_words) return;
    tensors->random_words += r->random_words;
    r->step->first_word_is = tensors->random_words;
}

/* ---- recording ---- */

bool qn_tensors_is_recording(const qn_tensors *tensors) {
    return !qn__tensors_check(tensors, "qn_tensors_is_recording") && tensors->recording;
}

static bool is_bound(const recording *r, const qn_tensor *x) {
    for (size_t i = 0; i < r->num_bindings; i++)
        if (r->bindings[i].tensor == x) return true;
    return false;
}

/* The launches use the memory of the tensor's value. */
static qn_status bind(qn_tensors *tensors, recording *r, qn_tensor *x, qn__node *node, bool assigned) {
    if (!qn__reserve(tensors, &r->bindings, &r->binding_room, r->num_bindings, sizeof *r->bindings))
        return QN_ERROR_OUT_OF_MEMORY;
    if (!node->storage)
        return qn__tensors_fail(tensors, QN_ERROR_ARGUMENT,
                                "qn_assign: a step assigns a tensor without elements");
    qn__storage_retain(node->storage);
    qn__node_retain(node);
    r->bindings[r->num_bindings++] = (binding){qn_tensor_retain(x), node->storage, node, assigned};
    return QN_OK;
}

/* The value of a binding gets memory that is nobody else's, in order, and stays alone there where it is assigned. */
static qn_status settle(qn_tensors *tensors, binding *b) {
    qn__node *node = b->node;
    qn_status status = QN_OK;
    const bool in_order = qn__is_contiguous(node);
    if (b->memory->refs != 2 || b->memory->borrowed || node->offset || !in_order) {
        qn__storage *own;
        status = qn__storage_create(tensors, bytes_of(node), &own);
        if (status) return status;
        status = copy_value(tensors, node, own);
        qn__storage_release(tensors, node->storage);
        qn__storage_release(tensors, b->memory);
        node->storage = b->memory = own;
        qn__storage_retain(own);
        node->offset = 0;
        qn__contiguous_strides(node->rank, node->sizes, node->strides);
    }
    b->memory->assigned = b->assigned;
    return status;
}

qn_status qn__step_watch(qn_tensors *tensors, qn_tensor *x) {
    recording *r = tensors->recording;
    if (!r || is_bound(r, x)) return QN_OK;
    if (!x->node->realised)
        return qn__tensors_fail(
            tensors, QN_ERROR_STATE,
            "qn_assign: %s was not computed before the step; realise what a step assigns (qn_realize) first",
            qn__describe(x->node).text);
    return bind(tensors, r, x, x->node, true);
}

/* The launches read it whatever its tensor is given. */
static qn_status hold(qn_tensors *tensors, recording *r, qn__storage *storage) {
    if (!qn__reserve(tensors, &r->held, &r->held_room, r->num_held, sizeof *r->held))
        return QN_ERROR_OUT_OF_MEMORY;
    qn__storage_retain(storage);
    r->held[r->num_held++] = storage;
    return QN_OK;
}

/* A tensor of before the step that requires gradients and has no value yet, but one to be computed. */
static bool waits(const recording *r, const qn__node *node) {
    return !node->realised && node->leaf_of && node->leaf_of->made_for != r;
}

/* Such tensors get their values, and memory that is nobody else's: the launches would compute what they were when it was recorded,
   whatever they are assigned later. */
static qn_status bind_waiting(qn_tensors *tensors, recording *r, qn__node *const *asked, size_t count) {
    qn__walk walk = {0};
    size_t waiting = 0;
    qn_status status = qn__walk_from(tensors, asked, count, &walk);
    for (size_t i = 0; i < walk.count && !status; i++)
        if (waits(r, walk.nodes[i])) walk.nodes[waiting++] = walk.nodes[i];
    if (!status) status = qn__realise(tensors, walk.nodes, waiting);
    for (size_t i = 0; i < waiting && !status; i++) {
        qn__node *node = walk.nodes[i];
        if (!node->storage) continue; /* no elements */
        status = bind(tensors, r, node->leaf_of, node, false);
        if (!status) status = settle(tensors, &r->bindings[r->num_bindings - 1]);
    }
    qn__walk_end(&walk);
    return status;
}

/* Parameters that the function reads and does not assign; of other values the memory is kept. */
static qn_status bind_leaves(qn_tensors *tensors, recording *r, qn__node *const *asked, size_t count) {
    qn__walk walk = {0};
    qn_status status = qn__walk_from(tensors, asked, count, &walk);
    for (size_t i = 0; i < walk.count && !status; i++) {
        qn__node *node = walk.nodes[i];
        if (!node->realised || !node->storage) continue;
        if (!node->leaf_of)
            status = hold(tensors, r, node->storage);
        else if (!is_bound(r, node->leaf_of))
            status = bind(tensors, r, node->leaf_of, node, false);
    }
    qn__walk_end(&walk);
    return status;
}

/* A node whose value is computed by the launches, even where it is another one's. */
static qn__node *own_value(qn__node *node) {
    qn__node *copy = qn__map_node(node->owner, QN__OP_COPY, (qn_element)node->type, &node, 1);
    if (copy) copy->needs_gradient = false;
    return copy;
}

/* Those of the asked ones that have to be computed, and whose memory they may take over. */
static size_t list_wanted(const recording *r, qn__node *const *asked, size_t count, qn__node **wanted,
                          qn__node **replaced) {
    size_t number = 0;
    for (size_t i = 0, b = 0; i < count; i++) {
        qn__node *old = NULL;
        if (i >= r->num_outputs) {
            while (!r->bindings[b].assigned) b++;
            old = r->bindings[b++].node;
        }
        if (asked[i]->realised) continue; /* it has no elements */
        wanted[number] = asked[i];
        replaced[number++] = old;
    }
    return number;
}

/* On CUDA the graph copies inputs itself, from where each run says: that takes the host a third of what copies of their own do. The first
   sources are of the run that records. */
static qn_status record_copies(qn_tensors *tensors, recording *r, qn_tensor *const *inputs) {
    qn_status status = QN_OK;
    if (tensors->info.kind != QN_DEVICE_CUDA) return QN_OK;
    for (size_t i = 0; i < r->num_inputs; i++)
        if (!can_be_source(inputs[i]->node)) return QN_OK;
    for (size_t i = 0; i < r->num_inputs && !status; i++)
        status = copy_value(tensors, inputs[i]->node, r->inputs[i]->storage);
    r->copies_inputs = r->num_inputs > 0;
    return status;
}

/* Records the launches for what was made. asked: outputs, then the new values of assigned tensors, with room for two more such lists behind. A new value that is not in the old
   one's memory is copied there in the end. */
static qn_status record_launches(qn_tensors *tensors, recording *r, qn_tensor *const *inputs,
                                 qn__node **asked, size_t count) {
    qn__node **wanted = asked + count, **replaced = wanted + count;
    const size_t number = list_wanted(r, asked, count, wanted, replaced);
    /* Compiles, which is not to be recorded. */
    qn_status status = number ? qn__plan_prepare(tensors, wanted, replaced, number) : QN_OK;
    if (!status) status = qn_graph_begin(tensors->stream);
    if (status) return status;
    swap_pools(tensors, r);
    status = record_copies(tensors, r, inputs);
    if (number && !status) status = qn__plan_record(tensors, wanted, replaced, number, &r->memory);
    for (size_t i = 0, at = r->num_outputs; i < r->num_bindings && !status; i++)
        if (r->bindings[i].assigned) status = copy_value(tensors, asked[at++], r->bindings[i].memory);
    swap_pools(tensors, r);
    qn_graph *graph = NULL;
    const qn_status ended = qn_graph_end(tensors->stream, &graph);
    r->graph = graph;
    return status ? status : ended;
}

/* Runs the function on placeholders, and puts back what it assigned. */
static qn_status call_function(qn_step *step, recording *r, qn_tensor **outputs) {
    qn_tensors *tensors = step->tensors;
    qn_tensor *inputs[MOST];
    for (size_t i = 0; i < r->num_inputs; i++) {
        qn__node_retain(r->inputs[i]);
        inputs[i] = qn__handle(tensors, r->inputs[i]);
    }
    tensors->recording = r;
    qn_status status = step->function(step->user, inputs, r->num_inputs, outputs, r->num_outputs);
    if (!status) status = advance_words(r);
    tensors->recording = NULL;
    for (size_t i = 0; i < r->num_outputs && !status; i++) status = qn_tensor_status(outputs[i]);
    return status;
}

/* The node that computes an assigned tensor's new value, so that others which read it read what is stored; counted. NULL: it is not computed
   by a kernel, or asked for already. */
static qn__node *computed_value(qn__node *node, qn__node *const *asked, size_t count) {
    qn__node *from = node;
    while (from->op == QN__OP_RESHAPE && !from->realised) from = from->sources[0];
    const qn__kind kind = qn__ops[from->op].kind;
    if (from->realised || (kind != QN__MAP && kind != QN__REDUCE) || from->rank != node->rank ||
        memcmp(from->sizes, node->sizes, node->rank * sizeof *node->sizes) != 0)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (asked[i] == from) return NULL;
    qn__node_retain(from);
    return from;
}

/* Values of outputs that the launches compute. */
static qn_status own_outputs(recording *r, qn_tensor *const *outputs, qn__node **asked) {
    for (size_t i = 0; i < r->num_outputs; i++)
        if (!(asked[i] = r->outputs[i] = own_value(outputs[i]->node))) return QN_ERROR_OUT_OF_MEMORY;
    return QN_OK;
}

/* Likewise of assigned tensors, whose handles name their old values again. */
static qn_status own_assigned(recording *r, qn_status status, qn__node **asked, size_t *count) {
    for (size_t i = 0; i < r->num_bindings; i++) {
        qn_tensor *x = r->bindings[i].tensor;
        qn__node *own = status ? NULL : computed_value(x->node, asked, *count);
        if (!own && !status) own = own_value(x->node);
        if (own)
            asked[(*count)++] = own;
        else if (!status)
            status = QN_ERROR_OUT_OF_MEMORY;
        if (x->node->leaf_of == x) x->node->leaf_of = NULL; /* that value is the launches' */
        qn__node_release(x->node);
        x->node = r->bindings[i].node;
        qn__node_retain(x->node);
        if (x->requires_gradient) x->node->leaf_of = x;
        x->node->is_replaced = false;
    }
    return status;
}

static qn_status record(qn_step *step, recording *r, qn_tensor *const *inputs) {
    qn_tensors *tensors = step->tensors;
    qn_tensor *outputs[MOST] = {NULL};
    qn_status status = call_function(step, r, outputs);
    const size_t most = r->num_outputs + r->num_bindings, num_assigned = r->num_bindings;
    size_t count = r->num_outputs;
    qn__node **asked = r->asked = qn__tensors_allocate(tensors, (most + 1) * 3 * sizeof *asked);
    if (!asked && !status) status = QN_ERROR_OUT_OF_MEMORY;
    if (!status) status = own_outputs(r, outputs, asked);
    status = own_assigned(r, status, asked, &count);
    for (size_t i = 0; i < num_assigned && !status; i++) status = settle(tensors, &r->bindings[i]);
    if (!status) status = bind_waiting(tensors, r, asked, count);
    if (!status) status = bind_leaves(tensors, r, asked, count);
    if (!status) status = record_launches(tensors, r, inputs, asked, count);
    r->num_asked = count;
    return status;
}

static qn_status make_recording(qn_step *step, qn_tensor *const *inputs, size_t num_inputs,
                                size_t num_outputs, recording **out) {
    qn_tensors *tensors = step->tensors;
    recording *r = qn__tensors_allocate(tensors, sizeof *r);
    if (!r) return QN_ERROR_OUT_OF_MEMORY;
    qn_status status = qn_scope_begin(tensors);
    r->step = step;
    r->num_outputs = num_outputs;
    for (size_t i = 0; i < num_inputs && !status; i++) {
        r->types[i] = qn_tensor_type(inputs[i]);
        r->shapes[i] = qn_tensor_shape(inputs[i]);
        status = make_like(tensors, inputs[i]->node, &r->inputs[i]);
        r->num_inputs += !status;
    }
    if (!status) status = record(step, r, inputs);
    qn_scope_end(tensors);
    if (status) {
        free_recording(tensors, r);
        return status;
    }
    r->next = step->recordings;
    step->recordings = r;
    *out = r;
    return QN_OK;
}

/* ---- replaying ---- */

static bool fits(const recording *r, qn_tensor *const *inputs, size_t num_inputs, size_t num_outputs) {
    if (r->num_inputs != num_inputs || r->num_outputs != num_outputs) return false;
    for (size_t i = 0; i < num_inputs; i++) {
        const qn_shape shape = qn_tensor_shape(inputs[i]);
        if (r->types[i] != qn_tensor_type(inputs[i]) || r->shapes[i].rank != shape.rank ||
            memcmp(r->shapes[i].sizes, shape.sizes, shape.rank * sizeof *shape.sizes) != 0)
            return false;
    }
    return true;
}

/* The memory of a binding has the tensor's present value. */
static qn_status bring(qn_tensors *tensors, binding *b) {
    qn_tensor *x = b->tensor;
    if (x->node == b->node) return QN_OK;
    qn_status status = qn__realise(tensors, &x->node, 1);
    if (!status) status = copy_value(tensors, x->node, b->memory);
    if (status) return status;
    qn__node_release(b->node);
    b->node = x->node;
    qn__node_retain(b->node);
    return QN_OK;
}

/* Another one than the tensor knows its present value: it gets memory of its own, as the tensor's is about to change. */
static qn_status keep_for_others(qn_tensors *tensors, binding *b) {
    qn__node *node = b->node;
    if (node->storage != b->memory || node->refs <= 2) return QN_OK;
    qn__storage *storage;
    qn_status status = qn__storage_create(tensors, bytes_of(node), &storage);
    if (status) return status;
    status = copy_value(tensors, node, storage);
    qn__storage_release(tensors, node->storage);
    node->storage = storage;
    return status;
}

/* The tensor names its new value. */
static qn_status rename_value(qn_tensors *tensors, binding *b) {
    qn_tensor *x = b->tensor;
    qn__node *old = x->node;
    qn__node *node = qn__node_make(tensors, QN__OP_VALUE, (qn_element)old->type, old->rank, old->sizes);
    if (!node) return QN_ERROR_OUT_OF_MEMORY;
    qn__storage_retain(b->memory);
    qn__node_set_value(node, b->memory, 0, NULL);
    if (old->leaf_of == x) {
        old->leaf_of = NULL;
        old->is_replaced = true;
    }
    node->needs_gradient = node->is_leaf = x->requires_gradient;
    node->leaf_of = x->requires_gradient ? x : NULL;
    x->node = node;
    qn__node_release(old);
    qn__node_release(b->node);
    b->node = node;
    qn__node_retain(node);
    return QN_OK;
}

/* The value of an input for the graph's copy, in memory of its own where it does not lie in order. */
static qn_status set_input(qn_tensors *tensors, recording *r, uint32_t index, const qn__node *node) {
    const uint64_t size = qn_element_size((qn_element)node->type);
    qn__storage **own = &r->ordered[index];
    if (can_be_source(node))
        return qn_graph_set_copy(r->graph, index, node->storage->buffer, node->offset * size);
    qn_status status = qn__storage_create(tensors, bytes_of(node), own);
    if (!status) status = copy_value(tensors, node, *own);
    return status ? status : qn_graph_set_copy(r->graph, index, (*own)->buffer, 0);
}

static qn_status bring_inputs(qn_tensors *tensors, recording *r, qn_tensor *const *inputs) {
    qn_status status = QN_OK;
    for (size_t i = 0; i < r->num_inputs && !status; i++)
        status = r->copies_inputs ? set_input(tensors, r, (uint32_t)i, inputs[i]->node)
                                  : copy_value(tensors, inputs[i]->node, r->inputs[i]->storage);
    return status;
}

static qn_status replay(qn_step *step, recording *r, qn_tensor *const *inputs, qn_tensor **outputs) {
    qn_tensors *tensors = step->tensors;
    qn_status status = bring_inputs(tensors, r, inputs);
    if (!status) status = bring_words(tensors, r);
    for (size_t i = 0; i < r->num_bindings && !status; i++) {
        status = bring(tensors, &r->bindings[i]);
        if (!status && r->bindings[i].assigned) status = keep_for_others(tensors, &r->bindings[i]);
    }
    if (!status) status = qn_graph_launch(tensors->stream, r->graph);
    for (size_t i = 0; i < r->num_inputs; i++) {
        qn__storage_release(tensors, r->ordered[i]); /* who takes it next is behind the launch */
        r->ordered[i] = NULL;
    }
    if (!status) count_words(tensors, r);
    for (size_t i = 0; i < r->num_bindings && !status; i++)
        if (r->bindings[i].assigned) status = rename_value(tensors, &r->bindings[i]);
    for (size_t i = 0; i < r->num_outputs && !status; i++) {
        qn__node_retain(r->outputs[i]);
        outputs[i] = qn__handle(tensors, r->outputs[i]);
    }
    return status;
}

/* Of an eager owner: each op as it comes, so that a failure shows in its place. */
static qn_status run_at_once(qn_step *step, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                             size_t num_outputs) {
    qn_status status = step->function(step->user, inputs, num_inputs, outputs, num_outputs);
    for (size_t i = 0; i < num_outputs && !status; i++) status = qn_tensor_status(outputs[i]);
    return status;
}

qn_status qn_step_run(qn_step *step, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                      size_t num_outputs) {
    qn_status status = check_step(step, "qn_step_run");
    if (status) return status;
    qn_tensors *tensors = step->tensors;
    if ((num_inputs && !inputs) || (num_outputs && !outputs))
        return qn__tensors_fail(tensors, QN_ERROR_NULL, "qn_step_run: %s is NULL",
                                num_inputs && !inputs ? "inputs" : "outputs");
    if (num_inputs > MOST || num_outputs > MOST)
        return qn__tensors_fail(tensors, QN_ERROR_RANGE,
                                "qn_step_run: %zu inputs and %zu outputs; at most %d of each", num_inputs,
                                num_outputs, MOST);
    if (tensors->recording)
        return qn__tensors_fail(tensors, QN_ERROR_STATE,
                                "qn_step_run: a step cannot be run while one is recorded");
    if (num_inputs) status = qn_realize(inputs, num_inputs);
    if (status) return status;
    if (tensors->desc.eager) return run_at_once(step, inputs, num_inputs, outputs, num_outputs);
    recording *r = step->recordings;
    while (r && !fits(r, inputs, num_inputs, num_outputs)) r = r->next;
    if (!r) status = make_recording(step, inputs, num_inputs, num_outputs, &r);
    return status ? status : replay(step, r, inputs, outputs);
}
