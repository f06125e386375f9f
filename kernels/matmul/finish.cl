// The second half of a qn_kernels_matmul whose k is split: the sums of all parts are added, always in the same order, and go through
// the epilogue. Global size: n, m, batches, or with TURNED m, n, batches. `part` is how many parts there are.
// With SLICES a work-group of 32 by SLICES has 32 neighbours, whose parts it adds in so many slices, and then these: where parts are many,
// the memory's latency is waited for once and not each few parts.
#include "numbers.h"

#define AHEAD 8 // parts that are under way
#ifdef SLICES
#define ATTRIBUTES __attribute__((reqd_work_group_size(32, SLICES, 1)))
#define SECOND get_group_id(1)
#else
#define ATTRIBUTES
#define SECOND get_global_id(1)
#endif

kernel ATTRIBUTES void matmul(PARAMETERS) {
    const places at = places_of(s, get_global_id(2));
#ifdef TURNED
    const size_t row = get_global_id(0), column = SECOND, place = column * s.m + row;
#else
    const size_t row = SECOND, column = get_global_id(0), place = row * s.n + column;
#endif
    const ulong batches = get_global_size(2), size = s.m * s.n;
    const epilogue e = EPILOGUE;
    SUM sum = 0;
#ifdef SLICES
    local SUM sums[SLICES][32];
    const uint slice = get_local_id(1), item = get_local_id(0);
    const ulong each = (s.part + SLICES - 1) / SLICES, first = slice * each, end = min(first + each, s.part);
    const bool inside = row < s.m && column < s.n;
    global const SUM *from = work + get_global_id(2) * size + (inside ? place : 0);
    #pragma unroll AHEAD
    for (ulong p = first; p < end; p++) sum += from[p * batches * size];
    sums[slice][item] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (slice > 0 || !inside) return;
    for (uint other = 1; other < SLICES; other++) sum += sums[other][item];
#else
    global const SUM *from = work + get_global_id(2) * size + place;
    #pragma unroll AHEAD
    for (ulong p = 0; p < s.part; p++) sum += from[p * batches * size];
#endif
    put(out, sum, s, &e, &at, row, column);
}
