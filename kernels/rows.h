// What kernels of rows share (rows.cl, norm_backward.cl): LOCAL work-items have a row of n elements, and each takes N neighbours of every
// LOCAL * N. They are a work-group; with ROWS, which is for short rows, they are a part of a sub-group, and a work-group has ROWS of them.
// HELD: times that are enough for the row, whose elements are then kept in registers and read once; without it they are read again for
// each step. Arrays A and, where there is one, B are read, TO is written: types as in map.cl, VALUE is computed in. WEIGHT and BIAS,
// where they are, go along the row. EXACT: LOCAL * N divides n. RANK and ARRAYS: of the walk over rows. ABSENT: what counts as an
// element of A beyond the row. UNIT: elements of rows are next to each other, as they are where N is more than 1.
#include "element.h"
#include "pack.h"
#include "place.h"

typedef struct walk {
    ulong sizes[RANK];
    long strides[ARRAYS][RANK];
    long to_stride, a_stride, b_stride; // along the row
} walk;

// e^x. NATIVE: by the device's own power of 2, whose error is within float's rounding of x log2 e.
#ifdef NATIVE
#define EXP(x)       native_exp2((x)*1.44269504f)
#define LARGER(a, b) fmax(a, b)
#else
#define EXP(x) exp(x)
#define LARGER(a, b)                                                                                         \
    ((b) > (a) ? (b) : (a)) // of b that is NaN it is a, too, which C compilers make vectors of
#endif
#define FINITE(x) ((x) == -INFINITY ? 0 : (x)) // of what may be the largest of no elements

PACK(a_pack, A, N, A_WORD)
PACK(to_pack, TO, N, TO_WORD)
#define A_VALUE(x) A_CONVERT((A_LOADED)(x))
#ifdef B
PACK(b_pack, B, N, B_WORD)
#define B_VALUE(x) B_CONVERT((B_LOADED)(x))
#endif
#ifdef WEIGHT
PACK(weight_pack, WEIGHT, N, WEIGHT_WORD)
#define WEIGHT_VALUE(x) WEIGHT_CONVERT((WEIGHT_LOADED)(x))
#endif
#ifdef BIAS
PACK(bias_pack, BIAS, N, BIAS_WORD)
#define BIAS_VALUE(x) BIAS_CONVERT((BIAS_LOADED)(x))
#endif

PLACE_IN(row_place, (walk w, uint array, ulong i), 0, RANK, strides[array])

typedef ulong place; // of an element in its row
#ifdef UNIT
#define ALONG(stride, i) (i)
#else
#define ALONG(stride, i) ((long)(i) * (stride))
#endif

// N elements from `i` on; what is beyond the row becomes `absent`. `sure`: all are in the row, which the compiler knows.
#define FETCH(name, type, pack, value)                                                                       \
    static void name(VALUE *v, global const type *p, long stride, place i, place n, VALUE absent,            \
                     bool sure) {                                                                            \
        if (N > 1 && (sure || i + N <= n)) {                                                                 \
            const pack x = pack##_load(p + i);                                                               \
            _Pragma("unroll") for (uint k = 0; k < N; k++) v[k] = value(x.e[k]);                             \
        } else {                                                                                             \
            _Pragma("unroll") for (uint k = 0; k < N; k++) v[k] =                                            \
                sure || i + k < n ? value(p[ALONG(stride, i + k)]) : absent;                                 \
        }                                                                                                    \
    }
FETCH(fetch_a, A, a_pack, A_VALUE)
#ifdef B
FETCH(fetch_b, B, b_pack, B_VALUE)
#endif
#ifdef WEIGHT
FETCH(fetch_weight, WEIGHT, weight_pack, WEIGHT_VALUE)
#endif
#ifdef BIAS
FETCH(fetch_bias, BIAS, bias_pack, BIAS_VALUE)
#endif

// In a loop of EACH, after READ_AGAIN, x[j] and y[j] are the elements of a and b at PLACE and its neighbours.
#ifdef B
#define READ(j)                                                                                              \
    fetch_a(x[j], a, w.a_stride, PLACE_OF(j), n, ABSENT, SURE(j)),                                           \
        fetch_b(y[j], b, w.b_stride, PLACE_OF(j), n, 0, SURE(j))
#else
#define READ(j) fetch_a(x[j], a, w.a_stride, PLACE_OF(j), n, ABSENT, SURE(j))
#endif
#define PLACE PLACE_OF(j)
#ifdef HELD
#define PLACE_OF(j) (((place)(j)*LOCAL + lid) * N)
#define EACH        _Pragma("unroll") for (uint j = 0; j < HELD; j++)
#define READ_AGAIN
#else
#define AGAIN
#define HELD        1
#define PLACE_OF(j) ((round * LOCAL + lid) * N)
#define EACH        for (place round = 0, j = 0; round < rounds; round++)
#define READ_AGAIN  READ(0)
#endif
#define ALL_K _Pragma("unroll") for (uint k = 0; k < N; k++)
// Rows reach into the last of the times that are HELD.
#define SURE(j) (EXACT || (j) + 1 < HELD)
#define INSIDE  (SURE(j) || PLACE + k < n)

// Where a work-item is in its row, its row, and sums over the row.
#ifdef ROWS
#define ITEM          (get_sub_group_id() * get_max_sub_group_size() + get_sub_group_local_id())
#define LANE          (ITEM % LOCAL)
#define ROW           (get_group_id(0) * ROWS + ITEM / LOCAL)
#define GROUP         (ROWS * LOCAL)
#define REDUCE_ADD(x) add_up(x)
#define REDUCE_MAX(x) largest(x)
// All take part: sub_group_clustered_reduce asks whether they do, which devices without sub-groups cannot.
static VALUE add_up(VALUE x) {
#pragma unroll
    for (uint step = 1; step < LOCAL; step *= 2) x += sub_group_shuffle_xor(x, step);
    return x;
}
static VALUE largest(VALUE x) {
#pragma unroll
    for (uint step = 1; step < LOCAL; step *= 2) x = fmax(x, sub_group_shuffle_xor(x, step));
    return x;
}
#else
#define LANE          ((uint)get_local_id(0))
#define ROW           get_group_id(0)
#define GROUP         LOCAL
#define REDUCE_ADD(x) work_group_reduce_add(x)
#define REDUCE_MAX(x) work_group_reduce_max(x)
#endif

#ifdef SUBS
// Several sums over a row at once, by two barriers: SUBS, at least as many as the work-group has sub-groups.
static void reduce_all(VALUE *sums, uint count, local VALUE *parts) {
#pragma unroll
    for (uint i = 0; i < count; i++) {
        sums[i] = sub_group_reduce_add(sums[i]);
        if (get_sub_group_local_id() == 0) parts[i * SUBS + get_sub_group_id()] = sums[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint subs = get_num_sub_groups();
#pragma unroll
    for (uint i = 0; i < count; i++) {
        VALUE sum = 0;
        for (uint s = 0; s < subs; s++) sum += parts[i * SUBS + s];
        sums[i] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}
#else
static void reduce_all(VALUE *sums, uint count, local VALUE *parts) {
#pragma unroll
    for (uint i = 0; i < count; i++) sums[i] = REDUCE_ADD(sums[i]);
}
#endif

// Writes N elements from `i` on, of which `n` are in the row.
static void put(global TO *p, long stride, place i, place n, const VALUE *v, bool sure) {
    if (N > 1 && (sure || i + N <= n)) {
        to_pack r;
        ALL_K r.e[k] = TO_CONVERT(v[k]);
        to_pack_store(p + i, r);
    } else {
        ALL_K {
            if (sure || i + k < n) p[ALONG(stride, i + k)] = TO_CONVERT(v[k]);
        }
    }
}
