// Work-items that diverged meet again before the barrier.
// kernel: run
// global: 4
// local: 4
// arg: buf:int:4
// expect: 30, 2, 10, 0
kernel void run(global int *out) {
    local int tile[4];
    int l = get_local_id(0);
    if (l % 2)
        tile[l] = l * 10;
    else
        for (int i = 0; i <= l; i++) tile[l] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[l] = tile[3 - l];
}
