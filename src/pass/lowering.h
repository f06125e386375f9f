/* What lowerings share that replace one instruction by several: the walk that offers each instruction, and short
   names for what is built. Constants fold as they are built, since nothing simplifies behind the last
   lowerings. */
#ifndef QN__PASS_LOWERING_H
#define QN__PASS_LOWERING_H

#include "pass/tools.h"

typedef struct qn__lowering {
    ir_builder b; /* stands before the instruction that is lowered */
    qn__pass_context *context;
    qn__rewrite rewrite;
    void *user;              /* of the lowering */
    bool takes[IR_OP_COUNT]; /* what is offered */
    bool changed;
} qn__lowering;

/* Gives the value that takes the place of the instruction's only result; NULL: it stays. */
typedef ir_value *qn__lower_function(qn__lowering *l, ir_instr *instr);

/* Offers each instruction of some ops, which have one result and no regions. What is built is not offered again. Returns
   whether anything was replaced. */
bool qn__lower_ops(qn__pass_context *context, const ir_op *ops, size_t count, qn__lower_function *lower);
/* The same for the ops of some rules, each a bit (1 << ir_rule). */
bool qn__lower_rules(qn__pass_context *context, uint64_t rules, qn__lower_function *lower, void *user);

ir_value *qn__make1(qn__lowering *l, ir_op op, ir_value *a);
ir_value *qn__make2(qn__lowering *l, ir_op op, ir_value *a, ir_value *b);
ir_value *qn__make3(qn__lowering *l, ir_op op, ir_value *a, ir_value *b, ir_value *c);
ir_value *qn__make_convert(qn__lowering *l, ir_op op, ir_value *a, ir_type type);
ir_value *qn__make_select(qn__lowering *l, ir_value *condition, ir_value *a, ir_value *b);
ir_value *qn__make_vector(qn__lowering *l, ir_value *const *scalars, unsigned lanes);
ir_value *qn__make_extract(qn__lowering *l, ir_value *vector, unsigned lane);
/* Constants of a type, the same in every lane. */
ir_value *qn__make_int(qn__lowering *l, ir_type type, uint64_t value);
ir_value *qn__make_float(qn__lowering *l, ir_type type, double value);
/* i32 in as many lanes as the type has. */
static inline ir_type qn__words_like(ir_type type) { return qn__ir_type(IR_I32, type.lanes); }
/* A vector's lanes one after another: what `lower` makes of those of the operands, joined. */
typedef ir_value *qn__lower_lane(qn__lowering *l, const ir_instr *instr, ir_value *const *operands);
ir_value *qn__make_lanes(qn__lowering *l, const ir_instr *instr, qn__lower_lane *lower);

#endif
