/* Vectors of the PTX target: names for registers, so that most of these ops write nothing. */
#include "emit/ptx/internal.h"

static ptx_operand undefined(ptx_emitter *e, const ir_value *like) {
    ptx_operand zero = qn__ptx_int(qn__ptx_class_of(e, like), 0);
    if (qn__ir_is_float(like->type)) zero.kind = PTX_FLOAT;
    return zero;
}

/* A chain of choices: there is no way to name a register by number. */
static void extract_dynamic(ptx_emitter *e, const ir_instr *instr) {
    static const char *const names[PTX_CLASS_COUNT] = {NULL, "selp.b16", "selp.b32", "selp.b64"};
    const ir_value *vector = instr->operands[0];
    unsigned lanes = vector->type.lanes, mask = lanes == 3 ? 3 : lanes - 1;
    ptx_operand index = qn__ptx_low(e, qn__ptx_use(e, instr->operands[1], 0));
    ptx_class cls = qn__ptx_class_of(e, vector);
    index = qn__ptx_op2(e, "and.b32", PTX_B32, index, qn__ptx_int(PTX_B32, mask));
    ptx_operand r = qn__ptx_use(e, vector, 0);
    for (unsigned i = 1; i < lanes; i++) {
        ptx_operand here = qn__ptx_op2(e, "setp.eq.s32", PTX_PRED, index, qn__ptx_int(PTX_B32, i));
        ptx_operand lane = qn__ptx_use(e, vector, i);
        if (cls == PTX_PRED) {
            ptx_operand yes = qn__ptx_op2(e, "and.pred", cls, qn__ptx_in_register(e, lane), here);
            ptx_operand other = qn__ptx_op1(e, "not.pred", cls, here);
            other = qn__ptx_op2(e, "and.pred", cls, qn__ptx_in_register(e, r), other);
            r = qn__ptx_op2(e, "or.pred", cls, yes, other);
        } else {
            r = qn__ptx_op3(e, names[cls], cls, lane, r, here);
        }
    }
    qn__ptx_define(e, instr->results[0], 0, r);
}

static ptx_operand shuffled(ptx_emitter *e, const ir_instr *instr, unsigned lane) {
    unsigned from = instr->attr.lanes[lane], first = instr->operands[0]->type.lanes;
    if (from < first) return qn__ptx_use(e, instr->operands[0], from);
    if (from - first < instr->operands[1]->type.lanes)
        return qn__ptx_use(e, instr->operands[1], from - first);
    return undefined(e, instr->results[0]);
}

static ptx_operand lane_of(ptx_emitter *e, const ir_instr *instr, unsigned lane) {
    switch (instr->op) {
    case IR_VECTOR: return qn__ptx_use(e, instr->operands[lane], 0);
    case IR_SPLAT: return qn__ptx_use(e, instr->operands[0], 0);
    case IR_EXTRACT: return qn__ptx_use(e, instr->operands[0], instr->attr.lanes[0]);
    case IR_INSERT:
        return lane == instr->attr.lanes[0] ? qn__ptx_use(e, instr->operands[1], 0)
                                            : qn__ptx_use(e, instr->operands[0], lane);
    default: return shuffled(e, instr, lane);
    }
}

bool qn__ptx_vector(ptx_emitter *e, const ir_instr *instr) {
    if (instr->op < IR_VECTOR || instr->op > IR_SHUFFLE) return false;
    if (instr->op == IR_EXTRACT_DYNAMIC) {
        extract_dynamic(e, instr);
        return true;
    }
    for (unsigned lane = 0; lane < instr->results[0]->type.lanes; lane++)
        qn__ptx_define(e, instr->results[0], lane, lane_of(e, instr, lane));
    return true;
}
