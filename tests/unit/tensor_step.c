/* Steps: recorded once, replayed with other inputs; what they assign, and who keeps which value. */
#include "tensor_common.h"

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
    qn_tensor *kept = qn_detach(c.n);
    read_floats(f, kept, &value, 1); /* it has its value before the next run changes what it was made of */
    assert_near(run_counter(f, step, 2), 14);
    read_floats(f, kept, &value, 1);
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

/* ---- new values in the memory of the old ones ---- */

typedef qn_tensor *next_function(qn_tensor *x, qn_tensor *y);
static qn_tensor *half(qn_tensor *x, qn_tensor *y) { return qn_add(qn_multiply(x, 0.5), qn_multiply(y, 0)); }
static qn_tensor *other(qn_tensor *x, qn_tensor *y) { return qn_add(qn_multiply(x, 0), y); }
static qn_tensor *sum(qn_tensor *x, qn_tensor *y) { return qn_multiply(qn_add(x, y), 0.25); }
static qn_tensor *turned(qn_tensor *x, qn_tensor *y) {
    return qn_add(qn_transpose(x, 0, 1), qn_multiply(y, 0));
}
static qn_tensor *flipped(qn_tensor *x, qn_tensor *y) {
    return qn_subtract(qn_flip(x, QN_AXES(1)), qn_multiply(y, 0.5));
}
static qn_tensor *first_row(qn_tensor *x, qn_tensor *y) {
    return qn_subtract(qn_multiply(y, 0.5), qn_slice(x, 0, 0, 1, 1));
}
static qn_tensor *centred(qn_tensor *x, qn_tensor *y) {
    return qn_subtract(x, qn_mean(qn_add(x, y), QN_AXES(1), true));
}
static qn_tensor *product(qn_tensor *x, qn_tensor *y) { return qn_multiply(qn_matmul(x, y), 1.0 / 64); }

typedef struct pair {
    qn_tensor *x, *y;
    next_function *next_x, *next_y;
} pair;

/* Both get values that are made of the old ones; a sum of the old ones comes out. */
static qn_status step_pair(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                           size_t num_outputs) {
    pair *p = user;
    (void)inputs;
    assert_true(num_inputs == 0 && num_outputs == 1);
    qn_tensor *x = qn_detach(p->x), *y = qn_detach(p->y);
    outputs[0] = qn_add(x, qn_multiply(y, 3));
    const qn_status status = qn_assign(p->x, p->next_x(x, y));
    return status ? status : qn_assign(p->y, p->next_y(y, x));
}

enum { SIDE = 36 };

static void assert_same(tensor_fixture *f, qn_tensor *a, qn_tensor *b, uint64_t count) {
    float x[SIDE * SIDE], y[SIDE * SIDE];
    read_floats(f, a, x, count);
    read_floats(f, b, y, count);
    for (uint64_t i = 0; i < count; i++) {
        if (!(fabsf(x[i] - y[i]) <= 1e-4f * (1 + fabsf(y[i]))))
            fail_msg("element %u: %g is not %g", (unsigned)i, (double)x[i], (double)y[i]);
    }
}

static pair make_pair(tensor_fixture *f, next_function *next_x, next_function *next_y) {
    qn_tensor *x = qn_sin(counting(f, QN_SHAPE(SIDE, SIDE), 0, 0.37f)),
              *y = qn_cos(counting(f, QN_SHAPE(SIDE, SIDE), 0, 0.23f));
    assert_ok(f->context, qn_realize((qn_tensor *[]){x, y}, 2));
    return (pair){x, y, next_x, next_y};
}

/* A step does what its function does, whichever kernels read which old value when and where. */
static void old_values_are_read_before_they_go(void **state) {
    tensor_fixture *f = fixture_of(state);
    static next_function *const functions[] = {half,    other,     sum,     turned,
                                               flipped, first_row, centred, product};
    enum { COUNT = sizeof functions / sizeof *functions };
    static const size_t distances[] = {0, 3};
    for (size_t i = 0; i < (size_t)COUNT * 2; i++) {
        next_function *next_x = functions[i / 2], *next_y = functions[(i / 2 + distances[i % 2]) % COUNT];
        assert_ok(f->context, qn_scope_begin(f->t));
        pair stepped = make_pair(f, next_x, next_y), plain = make_pair(f, next_x, next_y);
        qn_step *step;
        assert_ok(f->context, qn_step_create(f->t, step_pair, &stepped, &step));
        for (int run = 0; run < 2; run++) {
            qn_tensor *out, *wanted;
            assert_ok(f->context, qn_step_run(step, NULL, 0, &out, 1));
            assert_ok(f->context, step_pair(&plain, NULL, 0, &wanted, 1));
            assert_same(f, out, wanted, SIDE * SIDE);
            assert_same(f, stepped.x, plain.x, SIDE * SIDE);
            assert_same(f, stepped.y, plain.y, SIDE * SIDE);
        }
        qn_step_destroy(step);
        assert_ok(f->context, qn_scope_end(f->t));
    }
}

/* What the function reads beside stays as it was when it was recorded, whoever gets other memory of its size afterwards. */
static qn_status add_offset(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                            size_t num_outputs) {
    qn_tensor *const *offset = user;
    assert_true(num_inputs == 1 && num_outputs == 1);
    outputs[0] = qn_add(inputs[0], *offset);
    return QN_OK;
}

static void recorded_values_are_kept(void **state) {
    enum { SIZE = 3000 };
    tensor_fixture *f = fixture_of(state);
    qn_step *step;
    qn_tensor *offset, *out;
    assert_ok(f->context, qn_step_create(f->t, add_offset, &offset, &step));
    for (int run = 0; run < 3; run++) {
        assert_ok(f->context, qn_scope_begin(f->t));
        qn_tensor *x = qn_ones(f->t, QN_F32, QN_SHAPE(SIZE));
        if (run == 0) {
            offset = qn_multiply(x, 5);
            assert_ok(f->context, qn_tensor_realize(offset));
        }
        assert_ok(f->context, qn_step_run(step, &x, 1, &out, 1));
        assert_near((float)qn_tensor_item(qn_max(out, QN_ALL_AXES, false)), 6);
        assert_ok(f->context, qn_scope_end(f->t));
        qn_tensor *next = qn_full(f->t, QN_F32, QN_SHAPE(SIZE), 70 + run);
        assert_ok(f->context, qn_tensor_realize(next));
    }
    qn_step_destroy(step);
}

/* Inputs are in other memory in each run, and may not lie in order there; who has that memory next does not change what a run has read. */
static qn_status mix(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                     size_t num_outputs) {
    (void)user;
    assert_true(num_inputs == 2 && num_outputs == 1);
    outputs[0] = qn_multiply_add(inputs[0], 100, inputs[1]);
    return QN_OK;
}

static void inputs_from_anywhere(void **state) {
    enum { ROWS = 30, COLUMNS = 40, COUNT = ROWS * COLUMNS, RUNS = 6 };
    static float data[COUNT], values[COUNT];
    tensor_fixture *f = fixture_of(state);
    qn_step *step;
    qn_tensor *out;
    for (int i = 0; i < COUNT; i++) data[i] = (float)i;
    qn_buffer *buffer = make_buffer(f->device, sizeof data, data);
    const qn_array turned = {
        .buffer = buffer, .type = QN_F32, .rank = 2, .sizes = {ROWS, COLUMNS}, .strides = {1, ROWS}};
    assert_ok(f->context, qn_step_create(f->t, mix, NULL, &step));
    for (int run = 0; run < RUNS; run++) {
        assert_ok(f->context, qn_scope_begin(f->t));
        qn_tensor *own = counting(f, QN_SHAPE(ROWS, COLUMNS), (float)run, 0),
                  *other = qn_from_array(f->t, &turned);
        qn_tensor *inputs[] = {run % 2 ? other : own, run % 3 ? own : other};
        assert_ok(f->context, qn_step_run(step, inputs, 2, &out, 1));
        read_floats(f, out, values, COUNT);
        for (int i = 0; i < COUNT; i++) {
            const double across = i % COLUMNS * ROWS + i / COLUMNS, each = run;
            assert_near(values[i], (run % 2 ? across : each) * 100 + (run % 3 ? each : across));
        }
        assert_ok(f->context, qn_scope_end(f->t));
    }
    qn_step_destroy(step);
    qn_tensors_trim(f->t);
    qn_buffer_destroy(buffer);
}

/* Two parameters that show the same value, and the gradient by a tensor of the step's own. */
static qn_status add_parameters(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                                size_t num_outputs) {
    qn_tensor *const *p = user;
    assert_true(num_inputs == 1 && num_outputs == 2);
    qn_tensor *own = qn_tensor_require_gradient(qn_multiply(inputs[0], p[1]), true);
    outputs[0] = qn_add(own, p[0]);
    return qn_gradients(qn_sum(qn_square(own), QN_ALL_AXES, false), &own, 1, &outputs[1]);
}

/* What was assigned before the first run, and not computed, is one value like others. */
static void values_of_before_are_looked_up(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_step *step;
    assert_ok(f->context, qn_scope_begin(f->t));
    qn_tensor *p[2], *out[2];
    for (int i = 0; i < 2; i++) p[i] = zeros_parameter(f, QN_SHAPE(3));
    qn_tensor *both = qn_full(f->t, QN_F32, QN_SHAPE(3), 2);
    for (int i = 0; i < 2; i++) assert_ok(f->context, qn_assign(p[i], both));
    assert_ok(f->context, qn_step_create(f->t, add_parameters, p, &step));
    for (int run = 0; run < 3; run++) {
        qn_tensor *x = qn_full(f->t, QN_F32, QN_SHAPE(3), 5 + run);
        const float first = run ? 10.0f * (float)run : 2, second = run == 2 ? 7 : 2;
        if (run) assert_ok(f->context, qn_assign(p[0], qn_full(f->t, QN_F32, QN_SCALAR, first)));
        if (run == 2) assert_ok(f->context, qn_assign(p[1], qn_full(f->t, QN_F32, QN_SCALAR, second)));
        assert_ok(f->context, qn_step_run(step, &x, 1, out, 2));
        const float own = second * (5 + (float)run);
        assert_near((float)qn_tensor_item(qn_max(out[0], QN_ALL_AXES, false)), own + first);
        assert_near((float)qn_tensor_item(qn_max(out[1], QN_ALL_AXES, false)), 2 * own);
        assert_near((float)qn_tensor_item(qn_max(both, QN_ALL_AXES, false)), 2);
    }
    qn_step_destroy(step);
    for (int i = 0; i < 2; i++) qn_tensor_release(p[i]);
    assert_ok(f->context, qn_scope_end(f->t));
}

static qn_status halve(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                       size_t num_outputs) {
    (void)inputs, (void)outputs;
    assert_true(num_inputs == 0 && num_outputs == 0);
    qn_tensor *x = user;
    return qn_assign(x, qn_multiply(x, 0.5));
}

static void new_values_need_no_memory(void **state) {
    enum { COUNT = 1 << 18 };
    tensor_fixture *f = fixture_of(state);
    qn_tensor *x = qn_full(f->t, QN_F32, QN_SHAPE(COUNT), 8);
    qn_step *step;
    assert_ok(f->context, qn_tensor_realize(x));
    const qn_tensors_stats before = stats_of(f);
    assert_ok(f->context, qn_step_create(f->t, halve, x, &step));
    for (int i = 0; i < 3; i++) assert_ok(f->context, qn_step_run(step, NULL, 0, NULL, 0));
    assert_near((float)qn_tensor_item(qn_max(x, QN_ALL_AXES, false)), 1);
    const qn_tensors_stats after = stats_of(f);
    assert_true(after.bytes + after.pooled - before.bytes - before.pooled < COUNT);
    qn_step_destroy(step);
}

/* ---- what is refused ---- */

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
    const struct CMUnitTest tests[] = {cmocka_unit_test(training),
                                       cmocka_unit_test(values_of_others_stay),
                                       cmocka_unit_test(old_values_are_read_before_they_go),
                                       cmocka_unit_test(new_values_need_no_memory),
                                       cmocka_unit_test(recorded_values_are_kept),
                                       cmocka_unit_test(inputs_from_anywhere),
                                       cmocka_unit_test(values_of_before_are_looked_up),
                                       cmocka_unit_test(refusals)};
    return run_tensor_tests(tests, NULL);
}
