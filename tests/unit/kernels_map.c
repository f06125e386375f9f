/* qn_kernels_map: every function against the C library's in double precision, types, broadcasting, numbers in place of arrays, work in
   place, and what is refused. */
#include "kernels_common.h"

typedef struct reference {
    qn_map_function function;
    double (*of)(double a, double b, double c);
    double low, high; /* of operands */
    double ulps;      /* of f32 */
} reference;

#define DEFINE(name, expression)                                                                             \
    static double name(double a, double b, double c) {                                                       \
        (void)a, (void)b, (void)c;                                                                           \
        return expression;                                                                                   \
    }
DEFINE(of_copy, a)
DEFINE(of_negate, -a)
DEFINE(of_abs, fabs(a))
DEFINE(of_sign, (a > 0) - (a < 0))
DEFINE(of_square, a *a)
DEFINE(of_relu, a > 0 ? a : 0)
DEFINE(of_reciprocal, 1 / a)
DEFINE(of_sqrt, sqrt(a))
DEFINE(of_rsqrt, 1 / sqrt(a))
DEFINE(of_cbrt, cbrt(a))
DEFINE(of_exp, exp(a))
DEFINE(of_exp2, exp2(a))
DEFINE(of_expm1, expm1(a))
DEFINE(of_log, log(a))
DEFINE(of_log2, log2(a))
DEFINE(of_log10, log10(a))
DEFINE(of_log1p, log1p(a))
DEFINE(of_sin, sin(a))
DEFINE(of_cos, cos(a))
DEFINE(of_tan, tan(a))
DEFINE(of_asin, asin(a))
DEFINE(of_acos, acos(a))
DEFINE(of_atan, atan(a))
DEFINE(of_sinh, sinh(a))
DEFINE(of_cosh, cosh(a))
DEFINE(of_tanh, tanh(a))
DEFINE(of_erf, erf(a))
DEFINE(of_floor, floor(a))
DEFINE(of_ceil, ceil(a))
DEFINE(of_round, nearbyint(a))
DEFINE(of_trunc, trunc(a))
DEFINE(of_sigmoid, 1 / (1 + exp(-a)))
DEFINE(of_silu, a / (1 + exp(-a)))
DEFINE(of_softplus, log1p(exp(a)))
DEFINE(of_gelu, a *erfc(-a / sqrt(2)) / 2)
DEFINE(of_gelu_tanh, a *(1 + tanh(0.7978845608028654 * (a + 0.044715 * a * a * a))) / 2)
DEFINE(of_is_nan, isnan(a) != 0)
DEFINE(of_is_finite, isfinite(a) != 0)
DEFINE(of_logical_not, a == 0)
DEFINE(of_add, a + b)
DEFINE(of_subtract, a - b)
DEFINE(of_multiply, a *b)
DEFINE(of_divide, a / b)
DEFINE(of_remainder, fmod(a, b))
DEFINE(of_max, fmax(a, b))
DEFINE(of_min, fmin(a, b))
DEFINE(of_power, pow(a, b))
DEFINE(of_atan2, atan2(a, b))
DEFINE(of_hypot, hypot(a, b))
DEFINE(of_equal, a == b)
DEFINE(of_not_equal, a != b)
DEFINE(of_less, a < b)
DEFINE(of_less_equal, a <= b)
DEFINE(of_logical_and, a != 0 && b != 0)
DEFINE(of_logical_or, a != 0 || b != 0)
DEFINE(of_logical_xor, (a != 0) != (b != 0))
DEFINE(of_where, a != 0 ? b : c)
DEFINE(of_clip, fmin(fmax(a, b), c))
DEFINE(of_multiply_add, a *b + c)
#undef DEFINE

static const reference references[] = {
    {QN_MAP_COPY, of_copy, -9, 9, 0},
    {QN_MAP_NEGATE, of_negate, -9, 9, 0},
    {QN_MAP_ABS, of_abs, -9, 9, 0},
    {QN_MAP_SIGN, of_sign, -9, 9, 0},
    {QN_MAP_SQUARE, of_square, -9, 9, 1},
    {QN_MAP_RELU, of_relu, -9, 9, 0},
    {QN_MAP_RECIPROCAL, of_reciprocal, 0.1, 9, 4},
    {QN_MAP_SQRT, of_sqrt, 0, 9, 4},
    {QN_MAP_RSQRT, of_rsqrt, 0.1, 9, 4},
    {QN_MAP_CBRT, of_cbrt, -9, 9, 4},
    {QN_MAP_EXP, of_exp, -20, 20, 8},
    {QN_MAP_EXP2, of_exp2, -20, 20, 8},
    {QN_MAP_EXPM1, of_expm1, -9, 9, 8},
    {QN_MAP_LOG, of_log, 2, 100, 8},
    {QN_MAP_LOG2, of_log2, 2, 100, 8},
    {QN_MAP_LOG10, of_log10, 2, 100, 8},
    {QN_MAP_LOG1P, of_log1p, 1, 100, 8},
    {QN_MAP_SIN, of_sin, -1.5, 1.5, 8},
    {QN_MAP_COS, of_cos, -1.5, 1.5, 8},
    {QN_MAP_TAN, of_tan, -1.5, 1.5, 10},
    {QN_MAP_ASIN, of_asin, -1, 1, 8},
    {QN_MAP_ACOS, of_acos, -1, 0.9, 8},
    {QN_MAP_ATAN, of_atan, -9, 9, 10},
    {QN_MAP_SINH, of_sinh, -9, 9, 8},
    {QN_MAP_COSH, of_cosh, -9, 9, 8},
    {QN_MAP_TANH, of_tanh, -9, 9, 10},
    {QN_MAP_ERF, of_erf, -3, 3, 32},
    {QN_MAP_FLOOR, of_floor, -9, 9, 0},
    {QN_MAP_CEIL, of_ceil, -9, 9, 0},
    {QN_MAP_ROUND, of_round, -9, 9, 0},
    {QN_MAP_TRUNC, of_trunc, -9, 9, 0},
    {QN_MAP_SIGMOID, of_sigmoid, -9, 9, 20},
    {QN_MAP_SILU, of_silu, -9, 9, 20},
    {QN_MAP_SOFTPLUS, of_softplus, -9, 9, 20},
    {QN_MAP_GELU, of_gelu, -3, 9, 64},
    {QN_MAP_GELU_TANH, of_gelu_tanh, -2, 9, 64},
    {QN_MAP_IS_NAN, of_is_nan, -9, 9, 0},
    {QN_MAP_IS_FINITE, of_is_finite, -9, 9, 0},
    {QN_MAP_LOGICAL_NOT, of_logical_not, -9, 9, 0},
    {QN_MAP_ADD, of_add, 1, 9, 1},
    {QN_MAP_SUBTRACT, of_subtract, -9, 9, 1},
    {QN_MAP_MULTIPLY, of_multiply, -9, 9, 1},
    {QN_MAP_DIVIDE, of_divide, 0.5, 9, 4},
    {QN_MAP_REMAINDER, of_remainder, 0.5, 9, 0},
    {QN_MAP_MAX, of_max, -9, 9, 0},
    {QN_MAP_MIN, of_min, -9, 9, 0},
    {QN_MAP_POWER, of_power, 0.1, 4, 32},
    {QN_MAP_ATAN2, of_atan2, -9, 9, 12},
    {QN_MAP_HYPOT, of_hypot, -9, 9, 8},
    {QN_MAP_EQUAL, of_equal, -9, 9, 0},
    {QN_MAP_NOT_EQUAL, of_not_equal, -9, 9, 0},
    {QN_MAP_LESS, of_less, -9, 9, 0},
    {QN_MAP_LESS_EQUAL, of_less_equal, -9, 9, 0},
    {QN_MAP_LOGICAL_AND, of_logical_and, -9, 9, 0},
    {QN_MAP_LOGICAL_OR, of_logical_or, -9, 9, 0},
    {QN_MAP_LOGICAL_XOR, of_logical_xor, -9, 9, 0},
    {QN_MAP_WHERE, of_where, -9, 9, 0},
    {QN_MAP_CLIP, of_clip, -9, 9, 0},
    {QN_MAP_MULTIPLY_ADD, of_multiply_add, 0.1, 9, 2},
};
enum { REFERENCES = sizeof references / sizeof *references };

enum { N = 1003 };

/* Some operands are 0, and some equal, for what looks at that. */
static void make_operands(const reference *r, float *x[3]) {
    for (uint32_t i = 0; i < 3; i++) {
        x[i] = random_elements(QN_F32, N, r->low, r->high, 7 + i);
        for (uint32_t k = 0; k < N && r->low < 0; k++)
            x[i][k] = k % 7 == 3 * i ? 0 : i == 1 && k % 5 == 0 ? x[0][k] : x[i][k];
    }
}

static void check_function(kernels_fixture *f, const reference *r) {
    float *x[3], got[N];
    make_operands(r, x);
    if (r->function == QN_MAP_IS_NAN || r->function == QN_MAP_IS_FINITE)
        x[0][5] = NAN, x[0][N - 1] = INFINITY;
    qn_map_desc d = {.function = r->function};
    qn_buffer *out = elements_buffer(f, QN_F32, N, NULL);
    d.to = QN_ARRAY(out, QN_F32, N);
    for (uint32_t i = 0; i < qn_map_operands(r->function); i++)
        d.from[i] = QN_ARRAY(elements_buffer(f, QN_F32, N, x[i]), QN_F32, N);
    assert_ok(f->context, qn_kernels_map(f->kernels, NULL, &d));
    assert_ok(f->context, qn_buffer_read(out, 0, got, sizeof got));
    for (uint32_t k = 0; k < N; k++) {
        const double wanted = r->of(x[0][k], x[1][k], x[2][k]);
        if (!(fabs(got[k] - wanted) <= r->ulps * 0x1p-23 * fabs(wanted) + (r->ulps > 0 ? 1e-37 : 0)))
            fail_msg("%s of %.9g, %.9g, %.9g is %.9g, not %.9g", qn_map_name(r->function), x[0][k], x[1][k],
                     x[2][k], got[k], wanted);
    }
    for (uint32_t i = 0; i < 3; i++) {
        if (d.from[i].buffer) qn_buffer_destroy(d.from[i].buffer);
        free(x[i]);
    }
    qn_buffer_destroy(out);
}

static void every_function_is_what_it_says(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    bool known[QN_MAP_COUNT] = {false};
    for (int i = 0; i < REFERENCES; i++) known[references[i].function] = true;
    for (int i = QN_MAP_BIT_AND; i <= QN_MAP_SHIFT_RIGHT; i++) known[i] = true; /* below */
    known[QN_MAP_BIT_NOT] = true;
    for (int i = 0; i < QN_MAP_COUNT; i++)
        if (!known[i]) fail_msg("no test of %s", qn_map_name((qn_map_function)i));
    for (int i = 0; i < REFERENCES; i++)
        if (testing("cpu") || testing("cuda") || i % 8 == 1) check_function(&f, &references[i]);
    end_kernels(&f);
}

static void integers_are_computed_in_their_type(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    const int8_t a[6] = {100, -100, 7, -7, 0, -128}, b[6] = {100, 2, 2, 2, 3, 1};
    const struct {
        qn_map_function function;
        int8_t wanted[6];
    } cases[] = {
        {QN_MAP_ADD, {-56, -98, 9, -5, 3, -127}},
        {QN_MAP_DIVIDE, {1, -50, 3, -3, 0, -128}},
        {QN_MAP_REMAINDER, {0, 0, 1, -1, 0, 0}},
        {QN_MAP_BIT_AND, {100, 0, 2, 0, 0, 0}},
        {QN_MAP_BIT_OR, {100, -98, 7, -5, 3, -127}},
        {QN_MAP_BIT_XOR, {0, -98, 5, -5, 3, -127}},
        {QN_MAP_SHIFT_RIGHT, {6, -25, 1, -2, 0, -64}},
        {QN_MAP_BIT_NOT, {-101, 99, -8, 6, -1, 127}},
        {QN_MAP_ABS, {100, 100, 7, 7, 0, -128}},
        {QN_MAP_MAX, {100, 2, 7, 2, 3, 1}},
        {QN_MAP_LESS, {0, 1, 0, 1, 1, 1}},
    };
    qn_buffer *x = elements_buffer(&f, QN_I8, 6, a), *y = elements_buffer(&f, QN_I8, 6, b),
              *out = elements_buffer(&f, QN_I8, 6, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int8_t got[6];
        const qn_map_desc d = {.function = cases[i].function,
                               .to = QN_ARRAY(out, QN_I8, 6),
                               .from = {QN_ARRAY(x, QN_I8, 6), QN_ARRAY(y, QN_I8, 6)}};
        assert_ok(f.context, qn_kernels_map(f.kernels, NULL, &d));
        assert_ok(f.context, qn_buffer_read(out, 0, got, sizeof got));
        for (int k = 0; k < 6; k++)
            if (got[k] != cases[i].wanted[k])
                fail_msg("%s of %d, %d is %d, not %d", qn_map_name(d.function), a[k], b[k], got[k],
                         cases[i].wanted[k]);
    }
    const qn_map_desc shift = {.function = QN_MAP_SHIFT_LEFT,
                               .to = QN_ARRAY(out, QN_I8, 6),
                               .from = {QN_ARRAY(x, QN_I8, 6)},
                               .scalars = 2,
                               .scalar = {0, 1}};
    int8_t got[6];
    assert_ok(f.context, qn_kernels_map(f.kernels, NULL, &shift));
    assert_ok(f.context, qn_buffer_read(out, 0, got, sizeof got));
    const int8_t wanted[6] = {-56, 56, 14, -14, 0, 0};
    assert_memory_equal(got, wanted, 6);
    end_kernels(&f);
}

/* An operand of `to`'s shape with gaps, reversed or repeated dimensions. Returns the elements of its buffer. */
static uint64_t make_operand(qn_array *a, const qn_array *to, uint32_t kind) {
    *a = (qn_array){.type = a->type, .rank = to->rank};
    uint64_t reach = 1;
    for (uint32_t d = to->rank; d-- > 0;) {
        a->sizes[d] = kind >> d & 1 ? 1 : to->sizes[d];
        a->strides[d] = (int64_t)reach;
        reach *= a->sizes[d];
    }
    if (kind & 8) { /* every second element, backwards */
        const uint32_t last = to->rank - 1;
        for (uint32_t d = 0; d < to->rank; d++) a->strides[d] *= 2;
        a->strides[last] = -2;
        a->offset = 2 * (a->sizes[last] - 1);
        reach *= 2;
    }
    return a->offset + reach + 8;
}

typedef struct layout {
    qn_element to, a, b;
    uint32_t to_offset, a_kind, b_kind;
    uint64_t sizes[3];
} layout;

static void check_layout(kernels_fixture *f, const layout *l) {
    if (!has_type(f, l->to) || !has_type(f, l->a) || !has_type(f, l->b)) return;
    qn_array to = {.type = l->to, .rank = 3}, a = {.type = l->a}, b = {.type = l->b};
    memcpy(to.sizes, l->sizes, sizeof l->sizes);
    to.offset = l->to_offset;
    const uint64_t count = qn_array_count(&to) + to.offset + 3, a_count = make_operand(&a, &to, l->a_kind),
                   b_count = make_operand(&b, &to, l->b_kind);
    void *x = random_elements(l->a, a_count, 0, 60, 3), *y = random_elements(l->b, b_count, 0, 60, 4),
         *wanted = random_elements(l->to, count, 0, 1, 5);
    to.buffer = elements_buffer(f, l->to, count, wanted);
    a.buffer = elements_buffer(f, l->a, a_count, x);
    b.buffer = elements_buffer(f, l->b, b_count, y);
    uint64_t index[QN_MAX_RANK] = {0};
    do {
        uint64_t at[2][QN_MAX_RANK] = {{0}};
        for (uint32_t d = 0; d < 3; d++) {
            at[0][d] = a.sizes[d] == 1 ? 0 : index[d];
            at[1][d] = b.sizes[d] == 1 ? 0 : index[d];
        }
        const double sum =
            element_get(l->a, x, element_place(&a, at[0])) + element_get(l->b, y, element_place(&b, at[1]));
        const bool single =
            l->a != QN_F64 && l->b != QN_F64 && element_epsilon(l->a) + element_epsilon(l->b) > 0;
        element_set(l->to, wanted, element_place(&to, index), single ? (double)(float)sum : sum);
    } while (next_index(&to, index));
    assert_ok(f->context, qn_kernels_map(f->kernels, NULL,
                                         &(qn_map_desc){.function = QN_MAP_ADD, .to = to, .from = {a, b}}));
    void *got = buffer_contents(f, to.buffer);
    for (uint64_t i = 0; i < count; i++)
        if (element_get(l->to, got, i) != element_get(l->to, wanted, i))
            fail_msg("%s = %s + %s (%llux%llux%llu, kinds %u, %u): element %llu is %.9g, not %.9g",
                     qn_element_name(l->to), qn_element_name(l->a), qn_element_name(l->b),
                     (unsigned long long)l->sizes[0], (unsigned long long)l->sizes[1],
                     (unsigned long long)l->sizes[2], l->a_kind, l->b_kind, (unsigned long long)i,
                     element_get(l->to, got, i), element_get(l->to, wanted, i));
    free(x), free(y), free(wanted), free(got);
    qn_buffer_destroy(to.buffer);
    qn_buffer_destroy(a.buffer);
    qn_buffer_destroy(b.buffer);
}

static void types_and_shapes_of_all_kinds(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    static const layout layouts[] = {
        {QN_F32, QN_F32, QN_F32, 0, 0, 0, {1, 1, 1001}},  {QN_F32, QN_F32, QN_F32, 0, 0, 3, {5, 7, 32}},
        {QN_F32, QN_F32, QN_F32, 0, 0, 4, {5, 7, 32}},    {QN_F32, QN_F32, QN_F32, 1, 0, 0, {3, 5, 7}},
        {QN_F32, QN_F32, QN_F32, 0, 8, 2, {3, 5, 8}},     {QN_F32, QN_F32, QN_F32, 4, 5, 2, {3, 5, 8}},
        {QN_BF16, QN_BF16, QN_BF16, 0, 0, 0, {3, 5, 24}}, {QN_BF16, QN_BF16, QN_F32, 0, 0, 3, {3, 5, 24}},
        {QN_F16, QN_F16, QN_BF16, 0, 0, 0, {1, 1, 4099}}, {QN_F32, QN_E4M3, QN_E5M2, 0, 0, 0, {1, 3, 333}},
        {QN_E4M3, QN_F16, QN_F32, 0, 7, 0, {1, 3, 333}},  {QN_F64, QN_F64, QN_F32, 0, 0, 1, {2, 9, 10}},
        {QN_F32, QN_F64, QN_I32, 0, 0, 0, {2, 9, 10}},    {QN_I64, QN_I32, QN_I32, 0, 0, 0, {2, 9, 11}},
        {QN_I8, QN_I8, QN_I8, 16, 0, 0, {1, 9, 111}},     {QN_U16, QN_U16, QN_U16, 0, 0, 3, {2, 3, 64}},
        {QN_F32, QN_BOOL, QN_BOOL, 0, 0, 0, {2, 3, 17}},  {QN_BOOL, QN_F32, QN_I16, 0, 6, 0, {2, 3, 17}},
        {QN_U64, QN_U64, QN_U64, 0, 0, 0, {1, 1, 5}},
    };
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) check_layout(&f, &layouts[i]);
    end_kernels(&f);
}

static void numbers_stand_in_for_arrays(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    const float x[5] = {-2, -1, 0, 1, 2};
    float got[5];
    qn_buffer *in = make_buffer(f.device, sizeof x, x), *out = make_buffer(f.device, sizeof x, NULL);
    const struct {
        qn_map_desc d;
        float wanted[5];
    } cases[] = {
        {{.function = QN_MAP_CLIP, .scalars = 6, .scalar = {0, -1, 1.5}}, {-1, -1, 0, 1, 1.5f}},
        {{.function = QN_MAP_MULTIPLY_ADD, .scalars = 6, .scalar = {0, 2, 0.25}},
         {-3.75f, -1.75f, .25f, 2.25f, 4.25f}},
        {{.function = QN_MAP_WHERE, .scalars = 4, .scalar = {0, 0, 9}}, {-2, -1, 9, 1, 2}},
        {{.function = QN_MAP_WHERE, .scalars = 5, .scalar = {0.5, 0, 9}}, {-2, -1, 0, 1, 2}},
        {{.function = QN_MAP_POWER, .scalars = 1, .scalar = {2}}, {0.25f, 0.5f, 1, 2, 4}},
        {{.function = QN_MAP_SUBTRACT, .scalars = 3, .scalar = {7, 3}}, {4, 4, 4, 4, 4}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        qn_map_desc d = cases[i].d;
        d.to = QN_ARRAY(out, QN_F32, 5);
        for (int k = 0; k < 3; k++) d.from[k] = QN_ARRAY(in, QN_F32, 5);
        assert_ok(f.context, qn_kernels_map(f.kernels, NULL, &d));
        assert_ok(f.context, qn_buffer_read(out, 0, got, sizeof got));
        for (int k = 0; k < 5; k++)
            if (fabsf(got[k] - cases[i].wanted[k]) > 1e-6f)
                fail_msg("case %zu, element %d: %g, not %g", i, k, got[k], cases[i].wanted[k]);
    }
    /* In place, and the same memory as another type of the size. */
    const qn_array same = QN_ARRAY(in, QN_F32, 5), bits = QN_ARRAY(in, QN_I32, 5);
    assert_ok(f.context,
              qn_kernels_map(f.kernels, NULL,
                             &(qn_map_desc){.function = QN_MAP_ADD, .to = same, .from = {same, same}}));
    assert_ok(f.context, qn_kernels_map(f.kernels, NULL,
                                        &(qn_map_desc){.function = QN_MAP_COPY, .to = bits, .from = {same}}));
    int32_t whole[5];
    assert_ok(f.context, qn_buffer_read(in, 0, whole, sizeof whole));
    const int32_t doubled[5] = {-4, -2, 0, 2, 4};
    assert_memory_equal(whole, doubled, sizeof doubled);
    end_kernels(&f);
}

static void wrong_calls_are_refused(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    qn_buffer *x = elements_buffer(&f, QN_F32, 64, NULL), *y = elements_buffer(&f, QN_F32, 64, NULL);
    const qn_array a = QN_ARRAY(x, QN_F32, 8), b = QN_ARRAY(y, QN_F32, 8);
    const struct {
        qn_map_desc d;
        qn_status status;
        const char *message;
    } cases[] = {
        {{.function = (qn_map_function)999, .to = a}, QN_ERROR_ARGUMENT, "function is 999"},
        {{.function = QN_MAP_ABS, .to = a, .from = {b}, .scalars = 2},
         QN_ERROR_ARGUMENT,
         "scalars is 0x2, but abs has 1"},
        {{.function = QN_MAP_ADD, .to = a, .from = {b}}, QN_ERROR_NULL, "from[1].buffer is NULL"},
        {{.function = QN_MAP_BIT_NOT, .to = a, .from = {b}},
         QN_ERROR_ARGUMENT,
         "bit_not takes integers, not f32"},
        {{.function = QN_MAP_ADD, .to = a, .from = {QN_ARRAY(y, QN_I32, 8), QN_ARRAY(y, QN_I8, 8)}},
         QN_ERROR_ARGUMENT,
         "from[1] is of i8 and another operand of i32"},
        {{.function = QN_MAP_ADD, .to = a, .from = {b, QN_ARRAY(y, QN_F32, 3)}},
         QN_ERROR_ARGUMENT,
         "from[1] (3) cannot be broadcast to to (8)"},
        {{.function = QN_MAP_ADD, .to = a, .from = {b, {x, 1, QN_F32, 1, {8}, {0}}}},
         QN_ERROR_ARGUMENT,
         "to and from[1] share memory"},
        {{.function = QN_MAP_NEGATE, .to = a, .from = {{x, 7, QN_F32, 1, {8}, {-1}}}},
         QN_ERROR_ARGUMENT,
         "to and from[0] share memory"},
        {{.function = QN_MAP_NEGATE, .to = QN_ARRAY(x, QN_F32, 65), .from = {b}},
         QN_ERROR_RANGE,
         "to (65 of f32)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fails(f.context, qn_kernels_map(f.kernels, NULL, &cases[i].d), cases[i].status,
                     cases[i].message);
    assert_fails(f.context, qn_kernels_map(f.kernels, NULL, NULL), QN_ERROR_NULL, "desc is NULL");
    assert_ok(f.context,
              qn_kernels_map(f.kernels, NULL, &(qn_map_desc){.to = {.rank = 1}, .from = {{.rank = 1}}}));
    assert_null(qn_map_name(QN_MAP_COUNT));
    assert_string_equal(qn_map_name(QN_MAP_GELU_TANH), "gelu_tanh");
    assert_int_equal(qn_map_operands(QN_MAP_WHERE), 3);
    assert_int_equal(qn_map_operands((qn_map_function)-1), 0);
    end_kernels(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_is_what_it_says),
        cmocka_unit_test(integers_are_computed_in_their_type),
        cmocka_unit_test(types_and_shapes_of_all_kinds),
        cmocka_unit_test(numbers_stand_in_for_arrays),
        cmocka_unit_test(wrong_calls_are_refused),
    };
    return run_device_tests(tests);
}
