// The second half of a qn_kernels_matmul whose k is split: the sums of all parts are added, always in the same order, and go through
// the epilogue. Global size: n, m, batches, or with TURNED m, n, batches. `part` is how many parts there are.
#include "numbers.h"

kernel void matmul(PARAMETERS) {
    const places at = places_of(s, get_global_id(2));
#ifdef TURNED
    const size_t row = get_global_id(0), column = get_global_id(1), place = column * s.m + row;
#else
    const size_t row = get_global_id(1), column = get_global_id(0), place = row * s.n + column;
#endif
    const ulong batches = get_global_size(2), size = s.m * s.n;
    global const SUM *from = work + get_global_id(2) * size + place;
    const epilogue e = EPILOGUE;
    SUM sum = 0;
    #pragma unroll 8
    for (ulong p = 0; p < s.part; p++) sum += from[p * batches * size];
    put(out, sum, s, &e, &at, row, column);
}
