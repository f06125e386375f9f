// One pass of a separable filter, along one dimension: to[a, i, b] = the sum over t of weights[t] * from[a, i + t - radius, b], where
// what is beyond an end is the element there. By -D: FROM, FROM_LOAD, TO, TO_STORE, the types of elements, and VALUE, that of sums
// (element.h); CONVERT, from a sum to what TO_STORE takes. Global size: b, i, a; where b is 1 (FLAT) i comes first.
#include "element.h"

#define SAME(x) (x)
#define TO_U8(x) convert_uchar_sat_rte(x)
#define TO_U16(x) convert_ushort_sat_rte(x)

kernel void along(ulong length, ulong inner, uint taps, ulong weights_begin, global const float *restrict weights,
                  ulong from_begin, global const FROM *restrict from, ulong to_begin, global TO *restrict to) {
#ifdef FLAT
    const ulong b = 0, i = get_global_id(0), a = get_global_id(1);
#else
    const ulong b = get_global_id(0), i = get_global_id(1), a = get_global_id(2);
#endif
    const ulong line = from_begin + a * length * inner + b;
    const long first = (long)i - taps / 2, last = (long)length - 1;
    VALUE sum = 0;
    for (uint t = 0; t < taps; t++) {
        const long at = clamp(first + t, 0l, last);
        sum += weights[weights_begin + t] * FROM_LOAD(from, line + at * inner);
    }
    TO_STORE(to, to_begin + (a * length + i) * inner + b, CONVERT(sum));
}
