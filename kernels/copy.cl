// to = from for arrays of any strides and types. By -D: the types (FROM, FROM_LOAD, TO, TO_STORE, see element.h), CONVERT from
// the one to the other, and RANK, the dimensions that are left after those that lie together have become one. CONTIGUOUS:
// along the innermost one all elements are neighbours. Global size: the two innermost dimensions, and all others.
#include "element.h"

typedef struct walk {
    ulong sizes[RANK];
    long to[RANK], from[RANK];
} walk;

kernel void copy(walk w, ulong to_begin, global TO *restrict to, ulong from_begin, global const FROM *restrict from) {
    long i = get_global_id(0);
#ifdef CONTIGUOUS
    size_t to_at = to_begin + i, from_at = from_begin + i;
#else
    size_t to_at = to_begin + i * w.to[0], from_at = from_begin + i * w.from[0];
#endif
#if RANK > 1
    i = get_global_id(1);
    to_at += i * w.to[1];
    from_at += i * w.from[1];
#endif
#if RANK > 2
    ulong rest = get_global_id(2);
    #pragma unroll
    for (uint d = 2; d < RANK; d++) {
        const ulong outer = d + 1 < RANK ? rest / w.sizes[d] : 0;
        i = rest - outer * w.sizes[d];
        to_at += i * w.to[d];
        from_at += i * w.from[d];
        rest = outer;
    }
#endif
    TO_STORE(to, to_at, CONVERT(FROM_LOAD(from, from_at)));
}

typedef struct place {
    ulong sizes[RANK];
    long to[RANK];
} place;

kernel void fill(place w, ulong to_begin, global TO *restrict to, TO value) {
    long i = get_global_id(0);
    size_t to_at = to_begin + i * w.to[0];
#if RANK > 1
    to_at += (long)get_global_id(1) * w.to[1];
#endif
#if RANK > 2
    ulong rest = get_global_id(2);
    #pragma unroll
    for (uint d = 2; d < RANK; d++) {
        const ulong outer = d + 1 < RANK ? rest / w.sizes[d] : 0;
        to_at += (long)(rest - outer * w.sizes[d]) * w.to[d];
        rest = outer;
    }
#endif
    to[to_at] = value;
}
