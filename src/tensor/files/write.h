/* What the writers of formats share: the file while it is written, the arrays in it. */
#ifndef QN__FILES_WRITE_H
#define QN__FILES_WRITE_H

#include "tensor/files/archive.h"

/* The archive is none that is open: its entries are the arrays to be written, and it has the name and the memory. */
typedef struct qn__writer {
    qn_archive archive;
    const qn_archive_write_desc *desc;
    qn__output output;
    uint64_t at; /* how many bytes were written */
} qn__writer;

qn_status qn__put(qn__writer *writer, const void *data, uint64_t size);
/* The elements of array `index`, and their checksum goes on in *crc where it is not NULL. */
qn_status qn__put_elements(qn__writer *writer, uint64_t index, uint32_t *crc);
/* Over what was written at a place. */
qn_status qn__put_over(qn__writer *writer, const void *data, uint32_t size, uint64_t at);

/* The formats' writers. */
qn_status qn__write_safetensors(qn__writer *writer);
qn_status qn__write_npy(qn__writer *writer);
qn_status qn__write_npz(qn__writer *writer);

/* The header of a .npy file: at most this many bytes, a multiple of 64. */
enum { QN__NPY_HEADER_ROOM = 320 };
uint32_t qn__npy_write_header(const qn_host_array *array, char header[QN__NPY_HEADER_ROOM]);
/* Whether .npy has the encoding; otherwise a sentence. */
qn_status qn__npy_check(const qn__writer *writer);

static inline void qn__set16(uint8_t *to, uint64_t value) {
    to[0] = (uint8_t)value;
    to[1] = (uint8_t)(value >> 8);
}
static inline void qn__set32(uint8_t *to, uint64_t value) {
    qn__set16(to, value);
    qn__set16(to + 2, value >> 16);
}
static inline void qn__set64(uint8_t *to, uint64_t value) {
    qn__set32(to, value);
    qn__set32(to + 4, value >> 32);
}

#endif
