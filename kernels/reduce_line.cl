// Many elements to one on a processor, where neighbours in memory are of one result (rows) or of several (COLUMNS): a work-item goes along
// them by vectors of W. Of a row it has four vectors of sums, which it joins at the end; of COLUMNS neighbouring results as many
// vectors. So the order depends on the shape alone. SPLIT: a result is of `pieces` work-items, whose states reduce.cl joins.
// By -D: as for reduce.cl, but TEAM, N and ACROSS; W; MASK, an unsigned integer as wide as VALUE, where elements are compared; WHERE: it is
// asked where something is; BY_ONE: elements have no vectors that are converted at once.
#include "reduce.h"

#define JOINED(x, y)       x##y
#define OF_LANES(x, lanes) JOINED(x, lanes)
#define VECTOR             OF_LANES(VALUE, W)
#define VLOAD              OF_LANES(vload, W)
#define VSTORE             OF_LANES(vstore, W)
#ifdef COLUMNS
#define STREAMS COLUMNS
#else
#define STREAMS 4 // of a row
#endif

static VECTOR load(global const FROM *p) {
#ifdef BY_ONE
    VALUE each[W];
    #pragma unroll
    for (uint j = 0; j < W; j++) each[j] = VALUE_OF(p[j]);
    return VLOAD(0, each);
#else
    return OF_LANES(OF_LANES(convert_, VALUE), W)(VLOAD(0, p));
#endif
}

// x where the mask is set, else y.
#ifdef MASK
#define MASKS OF_LANES(MASK, W)
#define CHOSEN(mask, x, y) OF_LANES(as_, VECTOR)((OF_LANES(as_, MASKS)(x) & (mask)) | (OF_LANES(as_, MASKS)(y) & ~(mask)))
#endif

#ifdef WHERE
#define NOWHERE ((MASK)~(MASK)0)
// `at`: where the vectors that gave them began.
typedef struct lanes {
    VECTOR v;
    MASKS at;
} lanes;

static lanes no_lanes(void) {
    const lanes l = {(VECTOR)(LEAST), (MASKS)NOWHERE};
    return l;
}

// What is no better than LEAST is left out.
static lanes join_lanes(lanes l, VECTOR x, ulong at) {
#ifdef REDUCE_argmax
    const MASKS better = OF_LANES(as_, MASKS)(x > l.v);
#else
    const MASKS better = OF_LANES(as_, MASKS)(x < l.v);
#endif
    l.v = CHOSEN(better, x, l.v);
    l.at = ((MASKS)(MASK)at & better) | (l.at & ~better);
    return l;
}

static state state_of(VALUE v, MASK at, uint lane) {
    const state s = {v, at == NOWHERE ? ~0ul : (ulong)at + lane};
    return s;
}
#else
typedef VECTOR lanes;
static lanes no_lanes(void) { return (VECTOR)(LEAST); }
static lanes join_lanes(lanes l, VECTOR x, ulong at) {
#if defined REDUCE_product
    return l * x;
#elif defined REDUCE_max && defined REAL
    const MASKS better = OF_LANES(as_, MASKS)((x > l) | (l != l)); // fmax, of which no vectors are made
    return CHOSEN(better, x, l);
#elif defined REDUCE_min && defined REAL
    const MASKS better = OF_LANES(as_, MASKS)((x < l) | (l != l));
    return CHOSEN(better, x, l);
#elif defined REDUCE_max
    return max(l, x);
#elif defined REDUCE_min
    return min(l, x);
#elif defined REDUCE_norm2
    return l + x * x;
#else
    return l + x;
#endif
}
#endif

// Of the same lanes.
static lanes join_two(lanes x, lanes y) {
#ifdef WHERE
    const MASKS equal = OF_LANES(as_, MASKS)(y.v == x.v) & OF_LANES(as_, MASKS)(y.at < x.at);
#ifdef REDUCE_argmax
    const MASKS better = OF_LANES(as_, MASKS)(y.v > x.v) | equal;
#else
    const MASKS better = OF_LANES(as_, MASKS)(y.v < x.v) | equal;
#endif
    x.v = CHOSEN(better, y.v, x.v);
    x.at = (y.at & better) | (x.at & ~better);
    return x;
#elif defined REDUCE_norm2
    return x + y;
#else
    return join_lanes(x, y, 0);
#endif
}

#ifdef WHERE
#define EACH_LANE(vectors, each, places)                                                                     \
    VALUE each[W];                                                                                           \
    MASK places[W];                                                                                          \
    VSTORE((vectors).v, 0, each);                                                                            \
    VSTORE((vectors).at, 0, places)
#define LANE(each, places, j, lane) state_of((each)[j], (places)[j], lane)
#else
#define EACH_LANE(vectors, each, places)                                                                     \
    VALUE each[W];                                                                                           \
    VSTORE(vectors, 0, each)
#define LANE(each, places, j, lane) (each)[j]
#endif

// One by one.
static state gather(reduced r, global const FROM *p, ulong i, ulong end) {
    state s = least();
    for (; i < end; i++) s = join(s, take(VALUE_OF(p[from_place(r, i)]), i));
    return s;
}

#ifndef COLUMNS
static state gather_row(reduced r, global const FROM *p, ulong begin, ulong end) {
    lanes l[STREAMS];
    #pragma unroll
    for (uint a = 0; a < STREAMS; a++) l[a] = no_lanes();
    ulong i = begin;
    for (; i + STREAMS * W <= end; i += STREAMS * W) {
        #pragma unroll
        for (uint a = 0; a < STREAMS; a++) l[a] = join_lanes(l[a], load(p + i + a * W), i + a * W);
    }
    const lanes all = join_two(join_two(l[0], l[1]), join_two(l[2], l[3]));
    state s = least();
    EACH_LANE(all, each, places);
    #pragma unroll
    for (uint j = 0; j < W; j++) s = join(s, LANE(each, places, j, j));
    s = join(s, gather(r, p, i, end));
#ifdef WHERE
    if (s.v == (VALUE)(LEAST)) s = gather(r, p, begin, end);
#endif
    return s;
}
#endif

#ifdef SPLIT
#define PUT(output, s) to[(output) * pieces + piece] = s
#define RESULTS state
#else
#define PUT(output, s) to[(long)to_begin + kept_to(k, output)] = TO_CONVERT(finish(s, count))
#define RESULTS TO
#endif

// Work-items: pieces of results; or, with COLUMNS, results along the innermost dimension, those of the others, pieces.
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
reduce(kept k, reduced r, ulong outputs, ulong count, ulong elements, ulong length, ulong pieces, ulong from_begin,
       global const FROM *restrict from, ulong to_begin, global RESULTS *restrict to) {
    const ulong item = get_group_id(0);
#ifndef COLUMNS
    const ulong output = item / pieces, piece = item % pieces, begin = piece * length;
    PUT(output, gather_row(r, from + (long)from_begin + kept_from(k, output), begin, min(begin + length, elements)));
#else
    const ulong side = k.sizes[0], across = (side + STREAMS * W - 1) / (STREAMS * W), others = outputs / side;
    const ulong rest = item / across, own = item % across * (STREAMS * W), output = rest % others * side;
    const ulong piece = rest / others, begin = piece * length, end = min(begin + length, elements);
    const ulong first = min(own, side - STREAMS * W); // the last ones are whole vectors, too
    global const FROM *p = from + (long)from_begin + kept_from(k, output) + first;
    lanes l[STREAMS];
    #pragma unroll
    for (uint a = 0; a < STREAMS; a++) l[a] = no_lanes();
    for (ulong i = begin; i < end; i++) {
        global const FROM *row = p + from_place(r, i);
        #pragma unroll
        for (uint a = 0; a < STREAMS; a++) l[a] = join_lanes(l[a], load(row + a * W), i);
    }
    #pragma unroll
    for (uint a = 0; a < STREAMS; a++) {
        EACH_LANE(l[a], each, places);
        for (uint j = 0; j < W; j++) {
            const ulong column = first + a * W + j;
            if (column < own) continue;
            state s = LANE(each, places, j, 0);
#ifdef WHERE
            if (s.v == (VALUE)(LEAST)) s = gather(r, p + a * W + j, begin, end);
#endif
            PUT(output + column, s);
        }
    }
#endif
}
