// Sub-groups tile the work-group: ids, sizes and counts fit together, whatever the size is.
// needs: sub_groups
// options: -cl-std=CL3.0
// kernel: run
// global: 64
// local: 64
// arg: buf:int:64
// expect: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
//         25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46,
//         47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63
// arg: buf:int:1
// expect: 64
kernel void run(global int *out, global int *total) {
    uint l = get_sub_group_id() * get_max_sub_group_size() + get_sub_group_local_id();
    out[l] = get_local_id(0);
    if (get_sub_group_local_id() == 0) atomic_add(total, (int)get_sub_group_size());
}
