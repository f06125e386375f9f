/* Deflate's compressed bytes (RFC 1951), and the checksum that zip and gzip have. */
#ifndef QN__DEFLATE_H
#define QN__DEFLATE_H

#include <stdbool.h>
#include <stdint.h>

/* `packed` bytes at `at`, and where they are inflated to. */
typedef struct qn__inflation {
    const uint8_t *at;
    uint64_t packed;
    uint8_t *to;
    uint64_t room;
    uint64_t size, used; /* results */
    bool is_more;        /* there was more than `to` has room for, which is filled */
} qn__inflation;

/* Inflates until the end or until `to` is full. NULL, or what is wrong with the bytes: "they end early". */
const char *qn__inflate(qn__inflation *inflation);

/* Goes on from that of the bytes before; 0: there are none. */
uint32_t qn__crc32(uint32_t before, const uint8_t *bytes, uint64_t size);

#endif
