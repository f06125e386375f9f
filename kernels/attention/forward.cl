// qn_kernels_attention on GPUs: a work-group has SIDE queries of a head; weights are made as scores come, the sums so far
// scaled down whenever a row's largest score grows (Milakov and Gimelshein 2018; FlashAttention, Dao et al. 2022).
// By -D: what tile.h says. Groups: blocks of queries for each head for each batch.
#include "tile.h"

// What a work-item keeps of its rows of scores.
typedef struct rows {
    VALUE most[ROWS], sum[ROWS];
} rows;

#define EACH_ROW(i, row) UNROLL for (uint i = 0, row = lid / LANES; i < ROWS; i++, row = lid + i * GROUP)

// Scores become weights; `some` holds a number of each lane, `rescale` of each row.
static void weigh(rows *state, const tiles *t, local VALUE *some, local VALUE *rescale, const problem *p, ulong batch, ulong head,
                  ulong query, ulong key, uint lid MASK_PARAMETER) {
    const uint lane = lid % LANES;
    barrier(CLK_LOCAL_MEM_FENCE);
    EACH_ROW(i, row) {
        local VALUE *scores = t->scores + row * PITCH;
        const ulong seen = seen_by(p, query + row);
        VALUE most = -INFINITY;
        for (uint j = lane; j < SIDE; j += LANES) {
            VALUE s = scores[j] * p->scale;
            s = query + row < p->queries && key + j < seen ? MASKED(s, batch, head, query + row, key + j) : (VALUE)-INFINITY;
            scores[j] = s;
            most = fmax(most, s);
        }
        some[row * LANES + lane] = most;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    EACH_ROW(i, row) {
        local VALUE *scores = t->scores + row * PITCH;
        VALUE most = state->most[i];
        for (uint j = 0; j < LANES; j++) most = fmax(most, some[row * LANES + j]);
        const VALUE shift = most == -INFINITY ? 0 : most, factor = exp(state->most[i] - shift);
        VALUE sum = state->sum[i] * factor;
        for (uint j = lane; j < SIDE; j += LANES) sum += scores[j] = exp(scores[j] - shift);
        state->most[i] = most;
        state->sum[i] = sum;
        if (lane == 0) rescale[row] = factor;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
attention(problem problem_of_call, global const ELEMENT *q, global const ELEMENT *k, global const ELEMENT *v, global ELEMENT *out,
          global VALUE *logs MASK_PARAMETER) {
    const problem *p = &problem_of_call;
    TILES(t);
    local VALUE some[SIDE * LANES], rescale[SIDE];
    const uint lid = (uint)get_local_id(0), lane = lid % LANES;
    const ulong group = get_group_id(0), query = group % p->blocks * SIDE, which = group / p->blocks, head = which % p->heads,
                batch = which / p->heads;
    const matrix queries = matrix_of(q, &p->q, batch, head, p->queries, p->size),
                 keys = matrix_of(k, &p->k, batch, head / p->shared, p->keys, p->size),
                 values = matrix_of(v, &p->v, batch, head / p->shared, p->keys, p->value_size);
    VECTOR sums[CHUNKS][PIECES][4], scores[PIECES][4];
    rows state;
    UNROLL for (uint c = 0; c < CHUNKS; c++) EACH_PIECE(i, row, column) EACH_4(r) sums[c][i][r] = 0;
    EACH_ROW(i, row) {
        state.most[i] = -INFINITY;
        state.sum[i] = 0;
    }
    const ulong seen = seen_by(p, min(query + SIDE, p->queries) - 1);
    for (ulong key = 0; key < seen; key += SIDE) {
        multiply_rows(scores, &t, &queries, query, &keys, key, lid);
        keep(t.scores, scores, lid);
#ifdef HAS_MASK
        weigh(&state, &t, some, rescale, p, batch, head, query, key, lid, mask);
#else
        weigh(&state, &t, some, rescale, p, batch, head, query, key, lid);
#endif
        UNROLL for (uint c = 0; c < CHUNKS; c++) EACH_PIECE(i, row, column) EACH_4(r) sums[c][i][r] *= rescale[row + r];
        multiply_weights(sums, &t, &values, key, lid);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    EACH_ROW(i, row) some[row * LANES + lane] = state.sum[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    EACH_ROW(i, row) {
        VALUE sum = 0;
        for (uint j = 0; j < LANES; j++) sum += some[row * LANES + j];
        if (lane != 0) continue;
        rescale[row] = sum > 0 ? 1 / sum : 0;
        if (p->is_logged && query + row < p->queries)
            logs[place(&p->logs, batch, head) + (long)(query + row) * p->logs.row] =
                sum > 0 ? state.most[i] + log(sum) : (VALUE)-INFINITY;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    put(out, &p->out, batch, head, query, p->queries, p->value_size, sums, rescale, lid);
}
