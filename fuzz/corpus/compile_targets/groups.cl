//~ 2 0 15 -cl-std=CL3.0
kernel void sums(global float *x, local int *t, uint n) {
    local float tile[32];
    size_t i = get_global_id(0), k = get_local_id(0);
    tile[k] = i < n ? x[i] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 16; step; step >>= 1) {
        if (k < step) tile[k] += tile[k + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    t[k] = work_group_scan_inclusive_add((int)k) + sub_group_broadcast((int)k, 1) + sub_group_reduce_max((int)i);
    if (work_group_any(tile[0] > 1)) printf("%d %v4f %s\n", t[0], (float4)(x[i]), "text");
    x[i] = tile[0] + work_group_broadcast(tile[1], 0);
}
