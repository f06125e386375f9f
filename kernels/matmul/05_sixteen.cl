// Rung 5: a work-item computes 4 by 4 elements.
// What it adds: reuse of both. 8 loads serve 16 multiplications, where rung 4 needs 20. A group computes 64 by 64.
#define PER 4

kernel __attribute__((reqd_work_group_size(16, 16, 1))) void
matmul(uint m, uint n, uint k, global const float *restrict a, global const float *restrict b, global float *restrict c) {
    const size_t x = get_group_id(0) * 16 * PER + get_local_id(0), y = get_group_id(1) * 16 * PER + get_local_id(1);
    size_t row[PER], column[PER];
    float sum[PER][PER];
    #pragma unroll
    for (uint p = 0; p < PER; p++) {
        row[p] = min(y + p * 16, (size_t)m - 1);
        column[p] = min(x + p * 16, (size_t)n - 1);
        #pragma unroll
        for (uint q = 0; q < PER; q++) sum[p][q] = 0.0f;
    }
    for (uint i = 0; i < k; i++) {
        float from_b[PER];
        #pragma unroll
        for (uint q = 0; q < PER; q++) from_b[q] = b[(size_t)i * n + column[q]];
        #pragma unroll
        for (uint p = 0; p < PER; p++) {
            const float from_a = a[row[p] * k + i];
            #pragma unroll
            for (uint q = 0; q < PER; q++) sum[p][q] += from_a * from_b[q];
        }
    }
    #pragma unroll
    for (uint p = 0; p < PER; p++)
        #pragma unroll
        for (uint q = 0; q < PER; q++)
            if (y + p * 16 < m && x + q * 16 < n) c[row[p] * n + column[q]] = sum[p][q];
}
