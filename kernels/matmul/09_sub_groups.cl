// Rung 9: tiles of sub-groups; the tuned kernel for 32-bit floats.
// What it adds:
// - 8 by 16 elements a work-item: 6 loads of 16 bytes from local memory for 128 multiplications, where rung 7 has 4 for 64.
// - Each quarter of the group, 32 work-items in step, has 64 by 64 to itself, in which they stand 8 by 4: what they read from
//   local memory together is 128 bytes of A and 64 of B, each of which several of them share.
// - The next tiles are on their way in registers while these are multiplied, and go into the other half of local memory:
//   one barrier a step. The last step stands alone, so that no step asks whether it is the last.
// - What is multiplied next is read from local memory before what is there is multiplied, across the barrier too.
// - Columns outside, rows inside, up and down in turn: two multiplications after each other share an operand, which the
//   register file then reads once. Of the rows one of each half follows the other: so the compiler is free to put what is
//   read together into different banks of registers.
// - Groups that run together compute a band of C eight tiles high, for which the cache holds what they share.
// - Groups inside of the matrices ask nothing about edges.
// A group of 128 computes 128 by 128. Global size: 128 times the number of such tiles, in one dimension.
#include "edges.h"

#define SIDE  128
#define STEP  8
#define PITCH (SIDE + 4) // of a row of A's tile: what is written together lies in different banks
#define BAND  8          // tiles

// A work-item's part of the tiles: of A two runs of four along k, of B two runs of four along n.
typedef struct part {
    float4 a[2], b[2];
} part;

// Where its part of the next tiles is, inside of the matrices.
typedef struct place {
    global const float *a, *b;
} place;

static part fetch(uint n, uint k, place *from) {
    part t;
    t.a[0] = *(global const float4 *)from->a;
    t.a[1] = *(global const float4 *)(from->a + (size_t)64 * k);
    t.b[0] = *(global const float4 *)from->b;
    t.b[1] = *(global const float4 *)(from->b + (size_t)4 * n);
    from->a += STEP;
    from->b += (size_t)STEP * n;
    return t;
}

// The same at the edges.
static part fetch_checked(uint m, uint n, uint k, global const float *a, global const float *b, size_t row, size_t column,
                          uint step) {
    const uint item = get_local_id(0);
    part t;
    #pragma unroll
    for (uint p = 0; p < 2; p++) {
        t.a[p] = load4(a, m, k, row + item / 2 + p * 64, step + item % 2 * 4);
        t.b[p] = load4(b, k, n, step + item / 32 + p * 4, column + item % 32 * 4);
    }
    return t;
}

static void keep(part t, local float (*a_tile)[PITCH], local float (*b_tile)[SIDE]) {
    const uint item = get_local_id(0), column = item % 2 * 4, row = item / 2;
    #pragma unroll
    for (uint p = 0; p < 2; p++) {
        a_tile[column][row + p * 64] = t.a[p].x;
        a_tile[column + 1][row + p * 64] = t.a[p].y;
        a_tile[column + 2][row + p * 64] = t.a[p].z;
        a_tile[column + 3][row + p * 64] = t.a[p].w;
        *(local float4 *)&b_tile[item / 32 + p * 4][item % 32 * 4] = t.b[p];
    }
}

// Four neighbours in local memory.
static void spread(float *to, local const float *from) {
    const float4 v = *(local const float4 *)from;
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
    to[3] = v.w;
}

// What a work-item multiplies for one k.
typedef struct fragments {
    float rows[8], columns[16];
} fragments;

static fragments read(local const float (*a_tile)[PITCH], local const float (*b_tile)[SIDE], uint k, uint y, uint x) {
    fragments f;
    #pragma unroll
    for (uint p = 0; p < 2; p++) spread(f.rows + p * 4, &a_tile[k][y + p * 32]);
    #pragma unroll
    for (uint q = 0; q < 4; q++) spread(f.columns + q * 4, &b_tile[k][x + q * 16]);
    return f;
}

static void multiply(float sum[8][16], fragments f) {
    #pragma unroll
    for (uint q = 0; q < 16; q++)
        #pragma unroll
        for (uint i = 0; i < 8; i++) {
            const uint r = q % 2 ? 7 - i : i, p = r % 2 * 4 + r / 2;
            sum[p][q] = fma(f.rows[p], f.columns[q], sum[p][q]);
        }
}

// The products of a tile's ks but the last, whose fragments are left in `f`.
static void multiply_tile(float sum[8][16], fragments *f, local const float (*a_tile)[PITCH], local const float (*b_tile)[SIDE],
                          uint y, uint x) {
    #pragma unroll
    for (uint k = 1; k < STEP; k++) {
        const fragments next = read(a_tile, b_tile, k, y, x);
        multiply(sum, *f);
        *f = next;
    }
}

kernel __attribute__((reqd_work_group_size(128, 1, 1))) void
matmul(uint m, uint n, uint k, global const float *restrict a, global const float *restrict b, global float *restrict c) {
    local float a_tile[2][STEP][PITCH] __attribute__((aligned(16))), b_tile[2][STEP][SIDE] __attribute__((aligned(16)));
    const uint across = (n + SIDE - 1) / SIDE, down = (m + SIDE - 1) / SIDE, group = get_group_id(0);
    const uint band = group / (BAND * across), in_band = group % (BAND * across), high = min(down - band * BAND, (uint)BAND);
    const size_t row = (size_t)(band * BAND + in_band % high) * SIDE, column = (size_t)(in_band / high) * SIDE;
    const bool inside = row + SIDE <= m && column + SIDE <= n && k > 0 && k % STEP == 0 && n % 4 == 0;
    const uint item = get_local_id(0), lane = item % 32;
    const uint y = item / 64 * 64 + (lane / 8 * 2 + lane % 2) * 4, x = item / 32 % 2 * 64 + lane / 2 % 4 * 4;
    float sum[8][16];
    #pragma unroll
    for (uint p = 0; p < 8; p++)
        #pragma unroll
        for (uint q = 0; q < 16; q++) sum[p][q] = 0.0f;
    if (inside) {
        place from = {a + (row + item / 2) * k + item % 2 * 4, b + (size_t)(item / 32) * n + column + item % 32 * 4};
        keep(fetch(n, k, &from), a_tile[0], b_tile[0]);
        barrier(CLK_LOCAL_MEM_FENCE);
        uint half_of = 0;
        fragments f = read(a_tile[0], b_tile[0], 0, y, x);
        for (uint step = STEP; step < k; step += STEP) {
            const part next = fetch(n, k, &from);
            multiply_tile(sum, &f, a_tile[half_of], b_tile[half_of], y, x);
            half_of ^= 1;
            keep(next, a_tile[half_of], b_tile[half_of]);
            barrier(CLK_LOCAL_MEM_FENCE);
            const fragments first = read(a_tile[half_of], b_tile[half_of], 0, y, x);
            multiply(sum, f);
            f = first;
        }
        multiply_tile(sum, &f, a_tile[half_of], b_tile[half_of], y, x);
        multiply(sum, f);
    } else {
        for (uint step = 0; step < k; step += STEP) {
            keep(fetch_checked(m, n, k, a, b, row, column, step), a_tile[0], b_tile[0]);
            barrier(CLK_LOCAL_MEM_FENCE);
            fragments f = read(a_tile[0], b_tile[0], 0, y, x);
            multiply_tile(sum, &f, a_tile[0], b_tile[0], y, x);
            multiply(sum, f);
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
    #pragma unroll
    for (uint p = 0; p < 8; p++)
        #pragma unroll
        for (uint q = 0; q < 4; q++)
            store4(c, m, n, row + y + p / 4 * 32 + p % 4, column + x + q * 16,
                   (float4)(sum[p][q * 4], sum[p][q * 4 + 1], sum[p][q * 4 + 2], sum[p][q * 4 + 3]));
}
