// Systems of equations with a triangular matrix, of which the other triangle is not read: a work-item a right side. By -D: T; UPPER: the
// upper triangle; UNIT: ones on the diagonal, which is not read either.
kernel void solve_triangular(ulong n, ulong k, ulong matrix_begin, global const T *restrict matrix, ulong from_begin,
                             global const T *restrict from, ulong to_begin, global T *to) {
    const ulong c = get_global_id(0), number = get_global_id(1);
    matrix += matrix_begin + number * n * n;
    from += from_begin + number * n * k + c;
    to += to_begin + number * n * k + c;
    for (ulong step = 0; step < n; step++) {
#ifdef UPPER
        const ulong i = n - 1 - step, begin = i + 1, end = n;
#else
        const ulong i = step, begin = 0, end = i;
#endif
        T sum = from[i * k];
        for (ulong t = begin; t < end; t++) sum -= matrix[i * n + t] * to[t * k];
#ifdef UNIT
        to[i * k] = sum;
#else
        to[i * k] = sum / matrix[i * n + i];
#endif
    }
}
