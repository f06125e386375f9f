// Collectives of a kernel that requires its local size, in groups that are smaller at the end of the range.
// options: -cl-std=CL3.0
// kernel: row
// global: 11
// local: 8
// arg: buf:uint:33
// expect: 5, 68, 5,  5, 68, 11,  5, 68, 18,  5, 68, 26,  5, 68, 35,  5, 68, 45,  5, 68, 56,  5, 68, 68,
//   5, 18, 5,  5, 18, 11,  5, 18, 18
// kernel: block
// global: 3, 3
// local: 2, 2
// arg: buf:uint:9
// expect: 4, 4, 2, 4, 4, 2, 2, 2, 1
kernel __attribute__((reqd_work_group_size(8, 1, 1))) void row(global uint *out) {
    uint i = get_global_id(0), value = get_local_id(0) + 5;
    out[3 * i] = work_group_reduce_min(value);
    out[3 * i + 1] = work_group_reduce_add(value);
    out[3 * i + 2] = work_group_scan_inclusive_add(value);
}

kernel __attribute__((reqd_work_group_size(2, 2, 1))) void block(global uint *out) {
    out[get_global_id(0) + 3 * get_global_id(1)] = work_group_reduce_add(1u);
}
