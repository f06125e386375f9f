/* What a loop stores at one place at the end of an iteration and loads there at the beginning of the next goes around
   in a value: the load would wait for the store to come back from memory. The stores stay. (Scalar replacement across
   iterations: Callahan, Carr and Kennedy, "Improving register allocation for subscripted variables", 1990.)

       loop () {                              %0 = load %p
         %a = load %p                         loop (%a = %0) {
         ...                          ->        ...
         store %p, %b                           store %p, %b
         continue () }                          continue (%b) }

   The load comes before anything in the loop that may leave it or write, so that the first iteration reads what is read
   in front of it. The store is the last thing that writes, and every way to the next iteration comes by. Where work-items
   may learn of one another in the loop (by barriers, fences, atomics, volatile accesses), nothing is done. */
#include "pass/tools.h"

typedef struct carrier {
    ir_builder builder;
    qn__rewrite rewrite;
    bool changed;
} carrier;

typedef struct search {
    const ir_instr *loop;
    ir_instr *next; /* the only continue; NULL: none, or several */
    unsigned count;
    bool has_volatile;
} search;

static void look_at(ir_instr *i, void *user) {
    search *s = user;
    s->has_volatile |= (i->flags & IR_VOLATILE) != 0;
    if (i->op != IR_CONTINUE || i->attr.target != s->loop) return;
    s->next = s->count++ ? NULL : i;
}

static uint32_t effects_of(const ir_instr *i) {
    return qn__ir_is_construct(i) ? i->mark : qn__instr_effects(i);
}

static bool is_same_place(const ir_instr *load, const ir_instr *store) {
    return load->operands[0] == store->operands[0] && load->attr.offset == store->attr.offset &&
           qn__ir_same(load->results[0]->type, store->operands[1]->type);
}

/* The last instruction of the body that writes to memory; NULL: it is within a construct, or there is none. */
static ir_instr *last_writer(const ir_region *body) {
    for (ir_instr *i = body->last; i; i = i->prev)
        if (effects_of(i) & QN__MARK_SPACES) return i->op == IR_STORE ? i : NULL;
    return NULL;
}

/* The load of the place before anything that leaves the loop or writes. */
static ir_instr *first_load(const ir_region *body, const ir_instr *store) {
    for (ir_instr *i = body->first; i && i != store; i = i->next) {
        if (i->op == IR_LOAD && is_same_place(i, store)) return i;
        if (qn__ir_is_jump(i) || effects_of(i) & (QN__MARK_SPACES | QN__MARK_JUMPS_OUT)) return NULL;
    }
    return NULL;
}

static void carry(carrier *c, ir_instr *loop) {
    ir_region *body = loop->regions[0];
    search s = {.loop = loop};
    if (loop->mark & QN__MARK_SYNC) return;
    ir_instr *store = last_writer(body), *load = store ? first_load(body, store) : NULL;
    if (!load || load->results[0]->type.kind == IR_PTR || !qn__is_visible(load->operands[0], loop)) return;
    qn__ir_walk(body, look_at, &s);
    if (!s.next || s.has_volatile) return;
    for (const ir_instr *i = body->first; i != store; i = i->next)
        if (effects_of(i) & QN__MARK_JUMPS_OUT) return;
    const ir_type type = load->results[0]->type;
    qn__ir_at(&c->builder, loop);
    ir_instr *first = qn__ir_emit(&c->builder, IR_LOAD, load->operands, 1, &type, 1);
    first->attr = load->attr;
    first->flags = load->flags;
    qn__params_extend(c->builder.function, loop, &first->results[0], &load->results[0]->name, 1);
    qn__operands_extend(c->builder.function, s.next, &store->operands[1], 1);
    qn__rewrite_set(&c->rewrite, load->results[0], body->params[body->num_params - 1]);
    qn__ir_unlink(load);
    c->changed = true;
}

static void visit(carrier *c, ir_region *region) {
    for (ir_instr *i = region->first; i; i = i->next) {
        if (!i->num_regions) continue;
        for (uint32_t r = 0; r < i->num_regions; r++) visit(c, i->regions[r]);
        if (i->op == IR_LOOP) carry(c, i);
    }
}

static void rewrite_operands(ir_instr *i, void *user) { qn__rewrite_operands(user, i); }

bool qn__pass_carry(qn__pass_context *context) {
    ir_function *function = context->function;
    carrier c = {.builder = {.function = function}};
    if (!function->has[IR_LOOP]) return false;
    qn__mark_effects(function->body);
    visit(&c, function->body);
    if (c.changed) qn__ir_walk(function->body, rewrite_operands, &c.rewrite);
    return c.changed;
}
