// Barriers in a last work-group that is smaller than the others.
// kernel: run
// global: 7
// local: 4
// arg: buf:int:7
// expect: 3, 2, 1, 0, 2, 1, 0
kernel void run(global int *out) {
    local int tile[4];
    int l = get_local_id(0), n = get_local_size(0);
    tile[l] = l;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[n - 1 - l];
}
