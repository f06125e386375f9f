/* The windows of images as columns, and back; channels as pixels: compositions of views. */
#include "tensor/graph.h"

/* A window's taps along a dimension, and where they lie. */
typedef struct side {
    uint64_t size, taps, stride, padding, dilation;
    uint64_t count; /* of windows */
} side;

enum { SIDES = 2 };

static uint64_t or_one(uint32_t x) { return x ? x : 1; }

/* The windows of images of those last two sizes; a failure where there are none. */
static qn_tensor *windows_of(qn_tensors *tensors, const char *function, const uint64_t *sizes,
                             const qn_unfold_desc *desc, side *sides) {
    for (uint32_t i = 0; i < SIDES; i++) {
        side *s = &sides[i];
        *s = (side){sizes[i],         desc->window[i],           or_one(desc->stride[i]),
                    desc->padding[i], or_one(desc->dilation[i]), 0};
        const uint64_t whole = s->size + 2 * s->padding,
                       reach = s->taps ? (s->taps - 1) * s->dilation + 1 : 0;
        if (!reach || whole < reach)
            return qn__failed(
                tensors, function, QN_ERROR_ARGUMENT,
                "dimension %u: a window that reaches over %llu elements of %llu with a padding of %llu",
                (unsigned)i + 2, (unsigned long long)reach, (unsigned long long)s->size,
                (unsigned long long)s->padding);
        s->count = (whole - reach) / s->stride + 1;
    }
    return NULL;
}

/* In place of dimension d: the taps, and for each the windows. */
static qn_tensor *taps_along(qn_tensor *x, const side *s, int32_t d) {
    qn_tensor **parts = qn__tensors_allocate(x->owner, s->taps * sizeof *parts);
    if (!parts) return qn__failed_as(x->owner, QN_ERROR_OUT_OF_MEMORY);
    if (s->padding) x = qn_pad(x, d, s->padding, s->padding, 0);
    for (uint64_t t = 0; t < s->taps; t++) {
        const int64_t first = (int64_t)(t * s->dilation),
                      end = first + (int64_t)((s->count - 1) * s->stride) + 1;
        parts[t] = qn_slice(x, d, first, end, (int64_t)s->stride);
    }
    qn_tensor *all = qn_stack(parts, s->taps, d);
    qn__tensors_release(x->owner, parts);
    return all;
}

qn_tensor *qn_unfold(qn_tensor *x, const qn_unfold_desc *desc) {
    static const char function[] = "qn_unfold";
    qn_tensors *tensors;
    side sides[SIDES];
    qn_tensor *wrong = qn__refuse(function, &x, 1, &tensors);
    if (wrong) return wrong;
    const qn__node *node = x->node;
    if (!desc || node->rank != 4)
        return qn__failed(tensors, function, QN_ERROR_ARGUMENT,
                          "images of %s: they have images, channels, rows and columns, and a descriptor",
                          qn__describe(node).text);
    wrong = windows_of(tensors, function, &node->sizes[2], desc, sides);
    if (wrong) return wrong;
    const uint64_t images = node->sizes[0], channels = node->sizes[1];
    qn_tensor *rows = taps_along(x, &sides[0], 2); /* images, channels, taps, windows, columns */
    qn_tensor *both =
        qn_transpose(taps_along(rows, &sides[1], 4), 3, 4); /* ..., taps, taps, windows, windows */
    return qn_reshape(
        both, QN_SHAPE(images, channels * sides[0].taps * sides[1].taps, sides[0].count * sides[1].count));
}

/* The sum over the taps, dimension d, of what they give to each element along dimension d + 1. */
static qn_tensor *sum_along(qn_tensor *x, const side *s, int32_t d) {
    const uint64_t whole = s->size + 2 * s->padding, reach = (s->count - 1) * s->stride + 1;
    qn_tensor *sum = NULL;
    for (uint64_t t = 0; t < s->taps; t++) {
        qn_tensor *tap = qn_squeeze(qn_slice(x, d, (int64_t)t, (int64_t)t + 1, 1), (qn_axes){1, {d}});
        if (s->stride > 1) { /* zeros between */
            tap = qn_pad(qn_unsqueeze(tap, d + 1), d + 1, 0, s->stride - 1, 0);
            tap = qn_slice(qn_flatten(tap, d, d + 1), d, 0, (int64_t)reach, 1);
        }
        const uint64_t before = t * s->dilation;
        tap = qn_pad(tap, d, before, whole - before - reach, 0);
        sum = sum ? qn_add(sum, tap) : tap;
    }
    return s->padding ? qn_slice(sum, d, (int64_t)s->padding, (int64_t)(s->padding + s->size), 1) : sum;
}

qn_tensor *qn_fold(qn_tensor *x, uint64_t rows, uint64_t columns, const qn_unfold_desc *desc) {
    static const char function[] = "qn_fold";
    qn_tensors *tensors;
    side sides[SIDES];
    qn_tensor *wrong = qn__refuse(function, &x, 1, &tensors);
    if (wrong) return wrong;
    const qn__node *node = x->node;
    if (!desc || node->rank != 3)
        return qn__failed(
            tensors, function, QN_ERROR_ARGUMENT,
            "columns of %s: they have images, channels times taps, and windows, and a descriptor",
            qn__describe(node).text);
    wrong = windows_of(tensors, function, (const uint64_t[]){rows, columns}, desc, sides);
    if (wrong) return wrong;
    const uint64_t taps = sides[0].taps * sides[1].taps, windows = sides[0].count * sides[1].count;
    if (node->sizes[1] % taps || node->sizes[2] != windows)
        return qn__failed(tensors, function, QN_ERROR_ARGUMENT,
                          "%s: of %llux%llu elements there are %llu windows of %llu taps",
                          qn__describe(node).text, (unsigned long long)rows, (unsigned long long)columns,
                          (unsigned long long)windows, (unsigned long long)taps);
    qn_tensor *apart = qn_reshape(x, QN_SHAPE(node->sizes[0], node->sizes[1] / taps, sides[0].taps,
                                              sides[1].taps, sides[0].count, sides[1].count));
    return sum_along(sum_along(qn_transpose(apart, 3, 4), &sides[1], 4), &sides[0], 2);
}

/* ---- channels as pixels ---- */

static qn_tensor *check_pixels(const char *function, qn_tensor *x, uint64_t factor, bool shuffled,
                               qn_tensors **tensors) {
    qn_tensor *wrong = qn__refuse(function, &x, 1, tensors);
    if (wrong) return wrong;
    const qn__node *n = x->node;
    const uint64_t square = factor * factor;
    const bool fits =
        n->rank == 4 && factor && factor <= UINT32_MAX &&
        (shuffled ? n->sizes[1] % square == 0 : n->sizes[2] % factor == 0 && n->sizes[3] % factor == 0);
    return fits
               ? NULL
               : qn__failed(*tensors, function, QN_ERROR_ARGUMENT,
                            shuffled ? "images of %s: their channels are not squares of %llu pixels on a side"
                                     : "images of %s: they are not of squares of %llu pixels on a side",
                            qn__describe(n).text, (unsigned long long)factor);
}

qn_tensor *qn_pixel_shuffle(qn_tensor *x, uint64_t factor) {
    qn_tensors *tensors;
    qn_tensor *wrong = check_pixels("qn_pixel_shuffle", x, factor, true, &tensors);
    if (wrong) return wrong;
    const uint64_t *s = x->node->sizes, channels = s[1] / (factor * factor);
    qn_tensor *apart = qn_reshape(x, QN_SHAPE(s[0], channels, factor, factor, s[2], s[3]));
    return qn_reshape(qn_permute(apart, (qn_axes){6, {0, 1, 4, 2, 5, 3}}),
                      QN_SHAPE(s[0], channels, s[2] * factor, s[3] * factor));
}

qn_tensor *qn_pixel_unshuffle(qn_tensor *x, uint64_t factor) {
    qn_tensors *tensors;
    qn_tensor *wrong = check_pixels("qn_pixel_unshuffle", x, factor, false, &tensors);
    if (wrong) return wrong;
    const uint64_t *s = x->node->sizes, rows = s[2] / factor, columns = s[3] / factor;
    qn_tensor *apart = qn_reshape(x, QN_SHAPE(s[0], s[1], rows, factor, columns, factor));
    return qn_reshape(qn_permute(apart, (qn_axes){6, {0, 1, 3, 5, 2, 4}}),
                      QN_SHAPE(s[0], s[1] * factor * factor, rows, columns));
}
