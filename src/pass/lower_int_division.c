/* For targets whose integer division by zero is undefined, and maybe that of the least number by -1: the IR's takes a
   zero divisor for 1, so that x / 0 is x and x % 0 is 0, and wraps. A divisor that is known not to be zero stays.

       %q = udiv %a, %b     ->     %q = udiv %a, (umax %b, 1)
       %q = sdiv %a, %b     ->     %q = sdiv %a, (select (eq %b, 0), 1, %b)

   The least number by -1 is, as by 1, the least number, and nothing is left. */
#include "pass/lowering.h"
#include "pass/peephole.h"

enum { MAX_DEPTH = 6 };

/* ---- what is known of divisors ---- */

static bool every_lane(const ir_value *value, bool (*is)(uint64_t bits, uint64_t mask)) {
    for (unsigned i = 0; i < value->type.lanes; i++)
        if (!is(value->bits[i] & qn__lane_mask(value->type), qn__lane_mask(value->type))) return false;
    return true;
}

static bool not_zero(uint64_t bits, uint64_t mask) { return bits && mask; }
static bool not_minus_one(uint64_t bits, uint64_t mask) { return bits != mask; }
static bool is_positive(uint64_t bits, uint64_t mask) { return bits && bits <= mask >> 1; }

static bool is_not_zero(const ir_value *value, unsigned depth);

static bool has_no_zero(const ir_instr *vector, unsigned depth) {
    for (uint32_t i = 0; i < vector->num_operands; i++)
        if (!is_not_zero(vector->operands[i], depth + 1)) return false;
    return true;
}

static bool is_not_zero(const ir_value *value, unsigned depth) {
    if (qn__ir_is_const(value)) return every_lane(value, not_zero);
    if (value->value_kind != IR_VALUE_RESULT || depth > MAX_DEPTH) return false;
    const ir_instr *def = value->def;
    if (qn__ir_has(def->op, IR_POSITIVE)) return true;
    if (def->op == IR_VECTOR) return has_no_zero(def, depth);
    if (!def->num_operands || def->num_operands > 3) return false;
    const ir_value *a = def->operands[0], *b = def->num_operands > 1 ? def->operands[1] : a;
    switch (def->op) {
    case IR_ZEXT:
    case IR_SEXT:
    case IR_SPLAT: return is_not_zero(a, depth + 1);
    case IR_OR:
    case IR_UMAX: return is_not_zero(a, depth + 1) || is_not_zero(b, depth + 1);
    case IR_UMIN: return is_not_zero(a, depth + 1) && is_not_zero(b, depth + 1);
    case IR_SMAX: return qn__ir_is_const(b) && every_lane(b, is_positive);
    case IR_SELECT: return is_not_zero(b, depth + 1) && is_not_zero(def->operands[2], depth + 1);
    default: return false;
    }
}

static bool may_overflow(const ir_value *a, const ir_value *b) {
    if (qn__ir_is_const(b) && every_lane(b, not_minus_one)) return false;
    return !qn__is_non_negative(a) && !qn__is_non_negative(b);
}

/* ---- divisors ---- */

/* Whether the quotient of signed numbers is undefined; NULL: it is not. */
static ir_value *is_undefined(qn__lowering *l, ir_value *a, ir_value *b) {
    const ir_type type = a->type;
    const uint64_t least = (qn__lane_mask(type) >> 1) + 1;
    ir_value *zero = NULL, *over = NULL;
    if (!is_not_zero(b, 0)) zero = qn__make2(l, IR_EQ, b, qn__make_int(l, type, 0));
    if (l->context->options->target.lacks_division_overflow && may_overflow(a, b)) {
        ir_value *minus = qn__make2(l, IR_EQ, b, qn__make_int(l, type, UINT64_MAX));
        over = qn__make2(l, IR_AND, qn__make2(l, IR_EQ, a, qn__make_int(l, type, least)), minus);
    }
    return zero && over ? qn__make2(l, IR_OR, zero, over) : zero ? zero : over;
}

static ir_value *lower(qn__lowering *l, ir_instr *i) {
    const bool is_signed = i->op == IR_SDIV || i->op == IR_SREM;
    ir_value *a = i->operands[0], *b = i->operands[1], *undefined, *one = qn__make_int(l, b->type, 1);
    if (!is_signed && is_not_zero(b, 0)) return NULL;
    if (!is_signed) return qn__make2(l, (ir_op)i->op, a, qn__make2(l, IR_UMAX, b, one));
    undefined = is_undefined(l, a, b);
    return undefined ? qn__make2(l, (ir_op)i->op, a, qn__make_select(l, undefined, one, b)) : NULL;
}

bool qn__pass_lower_int_division(qn__pass_context *context) {
    static const ir_op ops[] = {IR_UDIV, IR_SDIV, IR_UREM, IR_SREM};
    return qn__lower_ops(context, ops, QN__COUNT(ops), lower);
}
