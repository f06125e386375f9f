// Rung 2: as rung 1, in work-groups of 256 in one dimension.
// What it adds: full groups. All lanes work, and those of a group read neighbouring elements of B, which come in one
// transfer. An element of A is the same for all of them and is read once. Global size: at least m * n.
kernel __attribute__((reqd_work_group_size(256, 1, 1))) void
matmul(uint m, uint n, uint k, global const float *restrict a, global const float *restrict b, global float *restrict c) {
    const size_t element = get_global_id(0);
    if (element >= (size_t)m * n) return;
    const size_t row = element / n, column = element % n;
    float sum = 0.0f;
    for (uint i = 0; i < k; i++) sum += a[row * k + i] * b[(size_t)i * n + column];
    c[element] = sum;
}
