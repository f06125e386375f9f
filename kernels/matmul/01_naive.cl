// Rung 1: one work-item an element of C, each a work-group of its own.
// What it shows: the computation as it is written on paper, and the worst that one can do to a GPU. Its units run 32 or
// 64 work-items in step; a group of one leaves all lanes but one idle. Global size: n, m.
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
matmul(uint m, uint n, uint k, global const float *restrict a, global const float *restrict b, global float *restrict c) {
    const size_t column = get_global_id(0), row = get_global_id(1);
    float sum = 0.0f;
    for (uint i = 0; i < k; i++) sum += a[row * k + i] * b[(size_t)i * n + column];
    c[row * n + column] = sum;
}
