// A histogram: local counters for each group, then global atomics.
// kernel: histogram
// global: 64
// local: 16
// arg: buf:uchar:64=0, 0, 6, 2, 4, 4, 2, 6, 0, 0, 6, 2, 4, 4, 2, 6, 0, 0, 6, 2, 4, 4, 2, 6, 0, 0, 6, 2, 4, 4,
//         2, 6, 0, 0, 6, 2, 4, 4, 2, 6, 0, 0, 6, 2, 4, 4, 2, 6, 0, 0, 6, 2, 4, 4, 2, 6, 0, 0, 6, 2,
//         4, 4, 2, 6
// arg: buf:int:8
// expect: 16, 0, 16, 0, 16, 0, 16, 0
kernel void histogram(global const uchar *in, global int *bins) {
    local int mine[8];
    int l = get_local_id(0);
    if (l < 8) mine[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&mine[in[get_global_id(0)]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 8) atomic_add(&bins[l], mine[l]);
}
