/* Between simplify.c, which drives the walk and holds the table of one-level rules, and the rules that look
   deeper: peephole_int.c, peephole_range.c, peephole_value.c and peephole_memory.c. */
#ifndef QN__PASS_PEEPHOLE_H
#define QN__PASS_PEEPHOLE_H

#include "pass/tools.h"

/* A rule returns the value to use instead of the instruction's result, or NULL. New instructions go through
   `builder`, which stands before the instruction; they are simplified next. */
typedef struct qn__peephole {
    ir_function *function;
    ir_builder builder;
    bool fast; /* the instruction at hand has IR_FAST */
    const qn__target *target;
} qn__peephole;

typedef ir_value *qn__peephole_rule(qn__peephole *p, ir_instr *instr);

typedef struct qn__peephole_row {
    uint16_t op;
    qn__peephole_rule *rule;
} qn__peephole_row;

/* Tables by room, each ended by a row without rule. */
extern const qn__peephole_row qn__peephole_int[], qn__peephole_range[], qn__peephole_convert[],
    qn__peephole_float[], qn__peephole_vector[], qn__peephole_memory[];

/* True for a constant whose lanes are equal; gives their bits. */
bool qn__splat_bits(const ir_value *value, uint64_t *bits);
static inline uint64_t qn__lane_mask(ir_type type) {
    const unsigned width = qn__ir_bits(type);
    return width >= 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}
static inline ir_value *qn__operand_of(const ir_value *value, unsigned index) {
    return value->def->operands[index];
}
/* Moves a constant pointer addition into the access's own offset. */
bool qn__fold_access_offset(ir_instr *access);
/* An operation that is done as well on its operands cut to `type`, which are cheap to cut. */
bool qn__narrows(const ir_value *value, ir_type type, unsigned depth);
/* A comparison of two extended values as one of what was extended, or NULL. */
ir_value *qn__compare_narrow(qn__peephole *p, ir_instr *instr);
/* The lane of a vector as a scalar that exists already, or NULL. */
ir_value *qn__known_lane(qn__peephole *p, ir_value *vector, unsigned lane);

#endif
