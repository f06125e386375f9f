// Half values that are only moved keep their bits: signalling NaN, denormal numbers; through local and private memory,
// choices, vectors and loops.
// kernel: memory
// global: 32
// local: 32
// arg: buf:ushort:32=0xfc62,0x7c01,0x0001,0x8000,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0
// arg: buf:ushort:32
// expect: ushort: 0xfc62, 0x7c01, 0x0001, 0x8000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
//         0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
// kernel: moved
// global: 8
// arg: buf:ushort:8=0xfc62,0x7c01,0x0001,0x8000,0x7dff,0xffff,0x03ff,0x3c00
// arg: int:4
// arg: buf:ushort:8
// expect: ushort: 0xfc62, 0x7c01, 0x0001, 0x8000, 0xfc62, 0xfc62, 0xfc62, 0xfc62
// arg: buf:ushort:32
// expect: ushort: 0x3c00, 0x7c01, 0xfc62, 0xfc62, 0x3c00, 0x7c01, 0xfc62, 0x7c01,
//         0x3c00, 0x7c01, 0xfc62, 0x0001, 0x3c00, 0x7c01, 0xfc62, 0x8000,
//         0x3c00, 0x7c01, 0xfc62, 0x7dff, 0x3c00, 0x7c01, 0xfc62, 0xffff,
//         0x3c00, 0x7c01, 0xfc62, 0x03ff, 0x3c00, 0x7c01, 0xfc62, 0x3c00
// arg: buf:ushort:8
// expect: ushort: 0xfc62, 0x7c01, 0x0001, 0x8000, 0x7dff, 0xffff, 0x03ff, 0x3c00
// kernel: kept
// global: 32
// local: 32
// arg: buf:ushort:32=0xfc62,0x7c01,0x0001,0x8000,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0
// arg: buf:ushort:32
// expect: ushort: 0xfc62, 0x7c01, 0x0001, 0x8000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
//         0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
kernel void memory(global const half *x, global half *o) {
    local half t[32];
    int l = get_local_id(0);
    t[l] = x[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    o[l] = t[l];
}

kernel void moved(global const half *x, int n, global half *chosen, global half4 *joined, global half *last) {
    int i = get_global_id(0);
    half h = i < n ? x[i] : x[0];
    half4 v = (half4)(x[i], x[0], x[1], x[7]);
    half keep[8];
    for (int k = 0; k < 8; k++) keep[k] = x[k];
    half found = 0;
    for (int k = 0; k <= i; k++) found = x[k];
    chosen[i] = h;
    joined[i] = v.wzyx;
    last[i] = n ? found : keep[i];
}

// Kept by each work-item across a barrier.
kernel void kept(global const half *x, global half *o) {
    int l = get_local_id(0);
    half v = x[l];
    barrier(CLK_LOCAL_MEM_FENCE);
    o[l] = v;
}
