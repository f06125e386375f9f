// qn_convolve element by element, where there is too little for tiles (few channels, depthwise) and on processors. By -D: STORAGE,
// LOAD, STORE and VALUE, the type of elements and of sums (element.h); ROWS and COLUMNS, the taps; BIAS.
// Global size: columns, rows, and images of all outputs.
#include "problem.h"

static VALUE pixel(problem h, global const STORAGE *image, long row, long column) {
    if (row < 0 || row >= h.rows || column < 0 || column >= h.columns) return 0;
    return LOAD(image + (row * h.from[2] + column * h.from[3]), 0);
}

kernel void direct(problem h, global const STORAGE *restrict from, global const STORAGE *restrict weights,
                   global const STORAGE *restrict bias, global STORAGE *restrict to) {
    const uint all = h.groups * h.outputs;
    const long q = get_global_id(0), p = get_global_id(1), k = get_global_id(2) % all, n = get_global_id(2) / all;
    const long group = k / h.outputs, output = k % h.outputs;
    const long row = p * h.stride[0] - h.padding[0], column = q * h.stride[1] - h.padding[1];
    global const STORAGE *image = from + h.from_begin + n * h.from[0] + group * h.from_group;
    global const STORAGE *w = weights + h.weights_begin + group * h.weights_group + output * h.weights[0];
#ifdef BIAS
    VALUE sum = LOAD(bias + h.bias_begin + k * h.bias, 0);
#else
    VALUE sum = 0;
#endif
    for (uint c = 0; c < h.channels; c++) {
        for (uint r = 0; r < ROWS; r++)
            for (uint s = 0; s < COLUMNS; s++)
                sum += pixel(h, image, row + (long)r * h.dilation[0], column + (long)s * h.dilation[1]) *
                       LOAD(w + r * h.weights[2] + s * h.weights[3], 0);
        image += h.from[1];
        w += h.weights[1];
    }
    STORE(to + h.to_begin + n * h.to[0] + group * h.to_group + output * h.to[1] + p * h.to[2] + q * h.to[3], 0, sum);
}
