/* Vectors for words and for places: tables that are learnt, sines, rotations. */
#include <math.h>

#include "nn/nn.h"

/* ---- tables ---- */

static qn_tensor *forward_embedding(qn_module *module, qn_tensor *x) {
    return qn_embedding_forward((qn_embedding *)module, x);
}
static const qn_module_type embedding_type = {"embedding", forward_embedding};

/* Normal numbers; zeros in the row `padding`, where there is one. */
static qn_tensor *first_table(qn_tensors *tensors, const qn_embedding_desc *desc) {
    const qn_element computed = desc->type == QN_F64 ? QN_F64 : QN_F32;
    qn_tensor *table = qn_randn(tensors, computed, QN_SHAPE(desc->count, desc->size));
    if (desc->has_padding) {
        qn_tensor *rows = qn_unsqueeze(qn_arange(tensors, QN_I64, 0, (double)desc->count, 1), 1);
        table = qn_where(qn_equal(rows, desc->padding), 0, table);
    }
    return qn_cast(table, desc->type);
}

qn_status qn_embedding_init(qn_embedding *embedding, qn_tensors *tensors, const qn_embedding_desc *desc) {
    qn_status status = qn__nn_check(embedding, tensors, desc, "qn_embedding_init");
    if (!status && (!desc->count || !desc->size || (desc->has_padding && desc->padding >= desc->count)))
        status =
            qn__nn_fail(tensors, QN_ERROR_ARGUMENT,
                        "qn_embedding_init: count is %llu, size %llu and padding %llu: none of the first two "
                        "is 0, and padding is below count",
                        (unsigned long long)desc->count, (unsigned long long)desc->size,
                        (unsigned long long)desc->padding);
    if (!status) status = qn_scope_begin(tensors);
    if (status) return status;
    *embedding = (qn_embedding){.has_padding = desc->has_padding, .padding = desc->padding};
    qn_module_init(&embedding->module, tensors, &embedding_type);
    status = qn_module_add_parameter(&embedding->module, "weight", &embedding->weight,
                                     first_table(tensors, desc), true);
    return qn__nn_made(&embedding->module, status);
}

/* To the row of the padding go no gradients. */
qn_tensor *qn_embedding_forward(qn_embedding *embedding, qn_tensor *indices) {
    qn_module_begin(&embedding->module);
    qn_tensor *y = qn_take(embedding->weight.tensor, indices, 0);
    if (embedding->has_padding)
        y = qn_where(qn_unsqueeze(qn_equal(indices, embedding->padding), -1), qn_detach(y), y);
    return qn_module_end(&embedding->module, indices, y);
}

/* ---- places ---- */

/* base to the power of -2 i / size, for each i below `count`. */
static qn_tensor *rates(qn_tensors *tensors, qn_element type, uint64_t count, uint64_t size, double base) {
    qn_tensor *numbers = qn_arange(tensors, type, 0, (double)count, 1);
    return qn_exp(qn_multiply(numbers, -2 * log(base) / (double)size));
}

qn_tensor *qn_sinusoidal_positions(qn_tensor *positions, uint64_t size, qn_element type) {
    if (qn_tensor_status(positions)) return positions;
    qn_tensors *t = qn_tensor_owner(positions);
    const qn_element computed = type == QN_F64 ? QN_F64 : QN_F32;
    qn_tensor *rate = qn_repeat(rates(t, computed, (size + 1) / 2, size, 1e4), 2, 0);
    qn_tensor *angles =
        qn_multiply(qn_unsqueeze(qn_cast(positions, computed), -1), qn_slice(rate, 0, 0, (int64_t)size, 1));
    qn_tensor *is_odd = qn_remainder(qn_arange(t, QN_I64, 0, (double)size, 1), 2);
    return qn_cast(qn_where(is_odd, qn_cos(angles), qn_sin(angles)), type);
}

/* The places of x of [..., length, size], if none are given. */
static qn_tensor *places_of(qn_tensor *x, qn_tensor *positions) {
    const qn_shape shape = qn_tensor_shape(x);
    if (positions) return positions;
    return qn_arange(qn_tensor_owner(x), QN_I64, 0, (double)shape.sizes[shape.rank - 2], 1);
}

qn_tensor *qn_rotary(qn_tensor *x, qn_tensor *positions, double base, bool neighbours) {
    if (qn_tensor_status(x)) return x;
    const qn_shape shape = qn_tensor_shape(x);
    const uint64_t size = shape.rank ? shape.sizes[shape.rank - 1] : 0;
    if (shape.rank < 2 || size % 2)
        return qn_tensor_fail(qn_tensor_owner(x), QN_ERROR_ARGUMENT,
                              "qn_rotary: x is no [..., length, size] of an even size");
    const qn_element type = qn_tensor_type(x), computed = type == QN_F64 ? QN_F64 : QN_F32;
    qn_tensor *rate = rates(qn_tensor_owner(x), computed, size / 2, size, base > 0 ? base : 1e4);
    qn_tensor *angles = qn_multiply(qn_unsqueeze(qn_cast(places_of(x, positions), computed), -1), rate);
    qn_tensor *c = qn_cos(angles), *s = qn_sin(angles);
    qn_shape halves = shape; /* the pairs, as a dimension of their own */
    halves.rank++;
    halves.sizes[shape.rank - 1] = neighbours ? size / 2 : 2;
    halves.sizes[shape.rank] = neighbours ? 2 : size / 2;
    const int32_t axis = neighbours ? -1 : -2;
    qn_tensor *pairs = qn_reshape(x, halves);
    qn_tensor *a = qn_squeeze(qn_slice(pairs, axis, 0, 1, 1), QN_AXES(axis)),
              *b = qn_squeeze(qn_slice(pairs, axis, 1, 2, 1), QN_AXES(axis));
    qn_tensor *turned[] = {qn_subtract(qn_multiply(a, c), qn_multiply(b, s)),
                           qn_add(qn_multiply(b, c), qn_multiply(a, s))};
    return qn_cast(qn_reshape(qn_stack(turned, 2, axis), shape), type);
}

static qn_tensor *forward_positions(qn_module *module, qn_tensor *x) {
    return qn_positions_forward((qn_positions *)module, x, NULL);
}
static const qn_module_type positions_type = {"positions", forward_positions};

qn_status qn_positions_init(qn_positions *positions, qn_tensors *tensors, const qn_positions_desc *desc) {
    qn_status status = qn__nn_check(positions, tensors, desc, __func__);
    if (!status)
        status = qn__nn_begin(
            tensors,
            (qn__nn_size[]){{"size", desc->size}, {desc->learned ? "length" : NULL, desc->length}, {NULL, 0}},
            __func__);
    if (status) return status;
    *positions = (qn_positions){.size = desc->size};
    qn_module_init(&positions->module, tensors, &positions_type);
    const qn_element computed = desc->type == QN_F64 ? QN_F64 : QN_F32;
    if (desc->learned) {
        qn_tensor *numbers = qn_randn(tensors, computed, QN_SHAPE(desc->length, desc->size));
        status = qn_module_add_parameter(&positions->module, "weight", &positions->weight,
                                         qn_cast(qn_multiply(numbers, 0.02), desc->type), true);
    }
    return qn__nn_made(&positions->module, status);
}

qn_tensor *qn_positions_forward(qn_positions *positions, qn_tensor *x, qn_tensor *places) {
    if (qn_tensor_status(x)) return x;
    qn_module_begin(&positions->module);
    qn_tensor *table = positions->weight.tensor, *y;
    if (qn_tensor_shape(x).rank < 2)
        y = qn_tensor_fail(positions->module.tensors, QN_ERROR_ARGUMENT,
                           "qn_positions_forward: x is no [..., length, size]");
    else if (table)
        y = qn_add(x, qn_take(table, places_of(x, places), 0));
    else
        y = qn_add(x, qn_sinusoidal_positions(places_of(x, places), positions->size, qn_tensor_type(x)));
    return qn_module_end(&positions->module, x, y);
}
