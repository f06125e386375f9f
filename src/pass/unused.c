/* For the checker (wants_checks): variables and arrays that are given values that nothing reads, as far as one function shows it.
   Before all other passes, which drop them. What is passed on by its address may be read. A value that is loaded to change the same
   variable only, as of a counter that nobody looks at, counts as not read.

       %x = var x   store %x, 1   ->   the function's list: x, where it is stored */
#include "pass/tools.h"

enum { NO_ROOT = 0 };

typedef struct root {
    const char *name;
    ir_loc declared, stored;
    bool is_stored, is_read;
} root;

typedef struct search {
    qn__arena *arena;
    const ir_function *function;
    uint32_t *roots;  /* by value id: what the pointer leads to, an index; NO_ROOT: none of these */
    uint32_t *feeds;  /* by value id: the root that the number was loaded from, to be stored there again */
    uint32_t *locals; /* by index of the function's __local variables: its root */
    QN__VEC(root) list;
} search;

static void read_root(search *s, uint32_t k) {
    if (k != NO_ROOT) s->list.data[k].is_read = true;
}

static uint32_t root_of(const uint32_t *table, const ir_value *value) {
    const bool is_constant = value->value_kind == IR_VALUE_CONST || value->value_kind == IR_VALUE_UNDEF;
    return is_constant ? (uint32_t)NO_ROOT : table[value->id];
}

static uint32_t add_root(search *s, const char *name, ir_loc declared) {
    qn__vec_push(s->arena, &s->list, (root){.name = name, .declared = declared});
    return (uint32_t)s->list.len - 1;
}

static bool is_named(const char *name) { return name && name[0] && name[0] != '.'; }

static void visit_root(search *s, const ir_instr *instr) {
    uint32_t *to = &s->roots[instr->results[0]->id];
    if (instr->op == IR_VAR) {
        const ir_var *var = instr->attr.var;
        if (is_named(var->name) && !var->matrix.element) *to = add_root(s, var->name, instr->loc);
        return;
    }
    const ir_local *local = &s->function->locals.data[instr->attr.index];
    uint32_t *known = &s->locals[instr->attr.index];
    if (*known == NO_ROOT && is_named(local->name)) *known = add_root(s, local->name, local->loc);
    *to = *known;
}

static void visit_store(search *s, const ir_instr *instr) {
    const uint32_t to = root_of(s->roots, instr->operands[0]);
    const uint32_t fed = root_of(s->feeds, instr->operands[1]);
    read_root(s, root_of(s->roots, instr->operands[1]));
    if (fed != to) read_root(s, fed);
    read_root(s, root_of(s->feeds, instr->operands[0]));
    if (to == NO_ROOT || s->list.data[to].is_stored) return;
    s->list.data[to].is_stored = true;
    s->list.data[to].stored = instr->loc;
}

/* A number made of what was loaded feeds what its operands do, if that is one. */
static void visit_number(search *s, const ir_instr *instr) {
    uint32_t fed = NO_ROOT;
    for (uint32_t k = 0; k < instr->num_operands; k++) {
        const uint32_t other = root_of(s->feeds, instr->operands[k]);
        read_root(s, root_of(s->roots, instr->operands[k]));
        if (fed != NO_ROOT && other != fed) read_root(s, other);
        if (fed == NO_ROOT) fed = other;
    }
    s->feeds[instr->results[0]->id] = fed;
}

static void visit_other(search *s, const ir_instr *instr) {
    for (uint32_t k = 0; k < instr->num_operands; k++) {
        read_root(s, root_of(s->roots, instr->operands[k]));
        read_root(s, root_of(s->feeds, instr->operands[k]));
    }
}

static void visit(ir_instr *instr, void *user) {
    search *s = user;
    const uint32_t to = instr->num_operands ? root_of(s->roots, instr->operands[0]) : (uint32_t)NO_ROOT;
    const bool is_volatile =
        instr->op == IR_LOAD && (instr->flags & IR_VOLATILE) && (instr->flags & IR_WRITTEN);
    switch (instr->op) {
    case IR_VAR:
    case IR_LOCAL: visit_root(s, instr); return;
    case IR_PTR_ADD:
        s->roots[instr->results[0]->id] = to;
        read_root(s, root_of(s->feeds, instr->operands[0]));
        read_root(s, root_of(s->feeds, instr->operands[1]));
        return;
    case IR_LOAD:
        if (is_volatile) read_root(s, to);
        s->feeds[instr->results[0]->id] = to;
        read_root(s, root_of(s->feeds, instr->operands[0]));
        return;
    case IR_STORE: visit_store(s, instr); return;
    case IR_COPY: read_root(s, root_of(s->roots, instr->operands[1])); return;
    default: break;
    }
    const bool is_number = qn__ir_ops[instr->op].effects == IR_EFFECT_PURE && instr->num_results == 1 &&
                           !qn__ir_is_construct(instr);
    if (is_number)
        visit_number(s, instr);
    else
        visit_other(s, instr);
}

bool qn__pass_find_unused(qn__pass_context *context) {
    ir_function *function = context->function;
    if (function->is_library) return false;
    search s = {.arena = context->scratch,
                .function = function,
                .roots = QN__NEW_ARRAY(context->scratch, uint32_t, function->num_values + 1u),
                .feeds = QN__NEW_ARRAY(context->scratch, uint32_t, function->num_values + 1u),
                .locals = QN__NEW_ARRAY(context->scratch, uint32_t, function->locals.len + 1)};
    add_root(&s, NULL, (ir_loc){0}); /* NO_ROOT */
    qn__ir_walk(function->body, visit, &s);
    for (size_t i = 1; i < s.list.len; i++) {
        const root *r = &s.list.data[i];
        if (r->is_stored && !r->is_read && r->stored.line)
            qn__vec_push(function->module->arena, &function->unused,
                         (ir_unused){r->name, r->declared, r->stored});
    }
    return false;
}
