// qn_kernels_convolve by matrix units, for images whose channels lie together (channels.h), of 16-bit floats: as tile.cl, but tiles stay in
// local memory as they are in the images, and sub-groups multiply fragments of them. WM by WN sub-groups compute SM by SN sums each.
// By -D: UNIT, the type in fragments; STORAGE, LOAD, STORE (element.h); ITEMS; ROWS, COLUMNS, INDEX, BIAS, SPLIT as in
// tile.cl, WEIGHTS_TOGETHER as in channels.h; TO_ALONG: 2 where eight outputs of a pixel lie together, else 0. With SPLIT there are multiples of four outputs.
// Groups: as there.
#include "problem.h"

#define BM            (WM * SM)
#define BN            (WN * SN)
#define BK            32
#define FK            16      // of a fragment
#define RUN           8
#define PITCH         (BK + RUN) // keeps rows in different banks
#define PIECE         uint4
#define LOAD_PIECE(p) (*(global const uint4 *)(p))
#define GATHER_PIECE(p, next) gather_piece(p, next)

static uint4 gather_piece(global const STORAGE *p, long next) {
    union {
        ushort each[RUN];
        uint4 all;
    } u;
    #pragma unroll
    for (uint i = 0; i < RUN; i++) u.each[i] = *(global const ushort *)(p + i * next);
    return u.all;
}

#include "channels.h"

// Where an element of the right tile is: a line of it has the channels of an output, or (WEIGHTS_TOGETHER 2) the outputs of a channel.
#if WEIGHTS_TOGETHER == 2
#define B_PITCH    (BN + RUN)
#define B_AT(k, n) ((k) * B_PITCH + (n))
#define B_LAYOUT   qn_row_major
#else
#define B_PITCH    PITCH
#define B_AT(k, n) ((n) * B_PITCH + (k))
#define B_LAYOUT   qn_column_major
#endif

static void keep(const part *t, local STORAGE *a_tile, local STORAGE *b_tile) {
    const uint item = get_local_id(0), at = item / RUNS * PITCH + item % RUNS * RUN;
    #pragma unroll
    for (uint i = 0; i < PIXELS; i++) *(local uint4 *)(a_tile + at + i * APART * PITCH) = t->a[i];
    #pragma unroll
    for (uint i = 0; i < WEIGHT_PARTS; i++) {
#if WEIGHTS_TOGETHER == 2
        *(local uint4 *)(b_tile + B_AT(item / WEIGHT_RUNS + i * WEIGHT_APART, item % WEIGHT_RUNS * RUN)) = t->b[i];
#else
        if ((i + 1) * APART <= BN || item / RUNS + i * APART < BN)
            *(local uint4 *)(b_tile + B_AT(item % RUNS * RUN, item / RUNS + i * APART)) = t->b[i];
#endif
    }
}

static long place_in(problem h, INDEX pixel) {
    const INDEX area = h.to_rows * h.to_columns;
    const uint in_image = (uint)(pixel % area);
    return (long)(pixel / area) * h.to[0] + (long)(in_image / h.to_columns) * h.to[2] + (long)(in_image % h.to_columns) * h.to[3];
}

#define OUT_PITCH (BN + RUN)

// The tile of results, which local memory has, to the images: a run of eight outputs at a time.
static void put_tile(problem h, local const STORAGE *tile, global STORAGE *to, INDEX first_pixel, uint first_output) {
    for (uint i = get_local_id(0); i < BM * BN / RUN; i += ITEMS) {
        const uint y = i / (BN / RUN), x = i % (BN / RUN) * RUN, k = first_output + x;
        const INDEX pixel = first_pixel + y;
        if (pixel >= h.pixels || k >= h.outputs) continue;
        global STORAGE *at = to + place_in(h, pixel) + k * h.to[1];
#if TO_ALONG == 2
        *(global uint4 *)at = *(local const uint4 *)(tile + y * OUT_PITCH + x);
#else
        for (uint j = 0; j < RUN && k + j < h.outputs; j++) at[j * h.to[1]] = tile[y * OUT_PITCH + x + j];
#endif
    }
}

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
units(problem h, global const STORAGE *restrict from, global const STORAGE *restrict weights,
      global const STORAGE *restrict bias, global STORAGE *restrict to, global float *restrict work) {
    local STORAGE tiles[2 * (BM + BN) * PITCH] __attribute__((aligned(16))); // of both matrices, twice; later of the results
    local STORAGE *a_tiles = tiles, *b_tiles = tiles + 2 * BM * PITCH;
    const uint across = (h.outputs + BN - 1) / BN, group = get_group_id(2);
    const INDEX first_pixel = (INDEX)(get_group_id(0) / across) * BM;
    const uint first_output = (uint)(get_group_id(0) % across) * BN;
    const uint first_channel = get_group_id(1) * h.part, channels = min(h.channels - first_channel, h.part);
    place p;
    set_place(&p, h, from + h.from_begin + group * h.from_group + first_channel * h.from[1],
              weights + h.weights_begin + group * h.weights_group + first_channel * h.weights[1], first_pixel, first_output,
              channels);
    const uint y = get_sub_group_id() / WN * SM, x = get_sub_group_id() % WN * SN;
    qn_matrix(float, SM, SN, qn_use_accumulator) sum;
    qn_matrix_fill(&sum, 0);
    part next;
    fetch(&next, h, &p);
    const uint steps = steps_of(channels);
    uint now = 0;
    for (uint step = 0; step < steps; step++, now ^= 1) {
        local STORAGE *a_tile = a_tiles + now * BM * PITCH, *b_tile = b_tiles + now * BN * PITCH;
        keep(&next, a_tile, b_tile);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (step + 1 < steps) { // the next pieces are on their way while these are multiplied
            advance(&p, h);
            fetch(&next, h, &p);
        }
        #pragma unroll
        for (uint i = 0; i < BK; i += FK) {
            qn_matrix(UNIT, SM, FK, qn_use_a) from_a;
            qn_matrix(UNIT, FK, SN, qn_use_b) from_b;
            qn_matrix_load(&from_a, a_tile + y * PITCH + i, PITCH, qn_row_major);
            qn_matrix_load(&from_b, b_tile + B_AT(i, x), B_PITCH, B_LAYOUT);
            qn_matrix_multiply_add(&sum, &from_a, &from_b);
        }
    }
#ifdef SPLIT
    const size_t all = (size_t)h.groups * h.outputs;
    global float *parts = part_of(h, work, get_group_id(1)) + group * (size_t)h.outputs;
    #pragma unroll
    for (int i = 0; i < qn_matrix_length(&sum); i++) {
        const size_t pixel = first_pixel + y + qn_matrix_row(&sum, i);
        const uint k = first_output + x + qn_matrix_column(&sum, i);
        if (pixel < h.pixels && k < h.outputs) parts[pixel * all + k] = qn_matrix_get(&sum, i);
    }
#else
    barrier(CLK_LOCAL_MEM_FENCE);
    #pragma unroll
    for (int i = 0; i < qn_matrix_length(&sum); i++) {
        const uint row = y + qn_matrix_row(&sum, i), column = x + qn_matrix_column(&sum, i);
        float v = qn_matrix_get(&sum, i);
#ifdef BIAS
        if (first_output + column < h.outputs)
            v += LOAD(bias + (h.bias_begin + (group * (long)h.outputs + first_output + column) * h.bias), 0);
#endif
        tiles[row * OUT_PITCH + column] = (STORAGE)v;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    put_tile(h, tiles, to + h.to_begin + group * h.to_group, first_pixel, first_output);
#endif
}
