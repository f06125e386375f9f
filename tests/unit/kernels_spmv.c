/* qn_kernels_spmv against a plain loop in double precision: rows short, long, empty and longer than a work-group's share, all types; what
   is refused. */
#include "kernels_common.h"

/* A matrix in compressed rows: `most` elements a row, some rows without any, one row of `longest`. */
typedef struct sparse {
    uint64_t rows, columns, elements;
    int64_t *starts, *places;
} sparse;

static sparse make_sparse(uint64_t rows, uint64_t columns, uint64_t most, uint64_t longest, uint32_t seed) {
    sparse s = {.rows = rows, .columns = columns, .starts = calloc(rows + 1, sizeof *s.starts)};
    uint32_t state = seed * 7919 + 1;
    for (uint64_t row = 0; row < rows; row++) {
        uint64_t length = next_random(&state) % (most + 1);
        if (row == rows / 3 && longest) length = longest;
        s.starts[row + 1] = s.starts[row] + (int64_t)length;
    }
    s.elements = (uint64_t)s.starts[rows];
    s.places = calloc(s.elements + 1, sizeof *s.places);
    for (uint64_t i = 0; i < s.elements; i++) s.places[i] = (int64_t)(next_random(&state) % columns);
    if (s.elements > 5) s.places[3] = (int64_t)columns; /* counts as 0 */
    return s;
}

static qn_buffer *index_buffer(const kernels_fixture *f, qn_element type, const int64_t *numbers,
                               uint64_t count) {
    void *data = calloc(count + 1, 8);
    for (uint64_t i = 0; i < count; i++) element_set(type, data, i, (double)numbers[i]);
    qn_buffer *buffer = elements_buffer(f, type, count, data);
    free(data);
    return buffer;
}

typedef struct spmv_case {
    qn_element type, starts, columns;
    uint64_t rows, width, most, longest;
    double alpha, beta;
} spmv_case;

static void check_rows(const spmv_case *c, const sparse *s, const void *values, const void *x, const void *y,
                       const void *got) {
    const double alpha = c->alpha == 0 ? 1 : c->alpha;
    for (uint64_t row = 0; row < s->rows; row++) {
        double sum = 0, size = 0;
        for (int64_t i = s->starts[row]; i < s->starts[row + 1]; i++) {
            if ((uint64_t)s->places[i] >= s->columns) continue;
            const double product =
                element_get(c->type, values, (uint64_t)i) * element_get(c->type, x, (uint64_t)s->places[i]);
            sum += product;
            size += fabs(product);
        }
        const double old = c->beta == 0 ? 0 : c->beta * element_get(c->type, y, row);
        const double wanted = alpha * sum + old, length = (double)(s->starts[row + 1] - s->starts[row]) + 3;
        const double bound =
            (fabs(alpha) * size + fabs(old)) * length * (c->type == QN_F64 ? 0x1p-53 : 0x1p-24) +
            2 * fabs(wanted) * element_epsilon(c->type);
        const double result = element_get(c->type, got, row);
        if (!(fabs(result - wanted) <= bound))
            fail_msg("%s: row %llu of %g elements is %.9g, not %.9g", qn_element_name(c->type),
                     (unsigned long long)row, length - 3, result, wanted);
    }
}

static void check_spmv(kernels_fixture *f, const spmv_case *c, uint32_t seed) {
    if (!has_type(f, c->type)) return;
    sparse s = make_sparse(c->rows, c->width, c->most, c->longest, seed);
    void *values = random_elements(c->type, s.elements, -1, 1, seed + 1),
         *x = random_elements(c->type, s.columns, -1, 1, seed + 2),
         *y = random_elements(c->type, s.rows, -1, 1, seed + 3);
    if (c->beta == 0) /* is not read */
        for (uint64_t i = 0; i < s.rows; i++) element_set(c->type, y, i, NAN);
    qn_buffer *buffers[] = {
        index_buffer(f, c->starts, s.starts, s.rows + 1), index_buffer(f, c->columns, s.places, s.elements),
        elements_buffer(f, c->type, s.elements, values), elements_buffer(f, c->type, s.columns, x),
        elements_buffer(f, c->type, s.rows, y)};
    const qn_spmv_desc d = {.starts = QN_ARRAY(buffers[0], c->starts, s.rows + 1),
                            .columns = QN_ARRAY(buffers[1], c->columns, s.elements),
                            .values = QN_ARRAY(buffers[2], c->type, s.elements),
                            .x = QN_ARRAY(buffers[3], c->type, s.columns),
                            .y = QN_ARRAY(buffers[4], c->type, s.rows),
                            .alpha = c->alpha,
                            .beta = c->beta};
    assert_ok(f->context, qn_kernels_spmv(f->kernels, NULL, &d));
    void *got = buffer_contents(f, buffers[4]);
    check_rows(c, &s, values, x, y, got);
    free(got), free(values), free(x), free(y), free(s.starts), free(s.places);
    for (int i = 0; i < 5; i++) qn_buffer_destroy(buffers[i]);
}

static void rows_of_all_lengths_are_multiplied(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    const spmv_case cases[] = {
        {QN_F32, QN_I32, QN_I32, 1, 5, 3, 0, 0, 0},
        {QN_F32, QN_U32, QN_U32, 3000, 700, 1, 0, 0, 0},
        {QN_F32, QN_I32, QN_I32, 501, 1000, 30, 30000, 2, -0.5},
        {QN_F32, QN_I64, QN_U32, 20, 5000, 4000, 0, 0, 1},
        {QN_F32, QN_I32, QN_I32, 1000, 10, 0, 0, 3, 2},
        {QN_F32, QN_I32, QN_I32, 3, 100, 0, 50000, 0, 0},
        {QN_F64, QN_I32, QN_I64, 300, 300, 40, 9000, 1, 0},
        {QN_F16, QN_I32, QN_I32, 200, 50, 20, 3000, 0.5, 1},
        {QN_BF16, QN_U64, QN_I32, 200, 50, 20, 0, 0, 0},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) check_spmv(&f, &cases[i], i + 1);
    end_kernels(&f);
}

static void other_strides_are_multiplied(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    /* [[1, 0, 2], [0, 0, 0], [0, 3, 4]] by x from the end, y at every second place. */
    const int32_t starts[] = {0, 2, 2, 4}, columns[] = {0, 2, 1, 2};
    const float values[] = {1, 2, 3, 4}, x[] = {30, 20, 10}, y[] = {-1, -2, -3, -4, -5},
                wanted[] = {70, -2, 0, -4, 180};
    qn_buffer *b[] = {elements_buffer(&f, QN_I32, 4, starts), elements_buffer(&f, QN_I32, 4, columns),
                      elements_buffer(&f, QN_F32, 4, values), elements_buffer(&f, QN_F32, 3, x),
                      elements_buffer(&f, QN_F32, 5, y)};
    const qn_spmv_desc d = {.starts = QN_ARRAY(b[0], QN_I32, 4),
                            .columns = QN_ARRAY(b[1], QN_I32, 4),
                            .values = QN_ARRAY(b[2], QN_F32, 4),
                            .x = {b[3], 2, QN_F32, 1, {3}, {-1}},
                            .y = {b[4], 0, QN_F32, 1, {3}, {2}}};
    assert_ok(f.context, qn_kernels_spmv(f.kernels, NULL, &d));
    float *got = buffer_contents(&f, b[4]);
    assert_memory_equal(got, wanted, sizeof wanted);
    free(got);
    for (int i = 0; i < 5; i++) qn_buffer_destroy(b[i]);
    end_kernels(&f);
}

static void wrong_matrices_are_refused(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    qn_buffer *b[5];
    for (int i = 0; i < 5; i++) b[i] = elements_buffer(&f, QN_F32, 100, NULL);
    const qn_array s = QN_ARRAY(b[0], QN_I32, 11), c = QN_ARRAY(b[1], QN_I32, 20),
                   v = QN_ARRAY(b[2], QN_F32, 20), x = QN_ARRAY(b[3], QN_F32, 7),
                   y = QN_ARRAY(b[4], QN_F32, 10);
    const struct {
        qn_spmv_desc desc;
        const char *message;
    } cases[] = {
        {{.starts = c, .columns = c, .values = v, .x = x, .y = y},
         "qn_kernels_spmv: starts is 20 and y is 10"},
        {{.starts = s, .columns = s, .values = v, .x = x, .y = y}, "columns is 11 and values is 20"},
        {{.starts = s, .columns = c, .values = v, .x = QN_ARRAY(b[3], QN_F16, 7), .y = y},
         "x and y are f32, f16 and f32"},
        {{.starts = s, .columns = QN_ARRAY(b[1], QN_F32, 20), .values = v, .x = x, .y = y},
         "columns.type is f32"},
        {{.starts = QN_ARRAY(b[0], QN_U8, 11), .columns = c, .values = v, .x = x, .y = y},
         "starts.type is u8"},
        {{.starts = s, .columns = c, .values = v, .x = QN_ARRAY(b[3], QN_F32, 7, 1), .y = y},
         "x has 2 dimensions"},
        {{.starts = s, .columns = c, .values = v, .x = y, .y = y}, "y and x share memory"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fails(f.context, qn_kernels_spmv(f.kernels, NULL, &cases[i].desc), QN_ERROR_ARGUMENT,
                     cases[i].message);
    assert_fails(f.context, qn_kernels_spmv(f.kernels, NULL, NULL), QN_ERROR_NULL,
                 "qn_kernels_spmv: desc is NULL");
    for (int i = 0; i < 5; i++) qn_buffer_destroy(b[i]);
    end_kernels(&f);
}

int main(void) {
    if (device_is_missing()) return TEST_SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_all_lengths_are_multiplied),
        cmocka_unit_test(other_strides_are_multiplied),
        cmocka_unit_test(wrong_matrices_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
