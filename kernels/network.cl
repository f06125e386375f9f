// Rows sorted, or the first of each found, on processors: LANES rows at a time lie side by side in the lanes of vectors, and go through a
// network that compares and exchanges (Batcher, "Sorting networks and their applications", 1968), of which nothing depends on the keys. The
// network is the bitonic one whose runs all ascend: so what is beyond the end counts as later than all and needs no place.
// By -D: FLOAT or SIGNED, DESCENDING (ordered.h), of keys of 32 bits; LANES; LEVELS: 2^LEVELS vectors are compared in registers; KEPT, the
// vectors that are kept in order, a power of two of at least those: of a whole row, or as many as are wanted of it (WANTED).
#define KEY  uint
#define BITS 32
#include "ordered.h"

#define JOINED(x, y)       x##y
#define OF_LANES(x, lanes) JOINED(x, lanes)
#define VECTOR             OF_LANES(uint, LANES)
#define LOAD_VECTOR        OF_LANES(vload, LANES)
#define STORE_VECTOR       OF_LANES(vstore, LANES)
#define AS_VECTOR          OF_LANES(as_uint, LANES)
#define AS_SIGNED          OF_LANES(as_int, LANES)
#define MEMBERS            (1u << LEVELS)
#define LAST               (~0u)

#if LANES == 16
#define EVEN (uint16)(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
#elif LANES == 8
#define EVEN (uint8)(0, 2, 4, 6, 8, 10, 12, 14)
#else
#define EVEN (uint4)(0, 2, 4, 6)
#endif

static VECTOR ordered_vector(VECTOR key) {
#ifdef FLOAT
    key ^= AS_VECTOR(AS_SIGNED(key) >> (BITS - 1)) | TOP;
#elif defined SIGNED
    key ^= TOP;
#endif
#ifdef DESCENDING
    key = ~key;
#endif
    return key;
}

static VECTOR key_vector(VECTOR key) {
#ifdef DESCENDING
    key = ~key;
#endif
#ifdef FLOAT
    key ^= ~AS_VECTOR(AS_SIGNED(key) >> (BITS - 1)) | TOP;
#elif defined SIGNED
    key ^= TOP;
#endif
    return key;
}

static void exchange(VECTOR *a, VECTOR *b) {
    const VECTOR x = *a, y = *b;
    *a = min(x, y);
    *b = max(x, y);
}

// `levels` levels of a merge of `n` vectors, the last one of neighbours `step` apart. `flips`: the first of them compares the first
// of a block with its last, the second with the last but one, ...; the others, the first of a half with the first of the other.
// There is one such body for each number of levels: it is what a C compiler takes long for.
static void merge(VECTOR *v, size_t n, size_t step, const uint levels, bool flips) {
    const uint members = 1u << levels, middle = members / 2;
    const size_t block = step << levels;
    for (size_t first = 0; first < n; first += block)
        for (size_t i = 0; i < step; i++) {
            const size_t beyond = flips ? step - 1 - i : i;
            VECTOR *low = v + first + i, *high = v + first + beyond; // of the halves, without m * step
            const bool whole = first + beyond + (members - 1) * step < n;
            VECTOR x[MEMBERS];
            if (whole) {
                #pragma unroll
                for (uint m = 0; m < members; m++) x[m] = (m < middle ? low : high)[m * step];
            } else {
                #pragma unroll
                for (uint m = 0; m < members; m++) {
                    VECTOR *at = (m < middle ? low : high) + m * step;
                    x[m] = LAST;
                    if (at < v + n) x[m] = *at;
                }
            }
            if (flips) {
                #pragma unroll
                for (uint m = 0; m < middle; m++) exchange(&x[m], &x[members - 1 - m]);
            } else {
                #pragma unroll
                for (uint m = 0; m < middle; m++) exchange(&x[m], &x[m + middle]);
            }
            #pragma unroll
            for (uint apart = middle / 2; apart > 0; apart /= 2)
                #pragma unroll
                for (uint m = 0; m < members; m++)
                    if (!(m & apart)) exchange(&x[m], &x[m + apart]);
            if (whole) {
                #pragma unroll
                for (uint m = 0; m < members; m++) (m < middle ? low : high)[m * step] = x[m];
            } else {
                #pragma unroll
                for (uint m = 0; m < members; m++) {
                    VECTOR *at = (m < middle ? low : high) + m * step;
                    if (at < v + n) *at = x[m];
                }
            }
        }
}

// Sorts runs of 2^run vectors, whose halves are sorted; without `flips` the second one from its end on.
static void merge_runs(VECTOR *v, uint n, uint run, bool flips) {
    for (uint levels = run % LEVELS ? run % LEVELS : LEVELS; run > 0; levels = LEVELS, flips = false) {
        run -= levels;
        switch (levels) {
        case 1: merge(v, n, (size_t)1 << run, 1, flips); break;
        case 2: merge(v, n, (size_t)1 << run, 2, flips); break;
#if LEVELS > 3
        case 3: merge(v, n, (size_t)1 << run, 3, flips); break;
#endif
        default: merge(v, n, (size_t)1 << run, LEVELS, flips);
        }
    }
}

// Blocks of MEMBERS, each in registers.
static void sort_blocks(VECTOR *v, uint n) {
    for (uint first = 0; first < n; first += MEMBERS) {
        VECTOR x[MEMBERS];
        #pragma unroll
        for (uint m = 0; m < MEMBERS; m++) x[m] = v[first + m];
        #pragma unroll
        for (uint block = 2; block <= MEMBERS; block *= 2) {
            #pragma unroll
            for (uint m = 0; m < MEMBERS; m++)
                if ((m ^ (block - 1)) > m) exchange(&x[m], &x[m ^ (block - 1)]);
            #pragma unroll
            for (uint apart = block / 4; apart > 0; apart /= 2)
                #pragma unroll
                for (uint m = 0; m < MEMBERS; m++)
                    if (!(m & apart)) exchange(&x[m], &x[m + apart]);
        }
        #pragma unroll
        for (uint m = 0; m < MEMBERS; m++) v[first + m] = x[m];
    }
}

// Element i of vector j becomes element j of vector i: each step takes the lowest bit of a lane for the highest of a vector.
static void transpose(VECTOR *x) {
    #pragma unroll
    for (uint step = 1; step < LANES; step *= 2) {
        VECTOR y[LANES];
        #pragma unroll
        for (uint j = 0; j < LANES; j++) y[j] = x[j];
        #pragma unroll
        for (uint j = 0; j < LANES / 2; j++) {
            x[j] = shuffle2(y[2 * j], y[2 * j + 1], EVEN);
            x[j + LANES / 2] = shuffle2(y[2 * j], y[2 * j + 1], EVEN + 1);
        }
    }
}

// Elements from `first` to `end` of LANES rows, and vectors of what is later than all, up to whole blocks. Rows beyond the last one have its keys.
static uint load_rows(VECTOR *v, global const uint *keys, ulong rows, ulong row, ulong length, ulong first, ulong end) {
    uint *flat = (uint *)v;
    const uint count = (uint)(end - first), n = (count + MEMBERS - 1) / MEMBERS * MEMBERS;
    uint i = 0;
    for (; i + LANES <= count; i += LANES) {
        VECTOR x[LANES];
        #pragma unroll
        for (uint lane = 0; lane < LANES; lane++)
            x[lane] = LOAD_VECTOR(0, keys + min(row + lane, rows - 1) * length + first + i);
        transpose(x);
        #pragma unroll
        for (uint lane = 0; lane < LANES; lane++) v[i + lane] = ordered_vector(x[lane]);
    }
    for (uint lane = 0; lane < LANES; lane++) {
        global const uint *from = keys + min(row + lane, rows - 1) * length + first;
        for (uint j = i; j < count; j++) flat[j * LANES + lane] = ordered(from[j]);
    }
    for (uint j = count; j < n; j++) v[j] = LAST;
    return n;
}

// The first ones of each row, in order.
static void store_rows(const VECTOR *v, global uint *to, ulong rows, ulong row, ulong wanted) {
    const uint *flat = (const uint *)v;
    uint i = 0;
    for (; i + LANES <= wanted; i += LANES) {
        VECTOR x[LANES];
        #pragma unroll
        for (uint lane = 0; lane < LANES; lane++) x[lane] = key_vector(v[i + lane]);
        transpose(x);
        #pragma unroll
        for (uint lane = 0; lane < LANES; lane++)
            if (row + lane < rows) STORE_VECTOR(x[lane], 0, to + (row + lane) * wanted + i);
    }
    for (uint lane = 0; lane < LANES && row + lane < rows; lane++)
        for (uint j = i; j < wanted; j++) to[(row + lane) * wanted + j] = key_of(flat[j * LANES + lane]);
}

// Global size: groups of LANES rows.
kernel void network(ulong rows, ulong length, ulong wanted, ulong from_begin, global const uint *from, ulong to_begin, global uint *to) {
    const ulong row = get_global_id(0) * LANES;
    global const uint *keys = from + from_begin;
#ifdef WANTED
    VECTOR v[2 * KEPT]; // in order, and as many more
    const ulong kept = min(length, (ulong)KEPT);
#else
    VECTOR v[KEPT];
    const ulong kept = length;
#endif
    uint all = 0; // vectors that are in order
    for (ulong first = 0; first < length; first += kept) {
        VECTOR *const more = v + all;
        const uint n = load_rows(more, keys, rows, row, length, first, min(length, first + kept));
        sort_blocks(more, n);
        bool sorted = false;
        for (uint run = LEVELS + 1; !sorted; run++) {
            sorted = (1u << (run - 1)) >= n;
            if (!sorted)
                merge_runs(more, n, run, true);
            else if (all > 0) {
                for (uint i = 0; i < n; i++) v[all - 1 - i] = min(v[all - 1 - i], more[i]);
                merge_runs(v, all, 31 - clz(all), false);
            }
        }
        if (all == 0) all = n;
    }
    store_rows(v, to + to_begin, rows, row, wanted);
}
