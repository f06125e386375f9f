// hypot: within 4 ulp, without overflow on the way.
// kernel: floats
// global: 12
// arg: buf:float:12=3, -5, 1, 0.1, 1e20, 1e-20, 1e30, 1.5, 3e38, 1e-40, 3.4028235e38, 2
// arg: buf:float:12=4, 12, 1, 0.2, 1e20, 1e-20, 1, -2.5, 1e37, 1e-41, 1, 1e-5
// arg: buf:float:12
// expect: 5, 13, 1.4142135, 0.2236068, 1.4142136e20, 1.4142136e-20, 1e30, 2.9154758, 3.0016662e38,
//   1.00498e-40, 3.4028235e38, 2 ulp 4
// kernel: floats
// global: 8
// arg: buf:float:8=inf, nan, inf, 0, -0, 3.4028235e38, nan, 1e-45
// arg: buf:float:8=nan, -inf, 1, -3, -0, 3.4028235e38, 1, 0
// arg: buf:float:8
// expect: inf, inf, inf, 3, 0, inf, nan, 1e-45
// kernel: doubles
// needs: f64
// global: 14
// arg: buf:double:14=3, -5, 1, 0.1, 1e20, 1e-20, 1e30, 1.5, 3e38, 1e-40, 1.7976931348623157e308, 2,
//   1e300, 1e-300
// arg: buf:double:14=4, 12, 1, 0.2, 1e20, 1e-20, 1, -2.5, 1e37, 1e-41, 1, 1e-5, 1e300, 1e-300
// arg: buf:double:14
// expect: 5, 13, 1.4142135623730951, 0.223606797749979, 1.4142135623730951e20, 1.414213562373095e-20,
//   1e30, 2.9154759474226504, 3.001666203960727e38, 1.004987562112089e-40, 1.7976931348623157e308,
//   2.000000000025, 1.4142135623730952e300, 1.414213562373095e-300 ulp 4
// kernel: doubles
// needs: f64
// global: 8
// arg: buf:double:8=inf, nan, inf, 0, -0, 1.7976931348623157e308, nan, 5e-324
// arg: buf:double:8=nan, -inf, 1, -3, -0, 1.7976931348623157e308, 1, 0
// arg: buf:double:8
// expect: inf, inf, inf, 3, 0, inf, nan, 5e-324
// kernel: vectors
// needs: f64
// arg: buf:float:4=3, -5, 1, 0.1
// arg: buf:float:4=4, 12, 1, 0.2
// arg: buf:float:9
// expect: 5, 13, 5, 13, 1.4142135, 5, 13, 1.4142135, 0.2236068 ulp 4
// arg: buf:double:2=3, -5
// arg: buf:double:2=4, 12
// arg: buf:double:2
// expect: 5, 13 ulp 4
kernel void floats(global const float *x, global const float *y, global float *out) {
    size_t i = get_global_id(0);
    out[i] = hypot(x[i], y[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global const double *y, global double *out) {
    size_t i = get_global_id(0);
    out[i] = hypot(x[i], y[i]);
}

kernel void vectors(global const float *x, global const float *y, global float *out,
                    global const double *dx, global const double *dy, global double *wide) {
    vstore2(hypot(vload2(0, x), vload2(0, y)), 0, out);
    vstore3(hypot(vload3(0, x), vload3(0, y)), 0, out + 2);
    vstore4(hypot(vload4(0, x), vload4(0, y)), 0, out + 5);
    vstore2(hypot(vload2(0, dx), vload2(0, dy)), 0, wide);
}
#endif
