// qn_kernels_attention_backward by quads of sub-groups, in two passes, so that nothing is added by several work-groups: for queries (rows are
// queries, columns keys) and for keys (the other way round), with weights computed anew in both. With s the scores by rows, and t the products of
// values and gradients of `out`, scores' gradients are weights (t - dot); sums grow by weights and scores' gradients from registers.
// By -D: what quad.h says; FOR_KEYS, the second pass.
#include "quad.h"

#ifdef FOR_KEYS
#define RESULTS 2
#else
#define RESULTS 1
#endif

typedef struct shape {
    heads rows[2], columns[2], results[2]; // q, gradient and k, v, or k, v and q, gradient; of q, or of k, v
    uint queries, keys, heads, shared;     // so many heads of queries have one of keys
    uint blocks, all, together;            // blocks of rows, heads of rows of all batches, and those that are computed side by side
    uint padded;                           // queries in `pairs`
    float scale, score_scale;              // of scores, and with log2(e) in it
} shape;

static block block_of(const shape *s, uint number) {
    const uint band = s->together * s->blocks, first = number / band * s->together, in_band = number % band;
    const uint wide = min(s->together, s->all - first), which = first + in_band % wide, i = in_band / wide;
#ifdef FOR_KEYS
    const uint heads = s->heads / s->shared;
    const block b = {i * ROWS, which % heads, which / heads};
#else
    const block b = {(s->blocks - 1 - i) * ROWS, which % s->heads, which / s->heads};
#endif
    return b;
}

// Blocks of 64 columns that rows from `first` to `last` have to do with: those from *begin on up to the result.
static uint columns_of(const shape *s, uint first, uint last, uint *begin) {
#ifdef FOR_KEYS
    *begin = 0;
#if CAUSAL // query i sees key j from i = j + queries - keys on
    *begin = (uint)clamp((int)first + (int)s->queries - (int)s->keys, 0, (int)s->queries) / 64;
#endif
    return (s->queries + 63) / 64;
#else
    *begin = 0;
    return (seen_by(last, s->queries, s->keys) + 63) / 64;
#endif
}

kernel __attribute__((reqd_work_group_size(QUADS * 128 + 128, 1, 1))) void
gradients(qn_tensor_map row_map, qn_tensor_map other_row_map, qn_tensor_map column_map, qn_tensor_map other_column_map,
          qn_tensor_map result_map, qn_tensor_map other_result_map, shape s, global const Q *q, global const Q *k, global const Q *v,
          global const Q *gradient, global const float2 *pairs, global Q *result, global Q *other_result) {
    local uchar row_tiles[QUADS][2][CHUNKS][CHUNK] __attribute__((aligned(1024)));
    local uchar column_tiles[STAGES][2][CHUNKS][CHUNK] __attribute__((aligned(1024)));
    local ushort out_tiles[QUADS][CHUNKS][CHUNK / 2] __attribute__((aligned(1024)));
    local qn_barrier rows_full[QUADS], rows_empty[QUADS], full[STAGES], empty[STAGES];
    const uint quad = get_local_id(0) / 128, item = get_local_id(0) % 128, total = s.blocks * s.all;
    if (get_local_id(0) == 0) {
        for (uint i = 0; i < QUADS; i++) {
            qn_barrier_init(&rows_full[i], 1);
            qn_barrier_init(&rows_empty[i], 1);
        }
        for (uint i = 0; i < STAGES; i++) {
            qn_barrier_init(&full[i], 1);
            qn_barrier_init(&empty[i], QUADS);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint stage = 0;
#ifdef FOR_KEYS
    const uint turns = s.shared; // heads of columns that a head of rows has to do with
#else
    const uint turns = 1;
#endif

    if (quad == 0) {
        qn_registers_give(GIVE);
        uint parity = 1, of_rows = 1;
        for (uint round = 0, number; item == 0 && (number = number_of(round)) < total; round++) {
            const block b = block_of(&s, number);
            uint begin;
            const uint end = columns_of(&s, b.row, b.row + ROWS - 1, &begin);
            for (uint i = 0; i < QUADS; i++) {
                qn_barrier_wait(&rows_empty[i], of_rows);
                qn_barrier_expect(&rows_full[i], 2 * CHUNKS * CHUNK);
                LOAD_ROWS(row_tiles[i][0], row_map, &s.rows[0], b.head, b.batch, b.row + i * 64, &rows_full[i]);
                LOAD_ROWS(row_tiles[i][1], other_row_map, &s.rows[1], b.head, b.batch, b.row + i * 64, &rows_full[i]);
            }
            of_rows ^= 1;
            for (uint turn = 0; turn < turns; turn++) {
#ifdef FOR_KEYS
                const uint head = b.head * s.shared + turn;
#else
                const uint head = b.head / s.shared;
#endif
                for (uint tile = begin; tile < end; tile++) {
                    qn_barrier_wait(&empty[stage], parity);
                    qn_barrier_expect(&full[stage], 2 * CHUNKS * CHUNK);
                    LOAD_ROWS(column_tiles[stage][0], column_map, &s.columns[0], head, b.batch, tile * 64, &full[stage]);
                    LOAD_ROWS(column_tiles[stage][1], other_column_map, &s.columns[1], head, b.batch, tile * 64, &full[stage]);
                    stage = after(stage, &parity);
                }
            }
        }
    } else {
        qn_registers_take(TAKE);
        const uint part = quad - 1, lane = item % 32, across = lane % 4 * 2;
        uint parity = 0, of_rows = 0;
        float sums[RESULTS][COLUMNS / 2], scores[32], slopes[32];
        uint words[RESULTS][16];
        for (uint round = 0, number; (number = number_of(round)) < total; round++) {
            const block b = block_of(&s, number);
            const uint first = b.row + part * 64, row = first + item / 32 * 16 + lane / 4;
            uint begin, own_begin, previous = STAGES;
            const uint end = columns_of(&s, b.row, b.row + ROWS - 1, &begin), own_end = columns_of(&s, first, first + 63, &own_begin);
            #pragma unroll
            for (uint i = 0; i < COLUMNS / 2; i++) {
                #pragma unroll
                for (uint j = 0; j < RESULTS; j++) sums[j][i] = 0;
            }
            qn_barrier_wait(&rows_full[part], of_rows);
            of_rows ^= 1;
#ifndef FOR_KEYS
            const uint limit[2] = {seen_by(row, s.queries, s.keys), seen_by(row + 8, s.queries, s.keys)};
            const uint by_all = seen_by(first, s.queries, s.keys);
            const size_t pair = (size_t)(b.batch * s.heads + b.head) * s.padded + row;
            const float2 own[2] = {row < s.padded ? pairs[pair] : (float2)(INFINITY, 0),
                                   row + 8 < s.padded ? pairs[pair + 8] : (float2)(INFINITY, 0)};
#endif
            for (uint turn = 0; turn < turns; turn++) {
                for (uint tile = begin; tile < end; tile++) {
                    qn_barrier_wait(&full[stage], parity);
                    if (tile < own_begin || tile >= own_end) {
                        if (item == 0) qn_barrier_arrive(&empty[stage]);
                        stage = after(stage, &parity);
                        continue;
                    }
                    #pragma unroll
                    for (uint c = 0; c < CHUNKS; c++)
                        qn_quad_multiply_add(scores, 64, (local const Q *)row_tiles[part][0][c], (local const Q *)column_tiles[stage][0][c], 0, c > 0);
                    #pragma unroll
                    for (uint c = 0; c < CHUNKS; c++)
                        qn_quad_multiply_add(slopes, 64, (local const Q *)row_tiles[part][1][c], (local const Q *)column_tiles[stage][1][c], 0, c > 0);
#ifdef FOR_KEYS
                    const global float4 *of_columns =
                        (const global float4 *)(pairs + (size_t)(b.batch * s.heads + b.head * s.shared + turn) * s.padded + tile * 64 + across);
#endif
                    qn_quad_wait(CHUNKS);
                    if (previous < STAGES && item == 0) qn_barrier_arrive(&empty[previous]);
                    uint bits = 0;
#ifdef FOR_KEYS
#if CAUSAL
                    if ((int)(first + 63 + s.queries) - (int)s.keys > (int)(tile * 64)) {
                        #pragma unroll
                        for (uint i = 0; i < 32; i++)
                            if ((int)(row + i / 2 % 2 * 8 + s.queries) - (int)s.keys > (int)(tile * 64 + i / 4 * 8 + across + i % 2))
                                scores[i] = -INFINITY;
                    }
#endif
                    #pragma unroll
                    for (uint i = 0; i < 8; i++) {
                        const float4 pair = of_columns[i * 4];
                        scores[4 * i] = native_exp2(scores[4 * i] * s.score_scale - pair.x);
                        scores[4 * i + 1] = native_exp2(scores[4 * i + 1] * s.score_scale - pair.z);
                        scores[4 * i + 2] = native_exp2(scores[4 * i + 2] * s.score_scale - pair.x);
                        scores[4 * i + 3] = native_exp2(scores[4 * i + 3] * s.score_scale - pair.z);
                        bits |= as_uint(scores[4 * i]) | as_uint(scores[4 * i + 1]) | as_uint(scores[4 * i + 2]) | as_uint(scores[4 * i + 3]);
                    }
                    if (CHUNKS > 1) await(bits);
                    qn_quad_wait(0);
                    #pragma unroll
                    for (uint i = 0; i < 8; i++) {
                        const float4 pair = of_columns[i * 4];
                        slopes[4 * i] = scores[4 * i] * (slopes[4 * i] - pair.y);
                        slopes[4 * i + 1] = scores[4 * i + 1] * (slopes[4 * i + 1] - pair.w);
                        slopes[4 * i + 2] = scores[4 * i + 2] * (slopes[4 * i + 2] - pair.y);
                        slopes[4 * i + 3] = scores[4 * i + 3] * (slopes[4 * i + 3] - pair.w);
                    }
#else
                    if (tile * 64 + 64 > by_all) {
                        #pragma unroll
                        for (uint i = 0; i < 32; i++)
                            if (tile * 64 + i / 4 * 8 + across + i % 2 >= limit[i / 2 % 2]) scores[i] = -INFINITY;
                    }
                    #pragma unroll
                    for (uint i = 0; i < 32; i++) {
                        scores[i] = native_exp2(scores[i] * s.score_scale - own[i / 2 % 2].x);
                        bits |= as_uint(scores[i]);
                    }
                    if (CHUNKS > 1) await(bits);
                    qn_quad_wait(0);
                    #pragma unroll
                    for (uint i = 0; i < 32; i++) slopes[i] = scores[i] * (slopes[i] - own[i / 2 % 2].y);
#endif
                    #pragma unroll
                    for (uint i = 0; i < 16; i++) {
                        words[0][i] = as_uint(PACK((float2)(slopes[2 * i], slopes[2 * i + 1])));
#ifdef FOR_KEYS
                        words[1][i] = as_uint(PACK((float2)(scores[2 * i], scores[2 * i + 1])));
#endif
                    }
                    #pragma unroll
                    for (uint j = 0; j < RESULTS; j++)
                        qn_quad_multiply_add(sums[j], COLUMNS, words[j], (local const Q *)column_tiles[stage][j][0], 1, 1);
#if RESULTS * CHUNKS > 3 // all registers are taken: none for words in flight beside new scores
                    qn_quad_wait(0);
                    if (item == 0) qn_barrier_arrive(&empty[stage]);
#else
                    previous = stage;
#endif
                    stage = after(stage, &parity);
                }
            }
            qn_quad_wait(0);
            if (item == 0) {
                if (previous < STAGES) qn_barrier_arrive(&empty[previous]);
                qn_barrier_arrive(&rows_empty[part]);
            }
            const float scales[2] = {s.scale, s.scale}, ones[2] = {1, 1};
            lay_rows(out_tiles[part], sums[0], scales, item, part);
            STORE_ROWS(result_map, &s.results[0], b.head, b.batch, first, out_tiles[part]);
#ifdef FOR_KEYS
            lay_rows(out_tiles[part], sums[1], ones, item, part);
            STORE_ROWS(other_result_map, &s.results[1], b.head, b.batch, first, out_tiles[part]);
#endif
        }
        if (item == 0) qn_tile_store_wait(0);
    }
}
