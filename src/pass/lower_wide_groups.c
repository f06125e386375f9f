/* Reductions and scans of i64 in a sub-group, where the target has it as two words only, and scans that it has no
   instruction for (WGSL's are of sums and products): the values are joined by
   shuffles, in steps twice as wide each time, up to the widest sub-group there is (Hillis and Steele, "Data parallel
   algorithms"). What the last work-item then holds is the reduction. Where each has one known size, as with WGSL, the steps stop there.

       %s = group_reduce combine add scope sub_group %x   ->   %y = sub_group_shuffle %x, lane - 1
                                                               %x1 = lane >= 1 ? %y + %x : %x
                                                               ... lane - 2, lane - 4, up to lane - 64
                                                               %s = sub_group_shuffle %x7, size - 1  */
#include "pass/group.h"

enum { WIDEST_SUB_GROUP = 128 };

static ir_value *shuffle(qn__group *g, ir_value *value, ir_value *from) {
    ir_value *operands[] = {value, from};
    return qn__ir_emit(&g->b, IR_SUB_GROUP_SHUFFLE, operands, 2, &value->type, 1)->results[0];
}

/* The value of the work-item `step` before this one; its own where there is none, so that no index is wrong. */
static ir_value *from_before(qn__group *g, ir_value *value, ir_value *lane, ir_value *is_behind,
                             int64_t step) {
    ir_value *before = qn__group_with(g, IR_SUB, lane, step);
    return shuffle(g, value, qn__ir_select(&g->b, is_behind, before, lane));
}

static ir_value *inclusive_scan(qn__group *g, ir_combine combine, ir_value *value, ir_value *lane) {
    const qn__target *target = &g->context->options->target;
    const bool is_known = target->lacks_sub_group_scans && target->sub_group_size;
    const int64_t widest = is_known ? target->sub_group_size : WIDEST_SUB_GROUP;
    for (int64_t step = 1; step < widest; step *= 2) {
        ir_value *is_behind = qn__ir_op2(&g->b, IR_ULE, qn__group_word(g, step), lane);
        ir_value *before = from_before(g, value, lane, is_behind, step);
        value = qn__ir_select(&g->b, is_behind, qn__ir_combine(&g->b, combine, before, value), value);
    }
    return value;
}

static ir_value *lowered(qn__group *g, const ir_instr *i) {
    const ir_combine combine = i->attr.combine;
    ir_value *lane = qn__ir_query(&g->b, IR_SUB_GROUP_LOCAL_ID, 0);
    ir_value *scan = inclusive_scan(g, combine, i->operands[0], lane);
    if (i->op == IR_GROUP_REDUCE) {
        ir_value *size = qn__ir_query(&g->b, IR_SUB_GROUP_SIZE, 0);
        return shuffle(g, scan, qn__group_with(g, IR_SUB, size, 1));
    }
    if (!(i->flags & IR_EXCLUSIVE)) return scan;
    ir_value *is_behind = qn__group_with(g, IR_NE, lane, 0);
    ir_value *before = from_before(g, scan, lane, is_behind, 1);
    return qn__ir_select(&g->b, is_behind, before,
                         qn__group_identity(g, combine, (ir_kind)i->results[0]->type.kind, false));
}

static bool is_lowered(const qn__group *g, const ir_instr *i) {
    if ((i->op != IR_GROUP_REDUCE && i->op != IR_GROUP_SCAN) || i->attr.scope != IR_SCOPE_SUB_GROUP)
        return false;
    return i->results[0]->type.kind == IR_I64 || qn__group_lacks_scan(&g->context->options->target, i);
}

static bool visit(qn__group *g, ir_region *region) {
    bool changed = false;
    for (ir_instr *i = region->first, *next; i; i = next) {
        next = i->next;
        qn__rewrite_operands(&g->rewrite, i);
        for (uint32_t r = 0; r < i->num_regions; r++) changed |= visit(g, i->regions[r]);
        if (!is_lowered(g, i)) continue;
        qn__ir_at(&g->b, i);
        qn__rewrite_set(&g->rewrite, i->results[0], lowered(g, i));
        qn__ir_unlink(i);
        changed = true;
    }
    return changed;
}

bool qn__pass_lower_wide_groups(qn__pass_context *context) {
    qn__group g = {.context = context, .function = context->function, .b = {.function = context->function}};
    return visit(&g, context->function->body);
}
