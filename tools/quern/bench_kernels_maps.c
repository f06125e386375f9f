/* Rows of quern bench kernels: copies, maps, and what takes elements from elsewhere. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_kernels.h"

static qn_status run_copy(const bench_operands *t) {
    return qn_kernels_copy(t->d->kernels, t->d->stream,
                           &(qn_copy_desc){.to = bench_floats(t, t->to), .from = bench_floats(t, t->from)});
}

static bool is_copy(const bench_operands *t, const void *result) {
    return memcmp(result, t->x, t->count * sizeof *t->x) == 0;
}

static qn_status run_convert(const bench_operands *t) {
    return qn_kernels_copy(
        t->d->kernels, t->d->stream,
        &(qn_copy_desc){.to = QN_ARRAY(t->to, QN_BF16, t->count), .from = bench_floats(t, t->from)});
}

static bool is_converted(const bench_operands *t, const void *result) {
    for (uint64_t i = 0; i < t->count; i++) {
        const uint32_t bits = (uint32_t)((const uint16_t *)result)[i] << 16;
        float value;
        memcpy(&value, &bits, sizeof value);
        if (!(fabsf(value - t->x[i]) <= 0x1p-8f * fabsf(t->x[i]))) return false;
    }
    return true;
}

static qn_status run_transpose(const bench_operands *t) {
    const qn_array square = QN_ARRAY(t->from, QN_F32, t->side, t->side);
    return qn_kernels_copy(t->d->kernels, t->d->stream,
                           &(qn_copy_desc){.to = QN_ARRAY(t->to, QN_F32, t->side, t->side),
                                           .from = qn_array_transpose(square, 0, 1)});
}

static bool is_transposed(const bench_operands *t, const void *result) {
    for (uint64_t i = 0; i < t->side; i++)
        for (uint64_t j = 0; j < t->side; j++)
            if (bench_number(result, i * t->side + j) != t->x[j * t->side + i]) return false;
    return true;
}

static qn_status run_transpose_bf16(const bench_operands *t) {
    const qn_array square = QN_ARRAY(t->from, QN_BF16, t->side, t->side);
    return qn_kernels_copy(t->d->kernels, t->d->stream,
                           &(qn_copy_desc){.to = QN_ARRAY(t->to, QN_BF16, t->side, t->side),
                                           .from = qn_array_transpose(square, 0, 1)});
}

static bool is_transposed_bf16(const bench_operands *t, const void *result) {
    const uint16_t *to = result, *from = (const void *)t->x;
    for (uint64_t i = 0; i < t->side; i++)
        for (uint64_t j = 0; j < t->side; j++)
            if (to[i * t->side + j] != from[j * t->side + i]) return false;
    return true;
}

enum { ODD = 1023 };

/* Rows of an odd number of elements to rows that begin at even ones. */
static qn_status run_pitch(const bench_operands *t) {
    const uint64_t rows = t->count / (ODD + 1);
    return qn_kernels_copy(t->d->kernels, t->d->stream,
                           &(qn_copy_desc){.to = {t->to, 0, QN_BF16, 2, {rows, ODD}, {ODD + 1, 1}},
                                           .from = QN_ARRAY(t->from, QN_BF16, rows, ODD)});
}

static bool is_pitched(const bench_operands *t, const void *result) {
    const uint16_t *to = result, *from = (const void *)t->x;
    for (uint64_t row = 0; row < t->count / (ODD + 1); row++)
        if (memcmp(to + row * (ODD + 1), from + row * ODD, ODD * sizeof *to) != 0) return false;
    return true;
}

static const double filled = 2.5;

static qn_status run_fill(const bench_operands *t) {
    return qn_kernels_fill(t->d->kernels, t->d->stream,
                           &(qn_fill_desc){.to = bench_floats(t, t->to), .value = filled});
}

static bool is_filled(const bench_operands *t, const void *result) {
    for (uint64_t i = 0; i < t->count; i++)
        if (bench_number(result, i) != (float)filled) return false;
    return true;
}

static qn_status run_square(const bench_operands *t) {
    return qn_kernels_map(t->d->kernels, t->d->stream,
                          &(qn_map_desc){.function = QN_MAP_SQUARE,
                                         .to = bench_floats(t, t->to),
                                         .from = {bench_floats(t, t->from)}});
}

static bool is_square(const bench_operands *t, const void *result) {
    for (uint64_t i = 0; i < t->count; i++)
        if (bench_number(result, i) != t->x[i] * t->x[i]) return false;
    return true;
}

static qn_status run_add(const bench_operands *t) {
    return qn_kernels_map(t->d->kernels, t->d->stream,
                          &(qn_map_desc){.function = QN_MAP_ADD,
                                         .to = bench_floats(t, t->to),
                                         .from = {bench_floats(t, t->from), bench_floats(t, t->other)}});
}

static bool is_sum(const bench_operands *t, const void *result) {
    for (uint64_t i = 0; i < t->count; i++)
        if (bench_number(result, i) != t->x[i] + t->y[i]) return false;
    return true;
}

static qn_status run_add_row(const bench_operands *t) {
    return qn_kernels_map(
        t->d->kernels, t->d->stream,
        &(qn_map_desc){.function = QN_MAP_ADD,
                       .to = bench_square(t, t->to),
                       .from = {bench_square(t, t->from), QN_ARRAY(t->other, QN_F32, t->side)}});
}

static bool is_row_added(const bench_operands *t, const void *result) {
    for (uint64_t i = 0; i < t->side * t->side; i++)
        if (bench_number(result, i) != t->x[i] + t->y[i % t->side]) return false;
    return true;
}

static qn_status run_gather(const bench_operands *t) {
    return qn_kernels_gather(
        t->d->kernels, t->d->stream,
        &(qn_gather_desc){.from = QN_ARRAY(t->from, QN_F32, bench_table_rows(t), BENCH_TABLE_ROW),
                          .indices = QN_ARRAY(t->indices, QN_U32, bench_table_rows(t)),
                          .to = QN_ARRAY(t->to, QN_F32, bench_table_rows(t), BENCH_TABLE_ROW)});
}

static bool is_gathered(const bench_operands *t, const void *result) {
    const float *to = result;
    for (uint64_t j = 0; j < bench_table_rows(t); j++)
        if (memcmp(to + j * BENCH_TABLE_ROW, t->x + (uint64_t)t->places[j] * BENCH_TABLE_ROW,
                   BENCH_TABLE_ROW * sizeof *to) != 0)
            return false;
    return true;
}

static qn_status scatter(const bench_operands *t, bool add) {
    return qn_kernels_scatter(
        t->d->kernels, t->d->stream,
        &(qn_scatter_desc){.from = QN_ARRAY(t->from, QN_F32, bench_table_rows(t), BENCH_TABLE_ROW),
                           .indices = QN_ARRAY(t->indices, QN_U32, bench_table_rows(t)),
                           .to = QN_ARRAY(t->to, QN_F32, bench_table_rows(t), BENCH_TABLE_ROW),
                           .add = add});
}

static qn_status run_scatter(const bench_operands *t) { return scatter(t, false); }

/* Zeros are written first, which counts: each call has the same result. */
static qn_status run_scatter_add(const bench_operands *t) {
    const qn_status status = qn_kernels_fill(t->d->kernels, t->d->stream,
                                             &(qn_fill_desc){.to = bench_floats(t, t->to), .value = 0});
    return status ? status : scatter(t, true);
}

/* Where each slice comes from: the rows whose index it has, one after another from `last` on; none: there is no other. */
static const uint32_t none = UINT32_MAX;
typedef struct sources {
    uint32_t *last, *before;
} sources;

static sources sources_of(const bench_operands *t) {
    const uint64_t rows = bench_table_rows(t);
    const sources s = {tool_alloc((rows + 1) * sizeof *s.last), tool_alloc((rows + 1) * sizeof *s.before)};
    memset(s.last, 0xff, rows * sizeof *s.last);
    for (uint64_t i = 0; i < rows; i++) {
        s.before[i] = s.last[t->places[i]];
        s.last[t->places[i]] = (uint32_t)i;
    }
    return s;
}

static void sources_free(sources s) {
    free(s.last);
    free(s.before);
}

/* An element of one of the slices that were written there; NaN as before where none was. */
static bool is_one_of(const bench_operands *t, const sources *s, uint64_t row, uint64_t column,
                      float result) {
    if (s->last[row] == none) return isnan(result);
    for (uint32_t i = s->last[row]; i != none; i = s->before[i])
        if (t->x[(uint64_t)i * BENCH_TABLE_ROW + column] == result) return true;
    return false;
}

static bool is_sum_of_them(const bench_operands *t, const sources *s, uint64_t row, uint64_t column,
                           float result) {
    double sum = 0, sizes = 0;
    for (uint32_t i = s->last[row]; i != none; i = s->before[i]) {
        const double x = t->x[(uint64_t)i * BENCH_TABLE_ROW + column];
        sum += x, sizes += fabs(x);
    }
    return fabs(result - sum) <= sizes * 0x1p-20;
}

static bool all_are(const bench_operands *t, const void *result,
                    bool (*is_right)(const bench_operands *t, const sources *s, uint64_t row, uint64_t column,
                                     float result)) {
    const sources s = sources_of(t);
    bool right = true;
    for (uint64_t i = 0; i < bench_table_rows(t) * BENCH_TABLE_ROW && right; i++)
        right = is_right(t, &s, i / BENCH_TABLE_ROW, i % BENCH_TABLE_ROW, bench_number(result, i));
    sources_free(s);
    return right;
}

static bool is_scattered(const bench_operands *t, const void *result) {
    return all_are(t, result, is_one_of);
}

static bool is_added(const bench_operands *t, const void *result) {
    return all_are(t, result, is_sum_of_them);
}

/* Four dimensions, of which none stays where it is. */
enum { PERMUTED = 4 };
static const uint32_t order[PERMUTED] = {2, 0, 3, 1};

static qn_array block_of(const bench_operands *t) {
    const bool is_small = t->count < 1 << 20;
    const uint64_t a = is_small ? 4 : 64, b = is_small ? 3 : 32, c = is_small ? 2 : 32;
    return QN_ARRAY(t->from, QN_F32, a, b, c, t->count / (a * b * c));
}

static qn_array permuted_of(const bench_operands *t) {
    const qn_array block = block_of(t);
    const uint64_t *s = block.sizes;
    return QN_ARRAY(t->to, QN_F32, s[order[0]], s[order[1]], s[order[2]], s[order[3]]);
}

static double bytes_of_permute(const bench_operands *t) {
    const qn_array block = block_of(t);
    return (double)qn_array_count(&block) * 8;
}

static qn_status run_permute(const bench_operands *t) {
    return qn_kernels_copy(
        t->d->kernels, t->d->stream,
        &(qn_copy_desc){.to = permuted_of(t), .from = qn_array_permute(block_of(t), order)});
}

static bool is_permuted(const bench_operands *t, const void *result) {
    const qn_array from = qn_array_permute(block_of(t), order), to = permuted_of(t);
    for (uint64_t i = 0; i < qn_array_count(&to); i++) {
        uint64_t rest = i, at = 0;
        for (int d = PERMUTED; d-- > 0; rest /= to.sizes[d])
            at += rest % to.sizes[d] * (uint64_t)from.strides[d];
        if (bench_number(result, i) != t->x[at]) return false;
    }
    return true;
}

/* A square matrix with as many rows as the table has, of BENCH_SPARSE_ROW elements each. */
static qn_status run_spmv(const bench_operands *t) {
    const uint64_t rows = bench_table_rows(t), elements = rows * BENCH_SPARSE_ROW;
    return qn_kernels_spmv(t->d->kernels, t->d->stream,
                           &(qn_spmv_desc){.starts = QN_ARRAY(t->starts, QN_U32, rows + 1),
                                           .columns = QN_ARRAY(t->indices, QN_U32, elements),
                                           .values = QN_ARRAY(t->from, QN_F32, elements),
                                           .x = QN_ARRAY(t->other, QN_F32, rows),
                                           .y = QN_ARRAY(t->to, QN_F32, rows)});
}

static double bytes_of_spmv(const bench_operands *t) {
    return (double)bench_table_rows(t) * (BENCH_SPARSE_ROW * 8 + 3 * 4); /* a start, x and y */
}

static bool is_spmv(const bench_operands *t, const void *result) {
    for (uint64_t row = 0; row < bench_table_rows(t); row++) {
        double sum = 0, sizes = 0;
        for (uint64_t i = row * BENCH_SPARSE_ROW; i < (row + 1) * BENCH_SPARSE_ROW; i++) {
            const double term = (double)t->x[i] * t->y[t->places[i]];
            sum += term, sizes += fabs(term);
        }
        if (!(fabs(bench_number(result, row) - sum) <= sizes * 0x1p-18)) return false;
    }
    return true;
}

static const bench_row rows[] = {
    {"copy f32", run_copy, is_copy, 8, false, NULL, NULL, NULL},
    {"copy f32 to bf16", run_convert, is_converted, 6, false, NULL, NULL, NULL},
    {"transpose f32", run_transpose, is_transposed, 8, true, NULL, NULL, NULL},
    {"transpose bf16", run_transpose_bf16, is_transposed_bf16, 4, true, NULL, NULL, NULL},
    {"copy bf16, odd rows to even ones", run_pitch, is_pitched, 4, false, NULL, NULL, NULL},
    {"fill f32", run_fill, is_filled, 4, false, NULL, NULL, NULL},
    {"square f32", run_square, is_square, 8, false, NULL, NULL, NULL},
    {"add f32", run_add, is_sum, 12, false, NULL, NULL, NULL},
    {"add a row f32", run_add_row, is_row_added, 8, true, NULL, NULL, NULL},
    {"gather rows of f32", run_gather, is_gathered, 8, false, NULL, NULL, NULL},
    {"scatter rows of f32", run_scatter, is_scattered, 8, false, NULL, NULL, NULL},
    {"scatter and add rows of f32", run_scatter_add, is_added, 16, false, NULL, NULL, NULL},
    {"permute f32", run_permute, is_permuted, 0, false, bytes_of_permute, NULL, NULL},
    {"sparse matrix by vector f32", run_spmv, is_spmv, 0, false, bytes_of_spmv, NULL, NULL}};
const bench_row_list bench_rows_of_maps = {rows, sizeof rows / sizeof *rows};
