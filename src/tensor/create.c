/* Making tensors: of memory, and of numbers that kernels make as they need them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tensor/graph.h"

qn_tensor *qn__check_type(qn_tensors *tensors, const char *function, qn_element type) {
    if ((unsigned)type >= QN_ELEMENT_COUNT)
        return qn__failed(tensors, function, QN_ERROR_ARGUMENT, "%u is no qn_element", (unsigned)type);
    if (type == QN_F64 && !(tensors->info.capabilities & QN_CAN_F64))
        return qn__failed(tensors, function, QN_ERROR_UNSUPPORTED, "%s has no f64", tensors->info.name);
    return NULL;
}

/* That there are no more elements, and bytes, than 62 bits count. */
static qn_tensor *check_shape(qn_tensors *tensors, const char *function, const qn_shape *shape) {
    if (shape->rank > QN_MAX_RANK)
        return qn__failed(tensors, function, QN_ERROR_ARGUMENT, "the shape has %u dimensions; at most %u",
                          (unsigned)shape->rank, (unsigned)QN_MAX_RANK);
    uint64_t count = 1;
    for (uint32_t d = 0; d < shape->rank; d++) {
        const uint64_t size = shape->sizes[d] ? shape->sizes[d] : 1;
        if (size > ((uint64_t)1 << 58) / count)
            return qn__failed(tensors, function, QN_ERROR_RANGE, "%s has more elements than can be counted",
                              qn__shape_of(shape->rank, shape->sizes).text);
        count *= size;
    }
    return NULL;
}

qn_tensor *qn__check_creation(qn_tensors *tensors, const char *function, qn_element type,
                              const qn_shape *shape) {
    if (qn__tensors_check(tensors, function)) {
        static const char wrong[] = "tensors is NULL or no object of qn_tensors_create";
        return qn__failed(NULL, function, QN_ERROR_NULL, "%s", wrong);
    }
    qn_tensor *x = qn__check_type(tensors, function, type);
    return x ? x : check_shape(tensors, function, shape);
}

/* A tensor with room for its elements, and the bytes of them. */
static qn_status make_value(qn_tensors *tensors, qn_element type, const qn_shape *shape, qn__node **out,
                            uint64_t *bytes) {
    qn__node *node = qn__node_make(tensors, QN__OP_VALUE, type, shape->rank, shape->sizes);
    if (!node) return QN_ERROR_OUT_OF_MEMORY;
    *bytes = qn__node_count(node) * qn_element_size(type);
    qn__storage *storage = NULL;
    const qn_status status = *bytes ? qn__storage_create(tensors, *bytes, &storage) : QN_OK;
    if (status) {
        qn__node_release(node);
        return status;
    }
    qn__node_set_value(node, storage, 0, NULL);
    *out = node;
    return QN_OK;
}

qn_tensor *qn_from_data(qn_tensors *tensors, qn_element type, qn_shape shape, const void *data) {
    qn_tensor *wrong = qn__check_creation(tensors, "qn_from_data", type, &shape);
    if (wrong) return wrong;
    qn__node *node;
    uint64_t bytes;
    qn_status status = make_value(tensors, type, &shape, &node, &bytes);
    if (status) return qn__failed_as(tensors, status);
    if (bytes && !data) {
        qn__node_release(node);
        return qn__failed(tensors, "qn_from_data", QN_ERROR_NULL, "data is NULL");
    }
    if (bytes) status = qn_stream_write(tensors->stream, node->storage->buffer, 0, data, bytes);
    if (!status) return qn__handle(tensors, node);
    qn__node_release(node);
    return qn__failed_as(tensors, status);
}

static qn_tensor *check_array(qn_tensors *tensors, const char *function, const qn_array *array) {
    const uint64_t count = qn_array_count(array);
    if (count && !array->buffer)
        return qn__failed(tensors, function, QN_ERROR_NULL, "the array has no buffer");
    if (count && qn_buffer_device(array->buffer) != tensors->device)
        return qn__failed(tensors, function, QN_ERROR_WRONG_CONTEXT,
                          "the array's buffer is of another device");
    return NULL;
}

qn_tensor *qn__stored_tensor(qn_tensors *tensors, qn_element type, const qn_shape *shape,
                             qn__storage *storage, uint64_t offset, const int64_t *strides) {
    qn__node *node = qn__node_make(tensors, QN__OP_VALUE, type, shape->rank, shape->sizes);
    if (!node) {
        qn__storage_release(tensors, storage);
        return qn__failed_as(tensors, QN_ERROR_OUT_OF_MEMORY);
    }
    qn__node_set_value(node, storage, offset, strides);
    if (!strides) return qn__handle(tensors, node);
    /* Where no sums of loop variables lead to a strided array, the copy gets a value. */
    qn__node *copy = qn__map_node(tensors, QN__OP_COPY, type, &node, 1);
    qn__node_release(node);
    return qn__handle(tensors, copy);
}

/* `function` is what messages name. A lender without `release` wants nothing back. */
static qn_tensor *from_array(qn_tensors *tensors, const char *function, const qn_array *array,
                             qn_release_callback *release, void *user) {
    qn_shape shape = {.rank = 0};
    if (array && array->rank <= QN_MAX_RANK) memcpy(shape.sizes, array->sizes, sizeof shape.sizes);
    if (array) shape.rank = array->rank;
    qn_tensor *wrong = qn__check_creation(tensors, function, array ? array->type : QN_F32, &shape);
    if (wrong) return wrong;
    if (!array) return qn__failed(tensors, function, QN_ERROR_NULL, "array is NULL");
    wrong = check_array(tensors, function, array);
    if (wrong) return wrong;
    qn__storage *storage = qn__tensors_allocate(tensors, sizeof *storage);
    if (!storage) return qn__failed_as(tensors, QN_ERROR_OUT_OF_MEMORY);
    /* Counted once more until it is clear whether the tensor has it, or the caller keeps it. */
    *storage = (qn__storage){.refs = 2, .borrowed = true, .buffer = array->buffer};
    bool strided = false;
    for (uint32_t d = 0; d < array->rank; d++) strided = strided || array->strides[d];
    qn_tensor *x = qn__stored_tensor(tensors, array->type, &shape, storage, array->offset,
                                     strided ? array->strides : NULL);
    if (!qn_tensor_status(x)) {
        storage->release_enqueued = release;
        storage->user = user;
    }
    qn__storage_release(tensors, storage);
    return x;
}

qn_tensor *qn_from_array(qn_tensors *tensors, const qn_array *array) {
    return from_array(tensors, "qn_from_array", array, NULL, NULL);
}

qn_tensor *qn_from_lent_array(qn_tensors *tensors, const qn_array *array, qn_release_callback *release,
                              void *user) {
    return from_array(tensors, "qn_from_lent_array", array, release, user);
}

qn_tensor *(qn_full)(qn_tensors *tensors, qn_element type, qn_shape shape, qn_operand value) {
    qn_tensor *wrong = qn__check_creation(tensors, "qn_full", type, &shape);
    if (wrong) return wrong;
    if (value.kind == QN_OPERAND_TENSOR)
        return qn__failed(tensors, "qn_full", QN_ERROR_ARGUMENT, "value is a tensor; see qn_broadcast_to");
    if (!qn__holds(type, &value))
        return qn__failed(tensors, "qn_full", QN_ERROR_ARGUMENT, "%s does not have the value",
                          qn_element_name(type));
    return qn__handle(tensors,
                      qn__expand_node(qn__number_node(tensors, type, &value), shape.rank, shape.sizes));
}

static const qn_operand zero = {QN_OPERAND_SIGNED, {.i = 0}}, one = {QN_OPERAND_SIGNED, {.i = 1}};

qn_tensor *qn_zeros(qn_tensors *tensors, qn_element type, qn_shape shape) {
    return (qn_full)(tensors, type, shape, zero);
}

qn_tensor *qn_ones(qn_tensors *tensors, qn_element type, qn_shape shape) {
    return (qn_full)(tensors, type, shape, one);
}

qn__node *qn__index_node(qn_tensors *tensors, uint32_t rank, const uint64_t *sizes, uint32_t axis) {
    qn__node *node = qn__node_make(tensors, QN__OP_INDEX, QN_I64, rank, sizes);
    if (node) node->attributes.axis = axis;
    return node;
}

qn_tensor *qn__index_tensor(qn_tensors *tensors, uint64_t count) {
    return qn__handle(tensors, qn__index_node(tensors, 1, &count, 0));
}

/* first + step * place, computed in f64 where the device has it, so that f32 numbers are rounded once. */
static qn_tensor *progression(qn_tensors *tensors, qn_element type, double first, double step,
                              uint64_t count) {
    if (!qn__is_float(type) && first == floor(first) && step == floor(step))
        return qn_cast(qn_add(qn_multiply(qn__index_tensor(tensors, count), (int64_t)step), (int64_t)first),
                       type);
    const bool wide = tensors->info.capabilities & QN_CAN_F64;
    qn_tensor *places = qn_cast(qn__index_tensor(tensors, count), wide ? QN_F64 : QN_F32);
    return qn_cast(qn_multiply_add(places, step, first), type);
}

qn_tensor *qn_arange(qn_tensors *tensors, qn_element type, double start, double stop, double step) {
    const double wanted = ceil((stop - start) / step);
    qn_shape shape = {1, {wanted > 0 && wanted < 1e18 ? (uint64_t)wanted : 0}};
    qn_tensor *wrong = qn__check_creation(tensors, "qn_arange", type, &shape);
    if (wrong) return wrong;
    if (!(step < 0 || step > 0) || isnan(wanted) || wanted >= 1e18)
        return qn__failed(tensors, "qn_arange", QN_ERROR_ARGUMENT,
                          "from %g to %g by %g are no number of elements", start, stop, step);
    return progression(tensors, type, start, step, shape.sizes[0]);
}

qn_tensor *qn_linspace(qn_tensors *tensors, qn_element type, double start, double stop, uint64_t count) {
    qn_shape shape = {1, {count}};
    qn_tensor *wrong = qn__check_creation(tensors, "qn_linspace", type, &shape);
    if (wrong) return wrong;
    const double step = count > 1 ? (stop - start) / (double)(count - 1) : 0;
    qn_tensor *numbers = progression(tensors, type, start, step, count);
    if (count < 2) return numbers;
    qn_tensor *is_last = qn_equal(qn__index_tensor(tensors, count), count - 1);
    return qn_cast(qn_where(is_last, stop, numbers), type);
}

qn_tensor *qn_eye(qn_tensors *tensors, qn_element type, uint64_t rows, uint64_t columns, int64_t offset) {
    qn_shape shape = {2, {rows, columns}};
    qn_tensor *wrong = qn__check_creation(tensors, "qn_eye", type, &shape);
    if (wrong) return wrong;
    qn_tensor *row = qn__handle(tensors, qn__index_node(tensors, 2, shape.sizes, 0));
    qn_tensor *column = qn__handle(tensors, qn__index_node(tensors, 2, shape.sizes, 1));
    return qn_cast(qn_equal(qn_add(row, offset), column), type);
}
