// The pixels that the taps of a convolution meet, as the matrix of the product that its gradient by weights is on processors: a row for each
// channel and tap, a column for each pixel that came out. What is outside of an image is 0.
// By -D: STORAGE, LOAD, VALUE; NEXT, from what a tap meets to what it meets for the next pixel of a row.
#include "problem.h"

// Some images, and some rows of what came out of each; rows and columns of taps. Rows of the matrix are `pitch` elements apart.
typedef struct piece {
    ulong image, pitch;
    uint row, rows, taps[2];
} piece;

static long at_least_0(long a, long b) { return a <= 0 ? 0 : b == 1 ? a : (a + b - 1) / b; } // a / b, rounded up

// The rows of an image. Global size: images of the piece; channels and taps of all groups.
__attribute__((reqd_work_group_size(1, 1, 1))) kernel void unfold(problem h, piece part, global const STORAGE *restrict from,
                                                                   global VALUE *restrict to) {
    const size_t n = get_global_id(0), m = get_global_id(1);
    const uint all = (uint)m, s = all % part.taps[1], r = all / part.taps[1] % part.taps[0],
               channel = all / part.taps[1] / part.taps[0], group = channel / (uint)h.channels;
    const long first = (long)s * h.dilation[1] - h.padding[1], wide = h.to_columns;
    const long begin = min(at_least_0(-first, h.stride[1]), wide);
    const long end = max(begin, min(at_least_0(h.columns - first, h.stride[1]), wide));
    const long row = (long)part.row * h.stride[0] + (long)r * h.dilation[0] - h.padding[0];
    to += m * part.pitch + n * part.rows * h.to_columns;
    from += h.from_begin + (long)(part.image + n) * h.from[0] + (long)group * h.from_group +
            (long)(channel - group * (uint)h.channels) * h.from[1];
#if FLAT
    const long shift = row * wide + first, size = (long)h.rows * wide;
    const uint count = part.rows * h.to_columns;
    for (uint i = 0; i < count; i++) to[i] = i >= -shift && i < size - shift ? LOAD(from + shift + i, 0) : 0;
    for (uint p = 0; p < part.rows; p++, to += wide) {
        for (long q = 0; q < begin; q++) to[q] = 0;
        for (long q = end; q < wide; q++) to[q] = 0;
    }
#else
    from += row * h.from[2] + first * h.from[3];
    for (uint p = 0; p < part.rows; p++, to += wide, from += h.stride[0] * h.from[2]) {
        const long at = row + (long)p * h.stride[0], stop = at < 0 || at >= h.rows ? begin : end;
        for (uint q = 0; q < h.to_columns; q++) to[q] = q >= begin && q < stop ? LOAD(from + q * NEXT, 0) : 0;
    }
#endif
}
