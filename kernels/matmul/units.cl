// qn_kernels_matmul by matrix units (qn_matrix in docs/language.md), for the types that they take. WM by WN sub-groups of LANES
// work-items compute SM by SN elements each, as fragments of 16 by 16. By -D: A_UNIT, B_UNIT: the operands' types in the
// language; BITS: an integer of their size, as which they are moved; SIZE, its bytes. Tiles lie in local memory as in global
// memory, in pieces of 16 bytes: fragments are loaded in either order.
// Groups: as in tile.cl.
#include "numbers.h"

#define BM     (WM * SM)
#define BN     (WN * SN)
#define PIECE  (16 / SIZE)     // elements of 16 bytes, which are moved at once
#define BK     (BYTES / SIZE)  // one step along k
#define FK     (32 / SIZE)     // of a fragment
#define SIDE   16              // its rows and columns
#define STRIP  (SIDE + 4)      // a row of a fragment of sums in local memory
#define BAND   8               // tiles
#define LINES(along_k, side) ((along_k) ? (side) : BK)
#define PITCH(along_k, side) (((along_k) ? BK : (side)) / PIECE + 1) // pieces of a line; one more: other banks for the next
#define PARTS(side)          ((side) * BK / PIECE / ITEMS)

// One operand: where the tile begins, strides along its side and along k, and how many there are of each from there on.
typedef struct operand {
    size_t begin;
    long side, along;
    ulong sides, alongs;
} operand;

// Where piece `i` of a tile begins, and its number in local memory.
typedef struct corner {
    uint side, k, at;
} corner;

static corner corner_of(bool along_k, uint side, uint i) {
    const uint per = PITCH(along_k, side) - 1, line = i / per, from = i % per * PIECE;
    const corner c = {along_k ? line : from, along_k ? from : line, line * (per + 1) + from / PIECE};
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

// At the edges; what is beyond is 0.
static uint4 fetch_checked(bool along_k, global const BITS *p, operand o, corner c, ulong k) {
    union {
        BITS each[PIECE];
        uint4 all;
    } u;
    #pragma unroll
    for (uint j = 0; j < PIECE; j++) {
        const ulong side = c.side + (along_k ? 0 : j), at = k + c.k + (along_k ? j : 0);
        u.each[j] = side < o.sides && at < o.alongs ? p[o.begin + side * o.side + at * o.along] : (BITS)0;
    }
    return u.all;
}

// A work-item's pieces of the next tiles, inside of the matrices.
typedef struct pieces {
    uint4 a[PARTS(BM)], b[PARTS(BN)];
} pieces;

static void bring(pieces *next, global const BITS *a, global const BITS *b, operand of_a, operand of_b, ulong k) {
    const uint item = get_local_id(0);
    #pragma unroll
    for (uint i = 0; i < PARTS(BM); i++)
        next->a[i] = fetch(A_VECTORS, A_ALONG_K, a, of_a, corner_of(A_ALONG_K, BM, item + i * ITEMS), k);
    #pragma unroll
    for (uint i = 0; i < PARTS(BN); i++)
        next->b[i] = fetch(B_VECTORS, B_ALONG_K, b, of_b, corner_of(B_ALONG_K, BN, item + i * ITEMS), k);
}

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void matmul(PARAMETERS) {
    local uint4 a_tile[2][LINES(A_ALONG_K, BM) * PITCH(A_ALONG_K, BM)], b_tile[2][LINES(B_ALONG_K, BN) * PITCH(B_ALONG_K, BN)];
    local SUM strips[WM * WN][SIDE * STRIP];
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

    qn_matrix(SUM, SIDE, SIDE, qn_use_accumulator) sum[SM / SIDE][SN / SIDE];
    #pragma unroll
    for (uint i = 0; i < SM / SIDE; i++)
        #pragma unroll
        for (uint j = 0; j < SN / SIDE; j++) qn_matrix_fill(&sum[i][j], 0);
    pieces next;
    uint now = 0;
    if (whole > 0) bring(&next, a_bits, b_bits, of_a, of_b, 0);
    for (ulong step = 0; step < k; step += BK, now ^= 1) {
        if (step < whole) {
            #pragma unroll
            for (uint i = 0; i < PARTS(BM); i++) a_tile[now][corner_of(A_ALONG_K, BM, item + i * ITEMS).at] = next.a[i];
            #pragma unroll
            for (uint i = 0; i < PARTS(BN); i++) b_tile[now][corner_of(B_ALONG_K, BN, item + i * ITEMS).at] = next.b[i];
        } else {
            #pragma unroll 1
            for (uint i = item; i < PARTS(BM) * ITEMS; i += ITEMS) {
                const corner c = corner_of(A_ALONG_K, BM, i);
                a_tile[now][c.at] = fetch_checked(A_ALONG_K, a_bits, of_a, c, step);
            }
            #pragma unroll 1
            for (uint i = item; i < PARTS(BN) * ITEMS; i += ITEMS) {
                const corner c = corner_of(B_ALONG_K, BN, i);
                b_tile[now][c.at] = fetch_checked(B_ALONG_K, b_bits, of_b, c, step);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        // The next pieces are on their way while these are multiplied.
        if (step + BK < whole) bring(&next, a_bits, b_bits, of_a, of_b, step + BK);
        #pragma unroll
        for (uint i = 0; i < BK; i += FK) {
            qn_matrix(A_UNIT, SIDE, FK, qn_use_a) from_a[SM / SIDE];
            qn_matrix(B_UNIT, FK, SIDE, qn_use_b) from_b[SN / SIDE];
            #pragma unroll
            for (uint p = 0; p < SM; p += SIDE) {
                const uint place = A_ALONG_K ? (y + p) * PITCH(true, BM) + i / PIECE : i * PITCH(false, BM) + (y + p) / PIECE;
                qn_matrix_load(&from_a[p / SIDE], (local const A_UNIT *)&a_tile[now][place], PITCH(A_ALONG_K, BM) * PIECE,
                               A_ALONG_K ? qn_row_major : qn_column_major);
            }
            #pragma unroll
            for (uint q = 0; q < SN; q += SIDE) {
                const uint place = B_ALONG_K ? (x + q) * PITCH(true, BN) + i / PIECE : i * PITCH(false, BN) + (x + q) / PIECE;
                qn_matrix_load(&from_b[q / SIDE], (local const B_UNIT *)&b_tile[now][place], PITCH(B_ALONG_K, BN) * PIECE,
                               B_ALONG_K ? qn_column_major : qn_row_major);
            }
            #pragma unroll
            for (uint p = 0; p < SM / SIDE; p++)
                #pragma unroll
                for (uint q = 0; q < SN / SIDE; q++) qn_matrix_multiply_add(&sum[p][q], &from_a[p], &from_b[q]);
        }
    }

    // Where elements are in fragments is the device's own: sums go through local memory, a fragment at a time.
    const epilogue e = EPILOGUE;
    local SUM *strip = strips[get_sub_group_id()];
    #pragma unroll
    for (uint p = 0; p < SM / SIDE; p++)
        #pragma unroll
        for (uint q = 0; q < SN / SIDE; q++) {
            qn_matrix_store(&sum[p][q], strip, STRIP, qn_row_major);
            sub_group_barrier(CLK_LOCAL_MEM_FENCE);
            for (uint i = get_sub_group_local_id(); i < SIDE * SIDE; i += LANES) {
                const size_t r = row + y + p * SIDE + i / SIDE, c0 = column + x + q * SIDE + i % SIDE;
                const SUM v = strip[i / SIDE * STRIP + i % SIDE];
                if (r >= s.m || c0 >= s.n) continue;
#ifdef SPLIT
                work[((get_group_id(1) * get_num_groups(2) + get_group_id(2)) * s.m + r) * s.n + c0] = v;
#else
                put(out, v, s, &e, &at, r, c0);
#endif
            }
            sub_group_barrier(CLK_LOCAL_MEM_FENCE);
        }
}
