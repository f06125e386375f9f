/* Loops that test at their end, for targets that want them (PTX): a loop whose body begins with the test that
   leaves it is entered only where the test holds, and tests again before it goes round. One branch a turn
   instead of two, no copies of what it carries where it ends, and what stands in the body is sure to run, so
   that more can move out of it.

       loop (%i = %a) {                           if slt %a, %n {
         if slt %i, %n {} else { break %i }         loop (%i = %a) {
         body; continue %j }               ->         body; if slt %j, %n {} else { break %j }
                                                      continue %j }
                                                  } else { yield %a } */
#include "pass/tools.h"

enum { MAX_HEAD = 8 };

typedef struct rotator {
    qn__pass_context *context;
    ir_function *function;
    qn__rewrite rewrite;
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

/* Copies the head to the builder's place, where the loop's parameters are `params`. */
static test copy_test(rotator *r, ir_builder *b, const ir_instr *loop, const ir_instr *head,
                      ir_value *const *params) {
    copies c = {.loop = loop, .params = params};
    for (const ir_instr *i = loop->regions[0]->first; i != head; i = i->next) {
        ir_value *operands[16];
        for (uint32_t n = 0; n < i->num_operands; n++) operands[n] = mapped(&c, i->operands[n]);
        ir_instr *copy = qn__ir_emit(b, (ir_op)i->op, operands, i->num_operands, &i->results[0]->type, 1);
        copy->flags = i->flags;
        copy->attr = i->attr;
        ir_value *folded = qn__ir_fold(r->function, copy);
        c.from[c.count] = i->results[0];
        c.to[c.count++] = folded ? folded : copy->results[0];
    }
    test t = {.leaves_on = is_jump_alone(head->regions[0], IR_BREAK)};
    const ir_instr *out = head->regions[t.leaves_on ? 0 : 1]->last;
    t.condition = mapped(&c, head->operands[0]);
    t.values = QN__NEW_ARRAY(r->context->scratch, ir_value *, out->num_operands + 1u);
    for (uint32_t n = 0; n < out->num_operands; n++) t.values[n] = mapped(&c, out->operands[n]);
    return t;
}

/* ---- rotating ---- */

static void test_at_end(rotator *r, ir_instr *loop, const ir_instr *head) {
    ir_instr *round = loop->regions[0]->last;
    ir_builder b = {.function = r->function};
    qn__ir_at(&b, round);
    const test t = copy_test(r, &b, loop, head, round->operands);
    b.loc = head->loc;
    ir_instr *made = qn__ir_if(&b, t.condition, NULL, 0);
    qn__ir_at_end(&b, made->regions[t.leaves_on ? 1 : 0]);
    qn__ir_yield(&b, NULL, 0);
    qn__ir_at_end(&b, made->regions[t.leaves_on ? 0 : 1]);
    qn__ir_break(&b, loop, t.values, loop->num_results);
}

/* The loop inside an `if` that asks whether to enter it, unless that is known. */
static void guard(rotator *r, ir_instr *loop, const ir_instr *head) {
    ir_builder b = {.function = r->function};
    qn__ir_at(&b, loop);
    const test t = copy_test(r, &b, loop, head, loop->operands);
    if (qn__ir_is_const(t.condition) && (t.condition->bits[0] != 0) != t.leaves_on) return;
    ir_type *types = QN__NEW_ARRAY(r->context->scratch, ir_type, loop->num_results + 1u);
    for (uint32_t n = 0; n < loop->num_results; n++) types[n] = loop->results[n]->type;
    ir_instr *made = qn__ir_if(&b, t.condition, types, loop->num_results);
    for (uint32_t n = 0; n < loop->num_results; n++) made->results[n]->name = loop->results[n]->name;
    qn__rewrite_results(&r->rewrite, loop, made->results);
    qn__ir_at_end(&b, made->regions[t.leaves_on ? 0 : 1]);
    qn__ir_yield(&b, t.values, loop->num_results);
    qn__ir_at_end(&b, made->regions[t.leaves_on ? 1 : 0]);
    ir_instr *yield = qn__ir_yield(&b, loop->results, loop->num_results);
    qn__ir_unlink(loop);
    qn__ir_insert_before(loop, yield);
}

static void rotate(rotator *r, ir_instr *loop) {
    ir_region *body = loop->regions[0];
    ir_instr *head = head_test(loop);
    if (!head || body->last->op != IR_CONTINUE || body->last->attr.target != loop ||
        count_continues(body, loop) != 1)
        return;
    test_at_end(r, loop, head);
    guard(r, loop, head);
    qn__ir_unlink(head);
    r->changed = true;
}

static void visit(rotator *r, ir_region *region) {
    for (ir_instr *i = region->first, *next; i; i = next) {
        next = i->next;
        qn__rewrite_operands(&r->rewrite, i);
        for (uint32_t n = 0; n < i->num_regions; n++) visit(r, i->regions[n]);
        if (i->op == IR_LOOP) rotate(r, i);
    }
}

bool qn__pass_rotate(qn__pass_context *context) {
    rotator r = {.context = context, .function = context->function};
    qn__rewrite_init(&r.rewrite, context->scratch, context->function);
    visit(&r, context->function->body);
    return r.changed;
}
