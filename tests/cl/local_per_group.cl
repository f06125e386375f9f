// Each work-group has local memory of its own.
// kernel: run
// global: 12
// local: 3
// arg: buf:int:12
// expect: 0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3
kernel void run(global int *out) {
    local int group;
    if (get_local_id(0) == 0) group = get_group_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = group;
}
