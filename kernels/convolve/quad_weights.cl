// The gradient of a convolution by its weights by quads of sub-groups: a row for each output, a column for each tap and channel, in
// blocks of 64 channels of a tap, summed over the positions of the window. Both tiles of a step, the gradient and what the taps of
// the blocks met, are copied by maps of images and lie by their columns. Work-groups share the positions; their sums go to `work`.
// By -D: those of quad.h.
#include "quad.h"

#define BLOCKS (WIDE / 64)

static uint blocks_of_tap(const window *w) { return (w->channels + 63) / 64; }
static uint blocks_of(const window *w) { return blocks_of_tap(w) * w->tap_rows * w->tap_columns; }
static uint tiles_across(const window *w) { return (blocks_of(w) + BLOCKS - 1) / BLOCKS; }
static uint tiles_of(const window *w) { return (w->outputs + DOWN * 64 - 1) / (DOWN * 64) * tiles_across(w) * w->parts; }

// A tile: its first output and block, and its steps of 64 positions.
typedef struct tile {
    uint output, block, part, first, end;
} tile;

static tile tile_of(const window *w, uint number) {
    const uint across = tiles_across(w), of_part = tiles_of(w) / w->parts, i = number % of_part;
    tile t;
    t.part = number / of_part;
    t.block = i % across * BLOCKS;
    t.output = i / across * (DOWN * 64);
    t.first = t.part * w->part;
    t.end = min(t.first + w->part, (w->pixels + 63) / 64);
    return t;
}

kernel __attribute__((reqd_work_group_size(128 + 128 * QUADS, 1, 1))) void
weights_gradient(qn_tensor_map from_map, qn_tensor_map gradient_map, window w, global const Q *from, global const Q *gradient,
                 global float *work) {
    local uchar a_tiles[STAGES][A_BYTES] __attribute__((aligned(1024))), b_tiles[STAGES][B_BYTES] __attribute__((aligned(1024)));
    local qn_barrier full[STAGES], empty[STAGES];
    const uint quad = get_local_id(0) / 128, item = get_local_id(0) % 128, tiles = tiles_of(&w);
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
            const tile t = tile_of(&w, number);
            const uint of_tap = blocks_of_tap(&w);
            int channel[BLOCKS];
            uint across[BLOCKS], down[BLOCKS];
            #pragma unroll
            for (uint j = 0; j < BLOCKS; j++) { // blocks behind the last one are of channels that there are not
                const uint block = t.block + j, tap = block / of_tap;
                channel[j] = (int)((tap < w.tap_rows * w.tap_columns ? block % of_tap : of_tap) * 64);
                across[j] = tap % w.tap_columns * (uint)w.dilation[1];
                down[j] = tap / w.tap_columns % w.tap_rows * (uint)w.dilation[0];
            }
            for (uint i = t.first; i < t.end; i++) {
                const place p = place_of(&w, i * 64);
                qn_barrier_wait(&empty[s.at], s.parity);
                local qn_barrier *there = &full[s.at];
                qn_barrier_expect(there, A_BYTES + B_BYTES);
                #pragma unroll
                for (uint j = 0; j < DOWN; j++)
                    qn_window_load(a_tiles[s.at] + j * BLOCK, gradient_map, (int)(t.output + j * 64), p.column, p.row, p.image, 0, 0, there);
                #pragma unroll
                for (uint j = 0; j < BLOCKS; j++)
                    qn_window_load(b_tiles[s.at] + j * BLOCK, from_map, channel[j], p.from_column, p.from_row, p.image, across[j], down[j],
                                   there);
                advance(&s);
            }
        }
    } else {
#ifdef REGISTERS
        qn_registers_take(REGISTERS);
#endif
        const uint down = quad % DOWN, across = quad / DOWN, columns = blocks_of(&w) * 64;
        float sums[SUMS];
        for (uint number = get_group_id(0); number < tiles; number += get_num_groups(0)) {
            const tile t = tile_of(&w, number);
            uint previous = STAGES;
            #pragma unroll
            for (uint i = 0; i < SUMS; i++) sums[i] = 0;
            for (uint i = t.first; i < t.end; i++) {
                qn_barrier_wait(&full[s.at], s.parity);
                qn_quad_multiply_add(sums, COLUMNS, (local const Q *)(a_tiles[s.at] + down * BLOCK),
                                     (local const Q *)(b_tiles[s.at] + across * (COLUMNS / 64) * BLOCK), 3, i > t.first);
                qn_quad_wait(1);
                if (previous < STAGES && item == 0) qn_barrier_arrive(&empty[previous]);
                previous = s.at;
                advance(&s);
            }
            qn_quad_wait(0);
            if (previous < STAGES && item == 0) qn_barrier_arrive(&empty[previous]);
            put_parts(work + (ulong)t.part * w.outputs * columns, sums, t.output + down * 64, t.block * 64 + across * COLUMNS,
                      w.outputs, columns, item);
        }
    }
}

// Adds the sums of all parts. Global size: channels, taps, outputs.
kernel void sum_parts(window w, global Q *restrict to, global const float *restrict work, ulong begin, long of_output, long of_channel,
                      long of_row, long of_column) {
    const uint channel = get_global_id(0), tap = get_global_id(1), output = get_global_id(2), columns = blocks_of(&w) * 64;
    const ulong all = (ulong)w.outputs * columns;
    work += (ulong)output * columns + tap * blocks_of_tap(&w) * 64 + channel;
    float sum = 0;
    uint part = 0;
    for (; part + 8 <= w.parts; part += 8) { // so many loads are under way
        float each[8];
        #pragma unroll
        for (uint i = 0; i < 8; i++) each[i] = work[(part + i) * all];
        #pragma unroll
        for (uint i = 0; i < 8; i++) sum += each[i];
    }
    for (; part < w.parts; part++) sum += work[part * all];
    to[begin + output * of_output + channel * of_channel + tap / w.tap_columns * of_row + tap % w.tap_columns * of_column] = (Q)sum;
}
