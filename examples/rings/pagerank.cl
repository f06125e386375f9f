/* The kernels of pagerank.c, for a ring (ACTORS) or to be launched, in two ways. By rows: a work-item adds up the edges of one node
   after another. By pieces (PIECES), for a GPU, where the node with most edges would be waited for: a work-group of SIZE work-items has a
   part of SIZE nodes, and each work-item the same number of its edges, EACH. */
#ifdef ACTORS
#include "quern/ring.cl"
#endif

enum { NODES = 1 << 16, EDGES = 1 << 20, SITE = 256, MOST_PARTS = 128 };

/* As in pagerank.c. */
typedef struct graph {
    float changes[NODES / SITE];
    float rank[NODES], share[NODES], weight[NODES];
    uint edges[EDGES], begin[NODES + 1], far_begin[MOST_PARTS + 1], far[EDGES];
} graph;

typedef struct visit {
    uint part, sweeps;
    float scale, first, sum;
} visit;

uint from(uint edge) { return edge & 0xffff; }
uint to(uint edge) { return edge >> 16; }
float new_rank(float sum) { return 0.15f / NODES + 0.85f * sum; }

#ifndef PIECES

float add_row(global const graph *g, uint node, global const float *share) {
    float sum = 0;
    for (uint i = g->begin[node]; i < g->begin[node + 1]; i++) sum += share[from(g->edges[i])];
    return new_rank(sum);
}

#ifdef ACTORS

/* By a single work-item. */
void sweep(qn_ring *ring, local const visit *in, global graph *g) {
    visit out = *in;
    const uint begin = out.part * SIZE;
    for (uint i = begin; i < begin + SIZE && out.scale != 1; i++) g->rank[i] *= out.scale, g->share[i] *= out.scale;
    float change = 0;
    out.sum = 0;
    for (uint i = begin; i < begin + SIZE; i++) {
        const float rank = add_row(g, i, g->share);
        change += fabs(rank - g->rank[i]);
        g->rank[i] = rank;
        g->share[i] = rank * g->weight[i];
        out.sum += rank;
    }
    if (out.sweeps++ == 0) out.first = change;
    out.scale = 1;
    if (change <= out.first / 2) qn_ring_reply(ring, &out, sizeof out);
    else qn_ring_forward(ring, 0, &out, sizeof out);
}

#else

kernel void batch(global graph *g, global const float *share, global float *next) {
    const uint node = get_global_id(0);
    const float rank = add_row(g, node, share);
    const float change = work_group_reduce_add(fabs(rank - g->rank[node]));
    g->rank[node] = rank;
    next[node] = rank * g->weight[node];
    if (get_local_id(0) == 0) g->changes[get_group_id(0)] = change;
}

#endif

#else

/* What a sweep has in local memory. `near`: shares of the part's own nodes, and of those elsewhere that have edges into it. `sums`: what
   each node gets by the piece where it begins, what the node gets that a piece begins within, and for each work-item what is of no node
   here, as the first and the last piece are of the neighbours, too. */
enum { WITHIN = SIZE, OTHERS = WITHIN + SIZE, SUMS = OTHERS + SIZE, NEAR = SIZE + FAR * SIZE };

/* What a work-item has in registers: of its node and its piece, and FAR nodes elsewhere, whose shares it brings. */
typedef struct part {
    uint first, item, node, begin, end, first_piece; /* begin, end: of the node's edges */
    float weight;
    bool has_piece;
    uint far[FAR];
    uint place, edges[EACH]; /* place: in `sums`, of what comes first */
} part;

uint place_of(const part *p, uint node) { return node - p->first < SIZE ? node - p->first : OTHERS + p->item; }

void load_part(part *p, global const graph *g, uint index) {
    p->first = index * SIZE;
    p->item = get_local_id(0);
    p->node = p->first + p->item;
    p->begin = g->begin[p->node];
    p->end = g->begin[p->node + 1];
    p->weight = g->weight[p->node];
    const uint far = g->far_begin[index], last_far = g->far_begin[index + 1] - 1;
    __attribute__((opencl_unroll_hint)) for (uint i = 0; i < FAR; i++) p->far[i] = g->far[min(far + i * SIZE + p->item, last_far)];
    p->first_piece = g->begin[p->first] / EACH;
    const uint last = (g->begin[p->first + SIZE] - 1) / EACH, piece = min(p->first_piece + p->item, last);
    p->has_piece = piece == p->first_piece + p->item;
    global const uint4 *lines = (global const uint4 *)(g->edges + piece * EACH);
    __attribute__((opencl_unroll_hint)) for (uint i = 0; i < EACH / 4; i++) vstore4(lines[i], i, p->edges);
    const bool is_within = piece && to(g->edges[piece * EACH - 1]) == to(p->edges[0]);
    p->place = is_within ? WITHIN + p->item : place_of(p, to(p->edges[0]));
}

/* Shares that others change meanwhile. */
float peek(global const float *share) {
    return as_float(atomic_load_explicit((volatile global atomic_uint *)share, memory_order_relaxed, memory_scope_device));
}
void poke(global float *share, float value) {
    atomic_store_explicit((volatile global atomic_uint *)share, as_uint(value), memory_order_relaxed, memory_scope_device);
}

/* All loads of a work-item are on the way together. */
void bring_far(const part *p, global const float *share, local float *near) {
    float shares[FAR];
    __attribute__((opencl_unroll_hint)) for (uint i = 0; i < FAR; i++) shares[i] = peek(share + p->far[i]);
    __attribute__((opencl_unroll_hint)) for (uint i = 0; i < FAR; i++) near[SIZE + i * SIZE + p->item] = shares[i];
}

void add_piece(const part *p, local const float *near, local float *sums) {
    float terms[EACH];
    __attribute__((opencl_unroll_hint)) for (uint i = 0; i < EACH; i++) terms[i] = near[from(p->edges[i])];
    float sum = terms[0];
    uint place = p->place;
    __attribute__((opencl_unroll_hint)) for (uint i = 1; i < EACH; i++) {
        if (to(p->edges[i]) != to(p->edges[i - 1])) {
            sums[place] = sum;
            sum = 0;
            place = place_of(p, to(p->edges[i]));
        }
        sum += terms[i];
    }
    sums[place] = sum;
}

/* Of the work-item's node, from the pieces that have edges to it. */
float add_row(const part *p, local const float *sums) {
    if (p->begin == p->end) return new_rank(0);
    local const float *within = sums + WITHIN - p->first_piece;
    float4 sum = (float4)(sums[p->item], 0, 0, 0);
    uint i = p->begin / EACH + 1;
    const uint end = (p->end - 1) / EACH + 1;
    for (; i + 4 <= end; i += 4) sum += vload4(0, within + i);
    for (; i < end; i++) sum.x += within[i];
    return new_rank(sum.x + sum.y + (sum.z + sum.w));
}

float sweep_part(const part *p, global const float *share, local float *near, local float *sums) {
    bring_far(p, share, near);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (p->has_piece) add_piece(p, near, sums);
    barrier(CLK_LOCAL_MEM_FENCE);
    return add_row(p, sums);
}

#ifdef ACTORS

/* Up to SWEEPS for a message. */
void sweep(qn_ring *ring, local const visit *in, global graph *g) {
    local float sums[SUMS], near[NEAR];
    visit out = *in;
    part p;
    load_part(&p, g, out.part);
    float rank = g->rank[p.node] * out.scale, change = CALM;
    poke(&g->share[p.node], near[p.item] = rank * p.weight);
    for (uint i = 0; i < SWEEPS && change >= CALM; i++) {
        const float before = rank;
        rank = sweep_part(&p, g->share, near, sums);
        poke(&g->share[p.node], near[p.item] = rank * p.weight);
        change = work_group_reduce_add(fabs(rank - before));
        if (out.sweeps++ == 0) out.first = change;
    }
    g->rank[p.node] = rank;
    out.sum = work_group_reduce_add(rank);
    out.scale = 1;
    if (change < CALM || out.sweeps >= MOST_SWEEPS) qn_ring_reply(ring, &out, sizeof out);
    else qn_ring_forward(ring, 0, &out, sizeof out);
}

#else

kernel __attribute__((reqd_work_group_size(SIZE, 1, 1)))
void batch(global graph *g, global const float *share, global float *next) {
    local float sums[SUMS], near[NEAR];
    part p;
    load_part(&p, g, get_group_id(0));
    const float before = g->rank[p.node];
    near[p.item] = share[p.node];
    const float rank = sweep_part(&p, share, near, sums);
    const float change = work_group_reduce_add(fabs(rank - before));
    g->rank[p.node] = rank;
    next[p.node] = rank * p.weight;
    if (p.item == 0) g->changes[get_group_id(0)] = change;
}

#endif
#endif
