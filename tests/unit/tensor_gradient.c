/* Gradients: of each op beside differences, of higher order, through views and broadcasts; parameters, assignment, and what lives how
   long. */
#include "tensor_common.h"

/* A function of up to three inputs from `low` to `high`. */
typedef struct function_case {
    const char *name;
    qn_tensor *(*one)(qn_tensor *);
    qn_tensor *(*two)(qn_operand, qn_operand);
    qn_tensor *(*three)(qn_operand, qn_operand, qn_operand);
    double low, high;
} function_case;

#define ONE(word, least, most)                                                                               \
    { .name = #word, .one = qn_##word, .low = least, .high = most }
#define TWO(word, least, most)                                                                               \
    { .name = #word, .two = (qn_##word), .low = least, .high = most }
#define THREE(word, least, most)                                                                             \
    { .name = #word, .three = (qn_##word), .low = least, .high = most }

static const function_case cases[] = {
    ONE(negate, -2, 2),      ONE(abs, -2, 2.1),       ONE(square, -2, 2),
    ONE(relu, -2, 2.1),      ONE(reciprocal, 0.5, 2), ONE(sqrt, 0.5, 4),
    ONE(rsqrt, 0.5, 4),      ONE(cbrt, 0.5, 4),       ONE(exp, -2, 2),
    ONE(exp2, -2, 2),        ONE(expm1, -2, 2),       ONE(log, 0.3, 4),
    ONE(log2, 0.3, 4),       ONE(log10, 0.3, 4),      ONE(log1p, -0.5, 4),
    ONE(sin, -3, 3),         ONE(cos, -3, 3),         ONE(tan, -1, 1),
    ONE(asin, -0.9, 0.9),    ONE(acos, -0.9, 0.9),    ONE(atan, -3, 3),
    ONE(sinh, -2, 2),        ONE(cosh, -2, 2),        ONE(tanh, -2, 2),
    ONE(asinh, -3, 3),       ONE(acosh, 1.2, 3),      ONE(atanh, -0.8, 0.8),
    ONE(erf, -2, 2),         ONE(erfc, -2, 2),        ONE(erf_inverse, -0.9, 0.9),
    ONE(sigmoid, -4, 4),     ONE(silu, -4, 4),        ONE(softplus, -4, 4),
    ONE(mish, -4, 4),        ONE(gelu, -3, 3),        ONE(gelu_tanh, -3, 3),
    TWO(add, -2, 2),         TWO(subtract, -2, 2),    TWO(multiply, -2, 2),
    TWO(divide, 0.5, 2),     TWO(remainder, 0.7, 3),  TWO(fmod, 0.7, 3),
    TWO(power, 0.5, 2),      TWO(maximum, -2, 2),     TWO(minimum, -2, 2),
    TWO(atan2, 0.3, 2),      TWO(hypot, 0.3, 2),      TWO(copy_sign, -2, 2.1),
    TWO(log_add_exp, -2, 2), THREE(lerp, -2, 2),      THREE(multiply_add, -2, 2)};

static qn_tensor *apply(void *user, qn_tensor *const *x, size_t count) {
    const function_case *c = user;
    if (c->one) return c->one(x[0]);
    if (c->two) return c->two(qn_operand_tensor(x[0]), qn_operand_tensor(x[1]));
    assert_int_equal(count, 3);
    return c->three(qn_operand_tensor(x[0]), qn_operand_tensor(x[1]), qn_operand_tensor(x[2]));
}

static void functions_of_elements(void **state) {
    tensor_fixture *f = fixture_of(state);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const function_case *c = &cases[i];
        assert_ok(f->context, qn_scope_begin(f->t));
        qn_tensor *x[] = {scattered(f, QN_SHAPE(2, 3), c->low, c->high, 1),
                          scattered(f, QN_SHAPE(3), c->low, c->high, 2),
                          scattered(f, QN_SHAPE(2, 1), c->low, c->high, 3)};
        check(f, c->name, apply, (void *)c, x, c->one ? 1 : c->two ? 2 : 3);
        assert_ok(f->context, qn_scope_end(f->t));
    }
}

static qn_tensor *clipped(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    return qn_add(qn_clip(x[0], -0.5, x[1]), qn_where(qn_greater(x[0], 0), x[0], qn_multiply(x[1], 3)));
}
static qn_tensor *reduced(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    qn_tensor *sums = qn_add(qn_sum(x[0], QN_AXES(0), true), qn_mean(x[0], QN_AXES(1), true));
    qn_tensor *extremes = qn_subtract(qn_max(x[0], QN_AXES(1), true), qn_min(x[0], QN_AXES(0), true));
    return qn_multiply(qn_add(sums, extremes), qn_product(x[0], QN_ALL_AXES, false));
}
static qn_tensor *product_with_zeros(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    return qn_product(
        qn_multiply(x[0], qn_tensor_shape(x[0]).sizes[0] == 3
                              ? qn_not_equal(qn_arange(qn_tensor_owner(x[0]), QN_I32, 0, 3, 1), 1)
                              : x[0]),
        QN_AXES(0), false);
}
static qn_tensor *rows(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    qn_tensor *centred = qn_divide(x[0], qn_deviation(x[0], QN_AXES(-1), 1, true));
    return qn_add(qn_multiply(qn_softmax(x[0], 1), centred),
                  qn_add(qn_log_softmax(x[0], 0), qn_log_sum_exp(x[0], QN_AXES(1), true)));
}
static qn_tensor *views(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    qn_tensor *turned = qn_permute(qn_reshape(x[0], QN_SHAPE(2, 3, 2)), QN_AXES(2, 0, 1));
    qn_tensor *some = qn_slice(turned, 2, 2, QN_END, -2),
              *around = qn_pad(qn_flip(some, QN_AXES(0)), 1, 1, 2, 7);
    qn_tensor *both = qn_concat((qn_tensor *[]){around, qn_multiply(around, around)}, 2, 1);
    return qn_stack((qn_tensor *[]){qn_sum(both, QN_AXES(0), false), qn_max(both, QN_AXES(0), false)}, 2, 1);
}
static qn_tensor *products(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    qn_tensor *batch = qn_matmul(x[0], x[1]); /* 2x3x4 by 4x2, and a row by that */
    return qn_matmul(x[2], qn_tanh(batch));
}

/* Indices of which some are the same and some are not there. */
static qn_tensor *some_indices(qn_tensor *like, qn_shape shape) {
    static const int32_t data[] = {2, 0, 2, -1, 1, 0};
    return qn_from_data(qn_tensor_owner(like), QN_I32, shape, data);
}
static qn_tensor *taken(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    qn_tensor *slices = qn_square(qn_take(x[0], some_indices(x[0], QN_SHAPE(2, 3)), 0));
    qn_tensor *elements = qn_take_along_axis(x[0], some_indices(x[0], QN_SHAPE(3, 2)), 1);
    qn_tensor *places[] = {some_indices(x[0], QN_SHAPE(6)), some_indices(x[0], QN_SHAPE(6))};
    return qn_add(qn_sum(qn_multiply(slices, x[1]), QN_AXES(0, 1, 2), false),
                  qn_add(qn_sum(qn_square(elements), QN_AXES(1), false),
                         qn_sum(qn_square(qn_index(x[0], places, 2)), QN_ALL_AXES, false)));
}
static qn_tensor *scattered_back(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    qn_tensor *at = some_indices(x[0], QN_SHAPE(6)), *values = qn_multiply(x[1], x[2]);
    qn_tensor *added = qn_square(qn_scatter_add(x[0], at, values, 0));
    return qn_add(added, qn_square(qn_scatter(x[0], at, values, 0)));
}
static qn_tensor *ordered(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    qn_tensor *places, *most = qn_top_k(x[0], 2, 1, false, &places);
    qn_tensor *least = qn_top_k(x[0], 2, 1, true, NULL);
    qn_tensor *chosen = qn_masked_select(x[0], qn_greater(x[0], 0.3));
    return qn_add(
        qn_multiply(qn_sort(x[0], 0, true), qn_sum(qn_multiply(most, qn_square(least)), QN_ALL_AXES, false)),
        qn_sum(qn_square(chosen), QN_ALL_AXES, false));
}
static qn_tensor *cumulated(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    qn_tensor *sums = qn_square(qn_cumulative_sum(x[0], 1)), *products = qn_cumulative_product(x[0], 0);
    qn_tensor *signs = qn_multiply(qn_cumulative_log_sum_exp(qn_multiply(x[0], 5), 1),
                                   qn_arange(qn_tensor_owner(x[0]), qn_tensor_type(x[0]), -2, 2, 1));
    return qn_add(qn_multiply(sums, products),
                  qn_add(signs, qn_multiply(qn_cumulative_max(x[0], 1), qn_cumulative_min(x[0], 0))));
}
static qn_tensor *rearranged(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    qn_tensor *parts[2], *rows = qn_tile(qn_roll(x[0], 1, 1), QN_SHAPE(2, 1)); /* 6x4 */
    qn_split(rows, (const uint64_t[]){2, 4}, 2, 0, parts);
    qn_tensor *square = qn_multiply(qn_tril(parts[1], 1), qn_move_axis(qn_triu(parts[1], 0), 0, 1));
    return qn_add(qn_trace(qn_square(square), 0),
                  qn_sum(qn_square(qn_repeat(parts[0], 2, 0)), QN_AXES(0), false));
}
static qn_tensor *named(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    qn_tensor *chain = qn_einsum("ij,j,kj->ik", (qn_tensor *[]){x[0], x[1], x[0]}, 3);
    return qn_multiply(qn_einsum("ii->i", &chain, 1),
                       qn_sum(qn_kron(chain, qn_outer(x[1], x[1])), QN_ALL_AXES, false));
}

static void choices(void **state) {
    tensor_fixture *f = fixture_of(state);
    assert_ok(f->context, qn_scope_begin(f->t));
    qn_tensor *x = scattered(f, QN_SHAPE(3, 4), -1, 1.3, 5);
    qn_tensor *w = scattered(f, QN_SHAPE(4), 0.2, 0.6, 6), *v = scattered(f, QN_SHAPE(6, 1), -1, 1, 7);
    check(f, "take", taken, NULL, (qn_tensor *[]){x, w}, 2);
    check(f, "scatter", scattered_back, NULL, (qn_tensor *[]){x, w, v}, 3);
    check(f, "sort, top_k and masks", ordered, NULL, &x, 1);
    check(f, "cumulative functions", cumulated, NULL, &x, 1);
    check(f, "rearranging", rearranged, NULL, &x, 1);
    check(f, "einsum", named, NULL, (qn_tensor *[]){x, w}, 2);
    assert_ok(f->context, qn_scope_end(f->t));
}

/* By its definition, as differences do not see which zeros are meant. */
static void cumulative_products_with_zeros(void **state) {
    tensor_fixture *f = fixture_of(state);
    const float data[] = {2, 0, 3, 0, 5}, wanted[] = {1, 2 + 6, 0, 0, 0};
    float value[5];
    qn_tensor *x = qn_tensor_require_gradient(qn_from_data(f->t, QN_F32, QN_SHAPE(5), data), true), *g;
    assert_ok(f->context, qn_gradients(qn_cumulative_product(x, 0), &x, 1, &g));
    read_floats(f, g, value, 5);
    for (int i = 0; i < 5; i++) assert_near(value[i], wanted[i]);
}

static void compositions(void **state) {
    tensor_fixture *f = fixture_of(state);
    assert_ok(f->context, qn_scope_begin(f->t));
    qn_tensor *x = scattered(f, QN_SHAPE(3, 4), -1, 1.3, 5), *y = scattered(f, QN_SHAPE(4), 0.2, 0.6, 6);
    check(f, "clip and where", clipped, NULL, (qn_tensor *[]){x, y}, 2);
    check(f, "reductions", reduced, NULL, &x, 1);
    check(f, "rows", rows, NULL, &x, 1);
    check(f, "views", views, NULL, &x, 1);
    qn_tensor *z = scattered(f, QN_SHAPE(3), 0.5, 2, 1);
    check(f, "a product with a zero", product_with_zeros, NULL, &z, 1);
    check(f, "matmul", products, NULL,
          (qn_tensor *[]){scattered(f, QN_SHAPE(2, 3, 4), -1, 1, 1), scattered(f, QN_SHAPE(4, 2), -1, 1, 2),
                          scattered(f, QN_SHAPE(3), -1, 1, 3)},
          3);
    assert_ok(f->context, qn_scope_end(f->t));
}

/* Where each op is computed at once, too. */
static void gradients_of_an_eager_owner(void **state) {
    (void)state;
    tensor_fixture f = make_tensors(&(qn_tensors_desc){.eager = true});
    qn_tensor *x = scattered(&f, QN_SHAPE(3, 4), -1, 1.3, 5), *y = scattered(&f, QN_SHAPE(4), 0.2, 0.6, 6);
    check(&f, "clip and where", clipped, NULL, (qn_tensor *[]){x, y}, 2);
    check(&f, "rows", rows, NULL, &x, 1);
    check(&f, "reductions", reduced, NULL, &x, 1);
    end_tensors(&f);
}

/* The function is checked, not the check: one with a wrong gradient is found. */
static qn_tensor *wrong_gradient(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    return qn_multiply(qn_detach(x[0]), x[0]);
}
static void a_wrong_gradient_is_found(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_tensor *x = scattered(f, QN_SHAPE(3), 1, 2, 5);
    assert_fails(f->context, qn_check_gradients(wrong_gradient, NULL, &x, 1, NULL), QN_ERROR_KERNEL_FAILED,
                 "the gradient by element 0 of input 0 is");
}

static void higher_order(void **state) {
    tensor_fixture *f = fixture_of(state);
    float value[2];
    qn_tensor *x = qn_tensor_require_gradient(counting(f, QN_SHAPE(2), 1, 1), true), *g, *h, *k;
    qn_tensor *y = qn_sum(qn_power(x, 4.0), QN_ALL_AXES, false);
    assert_ok(f->context, qn_gradients(y, &x, 1, &g));
    assert_ok(f->context, qn_gradients(g, &x, 1, &h));
    assert_ok(f->context, qn_gradients(h, &x, 1, &k));
    read_floats(f, g, value, 2);
    assert_near(value[1], 32);
    read_floats(f, h, value, 2);
    assert_near(value[1], 48);
    read_floats(f, k, value, 2);
    assert_near(value[1], 48);
}

static void parameters(void **state) {
    tensor_fixture *f = fixture_of(state);
    float value;
    const qn_tensors_stats before = stats_of(f);
    assert_ok(f->context, qn_scope_begin(f->t));
    qn_tensor *w = qn_tensor_retain(qn_tensor_require_gradient(counting(f, QN_SHAPE(1), 1, 0), true));
    assert_ok(f->context, qn_scope_end(f->t));
    uint64_t nodes = 0;
    for (int i = 0; i < 20; i++) { /* (3 w - 6)^2 by steps against the gradient */
        assert_ok(f->context, qn_scope_begin(f->t));
        qn_tensor *loss = qn_sum(qn_square(qn_subtract(qn_multiply(w, 3), 6)), QN_ALL_AXES, false);
        assert_ok(f->context, qn_backward(loss));
        assert_non_null(qn_tensor_gradient(w));
        qn_no_gradient_begin(f->t);
        assert_ok(f->context, qn_assign(w, qn_subtract(w, qn_multiply(qn_tensor_gradient(w), 0.04))));
        qn_no_gradient_end(f->t);
        qn_tensor_clear_gradient(w);
        assert_ok(f->context, qn_tensor_realize(w));
        assert_ok(f->context, qn_scope_end(f->t));
        if (i == 2) nodes = stats_of(f).nodes;
    }
    assert_int_equal(stats_of(f).nodes, nodes); /* nothing grows */
    read_floats(f, w, &value, 1);
    assert_near(value, 2 - pow(1 - 18 * 0.04, 20));
    qn_tensor_release(w);
    assert_int_equal(stats_of(f).tensors, before.tensors);
    assert_int_equal(stats_of(f).nodes, before.nodes);
    assert_int_equal(stats_of(f).bytes, before.bytes);
}

/* What was made of a tensor before it was assigned keeps its meaning. */
static void assignment(void **state) {
    tensor_fixture *f = fixture_of(state);
    float value[2];
    qn_tensor *x = counting(f, QN_SHAPE(2), 1, 1), *y = qn_multiply(x, 10);
    assert_ok(f->context, qn_assign(x, qn_full(f->t, QN_I32, QN_SCALAR, 5)));
    read_floats(f, y, value, 2);
    assert_near(value[1], 20);
    read_floats(f, qn_multiply(x, 10), value, 2);
    assert_near(value[1], 50);
    assert_fails(f->context, qn_assign(x, counting(f, QN_SHAPE(3), 0, 1)), QN_ERROR_ARGUMENT,
                 "qn_assign: f32 3 cannot become f32 2");
}

static void accumulation(void **state) {
    tensor_fixture *f = fixture_of(state);
    float value[2];
    qn_tensor *x = qn_tensor_require_gradient(counting(f, QN_SHAPE(2), 1, 1), true);
    assert_null(qn_tensor_gradient(x));
    for (int i = 0; i < 3; i++) assert_ok(f->context, qn_backward(qn_square(x)));
    read_floats(f, qn_tensor_gradient(x), value, 2);
    assert_near(value[1], 12);
    qn_tensor *unused = qn_tensor_require_gradient(counting(f, QN_SHAPE(2), 1, 1), true), *g;
    assert_ok(f->context, qn_gradients(qn_square(x), &unused, 1, &g));
    read_floats(f, g, value, 2);
    assert_true(value[0] == 0);
}

static void refusals(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_tensor *x = counting(f, QN_SHAPE(2), 1, 1), *g;
    assert_fails(f->context, qn_backward(x), QN_ERROR_STATE, "depends on no tensor that requires gradients");
    assert_fails(f->context, qn_gradients(x, &x, 1, &g), QN_ERROR_ARGUMENT,
                 "input 0 (f32 2) does not require gradients");
    assert_fails(f->context, qn_tensor_status(qn_tensor_require_gradient(qn_cast(x, QN_I32), true)),
                 QN_ERROR_ARGUMENT, "i32 2 is of no float type");
    qn_tensor *w = qn_tensor_require_gradient(x, true);
    assert_fails(f->context, qn_backward(qn_cast(w, QN_I32)), QN_ERROR_ARGUMENT,
                 "the loss is i32 2: of no float type");
    qn_tensor *column = qn_transpose(qn_unsqueeze(w, 0), 0, 1);
    qn_no_gradient_begin(f->t);
    assert_fails(f->context, qn_backward(qn_square(w)), QN_ERROR_STATE, "no tensor");
    qn_tensor *row =
        qn_transpose(column, 0, 1); /* a view of its own, though it has the elements of one there is */
    assert_fails(f->context, qn_backward(qn_sum(row, QN_ALL_AXES, false)), QN_ERROR_STATE, "no tensor");
    qn_no_gradient_end(f->t);
    assert_fails(f->context, qn_backward(qn_sum(row, QN_ALL_AXES, false)), QN_ERROR_STATE, "no tensor");
    qn_no_gradient_begin(f->t);
    qn_no_gradient_end(f->t);
    assert_fails(f->context, qn_backward(qn_square(qn_detach(w))), QN_ERROR_STATE, "no tensor");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(functions_of_elements),
                                       cmocka_unit_test(compositions),
                                       cmocka_unit_test(gradients_of_an_eager_owner),
                                       cmocka_unit_test(choices),
                                       cmocka_unit_test(cumulative_products_with_zeros),
                                       cmocka_unit_test(a_wrong_gradient_is_found),
                                       cmocka_unit_test(higher_order),
                                       cmocka_unit_test(parameters),
                                       cmocka_unit_test(assignment),
                                       cmocka_unit_test(accumulation),
                                       cmocka_unit_test(refusals)};
    return run_tensor_tests(tests, NULL);
}
