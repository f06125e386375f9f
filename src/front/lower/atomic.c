/* Atomics and fences. The OpenCL 1.x functions are relaxed and of device scope; in the C11 family an order or
   scope that is not a constant is taken as the strongest. */
#include "front/lower/internal.h"

static ir_value *argument(lower *l, ast_expr *e, size_t i) { return qn__lower_value(l, e->args.data[i]); }

static ir_order order_argument(const ast_expr *e, size_t i) {
    int64_t value;
    if (i >= e->args.len || !qn__lower_const_int(e->args.data[i], &value)) return IR_SEQ_CST;
    return value >= IR_RELAXED && value <= IR_SEQ_CST ? (ir_order)value : IR_SEQ_CST;
}

static ir_scope scope_argument(const ast_expr *e, size_t i) {
    int64_t value;
    if (i >= e->args.len || !qn__lower_const_int(e->args.data[i], &value)) return IR_SCOPE_DEVICE;
    return value >= IR_SCOPE_WORK_ITEM && value <= IR_SCOPE_ALL_DEVICES ? (ir_scope)value
                                                                        : IR_SCOPE_ALL_DEVICES;
}

unsigned qn__lower_fence_bits(const ast_expr *flags) {
    int64_t value;
    if (!qn__lower_const_int(flags, &value)) return IR_FENCE_LOCAL | IR_FENCE_GLOBAL;
    return (unsigned)value & (IR_FENCE_LOCAL | IR_FENCE_GLOBAL);
}

ir_value *qn__lower_fence(lower *l, ast_expr *e) {
    static const uint8_t orders[] = {IR_ACQ_REL, IR_ACQUIRE, IR_RELEASE};
    unsigned variant = (unsigned)e->builtin->variant;
    ir_order order = variant < QN__COUNT(orders) ? (ir_order)orders[variant] : order_argument(e, 1);
    for (size_t i = 0; i < e->args.len; i++) qn__lower_effects(l, e->args.data[i]);
    if (order == IR_RELAXED) return NULL;
    qn__lower_at(l, e->loc);
    ir_instr *fence = qn__ir_emit(&l->b, IR_FENCE, NULL, 0, NULL, 0);
    fence->attr.fence = (uint8_t)qn__lower_fence_bits(e->args.data[0]);
    fence->attr.order = (uint8_t)order;
    fence->attr.scope = (uint8_t)(variant < QN__COUNT(orders) ? IR_SCOPE_WORK_GROUP : scope_argument(e, 2));
    return NULL;
}

/* ---- one atomic op ---- */

static void set_attrs(ir_instr *instr, uint32_t align, ir_order order, ir_scope scope) {
    instr->attr.align = align;
    instr->attr.order = (uint8_t)order;
    instr->attr.scope = (uint8_t)scope;
}

static ir_value *modify(lower *l, ir_combine combine, ir_value *pointer, ir_value *v, ir_order order,
                        ir_scope scope) {
    ir_value *operands[] = {pointer, v};
    ir_instr *made = qn__ir_emit(&l->b, IR_ATOMIC_RMW, operands, 2, &v->type, 1);
    set_attrs(made, qn__ir_memory_size(v->type), order, scope);
    made->attr.combine = (uint8_t)combine;
    return made->results[0];
}

static ir_value *swap_if_equal(lower *l, ir_value *pointer, ir_value *expected, ir_value *desired,
                               ir_order order, ir_order order_fail, ir_scope scope) {
    ir_value *operands[] = {pointer, expected, desired};
    ir_instr *made = qn__ir_emit(&l->b, IR_ATOMIC_CAS, operands, 3, &desired->type, 1);
    set_attrs(made, qn__ir_memory_size(desired->type), order, scope);
    made->attr.order_fail = (uint8_t)order_fail;
    return made->results[0];
}

/* A float's sum is an op of its own; its difference is the sum with the sign changed. */
static ir_value *fetch(lower *l, ast_expr *e, ir_order order, ir_scope scope) {
    ir_value *pointer = argument(l, e, 0), *v = argument(l, e, 1);
    ir_combine combine = qn__lower_combine(e->builtin->variant, e->args.data[1]->type);
    qn__lower_at(l, e->loc);
    if (combine == IR_COMBINE_SUB && qn__ir_is_float(v->type)) {
        combine = IR_COMBINE_FADD;
        v = qn__ir_op1(&l->b, IR_FNEG, v);
    }
    return modify(l, combine, pointer, v, order, scope);
}

/* ---- OpenCL 1.x ---- */

ir_value *qn__lower_atomic_old(lower *l, ast_expr *e) { return fetch(l, e, IR_RELAXED, IR_SCOPE_DEVICE); }

ir_value *qn__lower_atomic_inc(lower *l, ast_expr *e) {
    ir_value *pointer = argument(l, e, 0);
    qn__lower_at(l, e->loc);
    ir_value *one = qn__ir_const_int(l->b.function, (ir_kind)qn__type_to_ir(e->type).kind, 1);
    return modify(l, e->builtin->variant ? IR_COMBINE_SUB : IR_COMBINE_ADD, pointer, one, IR_RELAXED,
                  IR_SCOPE_DEVICE);
}

ir_value *qn__lower_atomic_cmpxchg(lower *l, ast_expr *e) {
    ir_value *pointer = argument(l, e, 0), *expected = argument(l, e, 1), *desired = argument(l, e, 2);
    qn__lower_at(l, e->loc);
    return swap_if_equal(l, pointer, expected, desired, IR_RELAXED, IR_RELAXED, IR_SCOPE_DEVICE);
}

/* ---- C11 ---- */

ir_value *qn__lower_atomic_init(lower *l, ast_expr *e) {
    ir_value *pointer = argument(l, e, 0), *v = argument(l, e, 1);
    qn__lower_at(l, e->loc);
    qn__ir_store(&l->b, pointer, v, 0, 0);
    return NULL;
}

ir_value *qn__lower_atomic_load(lower *l, ast_expr *e) {
    ir_value *pointer = argument(l, e, 0);
    ir_type type = qn__lower_memory_type(e->type);
    qn__lower_at(l, e->loc);
    ir_instr *made = qn__ir_emit(&l->b, IR_ATOMIC_LOAD, &pointer, 1, &type, 1);
    set_attrs(made, qn__ir_memory_size(type), order_argument(e, 1), scope_argument(e, 2));
    return made->results[0];
}

static void atomic_store(lower *l, ir_value *pointer, ir_value *v, ir_order order, ir_scope scope) {
    ir_value *operands[] = {pointer, v};
    ir_instr *made = qn__ir_emit(&l->b, IR_ATOMIC_STORE, operands, 2, NULL, 0);
    set_attrs(made, qn__ir_memory_size(v->type), order, scope);
}

ir_value *qn__lower_atomic_store(lower *l, ast_expr *e) {
    ir_value *pointer = argument(l, e, 0), *v = argument(l, e, 1);
    qn__lower_at(l, e->loc);
    atomic_store(l, pointer, v, order_argument(e, 2), scope_argument(e, 3));
    return NULL;
}

ir_value *qn__lower_atomic_fetch(lower *l, ast_expr *e) {
    return fetch(l, e, order_argument(e, 2), scope_argument(e, 3));
}

static ir_type as_integer(ir_type type) {
    if (qn__ir_is_float(type)) type.kind = (uint8_t)(type.kind == IR_F32 ? IR_I32 : IR_I64);
    return type;
}

/* Values are compared as bits. What was found goes to *expected only where it differs: another work-item may
   look at a shared *expected. */
ir_value *qn__lower_atomic_cas(lower *l, ast_expr *e) {
    ir_value *pointer = argument(l, e, 0), *expected_at = argument(l, e, 1), *desired = argument(l, e, 2);
    qn__lower_at(l, e->loc);
    ir_type type = as_integer(desired->type);
    desired = qn__lower_bits(l, desired, type);
    ir_value *expected = qn__ir_load(&l->b, expected_at, type, 0, 0);
    ir_value *old =
        swap_if_equal(l, pointer, expected, desired, order_argument(e, 3),
                      e->args.len > 4 ? order_argument(e, 4) : order_argument(e, 3), scope_argument(e, 5));
    ir_value *is_equal = qn__ir_op2(&l->b, IR_EQ, old, expected);
    ir_instr *branch = qn__ir_if(&l->b, is_equal, NULL, 0);
    ir_region *after = l->b.region;
    qn__ir_at_end(&l->b, branch->regions[0]);
    qn__ir_yield(&l->b, NULL, 0);
    qn__ir_at_end(&l->b, branch->regions[1]);
    qn__ir_store(&l->b, expected_at, old, 0, 0);
    qn__ir_yield(&l->b, NULL, 0);
    qn__ir_at_end(&l->b, after);
    return qn__lower_from_bool(l, is_equal, qn__type_to_ir(e->type));
}

ir_value *qn__lower_flag_test_set(lower *l, ast_expr *e) {
    ir_value *pointer = argument(l, e, 0);
    qn__lower_at(l, e->loc);
    ir_value *one = qn__ir_const_int(l->b.function, IR_I32, 1);
    ir_value *old = modify(l, IR_COMBINE_XCHG, pointer, one, order_argument(e, 1), scope_argument(e, 2));
    return qn__lower_from_bool(l, qn__lower_nonzero(l, old), qn__type_to_ir(e->type));
}

ir_value *qn__lower_flag_clear(lower *l, ast_expr *e) {
    ir_value *pointer = argument(l, e, 0);
    qn__lower_at(l, e->loc);
    atomic_store(l, pointer, qn__ir_const_int(l->b.function, IR_I32, 0), order_argument(e, 1),
                 scope_argument(e, 2));
    return NULL;
}
