// Functions of whole rows: softmax, its gradient, and normalisation. By -D, besides what rows.h wants: OP_softmax, OP_log_softmax,
// OP_softmax_backward, OP_log_softmax_backward, OP_layer_norm or OP_rms_norm. Global size: LOCAL for each row.
#if defined OP_softmax || defined OP_log_softmax
#define ABSENT (-INFINITY)
#else
#define ABSENT 0
#endif
#include "rows.h"

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
rows(walk w, ulong count, ulong length, VALUE epsilon, ulong to_begin, global TO *restrict to, ulong a_begin, global const A *restrict a
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
    const uint lid = LANE;
    const ulong row = min((ulong)ROW, count - 1); // what is beyond the last one takes part in nothing but sums
#ifdef WEIGHT
    weight += weight_begin;
#endif
#ifdef BIAS
    bias += bias_begin;
#endif
    const place n = (place)length;
    const ulong rounds = (length + LOCAL * N - 1) / (LOCAL * N);
    VALUE x[HELD][N];
    to += (long)to_begin + row_place(w, 0, row);
    a += (long)a_begin + row_place(w, 1, row);
#ifdef B
    VALUE y[HELD][N];
    b += (long)b_begin + row_place(w, 2, row);
#endif
#ifndef AGAIN
    EACH READ(j);
#endif

#if defined OP_softmax || defined OP_log_softmax
    VALUE most = -INFINITY, sum = 0;
#ifdef AGAIN
    // In one pass: the sum is taken of powers of what is the largest so far, and rescaled where that grows.
    EACH {
        READ_AGAIN;
        VALUE now = most;
        ALL_K now = LARGER(now, x[j][k]);
        const VALUE base = FINITE(now);
        sum *= EXP(most - base);
        ALL_K sum += EXP(x[j][k] - base);
        most = now;
    }
    const VALUE all_most = REDUCE_MAX(most);
    sum *= EXP(most - FINITE(all_most));
    most = all_most;
#else
    EACH ALL_K most = LARGER(most, x[j][k]);
    most = REDUCE_MAX(most);
    EACH ALL_K {
        const VALUE e = EXP(x[j][k] - most);
        sum += e;
#ifdef OP_softmax
        x[j][k] = e;
#endif
    }
#endif
    sum = REDUCE_ADD(sum);
#ifdef OP_log_softmax
    const VALUE all = log(sum);
#define RESULT (x[j][k] - most) - all
#else
    const VALUE scale = 1 / sum;
#ifdef AGAIN
#define RESULT EXP(x[j][k] - most) * scale
#else
#define RESULT x[j][k] * scale
#endif
#endif

#elif defined OP_softmax_backward || defined OP_log_softmax_backward
    VALUE sum = 0;
    EACH {
        READ_AGAIN;
#ifdef OP_softmax_backward
        ALL_K sum += x[j][k] * y[j][k];
#else
        ALL_K sum += y[j][k];
#endif
    }
    sum = REDUCE_ADD(sum);
#ifdef OP_softmax_backward
#define RESULT x[j][k] * (y[j][k] - sum)
#else
#define RESULT y[j][k] - EXP(x[j][k]) * sum
#endif

#else // normalisation
    VALUE mean = 0, squares = 0;
#ifdef OP_layer_norm
    EACH {
        READ_AGAIN;
        ALL_K mean += x[j][k];
    }
    mean = REDUCE_ADD(mean) / (VALUE)n;
#endif
    EACH {
        READ_AGAIN;
        ALL_K {
            const VALUE d = INSIDE ? x[j][k] - mean : 0;
            squares += d * d;
        }
    }
    const VALUE scale = 1 / sqrt(REDUCE_ADD(squares) / (VALUE)n + epsilon);
#define RESULT (x[j][k] - mean) * scale
#endif

    EACH {
        READ_AGAIN;
        VALUE r[N];
        ALL_K r[k] = RESULT;
#ifdef WEIGHT
        VALUE factors[N];
        fetch_weight(factors, weight, weight_stride, PLACE, n, 0, SURE(j));
        ALL_K r[k] *= factors[k];
#endif
#ifdef BIAS
        VALUE terms[N];
        fetch_bias(terms, bias, bias_stride, PLACE, n, 0, SURE(j));
        ALL_K r[k] += terms[k];
#endif
#ifdef ROWS
        if (ROW < count)
#endif
            put(to, w.to_stride, PLACE, n, r, SURE(j));
    }
}
