/* Images of other sizes: along each dimension an element is a sum of a few of the old ones, whose places and weights are computed here. */
#include <math.h>

#include "tensor/graph.h"

enum { TAPS = 4 };
#define CUBIC (-0.75) /* of Keys, Cubic convolution interpolation, 1981, as PyTorch has it */

/* Along a dimension: element i is the sum over taps of weights[t][i] times the old element places[t][i]. */
typedef struct taps {
    qn_tensors *tensors;
    uint64_t count;
    int64_t *places[TAPS];
    float *weights[TAPS];
} taps;

static uint32_t taps_of(qn_interpolation how) {
    return how == QN_INTERPOLATE_CUBIC ? 4 : how == QN_INTERPOLATE_LINEAR ? 2 : 1;
}

static bool make_taps(taps *t, uint32_t number) {
    bool complete = true;
    for (uint32_t i = 0; i < number; i++) {
        t->places[i] = qn__tensors_allocate(t->tensors, t->count * sizeof(int64_t));
        t->weights[i] = qn__tensors_allocate(t->tensors, t->count * sizeof(float));
        complete = complete && t->places[i] && t->weights[i];
    }
    return complete;
}

static void free_taps(taps *t) {
    for (uint32_t i = 0; i < TAPS; i++) {
        qn__tensors_release(t->tensors, t->places[i]);
        qn__tensors_release(t->tensors, t->weights[i]);
    }
}

/* The weight of an element at that distance. */
static double cubic_weight(double x) {
    x = fabs(x);
    if (x <= 1) return ((CUBIC + 2) * x - (CUBIC + 3)) * x * x + 1;
    return ((CUBIC * x - 5 * CUBIC) * x + 8 * CUBIC) * x - 4 * CUBIC;
}

/* Where element i of `count` lies among `size`: their ends on each other, or those of what they cover. */
static double place_of(uint64_t i, uint64_t count, uint64_t size, const qn_interpolate_desc *desc) {
    if (desc->align_corners) return count > 1 ? (double)i * (double)(size - 1) / (double)(count - 1) : 0;
    const double middle = ((double)i + 0.5) * (double)size / (double)count - 0.5;
    return desc->how == QN_INTERPOLATE_LINEAR && middle < 0 ? 0 : middle;
}

static void fill_taps(const taps *t, uint64_t size, const qn_interpolate_desc *desc) {
    const uint32_t number = taps_of(desc->how);
    for (uint64_t i = 0; i < t->count; i++) {
        if (number == 1) { /* (i size) / count without overflow */
            t->places[0][i] = (int64_t)(size / t->count * i + size % t->count * i / t->count);
            t->weights[0][i] = 1;
            continue;
        }
        const double x = place_of(i, t->count, size, desc), low = floor(x);
        for (uint32_t k = 0; k < number; k++) {
            const double at = low + (double)k - (number == 4);
            const double weight = number == 4 ? cubic_weight(x - at) : k ? x - low : 1 - (x - low);
            t->places[k][i] = at < 0 ? 0 : at >= (double)size ? (int64_t)size - 1 : (int64_t)at;
            t->weights[k][i] = (float)weight;
        }
    }
}

/* x with dimension d resampled. */
static qn_tensor *weigh(qn_tensor *x, uint32_t d, const taps *t, uint32_t number) {
    qn_tensor *sum = NULL;
    qn_shape along = {.rank = x->node->rank};
    for (uint32_t i = 0; i < along.rank; i++) along.sizes[i] = i == d ? t->count : 1;
    for (uint32_t k = 0; k < number; k++) {
        qn_tensor *places = qn_from_data(t->tensors, QN_I64, (qn_shape){1, {t->count}}, t->places[k]);
        qn_tensor *part = qn_take(x, places, (int32_t)d);
        if (number == 1) return part;
        qn_tensor *weights =
            qn_cast(qn_from_data(t->tensors, QN_F32, along, t->weights[k]), qn_tensor_type(x));
        sum = sum ? qn_multiply_add(part, weights, sum) : qn_multiply(part, weights);
    }
    return sum;
}

static qn_tensor *resample(qn_tensor *x, uint32_t d, uint64_t count, const qn_interpolate_desc *desc) {
    const uint64_t size = x->node->sizes[d];
    const uint32_t number = taps_of(desc->how);
    if (count == size) return x;
    if (number == 1 && count % size == 0) return qn_repeat(x, count / size, (int32_t)d);
    taps t = {.tensors = x->owner, .count = count};
    qn_tensor *y = NULL;
    if (make_taps(&t, number)) {
        fill_taps(&t, size, desc);
        y = weigh(x, d, &t, number);
    }
    free_taps(&t);
    return y ? y : qn__failed_as(x->owner, QN_ERROR_OUT_OF_MEMORY);
}

qn_tensor *qn_interpolate(qn_tensor *x, const qn_interpolate_desc *desc) {
    static const char function[] = "qn_interpolate";
    qn_tensors *tensors;
    qn_tensor *wrong = qn__refuse(function, &x, 1, &tensors);
    if (wrong) return wrong;
    const qn__node *node = x->node;
    if (!desc) return qn__failed(tensors, function, QN_ERROR_NULL, "desc is NULL");
    if (node->rank < 3 || node->rank > 5 || !qn__is_float((qn_element)node->type))
        return qn__failed(
            tensors, function, QN_ERROR_ARGUMENT,
            "images of %s: they are of floats, and have images, channels, and one to three further "
            "dimensions",
            qn__describe(node).text);
    if ((unsigned)desc->how > QN_INTERPOLATE_CUBIC || (desc->align_corners && !desc->how))
        return qn__failed(tensors, function, QN_ERROR_ARGUMENT,
                          desc->align_corners
                              ? "corners are aligned with QN_INTERPOLATE_LINEAR and _CUBIC alone"
                              : "%u is no qn_interpolation",
                          (unsigned)desc->how);
    for (uint32_t d = 2; d < node->rank; d++)
        if (!desc->sizes[d - 2] || !node->sizes[d])
            return qn__failed(tensors, function, QN_ERROR_ARGUMENT, "dimension %u: %llu elements from %llu",
                              (unsigned)d, (unsigned long long)desc->sizes[d - 2],
                              (unsigned long long)node->sizes[d]);
    const qn_element own = (qn_element)node->type;
    const uint32_t rank = node->rank;
    if (desc->how) x = qn_cast(x, qn__value_type(own)); /* rounded once */
    for (uint32_t d = rank; d-- > 2 && !x->status;) x = resample(x, d, desc->sizes[d - 2], desc);
    return qn_cast(x, own);
}
