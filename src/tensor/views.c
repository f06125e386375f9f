/* Views: the same elements in other places. Each is one of a few ops that the scheduler folds into index arithmetic: reshape, permute,
   broadcast, slice (also backwards) and pad. */
#include <string.h>

#include "tensor/graph.h"

bool qn__axis(int32_t axis, uint32_t rank, uint32_t *place) {
    const int64_t at = axis < 0 ? (int64_t)axis + rank : axis;
    *place = (uint32_t)at;
    return at >= 0 && at < rank;
}

static qn_tensor *wrong_axis(qn_tensors *tensors, const char *function, const qn__node *node, int32_t axis) {
    return qn__failed(tensors, function, QN_ERROR_ARGUMENT, "%s has no axis %d", qn__describe(node).text,
                      (int)axis);
}

qn_tensor *qn__axes(qn_tensors *tensors, const char *function, const qn__node *node, const qn_axes *axes,
                    uint32_t *bits) {
    *bits = 0;
    if (axes->count > QN_MAX_RANK)
        return qn__failed(tensors, function, QN_ERROR_ARGUMENT, "%u axes; at most %u", (unsigned)axes->count,
                          (unsigned)QN_MAX_RANK);
    if (!axes->count) *bits = (1u << node->rank) - 1;
    for (uint32_t i = 0; i < axes->count; i++) {
        uint32_t d;
        if (!qn__axis(axes->axes[i], node->rank, &d))
            return wrong_axis(tensors, function, node, axes->axes[i]);
        if (*bits >> d & 1)
            return qn__failed(tensors, function, QN_ERROR_ARGUMENT, "axis %d is named twice",
                              (int)axes->axes[i]);
        *bits |= 1u << d;
    }
    return NULL;
}

/* A view of the node, whose count passes over; NULL without memory. */
static qn__node *view(qn__node *node, qn__op op, uint32_t rank, const uint64_t *sizes) {
    if (!node) return NULL;
    qn__node *made = qn__node_make(node->owner, op, (qn_element)node->type, rank, sizes);
    if (made) qn__node_add_source(made, node);
    qn__node_release(node);
    return made;
}

static bool same_sizes(const qn__node *node, uint32_t rank, const uint64_t *sizes) {
    return node->rank == rank && memcmp(node->sizes, sizes, rank * sizeof *sizes) == 0;
}

qn__node *qn__expand_node(qn__node *node, uint32_t rank, const uint64_t *sizes) {
    return !node || same_sizes(node, rank, sizes) ? node : view(node, QN__OP_EXPAND, rank, sizes);
}

qn__node *qn__reshape_node(qn__node *node, uint32_t rank, const uint64_t *sizes) {
    return !node || same_sizes(node, rank, sizes) ? node : view(node, QN__OP_RESHAPE, rank, sizes);
}

/* Begins a view function: the node of `x`, counted, or a failure. */
static qn_tensor *begin(const char *function, qn_tensor *x, qn_tensors **tensors, qn__node **node) {
    qn_tensor *wrong = qn__refuse(function, &x, 1, tensors);
    if (wrong) return wrong;
    *node = x->node;
    return NULL;
}

qn_tensor *qn_reshape(qn_tensor *x, qn_shape shape) {
    qn_tensors *tensors;
    qn__node *node;
    qn_tensor *wrong = begin("qn_reshape", x, &tensors, &node);
    if (wrong) return wrong;
    uint64_t known = 1, *rest = NULL;
    bool fits = shape.rank <= QN_MAX_RANK, several = false;
    for (uint32_t d = 0; fits && d < shape.rank; d++) {
        const bool is_rest = shape.sizes[d] == QN_REST;
        several = several || (is_rest && rest);
        if (is_rest)
            rest = &shape.sizes[d];
        else
            fits = !shape.sizes[d] || known <= UINT64_MAX / shape.sizes[d];
        if (!is_rest && fits) known *= shape.sizes[d];
    }
    const uint64_t count = qn__node_count(node);
    if (fits && rest && !several && known && count % known == 0) known *= *rest = count / known;
    if (!fits || several || known != count || (rest && *rest == QN_REST))
        return qn__failed(
            tensors, "qn_reshape", QN_ERROR_ARGUMENT, "%s does not fit %s", qn__describe(node).text,
            several ? "a shape with several QN_REST" : qn__shape_of(fits ? shape.rank : 0, shape.sizes).text);
    qn__node_retain(node);
    return qn__handle(tensors, qn__reshape_node(node, shape.rank, shape.sizes));
}

bool qn__view_is_clear(const qn__node *view) {
    return !view->realised && !view->is_leaf && (view->needs_gradient || !view->sources[0]->needs_gradient);
}

/* Whether it is a view of something in another order, and this order is that one's own again. */
static bool turns_back(const qn__node *node, const uint32_t *order) {
    if (node->op != QN__OP_PERMUTE || !qn__view_is_clear(node)) return false;
    if (node->owner->no_gradient && node->sources[0]->needs_gradient) return false; /* the view has none */
    for (uint32_t d = 0; d < node->rank; d++)
        if (node->attributes.order[order[d]] != d) return false;
    return true;
}

static qn_tensor *permute(qn_tensors *tensors, qn__node *node, const uint32_t *order) {
    uint64_t sizes[QN_MAX_RANK];
    if (turns_back(node, order)) {
        qn__node_retain(node->sources[0]);
        return qn__handle(tensors, node->sources[0]);
    }
    for (uint32_t d = 0; d < node->rank; d++) sizes[d] = node->sizes[order[d]];
    qn__node_retain(node);
    qn__node *made = view(node, QN__OP_PERMUTE, node->rank, sizes);
    for (uint32_t d = 0; made && d < made->rank && d < QN_MAX_RANK; d++)
        made->attributes.order[d] = (uint8_t)order[d];
    return qn__handle(tensors, made);
}

qn_tensor *qn_permute(qn_tensor *x, qn_axes axes) {
    qn_tensors *tensors;
    qn__node *node;
    uint32_t bits, order[QN_MAX_RANK];
    qn_tensor *wrong = begin("qn_permute", x, &tensors, &node);
    if (!wrong) wrong = qn__axes(tensors, "qn_permute", node, &axes, &bits);
    if (wrong) return wrong;
    if (axes.count != node->rank)
        return qn__failed(tensors, "qn_permute", QN_ERROR_ARGUMENT, "%u axes for %s", (unsigned)axes.count,
                          qn__describe(node).text);
    for (uint32_t d = 0; d < node->rank; d++) qn__axis(axes.axes[d], node->rank, &order[d]);
    return permute(tensors, node, order);
}

qn_tensor *qn_transpose(qn_tensor *x, int32_t axis, int32_t other) {
    qn_tensors *tensors;
    qn__node *node;
    uint32_t a, b, order[QN_MAX_RANK];
    qn_tensor *wrong = begin("qn_transpose", x, &tensors, &node);
    if (wrong) return wrong;
    if (!qn__axis(axis, node->rank, &a)) return wrong_axis(tensors, "qn_transpose", node, axis);
    if (!qn__axis(other, node->rank, &b)) return wrong_axis(tensors, "qn_transpose", node, other);
    for (uint32_t d = 0; d < node->rank; d++) order[d] = d == a ? b : d == b ? a : d;
    return permute(tensors, node, order);
}

qn_tensor *qn_broadcast_to(qn_tensor *x, qn_shape shape) {
    qn_tensors *tensors;
    qn__node *node;
    qn_tensor *wrong = begin("qn_broadcast_to", x, &tensors, &node);
    if (wrong) return wrong;
    bool fits = shape.rank <= QN_MAX_RANK && shape.rank >= node->rank;
    for (uint32_t d = 0; fits && d < node->rank; d++)
        fits = node->sizes[d] == 1 || node->sizes[d] == shape.sizes[shape.rank - node->rank + d];
    if (!fits)
        return qn__failed(tensors, "qn_broadcast_to", QN_ERROR_ARGUMENT, "%s cannot be broadcast to %s",
                          qn__describe(node).text,
                          shape.rank <= QN_MAX_RANK ? qn__shape_of(shape.rank, shape.sizes).text
                                                    : "so many dimensions");
    qn__node_retain(node);
    return qn__handle(tensors, qn__expand_node(node, shape.rank, shape.sizes));
}

/* `count` elements from `from` on, `step` apart, along dimension d; the node's count passes over. */
qn__node *qn__slice_node(qn__node *node, uint32_t d, int64_t from, int64_t step, uint64_t count) {
    if (!node || (from == 0 && step == 1 && count == node->sizes[d])) return node;
    uint64_t sizes[QN_MAX_RANK];
    memcpy(sizes, node->sizes, sizeof sizes);
    sizes[d] = count;
    qn__node *made = view(node, QN__OP_SLICE, node->rank, sizes);
    if (made) made->attributes = (qn__attributes){.axis = d, .begin = from, .step = step};
    return made;
}

static int64_t limited(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value > high ? high : value;
}

qn_tensor *qn_slice(qn_tensor *x, int32_t axis, int64_t first, int64_t end, int64_t step) {
    qn_tensors *tensors;
    qn__node *node;
    uint32_t d;
    qn_tensor *wrong = begin("qn_slice", x, &tensors, &node);
    if (wrong) return wrong;
    if (!qn__axis(axis, node->rank, &d)) return wrong_axis(tensors, "qn_slice", node, axis);
    if (step == 0 || step == INT64_MIN)
        return qn__failed(tensors, "qn_slice", QN_ERROR_ARGUMENT, "a step of %lld", (long long)step);
    const int64_t size = (int64_t)node->sizes[d], low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
    const int64_t from = limited(first < 0 && first != INT64_MIN ? first + size : first, low, high);
    const int64_t to = end == QN_END ? (step > 0 ? size : -1)
                                     : limited(end < 0 && end != INT64_MIN ? end + size : end, low, high);
    const int64_t length = step > 0 ? to - from : from - to, stride = step > 0 ? step : -step;
    const uint64_t count = length > 0 ? (uint64_t)((length - 1) / stride) + 1 : 0;
    qn__node_retain(node);
    return qn__handle(tensors, qn__slice_node(node, d, count ? from : 0, step, count));
}

qn_tensor *qn_flip(qn_tensor *x, qn_axes axes) {
    qn_tensors *tensors;
    qn__node *node;
    uint32_t bits;
    qn_tensor *wrong = begin("qn_flip", x, &tensors, &node);
    if (!wrong) wrong = qn__axes(tensors, "qn_flip", node, &axes, &bits);
    if (wrong) return wrong;
    qn__node_retain(node);
    for (uint32_t d = 0; node && d < node->rank; d++)
        if ((bits >> d & 1) && node->sizes[d] > 1)
            node = qn__slice_node(node, d, (int64_t)node->sizes[d] - 1, -1, node->sizes[d]);
    return qn__handle(tensors, node);
}

/* Takes over the counts of both. */
qn__node *qn__pad_node(qn__node *node, uint32_t d, uint64_t before, uint64_t after, qn__node *value) {
    if (!node || !value || (!before && !after)) {
        qn__node_release(value);
        return value ? node : NULL;
    }
    uint64_t sizes[QN_MAX_RANK];
    memcpy(sizes, node->sizes, sizeof sizes);
    sizes[d] += before + after;
    qn__node *made = view(node, QN__OP_PAD, node->rank, sizes);
    if (made) {
        made->attributes = (qn__attributes){.axis = d, .begin = (int64_t)before};
        qn__node_add_source(made, value);
    }
    qn__node_release(value);
    return made;
}

qn_tensor *(qn_pad)(qn_tensor *x, int32_t axis, uint64_t before, uint64_t after, qn_operand value) {
    qn_tensors *tensors;
    qn__node *node;
    uint32_t d;
    qn_tensor *wrong = begin("qn_pad", x, &tensors, &node);
    if (wrong) return wrong;
    if (!qn__axis(axis, node->rank, &d)) return wrong_axis(tensors, "qn_pad", node, axis);
    const uint64_t most = (uint64_t)1 << 56;
    if (before > most || after > most)
        return qn__failed(tensors, "qn_pad", QN_ERROR_RANGE, "%llu before and %llu after are too many",
                          (unsigned long long)before, (unsigned long long)after);
    if (value.kind == QN_OPERAND_TENSOR || !qn__holds((qn_element)node->type, &value))
        return qn__failed(tensors, "qn_pad", QN_ERROR_ARGUMENT, "the value is %s",
                          value.kind == QN_OPERAND_TENSOR ? "a tensor; it has to be a number"
                                                          : "not one that the tensor's type has");
    qn__node_retain(node);
    return qn__handle(tensors, qn__pad_node(node, d, before, after,
                                            qn__number_node(tensors, (qn_element)node->type, &value)));
}

qn_tensor *qn_unsqueeze(qn_tensor *x, int32_t axis) {
    qn_tensors *tensors;
    qn__node *node;
    uint32_t d;
    qn_tensor *wrong = begin("qn_unsqueeze", x, &tensors, &node);
    if (wrong) return wrong;
    if (node->rank == QN_MAX_RANK)
        return qn__failed(tensors, "qn_unsqueeze", QN_ERROR_ARGUMENT,
                          "%s has as many dimensions as there can be", qn__describe(node).text);
    if (!qn__axis(axis, node->rank + 1u, &d)) return wrong_axis(tensors, "qn_unsqueeze", node, axis);
    uint64_t sizes[QN_MAX_RANK];
    for (uint32_t i = 0, at = 0; i <= node->rank; i++) sizes[i] = i == d ? 1 : node->sizes[at++];
    qn__node_retain(node);
    return qn__handle(tensors, qn__reshape_node(node, node->rank + 1u, sizes));
}

qn_tensor *qn_squeeze(qn_tensor *x, qn_axes axes) {
    qn_tensors *tensors;
    qn__node *node;
    uint32_t bits, rank = 0;
    qn_tensor *wrong = begin("qn_squeeze", x, &tensors, &node);
    if (!wrong) wrong = qn__axes(tensors, "qn_squeeze", node, &axes, &bits);
    if (wrong) return wrong;
    uint64_t sizes[QN_MAX_RANK];
    for (uint32_t d = 0; d < node->rank; d++) {
        const bool named = bits >> d & 1;
        if (named && axes.count && node->sizes[d] != 1)
            return qn__failed(tensors, "qn_squeeze", QN_ERROR_ARGUMENT, "axis %u of %s is not of size 1",
                              (unsigned)d, qn__describe(node).text);
        if (!named || node->sizes[d] != 1) sizes[rank++] = node->sizes[d];
    }
    qn__node_retain(node);
    return qn__handle(tensors, qn__reshape_node(node, rank, sizes));
}

qn_tensor *qn_flatten(qn_tensor *x, int32_t first, int32_t last) {
    qn_tensors *tensors;
    qn__node *node;
    uint32_t a, b, rank = 0;
    qn_tensor *wrong = begin("qn_flatten", x, &tensors, &node);
    if (wrong) return wrong;
    if (!node->rank) return qn_reshape(x, (qn_shape){1, {1}});
    if (!qn__axis(first, node->rank, &a)) return wrong_axis(tensors, "qn_flatten", node, first);
    if (!qn__axis(last, node->rank, &b)) return wrong_axis(tensors, "qn_flatten", node, last);
    if (b < a)
        return qn__failed(tensors, "qn_flatten", QN_ERROR_ARGUMENT, "the last axis is before the first");
    uint64_t sizes[QN_MAX_RANK];
    for (uint32_t d = 0; d < node->rank; d++) {
        if (d > a && d <= b)
            sizes[rank - 1] *= node->sizes[d];
        else
            sizes[rank++] = node->sizes[d];
    }
    qn__node_retain(node);
    return qn__handle(tensors, qn__reshape_node(node, rank, sizes));
}
