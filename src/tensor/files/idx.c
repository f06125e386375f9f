/* IDX, the format of MNIST's files (yann.lecun.com/exdb/mnist): two zeros, a type, the number of dimensions, their sizes, then
   the elements; numbers are big-endian. */
#include "tensor/files/archive.h"

static const struct type {
    uint8_t code;
    qn_encoding encoding;
} types[] = {{8, QN_ENCODING_U8},   {9, QN_ENCODING_I8},   {11, QN_ENCODING_I16},
             {12, QN_ENCODING_I32}, {13, QN_ENCODING_F32}, {14, QN_ENCODING_F64}};

static bool find_type(uint8_t code, qn_encoding *encoding) {
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++) {
        *encoding = types[i].encoding;
        if (types[i].code == code) return true;
    }
    return false;
}

qn_status qn__read_idx(qn_archive *a) {
    qn_encoding encoding;
    if (a->size < 4 || a->bytes[0] || a->bytes[1] || !find_type(a->bytes[2], &encoding))
        return qn__archive_fail(a, QN_ERROR_ARGUMENT, "it does not begin as IDX files do");
    const uint32_t rank = a->bytes[3];
    if (rank > QN_MAX_RANK)
        return qn__archive_fail(a, QN_ERROR_UNSUPPORTED, "it has %u dimensions; at most %u are possible",
                                (unsigned)rank, (unsigned)QN_MAX_RANK);
    const uint64_t start = 4 + 4 * (uint64_t)rank;
    if (a->size < start)
        return qn__archive_fail(a, QN_ERROR_ARGUMENT, "it ends within the sizes of its dimensions");
    qn__entry *e = qn__archive_add(a);
    if (!e) return QN_ERROR_OUT_OF_MEMORY;
    e->array = (qn_host_array){.name = "data", .encoding = encoding, .rank = rank};
    for (uint32_t i = 0; i < rank; i++) {
        const uint8_t *size = a->bytes + 4 + 4 * (uint64_t)i;
        e->array.sizes[i] =
            (uint64_t)size[0] << 24 | (uint64_t)size[1] << 16 | (uint64_t)size[2] << 8 | size[3];
    }
    const qn_status status = qn__host_array_measure(a, &e->array, "'data'");
    if (status) return status;
    if (e->array.bytes != a->size - start)
        return qn__archive_fail(a, QN_ERROR_ARGUMENT,
                                "'data' takes %llu bytes by its type and sizes, but %llu follow",
                                (unsigned long long)e->array.bytes, (unsigned long long)(a->size - start));
    e->at = a->bytes + start;
    e->packed = e->whole = e->array.bytes;
    e->is_swapped = encoding != QN_ENCODING_U8 && encoding != QN_ENCODING_I8;
    return QN_OK;
}
