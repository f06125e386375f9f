/* Products of matrices that a sub-group of 32 work-items holds in registers, as PTX's mma.sync and ldmatrix define them: no kernel
   that the interpreter is given has them, but a CUDA device's can be run here. Where a work-item's elements are in the matrices:
   PTX ISA 9.7.14.5, "Matrix Fragments for mma.m16n8k16" and those beside it. Floats are summed in double and rounded once, where
   devices may round more often. */
#include <math.h>
#include <string.h>

#include "ir/matrix.h"
#include "util/float.h"
#include "vm/internal.h"

enum { GROUP = 32, ROWS = 16, COLUMNS = 8, MOST_K = 32, WORD = 4 };

/* An element of a matrix as a number: integers and floats are exact in it. */
static double number_of(ir_matrix m, uint64_t bits) {
    double number;
    switch (m.element) {
    case IR_MATRIX_F64: memcpy(&number, &bits, sizeof number); return number;
    case IR_MATRIX_F16: return qn__float_to_double(&qn__float_16, (uint32_t)bits);
    case IR_MATRIX_BF16: return qn__float_to_double(&qn__float_bf16, (uint32_t)bits);
    case IR_MATRIX_E4M3: return qn__float_to_double(&qn__float_e4m3, (uint32_t)bits);
    case IR_MATRIX_E5M2: return qn__float_to_double(&qn__float_e5m2, (uint32_t)bits);
    case IR_MATRIX_F32: return qn__float_to_double(&qn__float_32, (uint32_t)bits);
    case IR_MATRIX_I8: return (int8_t)bits;
    case IR_MATRIX_U8: return (uint8_t)bits;
    default: return (int32_t)bits;
    }
}

/* As a sum has it: integers wrap. */
static uint64_t bits_of(ir_matrix m, double value) {
    uint64_t bits;
    if (m.element == IR_MATRIX_F64) {
        memcpy(&bits, &value, sizeof bits);
        return bits;
    }
    if (m.element == IR_MATRIX_F16) return (uint32_t)qn__float_from_double(&qn__float_16, value);
    if (m.element == IR_MATRIX_F32) return (uint32_t)qn__float_from_double(&qn__float_32, value);
    return (uint32_t)(int64_t)value;
}

/* Bytes of a word: elements of f64 are words of their own. */
static unsigned word_bytes(ir_matrix m) { return m.element == IR_MATRIX_F64 ? 8 : WORD; }

static uint64_t word_at(const qn__vm_frame *frame, ir_matrix m, uint32_t slot, uint64_t item) {
    const void *words = qn__vm_slot(frame, slot);
    return word_bytes(m) == WORD ? ((const uint32_t *)words)[item] : ((const uint64_t *)words)[item];
}

static uint64_t element_of(ir_matrix m, uint64_t word, unsigned n) {
    const unsigned bits = 8 * qn__ir_matrix_bytes(m);
    return bits >= 32 ? word : word >> n * bits & ((UINT32_C(1) << bits) - 1);
}

/* ---- mma ---- */

typedef struct tile {
    double a[ROWS][MOST_K], b[MOST_K][COLUMNS], sum[ROWS][COLUMNS];
} tile;

/* tf32: a float without its 13 lowest bits. */
static double operand_of(ir_matrix m, uint64_t word, unsigned n) {
    const uint64_t bits = element_of(m, word, n);
    return number_of(m, m.element == IR_MATRIX_F32 ? bits & ~UINT64_C(0x1fff) : bits);
}

/* Word `w` of work-item `lane`: a word of k in rows lane / 4 and eight below, then four words further on. */
static void gather_a(tile *t, ir_matrix m, unsigned lane, unsigned w, uint64_t word) {
    const unsigned count = word_bytes(m) / qn__ir_matrix_bytes(m);
    for (unsigned n = 0; n < count; n++)
        t->a[lane / 4 + 8 * (w % 2)][4 * count * (w / 2) + lane % 4 * count + n] = operand_of(m, word, n);
}

static void gather_b(tile *t, ir_matrix m, unsigned lane, unsigned w, uint64_t word) {
    const unsigned count = word_bytes(m) / qn__ir_matrix_bytes(m);
    for (unsigned n = 0; n < count; n++)
        t->b[4 * count * w + lane % 4 * count + n][lane / 4] = operand_of(m, word, n);
}

/* Elements 0 and 1 are in row lane / 4, 2 and 3 eight below. */
static double *sum_at(tile *t, unsigned lane, unsigned n) {
    return &t->sum[lane / 4 + 8 * (n / 2)][lane % 4 * 2 + n % 2];
}

static void gather(const qn__vm_frame *frame, const qn__vm_instr *instr, uint64_t first, tile *t) {
    const ir_instr *ir = instr->ir;
    const ir_matrix *m = ir->attr.matrices;
    const unsigned in_word = word_bytes(m[0]) / qn__ir_matrix_bytes(m[0]), sums = ir->num_results;
    const unsigned num_b = (ir->num_operands - sums) / 3, num_a = 2 * num_b;
    for (unsigned lane = 0; lane < GROUP; lane++) {
        for (unsigned n = 0; n < sums * in_word; n++)
            *sum_at(t, lane, n) = number_of(
                m[0], element_of(m[0], word_at(frame, m[0], instr->operands[n / in_word], first + lane),
                                 n % in_word));
        for (unsigned w = 0; w < num_a; w++)
            gather_a(t, m[1], lane, w, word_at(frame, m[1], instr->operands[sums + w], first + lane));
        for (unsigned w = 0; w < num_b; w++)
            gather_b(t, m[2], lane, w, word_at(frame, m[2], instr->operands[sums + num_a + w], first + lane));
    }
}

static void scatter(const qn__vm_frame *frame, const qn__vm_instr *instr, uint64_t first, tile *t) {
    const ir_matrix m = instr->ir->attr.matrices[0];
    const unsigned bytes = qn__ir_matrix_bytes(m), in_word = word_bytes(m) / bytes;
    for (uint32_t r = 0; r < instr->ir->num_results; r++) {
        unsigned char *result = qn__vm_slot(frame, instr->results[r]);
        for (unsigned lane = 0; lane < GROUP; lane++) {
            uint64_t word = 0;
            for (unsigned n = 0; n < in_word; n++)
                word |= bits_of(m, *sum_at(t, lane, r * in_word + n)) << 8 * bytes * n;
            const uint32_t low = (uint32_t)word;
            const bool is_wide = word_bytes(m) > WORD;
            memcpy(result + (first + lane) * word_bytes(m), is_wide ? (const void *)&word : &low,
                   word_bytes(m));
        }
    }
}

static void mma(qn__vm_frame *frame, const qn__vm_instr *instr) {
    const unsigned k = instr->ir->attr.matrices[1].columns;
    tile t;
    for (uint64_t first = 0; first + GROUP <= frame->items; first += GROUP) {
        gather(frame, instr, first, &t);
        for (unsigned row = 0; row < ROWS; row++)
            for (unsigned column = 0; column < COLUMNS; column++)
                for (unsigned n = 0; n < k && n < MOST_K; n++)
                    t.sum[row][column] = fma(t.a[row][n], t.b[n][column], t.sum[row][column]);
        scatter(frame, instr, first, &t);
    }
}

/* ---- ldmatrix ---- */

/* Matrix r's rows are where work-items 8 r to 8 r + 7 point. Each work-item gets two 16-bit elements: of row lane / 4, or of column
   lane / 4 where it is transposed. */
static void ldmatrix(qn__vm_frame *frame, const qn__vm_instr *instr) {
    enum { ROW_BYTES = 16, HALF = 2 };
    const uint64_t *pointer = qn__vm_slot(frame, instr->a);
    const int64_t offset = instr->ir->attr.offset;
    const bool transposed = instr->ir->flags & IR_TRANSPOSED;
    if (!qn__vm_may_access(frame, instr, 0, offset, ROW_BYTES)) return;
    for (uint64_t first = 0; first + GROUP <= frame->items; first += GROUP)
        for (uint32_t r = 0; r < instr->ir->num_results; r++) {
            uint32_t *result = qn__vm_slot(frame, instr->results[r]);
            for (unsigned lane = 0; lane < GROUP; lane++) {
                uint16_t pair[2];
                for (unsigned n = 0; n < 2; n++) {
                    const unsigned row = transposed ? lane % 4 * 2 + n : lane / 4;
                    const unsigned column = transposed ? lane / 4 : lane % 4 * 2 + n;
                    const uint64_t from = pointer[first + 8 * r + row] + (uint64_t)offset + HALF * column;
                    memcpy(&pair[n], (const void *)(uintptr_t)from, sizeof pair[n]);
                }
                result[first + lane] = pair[0] | (uint32_t)pair[1] << 16;
            }
        }
}

/* ---- products of panels ---- */

enum { TILE = 32, IN_GROUP = 16 /* words */ };

typedef struct panels {
    unsigned char *sums;
    const unsigned char *a, *b;
    uint64_t a_row, panel;
    uint32_t words, count, more;
} panels;

/* Element i of the words at x and y, multiplied. */
static double product_of_bf16(const unsigned char *x, const unsigned char *y, unsigned i) {
    uint16_t one, other;
    memcpy(&one, x + 2 * i, sizeof one);
    memcpy(&other, y + 2 * i, sizeof other);
    return qn__float_to_double(&qn__float_bf16, one) * qn__float_to_double(&qn__float_bf16, other);
}

static uint32_t product_of_bytes(const unsigned char *x, const unsigned char *y, unsigned i, unsigned kind) {
    const int one = kind <= IR_PANEL_SU ? (int8_t)x[i] : x[i],
              other = kind == IR_PANEL_SS || kind == IR_PANEL_US ? (int8_t)y[i] : y[i];
    return (uint32_t)(one * other);
}

/* Floats are summed in double and rounded once. */
static void sum_up(const panels *s, unsigned kind, unsigned char *sum, const unsigned char *a,
                   const unsigned char *b) {
    uint32_t word = 0;
    float value = 0;
    if (s->more) memcpy(&word, sum, sizeof word);
    memcpy(&value, &word, sizeof value);
    double total = value;
    for (uint32_t w = 0; w < s->words / IN_GROUP * IN_GROUP; w++, a += WORD, b += TILE * WORD)
        for (unsigned i = 0; i < (kind == IR_PANEL_BF16 ? 2u : 4u); i++) {
            if (kind == IR_PANEL_BF16)
                total += product_of_bf16(a, b, i);
            else
                word += product_of_bytes(a, b, i, kind);
        }
    value = (float)total;
    if (kind == IR_PANEL_BF16) memcpy(&word, &value, sizeof word);
    memcpy(sum, &word, sizeof word);
}

static void multiply_panels(const panels *s, unsigned kind) {
    for (uint64_t p = 0; p < s->count; p++)
        for (uint64_t row = 0; row < TILE; row++)
            for (uint64_t column = 0; column < TILE; column++)
                sum_up(s, kind, s->sums + ((p * TILE + row) * TILE + column) * WORD, s->a + row * s->a_row,
                       s->b + p * s->panel + column * WORD);
}

/* What lies between the first byte and the last may be accessed. */
static bool may_multiply(qn__vm_frame *frame, const qn__vm_instr *instr, const panels *s) {
    return qn__vm_may_access(frame, instr, 0, 0, (uint64_t)s->count * TILE * TILE * WORD) &&
           qn__vm_may_access(frame, instr, 1, 0, s->a_row * (TILE - 1) + (uint64_t)s->words * WORD) &&
           qn__vm_may_access(frame, instr, 2, 0,
                             s->panel * (s->count - 1) + (uint64_t)s->words * TILE * WORD);
}

static void panel_product(qn__vm_frame *frame, const qn__vm_instr *instr) {
    const uint32_t *slots = instr->operands;
    for (uint64_t i = 0; i < frame->items; i++) {
        if (!frame->active[i]) continue;
        const uint64_t *sums = qn__vm_slot(frame, slots[0]), *a = qn__vm_slot(frame, slots[1]),
                       *b = qn__vm_slot(frame, slots[2]), *a_row = qn__vm_slot(frame, slots[3]),
                       *panel = qn__vm_slot(frame, slots[4]);
        const uint32_t *words = qn__vm_slot(frame, slots[5]), *count = qn__vm_slot(frame, slots[6]),
                       *more = qn__vm_slot(frame, slots[7]);
        const panels s = {(unsigned char *)(uintptr_t)sums[i],
                          (const unsigned char *)(uintptr_t)a[i],
                          (const unsigned char *)(uintptr_t)b[i],
                          a_row[i],
                          panel[i],
                          words[i],
                          count[i],
                          more[i]};
        if (!s.count) continue;
        if (!may_multiply(frame, instr, &s)) return;
        multiply_panels(&s, instr->ir->attr.index);
    }
}

qn__vm_handler *qn__vm_pick_matrix(const ir_instr *instr) {
    switch (instr->op) {
    case IR_MMA: return mma;
    case IR_LDMATRIX: return ldmatrix;
    case IR_PANEL_PRODUCT: return panel_product;
    default: return NULL;
    }
}
