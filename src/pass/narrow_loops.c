/* Counters of 64 bits that stay below 2^32 count in a word, where 64 bits are two: a loop has one comparison then and no
   carry, so that a compiler knows how often it goes round.

       loop (%i: i64 = %0) {                       loop (%j: i32 = trunc %0) {
         if ult %i, %n { yield } else { break }      %i = zext %j
         ...                                  ->     if ult %i, %n { yield } else { break }
         continue (add %i, %step) }                  ...
                                                     continue (trunc (add %i, %step)) }

   The limit and the steps are below 2^31, as sizes and ids of work-groups are, and the loop is left at its head where the
   counter has reached the limit: what comes next is below 2^32. Doubling counts as a step; a counter that only halves needs no
   limit. simplify makes the rest of it. */
#include "pass/tools.h"

static const ir_type I32 = {IR_I32, 1, 0}, I64 = {IR_I64, 1, 0};

typedef struct narrower {
    ir_builder builder;
    qn__rewrite rewrite;
    bool changed;
} narrower;

static const ir_instr *definition(const ir_value *value) {
    return value->value_kind == IR_VALUE_RESULT ? value->def : NULL;
}

/* Below 2^31; or with `whole` below 2^32. */
static bool is_small(const ir_value *value, bool whole) {
    if (qn__ir_is_const(value)) return value->bits[0] < (uint64_t)1 << (whole ? 32 : 31);
    const ir_instr *def = definition(value);
    if (!def) return false;
    if (qn__ir_effects(def) == IR_EFFECT_QUERY) return qn__ir_has(def->op, IR_SMALL);
    if (def->op == IR_LSHR) return is_small(def->operands[0], whole);
    if (def->op != IR_ZEXT || def->operands[0]->type.kind != IR_I32) return false;
    return whole || qn__is_non_negative(def->operands[0]);
}

/* The test at the head, which leaves the loop: no loop is left, or gone round, before it. */
static const ir_instr *head_test(const ir_instr *loop) {
    const ir_instr *i = loop->regions[0]->first;
    while (i && !i->num_regions && !qn__ir_is_jump(i)) i = i->next;
    if (!i || i->op != IR_IF || i->num_results || i->regions[0]->first->op != IR_YIELD) return NULL;
    const ir_instr *leave = i->regions[1]->first;
    return leave->op == IR_BREAK && leave->attr.target == loop ? definition(i->operands[0]) : NULL;
}

typedef struct counter {
    const ir_instr *loop;
    const ir_value *value;
    uint32_t index;
    bool is_limited, is_narrow;
} counter;

static void look_at(ir_instr *i, void *user) {
    counter *c = user;
    if (i->op != IR_CONTINUE || i->attr.target != c->loop || i->operands[c->index] == c->value) return;
    const ir_instr *next = definition(i->operands[c->index]);
    const bool adds = next && next->op == IR_ADD, doubles = next && next->op == IR_SHL;
    const uint32_t own = adds && next->operands[1] == c->value; /* its place */
    const bool steps = (adds || doubles) && next->operands[own] == c->value;
    const ir_value *step = steps ? next->operands[1 - own] : NULL;
    const bool is_one = doubles && qn__ir_is_const(next->operands[1]) && next->operands[1]->bits[0] == 1;
    const bool halves = next && next->op == IR_LSHR && next->operands[0] == c->value;
    c->is_narrow &= halves || (c->is_limited && step && (adds ? is_small(step, false) : is_one));
}

typedef struct rounds {
    narrower *n;
    const ir_instr *loop;
    uint32_t index;
} rounds;

static void extend(ir_instr *i, void *user) {
    const rounds *r = user;
    if (i->op != IR_CONTINUE || i->attr.target != r->loop) return;
    qn__ir_at(&r->n->builder, i);
    ir_value *next = qn__ir_convert(&r->n->builder, IR_TRUNC, i->operands[r->index], I32);
    qn__operands_extend(r->n->builder.function, i, &next, 1);
}

static void narrow(narrower *n, ir_instr *loop, uint32_t index) {
    ir_region *body = loop->regions[0];
    ir_value *old = body->params[index], *init = loop->operands[index];
    qn__ir_at(&n->builder, loop);
    ir_value *first = qn__ir_is_const(init) ? qn__ir_const_splat(n->builder.function, I32, init->bits[0])
                                            : qn__ir_convert(&n->builder, IR_TRUNC, init, I32);
    qn__ir_walk(body, extend, &(rounds){n, loop, index});
    qn__params_extend(n->builder.function, loop, &first, &old->name, 1);
    qn__ir_at(&n->builder, body->first);
    qn__rewrite_set(&n->rewrite, old,
                    qn__ir_convert(&n->builder, IR_ZEXT, body->params[body->num_params - 1], I64));
    n->changed = true;
}

static void look_into(narrower *n, ir_instr *loop) {
    const ir_instr *test = head_test(loop);
    if (!test || !test->num_operands) return;
    const bool has_limit = test->op == IR_ULT && is_small(test->operands[1], false);
    ir_region *body = loop->regions[0];
    for (uint32_t i = 0; i < body->num_params; i++) {
        counter c = {loop, body->params[i], i, has_limit, true};
        if (test->operands[0] != c.value || !qn__ir_same(c.value->type, I64)) continue;
        if (!is_small(loop->operands[i], true)) return;
        qn__ir_walk(body, look_at, &c);
        if (c.is_narrow) narrow(n, loop, i);
        return;
    }
}

static void visit(narrower *n, ir_region *region) {
    for (ir_instr *i = region->first; i; i = i->next) {
        for (uint32_t r = 0; r < i->num_regions; r++) visit(n, i->regions[r]);
        if (i->op == IR_LOOP) look_into(n, i);
    }
}

static void rewrite_operands(ir_instr *i, void *user) { qn__rewrite_operands(user, i); }

bool qn__pass_narrow_loops(qn__pass_context *context) {
    ir_function *function = context->function;
    narrower n = {.builder = {.function = function}};
    if (!function->has[IR_LOOP] || !qn__has_kind(function, IR_I64)) return false;
    visit(&n, function->body);
    if (n.changed) qn__ir_walk(function->body, rewrite_operands, &n.rewrite);
    return n.changed;
}
