/* qn_kernels_reduce: every operation against double precision, over rows, columns, several axes and everything; long enough for two
   stages; the same bits each time; what is refused. */
#include "kernels_common.h"

#include <float.h>

/* Reduces the elements that belong to one result. */
typedef struct gathered {
    double sum, squares, product, max, min;
    uint64_t count, at_max, at_min, non_zero;
} gathered;

static void take(gathered *g, double v) {
    if (g->count == 0) *g = (gathered){.product = 1, .max = v, .min = v};
    if (v > g->max) g->max = v, g->at_max = g->count;
    if (v < g->min) g->min = v, g->at_min = g->count;
    g->sum += v;
    g->squares += v * v;
    g->product *= v;
    g->non_zero += v != 0;
    g->count++;
}

static double result_of(const gathered *g, qn_reduce_operation operation) {
    switch (operation) {
    case QN_REDUCE_MEAN: return g->sum / (double)g->count;
    case QN_REDUCE_PRODUCT: return g->product;
    case QN_REDUCE_MAX: return g->max;
    case QN_REDUCE_MIN: return g->min;
    case QN_REDUCE_ARGMAX: return (double)g->at_max;
    case QN_REDUCE_ARGMIN: return (double)g->at_min;
    case QN_REDUCE_NORM2: return sqrt(g->squares);
    case QN_REDUCE_ANY: return g->non_zero > 0;
    case QN_REDUCE_ALL: return g->non_zero == g->count;
    default: return g->sum;
    }
}

typedef struct shape {
    qn_reduce_operation operation;
    qn_element from, to;
    uint32_t axes;
    uint64_t sizes[3];
    uint32_t
        layout; /* 1: columns first; 2: every second element, backwards; 4: begins at element 1; 8: keeps sizes of 1 */
    double low, high;
} shape;

static qn_array input_of(const shape *s, uint64_t *count) {
    qn_array a = {.type = s->from, .rank = 3};
    memcpy(a.sizes, s->sizes, sizeof s->sizes);
    const int64_t gap = s->layout & 2 ? 2 : 1;
    a.strides[2] = gap;
    a.strides[1] = gap * (int64_t)a.sizes[2];
    a.strides[0] = gap * (int64_t)(a.sizes[1] * a.sizes[2]);
    *count = (uint64_t)gap * qn_array_count(&a) + 2;
    if (s->layout & 1) { /* the same memory with its dimensions turned round */
        a.strides[2] = gap * (int64_t)(a.sizes[1] * a.sizes[0]);
        a.strides[1] = gap * (int64_t)a.sizes[0];
        a.strides[0] = gap;
    }
    if (s->layout & 2) {
        a.offset = (a.sizes[2] - 1) * (uint64_t)a.strides[2];
        a.strides[2] = -a.strides[2];
    }
    if (s->layout & 4) a.offset++;
    return a;
}

/* The sizes of `to`, and for each dimension of `from` the one of `to`, or 3. */
static qn_array output_of(const shape *s, uint32_t place[3]) {
    qn_array a = {.type = s->to};
    const uint32_t axes = s->axes ? s->axes : 7;
    for (uint32_t d = 0; d < 3; d++) {
        const bool reduced = axes >> d & 1;
        place[d] = reduced ? 3 : a.rank;
        if (!reduced || s->layout & 8) a.sizes[a.rank++] = reduced ? 1 : s->sizes[d];
    }
    return a;
}

static double bound_of(const shape *s, const gathered *g, double wanted) {
    const double single = s->from == QN_F64 ? 0x1p-50 : 0x1p-22, out = element_epsilon(s->to) * fabs(wanted);
    switch (s->operation) {
    case QN_REDUCE_SUM:
    case QN_REDUCE_NORM2:
    case QN_REDUCE_MEAN:
    case QN_REDUCE_PRODUCT:
        return element_epsilon(s->from) + element_epsilon(s->to) > 0
                   ? out + single * (s->operation == QN_REDUCE_SUM ? sqrt((double)g->count * g->squares) + 1
                                                                   : 8 * fabs(wanted) + single)
                   : 0;
    default: return out;
    }
}

static void check_results(const shape *s, const qn_array *from, const void *source, const qn_array *to,
                          const void *got, const uint32_t place[3]) {
    gathered *all = calloc(qn_array_count(to), sizeof *all);
    uint64_t index[QN_MAX_RANK] = {0};
    do {
        uint64_t at[QN_MAX_RANK] = {0};
        for (uint32_t d = 0; d < 3; d++)
            if (place[d] < 3) at[place[d]] = index[d];
        take(&all[element_place(to, at)], element_get(s->from, source, element_place(from, index)));
    } while (next_index(from, index));
    for (uint64_t i = 0; i < qn_array_count(to); i++) {
        const double wanted = result_of(&all[i], s->operation), value = element_get(s->to, got, i);
        if (!(fabs(value - wanted) <= bound_of(s, &all[i], wanted)))
            fail_msg(
                "operation %d of %s, axes 0x%x of %llux%llux%llu, layout %u: result %llu is %.9g, not %.9g",
                (int)s->operation, qn_element_name(s->from), (unsigned)s->axes,
                (unsigned long long)s->sizes[0], (unsigned long long)s->sizes[1],
                (unsigned long long)s->sizes[2], (unsigned)s->layout, (unsigned long long)i, value, wanted);
    }
    free(all);
}

static void check_shape(kernels_fixture *f, const shape *s) {
    if (!has_type(f, s->from) || !has_type(f, s->to)) return;
    uint64_t count;
    uint32_t place[3];
    qn_array from = input_of(s, &count), to = output_of(s, place);
    void *source = random_elements(s->from, count, s->low, s->high, 3);
    from.buffer = elements_buffer(f, s->from, count, source);
    to.buffer = elements_buffer(f, s->to, qn_array_count(&to), NULL);
    const qn_reduce_desc d = {.operation = s->operation, .axes = s->axes, .to = to, .from = from};
    assert_ok(f->context, qn_kernels_reduce(f->kernels, NULL, &d));
    void *got = buffer_contents(f, to.buffer);
    check_results(s, &from, source, &to, got, place);
    assert_ok(f->context, qn_kernels_reduce(f->kernels, NULL, &d));
    void *again = buffer_contents(f, to.buffer);
    assert_memory_equal(got, again, qn_array_count(&to) * qn_element_size(s->to));
    free(source), free(got), free(again);
    qn_buffer_destroy(from.buffer);
    qn_buffer_destroy(to.buffer);
}

static void every_operation_over_all_kinds_of_axes(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    static const shape shapes[] = {
        {QN_REDUCE_SUM, QN_F32, QN_F32, 0, {1, 1, 1}, 0, -1, 1},
        {QN_REDUCE_SUM, QN_F32, QN_F32, 0, {3, 101, 1001}, 0, -1, 1},
        {QN_REDUCE_SUM, QN_F32, QN_F32, 4, {3, 5, 1024}, 0, -1, 1},
        {QN_REDUCE_SUM, QN_F32, QN_F32, 4, {3, 50, 7}, 8, -1, 1},
        {QN_REDUCE_SUM, QN_F32, QN_F64, 1, {700, 3, 41}, 0, -1, 1},
        {QN_REDUCE_MEAN, QN_BF16, QN_BF16, 4, {2, 9, 4096}, 0, -1, 2},
        {QN_REDUCE_MEAN, QN_I8, QN_F32, 5, {11, 3, 70}, 8, -90, 100},
        {QN_REDUCE_PRODUCT, QN_F32, QN_F32, 2, {3, 20, 33}, 0, 0.5, 1.6},
        {QN_REDUCE_PRODUCT, QN_I16, QN_I64, 4, {2, 2, 9}, 0, 1, 9},
        {QN_REDUCE_MAX, QN_F16, QN_F32, 6, {4, 30, 64}, 0, -9, 9},
        {QN_REDUCE_MAX, QN_U8, QN_U8, 0, {5, 31, 37}, 6, 0, 250},
        {QN_REDUCE_MIN, QN_E5M2, QN_E5M2, 3, {12, 13, 40}, 0, -9, 9},
        {QN_REDUCE_MIN, QN_I32, QN_I32, 4, {2, 2, 3000}, 1, -90000, 90000},
        {QN_REDUCE_ARGMAX, QN_F32, QN_I32, 4, {3, 2, 5000}, 0, -1, 1},
        {QN_REDUCE_ARGMAX, QN_F32, QN_I64, 0, {40, 30, 50}, 1, -1, 1},
        {QN_REDUCE_ARGMAX, QN_I8, QN_I32, 6, {3, 50, 90}, 2, -20, 20},
        {QN_REDUCE_ARGMIN, QN_BF16, QN_U32, 1, {300, 1, 66}, 0, -1, 1},
        {QN_REDUCE_NORM2, QN_F32, QN_F32, 0, {7, 40, 300}, 4, -1, 1},
        {QN_REDUCE_NORM2, QN_F64, QN_F64, 4, {7, 4, 300}, 0, -1, 1},
        {QN_REDUCE_SUM, QN_F64, QN_F64, 2, {2, 600, 5}, 2, -1, 1},
        {QN_REDUCE_SUM, QN_F32, QN_F32, 2, {2, 700, 132}, 0, -1, 1}, /* results that are neighbours */
        {QN_REDUCE_ARGMAX, QN_F32, QN_I32, 1, {300, 2, 132}, 0, -1, 1},
        {QN_REDUCE_MEAN, QN_BF16, QN_F32, 3, {30, 20, 260}, 0, -1, 1},
        {QN_REDUCE_SUM, QN_F32, QN_F32, 2, {2, 70, 132}, 4, -1, 1},
        {QN_REDUCE_MAX, QN_F32, QN_F32, 2, {2, 70, 133}, 0, -1, 1},
        {QN_REDUCE_SUM, QN_BOOL, QN_I32, 4, {3, 4, 777}, 0, 0, 2},
        {QN_REDUCE_SUM, QN_U16, QN_U64, 0, {30, 40, 77}, 0, 0, 65535},
        {QN_REDUCE_SUM, QN_F32, QN_F32, 4, {2, 1, 140001}, 1, -1, 1}, /* pieces of rows and of columns */
        {QN_REDUCE_ARGMIN, QN_F64, QN_I64, 0, {2, 1, 140001}, 1, -1, 1},
        {QN_REDUCE_SUM, QN_F32, QN_F32, 2, {1, 3001, 77}, 1, -1, 1},
        {QN_REDUCE_ARGMAX, QN_I32, QN_I32, 2, {2, 1025, 17}, 0, -90000, 90000},
        {QN_REDUCE_ANY, QN_BOOL, QN_BOOL, 4, {3, 40, 3}, 0, 0, 1.3},
        {QN_REDUCE_ALL, QN_F32, QN_BOOL, 4, {3, 40, 9}, 0, 0.5, 1},
    };
    const size_t step = testing("opencl") ? 3 : 1;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i += step) check_shape(&f, &shapes[i]);
    end_kernels(&f);
}

static float reduce_few(kernels_fixture *f, qn_reduce_operation operation, qn_buffer *in, uint32_t count) {
    qn_buffer *out = make_buffer(f->device, 4, NULL);
    float got;
    assert_ok(f->context, qn_kernels_reduce(f->kernels, NULL,
                                            &(qn_reduce_desc){.operation = operation,
                                                              .to = {out, 0, QN_F32, 0, {0}, {0}},
                                                              .from = QN_ARRAY(in, QN_F32, count)}));
    assert_ok(f->context, qn_buffer_read(out, 0, &got, 4));
    qn_buffer_destroy(out);
    return got;
}

static void nans_infinities_and_nothing(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    const float x[5] = {NAN, -INFINITY, 3, 3, NAN};
    qn_buffer *in = make_buffer(f.device, sizeof x, x);
    assert_true(reduce_few(&f, QN_REDUCE_MAX, in, 5) == 3);
    assert_true(reduce_few(&f, QN_REDUCE_MIN, in, 5) == -INFINITY);
    assert_true(reduce_few(&f, QN_REDUCE_ARGMAX, in, 5) == 2);
    assert_true(reduce_few(&f, QN_REDUCE_ARGMIN, in, 5) == 1);
    assert_true(isnan(reduce_few(&f, QN_REDUCE_SUM, in, 5)));
    assert_true(isnan(reduce_few(&f, QN_REDUCE_MAX, in, 1)));
    assert_true(reduce_few(&f, QN_REDUCE_ARGMAX, in, 1) == 0);
    assert_true(reduce_few(&f, QN_REDUCE_SUM, in, 0) == 0);
    assert_true(reduce_few(&f, QN_REDUCE_PRODUCT, in, 0) == 1);
    assert_true(reduce_few(&f, QN_REDUCE_ALL, in, 0) == 1);
    assert_true(isnan(reduce_few(&f, QN_REDUCE_MEAN, in, 0)));
    end_kernels(&f);
}

/* The same where vectors of elements are compared: all but a few are NaN, or no better than what one begins with. */
static void numbers_that_are_none_among_many(void **state) {
    (void)state;
    enum { ROWS = 200, COLUMNS = 80 };
    static float x[ROWS * COLUMNS];
    kernels_fixture f = make_kernels_quickly();
    for (int i = 0; i < ROWS * COLUMNS; i++) x[i] = i % 3 ? NAN : -INFINITY;
    qn_buffer *in = elements_buffer(&f, QN_F32, ROWS * COLUMNS, x),
              *out = elements_buffer(&f, QN_F32, ROWS, NULL),
              *where = elements_buffer(&f, QN_I32, ROWS, NULL);
    const qn_array from = QN_ARRAY(in, QN_F32, ROWS, COLUMNS);
    for (uint32_t axes = 1; axes <= 2; axes++) {
        const uint64_t results = axes == 1 ? COLUMNS : ROWS;
        const qn_reduce_desc largest = {QN_REDUCE_MAX, axes, QN_ARRAY(out, QN_F32, results), from},
                             place = {QN_REDUCE_ARGMAX, axes, QN_ARRAY(where, QN_I32, results), from};
        assert_ok(f.context, qn_kernels_reduce(f.kernels, NULL, &largest));
        assert_ok(f.context, qn_kernels_reduce(f.kernels, NULL, &place));
        float *most = buffer_contents(&f, out);
        int *at = buffer_contents(&f, where);
        for (int i = 0; i < (int)results; i++) {
            const int first = axes == 1 ? i : i * COLUMNS, step = axes == 1 ? COLUMNS : 1;
            int wanted = 0;
            while (isnan(x[first + wanted * step])) wanted++;
            if (!isinf(most[i]) || most[i] > 0 || at[i] != wanted)
                fail_msg("axes %u, result %d: %g, %d instead of %d", axes, i, (double)most[i], at[i], wanted);
        }
        free(most), free(at);
    }
    qn_buffer_destroy(in), qn_buffer_destroy(out), qn_buffer_destroy(where);
    end_kernels(&f);
}

static void wrong_calls_are_refused(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    qn_buffer *x = elements_buffer(&f, QN_F32, 64, NULL), *y = elements_buffer(&f, QN_F32, 64, NULL);
    const qn_array from = QN_ARRAY(x, QN_F32, 4, 5), to = QN_ARRAY(y, QN_F32, 4);
    const struct {
        qn_reduce_desc d;
        qn_status status;
        const char *message;
    } cases[] = {
        {{.operation = (qn_reduce_operation)77, .to = to, .from = from},
         QN_ERROR_ARGUMENT,
         "operation is 77"},
        {{.axes = 4, .to = to, .from = from}, QN_ERROR_ARGUMENT, "axes is 0x4, but from has 2 dimensions"},
        {{.axes = 1, .to = to, .from = from}, QN_ERROR_ARGUMENT, "to (4) is not from (4x5) without axes 0x1"},
        {{.axes = 2, .to = QN_ARRAY(y, QN_F32, 4, 5), .from = from}, QN_ERROR_ARGUMENT, "to (4x5) is not"},
        {{.axes = 2, .to = QN_ARRAY(x, QN_F32, 4), .from = from}, QN_ERROR_ARGUMENT, "share memory"},
        {{.axes = 2, .to = to, .from = QN_ARRAY(x, QN_F32, 40, 5)}, QN_ERROR_RANGE, "from (40x5"},
        {{.operation = QN_REDUCE_MAX, .axes = 2, .to = to, .from = QN_ARRAY(x, QN_F32, 4, 0)},
         QN_ERROR_ARGUMENT,
         "has no elements, of which there is no max"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fails(f.context, qn_kernels_reduce(f.kernels, NULL, &cases[i].d), cases[i].status,
                     cases[i].message);
    assert_fails(f.context, qn_kernels_reduce(f.kernels, NULL, NULL), QN_ERROR_NULL, "desc is NULL");
    const qn_reduce_desc none = {.axes = 2, .to = QN_ARRAY(y, QN_F32, 0), .from = QN_ARRAY(x, QN_F32, 0, 5)};
    assert_ok(f.context, qn_kernels_reduce(f.kernels, NULL, &none));
    end_kernels(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_over_all_kinds_of_axes),
        cmocka_unit_test(nans_infinities_and_nothing),
        cmocka_unit_test(numbers_that_are_none_among_many),
        cmocka_unit_test(wrong_calls_are_refused),
    };
    return run_device_tests(tests);
}
