// remainder: the exact remainder of the nearest quotient, ties to even.
// kernel: floats
// global: 19
// arg: buf:float:19=7, -7, 7, 5.5, 1e10, 1, 0.3, -1e20, 1e30, 100.5, 2.5, -8.75, 3.4028235e38,
//   3.4028235e38, 5, 7, -5, 1.5, -30160
// arg: buf:float:19=3, 3, -3, 1.25, 7, 3, 0.1, 13, 1e-5, 100.25, 10, 2.5, 3, 1.1754944e-38, 2, 2, 2,
//   1, -1.7744140625
// arg: buf:float:19
// expect: 1, -1, 1, 0.5, -3, 1, 7.450581e-9, 4, 6.1375613e-7, 0.25, 2.5, 1.25, 0, 0, 1, -1, -1, -0.5,
//   -0.284179688
// kernel: floats
// global: 12
// arg: buf:float:12=0, -0, 6, -6, inf, -inf, 5, 5, -5, nan, 1, 1e-45
// arg: buf:float:12=3, 3, 3, 3, 1, 1, 0, inf, -inf, 1, nan, 1.1754944e-38
// arg: buf:float:12
// expect: 0, -0, 0, -0, nan, nan, nan, 5, -5, nan, nan, 1e-45
// kernel: doubles
// needs: f64
// global: 21
// arg: buf:double:21=7, -7, 7, 5.5, 10000000000.0, 1, 0.3, -1e20, 1e30, 100.5, 2.5, -8.75,
//   1.7976931348623157e308, 1.7976931348623157e308, 5, 7, -5, 1.5, 4.4108437513097134e306,
//   1.7976931348623157e308, 1.7976931348623157e308
// arg: buf:double:21=3, 3, -3, 1.25, 7, 3, 0.1, 13, 1e-5, 100.25, 10, 2.5, 3,
//   2.2250738585072014e-308, 2, 2, 2, 1, -2.2340535901779516e300, 1e300, 1.2e308
// arg: buf:double:21
// expect: 1, -1, 1, 0.5, -3, 1, -2.7755575615628914e-17, 4, -7.457219005872621e-7, 0.25, 2.5, 1.25,
//   -1, 0, 1, -1, -1, -0.5,
//   -1.6742274842711974e299, 4.8623156137578274e299, 5.976931348623158e307
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
    out[i] = remainder(x[i], y[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global const double *y, global double *out) {
    size_t i = get_global_id(0);
    out[i] = remainder(x[i], y[i]);
}

kernel void vectors(global const float *x, global const float *y, global float *out,
                    global const double *dx, global const double *dy, global double *wide) {
    vstore2(remainder(vload2(0, x), vload2(0, y)), 0, out);
    vstore3(remainder(vload3(0, x), vload3(0, y)), 0, out + 2);
    vstore4(remainder(vload4(0, x), vload4(0, y)), 0, out + 5);
    vstore2(remainder(vload2(0, dx), vload2(0, dy)), 0, wide);
}
#endif
