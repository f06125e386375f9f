// Radix sort, 8 bits a pass from the lowest; each pass is stable. By -D: KEY, the unsigned integer of a key's size, and BITS, that
// size; FLOAT or SIGNED, what it stands for; DESCENDING. VALUE: what travels with each key. PLACE: an integer that holds a place in
// a row. GROUP work-items a work-group, of SUBS sub-groups; ITEMS keys a work-item: together a tile.
// With GROUP 1 a work-item goes through its keys one by one, as suits a processor.
//
// Two ways to do a pass. Three kernels: each work-group counts the digits of its chunk (count), a sum over the chunks before
// (begin), then scatter. Or one, sort_sweep, after a kernel that counts the digits of all passes at once: work-groups tell
// each other what they have counted while they run, and look back for what those before them have (Adinets and Merrill,
// "Onesweep: A faster least significant digit radix sort for GPUs", 2022). That wants work-groups that go on while others wait.

// On a processor nothing may depend on a work-item's number: what does is computed for a vector of work-items.
#if GROUP == 1
#define ME 0
#else
#define ME get_local_id(0)
#endif
#define TILE (GROUP * ITEMS)
#define TOP ((KEY)1 << (BITS - 1))

// The integer that is ordered as the key is.
static KEY ordered(KEY key) {
#ifdef FLOAT
    key ^= key & TOP ? (KEY)~(KEY)0 : TOP;
#elif defined SIGNED
    key ^= TOP;
#endif
#ifdef DESCENDING
    key = (KEY)~key;
#endif
    return key;
}

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
// begins[d] becomes the sum of the counts before d; counts has 256 and may be the same.
static void scan_digits(local uint *begins, local const uint *counts) {
    uint sum = 0;
    for (uint first = 0; first < 256; first += GROUP) {
        const uint d = first + ME;
        const uint found = d < 256 ? counts[d] : 0;
        const uint before = work_group_scan_exclusive_add(found);
        if (d < 256) begins[d] = sum + before;
#if GROUP < 256
        sum += work_group_reduce_add(found);
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

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

// What a work-group knows of its tile. Keys of a sub-group lie together, those of a work-item a sub-group's size apart.
typedef struct tile {
    uint found[SUBS][256]; // of a digit in each sub-group; then, in those before it
    uint counts[256], begins[256];
} tile;

static uint item_at(uint item) {
    return get_sub_group_id() * (TILE / SUBS) + item * (GROUP / SUBS) + get_sub_group_local_id();
}

// Sets each key's place in the sorted tile, and the tile's counts and begins. Places that have no key count as
// the highest digit, behind all others.
static void rank_tile(local tile *t, const KEY *key, uint *place, uint shift, uint valid) {
    const uint sub = get_sub_group_id();
    for (uint i = ME; i < SUBS * 256; i += GROUP) t->found[0][i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    #pragma unroll
    for (uint item = 0; item < ITEMS; item++) {
        const uint digit = item_at(item) < valid ? digit_of(key[item], shift) : 255;
        const members same = same_digit(digit);
        const uint rank = before(same), leader = lowest(same);
        uint earlier = 0;
        if (rank == 0) earlier = atomic_add(&t->found[sub][digit], size_of(same));
        place[item] = sub_group_shuffle(earlier, leader) + rank;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = ME; d < 256; d += GROUP) {
        uint sum = 0;
        #pragma unroll
        for (uint s = 0; s < SUBS; s++) {
            const uint found = t->found[s][d];
            t->found[s][d] = sum;
            sum += found;
        }
        t->counts[d] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    scan_digits(t->begins, t->counts);
    #pragma unroll
    for (uint item = 0; item < ITEMS; item++) {
        const uint digit = item_at(item) < valid ? digit_of(key[item], shift) : 255;
        place[item] += t->found[sub][digit] + t->begins[digit];
    }
    if (ME == 0) t->counts[255] -= TILE - valid;
    barrier(CLK_LOCAL_MEM_FENCE);
}

typedef union staged {
    KEY keys[TILE];
#ifdef VALUE
    VALUE values[TILE];
#endif
} staged;

// Writes a tile: sorted in local memory first, so that what goes to one digit is written together.
// to_place[d] + i: where the sorted tile's element i goes, of digit d.
static void write_tile(local tile *t, local staged *s, local const PLACE *to_place, const KEY *key,
                       const uint *place, uint shift, uint valid, global KEY *restrict to_keys
#ifdef VALUE
                       , const VALUE *value, global VALUE *restrict to_values
#endif
) {
    PLACE target[ITEMS];
    #pragma unroll
    for (uint item = 0; item < ITEMS; item++) s->keys[place[item]] = key[item];
    barrier(CLK_LOCAL_MEM_FENCE);
    #pragma unroll
    for (uint item = 0; item < ITEMS; item++) {
        const uint i = item * GROUP + ME;
        if (i < valid) {
            const KEY k = s->keys[i];
            target[item] = to_place[digit_of(k, shift)] + i;
            to_keys[target[item]] = k;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef VALUE
    #pragma unroll
    for (uint item = 0; item < ITEMS; item++) s->values[place[item]] = value[item];
    barrier(CLK_LOCAL_MEM_FENCE);
    #pragma unroll
    for (uint item = 0; item < ITEMS; item++) {
        const uint i = item * GROUP + ME;
        if (i < valid) to_values[target[item]] = s->values[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
}

static void load_keys(KEY *key, global const KEY *restrict keys, uint valid) {
    #pragma unroll
    for (uint item = 0; item < ITEMS; item++) key[item] = item_at(item) < valid ? keys[item_at(item)] : 0;
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
    local staged s;
    KEY key[ITEMS];
    uint place[ITEMS];
    for (ulong first = begin; first < end; first += TILE) {
        const uint valid = (uint)min(end - first, (ulong)TILE);
        load_keys(key, from + first, valid);
        rank_tile(&t, key, place, shift, valid);
        for (uint d = ME; d < 256; d += GROUP) next[d] -= t.begins[d];
        barrier(CLK_LOCAL_MEM_FENCE);
#ifdef VALUE
        VALUE value[ITEMS];
        #pragma unroll
        for (uint item = 0; item < ITEMS; item++)
            if (item_at(item) < valid) value[item] = VALUE_AT(from_values, first, item_at(item));
        write_tile(&t, &s, next, key, place, shift, valid, to_row, value, to_values_row);
#else
        write_tile(&t, &s, next, key, place, shift, valid, to_row);
#endif
        for (uint d = ME; d < 256; d += GROUP) next[d] += t.begins[d] + t.counts[d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#endif
}

#ifdef SWEEP
#define PASSES (BITS / 8)

// found[pass * 256 + digit] += how often the keys have it. They are zeros before.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void count_all(ulong length, ulong keys_begin, global const KEY *restrict keys, global uint *restrict found) {
    local uint mine[PASSES * 256];
    for (uint i = ME; i < PASSES * 256; i += GROUP) mine[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong i = get_global_id(0); i < length; i += get_global_size(0)) {
        const KEY k = ordered(keys[keys_begin + i]);
        #pragma unroll
        for (uint pass = 0; pass < PASSES; pass++) atomic_inc(&mine[pass * 256 + ((uint)(k >> (8 * pass)) & 255)]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = ME; i < PASSES * 256; i += GROUP)
        if (mine[i]) atomic_add(&found[i], mine[i]);
}

// found[pass * 256 + digit] becomes where the digit begins. Work-group: a pass.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void begin_all(global uint *restrict found) {
    local uint mine[256];
    for (uint d = ME; d < 256; d += GROUP) mine[d] = found[get_group_id(0) * 256 + d];
    barrier(CLK_LOCAL_MEM_FENCE);
    scan_digits(mine, mine);
    for (uint d = ME; d < 256; d += GROUP) found[get_group_id(0) * 256 + d] = mine[d];
}

// What a tile tells of a digit: two bits of how much it knows, and a count.
#define OWN (1u << 30) // of its own keys
#define ALL (2u << 30) // of them and all before
#define COUNT (OWN - 1)

static uint look_back(global atomic_uint *states, uint tile, uint d) {
    uint sum = 0;
    while (tile > 0) {
        const uint state = atomic_load_explicit(&states[(ulong)(tile - 1) * 256 + d], memory_order_relaxed,
                                                memory_scope_device);
        if (state == 0) continue;
        sum += state & COUNT;
        if (state & ALL) break;
        tile--;
    }
    return sum;
}

// One pass. counts[ticket] and states are zeros; counts begins with what begin_all has left. Tiles are taken in the order in which work-groups begin, so that those before
// a tile have all begun.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void sweep(ulong length, uint shift, ulong keys_begin, global const KEY *restrict keys, ulong to_begin,
                  global KEY *restrict to, global uint *counts, uint ticket, global atomic_uint *states VALUES) {
    local tile t;
    local staged s;
    local uint which, to_place[256];
    if (ME == 0) which = atomic_inc(&counts[ticket]);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint me = which;
    const ulong first = (ulong)me * TILE;
    const uint valid = (uint)min(length - first, (ulong)TILE);
    KEY key[ITEMS];
    uint place[ITEMS];
    load_keys(key, keys + keys_begin + first, valid);
    rank_tile(&t, key, place, shift, valid);
    for (uint d = ME; d < 256; d += GROUP) {
        global atomic_uint *mine = &states[(ulong)me * 256 + d];
        const uint found = t.counts[d];
        if (me > 0) atomic_store_explicit(mine, OWN | found, memory_order_relaxed, memory_scope_device);
        const uint earlier = look_back(states, me, d);
        atomic_store_explicit(mine, ALL | (earlier + found), memory_order_relaxed, memory_scope_device);
        to_place[d] = counts[shift / 8 * 256 + d] + earlier - t.begins[d];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#ifdef VALUE
    VALUE value[ITEMS];
    #pragma unroll
    for (uint item = 0; item < ITEMS; item++)
        if (item_at(item) < valid) value[item] = VALUE_AT(values + values_begin, first, item_at(item));
    write_tile(&t, &s, to_place, key, place, shift, valid, to + to_begin, value, to_values + to_values_begin);
#else
    write_tile(&t, &s, to_place, key, place, shift, valid, to + to_begin);
#endif
}
#endif
