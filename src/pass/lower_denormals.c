/* For targets that keep denormal f32 in sums and products only. NVIDIA's Vulkan driver promises DenormPreserve, but
   takes denormal operands of comparisons and absolute values for zero. The bits are compared instead: those of
   the number where the other side is zero, else those of the difference, which is not zero unless both are
   equal. A constant that is a normal number needs nothing: what is flushed is on the same side of it as zero.
   The device's inverse root is taken of a number scaled up.

       %c = flt %a, f32 0     ->     %c = ult (sub (bitcast %a), 0x80000001), 0x7f800000  */
#include "pass/lowering.h"

enum { SIZE_MASK = 0x7fffffff, INFINITE = 0x7f800000, LEAST_NORMAL = 0x00800000 };

static ir_value *bits_of(qn__lowering *l, ir_value *value) {
    return qn__make_convert(l, IR_BITCAST, value, qn__words_like(value->type));
}

static ir_value *with(qn__lowering *l, ir_op op, ir_value *bits, uint64_t number) {
    return qn__make2(l, op, bits, qn__make_int(l, bits->type, number));
}

/* Whether the bits are those of a number above zero (a NaN is not), or below. */
static ir_value *is_signed_like(qn__lowering *l, ir_value *bits, bool below) {
    return with(l, IR_ULT, with(l, IR_SUB, bits, below ? 0x80000001 : 1), INFINITE);
}

static ir_value *is_zero(qn__lowering *l, ir_value *bits) {
    return with(l, IR_EQ, with(l, IR_AND, bits, SIZE_MASK), 0);
}

static ir_value *complement(qn__lowering *l, ir_value *a) { return qn__make1(l, IR_NOT, a); }

/* a with zero; `below`: the zero is the right operand. */
static ir_value *with_zero(qn__lowering *l, ir_op op, ir_value *a, bool below) {
    ir_value *bits = bits_of(l, a);
    switch (op) {
    case IR_FEQ: return is_zero(l, bits);
    case IR_FNE: return complement(l, is_zero(l, bits));
    case IR_FLT: return is_signed_like(l, bits, below);
    default: break;
    }
    ir_value *less = is_signed_like(l, bits, below);
    return qn__make2(l, IR_OR, less, is_zero(l, bits));
}

static ir_value *two_numbers(qn__lowering *l, ir_op op, ir_value *a, ir_value *b) {
    if (op == IR_FEQ || op == IR_FNE) {
        ir_value *x = bits_of(l, a), *y = bits_of(l, b);
        ir_value *zeros = is_zero(l, qn__make2(l, IR_OR, x, y));
        ir_value *same = qn__make2(l, IR_OR, qn__make2(l, IR_EQ, x, y), zeros);
        same = qn__make2(l, IR_AND, qn__make2(l, IR_FEQ, a, b), same);
        return op == IR_FEQ ? same : complement(l, same);
    }
    ir_value *bits = bits_of(l, qn__make2(l, IR_FSUB, a, b));
    if (op == IR_FLT) return is_signed_like(l, bits, true);
    ir_value *above = is_signed_like(l, bits, false); /* of equal infinities it is NaN */
    ir_value *none = complement(l, above);
    return qn__make2(l, IR_AND, qn__make2(l, IR_FLE, a, b), none);
}

static bool is_normal(const ir_value *value) {
    if (!qn__ir_is_const(value)) return false;
    for (unsigned i = 0; i < value->type.lanes; i++)
        if ((value->bits[i] & SIZE_MASK) < LEAST_NORMAL) return false;
    return true;
}

static bool is_const_zero(const ir_value *value) {
    return qn__ir_is_const(value) && qn__ir_is_splat(value, 0);
}

/* What asks for NaN stays: a denormal number is equal to itself as well. */
static ir_value *compare(qn__lowering *l, const ir_instr *i) {
    ir_value *a = i->operands[0], *b = i->operands[1];
    const ir_op op = (ir_op)i->op;
    if (i->flags & IR_FAST || is_normal(a) || is_normal(b)) return NULL;
    if (a == b && (op == IR_FEQ || op == IR_FNE)) return NULL;
    if (is_const_zero(b)) return with_zero(l, op, a, true);
    if (is_const_zero(a)) return with_zero(l, op, b, false);
    return two_numbers(l, op, a, b);
}

static ir_value *magnitude(qn__lowering *l, const ir_instr *i) {
    if (i->flags & IR_FAST) return NULL;
    ir_value *bits = with(l, IR_AND, bits_of(l, i->operands[0]), SIZE_MASK);
    return qn__make_convert(l, IR_BITCAST, bits, i->results[0]->type);
}

/* x + 0 is x but for minus zero; the driver would drop the sum. */
static ir_value *add_zero(qn__lowering *l, const ir_instr *i) {
    ir_value *a = i->operands[0], *zero = i->operands[1];
    return is_const_zero(zero) ? qn__make_select(l, is_zero(l, bits_of(l, a)), zero, a) : NULL;
}

/* Scaled by an even power of two. */
static ir_value *inverse_root(qn__lowering *l, const ir_instr *i) {
    const ir_type type = i->results[0]->type;
    ir_value *a = i->operands[0], *one = qn__make_float(l, type, 1);
    if (i->flags & IR_FAST) return NULL;
    ir_value *small = qn__make2(l, IR_FLT, a, qn__make_float(l, type, 0x1p-96));
    ir_value *up = qn__make_select(l, small, qn__make_float(l, type, 0x1p64), one);
    ir_value *back = qn__make_select(l, small, qn__make_float(l, type, 0x1p32), one);
    ir_value *root = qn__make1(l, IR_NATIVE_RSQRT, qn__make2(l, IR_FMUL, a, up));
    return qn__make2(l, IR_FMUL, root, back);
}

static ir_value *lower(qn__lowering *l, ir_instr *i) {
    if (!i->num_operands || i->operands[0]->type.kind != IR_F32) return NULL;
    const qn__target *target = &l->context->options->target;
    if (i->op == IR_NATIVE_RSQRT) return target->has_denormals ? inverse_root(l, i) : NULL;
    if (!target->lacks_denormal_compares) return NULL;
    if (qn__ir_ops[i->op].rule == RULE_FCOMPARE) return compare(l, i);
    if (i->op == IR_FABS) return magnitude(l, i);
    return i->op == IR_FADD ? add_zero(l, i) : NULL;
}

bool qn__pass_lower_denormals(qn__pass_context *context) {
    return qn__lower_rules(context, UINT64_C(1) << RULE_FLOAT | UINT64_C(1) << RULE_FCOMPARE, lower, NULL);
}
