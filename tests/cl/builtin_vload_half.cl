// vload_half of every width: half numbers in memory become floats exactly.
// kernel: run
// arg: buf:half:32=0, -0, 1, -2, 0.5, 65504, 6.1035156e-05, 5.9604645e-08, inf, -inf, nan, 0.333251953, 10, 11, 12, 13
// arg: buf:float:34
// expect: 1, 1, -2, -2, 0.5, 65504, 0.5, 65504, 6.1035156e-05, 5.9604645e-08, inf, -inf, nan, 0.333251953,
//   10, 11, 12, 13, 0, -0, 1, -2, 0.5, 65504, 6.1035156e-05, 5.9604645e-08, inf, -inf, nan, 0.333251953, 10, 11, 12, 13
kernel void run(global const half *in, global float *out) {
    out[0] = vload_half(2, in);
    vstore2(vload_half2(1, in), 0, out + 1);
    vstore3(vload_half3(1, in), 0, out + 3);
    vstore4(vload_half4(1, in), 0, out + 6);
    vstore8(vload_half8(1, in), 0, out + 10);
    vstore16(vload_half16(1, in), 0, out + 18);
}
