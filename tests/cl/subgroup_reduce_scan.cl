// Sub-group reductions and scans against sums that each work-item forms from its own place.
// needs: sub_groups
// options: -cl-std=CL3.0
// kernel: run
// global: 32
// local: 32
// arg: buf:int:32
// expect: 63
kernel void run(global int *out) {
    int i = get_sub_group_local_id(), n = get_sub_group_size(), good = 0;
    good |= sub_group_reduce_add(i) == n * (n - 1) / 2;
    good |= (sub_group_reduce_max(i) == n - 1) << 1;
    good |= (sub_group_reduce_min(i + 5) == 5) << 2;
    good |= (sub_group_scan_inclusive_add(i) == i * (i + 1) / 2) << 3;
    good |= (sub_group_scan_exclusive_add(1) == i) << 4;
    good |= (sub_group_broadcast(i * 3, n - 1) == (n - 1) * 3) << 5;
    out[get_global_id(0)] = good;
}
