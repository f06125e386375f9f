/* The walk of the lowerings and their builder; see lowering.h. */
#include "pass/lowering.h"

static void visit(qn__lowering *l, ir_region *region, qn__lower_function *lower) {
    for (ir_instr *i = region->first, *next; i; i = next) {
        next = i->next;
        qn__rewrite_operands(&l->rewrite, i);
        for (uint32_t r = 0; r < i->num_regions; r++) visit(l, i->regions[r], lower);
        if (!l->takes[i->op] || i->num_results != 1) continue;
        qn__ir_at(&l->b, i);
        ir_value *value = lower(l, i);
        if (!value) continue;
        qn__rewrite_set(&l->rewrite, i->results[0], value);
        qn__ir_unlink(i);
        l->changed = true;
    }
}

bool qn__lower_rules(qn__pass_context *context, uint64_t rules, qn__lower_function *lower, void *user) {
    qn__lowering l = {.b = {.function = context->function}, .context = context, .user = user};
    for (unsigned op = 0; op < IR_OP_COUNT; op++) l.takes[op] = rules >> qn__ir_ops[op].rule & 1;
    visit(&l, context->function->body, lower);
    return l.changed;
}

bool qn__lower_ops(qn__pass_context *context, const ir_op *ops, size_t count, qn__lower_function *lower) {
    qn__lowering l = {.b = {.function = context->function}, .context = context};
    bool any = false;
    for (size_t n = 0; n < count; n++) {
        l.takes[ops[n]] = true;
        any |= context->function->has[ops[n]];
    }
    if (any) visit(&l, context->function->body, lower);
    return l.changed;
}

/* ---- building ---- */

static ir_value *folded(qn__lowering *l, ir_value *value) {
    ir_instr *def = value->value_kind == IR_VALUE_RESULT ? value->def : NULL;
    if (!def) return value;
    for (uint32_t i = 0; i < def->num_operands; i++)
        if (!qn__ir_is_const(def->operands[i])) return value;
    ir_value *constant = qn__ir_fold(l->b.function, def);
    if (!constant) return value;
    qn__ir_unlink(def);
    return constant;
}

ir_value *qn__make1(qn__lowering *l, ir_op op, ir_value *a) { return folded(l, qn__ir_op1(&l->b, op, a)); }

ir_value *qn__make2(qn__lowering *l, ir_op op, ir_value *a, ir_value *b) {
    return folded(l, qn__ir_op2(&l->b, op, a, b));
}

ir_value *qn__make3(qn__lowering *l, ir_op op, ir_value *a, ir_value *b, ir_value *c) {
    return folded(l, qn__ir_op3(&l->b, op, a, b, c));
}

/* A bitcast of a bitcast is one, or none. */
ir_value *qn__make_convert(qn__lowering *l, ir_op op, ir_value *a, ir_type type) {
    if (op == IR_BITCAST && qn__defined_by(a, IR_BITCAST)) a = a->def->operands[0];
    if (qn__ir_same(a->type, type)) return a;
    return folded(l, qn__ir_convert(&l->b, op, a, type));
}

ir_value *qn__make_select(qn__lowering *l, ir_value *condition, ir_value *a, ir_value *b) {
    if (a == b) return a;
    if (qn__ir_is_const(condition) && condition->type.lanes == 1) return condition->bits[0] ? a : b;
    return folded(l, qn__ir_select(&l->b, condition, a, b));
}

ir_value *qn__make_vector(qn__lowering *l, ir_value *const *scalars, unsigned lanes) {
    return lanes == 1 ? scalars[0] : folded(l, qn__ir_vector(&l->b, scalars, lanes));
}

ir_value *qn__make_extract(qn__lowering *l, ir_value *vector, unsigned lane) {
    if (qn__defined_by(vector, IR_VECTOR)) return vector->def->operands[lane];
    return folded(l, qn__ir_extract(&l->b, vector, lane));
}

ir_value *qn__make_int(qn__lowering *l, ir_type type, uint64_t value) {
    return qn__ir_const_splat(l->b.function, type, value);
}

ir_value *qn__make_float(qn__lowering *l, ir_type type, double value) {
    ir_value *one = qn__ir_const_float(l->b.function, (ir_kind)type.kind, value);
    return type.lanes == 1 ? one : qn__ir_const_splat(l->b.function, type, one->bits[0]);
}

ir_value *qn__make_lanes(qn__lowering *l, const ir_instr *instr, qn__lower_lane *lower) {
    enum { MOST_OPERANDS = 3 };
    const unsigned lanes = instr->results[0]->type.lanes;
    ir_value *parts[16], *operands[MOST_OPERANDS];
    if (lanes == 1) return lower(l, instr, instr->operands);
    for (unsigned k = 0; k < lanes; k++) {
        for (uint32_t i = 0; i < instr->num_operands; i++)
            operands[i] = qn__make_extract(l, instr->operands[i], k);
        parts[k] = lower(l, instr, operands);
    }
    return qn__make_vector(l, parts, lanes);
}
