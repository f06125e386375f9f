/* Expressions to values. Conditions are lowered to bool directly (qn__lower_truth), so that `if (a < b)`
   makes no int in between; && || ?: become plain ops where their right side is cheap and harmless. */
#include "front/lower/internal.h"

/* ---- literals ---- */

static ir_value *int_constant(lower *l, const ast_expr *e) {
    ir_type type = qn__type_to_ir(e->type);
    if (type.kind == IR_BOOL) return qn__ir_const_bool(l->b.function, e->int_value != 0);
    if (qn__ir_is_int(type) && type.lanes == 1)
        return qn__ir_const_int(l->b.function, (ir_kind)type.kind, (int64_t)e->int_value);
    return qn__ir_const_splat(l->b.function, type, e->int_value);
}

bool qn__lower_const_int(const ast_expr *e, int64_t *value) {
    while (e->expr_kind == EXPR_CONVERT && (e->convert == CONVERT_NUMBER) && qn__type_is_integer(e->type) &&
           qn__type_is_integer(e->a->type) && e->type->size >= e->a->type->size)
        e = e->a;
    if (e->expr_kind != EXPR_INT) return false;
    *value = (int64_t)e->int_value;
    return true;
}

/* ---- what may be executed where the program did not ---- */

static bool is_harmless(const ast_expr *e, int *budget);

static bool is_harmless_object(const ast_expr *e) {
    while (e->expr_kind == EXPR_SWIZZLE || e->expr_kind == EXPR_MEMBER) e = e->a;
    if (e->expr_kind != EXPR_VARIABLE || (e->type->quals & AST_VOLATILE)) return false;
    return e->decl->type->space == IR_PRIVATE && !(e->decl->type->quals & AST_VOLATILE);
}

static bool is_harmless_builtin(const ast_expr *e, int *budget) {
    const ast_builtin *builtin = e->builtin;
    bool is_pure = builtin->builtin_kind == BUILTIN_OP && qn__ir_ops[builtin->op].effects == IR_EFFECT_PURE;
    if (!is_pure && !(builtin->builtin_kind == BUILTIN_SPECIAL && builtin->special == SPECIAL_QUERY))
        return false;
    for (size_t i = 0; i < e->args.len; i++)
        if (!is_harmless(e->args.data[i], budget)) return false;
    return true;
}

/* No effects, cannot trap, touches no memory but private variables, and is small. */
static bool is_harmless(const ast_expr *e, int *budget) {
    if (--*budget < 0) return false;
    switch (e->expr_kind) {
    case EXPR_INT:
    case EXPR_FLOAT: return true;
    case EXPR_LOAD: return !qn__type_is_record(e->type) && is_harmless_object(e->a);
    case EXPR_UNARY:
    case EXPR_CONVERT: return e->type->kind != AST_VOID && is_harmless(e->a, budget);
    case EXPR_SWIZZLE: return e->a->is_lvalue ? is_harmless_object(e->a) : is_harmless(e->a, budget);
    case EXPR_BINARY: {
        bool traps = (e->binary == BINARY_DIV || e->binary == BINARY_REM) &&
                     !qn__type_is_float(qn__type_element(e->a->type));
        return !traps && is_harmless(e->a, budget) && is_harmless(e->b, budget);
    }
    case EXPR_LOGICAL: return is_harmless(e->a, budget) && is_harmless(e->b, budget);
    case EXPR_SELECT:
    case EXPR_CONDITIONAL:
        return is_harmless(e->a, budget) && is_harmless(e->b, budget) && is_harmless(e->c, budget);
    case EXPR_BUILTIN: return is_harmless_builtin(e, budget);
    default: return false;
    }
}

static bool is_cheap(const ast_expr *e) {
    int budget = 12;
    return is_harmless(e, &budget);
}

/* ---- conditions ---- */

static bool is_comparison(const ast_expr *e) { return e->expr_kind == EXPR_BINARY && e->binary >= BINARY_EQ; }

/* bool, or bool lanes. */
static ir_value *comparison(lower *l, ast_expr *e) {
    ir_value *a = qn__lower_value(l, e->a);
    ir_value *b = qn__lower_value(l, e->b);
    qn__lower_at(l, e->loc);
    return qn__lower_compare(l, (ast_binary)e->binary, e->a->type, a, b);
}

/* The right side of a short circuit, in a region of its own; `when` is the left side's value that decides. */
static ir_value *short_circuit(lower *l, ast_expr *e, ir_value *a, bool is_and) {
    ir_type type = qn__ir_type(IR_BOOL, 1);
    ir_instr *branch = qn__ir_if(&l->b, a, &type, 1);
    ir_region *after = l->b.region;
    ir_value *decided = qn__ir_const_bool(l->b.function, !is_and);
    qn__ir_at_end(&l->b, branch->regions[is_and ? 0 : 1]);
    ir_value *b = qn__lower_truth(l, e->b);
    qn__lower_at(l, e->loc);
    qn__ir_yield(&l->b, &b, 1);
    qn__ir_at_end(&l->b, branch->regions[is_and ? 1 : 0]);
    qn__ir_yield(&l->b, &decided, 1);
    qn__ir_at_end(&l->b, after);
    return branch->results[0];
}

static ir_value *logical(lower *l, ast_expr *e) {
    bool is_and = e->binary == BINARY_AND;
    if (e->type->kind == AST_VECTOR) {
        ir_value *a = qn__lower_nonzero(l, qn__lower_value(l, e->a));
        ir_value *b = qn__lower_nonzero(l, qn__lower_value(l, e->b));
        qn__lower_at(l, e->loc);
        return qn__ir_op2(&l->b, is_and ? IR_AND : IR_OR, a, b);
    }
    ir_value *a = qn__lower_truth(l, e->a);
    if (qn__ir_is_const(a)) {
        bool decides = (a->bits[0] != 0) != is_and;
        return decides ? a : qn__lower_truth(l, e->b);
    }
    if (!is_cheap(e->b)) {
        qn__lower_at(l, e->loc);
        return short_circuit(l, e, a, is_and);
    }
    ir_value *b = qn__lower_truth(l, e->b);
    qn__lower_at(l, e->loc);
    return qn__ir_op2(&l->b, is_and ? IR_AND : IR_OR, a, b);
}

/* Bool (lanes) of an expression that is 0/1 or 0/-1 by nature; NULL for others. */
static ir_value *natural_bool(lower *l, ast_expr *e) {
    if (is_comparison(e)) return comparison(l, e);
    if (e->expr_kind == EXPR_LOGICAL) return logical(l, e);
    if (e->expr_kind == EXPR_UNARY && e->unary == UNARY_NOT) {
        ir_value *a = e->type->kind == AST_VECTOR ? qn__lower_nonzero(l, qn__lower_value(l, e->a))
                                                  : qn__lower_truth(l, e->a);
        qn__lower_at(l, e->loc);
        return qn__lower_folded(l, qn__ir_op1(&l->b, IR_NOT, a));
    }
    return NULL;
}

static bool is_widening(const ast_expr *e) {
    return e->expr_kind == EXPR_CONVERT && e->convert == CONVERT_NUMBER && qn__type_is_integer(e->type) &&
           qn__type_is_integer(e->a->type) && e->type->kind != AST_BOOL && e->type->size >= e->a->type->size;
}

ir_value *qn__lower_truth(lower *l, ast_expr *e) {
    if (!qn__lower_enter(l, e->loc)) return qn__ir_const_bool(l->b.function, false);
    while ((e->expr_kind == EXPR_CONVERT && e->convert == CONVERT_TO_BOOL) || is_widening(e)) e = e->a;
    ir_value *v = natural_bool(l, e);
    if (!v) {
        v = qn__lower_value(l, e);
        qn__lower_at(l, e->loc);
        v = qn__lower_folded(l, qn__lower_nonzero(l, v));
    }
    l->depth--;
    return v;
}

ir_value *qn__lower_mask(lower *l, ast_expr *e) {
    ir_value *v = natural_bool(l, e);
    if (v) return v;
    v = qn__lower_value(l, e);
    qn__lower_at(l, e->loc);
    return qn__ir_op2(&l->b, IR_SLT, v, qn__ir_const_splat(l->b.function, v->type, 0));
}

/* ---- operators ---- */

static ir_value *unary(lower *l, ast_expr *e) {
    ir_value *a = qn__lower_value(l, e->a);
    qn__lower_at(l, e->loc);
    if (e->unary == UNARY_COMPLEMENT) return qn__ir_op1(&l->b, IR_NOT, a);
    if (qn__ir_is_float(a->type)) return qn__ir_op1(&l->b, IR_FNEG, a);
    ir_value *zero = qn__ir_const_splat(l->b.function, a->type, 0);
    return qn__lower_folded(l, qn__lower_arith(l, BINARY_SUB, e->type, zero, a));
}

static ir_value *pointer_binary(lower *l, ast_expr *e) {
    ir_value *a = qn__lower_value(l, e->a);
    ir_value *b = qn__lower_value(l, e->b);
    qn__lower_at(l, e->loc);
    if (e->b->type->kind == AST_POINTER && e->a->type->kind == AST_POINTER)
        return qn__lower_pointer_sub(l, e->a->type->base, a, b);
    if (e->a->type->kind == AST_POINTER)
        return qn__lower_pointer_add(l, a, e->a->type->base, b, qn__type_is_signed(e->b->type),
                                     e->binary == BINARY_SUB);
    return qn__lower_pointer_add(l, b, e->b->type->base, a, qn__type_is_signed(e->a->type), false);
}

static bool is_number_binary(const ast_expr *e) {
    return e->expr_kind == EXPR_BINARY && e->binary < BINARY_EQ && e->a->type->kind != AST_POINTER &&
           e->b->type->kind != AST_POINTER;
}

/* A chain such as a + b + c + ... leans left and may be long: it is walked without recursion. */
static ir_value *binary(lower *l, ast_expr *e) {
    QN__VEC(ast_expr *) chain = {0};
    ast_expr *first = e;
    for (; is_number_binary(first); first = first->a) qn__vec_push(l->arena, &chain, first);
    ir_value *v = qn__lower_value(l, first);
    while (chain.len) {
        ast_expr *at = qn__vec_pop(&chain);
        ir_value *b = qn__lower_value(l, at->b);
        qn__lower_at(l, at->loc);
        v = qn__lower_arith(l, (ast_binary)at->binary, at->type, v, b);
    }
    return v;
}

static ir_value *assign(lower *l, ast_expr *e) {
    if (qn__type_is_record(e->a->type)) {
        lower_place source = qn__lower_record(l, e->b);
        lower_place place = qn__lower_place(l, e->a);
        qn__lower_at(l, e->loc);
        uint32_t align = place.align < source.align ? place.align : source.align;
        qn__lower_object_copy(l, place.pointer, source.pointer, e->type, align);
        return place.pointer;
    }
    ir_value *v = qn__lower_value(l, e->b);
    lower_place place = qn__lower_place(l, e->a);
    qn__lower_at(l, e->loc);
    qn__lower_store(l, &place, v);
    return place.bit_field ? qn__lower_load(l, &place) : v;
}

static ir_value *assign_op(lower *l, ast_expr *e) {
    lower_place place = qn__lower_place(l, e->a);
    ir_value *b = qn__lower_value(l, e->b);
    qn__lower_at(l, e->loc);
    ir_value *v = qn__lower_load(l, &place);
    if (e->a->type->kind == AST_POINTER) {
        v = qn__lower_pointer_add(l, v, e->a->type->base, b, qn__type_is_signed(e->b->type),
                                  e->binary == BINARY_SUB);
    } else {
        v = qn__lower_number(l, v, e->a->type, e->compute_type, ROUND_DEFAULT, false);
        v = qn__lower_arith(l, (ast_binary)e->binary, e->compute_type, v, b);
        v = qn__lower_number(l, v, e->compute_type, e->a->type, ROUND_DEFAULT, false);
    }
    qn__lower_store(l, &place, v);
    return place.bit_field ? qn__lower_load(l, &place) : v;
}

static ir_value *increment(lower *l, ast_expr *e) {
    lower_place place = qn__lower_place(l, e->a);
    qn__lower_at(l, e->loc);
    ir_value *before = qn__lower_load(l, &place), *after;
    ir_type type = before->type;
    ast_binary op = e->is_decrement ? BINARY_SUB : BINARY_ADD;
    if (type.kind == IR_PTR) {
        ir_value *one = qn__ir_const_int(l->b.function, IR_I64, 1);
        after = qn__lower_pointer_add(l, before, e->a->type->base, one, true, e->is_decrement);
    } else if (type.kind == IR_BOOL) { /* ++ gives true; -- turns it over */
        ir_value *one = qn__ir_const_bool(l->b.function, true);
        after = e->is_decrement ? qn__ir_op2(&l->b, IR_XOR, before, one) : one;
    } else if (qn__type_is_small_float(e->a->type)) {
        const ast_type *number = e->compute_type;
        ir_value *one = qn__ir_const_float(l->b.function, IR_F32, 1.0);
        after = qn__lower_number(l, before, e->a->type, number, ROUND_DEFAULT, false);
        after = qn__lower_arith(l, op, number, after, one);
        after = qn__lower_number(l, after, number, e->a->type, ROUND_DEFAULT, false);
    } else {
        ir_value *one = qn__ir_is_float(type) ? qn__ir_const_float(l->b.function, (ir_kind)type.kind, 1.0)
                                              : qn__ir_const_int(l->b.function, (ir_kind)type.kind, 1);
        after = qn__lower_arith(l, op, e->a->type, before, qn__ir_splat(&l->b, one, type.lanes));
    }
    qn__lower_store(l, &place, after);
    if (e->is_postfix) return before;
    return place.bit_field ? qn__lower_load(l, &place) : after;
}

/* ---- choice ---- */

static void conditional_arm(lower *l, ast_expr *e, ir_value *record) {
    if (record) {
        qn__lower_record_copy(l, record, e->type->align, e);
        qn__ir_yield(&l->b, NULL, 0);
        return;
    }
    ir_value *v = qn__lower_value(l, e);
    qn__lower_at(l, e->loc);
    qn__ir_yield(&l->b, &v, v ? 1 : 0);
}

static ir_value *conditional(lower *l, ast_expr *e) {
    ir_value *a = qn__lower_truth(l, e->a);
    if (qn__ir_is_const(a)) return qn__lower_value(l, a->bits[0] ? e->b : e->c);
    bool is_record = qn__type_is_record(e->type), is_void = e->type->kind == AST_VOID;
    if (!is_record && !is_void && is_cheap(e->b) && is_cheap(e->c)) {
        ir_value *b = qn__lower_value(l, e->b);
        ir_value *c = qn__lower_value(l, e->c);
        qn__lower_at(l, e->loc);
        return qn__ir_select(&l->b, a, b, c);
    }
    qn__lower_at(l, e->loc);
    ir_value *record = is_record ? qn__lower_temporary(l, e->type, NULL, e->type->align) : NULL;
    ir_type type = qn__type_to_ir(e->type);
    ir_instr *branch = qn__ir_if(&l->b, a, &type, is_record || is_void ? 0 : 1);
    ir_region *after = l->b.region;
    qn__ir_at_end(&l->b, branch->regions[0]);
    conditional_arm(l, e->b, record);
    qn__ir_at_end(&l->b, branch->regions[1]);
    conditional_arm(l, e->c, record);
    qn__ir_at_end(&l->b, after);
    if (is_void) return NULL;
    return is_record ? record : branch->results[0];
}

static ir_value *lane_select(lower *l, ast_expr *e) {
    ir_value *a = qn__lower_mask(l, e->a);
    ir_value *b = qn__lower_value(l, e->b);
    ir_value *c = qn__lower_value(l, e->c);
    qn__lower_at(l, e->loc);
    return qn__ir_select(&l->b, a, b, c);
}

/* ---- vectors, calls ---- */

static ir_value *vector_literal(lower *l, ast_expr *e) {
    unsigned lanes = qn__type_lanes(e->type), count = 0;
    ir_value *scalars[16];
    for (size_t i = 0; i < e->args.len; i++) {
        ir_value *v = qn__lower_value(l, e->args.data[i]);
        qn__lower_at(l, e->loc);
        if (e->args.len == 1 && v->type.lanes == 1) return qn__ir_splat(&l->b, v, lanes);
        if (v->type.lanes == lanes) return v;
        for (unsigned lane = 0; lane < v->type.lanes && count < lanes; lane++)
            scalars[count++] = qn__lower_folded(l, qn__ir_extract(&l->b, v, lane));
    }
    while (count < lanes)
        scalars[count++] = qn__ir_undef(l->b.function, qn__ir_element(qn__type_to_ir(e->type)));
    return qn__ir_vector(&l->b, scalars, lanes);
}

static ir_value *swizzle_value(lower *l, ast_expr *e) {
    ir_value *v = qn__lower_value(l, e->a);
    qn__lower_at(l, e->loc);
    if (e->num_lanes == 1) return qn__ir_extract(&l->b, v, e->lanes[0]);
    return qn__ir_shuffle(&l->b, v, v, e->lanes, e->num_lanes);
}

static ir_value *call(lower *l, ast_expr *e) {
    ast_decl *called = qn__decl_definition(e->callee);
    ir_function *callee = qn__lower_callee(l, called, e->loc);
    bool is_record = qn__type_is_record(e->type);
    QN__VEC(ir_value *) operands = {0};
    if (is_record) {
        qn__lower_at(l, e->loc);
        qn__vec_push(l->arena, &operands, qn__lower_temporary(l, e->type, NULL, e->type->align));
    }
    for (size_t i = 0; i < e->args.len; i++) {
        ast_expr *arg = e->args.data[i];
        ir_value *v;
        if (qn__type_is_record(arg->type)) {
            qn__lower_at(l, arg->loc);
            v = qn__lower_temporary(l, arg->type->unqualified, NULL, arg->type->align);
            qn__lower_record_copy(l, v, arg->type->align, arg);
        } else {
            v = qn__lower_value(l, arg);
        }
        qn__vec_push(l->arena, &operands, v);
    }
    if (called->uses_state) qn__vec_push(l->arena, &operands, l->state);
    qn__lower_at(l, e->loc);
    ir_type type = qn__type_to_ir(e->type);
    bool has_result = !is_record && e->type->kind != AST_VOID;
    if (!callee) return has_result ? qn__ir_undef(l->b.function, type) : is_record ? operands.data[0] : NULL;
    ir_instr *made = qn__ir_emit(&l->b, IR_CALL, operands.data, (uint32_t)operands.len, &type, has_result);
    made->attr.callee = callee;
    return has_result ? made->results[0] : is_record ? operands.data[0] : NULL;
}

/* ---- all of them ---- */

/* The statements lie in a block of their own: whatever ends them, the value's code is reached as far as the IR goes. */
static ir_value *statement_expression(lower *l, ast_expr *e) {
    qn__lower_at(l, e->loc);
    ir_instr *block = qn__ir_block(&l->b, NULL, 0);
    ir_region *after = l->b.region;
    qn__ir_at_end(&l->b, block->regions[0]);
    qn__lower_list(l, e->block->body.data, e->block->body.len);
    if (!l->b.region->last || !qn__ir_is_jump(l->b.region->last)) qn__ir_yield(&l->b, NULL, 0);
    qn__ir_at_end(&l->b, after);
    return e->a ? qn__lower_value(l, e->a) : NULL;
}

static ir_value *load(lower *l, ast_expr *e) {
    lower_place place = qn__lower_place(l, e->a);
    qn__lower_at(l, e->loc);
    return qn__type_is_record(e->type) ? place.pointer : qn__lower_load(l, &place);
}

static ir_value *value(lower *l, ast_expr *e) {
    switch (e->expr_kind) {
    case EXPR_INT: return int_constant(l, e);
    case EXPR_FLOAT: {
        ir_type type = qn__type_to_ir(e->type);
        const uint64_t bits =
            qn__float_from_double(qn__type_format(qn__type_element(e->type)), e->float_value);
        return qn__ir_const_splat(l->b.function, type, bits);
    }
    case EXPR_UNARY:
        if (e->unary != UNARY_NOT) return unary(l, e);
        return qn__lower_from_bool(l, natural_bool(l, e), qn__type_to_ir(e->type));
    case EXPR_LOGICAL: return qn__lower_from_bool(l, natural_bool(l, e), qn__type_to_ir(e->type));
    case EXPR_BINARY:
        if (is_comparison(e)) return qn__lower_from_bool(l, comparison(l, e), qn__type_to_ir(e->type));
        return is_number_binary(e) ? binary(l, e) : pointer_binary(l, e);
    case EXPR_ASSIGN: return assign(l, e);
    case EXPR_ASSIGN_OP: return assign_op(l, e);
    case EXPR_INCREMENT: return increment(l, e);
    case EXPR_CONDITIONAL: return conditional(l, e);
    case EXPR_SELECT: return lane_select(l, e);
    case EXPR_COMMA: qn__lower_effects(l, e->a); return qn__lower_value(l, e->b);
    case EXPR_LOAD: return load(l, e);
    case EXPR_CONVERT: return qn__lower_convert(l, e);
    case EXPR_DECAY:
    case EXPR_ADDRESS: return qn__lower_address(l, e->a, qn__type_to_ir(e->type));
    case EXPR_SWIZZLE:
        if (!e->is_lvalue && !e->a->is_lvalue) return swizzle_value(l, e);
        break;
    case EXPR_VECTOR: return vector_literal(l, e);
    case EXPR_STATEMENT: return statement_expression(l, e);
    case EXPR_CALL: return call(l, e);
    case EXPR_BUILTIN: return qn__lower_builtin(l, e);
    default: break;
    }
    lower_place place = qn__lower_place(l, e); /* an lvalue, or a member of a record value */
    qn__lower_at(l, e->loc);
    bool is_object = qn__type_is_record(e->type) || e->type->kind == AST_ARRAY;
    return is_object ? place.pointer : qn__lower_load(l, &place);
}

/* What stands in for a value once lowering was given up. */
static ir_value *no_value(lower *l, const ast_type *type) {
    ir_type made = qn__type_to_ir(type);
    if (type->kind == AST_VOID) return NULL;
    return qn__ir_undef(l->b.function, made.kind == IR_VOID ? qn__ir_pointer(IR_PRIVATE) : made);
}

ir_value *qn__lower_value(lower *l, ast_expr *e) {
    if (!qn__lower_enter(l, e->loc)) return no_value(l, e->type);
    ir_value *v = value(l, e);
    l->depth--;
    return v;
}

void qn__lower_effects(lower *l, ast_expr *e) {
    if (e->expr_kind == EXPR_CONVERT && e->convert == CONVERT_VOID) {
        qn__lower_effects(l, e->a);
        return;
    }
    qn__lower_value(l, e);
}
