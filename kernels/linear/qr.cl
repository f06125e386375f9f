// A matrix of m rows and n columns as the product of orthogonal columns and an upper triangle, by Householder's reflections, with LAPACK's signs:
// a reflection makes its column's diagonal element of the other sign (Golub and Van Loan, Matrix Computations, 5.2). `columns`: of q, and rows
// of r. Work: m * n + n.
#include "linear.h"

kernel GROUP_SIZE void qr(ulong m, ulong n, ulong columns, ulong from_begin, global const T *restrict from, ulong q_begin, global T *q,
                          ulong r_begin, global T *restrict r, WORK T *work) {
    WORK T *a = OWN(work, m * n + n), *factors = a + m * n;
    const ulong steps = min(m, n);
    from += from_begin + MATRIX * m * n;
    q += q_begin + MATRIX * m * columns;
    r += r_begin + MATRIX * columns * n;
    for (ulong i = ME; i < m * n; i += GROUP) a[i] = from[i];
    MEET;
    for (ulong j = 0; j < steps; j++) {
        // Each work-item computes the reflection: column j stays as it is until all have.
        T rest = 0;
        for (ulong i = j + 1; i < m; i++) rest += a[i * n + j] * a[i * n + j];
        const T first = a[j * n + j];
        const T beta = rest == 0 ? first : -copysign(sqrt(first * first + rest), first);
        const T factor = rest == 0 ? 0 : (beta - first) / beta, scale = rest == 0 ? 0 : 1 / (first - beta);
        for (ulong c = j + 1 + ME; c < n; c += GROUP) {
            T sum = 0;
            for (ulong i = j + 1; i < m; i++) sum += a[i * n + j] * a[i * n + c];
            sum = factor * (a[j * n + c] + scale * sum);
            a[j * n + c] -= sum;
            for (ulong i = j + 1; i < m; i++) a[i * n + c] -= sum * scale * a[i * n + j];
        }
        MEET;
        for (ulong i = j + 1 + ME; i < m; i += GROUP) a[i * n + j] *= scale;
        if (ME == 0) {
            a[j * n + j] = beta;
            factors[j] = factor;
        }
    }
    MEET;
    for (ulong i = ME; i < columns * n; i += GROUP) r[i] = i / n <= i % n && i / n < steps ? a[i] : 0;
    for (ulong c = ME; c < columns; c += GROUP) {
        for (ulong i = 0; i < m; i++) q[i * columns + c] = i == c;
        for (ulong j = steps; j-- > 0;) {
            T sum = q[j * columns + c];
            for (ulong i = j + 1; i < m; i++) sum += a[i * n + j] * q[i * columns + c];
            sum *= factors[j];
            q[j * columns + c] -= sum;
            for (ulong i = j + 1; i < m; i++) q[i * columns + c] -= sum * a[i * n + j];
        }
    }
}
