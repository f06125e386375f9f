/* Arrays: what a call checks of them. */
#include <stdio.h>

#include "kernels/op.h"

/* Strides that are not given, made so that they are. */
static void give_strides(qn_array *array) {
    bool given = false;
    for (uint32_t d = 0; d < array->rank; d++) given = given || array->strides[d] != 0;
    uint64_t stride = 1;
    for (uint32_t d = array->rank; !given && d-- > 0; stride *= array->sizes[d])
        array->strides[d] = (int64_t)stride;
}

qn_array qn_array_transpose(qn_array array, uint32_t dimension, uint32_t other) {
    if (array.rank > QN_MAX_RANK || dimension >= array.rank || other >= array.rank) return array;
    give_strides(&array);
    const uint64_t size = array.sizes[dimension];
    const int64_t step = array.strides[dimension];
    array.sizes[dimension] = array.sizes[other];
    array.strides[dimension] = array.strides[other];
    array.sizes[other] = size;
    array.strides[other] = step;
    return array;
}

qn_array qn_array_permute(qn_array array, const uint32_t *order) {
    uint32_t seen = 0;
    if (array.rank > QN_MAX_RANK || !order) return array;
    for (uint32_t d = 0; d < array.rank; d++)
        if (order[d] < array.rank) seen |= 1u << order[d];
    if (seen != (1u << array.rank) - 1) return array;
    give_strides(&array);
    qn_array permuted = array;
    for (uint32_t d = 0; d < array.rank; d++) {
        permuted.sizes[d] = array.sizes[order[d]];
        permuted.strides[d] = array.strides[order[d]];
    }
    return permuted;
}

uint64_t qn_array_count(const qn_array *array) {
    if (!array || array->rank > QN_MAX_RANK) return 0;
    uint64_t count = 1;
    for (uint32_t d = 0; d < array->rank; d++)
        if (array->sizes[d] == 0) return 0;
    for (uint32_t d = 0; d < array->rank; d++) {
        if (count > UINT64_MAX / array->sizes[d]) return UINT64_MAX;
        count *= array->sizes[d];
    }
    return count;
}

qn__shape_text qn__shape(const qn_array *array) {
    qn__shape_text t = {"one element"};
    size_t at = 0;
    for (uint32_t d = 0; d < array->rank && at < sizeof t.text; d++)
        at += (size_t)snprintf(t.text + at, sizeof t.text - at, d ? "x%llu" : "%llu",
                               (unsigned long long)array->sizes[d]);
    return t;
}

/* What the array reaches: the elements from `low` to `high`. False where that is beyond 63 bits. */
typedef struct reach {
    int64_t low, high;
} reach;

static bool reach_of(const qn_array *a, reach *r) {
    if (a->offset > INT64_MAX) return false;
    *r = (reach){(int64_t)a->offset, (int64_t)a->offset};
    for (uint32_t d = 0; d < a->rank; d++) {
        const int64_t stride = a->strides[d];
        const uint64_t step = stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
        if (step && a->sizes[d] - 1 > INT64_MAX / step) return false;
        const int64_t length = (int64_t)((a->sizes[d] - 1) * step);
        if (stride < 0) {
            if (r->low < INT64_MIN + length) return false;
            r->low -= length;
        } else {
            if (r->high > INT64_MAX - length) return false;
            r->high += length;
        }
    }
    return true;
}

static bool set_strides(qn_array *a) {
    for (uint32_t d = 0; d < a->rank; d++)
        if (a->strides[d]) return true;
    uint64_t stride = 1;
    for (uint32_t d = a->rank; d-- > 0;) {
        a->strides[d] = (int64_t)stride;
        if (stride > INT64_MAX / a->sizes[d]) return false;
        stride *= a->sizes[d];
    }
    return true;
}

static qn_status check_reach(const qn_kernels *kernels, const char *function, const char *name, qn_array *a) {
    reach r;
    if (!set_strides(a) || !reach_of(a, &r))
        return qn__op_fail(kernels, QN_ERROR_RANGE, "%s: %s (%s) reaches beyond 2^63 elements", function,
                           name, qn__shape(a).text);
    const uint64_t room = qn_buffer_size(a->buffer) / qn__element(a->type)->size;
    if (r.low < 0 || (uint64_t)r.high >= room)
        return qn__op_fail(
            kernels, QN_ERROR_RANGE,
            "%s: %s (%s of %s) reaches from element %lld to %lld of its buffer, which has %llu", function,
            name, qn__shape(a).text, qn__element(a->type)->name, (long long)r.low, (long long)r.high,
            (unsigned long long)room);
    return QN_OK;
}

qn_status qn__array_check(const qn_kernels *kernels, const char *function, const char *name,
                          const qn_array *array, qn_array *out) {
    if ((unsigned)array->type >= QN_ELEMENT_COUNT)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "%s: %s.type is %u, which is no qn_element", function,
                           name, (unsigned)array->type);
    if (array->rank > QN_MAX_RANK)
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                           "%s: %s.rank is %u; at most %u dimensions are possible", function, name,
                           array->rank, (unsigned)QN_MAX_RANK);
    *out = *array;
    for (uint32_t d = array->rank; d < QN_MAX_RANK; d++) {
        out->sizes[d] = 1;
        out->strides[d] = 0;
    }
    for (uint32_t d = 0; d < array->rank; d++)
        if (array->sizes[d] == 0) return QN_OK;
    if (!array->buffer) return qn__op_fail(kernels, QN_ERROR_NULL, "%s: %s.buffer is NULL", function, name);
    if (!qn_buffer_device(array->buffer)) {
        const qn_status status = qn_buffer_read(array->buffer, 0, NULL, 0);
        return qn__op_fail(kernels, status ? status : QN_ERROR_ARGUMENT, "%s: %s.buffer %s", function, name,
                           status == QN_ERROR_DESTROYED ? "has been destroyed" : "is no buffer");
    }
    const qn_device *of = qn_buffer_device(array->buffer);
    char what[80] = "";
    if (of != kernels->device) snprintf(what, sizeof what, "%s.buffer", name);
    const qn_status status = qn__op_own(kernels, of, function, what);
    return status ? status : check_reach(kernels, function, name, out);
}

qn_status qn__array_check_written(const qn_kernels *kernels, const char *function, const char *name,
                                  const qn_array *array, qn_array *out) {
    const qn_status status = qn__array_check(kernels, function, name, array, out);
    if (status || qn_array_count(out) == 0) return status;
    if (qn_buffer_is_read_only(out->buffer))
        return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "%s: %s.buffer is read-only, and would be written",
                           function, name);
    for (uint32_t d = 0; d < out->rank; d++)
        if (out->strides[d] == 0 && out->sizes[d] > 1)
            return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                               "%s: %s.strides[%u] is 0 for %llu indices: what is written cannot be repeated",
                               function, name, d, (unsigned long long)out->sizes[d]);
    return QN_OK;
}

qn_status qn__array_alike(const qn_kernels *kernels, const char *function, const char *name,
                          const qn_array *array, const char *other_name, const qn_array *other) {
    bool same = array->rank == other->rank;
    for (uint32_t d = 0; same && d < array->rank; d++) same = array->sizes[d] == other->sizes[d];
    if (same) return QN_OK;
    return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "%s: %s is %s and %s is %s; they must be the same",
                       function, name, qn__shape(array).text, other_name, qn__shape(other).text);
}

bool qn__array_is_same(const qn_array *a, const qn_array *b) {
    if (a->buffer != b->buffer || a->offset != b->offset || a->type != b->type || a->rank != b->rank)
        return false;
    for (uint32_t d = 0; d < a->rank; d++)
        if (a->sizes[d] != b->sizes[d] || a->strides[d] != b->strides[d]) return false;
    return true;
}

qn_status qn__array_apart(const qn_kernels *kernels, const char *function, const char *written_name,
                          const qn_array *written, const char *other_name, const qn_array *other) {
    uint64_t at = 0, other_at = 0;
    if (!written->buffer || !other->buffer || !qn_array_count(written) || !qn_array_count(other))
        return QN_OK;
    if (qn_buffer_origin(written->buffer, &at) != qn_buffer_origin(other->buffer, &other_at)) return QN_OK;
    reach w, o;
    if (!reach_of(written, &w) || !reach_of(other, &o)) return QN_OK;
    const uint32_t size = qn__element(written->type)->size, other_size = qn__element(other->type)->size;
    const uint64_t begin = at + (uint64_t)w.low * size, end = at + ((uint64_t)w.high + 1) * size;
    const uint64_t other_begin = other_at + (uint64_t)o.low * other_size,
                   other_end = other_at + ((uint64_t)o.high + 1) * other_size;
    if (end <= other_begin || other_end <= begin) return QN_OK;
    return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                       "%s: %s and %s share memory: bytes %llu to %llu and %llu to %llu of one buffer",
                       function, written_name, other_name, (unsigned long long)begin, (unsigned long long)end,
                       (unsigned long long)other_begin, (unsigned long long)other_end);
}
