// The elements that are kept, one behind the other. By -D: ELEMENT, an unsigned integer of an element's size; what is kept: where a
// mask of MASK is not 0, or without one what differs from the element before. GROUP work-items a work-group. Three kernels, for which
// each work-group has a chunk: how many each chunk keeps, the sums over the chunks before, and moving them. Or one, SWEEP, in which
// work-groups tell each other what they keep (relay.h): SUBS sub-groups, of 32, ROUNDS times N neighbours a work-item, in words of
// ELEMENT_WORD and MASK_WORD; VALUE, an integer that holds the count.

#include "work_group.h"

#ifdef MASK
#define KEEPS_PARAMS ulong mask_begin, global const MASK *restrict mask
static uint keeps(global const MASK *p, ulong i) { return p[i] != 0; }
#define KEEPS(i) keeps(mask + mask_begin, i)
#else
#define KEEPS_PARAMS ulong from_begin, global const ELEMENT *restrict from
static uint keeps(global const ELEMENT *p, ulong i) { return i == 0 || p[i] != p[i - 1]; }
#define KEEPS(i) keeps(from + from_begin, i)
#endif

#ifndef SWEEP
#if GROUP == 1
// Of so many neighbours nothing is asked but what has to be, and loops have no other bound: so C compilers make vectors of them.
#define RUN 64
// The same where elements are moved, one after the other.
#define MOVES 16
#endif

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void count(ulong length, ulong chunk_size, global ulong *restrict counts, KEEPS_PARAMS) {
    const ulong first = get_group_id(0) * chunk_size, end = min(first + chunk_size, length);
    uint kept = 0;
#if GROUP == 1
    ulong i = first;
    if (first == 0) kept = KEEPS(i++);
    for (; i + RUN <= end; i += RUN) {
        uint in_run = 0;
#ifdef MASK
        global const MASK *p = mask + mask_begin + i;
        for (uint j = 0; j < RUN; j++) in_run += p[j] != 0;
#else
        global const ELEMENT *p = from + from_begin + i, *before = p - 1;
        for (uint j = 0; j < RUN; j++) in_run += p[j] != before[j];
#endif
        kept += in_run;
    }
    for (; i < end; i++) kept += KEEPS(i);
#else
    for (ulong i = first + ME; i < end; i += GROUP) kept += KEEPS(i);
#endif
    const uint sum = SUM(kept);
    if (ME == 0) counts[get_group_id(0)] = sum;
}

// One work-group. Counts become the sums of those before, with the sum of all behind them, which total[0] becomes, too.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void begin(uint chunks, global ulong *restrict counts, ulong total_begin, global TOTAL *restrict total) {
    ulong sum = 0;
    for (uint first = 0; first < chunks; first += GROUP) {
        const uint i = first + ME;
        const ulong kept = i < chunks ? counts[i] : 0;
        const ulong before = SUM_BEFORE(kept);
        if (i < chunks) counts[i] = sum + before;
        sum += SUM(kept);
    }
    if (ME == 0) counts[chunks] = sum;
    if (ME == 0) total[total_begin] = (TOTAL)sum;
}

#ifdef MASK
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void move(ulong length, ulong chunk_size, ulong room, global const ulong *restrict counts, ulong from_begin,
                 global const ELEMENT *restrict from, ulong to_begin, global ELEMENT *restrict to, KEEPS_PARAMS) {
#else
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void move(ulong length, ulong chunk_size, ulong room, global const ulong *restrict counts, KEEPS_PARAMS,
                 ulong to_begin, global ELEMENT *restrict to) {
#endif
    const ulong begin = get_group_id(0) * chunk_size, end = min(begin + chunk_size, length);
    ulong at = counts[get_group_id(0)];
#if GROUP == 1
    // Every element is stored where the next one that is kept belongs: it is overwritten if it is none. So nothing is asked of it.
    const ulong last = min(counts[get_group_id(0) + 1], room);
    ulong i = begin;
#ifndef MASK
    if (begin == 0 && last > 0) to[to_begin + at++] = from[from_begin + i++];
#endif
    for (; i + MOVES <= end && at + MOVES <= last; i += MOVES) { // there is room, whatever is kept of them
        global const ELEMENT *p = from + from_begin + i;
        global ELEMENT *q = to + to_begin + at;
#ifdef MASK
        global const MASK *m = mask + mask_begin + i;
#else
        global const ELEMENT *before = p - 1;
#endif
        uint moved = 0;
        #pragma unroll
        for (uint j = 0; j < MOVES; j++) {
            q[moved] = p[j];
#ifdef MASK
            moved += m[j] != 0;
#else
            moved += p[j] != before[j];
#endif
        }
        at += moved;
    }
    for (; i < end && at < last; i++)
        if (KEEPS(i)) to[to_begin + at++] = from[from_begin + i];
#else
    for (ulong first = begin; first < end; first += GROUP) {
        const ulong i = first + ME;
        const uint kept = i < end ? KEEPS(i) : 0;
        const ulong place = at + SUM_BEFORE(kept);
        if (kept && place < room) to[to_begin + place] = from[from_begin + i];
        at += SUM(kept);
    }
#endif
}
#else
#include "pack.h"

#define WIDTH (GROUP / SUBS)
#define TILE (GROUP * ROUNDS * N)
#define ROUND (WIDTH * N) // elements of a sub-group's round
#define LEAST 0
static VALUE join(VALUE a, VALUE b) { return a + b; }
#include "relay.h"

PACK(elements, ELEMENT, N, ELEMENT_WORD)
#ifdef MASK
PACK(masks, MASK, N, MASK_WORD)
#else
#define mask_begin from_begin
#define mask from
#endif

// The tile's elements of this work-item, a bit of kept[r] for each one of round r that is kept. What is beyond the end is not kept.
static void load_tile(elements *packs, uint *kept, ulong first, uint begin, uint valid, ulong from_begin,
                      global const ELEMENT *restrict from
#ifdef MASK
                      , KEEPS_PARAMS
#endif
) {
    global const ELEMENT *own = from + from_begin + first + begin;
    if (valid == TILE) {
#ifdef MASK
        masks m[ROUNDS];
        #pragma unroll
        for (uint r = 0; r < ROUNDS; r++) m[r] = masks_load(mask + mask_begin + first + begin + r * ROUND);
#else
        const uint lane = get_sub_group_local_id();
        const bool is_first = first + begin == 0;
        const ELEMENT before = lane == 0 && !is_first ? own[-1] : 0;
#endif
        #pragma unroll
        for (uint r = 0; r < ROUNDS; r++) packs[r] = elements_load(own + r * ROUND);
        #pragma unroll
        for (uint r = 0; r < ROUNDS; r++) {
            kept[r] = 0;
#ifdef MASK
            #pragma unroll
            for (uint k = 0; k < N; k++) kept[r] |= m[r].e[k] != 0 ? 1u << k : 0;
#else
            // The last work-item's neighbour is the first one of the next round.
            const ELEMENT passed = lane < WIDTH - 1 ? packs[r].e[N - 1] : r > 0 ? packs[r - 1].e[N - 1] : 0;
            const ELEMENT shuffled = sub_group_shuffle(passed, (lane + WIDTH - 1) % WIDTH);
            const ELEMENT earlier = r == 0 && lane == 0 ? before : shuffled;
            kept[r] = is_first && r == 0 ? 1 : packs[r].e[0] != earlier;
            #pragma unroll
            for (uint k = 1; k < N; k++) kept[r] |= packs[r].e[k] != packs[r].e[k - 1] ? 1u << k : 0;
#endif
        }
        return;
    }
    #pragma unroll
    for (uint r = 0; r < ROUNDS; r++) {
        kept[r] = 0;
        #pragma unroll
        for (uint k = 0; k < N; k++) {
            const uint i = r * ROUND + k;
            packs[r].e[k] = 0;
            if (begin + i < valid) {
                packs[r].e[k] = own[i];
                kept[r] |= KEEPS(first + begin + i) << k;
            }
        }
    }
}

// Where element i of the tile that is kept lies in local memory: neighbours of work-items fall into different banks.
static uint staged_at(uint i) { return N == 1 ? i : i ^ (i >> 5 & (N - 1)); }

// What a tile keeps goes to local memory, and how much that is is told. The result is that.
static uint begin_tile(local ELEMENT *staged, local uint *sums, ulong first, ulong length, ulong from_begin,
                       global const ELEMENT *restrict from
#ifdef MASK
                       , KEEPS_PARAMS
#endif
) {
    const uint lane = get_sub_group_local_id(), sub = get_sub_group_id();
    enum { WORDS = (ROUNDS + 3) / 4 }; // of counts, of 8 bits each, which hold what a sub-group keeps of a round
    elements packs[ROUNDS];
    uint kept[ROUNDS], counts[WORDS], place[ROUNDS], run = 0;
    load_tile(packs, kept, first, sub * (ROUND * ROUNDS) + lane * N, (uint)min(length - first, (ulong)TILE), from_begin, from
#ifdef MASK
              , mask_begin, mask
#endif
    );
    #pragma unroll
    for (uint w = 0; w < WORDS; w++) counts[w] = 0;
    #pragma unroll
    for (uint r = 0; r < ROUNDS; r++) counts[r / 4] |= popcount(kept[r]) << r % 4 * 8;
    #pragma unroll
    for (uint w = 0; w < WORDS; w++) {
        uint upto = counts[w];
        #pragma unroll
        for (uint reach = 1; reach < WIDTH; reach *= 2) {
            const uint other = sub_group_shuffle_up(upto, reach);
            if (lane >= reach) upto += other;
        }
        const uint all = sub_group_broadcast(upto, WIDTH - 1), before = upto - counts[w];
        #pragma unroll
        for (uint r = w * 4; r < ROUNDS && r < w * 4 + 4; r++) {
            place[r] = run + (before >> r % 4 * 8 & 255);
            run += all >> r % 4 * 8 & 255;
        }
    }
    if (lane == 0) sums[sub] = run;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint all = 0, before = 0;
    #pragma unroll
    for (uint s = 0; s < SUBS; s++) {
        if (s == sub) before = all;
        all += sums[s];
    }
    #pragma unroll
    for (uint r = 0; r < ROUNDS; r++) {
        uint at = before + place[r];
        #pragma unroll
        for (uint k = 0; k < N; k++)
            if (kept[r] >> k & 1) staged[staged_at(at++)] = packs[r].e[k];
    }
    return all;
}

// Words of a sub-group's stores begin where lines of memory do.
static void write_tile(local const ELEMENT *staged, uint count, ulong base, ulong room, ulong to_begin,
                       global ELEMENT *restrict to) {
    const uint most = base < room ? (uint)min(room - base, (ulong)count) : 0;
    const uint shift = (uint)(to_begin + base) & 31;
    global ELEMENT *p = to + (to_begin + base - shift);
    enum { AHEAD = 4 };
    for (uint i = get_local_id(0); i < most + shift; i += AHEAD * GROUP) {
        ELEMENT e[AHEAD];
        #pragma unroll
        for (uint a = 0; a < AHEAD; a++)
            if (i + a * GROUP >= shift && i + a * GROUP < most + shift) e[a] = staged[staged_at(i + a * GROUP - shift)];
        #pragma unroll
        for (uint a = 0; a < AHEAD; a++)
            if (i + a * GROUP >= shift && i + a * GROUP < most + shift) p[i + a * GROUP] = e[a];
    }
}

// Work-group: a tile, or, the first one, what brings to each what is before it. The ticket and the states, which begin behind it in words of
// 64 bits, are zeros.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
sweep(ulong length, uint tiles, ulong room, ulong from_begin, global const ELEMENT *restrict from, ulong to_begin,
      global ELEMENT *restrict to, ulong total_begin, global TOTAL *restrict total, global uint *ticket, ulong states_begin
#ifdef MASK
      , KEEPS_PARAMS
#endif
) {
    local uint number, sums[SUBS];
    local VALUE carry;
    local relay_baton baton;
    local ELEMENT staged[TILE];
    global atomic_ulong *own = (global atomic_ulong *)ticket + states_begin, *before = own + (ulong)tiles * STATE_WORDS;
    if (get_local_id(0) == 0) number = atomic_inc(ticket);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (number == 0) {
        relay(own, before, tiles, tiles, &baton);
        return;
    }
    const uint tile = number - 1;
    const uint count = begin_tile(staged, sums, (ulong)tile * TILE, length, from_begin, from
#ifdef MASK
                                  , mask_begin, mask
#endif
    );
    if (get_local_id(0) == 0) tell(own, tile, count);
    if (get_sub_group_id() == 0) {
        const VALUE earlier = wait_for(before, tile);
        if (get_sub_group_local_id() == 0) carry = earlier;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    write_tile(staged, count, carry, room, to_begin, to);
    if (tile == tiles - 1 && get_local_id(0) == 0) total[total_begin] = (TOTAL)(carry + count);
}
#endif
