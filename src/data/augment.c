/* Batches on the device: normalised; changed at random. A change is one map of places for each image, from where a pixel of the result is to where it comes
   from, so that all kinds of change together read the image once. */
#include <math.h>

#include "data/data.h"

static const double PI = 3.14159265358979323846;

static qn_tensor *refuse(qn_tensor *x, const char *sentence) {
    return qn_tensor_fail(qn_tensor_owner(x), QN_ERROR_ARGUMENT, sentence);
}

static bool is_float(qn_element type) {
    return type == QN_F32 || type == QN_F64 || type == QN_F16 || type == QN_BF16;
}

/* ---- normalising ---- */

qn_tensor *qn_normalize(qn_tensor *x, double scale, const double *mean, const double *deviation,
                        uint64_t channels) {
    enum { MOST = 64 };
    float factors[MOST], offsets[MOST];
    if (qn_tensor_status(x)) return x;
    const qn_shape shape = qn_tensor_shape(x);
    if (!mean || !deviation || !channels || channels > MOST || shape.rank < 2 || shape.sizes[1] != channels)
        return refuse(
            x, "qn_normalize: a mean and a deviation for each channel, which are dimension 1, 64 at most");
    for (uint64_t c = 0; c < channels; c++) {
        factors[c] = (float)(1 / (deviation[c] * (scale != 0 ? scale : 1)));
        offsets[c] = (float)(-mean[c] / deviation[c]);
    }
    qn_shape by_channel = {.rank = shape.rank - 1, .sizes = {channels}};
    for (uint32_t d = 1; d < by_channel.rank; d++) by_channel.sizes[d] = 1;
    qn_tensors *t = qn_tensor_owner(x);
    const qn_element type = qn_tensor_type(x);
    qn_tensor *y = qn_multiply_add(qn_cast(x, type == QN_F64 ? QN_F64 : QN_F32),
                                   qn_from_data(t, QN_F32, by_channel, factors),
                                   qn_from_data(t, QN_F32, by_channel, offsets));
    return is_float(type) ? qn_cast(y, type) : y;
}

/* ---- changing at random ---- */

/* A number for each of n images: from -most to most. */
static qn_tensor *spread(qn_tensors *t, uint64_t n, double most) {
    return qn_multiply_add(qn_rand(t, QN_F32, QN_SHAPE(n, 1, 1)), 2 * most, -most);
}

/* Where each image is read, first relative to the middle of the result: [n, height, width] of rows and columns. */
typedef struct places {
    qn_tensor *y, *x;
} places;

static void turn(places *p, qn_tensors *t, uint64_t n, double degrees) {
    qn_tensor *angle = spread(t, n, degrees * PI / 180), *c = qn_cos(angle), *s = qn_sin(angle);
    qn_tensor *y = qn_subtract(qn_multiply(c, p->y), qn_multiply(s, p->x));
    p->x = qn_add(qn_multiply(s, p->y), qn_multiply(c, p->x));
    p->y = y;
}

static void grow(places *p, qn_tensors *t, uint64_t n, double scale) {
    qn_tensor *factor = qn_exp(spread(t, n, log1p(scale)));
    p->y = qn_multiply(p->y, factor);
    p->x = qn_multiply(p->x, factor);
}

/* From the middle of the result to the image, in which it begins anywhere along a side. */
static qn_tensor *lay(qn_tensor *x, qn_tensors *t, uint64_t n, uint64_t image, uint64_t result,
                      double shift) {
    const int64_t most = (int64_t)shift, spare = (int64_t)(image - result);
    const double middle = (double)(result - 1) / 2;
    if (!most && !spare) return qn_add(x, middle);
    qn_tensor *begin = qn_randint(t, QN_I32, QN_SHAPE(n, 1, 1), -most, spare + most + 1);
    return qn_add(x, qn_add(qn_cast(begin, QN_F32), middle));
}

/* Along a side: -1.5, -0.5, 0.5, 1.5. */
static qn_tensor *centred(qn_tensors *t, uint64_t size) {
    return qn_subtract(qn_arange(t, QN_F32, 0, (double)size, 1), (double)(size - 1) / 2);
}

static places find_places(qn_tensors *t, const qn_shape *image, uint64_t height, uint64_t width,
                          const qn_augment_desc *desc) {
    const uint64_t n = image->sizes[0];
    places p = {qn_broadcast_to(qn_unsqueeze(centred(t, height), 1), QN_SHAPE(n, height, width)),
                qn_broadcast_to(centred(t, width), QN_SHAPE(n, height, width))};
    if (desc->flip > 0) {
        qn_tensor *keeps = qn_greater_equal(qn_rand(t, QN_F32, QN_SHAPE(n, 1, 1)), desc->flip);
        p.x = qn_multiply(p.x, qn_where(keeps, 1.0f, -1.0f));
    }
    if (desc->rotate > 0) turn(&p, t, n, desc->rotate);
    if (desc->scale > 0) grow(&p, t, n, desc->scale);
    p.y = lay(p.y, t, n, image->sizes[2], height, desc->shift);
    p.x = lay(p.x, t, n, image->sizes[3], width, desc->shift);
    return p;
}

/* Pixels at whole places, 0 outside: [n, channels, places]. `image` is [n, channels, h * w]. */
static qn_tensor *pick(qn_tensor *image, qn_tensor *y, qn_tensor *x, uint64_t h, uint64_t w) {
    qn_tensor *is_inside = qn_logical_and(qn_logical_and(qn_greater_equal(y, 0), qn_less(y, h)),
                                          qn_logical_and(qn_greater_equal(x, 0), qn_less(x, w)));
    qn_tensor *index = qn_where(is_inside, qn_cast(qn_multiply_add(y, w, x), QN_I32), -1);
    return qn_take_along_axis(image, qn_unsqueeze(qn_flatten(index, 1, -1), 1), 2);
}

/* Of four pixels around each place, or the one that it is. */
static qn_tensor *sample(qn_tensor *image, const places *p, uint64_t h, uint64_t w, bool between) {
    if (!between) return pick(image, p->y, p->x, h, w);
    qn_tensor *y = qn_floor(p->y), *x = qn_floor(p->x), *rows[2];
    qn_tensor *fy = qn_unsqueeze(qn_flatten(qn_subtract(p->y, y), 1, -1), 1),
              *fx = qn_unsqueeze(qn_flatten(qn_subtract(p->x, x), 1, -1), 1);
    for (int down = 0; down < 2; down++) {
        qn_tensor *row = qn_add(y, down);
        rows[down] = qn_lerp(pick(image, row, x, h, w), pick(image, row, qn_add(x, 1), h, w), fx);
    }
    return qn_lerp(rows[0], rows[1], fy);
}

static const char *problem_of(const qn_augment_desc *desc, const qn_shape *shape, qn_element type) {
    if (!desc) return "qn_augment: desc is NULL";
    if (shape->rank != 4) return "qn_augment: images are [n, channels, height, width]";
    if (!is_float(type) && type != QN_U8) return "qn_augment: pixels are floats or u8";
    if (shape->sizes[2] * shape->sizes[3] > INT32_MAX) return "qn_augment: images of over 2^31 pixels";
    if (desc->height > shape->sizes[2] || desc->width > shape->sizes[3])
        return "qn_augment: the results are larger than the images";
    if (!(desc->flip >= 0 && desc->flip <= 1)) return "qn_augment: flip is no probability";
    if (!(desc->shift >= 0 && desc->shift <= 1e6 && desc->rotate >= 0 && desc->rotate <= 360 &&
          desc->scale >= 0 && desc->scale <= 100))
        return "qn_augment: shift is 0 to 10^6 pixels, rotate 0 to 360 degrees, scale 0 to 100";
    return NULL;
}

qn_tensor *qn_augment(qn_tensor *x, const qn_augment_desc *desc) {
    if (qn_tensor_status(x)) return x;
    const qn_shape shape = qn_tensor_shape(x);
    const char *problem = problem_of(desc, &shape, qn_tensor_type(x));
    if (problem) return refuse(x, problem);
    const uint64_t *sizes = shape.sizes, height = desc->height ? desc->height : sizes[2],
                   width = desc->width ? desc->width : sizes[3];
    if (qn_tensor_type(x) == QN_U8) x = qn_cast(x, QN_F32);
    if (!sizes[0] || !height || !width) return qn_slice(x, 2, 0, (int64_t)height, 1);
    const places p = find_places(qn_tensor_owner(x), &shape, height, width, desc);
    qn_tensor *image = qn_flatten(x, 2, 3);
    const bool between = desc->rotate > 0 || desc->scale > 0;
    return qn_reshape(sample(image, &p, sizes[2], sizes[3], between),
                      QN_SHAPE(sizes[0], sizes[1], height, width));
}
