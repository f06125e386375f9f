/* The cases that compute with floats: what they launch, and what plain C in double says. */
#include <math.h>
#include <string.h>

#include "bench_code.h"

static float *floats(const bench_workload *load, unsigned buffer) { return load->buffers[buffer].data; }

static size_t count_floats(const bench_workload *load, unsigned buffer) {
    return load->buffers[buffer].size / sizeof(float);
}

/* Distance as a part of the right value, of `scale` at least. */
static double distance(double got, double want, double scale) {
    double size = fabs(want) > scale ? fabs(want) : scale;
    double error = fabs(got - want) / size;
    return error == error ? error : INFINITY;
}

/* ---- saxpy ---- */

static void saxpy_make(bench_workload *load, bench_scale scale) {
    uint32_t n = bench_pick(scale, 1u << 20, 1u << 24, 1u << 26);
    bench_workload_add(load, n * sizeof(float), bench_workload_floats(n, -1, 1, 1), false);
    load->result = bench_workload_add(load, n * sizeof(float), bench_workload_floats(n, -1, 1, 2), true);
    bench_workload_launch(load, "saxpy", n, 0, 0, 0, BENCH_ARGS(UINT(n), REAL(2.5f), BUF(0), BUF(1)));
    load->bytes = 12.0 * n;
    snprintf(load->size, sizeof load->size, "%uM", n >> 20);
}

static double saxpy_error(const bench_workload *load, const void *result) {
    const float *got = result, *x = floats(load, 0), *y = floats(load, 1);
    double worst = 0;
    for (size_t i = 0; i < count_floats(load, 1); i++)
        worst = fmax(worst, distance(got[i], 2.5 * x[i] + y[i], 1));
    return worst;
}

/* ---- sum ---- */

static void sum_make(bench_workload *load, bench_scale scale) {
    uint32_t n = bench_pick(scale, 1u << 20, 1u << 24, 1u << 26), local = 256;
    uint32_t groups = scale == BENCH_GPU ? 1024 : 64;
    bench_workload_add(load, n * sizeof(float), bench_workload_floats(n, 0, 1, 3), false);
    bench_workload_add(load, groups * sizeof(float), NULL, false);
    load->result = bench_workload_add(load, sizeof(float), NULL, false);
    bench_workload_launch(load, "sum", groups * local, 0, local, 0,
                          BENCH_ARGS(UINT(n), BUF(0), BUF(1), LOCAL(local * 4)));
    bench_workload_launch(load, "sum", local, 0, local, 0,
                          BENCH_ARGS(UINT(groups), BUF(1), BUF(2), LOCAL(local * 4)));
    load->bytes = 4.0 * n;
    snprintf(load->size, sizeof load->size, "%uM", n >> 20);
}

static double sum_error(const bench_workload *load, const void *result) {
    double want = 0;
    for (size_t i = 0; i < count_floats(load, 0); i++) want += floats(load, 0)[i];
    return distance(*(const float *)result, want, 1);
}

/* ---- matmul ---- */

static void matmul_make(bench_workload *load, const char *kernel, uint32_t n, uint32_t per_x, uint32_t per_y,
                        uint32_t local) {
    size_t bytes = (size_t)n * n * sizeof(float);
    bench_workload_add(load, bytes, bench_workload_floats((size_t)n * n, -1, 1, 4), false);
    bench_workload_add(load, bytes, bench_workload_floats((size_t)n * n, -1, 1, 5), false);
    load->result = bench_workload_add(load, bytes, NULL, false);
    bench_workload_launch(load, kernel, n / per_x, n / per_y, local, local,
                          BENCH_ARGS(UINT(n), UINT(n), UINT(n), BUF(0), BUF(1), BUF(2)));
    load->flops = 2.0 * n * n * n;
    snprintf(load->size, sizeof load->size, "%u^2", n);
}

static void matmul_naive_make(bench_workload *load, bench_scale scale) {
    matmul_make(load, "matmul_naive", bench_pick(scale, 128, 512, 2048), 1, 1, 0);
}
static void matmul_tiled_make(bench_workload *load, bench_scale scale) {
    matmul_make(load, "matmul_tiled", bench_pick(scale, 128, 512, 2048), 1, 1, 16);
}
static void matmul_registers_make(bench_workload *load, bench_scale scale) {
    matmul_make(load, "matmul_registers", bench_pick(scale, 128, 512, 2048), 4, 4, 16);
}
static void matmul_vector_make(bench_workload *load, bench_scale scale) {
    matmul_make(load, "matmul_vector", bench_pick(scale, 128, 512, 2048), 16, 8, 0);
}

/* Every row, some columns: enough to see each work-item's part. Of a large matrix fewer. */
static double matmul_error(const bench_workload *load, const void *result) {
    const float *a = floats(load, 0), *b = floats(load, 1), *got = result;
    size_t n = (size_t)(sqrt((double)count_floats(load, 0)) + 0.5), stride = n > 2048  ? n / 2 - 1
                                                                             : n > 512 ? n / 8 - 1
                                                                                       : 7;
    double worst = 0;
    for (size_t row = 0; row < n; row++) {
        for (size_t column = row % stride; column < n; column += stride) {
            double want = 0;
            for (size_t i = 0; i < n; i++) want += (double)a[row * n + i] * b[i * n + column];
            worst = fmax(worst, distance(got[row * n + column], want, sqrt((double)n)));
        }
    }
    return worst;
}

/* A whole group's block of C at a time (see the file's head). */
static void sgemm_make(bench_workload *load, bench_scale scale) {
    uint32_t n = bench_pick(scale, 128, 512, 4096);
    size_t bytes = (size_t)n * n * sizeof(float);
    bench_workload_add(load, bytes, bench_workload_floats((size_t)n * n, -1, 1, 4), false);
    bench_workload_add(load, bytes, bench_workload_floats((size_t)n * n, -1, 1, 5), false);
    load->result = bench_workload_add(load, bytes, NULL, false);
    bench_workload_launch(
        load, "sgemm", n / 128 * 256, n / 128, 256, 1,
        BENCH_ARGS(INT((int32_t)n), INT((int32_t)n), INT((int32_t)n), BUF(0), BUF(1), BUF(2)));
    load->flops = 2.0 * n * n * n;
    snprintf(load->size, sizeof load->size, "%u^2", n);
}

/* ---- n-body ---- */

enum { NBODY_LOCAL = 128 };

static void nbody_make(bench_workload *load, bench_scale scale) {
    uint32_t n = bench_pick(scale, 1024, 4096, 65536);
    float *bodies = bench_workload_floats(4 * (size_t)n, -1, 1, 6);
    for (uint32_t i = 0; i < n; i++) bodies[4 * i + 3] = fabsf(bodies[4 * i + 3]) + 0.1f;
    bench_workload_add(load, n * 16, bodies, false);
    load->result = bench_workload_add(load, n * 16, NULL, true);
    bench_workload_add(load, n * 16, NULL, false);
    bench_workload_launch(
        load, "nbody_step", n, 0, NBODY_LOCAL, 0,
        BENCH_ARGS(UINT(n), REAL(0.01f), REAL(0.01f), BUF(0), BUF(1), BUF(2), LOCAL(NBODY_LOCAL * 16)));
    load->flops = 20.0 * n * n;
    snprintf(load->size, sizeof load->size, "%u bodies", n);
}

static double nbody_error(const bench_workload *load, const void *result) {
    const float *bodies = floats(load, 0), *got = result;
    size_t n = count_floats(load, 0) / 4;
    double worst = 0;
    for (size_t i = 0; i<n; i += n> 4096 ? 509 : 16) {
        double a[3] = {0};
        for (size_t j = 0; j < n; j++) {
            double d[3], square = 0.01f;
            for (int k = 0; k < 3; k++) {
                d[k] = (double)bodies[4 * j + k] - bodies[4 * i + k];
                square += d[k] * d[k];
            }
            double pull = bodies[4 * j + 3] / (square * sqrt(square));
            for (int k = 0; k < 3; k++) a[k] += d[k] * pull;
        }
        double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]) * 0.01f;
        for (int k = 0; k < 3; k++) worst = fmax(worst, distance(got[4 * i + k], a[k] * 0.01f, length));
    }
    return worst;
}

/* ---- sparse matrix times vector ---- */

static void spmv_make(bench_workload *load, bench_scale scale) {
    uint32_t rows = bench_pick(scale, 1u << 14, 1u << 18, 1u << 21), seed = 7;
    uint32_t *starts = tool_alloc((rows + 1) * sizeof *starts);
    for (uint32_t row = 0; row < rows; row++)
        starts[row + 1] = starts[row] + 8 + bench_workload_random(&seed) % 17;
    uint32_t entries = starts[rows], *columns = tool_alloc(entries * sizeof *columns);
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t i = starts[row]; i < starts[row + 1]; i++)
            columns[i] = (row + bench_workload_random(&seed) % 4096) % rows;
    bench_workload_add(load, (rows + 1) * 4, starts, false);
    bench_workload_add(load, entries * 4, columns, false);
    bench_workload_add(load, entries * 4, bench_workload_floats(entries, -1, 1, 8), false);
    bench_workload_add(load, rows * 4, bench_workload_floats(rows, -1, 1, 9), false);
    load->result = bench_workload_add(load, rows * 4, NULL, false);
    bench_workload_launch(load, "spmv_rows", rows, 0, 0, 0,
                          BENCH_ARGS(UINT(rows), BUF(0), BUF(1), BUF(2), BUF(3), BUF(4)));
    load->bytes = 12.0 * entries + 8.0 * rows;
    load->flops = 2.0 * entries;
    snprintf(load->size, sizeof load->size, "%.1fM entries", entries / 1048576.0);
}

static double spmv_error(const bench_workload *load, const void *result) {
    const uint32_t *starts = load->buffers[0].data, *columns = load->buffers[1].data;
    const float *values = floats(load, 2), *x = floats(load, 3), *got = result;
    double worst = 0;
    for (size_t row = 0; row < count_floats(load, 4); row++) {
        double want = 0;
        for (uint32_t i = starts[row]; i < starts[row + 1]; i++) want += (double)values[i] * x[columns[i]];
        worst = fmax(worst, distance(got[row], want, 1));
    }
    return worst;
}

/* ---- Black and Scholes ---- */

static void black_scholes_make(bench_workload *load, bench_scale scale) {
    uint32_t n = bench_pick(scale, 1u << 16, 1u << 21, 1u << 24);
    bench_workload_add(load, n * 4, bench_workload_floats(n, 5, 30, 10), false);
    bench_workload_add(load, n * 4, bench_workload_floats(n, 1, 100, 11), false);
    bench_workload_add(load, n * 4, bench_workload_floats(n, 0.25f, 10, 12), false);
    load->result = bench_workload_add(load, n * 4, NULL, false);
    bench_workload_add(load, n * 4, NULL, false);
    bench_workload_launch(load, "black_scholes", n, 0, 0, 0,
                          BENCH_ARGS(REAL(0.02f), REAL(0.3f), BUF(0), BUF(1), BUF(2), BUF(3), BUF(4)));
    load->bytes = 20.0 * n;
    snprintf(load->size, sizeof load->size, "%.3gM options", n / 1048576.0);
}

static double black_scholes_error(const bench_workload *load, const void *result) {
    const float *price = floats(load, 0), *strike = floats(load, 1), *years = floats(load, 2), *got = result;
    double worst = 0, rate = 0.02f, volatility = 0.3f;
    size_t count = count_floats(load, 3);
    for (size_t i = 0; i<count; i += count> 1u << 21 ? 17 : 1) {
        double s = price[i], k = strike[i], t = years[i], spread = volatility * sqrt(t);
        double d1 = (log(s / k) + (rate + 0.5 * volatility * volatility) * t) / spread, d2 = d1 - spread;
        double want = s * 0.5 * erfc(-d1 * M_SQRT1_2) - k * exp(-rate * t) * 0.5 * erfc(-d2 * M_SQRT1_2);
        worst = fmax(worst, distance(got[i], want, s));
    }
    return worst;
}

static const bench_case cases[] = {
    {"saxpy", "saxpy.cl", saxpy_make, saxpy_error, 1e-6},
    {"sum", "sum.cl", sum_make, sum_error, 1e-5},
    {"matmul_naive", "matmul.cl", matmul_naive_make, matmul_error, 1e-5},
    {"matmul_tiled", "matmul.cl", matmul_tiled_make, matmul_error, 1e-5},
    {"matmul_registers", "matmul.cl", matmul_registers_make, matmul_error, 1e-5},
    {"matmul_vector", "matmul.cl", matmul_vector_make, matmul_error, 1e-5},
    {"sgemm", "sgemm.cl", sgemm_make, matmul_error, 1e-5},
    {"nbody", "nbody.cl", nbody_make, nbody_error, 1e-4},
    {"spmv", "spmv.cl", spmv_make, spmv_error, 1e-5},
    {"black_scholes", "black_scholes.cl", black_scholes_make, black_scholes_error, 1e-5}};
const bench_case_list bench_cases_of_floats = {cases, sizeof cases / sizeof *cases};
