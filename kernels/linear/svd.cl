// Singular values, the largest first, and vectors of a matrix of m rows and n columns, no fewer rows than columns: u, m x n, and v, n x n, as columns. Hestenes' method:
// rotations make the columns orthogonal to each other; their lengths are the values then (Golub and Van Loan, Matrix Computations, 8.6).
// Work: n * m + n * n + n.
#define JACOBI
#include "linear.h"

// Both sums of squares, and the products.
typedef struct products {
    T low, high, both;
} products;

static products multiply(WORK const T *a, WORK const T *b, ulong m) {
    products p = {0, 0, 0};
    for (ulong i = 0; i < m; i++) {
        p.low += a[i] * a[i];
        p.high += b[i] * b[i];
        p.both += a[i] * b[i];
    }
    return p;
}

// Row `at` of w, for a value of 0, becomes a unit vector that is orthogonal to those that are `done`: what is left of an axis without its shares of
// them, twice, as the first time leaves errors. Some axis keeps 1 / m of its square.
static void complete(WORK T *w, ulong m, ulong n, ulong at, WORK const T *values) {
    for (ulong axis = 0; axis < m; axis++) {
        for (ulong i = 0; i < m; i++) w[at * m + i] = i == axis;
        T squares = 1;
        for (uint times = 0; times < 2; times++) {
            for (ulong j = 0; j < n; j++) {
                if (j == at || (j > at && !(values[j] > 0))) continue;
                T share = 0;
                for (ulong i = 0; i < m; i++) share += w[at * m + i] * w[j * m + i];
                for (ulong i = 0; i < m; i++) w[at * m + i] -= share * w[j * m + i];
            }
            squares = 0;
            for (ulong i = 0; i < m; i++) squares += w[at * m + i] * w[at * m + i];
            if (times == 0 && squares * 2 * m < 1) break;
        }
        if (squares * 2 * m < 1) continue;
        const T length = sqrt(squares);
        for (ulong i = 0; i < m; i++) w[at * m + i] /= length;
        return;
    }
}

kernel GROUP_SIZE void svd(ulong m, ulong n, ulong from_begin, global const T *restrict from, ulong u_begin, global T *restrict u,
                           ulong values_begin, global T *restrict values, ulong v_begin, global T *restrict v, WORK T *work) {
    WORK T *w = OWN(work, n * m + n * n + n), *vt = w + n * m, *lengths = vt + n * n; // a column a row
    const ulong players = n + n % 2;
    const T nothing = (T)ROUNDING * sqrt((T)m);
    from += from_begin + MATRIX * m * n;
    for (ulong i = ME; i < m * n; i += GROUP) w[i % n * m + i / n] = from[i];
    for (ulong i = ME; i < n * n; i += GROUP) vt[i] = i / n == i % n;
    MEET;
    for (uint sweep = 0; sweep < SWEEPS; sweep++) {
        uint turned = 0;
        for (ulong round = 0; round + 1 < players; round++) {
            for (ulong game = ME; game < players / 2; game += GROUP) {
                const pair p = pair_of(round, game, players);
                if (p.high >= n) continue;
                WORK T *a = w + p.low * m, *b = w + p.high * m;
                const products x = multiply(a, b, m);
                if (!(fabs(x.both) > nothing * (sqrt(x.low) * sqrt(x.high)))) continue;
                const turn r = turn_of((x.high - x.low) / (2 * x.both));
                turn_rows(a, b, m, 1, r);
                turn_rows(vt + p.low * n, vt + p.high * n, n, 1, r);
                turned++;
            }
            MEET;
        }
        if (SUM(turned) == 0) break;
    }
    for (ulong j = ME; j < n; j += GROUP) {
        T squares = 0;
        for (ulong i = 0; i < m; i++) squares += w[j * m + i] * w[j * m + i];
        const T length = lengths[j] = sqrt(squares);
        for (ulong i = 0; i < m && length > 0; i++) w[j * m + i] /= length;
    }
    MEET;
    if (ME == 0)
        for (ulong j = 0; j < n; j++)
            if (lengths[j] == 0) complete(w, m, n, j, lengths);
    MEET;
    u += u_begin + MATRIX * m * n;
    v += v_begin + MATRIX * n * n;
    for (ulong j = ME; j < n; j += GROUP) {
        const ulong rank = rank_of(lengths, 1, n, j, 1);
        values[values_begin + MATRIX * n + rank] = lengths[j];
        for (ulong i = 0; i < m; i++) u[i * n + rank] = w[j * m + i];
        for (ulong i = 0; i < n; i++) v[i * n + rank] = vt[j * n + i];
    }
}
