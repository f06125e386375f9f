/* The text of a tuning: what it chooses is what qn_kernels_matmul does, for which products; texts that are none. */
#include "kernels_common.h"

enum { M = 24, N = 40, K = 1000, PARTS = 3 };
static const char chosen[] = "tile 32x32";

static qn_status create_with(const kernels_fixture *f, const char *text, qn_kernels **kernels) {
    return qn_kernels_create(f->device, &(qn_kernels_desc){.tuning = text}, kernels);
}

/* A tuning for this device with one line more. */
static qn_kernels *tuned_with(const kernels_fixture *f, const char *line) {
    char device[512], text[1024];
    qn_kernels *kernels = NULL;
    qn_kernels_tuning_device(f->kernels, device, sizeof device);
    snprintf(text, sizeof text, QN_TUNING_HEAD "\n# a remark\r\n\n%s\n%s", device, line);
    assert_ok(f->context, create_with(f, text, &kernels));
    return kernels;
}

/* The bits of a product show how it was done: parts of k are rounded on their own. */
static float *product(const kernels_fixture *f, qn_kernels *kernels, qn_buffer *const buffers[3], uint64_t m,
                      const char *variant, uint32_t splits) {
    const qn_matmul_desc d = {.out = QN_ARRAY(buffers[2], QN_F32, m, N),
                              .a = QN_ARRAY(buffers[0], QN_F32, m, K),
                              .b = QN_ARRAY(buffers[1], QN_F32, K, N),
                              .variant = variant,
                              .splits = splits};
    assert_ok(f->context, qn_kernels_matmul(kernels, NULL, &d));
    return buffer_contents(f, buffers[2]);
}

/* Whether a tuning with this line makes `kernels` do a product of m rows as the variant and the parts above do. */
static bool has_effect(const kernels_fixture *f, qn_buffer *const buffers[3], uint64_t m, const char *line) {
    qn_kernels *kernels = tuned_with(f, line);
    float *wanted = product(f, f->kernels, buffers, m, chosen, PARTS),
          *own = product(f, f->kernels, buffers, m, NULL, 0), *got = product(f, kernels, buffers, m, NULL, 0);
    const size_t size = m * N * sizeof(float);
    const bool is_wanted = memcmp(got, wanted, size) == 0;
    assert_memory_not_equal(own, wanted, size);
    if (!is_wanted) assert_memory_equal(got, own, size);
    free(wanted), free(own), free(got);
    qn_kernels_destroy(kernels);
    return is_wanted;
}

static void products_are_done_as_the_tuning_says(void **state) {
    (void)state;
    kernels_fixture f = make_kernels();
    float *a = random_elements(QN_F32, M * K, -1, 1, 1), *b = random_elements(QN_F32, K * N, -1, 1, 2);
    for (int i = 0; i < M * K; i++) a[i] *= 1.1f; /* sums that are rounded */
    qn_buffer *buffers[] = {elements_buffer(&f, QN_F32, M * K, a), elements_buffer(&f, QN_F32, K * N, b),
                            elements_buffer(&f, QN_F32, M * N, NULL)};
    assert_true(has_effect(&f, buffers, M, "\tmatmul f32  f32 f32 nn 24x40x1000 3 tile 32x32 \r\n"));
    assert_true(has_effect(&f, buffers, M, "matmul f32 f32 f32 nn 24x40x1128 3 tile 32x32")); /* near */
    /* The nearest one counts. */
    assert_true(has_effect(&f, buffers, M,
                           "matmul f32 f32 f32 nn 24x40x1064 5 tile 32x32\n"
                           "matmul f32 f32 f32 nn 24x40x1000 3 tile 32x32\n"
                           "matmul f32 f32 f32 nn 24x40x968 7 tile 32x32"));
    static const char others[] = "matmul f32 f32 f32 nn 24x40x2008 3 tile 32x32\n"
                                 "matmul f32 f32 f32 nn 24x40x1001 3 tile 32x32\n"
                                 "matmul f32 f32 f32 nt 24x40x1000 3 tile 32x32\n"
                                 "matmul tf32 tf32 f32 nn 24x40x1000 3 tile 32x32\n"
                                 "matmul f32 f32 bf16 nn 24x40x1000 3 tile 32x32\n"
                                 "device none | of these | 1\n"
                                 "matmul f32 f32 f32 nn 24x40x1000 3 tile 32x32\n";
    assert_false(has_effect(&f, buffers, M, others));
    assert_false(has_effect(&f, buffers, M, "matmul f32 f32 f32 nn 24x40x1000 3 vector")); /* which cannot */
    free(a), free(b);
    for (int i = 0; i < 3; i++) qn_buffer_destroy(buffers[i]);
    end_kernels(&f);
}

static void what_is_no_tuning_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"", "line 1: a tuning begins with 'quern tuning 1'"},
        {"quern tuning 2\n", "line 1: a tuning begins"},
        {"quern tuning 10\n", "line 1: a tuning begins"},
        {QN_TUNING_HEAD "\n\nsort 3", "line 3: 'sort' is no line of a tuning"},
        {QN_TUNING_HEAD "\ndevice cuda", "line 2: a device is 'KIND | DESCRIPTION | DRIVER', not 'cuda'"},
        {QN_TUNING_HEAD "\nmatmul f32 f33", "line 2: 'f33' is no type"},
        {QN_TUNING_HEAD "\nmatmul f32 f32 tf32", "line 2: 'tf32' is no type"},
        {QN_TUNING_HEAD "\nmatmul f32 f32 f32 nnn 1x2x3 1 strip",
         "line 2: 'nnn' is no layout: nn, nt, tn or tt"},
        {QN_TUNING_HEAD "\nmatmul f32 f32 f32 nn 1x2 1 strip", "line 2: '1x2' is no MxNxK"},
        {QN_TUNING_HEAD "\nmatmul f32 f32 f32 nn 1x0x2 1 strip", "line 2: '1x0x2' is no MxNxK"},
        {QN_TUNING_HEAD "\nmatmul f32 f32 f32 nn 1x2x99999999999999999999 1 strip", "is no MxNxK"},
        {QN_TUNING_HEAD "\nmatmul f32 f32 f32 nn 1x2x3 65536 strip", "line 2: '65536' is no number of parts"},
        {QN_TUNING_HEAD "\nmatmul f32 f32 f32 nn 1x2x3 -1 strip", "line 2: '-1' is no number of parts"},
        {QN_TUNING_HEAD "\nmatmul f32 f32 f32 nn 1x2x3 1 tile",
         "line 2: qn_kernels_matmul has no variant 'tile'"},
        {QN_TUNING_HEAD "\nmatmul f32 f32 f32 nn 1x2x3 1", "line 2: qn_kernels_matmul has no variant ''"}};
    kernels_fixture f = make_kernels_quickly();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        qn_kernels *kernels = f.kernels;
        assert_int_equal(create_with(&f, rows[i].text, &kernels), QN_ERROR_ARGUMENT);
        assert_null(kernels);
        if (!strstr(qn_error_message(f.context), rows[i].message))
            fail_msg("'%s' instead of '%s'", qn_error_message(f.context), rows[i].message);
    }
    char line[8];
    qn_kernels_tuning_device(f.kernels, line, sizeof line);
    assert_string_equal(line, "device ");
    qn_kernels_tuning_device(f.kernels, NULL, 0);
    end_kernels(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(products_are_done_as_the_tuning_says),
                                       cmocka_unit_test(what_is_no_tuning_is_refused)};
    return run_device_tests(tests);
}
