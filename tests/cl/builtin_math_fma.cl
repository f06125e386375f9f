// fma: one rounding only.
// kernel: floats
// global: 16
// arg: buf:float:16=2, -1.5, 0.1, 1e20, 1e-30, 3, 1.0000001, 16777215, 7, 0.3, 1e10, -5, 1e38, 2, 8,
//   9
// arg: buf:float:16=3, 2, 10, 1e20, 1e-20, 0.33333334, 1.0000001, 16777215, -7, 0.3, 1e-10, 5, 10, 2,
//   0.125, 9
// arg: buf:float:16=4, 0.25, -1, -1, 1, -1, -1.0000002, 1, 49, 0.3, -1, 1e-5, -1e38, 2, -0.5, 9
// arg: buf:float:16
// expect: 10, -2.75, 1.4901161e-8, inf, 1, 2.9802322e-8, 1.4210855e-14, 2.8147494e14, 0, 0.39000002,
//   1.3351432e-8, -24.99999, inf, 6, 0.5, 90
// kernel: floats
// global: 7
// arg: buf:float:7=inf, inf, 1, 3.4028235e38, nan, -0, 1
// arg: buf:float:7=1, 0, 2, 2, 1, 1, -1
// arg: buf:float:7=-inf, 1, inf, -3.4028235e38, 1, -0, 1
// arg: buf:float:7
// expect: nan, nan, inf, 3.4028235e38, nan, -0, 0
// kernel: doubles
// needs: f64
// global: 16
// arg: buf:double:16=2, -1.5, 0.1, 1e20, 1e-30, 3, 1.0000001, 16777215.0, 7, 0.3, 10000000000.0, -5,
//   1e38, 2, 8, 9
// arg: buf:double:16=3, 2, 10, 1e20, 1e-20, 0.3333333333333333, 1.0000001, 16777215.0, -7, 0.3,
//   1e-10, 5, 10, 2, 0.125, 9
// arg: buf:double:16=4, 0.25, -1, -1, 1, -1, -1.0000002, 1, 49, 0.3, -1, 1e-5, -1e38, 2, -0.5, 9
// arg: buf:double:16
// expect: 10, -2.75, 5.551115123125783e-17, 1e40, 1, -5.551115123125783e-17, 1.0222044616602375e-14,
//   281474943156226.0, 0, 0.38999999999999996, 3.643219731549774e-17, -24.99999, 9e38, 6, 0.5, 90
// kernel: doubles
// needs: f64
// global: 13
// arg: buf:double:13=inf, inf, 1, 1.7976931348623157e308, nan, -0, 1, -1.7976931348623157e308,
//   1.7976931348623157e308, 1e-200, 1e-200, 1e-200, 1e200
// arg: buf:double:13=1, 0, 2, 2, 1, 1, -1, -1.7976931348623157e308, -2, -1e-200, 1e-200, 3, -1e200
// arg: buf:double:13=-inf, 1, inf, -1.7976931348623157e308, 1, -0, 1, -inf, inf, 0, -0, 0, 0
// arg: buf:double:13
// expect: nan, nan, inf, 1.7976931348623157e308, nan, -0, 0, -inf, inf, -0, 0, 3e-200, -inf
// kernel: vectors
// needs: f64
// arg: buf:float:16=2, -1.5, 0.1, 1e20, 1e-30, 3, 1.0000001, 16777215, 7, 0.3, 1e10, -5, 1e38, 2, 8,
//   9
// arg: buf:float:16=3, 2, 10, 1e20, 1e-20, 0.33333334, 1.0000001, 16777215, -7, 0.3, 1e-10, 5, 10, 2,
//   0.125, 9
// arg: buf:float:16=4, 0.25, -1, -1, 1, -1, -1.0000002, 1, 49, 0.3, -1, 1e-5, -1e38, 2, -0.5, 9
// arg: buf:float:33
// expect: 10, -2.75, 10, -2.75, 1.4901161e-8, 10, -2.75, 1.4901161e-8, inf, 10, -2.75, 1.4901161e-8,
//   inf, 1, 2.9802322e-8, 1.4210855e-14, 2.8147494e14, 10, -2.75, 1.4901161e-8, inf, 1, 2.9802322e-8,
//   1.4210855e-14, 2.8147494e14, 0, 0.39000002, 1.3351432e-8, -24.99999, inf, 6, 0.5, 90
// arg: buf:double:3=2, -1.5, 0.1
// arg: buf:double:3=3, 2, 10
// arg: buf:double:3=4, 0.25, -1
// arg: buf:double:5
// expect: 10, -2.75, 10, -2.75, 5.551115123125783e-17
kernel void floats(global const float *x, global const float *y, global const float *z, global float *out) {
    size_t i = get_global_id(0);
    out[i] = fma(x[i], y[i], z[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global const double *y, global const double *z,
                    global double *out) {
    size_t i = get_global_id(0);
    out[i] = fma(x[i], y[i], z[i]);
}

kernel void vectors(global const float *x, global const float *y, global const float *z, global float *out,
                    global const double *dx, global const double *dy, global const double *dz,
                    global double *wide) {
    vstore2(fma(vload2(0, x), vload2(0, y), vload2(0, z)), 0, out);
    vstore3(fma(vload3(0, x), vload3(0, y), vload3(0, z)), 0, out + 2);
    vstore4(fma(vload4(0, x), vload4(0, y), vload4(0, z)), 0, out + 5);
    vstore8(fma(vload8(0, x), vload8(0, y), vload8(0, z)), 0, out + 9);
    vstore16(fma(vload16(0, x), vload16(0, y), vload16(0, z)), 0, out + 17);
    vstore2(fma(vload2(0, dx), vload2(0, dy), vload2(0, dz)), 0, wide);
    vstore3(fma(vload3(0, dx), vload3(0, dy), vload3(0, dz)), 0, wide + 2);
}
#endif
