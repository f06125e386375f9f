// What reduce.cl and reduce_line.cl share: walks, the operations, and where elements are. By -D: see reduce.cl.
#include "element.h"
#include "place.h"
#pragma OPENCL FP_CONTRACT OFF

typedef struct kept {
    ulong sizes[KEPT];
    long from[KEPT], to[KEPT];
} kept;

// `index` gives the index in the order of the array's dimensions, for those that ask where something is.
typedef struct reduced {
    ulong sizes[REDUCED];
    long from[REDUCED], index[REDUCED];
} reduced;

// ---- the operations: `least` for the first, `take` of an element, `join` of two and `finish` ----

#if defined REDUCE_argmax || defined REDUCE_argmin
typedef struct state {
    VALUE v;
    ulong at;
} state;
static state least(void) {
    const state s = {LEAST, ~0ul};
    return s;
}
static state take(VALUE v, ulong at) {
    const state s = {v, at};
    return s;
}
static state join(state a, state b) {
#ifdef REDUCE_argmax
    const bool better = b.v > a.v;
#else
    const bool better = b.v < a.v;
#endif
    // A NaN is equal to nothing, and so never taken.
    return better || (b.v == a.v && b.at < a.at) ? b : a;
}
static ulong finish(state s, ulong count) { return s.at == ~0ul ? 0 : s.at; }
#else
typedef VALUE state;
static state least(void) { return LEAST; }
#if defined REDUCE_norm2
static state take(VALUE v, ulong at) { return v * v; }
#elif defined REDUCE_any || defined REDUCE_all
static state take(VALUE v, ulong at) { return v != 0; }
#else
static state take(VALUE v, ulong at) { return v; }
#endif
static state join(state a, state b) {
#if defined REDUCE_product
    return a * b;
#elif defined REDUCE_max && defined REAL
    return fmax(a, b);
#elif defined REDUCE_min && defined REAL
    return fmin(a, b);
#elif defined REDUCE_max
    return max(a, b);
#elif defined REDUCE_min
    return min(a, b);
#elif defined REDUCE_any
    return a != 0 || b != 0;
#elif defined REDUCE_all
    return a != 0 && b != 0;
#else
    return a + b;
#endif
}
static RESULT finish(state s, ulong count) {
#if defined REDUCE_mean
    return (RESULT)s / (RESULT)count;
#elif defined REDUCE_norm2
    return sqrt(s);
#else
    return s;
#endif
}
#endif

// ---- where elements are ----

#define VALUE_OF(x) FROM_CONVERT((FROM_LOADED)(x))

PLACE_IN(from_place, (reduced w, ulong i), 0, REDUCED, from)
PLACE_IN(index_of, (reduced w, ulong i), 0, REDUCED, index)
PLACE_IN(kept_from, (kept w, ulong i), 0, KEPT, from)
PLACE_IN(kept_to, (kept w, ulong i), 0, KEPT, to)
