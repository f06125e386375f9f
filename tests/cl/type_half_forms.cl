// Halves that go from memory to arithmetic and back, and halves of which more is done than that: their bits, their
// neighbours' bytes, places that begin anywhere. On WebGPU the former are its f16, the latter words.
// kernel: around
// global: 4
// local: 4
// arg: buf:half:4=1,-2,0.5,65504
// arg: buf:half:4
// expect: 65504, 0.5, -2, 65504
// arg: local:8
// kernel: chosen
// global: 4
// arg: buf:half:4=1,-2,3,-4
// arg: buf:half:4
// expect: 1, 0.125, 3, 0.125
// kernel: summed
// global: 2
// arg: buf:half:8=1,2,3,4,5,6,7,8
// arg: buf:half:2
// expect: 10, 26
// kernel: fours
// global: 1
// arg: buf:half:8=1,2,3,4,5,6,7,8
// arg: buf:half:4
// expect: 6, 10, 4, 1
// kernel: bits
// global: 4
// arg: buf:ushort:4=0x7e00,0xfe00,0xbc00,0x8001
// arg: buf:ushort:4
// expect: *, *, 0x3c00, 0x0001
// arg: buf:half:4
// expect: *, *, -2, *
// kernel: spread
// global: 3
// arg: buf:uchar:6=0,60,0,188,0,64
// arg: buf:half:3
// expect: 2, -2, 4
// kernel: kept
// global: 1
// arg: int:2
// arg: buf:half:4=1,2,3,4
// arg: buf:half:1
// expect: 7
// kernel: given
// global: 2
// arg: half:1.5
// arg: buf:half:2=1,2
// expect: 2.5, 3.5
// kernel: whole
// global: 2
// arg: buf:half:4=1,2,3,4
// expect: 2, 1, 4, 3
// arg: buf:uint:2
// expect: 0x40003c00, 0x44004200
// kernel: limits
// global: 6
// arg: buf:float:6=65519,65520,-65536,5.9604645e-8,2.9802322e-8,1e-9
// arg: buf:half:6
// expect: ushort: 0x7bff, 0x7c00, 0xfc00, 1, 0, 0
// kernel: changing
// global: 4
// arg: buf:half:4=1,2,3,4
// expect: 6, 4, 2, 0
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

kernel void around(global const half *x, global half *y, local half *tile) {
    const size_t i = get_local_id(0);
    tile[i] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[get_global_id(0)] = i ? tile[3 - i + (i == 3 ? 3 : 0)] : tile[3] + tile[0];
}

kernel void chosen(global const half *x, global half *y) {
    const size_t i = get_global_id(0);
    y[i] = x[i] > 0.0h ? x[i] : 0.125h;
}

kernel void summed(global const half *x, global half *y) {
    const size_t i = get_global_id(0);
    half sum = 0.0h;
    for (int k = 0; k < 4; k++) sum += x[4 * i + k];
    y[i] = sum;
}

kernel void fours(global const half4 *x, global half4 *y) {
    half4 sum = x[0] + x[1];
    half4 both = (half4)(sum.x, sum.w - 2.0h, 4.0h, 1.0h);
    y[0] = both;
}

kernel void bits(global const half *x, global half *y, global half *z) {
    const size_t i = get_global_id(0);
    y[i] = fabs(x[i]);
    z[i] = x[i] * 2.0h;
}

kernel void spread(global const uchar *x, global half *y) {
    const size_t i = get_global_id(0);
    y[i] = vload_half(0, (global const half *)(x + 2 * i)) * 2.0f;
}

kernel void kept(int n, global const half *x, global half *y) {
    half own[4];
    for (int i = 0; i < 4; i++) own[(i + n) & 3] = x[i];
    y[0] = own[0] + own[n - 1] * 1.0h;
}

kernel void given(half a, global half *x) { x[get_global_id(0)] += a; }

kernel void whole(global half *x, global uint *y) {
    const size_t i = get_global_id(0);
    y[i] = ((global const uint *)x)[i];
    const half2 pair = vload2(i, x);
    vstore2(pair.yx + (half2)(0.0h, 0.0h), i, x);
}

kernel void limits(global const float *x, global half *y) { y[get_global_id(0)] = convert_half(x[get_global_id(0)]); }

kernel void changing(volatile global half *x) {
    const size_t i = get_global_id(0);
    x[i] = (4.0h - x[i]) * 2.0h;
}
