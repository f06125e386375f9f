// to = f(a, b, c), element by element, for arrays of any strides and types. By -D: OP, the function (map_functions.h), of ARITY
// operands; VALUE, what is computed in, and RESULT, what the function gives. For each operand and `to` its type (A), what
// loading gives (A_LOADED) and the conversion from there (A_CONVERT), and A_COUNT, how many neighbours a work-item loads at
// once: N, or 1 for an element that all share; A_WORD: in words of this type. A_SCALAR: the operand is a number in place of an array. ARRAYS and RANK of the
// walk. Global size: the innermost dimension by N, the next one, and all others. UNEVEN: N does not divide the innermost one.
#include "element.h"
#include "map_functions.h"
#include "pack.h"

typedef struct walk {
    ulong sizes[RANK];
    long strides[ARRAYS][RANK];
} walk;

// Where the work-item begins in array number `array`; `inner` is its index in the innermost dimension.
static size_t place(walk w, uint array, long inner) {
    size_t at = inner * w.strides[array][0];
#if RANK > 1
    at += (long)get_global_id(1) * w.strides[array][1];
#endif
#if RANK > 2
    ulong rest = get_global_id(2);
    #pragma unroll
    for (uint d = 2; d < RANK; d++) {
        const ulong outer = d + 1 < RANK ? rest / w.sizes[d] : 0;
        at += (long)(rest - outer * w.sizes[d]) * w.strides[array][d];
        rest = outer;
    }
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

kernel void map(walk w, ulong to_begin, global TO *RESTRICT to A_PARAMETER B_PARAMETER C_PARAMETER) {
    const long inner = (long)get_global_id(0) * N;
    uint array = 0;
    to += to_begin + place(w, array++, inner);
#ifdef A
    a += a_begin + place(w, array++, inner);
#endif
#ifdef B
    b += b_begin + place(w, array++, inner);
#endif
#ifdef C
    c += c_begin + place(w, array++, inner);
#endif
#ifdef UNEVEN
    if (inner + N > w.sizes[0]) {
        for (uint k = 0; inner + k < w.sizes[0]; k++)
            to[k] = TO_CONVERT(apply(FIRST(a, k) SECOND(b, k) THIRD(c, k)));
        return;
    }
#endif
#ifdef A
    const a_pack as = a_pack_load(a);
#endif
#ifdef B
    const b_pack bs = b_pack_load(b);
#endif
#ifdef C
    const c_pack cs = c_pack_load(c);
#endif
    to_pack r;
    #pragma unroll
    for (uint k = 0; k < N; k++) r.e[k] = TO_CONVERT(apply(FIRST(as.e, k) SECOND(bs.e, k) THIRD(cs.e, k)));
    to_pack_store(to, r);
}
