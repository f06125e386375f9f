/* A small convolutional network learns handwritten digits, each time turned and moved a little. A fifth of them is kept for the test.
   Usage: quern_digits digits.csv.gz (see digits.h). */
#include "digits.h"
#include "classifier.h"

/* Scores of the classes, for images of [n, 1, 8, 8]. */
static qn_tensor *forward(classifier *m, qn_tensor *images) {
    qn_tensor *x = qn_divide(images, 16);
    x = qn_relu(qn_convolution_layer_forward(&m->first, x));
    x = qn_relu(qn_convolution_layer_forward(&m->second, x));
    return classifier_scores(m, qn_max_pool(x, &(qn_pool_desc){.window = {2, 2}}));
}

/* What is done with a batch of images and labels; recorded once, then replayed. */
static qn_status train(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                       size_t num_outputs) {
    classifier *m = user;
    (void)num_inputs, (void)num_outputs;
    qn_tensor *images = qn_augment(inputs[0], &(qn_augment_desc){.rotate = 10, .scale = 0.1});
    outputs[0] = qn_cross_entropy(forward(m, images), inputs[1], &(qn_classes_desc){.smoothing = 0.1});
    const qn_status status = qn_backward(outputs[0]);
    return status ? status : qn_optimizer_step(&m->adam);
}

/* The share of the images that are told right. */
static qn_status test(example *e, classifier *m, qn_dataset *set, double *share) {
    qn_loader *loader;
    qn_tensor *batch[2];
    bool more;
    qn_status status = qn_loader_create(e->t, set, &(qn_loader_desc){.batch = e->quick ? 32 : 360}, &loader);
    if (!status) status = qn_loader_next(loader, batch, &more);
    if (status) return status;
    qn_module_train(&m->module, false);
    qn_tensor *told = qn_argmax(forward(m, batch[0]), 1, false);
    qn_tensor *right = qn_mean(qn_cast(qn_equal(told, batch[1]), QN_F32), QN_ALL_AXES, false);
    status = qn_tensor_status(right);
    *share = qn_tensor_item(right);
    qn_loader_destroy(loader);
    return status;
}

int main(int argc, char **argv) {
    example e;
    digits d;
    classifier m;
    double share = 0;
    example_open(&e, argc, argv, "digits", "digits.csv.gz ");
    const uint64_t width = e.quick ? 4 : 16;
    qn_status status = digits_open(&e, &d);
    if (!status) status = classifier_init(&m, e.t, width, PIXELS / 4, 4 * width);
    if (!status) {
        printf("%llu digits to learn from, %llu parameters\n", (unsigned long long)qn_dataset_count(d.train),
               (unsigned long long)qn_module_count(&m.module));
        status = example_learn(&e, &(example_lesson){.set = d.train,
                                                     .batch = e.quick ? 16 : 64,
                                                     .epochs = e.quick ? 2 : 20,
                                                     .train = train,
                                                     .model = &m,
                                                     .inputs = 2,
                                                     .optimizer = &m.adam,
                                                     .rate = 5e-3,
                                                     .every = 1});
        if (!status) status = test(&e, &m, d.test, &share);
        classifier_release(&m);
    }
    if (!status) printf("%.1f %% of the digits kept for the test are told right\n", 100 * share);
    digits_close(&d);
    return example_close(&e, status, e.quick ? e.losses[1] < e.losses[0] : share >= 0.98);
}
