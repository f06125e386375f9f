/* qn_kernels_top_k, qn_kernels_compact and qn_kernels_unique against plain loops: sizes about those of chunks, rows, strides, room that is too small; what is
   refused. */
#include "kernels_common.h"

static void the_largest_of_each_row_are_chosen(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    enum { ROWS = 4, LENGTH = 777, K = 13 };
    float *data = random_elements(QN_F32, ROWS * LENGTH, -9, 9, 5);
    for (int i = 0; i < ROWS * LENGTH; i += 7) data[i] = 8.5f; /* equal ones: the first come first */
    qn_buffer *from = elements_buffer(&f, QN_F32, ROWS * LENGTH, data),
              *to = elements_buffer(&f, QN_F32, ROWS * K, NULL),
              *indices = elements_buffer(&f, QN_I64, ROWS * K, NULL);
    for (int smallest = 0; smallest < 2; smallest++) {
        const qn_top_k_desc d = {.from = QN_ARRAY(from, QN_F32, ROWS, LENGTH),
                                 .to = QN_ARRAY(to, QN_F32, ROWS, K),
                                 .to_indices = QN_ARRAY(indices, QN_I64, ROWS, K),
                                 .smallest = smallest};
        assert_ok(f.context, qn_kernels_top_k(f.kernels, NULL, &d));
        float *got = buffer_contents(&f, to);
        int64_t *places = buffer_contents(&f, indices);
        for (int row = 0; row < ROWS; row++) {
            const float *x = data + row * LENGTH;
            bool taken[LENGTH] = {false};
            for (int k = 0; k < K; k++) {
                int best = -1;
                for (int i = 0; i < LENGTH; i++)
                    if (!taken[i] && (best < 0 || (smallest ? x[i] < x[best] : x[i] > x[best]))) best = i;
                taken[best] = true;
                assert_int_equal(places[row * K + k], best);
                assert_true(got[row * K + k] == x[best]);
            }
        }
        free(got), free(places);
    }
    free(data);
    qn_buffer_destroy(from), qn_buffer_destroy(to), qn_buffer_destroy(indices);
    end_kernels(&f);
}

typedef struct top_case {
    qn_element type, index;
    uint64_t rows, length, wanted;
    double low, high;
    bool smallest;
    enum { ANY_ORDER, WORST_FIRST, BEST_FIRST } order;
} top_case;

typedef struct ranked {
    double key;
    uint64_t place;
} ranked;

static int ranked_before(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Rows in order: of each key it is only known late, or at once, whether it is among the first. */
static void put_in_order(const top_case *c, void *data) {
    const bool rises = c->smallest == (c->order == BEST_FIRST);
    for (uint64_t i = 0; i < c->rows * c->length && c->order != ANY_ORDER; i++) {
        const double share = (double)(i % c->length) / (double)c->length;
        element_set(c->type, data, i, c->low + (c->high - c->low) * (rises ? share : 1 - share));
    }
}

static void check_top(kernels_fixture *f, const top_case *c, uint32_t seed) {
    const uint64_t count = c->rows * c->wanted;
    void *data = random_elements(c->type, c->rows * c->length, c->low, c->high, seed);
    put_in_order(c, data);
    qn_buffer *from = elements_buffer(f, c->type, c->rows * c->length, data),
              *to = elements_buffer(f, c->type, count, NULL),
              *indices = elements_buffer(f, c->index, count, NULL);
    const qn_top_k_desc d = {.from = QN_ARRAY(from, c->type, c->rows, c->length),
                             .to = QN_ARRAY(to, c->type, c->rows, c->wanted),
                             .to_indices = QN_ARRAY(indices, c->index, c->rows, c->wanted),
                             .smallest = c->smallest};
    assert_ok(f->context, qn_kernels_top_k(f->kernels, NULL, &d));
    void *got = buffer_contents(f, to), *places = buffer_contents(f, indices);
    qn_top_k_desc keys_only = d;
    keys_only.to_indices = (qn_array){0};
    assert_ok(f->context, qn_kernels_top_k(f->kernels, NULL, &keys_only));
    void *again = buffer_contents(f, to);
    assert_memory_equal(got, again, count * qn_element_size(c->type));
    ranked *row = calloc(c->length, sizeof *row);
    assert_non_null(row);
    for (uint64_t r = 0; r < c->rows; r++) {
        for (uint64_t i = 0; i < c->length; i++) {
            const double x = element_get(c->type, data, r * c->length + i);
            row[i] = (ranked){c->smallest ? x : -x, i};
        }
        qsort(row, c->length, sizeof *row, ranked_before);
        for (uint64_t i = 0; i < c->wanted; i++) {
            const double key = element_get(c->type, got, r * c->wanted + i),
                         place = element_get(c->index, places, r * c->wanted + i);
            if (key != (c->smallest ? row[i].key : -row[i].key) || place != (double)row[i].place)
                fail_msg("%s, row %llu of %llu, number %llu of %llu: %g at %g, not %g at %llu",
                         qn_element_name(c->type), (unsigned long long)r, (unsigned long long)c->length,
                         (unsigned long long)i, (unsigned long long)c->wanted, key, place, fabs(row[i].key),
                         (unsigned long long)row[i].place);
        }
    }
    free(row), free(data), free(got), free(places), free(again);
    qn_buffer_destroy(from), qn_buffer_destroy(to), qn_buffer_destroy(indices);
}

/* Rows of a work-group each and in parts, few that are sorted at once and many that are not, equal keys, all of a row. */
static void any_number_of_any_row(void **state) {
    (void)state;
    kernels_fixture f = make_kernels_quickly();
    const top_case cases[] = {
        {QN_F32, QN_U32, 3, 5000, 1, -1, 1, false, ANY_ORDER},
        {QN_U8, QN_I32, 40, 300, 299, 0, 200, true, ANY_ORDER},
        {QN_F32, QN_I32, 2, 120001, 50, -1, 1, true, ANY_ORDER},
        {QN_I16, QN_U32, 1, 200003, 1024, -50, 50, false, ANY_ORDER},
        {QN_F32, QN_U32, 2, 5000, 2000, -9, 9, false, ANY_ORDER},
        {QN_F32, QN_I64, 1, 100003, 3000, -9, 9, false, ANY_ORDER},
        {QN_BF16, QN_U32, 7, 64, 64, -1, 1, false, ANY_ORDER},
        {QN_I64, QN_U64, 2, 70001, 100, -1e12, 1e12, true, ANY_ORDER},
        {QN_U32, QN_U32, 1, 40000, 30000, 0, 4e9, true, ANY_ORDER},
        {QN_F32, QN_U32, 5, 1, 1, 0, 1, false, ANY_ORDER},
        {QN_F32, QN_U32, 3, 20001, 64, -1, 1, false, WORST_FIRST},
        {QN_F32, QN_U32, 1, 150001, 128, -1, 1, true, BEST_FIRST},
        {QN_U16, QN_I64, 1, 140001, 40, 0, 3, false, ANY_ORDER},
        {QN_I64, QN_U32, 2, 9001, 17, 0, 0, true, ANY_ORDER},
        {QN_U8, QN_U32, 1, 70001, 64, 0, 200, true, WORST_FIRST},
        {QN_F32, QN_U32, 2, 4096, 10, -1, 1, true, ANY_ORDER},
        {QN_F32, QN_U32, 5, 4097, 100, -1, 1, false, ANY_ORDER},
        /* rows that a work-group of a GPU holds */
        {QN_F32, QN_U32, 3, 12001, 64, -1, 1, false, ANY_ORDER},
        {QN_F32, QN_U32, 2, 16384, 128, -1, 1, true, BEST_FIRST},
        {QN_U8, QN_I32, 2, 9001, 64, 7, 7, false, ANY_ORDER},
        {QN_I64, QN_U32, 3, 8192, 33, -1e12, 1e12, false, ANY_ORDER},
        {QN_BF16, QN_U64, 2, 8193, 90, -1, 1, true, ANY_ORDER},
        /* so many rows that processors have one a lane */
        {QN_F32, QN_U32, 37, 977, 10, -1, 1, false, ANY_ORDER},
        {QN_I32, QN_U32, 35, 703, 64, -1e9, 1e9, true, ANY_ORDER},
        {QN_U32, QN_U32, 33, 300, 290, 0, 4e9, false, ANY_ORDER},
        {QN_F32, QN_U32, 18, 70, 17, -1, 1, true, ANY_ORDER},
        {QN_I32, QN_U32, 16, 64, 32, -9, 9, false, WORST_FIRST},
        {QN_U32, QN_U32, 33, 300, 100, 4294967293, 4294967295, true, ANY_ORDER}, /* up to all bits set */
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (testing("cpu") || testing("cuda") ||
            (testing("opencl") ? i == 2 : i < 5)) /* compiling takes its time */
            check_top(&f, &cases[i], i + 1);
    end_kernels(&f);
}

/* Places of the elements that are kept; returns how many. */
static uint64_t kept_places(const void *data, uint32_t size, const uint8_t *mask, uint64_t length,
                            uint64_t *places) {
    uint64_t kept = 0;
    for (uint64_t i = 0; i < length; i++) {
        const char *at = (const char *)data + i * size;
        if (mask ? mask[i] != 0 : i == 0 || memcmp(at, at - size, size) != 0) places[kept++] = i;
    }
    return kept;
}

static void check_kept(kernels_fixture *f, qn_element type, uint64_t length, uint64_t room, bool with_mask,
                       uint32_t seed) {
    const uint32_t size = qn_element_size(type);
    void *data = random_elements(type, length, 0, 3, seed);
    uint8_t *mask = random_elements(QN_U8, length, 0, 3, seed + 1);
    uint64_t *places = calloc(length + 1, sizeof *places);
    const uint64_t kept = kept_places(data, size, with_mask ? mask : NULL, length, places);
    void *before = random_elements(type, room, 0, 3, seed + 2);
    qn_buffer *from = elements_buffer(f, type, length, data),
              *masks = elements_buffer(f, QN_U8, length, mask), *to = elements_buffer(f, type, room, before),
              *count = elements_buffer(f, QN_U64, 1, NULL);
    const qn_array x = QN_ARRAY(from, type, length), y = QN_ARRAY(to, type, room),
                   n = QN_ARRAY(count, QN_U64, 1);
    if (with_mask)
        assert_ok(
            f->context,
            qn_kernels_compact(
                f->kernels, NULL,
                &(qn_compact_desc){.from = x, .mask = QN_ARRAY(masks, QN_U8, length), .to = y, .count = n}));
    else
        assert_ok(f->context,
                  qn_kernels_unique(f->kernels, NULL, &(qn_unique_desc){.from = x, .to = y, .count = n}));
    uint64_t *got_count = buffer_contents(f, count);
    char *got = buffer_contents(f, to);
    assert_int_equal(*got_count, kept);
    for (uint64_t i = 0; i < room; i++) {
        const char *wanted = i < kept ? (char *)data + places[i] * size : (char *)before + i * size;
        if (memcmp(got + i * size, wanted, size) != 0)
            fail_msg("length %llu: element %llu", (unsigned long long)length, (unsigned long long)i);
    }
    free(data), free(mask), free(places), free(before), free(got_count), free(got);
    qn_buffer_destroy(from), qn_buffer_destroy(masks), qn_buffer_destroy(to), qn_buffer_destroy(count);
}

static void what_is_kept_is_moved_and_counted(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    const uint64_t lengths[] = {0, 1, 2, 255, 4096, 4097, 16384, 16385, 100001};
    for (uint32_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int with_mask = 0; with_mask < 2; with_mask++)
            check_kept(&f, i % 2 ? QN_I32 : QN_U8, lengths[i], lengths[i] + 3, with_mask, i);
    check_kept(&f, QN_U64, 5000, 100, true, 77); /* too little room */
    check_kept(&f, QN_I16, 5000, 100, false, 78);
    check_kept(&f, QN_I32, 100001, 20003, true, 79);
    check_kept(&f, QN_U8, 100001, 20003, false, 80);
    end_kernels(&f);
}

/* A matrix by columns, to every second element from the end. */
static void other_strides_are_compacted(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    const int32_t data[] = {1, 2, 3, 4, 5, 6};
    const uint8_t mask[] = {1, 0, 0, 1, 1, 1};
    const int32_t before[] = {-1, -2, -3, -4, -5, -6, -7, -8, -9, -10};
    const int32_t wanted[] = {-1, -2, -3, 6,  -5,
                              3,  -7, 5,  -9, 1}; /* by columns: 1 4 2 5 3 6 with 1 0 0 1 1 1 */
    qn_buffer *from = elements_buffer(&f, QN_I32, 6, data), *masks = elements_buffer(&f, QN_BOOL, 6, mask),
              *to = elements_buffer(&f, QN_I32, 10, before), *count = elements_buffer(&f, QN_I32, 1, NULL);
    const qn_compact_desc d = {.from = qn_array_transpose(QN_ARRAY(from, QN_I32, 2, 3), 0, 1),
                               .mask = QN_ARRAY(masks, QN_BOOL, 3, 2),
                               .to = {to, 9, QN_I32, 1, {5}, {-2}},
                               .count = {.buffer = count, .type = QN_I32}};
    assert_ok(f.context, qn_kernels_compact(f.kernels, NULL, &d));
    int32_t *got = buffer_contents(&f, to), *got_count = buffer_contents(&f, count);
    assert_int_equal(*got_count, 4);
    assert_memory_equal(got, wanted, sizeof wanted);
    free(got), free(got_count);
    qn_buffer_destroy(from), qn_buffer_destroy(masks), qn_buffer_destroy(to), qn_buffer_destroy(count);
    end_kernels(&f);
}

static void wrong_choices_are_refused(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    qn_buffer *a = elements_buffer(&f, QN_U32, 100, NULL), *b = elements_buffer(&f, QN_U32, 100, NULL),
              *c = elements_buffer(&f, QN_U32, 100, NULL);
    const qn_array x = QN_ARRAY(a, QN_U32, 20), y = QN_ARRAY(b, QN_U32, 20), one = QN_ARRAY(c, QN_U32, 1),
                   ones = {c, 50, QN_U32, 1, {20}, {0}};
    const struct {
        qn_compact_desc desc;
        const char *message;
    } cases[] = {
        {{.from = x, .mask = ones, .to = x, .count = one}, "qn_kernels_compact: to and from share memory"},
        {{.from = x, .mask = ones, .to = y, .count = ones}, "count is 20 of u32; it must be one element"},
        {{.from = x, .mask = ones, .to = y, .count = QN_ARRAY(c, QN_F32, 1)}, "count is 1 of f32"},
        {{.from = x, .mask = ones, .to = y, .count = QN_ARRAY(b, QN_U32, 1)}, "count and to share memory"},
        {{.from = x, .mask = ones, .to = y, .count = QN_ARRAY(a, QN_U32, 1)}, "count and from share memory"},
        {{.from = x, .mask = QN_ARRAY(c, QN_U32, 19), .to = y, .count = one}, "mask is 19 and from is 20"},
        {{.from = x, .mask = QN_ARRAY(c, QN_F32, 20), .to = y, .count = one}, "mask.type is f32"},
        {{.from = x, .mask = QN_ARRAY(b, QN_U32, 20), .to = y, .count = one}, "to and mask share memory"},
        {{.from = x, .mask = ones, .to = QN_ARRAY(b, QN_U32, 4, 5), .count = one}, "to has 2 dimensions"},
        {{.from = x, .mask = ones, .to = QN_ARRAY(b, QN_I32, 20), .count = one},
         "to.type is i32 and from.type is u32"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fails(f.context, qn_kernels_compact(f.kernels, NULL, &cases[i].desc), QN_ERROR_ARGUMENT,
                     cases[i].message);
    assert_fails(f.context,
                 qn_kernels_unique(f.kernels, NULL,
                                   &(qn_unique_desc){.from = x, .to = y, .count = QN_ARRAY(b, QN_U32, 1)}),
                 QN_ERROR_ARGUMENT, "qn_kernels_unique: count and to share memory");
    const struct {
        qn_top_k_desc desc;
        const char *message;
    } tops[] = {
        {{.from = x, .to = QN_ARRAY(b, QN_U32, 21)}, "qn_kernels_top_k: to is 21 and from is 20"},
        {{.from = x, .to = QN_ARRAY(b, QN_F32, 3)}, "to.type is f32 and from.type is u32"},
        {{.from = x, .to = QN_ARRAY(a, QN_U32, 3)}, "to and from share memory"},
        {{.from = x, .to = QN_ARRAY(b, QN_U32, 3), .to_indices = QN_ARRAY(c, QN_U32, 2)},
         "to_indices is 2 and to is 3"},
        {{.from = x, .to = QN_ARRAY(b, QN_U32, 3), .to_indices = QN_ARRAY(c, QN_U16, 3)},
         "to_indices.type is u16"},
        {{.from = x, .to = QN_ARRAY(b, QN_U32, 3), .to_indices = QN_ARRAY(b, QN_U32, 3)},
         "to_indices and to share memory"},
    };
    for (size_t i = 0; i < sizeof tops / sizeof *tops; i++)
        assert_fails(f.context, qn_kernels_top_k(f.kernels, NULL, &tops[i].desc), QN_ERROR_ARGUMENT,
                     tops[i].message);
    assert_fails(f.context, qn_kernels_top_k(f.kernels, NULL, NULL), QN_ERROR_NULL,
                 "qn_kernels_top_k: desc is NULL");
    assert_fails(f.context, qn_kernels_compact(f.kernels, NULL, NULL), QN_ERROR_NULL,
                 "qn_kernels_compact: desc is NULL");
    assert_fails(f.context, qn_kernels_unique(f.kernels, NULL, NULL), QN_ERROR_NULL,
                 "qn_kernels_unique: desc is NULL");
    qn_buffer_destroy(a), qn_buffer_destroy(b), qn_buffer_destroy(c);
    end_kernels(&f);
}

int main(void) {
    if (device_is_missing()) return TEST_SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_of_each_row_are_chosen), cmocka_unit_test(any_number_of_any_row),
        cmocka_unit_test(what_is_kept_is_moved_and_counted),  cmocka_unit_test(other_strides_are_compacted),
        cmocka_unit_test(wrong_choices_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
