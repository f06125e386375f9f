/* How the operands of a product lie: which strides are along k, which neighbours can be loaded at once. */
#include <stdlib.h>

#include "kernels/matmul.h"

int64_t qn__matmul_along_k(const qn__matmul *q, qn__matmul_operand x) {
    return x == QN__MATMUL_A ? q->column[x] : q->row[x];
}
int64_t qn__matmul_along_side(const qn__matmul *q, qn__matmul_operand x) {
    return x == QN__MATMUL_A ? q->row[x] : q->column[x];
}

uint64_t qn__matmul_side(const qn__matmul *q, qn__matmul_operand x) {
    return x == QN__MATMUL_A ? q->m : q->n;
}

uint64_t qn__matmul_batches(const qn__matmul *q) {
    const qn_array *out = &q->arrays[QN__MATMUL_OUT];
    uint64_t count = 1;
    for (uint32_t d = 0; d + 2 < out->rank; d++) count *= out->sizes[d];
    return count;
}

bool qn__matmul_is_double(const qn__matmul *q) { return q->arrays[QN__MATMUL_A].type == QN_F64; }

bool qn__matmul_is_integer(const qn__matmul *q) {
    return !qn__element(q->arrays[QN__MATMUL_A].type)->is_float;
}

static bool in_runs(const qn__matmul *q, qn__matmul_operand x, int64_t next, int64_t other, uint32_t run) {
    const qn_array *a = &q->arrays[x];
    bool good = next == 1 && other % run == 0 && a->offset % run == 0;
    for (uint32_t d = 0; d + 2 < a->rank; d++) good = good && (a->sizes[d] == 1 || a->strides[d] % run == 0);
    return good;
}

bool qn__matmul_in_runs(const qn__matmul *q, qn__matmul_operand x, int64_t next, int64_t other,
                        uint32_t run) {
    return q->arrays[x].type != QN_F64 && in_runs(q, x, next, other, run);
}

bool qn__matmul_in_pairs(const qn__matmul *q, qn__matmul_operand x, int64_t next, int64_t other) {
    return in_runs(q, x, next, other, 2);
}

bool qn__matmul_in_fours(const qn__matmul *q, qn__matmul_operand x, int64_t next, int64_t other) {
    return qn__matmul_in_runs(q, x, next, other, 4);
}

bool qn__matmul_taken_along_k(const qn__matmul *q, qn__matmul_operand x) {
    const int64_t k = qn__matmul_along_k(q, x), side = qn__matmul_along_side(q, x);
    return side != 1 && (k == 1 || llabs(k) < llabs(side));
}

bool qn__matmul_in_pieces(const qn__matmul *q, qn__matmul_operand x) {
    const int64_t k = qn__matmul_along_k(q, x), side = qn__matmul_along_side(q, x);
    const uint32_t run = 16 / qn__element(q->arrays[x].type)->size;
    return qn__matmul_taken_along_k(q, x) ? in_runs(q, x, k, side, run) : in_runs(q, x, side, k, run);
}

bool qn__matmul_in_vectors(const qn__matmul *q, qn__matmul_operand x) {
    const bool k_first = qn__matmul_taken_along_k(q, x);
    const int64_t k = qn__matmul_along_k(q, x), side = qn__matmul_along_side(q, x);
    return k_first ? q->k % 4 == 0 && qn__matmul_in_fours(q, x, k, side)
                   : qn__matmul_side(q, x) % 4 == 0 && qn__matmul_in_fours(q, x, side, k);
}
