/* The network that digits.c and mnist.c train: two convolutions, two layers of all with all, dropout between those. */
#ifndef QUERN_EXAMPLE_CLASSIFIER_H
#define QUERN_EXAMPLE_CLASSIFIER_H

#include "example.h"

enum { CLASSES = 10 };

typedef struct classifier {
    qn_module module;
    qn_convolution_layer first, second; /* of 3 x 3, their images stay as large */
    qn_linear hidden, out;
    qn_dropout dropout;
    qn_optimizer adam;
} classifier;

static inline qn_status classifier_convolution(classifier *m, const char *name, qn_convolution_layer *layer,
                                               uint64_t inputs, uint64_t outputs) {
    const qn_convolution_layer_desc desc = {
        .inputs = inputs, .outputs = outputs, .window = {3, 3}, .convolution = {.padding = {1, 1}}};
    const qn_status status = qn_convolution_layer_init(layer, m->module.tensors, &desc);
    return status ? status : qn_module_add(&m->module, name, &layer->module);
}

/* `width` channels, then twice as many, of which `pixels` each are left for `hidden` outputs. */
static inline qn_status classifier_init(classifier *m, qn_tensors *t, uint64_t width, uint64_t pixels,
                                        uint64_t hidden) {
    qn_module_init(&m->module, t, NULL);
    qn_dropout_init(&m->dropout, t, 0.25);
    qn_status status = classifier_convolution(m, "first", &m->first, 1, width);
    if (!status) status = classifier_convolution(m, "second", &m->second, width, 2 * width);
    if (!status) status = example_linear(&m->module, "hidden", &m->hidden, 2 * width * pixels, hidden);
    if (!status) status = qn_module_add(&m->module, "dropout", &m->dropout.module);
    if (!status) status = example_linear(&m->module, "out", &m->out, hidden, CLASSES);
    return status ? status : qn_optimizer_init(&m->adam, &m->module, &(qn_optimizer_desc){.kind = QN_ADAM});
}

/* Scores of the classes, for what the convolutions have made of images. */
static inline qn_tensor *classifier_scores(classifier *m, qn_tensor *x) {
    x = qn_relu(qn_linear_forward(&m->hidden, qn_flatten(x, 1, -1)));
    return qn_linear_forward(&m->out, qn_dropout_forward(&m->dropout, x));
}

static inline void classifier_release(classifier *m) {
    qn_optimizer_release(&m->adam);
    qn_module_release(&m->module);
}

#endif
