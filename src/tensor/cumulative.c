/* Elements joined with all before them along an axis: calls of kernels.h. */
#include <math.h>

#include "tensor/calls.h"

/* Where an op's integers are. */
enum { OPERATION, DIMENSION, REVERSE };

qn_status qn__scan_run(qn_tensors *tensors, const qn__node *node, const qn_array *sources,
                       const qn_array *results) {
    const int64_t *integers = node->attributes.integers;
    return qn_kernels_scan(tensors->kernels, tensors->stream,
                           &(qn_scan_desc){.operation = (qn_scan_operation)integers[OPERATION],
                                           .dimension = (uint32_t)integers[DIMENSION],
                                           .reverse = integers[REVERSE] != 0,
                                           .to = results[0],
                                           .from = sources[0]});
}

/* Sums and products of integers are taken in 64 bits, as reductions are. */
static qn_element result_type(qn_scan_operation operation, qn_element type) {
    if (qn__is_float(type) || operation == QN_SCAN_MAX || operation == QN_SCAN_MIN) return type;
    return qn__element_of(type)->class == QN__UNSIGNED && type != QN_BOOL ? QN_U64 : QN_I64;
}

static qn_tensor *scan(const char *function, qn_scan_operation operation, qn_tensor *x, int32_t axis,
                       bool reverse) {
    qn_tensors *tensors;
    uint32_t d;
    qn_tensor *wrong = qn__refuse(function, &x, 1, &tensors);
    if (wrong) return wrong;
    qn__node *from = x->node;
    if (!qn__axis(axis, from->rank, &d))
        return qn__failed(tensors, function, QN_ERROR_ARGUMENT, "%s has no axis %d", qn__describe(from).text,
                          (int)axis);
    qn__node *node = qn__call_node(tensors, QN__OP_SCAN, result_type(operation, (qn_element)from->type),
                                   from->rank, from->sizes, &from, 1);
    if (!node) return qn__handle(tensors, NULL);
    node->attributes.integers[OPERATION] = operation;
    node->attributes.integers[DIMENSION] = d;
    node->attributes.integers[REVERSE] = reverse;
    return qn__handle(tensors, node);
}

qn_tensor *qn_cumulative_sum(qn_tensor *x, int32_t axis) {
    return scan("qn_cumulative_sum", QN_SCAN_SUM, x, axis, false);
}
qn_tensor *qn_cumulative_product(qn_tensor *x, int32_t axis) {
    return scan("qn_cumulative_product", QN_SCAN_PRODUCT, x, axis, false);
}
qn_tensor *qn_cumulative_max(qn_tensor *x, int32_t axis) {
    return scan("qn_cumulative_max", QN_SCAN_MAX, x, axis, false);
}
qn_tensor *qn_cumulative_min(qn_tensor *x, int32_t axis) {
    return scan("qn_cumulative_min", QN_SCAN_MIN, x, axis, false);
}

qn_tensor *qn_cumulative_log_sum_exp(qn_tensor *x, int32_t axis) {
    if (qn__node_of(x) && !qn__is_float((qn_element)x->node->type)) x = qn_cast(x, QN_F32);
    return scan("qn_cumulative_log_sum_exp", QN_SCAN_LOG_SUM_EXP, x, axis, false);
}

/* ---- gradients ---- */

/* Of a product: where there is a zero before, the products that have it but for that one. */
static qn_tensor *gradient_of_product(const qn__backward *b, int32_t axis) {
    qn_tensor *x = b->sources[0], *g = b->gradient;
    qn_tensor *is_zero = qn_equal(x, 0), *zeros = qn_cumulative_sum(is_zero, axis);
    qn_tensor *is_first = qn_logical_and(is_zero, qn_equal(zeros, 1)), *nonzero = qn_where(is_zero, 1, x);
    qn_tensor *others = qn_cumulative_product(qn_where(is_first, 1, x), axis);
    static const char function[] = "qn_cumulative_product";
    qn_tensor *of_rest =
        qn_divide(scan(function, QN_SCAN_SUM, qn_multiply(g, b->value), axis, true), nonzero);
    qn_tensor *of_first = scan(function, QN_SCAN_SUM, qn_multiply(g, others), axis, true);
    return qn_where(is_first, of_first, qn_where(qn_equal(zeros, 0), of_rest, 0));
}

/* Each extreme is the last element so far that has its value. */
static qn_tensor *gradient_of_extreme(const qn__backward *b, int32_t axis) {
    qn_tensor *x = b->sources[0], *g = b->gradient;
    const qn__node *node = b->node;
    qn_tensor *place =
        qn__handle(b->tensors, qn__index_node(b->tensors, node->rank, node->sizes, (uint32_t)axis));
    qn_tensor *last = qn_cumulative_max(qn_where(qn_equal(x, b->value), place, 0), axis);
    return qn_scatter_add_along_axis(qn_zeros(b->tensors, qn_tensor_type(x), qn_tensor_shape(x)), last, g,
                                     axis);
}

/* Of one sign of the gradient: exp(x) times the sum over all behind of g exp(-y), as logarithms. */
static qn_tensor *part_of_log_sum(const qn__backward *b, qn_tensor *g, int32_t axis) {
    qn_tensor *counts = qn_logical_and(qn_greater(g, 0), qn_is_finite(b->value));
    qn_tensor *logs =
        qn_where(counts, qn_subtract(qn_log(qn_where(counts, g, 1)), qn_where(counts, b->value, 0)),
                 (double)-INFINITY);
    const bool back = !b->node->attributes.integers[REVERSE];
    qn_tensor *behind = scan("qn_cumulative_log_sum_exp", QN_SCAN_LOG_SUM_EXP, logs, axis, back);
    return qn_exp(qn_add(b->sources[0], behind));
}

static qn_tensor *gradient_of_log_sum(const qn__backward *b, int32_t axis) {
    return qn_subtract(part_of_log_sum(b, b->gradient, axis),
                       part_of_log_sum(b, qn_negate(b->gradient), axis));
}

void qn__scan_gradient(qn__backward *b) {
    const int64_t *integers = b->node->attributes.integers;
    const int32_t axis = (int32_t)integers[DIMENSION];
    if (integers[OPERATION] == QN_SCAN_SUM)
        b->given[0] = scan("qn_cumulative_sum", QN_SCAN_SUM, b->gradient, axis, !integers[REVERSE]);
    else if (integers[OPERATION] == QN_SCAN_PRODUCT)
        b->given[0] = gradient_of_product(b, axis);
    else if (integers[OPERATION] == QN_SCAN_LOG_SUM_EXP)
        b->given[0] = gradient_of_log_sum(b, axis);
    else
        b->given[0] = gradient_of_extreme(b, axis);
}
