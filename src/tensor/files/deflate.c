/* Inflating: blocks that are stored, or coded by two Huffman codes, of literals and lengths, and of distances. Codes of up to
   FAST bits are looked up at once; longer ones are found bit by bit among the codes of each length, which are consecutive
   numbers. Nothing is trusted: what is read ends with the input, what is written with the room, and copies begin within what
   was written. */
#include "tensor/files/deflate.h"

#include <string.h>

enum { FAST = 10, LONGEST = 15, LITERALS = 288, DISTANCES = 30, END = 256 };

typedef struct code {
    uint16_t fast[1 << FAST]; /* symbol << 4 | bits; 0: a longer code, or none */
    uint16_t count[LONGEST + 1];
    uint16_t symbols[LITERALS]; /* in the order of their codes */
} code;

typedef struct inflater {
    qn__inflation *job;
    uint64_t at;   /* in the input */
    uint64_t bits; /* the next ones, from the lowest on */
    unsigned have;
    code literals, distances;
} inflater;

static const char too_short[] = "they end early";

static void refill(inflater *s) {
    while (s->have <= 56 && s->at < s->job->packed) {
        s->bits |= (uint64_t)s->job->at[s->at++] << s->have;
        s->have += 8;
    }
}

static void drop(inflater *s, unsigned n) {
    s->bits >>= n;
    s->have -= n;
}

/* Up to 16 bits. False: the input ends. */
static bool take(inflater *s, unsigned n, unsigned *value) {
    if (s->have < n) refill(s);
    if (s->have < n) return false;
    *value = (unsigned)(s->bits & ((1u << n) - 1));
    drop(s, n);
    return true;
}

static unsigned reversed(unsigned bits, unsigned n) {
    unsigned turned = 0;
    for (unsigned i = 0; i < n; i++) turned |= (bits >> i & 1) << (n - 1 - i);
    return turned;
}

/* From the lengths of `n` symbols' codes. False: there are more codes than bits allow, or fewer, but for a single one. */
static bool build(code *c, const uint8_t *lengths, unsigned n) {
    memset(c->fast, 0, sizeof c->fast);
    memset(c->count, 0, sizeof c->count);
    for (unsigned i = 0; i < n; i++) c->count[lengths[i]]++;
    const unsigned codes = n - c->count[0];
    c->count[0] = 0;
    int left = 1;
    uint16_t place[LONGEST + 2] = {0}, next[LONGEST + 2] = {0};
    for (unsigned bits = 1; bits <= LONGEST; bits++) {
        left = left * 2 - c->count[bits];
        if (left < 0) return false;
        place[bits + 1] = (uint16_t)(place[bits] + c->count[bits]);
        next[bits + 1] = (uint16_t)((next[bits] + c->count[bits]) * 2);
    }
    if (left > 0 && (codes > 1 || c->count[1] != codes)) return false;
    for (unsigned i = 0; i < n; i++) {
        const unsigned bits = lengths[i];
        if (!bits) continue;
        c->symbols[place[bits]++] = (uint16_t)i;
        const unsigned number = next[bits]++;
        if (bits <= FAST)
            for (unsigned at = reversed(number, bits); at < 1u << FAST; at += 1u << bits)
                c->fast[at] = (uint16_t)(i << 4 | bits);
    }
    return true;
}

/* A symbol that has a long code, or none. */
static bool decode_slowly(inflater *s, const code *c, unsigned *symbol) {
    unsigned number = 0, first = 0, index = 0;
    for (unsigned bits = 1; bits <= LONGEST && bits <= s->have; bits++) {
        number |= (unsigned)(s->bits >> (bits - 1) & 1);
        const unsigned count = c->count[bits];
        if (number - first < count) {
            *symbol = c->symbols[index + number - first];
            drop(s, bits);
            return true;
        }
        index += count;
        first = (first + count) << 1;
        number <<= 1;
    }
    return false;
}

/* The next symbol. False: the input ends, or the bits are none. */
static bool decode(inflater *s, const code *c, unsigned *symbol) {
    if (s->have < LONGEST) refill(s);
    const uint16_t entry = c->fast[s->bits & ((1u << FAST) - 1)];
    if (!entry || (entry & 15u) > s->have) return decode_slowly(s, c, symbol);
    *symbol = entry >> 4;
    drop(s, entry & 15);
    return true;
}

static const char *no_symbol(const inflater *s) {
    return s->have < LONGEST && s->at == s->job->packed ? too_short
                                                        : "there is a code that stands for nothing";
}

/* Copies what was written `distance` bytes before. */
static void repeat(qn__inflation *job, uint64_t distance, uint64_t length) {
    const uint64_t room = job->room - job->size;
    job->is_more = length > room;
    if (job->is_more) length = room;
    uint8_t *to = job->to + job->size;
    const uint8_t *from = to - distance;
    job->size += length;
    if (distance >= length)
        memcpy(to, from, (size_t)length);
    else
        while (length--) *to++ = *from++;
}

static const char *inflate_match(inflater *s, unsigned symbol) {
    static const uint16_t length_base[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                             31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    static const uint8_t length_bits[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                            2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    unsigned extra, distance;
    symbol -= END + 1;
    if (symbol >= 29) return "there is a length that is none";
    if (!take(s, length_bits[symbol], &extra)) return too_short;
    const unsigned length = length_base[symbol] + extra;
    if (!decode(s, &s->distances, &symbol)) return no_symbol(s);
    if (symbol >= DISTANCES) return "there is a distance that is none";
    /* 1, 2, 3, 4, then two for each number of further bits. */
    const unsigned bits = symbol < 4 ? 0 : symbol / 2 - 1;
    if (!take(s, bits, &extra)) return too_short;
    distance = symbol < 4 ? symbol + 1 : ((2 + symbol % 2) << bits) + 1 + extra;
    if (distance > s->job->size) return "there is a distance to before the beginning";
    repeat(s->job, distance, length);
    return NULL;
}

static const char *inflate_codes(inflater *s) {
    qn__inflation *job = s->job;
    while (!job->is_more) {
        unsigned symbol;
        if (!decode(s, &s->literals, &symbol)) return no_symbol(s);
        if (symbol == END) return NULL;
        if (symbol > END) {
            const char *problem = inflate_match(s, symbol);
            if (problem) return problem;
        } else if (job->size == job->room) {
            job->is_more = true;
        } else {
            job->to[job->size++] = (uint8_t)symbol;
        }
    }
    return NULL;
}

static const char *inflate_stored(inflater *s) {
    qn__inflation *job = s->job;
    unsigned size, inverted;
    drop(s, s->have % 8);
    if (!take(s, 16, &size) || !take(s, 16, &inverted)) return too_short;
    if (size != (inverted ^ 0xffff)) return "the size of a stored block is damaged";
    s->at -= s->have / 8; /* what was read ahead */
    s->bits = s->have = 0;
    if (size > job->packed - s->at) return too_short;
    const uint64_t room = job->room - job->size;
    job->is_more = size > room;
    if (job->is_more) size = (unsigned)room;
    if (size) memcpy(job->to + job->size, job->at + s->at, size);
    s->at += size;
    job->size += size;
    return NULL;
}

static bool use_fixed_codes(inflater *s) {
    uint8_t lengths[LITERALS];
    for (unsigned i = 0; i < LITERALS; i++) lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    if (!build(&s->literals, lengths, LITERALS)) return false;
    memset(lengths, 5, 32);
    return build(&s->distances, lengths, 32);
}

/* Lengths of codes, themselves coded: 16 repeats the last one, 17 and 18 repeat zero. */
static const char *read_lengths(inflater *s, uint8_t *lengths, unsigned n) {
    static const uint8_t bits[3] = {2, 3, 7}, base[3] = {3, 3, 11};
    for (unsigned i = 0; i < n;) {
        unsigned symbol, times;
        if (!decode(s, &s->literals, &symbol)) return no_symbol(s);
        if (symbol < 16) {
            lengths[i++] = (uint8_t)symbol;
            continue;
        }
        symbol -= 16;
        if (!take(s, bits[symbol], &times)) return too_short;
        times += base[symbol];
        if ((symbol == 0 && i == 0) || times > n - i) return "the lengths of codes are damaged";
        memset(lengths + i, symbol == 0 ? lengths[i - 1] : 0, times);
        i += times;
    }
    return NULL;
}

static const char *read_codes(inflater *s) {
    static const uint8_t order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    static const char wrong[] = "the lengths of codes fit no code";
    uint8_t lengths[LITERALS + 32] = {0};
    unsigned literals, distances, n;
    if (!take(s, 5, &literals) || !take(s, 5, &distances) || !take(s, 4, &n)) return too_short;
    literals += 257, distances += 1, n += 4;
    if (literals > 286 || distances > DISTANCES) return "there are too many codes";
    for (unsigned i = 0; i < n; i++) {
        unsigned length;
        if (!take(s, 3, &length)) return too_short;
        lengths[order[i]] = (uint8_t)length;
    }
    if (!build(&s->literals, lengths, 19)) return wrong;
    memset(lengths, 0, sizeof lengths);
    const char *problem = read_lengths(s, lengths, literals + distances);
    if (problem) return problem;
    if (!lengths[END]) return wrong;
    return build(&s->literals, lengths, literals) && build(&s->distances, lengths + literals, distances)
               ? NULL
               : wrong;
}

static const char *inflate_block(inflater *s, unsigned kind) {
    if (kind == 0) return inflate_stored(s);
    if (kind == 3) return "there is a block of a kind that is none";
    const char *problem = NULL;
    if (kind == 1)
        problem = use_fixed_codes(s) ? NULL : "the fixed codes do not fit";
    else
        problem = read_codes(s);
    return problem ? problem : inflate_codes(s);
}

const char *qn__inflate(qn__inflation *job) {
    inflater s = {.job = job};
    unsigned is_last = 0, kind;
    job->size = job->used = 0;
    job->is_more = false;
    while (!is_last && !job->is_more) {
        if (!take(&s, 1, &is_last) || !take(&s, 2, &kind)) return too_short;
        const char *problem = inflate_block(&s, kind);
        if (problem) return problem;
    }
    job->used = s.at - s.have / 8;
    return NULL;
}

/* Eight bytes at a time, by a table for each of their places. */
uint32_t qn__crc32(uint32_t before, const uint8_t *bytes, uint64_t size) {
    uint32_t table[8][256];
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int bit = 0; bit < 8; bit++) c = c >> 1 ^ (c & 1 ? 0xedb88320u : 0);
        table[0][i] = c;
    }
    for (uint32_t i = 0; i < 256; i++)
        for (int k = 1; k < 8; k++) table[k][i] = table[k - 1][i] >> 8 ^ table[0][table[k - 1][i] & 255];
    uint32_t crc = ~before;
    for (; size >= 8; size -= 8, bytes += 8) {
        uint32_t low, high;
        memcpy(&low, bytes, 4);
        memcpy(&high, bytes + 4, 4);
        low ^= crc;
        crc = table[7][low & 255] ^ table[6][low >> 8 & 255] ^ table[5][low >> 16 & 255] ^
              table[4][low >> 24] ^ table[3][high & 255] ^ table[2][high >> 8 & 255] ^
              table[1][high >> 16 & 255] ^ table[0][high >> 24];
    }
    while (size--) crc = crc >> 8 ^ table[0][(crc ^ *bytes++) & 255];
    return ~crc;
}
