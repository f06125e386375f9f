/* Feed-forward networks, and the layers of transformers (Vaswani and others, 2017), normalised before or behind each part. */
#include "nn/nn.h"

/* Child `name` of a module, after its init function has given `status`. */
static qn_status add(qn_status status, qn_module *module, const char *name, qn_module *child) {
    if (status) return status;
    status = qn_module_add(module, name, child);
    if (status) qn_module_release(child);
    return status;
}

static qn_tensor *activate(qn_tensor *(*function)(qn_tensor *), qn_tensor *x) {
    return function ? function(x) : qn_relu(x);
}

/* ---- feed-forward ---- */

static qn_tensor *forward_feed(qn_module *module, qn_tensor *x) {
    return qn_feed_forward_forward((qn_feed_forward *)module, x);
}
static const qn_module_type feed_type = {"feed_forward", forward_feed};

qn_status qn_feed_forward_init(qn_feed_forward *feed, qn_tensors *tensors, const qn_feed_forward_desc *desc) {
    qn_status status = qn__nn_check(feed, tensors, desc, __func__);
    if (!status) status = qn__nn_begin(tensors, (qn__nn_size[]){{"size", desc->size}, {NULL, 0}}, __func__);
    if (status) return status;
    const uint64_t hidden = desc->hidden ? desc->hidden : 4 * desc->size;
    const qn_linear_desc
        in = {.inputs = desc->size, .outputs = hidden, .type = desc->type, .no_bias = desc->no_bias},
        out = {.inputs = hidden, .outputs = desc->size, .type = desc->type, .no_bias = desc->no_bias};
    *feed = (qn_feed_forward){.activation = desc->activation, .dropout = desc->dropout};
    qn_module *m = &feed->module;
    qn_module_init(m, tensors, &feed_type);
    status = add(qn_linear_init(&feed->linear1, tensors, &in), m, "linear1", &feed->linear1.module);
    if (!status && desc->gated)
        status = add(qn_linear_init(&feed->gate, tensors, &in), m, "gate", &feed->gate.module);
    if (!status)
        status = add(qn_linear_init(&feed->linear2, tensors, &out), m, "linear2", &feed->linear2.module);
    return qn__nn_made(m, status);
}

qn_tensor *qn_feed_forward_forward(qn_feed_forward *feed, qn_tensor *x) {
    qn_module_begin(&feed->module);
    qn_tensor *y = qn_linear_forward(&feed->linear1, x);
    if (feed->gate.weight.tensor)
        y = qn_multiply(activate(feed->activation, qn_linear_forward(&feed->gate, x)), y);
    else
        y = activate(feed->activation, y);
    if (feed->module.training) y = qn__nn_drop(feed->module.tensors, y, feed->dropout);
    return qn_module_end(&feed->module, x, qn_linear_forward(&feed->linear2, y));
}

/* ---- layers ---- */

/* What both kinds of layer have of a part's result: dropped elements, in training. */
static qn_tensor *dropped(const qn_module *module, double dropout, qn_tensor *x) {
    return module->training ? qn__nn_drop(module->tensors, x, dropout) : x;
}

static qn_multi_head_desc heads_of(const qn_transformer_layer_desc *d) {
    return (qn_multi_head_desc){.size = d->size,
                                .heads = d->heads,
                                .key_heads = d->key_heads,
                                .dropout = d->dropout,
                                .rotary = d->rotary,
                                .type = d->type,
                                .no_bias = d->no_bias};
}

static qn_norm_layer_desc norm_of(const qn_transformer_layer_desc *d) {
    return (qn_norm_layer_desc){.size = d->size,
                                .epsilon = d->epsilon,
                                .type = d->type,
                                .root_mean_square = d->root_mean_square,
                                .no_bias = d->no_bias};
}

/* The two matrices of a layer's feed-forward part, by the names that they have in PyTorch. */
static qn_status add_feed(qn_module *m, qn_linear *linear1, qn_linear *linear2,
                          const qn_transformer_layer_desc *d) {
    const uint64_t hidden = d->hidden ? d->hidden : 4 * d->size;
    const qn_linear_desc in = {.inputs = d->size, .outputs = hidden, .type = d->type, .no_bias = d->no_bias},
                         out = {.inputs = hidden, .outputs = d->size, .type = d->type, .no_bias = d->no_bias};
    qn_status status = add(qn_linear_init(linear1, m->tensors, &in), m, "linear1", &linear1->module);
    if (!status) status = add(qn_linear_init(linear2, m->tensors, &out), m, "linear2", &linear2->module);
    return status;
}

static qn_status add_norms(qn_module *m, qn_norm_layer *norms, uint32_t count,
                           const qn_transformer_layer_desc *d) {
    static const char *const names[] = {"norm1", "norm2", "norm3"};
    const qn_norm_layer_desc norm = norm_of(d);
    qn_status status = QN_OK;
    for (uint32_t i = 0; i < count && !status; i++)
        status = add(qn_norm_layer_init(&norms[i], m->tensors, &norm), m, names[i], &norms[i].module);
    return status;
}

static qn_status check_layer(const void *object, qn_tensors *tensors, const qn_transformer_layer_desc *desc,
                             const char *function) {
    qn_status status = qn__nn_check(object, tensors, desc, function);
    if (!status && (!desc->size || !desc->heads))
        status =
            qn__nn_fail(tensors, QN_ERROR_ARGUMENT, "%s: %s is 0", function, desc->size ? "heads" : "size");
    return status;
}

static qn_tensor *feed(qn_module *m, qn_linear *linear1, qn_linear *linear2, qn_tensor *x,
                       qn_tensor *(*activation)(qn_tensor *), double dropout) {
    qn_tensor *y = activate(activation, qn_linear_forward(linear1, x));
    return dropped(m, dropout, qn_linear_forward(linear2, dropped(m, dropout, y)));
}

/* ---- encoder ---- */

static qn_tensor *forward_encoder(qn_module *module, qn_tensor *x) {
    return qn_encoder_layer_forward((qn_encoder_layer *)module, x, NULL);
}
static const qn_module_type encoder_type = {"encoder_layer", forward_encoder};

qn_status qn_encoder_layer_init(qn_encoder_layer *layer, qn_tensors *tensors,
                                const qn_transformer_layer_desc *desc) {
    qn_status status = check_layer(layer, tensors, desc, "qn_encoder_layer_init");
    if (!status) status = qn_scope_begin(tensors);
    if (status) return status;
    *layer = (qn_encoder_layer){
        .activation = desc->activation, .dropout = desc->dropout, .norm_first = desc->norm_first};
    qn_module *m = &layer->module;
    const qn_multi_head_desc heads = heads_of(desc);
    qn_module_init(m, tensors, &encoder_type);
    status =
        add(qn_multi_head_init(&layer->self_attn, tensors, &heads), m, "self_attn", &layer->self_attn.module);
    if (!status) status = add_feed(m, &layer->linear1, &layer->linear2, desc);
    if (!status) status = add_norms(m, layer->norms, 2, desc);
    return qn__nn_made(m, status);
}

qn_tensor *qn_encoder_layer_forward(qn_encoder_layer *l, qn_tensor *x, const qn_attending *how) {
    qn_module *m = &l->module;
    qn_module_begin(m);
    qn_tensor *y = l->norm_first ? qn_norm_layer_forward(&l->norms[0], x) : x;
    y = qn_add(x, dropped(m, l->dropout, qn_multi_head_forward(&l->self_attn, y, NULL, NULL, how)));
    if (!l->norm_first) y = qn_norm_layer_forward(&l->norms[0], y);
    qn_tensor *in = l->norm_first ? qn_norm_layer_forward(&l->norms[1], y) : y;
    y = qn_add(y, feed(m, &l->linear1, &l->linear2, in, l->activation, l->dropout));
    if (!l->norm_first) y = qn_norm_layer_forward(&l->norms[1], y);
    return qn_module_end(m, x, y);
}

/* ---- decoder ---- */

static const qn_module_type decoder_type = {"decoder_layer", NULL};

qn_status qn_decoder_layer_init(qn_decoder_layer *layer, qn_tensors *tensors,
                                const qn_transformer_layer_desc *desc) {
    qn_status status = check_layer(layer, tensors, desc, "qn_decoder_layer_init");
    if (!status) status = qn_scope_begin(tensors);
    if (status) return status;
    *layer = (qn_decoder_layer){
        .activation = desc->activation, .dropout = desc->dropout, .norm_first = desc->norm_first};
    qn_module *m = &layer->module;
    qn_multi_head_desc heads = heads_of(desc);
    qn_module_init(m, tensors, &decoder_type);
    status =
        add(qn_multi_head_init(&layer->self_attn, tensors, &heads), m, "self_attn", &layer->self_attn.module);
    heads.rotary = 0; /* places in the memory are none of the target's */
    if (!status)
        status = add(qn_multi_head_init(&layer->multihead_attn, tensors, &heads), m, "multihead_attn",
                     &layer->multihead_attn.module);
    if (!status) status = add_feed(m, &layer->linear1, &layer->linear2, desc);
    if (!status) status = add_norms(m, layer->norms, 3, desc);
    return qn__nn_made(m, status);
}

qn_tensor *qn_decoder_layer_forward(qn_decoder_layer *l, qn_tensor *x, qn_tensor *memory,
                                    const qn_attending *how, qn_tensor *memory_mask) {
    qn_module *m = &l->module;
    const qn_attending cross = {.mask = memory_mask};
    qn_module_begin(m);
    qn_tensor *in = l->norm_first ? qn_norm_layer_forward(&l->norms[0], x) : x;
    qn_tensor *y =
        qn_add(x, dropped(m, l->dropout, qn_multi_head_forward(&l->self_attn, in, NULL, NULL, how)));
    if (!l->norm_first) y = qn_norm_layer_forward(&l->norms[0], y);
    in = l->norm_first ? qn_norm_layer_forward(&l->norms[1], y) : y;
    qn_tensor *seen = qn_multi_head_forward(&l->multihead_attn, in, memory, memory, &cross);
    y = qn_add(y, dropped(m, l->dropout, seen));
    if (!l->norm_first) y = qn_norm_layer_forward(&l->norms[1], y);
    in = l->norm_first ? qn_norm_layer_forward(&l->norms[2], y) : y;
    y = qn_add(y, feed(m, &l->linear1, &l->linear2, in, l->activation, l->dropout));
    if (!l->norm_first) y = qn_norm_layer_forward(&l->norms[2], y);
    return qn_module_end(m, x, y);
}
