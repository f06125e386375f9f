/* Async copies (OpenCL C 6.12.10), done by all work-items of the group together, and the sub-group functions that are
   bit arithmetic on a ballot. A copy is done at once, but on devices that copy from global to local memory by
   themselves: there it has an event, and waiting is for that. */

event_t async_copy(P to, Q from, size_t count, event_t event) {
    size_t step = get_local_size(0) * get_local_size(1) * get_local_size(2);
    for (size_t i = get_local_linear_id(); i < count; i += step) to[i] = from[i];
    return __qn_async_commit(event);
}

/* In pieces of 16 bytes where both places are aligned to that, and the rest by elements. */
event_t async_fetch(P to, Q from, size_t count, event_t event) {
    uint step = (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2));
    uint first = (uint)get_local_linear_id();
    size_t size = sizeof(*to), pieces = 0;
    if (size >= 16 || (((size_t)to | (size_t)from) & 15) == 0) pieces = count * size / 16;
    local uint4 *wide_to = (local uint4 *)to;
    const global uint4 *wide_from = (const global uint4 *)from;
    for (size_t i = first; i < pieces; i += step) __qn_async_element(wide_to + i, wide_from + i);
    if (size < 16)
        for (size_t i = pieces * 16 / size + first; i < count; i += step) __qn_async_element(to + i, from + i);
    return __qn_async_commit(event);
}

event_t async_gather(P to, Q from, size_t count, size_t stride, event_t event) {
    size_t step = get_local_size(0) * get_local_size(1) * get_local_size(2);
    for (size_t i = get_local_linear_id(); i < count; i += step) __qn_async_element(to + i, from + i * stride);
    return __qn_async_commit(event);
}

event_t async_scatter(P to, Q from, size_t count, size_t stride, event_t event) {
    size_t step = get_local_size(0) * get_local_size(1) * get_local_size(2);
    for (size_t i = get_local_linear_id(); i < count; i += step) to[i * stride] = from[i];
    return __qn_async_commit(event);
}

/* 3: local and global memory. */
void wait_group_events(int count, P events) { barrier(3u); }

void wait_fetched(int count, P events) {
    for (int i = 0; i < count; i++) __qn_async_wait(events[i]);
    barrier(3u);
}

uint get_enqueued_num_sub_groups() {
    uint items = (uint)(get_enqueued_local_size(0) * get_enqueued_local_size(1) * get_enqueued_local_size(2));
    uint size = get_max_sub_group_size();
    return (items + size - 1u) / size;
}

T sub_group_broadcast_first(T x) { return sub_group_shuffle(x, 0u); }

/* The 128 bits with those below `n` set. */
uint mask_word(uint n, uint word) {
    uint first = 32u * word;
    return n <= first ? 0u : n >= first + 32u ? ~0u : (1u << (n - first)) - 1u;
}
uint4 mask_below(uint n) {
    return (uint4)(mask_word(n, 0u), mask_word(n, 1u), mask_word(n, 2u), mask_word(n, 3u));
}

uint4 get_sub_group_lt_mask() { return mask_below(get_sub_group_local_id()); }
uint4 get_sub_group_le_mask() { return mask_below(get_sub_group_local_id() + 1u); }
uint4 get_sub_group_eq_mask() {
    return mask_below(get_sub_group_local_id() + 1u) & ~mask_below(get_sub_group_local_id());
}
uint4 get_sub_group_ge_mask() {
    return mask_below(get_max_sub_group_size()) & ~mask_below(get_sub_group_local_id());
}
uint4 get_sub_group_gt_mask() {
    return mask_below(get_max_sub_group_size()) & ~mask_below(get_sub_group_local_id() + 1u);
}

int sub_group_ballot_bit_extract(uint4 value, uint index) {
    uint word = index < 32u ? value.x : index < 64u ? value.y : index < 96u ? value.z : value.w;
    return (int)(word >> (index & 31u) & 1u);
}
int sub_group_inverse_ballot(uint4 value) {
    return sub_group_ballot_bit_extract(value, get_sub_group_local_id());
}
uint count_bits(uint4 value) {
    uint4 counts = popcount(value);
    return counts.x + counts.y + counts.z + counts.w;
}
uint sub_group_ballot_bit_count(uint4 value) { return count_bits(value & mask_below(get_sub_group_size())); }
uint sub_group_ballot_inclusive_scan(uint4 value) { return count_bits(value & get_sub_group_le_mask()); }
uint sub_group_ballot_exclusive_scan(uint4 value) { return count_bits(value & get_sub_group_lt_mask()); }
uint sub_group_ballot_find_lsb(uint4 value) {
    uint4 v = value & mask_below(get_sub_group_size());
    return v.x ? ctz(v.x) : v.y ? 32u + ctz(v.y) : v.z ? 64u + ctz(v.z) : 96u + ctz(v.w);
}
uint sub_group_ballot_find_msb(uint4 value) {
    uint4 v = value & mask_below(get_sub_group_size());
    return v.w ? 127u - clz(v.w) : v.z ? 95u - clz(v.z) : v.y ? 63u - clz(v.y) : 31u - clz(v.x);
}
