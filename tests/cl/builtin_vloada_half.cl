// vloada_half: aligned vectors of half; vloada_half3 and vstorea_half3 step by four.
// kernel: run
// arg: buf:half:16=1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
// arg: buf:float:18
// expect: 3, 3, 4, 5, 6, 7, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
// arg: buf:half:16=-1
// expect: -1, 2, 3, 4, 5, 6, 7, -1, 1, 2, 3, 4, 5, 6, 7, 8
// arg: buf:half:16
// expect: 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1
kernel void run(global const half *in, global float *out, global half *stored, global half *turned) {
    out[0] = vloada_half(2, in);
    vstore2(vloada_half2(1, in), 0, out + 1);
    vstore3(vloada_half3(1, in), 0, out + 3);
    vstore4(vloada_half4(1, in), 0, out + 6);
    vstore8(vloada_half8(1, in), 0, out + 10);
    vstorea_half(2, 1, stored);
    vstorea_half2((float2)(3, 4), 1, stored);
    vstorea_half3((float3)(5, 6, 7), 1, stored);
    vstorea_half8(vloada_half8(0, in), 1, stored);
    vstorea_half16(vloada_half16(0, in).sfedcba9876543210, 0, turned);
}
