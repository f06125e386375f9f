// qn_kernels_matmul on a processor: a work-item computes ROWS rows by 16 columns of C and keeps them in vector registers; the caches do
// the sharing, and there are no barriers. What lies beyond the last row or column is computed again and not stored, so that
// no work-item goes another way in the loop. By -D B_VECTORS: n is at least 16, and neighbours along a row of B are one load.
// Global size: strips across, strips down, batches.
#include "numbers.h"

kernel void matmul(PARAMETERS) {
    const places at = places_of(s, get_global_id(2));
    const size_t column = get_global_id(0) * 16, row = get_global_id(1) * ROWS;
#if B_VECTORS
    const size_t begin = min(column, s.n - 16);
#else
    const size_t begin = column;
#endif
    size_t a_at[ROWS];
    SUM16 sum[ROWS];
    #pragma unroll
    for (uint r = 0; r < ROWS; r++) {
        a_at[r] = at.a + min(row + r, s.m - 1) * s.a_row;
        sum[r] = 0;
    }
    size_t b_at = at.b + begin * s.b_column;
    for (ulong i = 0; i < s.k; i++) {
#if B_VECTORS
        const SUM16 v = vload16(0, b + b_at);
#else
        SUM of[16];
        #pragma unroll
        for (uint j = 0; j < 16; j++) of[j] = (SUM)B_LOAD(b, b_at + (min(begin + j, s.n - 1) - begin) * s.b_column);
        const SUM16 v = (SUM16)(of[0], of[1], of[2], of[3], of[4], of[5], of[6], of[7], of[8], of[9], of[10], of[11], of[12],
                                of[13], of[14], of[15]);
#endif
        #pragma unroll
        for (uint r = 0; r < ROWS; r++) sum[r] = MULTIPLY_ADD((SUM16)(SUM)A_LOAD(a, a_at[r] + i * s.a_k), v, sum[r]);
        b_at += s.b_k;
    }
    const epilogue e = EPILOGUE;
    #pragma unroll
    for (uint r = 0; r < ROWS; r++) {
        SUM of[16];
        vstore16(sum[r], 0, of);
        for (uint j = (uint)(column - begin); j < 16; j++)
            if (row + r < s.m && begin + j < s.n) put(out, of[j], s, &e, &at, row + r, begin + j);
    }
}
