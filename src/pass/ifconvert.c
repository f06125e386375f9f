/* An `if` whose sides are short and only compute becomes those computations and a select for each result; an
   `if` made by && or || so becomes `and` or `or` (simplify sees to that). Innermost first, so nests collapse.
   It lets a kernel's work-items run in vector lanes, and costs a GPU nothing.

       %x = if %c { %a = fneg %v; yield %a } else { yield %v }    ->    %a = fneg %v; %x = select %c, %a,
   %v */
#include "pass/tools.h"

enum { MAX_COST = 24, SLOW_COST = 6, FREM_COST = 12, MAX_RESULTS = 4, NEVER = 1000 };

static unsigned cost_of(const ir_instr *instr) {
    if (instr->num_regions || instr->num_results != 1 || qn__may_trap(instr)) return NEVER;
    if (qn__effects(instr) > IR_EFFECT_QUERY) return NEVER;
    if (instr->op == IR_FREM) return FREM_COST;
    return qn__ir_has(instr->op, IR_SLOW) ? SLOW_COST : 1;
}

static unsigned region_cost(const ir_region *region) {
    unsigned cost = 0;
    for (const ir_instr *i = region->first; i != region->last && cost <= MAX_COST; i = i->next)
        cost += cost_of(i);
    return region->last->op == IR_YIELD ? cost : NEVER;
}

typedef struct converter {
    qn__rewrite rewrite;
    bool changed;
} converter;

static void convert(converter *c, ir_instr *instr) {
    ir_builder builder = {.function = instr->parent->function};
    const ir_instr *yields[2] = {instr->regions[0]->last, instr->regions[1]->last};
    qn__splice_body(instr->regions[0], instr);
    qn__splice_body(instr->regions[1], instr);
    qn__ir_at(&builder, instr);
    for (uint32_t r = 0; r < instr->num_results; r++) {
        ir_value *a = yields[0]->operands[r], *b = yields[1]->operands[r];
        ir_value *chosen = a == b ? a : qn__ir_select(&builder, instr->operands[0], a, b);
        qn__rewrite_set(&c->rewrite, instr->results[r], chosen);
    }
    qn__ir_unlink(instr);
    c->changed = true;
}

static void visit(converter *c, ir_region *region) {
    for (ir_instr *i = region->first, *next; i; i = next) {
        next = i->next;
        qn__rewrite_operands(&c->rewrite, i);
        if (!i->num_regions) continue;
        for (uint32_t r = 0; r < i->num_regions; r++) visit(c, i->regions[r]);
        if (i->op != IR_IF || !i->num_results || i->num_results > MAX_RESULTS) continue;
        if (region_cost(i->regions[0]) + region_cost(i->regions[1]) <= MAX_COST) convert(c, i);
    }
}

bool qn__pass_ifconvert(qn__pass_context *context) {
    converter c = {.changed = false};
    visit(&c, context->function->body);
    return c.changed;
}
