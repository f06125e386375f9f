// Many elements to one: sums, extremes and their like, for each index of the dimensions that are kept. TEAM work-items of a
// work-group of LOCAL, both powers of two, make one result; each takes every TEAMth of its N neighbours, and what they found is
// joined in a tree. So the order depends on the shape alone. COLUMNS: neighbours in memory belong to different results, so
// neighbouring work-items do, and a work-item makes ACROSS results that are neighbours. SPLIT: a result is of several teams, which leave partial ones; a launch with PARTIALS joins those.
// By -D also: FROM, FROM_LOADED, FROM_CONVERT and FROM_WORD (see map.cl), VALUE that is computed in, RESULT, TO and TO_CONVERT,
// KEPT and REDUCED, the ranks of the walks, and REDUCE_WORD, the operation. Global size: LOCAL for each group.
#include "reduce.h"
#include "pack.h"

#define TEAMS (LOCAL / TEAM)
#ifdef COLUMNS
#define MEMBER (lid / TEAMS) // of its team
#define OWN_TEAM (lid % TEAMS)
#define APART TEAMS // members of a team in the local array
#else
#define MEMBER (lid % TEAM)
#define OWN_TEAM (lid / TEAM)
#define APART 1
#endif

#ifndef ACROSS
#define ACROSS 1
#endif

#ifdef PARTIALS
#define SOURCE state
#define ELEMENT(p, i) (p)[i]
#else
#if ACROSS > 1
PACK(pack, FROM, ACROSS, FROM_WORD)
#else
PACK(pack, FROM, N, FROM_WORD)
#endif
#define SOURCE FROM
#define ELEMENT(p, i) take(VALUE_OF((p)[from_place(r, i)]), index_of(r, i))
#endif

// The elements from `i`, by steps, up to `end`, of this work-item. `p` is where the result's elements begin.
static state gather(reduced r, global const SOURCE *p, ulong i, ulong end) {
    enum { AHEAD = 4, STEP = TEAM * N };
#if defined PARTIALS || N == 1
    state sums[AHEAD];
    #pragma unroll
    for (uint a = 0; a < AHEAD; a++) sums[a] = least();
    for (; i + (AHEAD - 1) * STEP < end; i += AHEAD * STEP) {
        #pragma unroll
        for (uint a = 0; a < AHEAD; a++) sums[a] = join(sums[a], ELEMENT(p, i + a * STEP));
    }
    for (; i < end; i += STEP) sums[0] = join(sums[0], ELEMENT(p, i));
    return join(join(sums[0], sums[1]), join(sums[2], sums[3]));
#else
    state sums[N];
    #pragma unroll
    for (uint k = 0; k < N; k++) sums[k] = least();
    for (; i + (AHEAD - 1) * STEP + N <= end; i += AHEAD * STEP) {
        pack packs[AHEAD];
        #pragma unroll
        for (uint a = 0; a < AHEAD; a++) packs[a] = pack_load(p + i + a * STEP);
        #pragma unroll
        for (uint a = 0; a < AHEAD; a++) {
            #pragma unroll
            for (uint k = 0; k < N; k++)
                sums[k] = join(sums[k], take(VALUE_OF(packs[a].e[k]), i + a * STEP + k));
        }
    }
    for (; i < end; i += STEP) {
        #pragma unroll
        for (uint k = 0; k < N; k++)
            if (i + k < end) sums[k] = join(sums[k], take(VALUE_OF(p[i + k]), i + k));
    }
    #pragma unroll
    for (uint half_n = N / 2; half_n > 0; half_n /= 2) {
        #pragma unroll
        for (uint k = 0; k < half_n; k++) sums[k] = join(sums[k], sums[k + half_n]);
    }
    return sums[0];
#endif
}

#if ACROSS > 1
// Where element i + steps * TEAM is, for one at `p` that is element i.
static global const SOURCE *member_after(reduced r, global const SOURCE *own, global const SOURCE *p, ulong i, uint steps) {
#if REDUCED == 1
    return p + (long)(steps * TEAM) * r.from[0];
#else
    return own + from_place(r, i + steps * TEAM);
#endif
}

// The same for ACROSS results whose elements are neighbours; they begin at `own`.
static void gather_across(reduced r, global const SOURCE *own, ulong i, ulong end, state *sums) {
    enum { AHEAD = 8 };
    global const SOURCE *p = own + from_place(r, i);
    for (; i + (AHEAD - 1) * TEAM < end; i += AHEAD * TEAM) {
        pack packs[AHEAD];
        #pragma unroll
        for (uint a = 0; a < AHEAD; a++) packs[a] = pack_load(member_after(r, own, p, i, a));
        p = member_after(r, own, p, i, AHEAD);
        #pragma unroll
        for (uint a = 0; a < AHEAD; a++) {
            #pragma unroll
            for (uint k = 0; k < ACROSS; k++)
                sums[k] = join(sums[k], take(VALUE_OF(packs[a].e[k]), index_of(r, i + a * TEAM)));
        }
    }
    for (; i < end; i += TEAM) {
        const pack one = pack_load(own + from_place(r, i));
        #pragma unroll
        for (uint k = 0; k < ACROSS; k++) sums[k] = join(sums[k], take(VALUE_OF(one.e[k]), index_of(r, i)));
    }
}
#endif

// `length` elements for each of the `pieces` teams of a result; `count` are reduced in all.
kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void
reduce(kept k, reduced r, ulong outputs, ulong count, ulong elements, ulong length, ulong pieces, ulong from_begin,
       global const SOURCE *restrict from, ulong to_begin,
#ifdef SPLIT
       global state *restrict to
#else
       global TO *restrict to
#endif
) {
    local state scratch[ACROSS * LOCAL];
    const uint lid = (uint)get_local_id(0);
    const ulong team = (ulong)get_group_id(0) * TEAMS + OWN_TEAM;
#ifdef COLUMNS
    // All results of a piece come before the next piece: groups that run together read along rows.
    const ulong padded = (outputs / ACROSS + TEAMS - 1) / TEAMS * TEAMS;
    const ulong piece = team / padded, output = team % padded * ACROSS;
#else
    const ulong output = team / pieces, piece = team % pieces;
#endif
    const bool real = output < outputs;
    state s[ACROSS];
    #pragma unroll
    for (uint o = 0; o < ACROSS; o++) s[o] = least();
    if (real) {
        const ulong begin = piece * length, end = min(begin + length, elements);
#ifdef PARTIALS
        s[0] = gather(r, from + output * elements, begin + MEMBER, end);
#elif ACROSS > 1
        gather_across(r, from + (long)from_begin + kept_from(k, output), begin + MEMBER, end, s);
#else
        s[0] = gather(r, from + (long)from_begin + kept_from(k, output), begin + MEMBER * N, end);
#endif
    }
    #pragma unroll
    for (uint o = 0; o < ACROSS; o++) scratch[o * LOCAL + lid] = s[o];
    barrier(CLK_LOCAL_MEM_FENCE);
    #pragma unroll
    for (uint half_team = TEAM / 2; half_team > 0; half_team /= 2) {
        if (MEMBER < half_team) {
            #pragma unroll
            for (uint o = 0; o < ACROSS; o++) {
                const uint at = o * LOCAL + lid;
                scratch[at] = join(scratch[at], scratch[at + half_team * APART]);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (!real || MEMBER != 0) return;
    #pragma unroll
    for (uint o = 0; o < ACROSS; o++) {
#ifdef SPLIT
        to[(output + o) * pieces + piece] = scratch[o * LOCAL + lid];
#else
        to[(long)to_begin + kept_to(k, output + o)] = TO_CONVERT(finish(scratch[o * LOCAL + lid], count));
#endif
    }
}
