/* Looking into computations: each op at once and its numbers checked, steps that are not recorded, pictures of kernels. */
#include "tensor_common.h"

#include <stdio.h>
#include <string.h>

static const float some[] = {1, 0, -2, 4};

static qn_tensor *make_some(tensor_fixture *f) { return qn_from_data(f->t, QN_F32, QN_SHAPE(4), some); }

static void assert_told(tensor_fixture *f, qn_tensor *x, const char *part) {
    assert_int_equal(qn_tensor_status(x), QN_ERROR_KERNEL_FAILED);
    const char *told = qn_error_message(f->context);
    if (!strstr(told, part)) fail_msg("'%s' is not in '%s'", part, told);
}

static void the_first_op_that_makes_nan_is_named(void **state) {
    (void)state;
    tensor_fixture f = make_tensors(&(qn_tensors_desc){.check_numbers = true});
    qn_label_begin(f.t, "encoder");
    qn_tensor *x = make_some(&f), *inverse = qn_divide(1, x);
    assert_told(&f, inverse,
                "divide: element 1 of f32 4 is infinity, which none of its operands has; in encoder (op ");
    assert_told(&f, qn_exp(qn_add(inverse, 1)), "divide: element 1");
    assert_told(&f, qn_sqrt(x), "sqrt: element 2 of f32 4 is NaN");
    assert_told(&f, qn_negate(qn_exp(qn_multiply(x, 100))), "exp: element 0 of f32 4 is infinity");
    qn_label_end(f.t);
    /* Infinities that are given are no failure, NaNs that are made of them are; what is given as NaN stays that. */
    qn_tensor *masked = qn_where(qn_greater(x, 0), x, -INFINITY);
    float shares[4], y[4];
    read_floats(&f, qn_softmax(masked, 0), shares, 4);
    assert_near(shares[1], 0);
    assert_told(&f, qn_subtract(masked, masked), "subtract: element 1 of f32 4 is NaN");
    read_floats(&f, qn_add(qn_full(f.t, QN_F32, QN_SHAPE(4), NAN), 1), y, 4);
    assert_true(isnan(y[0]));
    read_floats(&f, qn_matmul(qn_unsqueeze(x, 0), qn_ones(f.t, QN_F32, QN_SHAPE(4, 1))), y, 1);
    assert_near(y[0], 3);
    end_tensors(&f);
}

/* Asks for a value, and may make an infinity. */
static qn_status halve(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                       size_t num_outputs) {
    double *seen = user;
    (void)num_inputs, (void)num_outputs;
    *seen = qn_tensor_item(qn_sum(inputs[0], QN_ALL_AXES, false));
    outputs[0] = qn_divide(inputs[0], *seen - 1);
    return QN_OK;
}

static void steps_are_not_recorded_where_ops_are_at_once(void **state) {
    (void)state;
    tensor_fixture f = make_tensors(&(qn_tensors_desc){.check_numbers = true});
    double seen = 0;
    qn_step *step;
    float values[4];
    qn_tensor *x = make_some(&f), *two = qn_subtract(x, 0.5), *y;
    assert_ok(f.context, qn_step_create(f.t, halve, &seen, &step));
    assert_ok(f.context, qn_step_run(step, &x, 1, &y, 1));
    assert_near((float)seen, 3);
    read_floats(&f, y, values, 4);
    assert_near(values[3], 2);
    assert_int_equal(qn_step_run(step, &two, 1, &y, 1), QN_ERROR_KERNEL_FAILED);
    assert_told(&f, y, "divide: element 0 of f32 4 is infinity");
    qn_step_destroy(step);
    end_tensors(&f);
}

typedef struct document {
    char text[8192];
    size_t length;
} document;

static void add_text(void *user, const char *text) {
    document *d = user;
    assert_non_null(text);
    const size_t length = strlen(text);
    assert_true(d->length + length < sizeof d->text);
    memcpy(d->text + d->length, text, length + 1);
    d->length += length;
}

static int count_of(const document *d, const char *word) {
    int count = 0;
    for (const char *at = d->text; (at = strstr(at, word)) != NULL; at++) count++;
    return count;
}

static void kernels_are_drawn(void **state) {
    (void)state;
    tensor_fixture f = make_tensors(NULL);
    document d = {.length = 0};
    qn_tensor *x = counting(&f, QN_SHAPE(6, 6), 0, 1), *product = qn_matmul(x, x),
              *sums = qn_cumulative_sum(x, 0);
    qn_tensor *all = qn_multiply(qn_tanh(product), qn_add(product, sums));
    assert_ok(f.context, qn_tensor_explain(&all, 1, &(qn_explain_desc){.svg = true}, add_text, &d));
    assert_memory_equal(d.text, "<svg ", 5);
    assert_string_equal(d.text + d.length - 7, "</svg>\n");
    assert_int_equal(count_of(&d, "<rect x="), 3);
    assert_int_equal(count_of(&d, "class=\"call\""), 2);
    assert_int_equal(count_of(&d, "<line "), 2);
    assert_int_equal(count_of(&d, ">f32 6x6</title></line>"), 2);
    assert_int_equal(count_of(&d, "matmul"), 2);
    d.length = 0; /* as lines, with texts where there are some */
    assert_ok(f.context, qn_tensor_explain(&all, 1, &(qn_explain_desc){.text = true}, add_text, &d));
    assert_int_equal(count_of(&d, "operations: "), 3);
    assert_int_equal(count_of(&d, "void tensor("), 1);
    end_tensors(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_op_that_makes_nan_is_named),
        cmocka_unit_test(steps_are_not_recorded_where_ops_are_at_once),
        cmocka_unit_test(kernels_are_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
