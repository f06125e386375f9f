// Gaussian elimination with the largest element of a column as its pivot (Golub and Van Loan, Matrix Computations, 3.4): systems of
// equations, whose right sides are eliminated on the way, and determinants. Work: n * n.
#include "linear.h"

// Of k right sides in x. Gives the sign of the permutation; 0 where a pivot is 0.
static T eliminate(WORK T *a, ulong n, global T *x, ulong k) {
    T sign = 1;
    for (ulong j = 0; j < n; j++) {
        ulong pivot = j;
        T most = fabs(a[j * n + j]);
        for (ulong i = j + 1; i < n; i++) {
            const T size = fabs(a[i * n + j]);
            if (size > most) {
                most = size;
                pivot = i;
            }
        }
        const T by = a[pivot * n + j];
        if (by == 0) sign = 0;
        MEET; // all know the pivot before rows move
        if (pivot != j) {
            sign = -sign;
            for (ulong c = ME; c < n + k; c += GROUP) {
                WORK T *column = a + c;
                if (c < n) {
                    const T t = column[j * n];
                    column[j * n] = column[pivot * n];
                    column[pivot * n] = t;
                } else {
                    global T *side = x + (c - n);
                    const T t = side[j * k];
                    side[j * k] = side[pivot * k];
                    side[pivot * k] = t;
                }
            }
        }
        MEET_GLOBAL;
        for (ulong i = j + 1 + ME; i < n; i += GROUP) {
            const T factor = by == 0 ? 0 : a[i * n + j] / by;
            for (ulong c = j + 1; c < n; c++) a[i * n + c] -= factor * a[j * n + c];
            for (ulong c = 0; c < k; c++) x[i * k + c] -= factor * x[j * k + c];
        }
        MEET_GLOBAL;
    }
    return sign;
}

kernel GROUP_SIZE void solve(ulong n, ulong k, ulong matrix_begin, global const T *restrict matrix, ulong from_begin,
                             global const T *restrict from, ulong to_begin, global T *to, WORK T *work) {
    WORK T *a = OWN(work, n * n);
    matrix += matrix_begin + MATRIX * n * n;
    from += from_begin + MATRIX * n * k;
    to += to_begin + MATRIX * n * k;
    for (ulong i = ME; i < n * n; i += GROUP) a[i] = matrix[i];
    for (ulong i = ME; i < n * k; i += GROUP) to[i] = from[i];
    MEET_GLOBAL;
    eliminate(a, n, to, k);
    for (ulong c = ME; c < k; c += GROUP)
        for (ulong i = n; i-- > 0;) {
            T sum = to[i * k + c];
            for (ulong t = i + 1; t < n; t++) sum -= a[i * n + t] * to[t * k + c];
            to[i * k + c] = sum / a[i * n + i];
        }
}

// The sign of the determinant, and the logarithm of its size.
kernel GROUP_SIZE void determinant(ulong n, ulong from_begin, global const T *restrict from, ulong sign_begin, global T *restrict sign,
                                   ulong log_begin, global T *restrict log_size, WORK T *work) {
    WORK T *a = OWN(work, n * n);
    from += from_begin + MATRIX * n * n;
    for (ulong i = ME; i < n * n; i += GROUP) a[i] = from[i];
    MEET;
    T s = eliminate(a, n, 0, 0), sum = 0;
    if (ME != 0) return;
    for (ulong j = 0; j < n; j++) {
        const T pivot = a[j * n + j];
        s = isnan(pivot) ? pivot : pivot < 0 ? -s : s;
        sum += log(fabs(pivot));
    }
    sign[sign_begin + MATRIX] = s;
    log_size[log_begin + MATRIX] = sum;
}
