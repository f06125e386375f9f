/* For drivers that negate a number of 8 or 16 bits in more bits where its sign is extended then, so that the least one
   loses its sign (`lacks_cut_signs`). They see a negation in `0 - x`, in `x * 255` and in `(a - x) - a`, and an
   extension in shifts up and down and in bit-field operations; so the sign's bit is multiplied into place.

       %b = sext %a (i8 to i32)     ->     low(%a) | bit7(%a) * 0xffffff80

   What is loaded is extended as it is. */
#include "pass/lowering.h"

/* A value of i32 lanes that has the low bits of `v`. */
static ir_value *as_words(qn__lowering *l, ir_value *v) {
    const ir_type words = qn__words_like(v->type);
    ir_value *from = qn__defined_by(v, IR_TRUNC) ? v->def->operands[0] : v;
    if (from->type.kind < words.kind) return qn__make_convert(l, IR_ZEXT, v, words);
    return from->type.kind == words.kind ? from : qn__make_convert(l, IR_TRUNC, from, words);
}

static ir_value *lower(qn__lowering *l, ir_instr *i) {
    if (i->operands[0]->type.kind == IR_BOOL || qn__ir_bits(i->operands[0]->type) > 16) return NULL;
    if (qn__is_loaded(i->operands[0])) return NULL;
    const ir_type type = i->results[0]->type, words = qn__words_like(type);
    const unsigned top = qn__ir_bits(i->operands[0]->type) - 1;
    const uint32_t sign = UINT32_C(1) << top;
    ir_value *w = as_words(l, i->operands[0]);
    ir_value *low = qn__make2(l, IR_AND, w, qn__make_int(l, words, sign - 1));
    ir_value *bit = qn__make2(l, IR_LSHR, w, qn__make_int(l, words, top));
    bit = qn__make2(l, IR_AND, bit, qn__make_int(l, words, 1));
    ir_value *high = qn__make2(l, IR_MUL, bit, qn__make_int(l, words, 0u - sign));
    ir_value *extended = qn__make2(l, IR_OR, low, high);
    if (type.kind == words.kind) return extended;
    return qn__make_convert(l, type.kind < words.kind ? IR_TRUNC : IR_SEXT, extended, type);
}

bool qn__pass_lower_cut_signs(qn__pass_context *context) {
    static const ir_op ops[] = {IR_SEXT};
    return qn__lower_ops(context, ops, QN__COUNT(ops), lower);
}
