// C = A * B for row-major float matrices, to compare compilers with: A is m by k, B is k by n, C is m by n. Sizes are multiples
// of the block a work-group computes, which is given with each kernel. TILE and the block sizes may be set with -D.
// (The ladder that ships is kernels/matmul.)
#ifndef TILE
#define TILE 16
#endif

// One element of C a work-item, straight from global memory. Any size; any local size.
// Global size: n, m.
kernel void matmul_naive(uint m, uint n, uint k, global const float *restrict a, global const float *restrict b,
                         global float *restrict c) {
    size_t column = get_global_id(0), row = get_global_id(1);
    if (row >= m || column >= n) return;
    float sum = 0.0f;
    for (uint i = 0; i < k; i++) sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}

// A group computes a TILE by TILE block of C. It walks along k in steps of TILE and keeps the tiles
// of A and B of each step in local memory, so that each element is read from global memory once a group
// rather than once a work-item. Global size: n, m; local size: TILE, TILE.
kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void
matmul_tiled(uint m, uint n, uint k, global const float *restrict a, global const float *restrict b,
             global float *restrict c) {
    local float a_tile[TILE][TILE], b_tile[TILE][TILE];
    size_t x = get_local_id(0), y = get_local_id(1), column = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;
    for (uint step = 0; step < k; step += TILE) {
        a_tile[y][x] = a[row * k + step + x];
        b_tile[y][x] = b[(step + y) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = 0; i < TILE; i++) sum += a_tile[y][i] * b_tile[i][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = sum;
}

// As matmul_tiled, and each work-item keeps PER by PER sums in registers: what it reads from local memory
// it uses PER times. A group computes a block of TILE*PER by TILE*PER. A work-item's elements are TILE apart,
// so that neighbours touch neighbouring addresses. Global size: n/PER, m/PER; local size: TILE, TILE.
#ifndef PER
#define PER 4
#endif
#define BLOCK (TILE * PER)

kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void
matmul_registers(uint m, uint n, uint k, global const float *restrict a, global const float *restrict b,
                 global float *restrict c) {
    local float a_tile[BLOCK][TILE], b_tile[TILE][BLOCK];
    size_t x = get_local_id(0), y = get_local_id(1);
    size_t column = get_group_id(0) * BLOCK + x, row = get_group_id(1) * BLOCK + y;
    float sum[PER][PER] = {{0.0f}};
    for (uint step = 0; step < k; step += TILE) {
        #pragma unroll
        for (uint p = 0; p < PER; p++) {
            a_tile[y + p * TILE][x] = a[(row + p * TILE) * k + step + x];
            b_tile[y][x + p * TILE] = b[(step + y) * n + column + p * TILE];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = 0; i < TILE; i++) {
            float from_b[PER];
            #pragma unroll
            for (uint p = 0; p < PER; p++) from_b[p] = b_tile[i][x + p * TILE];
            #pragma unroll
            for (uint q = 0; q < PER; q++) {
                float from_a = a_tile[y + q * TILE][i];
                #pragma unroll
                for (uint p = 0; p < PER; p++) sum[q][p] += from_a * from_b[p];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    #pragma unroll
    for (uint q = 0; q < PER; q++) {
        #pragma unroll
        for (uint p = 0; p < PER; p++) c[(row + q * TILE) * n + column + p * TILE] = sum[q][p];
    }
}

// No local memory: a work-item keeps a strip of ROWS rows by 16 columns of C in float16 registers and
// lets the cache do the sharing. The rung for processors with wide vector registers. Global size: n/16,
// m/ROWS; any local size.
#ifndef ROWS
#define ROWS 8
#endif

kernel void matmul_vector(uint m, uint n, uint k, global const float *restrict a, global const float *restrict b,
                          global float *restrict c) {
    size_t column = get_global_id(0) * 16, row = get_global_id(1) * ROWS;
    float16 sum[ROWS];
    #pragma unroll
    for (uint r = 0; r < ROWS; r++) sum[r] = 0.0f;
    for (uint i = 0; i < k; i++) {
        float16 from_b = vload16(0, b + i * n + column);
        #pragma unroll
        for (uint r = 0; r < ROWS; r++) sum[r] = fma((float16)(a[(row + r) * k + i]), from_b, sum[r]);
    }
    #pragma unroll
    for (uint r = 0; r < ROWS; r++) vstore16(sum[r], 0, c + (row + r) * n + column);
}
