/* Convolutions of few channels, as images have three: folded into ones that quads of sub-groups take (kernels/convolve/fold.cl), of 64 channels, with a
   tap for each row of taps. */
#include <stdio.h>
#include <string.h>

#include "kernels/convolve.h"

enum { ELEMENT = 2, WIDE = 64, MOST_FOLD = 2 };

/* Channels of a pixel, by the stride that is folded: so that a folded pixel has a multiple of 16 bytes. */
static const uint32_t channels_of[MOST_FOLD + 1] = {0, 8, 4};

typedef struct plan {
    qn_kernel *images, *weights, *unfold;
} plan;

/* Sizes of what is folded. */
typedef struct folded {
    uint32_t fold, channels, unit, taps; /* rows of taps */
    uint64_t rows, columns;
} folded;

static folded folded_of(const qn__convolve_problem *p) {
    const qn__convolve_numbers *n = &p->numbers;
    folded f = {.fold = (uint32_t)n->stride[0]};
    f.channels = channels_of[f.fold];
    f.unit = f.fold * f.fold * f.channels;
    const uint32_t rest = (f.fold - (uint32_t)(n->padding[0] % f.fold)) % f.fold;
    f.taps = (p->taps[0] - 1 + rest) / f.fold + 1;
    f.rows = (uint64_t)n->to_rows + f.taps - 1;
    f.columns = (uint64_t)n->to_columns + WIDE / f.unit - 1;
    return f;
}

bool qn__convolve_folds(const qn_kernels *kernels, const qn__convolve_problem *p) {
    const qn__convolve_numbers *n = &p->numbers;
    const int32_t fold = n->stride[0];
    if (fold < 1 || fold > MOST_FOLD || n->stride[1] != fold || n->channels > channels_of[fold] ||
        n->groups != 1)
        return false;
    if (n->dilation[0] != 1 || n->dilation[1] != 1 || n->padding[0] < 0 || n->padding[1] < 0) return false;
    if (p->taps[0] == 0 || p->taps[1] == 0 || n->channels == 0) return false;
    const uint32_t rest = (uint32_t)((fold - n->padding[1] % fold) % fold),
                   window = WIDE / (fold * fold * channels_of[fold]);
    if ((p->taps[1] - 1 + rest) / (uint32_t)fold + 1 > window) return false;
    const qn__convolve_problem q = qn__convolve_folded(p, NULL, NULL);
    return qn__convolve_quads_fit(kernels, &q);
}

qn__convolve_problem qn__convolve_folded(const qn__convolve_problem *p, qn_buffer *images,
                                         qn_buffer *weights) {
    const folded f = folded_of(p);
    qn__convolve_problem q = *p;
    qn__convolve_numbers *n = &q.numbers;
    const int64_t column = f.unit, row = column * (int64_t)f.columns, image = row * (int64_t)f.rows;
    const int64_t from[4] = {image, 1, row, column}, taps[4] = {(int64_t)f.taps * WIDE, 1, WIDE, WIDE};
    n->channels = WIDE;
    n->rows = (int32_t)f.rows;
    n->columns = (int32_t)n->to_columns;
    memcpy(n->from, from, sizeof from);
    memcpy(n->weights, taps, sizeof taps);
    n->from_begin = n->weights_begin = 0;
    n->from_group = n->weights_group = 0;
    for (int i = 0; i < 2; i++) {
        n->stride[i] = n->dilation[i] = 1;
        n->padding[i] = 0;
    }
    q.taps[0] = f.taps;
    q.taps[1] = 1;
    q.from = images;
    q.weights = weights;
    return q;
}

static qn_status make(qn_kernels *kernels, const void *request, void *made) {
    const qn__convolve_problem *p = request;
    const folded f = folded_of(p);
    plan *out = made;
    char options[256];
    snprintf(options, sizeof options, "-D VALUE=float -D ROWS=%u -D COLUMNS=%u -D FOLD=%u -D CHANNELS=%u",
             p->taps[0], p->taps[1], f.fold, f.channels);
    qn__variant v = {"convolve/fold.cl", "images", options};
    qn_status status = qn__variant_get(kernels, &v, &out->images);
    v.kernel = "weights";
    if (!status) status = qn__variant_get(kernels, &v, &out->weights);
    v.kernel = "unfold";
    return status ? status : qn__variant_get(kernels, &v, &out->unfold);
}

static const qn__op fold_op = {"qn_kernels_convolve by folds", sizeof(plan), make};

static qn_status create(qn_kernels *kernels, uint64_t elements, qn_buffer **buffer) {
    const qn_buffer_desc desc = {
        .size = elements * ELEMENT, .uninitialised = true, .label = "qn_kernels_convolve's folded images"};
    return qn_buffer_create(kernels->device, &desc, buffer);
}

static qn_status run(qn_stream *stream, qn_kernel *kernel, const qn__convolve_problem *p,
                     const qn_range *range, qn_buffer *from, qn_buffer *to) {
    const qn__convolve_numbers n = p->numbers;
    const qn_arg args[] = {QN_BYTES(n), qn_arg_buffer(from), qn_arg_buffer(to)};
    return qn_launch(stream, kernel, range, args, sizeof args / sizeof *args);
}

qn_status qn__convolve_fold_launch(qn_kernels *kernels, qn_stream *stream, const qn__convolve_problem *p,
                                   bool by_weights) {
    const folded f = folded_of(p);
    const qn__key key = qn__convolve_key(p);
    const qn_range images = {.global = {f.columns, f.rows, p->images}},
                   taps = {.global = {WIDE, f.taps, p->numbers.outputs}};
    qn_buffer *from = NULL, *weights = NULL;
    plan plan;
    qn_status status = qn__plan_get(kernels, &fold_op, &key, p, &plan);
    if (!status) status = create(kernels, p->images * f.rows * f.columns * f.unit, &from);
    if (!status) status = create(kernels, (uint64_t)p->numbers.outputs * f.taps * WIDE, &weights);
    if (!status) status = run(stream, plan.images, p, &images, p->from, from);
    if (!status && !by_weights) status = run(stream, plan.weights, p, &taps, p->weights, weights);
    const qn__convolve_problem q = qn__convolve_folded(p, from, weights);
    if (!status)
        status = by_weights ? qn__convolve_quad_weights_launch(kernels, stream, &q)
                            : qn__convolve_quad_launch(kernels, stream, &q, 1);
    if (!status && by_weights) status = run(stream, plan.unfold, p, &taps, weights, p->weights);
    qn_buffer_destroy(from);
    qn_buffer_destroy(weights);
    return status;
}
