/* Matrix fragments as pieces of the shapes that the device lists, for SPIR-V, which has types for them: the same ops on smaller
   fragments. The pieces of a fragment follow each other in its memory, row by row.

       matrix_multiply_add matrix f32 32 16 accumulator ... %c, %a, %b
   ->  matrix_multiply_add matrix f32 16 16 accumulator ... %c, %a, %b
       matrix_multiply_add matrix f32 16 16 accumulator ... %c + 32, %a + 16, %b */
#include <string.h>

#include "pass/matrix.h"

/* ---- which pieces ---- */

static const uint8_t units[IR_MATRIX_ELEMENTS] = {
#define UNIT(ID, name) [IR_MATRIX_##ID] = QN__UNIT_##ID,
#include "target/units.def"
};

enum { SIZES = 3, DISTINCT = 64, LEAST_K = 8, MOST_K = 64 };

static unsigned size_of(ir_matrix m) { /* log 2 of an element's bytes */
    const unsigned bytes = qn__ir_matrix_bytes(m);
    return bytes == 4 ? 2 : bytes - 1;
}

ir_matrix qn__matrix_piece(const qn__matrix_cut *cut, ir_matrix m) {
    const uint32_t k = cut->k[size_of(m)];
    m.rows = (uint8_t)(m.use == IR_USE_B ? k : cut->rows);
    m.columns = (uint8_t)(m.use == IR_USE_A ? k : cut->columns);
    return m;
}

/* What a function does with fragments, each kind of it once. */
typedef struct survey {
    ir_op ops[DISTINCT];
    ir_matrix matrices[DISTINCT][IR_MATRICES];
    uint32_t count;
    bool has_operand[SIZES]; /* a or b with elements of that size */
    bool impossible;
} survey;

static void look(ir_instr *i, void *user) {
    survey *s = user;
    if (qn__ir_ops[i->op].rule != RULE_MATRIX) return;
    /* Where elements are is the driver's own. */
    s->impossible = s->impossible || i->op == IR_MATRIX_ROW || i->op == IR_MATRIX_COLUMN;
    for (unsigned n = 0; n < IR_MATRICES; n++)
        s->impossible = s->impossible || i->attr.matrices[n].element == IR_MATRIX_F64; /* which is no unit */
    for (uint32_t n = 0; n < s->count; n++)
        if (s->ops[n] == (ir_op)i->op && !memcmp(s->matrices[n], i->attr.matrices, sizeof s->matrices[n]))
            return;
    s->impossible = s->impossible || s->count == DISTINCT;
    if (s->impossible) return;
    s->ops[s->count] = (ir_op)i->op;
    memcpy(s->matrices[s->count++], i->attr.matrices, sizeof i->attr.matrices);
    for (unsigned n = 0; n < IR_MATRICES && i->attr.matrices[n].element; n++)
        if (i->attr.matrices[n].use != IR_USE_ACCUMULATOR)
            s->has_operand[size_of(i->attr.matrices[n])] = true;
}

static bool is_listed(const qn__target *target, const qn__matrix_cut *cut, const ir_matrix *m) {
    const qn__unit_shape wanted = {.a = units[m[1].element],
                                   .b = units[m[2].element],
                                   .sum = units[m[0].element],
                                   .rows = (uint8_t)cut->rows,
                                   .columns = (uint8_t)cut->columns,
                                   .k = (uint8_t)cut->k[size_of(m[1])]};
    for (uint32_t i = 0; i < target->num_shapes; i++)
        if (memcmp(&target->shapes[i], &wanted, sizeof wanted) == 0) return true;
    return false;
}

/* There is a product that takes such a piece. */
static bool is_type(const qn__target *target, const qn__matrix_cut *cut, ir_matrix m) {
    for (uint32_t i = 0; i < target->num_shapes; i++) {
        const qn__unit_shape *s = &target->shapes[i];
        const uint8_t unit = m.use == IR_USE_A ? s->a : m.use == IR_USE_B ? s->b : s->sum;
        const bool same_k = m.use == IR_USE_ACCUMULATOR || s->k == cut->k[size_of(m)];
        if (unit == units[m.element] && same_k && (m.use == IR_USE_B || s->rows == cut->rows) &&
            (m.use == IR_USE_A || s->columns == cut->columns))
            return true;
    }
    return false;
}

static bool is_cut(const qn__target *target, const qn__matrix_cut *cut, ir_matrix m) {
    const ir_matrix piece = qn__matrix_piece(cut, m);
    return qn__ir_matrix_valid(piece) && m.rows % piece.rows == 0 && m.columns % piece.columns == 0 &&
           is_type(target, cut, m);
}

/* Drivers need not round to nearest even: only what is exact is left to them. */
static bool is_converted(const qn__matrix_cut *cut, ir_matrix to, ir_matrix from) {
    const ir_matrix a = qn__matrix_piece(cut, to), b = qn__matrix_piece(cut, from);
    if (qn__ir_matrix_same(to, from)) return true;
    return a.rows == b.rows && a.columns == b.columns && a.use == b.use && to.element == IR_MATRIX_F32 &&
           from.element == IR_MATRIX_F16;
}

static bool fits(const qn__target *target, const survey *s, const qn__matrix_cut *cut) {
    for (uint32_t i = 0; i < s->count; i++) {
        const ir_matrix *m = s->matrices[i];
        for (unsigned n = 0; n < IR_MATRICES && m[n].element; n++)
            if (!is_cut(target, cut, m[n])) return false;
        if (s->ops[i] == IR_MATRIX_MULTIPLY_ADD && !is_listed(target, cut, m)) return false;
        if (s->ops[i] == IR_MATRIX_CONVERT && !is_converted(cut, m[0], m[1])) return false;
    }
    return true;
}

/* The largest k for operands of this size and those above; false: there is none. */
static bool find_k(const qn__target *target, const survey *s, qn__matrix_cut *cut, unsigned size) {
    if (size == SIZES) return fits(target, s, cut);
    if (!s->has_operand[size]) return find_k(target, s, cut, size + 1);
    for (uint32_t k = MOST_K; k >= LEAST_K; k /= 2) {
        cut->k[size] = k;
        if (find_k(target, s, cut, size + 1)) return true;
    }
    return false;
}

bool qn__matrix_find_pieces(const qn__target *target, ir_function *function, qn__matrix_cut *cut) {
    survey s = {.count = 0};
    uint32_t best = 0;
    qn__ir_walk(function->body, look, &s);
    for (uint32_t i = 0; i < target->num_shapes && !s.impossible; i++) {
        const qn__unit_shape *shape = &target->shapes[i];
        const uint32_t area = (uint32_t)shape->rows * shape->columns;
        qn__matrix_cut other = {.rows = shape->rows, .columns = shape->columns};
        if (area <= best || !find_k(target, &s, &other, 0)) continue;
        best = area;
        *cut = other;
    }
    return best > 0;
}

/* ---- the pieces of a fragment ---- */

typedef struct pieces {
    ir_matrix whole, one;
    uint32_t down, across;
    uint32_t bytes; /* of a piece */
} pieces;

static pieces pieces_of(const qn__matrix_lowering *l, ir_matrix m) {
    pieces p = {.whole = m, .one = qn__matrix_piece(&l->cut, m)};
    p.down = m.rows / (uint32_t)p.one.rows;
    p.across = m.columns / (uint32_t)p.one.columns;
    p.bytes = qn__ir_matrix_share(p.one, l->size) * qn__ir_matrix_bytes(m);
    return p;
}

static ir_value *piece_at(qn__matrix_lowering *l, const pieces *p, ir_value *fragment, uint32_t i,
                          uint32_t j) {
    return qn__ir_ptr_offset(&l->b, fragment, (int64_t)(i * p->across + j) * p->bytes);
}

/* The op on pieces: `operands` begin with as many pointers to pieces as `of` has. */
static ir_instr *emit(qn__matrix_lowering *l, const ir_instr *like, ir_value *const *operands, uint32_t count,
                      const pieces *of, unsigned num_of) {
    ir_instr *made = qn__ir_emit(&l->b, (ir_op)like->op, operands, count, NULL, 0);
    made->flags = like->flags;
    for (unsigned n = 0; n < num_of; n++) made->attr.matrices[n] = of[n].one;
    return made;
}

static ir_value *fill(qn__matrix_lowering *l, const ir_instr *i) {
    const pieces p = pieces_of(l, i->attr.matrices[0]);
    for (uint32_t n = 0; n < p.down * p.across; n++) {
        ir_value *operands[] = {piece_at(l, &p, i->operands[0], 0, n), i->operands[1]};
        emit(l, i, operands, 2, &p, 1);
    }
    return NULL;
}

static ir_value *move(qn__matrix_lowering *l, const ir_instr *instr) {
    const pieces p = pieces_of(l, instr->attr.matrices[0]);
    const uint32_t bytes = qn__ir_matrix_bytes(p.whole);
    const bool transposed = instr->flags & IR_TRANSPOSED;
    ir_value *stride = qn__matrix_stride(l, instr);
    for (uint32_t i = 0; i < p.down; i++)
        for (uint32_t j = 0; j < p.across; j++) {
            const uint32_t row = i * p.one.rows, column = j * p.one.columns;
            ir_value *lines = qn__ir_const_int(l->b.function, IR_I64, transposed ? column : row);
            ir_value *at = instr->operands[1];
            if (transposed ? column : row)
                at = qn__ir_ptr_add(&l->b, at, qn__ir_op2(&l->b, IR_MUL, stride, lines));
            at = qn__ir_ptr_offset(&l->b, at, (int64_t)(transposed ? row : column) * bytes);
            ir_value *operands[] = {piece_at(l, &p, instr->operands[0], i, j), at, instr->operands[2]};
            emit(l, instr, operands, 3, &p, 1);
        }
    return NULL;
}

static ir_value *multiply_add(qn__matrix_lowering *l, const ir_instr *instr) {
    const ir_matrix *m = instr->attr.matrices;
    const pieces p[] = {pieces_of(l, m[0]), pieces_of(l, m[1]), pieces_of(l, m[2])};
    for (uint32_t k = 0; k < p[1].across; k++)
        for (uint32_t i = 0; i < p[0].down; i++)
            for (uint32_t j = 0; j < p[0].across; j++) {
                ir_value *operands[3];
                operands[0] = piece_at(l, &p[0], instr->operands[0], i, j);
                operands[1] = piece_at(l, &p[1], instr->operands[1], i, k);
                operands[2] = piece_at(l, &p[2], instr->operands[2], k, j);
                emit(l, instr, operands, 3, p, 3);
            }
    return NULL;
}

static ir_value *convert(qn__matrix_lowering *l, const ir_instr *i) {
    const pieces p[] = {pieces_of(l, i->attr.matrices[0]), pieces_of(l, i->attr.matrices[1])};
    for (uint32_t n = 0; n < p[0].down * p[0].across; n++) {
        ir_value *operands[2];
        operands[0] = piece_at(l, &p[0], i->operands[0], 0, n);
        operands[1] = piece_at(l, &p[1], i->operands[1], 0, n);
        emit(l, i, operands, 2, p, 2);
    }
    return NULL;
}

/* ---- elements ---- */

/* How many elements of a piece a work-item has is the driver's own: it may hold some of them several times. */
static ir_value *length_of_piece(qn__matrix_lowering *l, const pieces *p) {
    const ir_type word = qn__ir_type(IR_I32, 1);
    ir_instr *made = qn__ir_emit(&l->b, IR_MATRIX_LENGTH, NULL, 0, &word, 1);
    made->attr.matrices[0] = p->one;
    return made->results[0];
}

static ir_value *length(qn__matrix_lowering *l, const ir_instr *i) {
    const pieces p = pieces_of(l, i->attr.matrices[0]);
    ir_value *one = length_of_piece(l, &p), *count = qn__matrix_word(l, p.down * p.across);
    return qn__ir_op2(&l->b, IR_MUL, one, count);
}

/* get and set: of the piece that the index leads to. */
static ir_value *element(qn__matrix_lowering *l, const ir_instr *i) {
    const pieces p = pieces_of(l, i->attr.matrices[0]);
    ir_value *operands[3] = {i->operands[0], i->operands[1], i->num_operands > 2 ? i->operands[2] : NULL};
    if (p.down * p.across > 1) {
        ir_value *one = length_of_piece(l, &p);
        ir_value *number = qn__ir_op2(&l->b, IR_UDIV, i->operands[1], one);
        ir_value *bytes = qn__ir_convert(&l->b, IR_ZEXT, number, qn__ir_type(IR_I64, 1));
        operands[0] = qn__ir_ptr_add(&l->b, i->operands[0], qn__matrix_times(l, bytes, p.bytes));
        operands[1] = qn__ir_op2(&l->b, IR_UREM, i->operands[1], one);
    }
    const uint32_t results = i->num_results;
    ir_instr *made = qn__ir_emit(&l->b, (ir_op)i->op, operands, i->num_operands,
                                 results ? &i->results[0]->type : NULL, results);
    made->attr.matrices[0] = p.one;
    return results ? made->results[0] : NULL;
}

const qn__matrix_form qn__matrix_pieces = {.fill = fill,
                                           .load = move,
                                           .store = move,
                                           .multiply_add = multiply_add,
                                           .convert = convert,
                                           .get = element,
                                           .set = element,
                                           .length = length,
                                           .keeps = true};
