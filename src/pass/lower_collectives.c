/* Collectives of a work-group, done with local memory and barriers.

   - A vote is a flag that one sets, and those that object (or agree) change.
   - A broadcast is written by the one and read by all.
   - Reductions and scans join in the order of the linear id. With sub-groups (of 32 consecutive work-items each):
     each sub-group joins its own values, the first one then joins what the others found.
     Without: one work-item in 32 walks through 32 values in local memory, leaving in each place what is joined
     so far, and each then joins the last ones of the chunks before its own.

       %s = group_reduce combine add %x   ->   %p = group_reduce scope sub_group %x
                                               if lane == 0 { scratch[sub_group_id] = %p }; barrier
                                               first sub-group: scratch[0] = sum of scratch[]; barrier
                                               %s = scratch[0]  */
#include "pass/group.h"

typedef struct lowering {
    qn__group g;
    bool sub_groups, wide, any, changed;
    const ir_instr *instr;
    ir_value *id; /* of whose inclusive scan is asked */
} lowering;

static bool is_collective(const ir_instr *i) {
    return i->op >= IR_GROUP_ALL && i->op <= IR_GROUP_SCAN && i->attr.scope == IR_SCOPE_WORK_GROUP;
}

static void look(lowering *l, const ir_region *region) {
    for (const ir_instr *i = region->first; i; i = i->next) {
        const bool found = is_collective(i);
        l->any |= found;
        l->wide |= found && qn__ir_bits(i->operands[0]->type) == 64;
        for (uint32_t r = 0; r < i->num_regions; r++) look(l, i->regions[r]);
    }
}

static ir_value *place(lowering *l, int64_t n) { return qn__group_word(&l->g, n); }

/* ---- votes ---- */

static ir_value *in_sub_group(lowering *l, ir_op op, ir_value *value, const ir_instr *like) {
    ir_instr *made = qn__ir_emit(&l->g.b, op, &value, 1, &value->type, 1);
    if (like) made->attr = like->attr;
    made->attr.scope = IR_SCOPE_SUB_GROUP;
    return made->results[0];
}

static ir_value *lane(lowering *l) { return qn__ir_query(&l->g.b, IR_SUB_GROUP_LOCAL_ID, 0); }

/* Whether any has the condition. */
static ir_value *any(lowering *l, ir_value *condition) {
    qn__group *g = &l->g;
    qn__group_before_writes(g);
    ir_builder outside = qn__group_enter(g, qn__group_with(g, IR_EQ, g->linear, 0));
    ir_value *first = place(l, 0);
    qn__group_store(g, first, qn__group_word(g, 0));
    qn__group_leave(g, outside);
    if (l->sub_groups) {
        condition = in_sub_group(l, IR_GROUP_ANY, condition, NULL);
        condition = qn__group_op(g, IR_AND, condition, qn__group_with(g, IR_EQ, lane(l), 0));
    }
    qn__group_before_reads(g);
    outside = qn__group_enter(g, condition);
    const ir_type type = qn__ir_type(IR_I32, 1);
    ir_instr *set =
        qn__ir_emit(&g->b, IR_ATOMIC_RMW, (ir_value *[]){g->scratch, qn__group_word(g, 1)}, 2, &type, 1);
    set->attr.align = 4;
    set->attr.order = IR_RELAXED;
    set->attr.scope = IR_SCOPE_WORK_GROUP;
    set->attr.combine = IR_COMBINE_OR;
    qn__group_leave(g, outside);
    qn__group_before_reads(g);
    return qn__group_with(g, IR_NE, qn__group_load(g, place(l, 0), type), 0);
}

static ir_value *vote(lowering *l, const ir_instr *i) {
    if (i->op == IR_GROUP_ANY) return any(l, i->operands[0]);
    ir_value *objects = qn__ir_op1(&l->g.b, IR_NOT, i->operands[0]);
    return qn__ir_op1(&l->g.b, IR_NOT, any(l, objects));
}

/* ---- broadcast ---- */

static ir_value *broadcast(lowering *l, const ir_instr *i) {
    qn__group *g = &l->g;
    ir_value *value = i->operands[0], *lanes[16];
    const unsigned count = value->type.lanes;
    qn__group_before_writes(g);
    ir_builder outside = qn__group_enter(g, qn__group_op(g, IR_EQ, g->linear, i->operands[1]));
    for (unsigned n = 0; n < count; n++) {
        ir_value *at = place(l, n);
        qn__group_store(g, at, count == 1 ? value : qn__ir_extract(&g->b, value, n));
    }
    qn__group_leave(g, outside);
    qn__group_before_reads(g);
    for (unsigned n = 0; n < count; n++)
        lanes[n] = qn__group_load(g, place(l, n), qn__ir_element(value->type));
    return count == 1 ? lanes[0] : qn__ir_vector(&g->b, lanes, count);
}

/* ---- reduce and scan with sub-groups ---- */

typedef struct sums {
    ir_value *id, *lane, *count; /* of the sub-group, in it, of sub-groups */
    ir_type type;
} sums;

/* What the sub-groups found, by their ids, as the first sub-group's values; the others come to nothing. */
static ir_value *found_by_others(lowering *l, const sums *s) {
    qn__group *g = &l->g;
    ir_value *last = qn__group_with(g, IR_SUB, s->count, 1);
    ir_value *value = qn__group_load(g, qn__group_smaller(g, s->lane, last), s->type);
    ir_value *nothing = qn__group_identity(g, l->instr->attr.combine, (ir_kind)s->type.kind, true);
    return qn__ir_select(&g->b, qn__group_op(g, IR_ULT, s->lane, s->count), value, nothing);
}

/* Writes each sub-group's `value` of the work-item for which `tells` holds, and joins them: afterwards there is in
   the place of each sub-group what those before it found, for a scan, or in the first place what all found. */
static void join_sub_groups(lowering *l, const sums *s, ir_value *tells, ir_value *value) {
    qn__group *g = &l->g;
    const bool scans = l->instr->op == IR_GROUP_SCAN;
    qn__group_before_writes(g);
    ir_builder outside = qn__group_enter(g, tells);
    qn__group_store(g, s->id, value);
    qn__group_leave(g, outside);
    qn__group_before_reads(g);
    outside = qn__group_enter(g, qn__group_with(g, IR_EQ, s->id, 0));
    ir_value *joined = in_sub_group(l, (ir_op)l->instr->op, found_by_others(l, s), l->instr);
    if (scans) joined->def->flags = IR_EXCLUSIVE;
    ir_value *writes =
        scans ? qn__group_op(g, IR_ULT, s->lane, s->count) : qn__group_with(g, IR_EQ, s->lane, 0);
    const ir_builder inside = qn__group_enter(g, writes);
    qn__group_store(g, s->lane, joined);
    qn__group_leave(g, inside);
    qn__group_leave(g, outside);
    qn__group_before_reads(g);
}

static ir_value *by_sub_groups(lowering *l, const ir_instr *i) {
    qn__group *g = &l->g;
    ir_value *own = i->operands[0];
    sums s = {.type = own->type};
    s.id = qn__ir_query(&g->b, IR_SUB_GROUP_ID, 0);
    s.lane = lane(l);
    s.count = qn__ir_query(&g->b, IR_NUM_SUB_GROUPS, 0);
    ir_value *sum = in_sub_group(l, (ir_op)i->op, own, i); /* inclusive */
    if (i->op == IR_GROUP_REDUCE) {
        join_sub_groups(l, &s, qn__group_with(g, IR_EQ, s.lane, 0), sum);
        return qn__group_load(g, place(l, 0), s.type);
    }
    const bool exclusive = i->flags & IR_EXCLUSIVE;
    ir_value *last = qn__group_with(g, IR_SUB, qn__ir_query(&g->b, IR_SUB_GROUP_SIZE, 0), 1);
    join_sub_groups(l, &s, qn__group_op(g, IR_EQ, s.lane, last), sum);
    ir_value *before = qn__group_load(g, s.id, s.type);
    ir_value *is_first = qn__group_with(g, IR_EQ, s.id, 0);
    if (!exclusive)
        return qn__ir_select(&g->b, is_first, sum, qn__ir_combine(&g->b, i->attr.combine, before, sum));
    ir_value *mine = in_sub_group(l, IR_GROUP_SCAN, own, i);
    mine->def->flags = IR_EXCLUSIVE;
    ir_value *joined = qn__ir_combine(&g->b, i->attr.combine, before, mine);
    joined = qn__ir_select(&g->b, qn__group_with(g, IR_EQ, s.lane, 0), before, joined);
    return qn__ir_select(&g->b, is_first, mine, joined);
}

/* ---- reduce and scan without ---- */

/* Place of the last value of a chunk: what the chunk comes to. */
static ir_value *chunk_end(lowering *l, ir_value *chunk) {
    qn__group *g = &l->g;
    ir_value *last = qn__group_with(g, IR_ADD, qn__group_with(g, IR_SHL, chunk, 5), QN__CHUNK - 1);
    return qn__group_place(g, qn__group_smaller(g, last, qn__group_with(g, IR_SUB, g->items, 1)));
}

/* What the chunks 0 to count-1 come to. */
static ir_value *join_chunks(lowering *l, ir_value *count, ir_type type) {
    qn__group *g = &l->g;
    const ir_builder outside = g->b;
    ir_value *inits[2] = {qn__group_word(g, 1)};
    inits[1] = qn__group_load(g, chunk_end(l, qn__group_word(g, 0)), type);
    ir_instr *loop = qn__ir_loop(&g->b, inits, 2, &type, 1);
    loop->attr.unroll = 1;
    ir_value **params = loop->regions[0]->params;
    qn__ir_at_end(&g->b, loop->regions[0]);
    ir_instr *test = qn__ir_if(&g->b, qn__group_op(g, IR_ULT, params[0], count), NULL, 0);
    qn__ir_at_end(&g->b, test->regions[0]);
    qn__ir_yield(&g->b, NULL, 0);
    qn__ir_at_end(&g->b, test->regions[1]);
    qn__ir_break(&g->b, loop, &params[1], 1);
    qn__ir_at_end(&g->b, loop->regions[0]);
    ir_value *value = qn__group_load(g, chunk_end(l, params[0]), type);
    ir_value *next[2] = {qn__group_with(g, IR_ADD, params[0], 1)};
    next[1] = qn__ir_combine(&g->b, l->instr->attr.combine, params[1], value);
    qn__ir_continue(&g->b, loop, next, 2);
    g->b = outside;
    return loop->results[0];
}

static ir_value *chunk_of(lowering *l) { return qn__group_with(&l->g, IR_LSHR, l->id, 5); }

static ir_value *own_chunk(void *user) {
    lowering *l = user;
    return qn__group_load(&l->g, qn__group_place(&l->g, l->id), l->instr->results[0]->type);
}

static ir_value *with_chunks_before(void *user) {
    lowering *l = user;
    ir_value *before = join_chunks(l, chunk_of(l), l->instr->results[0]->type);
    return qn__ir_combine(&l->g.b, l->instr->attr.combine, before, own_chunk(l));
}

static ir_value *scan_up_to_id(void *user) {
    lowering *l = user;
    ir_value *is_first = qn__group_with(&l->g, IR_EQ, chunk_of(l), 0);
    return qn__group_choose(&l->g, is_first, l->instr->results[0]->type, own_chunk, with_chunks_before, l);
}

static ir_value *nothing_before(void *user) {
    lowering *l = user;
    return qn__group_identity(&l->g, l->instr->attr.combine, (ir_kind)l->instr->results[0]->type.kind, false);
}

static ir_value *by_chunks(lowering *l, const ir_instr *i) {
    qn__group *g = &l->g;
    const ir_type type = i->results[0]->type;
    qn__group_before_writes(g);
    qn__group_store(g, qn__group_place(g, g->linear), i->operands[0]);
    qn__group_before_reads(g);
    ir_value *first = qn__group_with(g, IR_SHL, g->linear, 5);
    const ir_builder outside = qn__group_enter(g, qn__group_op(g, IR_ULT, first, g->items));
    ir_value *end = qn__group_smaller(g, qn__group_with(g, IR_ADD, first, QN__CHUNK), g->items);
    qn__group_fold(g, i->attr.combine, type, first, end, true);
    qn__group_leave(g, outside);
    qn__group_before_reads(g);
    if (i->op == IR_GROUP_REDUCE) {
        ir_value *chunks = qn__group_with(g, IR_ADD, g->items, QN__CHUNK - 1);
        return join_chunks(l, qn__group_with(g, IR_LSHR, chunks, 5), type);
    }
    l->id = g->linear;
    if (!(i->flags & IR_EXCLUSIVE)) return scan_up_to_id(l);
    ir_value *is_first = qn__group_with(g, IR_EQ, g->linear, 0);
    l->id = qn__group_with(g, IR_SUB, g->linear, 1);
    return qn__group_choose(g, is_first, type, nothing_before, scan_up_to_id, l);
}

/* ---- all of them ---- */

static void lower(lowering *l, ir_instr *i) {
    ir_value *value = NULL;
    l->instr = i;
    l->changed = true;
    qn__ir_at(&l->g.b, i);
    switch (i->op) {
    case IR_GROUP_ALL:
    case IR_GROUP_ANY: value = vote(l, i); break;
    case IR_GROUP_BROADCAST: value = broadcast(l, i); break;
    default: value = l->sub_groups ? by_sub_groups(l, i) : by_chunks(l, i); break;
    }
    qn__rewrite_set(&l->g.rewrite, i->results[0], value);
    qn__ir_unlink(i);
}

static void visit(lowering *l, ir_region *region) {
    for (ir_instr *i = region->first, *next; i; i = next) {
        next = i->next;
        qn__rewrite_operands(&l->g.rewrite, i);
        l->g.loops += i->op == IR_LOOP;
        for (uint32_t r = 0; r < i->num_regions; r++) visit(l, i->regions[r]);
        l->g.loops -= i->op == IR_LOOP;
        if (is_collective(i)) lower(l, i);
    }
}

bool qn__pass_lower_collectives(qn__pass_context *context) {
    const qn__target *target = &context->options->target;
    lowering l = {.sub_groups = !target->lacks_sub_groups && !target->lacks_linear_sub_groups};
    if (!qn__has_op(context->function, IR_GROUP_ALL, IR_GROUP_SCAN)) return false;
    look(&l, context->function->body);
    if (!l.any) return false;
    qn__group_begin(&l.g, context, l.wide);
    visit(&l, context->function->body);
    return l.changed;
}
