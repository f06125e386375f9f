/* The cases that compute with floats: what they launch, and what plain C in double says. */
#include "bench.h"

#include "cases.h"

#include <math.h>
#include <string.h>

static float *floats(const workload *load, unsigned buffer) { return load->buffers[buffer].data; }

static size_t count_floats(const workload *load, unsigned buffer) {
    return load->buffers[buffer].size / sizeof(float);
}

/* Distance as a part of the right value, of `scale` at least. */
static double distance(double got, double want, double scale) {
    double size = fabs(want) > scale ? fabs(want) : scale;
    double error = fabs(got - want) / size;
    return error == error ? error : INFINITY;
}

/* ---- saxpy ---- */

void saxpy_make(workload *load, bench_scale scale) {
    uint32_t n = bench_pick(scale, 1u << 20, 1u << 24, 1u << 26);
    workload_buffer(load, n * sizeof(float), bench_floats(n, -1, 1, 1), false);
    load->result = workload_buffer(load, n * sizeof(float), bench_floats(n, -1, 1, 2), true);
    workload_step(load, "saxpy", n, 0, 0, 0, STEP_ARGS(UINT(n), REAL(2.5f), BUF(0), BUF(1)));
    load->bytes = 12.0 * n;
    snprintf(load->size, sizeof load->size, "%uM", n >> 20);
}

double saxpy_error(const workload *load, const void *result) {
    const float *got = result, *x = floats(load, 0), *y = floats(load, 1);
    double worst = 0;
    for (size_t i = 0; i < count_floats(load, 1); i++)
        worst = fmax(worst, distance(got[i], 2.5 * x[i] + y[i], 1));
    return worst;
}

/* ---- sum ---- */

void sum_make(workload *load, bench_scale scale) {
    uint32_t n = bench_pick(scale, 1u << 20, 1u << 24, 1u << 26), local = 256;
    uint32_t groups = scale == BENCH_GPU ? 1024 : 64;
    workload_buffer(load, n * sizeof(float), bench_floats(n, 0, 1, 3), false);
    workload_buffer(load, groups * sizeof(float), NULL, false);
    load->result = workload_buffer(load, sizeof(float), NULL, false);
    workload_step(load, "sum", groups * local, 0, local, 0,
                  STEP_ARGS(UINT(n), BUF(0), BUF(1), LOCAL(local * 4)));
    workload_step(load, "sum", local, 0, local, 0, STEP_ARGS(UINT(groups), BUF(1), BUF(2), LOCAL(local * 4)));
    load->bytes = 4.0 * n;
    snprintf(load->size, sizeof load->size, "%uM", n >> 20);
}

double sum_error(const workload *load, const void *result) {
    double want = 0;
    for (size_t i = 0; i < count_floats(load, 0); i++) want += floats(load, 0)[i];
    return distance(*(const float *)result, want, 1);
}

/* ---- matmul ---- */

static void matmul_make(workload *load, const char *kernel, uint32_t n, uint32_t per_x, uint32_t per_y,
                        uint32_t local) {
    size_t bytes = (size_t)n * n * sizeof(float);
    workload_buffer(load, bytes, bench_floats((size_t)n * n, -1, 1, 4), false);
    workload_buffer(load, bytes, bench_floats((size_t)n * n, -1, 1, 5), false);
    load->result = workload_buffer(load, bytes, NULL, false);
    workload_step(load, kernel, n / per_x, n / per_y, local, local,
                  STEP_ARGS(UINT(n), UINT(n), UINT(n), BUF(0), BUF(1), BUF(2)));
    load->flops = 2.0 * n * n * n;
    snprintf(load->size, sizeof load->size, "%u^2", n);
}

void matmul_naive_make(workload *load, bench_scale scale) {
    matmul_make(load, "matmul_naive", bench_pick(scale, 128, 512, 2048), 1, 1, 0);
}
void matmul_tiled_make(workload *load, bench_scale scale) {
    matmul_make(load, "matmul_tiled", bench_pick(scale, 128, 512, 2048), 1, 1, 16);
}
void matmul_registers_make(workload *load, bench_scale scale) {
    matmul_make(load, "matmul_registers", bench_pick(scale, 128, 512, 2048), 4, 4, 16);
}
void matmul_vector_make(workload *load, bench_scale scale) {
    matmul_make(load, "matmul_vector", bench_pick(scale, 128, 512, 2048), 16, 8, 0);
}

/* Every row, some columns: enough to see each work-item's part. Of a large matrix fewer. */
double matmul_error(const workload *load, const void *result) {
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
void sgemm_make(workload *load, bench_scale scale) {
    uint32_t n = bench_pick(scale, 128, 512, 4096);
    size_t bytes = (size_t)n * n * sizeof(float);
    workload_buffer(load, bytes, bench_floats((size_t)n * n, -1, 1, 4), false);
    workload_buffer(load, bytes, bench_floats((size_t)n * n, -1, 1, 5), false);
    load->result = workload_buffer(load, bytes, NULL, false);
    workload_step(load, "sgemm", n / 128 * 256, n / 128, 256, 1,
                  STEP_ARGS(INT((int32_t)n), INT((int32_t)n), INT((int32_t)n), BUF(0), BUF(1), BUF(2)));
    load->flops = 2.0 * n * n * n;
    snprintf(load->size, sizeof load->size, "%u^2", n);
}

double sgemm_error(const workload *load, const void *result) { return matmul_error(load, result); }

/* ---- n-body ---- */

enum { NBODY_LOCAL = 128 };

void nbody_make(workload *load, bench_scale scale) {
    uint32_t n = bench_pick(scale, 1024, 4096, 65536);
    float *bodies = bench_floats(4 * (size_t)n, -1, 1, 6);
    for (uint32_t i = 0; i < n; i++) bodies[4 * i + 3] = fabsf(bodies[4 * i + 3]) + 0.1f;
    workload_buffer(load, n * 16, bodies, false);
    load->result = workload_buffer(load, n * 16, NULL, true);
    workload_buffer(load, n * 16, NULL, false);
    workload_step(
        load, "nbody_step", n, 0, NBODY_LOCAL, 0,
        STEP_ARGS(UINT(n), REAL(0.01f), REAL(0.01f), BUF(0), BUF(1), BUF(2), LOCAL(NBODY_LOCAL * 16)));
    load->flops = 20.0 * n * n;
    snprintf(load->size, sizeof load->size, "%u bodies", n);
}

double nbody_error(const workload *load, const void *result) {
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

void spmv_make(workload *load, bench_scale scale) {
    uint32_t rows = bench_pick(scale, 1u << 14, 1u << 18, 1u << 21), seed = 7;
    uint32_t *starts = bench_alloc((rows + 1) * sizeof *starts);
    for (uint32_t row = 0; row < rows; row++) starts[row + 1] = starts[row] + 8 + bench_random(&seed) % 17;
    uint32_t entries = starts[rows], *columns = bench_alloc(entries * sizeof *columns);
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t i = starts[row]; i < starts[row + 1]; i++)
            columns[i] = (row + bench_random(&seed) % 4096) % rows;
    workload_buffer(load, (rows + 1) * 4, starts, false);
    workload_buffer(load, entries * 4, columns, false);
    workload_buffer(load, entries * 4, bench_floats(entries, -1, 1, 8), false);
    workload_buffer(load, rows * 4, bench_floats(rows, -1, 1, 9), false);
    load->result = workload_buffer(load, rows * 4, NULL, false);
    workload_step(load, "spmv_rows", rows, 0, 0, 0,
                  STEP_ARGS(UINT(rows), BUF(0), BUF(1), BUF(2), BUF(3), BUF(4)));
    load->bytes = 12.0 * entries + 8.0 * rows;
    load->flops = 2.0 * entries;
    snprintf(load->size, sizeof load->size, "%.1fM entries", entries / 1048576.0);
}

double spmv_error(const workload *load, const void *result) {
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

void black_scholes_make(workload *load, bench_scale scale) {
    uint32_t n = bench_pick(scale, 1u << 16, 1u << 21, 1u << 24);
    workload_buffer(load, n * 4, bench_floats(n, 5, 30, 10), false);
    workload_buffer(load, n * 4, bench_floats(n, 1, 100, 11), false);
    workload_buffer(load, n * 4, bench_floats(n, 0.25f, 10, 12), false);
    load->result = workload_buffer(load, n * 4, NULL, false);
    workload_buffer(load, n * 4, NULL, false);
    workload_step(load, "black_scholes", n, 0, 0, 0,
                  STEP_ARGS(REAL(0.02f), REAL(0.3f), BUF(0), BUF(1), BUF(2), BUF(3), BUF(4)));
    load->bytes = 20.0 * n;
    snprintf(load->size, sizeof load->size, "%.3gM options", n / 1048576.0);
}

double black_scholes_error(const workload *load, const void *result) {
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
