// The gradients of layer norm (OP_layer_norm) and RMS norm (OP_rms_norm): from what the norm got, a, and the gradient by what it gave, b,
// that by what it got, `to`, and those by its weights and biases. A work-group goes through every GROUPS-th row. WEIGHT_PARTS, BIAS_PARTS:
// it leaves its share of these gradients as a row of so many arrays, which are added afterwards, in order. Global size: LOCAL for
// each group.
#define ABSENT 0
#include "rows.h"

#if defined WEIGHT_PARTS || defined BIAS_PARTS
#define PARTS
#endif

kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
norm_backward(walk w, ulong rows, ulong n, VALUE epsilon, ulong to_begin, global TO *restrict to_rows, ulong a_begin,
              global const A *restrict a_rows, ulong b_begin, global const B *restrict b_rows
#ifdef WEIGHT
              , long weight_stride, ulong weight_begin, global const WEIGHT *restrict weight
#endif
#ifdef WEIGHT_PARTS
              , global VALUE *restrict weight_parts
#endif
#ifdef BIAS_PARTS
              , global VALUE *restrict bias_parts
#endif
) {
    const uint lid = LANE;
    const ulong rounds = (n + LOCAL * N - 1) / (LOCAL * N), group = get_group_id(0);
    VALUE x[HELD][N], y[HELD][N];
#ifdef WEIGHT
    weight += weight_begin;
#endif
#ifdef WEIGHT_PARTS
    weight_parts += group * n;
#ifndef AGAIN
    VALUE by_weight[HELD][N];
    EACH ALL_K by_weight[AT][k] = 0;
#endif
#endif
#ifdef BIAS_PARTS
    bias_parts += group * n;
#ifndef AGAIN
    VALUE by_bias[HELD][N];
    EACH ALL_K by_bias[AT][k] = 0;
#endif
#endif
    for (ulong row = group; row < rows; row += get_num_groups(0)) {
        global TO *to = to_rows + ((long)to_begin + row_place(w, 0, row));
        global const A *a = a_rows + ((long)a_begin + row_place(w, 1, row));
        global const B *b = b_rows + ((long)b_begin + row_place(w, 2, row));
#ifndef AGAIN
        EACH READ_BOTH;
#endif
        VALUE mean = 0, squares = 0, along = 0, sum = 0;
#ifdef OP_layer_norm
        EACH {
            READ;
            ALL_K mean += x[AT][k];
        }
        mean = REDUCE_ADD(mean) / (VALUE)n;
#endif
        // With g = b * weight: the sums of d * d, d * g and g, where d is how far an element is from the mean.
        EACH {
            READ;
            VALUE g[N];
            ALL_K g[k] = y[AT][k];
#ifdef WEIGHT
            VALUE factors[N];
            fetch_weight(factors, weight, weight_stride, PLACE, n, 0);
            ALL_K g[k] *= factors[k];
#endif
            ALL_K {
                const VALUE d = INSIDE ? x[AT][k] - mean : 0;
                squares += d * d;
                along += d * g[k];
                sum += g[k];
            }
        }
        squares = REDUCE_ADD(squares);
        along = REDUCE_ADD(along);
        const VALUE scale = 1 / sqrt(squares / (VALUE)n + epsilon);
        const VALUE slope = along * (scale * scale) / (VALUE)n;
#ifdef OP_layer_norm
        sum = REDUCE_ADD(sum) / (VALUE)n;
#else
        sum = 0;
#endif
        EACH {
            READ;
            VALUE r[N];
            ALL_K r[k] = y[AT][k];
#ifdef WEIGHT
            VALUE factors[N];
            fetch_weight(factors, weight, weight_stride, PLACE, n, 0);
            ALL_K r[k] *= factors[k];
#endif
            ALL_K r[k] = scale * ((r[k] - sum) - (x[AT][k] - mean) * slope);
            put(to, w.to_stride, PLACE, n, r);
#if defined PARTS && defined AGAIN
            ALL_K {
                if (INSIDE) {
#ifdef WEIGHT_PARTS
                    const VALUE more = y[AT][k] * ((x[AT][k] - mean) * scale);
                    weight_parts[PLACE + k] = row == group ? more : weight_parts[PLACE + k] + more;
#endif
#ifdef BIAS_PARTS
                    bias_parts[PLACE + k] = row == group ? y[AT][k] : bias_parts[PLACE + k] + y[AT][k];
#endif
                }
            }
#else
#ifdef WEIGHT_PARTS
            ALL_K by_weight[AT][k] += y[AT][k] * ((x[AT][k] - mean) * scale);
#endif
#ifdef BIAS_PARTS
            ALL_K by_bias[AT][k] += y[AT][k];
#endif
#endif
        }
    }
#if defined PARTS && !defined AGAIN
    EACH {
        ALL_K {
            if (INSIDE) {
#ifdef WEIGHT_PARTS
                weight_parts[PLACE + k] = by_weight[AT][k];
#endif
#ifdef BIAS_PARTS
                bias_parts[PLACE + k] = by_bias[AT][k];
#endif
            }
        }
    }
#endif
}
