/* A multiply-and-fold hash in the manner of wyhash: eight bytes a step, product of 64 x 64 bits folded. */
#include "util/hash.h"

#include <string.h>

/* High and low halves of the 128-bit product, xored; in 32-bit pieces because C11 has no 128-bit type. */
static uint64_t fold(uint64_t a, uint64_t b) {
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t middle = a1 * b0 + ((a0 * b0) >> 32);
    uint64_t cross = a0 * b1 + (uint32_t)middle;
    return (a1 * b1 + (middle >> 32) + (cross >> 32)) ^ (a * b);
}

uint64_t qn__hash(const void *data, size_t size, uint64_t seed) {
    const unsigned char *bytes = data;
    uint64_t hash = seed ^ 0x9E3779B97F4A7C15u ^ size;
    size_t left = size;
    for (; left >= 8; left -= 8, bytes += 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        hash = fold(hash ^ word, 0xD6E8FEB86659FD93u);
    }
    uint64_t tail = 0;
    if (left) memcpy(&tail, bytes, left);
    hash = fold(hash ^ tail ^ 0xA0761D6478BD642Fu, 0xE7037ED1A0B428DBu);
    return fold(hash ^ (hash >> 29), 0x8EBC6AF09C88C6E3u);
}

qn__hash128 qn__hash_128(const void *data, size_t size) {
    return (qn__hash128){qn__hash(data, size, 0x243F6A8885A308D3u),
                         qn__hash(data, size, 0x13198A2E03707344u)};
}
