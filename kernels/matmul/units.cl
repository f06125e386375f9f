// qn_matmul by matrix units (qn_matrix in docs/language.md), for the types that they take. WM by WN sub-groups compute SM by SN
// elements each. By -D A_UNIT, B_UNIT: the operands' types in the language; BITS: an integer of their size, as which they are
// moved; SIZE, its bytes. Tiles lie in local memory as in global memory: fragments are loaded in either order.
// Groups: as in tile.cl.
#include "numbers.h"

#define BM     (WM * SM)
#define BN     (WN * SN)
#define BK     (64 / SIZE) // one step along k: 64 bytes
#define FK     (32 / SIZE) // of a fragment
#define PIECE  (16 / SIZE) // elements that are moved at once
#define PAD    PIECE       // keeps rows in different banks
#define BAND   8           // tiles
#define LINES(along_k, side)  ((along_k) ? (side) : BK)
#define LENGTH(along_k, side) ((along_k) ? BK : (side))
#define PITCH(along_k, side)  (LENGTH(along_k, side) + PAD)
#define PARTS(side)           ((side) * BK / PIECE / ITEMS)

// One operand: where the tile begins, strides along its side and along k, and how many there are of each from there on.
typedef struct operand {
    size_t begin;
    long side, along;
    ulong sides, alongs;
} operand;

// Where piece `i` of a tile begins.
typedef struct corner {
    uint side, k, at;
} corner;

static corner corner_of(bool along_k, uint side, uint i) {
    const uint per = LENGTH(along_k, side) / PIECE, line = i / per, from = i % per * PIECE;
    const corner c = {along_k ? line : from, along_k ? from : line, line * PITCH(along_k, side) + from};
    return c;
}

static uint4 fetch(bool vectors, bool along_k, global const BITS *p, operand o, corner c, ulong k) {
    const size_t at = o.begin + c.side * o.side + (k + c.k) * o.along;
    if (vectors) return *(global const uint4 *)(p + at);
    union {
        BITS each[PIECE];
        uint4 all;
    } u;
    const long next = along_k ? o.along : o.side;
    #pragma unroll
    for (uint j = 0; j < PIECE; j++) u.each[j] = p[at + j * next];
    return u.all;
}

// At the edges, an element at a time; what is beyond is 0.
static void keep_checked(bool along_k, global const BITS *p, operand o, corner c, ulong k, local BITS *tile) {
    #pragma unroll
    for (uint j = 0; j < PIECE; j++) {
        const ulong side = c.side + (along_k ? 0 : j), at = k + c.k + (along_k ? j : 0);
        tile[c.at + j] = side < o.sides && at < o.alongs ? p[o.begin + side * o.side + at * o.along] : (BITS)0;
    }
}

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void matmul(PARAMETERS) {
    local A_UNIT a_tile[2][LINES(A_ALONG_K, BM) * PITCH(A_ALONG_K, BM)] __attribute__((aligned(16)));
    local B_UNIT b_tile[2][LINES(B_ALONG_K, BN) * PITCH(B_ALONG_K, BN)] __attribute__((aligned(16)));
    global const BITS *a_bits = (global const BITS *)a, *b_bits = (global const BITS *)b;
    const places at = places_of(s, get_group_id(2));
    const ulong across = (s.n + BN - 1) / BN, down = (s.m + BM - 1) / BM, group = get_group_id(0);
    const ulong band = group / (BAND * across), in_band = group % (BAND * across), high = min(down - band * BAND, (ulong)BAND);
    const size_t row = (band * BAND + in_band % high) * BM, column = in_band / high * BN;
    const ulong first = get_group_id(1) * s.part, k = min(s.part, s.k - first);
    const operand of_a = {at.a + row * s.a_row + first * s.a_k, s.a_row, s.a_k, s.m - row, k},
                  of_b = {at.b + column * s.b_column + first * s.b_k, s.b_column, s.b_k, s.n - column, k};
    const uint item = get_local_id(0), y = get_sub_group_id() / WN * SM, x = get_sub_group_id() % WN * SN;
    const bool inside = s.m - row >= BM && s.n - column >= BN;
    const ulong whole = inside ? k / BK * BK : 0; // of k: what is taken without checks

    qn_matrix(SUM, SM, SN, qn_use_accumulator) sum;
    qn_matrix_fill(&sum, 0);
    uint4 of_next_a[PARTS(BM)], of_next_b[PARTS(BN)];
    uint now = 0;
    for (ulong step = 0; step < k; step += BK, now ^= 1) {
        local BITS *a_to = (local BITS *)a_tile[now], *b_to = (local BITS *)b_tile[now];
        if (step < whole) {
            if (step == 0) {
                #pragma unroll
                for (uint i = 0; i < PARTS(BM); i++)
                    of_next_a[i] = fetch(A_VECTORS, A_ALONG_K, a_bits, of_a, corner_of(A_ALONG_K, BM, item + i * ITEMS), 0);
                #pragma unroll
                for (uint i = 0; i < PARTS(BN); i++)
                    of_next_b[i] = fetch(B_VECTORS, B_ALONG_K, b_bits, of_b, corner_of(B_ALONG_K, BN, item + i * ITEMS), 0);
            }
            #pragma unroll
            for (uint i = 0; i < PARTS(BM); i++)
                *(local uint4 *)(a_to + corner_of(A_ALONG_K, BM, item + i * ITEMS).at) = of_next_a[i];
            #pragma unroll
            for (uint i = 0; i < PARTS(BN); i++)
                *(local uint4 *)(b_to + corner_of(B_ALONG_K, BN, item + i * ITEMS).at) = of_next_b[i];
        } else {
            for (uint i = 0; i < PARTS(BM); i++)
                keep_checked(A_ALONG_K, a_bits, of_a, corner_of(A_ALONG_K, BM, item + i * ITEMS), step, a_to);
            for (uint i = 0; i < PARTS(BN); i++)
                keep_checked(B_ALONG_K, b_bits, of_b, corner_of(B_ALONG_K, BN, item + i * ITEMS), step, b_to);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (step + BK < whole) { // the next pieces are on their way while these are multiplied
            #pragma unroll
            for (uint i = 0; i < PARTS(BM); i++)
                of_next_a[i] = fetch(A_VECTORS, A_ALONG_K, a_bits, of_a, corner_of(A_ALONG_K, BM, item + i * ITEMS), step + BK);
            #pragma unroll
            for (uint i = 0; i < PARTS(BN); i++)
                of_next_b[i] = fetch(B_VECTORS, B_ALONG_K, b_bits, of_b, corner_of(B_ALONG_K, BN, item + i * ITEMS), step + BK);
        }
        #pragma unroll
        for (uint i = 0; i < BK; i += FK) {
            qn_matrix(A_UNIT, SM, FK, qn_use_a) from_a;
            qn_matrix(B_UNIT, FK, SN, qn_use_b) from_b;
#if A_ALONG_K
            qn_matrix_load(&from_a, &a_tile[now][y * PITCH(true, BM) + i], PITCH(true, BM), qn_row_major);
#else
            qn_matrix_load(&from_a, &a_tile[now][i * PITCH(false, BM) + y], PITCH(false, BM), qn_column_major);
#endif
#if B_ALONG_K
            qn_matrix_load(&from_b, &b_tile[now][x * PITCH(true, BN) + i], PITCH(true, BN), qn_column_major);
#else
            qn_matrix_load(&from_b, &b_tile[now][i * PITCH(false, BN) + x], PITCH(false, BN), qn_row_major);
#endif
            qn_matrix_multiply_add(&sum, &from_a, &from_b);
        }
    }

    const epilogue e = EPILOGUE;
    #pragma unroll
    for (int i = 0; i < qn_matrix_length(&sum); i++) {
        const size_t r = row + y + qn_matrix_row(&sum, i), c0 = column + x + qn_matrix_column(&sum, i);
        if (r >= s.m || c0 >= s.n) continue;
#ifdef SPLIT
        work[((get_group_id(1) * get_num_groups(2) + get_group_id(2)) * s.m + r) * s.n + c0] = qn_matrix_get(&sum, i);
#else
        put(out, qn_matrix_get(&sum, i), s, &e, &at, r, c0);
#endif
    }
}
