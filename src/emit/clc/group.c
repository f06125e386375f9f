/* Work-items in OpenCL C: queries as src/emit/gpu_abi.h has them, barriers, and sub-groups by cl_khr_subgroups
   and its extensions (the OpenCL Extension Specification), for devices that have them. */
#include "emit/clc/internal.h"

/* Sizes lie in two words: of one whose low word is used, compilers know that it has 32 bits, and multiply so. 0: not a
   size. */
static const uint8_t sizes[IR_OP_COUNT] = {[IR_GLOBAL_SIZE] = QN__IMPLICIT_GLOBAL_SIZE,
                                           [IR_ENQUEUED_LOCAL_SIZE] = QN__IMPLICIT_ENQUEUED_SIZE,
                                           [IR_NUM_GROUPS] = QN__IMPLICIT_NUM_GROUPS,
                                           [IR_GLOBAL_OFFSET] = QN__IMPLICIT_GLOBAL_OFFSET};

bool qn__clc_in_words(qn__implicit_kind kind) {
    for (size_t op = 0; op < QN__COUNT(sizes); op++)
        if (sizes[op] && sizes[op] == kind) return true;
    return false;
}

bool qn__clc_is_low_word(const ir_instr *instr) {
    const ir_value *value = instr->op == IR_TRUNC ? instr->operands[0] : NULL;
    return value && value->value_kind == IR_VALUE_RESULT && instr->results[0]->type.kind == IR_I32 &&
           value->type.lanes == 1 && sizes[value->def->op];
}

const char *qn__clc_low_word(clc_emitter *e, const ir_instr *trunc) {
    const ir_instr *size = trunc->operands[0]->def;
    return qn__arena_printf(e->arena, "%s.s0",
                            qn__clc_implicit(e, (qn__implicit_kind)sizes[size->op], size->attr.dim));
}

/* Native ids are of this part of the launch; its offset is the native global offset. */
static const char *query(clc_emitter *e, const ir_instr *instr) {
    unsigned dim = instr->attr.dim;
    if (sizes[instr->op])
        return qn__arena_printf(e->arena, "as_ulong(%s)",
                                qn__clc_implicit(e, (qn__implicit_kind)sizes[instr->op], dim));
    switch (instr->op) {
    case IR_GLOBAL_ID: return qn__arena_printf(e->arena, "get_global_id(%u)", dim);
    case IR_LOCAL_ID: return qn__arena_printf(e->arena, "get_local_id(%u)", dim);
    case IR_LOCAL_SIZE: return qn__arena_printf(e->arena, "get_local_size(%u)", dim);
    case IR_GROUP_ID:
        return qn__arena_printf(e->arena, "get_group_id(%u) + %s", dim,
                                qn__clc_implicit(e, QN__IMPLICIT_GROUP_BASE, dim));
    case IR_WORK_DIM:
        return qn__arena_printf(e->arena, "(uint)%s", qn__clc_implicit(e, QN__IMPLICIT_WORK_DIM, 0));
    case IR_SUB_GROUP_SIZE: return "get_sub_group_size()";
    case IR_MAX_SUB_GROUP_SIZE: return "get_max_sub_group_size()";
    case IR_NUM_SUB_GROUPS: return "get_num_sub_groups()";
    case IR_SUB_GROUP_ID: return "get_sub_group_id()";
    case IR_SUB_GROUP_LOCAL_ID: return "get_sub_group_local_id()";
    default: return NULL;
    }
}

static void barrier(clc_emitter *e, const ir_instr *instr) {
    bool sub_group = instr->attr.scope == IR_SCOPE_SUB_GROUP;
    bool global = (instr->attr.fence & IR_FENCE_GLOBAL) != 0;
    qn__clc_line(e, "%s(CLK_LOCAL_MEM_FENCE%s);", sub_group ? "sub_group_barrier" : "barrier",
                 global ? " | CLK_GLOBAL_MEM_FENCE" : "");
}

/* ---- sub-groups ---- */

/* Name behind sub_group_reduce_, and whether the type is taken as signed. */
static const struct combine {
    const char *name;
    bool extended; /* only in cl_khr_subgroup_non_uniform_arithmetic */
} combines[IR_COMBINE_COUNT] = {
    [IR_COMBINE_ADD] = {"add", false},  [IR_COMBINE_AND] = {"and", true},
    [IR_COMBINE_OR] = {"or", true},     [IR_COMBINE_XOR] = {"xor", true},
    [IR_COMBINE_SMIN] = {"min", false}, [IR_COMBINE_SMAX] = {"max", false},
    [IR_COMBINE_UMIN] = {"min", false}, [IR_COMBINE_UMAX] = {"max", false},
    [IR_COMBINE_FADD] = {"add", false}, [IR_COMBINE_FMIN] = {"min", false},
    [IR_COMBINE_FMAX] = {"max", false}, [IR_COMBINE_MUL] = {"mul", true},
    [IR_COMBINE_FMUL] = {"mul", true},
};

static const char *combined(clc_emitter *e, const ir_instr *instr, const char *what) {
    const struct combine *combine = &combines[instr->attr.combine];
    ir_type type = instr->results[0]->type;
    const char *taken =
        qn__ir_combine_is_signed(instr->attr.combine) ? qn__clc_signed(e, type) : qn__clc_type(e, type);
    /* The plain functions know int and wider only, and want all to come by. */
    bool extended = combine->extended || qn__ir_bits(type) < 32 || instr->flags & IR_ACTIVE;
    return qn__arena_printf(e->arena, "(%s)sub_group_%s%s_%s((%s)%s)", qn__clc_type(e, type),
                            extended ? "non_uniform_" : "", what, combine->name, taken,
                            qn__clc_use(e, instr->operands[0]));
}

/* A vector's lanes one by one. */
static const char *exchanged(clc_emitter *e, const ir_instr *instr, const char *function) {
    const ir_value *value = instr->operands[0];
    const char *text = qn__clc_use(e, value), *index = qn__clc_use(e, instr->operands[1]);
    if (value->type.lanes == 1) return qn__arena_printf(e->arena, "%s(%s, %s)", function, text, index);
    qn__buf out;
    qn__buf_init(&out, e->arena);
    qn__buf_printf(&out, "(%s)(", qn__clc_type(e, value->type));
    for (unsigned i = 0; i < value->type.lanes; i++)
        qn__buf_printf(&out, "%s%s(%s.s%x, %s)", i ? ", " : "", function, text, i, index);
    qn__buf_putc(&out, ')');
    return out.data;
}

static const char *sub_group(clc_emitter *e, const ir_instr *instr) {
    const char *value = qn__clc_use(e, instr->operands[0]);
    switch (instr->op) {
    case IR_GROUP_ALL:
        if (instr->flags & IR_ACTIVE)
            return qn__arena_printf(e->arena, "!any(sub_group_ballot(!%s) != (uint4)0)", value);
        return qn__arena_printf(e->arena, "(sub_group_all(%s) != 0)", value);
    case IR_GROUP_ANY:
        if (instr->flags & IR_ACTIVE)
            return qn__arena_printf(e->arena, "(any(sub_group_ballot(%s) != (uint4)0) != 0)", value);
        return qn__arena_printf(e->arena, "(sub_group_any(%s) != 0)", value);
    case IR_GROUP_BROADCAST: return exchanged(e, instr, "sub_group_broadcast");
    case IR_GROUP_REDUCE: return combined(e, instr, "reduce");
    case IR_GROUP_SCAN:
        return combined(e, instr, instr->flags & IR_EXCLUSIVE ? "scan_exclusive" : "scan_inclusive");
    case IR_SUB_GROUP_SHUFFLE: return exchanged(e, instr, "sub_group_shuffle");
    case IR_SUB_GROUP_BALLOT: return qn__arena_printf(e->arena, "sub_group_ballot(%s)", value);
    default: return NULL;
    }
}

bool qn__clc_group(clc_emitter *e, const ir_instr *instr) {
    if (qn__ir_effects(instr) == IR_EFFECT_QUERY) {
        qn__clc_define(e, instr->results[0], query(e, instr));
        return true;
    }
    if (!qn__ir_is_together((ir_op)instr->op)) return false;
    if (instr->op == IR_BARRIER) {
        barrier(e, instr);
        return true;
    }
    const char *text = qn__ir_is_of_sub_group(instr) ? sub_group(e, instr) : NULL;
    if (!text) return false;
    qn__clc_define(e, instr->results[0], text);
    return true;
}
