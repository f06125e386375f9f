/* Epilogues: maps behind a product or a convolution which its kernel does before it stores, as far as kernels.h has them:
   scale * activation(alpha y + bias) + residual, converted. A chain of maps is followed from a call upwards while each has the one before it as a
   source, nobody else needs that one, and the other operand is a number or can be read from memory. The last one becomes the call's result. */
#include "tensor/calls.h"
#include "tensor/plan.h"

/* How far a chain has come; each part comes at most once, in this order. */
typedef enum stage { PRODUCT, ALPHA, BIAS, ACTIVATION, SCALE, RESIDUAL, ROUNDED } stage;

typedef struct chain {
    qn__schedule *schedule;
    const qn__node *call;
    qn__epilogue made;
    stage stage;
} chain;

static const struct {
    uint16_t op;
    qn_activation activation;
} activations[] = {
    {QN__OP_RELU, QN_ACTIVATION_RELU},           {QN__OP_GELU, QN_ACTIVATION_GELU},
    {QN__OP_GELU_TANH, QN_ACTIVATION_GELU_TANH}, {QN__OP_SILU, QN_ACTIVATION_SILU},
    {QN__OP_TANH, QN_ACTIVATION_TANH},           {QN__OP_SIGMOID, QN_ACTIVATION_SIGMOID},
};

static qn_activation activation_of(const qn__node *node) {
    for (size_t i = 0; i < sizeof activations / sizeof *activations; i++)
        if (activations[i].op == node->op) return activations[i].activation;
    return QN_ACTIVATION_NONE;
}

/* The number that an operand is everywhere; NULL: none. */
static const qn__node *number_of(const qn__node *operand) {
    while (operand->op == QN__OP_EXPAND && !operand->realised) operand = operand->sources[0];
    return operand->op == QN__OP_FULL && !operand->realised ? operand : NULL;
}

enum { MUCH_SMALLER = 64 /* times, than a result that is read and written again without an epilogue */ };

/* Whether a kernel can read the operand, which has a value, or gets one without much ado. */
static bool is_readable(const chain *c, qn__node *operand) {
    const qn__schedule *s = c->schedule;
    const qn__node *base = qn__call_source(operand).node;
    if (base->realised || qn__is_anchor(s, base)) return true;
    const uint64_t results = qn__node_count(c->call), values = qn__node_count(base);
    return qn__ops[base->op].kind == QN__MAP &&
           (s->items[base->index].uses > 1 || values <= results / MUCH_SMALLER);
}

/* Convolutions add a number for each output, of their own type. */
static bool is_of_channels(const qn__node *call, qn__node *operand) {
    const qn_array a = qn__call_source(operand).array;
    const uint32_t channels = qn__convolve_channels(call);
    for (uint32_t d = 0; d < a.rank; d++)
        if ((a.strides[d] != 0) != (d == channels)) return false;
    return operand->type == call->type;
}

static bool add_operand(chain *c, qn__node *operand) {
    const bool is_product = c->call->op == QN__OP_MATMUL;
    if (!is_readable(c, operand)) return false;
    if (!is_product && (c->stage >= BIAS || !is_of_channels(c->call, operand))) return false;
    if (c->stage >= RESIDUAL) return false;
    const bool is_bias = c->stage < BIAS;
    c->stage = is_bias ? BIAS : RESIDUAL;
    *(is_bias ? &c->made.bias : &c->made.residual) = operand->index;
    return true;
}

static bool multiply_by(chain *c, const qn__node *number) {
    if (!number || c->call->op != QN__OP_MATMUL || c->stage == ALPHA || c->stage >= SCALE) return false;
    const bool is_alpha = c->stage < ALPHA;
    c->stage = is_alpha ? ALPHA : SCALE;
    *(is_alpha ? &c->made.alpha : &c->made.scale) = number->index;
    return true;
}

/* Values stay in f32 until the last conversion. */
static bool convert(chain *c, const qn__node *node, const qn__node *before) {
    if (c->call->op != QN__OP_MATMUL || !qn__is_float((qn_element)node->type)) return false;
    if (node->type == QN_F64 || before->type == QN_F64) return false;
    if (qn_element_size((qn_element)node->type) <= qn_element_size((qn_element)before->type))
        c->stage = ROUNDED;
    return true;
}

/* Takes one more map into the epilogue. */
static bool take(chain *c, const qn__node *node, const qn__node *before) {
    if (c->stage == ROUNDED) return false;
    qn__node *other = node->num_sources == 2 ? node->sources[node->sources[0] == before] : NULL;
    const qn_activation activation = activation_of(node);
    if (node->op == QN__OP_COPY) return true;
    if (node->op == QN__OP_CAST) return convert(c, node, before);
    if (node->op == QN__OP_ADD) return add_operand(c, other);
    if (node->op == QN__OP_MULTIPLY) return multiply_by(c, number_of(other));
    if (!activation || c->stage >= ACTIVATION || c->call->op != QN__OP_MATMUL) return false;
    c->stage = ACTIVATION;
    c->made.activation = activation;
    return true;
}

/* Follows the chain. What it ends with takes no more memory than the call's own result would. */
static qn__epilogue follow(qn__schedule *s, const qn__node *call) {
    chain c = {.schedule = s, .call = call};
    c.made =
        (qn__epilogue){call->index, call->index, QN_ACTIVATION_NONE, QN__NONE, QN__NONE, QN__NONE, QN__NONE};
    qn__epilogue best = c.made;
    for (const qn__node *node = call;;) {
        const qn__item *item = &s->items[node->index];
        if (item->forced || item->uses != 1) return best;
        const qn__node *user = s->walk->nodes[item->user];
        if (qn__ops[user->op].kind != QN__MAP || s->items[user->index].epilogue != QN__NONE) return best;
        if (!take(&c, user, node)) return best;
        c.made.result = user->index;
        node = user;
        if (qn_element_size((qn_element)node->type) <= qn_element_size((qn_element)call->type)) best = c.made;
    }
}

static void count_uses(qn__schedule *s) {
    for (size_t i = 0; i < s->walk->count; i++) {
        const qn__node *node = s->walk->nodes[i];
        for (uint32_t k = 0; !node->realised && k < node->num_sources; k++) {
            qn__item *item = &s->items[node->sources[k]->index];
            item->uses++;
            item->user = (uint32_t)i;
        }
    }
}

/* An operand gets a value. */
static void force_operand(qn__schedule *s, uint32_t operand) {
    if (operand == QN__NONE) return;
    qn__node *base = qn__call_source(s->walk->nodes[operand]).node;
    if (!base->realised) s->items[base->index].forced = true;
}

static qn_status add_epilogue(qn__schedule *s, const qn__epilogue *e) {
    if (!qn__reserve(s->tensors, &s->epilogues, &s->epilogue_room, s->num_epilogues, sizeof *s->epilogues))
        return QN_ERROR_OUT_OF_MEMORY;
    const uint32_t number = (uint32_t)s->num_epilogues++;
    s->epilogues[number] = *e;
    for (uint32_t i = e->call;; i = s->items[i].user) {
        s->items[i].epilogue = number;
        s->items[i].absorbed = i != e->result;
        if (i == e->result) break;
    }
    force_operand(s, e->bias);
    force_operand(s, e->residual);
    return QN_OK;
}

qn_status qn__epilogues_find(qn__schedule *s) {
    s->num_epilogues = 0;
    count_uses(s);
    for (size_t i = 0; i < s->walk->count; i++) {
        const qn__node *node = s->walk->nodes[i];
        if (node->realised || !qn__call_finishes((qn__op)node->op)) continue;
        const qn__epilogue e = follow(s, node);
        const qn_status status = e.result == e.call ? QN_OK : add_epilogue(s, &e);
        if (status) return status;
    }
    return QN_OK;
}
