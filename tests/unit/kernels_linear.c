/* Small dense matrices: factors are multiplied and compared with what they are of, in double precision, for each shape and type, in memory of any
   order; what is singular; what is refused. */
#include "kernels_common.h"

enum { BATCH = 3 };

/* Matrices of the test, in double precision, as the type has them. */
typedef struct matrices {
    uint64_t rows, columns;
    double *data; /* BATCH of them */
} matrices;

static double *at(const matrices *x, uint64_t b, uint64_t i, uint64_t j) {
    return &x->data[(b * x->rows + i) * x->columns + j];
}

static matrices blank(uint64_t rows, uint64_t columns) {
    const matrices x = {rows, columns, calloc(BATCH * rows * columns + 1, sizeof(double))};
    assert_non_null(x.data);
    return x;
}

static matrices random_matrices(qn_element type, uint64_t rows, uint64_t columns, uint32_t seed) {
    const matrices x = blank(rows, columns);
    void *data = random_elements(type, BATCH * rows * columns, -1, 1, seed);
    for (uint64_t i = 0; i < BATCH * rows * columns; i++) x.data[i] = element_get(type, data, i);
    free(data);
    return x;
}

/* x y, or with y turned round. */
static matrices product(const matrices *x, const matrices *y, bool turned) {
    const matrices r = blank(x->rows, turned ? y->rows : y->columns);
    for (uint64_t b = 0; b < BATCH; b++)
        for (uint64_t i = 0; i < r.rows; i++)
            for (uint64_t j = 0; j < r.columns; j++)
                for (uint64_t k = 0; k < x->columns; k++)
                    *at(&r, b, i, j) += *at(x, b, i, k) * (turned ? *at(y, b, j, k) : *at(y, b, k, j));
    return r;
}

static matrices turned(const matrices *x) {
    const matrices r = blank(x->columns, x->rows);
    for (uint64_t b = 0; b < BATCH; b++)
        for (uint64_t i = 0; i < r.rows; i++)
            for (uint64_t j = 0; j < r.columns; j++) *at(&r, b, i, j) = *at(x, b, j, i);
    return r;
}

static void assert_close(const char *what, qn_element type, const matrices *got, const matrices *wanted,
                         double scale) {
    const double room = 64 * element_epsilon(type) * scale;
    assert_int_equal(got->rows, wanted->rows);
    assert_int_equal(got->columns, wanted->columns);
    for (uint64_t b = 0; b < BATCH; b++)
        for (uint64_t i = 0; i < got->rows; i++)
            for (uint64_t j = 0; j < got->columns; j++)
                if (!(fabs(*at(got, b, i, j) - *at(wanted, b, i, j)) <= room))
                    fail_msg("%s of %s, matrix %llu of %llux%llu: element %llu, %llu is %.9g, not %.9g", what,
                             qn_element_name(type), (unsigned long long)b, (unsigned long long)got->rows,
                             (unsigned long long)got->columns, (unsigned long long)i, (unsigned long long)j,
                             *at(got, b, i, j), *at(wanted, b, i, j));
}

/* Columns of length 1 that are orthogonal to each other. */
static void assert_orthogonal(const char *what, qn_element type, const matrices *x) {
    const matrices xt = turned(x), squares = product(&xt, x, false), one = blank(x->columns, x->columns);
    for (uint64_t b = 0; b < BATCH; b++)
        for (uint64_t i = 0; i < x->columns; i++) *at(&one, b, i, i) = 1;
    assert_close(what, type, &squares, &one, (double)x->rows + 4);
    free(xt.data), free(squares.data), free(one.data);
}

/* An array of the matrices on the device: with `across` columns lie together, and it begins at element 3. */
static qn_array place(const kernels_fixture *f, qn_element type, const matrices *x, bool across,
                      bool filled) {
    const uint64_t count = BATCH * x->rows * x->columns, begin = across ? 3 : 0;
    qn_array a = {.type = type, .rank = 3, .sizes = {BATCH, x->rows, x->columns}, .offset = begin};
    if (across) {
        a.strides[0] = (int64_t)(x->rows * x->columns);
        a.strides[1] = 1;
        a.strides[2] = (int64_t)x->rows;
    }
    char *data = calloc(count + begin + 1, qn_element_size(type));
    assert_non_null(data);
    for (uint64_t i = 0; filled && i < count; i++) {
        const uint64_t index[QN_MAX_RANK] = {i / (x->rows * x->columns), i / x->columns % x->rows,
                                             i % x->columns};
        element_set(type, data, element_place(&a, index), x->data[i]);
    }
    a.buffer = elements_buffer(f, type, count + begin, data);
    free(data);
    return a;
}

static qn_array put(const kernels_fixture *f, qn_element type, const matrices *x, bool across) {
    return place(f, type, x, across, true);
}

static qn_array room_for(const kernels_fixture *f, qn_element type, uint64_t rows, uint64_t columns,
                         bool across) {
    const matrices like = {rows, columns, NULL};
    return place(f, type, &like, across, false);
}

/* The contents, and the buffer goes. */
static matrices take(const kernels_fixture *f, const qn_array *a) {
    const matrices x = blank(a->sizes[1], a->sizes[2]);
    void *data = buffer_contents(f, a->buffer);
    uint64_t index[QN_MAX_RANK] = {0}, i = 0;
    if (qn_array_count(a)) do
            x.data[i++] = element_get(a->type, data, element_place(a, index));
        while (next_index(a, index));
    free(data);
    qn_buffer_destroy(a->buffer);
    return x;
}

/* ---- the calls ---- */

static void check_cholesky(kernels_fixture *f, qn_element type, uint64_t n, bool across) {
    const matrices x = random_matrices(type, n, n, (uint32_t)n);
    matrices a = product(&x, &x, true);
    for (uint64_t i = 0; i < BATCH * n; i++) *at(&a, i / n, i % n, i % n) += 1;
    qn_array from = put(f, type, &a, across), to = room_for(f, type, n, n, across);
    assert_ok(f->context, qn_kernels_cholesky(f->kernels, NULL, &(qn_cholesky_desc){from, to}));
    const matrices l = take(f, &to), again = product(&l, &l, true);
    for (uint64_t i = 0; i < BATCH * n * n; i++)
        if (i % n > i / n % n) assert_true(l.data[i] == 0);
    assert_close("cholesky", type, &again, &a, (double)n + 4);
    qn_buffer_destroy(from.buffer);
    free(x.data), free(a.data), free(l.data), free(again.data);
}

static void check_solve(kernels_fixture *f, qn_element type, uint64_t n, uint64_t k, bool across) {
    const matrices a = random_matrices(type, n, n, (uint32_t)n + 1), b = random_matrices(type, n, k, 7);
    for (uint64_t i = 0; i < BATCH * n; i++) *at(&a, i / n, i % n, (i + 1) % n) += 3; /* far from singular */
    qn_array matrix = put(f, type, &a, across), from = put(f, type, &b, !across),
             to = room_for(f, type, n, k, across);
    assert_ok(f->context, qn_kernels_solve(f->kernels, NULL, &(qn_solve_desc){matrix, from, to}));
    const matrices x = take(f, &to), again = product(&a, &x, false);
    assert_close("solve", type, &again, &b, 4 * (double)n + 4);
    qn_buffer_destroy(matrix.buffer), qn_buffer_destroy(from.buffer);
    free(a.data), free(b.data), free(x.data), free(again.data);
}

static void check_triangular(kernels_fixture *f, qn_element type, uint64_t n, uint64_t k, bool upper,
                             bool unit) {
    const matrices a = random_matrices(type, n, n, (uint32_t)n + 1), b = random_matrices(type, n, k, 7);
    for (uint64_t i = 0; i < BATCH * n * n; i++) a.data[i] = element_round(type, a.data[i] / (double)n);
    for (uint64_t i = 0; i < BATCH * n; i++) *at(&a, i / n, i % n, i % n) += 2;
    qn_array matrix = put(f, type, &a, unit), from = put(f, type, &b, upper),
             to = room_for(f, type, n, k, false);
    assert_ok(f->context, qn_kernels_solve_triangular(
                              f->kernels, NULL, &(qn_solve_triangular_desc){matrix, from, to, upper, unit}));
    for (uint64_t i = 0; i < BATCH * n * n; i++) { /* what was meant */
        const uint64_t row = i / n % n, column = i % n;
        if (row == column ? unit : (column > row) != upper) a.data[i] = row == column;
    }
    const matrices x = take(f, &to), again = product(&a, &x, false);
    assert_close("solve_triangular", type, &again, &b, (double)n + 4);
    qn_buffer_destroy(matrix.buffer), qn_buffer_destroy(from.buffer);
    free(a.data), free(b.data), free(x.data), free(again.data);
}

static void check_qr(kernels_fixture *f, qn_element type, uint64_t m, uint64_t n, bool complete,
                     bool across) {
    const matrices a = random_matrices(type, m, n, (uint32_t)(m + n));
    const uint64_t k = complete || m < n ? m : n;
    qn_array from = put(f, type, &a, across), to_q = room_for(f, type, m, k, across),
             to_r = room_for(f, type, k, n, across);
    assert_ok(f->context, qn_kernels_qr(f->kernels, NULL, &(qn_qr_desc){from, to_q, to_r}));
    const matrices q = take(f, &to_q), r = take(f, &to_r), again = product(&q, &r, false);
    assert_close("qr", type, &again, &a, (double)m + 4);
    assert_orthogonal("q", type, &q);
    for (uint64_t b = 0; b < BATCH; b++)
        for (uint64_t i = 0; i < k; i++)
            for (uint64_t j = 0; j < i && j < n; j++) assert_true(*at(&r, b, i, j) == 0);
    qn_buffer_destroy(from.buffer);
    free(a.data), free(q.data), free(r.data), free(again.data);
}

/* An array for `n` numbers of each matrix, in place of its last dimension. */
static qn_array row_of(const qn_array *a) {
    qn_array row = *a;
    row.rank = 2;
    return row;
}

static void check_eigen(kernels_fixture *f, qn_element type, uint64_t n, bool across) {
    const matrices x = random_matrices(type, n, n, (uint32_t)n), xt = turned(&x), a = blank(n, n);
    for (uint64_t i = 0; i < BATCH * n * n; i++)
        a.data[i] = element_round(type, (x.data[i] + xt.data[i]) / 2);
    qn_array from = put(f, type, &a, across), to_v = room_for(f, type, n, n, across),
             to_l = room_for(f, type, n, 1, false);
    assert_ok(f->context, qn_kernels_eigen(f->kernels, NULL, &(qn_eigen_desc){from, row_of(&to_l), to_v}));
    const matrices v = take(f, &to_v), l = take(f, &to_l), scaled = blank(n, n);
    for (uint64_t i = 0; i < BATCH * n * n; i++) scaled.data[i] = v.data[i] * *at(&l, i / (n * n), i % n, 0);
    const matrices left = product(&a, &v, false);
    assert_close("eigen", type, &left, &scaled, (double)n + 4);
    assert_orthogonal("eigenvectors", type, &v);
    for (uint64_t i = 1; i < BATCH * n; i++)
        if (i % n) assert_true(l.data[i] >= l.data[i - 1]);
    qn_buffer_destroy(from.buffer);
    free(x.data), free(xt.data), free(a.data), free(v.data), free(l.data), free(scaled.data), free(left.data);
}

/* Of `rank` columns that have nothing to do with each other: the others are sums of them. */
static void check_svd(kernels_fixture *f, qn_element type, uint64_t m, uint64_t n, uint64_t rank,
                      bool across) {
    const matrices a = random_matrices(type, m, n, (uint32_t)(m + n));
    for (uint64_t i = 0; i < BATCH * m * n; i++)
        if (i % n >= rank) a.data[i] = rank ? a.data[i / n * n + i % n % rank] : 0;
    qn_array from = put(f, type, &a, across), to_u = room_for(f, type, m, n, across),
             to_s = room_for(f, type, n, 1, false), to_v = room_for(f, type, n, n, across);
    assert_ok(f->context, qn_kernels_svd(f->kernels, NULL, &(qn_svd_desc){from, to_u, row_of(&to_s), to_v}));
    const matrices u = take(f, &to_u), s = take(f, &to_s), v = take(f, &to_v), scaled = blank(m, n);
    for (uint64_t i = 0; i < BATCH * m * n; i++) scaled.data[i] = u.data[i] * *at(&s, i / (m * n), i % n, 0);
    const matrices again = product(&scaled, &v, true);
    assert_close("svd", type, &again, &a, (double)m + 4);
    assert_orthogonal("u", type, &u);
    assert_orthogonal("v", type, &v);
    for (uint64_t i = 0; i < BATCH * n; i++) {
        assert_true(s.data[i] >= 0 && (i % n == 0 || s.data[i] <= s.data[i - 1]));
        if (i % n >= rank) assert_true(s.data[i] <= 64 * element_epsilon(type) * (double)m);
    }
    qn_buffer_destroy(from.buffer);
    free(a.data), free(u.data), free(s.data), free(v.data), free(scaled.data), free(again.data);
}

/* Where no processor of its own does it, rotations of many columns take long, and lavapipe ends loops after 65,535 iterations. */
static bool is_emulated(const kernels_fixture *f) {
    return testing("cpu") || f->info.capabilities & QN_CAN_EMULATE;
}

/* Where a driver on the processor compiles each variant of a kernel, for as long as all the rest takes, there are fewer. */
static bool is_driver(const kernels_fixture *f) {
    return !testing("cpu") && f->info.capabilities & QN_CAN_EMULATE;
}

static void every_shape(void **state) {
    (void)state;
    static const qn_element types[] = {QN_F32, QN_F64};
    static const uint64_t sizes[] = {1, 2, 3, 5, 8, 17, 33, 64};
    kernels_fixture f = make_kernels_quickly();
    for (int t = 0; t < 2; t++) {
        const qn_element type = types[t];
        if (!has_type(&f, type)) continue;
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            const uint64_t n = sizes[i];
            const bool across = i % 2;
            const bool is_slow = is_emulated(&f) && n > (t ? 5 : 17);
            if (t && is_slow) continue;
            if (is_driver(&f) && (t || (n != 5 && n != 17))) continue;
            check_cholesky(&f, type, n, across);
            check_solve(&f, type, n, 1 + i * 2, across);
            check_triangular(&f, type, n, 3, across && !is_driver(&f), i % 3 == 0 && !is_driver(&f));
            check_qr(&f, type, n, n, false, across);
            if (is_slow) continue;
            check_qr(&f, type, n + 3, n, across, false);
            check_qr(&f, type, n, n + 4, false, !across);
            check_eigen(&f, type, n, across);
            check_svd(&f, type, n, n, n, across);
            check_svd(&f, type, n + 5, n, n / 2, !across);
        }
    }
    end_kernels(&f);
}

static void more_than_local_memory(void **state) {
    (void)state;
    if (testing("cpu")) skip(); /* a processor's kernels use none */
    kernels_fixture f = make_kernels_quickly();
    check_cholesky(&f, QN_F32, 150, false);
    if (!is_emulated(&f)) {
        check_solve(&f, QN_F32, 150, 5, false);
        check_qr(&f, QN_F32, 150, 110, false, false);
        check_eigen(&f, QN_F32, 100, false);
        check_svd(&f, QN_F32, 100, 100, 100, false);
    }
    end_kernels(&f);
}

/* The determinant, by its sign and logarithm. */
static void determinants(void **state) {
    (void)state;
    kernels_fixture f = make_kernels_quickly();
    const float data[3][9] = {
        {2, 0, 0, 0, 0, 3, 0, 4, 0}, {1, 2, 3, 2, 4, 6, 1, 0, 1}, {0, 1, 0, 0, 0, 1, 5, 0, 0}};
    qn_buffer *from = make_buffer(f.device, sizeof data, data), *to = make_buffer(f.device, 24, NULL);
    qn_array log = QN_ARRAY(to, QN_F32, 3);
    log.offset = 3;
    const qn_determinant_desc d = {QN_ARRAY(from, QN_F32, 3, 3, 3), QN_ARRAY(to, QN_F32, 3), log};
    assert_ok(f.context, qn_kernels_determinant(f.kernels, NULL, &d));
    const float wanted[6] = {-1, 0, 1, 3.17805383f, -INFINITY, 1.609437912f};
    float *got = buffer_contents(&f, to);
    for (int i = 0; i < 6; i++)
        if (!(got[i] == wanted[i] || fabsf(got[i] - wanted[i]) < 1e-6f))
            fail_msg("number %d is %g", i, (double)got[i]);
    free(got);
    const qn_determinant_desc none = {{.type = QN_F32, .rank = 3, .sizes = {3, 0, 0}}, d.sign, d.log};
    assert_ok(f.context, qn_kernels_determinant(f.kernels, NULL, &none));
    got = buffer_contents(&f, to);
    for (int i = 0; i < 6; i++) assert_true(got[i] == (i < 3));
    free(got);
    qn_buffer_destroy(from), qn_buffer_destroy(to);
    end_kernels(&f);
}

static void what_is_not_positive_definite(void **state) {
    (void)state;
    kernels_fixture f = make_kernels_quickly();
    const float data[9] = {4, 0, 0, 2, 1, 0, 0, 0, 1};
    qn_buffer *from = make_buffer(f.device, sizeof data, data), *to = make_buffer(f.device, 36, NULL);
    assert_ok(f.context, qn_kernels_cholesky(
                             f.kernels, NULL,
                             &(qn_cholesky_desc){QN_ARRAY(from, QN_F32, 3, 3), QN_ARRAY(to, QN_F32, 3, 3)}));
    float *got = buffer_contents(&f, to);
    assert_true(got[0] == 2 && got[3] == 1 && got[6] == 0); /* the first column is as it should be */
    assert_true(isnan(got[4]) && isnan(got[7]) && isnan(got[8]));
    free(got);
    qn_buffer_destroy(from), qn_buffer_destroy(to);
    end_kernels(&f);
}

/* lavapipe ends loops after 65,535 iterations, and gave zeros. */
static void more_iterations_than_a_driver_has(void **state) {
    (void)state;
    kernels_fixture f = make_kernels_quickly();
    if (f.info.loop_limit) {
        qn_buffer *x = make_buffer(f.device, 4 * 96 * 96, NULL), *y = make_buffer(f.device, 4 * 96, NULL);
        const qn_array from = QN_ARRAY(x, QN_F32, 96, 96), values = QN_ARRAY(y, QN_F32, 96);
        assert_fails(f.context, qn_kernels_eigen(f.kernels, NULL, &(qn_eigen_desc){from, .values = values}),
                     QN_ERROR_UNSUPPORTED,
                     "qn_kernels_eigen: from of 96x96 takes more iterations than a work-item's loops have");
        assert_fails(f.context,
                     qn_kernels_svd(f.kernels, NULL, &(qn_svd_desc){.from = from, .values = values}),
                     QN_ERROR_UNSUPPORTED, "qn_kernels_svd: from of 96x96 takes more iterations");
        qn_buffer_destroy(x), qn_buffer_destroy(y);
        check_eigen(&f, QN_F32, 40, false);
        check_svd(&f, QN_F32, 40, 40, 40, false);
    }
    end_kernels(&f);
}

static void refusals(void **state) {
    (void)state;
    kernels_fixture f = make_kernels_quickly();
    qn_buffer *x = make_buffer(f.device, 4096, NULL), *y = make_buffer(f.device, 4096, NULL);
    const qn_array square = QN_ARRAY(x, QN_F32, 3, 3), wide = QN_ARRAY(x, QN_F32, 3, 4),
                   row = QN_ARRAY(x, QN_F32, 3), whole = QN_ARRAY(x, QN_I32, 3, 3),
                   out = QN_ARRAY(y, QN_F32, 3, 3), half = QN_ARRAY(y, QN_F16, 3, 3);
#define REFUSED(name, sentence, ...)                                                                         \
    assert_fails(f.context, qn_kernels_##name(f.kernels, NULL, &(qn_##name##_desc){__VA_ARGS__}),            \
                 QN_ERROR_ARGUMENT, sentence)
    REFUSED(cholesky, "qn_kernels_cholesky: from is 3x4; its matrices must be square", wide, out);
    REFUSED(cholesky, "from is 3; it must have two dimensions or more", row, out);
    REFUSED(cholesky, "from is of f32 and to of f16; all have to be of f32, or all of f64", square, half);
    REFUSED(cholesky, "from is of i32", whole, out);
    REFUSED(cholesky, "to and from share memory", square, square);
    REFUSED(solve, "to is 3x3; with matrix of 3x3 it must be 3x4", square, QN_ARRAY(x, QN_F32, 3, 4), out);
    REFUSED(solve_triangular, "from is 4x3; with matrix of 3x3 it must be 3x3", .matrix = square,
            .from = QN_ARRAY(x, QN_F32, 4, 3), .to = out);
    REFUSED(determinant, "sign is 3x3; with from of 3x3 it must be one element", .from = square, .sign = out);
    REFUSED(qr, "r is 3x3; with from of 3x4 it must be 3x4", .from = wide, .r = out);
    REFUSED(eigen, "values is 3x3; with from of 3x3 it must be 3", .from = square, .values = out);
    REFUSED(svd, "it must not have more columns than rows", .from = wide, .u = out);
    qn_buffer_destroy(x), qn_buffer_destroy(y);
    end_kernels(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape),
        cmocka_unit_test(more_than_local_memory),
        cmocka_unit_test(determinants),
        cmocka_unit_test(what_is_not_positive_definite),
        cmocka_unit_test(more_iterations_than_a_driver_has),
        cmocka_unit_test(refusals),
    };
    return run_device_tests(tests);
}
