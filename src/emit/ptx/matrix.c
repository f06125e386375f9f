/* Matrix units in the PTX target: mma.sync on the words that lower_matrix has made of fragments, and ldmatrix, which loads
   such words from local memory.
   Source: "Parallel Thread Execution ISA" 9.7.14, warp-level matrix instructions. */
#include "ir/matrix.h"
#include "emit/ptx/internal.h"

/* ISA version times 10 from which an architecture's instructions are in the language. */
static uint32_t version_of(uint32_t arch) { return arch >= 90 ? 78 : arch >= 89 ? 84 : arch >= 80 ? 70 : 65; }

static const struct mma_row {
    uint8_t a, b, accumulator, k, arch;
} mma_rows[] = {
#define MMA(a, b, accumulator, k, arch) {IR_MATRIX_##a, IR_MATRIX_##b, IR_MATRIX_##accumulator, k, arch},
#include "target/mma.def"
};

static const struct mma_row *row_of(const ir_matrix *m) {
    for (size_t i = 0; i < QN__COUNT(mma_rows); i++) {
        const struct mma_row *r = &mma_rows[i];
        if (r->accumulator == m[0].element && r->a == m[1].element && r->b == m[2].element &&
            r->k == m[1].columns)
            return r;
    }
    return NULL;
}

static const char *type_name(ir_matrix m) {
    static const char *const names[IR_MATRIX_ELEMENTS] = {
        [IR_MATRIX_F16] = "f16",   [IR_MATRIX_F32] = "f32",   [IR_MATRIX_I8] = "s8",
        [IR_MATRIX_U8] = "u8",     [IR_MATRIX_I32] = "s32",   [IR_MATRIX_BF16] = "bf16",
        [IR_MATRIX_E4M3] = "e4m3", [IR_MATRIX_E5M2] = "e5m2", [IR_MATRIX_F64] = "f64",
    };
    if (m.element == IR_MATRIX_F32 && m.use != IR_USE_ACCUMULATOR) return "tf32";
    return names[m.element];
}

/* " {=, =}": a list of registers. */
static void put_list(qn__buf *text, char kind, uint32_t count) {
    qn__buf_puts(text, " {");
    for (uint32_t i = 0; i < count; i++) qn__buf_printf(text, i ? ", %c" : "%c", kind);
    qn__buf_putc(text, '}');
}

enum { MOST_RESULTS = 4, MOST_OPERANDS = 4 + 8 + 4 };

/* Of f64 compute capability 8.0 has 8 x 8 x 4 only: two make the row of the table. */
static void mma_of_halves(ptx_emitter *e, const ptx_operand *operands) {
    const ptx_operand *sums = operands, *a = sums + 4, *b = a + 2, *before = b + 1;
    for (unsigned half = 0; half < 2; half++) {
        const ptx_operand own[] = {sums[2 * half], sums[2 * half + 1], a[half],
                                   b[0],           before[2 * half],   before[2 * half + 1]};
        qn__ptx_list(e, "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {=, =}, {$}, {$}, {$, $};", own,
                     QN__COUNT(own));
    }
}

static void mma_whole(ptx_emitter *e, const ir_matrix *m, const ptx_operand *operands, uint32_t sums,
                      uint32_t num_b) {
    const uint32_t num_a = 2 * num_b; /* 16 rows against 8 columns */
    qn__buf text;
    qn__buf_init(&text, e->arena);
    qn__buf_printf(&text, "mma.sync.aligned.m16n8k%u.row.col.%s.%s.%s.%s", m[1].columns, type_name(m[0]),
                   type_name(m[1]), type_name(m[2]), type_name(m[0]));
    put_list(&text, '=', sums);
    qn__buf_putc(&text, ',');
    put_list(&text, '$', num_a);
    qn__buf_putc(&text, ',');
    put_list(&text, '$', num_b);
    qn__buf_putc(&text, ',');
    put_list(&text, '$', sums);
    qn__buf_putc(&text, ';');
    qn__ptx_list(e, text.data, operands, 2 * sums + num_a + num_b);
}

static void mma(ptx_emitter *e, const ir_instr *instr) {
    const ir_matrix *m = instr->attr.matrices;
    const struct mma_row *row = row_of(m);
    const uint32_t sums = instr->num_results, given = instr->num_operands;
    ptx_operand operands[MOST_RESULTS + MOST_OPERANDS];
    uint32_t count = 0;
    if (!row || sums > MOST_RESULTS || given > MOST_OPERANDS) {
        qn__ptx_refuse(e, instr);
        return;
    }
    const bool is_double = m[0].element == IR_MATRIX_F64;
    qn__ptx_require(e, row->arch, version_of(row->arch));
    for (uint32_t i = 0; i < sums; i++) operands[count++] = qn__ptx_new(e, is_double ? PTX_B64 : PTX_B32);
    for (uint32_t i = 0; i < given; i++) { /* the accumulator comes last */
        const uint32_t from = (i + sums) % given;
        operands[count++] = qn__ptx_in_register(e, qn__ptx_use(e, instr->operands[from], 0));
    }
    if (is_double && row->arch < 90)
        mma_of_halves(e, operands);
    else
        mma_whole(e, m, operands, sums, (given - sums) / 3);
    for (uint32_t i = 0; i < sums; i++) qn__ptx_define(e, instr->results[i], 0, operands[i]);
}

static void ldmatrix(ptx_emitter *e, const ir_instr *instr) {
    const bool transposed = instr->flags & IR_TRANSPOSED;
    const uint32_t count = instr->num_results;
    ptx_operand operands[MOST_RESULTS + 2];
    const ptx_place place = qn__ptx_place(e, instr->operands[0], instr->attr.offset);
    qn__ptx_require(e, 75, version_of(75));
    for (uint32_t i = 0; i < count; i++) operands[i] = qn__ptx_new(e, PTX_B32);
    operands[count] = place.base;
    operands[count + 1] = (ptx_operand){.kind = PTX_NUMBER, .bits = (uint64_t)place.offset};
    qn__buf text;
    qn__buf_init(&text, e->arena);
    qn__buf_printf(&text, "ldmatrix.sync.aligned.m8n8.x%u%s.shared.b16", count, transposed ? ".trans" : "");
    put_list(&text, '=', count);
    qn__buf_puts(&text, ", [$+#];");
    qn__ptx_list(e, text.data, operands, count + 2);
    for (uint32_t i = 0; i < count; i++) qn__ptx_define(e, instr->results[i], 0, operands[i]);
}

bool qn__ptx_matrix(ptx_emitter *e, const ir_instr *instr) {
    switch (instr->op) {
    case IR_MMA: mma(e, instr); return true;
    case IR_LDMATRIX: ldmatrix(e, instr); return true;
    default: return false;
    }
}
