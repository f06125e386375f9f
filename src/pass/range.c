/* What values an integer can have. A work-item's local id is below the size of its group, which no device lets come near
   2^31. */
#include "pass/analysis.h"

enum { MAX_DEPTH = 6 };

static bool constant_from(const ir_value *value, uint64_t least) {
    return qn__ir_is_const(value) && qn__ir_is_splat(value, value->bits[0]) && value->bits[0] >= least;
}

/* Whether a work-item query, cut to `bits`, keeps its top bit clear. */
static bool small_query(const ir_instr *query, unsigned bits) {
    if (qn__ir_has(query->op, IR_SMALL)) return bits >= 32;
    return bits == 64 || qn__ir_ops[query->op].rule == RULE_QUERY32;
}

static bool is_query(const ir_value *value) {
    return value->value_kind == IR_VALUE_RESULT && qn__ir_effects(value->def) == IR_EFFECT_QUERY;
}

static bool constant_non_negative(const ir_value *value) {
    const unsigned top = qn__ir_bits(value->type) - 1;
    for (unsigned i = 0; i < value->type.lanes; i++)
        if (value->bits[i] >> top & 1) return false;
    return true;
}

static bool non_negative(const ir_value *value, unsigned depth) {
    if (!qn__ir_is_int(value->type) || depth > MAX_DEPTH) return false;
    if (qn__ir_is_const(value)) return constant_non_negative(value);
    if (value->value_kind != IR_VALUE_RESULT) return false;
    const ir_instr *def = value->def;
    const unsigned width = qn__ir_bits(value->type);
    if (is_query(value)) return small_query(def, width);
    if (!def->num_operands || def->num_operands > 3) return false;
    const ir_value *a = def->operands[0], *b = def->num_operands > 1 ? def->operands[1] : a;
    const unsigned next = depth + 1;
    switch (def->op) {
    case IR_TRUNC: return is_query(a) && small_query(a->def, width);
    case IR_ZEXT: return qn__ir_bits(a->type) < width;
    case IR_CLZ:
    case IR_CTZ:
    case IR_POPCOUNT: return width >= 16;
    case IR_SEXT:
    case IR_ASHR:
    case IR_SREM: return a->type.kind != IR_BOOL && non_negative(a, next);
    case IR_LSHR: return (qn__ir_is_const(b) && constant_from(b, 1)) || non_negative(a, next);
    case IR_UDIV: return constant_from(b, 2) || non_negative(a, next);
    case IR_UREM: return non_negative(b, next) || non_negative(a, next);
    case IR_AND:
    case IR_UMIN:
    case IR_SMAX: return non_negative(a, next) || non_negative(b, next);
    case IR_SHL: return (def->flags & IR_NSW) && non_negative(a, next);
    case IR_ADD:
    case IR_MUL: return (def->flags & IR_NSW) && non_negative(a, next) && non_negative(b, next);
    case IR_SDIV:
    case IR_OR:
    case IR_XOR:
    case IR_UMAX:
    case IR_SMIN: return non_negative(a, next) && non_negative(b, next);
    case IR_SELECT: return non_negative(b, next) && non_negative(def->operands[2], next);
    default: return false;
    }
}

bool qn__is_non_negative(const ir_value *value) { return non_negative(value, 0); }
