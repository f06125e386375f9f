/* Two networks against each other (Goodfellow and others, 2014): one makes digits out of noise, the other tells them from real ones.
   Usage: quern_gan digits.csv.gz (see digits.h). --out FILE.png: digits that were made. */
#include "digits.h"

enum { BATCH = 64, NOISE = 16, LOOKED_AT = 256 };

/* A network of one hidden layer, and who trains it. */
typedef struct network {
    qn_module module;
    qn_linear hidden, out;
    qn_optimizer adam;
} network;

typedef struct game {
    network maker, judge;
    uint64_t batch;
} game;

static qn_status make_network(network *n, qn_tensors *t, uint64_t inputs, uint64_t hidden, uint64_t outputs) {
    qn_module_init(&n->module, t, NULL);
    qn_status status = example_linear(&n->module, "hidden", &n->hidden, inputs, hidden);
    if (!status) status = example_linear(&n->module, "out", &n->out, hidden, outputs);
    const qn_optimizer_desc desc = {.kind = QN_ADAM, .rate = 1e-3, .beta1 = 0.5};
    return status ? status : qn_optimizer_init(&n->adam, &n->module, &desc);
}

static void release_network(network *n) {
    qn_optimizer_release(&n->adam);
    qn_module_release(&n->module);
}

/* Pixels from 0 to 1. */
static qn_tensor *make_digits(game *g, uint64_t count) {
    qn_tensor *noise = qn_randn(g->maker.module.tensors, QN_F32, QN_SHAPE(count, NOISE));
    return qn_sigmoid(qn_linear_forward(&g->maker.out, qn_relu(qn_linear_forward(&g->maker.hidden, noise))));
}

/* What it costs that the judge takes images for real, or for made ones. Noise on what it sees keeps it from being sure too soon. */
static qn_tensor *judged(game *g, qn_tensor *x, double real) {
    x = qn_multiply_add(qn_randn(g->judge.module.tensors, QN_F32, qn_tensor_shape(x)), 0.1, x);
    qn_tensor *hidden = qn_linear_forward(&g->judge.hidden, x);
    qn_tensor *score = qn_linear_forward(&g->judge.out, qn_maximum(hidden, qn_multiply(hidden, 0.2)));
    return qn_bce_with_logits_loss(score, qn_full_like(score, real), QN_LOSS_MEAN);
}

/* First the judge learns, then the maker. Gradients of the maker's loss that reach the judge are forgotten. */
static qn_status train(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                       size_t num_outputs) {
    game *g = user;
    (void)num_inputs, (void)num_outputs;
    qn_tensor *real = qn_divide(qn_flatten(inputs[0], 1, -1), 16);
    outputs[0] = qn_add(judged(g, real, 0.9), judged(g, qn_detach(make_digits(g, g->batch)), 0));
    qn_status status = qn_backward(outputs[0]);
    if (!status) status = qn_optimizer_step(&g->judge.adam);
    outputs[1] = judged(g, make_digits(g, g->batch), 1);
    if (!status) status = qn_backward(outputs[1]);
    if (!status) status = qn_optimizer_step(&g->maker.adam);
    qn_module_clear_gradients(&g->judge.module);
    return status;
}

static qn_status learn(example *e, game *g, qn_dataset *set, uint64_t epochs) {
    qn_loader *loader = NULL;
    qn_step *step = NULL;
    const qn_loader_desc desc = {.batch = g->batch, .shuffle = true, .drop_last = true};
    qn_status status = qn_loader_create(e->t, set, &desc, &loader);
    if (!status) status = qn_step_create(e->t, train, g, &step);
    for (uint64_t epoch = 0; epoch < epochs && !status; epoch++) {
        qn_tensor *batch[2], *losses[2];
        double sums[2] = {0};
        bool more;
        while (!status && !(status = qn_loader_next(loader, batch, &more)) && more) {
            qn_scope_begin(e->t);
            status = qn_step_run(step, batch, 1, losses, 2);
            for (int i = 0; i < 2 && !status; i++) sums[i] += qn_tensor_item(losses[i]);
            qn_scope_end(e->t);
        }
        const double batches = (double)qn_loader_batches(loader);
        example_loss(e, sums[1] / batches);
        if (!status && (epoch + 1) % 20 == 0)
            printf("epoch %3u: loss of the judge %.3f, of the maker %.3f\n", (unsigned)epoch + 1,
                   sums[0] / batches, sums[1] / batches);
    }
    qn_step_destroy(step);
    qn_loader_destroy(loader);
    return status;
}

/* The mean over rows of a of the distance to the nearest of b, which is none of `own` rows in the same place. */
static double nearest(qn_tensor *a, qn_tensor *b, bool own) {
    qn_tensor *squares =
        qn_add(qn_sum(qn_square(a), QN_AXES(1), true), qn_sum(qn_square(b), QN_AXES(1), false));
    qn_tensor *distances = qn_subtract(squares, qn_multiply(qn_matmul(a, qn_transpose(b, 0, 1)), 2));
    if (own) {
        const uint64_t count = qn_tensor_shape(a).sizes[0];
        distances = qn_multiply_add(qn_eye(qn_tensor_owner(a), QN_F32, count, count, 0), 1e6, distances);
    }
    return qn_tensor_item(
        qn_mean(qn_sqrt(qn_maximum(qn_min(distances, QN_AXES(1), false), 0)), QN_ALL_AXES, false));
}

/* Digits that were made should be nearly as near to real ones as those are to each other, and not all the same. */
static qn_status look(example *e, game *g, qn_dataset *set, bool *good) {
    qn_tensor *real = NULL;
    qn_status status = digits_rows(e, set, LOOKED_AT, &real);
    if (status) return status;
    qn_tensor *made = qn_tensor_retain(make_digits(g, LOOKED_AT));
    const double among_real = nearest(real, real, true), to_real = nearest(made, real, false),
                 among_made = nearest(made, made, true);
    printf("the nearest real digit is %.2f away from one that was made, %.2f from a real one;\n"
           "the nearest made one is %.2f away from another\n",
           to_real, among_real, among_made);
    *good = to_real < 1.6 * among_real && among_made > 0.5 * among_real;
    qn_tensor *images = qn_reshape(qn_slice(made, 0, 0, 64, 1), QN_SHAPE(64, 1, SIDE, SIDE));
    if (e->out) status = qn_write_image(qn_image_sheet(images, 16), e->out);
    qn_tensor_release(made);
    qn_tensor_release(real);
    return status;
}

int main(int argc, char **argv) {
    example e;
    digits d;
    game g;
    bool good = false;
    example_open(&e, argc, argv, "gan", "digits.csv.gz ");
    g.batch = e.quick ? 8 : BATCH;
    qn_status status = digits_open(&e, &d);
    if (!status) status = make_network(&g.maker, e.t, NOISE, e.quick ? 16 : 128, PIXELS);
    if (!status) status = make_network(&g.judge, e.t, PIXELS, e.quick ? 16 : 128, 1);
    if (!status) {
        status = learn(&e, &g, d.train, e.quick ? 2 : 150);
        if (!status && !e.quick) status = look(&e, &g, d.train, &good);
        release_network(&g.maker);
        release_network(&g.judge);
    }
    digits_close(&d);
    return example_close(&e, status, good || (e.quick && isfinite(e.losses[1])));
}
