/* First values of weights whose rows, or columns, are orthogonal (Saxe, McClelland and Ganguli, 2014): normal numbers, made orthogonal on the host, so that they are
   the same on each device. */
#include <math.h>

#include "tensor/graph.h"

static double product(const double *a, const double *b, uint64_t size) {
    double sum = 0;
    for (uint64_t i = 0; i < size; i++) sum += a[i] * b[i];
    return sum;
}

/* Modified Gram-Schmidt. Each vector goes twice through those before it: what rounding has left of them after the first time is gone after the second. */
static void make_orthogonal(double *vectors, uint64_t count, uint64_t size) {
    for (uint64_t k = 0; k < count; k++) {
        double *v = vectors + k * size;
        for (uint64_t j = 0; j < 2 * k; j++) {
            const double *before = vectors + j % k * size, share = product(v, before, size);
            for (uint64_t i = 0; i < size; i++) v[i] -= share * before[i];
        }
        const double length = sqrt(product(v, v, size));
        for (uint64_t i = 0; i < size; i++) v[i] /= length;
    }
}

/* Normal numbers as doubles; `single` is room for as many. */
static qn_status read_numbers(qn_tensors *tensors, uint64_t count, float *single, double *numbers) {
    qn_tensor *x = qn_randn(tensors, QN_F32, (qn_shape){1, {count}});
    const qn_status status = qn_tensor_read(x, single, count * sizeof *single);
    for (uint64_t i = 0; i < count && !status; i++) numbers[i] = (double)single[i];
    return status;
}

qn_tensor *qn_orthogonal(qn_tensors *tensors, qn_element type, qn_shape shape, double gain) {
    static const char function[] = "qn_orthogonal";
    qn_tensor *wrong = qn__check_creation(tensors, function, type, &shape);
    if (!wrong && (shape.rank < 2 || !qn__is_float(type)))
        wrong = qn__failed(tensors, function, QN_ERROR_ARGUMENT,
                           "%s of %u dimensions: it is of floats, and of two dimensions or more",
                           qn_element_name(type), (unsigned)shape.rank);
    if (wrong) return wrong;
    uint64_t rows = shape.sizes[0], columns = 1;
    for (uint32_t d = 1; d < shape.rank; d++) columns *= shape.sizes[d];
    if (!rows || !columns) return qn_zeros(tensors, type, shape);
    const uint64_t size = rows > columns ? rows : columns, count = rows > columns ? columns : rows;
    double *vectors = qn__tensors_allocate(tensors, 2 * (size_t)(size * count) * sizeof *vectors);
    if (!vectors) return qn__failed_as(tensors, QN_ERROR_OUT_OF_MEMORY);
    double *wide = vectors + size * count;
    float *single = (float *)(void *)wide;
    const qn_status status = read_numbers(tensors, size * count, single, vectors);
    if (!status) make_orthogonal(vectors, count, size);
    for (uint64_t i = 0; i < rows * columns && !status; i++) {
        const uint64_t r = i / columns, c = i % columns;
        const double value = gain * vectors[rows > columns ? c * size + r : r * size + c];
        if (type == QN_F64)
            wide[i] = value;
        else
            single[i] = (float)value;
    }
    qn_tensor *x = status ? qn__failed_as(tensors, status)
                          : qn_from_data(tensors, type == QN_F64 ? QN_F64 : QN_F32, shape, wide);
    qn__tensors_release(tensors, vectors);
    return qn_cast(x, type);
}
