// Barriers inside a loop: a tree reduction.
// kernel: run
// global: 16
// local: 8
// arg: buf:int:16=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16
// arg: buf:int:2
// expect: 36, 100
kernel void run(global const int *in, global int *out) {
    local int part[8];
    int l = get_local_id(0);
    part[l] = in[get_global_id(0)];
    for (int n = 4; n > 0; n >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (l < n) part[l] += part[l + n];
    }
    if (l == 0) out[get_group_id(0)] = part[0];
}
