/* Which __constant pointers are to the program's own objects. OpenCL C 1.2 tells __constant and __global apart
   for good, and drivers limit what may be passed as __constant (often 64 KB), while quern does not: so a
   __constant argument is passed as a __global one unless its pointers meet with pointers to objects. Sets of
   pointers that meet are found by union-find (Steensgaard's analysis, in one space); pointers that go through
   memory or integers are one set. */
#include "emit/clc/internal.h"

static uint32_t find(const clc_emitter *e, uint32_t id) {
    uint32_t *parent = e->space_parent;
    while (parent[id] != id) id = parent[id] = parent[parent[id]];
    return id;
}

static void join_ids(clc_emitter *e, uint32_t a, uint32_t b) {
    a = find(e, a);
    b = find(e, b);
    if (a == b) return;
    e->space_parent[b] = a;
    e->space_is_object[a] |= e->space_is_object[b];
}

static bool is_constant(const ir_value *value) {
    return value->type.kind == IR_PTR && value->type.space == IR_CONSTANT_SPACE;
}

/* Literals are spelled as what they meet. */
static void join(clc_emitter *e, const ir_value *a, const ir_value *b) {
    if (!is_constant(a) || a->value_kind > IR_VALUE_ARG || b->value_kind > IR_VALUE_ARG) return;
    join_ids(e, a->id, b->id);
}

static void join_memory(clc_emitter *e, const ir_value *value) {
    if (is_constant(value) && value->value_kind <= IR_VALUE_ARG)
        join_ids(e, value->id, e->kernel->num_values);
}

static void join_receivers(clc_emitter *e, const ir_instr *instr) {
    const ir_receivers to = qn__ir_receivers(instr);
    for (uint32_t i = 0; i < to.count; i++) join(e, to.values[i], instr->operands[i]);
}

static void visit(ir_instr *instr, void *user) {
    clc_emitter *e = user;
    const ir_value *result = instr->num_results ? instr->results[0] : NULL;
    switch (instr->op) {
    case IR_GLOBAL:
        e->space_is_object[find(e, result->id)] = true;
        if (e->module->globals.data[instr->attr.index].relocations.len)
            e->space_is_object[find(e, e->kernel->num_values)] = true;
        break;
    case IR_PTR_ADD: join(e, result, instr->operands[0]); break;
    case IR_SELECT:
        join(e, result, instr->operands[1]);
        join(e, result, instr->operands[2]);
        join(e, instr->operands[1], instr->operands[2]);
        break;
    case IR_EQ:
    case IR_NE: join(e, instr->operands[0], instr->operands[1]); break;
    case IR_LOAD:
    case IR_INT2PTR: join_memory(e, result); break;
    case IR_STORE: join_memory(e, instr->operands[1]); break;
    case IR_PTR2INT: join_memory(e, instr->operands[0]); break;
    case IR_LOOP:
    case IR_YIELD:
    case IR_BREAK:
    case IR_CONTINUE: join_receivers(e, instr); break;
    default: break;
    }
}

void qn__clc_find_spaces(clc_emitter *e) {
    uint32_t count = e->kernel->num_values;
    e->space_parent = QN__NEW_ARRAY(e->arena, uint32_t, (size_t)count + 1);
    e->space_is_object = QN__NEW_ARRAY(e->arena, bool, (size_t)count + 1);
    for (uint32_t i = 0; i <= count; i++) e->space_parent[i] = i;
    qn__ir_walk(e->kernel->body, visit, e);
}

bool qn__clc_is_object(const clc_emitter *e, const ir_value *pointer) {
    return pointer->value_kind <= IR_VALUE_ARG && e->space_is_object[find(e, pointer->id)];
}
