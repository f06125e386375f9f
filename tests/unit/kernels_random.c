/* qn_kernels_random: Philox's published answers, parts of a sequence, strides, the distributions' moments, and what is refused. */
#include "kernels_common.h"

/* By the paper's definition, in 64-bit arithmetic. */
static void philox(uint64_t counter, uint64_t seed, uint32_t out[4]) {
    uint32_t c[4] = {(uint32_t)counter, (uint32_t)(counter >> 32), 0, 0},
             key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    for (int round = 0; round < 10; round++) {
        const uint64_t p0 = (uint64_t)0xd2511f53u * c[0], p1 = (uint64_t)0xcd9e8d57u * c[2];
        const uint32_t next[4] = {(uint32_t)(p1 >> 32) ^ c[1] ^ key[0], (uint32_t)p1,
                                  (uint32_t)(p0 >> 32) ^ c[3] ^ key[1], (uint32_t)p0};
        memcpy(c, next, sizeof c);
        key[0] += 0x9e3779b9u;
        key[1] += 0xbb67ae85u;
    }
    memcpy(out, c, sizeof c);
}

static void words_are_those_of_philox(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    /* Random123's known answer for a counter and a key of zeros. */
    const uint32_t known[4] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
    uint32_t got[103], wanted[4];
    qn_buffer *out = make_buffer(f.device, sizeof got, NULL);
    assert_ok(f.context,
              qn_kernels_random(f.kernels, NULL, &(qn_random_desc){.to = QN_ARRAY(out, QN_U32, 4)}));
    assert_ok(f.context, qn_buffer_read(out, 0, got, 16));
    assert_memory_equal(got, known, 16);
    /* Another seed, from the middle of a block far off. */
    const uint64_t seed = 0x123456789abcdef, offset = (1ull << 34) + 7;
    const qn_random_desc d = {.to = QN_ARRAY(out, QN_U32, 103), .seed = seed, .offset = offset};
    assert_ok(f.context, qn_kernels_random(f.kernels, NULL, &d));
    assert_ok(f.context, qn_buffer_read(out, 0, got, sizeof got));
    for (uint64_t i = 0; i < 103; i++) {
        philox((offset + i) / 4, seed, wanted);
        if (got[i] != wanted[(offset + i) % 4]) fail_msg("word %u is 0x%x", (unsigned)i, (unsigned)got[i]);
    }
    uint64_t wide[5];
    assert_ok(f.context, qn_kernels_random(
                             f.kernels, NULL,
                             &(qn_random_desc){.to = QN_ARRAY(out, QN_U64, 5), .seed = seed, .offset = 3}));
    assert_ok(f.context, qn_buffer_read(out, 0, wide, sizeof wide));
    for (uint64_t i = 0; i < 5; i++) {
        philox((3 + i) / 2, seed, wanted);
        const uint32_t *pair = wanted + (3 + i) % 2 * 2;
        assert_true(wide[i] == ((uint64_t)pair[1] << 32 | pair[0]));
    }
    end_kernels(&f);
}

static void numbers_follow_from_the_words(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    static const struct {
        qn_element type;
        double a, b;
    } cases[] = {{QN_F32, 0, 0}, {QN_F32, -2, 6},  {QN_F16, 0, 0},  {QN_BF16, 1, 9},   {QN_E4M3, -1, 1},
                 {QN_I8, -5, 6}, {QN_I32, 10, 90}, {QN_BOOL, 0, 0}, {QN_U16, 100, 300}};
    enum { COUNT = 1001 };
    for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
        const qn_element type = cases[t].type;
        const double a = cases[t].a, b = cases[t].b, span = b - a;
        qn_buffer *out = elements_buffer(&f, type, 2 * COUNT, NULL);
        /* Backwards and with gaps, and in two parts. */
        qn_array first = {out, 2 * COUNT - 1, type, 1, {500}, {-2}}, second = first;
        second.offset -= 2 * 500;
        second.sizes[0] = COUNT - 500;
        assert_ok(f.context, qn_kernels_random(f.kernels, NULL,
                                               &(qn_random_desc){.to = first, .seed = 9, .a = a, .b = b}));
        assert_ok(f.context, qn_kernels_random(
                                 f.kernels, NULL,
                                 &(qn_random_desc){.to = second, .seed = 9, .offset = 500, .a = a, .b = b}));
        void *got = buffer_contents(&f, out);
        for (uint64_t i = 0; i < COUNT; i++) {
            uint32_t words[4];
            philox(i / 4, 9, words);
            const double word = words[i % 4], fraction = floor(word / 256) * 0x1p-24;
            const double real = span > 0 ? (float)(a + (float)(span * fraction)) : fraction;
            const double whole =
                type == QN_BOOL ? floor(2 * word * 0x1p-32) : a + floor(span * word * 0x1p-32);
            const double wanted = element_epsilon(type) > 0 ? element_round(type, real) : whole;
            const double value = element_get(type, got, 2 * COUNT - 1 - 2 * i);
            if (value != wanted)
                fail_msg("number %u of %s is %.9g, not %.9g", (unsigned)i, qn_element_name(type), value,
                         wanted);
        }
        free(got);
        qn_buffer_destroy(out);
    }
    end_kernels(&f);
}

/* Contiguous arrays have a kernel of their own, which moves blocks as a whole where they lie so: the same numbers as with gaps. */
static void contiguous_arrays_get_the_same_numbers(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    enum { COUNT = 9001 };
    static const qn_element types[] = {QN_F32, QN_U8, QN_U64};
    static const uint64_t begins[][2] = {{0, 0}, {6, 2}, {1, 4}, {0, 7}}; /* in the array, in the sequence */
    for (size_t i = 0; i < 12; i++) {
        const qn_element type = types[i / 4];
        const uint64_t *begin = begins[i % 4], size = qn_element_size(type);
        qn_buffer *out = elements_buffer(&f, type, COUNT + 8, NULL),
                  *with_gaps = elements_buffer(&f, type, 2 * COUNT, NULL);
        const qn_array flat = {out, begin[0], type, 1, {COUNT}, {1}},
                       gaps = {with_gaps, 0, type, 1, {COUNT}, {2}};
        for (int with = 0; with < 2; with++) {
            const qn_random_desc d = {.to = with ? gaps : flat, .seed = 11, .offset = begin[1]};
            assert_ok(f.context, qn_kernels_random(f.kernels, NULL, &d));
        }
        char *got = buffer_contents(&f, out), *wanted = buffer_contents(&f, with_gaps);
        for (uint64_t n = 0; n < COUNT; n++)
            if (memcmp(got + (begin[0] + n) * size, wanted + 2 * n * size, size) != 0)
                fail_msg("%s, case %u: number %u", qn_element_name(type), (unsigned)i % 4, (unsigned)n);
        for (uint64_t n = 0; n < (COUNT + 8) * size; n++) /* nothing before it or behind it */
            assert_true(got[n] == 0 || (n >= begin[0] * size && n < (begin[0] + COUNT) * size));
        free(got), free(wanted);
        qn_buffer_destroy(out), qn_buffer_destroy(with_gaps);
    }
    end_kernels(&f);
}

static void normal_numbers_have_their_moments(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    const qn_element types[] = {QN_F32, QN_F64};
    enum { COUNT = 40001 };
    for (size_t t = 0; t < 2; t++) {
        if (!has_type(&f, types[t])) continue;
        qn_buffer *out = elements_buffer(&f, types[t], COUNT, NULL);
        const qn_random_desc d = {.to = QN_ARRAY(out, types[t], COUNT),
                                  .distribution = QN_RANDOM_NORMAL,
                                  .seed = 5,
                                  .offset = 1,
                                  .a = 3,
                                  .b = 2};
        assert_ok(f.context, qn_kernels_random(f.kernels, NULL, &d));
        void *got = buffer_contents(&f, out);
        double sum[5] = {0}, next = 0;
        for (uint64_t i = 0; i < COUNT; i++) {
            const double x = (element_get(types[t], got, i) - 3) / 2;
            sum[1] += x, sum[2] += x * x, sum[3] += x * x * x, sum[4] += x * x * x * x;
            if (i) next += x * (element_get(types[t], got, i - 1) - 3) / 2;
        }
        assert_true(fabs(sum[1] / COUNT) < 0.02 && fabs(sum[2] / COUNT - 1) < 0.03);
        assert_true(fabs(sum[3] / COUNT) < 0.06 && fabs(sum[4] / COUNT - 3) < 0.2 &&
                    fabs(next / COUNT) < 0.02);
        uint32_t words[4];
        philox(0, 5, words);
        const double radius = sqrt(-2 * log(floor(words[2] / 256) * 0x1p-24 + 0x1p-25)),
                     second = 3 + 2 * radius * cos(6.283185307179586 * floor(words[3] / 256) * 0x1p-24);
        if (types[t] == QN_F32) assert_true(fabs(element_get(QN_F32, got, 1) - second) < 1e-4);
        free(got);
        qn_buffer_destroy(out);
    }
    end_kernels(&f);
}

static void wrong_calls_are_refused(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    qn_buffer *x = elements_buffer(&f, QN_F32, 8, NULL);
    const struct {
        qn_random_desc d;
        const char *message;
    } cases[] = {
        {{.to = QN_ARRAY(x, QN_F32, 8), .distribution = (qn_distribution)7}, "distribution is 7"},
        {{.to = QN_ARRAY(x, QN_I32, 8), .distribution = QN_RANDOM_NORMAL},
         "to is of i32; normal numbers need"},
        {{.to = QN_ARRAY(x, QN_F32, 8), .a = 2, .b = 1}, "a is 2 and b is 1"},
        {{.to = QN_ARRAY(x, QN_F32, 8), .b = INFINITY}, "b is inf"},
        {{.to = QN_ARRAY(x, QN_I32, 8), .a = 3, .b = 3}, "there are no 0 numbers"},
        {{.to = QN_ARRAY(x, QN_F32, 8), .offset = UINT64_MAX}, "pass 2^64"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fails(f.context, qn_kernels_random(f.kernels, NULL, &cases[i].d), QN_ERROR_ARGUMENT,
                     cases[i].message);
    assert_fails(f.context, qn_kernels_random(f.kernels, NULL, NULL), QN_ERROR_NULL, "desc is NULL");
    assert_ok(f.context, qn_kernels_random(f.kernels, NULL, &(qn_random_desc){.to = {.rank = 1}}));
    end_kernels(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_those_of_philox),
        cmocka_unit_test(numbers_follow_from_the_words),
        cmocka_unit_test(contiguous_arrays_get_the_same_numbers),
        cmocka_unit_test(normal_numbers_have_their_moments),
        cmocka_unit_test(wrong_calls_are_refused),
    };
    return run_device_tests(tests);
}
