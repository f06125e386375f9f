/* Built-ins on memory: vloadn and vstoren with their element alignment, the half forms, prefetch; and
   printf. */
#include "front/lower/internal.h"

static ir_value *argument(lower *l, ast_expr *e, size_t i) { return qn__lower_value(l, e->args.data[i]); }

/* p + offset * step bytes. */
static ir_value *vector_address(lower *l, ir_value *offset, ir_value *pointer, uint64_t step) {
    offset = qn__lower_folded(l, qn__lower_resize(l, offset, IR_I64, false));
    ir_value *scale = qn__ir_const_int(l->b.function, IR_I64, (int64_t)step);
    ir_value *bytes = qn__lower_folded(l, qn__ir_op2(&l->b, IR_MUL, offset, scale));
    if (bytes->value_kind == IR_VALUE_RESULT) bytes->def->flags |= IR_NSW;
    return qn__ir_ptr_add(&l->b, pointer, bytes);
}

ir_value *qn__lower_vload(lower *l, ast_expr *e) {
    ir_type type = qn__lower_memory_type(e->type);
    uint16_t flags = qn__lower_pointer_flags(l, e->args.data[1]);
    ir_value *offset = argument(l, e, 0), *pointer = argument(l, e, 1);
    qn__lower_at(l, e->loc);
    uint32_t element = qn__ir_memory_size(qn__ir_element(type));
    pointer = vector_address(l, offset, pointer, (uint64_t)element * type.lanes);
    return qn__ir_load(&l->b, pointer, type, element, flags);
}

ir_value *qn__lower_vstore(lower *l, ast_expr *e) {
    uint16_t flags = qn__lower_pointer_flags(l, e->args.data[2]) & IR_VOLATILE;
    ir_value *v = argument(l, e, 0), *offset = argument(l, e, 1), *pointer = argument(l, e, 2);
    qn__lower_at(l, e->loc);
    uint32_t element = qn__ir_memory_size(qn__ir_element(v->type));
    pointer = vector_address(l, offset, pointer, (uint64_t)element * v->type.lanes);
    qn__ir_store(&l->b, pointer, v, element, flags);
    return NULL;
}

/* The aligned forms take 3-vectors to lie 4 apart. */
static uint64_t half_step(unsigned lanes, bool is_aligned) {
    return 2 * (is_aligned && lanes == 3 ? 4 : lanes);
}

ir_value *qn__lower_vload_half(lower *l, ast_expr *e) {
    ir_type to = qn__type_to_ir(e->type), half = qn__ir_type(IR_F16, to.lanes);
    bool is_aligned = e->builtin->variant & 1;
    uint16_t flags = qn__lower_pointer_flags(l, e->args.data[1]);
    ir_value *offset = argument(l, e, 0), *pointer = argument(l, e, 1);
    qn__lower_at(l, e->loc);
    uint64_t step = half_step(to.lanes, is_aligned);
    pointer = vector_address(l, offset, pointer, step);
    ir_value *v = qn__ir_load(&l->b, pointer, half, is_aligned ? (uint32_t)step : 2, flags);
    return qn__lower_float_convert(l, v, to, IR_ROUND_EVEN);
}

ir_value *qn__lower_vstore_half(lower *l, ast_expr *e) {
    bool is_aligned = e->builtin->variant & 1;
    uint16_t flags = qn__lower_pointer_flags(l, e->args.data[2]) & IR_VOLATILE;
    ir_rounding rounding = qn__lower_rounding((ast_rounding)(e->builtin->variant >> 1), IR_ROUND_EVEN);
    ir_value *v = argument(l, e, 0), *offset = argument(l, e, 1), *pointer = argument(l, e, 2);
    qn__lower_at(l, e->loc);
    v = qn__lower_float_convert(l, v, qn__ir_type(IR_F16, v->type.lanes), rounding);
    uint64_t step = half_step(v->type.lanes, is_aligned);
    pointer = vector_address(l, offset, pointer, step);
    qn__ir_store(&l->b, pointer, v, is_aligned ? (uint32_t)step : 2, flags);
    return NULL;
}

/* A hint: where the number of elements is not constant, the first one stands for all. */
ir_value *qn__lower_prefetch(lower *l, ast_expr *e) {
    ast_expr *p = e->args.data[0];
    ir_value *pointer = argument(l, e, 0), *count = qn__lower_folded(l, argument(l, e, 1));
    qn__lower_at(l, e->loc);
    uint64_t each = p->type->base->size ? p->type->base->size : 1;
    bool is_known = qn__ir_is_const(count) && count->bits[0] && count->bits[0] < UINT32_MAX;
    ir_instr *made = qn__ir_emit(&l->b, IR_PREFETCH, &pointer, 1, NULL, 0);
    made->attr.size = is_known ? each * count->bits[0] : each;
    return NULL;
}

/* ---- async copies ---- */

/* The target's async copies are of 4 to 16 bytes; smaller elements are copied at once. */
static void async_element(lower *l, const ast_type *type, ir_value *to, ir_value *from) {
    const bool is_async = l->config->target.has_async_copies && type->size >= 4;
    const uint32_t piece = type->size < 16 ? (uint32_t)type->size : 16;
    if (!is_async) {
        ir_value *value = qn__ir_load(&l->b, from, qn__type_to_ir(type), type->align, 0);
        qn__ir_store(&l->b, to, value, type->align, 0);
        return;
    }
    for (uint64_t at = 0; at < type->size; at += piece) {
        ir_value *a = qn__ir_ptr_offset(&l->b, to, (int64_t)at);
        ir_value *b = qn__ir_ptr_offset(&l->b, from, (int64_t)at);
        qn__ir_copy(&l->b, a, b, piece, piece)->flags = IR_ASYNC;
    }
}

ir_value *qn__lower_async(lower *l, ast_expr *e) {
    enum { COPY, COMMIT, WAIT };
    ir_value *a = argument(l, e, 0), *b = e->builtin->variant == COPY ? argument(l, e, 1) : NULL;
    const ir_type event = qn__ir_type(IR_I32, 1);
    qn__lower_at(l, e->loc);
    if (b) {
        async_element(l, e->args.data[0]->type->base, a, b);
        return NULL;
    }
    if (!l->config->target.has_async_copies) return a;
    if (e->builtin->variant == COMMIT)
        return qn__ir_emit(&l->b, IR_ASYNC_COMMIT, &a, 1, &event, 1)->results[0];
    qn__ir_emit(&l->b, IR_ASYNC_WAIT, &a, 1, NULL, 0);
    return NULL;
}

/* ---- printf ---- */

/* The characters of a constant string: a literal, or a __constant array. */
static const ast_expr *strip(const ast_expr *e) {
    while (e->expr_kind == EXPR_CONVERT || e->expr_kind == EXPR_DECAY || e->expr_kind == EXPR_ADDRESS)
        e = e->a;
    return e;
}

static bool format_index(lower *l, const ast_expr *e, uint32_t *index) {
    e = strip(e);
    if (e->expr_kind == EXPR_STRING) {
        *index = qn__lower_string(l, e->string, true);
        return true;
    }
    if (e->expr_kind != EXPR_VARIABLE) return false;
    ast_decl *decl = qn__decl_definition(e->decl);
    if (!decl->data || decl->type->kind != AST_ARRAY) return false;
    *index = qn__lower_global(l, decl);
    ir_global *global = &l->module->globals.data[*index];
    global->is_format = true;
    return global->size && !global->data[global->size - 1];
}

/* The default promotions: small integers to int, half and float to double where there are doubles. */
static ir_value *promoted(lower *l, ir_value *v, const ast_type *type) {
    bool has_double = !l->config->target.lacks_f64;
    if (v->type.kind == IR_BOOL) return qn__lower_from_bool(l, v, qn__ir_type(IR_I32, 1));
    if (v->type.lanes > 1) return v;
    if (v->type.kind == IR_F16 || (v->type.kind == IR_F32 && has_double))
        return qn__lower_float_convert(l, v, qn__ir_type(has_double ? IR_F64 : IR_F32, 1), IR_ROUND_EVEN);
    if (v->type.kind == IR_I8 || v->type.kind == IR_I16)
        return qn__lower_resize(l, v, IR_I32, qn__type_is_signed(type));
    return v;
}

ir_value *qn__lower_printf(lower *l, ast_expr *e) {
    uint32_t index = 0;
    if (!format_index(l, e->args.data[0], &index))
        qn__lower_error(l, e->args.data[0]->loc, "printf's format must be a string literal",
                        "write the format into the call, or pass a __constant char array");
    QN__VEC(ir_value *) operands = {0};
    for (size_t i = 1; i < e->args.len; i++) {
        ir_value *v = argument(l, e, i);
        qn__lower_at(l, e->loc);
        qn__vec_push(l->arena, &operands, promoted(l, v, e->args.data[i]->type));
    }
    qn__lower_at(l, e->loc);
    ir_type type = qn__ir_type(IR_I32, 1);
    ir_instr *made = qn__ir_emit(&l->b, IR_PRINTF, operands.data, (uint32_t)operands.len, &type, 1);
    made->attr.index = index;
    return made->results[0];
}
