/* Elements joined with all before them along an axis: calls of kernels.h. */
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

void qn__scan_gradient(qn__backward *b) {
    const int64_t *integers = b->node->attributes.integers;
    const int32_t axis = (int32_t)integers[DIMENSION];
    if (integers[OPERATION] == QN_SCAN_SUM)
        b->given[0] = scan("qn_cumulative_sum", QN_SCAN_SUM, b->gradient, axis, !integers[REVERSE]);
    else if (integers[OPERATION] == QN_SCAN_PRODUCT)
        b->given[0] = gradient_of_product(b, axis);
    else
        b->given[0] = gradient_of_extreme(b, axis);
}
