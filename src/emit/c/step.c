/* Code that runs in step in the C target: the constructs around sync points, outside the item loops.
   Where all work-items go the same way these are plain C control flow. Where they may diverge, `pend` holds for
   each work-item 0 while it runs, or the code of the construct where it goes on (a lock-step machine's masks);
   control then falls through everything, and what nobody runs does nothing. */
#include "emit/c/internal.h"

/* ---- masks ---- */

static void wake(c_emitter *e, int from) {
    qn__c_line(e, "for (i32 i = 0; i < items; ++i) pend[i] = pend[i] == %d ? 0 : pend[i];", from);
}

static void open_if_any(c_emitter *e) {
    if (qn__c_need(e, "qn_running")) {
        qn__buf_puts(&e->helpers,
                     "static inline i32 qn_running(const i32 *pend, i32 items) {\n    i32 any = 0;\n"
                     "    for (i32 i = 0; i < items; ++i) any |= pend[i] == 0;\n    return any;\n}\n");
    }
    qn__c_open(e, "if (qn_running(pend, items)) {");
}

/* ---- jumps ---- */

static void assign_uniform(c_emitter *e, ir_value *const *to, ir_value *const *from, uint32_t count) {
    QN__VEC(ir_value *) targets = {0}, values = {0};
    for (uint32_t i = 0; i < count; i++) {
        if (e->plan->storage[to[i]->id] != STORAGE_GROUP || to[i] == from[i]) continue;
        qn__vec_push(e->arena, &targets, to[i]);
        qn__vec_push(e->arena, &values, from[i]);
    }
    if (!targets.len) return;
    if (e->plan->masked) open_if_any(e);
    qn__c_assign(e, targets.data, values.data, (uint32_t)targets.len);
    if (e->plan->masked) qn__c_close(e, "}");
}

static void leave(c_emitter *e, const ir_instr *jump) {
    if (jump->op != IR_RETURN) {
        qn__c_jump(&e->flow, jump);
    } else if (jump->parent->owner) {
        e->done_used = true;
        qn__c_line(e, "goto done;");
    }
}

/* What a jump does beyond handing over values. */
static void step_jump(c_emitter *e, const ir_instr *jump) {
    if (jump->op == IR_UNREACHABLE || jump->op == IR_YIELD) return;
    if (!e->plan->masked) {
        leave(e, jump);
        return;
    }
    if (jump->op == IR_RETURN && !jump->parent->owner) return;
    if (jump->op == IR_CONTINUE && jump->parent->owner == qn__ir_jump_target(jump)) return;
    int to = -1;
    if (jump->op != IR_RETURN)
        to = qn__c_pend(qn__ir_jump_target(jump), jump->op == IR_BREAK ? PEND_BREAK : PEND_CONTINUE);
    qn__c_line(e, "for (i32 i = 0; i < items; ++i) pend[i] = pend[i] == 0 ? %d : pend[i];", to);
}

static void step_values(c_emitter *e, const ir_instr *jump) {
    const ir_receivers to = qn__ir_receivers(jump);
    if (to.count) assign_uniform(e, to.values, jump->operands, to.count);
}

/* ---- constructs ---- */

static void masked_if(c_emitter *e, ir_instr *instr) {
    int otherwise = qn__c_pend(instr, PEND_ELSE), joined = qn__c_pend(instr, PEND_BREAK);
    e->chunk = 0;
    qn__c_items_open(e, true);
    qn__c_make_available(e, instr->operands[0]);
    qn__c_line(e, "pend[item] = %s ? 0 : %d;", qn__c_use(e, instr->operands[0], 0), otherwise);
    qn__c_items_close(e);
    open_if_any(e);
    qn__c_in_step(e, instr->regions[0]);
    qn__c_close(e, "}");
    qn__c_line(e,
               "for (i32 i = 0; i < items; ++i) pend[i] = pend[i] == 0 ? %d : pend[i] == %d ? 0 : pend[i];",
               joined, otherwise);
    open_if_any(e);
    qn__c_in_step(e, instr->regions[1]);
    qn__c_close(e, "}");
    wake(e, joined);
}

static void step_if(c_emitter *e, ir_instr *instr) {
    if (qn__c_is_varying(e->plan, instr->operands[0])) {
        masked_if(e, instr);
        return;
    }
    qn__c_open(e, "if (%s) {", qn__c_use(e, instr->operands[0], 0));
    qn__c_in_step(e, instr->regions[0]);
    qn__c_write_else(&e->text);
    qn__c_in_step(e, instr->regions[1]);
    qn__c_close(e, "}");
}

static void start_params(c_emitter *e, ir_instr *loop) {
    ir_region *body = loop->regions[0];
    bool varying = false;
    for (uint32_t i = 0; i < body->num_params; i++) {
        const ir_value *param = body->params[i];
        bool group = e->plan->storage[param->id] == STORAGE_GROUP;
        varying = varying || !group;
        for (unsigned lane = 0; group && lane < param->type.lanes; lane++)
            qn__c_line(e, "%s = %s;", qn__c_variable(e, param, lane), qn__c_use(e, loop->operands[i], lane));
    }
    if (!varying) return;
    e->chunk = 0;
    qn__c_items_open(e, true);
    for (uint32_t i = 0; i < body->num_params; i++) {
        const ir_value *param = body->params[i];
        if (e->plan->storage[param->id] != STORAGE_CONTEXT) continue;
        qn__c_make_available(e, loop->operands[i]);
        for (unsigned lane = 0; lane < param->type.lanes; lane++)
            qn__c_line(e, "%s[item] = %s;", qn__c_context(e, param, lane),
                       qn__c_use(e, loop->operands[i], lane));
    }
    qn__c_items_close(e);
}

static void step_loop(c_emitter *e, ir_instr *instr) {
    start_params(e, instr);
    const ir_instr *outer = qn__c_open_loop(&e->flow, instr, "for (;;) {");
    qn__c_look_in_step(e, instr);
    qn__c_in_step(e, instr->regions[0]);
    qn__c_repeat_label(&e->flow, instr);
    if (e->plan->masked) {
        wake(e, qn__c_pend(instr, PEND_CONTINUE));
        open_if_any(e);
        qn__c_line(e, "continue;");
        qn__c_close(e, "}");
        qn__c_line(e, "break;");
    }
    qn__c_close_loop(&e->flow, outer);
}

static void step_construct(c_emitter *e, ir_instr *instr) {
    qn__c_locate(e, instr->loc);
    for (uint32_t i = 0; i < instr->num_results; i++) {
        if (e->plan->storage[instr->results[i]->id] == STORAGE_GROUP) qn__c_declare(e, instr->results[i]);
    }
    if (instr->op == IR_IF) {
        step_if(e, instr);
    } else if (instr->op == IR_LOOP) {
        step_loop(e, instr);
    } else {
        qn__c_open(e, "{");
        qn__c_in_step(e, instr->regions[0]);
        qn__c_close(e, "}");
    }
    qn__c_leave_label(&e->flow, instr);
    if (e->plan->masked && instr->op != IR_IF) wake(e, qn__c_pend(instr, PEND_BREAK));
}

/* The jump that ends the run of per-item instructions from `first` on, or NULL. */
static const ir_instr *jump_after(const c_emitter *e, const ir_instr *first) {
    const ir_instr *i = first;
    while (i && !qn__ir_is_jump(i) && !e->plan->in_step[i->mark]) i = i->next;
    return i && qn__ir_is_jump(i) ? i : NULL;
}

void qn__c_in_step(c_emitter *e, ir_region *region) {
    const ir_instr *loop = e->flow.inner_loop;
    ir_instr *i = region->first;
    while (i) {
        e->flow.inner_loop = loop;
        if (!e->plan->in_step[i->mark]) {
            const ir_instr *jump = jump_after(e, i);
            qn__c_chunk(e, i);
            e->flow.inner_loop = loop;
            if (jump) {
                step_values(e, jump);
                step_jump(e, jump);
            }
            while (i && !e->plan->in_step[i->mark]) i = i->next;
        } else {
            if (qn__ir_is_construct(i)) {
                step_construct(e, i);
            } else {
                qn__c_sync(e, i);
            }
            i = i->next;
        }
    }
    e->flow.inner_loop = loop;
}
