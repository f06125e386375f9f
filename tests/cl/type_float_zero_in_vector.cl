// Products and sums of a vector that has a constant zero among values that are not: zeros have signs there, too.
// kernel: run
// global: 1
// arg: float:-7
// arg: buf:uint:16
// expect: 0x80000000, 0x42440000, 0xc1600000, 0xc1600000, 0xc0e00000, 0xc1600000, 0x80000000, 0xc1600000, 0x80000000, 0x42440000, 0x80000000, 0x80000000, 0x80000000, 0xc1600000, 0xc1600000, 0xc1600000
kernel void run(float x, global uint *out) {
    float4 all = (float4)(x), mixed = (float4)(0.0f, x, 2.0f, 2.0f), put = (float4)(1.0f, x + 9.0f, 0.0f, 2.0f);
    float4 put_in = (float4)(0.0f, 0.0f, 0.0f, 0.0f), less_than_zero = (float4)(-0.0f, x, x, x);
    put_in.y = x;
    vstore4(as_uint4(all * mixed), 0, out);
    vstore4(as_uint4(all * put), 1, out);
    vstore4(as_uint4(all * put_in), 2, out);
    vstore4(as_uint4(mixed.xyyy * -0.0f + less_than_zero + less_than_zero.yyyy * (float4)(0.0f, 1.0f, 1.0f, 1.0f)), 3, out);
}
