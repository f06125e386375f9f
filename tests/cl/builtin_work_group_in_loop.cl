// Collectives in a loop and in a branch that the whole group takes.
// kernel: run
// global: 8
// local: 4
// arg: buf:int:8
// expect: 16, 16, 16, 16, 100, 101, 103, 106
kernel void run(global int *out) {
    int x = get_local_id(0);
    if (get_group_id(0) == 0) {
        x = 1;
        for (int i = 0; i < 2; i++) x = work_group_reduce_add(x);
    } else {
        x = 100 + work_group_scan_inclusive_add(x);
    }
    out[get_global_id(0)] = x;
}
