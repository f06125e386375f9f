/* A case for `variants` alone: tiles that are fetched ahead by async copies (kernels/tiles.cl). */
#include "gpu.h"

#include <math.h>

enum { GROUP = 256, TILE = 1024, TILES = 64 };

static void make(workload *load, bench_scale scale) {
    const uint32_t groups = bench_pick(scale, 4, 64, 1024), n = groups * TILES * TILE;
    workload_buffer(load, n * sizeof(float), bench_floats(n, 0, 1, 19), false);
    load->result = workload_buffer(load, groups * GROUP * sizeof(float), NULL, false);
    workload_step(load, "tiles", groups * GROUP, 0, GROUP, 0, STEP_ARGS(UINT(TILES), BUF(0), BUF(1)));
    load->bytes = 4.0 * n;
    snprintf(load->size, sizeof load->size, "%u tiles", groups * TILES);
}

static double error(const workload *load, const void *result) {
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

const bench_case gpu_tiles = {"tiles", "tiles.cl", "", make, error, 1e-5};
