/* qn_kernels_matmul on a processor by packed panels (kernels/matmul/packed.cl): the sizes of its tiles and blocks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/matmul.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A tile of `rows` by `vectors`: as many sums as registers hold beside a step of B and an element of A. There are 32 registers of
   AVX-512, 16 of AVX and of SSE, 32 of Arm's. A step of B should be wide: with two vectors an element of A is loaded for every other
   multiplication, which takes AVX-512 a sixth of its speed. A block's part of B, `panels` of `step` along k, stays in the second cache, and
   a tile's rows of A in the first one, which are longer of f64. */
typedef struct micro {
    uint32_t vector_bytes, rows, rows_of_bytes, vectors, step, step_of_f64, panels;
} micro;

static const micro micros[] = {
    {64, 6, 6, 4, 1024, 768, 4},
    {32, 6, 4, 2, 256, 256, 8},
#if defined(__aarch64__)
    {16, 8, 6, 3, 256, 256, 16},
#else
    {16, 4, 4, 2, 256, 256, 16},
#endif
};

/* Where a block finds B, as kernels/matmul/packed.cl numbers it. */
typedef enum place { WORK, PRIVATE, ROWS } place;

typedef struct way {
    const micro *m;
    uint32_t rows, lanes, step;
    uint64_t nr, steps, parts, of_part; /* columns of a tile; steps along k, and how they are cut */
    place b_from;
    bool a_rows; /* A is taken as it is */
    uint64_t block_rows, block_columns;
} way;

enum { KEPT_BYTES = 4 << 20 }; /* of a block's sums between parts of k */
enum { MOST_ROWS = 1 << 30 };
/* So few rows of A are multiplied by B's as they lie, if those lie so near each other, in bytes, that pages and cache lines do. */
enum { FEW_ROWS = 256, NEAR_ROWS = 1024 };
enum { BLOCKS_A_THREAD = 4 };
enum { STEPS_OF_A_BLOCK = 1 << 19 }; /* multiplications, at least: some 5 microseconds */

static const micro *micro_of(const qn_kernels *kernels) {
    for (size_t i = 0; i < COUNT(micros); i++)
        if (kernels->info.vector_bytes >= micros[i].vector_bytes) return &micros[i];
    return NULL;
}

static uint64_t divide_up(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

/* Whether four neighbours along k are multiplied at once. */
static bool is_of_bytes(const qn__matmul *q) { return !qn__element(q->arrays[QN__MATMUL_A].type)->is_float; }

static uint32_t rows_of(const micro *m, const qn__matmul *q) {
    return is_of_bytes(q) ? m->rows_of_bytes : m->rows;
}

static uint64_t steps_of(const qn__matmul *q) { return is_of_bytes(q) ? divide_up(q->k, 4) : q->k; }

/* Of a sum, in bytes. */
static uint32_t size_of(const qn__matmul *q) { return q->arrays[QN__MATMUL_A].type == QN_F64 ? 8 : 4; }

/* Vectors of C and OpenCL C have at least four lanes that a register takes as they are. */
static uint32_t lanes_of(const micro *m, const qn__matmul *q) {
    const uint32_t lanes = m->vector_bytes / size_of(q);
    return lanes < 4 ? 4 : lanes;
}

bool qn__matmul_packed_fits(const qn_kernels *kernels, const qn__matmul *q) {
    return micro_of(kernels) && q->splits <= 1 && q->k > 0;
}

/* Of fewer multiplications, or columns, strips waste less. */
bool qn__matmul_packed_pays(const qn_kernels *kernels, const qn__matmul *q) {
    enum { COLUMNS = 2 };
    const double least = 8192;
    return qn__matmul_packed_fits(kernels, q) && q->n >= COLUMNS &&
           (double)q->m * (double)q->n * (double)q->k >= least;
}

/* One matrix for all batches. */
static bool is_shared(const qn__matmul *q, qn__matmul_operand x) {
    const qn_array *a = &q->arrays[x];
    for (uint32_t d = 0; d + 2 < a->rank; d++)
        if (a->sizes[d] != 1 && a->strides[d] != 0) return false;
    return true;
}

/* Indexed by whether a and b are signed. */
static void add_bytes(const qn__matmul *q, char *out, size_t size) {
    static const struct {
        const char *signs, *flip, *correction;
    } rows[2][2] = {{{"su", "0x80808080", " -D CORRECTION=128"}, {"us", "0", ""}},
                    {{"su", "0", ""}, {"us", "0x80808080", " -D CORRECTION=-128"}}};
    const bool a = q->arrays[QN__MATMUL_A].type == QN_I8, b = q->arrays[QN__MATMUL_B].type == QN_I8;
    snprintf(out, size, " -D BYTES -D DOT=dot_4x8packed_%s_int -D A_FLIP=%s%s", rows[a][b].signs,
             rows[a][b].flip, rows[a][b].correction);
}

/* Rows are of what is multiplied, side by side. */
static bool is_as_multiplied(const qn__matmul *q, qn__matmul_operand x) {
    return q->column[x] == 1 && q->arrays[x].type == (size_of(q) == 8 ? QN_F64 : QN_F32);
}

/* No vector lies in two lines of cache, which would take half of the speed. */
static bool is_in_lines(const qn__matmul *q, const micro *m, qn__matmul_operand x) {
    return (uint64_t)q->row[x] * size_of(q) % m->vector_bytes == 0 &&
           q->arrays[x].offset * size_of(q) % m->vector_bytes == 0;
}

/* So many blocks as threads want, no smaller than they have to be, and all alike; fewer where one would be shorter than what
   it takes to wake a thread for it. */
static void set_block(const qn_kernels *kernels, const qn__matmul *q, uint64_t batches, way *w) {
    const uint32_t threads = kernels->info.compute_units;
    const double most = threads > 1 ? (double)threads * BLOCKS_A_THREAD : 1,
                 worth = (double)q->m * (double)q->n * (double)w->steps * (double)batches / STEPS_OF_A_BLOCK;
    const double wanted = worth < most ? worth : most;
    const uint64_t down = divide_up(q->m, w->rows), across = divide_up(q->n, w->nr);
    uint64_t rows = 1, columns = divide_up(across, w->m->panels);
    while ((rows < down || columns < across) && (double)rows * (double)columns * (double)batches < wanted) {
        const bool wide = across / columns * w->nr >= down / rows * w->rows;
        if (columns < across && (wide || rows >= down))
            columns++;
        else
            rows++;
    }
    w->block_columns = divide_up(across, columns) * w->nr;
    const uint64_t kept = w->parts > 1 ? KEPT_BYTES / size_of(q) / w->block_columns : MOST_ROWS,
                   fit = divide_up(down, rows), most_down = kept / w->rows;
    w->block_rows = (fit < most_down ? fit : most_down) * w->rows;
}

static way way_of(const qn_kernels *kernels, const qn__matmul *q, uint64_t batches) {
    way w = {.m = micro_of(kernels), .steps = steps_of(q)};
    w.rows = rows_of(w.m, q);
    w.lanes = lanes_of(w.m, q);
    w.nr = (uint64_t)w.lanes * w.m->vectors;
    w.step = size_of(q) == 8 ? w.m->step_of_f64 : w.m->step;
    w.parts = divide_up(w.steps, w.step);
    w.of_part = divide_up(w.steps, w.parts);
    w.a_rows = is_as_multiplied(q, QN__MATMUL_A) && q->m >= w.rows;
    set_block(kernels, q, batches, &w);
    const bool few = q->m <= FEW_ROWS && w.parts == 1 && q->n >= w.nr && is_as_multiplied(q, QN__MATMUL_B) &&
                     (uint64_t)llabs(q->row[QN__MATMUL_B]) * size_of(q) <= NEAR_ROWS &&
                     is_in_lines(q, w.m, QN__MATMUL_B);
    const uint64_t users = divide_up(q->m, w.block_rows) * (is_shared(q, QN__MATMUL_B) ? batches : 1);
    w.b_from = few ? ROWS : users > 1 && kernels->info.compute_units > 1 ? WORK : PRIVATE;
    return w;
}

void qn__matmul_packed_options(const qn_kernels *kernels, const qn__matmul *q, uint64_t batches, char *out,
                               size_t size) {
    const way w = way_of(kernels, q, batches);
    const qn_array *to = &q->arrays[QN__MATMUL_OUT];
    const bool same = to->type == QN_F64 ? size_of(q) == 8
                                         : size_of(q) == 4 && (to->type == QN_F32 || to->type == QN_I32) &&
                                               qn__element(to->type)->is_float ==
                                                   qn__element(q->arrays[QN__MATMUL_A].type)->is_float;
    const int64_t b_k = q->row[QN__MATMUL_B], b_column = q->column[QN__MATMUL_B];
    snprintf(out, size,
             " -D MR=%u -D VECTORS=%u -D LANES=%u -D STEP=%u -D PANELS=%u -D KEPT=%u -D B_FROM=%d -D "
             "B_SHARED=%d -D "
             "B_COLUMN=%s -D B_VECTORS=%d -D B_ALONG_K=%d -D A_ROWS=%d -D A_K=%s -D A_ALONG_K=%d -D "
             "OUT_VECTORS=%d "
             "-D PLAIN_ROWS=%d",
             w.rows, w.m->vectors, w.lanes, w.step, w.m->panels, KEPT_BYTES / size_of(q), (int)w.b_from,
             is_shared(q, QN__MATMUL_B), b_column == 1 ? "1" : "s.b_column",
             is_as_multiplied(q, QN__MATMUL_B), b_column != 1 && llabs(b_k) <= llabs(b_column), w.a_rows,
             q->column[QN__MATMUL_A] == 1 ? "1" : "s.a_k", q->column[QN__MATMUL_A] == 1,
             q->plain && same && q->column[QN__MATMUL_OUT] == 1, q->plain && q->column[QN__MATMUL_OUT] == 1);
    const size_t used = strlen(out);
    if (is_of_bytes(q)) add_bytes(q, out + used, size - used);
}

qn_status qn__matmul_packed_plan(const qn_kernels *kernels, const qn__matmul *q, uint64_t batches,
                                 qn__matmul_plan *p) {
    const way w = way_of(kernels, q, batches);
    const uint64_t of_b = is_shared(q, QN__MATMUL_B) ? 1 : batches, across = divide_up(q->n, w.nr),
                   slot = (w.of_part + 1) * w.nr * size_of(q); /* with the sums of columns */
    p->block_rows = (uint32_t)w.block_rows;
    p->block_columns = (uint32_t)w.block_columns;
    p->range =
        (qn_range){.global = {divide_up(q->n, p->block_columns), divide_up(q->m, p->block_rows), batches},
                   .local = {1, 1, 1}};
    p->pack_range = (qn_range){.global = {across, w.parts, of_b}, .local = {1, 1, 1}};
    const double bytes = (double)across * (double)w.parts * (double)of_b * (double)slot;
    if (w.b_from != WORK) return QN_OK;
    if (bytes > 1e18)
        return qn__op_fail(kernels, QN_ERROR_DEVICE_MEMORY,
                           "qn_kernels_matmul: b (%s) would take %.3g bytes when it is packed",
                           qn__shape(&q->arrays[QN__MATMUL_B]).text, bytes);
    p->work = across * w.parts * of_b * slot;
    return QN_OK;
}
