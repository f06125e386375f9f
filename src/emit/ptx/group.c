/* What work-items do together in the PTX target: barriers, and the collectives of a sub-group, which is a warp.
   Those of a work-group have been lowered to these, but for votes, which a barrier can take. The member mask names
   the lanes that exist, as the last sub-group of a group may have fewer than 32, or, where some of them may be elsewhere,
   those that come by. */
#include "emit/ptx/internal.h"

/* Where all come by, (1 << rest) - 1; PTX's shift gives 0 from 32 on. */
static ptx_operand member_mask(ptx_emitter *e, const ir_instr *instr) {
    if (instr->flags & IR_ACTIVE) {
        qn__ptx_require(e, 60, 62);
        ptx_operand active = qn__ptx_new(e, PTX_B32);
        qn__ptx(e, "activemask.b32 =;", active);
        return active;
    }
    qn__ptx_require(e, 60, 60);
    if (qn__ptx_has_whole_sub_groups(e)) return qn__ptx_int(PTX_B32, UINT32_MAX);
    ptx_operand one = qn__ptx_int(PTX_B32, 1);
    ptx_operand bit = qn__ptx_op2(e, "shl.b32", PTX_B32, one, qn__ptx_sub_group_rest(e));
    return qn__ptx_op2(e, "sub.s32", PTX_B32, bit, one);
}

/* ---- moving values between lanes: 32 bits at a time ---- */

/* `how` is "idx", "up", "down" or "bfly"; *in_range, if wanted, tells whether the source lane exists. */
static ptx_operand shuffle32(ptx_emitter *e, const char *how, ptx_operand a, ptx_operand by,
                             ptx_operand bound, ptx_operand mask, ptx_operand *in_range) {
    ptx_operand r = qn__ptx_new(e, PTX_B32);
    if (!in_range) {
        qn__ptx(e, "shfl.sync.~.b32 =, $, $, $, $;", how, r, a, by, bound, mask);
        return r;
    }
    *in_range = qn__ptx_new(e, PTX_PRED);
    qn__ptx(e, "shfl.sync.~.b32 =|=, $, $, $, $;", how, r, *in_range, a, by, bound, mask);
    return r;
}

static ptx_operand shuffle(ptx_emitter *e, const char *how, ptx_operand a, ptx_operand by, ptx_operand bound,
                           ptx_operand mask, ptx_operand *in_range) {
    a = qn__ptx_in_register(e, a);
    if (a.cls == PTX_B32) {
        uint8_t extended = a.extended;
        a = shuffle32(e, how, a, by, bound, mask, in_range);
        a.extended = extended;
        return a;
    }
    if (a.cls == PTX_B16) {
        a = shuffle32(e, how, qn__ptx_op1(e, "cvt.u32.u16", PTX_B32, a), by, bound, mask, in_range);
        return qn__ptx_op1(e, "cvt.u16.u32", PTX_B16, a);
    }
    if (a.cls == PTX_PRED) {
        ptx_operand zero = qn__ptx_int(PTX_B32, 0);
        a = qn__ptx_op3(e, "selp.b32", PTX_B32, qn__ptx_int(PTX_B32, 1), zero, a);
        a = shuffle32(e, how, a, by, bound, mask, in_range);
        return qn__ptx_op2(e, "setp.ne.s32", PTX_PRED, a, zero);
    }
    ptx_operand low = qn__ptx_new(e, PTX_B32), high = qn__ptx_new(e, PTX_B32), r = qn__ptx_new(e, PTX_B64);
    qn__ptx(e, "mov.b64 {=, =}, $;", low, high, a);
    low = shuffle32(e, how, low, by, bound, mask, NULL);
    high = shuffle32(e, how, high, by, bound, mask, in_range);
    qn__ptx(e, "mov.b64 =, {$, $};", r, low, high);
    return r;
}

static ptx_operand choose(ptx_emitter *e, ptx_operand condition, ptx_operand a, ptx_operand b) {
    static const char *const names[PTX_CLASS_COUNT] = {NULL, "selp.b16", "selp.b32", "selp.b64"};
    return qn__ptx_op3(e, names[b.cls], (ptx_class)b.cls, a, b, condition);
}

/* Sub-group broadcast and shuffle. */
static void from_lane(ptx_emitter *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0];
    ptx_operand mask = member_mask(e, instr), last = qn__ptx_int(PTX_B32, 31);
    ptx_operand index = qn__ptx_use(e, instr->operands[1], 0);
    for (unsigned lane = 0; lane < result->type.lanes; lane++) {
        ptx_operand a = qn__ptx_use(e, instr->operands[0], lane);
        qn__ptx_define(e, result, lane, shuffle(e, "idx", a, index, last, mask, NULL));
    }
}

/* ---- reductions and scans ---- */

static const char *redux_name(unsigned combine) {
    static const char *const names[IR_COMBINE_COUNT] = {
        [IR_COMBINE_ADD] = "add.s32",  [IR_COMBINE_AND] = "and.b32",  [IR_COMBINE_OR] = "or.b32",
        [IR_COMBINE_XOR] = "xor.b32",  [IR_COMBINE_SMIN] = "min.s32", [IR_COMBINE_SMAX] = "max.s32",
        [IR_COMBINE_UMIN] = "min.u32", [IR_COMBINE_UMAX] = "max.u32",
    };
    return names[combine];
}

static ptx_operand redux(ptx_emitter *e, const ir_instr *instr, ptx_operand a, ptx_operand mask) {
    const unsigned combine = instr->attr.combine, width = qn__ir_bits(instr->results[0]->type);
    if (qn__ir_combine_is_signed(combine)) a = qn__ptx_sext(e, a, width);
    if (combine == IR_COMBINE_UMIN || combine == IR_COMBINE_UMAX) a = qn__ptx_zext(e, a, width);
    qn__ptx_require(e, 80, 70);
    ptx_operand r = qn__ptx_new(e, PTX_B32);
    qn__ptx(e, "redux.sync.~ =, $, $;", redux_name(combine), r, qn__ptx_in_register(e, a), mask);
    return r;
}

/* Down a tree to lane 0, and from there to all. */
static void reduce(ptx_emitter *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0];
    const ir_kind kind = (ir_kind)result->type.kind;
    const ir_combine combine = (ir_combine)instr->attr.combine;
    ptx_operand a = qn__ptx_in_register(e, qn__ptx_use(e, instr->operands[0], 0)),
                mask = member_mask(e, instr);
    if (e->arch >= 80 && a.cls == PTX_B32 && redux_name(combine) && kind <= IR_I32) {
        qn__ptx_define(e, result, 0, redux(e, instr, a, mask));
        return;
    }
    ptx_operand last = qn__ptx_int(PTX_B32, 31);
    if (!qn__ptx_has_whole_sub_groups(e)) {
        last = qn__ptx_op2(e, "min.u32", PTX_B32, qn__ptx_sub_group_rest(e), qn__ptx_int(PTX_B32, 32));
        last = qn__ptx_op2(e, "sub.s32", PTX_B32, last, qn__ptx_int(PTX_B32, 1));
    }
    for (unsigned step = 16; step; step /= 2) {
        ptx_operand in_range;
        ptx_operand other = shuffle(e, "down", a, qn__ptx_int(PTX_B32, step), last, mask, &in_range);
        a.extended = other.extended = 0;
        a = choose(e, in_range, qn__ptx_combine(e, combine, kind, a, other), a);
    }
    ptx_operand zero = qn__ptx_int(PTX_B32, 0);
    qn__ptx_define(e, result, 0, shuffle(e, "idx", a, zero, qn__ptx_int(PTX_B32, 31), mask, NULL));
}

/* What an exclusive scan gives the first. */
static ptx_operand identity(const ir_instr *instr, ptx_class cls) {
    const ir_kind kind = (ir_kind)instr->results[0]->type.kind;
    return qn__ptx_int(cls, qn__ir_combine_identity(instr->attr.combine, kind, false));
}

static void scan(ptx_emitter *e, const ir_instr *instr) {
    const ir_value *result = instr->results[0];
    const ir_kind kind = (ir_kind)result->type.kind;
    const ir_combine combine = (ir_combine)instr->attr.combine;
    ptx_operand a = qn__ptx_in_register(e, qn__ptx_use(e, instr->operands[0], 0)),
                mask = member_mask(e, instr);
    ptx_operand first = qn__ptx_int(PTX_B32, 0), in_range;
    for (unsigned step = 1; step < 32; step *= 2) {
        ptx_operand other = shuffle(e, "up", a, qn__ptx_int(PTX_B32, step), first, mask, &in_range);
        a.extended = other.extended = 0;
        a = choose(e, in_range, qn__ptx_combine(e, combine, kind, other, a), a);
    }
    if (instr->flags & IR_EXCLUSIVE) {
        ptx_operand before = shuffle(e, "up", a, qn__ptx_int(PTX_B32, 1), first, mask, &in_range);
        a = choose(e, in_range, before, qn__ptx_in_register(e, identity(instr, (ptx_class)a.cls)));
    }
    qn__ptx_define(e, result, 0, a);
}

/* ---- votes, barriers ---- */

static void vote(ptx_emitter *e, const ir_instr *instr, bool of_group) {
    bool all = instr->op == IR_GROUP_ALL;
    ptx_operand a = qn__ptx_in_register(e, qn__ptx_use(e, instr->operands[0], 0)),
                r = qn__ptx_new(e, PTX_PRED);
    if (of_group)
        qn__ptx(e, "bar.red.~.pred =, 0, $;", all ? "and" : "or", r, a);
    else
        qn__ptx(e, "vote.sync.~.pred =, $, $;", all ? "all" : "any", r, a, member_mask(e, instr));
    qn__ptx_define(e, instr->results[0], 0, r);
}

static void ballot(ptx_emitter *e, const ir_instr *instr) {
    ptx_operand a = qn__ptx_in_register(e, qn__ptx_use(e, instr->operands[0], 0)),
                mask = member_mask(e, instr);
    ptx_operand r = qn__ptx_new(e, PTX_B32);
    qn__ptx(e, "vote.sync.ballot.b32 =, $, $;", r, a, mask);
    qn__ptx_define(e, instr->results[0], 0, r);
    for (unsigned i = 1; i < 4; i++) qn__ptx_define(e, instr->results[0], i, qn__ptx_int(PTX_B32, 0));
}

static void barrier(ptx_emitter *e, const ir_instr *instr, bool of_group) {
    if (of_group)
        qn__ptx(e, "bar.sync 0;");
    else
        qn__ptx(e, "bar.warp.sync $;", member_mask(e, instr));
}

bool qn__ptx_group(ptx_emitter *e, const ir_instr *instr) {
    const bool of_group = !qn__ir_is_of_sub_group(instr);
    switch (instr->op) {
    case IR_BARRIER: barrier(e, instr, of_group); return true;
    case IR_GROUP_ALL:
    case IR_GROUP_ANY: vote(e, instr, of_group); return true;
    case IR_SUB_GROUP_BALLOT: ballot(e, instr); return true;
    case IR_GROUP_BROADCAST:
    case IR_SUB_GROUP_SHUFFLE:
        if (of_group) return false;
        from_lane(e, instr);
        return true;
    case IR_GROUP_REDUCE:
        if (of_group) return false;
        reduce(e, instr);
        return true;
    case IR_GROUP_SCAN:
        if (of_group) return false;
        scan(e, instr);
        return true;
    default: return false;
    }
}
