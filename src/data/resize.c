/* Scaling: a pixel of the result is the mean of what it covers, weighted by a triangle of twice its width (of two pixels where the image grows), first
   along rows, then along columns. */
#include <math.h>

#include "data/pixels.h"

/* What lies under pixel `at` along a side: elements first to first + count - 1, and the weight of each. */
typedef struct cover {
    uint32_t first, count;
    double middle, reach;
} cover;

/* `begin` and `scale`: where the result begins along the side, and how much of it a pixel covers. */
static cover covered(uint32_t at, double begin, double scale, uint32_t size) {
    const double middle = begin + (at + 0.5) * scale, reach = scale > 1 ? scale : 1;
    const double low = floor(middle - reach), high = ceil(middle + reach);
    const uint32_t first = low < 0 ? 0 : (uint32_t)low, end = high > size ? size : (uint32_t)high;
    return (cover){first, end - first, middle, reach};
}

static double weight(const cover *c, uint32_t i) {
    const double distance = fabs(c->first + i + 0.5 - c->middle) / c->reach;
    return distance < 1 ? 1 - distance : 0;
}

/* Rows of the image, each scaled to `width` pixels: [height of the image, width, channels]. */
static void scale_rows(const pixels *image, uint32_t width, double begin, double scale, float *to) {
    const uint32_t channels = image->channels;
    for (uint32_t x = 0; x < width; x++) {
        const cover c = covered(x, begin, scale, image->width);
        for (uint32_t y = 0; y < image->height; y++) {
            const uint8_t *from = image->data + ((size_t)y * image->width + c.first) * channels;
            double sums[4] = {0}, all = 0;
            for (uint32_t i = 0; i < c.count; i++) {
                const double w = weight(&c, i);
                for (uint32_t k = 0; k < channels; k++) sums[k] += w * from[i * channels + k];
                all += w;
            }
            for (uint32_t k = 0; k < channels; k++)
                to[((size_t)y * width + x) * channels + k] = (float)(sums[k] / all);
        }
    }
}

static void scale_columns(const float *from, const pixels *image, uint32_t width, uint32_t height,
                          double begin, double scale, uint8_t *to) {
    const uint32_t channels = image->channels;
    for (uint32_t y = 0; y < height; y++) {
        const cover c = covered(y, begin, scale, image->height);
        for (uint32_t x = 0; x < width * channels; x++) {
            double sum = 0, all = 0;
            for (uint32_t i = 0; i < c.count; i++) {
                const double w = weight(&c, i);
                sum += w * from[(size_t)(c.first + i) * width * channels + x];
                all += w;
            }
            const uint32_t channel = x % channels, column = x / channels;
            to[((size_t)channel * height + y) * width + column] = (uint8_t)(sum / all + 0.5);
        }
    }
}

qn_status qn__pixels_fit(qn_context *context, const pixels *image, uint32_t width, uint32_t height,
                         uint8_t *to) {
    const double across = (double)image->width / width, down = (double)image->height / height,
                 scale = across < down ? across : down;
    float *rows =
        qn__data_allocate(context, (uint64_t)image->height * width * image->channels * sizeof *rows);
    if (!rows) return QN_ERROR_OUT_OF_MEMORY;
    scale_rows(image, width, (image->width - scale * width) / 2, scale, rows);
    scale_columns(rows, image, width, height, (image->height - scale * height) / 2, scale, to);
    qn__data_release(context, rows);
    return QN_OK;
}
