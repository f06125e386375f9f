/* qn_kernels_matmul on a processor by packed panels (kernels/matmul/packed.cl): the sizes of its tiles and blocks. */
#include <stdio.h>
#include <string.h>

#include "kernels/matmul.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A tile of `rows` by `vectors`: as many sums as registers hold beside a step of B and an element of A; with products of
   bytes, fewer rows, as an element of A takes a register then, and so may the sums of B's columns. There are 32 registers of
   AVX-512, 16 of AVX and of SSE, 32 of Arm's. */
typedef struct micro {
    uint32_t vector_bytes, rows, rows_of_bytes, vectors;
} micro;

static const micro micros[] = {
    {64, 14, 12, 2},
    {32, 6, 4, 2},
#if defined(__aarch64__)
    {16, 8, 6, 3},
#else
    {16, 4, 4, 2},
#endif
};

/* Steps along k for which a panel of B stays in the nearest cache; tiles of a block, whose panels of A stay in the next one. */
enum { STEP = 256, BLOCK_ROWS = 12, BLOCK_COLUMNS = 16, BLOCKS_A_THREAD = 4 };
enum { STEPS_OF_A_BLOCK = 1 << 19 }; /* multiplications, at least: some 5 microseconds */
enum { GAP_BYTES = 16 * 8 };         /* between the two packed matrices, at most */

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

/* Measured: below, two launches and the copies cost more than they win. */
bool qn__matmul_packed_pays(const qn_kernels *kernels, const qn__matmul *q) {
    if (!qn__matmul_packed_fits(kernels, q)) return false;
    const micro *m = micro_of(kernels);
    return q->m >= 3ull * rows_of(m, q) && q->n >= 2ull * lanes_of(m, q) && q->k >= 32;
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

void qn__matmul_packed_options(const qn_kernels *kernels, const qn__matmul *q, char *out, size_t size) {
    const micro *m = micro_of(kernels);
    const qn_array *to = &q->arrays[QN__MATMUL_OUT];
    const bool same = to->type == QN_F64 ? size_of(q) == 8
                                         : size_of(q) == 4 && (to->type == QN_F32 || to->type == QN_I32) &&
                                               qn__element(to->type)->is_float ==
                                                   qn__element(q->arrays[QN__MATMUL_A].type)->is_float;
    snprintf(out, size,
             " -D MR=%u -D VECTORS=%u -D LANES=%u -D STEP=%d -D TILES=%d -D A_SHARED=%d -D "
             "B_SHARED=%d "
             "-D B_COLUMN=%s -D OUT_VECTORS=%d",
             rows_of(m, q), m->vectors, lanes_of(m, q), STEP, BLOCK_ROWS * BLOCK_COLUMNS,
             is_shared(q, QN__MATMUL_A), is_shared(q, QN__MATMUL_B),
             q->column[QN__MATMUL_B] == 1 ? "1" : "s.b_column",
             q->plain && same && q->column[QN__MATMUL_OUT] == 1);
    const size_t used = strlen(out);
    if (is_of_bytes(q)) add_bytes(q, out + used, size - used);
}

/* So many blocks as threads want, no smaller than they have to be, and all alike; fewer where one would be shorter than what
   it takes to wake a thread for it. */
static void set_block(const qn_kernels *kernels, uint64_t mr, uint64_t nr, uint64_t down, uint64_t across,
                      uint64_t steps, uint64_t batches, qn__matmul_plan *p) {
    const double most = (double)kernels->info.compute_units * BLOCKS_A_THREAD,
                 worth = (double)(down * mr) * (double)(across * nr) * (double)steps * (double)batches /
                         STEPS_OF_A_BLOCK;
    const double wanted = worth < most ? worth : most;
    uint64_t rows = divide_up(down, BLOCK_ROWS), columns = divide_up(across, BLOCK_COLUMNS);
    while ((rows < down || columns < across) && (double)rows * (double)columns * (double)batches < wanted) {
        const bool wide = across / columns * nr >= down / rows * mr;
        if (columns < across && (wide || rows >= down))
            columns++;
        else
            rows++;
    }
    p->block_rows = (uint32_t)(divide_up(down, rows) * mr);
    p->block_columns = (uint32_t)(divide_up(across, columns) * nr);
}

qn_status qn__matmul_packed_plan(const qn_kernels *kernels, const qn__matmul *q, uint64_t batches,
                                 qn__matmul_plan *p) {
    const micro *m = micro_of(kernels);
    const uint64_t mr = rows_of(m, q), nr = (uint64_t)lanes_of(m, q) * m->vectors, down = divide_up(q->m, mr),
                   across = divide_up(q->n, nr), steps = steps_of(q);
    const uint64_t of_a = is_shared(q, QN__MATMUL_A) ? 1 : batches,
                   of_b = is_shared(q, QN__MATMUL_B) ? 1 : batches;
    const double bytes =
        ((double)down * (double)mr * (double)of_a + (double)across * (double)nr * (double)of_b) *
        (double)steps * size_of(q);
    if (bytes > 1e18)
        return qn__op_fail(kernels, QN_ERROR_DEVICE_MEMORY,
                           "qn_kernels_matmul: a (%s) and b (%s) would take %.3g bytes when they are packed",
                           qn__shape(&q->arrays[QN__MATMUL_A]).text, qn__shape(&q->arrays[QN__MATMUL_B]).text,
                           bytes);
    set_block(kernels, mr, nr, down, across, steps, batches, p);
    p->range =
        (qn_range){.global = {divide_up(q->n, p->block_columns), divide_up(q->m, p->block_rows), batches},
                   .local = {1, 1, 1}};
    p->pack_range = (qn_range){.global = {steps, down + across, batches}};
    p->work = (down * mr * of_a + across * nr * of_b) * steps * size_of(q) + GAP_BYTES;
    return QN_OK;
}
