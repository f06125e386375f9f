/* What a training moves: how its gradients and updates are cut into kernels, so that nothing is written that could be left out. */
#include "tensor_common.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 32, BATCHES = 3, ROWS = 40, INNER = 12, COLUMNS = 6 };

typedef struct kernels {
    char words[MOST][256];
    size_t count, products, copies;
    unsigned long long bytes;
} kernels;

static void add_kernel(void *user, const char *text) {
    kernels *k = user;
    unsigned long long bytes;
    assert_true(k->count < MOST);
    const char *words = strstr(text, "operations: ");
    assert_non_null(words);
    assert_int_equal(sscanf(strchr(text, ':'), ": %llu bytes", &bytes), 1);
    snprintf(k->words[k->count], sizeof k->words[0], "%s", words + strlen("operations: "));
    k->products += strncmp(k->words[k->count], "matmul", 6) == 0;
    k->copies += k->words[k->count][0] == 0;
    k->count++;
    k->bytes += bytes;
}

static kernels explain(tensor_fixture *f, qn_tensor *const *x, size_t count) {
    kernels k = {.count = 0};
    assert_ok(f->context, qn_tensor_explain(x, count, NULL, add_kernel, &k));
    return k;
}

static qn_tensor *narrow(qn_tensor *x) { return qn_cast(x, QN_BF16); }

/* Weights that a batch of matrices is multiplied by: their gradient is one product, of which nothing is summed up or copied behind or before it. */
static void weights_of_a_batch(void **state) {
    (void)state;
    tensor_fixture f = make_tensors(NULL);
    float got[COLUMNS * INNER], wanted[COLUMNS * INNER];
    qn_tensor *x = narrow(counting(&f, QN_SHAPE(BATCHES, ROWS, INNER), -2, 0.00390625f)),
              *g = narrow(counting(&f, QN_SHAPE(BATCHES, ROWS, COLUMNS), -1, 0.0078125f)),
              *w = counting(&f, QN_SHAPE(COLUMNS, INNER), -0.5f, 0.015625f), *by_w;
    assert_ok(f.context, qn_realize((qn_tensor *[]){x, g, w}, 3));
    qn_tensor_require_gradient(w, true);
    qn_tensor *y = qn_matmul(x, narrow(qn_transpose(w, 0, 1)));
    qn_tensor *loss = qn_sum(qn_multiply(qn_cast(y, QN_F32), qn_cast(g, QN_F32)), QN_ALL_AXES, false);
    assert_ok(f.context, qn_gradients(loss, &w, 1, &by_w));
    const kernels k = explain(&f, &by_w, 1);
    assert_int_equal(k.products, 1);
    assert_int_equal(k.copies, 0);
    assert_true(k.count <= 3); /* the others convert */
    read_floats(&f, by_w, got, COLUMNS * INNER);
    qn_tensor *rows = qn_cast(qn_flatten(x, 0, 1), QN_F32), *to = qn_cast(qn_flatten(g, 0, 1), QN_F32);
    read_floats(&f, qn_matmul(qn_transpose(to, 0, 1), rows), wanted, COLUMNS * INNER);
    for (int i = 0; i < COLUMNS * INNER; i++)
        assert_true(fabsf(got[i] - wanted[i]) <= 0.01f * (1 + fabsf(wanted[i])));
    end_tensors(&f);
}

/* A bias of another type is converted first, which is little, and the product adds it. */
static void converted_biases(void **state) {
    (void)state;
    enum { MANY = 512 };
    tensor_fixture f = make_tensors(NULL);
    qn_tensor *x = narrow(counting(&f, QN_SHAPE(MANY, INNER), -1, 0.001f)),
              *w = narrow(counting(&f, QN_SHAPE(INNER, COLUMNS), -0.5f, 0.0625f)),
              *b = counting(&f, QN_SHAPE(COLUMNS), -1, 0.375f);
    assert_ok(f.context, qn_realize((qn_tensor *[]){x, w, b}, 3));
    qn_tensor *y = qn_gelu(qn_add(qn_matmul(x, w), narrow(b)));
    const kernels k = explain(&f, &y, 1);
    assert_int_equal(k.count, 2);
    assert_string_equal(k.words[0], "cast");
    assert_string_equal(k.words[1], "matmul add gelu");
    end_tensors(&f);
}

/* The gradient of a norm computes the differences from the mean again, from the narrow numbers that are there. */
static void differences_from_the_mean(void **state) {
    (void)state;
    enum { MANY = 128, LENGTH = 512 };
    tensor_fixture f = make_tensors(NULL);
    const unsigned long long elements = MANY * LENGTH, small = 16 * 1024;
    qn_tensor *x = narrow(counting(&f, QN_SHAPE(MANY, LENGTH), -1, 0.0001f)), *by_x;
    assert_ok(f.context, qn_tensor_realize(x));
    qn_tensor_require_gradient(x, true);
    qn_tensor *wide = qn_cast(x, QN_F32), *apart = qn_subtract(wide, qn_mean(wide, QN_AXES(1), true));
    qn_tensor *y = qn_multiply(apart, qn_rsqrt(qn_add(qn_mean(qn_square(apart), QN_AXES(1), true), 1e-5)));
    /* Its own kernel, so that forward and backward do not become one. */
    qn_tensor *weights = counting(&f, QN_SHAPE(LENGTH, 1), 0, 0.01f);
    qn_tensor *loss = qn_sum(qn_square(qn_matmul(narrow(y), narrow(weights))), QN_ALL_AXES, false);
    assert_ok(f.context, qn_gradients(loss, &x, 1, &by_x));
    const kernels k = explain(&f, &by_x, 1);
    /* Forward x and y, for the product y, the gradient by it twice, and x and its gradient. */
    if (k.bytes >= (4 + 3 * 2 + 4) * elements + small)
        fail_msg("%llu bytes for %llu elements", k.bytes, elements);
    end_tensors(&f);
}

/* What two loops over a row need is computed once where a work-group has the row in registers. */
static void count_tanh(void *user, const char *text) {
    static const char *const ways[] = {" = quick_tanh", " = near_tanh", " = tanh("};
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
        for (const char *at = strstr(text, ways[w]); at; at = strstr(at + 1, ways[w])) ++*(int *)user;
    if (strstr(text, "float h")) *(int *)user += 100;
}

static void rows_in_registers(void **state) {
    (void)state;
    enum { LENGTH = 2048, FUNCTIONS = 13 };
    static float values[2 * LENGTH];
    tensor_fixture f = make_tensors(NULL);
    qn_tensor *x = counting(&f, QN_SHAPE(2, LENGTH), -1, 0.0005f),
              *y = counting(&f, QN_SHAPE(2, LENGTH), 0, 1);
    qn_tensor *v = x;
    for (int i = 0; i < FUNCTIONS; i++) v = qn_tanh(v);
    qn_tensor *sum = qn_sum(v, QN_AXES(1), true), *z = qn_add(qn_multiply(qn_subtract(v, sum), 0.5), y);
    int calls = 0;
    assert_ok(f.context, qn_realize((qn_tensor *[]){x, y}, 2));
    assert_ok(f.context, qn_tensor_explain(&z, 1, &(qn_explain_desc){.text = true}, count_tanh, &calls));
    if (f.info.kind == QN_DEVICE_CUDA || f.info.kind == QN_DEVICE_VULKAN)
        assert_int_equal(calls, 100 + FUNCTIONS);
    read_floats(&f, z, values, 2 * LENGTH);
    for (int r = 0; r < 2; r++) {
        static double own[LENGTH];
        double all = 0;
        for (int i = 0; i < LENGTH; i++) {
            own[i] = -1 + 0.0005 * (r * LENGTH + i);
            for (int k = 0; k < FUNCTIONS; k++) own[i] = tanh(own[i]);
            all += own[i];
        }
        for (int i = 0; i < LENGTH; i++)
            assert_true(fabs((own[i] - all) * 0.5 + (r * LENGTH + i) - (double)values[r * LENGTH + i]) <
                        0.01);
    }
    end_tensors(&f);
}

/* Logarithms of shares do not depend on what exponents are taken beside: the gradient does not look for the largest again. */
static void gradients_of_shares(void **state) {
    (void)state;
    enum { CLASSES = 33 };
    tensor_fixture f = make_tensors(NULL);
    static float got[ROWS * CLASSES], shares[ROWS * CLASSES];
    qn_tensor *x = counting(&f, QN_SHAPE(ROWS, CLASSES), -3, 0.0043f), *by_x;
    qn_tensor *w = qn_equal(qn_arange(f.t, QN_I32, 0, CLASSES, 1), 7); /* one class counts */
    assert_ok(f.context, qn_realize((qn_tensor *[]){x, w}, 2));
    qn_tensor_require_gradient(x, true);
    qn_tensor *loss = qn_sum(qn_where(w, qn_log_softmax(x, 1), 0), QN_ALL_AXES, false);
    assert_ok(f.context, qn_gradients(loss, &x, 1, &by_x));
    const kernels k = explain(&f, &by_x, 1);
    for (size_t i = 0; i < k.count; i++) assert_null(strstr(k.words[i], "equal"));
    read_floats(&f, by_x, got, ROWS * CLASSES);
    read_floats(&f, qn_softmax(qn_detach(x), 1), shares, ROWS * CLASSES);
    for (int i = 0; i < ROWS * CLASSES; i++)
        assert_true(fabsf(got[i] - ((float)(i % CLASSES == 7) - shares[i])) < 1e-5f);
    end_tensors(&f);
}

/* What is converted behind a transposition is converted where it lies: no tiles are turned for a product, which takes either order. */
static void note_tiles(void *user, const char *text) {
    if (strstr(text, "local ")) *(bool *)user = true;
}

static void converted_weights_stay_where_they_are(void **state) {
    (void)state;
    tensor_fixture f = make_tensors(NULL);
    bool has_tiles = false;
    float got[ROWS * COLUMNS], wanted[ROWS * COLUMNS];
    qn_tensor *x = counting(&f, QN_SHAPE(ROWS, INNER), -1, 0.00390625f),
              *w = counting(&f, QN_SHAPE(COLUMNS, INNER), -0.5f, 0.015625f), *narrow_x = narrow(x);
    assert_ok(f.context, qn_realize((qn_tensor *[]){x, narrow_x, w}, 3));
    qn_tensor *y = qn_matmul(narrow_x, narrow(qn_transpose(w, 0, 1)));
    assert_ok(f.context, qn_tensor_explain(&y, 1, &(qn_explain_desc){.text = true}, note_tiles, &has_tiles));
    assert_false(has_tiles);
    read_floats(&f, qn_cast(y, QN_F32), got, ROWS * COLUMNS);
    read_floats(&f, qn_matmul(x, qn_transpose(w, 0, 1)), wanted, ROWS * COLUMNS);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        assert_true(fabsf(got[i] - wanted[i]) <= 0.02f * (1 + fabsf(wanted[i])));
    end_tensors(&f);
}

/* Sums of columns, of which several are on the way at a time where the number of rows goes that far. */
static void sums_of_columns(void **state) {
    (void)state;
    enum { WIDE = 70 };
    static const uint64_t rows[] = {8, 24, 32, 64, 65, 96, 128, 200};
    float sums[WIDE];
    tensor_fixture f = make_tensors(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        qn_tensor *x = counting(&f, QN_SHAPE(rows[i], WIDE), 0, 1);
        qn_tensor *part = qn_slice(qn_multiply(x, 2), 0, 1, QN_END, 1);
        read_floats(&f, qn_sum(qn_pad(part, 0, 1, 0, 3), QN_AXES(0), false), sums, WIDE);
        for (uint64_t c = 0; c < WIDE; c++) {
            double wanted = 3;
            for (uint64_t r = 1; r < rows[i]; r++) wanted += 2.0 * (double)(r * WIDE + c);
            assert_near(sums[c], wanted);
        }
    }
    end_tensors(&f);
}

/* ---- updates ---- */

/* A tensor that is given a sum: the kernel of the sum leaves the update to one of elements, which writes in its memory. */
static qn_status add_sums(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                          size_t num_outputs) {
    (void)outputs;
    assert_true(num_inputs == 1 && num_outputs == 0);
    qn_tensor *x = user;
    return qn_assign(x, qn_subtract(x, qn_sum(inputs[0], QN_AXES(0), false)));
}

static void sums_are_added_in_place(void **state) {
    (void)state;
    enum { COUNT = 1 << 16, TIMES = 3 };
    static float values[COUNT];
    tensor_fixture f = make_tensors(NULL);
    qn_tensor *x = qn_tensor_retain(counting(&f, QN_SHAPE(COUNT), 0, 1)),
              *g = qn_tensor_retain(qn_cast(qn_full(f.t, QN_F32, QN_SHAPE(TIMES, COUNT), 0.5), QN_BF16));
    qn_step *step;
    assert_ok(f.context, qn_realize((qn_tensor *[]){x, g}, 2));
    qn_tensors_stats before, after;
    qn_tensors_get_stats(f.t, &before);
    assert_ok(f.context, qn_step_create(f.t, add_sums, x, &step));
    for (int i = 0; i < 2; i++) assert_ok(f.context, qn_step_run(step, &g, 1, NULL, 0));
    qn_tensors_get_stats(f.t, &after);
    assert_int_equal(after.launches - before.launches, 2); /* the sum, and the update: no copy */
    read_floats(&f, x, values, COUNT);
    for (int i = 0; i < COUNT; i++) assert_near(values[i], (float)i - 3);
    qn_step_destroy(step);
    qn_tensor_release(x);
    qn_tensor_release(g);
    end_tensors(&f);
}

int main(void) {
    if (device_is_missing()) return TEST_SKIPPED;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_of_a_batch),        cmocka_unit_test(converted_biases),
        cmocka_unit_test(differences_from_the_mean), cmocka_unit_test(rows_in_registers),
        cmocka_unit_test(gradients_of_shares),       cmocka_unit_test(converted_weights_stay_where_they_are),
        cmocka_unit_test(sums_of_columns),           cmocka_unit_test(sums_are_added_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
