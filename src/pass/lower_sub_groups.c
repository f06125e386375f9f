/* Sub-groups where the device has none: QN__CHUNK work-items (or as many as the kernel requires) of consecutive
   linear ids. Each writes its value into local memory, all of the work-group wait, and each reads what it needs.

       %s = group_reduce scope sub_group %x   ->   barrier; scratch[id] = %x; barrier
                                                   %s = scratch[first] + ... + scratch[last of my 32]

   That is right only where all work-items of the work-group come by together, which uniformity analysis has to
   show; otherwise the kernel is refused, and the message names the place.

   Where the device has sub-groups, but no barriers of theirs, these become the work-group's in the same way, and all
   of it is done for a kernel that asks for another size. */
#include "pass/group.h"

typedef struct lowering {
    qn__group g;
    qn__uniformity uniformity;
    uint32_t size;                /* of a sub-group */
    ir_value *first, *end, *lane; /* linear ids of this sub-group's first, and behind its last; id in it */
    bool wide, any, diverged, changed;
    bool barriers_alone; /* the device does the rest */
} lowering;

static bool is_query(const ir_instr *i) {
    return i->op >= IR_SUB_GROUP_SIZE && i->op <= IR_SUB_GROUP_LOCAL_ID;
}

static bool is_lowered(const lowering *l, const ir_instr *i) {
    if (l->barriers_alone) return i->op == IR_BARRIER && qn__ir_is_of_sub_group(i);
    return qn__ir_is_of_sub_group(i) || is_query(i);
}

/* ---- looking first ---- */

/* Below a construct whose work-items diverge, or behind a return that only some take. */
static void look(lowering *l, const ir_region *region, bool diverged) {
    for (const ir_instr *i = region->first; i && !l->g.context->error; i = i->next) {
        const bool exchange = is_lowered(l, i) && !is_query(i);
        l->any |= is_lowered(l, i);
        if (exchange && i->num_operands && qn__ir_bits(i->operands[0]->type) == 64) l->wide = true;
        if (exchange && (diverged || l->diverged))
            qn__pass_refuse(
                l->g.context, i->loc,
                l->barriers_alone
                    ? "a sub-group's barrier where the work-items of a work-group may diverge; this device "
                      "has the work-group's alone"
                    : "a sub-group operation where the work-items of a work-group may diverge; this device "
                      "has no sub-groups, or none of the size that is required");
        if (i->op == IR_RETURN && diverged) l->diverged = true;
        if (!qn__ir_is_construct(i)) continue;
        const bool diverges = diverged || qn__uniformity_is_varying_branch(&l->uniformity, i);
        for (uint32_t r = 0; r < i->num_regions; r++) look(l, i->regions[r], diverges);
    }
}

/* ---- ops ---- */

static ir_value *query(lowering *l, const ir_instr *i) {
    qn__group *g = &l->g;
    switch (i->op) {
    case IR_SUB_GROUP_SIZE: return qn__group_op(g, IR_SUB, l->end, l->first);
    case IR_MAX_SUB_GROUP_SIZE: return qn__group_word(g, l->size);
    case IR_NUM_SUB_GROUPS:
        return qn__group_with(g, IR_UDIV, qn__group_with(g, IR_ADD, g->items, (int64_t)l->size - 1), l->size);
    case IR_SUB_GROUP_ID: return qn__group_with(g, IR_UDIV, l->first, l->size);
    default: return l->lane;
    }
}

/* Every work-item's value in its place, for all to read. */
static void share(lowering *l, ir_value *value) {
    qn__group *g = &l->g;
    qn__group_before_writes(g);
    qn__group_store(g, qn__group_place(g, g->linear), value);
    qn__group_before_reads(g);
}

static ir_value *reduce(lowering *l, ir_combine combine, ir_value *value) {
    share(l, value);
    return qn__group_fold(&l->g, combine, value->type, l->first, l->end, false);
}

typedef struct scan_state {
    lowering *l;
    const ir_instr *instr;
} scan_state;

static ir_value *nothing_before(void *user) {
    const scan_state *s = user;
    return qn__group_identity(&s->l->g, s->instr->attr.combine, (ir_kind)s->instr->results[0]->type.kind,
                              false);
}

static ir_value *all_before(void *user) {
    const scan_state *s = user;
    qn__group *g = &s->l->g;
    return qn__group_fold(g, s->instr->attr.combine, s->instr->results[0]->type, s->l->first, g->linear,
                          false);
}

static ir_value *scan(lowering *l, const ir_instr *i) {
    qn__group *g = &l->g;
    const ir_type type = i->results[0]->type;
    scan_state state = {l, i};
    share(l, i->operands[0]);
    if (i->flags & IR_EXCLUSIVE)
        return qn__group_choose(g, qn__group_with(g, IR_EQ, l->lane, 0), type, nothing_before, all_before,
                                &state);
    return qn__group_fold(g, i->attr.combine, type, l->first, qn__group_with(g, IR_ADD, g->linear, 1), false);
}

static ir_value *take(lowering *l, ir_value *value, ir_value *index) {
    qn__group *g = &l->g;
    ir_value *lanes[16], *from = qn__group_with(g, IR_AND, index, (int64_t)l->size - 1);
    from = qn__group_op(g, IR_ADD, l->first, from);
    from = qn__group_smaller(g, from, qn__group_with(g, IR_SUB, g->items, 1));
    ir_value *place = qn__group_place(g, from);
    for (unsigned lane = 0; lane < value->type.lanes; lane++) {
        share(l, value->type.lanes == 1 ? value : qn__ir_extract(&g->b, value, lane));
        lanes[lane] = qn__group_load(g, place, qn__ir_element(value->type));
    }
    return value->type.lanes == 1 ? lanes[0] : qn__ir_vector(&g->b, lanes, value->type.lanes);
}

static ir_value *as_word(lowering *l, ir_value *condition) {
    return qn__ir_convert(&l->g.b, IR_ZEXT, condition, qn__ir_type(IR_I32, 1));
}

static ir_value *vote(lowering *l, ir_combine combine, ir_value *condition) {
    return qn__group_with(&l->g, IR_NE, reduce(l, combine, as_word(l, condition)), 0);
}

static ir_value *ballot(lowering *l, ir_value *condition) {
    ir_value *bit = qn__group_op(&l->g, IR_SHL, as_word(l, condition), l->lane),
             *zero = qn__group_word(&l->g, 0);
    ir_value *lanes[4] = {reduce(l, IR_COMBINE_OR, bit), zero, zero, zero};
    return qn__ir_vector(&l->g.b, lanes, 4);
}

static ir_value *exchange(lowering *l, const ir_instr *i) {
    switch (i->op) {
    case IR_GROUP_ALL: return vote(l, IR_COMBINE_AND, i->operands[0]);
    case IR_GROUP_ANY: return vote(l, IR_COMBINE_OR, i->operands[0]);
    case IR_GROUP_REDUCE: return reduce(l, i->attr.combine, i->operands[0]);
    case IR_GROUP_SCAN: return scan(l, i);
    case IR_SUB_GROUP_BALLOT: return ballot(l, i->operands[0]);
    case IR_GROUP_BROADCAST:
    case IR_SUB_GROUP_SHUFFLE: return take(l, i->operands[0], i->operands[1]);
    default:
        qn__pass_refuse(l->g.context, i->loc,
                        qn__arena_printf(l->g.context->module->arena,
                                         "this device has no sub-groups, nor is there "
                                         "another way to do '%s'",
                                         qn__ir_ops[i->op].name));
        return qn__ir_undef(l->g.context->function, i->results[0]->type);
    }
}

static void lower(lowering *l, ir_instr *i) {
    l->changed = true;
    if (i->op == IR_BARRIER) {
        i->attr.scope = IR_SCOPE_WORK_GROUP;
        return;
    }
    qn__ir_at(&l->g.b, i);
    qn__rewrite_set(&l->g.rewrite, i->results[0], is_query(i) ? query(l, i) : exchange(l, i));
    qn__ir_unlink(i);
}

/* ---- all of them ---- */

static void visit(lowering *l, ir_region *region) {
    for (ir_instr *i = region->first, *next; i; i = next) {
        next = i->next;
        qn__rewrite_operands(&l->g.rewrite, i);
        l->g.loops += i->op == IR_LOOP;
        for (uint32_t r = 0; r < i->num_regions; r++) visit(l, i->regions[r]);
        l->g.loops -= i->op == IR_LOOP;
        if (is_lowered(l, i)) lower(l, i);
    }
}

static void begin(lowering *l, qn__pass_context *context) {
    qn__group *g = &l->g;
    const uint32_t required = context->function->required_sub_group_size;
    const bool usable = required && required < QN__CHUNK && (required & (required - 1)) == 0;
    qn__group_begin(g, context, l->wide);
    l->size = usable ? required : QN__CHUNK;
    l->lane = qn__group_with(g, IR_AND, g->linear, (int64_t)l->size - 1);
    l->first = qn__group_op(g, IR_SUB, g->linear, l->lane);
    l->end = qn__group_smaller(g, qn__group_with(g, IR_ADD, l->first, l->size), g->items);
}

bool qn__pass_lower_sub_groups(qn__pass_context *context) {
    const qn__target *target = &context->options->target;
    const uint32_t required = context->function->required_sub_group_size;
    lowering l = {.uniformity = qn__uniformity_analyse(context->scratch, context->function)};
    l.g.context = context;
    l.barriers_alone = !target->lacks_sub_groups && (!required || required == target->sub_group_size);
    look(&l, context->function->body, false);
    if (!l.any || context->error) return false;
    if (!l.barriers_alone) begin(&l, context);
    visit(&l, context->function->body);
    return l.changed;
}
