// qn_kernels_matmul by tiles: rung 9 for any type, strides and epilogue, with the sizes of the tiles by -D, powers of two. A group's
// work-items are WM by WN bands of LM by LN lanes, each of which computes TM by TN elements: runs of four rows and of four columns.
// A_ALONG_K: neighbours in memory are neighbours along k (else along A's rows); A_NEAR: they follow each other, so that their
// stride is 1; A_VECTORS: they are loaded four at a time. SHORT_A: there are fewer rows than a tile has. The same for B and columns.
// Groups: tiles of C in one dimension; parts of k; batches. SPLIT: the sums of the parts go to `work`, for finish.cl. CLUSTER: the
// parts of a tile are work-groups of a cluster instead, which add each other's sums. STAGED: rows of what is written begin anywhere.
#include "numbers.h"

#define ITEMS    (WM * WN * LM * LN)
#define BM       (WM * LM * TM)
#define BN       (WN * LN * TN)
#define A_PITCH  (BM + 4)
#define B_PITCH  (BN + 4)
#define A_WIDTH  (A_VECTORS ? 4 : 1)
#define B_WIDTH  (B_VECTORS ? 4 : 1)
#define A_PIECES (BM * BK / ITEMS / A_WIDTH)
#define B_PIECES (BN * BK / ITEMS / B_WIDTH)
#define BAND     8 // tiles

#ifdef CLUSTER
#define ATTRIBUTES reqd_work_group_size(ITEMS, 1, 1), qn_cluster_size(CLUSTER)
#define TILE       (get_group_id(0) / CLUSTER)
#define PART       (get_group_id(0) % CLUSTER)
#ifdef SUM_IS_INTEGER
#define AS_SUM as_int
#else
#define AS_SUM as_float
#endif
#else
#define ATTRIBUTES reqd_work_group_size(ITEMS, 1, 1)
#define TILE       get_group_id(0)
#define PART       get_group_id(1)
#endif

// Local memory: tiles of A and B, each twice; then the sums, where a cluster adds them.
#define A_TILE  (BK * A_PITCH)
#define B_TILE  (BK * B_PITCH)
#define TILES   (2 * (A_TILE + B_TILE))
#define JOINED  (BM * B_PITCH)

// ---- from global to local memory ----

// How the pieces of a tile, of one element or of four, are dealt out: `across` neighbours to as many work-items, which take pieces
// of a line. A line along k has 8 elements: so what work-items that run in step write to local memory lies in different banks, and what
// they read together are whole sectors of 32 bytes.
typedef struct dealing {
    bool along_k;
    uint width, across, lines;
} dealing;

static dealing dealing_of(bool of_b) {
    const uint width = of_b ? B_WIDTH : A_WIDTH, sides = of_b ? BN : BM;
    const bool along_k = of_b ? B_ALONG_K : A_ALONG_K;
    const dealing d = {along_k, width, (along_k ? 8 : sides) / width, along_k ? sides : BK};
    return d;
}

static uint side_of(dealing d, uint piece) { return d.along_k ? piece / d.across % d.lines : piece % d.across * d.width; }
static uint k_of(dealing d, uint piece) {
    return d.along_k ? piece % d.across * d.width + piece / (d.across * d.lines) * 8 : piece / d.across;
}

// One operand: where the work-item's first piece of the next tile is, and the strides along its side (rows of A, columns of B) and
// along k.
typedef struct operand {
    global const void *at;
    long side, along;
    uint sides; // of the tile that are there
} operand;

static operand operand_of(bool of_b, global const void *p, size_t begin, long side, long along, uint sides) {
    const dealing d = dealing_of(of_b);
    const uint piece = get_local_id(0), of_side = (of_b ? SHORT_B : SHORT_A) ? 0 : side_of(d, piece);
    operand o = {p, side, along, sides};
    if (of_b ? B_NEAR : A_NEAR) *(d.along_k ? &o.along : &o.side) = 1;
    begin += of_side * o.side + k_of(d, piece) * o.along;
    o.at = of_b ? (global const void *)((global const B_T *)p + begin) : (global const void *)((global const A_T *)p + begin);
    return o;
}

static void advance(bool of_b, operand *o, long elements) {
    o->at = of_b ? (global const void *)((global const B_T *)o->at + elements)
                 : (global const void *)((global const A_T *)o->at + elements);
}

// Piece `i` of a work-item, as one or four values. Beyond `limit` along k is 0.
static SUM4 fetch(bool of_b, const operand *o, uint i, uint limit) {
    const dealing d = dealing_of(of_b);
    const uint item = get_local_id(0), first = i * ITEMS;
    long at = (long)k_of(d, first) * o->along;
    SUM4 v = 0;
    if (of_b ? SHORT_B : SHORT_A)
        at += (long)min(side_of(d, item + first), o->sides - (d.along_k ? 1 : d.width)) * o->side;
    else
        at += (long)side_of(d, first) * o->side;
    if (limit < BK && k_of(d, item + first) >= limit) return v;
    if (d.width == 4)
        return of_b ? B_LOAD4((global const B_T *)o->at + at, 0) : A_LOAD4((global const A_T *)o->at + at, 0);
    v.x = of_b ? (SUM)B_LOAD((global const B_T *)o->at + at, 0) : (SUM)A_LOAD((global const A_T *)o->at + at, 0);
    return v;
}

static void keep(bool of_b, local SUM *tile, uint i, SUM4 v) {
    const dealing d = dealing_of(of_b);
    const uint pitch = of_b ? B_PITCH : A_PITCH, item = get_local_id(0), first = i * ITEMS;
    local SUM *to = tile + k_of(d, item) * pitch + side_of(d, item) + k_of(d, first) * pitch + side_of(d, first);
    if (d.width == 1) {
        to[0] = v.x;
    } else if (d.along_k) {
        to[0] = v.x;
        to[pitch] = v.y;
        to[2 * pitch] = v.z;
        to[3 * pitch] = v.w;
    } else {
        *(local SUM4 *)to = v;
    }
}

// A work-item's pieces of both tiles.
typedef struct pieces {
    SUM4 a[A_PIECES], b[B_PIECES];
} pieces;

// Of the next `limit` along k.
static pieces fetch_both(operand *a, operand *b, uint limit) {
    pieces t;
    #pragma unroll
    for (uint i = 0; i < A_PIECES; i++) t.a[i] = fetch(false, a, i, limit);
    #pragma unroll
    for (uint i = 0; i < B_PIECES; i++) t.b[i] = fetch(true, b, i, limit);
    advance(false, a, limit * a->along);
    advance(true, b, limit * b->along);
    return t;
}

static void keep_both(pieces t, local SUM *a_tile, local SUM *b_tile) {
    #pragma unroll
    for (uint i = 0; i < A_PIECES; i++) keep(false, a_tile, i, t.a[i]);
    #pragma unroll
    for (uint i = 0; i < B_PIECES; i++) keep(true, b_tile, i, t.b[i]);
}

// ---- products ----

static void spread(SUM *to, local const SUM *from) {
    const SUM4 v = *(local const SUM4 *)from;
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
    to[3] = v.w;
}

// What a work-item multiplies for one k.
typedef struct fragments {
    SUM rows[TM], columns[TN];
} fragments;

static fragments read(local const SUM *a_tile, local const SUM *b_tile, uint k, uint y, uint x) {
    fragments f;
    #pragma unroll
    for (uint p = 0; p < TM; p += 4) spread(f.rows + p, a_tile + k * A_PITCH + y + p * LM);
    #pragma unroll
    for (uint q = 0; q < TN; q += 4) spread(f.columns + q, b_tile + k * B_PITCH + x + q * LN);
    return f;
}

// Columns outside, rows inside, up and down in turn: two multiplications after each other share an operand, which the register file
// reads once. Of the rows one of each half follows the other: it leaves the compiler free to put what is read together into
// different banks of registers.
static void multiply(SUM sum[TM][TN], fragments f) {
    #pragma unroll
    for (uint q = 0; q < TN; q++)
        #pragma unroll
        for (uint i = 0; i < TM; i++) {
            const uint r = q % 2 ? TM - 1 - i : i, p = r % 2 * (TM / 2) + r / 2;
            sum[p][q] = MULTIPLY_ADD(f.rows[p], f.columns[q], sum[p][q]);
        }
}

// The products of a tile's ks but the last, whose fragments are left in `f`.
static void multiply_tile(SUM sum[TM][TN], fragments *f, local const SUM *a_tile, local const SUM *b_tile, uint y, uint x) {
    #pragma unroll
    for (uint k = 1; k < BK; k++) {
        const fragments next = read(a_tile, b_tile, k, y, x);
        multiply(sum, *f);
        *f = next;
    }
}

// ---- results ----

// What a group computes: where in C its tile begins; the first row and column of it that are its own, as the last tiles are moved back
// so that they end with the matrix; and how many there are.
typedef struct place {
    size_t row, column;
    uint own_row, own_column, rows, columns;
} place;

static place place_of(ulong m, ulong n) {
    const uint across = (uint)((n + BN - 1) / BN), down = (uint)((m + BM - 1) / BM), group = TILE;
    const uint tall = min(down, (uint)BAND), band = group / (tall * across), in_band = group % (tall * across);
    const uint high = min(down - band * tall, tall);
    place at = {(size_t)(band * tall + in_band % high) * BM, (size_t)(in_band / high) * BN, 0, 0, BM, BN};
#if SHORT_A
    at.rows = (uint)m;
#else
    if (at.row + BM > m) {
        at.own_row = (uint)(at.row + BM - m);
        at.row = m - BM;
    }
#endif
#if SHORT_B
    at.columns = (uint)n;
#else
    if (at.column + BN > n) {
        at.own_column = (uint)(at.column + BN - n);
        at.column = n - BN;
    }
#endif
    return at;
}

// Four neighbours of a row, of those from `begin` to `end`. WHOLE_RUNS: it is always all of them; `to` is where the first goes.
static void put4(global OUT_T *out, size_t to, const SUM *sum, numbers s, const epilogue *e, const places *at, size_t row,
                 size_t column, uint begin, uint end) {
#if defined(WHOLE_RUNS) && defined(OUT_STORE4)
    RESULT v[4];
    #pragma unroll
    for (uint j = 0; j < 4; j++) v[j] = finish((RESULT)sum[j], s, e, at, row, column + j);
    OUT_STORE4(out, to, (RESULT4)(v[0], v[1], v[2], v[3]));
#else
    #pragma unroll
    for (uint j = 0; j < 4; j++)
        if (j >= begin && j < end) put(out, sum[j], s, e, at, row, column + j);
#endif
}

#ifdef CLUSTER
#define OWN (BM / CLUSTER * BN / ITEMS) // of the sums, for a work-item

// Each group of the cluster adds up some rows of the tile, in the order of the parts.
static void put_joined(global OUT_T *out, const SUM sum[TM][TN], local SUM *memory, numbers s, const epilogue *e, const places *at,
                       const place *here, uint y, uint x) {
    #pragma unroll
    for (uint p = 0; p < TM; p++)
        #pragma unroll
        for (uint q = 0; q < TN; q += 4)
            *(local SUM4 *)(memory + (y + p / 4 * LM * 4 + p % 4) * B_PITCH + x + q * LN) =
                (SUM4)(sum[p][q], sum[p][q + 1], sum[p][q + 2], sum[p][q + 3]);
    uint parts[CLUSTER];
    #pragma unroll
    for (uint part = 0; part < CLUSTER; part++) parts[part] = qn_cluster_address(memory, part);
    qn_cluster_barrier();
    SUM own[OWN];
    #pragma unroll
    for (uint j = 0; j < OWN; j++) {
        const uint i = get_local_id(0) + j * ITEMS, at_word = (PART * (BM / CLUSTER) + i / BN) * B_PITCH + i % BN;
        own[j] = 0;
        #pragma unroll
        for (uint part = 0; part < CLUSTER; part++) own[j] += AS_SUM(qn_cluster_read(parts[part] + at_word * sizeof(SUM)));
    }
    qn_cluster_barrier(); // all has been read
    #pragma unroll
    for (uint j = 0; j < OWN; j++) {
        const uint i = get_local_id(0) + j * ITEMS, r = PART * (BM / CLUSTER) + i / BN, c = i % BN;
        if (r >= here->own_row && r < here->rows && c >= here->own_column && c < here->columns)
            put(out, own[j], s, e, at, here->row + r, here->column + c);
    }
}
#endif

static void put_part(global SUM *work, const SUM *sum, numbers s, size_t row, size_t column, uint begin, uint end) {
    global SUM *to = work + ((get_group_id(1) * get_num_groups(2) + get_group_id(2)) * s.m + row) * s.n + column;
#ifdef WHOLE_RUNS
    *(global SUM4 *)to = (SUM4)(sum[0], sum[1], sum[2], sum[3]);
#else
    #pragma unroll
    for (uint j = 0; j < 4; j++)
        if (j >= begin && j < end) to[j] = sum[j];
#endif
}

#ifdef STAGED
// Single elements that neighbouring work-items write are neighbours if rows go through local memory: else each store of four times as many
// lines is a part of a sector, which takes an H200 three times as long. A row of each run of four at a time.
static void put_staged(global OUT_T *out, global SUM *work, const SUM sum[TM][TN], local SUM *memory, numbers s, const epilogue *e,
                       const places *at, const place *here, uint y, uint x) {
    const uint own = y / (LM * TM) * LM + y % (LM * TM) / 4;
    #pragma unroll
    for (uint p = 0; p < TM; p++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        #pragma unroll
        for (uint q = 0; q < TN; q += 4)
            *(local SUM4 *)(memory + own * B_PITCH + x + q * LN) = (SUM4)(sum[p][q], sum[p][q + 1], sum[p][q + 2], sum[p][q + 3]);
        barrier(CLK_LOCAL_MEM_FENCE);
        #pragma unroll
        for (uint j = 0; j < TN; j++) {
            const uint i = get_local_id(0) + j * ITEMS, line = i / BN, c = i % BN,
                       r = line / LM * (LM * TM) + line % LM * 4 + p / 4 * LM * 4 + p % 4;
            if (SHORT_A ? r >= here->rows : r < here->own_row) continue;
            if (SHORT_B ? c >= here->columns : c < here->own_column) continue;
            const SUM v = memory[line * B_PITCH + c];
#ifdef SPLIT
            work[((get_group_id(1) * get_num_groups(2) + get_group_id(2)) * s.m + here->row + r) * s.n + here->column + c] = v;
#else
            put(out, v, s, e, at, here->row + r, here->column + c);
#endif
        }
    }
}
#endif

kernel __attribute__((ATTRIBUTES)) void matmul(PARAMETERS) {
#ifdef CLUSTER
    local SUM memory[TILES > JOINED ? TILES : JOINED] __attribute__((aligned(32)));
#else
    local SUM memory[TILES] __attribute__((aligned(32)));
#endif
    const places at = places_of(s, get_group_id(2));
    const place here = place_of(s.m, s.n);
    const ulong first = PART * s.part, k = first < s.k ? min(s.part, s.k - first) : 0; // a cluster's last parts may be empty
    operand of_a = operand_of(false, a, at.a + here.row * s.a_row + first * s.a_k, s.a_row, s.a_k, here.rows),
            of_b = operand_of(true, b, at.b + here.column * s.b_column + first * s.b_k, s.b_column, s.b_k, here.columns);
    const uint item = get_local_id(0), band_of = item / (LM * LN), lane = item % (LM * LN);
    const uint y = band_of / WN * (LM * TM) + (lane / (LN * 2) * 2 + lane % 2) * 4,
               x = band_of % WN * (LN * TN) + lane / 2 % LN * 4;
    SUM sum[TM][TN];
    #pragma unroll
    for (uint p = 0; p < TM; p++)
        #pragma unroll
        for (uint q = 0; q < TN; q++) sum[p][q] = 0;

    // What is left over of k comes first, so that all steps behind it are whole ones.
    if (k > 0) {
        const uint left = (uint)(k % BK), steps = (uint)(k / BK) + (left > 0);
        local SUM *const a_tile = memory, *const b_tile = memory + 2 * A_TILE;
        keep_both(fetch_both(&of_a, &of_b, left ? left : BK), a_tile, b_tile);
        barrier(CLK_LOCAL_MEM_FENCE);
        uint now = 0;
        fragments f = read(a_tile, b_tile, 0, y, x);
        // The barrier and the first fragments of the next tiles are waited for behind the last products of these.
        for (uint step = 1; step < steps; step++, now ^= 1) {
            const pieces next = fetch_both(&of_a, &of_b, BK);
            multiply_tile(sum, &f, a_tile + now * A_TILE, b_tile + now * B_TILE, y, x);
            local SUM *const next_a = a_tile + (now ^ 1) * A_TILE, *const next_b = b_tile + (now ^ 1) * B_TILE;
            keep_both(next, next_a, next_b);
            barrier(CLK_LOCAL_MEM_FENCE);
            const fragments first_ones = read(next_a, next_b, 0, y, x);
            multiply(sum, f);
            f = first_ones;
        }
        multiply_tile(sum, &f, a_tile + now * A_TILE, b_tile + now * B_TILE, y, x);
        multiply(sum, f);
    }

    const epilogue e = EPILOGUE;
#ifdef CLUSTER
    barrier(CLK_LOCAL_MEM_FENCE); // the last tiles have been read
    put_joined(out, sum, memory, s, &e, &at, &here, y, x);
#elif defined(STAGED)
    put_staged(out, work, sum, memory, s, &e, &at, &here, y, x);
#else
    #pragma unroll
    for (uint p = 0; p < TM; p++) {
        const uint r = y + p / 4 * LM * 4 + p % 4;
        const size_t row = here.row + r, column = here.column + x, to = at.out + row * s.out_row + column;
        if (SHORT_A ? r >= here.rows : r < here.own_row) continue;
        #pragma unroll
        for (uint q = 0; q < TN; q += 4) {
            const uint c = x + q * LN;
            if (SHORT_B ? c >= here.columns : c + 4 <= here.own_column) continue;
            const uint begin = !SHORT_B && c < here.own_column ? here.own_column - c : 0,
                       end = SHORT_B ? min(here.columns - c, (uint)4) : 4;
#ifdef SPLIT
            put_part(work, &sum[p][q], s, row, column + q * LN, begin, end);
#else
            put4(out, to + q * LN, &sum[p][q], s, &e, &at, row, column + q * LN, begin, end);
#endif
        }
    }
#endif
}
