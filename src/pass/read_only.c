/* Pointers made of `const restrict` arguments: nobody writes where they point while the kernel runs. Every pointer that may
   be one is taken for one until a jump brings it another. */
#include "pass/analysis.h"

typedef struct tracing {
    bool *kept, *refuted; /* by value id */
    bool changed;
} tracing;

static void assume(tracing *t, const ir_value *value, bool kept) {
    if (kept && !t->refuted[value->id]) t->kept[value->id] = true;
}

static void refute(tracing *t, const ir_instr *jump) {
    const ir_receivers to = qn__ir_receivers(jump);
    for (uint32_t i = 0; i < to.count; i++) {
        const uint32_t id = to.values[i]->id;
        if (!t->kept[id] || t->kept[jump->operands[i]->id]) continue;
        t->kept[id] = false;
        t->refuted[id] = t->changed = true;
    }
}

static void trace(ir_instr *instr, void *user) {
    tracing *t = user;
    ir_value *const *with = instr->operands;
    if (instr->op == IR_PTR_ADD) {
        assume(t, instr->results[0], t->kept[with[0]->id]);
    } else if (instr->op == IR_SELECT) {
        assume(t, instr->results[0], t->kept[with[1]->id] && t->kept[with[2]->id]);
    } else if (qn__ir_is_construct(instr)) {
        for (uint32_t i = 0; i < instr->num_results; i++)
            assume(t, instr->results[i], instr->results[i]->type.kind == IR_PTR);
        const ir_receivers params = qn__ir_receivers(instr);
        for (uint32_t i = 0; i < params.count; i++) assume(t, params.values[i], t->kept[with[i]->id]);
    } else if (qn__ir_is_jump(instr)) {
        refute(t, instr);
    }
}

static void forget(ir_instr *instr, void *user) {
    tracing *t = user;
    for (uint32_t i = 0; i < instr->num_results; i++) t->kept[instr->results[i]->id] = false;
    for (uint32_t i = 0; instr->op == IR_LOOP && i < instr->regions[0]->num_params; i++)
        t->kept[instr->regions[0]->params[i]->id] = false;
}

const bool *qn__find_read_only(qn__arena *arena, const ir_function *kernel) {
    tracing t = {.kept = NULL};
    for (size_t i = 0; i < kernel->args.len; i++) {
        const ir_arg *arg = &kernel->args.data[i];
        const unsigned promise = IR_ARG_CONST | IR_ARG_RESTRICT;
        if (arg->arg_kind != IR_ARG_BUFFER || (arg->flags & (promise | IR_ARG_VOLATILE)) != promise) continue;
        if (!t.kept) t.kept = QN__NEW_ARRAY(arena, bool, kernel->num_values);
        t.kept[arg->value->id] = true;
    }
    if (!t.kept) return NULL;
    t.refuted = QN__NEW_ARRAY(arena, bool, kernel->num_values);
    do {
        if (t.changed) qn__ir_walk(kernel->body, forget, &t);
        t.changed = false;
        qn__ir_walk(kernel->body, trace, &t);
    } while (t.changed);
    return t.kept;
}
