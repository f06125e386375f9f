/* The ladder of matmul kernels: what each rung adds, and how it is launched. */
#include "kernels/op.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A group has local[0] by local[1] work-items and computes `rows` by `columns` of C; 0 rows: so many elements of C, which
   count in a line. in_line: the groups are numbered in one dimension. reuse: as qn_rung has it. */
typedef struct rung {
    const char *file, *adds;
    uint32_t local[2], rows, columns;
    bool in_line;
    uint32_t reuse[2];
    qn_element type; /* of A and B */
} rung;

static const rung ladder[] = {
    {"matmul/01_naive.cl", "one element a work-item", {1, 1}, 1, 1, false, {1, 1}, QN_F32},
    {"matmul/02_line.cl", "work-groups of 256", {256, 1}, 0, 256, true, {1, 1}, QN_F32},
    {"matmul/03_square.cl", "work-groups of 16x16", {16, 16}, 16, 16, false, {1, 1}, QN_F32},
    {"matmul/04_four.cl", "1x4 elements a work-item", {16, 16}, 16, 64, false, {1, 4}, QN_F32},
    {"matmul/05_sixteen.cl", "4x4 elements a work-item", {16, 16}, 64, 64, false, {4, 4}, QN_F32},
    {"matmul/06_local.cl", "tiles in local memory", {16, 16}, 64, 64, false, {64, 64}, QN_F32},
    {"matmul/07_vectors.cl", "8x8 elements, vector loads", {256, 1}, 128, 128, false, {128, 128}, QN_F32},
    {"matmul/08_async.cl", "double buffering, async copies", {256, 1}, 128, 128, false, {128, 128}, QN_F32},
    {"matmul/09_sub_groups.cl", "tiles of sub-groups", {128, 1}, 128, 128, true, {128, 128}, QN_F32},
    {"matmul/10_units.cl", "matrix units, A and B of bf16", {128, 1}, 128, 128, true, {128, 128}, QN_BF16},
};

static uint64_t divide_up(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

bool qn_matmul_rung(uint32_t index, uint32_t m, uint32_t n, qn_rung *out) {
    if (index >= COUNT(ladder) || !out) return false;
    const rung *r = &ladder[index];
    const uint64_t across = r->rows ? divide_up(n, r->columns) : divide_up((uint64_t)m * n, r->columns),
                   down = r->rows ? divide_up(m, r->rows) : 1;
    *out = (qn_rung){.file = r->file,
                     .adds = r->adds,
                     .range = {.local = {r->local[0], r->local[1]}},
                     .reuse = {r->reuse[0], r->reuse[1]},
                     .type = r->type};
    out->range.global[0] = across * r->local[0] * (r->in_line ? down : 1);
    out->range.global[1] = r->in_line ? 1 : down * r->local[1];
    return true;
}
