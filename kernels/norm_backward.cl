// The gradients of layer norm (OP_layer_norm) and RMS norm (OP_rms_norm): from what the norm got, a, and the gradient by what it gave, b,
// that by what it got, `to`, and those by its weights and biases. A work-group goes through every GROUPS-th row. WEIGHT_PARTS, BIAS_PARTS:
// it leaves its share of these gradients as a row of so many arrays, which are added afterwards, in order.
// By -D, besides what rows.h wants: those names. Global size: LOCAL for each group.
#define ABSENT 0
#include "rows.h"

#if defined WEIGHT_PARTS || defined BIAS_PARTS
#define PARTS
#endif

kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
norm_backward(walk w, ulong rows, ulong length, VALUE epsilon, ulong to_begin, global TO *restrict to_rows, ulong a_begin,
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
    const place n = (place)length;
    const ulong rounds = (length + LOCAL * N - 1) / (LOCAL * N), group = get_group_id(0);
#ifdef SUBS
    local VALUE parts[3 * SUBS];
#else
    local VALUE parts[1];
#endif
    VALUE x[HELD][N], y[HELD][N];
#ifdef WEIGHT
    weight += weight_begin;
#endif
#ifdef WEIGHT_PARTS
    weight_parts += group * length;
#ifndef AGAIN
    VALUE by_weight[HELD][N];
    EACH ALL_K by_weight[j][k] = 0;
#endif
#endif
#ifdef BIAS_PARTS
    bias_parts += group * length;
#ifndef AGAIN
    VALUE by_bias[HELD][N];
    EACH ALL_K by_bias[j][k] = 0;
#endif
#endif
    for (ulong row = group; row < rows; row += get_num_groups(0)) {
        global TO *to = to_rows + ((long)to_begin + row_place(w, 0, row));
        global const A *a = a_rows + ((long)a_begin + row_place(w, 1, row));
        global const B *b = b_rows + ((long)b_begin + row_place(w, 2, row));
#ifndef AGAIN
        EACH READ(j);
#endif
        VALUE mean = 0, sums[3] = {0, 0, 0};
#ifdef OP_layer_norm
        EACH {
            READ_AGAIN;
            ALL_K mean += x[j][k];
        }
        reduce_all(&mean, 1, parts);
        mean /= (VALUE)n;
#endif
        // With g = b * weight: the sums of d * d, d * g and g, where d is how far an element is from the mean.
        EACH {
            READ_AGAIN;
            VALUE g[N];
            ALL_K g[k] = y[j][k];
#ifdef WEIGHT
            VALUE factors[N];
            fetch_weight(factors, weight, weight_stride, PLACE, n, 0, SURE(j));
            ALL_K g[k] *= factors[k];
#endif
            ALL_K {
                const VALUE d = INSIDE ? x[j][k] - mean : 0;
                sums[0] += d * d;
                sums[1] += d * g[k];
                sums[2] += g[k];
            }
        }
#ifdef OP_layer_norm
        reduce_all(sums, 3, parts);
        const VALUE sum = sums[2] / (VALUE)n;
#else
        reduce_all(sums, 2, parts);
        const VALUE sum = 0;
#endif
        const VALUE scale = 1 / sqrt(sums[0] / (VALUE)n + epsilon), slope = sums[1] * (scale * scale) / (VALUE)n;
        EACH {
            READ_AGAIN;
            VALUE r[N];
            ALL_K r[k] = y[j][k];
#ifdef WEIGHT
            VALUE factors[N];
            fetch_weight(factors, weight, weight_stride, PLACE, n, 0, SURE(j));
            ALL_K r[k] *= factors[k];
#endif
            ALL_K r[k] = scale * ((r[k] - sum) - (x[j][k] - mean) * slope);
            put(to, w.to_stride, PLACE, n, r, SURE(j));
#if defined PARTS && defined AGAIN
            ALL_K {
                if (INSIDE) {
#ifdef WEIGHT_PARTS
                    const VALUE more = y[j][k] * ((x[j][k] - mean) * scale);
                    weight_parts[PLACE + k] = row == group ? more : weight_parts[PLACE + k] + more;
#endif
#ifdef BIAS_PARTS
                    bias_parts[PLACE + k] = row == group ? y[j][k] : bias_parts[PLACE + k] + y[j][k];
#endif
                }
            }
#else
#ifdef WEIGHT_PARTS
            ALL_K by_weight[j][k] += y[j][k] * ((x[j][k] - mean) * scale);
#endif
#ifdef BIAS_PARTS
            ALL_K by_bias[j][k] += y[j][k];
#endif
#endif
        }
    }
#if defined PARTS && !defined AGAIN
    EACH {
        READ_AGAIN;
        ALL_K {
            if (INSIDE) {
#ifdef WEIGHT_PARTS
                weight_parts[PLACE + k] = by_weight[j][k];
#endif
#ifdef BIAS_PARTS
                bias_parts[PLACE + k] = by_bias[j][k];
#endif
            }
        }
    }
#endif
}
