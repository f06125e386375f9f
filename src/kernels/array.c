/* Arrays: what a call checks of them, and how to visit several together. */
#include <stdio.h>

#include "kernels/op.h"

qn_array qn_array_transpose(qn_array array, uint32_t dimension, uint32_t other) {
    if (array.rank > QN_MAX_RANK || dimension >= array.rank || other >= array.rank) return array;
    bool given = false;
    for (uint32_t d = 0; d < array.rank; d++) given = given || array.strides[d] != 0;
    uint64_t stride = 1;
    for (uint32_t d = array.rank; !given && d-- > 0; stride *= array.sizes[d])
        array.strides[d] = (int64_t)stride;
    const uint64_t size = array.sizes[dimension];
    const int64_t step = array.strides[dimension];
    array.sizes[dimension] = array.sizes[other];
    array.strides[dimension] = array.strides[other];
    array.sizes[other] = size;
    array.strides[other] = step;
    return array;
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
    if (!qn_buffer_device(array->buffer)) return QN_ERROR_ARGUMENT;
    return check_reach(kernels, function, name, out);
}

qn_status qn__array_check_written(const qn_kernels *kernels, const char *function, const char *name,
                                  const qn_array *array, qn_array *out) {
    const qn_status status = qn__array_check(kernels, function, name, array, out);
    if (status || qn_array_count(out) == 0) return status;
    for (uint32_t d = 0; d < out->rank; d++)
        if (out->strides[d] == 0 && out->sizes[d] > 1)
            return qn__op_fail(kernels, QN_ERROR_ARGUMENT,
                               "%s: %s.strides[%u] is 0 for %llu indices: what is written cannot be repeated",
                               function, name, d, (unsigned long long)out->sizes[d]);
    return QN_OK;
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

/* The stride of dimension `d` of the first array in an array that is broadcast to it. */
static qn_status broadcast_stride(const qn_kernels *kernels, const char *function, const qn_array *to,
                                  const char *to_name, const qn_array *a, const char *name, uint32_t d,
                                  int64_t *stride) {
    *stride = 0;
    if (to->rank - d > a->rank) return QN_OK;
    const uint32_t own = d - (to->rank - a->rank);
    if (a->sizes[own] == 1) return QN_OK;
    *stride = a->strides[own];
    if (a->sizes[own] == to->sizes[d]) return QN_OK;
    return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "%s: %s (%s) cannot be broadcast to %s (%s)", function,
                       name, qn__shape(a).text, to_name, qn__shape(to).text);
}

static uint64_t size_of_step(int64_t stride) { return stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride; }

/* Puts dimension `d` of the walk where the first array's strides want it: the smallest first. */
static void sort_in(qn__walk *walk, uint32_t d, uint32_t count) {
    for (; d > 0 && size_of_step(walk->strides[0][d]) < size_of_step(walk->strides[0][d - 1]); d--) {
        const uint64_t size = walk->sizes[d];
        walk->sizes[d] = walk->sizes[d - 1];
        walk->sizes[d - 1] = size;
        for (uint32_t i = 0; i < count; i++) {
            const int64_t stride = walk->strides[i][d];
            walk->strides[i][d] = walk->strides[i][d - 1];
            walk->strides[i][d - 1] = stride;
        }
    }
}

/* Whether dimension `d` goes on where the one before it ends, in all arrays. */
static bool goes_on(const qn__walk *walk, uint32_t d, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if ((uint64_t)walk->strides[i][d] != (uint64_t)walk->strides[i][d - 1] * walk->sizes[d - 1])
            return false;
    return true;
}

static void join(qn__walk *walk, uint32_t count) {
    uint32_t rank = 0;
    for (uint32_t d = 0; d < walk->rank; d++) {
        walk->sizes[rank] = walk->sizes[d];
        for (uint32_t i = 0; i < count; i++) walk->strides[i][rank] = walk->strides[i][d];
        if (rank > 0 && goes_on(walk, rank, count))
            walk->sizes[rank - 1] *= walk->sizes[rank];
        else
            rank++;
    }
    walk->rank = rank;
}

qn_status qn__walk_make(const qn_kernels *kernels, const char *function, const qn_array *const *arrays,
                        const char *const *names, uint32_t count, qn__walk *walk) {
    const qn_array *to = arrays[0];
    *walk = (qn__walk){0};
    for (uint32_t i = 1; i < count; i++)
        if (arrays[i]->rank > to->rank)
            return qn__op_fail(kernels, QN_ERROR_ARGUMENT, "%s: %s has %u dimensions, %s only %u", function,
                               names[i], arrays[i]->rank, names[0], to->rank);
    for (uint32_t d = 0; d < to->rank; d++) {
        int64_t strides[QN__WALK_ARRAYS] = {to->strides[d]};
        for (uint32_t i = 1; i < count; i++) {
            const qn_status status =
                broadcast_stride(kernels, function, to, names[0], arrays[i], names[i], d, &strides[i]);
            if (status) return status;
        }
        if (to->sizes[d] == 1) continue;
        walk->sizes[walk->rank] = to->sizes[d];
        for (uint32_t i = 0; i < count; i++) walk->strides[i][walk->rank] = strides[i];
        sort_in(walk, walk->rank++, count);
    }
    join(walk, count);
    return QN_OK;
}
