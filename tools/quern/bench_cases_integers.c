/* The cases on pictures and whole numbers, and the transpose: their results are compared exactly, or nearly
   so where rounding may tip a byte. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_code.h"

/* The part of `count` that differs. */
static double part(size_t differing, size_t count) { return (double)differing / (double)count; }

/* ---- Mandelbrot ---- */

enum { MANDELBROT_LIMIT = 512 };
static const float mandelbrot_left = -2.1f, mandelbrot_top = 1.2f;

static void mandelbrot_make(bench_workload *load, bench_scale scale) {
    uint32_t width = bench_pick(scale, 256, 1024, 4096), height = width / 4 * 3;
    load->result = bench_workload_add(load, (size_t)width * height * 4, NULL, false);
    bench_workload_launch(load, "mandelbrot", width, height, 0, 0,
                          BENCH_ARGS(REAL(mandelbrot_left), REAL(mandelbrot_top), REAL(3.2f / (float)width),
                                     UINT(MANDELBROT_LIMIT), BUF(0)));

    snprintf(load->size, sizeof load->size, "%ux%u", width, height);
}

/* The part of the pixels whose count is more than one off: near the set the rounding decides. */
static double mandelbrot_error(const bench_workload *load, const void *result) {
    const uint32_t *got = result;
    size_t width = load->steps[0].global[0], height = load->steps[0].global[1], differing = 0,
           seen_pixels = 0;
    float pixel = load->steps[0].args[2].value.f;
    for (size_t py = 0; py<height; py += height> 768 ? 19 : 1) {
        for (size_t px = 0; px < width; px++) {
            float cx = mandelbrot_left + pixel * (float)px, cy = mandelbrot_top - pixel * (float)py;
            float x = 0, y = 0;
            uint32_t count = 0;
            for (; count < MANDELBROT_LIMIT && x * x + y * y <= 4.0f; count++) {
                float next = x * x - y * y + cx;
                y = 2.0f * x * y + cy;
                x = next;
            }
            seen_pixels++;
            uint32_t seen = got[py * width + px];
            differing += seen > count + 1 || seen + 1 < count;
        }
    }
    return part(differing, seen_pixels);
}

/* ---- pictures ---- */

static void *noise_picture(uint32_t width, uint32_t height) {
    uint8_t *pixels = tool_alloc((size_t)width * height * 4);
    uint32_t seed = 13;
    for (size_t i = 0; i < (size_t)width * height * 4; i++)
        pixels[i] = (uint8_t)(bench_workload_random(&seed) >> 11);
    return pixels;
}

static const uint8_t *pixel_at(const uint8_t *pixels, int x, int y, int width, int height) {
    x = x < 0 ? 0 : x >= width ? width - 1 : x;
    y = y < 0 ? 0 : y >= height ? height - 1 : y;
    return pixels + ((size_t)y * (size_t)width + (size_t)x) * 4;
}

enum { BLUR_RADIUS = 5 };

static void blur_make(bench_workload *load, bench_scale scale) {
    uint32_t side = bench_pick(scale, 128, 1024, 4096);
    float *weights = tool_alloc((2 * BLUR_RADIUS + 1) * sizeof *weights), total = 0;
    for (int d = -BLUR_RADIUS; d <= BLUR_RADIUS; d++)
        total += weights[d + BLUR_RADIUS] = expf(-(float)(d * d) / 12.5f);
    for (int d = 0; d <= 2 * BLUR_RADIUS; d++) weights[d] /= total;
    size_t pixels = (size_t)side * side;
    bench_workload_add(load, (2 * BLUR_RADIUS + 1) * sizeof *weights, weights, false);
    bench_workload_add(load, pixels * 4, noise_picture(side, side), false);
    bench_workload_add(load, pixels * 16, NULL, false);
    load->result = bench_workload_add(load, pixels * 4, NULL, false);
    bench_workload_launch(load, "blur_rows", side, side, 0, 0,
                          BENCH_ARGS(INT(BLUR_RADIUS), BUF(0), BUF(1), BUF(2)));
    bench_workload_launch(load, "blur_columns", side, side, 0, 0,
                          BENCH_ARGS(INT(BLUR_RADIUS), BUF(0), BUF(2), BUF(3)));
    load->flops = 2.0 * 4 * 2 * (2 * BLUR_RADIUS + 1) * (double)pixels;
    snprintf(load->size, sizeof load->size, "%u^2, r=%d", side, BLUR_RADIUS);
}

/* One channel of a blurred pixel, before it is rounded. */
static double blurred(const bench_workload *load, int x, int y, int width, int height, int channel) {
    const float *weights = load->buffers[0].data;
    double sum = 0;
    for (int j = -BLUR_RADIUS; j <= BLUR_RADIUS; j++) {
        double row = 0;
        for (int i = -BLUR_RADIUS; i <= BLUR_RADIUS; i++)
            row += (double)weights[i + BLUR_RADIUS] *
                   pixel_at(load->buffers[1].data, x + i, y + j, width, height)[channel];
        sum += weights[j + BLUR_RADIUS] * row;
    }
    return sum;
}

static double blur_error(const bench_workload *load, const void *result) {
    int width = (int)load->steps[0].global[0], height = (int)load->steps[0].global[1];
    size_t differing = 0;
    for (int y = 0; y<height; y += height> 128 ? height / 64 - 1 : 1)
        for (int x = 0; x < width; x++)
            for (int channel = 0; channel < 4; channel++) {
                double off = pixel_at(result, x, y, width, height)[channel] -
                             blurred(load, x, y, width, height, channel);
                differing += fabs(off) > 0.502;
            }
    return part(differing, (size_t)width * (size_t)height * 4);
}

static void sobel_make(bench_workload *load, bench_scale scale) {
    uint32_t side = bench_pick(scale, 128, 2048, 4096);
    size_t bytes = (size_t)side * side * 4;
    bench_workload_add(load, bytes, noise_picture(side, side), false);
    load->result = bench_workload_add(load, bytes, NULL, false);
    bench_workload_launch(load, "sobel", side, side, 0, 0, BENCH_ARGS(REAL(0.5f), BUF(0), BUF(1)));
    load->bytes = 2.0 * (double)bytes;
    snprintf(load->size, sizeof load->size, "%u^2", side);
}

static double brightness(const uint8_t *p) { return 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2]; }

static double sobel_error(const bench_workload *load, const void *result) {
    static const int mask[3][3] = {{-1, 0, 1}, {-2, 0, 2}, {-1, 0, 1}};
    const uint8_t *in = load->buffers[0].data, *got = result;
    int width = (int)load->steps[0].global[0], height = (int)load->steps[0].global[1];
    size_t differing = 0;
    for (int y = 0; y<height; y += height> 2048 ? 7 : 1)
        for (int x = 0; x < width; x++) {
            double gx = 0, gy = 0;
            for (int j = 0; j < 3; j++)
                for (int i = 0; i < 3; i++) {
                    double b = brightness(pixel_at(in, x + i - 1, y + j - 1, width, height));
                    gx += mask[j][i] * b;
                    gy += mask[i][j] * b;
                }
            double want = fmin(255, 0.5 * sqrt(gx * gx + gy * gy));
            differing += fabs(pixel_at(got, x, y, width, height)[0] - want) > 0.502;
        }
    return part(differing, (size_t)width * (size_t)height);
}

/* ---- histogram ---- */

static void histogram_make(bench_workload *load, bench_scale scale) {
    uint32_t n = bench_pick(scale, 1u << 20, 1u << 24, 1u << 27), seed = 14;
    uint8_t *data = tool_alloc(n);
    /* The sum of two dice: some bins are hit more often than others, as in real pictures. */
    for (uint32_t i = 0; i < n; i++)
        data[i] = (uint8_t)((bench_workload_random(&seed) % 128) + (bench_workload_random(&seed) % 128));
    bench_workload_add(load, n, data, false);
    load->result = bench_workload_add(load, 256 * 4, NULL, true);
    bench_workload_launch(load, "histogram", (scale == BENCH_GPU ? 1024 : 64) * 256, 0, 256, 0,
                          BENCH_ARGS(UINT(n), BUF(0), BUF(1)));
    load->bytes = n;
    snprintf(load->size, sizeof load->size, "%u MiB", n >> 20);
}

static double histogram_error(const bench_workload *load, const void *result) {
    uint32_t bins[256] = {0};
    const uint8_t *data = load->buffers[0].data;
    for (size_t i = 0; i < load->buffers[0].size; i++) bins[data[i]]++;
    return memcmp(bins, result, sizeof bins) != 0;
}

/* ---- scan ---- */

enum { SCAN_LOCAL = 256 };

/* Level by level, each SCAN_LOCAL times smaller; then the sums go back down. */
static void scan_make(bench_workload *load, bench_scale scale) {
    uint32_t n = bench_pick(scale, 1u << 16, 1u << 22, 1u << 24), seed = 15, local = SCAN_LOCAL;
    uint32_t *data = tool_alloc(n * sizeof *data);
    for (uint32_t i = 0; i < n; i++) data[i] = bench_workload_random(&seed) % 1000;
    uint32_t groups1 = n / local, padded1 = (groups1 + local - 1) / local * local, groups2 = padded1 / local;
    bench_workload_add(load, n * 4, data, false);
    load->result = bench_workload_add(load, n * 4, NULL, false);
    bench_workload_add(load, padded1 * 4, NULL, true);
    bench_workload_add(load, padded1 * 4, NULL, false);
    bench_workload_add(load, local * 4, NULL, true);
    bench_workload_add(load, local * 4, NULL, false);
    bench_workload_add(load, local * 4, NULL, false);
    bench_arg rows = LOCAL(local * 8);
    bench_workload_launch(load, "scan_groups", n, 0, local, 0, BENCH_ARGS(BUF(0), BUF(1), BUF(2), rows));
    bench_workload_launch(load, "scan_groups", padded1, 0, local, 0,
                          BENCH_ARGS(BUF(2), BUF(3), BUF(4), rows));
    bench_workload_launch(load, "scan_groups", local, 0, local, 0, BENCH_ARGS(BUF(4), BUF(5), BUF(6), rows));
    if (groups2 > 1)
        bench_workload_launch(load, "scan_add", padded1, 0, local, 0, BENCH_ARGS(BUF(3), BUF(5)));
    bench_workload_launch(load, "scan_add", n, 0, local, 0, BENCH_ARGS(BUF(1), BUF(3)));
    load->bytes = 16.0 * n;
    snprintf(load->size, sizeof load->size, "%.3gM", n / 1048576.0);
}

static double scan_error(const bench_workload *load, const void *result) {
    const uint32_t *in = load->buffers[0].data, *got = result;
    uint32_t total = 0;
    size_t differing = 0, n = load->buffers[0].size / 4;
    for (size_t i = 0; i < n; i++) differing += got[i] != (total += in[i]);
    return part(differing, n);
}

/* ---- bitonic sort ---- */

enum { BITONIC_LOCAL = 256 };

static void bitonic_make(bench_workload *load, bench_scale scale) {
    uint32_t n = bench_pick(scale, 1u << 13, 1u << 18, 1u << 22), seed = 16;
    uint32_t *data = tool_alloc(n * sizeof *data);
    for (uint32_t i = 0; i < n; i++) data[i] = bench_workload_random(&seed);
    load->result = bench_workload_add(load, n * 4, data, true);
    for (uint32_t run = 2; run && run <= n; run *= 2) {
        uint32_t distance = run / 2;
        for (; distance > BITONIC_LOCAL; distance /= 2)
            bench_workload_launch(load, "bitonic_step", n / 2, 0, 0, 0,
                                  BENCH_ARGS(UINT(run), UINT(distance), BUF(0)));
        bench_workload_launch(load, "bitonic_local", n / 2, 0, BITONIC_LOCAL, 0,
                              BENCH_ARGS(UINT(run), UINT(distance), BUF(0), LOCAL(BITONIC_LOCAL * 8)));
    }
    load->bytes = 8.0 * n * load->num_steps;
    snprintf(load->size, sizeof load->size, "%uK", n >> 10);
}

static int by_number(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static double bitonic_error(const bench_workload *load, const void *result) {
    size_t size = load->buffers[0].size;
    uint32_t *want = tool_alloc(size);
    memcpy(want, load->buffers[0].data, size);
    qsort(want, size / 4, 4, by_number);
    double error = memcmp(want, result, size) != 0;
    free(want);
    return error;
}

/* ---- transpose ---- */

static void transpose_make(bench_workload *load, bench_scale scale) {
    uint32_t width = bench_pick(scale, 128, 2048, 8192), height = bench_pick(scale, 192, 1536, 6144);
    size_t count = (size_t)width * height;
    bench_workload_add(load, count * 4, bench_workload_floats(count, -1, 1, 17), false);
    load->result = bench_workload_add(load, count * 4, NULL, false);
    bench_workload_launch(load, "transpose", width, height, 16, 16,
                          BENCH_ARGS(UINT(width), UINT(height), BUF(0), BUF(1)));
    load->bytes = 8.0 * (double)count;
    snprintf(load->size, sizeof load->size, "%ux%u", width, height);
}

static double transpose_error(const bench_workload *load, const void *result) {
    const float *in = load->buffers[0].data, *got = result;
    size_t width = load->steps[0].global[0], height = load->steps[0].global[1], differing = 0;
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++) differing += in[y * width + x] != got[x * height + y];
    return part(differing, width * height);
}

static const bench_case cases[] = {{"mandelbrot", "mandelbrot.cl", mandelbrot_make, mandelbrot_error, 0.01},
                                   {"blur", "blur.cl", blur_make, blur_error, 0},
                                   {"sobel", "sobel.cl", sobel_make, sobel_error, 0},
                                   {"histogram", "histogram.cl", histogram_make, histogram_error, 0},
                                   {"scan", "scan.cl", scan_make, scan_error, 0},
                                   {"bitonic", "bitonic.cl", bitonic_make, bitonic_error, 0},
                                   {"transpose", "transpose.cl", transpose_make, transpose_error, 0}};
const bench_case_list bench_cases_of_integers = {cases, sizeof cases / sizeof *cases};
