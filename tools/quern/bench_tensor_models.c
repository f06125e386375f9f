/* Rows of quern bench tensor: models in training, as recorded steps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_tensor.h"

/* ---- a step of any model ---- */

enum { MOST_OUTPUTS = 64 };

typedef struct outputs {
    qn_tensor *all[MOST_OUTPUTS];
    size_t count;
} outputs;

static qn_status count_parameter(void *user, const char *name, qn_parameter *parameter) {
    (void)name;
    *(size_t *)user += parameter->trained;
    return QN_OK;
}

static qn_status add_gradient(void *user, const char *name, qn_parameter *parameter) {
    outputs *o = user;
    (void)name;
    qn_tensor *gradient = parameter->trained ? qn_tensor_gradient(parameter->tensor) : NULL;
    if (gradient && o->count < MOST_OUTPUTS) o->all[o->count++] = qn_detach(gradient);
    return QN_OK;
}

/* The loss, and behind it the gradients, where nothing is done with them. */
static qn_status step(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **made,
                      size_t num_made) {
    bench_model *m = user;
    outputs o = {.count = 0};
    (void)num_inputs;
    made[0] = m->loss(m, inputs);
    qn_status status = qn_backward(made[0]);
    if (status || m->updates) return status ? status : qn_optimizer_step(&m->optimizer);
    status = qn_module_visit(&m->module, add_gradient, &o);
    for (size_t i = 1; i < num_made && !status; i++) made[i] = o.all[i - 1];
    qn_module_clear_gradients(&m->module);
    return status;
}

static size_t num_outputs(bench_model *m) {
    size_t count = 0;
    if (!m->updates) qn_module_visit(&m->module, count_parameter, &count);
    return count + 1 < MOST_OUTPUTS ? count + 1 : MOST_OUTPUTS;
}

static qn_status run_step(bench_model *m, double *loss) {
    qn_tensor *made[MOST_OUTPUTS];
    qn_status status = qn_scope_begin(m->b->t);
    if (status) return status;
    status = qn_step_run(m->step, m->inputs, 2, made, num_outputs(m));
    if (!status && loss) *loss = qn_tensor_item(made[0]);
    qn_scope_end(m->b->t);
    return status;
}

static qn_status run_steps(void *user, uint32_t first, uint32_t count) {
    qn_status status = QN_OK;
    (void)first;
    for (uint32_t i = 0; i < count && !status; i++) status = run_step(user, NULL);
    return status;
}

static int check_loss(const bench_model *m, const bench_tensor_row *row, double first, double last) {
    const bool is_right = m->updates ? last < first : fabs(last - first) <= 1e-3 * fabs(first);
    if (isfinite(first) && isfinite(last) && is_right) return TOOL_OK;
    return tool_fail(TOOL_DIFFERENT, "%s: the loss was %g and is %g after some steps", row->what, first,
                     last);
}

int bench_model_measure(bench_model *m, const bench_tensor_row *row) {
    bench_tensors *b = m->b;
    const bench_task task = {.run = run_steps, .user = m};
    bench_time time;
    double first = NAN, last = NAN;
    char note[64];
    qn_status status = QN_OK;
    if (m->updates)
        status = qn_optimizer_init(&m->optimizer, &m->module, &(qn_optimizer_desc){.kind = QN_ADAM});
    if (!status) status = qn_step_create(b->t, step, m, &m->step);
    if (!status) status = run_step(m, &first);
    if (!status) status = qn_tensors_wait(b->t, QN_FOREVER);
    int result = bench_tensor_fail(b, status);
    if (!result) result = bench_measure(b->d, &task, &time);
    if (!result) result = bench_tensor_fail(b, run_step(m, &last));
    if (!result) result = check_loss(m, row, first, last);
    if (!result) {
        snprintf(note, sizeof note, "loss %.3g to %.3g", first, last);
        bench_tensor_print(b, row, m->of, 0, "ns", &time, note);
    }
    qn_step_destroy(m->step);
    if (m->updates) qn_optimizer_release(&m->optimizer);
    for (int i = 0; i < 2; i++) qn_tensor_release(m->inputs[i]);
    return result;
}

static qn_status add_linear(qn_module *to, const char *name, qn_linear *l, uint64_t inputs, uint64_t outs) {
    const qn_status status =
        qn_linear_init(l, to->tensors, &(qn_linear_desc){.inputs = inputs, .outputs = outs});
    return status ? status : qn_module_add(to, name, &l->module);
}

/* ---- 784-256-128-10 ---- */

enum { PIXELS = 784, CLASSES = 10 };

typedef struct mlp {
    qn_linear layers[3];
} mlp;

static qn_tensor *loss_of_mlp(bench_model *model, qn_tensor *const *inputs) {
    mlp *m = model->parts;
    qn_tensor *x = inputs[0];
    for (int i = 0; i < 3; i++) {
        x = qn_linear_forward(&m->layers[i], x);
        if (i < 2) x = qn_relu(x);
    }
    return qn_cross_entropy(x, inputs[1], NULL);
}

static qn_status make_mlp(bench_model *model, mlp *m) {
    static const uint64_t sizes[] = {PIXELS, 256, 128, CLASSES};
    static const char *const names[] = {"first", "second", "third"};
    qn_tensors *t = model->b->t;
    qn_module_init(&model->module, t, NULL);
    qn_status status = QN_OK;
    for (int i = 0; i < 3 && !status; i++) {
        const qn_linear_desc desc = {.inputs = sizes[i], .outputs = sizes[i + 1]};
        status = qn_linear_init(&m->layers[i], t, &desc);
        if (!status) status = qn_module_add(&model->module, names[i], &m->layers[i].module);
    }
    if (status) return status;
    model->inputs[0] = qn_tensor_retain(qn_rand(t, QN_F32, QN_SHAPE(model->batch, PIXELS)));
    model->inputs[1] = qn_tensor_retain(qn_randint(t, QN_I32, QN_SHAPE(model->batch), 0, CLASSES));
    return qn_realize(model->inputs, 2);
}

static int measure_mlp(bench_tensors *b, const bench_tensor_row *row) {
    mlp m;
    bench_model model = {
        .b = b, .batch = row->number, .loss = loss_of_mlp, .updates = true, .of = "", .parts = &m};
    int result = bench_tensor_fail(b, make_mlp(&model, &m));
    if (!result) result = bench_model_measure(&model, row);
    qn_module_release(&model.module);
    return result;
}

/* ---- digits of 8 x 8 ---- */

enum { SIDE = 8, CHANNELS = 16, HIDDEN = 64 };

/* The network of examples/tensors/digits.c. */
typedef struct digits {
    qn_convolution_layer first, second;
    qn_linear hidden, out;
} digits;

static qn_tensor *loss_of_digits(bench_model *model, qn_tensor *const *inputs) {
    digits *d = model->parts;
    qn_tensor *x = qn_relu(qn_convolution_layer_forward(&d->first, inputs[0]));
    x = qn_relu(qn_convolution_layer_forward(&d->second, x));
    x = qn_flatten(qn_max_pool(x, &(qn_pool_desc){.window = {2, 2}}), 1, -1);
    x = qn_linear_forward(&d->out, qn_relu(qn_linear_forward(&d->hidden, x)));
    return qn_cross_entropy(x, inputs[1], NULL);
}

static qn_status add_window(qn_module *to, const char *name, qn_convolution_layer *c, uint64_t inputs,
                            uint64_t outputs) {
    const qn_convolution_layer_desc desc = {
        .inputs = inputs, .outputs = outputs, .window = {3, 3}, .convolution = {.padding = {1, 1}}};
    const qn_status status = qn_convolution_layer_init(c, to->tensors, &desc);
    return status ? status : qn_module_add(to, name, &c->module);
}

static qn_status make_digits(bench_model *model, digits *d) {
    qn_tensors *t = model->b->t;
    qn_module *module = &model->module;
    qn_module_init(module, t, NULL);
    qn_status status = add_window(module, "first", &d->first, 1, CHANNELS);
    if (!status) status = add_window(module, "second", &d->second, CHANNELS, 2 * CHANNELS);
    if (!status) status = add_linear(module, "hidden", &d->hidden, 2 * CHANNELS * SIDE * SIDE / 4, HIDDEN);
    if (!status) status = add_linear(module, "out", &d->out, HIDDEN, CLASSES);
    if (status) return status;
    model->inputs[0] = qn_tensor_retain(qn_rand(t, QN_F32, QN_SHAPE(model->batch, 1, SIDE, SIDE)));
    model->inputs[1] = qn_tensor_retain(qn_randint(t, QN_I32, QN_SHAPE(model->batch), 0, CLASSES));
    return qn_realize(model->inputs, 2);
}

static int measure_digits(bench_tensors *b, const bench_tensor_row *row) {
    digits d;
    bench_model model = {
        .b = b, .batch = row->number, .loss = loss_of_digits, .updates = true, .of = "", .parts = &d};
    int result = bench_tensor_fail(b, make_digits(&model, &d));
    if (!result) result = bench_model_measure(&model, row);
    qn_module_release(&model.module);
    return result;
}

/* ---- GPT-2, small ---- */

/* Weights are f32, computed with as bf16, as are the values between them; norms and the loss are computed in f32. */
enum { MOST_BLOCKS = 12 };

typedef struct gpt_sizes {
    uint64_t words, length, width, heads, blocks, batch;
} gpt_sizes;

typedef struct gpt_block {
    qn_module module;
    qn_norm_layer before_attention, before_feed;
    qn_linear queries, attended, up, down; /* `queries`: keys and values too */
} gpt_block;

typedef struct gpt {
    gpt_sizes sizes;
    qn_parameter words, places;
    gpt_block blocks[MOST_BLOCKS];
    qn_norm_layer last;
} gpt;

static qn_tensor *narrow(qn_tensor *x) { return qn_cast(x, QN_BF16); }

static qn_tensor *linear(qn_linear *l, qn_tensor *x) {
    return qn_add(qn_matmul(x, narrow(qn_transpose(l->weight.tensor, 0, 1))), narrow(l->bias.tensor));
}

static qn_tensor *norm(qn_norm_layer *n, qn_tensor *x) {
    return narrow(qn_norm_layer_forward(n, qn_cast(x, QN_F32)));
}

/* Part `which` of three, as heads x length x width of each. */
static qn_tensor *heads_of(const gpt_sizes *s, qn_tensor *all, int64_t which) {
    const int64_t width = (int64_t)s->width;
    qn_tensor *part = qn_slice(all, -1, which * width, (which + 1) * width, 1);
    const qn_shape shape = QN_SHAPE(s->batch, s->length, s->heads, s->width / s->heads);
    return qn_permute(qn_reshape(part, shape), QN_AXES(0, 2, 1, 3));
}

static qn_tensor *attend(const gpt_sizes *s, gpt_block *block, qn_tensor *x) {
    qn_tensor *all = linear(&block->queries, x);
    qn_tensor *q = heads_of(s, all, 0), *k = heads_of(s, all, 1), *v = heads_of(s, all, 2);
    qn_tensor *heads = qn_attention(q, k, v, &(qn_tensor_attention_desc){.causal = true});
    qn_tensor *y = qn_permute(heads, QN_AXES(0, 2, 1, 3));
    return linear(&block->attended, qn_reshape(y, QN_SHAPE(s->batch, s->length, s->width)));
}

static qn_tensor *loss_of_gpt(bench_model *model, qn_tensor *const *inputs) {
    gpt *g = model->parts;
    const gpt_sizes *s = &g->sizes;
    qn_tensor *x = narrow(qn_add(qn_take(g->words.tensor, inputs[0], 0), g->places.tensor));
    for (uint64_t i = 0; i < s->blocks; i++) {
        gpt_block *block = &g->blocks[i];
        x = qn_add(x, attend(s, block, norm(&block->before_attention, x)));
        qn_tensor *inner = qn_gelu_tanh(linear(&block->up, norm(&block->before_feed, x)));
        x = qn_add(x, linear(&block->down, inner));
    }
    qn_tensor *scores = qn_matmul(norm(&g->last, x), narrow(qn_transpose(g->words.tensor, 0, 1)));
    return qn_cross_entropy(qn_cast(qn_flatten(scores, 0, 1), QN_F32), qn_flatten(inputs[1], 0, 1), NULL);
}

static qn_status add_norm(qn_module *to, const char *name, qn_norm_layer *n, uint64_t size) {
    const qn_status status = qn_norm_layer_init(n, to->tensors, &(qn_norm_layer_desc){.size = size});
    return status ? status : qn_module_add(to, name, &n->module);
}

static qn_status add_block(bench_model *model, gpt *g, uint64_t i) {
    gpt_block *b = &g->blocks[i];
    const uint64_t width = g->sizes.width;
    char name[16];
    snprintf(name, sizeof name, "block%llu", (unsigned long long)i);
    qn_module_init(&b->module, model->b->t, NULL);
    qn_status status = add_norm(&b->module, "ln_1", &b->before_attention, width);
    if (!status) status = add_linear(&b->module, "c_attn", &b->queries, width, 3 * width);
    if (!status) status = add_linear(&b->module, "c_proj", &b->attended, width, width);
    if (!status) status = add_norm(&b->module, "ln_2", &b->before_feed, width);
    if (!status) status = add_linear(&b->module, "c_fc", &b->up, width, 4 * width);
    if (!status) status = add_linear(&b->module, "c_out", &b->down, 4 * width, width);
    return status ? status : qn_module_add(&model->module, name, &b->module);
}

static qn_tensor *table(qn_tensors *t, uint64_t rows, uint64_t columns) {
    return qn_multiply(qn_randn(t, QN_F32, QN_SHAPE(rows, columns)), 0.02);
}

static qn_status make_gpt(bench_model *model, gpt *g) {
    const gpt_sizes *s = &g->sizes;
    qn_tensors *t = model->b->t;
    qn_module_init(&model->module, t, NULL);
    qn_status status =
        qn_module_add_parameter(&model->module, "wte", &g->words, table(t, s->words, s->width), true);
    if (!status)
        status =
            qn_module_add_parameter(&model->module, "wpe", &g->places, table(t, s->length, s->width), true);
    for (uint64_t i = 0; i < s->blocks && !status; i++) status = add_block(model, g, i);
    if (!status) status = add_norm(&model->module, "ln_f", &g->last, s->width);
    if (status) return status;
    for (int i = 0; i < 2; i++)
        model->inputs[i] =
            qn_tensor_retain(qn_randint(t, QN_I32, QN_SHAPE(s->batch, s->length), 0, (int64_t)s->words));
    return qn_realize(model->inputs, 2);
}

static int measure_gpt(bench_tensors *b, const bench_tensor_row *row) {
    static const gpt_sizes small = {256, 32, 64, 4, 2, 2}, whole = {50304, 1024, 768, 12, MOST_BLOCKS, 8};
    gpt *g = tool_alloc(sizeof *g);
    g->sizes = b->is_small ? small : whole;
    bench_model model = {.b = b,
                         .batch = g->sizes.batch,
                         .loss = loss_of_gpt,
                         .updates = true,
                         .of = b->is_small ? "small" : "",
                         .parts = g};
    int result = bench_tensor_fail(b, make_gpt(&model, g));
    if (!result) result = bench_model_measure(&model, row);
    qn_module_release(&model.module);
    free(g);
    return result;
}

/* ---- ResNet-18 ---- */

enum { STAGES = 4, BLOCKS = 8, IMAGE_CLASSES = 1000 };

typedef struct residual {
    qn_module module;
    qn_convolution_layer first, second, aside;
    qn_batch_norm first_norm, second_norm, aside_norm;
    bool changes; /* size and channels: what goes aside is a convolution */
} residual;

typedef struct resnet {
    uint64_t side, width;
    qn_convolution_layer stem;
    qn_batch_norm stem_norm;
    residual blocks[BLOCKS];
    qn_linear out;
} resnet;

static qn_tensor *half(qn_tensor *x) { return qn_cast(x, QN_F16); }

static qn_tensor *convolve(qn_convolution_layer *c, qn_tensor *x) {
    return qn_convolution(x, half(c->weight.tensor), NULL, &c->convolution);
}

static qn_tensor *normed(qn_batch_norm *n, qn_tensor *x) {
    return qn_batch_norm_forward(n, qn_cast(x, QN_F32));
}

static qn_tensor *pass(residual *r, qn_tensor *x) {
    qn_tensor *y = half(qn_relu(normed(&r->first_norm, convolve(&r->first, x))));
    y = normed(&r->second_norm, convolve(&r->second, y));
    qn_tensor *aside = r->changes ? normed(&r->aside_norm, convolve(&r->aside, x)) : x;
    return half(qn_relu(qn_add(y, aside)));
}

static qn_tensor *loss_of_resnet(bench_model *model, qn_tensor *const *inputs) {
    resnet *r = model->parts;
    qn_tensor *x = qn_relu(normed(&r->stem_norm, convolve(&r->stem, half(inputs[0]))));
    x = qn_max_pool(half(x), &(qn_pool_desc){.window = {3, 3}, .stride = {2, 2}, .padding = {1, 1}});
    for (int i = 0; i < BLOCKS; i++) x = pass(&r->blocks[i], x);
    x = qn_mean(qn_cast(x, QN_F32), QN_AXES(2, 3), false);
    return qn_cross_entropy(qn_linear_forward(&r->out, x), inputs[1], NULL);
}

static qn_status add_convolution(qn_module *to, const char *name, qn_convolution_layer *c, uint64_t inputs,
                                 uint64_t outs, uint32_t window, uint32_t stride) {
    const uint32_t padding = window / 2;
    const qn_convolution_layer_desc desc = {
        .inputs = inputs,
        .outputs = outs,
        .window = {window, window},
        .convolution = {.stride = {stride, stride}, .padding = {padding, padding}},
        .no_bias = true};
    const qn_status status = qn_convolution_layer_init(c, to->tensors, &desc);
    return status ? status : qn_module_add(to, name, &c->module);
}

static qn_status add_batch_norm(qn_module *to, const char *name, qn_batch_norm *n, uint64_t channels) {
    const qn_status status = qn_batch_norm_init(n, to->tensors, &(qn_batch_norm_desc){.channels = channels});
    return status ? status : qn_module_add(to, name, &n->module);
}

static qn_status add_residual(bench_model *model, resnet *r, uint32_t i) {
    residual *b = &r->blocks[i];
    const uint32_t stage = i / 2, stride = i % 2 == 0 && stage > 0 ? 2 : 1;
    const uint64_t outs = r->width << stage, inputs = stride == 2 ? outs / 2 : outs;
    char name[16];
    snprintf(name, sizeof name, "block%u", (unsigned)i);
    qn_module_init(&b->module, model->b->t, NULL);
    b->changes = stride == 2;
    qn_status status = add_convolution(&b->module, "conv1", &b->first, inputs, outs, 3, stride);
    if (!status) status = add_batch_norm(&b->module, "bn1", &b->first_norm, outs);
    if (!status) status = add_convolution(&b->module, "conv2", &b->second, outs, outs, 3, 1);
    if (!status) status = add_batch_norm(&b->module, "bn2", &b->second_norm, outs);
    if (!status && b->changes)
        status = add_convolution(&b->module, "aside", &b->aside, inputs, outs, 1, stride);
    if (!status && b->changes) status = add_batch_norm(&b->module, "aside_bn", &b->aside_norm, outs);
    return status ? status : qn_module_add(&model->module, name, &b->module);
}

static qn_status make_resnet(bench_model *model, resnet *r) {
    qn_tensors *t = model->b->t;
    qn_module_init(&model->module, t, NULL);
    qn_status status = add_convolution(&model->module, "conv1", &r->stem, 3, r->width, 7, 2);
    if (!status) status = add_batch_norm(&model->module, "bn1", &r->stem_norm, r->width);
    for (uint32_t i = 0; i < BLOCKS && !status; i++) status = add_residual(model, r, i);
    if (!status) status = add_linear(&model->module, "fc", &r->out, r->width << (STAGES - 1), IMAGE_CLASSES);
    if (status) return status;
    const qn_shape images = QN_SHAPE(model->batch, 3, r->side, r->side);
    model->inputs[0] = qn_tensor_retain(qn_rand(t, QN_F32, images));
    model->inputs[1] = qn_tensor_retain(qn_randint(t, QN_I32, QN_SHAPE(model->batch), 0, IMAGE_CLASSES));
    return qn_realize(model->inputs, 2);
}

static int measure_resnet(bench_tensors *b, const bench_tensor_row *row) {
    resnet *r = tool_alloc(sizeof *r);
    memset(r, 0, sizeof *r);
    r->side = b->is_small ? 32 : 224;
    r->width = b->is_small ? 8 : 64;
    bench_model model = {.b = b,
                         .batch = b->is_small ? 4 : 64,
                         .loss = loss_of_resnet,
                         .of = b->is_small ? "small" : "",
                         .parts = r};
    int result = bench_tensor_fail(b, make_resnet(&model, r));
    if (!result) result = bench_model_measure(&model, row);
    qn_module_release(&model.module);
    free(r);
    return result;
}

static const bench_tensor_row rows[] = {{"mlp of 64", 64, measure_mlp},
                                        {"mlp of 1024", 1024, measure_mlp},
                                        {"digits of 64", 64, measure_digits},
                                        {"gpt-2 step", 0, measure_gpt},
                                        {"resnet-18 forward, backward", 0, measure_resnet}};
const bench_tensor_list bench_tensor_models = {rows, sizeof rows / sizeof *rows};
