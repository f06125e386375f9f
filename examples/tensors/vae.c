/* A variational autoencoder (Kingma and Welling, 2014): digits become points of a normal distribution of eight dimensions, and points become digits.
   Usage: quern_vae digits.csv.gz (see digits.h). --out FILE.png: digits, what is left of them behind the eight numbers, and new ones. */
#include "digits.h"

enum { LATENT = 8 };

typedef struct model {
    qn_module module;
    qn_linear encoder, mean, log_variance, decoder, out;
    qn_optimizer adam;
} model;

static qn_status make_model(model *m, qn_tensors *t, uint64_t hidden) {
    qn_module_init(&m->module, t, NULL);
    qn_status status = example_linear(&m->module, "encoder", &m->encoder, PIXELS, hidden);
    if (!status) status = example_linear(&m->module, "mean", &m->mean, hidden, LATENT);
    if (!status) status = example_linear(&m->module, "log_variance", &m->log_variance, hidden, LATENT);
    if (!status) status = example_linear(&m->module, "decoder", &m->decoder, LATENT, hidden);
    if (!status) status = example_linear(&m->module, "out", &m->out, hidden, PIXELS);
    return status ? status : qn_optimizer_init(&m->adam, &m->module, &(qn_optimizer_desc){.kind = QN_ADAM});
}

static qn_tensor *hidden_of(model *m, qn_tensor *x) { return qn_relu(qn_linear_forward(&m->encoder, x)); }

/* Pixels before qn_sigmoid. */
static qn_tensor *decode(model *m, qn_tensor *z) {
    return qn_linear_forward(&m->out, qn_relu(qn_linear_forward(&m->decoder, z)));
}

/* What pixels cost that are not told right, and points that are not of the normal distribution, for each image. */
static qn_tensor *loss_of(model *m, qn_tensor *x) {
    qn_tensor *hidden = hidden_of(m, x), *mean = qn_linear_forward(&m->mean, hidden),
              *log_variance = qn_linear_forward(&m->log_variance, hidden);
    qn_tensor *noise = qn_randn(m->module.tensors, QN_F32, qn_tensor_shape(mean));
    qn_tensor *z = qn_multiply_add(noise, qn_exp(qn_multiply(log_variance, 0.5)), mean);
    qn_tensor *pixels = qn_sum(qn_bce_with_logits_loss(decode(m, z), x, QN_LOSS_EACH), QN_AXES(1), false);
    qn_tensor *far = qn_subtract(qn_add(qn_square(mean), qn_exp(log_variance)), qn_add(log_variance, 1));
    return qn_mean(qn_multiply_add(qn_sum(far, QN_AXES(1), false), 0.5, pixels), QN_ALL_AXES, false);
}

static qn_status train(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                       size_t num_outputs) {
    model *m = user;
    (void)num_inputs, (void)num_outputs;
    outputs[0] = loss_of(m, qn_divide(qn_flatten(inputs[0], 1, -1), 16));
    const qn_status status = qn_backward(outputs[0]);
    return status ? status : qn_optimizer_step(&m->adam);
}

/* Rows of pixels as images. */
static qn_tensor *images_of(qn_tensor *rows) {
    return qn_reshape(rows, QN_SHAPE(qn_tensor_shape(rows).sizes[0], 1, SIDE, SIDE));
}

/* How far pixels of images that it never saw are from what it makes of them (root mean square). */
static qn_status look(example *e, model *m, qn_dataset *set, double *error) {
    qn_tensor *rows = NULL;
    qn_status status = digits_rows(e, set, 32, &rows);
    if (status) return status;
    qn_tensor *again = qn_sigmoid(decode(m, qn_linear_forward(&m->mean, hidden_of(m, rows))));
    *error = sqrt(qn_tensor_item(qn_mse_loss(again, rows, QN_LOSS_MEAN)));
    qn_tensor *made = qn_sigmoid(decode(m, qn_randn(e->t, QN_F32, QN_SHAPE(64, LATENT))));
    qn_tensor *sheet = qn_image_sheet(images_of(qn_concat((qn_tensor *[]){rows, again, made}, 3, 0)), 16);
    if (e->out) status = qn_write_image(sheet, e->out);
    qn_tensor_release(rows);
    return status;
}

int main(int argc, char **argv) {
    example e;
    digits d;
    model m;
    double error = 1;
    example_open(&e, argc, argv, "vae", "digits.csv.gz ");
    qn_status status = digits_open(&e, &d);
    if (!status) status = make_model(&m, e.t, e.quick ? 16 : 256);
    if (!status) {
        status = example_learn(&e, &(example_lesson){.set = d.train,
                                                     .batch = e.quick ? 8 : 64,
                                                     .epochs = e.quick ? 2 : 60,
                                                     .train = train,
                                                     .model = &m,
                                                     .inputs = 1,
                                                     .optimizer = &m.adam,
                                                     .rate = 3e-3,
                                                     .every = 10});
        if (!status) status = look(&e, &m, d.test, &error);
        qn_optimizer_release(&m.adam);
        qn_module_release(&m.module);
    }
    if (!status)
        printf("digits of the test come back with pixels %.3f from theirs (root mean square)\n", error);
    digits_close(&d);
    return example_close(&e, status, e.quick ? e.losses[1] < e.losses[0] : error < 0.2);
}
