// Functions of whole rows: softmax, its gradient, and normalisation. A work-group of LOCAL work-items has a row; each work-item takes
// N neighbours of every LOCAL * N. HELD: times that are enough for the row, whose elements are then kept in registers and read
// once; without it they are read again for each step. By -D: OP_softmax, OP_log_softmax, OP_softmax_backward, OP_log_softmax_backward, OP_layer_norm
// or OP_rms_norm; for arrays A, B (where there is a second one) and TO their types as in map.cl; VALUE that is computed in; WEIGHT and BIAS
// likewise, where they are; RANK and ARRAYS of the walk over rows. Global size: LOCAL for each row.
#include "element.h"
#include "pack.h"

typedef struct walk {
    ulong sizes[RANK];
    long strides[ARRAYS][RANK];
    long to_stride, a_stride, b_stride; // along the row
} walk;

PACK(a_pack, A, N, A_WORD)
PACK(to_pack, TO, N, TO_WORD)
#define A_VALUE(x) A_CONVERT((A_LOADED)(x))
#ifdef B
PACK(b_pack, B, N, B_WORD)
#define B_VALUE(x) B_CONVERT((B_LOADED)(x))
#endif

static long row_place(walk w, uint array) {
    ulong row = get_group_id(0);
    long at = 0;
    #pragma unroll
    for (uint d = 0; d < RANK; d++) {
        const ulong outer = d + 1 < RANK ? row / w.sizes[d] : 0;
        at += (long)(row - outer * w.sizes[d]) * w.strides[array][d];
        row = outer;
    }
    return at;
}

// N elements from `i` on; what is beyond the row becomes `absent`.
#define FETCH(name, type, pack, value)                                                                                  \
    static void name(VALUE *v, global const type *p, long stride, ulong i, ulong n, VALUE absent) {                    \
        if (EXACT || (N > 1 && i + N <= n)) {                                                                                     \
            const pack x = pack##_load(p + i);                                                                         \
            _Pragma("unroll") for (uint k = 0; k < N; k++) v[k] = value(x.e[k]);                                       \
        } else {                                                                                                       \
            _Pragma("unroll") for (uint k = 0; k < N; k++) v[k] = i + k < n ? value(p[(long)(i + k) * stride]) : absent; \
        }                                                                                                              \
    }
FETCH(fetch_a, A, a_pack, A_VALUE)
#ifdef B
FETCH(fetch_b, B, b_pack, B_VALUE)
#endif

#if defined OP_softmax || defined OP_log_softmax
#define ABSENT (-INFINITY)
#else
#define ABSENT 0
#endif

// In a loop of EACH, after READ, x[AT] and y[AT] are the elements of a and b at round j.
#define PLACE (((ulong)j * LOCAL + lid) * N)
#ifdef B
#define READ_BOTH fetch_a(x[AT], a, w.a_stride, PLACE, n, ABSENT), fetch_b(y[AT], b, w.b_stride, PLACE, n, 0)
#else
#define READ_BOTH fetch_a(x[AT], a, w.a_stride, PLACE, n, ABSENT)
#endif
#ifdef HELD
#define EACH _Pragma("unroll") for (uint j = 0; j < HELD; j++)
#define AT j
#define READ
#else
#define HELD 1
#define EACH for (ulong j = 0; j < rounds; j++)
#define AT 0
#define READ READ_BOTH
#define AGAIN
#endif
#define ALL_K _Pragma("unroll") for (uint k = 0; k < N; k++)
#define INSIDE (PLACE + k < n)

kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
rows(walk w, ulong n, VALUE epsilon, ulong to_begin, global TO *restrict to, ulong a_begin, global const A *restrict a
#ifdef B
     , ulong b_begin, global const B *restrict b
#endif
#ifdef WEIGHT
     , long weight_stride, ulong weight_begin, global const WEIGHT *restrict weight
#endif
#ifdef BIAS
     , long bias_stride, ulong bias_begin, global const BIAS *restrict bias
#endif
) {
    const uint lid = (uint)get_local_id(0);
    const ulong rounds = (n + LOCAL * N - 1) / (LOCAL * N);
    VALUE x[HELD][N];
    to += (long)to_begin + row_place(w, 0);
    a += (long)a_begin + row_place(w, 1);
#ifdef B
    VALUE y[HELD][N];
    b += (long)b_begin + row_place(w, 2);
#endif
#ifndef AGAIN
    EACH READ_BOTH;
#endif

#if defined OP_softmax || defined OP_log_softmax
    VALUE most = -INFINITY, sum = 0;
    EACH {
        READ;
        ALL_K most = fmax(most, x[AT][k]);
    }
    most = work_group_reduce_max(most);
    EACH {
        READ;
        ALL_K {
            const VALUE e = exp(x[AT][k] - most);
            sum += e;
#if defined OP_softmax && !defined AGAIN
            x[AT][k] = e;
#endif
        }
    }
    sum = work_group_reduce_add(sum);
#ifdef OP_log_softmax
    const VALUE all = most + log(sum);
#define RESULT x[AT][k] - all
#elif defined AGAIN
#define RESULT exp(x[AT][k] - most) / sum
#else
#define RESULT x[AT][k] / sum
#endif

#elif defined OP_softmax_backward || defined OP_log_softmax_backward
    VALUE sum = 0;
    EACH {
        READ;
#ifdef OP_softmax_backward
        ALL_K sum += x[AT][k] * y[AT][k];
#else
        ALL_K sum += y[AT][k];
#endif
    }
    sum = work_group_reduce_add(sum);
#ifdef OP_softmax_backward
#define RESULT x[AT][k] * (y[AT][k] - sum)
#else
#define RESULT y[AT][k] - exp(x[AT][k]) * sum
#endif

#else // normalisation
    VALUE mean = 0, squares = 0;
#ifdef OP_layer_norm
    EACH {
        READ;
        ALL_K mean += x[AT][k];
    }
    mean = work_group_reduce_add(mean) / (VALUE)n;
#endif
    EACH {
        READ;
        ALL_K {
            const VALUE d = INSIDE ? x[AT][k] - mean : 0;
            squares += d * d;
        }
    }
    const VALUE scale = 1 / sqrt(work_group_reduce_add(squares) / (VALUE)n + epsilon);
#ifdef WEIGHT
#define WEIGHTED * (VALUE)(WEIGHT_CONVERT((WEIGHT_LOADED)weight[(long)weight_begin + (long)(PLACE + k) * weight_stride]))
#else
#define WEIGHTED
#endif
#ifdef BIAS
#define BIASED + (VALUE)(BIAS_CONVERT((BIAS_LOADED)bias[(long)bias_begin + (long)(PLACE + k) * bias_stride]))
#else
#define BIASED
#endif
#define RESULT (x[AT][k] - mean) * scale WEIGHTED BIASED
#endif

    EACH {
        READ;
        if (EXACT || (N > 1 && PLACE + N <= n)) {
            to_pack r;
            ALL_K r.e[k] = TO_CONVERT(RESULT);
            to_pack_store(to + PLACE, r);
        } else {
            ALL_K {
                if (INSIDE) to[(long)(PLACE + k) * w.to_stride] = TO_CONVERT(RESULT);
            }
        }
    }
}
