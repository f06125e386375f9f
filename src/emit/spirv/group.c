/* Barriers and sub-group operations for SPIR-V (OpGroupNonUniform*). Work-group collectives have been lowered. */
#include "emit/spirv/internal.h"

static void barrier(spv *e, const ir_instr *instr) {
    uint32_t scope = qn__spv_scope(e, instr->attr.scope), semantics = 0;
    if (instr->attr.fence & IR_FENCE_LOCAL) semantics |= SP_WORKGROUP_MEMORY;
    if (instr->attr.fence & IR_FENCE_GLOBAL) semantics |= SP_UNIFORM_MEMORY;
    if (semantics) semantics |= SP_ACQUIRE_RELEASE;
    if (semantics && qn__spv_is_vulkan(e)) semantics |= SP_MAKE_AVAILABLE | SP_MAKE_VISIBLE;
    SPV_DO(e, SP_CONTROL_BARRIER, scope, scope, qn__spv_u32(e, semantics));
}

static uint32_t sub_group(spv *e) { return qn__spv_u32(e, SP_SCOPE_SUBGROUP); }

static uint32_t vote(spv *e, uint16_t op, uint32_t condition) {
    qn__spv_need(e, CAP_GROUP);
    qn__spv_need(e, CAP_GROUP_VOTE);
    return SPV(e, op, qn__spv_bool(e), sub_group(e), condition);
}

uint32_t qn__spv_any(spv *e, uint32_t condition) { return vote(e, SP_GROUP_ANY, condition); }

static uint32_t ballot(spv *e, const ir_instr *instr) {
    qn__spv_need(e, CAP_GROUP);
    qn__spv_need(e, CAP_GROUP_BALLOT);
    return SPV(e, SP_GROUP_BALLOT, qn__spv_type(e, instr->results[0]->type), sub_group(e),
               qn__spv_use(e, instr->operands[0]));
}

/* Broadcast too: its index need not be a constant. Narrow numbers go as 32 bits, which every device shuffles. */
static uint32_t shuffle(spv *e, const ir_instr *instr) {
    ir_type type = instr->results[0]->type, lane = qn__ir_element(type);
    uint32_t value = qn__spv_use(e, instr->operands[0]), from = qn__spv_use(e, instr->operands[1]);
    uint32_t lanes[16], t = qn__spv_memory_type(e, lane), word = qn__spv_u32t(e), scope = sub_group(e);
    qn__spv_need(e, CAP_GROUP);
    qn__spv_need(e, CAP_GROUP_SHUFFLE);
    for (unsigned i = 0; i < type.lanes; i++) {
        uint32_t part = type.lanes == 1 ? value : qn__spv_extract(e, t, value, i);
        if (qn__ir_bits(type) < 32) {
            part =
                SPV(e, SP_GROUP_SHUFFLE, word, scope, qn__spv_lane_bits(e, (ir_kind)type.kind, part), from);
            lanes[i] = qn__spv_bitcast_lane(e, (ir_kind)type.kind, part);
        } else if (qn__ir_bits(type) == 32) {
            lanes[i] = SPV(e, SP_GROUP_SHUFFLE, t, scope, part, from);
        } else {
            uint32_t pair = qn__spv_pair(e), bits = t == pair ? part : SPV(e, SP_BITCAST, pair, part);
            bits = SPV(e, SP_GROUP_SHUFFLE, pair, scope, bits, from);
            lanes[i] = t == pair ? bits : SPV(e, SP_BITCAST, t, bits);
        }
    }
    return qn__spv_build(e, qn__spv_memory_type(e, type), lanes, type.lanes);
}

static uint32_t reduce(spv *e, const ir_instr *instr) {
    static const uint16_t ops[IR_COMBINE_COUNT] = {
        [IR_COMBINE_ADD] = SP_GROUP_I_ADD,  [IR_COMBINE_AND] = SP_GROUP_AND,
        [IR_COMBINE_OR] = SP_GROUP_OR,      [IR_COMBINE_XOR] = SP_GROUP_XOR,
        [IR_COMBINE_SMIN] = SP_GROUP_S_MIN, [IR_COMBINE_SMAX] = SP_GROUP_S_MAX,
        [IR_COMBINE_UMIN] = SP_GROUP_U_MIN, [IR_COMBINE_UMAX] = SP_GROUP_U_MAX,
        [IR_COMBINE_FADD] = SP_GROUP_F_ADD, [IR_COMBINE_FMIN] = SP_GROUP_F_MIN,
        [IR_COMBINE_FMAX] = SP_GROUP_F_MAX, [IR_COMBINE_MUL] = SP_GROUP_I_MUL,
        [IR_COMBINE_FMUL] = SP_GROUP_F_MUL,
    };
    ir_type type = instr->results[0]->type, held = type;
    uint32_t value = qn__spv_use(e, instr->operands[0]);
    unsigned combine = instr->attr.combine;
    bool is_signed = qn__ir_combine_is_signed(combine);
    uint32_t how = instr->op == IR_GROUP_REDUCE  ? SP_REDUCE
                   : instr->flags & IR_EXCLUSIVE ? SP_EXCLUSIVE_SCAN
                                                 : SP_INCLUSIVE_SCAN;
    qn__spv_need(e, CAP_GROUP);
    qn__spv_need(e, CAP_GROUP_ARITHMETIC);
    if (qn__ir_bits(type) < 32) held = qn__ir_type(qn__ir_is_float(type) ? IR_F32 : IR_I32, 1);
    unsigned widen = qn__ir_is_float(type) ? SP_F_CONVERT : is_signed ? SP_S_CONVERT : SP_U_CONVERT;
    unsigned back = qn__ir_is_float(type) ? SP_F_CONVERT : SP_U_CONVERT;
    if (held.kind != type.kind) value = SPV(e, widen, qn__spv_type(e, held), value);
    uint32_t id = SPV(e, ops[combine], qn__spv_type(e, held), sub_group(e), how, value);
    /* Before the first there is no value of the type, but the greatest or least word. */
    if (how == SP_EXCLUSIVE_SCAN && held.kind != type.kind && is_signed)
        id = SPV_GLSL(e, combine == IR_COMBINE_SMIN ? GLSL_S_MIN : GLSL_S_MAX, qn__spv_type(e, held), id,
                      qn__spv_u32(e, qn__ir_combine_nothing(combine, (ir_kind)type.kind)));
    return held.kind != type.kind ? SPV(e, back, qn__spv_memory_type(e, type), id) : id;
}

bool qn__spv_group(spv *e, const ir_instr *instr) {
    uint32_t id;
    if (instr->op == IR_BARRIER) {
        barrier(e, instr);
        return true;
    }
    if (!qn__ir_is_together((ir_op)instr->op)) return false;
    if (!qn__ir_is_of_sub_group(instr)) qn__spv_fail(e, "the target has no collective of a work-group");
    switch (instr->op) {
    case IR_GROUP_ALL: id = vote(e, SP_GROUP_ALL, qn__spv_use(e, instr->operands[0])); break;
    case IR_GROUP_ANY: id = qn__spv_any(e, qn__spv_use(e, instr->operands[0])); break;
    case IR_SUB_GROUP_BALLOT: id = ballot(e, instr); break;
    case IR_GROUP_REDUCE:
    case IR_GROUP_SCAN: id = reduce(e, instr); break;
    case IR_GROUP_BROADCAST:
    case IR_SUB_GROUP_SHUFFLE: id = shuffle(e, instr); break;
    default: return false;
    }
    qn__spv_define(e, instr->results[0], id);
    return true;
}
