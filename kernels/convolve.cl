// Convolution of images, as neural networks have it (a correlation): to[n, k, p, q] = bias[k] + the sum over c, r, s of
// from[n, c, p * stride + r * dilation - padding, ...] * weights[k, c, r, s]. What is outside of an image is 0. By -D: STORAGE, LOAD,
// STORE and VALUE, the type of elements and of sums (element.h); ROWS and COLUMNS of the weights; BIAS.
#include "element.h"

// Channels are those of one group. Strides are in elements, of the dimensions in the order above.
typedef struct shape {
    ulong images;
    uint groups, channels, outputs;   // channels in and out
    uint rows, columns, to_rows, to_columns;
    uint stride[2], dilation[2], padding[2];
    ulong from_begin, weights_begin, bias_begin, to_begin;
    long from[4], weights[4], bias, to[4];
} shape;

static VALUE pixel(const shape *h, global const STORAGE *restrict from, ulong image_begin, long row, long column) {
    if (row < 0 || row >= (long)h->rows || column < 0 || column >= (long)h->columns) return 0;
    return LOAD(from, image_begin + row * h->from[2] + column * h->from[3]);
}

#ifdef BIAS
#define BIAS_OF(k) LOAD(bias, h.bias_begin + (k) * h.bias)
#else
#define BIAS_OF(k) 0
#endif

// A work-item an element. Global size: columns, rows, images and output channels.
kernel void direct(shape h, global const STORAGE *restrict from, global const STORAGE *restrict weights,
                   global const STORAGE *restrict bias, global STORAGE *restrict to) {
    const uint all = h.groups * h.outputs;
    const long q = get_global_id(0), p = get_global_id(1), k = get_global_id(2) % all, n = get_global_id(2) / all;
    const long first = k / h.outputs * h.channels; // channel of the group
    VALUE sum = BIAS_OF(k);
    for (uint c = 0; c < h.channels; c++) {
        const ulong image = h.from_begin + n * h.from[0] + (first + c) * h.from[1];
        const ulong kernel_begin = h.weights_begin + k * h.weights[0] + c * h.weights[1];
        for (uint r = 0; r < ROWS; r++) {
            for (uint s = 0; s < COLUMNS; s++) {
                const long row = p * h.stride[0] + r * h.dilation[0] - h.padding[0],
                           column = q * h.stride[1] + s * h.dilation[1] - h.padding[1];
                sum += pixel(&h, from, image, row, column) *
                       LOAD(weights, kernel_begin + r * h.weights[2] + s * h.weights[3]);
            }
        }
    }
    STORE(to, h.to_begin + n * h.to[0] + k * h.to[1] + p * h.to[2] + q * h.to[3], sum);
}

// As a product of matrices, whose left one is never written (implicit GEMM): a row for each pixel that comes out, a column for
// each output channel, summed over channels, rows and columns of the weights. Work-group: 256 work-items, a tile of 64 by 64;
// a work-item has 4 by 4 of it, 16 apart. Global size: tiles of pixels, tiles of outputs, groups of channels.
#define TILE 64
#define DEPTH 16

kernel void tiles(shape h, global const STORAGE *restrict from, global const STORAGE *restrict weights,
                  global const STORAGE *restrict bias, global STORAGE *restrict to) {
    local VALUE a[DEPTH][TILE], b[DEPTH][TILE + 1];
    const uint me = get_local_id(0), x = me % 16, y = me / 16;
    const ulong area = (ulong)h.to_rows * h.to_columns, pixels = h.images * area;
    const ulong first_pixel = get_group_id(0) * (ulong)TILE;
    const uint first_output = get_group_id(1) * TILE, group = get_group_id(2);
    const uint depth = h.channels * ROWS * COLUMNS;
    // The pixel whose column of `a` this work-item loads, one row of four.
    const ulong mine = first_pixel + me % TILE;
    const ulong n = mine / area;
    const uint in_image = (uint)(mine % area);
    const long row = (long)(in_image / h.to_columns) * h.stride[0] - h.padding[0],
               column = (long)(in_image % h.to_columns) * h.stride[1] - h.padding[1];
    const ulong image = h.from_begin + n * h.from[0] + (ulong)group * h.channels * h.from[1];
    VALUE sums[4][4];
    #pragma unroll
    for (uint i = 0; i < 16; i++) sums[i / 4][i % 4] = 0;
    for (uint begin = 0; begin < depth; begin += DEPTH) {
        #pragma unroll
        for (uint i = 0; i < 4; i++) {
            const uint d = me / TILE + 4 * i, at = begin + d, c = at / (ROWS * COLUMNS), rs = at % (ROWS * COLUMNS);
            VALUE value = 0;
            if (mine < pixels && at < depth)
                value = pixel(&h, from, image + c * h.from[1], row + (long)(rs / COLUMNS) * h.dilation[0],
                              column + (long)(rs % COLUMNS) * h.dilation[1]);
            a[d][me % TILE] = value;
        }
        #pragma unroll
        for (uint i = 0; i < 4; i++) {
            const uint d = me % DEPTH, at = begin + d, c = at / (ROWS * COLUMNS), rs = at % (ROWS * COLUMNS);
            const uint k = first_output + me / DEPTH + 16 * i;
            VALUE value = 0;
            if (k < h.outputs && at < depth)
                value = LOAD(weights, h.weights_begin + ((long)group * h.outputs + k) * h.weights[0] + c * h.weights[1] +
                                          rs / COLUMNS * h.weights[2] + rs % COLUMNS * h.weights[3]);
            b[d][me / DEPTH + 16 * i] = value;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        #pragma unroll
        for (uint d = 0; d < DEPTH; d++) {
            #pragma unroll
            for (uint i = 0; i < 4; i++) {
                #pragma unroll
                for (uint j = 0; j < 4; j++) sums[i][j] += a[d][x + 16 * i] * b[d][y + 16 * j];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint i = 0; i < 4; i++) {
        const ulong out = first_pixel + x + 16 * i;
        if (out >= pixels) break;
        const ulong at = h.to_begin + out / area * h.to[0] + out % area / h.to_columns * h.to[2] +
                         out % area % h.to_columns * h.to[3];
        for (uint j = 0; j < 4; j++) {
            const uint k = first_output + y + 16 * j;
            if (k >= h.outputs) break;
            const long channel = (long)group * h.outputs + k;
            STORE(to, at + channel * h.to[1], sums[i][j] + BIAS_OF(channel));
        }
    }
}
