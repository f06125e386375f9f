// An inclusive prefix sum with two buffers in local memory that change places.
// kernel: scan
// global: 16
// local: 16
// arg: buf:int:16=1,2,3,4
// expect: 1, 3, 6, 10, 11, 13, 16, 20, 21, 23, 26, 30, 31, 33, 36, 40
kernel void scan(global int *data) {
    local int buffers[2][16];
    local int *from = buffers[0], *to = buffers[1];
    int l = get_local_id(0);
    from[l] = data[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 1; d < 16; d <<= 1) {
        to[l] = from[l] + (l >= d ? from[l - d] : 0);
        barrier(CLK_LOCAL_MEM_FENCE);
        local int *t = from;
        from = to;
        to = t;
    }
    data[l] = from[l];
}
