/* Order: sorts and the extreme elements of rows, by calls of kernels.h along the last dimension. Where values are wanted that gradients go to,
   they are taken by the places that they had. */
#include <math.h>
#include <string.h>

#include "tensor/calls.h"

/* Where an op's integers are: whether the largest, or the smallest, come first. */
enum { TURNED };

qn_status qn__sort_run(qn_tensors *tensors, const qn__node *node, const qn_array *sources,
                       const qn_array *results) {
    return qn_kernels_sort(tensors->kernels, tensors->stream,
                           &(qn_sort_desc){.keys = sources[0],
                                           .to_keys = results[0],
                                           .to_values = results[1],
                                           .descending = node->attributes.integers[TURNED] != 0});
}

qn_status qn__top_k_run(qn_tensors *tensors, const qn__node *node, const qn_array *sources,
                        const qn_array *results) {
    return qn_kernels_top_k(tensors->kernels, tensors->stream,
                            &(qn_top_k_desc){.from = sources[0],
                                             .to = results[0],
                                             .to_indices = results[1],
                                             .smallest = node->attributes.integers[TURNED] != 0});
}

static qn_tensor *check(const char *function, qn_tensor *x, int32_t axis, qn_tensors **tensors, uint32_t *d) {
    qn_tensor *wrong = qn__refuse(function, &x, 1, tensors);
    if (!wrong && !qn__axis(axis, x->node->rank, d))
        wrong = qn__failed(*tensors, function, QN_ERROR_ARGUMENT, "%s has no axis %d",
                           qn__describe(x->node).text, (int)axis);
    return wrong;
}

/* The call's result number `part` for rows of `size` elements, back along the axis of x. */
static qn_tensor *rows(qn__op op, qn_tensor *x, uint32_t d, uint64_t size, bool turned, uint32_t part) {
    qn_tensor *turn = qn_transpose(x, (int32_t)d, -1);
    if (turn->status) return turn;
    qn__node *from = turn->node;
    uint64_t sizes[QN_MAX_RANK];
    memcpy(sizes, from->sizes, sizeof sizes);
    sizes[from->rank - 1] = size;
    qn__node *call = qn__call_node(x->owner, op, (qn_element)from->type, from->rank, sizes, &from, 1);
    if (call) call->attributes.integers[TURNED] = turned;
    if (call && part) {
        qn__node *places = qn__part_node(call, part, QN_I64, from->rank, sizes);
        qn__node_release(call);
        call = places;
    }
    return qn_transpose(qn__handle(x->owner, call), (int32_t)d, -1);
}

qn_tensor *qn_argsort(qn_tensor *x, int32_t axis, bool descending) {
    qn_tensors *tensors;
    uint32_t d;
    qn_tensor *wrong = check("qn_argsort", x, axis, &tensors, &d);
    return wrong ? wrong : rows(QN__OP_SORT, x, d, x->node->sizes[d], descending, 1);
}

qn_tensor *qn_sort(qn_tensor *x, int32_t axis, bool descending) {
    qn_tensors *tensors;
    uint32_t d;
    qn_tensor *wrong = check("qn_sort", x, axis, &tensors, &d);
    if (wrong) return wrong;
    const uint64_t size = x->node->sizes[d];
    if (!x->node->needs_gradient || tensors->no_gradient) return rows(QN__OP_SORT, x, d, size, descending, 0);
    return qn_take_along_axis(x, rows(QN__OP_SORT, x, d, size, descending, 1), (int32_t)d);
}

qn_tensor *qn_top_k(qn_tensor *x, uint64_t k, int32_t axis, bool smallest, qn_tensor **indices) {
    qn_tensors *tensors;
    uint32_t d;
    qn_tensor *wrong = check("qn_top_k", x, axis, &tensors, &d);
    if (!wrong && k > x->node->sizes[d])
        wrong = qn__failed(tensors, "qn_top_k", QN_ERROR_ARGUMENT, "%llu of axis %d of %s",
                           (unsigned long long)k, (int)axis, qn__describe(x->node).text);
    if (wrong) {
        if (indices) *indices = wrong;
        return wrong;
    }
    const bool plain = !indices && (!x->node->needs_gradient || tensors->no_gradient);
    if (plain) return rows(QN__OP_TOP_K, x, d, k, smallest, 0);
    qn_tensor *places = rows(QN__OP_TOP_K, x, d, k, smallest, 1);
    if (indices) *indices = places;
    return qn_take_along_axis(x, places, (int32_t)d);
}

qn_tensor *qn_quantile(qn_tensor *x, double part, int32_t axis, bool keep) {
    static const char function[] = "qn_quantile";
    qn_tensors *tensors;
    uint32_t d;
    qn_tensor *wrong = check(function, x, axis, &tensors, &d);
    if (!wrong && (!(part >= 0 && part <= 1) || !x->node->sizes[d]))
        wrong =
            qn__failed(tensors, function, QN_ERROR_ARGUMENT, "part %g of %llu elements along axis %u of %s",
                       part, (unsigned long long)x->node->sizes[d], (unsigned)d, qn__describe(x->node).text);
    if (wrong) return wrong;
    if (!qn__is_float((qn_element)x->node->type)) x = qn_cast(x, QN_F32);
    const double place = part * (double)(x->node->sizes[d] - 1), below = floor(place);
    const int64_t low = (int64_t)below, high = (int64_t)ceil(place);
    qn_tensor *sorted = qn_sort(x, (int32_t)d, false);
    qn_tensor *under = qn_slice(sorted, (int32_t)d, low, low + 1, 1),
              *over = qn_slice(sorted, (int32_t)d, high, high + 1, 1);
    qn_tensor *has_nan = qn_any(qn_is_nan(x), (qn_axes){1, {(int32_t)d}}, true);
    qn_tensor *y = qn_where(has_nan, (double)NAN, low == high ? under : qn_lerp(under, over, place - below));
    return keep ? y : qn_squeeze(y, (qn_axes){1, {(int32_t)d}});
}

qn_tensor *qn_permutation(qn_tensors *tensors, uint64_t count) {
    qn_tensor *numbers = qn_randint(tensors, QN_I64, (qn_shape){1, {count}}, INT64_MIN, INT64_MAX);
    return numbers->status ? numbers : qn_argsort(numbers, 0, false);
}
