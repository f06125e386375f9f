// half as an arithmetic type, where the device has it.
// needs: f16
// kernel: run
// arg: half:1.5
// arg: buf:half:5
// expect: 2.25, 2048, 0.333251953, inf, -1.5
// kernel: regrouped
// global: 2
// arg: buf:uint:2=0x3c004000, 0xc4003800
// arg: buf:half:4
// expect: 3, 2, 1.5, -3
// arg: buf:uint:2
// expect: 0x40003c00, 0x3800c400
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void run(half x, global half *out) {
    out[0] = x * x;
    out[1] = (half)2048.0f + (half)1.0f; /* ties to even */
    out[2] = (half)1.0f / (half)3.0f;
    out[3] = (half)65504.0f * (half)2.0f;
    out[4] = -x;
}
kernel void regrouped(global const uint *x, global half2 *plus_one, global uint *swapped) {
    size_t i = get_global_id(0);
    half2 h = as_half2(x[i]);
    plus_one[i] = h + (half)1.0f;
    swapped[i] = as_uint(h.yx);
}
