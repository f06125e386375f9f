// The second half of a qn_matmul whose k is split: the sums of all parts are added, always in the same order, and go through
// the epilogue. Global size: n, m, batches. `part` is how many parts there are.
#include "numbers.h"

kernel void matmul(PARAMETERS) {
    const places at = places_of(s, get_global_id(2));
    const size_t row = get_global_id(1), column = get_global_id(0);
    const ulong batches = get_global_size(2);
    global const SUM *from = work + (get_global_id(2) * s.m + row) * s.n + column;
    const epilogue e = EPILOGUE;
    SUM sum = 0;
    for (ulong p = 0; p < s.part; p++) sum += from[p * batches * s.m * s.n];
    put(out, sum, s, &e, &at, row, column);
}
