// Slices by their indices: to[o, j, k] = from[o, indices[j], k] and back. By -D: INDEX, the type of indices; STORAGE, of elements, or of
// words that slices are moved in; SORTED: scatter goes through equal indices one after the other, with VALUE, LOAD and STORE (element.h);
// ADD; ATOMIC, the type of an atomic add; IN_ORDER, see there. Global size: `inner`, `chosen` and the outer indices; where `inner` is 1
// (FLAT) `chosen` comes first. U: a work-item has so many indices, LY apart; the local size is LX along k and LY along j.
#include "element.h"

#ifdef FLAT
#define K 0
#define J get_global_id(0)
#define O get_global_id(1)
#else
#define K get_global_id(0)
#define J get_global_id(1)
#define O get_global_id(2)
#endif

// What is not among 0 .. length - 1 becomes at least `length`.
static ulong index_at(global const INDEX *indices, ulong i) { return (ulong)(long)indices[i]; }

#ifdef U
#ifdef FLAT
#define FIRST_J ((ulong)get_group_id(0) * (U * LY) + get_local_id(0))
#define ATTRIBUTE __attribute__((reqd_work_group_size(LY, 1, 1)))
#else
#define FIRST_J ((ulong)get_group_id(1) * (U * LY) + get_local_id(1))
#define ATTRIBUTE __attribute__((reqd_work_group_size(LX, LY, 1)))
#endif
#else
#define U 1
#define LY 1
#define FIRST_J J
#define ATTRIBUTE
#endif

// The slices of a work-item's indices, `length` for none.
static void find(ulong *at, ulong length, ulong chosen, global const INDEX *restrict indices, ulong j) {
    #pragma unroll
    for (uint u = 0; u < U; u++) at[u] = U == 1 || j + u * LY < chosen ? index_at(indices, j + u * LY) : length;
}

kernel ATTRIBUTE void gather(ulong length, ulong chosen, ulong inner, ulong indices_begin, global const INDEX *restrict indices,
                             ulong from_begin, global const STORAGE *restrict from, ulong to_begin, global STORAGE *restrict to) {
    const ulong j = FIRST_J, k = K;
    if (U > 1 && k >= inner) return;
    ulong at[U];
    find(at, length, chosen, indices + indices_begin, j);
    STORAGE values[U];
    #pragma unroll
    for (uint u = 0; u < U; u++) {
        values[u] = 0;
        if (at[u] < length) values[u] = from[from_begin + (O * length + at[u]) * inner + k];
    }
    #pragma unroll
    for (uint u = 0; u < U; u++)
        if (U == 1 || j + u * LY < chosen) to[to_begin + (O * chosen + j + u * LY) * inner + k] = values[u];
}

#ifdef IN_ORDER
#ifdef ADD
#define PUT(to, value) (to) += (value)
#else
#define PUT(to, value) (to) = (value)
#endif

// A work-item has its part of each slice and goes through all indices: equal ones are done in their order. Global size: parts, the outer
// indices. ONE: slices are of one element.
kernel void scatter(ulong length, ulong chosen, ulong inner, ulong indices_begin, global const INDEX *restrict indices,
                    ulong from_begin, global const STORAGE *restrict from, ulong to_begin, global STORAGE *restrict to) {
    indices += indices_begin;
    from += from_begin + get_global_id(1) * chosen * inner;
    to += to_begin + get_global_id(1) * length * inner;
    ulong j = 0;
#ifdef ONE
    enum { RUN = 8 };
    for (; j + RUN <= chosen; j += RUN) {
        ulong at[RUN];
        STORAGE values[RUN];
        #pragma unroll
        for (uint r = 0; r < RUN; r++) at[r] = index_at(indices, j + r);
        #pragma unroll
        for (uint r = 0; r < RUN; r++) values[r] = from[j + r];
        #pragma unroll
        for (uint r = 0; r < RUN; r++)
            if (at[r] < length) PUT(to[at[r]], values[r]);
    }
#endif
    const ulong parts = get_global_size(0), width = (inner + parts - 1) / parts, first = min(get_global_id(0) * width, inner);
    const uint count = (uint)min(inner - first, width);
    enum { NEAR = 16 };
    for (; j < chosen; j++) {
        const ulong at = index_at(indices, j);
        if (at >= length) continue;
        global const STORAGE *slice = from + j * inner + first;
        global STORAGE *to_slice = to + at * inner + first;
        uint k = 0;
        for (; k + NEAR <= count; k += NEAR) { // loaded before any is stored, which lets C compilers make vectors of them
            STORAGE values[NEAR];
            #pragma unroll
            for (uint n = 0; n < NEAR; n++) {
                values[n] = to_slice[k + n];
                PUT(values[n], slice[k + n]);
            }
            #pragma unroll
            for (uint n = 0; n < NEAR; n++) to_slice[k + n] = values[n];
        }
        for (; k < count; k++) PUT(to_slice[k], slice[k]);
    }
}
#elif !defined SORTED
kernel ATTRIBUTE void scatter(ulong length, ulong chosen, ulong inner, ulong indices_begin, global const INDEX *restrict indices,
                              ulong from_begin, global const STORAGE *restrict from, ulong to_begin, global STORAGE *to) {
    const ulong j = FIRST_J, k = K;
    if (U > 1 && k >= inner) return;
    ulong at[U];
    find(at, length, chosen, indices + indices_begin, j);
    STORAGE values[U];
    #pragma unroll
    for (uint u = 0; u < U; u++)
        if (at[u] < length) values[u] = from[from_begin + (O * chosen + j + u * LY) * inner + k];
    #pragma unroll
    for (uint u = 0; u < U; u++) {
        global STORAGE *p = to + (to_begin + (O * length + at[u]) * inner + k);
        if (at[u] >= length) continue;
#ifdef ATOMIC
        atomic_fetch_add_explicit((volatile global ATOMIC *)p, values[u], memory_order_relaxed, memory_scope_device);
#else
        *p = values[u];
#endif
    }
}
#else
// `indices` are sorted, and `places` are where they were. The first of equal ones does the work of all.
kernel void scatter(ulong length, ulong chosen, ulong inner, global const INDEX *restrict indices,
                    global const ulong *restrict places, ulong from_begin, global const STORAGE *restrict from,
                    ulong to_begin, global STORAGE *restrict to) {
    ulong j = J;
    const INDEX index = indices[j];
    const ulong at = index_at(indices, j);
    if (at >= length || (j > 0 && indices[j - 1] == index)) return;
    const ulong target = to_begin + (O * length + at) * inner + K;
#ifdef ADD
    VALUE sum = LOAD(to, target);
    for (; j < chosen && indices[j] == index; j++) sum += LOAD(from, from_begin + (O * chosen + places[j]) * inner + K);
    STORE(to, target, sum);
#else
    while (j + 1 < chosen && indices[j + 1] == index) j++;
    to[target] = from[from_begin + (O * chosen + places[j]) * inner + K];
#endif
}
#endif
