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
    assert_true(
        has_effect(&f, buffers, M, "\tmatmul f32  f32 f32 nn 24x40x1000: variant tile 32x32, parts 3 \r\n"));
    assert_true(has_effect(&f, buffers, M,
                           "matmul f32 f32 f32 nn 24x40x1128: variant tile 32x32, parts 3")); /* near */
    /* The nearest one counts. */
    assert_true(has_effect(&f, buffers, M,
                           "matmul f32 f32 f32 nn 24x40x1064: variant tile 32x32, parts 5\n"
                           "matmul f32 f32 f32 nn 24x40x1000: variant tile 32x32, parts 3\n"
                           "matmul f32 f32 f32 nn 24x40x968: variant tile 32x32, parts 7"));
    static const char others[] = "matmul f32 f32 f32 nn 24x40x2008: variant tile 32x32, parts 3\n"
                                 "matmul f32 f32 f32 nn 24x40x1001: variant tile 32x32, parts 3\n"
                                 "matmul f32 f32 f32 nt 24x40x1000: variant tile 32x32, parts 3\n"
                                 "matmul tf32 tf32 f32 nn 24x40x1000: variant tile 32x32, parts 3\n"
                                 "matmul f32 f32 bf16 nn 24x40x1000: variant tile 32x32, parts 3\n"
                                 "device none | of these | 1\n"
                                 "matmul f32 f32 f32 nn 24x40x1000: variant tile 32x32, parts 3\n";
    assert_false(has_effect(&f, buffers, M, others));
    assert_false(has_effect(&f, buffers, M,
                            "matmul f32 f32 f32 nn 24x40x1000: variant vector, parts 3")); /* which cannot */
    free(a), free(b);
    for (int i = 0; i < 3; i++) qn_buffer_destroy(buffers[i]);
    end_kernels(&f);
}

/* What is set for a call of reduce, of rows, of sort and for a vector is what is chosen for it; what a device cannot do is not. */
static void other_calls_are_done_as_the_tuning_says(void **state) {
    (void)state;
    static const char *const lines[] = {"reduce f32 f32 sum rows 1x10000: items 64, steps 4",
                                        "reduce f32 f32 sum columns 100x100: items 128, steps 16",
                                        "rows softmax f32 100x100: items 32",
                                        "copy u32 u32 100x100x1: rows 32, columns 64",
                                        "sort f32 none 1x10000: sub_groups 4, items 4",
                                        "vector f32 along_k 100x100: lanes 16, lines 2, loads 4"};
    enum { LINES = sizeof lines / sizeof *lines, COUNT = 10000, SIDE = 100 };
    kernels_fixture f = make_kernels_quickly();
    float *data = random_elements(QN_F32, COUNT, -1, 1, 7);
    qn_buffer *from = elements_buffer(&f, QN_F32, COUNT, data),
              *to = elements_buffer(&f, QN_F32, COUNT, NULL);
    const qn_array all = QN_ARRAY(from, QN_F32, COUNT), out = QN_ARRAY(to, QN_F32, COUNT),
                   square = QN_ARRAY(from, QN_F32, SIDE, SIDE), square_out = QN_ARRAY(to, QN_F32, SIDE, SIDE);
    char text[1024] = "";
    for (int i = 0; i < LINES; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s\n", lines[i]);
    for (int tuned = 0; tuned < 2; tuned++) {
        qn_kernels *kernels = tuned ? tuned_with(&f, text) : f.kernels;
        float *got;
        double sum = 0;
        for (int i = 0; i < COUNT; i++) sum += (double)data[i];
        assert_ok(
            f.context,
            qn_kernels_reduce(kernels, NULL, &(qn_reduce_desc){.to = QN_ARRAY(to, QN_F32, 1), .from = all}));
        got = buffer_contents(&f, to);
        assert_true(fabs((double)got[0] - sum) < 1e-2);
        free(got);
        assert_ok(f.context,
                  qn_kernels_reduce(
                      kernels, NULL,
                      &(qn_reduce_desc){.axes = 1, .to = QN_ARRAY(to, QN_F32, SIDE), .from = square}));
        got = buffer_contents(&f, to);
        for (int i = 0; i < SIDE; i++) {
            double column = 0;
            for (int j = 0; j < SIDE; j++) column += (double)data[j * SIDE + i];
            assert_true(fabs((double)got[i] - column) < 1e-4);
        }
        free(got);
        assert_ok(f.context,
                  qn_kernels_softmax(kernels, NULL, &(qn_softmax_desc){.to = square_out, .from = square}));
        got = buffer_contents(&f, to);
        for (int i = 0; i < SIDE; i++) {
            double row = 0;
            for (int j = 0; j < SIDE; j++) row += (double)got[i * SIDE + j];
            assert_true(fabs(row - 1) < 1e-4);
        }
        free(got);
        assert_ok(f.context, qn_kernels_copy(kernels, NULL,
                                             &(qn_copy_desc){.to = square_out,
                                                             .from = qn_array_transpose(square, 0, 1)}));
        got = buffer_contents(&f, to);
        for (int i = 0; i < COUNT; i++) assert_true(got[i] == data[i % SIDE * SIDE + i / SIDE]);
        free(got);
        const qn_matmul_desc product = {.out = QN_ARRAY(to, QN_F32, SIDE, 1),
                                        .a = square,
                                        .b = QN_ARRAY(from, QN_F32, SIDE, 1),
                                        .variant = "vector"};
        assert_ok(f.context, qn_kernels_matmul(kernels, NULL, &product));
        got = buffer_contents(&f, to);
        for (int i = 0; i < SIDE; i++) {
            double by_row = 0;
            for (int j = 0; j < SIDE; j++) by_row += (double)data[i * SIDE + j] * (double)data[j];
            assert_true(fabs((double)got[i] - by_row) < 1e-4);
        }
        free(got);
        assert_ok(f.context, qn_kernels_sort(kernels, NULL, &(qn_sort_desc){.to_keys = out, .keys = all}));
        got = buffer_contents(&f, to);
        for (int i = 1; i < COUNT; i++) assert_true(got[i - 1] <= got[i]);
        free(got);
        if (tuned) {
            char line[256];
            uint32_t count = 0;
            bool as_set[LINES] = {false};
            for (; qn_kernels_tuning_line(kernels, count, line, sizeof line); count++)
                for (int i = 0; i < LINES; i++) as_set[i] |= strcmp(line, lines[i]) == 0;
            assert_true(count > 0); /* a processor copies, reduces and sorts in ways without a choice */
            assert_true(as_set[LINES - 1]);
            for (int i = 0; i < LINES && !testing("cpu") && !testing("opencl"); i++)
                if (!as_set[i]) fail_msg("not done: %s", lines[i]);
            qn_kernels_destroy(kernels);
        }
    }
    free(data);
    qn_buffer_destroy(from), qn_buffer_destroy(to);
    end_kernels(&f);
}

/* What was chosen without a tuning, as lines of one, makes the same choices. */
static void what_was_chosen_is_a_line(void **state) {
    (void)state;
    kernels_fixture f = make_kernels_quickly();
    qn_buffer *buffers[] = {elements_buffer(&f, QN_F32, M * K, NULL),
                            elements_buffer(&f, QN_F32, K * N, NULL),
                            elements_buffer(&f, QN_F32, M * N, NULL)};
    char line[256], again[256];
    assert_false(qn_kernels_tuning_line(f.kernels, 0, line, sizeof line));
    free(product(&f, f.kernels, buffers, M, chosen, PARTS)); /* no choice of the library's */
    assert_false(qn_kernels_tuning_line(f.kernels, 0, line, sizeof line));
    free(product(&f, f.kernels, buffers, M, NULL, 0));
    free(product(&f, f.kernels, buffers, M, NULL, 0));
    assert_true(qn_kernels_tuning_line(f.kernels, 0, line, sizeof line));
    assert_false(qn_kernels_tuning_line(f.kernels, 1, again, sizeof again));
    assert_memory_equal(line, "matmul f32 f32 f32 nn 24x40x1000: variant ", 42);
    qn_kernels *kernels = tuned_with(&f, line);
    free(product(&f, kernels, buffers, M, NULL, 0));
    assert_true(qn_kernels_tuning_line(kernels, 0, again, sizeof again));
    assert_string_equal(line, again);
    qn_kernels_destroy(kernels);
    for (int i = 0; i < 3; i++) qn_buffer_destroy(buffers[i]);
    end_kernels(&f);
}

/* Each value of each parameter is one that a line takes. */
static void parameters_are_listed(void **state) {
    (void)state;
    kernels_fixture f = make_kernels_quickly();
    qn_tunable t;
    char value[64];
    uint32_t count = 0;
    for (; qn_kernels_tunable(count, &t); count++) {
        uint32_t values = 0;
        for (; qn_kernels_tunable_value(count, values, value, sizeof value); values++) {
            char line[256];
            snprintf(line, sizeof line, "%s %s: %s %s", t.call,
                     strcmp(t.call, "matmul") == 0   ? "f32 f32 f32 nn 1x2x3"
                     : strcmp(t.call, "copy") == 0   ? "f32 f32 1x2x3"
                     : strcmp(t.call, "reduce") == 0 ? "f32 f32 sum rows 1x2"
                     : strcmp(t.call, "rows") == 0   ? "softmax f32 1x2"
                     : strcmp(t.call, "vector") == 0 ? "f32 along_k 1x2"
                                                     : "u32 u32 1x2",
                     t.name, value);
            qn_kernels_destroy(tuned_with(&f, line));
        }
        assert_true(values > 1);
    }
    assert_true(count > 4);
    assert_false(qn_kernels_tunable(0, NULL));
    assert_false(qn_kernels_tunable_value(count, 0, value, sizeof value));
    assert_false(qn_kernels_tunable_value(0, 0, NULL, 0));
    end_kernels(&f);
}

static void what_is_no_tuning_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"", "line 1: a tuning begins with 'quern tuning 2'"},
        {"quern tuning 1\n",
         "line 1: a tuning begins with 'quern tuning 2'; one of another version of quern is to be"},
        {"quern tuning 20\n", "line 1: a tuning begins"},
        {"quern tunings 2\n", "line 1: a tuning begins"},
        {QN_TUNING_HEAD "\n\nsorts 3",
         "line 3: 'sorts' begins no line of a tuning; device, matmul, vector, copy,"},
        {QN_TUNING_HEAD "\ndevice cuda", "line 2: a device is 'KIND | DESCRIPTION | DRIVER', not 'cuda'"},
        {QN_TUNING_HEAD "\nmatmul f32 f33",
         "line 2: 'f33' is no OPERAND; a line is 'matmul OPERAND OPERAND TYPE"},
        {QN_TUNING_HEAD "\nmatmul", "line 2: '' is no OPERAND"},
        {QN_TUNING_HEAD "\nmatmul f32 f32 tf32", "line 2: 'tf32' is no TYPE"},
        {QN_TUNING_HEAD "\nmatmul f32 f32 f32 nnn 1x2x3: parts 1",
         "line 2: 'nnn' is no nn|nt|tn|tt; a line is"},
        {QN_TUNING_HEAD "\nmatmul f32 f32 f32 n 1x2x3: parts 1", "line 2: 'n' is no nn|nt|tn|tt"},
        {QN_TUNING_HEAD "\nmatmul f32 f32 f32 nn 1x2: parts 1", "line 2: '1x2' is no MxNxK"},
        {QN_TUNING_HEAD "\nmatmul f32 f32 f32 nn 1x2x3x4: parts 1", "line 2: '1x2x3x4' is no MxNxK"},
        {QN_TUNING_HEAD "\nmatmul f32 f32 f32 nn 1x0x2: parts 1", "line 2: '1x0x2' is no MxNxK"},
        {QN_TUNING_HEAD "\nmatmul f32 f32 f32 nn: parts 1", "line 2: 'nn:' is no nn|nt|tn|tt"},
        {QN_TUNING_HEAD "\nmatmul f32 f32 f32 nn 1x2x99999999999999999999: parts 1", "is no MxNxK"},
        {QN_TUNING_HEAD "\nmatmul f32 f32 f32 nn 1x2x3: parts 9",
         "line 2: parts of matmul is one of 1 2 3 4 5 6 7 8 10"},
        {QN_TUNING_HEAD "\nmatmul f32 f32 f32 nn 1x2x3: parts -1", "not '-1'"},
        {QN_TUNING_HEAD "\nmatmul f32 f32 f32 nn 1x2x3: parts", "not ''"},
        {QN_TUNING_HEAD "\nmatmul f32 f32 f32 nn 1x2x3: parts 2,",
         "line 2: there is no parameter: matmul has variant, parts"},
        {QN_TUNING_HEAD "\nmatmul f32 f32 f32 nn 1x2x3: parts 2 3", "not '2 3'"},
        {QN_TUNING_HEAD "\nmatmul f32 f32 f32 nn 1x2x3: parts 2, parts 3", "line 2: parts is set twice"},
        {QN_TUNING_HEAD "\nmatmul f32 f32 f32 nn 1x2x3: items 2",
         "line 2: matmul has no parameter 'items': it has variant, parts"},
        {QN_TUNING_HEAD "\nmatmul f32 f32 f32 nn 1x2x3",
         "line 2: there is no parameter: matmul has variant, parts"},
        {QN_TUNING_HEAD "\nmatmul f32 f32 f32 nn 1x2x3: variant tile",
         "line 2: matmul has no variant 'tile'; a text of another version of quern is to be made anew"},
        {QN_TUNING_HEAD "\nreduce f32 f32 sums rows 1x2: items 64", "line 2: 'sums' is no sum|mean|"},
        {QN_TUNING_HEAD "\nreduce f32 f32 sum rows 1x2: items 63",
         "line 2: items of reduce is one of 64 128 256 512 1024, not '63'"},
        {QN_TUNING_HEAD "\nsort u32 nothing 1x2: items 4", "line 2: 'nothing' is no none|TYPE"}};
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
                                       cmocka_unit_test(other_calls_are_done_as_the_tuning_says),
                                       cmocka_unit_test(what_was_chosen_is_a_line),
                                       cmocka_unit_test(parameters_are_listed),
                                       cmocka_unit_test(what_is_no_tuning_is_refused)};
    return run_device_tests(tests);
}
