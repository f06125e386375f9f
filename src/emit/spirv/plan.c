/* The plan of a kernel for SPIR-V: which forms of each wide value are needed. One walk backwards: uses come before definitions, and where they do not (around a loop) the
   full value is taken. Addresses are sums of terms (qn__linear); values that occur as terms only are not
   written at all. */
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

/* ---- needs ---- */

static void need(spv *e, const ir_value *value, unsigned what) {
    if (qn__spv_is_wide(value->type)) e->values[value->id].need |= (uint8_t)what;
}

static void need_operands(spv *e, const ir_instr *instr, unsigned what) {
    for (uint32_t i = 0; i < instr->num_operands; i++) need(e, instr->operands[i], what);
}

static bool is_int64(ir_type type) { return type.kind == IR_I64; }

static void visit_ptr_add(spv *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0];
    bool wide = qn__spv_is_wide(result->type);
    if (wide && !e->values[result->id].need) return;
    qn__sum sum = {0};
    qn__linear(instr->operands[1], 1, !wide, &sum);
    for (unsigned i = 0; i < sum.count; i++) {
        const qn__term *term = &sum.terms[i];
        if (!qn__spv_is_split_id(term))
            need(e, term->value, term->kind == QN__TERM_WIDE ? NEED_FULL : NEED_LOW);
    }
    need(e, instr->operands[0], NEED_FULL);
}

/* Ops whose low half is made of the low halves of the operands. */
static bool is_low_op(const ir_instr *instr) {
    switch (instr->op) {
    case IR_ADD:
    case IR_SUB:
    case IR_MUL:
    case IR_AND:
    case IR_OR:
    case IR_XOR:
    case IR_NOT:
    case IR_SELECT:
    case IR_SEXT:
    case IR_ZEXT: return true;
    case IR_SHL: return qn__ir_is_const(instr->operands[1]);
    default: return qn__ir_ops[instr->op].effects == IR_EFFECT_QUERY;
    }
}

/* A pure op with one i64. */
static void visit_int64(spv *e, const ir_instr *instr) {
    spv_value *v = &e->values[instr->results[0]->id];
    if (!v->need) return;
    if (v->need == NEED_LOW && !is_low_op(instr)) v->need |= NEED_FULL;
    need_operands(e, instr, v->need & NEED_FULL ? NEED_FULL : NEED_LOW);
}

static void visit_query(spv *e, const ir_instr *instr) {
    unsigned bit = (instr->op - IR_GLOBAL_ID) * 3 + (instr->op < IR_WORK_DIM ? instr->attr.dim : 0);
    e->queries |= (uint64_t)1 << bit;
    if (instr->op == IR_LOCAL_SIZE || instr->op > IR_WORK_DIM) e->guarded = false;
    if (instr->op > IR_WORK_DIM) e->linear = true;
}

static void visit_region(spv *e, const ir_region *region);

/* An atomic or a fence: what it orders, or could be used to. */
static void see_order(spv *e, const ir_instr *instr) {
    bool local = instr->op != IR_FENCE && instr->operands[0]->type.space == IR_LOCAL_SPACE;
    e->shares = true;
    e->shares_buffers |= !local || instr->attr.order != IR_RELAXED;
}

static void visit(spv *e, const ir_instr *instr) {
    const ir_effects effects = qn__ir_effects(instr);
    if (effects == IR_EFFECT_QUERY) visit_query(e, instr);
    if (effects == IR_EFFECT_SYNC) e->shares = true;
    if (qn__ir_is_together((ir_op)instr->op)) {
        e->uses_sync = true;
        e->shares_buffers |= instr->op == IR_BARRIER && instr->attr.fence & IR_FENCE_GLOBAL;
        e->guarded = false;
        e->linear |= instr->op != IR_BARRIER;
    }
    for (unsigned i = instr->num_regions; i-- > 0;) visit_region(e, instr->regions[i]);
    if (instr->op == IR_LOOP)
        for (uint32_t i = 0; i < instr->num_operands; i++) need(e, instr->regions[0]->params[i], NEED_FULL);
    switch (instr->op) {
    case IR_PTR_ADD: visit_ptr_add(e, instr); return;
    case IR_ATOMIC_LOAD:
    case IR_ATOMIC_STORE:
    case IR_ATOMIC_RMW:
    case IR_ATOMIC_CAS:
    case IR_FENCE: see_order(e, instr); break;
    case IR_TRUNC: /* a vector has no low half that is kept apart */
        need(e, instr->operands[0], instr->operands[0]->type.lanes == 1 ? NEED_LOW : NEED_FULL);
        return;
    case IR_S2F:
    case IR_U2F: {
        bool is_signed;
        need(e, instr->operands[0], qn__spv_is_word(instr, &is_signed) ? NEED_LOW : NEED_FULL);
        return;
    }
    default: break;
    }
    if (effects >= IR_EFFECT_READ && instr->num_operands && instr->operands[0]->type.kind == IR_PTR &&
        effects <= IR_EFFECT_READWRITE) {
        if (instr->op != IR_PREFETCH) need_operands(e, instr, NEED_FULL);
        return;
    }
    bool pure = effects <= IR_EFFECT_QUERY;
    if (pure && instr->num_results == 1 && is_int64(instr->results[0]->type) &&
        instr->results[0]->type.lanes == 1)
        visit_int64(e, instr);
    else
        need_operands(e, instr, NEED_FULL);
}

static void visit_region(spv *e, const ir_region *region) {
    for (const ir_instr *i = region->last; i; i = i->prev) visit(e, i);
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
    e->values = QN__NEW_ARRAY(e->arena, spv_value, function->num_values + 1);
    e->queries = 0;
    e->shares = e->shares_buffers = e->uses_sync = false;
    e->guarded = true;
    visit_region(e, function->body);
}
