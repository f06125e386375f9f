/* qn_kernels_sort: every type of key, both directions, with values and places of keys, rows, strides, in place, in graphs; what is
   refused. */
#include "kernels_common.h"

/* The reference: places of the keys in order, by a stable merge. */
typedef struct order {
    qn_element type;
    const void *keys;
    bool descending;
} order;

static bool comes_later(const order *o, uint64_t a, uint64_t b) {
    if (qn_element_size(o->type) == 8 && o->type != QN_F64) { /* a double does not have all of them */
        const uint64_t x = ((const uint64_t *)o->keys)[a], y = ((const uint64_t *)o->keys)[b];
        const uint64_t flip = o->type == QN_I64 ? 1ull << 63 : 0;
        return o->descending ? (x ^ flip) < (y ^ flip) : (x ^ flip) > (y ^ flip);
    }
    const double x = element_get(o->type, o->keys, a), y = element_get(o->type, o->keys, b);
    return o->descending ? x < y : x > y;
}

static void merge_sort(const order *o, uint64_t *places, uint64_t *other, uint64_t count) {
    if (count < 2) return;
    const uint64_t half = count / 2;
    merge_sort(o, places, other, half);
    merge_sort(o, places + half, other, count - half);
    uint64_t a = 0, b = half;
    for (uint64_t i = 0; i < count; i++)
        other[i] =
            b == count || (a < half && !comes_later(o, places[a], places[b])) ? places[a++] : places[b++];
    memcpy(places, other, count * sizeof *places);
}

/* For each row of `length` keys the places in order, as places in the whole. To be freed. */
static uint64_t *sorted_places(qn_element type, const void *keys, uint64_t rows, uint64_t length,
                               bool descending) {
    const order o = {type, keys, descending};
    uint64_t *places = calloc(rows * length + 1, sizeof *places), *other = calloc(length + 1, sizeof *other);
    assert_true(places && other);
    for (uint64_t i = 0; i < rows * length; i++) places[i] = i;
    for (uint64_t row = 0; row < rows; row++) merge_sort(&o, places + row * length, other, length);
    free(other);
    return places;
}

/* Element i of `got` must be the element of `from` at places[i]. */
static void check_moved(const char *what, uint32_t size, const void *got, const void *from,
                        const uint64_t *places, uint64_t count) {
    for (uint64_t i = 0; i < count; i++)
        if (memcmp((const char *)got + i * size, (const char *)from + places[i] * size, size) != 0)
            fail_msg("%s: element %llu is not that of place %llu", what, (unsigned long long)i,
                     (unsigned long long)places[i]);
}

typedef struct sort_case {
    qn_element type, values;
    uint64_t rows, length;
    double low, high;
    bool descending, in_place, with_values, with_places;
} sort_case;

static void check_values(const sort_case *c, const void *got, const void *values, const uint64_t *places) {
    const uint64_t count = c->rows * c->length;
    if (c->with_values) check_moved("values", qn_element_size(c->values), got, values, places, count);
    for (uint64_t i = 0; c->with_places && i < count; i++)
        if (element_get(c->values, got, i) != (double)(places[i] % c->length))
            fail_msg("place %llu is %.0f, not %llu", (unsigned long long)i, element_get(c->values, got, i),
                     (unsigned long long)(places[i] % c->length));
}

static void check_sort(kernels_fixture *f, const sort_case *c, uint32_t seed) {
    const uint64_t count = c->rows * c->length;
    void *keys = random_elements(c->type, count, c->low, c->high, seed);
    void *values = random_elements(c->values, count, 0, 100, seed + 1);
    qn_buffer *from = elements_buffer(f, c->type, count, keys),
              *from_values = elements_buffer(f, c->values, count, values);
    qn_buffer *to = c->in_place ? from : elements_buffer(f, c->type, count, NULL);
    qn_buffer *to_values =
        c->in_place && c->with_values ? from_values : elements_buffer(f, c->values, count, NULL);
    qn_sort_desc d = {.keys = QN_ARRAY(from, c->type, c->rows, c->length),
                      .to_keys = QN_ARRAY(to, c->type, c->rows, c->length),
                      .descending = c->descending};
    if (c->with_values) d.values = QN_ARRAY(from_values, c->values, c->rows, c->length);
    if (c->with_values || c->with_places) d.to_values = QN_ARRAY(to_values, c->values, c->rows, c->length);
    assert_ok(f->context, qn_kernels_sort(f->kernels, NULL, &d));
    uint64_t *places = sorted_places(c->type, keys, c->rows, c->length, c->descending);
    void *got = buffer_contents(f, to), *got_values = buffer_contents(f, to_values);
    check_moved(qn_element_name(c->type), qn_element_size(c->type), got, keys, places, count);
    check_values(c, got_values, values, places);
    free(got), free(got_values), free(places), free(keys), free(values);
    if (to != from) qn_buffer_destroy(to);
    if (to_values != from_values) qn_buffer_destroy(to_values);
    qn_buffer_destroy(from);
    qn_buffer_destroy(from_values);
}

static void each_type_is_sorted_both_ways(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    for (int type = 0; type < QN_ELEMENT_COUNT; type++) {
        if (!testing("cpu") && type % 4 != 0) continue; /* compiling takes its time */
        const bool is_signed = element_epsilon((qn_element)type) > 0 || (type >= QN_I8 && type <= QN_I64);
        sort_case c = {
            .type = (qn_element)type, .values = QN_U32, .rows = 1, .length = 3001, .with_places = true};
        c.low = is_signed ? -120 : 0;
        c.high = type == QN_BOOL ? 1.99 : 120;
        c.descending = type % 2;
        check_sort(&f, &c, (uint32_t)type);
        c.descending = !c.descending;
        if (testing("cpu")) check_sort(&f, &c, (uint32_t)type + 50);
    }
    end_kernels(&f);
}

static void keys_of_all_digits_are_sorted(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    const sort_case cases[] = {
        {QN_U32, QN_F32, 1, 100003, 0, 4294967295.0, .with_values = true},
        {QN_F32, QN_F32, 1, 50021, -1e30, 1e30, .with_values = true},
        {QN_I64, QN_U64, 1, 20011, -9e18, 9e18, .with_values = true, .descending = true},
        {QN_U16, QN_U8, 1, 30011, 0, 65535, .with_values = true},
        {QN_F32, QN_U32, 1, 1300001, -1e30, 1e30,
         .with_values = true}, /* of many tiles, for devices that sweep */
        {QN_U32, QN_U32, 1, 1300001, 0, .high = 4294967295.0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (i < 4 || testing("cuda")) check_sort(&f, &cases[i], (uint32_t)i + 7);
    end_kernels(&f);
}

static void rows_of_any_length_are_sorted_in_place_or_not(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    const struct {
        uint64_t rows, length;
    } sizes[] = {{1, 1},    {7, 1},    {300, 3},  {5, 255}, {3, 1024}, {2, 1025},
                 {4, 4097}, {1, 6143}, {1, 6145}, {0, 5},   {5, 0}};
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        sort_case c = {QN_I32, QN_I16, sizes[i].rows,     sizes[i].length,
                       -1e9,   1e9,    .in_place = i % 2, .with_values = true};
        check_sort(&f, &c, i);
        c.type = QN_U8; /* a single pass */
        c.low = 0, c.high = 255;
        check_sort(&f, &c, i + 100);
    }
    end_kernels(&f);
}

/* Keys alone of rows that are many: processors sort so many at a time as a vector has lanes. By the interpreter and by the final code. */
static void many_rows_are_sorted_in_place_or_not(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    const struct {
        uint64_t rows, length;
    } sizes[] = {{16, 1},    {17, 2},  {40, 31}, {35, 977}, {20, 1025},
                 {16, 3000}, {70, 64}, {19, 16}, {33, 100}};
    const qn_element types[] = {QN_F32, QN_I32, QN_U32};
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        sort_case c = {types[i % 3], QN_U8, sizes[i].rows, sizes[i].length,
                       -1e9,         1e9,   i / 3 % 2,     .in_place = i % 2};
        if (c.type == QN_U32) c.low = 0;
        check_sort(&f, &c, i + 20);
        assert_ok(f.context, qn_kernels_wait(f.kernels, QN_FOREVER));
        check_sort(&f, &c, i + 30);
    }
    end_kernels(&f);
}

static void zeros_and_nans_have_their_places(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    const float keys[] = {NAN, 1, -0.0f, 0, -INFINITY, -NAN, INFINITY, 0, -0.0f, -1};
    const uint32_t up[] = {5, 4, 9, 2, 8, 3, 7, 1, 6, 0}, down[] = {0, 6, 1, 3, 7, 2, 8, 9, 4, 5};
    qn_buffer *from = elements_buffer(&f, QN_F32, 10, keys), *to = elements_buffer(&f, QN_F32, 10, NULL),
              *places = elements_buffer(&f, QN_U32, 10, NULL);
    for (int descending = 0; descending < 2; descending++) {
        const qn_sort_desc d = {.keys = QN_ARRAY(from, QN_F32, 10),
                                .to_keys = QN_ARRAY(to, QN_F32, 10),
                                .to_values = QN_ARRAY(places, QN_U32, 10),
                                .descending = descending};
        assert_ok(f.context, qn_kernels_sort(f.kernels, NULL, &d));
        uint32_t *got = buffer_contents(&f, places);
        assert_memory_equal(got, descending ? down : up, sizeof up);
        free(got);
    }
    qn_buffer_destroy(from), qn_buffer_destroy(to), qn_buffer_destroy(places);
    end_kernels(&f);
}

/* Columns of a matrix, from the end to the begin, and written to every second element. */
static void arrays_of_other_strides_are_sorted(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    enum { ROWS = 37, COLUMNS = 5 };
    float *keys = random_elements(QN_F32, ROWS * COLUMNS, -5, 5, 3);
    float wanted[2 * ROWS * COLUMNS] = {0};
    for (int c = 0; c < COLUMNS; c++) {
        float column[ROWS];
        for (int r = 0; r < ROWS; r++) column[r] = keys[r * COLUMNS + c];
        uint64_t *places = sorted_places(QN_F32, column, 1, ROWS, false);
        for (int r = 0; r < ROWS; r++) wanted[2 * (c * ROWS + r)] = column[places[r]];
        free(places);
    }
    qn_buffer *from = elements_buffer(&f, QN_F32, ROWS * COLUMNS, keys),
              *to = elements_buffer(&f, QN_F32, 2 * ROWS * COLUMNS, NULL);
    const float zeros[2 * ROWS * COLUMNS] = {0};
    assert_ok(f.context, qn_buffer_write(to, 0, zeros, sizeof zeros));
    const qn_sort_desc d = {
        .keys = {from, (ROWS - 1) * COLUMNS, QN_F32, 2, {COLUMNS, ROWS}, {1, -COLUMNS}},
        .to_keys = {to, 0, QN_F32, 2, {COLUMNS, ROWS}, {2 * ROWS, 2}},
    };
    assert_ok(f.context, qn_kernels_sort(f.kernels, NULL, &d));
    float *got = buffer_contents(&f, to);
    assert_memory_equal(got, wanted, sizeof wanted);
    free(got), free(keys);
    qn_buffer_destroy(from), qn_buffer_destroy(to);
    end_kernels(&f);
}

static void a_sort_is_recorded_in_a_graph(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    enum { COUNT = 9001 };
    qn_stream *stream;
    qn_graph *graph;
    assert_ok(f.context, qn_stream_create(f.device, &stream));
    qn_buffer *keys = elements_buffer(&f, QN_U32, COUNT, NULL),
              *to = elements_buffer(&f, QN_U32, COUNT, NULL);
    assert_ok(f.context, qn_graph_begin(stream));
    assert_ok(f.context, qn_kernels_sort(f.kernels, stream,
                                         &(qn_sort_desc){.keys = QN_ARRAY(keys, QN_U32, COUNT),
                                                         .to_keys = QN_ARRAY(to, QN_U32, COUNT)}));
    assert_ok(f.context, qn_graph_end(stream, &graph));
    for (uint32_t round = 0; round < 2; round++) {
        uint32_t *data = random_elements(QN_U32, COUNT, 0, 4e9, round + 11);
        assert_ok(f.context, qn_buffer_write(keys, 0, data, COUNT * sizeof *data));
        assert_ok(f.context, qn_graph_launch(stream, graph));
        assert_ok(f.context, qn_stream_wait(stream, QN_FOREVER));
        uint64_t *places = sorted_places(QN_U32, data, 1, COUNT, false);
        void *got = buffer_contents(&f, to);
        check_moved("graph", 4, got, data, places, COUNT);
        free(got), free(places), free(data);
    }
    qn_graph_destroy(graph);
    qn_stream_destroy(stream);
    qn_buffer_destroy(keys), qn_buffer_destroy(to);
    end_kernels(&f);
}

static void wrong_sorts_are_refused(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    qn_buffer *a = elements_buffer(&f, QN_U32, 100, NULL), *b = elements_buffer(&f, QN_U32, 100, NULL),
              *c = elements_buffer(&f, QN_U32, 100, NULL);
    const qn_array x = QN_ARRAY(a, QN_U32, 20), y = QN_ARRAY(b, QN_U32, 20), z = QN_ARRAY(c, QN_U32, 20);
    const qn_array later = {a, 10, QN_U32, 1, {20}, {0}};
    const struct {
        qn_sort_desc desc;
        qn_status status;
        const char *message;
    } cases[] = {
        {{.to_keys = x}, QN_ERROR_NULL, "qn_kernels_sort: keys.buffer is NULL"},
        {{.keys = x}, QN_ERROR_NULL, "qn_kernels_sort: to_keys.buffer is NULL"},
        {{.keys = x, .to_keys = QN_ARRAY(b, QN_F32, 20)},
         QN_ERROR_ARGUMENT,
         "to_keys.type is f32 and keys.type is u32"},
        {{.keys = x, .to_keys = QN_ARRAY(b, QN_U32, 21)}, QN_ERROR_ARGUMENT, "to_keys is 21 and keys is 20"},
        {{.keys = x, .to_keys = later}, QN_ERROR_ARGUMENT, "to_keys and keys share memory"},
        {{.keys = x, .to_keys = y, .values = z},
         QN_ERROR_NULL,
         "to_values.buffer is NULL, but there are values"},
        {{.keys = x, .to_keys = y, .to_values = x}, QN_ERROR_ARGUMENT, "to_values and keys share memory"},
        {{.keys = x, .to_keys = y, .to_values = y}, QN_ERROR_ARGUMENT, "to_values and to_keys share memory"},
        {{.keys = x, .to_keys = x, .values = later, .to_values = z},
         QN_ERROR_ARGUMENT,
         "to_keys and values share memory"},
        {{.keys = x, .to_keys = y, .to_values = QN_ARRAY(c, QN_F32, 20)},
         QN_ERROR_ARGUMENT,
         "to_values.type is f32; places of keys are i32, u32, i64 or u64"},
        {{.keys = x, .to_keys = y, .values = x, .to_values = QN_ARRAY(c, QN_F32, 20)},
         QN_ERROR_ARGUMENT,
         "values.type is u32 and to_values.type is f32"},
        {{.keys = x, .to_keys = y, .to_values = QN_ARRAY(c, QN_U32, 4, 5)},
         QN_ERROR_ARGUMENT,
         "to_values is 4x5"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fails(f.context, qn_kernels_sort(f.kernels, NULL, &cases[i].desc), cases[i].status,
                     cases[i].message);
    assert_fails(f.context, qn_kernels_sort(f.kernels, NULL, NULL), QN_ERROR_NULL, "desc is NULL");
    qn_buffer_destroy(a), qn_buffer_destroy(b), qn_buffer_destroy(c);
    end_kernels(&f);
}

int main(void) {
    if (device_is_missing()) return TEST_SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_type_is_sorted_both_ways),
        cmocka_unit_test(keys_of_all_digits_are_sorted),
        cmocka_unit_test(rows_of_any_length_are_sorted_in_place_or_not),
        cmocka_unit_test(many_rows_are_sorted_in_place_or_not),
        cmocka_unit_test(zeros_and_nans_have_their_places),
        cmocka_unit_test(arrays_of_other_strides_are_sorted),
        cmocka_unit_test(a_sort_is_recorded_in_a_graph),
        cmocka_unit_test(wrong_sorts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
