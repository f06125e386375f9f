// qn_matmul where one operand is a vector, which is what counts when a model answers one question: the other operand is read
// once, and that is all the time it takes. By -D VECTOR_IS_A: A is one row (m is 1), and B the matrix; else B is one column.
// ALONG_K: neighbours of the matrix lie along k; else along its side. VECTORS: four are one load.
#include "numbers.h"

#ifdef VECTOR_IS_A
#define MATRIX_LOAD  B_LOAD
#define MATRIX_LOAD4 B_LOAD4
#define VECTOR_LOAD  A_LOAD
#define SIDES        s.n
#define SIDE_STRIDE  s.b_column
#define K_STRIDE     s.b_k
#define VECTOR_STEP  s.a_k
#else
#define MATRIX_LOAD  A_LOAD
#define MATRIX_LOAD4 A_LOAD4
#define VECTOR_LOAD  B_LOAD
#define SIDES        s.m
#define SIDE_STRIDE  s.a_row
#define K_STRIDE     s.a_k
#define VECTOR_STEP  s.b_k
#endif

static void put_side(global OUT_T *out, global SUM *work, SUM sum, numbers s, const epilogue *e, const places *at,
                     ulong side) {
#ifdef VECTOR_IS_A
    const size_t row = 0, column = side;
#else
    const size_t row = side, column = 0;
#endif
#ifdef SPLIT
    work[((get_group_id(1) * get_num_groups(2) + get_group_id(2)) * s.m + row) * s.n + column] = sum;
#else
    put(out, sum, s, e, at, row, column);
#endif
}

#ifdef VECTOR_IS_A
#define MATRIX b
#define VECTOR a
#define BEGIN_OF_MATRIX at.b
#define BEGIN_OF_VECTOR at.a
#else
#define MATRIX a
#define VECTOR b
#define BEGIN_OF_MATRIX at.a
#define BEGIN_OF_VECTOR at.b
#endif

#ifdef ALONG_K
// A group of ITEMS sums up one line of the matrix. Groups: lines; parts of k; batches.
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void matmul(PARAMETERS) {
    const places at = places_of(s, get_group_id(2));
    const ulong side = get_group_id(0), first = get_group_id(1) * s.part, k = min(s.part, s.k - first);
    const size_t m0 = BEGIN_OF_MATRIX + side * SIDE_STRIDE + first * K_STRIDE, v0 = BEGIN_OF_VECTOR + first * VECTOR_STEP;
    SUM sum = 0;
    ulong i = get_local_id(0);
#ifdef VECTORS
    SUM4 sums = 0;
    #pragma unroll 4
    for (ulong p = i; p < k / 4; p += ITEMS) {
        const size_t v = v0 + p * 4 * VECTOR_STEP;
        const SUM4 x = (SUM4)((SUM)VECTOR_LOAD(VECTOR, v), (SUM)VECTOR_LOAD(VECTOR, v + VECTOR_STEP),
                              (SUM)VECTOR_LOAD(VECTOR, v + 2 * VECTOR_STEP), (SUM)VECTOR_LOAD(VECTOR, v + 3 * VECTOR_STEP));
        sums = MULTIPLY_ADD(MATRIX_LOAD4(MATRIX, m0 + p * 4), x, sums);
    }
    sum = sums.x + sums.y + (sums.z + sums.w);
    i += k / 4 * 4;
#endif
    for (; i < k; i += ITEMS)
        sum = MULTIPLY_ADD((SUM)MATRIX_LOAD(MATRIX, m0 + i * K_STRIDE), (SUM)VECTOR_LOAD(VECTOR, v0 + i * VECTOR_STEP), sum);
    sum = work_group_reduce_add(sum);
    const epilogue e = EPILOGUE;
    if (get_local_id(0) == 0) put_side(out, work, sum, s, &e, &at, side);
}
#else
// A group of LANES by SLICES: each lane has four neighbours of the side, each slice every SLICES-th of k. Groups: runs of
// 4 * LANES along the side; parts of k; batches.
kernel __attribute__((reqd_work_group_size(LANES, SLICES, 1))) void matmul(PARAMETERS) {
    local SUM4 sums[SLICES][LANES];
    const places at = places_of(s, get_group_id(2));
    const uint lane = get_local_id(0), slice = get_local_id(1);
    const ulong side = (get_group_id(0) * LANES + lane) * 4, first = get_group_id(1) * s.part, k = min(s.part, s.k - first);
    const ulong count = side < SIDES ? min((ulong)4, SIDES - side) : 0;
    const size_t m0 = BEGIN_OF_MATRIX + side * SIDE_STRIDE + first * K_STRIDE, v0 = BEGIN_OF_VECTOR + first * VECTOR_STEP;
    SUM4 sum = 0;
#ifdef VECTORS
    if (count == 4) {
        #pragma unroll 4
        for (ulong i = slice; i < k; i += SLICES)
            sum = MULTIPLY_ADD(MATRIX_LOAD4(MATRIX, m0 + i * K_STRIDE), (SUM4)(SUM)VECTOR_LOAD(VECTOR, v0 + i * VECTOR_STEP),
                               sum);
    } else
#endif
    {
        for (ulong i = slice; i < k; i += SLICES) {
            const SUM x = (SUM)VECTOR_LOAD(VECTOR, v0 + i * VECTOR_STEP);
            const size_t from = m0 + i * K_STRIDE;
            SUM v[4] = {0, 0, 0, 0};
            #pragma unroll
            for (uint j = 0; j < 4; j++)
                if (j < count) v[j] = (SUM)MATRIX_LOAD(MATRIX, from + j * SIDE_STRIDE);
            sum = MULTIPLY_ADD((SUM4)(v[0], v[1], v[2], v[3]), (SUM4)x, sum);
        }
    }
    sums[slice][lane] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (slice > 0) return;
    for (uint i = 1; i < SLICES; i++) sum += sums[i][lane];
    const SUM v[4] = {sum.x, sum.y, sum.z, sum.w};
    const epilogue e = EPILOGUE;
    #pragma unroll
    for (uint j = 0; j < 4; j++)
        if (j < count) put_side(out, work, v[j], s, &e, &at, side + j);
}
#endif
