/* For drivers that negate a number of 8 or 16 bits in more bits where its sign is extended then, so that the least one
   loses its sign (`lacks_cut_signs`): what is cut and extended is shifted up and down instead.

       %a = trunc %x (i32 to i8)      ->     %b = shl %x, 24
       %b = sext %a (to i32)                 %c = ashr %b, 24   */
#include "pass/lowering.h"

static ir_value *lower(qn__lowering *l, ir_instr *i) {
    if (i->op != IR_SEXT || !qn__defined_by(i->operands[0], IR_TRUNC)) return NULL;
    ir_value *from = i->operands[0]->def->operands[0];
    const ir_type type = i->results[0]->type;
    if (from->type.kind != type.kind || i->operands[0]->type.kind == IR_BOOL) return NULL;
    ir_value *by = qn__make_int(l, type, qn__ir_bits(type) - qn__ir_bits(i->operands[0]->type));
    return qn__make2(l, IR_ASHR, qn__make2(l, IR_SHL, from, by), by);
}

bool qn__pass_lower_cut_signs(qn__pass_context *context) { return qn__lower_each(context, lower, NULL); }
