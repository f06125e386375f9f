// The `wanted` first of each row in the order of a sort, where they are few: the row is read once. What could be among the first,
// as it is no later than so many that were read before, is kept; so that of random keys nearly all are looked at and forgotten.
// By -D: KEY, BITS, FLOAT or SIGNED, DESCENDING (ordered.h); DIGIT, the bits of a digit; INDEX: the type of places in a row, where they are asked for.
// GROUP work-items a work-group: 1 on processors, with SORTED, a power of two, at least as many as are wanted; else at least twice as many as are
// wanted, each with AHEAD keys at a time. ONCE: these are the whole row. LAST: the work-group has the row alone, and writes the results. Else it is one
// of several that have a part of a row, and writes its own first ones to `found_keys` and `found_places`: all parts' first, then all parts' second, ...
// MERGE: it reads those.
//
// Candidates are pairs of a key and a place, which differ: so the order is that of a sort that keeps equal keys in theirs.
#include "ordered.h"
#include "work_group.h"
#define GROUP_SIZE __attribute__((reqd_work_group_size(GROUP, 1, 1)))
#define NO_KEY     ((KEY) ~(KEY)0)

#ifdef MERGE
#define SOURCE_PARAMS global const KEY *restrict keys, global const uint *restrict places
#define SOURCE        keys, places
#define ORDER(key)    (key)
#define ABSENT        NO_KEY
#define PLACE_AT(i)   places[i]
#else
#define SOURCE_PARAMS global const KEY *restrict keys
#define SOURCE        keys
#define ORDER(key)    ordered(key)
#define ABSENT        key_of(NO_KEY)
#define PLACE_AT(i)   (uint)(i)
#endif
#define KEY_AT(i) ORDER(keys[i])

#if GROUP == 1

// In order. What is not there yet is later than all.
typedef struct pool {
    KEY keys[SORTED];
    uint places[SORTED], count;
} pool;

static bool is_later(local pool *p, uint i, KEY key, uint place) {
    return p->keys[i] > key || (p->keys[i] == key && p->places[i] > place);
}

// In place of the last, where all are there.
static void insert(local pool *p, KEY key, uint place, uint wanted) {
    uint at = p->count < wanted ? p->count++ : wanted - 1;
    for (; at > 0 && is_later(p, at - 1, key, place); at--) {
        p->keys[at] = p->keys[at - 1];
        p->places[at] = p->places[at - 1];
    }
    p->keys[at] = key;
    p->places[at] = place;
}

static void find(SOURCE_PARAMS, ulong begin, ulong end, uint wanted, local pool *p) {
    enum { AHEAD = 32 };
    for (uint i = 0; i < SORTED; i++) p->keys[i] = NO_KEY, p->places[i] = ~0u;
    p->count = 0;
    for (ulong first = begin; first < end; first += AHEAD) {
        const uint count = (uint)min(end - first, (ulong)AHEAD);
        // Later ones of equal keys have later places, but for those of several parts.
        const KEY bound = p->keys[wanted - 1];
        if (count == AHEAD && bound != NO_KEY) {
            KEY early = 0;
            for (uint j = 0; j < AHEAD; j++)
#ifdef MERGE
                early |= KEY_AT(first + j) <= bound;
#else
                early |= KEY_AT(first + j) < bound;
#endif
            if (!early) continue;
        }
        for (uint j = 0; j < count; j++) {
            const KEY key = KEY_AT(first + j);
            if (is_later(p, wanted - 1, key, PLACE_AT(first + j))) insert(p, key, PLACE_AT(first + j), wanted);
        }
    }
}

#else

#ifndef AHEAD
#define AHEAD 16
#endif
enum { ROOM = 4 * GROUP, BINS = 1 << DIGIT };

typedef struct pool {
    KEY keys[ROOM];
    uint places[ROOM], count;
} pool;

// The last candidate that is wanted, digit by digit from the highest: of its key, then of its place. `left`: how many of those with
// these digits are wanted; done: all of them.
typedef struct limit {
    KEY digits, mask;
    uint place_digits, place_mask, left, done;
} limit;

typedef struct memory {
    pool p;
    uint found[BINS];
    limit shared;
} memory;

static bool is_below(limit l, KEY key, uint place) {
    return (key & l.mask) < l.digits || ((key & l.mask) == l.digits && (place & l.place_mask) < l.place_digits);
}
static bool is_at(limit l, KEY key, uint place) {
    return (key & l.mask) == l.digits && (place & l.place_mask) == l.place_digits;
}

// Adds a digit that begins at bit `low`, first of keys.
static void take_digit(limit *l, bool of_key, uint low, uint digit, uint count, uint before) {
    if (of_key) {
        l->digits |= (KEY)((KEY)digit << low);
        l->mask |= (KEY)((KEY)(BINS - 1) << low);
    } else {
        l->place_digits |= digit << low;
        l->place_mask |= (BINS - 1) << low;
    }
    l->left -= before;
    l->done = count == l->left;
}

// Of the first `count` candidates; of `own` keys, one a work-item, where that is asked for: then some more may pass.
static limit find_limit(local memory *m, uint count, uint wanted, bool of_own, KEY own) {
    enum { EACH = BINS > GROUP ? BINS / GROUP : 1, LEVELS = (BITS + 32) / DIGIT };
    limit l = {0, 0, 0, 0, wanted, 0};
    #pragma unroll 1
    for (uint level = 0; level < LEVELS && !l.done; level++) {
        const bool of_key = level < BITS / DIGIT;
        const uint low = (of_key ? BITS : BITS + 32) - (level + 1) * DIGIT;
        if (!of_key && of_own) break;
        for (uint b = ME; b < BINS; b += GROUP) m->found[b] = 0;
        BARRIER;
        if (of_own) {
            if (is_at(l, own, 0)) atomic_inc(&m->found[(uint)(own >> low) & (BINS - 1)]);
        } else {
            for (uint i = ME; i < count; i += GROUP) {
                const KEY key = m->p.keys[i];
                const uint place = m->p.places[i];
                if (is_at(l, key, place)) atomic_inc(&m->found[(of_key ? (uint)(key >> low) : place >> low) & (BINS - 1)]);
            }
        }
        BARRIER;
        const uint first = ME * EACH;
        uint here = 0;
        for (uint e = 0; e < EACH; e++) here += first + e < BINS ? m->found[first + e] : 0;
        uint before = SUM_BEFORE(here);
        if (before < l.left && l.left <= before + here) {
            uint e = 0;
            while (before + m->found[first + e] < l.left) before += m->found[first + e++];
            const uint count_here = m->found[first + e], spare = of_own ? wanted / 4 : 0;
            const bool close = count_here <= l.left - before + spare;
            take_digit(&l, of_key, low, first + e, count_here, before);
            l.done = close;
            m->shared = l;
        }
        BARRIER;
        l = m->shared;
    }
    return l;
}

// The last key that such a limit lets pass.
static KEY last_of(limit l) { return l.digits | (KEY)~l.mask; }

// Leaves the first candidates alone; gives a bound of their keys.
static KEY drop_late(local memory *m, uint wanted) {
    enum { EACH = ROOM / GROUP };
    const uint count = m->p.count;
    const limit l = find_limit(m, count, wanted, false, 0);
    KEY key[EACH];
    uint place[EACH];
    #pragma unroll
    for (uint e = 0; e < EACH; e++) {
        const uint i = e * GROUP + ME;
        key[e] = i < count ? m->p.keys[i] : NO_KEY;
        place[e] = i < count ? m->p.places[i] : ~0u;
    }
    BARRIER;
    if (ME == 0) m->p.count = 0;
    BARRIER;
    #pragma unroll
    for (uint e = 0; e < EACH; e++) {
        if (e * GROUP + ME >= count || !(is_below(l, key[e], place[e]) || is_at(l, key[e], place[e]))) continue;
        const uint at = atomic_inc(&m->p.count);
        m->p.keys[at] = key[e];
        m->p.places[at] = place[e];
    }
    BARRIER;
    return last_of(l);
}

// What is not later than the bound: with `ties` equal keys, too.
static bool may_be(KEY key, KEY bound, bool ties) { return key < bound || (ties && key == bound); }

// A batch whose candidates had no room, a key a work-item at a time.
static KEY find_slowly(SOURCE_PARAMS, ulong first, ulong end, uint wanted, local memory *m, KEY bound, bool ties, uint steps) {
    #pragma unroll 1
    for (uint a = 0; a < steps; a++, first += GROUP) {
        BARRIER;
        const uint count = m->p.count;
        BARRIER; // all know `count`
        if (count + GROUP > ROOM) {
            bound = drop_late(m, wanted);
#ifndef MERGE
            ties = false;
#endif
        }
        const ulong i = first + ME;
        if (i < end && may_be(KEY_AT(i), bound, ties)) {
            const uint at = atomic_inc(&m->p.count);
            m->p.keys[at] = KEY_AT(i);
            m->p.places[at] = PLACE_AT(i);
        }
    }
    BARRIER;
    return bound;
}

// One of each GROUP from `first` on. Of whole batches all are asked for before anything is done with one.
static void load_keys(KEY *key, SOURCE_PARAMS, ulong first, ulong end) {
    if (first < end && end - first >= AHEAD * GROUP) {
        #pragma unroll
        for (uint a = 0; a < AHEAD; a++) key[a] = keys[first + ME + a * GROUP];
    } else {
        #pragma unroll
        for (uint a = 0; a < AHEAD; a++) key[a] = first + ME + a * GROUP < end ? keys[first + ME + a * GROUP] : ABSENT;
    }
}

// The candidates are then the first `wanted`, in any order; fewer where there are fewer.
static void find(SOURCE_PARAMS, ulong begin, ulong end, uint wanted, local memory *m) {
    KEY bound = NO_KEY;
    bool ties = true;
    KEY next[AHEAD]; // is on its way while a batch is looked at
    if (ME == 0) m->p.count = 0;
    BARRIER;
    load_keys(next, SOURCE, begin, end);
#ifdef ONCE
    const ulong first = begin;
    {
#else
    #pragma unroll 1
    for (ulong first = begin; first < end; first += AHEAD * GROUP) {
#endif
        const bool whole = end - first >= AHEAD * GROUP;
        KEY key[AHEAD], least = NO_KEY;
        #pragma unroll
        for (uint a = 0; a < AHEAD; a++) key[a] = ORDER(next[a]);
#ifndef ONCE
        load_keys(next, SOURCE, first + AHEAD * GROUP, end);
#endif
        const uint before = m->p.count;
        #pragma unroll
        for (uint a = 0; a < AHEAD; a++) least = min(least, key[a]);
        // As many as are wanted are no later than this: the least keys of so many work-items.
        if (first == begin) bound = last_of(find_limit(m, 0, wanted, true, least));
        BARRIER; // all know `before`
        if (may_be(least, bound, ties)) {
            #pragma unroll
            for (uint a = 0; a < AHEAD; a++) {
                if (!may_be(key[a], bound, ties) || !(whole || first + a * GROUP + ME < end)) continue;
                const uint at = atomic_inc(&m->p.count);
                if (at >= ROOM) continue;
                m->p.keys[at] = key[a];
                m->p.places[at] = PLACE_AT(first + a * GROUP + ME);
            }
        }
        BARRIER;
        const uint after = m->p.count;
        if (after > ROOM) {
            BARRIER;
            if (ME == 0) m->p.count = before;
            bound = find_slowly(SOURCE, first, end, wanted, m, bound, ties, AHEAD);
        }
#ifdef MERGE
        else if (after == before) break; // later ones of all parts are later still
#else
        ties = false;
#endif
    }
    BARRIER;
    if (m->p.count > BINS) drop_late(m, wanted);
}

// Candidates' places in their order, into `found`: how many are before each, which SLICES work-items count.
static void rank_all(local memory *m, uint count) {
    enum { SLICES = 4 };
    const uint slice = ME % SLICES;
    for (uint i = ME; i < count; i += GROUP) m->found[i] = 0;
    BARRIER;
    for (uint i = ME / SLICES; i < count; i += GROUP / SLICES) {
        const KEY key = m->p.keys[i];
        const uint place = m->p.places[i];
        uint before = 0;
        for (uint j = slice; j < count; j += SLICES)
            before += m->p.keys[j] < key || (m->p.keys[j] == key && m->p.places[j] < place);
        atomic_add(&m->found[i], before);
    }
    BARRIER;
}

#endif

#ifdef INDEX
#define RESULT_PARAMS ulong to_begin, global KEY *restrict to, ulong indices_begin, global INDEX *restrict indices
#else
#define RESULT_PARAMS ulong to_begin, global KEY *restrict to
#endif
#ifndef LAST
#undef RESULT_PARAMS
#define RESULT_PARAMS global KEY *restrict to, global uint *restrict indices
#endif

// Work-group row * parts + part. A merging one has a row, of `length` candidates.
kernel GROUP_SIZE void find_first(ulong length, ulong part, uint parts, uint wanted, ulong keys_begin, SOURCE_PARAMS, RESULT_PARAMS) {
    const ulong row = get_group_id(0) / parts, number = get_group_id(0) % parts, begin = number * part, end = min(begin + part, length);
    keys += keys_begin + row * length;
#ifdef MERGE
    places += row * length;
#endif
#if GROUP == 1
    local pool memory, *const p = &memory;
    find(SOURCE, begin, end, wanted, p);
    const uint count = wanted;
#define RANK(i) (i)
#else
    local memory m;
    local pool *const p = &m.p;
    find(SOURCE, begin, end, wanted, &m);
    const uint count = p->count;
    rank_all(&m, count);
#define RANK(i) ((i) < count ? m.found[i] : (i))
#endif
    for (uint i = ME; i < max(count, wanted); i += GROUP) {
        const uint at = RANK(i);
        if (at >= wanted) continue;
#ifndef LAST
        to[(row * wanted + at) * parts + number] = i < count ? p->keys[i] : NO_KEY;
        indices[(row * wanted + at) * parts + number] = i < count ? p->places[i] : ~0u;
#else
        to[to_begin + row * wanted + at] = key_of(p->keys[i]);
#ifdef INDEX
        indices[indices_begin + row * wanted + at] = (INDEX)p->places[i];
#endif
#endif
    }
}
