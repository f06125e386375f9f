/* For targets that have i8 or i16 in memory and in moves at most: what computes on them does so in i32, and cuts off
   what is above. Operands get zeros above, or their sign where it counts. For drivers that lose the sign of what they
   have negated (lower_cut_signs.c) the ops that take signs are lowered alike, but of what is loaded.

       %s = add %a, %b  (i8)       ->     %s = trunc (add (zext %a), (zext %b))
       %c = slt %a, %b  (i8)       ->     %c = slt (sext %a), (sext %b)  */
#include "pass/tools.h"

typedef struct lowering {
    ir_builder builder;
    qn__rewrite rewrite;
    const qn__target *target;
    bool changed;
} lowering;

static bool is_narrow(const lowering *l, const ir_value *value) {
    return (value->type.kind == IR_I8 && l->target->lacks_i8) ||
           (value->type.kind == IR_I16 && l->target->lacks_i16);
}

static bool takes_sign(const ir_instr *i) {
    const bool joins = qn__ir_ops[i->op].has & IR_ATTR_COMBINE;
    return joins ? qn__ir_combine_is_signed(i->attr.combine) : qn__ir_is_signed(i->op);
}

static bool loses_sign(const lowering *l, const ir_instr *i) {
    const unsigned kind = i->operands[0]->type.kind;
    if (!l->target->lacks_cut_signs || (kind != IR_I8 && kind != IR_I16) || !takes_sign(i)) return false;
    for (uint32_t n = 0; n < i->num_operands; n++)
        if (!qn__ir_is_const(i->operands[n]) && !qn__is_loaded(i->operands[n])) return true;
    return false;
}

static bool computes(const lowering *l, const ir_instr *i) {
    if (!i->num_results || !i->num_operands) return false;
    if (!is_narrow(l, i->operands[0]) && !loses_sign(l, i)) return false;
    switch (qn__ir_ops[i->op].rule) {
    case RULE_INT:
    case RULE_LOGIC:
    case RULE_COMPARE: return true;
    default: return i->op == IR_S2F || i->op == IR_U2F || i->op == IR_GROUP_REDUCE || i->op == IR_GROUP_SCAN;
    }
}

/* A half that the target keeps as f32, or only moves, has its bits in an i16 alone. */
static bool is_kept_wide(const lowering *l, ir_type type) {
    return type.kind == IR_F16 && (l->target->lacks_f16_values || l->target->lacks_f16);
}

static bool regroups(const lowering *l, const ir_instr *i) {
    const ir_value *a = i->num_operands ? i->operands[0] : NULL;
    return i->op == IR_BITCAST && a->type.lanes != i->results[0]->type.lanes &&
           (is_narrow(l, a) || is_narrow(l, i->results[0]) || is_kept_wide(l, a->type) ||
            is_kept_wide(l, i->results[0]->type));
}

/* ---- ops ---- */

static ir_value *op(lowering *l, ir_op op, ir_value *a, ir_value *b) {
    return qn__ir_op2(&l->builder, op, a, b);
}

static ir_value *number(lowering *l, const ir_value *like, uint64_t value) {
    return qn__ir_const_splat(l->builder.function, like->type, value);
}

/* With zeros above: (x << n | x >> width - n), cut off. */
static ir_value *rotate(lowering *l, ir_value *a, ir_value *by, unsigned width) {
    ir_value *up = op(l, IR_SHL, a, by), *back = op(l, IR_SUB, number(l, a, width), by);
    return op(l, IR_OR, up, op(l, IR_LSHR, a, back));
}

/* `a` and `b` have 32 bits, `width` of which were there before. */
static ir_value *compute(lowering *l, const ir_instr *i, ir_value *a, ir_value *b, unsigned width) {
    ir_builder *builder = &l->builder;
    if (i->op == IR_SHL || i->op == IR_LSHR || i->op == IR_ASHR || i->op == IR_ROTL)
        b = op(l, IR_AND, b, number(l, b, width - 1));
    switch (i->op) {
    case IR_ROTL: return rotate(l, a, b, width);
    case IR_UMULHI:
    case IR_SMULHI:
        b = op(l, IR_MUL, a, b);
        return op(l, i->op == IR_UMULHI ? IR_LSHR : IR_ASHR, b, number(l, a, width));
    case IR_CLZ: b = qn__ir_op1(builder, IR_CLZ, a); return op(l, IR_SUB, b, number(l, a, 32 - width));
    case IR_CTZ: return qn__ir_op1(builder, IR_CTZ, op(l, IR_OR, a, number(l, a, UINT64_C(1) << width)));
    default: break;
    }
    ir_value *operands[] = {a, b};
    const bool same = qn__ir_ops[i->op].rule == RULE_INT || qn__ir_ops[i->op].rule == RULE_LOGIC ||
                      qn__ir_ops[i->op].rule == RULE_GROUP;
    const ir_type type = same ? a->type : i->results[0]->type;
    ir_instr *made = qn__ir_emit(builder, (ir_op)i->op, operands, i->num_operands, &type, 1);
    made->attr = i->attr;
    made->flags = same ? i->flags & IR_EXCLUSIVE : i->flags;
    ir_value *value = made->results[0];
    if (i->op != IR_GROUP_SCAN || !(i->flags & IR_EXCLUSIVE) || !takes_sign(i)) return value;
    /* before the first there is no value of the type, but the greatest or least word */
    const uint64_t nothing = qn__ir_combine_nothing(i->attr.combine, (ir_kind)i->results[0]->type.kind);
    return qn__ir_combine(builder, (ir_combine)i->attr.combine, value, number(l, value, nothing));
}

static void lower(lowering *l, ir_instr *i) {
    const ir_type narrow = i->operands[0]->type, word = qn__ir_type(IR_I32, narrow.lanes);
    const ir_op extend = takes_sign(i) ? IR_SEXT : IR_ZEXT;
    ir_value *operands[2] = {NULL};
    for (uint32_t n = 0; n < i->num_operands; n++)
        operands[n] =
            qn__ir_convert(&l->builder, n && i->op == IR_ASHR ? IR_ZEXT : extend, i->operands[n], word);
    ir_value *value = compute(l, i, operands[0], operands[1], qn__ir_bits(narrow));
    if (i->results[0]->type.kind == narrow.kind) value = qn__ir_convert(&l->builder, IR_TRUNC, value, narrow);
    qn__rewrite_set(&l->rewrite, i->results[0], value);
}

static void regroup(lowering *l, ir_instr *i) {
    const ir_type bits = qn__ir_type(IR_I16, 1), result = i->results[0]->type;
    ir_value *from = i->operands[0], *in[16], *out[16];
    ir_type taken = from->type, to = result;
    if (is_kept_wide(l, taken)) taken.kind = IR_I16;
    if (is_kept_wide(l, result)) to.kind = IR_I16;
    for (unsigned n = 0; n < from->type.lanes; n++)
        in[n] = from->type.lanes == 1 ? from : qn__ir_extract(&l->builder, from, n);
    for (unsigned n = 0; n < taken.lanes && taken.kind != from->type.kind; n++)
        in[n] = qn__ir_convert(&l->builder, IR_BITCAST, in[n], bits);
    qn__regroup_bits(&l->builder, in, taken, to, out);
    for (unsigned n = 0; n < to.lanes && to.kind != result.kind; n++)
        out[n] = qn__ir_convert(&l->builder, IR_BITCAST, out[n], qn__ir_type(IR_F16, 1));
    qn__rewrite_set(&l->rewrite, i->results[0],
                    to.lanes == 1 ? out[0] : qn__ir_vector(&l->builder, out, to.lanes));
}

/* ---- all of them ---- */

static void visit(lowering *l, ir_region *region) {
    for (ir_instr *i = region->first, *next; i; i = next) {
        ir_instr *before = i->prev;
        next = i->next;
        qn__rewrite_operands(&l->rewrite, i);
        for (uint32_t r = 0; r < i->num_regions; r++) visit(l, i->regions[r]);
        const bool whole = regroups(l, i);
        if (!whole && !computes(l, i)) continue;
        qn__ir_at(&l->builder, i);
        if (whole)
            regroup(l, i);
        else
            lower(l, i);
        qn__ir_unlink(i);
        l->changed = true;
        if (whole) next = before ? before->next : region->first; /* what it became may be narrow */
    }
}

bool qn__pass_lower_narrow(qn__pass_context *context) {
    lowering l = {.builder = {.function = context->function}, .target = &context->options->target};
    visit(&l, context->function->body);
    return l.changed;
}
