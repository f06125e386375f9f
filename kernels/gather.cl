// Slices by their indices: to[o, j, k] = from[o, indices[j], k] and back. By -D: INDEX, the type of indices; STORAGE, of elements;
// SORTED: scatter goes through equal indices one after the other, with VALUE, LOAD and STORE (element.h); ADD; ATOMIC, the type of
// an atomic add. Global size: `inner`, `chosen` and the outer indices; where `inner` is 1 (FLAT) `chosen` comes first.
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

kernel void gather(ulong length, ulong chosen, ulong inner, ulong indices_begin, global const INDEX *restrict indices,
                   ulong from_begin, global const STORAGE *restrict from, ulong to_begin, global STORAGE *restrict to) {
    const ulong at = index_at(indices, indices_begin + J);
    STORAGE value = 0;
    if (at < length) value = from[from_begin + (O * length + at) * inner + K];
    to[to_begin + (O * chosen + J) * inner + K] = value;
}

#ifndef SORTED
kernel void scatter(ulong length, ulong chosen, ulong inner, ulong indices_begin, global const INDEX *restrict indices,
                    ulong from_begin, global const STORAGE *restrict from, ulong to_begin, global STORAGE *to) {
    const ulong at = index_at(indices, indices_begin + J);
    if (at >= length) return;
    const STORAGE value = from[from_begin + (O * chosen + J) * inner + K];
    global STORAGE *p = to + (to_begin + (O * length + at) * inner + K);
#ifdef ATOMIC
    atomic_fetch_add_explicit((volatile global ATOMIC *)p, value, memory_order_relaxed, memory_scope_device);
#else
    *p = value;
#endif
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
