// get_global_offset is added to global ids, not to local and group ids nor to sizes.
// kernel: run
// global: 4, 2
// local: 2, 2
// offset: 100, 7
// arg: buf:uint4:8
// expect: 0, 0, 4, 2, 1, 0, 4, 2, 0, 1, 4, 2, 1, 1, 4, 2, 0, 0, 4, 2, 1, 0, 4, 2, 0, 1, 4, 2, 1, 1, 4, 2
// kernel: ids
// global: 3, 2, 2
// offset: 5, 0, 1000000
// arg: buf:ulong4:1
// expect: 5, 0, 1000000, 0
// arg: buf:ulong4:1
// expect: 7, 1, 1000001, 0
kernel void run(global uint4 *out) {
    uint x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1);
    uint at = get_group_id(0) * 4 + get_local_id(1) * 2 + get_local_id(0);
    if (get_global_id(0) < 100 || x != get_group_id(0) * 2 + get_local_id(0) || y != get_local_id(1)) return;
    out[at] = (uint4)(get_local_id(0), get_local_id(1), get_global_size(0), get_global_size(1));
}
kernel void ids(global ulong4 *first, global ulong4 *last) {
    ulong4 id = (ulong4)(get_global_id(0), get_global_id(1), get_global_id(2), get_global_offset(3));
    ulong4 begin = (ulong4)(get_global_offset(0), get_global_offset(1), get_global_offset(2), 0);
    if (all(id == begin)) *first = id;
    if (all(id == begin + (ulong4)(2, 1, 1, 0))) *last = id;
}
