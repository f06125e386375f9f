/* Built-in functions: one op (OP), a library function lane by lane (LIB_MAP), or a lowering by hand (SPECIAL,
   through a table), of which work-item queries, vectors' shuffles and select are here. */
#include "front/lower/internal.h"

/* ---- ops and library functions ---- */

static ir_value *argument(lower *l, ast_expr *e, size_t i) { return qn__lower_value(l, e->args.data[i]); }

static ir_value *plain_op(lower *l, ast_expr *e) {
    ir_value *operands[3];
    unsigned count = e->args.len < 3 ? (unsigned)e->args.len : 3, lanes = 1;
    for (unsigned i = 0; i < count; i++) {
        operands[i] = argument(l, e, i);
        if (operands[i]->type.lanes > lanes) lanes = operands[i]->type.lanes;
    }
    qn__lower_at(l, e->loc);
    for (unsigned i = 0; i < count; i++)
        if (operands[i]->type.lanes != lanes) operands[i] = qn__ir_splat(&l->b, operands[i], lanes);
    ir_op op = e->builtin->op;
    ir_value *v = count == 1   ? qn__ir_op1(&l->b, op, operands[0])
                  : count == 2 ? qn__ir_op2(&l->b, op, operands[0], operands[1])
                               : qn__ir_op3(&l->b, op, operands[0], operands[1], operands[2]);
    const bool is_exact = e->builtin->variant == 0; /* not of OP_LOOSE */
    if (op == IR_FMA && is_exact && v->value_kind == IR_VALUE_RESULT) v->def->flags &= (uint16_t)~IR_CONTRACT;
    return qn__lower_from_bool(l, v, qn__type_to_ir(e->type));
}

/* Argument of one lane: the lane, or a pointer to it, or what is the same for all. */
static ir_value *lane_argument(lower *l, const ast_expr *arg, ir_value *v, unsigned lane) {
    if (v->type.lanes > 1) return qn__lower_folded(l, qn__ir_extract(&l->b, v, lane));
    const ast_type *pointee = arg->type->kind == AST_POINTER ? arg->type->base : NULL;
    if (!pointee || pointee->kind != AST_VECTOR) return v;
    return qn__ir_ptr_offset(&l->b, v, (int64_t)(lane * qn__type_element(pointee)->size));
}

static ir_value *lane_by_lane(lower *l, ast_expr *e) {
    enum { MAX_ARGS = 8 };
    unsigned lanes = qn__type_lanes(e->type), count = (unsigned)e->args.len;
    ir_value *args[MAX_ARGS], *made[16];
    if (count > MAX_ARGS) count = MAX_ARGS;
    for (unsigned i = 0; i < count; i++) args[i] = argument(l, e, i);
    ir_function *callee = qn__lower_callee(l, e->builtin->function, e->loc);
    qn__lower_at(l, e->loc);
    ir_type type = qn__ir_element(qn__type_to_ir(e->type));
    for (unsigned lane = 0; lane < lanes; lane++) {
        ir_value *operands[MAX_ARGS];
        for (unsigned i = 0; i < count; i++) operands[i] = lane_argument(l, e->args.data[i], args[i], lane);
        if (!callee) return qn__ir_undef(l->b.function, qn__type_to_ir(e->type));
        ir_instr *call = qn__ir_emit(&l->b, IR_CALL, operands, count, &type, type.kind != IR_VOID);
        call->attr.callee = callee;
        made[lane] = type.kind != IR_VOID ? call->results[0] : NULL;
    }
    return type.kind != IR_VOID ? qn__ir_vector(&l->b, made, lanes) : NULL;
}

/* ---- work-item queries ---- */

/* What a query gives for a dimension beyond the third (OpenCL C 6.12.1). */
static int64_t out_of_range(ir_op op) {
    bool is_id = op == IR_GLOBAL_ID || op == IR_LOCAL_ID || op == IR_GROUP_ID || op == IR_GLOBAL_OFFSET;
    return is_id ? 0 : 1;
}

ir_value *qn__lower_query(lower *l, ast_expr *e) {
    ir_op op = (ir_op)e->builtin->variant;
    ir_type type = qn__type_to_ir(e->type);
    if (!e->args.len) {
        qn__lower_at(l, e->loc);
        return qn__lower_resize(l, qn__ir_query(&l->b, op, 0), (ir_kind)type.kind, false);
    }
    ir_value *dim = qn__lower_folded(l, argument(l, e, 0));
    qn__lower_at(l, e->loc);
    ir_value *v = qn__ir_const_int(l->b.function, IR_I64, out_of_range(op));
    if (qn__ir_is_const(dim)) {
        if (dim->bits[0] < 3) v = qn__ir_query(&l->b, op, (uint32_t)dim->bits[0]);
    } else {
        for (uint32_t i = 3; i-- > 0;) {
            ir_value *number = qn__ir_const_int(l->b.function, (ir_kind)dim->type.kind, i);
            ir_value *is_this = qn__ir_op2(&l->b, IR_EQ, dim, number);
            v = qn__ir_select(&l->b, is_this, qn__ir_query(&l->b, op, i), v);
        }
    }
    return qn__lower_resize(l, v, (ir_kind)type.kind, false);
}

static ir_value *id_from_zero(lower *l, bool is_global, uint32_t dim) {
    if (!is_global) return qn__ir_query(&l->b, IR_LOCAL_ID, dim);
    ir_value *id = qn__ir_query(&l->b, IR_GLOBAL_ID, dim);
    return qn__ir_op2(&l->b, IR_SUB, id, qn__ir_query(&l->b, IR_GLOBAL_OFFSET, dim));
}

ir_value *qn__lower_linear_id(lower *l, ast_expr *e) {
    bool is_global = e->builtin->variant == IR_GLOBAL_ID;
    ir_op size = is_global ? IR_GLOBAL_SIZE : IR_LOCAL_SIZE;
    qn__lower_at(l, e->loc);
    ir_value *v = id_from_zero(l, is_global, 2);
    for (uint32_t dim = 2; dim-- > 0;) {
        v = qn__ir_op2(&l->b, IR_MUL, v, qn__ir_query(&l->b, size, dim));
        v = qn__ir_op2(&l->b, IR_ADD, v, id_from_zero(l, is_global, dim));
    }
    return v;
}

/* ---- shuffle, shuffle2, select ---- */

static ir_value *dynamic_lane(lower *l, ir_value *a, ir_value *b, ir_value *index) {
    ir_value *operands[] = {a, index};
    ir_type type = qn__ir_element(a->type);
    ir_value *from_a = qn__ir_emit(&l->b, IR_EXTRACT_DYNAMIC, operands, 2, &type, 1)->results[0];
    if (!b) return from_a;
    operands[0] = b;
    ir_value *from_b = qn__ir_emit(&l->b, IR_EXTRACT_DYNAMIC, operands, 2, &type, 1)->results[0];
    ir_value *bit = qn__ir_const_int(l->b.function, (ir_kind)index->type.kind, a->type.lanes);
    ir_value *is_b = qn__lower_nonzero(l, qn__ir_op2(&l->b, IR_AND, index, bit));
    return qn__ir_select(&l->b, is_b, from_b, from_a);
}

static ir_value *vector_shuffle(lower *l, ast_expr *e) {
    bool two = e->builtin->variant == 2;
    ir_value *a = argument(l, e, 0), *b = two ? argument(l, e, 1) : NULL;
    ir_value *mask = qn__lower_folded(l, argument(l, e, two ? 2 : 1));
    qn__lower_at(l, e->loc);
    unsigned lanes = mask->type.lanes, from = a->type.lanes == 3 ? 4 : a->type.lanes;
    if (qn__ir_is_const(mask)) {
        uint8_t picked[16];
        for (unsigned i = 0; i < lanes && i < QN__COUNT(picked); i++)
            picked[i] = (uint8_t)(mask->bits[i] & (from * (two ? 2 : 1) - 1));
        return qn__ir_shuffle(&l->b, a, b ? b : a, picked, lanes);
    }
    ir_value *made[16];
    ir_value *limit = qn__ir_const_int(l->b.function, (ir_kind)mask->type.kind, from * (two ? 2 : 1) - 1);
    for (unsigned i = 0; i < lanes; i++) {
        ir_value *index = qn__ir_op2(&l->b, IR_AND, qn__ir_extract(&l->b, mask, i), limit);
        made[i] = dynamic_lane(l, a, b, index);
    }
    return qn__ir_vector(&l->b, made, lanes);
}

/* select(a, b, c): c ? b : a; of vectors by the sign bit. */
static ir_value *select_function(lower *l, ast_expr *e) {
    ir_value *a = argument(l, e, 0), *b = argument(l, e, 1);
    ast_expr *c = e->args.data[2];
    ir_value *condition = c->type->kind == AST_VECTOR ? qn__lower_mask(l, c) : qn__lower_truth(l, c);
    qn__lower_at(l, e->loc);
    return qn__ir_select(&l->b, condition, b, a);
}

/* ---- integer dot products ---- */

static ir_value *dot4(lower *l, ast_expr *e) {
    const int32_t variant = e->builtin->variant;
    ir_value *a = argument(l, e, 0), *b = argument(l, e, 1);
    const ir_type word =
        qn__ir_type(IR_I32, a->type.kind == IR_I32 ? a->type.lanes : 1); /* else of four bytes */
    qn__lower_at(l, e->loc);
    a = qn__ir_convert(&l->b, IR_BITCAST, a, word);
    b = qn__ir_convert(&l->b, IR_BITCAST, b, word);
    ir_value *zero = qn__ir_const_splat(l->b.function, word, 0);
    return qn__ir_op3(&l->b, (ir_op)(variant / 2), variant % 2 ? b : a, variant % 2 ? a : b, zero);
}

/* ---- the table ---- */

/* What a barrier needs for the memory that a generic pointer is to; 0 for private memory. */
static ir_value *get_fence(lower *l, ast_expr *e) {
    static const struct {
        ir_space space;
        unsigned flag;
    } rows[] = {{IR_LOCAL_SPACE, IR_FENCE_LOCAL}, {IR_GLOBAL_SPACE, IR_FENCE_GLOBAL}};
    ir_value *pointer = qn__lower_value(l, e->args.data[0]);
    qn__lower_at(l, e->loc);
    ir_value *flags = qn__ir_const_int(l->b.function, IR_I32, 0);
    for (size_t i = 0; i < QN__COUNT(rows); i++) {
        ir_type type = qn__ir_pointer(rows[i].space);
        ir_value *there = qn__ir_convert(&l->b, IR_PTR_CAST, pointer, type);
        ir_value *is = qn__ir_op2(&l->b, IR_NE, there, qn__ir_const_splat(l->b.function, type, 0));
        flags = qn__ir_select(&l->b, is, qn__ir_const_int(l->b.function, IR_I32, rows[i].flag), flags);
    }
    return flags;
}

static qn__lower_special *const specials[SPECIAL_COUNT] = {
    [SPECIAL_QUERY] = qn__lower_query,
    [SPECIAL_LINEAR_ID] = qn__lower_linear_id,
    [SPECIAL_BARRIER] = qn__lower_barrier,
    [SPECIAL_FENCE] = qn__lower_fence,
    [SPECIAL_VLOAD] = qn__lower_vload,
    [SPECIAL_VSTORE] = qn__lower_vstore,
    [SPECIAL_VLOAD_HALF] = qn__lower_vload_half,
    [SPECIAL_VSTORE_HALF] = qn__lower_vstore_half,
    [SPECIAL_ATOMIC_OLD] = qn__lower_atomic_old,
    [SPECIAL_ATOMIC_INC] = qn__lower_atomic_inc,
    [SPECIAL_ATOMIC_CMPXCHG] = qn__lower_atomic_cmpxchg,
    [SPECIAL_ATOMIC_INIT] = qn__lower_atomic_init,
    [SPECIAL_ATOMIC_LOAD] = qn__lower_atomic_load,
    [SPECIAL_ATOMIC_STORE] = qn__lower_atomic_store,
    [SPECIAL_ATOMIC_FETCH] = qn__lower_atomic_fetch,
    [SPECIAL_ATOMIC_CAS] = qn__lower_atomic_cas,
    [SPECIAL_FLAG_TEST_SET] = qn__lower_flag_test_set,
    [SPECIAL_FLAG_CLEAR] = qn__lower_flag_clear,
    [SPECIAL_GROUP_VOTE] = qn__lower_group_vote,
    [SPECIAL_GROUP_BROADCAST] = qn__lower_group_broadcast,
    [SPECIAL_GROUP_REDUCE] = qn__lower_group_reduce,
    [SPECIAL_GROUP_SCAN] = qn__lower_group_scan,
    [SPECIAL_SHUFFLE] = qn__lower_sub_group_shuffle,
    [SPECIAL_BALLOT] = qn__lower_ballot,
    [SPECIAL_VECTOR_SHUFFLE] = vector_shuffle,
    [SPECIAL_SELECT] = select_function,
    [SPECIAL_DOT4] = dot4,
    [SPECIAL_GET_FENCE] = get_fence,
    [SPECIAL_PRINTF] = qn__lower_printf,
    [SPECIAL_PREFETCH] = qn__lower_prefetch,
    [SPECIAL_ASYNC] = qn__lower_async,
    [SPECIAL_MATRIX] = qn__lower_matrix,
    [SPECIAL_NATIVE] = qn__lower_native,
    [SPECIAL_QUAD_PRODUCT] = qn__lower_quad_product,
    [SPECIAL_PANEL_PRODUCT] = qn__lower_panel_product,
};

ir_value *qn__lower_builtin(lower *l, ast_expr *e) {
    switch (e->builtin->builtin_kind) {
    case BUILTIN_OP: return plain_op(l, e);
    case BUILTIN_LIB:
    case BUILTIN_LIB_MAP: return lane_by_lane(l, e);
    default: return specials[e->builtin->special](l, e);
    }
}
