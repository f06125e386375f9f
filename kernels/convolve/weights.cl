// The gradient of a convolution by its weights as a product of matrices: a row for each channel and tap, a column for each output,
// summed over all pixels that came out. The left matrix, the pixels that the taps met, is never written. Tiles as in tile.cl; what a
// row and what a pixel adds to an address lies in tables in local memory.
// By -D: OFFSET, of an element within what a group sees; STORAGE, LOAD, STORE, VALUE, VALUE4, ROWS, COLUMNS, WM, WN, LM, LN, TM, TN as there; BK, pixels of a step;
// FROM_CHANNELS_TOGETHER, GRADIENT_CHANNELS_TOGETHER: work-items beside each other load channels of a pixel, not pixels of a channel.
#include "problem.h"

#define ITEMS   (WM * WN * LM * LN)
#define BM      (WM * LM * TM)
#define BN      (WN * LN * TN)
#define TAPS    (ROWS * COLUMNS)
#define A_PITCH (BM + 4)
#define B_PITCH (BN + 4)
#define A_PARTS (BM * BK / ITEMS)
#define B_PARTS (BN * BK / ITEMS)
#include "multiply.h"

// Of a row: where its channel and tap are from a pixel's place; of a pixel: its place in both arrays, and in the image.
typedef struct tap {
    OFFSET at;
    int row, column;
} __attribute__((aligned(16))) tap;
typedef struct pixel {
    OFFSET from, gradient;
    int row, column;
} __attribute__((aligned(16))) pixel;

// No pixel has this tap.
#define BEYOND (-0x40000000)

// Rows are in the order in which they lie in memory.
static uint channel_of(problem h, uint m) { return FROM_CHANNELS_TOGETHER ? m % h.channels : m / TAPS; }
static uint tap_of(problem h, uint m) { return FROM_CHANNELS_TOGETHER ? m / h.channels : m % TAPS; }

static tap tap_at(problem h, uint m) {
    const uint t = tap_of(h, m);
    tap result;
    result.row = t / COLUMNS * h.dilation[0] - (int)h.padding[0];
    result.column = t % COLUMNS * h.dilation[1] - (int)h.padding[1];
    result.at = (OFFSET)(channel_of(h, m) * h.from[1] + result.row * h.from[2] + result.column * h.from[3]);
    if (m >= h.channels * TAPS) result.row = BEYOND;
    return result;
}

// A pixel that came out, by its number in the image.
typedef struct walk {
    ulong left; // of this part
    long image;
    uint row, column;
} walk;

static pixel pixel_at(problem h, const walk *w) {
    pixel p;
    p.row = w->left > 0 ? (int)w->row * h.stride[0] : BEYOND;
    p.column = (int)w->column * h.stride[1];
    p.from = (OFFSET)(w->image * h.from[0] + p.row * h.from[2] + p.column * h.from[3]);
    p.gradient = (OFFSET)(w->image * h.to[0] + w->row * h.to[2] + w->column * h.to[3]);
    return p;
}

static void walk_on(problem h, walk *w, uint count) {
    w->left -= min(w->left, (ulong)count);
    w->column += count;
    while (w->column >= h.to_columns) {
        w->column -= h.to_columns;
        if (++w->row == h.to_rows) {
            w->row = 0;
            w->image++;
        }
    }
}

#define MORE(side) ((side) >= ITEMS ? (side) / ITEMS : 1)
// Row and pixel of piece i of a tile of `side` rows.
#define SIDE_OF(i, side, together)                                                                           \
    ((together) ? ITEMS >= (side) ? item % (side) : item + (i) % MORE(side) * ITEMS : item / BK + (i) * (ITEMS / BK))
#define PIXEL_OF(i, side, together)                                                                          \
    ((together) ? ITEMS >= (side) ? item / (side) + (i) * (ITEMS / (side)) : (i) / MORE(side) : item % BK)

typedef struct part {
    VALUE a[A_PARTS], b[B_PARTS];
} part;

static void fetch(part *t, problem h, global const STORAGE *from, global const STORAGE *gradient, local const tap *taps,
                  local const pixel *pixels, uint outputs) {
    const uint item = get_local_id(0);
    #pragma unroll
    for (uint i = 0; i < A_PARTS; i++) {
        const tap t0 = taps[SIDE_OF(i, BM, FROM_CHANNELS_TOGETHER)];
        const pixel p = pixels[PIXEL_OF(i, BM, FROM_CHANNELS_TOGETHER)];
        t->a[i] = 0;
        if ((uint)(t0.row + p.row) < (uint)h.rows && (uint)(t0.column + p.column) < (uint)h.columns)
            t->a[i] = LOAD(from + (OFFSET)(t0.at + p.from), 0);
    }
    const OFFSET next = (OFFSET)h.to[1];
    #pragma unroll
    for (uint i = 0; i < B_PARTS; i++) {
        const uint side = SIDE_OF(i, BN, GRADIENT_CHANNELS_TOGETHER);
        const pixel p = pixels[PIXEL_OF(i, BN, GRADIENT_CHANNELS_TOGETHER)];
        t->b[i] = 0;
        if (side < outputs && p.row >= 0) t->b[i] = LOAD(gradient + (OFFSET)(p.gradient + (OFFSET)side * next), 0);
    }
}

static void keep(const part *t, local VALUE *a_tile, local VALUE *b_tile) {
    const uint item = get_local_id(0);
    #pragma unroll
    for (uint i = 0; i < A_PARTS; i++)
        a_tile[PIXEL_OF(i, BM, FROM_CHANNELS_TOGETHER) * A_PITCH + SIDE_OF(i, BM, FROM_CHANNELS_TOGETHER)] = t->a[i];
    #pragma unroll
    for (uint i = 0; i < B_PARTS; i++)
        b_tile[PIXEL_OF(i, BN, GRADIENT_CHANNELS_TOGETHER) * B_PITCH + SIDE_OF(i, BN, GRADIENT_CHANNELS_TOGETHER)] = t->b[i];
}

// Rows of a part of the sums: whole fours.
#define PITCH(h) (((size_t)(h).channels * TAPS + 3) / 4 * 4)

// Groups: tiles, outputs fastest; parts of the pixels; groups of channels. The sums of each part go to `work`.
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
tiles(problem h, global const STORAGE *restrict from, global const STORAGE *restrict gradient, global VALUE *restrict work) {
    local VALUE a_tile[2][BK * A_PITCH] __attribute__((aligned(32))), b_tile[2][BK * B_PITCH] __attribute__((aligned(32)));
    local tap taps[BM];
    local pixel pixels[2][BK];
    const uint across = (h.outputs + BN - 1) / BN, group = get_group_id(2), item = get_local_id(0);
    const uint first_row = (uint)(get_group_id(0) / across) * BM, first_output = (uint)(get_group_id(0) % across) * BN;
    const ulong begin = get_group_id(1) * (ulong)h.part, area = (ulong)h.to_rows * h.to_columns;
    const ulong count = min(h.pixels - begin, (ulong)h.part), in_image = begin % area;
    from += h.from_begin + group * h.from_group;
    gradient += h.to_begin + group * h.to_group + first_output * h.to[1];
    walk w;
    w.left = count;
    w.image = begin / area;
    w.row = (uint)(in_image / h.to_columns);
    w.column = (uint)(in_image % h.to_columns);
    for (uint i = item; i < BM; i += ITEMS) taps[i] = tap_at(h, first_row + i);
    if (item < BK) {
        walk_on(h, &w, item);
        pixels[0][item] = pixel_at(h, &w);
        walk_on(h, &w, BK);
        pixels[1][item] = pixel_at(h, &w);
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    const uint band_of = item / (LM * LN), lane = item % (LM * LN);
    const uint y = band_of / WN * (LM * TM) + (lane / (LN * 2) * 2 + lane % 2) * 4,
               x = band_of % WN * (LN * TN) + lane / 2 % LN * 4;
    VALUE sum[TM][TN];
    #pragma unroll
    for (uint i = 0; i < TM; i++)
        #pragma unroll
        for (uint j = 0; j < TN; j++) sum[i][j] = 0;
    part next;
    fetch(&next, h, from, gradient, taps, pixels[0], h.outputs - first_output);
    keep(&next, a_tile[0], b_tile[0]);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint now = 0;
    const uint steps = (uint)((count + BK - 1) / BK);
    for (uint step = 1; step < steps; step++, now ^= 1) {
        fetch(&next, h, from, gradient, taps, pixels[now ^ 1], h.outputs - first_output);
        if (item < BK) {
            walk_on(h, &w, BK);
            pixels[now][item] = pixel_at(h, &w);
        }
        multiply(sum, a_tile[now], b_tile[now], y, x);
        keep(&next, a_tile[now ^ 1], b_tile[now ^ 1]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    multiply(sum, a_tile[now], b_tile[now], y, x);

    work += ((get_group_id(1) * h.groups + group) * h.outputs + first_output) * PITCH(h) + first_row;
    #pragma unroll
    for (uint i = 0; i < TM; i += 4)
        #pragma unroll
        for (uint j = 0; j < TN; j++) {
            const uint k = x + j / 4 * LN * 4 + j % 4, m = y + i * LM;
            if (first_output + k < h.outputs && first_row + m < h.channels * TAPS)
                *(global VALUE4 *)(work + k * PITCH(h) + m) = (VALUE4)(sum[i][j], sum[i + 1][j], sum[i + 2][j], sum[i + 3][j]);
        }
}

// Adds `parts` of them in order. Global size: channels and taps, outputs of all groups.
kernel void sum_parts(problem h, global STORAGE *restrict to, global const VALUE *restrict work, uint parts) {
    const uint m = get_global_id(0), k = get_global_id(1), c = channel_of(h, m), t = tap_of(h, m);
    const size_t one = (size_t)h.groups * h.outputs * PITCH(h);
    work += k * PITCH(h) + m;
    VALUE sum = 0;
    uint part = 0;
    for (; part + 8 <= parts; part += 8) { // so many loads are under way
        VALUE each[8];
        #pragma unroll
        for (uint i = 0; i < 8; i++) each[i] = work[(part + i) * one];
        #pragma unroll
        for (uint i = 0; i < 8; i++) sum += each[i];
    }
    for (; part < parts; part++) sum += work[part * one];
    STORE(to + (h.weights_begin + (long)(k / h.outputs) * h.weights_group + (long)(k % h.outputs) * h.weights[0] +
                c * h.weights[1] + t / COLUMNS * h.weights[2] + t % COLUMNS * h.weights[3]), 0, sum);
}
