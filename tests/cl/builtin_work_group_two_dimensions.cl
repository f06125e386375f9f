// Collectives count the work-items of a group in linear order.
// kernel: run
// global: 4, 2
// local: 2, 2
// arg: buf:int:8
// expect: 0, 1, 0, 1, 3, 6, 3, 6
// arg: buf:int:8
// expect: 6
kernel void run(global int *sums, global int *all) {
    size_t i = get_global_linear_id();
    sums[i] = work_group_scan_inclusive_add((int)get_local_linear_id());
    all[i] = work_group_reduce_add((int)get_local_linear_id());
}
