/* A transformer that continues text, of GPT-2's form (Radford and others, 2019): embeddings of tokens and places, layers, and scores of the next token by
   the embeddings again. */
#ifndef GPT_H
#define GPT_H

#include "example.h"

enum { GPT_LAYERS = 48 };

typedef struct gpt_desc {
    uint64_t vocabulary, size, heads, layers, length;
    double dropout;
} gpt_desc;

typedef struct gpt {
    qn_module module, blocks;
    qn_embedding tokens;
    qn_positions places;
    qn_encoder_layer layers[GPT_LAYERS];
    qn_norm_layer norm;
    qn_kv_cache caches[GPT_LAYERS]; /* for generation: no parts of the model */
    gpt_desc desc;
    qn_step *next;
} gpt;

static inline qn_status gpt_add_layers(gpt *g, qn_tensors *t) {
    static char names[GPT_LAYERS][4];
    const qn_transformer_layer_desc desc = {.size = g->desc.size,
                                            .heads = g->desc.heads,
                                            .dropout = g->desc.dropout,
                                            .activation = qn_gelu_tanh,
                                            .norm_first = true};
    qn_status status = QN_OK;
    for (uint64_t i = 0; i < g->desc.layers && !status; i++) {
        snprintf(names[i], sizeof names[i], "%u", (unsigned)i);
        status = qn_encoder_layer_init(&g->layers[i], t, &desc);
        if (!status) status = qn_module_add(&g->blocks, names[i], &g->layers[i].module);
    }
    return status;
}

static inline qn_status gpt_init(gpt *g, qn_tensors *t, const gpt_desc *desc) {
    const qn_embedding_desc tokens = {.count = desc->vocabulary, .size = desc->size};
    const qn_positions_desc places = {.length = desc->length, .size = desc->size, .learned = true};
    g->desc = *desc;
    g->next = NULL;
    qn_module_init(&g->module, t, NULL);
    qn_module_init(&g->blocks, t, NULL);
    qn_status status = qn_embedding_init(&g->tokens, t, &tokens);
    if (!status) status = qn_module_add(&g->module, "tokens", &g->tokens.module);
    if (!status) status = qn_positions_init(&g->places, t, &places);
    if (!status) status = qn_module_add(&g->module, "places", &g->places.module);
    if (!status) status = qn_module_add(&g->module, "layers", &g->blocks);
    if (!status) status = gpt_add_layers(g, t);
    if (!status) status = qn_norm_layer_init(&g->norm, t, &(qn_norm_layer_desc){.size = desc->size});
    if (!status) status = qn_module_add(&g->module, "norm", &g->norm.module);
    /* Scores are products with the embeddings: those begin small. */
    if (!status) status = qn_assign(g->tokens.weight.tensor, qn_multiply(g->tokens.weight.tensor, 0.02));
    return status ? status : qn_tensor_realize(g->tokens.weight.tensor);
}

static inline void gpt_release(gpt *g) {
    qn_step_destroy(g->next);
    for (uint64_t i = 0; g->next && i < g->desc.layers; i++) qn_module_release(&g->caches[i].module);
    qn_module_release(&g->module);
}

/* Scores of the tokens behind each of those of [batch, length]: [batch, length, vocabulary]. With a position, which the first of them has, what was before is in
   the caches. */
static inline qn_tensor *gpt_forward(gpt *g, qn_tensor *tokens, qn_tensor *position) {
    qn_tensor *x = qn_positions_forward(&g->places, qn_embedding_forward(&g->tokens, tokens), position);
    for (uint64_t i = 0; i < g->desc.layers; i++) {
        qn_attending how = {.causal = true};
        if (position) how = (qn_attending){.cache = &g->caches[i], .position = position};
        x = qn_encoder_layer_forward(&g->layers[i], x, &how);
    }
    x = qn_norm_layer_forward(&g->norm, x);
    return qn_matmul(x, qn_transpose(g->tokens.weight.tensor, 0, 1));
}

/* ---- generation ---- */

/* One token and its place in, the scores of the next one out. */
static inline qn_status gpt_next(void *user, qn_tensor *const *inputs, size_t num_inputs, qn_tensor **outputs,
                                 size_t num_outputs) {
    (void)num_inputs, (void)num_outputs;
    qn_tensors *t = qn_tensor_owner(inputs[0]);
    qn_no_gradient_begin(t);
    outputs[0] = qn_flatten(gpt_forward(user, inputs[0], inputs[1]), 0, -1);
    qn_no_gradient_end(t);
    return qn_tensor_status(outputs[0]);
}

static inline qn_status gpt_begin(gpt *g, qn_tensors *t) {
    const qn_kv_cache_desc desc = {.batches = 1,
                                   .heads = g->desc.heads,
                                   .capacity = g->desc.length,
                                   .size = g->desc.size / g->desc.heads};
    qn_status status = qn_step_create(t, gpt_next, g, &g->next);
    for (uint64_t i = 0; i < g->desc.layers && !status; i++)
        status = qn_kv_cache_init(&g->caches[i], t, &desc);
    qn_module_train(&g->module, false);
    return status;
}

/* Scores of what comes behind `token`, which is number `position` of the text. */
static inline qn_status gpt_scores(gpt *g, int32_t token, int32_t position, float *scores) {
    qn_tensors *t = g->module.tensors;
    qn_status status = qn_scope_begin(t);
    if (status) return status;
    qn_tensor *inputs[] = {qn_from_data(t, QN_I32, QN_SHAPE(1, 1), &token),
                           qn_from_data(t, QN_I32, QN_SHAPE(1), &position)};
    qn_tensor *out;
    status = qn_step_run(g->next, inputs, 2, &out, 1);
    if (!status) status = qn_tensor_read(out, scores, g->desc.vocabulary * sizeof *scores);
    qn_scope_end(t);
    return status;
}

/* A token by its probability, sharper with a lower temperature; of 0: the likeliest. Changes the scores. */
static inline int32_t gpt_choose(float *scores, uint64_t count, double temperature, uint64_t *state) {
    uint64_t best = 0;
    for (uint64_t i = 1; i < count; i++)
        if (scores[i] > scores[best]) best = i;
    if (temperature <= 0) return (int32_t)best;
    const double most = scores[best];
    double sum = 0;
    for (uint64_t i = 0; i < count; i++) sum += scores[i] = (float)exp((scores[i] - most) / temperature);
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    double left = (double)(*state >> 11) / 9007199254740992.0 * sum;
    for (uint64_t i = 0; i < count; i++)
        if ((left -= scores[i]) < 0) return (int32_t)i;
    return (int32_t)best;
}

#endif
