/* Elements that a condition chooses, and how many there are. Where that is the size of a result, it is known when they are counted: these functions
   wait for it. */
#include "tensor/calls.h"

qn_status qn__compact_run(qn_tensors *tensors, const qn__node *node, const qn_array *sources,
                          const qn_array *results) {
    (void)node;
    return qn_kernels_compact(
        tensors->kernels, tensors->stream,
        &(qn_compact_desc){.from = sources[0], .mask = sources[1], .to = results[0], .count = results[1]});
}

qn_status qn__unique_run(qn_tensors *tensors, const qn__node *node, const qn_array *sources,
                         const qn_array *results) {
    (void)node;
    return qn_kernels_unique(tensors->kernels, tensors->stream,
                             &(qn_unique_desc){.from = sources[0], .to = results[0], .count = results[1]});
}

/* The first elements of a call's result, as many as its result 1 says; the call's count passes over. */
static qn_tensor *counted(qn_tensors *tensors, qn__node *call) {
    if (!call) return qn__handle(tensors, NULL);
    qn__node *part = qn__part_node(call, 1, QN_I64, 1, (const uint64_t[]){1});
    qn_tensor *both[] = {qn__handle(tensors, call), qn__handle(tensors, part)};
    int64_t count = 0;
    qn_status status = qn_realize(both, 2);
    if (!status) status = qn_tensor_read(both[1], &count, sizeof count);
    return status ? qn__failed_as(tensors, status) : qn_slice(both[0], 0, 0, count, 1);
}

/* The places, in order, where a flat condition holds. */
static qn_tensor *places_of(qn_tensors *tensors, qn_tensor *condition) {
    qn_tensor *flat = qn_reshape(qn_cast(condition, QN_BOOL), QN_SHAPE(QN_REST));
    if (flat->status) return flat;
    const uint64_t count = flat->node->sizes[0];
    qn_tensor *places = qn__index_tensor(tensors, count);
    if (places->status || !count) return places;
    qn__node *const sources[] = {places->node, flat->node};
    return counted(tensors, qn__call_node(tensors, QN__OP_COMPACT, QN_I64, 1, &count, sources, 2));
}

qn_tensor *qn_nonzero(qn_tensor *x) {
    qn_tensors *tensors;
    qn_tensor *wrong = qn__refuse("qn_nonzero", &x, 1, &tensors);
    if (wrong) return wrong;
    const qn__node *node = x->node;
    if (!node->rank)
        return qn__failed(tensors, "qn_nonzero", QN_ERROR_ARGUMENT, "%s has no dimensions",
                          qn__describe(node).text);
    qn_tensor *flat = places_of(tensors, qn_not_equal(x, 0)), *along[QN_MAX_RANK];
    int64_t strides[QN_MAX_RANK];
    qn__contiguous_strides(node->rank, node->sizes, strides);
    for (uint32_t d = 0; d < node->rank; d++) {
        const int64_t size = node->sizes[d] ? (int64_t)node->sizes[d] : 1,
                      stride = strides[d] ? strides[d] : 1;
        along[d] = qn_remainder(qn_floor_divide(flat, stride), size);
    }
    return qn_stack(along, node->rank, 1);
}

qn_tensor *qn_masked_select(qn_tensor *x, qn_tensor *mask) {
    qn_tensors *tensors;
    qn_tensor *wrong = qn__refuse("qn_masked_select", (qn_tensor *[]){x, mask}, 2, &tensors);
    if (wrong) return wrong;
    const qn__node *a = x->node, *m = mask->node;
    bool fits = m->rank && m->rank <= a->rank;
    qn_shape shape = {.rank = 1, .sizes = {1}};
    for (uint32_t d = 0; fits && d < m->rank; d++) {
        fits = m->sizes[d] == a->sizes[d];
        shape.sizes[0] *= a->sizes[d];
    }
    if (!fits || m->type != QN_BOOL)
        return qn__failed(tensors, "qn_masked_select", QN_ERROR_ARGUMENT,
                          "the mask is %s; it has to be bool, of the first sizes of %s", qn__describe(m).text,
                          qn__describe(a).text);
    for (uint32_t d = m->rank; d < a->rank; d++) shape.sizes[shape.rank++] = a->sizes[d];
    return qn_take(qn_reshape(x, shape), places_of(tensors, mask), 0);
}

qn_tensor *qn_unique(qn_tensor *x) {
    qn_tensors *tensors;
    qn_tensor *wrong = qn__refuse("qn_unique", &x, 1, &tensors);
    if (wrong) return wrong;
    qn_tensor *flat = qn_reshape(x, QN_SHAPE(QN_REST));
    /* -0 becomes 0: they are equal. */
    if (qn__is_float((qn_element)x->node->type)) flat = qn_add(flat, 0);
    qn_tensor *sorted = qn_sort(qn_detach(flat), 0, false);
    if (sorted->status || !sorted->node->sizes[0]) return sorted;
    return counted(tensors, qn__call_node(tensors, QN__OP_UNIQUE, (qn_element)sorted->node->type, 1,
                                          sorted->node->sizes, &sorted->node, 1));
}

/* ---- counts ---- */

/* reals: the range, both 0 where elements are numbers of bins. */
qn_status qn__histogram_run(qn_tensors *tensors, const qn__node *node, const qn_array *sources,
                            const qn_array *results) {
    return qn_kernels_histogram(tensors->kernels, tensors->stream,
                                &(qn_histogram_desc){.from = sources[0],
                                                     .to = results[0],
                                                     .low = node->attributes.reals[0],
                                                     .high = node->attributes.reals[1]});
}

static qn_tensor *histogram(const char *function, qn_tensor *x, uint64_t bins, double low, double high) {
    qn_tensors *tensors = x->owner;
    if (!bins || bins > UINT32_MAX)
        return qn__failed(tensors, function, QN_ERROR_ARGUMENT, "%llu bins; from 1 to %u",
                          (unsigned long long)bins, UINT32_MAX);
    if (!qn_tensor_count(x)) return qn_zeros(tensors, QN_I64, (qn_shape){1, {bins}});
    qn__node *node = qn__call_node(tensors, QN__OP_HISTOGRAM, QN_U32, 1, &bins, &x->node, 1);
    if (node) {
        node->attributes.reals[0] = low;
        node->attributes.reals[1] = high;
    }
    return qn_cast(qn__handle(tensors, node), QN_I64);
}

qn_tensor *qn_histogram(qn_tensor *x, uint64_t bins, double low, double high) {
    qn_tensors *tensors;
    qn_tensor *wrong = qn__refuse("qn_histogram", &x, 1, &tensors);
    if (!wrong && !(low < high))
        wrong = qn__failed(tensors, "qn_histogram", QN_ERROR_ARGUMENT, "the range from %g to %g is empty",
                           low, high);
    return wrong ? wrong : histogram("qn_histogram", x, bins, low, high);
}

qn_tensor *qn_bincount(qn_tensor *x, uint64_t bins) {
    qn_tensors *tensors;
    qn_tensor *wrong = qn__refuse("qn_bincount", &x, 1, &tensors);
    if (!wrong && (qn__is_float((qn_element)x->node->type) || x->node->type == QN_BOOL))
        wrong = qn__failed(tensors, "qn_bincount", QN_ERROR_ARGUMENT, "%s is of no integer type",
                           qn__describe(x->node).text);
    return wrong ? wrong : histogram("qn_bincount", x, bins, 0, 0);
}
