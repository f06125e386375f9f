/* Rows of quern bench kernels: softmax, its logarithm and its gradient. */
#include <math.h>

#include "bench_kernels.h"

/* Rows as long as those of models' attention, where there are elements for one. */
enum { LONG = 4096 };

static qn_array long_rows(const bench_operands *t, qn_buffer *buffer) {
    return QN_ARRAY(buffer, QN_F32, t->count / LONG, LONG);
}

static double bytes_of_long_rows(const bench_operands *t) { return (double)(t->count / LONG * LONG) * 8; }

static qn_status softmax_of(const bench_operands *t, qn_array to, qn_array from, bool log) {
    return qn_kernels_softmax(t->d->kernels, t->d->stream,
                              &(qn_softmax_desc){.to = to, .from = from, .log = log});
}

static qn_status run_softmax(const bench_operands *t) {
    return softmax_of(t, bench_square(t, t->to), bench_square(t, t->from), false);
}

static qn_status run_long_softmax(const bench_operands *t) {
    return softmax_of(t, long_rows(t, t->to), long_rows(t, t->from), false);
}

static qn_status run_log_softmax(const bench_operands *t) {
    return softmax_of(t, bench_square(t, t->to), bench_square(t, t->from), true);
}

static double sum_of_exp(const float *x, uint64_t count) {
    double sum = 0;
    for (uint64_t i = 0; i < count; i++) sum += exp((double)x[i]);
    return sum;
}

static bool are_softmax(const bench_operands *t, const void *result, uint64_t rows, uint64_t columns) {
    for (uint64_t row = 0; row < rows; row++) {
        const float *x = t->x + row * columns;
        const double sum = sum_of_exp(x, columns);
        for (uint64_t i = 0; i < columns; i++) {
            const double wanted = exp((double)x[i]) / sum;
            if (!(fabs(bench_number(result, row * columns + i) - wanted) <= 1e-5 * wanted)) return false;
        }
    }
    return true;
}

static bool is_softmax(const bench_operands *t, const void *result) {
    return are_softmax(t, result, t->side, t->side);
}

static bool is_long_softmax(const bench_operands *t, const void *result) {
    return are_softmax(t, result, t->count / LONG, LONG);
}

static bool is_log_softmax(const bench_operands *t, const void *result) {
    for (uint64_t row = 0; row < t->side; row++) {
        const float *x = t->x + row * t->side;
        const double log_sum = log(sum_of_exp(x, t->side));
        for (uint64_t i = 0; i < t->side; i++)
            if (!(fabs(bench_number(result, row * t->side + i) - (x[i] - log_sum)) <= 1e-5 * (1 + log_sum)))
                return false;
    }
    return true;
}

/* Of the first operand as what softmax gave, and the second as the gradient by that: the formula holds for any numbers. */
static qn_status run_backward(const bench_operands *t) {
    return qn_kernels_softmax_backward(t->d->kernels, t->d->stream,
                                       &(qn_softmax_backward_desc){.to = bench_square(t, t->to),
                                                                   .result = bench_square(t, t->from),
                                                                   .gradient = bench_square(t, t->other)});
}

static bool is_backward(const bench_operands *t, const void *result) {
    for (uint64_t row = 0; row < t->side; row++) {
        const float *y = t->x + row * t->side, *gradient = t->y + row * t->side;
        double sum = 0, sizes = 0;
        for (uint64_t i = 0; i < t->side; i++) {
            sum += (double)y[i] * gradient[i];
            sizes += fabs((double)y[i] * gradient[i]);
        }
        for (uint64_t i = 0; i < t->side; i++) {
            const double wanted = y[i] * (gradient[i] - sum), size = fabs(y[i]) * (1 + sizes);
            if (!(fabs(bench_number(result, row * t->side + i) - wanted) <= 1e-5 * size)) return false;
        }
    }
    return true;
}

static const bench_row rows[] = {
    {"softmax f32", run_softmax, is_softmax, 8, true, NULL, NULL, NULL},
    {"softmax f32, rows of 4096", run_long_softmax, is_long_softmax, 0, false, bytes_of_long_rows, NULL,
     NULL},
    {"log-softmax f32", run_log_softmax, is_log_softmax, 8, true, NULL, NULL, NULL},
    {"softmax backward f32", run_backward, is_backward, 12, true, NULL, NULL, NULL}};
const bench_row_list bench_rows_of_softmax = {rows, sizeof rows / sizeof *rows};
