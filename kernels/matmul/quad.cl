// qn_matmul for devices with tile copies and quads of sub-groups (docs/language.md): compute capability 9.0. Work-groups stay
// for as many tiles of C as there are for them. One quad copies: tiles of A, 128 rows, and of B, COLUMNS columns, 128 bytes of k
// at a time, STAGES of them ahead; two quads multiply, 64 rows each. The CLUSTER work-groups of a cluster have tiles of the same
// columns below each other: each copies its part of B's tile to all of them.
// By -D beside those of numbers.h: Q, the type of A and B in products; QSUM of sums, float or int; LAYOUT, how their tiles lie;
// OUT_TILES, the results are of 16 bits (PACK makes two of them) and go out by tile stores.
#include "numbers.h"

#define ROWS    128
#define STEP    (128 / sizeof(Q)) // of k
#define A_BYTES (ROWS * 128)
#define B_BYTES (COLUMNS * 128)
#define BAND    (16 / CLUSTER) // clusters' tiles below each other that are computed one after another

// What a work-group has to do: its tiles, numbered over batches, columns and bands of rows.
typedef struct schedule {
    uint rank, next, stride, down, across, tiles, steps;
} schedule;

typedef struct tile {
    uint row, column, batch;
} tile;

static tile tile_of(const schedule *s, uint number) {
    const uint batch = number / s->tiles, i = number % s->tiles, band = i / (BAND * s->across), in_band = i % (BAND * s->across);
    const uint high = min(s->down - band * BAND, (uint)BAND);
    const tile t = {((band * BAND + in_band % high) * CLUSTER + s->rank) * ROWS, in_band / high * COLUMNS, batch};
    return t;
}

static uint after(uint stage, uint *parity) {
    if (stage + 1 < STAGES) return stage + 1;
    *parity ^= 1;
    return 0;
}

kernel __attribute__((reqd_work_group_size(384, 1, 1), qn_cluster_size(CLUSTER))) void
matmul(qn_tensor_map a_map, qn_tensor_map b_map, qn_tensor_map out_map, uint batches, uint a_batch, uint b_batch, PARAMETERS) {
    local uchar a_tiles[STAGES][A_BYTES] __attribute__((aligned(1024))), b_tiles[STAGES][B_BYTES] __attribute__((aligned(1024)));
#ifdef OUT_TILES
    local ushort out_tiles[2][64 * COLUMNS] __attribute__((aligned(1024)));
#endif
    local qn_barrier full[STAGES], empty[STAGES];
    const uint quad = get_local_id(0) / 128, item = get_local_id(0) % 128;
    schedule todo = {qn_cluster_rank(), get_group_id(0) / CLUSTER, get_num_groups(0) / CLUSTER,
                     (uint)((s.m + ROWS * CLUSTER - 1) / (ROWS * CLUSTER)), (uint)((s.n + COLUMNS - 1) / COLUMNS), 0,
                     (uint)((s.k + STEP - 1) / STEP)};
    todo.tiles = todo.down * todo.across;
    const uint all = todo.tiles * batches;
    if (get_local_id(0) == 0)
        for (uint i = 0; i < STAGES; i++) {
            qn_barrier_init(&full[i], 1);
            qn_barrier_init(&empty[i], 2 * CLUSTER);
        }
    qn_cluster_barrier();
    uint stage = 0;

    if (quad == 0) {
        qn_registers_give(40);
        uint parity = 1;
        for (uint number = todo.next; item == 0 && number < all; number += todo.stride) {
            const tile t = tile_of(&todo, number);
            for (uint i = 0; i < todo.steps; i++) {
                const int k = (int)(i * STEP), row = (int)t.row, a_z = (int)(t.batch * a_batch), b_z = (int)(t.batch * b_batch);
                qn_barrier_wait(&empty[stage], parity);
                qn_barrier_expect(&full[stage], A_BYTES + B_BYTES);
#if LAYOUT & 2
                qn_tile_load(a_tiles[stage], a_map, row, k, a_z, &full[stage]);
                qn_tile_load(a_tiles[stage] + A_BYTES / 2, a_map, row + 64, k, a_z, &full[stage]);
#else
                qn_tile_load(a_tiles[stage], a_map, k, row, a_z, &full[stage]);
#endif
#if LAYOUT & 1
                for (uint j = todo.rank; j < COLUMNS / 64; j += CLUSTER)
                    qn_tile_load_to(b_tiles[stage] + j * 8192, b_map, (int)(t.column + j * 64), k, b_z, &full[stage],
                                    (1 << CLUSTER) - 1);
#else
                qn_tile_load_to(b_tiles[stage] + todo.rank * (B_BYTES / CLUSTER), b_map, k,
                                (int)(t.column + todo.rank * (COLUMNS / CLUSTER)), b_z, &full[stage], (1 << CLUSTER) - 1);
#endif
                stage = after(stage, &parity);
            }
        }
    } else {
        qn_registers_take(232);
        const uint part = quad - 1, lane = item % 32, across = lane % 4 * 2;
        const epilogue e = EPILOGUE;
        uint parity = 0;
        QSUM sums[COLUMNS / 2];
        for (uint number = todo.next; number < all; number += todo.stride) {
            const tile t = tile_of(&todo, number);
            uint previous = STAGES;
            #pragma unroll
            for (uint i = 0; i < COLUMNS / 2; i++) sums[i] = 0;
            for (uint i = 0; i < todo.steps; i++) {
                qn_barrier_wait(&full[stage], parity);
                qn_quad_multiply_add(sums, COLUMNS, (local const Q *)(a_tiles[stage] + part * (A_BYTES / 2)),
                                     (local const Q *)b_tiles[stage], LAYOUT, i > 0);
                qn_quad_wait(1);
                if (previous < STAGES && item < CLUSTER) qn_barrier_arrive_at(&empty[previous], item);
                previous = stage;
                stage = after(stage, &parity);
            }
            qn_quad_wait(0);
            if (previous < STAGES && item < CLUSTER) qn_barrier_arrive_at(&empty[previous], item);
            const places at = places_of(s, t.batch);
#ifdef OUT_TILES
            if (item == 0) qn_tile_store_wait(0);
            qn_named_barrier(part + 1, 128);
#ifndef PLAIN
            #pragma unroll
            for (uint i = 0; i < COLUMNS / 2; i++) {
                const size_t row = t.row + part * 64 + item / 32 * 16 + lane / 4 + i / 2 % 2 * 8,
                             column = t.column + i / 4 * 8 + across + i % 2;
                if (row < s.m && column < s.n) sums[i] = finish(sums[i], s, &e, &at, row, column);
            }
#endif
            const uint line = item / 32 * 16 + lane % 16, side = lane / 16;
            #pragma unroll
            for (uint j = 0; j < COLUMNS / 16; j++) {
                const QSUM *v = sums + j * 8;
                const uint piece = j % 4 * 2 + side;
                const uint4 words = {as_uint(PACK((float2)(v[0], v[1]))), as_uint(PACK((float2)(v[2], v[3]))),
                                     as_uint(PACK((float2)(v[4], v[5]))), as_uint(PACK((float2)(v[6], v[7])))};
                qn_store_8x8x4(out_tiles[part] + j / 4 * 4096 + line * 64 + (piece ^ line % 8) * 8, words);
            }
            qn_async_fence();
            qn_named_barrier(part + 1, 128);
            if (item == 0)
                for (uint j = 0; j < COLUMNS / 64; j++)
                    qn_tile_store(out_map, (int)(t.column + j * 64), (int)(t.row + part * 64), (int)t.batch,
                                  out_tiles[part] + j * 4096);
#else
            #pragma unroll
            for (uint i = 0; i < COLUMNS / 2; i++) {
                const size_t row = t.row + part * 64 + item / 32 * 16 + lane / 4 + i / 2 % 2 * 8,
                             column = t.column + i / 4 * 8 + across + i % 2;
                if (row < s.m && column < s.n) put(out, sums[i], s, &e, &at, row, column);
            }
#endif
        }
#ifdef OUT_TILES
        if (item == 0) qn_tile_store_wait(0);
#endif
    }
    qn_cluster_barrier(); // a neighbour's copies and arrivals may still come
}
