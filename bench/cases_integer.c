/* The cases on pictures and whole numbers, and the transpose: their results are compared exactly, or nearly
   so where rounding may tip a byte. */
#include "bench.h"

#include "cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The part of `count` that differs. */
static double part(size_t differing, size_t count) { return (double)differing / (double)count; }

/* ---- Mandelbrot ---- */

enum { MANDELBROT_LIMIT = 512 };
static const float mandelbrot_left = -2.1f, mandelbrot_top = 1.2f;

void mandelbrot_make(workload *load, bench_scale scale) {
    uint32_t width = bench_pick(scale, 256, 1024, 4096), height = width / 4 * 3;
    load->result = workload_buffer(load, (size_t)width * height * 4, NULL, false);
    workload_step(load, "mandelbrot", width, height, 0, 0,
                  STEP_ARGS(REAL(mandelbrot_left), REAL(mandelbrot_top), REAL(3.2f / (float)width),
                            UINT(MANDELBROT_LIMIT), BUF(0)));

    snprintf(load->size, sizeof load->size, "%ux%u", width, height);
}

/* The part of the pixels whose count is more than one off: near the set the rounding decides. */
double mandelbrot_error(const workload *load, const void *result) {
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
    uint8_t *pixels = bench_alloc((size_t)width * height * 4);
    uint32_t seed = 13;
    for (size_t i = 0; i < (size_t)width * height * 4; i++) pixels[i] = (uint8_t)(bench_random(&seed) >> 11);
    return pixels;
}

static const uint8_t *pixel_at(const uint8_t *pixels, int x, int y, int width, int height) {
    x = x < 0 ? 0 : x >= width ? width - 1 : x;
    y = y < 0 ? 0 : y >= height ? height - 1 : y;
    return pixels + ((size_t)y * (size_t)width + (size_t)x) * 4;
}

enum { BLUR_RADIUS = 5 };

void blur_make(workload *load, bench_scale scale) {
    uint32_t side = bench_pick(scale, 128, 1024, 4096);
    float *weights = bench_alloc((2 * BLUR_RADIUS + 1) * sizeof *weights), total = 0;
    for (int d = -BLUR_RADIUS; d <= BLUR_RADIUS; d++)
        total += weights[d + BLUR_RADIUS] = expf(-(float)(d * d) / 12.5f);
    for (int d = 0; d <= 2 * BLUR_RADIUS; d++) weights[d] /= total;
    size_t pixels = (size_t)side * side;
    workload_buffer(load, (2 * BLUR_RADIUS + 1) * sizeof *weights, weights, false);
    workload_buffer(load, pixels * 4, noise_picture(side, side), false);
    workload_buffer(load, pixels * 16, NULL, false);
    load->result = workload_buffer(load, pixels * 4, NULL, false);
    workload_step(load, "blur_rows", side, side, 0, 0, STEP_ARGS(INT(BLUR_RADIUS), BUF(0), BUF(1), BUF(2)));
    workload_step(load, "blur_columns", side, side, 0, 0,
                  STEP_ARGS(INT(BLUR_RADIUS), BUF(0), BUF(2), BUF(3)));
    load->flops = 2.0 * 4 * 2 * (2 * BLUR_RADIUS + 1) * (double)pixels;
    snprintf(load->size, sizeof load->size, "%u^2, r=%d", side, BLUR_RADIUS);
}

/* One channel of a blurred pixel, before it is rounded. */
static double blurred(const workload *load, int x, int y, int width, int height, int channel) {
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

double blur_error(const workload *load, const void *result) {
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

void sobel_make(workload *load, bench_scale scale) {
    uint32_t side = bench_pick(scale, 128, 2048, 4096);
    size_t bytes = (size_t)side * side * 4;
    workload_buffer(load, bytes, noise_picture(side, side), false);
    load->result = workload_buffer(load, bytes, NULL, false);
    workload_step(load, "sobel", side, side, 0, 0, STEP_ARGS(REAL(0.5f), BUF(0), BUF(1)));
    load->bytes = 2.0 * (double)bytes;
    snprintf(load->size, sizeof load->size, "%u^2", side);
}

static double brightness(const uint8_t *p) { return 0.299 * p[0] + 0.587 * p[1] + 0.114 * p[2]; }

double sobel_error(const workload *load, const void *result) {
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

void histogram_make(workload *load, bench_scale scale) {
    uint32_t n = bench_pick(scale, 1u << 20, 1u << 24, 1u << 27), seed = 14;
    uint8_t *data = bench_alloc(n);
    /* The sum of two dice: some bins are hit more often than others, as in real pictures. */
    for (uint32_t i = 0; i < n; i++)
        data[i] = (uint8_t)((bench_random(&seed) % 128) + (bench_random(&seed) % 128));
    workload_buffer(load, n, data, false);
    load->result = workload_buffer(load, 256 * 4, NULL, true);
    workload_step(load, "histogram", (scale == BENCH_GPU ? 1024 : 64) * 256, 0, 256, 0,
                  STEP_ARGS(UINT(n), BUF(0), BUF(1)));
    load->bytes = n;
    snprintf(load->size, sizeof load->size, "%u MiB", n >> 20);
}

double histogram_error(const workload *load, const void *result) {
    uint32_t bins[256] = {0};
    const uint8_t *data = load->buffers[0].data;
    for (size_t i = 0; i < load->buffers[0].size; i++) bins[data[i]]++;
    return memcmp(bins, result, sizeof bins) != 0;
}

/* ---- scan ---- */

enum { SCAN_LOCAL = 256 };

/* Level by level, each SCAN_LOCAL times smaller; then the sums go back down. */
void scan_make(workload *load, bench_scale scale) {
    uint32_t n = bench_pick(scale, 1u << 16, 1u << 22, 1u << 24), seed = 15, local = SCAN_LOCAL;
    uint32_t *data = bench_alloc(n * sizeof *data);
    for (uint32_t i = 0; i < n; i++) data[i] = bench_random(&seed) % 1000;
    uint32_t groups1 = n / local, padded1 = (groups1 + local - 1) / local * local, groups2 = padded1 / local;
    workload_buffer(load, n * 4, data, false);
    load->result = workload_buffer(load, n * 4, NULL, false);
    workload_buffer(load, padded1 * 4, NULL, true);
    workload_buffer(load, padded1 * 4, NULL, false);
    workload_buffer(load, local * 4, NULL, true);
    workload_buffer(load, local * 4, NULL, false);
    workload_buffer(load, local * 4, NULL, false);
    bench_arg rows = LOCAL(local * 8);
    workload_step(load, "scan_groups", n, 0, local, 0, STEP_ARGS(BUF(0), BUF(1), BUF(2), rows));
    workload_step(load, "scan_groups", padded1, 0, local, 0, STEP_ARGS(BUF(2), BUF(3), BUF(4), rows));
    workload_step(load, "scan_groups", local, 0, local, 0, STEP_ARGS(BUF(4), BUF(5), BUF(6), rows));
    if (groups2 > 1) workload_step(load, "scan_add", padded1, 0, local, 0, STEP_ARGS(BUF(3), BUF(5)));
    workload_step(load, "scan_add", n, 0, local, 0, STEP_ARGS(BUF(1), BUF(3)));
    load->bytes = 16.0 * n;
    snprintf(load->size, sizeof load->size, "%.3gM", n / 1048576.0);
}

double scan_error(const workload *load, const void *result) {
    const uint32_t *in = load->buffers[0].data, *got = result;
    uint32_t total = 0;
    size_t differing = 0, n = load->buffers[0].size / 4;
    for (size_t i = 0; i < n; i++) differing += got[i] != (total += in[i]);
    return part(differing, n);
}

/* ---- bitonic sort ---- */

enum { BITONIC_LOCAL = 256 };

void bitonic_make(workload *load, bench_scale scale) {
    uint32_t n = bench_pick(scale, 1u << 13, 1u << 18, 1u << 22), seed = 16;
    uint32_t *data = bench_alloc(n * sizeof *data);
    for (uint32_t i = 0; i < n; i++) data[i] = bench_random(&seed);
    load->result = workload_buffer(load, n * 4, data, true);
    for (uint32_t run = 2; run && run <= n; run *= 2) {
        uint32_t distance = run / 2;
        for (; distance > BITONIC_LOCAL; distance /= 2)
            workload_step(load, "bitonic_step", n / 2, 0, 0, 0, STEP_ARGS(UINT(run), UINT(distance), BUF(0)));
        workload_step(load, "bitonic_local", n / 2, 0, BITONIC_LOCAL, 0,
                      STEP_ARGS(UINT(run), UINT(distance), BUF(0), LOCAL(BITONIC_LOCAL * 8)));
    }
    load->bytes = 8.0 * n * load->num_steps;
    snprintf(load->size, sizeof load->size, "%uK", n >> 10);
}

static int by_number(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

double bitonic_error(const workload *load, const void *result) {
    size_t size = load->buffers[0].size;
    uint32_t *want = bench_alloc(size);
    memcpy(want, load->buffers[0].data, size);
    qsort(want, size / 4, 4, by_number);
    double error = memcmp(want, result, size) != 0;
    free(want);
    return error;
}

/* ---- transpose ---- */

void transpose_make(workload *load, bench_scale scale) {
    uint32_t width = bench_pick(scale, 128, 2048, 8192), height = bench_pick(scale, 192, 1536, 6144);
    size_t count = (size_t)width * height;
    workload_buffer(load, count * 4, bench_floats(count, -1, 1, 17), false);
    load->result = workload_buffer(load, count * 4, NULL, false);
    workload_step(load, "transpose", width, height, 16, 16,
                  STEP_ARGS(UINT(width), UINT(height), BUF(0), BUF(1)));
    load->bytes = 8.0 * (double)count;
    snprintf(load->size, sizeof load->size, "%ux%u", width, height);
}

double transpose_error(const workload *load, const void *result) {
    const float *in = load->buffers[0].data, *got = result;
    size_t width = load->steps[0].global[0], height = load->steps[0].global[1], differing = 0;
    for (size_t y = 0; y < height; y++)
        for (size_t x = 0; x < width; x++) differing += in[y * width + x] != got[x * height + y];
    return part(differing, width * height);
}
