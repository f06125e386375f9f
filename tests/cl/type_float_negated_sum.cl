// The sign of a zero: -(a * b + c) is not -(a * b) - c.
// kernel: run
// global: 2
// arg: buf:float:2=-0.0,0.0
// arg: buf:uint:6
// expect: 0x80000000, 0x80000000, 0x80000000, 0x80000000, 0, 0x80000000
kernel void run(global const float *in, global uint *out) {
    int g = get_global_id(0);
    float sum = fma(in[g], 3.0f, 0.0f);
    out[g * 3] = as_uint(-sum);
    out[g * 3 + 1] = as_uint(-fma(in[g], -3.0f, -0.0f));
    out[g * 3 + 2] = as_uint(-(g ? sum : in[1]));
}
