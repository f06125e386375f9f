/* qn_attention: the calls of kernels.h beside what ops compose, with gradients of three orders; shapes, masks, refusals. */
#include "tensor_common.h"

typedef enum mask_kind { NO_MASK, BOOLS, NUMBERS, A_ROW } mask_kind;

typedef struct attention_case {
    uint64_t batches, heads, key_heads, queries, keys, size, value_size;
    bool causal;
    mask_kind mask;
    double scale;
} attention_case;

static const attention_case cases[] = {
    {1, 1, 1, 3, 3, 4, 4, false, NO_MASK, 0},  {2, 2, 2, 5, 5, 4, 3, true, NO_MASK, 0},
    {2, 4, 2, 3, 6, 5, 4, true, NUMBERS, 0.3}, {1, 6, 1, 4, 7, 3, 2, false, BOOLS, 0},
    {2, 3, 3, 6, 2, 2, 5, true, NO_MASK, 0},   {2, 4, 2, 1, 5, 4, 4, false, BOOLS, -0.7},
    {1, 2, 2, 2, 3, 260, 2, true, NO_MASK, 0}, {2, 2, 1, 4, 4, 3, 3, false, A_ROW, 0},
};

/* Numbers from -1 to 1, none twice. */
static qn_tensor *varied(tensor_fixture *f, qn_shape shape, uint32_t seed) {
    uint64_t count = 1;
    for (uint32_t d = 0; d < shape.rank; d++) count *= shape.sizes[d];
    double *data = malloc((size_t)count * sizeof *data);
    for (uint64_t i = 0; i < count; i++)
        data[i] = 2 * fmod(0.37 + (double)(i + 1) * 0.618034 + seed * 0.0913, 1) - 1;
    qn_tensor *x = qn_from_data(f->t, QN_F64, shape, data);
    free(data);
    return f->info.capabilities & QN_CAN_F64 ? x : qn_cast(x, QN_F32);
}

static qn_tensor *make_mask(tensor_fixture *f, const attention_case *c) {
    const qn_shape whole = QN_SHAPE(c->batches, 1, c->queries, c->keys), row = QN_SHAPE(c->keys);
    if (c->mask == NO_MASK) return NULL;
    qn_tensor *numbers = varied(f, c->mask == A_ROW ? row : whole, 5);
    return c->mask == BOOLS ? qn_greater(numbers, -0.4) : numbers;
}

/* The formula, without a thought of speed. */
static qn_tensor *formula(qn_tensor *const *x, qn_tensor *mask, const attention_case *c) {
    const uint64_t shared = c->heads / c->key_heads;
    qn_tensor *k = qn_repeat(x[1], shared, 1), *v = qn_repeat(x[2], shared, 1);
    qn_tensor *scores = qn_multiply(qn_matmul(x[0], qn_transpose(k, 2, 3)),
                                    c->scale == 0 ? 1 / sqrt((double)c->size) : c->scale);
    qn_tensor *seen = qn_ones(qn_tensor_owner(k), QN_BOOL, QN_SHAPE(c->queries, c->keys));
    if (c->causal) seen = qn_tril(seen, (int64_t)c->keys - (int64_t)c->queries);
    if (c->mask == BOOLS) seen = qn_logical_and(seen, mask);
    if (c->mask == NUMBERS || c->mask == A_ROW) scores = qn_add(scores, mask);
    qn_tensor *powers = qn_where(seen, qn_exp(scores), 0), *sums = qn_sum(powers, QN_AXES(-1), true);
    return qn_matmul(qn_divide(powers, qn_where(qn_equal(sums, 0), 1, sums)), v);
}

static qn_tensor *by_op(qn_tensor *const *x, qn_tensor *mask, const attention_case *c) {
    return qn_attention(x[0], x[1], x[2],
                        &(qn_tensor_attention_desc){.scale = c->scale, .causal = c->causal, .mask = mask});
}

/* y, and gradients of one order after the other, of the sum of the squares of those before. */
enum { ORDERS = 3, MOST = 1 + 3 * ORDERS };
static void derive(tensor_fixture *f, qn_tensor *y, qn_tensor *const *x, uint32_t orders,
                   qn_tensor **results) {
    results[0] = y;
    for (uint32_t order = 0; order < orders; order++) {
        qn_tensor *sum = qn_sum(qn_square(results[order ? 3 * order - 2 : 0]), QN_ALL_AXES, false);
        for (uint32_t i = 1; order && i < 3; i++)
            sum = qn_add(sum, qn_sum(qn_square(results[3 * order - 2 + i]), QN_ALL_AXES, false));
        assert_ok(f->context, qn_gradients(sum, x, 3, results + 1 + 3 * order));
    }
}

static double difference(qn_tensor *a, qn_tensor *b) {
    qn_tensor *largest = qn_maximum(qn_max(qn_abs(b), QN_ALL_AXES, false), 1);
    return qn_tensor_item(qn_divide(qn_max(qn_abs(qn_subtract(a, b)), QN_ALL_AXES, false), largest));
}

/* Heads of rows, or of `by_rows` rows of heads that are seen as such. */
static qn_tensor *operand(tensor_fixture *f, uint64_t batches, uint64_t heads, uint64_t length, uint64_t size,
                          bool by_rows, uint32_t seed) {
    if (!by_rows) return varied(f, QN_SHAPE(batches, heads, length, size), seed);
    return qn_permute(varied(f, QN_SHAPE(batches, length, heads, size), seed), QN_AXES(0, 2, 1, 3));
}

static void check_orders(tensor_fixture *f, size_t number, bool by_rows) {
    const double room = f->info.capabilities & QN_CAN_F64 ? 1e-11 : 1e-4;
    const attention_case *c = &cases[number];
    assert_ok(f->context, qn_scope_begin(f->t));
    qn_tensor *x[] = {operand(f, c->batches, c->heads, c->queries, c->size, by_rows, 1),
                      operand(f, c->batches, c->key_heads, c->keys, c->size, by_rows, 2),
                      operand(f, c->batches, c->key_heads, c->keys, c->value_size, by_rows, 3)};
    for (uint32_t k = 0; k < 3; k++) qn_tensor_require_gradient(x[k], true);
    const uint32_t orders = number == 0 && f->info.kind == QN_DEVICE_CPU ? ORDERS
                            : c->size > 256                              ? 1
                                                                         : 2,
                   count = 1 + 3 * orders;
    qn_tensor *mask = make_mask(f, c), *got[MOST], *wanted[MOST];
    derive(f, by_op(x, mask, c), x, orders, got);
    derive(f, formula(x, mask, c), x, orders, wanted);
    if (number % 2) assert_ok(f->context, qn_tensor_realize(got[0]));
    /* gradients are right behind that, too */
    assert_ok(f->context, qn_realize(got, count));
    assert_ok(f->context, qn_realize(wanted, count));
    for (uint32_t k = 0; k < count; k++) {
        const double d = difference(got[k], wanted[k]);
        if (!(d < room)) fail_msg("case %zu%s, result %u: %g", number, by_rows ? " by rows" : "", k, d);
    }
    assert_ok(f->context, qn_scope_end(f->t));
}

static void orders_are_those_of_the_formula(void **state) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int by_rows = 0; by_rows < 2; by_rows++) check_orders(fixture_of(state), i, by_rows);
}

/* Of queries whose heads lie together for each row, the output does so too: rows of all heads are no copy of it. */
static void count_line(void *user, const char *text) { (void)text, ++*(int *)user; }

static void heads_of_a_row_stay_together(void **state) {
    tensor_fixture *f = fixture_of(state);
    int kernels = 0;
    qn_tensor *all = qn_cast(varied(f, QN_SHAPE(2, 6, 4, 8), 1), QN_F32);
    qn_tensor *x = qn_permute(all, QN_AXES(0, 2, 1, 3));
    qn_tensor *rows = qn_permute(qn_attention(x, x, x, NULL), QN_AXES(0, 2, 1, 3));
    qn_tensor *ones = qn_ones(f->t, QN_F32, QN_SHAPE(32, 3));
    assert_ok(f->context, qn_realize((qn_tensor *[]){all, ones}, 2));
    qn_tensor *y = qn_matmul(qn_reshape(rows, QN_SHAPE(12, 32)), ones);
    assert_ok(f->context, qn_tensor_explain(&y, 1, NULL, count_line, &kernels));
    assert_int_equal(kernels, 2);
}

/* By the mask as well, which is composed then. */
static void masks_have_gradients(void **state) {
    tensor_fixture *f = fixture_of(state);
    const attention_case *c = &cases[2];
    qn_tensor *x[] = {varied(f, QN_SHAPE(c->batches, c->heads, c->queries, c->size), 1),
                      varied(f, QN_SHAPE(c->batches, c->key_heads, c->keys, c->size), 2),
                      varied(f, QN_SHAPE(c->batches, c->key_heads, c->keys, c->value_size), 3)};
    qn_tensor *mask = qn_tensor_require_gradient(make_mask(f, c), true), *got, *wanted;
    assert_ok(f->context, qn_gradients(qn_square(by_op(x, mask, c)), &mask, 1, &got));
    assert_ok(f->context, qn_gradients(qn_square(formula(x, mask, c)), &mask, 1, &wanted));
    assert_true(difference(got, wanted) < 1e-5);
    assert_true(qn_tensor_item(qn_max(qn_abs(wanted), QN_ALL_AXES, false)) > 0.01);
}

/* Of three dimensions, and of two; a mask of three goes with batches. Operands of several types become one. */
static void fewer_dimensions(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_tensor *q = qn_cast(varied(f, QN_SHAPE(2, 3, 4), 1), QN_F32),
              *k = qn_cast(varied(f, QN_SHAPE(2, 5, 4), 2), QN_F16),
              *v = qn_cast(varied(f, QN_SHAPE(2, 5, 6), 3), QN_F32);
    qn_tensor *mask = qn_cast(varied(f, QN_SHAPE(2, 3, 5), 4), QN_F32);
    const qn_tensor_attention_desc desc = {.mask = mask}, four = {.mask = qn_unsqueeze(mask, 1)};
    qn_tensor *y = qn_attention(q, k, v, &desc);
    assert_int_equal(qn_tensor_shape(y).rank, 3);
    assert_int_equal(qn_tensor_type(y), QN_F32);
    qn_tensor *wanted = qn_attention(qn_unsqueeze(q, 1), qn_unsqueeze(k, 1), qn_unsqueeze(v, 1), &four);
    assert_true(difference(y, qn_squeeze(wanted, QN_AXES(1))) == 0);
    qn_tensor *parts[] = {qn_slice(q, 0, 1, 2, 1), qn_slice(k, 0, 1, 2, 1), qn_slice(v, 0, 1, 2, 1),
                          qn_slice(mask, 0, 1, 2, 1)};
    for (uint32_t i = 0; i < 4; i++) parts[i] = qn_squeeze(parts[i], QN_AXES(0));
    qn_tensor *one =
        qn_attention(parts[0], parts[1], parts[2], &(qn_tensor_attention_desc){.mask = parts[3]});
    assert_int_equal(qn_tensor_shape(one).rank, 2);
    assert_true(difference(one, qn_squeeze(qn_slice(y, 0, 1, 2, 1), QN_AXES(0))) < 1e-6);
}

/* Weights are dropped and the others scaled: the mean stays. */
static void dropout(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_tensor *q = qn_zeros(f->t, QN_F32, QN_SHAPE(100, 4)), *k = qn_zeros(f->t, QN_F32, QN_SHAPE(50, 4)),
              *v = qn_ones(f->t, QN_F32, QN_SHAPE(50, 1));
    qn_tensor *y = qn_attention(q, k, v, &(qn_tensor_attention_desc){.dropout = 0.5});
    const double mean = qn_tensor_item(qn_mean(y, QN_ALL_AXES, false)),
                 deviation = qn_tensor_item(qn_deviation(y, QN_ALL_AXES, 0, false));
    assert_true(fabs(mean - 1) < 0.05);
    assert_true(fabs(deviation - 1 / sqrt(50)) < 0.05);
}

static void refusals(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_tensor *x = qn_zeros(f->t, QN_F32, QN_SHAPE(1, 4, 3, 8)), *row = qn_zeros(f->t, QN_F32, QN_SHAPE(8));
    qn_tensor *whole = qn_zeros(f->t, QN_I32, QN_SHAPE(1, 4, 3, 8)),
              *three = qn_zeros(f->t, QN_F32, QN_SHAPE(1, 3, 3, 8));
    qn_tensor *shorter = qn_slice(x, 2, 0, 2, 1), *narrow = qn_slice(x, 3, 0, 4, 1);
    const struct {
        qn_tensor *q, *k, *v, *mask;
        const char *sentence;
    } refused[] = {
        {row, row, row, NULL, "two to four dimensions"},
        {x, narrow, x, NULL, "q and k have the same size"},
        {x, x, shorter, NULL, "k and v the same length"},
        {x, three, three, NULL, "a multiple of those of k and v"},
        {whole, whole, whole, NULL, "it is of floats"},
        {x, x, x, whole, "the mask i32 1x4x3x8 is neither bool nor float"},
        {x, x, x, row, "or is not broadcast to 1x4x3x3"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_fails(f->context,
                     qn_tensor_status(qn_attention(refused[i].q, refused[i].k, refused[i].v,
                                                   &(qn_tensor_attention_desc){.mask = refused[i].mask})),
                     QN_ERROR_ARGUMENT, refused[i].sentence);
    assert_int_equal(qn_tensor_status(qn_attention(x, NULL, x, NULL)), QN_ERROR_NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_are_those_of_the_formula),
        cmocka_unit_test(heads_of_a_row_stay_together),
        cmocka_unit_test(masks_have_gradients),
        cmocka_unit_test(fewer_dimensions),
        cmocka_unit_test(dropout),
        cmocka_unit_test(refusals),
    };
    return run_tensor_tests(tests, NULL);
}
