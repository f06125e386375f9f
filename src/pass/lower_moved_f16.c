/* For targets that keep f16 as f32: halves that nothing computes with are moved as i16. A conversion and back would
   make a signalling NaN a quiet one.

       %h = load %p  (f16)     ->     %h = load %p  (i16)
       store %q, %h                   store %q, %h

   Values that are handed on to one another are one class (Tarjan's union-find); a class in which any value is computed,
   or computed with, stays as it is. */
#include "pass/tools.h"

typedef struct lowering {
    ir_function *function;
    uint32_t *parent; /* by value id */
    bool *computed;   /* by root */
    bool changed;
} lowering;

static bool is_half(const ir_value *value) { return value->type.kind == IR_F16; }

/* Constants are copied for each use. */
static bool is_free(const ir_value *value) {
    return value->value_kind == IR_VALUE_CONST || value->value_kind == IR_VALUE_UNDEF;
}

static uint32_t root(const lowering *l, uint32_t id) {
    while (l->parent[id] != id) id = l->parent[id] = l->parent[l->parent[id]];
    return id;
}

static void join(lowering *l, const ir_value *a, const ir_value *b) {
    if (!is_half(a) || !is_half(b) || is_free(a) || is_free(b)) return;
    uint32_t one = root(l, a->id), other = root(l, b->id);
    l->parent[one] = other;
    l->computed[other] |= l->computed[one];
}

static void mark_computed(lowering *l, const ir_value *value) {
    if (is_half(value) && !is_free(value)) l->computed[root(l, value->id)] = true;
}

/* ---- the classes ---- */

static bool moves(const ir_instr *i) {
    switch (i->op) {
    case IR_LOAD:
    case IR_STORE:
    case IR_SELECT:
    case IR_VECTOR:
    case IR_SPLAT:
    case IR_EXTRACT:
    case IR_EXTRACT_DYNAMIC:
    case IR_INSERT:
    case IR_SHUFFLE:
    case IR_BITCAST:
    case IR_IF:
    case IR_LOOP:
    case IR_BLOCK:
    case IR_YIELD:
    case IR_BREAK:
    case IR_CONTINUE: return true;
    default: return false;
    }
}

static void classify(ir_instr *i, void *user) {
    lowering *l = user;
    ir_value *const *to = qn__ir_receivers(i).values;
    const bool computes = !moves(i);
    for (uint32_t n = 0; n < i->num_operands; n++) {
        if (computes) mark_computed(l, i->operands[n]);
        if (to) join(l, i->operands[n], to[n]);
        if (!to && i->num_results && i->op != IR_BITCAST) join(l, i->operands[n], i->results[0]);
    }
    for (uint32_t n = 0; n < i->num_results && computes; n++) mark_computed(l, i->results[n]);
}

/* ---- what becomes of them ---- */

static bool is_moved(const lowering *l, const ir_value *value) {
    return is_half(value) && !is_free(value) && !l->computed[root(l, value->id)];
}

/* A constant that joins a class takes its type. */
static ir_value *as_bits(lowering *l, const ir_value *value) {
    const ir_type type = qn__ir_type(IR_I16, value->type.lanes);
    if (value->value_kind == IR_VALUE_UNDEF) return qn__ir_undef(l->function, type);
    return qn__ir_const(l->function, type, value->bits);
}

static bool takes_moved(const lowering *l, const ir_instr *i, uint32_t n, ir_value *const *to) {
    if (to) return is_moved(l, to[n]);
    return i->op != IR_BITCAST && moves(i) && i->num_results && is_moved(l, i->results[0]);
}

static void retype_constants(ir_instr *i, void *user) {
    lowering *l = user;
    ir_value *const *to = qn__ir_receivers(i).values;
    for (uint32_t n = 0; n < i->num_operands; n++)
        if (is_half(i->operands[n]) && is_free(i->operands[n]) && takes_moved(l, i, n, to))
            i->operands[n] = as_bits(l, i->operands[n]);
}

static void retype(lowering *l, ir_value *value) {
    if (!is_moved(l, value)) return;
    value->type.kind = IR_I16;
    l->changed = true;
}

static void retype_values(ir_instr *i, void *user) {
    for (uint32_t n = 0; n < i->num_results; n++) retype(user, i->results[n]);
    for (unsigned r = 0; r < i->num_regions; r++)
        for (uint32_t n = 0; n < i->regions[r]->num_params; n++) retype(user, i->regions[r]->params[n]);
}

bool qn__pass_lower_moved_f16(qn__pass_context *context) {
    ir_function *function = context->function;
    const uint32_t count = function->num_values;
    if (!qn__has_kind(function, IR_F16)) return false;
    lowering l = {.function = function,
                  .parent = QN__NEW_ARRAY(context->scratch, uint32_t, count + 1),
                  .computed = QN__NEW_ARRAY(context->scratch, bool, count + 1)};
    for (uint32_t i = 0; i < count; i++) l.parent[i] = i;
    for (size_t i = 0; i < function->args.len; i++) mark_computed(&l, function->args.data[i].value);
    qn__ir_walk(function->body, classify, &l);
    qn__ir_walk(function->body, retype_constants, &l);
    qn__ir_walk(function->body, retype_values, &l);
    return l.changed;
}
