/* Rows of quern bench kernels: sums, extremes, scans and norms. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_kernels.h"

static qn_status run_total(const bench_operands *t) {
    return qn_kernels_reduce(
        t->d->kernels, t->d->stream,
        &(qn_reduce_desc){.to = QN_ARRAY(t->to, QN_F32, 1), .from = bench_floats(t, t->from)});
}

static qn_status run_row_sums(const bench_operands *t) {
    return qn_kernels_reduce(t->d->kernels, t->d->stream,
                             &(qn_reduce_desc){.axes = 2,
                                               .to = QN_ARRAY(t->to, QN_F32, t->side),
                                               .from = bench_square(t, t->from)});
}

static qn_status run_column_sums(const bench_operands *t) {
    return qn_kernels_reduce(t->d->kernels, t->d->stream,
                             &(qn_reduce_desc){.axes = 1,
                                               .to = QN_ARRAY(t->to, QN_F32, t->side),
                                               .from = bench_square(t, t->from)});
}

/* `count` elements that are `step` apart, and the sum that came out. */
static bool is_sum_of(const float *x, uint64_t count, uint64_t step, float result) {
    double sum = 0, sizes = 0;
    for (uint64_t i = 0; i < count; i++) sum += x[i * step], sizes += fabsf(x[i * step]);
    return fabs(result - sum) <= 1e-6 * sizes;
}

static bool is_total(const bench_operands *t, const void *result) {
    return is_sum_of(t->x, t->count, 1, bench_number(result, 0));
}

static bool is_row_sums(const bench_operands *t, const void *result) {
    for (uint64_t i = 0; i < t->side; i++)
        if (!is_sum_of(t->x + i * t->side, t->side, 1, bench_number(result, i))) return false;
    return true;
}

static bool is_column_sums(const bench_operands *t, const void *result) {
    for (uint64_t i = 0; i < t->side; i++)
        if (!is_sum_of(t->x + i, t->side, t->side, bench_number(result, i))) return false;
    return true;
}

static qn_status run_least(const bench_operands *t) {
    return qn_kernels_reduce(t->d->kernels, t->d->stream,
                             &(qn_reduce_desc){.operation = QN_REDUCE_ARGMIN,
                                               .to = QN_ARRAY(t->to, QN_U32, 1),
                                               .from = bench_floats(t, t->from)});
}

static qn_status run_row_largest(const bench_operands *t) {
    return qn_kernels_reduce(t->d->kernels, t->d->stream,
                             &(qn_reduce_desc){.operation = QN_REDUCE_ARGMAX,
                                               .axes = 2,
                                               .to = QN_ARRAY(t->to, QN_U32, t->side),
                                               .from = bench_square(t, t->from)});
}

static bool is_least(const bench_operands *t, const void *result) {
    uint64_t least = 0;
    for (uint64_t i = 1; i < t->count; i++)
        if (t->x[i] < t->x[least]) least = i;
    return *(const uint32_t *)result == least;
}

static bool is_row_largest(const bench_operands *t, const void *result) {
    for (uint64_t row = 0; row < t->side; row++) {
        const float *x = t->x + row * t->side;
        uint64_t largest = 0;
        for (uint64_t i = 1; i < t->side; i++)
            if (x[i] > x[largest]) largest = i;
        if (((const uint32_t *)result)[row] != largest) return false;
    }
    return true;
}

static qn_status run_scan(const bench_operands *t) {
    return qn_kernels_scan(t->d->kernels, t->d->stream,
                           &(qn_scan_desc){.to = bench_floats(t, t->to), .from = bench_floats(t, t->from)});
}

static qn_status run_column_scans(const bench_operands *t) {
    return qn_kernels_scan(t->d->kernels, t->d->stream,
                           &(qn_scan_desc){.to = bench_square(t, t->to), .from = bench_square(t, t->from)});
}

/* `count` sums that are `step` apart. */
static bool is_scan_of(const bench_operands *t, const float *result, uint64_t first, uint64_t count,
                       uint64_t step) {
    double sum = 0, sizes = 0;
    for (uint64_t i = first; i < first + count * step; i += step) {
        sum += t->x[i], sizes += fabsf(t->x[i]);
        if (!(fabs(result[i] - sum) <= 1e-6 * sizes)) return false;
    }
    return true;
}

static bool is_scan(const bench_operands *t, const void *result) {
    return is_scan_of(t, result, 0, t->count, 1);
}

static bool is_column_scans(const bench_operands *t, const void *result) {
    for (uint64_t i = 0; i < t->side; i++)
        if (!is_scan_of(t, result, i, t->side, t->side)) return false;
    return true;
}

static qn_status run_rms_norm(const bench_operands *t) {
    return qn_kernels_rms_norm(
        t->d->kernels, t->d->stream,
        &(qn_norm_desc){.to = bench_square(t, t->to), .from = bench_square(t, t->from)});
}

static bool is_rms_norm(const bench_operands *t, const void *result) {
    for (uint64_t row = 0; row < t->side; row++) {
        const float *x = t->x + row * t->side;
        double squares = 0;
        for (uint64_t i = 0; i < t->side; i++) squares += (double)x[i] * x[i];
        const double scale = 1 / sqrt(squares / (double)t->side + 1e-5);
        for (uint64_t i = 0; i < t->side; i++)
            if (!(fabs(bench_number(result, row * t->side + i) - x[i] * scale) <= 1e-5 * fabs(x[i] * scale)))
                return false;
    }
    return true;
}

static qn_status run_layer_norm(const bench_operands *t) {
    const qn_array weight = QN_ARRAY(t->other, QN_F32, t->side);
    return qn_kernels_layer_norm(t->d->kernels, t->d->stream,
                                 &(qn_norm_desc){.to = bench_square(t, t->to),
                                                 .from = bench_square(t, t->from),
                                                 .weight = weight,
                                                 .bias = weight});
}

typedef struct moments {
    double mean, scale; /* one over the deviation */
} moments;

static moments moments_of(const float *row, uint64_t n) {
    double sum = 0, squares = 0;
    for (uint64_t i = 0; i < n; i++) sum += row[i];
    for (uint64_t i = 0; i < n; i++) squares += (row[i] - sum / (double)n) * (row[i] - sum / (double)n);
    return (moments){sum / (double)n, 1 / sqrt(squares / (double)n + 1e-5)};
}

static bool is_layer_norm(const bench_operands *t, const void *result) {
    for (uint64_t row = 0; row < t->side; row++) {
        const float *x = t->x + row * t->side;
        const moments m = moments_of(x, t->side);
        for (uint64_t i = 0; i < t->side; i++) {
            const double part = (x[i] - m.mean) * m.scale * t->y[i];
            if (!(fabs(bench_number(result, row * t->side + i) - part - t->y[i]) <=
                  1e-5 * (fabs(part) + fabs(t->y[i]))))
                return false;
        }
    }
    return true;
}

/* The rows but the last one, which is where the gradient by weights goes. */
static qn_array upper_of(const bench_operands *t, qn_buffer *buffer) {
    return QN_ARRAY(buffer, QN_F32, t->side - 1, t->side);
}

static qn_status run_layer_norm_backward(const bench_operands *t) {
    return qn_kernels_layer_norm_backward(
        t->d->kernels, t->d->stream,
        &(qn_norm_backward_desc){.to = upper_of(t, t->to),
                                 .from = upper_of(t, t->from),
                                 .gradient = upper_of(t, t->other),
                                 .to_weight = {t->to, (t->side - 1) * t->side, QN_F32, 1, {t->side}, {1}}});
}

/* Every so many rows; of the gradient by weights the sums over all. */
static bool is_layer_norm_backward(const bench_operands *t, const void *result) {
    const uint64_t n = t->side, rows = n - 1, step = rows / 64 + 1;
    double *sums = tool_alloc(n * sizeof *sums), *sizes = tool_alloc(n * sizeof *sizes);
    memset(sums, 0, n * sizeof *sums), memset(sizes, 0, n * sizeof *sizes);
    bool right = true;
    for (uint64_t row = 0; row < rows; row++) {
        const float *x = t->x + row * n, *dy = t->y + row * n;
        const moments m = moments_of(x, n);
        double dot = 0, all = 0;
        for (uint64_t i = 0; i < n; i++) {
            const double h = (x[i] - m.mean) * m.scale;
            dot += h * dy[i] / (double)n, all += dy[i] / (double)n;
            sums[i] += h * dy[i], sizes[i] += fabs(h * dy[i]);
        }
        for (uint64_t i = 0; i < n && row % step == 0; i++) {
            const double wanted = m.scale * (dy[i] - all - (x[i] - m.mean) * m.scale * dot);
            right = right && fabs(bench_number(result, row * n + i) - wanted) <= 1e-5 * m.scale;
        }
    }
    for (uint64_t i = 0; i < n; i++)
        right = right && fabs(bench_number(result, rows * n + i) - sums[i]) <= 1e-5 * sizes[i];
    free(sums), free(sizes);
    return right;
}

static const bench_row rows[] = {
    {"sum f32", run_total, is_total, 4, false, NULL, NULL, NULL},
    {"sums of rows f32", run_row_sums, is_row_sums, 4, true, NULL, NULL, NULL},
    {"sums of columns f32", run_column_sums, is_column_sums, 4, true, NULL, NULL, NULL},
    {"argmin f32", run_least, is_least, 4, false, NULL, NULL, NULL},
    {"argmax of rows f32", run_row_largest, is_row_largest, 4, true, NULL, NULL, NULL},
    {"scan f32", run_scan, is_scan, 8, false, NULL, NULL, NULL},
    {"scans of columns f32", run_column_scans, is_column_scans, 8, true, NULL, NULL, NULL},
    {"rms norm f32", run_rms_norm, is_rms_norm, 8, true, NULL, NULL, NULL},
    {"layer norm f32", run_layer_norm, is_layer_norm, 8, true, NULL, NULL, NULL},
    {"layer norm backward f32", run_layer_norm_backward, is_layer_norm_backward, 12, true, NULL, NULL, NULL}};
const bench_row_list bench_rows_of_sums = {rows, sizeof rows / sizeof *rows};
