/* Sorted rows searched, and tensors as sets. */
#include <math.h>

#include "tensor/graph.h"

/* ---- searching ---- */

qn_tensor *qn_search_sorted(qn_tensor *sorted, qn_tensor *values, bool right) {
    static const char function[] = "qn_search_sorted";
    qn_tensors *tensors;
    qn_tensor *wrong = qn__refuse(function, (qn_tensor *[]){sorted, values}, 2, &tensors);
    if (wrong) return wrong;
    const qn__node *s = sorted->node, *v = values->node;
    if (s->rank != 1 || qn__common_type((qn_element)s->type, (qn_element)v->type) == QN_ELEMENT_COUNT)
        return qn__failed(
            tensors, function, QN_ERROR_ARGUMENT,
            "%s, and values %s: what is searched has one dimension, and both have a common type",
            qn__describe(s).text, qn__describe(v).text);
    /* By halving: so many elements are known to be before the place. */
    const uint64_t size = s->sizes[0];
    qn_tensor *before = qn_zeros(tensors, QN_I64, qn_tensor_shape(values));
    uint64_t step = 1;
    while (step <= size / 2) step *= 2;
    for (; size && step; step /= 2) {
        qn_tensor *reach = qn_add(before, step), *last = qn_minimum(reach, size);
        qn_tensor *element = qn_take(sorted, qn_subtract(last, 1), 0);
        qn_tensor *is_before = right ? qn_less_equal(element, values) : qn_less(element, values);
        /* A NaN is above all numbers. */
        if (qn__is_float((qn_element)v->type))
            is_before = qn_logical_or(
                is_before, right ? qn_is_nan(values)
                                 : qn_logical_and(qn_is_nan(values), qn_logical_not(qn_is_nan(element))));
        before = qn_where(qn_logical_and(is_before, qn_less_equal(reach, size)), reach, before);
    }
    return before;
}

qn_tensor *qn_is_in(qn_tensor *x, qn_tensor *set) {
    qn_tensors *tensors;
    qn_tensor *wrong = qn__refuse("qn_is_in", (qn_tensor *[]){x, set}, 2, &tensors);
    if (wrong) return wrong;
    qn_tensor *sorted = qn_sort(qn_detach(qn_reshape(set, QN_SHAPE(QN_REST))), 0, false);
    qn_tensor *place = qn_search_sorted(sorted, qn_detach(x), false);
    return qn_logical_and(qn_equal(qn_take(sorted, place, 0), x), qn_less(place, qn_tensor_count(set)));
}

/* ---- different elements ---- */

/* All results of a failure. */
static qn_tensor *fail_all(qn_tensor *wrong, qn_tensor **a, qn_tensor **b, qn_tensor **c) {
    if (a) *a = wrong;
    if (b) *b = wrong;
    if (c) *c = wrong;
    return wrong;
}

/* Whether each of sorted elements differs from that before; NaNs are the same. */
static qn_tensor *differs(qn_tensor *sorted) {
    qn_tensor *before = qn_roll(sorted, 1, 0);
    qn_tensor *same = qn_equal(sorted, before);
    if (qn__is_float((qn_element)sorted->node->type))
        same = qn_logical_or(same, qn_logical_and(qn_is_nan(sorted), qn_is_nan(before)));
    return qn_logical_or(qn_logical_not(same),
                         qn_equal(qn__index_tensor(sorted->owner, sorted->node->sizes[0]), 0));
}

qn_tensor *qn_unique_all(qn_tensor *x, qn_tensor **places, qn_tensor **inverse, qn_tensor **counts) {
    qn_tensors *tensors;
    qn_tensor *wrong = qn__refuse("qn_unique_all", &x, 1, &tensors);
    if (wrong) return fail_all(wrong, places, inverse, counts);
    const qn_shape shape = qn_tensor_shape(x);
    qn_tensor *flat = qn_reshape(qn_detach(x), QN_SHAPE(QN_REST));
    /* -0 becomes 0, and NaNs the same one: they stand together then. */
    if (qn__is_float((qn_element)x->node->type)) {
        qn_tensor *number = qn_add(flat, 0);
        flat = qn_where(qn_is_nan(flat), (double)NAN, number);
    }
    const uint64_t size = qn_tensor_count(flat);
    qn_tensor *order = qn_argsort(flat, 0, false), *sorted = qn_take(flat, order, 0);
    qn_tensor *is_new = differs(sorted), *begins = qn_flatten(qn_nonzero(is_new), 0, 1);
    if (begins->status) return fail_all(begins, places, inverse, counts);
    if (places) *places = qn_take(order, begins, 0);
    if (counts) {
        qn_tensor *end = qn_full(tensors, QN_I64, QN_SHAPE(1), size);
        *counts = qn_difference(qn_concat((qn_tensor *[]){begins, end}, 2, 0), 1, 0);
    }
    if (inverse) {
        qn_tensor *number = qn_subtract(qn_cumulative_sum(is_new, 0), 1);
        *inverse = qn_reshape(qn_scatter(qn__index_tensor(tensors, size), order, number, 0), shape);
    }
    return qn_take(sorted, begins, 0);
}
