// Random numbers by Philox 4x32-10 (Salmon, Moraes, Dror and Shaw: Parallel random numbers: as easy as 1, 2, 3; 2011). Number
// i of a seed is made of word i % 4 of the block whose counter is i / 4, so that each work-item makes four neighbours on its own, and
// the same ones anywhere. Wide elements (WIDE) take two words, and half as many are of a block. By -D: TO, VALUE, TO_CONVERT; NORMAL or not;
// WHOLE for integers; RANK of `to`, its dimensions from the innermost one on. Global size: blocks. BLOCKS: for a contiguous `to`, so many
// blocks a work-item, GROUP apart, moved in words of TO_WORD; global size: GROUP for each GROUP * BLOCKS of them.
#include "element.h"
#include "pack.h"
#include "place.h"
#pragma OPENCL FP_CONTRACT OFF

static uint4 philox(ulong counter, ulong seed) {
    uint4 c = (uint4)((uint)counter, (uint)(counter >> 32), 0, 0);
    uint2 key = (uint2)((uint)seed, (uint)(seed >> 32));
    #pragma unroll
    for (uint round = 0; round < 10; round++) {
        const uint high0 = mul_hi(0xd2511f53u, c.x), low0 = 0xd2511f53u * c.x;
        const uint high1 = mul_hi(0xcd9e8d57u, c.z), low1 = 0xcd9e8d57u * c.z;
        c = (uint4)(high1 ^ c.y ^ key.x, low1, high0 ^ c.w ^ key.y, low0);
        key += (uint2)(0x9e3779b9u, 0xbb67ae85u);
    }
    return c;
}

#ifdef WIDE
#define COUNT 2
typedef ulong bits_t;
#else
#define COUNT 4
typedef uint bits_t;
#endif

#ifdef WHOLE
// From a up to b: the high word of the product with how many there are. 0 of them: all there are.
static VALUE number(bits_t bits, VALUE a, bits_t span) { return (VALUE)((bits_t)a + (span ? mul_hi(bits, span) : bits)); }
#define SPAN bits_t
#else
#define SPAN VALUE
#ifdef WIDE
#define FRACTION(bits) ((VALUE)((bits) >> 11) * 0x1p-53)
#define HALF_STEP 0x1p-54
#define TWO_PI 6.283185307179586
#else
#define FRACTION(bits) ((VALUE)((bits) >> 8) * 0x1p-24f)
#define HALF_STEP 0x1p-25f
#define TWO_PI 6.2831853f
#endif
// a + b x, with x from 0 up to 1.
static VALUE number(bits_t bits, VALUE a, VALUE b) { return a + b * FRACTION(bits); }
#endif

// The numbers of a block.
static void make_numbers(VALUE *restrict numbers, ulong block, ulong seed, VALUE a, SPAN b) {
    const uint4 words = philox(block, seed);
#ifdef WIDE
    const ulong bits[COUNT] = {(ulong)words.y << 32 | words.x, (ulong)words.w << 32 | words.z};
#else
    const uint bits[COUNT] = {words.x, words.y, words.z, words.w};
#endif
    #pragma unroll
    for (uint k = 0; k < COUNT; k++) {
#ifdef NORMAL
        // Box and Muller: two numbers of the standard normal distribution from two words.
        const VALUE radius = sqrt(-2 * log(FRACTION(bits[k & ~1u]) + HALF_STEP));
        const VALUE angle = TWO_PI * FRACTION(bits[k | 1]);
        numbers[k] = a + b * (radius * (k & 1 ? sin(angle) : cos(angle)));
#else
        numbers[k] = number(bits[k], a, b);
#endif
    }
}

#ifdef BLOCKS
PACK(to_pack, TO, COUNT, TO_WORD)
static to_pack converted(ulong block, ulong seed, VALUE a, SPAN b) {
    VALUE numbers[COUNT];
    make_numbers(numbers, block, seed, a, b);
    to_pack r;
    #pragma unroll
    for (uint k = 0; k < COUNT; k++) r.e[k] = TO_CONVERT(numbers[k]);
    return r;
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
random(ulong seed, ulong first, ulong count, VALUE a, SPAN b, ulong to_begin, global TO *restrict to) {
    const ulong group = first / COUNT + (ulong)get_group_id(0) * (GROUP * BLOCKS);
    const bool whole = group * COUNT >= first && group * COUNT - first + GROUP * BLOCKS * COUNT <= count;
    to += (long)to_begin;
#ifdef APART
    // On processors. A branch with a barrier is around the loop over work-items, not in it: of this one the compiler makes vectors.
    if (whole) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const ulong own = group + get_local_id(0);
        to_pack_store(to + (long)(own * COUNT - first), converted(own, seed, a, b));
        return;
    }
#endif
    const ulong block = group + get_local_id(0);
    const ulong begin = block * COUNT - first; // wraps where the block begins before the first number
    to += (long)begin;
    #pragma unroll 2
    for (uint j = 0; j < BLOCKS; j++) {
        const to_pack r = converted(block + j * GROUP, seed, a, b);
        const ulong i = begin + j * (GROUP * COUNT);
        if (whole) {
            to_pack_store(to + j * (GROUP * COUNT), r);
        } else {
            #pragma unroll
            for (uint k = 0; k < COUNT; k++)
                if (i + k < count) to[j * (GROUP * COUNT) + k] = r.e[k];
        }
    }
}
#else
typedef struct place {
    ulong sizes[RANK];
    long to[RANK];
} place;

PLACE_IN(to_place, (place w, ulong i), 0, RANK, to)

kernel void random(place w, ulong seed, ulong first, ulong count, VALUE a, SPAN b, ulong to_begin, global TO *restrict to) {
    const ulong block = first / COUNT + get_global_id(0);
    VALUE numbers[COUNT];
    make_numbers(numbers, block, seed, a, b);
    #pragma unroll
    for (uint k = 0; k < COUNT; k++) {
        const ulong i = block * COUNT + k - first;
        if (i < count) // not where it would be negative either
            to[(long)to_begin + to_place(w, i)] = TO_CONVERT(numbers[k]);
    }
}
#endif
