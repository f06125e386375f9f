/* Optimizers, clipping, loss scaling, means of parameters and schedules beside what PyTorch 1.13 computes in double precision from the same
   parameters and gradients; Muon, which that lacks, beside its formula in double precision. */
#include "tensor_common.h"

#include <quern/nn.h>
#include <string.h>

enum { COUNT = 6, STEPS = 5 };

/* A module of one parameter of 2x3. */
typedef struct one {
    qn_module module;
    qn_parameter p;
} one;

static void make_one(tensor_fixture *f, one *m, qn_element type) {
    static const float begin[COUNT] = {1, -2, 0.5f, 0.25f, -0.75f, 1.5f};
    qn_module_init(&m->module, f->t, NULL);
    qn_tensor *value = qn_cast(qn_from_data(f->t, QN_F32, QN_SHAPE(2, 3), begin), type);
    assert_ok(f->context, qn_module_add_parameter(&m->module, "p", &m->p, value, true));
}

/* The gradient of a step: 0.5 (i + 1) - 0.3 step. */
static qn_tensor *gradient_of(tensor_fixture *f, uint32_t step) {
    return counting(f, QN_SHAPE(2, 3), 0.5f - 0.3f * (float)step, 0.5f);
}

static void go_back(tensor_fixture *f, one *m, uint32_t step) {
    assert_ok(f->context, qn_backward(qn_multiply(m->p.tensor, gradient_of(f, step))));
}

static void assert_values(tensor_fixture *f, qn_tensor *x, const double *wanted, double tolerance) {
    float got[COUNT];
    read_floats(f, qn_cast(x, QN_F32), got, COUNT);
    for (uint32_t i = 0; i < COUNT; i++)
        if (!(fabs((double)got[i] - wanted[i]) <= tolerance))
            fail_msg("element %u: %.8g is not %.8g", (unsigned)i, (double)got[i], wanted[i]);
}

/* ---- optimizers ---- */

static const struct {
    qn_optimizer_desc desc;
    double wanted[COUNT];
} figures[] = {
    {{.kind = QN_SGD, .rate = 0.05}, {1.025, -2.1, 0.275, -0.1, -1.225, 0.9}},
    {{.kind = QN_SGD, .rate = 0.05, .momentum = 0.9, .nesterov = true, .decay = 0.1},
     {0.901976054, -2.262923512, -0.381296887, -1.022933357, -2.35273249, -0.700493418}},
    {{.kind = QN_ADAM, .rate = 0.05, .decay = 0.1},
     {0.862480458, -2.185658555, 0.264005307, 0.008195443, -0.994094909, 1.253820709}},
    {{.kind = QN_ADAMW, .rate = 0.05, .decay = 0.2},
     {0.848752943, -2.110403153, 0.244858716, 0.000776007, -0.952887408, 1.185428616}},
    {{.kind = QN_RMSPROP, .rate = 0.02, .momentum = 0.5},
     {0.8602757, -2.70546125, -0.38187992, -0.701479501, -1.737536756, 0.49056422}},
    {{.kind = QN_ADAGRAD, .rate = 0.1, .decay = 0.05},
     {0.987688386, -2.153836897, 0.253794429, -0.020609573, -1.032661881, 1.207650759}},
    {{.kind = QN_MUON, .rate = 0.02},
     {1.009903571, -1.980472412, 0.474371165, 0.231228627, -0.756675407, 1.4730503}},
};

static void run_optimizer(tensor_fixture *f, const qn_optimizer_desc *desc, const double *wanted,
                          qn_element type, double tolerance) {
    one m;
    qn_optimizer o;
    make_one(f, &m, type);
    assert_ok(f->context, qn_optimizer_init(&o, &m.module, desc));
    for (uint32_t step = 0; step < STEPS; step++) {
        go_back(f, &m, step);
        assert_ok(f->context, qn_optimizer_step(&o));
    }
    assert_values(f, m.p.tensor, wanted, tolerance);
    qn_optimizer_release(&o);
    qn_module_release(&m.module);
}

static void optimizers_are_those_of_others(void **state) {
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        run_optimizer(fixture_of(state), &figures[i].desc, figures[i].wanted, QN_F32, 2e-5);
}

/* Of bf16 the value is kept in f32: rounded to 8 bits after each step, small steps would be lost. */
static void narrow_parameters_are_kept_wide(void **state) {
    tensor_fixture *f = fixture_of(state);
    one m;
    qn_optimizer o;
    make_one(f, &m, QN_BF16);
    assert_ok(f->context,
              qn_optimizer_init(&o, &m.module, &(qn_optimizer_desc){.kind = QN_SGD, .rate = 1e-4}));
    for (uint32_t step = 0; step < 100; step++) {
        assert_ok(f->context, qn_scope_begin(f->t));
        assert_ok(f->context, qn_backward(m.p.tensor));
        assert_ok(f->context, qn_optimizer_step(&o));
        assert_ok(f->context, qn_scope_end(f->t));
    }
    /* 100 steps of 1e-4; of 1.0 each alone is less than half of bf16's last digit. */
    assert_values(f, m.p.tensor,
                  (double[]){0.98828125, -2.015625, 0.490234375, 0.240234375, -0.76171875, 1.4921875}, 1e-6);
    assert_int_equal(qn_tensor_type(m.p.tensor), QN_BF16);
    qn_optimizer_release(&o);
    qn_module_release(&m.module);
}

/* Biases do not decay, and the second layer stays. */
static void groups_have_their_numbers(void **state) {
    tensor_fixture *f = fixture_of(state);
    static const qn_optimizer_group groups[] = {{.name = "frozen.*", .rate = QN_NONE},
                                                {.name = "bias", .rate = 2, .decay = QN_NONE}};
    qn_module m, frozen;
    qn_parameter weight, bias, still;
    qn_optimizer o;
    qn_module_init(&m, f->t, NULL);
    qn_module_init(&frozen, f->t, NULL);
    assert_ok(f->context, qn_module_add(&m, "frozen", &frozen));
    assert_ok(f->context,
              qn_module_add_parameter(&m, "weight", &weight, qn_ones(f->t, QN_F32, QN_SHAPE(2)), true));
    assert_ok(f->context,
              qn_module_add_parameter(&m, "bias", &bias, qn_ones(f->t, QN_F32, QN_SHAPE(2)), true));
    assert_ok(f->context,
              qn_module_add_parameter(&frozen, "weight", &still, qn_ones(f->t, QN_F32, QN_SHAPE(2)), true));
    const qn_optimizer_desc desc = {
        .kind = QN_SGD, .rate = 0.125, .decay = 0.5, .groups = groups, .num_groups = 2};
    assert_ok(f->context, qn_optimizer_init(&o, &m, &desc));
    assert_ok(f->context, qn_backward(qn_add(qn_add(weight.tensor, bias.tensor), still.tensor)));
    assert_ok(f->context, qn_optimizer_step(&o));
    float got[2];
    read_floats(f, weight.tensor, got, 2);
    assert_near(got[0], 1 - 0.125 * 1.5);
    read_floats(f, bias.tensor, got, 2);
    assert_near(got[0], 1 - 0.25);
    read_floats(f, still.tensor, got, 2);
    assert_near(got[0], 1);
    assert_null(qn_tensor_gradient(still.tensor));
    qn_optimizer_release(&o);
    qn_module_release(&m);
    qn_optimizer_desc wrong = {.num_groups = 1};
    qn_module_init(&m, f->t, NULL);
    assert_fails(f->context, qn_optimizer_init(&o, &m, &wrong), QN_ERROR_NULL, "groups is NULL");
    wrong.groups = &(qn_optimizer_group){.rate = 1};
    assert_fails(f->context, qn_optimizer_init(&o, &m, &wrong), QN_ERROR_NULL, "name of group 0");
}

/* ---- gradients ---- */

static void gradients_are_clipped_and_added_up(void **state) {
    tensor_fixture *f = fixture_of(state);
    one m;
    make_one(f, &m, QN_F32);
    assert_ok(f->context, qn_backward(qn_square(m.p.tensor)));
    assert_near((float)qn_tensor_item(qn_clip_gradients(&m.module, 1)), 5.70087712549569);
    assert_values(f, qn_tensor_gradient(m.p.tensor),
                  (double[]){0.350823146, -0.701646292, 0.175411573, 0.087705787, -0.263117359, 0.526234719},
                  1e-6);
    assert_ok(f->context, qn_clip_gradient_values(&m.module, 0.25));
    assert_values(f, qn_tensor_gradient(m.p.tensor),
                  (double[]){0.25, -0.25, 0.175411573, 0.087705787, -0.25, 0.25}, 1e-6);
    assert_fails(f->context, qn_clip_gradient_values(NULL, 1), QN_ERROR_NULL, "module is NULL");
    assert_fails(f->context, qn_tensor_set_gradient(m.p.tensor, qn_ones(f->t, QN_F32, QN_SHAPE(3))),
                 QN_ERROR_ARGUMENT, "f32 3 is no gradient by f32 2x3");
    assert_fails(f->context, qn_tensor_set_gradient(gradient_of(f, 0), gradient_of(f, 0)), QN_ERROR_ARGUMENT,
                 "requires none");
    qn_tensor_clear_gradient(m.p.tensor);
    /* Two halves of a batch are as the whole. */
    for (uint32_t half = 0; half < 2; half++)
        assert_ok(f->context, qn_backward(qn_multiply(qn_multiply(m.p.tensor, gradient_of(f, half)), 0.5)));
    float whole[COUNT], sum[COUNT];
    read_floats(f, qn_multiply(qn_add(gradient_of(f, 0), gradient_of(f, 1)), 0.5), whole, COUNT);
    read_floats(f, qn_tensor_gradient(m.p.tensor), sum, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) assert_near(sum[i], (double)whole[i]);
    qn_module_release(&m.module);
}

/* ---- loss scaling ---- */

typedef struct scaled {
    one m;
    qn_optimizer optimizer;
    qn_loss_scaler scaler;
    bool clips;
} scaled;

/* Inputs: the factors of the loss. */
static qn_status scaled_step(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                             size_t num_outputs) {
    scaled *s = user;
    assert_true(num_inputs == 1 && num_outputs == 0);
    (void)outputs;
    qn_tensor *loss = qn_sum(qn_multiply(s->m.p.tensor, inputs[0]), QN_ALL_AXES, false);
    qn_status status = qn_backward(qn_loss_scaler_scale(&s->scaler, loss));
    if (!status && s->clips) status = qn_loss_scaler_unscale(&s->scaler, &s->m.module);
    if (!status && s->clips) status = qn_clip_gradient_values(&s->m.module, 100);
    return status ? status : qn_loss_scaler_step(&s->scaler, &s->optimizer);
}

/* Steps 1 and 3 have a gradient that is no number, or too large for the scale: they leave all as it was, and halve the scale. The others are as those without. */
static void run_scaled(tensor_fixture *f, bool recorded, bool clips) {
    scaled s = {.clips = clips};
    make_one(f, &s.m, QN_F32);
    assert_ok(f->context, qn_optimizer_init(&s.optimizer, &s.m.module, &figures[2].desc));
    const qn_loss_scaler_desc desc = {.scale = 1024, .interval = 2};
    assert_ok(f->context, qn_loss_scaler_init(&s.scaler, f->t, &desc));
    qn_step *step;
    assert_ok(f->context, qn_step_create(f->t, scaled_step, &s, &step));
    static const double scales[] = {1024, 512, 512, 256, 256, 512, 512};
    for (uint32_t i = 0, done = 0; i < 7; i++) {
        qn_tensor *x = gradient_of(f, done);
        const bool overflows = i == 1 || i == 3;
        if (overflows) x = qn_multiply(x, i == 1 ? INFINITY : 3e38);
        done += !overflows;
        if (recorded)
            assert_ok(f->context, qn_step_run(step, &x, 1, NULL, 0));
        else
            assert_ok(f->context, scaled_step(&s, &x, 1, NULL, 0));
        assert_near((float)qn_tensor_item(s.scaler.scale.tensor), scales[i]);
    }
    assert_values(f, s.m.p.tensor, figures[2].wanted, 2e-5);
    qn_step_destroy(step);
    qn_loss_scaler_release(&s.scaler);
    qn_optimizer_release(&s.optimizer);
    qn_module_release(&s.m.module);
}

static void overflows_are_left_out(void **state) {
    run_scaled(fixture_of(state), false, false);
    run_scaled(fixture_of(state), true, false);
    run_scaled(fixture_of(state), true, true);
    tensor_fixture *f = fixture_of(state);
    qn_loss_scaler scaler;
    assert_fails(f->context, qn_loss_scaler_init(&scaler, f->t, &(qn_loss_scaler_desc){.backoff = 2}),
                 QN_ERROR_ARGUMENT, "backoff 2");
    assert_fails(f->context, qn_loss_scaler_init(&scaler, f->t, &(qn_loss_scaler_desc){.scale = -2}),
                 QN_ERROR_ARGUMENT, "scale -2");
    assert_fails(f->context, qn_loss_scaler_init(NULL, f->t, NULL), QN_ERROR_NULL, "NULL");
    assert_fails(f->context, qn_loss_scaler_step(NULL, NULL), QN_ERROR_NULL, "scaler is NULL");
    one m;
    make_one(f, &m, QN_F32);
    assert_ok(f->context, qn_loss_scaler_init(&scaler, f->t, NULL));
    assert_ok(f->context, qn_backward(qn_loss_scaler_scale(&scaler, qn_sum(m.p.tensor, QN_ALL_AXES, false))));
    assert_ok(f->context, qn_loss_scaler_unscale(&scaler, &m.module));
    assert_fails(f->context, qn_loss_scaler_unscale(&scaler, &m.module), QN_ERROR_STATE,
                 "divided by the scale already");
    qn_loss_scaler_release(&scaler);
    qn_module_release(&m.module);
}

/* ---- means ---- */

static qn_status averaged_step(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                               size_t num_outputs) {
    void **all = user;
    one *m = all[0];
    assert_true(num_inputs == 1 && num_outputs == 0);
    (void)outputs;
    qn_status status = qn_backward(qn_multiply(m->p.tensor, inputs[0]));
    if (!status) status = qn_optimizer_step(all[1]);
    return status ? status : qn_average_update(all[2]);
}

static void means_follow_parameters(void **state) {
    tensor_fixture *f = fixture_of(state);
    static const double wanted[COUNT] = {0.99497825, -2.037882, 0.42925775, 0.1463975, -0.88646275, 1.330677};
    for (int recorded = 0; recorded < 2; recorded++) {
        one m;
        qn_optimizer o;
        qn_average average;
        make_one(f, &m, QN_F32);
        assert_ok(f->context, qn_optimizer_init(&o, &m.module, &figures[0].desc));
        assert_ok(f->context, qn_average_init(&average, &m.module, 0.9));
        void *all[] = {&m, &o, &average};
        qn_step *step;
        assert_ok(f->context, qn_step_create(f->t, averaged_step, all, &step));
        for (uint32_t i = 0; i < STEPS; i++) {
            qn_tensor *x = gradient_of(f, i);
            assert_ok(f->context,
                      recorded ? qn_step_run(step, &x, 1, NULL, 0) : averaged_step(all, &x, 1, NULL, 0));
        }
        assert_values(f, average.values[0], wanted, 1e-6);
        assert_ok(f->context, qn_average_exchange(&average));
        assert_values(f, m.p.tensor, wanted, 1e-6);
        assert_ok(f->context, qn_average_exchange(&average));
        assert_values(f, m.p.tensor, figures[0].wanted, 1e-6);
        qn_step_destroy(step);
        qn_average_release(&average);
        qn_optimizer_release(&o);
        qn_module_release(&m.module);
    }
    qn_average wrong;
    qn_module none;
    qn_module_init(&none, f->t, NULL);
    assert_fails(f->context, qn_average_init(&wrong, &none, 1.5), QN_ERROR_ARGUMENT, "decay is 1.5");
    assert_fails(f->context, qn_average_init(&wrong, NULL, 0), QN_ERROR_NULL, "module is NULL");
    assert_fails(f->context, qn_average_update(NULL), QN_ERROR_NULL, "average is NULL");
}

/* ---- schedules ---- */

static void rates_are_those_of_others(void **state) {
    (void)state;
    static const uint64_t at[] = {3, 7, 20};
    const struct {
        double got, wanted;
    } rates[] = {
        {qn_rate_step(1, 9, 10, 0.5), 1},
        {qn_rate_step(1, 39, 10, 0.5), 0.125},
        {qn_rate_steps(1, 2, at, 3, 0.1), 1},
        {qn_rate_steps(1, 3, at, 3, 0.1), 0.1},
        {qn_rate_steps(1, 7, at, 3, 0.1), 0.01},
        {qn_rate_steps(1, 25, at, 3, 0.1), 0.001},
        {qn_rate_exponential(1, 5, 0.9), 0.59049},
        {qn_rate_exponential(1, 29, 0.9), 0.047101287},
        {qn_rate_cosine(1, 7, 40, 0.1), 0.933688074},
        {qn_rate_cosine(1, 20, 40, 0.1), 0.55},
        {qn_rate_one_cycle(1, 10, 100), 0.295163948},
        {qn_rate_one_cycle(1, 30, 100), 0.999496535},
        {qn_rate_one_cycle(1, 60, 100), 0.58928009},
        {qn_rate_one_cycle(1, 99, 100), 4e-6},
        {qn_rate_polynomial(1, 5, 20, 2), 0.5625},
        {qn_rate_polynomial(1, 19, 20, 2), 0.0025},
        {qn_rate_polynomial(1, 25, 20, 2), 0},
    };
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        assert_near((float)rates[i].got, rates[i].wanted);
    static const double losses[] = {1,  .9, .95, .92, .9001, .89995, .91, .5, .6,
                                    .6, .6, .6,  .6,  .6,    .6,     .7,  .4, .39999},
                        wanted[] = {1, 1, 1, 1, .5, .5, .5, .5, .5, .5, .25, .25, .25, .25, .2, .2, .2, .2};
    qn_plateau plateau = {.rate = 1, .factor = 0.5, .patience = 2, .cooldown = 1, .least = 0.2};
    for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
        assert_near((float)qn_plateau_rate(&plateau, losses[i]), wanted[i]);
}

static int begin_scope(void **state) { return qn_scope_begin(fixture_of(state)->t) != QN_OK; }
static int end_scope(void **state) { return qn_scope_end(fixture_of(state)->t) != QN_OK; }

int main(void) {
    if (device_is_missing()) return TEST_SKIPPED;
    static const struct {
        const char *name;
        CMUnitTestFunction function;
    } list[] = {{"optimizers are those of others", optimizers_are_those_of_others},
                {"narrow parameters are kept wide", narrow_parameters_are_kept_wide},
                {"groups have their numbers", groups_have_their_numbers},
                {"gradients are clipped and added up", gradients_are_clipped_and_added_up},
                {"overflows are left out", overflows_are_left_out},
                {"means follow parameters", means_follow_parameters},
                {"rates are those of others", rates_are_those_of_others}};
    enum { TESTS = sizeof list / sizeof *list };
    struct CMUnitTest tests[TESTS];
    tensor_fixture f = make_tensors(NULL);
    for (size_t i = 0; i < TESTS; i++)
        tests[i] = (struct CMUnitTest){list[i].name, list[i].function, begin_scope, end_scope, &f};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    end_tensors(&f);
    return failed;
}
