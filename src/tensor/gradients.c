/* The gradients of ops, each as ops: with g the gradient by an op's result y, those by its operands a, b, c. Results are summed up where
   operands were broadcast by the gradient of that view. */
#include <string.h>

#include "tensor/calls.h"

#define G b->gradient
#define Y b->value
#define A b->sources[0]
#define B b->sources[1]
#define C b->sources[2]

/* An op of one operand: its gradient as an expression. */
#define ONE(name, expression)                                                                                \
    static void gradient_##name(qn__backward *b) { b->given[0] = expression; }
/* Of two: each is only made where it is wanted. */
#define TWO(name, by_a, by_b)                                                                                \
    static void gradient_##name(qn__backward *b) {                                                           \
        if (qn__wants_gradient(b, 0)) b->given[0] = by_a;                                                    \
        if (qn__wants_gradient(b, 1)) b->given[1] = by_b;                                                    \
    }
#define THREE(name, by_a, by_b, by_c)                                                                        \
    static void gradient_##name(qn__backward *b) {                                                           \
        if (qn__wants_gradient(b, 0)) b->given[0] = by_a;                                                    \
        if (qn__wants_gradient(b, 1)) b->given[1] = by_b;                                                    \
        if (qn__wants_gradient(b, 2)) b->given[2] = by_c;                                                    \
    }

#define ROOT_2_OVER_PI 0.79788456080286535588
#define LN2            0.69314718055994530942
#define LN10           2.30258509299404568402

static qn_tensor *zero_where_not(qn_tensor *condition, qn_tensor *g) { return qn_where(condition, g, 0); }

/* ---- maps ---- */

static void gradient_cast(qn__backward *b) {
    if (qn__is_float(qn_tensor_type(A))) b->given[0] = qn_cast(G, qn_tensor_type(A));
}
ONE(copy, G)
ONE(negate, qn_negate(G))
ONE(abs, qn_multiply(G, qn_sign(A)))
ONE(square, qn_multiply(G, qn_multiply(A, 2)))
ONE(relu, zero_where_not(qn_greater(Y, 0), G)) /* by its result, so that nothing else need be kept */
ONE(reciprocal, qn_negate(qn_multiply(G, qn_square(Y))))
ONE(sqrt, qn_divide(qn_multiply(G, 0.5), Y))
ONE(rsqrt, qn_multiply(qn_multiply(G, -0.5), qn_divide(Y, A)))
ONE(cbrt, qn_divide(G, qn_multiply(qn_square(Y), 3)))
ONE(exp, qn_multiply(G, Y))
ONE(exp2, qn_multiply(qn_multiply(G, LN2), Y))
ONE(expm1, qn_multiply(G, qn_add(Y, 1)))
ONE(log, qn_divide(G, A))
ONE(log2, qn_divide(G, qn_multiply(A, LN2)))
ONE(log10, qn_divide(G, qn_multiply(A, LN10)))
ONE(log1p, qn_divide(G, qn_add(A, 1)))
ONE(sin, qn_multiply(G, qn_cos(A)))
ONE(cos, qn_negate(qn_multiply(G, qn_sin(A))))
ONE(tan, qn_multiply(G, qn_add(qn_square(Y), 1)))
ONE(asin, qn_multiply(G, qn_rsqrt(qn_subtract(1, qn_square(A)))))
ONE(acos, qn_negate(qn_multiply(G, qn_rsqrt(qn_subtract(1, qn_square(A))))))
ONE(atan, qn_divide(G, qn_add(qn_square(A), 1)))
ONE(sinh, qn_multiply(G, qn_cosh(A)))
ONE(cosh, qn_multiply(G, qn_sinh(A)))
ONE(tanh, qn_multiply(G, qn_subtract(1, qn_square(Y))))
ONE(asinh, qn_multiply(G, qn_rsqrt(qn_add(qn_square(A), 1))))
ONE(acosh, qn_multiply(G, qn_rsqrt(qn_subtract(qn_square(A), 1))))
ONE(atanh, qn_divide(G, qn_subtract(1, qn_square(A))))
ONE(erf, qn_multiply(G, qn_multiply(qn_exp(qn_negate(qn_square(A))), 1.12837916709551257390)))
ONE(erf_inverse, qn_multiply(G, qn_multiply(qn_exp(qn_square(Y)), 0.88622692545275801365)))
ONE(erfc, qn_multiply(G, qn_multiply(qn_exp(qn_negate(qn_square(A))), -1.12837916709551257390)))
ONE(sigmoid, qn_multiply(G, qn_multiply(Y, qn_subtract(1, Y))))
ONE(softplus, qn_multiply(G, qn_sigmoid(A)))

static void gradient_silu(qn__backward *b) {
    qn_tensor *s = qn_sigmoid(A);
    b->given[0] = qn_multiply(G, qn_multiply(s, qn_add(qn_multiply(A, qn_subtract(1, s)), 1)));
}

static void gradient_mish(qn__backward *b) {
    qn_tensor *t = qn_tanh(qn_softplus(A));
    qn_tensor *inner = qn_multiply(qn_multiply(A, qn_subtract(1, qn_square(t))), qn_sigmoid(A));
    b->given[0] = qn_multiply(G, qn_add(t, inner));
}

static void gradient_gelu(qn__backward *b) {
    qn_tensor *share = qn_multiply(qn_erfc(qn_multiply(A, -0.70710678118654752440)), 0.5);
    qn_tensor *density = qn_multiply(qn_exp(qn_multiply(qn_square(A), -0.5)), 0.39894228040143267794);
    b->given[0] = qn_multiply(G, qn_multiply_add(A, density, share));
}

static void gradient_gelu_tanh(qn__backward *b) {
    qn_tensor *squares = qn_square(A);
    qn_tensor *s =
        qn_sigmoid(qn_multiply(qn_multiply(A, 2 * ROOT_2_OVER_PI), qn_multiply_add(squares, 0.044715, 1)));
    qn_tensor *slope = qn_multiply_add(squares, 6 * 0.044715 * ROOT_2_OVER_PI, 2 * ROOT_2_OVER_PI);
    qn_tensor *rest = qn_multiply(qn_multiply(qn_multiply(A, slope), s), qn_subtract(1, s));
    b->given[0] = qn_multiply(G, qn_add(s, rest));
}

TWO(add, G, G)
TWO(subtract, G, qn_negate(G))
TWO(multiply, qn_multiply(G, B), qn_multiply(G, A))
TWO(divide, qn_divide(G, B), qn_negate(qn_divide(qn_multiply(G, Y), B)))
TWO(fmod, G, qn_negate(qn_multiply(G, qn_trunc(qn_divide(A, B)))))
TWO(remainder, G, qn_negate(qn_multiply(G, qn_floor(qn_divide(A, B)))))
TWO(power, qn_multiply(G, qn_where(qn_equal(B, 0), 0, qn_multiply(B, qn_power(A, qn_subtract(B, 1))))),
    qn_multiply(G, qn_where(qn_equal(A, 0), 0, qn_multiply(Y, qn_log(A)))))
/* Equal ones share. */
TWO(maximum, qn_multiply(G, qn_where(qn_equal(A, B), 0.5, qn_cast(qn_greater(A, B), qn_tensor_type(G)))),
    qn_multiply(G, qn_where(qn_equal(A, B), 0.5, qn_cast(qn_less(A, B), qn_tensor_type(G)))))
TWO(minimum, qn_multiply(G, qn_where(qn_equal(A, B), 0.5, qn_cast(qn_less(A, B), qn_tensor_type(G)))),
    qn_multiply(G, qn_where(qn_equal(A, B), 0.5, qn_cast(qn_greater(A, B), qn_tensor_type(G)))))
TWO(atan2, qn_divide(qn_multiply(G, B), qn_add(qn_square(A), qn_square(B))),
    qn_negate(qn_divide(qn_multiply(G, A), qn_add(qn_square(A), qn_square(B)))))
TWO(hypot, qn_divide(qn_multiply(G, A), Y), qn_divide(qn_multiply(G, B), Y))
TWO(copy_sign, qn_where(qn_equal(qn_sign_bit(A), qn_sign_bit(B)), G, qn_negate(G)), NULL)
TWO(log_add_exp, qn_multiply(G, qn_exp(qn_subtract(A, Y))), qn_multiply(G, qn_exp(qn_subtract(B, Y))))
THREE(where, NULL, qn_where(A, G, 0), qn_where(A, 0, G))
THREE(clip, zero_where_not(qn_logical_and(qn_greater_equal(A, B), qn_less_equal(A, C)), G),
      zero_where_not(qn_less(A, B), G),
      zero_where_not(qn_logical_and(qn_greater(A, C), qn_greater_equal(A, B)), G))
THREE(lerp, qn_multiply(G, qn_subtract(1, C)), qn_multiply(G, C), qn_multiply(G, qn_subtract(B, A)))
THREE(multiply_add, qn_multiply(G, B), qn_multiply(G, A), G)

/* ---- reductions: the gradient has sizes of 1 where they reduced ---- */

static qn_axes axes_of(const qn__backward *b) {
    qn_axes axes = {.count = 0};
    for (uint32_t d = 0; d < b->node->rank; d++)
        if (b->node->attributes.axes >> d & 1) axes.axes[axes.count++] = (int32_t)d;
    return axes;
}

ONE(sum, qn_broadcast_to(G, qn_tensor_shape(A)))

/* Those that are the extreme share. */
static void gradient_extreme(qn__backward *b) {
    qn_tensor *is_there = qn_cast(qn_equal(A, Y), qn_tensor_type(G));
    b->given[0] = qn_multiply(is_there, qn_divide(G, qn_sum(is_there, axes_of(b), true)));
}

/* The product of the others: with one zero it is its alone, with several all are 0. */
static void gradient_product(qn__backward *b) {
    qn_tensor *is_zero = qn_equal(A, 0);
    qn_tensor *zeros = qn_sum(is_zero, axes_of(b), true);
    qn_tensor *others = qn_product(qn_where(is_zero, 1, A), axes_of(b), true);
    qn_tensor *of_zero = qn_where(qn_equal(zeros, 1), others, 0);
    qn_tensor *of_rest = qn_where(qn_equal(zeros, 0), qn_divide(others, qn_where(is_zero, 1, A)), 0);
    b->given[0] = qn_multiply(G, qn_where(is_zero, of_zero, of_rest));
}

/* ---- views ---- */

ONE(reshape, qn_reshape(G, qn_tensor_shape(A)))

static qn_tensor *source_of(qn__node *node, uint32_t i) {
    qn__node_retain(node->sources[i]);
    return qn__handle(node->owner, node->sources[i]);
}

/* Below conversions and reshapes that change no size. */
static qn__node *below_conversions(qn__node *node) {
    while (node && !node->realised &&
           (node->op == QN__OP_CAST ||
            (node->op == QN__OP_RESHAPE && node->rank == node->sources[0]->rank &&
             memcmp(node->sizes, node->sources[0]->sizes, node->rank * sizeof *node->sizes) == 0)))
        node = node->sources[0];
    return node;
}

/* A product that is only asked for to be transposed, as the gradient by a layer's weights is: instead of that the product of its transposed
   matrices the other way round. NULL: it is none. */
static qn_tensor *turned_product(const qn__backward *b) {
    const uint32_t rank = b->node->rank;
    const uint8_t *order = b->node->attributes.order;
    qn__node *product = below_conversions(G->node);
    if (!product || product->op != QN__OP_MATMUL || product->realised || product->rank != rank) return NULL;
    for (uint32_t d = 0; d < rank; d++)
        if (order[d] != (d + 2 < rank ? d : 2 * rank - 3 - d)) return NULL;
    qn_tensor *turned =
        qn_matmul(qn_transpose(source_of(product, 1), -1, -2), qn_transpose(source_of(product, 0), -1, -2));
    return qn_cast(turned, qn_tensor_type(G));
}

static void gradient_permute(qn__backward *b) {
    if ((b->given[0] = turned_product(b))) return;
    if (qn__channels_are_turned(b->node)) {
        qn__node_retain(G->node);
        b->given[0] = qn__handle(b->tensors, qn__channels_view(G->node));
        return;
    }
    qn_axes back = {.count = b->node->rank};
    for (uint32_t d = 0; d < b->node->rank; d++) back.axes[b->node->attributes.order[d]] = (int32_t)d;
    b->given[0] = b->node->rank ? qn_permute(G, back) : G;
}

static void gradient_expand(qn__backward *b) {
    const qn__node *from = b->node->sources[0];
    const uint32_t before = b->node->rank - from->rank;
    qn_axes repeated = {.count = 0};
    for (uint32_t d = 0; d < b->node->rank; d++)
        if (d < before || (from->sizes[d - before] == 1 && b->node->sizes[d] != 1))
            repeated.axes[repeated.count++] = (int32_t)d;
    qn_tensor *sum = repeated.count ? qn_sum(G, repeated, true) : G;
    b->given[0] = qn_reshape(sum, qn_tensor_shape(A));
}

/* The elements between those of a slice get zeros. */
static qn_tensor *spread(qn_tensor *g, int32_t axis, uint64_t step) {
    if (step == 1) return g;
    qn_shape joined = qn_tensor_shape(g), apart = {2, {1, 1}};
    for (uint32_t d = 0; d < joined.rank; d++) apart.sizes[d > (uint32_t)axis] *= joined.sizes[d];
    if (joined.rank < QN_MAX_RANK)
        g = qn_pad(qn_unsqueeze(g, axis + 1), axis + 1, 0, step - 1, 0);
    else /* no room for one more: what is before and what is behind, each as one dimension */
        g = qn_pad(qn_unsqueeze(qn_reshape(g, apart), 1), 1, 0, step - 1, 0);
    joined.sizes[axis] *= step;
    return qn_reshape(g, joined);
}

static void gradient_slice(qn__backward *b) {
    const qn__attributes *a = &b->node->attributes;
    const int32_t axis = (int32_t)a->axis;
    const uint64_t count = b->node->sizes[a->axis], size = b->node->sources[0]->sizes[a->axis];
    const uint64_t step = (uint64_t)(a->step < 0 ? -a->step : a->step);
    if (!count) {
        b->given[0] = qn_zeros(b->tensors, qn_tensor_type(A), qn_tensor_shape(A));
        return;
    }
    const int64_t first = a->step < 0 ? a->begin + (int64_t)(count - 1) * a->step : a->begin;
    qn_tensor *g = spread(a->step < 0 ? qn_flip(G, (qn_axes){1, {axis}}) : G, axis, step);
    const uint64_t reach = (count - 1) * step + 1; /* without the zeros behind the last one */
    g = qn_slice(g, axis, 0, (int64_t)reach, 1);
    b->given[0] = qn_pad(g, axis, (uint64_t)first, size - (uint64_t)first - reach, 0);
}

static void gradient_pad(qn__backward *b) {
    const qn__attributes *a = &b->node->attributes;
    const uint64_t size = b->node->sources[0]->sizes[a->axis];
    b->given[0] = qn_slice(G, (int32_t)a->axis, a->begin, a->begin + (int64_t)size, 1);
}

/* ---- calls ---- */

/* Summed up over batches that were broadcast. */
static qn_tensor *fold(qn_tensor *g, const qn__node *like) {
    const qn_shape shape = qn_tensor_shape(g);
    qn_axes repeated = {.count = 0};
    for (uint32_t d = 0; d + 2 < shape.rank; d++) {
        const uint32_t back = shape.rank - d;
        if (back > like->rank || (like->sizes[like->rank - back] == 1 && shape.sizes[d] != 1))
            repeated.axes[repeated.count++] = (int32_t)d;
    }
    qn_tensor *sum = repeated.count ? qn_sum(g, repeated, true) : g;
    qn_shape own = {.rank = like->rank};
    for (uint32_t d = 0; d < like->rank; d++) own.sizes[d] = like->sizes[d];
    return qn_cast(qn_reshape(sum, own), (qn_element)like->type);
}

/* Of weights that a batch of matrices was multiplied by: their rows are one long matrix, so that one product sums up over all of them. */
static qn_tensor *by_weights(const qn__backward *b) {
    const bool is_batch = b->node->rank > 2 && b->node->sources[1]->rank == 2;
    qn_tensor *a = is_batch ? qn_flatten(A, 0, -2) : A, *g = is_batch ? qn_flatten(G, 0, -2) : G;
    return fold(qn_matmul(qn_transpose(a, -1, -2), g), b->node->sources[1]);
}

TWO(matmul, fold(qn_matmul(G, qn_transpose(B, -1, -2)), b->node->sources[0]), by_weights(b))

/* A call of which gradients are asked has one part that they go to. */
ONE(part, G)

static qn__gradient *const gradients[QN__OP_COUNT] = {
    [QN__OP_CAST] = gradient_cast,
    [QN__OP_COPY] = gradient_copy,
    [QN__OP_NEGATE] = gradient_negate,
    [QN__OP_ABS] = gradient_abs,
    [QN__OP_SQUARE] = gradient_square,
    [QN__OP_RELU] = gradient_relu,
    [QN__OP_RECIPROCAL] = gradient_reciprocal,
    [QN__OP_SQRT] = gradient_sqrt,
    [QN__OP_RSQRT] = gradient_rsqrt,
    [QN__OP_CBRT] = gradient_cbrt,
    [QN__OP_EXP] = gradient_exp,
    [QN__OP_EXP2] = gradient_exp2,
    [QN__OP_EXPM1] = gradient_expm1,
    [QN__OP_LOG] = gradient_log,
    [QN__OP_LOG2] = gradient_log2,
    [QN__OP_LOG10] = gradient_log10,
    [QN__OP_LOG1P] = gradient_log1p,
    [QN__OP_SIN] = gradient_sin,
    [QN__OP_COS] = gradient_cos,
    [QN__OP_TAN] = gradient_tan,
    [QN__OP_ASIN] = gradient_asin,
    [QN__OP_ACOS] = gradient_acos,
    [QN__OP_ATAN] = gradient_atan,
    [QN__OP_SINH] = gradient_sinh,
    [QN__OP_COSH] = gradient_cosh,
    [QN__OP_TANH] = gradient_tanh,
    [QN__OP_ASINH] = gradient_asinh,
    [QN__OP_ACOSH] = gradient_acosh,
    [QN__OP_ATANH] = gradient_atanh,
    [QN__OP_ERF] = gradient_erf,
    [QN__OP_ERF_INVERSE] = gradient_erf_inverse,
    [QN__OP_ERFC] = gradient_erfc,
    [QN__OP_SIGMOID] = gradient_sigmoid,
    [QN__OP_SILU] = gradient_silu,
    [QN__OP_SOFTPLUS] = gradient_softplus,
    [QN__OP_MISH] = gradient_mish,
    [QN__OP_GELU] = gradient_gelu,
    [QN__OP_GELU_TANH] = gradient_gelu_tanh,
    [QN__OP_ADD] = gradient_add,
    [QN__OP_SUBTRACT] = gradient_subtract,
    [QN__OP_MULTIPLY] = gradient_multiply,
    [QN__OP_DIVIDE] = gradient_divide,
    [QN__OP_FMOD] = gradient_fmod,
    [QN__OP_REMAINDER] = gradient_remainder,
    [QN__OP_POWER] = gradient_power,
    [QN__OP_MAXIMUM] = gradient_maximum,
    [QN__OP_MINIMUM] = gradient_minimum,
    [QN__OP_ATAN2] = gradient_atan2,
    [QN__OP_HYPOT] = gradient_hypot,
    [QN__OP_COPY_SIGN] = gradient_copy_sign,
    [QN__OP_LOG_ADD_EXP] = gradient_log_add_exp,
    [QN__OP_WHERE] = gradient_where,
    [QN__OP_CLIP] = gradient_clip,
    [QN__OP_LERP] = gradient_lerp,
    [QN__OP_MULTIPLY_ADD] = gradient_multiply_add,
    [QN__OP_SUM] = gradient_sum,
    [QN__OP_PRODUCT] = gradient_product,
    [QN__OP_MAX] = gradient_extreme,
    [QN__OP_MIN] = gradient_extreme,
    [QN__OP_RESHAPE] = gradient_reshape,
    [QN__OP_PERMUTE] = gradient_permute,
    [QN__OP_EXPAND] = gradient_expand,
    [QN__OP_SLICE] = gradient_slice,
    [QN__OP_PAD] = gradient_pad,
    [QN__OP_MATMUL] = gradient_matmul,
    [QN__OP_CONVOLVE] = qn__convolve_gradient,
    [QN__OP_CONVOLVE_INPUT] = qn__convolve_input_gradient,
    [QN__OP_CONVOLVE_WEIGHTS] = qn__convolve_weights_gradient,
    [QN__OP_MAX_POOL] = qn__max_pool_gradient,
    [QN__OP_MAX_POOL_BACKWARD] = qn__max_pool_backward_gradient,
    [QN__OP_PART] = gradient_part,
    [QN__OP_ATTENTION] = qn__attention_gradient,
    [QN__OP_ATTENTION_BACKWARD] = qn__attention_backward_gradient,
    [QN__OP_TAKE] = qn__take_gradient,
    [QN__OP_SCATTER] = qn__scatter_gradient,
    [QN__OP_SCAN] = qn__scan_gradient,
    [QN__OP_CHOLESKY] = qn__cholesky_gradient,
    [QN__OP_SOLVE] = qn__solve_gradient,
    [QN__OP_SOLVE_TRIANGULAR] = qn__solve_triangular_gradient,
    [QN__OP_DETERMINANT] = qn__determinant_gradient,
    [QN__OP_QR] = qn__qr_gradient,
    [QN__OP_EIGEN] = qn__eigen_gradient,
    [QN__OP_SVD] = qn__svd_gradient,
};

qn__gradient *qn__gradient_of(qn__op op) { return gradients[op]; }
