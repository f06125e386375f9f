/* qn_kernels_matmul of what only hardware does in a test's time: more tiles than a device has at a time, more elements than 31 bits count. */
#include "kernels_common.h"

/* Whole numbers whose sums are exact, so that the same bits come out however k is cut. */
static void *whole_elements(qn_element type, uint64_t count) {
    enum { VALUES = 8, LONGEST = 8 };
    const uint32_t size = qn_element_size(type);
    unsigned char *data = malloc(count * size), codes[VALUES * LONGEST];
    assert_non_null(data);
    for (uint32_t i = 0; i < VALUES; i++) element_set(type, codes, i, (double)i - VALUES / 2);
    uint32_t x = 77;
    for (uint64_t i = 0; i < count; i++) {
        x = x * 1664525 + 1013904223;
        memcpy(data + i * size, codes + (x >> 29) * size, size);
    }
    return data;
}

/* More tiles than the device has at a time, and a few: those are cut along k, unless one part is asked for. Rows and columns end within tiles. */
static void last_tiles_are_cut(void **state) {
    (void)state;
    enum { TYPES = 3, CALLS = 3 };
    static const qn_element types[TYPES][2] = {{QN_BF16, QN_F32}, {QN_I8, QN_I32}, {QN_F16, QN_F16}};
    kernels_fixture f = make_kernels();
    const uint64_t n = 696, k = 8000, there = f.info.compute_units / 2,
                   m = (there / 3 + 1) * 256 - 56; /* tiles of 256 by 256, three beside each other */
    for (size_t t = 0; t < TYPES && f.info.capabilities & QN_CAN_COPY_TILES; t++) {
        const qn_element from = types[t][0], to = types[t][1];
        const size_t bytes = m * n * qn_element_size(to);
        void *const a = whole_elements(from, m * k), *const b = whole_elements(from, k * n);
        qn_buffer *const buffers[] = {elements_buffer(&f, from, m * k, a),
                                      elements_buffer(&f, from, k * n, b),
                                      make_buffer(f.device, bytes, NULL)};
        unsigned char *got[CALLS];
        for (uint32_t i = 0; i < CALLS; i++) {
            const qn_matmul_desc desc = {.out = QN_ARRAY(buffers[2], to, m, n),
                                         .a = QN_ARRAY(buffers[0], from, m, k),
                                         .b = qn_array_transpose(QN_ARRAY(buffers[1], from, n, k), 0, 1),
                                         .variant = "quad 128x256 two",
                                         .splits = i == 0};
            const uint8_t ones = 0xff;
            got[i] = malloc(bytes);
            assert_non_null(got[i]);
            assert_ok(f.context, qn_stream_fill(NULL, buffers[2], 0, bytes, &ones, 1));
            assert_ok(f.context, qn_kernels_matmul(f.kernels, NULL, &desc));
            assert_ok(f.context, qn_buffer_read(buffers[2], 0, got[i], bytes));
            assert_memory_equal(got[0], got[i], bytes);
        }
        for (int i = 0; i < CALLS; i++) free(got[i]), qn_buffer_destroy(buffers[i]);
        free(a), free(b);
    }
    if (!(f.info.capabilities & QN_CAN_COPY_TILES))
        print_message("skipped: %s has no tile copies\n", f.info.name);
    end_kernels(&f);
}

/* Whether the device is hardware that has so much memory left for a test. */
static bool has_room(kernels_fixture *f, uint64_t bytes) {
    const bool is_gpu = f->info.kind != QN_DEVICE_CPU && !(f->info.capabilities & QN_CAN_EMULATE);
    const bool has = is_gpu && f->info.max_buffer >= bytes && f->info.memory / 4 >= bytes;
    if (!has)
        print_message("skipped: %s has no %llu bytes for this\n", f->info.name, (unsigned long long)bytes);
    return has;
}

/* All of a's rows are ones, but for three, which lie before and behind element 2^31. */
static void operands_of_more_than_2_31_elements(void **state) {
    (void)state;
    enum { M = (1 << 19) + 64, K = 4096, N = 16, ROWS_LOOKED_AT = 3 };
    static const uint32_t rows[ROWS_LOOKED_AT] = {3, (1 << 19) + 1, M - 1};
    kernels_fixture f = make_kernels();
    const uint64_t size = (uint64_t)M * K;
    if (has_room(&f, size)) {
        int8_t *b = whole_elements(QN_I8, (uint64_t)K * N),
               *a = whole_elements(QN_I8, (uint64_t)ROWS_LOOKED_AT * K);
        int32_t *got = malloc((size_t)M * N * sizeof *got);
        qn_buffer *on_a = make_buffer(f.device, size, NULL),
                  *on_b = make_buffer(f.device, (uint64_t)K * N, b),
                  *out = make_buffer(f.device, (uint64_t)M * N * sizeof *got, NULL);
        const uint8_t one = 1;
        assert_non_null(got);
        assert_ok(f.context, qn_stream_fill(NULL, on_a, 0, size, &one, 1));
        for (int i = 0; i < ROWS_LOOKED_AT; i++)
            assert_ok(f.context, qn_buffer_write(on_a, (uint64_t)rows[i] * K, a + i * K, K));
        const qn_matmul_desc desc = {.out = QN_ARRAY(out, QN_I32, M, N),
                                     .a = QN_ARRAY(on_a, QN_I8, M, K),
                                     .b = QN_ARRAY(on_b, QN_I8, K, N)};
        assert_ok(f.context, qn_kernels_matmul(f.kernels, NULL, &desc));
        assert_ok(f.context, qn_buffer_read(out, 0, got, (uint64_t)M * N * sizeof *got));
        for (int j = 0; j < N; j++) {
            int32_t sums[ROWS_LOOKED_AT + 1] = {0};
            for (int p = 0; p < K; p++) {
                for (int i = 0; i < ROWS_LOOKED_AT; i++) sums[i] += a[i * K + p] * b[p * N + j];
                sums[ROWS_LOOKED_AT] += b[p * N + j];
            }
            for (uint32_t row = 0, next = 0; row < M; row++) {
                const bool is_other = next < ROWS_LOOKED_AT && rows[next] == row;
                assert_int_equal(got[(size_t)row * N + (size_t)j], sums[is_other ? next++ : ROWS_LOOKED_AT]);
            }
        }
        free(a), free(b), free(got);
        qn_buffer *const all[] = {on_a, on_b, out};
        for (int i = 0; i < 3; i++) qn_buffer_destroy(all[i]);
    }
    end_kernels(&f);
}

/* Some rows of it are looked at, of f16, whose sums are exact here. */
static void results_of_more_than_2_31_elements(void **state) {
    (void)state;
    enum { SIDE = 46400, K = 16, LOOKED_AT = 8 };
    kernels_fixture f = make_kernels();
    const uint64_t size = (uint64_t)SIDE * SIDE * 2, count = (uint64_t)SIDE * K;
    if (has_room(&f, size)) {
        uint16_t *a = whole_elements(QN_F16, count), *got = malloc(SIDE * sizeof *got);
        qn_buffer *on_a = make_buffer(f.device, count * 2, a), *out = make_buffer(f.device, size, NULL);
        assert_non_null(got);
        const qn_array x = QN_ARRAY(on_a, QN_F16, SIDE, K);
        const qn_matmul_desc desc = {
            .out = QN_ARRAY(out, QN_F16, SIDE, SIDE), .a = x, .b = qn_array_transpose(x, 0, 1)};
        assert_ok(f.context, qn_kernels_matmul(f.kernels, NULL, &desc));
        for (uint64_t i = 0; i <= LOOKED_AT; i++) {
            const uint64_t row = (SIDE - 1) * i / LOOKED_AT;
            assert_ok(f.context, qn_buffer_read(out, row * SIDE * 2, got, SIDE * 2));
            for (uint64_t j = 0; j < SIDE; j++) {
                double sum = 0;
                for (uint64_t p = 0; p < K; p++)
                    sum += element_get(QN_F16, a, row * K + p) * element_get(QN_F16, a, j * K + p);
                assert_true(element_get(QN_F16, got, j) == sum);
            }
        }
        free(a), free(got);
        qn_buffer_destroy(on_a);
        qn_buffer_destroy(out);
    }
    end_kernels(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_tiles_are_cut),
        cmocka_unit_test(operands_of_more_than_2_31_elements),
        cmocka_unit_test(results_of_more_than_2_31_elements),
    };
    return run_device_tests(tests);
}
