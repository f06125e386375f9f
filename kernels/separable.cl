// A separable filter: each element becomes a sum over its neighbours along the columns, of sums along the rows; what is beyond an end is the
// element there. By -D: FROM and TO, the types of elements, and VALUE, that of sums (element.h); CONVERT, from a sum to what is stored.
#include "element.h"
#include "pack.h"

#define SAME(x) (x)
#define TO_U8(x) convert_uchar_sat_rte(x)
#define TO_U16(x) convert_ushort_sat_rte(x)

#ifdef TAPS
// Both passes at once, for few taps: a work-item goes down STEPS rows of V columns, and keeps the last TAPS rows, filtered along
// themselves, in registers. STEPS is a multiple of TAPS. By -D, besides: FROM_LOADED, what loading gives; FROM_WORD and TO_WORD, in which V
// neighbours are moved; UNEVEN: V need not divide the columns. Local size: LX. Global size: the columns by V, LX for each STEPS rows, images.
#define RADIUS (TAPS / 2)
#define BESIDE ((RADIUS + V - 1) / V) // packs on each side that the filter reaches into
PACK(from_pack, FROM, V, FROM_WORD)
PACK(to_pack, TO, V, TO_WORD)

// `inside`: nothing beyond an end is read.
static void along_row(bool inside, VALUE *restrict sums, global const FROM *restrict row, const VALUE *restrict weights,
                      long x, long columns) {
    VALUE v[(2 * BESIDE + 1) * V];
    if (inside) {
        #pragma unroll
        for (int p = 0; p <= 2 * BESIDE; p++) {
            const from_pack in = from_pack_load(row + (x + (p - BESIDE) * V));
            #pragma unroll
            for (uint k = 0; k < V; k++) v[p * V + k] = (FROM_LOADED)in.e[k];
        }
    } else {
        #pragma unroll
        for (int i = 0; i < (2 * BESIDE + 1) * V; i++)
            v[i] = (FROM_LOADED)row[clamp(x + (i - BESIDE * V), 0l, columns - 1)];
    }
    #pragma unroll
    for (uint k = 0; k < V; k++) {
        VALUE sum = 0;
        #pragma unroll
        for (uint t = 0; t < TAPS; t++) sum += weights[t] * v[k + t + (BESIDE * V - RADIUS)];
        sums[k] = sum;
    }
}

static void go_down(bool inside, long first, long x, long rows, long columns, const VALUE *restrict w,
                    global const FROM *restrict from, global TO *restrict to) {
    VALUE ring[TAPS][V];
    long base = first;
#define ROW(y) \
    along_row(inside, ring[((y) + RADIUS) % TAPS], from + clamp(base + (y), 0l, rows - 1) * columns, w, x, columns)
    #pragma unroll
    for (int y = -RADIUS; y < RADIUS; y++) ROW(y);
    #pragma unroll 1
    for (; base < first + STEPS; base += TAPS) {
        #pragma unroll
        for (int y = 0; y < TAPS; y++) {
            ROW(y + RADIUS);
            to_pack out;
            #pragma unroll
            for (uint k = 0; k < V; k++) {
                VALUE sum = 0;
                #pragma unroll
                for (uint t = 0; t < TAPS; t++) sum += w[t] * ring[(y + t) % TAPS][k];
                out.e[k] = CONVERT(sum);
            }
            if (base + y >= rows) continue;
#ifdef UNEVEN
            if (x + V > columns) {
                for (uint k = 0; x + k < columns; k++) to[(base + y) * columns + x + k] = out.e[k];
                continue;
            }
#endif
            to_pack_store(to + ((base + y) * columns + x), out);
        }
    }
}

kernel __attribute__((reqd_work_group_size(LX, 1, 1))) void
both(ulong rows, ulong columns, ulong weights_begin, global const float *restrict weights, ulong from_begin,
     global const FROM *restrict from, ulong to_begin, global TO *restrict to) {
    const long x = (long)get_global_id(0) * V, first = (long)get_group_id(1) * STEPS;
    if (x >= columns) return;
    from += from_begin + get_group_id(2) * rows * columns;
    to += to_begin + get_group_id(2) * rows * columns;
    VALUE w[TAPS];
    #pragma unroll
    for (uint t = 0; t < TAPS; t++) w[t] = weights[weights_begin + t];
    if (x >= BESIDE * V && x + (BESIDE + 1) * V <= columns)
        go_down(true, first, x, rows, columns, w, from, to);
    else
        go_down(false, first, x, rows, columns, w, from, to);
}
#else
// One pass, along one dimension: to[a, i, b] = the sum over t of weights[t] * from[a, i + t - radius, b]. By -D, besides: FROM_LOAD and
// TO_STORE. Global size: b, i, a; where b is 1 (FLAT) i comes first.
kernel void along(ulong length, ulong inner, uint taps, ulong weights_begin, global const float *restrict weights,
                  ulong from_begin, global const FROM *restrict from, ulong to_begin, global TO *restrict to) {
#ifdef FLAT
    const ulong b = 0, i = get_global_id(0), a = get_global_id(1);
#else
    const ulong b = get_global_id(0), i = get_global_id(1), a = get_global_id(2);
#endif
    const ulong line = from_begin + a * length * inner + b;
    const long first = (long)i - taps / 2, last = (long)length - 1;
    VALUE sum = 0;
    for (uint t = 0; t < taps; t++) {
        const long at = clamp(first + t, 0l, last);
        sum += weights[weights_begin + t] * FROM_LOAD(from, line + at * inner);
    }
    TO_STORE(to, to_begin + (a * length + i) * inner + b, CONVERT(sum));
}
#endif
