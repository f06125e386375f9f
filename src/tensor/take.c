/* Elements and slices that indices name: taken, written, added. Slices are a call of kernels.h each; single elements are slices of the
   flattened tensor, whose places are computed by maps. */
#include <string.h>

#include "tensor/calls.h"

/* Where an op's integers are. */
enum { DIMENSION, ADDS };

qn_status qn__take_run(qn_tensors *tensors, const qn__node *node, const qn_array *sources,
                       const qn_array *results) {
    return qn_kernels_gather(tensors->kernels, tensors->stream,
                             &(qn_gather_desc){.from = sources[0],
                                               .indices = sources[1],
                                               .to = results[0],
                                               .dimension = (uint32_t)node->attributes.integers[DIMENSION]});
}

/* Sources: slices, indices, and what they go into, if it is not zeros. */
qn_status qn__scatter_run(qn_tensors *tensors, const qn__node *node, const qn_array *sources,
                          const qn_array *results) {
    const qn_array *to = &results[0];
    qn_status status = node->num_sources > 2
                           ? qn_kernels_copy(tensors->kernels, tensors->stream,
                                             &(qn_copy_desc){.to = *to, .from = sources[2]})
                           : qn_kernels_fill(tensors->kernels, tensors->stream, &(qn_fill_desc){.to = *to});
    if (status || !qn_array_count(&sources[0])) return status;
    const bool add = node->attributes.integers[ADDS] != 0;
    return qn_kernels_scatter(tensors->kernels, tensors->stream,
                              &(qn_scatter_desc){.from = sources[0],
                                                 .indices = sources[1],
                                                 .to = *to,
                                                 .dimension = (uint32_t)node->attributes.integers[DIMENSION],
                                                 .add = add,
                                                 .deterministic = !add});
}

/* ---- checks ---- */

static bool is_whole(qn_element type) { return !qn__is_float(type) && type != QN_BOOL; }

/* The tensors of `function`, and the dimension that `axis` names of the first. The second is of indices: they become what calls take. */
static qn_tensor *check(const char *function, qn_tensor **operands, uint32_t count, int32_t axis,
                        qn_tensors **tensors, uint32_t *d) {
    qn_tensor *wrong = qn__refuse(function, operands, count, tensors);
    if (wrong) return wrong;
    const qn__node *x = operands[0]->node, *indices = operands[1]->node;
    if (!qn__axis(axis, x->rank, d))
        return qn__failed(*tensors, function, QN_ERROR_ARGUMENT, "%s has no axis %d", qn__describe(x).text,
                          (int)axis);
    if (!is_whole((qn_element)indices->type))
        return qn__failed(*tensors, function, QN_ERROR_ARGUMENT, "the indices are %s: of no integer type",
                          qn__describe(indices).text);
    if (qn_element_size((qn_element)indices->type) < 4) operands[1] = qn_cast(operands[1], QN_I32);
    return operands[1]->status ? operands[1] : NULL;
}

/* x's sizes with those of the indices in place of dimension d; false: there are too many. */
static bool chosen_shape(const qn__node *x, const qn__node *indices, uint32_t d, qn_shape *out) {
    *out = (qn_shape){.rank = x->rank - 1u + indices->rank};
    if (out->rank > QN_MAX_RANK) return false;
    uint64_t *at = out->sizes;
    for (uint32_t i = 0; i < d; i++) *at++ = x->sizes[i];
    for (uint32_t i = 0; i < indices->rank; i++) *at++ = indices->sizes[i];
    for (uint32_t i = d + 1; i < x->rank; i++) *at++ = x->sizes[i];
    return true;
}

static qn_tensor *too_many(qn_tensors *tensors, const char *function, const qn__node *x,
                           const qn__node *indices) {
    return qn__failed(tensors, function, QN_ERROR_ARGUMENT, "%s and indices %s make more than %u dimensions",
                      qn__describe(x).text, qn__describe(indices).text, (unsigned)QN_MAX_RANK);
}

/* ---- slices ---- */

qn_tensor *qn_take(qn_tensor *x, qn_tensor *indices, int32_t axis) {
    static const char function[] = "qn_take";
    qn_tensors *tensors;
    qn_tensor *operands[] = {x, indices};
    qn_shape shape;
    uint32_t d;
    qn_tensor *wrong = check(function, operands, 2, axis, &tensors, &d);
    if (wrong) return wrong;
    if (!chosen_shape(x->node, indices->node, d, &shape))
        return too_many(tensors, function, x->node, indices->node);
    qn__node *const sources[] = {x->node, operands[1]->node};
    qn__node *node =
        qn__call_node(tensors, QN__OP_TAKE, (qn_element)x->node->type, shape.rank, shape.sizes, sources, 2);
    if (node) node->attributes.integers[DIMENSION] = d;
    return qn__handle(tensors, node);
}

static qn_tensor *scatter_node(qn_tensors *tensors, qn__node *const *sources, uint32_t count, qn_shape shape,
                               uint32_t d, bool add) {
    qn__node *node = qn__call_node(tensors, QN__OP_SCATTER, (qn_element)sources[0]->type, shape.rank,
                                   shape.sizes, sources, count);
    if (!node) return qn__handle(tensors, NULL);
    node->attributes.integers[DIMENSION] = d;
    node->attributes.integers[ADDS] = add;
    return qn__handle(tensors, node);
}

static qn_tensor *scatter(const char *function, qn_tensor *x, qn_tensor *indices, qn_tensor *values,
                          int32_t axis, bool add) {
    qn_tensors *tensors;
    qn_tensor *operands[] = {x, indices, values};
    qn_shape chosen;
    uint32_t d;
    qn_tensor *wrong = check(function, operands, 3, axis, &tensors, &d);
    if (wrong) return wrong;
    if (add && x->node->type == QN_BOOL)
        return qn__failed(tensors, function, QN_ERROR_ARGUMENT, "%s cannot be added to; cast it (qn_cast)",
                          qn__describe(x->node).text);
    if (!chosen_shape(x->node, indices->node, d, &chosen))
        return too_many(tensors, function, x->node, indices->node);
    qn_tensor *slices = qn_broadcast_to(qn_cast(values, (qn_element)x->node->type), chosen);
    if (slices->status)
        return qn__failed(tensors, function, QN_ERROR_ARGUMENT, "the values %s do not fit %s, what is chosen",
                          qn__describe(values->node).text, qn__shape_of(chosen.rank, chosen.sizes).text);
    return scatter_node(tensors, (qn__node *[]){slices->node, operands[1]->node, x->node}, 3,
                        qn_tensor_shape(x), d, add);
}

qn_tensor *qn_scatter(qn_tensor *x, qn_tensor *indices, qn_tensor *values, int32_t axis) {
    return scatter("qn_scatter", x, indices, values, axis, false);
}
qn_tensor *qn_scatter_add(qn_tensor *x, qn_tensor *indices, qn_tensor *values, int32_t axis) {
    return scatter("qn_scatter_add", x, indices, values, axis, true);
}

/* ---- gradients of slices ---- */

/* Slices that are taken several times get the sum of what comes back. */
void qn__take_gradient(qn__backward *b) {
    const qn__node *x = b->node->sources[0];
    qn_shape shape = {.rank = x->rank};
    memcpy(shape.sizes, x->sizes, sizeof shape.sizes);
    qn__node *const sources[] = {b->gradient->node, b->sources[1]->node};
    if (!qn__wants_gradient(b, 0)) return;
    b->given[0] = b->gradient->status ? b->gradient
                                      : scatter_node(b->tensors, sources, 2, shape,
                                                     (uint32_t)b->node->attributes.integers[DIMENSION], true);
}

/* Whether each index is the last of those that name the same slice, with a size of 1 for each dimension of slices behind d. */
static qn_tensor *is_last(qn_tensor *indices, uint64_t size, uint32_t behind) {
    qn_tensors *tensors = indices->owner;
    qn_tensor *flat = qn_reshape(indices, QN_SHAPE(QN_REST));
    qn_tensor *order = qn__index_tensor(tensors, qn_tensor_count(indices));
    qn_tensor *last = qn_scatter(qn_zeros(tensors, QN_I64, (qn_shape){1, {size}}), flat, order, 0);
    qn_shape shape = qn_tensor_shape(indices);
    for (uint32_t i = 0; i < behind; i++) shape.sizes[shape.rank++] = 1;
    return qn_reshape(qn_equal(qn_take(last, flat, 0), order), shape);
}

/* Of slices that are written to one place, only that which is left counts. */
void qn__scatter_gradient(qn__backward *b) {
    const int32_t d = (int32_t)b->node->attributes.integers[DIMENSION];
    const bool add = b->node->attributes.integers[ADDS] != 0;
    qn_tensor *g = b->gradient, *indices = b->sources[1];
    if (qn__wants_gradient(b, 0)) {
        qn_tensor *taken = qn_take(g, indices, d);
        const uint32_t behind = b->node->rank - 1u - (uint32_t)d;
        b->given[0] = add ? taken : qn_where(is_last(indices, b->node->sizes[d], behind), taken, 0);
    }
    if (b->node->num_sources > 2 && qn__wants_gradient(b, 2)) {
        qn_tensor *nothing = qn_zeros(b->tensors, qn_tensor_type(g), QN_SCALAR);
        b->given[2] = add ? g : qn_scatter(g, indices, nothing, d);
    }
}

/* ---- elements ---- */

/* The place of index `indices` of dimension d, times what lies between two of them; where there is none such, one that no array has. */
static qn_tensor *apart(const qn__node *x, uint32_t d, qn_tensor *indices) {
    int64_t strides[QN_MAX_RANK];
    qn__contiguous_strides(x->rank, x->sizes, strides);
    qn_tensor *place = qn_cast(indices, QN_I64);
    qn_tensor *is_there = qn_less(qn_cast(place, QN_U64), x->sizes[d]);
    return qn_where(is_there, qn_multiply(place, strides[d]), INT64_MIN / 16);
}

/* The sum of the places along the dimensions, in x as it is flattened. Places that are not there stay below 0, whatever is added. */
static qn_tensor *flat_places(qn_tensors *tensors, const qn__node *x, uint32_t d, qn_tensor *indices) {
    const qn__node *shape = indices->node;
    int64_t strides[QN_MAX_RANK];
    qn__contiguous_strides(x->rank, x->sizes, strides);
    qn_tensor *sum = apart(x, d, indices);
    for (uint32_t i = 0; i < x->rank; i++) {
        if (i == d || x->sizes[i] == 1) continue;
        qn_tensor *place = qn__handle(tensors, qn__index_node(tensors, shape->rank, shape->sizes, i));
        sum = qn_add(sum, qn_multiply(place, strides[i]));
    }
    return sum;
}

/* The indices broadcast to the sizes of x but for dimension d; a failure where they do not fit. */
static qn_tensor *spread(qn_tensors *tensors, const char *function, const qn__node *x, qn_tensor *indices,
                         uint32_t d) {
    qn_shape shape = {.rank = x->rank};
    const qn__node *own = indices->node;
    bool fits = own->rank == x->rank;
    for (uint32_t i = 0; fits && i < x->rank; i++) {
        shape.sizes[i] = i == d || x->sizes[i] == 1 ? own->sizes[i] : x->sizes[i];
        fits = own->sizes[i] == 1 || own->sizes[i] == shape.sizes[i];
    }
    return fits ? qn_broadcast_to(indices, shape)
                : qn__failed(
                      tensors, function, QN_ERROR_ARGUMENT,
                      "indices %s do not fit %s: sizes have to be the same, or 1, but for that of axis %u",
                      qn__describe(own).text, qn__describe(x).text, (unsigned)d);
}

qn_tensor *qn_take_along_axis(qn_tensor *x, qn_tensor *indices, int32_t axis) {
    static const char function[] = "qn_take_along_axis";
    qn_tensors *tensors;
    qn_tensor *operands[] = {x, indices};
    uint32_t d;
    qn_tensor *wrong = check(function, operands, 2, axis, &tensors, &d);
    if (wrong) return wrong;
    qn_tensor *all = spread(tensors, function, x->node, operands[1], d);
    if (all->status) return all;
    return qn_take(qn_reshape(x, QN_SHAPE(QN_REST)), flat_places(tensors, x->node, d, all), 0);
}

qn_tensor *qn_scatter_add_along_axis(qn_tensor *x, qn_tensor *indices, qn_tensor *values, int32_t axis) {
    static const char function[] = "qn_scatter_add_along_axis";
    qn_tensors *tensors;
    qn_tensor *operands[] = {x, indices, values};
    uint32_t d;
    qn_tensor *wrong = check(function, operands, 3, axis, &tensors, &d);
    if (wrong) return wrong;
    qn_tensor *all = spread(tensors, function, x->node, operands[1], d);
    if (all->status) return all;
    for (uint32_t i = 0; i < x->node->rank; i++)
        if (i != d && all->node->sizes[i] != x->node->sizes[i])
            return qn__failed(tensors, function, QN_ERROR_ARGUMENT, "indices %s do not fit %s along axis %u",
                              qn__describe(indices->node).text, qn__describe(x->node).text, (unsigned)i);
    qn_tensor *elements = qn_broadcast_to(values, qn_tensor_shape(all));
    qn_tensor *flat = qn_scatter_add(qn_reshape(x, QN_SHAPE(QN_REST)),
                                     qn_reshape(flat_places(tensors, x->node, d, all), QN_SHAPE(QN_REST)),
                                     qn_reshape(elements, QN_SHAPE(QN_REST)), 0);
    return qn_reshape(flat, qn_tensor_shape(x));
}

qn_tensor *qn_index(qn_tensor *x, qn_tensor *const *indices, size_t count) {
    static const char function[] = "qn_index";
    qn_tensors *tensors;
    qn_tensor *wrong = qn__refuse(function, &x, 1, &tensors);
    if (wrong) return wrong;
    if (!indices || !count || count > x->node->rank)
        return qn__failed(tensors, function, QN_ERROR_ARGUMENT, "%llu tensors of indices for %s",
                          (unsigned long long)(indices ? count : 0), qn__describe(x->node).text);
    qn_shape shape = {.rank = 1, .sizes = {1}};
    for (uint32_t i = 0; i < count; i++) shape.sizes[0] *= x->node->sizes[i];
    for (uint32_t i = (uint32_t)count; i < x->node->rank; i++) shape.sizes[shape.rank++] = x->node->sizes[i];
    qn__node first = *x->node; /* sizes of the dimensions that are indexed alone, for their strides */
    first.rank = (uint8_t)count;
    qn_tensor *sum = NULL;
    for (uint32_t i = 0; i < count; i++) {
        qn_tensor *operands[] = {x, indices[i]};
        uint32_t d;
        wrong = check(function, operands, 2, (int32_t)i, &tensors, &d);
        if (wrong) return wrong;
        qn_tensor *part = apart(&first, d, operands[1]);
        sum = sum ? qn_add(sum, part) : part;
    }
    return qn_take(qn_reshape(x, shape), sum, 0);
}

qn_tensor *qn_one_hot(qn_tensor *indices, uint64_t classes, qn_element type) {
    static const char function[] = "qn_one_hot";
    qn_tensors *tensors;
    qn_tensor *wrong = qn__refuse(function, &indices, 1, &tensors);
    if (!wrong) wrong = qn__check_type(tensors, function, type);
    if (wrong) return wrong;
    if (!is_whole((qn_element)indices->node->type))
        return qn__failed(tensors, function, QN_ERROR_ARGUMENT, "the indices are %s: of no integer type",
                          qn__describe(indices->node).text);
    qn_tensor *column = qn_unsqueeze(qn_cast(indices, QN_I64), -1);
    return qn_cast(qn_equal(column, qn__index_tensor(tensors, classes)), type);
}
