/* qn_convolve and qn_blur against plain loops in double precision: strides, padding, dilation, groups, bias, both orders of dimensions, tiles
   that end within and behind the array; what is refused. */
#include "kernels_common.h"

typedef struct convolve_case {
    qn_element type;
    uint64_t from[4], weights[4];
    uint32_t stride[2], padding[2], dilation[2], groups;
    bool bias, channels_last;
} convolve_case;

static uint64_t factor(uint32_t given) { return given ? given : 1; }

static uint64_t size_out(const convolve_case *c, int i) {
    return (c->from[2 + i] + 2 * c->padding[i] - (c->weights[2 + i] - 1) * factor(c->dilation[i]) - 1) /
               factor(c->stride[i]) +
           1;
}

/* Four dimensions in the order NCHW, in memory as such or with the channels last. */
static qn_array images(const convolve_case *c, qn_buffer *buffer, const uint64_t sizes[4]) {
    if (!c->channels_last) return QN_ARRAY(buffer, c->type, sizes[0], sizes[1], sizes[2], sizes[3]);
    const qn_array last = QN_ARRAY(buffer, c->type, sizes[0], sizes[2], sizes[3], sizes[1]);
    return qn_array_transpose(qn_array_transpose(last, 1, 3), 2, 3);
}

/* The sum for one element, and the sum of the sizes of what is added. */
static double sum_at(const convolve_case *c, const qn_array *from, const void *x, const qn_array *weights,
                     const void *w, const uint64_t at[4], double *size) {
    const uint64_t outputs = c->weights[0] / factor(c->groups), first = at[1] / outputs * c->weights[1];
    double sum = 0;
    for (uint64_t k = 0; k < c->weights[1]; k++)
        for (uint64_t r = 0; r < c->weights[2]; r++)
            for (uint64_t s = 0; s < c->weights[3]; s++) {
                const uint64_t row =
                                   at[2] * factor(c->stride[0]) + r * factor(c->dilation[0]) - c->padding[0],
                               column =
                                   at[3] * factor(c->stride[1]) + s * factor(c->dilation[1]) - c->padding[1];
                if (row >= c->from[2] || column >= c->from[3]) continue; /* also what is below 0 */
                const uint64_t in[QN_MAX_RANK] = {at[0], first + k, row, column},
                               tap[QN_MAX_RANK] = {at[1], k, r, s};
                const double product = element_get(c->type, x, element_place(from, in)) *
                                       element_get(c->type, w, element_place(weights, tap));
                sum += product;
                *size += fabs(product);
            }
    return sum;
}

static void check_convolve(kernels_fixture *f, const convolve_case *c, uint32_t seed) {
    if (!has_type(f, c->type)) return;
    const uint64_t sizes[4] = {c->from[0], c->weights[0], size_out(c, 0), size_out(c, 1)};
    qn_convolve_desc d = {.from = images(c, NULL, c->from),
                          .weights = images(c, NULL, c->weights),
                          .bias = QN_ARRAY(NULL, c->type, c->weights[0]),
                          .to = images(c, NULL, sizes),
                          .stride = {c->stride[0], c->stride[1]},
                          .padding = {c->padding[0], c->padding[1]},
                          .dilation = {c->dilation[0], c->dilation[1]},
                          .groups = c->groups};
    void *x = random_elements(c->type, qn_array_count(&d.from), -1, 1, seed),
         *w = random_elements(c->type, qn_array_count(&d.weights), -1, 1, seed + 1),
         *bias = random_elements(c->type, c->weights[0], -1, 1, seed + 2);
    d.from.buffer = elements_buffer(f, c->type, qn_array_count(&d.from), x);
    d.weights.buffer = elements_buffer(f, c->type, qn_array_count(&d.weights), w);
    d.to.buffer = elements_buffer(f, c->type, qn_array_count(&d.to), NULL);
    if (c->bias) d.bias.buffer = elements_buffer(f, c->type, c->weights[0], bias);
    assert_ok(f->context, qn_convolve(f->kernels, NULL, &d));
    void *got = buffer_contents(f, d.to.buffer);
    uint64_t at[QN_MAX_RANK] = {0};
    const double terms = (double)(c->weights[1] * c->weights[2] * c->weights[3] + 2);
    do {
        double size = 1;
        const double wanted = sum_at(c, &d.from, x, &d.weights, w, at, &size) +
                              (c->bias ? element_get(c->type, bias, at[1]) : 0);
        const double bound = size * terms * (c->type == QN_F64 ? 0x1p-53 : 0x1p-24) +
                             fabs(wanted) * element_epsilon(c->type) * 2;
        const double result = element_get(c->type, got, element_place(&d.to, at));
        if (!(fabs(result - wanted) <= bound))
            fail_msg("seed %u: (%llu, %llu, %llu, %llu) is %.9g, not %.9g", seed, (unsigned long long)at[0],
                     (unsigned long long)at[1], (unsigned long long)at[2], (unsigned long long)at[3], result,
                     wanted);
    } while (next_index(&d.to, at));
    free(x), free(w), free(bias), free(got);
    qn_buffer_destroy(d.from.buffer), qn_buffer_destroy(d.weights.buffer), qn_buffer_destroy(d.to.buffer);
    qn_buffer_destroy(d.bias.buffer);
}

static void images_are_convolved(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    const convolve_case cases[] = {
        {.type = QN_F32, .from = {2, 3, 7, 9}, .weights = {4, 3, 3, 3}, .padding = {1, 1}, .bias = true},
        {.type = QN_F32,
         .from = {2, 8, 9, 7},
         .weights = {20, 8, 3, 3},
         .padding = {1, 1},
         .channels_last = true},
        {.type = QN_F32,
         .from = {1, 6, 15, 12},
         .weights = {36, 3, 3, 5},
         .stride = {2, 1},
         .padding = {0, 2},
         .groups = 2,
         .bias = true},
        {.type = QN_F32, .from = {3, 17, 5, 5}, .weights = {70, 17, 1, 1}},
        {.type = QN_F32,
         .from = {2, 6, 10, 10},
         .weights = {6, 1, 3, 3},
         .dilation = {2, 3},
         .padding = {1, 4},
         .groups = 6},
        {.type = QN_F16, .from = {1, 16, 6, 6}, .weights = {16, 16, 3, 3}, .padding = {1, 1}, .bias = true},
        {.type = QN_BF16, .from = {1, 4, 6, 6}, .weights = {5, 4, 2, 2}, .channels_last = true},
        {.type = QN_F64, .from = {1, 5, 6, 6}, .weights = {16, 5, 2, 2}, .stride = {3, 2}},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) check_convolve(&f, &cases[i], i + 1);
    end_kernels(&f);
}

static void wrong_convolutions_are_refused(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    qn_buffer *a = elements_buffer(&f, QN_F32, 1000, NULL), *b = elements_buffer(&f, QN_F32, 1000, NULL),
              *c = elements_buffer(&f, QN_F32, 1000, NULL);
    const qn_array x = QN_ARRAY(a, QN_F32, 1, 4, 5, 5), w = QN_ARRAY(b, QN_F32, 6, 4, 3, 3),
                   y = QN_ARRAY(c, QN_F32, 1, 6, 3, 3);
    const struct {
        qn_convolve_desc desc;
        const char *message;
    } cases[] = {
        {{.from = x, .weights = w, .to = y, .stride = {2}}, "qn_convolve: to is 1x6x3x3; it must be 1x6x2x3"},
        {{.from = x, .weights = w, .to = y, .groups = 2},
         "in 2 groups weights must have 2 times fewer channels"},
        {{.from = QN_ARRAY(a, QN_F32, 4, 5, 5), .weights = w, .to = y}, "have 3, 4 and 4 dimensions"},
        {{.from = x, .weights = w, .to = QN_ARRAY(c, QN_I32, 1, 6, 3, 3)},
         "weights and to are f32, f32 and i32"},
        {{.from = x, .weights = w, .to = y, .bias = QN_ARRAY(b, QN_F32, 5)}, "bias is 5; it must be 6"},
        {{.from = x, .weights = w, .to = y, .dilation = {3}}, "it must be 1x6x0x3"},
        {{.from = x, .weights = w, .to = QN_ARRAY(a, QN_F32, 1, 6, 3, 3)}, "to and from share memory"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fails(f.context, qn_convolve(f.kernels, NULL, &cases[i].desc), QN_ERROR_ARGUMENT,
                     cases[i].message);
    assert_fails(f.context, qn_convolve(f.kernels, NULL, NULL), QN_ERROR_NULL, "qn_convolve: desc is NULL");
    qn_buffer_destroy(a), qn_buffer_destroy(b), qn_buffer_destroy(c);
    end_kernels(&f);
}

static uint64_t clamped(int64_t at, uint64_t size) {
    return at < 0 ? 0 : at < (int64_t)size ? (uint64_t)at : size - 1;
}

static void check_blur(kernels_fixture *f, qn_element type, const uint64_t sizes[3], uint64_t taps,
                       bool transposed, uint32_t seed) {
    if (!has_type(f, type)) return;
    qn_array from = QN_ARRAY(NULL, type, sizes[0], sizes[1], sizes[2]), to = from;
    if (transposed) {
        from = qn_array_transpose(QN_ARRAY(NULL, type, sizes[0], sizes[2], sizes[1]), 1, 2);
        to = qn_array_transpose(QN_ARRAY(NULL, type, sizes[1], sizes[0], sizes[2]), 0, 1);
    }
    const uint64_t count = qn_array_count(&from);
    void *x = random_elements(type, count, 0, 200, seed);
    float *w = random_elements(QN_F32, taps, 0, 2 / (double)taps, seed + 1);
    qn_buffer *weights = elements_buffer(f, QN_F32, taps, w);
    from.buffer = elements_buffer(f, type, count, x);
    to.buffer = elements_buffer(f, type, count, NULL);
    assert_ok(f->context,
              qn_blur(f->kernels, NULL,
                      &(qn_blur_desc){.from = from, .weights = QN_ARRAY(weights, QN_F32, taps), .to = to}));
    void *got = buffer_contents(f, to.buffer);
    const int64_t radius = (int64_t)taps / 2;
    uint64_t at[QN_MAX_RANK] = {0};
    do {
        double wanted = 0;
        for (int64_t r = -radius; r <= radius; r++)
            for (int64_t c = -radius; c <= radius; c++) {
                const uint64_t in[QN_MAX_RANK] = {at[0], clamped((int64_t)at[1] + r, sizes[1]),
                                                  clamped((int64_t)at[2] + c, sizes[2])};
                wanted +=
                    (double)w[r + radius] * w[c + radius] * element_get(type, x, element_place(&from, in));
            }
        const bool whole = element_epsilon(type) == 0;
        if (type == QN_U8 && wanted > 255) wanted = 255;
        const double bound =
            fabs(wanted) * (2 * element_epsilon(type) + 4 * (double)taps * 0x1p-24) + (whole ? 0.501 : 0);
        const double result = element_get(type, got, element_place(&to, at));
        if (!(fabs(result - wanted) <= bound))
            fail_msg("%s: (%llu, %llu, %llu) is %.9g, not %.9g", qn_element_name(type),
                     (unsigned long long)at[0], (unsigned long long)at[1], (unsigned long long)at[2], result,
                     wanted);
    } while (next_index(&to, at));
    free(x), free(w), free(got);
    qn_buffer_destroy(from.buffer), qn_buffer_destroy(to.buffer), qn_buffer_destroy(weights);
}

static void images_are_blurred(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    check_blur(&f, QN_F32, (const uint64_t[]){1, 33, 47}, 5, false, 1);
    check_blur(&f, QN_U8, (const uint64_t[]){3, 20, 31}, 7, false, 2);
    check_blur(&f, QN_F16, (const uint64_t[]){2, 9, 8}, 3, true, 3);
    check_blur(&f, QN_F32, (const uint64_t[]){2, 2, 3}, 9, true, 4); /* wider than the image */
    check_blur(&f, QN_F64, (const uint64_t[]){1, 1, 5}, 1, false, 5);
    end_kernels(&f);
}

static void wrong_blurs_are_refused(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    qn_buffer *a = elements_buffer(&f, QN_F32, 100, NULL), *b = elements_buffer(&f, QN_F32, 100, NULL),
              *c = elements_buffer(&f, QN_F32, 100, NULL);
    const qn_array x = QN_ARRAY(a, QN_F32, 5, 5), w = QN_ARRAY(b, QN_F32, 3), y = QN_ARRAY(c, QN_F32, 5, 5);
    const struct {
        qn_blur_desc desc;
        const char *message;
    } cases[] = {
        {{.from = x, .weights = QN_ARRAY(b, QN_F32, 4), .to = y},
         "qn_blur: weights is 4 of f32; it must be an odd number of f32"},
        {{.from = x, .weights = QN_ARRAY(b, QN_F16, 3), .to = y}, "weights is 3 of f16"},
        {{.from = x, .weights = w, .to = QN_ARRAY(c, QN_F32, 5, 4)}, "to is 5x4 and from is 5x5"},
        {{.from = QN_ARRAY(a, QN_F32, 25), .weights = w, .to = QN_ARRAY(c, QN_F32, 25)},
         "of at least two dimensions"},
        {{.from = x, .weights = w, .to = QN_ARRAY(c, QN_I32, 5, 5)}, "from.type and to.type are f32 and i32"},
        {{.from = x, .weights = w, .to = x}, "to and from share memory"},
        {{.from = x, .weights = QN_ARRAY(c, QN_F32, 3), .to = y}, "to and weights share memory"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fails(f.context, qn_blur(f.kernels, NULL, &cases[i].desc), QN_ERROR_ARGUMENT,
                     cases[i].message);
    assert_fails(f.context, qn_blur(f.kernels, NULL, NULL), QN_ERROR_NULL, "qn_blur: desc is NULL");
    qn_buffer_destroy(a), qn_buffer_destroy(b), qn_buffer_destroy(c);
    end_kernels(&f);
}

int main(void) {
    if (device_is_missing()) return TEST_SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_are_convolved),
        cmocka_unit_test(wrong_convolutions_are_refused),
        cmocka_unit_test(images_are_blurred),
        cmocka_unit_test(wrong_blurs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
