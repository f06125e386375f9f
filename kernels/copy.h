// What the kernels of qn_kernels_copy share: the walk over both arrays, whose first dimension is the innermost of `to`. By -D: the types
// (FROM, FROM_LOAD, TO, TO_STORE, see element.h), CONVERT from the one to the other, and RANK, the dimensions that are left after those
// that lie together have become one; TO_STRIDE and FROM_STRIDE, along the dimension in which an array is gone through, where they are known:
// 1, or 0 for an element that is repeated. FROM_DIMENSION: which one that is for `from`.
#include "element.h"
#include "pack.h"
#include "place.h"

typedef struct walk {
    ulong sizes[RANK];
    long to[RANK], from[RANK];
} walk;

#ifndef TO_STRIDE
#define TO_STRIDE w.to[0]
#endif
#ifndef FROM_STRIDE
#define FROM_STRIDE w.from[FROM_DIMENSION]
#endif

// By the dimensions beyond the two innermost ones.
PLACE_IN(outer_to, (walk w, ulong i), 2, RANK, to)
PLACE_IN(outer_from, (walk w, ulong i), 2, RANK, from)
