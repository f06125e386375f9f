/* What a work-item asks about its ids and sizes. Special registers are read again at each use: ptxas keeps one copy. A
   sub-group is a warp: 32 work-items of consecutive linear local ids. */
#include "emit/ptx/internal.h"

static ptx_operand special(ptx_emitter *e, const char *name, unsigned dim) {
    static const char *const letters[] = {"x", "y", "z"};
    ptx_operand r = qn__ptx_new(e, PTX_B32);
    qn__ptx(e, "mov.u32 =, %~.~;", r, name, letters[dim]);
    return r;
}

/* A kernel whose groups may overhang has full groups only, so a required size is their size. */
bool qn__ptx_has_size(const ptx_emitter *e) {
    return e->function->reqd_local[0] && (!e->uses_group || e->function->uniform_groups);
}

static ptx_operand group_size(ptx_emitter *e, unsigned dim) {
    const uint32_t size = e->function->reqd_local[dim];
    return qn__ptx_has_size(e) ? qn__ptx_int(PTX_B32, size ? size : 1) : special(e, "ntid", dim);
}

static ptx_operand local_id(ptx_emitter *e, unsigned dim) {
    const bool is_one = qn__ptx_has_size(e) && e->function->reqd_local[dim] <= 1;
    return is_one ? qn__ptx_int(PTX_B32, 0) : special(e, "tid", dim);
}

ptx_operand qn__ptx_global_id(ptx_emitter *e, unsigned dim) {
    ptx_operand group = special(e, "ctaid", dim), size = group_size(e, dim), item = special(e, "tid", dim);
    ptx_operand base = qn__ptx_implicit(e, QN__IMPLICIT_GLOBAL_BASE, dim);
    ptx_operand r = qn__ptx_op3(e, "mad.wide.u32", PTX_B64, group, size, base);
    return qn__ptx_op2(e, "add.s64", PTX_B64, r, qn__ptx_op1(e, "cvt.u64.u32", PTX_B64, item));
}

static ptx_operand global_id_32(ptx_emitter *e, unsigned dim) {
    ptx_operand group = special(e, "ctaid", dim), size = group_size(e, dim), item = special(e, "tid", dim);
    ptx_operand base = qn__ptx_implicit_low(e, QN__IMPLICIT_GLOBAL_BASE, dim);
    ptx_operand r = qn__ptx_op3(e, "mad.lo.s32", PTX_B32, group, size, item);
    return qn__ptx_op2(e, "add.s32", PTX_B32, r, base);
}

ptx_operand qn__ptx_linear_id(ptx_emitter *e) {
    ptx_operand r = local_id(e, 2);
    for (unsigned dim = 2; dim-- > 0;) {
        ptx_operand size = group_size(e, dim), id = local_id(e, dim);
        r = r.kind == PTX_INT && r.bits == 0 ? id : qn__ptx_op3(e, "mad.lo.s32", PTX_B32, r, size, id);
    }
    return r;
}

ptx_operand qn__ptx_group_items(ptx_emitter *e) {
    const uint32_t *size = e->function->reqd_local;
    if (qn__ptx_has_size(e))
        return qn__ptx_int(PTX_B32, size[0] * (size[1] ? size[1] : 1) * (size[2] ? size[2] : 1));
    ptx_operand x = special(e, "ntid", 0), y = special(e, "ntid", 1);
    ptx_operand r = qn__ptx_op2(e, "mul.lo.s32", PTX_B32, x, y);
    return qn__ptx_op2(e, "mul.lo.s32", PTX_B32, r, special(e, "ntid", 2));
}

bool qn__ptx_has_whole_sub_groups(ptx_emitter *e) {
    if (e->function->whole_sub_groups) return true;
    return qn__ptx_has_size(e) && qn__ptx_group_items(e).bits % 32 == 0;
}

ptx_operand qn__ptx_sub_group_rest(ptx_emitter *e) {
    ptx_operand first = qn__ptx_op2(e, "and.b32", PTX_B32, qn__ptx_linear_id(e), qn__ptx_int(PTX_B32, ~31u));
    return qn__ptx_op2(e, "sub.s32", PTX_B32, qn__ptx_group_items(e), first);
}

ptx_operand qn__ptx_lane(ptx_emitter *e) {
    ptx_operand r = qn__ptx_new(e, PTX_B32);
    qn__ptx(e, "mov.u32 =, %laneid;", r);
    return r;
}

static bool hidden_query(ir_op op, qn__implicit_kind *kind) {
    switch (op) {
    case IR_GLOBAL_SIZE: *kind = QN__IMPLICIT_GLOBAL_SIZE; return true;
    case IR_GLOBAL_OFFSET: *kind = QN__IMPLICIT_GLOBAL_OFFSET; return true;
    case IR_NUM_GROUPS: *kind = QN__IMPLICIT_NUM_GROUPS; return true;
    case IR_ENQUEUED_LOCAL_SIZE: *kind = QN__IMPLICIT_ENQUEUED_SIZE; return true;
    case IR_WORK_DIM: *kind = QN__IMPLICIT_WORK_DIM; return true;
    default: return false;
    }
}

bool qn__ptx_query(ptx_emitter *e, const ir_instr *instr) {
    qn__implicit_kind kind;
    ptx_operand r;
    if (instr->op < IR_GLOBAL_ID || instr->op > IR_SUB_GROUP_LOCAL_ID) return false;
    const unsigned dim = instr->attr.dim < 3 ? instr->attr.dim : 0;
    const bool wide = qn__ptx_class_of(e, instr->results[0]) == PTX_B64;
    switch (instr->op) {
    case IR_GLOBAL_ID: r = wide ? qn__ptx_global_id(e, dim) : global_id_32(e, dim); break;
    case IR_LOCAL_ID: r = special(e, "tid", dim); break;
    case IR_LOCAL_SIZE: r = group_size(e, dim); break;
    case IR_GROUP_ID:
        r = special(e, "ctaid", dim);
        r = qn__ptx_op2(e, "add.s32", PTX_B32, r, qn__ptx_implicit(e, QN__IMPLICIT_GROUP_BASE, dim));
        break;
    case IR_SUB_GROUP_SIZE:
        if (qn__ptx_has_whole_sub_groups(e)) {
            r = qn__ptx_int(PTX_B32, 32);
            break;
        }
        r = qn__ptx_op2(e, "min.u32", PTX_B32, qn__ptx_sub_group_rest(e), qn__ptx_int(PTX_B32, 32));
        break;
    case IR_MAX_SUB_GROUP_SIZE: r = qn__ptx_int(PTX_B32, 32); break;
    case IR_NUM_SUB_GROUPS:
        if (qn__ptx_has_size(e)) {
            r = qn__ptx_int(PTX_B32, (qn__ptx_group_items(e).bits + 31) / 32);
            break;
        }
        r = qn__ptx_op2(e, "add.s32", PTX_B32, qn__ptx_group_items(e), qn__ptx_int(PTX_B32, 31));
        r = qn__ptx_op2(e, "shr.u32", PTX_B32, r, qn__ptx_int(PTX_B32, 5));
        break;
    case IR_SUB_GROUP_ID:
        r = qn__ptx_op2(e, "shr.u32", PTX_B32, qn__ptx_linear_id(e), qn__ptx_int(PTX_B32, 5));
        break;
    case IR_SUB_GROUP_LOCAL_ID: r = qn__ptx_lane(e); break;
    default:
        if (!hidden_query((ir_op)instr->op, &kind)) return false;
        r = wide || instr->op == IR_WORK_DIM ? qn__ptx_implicit(e, kind, dim)
                                             : qn__ptx_implicit_low(e, kind, dim);
    }
    qn__ptx_define(e, instr->results[0], 0, r);
    return true;
}
