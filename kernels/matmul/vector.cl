// qn_kernels_matmul where one operand is a vector, which is what counts when a model answers one question: the other operand is read
// once, and that is all the time it takes; so many loads are under way at a time. By -D VECTOR_IS_A: A is one row (m is 1), and B
// the matrix; else B is one column. ALONG_K: neighbours of the matrix lie along k; else along its side. WIDTH of them, a run, are one
// load of type RUN_T, at any address with ANYWHERE, and SUMV is the type of so many sums, whose elements are SUM_NAME; VECTOR_RUNS
// where the vector has them together too. LANES, LINES, SLICES: how a group's work-items share the work. DEPTH: loads at a time.
#include "numbers.h"

#ifdef VECTOR_IS_A
#define MATRIX_T        B_T
#define VECTOR_T        A_T
#define MATRIX_LOAD     B_LOAD
#define VECTOR_LOAD     A_LOAD
#define MATRIX          b
#define VECTOR          a
#define BEGIN_OF_MATRIX at.b
#define BEGIN_OF_VECTOR at.a
#define SIDES           s.n
#define SIDE_STRIDE     s.b_column
#define K_STRIDE        s.b_k
#define VECTOR_STEP     s.a_k
#else
#define MATRIX_T        A_T
#define VECTOR_T        B_T
#define MATRIX_LOAD     A_LOAD
#define VECTOR_LOAD     B_LOAD
#define MATRIX          a
#define VECTOR          b
#define BEGIN_OF_MATRIX at.a
#define BEGIN_OF_VECTOR at.b
#define SIDES           s.m
#define SIDE_STRIDE     s.a_row
#define K_STRIDE        s.a_k
#define VECTOR_STEP     s.b_k
#endif

#if WIDTH == 1
#define WIDEN(run) ((SUM)(run))
#else
#define WIDEN(run) JOIN(convert_, SUM_NAME, WIDTH)(run)
#endif
#if defined(ANYWHERE) && WIDTH > 1
#define RUN(p) JOIN(vload, WIDTH, )(0, p)
#else
#define RUN(p) (*(global const RUN_T *)(p))
#endif
#define JOIN(a, b, c)         JOIN_NAMES(a, b, c)
#define JOIN_NAMES(a, b, c)   a##b##c

// What the vector has for a run, as sums.
#ifdef VECTOR_RUNS
#define VECTOR_RUN(p) WIDEN(RUN(vector + (p)))
#elif !defined(ALONG_K) || WIDTH == 1
#define VECTOR_RUN(p) (SUMV)(SUM) VECTOR_LOAD(vector, p)
#else
#define ONE(p, j)     (SUM) VECTOR_LOAD(vector, (p) + (j)*vector_step)
#define FOUR(p, j)    ONE(p, j), ONE(p, j + 1), ONE(p, j + 2), ONE(p, j + 3)
#if WIDTH == 4
#define VECTOR_RUN(p) (SUMV)(FOUR(p, 0))
#elif WIDTH == 8
#define VECTOR_RUN(p) (SUMV)(FOUR(p, 0), FOUR(p, 4))
#else
#define VECTOR_RUN(p) (SUMV)(FOUR(p, 0), FOUR(p, 4), FOUR(p, 8), FOUR(p, 12))
#endif
#endif

// `count` runs from place m on, each times what the vector has from v on; hops lead from one to the next.
static SUMV add_runs(global const MATRIX_T *matrix, global const VECTOR_T *vector, size_t m, size_t v, long m_hop, long v_hop,
                     long vector_step, ulong count) {
    SUMV sums = 0;
    RUN_T runs[DEPTH];
    for (; count >= DEPTH; count -= DEPTH) {
        #pragma unroll
        for (uint j = 0; j < DEPTH; j++, m += m_hop) runs[j] = RUN(matrix + m);
        #pragma unroll
        for (uint j = 0; j < DEPTH; j++, v += v_hop) sums = MULTIPLY_ADD(WIDEN(runs[j]), VECTOR_RUN(v), sums);
    }
    if (DEPTH == 1 || count == 0) return sums;
    // Again at once: what is too much loads the first run, which does not count.
    #pragma unroll
    for (uint j = 0; j + 1 < DEPTH; j++) runs[j] = RUN(matrix + (j < count ? m + j * m_hop : m));
    #pragma unroll
    for (uint j = 0; j + 1 < DEPTH; j++) {
        const SUMV more = MULTIPLY_ADD(WIDEN(runs[j]), VECTOR_RUN(j < count ? v + j * v_hop : v), sums);
        sums = j < count ? more : sums;
    }
    return sums;
}

// Of `all`, every `step`-th from `first` on.
static ulong count_of(ulong all, uint first, uint step) { return all > first ? (all - first + step - 1) / step : 0; }

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

#ifdef ALONG_K
static SUM sum_of(SUMV v) {
#if WIDTH == 1
    return v;
#else
#if WIDTH == 16
    const SUM8 eight = v.lo + v.hi;
    const SUM4 four = eight.lo + eight.hi;
#elif WIDTH == 8
    const SUM4 four = v.lo + v.hi;
#else
    const SUM4 four = v;
#endif
    return four.x + four.y + (four.z + four.w);
#endif
}

#ifdef ALONE
// On a processor a work-item sums up LINES lines, for which it reads the vector once. What is beyond the last line is that one again.
// Global size: so many lines; parts of k; batches.
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void matmul(PARAMETERS) {
    const places at = places_of(s, get_global_id(2));
    const ulong side = get_global_id(0) * LINES, first = get_global_id(1) * s.part, k = min(s.part, s.k - first);
    global const VECTOR_T *vector = VECTOR + BEGIN_OF_VECTOR + first * VECTOR_STEP;
    const long vector_step = VECTOR_STEP;
    global const MATRIX_T *lines[LINES];
    SUMV sums[LINES];
    SUM rest[LINES];
    #pragma unroll
    for (uint i = 0; i < LINES; i++) {
        lines[i] = MATRIX + BEGIN_OF_MATRIX + min(side + i, SIDES - 1) * SIDE_STRIDE + first;
        sums[i] = 0;
        rest[i] = 0;
    }
    ulong j = 0;
    #pragma unroll DEPTH
    for (ulong runs = k / WIDTH; runs > 0; runs--, j += WIDTH) {
        const SUMV v = VECTOR_RUN(j * vector_step);
        #pragma unroll
        for (uint i = 0; i < LINES; i++) sums[i] = MULTIPLY_ADD(WIDEN(RUN(lines[i] + j)), v, sums[i]);
    }
    for (; j < k; j++)
        #pragma unroll
        for (uint i = 0; i < LINES; i++)
            rest[i] = MULTIPLY_ADD((SUM)MATRIX_LOAD(lines[i], j), (SUM)VECTOR_LOAD(vector, j * vector_step), rest[i]);
    const epilogue e = EPILOGUE;
    #pragma unroll
    for (uint i = 0; i < LINES; i++)
        if (side + i < SIDES) put_side(out, work, sum_of(sums[i]) + rest[i], s, &e, &at, side + i);
}
#else
// LANES work-items sum up one line of the matrix, LINES lines are a group's. Groups: lines; parts of k; batches.
kernel __attribute__((reqd_work_group_size(LANES *LINES, 1, 1))) void matmul(PARAMETERS) {
    const places at = places_of(s, get_group_id(2));
    const uint line = get_local_id(0) / LANES, lane = get_local_id(0) % LANES;
    const ulong side = get_group_id(0) * LINES + line, first = get_group_id(1) * s.part;
    const ulong k = LINES == 1 || side < SIDES ? min(s.part, s.k - first) : 0, runs = k / WIDTH;
    const size_t m0 = BEGIN_OF_MATRIX + side * SIDE_STRIDE + first * K_STRIDE, v0 = BEGIN_OF_VECTOR + first * VECTOR_STEP;
    SUM sum = sum_of(add_runs(MATRIX, VECTOR, m0 + lane * WIDTH * K_STRIDE, v0 + lane * WIDTH * VECTOR_STEP,
                              LANES * WIDTH * K_STRIDE, LANES * WIDTH * VECTOR_STEP, VECTOR_STEP, count_of(runs, lane, LANES)));
    for (ulong i = runs * WIDTH + lane; i < k; i += LANES)
        sum = MULTIPLY_ADD((SUM)MATRIX_LOAD(MATRIX, m0 + i * K_STRIDE), (SUM)VECTOR_LOAD(VECTOR, v0 + i * VECTOR_STEP), sum);
#if LINES == 1
    sum = work_group_reduce_add(sum);
#else
    local SUM all[LINES][LANES];
    all[line][lane] = sum;
    for (uint others = LANES / 2; others > 0; others /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < others) all[line][lane] = sum += all[line][lane + others];
    }
#endif
    const epilogue e = EPILOGUE;
    if (lane == 0 && (LINES == 1 || side < SIDES)) put_side(out, work, sum, s, &e, &at, side);
}
#endif
#else
// A group of LANES by SLICES: each lane has WIDTH neighbours of the side, each slice every SLICES-th of k. Groups: runs of
// WIDTH * LANES along the side; parts of k; batches.
kernel __attribute__((reqd_work_group_size(LANES, SLICES, 1))) void matmul(PARAMETERS) {
    local SUM all[SLICES][LANES * WIDTH] __attribute__((aligned(64)));
    const places at = places_of(s, get_group_id(2));
    const uint lane = get_local_id(0), slice = get_local_id(1);
    const ulong side0 = get_group_id(0) * (LANES * WIDTH), side = side0 + lane * WIDTH, first = get_group_id(1) * s.part;
    const ulong k = min(s.part, s.k - first), count = count_of(k, slice, SLICES);
    const size_t m0 = BEGIN_OF_MATRIX + side * SIDE_STRIDE + (first + slice) * K_STRIDE,
                 v0 = BEGIN_OF_VECTOR + (first + slice) * VECTOR_STEP;
    *(local SUMV *)&all[slice][lane * WIDTH] = add_runs(MATRIX, VECTOR, m0, v0, SLICES * K_STRIDE, SLICES * VECTOR_STEP, VECTOR_STEP,
                                                        side + WIDTH <= SIDES ? count : 0);
#if WIDTH > 1 // less than a run at the end
    if (side < SIDES && side + WIDTH > SIDES)
        for (uint j = 0; side + j < SIDES; j++) {
            SUM sum = 0;
            for (ulong i = 0; i < count; i++)
                sum = MULTIPLY_ADD((SUM)MATRIX_LOAD(MATRIX, m0 + i * SLICES * K_STRIDE + j),
                                   (SUM)VECTOR_LOAD(VECTOR, v0 + i * SLICES * VECTOR_STEP), sum);
            all[slice][lane * WIDTH + j] = sum;
        }
#endif
    barrier(CLK_LOCAL_MEM_FENCE);
    const epilogue e = EPILOGUE;
    for (uint j = slice * LANES + lane; j < LANES * WIDTH; j += LANES * SLICES) {
        SUM sum = 0;
        #pragma unroll 8
        for (uint p = 0; p < SLICES; p++) sum += all[p][j];
        if (side0 + j < SIDES) put_side(out, work, sum, s, &e, &at, side0 + j);
    }
}
#endif
