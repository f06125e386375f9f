/* i64 as two words, for the lowerings of it. */
#ifndef QN__PASS_WIDE_H
#define QN__PASS_WIDE_H

#include "pass/lowering.h"

typedef struct qn__words {
    ir_value *lo, *hi; /* i32 */
} qn__words;

static inline ir_value *qn__word(qn__lowering *l, uint32_t value) {
    return qn__make_int(l, qn__ir_type(IR_I32, 1), value);
}
/* On i32; what constants decide is not computed. */
ir_value *qn__word_op(qn__lowering *l, ir_op op, ir_value *a, ir_value *b);
ir_value *qn__word_with(qn__lowering *l, ir_op op, ir_value *a, uint32_t b);
qn__words qn__words_select(qn__lowering *l, ir_value *condition, qn__words a, qn__words b);
qn__words qn__words_subtract(qn__lowering *l, qn__words a, qn__words b);
/* lower_wide_division.c: IR_UDIV, IR_SDIV, IR_UREM, IR_SREM. */
qn__words qn__words_divide(qn__lowering *l, ir_op op, qn__words a, qn__words b);

#endif
