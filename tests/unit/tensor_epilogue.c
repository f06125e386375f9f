/* Epilogues: what a product or a convolution does to its result in passing is one kernel with it, and gives what the maps give for
   themselves. */
#include "tensor_common.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 16, ROWS = 5, INNER = 7, COLUMNS = 6, BATCHES = 2 };

/* What a chain is made of. */
typedef struct operands {
    tensor_fixture *f;
    qn_element type;
    qn_tensor *bias, *rows, *full, *computed;
} operands;
typedef qn_tensor *chain(const operands *o, qn_tensor *y);

static qn_tensor *scaled(const operands *o, qn_tensor *y) { return (void)o, qn_multiply(y, 0.5); }
static qn_tensor *scaled_to_nothing(const operands *o, qn_tensor *y) {
    return qn_add(qn_multiply(qn_tanh(qn_multiply(y, 0)), 0), o->bias);
}
static qn_tensor *biased(const operands *o, qn_tensor *y) { return qn_add(y, o->bias); }
static qn_tensor *biased_rows(const operands *o, qn_tensor *y) { return qn_add(o->rows, y); }
static qn_tensor *linear_relu(const operands *o, qn_tensor *y) { return qn_relu(qn_add(y, o->bias)); }
static qn_tensor *linear_gelu(const operands *o, qn_tensor *y) { return qn_gelu(qn_add(y, o->bias)); }
static qn_tensor *just_tanh(const operands *o, qn_tensor *y) { return (void)o, qn_tanh(y); }
static qn_tensor *everything(const operands *o, qn_tensor *y) {
    qn_tensor *inner = qn_silu(qn_add(qn_multiply(y, 2), o->bias));
    return qn_add(o->full, qn_multiply(0.25, inner));
}
static qn_tensor *approximate(const operands *o, qn_tensor *y) {
    return qn_add(qn_gelu_tanh(qn_add(y, o->bias)), o->full);
}
static qn_tensor *rounded(const operands *o, qn_tensor *y) {
    return qn_cast(qn_sigmoid(qn_add(y, o->bias)), o->type == QN_F64 ? QN_F64 : QN_BF16);
}
/* The second operand has two users, and is stored for both. */
static qn_tensor *of_computed(const operands *o, qn_tensor *y) {
    qn_tensor *other = qn_exp(o->computed);
    return qn_multiply(qn_add(y, other), qn_sum(other, QN_ALL_AXES, true));
}
/* Behind the end: these are kernels of their own. */
static qn_tensor *twice_active(const operands *o, qn_tensor *y) { return (void)o, qn_relu(qn_tanh(y)); }
static qn_tensor *of_both(const operands *o, qn_tensor *y) { return (void)o, qn_multiply(qn_tanh(y), y); }
static qn_tensor *larger(const operands *o, qn_tensor *y) {
    (void)o;
    return qn_add(qn_unsqueeze(y, 0), qn_zeros(o->f->t, QN_F32, QN_SHAPE(3, 1, 1, 1)));
}

static const struct {
    chain *function;
    const char *first; /* what the call's kernel does */
    size_t kernels;
} cases[] = {
    {scaled, "matmul multiply", 1},
    {scaled_to_nothing, "matmul multiply tanh multiply add", 1},
    {biased, "matmul add", 1},
    {biased_rows, "matmul add", 1},
    {linear_relu, "matmul add relu", 1},
    {linear_gelu, "matmul add gelu", 1},
    {just_tanh, "matmul tanh", 1},
    {everything, "matmul multiply add silu multiply add", 1},
    {approximate, "matmul add gelu_tanh add", 1},
    {of_computed, "matmul add", 0},
    {twice_active, "matmul tanh", 2},
    {of_both, "matmul", 2},
    {larger, "matmul", 2},
};

typedef struct lines {
    char text[MOST][256];
    size_t count;
    uint64_t operations;
} lines;

static void add_line(void *user, const char *text) {
    lines *l = user;
    assert_true(l->count < MOST);
    const char *words = strstr(text, "operations: ");
    assert_non_null(words);
    snprintf(l->text[l->count++], sizeof l->text[0], "%s", words + strlen("operations: "));
    unsigned long long operations;
    assert_int_equal(sscanf(strstr(text, "bytes, "), "bytes, %llu", &operations), 1);
    if (strncmp(words + strlen("operations: "), "matmul", 6) == 0) l->operations = operations;
}

static lines explain(tensor_fixture *f, qn_tensor *x) {
    lines l = {.count = 0};
    assert_ok(f->context, qn_tensor_explain(&x, 1, NULL, add_line, &l));
    return l;
}

static bool has_line(const lines *l, const char *wanted) {
    for (size_t i = 0; i < l->count; i++)
        if (strcmp(l->text[i], wanted) == 0) return true;
    return false;
}

static void compare(tensor_fixture *f, qn_tensor *fused, qn_tensor *plain, double tolerance,
                    const char *what) {
    float a[1024], b[1024];
    const uint64_t count = qn_tensor_count(fused);
    assert_true(count <= 1024);
    read_floats(f, qn_cast(fused, QN_F32), a, count);
    read_floats(f, qn_cast(plain, QN_F32), b, count);
    for (uint64_t i = 0; i < count; i++)
        if (!(fabsf(a[i] - b[i]) <= tolerance * (1 + fabsf(b[i]))))
            fail_msg("%s: element %d is %.9g fused and %.9g in steps", what, (int)i, (double)a[i],
                     (double)b[i]);
}

static operands make_operands(tensor_fixture *f, qn_element type) {
    const qn_shape full = QN_SHAPE(BATCHES, ROWS, COLUMNS);
    return (operands){f,
                      type,
                      qn_cast(counting(f, QN_SHAPE(COLUMNS), -1, 0.375f), type),
                      qn_cast(counting(f, QN_SHAPE(ROWS, 1), 0.5f, -0.25f), type),
                      qn_cast(counting(f, full, -2, 0.0625f), type),
                      qn_cast(counting(f, full, -1, 0.03125f), type)};
}

static void check_type(tensor_fixture *f, qn_element type, double tolerance) {
    operands o = make_operands(f, type);
    qn_tensor *a = qn_cast(counting(f, QN_SHAPE(BATCHES, ROWS, INNER), -1, 0.03125f), type),
              *b = qn_cast(counting(f, QN_SHAPE(INNER, COLUMNS), -0.5f, 0.0625f), type);
    assert_ok(f->context, qn_realize((qn_tensor *[]){a, b, o.bias, o.rows, o.full, o.computed}, 6));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        qn_tensor *fused = cases[i].function(&o, qn_matmul(a, b)), *product = qn_matmul(a, b);
        const lines l = explain(f, fused);
        if (!has_line(&l, cases[i].first)) fail_msg("no kernel is '%s' but '%s'", cases[i].first, l.text[0]);
        if (cases[i].kernels) assert_int_equal(l.count, cases[i].kernels);
        uint64_t maps = 0; /* behind the product, of each element one */
        for (const char *c = cases[i].first; *c; c++) maps += *c == ' ';
        assert_int_equal(l.operations, (2 * INNER + maps) * BATCHES * ROWS * COLUMNS);
        assert_ok(f->context, qn_tensor_realize(product));
        compare(f, fused, cases[i].function(&o, product), tolerance, cases[i].first);
    }
}

/* Types narrower than f32 are rounded once here, and after each kernel there. */
static void maps_behind_products_are_theirs(void **state) {
    (void)state;
    tensor_fixture f = make_tensors(NULL);
    check_type(&f, QN_F32, 1e-6);
    check_type(&f, QN_BF16, 2e-2);
    if (f.info.capabilities & QN_CAN_F16) check_type(&f, QN_F16, 3e-3);
    if (f.info.capabilities & QN_CAN_F64) check_type(&f, QN_F64, 1e-6);
    end_tensors(&f);
}

static void conversions_are_the_last_part(void **state) {
    (void)state;
    tensor_fixture f = make_tensors(NULL);
    operands o = make_operands(&f, QN_F32);
    qn_tensor *a = counting(&f, QN_SHAPE(ROWS, INNER), -1, 0.03125f),
              *b = counting(&f, QN_SHAPE(INNER, COLUMNS), -0.5f, 0.0625f);
    qn_tensor *fused = rounded(&o, qn_matmul(a, b));
    lines l = explain(&f, fused);
    assert_int_equal(l.count, 1);
    assert_string_equal(l.text[0], "matmul add sigmoid cast");
    assert_int_equal(qn_tensor_type(fused), QN_BF16);
    qn_tensor *product = qn_matmul(a, b);
    assert_ok(f.context, qn_tensor_realize(product));
    compare(&f, fused, rounded(&o, product), 1e-2, "cast");
    /* A wider type is left to the kernel that needs it. */
    qn_tensor *narrow[] = {qn_cast(a, QN_BF16), qn_cast(b, QN_BF16)};
    assert_ok(f.context, qn_realize(narrow, 2));
    l = explain(&f, qn_cast(qn_matmul(narrow[0], narrow[1]), QN_F32));
    assert_int_equal(l.count, 2);
    assert_string_equal(l.text[0], "matmul");
    end_tensors(&f);
}

/* The pre-activation is of no further use to the gradient of relu, so that it is not stored. */
static void layers_in_training_are_one_kernel_forward(void **state) {
    (void)state;
    tensor_fixture f = make_tensors(NULL);
    qn_tensor *x = counting(&f, QN_SHAPE(ROWS, INNER), -1, 0.03125f),
              *w = counting(&f, QN_SHAPE(COLUMNS, INNER), -0.5f, 0.0234375f),
              *b = counting(&f, QN_SHAPE(COLUMNS), -1, 0.375f), *gradients[2];
    qn_tensor_require_gradient(w, true);
    qn_tensor_require_gradient(b, true);
    qn_tensor *y = qn_relu(qn_add(qn_matmul(x, qn_transpose(w, 0, 1)), b));
    assert_ok(f.context, qn_gradients(qn_sum(y, QN_ALL_AXES, false), (qn_tensor *[]){w, b}, 2, gradients));
    lines l = {.count = 0};
    assert_ok(f.context, qn_tensor_explain(gradients, 2, NULL, add_line, &l));
    assert_true(has_line(&l, "matmul add relu"));
    float by_bias[COLUMNS], values[ROWS * COLUMNS];
    read_floats(&f, gradients[1], by_bias, COLUMNS);
    read_floats(&f, y, values, ROWS * COLUMNS);
    for (int c = 0; c < COLUMNS; c++) {
        float alive = 0;
        for (int r = 0; r < ROWS; r++) alive += values[r * COLUMNS + c] > 0;
        assert_float_equal(by_bias[c], alive, 0);
    }
    end_tensors(&f);
}

static void convolutions_add_their_bias(void **state) {
    (void)state;
    tensor_fixture f = make_tensors(NULL);
    qn_tensor *x = counting(&f, QN_SHAPE(2, 3, 5, 4), -1, 0.0078125f),
              *w = counting(&f, QN_SHAPE(4, 3, 3, 3), -0.5f, 0.0078125f),
              *bias = counting(&f, QN_SHAPE(4), -1, 0.5f);
    const qn_convolution_desc desc = {.padding = {1, 1}};
    qn_tensor *fused = qn_relu(qn_convolution(x, w, bias, &desc)), *plain = qn_convolution(x, w, NULL, &desc);
    const lines l = explain(&f, fused);
    assert_int_equal(l.count, 2);
    assert_true(has_line(&l, "convolution add"));
    assert_true(has_line(&l, "relu"));
    assert_ok(f.context, qn_tensor_realize(plain));
    compare(&f, fused, qn_relu(qn_add(plain, qn_reshape(bias, QN_SHAPE(4, 1, 1)))), 1e-6, "convolution");
    end_tensors(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_behind_products_are_theirs),
        cmocka_unit_test(conversions_are_the_last_part),
        cmocka_unit_test(layers_in_training_are_one_kernel_forward),
        cmocka_unit_test(convolutions_add_their_bias),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
