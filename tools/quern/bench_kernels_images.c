/* Rows of quern bench kernels: what works on images. */
#include <math.h>
#include <string.h>

#include "bench_kernels.h"

enum { TAPS = 5 };

static qn_status run_blur(const bench_operands *t) {
    return qn_kernels_blur(t->d->kernels, t->d->stream,
                           &(qn_blur_desc){.from = QN_ARRAY(t->from, QN_F32, t->side, t->side),
                                           .weights = QN_ARRAY(t->other, QN_F32, TAPS),
                                           .to = QN_ARRAY(t->to, QN_F32, t->side, t->side)});
}

/* Some thousand elements of it, the first and the last among them. */
static bool is_blurred(const bench_operands *t, const void *result) {
    enum { LOOKED_AT = 4096 };
    const int64_t side = (int64_t)t->side;
    for (int64_t i = 0; i <= LOOKED_AT; i++) {
        const int64_t at = (side * side - 1) * i / LOOKED_AT;
        double sum = 0, size = 0;
        for (int64_t tap = 0; tap < TAPS * TAPS; tap++) {
            int64_t row = at / side + tap / TAPS - TAPS / 2, column = at % side + tap % TAPS - TAPS / 2;
            row = row < 0 ? 0 : row < side ? row : side - 1;
            column = column < 0 ? 0 : column < side ? column : side - 1;
            const double term = (double)t->y[tap / TAPS] * t->y[tap % TAPS] * t->x[row * side + column];
            sum += term;
            size += fabs(term);
        }
        if (!(fabs(bench_number(result, (uint64_t)at) - sum) <= size * 0x1p-20)) return false;
    }
    return true;
}

enum { WINDOW = 3 }; /* of max pooling, two apart */

static qn_status run_max_pool(const bench_operands *t) {
    const uint64_t half = (t->side + 1) / 2;
    return qn_kernels_max_pool(t->d->kernels, t->d->stream,
                               &(qn_max_pool_desc){.from = QN_ARRAY(t->from, QN_F32, t->side, t->side),
                                                   .to = QN_ARRAY(t->to, QN_F32, half, half),
                                                   .window = {WINDOW, WINDOW},
                                                   .stride = {2, 2},
                                                   .padding = {1, 1}});
}

static bool has_largest(const bench_operands *t, const void *result) {
    const int64_t side = (int64_t)t->side, half = (side + 1) / 2;
    for (int64_t i = 0; i < half * half; i++) {
        float most = -INFINITY;
        for (int64_t tap = 0; tap < WINDOW * WINDOW; tap++) {
            const int64_t row = i / half * 2 + tap / WINDOW - 1, column = i % half * 2 + tap % WINDOW - 1;
            if (row < 0 || row >= side || column < 0 || column >= side) continue;
            most = fmaxf(most, t->x[row * side + column]);
        }
        if (bench_number(result, (uint64_t)i) != (double)most) return false;
    }
    return true;
}

static qn_array image_of(const bench_operands *t, qn_buffer *buffer, uint32_t channels) {
    const uint32_t *s = t->image;
    return QN_ARRAY(buffer, QN_F32, s[BENCH_IMAGES], channels, s[BENCH_ROWS], s[BENCH_COLUMNS]);
}

static qn_array weights_of(const bench_operands *t, qn_buffer *buffer) {
    const uint32_t *s = t->image;
    return QN_ARRAY(buffer, QN_F32, s[BENCH_OUTPUTS], s[BENCH_CHANNELS], s[BENCH_TAPS], s[BENCH_TAPS]);
}

static qn_status run_convolve(const bench_operands *t) {
    const uint32_t *s = t->image, outputs = s[BENCH_OUTPUTS], channels = s[BENCH_CHANNELS],
                   taps = s[BENCH_TAPS];
    return qn_kernels_convolve(t->d->kernels, t->d->stream,
                               &(qn_convolve_desc){.from = image_of(t, t->from, channels),
                                                   .weights = weights_of(t, t->other),
                                                   .to = image_of(t, t->to, outputs),
                                                   .padding = {taps / 2, taps / 2}});
}

/* The first operand is the gradient by what came out. */
static qn_status run_by_images(const bench_operands *t) {
    const uint32_t *s = t->image, half = s[BENCH_TAPS] / 2;
    return qn_kernels_convolve_backward_input(
        t->d->kernels, t->d->stream,
        &(qn_convolve_backward_input_desc){.gradient = image_of(t, t->from, s[BENCH_OUTPUTS]),
                                           .weights = weights_of(t, t->other),
                                           .to = image_of(t, t->to, s[BENCH_CHANNELS]),
                                           .padding = {half, half}});
}

/* The second operand is. */
static qn_status run_by_weights(const bench_operands *t) {
    const uint32_t *s = t->image, half = s[BENCH_TAPS] / 2;
    return qn_kernels_convolve_backward_weights(
        t->d->kernels, t->d->stream,
        &(qn_convolve_backward_weights_desc){.gradient = image_of(t, t->other, s[BENCH_OUTPUTS]),
                                             .from = image_of(t, t->from, s[BENCH_CHANNELS]),
                                             .to = weights_of(t, t->to),
                                             .padding = {half, half}});
}

/* ---- with channels together in memory ---- */

/* A buffer's elements from `offset` on as images or weights whose channels lie together, by the order of dimensions that calls take. */
static qn_array together(qn_buffer *buffer, uint64_t offset, qn_element type, uint32_t images,
                         uint32_t channels, uint32_t rows, uint32_t columns) {
    qn_array a = QN_ARRAY(buffer, type, images, rows, columns, channels);
    a.offset = offset;
    return qn_array_permute(a, (const uint32_t[]){0, 3, 1, 2});
}

static qn_array images_together(const bench_operands *t, qn_buffer *buffer, uint64_t offset,
                                qn_element type) {
    const uint32_t *s = t->image; /* as many channels come out as go in */
    return together(buffer, offset, type, s[BENCH_IMAGES], s[BENCH_CHANNELS], s[BENCH_ROWS],
                    s[BENCH_COLUMNS]);
}

static qn_array weights_together(const bench_operands *t, qn_buffer *buffer, uint64_t offset,
                                 qn_element type) {
    const uint32_t *s = t->image;
    return together(buffer, offset, type, s[BENCH_OUTPUTS], s[BENCH_CHANNELS], s[BENCH_TAPS], s[BENCH_TAPS]);
}

static qn_status convolve_together(const bench_operands *t, qn_array images, qn_array weights,
                                   qn_element type) {
    const uint32_t half = t->image[BENCH_TAPS] / 2;
    return qn_kernels_convolve(t->d->kernels, t->d->stream,
                               &(qn_convolve_desc){.from = images,
                                                   .weights = weights,
                                                   .to = images_together(t, t->to, 0, type),
                                                   .padding = {half, half}});
}

static qn_status run_together(const bench_operands *t) {
    return convolve_together(t, images_together(t, t->from, 0, QN_F32),
                             weights_together(t, t->other, 0, QN_F32), QN_F32);
}

/* In 16 bits the operands are behind the result: where they begin, and the end. */
typedef struct halves {
    uint64_t images, weights, end;
} halves;

static halves halves_of(const bench_operands *t) {
    enum { ALIGNED = 8 };
    const qn_array images = images_together(t, t->to, 0, QN_F16),
                   weights = weights_together(t, t->to, 0, QN_F16);
    const uint64_t size = (qn_array_count(&images) + ALIGNED - 1) / ALIGNED * ALIGNED;
    return (halves){size, 2 * size, 2 * size + qn_array_count(&weights)};
}

static qn_status prepare_halves(const bench_operands *t) {
    const halves h = halves_of(t);
    qn_status status = qn_kernels_copy(t->d->kernels, t->d->stream,
                                       &(qn_copy_desc){.to = images_together(t, t->to, h.images, QN_F16),
                                                       .from = images_together(t, t->from, 0, QN_F32)});
    if (status) return status;
    return qn_kernels_copy(t->d->kernels, t->d->stream,
                           &(qn_copy_desc){.to = weights_together(t, t->to, h.weights, QN_F16),
                                           .from = weights_together(t, t->other, 0, QN_F32)});
}

static qn_status run_halves(const bench_operands *t) {
    const halves h = halves_of(t);
    return convolve_together(t, images_together(t, t->to, h.images, QN_F16),
                             weights_together(t, t->to, h.weights, QN_F16), QN_F16);
}

/* ---- what the results are ---- */

static double flops_of_convolve(const bench_operands *t) {
    const uint32_t *s = t->image;
    return 2.0 * s[BENCH_IMAGES] * s[BENCH_OUTPUTS] * s[BENCH_ROWS] * s[BENCH_COLUMNS] * s[BENCH_CHANNELS] *
           s[BENCH_TAPS] * s[BENCH_TAPS];
}

/* Element `at` of images of so many channels: which image and channel, and where in it. */
typedef struct pixel {
    uint64_t image, channel;
    int64_t row, column;
} pixel;

static pixel pixel_at(const bench_operands *t, uint64_t at, uint32_t channels) {
    const uint64_t width = t->image[BENCH_COLUMNS], plane = t->image[BENCH_ROWS] * width;
    return (pixel){at / plane / channels, at / plane % channels, (int64_t)(at % plane / width),
                   (int64_t)(at % width)};
}

/* 0 outside. */
static double value_at(const bench_operands *t, const float *images, uint32_t channels, pixel p) {
    const int64_t height = t->image[BENCH_ROWS], width = t->image[BENCH_COLUMNS];
    if (p.row < 0 || p.column < 0 || p.row >= height || p.column >= width) return 0;
    const uint64_t plane = p.image * channels + p.channel;
    return images[plane * (uint64_t)(height * width) + (uint64_t)(p.row * width + p.column)];
}

/* The sum for an element, and that of the terms' sizes. */
static double convolved_at(const bench_operands *t, uint64_t at, double *sizes) {
    const uint32_t *s = t->image, channels = s[BENCH_CHANNELS], taps = s[BENCH_TAPS], square = taps * taps;
    const pixel to = pixel_at(t, at, s[BENCH_OUTPUTS]);
    double sum = *sizes = 0;
    for (uint32_t i = 0; i < channels * square; i++) {
        pixel from = to;
        from.channel = i / square;
        from.row += (int64_t)(i % square / taps) - taps / 2;
        from.column += (int64_t)(i % taps) - taps / 2;
        const double term = value_at(t, t->x, channels, from) * t->y[to.channel * channels * square + i];
        sum += term;
        *sizes += fabs(term);
    }
    return sum;
}

/* Of the gradient by images. */
static double by_image_at(const bench_operands *t, uint64_t at, double *sizes) {
    const uint32_t *s = t->image, taps = s[BENCH_TAPS], square = taps * taps;
    const pixel to = pixel_at(t, at, s[BENCH_CHANNELS]);
    double sum = *sizes = 0;
    for (uint32_t i = 0; i < s[BENCH_OUTPUTS] * square; i++) {
        pixel from = to;
        from.channel = i / square;
        from.row += taps / 2 - (int64_t)(i % square / taps);
        from.column += taps / 2 - (int64_t)(i % taps);
        const double weight = t->y[(from.channel * s[BENCH_CHANNELS] + to.channel) * square + i % square];
        const double term = value_at(t, t->x, s[BENCH_OUTPUTS], from) * weight;
        sum += term;
        *sizes += fabs(term);
    }
    return sum;
}

/* Of the gradient by weights. */
static double by_weight_at(const bench_operands *t, uint64_t at, double *sizes) {
    const uint32_t *s = t->image, taps = s[BENCH_TAPS], channels = s[BENCH_CHANNELS];
    const uint64_t pixels = (uint64_t)s[BENCH_ROWS] * s[BENCH_COLUMNS], output = at / taps / taps / channels,
                   channel = at / taps / taps % channels;
    double sum = *sizes = 0;
    for (uint64_t i = 0; i < s[BENCH_IMAGES] * pixels; i++) {
        pixel to = pixel_at(t, i, 1), from = to;
        to.channel = output;
        from.channel = channel;
        from.row += (int64_t)(at / taps % taps) - taps / 2;
        from.column += (int64_t)(at % taps) - taps / 2;
        const double term = value_at(t, t->y, s[BENCH_OUTPUTS], to) * value_at(t, t->x, channels, from);
        sum += term;
        *sizes += fabs(term);
    }
    return sum;
}

/* Some elements of `count`, the first and the last among them. */
static bool are_sums(const bench_operands *t, const void *result, uint64_t count, uint64_t looked_at,
                     double (*sum_at)(const bench_operands *t, uint64_t at, double *sizes)) {
    for (uint64_t i = 0; i <= looked_at; i++) {
        double sizes;
        const uint64_t at = (count - 1) * i / looked_at;
        const double sum = sum_at(t, at, &sizes);
        if (!(fabs(bench_number(result, at) - sum) <= sizes * 0x1p-18)) return false;
    }
    return true;
}

static uint64_t count_images(const bench_operands *t, uint32_t channels) {
    const uint32_t *s = t->image;
    return (uint64_t)s[BENCH_IMAGES] * channels * s[BENCH_ROWS] * s[BENCH_COLUMNS];
}

static bool is_convolved(const bench_operands *t, const void *result) {
    return are_sums(t, result, count_images(t, t->image[BENCH_OUTPUTS]), 4096, convolved_at);
}

static bool is_by_images(const bench_operands *t, const void *result) {
    return are_sums(t, result, count_images(t, t->image[BENCH_CHANNELS]), 4096, by_image_at);
}

static bool is_by_weights(const bench_operands *t, const void *result) {
    const uint32_t *s = t->image;
    const uint64_t count = (uint64_t)s[BENCH_OUTPUTS] * s[BENCH_CHANNELS] * s[BENCH_TAPS] * s[BENCH_TAPS];
    return are_sums(t, result, count, 255, by_weight_at);
}

/* The nearest of 16 bits. */
static double half_of(double value) {
    enum { BITS = 11, LEAST_EXPONENT = -13 };
    int exponent;
    frexp(value, &exponent);
    const int last = (exponent > LEAST_EXPONENT ? exponent : LEAST_EXPONENT) - BITS;
    return ldexp(nearbyint(ldexp(value, -last)), last);
}

static double as_it_is(double value) { return value; }

/* Element `at` of the sums of images and weights whose channels lie together. */
static double together_at(const bench_operands *t, uint64_t at, double (*of)(double value), double *sizes) {
    const uint32_t *s = t->image, channels = s[BENCH_CHANNELS], taps = s[BENCH_TAPS];
    const uint64_t output = at % channels, place = at / channels,
                   plane = (uint64_t)s[BENCH_ROWS] * s[BENCH_COLUMNS];
    const pixel to = pixel_at(t, place, 1);
    double sum = *sizes = 0;
    for (uint32_t i = 0; i < taps * taps * channels; i++) {
        const int64_t row = to.row + (int64_t)(i / channels / taps) - taps / 2,
                      column = to.column + (int64_t)(i / channels % taps) - taps / 2;
        if (row < 0 || column < 0 || row >= s[BENCH_ROWS] || column >= s[BENCH_COLUMNS]) continue;
        const uint64_t pixels = place / plane * plane + (uint64_t)(row * s[BENCH_COLUMNS] + column);
        const double term = of((double)t->x[pixels * channels + i % channels]) *
                            of((double)t->y[output * taps * taps * channels + i]);
        sum += term;
        *sizes += fabs(term);
    }
    return sum;
}

static double floats_together_at(const bench_operands *t, uint64_t at, double *sizes) {
    return together_at(t, at, as_it_is, sizes);
}

static bool is_together(const bench_operands *t, const void *result) {
    return are_sums(t, result, count_images(t, t->image[BENCH_CHANNELS]), 4096, floats_together_at);
}

static double half_number(const void *result, uint64_t at) {
    uint16_t bits;
    memcpy(&bits, (const uint16_t *)result + at, sizeof bits);
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    if (exponent == 31) return (double)NAN;
    const double size = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return bits >> 15 ? -size : size;
}

static bool is_halves(const bench_operands *t, const void *result) {
    enum { LOOKED_AT = 4096 };
    const uint64_t count = count_images(t, t->image[BENCH_CHANNELS]);
    for (uint64_t i = 0; i <= LOOKED_AT; i++) {
        double sizes;
        const uint64_t at = (count - 1) * i / LOOKED_AT;
        const double sum = together_at(t, at, half_of, &sizes);
        if (!(fabs(half_number(result, at) - sum) <= fabs(sum) * 0x1p-11 + sizes * 0x1p-18 + 0x1p-24))
            return false;
    }
    return true;
}

/* None where there is no room behind the result. */
static double flops_of_halves(const bench_operands *t) {
    return halves_of(t).end <= 2 * t->count ? flops_of_convolve(t) : 0;
}

static const bench_row rows[] = {
    {"blur f32, 5 taps", run_blur, is_blurred, 8, true, NULL, NULL, NULL},
    {"max pool 3x3 f32", run_max_pool, has_largest, 5, true, NULL, NULL, NULL},
    {"convolve 3x3 f32", run_convolve, is_convolved, 0, false, flops_of_convolve, "FLOP/s", NULL},
    {"convolve 3x3 f32, NHWC", run_together, is_together, 0, false, flops_of_convolve, "FLOP/s", NULL},
    {"convolve 3x3 f16, NHWC", run_halves, is_halves, 0, false, flops_of_halves, "FLOP/s", prepare_halves},
    {"convolve 3x3 f32, gradient by images", run_by_images, is_by_images, 0, false, flops_of_convolve,
     "FLOP/s", NULL},
    {"convolve 3x3 f32, gradient by weights", run_by_weights, is_by_weights, 0, false, flops_of_convolve,
     "FLOP/s", NULL}};
const bench_row_list bench_rows_of_images = {rows, sizeof rows / sizeof *rows};
