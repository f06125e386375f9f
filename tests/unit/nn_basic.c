/* Modules, losses and optimizers: names and refusals, a model that learns, each optimizer beside its formula, losses beside theirs, states in
   files. */
#include "tensor_common.h"

#include <quern/nn.h>
#include <unistd.h>

typedef struct model {
    qn_module module;
    qn_linear hidden, out;
} model;

static void make_model(tensor_fixture *f, model *m, uint64_t inputs, uint64_t hidden, uint64_t outputs) {
    qn_module_init(&m->module, f->t, NULL);
    assert_ok(f->context,
              qn_linear_init(&m->hidden, f->t, &(qn_linear_desc){.inputs = inputs, .outputs = hidden}));
    assert_ok(f->context,
              qn_linear_init(&m->out, f->t, &(qn_linear_desc){.inputs = hidden, .outputs = outputs}));
    assert_ok(f->context, qn_module_add(&m->module, "hidden", &m->hidden.module));
    assert_ok(f->context, qn_module_add(&m->module, "out", &m->out.module));
}

static qn_tensor *forward(model *m, qn_tensor *x) {
    return qn_linear_forward(&m->out, qn_tanh(qn_linear_forward(&m->hidden, x)));
}

static void a_model_learns(void **state) {
    tensor_fixture *f = fixture_of(state);
    static const float in[] = {0, 0, 0, 1, 1, 0, 1, 1}, wanted[] = {0, 1, 1, 0};
    model m;
    make_model(f, &m, 2, 8, 1);
    qn_tensor *x = qn_tensor_retain(qn_from_data(f->t, QN_F32, QN_SHAPE(4, 2), in));
    qn_tensor *y = qn_tensor_retain(qn_from_data(f->t, QN_F32, QN_SHAPE(4, 1), wanted));
    qn_optimizer adam;
    assert_ok(f->context,
              qn_optimizer_init(&adam, &m.module, &(qn_optimizer_desc){.kind = QN_ADAM, .rate = 0.1}));
    double first = 0, last = 0;
    for (uint32_t step = 0; step < 100; step++) {
        assert_ok(f->context, qn_scope_begin(f->t));
        qn_tensor *loss = qn_bce_with_logits_loss(forward(&m, x), y, QN_LOSS_MEAN);
        assert_ok(f->context, qn_backward(loss));
        assert_ok(f->context, qn_optimizer_step(&adam));
        if (step == 0) first = qn_tensor_item(loss);
        if (step == 99) last = qn_tensor_item(loss);
        assert_ok(f->context, qn_scope_end(f->t));
    }
    if (!(first > 0.5 && last < 0.02)) fail_msg("the loss went from %g to %g", first, last);
    qn_optimizer_release(&adam);
    qn_module_release(&m.module);
    qn_tensor_release(x);
    qn_tensor_release(y);
}

static void names_and_counts(void **state) {
    tensor_fixture *f = fixture_of(state);
    model m;
    make_model(f, &m, 3, 5, 2);
    assert_int_equal(qn_module_count(&m.module), 3 * 5 + 5 + 5 * 2 + 2);
    assert_fails(f->context, qn_module_add(&m.module, "out", &m.hidden.module), QN_ERROR_ARGUMENT,
                 "has a 'out' already");
    assert_fails(f->context, qn_module_add(&m.module, "other", &m.hidden.module), QN_ERROR_ARGUMENT,
                 "'hidden' is part of a module");
    assert_fails(f->context, qn_module_add(&m.module, "a.b", &m.hidden.module), QN_ERROR_ARGUMENT,
                 "'a.b' is no name");
    assert_fails(f->context, qn_module_add(&m.module, "m", NULL), QN_ERROR_NULL, "child is NULL");
    qn_linear wrong;
    assert_fails(f->context, qn_linear_init(&wrong, f->t, &(qn_linear_desc){.inputs = 3}), QN_ERROR_ARGUMENT,
                 "outputs is 0");
    assert_fails(f->context, qn_linear_init(&wrong, f->t, NULL), QN_ERROR_NULL, "desc is NULL");
    qn_tensor *y = qn_linear_forward(&m.hidden, qn_zeros(f->t, QN_F32, QN_SHAPE(4, 7)));
    assert_fails(f->context, qn_tensor_status(y), QN_ERROR_ARGUMENT, "hidden");
    qn_module_release(&m.module);
}

/* ---- optimizers ---- */

/* What a step does to one number, in double precision. */
typedef struct numbers {
    double x, m, v;
    uint32_t n;
} numbers;

static void expect(const qn_optimizer_desc *d, numbers *s, double g) {
    const double rate = d->rate;
    s->n++;
    if (d->kind != QN_ADAMW && d->kind != QN_LION) g += d->decay * s->x;
    if (d->kind == QN_SGD) {
        s->m = d->momentum * s->m + g;
        s->x -= rate * (d->nesterov ? g + d->momentum * s->m : s->m);
    } else if (d->kind == QN_ADAM || d->kind == QN_ADAMW) {
        if (d->kind == QN_ADAMW) s->x -= rate * d->decay * s->x;
        s->m = 0.9 * s->m + 0.1 * g;
        s->v = 0.999 * s->v + 0.001 * g * g;
        s->x -= rate * (s->m / (1 - pow(0.9, s->n))) / (sqrt(s->v / (1 - pow(0.999, s->n))) + 1e-8);
    } else if (d->kind == QN_RMSPROP) {
        s->v = 0.99 * s->v + 0.01 * g * g;
        s->m = d->momentum * s->m + g / (sqrt(s->v) + 1e-8);
        s->x -= rate * s->m;
    } else if (d->kind == QN_ADAGRAD) {
        s->v += g * g;
        s->x -= rate * g / (sqrt(s->v) + 1e-10);
    } else {
        const double direction = 0.9 * s->m + 0.1 * g;
        s->x = s->x * (1 - rate * d->decay) - rate * ((direction > 0) - (direction < 0));
        s->m = 0.99 * s->m + 0.01 * g;
    }
}

static void run_optimizer(tensor_fixture *f, const qn_optimizer_desc *desc) {
    static const float begin[] = {1, -2, 0.5f};
    qn_module m;
    qn_parameter p;
    qn_module_init(&m, f->t, NULL);
    assert_ok(f->context,
              qn_module_add_parameter(&m, "p", &p, qn_from_data(f->t, QN_F32, QN_SHAPE(3), begin), true));
    qn_optimizer o;
    assert_ok(f->context, qn_optimizer_init(&o, &m, desc));
    numbers wanted[3] = {{.x = 1}, {.x = -2}, {.x = 0.5}};
    for (uint32_t step = 0; step < 6; step++) {
        assert_ok(f->context, qn_scope_begin(f->t));
        assert_ok(f->context, qn_backward(qn_power(p.tensor, 2)));
        assert_ok(f->context, qn_optimizer_step(&o));
        float got[3];
        read_floats(f, p.tensor, got, 3);
        for (uint32_t i = 0; i < 3; i++) {
            expect(desc, &wanted[i], 2 * wanted[i].x);
            if (!(fabs((double)got[i] - wanted[i].x) < 1e-5))
                fail_msg("kind %u, step %u: %g is not %g", desc->kind, step, (double)got[i], wanted[i].x);
        }
        assert_ok(f->context, qn_scope_end(f->t));
    }
    qn_optimizer_release(&o);
    qn_module_release(&m);
}

static void optimizers_are_their_formulas(void **state) {
    static const qn_optimizer_desc descs[] = {
        {.kind = QN_SGD, .rate = 0.1},
        {.kind = QN_SGD, .rate = 0.1, .momentum = 0.9, .decay = 0.1},
        {.kind = QN_SGD, .rate = 0.1, .momentum = 0.9, .nesterov = true},
        {.kind = QN_ADAM, .rate = 0.1},
        {.kind = QN_ADAM, .rate = 0.1, .decay = 0.3},
        {.kind = QN_ADAMW, .rate = 0.1, .decay = 0.3},
        {.kind = QN_RMSPROP, .rate = 0.1},
        {.kind = QN_RMSPROP, .rate = 0.1, .momentum = 0.5},
        {.kind = QN_ADAGRAD, .rate = 0.5},
        {.kind = QN_LION, .rate = 0.1, .decay = 0.2},
    };
    for (size_t i = 0; i < sizeof descs / sizeof *descs; i++) run_optimizer(fixture_of(state), &descs[i]);
}

static void wrong_optimizers_are_refused(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_module m;
    qn_optimizer o;
    qn_module_init(&m, f->t, NULL);
    assert_fails(f->context, qn_optimizer_init(&o, &m, NULL), QN_ERROR_NULL, "desc is NULL");
    assert_fails(f->context, qn_optimizer_init(&o, &m, &(qn_optimizer_desc){.rate = -2}), QN_ERROR_ARGUMENT,
                 "rate is -2");
    assert_fails(f->context, qn_optimizer_init(&o, &m, &(qn_optimizer_desc){.beta1 = 1}), QN_ERROR_ARGUMENT,
                 "beta1 is 1");
    assert_fails(f->context, qn_optimizer_init(&o, &m, &(qn_optimizer_desc){.kind = QN_OPTIMIZER_COUNT}),
                 QN_ERROR_ARGUMENT, "is none");
}

static void gradients_are_clipped(void **state) {
    tensor_fixture *f = fixture_of(state);
    static const float begin[] = {3, 4};
    qn_module m;
    qn_parameter p;
    qn_module_init(&m, f->t, NULL);
    assert_ok(f->context,
              qn_module_add_parameter(&m, "p", &p, qn_from_data(f->t, QN_F32, QN_SHAPE(2), begin), true));
    assert_ok(f->context, qn_backward(qn_square(p.tensor)));
    assert_near((float)qn_tensor_item(qn_clip_gradients(&m, 1)), 10);
    float got[2];
    read_floats(f, qn_tensor_gradient(p.tensor), got, 2);
    assert_near(got[0], 0.6);
    assert_near(got[1], 0.8);
    qn_module_release(&m);
}

/* ---- losses ---- */

static void assert_item(tensor_fixture *f, qn_tensor *x, double wanted) {
    assert_ok(f->context, qn_tensor_status(x));
    const double got = qn_tensor_item(x);
    if (!(fabs(got - wanted) < 3e-6 * (1 + fabs(wanted)))) fail_msg("%.9g is not %.9g", got, wanted);
}

static void losses_are_their_formulas(void **state) {
    tensor_fixture *f = fixture_of(state);
    static const float a[] = {0.1f, 0.5f, 0.9f, 0.3f}, b[] = {0, 1, 0.5f, 2};
    qn_tensor *x = qn_from_data(f->t, QN_F32, QN_SHAPE(4), a),
              *y = qn_from_data(f->t, QN_F32, QN_SHAPE(4), b);
    double mse = 0, l1 = 0, huber = 0, bce = 0, logits = 0, kl = 0;
    for (uint32_t i = 0; i < 4; i++) {
        const double p = (double)a[i], t = (double)b[i], d = p - t;
        mse += d * d;
        l1 += fabs(d);
        huber += fabs(d) <= 0.45 ? d * d / 2 : 0.45 * (fabs(d) - 0.225);
        bce -= t * log(p) + (1 - t) * log(1 - p);
        logits += log(1 + exp(p)) - p * t;
        kl += t > 0 ? t * (log(t) - p) : 0;
    }
    assert_item(f, qn_mse_loss(x, y, QN_LOSS_MEAN), mse / 4);
    assert_item(f, qn_mse_loss(x, y, QN_LOSS_SUM), mse);
    assert_int_equal(qn_tensor_count(qn_mse_loss(x, y, QN_LOSS_EACH)), 4);
    assert_item(f, qn_l1_loss(x, y, QN_LOSS_SUM), l1);
    assert_item(f, qn_huber_loss(x, y, 0.45, QN_LOSS_SUM), huber);
    assert_item(f, qn_bce_loss(x, y, QN_LOSS_SUM), bce);
    assert_item(f, qn_bce_with_logits_loss(x, y, QN_LOSS_SUM), logits);
    assert_item(f, qn_kl_loss(x, y, QN_LOSS_SUM), kl);
}

enum { ROWS = 4, CLASSES = 3 };

/* Of one class each, as written down in the documentation of frameworks. */
static double cross_entropy(const float *x, const int32_t *target, const qn_classes_desc *d,
                            const float *weights) {
    double sum = 0, shares = 0;
    for (uint32_t r = 0; r < ROWS; r++) {
        if (d->ignores && target[r] == d->ignored) continue;
        double all = 0, loss = 0;
        for (uint32_t c = 0; c < CLASSES; c++) all += exp((double)x[r * CLASSES + c]);
        for (uint32_t c = 0; c < CLASSES; c++) {
            const double share = (target[r] == (int32_t)c ? 1 - d->smoothing : 0) + d->smoothing / CLASSES;
            loss -= share * (weights ? (double)weights[c] : 1) * ((double)x[r * CLASSES + c] - log(all));
        }
        sum += loss;
        shares += weights ? (double)weights[target[r]] : 1;
    }
    return d->result == QN_LOSS_SUM ? sum : sum / shares;
}

static void classes_are_told_apart(void **state) {
    tensor_fixture *f = fixture_of(state);
    static const float x[ROWS * CLASSES] = {0.1f, -2, 1, 3, 0.2f, 0.4f, -1, -1.5f, 2, 0, 0, 5},
                                weights[CLASSES] = {1, 2, 0.5f};
    static const int32_t target[ROWS] = {2, 0, 1, 2};
    qn_tensor *scores = qn_from_data(f->t, QN_F32, QN_SHAPE(ROWS, CLASSES), x);
    qn_tensor *labels = qn_from_data(f->t, QN_I32, QN_SHAPE(ROWS), target);
    qn_tensor *heavy = qn_from_data(f->t, QN_F32, QN_SHAPE(CLASSES), weights);
    const qn_classes_desc descs[] = {{.result = QN_LOSS_MEAN},
                                     {.result = QN_LOSS_SUM, .smoothing = 0.1},
                                     {.smoothing = 0.2, .ignores = true, .ignored = 2},
                                     {.weights = heavy},
                                     {.weights = heavy, .smoothing = 0.3, .ignores = true, .ignored = 1},
                                     {.result = QN_LOSS_SUM, .weights = heavy}};
    for (size_t i = 0; i < sizeof descs / sizeof *descs; i++)
        assert_item(f, qn_cross_entropy(scores, labels, &descs[i]),
                    cross_entropy(x, target, &descs[i], descs[i].weights ? weights : NULL));
    assert_item(f, qn_nll_loss(qn_log_softmax(scores, 1), labels, NULL),
                cross_entropy(x, target, &descs[0], NULL));
    /* The same as probabilities, and with further dimensions behind the classes. */
    qn_tensor *numbers = qn_arange(f->t, QN_I32, 0, CLASSES, 1);
    qn_tensor *shares = qn_cast(qn_equal(qn_unsqueeze(labels, 1), numbers), QN_F32);
    assert_item(f, qn_cross_entropy(scores, shares, &descs[1]), cross_entropy(x, target, &descs[1], NULL));
    qn_tensor *behind = qn_reshape(qn_transpose(scores, 0, 1), QN_SHAPE(1, CLASSES, ROWS));
    assert_item(f, qn_cross_entropy(behind, qn_reshape(labels, QN_SHAPE(1, ROWS)), &descs[4]),
                cross_entropy(x, target, &descs[4], weights));
}

/* ---- layers ---- */

static void norms_normalise(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_norm_layer row, mean_square;
    qn_group_norm group;
    qn_batch_norm batch;
    assert_ok(f->context, qn_norm_layer_init(&row, f->t, &(qn_norm_layer_desc){.size = 6}));
    assert_ok(f->context, qn_norm_layer_init(&mean_square, f->t,
                                             &(qn_norm_layer_desc){.size = 6, .root_mean_square = true}));
    assert_ok(f->context,
              qn_group_norm_init(&group, f->t, &(qn_group_norm_desc){.channels = 4, .groups = 2}));
    assert_ok(f->context, qn_batch_norm_init(&batch, f->t, &(qn_batch_norm_desc){.channels = 4}));
    qn_tensor *x = counting(f, QN_SHAPE(5, 4, 6), 1, 1);
    assert_item(
        f, qn_max(qn_abs(qn_mean(qn_norm_layer_forward(&row, x), QN_AXES(-1), false)), QN_ALL_AXES, false),
        0);
    assert_item(f, qn_mean(qn_square(qn_norm_layer_forward(&mean_square, x)), QN_ALL_AXES, false), 1);
    assert_true(fabs(qn_tensor_item(qn_variance(qn_group_norm_forward(&group, x), QN_ALL_AXES, 0, false)) -
                     1) < 1e-4);
    qn_tensor *y = qn_batch_norm_forward(&batch, x);
    assert_true(fabs(qn_tensor_item(qn_variance(y, QN_ALL_AXES, 0, false)) - 1) < 1e-4);
    /* Channel 0 has 1..6, 25..30, ...: mean 51.5, variance 1154.92 of the batch, of all 1194.74. */
    float running[4];
    read_floats(f, batch.running_mean.tensor, running, 4);
    assert_near(running[0], 0.1 * 51.5);
    read_floats(f, batch.running_var.tensor, running, 4);
    assert_near(running[0], 0.9 + 0.1 * (1154.9166666666667 * 30 / 29));
    qn_module_train(&batch.module, false);
    qn_tensor *first = qn_slice(qn_flatten(qn_batch_norm_forward(&batch, x), 0, -1), 0, 0, 1, 1);
    assert_item(f, first, (1 - 5.15) / sqrt((double)running[0] + 1e-5));
    qn_module_release(&row.module);
    qn_module_release(&mean_square.module);
    qn_module_release(&group.module);
    qn_module_release(&batch.module);
}

static void sequences_and_dropout(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_module sequence;
    qn_linear linear;
    qn_function_layer relu;
    qn_dropout dropout;
    qn_sequential_init(&sequence, f->t);
    assert_ok(f->context, qn_linear_init(&linear, f->t, &(qn_linear_desc){.inputs = 4, .outputs = 500}));
    qn_function_layer_init(&relu, f->t, qn_abs);
    qn_dropout_init(&dropout, f->t, 0.25);
    assert_ok(f->context, qn_sequential_add(&sequence, &linear.module));
    assert_ok(f->context, qn_sequential_add(&sequence, &relu.module));
    assert_ok(f->context, qn_sequential_add(&sequence, &dropout.module));
    assert_string_equal(dropout.module.name, "2");
    qn_tensor *x = qn_ones(f->t, QN_F32, QN_SHAPE(1, 4));
    qn_tensor *left = qn_sum(qn_not_equal(qn_module_forward(&sequence, x), 0), QN_ALL_AXES, false);
    assert_true(fabs(qn_tensor_item(left) - 375) < 50);
    qn_module_train(&sequence, false);
    qn_tensor *all = qn_sum(qn_not_equal(qn_module_forward(&sequence, x), 0), QN_ALL_AXES, false);
    assert_item(f, all, 500);
    qn_module none;
    qn_module_init(&none, f->t, NULL);
    assert_fails(f->context, qn_sequential_add(&sequence, &none), QN_ERROR_ARGUMENT,
                 "module 3 has no function");
    qn_module_release(&sequence);
}

static void layers_convolve(void **state) {
    tensor_fixture *f = fixture_of(state);
    qn_convolution_layer layer;
    const qn_convolution_layer_desc desc = {
        .inputs = 4, .outputs = 6, .window = {3, 2}, .convolution = {.padding = {1, 0}, .groups = 2}};
    assert_ok(f->context, qn_convolution_layer_init(&layer, f->t, &desc));
    assert_int_equal(qn_module_count(&layer.module), 6 * 2 * 3 * 2 + 6);
    const qn_shape shape =
        qn_tensor_shape(qn_module_forward(&layer.module, qn_ones(f->t, QN_F32, QN_SHAPE(2, 4, 5, 5))));
    assert_int_equal(shape.rank, 4);
    assert_int_equal(shape.sizes[1], 6);
    assert_int_equal(shape.sizes[2], 5);
    assert_int_equal(shape.sizes[3], 4);
    assert_true(qn_tensor_item(qn_max(qn_abs(layer.weight.tensor), QN_ALL_AXES, false)) <= 1 / sqrt(12));
    qn_module_release(&layer.module);
    qn_convolution_layer_desc wrong = desc;
    wrong.convolution.groups = 3;
    assert_fails(f->context, qn_convolution_layer_init(&layer, f->t, &wrong), QN_ERROR_ARGUMENT,
                 "groups divide both");
}

typedef struct dropping {
    qn_dropout dropout;
    qn_tensor *ones; /* that require gradients */
} dropping;

/* What is left of ones, and the gradient by them, which is the same. */
static qn_status drop(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                      size_t num_outputs) {
    dropping *d = user;
    (void)inputs;
    assert_true(num_inputs == 0 && num_outputs == 2);
    outputs[0] = qn_dropout_forward(&d->dropout, d->ones);
    const qn_status status = qn_backward(qn_sum(outputs[0], QN_ALL_AXES, false));
    outputs[1] = qn_detach(qn_tensor_gradient(d->ones));
    qn_tensor_clear_gradient(d->ones);
    return status;
}

static void dropout_differs_in_each_run_of_a_step(void **state) {
    enum { RUNS = 3, COUNT = 500 };
    tensor_fixture *f = fixture_of(state);
    dropping d = {.ones = qn_tensor_require_gradient(qn_ones(f->t, QN_F32, QN_SHAPE(COUNT)), true)};
    qn_dropout_init(&d.dropout, f->t, 0.25);
    assert_ok(f->context, qn_tensor_realize(d.ones));
    qn_step *step;
    assert_ok(f->context, qn_step_create(f->t, drop, &d, &step));
    float left[RUNS][COUNT], gradient[COUNT];
    for (int i = 0; i < RUNS; i++) {
        qn_tensor *outputs[2];
        assert_ok(f->context, qn_step_run(step, NULL, 0, outputs, 2));
        read_floats(f, outputs[0], left[i], COUNT);
        read_floats(f, outputs[1], gradient, COUNT);
        assert_memory_equal(left[i], gradient, sizeof gradient);
        for (int k = 0; k < i; k++) assert_memory_not_equal(left[i], left[k], sizeof gradient);
    }
    qn_step_destroy(step);
    qn_module_release(&d.dropout.module);
}

/* ---- files ---- */

static void note_line(void *user, const char *text) { strcat(strcat(user, text), "\n"); }

static void states_are_saved_and_loaded(void **state) {
    tensor_fixture *f = fixture_of(state);
    char path[64], text[1000] = "";
    snprintf(path, sizeof path, "nn_basic.%ld.safetensors", (long)getpid());
    model a, b;
    make_model(f, &a, 3, 5, 2);
    make_model(f, &b, 3, 5, 2);
    assert_ok(f->context, qn_module_summary(&a.module, note_line, text));
    assert_non_null(strstr(text, "hidden.weight"));
    assert_non_null(strstr(text, "5x3"));
    assert_non_null(strstr(text, "32 elements are trained"));
    assert_ok(f->context, qn_module_save(&a.module, path));
    qn_archive *archive;
    assert_ok(f->context, qn_archive_open(f->context, path, NULL, &archive));
    assert_ok(f->context, qn_module_load(&b.module, archive, NULL));
    float first[15], second[15];
    read_floats(f, a.hidden.weight.tensor, first, 15);
    read_floats(f, b.hidden.weight.tensor, second, 15);
    assert_memory_equal(first, second, sizeof first);
    model other;
    make_model(f, &other, 3, 5, 4);
    assert_fails(f->context, qn_module_load(&other.module, archive, NULL), QN_ERROR_ARGUMENT, "out.weight");
    qn_archive_close(archive);
    remove(path);
    qn_module_release(&a.module);
    qn_module_release(&b.module);
    qn_module_release(&other.module);
}

static void rates_follow_their_schedules(void **state) {
    (void)state;
    assert_near((float)qn_rate_step(1, 25, 10, 0.5), 0.25);
    assert_near((float)qn_rate_exponential(2, 3, 0.5), 0.25);
    assert_near((float)qn_rate_cosine(1, 50, 100, 0), 0.5);
    assert_near((float)qn_rate_cosine(1, 1000, 100, 0.25), 0.25);
    assert_near((float)qn_rate_warm_up(0, 4), 0.2);
    assert_near((float)qn_rate_warm_up(4, 4), 1);
    assert_near((float)qn_rate_one_cycle(1, 0, 100), 0.04);
    assert_near((float)qn_rate_one_cycle(1, 29, 100), 1);
    assert_near((float)qn_rate_one_cycle(1, 99, 100), 4e-6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_learns),
        cmocka_unit_test(names_and_counts),
        cmocka_unit_test(optimizers_are_their_formulas),
        cmocka_unit_test(wrong_optimizers_are_refused),
        cmocka_unit_test(gradients_are_clipped),
        cmocka_unit_test(losses_are_their_formulas),
        cmocka_unit_test(classes_are_told_apart),
        cmocka_unit_test(norms_normalise),
        cmocka_unit_test(sequences_and_dropout),
        cmocka_unit_test(layers_convolve),
        cmocka_unit_test(dropout_differs_in_each_run_of_a_step),
        cmocka_unit_test(states_are_saved_and_loaded),
        cmocka_unit_test(rates_follow_their_schedules),
    };
    return run_tensor_tests(tests, &(qn_tensors_desc){.seed = 3});
}
