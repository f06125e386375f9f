/* A kernel that multiplies a of M x K by b of K x N on top of c, each in its layout, and counts the elements that differ from
   plain sums. The numbers are small whole ones, so that every sum is exact. */
#define ROW_MAJOR(i, j, rows, columns)    ((i) * (columns) + (j))
#define COLUMN_MAJOR(i, j, rows, columns) ((j) * (rows) + (i))
#define LAYOUT_ROW_MAJOR                  qn_row_major
#define LAYOUT_COLUMN_MAJOR               qn_column_major
#define STRIDE_ROW_MAJOR(rows, columns)    (columns)
#define STRIDE_COLUMN_MAJOR(rows, columns) (rows)

#define PRODUCT(NAME, TA, TB, TC, SUM, M, N, K, A, B, C)                                                                    \
    kernel __attribute__((reqd_work_group_size(32, 1, 1))) void NAME(global int *wrong) {                                   \
        local TA a[(M) * (K)];                                                                                              \
        local TB b[(K) * (N)];                                                                                              \
        local TC c[(M) * (N)];                                                                                              \
        int me = (int)get_local_id(0), bad = 0;                                                                             \
        for (int i = me; i < (M) * (K); i += 32) a[i] = (TA)(float)(i * 7 % 9 - (((TA)-1) < 0 ? 4 : 0));                    \
        for (int i = me; i < (K) * (N); i += 32) b[i] = (TB)(float)(i * 5 % 9 - (((TB)-1) < 0 ? 4 : 0));                    \
        for (int i = me; i < (M) * (N); i += 32) c[i] = (TC)(i % 17);                                                       \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                       \
        qn_matrix(TA, M, K, qn_use_a) fa;                                                                                   \
        qn_matrix(TB, K, N, qn_use_b) fb;                                                                                   \
        qn_matrix(TC, M, N, qn_use_accumulator) fc;                                                                         \
        qn_matrix_load(&fa, a, STRIDE_##A(M, K), LAYOUT_##A);                                                               \
        qn_matrix_load(&fb, b, STRIDE_##B(K, N), LAYOUT_##B);                                                               \
        qn_matrix_load(&fc, c, STRIDE_##C(M, N), LAYOUT_##C);                                                               \
        qn_matrix_multiply_add(&fc, &fa, &fb);                                                                              \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                       \
        qn_matrix_store(&fc, c, STRIDE_##C(M, N), LAYOUT_##C);                                                              \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                       \
        for (int i = me; i < (M) * (N); i += 32) {                                                                          \
            int row = i / (N), column = i % (N), at = C(row, column, M, N);                                                 \
            SUM sum = (SUM)(at % 17);                                                                                       \
            for (int k = 0; k < (K); k++) sum += (SUM)a[A(row, k, M, K)] * (SUM)b[B(k, column, K, N)];                      \
            bad += (SUM)c[at] != sum;                                                                                       \
        }                                                                                                                   \
        wrong[me] = bad;                                                                                                    \
    }
