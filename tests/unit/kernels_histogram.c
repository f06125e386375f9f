/* qn_kernels_histogram against a plain loop: integers and floats, few bins and more than local memory has room for, strides; what is
   refused. */
#include "kernels_common.h"

typedef struct histogram_case {
    qn_element type;
    uint64_t length, bins;
    double low, high;   /* of bins */
    double least, most; /* of elements */
    bool accumulate;
} histogram_case;

/* As the header says: in 32-bit floats. */
static int64_t bin_of(const histogram_case *c, double value) {
    if (c->low == 0 && c->high == 0) return value >= 0 && value < (double)c->bins ? (int64_t)value : -1;
    const float x = (float)value, low = (float)c->low, high = (float)c->high;
    if (!(x >= low && x <= high)) return -1;
    const float scale = (float)c->bins / (high - low), offset = x - low;
    const float place = offset * scale;
    return place < (float)c->bins ? (int64_t)place : (int64_t)c->bins - 1;
}

static void check_histogram(kernels_fixture *f, const histogram_case *c, uint32_t seed) {
    void *data = random_elements(c->type, c->length, c->least, c->most, seed);
    if (c->length > 2 && element_epsilon(c->type) > 0) {
        element_set(c->type, data, 0, NAN);
        element_set(c->type, data, 1, c->high);
        element_set(c->type, data, 2, c->low);
    }
    uint32_t *wanted = random_elements(QN_U32, c->bins, 0, 9, seed + 1);
    qn_buffer *from = elements_buffer(f, c->type, c->length, data),
              *to = elements_buffer(f, QN_U32, c->bins, wanted);
    if (!c->accumulate) memset(wanted, 0, c->bins * sizeof *wanted);
    for (uint64_t i = 0; i < c->length; i++) {
        const int64_t bin = bin_of(c, element_get(c->type, data, i));
        if (bin >= 0) wanted[bin]++;
    }
    const qn_histogram_desc d = {.from = QN_ARRAY(from, c->type, c->length),
                                 .to = QN_ARRAY(to, QN_U32, c->bins),
                                 .low = c->low,
                                 .high = c->high,
                                 .accumulate = c->accumulate};
    assert_ok(f->context, qn_kernels_histogram(f->kernels, NULL, &d));
    uint32_t *got = buffer_contents(f, to);
    for (uint64_t b = 0; b < c->bins; b++)
        if (got[b] != wanted[b])
            fail_msg("%s, %llu bins: bin %llu has %u, not %u", qn_element_name(c->type),
                     (unsigned long long)c->bins, (unsigned long long)b, got[b], wanted[b]);
    free(data), free(wanted), free(got);
    qn_buffer_destroy(from), qn_buffer_destroy(to);
}

static void elements_are_counted_in_their_bins(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    const histogram_case cases[] = {
        {QN_U8, 100003, 256, 0, 0, 0, 255, false},
        {QN_I32, 5001, 10, 0, 0, -5, 15, true},
        {QN_I64, 5001, 1000, 0, 0, -50, 1500, false},
        {QN_U32, 20001, 100000, 0, 0, 0, 1e5, true},
        {QN_F32, 70001, 100, -1, 2.5, -1.5, 3, false},
        {QN_F16, 3001, 7, 0, 10, -1, 11, true},
        {QN_I16, 3001, 33, -100, 100, -200, 200, false},
        {QN_F32, 0, 5, 0, 1, 0, 1, false},
        {QN_F32, 1, 1, 0, 1, 0, 1, false},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) check_histogram(&f, &cases[i], i);
    end_kernels(&f);
}

static void other_strides_are_counted(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    const uint8_t data[] = {0, 9, 1, 9, 1, 9, 2, 9};
    const uint32_t before[] = {7, 7, 7, 7, 7, 7},
                   wanted[] = {1, 7, 2, 7, 1, 7}; /* bins from the end: 2, 1, 0 */
    qn_buffer *from = elements_buffer(&f, QN_U8, 8, data), *to = elements_buffer(&f, QN_U32, 6, before);
    const qn_histogram_desc d = {.from = {from, 0, QN_U8, 1, {4}, {2}}, .to = {to, 4, QN_U32, 1, {3}, {-2}}};
    assert_ok(f.context, qn_kernels_histogram(f.kernels, NULL, &d));
    uint32_t *got = buffer_contents(&f, to);
    assert_memory_equal(got, wanted, sizeof wanted);
    free(got);
    qn_buffer_destroy(from), qn_buffer_destroy(to);
    end_kernels(&f);
}

static void wrong_bins_are_refused(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    qn_buffer *a = elements_buffer(&f, QN_F32, 100, NULL), *b = elements_buffer(&f, QN_U32, 100, NULL);
    const qn_array x = QN_ARRAY(a, QN_F32, 10), bins = QN_ARRAY(b, QN_U32, 4);
    const struct {
        qn_histogram_desc desc;
        const char *message;
    } cases[] = {
        {{.from = x, .to = bins}, "qn_kernels_histogram: from.type is f32, and low and high are both 0"},
        {{.from = x, .to = bins, .low = 1, .high = 1}, "low is 1 and high is 1; low must be below high"},
        {{.from = x, .to = bins, .low = 1, .high = INFINITY}, "high is inf"},
        {{.from = x, .to = QN_ARRAY(b, QN_I32, 4), .high = 1}, "to is 4 of i32; it must be one row of u32"},
        {{.from = x, .to = QN_ARRAY(b, QN_U32, 2, 2), .high = 1}, "to is 2x2 of u32"},
        {{.from = x, .to = QN_ARRAY(a, QN_U32, 4), .high = 1}, "to and from share memory"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fails(f.context, qn_kernels_histogram(f.kernels, NULL, &cases[i].desc), QN_ERROR_ARGUMENT,
                     cases[i].message);
    assert_fails(f.context, qn_kernels_histogram(f.kernels, NULL, NULL), QN_ERROR_NULL,
                 "qn_kernels_histogram: desc is NULL");
    qn_buffer_destroy(a), qn_buffer_destroy(b);
    end_kernels(&f);
}

int main(void) {
    if (device_is_missing()) return TEST_SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_are_counted_in_their_bins),
        cmocka_unit_test(other_strides_are_counted),
        cmocka_unit_test(wrong_bins_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
