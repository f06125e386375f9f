// Sums, products, quotients and differences with a constant zero are those of floats: zeros have signs, and not every
// product with zero is zero.
// kernel: run
// global: 4
// arg: buf:float:4=-0.0,-2.0,0.0,inf
// arg: buf:uint:36
// expect: 0, 0xc0000000, 0, 0x7f800000, 0x80000000, 0x80000000, 0, 1, 0, 0, 0x80000000, 1, 1, 0xff800000, 1, 0x7f800000, 0, 0, 0, 1, 0x80000000, 0x80000000, 0, 1,
//         0, 0x40000000, 0, 0xff800000, 0x80000000, 0xc0000000, 0, 0x7f800000, 0, 0x40000000, 0x80000000, 0xff800000
uint bits(float x) { return x == x ? as_uint(x) : 1; }
kernel void run(global const float *in, global uint *out) {
    int id = get_global_id(0);
    float x = in[id];
    out[id] = bits(x + 0.0f);
    out[4 + id] = bits(x * 0.0f);
    out[8 + id] = bits(x * -0.0f);
    out[12 + id] = bits(x / 0.0f);
    out[16 + id] = bits(x - x);
    out[20 + id] = bits(fma(x, 0.0f, 0.0f * x));
    out[24 + id] = bits(0.0f - x);
    out[28 + id] = bits(x - 0.0f);
    out[32 + id] = bits(-0.0f - x);
}
