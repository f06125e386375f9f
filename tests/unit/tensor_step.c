/* Steps: recorded once, replayed with other inputs; what they assign, and who keeps which value. */
#include "tensor_common.h"

static tensor_fixture *fixture_of(void **state) { return *state; }

typedef struct model {
    qn_tensor *w, *b;
    int calls;
} model;

/* A step of descent for (x w + b - y)^2, by a rate that is an input. */
static qn_status train(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                       size_t num_outputs) {
    model *m = user;
    assert_int_equal(num_inputs, 3);
    assert_int_equal(num_outputs, 1);
    m->calls++;
    qn_tensors *t = qn_tensor_owner(inputs[0]);
    qn_tensor *out = qn_add(qn_matmul(inputs[0], m->w), m->b);
    qn_tensor *loss = outputs[0] = qn_mean(qn_square(qn_subtract(out, inputs[1])), QN_ALL_AXES, false);
    qn_status status = qn_backward(loss);
    qn_no_gradient_begin(t);
    qn_tensor *both[] = {m->w, m->b};
    for (int i = 0; i < 2 && !status; i++) {
        status =
            qn_assign(both[i], qn_subtract(both[i], qn_multiply(qn_tensor_gradient(both[i]), inputs[2])));
        qn_tensor_clear_gradient(both[i]);
    }
    qn_no_gradient_end(t);
    return status;
}

static qn_tensor *zeros_parameter(tensor_fixture *f, qn_shape shape) {
    qn_tensor *x = qn_tensor_retain(qn_tensor_require_gradient(qn_zeros(f->t, QN_F32, shape), true));
    assert_ok(f->context, qn_tensor_realize(x));
    return x;
}

/* The inputs for batch `i`, of y = 3 x0 - 2 x1 + 1. */
static void make_batch(tensor_fixture *f, int i, uint32_t size, float rate, qn_tensor **inputs) {
    float x[32], y[16];
    for (uint32_t k = 0; k < size; k++) {
        x[2 * k] = sinf((float)(i * 31 + (int)k * 7));
        x[2 * k + 1] = cosf((float)(i * 17 + (int)k * 5));
        y[k] = 3 * x[2 * k] - 2 * x[2 * k + 1] + 1;
    }
    inputs[0] = qn_from_data(f->t, QN_F32, QN_SHAPE(size, 2), x);
    inputs[1] = qn_from_data(f->t, QN_F32, QN_SHAPE(size, 1), y);
    inputs[2] = qn_from_data(f->t, QN_F32, QN_SCALAR, &rate);
}

static void training(void **state) {
    tensor_fixture *f = fixture_of(state);
    const qn_tensors_stats before = stats_of(f);
    assert_ok(f->context, qn_scope_begin(f->t));
    model m = {zeros_parameter(f, QN_SHAPE(2, 1)), zeros_parameter(f, QN_SHAPE(1)), 0};
    assert_ok(f->context, qn_scope_end(f->t));
    qn_step *step;
    assert_ok(f->context, qn_step_create(f->t, train, &m, &step));
    float first = 0, loss = 0, w[2], b;
    qn_tensors_stats middle = {0};
    for (int i = 0; i < 150; i++) {
        qn_tensor *inputs[3], *out;
        assert_ok(f->context, qn_scope_begin(f->t));
        make_batch(f, i, i % 3 == 2 ? 8 : 16, 0.3f, inputs); /* two shapes, each recorded once */
        assert_ok(f->context, qn_step_run(step, inputs, 3, &out, 1));
        read_floats(f, out, &loss, 1);
        if (i == 0) first = loss;
        assert_ok(f->context, qn_scope_end(f->t));
        if (i == 20) middle = stats_of(f);
    }
    assert_int_equal(m.calls, 2);
    assert_true(first > 1 && loss < 1e-5f);
    assert_int_equal(stats_of(f).nodes, middle.nodes); /* nothing grows */
    assert_int_equal(stats_of(f).bytes + stats_of(f).pooled, middle.bytes + middle.pooled);
    read_floats(f, m.w, w, 2);
    read_floats(f, m.b, &b, 1);
    assert_true(fabsf(w[0] - 3) < 1e-2f && fabsf(w[1] + 2) < 1e-2f && fabsf(b - 1) < 1e-2f);
    qn_step_destroy(step);
    qn_tensor_release(m.w);
    qn_tensor_release(m.b);
    assert_int_equal(stats_of(f).nodes, before.nodes);
    assert_int_equal(stats_of(f).bytes, before.bytes);
}

/* y = x + n, n goes up by one, and x is exchanged with n when asked. */
typedef struct counter {
    qn_tensor *n, *other;
    bool exchange;
} counter;

static qn_status count_up(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                          size_t num_outputs) {
    counter *c = user;
    (void)num_inputs, (void)num_outputs;
    outputs[0] = qn_add(inputs[0], c->n);
    if (!c->exchange) return qn_assign(c->n, qn_add(c->n, 1));
    qn_tensor *old = qn_detach(c->n);
    const qn_status status = qn_assign(c->n, c->other);
    return status ? status : qn_assign(c->other, old);
}

static float run_counter(tensor_fixture *f, qn_step *step, float x) {
    qn_tensor *input = qn_from_data(f->t, QN_F32, QN_SCALAR, &x), *out;
    assert_ok(f->context, qn_step_run(step, &input, 1, &out, 1));
    read_floats(f, out, &x, 1);
    return x;
}

static qn_tensor *number(tensor_fixture *f, float x) { return qn_from_data(f->t, QN_F32, QN_SCALAR, &x); }

static void values_of_others_stay(void **state) {
    tensor_fixture *f = fixture_of(state);
    float value;
    counter c = {number(f, 10), number(f, 70), false};
    qn_step *step;
    assert_ok(f->context, qn_step_create(f->t, count_up, &c, &step));
    assert_near(run_counter(f, step, 1), 11);
    qn_tensor *seen = qn_multiply(c.n, 100), *same = qn_detach(c.n); /* of 11, before the next run */
    assert_near(run_counter(f, step, 2), 13);
    read_floats(f, seen, &value, 1);
    assert_near(value, 1100);
    read_floats(f, same, &value, 1);
    assert_near(value, 11);
    read_floats(f, c.n, &value, 1);
    assert_near(value, 12);
    assert_ok(f->context, qn_assign(c.n, number(f, 50))); /* from outside */
    assert_near(run_counter(f, step, 3), 53);
    assert_near(run_counter(f, step, 3), 54);
    qn_step_destroy(step);
    c.exchange = true;
    assert_ok(f->context, qn_step_create(f->t, count_up, &c, &step));
    assert_near(run_counter(f, step, 0), 52);
    read_floats(f, c.other, &value, 1);
    assert_near(value, 52);
    assert_near(run_counter(f, step, 0), 70);
    assert_near(run_counter(f, step, 0), 52);
    qn_step_destroy(step);
}

static qn_status asks(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                      size_t num_outputs) {
    (void)num_inputs, (void)num_outputs, (void)user;
    outputs[0] = qn_add(inputs[0], 1);
    return qn_tensor_realize(outputs[0]);
}
static qn_status counts(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                        size_t num_outputs) {
    (void)num_inputs, (void)num_outputs, (void)user;
    outputs[0] = qn_unique(inputs[0]);
    return QN_OK;
}
static qn_status assigns_unknown(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                                 size_t num_outputs) {
    (void)num_inputs, (void)num_outputs;
    outputs[0] = inputs[0];
    return qn_assign(user, inputs[0]);
}
static qn_status fails(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                       size_t num_outputs) {
    (void)num_inputs, (void)num_outputs, (void)user;
    outputs[0] = qn_bit_not(inputs[0]);
    return QN_OK;
}

static void refusals(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_tensor *x = number(f, 1), *out;
    qn_step *step;
    assert_ok(f->context, qn_step_create(f->t, asks, NULL, &step));
    assert_fails(f->context, qn_step_run(step, &x, 1, &out, 1), QN_ERROR_STATE,
                 "a value is asked for in the function of a step");
    qn_step_destroy(step);
    assert_ok(f->context, qn_step_create(f->t, counts, NULL, &step));
    assert_fails(f->context, qn_step_run(step, &x, 1, &out, 1), QN_ERROR_STATE,
                 "a value is asked for in the function of a step");
    qn_step_destroy(step);
    assert_ok(f->context, qn_step_create(f->t, assigns_unknown, qn_zeros(f->t, QN_F32, QN_SCALAR), &step));
    assert_fails(f->context, qn_step_run(step, &x, 1, &out, 1), QN_ERROR_STATE,
                 "realise what a step assigns");
    qn_step_destroy(step);
    assert_ok(f->context, qn_step_create(f->t, fails, NULL, &step));
    assert_fails(f->context, qn_step_run(step, &x, 1, &out, 1), QN_ERROR_ARGUMENT, "qn_bit_not");
    assert_fails(f->context, qn_step_run(step, &x, 65, &out, 1), QN_ERROR_RANGE, "65 inputs");
    assert_fails(f->context, qn_step_run(step, NULL, 1, &out, 1), QN_ERROR_NULL, "inputs is NULL");
    qn_step_destroy(step);
    assert_fails(NULL, qn_step_run(NULL, &x, 1, &out, 1), QN_ERROR_NULL, "step is NULL");
    assert_fails(f->context, qn_step_create(f->t, NULL, NULL, &step), QN_ERROR_NULL, "function is NULL");
    qn_step_destroy(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(training), cmocka_unit_test(values_of_others_stay),
                                       cmocka_unit_test(refusals)};
    tensor_fixture f = make_tensors(NULL);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        ((struct CMUnitTest *)tests)[i].initial_state = &f;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    end_tensors(&f);
    return failed;
}
