// to = from where both go along the innermost dimension. A work-item moves U packs of V neighbours: with ALONG in that dimension, LX packs
// apart, else in U rows, LY apart. `head`: how many elements before the first one the packs begin, so that they are aligned. By -D:
// those of copy.h; FROM_LOADED, what loading gives; FROM_WORD and TO_WORD, in which packs are moved. Local size: LX, LY. Global size: the
// innermost dimension, the next one, and all others.
#define FROM_DIMENSION 0
#include "copy.h"

PACK(from_pack, FROM, FROM_COUNT, FROM_WORD)
PACK(to_pack, TO, V, TO_WORD)

#ifdef ALONG
#define TO_STEP (LX * V * TO_STRIDE)
#define FROM_STEP (LX * V * FROM_STRIDE)
#else
#define TO_STEP (LY * w.to[1])
#define FROM_STEP (LY * w.from[1])
#endif

static to_pack converted(from_pack x) {
    to_pack r;
    #pragma unroll
    for (uint k = 0; k < V; k++) r.e[k] = CONVERT((FROM_LOADED)x.e[FROM_COUNT == 1 ? 0 : k]);
    return r;
}

kernel __attribute__((reqd_work_group_size(LX, LY, 1))) void
lines(walk w, uint head, ulong to_begin, global TO *restrict to, ulong from_begin, global const FROM *restrict from) {
    const long n = w.sizes[0];
#ifdef ALONG
    const long column = (long)get_group_id(0) * (LX * V * U) + (long)get_local_id(0) * V - head, row = get_global_id(1);
    const bool whole = column >= 0 && column + (U - 1) * LX * V + V <= n;
#else
    const long column = (long)get_global_id(0) * V - head, row = (long)get_group_id(1) * (LY * U) + get_local_id(1);
    const bool whole = column >= 0 && column + V <= n && row + (U - 1) * LY < w.sizes[1];
#endif
    const ulong outer = get_global_id(2);
    to += (long)to_begin + column * TO_STRIDE + outer_to(w, outer);
    from += (long)from_begin + column * FROM_STRIDE + outer_from(w, outer);
#if RANK > 1
    to += row * w.to[1];
    from += row * w.from[1];
#endif
    if (whole) {
        from_pack x[U]; // all loads are under way before the first store
        #pragma unroll
        for (uint u = 0; u < U; u++) x[u] = from_pack_load(from + u * FROM_STEP);
        #pragma unroll
        for (uint u = 0; u < U; u++) to_pack_store(to + u * TO_STEP, converted(x[u]));
        return;
    }
    #pragma unroll 1
    for (uint u = 0; u < U; u++) {
#ifdef ALONG
        const long at = column + u * (LX * V);
#else
        const long at = column;
        if (row + u * LY >= w.sizes[1]) return;
#endif
        #pragma unroll 1
        for (uint k = 0; k < V; k++)
            if (at + k >= 0 && at + k < n)
                to[u * TO_STEP + k * TO_STRIDE] = CONVERT((FROM_LOADED)from[u * FROM_STEP + k * FROM_STRIDE]);
    }
}
