/* Blurs a picture and finds its edges, with kernels that ship (kernels/blur.cl, kernels/sobel.cl):
   filters IN.png [RADIUS]. Writes blurred.png and edges.png into the current folder. */
#include <math.h>
#include <quern/kernels.h>
#include <stdio.h>
#include <stdlib.h>

#define STB_IMAGE_IMPLEMENTATION
#include <stb_image.h>
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb_image_write.h>

enum { MAX_RADIUS = 64 };

typedef struct filters {
    qn_context *context;
    qn_device *device;
    qn_kernel *rows, *columns, *sobel;
    qn_buffer *in, *between, *out, *weights;
} filters;

static int failed(const filters *f, qn_status status) {
    if (status) fprintf(stderr, "%s: %s\n", qn_status_text(status), qn_error_message(f->context));
    return status != QN_OK;
}

static int get_kernel(filters *f, const char *file, const char *name, qn_kernel **kernel) {
    qn_program *program = NULL;
    qn_program_desc desc = {0};
    int bad = !qn_kernels_source(file, &desc) || failed(f, qn_program_create(f->device, &desc, &program)) ||
              failed(f, qn_kernel_create(program, name, kernel));
    qn_program_destroy(program);
    return bad;
}

static int get_buffer(filters *f, uint64_t size, const void *data, qn_buffer **buffer) {
    return failed(f, qn_buffer_create(f->device, &(qn_buffer_desc){.size = size, .data = data}, buffer));
}

static int open_all(filters *f, const void *pixels, uint64_t count, int radius) {
    float weights[2 * MAX_RADIUS + 1], total = 0;
    for (int d = -radius; d <= radius; d++)
        total += weights[d + radius] = expf(-2.0f * (float)(d * d) / (float)(radius * radius));
    for (int d = 0; d <= 2 * radius; d++) weights[d] /= total;
    return failed(f, qn_context_create(NULL, &f->context)) ||
           failed(f, qn_device_get(f->context, NULL, &f->device)) ||
           get_kernel(f, "blur.cl", "blur_rows", &f->rows) ||
           get_kernel(f, "blur.cl", "blur_columns", &f->columns) ||
           get_kernel(f, "sobel.cl", "sobel", &f->sobel) || get_buffer(f, count * 4, pixels, &f->in) ||
           get_buffer(f, count * 16, NULL, &f->between) || get_buffer(f, count * 4, NULL, &f->out) ||
           get_buffer(f, sizeof(float) * (2 * (unsigned)radius + 1), weights, &f->weights);
}

static int save(filters *f, const char *path, int width, int height) {
    void *pixels = NULL;
    if (failed(f, qn_buffer_map(f->out, QN_MAP_READ, &pixels))) return 1;
    int written = stbi_write_png(path, width, height, 4, pixels, width * 4);
    puts(path);
    return failed(f, qn_buffer_unmap(f->out)) || !written;
}

static int run(filters *f, int width, int height, int radius) {
    const qn_range *range = QN_RANGE((uint64_t)width, (uint64_t)height);
    return failed(f, qn_launch(NULL, f->rows, range, QN_ARGS(radius, f->weights, f->in, f->between))) ||
           failed(f, qn_launch(NULL, f->columns, range, QN_ARGS(radius, f->weights, f->between, f->out))) ||
           save(f, "blurred.png", width, height) ||
           failed(f, qn_launch(NULL, f->sobel, range, QN_ARGS(1.0f, f->in, f->out))) ||
           save(f, "edges.png", width, height);
}

int main(int argc, char **argv) {
    int width, height, channels, radius = argc > 2 ? atoi(argv[2]) : 8;
    if (argc < 2 || radius < 1 || radius > MAX_RADIUS) {
        fprintf(stderr, "usage: filters IN.png [RADIUS 1 to %d]\n", MAX_RADIUS);
        return 2;
    }
    stbi_uc *pixels = stbi_load(argv[1], &width, &height, &channels, 4);
    if (!pixels) {
        fprintf(stderr, "%s: %s\n", argv[1], stbi_failure_reason());
        return 1;
    }
    filters f = {0};
    int bad =
        open_all(&f, pixels, (uint64_t)width * (uint64_t)height, radius) || run(&f, width, height, radius);
    qn_context_destroy(f.context);
    stbi_image_free(pixels);
    return bad;
}
