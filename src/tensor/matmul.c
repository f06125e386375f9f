/* Products of matrices, of vectors and of batches of them. */
#include <string.h>

#include "tensor/calls.h"

qn_status qn__matmul_run(qn_tensors *tensors, const qn__node *node, const qn_array *sources,
                         const qn_array *results, const qn__finish *finish) {
    (void)node;
    const qn_matmul_desc desc = {.out = results[0],
                                 .a = sources[0],
                                 .b = sources[1],
                                 .alpha = finish->alpha,
                                 .bias = finish->bias,
                                 .activation = finish->activation,
                                 .scale = finish->scale,
                                 .residual = finish->residual};
    return qn_kernels_matmul(tensors->kernels, tensors->stream, &desc);
}

/* What qn_kernels_matmul takes: floats, all f64 or none. */
static bool has_kernel(qn_element type) { return qn__is_float(type); }

/* The sizes of the batches of both, broadcast; false: they do not fit. */
static bool join_batches(const qn__node *a, const qn__node *b, qn_shape *out) {
    out->rank = a->rank > b->rank ? a->rank : b->rank;
    for (uint32_t d = 0; d + 2 < out->rank; d++) {
        const uint32_t back = out->rank - d; /* from the end */
        const uint64_t x = back <= a->rank ? a->sizes[a->rank - back] : 1,
                       y = back <= b->rank ? b->sizes[b->rank - back] : 1;
        if (x != y && x != 1 && y != 1) return false;
        out->sizes[d] = x == 1 ? y : x;
    }
    return true;
}

/* Of integers: as sums of products, which are one kernel. */
static qn_tensor *by_sums(qn_tensor *a, qn_tensor *b, qn_element type) {
    qn_tensor *rows = qn_unsqueeze(a, -1), *columns = qn_unsqueeze(b, -3);
    return qn_cast(qn_sum(qn_multiply(rows, columns), QN_AXES(-2), false), type);
}

/* The matrices as one batch of as many as `shape` has. */
static qn_tensor *one_batch(qn_tensor *x, qn_shape shape) {
    const qn_shape own = qn_tensor_shape(x);
    qn_shape joined = {3, {1, own.sizes[own.rank - 2], own.sizes[own.rank - 1]}};
    for (uint32_t d = 0; d < 2; d++) shape.sizes[shape.rank - 2 + d] = joined.sizes[1 + d];
    for (uint32_t d = 0; d + 2 < shape.rank; d++) joined.sizes[0] *= shape.sizes[d];
    return qn_reshape(qn_broadcast_to(x, shape), joined);
}

/* Of matrices, or batches of them. */
static qn_tensor *multiply(qn_tensors *tensors, qn_tensor *a, qn_tensor *b) {
    const qn__node *x = a->node, *y = b->node;
    const qn_element type = qn__common_type((qn_element)x->type, (qn_element)y->type);
    qn_shape shape;
    if (type == QN_ELEMENT_COUNT || x->sizes[x->rank - 1] != y->sizes[y->rank - 2] ||
        !join_batches(x, y, &shape))
        return qn__failed(tensors, "qn_matmul", QN_ERROR_ARGUMENT, "%s and %s do not go together",
                          qn__describe(x).text, qn__describe(y).text);
    shape.sizes[shape.rank - 2] = x->sizes[x->rank - 2];
    shape.sizes[shape.rank - 1] = y->sizes[y->rank - 1];
    if (!has_kernel(type) || !x->sizes[x->rank - 1])
        return shape.rank < QN_MAX_RANK
                   ? by_sums(a, b, type) /* which has one dimension more in between */
                   : qn_reshape(by_sums(one_batch(a, shape), one_batch(b, shape), type), shape);
    /* Integers beside floats become floats; narrow floats stay as they are. */
    if (!qn__is_float((qn_element)x->type) || type == QN_F64) a = qn_cast(a, type);
    if (!qn__is_float((qn_element)y->type) || type == QN_F64) b = qn_cast(b, type);
    if (a->status || b->status) return a->status ? a : b;
    qn__node *const sources[] = {a->node, b->node};
    return qn__handle(tensors,
                      qn__call_node(tensors, QN__OP_MATMUL, type, shape.rank, shape.sizes, sources, 2));
}

qn_tensor *qn_matmul(qn_tensor *a, qn_tensor *b) {
    qn_tensors *tensors;
    qn_tensor *wrong = qn__refuse("qn_matmul", (qn_tensor *[]){a, b}, 2, &tensors);
    if (wrong) return wrong;
    if (!a->node->rank || !b->node->rank)
        return qn__failed(tensors, "qn_matmul", QN_ERROR_ARGUMENT, "%s has no dimensions",
                          qn__describe(a->node->rank ? b->node : a->node).text);
    const bool row = a->node->rank == 1, column = b->node->rank == 1;
    qn_tensor *x = row ? qn_unsqueeze(a, 0) : a, *y = column ? qn_unsqueeze(b, 1) : b;
    qn_tensor *product = x->status ? x : y->status ? y : multiply(tensors, x, y);
    if (column) product = qn_squeeze(product, QN_AXES(-1));
    return row ? qn_squeeze(product, column ? QN_AXES(-1) : QN_AXES(-2)) : product;
}
