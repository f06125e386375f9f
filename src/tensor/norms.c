/* Products of vectors, powers of matrices, and measures of both: compositions. */
#include <float.h>
#include <math.h>

#include "tensor/linear.h"

/* ---- products ---- */

/* Both operands broadcast, with the axis that `axis` names in their common shape. */
static qn_tensor *vectors(const char *function, qn_tensor **a, qn_tensor **b, int32_t *axis) {
    qn_tensors *tensors;
    qn_tensor *wrong = qn__refuse(function, (qn_tensor *[]){*a, *b}, 2, &tensors);
    if (wrong) return wrong;
    const uint32_t rank = (*a)->node->rank > (*b)->node->rank ? (*a)->node->rank : (*b)->node->rank;
    uint32_t d;
    if (!qn__axis(*axis, rank, &d))
        return qn__failed(tensors, function, QN_ERROR_ARGUMENT, "%s and %s have no axis %d",
                          qn__describe((*a)->node).text, qn__describe((*b)->node).text, (int)*axis);
    *axis = (int32_t)d;
    return NULL;
}

qn_tensor *qn_vector_dot(qn_tensor *a, qn_tensor *b, int32_t axis) {
    qn_tensor *wrong = vectors("qn_vector_dot", &a, &b, &axis);
    if (wrong) return wrong;
    qn_tensor *products = qn_multiply(a, b);
    return products->status
               ? products
               : qn_cast(qn_sum(products, (qn_axes){1, {axis}}, false), qn_tensor_type(products));
}

qn_tensor *qn_cross(qn_tensor *a, qn_tensor *b, int32_t axis) {
    static const char function[] = "qn_cross";
    qn_tensor *wrong = vectors(function, &a, &b, &axis);
    if (wrong) return wrong;
    const uint32_t rank = a->node->rank > b->node->rank ? a->node->rank : b->node->rank;
    const int32_t back = axis - (int32_t)rank;
    const qn_tensor *const both[] = {a, b};
    for (int i = 0; i < 2; i++)
        if (both[i]->node->rank < (uint32_t)-back ||
            both[i]->node->sizes[both[i]->node->rank + (uint32_t)back] != 3)
            return qn__failed(a->owner, function, QN_ERROR_ARGUMENT,
                              "%s does not have 3 elements along axis %d", qn__describe(both[i]->node).text,
                              (int)back);
    return qn_subtract(qn_multiply(qn_roll(a, -1, back), qn_roll(b, -2, back)),
                       qn_multiply(qn_roll(a, -2, back), qn_roll(b, -1, back)));
}

qn_tensor *qn_matrix_power(qn_tensor *x, int64_t power) {
    static const char function[] = "qn_matrix_power";
    qn_tensors *tensors;
    qn_tensor *wrong = qn__refuse(function, &x, 1, &tensors);
    if (wrong) return wrong;
    const qn__node *node = x->node;
    if (node->rank < 2 || node->sizes[node->rank - 1] != node->sizes[node->rank - 2])
        return qn__failed(tensors, function, QN_ERROR_ARGUMENT, "%s is no square matrix",
                          qn__describe(node).text);
    if (power < 0) return qn_matrix_power(qn_inverse(x), power == INT64_MIN ? INT64_MAX : -power);
    const uint64_t n = node->sizes[node->rank - 1];
    if (!power) return qn_broadcast_to(qn_eye(tensors, qn_tensor_type(x), n, n, 0), qn_tensor_shape(x));
    qn_tensor *result = NULL;
    for (; power; power /= 2) {
        if (power % 2) result = result ? qn_matmul(result, x) : x;
        if (power > 1) x = qn_matmul(x, x);
    }
    return result;
}

/* ---- norms ---- */

qn_tensor *qn_vector_norm(qn_tensor *x, double order, qn_axes axes, bool keep) {
    qn_tensors *tensors;
    qn_tensor *wrong = qn__refuse("qn_vector_norm", &x, 1, &tensors);
    if (wrong) return wrong;
    qn_tensor *size = qn__is_float(qn_tensor_type(x)) ? qn_abs(x) : qn_cast(qn_abs(x), QN_F32);
    if (order == 2) return qn_norm(size, axes, keep);
    if (order == 1) return qn_sum(size, axes, keep);
    if (order == 0) return qn_cast(qn_count_nonzero(size, axes, keep), qn_tensor_type(size));
    if (isinf(order)) return order > 0 ? qn_max(size, axes, keep) : qn_min(size, axes, keep);
    return qn_power(qn_sum(qn_power(size, order), axes, keep), 1 / order);
}

static double precision_of(qn_element type) {
    return type == QN_F64 ? DBL_EPSILON : type == QN_F16 ? 0x1p-10 : type == QN_BF16 ? 0x1p-7 : FLT_EPSILON;
}

/* Singular values below this part of the largest one count as 0. */
static double limit_of(const qn_tensor *x, qn_element own, double tolerance) {
    const qn__node *node = x->node;
    const uint64_t m = node->sizes[node->rank - 2], n = node->sizes[node->rank - 1];
    return tolerance > 0 ? tolerance : (double)(m > n ? m : n) * precision_of(own);
}

qn_tensor *qn_matrix_norm(qn_tensor *x, qn_matrix_norm_kind kind) {
    static const char function[] = "qn_matrix_norm";
    qn_element own;
    qn_tensor *wrong = qn__linear_matrices(function, &x, false, &own);
    if (wrong) return wrong;
    const qn_axes rows = {1, {-2}}, columns = {1, {-1}};
    qn_tensor *y;
    switch (kind) {
    case QN_NORM_FROBENIUS: y = qn_norm(x, (qn_axes){2, {-2, -1}}, false); break;
    case QN_NORM_NUCLEAR: y = qn_sum(qn_svd(x, NULL, NULL), columns, false); break;
    case QN_NORM_SPECTRAL: y = qn_max(qn_svd(x, NULL, NULL), columns, false); break;
    case QN_NORM_LEAST_SPECTRAL: y = qn_min(qn_svd(x, NULL, NULL), columns, false); break;
    case QN_NORM_COLUMNS: y = qn_max(qn_sum(qn_abs(x), rows, false), columns, false); break;
    case QN_NORM_LEAST_COLUMN: y = qn_min(qn_sum(qn_abs(x), rows, false), columns, false); break;
    case QN_NORM_ROWS: y = qn_max(qn_sum(qn_abs(x), columns, false), columns, false); break;
    case QN_NORM_LEAST_ROW: y = qn_min(qn_sum(qn_abs(x), columns, false), columns, false); break;
    default:
        return qn__failed(x->owner, function, QN_ERROR_ARGUMENT, "%u is no kind of norm", (unsigned)kind);
    }
    return qn_cast(y, own);
}

qn_tensor *qn_matrix_rank(qn_tensor *x, double tolerance) {
    qn_element own;
    qn_tensor *wrong = qn__linear_matrices("qn_matrix_rank", &x, false, &own);
    if (wrong) return wrong;
    if (!x->node->sizes[x->node->rank - 1] || !x->node->sizes[x->node->rank - 2])
        return qn_sum(qn_zeros_like(qn_cast(x, QN_I64)), (qn_axes){2, {-2, -1}}, false);
    qn_tensor *values = qn_svd(x, NULL, NULL);
    qn_tensor *least = qn_multiply(qn_max(values, QN_AXES(-1), true), limit_of(x, own, tolerance));
    return qn_sum(qn_greater(values, least), QN_AXES(-1), false);
}

qn_tensor *qn_pseudo_inverse(qn_tensor *x, double tolerance) {
    qn_element own;
    qn_tensor *wrong = qn__linear_matrices("qn_pseudo_inverse", &x, false, &own);
    if (wrong) return wrong;
    if (!qn_tensor_count(x)) return qn_cast(qn_transpose(x, -1, -2), own);
    qn_tensor *u, *v, *s = qn_svd(x, &u, &v);
    qn_tensor *counts = qn_greater(s, qn_multiply(qn_max(s, QN_AXES(-1), true), limit_of(x, own, tolerance)));
    qn_tensor *inverse = qn_where(counts, qn_reciprocal(qn_where(counts, s, 1)), 0);
    return qn_cast(qn_matmul(qn_multiply(v, qn_unsqueeze(inverse, -2)), qn_transpose(u, -1, -2)), own);
}
