/* qn_kernels_matmul on a processor by products of panels (kernels/matmul/panels.cl): the sizes of its blocks. */
#include <stdio.h>
#include <stdlib.h>

#include "kernels/matmul.h"

/* Of a product: rows and columns of a tile, words along k of a step. `STEP` words of 32 rows stay in the first cache, and with
   `PANELS` panels in the second. */
enum { SIDE = 32, GROUP = 16, STEP = 256, PANELS = 8, BLOCKS_A_THREAD = 4, WORD_BYTES = 4 };

static uint64_t divide_up(uint64_t a, uint64_t b) { return a / b + (a % b != 0); }

static bool is_byte(qn_element type) { return type == QN_I8 || type == QN_U8; }

static uint32_t in_word(const qn__matmul *q) {
    return WORD_BYTES / qn__element(q->arrays[QN__MATMUL_A].type)->size;
}

bool qn__matmul_panels_fits(const qn_kernels *kernels, const qn__matmul *q) {
    const qn_element a = q->arrays[QN__MATMUL_A].type, b = q->arrays[QN__MATMUL_B].type;
    return kernels->info.kind == QN_DEVICE_CPU && q->splits <= 1 && q->k > 0 &&
           ((a == QN_BF16 && b == QN_BF16) || (is_byte(a) && is_byte(b)));
}

/* Where they are the hardware's, and a tile is not mostly empty: registers of tiles still win where it is, other vectors do not. */
bool qn__matmul_panels_pays(const qn_kernels *kernels, const qn__matmul *q) {
    enum { LEAST_ROWS_BY_TILES = 12, LEAST_ROWS = 24, LEAST_COLUMNS = 12 };
    const bool tiles = kernels->info.capabilities & QN_CAN_MULTIPLY_PANELS,
               pairs = (kernels->info.capabilities & QN_CAN_MULTIPLY_BF16_PANELS) &&
                       !is_byte(q->arrays[QN__MATMUL_A].type);
    return (tiles || pairs) && qn__matmul_panels_fits(kernels, q) &&
           q->m >= (tiles ? LEAST_ROWS_BY_TILES : LEAST_ROWS) && q->n >= LEAST_COLUMNS && q->k >= 2 * GROUP;
}

/* One matrix for all batches. */
static bool is_shared(const qn__matmul *q, qn__matmul_operand x) {
    const qn_array *a = &q->arrays[x];
    for (uint32_t d = 0; d + 2 < a->rank; d++)
        if (a->sizes[d] != 1 && a->strides[d] != 0) return false;
    return true;
}

static bool takes_rows(const qn__matmul *q) {
    return q->column[QN__MATMUL_A] == 1 && q->row[QN__MATMUL_A] >= 0 && q->m >= SIDE &&
           q->k % (GROUP * in_word(q)) == 0;
}

void qn__matmul_panels_options(const qn__matmul *q, char *out, size_t size) {
    static const char *const products[2][2] = {{"uu", "us"},
                                               {"su", "ss"}}; /* by whether a and b are signed */
    const bool a = q->arrays[QN__MATMUL_A].type == QN_I8, b = q->arrays[QN__MATMUL_B].type == QN_I8;
    const bool bytes = in_word(q) == 4;
    snprintf(out, size,
             " -D BITS=%s -D IN_WORD=%u -D PRODUCT=qn_panel_product_%s -D STEP=%d -D A_SHARED=%d -D "
             "B_SHARED=%d -D A_ROWS=%d -D B_COLUMN=%s -D PLAIN_ROWS=%d",
             bytes ? "uchar" : "ushort", in_word(q), bytes ? products[a][b] : "bf16", STEP,
             is_shared(q, QN__MATMUL_A), is_shared(q, QN__MATMUL_B), takes_rows(q),
             q->column[QN__MATMUL_B] == 1 ? "1" : "s.b_column", q->plain && q->column[QN__MATMUL_OUT] == 1);
}

/* As many blocks as threads want, of whole tiles. */
static void set_block(const qn_kernels *kernels, uint64_t down, uint64_t across, uint64_t batches,
                      qn__matmul_plan *p) {
    const double wanted =
        kernels->info.compute_units > 1 ? (double)kernels->info.compute_units * BLOCKS_A_THREAD : 1;
    uint64_t rows = 1, columns = divide_up(across, PANELS);
    while (rows < down && (double)rows * (double)columns * (double)batches < wanted) rows++;
    while (columns < across && (double)rows * (double)columns * (double)batches < wanted) columns++;
    p->block_rows = (uint32_t)(divide_up(down, rows) * SIDE);
    p->block_columns = (uint32_t)(divide_up(across, columns) * SIDE);
}

qn_status qn__matmul_panels_plan(const qn_kernels *kernels, const qn__matmul *q, qn__matmul_plan *p) {
    const uint64_t batches = qn__matmul_batches(q), of_a = is_shared(q, QN__MATMUL_A) ? 1 : batches,
                   of_b = is_shared(q, QN__MATMUL_B) ? 1 : batches, down = divide_up(q->m, SIDE),
                   across = divide_up(q->n, SIDE), words = divide_up(q->k, GROUP * in_word(q)) * GROUP,
                   parts = divide_up(words, STEP), of_part = divide_up(words, parts * GROUP) * GROUP;
    const bool rows = takes_rows(q);
    const double all = (double)of_b * (double)parts * (double)across * (double)of_part * SIDE +
                       (rows ? 0 : (double)of_a * (double)down * (double)words * SIDE) +
                       (double)batches * (double)down * (double)across * SIDE * SIDE;
    if (all > 1e17 || down > UINT32_MAX / SIDE || across > UINT32_MAX / SIDE)
        return qn__op_fail(kernels, QN_ERROR_DEVICE_MEMORY,
                           "qn_kernels_matmul: b (%s) and what is multiplied would take %.3g bytes",
                           qn__shape(&q->arrays[QN__MATMUL_B]).text, all * WORD_BYTES);
    set_block(kernels, down, across, batches, p);
    p->range =
        (qn_range){.global = {divide_up(q->n, p->block_columns), divide_up(q->m, p->block_rows), batches},
                   .local = {1, 1, 1}};
    p->pack_range = (qn_range){.global = {across + (rows ? 0 : down), parts, batches}, .local = {1, 1, 1}};
    p->work = (of_b * parts * across * of_part * SIDE + (rows ? 0 : of_a * down * SIDE * words) +
               batches * down * across * SIDE * SIDE) *
              WORD_BYTES;
    return QN_OK;
}
