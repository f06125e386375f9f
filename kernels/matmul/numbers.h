// What the kernels of qn_kernels_matmul share: the numbers that they get, batches, and what becomes of a sum.
// By -D: for each of A, B, OUT, C, BIAS and RESIDUAL its type (A_T) and load or store (A_LOAD); SUM, the type of sums; RESULT,
// the type that the epilogue computes in, and FACTOR that of its factors; TO_OUT, from that to what OUT_STORE takes; BATCHES, how many dimensions of batches;
// HAS_C, HAS_BIAS, HAS_RESIDUAL; ACTIVATION.
#include "load4.h"

#ifdef SUM_IS_INTEGER
#define MULTIPLY_ADD(x, y, z) ((x) * (y) + (z))
#else
#define MULTIPLY_ADD(x, y, z) fma(x, y, z)
#endif

// Written by src/kernels/matmul_plan.c. Strides are in elements; `part` is how much of k one group sums up.
typedef struct numbers {
    ulong a_begin, b_begin, out_begin, c_begin, bias_begin, residual_begin;
    ulong m, n, k, part;
    long a_row, a_k, b_k, b_column, out_row, out_column;
    long c_row, c_column, bias_row, bias_column, residual_row, residual_column;
#if BATCHES
    ulong batch_sizes[BATCHES];
    long out_batch[BATCHES], a_batch[BATCHES], b_batch[BATCHES], c_batch[BATCHES], bias_batch[BATCHES],
        residual_batch[BATCHES];
#endif
} numbers;

// Where a batch begins in each array.
typedef struct places {
    size_t a, b, out, c, bias, residual;
} places;

static places places_of(numbers s, ulong batch) {
    places at = {s.a_begin, s.b_begin, s.out_begin, s.c_begin, s.bias_begin, s.residual_begin};
#if BATCHES
#pragma unroll
    for (uint d = 0; d < BATCHES; d++) {
        const ulong outer = d + 1 < BATCHES ? batch / s.batch_sizes[d] : 0;
        const long i = batch - outer * s.batch_sizes[d];
        at.a += i * s.a_batch[d];
        at.b += i * s.b_batch[d];
        at.out += i * s.out_batch[d];
        at.c += i * s.c_batch[d];
        at.bias += i * s.bias_batch[d];
        at.residual += i * s.residual_batch[d];
        batch = outer;
    }
#endif
    return at;
}

static RESULT activate(RESULT v) {
#if ACTIVATION == 1 // relu; NaN stays
    return v < 0 ? 0 : v;
#elif ACTIVATION == 2 // gelu
    return v * (RESULT)0.5 * (1 + erf(v * (RESULT)0.70710678118654752));
#elif ACTIVATION == 3 // gelu by tanh
    return v * (RESULT)0.5 * (1 + tanh((RESULT)0.79788456080286536 * (v + (RESULT)0.044715 * v * v * v)));
#elif ACTIVATION == 4 // silu
    return v / (1 + exp(-v));
#elif ACTIVATION == 5
    return tanh(v);
#elif ACTIVATION == 6 // sigmoid
    return 1 / (1 + exp(-v));
#else
    return v;
#endif
}

// The arrays and factors of the epilogue.
typedef struct epilogue {
    global const C_T *c;
    global const BIAS_T *bias;
    global const RESIDUAL_T *residual;
    FACTOR alpha, beta, scale;
} epilogue;

static RESULT finish(RESULT v, numbers s, const epilogue *e, const places *at, size_t row, size_t column) {
#ifndef PLAIN // nothing but the sum
    v *= e->alpha;
#ifdef HAS_C
    v += e->beta * (RESULT)C_LOAD(e->c, at->c + row * s.c_row + column * s.c_column);
#endif
#ifdef HAS_BIAS
    v += (RESULT)BIAS_LOAD(e->bias, at->bias + row * s.bias_row + column * s.bias_column);
#endif
    v = activate(v) * e->scale;
#ifdef HAS_RESIDUAL
    v += (RESULT)RESIDUAL_LOAD(e->residual, at->residual + row * s.residual_row + column * s.residual_column);
#endif
#endif
    return v;
}

static void put(global OUT_T *out, SUM sum, numbers s, const epilogue *e, const places *at, size_t row,
                size_t column) {
    OUT_STORE(out, at->out + row * s.out_row + column * s.out_column,
              TO_OUT(finish((RESULT)sum, s, e, at, row, column)));
}

#define PARAMETERS                                                                                           \
    numbers s, global const A_T *restrict a, global const B_T *restrict b, global OUT_T *out,                \
        global const C_T *c, global const BIAS_T *bias, global const RESIDUAL_T *residual, FACTOR alpha,     \
        FACTOR beta, FACTOR scale, global SUM *work
#define EPILOGUE                                                                                             \
    { c, bias, residual, alpha, beta, scale }
