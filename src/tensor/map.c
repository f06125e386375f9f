/* Functions of elements: each is a row of ops.def. The names are in parentheses where the header has macros of the same name. */
#include "tensor/graph.h"

#define ONE(name, op)                                                                                        \
    qn_tensor *qn_##name(qn_tensor *x) {                                                                     \
        return qn__apply(QN__OP_##op, "qn_" #name, &(qn_operand){QN_OPERAND_TENSOR, {.tensor = x}}, 1);      \
    }
#define TWO(name, op)                                                                                        \
    qn_tensor *(qn_##name)(qn_operand a, qn_operand b) {                                                     \
        return qn__apply(QN__OP_##op, "qn_" #name, (qn_operand[]){a, b}, 2);                                 \
    }
#define THREE(name, op)                                                                                      \
    qn_tensor *(qn_##name)(qn_operand a, qn_operand b, qn_operand c) {                                       \
        return qn__apply(QN__OP_##op, "qn_" #name, (qn_operand[]){a, b, c}, 3);                              \
    }

ONE(negate, NEGATE)
ONE(abs, ABS)
ONE(sign, SIGN)
ONE(square, SQUARE)
ONE(relu, RELU)
ONE(reciprocal, RECIPROCAL)
ONE(sqrt, SQRT)
ONE(rsqrt, RSQRT)
ONE(cbrt, CBRT)
ONE(exp, EXP)
ONE(exp2, EXP2)
ONE(expm1, EXPM1)
ONE(log, LOG)
ONE(log2, LOG2)
ONE(log10, LOG10)
ONE(log1p, LOG1P)
ONE(sin, SIN)
ONE(cos, COS)
ONE(tan, TAN)
ONE(asin, ASIN)
ONE(acos, ACOS)
ONE(atan, ATAN)
ONE(sinh, SINH)
ONE(cosh, COSH)
ONE(tanh, TANH)
ONE(asinh, ASINH)
ONE(acosh, ACOSH)
ONE(atanh, ATANH)
ONE(erf, ERF)
ONE(erf_inverse, ERF_INVERSE)
ONE(erfc, ERFC)
ONE(floor, FLOOR)
ONE(ceil, CEIL)
ONE(round, ROUND)
ONE(trunc, TRUNC)
ONE(sigmoid, SIGMOID)
ONE(silu, SILU)
ONE(softplus, SOFTPLUS)
ONE(mish, MISH)
ONE(gelu, GELU)
ONE(gelu_tanh, GELU_TANH)
ONE(is_nan, IS_NAN)
ONE(is_inf, IS_INF)
ONE(is_finite, IS_FINITE)
ONE(sign_bit, SIGN_BIT)
ONE(logical_not, LOGICAL_NOT)
ONE(bit_not, BIT_NOT)

TWO(add, ADD)
TWO(subtract, SUBTRACT)
TWO(multiply, MULTIPLY)
TWO(divide, DIVIDE)
TWO(floor_divide, FLOOR_DIVIDE)
TWO(remainder, REMAINDER)
TWO(fmod, FMOD)
TWO(maximum, MAXIMUM)
TWO(minimum, MINIMUM)
TWO(atan2, ATAN2)
TWO(hypot, HYPOT)
TWO(copy_sign, COPY_SIGN)
TWO(log_add_exp, LOG_ADD_EXP)
TWO(equal, EQUAL)
TWO(not_equal, NOT_EQUAL)
TWO(less, LESS)
TWO(less_equal, LESS_EQUAL)
TWO(greater, GREATER)
TWO(greater_equal, GREATER_EQUAL)
TWO(logical_and, LOGICAL_AND)
TWO(logical_or, LOGICAL_OR)
TWO(logical_xor, LOGICAL_XOR)
TWO(bit_and, BIT_AND)
TWO(bit_or, BIT_OR)
TWO(bit_xor, BIT_XOR)
TWO(shift_left, SHIFT_LEFT)
TWO(shift_right, SHIFT_RIGHT)

THREE(where, WHERE)
THREE(clip, CLIP)
THREE(lerp, LERP)
THREE(multiply_add, MULTIPLY_ADD)

/* Narrow floats are computed in f32, whose next number is not theirs. */
qn_tensor *(qn_next_after)(qn_operand a, qn_operand b) {
    qn_tensor *y = qn__apply(QN__OP_NEXT_AFTER, "qn_next_after", (qn_operand[]){a, b}, 2);
    const qn_element type = y->status ? QN_F32 : (qn_element)y->node->type;
    return qn__value_type(type) == type
               ? y
               : qn__failed(y->owner, "qn_next_after", QN_ERROR_ARGUMENT, "it is of f32 and f64, not of %s",
                            qn_element_name(type));
}

static bool is_two(const qn_operand *x) {
    return (x->kind == QN_OPERAND_FLOAT && x->value.d == 2) ||
           ((x->kind == QN_OPERAND_SIGNED || x->kind == QN_OPERAND_UNSIGNED) && x->value.u == 2);
}

qn_tensor *(qn_power)(qn_operand a, qn_operand b) {
    if (is_two(&b) && a.kind == QN_OPERAND_TENSOR && qn__node_of(a.value.tensor) &&
        qn__is_float((qn_element)qn__node_of(a.value.tensor)->type))
        return qn__apply(QN__OP_SQUARE, "qn_power", &a, 1);
    return qn__apply(QN__OP_POWER, "qn_power", (qn_operand[]){a, b}, 2);
}

qn_tensor *qn_cast(qn_tensor *x, qn_element type) {
    qn_tensors *tensors;
    qn_tensor *wrong = qn__refuse("qn_cast", &x, 1, &tensors);
    if (wrong) return wrong;
    wrong = qn__check_type(tensors, "qn_cast", type);
    if (wrong) return wrong;
    qn__node_retain(x->node);
    return qn__handle(tensors, qn__cast_node(x->node, type));
}
