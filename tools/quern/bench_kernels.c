/* quern bench kernels: the calls of kernels.h that move data, each a row of a table: how it is called, what it must move, and
   what an element of its result is. Beside the rate there is its share of the device's rate of copying in the same run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_peer.h"

typedef struct kernels_task {
    bench_device *d;
    uint64_t count, side; /* elements, and of the largest square among them */
    uint32_t image[BENCH_IMAGE_NUMBERS];
    float *x, *y; /* the operands' values */
    uint32_t *
        places; /* indices of a table's rows, and columns of a sparse matrix: a quarter as many as elements */
    qn_buffer *from, *other, *to, *indices, *starts;
    qn_buffer *narrow; /* the first operand in bf16 */
    int row;
    const bench_peer *peer; /* whose time is measured; NULL: quern's */
    bool failed;            /* the peer's call */
} kernels_task;

static qn_array floats(const kernels_task *t, qn_buffer *buffer) {
    return QN_ARRAY(buffer, QN_F32, t->count);
}

static qn_status run_copy(const kernels_task *t) {
    return qn_kernels_copy(t->d->kernels, t->d->stream,
                           &(qn_copy_desc){.to = floats(t, t->to), .from = floats(t, t->from)});
}

static qn_status run_convert(const kernels_task *t) {
    return qn_kernels_copy(
        t->d->kernels, t->d->stream,
        &(qn_copy_desc){.to = QN_ARRAY(t->to, QN_BF16, t->count), .from = floats(t, t->from)});
}

static qn_status run_transpose(const kernels_task *t) {
    const qn_array square = QN_ARRAY(t->from, QN_F32, t->side, t->side);
    return qn_kernels_copy(t->d->kernels, t->d->stream,
                           &(qn_copy_desc){.to = QN_ARRAY(t->to, QN_F32, t->side, t->side),
                                           .from = qn_array_transpose(square, 0, 1)});
}

static const double filled = 2.5;

static qn_status run_fill(const kernels_task *t) {
    return qn_kernels_fill(t->d->kernels, t->d->stream,
                           &(qn_fill_desc){.to = floats(t, t->to), .value = filled});
}

static qn_status run_add(const kernels_task *t) {
    return qn_kernels_map(t->d->kernels, t->d->stream,
                          &(qn_map_desc){.function = QN_MAP_ADD,
                                         .to = floats(t, t->to),
                                         .from = {floats(t, t->from), floats(t, t->other)}});
}

static qn_status run_square(const kernels_task *t) {
    return qn_kernels_map(
        t->d->kernels, t->d->stream,
        &(qn_map_desc){.function = QN_MAP_SQUARE, .to = floats(t, t->to), .from = {floats(t, t->from)}});
}

static qn_status run_sort(const kernels_task *t) {
    return qn_kernels_sort(t->d->kernels, t->d->stream,
                           &(qn_sort_desc){.keys = floats(t, t->from), .to_keys = floats(t, t->to)});
}

enum { BINS = 256, TAPS = 5 };

static qn_status run_histogram(const kernels_task *t) {
    return qn_kernels_histogram(
        t->d->kernels, t->d->stream,
        &(qn_histogram_desc){
            .from = floats(t, t->from), .to = QN_ARRAY(t->to, QN_U32, BINS), .low = -1, .high = 1});
}

/* By the bytes of y; how many there are is the last element of the result. */
static qn_status run_compact(const kernels_task *t) {
    const uint64_t count = t->count - 1;
    return qn_kernels_compact(
        t->d->kernels, t->d->stream,
        &(qn_compact_desc){.from = QN_ARRAY(t->from, QN_F32, count),
                           .mask = QN_ARRAY(t->other, QN_U8, count),
                           .to = QN_ARRAY(t->to, QN_F32, count),
                           .count = {.buffer = t->to, .offset = count, .type = QN_U32}});
}

/* How many there are is the last element of the result, as above. */
static qn_status run_unique(const kernels_task *t) {
    const uint64_t count = t->count - 1;
    return qn_kernels_unique(t->d->kernels, t->d->stream,
                             &(qn_unique_desc){.from = QN_ARRAY(t->from, QN_F32, count),
                                               .to = QN_ARRAY(t->to, QN_F32, count),
                                               .count = {.buffer = t->to, .offset = count, .type = QN_U32}});
}

static qn_status run_blur(const kernels_task *t) {
    return qn_kernels_blur(t->d->kernels, t->d->stream,
                           &(qn_blur_desc){.from = QN_ARRAY(t->from, QN_F32, t->side, t->side),
                                           .weights = QN_ARRAY(t->other, QN_F32, TAPS),
                                           .to = QN_ARRAY(t->to, QN_F32, t->side, t->side)});
}

static qn_array square_of(const kernels_task *t, qn_buffer *buffer) {
    return QN_ARRAY(buffer, QN_F32, t->side, t->side);
}

static qn_status run_total(const kernels_task *t) {
    return qn_kernels_reduce(t->d->kernels, t->d->stream,
                             &(qn_reduce_desc){.to = QN_ARRAY(t->to, QN_F32, 1), .from = floats(t, t->from)});
}

static qn_status run_row_sums(const kernels_task *t) {
    return qn_kernels_reduce(
        t->d->kernels, t->d->stream,
        &(qn_reduce_desc){.axes = 2, .to = QN_ARRAY(t->to, QN_F32, t->side), .from = square_of(t, t->from)});
}

static qn_status run_column_sums(const kernels_task *t) {
    return qn_kernels_reduce(
        t->d->kernels, t->d->stream,
        &(qn_reduce_desc){.axes = 1, .to = QN_ARRAY(t->to, QN_F32, t->side), .from = square_of(t, t->from)});
}

static qn_status run_scan(const kernels_task *t) {
    return qn_kernels_scan(t->d->kernels, t->d->stream,
                           &(qn_scan_desc){.to = floats(t, t->to), .from = floats(t, t->from)});
}

/* How many of the largest are chosen. */
static uint64_t best_of(const kernels_task *t) { return t->side < 64 ? t->side : 64; }

static qn_status run_top_k(const kernels_task *t) {
    return qn_kernels_top_k(
        t->d->kernels, t->d->stream,
        &(qn_top_k_desc){.from = floats(t, t->from), .to = QN_ARRAY(t->to, QN_F32, best_of(t))});
}

static qn_status run_row_top_k(const kernels_task *t) {
    return qn_kernels_top_k(
        t->d->kernels, t->d->stream,
        &(qn_top_k_desc){.from = square_of(t, t->from), .to = QN_ARRAY(t->to, QN_F32, t->side, best_of(t))});
}

static qn_status run_column_scans(const kernels_task *t) {
    return qn_kernels_scan(t->d->kernels, t->d->stream,
                           &(qn_scan_desc){.to = square_of(t, t->to), .from = square_of(t, t->from)});
}

static qn_status run_softmax(const kernels_task *t) {
    return qn_kernels_softmax(t->d->kernels, t->d->stream,
                              &(qn_softmax_desc){.to = square_of(t, t->to), .from = square_of(t, t->from)});
}

static qn_status run_rms_norm(const kernels_task *t) {
    return qn_kernels_rms_norm(t->d->kernels, t->d->stream,
                               &(qn_norm_desc){.to = square_of(t, t->to), .from = square_of(t, t->from)});
}

/* The rows but the last one, which is where the gradient by weights goes. */
static qn_array upper_of(const kernels_task *t, qn_buffer *buffer) {
    return QN_ARRAY(buffer, QN_F32, t->side - 1, t->side);
}

static qn_status run_layer_norm_backward(const kernels_task *t) {
    return qn_kernels_layer_norm_backward(
        t->d->kernels, t->d->stream,
        &(qn_norm_backward_desc){.to = upper_of(t, t->to),
                                 .from = upper_of(t, t->from),
                                 .gradient = upper_of(t, t->other),
                                 .to_weight = {t->to, (t->side - 1) * t->side, QN_F32, 1, {t->side}, {1}}});
}

static qn_status run_layer_norm(const kernels_task *t) {
    const qn_array weight = QN_ARRAY(t->other, QN_F32, t->side);
    return qn_kernels_layer_norm(
        t->d->kernels, t->d->stream,
        &(qn_norm_desc){
            .to = square_of(t, t->to), .from = square_of(t, t->from), .weight = weight, .bias = weight});
}

static qn_status run_add_row(const kernels_task *t) {
    return qn_kernels_map(
        t->d->kernels, t->d->stream,
        &(qn_map_desc){.function = QN_MAP_ADD,
                       .to = square_of(t, t->to),
                       .from = {square_of(t, t->from), QN_ARRAY(t->other, QN_F32, t->side)}});
}

enum { ODD = 1023 };

/* Rows of an odd number of elements to rows that begin at even ones. */
static qn_status run_pitch(const kernels_task *t) {
    const uint64_t rows = t->count / (ODD + 1);
    return qn_kernels_copy(t->d->kernels, t->d->stream,
                           &(qn_copy_desc){.to = {t->to, 0, QN_BF16, 2, {rows, ODD}, {ODD + 1, 1}},
                                           .from = QN_ARRAY(t->from, QN_BF16, rows, ODD)});
}

static qn_status run_transpose_bf16(const kernels_task *t) {
    const qn_array square = QN_ARRAY(t->from, QN_BF16, t->side, t->side);
    return qn_kernels_copy(t->d->kernels, t->d->stream,
                           &(qn_copy_desc){.to = QN_ARRAY(t->to, QN_BF16, t->side, t->side),
                                           .from = qn_array_transpose(square, 0, 1)});
}

enum { TABLE_ROW = 128, ROW_ELEMENTS = 32 };

static uint64_t table_rows(const kernels_task *t) { return t->count / TABLE_ROW; }

static qn_status run_gather(const kernels_task *t) {
    return qn_kernels_gather(t->d->kernels, t->d->stream,
                             &(qn_gather_desc){.from = QN_ARRAY(t->from, QN_F32, table_rows(t), TABLE_ROW),
                                               .indices = QN_ARRAY(t->indices, QN_U32, table_rows(t)),
                                               .to = QN_ARRAY(t->to, QN_F32, table_rows(t), TABLE_ROW)});
}

/* A square matrix with as many rows as the table has, of ROW_ELEMENTS elements each. */
static qn_status run_spmv(const kernels_task *t) {
    const uint64_t rows = table_rows(t), elements = rows * ROW_ELEMENTS;
    return qn_kernels_spmv(t->d->kernels, t->d->stream,
                           &(qn_spmv_desc){.starts = QN_ARRAY(t->starts, QN_U32, rows + 1),
                                           .columns = QN_ARRAY(t->indices, QN_U32, elements),
                                           .values = QN_ARRAY(t->from, QN_F32, elements),
                                           .x = QN_ARRAY(t->other, QN_F32, rows),
                                           .y = QN_ARRAY(t->to, QN_F32, rows)});
}

static double bytes_of_spmv(const kernels_task *t) {
    return (double)table_rows(t) * (ROW_ELEMENTS * 8 + 3 * 4); /* a start, x and y */
}

static qn_status run_random(const kernels_task *t) {
    return qn_kernels_random(t->d->kernels, t->d->stream,
                             &(qn_random_desc){.to = floats(t, t->to), .seed = 1});
}

static qn_status run_normal(const kernels_task *t) {
    return qn_kernels_random(
        t->d->kernels, t->d->stream,
        &(qn_random_desc){.to = floats(t, t->to), .distribution = QN_RANDOM_NORMAL, .seed = 1});
}

static qn_array image_of(const kernels_task *t, qn_buffer *buffer, uint32_t channels) {
    const uint32_t *s = t->image;
    return QN_ARRAY(buffer, QN_F32, s[BENCH_IMAGES], channels, s[BENCH_ROWS], s[BENCH_COLUMNS]);
}

static qn_status run_convolve(const kernels_task *t) {
    const uint32_t *s = t->image, outputs = s[BENCH_OUTPUTS], channels = s[BENCH_CHANNELS],
                   taps = s[BENCH_TAPS];
    return qn_kernels_convolve(
        t->d->kernels, t->d->stream,
        &(qn_convolve_desc){.from = image_of(t, t->from, channels),
                            .weights = QN_ARRAY(t->other, QN_F32, outputs, channels, taps, taps),
                            .to = image_of(t, t->to, outputs),
                            .padding = {taps / 2, taps / 2}});
}

static double flops_of_convolve(const kernels_task *t) {
    const uint32_t *s = t->image;
    return 2.0 * s[BENCH_IMAGES] * s[BENCH_OUTPUTS] * s[BENCH_ROWS] * s[BENCH_COLUMNS] * s[BENCH_CHANNELS] *
           s[BENCH_TAPS] * s[BENCH_TAPS];
}

static double keys_of_sort(const kernels_task *t) { return (double)t->count; }

/* Of heads of attention: q, k and v, one after the other, are the first operand. */
enum { HEADS = 16, HEAD_SIZE = 64, LONGEST = 2048, MOST_BATCHES = 8 };

static qn_array heads_of(const kernels_task *t, qn_buffer *buffer, uint64_t which) {
    const uint64_t room = t->count / (3 * HEADS * HEAD_SIZE), length = room < LONGEST ? room : LONGEST;
    const uint64_t fit = length ? room / length : 0, batches = fit < MOST_BATCHES ? fit : MOST_BATCHES;
    qn_array a = QN_ARRAY(buffer, QN_BF16, batches, HEADS, length, HEAD_SIZE);
    a.offset = which * qn_array_count(&a);
    return a;
}

static qn_status run_attention(const kernels_task *t) {
    return qn_kernels_attention(t->d->kernels, t->d->stream,
                                &(qn_attention_desc){.q = heads_of(t, t->narrow, 0),
                                                     .k = heads_of(t, t->narrow, 1),
                                                     .v = heads_of(t, t->narrow, 2),
                                                     .out = heads_of(t, t->to, 0),
                                                     .causal = true});
}

/* ---- what the results are ---- */

static float number_at(const void *result, uint64_t i) { return ((const float *)result)[i]; }

static bool is_copy(const kernels_task *t, const void *result) {
    return memcmp(result, t->x, t->count * sizeof *t->x) == 0;
}

static bool is_converted(const kernels_task *t, const void *result) {
    for (uint64_t i = 0; i < t->count; i++) {
        const uint32_t bits = (uint32_t)((const uint16_t *)result)[i] << 16;
        float value;
        memcpy(&value, &bits, sizeof value);
        if (!(fabsf(value - t->x[i]) <= 0x1p-8f * fabsf(t->x[i]))) return false;
    }
    return true;
}

static bool is_transposed(const kernels_task *t, const void *result) {
    for (uint64_t i = 0; i < t->side; i++)
        for (uint64_t j = 0; j < t->side; j++)
            if (number_at(result, i * t->side + j) != t->x[j * t->side + i]) return false;
    return true;
}

static bool is_filled(const kernels_task *t, const void *result) {
    for (uint64_t i = 0; i < t->count; i++)
        if (number_at(result, i) != (float)filled) return false;
    return true;
}

static bool is_sum(const kernels_task *t, const void *result) {
    for (uint64_t i = 0; i < t->count; i++)
        if (number_at(result, i) != t->x[i] + t->y[i]) return false;
    return true;
}

static bool is_square(const kernels_task *t, const void *result) {
    for (uint64_t i = 0; i < t->count; i++)
        if (number_at(result, i) != t->x[i] * t->x[i]) return false;
    return true;
}

/* `count` elements that are `step` apart, and the sum that came out. */
static bool is_sum_of(const float *x, uint64_t count, uint64_t step, float result) {
    double sum = 0, sizes = 0;
    for (uint64_t i = 0; i < count; i++) sum += x[i * step], sizes += fabsf(x[i * step]);
    return fabs(result - sum) <= 1e-6 * sizes;
}

static bool is_total(const kernels_task *t, const void *result) {
    return is_sum_of(t->x, t->count, 1, number_at(result, 0));
}

static bool is_row_sums(const kernels_task *t, const void *result) {
    for (uint64_t i = 0; i < t->side; i++)
        if (!is_sum_of(t->x + i * t->side, t->side, 1, number_at(result, i))) return false;
    return true;
}

static bool is_column_sums(const kernels_task *t, const void *result) {
    for (uint64_t i = 0; i < t->side; i++)
        if (!is_sum_of(t->x + i, t->side, t->side, number_at(result, i))) return false;
    return true;
}

/* `count` sums that are `step` apart. */
static bool is_scan_of(const kernels_task *t, const float *result, uint64_t first, uint64_t count,
                       uint64_t step) {
    double sum = 0, sizes = 0;
    for (uint64_t i = first; i < first + count * step; i += step) {
        sum += t->x[i], sizes += fabsf(t->x[i]);
        if (!(fabs(result[i] - sum) <= 1e-6 * sizes)) return false;
    }
    return true;
}

static bool is_scan(const kernels_task *t, const void *result) {
    return is_scan_of(t, result, 0, t->count, 1);
}

static bool is_column_scans(const kernels_task *t, const void *result) {
    for (uint64_t i = 0; i < t->side; i++)
        if (!is_scan_of(t, result, i, t->side, t->side)) return false;
    return true;
}

/* In order, and as many are larger than the last as there are before it, but for equal ones. */
static bool is_top_of(const float *x, uint64_t count, const float *best, uint64_t chosen) {
    uint64_t larger = 0, equal = 0, before = 0;
    const float last = best[chosen - 1];
    for (uint64_t i = 1; i < chosen; i++)
        if (!(best[i - 1] >= best[i])) return false;
    for (uint64_t i = 0; i < chosen; i++) before += best[i] > last;
    for (uint64_t i = 0; i < count; i++) larger += x[i] > last, equal += x[i] == last;
    return larger == before && equal >= chosen - before;
}

static bool is_top_k(const kernels_task *t, const void *result) {
    return is_top_of(t->x, t->count, result, best_of(t));
}

static bool is_row_top_k(const kernels_task *t, const void *result) {
    for (uint64_t i = 0; i < t->side; i++)
        if (!is_top_of(t->x + i * t->side, t->side, (const float *)result + i * best_of(t), best_of(t)))
            return false;
    return true;
}

static bool is_softmax(const kernels_task *t, const void *result) {
    for (uint64_t row = 0; row < t->side; row++) {
        const float *x = t->x + row * t->side;
        double sum = 0;
        for (uint64_t i = 0; i < t->side; i++) sum += exp(x[i]);
        for (uint64_t i = 0; i < t->side; i++) {
            const double wanted = exp(x[i]) / sum;
            if (!(fabs(number_at(result, row * t->side + i) - wanted) <= 1e-5 * wanted)) return false;
        }
    }
    return true;
}

static bool is_rms_norm(const kernels_task *t, const void *result) {
    for (uint64_t row = 0; row < t->side; row++) {
        const float *x = t->x + row * t->side;
        double squares = 0;
        for (uint64_t i = 0; i < t->side; i++) squares += (double)x[i] * x[i];
        const double scale = 1 / sqrt(squares / (double)t->side + 1e-5);
        for (uint64_t i = 0; i < t->side; i++)
            if (!(fabs(number_at(result, row * t->side + i) - x[i] * scale) <= 1e-5 * fabs(x[i] * scale)))
                return false;
    }
    return true;
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

static bool is_layer_norm(const kernels_task *t, const void *result) {
    for (uint64_t row = 0; row < t->side; row++) {
        const float *x = t->x + row * t->side;
        const moments m = moments_of(x, t->side);
        for (uint64_t i = 0; i < t->side; i++) {
            const double part = (x[i] - m.mean) * m.scale * t->y[i];
            if (!(fabs(number_at(result, row * t->side + i) - part - t->y[i]) <=
                  1e-5 * (fabs(part) + fabs(t->y[i]))))
                return false;
        }
    }
    return true;
}

/* Every so many rows; of the gradient by weights the sums over all. */
static bool is_layer_norm_backward(const kernels_task *t, const void *result) {
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
            right = right && fabs(number_at(result, row * n + i) - wanted) <= 1e-5 * m.scale;
        }
    }
    for (uint64_t i = 0; i < n; i++)
        right = right && fabs(number_at(result, rows * n + i) - sums[i]) <= 1e-5 * sizes[i];
    free(sums), free(sizes);
    return right;
}

static bool is_row_added(const kernels_task *t, const void *result) {
    for (uint64_t i = 0; i < t->side * t->side; i++)
        if (number_at(result, i) != t->x[i] + t->y[i % t->side]) return false;
    return true;
}

static bool is_pitched(const kernels_task *t, const void *result) {
    const uint16_t *to = result, *from = (const void *)t->x;
    for (uint64_t row = 0; row < t->count / (ODD + 1); row++)
        if (memcmp(to + row * (ODD + 1), from + row * ODD, ODD * sizeof *to) != 0) return false;
    return true;
}

static bool is_transposed_bf16(const kernels_task *t, const void *result) {
    const uint16_t *to = result, *from = (const void *)t->x;
    for (uint64_t i = 0; i < t->side; i++)
        for (uint64_t j = 0; j < t->side; j++)
            if (to[i * t->side + j] != from[j * t->side + i]) return false;
    return true;
}

static bool is_gathered(const kernels_task *t, const void *result) {
    const float *to = result;
    for (uint64_t j = 0; j < table_rows(t); j++)
        if (memcmp(to + j * TABLE_ROW, t->x + (uint64_t)t->places[j] * TABLE_ROW, TABLE_ROW * sizeof *to) !=
            0)
            return false;
    return true;
}

static bool is_spmv(const kernels_task *t, const void *result) {
    for (uint64_t row = 0; row < table_rows(t); row++) {
        double sum = 0, sizes = 0;
        for (uint64_t i = row * ROW_ELEMENTS; i < (row + 1) * ROW_ELEMENTS; i++) {
            const double term = (double)t->x[i] * t->y[t->places[i]];
            sum += term, sizes += fabs(term);
        }
        if (!(fabs(number_at(result, row) - sum) <= sizes * 0x1p-18)) return false;
    }
    return true;
}

static bool is_normal(const kernels_task *t, const void *result) {
    double sum = 0, squares = 0;
    const double n = (double)t->count;
    for (uint64_t i = 0; i < t->count; i++) {
        const double v = number_at(result, i);
        if (!(fabs(v) < 7)) return false;
        sum += v, squares += v * v;
    }
    return fabs(sum / n) <= 6 / sqrt(n) && fabs(squares / n - 1) <= 9 / sqrt(n);
}

/* Within bounds, and with the mean and variance of a uniform distribution as far as chance allows. */
static bool is_uniform(const kernels_task *t, const void *result) {
    double sum = 0, squares = 0;
    const double n = (double)t->count;
    for (uint64_t i = 0; i < t->count; i++) {
        const double v = number_at(result, i);
        if (!(v >= 0 && v < 1)) return false;
        sum += v - 0.5, squares += (v - 0.5) * (v - 0.5);
    }
    return fabs(sum / n) <= 2 / sqrt(n) && fabs(squares / n - 1.0 / 12) <= 1 / sqrt(n);
}

/* The same for the same numbers in any order, and hardly for others (the mixing step of splitmix64). */
static uint64_t sum_of_hashes(const float *values, uint64_t count) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        uint64_t z = (bits + UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        sum += z ^ (z >> 31);
    }
    return sum;
}

static bool is_sorted(const kernels_task *t, const void *result) {
    for (uint64_t i = 1; i < t->count; i++)
        if (!(number_at(result, i - 1) <= number_at(result, i))) return false;
    return sum_of_hashes(result, t->count) == sum_of_hashes(t->x, t->count);
}

static bool is_counted(const kernels_task *t, const void *result) {
    uint32_t bins[BINS] = {0};
    for (uint64_t i = 0; i < t->count; i++) {
        const float from_low = t->x[i] + 1, place = from_low * (BINS / 2);
        if (place >= 0 && t->x[i] <= 1) bins[place < BINS ? (int)place : BINS - 1]++;
    }
    return memcmp(result, bins, sizeof bins) == 0;
}

static bool is_unique(const kernels_task *t, const void *result) {
    uint32_t kept = 0;
    for (uint64_t i = 0; i + 1 < t->count; i++)
        if ((i == 0 || t->x[i] != t->x[i - 1]) && number_at(result, kept++) != t->x[i]) return false;
    return ((const uint32_t *)result)[t->count - 1] == kept;
}

static bool is_compacted(const kernels_task *t, const void *result) {
    const uint8_t *mask = (const uint8_t *)t->y;
    uint32_t kept = 0;
    for (uint64_t i = 0; i + 1 < t->count; i++)
        if (mask[i] && number_at(result, kept++) != t->x[i]) return false;
    return ((const uint32_t *)result)[t->count - 1] == kept;
}

/* Some thousand elements of it, the first and the last among them. */
static bool is_blurred(const kernels_task *t, const void *result) {
    enum { LOOKED_AT = 4096 };
    const int64_t side = (int64_t)t->side;
    for (int64_t i = 0; i <= LOOKED_AT; i++) {
        const int64_t at = (side * side - 1) * i / LOOKED_AT;
        double sum = 0, size = 0;
        for (int64_t tap = 0; tap < TAPS * TAPS; tap++) {
            int64_t row = at / side + tap / TAPS - TAPS / 2, column = at % side + tap % TAPS - TAPS / 2;
            row = row < 0 ? 0 : row < side ? row : side - 1;
            column = column < 0 ? 0 : column < side ? column : side - 1;
            const double term = (double)t->y[tap / TAPS] * t->y[tap % TAPS] * t->x[row * side + column];
            sum += term;
            size += fabs(term);
        }
        if (!(fabs(number_at(result, (uint64_t)at) - sum) <= size * 0x1p-20)) return false;
    }
    return true;
}

/* The sum for one element, and that of the terms' sizes. */
static double convolved_at(const kernels_task *t, uint64_t at, double *sizes) {
    const uint32_t *s = t->image, channels = s[BENCH_CHANNELS], taps = s[BENCH_TAPS];
    const int64_t height = s[BENCH_ROWS], width = s[BENCH_COLUMNS], plane = height * width, half = taps / 2;
    const int64_t row = (int64_t)at % plane / width, column = (int64_t)at % width;
    const uint64_t output = at / (uint64_t)plane % s[BENCH_OUTPUTS],
                   image = at / (uint64_t)plane / s[BENCH_OUTPUTS];
    double sum = *sizes = 0;
    for (uint32_t i = 0; i < channels * taps * taps; i++) {
        const int64_t r = row + i / taps % taps - half, c = column + i % taps - half;
        if (r < 0 || c < 0 || r >= height || c >= width) continue;
        const uint64_t from = (image * channels + i / (taps * taps)) * (uint64_t)plane;
        const double term =
            (double)t->y[output * channels * taps * taps + i] * t->x[from + (uint64_t)(r * width + c)];
        sum += term;
        *sizes += fabs(term);
    }
    return sum;
}

/* Some thousand elements of it, the first and the last among them. */
static bool is_convolved(const kernels_task *t, const void *result) {
    enum { LOOKED_AT = 4096 };
    const uint32_t *s = t->image;
    const uint64_t last = (uint64_t)s[BENCH_IMAGES] * s[BENCH_OUTPUTS] * s[BENCH_ROWS] * s[BENCH_COLUMNS] - 1;
    for (uint64_t i = 0; i <= LOOKED_AT; i++) {
        double sizes;
        const uint64_t at = last * i / LOOKED_AT;
        const double sum = convolved_at(t, at, &sizes);
        if (!(fabs(number_at(result, at) - sum) <= sizes * 0x1p-18)) return false;
    }
    return true;
}

static float bf16_number(uint32_t bits) {
    float value;
    bits <<= 16;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Element `at` of the first operand as bf16. */
static double narrow_at(const kernels_task *t, uint64_t at) {
    uint32_t bits;
    memcpy(&bits, &t->x[at], sizeof bits);
    return bf16_number((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* The row `row` of all heads' rows. */
static bool is_attended(const kernels_task *t, const uint16_t *result, uint64_t row) {
    const qn_array q = heads_of(t, NULL, 0);
    const uint64_t head = row / q.sizes[2] * q.sizes[2], keys = row % q.sizes[2] + 1,
                   all = qn_array_count(&q);
    double sums[HEAD_SIZE] = {0}, weights = 0;
    for (uint64_t j = 0; j < keys; j++) {
        double score = 0;
        for (uint64_t c = 0; c < HEAD_SIZE; c++)
            score += narrow_at(t, row * HEAD_SIZE + c) * narrow_at(t, all + (head + j) * HEAD_SIZE + c);
        const double weight = exp(score / sqrt(HEAD_SIZE));
        weights += weight;
        for (uint64_t c = 0; c < HEAD_SIZE; c++)
            sums[c] += weight * narrow_at(t, 2 * all + (head + j) * HEAD_SIZE + c);
    }
    for (uint64_t c = 0; c < HEAD_SIZE; c++)
        if (!(fabs(bf16_number(result[row * HEAD_SIZE + c]) - sums[c] / weights) <= 0.01)) return false;
    return true;
}

/* Some hundred rows, the first and the last among them. */
static bool is_attention(const kernels_task *t, const void *result) {
    enum { LOOKED_AT = 200 };
    const qn_array q = heads_of(t, NULL, 0);
    const uint64_t rows = q.sizes[0] * q.sizes[1] * q.sizes[2];
    for (uint64_t i = 0; i <= LOOKED_AT && rows; i++)
        if (!is_attended(t, result, (rows - 1) * i / LOOKED_AT)) return false;
    return true;
}

/* Two products of which half the scores count. */
static double flops_of_attention(const kernels_task *t) {
    const qn_array q = heads_of(t, NULL, 0);
    return 2.0 * (double)qn_array_count(&q) * (double)q.sizes[2];
}

/* ---- the table ---- */

static const struct {
    const char *what;
    qn_status (*run)(const kernels_task *t);
    bool (*is_right)(const kernels_task *t, const void *result);
    uint32_t bytes; /* that must be moved for an element */
    bool is_square; /* of elements that are a square matrix */
    /* Where the bytes are not so many for each element: what is done; where it is not bytes, its unit. */
    double (*work)(const kernels_task *t);
    const char *unit;
} rows[] = {
    {"copy f32", run_copy, is_copy, 8, false, NULL, NULL},
    {"copy f32 to bf16", run_convert, is_converted, 6, false, NULL, NULL},
    {"transpose f32", run_transpose, is_transposed, 8, true, NULL, NULL},
    {"transpose bf16", run_transpose_bf16, is_transposed_bf16, 4, true, NULL, NULL},
    {"copy bf16, odd rows to even ones", run_pitch, is_pitched, 4, false, NULL, NULL},
    {"fill f32", run_fill, is_filled, 4, false, NULL, NULL},
    {"square f32", run_square, is_square, 8, false, NULL, NULL},
    {"add f32", run_add, is_sum, 12, false, NULL, NULL},
    {"add a row f32", run_add_row, is_row_added, 8, true, NULL, NULL},
    {"histogram f32, 256 bins", run_histogram, is_counted, 4, false, NULL, NULL},
    {"compact f32 by a mask", run_compact, is_compacted, 9, false, NULL, NULL},
    {"unique f32", run_unique, is_unique, 8, false, NULL, NULL},
    {"blur f32, 5 taps", run_blur, is_blurred, 8, true, NULL, NULL},
    {"sum f32", run_total, is_total, 4, false, NULL, NULL},
    {"sums of rows f32", run_row_sums, is_row_sums, 4, true, NULL, NULL},
    {"sums of columns f32", run_column_sums, is_column_sums, 4, true, NULL, NULL},
    {"scan f32", run_scan, is_scan, 8, false, NULL, NULL},
    {"scans of columns f32", run_column_scans, is_column_scans, 8, true, NULL, NULL},
    {"top 64 f32", run_top_k, is_top_k, 4, false, NULL, NULL},
    {"top 64 of rows f32", run_row_top_k, is_row_top_k, 4, true, NULL, NULL},
    {"softmax f32", run_softmax, is_softmax, 8, true, NULL, NULL},
    {"rms norm f32", run_rms_norm, is_rms_norm, 8, true, NULL, NULL},
    {"layer norm f32", run_layer_norm, is_layer_norm, 8, true, NULL, NULL},
    {"layer norm backward f32", run_layer_norm_backward, is_layer_norm_backward, 12, true, NULL, NULL},
    {"gather rows of f32", run_gather, is_gathered, 8, false, NULL, NULL},
    {"sparse matrix by vector f32", run_spmv, is_spmv, 0, false, bytes_of_spmv, NULL},
    {"random normal f32", run_normal, is_normal, 4, false, NULL, NULL},
    {"random f32", run_random, is_uniform, 4, false, NULL, NULL},
    {"sort f32", run_sort, is_sorted, 0, false, keys_of_sort, "keys/s"},
    {"convolve 3x3 f32", run_convolve, is_convolved, 0, false, flops_of_convolve, "FLOP/s"},
    {"attention bf16, causal", run_attention, is_attention, 0, false, flops_of_attention, "FLOP/s"}};
enum { NUM_ROWS = sizeof rows / sizeof *rows };

static qn_status run_row(void *user, uint32_t first, uint32_t count) {
    const kernels_task *t = user;
    qn_status status = QN_OK;
    (void)first;
    for (uint32_t i = 0; i < count && !status; i++) status = rows[t->row].run(t);
    return status;
}

static qn_status run_peer(void *user, uint32_t first, uint32_t count) {
    kernels_task *t = user;
    const bench_peer *peer = t->peer;
    bench_work work = {.what = rows[t->row].what, .count = t->count, .side = t->side, .image = t->image};
    qn_buffer *const used[] = {t->from, t->other, t->to};
    qn_status status = qn_stream_native_begin(t->d->stream, used, 3);
    if (status) return status;
    (void)first;
    status = bench_peer_place(peer, t->from, &work.from);
    if (!status) status = bench_peer_place(peer, t->other, &work.other);
    if (!status) status = bench_peer_place(peer, t->to, &work.to);
    for (uint32_t i = 0; i < count && !status && !t->failed; i++)
        t->failed = !peer->type->run(peer->peer, &work);
    const qn_status ended = qn_stream_native_end(t->d->stream);
    return status ? status : ended;
}

static int check(const kernels_task *t) {
    const uint64_t size = t->count * sizeof(float);
    void *result = tool_alloc(size);
    const qn_status status = qn_buffer_read(t->to, 0, result, size);
    int status_of_tool = status ? tool_fail_status(t->d->context, status) : TOOL_OK;
    if (!status && !rows[t->row].is_right(t, result))
        status_of_tool = tool_fail(TOOL_DIFFERENT, "%s: %s of %llu elements by %s gives a wrong result",
                                   t->d->info.name, rows[t->row].what, (unsigned long long)t->count,
                                   t->peer ? t->peer->type->name : "quern");
    free(result);
    return status_of_tool;
}

/* No result of before may pass for this row's. */
static qn_status clear(const kernels_task *t) {
    const uint8_t ones = 0xff;
    const qn_status status = qn_stream_fill(t->d->stream, t->to, 0, qn_buffer_size(t->to), &ones, 1);
    return status ? status : qn_stream_wait(t->d->stream, QN_FOREVER);
}

static double work_of(const kernels_task *t) {
    const double elements = (double)(rows[t->row].is_square ? t->side * t->side : t->count);
    return rows[t->row].work ? rows[t->row].work(t) : elements * rows[t->row].bytes;
}

static void name_row(const kernels_task *t, char *what, size_t size) {
    snprintf(what, size, "%s, %llu elements", rows[t->row].what, (unsigned long long)t->count);
}

/* By quern, or by a peer; checked. */
static int measure(kernels_task *t, const bench_peer *peer, bench_time *time) {
    const bench_task task = {
        .run = peer ? run_peer : run_row, .user = t, .on_host = peer && peer->type->on_host};
    t->peer = peer;
    t->failed = false;
    qn_status status = clear(t);
    if (!status && !peer) status = run_row(t, 0, 1);
    if (!status && !peer) status = qn_kernels_wait(t->d->kernels, QN_FOREVER);
    if (!status) status = qn_stream_wait(t->d->stream, QN_FOREVER);
    const int result = status ? tool_fail_status(t->d->context, status) : bench_measure(t->d, &task, time);
    if (!result && t->failed)
        return tool_fail(TOOL_RUN_FAILED, "%s: the call for '%s' failed", peer->type->name,
                         rows[t->row].what);
    return result ? result : check(t);
}

static void print_row(const kernels_task *t, const char *by, const bench_time *time, const char *note) {
    const char *unit = rows[t->row].unit ? rows[t->row].unit : "B/s";
    char what[64];
    name_row(t, what, sizeof what);
    bench_print_figure(t->d, "kernels", what, by, work_of(t), unit, time, note);
}

static int measure_peer(kernels_task *t, const bench_peer *peer, double quern) {
    char note[48];
    bench_time time;
    bench_progress(t->d, peer->type->name);
    const int result = measure(t, peer, &time);
    if (result) return result;
    snprintf(note, sizeof note, "quern has %.3f of it", time.median / quern);
    print_row(t, peer->type->name, &time, note);
    return TOOL_OK;
}

static int measure_row(kernels_task *t, double copying, const bench_peer *peers, uint32_t num_peers) {
    char what[64], note[32] = "";
    bench_time time;
    name_row(t, what, sizeof what);
    bench_progress(t->d, what);
    int result = measure(t, NULL, &time);
    if (result) return result;
    if (!rows[t->row].unit)
        snprintf(note, sizeof note, "%.3f of copying", work_of(t) / time.median * 1e9 / copying);
    print_row(t, "quern", &time, note);
    for (uint32_t i = 0; i < num_peers && !result; i++)
        if (peers[i].type->has(peers[i].peer, rows[t->row].what))
            result = measure_peer(t, &peers[i], time.median);
    return result;
}

/* Of random rows, and the starts of a sparse matrix's rows, which are of one length. */
static qn_status create_indices(kernels_task *t) {
    const uint64_t rows = table_rows(t), count = rows * ROW_ELEMENTS;
    uint32_t *starts = tool_alloc((rows + 1) * sizeof *starts);
    for (uint64_t i = 0; i <= rows; i++) starts[i] = (uint32_t)(i * ROW_ELEMENTS);
    t->places = tool_alloc((count + 1) * sizeof *t->places);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &t->y[i], sizeof bits);
        t->places[i] = (uint32_t)(bits * UINT64_C(0x9e3779b97f4a7c15) >> 32) % (uint32_t)rows;
    }
    const qn_buffer_desc places = {.size = (count + 1) * sizeof *t->places, .data = t->places},
                         begin = {.size = (rows + 1) * sizeof *starts, .data = starts};
    qn_status status = qn_buffer_create(t->d->device, &places, &t->indices);
    if (!status) status = qn_buffer_create(t->d->device, &begin, &t->starts);
    free(starts);
    return status;
}

static qn_status create_narrow(kernels_task *t) {
    const qn_buffer_desc desc = {.size = t->count * sizeof(uint16_t), .uninitialised = true};
    const qn_status status = qn_buffer_create(t->d->device, &desc, &t->narrow);
    if (status) return status;
    return qn_kernels_copy(
        t->d->kernels, t->d->stream,
        &(qn_copy_desc){.to = QN_ARRAY(t->narrow, QN_BF16, t->count), .from = floats(t, t->from)});
}

static qn_status create_buffers(kernels_task *t) {
    const qn_buffer_desc from = {.size = t->count * sizeof(float), .data = t->x},
                         other = {.size = t->count * sizeof(float), .data = t->y},
                         to = {.size = t->count * sizeof(float), .uninitialised = true};
    qn_status status = qn_buffer_create(t->d->device, &from, &t->from);
    if (!status) status = qn_buffer_create(t->d->device, &other, &t->other);
    if (!status) status = create_indices(t);
    if (!status) status = create_narrow(t);
    return status ? status : qn_buffer_create(t->d->device, &to, &t->to);
}

/* More than caches hold; a driver that emulates a GPU would take minutes for it. */
static uint64_t usual_count(const bench_device *d) {
    if (bench_is_gpu(d)) return (uint64_t)1 << 28;
    return d->info.kind == QN_DEVICE_CPU ? bench_beyond_caches(d) / sizeof(float) : (uint64_t)1 << 20;
}

/* A layer of networks for pictures; with few elements a smaller one, which they are enough for. */
static void choose_image(kernels_task *t) {
    static const uint32_t usual[BENCH_IMAGE_NUMBERS] = {32, 64, 56, 56, 64, 3};
    uint32_t *s = t->image;
    memcpy(s, usual, sizeof usual);
    if (t->count >= (uint64_t)s[BENCH_IMAGES] * s[BENCH_CHANNELS] * s[BENCH_ROWS] * s[BENCH_COLUMNS]) return;
    const uint32_t side = t->count >= 4 * 56 * 56 ? 56 : (uint32_t)sqrt((double)t->count / 4);
    s[BENCH_IMAGES] = 1;
    s[BENCH_CHANNELS] = s[BENCH_OUTPUTS] = side >= 6 ? 4 : 1;
    s[BENCH_ROWS] = s[BENCH_COLUMNS] = side ? side : 1;
    if (t->count < 9) s[BENCH_TAPS] = 1;
}

static bool is_asked_for(const bench_device *d, const char *what) {
    const char *list = d->options->only;
    char begin[64];
    while (list && bench_list_next(&list, begin, sizeof begin))
        if (strncmp(what, begin, strlen(begin)) == 0) return true;
    return !d->options->only;
}

static int measure_rows(kernels_task *t) {
    bench_peer peers[BENCH_MAX_PEERS];
    double copying;
    int first = bench_bandwidth(t->d, &copying);
    if (first) return first;
    bench_progress(t->d, NULL);
    const uint32_t num_peers = bench_peers_open(t->d, t->d->options->against, BENCH_OF_ROWS, peers);
    bench_print_head(t->d, "kernels");
    for (t->row = 0; t->row < NUM_ROWS; t->row++) {
        const int result =
            is_asked_for(t->d, rows[t->row].what) ? measure_row(t, copying, peers, num_peers) : TOOL_OK;
        bench_progress(t->d, NULL);
        if (!first) first = result;
    }
    putchar('\n');
    bench_peers_close(peers, num_peers);
    return first;
}

int bench_kernels_run(bench_device *d) {
    kernels_task t = {.d = d, .count = d->options->elements ? d->options->elements : usual_count(d)};
    t.side = (uint64_t)sqrt((double)t.count);
    choose_image(&t);
    t.x = bench_random(t.count, 4);
    t.y = bench_random(t.count, 5);
    const qn_status status = create_buffers(&t);
    const int result = status ? tool_fail_status(d->context, status) : measure_rows(&t);
    free(t.x);
    free(t.y);
    free(t.places);
    qn_buffer_destroy(t.from);
    qn_buffer_destroy(t.other);
    qn_buffer_destroy(t.to);
    qn_buffer_destroy(t.indices);
    qn_buffer_destroy(t.starts);
    qn_buffer_destroy(t.narrow);
    return result;
}
