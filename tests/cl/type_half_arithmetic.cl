// half as an arithmetic type, where the device has it.
// needs: f16
// kernel: run
// arg: half:1.5
// arg: buf:half:5
// expect: 2.25, 2048, 0.333251953, inf, -1.5
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void run(half x, global half *out) {
    out[0] = x * x;
    out[1] = (half)2048.0f + (half)1.0f; /* ties to even */
    out[2] = (half)1.0f / (half)3.0f;
    out[3] = (half)65504.0f * (half)2.0f;
    out[4] = -x;
}
