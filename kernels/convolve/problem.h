// What the kernels of qn_kernels_convolve and its gradients share: the numbers of one convolution.
#include "../matmul/load4.h"

// Written by src/kernels/convolve_plan.c. Arrays are in the order NCHW, their strides in elements. Channels and outputs are those
// of one group, whose strides are from one to the next. A work-group sums up `part` channels.
typedef struct problem {
    ulong pixels; // of all images, that come out
    uint to_rows, to_columns, channels, outputs, part, groups;
    int rows, columns, stride[2], dilation[2];
    long padding[2];
    ulong from_begin, weights_begin, bias_begin, to_begin;
    long from[4], weights[4], to[4], bias;
    long from_group, weights_group, to_group;
} problem;

// A bit for each tap whose place is inside of the image.
static uint bits_inside(long at, int dilation, uint count, int size) {
    uint bits = 0;
    for (uint i = 0; i < count; i++, at += dilation) bits |= (uint)(at >= 0 && at < size) << i;
    return bits;
}

// Parts of sums, of all pixels and outputs, which lie as they do in memory: the pixels of an output together, in fours, or
// (TO_ALONG 2) the outputs of a pixel.
#define PARTS_PITCH(h) (((h).pixels + 3) / 4 * 4)

static global VALUE *part_of(problem h, global VALUE *work, size_t part) {
    return work + part * h.groups * h.outputs * PARTS_PITCH(h);
}
