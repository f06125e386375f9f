// The `wanted` first of each row in the order of a sort, without sorting the row: the key that is the last of them is found digit by
// digit, from the highest, by counting; then all before it are taken, and as many equal ones as are wanted, the first of them.
// By -D: KEY, BITS, FLOAT or SIGNED, DESCENDING (ordered.h); DIGIT, the bits of a digit; INDEX: the type of places in a row, where they
// are asked for. GROUP work-items a work-group. SORTED: a power of two; so many are sorted in local memory, and so are the results.
// Without it they are left in the order of the row. WHOLE, PARTS, TAKEN: the kernels that there are. With GROUP 1 a work-item goes through its keys one by one, as suits a processor.
//
// A row is a work-group's (whole), or cut into parts: then count and pick take turns, a digit each; tally and begin find where each
// part's keys go, take moves them, and sort_taken sorts.
#include "ordered.h"
#include "work_group.h"
#define GROUP_SIZE __attribute__((reqd_work_group_size(GROUP, 1, 1)))
#define BINS (1 << DIGIT)

// What is known of the last key that is wanted: its higher digits. `left`: how many of those with these digits are wanted;
// done: all of them.
typedef struct limit {
    KEY digits, mask;
    uint left, done;
} limit;

static limit no_limit(uint wanted) {
    const limit l = {0, 0, wanted, 0};
    return l;
}

static bool is_below(limit l, KEY key) { return (key & l.mask) < l.digits; }
static bool is_at(limit l, KEY key) { return (key & l.mask) == l.digits; }

// The digit that ends at bit `high` begins there.
static uint low_of(uint high) { return high > DIGIT ? high - DIGIT : 0; }
static uint digit_of(KEY key, uint high) { return (uint)(key >> low_of(high)) & ((1u << (high - low_of(high))) - 1); }

static void count_key(local uint *found, limit l, KEY key, uint high) {
    key = ordered(key);
    if (!is_at(l, key)) return;
#if GROUP == 1
    found[digit_of(key, high)]++;
#else
    atomic_inc(&found[digit_of(key, high)]);
#endif
}

// Counts the digits of keys that have the limit's digits so far.
static void count_keys(local uint *found, global const KEY *keys, ulong begin, ulong end, limit l, uint high) {
    enum { AHEAD = 4 };
    for (uint b = ME; b < BINS; b += GROUP) found[b] = 0;
    BARRIER;
    ulong i = begin + ME;
    for (; i + (AHEAD - 1) * GROUP < end; i += AHEAD * GROUP) {
        KEY key[AHEAD];
        #pragma unroll
        for (uint a = 0; a < AHEAD; a++) key[a] = keys[i + a * GROUP];
        #pragma unroll
        for (uint a = 0; a < AHEAD; a++) count_key(found, l, key[a], high);
    }
    for (; i < end; i += GROUP) count_key(found, l, keys[i], high);
    BARRIER;
}

static void take_digit(limit *l, uint digit, uint count, uint before, uint high) {
    const uint low = low_of(high);
    l->digits |= (KEY)((KEY)digit << low);
    l->mask |= (KEY)((((KEY)1 << (high - low)) - 1) << low);
    l->left -= before;
    l->done = count == l->left;
}

// Adds a digit to the limit: that of the key before which fewer than `left` are.
static limit pick_digit(local uint *found, local limit *shared, limit l, uint high) {
    enum { EACH = BINS > GROUP ? BINS / GROUP : 1 };
    const uint first = ME * EACH;
    uint own = 0;
    for (uint e = 0; e < EACH; e++) own += first + e < BINS ? found[first + e] : 0;
    uint before = SUM_BEFORE(own);
    if (before < l.left && l.left <= before + own) {
        uint e = 0;
        while (before + found[first + e] < l.left) before += found[first + e++];
        take_digit(&l, first + e, found[first + e], before, high);
        *shared = l;
    }
    BARRIER;
    return *shared;
}

#ifdef SORTED
#include "sort_pairs.h"
typedef struct taken {
    KEY keys[SORTED];
    uint places[SORTED];
} taken;
#define PUT(at, key, place)                                                                                  \
    {                                                                                                        \
        t->keys[at] = key;                                                                                   \
        t->places[at] = (uint)(place);                                                                       \
    }
#else
#ifdef INDEX
#define PUT(at, key, place)                                                                                  \
    {                                                                                                        \
        to[at] = key_of(key);                                                                                \
        indices[at] = (INDEX)(place);                                                                        \
    }
#else
#define PUT(at, key, place) to[at] = key_of(key);
#endif
#endif

// How many of a part's keys are below the limit and at it.
static uint2 tally_keys(global const KEY *keys, ulong begin, ulong end, limit l) {
    uint2 sum = 0;
    for (ulong i = begin + ME; i < end; i += GROUP) {
        const KEY key = ordered(keys[i]);
        sum += (uint2)(is_below(l, key), is_at(l, key));
    }
    return (uint2)(SUM(sum.x), SUM(sum.y));
}

#ifdef SORTED
#define TO_PARAMS local taken *t
#define TO_ARGS &t
#elif defined INDEX
#define TO_PARAMS global KEY *to, global INDEX *indices
#define TO_ARGS to + to_begin + row * wanted, indices + indices_begin + row * wanted
#else
#define TO_PARAMS global KEY *to
#define TO_ARGS to + to_begin + row * wanted
#endif

// Takes what is wanted of a part. before: how many below the limit and at it other parts have before it.
static void take_keys(global const KEY *keys, ulong begin, ulong end, limit l, uint2 before, uint wanted, TO_PARAMS) {
    enum { ITEMS = GROUP == 1 ? 1 : 4 };
    for (ulong first = begin; first < end && before.x + min(before.y, l.left) < wanted; first += GROUP * ITEMS) {
        KEY key[ITEMS];
        uint what[ITEMS], own = 0; // 1: at the limit, 1 << 16: below it
        #pragma unroll
        for (uint e = 0; e < ITEMS; e++) {
            const ulong i = first + ME * ITEMS + e;
            key[e] = i < end ? ordered(keys[i]) : 0;
            what[e] = i >= end ? 0 : is_below(l, key[e]) ? 1u << 16 : is_at(l, key[e]) ? 1 : 0;
            own += what[e];
        }
        const uint earlier = SUM_BEFORE(own), all = SUM(own);
        uint below = before.x + (earlier >> 16), at = before.y + (earlier & 0xffff);
        #pragma unroll
        for (uint e = 0; e < ITEMS; e++) {
            if (what[e] > 1 || (what[e] == 1 && at < l.left)) PUT(below + min(at, l.left), key[e], first + ME * ITEMS + e)
            below += what[e] >> 16;
            at += what[e] & 1;
        }
        before += (uint2)(all >> 16, all & 0xffff);
    }
}

#ifdef INDEX
#define RESULT_PARAMS ulong to_begin, global KEY *to, ulong indices_begin, global INDEX *indices
#else
#define RESULT_PARAMS ulong to_begin, global KEY *to
#endif

#ifdef SORTED
static void write_sorted(local taken *t, ulong row, uint wanted, RESULT_PARAMS) {
    for (uint i = ME; i < wanted; i += GROUP) {
        to[to_begin + row * wanted + i] = key_of(t->keys[i]);
#ifdef INDEX
        indices[indices_begin + row * wanted + i] = t->places[i];
#endif
    }
}
#ifdef INDEX
#define WRITE_SORTED write_sorted(&t, row, wanted, to_begin, to, indices_begin, indices)
#else
#define WRITE_SORTED write_sorted(&t, row, wanted, to_begin, to)
#endif
#endif

#ifdef WHOLE
// Work-group: a row.
kernel GROUP_SIZE void whole(ulong length, uint wanted, ulong keys_begin, global const KEY *restrict keys, RESULT_PARAMS) {
    const ulong row = get_group_id(0);
    global const KEY *own = keys + keys_begin + row * length;
    local uint found[BINS];
    local limit shared;
    limit l = no_limit(wanted);
    for (uint high = BITS; high > 0 && !l.done; high = low_of(high)) {
        count_keys(found, own, 0, length, l, high);
        l = pick_digit(found, &shared, l, high);
    }
#ifdef SORTED
    local taken t;
    take_keys(own, 0, length, l, (uint2)(0, 0), wanted, &t);
    BARRIER;
    sort_pairs(t.keys, t.places, wanted);
    WRITE_SORTED;
#else
    take_keys(own, 0, length, l, (uint2)(0, 0), wanted, TO_ARGS);
#endif
}
#endif

#ifdef PARTS
// ---- rows in parts; the work-group of number row * parts + part has a part ----

// found[row * BINS + digit] += ..., zeros before.
kernel GROUP_SIZE void count(ulong length, ulong part, uint parts, uint high, ulong keys_begin, global const KEY *restrict keys,
                             global const limit *restrict limits, global uint *restrict found) {
    const ulong row = get_group_id(0) / parts, begin = get_group_id(0) % parts * part, end = min(begin + part, length);
    const limit l = limits[row];
    local uint mine[BINS];
    if (l.done) return;
    count_keys(mine, keys + keys_begin + row * length, begin, end, l, high);
    for (uint b = ME; b < BINS; b += GROUP)
        if (mine[b]) atomic_add(&found[row * BINS + b], mine[b]);
}

// Work-group: a row. With `high` 0 there is nothing known yet. Leaves zeros in `found`.
kernel GROUP_SIZE void pick(uint wanted, uint high, global limit *restrict limits, global uint *restrict found) {
    const ulong row = get_group_id(0);
    local uint mine[BINS];
    local limit shared;
    limit l = high ? limits[row] : no_limit(wanted);
    for (uint b = ME; b < BINS; b += GROUP) {
        mine[b] = found[row * BINS + b];
        found[row * BINS + b] = 0;
    }
    BARRIER;
    if (high && !l.done) l = pick_digit(mine, &shared, l, high);
    if (ME == 0) limits[row] = l;
}

kernel GROUP_SIZE void tally(ulong length, ulong part, uint parts, ulong keys_begin, global const KEY *restrict keys,
                             global const limit *restrict limits, global uint2 *restrict counts) {
    const ulong row = get_group_id(0) / parts, begin = get_group_id(0) % parts * part, end = min(begin + part, length);
    const uint2 sum = tally_keys(keys + keys_begin + row * length, begin, end, limits[row]);
    if (ME == 0) counts[get_group_id(0)] = sum;
}

// Counts become the sums of those of the parts before. Work-group: a row.
kernel GROUP_SIZE void begin(uint parts, global uint2 *restrict counts) {
    global uint2 *mine = counts + (ulong)get_group_id(0) * parts;
    uint2 sum = 0;
    for (uint first = 0; first < parts; first += GROUP) {
        const uint i = first + ME;
        const uint2 own = i < parts ? mine[i] : 0;
        const uint2 earlier = (uint2)(SUM_BEFORE(own.x), SUM_BEFORE(own.y));
        if (i < parts) mine[i] = sum + earlier;
        sum += (uint2)(SUM(own.x), SUM(own.y));
    }
}

kernel GROUP_SIZE void take(ulong length, ulong part, uint parts, uint wanted, ulong keys_begin, global const KEY *restrict keys,
                            global const limit *restrict limits, global const uint2 *restrict counts, RESULT_PARAMS) {
    const ulong row = get_group_id(0) / parts, begin = get_group_id(0) % parts * part, end = min(begin + part, length);
    take_keys(keys + keys_begin + row * length, begin, end, limits[row], counts[get_group_id(0)], wanted, TO_ARGS);
}
#endif

#ifdef TAKEN
#ifdef INDEX
#define PLACES_PARAM , global const INDEX *restrict places
#define PLACE_AT(i) (uint)places[i]
#else
#define PLACES_PARAM
#define PLACE_AT(i) 0
#endif
// Sorts what `take` has left. Work-group: a row.
kernel GROUP_SIZE void sort_taken(uint wanted, global const KEY *restrict from PLACES_PARAM, RESULT_PARAMS) {
    const ulong row = get_group_id(0);
    local taken t;
    for (uint i = ME; i < wanted; i += GROUP) {
        t.keys[i] = ordered(from[row * wanted + i]);
        t.places[i] = PLACE_AT(row * wanted + i);
    }
    BARRIER;
    sort_pairs(t.keys, t.places, wanted);
    WRITE_SORTED;
}
#endif
