/* What is wanted of 64-bit values: all of them, or their low half alone (demanded bits, with one bit for a half). A
   backward data flow over the structured code: uses come before definitions, and where they do not (around a loop) the
   walk is repeated until it finds nothing new. From low to high sums, products, logic and choice want no more of their
   operands than is wanted of them: the property LOW in ir/ops.def. */
#include "pass/analysis.h"

bool qn__is_made_of_low(const ir_instr *instr) {
    return qn__ir_has(instr->op, IR_LOW) && (instr->op != IR_SHL || qn__ir_is_const(instr->operands[1]));
}

static bool is_wide(const qn__demand *d, ir_type type) {
    return type.kind == IR_I64 || (type.kind == IR_PTR && !(d->rules->near >> type.space & 1));
}

static bool has_low(const qn__demand *d, const ir_value *value) {
    return !d->rules->has_low || value->value_kind != IR_VALUE_RESULT || d->rules->has_low(value->def);
}

void qn__want(qn__demand *d, const ir_value *value, unsigned what) {
    if (!is_wide(d, value->type)) return;
    if (!has_low(d, value)) what |= QN__WANT_ALL;
    uint8_t *wanted = &d->wanted[value->id];
    d->again |= value->value_kind == IR_VALUE_PARAM && what & ~(unsigned)*wanted & QN__WANT_ALL;
    *wanted |= (uint8_t)what;
}

static void want_operands(qn__demand *d, const ir_instr *instr, unsigned what) {
    for (uint32_t i = 0; i < instr->num_operands; i++) qn__want(d, instr->operands[i], what);
}

/* What a jump, or a loop's beginning, hands over. What nobody wants of it dead code elimination has removed. */
static void visit_jump(qn__demand *d, const ir_instr *instr) {
    const ir_receivers to = qn__ir_receivers(instr);
    const bool whole = d->rules->whole_jumps;
    for (uint32_t i = 0; i < to.count; i++) {
        if (whole) qn__want(d, to.values[i], QN__WANT_ALL);
        qn__want(d, instr->operands[i], whole ? QN__WANT_ALL : QN__WANT_LOW | d->wanted[to.values[i]->id]);
    }
}

static bool has_wide_operand(const qn__demand *d, const ir_instr *instr) {
    for (uint32_t i = 0; i < instr->num_operands; i++)
        if (is_wide(d, instr->operands[i]->type)) return true;
    return false;
}

/* Of what computes an i64 and does nothing else; of all others everything. */
static unsigned wanted_of(const qn__demand *d, const ir_instr *instr) {
    const bool computes = qn__ir_effects(instr) <= IR_EFFECT_QUERY && instr->results[0]->type.kind == IR_I64;
    return computes ? d->wanted[instr->results[0]->id] : QN__WANT_ALL;
}

static void visit_plain(qn__demand *d, const ir_instr *instr) {
    if (!has_wide_operand(d, instr) || (d->rules->own && d->rules->own(d, instr))) return;
    const unsigned wanted = wanted_of(d, instr);
    const bool low = instr->op == IR_TRUNC || (wanted == QN__WANT_LOW && qn__is_made_of_low(instr));
    if (wanted) want_operands(d, instr, low ? QN__WANT_LOW : QN__WANT_ALL);
}

static void visit_region(qn__demand *d, const ir_region *region) {
    for (const ir_instr *i = region->last; i; i = i->prev) {
        for (uint32_t r = i->num_regions; r-- > 0;) visit_region(d, i->regions[r]);
        if (qn__ir_is_jump(i) || i->op == IR_LOOP)
            visit_jump(d, i);
        else if (!qn__ir_is_construct(i))
            visit_plain(d, i);
    }
}

const uint8_t *qn__find_demand(qn__arena *arena, const ir_function *kernel, const qn__demand_rules *rules) {
    qn__demand d = {.rules = rules};
    d.wanted = QN__NEW_ARRAY(arena, uint8_t, kernel->num_values + 1);
    do {
        d.again = false;
        visit_region(&d, kernel->body);
    } while (d.again && !rules->whole_jumps);
    return d.wanted;
}
