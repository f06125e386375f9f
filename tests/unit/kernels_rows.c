/* qn_softmax, its gradient, qn_layer_norm and qn_rms_norm against double precision: rows that are kept in registers and rows that are
   read again, types, strides, and what is refused. */
#include "kernels_common.h"

typedef enum operation { SOFTMAX, LOG_SOFTMAX, BACKWARD, LOG_BACKWARD, LAYER_NORM, RMS_NORM } operation;

typedef struct shape {
    qn_element from, to;
    uint64_t rows, length;
    bool strided; /* columns of a matrix of more, backwards */
} shape;

static const shape shapes[] = {
    {QN_F32, QN_F32, 7, 1, false},      {QN_F32, QN_F32, 5, 100, false},   {QN_F32, QN_F32, 3, 1001, false},
    {QN_F32, QN_F32, 9, 4096, false},   {QN_BF16, QN_BF16, 4, 768, false}, {QN_F16, QN_F32, 3, 50, true},
    {QN_F32, QN_BF16, 2, 20000, false}, {QN_F64, QN_F64, 3, 130, false},   {QN_F32, QN_F32, 2, 17001, true},
};

static double weight_of(uint64_t i) { return 0.5 + (double)(i % 5) * 0.25; }
static double bias_of(uint64_t i) { return (double)(i % 3) - 1; }

static void expect_row(operation o, const double *x, const double *g, double *out, uint64_t n) {
    double most = -INFINITY, sum = 0, all = 0, dot = 0, mean = 0, squares = 0;
    for (uint64_t i = 0; i < n; i++) most = fmax(most, x[i]), all += g[i], dot += g[i] * x[i], mean += x[i];
    for (uint64_t i = 0; i < n; i++) sum += exp(x[i] - most);
    mean = o == LAYER_NORM ? mean / (double)n : 0;
    for (uint64_t i = 0; i < n; i++) squares += (x[i] - mean) * (x[i] - mean);
    const double scale = 1 / sqrt(squares / (double)n + (o == LAYER_NORM ? 1e-5 : 1e-3));
    for (uint64_t i = 0; i < n; i++)
        out[i] = o == SOFTMAX        ? exp(x[i] - most) / sum
                 : o == LOG_SOFTMAX  ? x[i] - most - log(sum)
                 : o == BACKWARD     ? x[i] * (g[i] - dot)
                 : o == LOG_BACKWARD ? g[i] - exp(x[i]) * all
                                     : (x[i] - mean) * scale * weight_of(i) + bias_of(i);
}

static qn_array view_of(qn_buffer *buffer, qn_element type, const shape *s) {
    if (!s->strided) return QN_ARRAY(buffer, type, s->rows, s->length);
    const int64_t pitch =
        (int64_t)s->rows + 2; /* the last dimension goes down the columns, from the last row up */
    return (qn_array){buffer, (s->length - 1) * (uint64_t)pitch, type, 2, {s->rows, s->length}, {1, -pitch}};
}

static qn_status call(kernels_fixture *f, operation o, qn_array to, qn_array from, qn_array gradient,
                      qn_array weight, qn_array bias) {
    const qn_softmax_desc forward = {.to = to, .from = from, .log = o == LOG_SOFTMAX};
    const qn_softmax_backward_desc back = {
        .to = to, .result = from, .gradient = gradient, .log = o == LOG_BACKWARD};
    const qn_norm_desc n = {
        .to = to, .from = from, .weight = weight, .bias = bias, .epsilon = o == RMS_NORM ? 1e-3 : 0};
    return o == SOFTMAX || o == LOG_SOFTMAX     ? qn_softmax(f->kernels, NULL, &forward)
           : o == BACKWARD || o == LOG_BACKWARD ? qn_softmax_backward(f->kernels, NULL, &back)
           : o == LAYER_NORM                    ? qn_layer_norm(f->kernels, NULL, &n)
                                                : qn_rms_norm(f->kernels, NULL, &n);
}

static void check_shape(kernels_fixture *f, operation o, const shape *s) {
    if (!has_type(f, s->from)) return;
    const uint64_t room = (s->rows + 2) * s->length;
    const bool norm = o >= LAYER_NORM;
    const double low = norm ? 1 : o == BACKWARD ? 0 : -8, high = norm ? 3 : o >= BACKWARD ? 0.001 : 8;
    void *source = random_elements(s->from, room, low, high, 3),
         *other = random_elements(QN_F32, room, -1, 1, 4);
    double *x = malloc(s->length * sizeof *x), *g = malloc(s->length * sizeof *g),
           *wanted = malloc(s->length * sizeof *g);
    float *w = malloc(s->length * sizeof *w), *b = malloc(s->length * sizeof *b);
    for (uint64_t i = 0; i < s->length; i++) w[i] = (float)weight_of(i), b[i] = (float)bias_of(i);
    const qn_array from = view_of(elements_buffer(f, s->from, room, source), s->from, s),
                   gradient = view_of(elements_buffer(f, QN_F32, room, other), QN_F32, s),
                   to = view_of(elements_buffer(f, s->to, room, NULL), s->to, s),
                   weight = QN_ARRAY(elements_buffer(f, QN_F32, s->length, w), QN_F32, s->length),
                   bias = QN_ARRAY(elements_buffer(f, QN_F32, s->length, b), QN_F32, s->length);
    assert_ok(f->context, call(f, o, to, from, gradient, weight, bias));
    void *got = buffer_contents(f, to.buffer);
    for (uint64_t row = 0; row < s->rows; row++) {
        uint64_t index[QN_MAX_RANK] = {row};
        double largest = 0;
        for (uint64_t i = 0; i < s->length; i++) {
            index[1] = i;
            x[i] = element_get(s->from, source, element_place(&from, index));
            g[i] = element_get(QN_F32, other, element_place(&gradient, index));
        }
        expect_row(o, x, g, wanted, s->length);
        for (uint64_t i = 0; i < s->length; i++) largest = fmax(largest, fabs(wanted[i]));
        for (uint64_t i = 0; i < s->length; i++) {
            index[1] = i;
            const double value = element_get(s->to, got, element_place(&to, index));
            const double bound = element_epsilon(s->to) * fabs(wanted[i]) +
                                 (s->from == QN_F64 ? 1e-13 : 4e-6) * largest + 1e-30;
            if (!(fabs(value - wanted[i]) <= bound))
                fail_msg("operation %d, %s to %s, %u x %u: element %u of row %u is %.9g, not %.9g", (int)o,
                         qn_element_name(s->from), qn_element_name(s->to), (unsigned)s->rows,
                         (unsigned)s->length, (unsigned)i, (unsigned)row, value, wanted[i]);
        }
    }
    free(source), free(other), free(x), free(g), free(wanted), free(w), free(b), free(got);
    qn_buffer_destroy(from.buffer), qn_buffer_destroy(gradient.buffer), qn_buffer_destroy(to.buffer);
    qn_buffer_destroy(weight.buffer), qn_buffer_destroy(bias.buffer);
}

static void check_operations(operation first, operation last) {
    kernels_fixture f = make_kernels();
    for (int o = first; o <= (int)last; o++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            if (testing("cpu") || testing("cuda") || ((size_t)o + i) % 3 == 0)
                check_shape(&f, (operation)o, &shapes[i]);
    end_kernels(&f);
}

static void softmax_of_rows(void **state) {
    (void)state;
    check_operations(SOFTMAX, LOG_SOFTMAX);
}

static void gradients_of_softmax(void **state) {
    (void)state;
    check_operations(BACKWARD, LOG_BACKWARD);
}

static void norms_of_rows(void **state) {
    (void)state;
    check_operations(LAYER_NORM, RMS_NORM);
}

/* Large numbers do not overflow, and what is -infinity gets nothing. */
static void softmax_of_what_overflows(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    const float x[4] = {1000, -INFINITY, 1000, -1000}, wanted[4] = {0.5f, 0, 0.5f, 0};
    float got[4];
    qn_buffer *in = make_buffer(f.device, sizeof x, x), *out = make_buffer(f.device, sizeof x, NULL);
    assert_ok(f.context, qn_softmax(f.kernels, NULL,
                                    &(qn_softmax_desc){.to = QN_ARRAY(out, QN_F32, 4),
                                                       .from = QN_ARRAY(in, QN_F32, 4)}));
    assert_ok(f.context, qn_buffer_read(out, 0, got, sizeof got));
    assert_memory_equal(got, wanted, sizeof got);
    end_kernels(&f);
}

static void wrong_calls_are_refused(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    qn_buffer *x = elements_buffer(&f, QN_F32, 64, NULL), *y = elements_buffer(&f, QN_F32, 64, NULL);
    const qn_array to = QN_ARRAY(y, QN_F32, 4, 5), from = QN_ARRAY(x, QN_F32, 4, 5), none = {0};
    const struct {
        qn_array to, from, weight;
        double epsilon;
        qn_status status;
        const char *message;
    } cases[] = {
        {to, QN_ARRAY(x, QN_F32, 5, 4), none, 0, QN_ERROR_ARGUMENT,
         "from (5x4) is not of the shape of to (4x5)"},
        {to, QN_ARRAY(x, QN_I32, 4, 5), none, 0, QN_ERROR_ARGUMENT,
         "from is of i32; it has to be of a float type"},
        {to, QN_ARRAY(y, QN_F32, 4, 5), none, 0, QN_ERROR_ARGUMENT, "share memory"},
        {to, none, none, 0, QN_ERROR_NULL, "from.buffer is NULL"},
        {to, from, QN_ARRAY(x, QN_F32, 4), 0, QN_ERROR_ARGUMENT, "weight (4) is not one dimension of 5"},
        {to, from, none, -1, QN_ERROR_ARGUMENT, "epsilon is -1"},
        {{y, 0, QN_F32, 0, {0}, {0}},
         {x, 0, QN_F32, 0, {0}, {0}},
         none,
         0,
         QN_ERROR_ARGUMENT,
         "with a dimension at least"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const qn_norm_desc d = {
            .to = cases[i].to, .from = cases[i].from, .weight = cases[i].weight, .epsilon = cases[i].epsilon};
        assert_fails(f.context, qn_rms_norm(f.kernels, NULL, &d), cases[i].status, cases[i].message);
    }
    assert_fails(f.context, qn_softmax(f.kernels, NULL, NULL), QN_ERROR_NULL, "qn_softmax: desc is NULL");
    assert_fails(f.context,
                 qn_softmax_backward(f.kernels, NULL, &(qn_softmax_backward_desc){.to = to, .result = from}),
                 QN_ERROR_NULL, "gradient.buffer is NULL");
    const qn_array empty = {.rank = 2, .sizes = {0, 5}};
    assert_ok(f.context, qn_softmax(f.kernels, NULL, &(qn_softmax_desc){.to = empty, .from = empty}));
    end_kernels(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax_of_rows),         cmocka_unit_test(gradients_of_softmax),
        cmocka_unit_test(norms_of_rows),           cmocka_unit_test(softmax_of_what_overflows),
        cmocka_unit_test(wrong_calls_are_refused),
    };
    return run_device_tests(tests);
}
