// Rung 8: two halves of local memory, filled by async copies.
// What it adds: the next tiles come while these are multiplied. The group starts the copies into one half and works on the
// other; one wait a step takes the place of two barriers. On devices that copy by themselves (CUDA from sm_80 on) the data goes
// past the registers. Such copies are cheap in pieces of 16 bytes, and as dear as loads in single floats: so A's tile does not lie
// transposed as in rung 7, but as its rows do, and each is copied by one call for all of its lines. Four steps along k then take
// 8 loads of A, four neighbours along k each, and 8 of B for 256 multiplications: as many as before.
// What it shows on an H200: 0.86 of rung 7 all the same. The compiler gives it 168 registers, so that one group is on a unit where
// rung 7 has two, and nothing else is there to do at the wait.
#include "edges.h"

#define SIDE 128
#define STEP 16

typedef local float4 (*tile_a)[STEP / 4]; // [row][four of k]
typedef local float4 (*tile_b)[SIDE / 4]; // [k][four columns]

// Where lines are no whole vectors, and at the right edge, by loads and stores; what is beyond the matrices is 0.
static void copy_elements(uint m, uint n, uint k, global const float *a, global const float *b, size_t row, size_t column,
                          uint step, local float *a_tile, local float *b_tile) {
    for (uint i = get_local_id(0); i < SIDE * STEP; i += get_local_size(0)) {
        const size_t r = row + i / STEP, of_k = step + i % STEP;
        a_tile[i] = r < m && of_k < k ? a[r * k + of_k] : 0.0f;
        const size_t c = column + i % SIDE, along = step + i / SIDE;
        b_tile[i] = c < n && along < k ? b[along * n + c] : 0.0f;
    }
}

// How long lines are is known when this is compiled. Rows beyond the matrix keep what is there: their sums are not stored.
static event_t start(uint m, uint n, uint k, global const float *a, global const float *b, size_t row, size_t column, uint step,
                     tile_a a_tile, tile_b b_tile) {
    if (k % STEP || n % 4 || column + SIDE > n) {
        copy_elements(m, n, k, a, b, row, column, step, (local float *)a_tile, (local float *)b_tile);
        return 0;
    }
    const event_t event = async_work_group_copy_2D2D(a_tile, 0, a + row * k + step, 0, sizeof(float4), STEP / 4,
                                                     min((size_t)SIDE, m - row), k / 4, STEP / 4, 0);
    return async_work_group_copy_2D2D(b_tile, 0, b + (size_t)step * n + column, 0, sizeof(float4), SIDE / 4, STEP, n / 4,
                                      SIDE / 4, event);
}

// Four steps along k.
static void multiply(float4 sum[8][2], tile_a of_a, tile_b of_b, uint four, uint y, uint x) {
    float4 left[4], right[4];
    #pragma unroll
    for (uint i = 0; i < 4; i++) {
        left[i] = of_b[four * 4 + i][x];
        right[i] = of_b[four * 4 + i][x + 16];
    }
    #pragma unroll
    for (uint p = 0; p < 8; p++) {
        const float4 v = of_a[p / 4 * 64 + y * 4 + p % 4][four];
        const float row[4] = {v.x, v.y, v.z, v.w};
        #pragma unroll
        for (uint i = 0; i < 4; i++) {
            sum[p][0] = fma(row[i], left[i], sum[p][0]);
            sum[p][1] = fma(row[i], right[i], sum[p][1]);
        }
    }
}

kernel __attribute__((reqd_work_group_size(256, 1, 1))) void
matmul(uint m, uint n, uint k, global const float *restrict a, global const float *restrict b, global float *restrict c) {
    local float4 a_tile[2][SIDE][STEP / 4], b_tile[2][STEP][SIDE / 4];
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
        #pragma unroll
        for (uint i = 0; i < STEP; i += 4)
            if (step + i < k) multiply(sum, a_tile[half_of], b_tile[half_of], i / 4, y, x);
    }
    #pragma unroll
    for (uint p = 0; p < 8; p++) {
        const size_t to = row + p / 4 * 64 + y * 4 + p % 4;
        store4(c, m, n, to, column + x * 4, sum[p][0]);
        store4(c, m, n, to, column + x * 4 + 64, sum[p][1]);
    }
}
