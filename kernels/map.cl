// to = f(a, b, c), element by element, for arrays of any strides and types. By -D: OP, the function (map_functions.h), of ARITY
// operands; VALUE, what is computed in, and RESULT, what the function gives. For each operand and `to` its type (A), what
// loading gives (A_LOADED) and the conversion from there (A_CONVERT), and A_COUNT, how many neighbours a work-item loads at
// once: N, or 1 for an element that all share; A_WORD: in words of this type. A_SCALAR: the operand is a number in place of an array. ARRAYS and RANK of the
// walk. Global size: the innermost dimension by N, the next one, and all others. UNEVEN: N does not divide the innermost one. U: a work-item has so
// many packs of N, with ALONG in the innermost dimension, LX packs apart, else in rows, LY apart; the local size is LX, LY. TO_INNER, A_INNER ...:
// strides along the innermost dimension where they are known, which a processor's compiler makes vectors by.
#include "element.h"
#include "map_functions.h"
#include "pack.h"
#include "place.h"

typedef struct walk {
    ulong sizes[RANK];
    long strides[ARRAYS][RANK];
} walk;

#ifdef U
#define ATTRIBUTE __attribute__((reqd_work_group_size(LX, LY, 1)))
#else
#define U 1
#define ALONG
#define LX 0
#define SIMPLE
#define ATTRIBUTE
#endif
#ifdef ALONG
#define STEP(array) (LX * N * w.strides[array][0])
#else
#define STEP(array) (LY * w.strides[array][1])
#endif

#ifndef TO_INNER
#define TO_INNER w.strides[0][0]
#endif
#ifndef A_INNER
#define A_INNER w.strides[array][0]
#endif
#ifndef B_INNER
#define B_INNER w.strides[array][0]
#endif
#ifndef C_INNER
#define C_INNER w.strides[array][0]
#endif

PLACE_IN(outer_place, (walk w, uint array, ulong i), 2, RANK, strides[array])

// Where the work-item begins in array number `array`.
static size_t place(walk w, uint array, long stride, long inner, long row) {
    long at = inner * stride + outer_place(w, array, get_global_id(2));
#if RANK > 1
    at += row * w.strides[array][1];
#endif
    return at;
}

PACK(to_pack, TO, N, TO_WORD)

// FIRST, SECOND and THIRD: element k of an operand, from the pack x or the number.
#if ARITY > 0
#ifdef A_SCALAR
#define A_PARAMETER , A_SCALAR a
#define FIRST(x, k) a
#else
PACK(a_pack, A, A_COUNT, A_WORD)
#define A_PARAMETER , ulong a_begin, global const A *RESTRICT a
#define FIRST(x, k) A_CONVERT((A_LOADED)(x)[A_COUNT == 1 ? 0 : (k)])
#endif
#else
#define A_PARAMETER
#endif

#if ARITY > 1
#ifdef B_SCALAR
#define B_PARAMETER , B_SCALAR b
#define SECOND(x, k) , b
#else
PACK(b_pack, B, B_COUNT, B_WORD)
#define B_PARAMETER , ulong b_begin, global const B *RESTRICT b
#define SECOND(x, k) , B_CONVERT((B_LOADED)(x)[B_COUNT == 1 ? 0 : (k)])
#endif
#else
#define B_PARAMETER
#define SECOND(x, k)
#endif

#if ARITY > 2
#ifdef C_SCALAR
#define C_PARAMETER , C_SCALAR c
#define THIRD(x, k) , c
#else
PACK(c_pack, C, C_COUNT, C_WORD)
#define C_PARAMETER , ulong c_begin, global const C *RESTRICT c
#define THIRD(x, k) , C_CONVERT((C_LOADED)(x)[C_COUNT == 1 ? 0 : (k)])
#endif
#else
#define C_PARAMETER
#define THIRD(x, k)
#endif

#if ARITY == 1
static RESULT apply(FIRST_VALUE a) { return (RESULT)OP(a); }
#elif ARITY == 2
static RESULT apply(FIRST_VALUE a, VALUE b) { return (RESULT)OP(a, b); }
#else
static RESULT apply(FIRST_VALUE a, VALUE b, VALUE c) { return (RESULT)OP(a, b, c); }
#endif

#define EACH _Pragma("unroll") for (uint u = 0; u < U; u++)

kernel ATTRIBUTE void map(walk w, ulong to_begin, global TO *RESTRICT to A_PARAMETER B_PARAMETER C_PARAMETER) {
#ifdef SIMPLE
    const long inner = (long)get_global_id(0) * N, row = get_global_id(1);
#elif defined ALONG
    const long inner = (long)get_group_id(0) * (LX * N * U) + (long)get_local_id(0) * N, row = get_global_id(1);
#else
    const long inner = (long)get_global_id(0) * N, row = (long)get_group_id(1) * (LY * U) + get_local_id(1);
#endif
    uint array = 0;
    to += to_begin + place(w, array, TO_INNER, inner, row);
    const long to_step = STEP(array);
#ifdef A
    array++;
    a += a_begin + place(w, array, A_INNER, inner, row);
    const long a_step = STEP(array);
#endif
#ifdef B
    array++;
    b += b_begin + place(w, array, B_INNER, inner, row);
    const long b_step = STEP(array);
#endif
#ifdef C
    array++;
    c += c_begin + place(w, array, C_INNER, inner, row);
    const long c_step = STEP(array);
#endif
#ifdef UNEVEN
#ifdef ALONG
    const bool whole = inner + (U - 1) * LX * N + N <= w.sizes[0];
#else
    const bool whole = inner + N <= w.sizes[0] && row + (U - 1) * LY < w.sizes[1];
#endif
    if (!whole) {
        for (uint u = 0; u < U; u++) {
#ifdef ALONG
            const long at = inner + u * (LX * N);
#else
            const long at = inner;
            if (row + u * LY >= w.sizes[1]) return;
#endif
            for (uint k = 0; k < N && at + k < w.sizes[0]; k++)
                to[u * to_step + k] = TO_CONVERT(apply(FIRST((a + u * a_step), k) SECOND((b + u * b_step), k) THIRD((c + u * c_step), k)));
        }
        return;
    }
#endif
    // All loads are under way before the first store.
#ifdef A
    a_pack as[U];
    EACH as[u] = a_pack_load(a + u * a_step);
#endif
#ifdef B
    b_pack bs[U];
    EACH bs[u] = b_pack_load(b + u * b_step);
#endif
#ifdef C
    c_pack cs[U];
    EACH cs[u] = c_pack_load(c + u * c_step);
#endif
    EACH {
        to_pack r;
        #pragma unroll
        for (uint k = 0; k < N; k++)
            r.e[k] = TO_CONVERT(apply(FIRST(as[u].e, k) SECOND(bs[u].e, k) THIRD(cs[u].e, k)));
        to_pack_store(to + u * to_step, r);
    }
}
