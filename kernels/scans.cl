// Running sums, products and extremes along rows. By -D: FROM, TO, FROM_LOADED, FROM_CONVERT, TO_CONVERT and the words FROM_WORD and
// TO_WORD (see map.cl); VALUE that is computed in, SCAN_WORD, the operation, and LEAST, what a row begins with; EXCLUSIVE; KEPT, the rank of the walk
// over the rows. A step along a row is from_step and to_step elements. `to` may be `from`.
//
// TEAM: a work-group of GROUP work-items, in SUBS sub-groups, takes tiles of a row; ROUNDS times N neighbours for each work-item. Without
// it a work-item takes its part alone, one element after the other, and neighbouring work-items have neighbouring rows.
// Rows that are cut into parts are done in three kernels (total, begin, scan), or, with SWEEP, in one, in which work-groups tell each other
// what they have (relay.h). Without TEAM such a group has a part of WIDTH rows, and each of its SUBS slices DEPTH elements of them.
#include "element.h"
#include "pack.h"
#include "place.h"
#pragma OPENCL FP_CONTRACT OFF

static VALUE join(VALUE a, VALUE b) {
#if defined SCAN_product
    return a * b;
#elif defined SCAN_log_sum_exp
    return a == b ? a + (VALUE)0.69314718055994530942 : fmax(a, b) + log1p(exp(-fabs(a - b)));
#elif defined SCAN_max && defined REAL
    return fmax(a, b);
#elif defined SCAN_min && defined REAL
    return fmin(a, b);
#elif defined SCAN_max
    return max(a, b);
#elif defined SCAN_min
    return min(a, b);
#else
    return a + b;
#endif
}

typedef struct rows {
    ulong sizes[KEPT];
    long to[KEPT], from[KEPT];
} rows;

PLACE_IN(from_begin_of, (rows w, ulong i), 0, KEPT, from)
PLACE_IN(to_begin_of, (rows w, ulong i), 0, KEPT, to)

static VALUE value_of(FROM x) { return FROM_CONVERT((FROM_LOADED)(x)); }

#ifdef TEAM
#define WIDTH (GROUP / SUBS)
#define TILE (GROUP * ROUNDS * N)
#define ROUND (WIDTH * N) // elements of a sub-group's round

PACK(from_pack, FROM, N, FROM_WORD)
PACK(to_pack, TO, N, TO_WORD)

// The first element of this work-item in a tile.
static uint own_begin(void) { return get_sub_group_id() * (ROUND * ROUNDS) + get_sub_group_local_id() * N; }

// Those beyond `valid` are LEAST. With N > 1 a step is one element. (Pointers go on by steps: products of all steps would be kept in
// registers.)
static void load_tile(VALUE *x, global const FROM *from, long step, uint valid) {
    const uint begin = own_begin();
#if N > 1
    global const FROM *p = from + begin;
    if (valid == TILE) {
        from_pack packs[ROUNDS];
        #pragma unroll
        for (uint r = 0; r < ROUNDS; r++) packs[r] = from_pack_load(p + r * ROUND);
        #pragma unroll
        for (uint r = 0; r < ROUNDS; r++) {
            #pragma unroll
            for (uint k = 0; k < N; k++) x[r * N + k] = value_of(packs[r].e[k]);
        }
        return;
    }
    #pragma unroll
    for (uint r = 0; r < ROUNDS; r++) {
        #pragma unroll
        for (uint k = 0; k < N; k++)
            x[r * N + k] = begin + r * ROUND + k < valid ? value_of(p[r * ROUND + k]) : LEAST;
    }
#else
    global const FROM *p = from + (long)begin * step;
    #pragma unroll
    for (uint r = 0; r < ROUNDS; r++) {
        x[r] = begin + r * ROUND < valid ? value_of(*p) : LEAST;
        p += ROUND * step;
    }
#endif
}

static void store_tile(const VALUE *x, global TO *to, long step, uint valid) {
    const uint begin = own_begin();
#if N > 1
    global TO *p = to + begin;
    if (valid == TILE) {
        #pragma unroll
        for (uint r = 0; r < ROUNDS; r++) {
            to_pack pack;
            #pragma unroll
            for (uint k = 0; k < N; k++) pack.e[k] = TO_CONVERT(x[r * N + k]);
            to_pack_store(p + r * ROUND, pack);
        }
        return;
    }
    #pragma unroll
    for (uint r = 0; r < ROUNDS; r++) {
        #pragma unroll
        for (uint k = 0; k < N; k++)
            if (begin + r * ROUND + k < valid) p[r * ROUND + k] = TO_CONVERT(x[r * N + k]);
    }
#else
    global TO *p = to + (long)begin * step;
    #pragma unroll
    for (uint r = 0; r < ROUNDS; r++) {
        if (begin + r * ROUND < valid) *p = TO_CONVERT(x[r]);
        p += ROUND * step;
    }
#endif
}

// Of a sub-group; every member gets what those before it and itself have.
static VALUE scan_members(VALUE v) {
    const uint lane = get_sub_group_local_id();
    #pragma unroll
    for (uint reach = 1; reach < WIDTH; reach *= 2) {
        const VALUE other = sub_group_shuffle_up(v, reach);
        if (lane >= reach) v = join(other, v);
    }
    return v;
}

// The tile as if nothing were before it, less what other sub-groups have: *before. The result is all of the tile.
static VALUE scan_tile(VALUE *x, local VALUE *sums, VALUE *before) {
    const uint lane = get_sub_group_local_id(), sub = get_sub_group_id();
    VALUE run = LEAST;
    #pragma unroll
    for (uint r = 0; r < ROUNDS; r++) {
        #pragma unroll
        for (uint k = 1; k < N; k++) x[r * N + k] = join(x[r * N + k - 1], x[r * N + k]);
        const VALUE members = scan_members(x[r * N + N - 1]);
        VALUE earlier = sub_group_shuffle_up(members, 1);
        if (lane == 0) earlier = LEAST;
        earlier = join(run, earlier);
        run = join(run, sub_group_broadcast(members, WIDTH - 1));
#ifdef EXCLUSIVE
        #pragma unroll
        for (uint k = N - 1; k > 0; k--) x[r * N + k] = join(earlier, x[r * N + k - 1]);
        x[r * N] = earlier;
#else
        #pragma unroll
        for (uint k = 0; k < N; k++) x[r * N + k] = join(earlier, x[r * N + k]);
#endif
    }
    if (lane == 0) sums[sub] = run;
    barrier(CLK_LOCAL_MEM_FENCE);
    VALUE all = LEAST;
    #pragma unroll
    for (uint s = 0; s < SUBS; s++) {
        if (s == sub) *before = all;
        all = join(all, sums[s]);
    }
    return all;
}

static void add_before(VALUE *x, VALUE before) {
    #pragma unroll
    for (uint i = 0; i < ROUNDS * N; i++) x[i] = join(before, x[i]);
}

#ifndef SWEEP
// totals[part * count + row]: all of a part. Work-group: a part of a row.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
total(rows r, ulong count, ulong length, ulong part, long from_step, long from_begin, global const FROM *from,
      global VALUE *totals) {
    local VALUE sums[SUBS];
    const ulong row = get_group_id(0) % count, begin = get_group_id(0) / count * part, end = min(begin + part, length);
    global const FROM *p = from + from_begin + from_begin_of(r, row);
    VALUE x[ROUNDS * N], sum = LEAST;
    for (ulong first = begin; first < end; first += TILE) {
        load_tile(x, p + (long)first * from_step, from_step, (uint)min(end - first, (ulong)TILE));
        #pragma unroll
        for (uint i = 0; i < ROUNDS * N; i++) sum = join(sum, x[i]);
    }
    const VALUE members = scan_members(sum);
    if (get_sub_group_local_id() == WIDTH - 1) sums[get_sub_group_id()] = members;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) != 0) return;
    VALUE all = LEAST;
    for (uint s = 0; s < SUBS; s++) all = join(all, sums[s]);
    totals[get_group_id(0)] = all;
}

// Work-group: a part of a row. The totals are those that begin has left; they are not looked at where rows have one part.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
scan(rows r, ulong count, ulong length, ulong part, long from_step, long from_begin, global const FROM *from,
     long to_step, long to_begin, global TO *to, global const VALUE *totals) {
    local VALUE sums[SUBS];
    const ulong row = get_group_id(0) % count, begin = get_group_id(0) / count * part, end = min(begin + part, length);
    global const FROM *p = from + from_begin + from_begin_of(r, row);
    global TO *q = to + to_begin + to_begin_of(r, row);
    VALUE run = part < length ? totals[get_group_id(0)] : LEAST;
    for (ulong first = begin; first < end; first += TILE) {
        const uint valid = (uint)min(end - first, (ulong)TILE);
        VALUE x[ROUNDS * N], before;
        load_tile(x, p + (long)first * from_step, from_step, valid);
        const VALUE all = scan_tile(x, sums, &before);
        add_before(x, join(run, before));
        run = join(run, all);
        store_tile(x, q + (long)first * to_step, to_step, valid);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
#endif
#elif !defined SWEEP

// On a processor nothing may depend on a work-item's number: what does is computed for a vector of work-items.
#if GROUP == 1
#define ITEM ((ulong)get_group_id(0))
#else
#define ITEM ((ulong)get_group_id(0) * GROUP + get_local_id(0))
#endif

// totals[part * count + row]: all of a part. Work-item: a part of a row.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
total(rows r, ulong count, ulong length, ulong part, long from_step, long from_begin, global const FROM *from,
      global VALUE *totals) {
    const ulong item = ITEM, row = item % count, begin = item / count * part, end = min(begin + part, length);
    if (begin >= length) return;
    global const FROM *p = from + from_begin + from_begin_of(r, row);
    VALUE sum = LEAST;
    for (ulong i = begin; i < end; i++) sum = join(sum, value_of(p[(long)i * from_step]));
    totals[item] = sum;
}

// Work-item: a part of a row. The totals are those that begin has left; they are not looked at where rows have one part.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
scan(rows r, ulong count, ulong length, ulong part, long from_step, long from_begin, global const FROM *from,
     long to_step, long to_begin, global TO *to, global const VALUE *totals) {
    const ulong item = ITEM, row = item % count, begin = item / count * part, end = min(begin + part, length);
    if (begin >= length) return;
    global const FROM *p = from + from_begin + from_begin_of(r, row);
    global TO *q = to + to_begin + to_begin_of(r, row);
    VALUE run = part < length ? totals[item] : LEAST;
    enum { AHEAD = 8 };
    ulong i = begin;
    for (; i + AHEAD <= end; i += AHEAD) {
        VALUE x[AHEAD];
        #pragma unroll
        for (uint a = 0; a < AHEAD; a++) x[a] = value_of(p[(long)(i + a) * from_step]);
        #pragma unroll
        for (uint a = 0; a < AHEAD; a++) {
            const VALUE earlier = run;
            run = join(run, x[a]);
#ifdef EXCLUSIVE
            q[(long)(i + a) * to_step] = TO_CONVERT(earlier);
#else
            q[(long)(i + a) * to_step] = TO_CONVERT(run);
#endif
        }
    }
    for (; i < end; i++) {
        const VALUE earlier = run;
        run = join(run, value_of(p[(long)i * from_step]));
#ifdef EXCLUSIVE
        q[(long)i * to_step] = TO_CONVERT(earlier);
#else
        q[(long)i * to_step] = TO_CONVERT(run);
#endif
    }
}
#endif

#ifndef SWEEP
// Totals of parts become those of all parts before. Work-item: a row.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void begin(ulong count, ulong parts, global VALUE *totals) {
#if GROUP == 1
    const ulong row = get_group_id(0);
#else
    const ulong row = (ulong)get_group_id(0) * GROUP + get_local_id(0);
#endif
    if (row >= count) return;
    VALUE run = LEAST;
    for (ulong part = 0; part < parts; part++) {
        const VALUE own = totals[part * count + row];
        totals[part * count + row] = run;
        run = join(run, own);
    }
}
#endif

#ifdef SWEEP
#include "relay.h"
#ifdef TEAM

// Work-group: a tile, of `tiles` of each row and `all` of all rows, or, the first one, what brings to each what is before it. The ticket and
// the states, which begin behind it in words of 64 bits, are zeros.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
sweep(rows r, ulong length, uint tiles, uint all, long from_step, long to_step, long from_begin, global const FROM *from,
      long to_begin, global TO *to, global uint *ticket, ulong states_begin) {
    local VALUE sums[SUBS], carry;
    local uint number;
    local relay_baton baton;
    global atomic_ulong *own = (global atomic_ulong *)ticket + states_begin, *before_tiles = own + (ulong)all * STATE_WORDS;
    if (get_local_id(0) == 0) number = atomic_inc(ticket);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (number == 0) {
        relay(own, before_tiles, tiles, all, &baton);
        return;
    }
    const uint tile = number - 1;
    const ulong row = tile / tiles, first = (ulong)(tile % tiles) * TILE;
    const uint valid = (uint)min(length - first, (ulong)TILE);
    VALUE x[ROUNDS * N], before;
    load_tile(x, from + from_begin + from_begin_of(r, row) + (long)first * from_step, from_step, valid);
    const VALUE sum = scan_tile(x, sums, &before);
    if (get_local_id(0) == 0) tell(own, tile, sum);
    if (get_sub_group_id() == 0) {
        const VALUE earlier = wait_for(before_tiles, tile);
        if (get_sub_group_local_id() == 0) carry = earlier;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    add_before(x, join(carry, before));
    store_tile(x, to + to_begin + to_begin_of(r, row) + (long)first * to_step, to_step, valid);
}
#else
#define TILE (SUBS * DEPTH) // of each row

// A work-item's elements, of which `valid` are there, as if nothing were before them. The result is all of them.
static VALUE scan_own(VALUE *x, global const FROM *from, long step, uint valid) {
    FROM loaded[DEPTH];
    if (valid == DEPTH) {
        #pragma unroll
        for (uint i = 0; i < DEPTH; i++) loaded[i] = from[(long)i * step];
        #pragma unroll
        for (uint i = 0; i < DEPTH; i++) x[i] = value_of(loaded[i]);
    } else {
        #pragma unroll
        for (uint i = 0; i < DEPTH; i++) x[i] = i < valid ? value_of(from[(long)i * step]) : LEAST;
    }
    #pragma unroll
    for (uint i = 1; i < DEPTH; i++) x[i] = join(x[i - 1], x[i]);
    return x[DEPTH - 1];
}

static void store_own(const VALUE *x, VALUE before, global TO *to, long step, uint valid) {
    #pragma unroll
    for (uint i = 0; i < DEPTH; i++) {
#ifdef EXCLUSIVE
        const VALUE v = i == 0 ? before : join(before, x[i - 1]);
#else
        const VALUE v = join(before, x[i]);
#endif
        if (i < valid) to[(long)i * step] = TO_CONVERT(v);
    }
}

// Work-group: a tile of WIDTH rows, which are neighbours in memory; those of all rows come before the next ones along them. Each waits for the one
// before it, whose work-group began earlier. The ticket and the states are as above: of each row and tile, all up to its end.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
sweep(rows r, ulong count, ulong length, uint strips, uint tiles, long from_step, long to_step, long from_begin, global const FROM *from,
      long to_begin, global TO *to, global uint *ticket, ulong states_begin) {
    local VALUE sums[SUBS][WIDTH], carries[WIDTH];
    local uint number;
    global atomic_ulong *states = (global atomic_ulong *)ticket + states_begin;
    if (get_local_id(0) == 0) number = atomic_inc(ticket);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint lane = get_local_id(0) % WIDTH, slice = get_local_id(0) / WIDTH, tile = number / strips;
    const ulong row = (ulong)(number % strips) * WIDTH + lane, first = (ulong)tile * TILE + slice * DEPTH;
    const bool has_row = row < count;
    const uint valid = has_row && first < length ? (uint)min(length - first, (ulong)DEPTH) : 0;
    VALUE x[DEPTH], before = LEAST, all = LEAST;
    sums[slice][lane] = scan_own(x, from + from_begin + from_begin_of(r, has_row ? row : 0) + (long)first * from_step, from_step, valid);
    barrier(CLK_LOCAL_MEM_FENCE);
    #pragma unroll
    for (uint s = 0; s < SUBS; s++) {
        if (s == slice) before = all;
        all = join(all, sums[s][lane]);
    }
    if (slice == 0) {
        VALUE carry = LEAST;
        if (tile > 0 && has_row)
            while (!hear(states, (ulong)(tile - 1) * count + row, &carry)) {
            }
        carries[lane] = carry;
        if (tile + 1 < tiles && has_row) tell(states, (ulong)tile * count + row, join(carry, all));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    store_own(x, join(carries[lane], before), to + to_begin + to_begin_of(r, has_row ? row : 0) + (long)first * to_step, to_step, valid);
}
#endif
#endif
