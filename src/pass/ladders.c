/* Ladders: loops whose counter doubles or halves within what is known with the pipeline, the steps of a prefix sum or of a
   reduction in a group, of which there are few. Devices that gain by unrolling, and whose compiler is told the group's
   size, are asked to unroll them; where a loop cannot carry that hint (WGSL), the steps that a group can have are written out, each
   with its test, which that compiler then knows. It runs last, and sees what the compiler will.

       loop (%s = 1) {                        loop (%s = 1) unroll full {
         if ult %s, local_size {} else {break}  as before
         body; continue shl %s, 1 }      ->   }

   or                                    ->   loop { if ult 1, local_size {} else { break }; body;
                                                     if ult 2, local_size {} else { break }; body; ...
                                                     the loop as before, from there; break }  */
#include "pass/tools.h"

enum { STEPS = 10 /* of a group of 1,024 */, MOST_INSTRS = 32 };

typedef struct search {
    ir_function *function;
    qn__arena *scratch;
    bool writes_out, changed;
} search;

/* Constants and the group's size, and what is made of them. */
static bool is_settled(const ir_value *value, unsigned depth) {
    enum { DEEPEST = 4 };
    if (qn__ir_is_const(value)) return true;
    if (value->value_kind != IR_VALUE_RESULT || depth == DEEPEST) return false;
    switch (value->def->op) {
    case IR_LOCAL_SIZE: return true;
    case IR_ZEXT:
    case IR_TRUNC:
    case IR_ADD:
    case IR_SHL:
    case IR_LSHR: break;
    default: return false;
    }
    for (uint32_t i = 0; i < value->def->num_operands; i++)
        if (!is_settled(value->def->operands[i], depth + 1)) return false;
    return true;
}

static bool is_param(const ir_value *value, const ir_instr *loop) {
    return value->value_kind == IR_VALUE_PARAM && value->def == loop;
}

/* It begins with the counter's test. */
static bool is_ladder(const ir_instr *loop) {
    const ir_instr *compare = loop->regions[0]->first, *branch = compare->next,
                   *round = loop->regions[0]->last;
    if (!branch || branch->op != IR_IF || branch->operands[0]->value_kind != IR_VALUE_RESULT ||
        branch->operands[0]->def != compare || compare->num_operands != 2 || round->op != IR_CONTINUE ||
        round->attr.target != loop)
        return false;
    const bool second = is_param(compare->operands[1], loop);
    const ir_value *counter = compare->operands[second];
    if (!is_param(counter, loop) || !is_settled(compare->operands[!second], 0) ||
        !is_settled(loop->operands[counter->index], 0))
        return false;
    const ir_value *next = round->operands[counter->index];
    return next->value_kind == IR_VALUE_RESULT && (next->def->op == IR_SHL || next->def->op == IR_LSHR) &&
           next->def->operands[0] == counter && qn__ir_is_const(next->def->operands[1]);
}

/* ---- writing out ---- */

/* Few instructions, no loop, and no way round but the last. */
static bool is_short(const ir_instr *loop, const ir_region *region, unsigned *room) {
    for (const ir_instr *i = region->first; i; i = i->next) {
        if (!(*room)-- || i->op == IR_LOOP) return false;
        if (i->op == IR_CONTINUE && i->attr.target == loop && i != loop->regions[0]->last) return false;
        for (uint32_t r = 0; r < i->num_regions; r++)
            if (!is_short(loop, i->regions[r], room)) return false;
    }
    return true;
}

static void retarget_breaks(ir_region *region, const ir_instr *from, ir_instr *to) {
    for (ir_instr *i = region->first; i; i = i->next) {
        if (i->op == IR_BREAK && i->attr.target == from) i->attr.target = to;
        for (uint32_t r = 0; r < i->num_regions; r++) retarget_breaks(i->regions[r], from, to);
    }
}

/* Appends a copy of the body but for its way round. */
static void add_step(ir_builder *b, const ir_instr *loop, ir_value **map) {
    ir_region *body = loop->regions[0];
    ir_instr *round = body->last, *last = round->prev;
    last->next = NULL;
    body->last = last;
    qn__ir_clone_into(b, body, map);
    last->next = round;
    body->last = round;
}

static ir_value *mapped(ir_value *const *map, uint32_t count, ir_value *value) {
    return value->id < count && map[value->id] ? map[value->id] : value;
}

/* Gives the loop around the steps, which is left at the latest behind the rest. */
static ir_instr *write_out(search *s, ir_instr *loop) {
    const ir_region *body = loop->regions[0];
    const uint32_t params = body->num_params, count = s->function->num_values;
    ir_value **map = QN__NEW_ARRAY(s->scratch, ir_value *, count + 1u);
    ir_value **values = QN__NEW_ARRAY(s->scratch, ir_value *, params + 1u);
    ir_type *types = QN__NEW_ARRAY(s->scratch, ir_type, loop->num_results + 1u);
    for (uint32_t p = 0; p < params; p++) values[p] = loop->operands[p];
    for (uint32_t r = 0; r < loop->num_results; r++) types[r] = loop->results[r]->type;
    ir_builder b = {.function = s->function};
    qn__ir_at(&b, loop);
    ir_instr *once = qn__ir_loop(&b, NULL, 0, types, loop->num_results);
    for (uint32_t r = 0; r < loop->num_results; r++) once->results[r]->name = loop->results[r]->name;
    qn__ir_at_end(&b, once->regions[0]);
    for (unsigned step = 0; step < STEPS; step++) {
        for (uint32_t p = 0; p < params; p++) map[body->params[p]->id] = values[p];
        add_step(&b, loop, map);
        for (uint32_t p = 0; p < params; p++) values[p] = mapped(map, count, body->last->operands[p]);
    }
    retarget_breaks(once->regions[0], loop, once);
    qn__results_swap(once, loop);
    ir_instr *leave = qn__ir_break(&b, once, loop->results, loop->num_results);
    qn__move_range(loop, loop, leave);
    qn__ir_set_operands(s->function, loop, values, params);
    loop->attr.unroll = 1;
    return once;
}

static void visit(search *s, ir_region *region) {
    for (ir_instr *i = region->first; i; i = i->next) {
        if (i->op == IR_LOOP && !i->attr.unroll && is_ladder(i)) {
            unsigned room = MOST_INSTRS;
            const bool is_out = s->writes_out && is_short(i, i->regions[0], &room);
            if (!s->writes_out) i->attr.unroll = -1;
            if (is_out) i = write_out(s, i);
            s->changed |= is_out || !s->writes_out;
            if (is_out) continue;
        }
        for (uint32_t r = 0; r < i->num_regions; r++) visit(s, i->regions[r]);
    }
}

bool qn__pass_ladders(qn__pass_context *context) {
    const qn__target *target = &context->options->target;
    search s = {
        .function = context->function, .scratch = context->scratch, .writes_out = target->lacks_loop_hints};
    if (target->wants_unrolled) visit(&s, context->function->body);
    return s.changed;
}
