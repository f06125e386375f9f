/* For drivers that get the byte swap of a 16-bit number wrong (lacks_byte_swaps): one that says where it is made of
   shifts by 8, of 16 bits or of 32, is done on 32 bits another way. The two shifts need not be of the same value, as
   drivers find out later that two loads give the same.

       %r = or (shl %a, 8), (lshr %b, 8)     ->     %r = trunc (lshr (or (shl (zext %a), 16), (zext %b)), 8)
       %r = rotl %a, 8  (i16)                ->     the same, of %a twice  */
#include "pass/lowering.h"
#include "pass/peephole.h"

/* What becomes the high byte and the low one: low byte of `high`, high byte of `low`. */
typedef struct swap {
    ir_value *high, *low;
    bool exact; /* of 32 bits: all of them are right, as both are below 2^16 */
} swap;

/* ---- finding ---- */

static bool is_constant(const ir_value *value, uint64_t bits) {
    uint64_t found;
    return qn__splat_bits(value, &found) && (found & qn__lane_mask(value->type)) == bits;
}

static bool is_op(const ir_value *value, ir_op op, uint64_t constant) {
    return qn__defined_by(value, op) && is_constant(value->def->operands[1], constant);
}

static bool is_half_word(const ir_value *value) {
    uint64_t bits;
    if (value->type.kind == IR_I16) return true;
    if (qn__defined_by(value, IR_ZEXT)) return qn__ir_bits(qn__operand_of(value, 0)->type) <= 16;
    return qn__defined_by(value, IR_AND) && qn__splat_bits(value->def->operands[1], &bits) && bits <= 0xffff;
}

static bool find_high(ir_value *value, swap *s) {
    if (is_op(value, IR_AND, 0xff00)) value = value->def->operands[0];
    if (!is_op(value, IR_SHL, 8)) return false;
    s->high = value->def->operands[0];
    return true;
}

static bool find_low(ir_value *value, swap *s) {
    bool masked = is_op(value, IR_AND, 0xff);
    if (masked) value = value->def->operands[0];
    bool logical = is_op(value, IR_LSHR, 8);
    if (!logical && !is_op(value, IR_ASHR, 8)) return false;
    s->low = value->def->operands[0];
    if (masked) return true;
    return s->low->type.kind == IR_I16 ? logical : is_half_word(s->low);
}

static bool find(const ir_instr *i, swap *s) {
    if (i->op == IR_ROTL && i->results[0]->type.kind == IR_I16 && is_constant(i->operands[1], 8)) {
        s->high = s->low = i->operands[0];
        return true;
    }
    if (i->op != IR_OR && i->op != IR_XOR && i->op != IR_ADD) return false;
    if (i->results[0]->type.kind != IR_I16 && i->results[0]->type.kind != IR_I32) return false;
    ir_value *a = i->operands[0], *b = i->operands[1];
    if (!(find_high(a, s) && find_low(b, s)) && !(find_high(b, s) && find_low(a, s))) return false;
    bool cut = is_op(a, IR_AND, 0xff00) || is_op(b, IR_AND, 0xff00);
    s->exact = !cut && is_half_word(s->high) && is_half_word(s->low);
    return true;
}

/* ---- making ---- */

/* As a number of 32 bits below 2^16. */
static ir_value *word(qn__lowering *l, ir_value *value) {
    if (value->type.kind == IR_I16) return qn__make_convert(l, IR_ZEXT, value, qn__words_like(value->type));
    if (is_half_word(value)) return value;
    return qn__make2(l, IR_AND, value, qn__make_int(l, value->type, 0xffff));
}

static ir_value *swapped(qn__lowering *l, const swap *s) {
    ir_value *high = word(l, s->high), *low = s->low == s->high ? high : word(l, s->low);
    const ir_type type = high->type;
    ir_value *both = qn__make2(l, IR_OR, qn__make2(l, IR_SHL, high, qn__make_int(l, type, 16)), low);
    return qn__make2(l, IR_LSHR, both, qn__make_int(l, type, 8));
}

/* ---- all of them ---- */

/* Where 16 bits are left of the result, which may be a sum of 32 that is cut; or 32, all of them right. */
static ir_value *lower(qn__lowering *l, ir_instr *i) {
    swap s = {.high = NULL};
    const ir_type type = i->results[0]->type;
    const bool narrow = type.kind == IR_I16;
    const bool is_cut = i->op == IR_TRUNC && narrow && i->operands[0]->value_kind == IR_VALUE_RESULT;
    if (!find(is_cut ? i->operands[0]->def : i, &s) || !(narrow || s.exact)) return NULL;
    ir_value *made = swapped(l, &s);
    return narrow ? qn__make_convert(l, IR_TRUNC, made, type) : made;
}

bool qn__pass_lower_byte_swaps(qn__pass_context *context) {
    static const ir_op ops[] = {IR_ROTL, IR_OR, IR_XOR, IR_ADD, IR_TRUNC};
    return qn__lower_ops(context, ops, QN__COUNT(ops), lower);
}
