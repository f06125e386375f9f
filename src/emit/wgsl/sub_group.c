/* Sub-groups in WGSL (its extension `subgroups`), for devices whose sub-groups are consecutive work-items of one size: the
   language has ids in a sub-group, but none of sub-groups. Barriers of theirs and scans but of sums and products have been
   lowered (pass/lower_sub_groups.c, pass/lower_wide_groups.c). That all come by, quern's own analysis has shown as far as
   the source asks for it; WGSL's would refuse what is behind values from memory, and is turned off. */
#include "emit/wgsl/internal.h"

const char *const qn__wgsl_directives = "enable subgroups;\ndiagnostic(off, subgroup_uniformity);\n";

/* Drivers cut each row of a work-group by itself (lavapipe): so a kernel with sub-groups is launched in one row. */
const char *const qn__wgsl_numbers =
    "    let local_id = vec3<u32>(local_index % local_x, local_index / local_x % local_y, "
    "local_index / (local_x * local_y));\n"
    "    let global_id = group_id * vec3<u32>(local_x, local_y, local_z) + local_id;\n";

/* ---- ids ---- */

static const char *size(wgsl_emitter *e) {
    const uint32_t known = e->options->target.sub_group_size;
    return known ? qn__wgsl_text(e, "%uu", known) : qn__wgsl_builtin(e, WGSL_SUB_GROUP_SIZE);
}

/* Work-items of the work-group; naga cannot make a pipeline of constants' sums. */
static const char *items(wgsl_emitter *e) {
    e->uses_zero = true;
    return "((local_x * local_y * local_z) | zero)";
}

/* The last one of a work-group may have fewer. */
static const char *present(wgsl_emitter *e) {
    const char *index = qn__wgsl_builtin(e, WGSL_LOCAL_INDEX), *full = size(e);
    return qn__wgsl_text(e, "min(%s, %s - %s / %s * %s)", full, items(e), index, full, full);
}

const char *qn__wgsl_sub_group_query(wgsl_emitter *e, ir_op op) {
    e->uses_sub_groups = true;
    switch (op) {
    case IR_SUB_GROUP_SIZE: return present(e);
    case IR_MAX_SUB_GROUP_SIZE: return size(e);
    case IR_NUM_SUB_GROUPS: return qn__wgsl_text(e, "(%s + %s - 1u) / %s", items(e), size(e), size(e));
    case IR_SUB_GROUP_ID: return qn__wgsl_text(e, "%s / %s", qn__wgsl_builtin(e, WGSL_LOCAL_INDEX), size(e));
    case IR_SUB_GROUP_LOCAL_ID: return qn__wgsl_builtin(e, WGSL_SUB_GROUP_LANE);
    default: return NULL;
    }
}

/* ---- exchanges ---- */

static const char *joined(wgsl_emitter *e, const ir_instr *instr) {
    static const char *const names[IR_COMBINE_COUNT] = {
        [IR_COMBINE_ADD] = "Add",  [IR_COMBINE_FADD] = "Add", [IR_COMBINE_MUL] = "Mul",
        [IR_COMBINE_FMUL] = "Mul", [IR_COMBINE_AND] = "And",  [IR_COMBINE_OR] = "Or",
        [IR_COMBINE_XOR] = "Xor",  [IR_COMBINE_SMIN] = "Min", [IR_COMBINE_UMIN] = "Min",
        [IR_COMBINE_FMIN] = "Min", [IR_COMBINE_SMAX] = "Max", [IR_COMBINE_UMAX] = "Max",
        [IR_COMBINE_FMAX] = "Max"};
    const char *value = qn__wgsl_use(e, instr->operands[0]), *name = names[instr->attr.combine];
    const char *how = instr->op == IR_GROUP_REDUCE  ? ""
                      : instr->flags & IR_EXCLUSIVE ? "Exclusive"
                                                    : "Inclusive";
    if (qn__ir_combine_is_signed(instr->attr.combine))
        return qn__wgsl_text(e, "bitcast<u32>(subgroup%s%s(bitcast<i32>(%s)))", how, name, value);
    return qn__wgsl_text(e, "subgroup%s%s(%s)", how, name, value);
}

/* Broadcasts too: WGSL's want a constant index. One that is a constant is less than 128. */
static const char *shuffled(wgsl_emitter *e, const ir_instr *instr) {
    const ir_value *value = instr->operands[0], *from = instr->operands[1];
    const bool low = qn__wgsl_is_low(e, instr->results[0]);
    const char *text = low ? qn__wgsl_low(e, value) : qn__wgsl_use(e, value);
    const char *index =
        qn__ir_is_const(from) ? qn__wgsl_literal(e, IR_I32, from->bits[0] & 127) : qn__wgsl_use(e, from);
    return qn__wgsl_text(e, "subgroupShuffle(%s, %s)", text, index);
}

const char *qn__wgsl_sub_group(wgsl_emitter *e, const ir_instr *instr) {
    e->uses_sub_groups = true;
    switch (instr->op) {
    case IR_GROUP_ALL: return qn__wgsl_text(e, "subgroupAll(%s)", qn__wgsl_use(e, instr->operands[0]));
    case IR_GROUP_ANY: return qn__wgsl_text(e, "subgroupAny(%s)", qn__wgsl_use(e, instr->operands[0]));
    case IR_SUB_GROUP_BALLOT:
        return qn__wgsl_text(e, "subgroupBallot(%s)", qn__wgsl_use(e, instr->operands[0]));
    case IR_GROUP_REDUCE:
    case IR_GROUP_SCAN: return joined(e, instr);
    case IR_GROUP_BROADCAST:
    case IR_SUB_GROUP_SHUFFLE: return shuffled(e, instr);
    default: return NULL;
    }
}
