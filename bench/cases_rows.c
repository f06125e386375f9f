/* Short kernels: matrix and vector, a row or a column of the matrix a work-item, and one that only shows what stands
   around a launch. */
#include "bench.h"

#include "cases.h"

#include <math.h>

static const float *floats(const workload *load, unsigned buffer) { return load->buffers[buffer].data; }

static void product_make(workload *load, bench_scale scale, const char *kernel) {
    uint32_t n = bench_pick(scale, 256, 1024, 4096);
    workload_buffer(load, (size_t)n * n * sizeof(float), bench_floats((size_t)n * n, -1, 1, 21), false);
    workload_buffer(load, n * sizeof(float), bench_floats(n, -1, 1, 22), false);
    load->result = workload_buffer(load, n * sizeof(float), NULL, false);
    workload_step(load, kernel, n, 0, 64, 0, STEP_ARGS(UINT(n), UINT(n), BUF(0), BUF(1), BUF(2)));
    load->bytes = 4.0 * n * n;
    snprintf(load->size, sizeof load->size, "%u^2", n);
}

/* Against sums in double; the matrix's elements are `across` apart in a sum and `along` from one sum to the next. */
static double product_error(const workload *load, const float *got, size_t along, size_t across) {
    const size_t n = load->buffers[1].size / sizeof(float);
    double worst = 0;
    for (size_t i = 0; i < n; i++) {
        double want = 0;
        for (size_t j = 0; j < n; j++)
            want += (double)floats(load, 0)[i * along + j * across] * floats(load, 1)[j];
        const double error = fabs(got[i] - want) / sqrt((double)n);
        worst = error == error ? fmax(worst, error) : INFINITY;
    }
    return worst;
}

void row_product_make(workload *load, bench_scale scale) { product_make(load, scale, "row_product"); }

double row_product_error(const workload *load, const void *result) {
    return product_error(load, result, load->buffers[1].size / sizeof(float), 1);
}

void column_product_make(workload *load, bench_scale scale) { product_make(load, scale, "column_product"); }

double column_product_error(const workload *load, const void *result) {
    return product_error(load, result, 1, load->buffers[1].size / sizeof(float));
}

void around_make(workload *load, bench_scale scale) {
    (void)scale;
    load->result = workload_buffer(load, 64 * sizeof(float), NULL, false);
    workload_step(load, "around", 64, 0, 64, 0, STEP_ARGS(BUF(0)));
    snprintf(load->size, sizeof load->size, "64");
}

double around_error(const workload *load, const void *result) {
    const float *got = result;
    double worst = 0;
    for (size_t i = 0; i < load->buffers[0].size / sizeof(float); i++)
        worst = fmax(worst, fabs(got[i] - 1.0));
    return worst;
}
