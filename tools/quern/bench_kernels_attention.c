/* Rows of quern bench kernels: attention, and its gradients. */
#include <math.h>
#include <string.h>

#include "bench_kernels.h"

/* q, k and v, one after the other, are the first operand as bf16. With few elements heads are fewer and smaller. */
enum { HEADS = 16, HEAD_SIZE = 64 };

/* What a device of this kind does in less than a second. */
static uint64_t longest(const bench_operands *t) { return bench_is_gpu(t->d) ? 2048 : 512; }
static uint64_t most_batches(const bench_operands *t) { return bench_is_gpu(t->d) ? 8 : 1; }

static qn_array heads_of(const bench_operands *t, qn_buffer *buffer, uint64_t which) {
    const uint64_t each = t->count / 3, size = each < HEAD_SIZE ? 1 : HEAD_SIZE,
                   heads = each < HEADS * size ? 1 : HEADS;
    const uint64_t room = each / (heads * size), length = room < longest(t) ? room : longest(t);
    const uint64_t fit = length ? room / length : 0, batches = fit < most_batches(t) ? fit : most_batches(t);
    qn_array a = QN_ARRAY(buffer, QN_BF16, batches, heads, length, size);
    a.offset = which * qn_array_count(&a);
    return a;
}

/* What gradients are of: the same for `out` as the values, after which the logarithms come. */
enum { TO_Q, TO_K, TO_V, OUT, LOGS };

static qn_array logs_of(const bench_operands *t) {
    const qn_array q = heads_of(t, t->to, 0);
    qn_array logs = QN_ARRAY(t->to, QN_F32, q.sizes[0], q.sizes[1], q.sizes[2]);
    logs.offset = LOGS * qn_array_count(&q) / 2; /* in elements of twice the size */
    return logs;
}

static qn_status run_attention(const bench_operands *t) {
    return qn_kernels_attention(t->d->kernels, t->d->stream,
                                &(qn_attention_desc){.q = heads_of(t, t->narrow, 0),
                                                     .k = heads_of(t, t->narrow, 1),
                                                     .v = heads_of(t, t->narrow, 2),
                                                     .out = heads_of(t, t->to, 0),
                                                     .causal = true});
}

static qn_status prepare_backward(const bench_operands *t) {
    return qn_kernels_attention(t->d->kernels, t->d->stream,
                                &(qn_attention_desc){.q = heads_of(t, t->narrow, 0),
                                                     .k = heads_of(t, t->narrow, 1),
                                                     .v = heads_of(t, t->narrow, 2),
                                                     .out = heads_of(t, t->to, OUT),
                                                     .logs = logs_of(t),
                                                     .causal = true});
}

/* The gradient by what came out has the values of v. */
static qn_status run_backward(const bench_operands *t) {
    return qn_kernels_attention_backward(t->d->kernels, t->d->stream,
                                         &(qn_attention_backward_desc){.q = heads_of(t, t->narrow, 0),
                                                                       .k = heads_of(t, t->narrow, 1),
                                                                       .v = heads_of(t, t->narrow, 2),
                                                                       .out = heads_of(t, t->to, OUT),
                                                                       .logs = logs_of(t),
                                                                       .gradient = heads_of(t, t->narrow, 2),
                                                                       .to_q = heads_of(t, t->to, TO_Q),
                                                                       .to_k = heads_of(t, t->to, TO_K),
                                                                       .to_v = heads_of(t, t->to, TO_V),
                                                                       .causal = true});
}

/* ---- what the results are ---- */

static double bf16_number(uint32_t bits) {
    float value;
    bits <<= 16;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Element `at` of the first operand as bf16. */
static double narrow_at(const bench_operands *t, uint64_t at) {
    uint32_t bits;
    memcpy(&bits, &t->x[at], sizeof bits);
    return bf16_number((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Rows of all heads, one after another: of q, k and v, by which of them, row and column. */
typedef struct rows_of_heads {
    const bench_operands *t;
    uint64_t all, length, size,
        count; /* elements of each; rows of a head; their elements; rows of all heads */
} rows_of_heads;

static rows_of_heads rows_of(const bench_operands *t) {
    const qn_array q = heads_of(t, NULL, 0);
    const uint64_t all = qn_array_count(&q);
    return (rows_of_heads){t, all, q.sizes[2], q.sizes[3], q.sizes[3] ? all / q.sizes[3] : 0};
}

static double operand_at(const rows_of_heads *r, uint64_t which, uint64_t row, uint64_t column) {
    return narrow_at(r->t, which * r->all + row * r->size + column);
}

static double dot(const rows_of_heads *r, uint64_t which_a, uint64_t row_a, uint64_t which_b,
                  uint64_t row_b) {
    double sum = 0;
    for (uint64_t c = 0; c < r->size; c++)
        sum += operand_at(r, which_a, row_a, c) * operand_at(r, which_b, row_b, c);
    return sum;
}

static double score(const rows_of_heads *r, uint64_t query, uint64_t key) {
    return dot(r, 0, query, 1, key) / sqrt((double)r->size);
}

/* Of a query: the sum of its weights, and the row that comes out. */
typedef struct attended {
    double weights, out[HEAD_SIZE];
} attended;

static attended attend(const rows_of_heads *r, uint64_t row) {
    attended a = {.weights = 0};
    for (uint64_t j = row / r->length * r->length; j <= row; j++) {
        const double weight = exp(score(r, row, j));
        a.weights += weight;
        for (uint64_t c = 0; c < r->size; c++) a.out[c] += weight * operand_at(r, 2, j, c);
    }
    for (uint64_t c = 0; c < r->size; c++) a.out[c] /= a.weights;
    return a;
}

static double result_at(const void *result, uint64_t at) {
    return bf16_number(((const uint16_t *)result)[at]);
}

static bool is_attended(const rows_of_heads *r, const void *result, uint64_t row) {
    const attended a = attend(r, row);
    for (uint64_t c = 0; c < r->size; c++)
        if (!(fabs(result_at(result, row * r->size + c) - a.out[c]) <= 0.01)) return false;
    return true;
}

/* Weights are rounded to bf16 before they are summed, and so is the sum. */
static bool is_near(double value, double wanted, double sizes) {
    return fabs(value - wanted) <= sizes * 0x1p-7 + fabs(wanted) * 0x1p-8 + 1e-6;
}

/* The logarithm of a query's sum, and its gradient. */
static bool is_query_gradient(const rows_of_heads *r, const void *result, uint64_t row) {
    const attended a = attend(r, row);
    const float log_sum = ((const float *)result)[LOGS * r->all / 2 + row];
    double sums[HEAD_SIZE] = {0}, sizes[HEAD_SIZE] = {0}, product = 0;
    if (!(fabs(log_sum - log(a.weights)) <= 1e-3)) return false;
    for (uint64_t c = 0; c < r->size; c++) product += operand_at(r, 2, row, c) * a.out[c];
    for (uint64_t j = row / r->length * r->length; j <= row; j++) {
        const double weight = exp(score(r, row, j)) / a.weights, by_weight = dot(r, 2, row, 2, j);
        for (uint64_t c = 0; c < r->size; c++) {
            const double k = operand_at(r, 1, j, c) / sqrt((double)r->size);
            sums[c] += weight * (by_weight - product) * k;
            sizes[c] += weight * (fabs(by_weight) + fabs(product)) * fabs(k);
        }
    }
    for (uint64_t c = 0; c < r->size; c++)
        if (!is_near(result_at(result, TO_Q * r->all + row * r->size + c), sums[c], sizes[c])) return false;
    return true;
}

/* The gradients by a key and its value, from what the forward call wrote. */
static bool is_key_gradient(const rows_of_heads *r, const void *result, uint64_t key) {
    double by_key[HEAD_SIZE] = {0}, key_sizes[HEAD_SIZE] = {0}, by_value[HEAD_SIZE] = {0},
           value_sizes[HEAD_SIZE] = {0};
    for (uint64_t i = key; i < (key / r->length + 1) * r->length; i++) {
        const float log_sum = ((const float *)result)[LOGS * r->all / 2 + i];
        const double weight = exp(score(r, i, key) - log_sum), by_weight = dot(r, 2, i, 2, key);
        double product = 0;
        for (uint64_t c = 0; c < r->size; c++)
            product += operand_at(r, 2, i, c) * result_at(result, OUT * r->all + i * r->size + c);
        for (uint64_t c = 0; c < r->size; c++) {
            const double gradient = operand_at(r, 2, i, c),
                         q = operand_at(r, 0, i, c) / sqrt((double)r->size);
            by_value[c] += weight * gradient, value_sizes[c] += weight * fabs(gradient);
            by_key[c] += weight * (by_weight - product) * q;
            key_sizes[c] += weight * (fabs(by_weight) + fabs(product)) * fabs(q);
        }
    }
    for (uint64_t c = 0; c < r->size; c++) {
        const uint64_t at = key * r->size + c;
        if (!is_near(result_at(result, TO_K * r->all + at), by_key[c], key_sizes[c]) ||
            !is_near(result_at(result, TO_V * r->all + at), by_value[c], value_sizes[c]))
            return false;
    }
    return true;
}

/* Some of the rows, the first and the last among them. */
static bool all_are(const bench_operands *t, const void *result, uint64_t looked_at,
                    bool (*is_right)(const rows_of_heads *r, const void *result, uint64_t row)) {
    const rows_of_heads r = rows_of(t);
    for (uint64_t i = 0; i <= looked_at && r.count; i++)
        if (!is_right(&r, result, (r.count - 1) * i / looked_at)) return false;
    return true;
}

static bool is_attention(const bench_operands *t, const void *result) {
    return all_are(t, result, 200, is_attended);
}

static bool is_backward(const bench_operands *t, const void *result) {
    return all_are(t, result, 99, is_query_gradient) && all_are(t, result, 99, is_key_gradient);
}

/* Two products of which half the scores count; of the gradients five. */
static double flops_of_attention(const bench_operands *t) {
    const qn_array q = heads_of(t, NULL, 0);
    return 2.0 * (double)qn_array_count(&q) * (double)q.sizes[2];
}

static double flops_of_backward(const bench_operands *t) { return flops_of_attention(t) * 5 / 2; }

static const bench_row rows[] = {
    {"attention bf16, causal", run_attention, is_attention, 0, false, flops_of_attention, "FLOP/s", NULL},
    {"attention backward bf16, causal", run_backward, is_backward, 0, false, flops_of_backward, "FLOP/s",
     prepare_backward}};
const bench_row_list bench_rows_of_attention = {rows, sizeof rows / sizeof *rows};
