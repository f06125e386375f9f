// Barriers in branches that all work-items of a group take alike.
// kernel: run
// global: 8
// local: 4
// arg: int:1
// arg: buf:int:8
// expect: 3, 2, 1, 0, 100, 101, 102, 103
kernel void run(int flag, global int *out) {
    local int tile[4];
    int l = get_local_id(0);
    if (flag && get_group_id(0) == 0) {
        tile[l] = l;
        barrier(CLK_LOCAL_MEM_FENCE);
        out[get_global_id(0)] = tile[3 - l];
    } else
        out[get_global_id(0)] = l + 100;
}
