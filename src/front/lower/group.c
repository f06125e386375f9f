/* What work-items do together: barriers, votes, broadcasts, reductions, scans, shuffles, ballots. */
#include "front/lower/internal.h"

static ir_value *argument(lower *l, ast_expr *e, size_t i) { return qn__lower_value(l, e->args.data[i]); }

ir_combine qn__lower_combine(int32_t combine, const ast_type *type) {
    enum { FLOAT, UNSIGNED };
    static const uint8_t forms[IR_COMBINE_COUNT][2] = {
        [IR_COMBINE_ADD] = {IR_COMBINE_FADD, IR_COMBINE_ADD},
        [IR_COMBINE_SMIN] = {IR_COMBINE_FMIN, IR_COMBINE_UMIN},
        [IR_COMBINE_SMAX] = {IR_COMBINE_FMAX, IR_COMBINE_UMAX},
        [IR_COMBINE_MUL] = {IR_COMBINE_FMUL, IR_COMBINE_MUL},
    };
    if (combine < 0 || combine >= IR_COMBINE_COUNT) return IR_COMBINE_ADD;
    bool has_forms = combine == IR_COMBINE_ADD || combine == IR_COMBINE_SMIN || combine == IR_COMBINE_SMAX ||
                     combine == IR_COMBINE_MUL;
    if (!has_forms) return (ir_combine)combine;
    if (qn__type_is_float(qn__type_element(type))) return (ir_combine)forms[combine][FLOAT];
    return qn__type_is_signed(type) ? (ir_combine)combine : (ir_combine)forms[combine][UNSIGNED];
}

ir_value *qn__lower_barrier(lower *l, ast_expr *e) {
    for (size_t i = 0; i < e->args.len; i++) qn__lower_effects(l, e->args.data[i]);
    unsigned fence = e->args.len ? qn__lower_fence_bits(e->args.data[0]) : IR_FENCE_LOCAL;
    qn__lower_at(l, e->loc);
    ir_instr *barrier = qn__ir_barrier(&l->b, fence, (ir_scope)e->builtin->variant);
    if (barrier->attr.scope == IR_SCOPE_WORK_GROUP && !l->decl->is_library)
        qn__vec_push(l->arena, &l->barriers, (lower_barrier){barrier, e->loc});
    return NULL;
}

static ir_value *group_op(lower *l, ir_op op, ir_value *const *operands, uint32_t count, ir_type type,
                          ir_scope scope) {
    ir_instr *made = qn__ir_emit(&l->b, op, operands, count, &type, 1);
    made->attr.scope = (uint8_t)scope;
    return made->results[0];
}

/* Others of the sub-group may be elsewhere. */
static ir_value *over_active(ir_value *value) {
    value->def->flags |= IR_ACTIVE;
    return value;
}

ir_value *qn__lower_group_vote(lower *l, ast_expr *e) {
    ir_value *v = qn__lower_truth(l, e->args.data[0]);
    int32_t variant = e->builtin->variant;
    qn__lower_at(l, e->loc);
    v = group_op(l, variant & 1 ? IR_GROUP_ANY : IR_GROUP_ALL, &v, 1, v->type, (ir_scope)(variant % 16 / 2));
    if (variant >= 16) over_active(v);
    return qn__lower_from_bool(l, v, qn__type_to_ir(e->type));
}

/* The linear id of the one that speaks: x + (y + z * size_y) * size_x. */
ir_value *qn__lower_group_broadcast(lower *l, ast_expr *e) {
    ir_value *operands[2] = {argument(l, e, 0), NULL};
    ir_value *ids[3] = {NULL};
    size_t dims = e->args.len > 4 ? 3 : e->args.len - 1;
    for (size_t i = 0; i < dims; i++) ids[i] = argument(l, e, i + 1);
    qn__lower_at(l, e->loc);
    ir_value *linear = qn__lower_resize(l, ids[dims - 1], IR_I32, false);
    for (size_t i = dims - 1; i-- > 0;) {
        ir_value *size = qn__lower_resize(l, qn__ir_query(&l->b, IR_LOCAL_SIZE, (uint32_t)i), IR_I32, false);
        linear = qn__ir_op2(&l->b, IR_MUL, linear, size);
        linear = qn__ir_op2(&l->b, IR_ADD, linear, qn__lower_resize(l, ids[i], IR_I32, false));
    }
    operands[1] = linear;
    return group_op(l, IR_GROUP_BROADCAST, operands, 2, operands[0]->type, (ir_scope)e->builtin->variant);
}

static ir_value *combined(lower *l, ast_expr *e, ir_op op) {
    ir_value *v = argument(l, e, 0);
    qn__lower_at(l, e->loc);
    v = group_op(l, op, &v, 1, v->type, (ir_scope)(e->builtin->variant % 256 / 64));
    v->def->attr.combine = (uint8_t)qn__lower_combine(e->builtin->variant % 32, e->type);
    return e->builtin->variant >= 256 ? over_active(v) : v;
}

ir_value *qn__lower_group_reduce(lower *l, ast_expr *e) { return combined(l, e, IR_GROUP_REDUCE); }

ir_value *qn__lower_group_scan(lower *l, ast_expr *e) {
    ir_value *v = combined(l, e, IR_GROUP_SCAN);
    if (e->builtin->variant & 32) v->def->flags |= IR_EXCLUSIVE;
    return v;
}

/* Whom a shuffle reads from: the given one, or one by its distance from this one. */
static ir_value *shuffle_source(lower *l, int32_t variant, ir_value *given) {
    static const uint16_t ops[] = {IR_ADD, IR_XOR, IR_SUB, IR_ADD, IR_ADD};
    if (variant == 0) return given;
    ir_value *self = qn__ir_query(&l->b, IR_SUB_GROUP_LOCAL_ID, 0);
    ir_value *source = qn__ir_op2(&l->b, (ir_op)ops[variant], self, given);
    if (variant != 4) return source;
    return qn__ir_op2(&l->b, IR_UREM, source, qn__ir_query(&l->b, IR_SUB_GROUP_SIZE, 0));
}

ir_value *qn__lower_sub_group_shuffle(lower *l, ast_expr *e) {
    ir_value *operands[2];
    for (unsigned i = 0; i < 2; i++) operands[i] = argument(l, e, i);
    qn__lower_at(l, e->loc);
    ir_value *given = qn__lower_resize(l, operands[1], IR_I32, false);
    operands[1] = shuffle_source(l, e->builtin->variant, given);
    return over_active(group_op(l, IR_SUB_GROUP_SHUFFLE, operands, 2, operands[0]->type, IR_SCOPE_SUB_GROUP));
}

ir_value *qn__lower_ballot(lower *l, ast_expr *e) {
    ir_value *v = qn__lower_truth(l, e->args.data[0]);
    qn__lower_at(l, e->loc);
    return over_active(group_op(l, IR_SUB_GROUP_BALLOT, &v, 1, qn__ir_type(IR_I32, 4), IR_SCOPE_SUB_GROUP));
}
