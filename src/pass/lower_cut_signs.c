/* For drivers that negate a number of 8 or 16 bits in more bits where its sign is extended then, so that the least one
   loses its sign (`lacks_cut_signs`): what is cut and extended is shifted up and down instead.

       %a = trunc %x (i32 to i8)      ->     %c = shl %x, 24
       %b = sext %a (to i32)                 %b = ashr %c, 24

   A difference of 8 or 16 bits is taken in as many bits as it is extended to. */
#include "pass/lowering.h"

/* What the low bits of `type` are taken from, or NULL. */
static ir_value *uncut(qn__lowering *l, const ir_value *cut, ir_type type) {
    if (qn__defined_by(cut, IR_TRUNC))
        return cut->def->operands[0]->type.kind == type.kind ? cut->def->operands[0] : NULL;
    if (!qn__defined_by(cut, IR_SUB)) return NULL;
    ir_value *a = qn__make_convert(l, IR_ZEXT, cut->def->operands[0], type);
    return qn__make2(l, IR_SUB, a, qn__make_convert(l, IR_ZEXT, cut->def->operands[1], type));
}

static ir_value *lower(qn__lowering *l, ir_instr *i) {
    if (i->op != IR_SEXT || i->operands[0]->type.kind == IR_BOOL || qn__ir_bits(i->operands[0]->type) > 16)
        return NULL;
    const ir_type type = i->results[0]->type;
    ir_value *from = uncut(l, i->operands[0], type);
    if (!from) return NULL;
    ir_value *by = qn__make_int(l, type, qn__ir_bits(type) - qn__ir_bits(i->operands[0]->type));
    return qn__make2(l, IR_ASHR, qn__make2(l, IR_SHL, from, by), by);
}

bool qn__pass_lower_cut_signs(qn__pass_context *context) { return qn__lower_each(context, lower, NULL); }
