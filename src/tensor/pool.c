/* Pooling. The largest of windows that overlap is a call of kernels.h, which notes the element that each window chose for the gradient; of windows that lie
   side by side, and means, slices are joined, which goes into the kernels around them. */
#include <math.h>
#include <string.h>

#include "tensor/calls.h"
#include "tensor/plan.h"

enum { DIMENSIONS = 3 };

/* The windows along a dimension. */
typedef struct side {
    uint64_t window, stride, padding, count;
} side;

/* ---- the calls ---- */

/* Where an op's integers are. LOGGED: the call's own result is which elements were chosen; TOGETHER: the node's images have channels last. */
enum { WINDOW = 0, STRIDE = 2, PADDING = 4, LOGGED = 6, TOGETHER = 7 };

#define PAIR(node, at)                                                                                       \
    { (uint32_t)(node)->attributes.integers[at], (uint32_t)(node)->attributes.integers[(at) + 1] }
#define PARAMETERS(node)                                                                                     \
    .window = PAIR(node, WINDOW), .stride = PAIR(node, STRIDE), .padding = PAIR(node, PADDING)

/* Images in the usual order; qn_vmap's batch may come before them. */
static qn_array usual(const qn__node *node, const qn_array *array) {
    if (!node->attributes.integers[TOGETHER] || !array->buffer) return *array;
    uint32_t order[QN_MAX_RANK];
    const uint32_t rank = array->rank;
    for (uint32_t d = 0; d < rank; d++) order[d] = d;
    order[rank - 3] = rank - 1;
    order[rank - 2] = rank - 3;
    order[rank - 1] = rank - 2;
    return qn_array_permute(*array, order);
}

qn_status qn__max_pool_run(qn_tensors *tensors, const qn__node *node, const qn_array *sources,
                           const qn_array *results) {
    const bool logged = node->attributes.integers[LOGGED] != 0;
    qn_max_pool_desc desc = {.from = sources[0], .to = usual(node, &results[logged]), PARAMETERS(node)};
    if (logged) desc.taps = usual(node, &results[0]);
    return qn_kernels_max_pool(tensors->kernels, tensors->stream, &desc);
}

qn_status qn__max_pool_backward_run(qn_tensors *tensors, const qn__node *node, const qn_array *sources,
                                    const qn_array *results) {
    const qn_max_pool_backward_desc desc = {.gradient = usual(node, &sources[0]),
                                            .taps = usual(node, &sources[1]),
                                            .to = usual(node, &results[0]),
                                            PARAMETERS(node)};
    return qn_kernels_max_pool_backward(tensors->kernels, tensors->stream, &desc);
}

static bool is_tracked(const qn_tensor *x) { return x->node->needs_gradient && !x->owner->no_gradient; }

static qn_tensor *by_kernel(qn_tensor *x, const side *sides) {
    const qn__node *from = x->node;
    const bool logged = is_tracked(x);
    const uint32_t rank = from->rank;
    const qn_element type = (qn_element)from->type;
    const bool together = qn__channels_below(from) && !x->owner->tracing;
    uint64_t sizes[QN_MAX_RANK];
    memcpy(sizes, from->sizes, sizeof sizes);
    for (uint32_t i = 0; i < 2; i++) sizes[rank - 2 + i] = sides[i].count;
    if (together) qn__channels_order(sizes);
    qn__node *call =
        qn__call_node(x->owner, QN__OP_MAX_POOL, logged ? QN_U8 : type, rank, sizes, &x->node, 1);
    for (uint32_t i = 0; call && i < 2; i++) {
        call->attributes.integers[WINDOW + i] = (int64_t)sides[i].window;
        call->attributes.integers[STRIDE + i] = (int64_t)sides[i].stride;
        call->attributes.integers[PADDING + i] = (int64_t)sides[i].padding;
    }
    qn__node *largest = call;
    if (call) call->attributes.integers[TOGETHER] = together;
    if (call && logged) {
        call->attributes.integers[LOGGED] = 1;
        largest = qn__part_node(call, 1, type, rank, sizes);
        qn__node_release(call);
    }
    return qn__handle(x->owner, together ? qn__channels_view(largest) : largest);
}

void qn__max_pool_gradient(qn__backward *b) {
    const qn__node *n = b->node, *from = n->sources[0];
    qn__node *const sources[] = {b->gradient->node, b->value->node};
    const bool together = n->attributes.integers[TOGETHER] != 0;
    uint64_t sizes[QN_MAX_RANK];
    memcpy(sizes, from->sizes, sizeof sizes);
    if (together) qn__channels_order(sizes);
    qn__node *call = qn__call_node(b->tensors, QN__OP_MAX_POOL_BACKWARD, (qn_element)b->gradient->node->type,
                                   from->rank, sizes, sources, 2);
    if (call) call->attributes = n->attributes;
    b->given[0] = qn__handle(b->tensors, together ? qn__channels_view(call) : call);
}

/* The place of a window's first element along a dimension, for windows in a row or a column. */
static qn_tensor *firsts_along(const qn__node *n, uint32_t i, uint64_t count) {
    qn_tensor *first = qn_multiply(qn__index_tensor(n->owner, count), n->attributes.integers[STRIDE + i]);
    first = qn_subtract(first, n->attributes.integers[PADDING + i]);
    return i == 0 ? qn_unsqueeze(first, 1) : first;
}

/* A node's images in the usual order. */
static qn_tensor *usual_images(const qn__node *n, qn_tensor *x) {
    if (!n->attributes.integers[TOGETHER]) return x;
    qn__node_retain(x->node);
    return qn__handle(n->owner, qn__channels_view(x->node));
}

/* Of a gradient by the elements each window gets that of the one that it chose. */
void qn__max_pool_backward_gradient(qn__backward *b) {
    const qn__node *n = b->node;
    qn_tensor *tap = qn_cast(usual_images(n, b->sources[1]), QN_I64), *g = usual_images(n, b->gradient);
    if (tap->status || g->status) return;
    const uint32_t rank = n->rank;
    const uint64_t *windows = tap->node->sizes;
    const int64_t columns = (int64_t)g->node->sizes[rank - 1], taps = n->attributes.integers[WINDOW + 1];
    qn_tensor *row = qn_add(firsts_along(n, 0, windows[rank - 2]), qn_floor_divide(tap, taps)),
              *column = qn_add(firsts_along(n, 1, windows[rank - 1]), qn_remainder(tap, taps));
    qn_tensor *place = qn_flatten(qn_add(qn_multiply(row, columns), column), -2, -1);
    qn_tensor *chosen = qn_take_along_axis(qn_flatten(g, -2, -1), place, -1);
    chosen = qn_reshape(chosen, qn_tensor_shape(tap));
    b->given[0] = n->attributes.integers[TOGETHER] ? qn_permute(chosen, QN_AXES(0, 2, 3, 1)) : chosen;
}

/* ---- slices ---- */

typedef qn_tensor *join(qn_tensor *a, qn_tensor *b);
static qn_tensor *larger(qn_tensor *a, qn_tensor *b) { return qn_maximum(a, b); }
static qn_tensor *total(qn_tensor *a, qn_tensor *b) { return qn_add(a, b); }

/* An axis as two, of windows that lie side by side and of their elements. */
static qn_tensor *windows_of(qn_tensor *x, int32_t axis, uint64_t window) {
    const qn_shape all = qn_tensor_shape(x);
    qn_shape apart = {.rank = all.rank + 1};
    for (uint32_t d = 0; d < all.rank; d++) apart.sizes[d + (d > (uint32_t)axis)] = all.sizes[d];
    apart.sizes[axis] = all.sizes[axis] / window;
    apart.sizes[axis + 1] = window;
    return qn_reshape(x, apart);
}

static bool are_apart(const side *s, uint64_t size) {
    return s->stride == s->window && !s->padding && size == s->count * s->window;
}

static bool are_side_by_side(const qn_tensor *x, int32_t axis, const side *s) {
    return s->window > 1 && s->stride == s->window && x->node->sizes[axis] == s->count * s->window;
}

/* What joins all elements of a window along an axis: a slice for each, all in one kernel. */
static qn_tensor *along(qn_tensor *x, int32_t axis, const side *s, double outside, join *both) {
    if (s->padding) x = qn_pad(x, axis, s->padding, s->padding, outside);
    if (x->status) return x;
    qn_tensor *all = NULL, *windows = NULL;
    if (are_side_by_side(x, axis, s)) windows = windows_of(x, axis, s->window);
    for (uint64_t tap = 0; tap < s->window; tap++) {
        qn_tensor *one = windows
                             ? qn_squeeze(qn_slice(windows, axis + 1, (int64_t)tap, (int64_t)tap + 1, 1),
                                          QN_AXES(axis + 1))
                             : qn_slice(x, axis, (int64_t)tap,
                                        (int64_t)(tap + (s->count - 1) * s->stride + 1), (int64_t)s->stride);
        all = all ? both(all, one) : one;
    }
    return all;
}

/* ---- what is asked for ---- */

static qn_tensor *check(const char *function, qn_tensor *x, const qn_pool_desc *desc, side *sides) {
    qn_tensors *tensors;
    qn_tensor *wrong = qn__refuse(function, &x, 1, &tensors);
    if (wrong) return wrong;
    const uint32_t rank = x->node->rank;
    if (rank < 3 || rank > 2 + DIMENSIONS || !desc)
        return qn__failed(
            tensors, function, QN_ERROR_ARGUMENT,
            "images of %s: they have images, channels, and one to three further dimensions, and a descriptor",
            qn__describe(x->node).text);
    if (!qn__is_float((qn_element)x->node->type))
        return qn__failed(tensors, function, QN_ERROR_ARGUMENT, "images of %s: it is of floats",
                          qn__describe(x->node).text);
    for (uint32_t d = 0; d + 2 < rank; d++) {
        side *s = &sides[d];
        const uint64_t size = x->node->sizes[d + 2];
        *s =
            (side){desc->window[d], desc->stride[d] ? desc->stride[d] : desc->window[d], desc->padding[d], 0};
        if (!size || !s->window || size + 2 * s->padding < s->window || s->padding >= s->window)
            return qn__failed(tensors, function, QN_ERROR_ARGUMENT,
                              "dimension %u: a window of %llu for %llu elements with a padding of %llu",
                              (unsigned)d + 2, (unsigned long long)s->window, (unsigned long long)size,
                              (unsigned long long)s->padding);
        s->count = (size + 2 * s->padding - s->window) / s->stride + 1;
    }
    return NULL;
}

/* Windows of more elements are joined faster one dimension after the other; on processors all of which nobody asks what they chose. */
enum { MOST_AT_ONCE = 64 };

static bool goes_at_once(const qn_tensor *x, const side *last) {
    const uint64_t elements = last[0].window * last[1].window;
    return elements <= MOST_AT_ONCE && (is_tracked(x) || !qn__tensors_on_processor(x->owner));
}

qn_tensor *qn_max_pool(qn_tensor *x, const qn_pool_desc *desc) {
    side sides[DIMENSIONS];
    qn_tensor *wrong = check("qn_max_pool", x, desc, sides);
    if (wrong) return wrong;
    const uint32_t dimensions = x->node->rank - 2;
    const uint64_t *sizes = x->node->sizes + 2;
    side last[2] = {{1, 1, 0, 1}, sides[dimensions - 1]};
    if (dimensions > 1) last[0] = sides[dimensions - 2];
    const bool apart = are_apart(&last[1], sizes[dimensions - 1]) &&
                       (dimensions == 1 || are_apart(&last[0], sizes[dimensions - 2]));
    const bool at_once = !apart && goes_at_once(x, last);
    const uint32_t joined = !at_once ? dimensions : dimensions == 3;
    for (uint32_t d = 0; d < joined; d++) x = along(x, (int32_t)d + 2, &sides[d], -INFINITY, larger);
    if (!at_once || x->status) return x;
    if (dimensions > 1) return by_kernel(x, last);
    x = qn_unsqueeze(x, 2);
    return x->status ? x : qn_squeeze(by_kernel(x, last), QN_AXES(2));
}

qn_tensor *qn_average_pool(qn_tensor *x, const qn_pool_desc *desc) {
    side sides[DIMENSIONS];
    qn_tensor *wrong = check("qn_average_pool", x, desc, sides);
    if (wrong) return wrong;
    const uint32_t dimensions = x->node->rank - 2;
    uint64_t elements = 1;
    for (uint32_t d = 0; d < dimensions; d++) {
        x = along(x, (int32_t)d + 2, &sides[d], 0, total);
        elements *= sides[d].window;
    }
    return qn_divide(x, (double)elements);
}
