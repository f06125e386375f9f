// The gradient of a convolution by its weights by quads of sub-groups: a row for each output, a column for each tap and channel, in
// blocks of 64 channels of a tap, summed over the positions of the window. Both tiles of a step, the gradient and what the taps of
// the blocks met, are copied by maps of images and lie by their columns. Work-groups share the positions; their sums go to `work`.
// Work-groups of a cluster have the same blocks and different outputs; each copies some of the blocks to all of them.
// By -D beside those of quad.h: GRADIENT_PLAIN, as FROM_PLAIN; WHOLE, there is one part, whose sums are the results.
#include "quad.h"

#define BLOCKS (WIDE / 64)
#if CLUSTER > 1
#define IN_CLUSTER    , qn_cluster_size(CLUSTER)
#define FREE(barrier) qn_barrier_arrive_at(barrier, item)
#else
#define IN_CLUSTER
#define FREE(barrier) qn_barrier_arrive(barrier)
#endif

static uint blocks_of_tap(const window *w) { return (w->channels + 63) / 64; }
static uint blocks_of(const window *w) { return blocks_of_tap(w) * w->tap_rows * w->tap_columns; }
static uint tiles_across(const window *w) { return (blocks_of(w) + BLOCKS - 1) / BLOCKS; }
static uint tiles_of(const window *w) { return (w->outputs + CLUSTER * DOWN * 64 - 1) / (CLUSTER * DOWN * 64) * tiles_across(w) * w->parts; }

// Where the weights are, and from one to the next.
typedef struct places {
    ulong begin;
    long output, channel, row, column;
} places;

static long place_of_tap(const window *w, const places *at, uint tap) {
    return (long)at->begin + tap / w->tap_columns * at->row + tap % w->tap_columns * at->column;
}

// A tile: its first output and block, and its steps of 64 positions.
typedef struct tile {
    uint output, block, part, first, end;
} tile;

static tile tile_of(const window *w, uint number, uint rank) {
    const uint across = tiles_across(w), of_part = tiles_of(w) / w->parts, i = number % of_part;
    tile t;
    t.part = number / of_part;
    t.block = i % across * BLOCKS;
    t.output = (i / across * CLUSTER + rank) * (DOWN * 64);
    t.first = t.part * w->part;
    t.end = min(t.first + w->part, (w->pixels + 63) / 64);
    return t;
}

#ifdef WHOLE
// Sums of 64 channels of a tap.
static void put_block(global Q *to, const float *sums, const window *w, const places *at, uint first_output, uint block, uint item) {
    const uint tap = block / blocks_of_tap(w), first = block % blocks_of_tap(w) * 64;
    if (tap >= w->tap_rows * w->tap_columns) return;
    to += place_of_tap(w, at, tap);
    #pragma unroll
    for (uint i = 0; i < 32; i++) {
        const uint output = first_output + row_in_tile(item, i), channel = first + column_in_tile(item, i);
        if (output < w->outputs && channel < w->channels) to[output * at->output + channel * at->channel] = (Q)sums[i];
    }
}
#endif

kernel __attribute__((reqd_work_group_size(128 + 128 * QUADS, 1, 1) IN_CLUSTER)) void
weights_gradient(qn_tensor_map from_map, qn_tensor_map gradient_map, window w, places at, global const Q *from,
                 global const Q *gradient, global Q *to, global float *work) {
    local uchar a_tiles[STAGES][A_BYTES] __attribute__((aligned(1024))), b_tiles[STAGES][B_BYTES] __attribute__((aligned(1024)));
    local qn_barrier full[STAGES], empty[STAGES];
    const uint quad = get_local_id(0) / 128, item = get_local_id(0) % 128, tiles = tiles_of(&w),
               rank = CLUSTER > 1 ? qn_cluster_rank() : 0, next = get_group_id(0) / CLUSTER, stride = get_num_groups(0) / CLUSTER;
    if (get_local_id(0) == 0)
        for (uint i = 0; i < STAGES; i++) {
            qn_barrier_init(&full[i], 1);
            qn_barrier_init(&empty[i], QUADS * CLUSTER);
        }
#if CLUSTER > 1
    qn_cluster_meet();
#else
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    stage s = {0, 0};

    if (quad == QUADS) {
#ifdef REGISTERS
        qn_registers_give(40);
#endif
        s.parity = 1;
        for (uint number = next; item == 0 && number < tiles; number += stride) {
            const tile t = tile_of(&w, number, rank);
            const uint of_tap = blocks_of_tap(&w), tap = t.block / of_tap;
            const walk begin = {t.block % of_tap * 64, tap % w.tap_columns, tap / w.tap_columns};
            for (uint i = t.first; i < t.end; i++) {
                const place p = place_of(&w, i * 64);
                qn_barrier_wait(&empty[s.at], s.parity);
                local qn_barrier *there = &full[s.at];
                qn_barrier_expect(there, A_BYTES + B_BYTES);
                #pragma unroll
                for (uint j = 0; j < DOWN; j++)
#ifdef GRADIENT_PLAIN
                    qn_tile_load(a_tiles[s.at] + j * BLOCK, gradient_map, (int)(t.output + j * 64), (int)(i * 64), 0, there);
#else
                    qn_window_load(a_tiles[s.at] + j * BLOCK, gradient_map, (int)(t.output + j * 64), p.column, p.row, p.image, 0, 0, there);
#endif
                walk k = begin;
                #pragma unroll
                for (uint j = 0; j < BLOCKS; j++) { // blocks behind the last one are of channels that there are not
                    if (j % CLUSTER == rank)
                        LOAD_TAP(b_tiles[s.at] + j * BLOCK, from_map, (int)(k.row < w.tap_rows ? k.channel : of_tap * 64), p, i * 64,
                                 k.column * (uint)w.dilation[1], k.row * (uint)w.dilation[0], there);
                    walk_on(&w, &k);
                }
                advance(&s);
            }
        }
    } else {
#ifdef REGISTERS
        qn_registers_take(REGISTERS);
#endif
        const uint down = quad % DOWN, across = quad / DOWN, columns = blocks_of(&w) * 64;
        float sums[SUMS];
        for (uint number = next; number < tiles; number += stride) {
            const tile t = tile_of(&w, number, rank);
            uint previous = STAGES;
            #pragma unroll
            for (uint i = 0; i < SUMS; i++) sums[i] = 0;
            for (uint i = t.first; i < t.end; i++) {
                qn_barrier_wait(&full[s.at], s.parity);
                qn_quad_multiply_add(sums, COLUMNS, (local const Q *)(a_tiles[s.at] + down * BLOCK),
                                     (local const Q *)(b_tiles[s.at] + across * (COLUMNS / 64) * BLOCK), 3, i > t.first);
                qn_quad_wait(1);
                if (previous < STAGES && item < CLUSTER) FREE(&empty[previous]);
                previous = s.at;
                advance(&s);
            }
            qn_quad_wait(0);
            if (previous < STAGES && item < CLUSTER) FREE(&empty[previous]);
#ifdef WHOLE
            #pragma unroll
            for (uint i = 0; i < COLUMNS / 64; i++)
                put_block(to, sums + i * 32, &w, &at, t.output + down * 64, t.block + across * (COLUMNS / 64) + i, item);
#else
            put_parts(work + (ulong)t.part * w.outputs * columns, sums, t.output + down * 64, t.block * 64 + across * COLUMNS,
                      w.outputs, columns, item);
#endif
        }
    }
#if CLUSTER > 1
    qn_cluster_meet(); // a neighbour's copies and arrivals may still come
#endif
}

// Adds the sums of all parts. Global size: channels, taps, outputs.
kernel void sum_parts(window w, places at, global Q *restrict to, global const float *restrict work) {
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
    to[place_of_tap(&w, &at, tap) + output * at.output + channel * at.channel] = (Q)sum;
}
