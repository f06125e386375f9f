/* Asking for values. */
#include <math.h>
#include <string.h>

#include "tensor/plan.h"

enum { ON_STACK = 16 };

/* Below reshapes, which share the value of what they show. */
static qn__node *below_reshapes(qn__node *node) {
    while (node->op == QN__OP_RESHAPE && !node->realised) node = node->sources[0];
    return node;
}

/* Gives a reshape the value of what it shows; false: that does not lie in order, or is about to change. */
static bool share_value(qn__node *node) {
    qn__node *base = below_reshapes(node);
    if (node->realised) return true;
    if (!base->realised || !qn__is_contiguous(base) || (base->storage && base->storage->assigned))
        return false;
    qn__storage_retain(base->storage);
    qn__node_set_value(node, base->storage, base->offset, NULL);
    return true;
}

/* What has to be computed for a node: NULL: nothing. */
static qn__node *wanted(qn__node *node) {
    qn__node *base = below_reshapes(node);
    if (share_value(node)) return NULL;
    return base->realised ? node : base; /* of a leaf that cannot be shared, a copy */
}

qn_status qn__realise(qn_tensors *tensors, qn__node *const *nodes, size_t count) {
    qn__node *few[ON_STACK],
        **list = count <= ON_STACK ? few : qn__tensors_allocate(tensors, count * sizeof(qn__node *));
    if (!list) return QN_ERROR_OUT_OF_MEMORY;
    size_t asked = 0;
    for (size_t i = 0; i < count; i++) {
        qn__node *node = wanted(nodes[i]);
        if (node) list[asked++] = node;
    }
    const qn_status status = asked ? qn__plan_run(tensors, list, NULL, asked) : QN_OK;
    if (list != few) qn__tensors_release(tensors, list);
    for (size_t i = 0; i < count && !status; i++) share_value(nodes[i]);
    return status;
}

/* The nodes of handles of one owner, in `list` or allocated; *status is a failure's. */
static qn__node **nodes_of(const char *function, qn_tensor *const *handles, size_t count, qn__node **few,
                           qn_tensors **tensors, qn_status *status) {
    qn_tensor *wrong = qn__refuse(function, handles, (uint32_t)count, tensors);
    *status = wrong ? qn_tensor_status(wrong) : QN_OK;
    if (wrong) return NULL;
    qn__node **list = count <= ON_STACK ? few : qn__tensors_allocate(*tensors, count * sizeof(qn__node *));
    if (!list) *status = QN_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; list && i < count; i++) list[i] = handles[i]->node;
    return list;
}

qn_status qn_realize(qn_tensor *const *handles, size_t count) {
    qn_tensors *tensors;
    qn_status status;
    qn__node *few[ON_STACK];
    if (!count) return QN_OK;
    if (!handles) return qn__tensors_fail(NULL, QN_ERROR_NULL, "qn_realize: tensors is NULL");
    qn__node **list = nodes_of("qn_realize", handles, count, few, &tensors, &status);
    if (!list) return status;
    status = qn__realise(tensors, list, count);
    if (list != few) qn__tensors_release(tensors, list);
    return status;
}

qn_status qn_tensor_realize(qn_tensor *x) { return qn_realize(&x, 1); }

qn_status qn__in_order(qn_tensor *x, qn__node **out) {
    qn_status status = qn_tensor_realize(x);
    if (status) return status;
    qn__node *node = x->node;
    qn__node_retain(node);
    *out = node;
    if (qn__is_contiguous(node) || !qn__node_count(node)) return QN_OK;
    *out = qn__map_node(x->owner, QN__OP_COPY, (qn_element)node->type, &node, 1);
    qn__node_release(node);
    status = *out ? qn__realise(x->owner, out, 1) : QN_ERROR_OUT_OF_MEMORY;
    if (status) qn__node_release(*out);
    return status;
}

qn_status qn_tensor_read(qn_tensor *x, void *data, uint64_t size) {
    qn__node *node;
    qn_status status = qn_tensor_status(x);
    if (status) return status;
    const uint64_t bytes = qn_tensor_count(x) * qn_element_size(qn_tensor_type(x));
    if (size != bytes)
        return qn__tensors_fail(x->owner, QN_ERROR_ARGUMENT, "qn_tensor_read: %s has %llu bytes, not %llu",
                                qn__describe(x->node).text, (unsigned long long)bytes,
                                (unsigned long long)size);
    if (bytes && !data) return qn__tensors_fail(x->owner, QN_ERROR_NULL, "qn_tensor_read: data is NULL");
    if (!bytes) return QN_OK;
    status = qn__in_order(x, &node);
    if (status) return status;
    const uint64_t offset = node->offset * qn_element_size((qn_element)node->type);
    status = qn_stream_read(x->owner->stream, node->storage->buffer, offset, data, bytes);
    if (!status) status = qn_stream_wait(x->owner->stream, QN_FOREVER);
    qn__node_release(node);
    return status;
}

double qn_tensor_item(qn_tensor *x) {
    double value = NAN;
    if (qn_tensor_status(x)) return value;
    if (qn_tensor_count(x) != 1) {
        qn__tensors_fail(x->owner, QN_ERROR_ARGUMENT, "qn_tensor_item: %s is not one element",
                         qn__describe(x->node).text);
        return value;
    }
    const bool wide = x->owner->info.capabilities & QN_CAN_F64;
    float single = 0;
    qn_tensor *number = qn_cast(x, wide ? QN_F64 : QN_F32);
    const qn_status status =
        wide ? qn_tensor_read(number, &value, sizeof value) : qn_tensor_read(number, &single, sizeof single);
    return status || wide ? value : (double)single;
}

qn_status qn_tensor_array(qn_tensor *x, qn_array *array) {
    qn_status status = qn_tensor_realize(x);
    if (status) return status;
    if (!array) return qn__tensors_fail(x->owner, QN_ERROR_NULL, "qn_tensor_array: array is NULL");
    const qn__node *node = x->node;
    *array = (qn_array){.buffer = node->storage ? node->storage->buffer : NULL,
                        .offset = node->offset,
                        .type = (qn_element)node->type,
                        .rank = node->rank};
    memcpy(array->sizes, node->sizes, sizeof array->sizes);
    memcpy(array->strides, node->strides, sizeof array->strides);
    return QN_OK;
}

/* ---- explaining ---- */

qn_status qn_tensor_explain(qn_tensor *const *handles, size_t count, const qn_explain_desc *desc,
                            qn_text_callback *callback, void *user) {
    qn_tensors *tensors;
    qn_status status;
    qn__node *few[ON_STACK];
    if (!count) return QN_OK;
    if (!handles || !callback)
        return qn__tensors_fail(NULL, QN_ERROR_NULL, "qn_tensor_explain: %s is NULL",
                                handles ? "callback" : "tensors");
    qn__node **list = nodes_of("qn_tensor_explain", handles, count, few, &tensors, &status);
    if (!list) return status;
    size_t asked = 0;
    for (size_t i = 0; i < count; i++) {
        qn__node *node = wanted(list[i]);
        if (node) list[asked++] = node;
    }
    if (asked) status = qn__explain(tensors, list, asked, desc, callback, user);
    if (list != few) qn__tensors_release(tensors, list);
    return status;
}
