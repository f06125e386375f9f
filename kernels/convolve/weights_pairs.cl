// The gradient of a convolution by its weights where there is too little for tiles (depthwise): all taps of a channel and an output by a
// work-group, whose work-items share out the pixels. By -D: as in direct.cl.
// Global size: ITEMS times channels of a group, all outputs.
#include "problem.h"

#define ITEMS 256
#define TAPS  (ROWS * COLUMNS)

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
pairs(problem h, global const STORAGE *restrict from, global const STORAGE *restrict gradient, global STORAGE *restrict to) {
    local VALUE sums[ITEMS];
    const uint item = get_local_id(0), c = get_group_id(0), k = get_group_id(1), group = k / h.outputs, output = k % h.outputs;
    const uint area = h.to_rows * h.to_columns;
    from += h.from_begin + group * h.from_group + c * h.from[1];
    gradient += h.to_begin + group * h.to_group + output * h.to[1];
    VALUE sum[TAPS];
    #pragma unroll
    for (uint t = 0; t < TAPS; t++) sum[t] = 0;
    for (ulong i = item; i < h.pixels; i += ITEMS) {
        const uint n = (uint)(i / area), in_image = (uint)(i % area), p = in_image / h.to_columns, q = in_image % h.to_columns;
        const int row = p * h.stride[0] - (int)h.padding[0], column = q * h.stride[1] - (int)h.padding[1];
        const VALUE v = LOAD(gradient + n * h.to[0] + p * h.to[2] + q * h.to[3], 0);
        global const STORAGE *x = from + n * h.from[0] + row * h.from[2] + column * h.from[3];
        #pragma unroll
        for (uint t = 0; t < TAPS; t++) {
            const int r = t / COLUMNS * h.dilation[0], s = t % COLUMNS * h.dilation[1];
            if ((uint)(row + r) < (uint)h.rows && (uint)(column + s) < (uint)h.columns)
                sum[t] += v * LOAD(x + r * h.from[2] + s * h.from[3], 0);
        }
    }
    for (uint t = 0; t < TAPS; t++) {
        VALUE mine = 0;
        #pragma unroll
        for (uint i = 0; i < TAPS; i++) mine = i == t ? sum[i] : mine;
        sums[item] = mine;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint half_of = ITEMS / 2; half_of > 0; half_of /= 2) {
            if (item < half_of) sums[item] += sums[item + half_of];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (item == 0)
            STORE(to + (h.weights_begin + group * h.weights_group + output * h.weights[0] + c * h.weights[1] +
                        t / COLUMNS * h.weights[2] + t % COLUMNS * h.weights[3]), 0, sums[0]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
