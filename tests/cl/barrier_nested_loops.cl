// Barriers in the inner of two loops, with values carried around both.
// kernel: run
// global: 4
// local: 4
// arg: buf:int:4
// expect: 21, 19, 17, 15
kernel void run(global int *out) {
    local int tile[4];
    int l = get_local_id(0), sum = 0;
    for (int i = 0; i < 2; i++) {
        int carried = i;
        for (int j = 0; j < 3; j++) {
            tile[l] = l + carried;
            barrier(CLK_LOCAL_MEM_FENCE);
            sum += tile[(l + j + 1) % 4];
            barrier(CLK_LOCAL_MEM_FENCE);
            carried = carried + 1;
        }
    }
    out[l] = sum;
}
