// qn_kernels_convolve on a processor: images are first copied with their padding, so that the multiplication asks nothing about edges, and
// weights into panels of MR outputs; then a work-item computes MR outputs of pixels that follow each other, a tile of which stays in
// vector registers, as in matmul/packed.cl. With strides above 1 the copy has a plane for each phase of rows and of columns: what a tap needs
// of neighbouring pixels lies together all the same. Pixels are numbered through rows and the padding between them, whose results
// are dropped: so no vector has to end with a row.
// By -D: STORAGE, LOAD, STORE and VALUE, the type of elements and of sums (element.h); ROWS and COLUMNS, the taps; MR, VECTORS and
// LANES; BLOCK, tiles of a work-item; PAD_ROWS; BIAS; NEXT, from an element of a phase to its neighbour.
#include "problem.h"

#define NR                 (LANES * VECTORS)
#define TAPS               (ROWS * COLUMNS)
#define JOINED(x, y)       x##y
#define OF_LANES(x, lanes) JOINED(x, lanes)
#define VECTOR             OF_LANES(VALUE, LANES)
#define LOAD_VECTOR        OF_LANES(vload, LANES)
#define STORE_VECTOR       OF_LANES(vstore, LANES)

// Rows and columns of a phase, and the elements of all phases of a channel, behind which a tile may read.
static size_t phase_rows(problem h) { return ((size_t)(h.to_rows - 1) * h.stride[0] + (size_t)(ROWS - 1) * h.dilation[0]) / h.stride[0] + 1; }
static size_t phase_columns(problem h) {
    return ((size_t)(h.to_columns - 1) * h.stride[1] + (size_t)(COLUMNS - 1) * h.dilation[1]) / h.stride[1] + 1;
}
static size_t channel_size(problem h) { return h.stride[0] * phase_rows(h) * h.stride[1] * phase_columns(h) + NR; }

static size_t panels_of(problem h) { return (h.outputs + MR - 1) / MR; }
static size_t panel_size(problem h) { return (size_t)h.channels * TAPS * MR; }
static size_t weights_size(problem h) { return (h.groups * panels_of(h) * panel_size(h) + 15) / 16 * 16; }

// A tap of a channel of a panel. Global size: taps of all channels; panels of all groups.
kernel void pack(problem h, global const STORAGE *restrict weights, global VALUE *restrict work) {
    const size_t k = get_global_id(0);
    const uint c = (uint)k / TAPS, r = (uint)k % TAPS / COLUMNS, s = (uint)k % COLUMNS; // of 64 bits NVIDIA's Vulkan gets tap 1 of 2 wrong
    const size_t group = get_global_id(1) / panels_of(h), first = get_global_id(1) % panels_of(h) * MR;
    weights += h.weights_begin + (long)group * h.weights_group + (long)c * h.weights[1] + (long)r * h.weights[2] +
               (long)s * h.weights[3];
    work += get_global_id(1) * panel_size(h) + k * MR;
    for (uint i = 0; i < MR; i++) work[i] = first + i < h.outputs ? LOAD(weights + (long)(first + i) * h.weights[0], 0) : 0;
}

static long at_least_0(long a, long b) { return a <= 0 ? 0 : b == 1 ? a : (a + b - 1) / b; } // a / b, rounded up

// Up to PAD_ROWS rows of each phase of a channel. A row ends with a whole vector where the rows behind it, which overwrite the rest of that
// vector, have room for it: what is behind these rows is other work-items'. Global size: channels of all groups; images; runs of rows.
__attribute__((reqd_work_group_size(1, 1, 1))) kernel void pad(problem h, global const STORAGE *restrict from,
                                                                global VALUE *restrict work) {
    const size_t high = phase_rows(h), wide = phase_columns(h), all = (size_t)h.groups * h.channels, channel = get_global_id(0);
    const size_t group = h.groups == 1 ? 0 : channel / h.channels, top = get_global_id(2) * PAD_ROWS;
    const uint count = (uint)min(high - top, (size_t)PAD_ROWS), whole = (uint)(wide + LANES - 1) / LANES * LANES;
    work += weights_size(h) + (get_global_id(1) * all + channel) * channel_size(h) + top * wide;
    from += h.from_begin + (long)get_global_id(1) * h.from[0] + (long)group * h.from_group +
            (long)(channel - group * h.channels) * h.from[1];
    for (int phase = 0; phase < h.stride[0] * h.stride[1]; phase++) {
        const long up = phase / h.stride[1] - h.padding[0], first = phase % h.stride[1] - h.padding[1]; // what is at 0, 0
        const long begin = min(at_least_0(-first, h.stride[1]), (long)wide);
        const long stop = max(begin, min(at_least_0(h.columns - first, h.stride[1]), (long)wide));
        global VALUE *to = work + phase * high * wide;
        for (uint y = 0; y < count; y++, to += wide) {
            const long row = up + (long)(top + y) * h.stride[0], end = row < 0 || row >= h.rows ? begin : stop;
            const uint columns = (uint)min((size_t)whole, (count - y) * wide);
            global const STORAGE *line = from + row * h.from[2] + first * h.from[3];
            for (uint x = 0; x < columns; x++) // vectors, as in unfold.cl
                to[x] = x >= begin && x < end ? LOAD(line + x * NEXT, 0) : 0;
        }
    }
}

static void multiply(VECTOR sum[MR][VECTORS], problem h, global const VALUE *x, global const VALUE *w) {
    const size_t high = phase_rows(h), wide = phase_columns(h), channel = channel_size(h);
    size_t places[TAPS];
    #pragma unroll
    for (uint t = 0; t < TAPS; t++) {
        const size_t row = (size_t)(t / COLUMNS) * h.dilation[0], column = (size_t)(t % COLUMNS) * h.dilation[1];
        const size_t phase = row % h.stride[0] * h.stride[1] + column % h.stride[1];
        places[t] = (phase * high + row / h.stride[0]) * wide + column / h.stride[1];
    }
    for (uint c = 0; c < h.channels; c++, x += channel) {
        for (uint t = 0; t < TAPS; t++, w += MR) {
            VECTOR v[VECTORS];
            #pragma unroll
            for (uint j = 0; j < VECTORS; j++) v[j] = LOAD_VECTOR(j, x + places[t]);
            #pragma unroll
            for (uint i = 0; i < MR; i++)
                #pragma unroll
                for (uint j = 0; j < VECTORS; j++) sum[i][j] = fma((VECTOR)w[i], v[j], sum[i][j]);
        }
    }
}

// A row of the tile, from pixel number f on.
static void put_row(problem h, global STORAGE *to, const VALUE *sum, size_t f) {
    const size_t wide = phase_columns(h);
    size_t row = f / wide, column = f % wide;
    for (uint i = 0; i < NR && row < h.to_rows;) {
        const size_t run = min(wide - column, (size_t)(NR - i)), kept = column < h.to_columns ? min(run, h.to_columns - column) : 0;
        global STORAGE *at = to + (long)row * h.to[2] + (long)column * h.to[3];
        if (h.to[3] == 1)
            for (size_t j = 0; j < kept; j++) STORE(at + j, 0, sum[i + j]);
        else
            for (size_t j = 0; j < kept; j++) STORE(at + (long)j * h.to[3], 0, sum[i + j]);
        i += run;
        column = 0;
        row++;
    }
}

// Global size: panels; blocks of tiles; images of all groups.
kernel void matmul(problem h, global const STORAGE *restrict bias, global STORAGE *restrict to, global const VALUE *restrict work) {
    const size_t panel = get_global_id(0), group = get_global_id(2) % h.groups, n = get_global_id(2) / h.groups;
    const size_t pixels = (size_t)(h.to_rows - 1) * phase_columns(h) + h.to_columns;
    const uint first = (uint)panel * MR, outputs = min(h.outputs - first, (uint)MR);
    global const VALUE *w = work + (group * panels_of(h) + panel) * panel_size(h),
                       *x = work + weights_size(h) + (n * h.groups + group) * h.channels * channel_size(h);
    to += h.to_begin + (long)n * h.to[0] + (long)group * h.to_group + (long)first * h.to[1];
    for (size_t f = get_global_id(1) * BLOCK * NR, end = min(f + BLOCK * NR, pixels); f < end; f += NR) {
        VECTOR sum[MR][VECTORS];
        #pragma unroll
        for (uint i = 0; i < MR; i++) {
            VALUE b = 0;
#ifdef BIAS
            if (i < outputs) b = LOAD(bias + h.bias_begin + (long)(group * h.outputs + first + i) * h.bias, 0);
#endif
            #pragma unroll
            for (uint j = 0; j < VECTORS; j++) sum[i][j] = (VECTOR)b;
        }
        multiply(sum, h, x + f, w);
        VALUE tile[MR * NR];
        #pragma unroll
        for (uint i = 0; i < MR; i++)
            #pragma unroll
            for (uint j = 0; j < VECTORS; j++) STORE_VECTOR(sum[i][j], i * VECTORS + j, tile);
        for (uint i = 0; i < outputs; i++) put_row(h, to + (long)i * h.to[1], tile + i * NR, f);
    }
}
