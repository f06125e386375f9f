// Kernels of one file whose arguments take as many words as local arrays of the kernel before them.
// kernel: mixed
// global: 4
// local: 4
// arg: buf:uint:4=1,2,3,4
// arg: buf:uint:4=5,6,7,8
// arg: buf:uint:4
// expect: 7, 7, 11, 11
// kernel: one
// global: 4
// local: 4
// arg: buf:uint:4
// expect: 3, 2, 1, 0
// kernel: two
// global: 4
// local: 4
// arg: buf:uint:4=5,6,7,8
// arg: buf:uint:4
// expect: 8, 7, 6, 5
kernel void mixed(global const uint *a, global const uint *b, global uint *out) {
    local uint pair[2], all[4];
    uint i = get_local_id(0);
    all[i] = b[i];
    if (i < 2) pair[i] = a[2 * i + 1];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = all[i & 2] + pair[i / 2];
}
kernel void one(global uint *out) {
    local uint all[8];
    uint i = get_local_id(0);
    all[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = all[3 - i];
}
kernel void two(global const uint *in, global uint *out) {
    local uint all[8];
    uint i = get_local_id(0);
    all[i] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = all[3 - i];
}
