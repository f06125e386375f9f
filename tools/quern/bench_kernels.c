/* quern bench kernels: the calls of kernels.h that move data, each a row of a table: how it is called, what it must move, and
   what an element of its result is. Beside the rate there is its share of the device's rate of copying in the same run. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

typedef struct kernels_task {
    bench_device *d;
    uint64_t count, side; /* elements, and of the largest square among them */
    float *x, *y;         /* the operands' values */
    qn_buffer *from, *other, *to;
    int row;
} kernels_task;

static qn_array floats(const kernels_task *t, qn_buffer *buffer) {
    return QN_ARRAY(buffer, QN_F32, t->count);
}

static qn_status run_copy(const kernels_task *t) {
    return qn_copy(t->d->kernels, t->d->stream,
                   &(qn_copy_desc){.to = floats(t, t->to), .from = floats(t, t->from)});
}

static qn_status run_convert(const kernels_task *t) {
    return qn_copy(t->d->kernels, t->d->stream,
                   &(qn_copy_desc){.to = QN_ARRAY(t->to, QN_BF16, t->count), .from = floats(t, t->from)});
}

static qn_status run_transpose(const kernels_task *t) {
    const qn_array square = QN_ARRAY(t->from, QN_F32, t->side, t->side);
    return qn_copy(t->d->kernels, t->d->stream,
                   &(qn_copy_desc){.to = QN_ARRAY(t->to, QN_F32, t->side, t->side),
                                   .from = qn_array_transpose(square, 0, 1)});
}

static const double filled = 2.5;

static qn_status run_fill(const kernels_task *t) {
    return qn_fill(t->d->kernels, t->d->stream, &(qn_fill_desc){.to = floats(t, t->to), .value = filled});
}

static qn_status run_add(const kernels_task *t) {
    return qn_map(t->d->kernels, t->d->stream,
                  &(qn_map_desc){.function = QN_MAP_ADD,
                                 .to = floats(t, t->to),
                                 .from = {floats(t, t->from), floats(t, t->other)}});
}

static qn_status run_square(const kernels_task *t) {
    return qn_map(
        t->d->kernels, t->d->stream,
        &(qn_map_desc){.function = QN_MAP_SQUARE, .to = floats(t, t->to), .from = {floats(t, t->from)}});
}

static qn_status run_sort(const kernels_task *t) {
    return qn_sort(t->d->kernels, t->d->stream,
                   &(qn_sort_desc){.keys = floats(t, t->from), .to_keys = floats(t, t->to)});
}

enum { BINS = 256, TAPS = 5 };

static qn_status run_histogram(const kernels_task *t) {
    return qn_histogram(
        t->d->kernels, t->d->stream,
        &(qn_histogram_desc){
            .from = floats(t, t->from), .to = QN_ARRAY(t->to, QN_U32, BINS), .low = -1, .high = 1});
}

/* By the bytes of y; how many there are is the last element of the result. */
static qn_status run_compact(const kernels_task *t) {
    const uint64_t count = t->count - 1;
    return qn_compact(t->d->kernels, t->d->stream,
                      &(qn_compact_desc){.from = QN_ARRAY(t->from, QN_F32, count),
                                         .mask = QN_ARRAY(t->other, QN_U8, count),
                                         .to = QN_ARRAY(t->to, QN_F32, count),
                                         .count = {.buffer = t->to, .offset = count, .type = QN_U32}});
}

static qn_status run_blur(const kernels_task *t) {
    return qn_blur(t->d->kernels, t->d->stream,
                   &(qn_blur_desc){.from = QN_ARRAY(t->from, QN_F32, t->side, t->side),
                                   .weights = QN_ARRAY(t->other, QN_F32, TAPS),
                                   .to = QN_ARRAY(t->to, QN_F32, t->side, t->side)});
}

static qn_array square_of(const kernels_task *t, qn_buffer *buffer) {
    return QN_ARRAY(buffer, QN_F32, t->side, t->side);
}

static qn_status run_total(const kernels_task *t) {
    return qn_reduce(t->d->kernels, t->d->stream,
                     &(qn_reduce_desc){.to = QN_ARRAY(t->to, QN_F32, 1), .from = floats(t, t->from)});
}

static qn_status run_row_sums(const kernels_task *t) {
    return qn_reduce(
        t->d->kernels, t->d->stream,
        &(qn_reduce_desc){.axes = 2, .to = QN_ARRAY(t->to, QN_F32, t->side), .from = square_of(t, t->from)});
}

static qn_status run_column_sums(const kernels_task *t) {
    return qn_reduce(
        t->d->kernels, t->d->stream,
        &(qn_reduce_desc){.axes = 1, .to = QN_ARRAY(t->to, QN_F32, t->side), .from = square_of(t, t->from)});
}

static qn_status run_softmax(const kernels_task *t) {
    return qn_softmax(t->d->kernels, t->d->stream,
                      &(qn_softmax_desc){.to = square_of(t, t->to), .from = square_of(t, t->from)});
}

static qn_status run_rms_norm(const kernels_task *t) {
    return qn_rms_norm(t->d->kernels, t->d->stream,
                       &(qn_norm_desc){.to = square_of(t, t->to), .from = square_of(t, t->from)});
}

static qn_status run_random(const kernels_task *t) {
    return qn_random(t->d->kernels, t->d->stream, &(qn_random_desc){.to = floats(t, t->to), .seed = 1});
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

/* ---- the table ---- */

static const struct {
    const char *what;
    qn_status (*run)(const kernels_task *t);
    bool (*is_right)(const kernels_task *t, const void *result);
    uint32_t bytes; /* that must be moved for an element; 0: the figure is keys */
    bool is_square; /* of elements that are a square matrix */
} rows[] = {{"copy f32", run_copy, is_copy, 8, false},
            {"copy f32 to bf16", run_convert, is_converted, 6, false},
            {"transpose f32", run_transpose, is_transposed, 8, true},
            {"fill f32", run_fill, is_filled, 4, false},
            {"square f32", run_square, is_square, 8, false},
            {"add f32", run_add, is_sum, 12, false},
            {"histogram f32, 256 bins", run_histogram, is_counted, 4, false},
            {"compact f32 by a mask", run_compact, is_compacted, 9, false},
            {"blur f32, 5 taps", run_blur, is_blurred, 8, true},
            {"sum f32", run_total, is_total, 4, false},
            {"sums of rows f32", run_row_sums, is_row_sums, 4, true},
            {"sums of columns f32", run_column_sums, is_column_sums, 4, true},
            {"softmax f32", run_softmax, is_softmax, 8, true},
            {"rms norm f32", run_rms_norm, is_rms_norm, 8, true},
            {"random f32", run_random, is_uniform, 4, false},
            {"sort f32", run_sort, is_sorted, 0, false}};
enum { NUM_ROWS = sizeof rows / sizeof *rows };

static qn_status run_row(void *user, uint32_t first, uint32_t count) {
    const kernels_task *t = user;
    qn_status status = QN_OK;
    (void)first;
    for (uint32_t i = 0; i < count && !status; i++) status = rows[t->row].run(t);
    return status;
}

static int check(const kernels_task *t) {
    const uint64_t size = t->count * sizeof(float);
    void *result = tool_alloc(size);
    const qn_status status = qn_buffer_read(t->to, 0, result, size);
    int status_of_tool = status ? tool_fail_status(t->d->context, status) : TOOL_OK;
    if (!status && !rows[t->row].is_right(t, result))
        status_of_tool = tool_fail(TOOL_DIFFERENT, "%s: %s of %llu elements gives a wrong result",
                                   t->d->info.name, rows[t->row].what, (unsigned long long)t->count);
    free(result);
    return status_of_tool;
}

/* No result of before may pass for this row's. */
static qn_status clear(const kernels_task *t) {
    const uint8_t ones = 0xff;
    const qn_status status = qn_stream_fill(t->d->stream, t->to, 0, qn_buffer_size(t->to), &ones, 1);
    return status ? status : qn_stream_wait(t->d->stream, QN_FOREVER);
}

static int measure_row(kernels_task *t, int row, double copying) {
    const bench_task task = {.run = run_row, .user = t};
    char what[64];
    bench_time time;
    t->row = row;
    snprintf(what, sizeof what, "%s, %llu elements", rows[row].what, (unsigned long long)t->count);
    bench_progress(t->d, what);
    qn_status status = clear(t);
    if (!status) status = run_row(t, 0, 1);
    if (!status) status = qn_kernels_wait(t->d->kernels, QN_FOREVER);
    if (!status) status = qn_stream_wait(t->d->stream, QN_FOREVER);
    int result = status ? tool_fail_status(t->d->context, status) : bench_measure(t->d, &task, &time);
    if (!result) result = check(t);
    if (result) return result;
    const double elements = (double)(rows[row].is_square ? t->side * t->side : t->count);
    const double work = elements * (rows[row].bytes ? rows[row].bytes : 1);
    char note[32] = "";
    if (rows[row].bytes) snprintf(note, sizeof note, "%.3f of copying", work / time.median * 1e9 / copying);
    bench_print_figure(t->d, "kernels", what, work, rows[row].bytes ? "B/s" : "keys/s", &time, note);
    return TOOL_OK;
}

static qn_status create_buffers(kernels_task *t) {
    const qn_buffer_desc from = {.size = t->count * sizeof(float), .data = t->x},
                         other = {.size = t->count * sizeof(float), .data = t->y},
                         to = {.size = t->count * sizeof(float), .uninitialised = true};
    qn_status status = qn_buffer_create(t->d->device, &from, &t->from);
    if (!status) status = qn_buffer_create(t->d->device, &other, &t->other);
    return status ? status : qn_buffer_create(t->d->device, &to, &t->to);
}

/* More than caches hold; a driver that emulates a GPU would take minutes for it. */
static uint64_t usual_count(const bench_device *d) {
    if (bench_is_gpu(d)) return (uint64_t)1 << 28;
    return d->info.kind == QN_DEVICE_CPU ? bench_beyond_caches(d) / sizeof(float) : (uint64_t)1 << 20;
}

int bench_kernels_run(bench_device *d) {
    kernels_task t = {.d = d, .count = d->options->elements ? d->options->elements : usual_count(d)};
    double copying;
    t.side = (uint64_t)sqrt((double)t.count);
    int result = bench_bandwidth(d, &copying);
    if (result) return result;
    t.x = bench_random(t.count, 4);
    t.y = bench_random(t.count, 5);
    const qn_status status = create_buffers(&t);
    if (status) result = tool_fail_status(d->context, status);
    bench_progress(d, NULL);
    if (!result) bench_print_head(d, "kernels");
    for (int row = 0; row < NUM_ROWS && !result; row++) result = measure_row(&t, row, copying);
    if (!result) putchar('\n');
    free(t.x);
    free(t.y);
    qn_buffer_destroy(t.from);
    qn_buffer_destroy(t.other);
    qn_buffer_destroy(t.to);
    return result;
}
