/* Operators on values: which IR op an operator is for a type (a table), and pointer arithmetic in bytes. */
#include "front/lower/internal.h"

/* By operator: for floats, signed and unsigned integers. 0xffff: not for this type. */
enum { NONE = 0xffff };
static const struct operator_row {
    uint16_t on_float, on_signed, on_unsigned;
    bool swap; /* a > b is b < a */
} operators[] = {
    [BINARY_ADD] = {IR_FADD, IR_ADD, IR_ADD, false},   [BINARY_SUB] = {IR_FSUB, IR_SUB, IR_SUB, false},
    [BINARY_MUL] = {IR_FMUL, IR_MUL, IR_MUL, false},   [BINARY_DIV] = {IR_FDIV, IR_SDIV, IR_UDIV, false},
    [BINARY_REM] = {IR_FREM, IR_SREM, IR_UREM, false}, [BINARY_SHL] = {NONE, IR_SHL, IR_SHL, false},
    [BINARY_SHR] = {NONE, IR_ASHR, IR_LSHR, false},    [BINARY_AND] = {NONE, IR_AND, IR_AND, false},
    [BINARY_OR] = {NONE, IR_OR, IR_OR, false},         [BINARY_XOR] = {NONE, IR_XOR, IR_XOR, false},
    [BINARY_EQ] = {IR_FEQ, IR_EQ, IR_EQ, false},       [BINARY_NE] = {IR_FNE, IR_NE, IR_NE, false},
    [BINARY_LT] = {IR_FLT, IR_SLT, IR_ULT, false},     [BINARY_LE] = {IR_FLE, IR_SLE, IR_ULE, false},
    [BINARY_GT] = {IR_FLT, IR_SLT, IR_ULT, true},      [BINARY_GE] = {IR_FLE, IR_SLE, IR_ULE, true},
};

static ir_op operator_op(ast_binary op, const ast_type *type, ir_value *v) {
    const struct operator_row *row = &operators[op];
    if (qn__ir_is_float(v->type)) return (ir_op)row->on_float;
    return (ir_op)(qn__type_is_signed(type) ? row->on_signed : row->on_unsigned);
}

/* A flag on an instruction that was just made; a folded value is none. */
static ir_value *with_flag(ir_value *v, uint16_t flag) {
    if (v->value_kind == IR_VALUE_RESULT && !v->def->next) v->def->flags |= flag;
    return v;
}

ir_value *qn__lower_arith(lower *l, ast_binary op, const ast_type *type, ir_value *a, ir_value *b) {
    if (op == BINARY_SHL || op == BINARY_SHR) b = qn__lower_resize(l, b, (ir_kind)a->type.kind, false);
    if (b->type.lanes < a->type.lanes) b = qn__ir_splat(&l->b, b, a->type.lanes);
    if (a->type.lanes < b->type.lanes) a = qn__ir_splat(&l->b, a, b->type.lanes);
    ir_value *result = qn__ir_op2(&l->b, operator_op(op, type, a), a, b);
    bool may_not_overflow = op == BINARY_ADD || op == BINARY_SUB || op == BINARY_MUL;
    if (may_not_overflow && qn__type_is_signed(type) && qn__ir_bits(a->type) >= 32) with_flag(result, IR_NSW);
    return result;
}

ir_value *qn__lower_compare(lower *l, ast_binary op, const ast_type *type, ir_value *a, ir_value *b) {
    if (b->type.lanes < a->type.lanes) b = qn__ir_splat(&l->b, b, a->type.lanes);
    if (a->type.lanes < b->type.lanes) a = qn__ir_splat(&l->b, a, b->type.lanes);
    if (a->type.kind == IR_BOOL && op != BINARY_EQ && op != BINARY_NE) {
        a = qn__lower_from_bool(l, a, qn__ir_type(IR_I32, 1));
        b = qn__lower_from_bool(l, b, qn__ir_type(IR_I32, 1));
    }
    ir_op made = operator_op(op, type, a);
    return operators[op].swap ? qn__ir_op2(&l->b, made, b, a) : qn__ir_op2(&l->b, made, a, b);
}

ir_value *qn__lower_pointer_add(lower *l, ir_value *pointer, const ast_type *pointee, ir_value *index,
                                bool index_is_signed, bool negative) {
    int64_t size = pointee->size ? (int64_t)pointee->size : 1;
    index = qn__lower_folded(l, qn__lower_resize(l, index, IR_I64, index_is_signed));
    if (negative) size = -size;
    ir_value *bytes;
    if (qn__ir_is_const(index)) {
        bytes = qn__ir_const_int(l->b.function, IR_I64, (int64_t)(index->bits[0] * (uint64_t)size));
    } else if (size == 1) {
        bytes = index;
    } else {
        ir_value *scale = qn__ir_const_int(l->b.function, IR_I64, size);
        bytes = with_flag(qn__ir_op2(&l->b, IR_MUL, index, scale), IR_NSW);
    }
    ir_value *result = qn__ir_ptr_add(&l->b, pointer, bytes);
    return result == pointer ? result : with_flag(result, IR_NSW);
}

ir_value *qn__lower_pointer_sub(lower *l, const ast_type *pointee, ir_value *a, ir_value *b) {
    ir_type i64 = qn__ir_type(IR_I64, 1);
    a = qn__ir_convert(&l->b, IR_PTR2INT, a, i64);
    b = qn__ir_convert(&l->b, IR_PTR2INT, b, i64);
    ir_value *bytes = qn__ir_op2(&l->b, IR_SUB, a, b);
    if (pointee->size <= 1) return bytes;
    ir_value *size = qn__ir_const_int(l->b.function, IR_I64, (int64_t)pointee->size);
    return qn__ir_op2(&l->b, IR_SDIV, bytes, size);
}
