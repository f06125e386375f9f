/* Each rung of the matmul ladder, at sizes inside of its tiles, beside them and beyond them. */
#include "kernels_common.h"

typedef struct sizes {
    uint32_t m, n, k;
} sizes;

static const sizes shapes[] = {{1, 1, 1},      {3, 5, 0},      {5, 7, 3},  {33, 66, 12},
                               {128, 256, 24}, {131, 130, 17}, {257, 4, 9}};

static void check_rung(kernels_fixture *f, qn_kernel *kernel, uint32_t index, sizes s) {
    qn_rung rung;
    assert_true(qn_matmul_rung(index, s.m, s.n, &rung));
    void *a = random_elements(rung.type, (uint64_t)s.m * s.k, -1, 1, 1 + index),
         *b = random_elements(rung.type, (uint64_t)s.k * s.n, -1, 1, 2 + index);
    /* A margin behind C: what lies beyond is not written. */
    const uint64_t count = (uint64_t)s.m * s.n, margin = 1000;
    float *c = random_elements(QN_F32, count + margin, 5, 6, 3);
    qn_buffer *on_a = elements_buffer(f, rung.type, (uint64_t)s.m * s.k, a),
              *on_b = elements_buffer(f, rung.type, (uint64_t)s.k * s.n, b),
              *on_c = elements_buffer(f, QN_F32, count + margin, c);
    assert_ok(f->context, qn_launch(NULL, kernel, &rung.range, QN_ARGS(s.m, s.n, s.k, on_a, on_b, on_c)));
    float *got = buffer_contents(f, on_c);
    for (uint64_t i = 0; i < count; i++) {
        double sum = 0, size = 0;
        for (uint32_t p = 0; p < s.k; p++) {
            const double product = element_get(rung.type, a, i / s.n * s.k + p) *
                                   element_get(rung.type, b, (uint64_t)p * s.n + i % s.n);
            sum += product;
            size += fabs(product);
        }
        /* Matrix units cut where others round (docs/language.md, "Matrix fragments"). */
        const double unit = rung.type == QN_F32 ? 0x1p-24 : 0x1p-22;
        if (!(fabs(got[i] - sum) <= size * (s.k + 1) * unit))
            fail_msg("%s, %ux%ux%u: element %llu is %g, not %g", rung.file, s.m, s.n, s.k,
                     (unsigned long long)i, got[i], sum);
    }
    assert_memory_equal(got + count, c + count, margin * sizeof *c);
    free(got);
    free(a);
    free(b);
    free(c);
    qn_buffer_destroy(on_a);
    qn_buffer_destroy(on_b);
    qn_buffer_destroy(on_c);
}

static void every_rung_multiplies_matrices_of_any_size(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    qn_rung rung;
    uint32_t index = 0;
    for (; qn_matmul_rung(index, 1, 1, &rung); index++) {
        qn_program_desc desc = {0};
        qn_program *program;
        /* Plain fragments take a software driver's compiler minutes. */
        if (rung.type != QN_F32 && (f.info.capabilities & QN_CAN_EMULATE)) continue;
        assert_true(qn_kernels_source(rung.file, &desc));
        assert_ok(f.context, qn_program_create(f.device, &desc, &program));
        qn_kernel *kernel = make_kernel(program, f.context, "matmul");
        const size_t count = testing("cpu") || testing("cuda") ? sizeof shapes / sizeof *shapes : 4;
        for (size_t i = 0; i < count; i++) check_rung(&f, kernel, index, shapes[i]);
        qn_kernel_destroy(kernel);
        qn_program_destroy(program);
    }
    assert_int_equal(index, 10);
    end_kernels(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_rung_multiplies_matrices_of_any_size)};
    return run_device_tests(tests);
}
