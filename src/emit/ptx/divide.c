/* Reciprocals of f32 whose divisor is known to be neither tiny nor huge. ptxas makes of div.rn a test of the
   operands and a call for the cases out of range; here the approximation and one step of Newton's do, which is
   what rcp.rn does in range and is correctly rounded there. A NaN stays one. */
#include "emit/ptx/internal.h"

bool qn__ptx_divide(ptx_emitter *e, const ir_instr *instr, unsigned lane) {
    const ir_value *divisor = instr->operands[1], *result = instr->results[0];
    if (result->type.kind != IR_F32 || !qn__ir_is_splat(instr->operands[0], 0x3f800000)) return false;
    if (!qn__is_moderate(divisor)) return false;
    ptx_operand d = qn__ptx_in_register(e, qn__ptx_use(e, divisor, lane));
    ptx_operand one = qn__ptx_use(e, instr->operands[0], lane);
    ptx_operand r = qn__ptx_op1(e, "rcp.approx.ftz.f32", PTX_B32, d);
    ptx_operand rest = qn__ptx_op3(e, "fma.rn.f32", PTX_B32, qn__ptx_op1(e, "neg.f32", PTX_B32, d), r, one);
    qn__ptx_define(e, result, lane, qn__ptx_op3(e, "fma.rn.f32", PTX_B32, rest, r, r));
    return true;
}
