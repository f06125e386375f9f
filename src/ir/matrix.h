/* Matrix fragments: what they hold (ir_matrix), and which products of them there are. matrices.def has the tables. */
#ifndef QN__IR_MATRIX_H
#define QN__IR_MATRIX_H

#include "ir/ir.h"

typedef struct ir_matrix_info {
    const char *name;
    ir_kind kind; /* of an element as a value */
    bool is_operand, is_accumulator;
    ir_op to_float, from_float; /* to f32 and back */
} ir_matrix_info;

extern const ir_matrix_info qn__ir_matrix_elements[IR_MATRIX_ELEMENTS]; /* the first is of none */
extern const char *const qn__ir_matrix_uses[IR_MATRIX_USES];

static inline const ir_matrix_info *qn__ir_matrix_info(ir_matrix m) {
    return &qn__ir_matrix_elements[m.element < IR_MATRIX_ELEMENTS ? m.element : IR_MATRIX_NONE];
}
static inline bool qn__ir_matrix_same(ir_matrix a, ir_matrix b) {
    return a.element == b.element && a.rows == b.rows && a.columns == b.columns && a.use == b.use;
}
static inline unsigned qn__ir_matrix_bytes(ir_matrix m) { /* of an element */
    return qn__ir_kind_bits[qn__ir_matrix_info(m)->kind] / 8;
}
/* Elements of each work-item of a sub-group of that size. */
static inline uint32_t qn__ir_matrix_share(ir_matrix m, uint32_t sub_group_size) {
    return (uint32_t)m.rows * m.columns / sub_group_size;
}
bool qn__ir_matrix_valid(ir_matrix m);
/* accumulator += a b is in the language: types and shapes fit. */
bool qn__ir_matrix_has_product(ir_matrix accumulator, ir_matrix a, ir_matrix b);

#endif
