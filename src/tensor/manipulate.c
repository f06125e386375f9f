/* Tensors rearranged, repeated and cut, as compositions of views and maps: the scheduler folds them into what is around. */
#include <string.h>

#include "tensor/graph.h"

static qn_tensor *check_axis(const char *function, qn_tensor *x, int32_t axis, qn_tensors **tensors,
                             uint32_t *d) {
    qn_tensor *wrong = qn__refuse(function, &x, 1, tensors);
    if (!wrong && !qn__axis(axis, x->node->rank, d))
        wrong = qn__failed(*tensors, function, QN_ERROR_ARGUMENT, "%s has no axis %d",
                           qn__describe(x->node).text, (int)axis);
    return wrong;
}

/* ---- of the same shape and type ---- */

qn_tensor *(qn_full_like)(qn_tensor *x, qn_operand value) {
    qn_tensors *tensors;
    qn_tensor *wrong = qn__refuse("qn_full_like", &x, 1, &tensors);
    return wrong ? wrong : (qn_full)(tensors, qn_tensor_type(x), qn_tensor_shape(x), value);
}
qn_tensor *qn_zeros_like(qn_tensor *x) { return qn_full_like(x, 0); }
qn_tensor *qn_ones_like(qn_tensor *x) { return qn_full_like(x, 1); }

/* ---- cut and moved ---- */

qn_status qn_split(qn_tensor *x, const uint64_t *sizes, size_t count, int32_t axis, qn_tensor **parts) {
    qn_tensors *tensors = NULL;
    uint32_t d = 0;
    if (!parts || (count && !sizes))
        return qn__tensors_fail(x ? x->owner : NULL, QN_ERROR_NULL, "qn_split: %s is NULL",
                                parts ? "sizes" : "parts");
    qn_tensor *wrong = check_axis("qn_split", x, axis, &tensors, &d);
    uint64_t sum = 0;
    for (size_t i = 0; !wrong && i < count && sum <= x->node->sizes[d]; i++)
        sum += sizes[i] <= x->node->sizes[d] ? sizes[i] : x->node->sizes[d] + 1;
    if (!wrong && sum != x->node->sizes[d])
        wrong = qn__failed(tensors, "qn_split", QN_ERROR_ARGUMENT, "the sizes do not add up to axis %u of %s",
                           (unsigned)d, qn__describe(x->node).text);
    int64_t begin = 0;
    for (size_t i = 0; i < count; i++) {
        parts[i] = wrong ? wrong : qn_slice(x, (int32_t)d, begin, begin + (int64_t)sizes[i], 1);
        begin += wrong ? 0 : (int64_t)sizes[i];
    }
    return wrong ? qn_tensor_status(wrong) : QN_OK;
}

qn_tensor *qn_roll(qn_tensor *x, int64_t shift, int32_t axis) {
    qn_tensors *tensors;
    uint32_t d;
    qn_tensor *wrong = check_axis("qn_roll", x, axis, &tensors, &d);
    if (wrong || !x->node->sizes[d]) return wrong ? wrong : x;
    const int64_t size = (int64_t)x->node->sizes[d];
    const int64_t rest = shift % size, first = rest > 0 ? size - rest : -rest;
    qn_tensor *parts[] = {qn_slice(x, (int32_t)d, first, QN_END, 1), qn_slice(x, (int32_t)d, 0, first, 1)};
    return first ? qn_concat(parts, 2, (int32_t)d) : x;
}

qn_tensor *qn_move_axis(qn_tensor *x, int32_t axis, int32_t to) {
    qn_tensors *tensors;
    uint32_t d, place;
    qn_tensor *wrong = check_axis("qn_move_axis", x, axis, &tensors, &d);
    if (!wrong) wrong = check_axis("qn_move_axis", x, to, &tensors, &place);
    if (wrong) return wrong;
    qn_axes order = {.count = x->node->rank};
    for (uint32_t i = 0, at = 0; i < order.count; i++) {
        if (at == d) at++;
        order.axes[i] = (int32_t)(i == place ? d : at++);
    }
    return qn_permute(x, order);
}

qn_tensor *qn_diagonal(qn_tensor *x, int64_t offset, int32_t axis, int32_t other) {
    static const char function[] = "qn_diagonal";
    qn_tensors *tensors;
    uint32_t a, b;
    qn_tensor *wrong = check_axis(function, x, axis, &tensors, &a);
    if (!wrong) wrong = check_axis(function, x, other, &tensors, &b);
    if (!wrong && a == b)
        wrong = qn__failed(tensors, function, QN_ERROR_ARGUMENT, "axis %d is named twice", (int)axis);
    if (wrong) return wrong;
    /* The two axes behind the others, as one, along which the diagonal's elements are columns + 1 apart. */
    qn_tensor *last = qn_move_axis(qn_move_axis(x, (int32_t)a, -1), (int32_t)(b > a ? b - 1 : b), -1);
    const int64_t rows = (int64_t)x->node->sizes[a], columns = (int64_t)x->node->sizes[b];
    const int64_t down = offset < -rows ? rows : offset < 0 ? -offset : 0;
    const int64_t right = offset > columns ? columns : offset > 0 ? offset : 0;
    const int64_t count = rows - down < columns - right ? rows - down : columns - right;
    const int64_t begin = down * columns + right,
                  end = count ? begin + (count - 1) * (columns + 1) + 1 : begin;
    return qn_slice(qn_flatten(last, -2, -1), -1, begin, end, columns + 1);
}

qn_tensor *qn_trace(qn_tensor *x, int64_t offset) {
    return qn_sum(qn_diagonal(x, offset, -2, -1), QN_AXES(-1), false);
}

/* The elements of matrices on one side of a diagonal, and on it; zeros on the other side. */
static qn_tensor *band(const char *function, qn_tensor *x, bool lower, int64_t offset) {
    qn_tensors *tensors;
    qn_tensor *wrong = qn__refuse(function, &x, 1, &tensors);
    if (wrong) return wrong;
    const uint32_t rank = x->node->rank;
    if (rank < 2)
        return qn__failed(tensors, function, QN_ERROR_ARGUMENT, "%s is no matrix",
                          qn__describe(x->node).text);
    qn_tensor *row = qn__handle(tensors, qn__index_node(tensors, rank, x->node->sizes, rank - 2));
    qn_tensor *column = qn__handle(tensors, qn__index_node(tensors, rank, x->node->sizes, rank - 1));
    qn_tensor *right = qn_subtract(column, row);
    qn_tensor *stays = lower ? qn_less_equal(right, offset) : qn_greater_equal(right, offset);
    return qn_where(stays, x, (bool)0);
}

qn_tensor *qn_tril(qn_tensor *x, int64_t offset) { return band("qn_tril", x, true, offset); }
qn_tensor *qn_triu(qn_tensor *x, int64_t offset) { return band("qn_triu", x, false, offset); }

qn_status qn_unstack(qn_tensor *x, int32_t axis, qn_tensor **parts, size_t count) {
    qn_tensors *tensors = NULL;
    uint32_t d = 0;
    qn_tensor *wrong = check_axis("qn_unstack", x, axis, &tensors, &d);
    if (!wrong && (!parts || count != x->node->sizes[d]))
        wrong = qn__failed(tensors, "qn_unstack", QN_ERROR_ARGUMENT, "%llu parts of axis %u of %s",
                           (unsigned long long)(parts ? count : 0), (unsigned)d, qn__describe(x->node).text);
    for (size_t i = 0; parts && i < count; i++)
        parts[i] = wrong ? wrong
                         : qn_squeeze(qn_slice(x, (int32_t)d, (int64_t)i, (int64_t)i + 1, 1),
                                      (qn_axes){1, {(int32_t)d}});
    return wrong ? qn_tensor_status(wrong) : QN_OK;
}

qn_tensor *qn_difference(qn_tensor *x, uint32_t times, int32_t axis) {
    qn_tensors *tensors;
    uint32_t d;
    qn_tensor *wrong = check_axis("qn_difference", x, axis, &tensors, &d);
    const bool is_truth = !wrong && x->node->type == QN_BOOL;
    for (uint32_t i = 0; !wrong && i < times && x->node && x->node->sizes[d]; i++) {
        qn_tensor *next = qn_slice(x, (int32_t)d, 1, QN_END, 1), *before = qn_slice(x, (int32_t)d, 0, -1, 1);
        x = is_truth ? qn_not_equal(next, before) : qn_subtract(next, before);
    }
    return wrong ? wrong : x;
}

/* ---- repeated ---- */

/* The shape with dimension d as its middle one of three. */
static qn_shape in_three(const qn_shape *shape, uint32_t d) {
    qn_shape three = {3, {1, shape->sizes[d], 1}};
    for (uint32_t i = 0; i < shape->rank; i++)
        if (i != d) three.sizes[i < d ? 0 : 2] *= shape->sizes[i];
    return three;
}

/* `times` of all along dimension d, one behind the other, or of each element there. */
static qn_tensor *again(qn_tensor *x, uint32_t d, uint64_t times, bool each) {
    qn_shape shape = qn_tensor_shape(x);
    if (shape.rank == QN_MAX_RANK) { /* no room for one more */
        shape.sizes[d] *= times;
        const qn_shape from = qn_tensor_shape(x);
        return qn_reshape(again(qn_reshape(x, in_three(&from, d)), 1, times, each), shape);
    }
    const uint32_t at = each ? d + 1 : d;
    qn_tensor *apart = qn_unsqueeze(x, (int32_t)at);
    if (apart->status) return apart;
    shape = qn_tensor_shape(apart);
    shape.sizes[at] = times;
    return qn_flatten(qn_broadcast_to(apart, shape), (int32_t)d, (int32_t)d + 1);
}

qn_tensor *qn_repeat(qn_tensor *x, uint64_t times, int32_t axis) {
    qn_tensors *tensors;
    uint32_t d;
    qn_tensor *wrong = check_axis("qn_repeat", x, axis, &tensors, &d);
    return wrong ? wrong : again(x, d, times, true);
}

qn_tensor *qn_tile(qn_tensor *x, qn_shape times) {
    qn_tensors *tensors;
    qn_tensor *wrong = qn__refuse("qn_tile", &x, 1, &tensors);
    if (wrong) return wrong;
    if (times.rank > QN_MAX_RANK)
        return qn__failed(tensors, "qn_tile", QN_ERROR_ARGUMENT, "%u dimensions; at most %u",
                          (unsigned)times.rank, (unsigned)QN_MAX_RANK);
    while (x->node && x->node->rank < times.rank) x = qn_unsqueeze(x, 0);
    const uint32_t before = x->node ? x->node->rank - times.rank : 0;
    for (uint32_t d = 0; d < times.rank && !x->status; d++)
        if (times.sizes[d] != 1) x = again(x, before + d, times.sizes[d], false);
    return x;
}

qn_status qn_meshgrid(qn_tensor *const *tensors, size_t count, qn_tensor **grids) {
    qn_tensors *owner = NULL;
    qn_shape shape = {.rank = (uint32_t)count};
    if (!tensors || !grids || !count || count > QN_MAX_RANK)
        return qn__tensors_fail(NULL, QN_ERROR_ARGUMENT,
                                "qn_meshgrid: %llu tensors; from 1 to %u, and neither list NULL",
                                (unsigned long long)count, (unsigned)QN_MAX_RANK);
    qn_tensor *wrong = qn__refuse("qn_meshgrid", tensors, (uint32_t)count, &owner);
    for (uint32_t i = 0; !wrong && i < count; i++) {
        if (tensors[i]->node->rank != 1)
            wrong =
                qn__failed(owner, "qn_meshgrid", QN_ERROR_ARGUMENT,
                           "%s is of more or less than one dimension", qn__describe(tensors[i]->node).text);
        else
            shape.sizes[i] = tensors[i]->node->sizes[0];
    }
    for (uint32_t i = 0; i < count; i++) {
        qn_shape own = {.rank = shape.rank};
        for (uint32_t d = 0; d < own.rank; d++) own.sizes[d] = d == i ? shape.sizes[d] : 1;
        grids[i] = wrong ? wrong : qn_broadcast_to(qn_reshape(tensors[i], own), shape);
    }
    return wrong ? qn_tensor_status(wrong) : QN_OK;
}
