/* What the passes want to know of a module beforehand: which ops it has, and how many copies of each function
   inlining makes. */
#include "pass/tools.h"

typedef QN__VEC(ir_function *) callees;

static void find_callees(qn__pass_context *context, const ir_region *region, callees *found) {
    for (const ir_instr *i = region->first; i; i = i->next) {
        context->ops[i->op] = true;
        if (i->op == IR_CALL) qn__vec_push(context->scratch, found, i->attr.callee);
        for (uint32_t r = 0; r < i->num_regions; r++) find_callees(context, i->regions[r], found);
    }
}

static void call_again(ir_function *callee, uint32_t copies) {
    callee->num_copies += copies;
    if (callee->num_copies > 2) callee->num_copies = 2;
    callee->num_calls--;
}

/* Callers first: who is left with calls that nobody has counted is done. Rings are never done; there are none in a
   module that can be inlined. */
void qn__survey(qn__pass_context *context) {
    const ir_module *module = context->module;
    const size_t count = module->functions.len;
    callees *calls = QN__NEW_ARRAY(context->scratch, callees, count + 1), ready = {0};
    context->ops = QN__NEW_ARRAY(module->arena, bool, IR_OP_COUNT);
    for (size_t f = 0; f < count; f++) {
        module->functions.data[f]->num_calls = 0;
        module->functions.data[f]->num_copies = module->functions.data[f]->is_kernel;
    }
    for (size_t f = 0; f < count; f++) {
        ir_function *function = module->functions.data[f];
        function->index = (uint32_t)f;
        if (function->body) find_callees(context, function->body, &calls[f]);
        for (size_t c = 0; c < calls[f].len; c++) calls[f].data[c]->num_calls++;
    }
    for (size_t f = 0; f < count; f++)
        if (!module->functions.data[f]->num_calls)
            qn__vec_push(context->scratch, &ready, module->functions.data[f]);
    while (ready.len) {
        const ir_function *caller = qn__vec_pop(&ready);
        const callees *called = &calls[caller->index];
        for (size_t c = 0; c < called->len; c++) {
            call_again(called->data[c], caller->num_copies);
            if (!called->data[c]->num_calls) qn__vec_push(context->scratch, &ready, called->data[c]);
        }
    }
}
