// The last step of tile.cl where channels were cut into parts: adds them in order, and the bias. A work-item has four pixels of an
// output, or (TO_ALONG 2) four outputs of a pixel. By -D: as there. Global size: so many runs of four.
#include "problem.h"

#ifdef BIAS
#define WITH_BIAS(v, k) ((v) + LOAD(bias + (h.bias_begin + (k) * h.bias), 0))
#else
#define WITH_BIAS(v, k) (v)
#endif

static long place_of(problem h, INDEX pixel, INDEX k) {
    const INDEX area = h.to_rows * h.to_columns;
    const uint in_image = (uint)(pixel % area), output = (uint)(k % h.outputs);
    return (long)(pixel / area) * h.to[0] + (long)(in_image / h.to_columns) * h.to[2] +
           (long)(in_image % h.to_columns) * h.to[3] + (long)(k / h.outputs) * h.to_group + (long)output * h.to[1];
}

kernel void sum_parts(problem h, global const STORAGE *restrict bias, global STORAGE *restrict to,
                      global VALUE *restrict work) {
    const INDEX all = h.groups * h.outputs, run = get_global_id(0);
#if TO_ALONG == 2
    const INDEX pixel = run / (all / 4), k = run % (all / 4) * 4;
    const size_t at = (size_t)pixel * all + k;
#else
    const INDEX runs = (INDEX)(PARTS_PITCH(h) / 4), pixel = run % runs * 4, k = run / runs;
    const size_t at = (size_t)k * PARTS_PITCH(h) + pixel;
#endif
    const uint parts = (h.channels + h.part - 1) / h.part;
    VALUE4 sum = *(global const VALUE4 *)(work + at);
    for (uint part = 1; part < parts; part++) sum += *(global const VALUE4 *)(part_of(h, work, part) + at);
    to += h.to_begin;
#if TO_ALONG == 2
    sum = (VALUE4)(WITH_BIAS(sum.x, k), WITH_BIAS(sum.y, k + 1), WITH_BIAS(sum.z, k + 2), WITH_BIAS(sum.w, k + 3));
    STORE4(to + place_of(h, pixel, k), 0, sum);
#else
    sum = WITH_BIAS(sum, k);
#if TO_ALONG == 1
    STORE4(to + place_of(h, pixel, k), 0, sum);
#else
    const VALUE each[4] = {sum.x, sum.y, sum.z, sum.w};
    #pragma unroll
    for (uint i = 0; i < 4; i++)
        if (pixel + i < h.pixels) STORE(to + place_of(h, pixel + i, k), 0, each[i]);
#endif
#endif
}
