/* qn_kernels_max_pool and its gradient against plain loops: windows that overlap, lie side by side or apart, padding, planes that packs of neighbours fit into
   and others, equal elements, infinities and NaNs; what may be left out; what is refused. */
#include "kernels_common.h"

typedef struct pool_case {
    qn_element type;
    uint64_t sizes[4];
    uint32_t window[2], stride[2], padding[2];
    enum { PLAIN, TOGETHER, TURNED } layout; /* channels together; rows and columns in each other's place */
} pool_case;

static const pool_case cases[] = {
    {QN_F16, {2, 3, 12, 16}, {3, 3}, {2, 2}, {1, 1}, PLAIN},
    {QN_F32, {2, 3, 12, 16}, {3, 3}, {2, 2}, {1, 1}, PLAIN},
    {QN_BF16, {1, 2, 7, 13}, {3, 3}, {2, 2}, {1, 1}, PLAIN}, /* ends within packs */
    {QN_F32, {1, 2, 9, 8}, {3, 2}, {1, 1}, {0, 0}, TOGETHER},
    {QN_F64, {1, 3, 6, 8}, {2, 2}, {0, 0}, {0, 0}, PLAIN}, /* side by side */
    {QN_E5M2, {1, 1, 8, 16}, {2, 3}, {1, 2}, {1, 2}, PLAIN},
    {QN_F16, {1, 2, 10, 24}, {2, 2}, {3, 3}, {0, 0}, PLAIN}, /* apart */
    {QN_F32, {1, 1, 11, 20}, {5, 5}, {4, 4}, {2, 2}, TURNED},
    {QN_F32, {2, 1, 20, 24}, {16, 16}, {1, 3}, {8, 15}, PLAIN}, /* as many elements as there can be */
    {QN_F16, {1, 2, 1, 70}, {1, 65}, {1, 2}, {0, 32}, PLAIN},
    {QN_F32, {1, 1, 40, 8}, {7, 1}, {9, 5}, {3, 0}, PLAIN},
    {QN_F16, {2, 24, 7, 6}, {3, 3}, {2, 2}, {1, 1}, TOGETHER},
    {QN_BF16, {1, 6, 8, 5}, {2, 3}, {1, 1}, {0, 2}, TOGETHER}, /* packs of two */
    {QN_F64, {1, 3, 5, 5}, {3, 3}, {4, 4}, {0, 0}, TOGETHER},
    {QN_F32, {1, 12, 20, 20}, {16, 16}, {2, 3}, {8, 8}, TOGETHER},
};

static uint32_t stride_of(const pool_case *c, int i) { return c->stride[i] ? c->stride[i] : c->window[i]; }

static uint64_t windows_along(const pool_case *c, int i) {
    return (c->sizes[2 + i] + 2 * c->padding[i] - c->window[i]) / stride_of(c, i) + 1;
}

static qn_array array_of(const pool_case *c, qn_element type, uint64_t rows, uint64_t columns) {
    const uint64_t *s = c->sizes;
    if (c->layout == PLAIN) return QN_ARRAY(NULL, type, s[0], s[1], rows, columns);
    if (c->layout == TURNED) return qn_array_transpose(QN_ARRAY(NULL, type, s[0], s[1], columns, rows), 2, 3);
    return qn_array_permute(QN_ARRAY(NULL, type, s[0], rows, columns, s[1]), (const uint32_t[]){0, 3, 1, 2});
}

/* Few different numbers, so that many are equal. */
static void *plane_elements(qn_element type, uint64_t count, uint32_t seed) {
    void *data = random_elements(type, count, -4, 4, seed);
    for (uint64_t i = 0; i < count; i++) element_set(type, data, i, floor(element_get(type, data, i)));
    return data;
}

/* The largest of a window, and which it is. */
static double largest_of(const pool_case *c, const qn_array *from, const void *x, const uint64_t *at,
                         uint32_t *tap) {
    double best = -INFINITY;
    *tap = UINT32_MAX;
    for (uint32_t t = 0; t < c->window[0] * c->window[1]; t++) {
        const uint64_t row = at[2] * stride_of(c, 0) + t / c->window[1] - c->padding[0],
                       column = at[3] * stride_of(c, 1) + t % c->window[1] - c->padding[1];
        if (row >= c->sizes[2] || column >= c->sizes[3]) continue; /* also what is below 0 */
        const double e = element_get(
            c->type, x, element_place(from, (const uint64_t[QN_MAX_RANK]){at[0], at[1], row, column}));
        if (*tap != UINT32_MAX && !(e > best || isnan(e))) continue;
        best = e;
        *tap = t;
    }
    return best;
}

static bool is_same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

/* Taps that are right, from `x`; and, where there are, values beside them. To be freed. */
static uint8_t *check_largest(kernels_fixture *f, const pool_case *c, const void *x, bool values, bool taps) {
    qn_array from = array_of(c, c->type, c->sizes[2], c->sizes[3]);
    qn_array to = array_of(c, c->type, windows_along(c, 0), windows_along(c, 1)), chosen = to;
    chosen.type = QN_U8;
    const uint64_t count = qn_array_count(&to);
    from.buffer = elements_buffer(f, c->type, qn_array_count(&from), x);
    if (values) to.buffer = elements_buffer(f, c->type, count, NULL);
    if (taps) chosen.buffer = elements_buffer(f, QN_U8, count, NULL);
    qn_max_pool_desc desc = {.from = from,
                             .to = to,
                             .taps = chosen,
                             .window = {c->window[0], c->window[1]},
                             .stride = {c->stride[0], c->stride[1]},
                             .padding = {c->padding[0], c->padding[1]}};
    assert_ok(f->context, qn_kernels_max_pool(f->kernels, NULL, &desc));
    void *got = values ? buffer_contents(f, to.buffer) : NULL;
    uint8_t *which = taps ? buffer_contents(f, chosen.buffer) : NULL;
    uint64_t at[QN_MAX_RANK] = {0};
    do {
        uint32_t tap;
        const double wanted = largest_of(c, &from, x, at, &tap);
        const uint64_t place = element_place(&to, at);
        if (values && !is_same(element_get(c->type, got, place), wanted))
            fail_msg("case %d: window (%d, %d) of plane (%d, %d) is %g, not %g", (int)(c - cases), (int)at[2],
                     (int)at[3], (int)at[0], (int)at[1], element_get(c->type, got, place), wanted);
        if (taps && which[place] != tap)
            fail_msg("case %d: window (%d, %d) of plane (%d, %d) chose %d, not %u", (int)(c - cases),
                     (int)at[2], (int)at[3], (int)at[0], (int)at[1], which[place], tap);
    } while (next_index(&to, at));
    free(got);
    qn_buffer_destroy(from.buffer), qn_buffer_destroy(to.buffer), qn_buffer_destroy(chosen.buffer);
    return which;
}

/* Where elements of the gradient go, added up. */
static double *spread(const pool_case *c, const qn_array *gradient, const void *g, const uint8_t *taps,
                      const qn_array *to) {
    double *sums = calloc(qn_array_count(to), sizeof *sums);
    assert_non_null(sums);
    uint64_t at[QN_MAX_RANK] = {0};
    do {
        const uint64_t place = element_place(gradient, at);
        const uint64_t in[QN_MAX_RANK] = {
            at[0], at[1], at[2] * stride_of(c, 0) + taps[place] / c->window[1] - c->padding[0],
            at[3] * stride_of(c, 1) + taps[place] % c->window[1] - c->padding[1]};
        sums[element_place(to, in)] += element_get(c->type, g, place);
    } while (next_index(gradient, at));
    return sums;
}

static void check_gradient(kernels_fixture *f, const pool_case *c, const uint8_t *taps) {
    qn_array to = array_of(c, c->type, c->sizes[2], c->sizes[3]);
    qn_array gradient = array_of(c, c->type, windows_along(c, 0), windows_along(c, 1)), chosen = gradient;
    chosen.type = QN_U8;
    const uint64_t count = qn_array_count(&gradient), all = qn_array_count(&to);
    void *g = plane_elements(c->type, count, 7); /* whole numbers, whose sums are exact */
    gradient.buffer = elements_buffer(f, c->type, count, g);
    chosen.buffer = elements_buffer(f, QN_U8, count, taps);
    to.buffer = elements_buffer(f, c->type, all, NULL);
    qn_max_pool_backward_desc desc = {.gradient = gradient,
                                      .taps = chosen,
                                      .to = to,
                                      .window = {c->window[0], c->window[1]},
                                      .stride = {c->stride[0], c->stride[1]},
                                      .padding = {c->padding[0], c->padding[1]}};
    assert_ok(f->context, qn_kernels_max_pool_backward(f->kernels, NULL, &desc));
    void *got = buffer_contents(f, to.buffer);
    double *wanted = spread(c, &gradient, g, taps, &to);
    for (uint64_t i = 0; i < all; i++)
        if (element_get(c->type, got, i) != element_round(c->type, wanted[i]))
            fail_msg("case %d: element %d gets %g, not %g", (int)(c - cases), (int)i,
                     element_get(c->type, got, i), wanted[i]);
    free(g), free(got), free(wanted);
    qn_buffer_destroy(gradient.buffer), qn_buffer_destroy(chosen.buffer), qn_buffer_destroy(to.buffer);
}

static void windows_have_their_largest(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const pool_case *c = &cases[i];
        if (!has_type(&f, c->type)) continue;
        void *x =
            plane_elements(c->type, c->sizes[0] * c->sizes[1] * c->sizes[2] * c->sizes[3], (uint32_t)i + 1);
        uint8_t *taps = check_largest(&f, c, x, true, true);
        check_gradient(&f, c, taps);
        free(taps), free(x);
    }
    end_kernels(&f);
}

static void either_may_be_left_out(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    const pool_case *c = &cases[0];
    void *x = plane_elements(c->type, 2 * 3 * 12 * 16, 5);
    check_largest(&f, c, x, true, false);
    free(check_largest(&f, c, x, false, true));
    free(x);
    end_kernels(&f);
}

static void nothing_is_below_infinity(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    const pool_case *c = &cases[1];
    float x[2 * 3 * 12 * 16];
    for (int i = 0; i < 2 * 3 * 12 * 16; i++)
        x[i] = i % 11 == 0 && i > 300 ? NAN : i % 3 ? -INFINITY : (float)(i % 5);
    for (int i = 0; i < 200; i++) x[i] = -INFINITY;
    free(check_largest(&f, c, x, true, true));
    end_kernels(&f);
}

static void wrong_ones_are_refused(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    qn_buffer *a = elements_buffer(&f, QN_F32, 100, NULL), *b = elements_buffer(&f, QN_F32, 100, NULL),
              *c = elements_buffer(&f, QN_F32, 100, NULL);
    const qn_array x = QN_ARRAY(a, QN_F32, 6, 6), y = QN_ARRAY(b, QN_F32, 3, 3), t = QN_ARRAY(c, QN_U8, 3, 3);
    const struct {
        qn_max_pool_desc desc;
        const char *message;
    } wrong[] = {
        {{.from = QN_ARRAY(a, QN_F32, 36), .to = QN_ARRAY(b, QN_F32, 9), .window = {2, 2}},
         "qn_kernels_max_pool: 36 of 1 dimensions; a plane has two, and others before them"},
        {{.from = x, .to = y, .window = {2, 7}}, "a window of 7 for 6 elements with a padding of 0"},
        {{.from = x, .to = y, .window = {2, 0}}, "a window of 0 for 6 elements"},
        {{.from = x, .to = y, .window = {2, 2}, .padding = {2, 0}},
         "a window of 2 for 6 elements with a padding of 2"},
        {{.from = QN_ARRAY(a, QN_F32, 0, 6), .to = y, .window = {2, 2}, .padding = {1, 0}},
         "a window of 2 for 0 elements with a padding of 1"},
        {{.from = QN_ARRAY(a, QN_F32, 1, 100), .to = y, .window = {1, 100}}, "to is 3x3; it must be 1x1"},
        {{.from = x, .to = y, .window = {2, 2}, .stride = {1, 1}}, "to is 3x3; it must be 5x5"},
        {{.from = x, .to = QN_ARRAY(b, QN_F16, 3, 3), .window = {2, 2}},
         "from.type and to.type are f32 and f16"},
        {{.from = QN_ARRAY(a, QN_I32, 6, 6), .to = QN_ARRAY(b, QN_I32, 3, 3), .window = {2, 2}},
         "must be one type of floats"},
        {{.from = x, .to = y, .taps = QN_ARRAY(c, QN_I32, 3, 3), .window = {2, 2}},
         "taps.type is i32; it must be u8"},
        {{.from = x, .to = y, .taps = QN_ARRAY(c, QN_U8, 3, 2), .window = {2, 2}},
         "taps is 3x2 and to is 3x3"},
        {{.from = x, .to = QN_ARRAY(a, QN_F32, 3, 3), .window = {2, 2}}, "to and from share memory"},
        {{.from = x, .to = y, .taps = QN_ARRAY(b, QN_U8, 3, 3), .window = {2, 2}},
         "taps and to share memory"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_fails(f.context, qn_kernels_max_pool(f.kernels, NULL, &wrong[i].desc), QN_ERROR_ARGUMENT,
                     wrong[i].message);
    qn_buffer *large = elements_buffer(&f, QN_F32, 400, NULL);
    assert_fails(f.context,
                 qn_kernels_max_pool(f.kernels, NULL,
                                     &(qn_max_pool_desc){.from = QN_ARRAY(large, QN_F32, 20, 20),
                                                         .to = QN_ARRAY(b, QN_F32, 1, 1),
                                                         .window = {17, 16}}),
                 QN_ERROR_ARGUMENT, "a window of 17 x 16; it has at most 256 elements");
    assert_fails(f.context,
                 qn_kernels_max_pool_backward(
                     f.kernels, NULL,
                     &(qn_max_pool_backward_desc){.gradient = y, .taps = t, .to = y, .window = {2, 2}}),
                 QN_ERROR_ARGUMENT, "qn_kernels_max_pool_backward: gradient is 3x3; it must be 1x1");
    assert_fails(f.context,
                 qn_kernels_max_pool_backward(
                     f.kernels, NULL,
                     &(qn_max_pool_backward_desc){
                         .gradient = y, .taps = QN_ARRAY(NULL, QN_U8, 0, 3), .to = x, .window = {2, 2}}),
                 QN_ERROR_ARGUMENT, "taps is 0x3 and gradient is 3x3");
    assert_fails(f.context, qn_kernels_max_pool_backward(f.kernels, NULL, NULL), QN_ERROR_NULL,
                 "desc is NULL");
    assert_fails(f.context, qn_kernels_max_pool(f.kernels, NULL, NULL), QN_ERROR_NULL, "desc is NULL");
    qn_buffer_destroy(a), qn_buffer_destroy(b), qn_buffer_destroy(c), qn_buffer_destroy(large);
    end_kernels(&f);
}

int main(void) {
    if (device_is_missing()) return TEST_SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_have_their_largest),
        cmocka_unit_test(either_may_be_left_out),
        cmocka_unit_test(nothing_is_below_infinity),
        cmocka_unit_test(wrong_ones_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
