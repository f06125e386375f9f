// qn_kernels_attention by quads of sub-groups: while the products with the values of one tile are on their way, the scores of the next one
// become weights (FlashAttention-3: Shah et al. 2024). Weights go to the matrix units from registers, as they came as scores.
// By -D: what quad.h says; KEYS of a tile, a multiple of 64; LOGS, where there are any; TURNS, quads order their products in turn.
#include "quad.h"

typedef struct shape {
    heads q, k, v, out;
    uint queries, keys, heads, shared; // so many heads of queries have one of keys
    uint blocks, all, together; // blocks of queries, heads of all batches, and how many of those are computed side by side
    float scale; // of scores, with log2(e) in it
    uint parts, part_tiles; // of the keys: `heads` and heads of results count each part of a head, which has so many tiles
    ulong log_begin;
    long log_batch, log_head, log_row; // strides
} shape;

// The tile `number`: blocks of the last queries first, which with CAUSAL have the most keys.
static block block_of(const shape *s, uint number) {
    const uint band = s->together * s->blocks, first = number / band * s->together, in_band = number % band;
    const uint wide = min(s->together, s->all - first), which = first + in_band % wide;
    const block b = {(s->blocks - 1 - in_band / wide) * ROWS, which % s->heads, which / s->heads};
    return b;
}

// The tiles of keys that rows up to one see: from the first of the part up to this one.
static uint first_tile(const shape *s, block b) { return b.head % s->parts * s->part_tiles; }
static uint tiles_for(const shape *s, block b, uint last_row) {
    const uint first = first_tile(s, b), tiles = (seen_by(last_row, s->queries, s->keys) + KEYS - 1) / KEYS;
    return max(first, min(tiles, first + s->part_tiles));
}

static float most_of_four(float v) {
    v = fmax(v, sub_group_shuffle_xor(v, 1));
    return fmax(v, sub_group_shuffle_xor(v, 2));
}
static float sum_of_four(float v) {
    v += sub_group_shuffle_xor(v, 1);
    return v + sub_group_shuffle_xor(v, 2);
}

// What a work-item keeps of its two rows.
typedef struct rows {
    float most[2], sum[2], rescale[2];
} rows;

// Scores become weights, of which those that a row does not see are 0.
static void weigh(float *scores, rows *r, float scale, bool masked, int first_key, const int *seen) {
    if (masked) {
        #pragma unroll
        for (uint i = 0; i < KEYS / 2; i++)
            if (first_key + (int)(i / 4 * 8 + i % 2) >= seen[i / 2 % 2]) scores[i] = -INFINITY;
    }
    float most[2] = {r->most[0], r->most[1]}, shift[2];
    #pragma unroll
    for (uint i = 0; i < KEYS / 2; i++) most[i / 2 % 2] = fmax(most[i / 2 % 2], scores[i]);
    #pragma unroll
    for (uint h = 0; h < 2; h++) {
        most[h] = most_of_four(most[h]);
        shift[h] = most[h] == -INFINITY ? 0 : most[h] * scale;
        r->rescale[h] = native_exp2(r->most[h] * scale - shift[h]);
        r->most[h] = most[h];
        r->sum[h] *= r->rescale[h];
    }
    #pragma unroll
    for (uint i = 0; i < KEYS / 2; i++) {
        scores[i] = native_exp2(scores[i] * scale - shift[i / 2 % 2]);
        r->sum[i / 2 % 2] += scores[i];
    }
}

static void pack(uint *words, const float *weights) {
    #pragma unroll
    for (uint i = 0; i < KEYS / 4; i++) words[i] = as_uint(PACK((float2)(weights[2 * i], weights[2 * i + 1])));
}

// Quads take turns at ordering products, so that the weights of one are made while another's products are computed.
#ifdef TURNS
#define TURN 8 // the first of these barriers
#define TAKE_TURN(part) qn_named_barrier(TURN + (part), 256)
#define PASS_TURN(part) qn_named_arrive(TURN + ((part) + 1 < QUADS ? (part) + 1 : 0), 256)
#else
#define TAKE_TURN(part)
#define PASS_TURN(part)
#endif

#define ORDER_SCORES(stage)                                                                                          \
    _Pragma("unroll") for (uint c = 0; c < CHUNKS; c++)                                                              \
        qn_quad_multiply_add(scores, KEYS, (local const Q *)q_tiles[part][c], (local const Q *)k_tiles[stage][c], 0, c > 0)
#define ORDER_SUMS(stage)                                                                                            \
    _Pragma("unroll") for (uint h = 0; h < KEYS / 64; h++)                                                           \
        qn_quad_multiply_add(sums, COLUMNS, weights + h * 16, (local const Q *)v_tiles[stage][h][0], 1, 1)
#define FREE(barrier_of_tile) \
    if (item == 0) qn_barrier_arrive(&barrier_of_tile)

kernel __attribute__((reqd_work_group_size(QUADS * 128 + 128, 1, 1))) void
attention(qn_tensor_map q_map, qn_tensor_map k_map, qn_tensor_map v_map, qn_tensor_map out_map, shape s, global const Q *q,
          global const Q *k, global const Q *v, global Q *out, global float *logs) {
    local uchar q_tiles[QUADS][CHUNKS][CHUNK] __attribute__((aligned(1024)));
    local uchar k_tiles[STAGES][CHUNKS][KEYS * 128] __attribute__((aligned(1024)));
    local uchar v_tiles[STAGES][KEYS / 64][CHUNKS][CHUNK] __attribute__((aligned(1024)));
    local ushort out_tiles[QUADS][CHUNKS][CHUNK / 2] __attribute__((aligned(1024)));
    local qn_barrier q_full[QUADS], q_empty[QUADS], k_full[STAGES], k_empty[STAGES], v_full[STAGES], v_empty[STAGES];
    const uint quad = get_local_id(0) / 128, item = get_local_id(0) % 128, total = s.blocks * s.all;
    if (get_local_id(0) == 0) {
        for (uint i = 0; i < QUADS; i++) {
            qn_barrier_init(&q_full[i], 1);
            qn_barrier_init(&q_empty[i], 1);
        }
        for (uint i = 0; i < STAGES; i++) {
            qn_barrier_init(&k_full[i], 1);
            qn_barrier_init(&k_empty[i], QUADS);
            qn_barrier_init(&v_full[i], 1);
            qn_barrier_init(&v_empty[i], QUADS);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint stage = 0;

    if (quad == 0) {
        qn_registers_give(GIVE);
        uint parity = 1, of_q = 1;
        for (uint round = 0, number; item == 0 && (number = number_of(round)) < total; round++) {
            const block b = block_of(&s, number);
            const uint head = b.head / s.parts, key_head = head / s.shared, first = first_tile(&s, b);
            for (uint i = 0; i < QUADS; i++) {
                qn_barrier_wait(&q_empty[i], of_q);
                qn_barrier_expect(&q_full[i], CHUNKS * CHUNK);
                LOAD_ROWS(q_tiles[i], q_map, &s.q, head, b.batch, b.row + i * 64, &q_full[i]);
            }
            of_q ^= 1;
            for (uint tile = tiles_for(&s, b, b.row + ROWS - 1); tile-- > first;) {
                qn_barrier_wait(&k_empty[stage], parity);
                qn_barrier_expect(&k_full[stage], CHUNKS * KEYS * 128);
                LOAD_ROWS(k_tiles[stage], k_map, &s.k, key_head, b.batch, tile * KEYS, &k_full[stage]);
                qn_barrier_wait(&v_empty[stage], parity);
                qn_barrier_expect(&v_full[stage], CHUNKS * KEYS * 128);
                for (uint h = 0; h < KEYS / 64; h++)
                    LOAD_ROWS(v_tiles[stage][h], v_map, &s.v, key_head, b.batch, tile * KEYS + h * 64, &v_full[stage]);
                stage = after(stage, &parity);
            }
        }
    } else {
        qn_registers_take(TAKE);
        const uint part = quad - 1, lane = item % 32;
        uint parity = 0, of_q = 0;
        float sums[COLUMNS / 2], scores[KEYS / 2];
        uint weights[KEYS / 4];
#ifdef TURNS
        if (part + 1 == QUADS) PASS_TURN(part);
#endif
        for (uint round = 0, number; (number = number_of(round)) < total; round++) {
            const block b = block_of(&s, number);
            const uint first = b.row + part * 64, row = first + item / 32 * 16 + lane / 4;
            const int seen[2] = {(int)(seen_by(row, s.queries, s.keys) - lane % 4 * 2),
                                 (int)(seen_by(row + 8, s.queries, s.keys) - lane % 4 * 2)};
            const uint by_all = seen_by(first, s.queries, s.keys), begin = first_tile(&s, b),
                       tiles = tiles_for(&s, b, first + 63);
            uint tile = tiles_for(&s, b, b.row + ROWS - 1);
            rows r = {{-INFINITY, -INFINITY}, {0, 0}, {0, 0}};
            #pragma unroll
            for (uint i = 0; i < COLUMNS / 2; i++) sums[i] = 0;
            for (; tile > tiles; tile--) { // what other quads see
                TAKE_TURN(part);
                PASS_TURN(part);
                qn_barrier_wait(&k_full[stage], parity); // so that the arrival counts for this tile and none before it
                qn_barrier_wait(&v_full[stage], parity);
                FREE(k_empty[stage]);
                FREE(v_empty[stage]);
                stage = after(stage, &parity);
            }
            qn_barrier_wait(&q_full[part], of_q);
            of_q ^= 1;
            if (tile > begin) {
                qn_barrier_wait(&k_full[stage], parity);
                TAKE_TURN(part);
                ORDER_SCORES(stage);
                PASS_TURN(part);
                qn_quad_wait(0);
                FREE(k_empty[stage]);
                tile--;
                weigh(scores, &r, s.scale, (tile + 1) * KEYS > by_all, (int)(tile * KEYS), seen);
                pack(weights, scores);
            }
            while (tile > begin) {
                const uint before = stage, parity_before = parity;
                tile--;
                stage = after(stage, &parity);
                qn_barrier_wait(&k_full[stage], parity);
                TAKE_TURN(part);
                ORDER_SCORES(stage);
                qn_barrier_wait(&v_full[before], parity_before);
                ORDER_SUMS(before);
                PASS_TURN(part);
                qn_quad_wait(KEYS / 64);
                FREE(k_empty[stage]);
                weigh(scores, &r, s.scale, (tile + 1) * KEYS > by_all, (int)(tile * KEYS), seen);
                qn_quad_wait(0);
                FREE(v_empty[before]);
                #pragma unroll
                for (uint i = 0; i < COLUMNS / 2; i++) sums[i] *= r.rescale[i / 2 % 2];
                pack(weights, scores);
            }
            FREE(q_empty[part]);
            if (tiles > begin) {
                qn_barrier_wait(&v_full[stage], parity);
                ORDER_SUMS(stage);
                qn_quad_wait(0);
                FREE(v_empty[stage]);
                stage = after(stage, &parity);
            }
            float scale[2];
            #pragma unroll
            for (uint h = 0; h < 2; h++) {
                const float sum = sum_of_four(r.sum[h]);
                scale[h] = sum > 0 ? native_recip(sum) : 0;
#ifdef LOGS
                if (lane % 4 == 0 && row + 8 * h < s.queries)
                    logs[s.log_begin + (size_t)((long)b.batch * s.log_batch + (long)b.head * s.log_head + (long)(row + 8 * h) * s.log_row)] =
                        sum > 0 ? (r.most[h] * s.scale + native_log2(sum)) * 0.69314718056f : -INFINITY;
#endif
            }
            lay_rows(out_tiles[part], sums, scale, item, part);
            STORE_ROWS(out_map, &s.out, b.head, b.batch, first, out_tiles[part]);
        }
        if (item == 0) qn_tile_store_wait(0);
    }
}
