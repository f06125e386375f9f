/* What the examples of tensors begin and end with: options, a device, the curve of the loss, the clock. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <quern/data.h>
#include <quern/nn.h>

#include "plot.h"

enum { EXAMPLE_POINTS = 4096 };

typedef struct example {
    const char *name;
    qn_context *context;
    qn_tensors *t;
    const char *input; /* what is on the command line beside options; NULL: nothing */
    const char *plot;  /* --plot FILE.svg: the loss */
    const char *out;   /* --out FILE: what else there is to see */
    const char *text;  /* --text "...": what a model is to continue */
    bool quick;        /* --quick: smaller, for tests */
    double losses[EXAMPLE_POINTS];
    size_t num_losses;
    struct timespec begin;
} example;

static inline bool example_options(example *e, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0)
            e->quick = true;
        else if (strcmp(argv[i], "--plot") == 0 && i + 1 < argc)
            e->plot = argv[++i];
        else if (strcmp(argv[i], "--out") == 0 && i + 1 < argc)
            e->out = argv[++i];
        else if (strcmp(argv[i], "--text") == 0 && i + 1 < argc)
            e->text = argv[++i];
        else if (argv[i][0] == '-' || e->input)
            return false;
        else
            e->input = argv[i];
    }
    return true;
}

/* Tensors on the best device ($QUERN_DEVICE chooses another), with a seed of their own. Ends the program where that fails. */
static inline void example_open(example *e, int argc, char **argv, const char *name, const char *arguments) {
    qn_device *device;
    qn_device_info info;
    *e = (example){.name = name};
    if (!example_options(e, argc, argv)) {
        fprintf(stderr, "usage: quern_%s %s[--quick] [--plot LOSS.svg] [--out FILE]\n", name, arguments);
        exit(2);
    }
    setvbuf(stdout, NULL, _IOLBF, 0); /* lines show at once, in files too */
    timespec_get(&e->begin, TIME_UTC);
    /* On a processor kernels are compiled before they run: there are few, and they run often. */
    qn_status status = qn_context_create(&(qn_context_desc){.cpu_compile_first = true}, &e->context);
    if (!status) status = qn_device_get(e->context, NULL, &device);
    if (!status) status = qn_device_get_info(device, &info);
    if (!status) status = qn_tensors_create(device, &(qn_tensors_desc){.seed = 1}, &e->t);
    if (status) {
        fprintf(stderr, "%s: %s\n", name, qn_error_message(e->context));
        exit(1);
    }
    printf("%s on %s\n", name, info.description);
}

/* A linear layer as part of a module. */
static inline qn_status example_linear(qn_module *module, const char *name, qn_linear *layer, uint64_t inputs,
                                       uint64_t outputs) {
    const qn_status status =
        qn_linear_init(layer, module->tensors, &(qn_linear_desc){.inputs = inputs, .outputs = outputs});
    return status ? status : qn_module_add(module, name, &layer->module);
}

/* A point of the loss's curve. */
static inline void example_loss(example *e, double loss) {
    if (e->num_losses < EXAMPLE_POINTS) e->losses[e->num_losses++] = loss;
}

/* A model that learns in epochs, each all batches of a set once. */
typedef struct example_lesson {
    qn_dataset *set;
    uint64_t batch, epochs;
    qn_step_function *train; /* gets the first `inputs` tensors of a batch, gives the loss */
    void *model;
    size_t inputs;
    qn_optimizer *optimizer;
    double rate;    /* the first; it falls to 1e-4 as a cosine does */
    uint64_t every; /* epochs, of which one is told */
} example_lesson;

/* The mean of the losses is a point of the curve. */
static inline qn_status example_epoch(example *e, const example_lesson *l, qn_loader *loader, qn_step *step) {
    qn_status status = QN_OK;
    qn_tensor *batch[2], *loss;
    double sum = 0;
    bool more;
    while (!status && !(status = qn_loader_next(loader, batch, &more)) && more) {
        qn_scope_begin(e->t);
        status = qn_step_run(step, batch, l->inputs, &loss, 1);
        if (!status) sum += qn_tensor_item(loss);
        qn_scope_end(e->t);
    }
    example_loss(e, sum / (double)qn_loader_batches(loader));
    return status;
}

static inline qn_status example_learn(example *e, const example_lesson *l) {
    qn_loader *loader = NULL;
    qn_step *step = NULL;
    const qn_loader_desc desc = {.batch = l->batch, .shuffle = true, .drop_last = true};
    qn_status status = qn_loader_create(e->t, l->set, &desc, &loader);
    if (!status) status = qn_step_create(e->t, l->train, l->model, &step);
    for (uint64_t epoch = 0; epoch < l->epochs && !status; epoch++) {
        status = qn_optimizer_set_rate(l->optimizer, qn_rate_cosine(l->rate, epoch, l->epochs, 1e-4));
        if (!status) status = example_epoch(e, l, loader, step);
        if (!status && (epoch + 1) % l->every == 0)
            printf("epoch %3u: loss %.4f\n", (unsigned)epoch + 1, e->losses[e->num_losses - 1]);
    }
    qn_step_destroy(step);
    qn_loader_destroy(loader);
    return status;
}

static inline double example_seconds(const example *e) {
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)(now.tv_sec - e->begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - e->begin.tv_nsec);
}

/* Gives what main returns: 0 where nothing failed and the result is as good as it should be. */
static inline int example_close(example *e, qn_status status, bool good) {
    if (status) fprintf(stderr, "%s: %s\n", e->name, qn_error_message(e->context));
    const plot_line line = {.name = "loss", .y = e->losses, .count = e->num_losses};
    const bool unwritten = !status && e->plot && plot_write(e->plot, e->name, &line, 1);
    if (unwritten) perror(e->plot);
    if (!status) printf("%s, after %.1f s\n", good ? "good" : "not good enough", example_seconds(e));
    qn_tensors_destroy(e->t);
    qn_context_destroy(e->context);
    return status || unwritten || !good;
}

#endif
