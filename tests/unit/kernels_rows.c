/* qn_kernels_softmax, qn_kernels_layer_norm, qn_kernels_rms_norm and their gradients against double precision: rows that are kept in registers and rows that are
   read again, types, strides, and what is refused. */
#include "kernels_common.h"

typedef enum operation { SOFTMAX, LOG_SOFTMAX, BACKWARD, LOG_BACKWARD, LAYER_NORM, RMS_NORM } operation;

typedef struct shape {
    qn_element from, to;
    uint64_t rows, length;
    bool strided; /* columns of a matrix of more, backwards */
} shape;

static const shape shapes[] = {
    {QN_F32, QN_F32, 7, 1, false},      {QN_F32, QN_F32, 5, 100, false},
    {QN_F32, QN_F32, 3, 1001, false},   {QN_F32, QN_F32, 9, 4096, false},
    {QN_BF16, QN_BF16, 4, 768, false},  {QN_F16, QN_F32, 3, 50, true},
    {QN_F32, QN_BF16, 2, 20000, false}, {QN_F64, QN_F64, 3, 130, false},
    {QN_F32, QN_F32, 2, 17001, true},   {QN_F32, QN_F32, 135, 60, false},
    {QN_F32, QN_BF16, 70, 9, false},    {QN_BF16, QN_F32, 40, 128, false}, /* short rows */
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
    return o == SOFTMAX || o == LOG_SOFTMAX     ? qn_kernels_softmax(f->kernels, NULL, &forward)
           : o == BACKWARD || o == LOG_BACKWARD ? qn_kernels_softmax_backward(f->kernels, NULL, &back)
           : o == LAYER_NORM                    ? qn_kernels_layer_norm(f->kernels, NULL, &n)
                                                : qn_kernels_rms_norm(f->kernels, NULL, &n);
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

/* ---- gradients of norms ---- */

typedef struct gradient_case {
    bool layer;
    qn_element from, gradient, to;
    uint64_t rows, length;
    bool weighted, strided, sums;
} gradient_case;

static const gradient_case gradient_cases[] = {
    {true, QN_F32, QN_F32, QN_F32, 5, 1, true, false, true},
    {true, QN_F32, QN_F32, QN_F32, 700, 37, true, false,
     true}, /* more rows than work-groups, where there are few */
    {false, QN_F32, QN_F32, QN_F32, 61, 1024, false, false, true},
    {true, QN_BF16, QN_F32, QN_BF16, 40, 768, true, false, true},
    {false, QN_F16, QN_F16, QN_F32, 6, 130, true, true, true},
    {true, QN_F32, QN_F32, QN_F32, 3, 20001, true, false, true}, /* beyond what registers hold */
    {false, QN_F32, QN_F32, QN_F32, 2, 20000, true, false, false},
    {true, QN_F64, QN_F64, QN_F64, 9, 200, true, false, true},
};

typedef struct gradients {
    double *to, *weight, *bias; /* rows x length, length, length */
} gradients;

/* As the definition has it, row by row: with h = (x - mean) / deviation, g = gradient * weight: (g - mean of g - h * mean of g h) /
   deviation; for RMS norm without the means of x and g. */
static void add_row_gradients(const gradient_case *c, const double *x, const double *dy, double *dx,
                              gradients *out) {
    const double n = (double)c->length, epsilon = c->layer ? 1e-5 : 1e-3;
    double mean = 0, squares = 0, all = 0, dot = 0;
    for (uint64_t i = 0; c->layer && i < c->length; i++) mean += x[i] / n;
    for (uint64_t i = 0; i < c->length; i++) squares += (x[i] - mean) * (x[i] - mean) / n;
    const double deviation = sqrt(squares + epsilon);
    for (uint64_t i = 0; i < c->length; i++) {
        const double h = (x[i] - mean) / deviation, g = dy[i] * (c->weighted ? weight_of(i) : 1);
        dot += g * h / n;
        if (c->layer) all += g / n;
        out->weight[i] += dy[i] * h;
        out->bias[i] += dy[i];
    }
    for (uint64_t i = 0; i < c->length; i++)
        dx[i] =
            (dy[i] * (c->weighted ? weight_of(i) : 1) - all - (x[i] - mean) / deviation * dot) / deviation;
}

static gradients expect_gradients(const gradient_case *c, const void *x, const qn_array *from, const void *dy,
                                  const qn_array *gradient) {
    gradients out = {calloc(c->rows * c->length, sizeof(double)), calloc(c->length, sizeof(double)),
                     calloc(c->length, sizeof(double))};
    double *row = calloc(c->length, sizeof(double)), *by_row = calloc(c->length, sizeof(double));
    for (uint64_t r = 0; r < c->rows; r++) {
        for (uint64_t i = 0; i < c->length; i++) {
            const uint64_t index[QN_MAX_RANK] = {r, i};
            row[i] = element_get(c->from, x, element_place(from, index));
            by_row[i] = element_get(c->gradient, dy, element_place(gradient, index));
        }
        add_row_gradients(c, row, by_row, out.to + r * c->length, &out);
    }
    free(row), free(by_row);
    return out;
}

/* Within the type's rounding and a part of the largest number. */
static void check_numbers(const char *what, size_t number, qn_element type, const void *got,
                          const qn_array *array, const double *wanted, double part) {
    uint64_t index[QN_MAX_RANK] = {0}, i = 0;
    double largest = 0;
    for (uint64_t n = 0; n < qn_array_count(array); n++) largest = fmax(largest, fabs(wanted[n]));
    do {
        const double value = element_get(type, got, element_place(array, index));
        const double bound = element_epsilon(type) * fabs(wanted[i]) + part * largest + 1e-30;
        if (!(fabs(value - wanted[i]) <= bound))
            fail_msg("case %u: element %u of %s is %.9g, not %.9g", (unsigned)number, (unsigned)i, what,
                     value, wanted[i]);
        i++;
    } while (next_index(array, index));
}

static void check_gradients(kernels_fixture *f, const gradient_case *c) {
    if (!has_type(f, c->from)) return;
    const shape s = {c->from, c->to, c->rows, c->length, c->strided};
    const uint64_t room = (c->rows + 2) * c->length;
    void *x = random_elements(c->from, room, 1, 3, 21), *dy = random_elements(c->gradient, room, -1, 1, 22);
    float *w = malloc(c->length * sizeof *w);
    for (uint64_t i = 0; i < c->length; i++) w[i] = (float)weight_of(i);
    qn_norm_backward_desc d = {
        .from = view_of(elements_buffer(f, c->from, room, x), c->from, &s),
        .gradient = view_of(elements_buffer(f, c->gradient, room, dy), c->gradient, &s),
        .to = view_of(elements_buffer(f, c->to, room, NULL), c->to, &s),
        .weight = QN_ARRAY(elements_buffer(f, QN_F32, c->length, w), QN_F32, c->length),
        .to_weight = QN_ARRAY(elements_buffer(f, c->to, c->length, NULL), c->to, c->length),
        .to_bias = QN_ARRAY(elements_buffer(f, QN_F32, c->length, NULL), QN_F32, c->length),
        .epsilon = c->layer ? 0 : 1e-3};
    qn_norm_backward_desc given = d;
    if (!c->weighted) given.weight = (qn_array){0};
    if (!c->sums) given.to_weight = given.to_bias = (qn_array){0};
    assert_ok(f->context, c->layer ? qn_kernels_layer_norm_backward(f->kernels, NULL, &given)
                                   : qn_kernels_rms_norm_backward(f->kernels, NULL, &given));
    gradients wanted = expect_gradients(c, x, &d.from, dy, &d.gradient);
    void *to = buffer_contents(f, d.to.buffer), *to_weight = buffer_contents(f, d.to_weight.buffer),
         *to_bias = buffer_contents(f, d.to_bias.buffer);
    const double part = c->from == QN_F64 ? 1e-13 : 4e-6;
    const size_t number = (size_t)(c - gradient_cases);
    if (!c->sums)
        memset(wanted.weight, 0, c->length * sizeof(double)),
            memset(wanted.bias, 0, c->length * sizeof(double));
    check_numbers("to", number, c->to, to, &d.to, wanted.to, part);
    check_numbers("to_weight", number, c->to, to_weight, &d.to_weight, wanted.weight, part);
    check_numbers("to_bias", number, QN_F32, to_bias, &d.to_bias, wanted.bias, 4e-6);
    free(x), free(dy), free(w), free(to), free(to_weight), free(to_bias);
    free(wanted.to), free(wanted.weight), free(wanted.bias);
    qn_buffer_destroy(d.from.buffer), qn_buffer_destroy(d.gradient.buffer), qn_buffer_destroy(d.to.buffer);
    qn_buffer_destroy(d.weight.buffer), qn_buffer_destroy(d.to_weight.buffer),
        qn_buffer_destroy(d.to_bias.buffer);
}

static void gradients_of_norms(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    for (size_t i = 0; i < sizeof gradient_cases / sizeof *gradient_cases; i++)
        check_gradients(&f, &gradient_cases[i]);
    end_kernels(&f);
}

/* Sums over no rows are 0. */
static void gradients_of_no_rows(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    const float ones[5] = {1, 1, 1, 1, 1};
    float got[5];
    qn_buffer *out = make_buffer(f.device, sizeof ones, ones);
    const qn_array none = {.type = QN_F32, .rank = 2, .sizes = {0, 5}};
    const qn_norm_backward_desc d = {
        .to = none, .from = none, .gradient = none, .to_weight = QN_ARRAY(out, QN_F32, 5)};
    assert_ok(f.context, qn_kernels_layer_norm_backward(f.kernels, NULL, &d));
    assert_ok(f.context, qn_buffer_read(out, 0, got, sizeof got));
    for (int i = 0; i < 5; i++) assert_true(got[i] == 0);
    end_kernels(&f);
}

/* Large numbers do not overflow, and what is -infinity gets nothing. */
static void softmax_of_what_overflows(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    const float x[4] = {1000, -INFINITY, 1000, -1000}, wanted[4] = {0.5f, 0, 0.5f, 0};
    float got[4];
    qn_buffer *in = make_buffer(f.device, sizeof x, x), *out = make_buffer(f.device, sizeof x, NULL);
    assert_ok(f.context, qn_kernels_softmax(f.kernels, NULL,
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
        assert_fails(f.context, qn_kernels_rms_norm(f.kernels, NULL, &d), cases[i].status, cases[i].message);
    }
    assert_fails(f.context, qn_kernels_softmax(f.kernels, NULL, NULL), QN_ERROR_NULL,
                 "qn_kernels_softmax: desc is NULL");
    qn_buffer *gone = elements_buffer(&f, QN_F32, 64, NULL);
    qn_buffer_destroy(gone);
    assert_fails(f.context,
                 qn_kernels_softmax(f.kernels, NULL,
                                    &(qn_softmax_desc){.to = QN_ARRAY(gone, QN_F32, 4, 5), .from = from}),
                 QN_ERROR_DESTROYED, "qn_kernels_softmax: to.buffer has been destroyed");
    assert_fails(
        f.context,
        qn_kernels_softmax_backward(f.kernels, NULL, &(qn_softmax_backward_desc){.to = to, .result = from}),
        QN_ERROR_NULL, "gradient.buffer is NULL");
    const qn_array backward_to = QN_ARRAY(elements_buffer(&f, QN_F32, 64, NULL), QN_F32, 4, 5);
    const struct {
        qn_array to_weight, to_bias;
        qn_status status;
        const char *message;
    } sums[] = {
        {QN_ARRAY(x, QN_F32, 4), none, QN_ERROR_ARGUMENT, "to_weight (4) is not one dimension of 5"},
        {QN_ARRAY(x, QN_F32, 5), none, QN_ERROR_ARGUMENT, "to_weight and from share memory"},
        {none, QN_ARRAY(x, QN_I32, 5), QN_ERROR_ARGUMENT, "to_bias is of i32; it has to be of a float type"},
        {none, QN_ARRAY(x, QN_F32, 65), QN_ERROR_RANGE, "to_bias (65 of f32) reaches"},
    };
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        const qn_norm_backward_desc d = {.to = backward_to,
                                         .from = from,
                                         .gradient = to,
                                         .to_weight = sums[i].to_weight,
                                         .to_bias = sums[i].to_bias};
        assert_fails(f.context, qn_kernels_layer_norm_backward(f.kernels, NULL, &d), sums[i].status,
                     sums[i].message);
    }
    assert_fails(f.context, qn_kernels_rms_norm_backward(f.kernels, NULL, NULL), QN_ERROR_NULL,
                 "qn_kernels_rms_norm_backward: desc is NULL");
    const qn_array empty = {.rank = 2, .sizes = {0, 5}};
    assert_ok(f.context, qn_kernels_softmax(f.kernels, NULL, &(qn_softmax_desc){.to = empty, .from = empty}));
    end_kernels(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax_of_rows),         cmocka_unit_test(gradients_of_softmax),
        cmocka_unit_test(norms_of_rows),           cmocka_unit_test(gradients_of_norms),
        cmocka_unit_test(gradients_of_no_rows),    cmocka_unit_test(softmax_of_what_overflows),
        cmocka_unit_test(wrong_calls_are_refused),
    };
    return run_device_tests(tests);
}
