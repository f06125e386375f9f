// How many elements fall into each bin. By -D: STORAGE, the type of elements; BINS, the bins that a work-group
// counts in local memory before it adds them to those of all, or without it none; RANGE: bins are parts of a range of floats, else the
// elements themselves. N elements are loaded at once, in words of the type WORD. GROUP work-items a work-group; a global size of their multiple.
#include "pack.h"

#if N > 1
PACK(pack, STORAGE, N, WORD)
#endif

// What no bin is for is at least `bins`.
static uint bin_of(STORAGE element, uint bins, float low, float high, float scale) {
#ifdef RANGE
    const float v = (float)element;
    const uint b = min(convert_uint_sat((v - low) * scale), bins - 1);
    return v >= low && v <= high ? b : bins;
#else
    const long v = (long)element;
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
#ifdef BINS
#define PLACE(b) &mine[b]
#else
#define PLACE(b) &to[to_begin + (b)]
#endif
#define COUNT(element)                                                                                       \
    {                                                                                                        \
        const uint b = bin_of(element, bins, low, high, scale);                                              \
        if (b < bins) atomic_inc(PLACE(b));                                                                  \
    }
    global const STORAGE *p = from + from_begin;
    const ulong step = get_global_size(0);
    ulong i = get_global_id(0);
#if N > 1
    enum { AHEAD = N > 4 ? 1 : 4 };
    const ulong packs = length / N;
    for (; i + (AHEAD - 1) * step < packs; i += AHEAD * step) {
        pack v[AHEAD];
        #pragma unroll
        for (uint a = 0; a < AHEAD; a++) v[a] = pack_load(p + (i + a * step) * N);
        #pragma unroll
        for (uint a = 0; a < AHEAD; a++) {
            #pragma unroll
            for (uint k = 0; k < N; k++) COUNT(v[a].e[k])
        }
    }
    for (; i < packs; i += step) {
        const pack v = pack_load(p + i * N);
        #pragma unroll
        for (uint k = 0; k < N; k++) COUNT(v.e[k])
    }
    i = packs * N + get_global_id(0);
#endif
    for (; i < length; i += step) COUNT(p[i])
#ifdef BINS
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint b = get_local_id(0); b < bins; b += GROUP)
        if (mine[b]) atomic_add(&to[to_begin + b], mine[b]);
#endif
}
