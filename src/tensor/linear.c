/* Linear algebra of batches of small matrices: calls of kernels.h. A call of several results gives them one behind the other, as one row; what
   is handed out are views of it, so that a gradient by any of them goes back through one op. */
#include <string.h>

#include "tensor/linear.h"

/* Where an op's integers are. */
enum { UPPER, UNIT };
enum { COLUMNS };

/* ---- the calls ---- */

qn_status qn__cholesky_run(qn_tensors *tensors, const qn__node *node, const qn_array *sources,
                           const qn_array *results) {
    (void)node;
    return qn_kernels_cholesky(tensors->kernels, tensors->stream,
                               &(qn_cholesky_desc){.from = sources[0], .to = results[0]});
}

qn_status qn__solve_run(qn_tensors *tensors, const qn__node *node, const qn_array *sources,
                        const qn_array *results) {
    (void)node;
    return qn_kernels_solve(tensors->kernels, tensors->stream,
                            &(qn_solve_desc){.matrix = sources[0], .from = sources[1], .to = results[0]});
}

qn_status qn__solve_triangular_run(qn_tensors *tensors, const qn__node *node, const qn_array *sources,
                                   const qn_array *results) {
    return qn_kernels_solve_triangular(
        tensors->kernels, tensors->stream,
        &(qn_solve_triangular_desc){.matrix = sources[0],
                                    .from = sources[1],
                                    .to = results[0],
                                    .upper = node->attributes.integers[UPPER] != 0,
                                    .unit = node->attributes.integers[UNIT] != 0});
}

/* The next of the results that lie one behind the other: of the batch of `like`, with `rank` sizes behind that. */
static qn_array next_result(qn_array *row, const qn_array *like, uint32_t rank, uint64_t first,
                            uint64_t second) {
    const uint64_t tail[] = {first, second};
    qn_array a = *row;
    a.rank = like->rank - 2 + rank;
    memset(a.strides, 0, sizeof a.strides);
    for (uint32_t d = 0; d < a.rank; d++)
        a.sizes[d] = d + 2 < like->rank ? like->sizes[d] : tail[d + 2 - like->rank];
    row->offset += qn_array_count(&a);
    return a;
}

qn_status qn__determinant_run(qn_tensors *tensors, const qn__node *node, const qn_array *sources,
                              const qn_array *results) {
    (void)node;
    qn_array row = results[0];
    qn_determinant_desc d = {.from = sources[0]};
    d.log = next_result(&row, &d.from, 0, 0, 0);
    d.sign = next_result(&row, &d.from, 0, 0, 0);
    return qn_kernels_determinant(tensors->kernels, tensors->stream, &d);
}

qn_status qn__qr_run(qn_tensors *tensors, const qn__node *node, const qn_array *sources,
                     const qn_array *results) {
    const uint64_t columns = (uint64_t)node->attributes.integers[COLUMNS];
    qn_array row = results[0];
    qn_qr_desc d = {.from = sources[0]};
    d.q = next_result(&row, &d.from, 2, d.from.sizes[d.from.rank - 2], columns);
    d.r = next_result(&row, &d.from, 2, columns, d.from.sizes[d.from.rank - 1]);
    return qn_kernels_qr(tensors->kernels, tensors->stream, &d);
}

qn_status qn__eigen_run(qn_tensors *tensors, const qn__node *node, const qn_array *sources,
                        const qn_array *results) {
    (void)node;
    qn_array row = results[0];
    qn_eigen_desc d = {.from = sources[0]};
    const uint64_t n = d.from.sizes[d.from.rank - 1];
    d.values = next_result(&row, &d.from, 1, n, 0);
    d.vectors = next_result(&row, &d.from, 2, n, n);
    return qn_kernels_eigen(tensors->kernels, tensors->stream, &d);
}

qn_status qn__svd_run(qn_tensors *tensors, const qn__node *node, const qn_array *sources,
                      const qn_array *results) {
    (void)node;
    qn_array row = results[0];
    qn_svd_desc d = {.from = sources[0]};
    const uint64_t m = d.from.sizes[d.from.rank - 2], n = d.from.sizes[d.from.rank - 1];
    d.values = next_result(&row, &d.from, 1, n, 0);
    d.u = next_result(&row, &d.from, 2, m, n);
    d.v = next_result(&row, &d.from, 2, n, n);
    return qn_kernels_svd(tensors->kernels, tensors->stream, &d);
}

/* ---- results one behind the other ---- */

qn_tensor *qn__linear_part(qn_tensor *row, uint64_t *begin, const qn__node *like, uint32_t rank,
                           uint64_t first, uint64_t second) {
    qn_shape shape = {.rank = like->rank - 2u + rank};
    const uint64_t tail[] = {first, second};
    uint64_t count = 1;
    for (uint32_t d = 0; d < shape.rank; d++) {
        shape.sizes[d] = d + 2u < like->rank ? like->sizes[d] : tail[d + 2u - like->rank];
        count *= shape.sizes[d];
    }
    qn_tensor *part = qn_slice(row, 0, (int64_t)*begin, (int64_t)(*begin + count), 1);
    *begin += count;
    return qn_reshape(part, shape);
}

static uint64_t batch_of(const qn__node *x) {
    uint64_t count = 1;
    for (uint32_t d = 0; d + 2u < x->rank; d++) count *= x->sizes[d];
    return count;
}

/* A call whose results, `each` elements for each matrix, are one row. */
static qn_tensor *row_call(qn__op op, qn_tensor *x, uint64_t each, int64_t integer) {
    const uint64_t count = batch_of(x->node) * each;
    qn__node *node = qn__call_node(x->owner, op, (qn_element)x->node->type, 1, &count, &x->node, 1);
    if (node) node->attributes.integers[COLUMNS] = integer;
    return qn__handle(x->owner, node);
}

uint32_t qn__linear_counts(const qn__node *call, uint64_t *counts) {
    const qn__node *x = call->sources[0];
    const uint64_t batch = batch_of(x), m = x->sizes[x->rank - 2], n = x->sizes[x->rank - 1],
                   columns = (uint64_t)call->attributes.integers[COLUMNS];
    switch (call->op) {
    case QN__OP_DETERMINANT: counts[0] = counts[1] = batch; return 2;
    case QN__OP_QR:
        counts[0] = batch * m * columns;
        counts[1] = batch * columns * n;
        return 2;
    case QN__OP_EIGEN:
        counts[0] = batch * n;
        counts[1] = batch * n * n;
        return 2;
    default:
        counts[0] = batch * n;
        counts[1] = batch * m * n;
        counts[2] = batch * n * n;
        return 3;
    }
}

/* ---- what is asked for ---- */

qn_tensor *qn__linear_matrices(const char *function, qn_tensor **x, bool square, qn_element *own) {
    qn_tensors *tensors;
    qn_tensor *wrong = qn__refuse(function, x, 1, &tensors);
    *own = QN_F32;
    if (wrong) return wrong;
    const qn__node *node = (*x)->node;
    if (node->rank < 2 || (square && node->sizes[node->rank - 1] != node->sizes[node->rank - 2]))
        return qn__failed(tensors, function, QN_ERROR_ARGUMENT, "%s is no %smatrix", qn__describe(node).text,
                          square ? "square " : "");
    if (qn__is_float((qn_element)node->type)) *own = (qn_element)node->type;
    *x = qn_cast(*x, qn__value_type(*own));
    return (*x)->status ? *x : NULL;
}

static uint64_t rows_of(const qn_tensor *x) { return x->node->sizes[x->node->rank - 2]; }
static uint64_t columns_of(const qn_tensor *x) { return x->node->sizes[x->node->rank - 1]; }

/* The failure as each of the results. */
static qn_tensor *all_fail(qn_tensor *wrong, qn_tensor **first, qn_tensor **second) {
    if (first) *first = wrong;
    if (second) *second = wrong;
    return wrong;
}

qn_tensor *qn_cholesky(qn_tensor *x) {
    qn_element own;
    qn_tensor *wrong = qn__linear_matrices("qn_cholesky", &x, true, &own);
    if (wrong) return wrong;
    qn__node *node = qn__call_node(x->owner, QN__OP_CHOLESKY, (qn_element)x->node->type, x->node->rank,
                                   x->node->sizes, &x->node, 1);
    return qn_cast(qn__handle(x->owner, node), own);
}

/* Both operands of a system of equations, of one type, with their batches broadcast. */
static qn_tensor *systems(const char *function, qn_tensor **a, qn_tensor **b, qn_element *own) {
    qn_tensors *tensors;
    qn_tensor *wrong = qn__refuse(function, (qn_tensor *[]){*a, *b}, 2, &tensors);
    if (!wrong) wrong = qn__linear_matrices(function, a, true, own);
    if (wrong) return wrong;
    const qn__node *x = (*a)->node, *y = (*b)->node;
    const qn_element type = qn__common_type(*own, (qn_element)y->type);
    qn_shape batch = {.rank = x->rank > y->rank ? x->rank : y->rank};
    bool fits = y->rank >= 2 && type != QN_ELEMENT_COUNT && x->sizes[x->rank - 1] == y->sizes[y->rank - 2];
    for (uint32_t back = 3; fits && back <= batch.rank; back++) {
        const uint64_t p = back <= x->rank ? x->sizes[x->rank - back] : 1,
                       q = back <= y->rank ? y->sizes[y->rank - back] : 1;
        fits = p == q || p == 1 || q == 1;
        batch.sizes[batch.rank - back] = p == 1 ? q : p;
    }
    if (!fits)
        return qn__failed(tensors, function, QN_ERROR_ARGUMENT, "%s and right sides of %s do not go together",
                          qn__describe(x).text, qn__describe(y).text);
    qn_shape sides = batch;
    batch.sizes[batch.rank - 2] = batch.sizes[batch.rank - 1] = sides.sizes[batch.rank - 2] =
        x->sizes[x->rank - 1];
    sides.sizes[batch.rank - 1] = y->sizes[y->rank - 1];
    *own = type;
    *a = qn_broadcast_to(qn_cast(*a, qn__value_type(type)), batch);
    *b = qn_broadcast_to(qn_cast(*b, qn__value_type(type)), sides);
    return (*a)->status ? *a : (*b)->status ? *b : NULL;
}

static qn_tensor *solve(const char *function, qn__op op, qn_tensor *a, qn_tensor *b, bool upper, bool unit) {
    const bool is_row = qn__node_of(b) && b->node->rank == 1;
    qn_element own;
    if (is_row) b = qn_unsqueeze(b, 1);
    qn_tensor *wrong = systems(function, &a, &b, &own);
    if (wrong) return wrong;
    qn__node *const sources[] = {a->node, b->node};
    qn__node *node =
        qn__call_node(a->owner, op, (qn_element)b->node->type, b->node->rank, b->node->sizes, sources, 2);
    if (node) {
        node->attributes.integers[UPPER] = upper;
        node->attributes.integers[UNIT] = unit;
    }
    qn_tensor *x = qn_cast(qn__handle(a->owner, node), own);
    return is_row ? qn_squeeze(x, (qn_axes){1, {-1}}) : x;
}

qn_tensor *qn_solve(qn_tensor *a, qn_tensor *b) {
    return solve("qn_solve", QN__OP_SOLVE, a, b, false, false);
}

qn_tensor *qn_solve_triangular(qn_tensor *a, qn_tensor *b, bool upper, bool unit) {
    return solve("qn_solve_triangular", QN__OP_SOLVE_TRIANGULAR, a, b, upper, unit);
}

qn_tensor *qn_inverse(qn_tensor *x) {
    qn_element own;
    qn_tensor *wrong = qn__linear_matrices("qn_inverse", &x, true, &own);
    if (wrong) return wrong;
    const uint64_t n = rows_of(x);
    return qn_cast(qn_solve(x, qn_eye(x->owner, qn_tensor_type(x), n, n, 0)), own);
}

qn_tensor *qn_log_determinant(qn_tensor *x, qn_tensor **sign) {
    qn_element own;
    qn_tensor *wrong = qn__linear_matrices("qn_log_determinant", &x, true, &own);
    if (wrong) return all_fail(wrong, sign, NULL);
    uint64_t begin = 0;
    qn_tensor *row = row_call(QN__OP_DETERMINANT, x, 2, 0);
    qn_tensor *size = qn_cast(qn__linear_part(row, &begin, x->node, 0, 0, 0), own);
    if (sign) *sign = qn_cast(qn_detach(qn__linear_part(row, &begin, x->node, 0, 0, 0)), own);
    return size;
}

qn_tensor *qn_determinant(qn_tensor *x) {
    qn_element own;
    qn_tensor *sign, *wrong = qn__linear_matrices("qn_determinant", &x, true, &own);
    if (wrong) return wrong;
    qn_tensor *size = qn_log_determinant(x, &sign);
    return qn_cast(qn_multiply(sign, qn_exp(size)), own);
}

/* Of more columns than rows: r of the further columns is q's products with them, so that gradients go through what is known. */
static qn_tensor *wide_qr(qn_tensor *x, qn_tensor **r) {
    const int64_t m = (int64_t)rows_of(x);
    qn_tensor *first, *q = qn_qr(qn_slice(x, -1, 0, m, 1), false, &first);
    qn_tensor *rest = qn_matmul(qn_transpose(q, -1, -2), qn_slice(x, -1, m, QN_END, 1));
    if (r) *r = qn_concat((qn_tensor *[]){first, rest}, 2, -1);
    return q;
}

qn_tensor *qn_qr(qn_tensor *x, bool complete, qn_tensor **r) {
    qn_element own;
    qn_tensor *wrong = qn__linear_matrices("qn_qr", &x, false, &own);
    if (wrong) return all_fail(wrong, r, NULL);
    const uint64_t m = rows_of(x), n = columns_of(x), columns = complete || m < n ? m : n;
    const bool needs_gradient = x->node->needs_gradient && !x->owner->no_gradient;
    uint64_t begin = 0;
    qn_tensor *q, *upper;
    if (m < n && needs_gradient) {
        q = wide_qr(x, &upper);
    } else {
        qn_tensor *row = row_call(QN__OP_QR, x, m * columns + columns * n, (int64_t)columns);
        q = qn__linear_part(row, &begin, x->node, 2, m, columns);
        upper = qn__linear_part(row, &begin, x->node, 2, columns, n);
    }
    if (r) *r = qn_cast(upper, own);
    return qn_cast(q, own);
}

qn_tensor *qn_eigen(qn_tensor *x, qn_tensor **vectors) {
    qn_element own;
    qn_tensor *wrong = qn__linear_matrices("qn_eigen", &x, true, &own);
    if (wrong) return all_fail(wrong, vectors, NULL);
    const uint64_t n = rows_of(x);
    uint64_t begin = 0;
    qn_tensor *row = row_call(QN__OP_EIGEN, x, n + n * n, 0);
    qn_tensor *values = qn__linear_part(row, &begin, x->node, 1, n, 0);
    if (vectors) *vectors = qn_cast(qn__linear_part(row, &begin, x->node, 2, n, n), own);
    return qn_cast(values, own);
}

qn_tensor *qn_svd(qn_tensor *x, qn_tensor **u, qn_tensor **v) {
    qn_element own;
    qn_tensor *wrong = qn__linear_matrices("qn_svd", &x, false, &own);
    if (wrong) return all_fail(wrong, u, v);
    if (rows_of(x) < columns_of(x)) return qn_cast(qn_svd(qn_transpose(x, -1, -2), v, u), own);
    const uint64_t m = rows_of(x), n = columns_of(x);
    uint64_t begin = 0;
    qn_tensor *row = row_call(QN__OP_SVD, x, n + m * n + n * n, 0);
    qn_tensor *values = qn__linear_part(row, &begin, x->node, 1, n, 0);
    qn_tensor *left = qn__linear_part(row, &begin, x->node, 2, m, n),
              *right = qn__linear_part(row, &begin, x->node, 2, n, n);
    if (u) *u = qn_cast(left, own);
    if (v) *v = qn_cast(right, own);
    return qn_cast(values, own);
}
