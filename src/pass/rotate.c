/* Loops that test at their end, for targets that want them (PTX; SPIR-V for large loops): a loop whose body begins with the test that
   leaves it is entered only where the test holds, and tests again before it goes round. One branch an iteration
   instead of two, no copies of what it carries where it ends, and what stands in the body is sure to run, so
   that more can move out of it.

       loop (%i = %a) {                           if slt %a, %n {
         if slt %i, %n {} else { break %i }         loop (%i = %a) {
         body; continue %j }               ->         body; if slt %j, %n {} else { break %j }
                                                      continue %j }
                                                  } else { yield %a } */
#include "pass/tools.h"

/* NVIDIA's compiler for Vulkan rotates loops of a few hundred instructions itself, some of them better. A matrix
   product's loop of a thousand, whose sums stay in registers, takes it a third longer unless it is rotated here. */
enum { MAX_HEAD = 8, MAX_SMALL = 256 };

/* A head's value, and the parameter that it becomes. */
typedef struct carried {
    const ir_value *from;
    ir_value *to;
    struct carried *next;
} carried;

typedef struct rotator {
    qn__pass_context *context;
    ir_function *function;
    carried *carried; /* the last one */
    bool changed;
} rotator;

/* ---- finding ---- */

static bool is_jump_alone(const ir_region *region, ir_op op) {
    return region->first == region->last && region->last->op == op;
}

/* The test at the head of the body: nothing but pure computation before it, one side goes on, the other leaves. */
static ir_instr *head_test(const ir_instr *loop) {
    unsigned count = 0;
    for (ir_instr *i = loop->regions[0]->first; i; i = i->next) {
        if (i->op == IR_IF) {
            const unsigned leaves = is_jump_alone(i->regions[0], IR_BREAK) ? 0 : 1;
            const ir_region *out = i->regions[leaves];
            const bool fits = !i->num_results && is_jump_alone(out, IR_BREAK) &&
                              out->last->attr.target == loop &&
                              is_jump_alone(i->regions[1 - leaves], IR_YIELD);
            return fits ? i : NULL;
        }
        const ir_effects effects = qn__effects(i);
        const bool pure = effects == IR_EFFECT_PURE || effects == IR_EFFECT_QUERY;
        if (!pure || i->num_results != 1 || ++count > MAX_HEAD) return NULL;
    }
    return NULL;
}

static uint32_t count_continues(const ir_region *region, const ir_instr *loop) {
    uint32_t count = 0;
    for (const ir_instr *i = region->first; i; i = i->next) {
        count += i->op == IR_CONTINUE && i->attr.target == loop;
        for (uint32_t r = 0; r < i->num_regions; r++) count += count_continues(i->regions[r], loop);
    }
    return count;
}

/* ---- the test in another place ---- */

typedef struct test {
    ir_value *condition, **values; /* values: what the break gives */
    bool leaves_on;                /* the condition's value that leaves */
} test;

/* The head's values and what they are in the copy. */
typedef struct copies {
    const ir_instr *loop;
    ir_value *const *params; /* what the loop's parameters are */
    const ir_value *from[MAX_HEAD];
    ir_value *to[MAX_HEAD];
    unsigned count;
} copies;

static ir_value *mapped(const copies *c, ir_value *value) {
    if (value->value_kind == IR_VALUE_PARAM && value->def == c->loop) return c->params[value->index];
    for (unsigned n = 0; n < c->count; n++)
        if (c->from[n] == value) return c->to[n];
    return value;
}

/* Copies the head to the builder's place, where the loop's parameters are those of `c`. */
static test copy_test(rotator *r, ir_builder *b, const ir_instr *loop, const ir_instr *head, copies *c) {
    for (const ir_instr *i = loop->regions[0]->first; i != head; i = i->next) {
        ir_value *operands[16];
        for (uint32_t n = 0; n < i->num_operands; n++) operands[n] = mapped(c, i->operands[n]);
        ir_instr *copy = qn__ir_emit(b, (ir_op)i->op, operands, i->num_operands, &i->results[0]->type, 1);
        copy->flags = i->flags;
        copy->attr = i->attr;
        ir_value *folded = qn__ir_fold(r->function, copy);
        c->from[c->count] = i->results[0];
        c->to[c->count++] = folded ? folded : copy->results[0];
    }
    test t = {.leaves_on = is_jump_alone(head->regions[0], IR_BREAK)};
    const ir_instr *out = head->regions[t.leaves_on ? 0 : 1]->last;
    t.condition = mapped(c, head->operands[0]);
    t.values = QN__NEW_ARRAY(r->context->scratch, ir_value *, out->num_operands + 1u);
    for (uint32_t n = 0; n < out->num_operands; n++) t.values[n] = mapped(c, out->operands[n]);
    return t;
}

/* ---- rotating ---- */

static void test_at_end(rotator *r, ir_instr *loop, const ir_instr *head, copies *c) {
    ir_instr *round = loop->regions[0]->last;
    ir_builder b = {.function = r->function};
    qn__ir_at(&b, round);
    c->params = round->operands;
    const test t = copy_test(r, &b, loop, head, c);
    b.loc = head->loc;
    ir_instr *made = qn__ir_if(&b, t.condition, NULL, 0);
    qn__ir_at_end(&b, made->regions[t.leaves_on ? 1 : 0]);
    qn__ir_yield(&b, NULL, 0);
    qn__ir_at_end(&b, made->regions[t.leaves_on ? 0 : 1]);
    qn__ir_break(&b, loop, t.values, loop->num_results);
}

/* The loop inside an `if` that asks whether to enter it, unless that is known. */
static void guard(rotator *r, ir_instr *loop, const ir_instr *head, copies *c) {
    ir_builder b = {.function = r->function};
    qn__ir_at(&b, loop);
    c->params = loop->operands;
    const test t = copy_test(r, &b, loop, head, c);
    if (qn__ir_is_const(t.condition) && (t.condition->bits[0] != 0) != t.leaves_on) return;
    ir_type *types = QN__NEW_ARRAY(r->context->scratch, ir_type, loop->num_results + 1u);
    for (uint32_t n = 0; n < loop->num_results; n++) types[n] = loop->results[n]->type;
    ir_instr *made = qn__ir_if(&b, t.condition, types, loop->num_results);
    for (uint32_t n = 0; n < loop->num_results; n++) made->results[n]->name = loop->results[n]->name;
    qn__results_swap(loop, made); /* what follows uses those of the `if` */
    qn__ir_at_end(&b, made->regions[t.leaves_on ? 0 : 1]);
    qn__ir_yield(&b, t.values, loop->num_results);
    qn__ir_at_end(&b, made->regions[t.leaves_on ? 1 : 0]);
    ir_instr *yield = qn__ir_yield(&b, loop->results, loop->num_results);
    qn__ir_unlink(loop);
    qn__ir_insert_before(loop, yield);
}

static bool uses(const ir_instr *first, const ir_value *value) {
    for (const ir_instr *i = first; i; i = i->next) {
        for (uint32_t n = 0; n < i->num_operands; n++)
            if (i->operands[n] == value) return true;
        for (uint32_t n = 0; n < i->num_regions; n++)
            if (uses(i->regions[n]->first, value)) return true;
    }
    return false;
}

/* What the head computes of floats and the body wants, too, was computed by the test before: it becomes a
   parameter of the loop. (Integers are steps and addresses, which are cheaper computed again.) */
static void carry(rotator *r, ir_instr *loop, ir_instr *round, const ir_instr *body, const copies *start,
                  const copies *end) {
    for (unsigned n = 0; n < start->count; n++) {
        const ir_value *value = start->from[n];
        if (!qn__ir_is_float(value->type) || !uses(body, value)) continue;
        qn__params_extend(r->function, loop, &start->to[n], &value->name, 1);
        qn__operands_extend(r->function, round, &end->to[n], 1);
        const ir_region *region = loop->regions[0];
        carried *one = QN__NEW(r->context->scratch, carried);
        *one = (carried){value, region->params[region->num_params - 1], r->carried};
        r->carried = one;
    }
}

/* Whether a region has more than *room instructions, which it is less by them. */
static bool exceeds(const ir_region *region, uint32_t *room) {
    for (const ir_instr *i = region->first; i; i = i->next) {
        if (!*room) return true;
        --*room;
        for (uint32_t n = 0; n < i->num_regions; n++)
            if (exceeds(i->regions[n], room)) return true;
    }
    return false;
}

static bool is_wanted(const rotator *r, const ir_instr *loop) {
    const qn__target *target = &r->context->options->target;
    uint32_t room = MAX_SMALL;
    return target->wants_end_tests || !target->wants_large_end_tests || exceeds(loop->regions[0], &room);
}

static void rotate(rotator *r, ir_instr *loop) {
    ir_region *body = loop->regions[0];
    ir_instr *head = head_test(loop);
    if (!head || body->last->op != IR_CONTINUE || body->last->attr.target != loop ||
        count_continues(body, loop) != 1)
        return;
    ir_instr *round = body->last;
    copies start = {.loop = loop}, end = {.loop = loop};
    const ir_instr *rest = head->next;
    test_at_end(r, loop, head, &end);
    guard(r, loop, head, &start);
    carry(r, loop, round, rest, &start, &end);
    qn__ir_unlink(head);
    r->changed = true;
}

static void visit(rotator *r, ir_region *region) {
    for (ir_instr *i = region->first, *next; i; i = next) {
        next = i->next;
        if (!i->num_regions) continue;
        for (uint32_t n = 0; n < i->num_regions; n++) visit(r, i->regions[n]);
        if (i->op == IR_LOOP && is_wanted(r, i)) rotate(r, i);
    }
}

static void replace_carried(const rotator *r) {
    ir_value **map = QN__NEW_ARRAY(r->context->scratch, ir_value *, r->function->num_values);
    for (const carried *one = r->carried; one; one = one->next) map[one->from->id] = one->to;
    qn__ir_replace(r->function, map);
}

bool qn__pass_rotate(qn__pass_context *context) {
    rotator r = {.context = context, .function = context->function};
    if (!r.function->has[IR_LOOP]) return false;
    visit(&r, r.function->body);
    if (r.carried) replace_carried(&r);
    return r.changed;
}
