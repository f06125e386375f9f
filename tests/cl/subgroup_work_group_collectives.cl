// Work-group collectives: all, any, broadcast, reduce, scans, over a group of three sub-groups or more.
// options: -cl-std=CL3.0
// kernel: run
// global: 48
// local: 24
// arg: buf:int:48
// expect: 255
kernel void run(global int *out) {
    int l = get_local_id(0), g = get_group_id(0), good = 0;
    good |= work_group_all(l < 24) != 0;
    good |= (work_group_all(l < 23) == 0) << 1;
    good |= (work_group_any(l == 23) != 0) << 2;
    good |= (work_group_broadcast(l + g * 100, 7) == 7 + g * 100) << 3;
    good |= (work_group_reduce_add(l) == 276) << 4;
    good |= (work_group_reduce_max(l * 2) == 46) << 5;
    good |= (work_group_scan_inclusive_add(1) == l + 1) << 6;
    good |= (work_group_scan_exclusive_add(l) == l * (l - 1) / 2) << 7;
    out[get_global_id(0)] = good;
}
