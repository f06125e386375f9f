// Radix sort, 8 bits a pass from the lowest; each pass is stable. By -D: KEY, the unsigned integer of a key's size, and BITS, that
// size; FLOAT or SIGNED, what it stands for; DESCENDING. VALUE: what travels with each key. PLACE: an integer that holds a place in
// a row. GROUP work-items a work-group, of SUBS sub-groups; ITEMS keys a work-item: together a tile.
// With GROUP 1 a work-item goes through its keys one by one, as suits a processor.
//
// Two ways to do a pass. Three kernels: each work-group counts the digits of its chunk (count), a sum over the chunks before
// (begin), then scatter. Or one, sort_sweep, after a kernel that counts the digits of all passes at once: work-groups tell
// each other what they have counted while they run, and look back for what those before them have (Adinets and Merrill,
// "Onesweep: A faster least significant digit radix sort for GPUs", 2022). That wants work-groups that go on while others wait.

#define TILE (GROUP * ITEMS)
#include "ordered.h"
#include "work_group.h"

static uint digit_of(KEY key, uint shift) { return (uint)(ordered(key) >> shift) & 255; }

// counts[(row * 256 + digit) * chunks + chunk]. Work-group: one chunk of a row.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void count(ulong length, ulong chunk_size, uint chunks, uint shift, ulong keys_begin,
                  global const KEY *restrict keys, global PLACE *restrict counts) {
    const ulong row = get_group_id(0) / chunks, chunk = get_group_id(0) % chunks;
    const ulong first = chunk * chunk_size, end = min(first + chunk_size, length);
    global const KEY *from = keys + keys_begin + row * length;
    local uint found[256];
    for (uint d = ME; d < 256; d += GROUP) found[d] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong i = first + ME; i < end; i += GROUP) {
#if GROUP == 1
        found[digit_of(from[i], shift)]++;
#else
        atomic_inc(&found[digit_of(from[i], shift)]);
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = ME; d < 256; d += GROUP) counts[(row * 256 + d) * chunks + chunk] = found[d];
}

// Counts become the sums of those of the chunks before; totals[row * 256 + digit] their sum. Work-group: a digit of a row.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void begin(uint chunks, global PLACE *restrict counts, global PLACE *restrict totals) {
    global PLACE *mine = counts + (ulong)get_group_id(0) * chunks;
    PLACE sum = 0;
    for (uint first = 0; first < chunks; first += GROUP) {
        const uint i = first + ME;
        const PLACE found = i < chunks ? mine[i] : 0;
#if GROUP == 1
        mine[i] = sum;
        sum += found;
#else
        const PLACE before = work_group_scan_exclusive_add(found);
        if (i < chunks) mine[i] = sum + before;
        sum += work_group_reduce_add(found);
#endif
    }
    if (ME == 0) totals[get_group_id(0)] = sum;
}

#if GROUP > 1
// Which members of the sub-group are set.
#if GROUP == 32 * SUBS
typedef uint members;
#define MEMBERS(ballot) (ballot).x
static uint before(members m) { return popcount(m & ((1u << get_sub_group_local_id()) - 1)); }
static uint size_of(members m) { return popcount(m); }
static uint lowest(members m) { return ctz(m); }
#else
typedef uint4 members;
#define MEMBERS(ballot) (ballot)
static uint before(members m) { return sub_group_ballot_exclusive_scan(m); }
static uint size_of(members m) { return sub_group_ballot_bit_count(m); }
static uint lowest(members m) { return sub_group_ballot_find_lsb(m); }
#endif

static uint digit_at(KEY key, uint shift) { return (uint)(key >> shift) & 255; }

// The members whose digit is the same.
static members same_digit(uint digit) {
    members same = MEMBERS(sub_group_ballot(1));
    #pragma unroll
    for (uint bit = 0; bit < 8; bit++) {
        const int set = digit >> bit & 1;
        const members those = MEMBERS(sub_group_ballot(set));
        same &= set ? those : ~those;
    }
    return same;
}

// What a work-group knows of its tile. Keys of a sub-group lie together, those of a work-item a sub-group's size apart. They are
// ordered ones (see above); what lies beyond the row's end counts as the highest digit, behind all others.
typedef struct tile {
    uint found[SUBS][256]; // of a digit in each sub-group; then, the place of its next key
    uint begins[256];      // where a digit begins in the sorted tile
    union {
        KEY keys[TILE];
#ifdef VALUE
        VALUE values[TILE];
#endif
    };
} tile;

static uint item_at(uint item) {
    return get_sub_group_id() * (TILE / SUBS) + item * (GROUP / SUBS) + get_sub_group_local_id();
}

static void load_keys(KEY *key, global const KEY *restrict keys, uint valid) {
    if (valid == TILE) {
        global const KEY *mine = keys + item_at(0);
        #pragma unroll
        for (uint item = 0; item < ITEMS; item++) key[item] = mine[item * (GROUP / SUBS)];
        #pragma unroll
        for (uint item = 0; item < ITEMS; item++) key[item] = ordered(key[item]);
    } else {
        #pragma unroll
        for (uint item = 0; item < ITEMS; item++)
            key[item] = item_at(item) < valid ? ordered(keys[item_at(item)]) : (KEY)~(KEY)0;
    }
}

// Counts the digits of each sub-group.
static void count_tile(local tile *t, const KEY *key, uint shift) {
    local uint *mine = t->found[get_sub_group_id()];
    for (uint d = get_sub_group_local_id(); d < 256; d += GROUP / SUBS) mine[d] = 0;
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    #pragma unroll
    for (uint item = 0; item < ITEMS; item++) atomic_inc(&mine[digit_at(key[item], shift)]);
    barrier(CLK_LOCAL_MEM_FENCE);
}

// How many keys of the tile have digit d.
static uint count_of(local tile *t, uint d, uint valid) {
    uint sum = 0;
    #pragma unroll
    for (uint s = 0; s < SUBS; s++) sum += t->found[s][d];
    return d == 255 ? sum - (TILE - valid) : sum;
}

// Where digits begin, in the tile and for each sub-group. `count` is count_of this work-item's digit, where it has one.
static void begin_digits(local tile *t, uint count) {
#if GROUP >= 256
    const uint before_this = work_group_scan_exclusive_add(count);
    if (ME < 256) t->begins[ME] = before_this;
#else
    uint sum = 0;
    for (uint first = 0; first < 256; first += GROUP) {
        const uint d = first + ME;
        uint found = 0;
        if (d < 256)
            for (uint s = 0; s < SUBS; s++) found += t->found[s][d];
        const uint before_this = work_group_scan_exclusive_add(found);
        if (d < 256) t->begins[d] = sum + before_this;
        sum += work_group_reduce_add(found);
    }
#endif
    for (uint d = ME; d < 256; d += GROUP) {
        uint at = t->begins[d];
        #pragma unroll
        for (uint s = 0; s < SUBS; s++) {
            const uint found = t->found[s][d];
            t->found[s][d] = at;
            at += found;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

// The keys go to local memory in order; `place` is where each is.
static void sort_tile(local tile *t, const KEY *key, uint *place, uint shift) {
    local uint *next = t->found[get_sub_group_id()];
    #pragma unroll
    for (uint item = 0; item < ITEMS; item++) {
        const uint digit = digit_at(key[item], shift);
        const members same = same_digit(digit);
        const uint rank = before(same), leader = lowest(same);
        uint earlier = 0;
        if (rank == 0) earlier = atomic_add(&next[digit], size_of(same));
        place[item] = sub_group_shuffle(earlier, leader) + rank;
        t->keys[place[item]] = key[item];
    }
}

// Writes the sorted tile. to_place[d] + i: where its element i goes, of digit d.
static void write_tile(local tile *t, local const PLACE *to_place, const uint *place, uint shift, uint valid,
                       global KEY *restrict to_keys
#ifdef VALUE
                       , const VALUE *value, global VALUE *restrict to_values
#endif
) {
    PLACE target[ITEMS];
    local const KEY *sorted = t->keys + ME;
    #pragma unroll
    for (uint item = 0; item < ITEMS; item++) {
        const uint i = item * GROUP + ME;
        if (i < valid) {
            const KEY k = sorted[item * GROUP];
            target[item] = to_place[digit_at(k, shift)] + i;
            to_keys[target[item]] = key_of(k);
        }
    }
#ifdef VALUE
    barrier(CLK_LOCAL_MEM_FENCE);
    #pragma unroll
    for (uint item = 0; item < ITEMS; item++) t->values[place[item]] = value[item];
    barrier(CLK_LOCAL_MEM_FENCE);
    #pragma unroll
    for (uint item = 0; item < ITEMS; item++) {
        const uint i = item * GROUP + ME;
        if (i < valid) to_values[target[item]] = t->values[i];
    }
#endif
}
#endif

#ifdef VALUE
#define VALUES , ulong values_begin, global const VALUE *restrict values, ulong to_values_begin, global VALUE *restrict to_values
// Without values to begin with, the place in the row is one.
#ifdef FIRST
#define VALUE_AT(from, first, i) ((VALUE)((first) + (i)))
#else
#define VALUE_AT(from, first, i) (from)[(first) + (i)]
#endif
#else
#define VALUES
#endif

// Work-group: one chunk of a row.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void scatter(ulong length, ulong chunk_size, uint chunks, uint shift, ulong keys_begin,
                    global const KEY *restrict keys, ulong to_begin, global KEY *restrict to,
                    global const PLACE *restrict counts, global const PLACE *restrict totals VALUES) {
    const ulong row = get_group_id(0) / chunks, chunk = get_group_id(0) % chunks;
    const ulong begin = chunk * chunk_size, end = min(begin + chunk_size, length);
    global const KEY *from = keys + keys_begin + row * length;
    global KEY *to_row = to + to_begin + row * length;
#ifdef VALUE
#ifndef FIRST
    global const VALUE *from_values = values + values_begin + row * length;
#endif
    global VALUE *to_values_row = to_values + to_values_begin + row * length;
#endif
    local PLACE next[256]; // where the digit's next key goes
    for (uint d = ME; d < 256; d += GROUP)
        next[d] = totals[row * 256 + d];
    barrier(CLK_LOCAL_MEM_FENCE);
#if GROUP == 1
    PLACE sum = 0;
    for (uint d = 0; d < 256; d++) {
        const PLACE total = next[d];
        next[d] = sum + counts[(row * 256 + d) * chunks + chunk];
        sum += total;
    }
    for (ulong i = begin; i < end; i++) {
        const KEY k = from[i];
        const PLACE at = next[digit_of(k, shift)]++;
        to_row[at] = k;
#ifdef VALUE
        to_values_row[at] = VALUE_AT(from_values, 0, i);
#endif
    }
#else
    PLACE sum = 0;
    for (uint first = 0; first < 256; first += GROUP) {
        const uint d = first + ME;
        const PLACE total = d < 256 ? next[d] : 0;
        const PLACE lower = work_group_scan_exclusive_add(total);
        if (d < 256) next[d] = sum + lower + counts[(row * 256 + d) * chunks + chunk];
        sum += work_group_reduce_add(total);
    }
    local tile t;
    KEY key[ITEMS];
    uint place[ITEMS];
    for (ulong first = begin; first < end; first += TILE) {
        const uint valid = (uint)min(end - first, (ulong)TILE);
        load_keys(key, from + first, valid);
        count_tile(&t, key, shift);
        const uint found = ME < 256 ? count_of(&t, ME, TILE) : 0;
        begin_digits(&t, found);
        for (uint d = ME; d < 256; d += GROUP) next[d] -= t.begins[d];
        sort_tile(&t, key, place, shift);
        barrier(CLK_LOCAL_MEM_FENCE);
#ifdef VALUE
        VALUE value[ITEMS];
        #pragma unroll
        for (uint item = 0; item < ITEMS; item++)
            if (item_at(item) < valid) value[item] = VALUE_AT(from_values, first, item_at(item));
        write_tile(&t, next, place, shift, valid, to_row, value, to_values_row);
#else
        write_tile(&t, next, place, shift, valid, to_row);
#endif
        barrier(CLK_LOCAL_MEM_FENCE);
        // The last sub-group's next place is where the digit ends.
        for (uint d = ME; d < 256; d += GROUP) next[d] += t.found[SUBS - 1][d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#endif
}

#ifdef SWEEP
#define PASSES (BITS / 8)

static void count_key(local uint *found, KEY key) {
    const KEY k = ordered(key);
    #pragma unroll
    for (uint pass = 0; pass < PASSES; pass++) atomic_inc(&found[pass * 256 + digit_at(k, 8 * pass)]);
}

// found[pass * 256 + digit] += how often the keys have it. They are zeros before.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void count_all(ulong length, ulong keys_begin, global const KEY *restrict keys, global uint *restrict found) {
    local uint mine[PASSES * 256];
    for (uint i = ME; i < PASSES * 256; i += GROUP) mine[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    enum { AHEAD = 8 };
    const ulong step = get_global_size(0);
    ulong i = get_global_id(0);
    for (; i + (AHEAD - 1) * step < length; i += AHEAD * step) {
        KEY k[AHEAD];
        #pragma unroll
        for (uint a = 0; a < AHEAD; a++) k[a] = keys[keys_begin + i + a * step];
        #pragma unroll
        for (uint a = 0; a < AHEAD; a++) count_key(mine, k[a]);
    }
    for (; i < length; i += step) count_key(mine, keys[keys_begin + i]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = ME; i < PASSES * 256; i += GROUP)
        if (mine[i]) atomic_add(&found[i], mine[i]);
}

// found[pass * 256 + digit] becomes where the digit begins. Work-group: a pass.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void begin_all(global uint *restrict found) {
    global uint *mine = found + get_group_id(0) * 256;
    uint sum = 0;
    for (uint first = 0; first < 256; first += GROUP) {
        const uint d = first + ME;
        const uint count = d < 256 ? mine[d] : 0;
        const uint before_this = work_group_scan_exclusive_add(count);
        if (d < 256) mine[d] = sum + before_this;
        sum += work_group_reduce_add(count);
    }
}

// What a tile tells of a digit: two bits of how much it knows, and a count.
#define OWN (1u << 30) // of its own keys
#define ALL (2u << 30) // of them and all before
#define COUNT (OWN - 1)

// What is known of tiles before `tile`, LOOK of them at a time.
static uint look_back(global atomic_uint *states, uint tile, uint d) {
    uint sum = 0;
    while (tile > 0) {
        uint state[LOOK];
        #pragma unroll
        for (uint k = 0; k < LOOK; k++)
            state[k] = k < tile ? atomic_load_explicit(&states[(ulong)(tile - 1 - k) * 256 + d],
                                                       memory_order_relaxed, memory_scope_device)
                                : ALL;
        uint known = 0;
        bool all = false;
        #pragma unroll
        for (uint k = 0; k < LOOK; k++)
            if (known == k && !all && state[k]) {
                sum += state[k] & COUNT;
                all = state[k] & ALL;
                known = k + 1;
            }
        if (all) break;
        tile -= known;
    }
    return sum;
}

// One pass. counts[ticket] and states are zeros; counts begins with what begin_all has left. Tiles are taken in the order in which work-groups begin, so that those before
// a tile have all begun.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void sweep(ulong length, uint shift, ulong keys_begin, global const KEY *restrict keys, ulong to_begin,
                  global KEY *restrict to, global uint *counts, uint ticket, global atomic_uint *states VALUES) {
    local tile t;
    local uint which, to_place[256];
    if (ME == 0) which = atomic_inc(&counts[ticket]);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint me = which;
    const ulong first = (ulong)me * TILE;
    const uint valid = (uint)min(length - first, (ulong)TILE);
    KEY key[ITEMS];
    uint place[ITEMS];
    load_keys(key, keys + keys_begin + first, valid);
    count_tile(&t, key, shift);
    global atomic_uint *mine = &states[(ulong)me * 256 + ME];
    uint found = 0, begins = 0;
    if (ME < 256) {
        begins = counts[shift / 8 * 256 + ME];
        found = count_of(&t, ME, valid);
        atomic_store_explicit(mine, (me > 0 ? OWN : ALL) | found, memory_order_relaxed, memory_scope_device);
        if (ME == 255) found += TILE - valid;
    }
    begin_digits(&t, found);
    sort_tile(&t, key, place, shift);
    if (ME < 256) {
        const uint earlier = look_back(states, me, ME);
        if (ME == 255) found -= TILE - valid;
        if (me > 0) atomic_store_explicit(mine, ALL | (earlier + found), memory_order_relaxed, memory_scope_device);
        to_place[ME] = begins + earlier - t.begins[ME];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef VALUE
    VALUE value[ITEMS];
    #pragma unroll
    for (uint item = 0; item < ITEMS; item++)
        if (item_at(item) < valid) value[item] = VALUE_AT(values + values_begin, first, item_at(item));
    write_tile(&t, to_place, place, shift, valid, to + to_begin, value, to_values + to_values_begin);
#else
    write_tile(&t, to_place, place, shift, valid, to + to_begin);
#endif
}
#endif
