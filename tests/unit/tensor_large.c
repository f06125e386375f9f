/* Tensors of more than 2^31 elements, on devices that have the memory: made, computed, viewed, reduced, gathered from and read at their ends,
   where 32 bits for a place are too few. On the processor, which takes 20 seconds and 5 GB, when QUERN_LARGE is set (scripts/test-long). */
#include "tensor_common.h"

#define EDGE  ((uint64_t)1 << 31)
#define COUNT (EDGE + 5)

/* Whether the device has the memory; on the processor, whether the test was asked for. */
static void need(tensor_fixture *f, uint64_t bytes) {
    if (f->info.kind == QN_DEVICE_CPU && !getenv("QUERN_LARGE")) skip();
    if (f->info.memory < bytes + bytes / 4) skip();
    assert_ok(f->context, qn_tensors_trim(f->t));
}

static void read_bytes(tensor_fixture *f, qn_tensor *x, uint8_t *values, uint64_t count) {
    assert_ok(f->context, qn_tensor_status(x));
    assert_int_equal(qn_tensor_count(x), count);
    assert_ok(f->context, qn_tensor_read(x, values, count));
}

static void assert_item(qn_tensor *x, double wanted) {
    const double got = qn_tensor_item(x);
    if (got != wanted) fail_msg("%.17g is not %.17g", got, wanted);
}

/* 0, 1, ... 250, 0, ...: the number of the element modulo 251, which no power of 2 repeats. */
static qn_tensor *pattern(tensor_fixture *f) {
    const uint64_t rows = COUNT / 251 + 1;
    qn_tensor *row = qn_arange(f->t, QN_U8, 0, 251, 1);
    qn_tensor *all = qn_reshape(qn_broadcast_to(row, QN_SHAPE(rows, 251)), QN_SHAPE(rows * 251));
    return qn_slice(all, 0, 0, (int64_t)COUNT, 1);
}

static void elements_behind_the_edge(void **state) {
    tensor_fixture *f = fixture_of(state);
    uint8_t got[8];
    need(f, 2 * COUNT);
    assert_ok(f->context, qn_scope_begin(f->t));
    qn_tensor *x = pattern(f);
    assert_ok(f->context, qn_realize(&x, 1));
    assert_true(qn_tensor_count(x) == COUNT);
    /* The ends of a map, of the tensor and of it the other way around. */
    qn_tensor *y = qn_bit_xor(x, 255);
    assert_ok(f->context, qn_realize(&y, 1));
    read_bytes(f, qn_slice(y, 0, (int64_t)EDGE - 2, QN_END, 1), got, 7);
    for (uint64_t i = 0; i < 7; i++) assert_int_equal(got[i], (uint8_t) ~((EDGE - 2 + i) % 251));
    read_bytes(f, qn_slice(qn_flip(y, QN_ALL_AXES), 0, 0, 3, 1), got, 3);
    for (uint64_t i = 0; i < 3; i++) assert_int_equal(got[i], (uint8_t) ~((COUNT - 1 - i) % 251));
    /* Every 2^30-th, and a pair of which one side lies behind the edge. */
    read_bytes(f, qn_slice(x, 0, 0, QN_END, (int64_t)1 << 30), got, 3);
    for (uint64_t i = 0; i < 3; i++) assert_int_equal(got[i], (i << 30) % 251);
    read_bytes(f, qn_subtract(qn_slice(x, 0, (int64_t)EDGE, QN_END, 1), qn_slice(x, 0, 0, 5, 1)), got, 5);
    for (uint64_t i = 0; i < 5; i++) assert_int_equal(got[i], (uint8_t)((EDGE + i) % 251 - i));
    /* Gathered, by indices that i32 does not have, which name nothing behind the end. */
    const int64_t at[4] = {(int64_t)COUNT - 1, 3, (int64_t)EDGE, (int64_t)COUNT};
    read_bytes(f, qn_take(x, qn_from_data(f->t, QN_I64, QN_SHAPE(4), at), 0), got, 4);
    assert_int_equal(got[0], (COUNT - 1) % 251);
    assert_int_equal(got[1], 3);
    assert_int_equal(got[2], EDGE % 251);
    assert_int_equal(got[3], 0);
    assert_ok(f->context, qn_scope_end(f->t));
}

static void sums_over_the_edge(void **state) {
    tensor_fixture *f = fixture_of(state);
    need(f, 2 * COUNT);
    assert_ok(f->context, qn_scope_begin(f->t));
    qn_tensor *x = pattern(f);
    assert_ok(f->context, qn_realize(&x, 1));
    const uint64_t whole = COUNT / 251, rest = COUNT % 251;
    assert_item(qn_sum(x, QN_ALL_AXES, false), (double)(whole * (251 * 250 / 2) + rest * (rest - 1) / 2));
    assert_item(qn_max(x, QN_ALL_AXES, false), 250);
    assert_item(qn_count_nonzero(x, QN_ALL_AXES, false), (double)(COUNT - (whole + (rest > 0))));
    /* Along each dimension of a matrix with as many elements, and where the largest is. */
    qn_tensor *matrix = qn_reshape(qn_slice(x, 0, 5, QN_END, 1), QN_SHAPE(EDGE / 64, 64));
    uint8_t last[64];
    read_bytes(f, qn_max(qn_slice(matrix, 0, (int64_t)EDGE / 64 - 3, QN_END, 1), QN_AXES(0), false), last,
               64);
    for (uint64_t i = 0; i < 64; i++) {
        uint64_t most = 0;
        for (uint64_t r = 0; r < 3; r++) {
            const uint64_t value = (5 + EDGE - 64 * (3 - r) + i) % 251;
            if (value > most) most = value;
        }
        assert_int_equal(last[i], most);
    }
    qn_tensor *only_last = qn_equal(qn_arange(f->t, QN_I64, 0, (double)COUNT, 1), (long long)COUNT - 2);
    assert_item(qn_argmax(only_last, 0, false), (double)(COUNT - 2));
    uint64_t columns[64], sum = 0;
    qn_tensor *sums = qn_cast(qn_sum(matrix, QN_AXES(0), false), QN_U64);
    assert_ok(f->context, qn_tensor_read(sums, columns, sizeof columns));
    for (uint64_t i = 0; i < 64; i++) sum += columns[i];
    assert_true(sum == whole * (251 * 250 / 2) + rest * (rest - 1) / 2 - 10);
    assert_ok(f->context, qn_scope_end(f->t));
}

/* A product one of whose matrices has so many elements, in its last rows. */
static void products_of_large_matrices(void **state) {
    enum { COLUMNS = 64, LAST = 3 };
    const uint64_t rows = EDGE / COLUMNS + 1;
    tensor_fixture *f = fixture_of(state);
    if (f->info.kind == QN_DEVICE_CPU || !(f->info.capabilities & QN_CAN_F16)) skip(); /* minutes */
    need(f, rows * COLUMNS * 2 + rows * 2 * 8);
    assert_ok(f->context, qn_scope_begin(f->t));
    /* Row i is i mod 8 in its first column and 1 in the others. */
    qn_tensor *first = qn_cast(qn_remainder(qn_arange(f->t, QN_I64, 0, (double)rows, 1), 8), QN_F16);
    qn_tensor *a = qn_where(qn_equal(qn_arange(f->t, QN_I32, 0, COLUMNS, 1), 0), qn_unsqueeze(first, 1),
                            qn_ones(f->t, QN_F16, QN_SCALAR));
    assert_ok(f->context, qn_realize(&a, 1));
    qn_tensor *c = qn_matmul(a, qn_ones(f->t, QN_F16, QN_SHAPE(COLUMNS, 8)));
    assert_ok(f->context, qn_realize(&c, 1));
    float values[LAST * 8];
    read_floats(f, qn_cast(qn_slice(c, 0, (int64_t)rows - LAST, QN_END, 1), QN_F32), values, LAST * 8);
    for (uint64_t i = 0; i < LAST * 8; i++)
        assert_near(values[i], COLUMNS - 1 + (double)((rows - LAST + i / 8) % 8));
    /* And as the other matrix, whose rows are added up: 2^25 + 1 terms of 2^-20. */
    qn_tensor *tiny = qn_full(f->t, QN_F16, QN_SHAPE(2, rows), 0x1p-20);
    float sums[2 * COLUMNS];
    read_floats(f, qn_cast(qn_matmul(tiny, a), QN_F32), sums, 2 * COLUMNS);
    for (uint64_t i = 0; i < 2 * COLUMNS; i++) {
        const double wanted = ldexp(i % COLUMNS ? (double)rows : 3.5 * (double)(rows - 1), -20);
        if (fabs(sums[i] - wanted) > 0.05) fail_msg("%g is not %g", (double)sums[i], wanted);
    }
    assert_ok(f->context, qn_scope_end(f->t));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_behind_the_edge),
        cmocka_unit_test(sums_over_the_edge),
        cmocka_unit_test(products_of_large_matrices),
    };
    if (device_is_missing()) return TEST_SKIPPED;
    tensor_fixture f; /* on the processor with its compiler: it is a matter of minutes, else of hours */
    f.context = make_context(NULL);
    f.device = get_device(f.context, test_device());
    if (qn_device_get_info(f.device, &f.info) || qn_tensors_create(f.device, NULL, &f.t)) return 1;
    struct CMUnitTest sharing[sizeof tests / sizeof *tests];
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        sharing[i] = tests[i];
        sharing[i].initial_state = &f;
    }
    const int failed = cmocka_run_group_tests(sharing, NULL, NULL);
    end_tensors(&f);
    return failed;
}
