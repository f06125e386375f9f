// Convolutions of few channels for quads of sub-groups: FOLD x FOLD pixels become one of UNIT = FOLD x FOLD x CHANNELS channels, where FOLD is the stride,
// and the taps of a row of those one tap of 64 channels, which begin UNIT channels apart from one position to the next. So a row of taps is one
// step of kernels/convolve/quad.cl. What there is not is 0: the padding, and channels and taps beyond the last ones.
// By -D: VALUE, which problem.h wants; ROWS and COLUMNS, the taps; FOLD, CHANNELS, 4 or 8.
#include "problem.h"

#define UNIT   (FOLD * FOLD * CHANNELS)
#define WINDOW (64 / UNIT) // folded pixels in a tap

// Pixels before the first one, whole folded ones, and how far behind their begin the first tap is.
static int begin_of(problem h, int i) { return ((int)h.padding[i] + FOLD - 1) / FOLD * FOLD; }
static int rest_of(problem h, int i) { return begin_of(h, i) - (int)h.padding[i]; }

// Global size: folded columns, rows, images.
kernel void images(problem h, global const ushort *restrict from, global ushort *restrict to) {
    const uint x = get_global_id(0), y = get_global_id(1), image = get_global_id(2);
    const int row = (int)y * FOLD - begin_of(h, 0), column = (int)x * FOLD - begin_of(h, 1);
    from += h.from_begin + image * h.from[0];
    union {
        ushort each[UNIT];
        uint4 words[UNIT / 8];
    } u;
    #pragma unroll
    for (uint i = 0; i < UNIT; i++) {
        const int r = row + (int)(i / CHANNELS / FOLD), c = column + (int)(i / CHANNELS % FOLD);
        const bool inside = i % CHANNELS < h.channels && r >= 0 && r < h.rows && c >= 0 && c < h.columns;
        u.each[i] = inside ? from[i % CHANNELS * h.from[1] + r * h.from[2] + c * h.from[3]] : 0;
    }
    global uint4 *at = (global uint4 *)(to + (((size_t)image * get_global_size(1) + y) * get_global_size(0) + x) * UNIT);
    #pragma unroll
    for (uint i = 0; i < UNIT / 8; i++) at[i] = u.words[i];
}

// Where a weight is among the 64 channels of a row of folded taps, by its place there; and back.
static int tap_row(problem h, uint row, uint i) { return (int)(row * FOLD + i % UNIT / CHANNELS / FOLD) - rest_of(h, 0); }
static int tap_column(problem h, uint i) { return (int)(i / UNIT * FOLD + i % UNIT / CHANNELS % FOLD) - rest_of(h, 1); }

static long place_of(problem h, uint output, uint channel, int row, int column) {
    return (long)h.weights_begin + output * h.weights[0] + channel * h.weights[1] + row * h.weights[2] + column * h.weights[3];
}

// Global size: 64, rows of folded taps, outputs.
kernel void weights(problem h, global const ushort *restrict from, global ushort *restrict to) {
    const uint i = get_global_id(0), row = get_global_id(1), output = get_global_id(2), channel = i % CHANNELS;
    const int r = tap_row(h, row, i), s = tap_column(h, i);
    const bool inside = channel < h.channels && r >= 0 && r < ROWS && s >= 0 && s < COLUMNS;
    to[((size_t)output * get_global_size(1) + row) * 64 + i] = inside ? from[place_of(h, output, channel, r, s)] : 0;
}

// The same from folded weights. Global size: as there.
kernel void unfold(problem h, global const ushort *restrict from, global ushort *restrict to) {
    const uint i = get_global_id(0), row = get_global_id(1), output = get_global_id(2), channel = i % CHANNELS;
    const int r = tap_row(h, row, i), s = tap_column(h, i);
    if (channel < h.channels && r >= 0 && r < ROWS && s >= 0 && s < COLUMNS)
        to[place_of(h, output, channel, r, s)] = from[((size_t)output * get_global_size(1) + row) * 64 + i];
}
