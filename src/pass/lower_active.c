/* Reductions and scans over those work-items of a sub-group that are active, for targets that join all of it only: the
   active ones are told by a ballot, and each joins their values one after another, in order of their ids.

       %s = group_reduce active combine add scope sub_group %x   ->   %m = sub_group_ballot active true
                                                                      %s = loop (%rest = %m, %sum = 0) {
                                                                        if %rest != 0 {} else { break %sum }
                                                                        %y = sub_group_shuffle active %x, ctz %rest
                                                                        continue %rest & %rest - 1, %sum + %y }

   Where uniformity analysis shows that all of a sub-group come by, all are active, and the flag goes. */
#include "pass/analysis.h"
#include "pass/group.h"

enum { MOST_WORDS = 4 }; /* of a ballot */

typedef struct lowering {
    qn__group g; /* without scratch memory */
    qn__uniformity uniformity;
    const qn__target *target;
    bool diverged; /* some work-items have returned */
    bool changed;
} lowering;

/* ---- joining one after another ---- */

/* What a loop carries: the work-items to come, what those before gave, and whether any did. */
enum { REST, SUM, SEEN, NUM_CARRIED };

static ir_value *from_active(qn__group *g, ir_op op, ir_value *const *operands, uint32_t count,
                             ir_type type) {
    ir_instr *made = qn__ir_emit(&g->b, op, operands, count, &type, 1);
    made->attr.scope = IR_SCOPE_SUB_GROUP;
    made->flags = IR_ACTIVE;
    return made->results[0];
}

/* Whether a scan takes the value of the work-item `from`. */
static ir_value *is_taken(qn__group *g, const ir_instr *i, ir_value *from) {
    if (i->op == IR_GROUP_REDUCE) return qn__ir_const_bool(g->function, true);
    ir_value *self = qn__ir_query(&g->b, IR_SUB_GROUP_LOCAL_ID, 0);
    return qn__group_op(g, i->flags & IR_EXCLUSIVE ? IR_ULT : IR_ULE, from, self);
}

/* Joins with carried[SUM] what the work-items of one word of the ballot have. */
static void join_word(qn__group *g, const ir_instr *i, ir_value **carried, unsigned word) {
    const ir_builder outside = g->b;
    const ir_type types[] = {carried[SUM]->type, carried[SEEN]->type};
    ir_instr *loop = qn__ir_loop(&g->b, carried, NUM_CARRIED, types, 2);
    loop->attr.unroll = 1;
    ir_value **params = loop->regions[0]->params;
    qn__ir_at_end(&g->b, loop->regions[0]);
    ir_instr *test = qn__ir_if(&g->b, qn__group_with(g, IR_NE, params[REST], 0), NULL, 0);
    qn__ir_at_end(&g->b, test->regions[0]);
    qn__ir_yield(&g->b, NULL, 0);
    qn__ir_at_end(&g->b, test->regions[1]);
    qn__ir_break(&g->b, loop, &params[SUM], 2);
    qn__ir_at_end(&g->b, loop->regions[0]);
    ir_value *from = qn__ir_op1(&g->b, IR_CTZ, params[REST]);
    if (word) from = qn__group_with(g, IR_ADD, from, 32 * word);
    ir_value *operands[] = {i->operands[0], from};
    ir_value *value = from_active(g, IR_SUB_GROUP_SHUFFLE, operands, 2, types[0]);
    ir_value *taken = is_taken(g, i, from);
    ir_value *joined = qn__ir_combine(&g->b, i->attr.combine, params[SUM], value);
    ir_value *next[NUM_CARRIED];
    next[REST] = qn__group_op(g, IR_AND, params[REST], qn__group_with(g, IR_SUB, params[REST], 1));
    next[SUM] = qn__ir_select(&g->b, taken, joined, params[SUM]);
    next[SEEN] = qn__ir_select(&g->b, taken, qn__group_word(g, 1), params[SEEN]);
    qn__ir_continue(&g->b, loop, next, NUM_CARRIED);
    g->b = outside;
    carried[SUM] = loop->results[0];
    carried[SEEN] = loop->results[1];
}

static ir_value *joined(lowering *l, const ir_instr *i) {
    qn__group *g = &l->g;
    const ir_combine combine = i->attr.combine;
    const ir_kind kind = (ir_kind)i->results[0]->type.kind;
    /* Where a sub-group is 32 consecutive ids, a ballot has one word. */
    const unsigned words = l->target->lacks_linear_sub_groups ? MOST_WORDS : 1;
    ir_value *comes_by = qn__ir_const_bool(g->function, true);
    ir_value *active = from_active(g, IR_SUB_GROUP_BALLOT, &comes_by, 1, qn__ir_type(IR_I32, MOST_WORDS));
    ir_value *carried[NUM_CARRIED];
    carried[SUM] = qn__group_identity(g, combine, kind, true);
    carried[SEEN] = qn__group_word(g, 0);
    for (unsigned word = 0; word < words; word++) {
        carried[REST] = qn__ir_extract(&g->b, active, word);
        join_word(g, i, carried, word);
    }
    if (!(i->flags & IR_EXCLUSIVE)) return carried[SUM];
    ir_value *nothing = qn__group_identity(g, combine, kind, false);
    return qn__ir_select(&g->b, qn__group_with(g, IR_NE, carried[SEEN], 0), carried[SUM], nothing);
}

/* ---- what is lowered ---- */

static bool is_word_reduction(const ir_instr *i) {
    return i->op == IR_GROUP_REDUCE && qn__ir_is_int(i->results[0]->type) &&
           qn__ir_bits(i->results[0]->type) <= 32 && i->attr.combine != IR_COMBINE_MUL;
}

static bool is_lowered(const lowering *l, const ir_instr *i) {
    if ((i->op != IR_GROUP_REDUCE && i->op != IR_GROUP_SCAN) || !(i->flags & IR_ACTIVE)) return false;
    if (i->results[0]->type.kind == IR_I64 && l->target->lacks_i64) return true;
    if (qn__group_lacks_scan(l->target, i)) return true;
    return l->target->lacks_active && !(l->target->has_active_reductions && is_word_reduction(i));
}

static void visit(lowering *l, ir_region *region, bool diverged) {
    for (ir_instr *i = region->first, *next; i; i = next) {
        next = i->next;
        qn__rewrite_operands(&l->g.rewrite, i);
        if (i->op == IR_RETURN && diverged) l->diverged = true;
        const bool diverges = qn__ir_is_construct(i) && qn__uniformity_is_varying_branch(&l->uniformity, i);
        for (uint32_t r = 0; r < i->num_regions; r++) visit(l, i->regions[r], diverged || diverges);
        if (qn__ir_is_together((ir_op)i->op) && i->flags & IR_ACTIVE && !diverged && !l->diverged) {
            i->flags &= (uint16_t)~IR_ACTIVE;
            l->changed = true;
        }
        if (!is_lowered(l, i)) continue;
        qn__ir_at(&l->g.b, i);
        qn__rewrite_set(&l->g.rewrite, i->results[0], joined(l, i));
        qn__ir_unlink(i);
        l->changed = true;
    }
}

bool qn__pass_lower_active(qn__pass_context *context) {
    if (!qn__has_op(context->function, IR_GROUP_ALL, IR_SUB_GROUP_BALLOT)) return false;
    lowering l = {
        .g = {.context = context, .function = context->function, .b = {.function = context->function}},
        .target = &context->options->target,
        .uniformity = qn__uniformity_analyse_sub_group(context->scratch, context->function)};
    visit(&l, context->function->body, false);
    return l.changed;
}
