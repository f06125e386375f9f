/* Reductions, and what is composed of them: the scheduler makes one kernel of the whole. */
#include <math.h>
#include <string.h>

#include "tensor/plan.h"

/* ---- long reductions to few results: in pieces, side by side, which are reduced then ---- */

enum {
    GROUPS_A_UNIT = 8, /* pieces that keep a compute unit busy */
    WORTH = 8192,      /* elements that a piece should have */
    ACROSS = 32,       /* neighbouring results that one work-group makes */
    LEAST_ACROSS = 4   /* pieces of these: fewer are done as fast at once */
};

/* Whether the last dimension stays, so that neighbours in memory are of different results. */
static bool lies_across(const qn__node *node, uint32_t bits) {
    for (uint32_t d = node->rank; d-- > 0;)
        if (node->sizes[d] != 1) return !(bits >> d & 1);
    return false;
}

/* How many pieces are worth it; 1: none. */
static uint64_t count_pieces(const qn__node *node, uint32_t bits) {
    uint64_t results = 1, elements = 1;
    for (uint32_t d = 0; d < node->rank; d++) *(bits >> d & 1 ? &elements : &results) *= node->sizes[d];
    const qn_device_info *info = &node->owner->info;
    const uint64_t wanted = (uint64_t)(info->compute_units ? info->compute_units : 1) * GROUPS_A_UNIT;
    const bool across = lies_across(node, bits);
    const uint64_t groups = across ? (results + ACROSS - 1) / ACROSS : results;
    const uint64_t worth = across ? WORTH / ACROSS : WORTH;
    const uint64_t most = elements / worth, least = across ? LEAST_ACROSS : 2;
    if (!groups || groups * 2 > wanted || most < least) return 1;
    return wanted / groups < most ? wanted / groups : most;
}

/* The dimension to cut, and the divisor of its size next to the wanted number. */
static uint64_t choose_cut(const qn__node *node, uint32_t bits, uint64_t pieces, uint32_t *dimension) {
    uint64_t best = 1;
    for (uint32_t d = 0; d < node->rank; d++) {
        if (!(bits >> d & 1)) continue;
        for (uint64_t p = pieces; p > best && p > pieces / 8; p--)
            if (node->sizes[d] % p == 0) {
                best = p;
                *dimension = d;
            }
    }
    return best;
}

/* The node with dimension d cut in two, the outer one of `pieces`. */
static qn__node *cut(qn__node *node, uint32_t d, uint64_t pieces) {
    uint64_t sizes[QN_MAX_RANK];
    for (uint32_t i = 0, at = 0; i < node->rank; i++) {
        if (i == d) sizes[at++] = pieces;
        sizes[at++] = i == d ? node->sizes[d] / pieces : node->sizes[i];
    }
    return qn__reshape_node(node, node->rank + 1u, sizes);
}

/* The first dimension of which each index can have pieces of its own, before one to cut; QN__NONE: there is none. */
static uint32_t choose_whole(const qn__node *node, uint32_t bits, uint64_t pieces) {
    for (uint32_t d = 0; d < node->rank; d++)
        if ((bits >> d & 1) && node->sizes[d] > 1 && node->sizes[d] <= pieces && bits >> (d + 1)) return d;
    return QN__NONE;
}

/* Reduces pieces of what is to be reduced; what is left has one size of more than 1, or two. NULL: not worth it, or without memory. */
static qn__node *reduce_pieces(qn__node *node, qn__op op, uint32_t bits) {
    uint32_t d = 0, whole = QN__NONE;
    const uint64_t pieces = count_pieces(node, bits);
    if (pieces == 1 || node->rank == QN_MAX_RANK) return NULL;
    uint64_t p = choose_cut(node, bits, pieces, &d);
    const uint32_t other = p * 2 < pieces ? choose_whole(node, bits, pieces) : QN__NONE;
    if (other != QN__NONE) {
        uint32_t inside = other;
        const uint64_t rest = choose_cut(node, bits & ~(1u << other), pieces / node->sizes[other], &inside);
        if (rest * node->sizes[other] > p) {
            whole = other;
            d = inside;
            p = rest;
        }
    }
    if (p == 1 && whole == QN__NONE) return NULL;
    const uint32_t inner = whole == QN__NONE ? bits : bits & ~(1u << whole);
    uint64_t sizes[QN_MAX_RANK];
    for (uint32_t i = 0; i < node->rank; i++)
        sizes[i] = i == whole ? node->sizes[i] : i == d ? p : bits >> i & 1 ? 1 : node->sizes[i];
    qn__node_retain(node);
    if (d == whole) return qn__reduce_node(node, op, inner, true);
    const uint32_t below = inner & ((2u << d) - 1), above = inner & ~((1u << d) - 1);
    /* The cut dimension is d + 1 now, those behind it moved on; d is the pieces', which stays. */
    qn__node *parts = qn__reduce_node(cut(node, d, p), op, (below & ~(1u << d)) | above << 1, true);
    return qn__reshape_node(parts, node->rank, sizes);
}

/* Of a view of channels that lie together: what it shows is reduced. */
static qn__node *reduce_below(qn__node *node, qn__op op, uint32_t bits, bool keep) {
    qn__node *below = qn__channels_below(node);
    uint64_t left[QN_MAX_RANK];
    uint32_t rank = 0;
    for (uint32_t d = 0; d < node->rank; d++)
        if (!(bits >> d & 1)) left[rank++] = node->sizes[d];
    qn__node_retain(below);
    qn__node_release(node);
    qn__node *made = qn__channels_view(qn__reduce_node(below, op, qn__channels_axes(bits), true));
    return keep ? made : qn__reshape_node(made, rank, left);
}

/* The reduction of a node, whose count passes over, along the axes in `bits`. */
qn__node *qn__reduce_node(qn__node *node, qn__op op, uint32_t bits, bool keep) {
    if (!node) return NULL;
    if (qn__channels_below(node)) return reduce_below(node, op, bits, keep);
    uint64_t kept[QN_MAX_RANK], left[QN_MAX_RANK];
    uint32_t rank = 0;
    for (uint32_t d = 0; d < node->rank; d++) {
        const bool reduced = bits >> d & 1;
        kept[d] = reduced ? 1 : node->sizes[d];
        if (!reduced) left[rank++] = node->sizes[d];
    }
    qn__node *made = node;
    uint64_t elements = 1;
    for (uint32_t d = 0; d < node->rank; d++)
        if (bits >> d & 1) elements *= node->sizes[d];
    if (elements == 0) {
        const bool one = op == QN__OP_PRODUCT || op == QN__OP_ALL;
        const qn_operand start = {QN_OPERAND_UNSIGNED, {.u = one}};
        made =
            qn__expand_node(qn__number_node(node->owner, (qn_element)node->type, &start), node->rank, kept);
        qn__node_release(node);
    } else if (elements != 1) {
        qn__node *parts = reduce_pieces(node, op, bits);
        if (parts) {
            qn__node_release(node);
            return qn__reduce_node(parts, op, bits, keep);
        }
        made = qn__node_make(node->owner, op, (qn_element)node->type, node->rank, kept);
        if (made) {
            made->attributes.axes = bits;
            qn__node_add_source(made, node);
        }
        qn__node_release(node);
    }
    return keep ? made : qn__reshape_node(made, rank, left);
}

/* What sums and products of a type are taken in. */
static qn_element wide(qn_element type) {
    if (qn__is_float(type)) return type;
    return qn__element_of(type)->class == QN__UNSIGNED && type != QN_BOOL ? QN_U64 : QN_I64;
}

static qn_tensor *reduce(const char *function, qn__op op, qn_tensor *x, const qn_axes *axes, bool keep) {
    qn_tensors *tensors;
    uint32_t bits;
    qn_tensor *wrong = qn__refuse(function, &x, 1, &tensors);
    if (!wrong) wrong = qn__axes(tensors, function, x->node, axes, &bits);
    if (wrong) return wrong;
    qn__node *node = x->node;
    const qn_element own = (qn_element)node->type;
    const bool needs_one = op == QN__OP_MAX || op == QN__OP_MIN;
    for (uint32_t d = 0; needs_one && d < node->rank; d++)
        if ((bits >> d & 1) && !node->sizes[d])
            return qn__failed(tensors, function, QN_ERROR_ARGUMENT, "%s has no elements along axis %u",
                              qn__describe(node).text, (unsigned)d);
    qn__node_retain(node);
    node = qn__cast_node(node, needs_one ? own : op == QN__OP_ANY || op == QN__OP_ALL ? QN_BOOL : wide(own));
    return qn__handle(tensors, qn__reduce_node(node, op, bits, keep));
}

qn_tensor *qn_sum(qn_tensor *x, qn_axes axes, bool keep) {
    return reduce("qn_sum", QN__OP_SUM, x, &axes, keep);
}
qn_tensor *qn_product(qn_tensor *x, qn_axes axes, bool keep) {
    return reduce("qn_product", QN__OP_PRODUCT, x, &axes, keep);
}
qn_tensor *qn_max(qn_tensor *x, qn_axes axes, bool keep) {
    return reduce("qn_max", QN__OP_MAX, x, &axes, keep);
}
qn_tensor *qn_min(qn_tensor *x, qn_axes axes, bool keep) {
    return reduce("qn_min", QN__OP_MIN, x, &axes, keep);
}
qn_tensor *qn_any(qn_tensor *x, qn_axes axes, bool keep) {
    return reduce("qn_any", QN__OP_ANY, x, &axes, keep);
}
qn_tensor *qn_all(qn_tensor *x, qn_axes axes, bool keep) {
    return reduce("qn_all", QN__OP_ALL, x, &axes, keep);
}

qn_tensor *qn_count_nonzero(qn_tensor *x, qn_axes axes, bool keep) {
    qn_tensors *tensors;
    qn_tensor *wrong = qn__refuse("qn_count_nonzero", &x, 1, &tensors);
    return wrong ? wrong : reduce("qn_count_nonzero", QN__OP_SUM, qn_not_equal(x, 0), &axes, keep);
}

/* How many elements become one. */
static double reduced_count(const qn_tensor *x, const qn_tensor *result) {
    double count = 1;
    for (uint32_t d = 0; d < x->node->rank; d++) count *= (double)x->node->sizes[d];
    for (uint32_t d = 0; d < result->node->rank; d++)
        count = result->node->sizes[d] ? count / (double)result->node->sizes[d] : count;
    return count;
}

static qn_tensor *as_float(qn_tensor *x) {
    return !x || qn_tensor_status(x) || qn__is_float(qn_tensor_type(x)) ? x : qn_cast(x, QN_F32);
}

qn_tensor *qn_mean(qn_tensor *x, qn_axes axes, bool keep) {
    x = as_float(x);
    qn_tensor *sum = reduce("qn_mean", QN__OP_SUM, x, &axes, keep);
    return sum->status ? sum : qn_divide(sum, reduced_count(x, sum));
}

qn_tensor *qn_variance(qn_tensor *x, qn_axes axes, double correction, bool keep) {
    x = as_float(x);
    qn_tensor *mean = qn_mean(x, axes, true);
    qn_tensor *sum = reduce("qn_variance", QN__OP_SUM, qn_square(qn_subtract(x, mean)), &axes, keep);
    if (sum->status) return sum;
    const double count = reduced_count(x, sum) - correction;
    return qn_divide(sum, count > 0 ? count : 0);
}

qn_tensor *qn_deviation(qn_tensor *x, qn_axes axes, double correction, bool keep) {
    return qn_sqrt(qn_variance(x, axes, correction, keep));
}

qn_tensor *qn_norm(qn_tensor *x, qn_axes axes, bool keep) {
    return qn_sqrt(reduce("qn_norm", QN__OP_SUM, qn_square(as_float(x)), &axes, keep));
}

/* The largest, which exponents are taken beside. Results do not depend on it, and so it has no gradient. */
static qn_tensor *largest(const char *function, qn_tensor *x, const qn_axes *axes) {
    return qn_detach(reduce(function, QN__OP_MAX, x, axes, true));
}

/* 0 where that is not finite. */
static qn_tensor *base_of(qn_tensor *x, const qn_axes *axes) {
    qn_tensor *most = largest("qn_log_sum_exp", x, axes);
    return qn_where(qn_is_inf(most), 0, most);
}

/* Without the axes, or as it is. */
static qn_tensor *leave(qn_tensor *x, const qn_axes *axes, bool keep) {
    if (x->status || keep) return x;
    qn_axes all = *axes;
    if (!axes->count)
        for (uint32_t d = 0; d < x->node->rank; d++) all.axes[all.count++] = (int32_t)d;
    return all.count ? qn_squeeze(x, all) : x;
}

qn_tensor *qn_log_sum_exp(qn_tensor *x, qn_axes axes, bool keep) {
    x = as_float(x);
    qn_tensor *base = base_of(x, &axes);
    qn_tensor *sum = qn_sum(qn_exp(qn_subtract(x, base)), axes, true);
    return leave(qn_add(base, qn_log(sum)), &axes, keep);
}

qn_tensor *qn_softmax(qn_tensor *x, int32_t axis) {
    const qn_axes axes = {1, {axis}};
    x = as_float(x);
    qn_tensor *power = qn_exp(qn_subtract(x, largest("qn_softmax", x, &axes)));
    return qn_multiply(power, qn_reciprocal(qn_sum(power, axes, true)));
}

qn_tensor *qn_log_softmax(qn_tensor *x, int32_t axis) {
    const qn_axes axes = {1, {axis}};
    x = as_float(x);
    qn_tensor *rest = qn_subtract(x, largest("qn_log_softmax", x, &axes));
    return qn_subtract(rest, qn_log(qn_sum(qn_exp(rest), axes, true)));
}

/* The least of the places that have the extreme: the first. */
static qn_tensor *place_of(const char *function, qn__op op, qn_tensor *x, int32_t axis, bool keep) {
    const qn_axes axes = {1, {axis}};
    qn_tensor *extreme = reduce(function, op, x, &axes, true);
    if (extreme->status) return extreme;
    uint32_t d;
    qn_tensors *tensors = x->owner;
    qn__axis(axis, x->node->rank, &d);
    qn_tensor *place = qn__handle(tensors, qn__index_node(tensors, x->node->rank, x->node->sizes, d));
    qn_tensor *is_there = qn_equal(x, extreme);
    if (qn__is_float((qn_element)x->node->type)) is_there = qn_logical_or(is_there, qn_is_nan(x));
    qn_tensor *others = qn_where(is_there, place, (int64_t)x->node->sizes[d]);
    return reduce(function, QN__OP_MIN, others, &axes, keep);
}

qn_tensor *qn_argmax(qn_tensor *x, int32_t axis, bool keep) {
    return place_of("qn_argmax", QN__OP_MAX, x, axis, keep);
}
qn_tensor *qn_argmin(qn_tensor *x, int32_t axis, bool keep) {
    return place_of("qn_argmin", QN__OP_MIN, x, axis, keep);
}
