// Keeps the even numbers in order: flags, scan, scatter in one work-group.
// kernel: compact
// global: 16
// local: 16
// arg: buf:int:16=0, 7, 14, 22, 6, 13, 21, 5, 12, 20, 4, 11, 19, 3, 10, 18
// arg: buf:int:16=-1
// expect: 0, 14, 22, 6, 12, 20, 4, 10, 18, -1, -1, -1, -1, -1, -1, -1
// arg: buf:int:1
// expect: 9
kernel void compact(global const int *in, global int *out, global int *count) {
    local int places[16];
    int l = get_local_id(0), keep = in[l] % 2 == 0;
    places[l] = keep;
    for (int d = 1; d < 16; d *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int before = l >= d ? places[l - d] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        places[l] += before;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (keep) out[places[l] - 1] = in[l];
    if (l == 15) *count = places[15];
}
