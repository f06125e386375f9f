/* Tensors: making and reading them, scopes and counts, failures, and that chains become one kernel. */
#include "tensor_common.h"

static void reads_what_it_got(void **state) {
    tensor_fixture *f = fixture_of(state);
    const int32_t numbers[] = {1, -2, 3, 40, 50, 60};
    int32_t back[6];
    qn_tensor *x = qn_from_data(f->t, QN_I32, QN_SHAPE(2, 3), numbers);
    assert_ok(f->context, qn_tensor_read(x, back, sizeof back));
    assert_memory_equal(back, numbers, sizeof back);
    assert_int_equal(qn_tensor_shape(x).rank, 2);
    assert_int_equal(qn_tensor_shape(x).sizes[1], 3);
    assert_ptr_equal(qn_tensor_owner(x), f->t);
    assert_true(qn_tensor_item(qn_sum(x, QN_ALL_AXES, false)) == 152);
}

static void a_chain_is_one_kernel(void **state) {
    tensor_fixture *f = fixture_of(state);
    enum { COUNT = 70 };
    float values[COUNT];
    qn_tensor *x = counting(f, QN_SHAPE(7, 10), -3, 0.1f);
    qn_tensor *y = qn_multiply(qn_gelu(qn_add(qn_multiply(x, 0.5), 1)), x);
    const uint64_t before = stats_of(f).launches;
    read_floats(f, y, values, COUNT);
    assert_int_equal(stats_of(f).launches - before, 1);
    for (int i = 0; i < COUNT; i++) {
        const double a = (double)(-3 + 0.1f * (float)i), v = a * 0.5 + 1;
        assert_near(values[i], v * (1 + erf(v / sqrt(2))) / 2 * a);
    }
}

static void softmax_is_one_kernel(void **state) {
    tensor_fixture *f = fixture_of(state);
    static const uint32_t lengths[] = {3, 40, 300, 5000};
    for (int i = 0; i < 4; i++) {
        const uint32_t n = lengths[i], count = 3 * n;
        float *values = malloc(count * sizeof *values);
        qn_tensor *x = counting(f, QN_SHAPE(3, n), 0, 0.01f);
        const uint64_t before = stats_of(f).launches;
        read_floats(f, qn_softmax(x, -1), values, count);
        assert_int_equal(stats_of(f).launches - before, 1);
        double all = 0;
        for (uint32_t k = 0; k < n; k++) all += exp(0.01 * ((double)k - n));
        for (uint32_t k = 0; k < count; k++)
            if (fabs(values[k] - exp(0.01 * ((double)(k % n) - n)) / all) > 1e-4 / n * 5)
                fail_msg("%u of %u: %g", k, n, (double)values[k]);
        free(values);
    }
}

/* The same structure with other numbers is neither scheduled nor compiled again. */
static void structures_are_kept(void **state) {
    tensor_fixture *f = fixture_of(state);
    float values[12];
    qn_tensors_stats first = {0}, second;
    for (int i = 0; i < 5; i++) {
        qn_tensor *x = counting(f, QN_SHAPE(3, 4), (float)i, 1);
        read_floats(f, qn_sin(qn_multiply(x, i + 2)), values, 12);
        assert_near(values[5], sin((i + 5.0) * (i + 2)));
        if (i == 0) first = stats_of(f);
    }
    second = stats_of(f);
    assert_int_equal(second.plans, first.plans);
    assert_int_equal(second.plan_hits, first.plan_hits + 4);
    float larger[20 * 4];
    read_floats(f, qn_sin(qn_multiply(counting(f, QN_SHAPE(20, 4), 0, 1), 2)), larger, 80);
    second = stats_of(f);
    assert_int_equal(second.plans, first.plans + 1);   /* scheduled anew, */
    assert_int_equal(second.programs, first.programs); /* but the text is the same */
}

static void scopes_free_what_was_made(void **state) {
    tensor_fixture *f = fixture_of(state);
    const qn_tensors_stats before = stats_of(f);
    qn_tensor *kept = NULL;
    float values[4];
    for (int i = 0; i < 3; i++) {
        assert_ok(f->context, qn_scope_begin(f->t));
        qn_tensor *x = counting(f, QN_SHAPE(4), 1, 1);
        if (kept) x = qn_add(x, kept);
        qn_tensor *y = qn_tensor_retain(qn_square(x));
        qn_tensor_release(kept);
        kept = y;
        assert_ok(f->context, qn_tensor_realize(kept));
        assert_ok(f->context, qn_scope_end(f->t));
    }
    assert_int_equal(stats_of(f).tensors, before.tensors + 1);
    assert_int_equal(stats_of(f).nodes, before.nodes + 1);
    read_floats(f, kept, values, 4);
    assert_near(values[0], 25); /* ((1) ^ 2 + 1) ^ 2 ... */
    qn_tensor_release(kept);
    assert_int_equal(stats_of(f).tensors, before.tensors);
    assert_int_equal(stats_of(f).bytes, before.bytes);
    assert_fails(f->context, qn_scope_end(f->t), QN_ERROR_STATE, "no scope");
}

/* A chain of a hundred thousand ops is computed, and released, without deep recursion. */
static void long_chains(void **state) {
    tensor_fixture *f = fixture_of(state);
    float value;
    assert_ok(f->context, qn_scope_begin(f->t));
    qn_tensor *x = counting(f, QN_SHAPE(1), 0, 0);
    for (int i = 0; i < 3000; i++) x = qn_add(x, 1);
    read_floats(f, x, &value, 1);
    assert_near(value, 3000);
    for (int i = 0; i < 100000; i++) x = qn_add(x, 1);
    assert_ok(f->context, qn_scope_end(f->t));
}

static void failures_are_carried(void **state) {
    tensor_fixture *f = fixture_of(state);
    float values[12];
    qn_tensor *x = counting(f, QN_SHAPE(3, 4), 0, 1);
    qn_label_begin(f->t, "encoder");
    qn_tensor *wrong = qn_add(x, counting(f, QN_SHAPE(5), 0, 1));
    qn_label_end(f->t);
    qn_tensor *later = qn_relu(qn_multiply(qn_sum(wrong, QN_AXES(0), false), x));
    assert_fails(f->context, qn_tensor_read(later, values, sizeof values), QN_ERROR_ARGUMENT,
                 "qn_add: f32 3x4 and f32 5 cannot be broadcast to one shape: sizes 4 and 5; in encoder (op");
    assert_fails(f->context, qn_realize(&later, 1), QN_ERROR_ARGUMENT, "qn_add");
    assert_fails(f->context, qn_tensor_status(qn_sum(x, QN_AXES(2), false)), QN_ERROR_ARGUMENT,
                 "qn_sum: f32 3x4 has no axis 2");
    assert_fails(f->context, qn_tensor_status(qn_sum(x, QN_AXES(1, -1), false)), QN_ERROR_ARGUMENT, "twice");
    assert_fails(f->context, qn_tensor_status(qn_bit_not(x)), QN_ERROR_ARGUMENT,
                 "integers and bool, not of f32");
    assert_fails(f->context, qn_tensor_status(qn_reshape(x, QN_SHAPE(5, QN_REST))), QN_ERROR_ARGUMENT,
                 "qn_reshape: f32 3x4 does not fit 5x");
    assert_fails(f->context, qn_tensor_status(qn_add(qn_zeros(f->t, QN_U8, QN_SHAPE(2)), 300)),
                 QN_ERROR_ARGUMENT, "u8 does not have the number");
    assert_fails(
        f->context,
        qn_tensor_status(qn_add(qn_zeros(f->t, QN_U64, QN_SHAPE(2)), qn_zeros(f->t, QN_I8, QN_SHAPE(2)))),
        QN_ERROR_ARGUMENT, "u64 2 and i8 2 have no common type");
    assert_fails(f->context,
                 qn_tensor_status(qn_max(qn_zeros(f->t, QN_F32, QN_SHAPE(2, 0)), QN_AXES(1), false)),
                 QN_ERROR_ARGUMENT, "has no elements along axis 1");
    assert_fails(f->context, qn_tensor_read(x, values, 4), QN_ERROR_ARGUMENT, "has 48 bytes, not 4");
}

static void wrong_objects(void **state) {
    tensor_fixture *f = fixture_of(state);
    tensor_fixture other = make_tensors(NULL);
    qn_tensor *x = counting(f, QN_SHAPE(3), 0, 1), *y = counting(&other, QN_SHAPE(3), 0, 1);
    assert_fails(f->context, qn_tensor_status(qn_add(x, y)), QN_ERROR_WRONG_CONTEXT, "other tensors");
    assert_fails(NULL, qn_tensor_status(NULL), QN_ERROR_NULL, "NULL");
    assert_fails(NULL, qn_tensor_status(qn_relu(NULL)), QN_ERROR_NULL, "no tensor");
    assert_fails(NULL, qn_tensor_status(qn_add(1, 2)), QN_ERROR_NULL, "no tensor");
    assert_fails(NULL, qn_tensor_status(qn_zeros(NULL, QN_F32, QN_SHAPE(2))), QN_ERROR_NULL, "no tensor");
    assert_fails(NULL, qn_scope_begin(NULL), QN_ERROR_NULL, "tensors is NULL");
    assert_ok(f->context, qn_scope_begin(f->t));
    qn_tensor *gone = qn_relu(x);
    assert_ok(f->context, qn_scope_end(f->t));
    assert_fails(NULL, qn_tensor_status(gone), QN_ERROR_DESTROYED, "gone with its scope");
    assert_fails(f->context, qn_tensor_status(qn_add(x, gone)), QN_ERROR_DESTROYED, "operand 2 is no tensor");
    qn_tensor_release(NULL);
    assert_null(qn_tensor_retain(NULL));
    end_tensors(&other);
}

static void count_lines(void *user, const char *text) {
    *(int *)user += 1;
    assert_true(strncmp(text, "kernel", 6) == 0 || strstr(text, "void tensor("));
}

static void explains(void **state) {
    tensor_fixture *f = fixture_of(state);
    int lines = 0;
    qn_tensor *x = counting(f, QN_SHAPE(3, 8), 0, 1), *y = qn_log_softmax(x, 1);
    assert_ok(f->context, qn_tensor_explain(&y, 1, &(qn_explain_desc){.text = true}, count_lines, &lines));
    assert_int_equal(lines, 2);
    assert_fails(NULL, qn_tensor_explain(&y, 1, NULL, NULL, NULL), QN_ERROR_NULL, "callback");
}

typedef struct told {
    const char *wanted;
    int lines;
} told;

static void compare_line(void *user, const char *line) {
    told *t = user;
    t->lines++;
    assert_string_equal(line, t->wanted);
}

/* Each operation on an element is one, a reduction's too, a product's are two; bytes are of what a kernel reads, once, and writes. */
static void bytes_and_operations(void **state) {
    tensor_fixture *f = fixture_of(state);
    assert_ok(f->context, qn_scope_begin(f->t));
    qn_tensor *x = counting(f, QN_SHAPE(64, 128), 0, 1), *row = counting(f, QN_SHAPE(128), 0, 1);
    qn_tensor *a = counting(f, QN_SHAPE(32, 48), 0, 1), *b = counting(f, QN_SHAPE(48, 16), 0, 1);
    qn_tensor *bias = counting(f, QN_SHAPE(16), 0, 1);
    const struct {
        qn_tensor *y;
        const char *line;
    } cases[] = {
        {qn_multiply(qn_add(x, 1), row), "kernel 0: 66048 bytes, 16384 operations: add multiply"},
        /* Five of 8192 elements, and a reciprocal a row. */
        {qn_softmax(x, 1),
         "kernel 0: 65536 bytes, 41024 operations: max subtract exp sum reciprocal multiply"},
        {qn_sum(qn_square(x), QN_AXES(1), false), "kernel 0: 33024 bytes, 16384 operations: square sum"},
        {qn_mean(x, QN_AXES(0), false), "kernel 0: 33280 bytes, 8320 operations: sum divide"},
        {qn_sum(qn_slice(x, 0, 16, 32, 1), QN_ALL_AXES, false), /* reads a quarter */
         "kernel 0: 8196 bytes, 2048 operations: sum"},
        {qn_cast(qn_transpose(x, 0, 1), QN_F64), "kernel 0: 98304 bytes, 8192 operations: cast"},
        {qn_matmul(a, b), "kernel 0: 11264 bytes, 49152 operations: matmul"},
        {qn_relu(qn_add(qn_matmul(a, b), bias)), "kernel 0: 11328 bytes, 50176 operations: matmul add relu"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (qn_tensor_type(cases[i].y) == QN_F64 && !(f->info.capabilities & QN_CAN_F64)) continue;
        told t = {cases[i].line, 0};
        assert_ok(f->context, qn_tensor_explain(&cases[i].y, 1, NULL, compare_line, &t));
        assert_int_equal(t.lines, 1);
    }
    assert_ok(f->context, qn_scope_end(f->t));
}

/* Several values that are asked for together, of shapes that go together, come from one kernel. */
static void together(void **state) {
    tensor_fixture *f = fixture_of(state);
    float a[12], b[12], c[3];
    qn_tensor *x = counting(f, QN_SHAPE(3, 4), 0, 1);
    qn_tensor *y = qn_multiply(x, 2), *z = qn_subtract(x, qn_mean(x, QN_AXES(1), true));
    qn_tensor *s = qn_sum(y, QN_AXES(1), false);
    const uint64_t before = stats_of(f).launches;
    assert_ok(f->context, qn_realize((qn_tensor *[]){y, z}, 2));
    read_floats(f, y, a, 12);
    read_floats(f, z, b, 12);
    read_floats(f, s, c, 3);
    assert_true(stats_of(f).launches - before <= 3);
    for (int i = 0; i < 12; i++) {
        assert_near(a[i], i * 2);
        assert_near(b[i], i % 4 - 1.5);
    }
    assert_near(c[2], 2 * (8 + 9 + 10 + 11));
}

/* Sums that few work-groups would make are made in pieces: right, and twice the same. */
static void long_sums(void **state) {
    tensor_fixture *f = fixture_of(state);
    enum { COUNT = 1 << 20, COLUMNS = 64 };
    float value, columns[COLUMNS];
    qn_tensor *x = qn_remainder(qn_arange(f->t, QN_F32, 0, COUNT, 1), 7);
    read_floats(f, qn_sum(x, QN_ALL_AXES, false), &value, 1);
    assert_int_equal(COUNT % 7, 4);
    assert_near(value, 21.0 * (COUNT / 7) + 0 + 1 + 2 + 3);
    qn_tensor *table = qn_reshape(x, QN_SHAPE(COUNT / COLUMNS, COLUMNS));
    read_floats(f, qn_sum(table, QN_AXES(0), false), columns, COLUMNS);
    double wanted = 0;
    for (int i = 5; i < COUNT; i += COLUMNS) wanted += i % 7;
    assert_near(columns[5], wanted);
    read_floats(
        f, qn_max(qn_where(qn_equal(qn_arange(f->t, QN_F32, 0, COUNT, 1), 777777), 9, x), QN_ALL_AXES, false),
        &value, 1);
    assert_near(value, 9);
}

static void arrays_of_others(void **state) {
    tensor_fixture *f = fixture_of(state);
    float data[12], values[12];
    for (int i = 0; i < 12; i++) data[i] = (float)i;
    qn_buffer *buffer = make_buffer(f->device, sizeof data, data);
    qn_array array = {.buffer = buffer, .type = QN_F32, .rank = 2, .sizes = {4, 3}, .strides = {1, 4}};
    qn_tensor *x = qn_from_array(f->t, &array);
    read_floats(f, x, values, 12);
    for (int i = 0; i < 12; i++) assert_near(values[i], i % 3 * 4 + i / 3);
    read_floats(f, qn_reshape(qn_from_array(f->t, &array), QN_SHAPE(6, 2)), values, 12);
    for (int i = 0; i < 12; i++) assert_near(values[i], i % 3 * 4 + i / 3);
    qn_array back;
    assert_ok(f->context, qn_tensor_array(qn_add(x, 1), &back));
    assert_int_equal(back.rank, 2);
    assert_ok(f->context, qn_kernels_map(qn_tensors_kernels(f->t), qn_tensors_stream(f->t),
                                         &(qn_map_desc){.function = QN_MAP_NEGATE,
                                                        .to = QN_ARRAY(buffer, QN_F32, 4, 3),
                                                        .from = {back}}));
    assert_ok(f->context, qn_device_wait(f->device, QN_FOREVER));
    assert_ok(f->context, qn_buffer_read(buffer, 0, values, sizeof values));
    assert_near(values[1], -5);
    qn_tensors_trim(f->t);
    qn_buffer_destroy(buffer);
}

static void eager(void **state) {
    (void)state;
    tensor_fixture f = make_tensors(&(qn_tensors_desc){.eager = true});
    float value;
    qn_tensor *x = qn_add(counting(&f, QN_SHAPE(1), 3, 0), 1);
    assert_int_equal(stats_of(&f).launches, 1);
    read_floats(&f, x, &value, 1);
    assert_near(value, 4);
    end_tensors(&f);
}

/* Places of rows that are short: what counts the elements of several dimensions is divided by their sizes. */
static void places_of_short_rows(void **state) {
    (void)state;
    tensor_fixture f = make_tensors(NULL);
    static const uint64_t sizes[][3] = {
        {1 << 16, 3, 2}, {1, 99991, 3}, {255, 257, 1}, {7, 11, 13}, {1021, 31, 5}};
    const size_t count = f.info.kind == QN_DEVICE_CPU ? sizeof sizes / sizeof *sizes : 2;
    for (size_t i = 0; i < count; i++) {
        const uint64_t *n = sizes[i], all = n[0] * n[1] * n[2];
        qn_tensor *a = counting(&f, QN_SHAPE(n[0], 1, n[2]), 0, 1),
                  *b = counting(&f, QN_SHAPE(n[1], 1), 0.5f, 0.25f);
        float *got = malloc((size_t)all * sizeof *got);
        read_floats(&f, qn_subtract(a, b), got, all);
        for (uint64_t k = 0; k < all; k++) {
            const float wanted =
                (float)(k / n[2] / n[1] * n[2] + k % n[2]) - (0.5f + 0.25f * (float)(k / n[2] % n[1]));
            if (got[k] != wanted)
                fail_msg("%zu: element %zu is %g instead of %g", i, (size_t)k, (double)got[k],
                         (double)wanted);
        }
        free(got);
    }
    end_tensors(&f);
}

static void find_divisions(void *user, const char *text) {
    *(bool *)user = *(bool *)user || strstr(text, "quotient(") != NULL;
}

/* Sums over images and their pixels, of each channel: rows that lie apart. A processor goes through them one by one where they are long. */
static void sums_of_channels(void **state) {
    (void)state;
    tensor_fixture f = make_tensors(NULL);
    static const uint64_t sizes[][4] = {
        {3, 2, 4, 4}, {5, 3, 8, 8}, {2, 7, 5, 9}, {4, 2, 1, 33}, {9, 1, 3, 3}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const uint64_t *n = sizes[i], pixels = n[2] * n[3];
        qn_tensor *x = counting(&f, QN_SHAPE(n[0], n[1], n[2], n[3]), 0, 1);
        qn_tensor *sums = qn_sum(x, QN_AXES(0, 2, 3), false);
        bool divides = false;
        const qn_explain_desc desc = {.text = true};
        assert_ok(f.context, qn_tensor_explain(&sums, 1, &desc, find_divisions, &divides));
        if (f.info.kind == QN_DEVICE_CPU && pixels >= 16) assert_false(divides);
        float got[8];
        read_floats(&f, sums, got, n[1]);
        for (uint64_t c = 0; c < n[1]; c++) {
            double wanted = 0;
            for (uint64_t k = 0; k < n[0] * pixels; k++)
                wanted += (double)((k / pixels * n[1] + c) * pixels + k % pixels);
            assert_true(fabs((double)got[c] - wanted) <= 1e-6 * wanted);
        }
    }
    end_tensors(&f);
}

static void find_scattered(void *user, const char *text) {
    *(bool *)user = *(bool *)user || (strstr(text, "void tensor(") && !strstr(text, "y2[through] = "));
}

/* What is written in the order of a map's loops has the place of the work-item on a processor, whatever is read beside it. */
static void places_in_order(void **state) {
    (void)state;
    tensor_fixture f = make_tensors(NULL);
    qn_tensor *a = counting(&f, QN_SHAPE(100, 1, 3), 0, 1), *b = counting(&f, QN_SHAPE(50, 1), 0.5f, 0.25f);
    qn_tensor *sum = qn_add(a, b);
    bool scattered = false;
    const qn_explain_desc desc = {.text = true};
    assert_ok(f.context, qn_tensor_explain(&sum, 1, &desc, find_scattered, &scattered));
    assert_true(f.info.kind != QN_DEVICE_CPU || !scattered);
    end_tensors(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_what_it_got),
                                       cmocka_unit_test(a_chain_is_one_kernel),
                                       cmocka_unit_test(softmax_is_one_kernel),
                                       cmocka_unit_test(structures_are_kept),
                                       cmocka_unit_test(scopes_free_what_was_made),
                                       cmocka_unit_test(long_chains),
                                       cmocka_unit_test(failures_are_carried),
                                       cmocka_unit_test(wrong_objects),
                                       cmocka_unit_test(explains),
                                       cmocka_unit_test(bytes_and_operations),
                                       cmocka_unit_test(together),
                                       cmocka_unit_test(long_sums),
                                       cmocka_unit_test(arrays_of_others),
                                       cmocka_unit_test(eager),
                                       cmocka_unit_test(places_of_short_rows),
                                       cmocka_unit_test(sums_of_channels),
                                       cmocka_unit_test(places_in_order)};
    return run_tensor_tests(tests, NULL);
}
