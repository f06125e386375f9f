/* Convolutions and their transposes. Three calls of kernels.h, of which each is a gradient of the others: the convolution itself, what becomes of
   its input, which is a transposed convolution, and what becomes of its weights. Two dimensions are those of the calls; one is two with a size of 1,
   three are a sum over the taps of the first. */
#include <string.h>

#include "tensor/calls.h"
#include "tensor/plan.h"

/* ---- the calls ---- */

/* Where an op's integers are. */
enum { STRIDE = 0, PADDING = 2, DILATION = 4, GROUPS = 6, TOGETHER = 7 };

#define PARAMETERS(node)                                                                                     \
    .stride = {(uint32_t)(node)->attributes.integers[STRIDE],                                                \
               (uint32_t)(node)->attributes.integers[STRIDE + 1]},                                           \
    .padding = {(uint32_t)(node)->attributes.integers[PADDING],                                              \
                (uint32_t)(node)->attributes.integers[PADDING + 1]},                                         \
    .dilation = {(uint32_t)(node)->attributes.integers[DILATION],                                            \
                 (uint32_t)(node)->attributes.integers[DILATION + 1]},                                       \
    .groups = (uint32_t)(node)->attributes.integers[GROUPS]

uint32_t qn__convolve_channels(const qn__node *node) { return node->attributes.integers[TOGETHER] ? 3 : 1; }

/* Images in the usual order. */
static qn_array result_of(const qn__node *node, const qn_array *results) {
    return node->attributes.integers[TOGETHER] ? qn_array_permute(results[0], (const uint32_t[]){0, 3, 1, 2})
                                               : results[0];
}

qn_status qn__convolve_run(qn_tensors *tensors, const qn__node *node, const qn_array *sources,
                           const qn_array *results, const qn__finish *finish) {
    qn_convolve_desc desc = {
        .from = sources[0], .weights = sources[1], .to = result_of(node, results), PARAMETERS(node)};
    if (finish->bias.buffer) { /* it has been broadcast to the result */
        const uint32_t channels = qn__convolve_channels(node);
        desc.bias = finish->bias;
        desc.bias.rank = 1;
        desc.bias.sizes[0] = finish->bias.sizes[channels];
        desc.bias.strides[0] = finish->bias.strides[channels];
    }
    return qn_kernels_convolve(tensors->kernels, tensors->stream, &desc);
}

qn_status qn__convolve_input_run(qn_tensors *tensors, const qn__node *node, const qn_array *sources,
                                 const qn_array *results) {
    return qn_kernels_convolve_backward_input(
        tensors->kernels, tensors->stream,
        &(qn_convolve_backward_input_desc){
            .gradient = sources[0], .weights = sources[1], .to = result_of(node, results), PARAMETERS(node)});
}

qn_status qn__convolve_weights_run(qn_tensors *tensors, const qn__node *node, const qn_array *sources,
                                   const qn_array *results) {
    return qn_kernels_convolve_backward_weights(
        tensors->kernels, tensors->stream,
        &(qn_convolve_backward_weights_desc){
            .gradient = sources[0], .from = sources[1], .to = results[0], PARAMETERS(node)});
}

enum { LEAST_TOGETHER = 16 /* channels that the library's own kernels for it begin with */ };

/* Whether images lie with their channels together. */
static bool lies_together(qn__node *images) {
    const qn_array a = qn__call_source(images).array;
    return a.sizes[1] > 1 && a.sizes[2] * a.sizes[3] > 1 && a.strides[1] == 1;
}

/* Whether resulting images shall: where it is computed so, and where the images that are given do. */
static bool puts_together(qn__op op, const qn_tensor *images, const uint64_t *sizes,
                          const qn__attributes *like) {
    const qn_tensors *tensors = images->owner;
    if (op == QN__OP_CONVOLVE_WEIGHTS || qn__tensors_on_processor(tensors)) return false;
    const bool is_half = images->node->type == QN_F16 || images->node->type == QN_BF16;
    if (is_half && (tensors->info.capabilities & QN_CAN_COPY_TILES) && like->integers[GROUPS] == 1 &&
        sizes[1] >= LEAST_TOGETHER)
        return true;
    return lies_together(images->node);
}

/* A call of two tensors of one type; `like`: whose attributes it has. Sizes fit already. */
static qn_tensor *call(qn__op op, qn_tensor *a, qn_tensor *b, const uint64_t *sizes,
                       const qn__attributes *like) {
    if (a->status || b->status) return a->status ? a : b;
    qn__node *const sources[] = {a->node, b->node};
    const bool together = puts_together(op, a, sizes, like);
    uint64_t own[4];
    memcpy(own, sizes, sizeof own);
    if (together) qn__channels_order(own);
    qn__node *node = qn__call_node(a->owner, op, (qn_element)a->node->type, 4, own, sources, 2);
    if (node) node->attributes = *like;
    if (node) node->attributes.integers[TOGETHER] = together;
    return qn__handle(a->owner, together ? qn__channels_view(node) : node);
}

/* The gradient by what a call gave, in the usual order. */
static qn_tensor *usual_gradient(const qn__backward *b) {
    if (!b->node->attributes.integers[TOGETHER]) return b->gradient;
    qn__node_retain(b->gradient->node);
    return qn__handle(b->tensors, qn__channels_view(b->gradient->node));
}

/* ---- gradients ---- */

void qn__convolve_gradient(qn__backward *b) {
    const qn__node *n = b->node;
    const qn__attributes *like = &n->attributes;
    qn_tensor *gradient = usual_gradient(b);
    if (qn__wants_gradient(b, 0))
        b->given[0] = call(QN__OP_CONVOLVE_INPUT, gradient, b->sources[1], n->sources[0]->sizes, like);
    if (qn__wants_gradient(b, 1))
        b->given[1] = call(QN__OP_CONVOLVE_WEIGHTS, gradient, b->sources[0], n->sources[1]->sizes, like);
}

void qn__convolve_input_gradient(qn__backward *b) {
    const qn__node *n = b->node;
    const qn__attributes *like = &n->attributes;
    qn_tensor *gradient = usual_gradient(b);
    if (qn__wants_gradient(b, 0))
        b->given[0] = call(QN__OP_CONVOLVE, gradient, b->sources[1], n->sources[0]->sizes, like);
    if (qn__wants_gradient(b, 1))
        b->given[1] = call(QN__OP_CONVOLVE_WEIGHTS, b->sources[0], gradient, n->sources[1]->sizes, like);
}

void qn__convolve_weights_gradient(qn__backward *b) {
    const qn__node *n = b->node;
    const qn__attributes *like = &n->attributes;
    qn_tensor *gradient = usual_gradient(b);
    if (qn__wants_gradient(b, 0))
        b->given[0] = call(QN__OP_CONVOLVE, b->sources[1], gradient, n->sources[0]->sizes, like);
    if (qn__wants_gradient(b, 1))
        b->given[1] = call(QN__OP_CONVOLVE_INPUT, b->sources[0], gradient, n->sources[1]->sizes, like);
}

/* ---- what is asked for ---- */

typedef struct problem {
    qn_tensors *tensors;
    const char *function;
    qn_convolution_desc desc; /* defaults filled in */
    uint32_t dimensions;      /* of an image */
} problem;

static uint32_t or_one(uint32_t x) { return x ? x : 1; }

/* The sizes and types that both kinds of convolution want. */
static qn_tensor *begin(problem *p, qn_tensor **x, qn_tensor **weights, qn_tensor *bias,
                        const qn_convolution_desc *desc) {
    qn_tensor *const given[] = {*x, *weights, bias};
    qn_tensor *wrong = qn__refuse(p->function, given, bias ? 3 : 2, &p->tensors);
    if (wrong) return wrong;
    const qn__node *image = (*x)->node, *w = (*weights)->node;
    if (image->rank < 3 || image->rank > 5 || w->rank != image->rank)
        return qn__failed(p->tensors, p->function, QN_ERROR_ARGUMENT,
                          "images of %s and weights of %s: both have images, or outputs, channels, and one "
                          "to three further dimensions",
                          qn__describe(image).text, qn__describe(w).text);
    p->dimensions = image->rank - 2;
    if (desc) p->desc = *desc;
    p->desc.groups = or_one(p->desc.groups);
    for (uint32_t d = 0; d < p->dimensions; d++) {
        p->desc.stride[d] = or_one(p->desc.stride[d]);
        p->desc.dilation[d] = or_one(p->desc.dilation[d]);
    }
    const qn_element type = qn__common_type((qn_element)image->type, (qn_element)w->type);
    if (type == QN_ELEMENT_COUNT || !qn__is_float(type))
        return qn__failed(p->tensors, p->function, QN_ERROR_ARGUMENT,
                          "images of %s and weights of %s: it is of floats", qn__describe(image).text,
                          qn__describe(w).text);
    *x = qn_cast(*x, type);
    *weights = qn_cast(*weights, type);
    return NULL;
}

/* Of one dimension: rows of size 1 are put before it. */
static qn_tensor *as_image(const problem *p, qn_tensor *x) {
    return p->dimensions == 1 ? qn_unsqueeze(x, 2) : x;
}

/* Attributes of a call for the last two dimensions. */
static qn__attributes attributes_of(const problem *p) {
    qn__attributes a = {.axes = 0};
    a.integers[GROUPS] = p->desc.groups;
    for (uint32_t k = 0; k < 2; k++) {
        const bool is_there = p->dimensions + k >= 2;
        const uint32_t d = is_there ? p->dimensions + k - 2 : 0;
        a.integers[STRIDE + k] = is_there ? p->desc.stride[d] : 1;
        a.integers[PADDING + k] = is_there ? p->desc.padding[d] : 0;
        a.integers[DILATION + k] = is_there ? p->desc.dilation[d] : 1;
    }
    return a;
}

static qn_tensor *add_bias(qn_tensor *y, qn_tensor *bias) {
    if (!bias || y->status) return y;
    qn_shape shape = {y->node->rank - 1, {qn_tensor_count(bias), 1, 1, 1}};
    return qn_add(y, qn_reshape(bias, shape));
}

/* How far the taps of a dimension reach. */
static uint64_t reach(const problem *p, uint32_t d, uint64_t taps) {
    return taps ? (taps - 1) * p->desc.dilation[d] + 1 : 0;
}

/* ---- convolution ---- */

/* The size that dimension d has after; false: no window fits. */
static bool size_after(const problem *p, uint32_t d, uint64_t size, uint64_t taps, uint64_t *after) {
    const uint64_t padded = size + 2 * (uint64_t)p->desc.padding[d], window = reach(p, d, taps);
    if (!taps || padded < window) return false;
    *after = (padded - window) / p->desc.stride[d] + 1;
    return true;
}

static qn_tensor *check_forward(const problem *p, const qn__node *x, const qn__node *w, const qn_tensor *bias,
                                uint64_t *after) {
    const uint64_t groups = p->desc.groups;
    if (w->sizes[1] * groups != x->sizes[1] || w->sizes[0] % groups)
        return qn__failed(p->tensors, p->function, QN_ERROR_ARGUMENT,
                          "weights of %s do not go with images of %s in %u groups: they have outputs, a "
                          "multiple of the groups, and channels / groups",
                          qn__describe(w).text, qn__describe(x).text, (unsigned)groups);
    if (bias && (bias->node->rank != 1 || bias->node->sizes[0] != w->sizes[0]))
        return qn__failed(p->tensors, p->function, QN_ERROR_ARGUMENT, "a bias of %s for %llu outputs",
                          qn__describe(bias->node).text, (unsigned long long)w->sizes[0]);
    for (uint32_t d = 0; d < p->dimensions; d++)
        if (!size_after(p, d, x->sizes[d + 2], w->sizes[d + 2], &after[d]))
            return qn__failed(p->tensors, p->function, QN_ERROR_ARGUMENT,
                              "dimension %u: a window of %llu does not fit into %llu with a padding of %u",
                              (unsigned)d + 2, (unsigned long long)reach(p, d, w->sizes[d + 2]),
                              (unsigned long long)x->sizes[d + 2], (unsigned)p->desc.padding[d]);
    return NULL;
}

static qn_tensor *plane(const problem *p, qn_tensor *x, qn_tensor *weights, uint64_t rows, uint64_t columns) {
    if (x->status || weights->status) return x->status ? x : weights;
    const qn__attributes a = attributes_of(p);
    const uint64_t sizes[] = {x->node->sizes[0], weights->node->sizes[0], rows, columns};
    return call(QN__OP_CONVOLVE, x, weights, sizes, &a);
}

/* The sum over the taps of the first dimension, for each of which images along it are images on their own. */
static qn_tensor *volume(const problem *p, qn_tensor *x, qn_tensor *weights, const uint64_t *after) {
    const uint64_t taps = weights->node->sizes[2], outputs = weights->node->sizes[0],
                   images = x->node->sizes[0];
    const int64_t stride = p->desc.stride[0];
    qn_tensor *padded = p->desc.padding[0] ? qn_pad(x, 2, p->desc.padding[0], p->desc.padding[0], 0) : x,
              *sum = NULL;
    for (uint64_t t = 0; t < taps; t++) {
        const int64_t first = (int64_t)(t * p->desc.dilation[0]);
        qn_tensor *seen = qn_slice(padded, 2, first, first + stride * ((int64_t)after[0] - 1) + 1, stride);
        qn_tensor *flat = qn_flatten(qn_permute(seen, QN_AXES(0, 2, 1, 3, 4)), 0, 1);
        qn_tensor *tap = qn_squeeze(qn_slice(weights, 2, (int64_t)t, (int64_t)t + 1, 1), QN_AXES(2));
        qn_tensor *part = plane(p, flat, tap, after[1], after[2]);
        sum = sum ? qn_add(sum, part) : part;
    }
    qn_tensor *y = qn_reshape(sum, QN_SHAPE(images, after[0], outputs, after[1], after[2]));
    return qn_permute(y, QN_AXES(0, 2, 1, 3, 4));
}

qn_tensor *qn_convolution(qn_tensor *x, qn_tensor *weights, qn_tensor *bias,
                          const qn_convolution_desc *desc) {
    problem p = {.function = "qn_convolution"};
    uint64_t after[3] = {0};
    qn_tensor *wrong = begin(&p, &x, &weights, bias, desc);
    if (!wrong) wrong = check_forward(&p, x->node, weights->node, bias, after);
    if (wrong) return wrong;
    qn_tensor *y;
    if (p.dimensions == 3)
        y = volume(&p, x, weights, after);
    else if (p.dimensions == 2)
        y = plane(&p, x, weights, after[0], after[1]);
    else
        y = qn_squeeze(plane(&p, as_image(&p, x), as_image(&p, weights), 1, after[0]), QN_AXES(2));
    return add_bias(y, bias);
}

/* ---- its transpose ---- */

/* The sizes of the result, and that weights go with the images. */
static qn_tensor *check_transposed(const problem *p, const qn__node *in, const qn__node *w, uint64_t *sizes) {
    if (w->sizes[0] != in->sizes[1] || in->sizes[1] % p->desc.groups)
        return qn__failed(p->tensors, p->function, QN_ERROR_ARGUMENT,
                          "weights of %s do not go with images of %s in %u groups: they have channels, a "
                          "multiple of the groups, and outputs / groups",
                          qn__describe(w).text, qn__describe(in).text, (unsigned)p->desc.groups);
    sizes[0] = in->sizes[0];
    sizes[1] = w->sizes[1] * p->desc.groups;
    for (uint32_t d = 0; d < p->dimensions; d++) {
        const uint64_t whole =
            in->sizes[d + 2] ? (in->sizes[d + 2] - 1) * p->desc.stride[d] + reach(p, d, w->sizes[d + 2]) : 0;
        const uint64_t cut = 2 * (uint64_t)p->desc.padding[d];
        if (!w->sizes[d + 2] || whole + p->desc.further[d] <= cut || p->desc.further[d] >= p->desc.stride[d])
            return qn__failed(p->tensors, p->function, QN_ERROR_ARGUMENT,
                              "dimension %u: %llu with a padding of %u and %u further is no size; fewer are "
                              "further than the stride, %u",
                              (unsigned)d + 2, (unsigned long long)whole, (unsigned)p->desc.padding[d],
                              (unsigned)p->desc.further[d], (unsigned)p->desc.stride[d]);
        sizes[d + 2] = whole - cut + p->desc.further[d];
    }
    return NULL;
}

/* What one tap of the first dimension gives to images that are `whole` long along it, before padding is cut off: images along it are
   transposed on their own, and come to lie a stride apart. */
static qn_tensor *spread_tap(const problem *p, qn_tensor *flat, qn_tensor *tap, const uint64_t *from,
                             const uint64_t *sizes, uint64_t before, uint64_t whole) {
    const qn__attributes a = attributes_of(p);
    const uint64_t stride = p->desc.stride[0], planes = from[2], reach = (planes - 1) * stride + 1;
    const uint64_t each[] = {from[0] * planes, sizes[1], sizes[3], sizes[4]};
    qn_tensor *y = qn_reshape(call(QN__OP_CONVOLVE_INPUT, flat, tap, each, &a),
                              QN_SHAPE(from[0], planes, sizes[1], sizes[3], sizes[4]));
    y = qn_permute(y, QN_AXES(0, 2, 1, 3, 4));
    if (stride > 1) {
        y = qn_flatten(qn_pad(qn_unsqueeze(y, 3), 3, 0, stride - 1, 0), 2, 3);
        y = qn_slice(y, 2, 0, (int64_t)reach, 1);
    }
    return qn_pad(y, 2, before, whole - before - reach, 0);
}

static qn_tensor *transposed_volume(const problem *p, qn_tensor *x, qn_tensor *weights,
                                    const uint64_t *sizes) {
    const uint64_t *from = x->node->sizes, padding = p->desc.padding[0], whole = sizes[2] + 2 * padding;
    qn_tensor *flat = qn_flatten(qn_permute(x, QN_AXES(0, 2, 1, 3, 4)), 0, 1), *sum = NULL;
    for (uint64_t t = 0; t < weights->node->sizes[2]; t++) {
        qn_tensor *tap = qn_squeeze(qn_slice(weights, 2, (int64_t)t, (int64_t)t + 1, 1), QN_AXES(2));
        qn_tensor *part = spread_tap(p, flat, tap, from, sizes, t * p->desc.dilation[0], whole);
        sum = sum ? qn_add(sum, part) : part;
    }
    return padding ? qn_slice(sum, 2, (int64_t)padding, (int64_t)(padding + sizes[2]), 1) : sum;
}

qn_tensor *qn_transposed_convolution(qn_tensor *x, qn_tensor *weights, qn_tensor *bias,
                                     const qn_convolution_desc *desc) {
    problem p = {.function = "qn_transposed_convolution"};
    uint64_t sizes[5] = {0};
    qn_tensor *wrong = begin(&p, &x, &weights, bias, desc);
    if (!wrong) wrong = check_transposed(&p, x->node, weights->node, sizes);
    if (wrong) return wrong;
    if (p.dimensions == 3) return add_bias(transposed_volume(&p, x, weights, sizes), bias);
    const qn__attributes a = attributes_of(&p);
    const uint64_t plane[] = {sizes[0], sizes[1], p.dimensions == 1 ? 1 : sizes[2], sizes[p.dimensions + 1]};
    qn_tensor *y = call(QN__OP_CONVOLVE_INPUT, as_image(&p, x), as_image(&p, weights), plane, &a);
    return add_bias(p.dimensions == 1 ? qn_squeeze(y, QN_AXES(2)) : y, bias);
}
