/* A recurrent network (GRU) learns to add the two numbers of a sequence that are marked (Hochreiter and Schmidhuber, 1997): it has to keep the first one until
   the second one comes. Its examples are made on the device, new ones in each step. */
#include "example.h"

typedef struct model {
    qn_module module;
    qn_recurrent gru;
    qn_linear out;
    qn_optimizer adam;
    uint64_t batch, length;
} model;

static qn_status make_model(model *m, qn_tensors *t, uint64_t hidden) {
    const qn_recurrent_desc desc = {.kind = QN_GRU, .inputs = 2, .hidden = hidden};
    qn_module_init(&m->module, t, NULL);
    qn_status status = qn_recurrent_init(&m->gru, t, &desc);
    if (!status) status = qn_module_add(&m->module, "gru", &m->gru.module);
    if (!status) status = example_linear(&m->module, "out", &m->out, hidden, 1);
    return status ? status : qn_optimizer_init(&m->adam, &m->module, &(qn_optimizer_desc){.kind = QN_ADAM});
}

/* 1 at one place of each sequence from `low` up to, not including, `high`: [batch, length]. */
static qn_tensor *marks(model *m, uint64_t low, uint64_t high) {
    qn_tensor *places =
        qn_randint(m->module.tensors, QN_I32, QN_SHAPE(m->batch), (int64_t)low, (int64_t)high);
    return qn_one_hot(places, m->length, QN_F32);
}

/* How far off the sums of new sequences are: the mean of the squares. */
static qn_tensor *loss_of(model *m) {
    qn_tensor *numbers = qn_rand(m->module.tensors, QN_F32, QN_SHAPE(m->batch, m->length));
    qn_tensor *marked = qn_add(marks(m, 0, m->length / 2), marks(m, m->length / 2, m->length));
    qn_tensor *sums = qn_sum(qn_multiply(numbers, marked), QN_AXES(1), true);
    qn_recurrent_state last;
    qn_recurrent_forward(&m->gru, qn_stack((qn_tensor *[]){numbers, marked}, 2, 2), NULL, NULL, &last);
    return qn_mse_loss(qn_linear_forward(&m->out, qn_squeeze(last.h, QN_AXES(0))), sums, QN_LOSS_MEAN);
}

static qn_status train(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                       size_t num_outputs) {
    model *m = user;
    (void)inputs, (void)num_inputs, (void)num_outputs;
    outputs[0] = loss_of(m);
    qn_status status = qn_backward(outputs[0]);
    if (!status) status = qn_tensor_status(qn_clip_gradients(&m->module, 1));
    return status ? status : qn_optimizer_step(&m->adam);
}

static qn_status learn(example *e, model *m, uint64_t steps) {
    qn_step *step;
    qn_status status = qn_step_create(e->t, train, m, &step);
    for (uint64_t i = 0; i < steps && !status; i++) {
        qn_tensor *loss;
        qn_scope_begin(e->t);
        status = qn_optimizer_set_rate(&m->adam, qn_rate_cosine(1e-2, i, steps, 1e-4));
        if (!status) status = qn_step_run(step, NULL, 0, &loss, 1);
        if (!status && i % 10 == 0) example_loss(e, qn_tensor_item(loss));
        if (!status && i % 50 == 0)
            printf("step %4u: loss %.4f\n", (unsigned)i, e->losses[e->num_losses - 1]);
        qn_scope_end(e->t);
    }
    qn_step_destroy(step);
    return status;
}

int main(int argc, char **argv) {
    example e;
    model m;
    double error = 1;
    example_open(&e, argc, argv, "rnn", "");
    m.batch = e.quick ? 8 : 64;
    m.length = e.quick ? 4 : 16;
    qn_status status = make_model(&m, e.t, e.quick ? 8 : 32);
    if (!status) {
        status = learn(&e, &m, e.quick ? 31 : 400);
        error = sqrt(qn_tensor_item(loss_of(&m)));
        qn_optimizer_release(&m.adam);
        qn_module_release(&m.module);
    }
    if (!status) printf("sums are %.3f off (root mean square); always saying 1 is 0.408 off\n", error);
    return example_close(&e, status, error < (e.quick ? 0.6 : 0.06));
}
