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

// A row of the pixels that came out. Global size: rows and images of the piece; channels and taps of all groups.
kernel void unfold(problem h, piece part, global const STORAGE *restrict from, global VALUE *restrict to) {
    const size_t p = get_global_id(0), n = get_global_id(1), m = get_global_id(2);
    const uint all = (uint)m, s = all % part.taps[1], r = all / part.taps[1] % part.taps[0],
               channel = all / part.taps[1] / part.taps[0], group = channel / (uint)h.channels;
    const long row = (long)(part.row + p) * h.stride[0] + (long)r * h.dilation[0] - h.padding[0],
               first = (long)s * h.dilation[1] - h.padding[1], wide = h.to_columns;
    const long begin = min(at_least_0(-first, h.stride[1]), wide);
    const long end = row < 0 || row >= h.rows ? begin : max(begin, min(at_least_0(h.columns - first, h.stride[1]), wide));
    to += m * part.pitch + (n * part.rows + p) * h.to_columns;
    from += h.from_begin + (long)(part.image + n) * h.from[0] + (long)group * h.from_group +
            (long)(channel - group * (uint)h.channels) * h.from[1] + row * h.from[2] + first * h.from[3];
    // A processor's compiler makes vectors of it, also of short rows: it ends soon, and so nobody looks whether it is cancelled.
    for (uint q = 0; q < h.to_columns; q++) to[q] = q >= begin && q < end ? LOAD(from + q * NEXT, 0) : 0;
}
