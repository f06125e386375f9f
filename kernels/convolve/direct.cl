// qn_kernels_convolve element by element, where there is too little for tiles (few channels, depthwise) and on processors. By -D: STORAGE,
// LOAD, STORE and VALUE, the type of elements and of sums (element.h); ROWS and COLUMNS, the taps; OUTPUTS, how many of a pixel a
// work-item computes; PLACE, a number of a row or column; BIAS; PIXELS_FIRST: work-items beside each other have columns beside each
// other, else runs of outputs. Global size: columns, rows, and images of all runs of outputs; or such runs, columns, rows of all images.
#include "problem.h"

kernel void direct(problem h, global const STORAGE *restrict from, global const STORAGE *restrict weights,
                   global const STORAGE *restrict bias, global STORAGE *restrict to) {
    const uint runs = (h.outputs + OUTPUTS - 1) / OUTPUTS, z = (uint)get_global_id(2);
#if PIXELS_FIRST
    const uint q = (uint)get_global_id(0), p = (uint)get_global_id(1), n = z / (h.groups * runs), run = z % (h.groups * runs);
#else
    const uint q = (uint)get_global_id(1), p = z % h.to_rows, n = z / h.to_rows, run = (uint)get_global_id(0);
#endif
    const uint group = run / runs, first = run % runs * OUTPUTS;
    const PLACE row = (PLACE)p * h.stride[0] - (PLACE)h.padding[0], column = (PLACE)q * h.stride[1] - (PLACE)h.padding[1];
    from += h.from_begin + n * h.from[0] + group * h.from_group + row * h.from[2] + column * h.from[3];
    weights += h.weights_begin + group * h.weights_group + first * h.weights[0];
    to += h.to_begin + n * h.to[0] + group * h.to_group + first * h.to[1] + p * h.to[2] + q * h.to[3];
    VALUE sums[OUTPUTS];
    #pragma unroll
    for (uint i = 0; i < OUTPUTS; i++) {
        sums[i] = 0;
#ifdef BIAS
        if (first + i < h.outputs) sums[i] = LOAD(bias + h.bias_begin + (group * (long)h.outputs + first + i) * h.bias, 0);
#endif
    }
    for (uint c = 0; c < h.channels; c++, from += h.from[1], weights += h.weights[1]) {
        for (uint r = 0; r < ROWS; r++) {
            const PLACE y = row + (PLACE)r * h.dilation[0];
            if (y < 0 || y >= h.rows) continue;
            global const STORAGE *line = from + r * (h.dilation[0] * h.from[2]), *taps = weights + r * h.weights[2];
            for (uint s = 0; s < COLUMNS; s++) {
                const PLACE x = column + (PLACE)s * h.dilation[1];
                if (x < 0 || x >= h.columns) continue;
                const VALUE v = LOAD(line + s * (h.dilation[1] * h.from[3]), 0);
                #pragma unroll
                for (uint i = 0; i < OUTPUTS; i++) // the last run repeats its last output
                    sums[i] += v * LOAD(taps + s * h.weights[3] + min(i, h.outputs - 1 - first) * h.weights[0], 0);
            }
        }
    }
    #pragma unroll
    for (uint i = 0; i < OUTPUTS; i++)
        if (first + i < h.outputs) STORE(to + i * h.to[1], 0, sums[i]);
}
