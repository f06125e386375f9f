/* The table of cases: X(name, whose check, kernel file, bound on the error). A row here, and NAME_make and
   NAME_error in one of cases*.c, are all it takes to add one. */
#ifndef BENCH_CASES_H
#define BENCH_CASES_H

#include "bench.h"

#define BENCH_CASES(X)                                                                                       \
    X(saxpy, saxpy, "saxpy.cl", 1e-6)                                                                        \
    X(sum, sum, "sum.cl", 1e-5)                                                                              \
    X(matmul_naive, matmul, "matmul.cl", 1e-5)                                                               \
    X(matmul_tiled, matmul, "matmul.cl", 1e-5)                                                               \
    X(matmul_registers, matmul, "matmul.cl", 1e-5)                                                           \
    X(matmul_vector, matmul, "matmul.cl", 1e-5)                                                              \
    X(sgemm, sgemm, "sgemm.cl", 1e-5)                                                                        \
    X(nbody, nbody, "nbody.cl", 1e-4)                                                                        \
    X(mandelbrot, mandelbrot, "mandelbrot.cl", 0.01)                                                         \
    X(blur, blur, "blur.cl", 0)                                                                              \
    X(sobel, sobel, "sobel.cl", 0)                                                                           \
    X(histogram, histogram, "histogram.cl", 0)                                                               \
    X(scan, scan, "scan.cl", 0)                                                                              \
    X(bitonic, bitonic, "bitonic.cl", 0)                                                                     \
    X(spmv, spmv, "spmv.cl", 1e-5)                                                                           \
    X(black_scholes, black_scholes, "black_scholes.cl", 1e-5)                                                \
    X(transpose, transpose, "transpose.cl", 0)                                                               \
    X(row_product, row_product, "rows.cl", 1e-5)                                                             \
    X(column_product, column_product, "rows.cl", 1e-5)                                                       \
    X(around, around, "rows.cl", 0)

#define BENCH_DECLARE(name, check, file, bound)                                                              \
    void name##_make(workload *load, bench_scale scale);                                                     \
    double check##_error(const workload *load, const void *result);
BENCH_CASES(BENCH_DECLARE)
#undef BENCH_DECLARE

#endif
