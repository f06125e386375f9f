/* The helpers that the fold column of ops.def names, and the conversions, which are too long for a table
   cell. Constant folding (fold.c) and the VM compute with the same expressions and functions, so that an op's
   meaning is written once. */
#ifndef QN__FOLD_H
#define QN__FOLD_H

#include "ir/ir.h"

static inline uint64_t qn__fold_sdiv(int64_t a, int64_t b) {
    if (b == 0) return (uint64_t)a;
    if (b == -1) return 0 - (uint64_t)a;
    return (uint64_t)(a / b);
}

static inline uint64_t qn__fold_srem(int64_t a, int64_t b) {
    if (b == 0 || b == -1) return 0;
    return (uint64_t)(a % b);
}

/* Schoolbook multiplication in halves of 32 bits for the widest, one product for the rest: of 32 bits where that
   will do, for gcc 12 loses the signs when it vectorises the high half of a product more than twice as wide. */
static inline uint64_t qn__fold_umulhi(uint64_t a, uint64_t b, unsigned w) {
    if (w <= 16) return (uint32_t)a * (uint32_t)b >> w;
    if (w < 64) return a * b >> w;
    uint64_t al = a & UINT32_MAX, ah = a >> 32, bl = b & UINT32_MAX, bh = b >> 32;
    uint64_t middle = ah * bl + (al * bl >> 32);
    uint64_t other = al * bh + (middle & UINT32_MAX);
    return ah * bh + (middle >> 32) + (other >> 32);
}

static inline uint64_t qn__fold_smulhi(int64_t a, int64_t b, unsigned w) {
    if (w <= 16) return (uint64_t)((int32_t)a * (int32_t)b >> w);
    if (w < 64) return (uint64_t)(a * b >> w);
    uint64_t high = qn__fold_umulhi((uint64_t)a, (uint64_t)b, 64);
    return high - (a < 0 ? (uint64_t)b : 0) - (b < 0 ? (uint64_t)a : 0);
}

/* Sum of the products of four bytes. */
static inline uint64_t qn__fold_dot4(uint64_t a, uint64_t b, bool signed_a, bool signed_b) {
    int32_t sum = 0;
    for (unsigned shift = 0; shift < 32; shift += 8) {
        const uint8_t x = (uint8_t)(a >> shift), y = (uint8_t)(b >> shift);
        sum += (signed_a ? (int8_t)x : x) * (signed_b ? (int8_t)y : y);
    }
    return (uint32_t)sum;
}

static inline uint64_t qn__fold_rotl(uint64_t a, uint64_t b, unsigned w) {
    unsigned n = (unsigned)(b & (w - 1));
    return n ? a << n | a >> (w - n) : a;
}

static inline uint64_t qn__fold_popcount(uint64_t a) {
    a -= a >> 1 & 0x5555555555555555u;
    a = (a & 0x3333333333333333u) + (a >> 2 & 0x3333333333333333u);
    a = (a + (a >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return a * 0x0101010101010101u >> 56;
}

static inline uint64_t qn__fold_ctz(uint64_t a, unsigned w) {
    return a ? qn__fold_popcount(~a & (a - 1)) : w;
}

static inline uint64_t qn__fold_clz(uint64_t a, unsigned w) {
    for (unsigned s = 1; s < 64; s *= 2) a |= a >> s;
    return w - qn__fold_popcount(a);
}

/* An op of the fold column on scalars of `kind`: the bits of its result, which is of the kind `result`. */
uint64_t qn__fold_number(ir_op op, ir_kind kind, ir_kind result, const uint64_t operands[3]);

/* One lane of a conversion op (trunc to u2f, without bitcast and pointers): `bits` is the source's,
   zero-extended; so is the result. */
uint64_t qn__fold_convert(ir_op op, ir_kind from, ir_kind to, ir_rounding rounding, uint64_t bits);

#endif
