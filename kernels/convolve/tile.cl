// qn_kernels_convolve as a product of matrices whose left one is never written (implicit GEMM): a row for each pixel that comes out, a
// column for each output channel, summed over channels and taps. Tiles as in matmul/tile.cl, the left one gathered from the
// images: planes.h or channels.h. A bit for each tap says whether it is inside of the image, so that a step asks no more than that.
// By -D: STORAGE, LOAD, STORE and VALUE, the type of elements and of sums (element.h), LOAD4, STORE4 and VALUE4 where they are
// used; ROWS and COLUMNS, the taps; WM, WN, LM, LN, TM, TN as in matmul/tile.cl; INDEX, a number of a pixel; CHANNELS_TOGETHER,
// with STEP, the channels of a step, and what channels.h takes, else what planes.h does; TO_ALONG: 1 where the pixels of an image lie together in fours, 2 where the outputs of a pixel
// do, else 0; BIAS; SPLIT: sums of parts of the channels go to `work`, for sum_parts.
// Groups: tiles, output channels fastest; parts of the channels; groups of channels.
#include "problem.h"

#define ITEMS   (WM * WN * LM * LN)
#define BM      (WM * LM * TM)
#define BN      (WN * LN * TN)
#define B_PITCH (BN + 4)

#if CHANNELS_TOGETHER
#define BK            STEP
#define A_PITCH       (BM + 4)
#define RUN           4
#define PIECE         VALUE4
#define LOAD_PIECE(p) LOAD4(p, 0)
#define GATHER_PIECE(p, next)                                                                                \
    (VALUE4)(LOAD(p, 0), LOAD(p + next, 0), LOAD(p + 2 * next, 0), LOAD(p + 3 * next, 0))
#include "channels.h"

static void keep_run(VALUE4 v, local VALUE *to, uint pitch) {
    to[0] = v.x;
    to[pitch] = v.y;
    to[2 * pitch] = v.z;
    to[3 * pitch] = v.w;
}

static void keep(const part *t, local VALUE *a_tile, local VALUE *b_tile) {
    const uint item = get_local_id(0), channel = item % RUNS * RUN;
#pragma unroll
    for (uint i = 0; i < PIXELS; i++)
        keep_run(t->a[i], a_tile + channel * A_PITCH + item / RUNS + i * APART, A_PITCH);
#pragma unroll
    for (uint i = 0; i < WEIGHT_PARTS; i++)
        if ((i + 1) * APART <= BN || item / RUNS + i * APART < BN)
            keep_run(t->b[i], b_tile + channel * B_PITCH + item / RUNS + i * APART, B_PITCH);
}
#else
#include "planes.h"
#endif

#include "multiply.h"

// Where sums go: the first output of the group, the pixel and the output of the tile's corner.
typedef struct goal {
    global STORAGE *to;
    global const STORAGE *bias;
    INDEX pixel;
    uint output;
} goal;

#ifdef BIAS
#define WITH_BIAS(v, k) ((v) + LOAD(g->bias + (k) * h.bias, 0))
#else
#define WITH_BIAS(v, k) (v)
#endif

// Four neighbours of a pixel's outputs, from k on.
static void put_outputs(problem h, const goal *g, const VALUE *sum, global STORAGE *at, uint k) {
#if TO_ALONG == 2
    if (k < h.outputs)
        STORE4(at + k, 0,
               (VALUE4)(WITH_BIAS(sum[0], k), WITH_BIAS(sum[1], k + 1), WITH_BIAS(sum[2], k + 2), WITH_BIAS(sum[3], k + 3)));
#else
    #pragma unroll
    for (uint o = 0; o < 4; o++)
        if (k + o < h.outputs) STORE(at + (k + o) * h.to[1], 0, WITH_BIAS(sum[o], k + o));
#endif
}

// The sums of four pixels that follow each other, from y on, and of the outputs from x on.
static void put_pixels(problem h, const goal *g, VALUE sum[4][TN], uint y, uint x) {
    const INDEX first = g->pixel + y;
    const uint area = h.to_rows * h.to_columns, in_image = (uint)(first % area);
    uint row = in_image / h.to_columns, column = in_image % h.to_columns;
    global STORAGE *at = g->to + (long)(first / area) * h.to[0] + (long)row * h.to[2] + (long)column * h.to[3];
#if TO_ALONG == 1
    if (first >= h.pixels) return;
    #pragma unroll
    for (uint j = 0; j < TN; j++) {
        const uint k = g->output + x + j / 4 * LN * 4 + j % 4;
        if (k < h.outputs)
            STORE4(at + k * h.to[1], 0,
                   (VALUE4)(WITH_BIAS(sum[0][j], k), WITH_BIAS(sum[1][j], k), WITH_BIAS(sum[2][j], k), WITH_BIAS(sum[3][j], k)));
    }
#else
    #pragma unroll
    for (uint e = 0; e < 4; e++) {
        if (first + e < h.pixels) {
            #pragma unroll
            for (uint j = 0; j < TN; j += 4) put_outputs(h, g, sum[e] + j, at, g->output + x + j * LN);
        }
        at += h.to[3];
        if (++column == h.to_columns) {
            column = 0;
            at += h.to[2] - h.to_columns * h.to[3];
            if (++row == h.to_rows) {
                row = 0;
                at += h.to[0] - h.to_rows * h.to[2];
            }
        }
    }
#endif
}

// The same as a part of what parts.cl adds.
static void put_part(problem h, global VALUE *part, const goal *g, VALUE sum[4][TN], uint y, uint x) {
    const size_t first = g->pixel + y, all = (size_t)h.groups * h.outputs;
#if TO_ALONG == 2
    #pragma unroll
    for (uint e = 0; e < 4; e++)
        #pragma unroll
        for (uint j = 0; j < TN; j += 4) {
            const uint k = g->output + x + j * LN;
            const VALUE *v = sum[e] + j;
            if (first + e < h.pixels && k < h.outputs)
                *(global VALUE4 *)(part + (first + e) * all + k) = (VALUE4)(v[0], v[1], v[2], v[3]);
        }
#else
    #pragma unroll
    for (uint j = 0; j < TN; j++) {
        const uint k = g->output + x + j / 4 * LN * 4 + j % 4;
        if (first < h.pixels && k < h.outputs)
            *(global VALUE4 *)(part + k * PARTS_PITCH(h) + first) = (VALUE4)(sum[0][j], sum[1][j], sum[2][j], sum[3][j]);
    }
#endif
}

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
tiles(problem h, global const STORAGE *restrict from, global const STORAGE *restrict weights,
      global const STORAGE *restrict bias, global STORAGE *restrict to, global VALUE *restrict work) {
    local VALUE a_tile[2][BK * A_PITCH] __attribute__((aligned(32))), b_tile[2][BK * B_PITCH] __attribute__((aligned(32)));
    const uint across = (h.outputs + BN - 1) / BN, group = get_group_id(2);
    const goal g = {to + h.to_begin + group * h.to_group, bias + h.bias_begin + group * (long)h.outputs * h.bias,
                    (INDEX)(get_group_id(0) / across) * BM, (uint)(get_group_id(0) % across) * BN};
    const uint first_channel = get_group_id(1) * h.part, channels = min(h.channels - first_channel, h.part);
    place p;
    set_place(&p, h, from + h.from_begin + group * h.from_group + first_channel * h.from[1],
              weights + h.weights_begin + group * h.weights_group + first_channel * h.weights[1], g.pixel, g.output, channels);
    const uint item = get_local_id(0), band_of = item / (LM * LN), lane = item % (LM * LN);
    const uint y = band_of / WN * (LM * TM) + (lane / (LN * 2) * 2 + lane % 2) * 4,
               x = band_of % WN * (LN * TN) + lane / 2 % LN * 4;
    VALUE sum[TM][TN];
    #pragma unroll
    for (uint i = 0; i < TM; i++)
        #pragma unroll
        for (uint j = 0; j < TN; j++) sum[i][j] = 0;

    part next;
    fetch(&next, h, &p);
    keep(&next, a_tile[0], b_tile[0]);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint now = 0;
    const uint steps = steps_of(channels);
    for (uint step = 1; step < steps; step++, now ^= 1) {
        advance(&p, h);
        fetch(&next, h, &p);
        multiply(sum, a_tile[now], b_tile[now], y, x);
        keep(&next, a_tile[now ^ 1], b_tile[now ^ 1]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    multiply(sum, a_tile[now], b_tile[now], y, x);

    #pragma unroll
    for (uint i = 0; i < TM; i += 4) {
#ifdef SPLIT
        const size_t channel = group * (size_t)h.outputs;
        put_part(h, part_of(h, work, get_group_id(1)) + channel * (TO_ALONG == 2 ? 1 : PARTS_PITCH(h)), &g, sum + i, y + i * LM,
                 x);
#else
        put_pixels(h, &g, sum + i, y + i * LM, x);
#endif
    }
}
