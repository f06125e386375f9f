// Rung 6: tiles in local memory.
// What it adds: a group loads each element that it needs once. It walks along k in steps of 16; in each, its 256 work-items
// fetch a tile of A (64 by 16) and one of B (16 by 64) into local memory, which all of them then read. Elements beyond the
// matrices count as 0.
#define PER  4
#define SIDE (16 * PER)
#define STEP 16

kernel __attribute__((reqd_work_group_size(16, 16, 1))) void
matmul(uint m, uint n, uint k, global const float *restrict a, global const float *restrict b, global float *restrict c) {
    local float a_tile[SIDE][STEP], b_tile[STEP][SIDE];
    const uint x = get_local_id(0), y = get_local_id(1);
    const size_t first_row = get_group_id(1) * SIDE, first_column = get_group_id(0) * SIDE;
    float sum[PER][PER];
    #pragma unroll
    for (uint p = 0; p < PER; p++)
        #pragma unroll
        for (uint q = 0; q < PER; q++) sum[p][q] = 0.0f;
    for (uint step = 0; step < k; step += STEP) {
        #pragma unroll
        for (uint p = 0; p < PER; p++) {
            const size_t row = first_row + y + p * 16, column = first_column + x + p * 16;
            a_tile[y + p * 16][x] = row < m && step + x < k ? a[row * k + step + x] : 0.0f;
            b_tile[y][x + p * 16] = column < n && step + y < k ? b[(size_t)(step + y) * n + column] : 0.0f;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        #pragma unroll
        for (uint i = 0; i < STEP; i++) {
            float from_b[PER];
            #pragma unroll
            for (uint q = 0; q < PER; q++) from_b[q] = b_tile[i][x + q * 16];
            #pragma unroll
            for (uint p = 0; p < PER; p++) {
                const float from_a = a_tile[y + p * 16][i];
                #pragma unroll
                for (uint q = 0; q < PER; q++) sum[p][q] += from_a * from_b[q];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    #pragma unroll
    for (uint p = 0; p < PER; p++)
        #pragma unroll
        for (uint q = 0; q < PER; q++) {
            const size_t row = first_row + y + p * 16, column = first_column + x + q * 16;
            if (row < m && column < n) c[row * n + column] = sum[p][q];
        }
}
