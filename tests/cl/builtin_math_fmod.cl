// fmod: the exact remainder of the truncated quotient, with the sign of x.
// kernel: floats
// global: 14
// arg: buf:float:14=7, -7, 7, 5.5, 1e10, 1, 0.3, -1e20, 1e30, 100.5, 2.5, -8.75, 3.4028235e38,
//   3.4028235e38
// arg: buf:float:14=3, 3, -3, 1.25, 7, 3, 0.1, 13, 1e-5, 100.25, 10, 2.5, 3, 1.1754944e-38
// arg: buf:float:14
// expect: 1, -1, 1, 0.5, 4, 1, 7.450581e-9, -9, 6.1375613e-7, 0.25, 2.5, -1.25, 0, 0
// kernel: floats
// global: 12
// arg: buf:float:12=0, -0, 6, -6, inf, -inf, 5, 5, -5, nan, 1, 1e-45
// arg: buf:float:12=3, 3, 3, 3, 1, 1, 0, inf, -inf, 1, nan, 1.1754944e-38
// arg: buf:float:12
// expect: 0, -0, 0, -0, nan, nan, nan, 5, -5, nan, nan, 1e-45
// kernel: doubles
// needs: f64
// global: 17
// arg: buf:double:17=7, -7, 7, 5.5, 10000000000.0, 1, 0.3, -1e20, 1e30, 100.5, 2.5, -8.75,
//   1.7976931348623157e308, 1.7976931348623157e308, 4.4108437513097134e306, 1.7976931348623157e308,
//   1.7976931348623157e308
// arg: buf:double:17=3, 3, -3, 1.25, 7, 3, 0.1, 13, 1e-5, 100.25, 10, 2.5, 3, 2.2250738585072014e-308,
//   -2.2340535901779516e300, 1e300, 1.2e308
// arg: buf:double:17
// expect: 1, -1, 1, 0.5, 4, 1, 0.09999999999999998, -9, 9.254278099412739e-6, 0.25, 2.5, -1.25, 2, 0,
//   2.0666308417508318e300, 4.8623156137578274e299, 5.976931348623158e307
// kernel: doubles
// needs: f64
// global: 12
// arg: buf:double:12=0, -0, 6, -6, inf, -inf, 5, 5, -5, nan, 1, 5e-324
// arg: buf:double:12=3, 3, 3, 3, 1, 1, 0, inf, -inf, 1, nan, 2.2250738585072014e-308
// arg: buf:double:12
// expect: 0, -0, 0, -0, nan, nan, nan, 5, -5, nan, nan, 5e-324
// kernel: vectors
// needs: f64
// arg: buf:float:4=7, -7, 7, 5.5
// arg: buf:float:4=3, 3, -3, 1.25
// arg: buf:float:9
// expect: 1, -1, 1, -1, 1, 1, -1, 1, 0.5
// arg: buf:double:2=7, -7
// arg: buf:double:2=3, 3
// arg: buf:double:2
// expect: 1, -1
kernel void floats(global const float *x, global const float *y, global float *out) {
    size_t i = get_global_id(0);
    out[i] = fmod(x[i], y[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global const double *y, global double *out) {
    size_t i = get_global_id(0);
    out[i] = fmod(x[i], y[i]);
}

kernel void vectors(global const float *x, global const float *y, global float *out,
                    global const double *dx, global const double *dy, global double *wide) {
    vstore2(fmod(vload2(0, x), vload2(0, y)), 0, out);
    vstore3(fmod(vload3(0, x), vload3(0, y)), 0, out + 2);
    vstore4(fmod(vload4(0, x), vload4(0, y)), 0, out + 5);
    vstore2(fmod(vload2(0, dx), vload2(0, dy)), 0, wide);
}
#endif
