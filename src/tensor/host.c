/* Tensors of arrays in host memory: uploaded in pieces, or as blocks of quantised numbers that the device decodes. */
#include <quern/files.h>
#include <stdio.h>
#include <string.h>

#include "tensor/graph.h"
#include "tensor/host.h"
#include "tensor/plan.h"

enum { PIECE = 16 << 20 };

/* Encodings that kernels/dequantize.cl decodes, by functions of their names. */
static const bool decoded[QN_ENCODING_COUNT] = {
    [QN_ENCODING_Q4_0] = true,   [QN_ENCODING_Q4_1] = true, [QN_ENCODING_Q5_0] = true,
    [QN_ENCODING_Q5_1] = true,   [QN_ENCODING_Q8_0] = true, [QN_ENCODING_Q2_K] = true,
    [QN_ENCODING_Q3_K] = true,   [QN_ENCODING_Q4_K] = true, [QN_ENCODING_Q5_K] = true,
    [QN_ENCODING_Q6_K] = true,   [QN_ENCODING_Q8_K] = true, [QN_ENCODING_IQ4_NL] = true,
    [QN_ENCODING_IQ4_XS] = true, [QN_ENCODING_MXFP4] = true};

bool qn__can_load(qn_encoding encoding) {
    return (unsigned)encoding < QN_ENCODING_COUNT &&
           (decoded[encoding] || qn_encoding_element(encoding, NULL));
}

/* ---- uploading ---- */

/* Where the device has the host's memory, a map shows it: one copy, straight from a mapped file. It waits for who used the memory before. */
static qn_status copy_in(qn_buffer *buffer, const void *data, uint64_t bytes) {
    void *to;
    const qn_status status = qn_buffer_map_range(buffer, QN_MAP_WRITE, 0, bytes, &to);
    if (status) return status;
    memcpy(to, data, (size_t)bytes);
    return qn_buffer_unmap(buffer);
}

static qn_status upload(qn_tensors *tensors, qn_buffer *buffer, const void *data, uint64_t bytes) {
    qn_status status = QN_OK;
    /* What a recorded step uploads is part of the recording; what is small is not worth waiting for. */
    if (bytes >= PIECE && !tensors->recording && (tensors->info.capabilities & QN_CAN_SHARE_MEMORY))
        return copy_in(buffer, data, bytes);
    for (uint64_t at = 0; at < bytes && !status;) {
        const uint64_t size = bytes - at < PIECE ? bytes - at : PIECE;
        status = qn_stream_write(tensors->stream, buffer, at, (const char *)data + at, size);
        at += size;
    }
    return status;
}

/* A node of so many bytes of device memory, without contents. */
static qn_status make_value(qn_tensors *tensors, qn_element type, const qn_host_array *array,
                            qn__node **out) {
    qn__node *node = qn__node_make(tensors, QN__OP_VALUE, type, array->rank, array->sizes);
    if (!node) return QN_ERROR_OUT_OF_MEMORY;
    const uint64_t bytes = qn__node_count(node) * qn_element_size(type);
    qn__storage *storage = NULL;
    const qn_status status = bytes ? qn__storage_create(tensors, bytes, &storage) : QN_OK;
    if (status) {
        qn__node_release(node);
        return status;
    }
    qn__node_set_value(node, storage, 0, NULL);
    *out = node;
    return QN_OK;
}

/* ---- blocks ---- */

static qn_status find_decoder(qn_tensors *tensors, qn_encoding encoding, qn_element type,
                              qn_kernel **kernel) {
    qn_program_desc desc = {0};
    if (!qn_kernels_source("dequantize.cl", &desc))
        return qn__tensors_fail(tensors, QN_ERROR_INTERNAL, "tensors: there is no kernels/dequantize.cl");
    uint32_t elements, bytes;
    qn_encoding_block(encoding, &elements, &bytes);
    const size_t room = strlen(desc.source) + 256;
    char *text = qn__tensors_allocate(tensors, room);
    if (!text) return QN_ERROR_OUT_OF_MEMORY;
    const char *storage = qn__element_of(type)->storage, *four = strncmp(storage, "qn_", 3) == 0 ? "x4" : "4";
    snprintf(text, room,
             "#define DECODE %s\n#define BLOCK %u\n#define BYTES %u\n#define T4 %s%s\n#line 1\n%s",
             qn_encoding_name(encoding), (unsigned)elements, (unsigned)bytes, storage, four, desc.source);
    const char *kept;
    const qn_status status = qn__program_get(tensors, text, kernel, &kept);
    qn__tensors_release(tensors, text);
    return status;
}

static qn_status launch_decoder(qn_tensors *tensors, const qn_host_array *array, qn_buffer *blocks,
                                const qn__node *node) {
    qn_kernel *kernel;
    const qn_status status = find_decoder(tensors, array->encoding, (qn_element)node->type, &kernel);
    if (status) return status;
    tensors->stats.launches++;
    return qn_launch(tensors->stream, kernel, QN_RANGE(qn__node_count(node) / 4),
                     QN_ARGS(blocks, node->storage->buffer));
}

/* The node's value from the array's blocks, which have device memory for as long as that takes. */
static qn_status decode(qn_tensors *tensors, const qn_host_array *array, const qn__node *node) {
    qn__storage *blocks;
    qn_status status = qn__storage_create(tensors, array->bytes, &blocks);
    if (status) return status;
    status = upload(tensors, blocks->buffer, array->data, array->bytes);
    if (!status) status = launch_decoder(tensors, array, blocks->buffer, node);
    qn__storage_release(tensors, blocks);
    return status;
}

/* ---- arrays ---- */

static bool has_strides(const qn_host_array *array) {
    for (uint32_t d = 0; d < array->rank; d++)
        if (array->strides[d]) return true;
    return false;
}

/* Elements in order; where they have strides, by a copy on the host. */
static qn_status upload_elements(qn_tensors *tensors, const qn_host_array *array, const qn__node *node) {
    if (!has_strides(array)) return upload(tensors, node->storage->buffer, array->data, array->bytes);
    void *copy = qn__tensors_allocate(tensors, (size_t)array->bytes);
    if (!copy) return QN_ERROR_OUT_OF_MEMORY;
    qn_status status = qn_host_array_copy(array, copy, array->bytes);
    if (status)
        qn__tensors_fail(tensors, status, "the array's bytes are not those of its sizes");
    else
        status = upload(tensors, node->storage->buffer, copy, array->bytes);
    qn__tensors_release(tensors, copy);
    return status;
}

/* For a device without f64. */
static qn_tensor *from_doubles(qn_tensors *tensors, const qn_host_array *array) {
    qn_host_array narrow = *array;
    narrow.encoding = QN_ENCODING_F32;
    narrow.bytes = array->bytes / 2;
    memset(narrow.strides, 0, sizeof narrow.strides);
    double *copy = qn__tensors_allocate(tensors, (size_t)array->bytes + 1);
    if (!copy) return qn__failed_as(tensors, QN_ERROR_OUT_OF_MEMORY);
    qn_tensor *x;
    if (qn_host_array_copy(array, copy, array->bytes)) {
        x = qn__failed(tensors, "qn_from_host_array", QN_ERROR_ARGUMENT,
                       "the array's bytes are not those of its sizes");
    } else {
        float *numbers = (float *)(void *)copy; /* a number is never written before it was read */
        for (uint64_t i = 0; i < array->bytes / 8; i++) {
            double wide;
            memcpy(&wide, (const char *)copy + 8 * i, sizeof wide);
            const float number = (float)wide;
            memcpy(&numbers[i], &number, sizeof number);
        }
        narrow.data = numbers;
        x = qn_from_host_array(tensors, &narrow, QN_F32);
    }
    qn__tensors_release(tensors, copy);
    return x;
}

/* A failed tensor where there can be none of the array; NULL: there can. */
static qn_tensor *check(qn_tensors *tensors, const qn_host_array *array, qn_element type) {
    static const char function[] = "qn_from_host_array";
    if (qn__tensors_check(tensors, function))
        return qn__failed(NULL, function, QN_ERROR_NULL, "%s",
                          "tensors is NULL or no object of qn_tensors_create");
    if (!array) return qn__failed(tensors, function, QN_ERROR_NULL, "array is NULL");
    const char *name = array->name ? array->name : "";
    if (array->rank > QN_MAX_RANK || (unsigned)array->encoding >= QN_ENCODING_COUNT)
        return qn__failed(tensors, function, QN_ERROR_ARGUMENT,
                          "'%.100s' has %u dimensions, or an encoding that is none", name,
                          (unsigned)array->rank);
    if (!qn__can_load(array->encoding))
        return qn__failed(tensors, function, QN_ERROR_UNSUPPORTED,
                          "'%.100s' is of %s, which tensors cannot have", name,
                          qn_encoding_name(array->encoding));
    uint32_t elements, bytes;
    qn_encoding_block(array->encoding, &elements, &bytes);
    const uint64_t count = qn_host_array_count(array);
    if (count > ((uint64_t)1 << 58) || count % elements || count / elements * bytes != array->bytes)
        return qn__failed(tensors, function, QN_ERROR_ARGUMENT,
                          "'%.100s' has %llu bytes, which are not those of its sizes", name,
                          (unsigned long long)array->bytes);
    if (array->bytes && !array->data)
        return qn__failed(tensors, function, QN_ERROR_NULL, "'%.100s' has no data", name);
    if (elements > 1 && has_strides(array))
        return qn__failed(tensors, function, QN_ERROR_UNSUPPORTED, "'%.100s' has blocks and strides", name);
    return type == QN_OWN_TYPE ? NULL : qn__check_type(tensors, function, type);
}

qn_tensor *qn_from_host_array(qn_tensors *tensors, const qn_host_array *array, qn_element type) {
    qn_tensor *wrong = check(tensors, array, type);
    if (wrong) return wrong;
    qn_element element;
    const bool blocks = !qn_encoding_element(array->encoding, &element);
    if (type == QN_OWN_TYPE) type = blocks ? QN_F32 : element;
    if (!blocks && element == QN_F64 && type == QN_F32 && !(tensors->info.capabilities & QN_CAN_F64))
        return from_doubles(tensors, array);
    /* Blocks become floats at once; what is none is converted from those. */
    const qn_element made = !blocks ? element : qn__is_float(type) ? type : QN_F32;
    wrong = qn__check_type(tensors, "qn_from_host_array", made);
    if (wrong) return wrong;
    qn__node *node;
    qn_status status = make_value(tensors, made, array, &node);
    if (status) return qn__failed_as(tensors, status);
    if (array->bytes) status = blocks ? decode(tensors, array, node) : upload_elements(tensors, array, node);
    if (status) {
        qn__node_release(node);
        return qn__failed_as(tensors, status);
    }
    qn_tensor *x = qn__handle(tensors, node);
    return made == type ? x : qn_cast(x, type);
}

qn_tensor *qn_from_archive(qn_tensors *tensors, qn_archive *archive, const char *name, qn_element type) {
    static const char function[] = "qn_from_archive";
    if (qn__tensors_check(tensors, function))
        return qn__failed(NULL, function, QN_ERROR_NULL, "%s",
                          "tensors is NULL or no object of qn_tensors_create");
    if (!archive || !name)
        return qn__failed(tensors, function, QN_ERROR_NULL, "%s is NULL", archive ? "name" : "archive");
    const qn_host_array *array = qn_archive_find(archive, name);
    if (!array)
        return qn__failed(tensors, function, QN_ERROR_ARGUMENT, "the archive has no array '%.100s'", name);
    const bool had_data = array->data != NULL;
    const qn_status status = qn_archive_data(archive, array, NULL);
    if (status) return qn__failed_as(tensors, status);
    qn_tensor *x = qn_from_host_array(tensors, array, type);
    if (!had_data) qn_archive_forget(archive, array);
    return x;
}
