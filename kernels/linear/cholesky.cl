// The lower triangle whose product with its transpose is a symmetric matrix, of which the lower triangle is read: column by column, each from those
// before (Golub and Van Loan, Matrix Computations, 4.2). Work: n * n.
#include "linear.h"

kernel GROUP_SIZE void cholesky(ulong n, ulong from_begin, global const T *restrict from, ulong to_begin, global T *restrict to, WORK T *work) {
    WORK T *l = OWN(work, n * n);
    from += from_begin + MATRIX * n * n;
    to += to_begin + MATRIX * n * n;
    for (ulong i = ME; i < n * n; i += GROUP) l[i] = i % n <= i / n ? from[i] : 0;
    MEET;
    for (ulong j = 0; j < n; j++) {
        // Each work-item computes the diagonal element, which nobody reads from memory behind this column.
        T rest = l[j * n + j];
        for (ulong k = 0; k < j; k++) rest -= l[j * n + k] * l[j * n + k];
        const T root = rest > 0 ? sqrt(rest) : (T)NAN;
        for (ulong i = j + 1 + ME; i < n; i += GROUP) {
            T sum = l[i * n + j];
            for (ulong k = 0; k < j; k++) sum -= l[i * n + k] * l[j * n + k];
            l[i * n + j] = sum / root;
        }
        MEET;
        if (ME == 0) l[j * n + j] = root;
    }
    MEET;
    for (ulong i = ME; i < n * n; i += GROUP) to[i] = l[i];
}
