// qn_kernels_convolve, and its gradient by the images, by quads of sub-groups: a row for each position of the window, a column for each
// output, summed over taps and channels. What a tap meets at the positions of a tile is copied by a map of the images, which knows
// how rows and images follow each other and what padding is; nothing is written before the product.
// Gradients by images have several windows, PHASES: all pixels of the images together, whose tiles are numbered one window after the other.
// By -D beside those of quad.h, ACROSS is 1: PHASES; WEIGHTS_BY_OUTPUTS, the weights' map has outputs, taps, channels, not channels, taps, outputs;
// BIAS; SPLIT: work-groups share the steps of a tile, their sums go to `work`.
#include "quad.h"

#define ROWS (64 * DOWN)

typedef struct maps {
    qn_tensor_map from[PHASES], to[PHASES];
} maps;
typedef struct windows {
    window each[PHASES];
} windows;

// A tile: its first position and output, and its steps.
typedef struct tile {
    uint pixel, output, part, first, end;
} tile;

static uint steps_of_tap(const window *w) { return (w->channels + 63) / 64; }
static uint tiles_across(const window *w) { return (w->outputs + COLUMNS - 1) / COLUMNS; }
static uint tiles_of(const window *w) { return (w->pixels + ROWS - 1) / ROWS * tiles_across(w) * w->parts; }

static tile tile_of(const window *w, uint number) {
    const uint across = tiles_across(w), steps = w->tap_rows * w->tap_columns * steps_of_tap(w), i = number / w->parts;
    tile t;
    t.part = number % w->parts;
    t.output = i % across * COLUMNS;
    t.pixel = i / across * ROWS;
    t.first = t.part * w->part;
    t.end = min(t.first + w->part, steps);
    return t;
}

// Which window the tile is of, and the first tile of that.
static uint phase_of(const uint *ends, uint number) {
    uint phase = 0;
    #pragma unroll
    for (uint i = 0; i + 1 < PHASES; i++) phase += number >= ends[i];
    return phase;
}
static uint begin_of(const uint *ends, uint phase) {
    uint begin = 0;
    #pragma unroll
    for (uint i = 0; i + 1 < PHASES; i++)
        if (phase == i + 1) begin = ends[i];
    return begin;
}

static walk walk_from(const window *w, uint step) {
    const uint of_tap = steps_of_tap(w), tap = step / of_tap;
    walk k = {step % of_tap * 64, tap % w->tap_columns, tap / w->tap_columns};
    return k;
}

#ifndef SPLIT
// Sums of 64 columns become results in local memory, in rows of 128 bytes.
static void lay_block(local uchar *to, const float *sums, uint item) {
    const uint line = item / 32 * 16 + item % 16, side = item % 32 / 16;
    #pragma unroll
    for (uint j = 0; j < 4; j++) {
        const float *v = sums + j * 8;
        const uint4 words = {as_uint(PACK((float2)(v[0], v[1]))), as_uint(PACK((float2)(v[2], v[3]))),
                             as_uint(PACK((float2)(v[4], v[5]))), as_uint(PACK((float2)(v[6], v[7])))};
        qn_store_8x8x4((local ushort *)(to + line * 128 + ((j * 2 + side) ^ line % 8) * 16), words);
    }
}
#endif

kernel __attribute__((reqd_work_group_size(128 + 128 * QUADS, 1, 1))) void
convolve(qn_tensor_map weights_map, maps map, windows all, global const Q *from, global const Q *weights, global const Q *bias, global Q *to,
         global float *work) {
    local uchar a_tiles[STAGES][A_BYTES] __attribute__((aligned(1024))), b_tiles[STAGES][B_BYTES] __attribute__((aligned(1024)));
#ifndef SPLIT
    local uchar blocks[QUADS * 2 * BLOCK] __attribute__((aligned(1024)));
#endif
    local qn_barrier full[STAGES], empty[STAGES];
    const uint quad = get_local_id(0) / 128, item = get_local_id(0) % 128;
    uint tiles = 0, ends[PHASES]; // of each window's
    #pragma unroll
    for (uint i = 0; i < PHASES; i++) {
        const window w = all.each[i];
        ends[i] = tiles += tiles_of(&w);
    }
    if (get_local_id(0) == 0)
        for (uint i = 0; i < STAGES; i++) {
            qn_barrier_init(&full[i], 1);
            qn_barrier_init(&empty[i], QUADS);
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    stage s = {0, 0};

    if (quad == QUADS) {
#ifdef REGISTERS
        qn_registers_give(40);
#endif
        s.parity = 1;
        for (uint number = get_group_id(0); item == 0 && number < tiles; number += get_num_groups(0)) {
            const uint phase = phase_of(ends, number);
            const window w = all.each[phase];
            const tile t = tile_of(&w, number - begin_of(ends, phase));
            const place p = place_of(&w, t.pixel);
            walk k = walk_from(&w, t.first);
            for (uint i = t.first; i < t.end; i++) {
                qn_barrier_wait(&empty[s.at], s.parity);
                local qn_barrier *there = &full[s.at];
                const int tap = w.tap_first + (int)k.row * w.tap_row + (int)k.column * w.tap_column, channel = (int)k.channel;
                qn_barrier_expect(there, A_BYTES + B_BYTES);
                LOAD_TAP(a_tiles[s.at], map.from[phase], channel, p, t.pixel, k.column * (uint)w.dilation[1], k.row * (uint)w.dilation[0], there);
#ifdef WEIGHTS_BY_OUTPUTS
                #pragma unroll
                for (int j = 0; j < COLUMNS / 64; j++)
                    qn_tile_load(b_tiles[s.at] + j * BLOCK, weights_map, (int)t.output + j * 64, tap, channel, there);
#else
                qn_tile_load(b_tiles[s.at], weights_map, channel, tap, (int)t.output, there);
#endif
                walk_on(&w, &k);
                advance(&s);
            }
        }
    } else {
#ifdef REGISTERS
        qn_registers_take(REGISTERS);
#endif
        float sums[SUMS];
        uint odd = 0; // which of two blocks is the next
        for (uint number = get_group_id(0); number < tiles; number += get_num_groups(0)) {
            const uint phase = phase_of(ends, number);
            const window w = all.each[phase];
            const tile t = tile_of(&w, number - begin_of(ends, phase));
            uint previous = STAGES;
            #pragma unroll
            for (uint i = 0; i < SUMS; i++) sums[i] = 0;
            for (uint i = t.first; i < t.end; i++) {
                qn_barrier_wait(&full[s.at], s.parity);
#ifdef WEIGHTS_BY_OUTPUTS
                qn_quad_multiply_add(sums, COLUMNS, (local const Q *)(a_tiles[s.at] + quad * BLOCK), (local const Q *)b_tiles[s.at], 1,
                                     i > t.first);
#else
                qn_quad_multiply_add(sums, COLUMNS, (local const Q *)(a_tiles[s.at] + quad * BLOCK), (local const Q *)b_tiles[s.at], 0,
                                     i > t.first);
#endif
                qn_quad_wait(1);
                if (previous < STAGES && item == 0) qn_barrier_arrive(&empty[previous]);
                previous = s.at;
                advance(&s);
            }
            qn_quad_wait(0);
            if (previous < STAGES && item == 0) qn_barrier_arrive(&empty[previous]);
#ifdef SPLIT
            put_parts(work + (ulong)t.part * w.pixels * w.outputs, sums, t.pixel + quad * 64, t.output, w.pixels, w.outputs, item);
#else
#ifdef BIAS
            #pragma unroll
            for (uint i = 0; i < SUMS; i++) {
                const uint output = t.output + column_in_tile(item, i);
                if (output < w.outputs) sums[i] += (float)bias[w.bias_begin + output * w.bias];
            }
#endif
            const place p = place_of(&w, t.pixel + quad * 64);
            #pragma unroll
            for (uint j = 0; j < COLUMNS / 64; j++) {
                local uchar *block = blocks + (quad * 2 + (j + odd) % 2) * BLOCK;
                if (item == 0) qn_tile_store_wait(1);
                qn_named_barrier(quad + 1, 128);
                lay_block(block, sums + j * 32, item);
                qn_async_fence();
                qn_named_barrier(quad + 1, 128);
                if (item == 0) qn_window_store(map.to[phase], (int)(t.output + j * 64), p.column, p.row, p.image, block);
            }
            odd ^= COLUMNS / 64 % 2;
#endif
        }
#ifndef SPLIT
        if (item == 0) qn_tile_store_wait(0);
#endif
    }
}

// Adds the sums of all parts, and the bias. Global size: outputs, positions.
kernel void sum_parts(window w, global const Q *restrict bias, global Q *restrict to, global const float *restrict work, ulong to_begin,
                      long to_image, long to_row, long to_column) {
    const uint output = get_global_id(0), pixel = get_global_id(1);
    const place p = place_of(&w, pixel);
    const ulong all = (ulong)w.pixels * w.outputs;
    work += (ulong)pixel * w.outputs + output;
    float sum = work[0];
    for (uint part = 1; part < w.parts; part++) sum += work[part * all];
#ifdef BIAS
    sum += (float)bias[w.bias_begin + output * w.bias];
#endif
    to[to_begin + p.image * to_image + p.row * to_row + p.column * to_column + output] = (Q)sum;
}
