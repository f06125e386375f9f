/* Which loops of a kernel look at whether its launch is cancelled. Those that are certain to end soon do not: such as count,
   in 32 bits at most, or go on by the size of the range or of the group to a bound of 32 bits, and go round no more than 2^32
   times, with what is inside counted too. Others look at each
   iteration. Work-items with loops of unknown length are looked at one by one, or gang by gang, as a group of them takes as many times
   as long. Between work-groups the device looks itself, so that a kernel without such loops is as if there were no looks. */
#include "emit/c/internal.h"

enum { MOST_STEP = 1 << 20 };
static const uint64_t most_rounds = (uint64_t)1 << 32, endless = UINT64_MAX;
/* Of one work-item between two looks at its group. */
static const uint64_t most_of_an_item = 1 << 16;

static bool is_inside(const ir_region *region, const ir_instr *loop) {
    for (; region; region = region->owner ? region->owner->parent : NULL)
        if (region->owner == loop) return true;
    return false;
}

/* The same in all iterations. */
static bool is_fixed(const ir_value *value, const ir_instr *loop) {
    const ir_instr *def = value->def;
    if (value->value_kind == IR_VALUE_PARAM) return def != loop && !is_inside(def->parent, loop);
    return value->value_kind != IR_VALUE_RESULT || !is_inside(def->parent, loop);
}

static const ir_instr *made_by(const ir_value *value, ir_op op) {
    return value->value_kind == IR_VALUE_RESULT && value->def->op == op ? value->def : NULL;
}

static bool is_param(const ir_value *value, const ir_instr *loop) {
    return value->value_kind == IR_VALUE_PARAM && value->def == loop;
}

/* Its step if each continue of the loop below `region` gives the parameter one step on; 0: no. */
static bool steps_by(const ir_region *region, const ir_instr *loop, uint32_t param, int64_t *step) {
    for (const ir_instr *i = region->first; i; i = i->next) {
        for (uint32_t r = 0; r < i->num_regions; r++)
            if (!steps_by(i->regions[r], loop, param, step)) return false;
        if (i->op != IR_CONTINUE || i->attr.target != loop) continue;
        const ir_value *next = i->operands[param];
        const ir_instr *add = made_by(next, IR_ADD);
        if (!add || !is_param(add->operands[0], loop) || add->operands[0]->index != param ||
            !qn__ir_is_const(add->operands[1]))
            return false;
        const unsigned unused = 64 - qn__ir_bits(next->type);
        const int64_t by = (int64_t)(add->operands[1]->bits[0] << unused) >> unused;
        if (by == 0 || by > MOST_STEP || by < -MOST_STEP || (*step && *step != by)) return false;
        *step = by;
    }
    return true;
}

/* The counter behind one side of a test: a parameter, one step on or not, in more bits or not. */
static const ir_value *counter_of(const ir_value *side, const ir_instr *loop) {
    const ir_instr *wide = made_by(side, IR_SEXT);
    if (!wide) wide = made_by(side, IR_ZEXT);
    if (wide) side = wide->operands[0];
    const ir_instr *add = made_by(side, IR_ADD);
    if (add && qn__ir_is_const(add->operands[1])) side = add->operands[0];
    return is_param(side, loop) && qn__ir_is_int(side->type) && qn__ir_bits(side->type) <= 32 ? side : NULL;
}

/* What is added to a value; NULL: it is no such sum. */
static const ir_value *added_to(const ir_value *value, const ir_value *sum) {
    const ir_instr *add = made_by(sum, IR_ADD);
    if (!add) return NULL;
    return add->operands[0] == value ? add->operands[1] : add->operands[1] == value ? add->operands[0] : NULL;
}

/* The parameter goes on by a size of the range at each continue of the loop below `region`: in 64 bits, or in 32 by one of a
   work-group, which is small. */
static bool strides(const ir_region *region, const ir_instr *loop, const ir_value *counter) {
    const bool narrow = qn__ir_bits(counter->type) < 64;
    for (const ir_instr *i = region->first; i; i = i->next) {
        for (uint32_t r = 0; r < i->num_regions; r++)
            if (!strides(i->regions[r], loop, counter)) return false;
        if (i->op != IR_CONTINUE || i->attr.target != loop) continue;
        const ir_value *next = i->operands[counter->index], *step = NULL;
        const ir_instr *cut = narrow ? made_by(next, IR_TRUNC) : NULL;
        const ir_instr *sum = cut ? made_by(cut->operands[0], IR_ADD) : NULL;
        for (int side = 0; sum && side < 2 && !step; side++) {
            const ir_instr *wide = made_by(sum->operands[side], IR_ZEXT);
            if (wide && wide->operands[0] == counter) step = sum->operands[!side];
        }
        if (!narrow) step = added_to(counter, next);
        if (!step || step->value_kind != IR_VALUE_RESULT || !qn__ir_has(step->def->op, IR_POSITIVE) ||
            (narrow && !qn__ir_has(step->def->op, IR_SMALL)))
            return false;
    }
    return true;
}

/* `i < bound` of a counter that strides, and that cannot wrap before it gets there. */
static uint64_t rounds_of_stride(const ir_instr *test, const ir_instr *loop) {
    const ir_value *counter = test->operands[0], *bound = test->operands[1];
    if (test->op != IR_ULT || !is_param(counter, loop) || !qn__ir_is_int(counter->type) ||
        !is_fixed(bound, loop))
        return endless;
    const unsigned bits = qn__ir_bits(counter->type);
    const ir_instr *wide = made_by(bound, IR_ZEXT);
    const uint64_t most = qn__ir_is_const(bound) ? bound->bits[0] : wide ? most_rounds : endless;
    if (bits < 32 || most > (bits == 32 ? most_rounds / 2 : most_rounds)) return endless;
    return strides(loop->regions[0], loop, counter) ? most : endless;
}

/* How often the loop goes round at most, as this test ends it. */
static uint64_t rounds_of(const ir_instr *test, const ir_instr *loop) {
    const bool equal = test->op == IR_EQ || test->op == IR_NE;
    if (test->op != IR_SLT && test->op != IR_SLE && test->op != IR_ULT && test->op != IR_ULE && !equal)
        return endless;
    for (int side = 0; side < 2; side++) {
        const ir_value *counter = counter_of(test->operands[side], loop), *bound = test->operands[!side];
        int64_t step = 0;
        if (!counter || !is_fixed(bound, loop) || !steps_by(loop->regions[0], loop, counter->index, &step) ||
            !step || (equal && step != 1 && step != -1))
            continue;
        const ir_value *first = loop->operands[counter->index];
        if (!qn__ir_is_const(first) || !qn__ir_is_const(bound)) return most_rounds;
        const uint64_t a = first->bits[0], b = bound->bits[0], size = (uint64_t)(step < 0 ? -step : step);
        return (a < b ? b - a : a - b) / size + 2;
    }
    return rounds_of_stride(test, loop);
}

/* Out of the loop, at the end of a region of an `if` in its body. */
static bool leaves(const ir_region *region, const ir_instr *loop) {
    const ir_instr *jump = region->last;
    if (!jump || !qn__ir_is_jump(jump)) return false;
    if (jump->op == IR_BREAK) return jump->attr.target == loop || !is_inside(jump->attr.target->parent, loop);
    return jump->op == IR_RETURN;
}

static uint64_t times(uint64_t a, uint64_t b) { return b && a > endless / b ? endless : a * b; }

static uint64_t rounds(const ir_instr *loop);

static uint64_t plus(uint64_t a, uint64_t b) { return b > endless - a ? endless : a + b; }

static uint64_t rounds_inside(const ir_region *region);

/* Of this loop, or of the loops in this construct. */
static uint64_t rounds_of_all(const ir_instr *instr) {
    if (instr->op == IR_LOOP) return rounds(instr);
    uint64_t sum = 0;
    for (uint32_t r = 0; r < instr->num_regions; r++) sum = plus(sum, rounds_inside(instr->regions[r]));
    return sum;
}

/* Of the loops inside, all together. */
static uint64_t rounds_inside(const ir_region *region) {
    uint64_t sum = 0;
    for (const ir_instr *i = region->first; i; i = i->next) sum = plus(sum, rounds_of_all(i));
    return sum;
}

/* The loop is left where the condition is false (`op` is IR_AND) or true (IR_OR): one of those that are joined does. */
static uint64_t rounds_until(const ir_value *condition, ir_op op, const ir_instr *loop) {
    const ir_instr *joined = made_by(condition, op);
    if (!joined) return condition->value_kind == IR_VALUE_RESULT ? rounds_of(condition->def, loop) : endless;
    const uint64_t a = rounds_until(joined->operands[0], op, loop),
                   b = rounds_until(joined->operands[1], op, loop);
    return a < b ? a : b;
}

static uint64_t rounds(const ir_instr *loop) {
    const ir_region *body = loop->regions[0];
    uint64_t least = endless;
    for (const ir_instr *i = body->first; i && least == endless; i = i->next) {
        if (i->op != IR_IF) continue;
        if (leaves(i->regions[1], loop)) least = rounds_until(i->operands[0], IR_AND, loop);
        if (leaves(i->regions[0], loop) && least == endless)
            least = rounds_until(i->operands[0], IR_OR, loop);
    }
    if (least == endless) return endless;
    const uint64_t inside = rounds_inside(body);
    return inside ? times(least, inside) : least;
}

static void look(c_emitter *e) {
    if (!e->options->target.tries_no_looks) qn__c_line(e, "if (QN_CANCELLED) return;");
}

void qn__c_look(c_emitter *e, const ir_instr *loop) {
    if (rounds(loop) > most_rounds) look(e);
}

void qn__c_look_in_step(c_emitter *e, const ir_instr *loop) {
    if (rounds(loop) > most_of_an_item) look(e);
}

void qn__c_look_between(c_emitter *e, const ir_instr *first) {
    uint64_t sum = 0;
    for (const ir_instr *i = first; i && !e->plan->in_step[i->mark]; i = i->next) {
        const uint64_t here = rounds_of_all(i);
        if (here <= most_rounds) sum += here; /* others look themselves */
    }
    if (sum > most_of_an_item) look(e);
}
