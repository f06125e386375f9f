/* A small convolutional network learns handwritten digits: the 1,797 of 8x8 pixels that scikit-learn comes with (UCI, Alpaydin and Kaynak). A fifth of them is kept for the test.
   Usage: quern_digits digits.csv.gz [loss.svg]. The file is in Debian's package python3-sklearn, under sklearn/datasets/data. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <quern/nn.h>

enum { SIDE = 8, PIXELS = SIDE * SIDE, CLASSES = 10, BATCH = 64, EPOCHS = 15 };

typedef struct digits {
    uint64_t count, train; /* all of them, and those to learn from: the first ones */
    float *pixels;         /* 0 to 1 */
    int32_t *labels;
} digits;

typedef struct model {
    qn_module module;
    qn_convolution_layer first, second;
    qn_linear hidden, out;
    qn_dropout dropout;
} model;

/* ---- data ---- */

static uint32_t next_random(uint32_t *state) { return *state = *state * 1664525 + 1013904223; }

static void shuffle(uint64_t *order, uint64_t count, uint32_t *state) {
    for (uint64_t i = count; i > 1; i--) {
        const uint64_t j = (next_random(state) >> 8) % i, kept = order[i - 1];
        order[i - 1] = order[j];
        order[j] = kept;
    }
}

/* Rows of 64 pixels from 0 to 16 and the digit, in an order that has nothing to do with who wrote them. */
static qn_status take_rows(qn_context *context, const qn_host_array *table, const double *rows, digits *d) {
    if (table->rank != 2 || table->sizes[1] != PIXELS + 1)
        return qn_error_set(context, QN_ERROR_ARGUMENT, "the file has no rows of 64 pixels and a digit");
    d->count = table->sizes[0];
    d->train = d->count * 4 / 5;
    d->pixels = malloc(d->count * PIXELS * sizeof *d->pixels);
    d->labels = malloc(d->count * sizeof *d->labels);
    uint64_t *order = malloc(d->count * sizeof *order);
    if (!d->pixels || !d->labels || !order)
        return qn_error_set(context, QN_ERROR_OUT_OF_MEMORY, "out of memory");
    uint32_t state = 1;
    for (uint64_t i = 0; i < d->count; i++) order[i] = i;
    shuffle(order, d->count, &state);
    for (uint64_t i = 0; i < d->count; i++) {
        const double *row = rows + order[i] * (PIXELS + 1);
        for (uint32_t p = 0; p < PIXELS; p++) d->pixels[i * PIXELS + p] = (float)(row[p] / 16);
        d->labels[i] = (int32_t)row[PIXELS];
    }
    free(order);
    return QN_OK;
}

static qn_status read_digits(qn_context *context, const char *path, digits *d) {
    qn_archive *archive;
    const qn_archive_desc desc = {.format = QN_FILE_CSV, .csv = {.header = QN_CSV_HEADER_NONE}};
    qn_status status = qn_archive_open(context, path, &desc, &archive);
    if (status) return status;
    const qn_host_array *table = qn_archive_at(archive, 0);
    const void *rows;
    status = qn_archive_data(archive, table, &rows);
    if (!status) status = take_rows(context, table, rows, d);
    qn_archive_close(archive);
    return status;
}

/* ---- model ---- */

static qn_status make_model(model *m, qn_tensors *t) {
    const qn_convolution_desc same = {.padding = {1, 1}};
    qn_module_init(&m->module, t, NULL);
    qn_dropout_init(&m->dropout, t, 0.25);
    qn_status status = qn_convolution_layer_init(
        &m->first, t,
        &(qn_convolution_layer_desc){.inputs = 1, .outputs = 16, .window = {3, 3}, .convolution = same});
    if (!status)
        status = qn_convolution_layer_init(
            &m->second, t,
            &(qn_convolution_layer_desc){.inputs = 16, .outputs = 32, .window = {3, 3}, .convolution = same});
    if (!status)
        status = qn_linear_init(&m->hidden, t, &(qn_linear_desc){.inputs = 32 * PIXELS / 4, .outputs = 64});
    if (!status) status = qn_linear_init(&m->out, t, &(qn_linear_desc){.inputs = 64, .outputs = CLASSES});
    const struct {
        const char *name;
        qn_module *module;
    } parts[] = {{"first", &m->first.module},
                 {"second", &m->second.module},
                 {"dropout", &m->dropout.module},
                 {"hidden", &m->hidden.module},
                 {"out", &m->out.module}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !status; i++)
        status = qn_module_add(&m->module, parts[i].name, parts[i].module);
    return status;
}

/* Scores of the classes, for images of [n, 1, 8, 8]. */
static qn_tensor *forward(model *m, qn_tensor *x) {
    x = qn_relu(qn_convolution_layer_forward(&m->first, x));
    x = qn_relu(qn_convolution_layer_forward(&m->second, x));
    x = qn_max_pool(x, &(qn_pool_desc){.window = {2, 2}});
    x = qn_relu(qn_linear_forward(&m->hidden, qn_flatten(x, 1, -1)));
    return qn_linear_forward(&m->out, qn_dropout_forward(&m->dropout, x));
}

/* ---- training ---- */

typedef struct training {
    qn_tensors *t;
    model *m;
    const digits *d;
    qn_optimizer adam;
    uint64_t *order;
    double losses[EPOCHS];
} training;

/* The images order[first] and so on, and their labels, as tensors. */
static qn_tensor *batch_of(const training *g, uint64_t first, uint64_t count, qn_tensor **labels) {
    float pixels[BATCH * PIXELS];
    int32_t classes[BATCH];
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t place = g->order[first + i];
        memcpy(pixels + i * PIXELS, g->d->pixels + place * PIXELS, PIXELS * sizeof *pixels);
        classes[i] = g->d->labels[place];
    }
    *labels = qn_from_data(g->t, QN_I32, QN_SHAPE(count), classes);
    return qn_from_data(g->t, QN_F32, QN_SHAPE(count, 1, SIDE, SIDE), pixels);
}

static qn_status step(training *g, uint64_t first, uint64_t count, double *loss) {
    qn_tensor *labels;
    qn_status status = qn_scope_begin(g->t);
    if (status) return status;
    qn_tensor *images = batch_of(g, first, count, &labels);
    qn_tensor *entropy = qn_cross_entropy(forward(g->m, images), labels, NULL);
    status = qn_backward(entropy);
    if (!status) status = qn_optimizer_step(&g->adam);
    if (!status) *loss += qn_tensor_item(entropy) * (double)count;
    qn_scope_end(g->t);
    return status;
}

static qn_status train(training *g) {
    uint32_t state = 2;
    qn_status status = QN_OK;
    for (uint32_t epoch = 0; epoch < EPOCHS && !status; epoch++) {
        shuffle(g->order, g->d->train, &state);
        status = qn_optimizer_set_rate(&g->adam, qn_rate_cosine(3e-3, epoch, EPOCHS, 1e-4));
        for (uint64_t first = 0; first < g->d->train && !status; first += BATCH) {
            const uint64_t rest = g->d->train - first;
            status = step(g, first, rest < BATCH ? rest : BATCH, &g->losses[epoch]);
        }
        g->losses[epoch] /= (double)g->d->train;
        if (!status) printf("epoch %2u: loss %.4f\n", (unsigned)epoch + 1, g->losses[epoch]);
    }
    return status;
}

/* The share of the images kept for the test that are told right. */
static qn_status test(training *g, double *share) {
    const uint64_t count = g->d->count - g->d->train;
    qn_status status = qn_scope_begin(g->t);
    if (status) return status;
    qn_module_train(&g->m->module, false);
    qn_tensor *images =
        qn_from_data(g->t, QN_F32, QN_SHAPE(count, 1, SIDE, SIDE), g->d->pixels + g->d->train * PIXELS);
    qn_tensor *labels = qn_from_data(g->t, QN_I32, QN_SHAPE(count), g->d->labels + g->d->train);
    qn_tensor *told = qn_argmax(forward(g->m, images), 1, false);
    qn_tensor *right = qn_mean(qn_cast(qn_equal(told, labels), QN_F32), QN_ALL_AXES, false);
    status = qn_tensor_status(right);
    *share = qn_tensor_item(right);
    qn_scope_end(g->t);
    return status;
}

/* The losses as a picture. */
static int write_picture(const char *path, const double *losses) {
    FILE *f = fopen(path, "w");
    if (!f) return -1;
    fprintf(f, "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 480 240' font-family='sans-serif' "
               "font-size='12'>\n"
               "<rect width='480' height='240' fill='white'/><text x='40' y='20'>loss by epoch</text>\n"
               "<polyline fill='none' stroke='#2060c0' stroke-width='2' points='");
    for (int i = 0; i < EPOCHS; i++)
        fprintf(f, "%d,%.1f ", 40 + 420 * i / (EPOCHS - 1), 220 - 180 * losses[i] / losses[0]);
    fprintf(f, "'/>\n</svg>\n");
    return fclose(f);
}

static qn_status run(qn_context *context, const char *path, training *g, double *share) {
    static model m;
    static digits d;
    qn_device *device;
    qn_status status = read_digits(context, path, &d);
    if (!status) status = qn_device_get(context, NULL, &device);
    if (!status) status = qn_tensors_create(device, &(qn_tensors_desc){.seed = 1}, &g->t);
    if (status) return status;
    g->m = &m;
    g->d = &d;
    g->order = malloc(d.train * sizeof *g->order);
    for (uint64_t i = 0; i < d.train; i++) g->order[i] = i;
    status = make_model(&m, g->t);
    if (!status) status = qn_optimizer_init(&g->adam, &m.module, &(qn_optimizer_desc){.kind = QN_ADAM});
    if (!status)
        printf("%llu digits to learn from, %llu parameters\n", (unsigned long long)d.train,
               (unsigned long long)qn_module_count(&m.module));
    if (!status) status = train(g);
    if (!status) status = test(g, share);
    qn_optimizer_release(&g->adam);
    qn_module_release(&m.module);
    qn_tensors_destroy(g->t);
    free(g->order);
    free(d.pixels);
    free(d.labels);
    return status;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: quern_digits digits.csv.gz [loss.svg]\n");
        return 2;
    }
    qn_context *context;
    training g = {.t = NULL};
    double share = 0;
    if (qn_context_create(NULL, &context)) return 1;
    const time_t begin = time(NULL);
    if (run(context, argv[1], &g, &share)) {
        fprintf(stderr, "digits: %s\n", qn_error_message(context));
        return 1;
    }
    printf("%.1f %% of the digits kept for the test are told right, after %ld s\n", 100 * share,
           (long)(time(NULL) - begin));
    if (argc > 2 && write_picture(argv[2], g.losses)) {
        fprintf(stderr, "digits: cannot write %s\n", argv[2]);
        return 1;
    }
    qn_context_destroy(context);
    return share < 0.98;
}
