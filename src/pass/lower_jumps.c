/* Jumps that leave one loop at most, for targets whose control flow is structured that way (SPIR-V). Afterwards
   every break and continue is of the innermost loop around it, and there are no blocks. Innermost constructs
   come first:

   - a loop that jumps leave for somewhere else gives one more result, which says where to, and the values that
     the jumps carry; behind it, tests of that result jump on;
   - a block becomes nested ifs where its breaks stand in ifs, else a loop that runs once.

       loop @0 { loop @1 { if %c { break @0 %x } ... break @1 } ... }
   ->
       loop @0 { %far, %v = loop @1 { if %c { break @1 true, %x } ... break @1 false, undef }
                 if %far { break @0 %v } else { yield } ... }  */
#include "pass/tools.h"

enum { DEEPEST = 300 };

/* Jumps out of a loop with one aim. */
typedef struct exit_way {
    const ir_instr *target;
    uint16_t op;
    QN__VEC(ir_instr *) jumps;
    ir_value **values; /* that the jump behind the loop carries */
} exit_way;

typedef struct lowering {
    qn__pass_context *context;
    ir_function *function;
    qn__arena *arena;
    qn__rewrite rewrite;
    bool changed;
} lowering;

typedef struct exits {
    ir_instr *loop;
    QN__VEC(exit_way) ways;
    QN__VEC(ir_instr *) breaks; /* of the loop itself */
} exits;

/* ---- finding ---- */

static void add_far(lowering *l, exits *e, ir_instr *jump) {
    size_t n = 0;
    while (n < e->ways.len && (e->ways.data[n].target != jump->attr.target || e->ways.data[n].op != jump->op))
        n++;
    if (n == e->ways.len)
        qn__vec_push(l->arena, &e->ways, (exit_way){.target = jump->attr.target, .op = jump->op});
    qn__vec_push(l->arena, &e->ways.data[n].jumps, jump);
}

/* Loops inside have been lowered: no jump in them leaves them. */
static void find_exits(lowering *l, exits *e, ir_region *region) {
    for (ir_instr *i = region->first; i; i = i->next) {
        if (i->op == IR_IF)
            for (uint32_t r = 0; r < i->num_regions; r++) find_exits(l, e, i->regions[r]);
        if (i->op != IR_BREAK && i->op != IR_CONTINUE) continue;
        if (i->attr.target != e->loop)
            add_far(l, e, i);
        else if (i->op == IR_BREAK)
            qn__vec_push(l->arena, &e->breaks, i);
    }
}

/* ---- loops ---- */

/* The value that every jump of one aim carries at place `n`, if there is one and it exists behind the loop. */
static ir_value *common_value(const exit_way *way, const ir_instr *loop, uint32_t n) {
    ir_value *value = way->jumps.data[0]->operands[n];
    for (size_t j = 1; j < way->jumps.len; j++)
        if (way->jumps.data[j]->operands[n] != value) return NULL;
    return qn__is_visible(value, loop) ? value : NULL;
}

/* One more result of the loop, for which its own breaks give `usual`. */
static ir_value *add_result(lowering *l, const exits *e, ir_value *usual, ir_type type) {
    ir_value *result = qn__ir_result_add(e->loop, type, NULL);
    for (size_t n = 0; n < e->breaks.len; n++) qn__operands_extend(l->function, e->breaks.data[n], &usual, 1);
    return result;
}

/* Where the values of one aim's jumps come from behind the loop: results of it, but for what exists there. */
static void carry_values(lowering *l, exits *e, exit_way *way) {
    const uint32_t count = way->jumps.data[0]->num_operands;
    way->values = QN__NEW_ARRAY(l->arena, ir_value *, count + 1u);
    for (uint32_t n = 0; n < count; n++) way->values[n] = common_value(way, e->loop, n);
    for (uint32_t n = 0; n < count; n++) {
        if (way->values[n]) continue;
        const ir_type type = way->jumps.data[0]->operands[n]->type;
        way->values[n] = add_result(l, e, qn__ir_undef(l->function, type), type);
    }
}

static ir_value *way_code(lowering *l, const exits *e, size_t n) {
    if (e->ways.len == 1) return qn__ir_const_bool(l->function, n != 0);
    return qn__ir_const_int(l->function, IR_I32, (int64_t)n);
}

/* The jumps of aim `n` as breaks: undefined for all results but the code and the aim's own values. */
static void turn_jumps(lowering *l, const exits *e, size_t n, const ir_value *code) {
    const exit_way *way = &e->ways.data[n];
    const ir_instr *loop = e->loop;
    ir_value **operands = QN__NEW_ARRAY(l->arena, ir_value *, loop->num_results + 1u);
    for (size_t j = 0; j < way->jumps.len; j++) {
        ir_instr *jump = way->jumps.data[j];
        for (uint32_t r = 0; r < loop->num_results; r++) {
            const ir_value *result = loop->results[r];
            operands[r] = qn__ir_undef(l->function, result->type);
            if (result == code) operands[r] = way_code(l, e, n + 1);
            for (uint32_t v = 0; v < jump->num_operands; v++)
                if (way->values[v] == result) operands[r] = jump->operands[v];
        }
        jump->op = IR_BREAK;
        jump->attr.target = e->loop;
        qn__ir_set_operands(l->function, jump, operands, loop->num_results);
    }
}

static void jump_on(ir_builder *b, const exit_way *way) {
    ir_instr *target = (ir_instr *)way->target;
    const uint32_t count = way->op == IR_BREAK ? target->num_results : target->regions[0]->num_params;
    if (way->op == IR_BREAK)
        qn__ir_break(b, target, way->values, count);
    else
        qn__ir_continue(b, target, way->values, count);
}

/* Tests behind the loop. Where it ends in no other way, the last jump needs none, and nothing follows it. */
static void test_ways(lowering *l, const exits *e, ir_value *code) {
    ir_builder b = {.function = l->function};
    ir_instr *next = e->loop->next;
    const bool always = e->breaks.len == 0;
    qn__ir_at(&b, next);
    b.loc = e->loop->loc;
    for (size_t n = 0; n < e->ways.len; n++) {
        const exit_way *way = &e->ways.data[n];
        if (always && n + 1 == e->ways.len) {
            jump_on(&b, way);
            qn__cut_after(next->prev);
            return;
        }
        ir_value *condition = e->ways.len == 1 ? code : qn__ir_op2(&b, IR_EQ, code, way_code(l, e, n + 1));
        ir_instr *test = qn__ir_if(&b, condition, NULL, 0);
        ir_builder inner = b;
        qn__ir_at_end(&inner, test->regions[0]);
        jump_on(&inner, way);
        qn__ir_at_end(&inner, test->regions[1]);
        qn__ir_yield(&inner, NULL, 0);
    }
}

static void lower_loop(lowering *l, ir_instr *loop) {
    exits e = {.loop = loop};
    find_exits(l, &e, loop->regions[0]);
    if (!e.ways.len) return;
    ir_value *code = NULL;
    if (e.breaks.len || e.ways.len > 1) {
        ir_value *first = way_code(l, &e, 0);
        code = add_result(l, &e, first, first->type);
    }
    for (size_t n = 0; n < e.ways.len; n++) carry_values(l, &e, &e.ways.data[n]);
    for (size_t n = 0; n < e.ways.len; n++) turn_jumps(l, &e, n, code);
    test_ways(l, &e, code);
    l->changed = true;
}

/* ---- blocks ---- */

static bool has_breaks(const ir_region *region, const ir_instr *block) {
    for (const ir_instr *i = region->first; i; i = i->next) {
        if (i->op == IR_BREAK && i->attr.target == block) return true;
        for (uint32_t r = 0; r < i->num_regions; r++)
            if (has_breaks(i->regions[r], block)) return true;
    }
    return false;
}

/* Puts the block's body in its place; gives the first instruction behind it, or NULL if nothing is left there. */
static ir_instr *dissolve(lowering *l, ir_instr *block) {
    ir_region *body = block->regions[0];
    ir_instr *jump = body->last, *next = block->next;
    qn__splice_body(body, block);
    if (jump->op == IR_YIELD) {
        qn__rewrite_results(&l->rewrite, block, jump->operands);
    } else {
        qn__ir_unlink(jump);
        qn__ir_insert_before(jump, block);
        qn__cut_after(jump);
        return NULL;
    }
    qn__ir_unlink(block);
    return next;
}

/* A loop that its breaks leave, and its closing yield too. */
static void run_once(ir_instr *block) {
    ir_instr *last = block->regions[0]->last;
    block->op = IR_LOOP;
    block->parent->function->has[IR_LOOP] = true;
    block->attr.unroll = 1;
    if (last->op != IR_YIELD) return;
    last->op = IR_BREAK;
    last->attr.target = block;
}

/* Gives what to visit next. */
static ir_instr *lower_block(lowering *l, ir_instr *block, bool may_nest) {
    if (may_nest) qn__block_to_ifs(l->context, &l->rewrite, block);
    l->changed = true;
    if (!has_breaks(block->regions[0], block)) return dissolve(l, block);
    run_once(block);
    lower_loop(l, block);
    return block->next;
}

/* ---- all ---- */

/* Gives how deep constructs nest in the region, at most: nested ifs must not make it too deep. */
static unsigned visit(lowering *l, ir_region *region, unsigned depth) {
    unsigned deepest = 0;
    for (ir_instr *i = region->first, *next; i; i = next) {
        unsigned height = 0;
        next = i->next;
        if (!i->num_regions) continue;
        for (uint32_t r = 0; r < i->num_regions; r++) {
            const unsigned inside = 1 + visit(l, i->regions[r], depth + 1);
            if (inside > height) height = inside;
        }
        if (i->op == IR_LOOP) lower_loop(l, i);
        if (i->op == IR_BLOCK) {
            const bool may_nest = depth + height + QN__MOST_NESTED < DEEPEST;
            if (may_nest) height += QN__MOST_NESTED;
            next = lower_block(l, i, may_nest);
        } else {
            next = i->next; /* tests behind a loop */
        }
        if (height > deepest) deepest = height;
    }
    return deepest;
}

static void replace(lowering *l, ir_region *region) {
    for (ir_instr *i = region->first; i; i = i->next) {
        qn__rewrite_operands(&l->rewrite, i);
        for (uint32_t r = 0; r < i->num_regions; r++) replace(l, i->regions[r]);
    }
}

bool qn__pass_lower_jumps(qn__pass_context *context) {
    lowering l = {.context = context, .function = context->function, .arena = context->scratch};
    visit(&l, context->function->body, 0);
    if (l.changed) replace(&l, context->function->body);
    return l.changed;
}
