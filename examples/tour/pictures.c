/* Second chapter: pictures. The Mandelbrot set is computed by a kernel and stays on the device; blur and
   edges start from there. Each is mapped to the host only to be written as a PNG. */
#include "tour.h"

#include <math.h>
#include <stdio.h>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb_image_write.h>

enum { RADIUS = 9 };

typedef struct gallery {
    tour *t;
    uint32_t width, height;
    qn_kernel *mandelbrot, *rows, *columns, *sobel;
    qn_buffer *picture, *between, *filtered, *weights;
} gallery;

static bool open_gallery(gallery *g) {
    tour *t = g->t;
    float weights[2 * RADIUS + 1], total = 0;
    for (int d = -RADIUS; d <= RADIUS; d++)
        total += weights[d + RADIUS] = expf(-2.0f * (float)(d * d) / (RADIUS * RADIUS));
    for (int d = 0; d <= 2 * RADIUS; d++) weights[d] /= total;
    uint64_t pixels = (uint64_t)g->width * g->height;
    return tour_kernel(t, "mandelbrot.cl", "mandelbrot_picture", &g->mandelbrot) &&
           tour_kernel(t, "blur.cl", "blur_rows", &g->rows) &&
           tour_kernel(t, "blur.cl", "blur_columns", &g->columns) &&
           tour_kernel(t, "sobel.cl", "sobel", &g->sobel) && tour_buffer(t, pixels * 4, NULL, &g->picture) &&
           tour_buffer(t, pixels * 16, NULL, &g->between) && tour_buffer(t, pixels * 4, NULL, &g->filtered) &&
           tour_buffer(t, sizeof weights, weights, &g->weights);
}

static void close_gallery(gallery *g) {
    qn_kernel_destroy(g->mandelbrot);
    qn_kernel_destroy(g->rows);
    qn_kernel_destroy(g->columns);
    qn_kernel_destroy(g->sobel);
    qn_buffer_destroy(g->picture);
    qn_buffer_destroy(g->between);
    qn_buffer_destroy(g->filtered);
    qn_buffer_destroy(g->weights);
}

static bool save(gallery *g, qn_buffer *buffer, const char *name, double seconds, const char *what) {
    char path[600];
    void *pixels = NULL;
    snprintf(path, sizeof path, "%s/%s", g->t->out, name);
    if (!tour_good(g->t, qn_buffer_map(buffer, QN_MAP_READ, &pixels), "mapping a picture")) return false;
    int written = stbi_write_png(path, (int)g->width, (int)g->height, 4, pixels, (int)g->width * 4);
    if (!written) fprintf(stderr, "cannot write %s\n", path);
    printf("  %7.1f ms  %-34s %s\n", seconds * 1e3, what, path);
    return tour_good(g->t, qn_buffer_unmap(buffer), "unmapping a picture") && written;
}

static bool mandelbrot(gallery *g) {
    double begin = tour_seconds();
    float left = -0.7436f - 0.004f, pixel = 0.008f / (float)g->width;
    float top = 0.1318f + 0.5f * pixel * (float)g->height;
    return tour_good(g->t,
                     qn_launch(NULL, g->mandelbrot, QN_RANGE(g->width, g->height),
                               QN_ARGS(left, top, pixel, 1000, g->picture)),
                     "mandelbrot_picture") &&
           tour_wait(g->t) && save(g, g->picture, "mandelbrot.png", tour_seconds() - begin, "Mandelbrot set");
}

static bool blur(gallery *g) {
    double begin = tour_seconds();
    const qn_range *range = QN_RANGE(g->width, g->height);
    return tour_good(g->t,
                     qn_launch(NULL, g->rows, range, QN_ARGS(RADIUS, g->weights, g->picture, g->between)),
                     "blur_rows") &&
           tour_good(g->t,
                     qn_launch(NULL, g->columns, range, QN_ARGS(RADIUS, g->weights, g->between, g->filtered)),
                     "blur_columns") &&
           tour_wait(g->t) &&
           save(g, g->filtered, "blurred.png", tour_seconds() - begin, "Gaussian blur of it, 19 by 19");
}

static bool edges(gallery *g) {
    double begin = tour_seconds();
    return tour_good(g->t,
                     qn_launch(NULL, g->sobel, QN_RANGE(g->width, g->height),
                               QN_ARGS(2.5f, g->filtered, g->picture)),
                     "sobel") &&
           tour_wait(g->t) &&
           save(g, g->picture, "edges.png", tour_seconds() - begin, "edges of that (Sobel)");
}

bool tour_pictures(tour *t) {
    gallery g = {.t = t, .width = t->quick ? 240 : 1200, .height = t->quick ? 160 : 800};
    printf("\nPictures, %ux%u\n", g.width, g.height);
    double begin = tour_seconds();
    bool good = open_gallery(&g);
    if (good) printf("  %7.1f ms  kernels compiled or found in the cache\n", (tour_seconds() - begin) * 1e3);
    good = good && mandelbrot(&g) && blur(&g) && edges(&g);
    close_gallery(&g);
    return good;
}
