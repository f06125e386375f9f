/* Rows of quern bench kernels: copies, maps, and what takes elements from elsewhere. */
#include <math.h>
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
    {"sparse matrix by vector f32", run_spmv, is_spmv, 0, false, bytes_of_spmv, NULL, NULL}};
const bench_row_list bench_rows_of_maps = {rows, sizeof rows / sizeof *rows};
