// qn_kernels_attention_backward on GPUs. Weights are computed again from the logarithms of their sums. With P the weights, the gradient of
// the scores is P (gradient of P - dot), where dot is a row's product of `out` and its gradient. Two passes, so that nothing is
// added by several groups: for_queries has blocks of queries and goes through keys, for_keys the other way round.
// By -D: what tile.h says, and KEYS for the second one.
#include "tile.h"

typedef struct inputs {
    matrix q, k, v, gradient;
    global const VALUE *logs, *dots;
    long logs_row;
} inputs;

static inputs inputs_of(const problem *p, ulong batch, ulong head, global const ELEMENT *q, global const ELEMENT *k,
                        global const ELEMENT *v, global const ELEMENT *gradient, global const VALUE *logs, global const VALUE *dots) {
    const inputs in = {matrix_of(q, &p->q, batch, head, p->queries, p->size),
                       matrix_of(k, &p->k, batch, head / p->shared, p->keys, p->size),
                       matrix_of(v, &p->v, batch, head / p->shared, p->keys, p->value_size),
                       matrix_of(gradient, &p->gradient, batch, head, p->queries, p->value_size),
                       logs + place(&p->logs, batch, head), dots + (batch * p->heads + head) * p->queries, p->logs.row};
    return in;
}

// Of a score, its weight, and of the weight's gradient that of the score.
static void weigh(VALUE *score, VALUE *slope, const problem *p, const inputs *in, ulong batch, ulong head, ulong query, ulong key MASK_PARAMETER) {
    VALUE weight = 0;
    if (query < p->queries && key < seen_by(p, query)) {
        const VALUE all = in->logs[(long)query * in->logs_row];
        const VALUE s = MASKED(*score * p->scale, batch, head, query, key);
        weight = s == -INFINITY ? 0 : exp(s - all);
        *slope = weight * (*slope - in->dots[query]) * p->scale;
    } else {
        *slope = 0;
    }
    *score = weight;
}

static void weigh_pieces(VECTOR (*scores)[4], VECTOR (*slopes)[4], const problem *p, const inputs *in, ulong batch, ulong head,
                         ulong first_row, ulong first_column, uint lid MASK_PARAMETER) {
    EACH_PIECE(i, row, column) EACH_4(r) {
        union {
            VECTOR all;
            VALUE each[W];
        } s, d;
        s.all = scores[i][r];
        d.all = slopes[i][r];
        UNROLL for (uint w = 0; w < W; w++) {
            const ulong x = first_row + row + r, y = first_column + column + w;
#ifdef KEYS
            const ulong query = y, key = x;
#else
            const ulong query = x, key = y;
#endif
#ifdef HAS_MASK
            weigh(&s.each[w], &d.each[w], p, in, batch, head, query, key, mask);
#else
            weigh(&s.each[w], &d.each[w], p, in, batch, head, query, key);
#endif
        }
        scores[i][r] = s.all;
        slopes[i][r] = d.all;
    }
}

static void clear(VECTOR (*sums)[PIECES][4], uint lid) {
    UNROLL for (uint c = 0; c < CHUNKS; c++) EACH_PIECE(i, row, column) EACH_4(r) sums[c][i][r] = 0;
}

#ifdef HAS_MASK
#define WEIGH(a, b, c, d, e, f, g, h, i) weigh_pieces(a, b, c, d, e, f, g, h, i, mask)
#else
#define WEIGH(a, b, c, d, e, f, g, h, i) weigh_pieces(a, b, c, d, e, f, g, h, i)
#endif

#ifdef KEYS
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
for_keys(problem problem_of_call, global const ELEMENT *q, global const ELEMENT *k, global const ELEMENT *v, global const ELEMENT *gradient,
         global const VALUE *logs, global const VALUE *dots, global ELEMENT *to_k, global ELEMENT *to_v MASK_PARAMETER) {
    const problem *p = &problem_of_call;
    TILES(t);
    const uint lid = (uint)get_local_id(0), heads = p->heads / p->shared;
    const ulong group = get_group_id(0), key = group % p->blocks * SIDE, which = group / p->blocks, key_head = which % heads,
                batch = which / heads;
    VECTOR of_keys[CHUNKS][PIECES][4], of_values[CHUNKS][PIECES][4], scores[PIECES][4], slopes[PIECES][4];
    clear(of_keys, lid);
    clear(of_values, lid);
    // With `causal`, queries in front of this one see none of the block's keys.
    const ulong first = p->causal && key + p->queries > p->keys ? (key + p->queries - p->keys) / SIDE * SIDE : 0;
    for (uint i = 0; i < p->shared; i++) {
        const ulong head = key_head * p->shared + i;
        const inputs in = inputs_of(p, batch, head, q, k, v, gradient, logs, dots);
        for (ulong query = first; query < p->queries; query += SIDE) {
            multiply_rows(scores, &t, &in.k, key, &in.q, query, lid);
            multiply_rows(slopes, &t, &in.v, key, &in.gradient, query, lid);
            WEIGH(scores, slopes, p, &in, batch, head, key, query, lid);
            keep(t.scores, scores, lid);
            multiply_weights(of_values, &t, &in.gradient, query, lid);
            barrier(CLK_LOCAL_MEM_FENCE);
            keep(t.scores, slopes, lid);
            multiply_weights(of_keys, &t, &in.q, query, lid);
        }
    }
    put(to_k, &p->to_k, batch, key_head, key, p->keys, p->size, of_keys, 0, lid);
    put(to_v, &p->to_v, batch, key_head, key, p->keys, p->value_size, of_values, 0, lid);
}
#else
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
for_queries(problem problem_of_call, global const ELEMENT *q, global const ELEMENT *k, global const ELEMENT *v,
            global const ELEMENT *gradient, global const VALUE *logs, global const VALUE *dots, global ELEMENT *to_q MASK_PARAMETER) {
    const problem *p = &problem_of_call;
    TILES(t);
    const uint lid = (uint)get_local_id(0);
    const ulong group = get_group_id(0), query = group % p->blocks * SIDE, which = group / p->blocks, head = which % p->heads,
                batch = which / p->heads;
    const inputs in = inputs_of(p, batch, head, q, k, v, gradient, logs, dots);
    VECTOR of_queries[CHUNKS][PIECES][4], scores[PIECES][4], slopes[PIECES][4];
    clear(of_queries, lid);
    const ulong seen = seen_by(p, min(query + SIDE, p->queries) - 1);
    for (ulong key = 0; key < seen; key += SIDE) {
        multiply_rows(scores, &t, &in.q, query, &in.k, key, lid);
        multiply_rows(slopes, &t, &in.gradient, query, &in.v, key, lid);
        WEIGH(scores, slopes, p, &in, batch, head, query, key, lid);
        keep(t.scores, slopes, lid);
        multiply_weights(of_queries, &t, &in.k, key, lid);
    }
    put(to_q, &p->to_q, batch, head, query, p->queries, p->size, of_queries, 0, lid);
}
#endif
