/* Loops whose counter doubles or halves within what is known with the pipeline ask to be unrolled: the steps of a prefix
   sum or of a reduction in a group, of which there are few. For devices that gain by unrolling and whose compiler is
   told the group's size; it runs last, and sees what that compiler will.

       loop (%s = 1) {                        loop (%s = 1) unroll full {
         if ult %s, local_size {} else {break}  as before
         body; continue shl %s, 1 }      ->   }  */
#include "pass/tools.h"

/* Constants and the group's size, and what is made of them. */
static bool is_settled(const ir_value *value, unsigned depth) {
    enum { DEEPEST = 4 };
    if (qn__ir_is_const(value)) return true;
    if (value->value_kind != IR_VALUE_RESULT || depth == DEEPEST) return false;
    switch (value->def->op) {
    case IR_LOCAL_SIZE: return true;
    case IR_ZEXT:
    case IR_TRUNC:
    case IR_ADD:
    case IR_SHL:
    case IR_LSHR: break;
    default: return false;
    }
    for (uint32_t i = 0; i < value->def->num_operands; i++)
        if (!is_settled(value->def->operands[i], depth + 1)) return false;
    return true;
}

static bool is_param(const ir_value *value, const ir_instr *loop) {
    return value->value_kind == IR_VALUE_PARAM && value->def == loop;
}

/* It begins with the counter's test. */
static bool is_ladder(const ir_instr *loop) {
    const ir_instr *compare = loop->regions[0]->first, *branch = compare->next,
                   *round = loop->regions[0]->last;
    if (!branch || branch->op != IR_IF || branch->operands[0]->value_kind != IR_VALUE_RESULT ||
        branch->operands[0]->def != compare || compare->num_operands != 2 || round->op != IR_CONTINUE ||
        round->attr.target != loop)
        return false;
    const bool second = is_param(compare->operands[1], loop);
    const ir_value *counter = compare->operands[second];
    if (!is_param(counter, loop) || !is_settled(compare->operands[!second], 0) ||
        !is_settled(loop->operands[counter->index], 0))
        return false;
    const ir_value *next = round->operands[counter->index];
    return next->value_kind == IR_VALUE_RESULT && (next->def->op == IR_SHL || next->def->op == IR_LSHR) &&
           next->def->operands[0] == counter && qn__ir_is_const(next->def->operands[1]);
}

static bool visit(ir_region *region) {
    bool changed = false;
    for (ir_instr *i = region->first; i; i = i->next) {
        if (i->op == IR_LOOP && !i->attr.unroll && is_ladder(i)) {
            i->attr.unroll = -1;
            changed = true;
        }
        for (uint32_t r = 0; r < i->num_regions; r++) changed |= visit(i->regions[r]);
    }
    return changed;
}

bool qn__pass_hint_ladders(qn__pass_context *context) {
    return context->options->target.wants_unrolled && visit(context->function->body);
}
