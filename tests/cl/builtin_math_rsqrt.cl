// rsqrt: within 2 ulp.
// kernel: floats
// global: 19
// arg: buf:float:19=0.1, 0.5, 1, 1.5, 2.75, 10, 100.25, 1000, 0.001, 1e-10, 0.75, 3.25, 7, 20, 0.9,
//   5.5, 3.4028235e38, 1.1754944e-38, 1e-45
// arg: buf:float:19
// expect: 3.1622777, 1.4142135, 1, 0.8164966, 0.6030227, 0.31622776, 0.099875234, 0.031622775,
//   31.622776, 100000, 1.1547005, 0.5547002, 0.37796447, 0.2236068, 1.0540925, 0.42640144,
//   5.421011e-20, 9.223372e18, 2.6713738e22 ulp 2
// kernel: floats
// global: 6
// arg: buf:float:6=0, inf, 4, -1, -inf, nan
// arg: buf:float:6
// expect: inf, 0, 0.5, nan, nan, nan
// kernel: doubles
// needs: f64
// global: 19
// arg: buf:double:19=0.1, 0.5, 1, 1.5, 2.75, 10, 100.25, 1000, 0.001, 1e-10, 0.75, 3.25, 7, 20, 0.9,
//   5.5, 1.7976931348623157e308, 2.2250738585072014e-308, 5e-324
// arg: buf:double:19
// expect: 3.162277660168379, 1.4142135623730951, 1, 0.816496580927726, 0.6030226891555273,
//   0.31622776601683794, 0.09987523388778446, 0.03162277660168379, 31.622776601683793, 100000,
//   1.1547005383792515, 0.5547001962252291, 0.37796447300922725, 0.22360679774997896,
//   1.0540925533894598, 0.4264014327112209, 7.458340731200207e-155, 6.703903964971299e153,
//   4.4989137945431964e161 ulp 2
// kernel: doubles
// needs: f64
// global: 6
// arg: buf:double:6=0, inf, 4, -1, -inf, nan
// arg: buf:double:6
// expect: inf, 0, 0.5, nan, nan, nan
// kernel: vectors
// needs: f64
// arg: buf:float:4=0.1, 0.5, 1, 1.5
// arg: buf:float:9
// expect: 3.1622777, 1.4142135, 3.1622777, 1.4142135, 1, 3.1622777, 1.4142135, 1, 0.8164966 ulp 2
// arg: buf:double:2=0.1, 0.5
// arg: buf:double:2
// expect: 3.162277660168379, 1.4142135623730951 ulp 2
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = rsqrt(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = rsqrt(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(rsqrt(vload2(0, x)), 0, out);
    vstore3(rsqrt(vload3(0, x)), 0, out + 2);
    vstore4(rsqrt(vload4(0, x)), 0, out + 5);
    vstore2(rsqrt(vload2(0, dx)), 0, wide);
}
#endif
