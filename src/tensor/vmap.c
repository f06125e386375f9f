/* A function of one example, for all examples of a batch: it is called once, with inputs that have no values, and the graph that it makes is made again
   with one more dimension, the first. Nodes that no input leads to stay as they are. */
#include <string.h>

#include "tensor/linear.h"

enum { INPUTS = 64 };

typedef struct batcher {
    qn_tensors *tensors;
    uint64_t batch;
    qn__node **nodes; /* of the function, sources before users; counted */
    qn__node **made;  /* for each, with the batch; counted. NULL: no input leads to it */
    size_t count, room;
    const char *refused; /* why a node cannot be made */
} batcher;

/* ---- the function's graph ---- */

static bool add_node(batcher *b, qn__node *node) {
    if (!qn__reserve(b->tensors, &b->nodes, &b->room, b->count, sizeof(qn__node *))) return false;
    qn__node_retain(node);
    node->index = (uint32_t)b->count;
    b->nodes[b->count++] = node;
    return true;
}

/* As a walk, but through nodes that have values, too. */
static bool collect(batcher *b, qn__node *node) {
    const uint64_t number = ++b->tensors->walk;
    node->mark = number;
    node->waiting = NULL;
    node->index = 0;
    while (node) {
        if (node->index < node->num_sources) {
            qn__node *source = node->sources[node->index++];
            if (source->mark == number) continue;
            source->mark = number;
            source->waiting = node;
            source->index = 0;
            node = source;
        } else {
            qn__node *user = node->waiting;
            if (!add_node(b, node)) return false;
            node = user;
        }
    }
    return true;
}

/* ---- nodes with a batch ---- */

static bool is_batched(const batcher *b, const qn__node *node, uint32_t source) {
    return b->made[node->sources[source]->index] != NULL;
}

/* A source with the batch, counted; one that has none is repeated. */
static qn__node *source_of(const batcher *b, const qn__node *node, uint32_t i) {
    qn__node *source = node->sources[i], *made = b->made[source->index];
    qn__node_retain(made ? made : source);
    if (made) return made;
    uint64_t sizes[QN_MAX_RANK] = {b->batch};
    memcpy(sizes + 1, source->sizes, source->rank * sizeof *sizes);
    return qn__expand_node(source, source->rank + 1u, sizes);
}

/* A node like it with one more dimension and these sources, which are given up; NULL without memory. */
static qn__node *like(const batcher *b, const qn__node *node, qn__node **sources) {
    uint64_t sizes[QN_MAX_RANK] = {b->batch};
    bool complete = true;
    memcpy(sizes + 1, node->sizes, node->rank * sizeof *sizes);
    for (uint32_t i = 0; i < node->num_sources; i++) complete = complete && sources[i];
    qn__node *made =
        complete ? qn__node_make(b->tensors, (qn__op)node->op, (qn_element)node->type, node->rank + 1u, sizes)
                 : NULL;
    if (made) made->attributes = node->attributes;
    for (uint32_t i = 0; i < node->num_sources; i++) {
        if (made) qn__node_add_source(made, sources[i]);
        qn__node_release(sources[i]);
    }
    return made;
}

/* With all sources batched. */
static qn__node *with_batch(const batcher *b, const qn__node *node) {
    qn__node *sources[QN__SOURCES];
    for (uint32_t i = 0; i < node->num_sources; i++) sources[i] = source_of(b, node, i);
    return like(b, node, sources);
}

static qn__node *reduction(const batcher *b, const qn__node *node) {
    qn__node *made = with_batch(b, node);
    if (made) made->attributes.axes <<= 1;
    return made;
}

/* The batch stays before what comes before the others. */
static qn__node *raised(qn__node *node, uint32_t rank) {
    uint64_t sizes[QN_MAX_RANK];
    const uint32_t more = rank - node->rank;
    for (uint32_t d = 0; d < rank; d++)
        sizes[d] = d == 0 ? node->sizes[0] : d <= more ? 1 : node->sizes[d - more];
    return qn__reshape_node(node, rank, sizes);
}

static qn__node *view(batcher *b, const qn__node *node) {
    if (node->op == QN__OP_PAD && is_batched(b, node, 1)) {
        b->refused = "what is around differs from example to example";
        return NULL;
    }
    qn__node *sources[QN__SOURCES];
    for (uint32_t i = 0; i < node->num_sources; i++) {
        if (i) qn__node_retain(node->sources[i]);
        sources[i] = i ? node->sources[i] : source_of(b, node, 0);
    }
    if (node->op == QN__OP_EXPAND && sources[0]) sources[0] = raised(sources[0], node->rank + 1u);
    qn__node *made = like(b, node, sources);
    if (!made) return NULL;
    made->attributes.axis++;
    made->attributes.order[0] = 0;
    for (uint32_t d = 0; d < node->rank; d++)
        made->attributes.order[d + 1] = (uint8_t)(node->attributes.order[d] + 1);
    return made;
}

/* ---- calls ---- */

static qn_tensor *handle_of(qn_tensors *tensors, qn__node *node) { return qn__handle(tensors, node); }

/* A tensor's node, counted; NULL where it failed. */
static qn__node *node_of(const qn_tensor *x) {
    if (!x->node) return NULL;
    qn__node_retain(x->node);
    return x->node;
}

/* Source i as a tensor of the scope: with the batch, if it has one. */
static qn_tensor *tensor_of(const batcher *b, const qn__node *node, uint32_t i) {
    qn__node *source = b->made[node->sources[i]->index];
    if (!source) source = node->sources[i];
    qn__node_retain(source);
    return handle_of(b->tensors, source);
}

/* Batches of one and of several dimensions broadcast from the last one on: what has a batch gets all of them. */
static qn__node *product(const batcher *b, const qn__node *node) {
    qn_tensor *x[2];
    for (uint32_t i = 0; i < 2; i++) {
        x[i] = tensor_of(b, node, i);
        if (!is_batched(b, node, i)) continue;
        qn__node *own = node_of(x[i]);
        x[i] = handle_of(b->tensors, own ? raised(own, node->rank + 1u) : NULL);
    }
    return node_of(qn_cast(qn_matmul(x[0], x[1]), (qn_element)node->type));
}

/* Along a dimension that integer `at` says. */
static qn__node *along(const batcher *b, const qn__node *node, uint32_t at) {
    qn__node *made = with_batch(b, node);
    if (made) made->attributes.integers[at]++;
    return made;
}

/* Slices of each example by indices of its own: the examples' slices are one dimension, in which the indices of example e begin with e
   times the size. An index that names nothing stays one. */
static qn_tensor *take_own(const batcher *b, const qn__node *node, int32_t d) {
    const uint64_t size = node->sources[0]->sizes[d];
    qn_tensor *x = tensor_of(b, node, 0), *indices = qn_cast(tensor_of(b, node, 1), QN_I64);
    const uint32_t rank = node->sources[1]->rank;
    qn_shape ahead = {.rank = rank + 1, .sizes = {b->batch, 1, 1, 1, 1, 1, 1, 1}};
    qn_tensor *begin = qn_reshape(qn_multiply(qn__index_tensor(b->tensors, b->batch), size), ahead);
    qn_tensor *is_there = qn_less(qn_cast(indices, QN_U64), size);
    qn_tensor *rows = qn_flatten(qn_move_axis(x, d + 1, 1), 0, 1);
    qn_tensor *taken = qn_take(rows, qn_where(is_there, qn_add(indices, begin), -1), 0);
    qn_axes order = {.count = node->rank + 1u};
    for (uint32_t i = 0; i < order.count;
         i++) /* batch, dimensions before d, those of the indices, the rest */
        order.axes[i] = (int32_t)(i == 0                    ? 0
                                  : i <= (uint32_t)d        ? i + rank
                                  : i <= (uint32_t)d + rank ? i - (uint32_t)d
                                                            : i);
    return qn_permute(taken, order);
}

static qn__node *take(const batcher *b, const qn__node *node) {
    const int32_t d = (int32_t)node->attributes.integers[0];
    if (!is_batched(b, node, 1)) return node_of(qn_take(tensor_of(b, node, 0), tensor_of(b, node, 1), d + 1));
    if (is_batched(b, node, 0)) return node_of(take_own(b, node, d));
    return node_of(qn_move_axis(qn_take(tensor_of(b, node, 0), tensor_of(b, node, 1), d), d, 0));
}

/* Sources: slices, indices, and what they go into. */
static qn__node *scatter(batcher *b, const qn__node *node) {
    if (is_batched(b, node, 1)) {
        b->refused = "it writes where each example has indices of its own";
        return NULL;
    }
    qn__node *sources[QN__SOURCES];
    for (uint32_t i = 0; i < node->num_sources; i++) {
        if (i == 1) qn__node_retain(node->sources[i]);
        sources[i] = i == 1 ? node->sources[i] : source_of(b, node, i);
    }
    qn__node *made = like(b, node, sources);
    if (made) made->attributes.integers[0]++;
    return made;
}

/* Images of all examples as one batch, with weights that they share. */
static qn__node *convolution(batcher *b, const qn__node *node) {
    if (is_batched(b, node, 1) || node->op == QN__OP_CONVOLVE_WEIGHTS) {
        b->refused = "each example has weights of its own";
        return NULL;
    }
    uint64_t sizes[4] = {b->batch * node->sizes[0], node->sizes[1], node->sizes[2], node->sizes[3]};
    qn_tensor *images = qn_flatten(tensor_of(b, node, 0), 0, 1);
    if (images->status) return NULL;
    qn__node *const sources[] = {images->node, node->sources[1]};
    qn__node *call =
        qn__call_node(b->tensors, (qn__op)node->op, (qn_element)node->type, 4, sizes, sources, 2);
    if (call) call->attributes = node->attributes;
    return node_of(qn_reshape(handle_of(b->tensors, call),
                              QN_SHAPE(b->batch, node->sizes[0], sizes[1], sizes[2], sizes[3])));
}

/* Results that lie in one row: those of all examples are taken apart, and each example's put together. */
static qn__node *factors(const batcher *b, const qn__node *node) {
    uint64_t counts[QN__RESULTS], total = b->batch * node->sizes[0];
    const uint32_t number = qn__linear_counts(node, counts);
    qn__node *source = source_of(b, node, 0);
    qn__node *call =
        source ? qn__call_node(b->tensors, (qn__op)node->op, (qn_element)node->type, 1, &total, &source, 1)
               : NULL;
    qn__node_release(source);
    if (call) call->attributes = node->attributes;
    qn_tensor *row = handle_of(b->tensors, call), *parts[QN__RESULTS];
    int64_t begin = 0;
    for (uint32_t i = 0; i < number; i++) {
        const int64_t end = begin + (int64_t)(b->batch * counts[i]);
        parts[i] = qn_reshape(qn_slice(row, 0, begin, end, 1), QN_SHAPE(b->batch, counts[i]));
        begin = end;
    }
    return node_of(qn_concat(parts, number, 1));
}

static qn__node *part(const batcher *b, const qn__node *node) {
    uint64_t sizes[QN_MAX_RANK] = {b->batch};
    memcpy(sizes + 1, node->sizes, node->rank * sizeof *sizes);
    return qn__part_node(b->made[node->sources[0]->index], node->attributes.axis, (qn_element)node->type,
                         node->rank + 1u, sizes);
}

static qn__node *call(batcher *b, const qn__node *node) {
    switch (node->op) {
    case QN__OP_SORT:
    case QN__OP_TOP_K:
    case QN__OP_MAX_POOL:
    case QN__OP_MAX_POOL_BACKWARD:
    case QN__OP_CHOLESKY:
    case QN__OP_SOLVE:
    case QN__OP_SOLVE_TRIANGULAR: return with_batch(b, node);
    case QN__OP_PART: return part(b, node);
    case QN__OP_MATMUL: return product(b, node);
    case QN__OP_SCAN: return along(b, node, 1);
    case QN__OP_TAKE: return take(b, node);
    case QN__OP_SCATTER: return scatter(b, node);
    case QN__OP_CONVOLVE:
    case QN__OP_CONVOLVE_INPUT:
    case QN__OP_CONVOLVE_WEIGHTS: return convolution(b, node);
    case QN__OP_DETERMINANT:
    case QN__OP_QR:
    case QN__OP_EIGEN:
    case QN__OP_SVD: return factors(b, node);
    default: b->refused = "it is not made for several examples at once"; return NULL;
    }
}

/* ---- the graph again ---- */

static qn__node *make(batcher *b, const qn__node *node) {
    if (node->rank == QN_MAX_RANK) {
        b->refused = "it has as many dimensions as there can be";
        return NULL;
    }
    if (node->detour) {
        b->refused = qn__detour_calls_again(node) ? "a function of qn_recompute sees one example"
                                                  : "a function of qn_hook_gradient sees one example";
        return NULL;
    }
    switch (qn__ops[node->op].kind) {
    case QN__REDUCE: return reduction(b, node);
    case QN__VIEW: return view(b, node);
    case QN__CALL: return call(b, node);
    default: return with_batch(b, node);
    }
}

static qn_tensor *make_all(batcher *b) {
    for (size_t i = 0; i < b->count; i++) {
        qn__node *node = b->nodes[i];
        bool leads = false;
        for (uint32_t s = 0; s < node->num_sources; s++) leads = leads || is_batched(b, node, s);
        if (b->made[i] || !leads) continue;
        b->made[i] = make(b, node);
        /* The op's functions are public ones, some of them, whose walks use the nodes' indices where it is eager. */
        for (size_t k = 0; b->tensors->desc.eager && k < b->count; k++) b->nodes[k]->index = (uint32_t)k;
        if (!b->made[i] && b->refused)
            return qn__failed(b->tensors, "qn_vmap", QN_ERROR_UNSUPPORTED, "%s of %s: %s",
                              qn__ops[node->op].word, qn__describe(node).text, b->refused);
        if (!b->made[i]) return qn__failed_as(b->tensors, QN_ERROR_OUT_OF_MEMORY);
        /* Where gradients stop in the function they stop here. */
        if (!node->needs_gradient || node->is_leaf) b->made[i]->needs_gradient = false;
    }
    return NULL;
}

/* ---- examples ---- */

/* An example without a value. */
static qn_tensor *example_of(const qn_tensor *x) {
    const qn__node *node = x->node;
    qn__node *made =
        qn__node_make(x->owner, QN__OP_EXAMPLE, (qn_element)node->type, node->rank - 1u, node->sizes + 1);
    if (made) made->needs_gradient = node->needs_gradient && !x->owner->no_gradient;
    return qn__handle(x->owner, made);
}

/* The function's result, with a batch, in the open scope. */
static qn_tensor *trace(batcher *b, qn_tensor_function *function, void *user, qn_tensor *const *inputs,
                        size_t count, qn__node **result) {
    qn_tensor *x[INPUTS];
    b->tensors->tracing++;
    for (size_t i = 0; i < count; i++) x[i] = example_of(inputs[i]);
    qn_tensor *y = function(user, x, count);
    b->tensors->tracing--;
    qn_tensors *owner;
    qn_tensor *wrong = qn__refuse("qn_vmap", x, (uint32_t)count, &owner);
    if (!wrong) wrong = qn__refuse("qn_vmap", &y, 1, &owner);
    if (wrong) return wrong;
    if (!collect(b, y->node)) return qn__failed_as(b->tensors, QN_ERROR_OUT_OF_MEMORY);
    b->made = qn__tensors_allocate(b->tensors, b->count * sizeof *b->made);
    if (!b->made) return qn__failed_as(b->tensors, QN_ERROR_OUT_OF_MEMORY);
    for (size_t i = 0; i < count; i++) {
        const qn__node *example = x[i]->node;
        if (example->index >= b->count || b->nodes[example->index] != example) continue;
        b->made[example->index] = inputs[i]->node;
        qn__node_retain(inputs[i]->node);
    }
    wrong = make_all(b);
    if (wrong) return wrong;
    *result = b->made[b->count - 1];
    if (*result) {
        qn__node_retain(*result);
    } else { /* the same for all examples */
        uint64_t sizes[QN_MAX_RANK] = {b->batch};
        memcpy(sizes + 1, y->node->sizes, y->node->rank * sizeof *sizes);
        qn__node_retain(y->node);
        *result = qn__expand_node(y->node, y->node->rank + 1u, sizes);
    }
    return NULL;
}

static qn_tensor *check(qn_tensor_function *function, qn_tensor *const *inputs, size_t count,
                        qn_tensors **tensors) {
    static const char name[] = "qn_vmap";
    if (!function || !inputs || !count || count > INPUTS)
        return qn__failed(NULL, name, QN_ERROR_NULL, "%llu inputs; from 1 to %d, and nothing NULL",
                          (unsigned long long)count, INPUTS);
    qn_tensor *wrong = qn__refuse(name, inputs, (uint32_t)count, tensors);
    for (size_t i = 0; i < count && !wrong; i++)
        if (!inputs[i]->node->rank || inputs[i]->node->sizes[0] != inputs[0]->node->sizes[0])
            wrong = qn__failed(*tensors, name, QN_ERROR_ARGUMENT,
                               "input %llu is %s, and the first %s: their first dimensions are the examples",
                               (unsigned long long)i, qn__describe(inputs[i]->node).text,
                               qn__describe(inputs[0]->node).text);
    return wrong;
}

qn_tensor *qn_vmap(qn_tensor_function *function, void *user, qn_tensor *const *inputs, size_t count) {
    qn_tensors *tensors;
    qn_tensor *wrong = check(function, inputs, count, &tensors);
    if (wrong) return wrong;
    batcher b = {.tensors = tensors, .batch = inputs[0]->node->sizes[0]};
    qn__node *result = NULL;
    qn_status status = qn_scope_begin(tensors);
    if (status) return qn__failed_as(tensors, status);
    wrong = trace(&b, function, user, inputs, count, &result);
    if (wrong) status = qn_tensor_status(wrong);
    for (size_t i = 0; i < b.count; i++) {
        if (b.made) qn__node_release(b.made[i]);
        qn__node_release(b.nodes[i]);
    }
    qn__tensors_release(tensors, b.made);
    qn__tensors_release(tensors, b.nodes);
    qn_scope_end(tensors);
    return status ? qn__failed_as(tensors, status) : qn__handle(tensors, result);
}
