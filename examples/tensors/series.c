/* A day's forecast of an hourly series (a made one: two seasons, a trend, and noise that has a memory): a network of the last week tells the next 24 hours,
   beside the same hours of the day before. --out FILE.svg: the last forecast. */
#include "example.h"

enum { PAST = 168, NEXT = 24, HOURS = 6000, TRAINED = 5000, BATCH = 64 };

typedef struct model {
    qn_module module;
    qn_linear first, second, out, direct;
    qn_optimizer adam;
} model;

static qn_status make_model(model *m, qn_tensors *t, uint64_t hidden) {
    qn_module_init(&m->module, t, NULL);
    qn_status status = example_linear(&m->module, "first", &m->first, PAST, hidden);
    if (!status) status = example_linear(&m->module, "second", &m->second, hidden, hidden);
    if (!status) status = example_linear(&m->module, "out", &m->out, hidden, NEXT);
    if (!status) status = example_linear(&m->module, "direct", &m->direct, PAST, NEXT);
    const qn_optimizer_desc desc = {.kind = QN_ADAMW, .decay = 0.01};
    return status ? status : qn_optimizer_init(&m->adam, &m->module, &desc);
}

/* What is told is a difference from the last hour that is known, so that a trend goes on. */
static qn_tensor *forward(model *m, qn_tensor *past) {
    qn_tensor *last = qn_slice(past, 1, -1, QN_END, 1), *x = qn_subtract(past, last);
    qn_tensor *hidden = qn_gelu(qn_linear_forward(&m->first, x));
    hidden = qn_gelu(qn_linear_forward(&m->second, hidden));
    return qn_add(qn_add(qn_linear_forward(&m->out, hidden), qn_linear_forward(&m->direct, x)), last);
}

static qn_status train(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                       size_t num_outputs) {
    model *m = user;
    (void)num_inputs, (void)num_outputs;
    outputs[0] = qn_mse_loss(forward(m, inputs[0]), inputs[1], QN_LOSS_MEAN);
    const qn_status status = qn_backward(outputs[0]);
    return status ? status : qn_optimizer_step(&m->adam);
}

/* ---- the series, and its windows as examples ---- */

static double uniform(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0;
}

static void make_series(float *series) {
    const double pi = 3.14159265358979323846;
    uint64_t state = 1;
    double memory = 0;
    for (int h = 0; h < HOURS; h++) {
        double noise = -6;
        for (int i = 0; i < 12; i++) noise += uniform(&state);
        memory = 0.8 * memory + 0.1 * noise;
        const double day = sin(2 * pi * h / 24) + 0.4 * sin(4 * pi * h / 24 + 1),
                     week = sin(2 * pi * h / 168);
        series[h] = (float)(day * (1 + 0.5 * week) + 0.5 * week + h * 2e-4 + memory);
    }
}

static qn_status window(void *user, uint64_t index, void *const *to) {
    const float *series = user;
    memcpy(to[0], series + index, PAST * sizeof *series);
    memcpy(to[1], series + index + PAST, NEXT * sizeof *series);
    return QN_OK;
}

static qn_status learn(example *e, model *m, qn_dataset *set, uint64_t steps) {
    const qn_loader_desc desc = {.batch = e->quick ? 4 : BATCH, .shuffle = true, .drop_last = true};
    qn_loader *loader = NULL;
    qn_step *step = NULL;
    qn_status status = qn_loader_create(e->t, set, &desc, &loader);
    if (!status) status = qn_step_create(e->t, train, m, &step);
    for (uint64_t i = 0; i < steps && !status; i++) {
        qn_tensor *batch[2], *loss;
        bool more;
        status = qn_loader_next(loader, batch, &more);
        if (!status && !more) status = qn_loader_next(loader, batch, &more); /* the next epoch's first */
        if (!status) status = qn_optimizer_set_rate(&m->adam, qn_rate_cosine(2e-3, i, steps, 1e-5));
        qn_scope_begin(e->t);
        if (!status) status = qn_step_run(step, batch, 2, &loss, 1);
        if (!status && i % 10 == 0) example_loss(e, qn_tensor_item(loss));
        qn_scope_end(e->t);
    }
    qn_step_destroy(step);
    qn_loader_destroy(loader);
    return status;
}

/* Errors (root mean square) of forecasts of the hours that were not learnt from, and of those that repeat the day before. */
static qn_status look(example *e, model *m, const float *series, double *errors) {
    enum { DAYS = (HOURS - TRAINED - PAST) / NEXT };
    static float past[DAYS][PAST], told[DAYS][NEXT];
    static double lines[2][NEXT];
    for (int d = 0; d < DAYS; d++) memcpy(past[d], series + TRAINED + NEXT * d, sizeof past[d]);
    const qn_status status =
        qn_tensor_read(forward(m, qn_from_data(e->t, QN_F32, QN_SHAPE(DAYS, PAST), past)), told, sizeof told);
    for (int d = 0; d < DAYS; d++)
        for (int h = 0; h < NEXT; h++) {
            const double is = series[TRAINED + NEXT * d + PAST + h], before = past[d][PAST - NEXT + h];
            errors[0] += (told[d][h] - is) * (told[d][h] - is) / (DAYS * NEXT);
            errors[1] += (before - is) * (before - is) / (DAYS * NEXT);
            lines[0][h] = is;
            lines[1][h] = told[d][h];
        }
    for (int i = 0; i < 2; i++) errors[i] = sqrt(errors[i]);
    const plot_line shown[] = {{"series", NULL, lines[0], NEXT, 0}, {"forecast", NULL, lines[1], NEXT, 0}};
    if (!status && e->out && plot_write(e->out, "the last day", shown, 2))
        return qn_error_set(e->context, QN_ERROR_IO, "the picture cannot be written");
    return status;
}

int main(int argc, char **argv) {
    static float series[HOURS];
    example e;
    model m;
    qn_dataset *set = NULL;
    double errors[2] = {0};
    example_open(&e, argc, argv, "series", "");
    make_series(series);
    const qn_dataset_desc windows = {.count = TRAINED - PAST - NEXT,
                                     .num_fields = 2,
                                     .fields = {{QN_F32, QN_SHAPE(PAST)}, {QN_F32, QN_SHAPE(NEXT)}},
                                     .get = window,
                                     .user = series};
    qn_status status = qn_dataset_create(e.context, &windows, &set);
    if (!status) status = make_model(&m, e.t, e.quick ? 8 : 128);
    if (!status) {
        status = learn(&e, &m, set, e.quick ? 21 : 1500);
        if (!status && !e.quick) status = look(&e, &m, series, errors);
        qn_optimizer_release(&m.adam);
        qn_module_release(&m.module);
    }
    qn_dataset_destroy(set);
    if (!status && !e.quick)
        printf("forecasts of 24 hours are %.3f from what comes (root mean square), repeating the day before "
               "%.3f\n",
               errors[0], errors[1]);
    return example_close(&e, status, e.quick ? e.losses[2] < e.losses[0] : errors[0] < 0.6 * errors[1]);
}
