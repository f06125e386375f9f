/* Simplification of control flow:

   - `if` with a known condition (constant, or decided by an `if` around it or before it): its one region
   remains;
   - an `if` of which one side leaves: what the other side does follows it instead of hanging in it;
   - a `block` that is left only at its end dissolves; `if c { break b } rest` at a block's end becomes
     `if c {} else { rest }`, so that functions with early returns turn into nested ifs;
   - a loop that never goes round is a block; a parameter that never changes is its first value;
   - a result that is the same on all ways out is that value;
   - nothing follows a construct that control does not leave at its end.

       block { if %c { break 1 } else { yield }; %x = f; yield %x }   ->   if %c { yield 1 } else { %x = f;
   yield %x } */
#include "pass/tools.h"

enum { MAX_FACTS = 64, MAX_DEPTH = 128 }; /* nesting makes the tree deeper, up to a bound */

/* An open construct and the jumps seen that go to it. */
typedef struct frame {
    ir_instr *construct;
    struct frame *parent;
    QN__VEC(ir_instr *) exits;
    QN__VEC(ir_instr *) continues;
} frame;

typedef struct fact {
    const ir_value *condition;
    bool holds;
} fact;

typedef struct flow {
    qn__pass_context *context;
    ir_function *function;
    qn__rewrite rewrite;
    frame *inner;
    unsigned depth;
    fact facts[MAX_FACTS]; /* conditions known here, innermost last */
    unsigned num_facts;
    bool changed;
} flow;

static void visit_region(flow *f, ir_region *region);

/* ---- facts ---- */

static void learn(flow *f, const ir_value *condition, bool holds) {
    if (f->num_facts < MAX_FACTS) f->facts[f->num_facts++] = (fact){condition, holds};
}

/* 1: true, 0: false, -1: not known */
static int known_condition(const flow *f, const ir_value *condition) {
    if (qn__ir_is_const(condition)) return condition->bits[0] != 0;
    for (unsigned n = f->num_facts; n-- > 0;)
        if (f->facts[n].condition == condition) return f->facts[n].holds;
    return -1;
}

/* ---- helpers ---- */

static void map_value(flow *f, ir_value *from, ir_value *to) {
    to = qn__rewrite_get(to);
    if (qn__rewrite_get(from) == to) return;
    qn__rewrite_set(&f->rewrite, from, to);
    f->changed = true;
}

static void end_with_unreachable(flow *f, ir_region *region) {
    ir_builder builder = {.function = f->function};
    if (region->last) builder.loc = region->last->loc;
    qn__ir_at_end(&builder, region);
    qn__ir_emit(&builder, IR_UNREACHABLE, NULL, 0, NULL, 0);
}

/* ---- if with a known condition ---- */

/* Puts the taken region in the place of the `if`; gives the first instruction to visit. */
static ir_instr *take_region(flow *f, ir_instr *instr, ir_region *taken) {
    ir_instr *first = taken->first, *jump = taken->last;
    f->changed = true;
    qn__splice_body(taken, instr);
    if (jump->op == IR_YIELD) {
        for (uint32_t r = 0; r < instr->num_results; r++) map_value(f, instr->results[r], jump->operands[r]);
        if (first == jump) first = instr->next;
    } else {
        qn__ir_unlink(jump);
        qn__ir_insert_before(jump, instr);
        qn__cut_after(instr);
    }
    qn__ir_unlink(instr);
    return first;
}

/* ---- tails of blocks ---- */

static bool leaves(const ir_region *region, const ir_instr *block) {
    return region->last->op == IR_BREAK && region->last->attr.target == block;
}

static void break_to_yield(ir_instr *jump) {
    jump->op = IR_YIELD;
    jump->attr.target = NULL;
}

/* The first `if` of the region with a side that breaks out of the block while the other goes on. */
static ir_instr *early_exit(const ir_region *region, const ir_instr *block) {
    for (ir_instr *i = region->first; i; i = i->next) {
        if (i->op != IR_IF) continue;
        const bool first = leaves(i->regions[0], block), second = leaves(i->regions[1], block);
        if (first != second && i->regions[first ? 1 : 0]->last->op == IR_YIELD) return i;
    }
    return NULL;
}

/* Nests what follows the `if` in the side that goes on. Both then yield the block's results. */
static ir_region *nest_rest(flow *f, ir_instr *instr, ir_instr *block, ir_region **left) {
    const bool first_leaves = leaves(instr->regions[0], block);
    ir_region *leaving = instr->regions[first_leaves ? 0 : 1], *going = instr->regions[first_leaves ? 1 : 0];
    ir_region *region = instr->parent;
    ir_instr *yield = going->last;
    for (uint32_t r = 0; r < instr->num_results; r++) map_value(f, instr->results[r], yield->operands[r]);
    qn__move_range(instr->next, region->last, yield);
    qn__ir_unlink(yield);
    break_to_yield(leaving->last);

    qn__arena *arena = f->context->scratch;
    ir_type *types = QN__NEW_ARRAY(arena, ir_type, block->num_results + 1u);
    const char **names = QN__NEW_ARRAY(arena, const char *, block->num_results + 1u);
    for (uint32_t r = 0; r < block->num_results; r++) {
        types[r] = block->results[r]->type;
        names[r] = block->results[r]->name;
    }
    instr->num_results = 0;
    qn__results_extend(f->function, instr, types, names, block->num_results);
    ir_builder builder = {.function = f->function, .loc = instr->loc};
    qn__ir_at_end(&builder, region);
    qn__ir_yield(&builder, instr->results, instr->num_results);
    f->changed = true;
    *left = leaving;
    return going;
}

/* `region` ends where the block ends: a break there is a yield. */
static void convert_tail(flow *f, ir_region *region, ir_instr *block, unsigned *budget) {
    while (region) {
        if (leaves(region, block)) {
            break_to_yield(region->last);
            f->changed = true;
        }
        if (region->last->op != IR_YIELD || !*budget) return;
        ir_instr *instr = early_exit(region, block);
        if (!instr) return;
        --*budget;
        ir_region *left;
        region = nest_rest(f, instr, block, &left);
        convert_tail(f, left, block, budget);
    }
}

void qn__block_to_ifs(qn__pass_context *context, qn__rewrite *rewrite, ir_instr *block) {
    flow f = {.context = context, .function = context->function, .rewrite = *rewrite};
    unsigned budget = QN__MOST_NESTED;
    convert_tail(&f, block->regions[0], block, &budget);
    *rewrite = f.rewrite;
}

/* ---- after a construct has been visited ---- */

/* A result with one value (or undefined) on all ways out, if that value exists outside. */
static void join_results(flow *f, const frame *fr) {
    ir_instr *construct = fr->construct;
    for (uint32_t r = 0; r < construct->num_results; r++) {
        ir_value *same = NULL;
        bool one = true;
        for (size_t n = 0; n < fr->exits.len && one; n++) {
            ir_value *value = qn__rewrite_get(fr->exits.data[n]->operands[r]);
            if (value->value_kind == IR_VALUE_UNDEF && same) continue;
            if (same && same->value_kind != IR_VALUE_UNDEF)
                one = same == value;
            else
                same = value;
        }
        if (one && same && qn__is_visible(same, construct)) map_value(f, construct->results[r], same);
    }
}

/* Parameters that keep their first value; a loop that never repeats becomes a block. */
static void settle_loop(flow *f, const frame *fr) {
    ir_instr *loop = fr->construct;
    ir_region *body = loop->regions[0];
    for (uint32_t p = 0; p < body->num_params; p++) {
        ir_value *param = body->params[p], *init = qn__rewrite_get(loop->operands[p]);
        bool same = true;
        for (size_t n = 0; n < fr->continues.len && same; n++) {
            const ir_value *next = qn__rewrite_get(fr->continues.data[n]->operands[p]);
            same = next == param || next == init;
        }
        if (same) map_value(f, param, init);
    }
    if (fr->continues.len) return;
    f->changed = true;
    loop->op = IR_BLOCK;
    loop->attr.unroll = 0;
    loop->num_operands = body->num_params = 0;
    if (leaves(body, loop)) break_to_yield(body->last);
}

static void dissolve_block(flow *f, ir_instr *block) {
    for (uint32_t r = 0; r < block->num_results; r++)
        map_value(f, block->results[r], block->regions[0]->last->operands[r]);
    qn__splice_body(block->regions[0], block);
    qn__ir_unlink(block);
    f->changed = true;
}

/* An `if` with a side that leaves: the other side's work moves behind it, and its condition is known from
   there. */
static void flatten_if(flow *f, ir_instr *instr) {
    const bool first = instr->regions[0]->last->op == IR_YIELD,
               second = instr->regions[1]->last->op == IR_YIELD;
    if (first == second) return;
    ir_region *stays = instr->regions[first ? 0 : 1];
    ir_instr *yield = stays->last;
    if (stays->first != yield || instr->num_results) f->changed = true;
    for (uint32_t r = 0; r < instr->num_results; r++) map_value(f, instr->results[r], yield->operands[r]);
    qn__splice_body(stays, instr->next);
    instr->num_results = yield->num_operands = 0;
    learn(f, instr->operands[0], first);
}

/* Nothing reaches the end of the construct: what follows goes. A block then is what it holds. */
static void end_here(flow *f, ir_instr *construct) {
    if (construct->op == IR_BLOCK) {
        ir_instr *jump = construct->regions[0]->last;
        qn__splice_body(construct->regions[0], construct);
        qn__ir_unlink(jump);
        qn__ir_insert_before(jump, construct);
        qn__cut_after(construct);
        qn__ir_unlink(construct);
        f->changed = true;
    } else if (construct->next->op != IR_UNREACHABLE) {
        qn__cut_after(construct);
        end_with_unreachable(f, construct->parent);
        f->changed = true;
    }
}

static void settle(flow *f, const frame *fr) {
    ir_instr *construct = fr->construct;
    if (construct->op == IR_BLOCK && leaves(construct->regions[0], construct)) {
        break_to_yield(construct->regions[0]->last); /* which has come to stand there */
        f->changed = true;
    }
    if (fr->exits.len == 0) {
        if (construct->op == IR_LOOP) settle_loop(f, fr);
        end_here(f, construct);
        return;
    }
    join_results(f, fr);
    if (construct->op == IR_LOOP) settle_loop(f, fr);
    if (construct->op == IR_IF) flatten_if(f, construct);
    if (construct->op == IR_BLOCK && fr->exits.len == 1 && construct->regions[0]->last->op == IR_YIELD)
        dissolve_block(f, construct);
}

/* ---- the walk ---- */

static void note_jump(flow *f, ir_instr *jump) {
    const ir_instr *target = qn__ir_jump_target(jump);
    frame *fr = f->inner;
    while (fr && fr->construct != target) fr = fr->parent;
    if (!fr) return;
    if (jump->op == IR_CONTINUE)
        qn__vec_push(f->context->scratch, &fr->continues, jump);
    else
        qn__vec_push(f->context->scratch, &fr->exits, jump);
}

static void visit_construct(flow *f, ir_instr *instr) {
    frame fr = {.construct = instr, .parent = f->inner};
    const unsigned facts = f->num_facts;
    f->inner = &fr;
    f->depth++;
    for (uint32_t r = 0; r < instr->num_regions; r++) {
        if (instr->op == IR_IF) learn(f, instr->operands[0], r == 0);
        visit_region(f, instr->regions[r]);
        f->num_facts = facts;
    }
    f->inner = fr.parent;
    f->depth--;
    settle(f, &fr);
}

static void swap_regions(flow *f, ir_instr *instr) {
    ir_region *first = instr->regions[0];
    instr->operands[0] = instr->operands[0]->def->operands[0];
    instr->regions[0] = instr->regions[1];
    instr->regions[1] = first;
    f->changed = true;
}

static void visit_region(flow *f, ir_region *region) {
    for (ir_instr *i = region->first; i;) {
        qn__rewrite_operands(&f->rewrite, i);
        if (i->op < IR_IF) {
            i = i->next;
            continue;
        }
        if (i->op == IR_IF) {
            while (qn__defined_by(i->operands[0], IR_NOT)) swap_regions(f, i);
            const int known = known_condition(f, i->operands[0]);
            if (known >= 0) {
                i = take_region(f, i, i->regions[known ? 0 : 1]);
                continue;
            }
        }
        ir_instr *next = i->next;
        if (qn__ir_is_jump(i)) note_jump(f, i);
        if (i->op == IR_BLOCK && f->depth < MAX_DEPTH) {
            unsigned budget = QN__MOST_NESTED;
            convert_tail(f, i->regions[0], i, &budget);
        }
        if (qn__ir_is_construct(i)) {
            visit_construct(f, i);
            if (next && !next->parent) next = NULL; /* cut off */
        }
        i = next;
    }
}

static void replace_all(flow *f, ir_region *region) {
    for (ir_instr *i = region->first; i; i = i->next) {
        qn__rewrite_operands(&f->rewrite, i);
        for (uint32_t r = 0; r < i->num_regions; r++) replace_all(f, i->regions[r]);
    }
}

bool qn__pass_flow(qn__pass_context *context) {
    flow f = {.context = context, .function = context->function};
    visit_region(&f, context->function->body);
    if (f.changed) replace_all(&f, context->function->body);
    return f.changed;
}
