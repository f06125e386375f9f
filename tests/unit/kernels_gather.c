/* qn_kernels_gather and qn_kernels_scatter against plain loops: every dimension, indices of several dimensions and types, out of range, repeated
   ones, strides; what is refused. */
#include "kernels_common.h"

typedef struct gather_case {
    qn_element type, index_type;
    uint64_t outer, length, inner;
    uint64_t chosen[2];
    bool add, deterministic;
} gather_case;

static const gather_case cases[] = {
    {QN_F32, QN_I32, 1, 50, 1, {7, 9}, true, false},
    {QN_F32, QN_U32, 1, 300, 17, {40, 5}, true, true},
    {QN_F16, QN_I64, 3, 20, 4, {6, 10}, true, false},
    {QN_BF16, QN_U64, 2, 9, 1, {5, 5}, true, true},
    {QN_U8, QN_I32, 5, 11, 3, {4, 4}, true, false},
    {QN_I32, QN_I32, 2, 100, 6, {30, 10}, true, false},
    {QN_U64, QN_U32, 4, 30, 2, {11, 3}, false, true},
    {QN_BOOL, QN_I64, 1, 64, 5, {8, 8}, false, true},
    {QN_E4M3, QN_I32, 1, 40, 1, {100, 1}, false, true},
    {QN_F32, QN_I32, 2, 5, 3, {0, 4}, true, true},
    /* Several work-groups, and slices of whole words. */
    {QN_F32, QN_I32, 2, 500, 12, {150, 3}, false, false},
    {QN_U8, QN_U32, 1, 330, 272, {20, 15}, false, false},
    {QN_I32, QN_I32, 1, 1500, 1, {1200, 1}, false, false},
    {QN_F32, QN_I32, 1, 30, 300, {37, 1}, true, false},
};
enum { CASES = sizeof cases / sizeof *cases };

/* Indices of a type, some of them beyond the length; signed ones below 0 too. As numbers, too. Where it matters which of equal ones is
   left, and may be any, all differ. */
static void *make_indices(const gather_case *c, int64_t *numbers, uint32_t seed) {
    const uint64_t count = c->chosen[0] * c->chosen[1];
    const bool is_signed = c->index_type == QN_I32 || c->index_type == QN_I64;
    void *indices = random_elements(c->index_type, count, is_signed ? -3 : 0, (double)c->length + 3, seed);
    for (uint64_t i = 0; i < count && !c->add && !c->deterministic; i++)
        element_set(c->index_type, indices, i, (double)((i * 7 + 2) % (c->length + 3)));
    for (uint64_t i = 0; i < count; i++) numbers[i] = (int64_t)element_get(c->index_type, indices, i);
    return indices;
}

static qn_array whole_of(const gather_case *c, qn_buffer *buffer) {
    return QN_ARRAY(buffer, c->type, c->outer, c->length, c->inner);
}
static qn_array chosen_of(const gather_case *c, qn_buffer *buffer) {
    return QN_ARRAY(buffer, c->type, c->outer, c->chosen[0], c->chosen[1], c->inner);
}

static void check_gather(kernels_fixture *f, const gather_case *c, uint32_t seed) {
    const uint64_t count = c->chosen[0] * c->chosen[1], size = qn_element_size(c->type);
    int64_t *numbers = calloc(count + 1, sizeof *numbers);
    void *indices = make_indices(c, numbers, seed);
    char *data = random_elements(c->type, c->outer * c->length * c->inner, 0, 2, seed + 1);
    qn_buffer *from = elements_buffer(f, c->type, c->outer * c->length * c->inner, data),
              *index = elements_buffer(f, c->index_type, count, indices),
              *to = elements_buffer(f, c->type, c->outer * count * c->inner, NULL);
    const qn_gather_desc d = {.from = whole_of(c, from),
                              .indices = QN_ARRAY(index, c->index_type, c->chosen[0], c->chosen[1]),
                              .to = chosen_of(c, to),
                              .dimension = 1};
    assert_ok(f->context, qn_kernels_gather(f->kernels, NULL, &d));
    char *got = buffer_contents(f, to);
    const char zeros[8] = {0};
    for (uint64_t o = 0; o < c->outer; o++)
        for (uint64_t j = 0; j < count; j++)
            for (uint64_t k = 0; k < c->inner; k++) {
                const bool there = numbers[j] >= 0 && (uint64_t)numbers[j] < c->length;
                const char *wanted =
                    there ? data + ((o * c->length + (uint64_t)numbers[j]) * c->inner + k) * size : zeros;
                assert_memory_equal(got + ((o * count + j) * c->inner + k) * size, wanted, size);
            }
    free(numbers), free(indices), free(data), free(got);
    qn_buffer_destroy(from), qn_buffer_destroy(index), qn_buffer_destroy(to);
}

/* The sum of small whole numbers is exact in any order, and in any of the types. */
static void check_scatter(kernels_fixture *f, const gather_case *c, uint32_t seed) {
    const uint64_t count = c->chosen[0] * c->chosen[1], all = c->outer * c->length * c->inner,
                   parts = c->outer * count * c->inner;
    int64_t *numbers = calloc(count + 1, sizeof *numbers);
    void *indices = make_indices(c, numbers, seed), *data = calloc(parts + 1, 8),
         *wanted = calloc(all + 1, 8);
    uint32_t state = seed + 5;
    for (uint64_t i = 0; i < parts; i++) element_set(c->type, data, i, next_random(&state) >> 30);
    for (uint64_t i = 0; i < all; i++) element_set(c->type, wanted, i, next_random(&state) >> 30);
    qn_buffer *from = elements_buffer(f, c->type, parts, data),
              *index = elements_buffer(f, c->index_type, count, indices),
              *to = elements_buffer(f, c->type, all, wanted);
    for (uint64_t o = 0; o < c->outer; o++)
        for (uint64_t j = 0; j < count; j++)
            for (uint64_t k = 0; k < c->inner; k++) {
                if (numbers[j] < 0 || (uint64_t)numbers[j] >= c->length) continue;
                const uint64_t at = (o * c->length + (uint64_t)numbers[j]) * c->inner + k;
                const double value = element_get(c->type, data, (o * count + j) * c->inner + k);
                element_set(c->type, wanted, at, c->add ? element_get(c->type, wanted, at) + value : value);
            }
    const qn_scatter_desc d = {.from = chosen_of(c, from),
                               .indices = QN_ARRAY(index, c->index_type, c->chosen[0], c->chosen[1]),
                               .to = whole_of(c, to),
                               .dimension = 1,
                               .add = c->add,
                               .deterministic = c->deterministic};
    assert_ok(f->context, qn_kernels_scatter(f->kernels, NULL, &d));
    void *got = buffer_contents(f, to);
    for (uint64_t i = 0; i < all; i++)
        if (element_get(c->type, got, i) != element_get(c->type, wanted, i))
            fail_msg("%s: element %llu is %g, not %g", qn_element_name(c->type), (unsigned long long)i,
                     element_get(c->type, got, i), element_get(c->type, wanted, i));
    free(numbers), free(indices), free(data), free(wanted), free(got);
    qn_buffer_destroy(from), qn_buffer_destroy(index), qn_buffer_destroy(to);
}

static void slices_are_gathered(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    for (uint32_t i = 0; i < CASES; i++) check_gather(&f, &cases[i], i);
    end_kernels(&f);
}

static void slices_are_scattered_and_added(void **state) {
    (void)state;
    /* Of few threads a processor goes through all indices, of many it adds by atomics, or sorts. */
    const uint32_t threads[] = {1, 40};
    for (int t = 0; t < (testing("cpu") ? 2 : 1); t++) {
        kernels_fixture f = make_kernels_with(&(qn_context_desc){.cpu_threads = threads[t]});
        for (uint32_t i = 0; i < CASES; i++) check_scatter(&f, &cases[i], i + 30);
        end_kernels(&f);
    }
}

/* Rows of a matrix, in reverse, to the columns of another one; the rest of it stays. */
static void other_strides_are_scattered(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    const float data[] = {1, 2, 3, 4, 5, 6};
    const int32_t indices[] = {3, 0, 99};
    const float before[] = {-1, -2, -3, -4, -5, -6, -7, -8};
    const float wanted[] = {3, -2, -3, 5, 4, -6, -7, 6};
    qn_buffer *from = elements_buffer(&f, QN_F32, 6, data), *index = elements_buffer(&f, QN_I32, 3, indices),
              *to = elements_buffer(&f, QN_F32, 8, before);
    const qn_scatter_desc d = {.from = {from, 4, QN_F32, 2, {3, 2}, {-2, 1}},
                               .indices = QN_ARRAY(index, QN_I32, 3),
                               .to = {to, 0, QN_F32, 2, {4, 2}, {1, 4}}};
    assert_ok(f.context, qn_kernels_scatter(f.kernels, NULL, &d));
    float *got = buffer_contents(&f, to);
    assert_memory_equal(got, wanted, sizeof wanted);
    free(got);
    qn_buffer_destroy(from), qn_buffer_destroy(index), qn_buffer_destroy(to);
    end_kernels(&f);
}

static void wrong_indices_are_refused(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    qn_buffer *a = elements_buffer(&f, QN_F32, 100, NULL), *b = elements_buffer(&f, QN_F32, 100, NULL),
              *c = elements_buffer(&f, QN_F32, 100, NULL);
    const qn_array x = QN_ARRAY(a, QN_F32, 10, 4), y = QN_ARRAY(b, QN_F32, 3, 4), i = QN_ARRAY(c, QN_I32, 3);
    const struct {
        qn_gather_desc desc;
        const char *message;
    } gathers[] = {
        {{.from = x, .indices = i, .to = y, .dimension = 1},
         "to is 3x4; it must be from (10x4) with the sizes of indices (3) in place of dimension 1"},
        {{.from = x, .indices = i, .to = y, .dimension = 2}, "dimension is 2, and from has 2"},
        {{.from = x, .indices = QN_ARRAY(c, QN_F32, 3), .to = y}, "indices.type is f32"},
        {{.from = x, .indices = i, .to = QN_ARRAY(b, QN_I32, 3, 4)}, "to.type and from.type are i32 and f32"},
        {{.from = x, .indices = i, .to = QN_ARRAY(a, QN_F32, 3, 4)}, "to and from share memory"},
        {{.from = x, .indices = QN_ARRAY(b, QN_I32, 3), .to = y}, "to and indices share memory"},
    };
    for (size_t n = 0; n < sizeof gathers / sizeof *gathers; n++)
        assert_fails(f.context, qn_kernels_gather(f.kernels, NULL, &gathers[n].desc), QN_ERROR_ARGUMENT,
                     gathers[n].message);
    assert_fails(f.context,
                 qn_kernels_scatter(f.kernels, NULL, &(qn_scatter_desc){.from = x, .indices = i, .to = y}),
                 QN_ERROR_ARGUMENT, "qn_kernels_scatter: from is 10x4; it must be to (3x4)");
    const qn_scatter_desc booleans = {
        .from = QN_ARRAY(b, QN_BOOL, 3, 4), .indices = i, .to = QN_ARRAY(a, QN_BOOL, 10, 4), .add = true};
    assert_fails(f.context, qn_kernels_scatter(f.kernels, NULL, &booleans), QN_ERROR_ARGUMENT,
                 "bool, which cannot be added");
    assert_fails(f.context, qn_kernels_scatter(f.kernels, NULL, NULL), QN_ERROR_NULL,
                 "qn_kernels_scatter: desc is NULL");
    assert_fails(f.context, qn_kernels_gather(f.kernels, NULL, NULL), QN_ERROR_NULL,
                 "qn_kernels_gather: desc is NULL");
    qn_buffer_destroy(a), qn_buffer_destroy(b), qn_buffer_destroy(c);
    end_kernels(&f);
}

int main(void) {
    if (device_is_missing()) return TEST_SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_are_gathered),
        cmocka_unit_test(slices_are_scattered_and_added),
        cmocka_unit_test(other_strides_are_scattered),
        cmocka_unit_test(wrong_indices_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
