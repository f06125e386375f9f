/* A small transformer learns a text, letter by letter, and writes one of its own with a cache of keys and values.
   Usage: quern_text [TEXT]      Without a file: the GNU General Public Licence of a Debian system. */
#include "gpt.h"

enum { MOST_BYTES = 1 << 20, BATCH = 16 };

typedef struct corpus {
    uint8_t *bytes; /* numbers of letters */
    uint64_t count, window;
    uint64_t letters;
    uint8_t of_letter[256];
    int number_of[256];
} corpus;

static qn_status read_text(example *e, corpus *c) {
    const char *path = e->input ? e->input : "/usr/share/common-licenses/GPL-3";
    FILE *file = fopen(path, "rb");
    if (!file)
        return qn_error_set(e->context, QN_ERROR_IO,
                            "there is no text: name a file of a hundred letters or more");
    c->bytes = malloc(MOST_BYTES);
    c->count = c->bytes ? fread(c->bytes, 1, MOST_BYTES, file) : 0;
    fclose(file);
    if (c->count < 4 * c->window + 4)
        return qn_error_set(e->context, QN_ERROR_ARGUMENT, "the text is too short");
    memset(c->number_of, -1, sizeof c->number_of);
    for (uint64_t i = 0; i < c->count; i++)
        if (c->number_of[c->bytes[i]] < 0) {
            c->of_letter[c->letters] = c->bytes[i];
            c->number_of[c->bytes[i]] = (int)c->letters++;
        }
    for (uint64_t i = 0; i < c->count; i++) c->bytes[i] = (uint8_t)c->number_of[c->bytes[i]];
    return QN_OK;
}

/* Example i: the letters from i on, and for each the one behind it. */
static qn_status get_window(void *user, uint64_t index, void *const *to) {
    const corpus *c = user;
    for (uint64_t i = 0; i < c->window; i++) {
        ((int32_t *)to[0])[i] = c->bytes[index + i];
        ((int32_t *)to[1])[i] = c->bytes[index + i + 1];
    }
    return QN_OK;
}

/* ---- training ---- */

typedef struct training {
    gpt model;
    qn_optimizer adam;
} training;

static qn_status train(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                       size_t num_outputs) {
    training *g = user;
    (void)num_inputs, (void)num_outputs;
    qn_tensor *scores = gpt_forward(&g->model, inputs[0], NULL);
    outputs[0] = qn_cross_entropy(qn_flatten(scores, 0, 1), qn_flatten(inputs[1], 0, 1), NULL);
    qn_status status = qn_backward(outputs[0]);
    if (!status) status = qn_tensor_status(qn_clip_gradients(&g->model.module, 1));
    return status ? status : qn_optimizer_step(&g->adam);
}

static qn_status learn(example *e, training *g, qn_dataset *windows, uint64_t steps) {
    const qn_loader_desc desc = {.batch = e->quick ? 2 : BATCH, .shuffle = true, .drop_last = true};
    qn_loader *loader = NULL;
    qn_step *step = NULL;
    qn_status status = qn_loader_create(e->t, windows, &desc, &loader);
    if (!status) status = qn_step_create(e->t, train, g, &step);
    for (uint64_t i = 0; i < steps && !status; i++) {
        qn_tensor *batch[2], *loss;
        bool more;
        status = qn_loader_next(loader, batch, &more);
        if (!status && !more) status = qn_loader_next(loader, batch, &more); /* the next epoch's first */
        if (!status)
            status = qn_optimizer_set_rate(&g->adam,
                                           qn_rate_warm_up(i, 20) * qn_rate_cosine(2e-3, i, steps, 1e-4));
        qn_scope_begin(e->t);
        if (!status) status = qn_step_run(step, batch, 2, &loss, 1);
        if (!status) example_loss(e, qn_tensor_item(loss));
        if (!status && i % 100 == 0) printf("step %3u: loss %.3f\n", (unsigned)i, e->losses[i]);
        qn_scope_end(e->t);
    }
    qn_step_destroy(step);
    qn_loader_destroy(loader);
    return status;
}

/* ---- writing ---- */

static qn_status write_text(example *e, gpt *model, const corpus *c) {
    float scores[256];
    uint64_t state = 1;
    int32_t letter = c->bytes[0];
    qn_status status = gpt_begin(model, e->t);
    printf("---- it writes:\n");
    for (int32_t i = 0; i < (int32_t)c->window && !status; i++) {
        putchar(c->of_letter[letter]);
        status = gpt_scores(model, letter, i, scores);
        if (!status) letter = gpt_choose(scores, c->letters, 0.7, &state);
    }
    printf("\n----\n");
    return status;
}

/* The mean of the last tenth of the losses. */
static double last_loss(const example *e) {
    const size_t count = e->num_losses / 10;
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += e->losses[e->num_losses - 1 - i];
    return count ? sum / (double)count : HUGE_VAL;
}

static qn_status run(example *e, training *g, corpus *c) {
    qn_dataset *windows;
    const qn_dataset_desc set = {.count = c->count - c->window - 1,
                                 .num_fields = 2,
                                 .fields = {{QN_I32, QN_SHAPE(c->window)}, {QN_I32, QN_SHAPE(c->window)}},
                                 .get = get_window,
                                 .user = c};
    const gpt_desc desc = {.vocabulary = c->letters,
                           .size = e->quick ? 8 : 64,
                           .heads = e->quick ? 2 : 4,
                           .layers = e->quick ? 1 : 2,
                           .length = c->window};
    qn_status status = qn_dataset_create(e->context, &set, &windows);
    if (status) return status;
    status = gpt_init(&g->model, e->t, &desc);
    if (!status)
        status = qn_optimizer_init(&g->adam, &g->model.module, &(qn_optimizer_desc){.kind = QN_ADAMW});
    if (!status) {
        printf("%llu letters, %llu different ones; %llu parameters\n", (unsigned long long)c->count,
               (unsigned long long)c->letters, (unsigned long long)qn_module_count(&g->model.module));
        status = learn(e, g, windows, e->quick ? 20 : 600);
        if (!status) status = write_text(e, &g->model, c);
        qn_optimizer_release(&g->adam);
    }
    gpt_release(&g->model);
    qn_dataset_destroy(windows);
    return status;
}

int main(int argc, char **argv) {
    example e;
    static training g;
    static corpus c;
    example_open(&e, argc, argv, "text", "[TEXT] ");
    c.window = e.quick ? 8 : 64;
    qn_status status = read_text(&e, &c);
    if (!status) status = run(&e, &g, &c);
    free(c.bytes);
    const double loss = last_loss(&e);
    if (!status)
        printf("the next letter costs %.2f bits; without having learnt it would be %.2f\n", loss / log(2),
               log2((double)c.letters));
    return example_close(&e, status, e.quick ? loss < e.losses[0] : loss < 2.2);
}
