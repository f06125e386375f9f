// Eigenvalues, the least first, and eigenvectors, as columns, of a symmetric matrix, of which the lower triangle is read: Jacobi's method (Golub
// and Van Loan, Matrix Computations, 8.5), whose rotations of a round go side by side. Work: 2 * n * n + 2 * n.
#define JACOBI
#include "linear.h"

kernel GROUP_SIZE void eigen(ulong n, ulong from_begin, global const T *restrict from, ulong values_begin, global T *restrict values,
                             ulong vectors_begin, global T *restrict vectors, WORK T *work) {
    WORK T *a = OWN(work, 2 * n * n + 2 * n), *v = a + n * n, *turns = v + n * n; // v: a vector a row
    const ulong players = n + n % 2;
    T squares = 0;
    from += from_begin + MATRIX * n * n;
    for (ulong i = ME; i < n * n; i += GROUP) {
        const ulong row = i / n, column = i % n;
        a[i] = from[max(row, column) * n + min(row, column)];
        squares += a[i] * a[i];
        v[i] = row == column;
    }
    const T nothing = (T)ROUNDING * sqrt(SUM(squares));
    MEET;
    for (uint sweep = 0; sweep < SWEEPS; sweep++) {
        uint turned = 0;
        for (ulong round = 0; round + 1 < players; round++) {
            for (ulong game = ME; game < players / 2; game += GROUP) {
                const pair p = pair_of(round, game, players);
                if (p.high >= n) continue;
                const T between = a[p.low * n + p.high];
                turn r = {1, 0};
                if (fabs(between) > nothing) {
                    r = turn_of((a[p.high * n + p.high] - a[p.low * n + p.low]) / (2 * between));
                    turned++;
                }
                turns[2 * game] = r.c;
                turns[2 * game + 1] = r.s;
            }
            MEET;
            for (ulong game = ME; game < players / 2; game += GROUP) {
                const pair p = pair_of(round, game, players);
                const turn r = {turns[2 * game], turns[2 * game + 1]};
                if (p.high >= n || r.s == 0) continue;
                turn_rows(a + p.low, a + p.high, n, n, r);
                turn_rows(v + p.low * n, v + p.high * n, n, 1, r);
            }
            MEET;
            for (ulong game = ME; game < players / 2; game += GROUP) {
                const pair p = pair_of(round, game, players);
                const turn r = {turns[2 * game], turns[2 * game + 1]};
                if (p.high >= n || r.s == 0) continue;
                turn_rows(a + p.low * n, a + p.high * n, n, 1, r);
                a[p.low * n + p.high] = a[p.high * n + p.low] = 0;
            }
            MEET;
        }
        if (SUM(turned) == 0) break;
    }
    values += values_begin + MATRIX * n;
    vectors += vectors_begin + MATRIX * n * n;
    for (ulong i = ME; i < n; i += GROUP) {
        const ulong rank = rank_of(a, n + 1, n, i, 0);
        values[rank] = a[i * n + i];
        for (ulong k = 0; k < n; k++) vectors[k * n + rank] = v[i * n + k];
    }
}
