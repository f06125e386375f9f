// to = from for arrays of any strides and types. By -D: those of copy.h, and CONTIGUOUS: along the innermost dimension all elements are
// neighbours. Global size: the two innermost dimensions, and all others.
#ifdef CONTIGUOUS
#define TO_STRIDE 1
#define FROM_STRIDE 1
#endif
#define FROM_DIMENSION 0
#include "copy.h"

kernel void copy(walk w, ulong to_begin, global TO *restrict to, ulong from_begin, global const FROM *restrict from) {
    const long column = get_global_id(0), row = get_global_id(1);
    const ulong outer = get_global_id(2);
    size_t to_at = to_begin + column * TO_STRIDE + outer_to(w, outer);
    size_t from_at = from_begin + column * FROM_STRIDE + outer_from(w, outer);
#if RANK > 1
    to_at += row * w.to[1];
    from_at += row * w.from[1];
#endif
    TO_STORE(to, to_at, CONVERT(FROM_LOAD(from, from_at)));
}

typedef struct place {
    ulong sizes[RANK];
    long to[RANK];
} place;

PLACE_IN(outer_place, (place w, ulong i), 2, RANK, to)

kernel void fill(place w, ulong to_begin, global TO *restrict to, TO value) {
    size_t to_at = to_begin + (long)get_global_id(0) * w.to[0] + outer_place(w, get_global_id(2));
#if RANK > 1
    to_at += (long)get_global_id(1) * w.to[1];
#endif
    to[to_at] = value;
}
