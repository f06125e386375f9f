// half_ functions: within 8192 ulp, scalars and vectors.
// kernel: one
// arg: buf:float:4=0.5, 1.5, 2.75, 0.1
// arg: buf:float:48
// expect: 0.87758255, 0.0707372, -0.9243024, 0.9950042, 1.6487212, 4.481689, 15.642632, 1.105171,
//   1.4142135, 2.828427, 6.7271714, 1.0717734, 3.1622777, 31.622776, 562.3413, 1.2589254, -0.6931472,
//   0.4054651, 1.011601, -2.3025851, -1, 0.5849625, 1.4594316, -3.321928, -0.30103, 0.17609125,
//   0.4393327, -1, 2, 0.6666667, 0.36363637, 10, 1.4142135, 0.8164966, 0.6030227, 3.1622777,
//   0.47942555, 0.997495, 0.381661, 0.09983342, 0.70710677, 1.2247449, 1.6583124, 0.31622776,
//   0.5463025, 14.10142, -0.41291788, 0.100334674 ulp 8192
// kernel: two
// global: 4
// arg: buf:float:4=1.5, 3, 10, 0.25
// arg: buf:float:4=2.5, 0.5, -1.5, 7
// arg: buf:float:4
// expect: 0.6, 6, -6.6666665, 0.035714287 ulp 8192
// arg: buf:float:4
// expect: 2.755676, 1.7320508, 0.031622775, 6.1035156e-5 ulp 8192
#define ROW(name, row) vstore4(half_##name(vload4(0, x)), row, out); \
    out[4 * row + 1] = half_##name(x[1])
kernel void one(global const float *x, global float *out) {
    ROW(cos, 0);
    ROW(exp, 1);
    ROW(exp2, 2);
    ROW(exp10, 3);
    ROW(log, 4);
    ROW(log2, 5);
    ROW(log10, 6);
    ROW(recip, 7);
    ROW(rsqrt, 8);
    ROW(sin, 9);
    ROW(sqrt, 10);
    ROW(tan, 11);
}
kernel void two(global const float *x, global const float *y, global float *quotient, global float *power) {
    size_t i = get_global_id(0);
    quotient[i] = half_divide(x[i], y[i]);
    power[i] = half_powr(x[i], y[i]);
}
