/* The orthogonal factor of a matrix, about: singular values become 0.7 to 1.2, by the iteration of Newton and Schulz with the coefficients of
   Muon (Jordan and others, 2024), which raise small ones quickly. */
#include <math.h>

#include "nn/nn.h"

enum { STEPS = 5 };

static qn_tensor *iterate(qn_tensor *x) {
    static const double a = 3.4445, b = -4.7750, c = 2.0315;
    for (int i = 0; i < STEPS; i++) {
        qn_tensor *gram = qn_matmul(x, qn_transpose(x, 0, 1));
        qn_tensor *share = qn_multiply_add(gram, b, qn_multiply(qn_matmul(gram, gram), c));
        x = qn_multiply_add(x, a, qn_matmul(share, x));
    }
    return x;
}

qn_tensor *qn__nn_orthogonal(qn_tensor *x) {
    const qn_shape shape = qn_tensor_shape(x);
    const uint64_t rows = shape.sizes[0], columns = rows ? qn_tensor_count(x) / rows : 0;
    const double larger = (double)(rows > columns ? rows : columns);
    qn_tensor *matrix = qn_reshape(x, QN_SHAPE(rows, columns));
    qn_tensor *norm = qn_sqrt(qn_sum(qn_square(matrix), QN_ALL_AXES, false));
    matrix = qn_divide(matrix, qn_maximum(norm, 1e-7));
    /* The product of the shorter side is the smaller one. */
    if (rows > columns) matrix = qn_transpose(matrix, 0, 1);
    matrix = iterate(matrix);
    if (rows > columns) matrix = qn_transpose(matrix, 0, 1);
    return qn_multiply(qn_reshape(matrix, shape), 0.2 * sqrt(larger));
}
