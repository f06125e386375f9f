/* Loops that count up to a bound known before them go four iterations at once while four are left, then on as they
   were: the loads of four iterations are under way together, and one test serves them all. For targets and devices that
   ask for it (GPUs), whose compilers do the same only for plainer loops.

       loop (%i = %a) {                       %m = loop (%i = %a) {
         if slt %i, %n {} else { break }        if slt %i, max(%n, min+3) - 3 {} else { break %i }
         body(%i)                       ->      body(%i); body(%i + 1); body(%i + 2); body(%i + 3)
         continue %i + 1 }                      continue %i + 4 }
                                              loop (%i = %m) { as before }

   Where the iterations are known to be a multiple of four, nothing is left for the second loop, and it goes. The copies'
   counters are known not to overflow, which lets addresses share a base. What counts up to the group's size is left to a compiler that
   knows it, and so how often the loop goes round. */
#include "pass/tools.h"

/* Larger bodies are left to compilers that unroll them: those behind PTX and SPIR-V do, NVIDIA's for OpenCL does not. */
enum { COPIES = 4, MAX_BODY = 48, MAX_LARGE_BODY = 80, MAX_STEP = 1 << 20 };

typedef struct counted {
    ir_instr *loop, *head, *round; /* head: the `if` that leaves it; round: the continue */
    ir_value *bound;
    uint32_t counter; /* which parameter */
    uint64_t step;
    ir_op test;      /* IR_SLT, IR_ULT: counter < bound goes on */
    bool inclusive;  /* and so does the bound itself */
    uint32_t room;   /* instructions that the body may have */
    bool convergent; /* work-items act together in it */
} counted;

typedef struct unroller {
    qn__pass_context *context;
    ir_function *function;
    qn__rewrite rewrite;
    bool *varying; /* by value id, of the first num_values; NULL: nobody has asked yet */
    uint32_t num_values;
    bool changed;
} unroller;

/* ---- finding ---- */

/* Nothing jumps to the loop or past it but `head` and the closing continue, there is no loop inside, and it is small; a
   vector counts as its lanes. */
static bool is_plain(counted *c, const ir_region *region) {
    for (const ir_instr *i = region->first; i; i = i->next) {
        const uint32_t size = i->num_results ? i->results[0]->type.lanes : 1;
        if (size > c->room || i->op == IR_LOOP || i->op == IR_BLOCK || i->op == IR_RETURN) return false;
        if ((i->op == IR_BREAK || i->op == IR_CONTINUE) && i != c->round && i->parent->owner != c->head)
            return false;
        c->room -= size;
        c->convergent |= qn__ir_is_together((ir_op)i->op);
        for (uint32_t r = 0; r < i->num_regions; r++)
            if (!is_plain(c, i->regions[r])) return false;
    }
    return true;
}

static bool is_jump_alone(const ir_region *region, ir_op op) {
    return region->first == region->last && region->last->op == op;
}

/* `if test {} else { break }` of the loop, behind nothing but pure computation. */
static bool find_head(counted *c) {
    ir_instr *i = c->loop->regions[0]->first;
    while (i && qn__effects(i) == IR_EFFECT_PURE && i->num_results == 1) i = i->next;
    if (!i || i->op != IR_IF || i->num_results || !is_jump_alone(i->regions[0], IR_YIELD) ||
        !is_jump_alone(i->regions[1], IR_BREAK) || i->regions[1]->last->attr.target != c->loop)
        return false;
    c->head = i;
    return true;
}

/* The group's size in some dimensions, each once: 4,096 at most. */
static bool is_group_size(const ir_value *value, unsigned *dims) {
    if (value->value_kind != IR_VALUE_RESULT) return false;
    const ir_instr *def = value->def;
    switch (def->op) {
    case IR_LOCAL_SIZE: {
        const unsigned dim = 1u << def->attr.dim;
        const bool is_new = !(*dims & dim);
        *dims |= dim;
        return is_new;
    }
    case IR_ZEXT:
    case IR_TRUNC: return qn__ir_bits(value->type) >= 32 && is_group_size(def->operands[0], dims);
    case IR_MUL: return is_group_size(def->operands[0], dims) && is_group_size(def->operands[1], dims);
    default: return false;
    }
}

static bool find_counter(const unroller *u, counted *c) {
    const ir_value *test = c->head->operands[0];
    c->inclusive = qn__defined_by(test, IR_SLE) || qn__defined_by(test, IR_ULE);
    /* ptxas unrolls these itself, the rest as well: a blur is 8 % faster by that */
    if (c->inclusive && u->context->options->target.wants_end_tests) return false;
    if (!c->inclusive && !qn__defined_by(test, IR_SLT) && !qn__defined_by(test, IR_ULT)) return false;
    const ir_value *counter = test->def->operands[0];
    c->test = test->def->op == IR_SLT || test->def->op == IR_SLE ? IR_SLT : IR_ULT;
    c->bound = test->def->operands[1];
    if (counter->value_kind != IR_VALUE_PARAM || counter->def != c->loop ||
        !qn__is_visible(c->bound, c->loop) || !qn__ir_is_int(counter->type) || counter->type.lanes != 1 ||
        qn__ir_bits(counter->type) < 32)
        return false;
    c->counter = counter->index;
    const ir_value *next = c->round->operands[c->counter];
    if (!qn__defined_by(next, IR_ADD) || next->def->operands[0] != counter ||
        !qn__ir_is_const(next->def->operands[1]))
        return false;
    c->step = next->def->operands[1]->bits[0];
    return c->step > 0 && c->step <= MAX_STEP;
}

/* Whether work-items may go round a different number of times: for some, most iterations are those that are left over.
   NVIDIA's compiler for OpenCL does less badly then by itself (a product with a sparse matrix: 12 %). Where work-items
   act together in the loop, those that were in one iteration would be in different loops. */
static bool is_uneven(unroller *u, const counted *c) {
    if (!c->convergent && !(u->context->options->target.wants_even_unrolled)) return false;
    if (!u->varying) { /* nothing has been changed yet */
        u->num_values = u->function->num_values;
        u->varying = qn__uniformity_analyse(u->context->scratch, u->function).varying;
    }
    const ir_value *ends[] = {c->loop->operands[c->counter], c->bound};
    for (size_t i = 0; i < QN__COUNT(ends); i++)
        if (!qn__ir_is_const(ends[i]) && (ends[i]->id >= u->num_values || u->varying[ends[i]->id]))
            return true; /* what this pass has made it knows nothing of */
    return false;
}

static bool is_settled(const unroller *u, const counted *c) {
    unsigned dims = 0;
    return u->context->options->target.has_group_size && qn__ir_is_const(c->loop->operands[c->counter]) &&
           is_group_size(c->bound, &dims);
}

static bool find(unroller *u, counted *c) {
    ir_region *body = c->loop->regions[0];
    c->room = u->context->options->target.wants_large_unrolled ? MAX_LARGE_BODY : MAX_BODY;
    c->round = body->last;
    return !c->loop->attr.unroll && c->round->op == IR_CONTINUE && c->round->attr.target == c->loop &&
           find_head(c) && find_counter(u, c) && !is_settled(u, c) && is_plain(c, body) && !is_uneven(u, c);
}

/* ---- copying ---- */

/* Clones first..last of the body, which hides the rest for the time. */
static void clone_range(ir_builder *b, ir_region *body, ir_instr *first, ir_instr *last, ir_value **map) {
    if (!first || !last || last->next == first) return;
    ir_instr *begin = body->first, *end = body->last, *next = last->next;
    last->next = NULL;
    body->first = first;
    body->last = last;
    qn__ir_clone_into(b, body, map);
    last->next = next;
    body->first = begin;
    body->last = end;
}

static ir_value *constant(const unroller *u, const counted *c, uint64_t bits) {
    return qn__ir_const_splat(u->function, c->bound->type, bits);
}

static ir_value *mapped(ir_value *const *map, uint32_t count, ir_value *value) {
    return value->id < count && map[value->id] ? map[value->id] : value;
}

/* Below it there are COPIES iterations to go: the bound less all steps but one, where that is no less than the least. An
   inclusive bound is one more, which it may not be able to be; so it is one less that is taken away. */
static ir_value *make_limit(unroller *u, ir_builder *b, const counted *c) {
    const uint64_t ahead = (COPIES - 1) * c->step - c->inclusive;
    const bool is_signed = c->test == IR_SLT;
    const uint64_t least = is_signed ? UINT64_C(1) << (qn__ir_bits(c->bound->type) - 1) : 0;
    ir_value *safe = qn__ir_op2(b, is_signed ? IR_SMAX : IR_UMAX, c->bound, constant(u, c, least + ahead));
    return qn__ir_op2(b, IR_SUB, safe, constant(u, c, ahead));
}

static void fill(unroller *u, ir_builder *b, const counted *c, ir_instr *wide) {
    ir_region *body = c->loop->regions[0];
    const uint32_t params = body->num_params, count = u->function->num_values;
    ir_value **map = QN__NEW_ARRAY(u->context->scratch, ir_value *, count + 1u);
    ir_value **values = QN__NEW_ARRAY(u->context->scratch, ir_value *, params + 1u);
    for (uint32_t p = 0; p < params; p++) values[p] = wide->regions[0]->params[p];
    for (uint32_t copy = 0; copy < COPIES; copy++) {
        for (uint32_t p = 0; p < params; p++) map[body->params[p]->id] = values[p];
        clone_range(b, body, body->first, c->head->prev, map);
        clone_range(b, body, c->head->next, c->round->prev, map);
        for (uint32_t p = 0; p < params; p++) values[p] = mapped(map, count, c->round->operands[p]);
        if (copy + 1 < COPIES) /* still below the bound */
            values[c->counter]->def->flags |= c->test == IR_SLT ? IR_NSW : IR_NUW;
    }
    qn__ir_continue(b, wide, values, params);
}

/* What the loop gives where `wide` has done all iterations; NULL: iterations may be left, or it gives what its head computes. */
static ir_value **results_of(const unroller *u, const counted *c, const ir_instr *wide) {
    const ir_value *start = c->loop->operands[c->counter];
    const ir_instr *leave = c->head->regions[1]->last;
    if (c->inclusive || !qn__ir_is_const(start) || !qn__ir_is_const(c->bound)) return NULL;
    const unsigned shift = 64 - qn__ir_bits(start->type);
    const uint64_t from = start->bits[0] << shift, to = c->bound->bits[0] << shift;
    const bool enters = c->test == IR_SLT ? (int64_t)from < (int64_t)to : from < to;
    if (!enters || ((to - from) >> shift) % (COPIES * c->step)) return NULL;
    ir_value **results = QN__NEW_ARRAY(u->context->scratch, ir_value *, leave->num_operands + 1u);
    for (uint32_t i = 0; i < leave->num_operands; i++) {
        ir_value *value = leave->operands[i];
        const bool carried = value->value_kind == IR_VALUE_PARAM && value->def == c->loop;
        if (!carried && !qn__is_visible(value, c->loop)) return NULL;
        results[i] = carried ? wide->results[value->index] : value;
    }
    return results;
}

static void unroll(unroller *u, const counted *c) {
    const ir_region *body = c->loop->regions[0];
    ir_builder b = {.function = u->function};
    qn__ir_at(&b, c->loop);
    ir_value *limit = make_limit(u, &b, c);
    ir_type *types = QN__NEW_ARRAY(u->context->scratch, ir_type, body->num_params + 1u);
    for (uint32_t p = 0; p < body->num_params; p++) types[p] = body->params[p]->type;
    ir_instr *wide = qn__ir_loop(&b, c->loop->operands, c->loop->num_operands, types, body->num_params);
    for (uint32_t p = 0; p < body->num_params; p++) wide->regions[0]->params[p]->name = body->params[p]->name;
    qn__ir_at_end(&b, wide->regions[0]);
    ir_value **params = wide->regions[0]->params;
    ir_value *goes_on = qn__ir_op2(&b, c->test, params[c->counter], limit);
    ir_instr *test = qn__ir_if(&b, goes_on, NULL, 0);
    qn__ir_at_end(&b, test->regions[0]);
    qn__ir_yield(&b, NULL, 0);
    qn__ir_at_end(&b, test->regions[1]);
    qn__ir_break(&b, wide, params, body->num_params);
    qn__ir_at_end(&b, wide->regions[0]);
    fill(u, &b, c, wide);
    u->changed = true;
    ir_value **results = results_of(u, c, wide);
    if (results) {
        qn__rewrite_results(&u->rewrite, c->loop, results);
        qn__ir_unlink(c->loop);
        return;
    }
    qn__ir_set_operands(u->function, c->loop, wide->results, wide->num_results);
    c->loop->attr.unroll = 1; /* at most three iterations are left */
}

static void visit(unroller *u, ir_region *region) {
    for (ir_instr *i = region->first, *next; i; i = next) {
        next = i->next;
        qn__rewrite_operands(&u->rewrite, i);
        if (!i->num_regions) continue;
        for (uint32_t r = 0; r < i->num_regions; r++) visit(u, i->regions[r]);
        counted c = {.loop = i};
        if (i->op == IR_LOOP && find(u, &c)) unroll(u, &c);
    }
}

bool qn__pass_unroll_counted(qn__pass_context *context) {
    unroller u = {.context = context, .function = context->function};
    if (!u.function->has[IR_LOOP]) return false;
    visit(&u, u.function->body);
    return u.changed;
}
