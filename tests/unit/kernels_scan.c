/* qn_kernels_scan: every operation and type against double precision, both ways, along any dimension, in place, over rows that are cut into
   parts; the same bits each time; in graphs; what is refused. */
#include "kernels_common.h"

typedef struct scan_case {
    qn_element from, to;
    qn_scan_operation operation;
    uint64_t sizes[3];
    uint32_t dimension;
    double low, high;
    bool exclusive, reverse, in_place;
    uint32_t
        layout; /* 1: dimensions of the memory turned round; 2: every second element, from the second on; 4: begins at element 1 */
} scan_case;

static qn_array view_of(const scan_case *c, qn_element type, uint64_t *count) {
    qn_array a = {.type = type, .rank = 3};
    memcpy(a.sizes, c->sizes, sizeof c->sizes);
    const int64_t gap = c->layout & 2 ? 2 : 1, turned = c->layout & 1;
    int64_t stride = gap;
    for (int i = 0; i < 3; i++) {
        const int d = turned ? i : 2 - i;
        a.strides[d] = stride;
        stride *= (int64_t)a.sizes[d];
    }
    a.offset = (c->layout & 2 ? 1 : 0) + (c->layout & 4 ? 1 : 0);
    *count = (uint64_t)stride + 2;
    return a;
}

/* What the types keep of a running value: integers of `to` wrap. */
static double joined(const scan_case *c, double a, double b) {
    switch (c->operation) {
    case QN_SCAN_PRODUCT: return a * b;
    case QN_SCAN_MAX: return fmax(a, b);
    case QN_SCAN_MIN: return fmin(a, b);
    case QN_SCAN_LOG_SUM_EXP: return fmax(a, b) + log1p(exp(-fabs(a - b)));
    default: return a + b;
    }
}

static double first_of(const scan_case *c) {
    switch (c->operation) {
    case QN_SCAN_PRODUCT: return 1;
    case QN_SCAN_MAX:
        return c->from == QN_I32 ? (double)INT32_MIN : c->from == QN_U8 || c->from == QN_BOOL ? 0 : -INFINITY;
    case QN_SCAN_LOG_SUM_EXP: return -INFINITY;
    case QN_SCAN_MIN:
        return c->from == QN_I32                        ? (double)INT32_MAX
               : c->from == QN_U8 || c->from == QN_BOOL ? 255
                                                        : INFINITY;
    default: return 0;
    }
}

static void check_row(const scan_case *c, const qn_array *from, const qn_array *to, const void *given,
                      const void *got, uint64_t index[QN_MAX_RANK]) {
    const uint64_t length = c->sizes[c->dimension];
    double run = first_of(c), size = 0;
    const double exact =
        element_epsilon(c->from == QN_F64 ? QN_F64 : QN_F32) * (element_epsilon(c->from) > 0);
    for (uint64_t i = 0; i < length; i++) {
        index[c->dimension] = c->reverse ? length - 1 - i : i;
        const double x = element_get(c->from, given, element_place(from, index)), before = run;
        run = i || c->operation == QN_SCAN_SUM || c->operation == QN_SCAN_PRODUCT ? joined(c, run, x) : x;
        size += fabs(x);
        double wanted = c->exclusive ? before : run;
        const double is = element_get(c->to, got, element_place(to, index));
        double error = element_epsilon(c->to) * fabs(wanted);
        if (c->operation == QN_SCAN_SUM) error += exact * 64 * size;
        if (c->operation == QN_SCAN_PRODUCT) error += exact * (double)i * fabs(wanted);
        if (c->operation == QN_SCAN_LOG_SUM_EXP) error += exact * 4 * (double)(i + 4) * (1 + fabs(wanted));
        if (is == wanted || fabs(is - wanted) <= error) continue;
        fail_msg("%s of %s to %s, %llux%llux%llu along %u%s%s: element %llu is %.9g, not %.9g",
                 c->operation == QN_SCAN_SUM ? "sum" : "scan", qn_element_name(c->from),
                 qn_element_name(c->to), (unsigned long long)c->sizes[0], (unsigned long long)c->sizes[1],
                 (unsigned long long)c->sizes[2], (unsigned)c->dimension, c->exclusive ? ", exclusive" : "",
                 c->reverse ? ", reverse" : "", (unsigned long long)i, is, wanted);
    }
    index[c->dimension] = 0;
}

static void check_scan(kernels_fixture *f, const scan_case *c, uint32_t seed) {
    if (!has_type(f, c->from) || !has_type(f, c->to)) return;
    uint64_t from_count, to_count;
    qn_array from = view_of(c, c->from, &from_count), to = view_of(c, c->to, &to_count);
    void *given = random_elements(c->from, from_count, c->low, c->high, seed);
    from.buffer = elements_buffer(f, c->from, from_count, given);
    to.buffer = c->in_place ? from.buffer : elements_buffer(f, c->to, to_count, NULL);
    const qn_scan_desc d = {c->operation, c->dimension, c->exclusive, c->reverse, to, from};
    assert_ok(f->context, qn_kernels_scan(f->kernels, NULL, &d));
    void *got = buffer_contents(f, to.buffer);
    qn_array rows = from;
    rows.sizes[c->dimension] = 1;
    uint64_t index[QN_MAX_RANK] = {0};
    if (qn_array_count(&from) > 0) do
            check_row(c, &from, &to, given, got, index);
        while (next_index(&rows, index));
    free(got), free(given);
    if (to.buffer != from.buffer) qn_buffer_destroy(to.buffer);
    qn_buffer_destroy(from.buffer);
}

static void each_operation_both_ways(void **state) {
    (void)state;
    kernels_fixture f = make_kernels_quickly();
    for (int i = 0; i < 4 * QN_SCAN_COUNT; i++) {
        scan_case c = {QN_F32, QN_F32, (qn_scan_operation)(i % QN_SCAN_COUNT), {2, 3, 700}, 2, -1, .high = 1};
        if (c.operation == QN_SCAN_PRODUCT) c.low = 0.99, c.high = 1.01;
        c.exclusive = i / QN_SCAN_COUNT % 2;
        c.reverse = i / QN_SCAN_COUNT / 2;
        check_scan(&f, &c, (uint32_t)i);
        if (c.operation == QN_SCAN_LOG_SUM_EXP) continue;
        c.from = c.to = QN_I32;
        c.low = c.operation == QN_SCAN_PRODUCT ? 1 : -100,
        c.high = c.operation == QN_SCAN_PRODUCT ? 1.9 : 100;
        if (testing("cpu") || i % 3 == 0) check_scan(&f, &c, (uint32_t)i + 50);
    }
    end_kernels(&f);
}

static void types_are_converted(void **state) {
    (void)state;
    kernels_fixture f = make_kernels_quickly();
    const scan_case cases[] = {
        {QN_U8, QN_U32, QN_SCAN_SUM, {1, 1, 3001}, 2, 0, .high = 255},
        {QN_BOOL, QN_I64, QN_SCAN_SUM, {1, 1, 3001}, 2, 0, .high = 1.99, .exclusive = true},
        {QN_I8, QN_F32, QN_SCAN_SUM, {1, 3, 1001}, 2, -128, .high = 127},
        {QN_F16, QN_F16, QN_SCAN_SUM, {1, 1, 1030}, 2, -1, .high = 1},
        {QN_BF16, QN_F32, QN_SCAN_SUM, {1, 1, 1030}, 2, 0, .high = 1},
        {QN_F64, QN_F64, QN_SCAN_SUM, {1, 1, 5030}, 2, -1, .high = 1},
        {QN_U32, QN_F64, QN_SCAN_SUM, {1, 1, 730}, 2, 0, .high = 4e9},
        {QN_I64, QN_I64, QN_SCAN_MAX, {1, 2, 730}, 2, -1e15, .high = 1e15},
        {QN_U8, QN_U8, QN_SCAN_MIN, {1, 2, 730}, 2, 0, .high = 255, .exclusive = true},
        {QN_E4M3, QN_F32, QN_SCAN_MAX, {1, 2, 730}, 2, -100, .high = 100, .exclusive = true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_scan(&f, &cases[i], (uint32_t)i);
    end_kernels(&f);
}

static void sums_wrap_in_what_is_kept(void **state) {
    (void)state;
    kernels_fixture f = make_kernels_quickly();
    enum { COUNT = 2000 };
    uint8_t *given = random_elements(QN_U8, COUNT, 0, 255, 1);
    qn_buffer *from = elements_buffer(&f, QN_U8, COUNT, given), *to = elements_buffer(&f, QN_U8, COUNT, NULL);
    assert_ok(f.context, qn_kernels_scan(f.kernels, NULL,
                                         &(qn_scan_desc){.to = QN_ARRAY(to, QN_U8, COUNT),
                                                         .from = QN_ARRAY(from, QN_U8, COUNT)}));
    uint8_t *got = buffer_contents(&f, to), sum = 0;
    for (int i = 0; i < COUNT; i++) {
        sum = (uint8_t)(sum + given[i]);
        assert_int_equal(got[i], sum);
    }
    free(got), free(given);
    qn_buffer_destroy(from), qn_buffer_destroy(to);
    end_kernels(&f);
}

static void any_dimension_and_any_strides(void **state) {
    (void)state;
    kernels_fixture f = make_kernels_quickly();
    const scan_case cases[] = {
        {QN_F32, QN_F32, QN_SCAN_SUM, {3, 200, 70}, 0, -1, .high = 1},
        {QN_F32, QN_F32, QN_SCAN_SUM, {3, 200, 70}, 1, -1, .high = 1},
        {QN_F32, QN_F32, QN_SCAN_SUM, {3, 200, 70}, 1, -1, .high = 1, .layout = 1},
        {QN_F32, QN_F32, QN_SCAN_SUM, {3, 200, 70}, 2, -1, .high = 1, .layout = 1},
        {QN_F32, QN_F32, QN_SCAN_SUM, {5, 3, 777}, 2, -1, .high = 1, .layout = 2},
        {QN_F32, QN_F32, QN_SCAN_SUM, {5, 3, 776}, 2, -1, .high = 1, .layout = 4, .exclusive = true},
        {QN_F32, QN_F32, QN_SCAN_SUM, {1, 3000, 33}, 1, -1, .high = 1, .reverse = true, .in_place = true},
        {QN_F32, QN_F32, QN_SCAN_SUM, {400, 1, 20}, 2, -1, .high = 1, .in_place = true},
        {QN_F32, QN_F32, QN_SCAN_SUM, {1, 1, 1}, 0, -1, .high = 1, .exclusive = true},
        {QN_F32, QN_F32, QN_SCAN_SUM, {3, 0, 1}, 1, -1, .high = 1},
        {QN_F32, QN_F32, QN_SCAN_SUM, {0, 3, 7}, 1, -1, .high = 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_scan(&f, &cases[i], (uint32_t)i);
    end_kernels(&f);
}

/* Rows of several parts: in one kernel or in three. */
static void long_rows(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    const scan_case cases[] = {
        {QN_F32, QN_F32, QN_SCAN_SUM, {1, 1, 1000003}, 2, -1, .high = 1},
        {QN_F32, QN_F32, QN_SCAN_SUM, {1, 3, 100004}, 2, -1, .high = 1, .exclusive = true, .in_place = true},
        {QN_I64, QN_I64, QN_SCAN_SUM, {1, 2, 70001}, 2, -1e9, .high = 1e9},
        {QN_I32, QN_I32, QN_SCAN_MAX, {1, 1, 300000}, 2, -1e9, .high = 1e9, .reverse = true},
        {QN_F64, QN_F64, QN_SCAN_SUM, {1, 1, 200001}, 2, 0, .high = 1, .exclusive = true},
        {QN_F32, QN_F32, QN_SCAN_SUM, {1, 100000, 17}, 1, -1, .high = 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (testing("cpu") || testing("cuda") || i < 3) check_scan(&f, &cases[i], (uint32_t)i);
    end_kernels(&f);
}

/* So many neighbours are of different rows that parts of all of them are scanned at once: in one kernel or in three. */
static void long_rows_side_by_side(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    const scan_case cases[] = {
        {QN_F32, QN_F32, QN_SCAN_SUM, {1, 700, 9001}, 1, -1, .high = 1},
        {QN_I32,
         QN_I32,
         QN_SCAN_MAX,
         {1, 513, 9024},
         1,
         -1e9,
         .high = 1e9,
         .reverse = true,
         .in_place = true},
        {QN_F64, QN_F64, QN_SCAN_SUM, {1, 400, 9001}, 1, 0, .high = 1, .exclusive = true},
        {QN_BF16, QN_F32, QN_SCAN_LOG_SUM_EXP, {3, 300, 3001}, 1, -3, .high = 3},
        {QN_U8, QN_U8, QN_SCAN_MIN, {9100, 1, 600}, 2, 0, .high = 255, .exclusive = true, .layout = 1},
        {QN_F32, QN_F32, QN_SCAN_SUM, {1, 1025, 8500}, 1, -1, .high = 1, .exclusive = true, .reverse = true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (testing("cpu") || testing("cuda")) check_scan(&f, &cases[i], (uint32_t)i);
    end_kernels(&f);
}

static void sums_are_the_same_each_time(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    enum { COUNT = 3000017, ROUNDS = 6 };
    float *given = random_elements(QN_F32, COUNT, -1, 1, 5);
    qn_buffer *from = elements_buffer(&f, QN_F32, COUNT, given),
              *to = elements_buffer(&f, QN_F32, COUNT, NULL);
    const qn_scan_desc d = {.to = QN_ARRAY(to, QN_F32, COUNT), .from = QN_ARRAY(from, QN_F32, COUNT)};
    float *first = NULL;
    for (int round = 0; round < (testing("vulkan") || testing("opencl") ? 2 : ROUNDS); round++) {
        assert_ok(f.context, qn_kernels_scan(f.kernels, NULL, &d));
        float *got = buffer_contents(&f, to);
        if (first) assert_memory_equal(got, first, COUNT * sizeof *got);
        if (first)
            free(got);
        else
            first = got;
    }
    free(first), free(given);
    qn_buffer_destroy(from), qn_buffer_destroy(to);
    end_kernels(&f);
}

static void nans_count_only_where_nothing_else_is(void **state) {
    (void)state;
    kernels_fixture f = make_kernels_quickly();
    const float given[6] = {NAN, NAN, 3, NAN, 5, -1}, wanted[6] = {NAN, NAN, 3, 3, 5, 5},
                exclusive[6] = {-INFINITY, -INFINITY, -INFINITY, 3, 3, 5};
    qn_buffer *from = elements_buffer(&f, QN_F32, 6, given), *to = elements_buffer(&f, QN_F32, 6, NULL);
    qn_scan_desc d = {
        .operation = QN_SCAN_MAX, .to = QN_ARRAY(to, QN_F32, 6), .from = QN_ARRAY(from, QN_F32, 6)};
    for (int round = 0; round < 2; round++) {
        d.exclusive = round;
        assert_ok(f.context, qn_kernels_scan(f.kernels, NULL, &d));
        float *got = buffer_contents(&f, to);
        for (int i = 0; i < 6; i++) {
            const float want = round ? exclusive[i] : wanted[i];
            assert_true(isnan(want) ? isnan(got[i]) : got[i] == want);
        }
        free(got);
    }
    qn_buffer_destroy(from), qn_buffer_destroy(to);
    end_kernels(&f);
}

static void wrong_scans_are_refused(void **state) {
    (void)state;
    kernels_fixture f = make_kernels_quickly();
    qn_buffer *a = elements_buffer(&f, QN_F32, 100, NULL), *b = elements_buffer(&f, QN_F32, 100, NULL);
    const qn_array x = QN_ARRAY(a, QN_F32, 20), y = QN_ARRAY(b, QN_F32, 20);
    const qn_array later = {a, 10, QN_F32, 1, {20}, {0}};
    const struct {
        qn_scan_desc desc;
        qn_status status;
        const char *message;
    } cases[] = {
        {{.to = x}, QN_ERROR_NULL, "qn_kernels_scan: from.buffer is NULL"},
        {{.from = x}, QN_ERROR_NULL, "qn_kernels_scan: to.buffer is NULL"},
        {{.to = QN_ARRAY(b, QN_F32, 21), .from = x}, QN_ERROR_ARGUMENT, "to is 21 and from is 20"},
        {{.to = QN_ARRAY(b, QN_F32, 4, 5), .from = x}, QN_ERROR_ARGUMENT, "to is 4x5 and from is 20"},
        {{.to = y, .from = x, .dimension = 1},
         QN_ERROR_ARGUMENT,
         "qn_kernels_scan: dimension is 1; the dimensions of from (20) are 0 to 0"},
        {{.to = later, .from = x}, QN_ERROR_ARGUMENT, "to and from share memory"},
        {{.to = QN_ARRAY(a, QN_I32, 20), .from = x}, QN_ERROR_ARGUMENT, "to and from share memory"},
        {{.operation = (qn_scan_operation)QN_SCAN_COUNT, .to = y, .from = x},
         QN_ERROR_ARGUMENT,
         "operation is 5, which is no qn_scan_operation"},
        {{.operation = QN_SCAN_LOG_SUM_EXP, .to = y, .from = QN_ARRAY(a, QN_I32, 20)},
         QN_ERROR_ARGUMENT,
         "from is of i32; QN_SCAN_LOG_SUM_EXP is of floats"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fails(f.context, qn_kernels_scan(f.kernels, NULL, &cases[i].desc), cases[i].status,
                     cases[i].message);
    assert_fails(f.context, qn_kernels_scan(f.kernels, NULL, NULL), QN_ERROR_NULL, "desc is NULL");
    qn_buffer_destroy(a), qn_buffer_destroy(b);
    end_kernels(&f);
}

int main(void) {
    if (device_is_missing()) return TEST_SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_operation_both_ways),
        cmocka_unit_test(types_are_converted),
        cmocka_unit_test(sums_wrap_in_what_is_kept),
        cmocka_unit_test(any_dimension_and_any_strides),
        cmocka_unit_test(long_rows),
        cmocka_unit_test(long_rows_side_by_side),
        cmocka_unit_test(sums_are_the_same_each_time),
        cmocka_unit_test(nans_count_only_where_nothing_else_is),
        cmocka_unit_test(wrong_scans_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
