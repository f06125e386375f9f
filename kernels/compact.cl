// The elements that are kept, one behind the other. By -D: VALUE, an unsigned integer of an element's size; what is kept: where a
// mask of MASK is not 0, or without one what differs from the element before. GROUP work-items a work-group; each work-group has
// a chunk. Three kernels: how many each chunk keeps, the sums over the chunks before, and moving them.

// On a processor nothing may depend on a work-item's number: what does is computed for a vector of work-items.
#if GROUP == 1
#define ME 0
#else
#define ME get_local_id(0)
#endif
#if GROUP == 1
#define SUM_BEFORE(x) 0
#define SUM(x) (x)
#else
#define SUM_BEFORE(x) work_group_scan_exclusive_add(x)
#define SUM(x) work_group_reduce_add(x)
#endif

#ifdef MASK
#define KEEPS_PARAMS ulong mask_begin, global const MASK *restrict mask
static uint keeps(global const MASK *p, ulong i) { return p[i] != 0; }
#define KEEPS(i) keeps(mask + mask_begin, i)
#else
#define KEEPS_PARAMS ulong from_begin, global const VALUE *restrict from
static uint keeps(global const VALUE *p, ulong i) { return i == 0 || p[i] != p[i - 1]; }
#define KEEPS(i) keeps(from + from_begin, i)
#endif

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void count(ulong length, ulong chunk_size, global ulong *restrict counts, KEEPS_PARAMS) {
    const ulong first = get_group_id(0) * chunk_size, end = min(first + chunk_size, length);
    uint kept = 0;
    for (ulong i = first + ME; i < end; i += GROUP) kept += KEEPS(i);
    const uint sum = SUM(kept);
    if (ME == 0) counts[get_group_id(0)] = sum;
}

// One work-group. Counts become the sums of those before, and total[0] the sum of all.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void begin(uint chunks, global ulong *restrict counts, ulong total_begin, global TOTAL *restrict total) {
    ulong sum = 0;
    for (uint first = 0; first < chunks; first += GROUP) {
        const uint i = first + ME;
        const ulong kept = i < chunks ? counts[i] : 0;
        const ulong before = SUM_BEFORE(kept);
        if (i < chunks) counts[i] = sum + before;
        sum += SUM(kept);
    }
    if (ME == 0) total[total_begin] = (TOTAL)sum;
}

#ifdef MASK
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void move(ulong length, ulong chunk_size, ulong room, global const ulong *restrict counts, ulong from_begin,
                 global const VALUE *restrict from, ulong to_begin, global VALUE *restrict to, KEEPS_PARAMS) {
#else
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void move(ulong length, ulong chunk_size, ulong room, global const ulong *restrict counts, KEEPS_PARAMS,
                 ulong to_begin, global VALUE *restrict to) {
#endif
    const ulong begin = get_group_id(0) * chunk_size, end = min(begin + chunk_size, length);
    ulong at = counts[get_group_id(0)];
    for (ulong first = begin; first < end; first += GROUP) {
        const ulong i = first + ME;
        const uint kept = i < end ? KEEPS(i) : 0;
        const ulong place = at + SUM_BEFORE(kept);
        if (kept && place < room) to[to_begin + place] = from[from_begin + i];
        at += SUM(kept);
    }
}
