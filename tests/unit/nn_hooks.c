/* What looks into a network as it computes: hooks, and modules of one's own. */
#include "tensor_common.h"

#include <quern/nn.h>

/* ---- hooks of modules ---- */

typedef struct notes {
    char text[200];
} notes;

static qn_tensor *note(void *user, qn_module *module, qn_tensor *x, qn_tensor *y) {
    notes *n = user;
    const size_t at = strlen(n->text);
    snprintf(n->text + at, sizeof n->text - at, "%s %u>%u ", module->name,
             (unsigned)qn_tensor_shape(x).sizes[1], (unsigned)qn_tensor_shape(y).sizes[1]);
    return NULL;
}

static qn_tensor *twice(void *user, qn_module *module, qn_tensor *x, qn_tensor *y) {
    (void)user, (void)module, (void)x;
    return qn_multiply(y, 2);
}

static void results_are_seen_and_replaced(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_module sequence;
    qn_linear a;
    qn_function_layer b;
    qn_norm_layer c;
    notes n = {""};
    qn_module_hook hooks[] = {{note, &n, NULL}, {note, &n, NULL}, {note, &n, NULL}},
                   doubling = {twice, NULL, NULL};
    qn_sequential_init(&sequence, f->t);
    assert_ok(f->context, qn_linear_init(&a, f->t, &(qn_linear_desc){.inputs = 3, .outputs = 4}));
    qn_function_layer_init(&b, f->t, qn_abs);
    assert_ok(f->context, qn_norm_layer_init(&c, f->t, &(qn_norm_layer_desc){.size = 4}));
    qn_module *const parts[] = {&a.module, &b.module, &c.module};
    for (uint32_t i = 0; i < 3; i++) {
        assert_ok(f->context, qn_sequential_add(&sequence, parts[i]));
        qn_module_add_hook(parts[i], &hooks[i]);
    }
    qn_tensor *x = counting(f, QN_SHAPE(2, 3), -1, 0.25f);
    float once[8], doubled[8];
    read_floats(f, qn_module_forward(&sequence, x), once, 8);
    assert_string_equal(n.text, "0 3>4 1 4>4 2 4>4 ");
    qn_module_add_hook(&c.module, &doubling);
    qn_module_remove_hook(&a.module, &hooks[0]);
    read_floats(f, qn_module_forward(&sequence, x), doubled, 8);
    for (uint32_t i = 0; i < 8; i++) assert_near(doubled[i], 2 * (double)once[i]);
    assert_string_equal(n.text, "0 3>4 1 4>4 2 4>4 1 4>4 2 4>4 ");
    qn_module_release(&sequence);
}

/* ---- hooks of gradients ---- */

typedef struct seen {
    qn_tensor *gradient; /* retained */
    double factor;       /* 0: it stays */
} seen;

static qn_tensor *look(void *user, qn_tensor *gradient) {
    seen *s = user;
    s->gradient = qn_tensor_retain(gradient);
    return s->factor == 0 ? NULL : qn_multiply(gradient, s->factor);
}
static qn_tensor *shorten(void *user, qn_tensor *gradient) {
    (void)user;
    return qn_slice(gradient, 0, 0, 1, 1);
}

static void gradients_are_seen_and_replaced(void **state) {
    tensor_fixture *f = fixture_of(state);
    for (uint32_t i = 0; i < 2; i++) {
        seen s = {NULL, i * 10.0};
        float value[2];
        qn_tensor *x = qn_tensor_require_gradient(counting(f, QN_SHAPE(2), 1, 1), true);
        qn_tensor *y = qn_hook_gradient(qn_square(x), look, &s);
        assert_ok(f->context, qn_backward(qn_multiply(y, 3)));
        read_floats(f, y, value, 2);
        assert_near(value[1], 4);
        read_floats(f, s.gradient, value, 2);
        assert_near(value[1], 3);
        read_floats(f, qn_tensor_gradient(x), value, 2);
        assert_near(value[1], i ? 10 * 12 : 12);
        qn_tensor_release(s.gradient);
    }
    qn_tensor *x = qn_tensor_require_gradient(counting(f, QN_SHAPE(2), 1, 1), true), *g;
    assert_fails(f->context,
                 qn_gradients(qn_square(qn_hook_gradient(qn_square(x), shorten, NULL)), &x, 1, &g),
                 QN_ERROR_ARGUMENT, "gave f32 1 for a gradient of f32 2");
    assert_fails(f->context, qn_tensor_status(qn_hook_gradient(x, NULL, NULL)), QN_ERROR_NULL,
                 "function is NULL");
}

/* ---- functions that are called again ---- */

typedef struct block {
    qn_module module;
    qn_linear up, down;
    qn_dropout dropout;
    uint32_t calls;
    bool is_checked; /* by qn_recompute */
} block;

static void make_block(tensor_fixture *f, block *b, uint64_t size, uint64_t hidden, double dropout) {
    *b = (block){.calls = 0};
    qn_module_init(&b->module, f->t, NULL);
    assert_ok(f->context, qn_linear_init(&b->up, f->t, &(qn_linear_desc){.inputs = size, .outputs = hidden}));
    assert_ok(f->context,
              qn_linear_init(&b->down, f->t, &(qn_linear_desc){.inputs = hidden, .outputs = size}));
    qn_dropout_init(&b->dropout, f->t, dropout);
    assert_ok(f->context, qn_module_add(&b->module, "up", &b->up.module));
    assert_ok(f->context, qn_module_add(&b->module, "down", &b->down.module));
}

static qn_tensor *compute_block(void *user, qn_tensor *const *x, size_t count) {
    block *b = user;
    assert_int_equal(count, 1);
    b->calls++;
    qn_tensor *y = qn_dropout_forward(&b->dropout, qn_tanh(qn_linear_forward(&b->up, x[0])));
    return qn_add(x[0], qn_linear_forward(&b->down, y));
}
static qn_tensor *inner_block(void *user, qn_tensor *const *x, size_t count) {
    return qn_recompute(compute_block, user, x, count);
}
static qn_tensor *through(block *b, qn_tensor *x) {
    return b->is_checked ? qn_recompute(compute_block, b, &x, 1) : compute_block(b, &x, 1);
}

static qn_tensor *sum_of_squares(qn_tensor *x) { return qn_sum(qn_square(x), QN_ALL_AXES, false); }

/* Gradients by the input and the parameters, of first and second order, with numbers that are the same when they are drawn again. */
static void gradients_are_the_same_when_computed_again(void **state) {
    enum { INPUTS = 3, RESULTS = 2 * INPUTS };
    static float values[4][RESULTS][15];
    for (uint32_t way = 0; way < 4; way++) {
        tensor_fixture f = make_tensors(&(qn_tensors_desc){.seed = 7, .eager = way == 3});
        block b;
        make_block(&f, &b, 3, 5, 0.4);
        b.is_checked = way != 0;
        qn_tensor *x = qn_tensor_require_gradient(counting(&f, QN_SHAPE(2, 3), -1, 0.4f), true);
        qn_tensor *inputs[INPUTS] = {x, b.up.weight.tensor, b.down.bias.tensor}, *results[RESULTS];
        qn_tensor *y = way == 2 ? qn_recompute(inner_block, &b, &x, 1) : through(&b, qn_multiply(x, 1.5));
        if (way == 2) y = through(&b, y); /* two numbers of blocks, one within another */
        if (way == 2) {
            assert_ok(f.context, qn_backward(sum_of_squares(y)));
            assert_int_equal(b.calls, 5);
            assert_non_null(qn_tensor_gradient(b.up.weight.tensor));
        } else {
            assert_ok(f.context, qn_gradients(sum_of_squares(y), inputs, INPUTS, results));
            qn_tensor *sum = sum_of_squares(results[0]);
            for (uint32_t i = 1; i < INPUTS; i++) sum = qn_add(sum, sum_of_squares(results[i]));
            assert_ok(f.context, qn_gradients(sum, inputs, INPUTS, results + INPUTS));
            for (uint32_t i = 0; i < RESULTS; i++)
                read_floats(&f, results[i], values[way][i], qn_tensor_count(results[i]));
            for (uint32_t i = 0; i < RESULTS; i++)
                for (uint32_t k = 0; k < 15; k++) assert_near(values[way][i][k], (double)values[0][i][k]);
        }
        qn_module_release(&b.module);
        qn_module_release(&b.dropout.module);
        end_tensors(&f);
    }
    assert_true(values[0][1][0] != 0 && values[0][4][0] != 0);
    (void)state;
}

/* A deep model: the values within its blocks are not all there at a time. */
static double peak_of(bool is_checked, double *gradient) {
    enum { BLOCKS = 6, SIZE = 2, HIDDEN = 32, ROWS = 32 };
    static block blocks[BLOCKS];
    tensor_fixture f = make_tensors(&(qn_tensors_desc){.seed = 7});
    qn_tensor *gradients[4 * BLOCKS];
    for (uint32_t i = 0; i < BLOCKS; i++) {
        make_block(&f, &blocks[i], SIZE, HIDDEN, 0);
        blocks[i].is_checked = is_checked;
    }
    const uint64_t before = stats_of(&f).allocated;
    assert_ok(f.context, qn_scope_begin(f.t));
    qn_tensor *x = counting(&f, QN_SHAPE(ROWS, SIZE), -1, 0.001f);
    for (uint32_t i = 0; i < BLOCKS; i++) x = through(&blocks[i], x);
    assert_ok(f.context, qn_backward(sum_of_squares(x)));
    for (uint32_t i = 0; i < BLOCKS; i++) {
        gradients[4 * i] = qn_tensor_gradient(blocks[i].up.weight.tensor);
        gradients[4 * i + 1] = qn_tensor_gradient(blocks[i].up.bias.tensor);
        gradients[4 * i + 2] = qn_tensor_gradient(blocks[i].down.weight.tensor);
        gradients[4 * i + 3] = qn_tensor_gradient(blocks[i].down.bias.tensor);
    }
    assert_ok(f.context, qn_realize(gradients, 4 * BLOCKS));
    *gradient = qn_tensor_item(sum_of_squares(gradients[0]));
    const double peak = (double)(stats_of(&f).most_allocated - before);
    assert_ok(f.context, qn_scope_end(f.t));
    for (uint32_t i = 0; i < BLOCKS; i++) qn_module_release(&blocks[i].module);
    assert_int_equal(stats_of(&f).nodes, 0);
    end_tensors(&f);
    return peak;
}

static void a_checkpoint_takes_less_memory(void **state) {
    double a, b;
    const double kept = peak_of(false, &a), again = peak_of(true, &b);
    (void)state;
    assert_true(a > 0 && fabs(a - b) < 1e-5 * a);
    if (!(again < 0.65 * kept)) fail_msg("%g bytes with checkpoints, %g without", again, kept);
}

typedef struct fickle {
    uint32_t calls;
} fickle;
static qn_tensor *change(void *user, qn_tensor *const *x, size_t count) {
    (void)count;
    return ((fickle *)user)->calls++ ? qn_slice(x[0], 0, 0, 1, 1) : qn_square(x[0]);
}

static void wrong_functions_are_refused(void **state) {
    tensor_fixture *f = fixture_of(state);
    fickle user = {0};
    qn_tensor *x = qn_tensor_require_gradient(counting(f, QN_SHAPE(2), 1, 1), true), *g;
    assert_fails(f->context, qn_gradients(qn_recompute(change, &user, &x, 1), &x, 1, &g), QN_ERROR_ARGUMENT,
                 "gave f32 2, and called again f32 1");
    assert_int_equal(qn_tensor_status(qn_recompute(NULL, NULL, &x, 1)), QN_ERROR_NULL);
    qn_no_gradient_begin(f->t);
    user.calls = 0;
    assert_ok(f->context, qn_tensor_status(qn_recompute(change, &user, &x, 1)));
    assert_int_equal(user.calls, 1);
    qn_no_gradient_end(f->t);
}

typedef struct made_before {
    qn_tensor *x, *y;
} made_before;
static qn_tensor *times_noise(void *user, qn_tensor *const *x, size_t count) {
    (void)user, (void)count;
    return qn_multiply(x[0], qn_rand(qn_tensor_owner(x[0]), QN_F32, QN_SHAPE(2)));
}
static qn_status gradient_in_step(void *user, qn_tensor *const *inputs, size_t num_inputs,
                                  qn_tensor **outputs, size_t num_outputs) {
    made_before *m = user;
    (void)num_inputs, (void)num_outputs;
    const qn_status status = qn_gradients(qn_sum(m->y, QN_ALL_AXES, false), &m->x, 1, outputs);
    if (!status) outputs[0] = qn_add(outputs[0], inputs[0]);
    return status;
}

/* A step has a sequence of its own places, so that what was drawn before it cannot be drawn in it again. */
static void numbers_of_another_step_are_refused(void **state) {
    tensor_fixture *f = fixture_of(state);
    made_before m = {.x = qn_tensor_require_gradient(counting(f, QN_SHAPE(2), 1, 1), true)};
    qn_tensor *zero = counting(f, QN_SHAPE(2), 0, 0), *g;
    qn_step *step;
    m.y = qn_recompute(times_noise, NULL, &m.x, 1);
    assert_ok(f->context, qn_step_create(f->t, gradient_in_step, &m, &step));
    assert_fails(f->context, qn_step_run(step, &zero, 1, &g, 1), QN_ERROR_UNSUPPORTED,
                 "took random numbers outside of the step in which its gradients are asked for");
    qn_step_destroy(step);
    assert_ok(f->context, qn_gradients(qn_sum(m.y, QN_ALL_AXES, false), &m.x, 1, &g));
    assert_ok(f->context, qn_tensor_realize(g));
}

/* ---- modules of one's own ---- */

static qn_tensor *refuse(qn_module *module, qn_tensor *x) {
    qn_module_begin(module);
    return qn_module_end(module, x, qn_tensor_fail(module->tensors, QN_ERROR_UNSUPPORTED, "not today"));
}

static void failures_say_where(void **state) {
    tensor_fixture *f = fixture_of(state);
    static const qn_module_type type = {"refusing", refuse};
    qn_module m;
    qn_module_init(&m, f->t, &type);
    assert_fails(f->context,
                 qn_tensor_status(qn_relu(qn_module_forward(&m, qn_ones(f->t, QN_F32, QN_SCALAR)))),
                 QN_ERROR_UNSUPPORTED, "not today; in refusing");
    qn_module_init(&m, f->t, NULL);
    assert_fails(f->context, qn_tensor_status(qn_module_forward(&m, qn_ones(f->t, QN_F32, QN_SCALAR))),
                 QN_ERROR_ARGUMENT, "no function of one tensor");
    assert_int_equal(qn_tensor_status(qn_module_forward(NULL, NULL)), QN_ERROR_NULL);
    assert_fails(f->context, qn_linear_init(NULL, f->t, &(qn_linear_desc){.inputs = 3}), QN_ERROR_NULL,
                 "the module is NULL");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_seen_and_replaced),
        cmocka_unit_test(gradients_are_seen_and_replaced),
        cmocka_unit_test(gradients_are_the_same_when_computed_again),
        cmocka_unit_test(a_checkpoint_takes_less_memory),
        cmocka_unit_test(wrong_functions_are_refused),
        cmocka_unit_test(numbers_of_another_step_are_refused),
        cmocka_unit_test(failures_say_where),
    };
    return run_tensor_tests(tests, &(qn_tensors_desc){.seed = 3});
}
