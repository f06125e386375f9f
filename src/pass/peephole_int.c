/* Simplifications of integers, comparisons, conversions and floats that look into operands; see peephole.h. A
   rule is sound for vectors too: constants are splats, and lanes do not mix. */
#include "pass/peephole.h"

static ir_value *konst(qn__peephole *p, ir_type type, uint64_t bits) {
    return qn__ir_const_splat(p->function, type, bits);
}

/* `value` is `op x, constant`: gives x and the constant. */
static bool with_const(const ir_value *value, ir_op op, ir_value **x, uint64_t *bits) {
    if (!qn__defined_by(value, op) || !qn__splat_bits(qn__operand_of(value, 1), bits)) return false;
    *x = qn__operand_of(value, 0);
    return true;
}

static int64_t as_signed(ir_type type, uint64_t bits) {
    const unsigned shift = 64 - qn__ir_bits(type);
    return (int64_t)(bits << shift) >> shift;
}

static ir_value *flagged(ir_value *value, unsigned flags) {
    if (value->value_kind == IR_VALUE_RESULT) value->def->flags = (uint16_t)flags;
    return value;
}

/* ---- arithmetic ---- */

/* Flags that (x + c) + d keeps as x + (c + d): the sum of constants of one sign that does not overflow
   itself. */
static unsigned joined_flags(ir_type type, unsigned flags, uint64_t c, uint64_t d) {
    const uint64_t mask = qn__lane_mask(type), sum = (c + d) & mask;
    const bool negative = as_signed(type, c) < 0;
    unsigned kept = 0;
    if ((flags & IR_NSW) && (as_signed(type, d) < 0) == negative && (as_signed(type, sum) < 0) == negative)
        kept |= IR_NSW;
    if ((flags & IR_NUW) && sum >= c) kept |= IR_NUW;
    return kept;
}

/* x + (0 + a . b): the sum is the product's own. */
static ir_value *sum_of_dot4(qn__peephole *p, const ir_instr *add) {
    for (unsigned i = 0; i < 2; i++) {
        const ir_value *dot = add->operands[i];
        uint64_t c;
        if (dot->value_kind != IR_VALUE_RESULT || qn__ir_ops[dot->def->op].rule != RULE_BYTES ||
            !qn__splat_bits(qn__operand_of(dot, 2), &c) || c)
            continue;
        return qn__ir_op3(&p->builder, (ir_op)dot->def->op, qn__operand_of(dot, 0), qn__operand_of(dot, 1),
                          add->operands[1 - i]);
    }
    return NULL;
}

static ir_value *rule_add(qn__peephole *p, ir_instr *instr) {
    ir_value *a = instr->operands[0], *b = instr->operands[1], *x;
    uint64_t c, d;
    if (qn__splat_bits(b, &d) && with_const(a, IR_ADD, &x, &c)) {
        const unsigned flags = joined_flags(a->type, instr->flags & a->def->flags, c, d);
        return flagged(qn__ir_op2(&p->builder, IR_ADD, x, konst(p, a->type, c + d)), flags);
    }
    if (qn__splat_bits(b, &d) && qn__defined_by(a, IR_SUB) && qn__splat_bits(qn__operand_of(a, 0), &c))
        return qn__ir_op2(&p->builder, IR_SUB, konst(p, a->type, c + d), qn__operand_of(a, 1));
    if (qn__defined_by(a, IR_SUB) && qn__operand_of(a, 1) == b) return qn__operand_of(a, 0);
    if (qn__defined_by(b, IR_SUB) && qn__operand_of(b, 1) == a) return qn__operand_of(b, 0);
    for (unsigned i = 0; i < 2; i++) { /* x + (0 - y) */
        ir_value *negated = instr->operands[i];
        if (qn__defined_by(negated, IR_SUB) && qn__splat_bits(qn__operand_of(negated, 0), &c) && c == 0)
            return qn__ir_op2(&p->builder, IR_SUB, instr->operands[1 - i], qn__operand_of(negated, 1));
    }
    return sum_of_dot4(p, instr);
}

static ir_value *rule_sub(qn__peephole *p, ir_instr *instr) {
    ir_value *a = instr->operands[0], *b = instr->operands[1];
    uint64_t c;
    if (qn__splat_bits(b, &c)) {
        const bool lowest = c == (qn__lane_mask(b->type) >> 1) + 1;
        return flagged(qn__ir_op2(&p->builder, IR_ADD, a, konst(p, b->type, 0 - c)),
                       lowest ? 0 : instr->flags & IR_NSW);
    }
    if (qn__defined_by(a, IR_ADD)) {
        if (qn__operand_of(a, 0) == b) return qn__operand_of(a, 1);
        if (qn__operand_of(a, 1) == b) return qn__operand_of(a, 0);
    }
    if (qn__defined_by(b, IR_SUB) && qn__splat_bits(qn__operand_of(b, 0), &c) && c == 0)
        return qn__ir_op2(&p->builder, IR_ADD, a, qn__operand_of(b, 1));
    return NULL;
}

/* x times c times d, as one: without overflow if both products were and the constants' is. */
static ir_value *joined_product(qn__peephole *p, ir_instr *instr, ir_value *x, uint64_t c, uint64_t d) {
    const ir_type type = instr->results[0]->type;
    const int64_t sc = as_signed(type, c), sd = as_signed(type, d),
                  highest = (int64_t)(qn__lane_mask(type) >> 1);
    unsigned flags = instr->flags & instr->operands[0]->def->flags & IR_NSW;
    if (sc <= 0 || sd <= 0 || sc > highest / sd) flags = 0;
    return flagged(qn__ir_op2(&p->builder, IR_MUL, x, konst(p, type, c * d)), flags);
}

static ir_value *rule_mul(qn__peephole *p, ir_instr *instr) {
    ir_value *x;
    uint64_t c, d;
    if (!qn__splat_bits(instr->operands[1], &d)) return NULL;
    if (with_const(instr->operands[0], IR_MUL, &x, &c)) return joined_product(p, instr, x, c, d);
    if (with_const(instr->operands[0], IR_SHL, &x, &c))
        return joined_product(p, instr, x, UINT64_C(1) << (c & (qn__ir_bits(x->type) - 1)), d);
    return NULL;
}

/* The logical operations of one kind with two constants join. */
static ir_value *rule_logic(qn__peephole *p, ir_instr *instr) {
    ir_value *a = instr->operands[0], *b = instr->operands[1], *x;
    const ir_op op = (ir_op)instr->op;
    const ir_type type = a->type;
    uint64_t c, d;
    if (qn__splat_bits(b, &d) && with_const(a, op, &x, &c))
        return qn__ir_op2(&p->builder, op, x,
                          konst(p, type,
                                op == IR_AND  ? c & d
                                : op == IR_OR ? c | d
                                              : c ^ d));
    if (op == IR_AND && qn__splat_bits(b, &d) && qn__defined_by(a, IR_ZEXT)) {
        const uint64_t held = qn__lane_mask(qn__operand_of(a, 0)->type);
        if ((d & held) == held) return a;
    }
    if (op == IR_AND && qn__splat_bits(b, &d) && with_const(a, IR_LSHR, &x, &c)) {
        const uint64_t held = qn__lane_mask(type) >> (c & (qn__ir_bits(type) - 1));
        if ((d & held) == held) return a;
    }
    for (unsigned i = 0; i < 2; i++) { /* x and, or, xor with not x */
        ir_value *other = instr->operands[1 - i];
        if (!qn__defined_by(instr->operands[i], IR_NOT) || qn__operand_of(instr->operands[i], 0) != other)
            continue;
        return konst(p, type, op == IR_AND ? 0 : UINT64_MAX);
    }
    return NULL;
}

static ir_value *rule_not(qn__peephole *p, ir_instr *instr) {
    ir_value *a = instr->operands[0];
    if (a->value_kind != IR_VALUE_RESULT || a->def->num_operands == 0) return NULL;
    ir_value *x = qn__operand_of(a, 0), *y = a->def->num_operands > 1 ? qn__operand_of(a, 1) : NULL;
    switch (a->def->op) {
    case IR_NOT: return x;
    case IR_EQ: return qn__ir_op2(&p->builder, IR_NE, x, y);
    case IR_NE: return qn__ir_op2(&p->builder, IR_EQ, x, y);
    case IR_SLT: return qn__ir_op2(&p->builder, IR_SLE, y, x);
    case IR_SLE: return qn__ir_op2(&p->builder, IR_SLT, y, x);
    case IR_ULT: return qn__ir_op2(&p->builder, IR_ULE, y, x);
    case IR_ULE: return qn__ir_op2(&p->builder, IR_ULT, y, x);
    case IR_FEQ: return qn__ir_op2(&p->builder, IR_FNE, x, y);
    case IR_FNE: return qn__ir_op2(&p->builder, IR_FEQ, x, y);
    default: return NULL;
    }
}

static ir_value *rule_shift(qn__peephole *p, ir_instr *instr) {
    ir_value *a = instr->operands[0], *x;
    const ir_type type = a->type;
    const ir_op op = (ir_op)instr->op;
    const unsigned width = qn__ir_bits(type);
    uint64_t c, d;
    if (!qn__splat_bits(instr->operands[1], &d)) return NULL;
    d &= width - 1;
    if (d == 0) return a;
    if (with_const(a, op, &x, &c)) { /* the same shift twice */
        const uint64_t sum = (c & (width - 1)) + d;
        const unsigned kept = op == IR_SHL && sum + 1 < width ? instr->flags & a->def->flags & IR_NSW : 0;
        if (sum < width) return flagged(qn__ir_op2(&p->builder, op, x, konst(p, type, sum)), kept);
        return op == IR_ASHR ? qn__ir_op2(&p->builder, op, x, konst(p, type, width - 1)) : konst(p, type, 0);
    }
    if (op == IR_SHL && with_const(a, IR_LSHR, &x, &c) && (c & (width - 1)) == d)
        return qn__ir_op2(&p->builder, IR_AND, x, konst(p, type, UINT64_MAX << d));
    if (op == IR_LSHR && with_const(a, IR_SHL, &x, &c) && (c & (width - 1)) == d)
        return qn__ir_op2(&p->builder, IR_AND, x, konst(p, type, qn__lane_mask(type) >> d));
    if (op == IR_SHL && with_const(a, IR_MUL, &x, &c))
        return joined_product(p, instr, x, c, UINT64_C(1) << d);
    return NULL;
}

/* ---- comparison ---- */

/* eq and ne with a constant of an extended value: compare what was extended. */
static ir_value *equal_extended(qn__peephole *p, ir_instr *instr, uint64_t c) {
    ir_value *a = instr->operands[0];
    const bool sign = a->def->op == IR_SEXT, equal = instr->op == IR_EQ;
    ir_value *x = qn__operand_of(a, 0);
    const uint64_t low = c & qn__lane_mask(x->type);
    uint64_t widened = low;
    if (sign) widened = (uint64_t)as_signed(x->type, low) & qn__lane_mask(a->type);
    if (widened != c) return konst(p, instr->results[0]->type, equal ? 0 : UINT64_MAX);
    return qn__ir_op2(&p->builder, (ir_op)instr->op, x, konst(p, x->type, low));
}

/* The address of an object is not null, whatever number a target counts its memory from. */
static ir_value *equal_address(qn__peephole *p, const ir_instr *instr) {
    const ir_value *a = instr->operands[0];
    uint64_t c;
    if (!qn__splat_bits(instr->operands[1], &c) || c != 0) return NULL;
    if (!qn__defined_by(a, IR_VAR) && !qn__defined_by(a, IR_LOCAL) && !qn__defined_by(a, IR_GLOBAL))
        return NULL;
    return konst(p, instr->results[0]->type, instr->op == IR_EQ ? 0 : UINT64_MAX);
}

static ir_value *rule_equal(qn__peephole *p, ir_instr *instr) {
    ir_value *a = instr->operands[0], *x, *t;
    const ir_type type = a->type;
    uint64_t c, d, e;
    if (type.kind == IR_PTR) return equal_address(p, instr);
    if (!qn__splat_bits(instr->operands[1], &c)) return qn__compare_narrow(p, instr);
    if (qn__defined_by(a, IR_ZEXT) || qn__defined_by(a, IR_SEXT)) return equal_extended(p, instr, c);
    if (with_const(a, IR_ADD, &x, &d))
        return qn__ir_op2(&p->builder, (ir_op)instr->op, x, konst(p, type, c - d));
    if (with_const(a, IR_XOR, &x, &d))
        return qn__ir_op2(&p->builder, (ir_op)instr->op, x, konst(p, type, c ^ d));
    if (qn__defined_by(a, IR_SELECT) && qn__splat_bits(qn__operand_of(a, 1), &d) &&
        qn__splat_bits(qn__operand_of(a, 2), &e) && d != e) {
        t = qn__operand_of(
            a, 0); /* select of two constants, compared: the condition, its complement, or neither */
        if (t->type.lanes != type.lanes) return NULL;
        if (c != d && c != e) return konst(p, instr->results[0]->type, instr->op == IR_EQ ? 0 : UINT64_MAX);
        return (c == d) == (instr->op == IR_EQ) ? t : qn__ir_op1(&p->builder, IR_NOT, t);
    }
    return NULL;
}

const qn__peephole_row qn__peephole_int[] = {
    {IR_ADD, rule_add},
    {IR_SUB, rule_sub},
    {IR_MUL, rule_mul},
    {IR_AND, rule_logic},
    {IR_OR, rule_logic},
    {IR_XOR, rule_logic},
    {IR_NOT, rule_not},
    {IR_SHL, rule_shift},
    {IR_LSHR, rule_shift},
    {IR_ASHR, rule_shift},
    {IR_EQ, rule_equal},
    {IR_NE, rule_equal},
    {0, NULL},
};
