/* Non-cryptographic hashing: 64 bits for tables, 128 bits for cache file names (the cache compares whole
   keys). */
#ifndef QN__HASH_H
#define QN__HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct qn__hash128 {
    uint64_t a, b;
} qn__hash128;

uint64_t qn__hash(const void *data, size_t size, uint64_t seed);
qn__hash128 qn__hash_128(const void *data, size_t size);

#endif
