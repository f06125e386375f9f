// #pragma unroll, #pragma OPENCL, _Pragma from a macro: none changes what the kernel computes.
// needs: f64
// kernel: run
// arg: buf:int:3
// expect: 45, 45, 45
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
#define UNROLL(n) _Pragma("unroll")
kernel void run(global int *out) {
    int sum = 0;
#pragma unroll
    for (int i = 0; i < 10; i++) sum += i;
    out[0] = sum;
    sum = 0;
#pragma unroll 4
    for (int i = 0; i < 10; i++) sum += i;
    out[1] = sum;
    sum = 0;
    UNROLL(2)
    for (int i = 0; i < 10; i++) sum += i;
    out[2] = sum;
}
