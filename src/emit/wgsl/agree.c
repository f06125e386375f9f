/* Conditions on which barriers depend. WGSL refuses a barrier where it does not see that all work-items of a group come by,
   and it takes what is loaded from memory for different in each. Where the uniformity analysis knows better, one
   work-item's condition is handed to all, by workgroupUniformLoad. */
#include "emit/wgsl/internal.h"

typedef struct search {
    wgsl_emitter *e;
    bool *loaded; /* by value id: depends on memory */
    bool *guards; /* by mark: a construct with a barrier in it */
    bool changed;
} search;

static void set(search *s, const ir_value *value) {
    s->changed |= !s->loaded[value->id];
    s->loaded[value->id] = true;
}

/* Parameters of the kernel are no memory to WGSL. */
static bool loads(const ir_instr *i) {
    const ir_effects effects = qn__ir_effects(i);
    if (effects != IR_EFFECT_READ && effects != IR_EFFECT_READWRITE) return false;
    return i->op != IR_LOAD || i->operands[0]->type.space != IR_PARAM_SPACE;
}

static void visit(ir_instr *i, void *user) {
    search *s = user;
    const ir_receivers to = qn__ir_receivers(i);
    bool any = loads(i) && i->op != IR_VAR;
    for (uint32_t n = 0; n < i->num_operands; n++) {
        if (!s->loaded[i->operands[n]->id]) continue;
        any = true;
        if (n < to.count) set(s, to.values[n]);
    }
    for (uint32_t n = 0; n < i->num_results && any && i->op != IR_LOOP; n++) set(s, i->results[n]);
    if (i->op != IR_BARRIER) return;
    for (const ir_instr *at = i->parent->owner; at; at = at->parent->owner) s->guards[at->mark] = true;
}

/* It jumps out of something with a barrier, or ends a work-item before one. */
static void find_exit(ir_instr *i, void *user) {
    search *s = user;
    if (i->op != IR_BREAK && i->op != IR_CONTINUE && i->op != IR_RETURN) return;
    const ir_instr *target = qn__ir_jump_target(i);
    const bool leaves = target && s->guards[target->mark];
    for (const ir_instr *at = i->parent->owner; leaves && at && at != target; at = at->parent->owner)
        if (at->op == IR_IF && s->loaded[at->operands[0]->id]) s->e->agrees[at->mark] = true;
}

static void find_guard(ir_instr *i, void *user) {
    search *s = user;
    if (i->op == IR_IF && s->guards[i->mark] && s->loaded[i->operands[0]->id]) s->e->agrees[i->mark] = true;
}

void qn__wgsl_find_agreements(wgsl_emitter *e) {
    search s = {.e = e};
    e->agrees = QN__NEW_ARRAY(e->arena, bool, (size_t)e->num_instrs + 1);
    if (!e->kernel->has[IR_BARRIER]) return;
    s.loaded = QN__NEW_ARRAY(e->arena, bool, (size_t)e->kernel->num_values + 1);
    s.guards = QN__NEW_ARRAY(e->arena, bool, (size_t)e->num_instrs + 1);
    do {
        s.changed = false;
        qn__ir_walk(e->kernel->body, visit, &s);
    } while (s.changed);
    qn__ir_walk(e->kernel->body, find_guard, &s);
    qn__ir_walk(e->kernel->body, find_exit, &s);
    const qn__uniformity u = qn__uniformity_analyse(e->arena, e->kernel); /* numbers alike */
    for (uint32_t i = 0; i < e->num_instrs; i++)
        if (u.varying_branch[i]) e->agrees[i] = false;
}

const char *qn__wgsl_agreed(wgsl_emitter *e, const char *condition) {
    const char *name = qn__wgsl_text(e, "agreed_of_%s", e->symbol);
    if (qn__wgsl_need(e, name)) qn__buf_printf(&e->globals, "var<workgroup> %s: u32;\n", name);
    e->builtins |= 1u << WGSL_LOCAL_ID;
    qn__wgsl_open(e, "if (all(local_id == vec3<u32>(0u))) {");
    qn__wgsl_line(e, "%s = select(0u, 1u, %s);", name, condition);
    qn__wgsl_close(e, "}");
    return qn__wgsl_let(e, qn__wgsl_text(e, "workgroupUniformLoad(&%s) != 0u", name));
}
