/* A product that is used once, by a sum or difference, becomes one fused operation where both allow it
   (IR_CONTRACT). Of two products in a sum the left one is fused: every device must choose alike.

       %p = fmul contract %a, %b
       %s = fadd contract %p, %c       ->       %s = fma %a, %b, %c */
#include "pass/tools.h"

typedef struct contraction {
    uint32_t *uses;
    uint32_t num_ids;
    qn__rewrite rewrite;
    bool changed;
} contraction;

static const ir_instr *product(const contraction *c, const ir_value *value) {
    if (!qn__defined_by(value, IR_FMUL) || value->id >= c->num_ids || c->uses[value->id] != 1) return NULL;
    return value->def->flags & (IR_CONTRACT | IR_FAST) ? value->def : NULL;
}

static ir_value *fuse(contraction *c, ir_instr *instr) {
    ir_value *a = instr->operands[0], *b = instr->operands[1];
    const ir_instr *left = product(c, a), *right = product(c, b);
    ir_builder builder = {.function = instr->parent->function, .float_flags = instr->flags};
    qn__ir_at(&builder, instr);
    if (left) {
        ir_value *addend = instr->op == IR_FSUB ? qn__ir_op1(&builder, IR_FNEG, b) : b;
        return qn__ir_op3(&builder, IR_FMA, left->operands[0], left->operands[1], addend);
    }
    if (!right) return NULL;
    ir_value *factor = right->operands[0];
    if (instr->op == IR_FSUB) factor = qn__ir_op1(&builder, IR_FNEG, factor);
    return qn__ir_op3(&builder, IR_FMA, factor, right->operands[1], a);
}

static void visit(contraction *c, ir_region *region) {
    for (ir_instr *i = region->first, *next; i; i = next) {
        next = i->next;
        qn__rewrite_operands(&c->rewrite, i);
        if ((i->op == IR_FADD || i->op == IR_FSUB) && (i->flags & (IR_CONTRACT | IR_FAST))) {
            ir_value *fused = fuse(c, i);
            if (fused) {
                qn__rewrite_set(&c->rewrite, i->results[0], fused);
                qn__ir_unlink(i);
                c->changed = true;
            }
        }
        for (uint32_t r = 0; r < i->num_regions; r++) visit(c, i->regions[r]);
    }
}

bool qn__pass_contract(qn__pass_context *context) {
    contraction c = {.num_ids = context->function->num_values};
    if (!context->function->has[IR_FMUL]) return false;
    c.uses = qn__ir_count_uses(context->scratch, context->function);
    visit(&c, context->function->body);
    return c.changed;
}
