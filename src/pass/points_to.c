/* Which pointers may point to the same object: sets that are joined where pointers meet (unification, after Steensgaard's
   points-to analysis), in one walk. What goes through memory or integers is one set a space. */
#include "pass/analysis.h"

typedef struct finder {
    qn__points_to *sets;
    uint32_t spaces; /* bits: 1 << ir_space */
    bool compares;
} finder;

uint32_t qn__points_to_root(const qn__points_to *sets, uint32_t node) {
    uint32_t *parent = sets->parent;
    while (parent[node] != node) node = parent[node] = parent[parent[node]];
    return node;
}

void qn__points_to_join(const qn__points_to *sets, uint32_t a, uint32_t b) {
    sets->parent[qn__points_to_root(sets, a)] = qn__points_to_root(sets, b);
}

/* Pointers that are constants or undefined point nowhere. */
static bool is_pointer(const finder *f, const ir_value *value) {
    return value->type.kind == IR_PTR && f->spaces >> value->type.space & 1 &&
           value->value_kind <= IR_VALUE_ARG;
}

static void join(finder *f, const ir_value *a, const ir_value *b) {
    if (is_pointer(f, a) && is_pointer(f, b)) qn__points_to_join(f->sets, a->id, b->id);
}

static void escape(finder *f, const ir_value *value) {
    if (is_pointer(f, value))
        qn__points_to_join(f->sets, value->id, qn__points_to_escaped(f->sets, (ir_space)value->type.space));
}

static void join_receivers(finder *f, const ir_instr *instr) {
    const ir_receivers to = qn__ir_receivers(instr);
    for (uint32_t i = 0; i < to.count; i++) join(f, to.values[i], instr->operands[i]);
}

static void visit(ir_instr *instr, void *user) {
    finder *f = user;
    const ir_value *result = instr->num_results ? instr->results[0] : NULL;
    ir_value *const *with = instr->operands;
    switch (instr->op) {
    case IR_PTR_ADD: join(f, result, with[0]); break;
    case IR_SELECT:
        join(f, result, with[1]);
        join(f, result, with[2]);
        break;
    case IR_EQ:
    case IR_NE:
        if (f->compares) join(f, with[0], with[1]);
        break;
    case IR_LOAD:
    case IR_INT2PTR: escape(f, result); break;
    case IR_PTR2INT: escape(f, with[0]); break;
    case IR_STORE: escape(f, with[1]); break;
    case IR_LOOP:
    case IR_CONTINUE:
    case IR_BREAK:
    case IR_YIELD: join_receivers(f, instr); break;
    default: break;
    }
}

qn__points_to qn__points_to_find(qn__arena *arena, const ir_function *kernel, uint32_t spaces, uint32_t more,
                                 bool compares) {
    qn__points_to sets = {.num_values = kernel->num_values,
                          .count = kernel->num_values + IR_SPACE_COUNT + more};
    sets.parent = QN__NEW_ARRAY(arena, uint32_t, sets.count);
    for (uint32_t i = 0; i < sets.count; i++) sets.parent[i] = i;
    finder f = {&sets, spaces, compares};
    qn__ir_walk(kernel->body, visit, &f);
    return sets;
}
