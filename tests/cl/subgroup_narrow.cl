// Sub-group reductions and scans of char and short, with signs and without, give their own type, in which sums wrap
// (cl_khr_subgroup_extended_types). Each work-item works out the same from its place.
// needs: sub_groups
// kernel: chars
// global: 32
// local: 32
// arg: buf:int:32
// expect: 127
// kernel: ushorts
// global: 32
// local: 32
// arg: buf:int:32
// expect: 127
// kernel: firsts
// global: 32
// local: 32
// arg: buf:int:32
// expect: 15
#ifndef cl_khr_subgroup_extended_types
#error "cl_khr_subgroup_extended_types"
#endif

#define TEST(NAME, T, FACTOR)                                                                 \
    kernel void NAME(global int *out) {                                                       \
        const uint n = get_sub_group_size(), i = get_sub_group_local_id();                    \
        const T mine = (T)((i + 3) * FACTOR);                                                 \
        T sum = 0, before = 0, most = mine, least = mine, up_to = mine;                       \
        for (uint j = 0; j < n; j++) {                                                        \
            const T its = (T)((j + 3) * FACTOR);                                              \
            if (j < i) before += its, up_to = max(up_to, its);                                \
            sum += its, most = max(most, its), least = min(least, its);                       \
        }                                                                                     \
        out[get_global_id(0)] =                                                               \
            (sub_group_reduce_add(mine) == sum) | (sub_group_reduce_max(mine) == most) << 1 | \
            (sub_group_reduce_min(mine) == least) << 2 |                                      \
            (sub_group_scan_exclusive_add(mine) == before) << 3 |                             \
            (sub_group_scan_inclusive_max(mine) == up_to) << 4 |                              \
            (sub_group_broadcast(mine, n - 1) == (T)((n + 2) * FACTOR)) << 5 |                \
            (sizeof(sub_group_scan_exclusive_max(mine)) == sizeof(T)) << 6;                   \
    }

TEST(chars, char, 37)
TEST(ushorts, ushort, 9973)

// What an exclusive scan gives where nothing is before.
kernel void firsts(global int *out) {
    const bool first = get_sub_group_local_id() == 0;
    out[get_global_id(0)] = (sub_group_scan_exclusive_min((char)9) == (first ? CHAR_MAX : 9)) |
                            (sub_group_scan_exclusive_max((char)-9) == (first ? CHAR_MIN : -9)) << 1 |
                            (sub_group_scan_exclusive_max((short)-9) == (first ? SHRT_MIN : -9)) << 2 |
                            (sub_group_scan_exclusive_min((ushort)9) == (first ? USHRT_MAX : 9)) << 3;
}
