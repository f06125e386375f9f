/* qn_top_k: the rows sorted, and the begin of each copied. */
#include "kernels/op.h"

static qn_status check_shape(const qn_kernels *kernels, const char *name, const qn_array *to,
                             const qn_array *from) {
    bool good = to->rank == from->rank && from->rank > 0;
    for (uint32_t d = 0; good && d + 1 < from->rank; d++) good = to->sizes[d] == from->sizes[d];
    good = good && to->sizes[to->rank - 1] <= from->sizes[from->rank - 1];
    if (good) return QN_OK;
    return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                       "qn_top_k: %s is %s and from is %s; their sizes must be the same but for the last, of "
                       "which it may have fewer",
                       name, qn__shape(to).text, qn__shape(from).text);
}

static qn_status check_indices(const qn_kernels *kernels, const qn_top_k_desc *desc, qn_top_k_desc *d) {
    qn_status status =
        qn__array_check_written(kernels, "qn_top_k", "to_indices", &desc->to_indices, &d->to_indices);
    if (!status) status = check_shape(kernels, "to_indices", &d->to_indices, &d->from);
    if (status) return status;
    const qn__element_info *e = qn__element(d->to_indices.type);
    if (e->is_float || e->size < 4)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "qn_top_k: to_indices.type is %s; indices are i32, u32, i64 or u64", e->name);
    if (d->to_indices.sizes[d->from.rank - 1] != d->to.sizes[d->from.rank - 1])
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "qn_top_k: to_indices is %s and to is %s",
                           qn__shape(&d->to_indices).text, qn__shape(&d->to).text);
    status = qn__array_apart(kernels, "qn_top_k", "to_indices", &d->to_indices, "to", &d->to);
    if (!status)
        status = qn__array_apart(kernels, "qn_top_k", "to_indices", &d->to_indices, "from", &d->from);
    return status;
}

static qn_status check(const qn_kernels *kernels, const qn_top_k_desc *desc, qn_top_k_desc *d) {
    qn_status status = qn__op_check(kernels, desc, "qn_top_k");
    if (status) return status;
    *d = *desc;
    status = qn__array_check(kernels, "qn_top_k", "from", &desc->from, &d->from);
    if (!status) status = qn__array_check_written(kernels, "qn_top_k", "to", &desc->to, &d->to);
    if (!status && d->to.type != d->from.type)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "qn_top_k: to.type is %s and from.type is %s",
                           qn__element(d->to.type)->name, qn__element(d->from.type)->name);
    if (!status) status = check_shape(kernels, "to", &d->to, &d->from);
    if (!status) status = qn__array_apart(kernels, "qn_top_k", "to", &d->to, "from", &d->from);
    return status || !desc->to_indices.buffer ? status : check_indices(kernels, desc, d);
}

/* The begin of each row of `sorted`, which is contiguous and of from's sizes. */
static qn_status copy_begins(qn_kernels *kernels, qn_stream *stream, const qn_array *from, qn_buffer *sorted,
                             const qn_array *to) {
    qn_array view = *to;
    view.buffer = sorted;
    view.offset = 0;
    int64_t stride = 1;
    for (uint32_t d = from->rank; d-- > 0; stride *= (int64_t)from->sizes[d]) view.strides[d] = stride;
    return qn_copy(kernels, stream, &(qn_copy_desc){.to = *to, .from = view});
}

static qn_status run(qn_kernels *kernels, qn_stream *stream, const qn_top_k_desc *d, qn_buffer **keys,
                     qn_buffer **indices) {
    const uint64_t count = qn_array_count(&d->from);
    const bool with_indices = d->to_indices.buffer != NULL;
    qn_sort_desc sort = {.keys = d->from, .to_keys = d->from, .descending = !d->smallest};
    for (uint32_t i = 0; i < QN_MAX_RANK; i++) sort.to_keys.strides[i] = 0;
    sort.to_keys.offset = 0;
    qn_status status = qn__scratch(kernels, count * qn__element(d->from.type)->size, keys);
    sort.to_keys.buffer = *keys;
    if (!status && with_indices) {
        status = qn__scratch(kernels, count * qn__element(d->to_indices.type)->size, indices);
        sort.to_values = sort.to_keys;
        sort.to_values.buffer = *indices;
        sort.to_values.type = d->to_indices.type;
    }
    if (!status) status = qn_sort(kernels, stream, &sort);
    if (!status) status = copy_begins(kernels, stream, &d->from, *keys, &d->to);
    if (!status && with_indices) status = copy_begins(kernels, stream, &d->from, *indices, &d->to_indices);
    return status;
}

qn_status qn_top_k(qn_kernels *kernels, qn_stream *stream, const qn_top_k_desc *desc) {
    qn_top_k_desc d;
    qn_status status = check(kernels, desc, &d);
    if (status || qn_array_count(&d.to) == 0) return status;
    qn_buffer *keys = NULL, *indices = NULL;
    status = run(kernels, stream, &d, &keys, &indices);
    qn_buffer_destroy(keys);
    qn_buffer_destroy(indices);
    return status;
}
