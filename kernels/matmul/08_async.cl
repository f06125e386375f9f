// Rung 8: two halves of local memory, one of them filled by async copies.
// What it adds: the next tiles come while these are multiplied. The group fills one half and works on the other, so a step has one
// barrier in place of two. B's tile lies as B does, and is copied by one call for all of its lines: on devices that copy by
// themselves (CUDA from sm_80 on) the data goes past the registers. A's tile lies transposed, as in rung 7, which such copies cannot do
// but in single floats, as dear as loads: so what a work-item brings of it, four floats, waits in registers until its half is free.
// Lines of A's tile are four floats longer than they need be: what neighbours store at once is in different banks.
#include "edges.h"

#define SIDE 128
#define STEP 8
#define LINE (SIDE + 4)

typedef local float4 (*tile)[SIDE / 4];

// Starts the copy of a tile of B. How long lines are is known when this is compiled; where they are no whole vectors, and at the
// edges, there are loads and stores, and what is beyond the matrix is 0.
static event_t start(uint n, uint k, global const float *b, size_t column, uint step, tile b_tile) {
    if (n % 4 == 0 && column + SIDE <= n && step + STEP <= k)
        return async_work_group_copy_2D2D(b_tile, 0, b + (size_t)step * n + column, 0, sizeof(float4), SIDE / 4, STEP, n / 4,
                                          SIDE / 4, 0);
    const uint line = get_local_id(0) / (SIDE / 4), from = get_local_id(0) % (SIDE / 4);
    b_tile[line][from] = load4(b, k, n, step + line, column + from * 4);
    return 0;
}

kernel __attribute__((reqd_work_group_size(256, 1, 1))) void
matmul(uint m, uint n, uint k, global const float *restrict a, global const float *restrict b, global float *restrict c) {
    local float4 a_tile[2][STEP][LINE / 4], b_tile[2][STEP][SIDE / 4];
    const uint item = get_local_id(0), x = item % 16, y = item / 16;
    const size_t first_row = get_group_id(1) * SIDE, first_column = get_group_id(0) * SIDE;
    float4 sum[8][2];
    #pragma unroll
    for (uint p = 0; p < 8; p++) sum[p][0] = sum[p][1] = 0.0f;
    float4 from_a = load4(a, m, k, first_row + item / 2, item % 2 * 4);
    event_t event = start(n, k, b, first_column, 0, b_tile[0]);
    uint half_of = 0;
    for (uint step = 0; step < k; step += STEP, half_of ^= 1) {
        local float *to = (local float *)a_tile[half_of] + item % 2 * 4 * LINE + item / 2;
        to[0] = from_a.x;
        to[LINE] = from_a.y;
        to[2 * LINE] = from_a.z;
        to[3 * LINE] = from_a.w;
        wait_group_events(1, &event);
        if (step + STEP < k) {
            from_a = load4(a, m, k, first_row + item / 2, step + STEP + item % 2 * 4);
            event = start(n, k, b, first_column, step + STEP, b_tile[half_of ^ 1]);
        }
        #pragma unroll
        for (uint i = 0; i < STEP; i++) {
            const float4 low = a_tile[half_of][i][y], high = a_tile[half_of][i][y + 16];
            const float rows[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
            #pragma unroll
            for (uint p = 0; p < 8; p++) {
                sum[p][0] = fma(rows[p], b_tile[half_of][i][x], sum[p][0]);
                sum[p][1] = fma(rows[p], b_tile[half_of][i][x + 16], sum[p][1]);
            }
        }
    }
    #pragma unroll
    for (uint p = 0; p < 8; p++) {
        const size_t row = first_row + p / 4 * 64 + y * 4 + p % 4, column = first_column + x * 4;
        store4(c, m, n, row, column, sum[p][0]);
        store4(c, m, n, row, column + 64, sum[p][1]);
    }
}
