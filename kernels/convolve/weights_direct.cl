// The gradient of a convolution by its weights, element by element: on processors, where there is little to do. By -D: as in direct.cl.
// Global size: columns and rows of taps; channels of a group and all outputs.
#include "problem.h"

kernel void direct(problem h, global const STORAGE *restrict from, global const STORAGE *restrict gradient,
                   global STORAGE *restrict to) {
    const long s = get_global_id(0), r = get_global_id(1), c = get_global_id(2) % h.channels, k = get_global_id(2) / h.channels;
    const long group = k / h.outputs, output = k % h.outputs;
    from += h.from_begin + group * h.from_group + c * h.from[1];
    gradient += h.to_begin + group * h.to_group + output * h.to[1];
    VALUE sum = 0;
    for (long n = 0; n < (long)(h.pixels / ((ulong)h.to_rows * h.to_columns)); n++)
        for (long p = 0; p < h.to_rows; p++) {
            const long row = p * h.stride[0] + r * h.dilation[0] - h.padding[0];
            if (row < 0 || row >= h.rows) continue;
            for (long q = 0; q < h.to_columns; q++) {
                const long column = q * h.stride[1] + s * h.dilation[1] - h.padding[1];
                if (column >= 0 && column < h.columns)
                    sum += LOAD(from + (n * h.from[0] + row * h.from[2] + column * h.from[3]), 0) *
                           LOAD(gradient + (n * h.to[0] + p * h.to[2] + q * h.to[3]), 0);
            }
        }
    STORE(to + (h.weights_begin + group * h.weights_group + output * h.weights[0] + c * h.weights[1] + r * h.weights[2] +
                s * h.weights[3]), 0, sum);
}
