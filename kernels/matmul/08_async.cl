// Rung 8: two halves of local memory, filled by async copies.
// What it adds: the next tiles come while these are multiplied. The group starts the copies into one half and works on the
// other; one wait a step takes the place of two barriers. On devices that copy by themselves (CUDA from sm_80 on) the data goes
// past the registers. A's tile is gathered a column at a time, so that it lies transposed as in rung 7.
// What it shows on an NVIDIA GPU: it is slower than rung 7 there. B's rows go in pieces of 16 bytes, A's columns in single
// floats, each from a row of its own; such copies cost as much as loads and have no registers to gather in. Rung 9 goes back
// to loads, which it puts between the multiplications.
#include "edges.h"

#define SIDE 128
#define STEP 8

static event_t start(uint m, uint n, uint k, global const float *a, global const float *b, size_t row, size_t column, uint step,
                     local float (*a_tile)[SIDE], local float (*b_tile)[SIDE]) {
    // Rows and columns beyond the matrices keep what is there: their sums are not stored.
    const size_t rows = min((size_t)SIDE, m - row), columns = min((size_t)SIDE, n - column);
    const uint depth = min((uint)STEP, k - step);
    event_t event = 0;
    for (uint i = 0; i < depth; i++) {
        event = async_work_group_strided_copy(a_tile[i], a + row * k + step + i, rows, k, event);
        event = async_work_group_copy(b_tile[i], b + (size_t)(step + i) * n + column, columns, event);
    }
    return event;
}

static void multiply(float4 sum[8][2], local const float4 *rows_of_a, local const float4 *columns_of_b, uint y, uint x) {
    const float4 low = rows_of_a[y], high = rows_of_a[y + 16];
    const float rows[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
    #pragma unroll
    for (uint p = 0; p < 8; p++) {
        sum[p][0] = fma(rows[p], columns_of_b[x], sum[p][0]);
        sum[p][1] = fma(rows[p], columns_of_b[x + 16], sum[p][1]);
    }
}

kernel __attribute__((reqd_work_group_size(256, 1, 1))) void
matmul(uint m, uint n, uint k, global const float *restrict a, global const float *restrict b, global float *restrict c) {
    local float a_tile[2][STEP][SIDE] __attribute__((aligned(16))), b_tile[2][STEP][SIDE] __attribute__((aligned(16)));
    const uint x = get_local_id(0) % 16, y = get_local_id(0) / 16;
    const size_t row = get_group_id(1) * SIDE, column = get_group_id(0) * SIDE;
    float4 sum[8][2];
    #pragma unroll
    for (uint p = 0; p < 8; p++) sum[p][0] = sum[p][1] = 0.0f;
    event_t event = start(m, n, k, a, b, row, column, 0, a_tile[0], b_tile[0]);
    uint half_of = 0;
    for (uint step = 0; step < k; step += STEP, half_of ^= 1) {
        wait_group_events(1, &event);
        if (step + STEP < k)
            event = start(m, n, k, a, b, row, column, step + STEP, a_tile[half_of ^ 1], b_tile[half_of ^ 1]);
        if (step + STEP <= k) {
            #pragma unroll
            for (uint i = 0; i < STEP; i++)
                multiply(sum, (local float4 *)a_tile[half_of][i], (local float4 *)b_tile[half_of][i], y, x);
        } else {
            for (uint i = 0; i < k - step; i++)
                multiply(sum, (local float4 *)a_tile[half_of][i], (local float4 *)b_tile[half_of][i], y, x);
        }
    }
    #pragma unroll
    for (uint p = 0; p < 8; p++) {
        const size_t to = row + p / 4 * 64 + y * 4 + p % 4;
        store4(c, m, n, to, column + x * 4, sum[p][0]);
        store4(c, m, n, to, column + x * 4 + 64, sum[p][1]);
    }
}
