/* A multiply-and-fold hash in the manner of wyhash: eight bytes a step, product of 64 x 64 bits folded. */
#include "util/hash.h"

#include <string.h>

enum { LONG = 1024, BLOCK = 64 }; /* bytes */
#define PRIME 0x589965CC75374CC3u

/* High and low halves of the 128-bit product, xored. */
#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 wide;
static uint64_t fold(uint64_t a, uint64_t b) {
    const wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}
#else
static uint64_t fold(uint64_t a, uint64_t b) {
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t middle = a1 * b0 + ((a0 * b0) >> 32);
    uint64_t cross = a0 * b1 + (uint32_t)middle;
    return (a1 * b1 + (middle >> 32) + (cross >> 32)) ^ (a * b);
}
#endif

static uint64_t read_word(const unsigned char *bytes) {
    uint64_t word;
    memcpy(&word, bytes, 8);
    return word;
}

static uint64_t step(uint64_t hash, const unsigned char *bytes) {
    return fold(hash ^ read_word(bytes), 0xD6E8FEB86659FD93u);
}

static uint64_t step_wide(uint64_t hash, const unsigned char *bytes) {
    return fold(hash ^ read_word(bytes), PRIME ^ read_word(bytes + 8));
}

/* Long texts: four lanes, as each step waits for the one before, and two words a step, for products are what takes the
   time. A local array of lanes would live in memory: they are variables. */
static uint64_t hash_blocks(const unsigned char *bytes, size_t count, uint64_t hash) {
    uint64_t a = hash, b = ~hash, c = hash ^ 0x2D358DCCAA6C78A5u, d = hash ^ 0x8BB84B93962EACC9u;
    for (; count > 0; count--, bytes += BLOCK) {
        a = step_wide(a, bytes);
        b = step_wide(b, bytes + 16);
        c = step_wide(c, bytes + 32);
        d = step_wide(d, bytes + 48);
    }
    return fold(fold(hash ^ a, PRIME ^ b), fold(hash ^ c, PRIME ^ d) ^ PRIME);
}

uint64_t qn__hash(const void *data, size_t size, uint64_t seed) {
    const unsigned char *bytes = data;
    uint64_t hash = seed ^ 0x9E3779B97F4A7C15u ^ size;
    size_t left = size;
    if (left >= LONG) {
        hash = hash_blocks(bytes, left / BLOCK, hash);
        bytes += left / BLOCK * BLOCK;
        left %= BLOCK;
    }
    for (; left >= 8; left -= 8, bytes += 8) hash = step(hash, bytes);
    uint64_t tail = 0;
    if (left) memcpy(&tail, bytes, left);
    hash = fold(hash ^ tail ^ 0xA0761D6478BD642Fu, 0xE7037ED1A0B428DBu);
    return fold(hash ^ (hash >> 29), 0x8EBC6AF09C88C6E3u);
}

qn__hash128 qn__hash_128(const void *data, size_t size) {
    return (qn__hash128){qn__hash(data, size, 0x243F6A8885A308D3u),
                         qn__hash(data, size, 0x13198A2E03707344u)};
}
