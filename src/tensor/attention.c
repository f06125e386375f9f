/* Scaled dot-product attention: calls of kernels.h where they can do it, a composition of ops where not. The call that gradients are asked of has as its own
   value the logarithms of the sums of each row, which the backward pass needs, and the output as a part. The call of the backward
   pass gives the three gradients as one row of numbers; its own gradient is composed. */
#include <math.h>
#include <string.h>

#include "tensor/calls.h"
#include "tensor/plan.h"

/* Where the ops' integers are; the scale is the first of the reals. */
enum { CAUSAL, LOGGED, BY_ROWS };
enum { Q, K, V, OUT, LOGS, GRADIENT, BACKWARD_SOURCES };
enum { RANK = 4, MOST_SIZE = 256 };

/* ---- the calls ---- */

/* An output of which the heads of a row lie together, as batches x length x heads x size, is for the calls one with heads before rows. */
static qn_array output_array(const qn__node *node, const qn_array *array) {
    return node->attributes.integers[BY_ROWS] ? qn_array_transpose(*array, 1, 2) : *array;
}

static qn_tensor *output_tensor(const qn__node *node, qn_tensor *x) {
    return node->attributes.integers[BY_ROWS] ? qn_permute(x, QN_AXES(0, 2, 1, 3)) : x;
}

qn_status qn__attention_run(qn_tensors *tensors, const qn__node *node, const qn_array *sources,
                            const qn_array *results) {
    const bool logged = node->attributes.integers[LOGGED] != 0;
    qn__storage *unwanted = NULL; /* the output, where the logarithms alone are asked for */
    qn_array out = output_array(node, &results[logged]);
    if (!out.buffer) {
        const uint64_t *q = sources[Q].sizes;
        out = (qn_array){
            .type = sources[Q].type, .rank = RANK, .sizes = {q[0], q[1], q[2], sources[V].sizes[3]}};
        const uint64_t bytes = qn_array_count(&out) * qn_element_size(out.type);
        const qn_status status = bytes ? qn__storage_create(tensors, bytes, &unwanted) : QN_OK;
        if (status) return status;
        out.buffer = unwanted ? unwanted->buffer : NULL;
    }
    qn_attention_desc desc = {.q = sources[Q],
                              .k = sources[K],
                              .v = sources[V],
                              .out = out,
                              .scale = node->attributes.reals[0],
                              .causal = node->attributes.integers[CAUSAL] != 0};
    if (logged) desc.logs = results[0];
    if (node->num_sources > OUT) desc.mask = sources[OUT];
    const qn_status status = qn_kernels_attention(tensors->kernels, tensors->stream, &desc);
    qn__storage_release(tensors, unwanted);
    return status;
}

/* An array of the shape of `like` in the result, from element *at on. */
static qn_array piece(const qn_array *whole, const qn_array *like, uint64_t *at) {
    qn_array a = {.buffer = whole->buffer, .offset = whole->offset + *at, .type = like->type, .rank = RANK};
    memcpy(a.sizes, like->sizes, sizeof a.sizes);
    *at += qn_array_count(like);
    return a;
}

qn_status qn__attention_backward_run(qn_tensors *tensors, const qn__node *node, const qn_array *sources,
                                     const qn_array *results) {
    uint64_t at = 0;
    qn_attention_backward_desc desc = {.q = sources[Q],
                                       .k = sources[K],
                                       .v = sources[V],
                                       .out = output_array(node, &sources[OUT]),
                                       .logs = sources[LOGS],
                                       .gradient = output_array(node, &sources[GRADIENT]),
                                       .scale = node->attributes.reals[0],
                                       .causal = node->attributes.integers[CAUSAL] != 0};
    desc.to_q = piece(&results[0], &sources[Q], &at);
    desc.to_k = piece(&results[0], &sources[K], &at);
    desc.to_v = piece(&results[0], &sources[V], &at);
    if (node->num_sources > BACKWARD_SOURCES) desc.mask = sources[BACKWARD_SOURCES];
    return qn_kernels_attention_backward(tensors->kernels, tensors->stream, &desc);
}

/* ---- composed ---- */

/* Attention of heads in groups that share keys: q is batches x key heads x shared x queries x size, k and v have a size of 1 in place of `shared`. */
typedef struct problem {
    qn_tensors *tensors;
    qn_tensor *q, *k, *v, *mask; /* grouped; in the type that is computed in */
    double scale;
    bool causal;
} problem;

static qn_tensor *grouped(qn_tensor *x, uint64_t key_heads) {
    const qn_shape s = qn_tensor_shape(x);
    return qn_reshape(x, QN_SHAPE(s.sizes[0], key_heads, s.sizes[1] / key_heads, s.sizes[2], s.sizes[3]));
}

/* A mask of up to four dimensions, or of heads that are all the same. */
static qn_tensor *grouped_mask(qn_tensor *mask, uint64_t key_heads) {
    while (!mask->status && mask->node->rank < RANK) mask = qn_unsqueeze(mask, 0);
    return mask->status ? mask : grouped(mask, mask->node->sizes[1] == 1 ? 1 : key_heads);
}

static problem group(qn_tensor *q, qn_tensor *k, qn_tensor *v, qn_tensor *mask, double scale, bool causal) {
    const uint64_t heads = k->node->sizes[1];
    const qn_element type = qn__value_type((qn_element)q->node->type);
    return (problem){q->owner,
                     grouped(qn_cast(q, type), heads),
                     grouped(qn_cast(k, type), heads),
                     grouped(qn_cast(v, type), heads),
                     mask ? grouped_mask(mask, heads) : NULL,
                     scale,
                     causal};
}

/* True where a query sees a key; NULL: everywhere. */
static qn_tensor *causal_view(const problem *p) {
    if (!p->causal) return NULL;
    const qn_shape q = qn_tensor_shape(p->q), k = qn_tensor_shape(p->k);
    const double queries = (double)q.sizes[3], keys = (double)k.sizes[3];
    qn_tensor *last = qn_arange(p->tensors, QN_I64, keys - queries, keys, 1);
    return qn_less_equal(qn_arange(p->tensors, QN_I64, 0, keys, 1), qn_unsqueeze(last, 1));
}

/* The weights: a softmax of the scores, zeros where a query sees no key. */
static qn_tensor *weights_of(const problem *p) {
    qn_tensor *scores = qn_matmul(qn_multiply(p->q, p->scale), qn_transpose(p->k, -1, -2));
    qn_tensor *seen = causal_view(p);
    if (p->mask && qn_tensor_type(p->mask) == QN_BOOL)
        seen = seen ? qn_logical_and(seen, p->mask) : p->mask;
    else if (p->mask)
        scores = qn_add(scores, p->mask);
    if (seen) scores = qn_where(seen, scores, -INFINITY);
    qn_tensor *top = qn_detach(qn_max(scores, QN_AXES(-1), true));
    qn_tensor *powers = qn_exp(qn_subtract(scores, qn_where(qn_equal(top, -INFINITY), 0, top)));
    qn_tensor *sums = qn_sum(powers, QN_AXES(-1), true);
    return qn_divide(powers, qn_where(qn_equal(sums, 0), 1, sums));
}

static qn_tensor *drop(qn_tensor *weights, double probability) {
    if (probability <= 0 || weights->status) return weights;
    qn_tensor *numbers = qn_rand(weights->owner, QN_F32, qn_tensor_shape(weights));
    return qn_where(qn_less(numbers, probability), 0,
                    qn_multiply(weights, probability < 1 ? 1 / (1 - probability) : 0));
}

/* With batches, heads, length and size again. */
static qn_tensor *ungrouped(qn_tensor *x, qn_element type) { return qn_cast(qn_flatten(x, 1, 2), type); }

static qn_tensor *compose(qn_tensor *q, qn_tensor *k, qn_tensor *v, qn_tensor *mask,
                          const qn_tensor_attention_desc *d) {
    const problem p = group(q, k, v, mask, d->scale, d->causal);
    qn_tensor *weights = drop(weights_of(&p), d->dropout);
    return ungrouped(qn_matmul(weights, p.v), (qn_element)q->node->type);
}

/* ---- gradients ---- */

/* A call's node with the attributes of another. */
static qn_tensor *call(const qn__node *like, qn__op op, qn_element type, uint32_t rank, const uint64_t *sizes,
                       qn__node *const *sources, uint32_t count) {
    qn__node *node = qn__call_node(like->owner, op, type, rank, sizes, sources, count);
    if (node) node->attributes = like->attributes;
    return qn__handle(like->owner, node);
}

/* The piece of a row of numbers from element *at on that is for `like`. */
static qn_tensor *cut(qn_tensor *row, const qn__node *like, uint64_t *at) {
    qn_shape shape = {.rank = like->rank};
    memcpy(shape.sizes, like->sizes, sizeof shape.sizes);
    const int64_t begin = (int64_t)*at, end = begin + (int64_t)qn__node_count(like);
    *at = (uint64_t)end;
    return qn_reshape(qn_slice(row, 0, begin, end, 1), shape);
}

/* The gradient is by the output, which is the only part. */
void qn__attention_gradient(qn__backward *b) {
    const qn__node *n = b->node;
    qn_tensor *g = b->gradient;
    if (g->status) {
        b->given[Q] = g;
        return;
    }
    uint64_t count = 0, at = 0;
    for (uint32_t i = Q; i <= V; i++) count += qn__node_count(n->sources[i]);
    qn__node *out = qn__part_node(b->value->node, 1, (qn_element)g->node->type, RANK, g->node->sizes);
    if (!out) return;
    qn__node *sources[BACKWARD_SOURCES + 1] = {n->sources[Q],  n->sources[K], n->sources[V], out,
                                               b->value->node, g->node,       NULL};
    if (n->num_sources > OUT) sources[BACKWARD_SOURCES] = n->sources[OUT];
    qn_tensor *row = call(n, QN__OP_ATTENTION_BACKWARD, (qn_element)g->node->type, 1, &count, sources,
                          BACKWARD_SOURCES + (n->num_sources > OUT));
    qn__node_release(out);
    for (uint32_t i = Q; i <= V; i++) b->given[i] = cut(row, n->sources[i], &at);
}

static qn_tensor *row_sum(qn_tensor *x) { return qn_sum(x, QN_AXES(-1), true); }
static qn_tensor *turned(qn_tensor *x) { return qn_transpose(x, -1, -2); }
/* Of keys, that a group's queries share. */
static qn_tensor *of_keys(qn_tensor *x) { return qn_sum(x, QN_AXES(2), true); }

/* With weights P of scores S, dP = G V', dS = P (dP - rows(P dP)), the call gives scale dS K, scale dS' Q and P' G. The gradient
   of those, given a, b and e by them, is found by going back through these lines; rows() are sums of rows. */
void qn__attention_backward_gradient(qn__backward *w) {
    const qn__node *n = w->node;
    const qn_element type = (qn_element)n->type;
    uint64_t at = 0;
    qn_tensor *mask = n->num_sources > BACKWARD_SOURCES ? w->sources[BACKWARD_SOURCES] : NULL;
    const problem p = group(w->sources[Q], w->sources[K], w->sources[V], mask, n->attributes.reals[0],
                            n->attributes.integers[CAUSAL] != 0);
    const uint64_t heads = n->sources[K]->sizes[1];
    const qn_element wide = qn__value_type(type);
    qn_tensor *by[3];
    for (uint32_t i = 0; i < 3; i++)
        by[i] = grouped(qn_cast(cut(w->gradient, n->sources[i], &at), wide), heads);
    qn_tensor *g = grouped(qn_cast(output_tensor(n, w->sources[GRADIENT]), wide), heads);
    qn_tensor *P = weights_of(&p), *dP = qn_matmul(g, turned(p.v));
    qn_tensor *rest = qn_subtract(dP, row_sum(qn_multiply(P, dP))), *dS = qn_multiply(P, rest);
    qn_tensor *by_dS =
        qn_multiply(qn_add(qn_matmul(by[0], turned(p.k)), qn_matmul(p.q, turned(by[1]))), p.scale);
    qn_tensor *share = row_sum(qn_multiply(P, by_dS));
    qn_tensor *by_dP = qn_multiply(P, qn_subtract(by_dS, share));
    qn_tensor *by_P =
        qn_add(qn_subtract(qn_multiply(by_dS, rest), qn_multiply(share, dP)), qn_matmul(g, turned(by[2])));
    qn_tensor *by_S = qn_multiply(P, qn_subtract(by_P, row_sum(qn_multiply(P, by_P))));
    qn_tensor *to_q = qn_add(qn_matmul(by_S, p.k), qn_matmul(dS, by[1]));
    qn_tensor *to_k = qn_add(qn_matmul(turned(by_S), p.q), qn_matmul(turned(dS), by[0]));
    w->given[Q] = ungrouped(qn_multiply(to_q, p.scale), type);
    w->given[K] = ungrouped(of_keys(qn_multiply(to_k, p.scale)), type);
    w->given[V] = ungrouped(of_keys(qn_matmul(turned(by_dP), g)), type);
    w->given[GRADIENT] =
        output_tensor(n, ungrouped(qn_add(qn_matmul(by_dP, p.v), qn_matmul(P, by[2])), type));
}

/* ---- what is asked for ---- */

static qn_tensor *refuse(qn_tensors *tensors, const char *what, const qn__node *const *x) {
    return qn__failed(tensors, "qn_attention", QN_ERROR_ARGUMENT, "q %s, k %s, v %s: %s",
                      qn__describe(x[Q]).text, qn__describe(x[K]).text, qn__describe(x[V]).text, what);
}

static qn_tensor *check(qn_tensors *tensors, const qn__node *const *x) {
    const uint32_t rank = x[Q]->rank;
    if (rank < 2 || rank > RANK || x[K]->rank != rank || x[V]->rank != rank)
        return refuse(tensors, "all have the same two to four dimensions", x);
    const uint64_t *q = x[Q]->sizes, *k = x[K]->sizes, *v = x[V]->sizes;
    if (q[rank - 1] != k[rank - 1] || k[rank - 2] != v[rank - 2])
        return refuse(tensors, "q and k have the same size, k and v the same length", x);
    for (uint32_t d = 0; d + 2 < rank; d++) {
        const bool is_head = d == 1;
        if (k[d] != v[d] || (is_head ? !k[d] || q[d] % k[d] : q[d] != k[d]))
            return refuse(tensors, "batches are the same, and heads of q a multiple of those of k and v", x);
    }
    qn_element type = qn__common_type((qn_element)x[Q]->type, (qn_element)x[K]->type);
    if (type != QN_ELEMENT_COUNT) type = qn__common_type(type, (qn_element)x[V]->type);
    return type == QN_ELEMENT_COUNT || !qn__is_float(type) ? refuse(tensors, "it is of floats", x) : NULL;
}

/* With batches and heads, where there are none. */
static qn_tensor *whole(qn_tensor *x) {
    if (!x->status && x->node->rank == 2) x = qn_unsqueeze(x, 0);
    return !x->status && x->node->rank == 3 ? qn_unsqueeze(x, 1) : x;
}

/* NULL: there is none. A failed tensor: it does not fit. */
static qn_tensor *fit_mask(qn_tensors *tensors, qn_tensor *mask, const qn__node *q, const qn__node *k,
                           uint32_t rank) {
    if (!mask) return NULL;
    const qn__node *given = mask->node;
    const qn_element type = (qn_element)given->type;
    const uint64_t wanted[RANK] = {q->sizes[0], q->sizes[1], q->sizes[2], k->sizes[2]};
    if (rank == 3 && given->rank == 3) mask = qn_unsqueeze(mask, 1);
    bool fits = !mask->status && given->rank <= rank && (type == QN_BOOL || qn__is_float(type));
    for (uint32_t back = 1; fits && back <= mask->node->rank; back++) {
        const uint64_t size = mask->node->sizes[mask->node->rank - back];
        fits = size == 1 || size == wanted[RANK - back];
    }
    if (fits) return type == QN_F64 && q->type != QN_F64 ? qn_cast(mask, QN_F32) : mask;
    return qn__failed(tensors, "qn_attention", QN_ERROR_ARGUMENT,
                      "the mask %s is neither bool nor float, or is not broadcast to %s",
                      qn__describe(given).text, qn__shape_of(RANK, wanted).text);
}

static bool is_tracked(const qn_tensor *x) { return x->node->needs_gradient && !x->owner->no_gradient; }

/* Whether the queries of a row's heads lie together, as those that one product has made do: the output does, too, for the next one. */
static bool lies_by_rows(qn__node *q) {
    const qn_array a = qn__call_source(q).array;
    return a.sizes[1] > 1 && a.sizes[2] > 1 && a.strides[1] > 0 && a.strides[1] < a.strides[2];
}

static qn_tensor *by_kernel(qn_tensor *const *x, qn_tensor *mask, const qn_tensor_attention_desc *d) {
    qn__node *const sources[] = {x[Q]->node, x[K]->node, x[V]->node, mask ? mask->node : NULL};
    const bool logged = is_tracked(x[Q]) || is_tracked(x[K]) || is_tracked(x[V]);
    const qn__node *q = x[Q]->node;
    const qn_element type = (qn_element)q->type;
    const bool by_rows = lies_by_rows(x[Q]->node);
    const uint64_t sizes[RANK] = {q->sizes[0], q->sizes[by_rows ? 2 : 1], q->sizes[by_rows ? 1 : 2],
                                  x[V]->node->sizes[3]};
    /* The logarithms have heads first. */
    const uint64_t log_sizes[] = {q->sizes[0], q->sizes[1], q->sizes[2]};
    qn__node *node = qn__call_node(q->owner, QN__OP_ATTENTION, logged ? qn__value_type(type) : type,
                                   logged ? 3 : RANK, logged ? log_sizes : sizes, sources, mask ? 4 : 3);
    if (node) {
        node->attributes.integers[BY_ROWS] = by_rows;
        node->attributes.integers[CAUSAL] = d->causal;
        node->attributes.integers[LOGGED] = logged;
        node->attributes.reals[0] = d->scale;
    }
    qn__node *out = node && logged ? qn__part_node(node, 1, type, RANK, sizes) : node;
    if (out != node) qn__node_release(node);
    qn_tensor *y = qn__handle(q->owner, out);
    return by_rows && !y->status ? qn_permute(y, QN_AXES(0, 2, 1, 3)) : y;
}

/* The first failed one; NULL: none. */
static qn_tensor *failed_one(qn_tensor *const *x, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (x[i] && x[i]->status) return x[i];
    return NULL;
}

qn_tensor *qn_attention(qn_tensor *q, qn_tensor *k, qn_tensor *v, const qn_tensor_attention_desc *desc) {
    qn_tensors *tensors;
    qn_tensor_attention_desc d = desc ? *desc : (qn_tensor_attention_desc){.scale = 0};
    qn_tensor *wrong = qn__refuse("qn_attention", (qn_tensor *[]){q, k, v, d.mask}, d.mask ? 4 : 3, &tensors);
    if (!wrong) wrong = check(tensors, (const qn__node *[]){q->node, k->node, v->node});
    if (wrong) return wrong;
    const uint32_t rank = q->node->rank;
    const qn_element type = qn__common_type(
        qn__common_type((qn_element)q->node->type, (qn_element)k->node->type), (qn_element)v->node->type);
    qn_tensor *x[] = {whole(qn_cast(q, type)), whole(qn_cast(k, type)), whole(qn_cast(v, type)), NULL};
    if (!failed_one(x, 3)) x[3] = fit_mask(tensors, d.mask, x[Q]->node, x[K]->node, rank);
    wrong = failed_one(x, 4);
    if (wrong) return wrong;
    const uint64_t size = x[Q]->node->sizes[3], value_size = x[V]->node->sizes[3];
    if (d.scale == 0 && size) d.scale = 1 / sqrt((double)size);
    const bool has_kernel = size && size <= MOST_SIZE && value_size && value_size <= MOST_SIZE &&
                            d.dropout <= 0 && !(x[3] && is_tracked(x[3]));
    qn_tensor *y = has_kernel ? by_kernel(x, x[3], &d) : compose(x[Q], x[K], x[V], x[3], &d);
    if (rank < RANK) y = qn_squeeze(y, QN_AXES(1));
    return rank == 2 ? qn_squeeze(y, QN_AXES(0)) : y;
}
