/* Rows of quern bench kernels: what sorts, counts, selects and draws elements. */
#include <math.h>
#include <string.h>

#include "bench_kernels.h"

static qn_status run_sort(const bench_operands *t) {
    return qn_kernels_sort(
        t->d->kernels, t->d->stream,
        &(qn_sort_desc){.keys = bench_floats(t, t->from), .to_keys = bench_floats(t, t->to)});
}

static double keys_of_sort(const bench_operands *t) { return (double)t->count; }

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

static bool is_sorted(const bench_operands *t, const void *result) {
    for (uint64_t i = 1; i < t->count; i++)
        if (!(bench_number(result, i - 1) <= bench_number(result, i))) return false;
    return sum_of_hashes(result, t->count) == sum_of_hashes(t->x, t->count);
}

enum { BINS = 256 };

static qn_status run_histogram(const bench_operands *t) {
    return qn_kernels_histogram(
        t->d->kernels, t->d->stream,
        &(qn_histogram_desc){
            .from = bench_floats(t, t->from), .to = QN_ARRAY(t->to, QN_U32, BINS), .low = -1, .high = 1});
}

static bool is_counted(const bench_operands *t, const void *result) {
    uint32_t bins[BINS] = {0};
    for (uint64_t i = 0; i < t->count; i++) {
        const float from_low = t->x[i] + 1, place = from_low * (BINS / 2);
        if (place >= 0 && t->x[i] <= 1) bins[place < BINS ? (int)place : BINS - 1]++;
    }
    return memcmp(result, bins, sizeof bins) == 0;
}

/* By the bytes of y; how many there are is the last element of the result. */
static qn_status run_compact(const bench_operands *t) {
    const uint64_t count = t->count - 1;
    return qn_kernels_compact(
        t->d->kernels, t->d->stream,
        &(qn_compact_desc){.from = QN_ARRAY(t->from, QN_F32, count),
                           .mask = QN_ARRAY(t->other, QN_U8, count),
                           .to = QN_ARRAY(t->to, QN_F32, count),
                           .count = {.buffer = t->to, .offset = count, .type = QN_U32}});
}

static bool is_compacted(const bench_operands *t, const void *result) {
    const uint8_t *mask = (const uint8_t *)t->y;
    uint32_t kept = 0;
    for (uint64_t i = 0; i + 1 < t->count; i++)
        if (mask[i] && bench_number(result, kept++) != t->x[i]) return false;
    return ((const uint32_t *)result)[t->count - 1] == kept;
}

/* How many there are is the last element of the result, as above. */
static qn_status run_unique(const bench_operands *t) {
    const uint64_t count = t->count - 1;
    return qn_kernels_unique(t->d->kernels, t->d->stream,
                             &(qn_unique_desc){.from = QN_ARRAY(t->from, QN_F32, count),
                                               .to = QN_ARRAY(t->to, QN_F32, count),
                                               .count = {.buffer = t->to, .offset = count, .type = QN_U32}});
}

static bool is_unique(const bench_operands *t, const void *result) {
    uint32_t kept = 0;
    for (uint64_t i = 0; i + 1 < t->count; i++)
        if ((i == 0 || t->x[i] != t->x[i - 1]) && bench_number(result, kept++) != t->x[i]) return false;
    return ((const uint32_t *)result)[t->count - 1] == kept;
}

/* How many of the largest are chosen. */
static uint64_t best_of(const bench_operands *t) { return t->side < 64 ? t->side : 64; }

static qn_status run_top_k(const bench_operands *t) {
    return qn_kernels_top_k(
        t->d->kernels, t->d->stream,
        &(qn_top_k_desc){.from = bench_floats(t, t->from), .to = QN_ARRAY(t->to, QN_F32, best_of(t))});
}

static qn_status run_row_top_k(const bench_operands *t) {
    return qn_kernels_top_k(t->d->kernels, t->d->stream,
                            &(qn_top_k_desc){.from = bench_square(t, t->from),
                                             .to = QN_ARRAY(t->to, QN_F32, t->side, best_of(t))});
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

static bool is_top_k(const bench_operands *t, const void *result) {
    return is_top_of(t->x, t->count, result, best_of(t));
}

static bool is_row_top_k(const bench_operands *t, const void *result) {
    for (uint64_t i = 0; i < t->side; i++)
        if (!is_top_of(t->x + i * t->side, t->side, (const float *)result + i * best_of(t), best_of(t)))
            return false;
    return true;
}

static qn_status run_random(const bench_operands *t) {
    return qn_kernels_random(t->d->kernels, t->d->stream,
                             &(qn_random_desc){.to = bench_floats(t, t->to), .seed = 1});
}

/* Within bounds, and with the mean and variance of a uniform distribution as far as chance allows. */
static bool is_uniform(const bench_operands *t, const void *result) {
    double sum = 0, squares = 0;
    const double n = (double)t->count;
    for (uint64_t i = 0; i < t->count; i++) {
        const double v = bench_number(result, i);
        if (!(v >= 0 && v < 1)) return false;
        sum += v - 0.5, squares += (v - 0.5) * (v - 0.5);
    }
    return fabs(sum / n) <= 2 / sqrt(n) && fabs(squares / n - 1.0 / 12) <= 1 / sqrt(n);
}

static qn_status run_normal(const bench_operands *t) {
    return qn_kernels_random(
        t->d->kernels, t->d->stream,
        &(qn_random_desc){.to = bench_floats(t, t->to), .distribution = QN_RANDOM_NORMAL, .seed = 1});
}

static bool is_normal(const bench_operands *t, const void *result) {
    double sum = 0, squares = 0;
    const double n = (double)t->count;
    for (uint64_t i = 0; i < t->count; i++) {
        const double v = bench_number(result, i);
        if (!(fabs(v) < 7)) return false;
        sum += v, squares += v * v;
    }
    return fabs(sum / n) <= 6 / sqrt(n) && fabs(squares / n - 1) <= 9 / sqrt(n);
}

static const bench_row rows[] = {
    {"histogram f32, 256 bins", run_histogram, is_counted, 4, false, NULL, NULL, NULL},
    {"compact f32 by a mask", run_compact, is_compacted, 9, false, NULL, NULL, NULL},
    {"unique f32", run_unique, is_unique, 8, false, NULL, NULL, NULL},
    {"top 64 f32", run_top_k, is_top_k, 4, false, NULL, NULL, NULL},
    {"top 64 of rows f32", run_row_top_k, is_row_top_k, 4, true, NULL, NULL, NULL},
    {"sort f32", run_sort, is_sorted, 0, false, keys_of_sort, "keys/s", NULL},
    {"random f32", run_random, is_uniform, 4, false, NULL, NULL, NULL},
    {"random normal f32", run_normal, is_normal, 4, false, NULL, NULL, NULL}};
const bench_row_list bench_rows_of_order = {rows, sizeof rows / sizeof *rows};
