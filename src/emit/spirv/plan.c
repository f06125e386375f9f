/* The plan of a kernel for SPIR-V: what it uses of the device, and which forms of each wide value are needed
   (pass/demand.c). Addresses are sums of terms (qn__linear); values that occur as terms only are not written at all. */
#include "emit/spirv/internal.h"

/* ---- what is known of values ---- */

bool qn__spv_is_word(const ir_instr *convert, bool *is_signed) {
    const ir_value *value = convert->operands[0];
    if (value->type.kind != IR_I64 || value->type.lanes != 1) return false;
    qn__term_kind kind = qn__narrow_kind(value);
    *is_signed = kind == QN__TERM_SIGNED;
    return kind == QN__TERM_UNSIGNED ||
           (kind == QN__TERM_SIGNED && (convert->op == IR_S2F || value->def->op != IR_SEXT));
}

/* ---- the forms of values ---- */

static bool ptr_add_demand(qn__demand *d, const ir_instr *instr) {
    const ir_value *result = instr->results[0];
    const bool wide = qn__spv_is_wide(result->type);
    if (wide && !d->wanted[result->id]) return true;
    qn__sum sum = {0};
    qn__linear(instr->operands[1], 1, !wide, &sum);
    for (unsigned i = 0; i < sum.count; i++) {
        const qn__term *term = &sum.terms[i];
        if (!qn__spv_is_split_id(term))
            qn__want(d, term->value, term->kind == QN__TERM_WIDE ? QN__WANT_ALL : QN__WANT_LOW);
    }
    qn__want(d, instr->operands[0], QN__WANT_ALL);
    return true;
}

/* Addresses are sums of terms; those that are terms only are not written at all. */
static bool own_demand(qn__demand *d, const ir_instr *instr) {
    bool is_signed;
    switch (instr->op) {
    case IR_PTR_ADD: return ptr_add_demand(d, instr);
    case IR_MATRIX_LOAD:
    case IR_MATRIX_STORE: /* the stride's low word */
        qn__want(d, instr->operands[1], QN__WANT_ALL);
        qn__want(d, instr->operands[2], QN__WANT_LOW);
        return true;
    case IR_PREFETCH: return true; /* nothing is written for it */
    case IR_TRUNC:                 /* a vector has no low half that is kept apart */
        if (instr->operands[0]->type.lanes == 1) return false;
        qn__want(d, instr->operands[0], QN__WANT_ALL);
        return true;
    case IR_S2F:
    case IR_U2F:
        qn__want(d, instr->operands[0], qn__spv_is_word(instr, &is_signed) ? QN__WANT_LOW : QN__WANT_ALL);
        return true;
    default: return false;
    }
}

static bool has_low(const ir_instr *instr) {
    const unsigned rule = qn__ir_ops[instr->op].rule;
    const bool scalar = rule == RULE_INT || rule == RULE_LOGIC || rule == RULE_CONVERT || rule == RULE_SELECT;
    return (scalar && qn__is_made_of_low(instr)) || qn__ir_ops[instr->op].effects == IR_EFFECT_QUERY;
}

static const qn__demand_rules demand_rules = {
    .near = 1 << IR_PRIVATE | 1 << IR_LOCAL_SPACE | 1 << IR_PARAM_SPACE,
    .whole_jumps = true,
    .has_low = has_low,
    .own = own_demand,
};

/* ---- the kernel ---- */

static void visit_query(spv *e, const ir_instr *instr) {
    if (instr->op == IR_MATRIX_LENGTH) return;
    unsigned bit = (instr->op - IR_GLOBAL_ID) * 3 + (instr->op < IR_WORK_DIM ? instr->attr.dim : 0);
    e->plan.queries |= (uint64_t)1 << bit;
    if (qn__ir_has(instr->op, IR_WHOLE)) e->plan.guarded = false;
    if (instr->op > IR_WORK_DIM) e->linear = true;
}

/* An atomic or a fence: what it orders, or could be used to. */
static void see_order(spv *e, const ir_instr *instr) {
    bool local = instr->op != IR_FENCE && instr->operands[0]->type.space == IR_LOCAL_SPACE;
    e->plan.shares = true;
    e->plan.shares_buffers |= !local || instr->attr.order != IR_RELAXED;
}

static bool is_near(const ir_value *value) {
    return value->type.kind == IR_PTR &&
           (value->type.space == IR_PRIVATE || value->type.space == IR_LOCAL_SPACE);
}

static void visit_near(spv *e, const ir_instr *instr) {
    bool near = (instr->op == IR_VAR || instr->op == IR_LOCAL || instr->op == IR_PTR_ADD) &&
                is_near(instr->results[0]);
    for (uint32_t i = 0; qn__spv_is_access(instr) && i < instr->num_operands; i++)
        near = near || is_near(instr->operands[i]);
    if (near) qn__vec_push(e->arena, &e->plan.near, instr);
}

static void visit(ir_instr *instr, void *user) {
    spv *e = user;
    visit_near(e, instr);
    if (instr->op == IR_GLOBAL) {
        e->plan.uses_constants = true;
        e->constant_offset[instr->attr.index] = 0;
    }
    const ir_effects effects = qn__ir_effects(instr);
    if (effects == IR_EFFECT_QUERY) visit_query(e, instr);
    if (effects == IR_EFFECT_SYNC) e->plan.shares = true;
    if (qn__ir_is_together((ir_op)instr->op)) {
        e->plan.uses_sync = true;
        e->plan.shares_buffers |= instr->op == IR_BARRIER && instr->attr.fence & IR_FENCE_GLOBAL;
        e->plan.guarded = false;
        e->linear |= instr->op != IR_BARRIER;
    }
    if (qn__ir_has(instr->op, IR_ATTR_ORDER)) see_order(e, instr);
    if (qn__ir_ops[instr->op].rule == RULE_MATRIX) {
        e->linear = true;
        e->plan.guarded = false;
    }
}

/* ---- what the device lacks ---- */

static void check_type(spv *e, ir_type type) {
    if (type.kind == IR_F64) qn__spv_need(e, CAP_FLOAT64);
}

/* Types are declared where they are first met, which may be far from the instruction at fault: the one that the device
   lacks altogether is looked for here. */
static void visit_types(ir_instr *instr, void *user) {
    spv *e = user;
    e->loc = instr->loc;
    for (uint32_t i = 0; i < instr->num_results; i++) check_type(e, instr->results[i]->type);
    for (uint32_t i = 0; i < instr->num_operands; i++) check_type(e, instr->operands[i]->type);
}

void qn__spv_plan(spv *e) {
    const ir_function *function = e->function;
    if (e->options->target.lacks_f64) qn__ir_walk(function->body, visit_types, e);
    e->plan =
        (spv_plan){.values = QN__NEW_ARRAY(e->arena, spv_value, function->num_values + 1), .guarded = true};
    qn__ir_walk(function->body, visit, e);
    e->plan.demand = qn__find_demand(e->arena, function, &demand_rules);
}
