/* Unrolling. A loop whose number of iterations is known by playing its counters through (parameters that start
   constant and whose next values and the test follow from constants) is replaced by that many copies of its
   body: if a hint asks, if it is small, or if it indexes private arrays, which then can become values. A hint
   of N copies the body N times inside the loop; each copy keeps its test unless the number of iterations is a
   known multiple of N.

       loop (%i = 0) {                                    store at 0
         if (slt %i, 2) {} else { break }         ->      store at 1
         store at %i
         continue add %i, 1 }

   The copies sit in a block that the loop's breaks leave; simplify and flow fold the tests and dissolve the
   blocks. Of a nest only the innermost loops are unrolled in one run, so that the outer ones see a simplified
   body. */
#include <string.h>

#include "pass/tools.h"

enum {
    MAX_ITERATIONS = 2048,
    MAX_STEPS = 50000, /* of playing one loop through */
    HINTED_SIZE = 32768,
    ARRAY_SIZE = 4096, /* unrolled size allowed where private arrays may vanish */
    SMALL_SIZE = 192,
    PARTIAL_SIZE = 8192,
    MAX_EVALUATION = 12 /* depth of an expression that counts */
};

typedef struct unroller {
    qn__pass_context *context;
    ir_function *function;
    qn__rewrite rewrite;
    uint32_t steps;
    bool changed;
} unroller;

/* What is known of a loop with a body of straight line plus tests. */
typedef struct loop_shape {
    ir_instr *loop, *exit; /* the `if` that leaves it by count */
    uint32_t iterations;   /* times the test lets the body go on */
    uint32_t size;         /* instructions of the body */
    uint32_t continues;
    uint32_t most_iterations; /* more would grow too large */
    bool private_index;       /* computes an address in a private array that is not constant */
    bool syncs;               /* has a barrier or another group operation */
} loop_shape;

/* ---- counting iterations ---- */

/* The constant that a value is, given the loop's parameters; NULL if it is none. */
static ir_value *evaluate(unroller *u, const ir_instr *loop, ir_value *const *params, ir_value *value,
                          unsigned depth) {
    if (qn__ir_is_const(value)) return value;
    if (value->value_kind == IR_VALUE_PARAM) return value->def == loop ? params[value->index] : NULL;
    if (value->value_kind != IR_VALUE_RESULT || depth >= MAX_EVALUATION || ++u->steps > MAX_STEPS)
        return NULL;
    const ir_instr *def = value->def;
    if (qn__effects(def) > IR_EFFECT_PURE_TRAP || def->num_operands > 3 || !def->num_operands) return NULL;
    ir_value *operands[3];
    for (uint32_t i = 0; i < def->num_operands; i++)
        if (!(operands[i] = evaluate(u, loop, params, def->operands[i], depth + 1))) return NULL;
    ir_instr folded = *def;
    folded.operands = operands;
    return qn__ir_fold(u->function, &folded);
}

static bool breaks_out(const ir_region *region, const ir_instr *loop) {
    return region->last->op == IR_BREAK && region->last->attr.target == loop;
}

/* Plays the loop for one candidate test; false if it cannot be followed or takes too long. */
static bool count_iterations(unroller *u, loop_shape *shape, const ir_instr *test) {
    const ir_instr *loop = shape->loop;
    const ir_region *body = loop->regions[0];
    const bool leave_on = breaks_out(test->regions[0], loop);
    ir_value **params = QN__NEW_ARRAY(u->context->scratch, ir_value *, body->num_params + 1u);
    ir_value **next = QN__NEW_ARRAY(u->context->scratch, ir_value *, body->num_params + 1u);
    for (uint32_t p = 0; p < body->num_params; p++)
        params[p] = qn__ir_is_const(loop->operands[p]) ? loop->operands[p] : NULL;
    for (uint32_t iteration = 0; iteration <= shape->most_iterations; iteration++) {
        const ir_value *condition = evaluate(u, loop, params, test->operands[0], 0);
        if (!condition) return false;
        if ((condition->bits[0] != 0) == leave_on) {
            shape->iterations = iteration;
            return true;
        }
        for (uint32_t p = 0; p < body->num_params; p++)
            next[p] = params[p] ? evaluate(u, loop, params, body->last->operands[p], 0) : NULL;
        memcpy(params, next, body->num_params * sizeof *params);
    }
    return false;
}

/* Only tests that each iteration comes by count: those on the body's own level, with one way round at its end. */
static bool find_count(unroller *u, loop_shape *shape) {
    const ir_region *body = shape->loop->regions[0];
    if (shape->continues != 1 || body->last->op != IR_CONTINUE || body->last->attr.target != shape->loop)
        return false;
    for (ir_instr *i = body->first; i; i = i->next) {
        if (i->op != IR_IF ||
            breaks_out(i->regions[0], shape->loop) == breaks_out(i->regions[1], shape->loop))
            continue;
        if (!count_iterations(u, shape, i)) continue;
        shape->exit = i;
        return true;
    }
    return false;
}

/* Whether a test can be told in the first iteration at least. Where nothing else asks for unrolling, that saves measuring
   the loop. */
static bool may_count(unroller *u, const ir_instr *loop) {
    const ir_region *body = loop->regions[0];
    if (body->last->op != IR_CONTINUE || body->last->attr.target != loop) return false;
    ir_value **params = QN__NEW_ARRAY(u->context->scratch, ir_value *, body->num_params + 1u);
    for (uint32_t p = 0; p < body->num_params; p++)
        params[p] = qn__ir_is_const(loop->operands[p]) ? loop->operands[p] : NULL;
    for (const ir_instr *i = body->first; i; i = i->next) {
        if (i->op != IR_IF || breaks_out(i->regions[0], loop) == breaks_out(i->regions[1], loop)) continue;
        u->steps = 0;
        if (evaluate(u, loop, params, i->operands[0], 0)) return true;
    }
    return false;
}

/* ---- size and contents ---- */

static bool in_private_array(const ir_instr *add) {
    const ir_value *base = add->operands[0];
    if (qn__ir_is_const(add->operands[1])) return false;
    while (qn__defined_by(base, IR_PTR_ADD)) base = base->def->operands[0];
    return qn__defined_by(base, IR_VAR);
}

static void measure(loop_shape *shape, const ir_region *region) {
    for (const ir_instr *i = region->first; i; i = i->next) {
        shape->size++;
        if (i->op == IR_CONTINUE && i->attr.target == shape->loop) shape->continues++;
        if (i->op == IR_PTR_ADD && in_private_array(i)) shape->private_index = true;
        if (qn__effects(i) == IR_EFFECT_SYNC) shape->syncs = true;
        for (uint32_t r = 0; r < i->num_regions; r++) measure(shape, i->regions[r]);
    }
}

/* ---- copying ---- */

/* Clones the body up to and including `last`, which hides what follows for the time. */
static void clone_until(ir_builder *builder, ir_region *body, ir_instr *last, ir_value **map) {
    ir_instr *next = last->next, *end = body->last;
    last->next = NULL;
    body->last = last;
    qn__ir_clone_into(builder, body, map);
    last->next = next;
    body->last = end;
}

static void retarget_breaks(ir_region *region, const ir_instr *from, ir_instr *to) {
    for (ir_instr *i = region->first; i; i = i->next) {
        if (i->op == IR_BREAK && i->attr.target == from) i->attr.target = to;
        for (uint32_t r = 0; r < i->num_regions; r++) retarget_breaks(i->regions[r], from, to);
    }
}

static ir_value *mapped(ir_value *const *map, uint32_t count, ir_value *value) {
    return value->id < count && map[value->id] ? map[value->id] : value;
}

static void unroll_fully(unroller *u, const loop_shape *shape) {
    ir_instr *loop = shape->loop;
    ir_region *body = loop->regions[0];
    const ir_instr *round = body->last;
    const uint32_t params = body->num_params, count = u->function->num_values;
    ir_value **map = QN__NEW_ARRAY(u->context->scratch, ir_value *, count + 1u);
    ir_value **values = QN__NEW_ARRAY(u->context->scratch, ir_value *, params + 1u);
    ir_type *types = QN__NEW_ARRAY(u->context->scratch, ir_type, loop->num_results + 1u);
    for (uint32_t r = 0; r < loop->num_results; r++) types[r] = loop->results[r]->type;
    memcpy(values, loop->operands, params * sizeof *values);

    ir_builder builder = {.function = u->function};
    qn__ir_at(&builder, loop);
    ir_instr *block = qn__ir_block(&builder, types, loop->num_results);
    for (uint32_t r = 0; r < loop->num_results; r++) block->results[r]->name = loop->results[r]->name;
    qn__ir_at_end(&builder, block->regions[0]);
    for (uint32_t iteration = 0; iteration <= shape->iterations; iteration++) {
        for (uint32_t p = 0; p < params; p++) map[body->params[p]->id] = values[p];
        clone_until(&builder, body, iteration < shape->iterations ? round->prev : shape->exit, map);
        for (uint32_t p = 0; p < params; p++) values[p] = mapped(map, count, round->operands[p]);
    }
    qn__ir_emit(&builder, IR_UNREACHABLE, NULL, 0, NULL, 0);
    retarget_breaks(block->regions[0], loop, block);
    qn__rewrite_results(&u->rewrite, loop, block->results);
    qn__ir_unlink(loop);
    u->changed = true;
}

/* In the copies whose test is known to let the body go on, it is constant. */
static void pass_test(unroller *u, ir_instr *test, const ir_instr *loop) {
    test->operands[0] = qn__ir_const_bool(u->function, !breaks_out(test->regions[0], loop));
}

static void unroll_partly(unroller *u, const loop_shape *shape, uint32_t copies) {
    ir_instr *loop = shape->loop, *round = loop->regions[0]->last;
    ir_region *body = loop->regions[0];
    ir_instr *last = round->prev;
    const bool exact = shape->exit && shape->iterations % copies == 0;
    const uint32_t params = body->num_params, count = u->function->num_values;
    ir_value **map = QN__NEW_ARRAY(u->context->scratch, ir_value *, count + 1u);
    ir_value **values = QN__NEW_ARRAY(u->context->scratch, ir_value *, params + 1u);
    ir_value **next = QN__NEW_ARRAY(u->context->scratch, ir_value *, params + 1u);
    memcpy(values, round->operands, params * sizeof *values);
    memcpy(next, round->operands, params * sizeof *next);
    for (uint32_t copy = 1; copy < copies; copy++) {
        ir_builder builder = {.function = u->function};
        ir_region *spare = qn__ir_region_new(u->function, NULL);
        qn__ir_at_end(&builder, spare);
        for (uint32_t p = 0; p < params; p++) map[body->params[p]->id] = values[p];
        if (exact) { /* the test of this copy, which the map does not lead to, by position */
            clone_until(&builder, body, shape->exit, map);
            pass_test(u, spare->last, loop);
            ir_instr *first = body->first;
            body->first = shape->exit->next;
            if (shape->exit != last) clone_until(&builder, body, last, map);
            body->first = first;
        } else {
            clone_until(&builder, body, last, map);
        }
        for (uint32_t p = 0; p < params; p++) values[p] = mapped(map, count, next[p]);
        qn__move_range(spare->first, spare->last, round);
    }
    qn__ir_set_operands(u->function, round, values, params);
    loop->attr.unroll = 1;
    u->changed = true;
}

/* ---- choosing ---- */

static uint32_t most_iterations(const loop_shape *shape, uint32_t module_limit) {
    const int32_t hint = shape->loop->attr.unroll;
    uint32_t size = shape->private_index ? ARRAY_SIZE : SMALL_SIZE;
    if (hint) size = HINTED_SIZE;
    if (module_limit && size > module_limit) size = module_limit;
    const uint32_t iterations = size / shape->size;
    return iterations < MAX_ITERATIONS ? iterations : MAX_ITERATIONS;
}

static bool try_loop(unroller *u, ir_instr *loop) {
    loop_shape shape = {.loop = loop};
    const int32_t hint = loop->attr.unroll;
    const uint32_t limit = u->context->module->max_instrs;
    if (hint == 1 || (hint <= 0 && !may_count(u, loop))) return false;
    measure(&shape, loop->regions[0]);
    if (shape.syncs && (u->context->options->target.lacks_unrolled_barriers)) return false;
    u->steps = 0;
    shape.most_iterations = most_iterations(&shape, limit);
    if (find_count(u, &shape) && (hint <= 1 || shape.iterations <= (uint32_t)hint)) {
        unroll_fully(u, &shape);
        return true;
    }
    const ir_instr *last = loop->regions[0]->last;
    const bool one_way =
        shape.continues == 1 && last->op == IR_CONTINUE && last->attr.target == loop && last->prev;
    if (hint > 1 && one_way && (uint64_t)hint * shape.size <= PARTIAL_SIZE) {
        unroll_partly(u, &shape, (uint32_t)hint);
        return true;
    }
    return false;
}

bool qn__count_iterations(qn__pass_context *context, ir_function *function, ir_instr *loop, uint32_t most,
                          uint32_t *iterations) {
    unroller u = {.context = context, .function = function};
    loop_shape shape = {.loop = loop, .most_iterations = most};
    if (!may_count(&u, loop)) return false;
    measure(&shape, loop->regions[0]);
    u.steps = 0;
    if (!find_count(&u, &shape)) return false;
    *iterations = shape.iterations;
    return true;
}

/* Returns whether a loop inside was unrolled. */
static bool visit(unroller *u, ir_region *region) {
    bool any = false;
    for (ir_instr *i = region->first, *next; i; i = next) {
        next = i->next;
        bool inside = false;
        qn__rewrite_operands(&u->rewrite, i);
        if (!i->num_regions) continue;
        for (uint32_t r = 0; r < i->num_regions; r++)
            if (visit(u, i->regions[r])) inside = true;
        if (i->op == IR_LOOP && !inside) inside = try_loop(u, i);
        any = any || inside;
    }
    return any;
}

bool qn__pass_unroll(qn__pass_context *context) {
    unroller u = {.context = context, .function = context->function};
    if (!u.function->has[IR_LOOP]) return false;
    visit(&u, u.function->body);
    return u.changed;
}
