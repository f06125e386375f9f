/* What the two forms share that lower_matrix gives matrix fragments: elements (matrix_plain.c), or words of registers as
   PTX's mma.sync wants them (matrix_words.c). A form is a table of functions by op. */
#ifndef QN__PASS_MATRIX_H
#define QN__PASS_MATRIX_H

#include "ir/matrix.h"
#include "pass/tools.h"

/* The pieces that the fragments of a function are cut into: accumulators of rows x columns, and k of operands whose elements
   have 1, 2 and 4 bytes. */
typedef struct qn__matrix_cut {
    uint32_t rows, columns, k[3];
} qn__matrix_cut;

typedef struct qn__matrix_lowering {
    ir_builder b; /* stands before the instruction that is lowered */
    qn__pass_context *context;
    qn__rewrite rewrite;
    uint32_t size; /* of a sub-group, which is full */
    qn__matrix_cut cut;
} qn__matrix_lowering;

/* Makes what takes the place of the instruction; gives its result if it has one. */
typedef ir_value *qn__matrix_function(qn__matrix_lowering *l, const ir_instr *instr);
typedef struct qn__matrix_form {
    qn__matrix_function *fill, *load, *store, *multiply_add, *convert, *get, *set, *row, *column;
    qn__matrix_function *length; /* where fragments are kept; else it is a number */
    bool keeps;                  /* what it makes is fragments again */
} qn__matrix_form;

/* Work-items of a sub-group for which fragments are dealt out. */
enum { QN__MATRIX_LEAST_GROUP = 4, QN__MATRIX_MOST_GROUP = 128 };

extern const qn__matrix_form qn__matrix_plain, qn__matrix_words, qn__matrix_pieces;
/* Whether that form can do the instruction on the target. */
bool qn__matrix_has_words(const qn__target *target, const ir_instr *instr);
/* Whether the target has pieces for all that the function does with fragments; finds them. */
bool qn__matrix_find_pieces(const qn__target *target, ir_function *function, qn__matrix_cut *cut);
/* The piece that a fragment consists of. */
ir_matrix qn__matrix_piece(const qn__matrix_cut *cut, ir_matrix m);

/* ---- short names; numbers are i32 and not negative ---- */

static inline ir_value *qn__matrix_word(qn__matrix_lowering *l, uint64_t value) {
    return qn__ir_const_int(l->b.function, IR_I32, (int64_t)value);
}
ir_value *qn__matrix_add(qn__matrix_lowering *l, ir_value *a, ir_value *b);
ir_value *qn__matrix_times(qn__matrix_lowering *l, ir_value *a, uint32_t factor); /* a power of two */
ir_value *qn__matrix_over(qn__matrix_lowering *l, ir_value *a, uint32_t divisor); /* a power of two */
ir_value *qn__matrix_modulo(qn__matrix_lowering *l, ir_value *a, uint32_t divisor);
ir_value *qn__matrix_lane(qn__matrix_lowering *l); /* of this work-item in its sub-group */
/* The address of a line and what is `bytes` behind its begin; lines are `stride` bytes (i64) apart. */
ir_value *qn__matrix_address(qn__matrix_lowering *l, ir_value *memory, ir_value *line, ir_value *stride,
                             ir_value *bytes);
/* The operand 2 of a load or store, in bytes. */
ir_value *qn__matrix_stride(qn__matrix_lowering *l, const ir_instr *instr);
ir_value *qn__matrix_convert_value(qn__matrix_lowering *l, ir_value *value, ir_matrix from, ir_matrix to);

#endif
