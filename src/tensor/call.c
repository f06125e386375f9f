/* Calls of kernels.h as ops: their arrays, and the table of their functions. A call reads values in memory, through views that strides can
   say; the scheduler gives it a step of its own. To add one: a row in ops.def, a function here or in a file of its own, a row in the
   table below. */
#include <string.h>

#include "tensor/calls.h"
#include "tensor/plan.h"

static qn__call *const calls[QN__OP_COUNT] = {
    [QN__OP_CONVOLVE_INPUT] = qn__convolve_input_run,
    [QN__OP_CONVOLVE_WEIGHTS] = qn__convolve_weights_run,
    [QN__OP_MAX_POOL] = qn__max_pool_run,
    [QN__OP_MAX_POOL_BACKWARD] = qn__max_pool_backward_run,
    [QN__OP_ATTENTION] = qn__attention_run,
    [QN__OP_ATTENTION_BACKWARD] = qn__attention_backward_run,
    [QN__OP_TAKE] = qn__take_run,
    [QN__OP_SCATTER] = qn__scatter_run,
    [QN__OP_SCAN] = qn__scan_run,
    [QN__OP_SORT] = qn__sort_run,
    [QN__OP_TOP_K] = qn__top_k_run,
    [QN__OP_HISTOGRAM] = qn__histogram_run,
    [QN__OP_COMPACT] = qn__compact_run,
    [QN__OP_UNIQUE] = qn__unique_run,
    [QN__OP_CHOLESKY] = qn__cholesky_run,
    [QN__OP_SOLVE] = qn__solve_run,
    [QN__OP_SOLVE_TRIANGULAR] = qn__solve_triangular_run,
    [QN__OP_DETERMINANT] = qn__determinant_run,
    [QN__OP_QR] = qn__qr_run,
    [QN__OP_EIGEN] = qn__eigen_run,
    [QN__OP_SVD] = qn__svd_run,
};

static qn__finishing_call *const finishing_calls[QN__OP_COUNT] = {
    [QN__OP_MATMUL] = qn__matmul_run,
    [QN__OP_CONVOLVE] = qn__convolve_run,
};

bool qn__call_finishes(qn__op op) { return finishing_calls[op] != NULL; }

qn_status qn__call_run(qn_tensors *tensors, const qn__node *node, const qn_array *sources,
                       const qn_array *results, const qn__finish *finish) {
    static const qn__finish none = {.alpha = 1, .scale = 1};
    if (!finishing_calls[node->op]) return calls[node->op](tensors, node, sources, results);
    return finishing_calls[node->op](tensors, node, sources, results, finish ? finish : &none);
}

qn__node *qn__call_node(qn_tensors *tensors, qn__op op, qn_element type, uint32_t rank, const uint64_t *sizes,
                        qn__node *const *sources, uint32_t count) {
    qn__node *node = qn__node_make(tensors, op, type, rank, sizes);
    for (uint32_t i = 0; node && i < count; i++) qn__node_add_source(node, sources[i]);
    return node;
}

qn__node *qn__part_node(qn__node *call, uint32_t index, qn_element type, uint32_t rank,
                        const uint64_t *sizes) {
    for (qn__node *part = call->parts; part; part = part->parts)
        if (part->attributes.axis == index) {
            qn__node_retain(part);
            return part;
        }
    qn__node *node = qn__call_node(call->owner, QN__OP_PART, type, rank, sizes, &call, 1);
    if (!node) return NULL;
    node->attributes.axis = index;
    node->parts = call->parts;
    call->parts = node;
    return node;
}

/* ---- what a call reads ---- */

/* The place of its own of a node whose dimensions are all loops. */
static void begin_place(const qn__node *node, qn__loops *loops, qn__place *place) {
    *loops = (qn__loops){.count = node->rank};
    memset(place, 0, sizeof *place);
    for (uint32_t d = 0; d < node->rank; d++) {
        loops->at[d] = (qn__loop){.size = node->sizes[d], .dimension = d};
        place->forms[d].steps[d] = 1;
    }
}

static qn_array contiguous_array(const qn__node *node) {
    qn_array a = {.type = (qn_element)node->type, .rank = node->rank};
    memcpy(a.sizes, node->sizes, sizeof a.sizes);
    return a;
}

/* Whether the array says what it means: strides of 0 alone would mean a contiguous one. */
static bool is_sayable(const qn_array *array) {
    bool all_zero = true;
    for (uint32_t d = 0; d < array->rank; d++)
        all_zero = all_zero && (array->strides[d] == 0 || array->sizes[d] == 1);
    return !all_zero || qn_array_count(array) <= 1;
}

static qn_array array_at(const qn__node *shape, const qn__node *base, const qn__place *place) {
    qn_array a = contiguous_array(shape);
    int64_t strides[QN_MAX_RANK], offset = base->realised ? (int64_t)base->offset : 0;
    qn__contiguous_strides(base->rank, base->sizes, strides);
    for (uint32_t d = 0; d < base->rank; d++) {
        const int64_t stride = base->realised ? base->strides[d] : strides[d];
        offset += stride * place->forms[d].base;
        for (uint32_t l = 0; l < shape->rank; l++) a.strides[l] += stride * place->forms[d].steps[l];
    }
    a.offset = (uint64_t)offset;
    for (uint32_t d = 0; d < a.rank; d++)
        if (a.sizes[d] == 1) a.strides[d] = 0;
    return a;
}

/* Whether the array is of elements that follow each other. */
static bool is_in_order(const qn_array *array) {
    int64_t next = 1;
    bool is_plain = true;
    for (uint32_t d = 0; d < array->rank; d++) is_plain = is_plain && array->strides[d] == 0;
    for (uint32_t d = array->rank; d-- > 0 && !is_plain;) {
        if (array->sizes[d] != 1 && array->strides[d] != next) return false;
        next *= (int64_t)array->sizes[d];
    }
    return true;
}

qn__seen qn__call_source(qn__node *source) {
    qn__loops loops;
    qn__place place, below;
    qn__node *node = source;
    begin_place(source, &loops, &place);
    while (!node->realised && qn__ops[node->op].kind == QN__VIEW && node->op != QN__OP_PAD) {
        uint32_t loop;
        uint64_t inner;
        if (qn__view_follow(node, &loops, &place, false, &below, &loop, &inner) != QN__FOLLOWED) break;
        place = below;
        node = node->sources[0];
    }
    /* A reshape that joins dimensions of what lies in order shows an array of its own sizes. */
    if (node->op == QN__OP_RESHAPE && !node->realised) {
        const qn__seen below = qn__call_source(node->sources[0]);
        qn_array array = array_at(source, node, &place);
        array.offset += below.array.offset;
        if (is_in_order(&below.array) && is_sayable(&array)) return (qn__seen){below.node, array};
    }
    const bool through = node->realised || qn__ops[node->op].kind != QN__VIEW || node->op == QN__OP_PAD;
    const qn__seen seen = {node, array_at(source, node, &place)};
    if (through && is_sayable(&seen.array) && !(node->op == QN__OP_PAD && !node->realised)) return seen;
    return (qn__seen){source, contiguous_array(source)};
}

uint32_t qn__call_reads(const qn__schedule *s, uint32_t group, qn__node **reads) {
    const qn__group *g = &s->groups[group];
    uint32_t count = 0;
    for (uint32_t i = 0; i < g->call->num_sources; i++)
        reads[count++] = qn__call_source(g->call->sources[i]).node;
    if (g->epilogue == QN__NONE) return count;
    const qn__epilogue *e = &s->epilogues[g->epilogue];
    if (e->bias != QN__NONE) reads[count++] = qn__call_source(s->walk->nodes[e->bias]).node;
    if (e->residual != QN__NONE) reads[count++] = qn__call_source(s->walk->nodes[e->residual]).node;
    return count;
}

/* ---- its step ---- */

static void add_read(qn__step *step, uint32_t place, qn__node *source) {
    const qn__seen seen = qn__call_source(source);
    step->arrays[place] = seen.array;
    step->arguments[place].node = seen.node->index;
    uint64_t elements = 1;    /* of memory: what is broadcast is read once */
    bool has_strides = false; /* else all lie in a row */
    for (uint32_t d = 0; d < seen.array.rank; d++)
        if (seen.array.strides[d]) elements *= seen.array.sizes[d], has_strides = true;
    step->bytes += (has_strides ? elements : qn_array_count(&seen.array)) * qn_element_size(seen.array.type);
}

/* The words of the call and of what its epilogue does. */
static qn_status describe(const qn__schedule *s, const qn__group *g, qn__step *step) {
    qn__text words = {.tensors = s->tensors};
    const uint32_t last = step->epilogue ? step->epilogue->result : g->call->index;
    qn__text_add(&words, "%s", qn__ops[g->call->op].word);
    for (uint32_t i = g->call->index; i != last;) {
        i = s->items[i].user;
        if (qn__ops[s->walk->nodes[i]->op].kind == QN__MAP)
            step->operations += qn__node_count(s->walk->nodes[i]);
        qn__text_add(&words, " %s", qn__ops[s->walk->nodes[i]->op].word);
    }
    step->fuses = words.text;
    return words.failed ? QN_ERROR_OUT_OF_MEMORY : QN_OK;
}

/* Of products, and of convolutions alike: two for each element of an operand that goes into one of the result. */
static uint64_t operations_of(const qn__node *node) {
    const qn__node *b = node->sources[1];
    if (node->op == QN__OP_MATMUL) return 2 * qn__node_count(node) * b->sizes[b->rank - 2];
    if (node->op != QN__OP_CONVOLVE || !b->sizes[0]) return 0;
    return 2 * qn__node_count(node) * (qn__node_count(b) / b->sizes[0]);
}

static qn_status make_epilogue(qn__schedule *s, const qn__group *g, qn__step *step) {
    if (g->epilogue == QN__NONE) return QN_OK;
    const qn__epilogue *e = &s->epilogues[g->epilogue];
    const uint32_t first = g->call->num_sources + QN__RESULTS;
    step->epilogue = qn__tensors_allocate(s->tensors, sizeof *step->epilogue);
    if (!step->epilogue) return QN_ERROR_OUT_OF_MEMORY;
    *step->epilogue = *e;
    if (e->bias != QN__NONE) add_read(step, first, s->walk->nodes[e->bias]);
    if (e->residual != QN__NONE) add_read(step, first + 1, s->walk->nodes[e->residual]);
    return QN_OK;
}

qn_status qn__call_make(qn__schedule *s, uint32_t group, qn__step *step) {
    const qn__group *g = &s->groups[group];
    const qn__node *node = g->call;
    const uint32_t count = node->num_sources + QN__RESULTS + QN__EPILOGUE_READS;
    step->call = node->index;
    step->arrays = qn__tensors_allocate(s->tensors, count * sizeof *step->arrays);
    step->arguments = qn__tensors_allocate(s->tensors, count * sizeof *step->arguments);
    if (!step->arrays || !step->arguments) return QN_ERROR_OUT_OF_MEMORY;
    step->num_arguments = count;
    step->operations = operations_of(node);
    for (uint32_t i = 0; i < count; i++) step->arguments[i] = (qn__argument){QN__BUFFER, QN__NONE};
    for (uint32_t i = 0; i < node->num_sources; i++) add_read(step, i, node->sources[i]);
    for (size_t m = 0; m < g->count; m++) {
        const qn__node *result = s->walk->nodes[g->members[m]];
        const uint32_t place = node->num_sources + (result->op == QN__OP_PART ? result->attributes.axis : 0);
        step->arrays[place] = contiguous_array(result);
        step->arguments[place].node = result->index;
        step->bytes += qn__node_count(result) * qn_element_size((qn_element)result->type);
    }
    const qn_status status = make_epilogue(s, g, step);
    return status ? status : describe(s, g, step);
}
