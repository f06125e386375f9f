// Math functions of half where the device has the type: exact ones, and some within 2 ulp of half.
// needs: f16
// kernel: exact
// arg: half4:2.25, -0.5, 1024, inf
// arg: buf:half4:7
// expect: 2, -1, 1024, inf, 3, -0, 1024, inf, 2.25, 0.5, 1024, inf, 1.5, nan, 32, inf, 2.25, 0, 1024, inf,
//   5.5, 0, 2048, inf, 2.25, -0.5, 100, 100
// kernel: close
// arg: half4:0.5, 1, 2, -1.5
// arg: buf:half4:3
// expect: 1.648721, 2.718282, 7.389056, 0.2231302, 0.4794255, 0.841471, 0.9092974, -0.997495, 0.25, 1, 4, 2.25 ulp 2
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void exact(half4 x, global half4 *out) {
    out[0] = floor(x);
    out[1] = ceil(x);
    out[2] = fabs(x);
    out[3] = sqrt(x);
    out[4] = fmax(x, (half4)(0.0h));
    out[5] = fma(x, (half4)(2.0h), (half4)(1.0h));
    out[6] = fmin(x, (half4)(100.0h));
}
kernel void close(half4 x, global half4 *out) {
    out[0] = exp(x);
    out[1] = sin(x);
    out[2] = pown(x, (int4)(2));
}
