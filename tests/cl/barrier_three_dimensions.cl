// A barrier over a 3-D work-group.
// kernel: run
// global: 2, 2, 2
// local: 2, 2, 2
// arg: buf:int:8
// expect: 7, 6, 5, 4, 3, 2, 1, 0
kernel void run(global int *out) {
    local int tile[8];
    int l = (get_local_id(2) * 2 + get_local_id(1)) * 2 + get_local_id(0);
    tile[l] = l;
    work_group_barrier(CLK_LOCAL_MEM_FENCE);
    out[l] = tile[7 - l];
}
