// qn_kernels_attention_backward by quads of sub-groups in one pass over keys (FlashAttention-3: Shah et al. 2024): QUADS quads have 64 keys each and
// go through the queries. With s the scores, keys down and queries across, and t the products of values and gradients of `out`, scores' gradients are
// weights (t - dot); gradients by keys and values grow from registers. Scores' gradients go to local memory, too, from where one more quad takes
// those of all keys of the work-group for the gradient by queries, which it adds in global memory.
// By -D: what quad.h says, CHUNKS is 1; TAKE_ADDING, registers of that quad.
#include "quad.h"

typedef struct shape {
    heads rows[2], columns[2], results[2]; // k and v; q and gradient; gradients by k and v
    uint queries, keys, heads, shared;     // so many heads of queries have one of keys
    uint blocks, all, together;            // blocks of keys, heads of keys of all batches, and those that are computed side by side
    uint padded;                           // queries in `pairs`, and in `sums`
    float scale, score_scale;              // of scores, and with log2(e) in it
} shape;

#define ADDERS     128
#define SLOPES     3 // barriers: scores' gradients are there, in each of two places
#define FULL(slot) (SLOPES + (slot)), (QUADS * 128 + ADDERS)

static block block_of(const shape *s, uint number) {
    const uint band = s->together * s->blocks, first = number / band * s->together, in_band = number % band;
    const uint wide = min(s->together, s->all - first), which = first + in_band % wide, heads = s->heads / s->shared;
    const block b = {in_band / wide * ROWS, which % heads, which / heads};
    return b;
}

// The first 64 queries that keys from one on have to do with.
static uint first_tile(const shape *s, uint key) {
#if CAUSAL // query i sees key j from i = j + queries - keys on
    return (uint)clamp((int)key + (int)s->queries - (int)s->keys, 0, (int)s->queries) / 64;
#else
    return 0;
#endif
}

// Weights from scores, with `pairs` of their queries, that keys of `key` and 8 on are seen by.
static void weigh(float *scores, local const float4 *of_queries, const shape *s, uint key, uint query) {
#if CAUSAL
    if ((int)(key / 64 * 64 + 63 + s->queries) - (int)s->keys > (int)(query / 64 * 64)) {
        #pragma unroll
        for (uint i = 0; i < 32; i++)
            if ((int)(key + i / 2 % 2 * 8 + s->queries) - (int)s->keys > (int)(query + i / 4 * 8 + i % 2)) scores[i] = -INFINITY;
    }
#endif
    #pragma unroll
    for (uint i = 0; i < 8; i++) {
        const float4 pair = of_queries[i * 4];
        #pragma unroll
        for (uint j = 0; j < 4; j++) scores[4 * i + j] = native_exp2(scores[4 * i + j] * s->score_scale - (j % 2 ? pair.z : pair.x));
    }
}

static void lay_slopes(local ushort *tile, const uint *words, uint item) {
    const uint lane = item % 32, line = item / 32 * 16 + lane % 16, side = lane / 16;
    #pragma unroll
    for (uint j = 0; j < 4; j++)
        qn_store_8x8x4(tile + line * 64 + ((j * 2 + side) ^ line % 8) * 8,
                       (uint4)(words[4 * j], words[4 * j + 1], words[4 * j + 2], words[4 * j + 3]));
    qn_async_fence();
}

kernel __attribute__((reqd_work_group_size(QUADS * 128 + 256, 1, 1))) void
gradients(qn_tensor_map k_map, qn_tensor_map v_map, qn_tensor_map q_map, qn_tensor_map gradient_map, qn_tensor_map to_k_map,
          qn_tensor_map to_v_map, qn_tensor_map pairs_map, shape s, global const Q *q, global const Q *k, global const Q *v, global const Q *gradient,
          global const float2 *pairs, global float *sums_of_queries, global Q *to_k, global Q *to_v) {
    local uchar row_tiles[QUADS][2][CHUNKS][CHUNK] __attribute__((aligned(1024)));
    local uchar column_tiles[STAGES][2][CHUNKS][CHUNK] __attribute__((aligned(1024)));
    local float4 pair_tiles[STAGES][32] __attribute__((aligned(128)));
    local ushort slope_tiles[2][QUADS][CHUNK / 2] __attribute__((aligned(1024)));
    local ushort out_tiles[QUADS][CHUNKS][CHUNK / 2] __attribute__((aligned(1024)));
    local qn_barrier rows_full[QUADS], rows_empty[QUADS], full[STAGES], empty[STAGES], slopes_empty[2];
    const uint quad = get_local_id(0) / 128, item = get_local_id(0) % 128, total = s.blocks * s.all, tiles = (s.queries + 63) / 64;
    if (get_local_id(0) == 0) {
        for (uint i = 0; i < QUADS; i++) {
            qn_barrier_init(&rows_full[i], 1);
            qn_barrier_init(&rows_empty[i], 2);
        }
        for (uint i = 0; i < STAGES; i++) {
            qn_barrier_init(&full[i], 1);
            qn_barrier_init(&empty[i], QUADS);
        }
        for (uint i = 0; i < 2; i++) qn_barrier_init(&slopes_empty[i], 1);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint number;

    if (quad == 0) {
        qn_registers_give(GIVE);
        uint stage = 0, parity = 1, of_rows = 1;
        for (uint round = 0; item == 0 && (number = number_of(round)) < total; round++) {
            const block b = block_of(&s, number);
            const uint begin = first_tile(&s, b.row);
            for (uint i = 0; i < QUADS; i++) {
                qn_barrier_wait(&rows_empty[i], of_rows);
                qn_barrier_expect(&rows_full[i], 2 * CHUNKS * CHUNK);
                LOAD_ROWS(row_tiles[i][0], k_map, &s.rows[0], b.head, b.batch, b.row + i * 64, &rows_full[i]);
                LOAD_ROWS(row_tiles[i][1], v_map, &s.rows[1], b.head, b.batch, b.row + i * 64, &rows_full[i]);
            }
            of_rows ^= 1;
            for (uint turn = 0; turn < s.shared; turn++)
                for (uint tile = begin; tile < tiles; tile++) {
                    qn_barrier_wait(&empty[stage], parity);
                    qn_barrier_expect(&full[stage], 2 * CHUNKS * CHUNK + 512);
                    qn_tile_load(pair_tiles[stage], pairs_map, 0, (int)(((b.batch * s.heads + b.head * s.shared + turn) * s.padded + tile * 64) / 2), 0, &full[stage]);
                    LOAD_ROWS(column_tiles[stage][0], q_map, &s.columns[0], b.head * s.shared + turn, b.batch, tile * 64, &full[stage]);
                    LOAD_ROWS(column_tiles[stage][1], gradient_map, &s.columns[1], b.head * s.shared + turn, b.batch, tile * 64, &full[stage]);
                    stage = after(stage, &parity);
                }
        }
    } else if (quad == 1) {
        qn_registers_give(TAKE_ADDING);
        uint slot = 0, of_rows = 0;
        float sums[32];
        for (uint round = 0; (number = number_of(round)) < total; round++) {
            const block b = block_of(&s, number);
            const uint begin = first_tile(&s, b.row);
            for (uint i = 0; i < QUADS; i++) qn_barrier_wait(&rows_full[i], of_rows);
            of_rows ^= 1;
            for (uint turn = 0; turn < s.shared; turn++) {
                global float *to = sums_of_queries + (size_t)(b.batch * s.heads + b.head * s.shared + turn) * s.padded * 64 + item * 4;
                for (uint tile = begin; tile < tiles; tile++) {
                    qn_named_barrier(FULL(slot));
                    #pragma unroll
                    for (uint i = 0; i < QUADS; i++)
                        qn_quad_multiply_add(sums, 64, (local const Q *)slope_tiles[slot][i], (local const Q *)row_tiles[i][0][0], 3, i > 0);
                    qn_quad_wait(0);
                    if (item == 0) qn_barrier_arrive(&slopes_empty[slot]);
                    #pragma unroll
                    for (uint i = 0; i < 8; i++)
                        qn_add4(to + tile * 4096 + i * 512, (float4)(sums[4 * i], sums[4 * i + 1], sums[4 * i + 2], sums[4 * i + 3]));
                    slot ^= 1;
                }
            }
            if (item == 0)
                for (uint i = 0; i < QUADS; i++) qn_barrier_arrive(&rows_empty[i]);
        }
    } else {
        qn_registers_take(TAKE);
        const uint part = quad - 2, lane = item % 32, across = lane % 4 * 2;
        uint stage = 0, parity = 0, of_rows = 0, slot = 0, of_slot = 1;
        float sums[2][32], scores[32], slopes[32];
        uint words[2][16];
        for (uint round = 0; (number = number_of(round)) < total; round++) {
            const block b = block_of(&s, number);
            const uint first = b.row + part * 64, key = first + item / 32 * 16 + lane / 4;
            const uint begin = first_tile(&s, b.row), own_begin = first_tile(&s, first);
            uint previous = STAGES;
            #pragma unroll
            for (uint i = 0; i < 32; i++) sums[0][i] = sums[1][i] = 0;
            qn_barrier_wait(&rows_full[part], of_rows);
            of_rows ^= 1;
            for (uint turn = 0; turn < s.shared; turn++) {
                for (uint tile = begin; tile < tiles; tile++) {
                    qn_barrier_wait(&full[stage], parity);
                    if (tile < own_begin) { // no query of these sees a key
                        const uint zeros[16] = {0};
                        qn_barrier_wait(&slopes_empty[slot], of_slot);
                        lay_slopes(slope_tiles[slot][part], zeros, item);
                        qn_named_arrive(FULL(slot));
                        if (item == 0) qn_barrier_arrive(&empty[stage]);
                    } else {
                        qn_quad_multiply_add(scores, 64, (local const Q *)row_tiles[part][0][0], (local const Q *)column_tiles[stage][0][0], 0, 0);
                        qn_quad_multiply_add(slopes, 64, (local const Q *)row_tiles[part][1][0], (local const Q *)column_tiles[stage][1][0], 0, 0);
                        local const float4 *of_queries = pair_tiles[stage] + across / 2;
                        qn_quad_wait(1);
                        if (previous < STAGES && item == 0) qn_barrier_arrive(&empty[previous]);
                        weigh(scores, of_queries, &s, key, tile * 64 + across);
                        qn_quad_wait(0);
                        #pragma unroll
                        for (uint i = 0; i < 8; i++) {
                            const float4 pair = of_queries[i * 4];
                            #pragma unroll
                            for (uint j = 0; j < 4; j++)
                                slopes[4 * i + j] = scores[4 * i + j] * (slopes[4 * i + j] - (j % 2 ? pair.w : pair.y));
                        }
                        #pragma unroll
                        for (uint i = 0; i < 16; i++) {
                            words[0][i] = as_uint(PACK((float2)(slopes[2 * i], slopes[2 * i + 1])));
                            words[1][i] = as_uint(PACK((float2)(scores[2 * i], scores[2 * i + 1])));
                        }
                        qn_barrier_wait(&slopes_empty[slot], of_slot);
                        lay_slopes(slope_tiles[slot][part], words[0], item);
                        qn_named_arrive(FULL(slot));
                        #pragma unroll
                        for (uint j = 0; j < 2; j++)
                            qn_quad_multiply_add(sums[j], 64, words[j], (local const Q *)column_tiles[stage][j][0], 1, 1);
                        previous = stage;
                    }
                    stage = after(stage, &parity);
                    of_slot ^= slot;
                    slot ^= 1;
                }
            }
            qn_quad_wait(0);
            if (item == 0) {
                if (previous < STAGES) qn_barrier_arrive(&empty[previous]);
                qn_barrier_arrive(&rows_empty[part]);
            }
            const float scales[2] = {s.scale, s.scale}, ones[2] = {1, 1};
            lay_rows(out_tiles[part], sums[0], scales, item, part);
            STORE_ROWS(to_k_map, &s.results[0], b.head, b.batch, first, out_tiles[part]);
            lay_rows(out_tiles[part], sums[1], ones, item, part);
            STORE_ROWS(to_v_map, &s.results[1], b.head, b.batch, first, out_tiles[part]);
        }
        if (item == 0) qn_tile_store_wait(0);
    }
}
