// Rung 4: a work-item computes 1 by 4 elements.
// What it adds: reuse in registers. An element of A is loaded once for four multiplications: 5 loads for 4 of them instead of 8.
// The four lie 16 apart, so that neighbours in a group still read neighbouring addresses. A group computes 16 by 64.
#define PER 4

kernel __attribute__((reqd_work_group_size(16, 16, 1))) void
matmul(uint m, uint n, uint k, global const float *restrict a, global const float *restrict b, global float *restrict c) {
    const size_t row = get_global_id(1), first = get_group_id(0) * 16 * PER + get_local_id(0);
    if (row >= m) return;
    size_t column[PER];
    float sum[PER];
    #pragma unroll
    for (uint p = 0; p < PER; p++) {
        column[p] = min(first + p * 16, (size_t)n - 1); // what is out of range is computed, and not stored
        sum[p] = 0.0f;
    }
    for (uint i = 0; i < k; i++) {
        const float from_a = a[row * k + i];
        #pragma unroll
        for (uint p = 0; p < PER; p++) sum[p] += from_a * b[(size_t)i * n + column[p]];
    }
    #pragma unroll
    for (uint p = 0; p < PER; p++)
        if (first + p * 16 < n) c[row * n + column[p]] = sum[p];
}
