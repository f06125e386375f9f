/* Async copies (OpenCL C 6.12.10), done by all work-items of the group together, and the sub-group functions that are
   bit arithmetic on a ballot. A copy is done at once, but on devices that copy from global to local memory by
   themselves: there it has an event, and waiting is for that. */

/* Who a work-item is among those that copy. For the checker it copies another one's part, so that none may read before all have
   waited what the device may still be copying; and all have to come. */
size_t copier() { return get_local_linear_id(); }
size_t copier_checked() {
    barrier(0u);
    return (get_local_linear_id() + 1) % (get_local_size(0) * get_local_size(1) * get_local_size(2));
}

event_t async_copy(P to, Q from, size_t count, event_t event) {
    size_t step = get_local_size(0) * get_local_size(1) * get_local_size(2);
    for (size_t i = __qn_copier(); i < count; i += step) to[i] = from[i];
    return __qn_async_commit(event);
}

/* Where 64 bits are two words: local memory has fewer elements than a word counts. */
event_t async_copy_by_words(P to, Q from, size_t count, event_t event) {
    uint step = (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2));
    for (uint i = (uint)__qn_copier(); i < (uint)count; i += step) to[i] = from[i];
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
    for (size_t i = __qn_copier(); i < count; i += step) __qn_async_element(to + i, from + i * stride);
    return __qn_async_commit(event);
}

event_t async_scatter(P to, Q from, size_t count, size_t stride, event_t event) {
    size_t step = get_local_size(0) * get_local_size(1) * get_local_size(2);
    for (size_t i = __qn_copier(); i < count; i += step) to[i * stride] = from[i];
    return __qn_async_commit(event);
}

/* Lines (cl_khr_extended_async_copies) of elements of `size` bytes, which begin so many elements apart. In pieces of 16 bytes
   where all is aligned to that, as elements of such sizes are; else of 4, or bytes. */
void fetch_pieces(P to, Q from, size_t per, size_t lines, size_t from_line, size_t to_line) {
    uint step = (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2));
    for (size_t i = __qn_copier(); i < per * lines; i += step)
        __qn_async_element(to + i / per * to_line + i % per, from + i / per * from_line + i % per);
}

void store_pieces(P to, Q from, size_t per, size_t lines, size_t from_line, size_t to_line) {
    uint step = (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2));
    for (size_t i = __qn_copier(); i < per * lines; i += step)
        to[i / per * to_line + i % per] = from[i / per * from_line + i % per];
}

event_t async_fetch_lines(P to, size_t to_at, Q from, size_t from_at, size_t size, size_t elements, size_t lines, size_t from_line,
                          size_t to_line, event_t event) {
    local uchar *t = (local uchar *)to + to_at * size;
    const global uchar *f = (const global uchar *)from + from_at * size;
    size_t all = (size_t)t | (size_t)f | elements * size | to_line * size | from_line * size;
    if (size % 16 == 0 || (all & 15) == 0)
        __qn_fetch_pieces((local uint4 *)t, (const global uint4 *)f, elements * size / 16, lines, from_line * size / 16,
                          to_line * size / 16);
    else if (size % 4 == 0 || (all & 3) == 0)
        __qn_fetch_pieces((local uint *)t, (const global uint *)f, elements * size / 4, lines, from_line * size / 4,
                          to_line * size / 4);
    else
        __qn_fetch_pieces(t, f, elements * size, lines, from_line * size, to_line * size);
    return __qn_async_commit(event);
}

event_t async_store_lines(P to, size_t to_at, Q from, size_t from_at, size_t size, size_t elements, size_t lines, size_t from_line,
                          size_t to_line, event_t event) {
    global uchar *t = (global uchar *)to + to_at * size;
    const local uchar *f = (const local uchar *)from + from_at * size;
    size_t all = (size_t)t | (size_t)f | elements * size | to_line * size | from_line * size;
    if (size % 16 == 0 || (all & 15) == 0)
        __qn_store_pieces((global uint4 *)t, (const local uint4 *)f, elements * size / 16, lines, from_line * size / 16,
                          to_line * size / 16);
    else if (size % 4 == 0 || (all & 3) == 0)
        __qn_store_pieces((global uint *)t, (const local uint *)f, elements * size / 4, lines, from_line * size / 4,
                          to_line * size / 4);
    else
        __qn_store_pieces(t, f, elements * size, lines, from_line * size, to_line * size);
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

T sub_group_broadcast_first(T x) {
    return sub_group_shuffle(x, sub_group_ballot_find_lsb(sub_group_ballot(1)));
}
int sub_group_elect() {
    return get_sub_group_local_id() == sub_group_ballot_find_lsb(sub_group_ballot(1));
}
int all_equal(T x) { return sub_group_non_uniform_all(x == sub_group_broadcast_first(x)); }

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

/* Truth values over the active ones; an exclusive scan gives the first what joins to nothing. */
int active_reduce_logical_and(int x) { return sub_group_non_uniform_reduce_and((int)(x != 0)) != 0; }
int active_reduce_logical_or(int x) { return sub_group_non_uniform_reduce_or((int)(x != 0)) != 0; }
int active_reduce_logical_xor(int x) { return sub_group_non_uniform_reduce_xor((int)(x != 0)) != 0; }
int active_scan_inclusive_logical_and(int x) { return sub_group_non_uniform_scan_inclusive_and((int)(x != 0)) != 0; }
int active_scan_inclusive_logical_or(int x) { return sub_group_non_uniform_scan_inclusive_or((int)(x != 0)) != 0; }
int active_scan_inclusive_logical_xor(int x) { return sub_group_non_uniform_scan_inclusive_xor((int)(x != 0)) != 0; }
int active_scan_exclusive_logical_and(int x) { return sub_group_non_uniform_scan_exclusive_and((int)(x != 0)) != 0; }
int active_scan_exclusive_logical_or(int x) { return sub_group_non_uniform_scan_exclusive_or((int)(x != 0)) != 0; }
int active_scan_exclusive_logical_xor(int x) { return sub_group_non_uniform_scan_exclusive_xor((int)(x != 0)) != 0; }

/* Two values joined, numbers of any kind, and integers: 0 sum, 1 product, 2 smaller, 3 larger, 4 and, 5 or, 6 xor. */
T join_number(T x, T y, int how) {
    return how == 0 ? (T)(x + y) : how == 1 ? (T)(x * y) : how == 2 ? min(x, y) : max(x, y);
}
T join_integer(T x, T y, int how) {
    return how < 2    ? (how == 0 ? (T)(x + y) : (T)(x * y))
           : how < 4  ? (how == 2 ? min(x, y) : max(x, y))
           : how == 4 ? (T)(x & y)
           : how == 5 ? (T)(x | y)
                      : (T)(x ^ y);
}

/* What the active ones of a cluster have, joined: where all of the sub-group are active in steps twice as wide each
   time, else one after another. */
T join_cluster(T x, uint size, int how) {
    uint4 active = sub_group_ballot(1);
    uint first = get_sub_group_local_id() & ~(size - 1u);
    if (sub_group_ballot_bit_count(active) == get_max_sub_group_size()) {
        for (uint step = 1u; step < size; step *= 2u) x = __qn_join(x, sub_group_shuffle_xor(x, step), how);
        return x;
    }
    T sum = x;
    uint any = 0u;
    for (uint i = 0u; i < size; i++) {
        T y = sub_group_shuffle(x, first + i);
        if (!sub_group_ballot_bit_extract(active, first + i)) continue;
        sum = any ? __qn_join(sum, y, how) : y;
        any = 1u;
    }
    return sum;
}
T clustered_add(T x, uint size) { return __qn_join_cluster(x, size, 0); }
T clustered_mul(T x, uint size) { return __qn_join_cluster(x, size, 1); }
T clustered_min(T x, uint size) { return __qn_join_cluster(x, size, 2); }
T clustered_max(T x, uint size) { return __qn_join_cluster(x, size, 3); }
T clustered_and(T x, uint size) { return __qn_join_cluster(x, size, 4); }
T clustered_or(T x, uint size) { return __qn_join_cluster(x, size, 5); }
T clustered_xor(T x, uint size) { return __qn_join_cluster(x, size, 6); }
int clustered_logical_and(int x, uint size) { return __qn_join_cluster((int)(x != 0), size, 4); }
int clustered_logical_or(int x, uint size) { return __qn_join_cluster((int)(x != 0), size, 5); }
int clustered_logical_xor(int x, uint size) { return __qn_join_cluster((int)(x != 0), size, 6); }
