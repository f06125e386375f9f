/* Linear algebra of small matrices: gradients beside differences, also of second order, what comes out of singular ones, refusals. tests/tensor/test_linear.py
   compares values with NumPy. */
#include "tensor_common.h"

static qn_tensor *turned(qn_tensor *x) { return qn_transpose(x, -1, -2); }
static qn_tensor *flat(qn_tensor *x) { return qn_reshape(x, QN_SHAPE(QN_REST)); }
static qn_tensor *joined(qn_tensor *a, qn_tensor *b) {
    return qn_concat((qn_tensor *[]){flat(a), flat(b)}, 2, 0);
}

static qn_tensor *cholesky(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    const uint64_t n = qn_tensor_shape(x[0]).sizes[1];
    return qn_cholesky(
        qn_add(qn_matmul(x[0], turned(x[0])), qn_eye(qn_tensor_owner(x[0]), qn_tensor_type(x[0]), n, n, 0)));
}
static qn_tensor *solve(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    return qn_solve(
        qn_add(x[0], qn_multiply(qn_eye(qn_tensor_owner(x[0]), qn_tensor_type(x[0]), 3, 3, 0), 3)), x[1]);
}
static qn_tensor *triangles(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    qn_tensor *lower = qn_solve_triangular(x[0], x[1], false, false);
    return qn_add(lower, qn_solve_triangular(x[0], lower, true, true));
}
static qn_tensor *determinants(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    qn_tensor *sign, *size = qn_log_determinant(x[0], &sign);
    return qn_add(qn_determinant(x[0]), qn_multiply(size, sign));
}
static qn_tensor *inverse(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    return qn_inverse(x[0]);
}
static qn_tensor *qr(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    qn_tensor *r, *q = qn_qr(x[0], false, &r);
    return joined(q, r);
}
/* Signs of vectors are left out. */
static qn_tensor *eigen(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    qn_tensor *v, *values = qn_eigen(qn_add(x[0], turned(x[0])), &v);
    return joined(values, qn_square(v));
}
static qn_tensor *svd(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    qn_tensor *u, *v, *s = qn_svd(x[0], &u, &v);
    return joined(joined(s, qn_matmul(qn_multiply(u, qn_unsqueeze(qn_sqrt(s), -2)), turned(v))),
                  joined(qn_square(u), qn_square(v)));
}

static void gradients(void **state) {
    tensor_fixture *f = fixture_of(state);
    assert_ok(f->context, qn_scope_begin(f->t));
    qn_tensor *batch = scattered(f, QN_SHAPE(2, 3, 3), -1, 1.3, 5),
              *one = scattered(f, QN_SHAPE(3, 3), 0.4, 1.7, 3),
              *sides = scattered(f, QN_SHAPE(2, 3, 2), -1, 1, 2), *row = scattered(f, QN_SHAPE(3), -1, 1, 6),
              *tall = scattered(f, QN_SHAPE(5, 3), -1, 1, 1),
              *wide = scattered(f, QN_SHAPE(2, 2, 4), -1, 1, 4);
    check(f, "cholesky", cholesky, NULL, &batch, 1);
    check(f, "solve", solve, NULL, (qn_tensor *[]){one, sides}, 2);
    check(f, "solve for a row", solve, NULL, (qn_tensor *[]){one, row}, 2);
    check(f, "solve_triangular", triangles, NULL, (qn_tensor *[]){one, sides}, 2);
    check(f, "determinant", determinants, NULL, &batch, 1);
    check(f, "inverse", inverse, NULL, &one, 1);
    check(f, "qr", qr, NULL, &batch, 1);
    check(f, "qr of a tall matrix", qr, NULL, &tall, 1);
    check(f, "qr of wide matrices", qr, NULL, &wide, 1);
    check(f, "eigen", eigen, NULL, &batch, 1);
    check(f, "svd", svd, NULL, &batch, 1);
    check(f, "svd of a tall matrix", svd, NULL, &tall, 1);
    check(f, "svd of wide matrices", svd, NULL, &wide, 1);
    assert_ok(f->context, qn_scope_end(f->t));
}

/* The sum of weighted gradients of a function's squares for x of 2 x 2, with its own gradients where `second` is not NULL. */
static double weighted_gradients(tensor_fixture *f, qn_tensor_function *function, const double *data,
                                 double *second) {
    static const double weights[] = {1, -0.5, 2, 0.7};
    qn_tensor *x = qn_tensor_require_gradient(qn_from_data(f->t, QN_F64, QN_SHAPE(2, 2), data), true), *g, *h;
    assert_ok(f->context, qn_gradients(qn_square(function(NULL, &x, 1)), &x, 1, &g));
    qn_tensor *sum =
        qn_sum(qn_multiply(g, qn_from_data(f->t, QN_F64, QN_SHAPE(2, 2), weights)), QN_ALL_AXES, false);
    if (second) {
        assert_ok(f->context, qn_gradients(sum, &x, 1, &h));
        assert_ok(f->context, qn_tensor_read(h, second, 4 * sizeof *second));
    }
    return qn_tensor_item(sum);
}

static void second_order(void **state) {
    tensor_fixture *f = fixture_of(state);
    static qn_tensor_function *const functions[] = {cholesky, determinants, inverse, qr, eigen, svd};
    if (!(f->info.capabilities & QN_CAN_F64)) skip();
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        double data[] = {0.9, -0.4, 0.3, 1.7}, second[4];
        assert_ok(f->context, qn_scope_begin(f->t));
        weighted_gradients(f, functions[i], data, second);
        for (int e = 0; e < 4; e++) {
            const double was = data[e], step = 1e-5;
            data[e] = was + step;
            const double above = weighted_gradients(f, functions[i], data, NULL);
            data[e] = was - step;
            const double wanted = (above - weighted_gradients(f, functions[i], data, NULL)) / (2 * step);
            data[e] = was;
            if (!(fabs(second[e] - wanted) <= 1e-5 * (1 + fabs(wanted))))
                fail_msg("function %u: second gradient %d is %g, not %g", (unsigned)i, e, second[e], wanted);
        }
        assert_ok(f->context, qn_scope_end(f->t));
    }
}

static void singular_matrices(void **state) {
    tensor_fixture *f = fixture_of(state);
    float value[4];
    const float data[] = {1, 2, 2, 4};
    qn_tensor *x = qn_from_data(f->t, QN_F32, QN_SHAPE(2, 2), data), *sign;
    read_floats(f, qn_determinant(x), value, 1);
    assert_true(value[0] == 0);
    read_floats(f, qn_log_determinant(x, &sign), value, 1);
    assert_true(isinf(value[0]) && value[0] < 0);
    read_floats(f, sign, value, 1);
    assert_true(value[0] == 0);
    read_floats(f, qn_inverse(x), value, 4);
    for (int i = 0; i < 4; i++) assert_true(!isfinite(value[i]));
    read_floats(f, qn_cholesky(qn_negate(x)), value, 4);
    assert_true(isnan(value[0]) && value[1] == 0);
}

static void refuse(tensor_fixture *f, qn_tensor *x, const char *sentence) {
    assert_fails(f->context, qn_tensor_status(x), QN_ERROR_ARGUMENT, sentence);
}

static void refusals(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_tensor *wide = counting(f, QN_SHAPE(2, 3), 0, 1), *row = counting(f, QN_SHAPE(3), 0, 1), *further,
              *last;
    refuse(f, qn_cholesky(wide), "qn_cholesky: f32 2x3 is no square matrix");
    refuse(f, qn_svd(row, &further, &last), "qn_svd: f32 3 is no matrix");
    refuse(f, further, "qn_svd: f32 3 is no matrix");
    refuse(f, last, "qn_svd: f32 3 is no matrix");
    refuse(f, qn_qr(row, false, &further), "qn_qr: f32 3 is no matrix");
    refuse(f, qn_eigen(wide, NULL), "qn_eigen: f32 2x3 is no square matrix");
    refuse(f, qn_determinant(wide), "qn_determinant: f32 2x3 is no square matrix");
    refuse(f, qn_solve(counting(f, QN_SHAPE(2, 2), 1, 1), row),
           "qn_solve: f32 2x2 and right sides of f32 3x1 do not go together");
    refuse(f,
           qn_solve_triangular(counting(f, QN_SHAPE(4, 2, 2), 1, 1), counting(f, QN_SHAPE(3, 2, 1), 1, 1),
                               true, false),
           "qn_solve_triangular: f32 4x2x2 and right sides of f32 3x2x1 do not go together");
    qn_tensor *x = qn_tensor_require_gradient(counting(f, QN_SHAPE(3, 2), 1, 1), true), *g;
    assert_fails(f->context, qn_gradients(qn_qr(x, true, NULL), &x, 1, &g), QN_ERROR_UNSUPPORTED,
                 "qn_qr: columns of q beyond those of f32 3x2 have no gradient");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(gradients), cmocka_unit_test(second_order),
                                       cmocka_unit_test(singular_matrices), cmocka_unit_test(refusals)};
    return run_tensor_tests(tests, NULL);
}
