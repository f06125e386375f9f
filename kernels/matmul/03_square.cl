// Rung 3: as rung 2, in work-groups of 16 by 16.
// What it adds: reuse in the caches. 256 elements of a line need 1 row of A and 256 columns of B; those of a square need 16 and
// 16, an eighth of the bytes. Global size: at least n, m.
kernel __attribute__((reqd_work_group_size(16, 16, 1))) void
matmul(uint m, uint n, uint k, global const float *restrict a, global const float *restrict b, global float *restrict c) {
    const size_t column = get_global_id(0), row = get_global_id(1);
    if (row >= m || column >= n) return;
    float sum = 0.0f;
    for (uint i = 0; i < k; i++) sum += a[row * k + i] * b[(size_t)i * n + column];
    c[row * n + column] = sum;
}
