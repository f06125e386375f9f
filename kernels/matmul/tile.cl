// qn_matmul by tiles: rung 9 for any type, strides and epilogue, with the sizes of the tiles by -D. A group's work-items are
// WM by WN bands of LM by LN lanes, each of which computes TM by TN elements: runs of four rows and of four columns.
// A_ALONG_K: four neighbours of A are taken along k (else along its rows), A_VECTORS: in one load. The same for B.
// Groups: tiles of C in one dimension; parts of k (SPLIT: their sums go to `work`, for finish.cl); batches.
#include "numbers.h"

#define ITEMS   (WM * WN * LM * LN)
#define BM      (WM * LM * TM)
#define BN      (WN * LN * TN)
#define A_PITCH (BM + 4)
#define B_PITCH (BN + 4)
#define A_PARTS (BM * BK / 4 / ITEMS)
#define B_PARTS (BN * BK / 4 / ITEMS)
#define BAND    8 // tiles

// One operand: where the tile begins, the strides along its side (rows of A, columns of B) and along k, and how many there
// are of each from there on.
typedef struct operand {
    size_t begin;
    long side, along;
    ulong sides, alongs;
} operand;

static SUM load_one(bool of_b, global const void *p, size_t i) {
    return of_b ? (SUM)B_LOAD((global const B_T *)p, i) : (SUM)A_LOAD((global const A_T *)p, i);
}

// Four from `side` and `k` on, which are there.
static SUM4 fetch(bool of_b, global const void *p, const operand *o, uint side, ulong k) {
    const bool along_k = of_b ? B_ALONG_K : A_ALONG_K;
    const size_t at = o->begin + side * o->side + k * o->along;
    if (of_b ? B_VECTORS : A_VECTORS)
        return of_b ? B_LOAD4((global const B_T *)p, at) : A_LOAD4((global const A_T *)p, at);
    const long next = along_k ? o->along : o->side;
    return (SUM4)(load_one(of_b, p, at), load_one(of_b, p, at + next), load_one(of_b, p, at + 2 * next),
                  load_one(of_b, p, at + 3 * next));
}

static SUM load_checked(bool of_b, global const void *p, const operand *o, ulong side, ulong k) {
    return side < o->sides && k < o->alongs ? load_one(of_b, p, o->begin + side * o->side + k * o->along) : 0;
}

static SUM4 fetch_checked(bool of_b, global const void *p, const operand *o, uint side, ulong k) {
    if (of_b ? B_ALONG_K : A_ALONG_K)
        return (SUM4)(load_checked(of_b, p, o, side, k), load_checked(of_b, p, o, side, k + 1),
                      load_checked(of_b, p, o, side, k + 2), load_checked(of_b, p, o, side, k + 3));
    return (SUM4)(load_checked(of_b, p, o, side, k), load_checked(of_b, p, o, side + 1, k),
                  load_checked(of_b, p, o, side + 2, k), load_checked(of_b, p, o, side + 3, k));
}

// A work-item's part of the tiles.
typedef struct part {
    SUM4 a[A_PARTS], b[B_PARTS];
} part;

static uint side_of(bool along_k, uint piece, uint sides) { return along_k ? piece / (BK / 4) : piece % (sides / 4) * 4; }
static uint k_of(bool along_k, uint piece, uint sides) { return along_k ? piece % (BK / 4) * 4 : piece / (sides / 4); }

static part fetch_part(bool checked, global const void *a, const operand *of_a, global const void *b, const operand *of_b,
                       ulong k) {
    part t;
    #pragma unroll
    for (uint i = 0; i < A_PARTS; i++) {
        const uint piece = get_local_id(0) + i * ITEMS, side = side_of(A_ALONG_K, piece, BM);
        const ulong at = k + k_of(A_ALONG_K, piece, BM);
        t.a[i] = checked ? fetch_checked(false, a, of_a, side, at) : fetch(false, a, of_a, side, at);
    }
    #pragma unroll
    for (uint i = 0; i < B_PARTS; i++) {
        const uint piece = get_local_id(0) + i * ITEMS, side = side_of(B_ALONG_K, piece, BN);
        const ulong at = k + k_of(B_ALONG_K, piece, BN);
        t.b[i] = checked ? fetch_checked(true, b, of_b, side, at) : fetch(true, b, of_b, side, at);
    }
    return t;
}

static void keep_one(SUM4 v, bool along_k, local SUM *tile, uint pitch, uint side, uint k) {
    local SUM *to = tile + k * pitch + side;
    if (along_k) {
        to[0] = v.x;
        to[pitch] = v.y;
        to[2 * pitch] = v.z;
        to[3 * pitch] = v.w;
    } else {
        *(local SUM4 *)to = v;
    }
}

static void keep(part t, local SUM *a_tile, local SUM *b_tile) {
    #pragma unroll
    for (uint i = 0; i < A_PARTS; i++) {
        const uint piece = get_local_id(0) + i * ITEMS;
        keep_one(t.a[i], A_ALONG_K, a_tile, A_PITCH, side_of(A_ALONG_K, piece, BM), k_of(A_ALONG_K, piece, BM));
    }
    #pragma unroll
    for (uint i = 0; i < B_PARTS; i++) {
        const uint piece = get_local_id(0) + i * ITEMS;
        keep_one(t.b[i], B_ALONG_K, b_tile, B_PITCH, side_of(B_ALONG_K, piece, BN), k_of(B_ALONG_K, piece, BN));
    }
}

static void spread(SUM *to, local const SUM *from) {
    const SUM4 v = *(local const SUM4 *)from;
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
    to[3] = v.w;
}

// Columns outside, rows inside, up and down in turn: two multiplications after each other share an operand.
static void multiply(SUM sum[TM][TN], local const SUM *a_tile, local const SUM *b_tile, uint y, uint x) {
    #pragma unroll
    for (uint i = 0; i < BK; i++) {
        SUM rows[TM], columns[TN];
        #pragma unroll
        for (uint p = 0; p < TM / 4; p++) spread(rows + p * 4, a_tile + i * A_PITCH + y + p * LM * 4);
        #pragma unroll
        for (uint q = 0; q < TN / 4; q++) spread(columns + q * 4, b_tile + i * B_PITCH + x + q * LN * 4);
        #pragma unroll
        for (uint q = 0; q < TN; q++)
            #pragma unroll
            for (uint r = 0; r < TM; r++) {
                const uint p = q % 2 ? TM - 1 - r : r;
                sum[p][q] = MULTIPLY_ADD(rows[p], columns[q], sum[p][q]);
            }
    }
}

// Four neighbours of a row, `count` of which are there.
static void put4(global OUT_T *out, const SUM *sum, numbers s, const epilogue *e, const places *at, size_t row,
                 size_t column, uint count) {
#ifdef OUT_STORE4
    if (count == 4) {
        RESULT v[4];
        #pragma unroll
        for (uint j = 0; j < 4; j++) v[j] = finish((RESULT)sum[j], s, e, at, row, column + j);
        OUT_STORE4(out, at->out + row * s.out_row + column, (RESULT4)(v[0], v[1], v[2], v[3]));
        return;
    }
#endif
    #pragma unroll
    for (uint j = 0; j < 4; j++)
        if (j < count) put(out, sum[j], s, e, at, row, column + j);
}

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void matmul(PARAMETERS) {
    local SUM a_tile[2][BK * A_PITCH] __attribute__((aligned(32))), b_tile[2][BK * B_PITCH] __attribute__((aligned(32)));
    const places at = places_of(s, get_group_id(2));
    const ulong across = (s.n + BN - 1) / BN, down = (s.m + BM - 1) / BM, group = get_group_id(0);
    const ulong band = group / (BAND * across), in_band = group % (BAND * across), high = min(down - band * BAND, (ulong)BAND);
    const size_t row = (band * BAND + in_band % high) * BM, column = in_band / high * BN;
    const ulong first = get_group_id(1) * s.part, k = min(s.part, s.k - first);
    const operand of_a = {at.a + row * s.a_row + first * s.a_k, s.a_row, s.a_k, s.m - row, k},
                  of_b = {at.b + column * s.b_column + first * s.b_k, s.b_column, s.b_k, s.n - column, k};
    const uint item = get_local_id(0), band_of = item / (LM * LN), lane = item % (LM * LN);
    const uint y = band_of / WN * (LM * TM) + (lane / (LN * 2) * 2 + lane % 2) * 4,
               x = band_of % WN * (LN * TN) + lane / 2 % LN * 4;
    SUM sum[TM][TN];
    #pragma unroll
    for (uint p = 0; p < TM; p++)
        #pragma unroll
        for (uint q = 0; q < TN; q++) sum[p][q] = 0;

    const bool inside = s.m - row >= BM && s.n - column >= BN;
    const ulong whole = inside ? k / BK * BK : 0; // of k: what is taken without checks
    if (k > 0) {
        const part t = whole ? fetch_part(false, a, &of_a, b, &of_b, 0) : fetch_part(true, a, &of_a, b, &of_b, 0);
        keep(t, a_tile[0], b_tile[0]);
        barrier(CLK_LOCAL_MEM_FENCE);
        uint now = 0;
        ulong step = BK;
        for (; step < whole; step += BK, now ^= 1) {
            const part next = fetch_part(false, a, &of_a, b, &of_b, step);
            multiply(sum, a_tile[now], b_tile[now], y, x);
            keep(next, a_tile[now ^ 1], b_tile[now ^ 1]);
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        for (; step < k; step += BK, now ^= 1) {
            const part next = fetch_part(true, a, &of_a, b, &of_b, step);
            multiply(sum, a_tile[now], b_tile[now], y, x);
            keep(next, a_tile[now ^ 1], b_tile[now ^ 1]);
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        multiply(sum, a_tile[now], b_tile[now], y, x);
    }

    const epilogue e = EPILOGUE;
    #pragma unroll
    for (uint p = 0; p < TM; p++) {
        const size_t r = row + y + p / 4 * LM * 4 + p % 4;
        #pragma unroll
        for (uint q = 0; q < TN; q += 4) {
            const size_t c0 = column + x + q * LN;
            if (r >= s.m || c0 >= s.n) continue;
            const uint count = (uint)min((ulong)4, s.n - c0);
#ifdef SPLIT
            global SUM *to = work + ((get_group_id(1) * get_num_groups(2) + get_group_id(2)) * s.m + r) * s.n + c0;
            #pragma unroll
            for (uint j = 0; j < 4; j++)
                if (j < count) to[j] = sum[p][q + j];
#else
            put4(out, &sum[p][q], s, &e, &at, r, c0, count);
#endif
        }
    }
}
