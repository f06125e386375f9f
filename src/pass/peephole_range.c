/* Simplifications that rest on what values an integer can have: it is never negative, or fits into fewer bits. */
#include "pass/peephole.h"

enum { MAX_DEPTH = 6 };

/* ---- never negative ---- */

/* Signed division of what is never negative, by a power of two. */
static ir_value *rule_divide(qn__peephole *p, ir_instr *instr) {
    ir_value *a = instr->operands[0], *b = instr->operands[1];
    uint64_t bits;
    if (!qn__splat_bits(b, &bits) || bits < 2 || (bits & (bits - 1)) || !qn__is_non_negative(b) ||
        !qn__is_non_negative(a))
        return NULL;
    return qn__ir_op2(&p->builder, instr->op == IR_SDIV ? IR_UDIV : IR_UREM, a, b);
}

/* ---- fewer bits ---- */

static bool is_extended(const ir_value *value, ir_op op) {
    if (qn__defined_by(value, op)) return qn__operand_of(value, 0)->type.kind != IR_BOOL;
    return op == IR_ZEXT && qn__defined_by(value, IR_SEXT) &&
           qn__operand_of(value, 0)->type.kind != IR_BOOL && qn__is_non_negative(qn__operand_of(value, 0));
}

/* A local size's low bits, for a loop that counts up to it in as many and is to be unrolled; PoCL makes less of a loop
   that ends so. NULL: it is none. */
static ir_value *low_bits(qn__peephole *p, ir_value *value, ir_type type) {
    const bool is_size =
        qn__defined_by(value, IR_LOCAL_SIZE) || qn__defined_by(value, IR_ENQUEUED_LOCAL_SIZE);
    if (!is_size || !p->target->wants_unrolled || type.kind != IR_I32 || type.lanes != 1) return NULL;
    return qn__ir_convert(&p->builder, IR_TRUNC, value, type);
}

/* The value before its extension by `op`, if it is of that type. */
static ir_value *before_extension(qn__peephole *p, ir_value *value, ir_op op, ir_type type) {
    uint64_t bits;
    if (qn__splat_bits(value, &bits)) {
        const uint64_t mask = qn__lane_mask(type), sign = (mask >> 1) + 1, wide = qn__lane_mask(value->type);
        const uint64_t low = bits & mask;
        const uint64_t again = op == IR_SEXT && (low & sign) ? low | (wide & ~mask) : low;
        return again == bits ? qn__ir_const_splat(p->function, type, low) : NULL;
    }
    if (is_extended(value, op))
        return qn__ir_same(qn__operand_of(value, 0)->type, type) ? qn__operand_of(value, 0) : NULL;
    return low_bits(p, value, type);
}

/* Extension by sign keeps both orders; extension by zeros makes them the unsigned one. */
ir_value *qn__compare_narrow(qn__peephole *p, ir_instr *instr) {
    static const ir_op ops[] = {IR_SEXT, IR_ZEXT};
    for (unsigned n = 0; n < 2; n++) {
        const ir_value *from = is_extended(instr->operands[0], ops[n])   ? instr->operands[0]
                               : is_extended(instr->operands[1], ops[n]) ? instr->operands[1]
                                                                         : NULL;
        if (!from) continue;
        const ir_type type = qn__operand_of(from, 0)->type;
        ir_value *a = before_extension(p, instr->operands[0], ops[n], type);
        ir_value *b = before_extension(p, instr->operands[1], ops[n], type);
        if (!a || !b) continue;
        ir_op op = (ir_op)instr->op;
        if (ops[n] == IR_ZEXT && op == IR_SLT) op = IR_ULT;
        if (ops[n] == IR_ZEXT && op == IR_SLE) op = IR_ULE;
        return qn__ir_op2(&p->builder, op, a, b);
    }
    return NULL;
}

static bool is_query(const ir_value *value) {
    return value->value_kind == IR_VALUE_RESULT && qn__effects(value->def) == IR_EFFECT_QUERY;
}

/* Cheap to cut: costs nothing, or a move. */
static bool is_cheap(const ir_value *value, ir_type type, unsigned depth) {
    if (qn__ir_is_const(value) || is_query(value)) return true;
    if (qn__defined_by(value, IR_ZEXT) || qn__defined_by(value, IR_SEXT))
        return qn__ir_bits(qn__operand_of(value, 0)->type) <= qn__ir_bits(type);
    return qn__narrows(value, type, depth);
}

bool qn__narrows(const ir_value *value, ir_type type, unsigned depth) {
    if (value->value_kind != IR_VALUE_RESULT || depth > MAX_DEPTH) return false;
    const ir_instr *def = value->def;
    const unsigned rule = qn__ir_ops[def->op].rule;
    if ((rule != RULE_INT && rule != RULE_LOGIC) || !qn__is_made_of_low(def)) return false;
    const bool shifts = def->op == IR_SHL;
    uint64_t bits;
    if (shifts && (!qn__splat_bits(def->operands[1], &bits) || bits >= qn__ir_bits(type))) return false;
    for (uint32_t i = 0; i < (shifts ? 1 : def->num_operands); i++)
        if (!is_cheap(def->operands[i], type, depth + 1)) return false;
    return true;
}

/* ---- order ---- */

/* 0 < x and x < 1 for unsigned x are tests of zero; signed likewise where x is never negative. */
static ir_value *rule_less(qn__peephole *p, ir_instr *instr) {
    ir_value *a = instr->operands[0], *b = instr->operands[1];
    uint64_t c;
    if (a->type.kind == IR_PTR) return NULL;
    ir_value *narrow = qn__compare_narrow(p, instr);
    if (narrow) return narrow;
    if (instr->op == IR_ULT && qn__splat_bits(a, &c) && c == 0) return qn__ir_op2(&p->builder, IR_NE, b, a);
    if (instr->op == IR_ULT && qn__splat_bits(b, &c) && c == 1)
        return qn__ir_op2(&p->builder, IR_EQ, a, qn__ir_const_splat(p->function, a->type, 0));
    if (instr->op == IR_SLT && qn__splat_bits(b, &c) && c == 0 && qn__is_non_negative(a))
        return qn__ir_const_splat(p->function, instr->results[0]->type, 0);
    if (instr->op == IR_SLE && qn__splat_bits(a, &c) && c == 0 && qn__is_non_negative(b))
        return qn__ir_const_splat(p->function, instr->results[0]->type, UINT64_MAX);
    return NULL;
}

const qn__peephole_row qn__peephole_range[] = {
    {IR_SDIV, rule_divide}, {IR_SREM, rule_divide}, {IR_SLT, rule_less}, {IR_SLE, rule_less},
    {IR_ULT, rule_less},    {IR_ULE, rule_less},    {0, NULL},
};
