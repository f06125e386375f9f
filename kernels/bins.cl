// How many elements fall into each bin. By -D: STORAGE and LOAD, the type of elements (element.h); BINS, the bins that a work-group
// counts in local memory before it adds them to those of all, or without it none; RANGE: bins are parts of a range of floats, else the
// elements themselves. GROUP work-items a work-group; a global size of their multiple.
#include "element.h"

// What no bin is for is at least `bins`.
static uint bin_of(global const STORAGE *restrict from, ulong i, uint bins, float low, float high, float scale) {
#ifdef RANGE
    const float v = (float)LOAD(from, i);
    if (!(v >= low && v <= high)) return bins;
    return min((uint)((v - low) * scale), bins - 1);
#else
    const long v = (long)from[i];
    return v >= 0 && v < (long)bins ? (uint)v : bins;
#endif
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void count(ulong length, uint bins, float low, float high, float scale, ulong from_begin,
                  global const STORAGE *restrict from, ulong to_begin, global uint *to) {
#ifdef BINS
    local uint mine[BINS];
    for (uint b = get_local_id(0); b < bins; b += GROUP) mine[b] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    for (ulong i = get_global_id(0); i < length; i += get_global_size(0)) {
        const uint b = bin_of(from, from_begin + i, bins, low, high, scale);
        if (b < bins) {
#ifdef BINS
            atomic_inc(&mine[b]);
#else
            atomic_inc(&to[to_begin + b]);
#endif
        }
    }
#ifdef BINS
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint b = get_local_id(0); b < bins; b += GROUP)
        if (mine[b]) atomic_add(&to[to_begin + b], mine[b]);
#endif
}
