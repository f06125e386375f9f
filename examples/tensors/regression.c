/* A network of two hidden layers learns a function from 200 points that noise has moved. --out FILE.svg shows points, function and network. */
#include "example.h"

enum { POINTS = 200, FEW = 40, GRID = 101 };

typedef struct model {
    qn_module module;
    qn_linear first, second, out;
    qn_optimizer adam;
} model;

static double truth(double x) { return sin(3 * x) + x / 2; }

static qn_status make_model(model *m, qn_tensors *t, uint64_t hidden) {
    qn_module_init(&m->module, t, NULL);
    qn_status status = example_linear(&m->module, "first", &m->first, 1, hidden);
    if (!status) status = example_linear(&m->module, "second", &m->second, hidden, hidden);
    if (!status) status = example_linear(&m->module, "out", &m->out, hidden, 1);
    return status ? status : qn_optimizer_init(&m->adam, &m->module, &(qn_optimizer_desc){.kind = QN_ADAM});
}

static qn_tensor *forward(model *m, qn_tensor *x) {
    x = qn_tanh(qn_linear_forward(&m->first, x));
    x = qn_tanh(qn_linear_forward(&m->second, x));
    return qn_linear_forward(&m->out, x);
}

/* What a step of training does; recorded once, then replayed. */
static qn_status train(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                       size_t num_outputs) {
    model *m = user;
    (void)num_inputs, (void)num_outputs;
    outputs[0] = qn_mse_loss(forward(m, inputs[0]), inputs[1], QN_LOSS_MEAN);
    const qn_status status = qn_backward(outputs[0]);
    return status ? status : qn_optimizer_step(&m->adam);
}

static qn_status run(example *e, model *m, qn_tensor *x, qn_tensor *y) {
    const int steps = e->quick ? 120 : 1500;
    const double rate = e->quick ? 0.05 : 0.01;
    qn_step *step;
    qn_status status = qn_step_create(e->t, train, m, &step);
    for (int i = 0; i < steps && !status; i++) {
        qn_scope_begin(e->t);
        qn_tensor *loss;
        status = qn_optimizer_set_rate(&m->adam, qn_rate_cosine(rate, (uint64_t)i, (uint64_t)steps, 1e-4));
        if (!status) status = qn_step_run(step, (qn_tensor *[]){x, y}, 2, &loss, 1);
        if (!status && i % 10 == 0) example_loss(e, qn_tensor_item(loss));
        qn_scope_end(e->t);
    }
    qn_step_destroy(step);
    return status;
}

/* How far the network is from the function, and what it looks like. */
static qn_status look(example *e, model *m, const float *x, const float *y, int count, double *error) {
    static double grid[GRID], wanted[GRID], got[GRID], at[POINTS], points[POINTS];
    float values[GRID];
    for (int i = 0; i < count; i++) at[i] = x[i], points[i] = y[i];
    const qn_status status =
        qn_tensor_read(forward(m, qn_reshape(qn_linspace(e->t, QN_F32, -2, 2, GRID), QN_SHAPE(GRID, 1))),
                       values, sizeof values);
    *error = 0;
    for (int i = 0; i < GRID; i++) {
        grid[i] = -2 + 4.0 * i / (GRID - 1);
        wanted[i] = truth(grid[i]);
        got[i] = values[i];
        *error += (got[i] - wanted[i]) * (got[i] - wanted[i]) / GRID;
    }
    *error = sqrt(*error);
    const plot_line lines[] = {{"network", grid, got, GRID, 0},
                               {"points", at, points, (size_t)count, 1},
                               {"function", grid, wanted, GRID, 0}};
    if (e->out && plot_write(e->out, "regression", lines, 3))
        return qn_error_set(e->context, QN_ERROR_IO, "the picture cannot be written");
    return status;
}

int main(int argc, char **argv) {
    example e;
    example_open(&e, argc, argv, "regression", "");
    static float x[POINTS], y[POINTS];
    const int count = e.quick ? FEW : POINTS;
    const uint64_t rows = (uint64_t)count;
    uint32_t state = 1;
    for (int i = 0; i < count; i++) {
        double noise = 0; /* of deviation 0.2: a sum of uniform numbers is nearly normal */
        for (int k = 0; k < 12; k++)
            noise += (double)((state = state * 1664525 + 1013904223) >> 8) / (1 << 24) - 0.5;
        x[i] = -2 + 4.0f * (float)i / (float)(count - 1);
        y[i] = (float)(truth(x[i]) + 0.2 * noise);
    }
    model m;
    double error = 1;
    qn_status status = make_model(&m, e.t, e.quick ? 8 : 32);
    if (!status)
        status = run(&e, &m, qn_from_data(e.t, QN_F32, QN_SHAPE(rows, 1), x),
                     qn_from_data(e.t, QN_F32, QN_SHAPE(rows, 1), y));
    if (!status) status = look(&e, &m, x, y, count, &error);
    if (!status) printf("%.3f from the function (root mean square), with points 0.2 from it\n", error);
    qn_optimizer_release(&m.adam);
    qn_module_release(&m.module);
    return example_close(&e, status, error < (e.quick ? 0.5 : 0.12));
}
