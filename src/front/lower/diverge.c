/* Warns of a work-group barrier in control flow where work-items of one group may diverge (OpenCL C 6.15.8: if one
   work-item reaches a barrier, all must). A taint analysis of a kernel as it was lowered, before the passes: a value
   varies if it comes from a work-item's id or from something that varies; a private variable varies if it is ever
   given a varying value or written where the control flow varies. What is loaded from other memory counts as the same
   for all unless its address varies, and an early `return` does not make the rest of the kernel divergent: many real
   kernels leave that way. So the warning can miss, and is quiet where it is not sure. */
#include "front/lower/internal.h"

typedef struct diverge {
    qn__arena *arena;
    bool *varies; /* by value id; of a private variable's address: its contents */
    bool changed;
    qn__map64 asks; /* see function_asks */
} diverge;

static bool function_asks(diverge *d, const ir_function *function);

static bool is_varying_query(ir_op op) {
    return op == IR_GLOBAL_ID || op == IR_LOCAL_ID || op == IR_SUB_GROUP_ID || op == IR_SUB_GROUP_LOCAL_ID;
}

/* Whether a function, or one it calls, asks for an id. */
static bool asks_for_id(diverge *d, const ir_region *region) {
    for (const ir_instr *i = region->first; i; i = i->next) {
        if (is_varying_query((ir_op)i->op)) return true;
        if (i->op == IR_CALL && function_asks(d, i->attr.callee)) return true;
        for (unsigned r = 0; r < i->num_regions; r++)
            if (asks_for_id(d, i->regions[r])) return true;
    }
    return false;
}

static bool function_asks(diverge *d, const ir_function *function) {
    static char no, yes;
    void *known = qn__map64_get(&d->asks, (uint64_t)(uintptr_t)function);
    if (known) return known == &yes;
    qn__map64_set(d->arena, &d->asks, (uint64_t)(uintptr_t)function, &no); /* also stops a recursion */
    bool asks = function->body && asks_for_id(d, function->body);
    if (asks) qn__map64_set(d->arena, &d->asks, (uint64_t)(uintptr_t)function, &yes);
    return asks;
}

static void set(diverge *d, const ir_value *value) {
    if (!value || d->varies[value->id]) return;
    d->varies[value->id] = true;
    d->changed = true;
}

/* The variable that a pointer points into, or NULL. */
static const ir_value *variable_of(const ir_value *pointer) {
    while (pointer->def && pointer->def->op == IR_PTR_ADD) pointer = pointer->def->operands[0];
    return pointer->def && pointer->def->op == IR_VAR ? pointer : NULL;
}

static bool any_operand_varies(const diverge *d, const ir_instr *i) {
    for (uint32_t n = 0; n < i->num_operands; n++)
        if (d->varies[i->operands[n]->id]) return true;
    return false;
}

/* A construct whose results and rest some work-items reach without others. */
static void set_construct(diverge *d, const ir_instr *construct) {
    for (uint32_t r = 0; r < construct->num_results; r++) set(d, construct->results[r]);
}

/* Whether a construct around `i` is one in which work-items may diverge. Its `mark` says so: an `if` whose condition
   varies, or a loop that some leave, or go on in, before others. */
static bool is_divergent(const ir_instr *i) {
    for (const ir_instr *owner = i->parent->owner; owner; owner = owner->parent->owner)
        if (owner->mark) return true;
    return false;
}

static void mark(diverge *d, ir_instr *construct) {
    if (construct->mark) return;
    construct->mark = 1;
    d->changed = true;
}

static void visit_jump(diverge *d, ir_instr *i, bool divergent) {
    ir_instr *target = qn__ir_jump_target(i);
    const ir_receivers to = qn__ir_receivers(i);
    if (!target) return;
    bool leaves = i->op != IR_YIELD && divergent;
    if (leaves && target->op == IR_LOOP) mark(d, target);
    for (uint32_t n = 0; n < to.count; n++)
        if (divergent || d->varies[i->operands[n]->id]) set(d, to.values[n]);
}

static void visit_call(diverge *d, const ir_instr *i, bool varies) {
    varies = varies || function_asks(d, i->attr.callee);
    for (uint32_t n = 0; n < i->num_operands; n++) {
        const ir_value *variable = i->operands[n]->type.kind == IR_PTR ? variable_of(i->operands[n]) : NULL;
        if (variable && varies) set(d, variable);
    }
    for (uint32_t n = 0; varies && n < i->num_results; n++) set(d, i->results[n]);
}

static void visit(diverge *d, ir_instr *i) {
    bool divergent = is_divergent(i), varies = any_operand_varies(d, i) || is_varying_query((ir_op)i->op);
    switch (i->op) {
    case IR_VAR: return;
    case IR_STORE:
    case IR_COPY: {
        const ir_value *variable = variable_of(i->operands[0]);
        if (variable && (varies || divergent)) set(d, variable);
        return;
    }
    case IR_CALL: visit_call(d, i, varies || divergent); return;
    case IR_YIELD:
    case IR_BREAK:
    case IR_CONTINUE: visit_jump(d, i, divergent); return;
    case IR_RETURN:
    case IR_UNREACHABLE: return;
    case IR_IF:
        if (varies) mark(d, i);
        if (i->mark) set_construct(d, i);
        return;
    case IR_LOOP:
        for (uint32_t n = 0; n < i->num_operands; n++)
            if (d->varies[i->operands[n]->id]) set(d, i->regions[0]->params[n]);
        if (i->mark) set_construct(d, i);
        return;
    case IR_BLOCK: return;
    case IR_ATOMIC_LOAD: break; /* as a load */
    default:
        if (qn__ir_has(i->op, IR_LEVELS))
            varies = qn__ir_is_of_sub_group(i) || is_varying_query((ir_op)i->op);
        if (qn__ir_has(i->op, IR_VARIES)) varies = true;
        break;
    }
    for (uint32_t r = 0; varies && r < i->num_results; r++) set(d, i->results[r]);
}

static void visit_region(diverge *d, ir_region *region) {
    for (ir_instr *i = region->first; i; i = i->next) {
        visit(d, i);
        for (unsigned r = 0; r < i->num_regions; r++) visit_region(d, i->regions[r]);
    }
}

static void clear_marks(ir_region *region) {
    for (ir_instr *i = region->first; i; i = i->next) {
        i->mark = 0;
        for (unsigned r = 0; r < i->num_regions; r++) clear_marks(i->regions[r]);
    }
}

void qn__lower_warn_divergence(lower *l, ir_function *kernel) {
    if (!l->barriers.len) return;
    diverge d = {.arena = l->arena, .varies = QN__NEW_ARRAY(l->arena, bool, kernel->num_values)};
    clear_marks(kernel->body);
    do {
        d.changed = false;
        visit_region(&d, kernel->body);
    } while (d.changed);
    for (size_t n = 0; n < l->barriers.len; n++) {
        if (!is_divergent(l->barriers.data[n].instr)) continue;
        qn__diag_warning(l->config->diag, FRONT_WARN_DIVERGENCE, l->barriers.data[n].loc,
                         "not all work-items of a group may reach this barrier");
        qn__diag_hint(l->config->diag,
                      "the condition around it depends on the work-item; if one reaches a barrier, "
                      "all must");
    }
}
