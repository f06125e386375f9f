/* Short kernels: matrix and vector, a row or a column of the matrix a work-item, and one that only shows what stands
   around a launch. */
#include <math.h>

#include "bench_code.h"

static const float *floats(const bench_workload *load, unsigned buffer) { return load->buffers[buffer].data; }

static void product_make(bench_workload *load, bench_scale scale, const char *kernel) {
    uint32_t n = bench_pick(scale, 256, 1024, 4096);
    bench_workload_add(load, (size_t)n * n * sizeof(float), bench_workload_floats((size_t)n * n, -1, 1, 21),
                       false);
    bench_workload_add(load, n * sizeof(float), bench_workload_floats(n, -1, 1, 22), false);
    load->result = bench_workload_add(load, n * sizeof(float), NULL, false);
    bench_workload_launch(load, kernel, n, 0, 64, 0, BENCH_ARGS(UINT(n), UINT(n), BUF(0), BUF(1), BUF(2)));
    load->bytes = 4.0 * n * n;
    snprintf(load->size, sizeof load->size, "%u^2", n);
}

/* Against sums in double; the matrix's elements are `across` apart in a sum and `along` from one sum to the next. */
static double product_error(const bench_workload *load, const float *got, size_t along, size_t across) {
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

static void row_product_make(bench_workload *load, bench_scale scale) {
    product_make(load, scale, "row_product");
}

static double row_product_error(const bench_workload *load, const void *result) {
    return product_error(load, result, load->buffers[1].size / sizeof(float), 1);
}

static void column_product_make(bench_workload *load, bench_scale scale) {
    product_make(load, scale, "column_product");
}

static double column_product_error(const bench_workload *load, const void *result) {
    return product_error(load, result, 1, load->buffers[1].size / sizeof(float));
}

static void around_make(bench_workload *load, bench_scale scale) {
    (void)scale;
    load->result = bench_workload_add(load, 64 * sizeof(float), NULL, false);
    bench_workload_launch(load, "around", 64, 0, 64, 0, BENCH_ARGS(BUF(0)));
    snprintf(load->size, sizeof load->size, "64");
}

static double around_error(const bench_workload *load, const void *result) {
    const float *got = result;
    double worst = 0;
    for (size_t i = 0; i < load->buffers[0].size / sizeof(float); i++)
        worst = fmax(worst, fabs(got[i] - 1.0));
    return worst;
}

/* ---- tiles that are fetched ahead by async copies ---- */

enum { GROUP = 256, TILE = 1024, TILES = 64 };

static void tiles_make(bench_workload *load, bench_scale scale) {
    const uint32_t groups = bench_pick(scale, 4, 64, 1024), n = groups * TILES * TILE;
    bench_workload_add(load, n * sizeof(float), bench_workload_floats(n, 0, 1, 19), false);
    load->result = bench_workload_add(load, groups * GROUP * sizeof(float), NULL, false);
    bench_workload_launch(load, "tiles", groups * GROUP, 0, GROUP, 0,
                          BENCH_ARGS(UINT(TILES), BUF(0), BUF(1)));
    load->bytes = 4.0 * n;
    snprintf(load->size, sizeof load->size, "%u tiles", groups * TILES);
}

static double tiles_error(const bench_workload *load, const void *result) {
    const float *got = result, *in = load->buffers[0].data;
    const size_t items = load->buffers[1].size / sizeof(float);
    double worst = 0;
    for (size_t at = 0; at < items; at++) {
        const float *part = in + at / GROUP * TILES * TILE + GROUP - 1 - at % GROUP;
        double want = 0;
        for (size_t k = 0; k < TILES * TILE / GROUP; k++) want += part[k * GROUP];
        const double off = fabs(got[at] - want) / want;
        worst = off == off ? fmax(worst, off) : INFINITY;
    }
    return worst;
}

static const bench_case cases[] = {
    {"row_product", "rows.cl", row_product_make, row_product_error, 1e-5},
    {"column_product", "rows.cl", column_product_make, column_product_error, 1e-5},
    {"around", "rows.cl", around_make, around_error, 0},
    {"tiles", "tiles.cl", tiles_make, tiles_error, 1e-5}};
const bench_case_list bench_cases_of_rows = {cases, sizeof cases / sizeof *cases};
