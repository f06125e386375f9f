/* What the passes want to know of a module beforehand: which ops it has, and how many copies of each function
   inlining makes. */
#include "pass/tools.h"

static void find_calls(qn__pass_context *context, ir_region *region, qn__calls *found) {
    for (ir_instr *i = region->first; i; i = i->next) {
        if (i->op == IR_CALL) qn__vec_push(context->scratch, found, i);
        for (uint32_t r = 0; r < i->num_regions; r++) find_calls(context, i->regions[r], found);
    }
}

static void call_again(ir_function *callee, uint32_t copies) {
    enum { MOST = 1 << 30 }; /* as good as endless */
    callee->num_copies = copies < MOST - callee->num_copies ? callee->num_copies + copies : MOST;
    callee->num_calls--;
}

/* Callers first: who is left with calls that nobody has counted is done. Rings are never done; there are none in a
   module that can be inlined. */
void qn__count_copies(qn__pass_context *context, const qn__calls *calls) {
    const ir_module *module = context->module;
    const size_t count = module->functions.len;
    QN__VEC(ir_function *) ready = {0};
    for (size_t f = 0; f < count; f++) {
        module->functions.data[f]->index = (uint32_t)f;
        module->functions.data[f]->num_calls = 0;
        module->functions.data[f]->num_copies = module->functions.data[f]->is_kernel;
    }
    for (size_t f = 0; f < count; f++)
        for (size_t c = 0; c < calls[f].len; c++) calls[f].data[c]->attr.callee->num_calls++;
    for (size_t f = 0; f < count; f++)
        if (!module->functions.data[f]->num_calls)
            qn__vec_push(context->scratch, &ready, module->functions.data[f]);
    while (ready.len) {
        const ir_function *caller = qn__vec_pop(&ready);
        const qn__calls *called = &calls[caller->index];
        for (size_t c = 0; c < called->len; c++) {
            ir_function *callee = called->data[c]->attr.callee;
            call_again(callee, caller->num_copies);
            if (!callee->num_calls) qn__vec_push(context->scratch, &ready, callee);
        }
    }
}

void qn__survey(qn__pass_context *context) {
    const ir_module *module = context->module;
    qn__calls *calls = QN__NEW_ARRAY(context->scratch, qn__calls, module->functions.len + 1);
    for (size_t f = 0; f < module->functions.len; f++)
        if (module->functions.data[f]->body) find_calls(context, module->functions.data[f]->body, &calls[f]);
    qn__count_copies(context, calls);
}
