// cos: within 4 ulp, large angles too.
// kernel: floats
// global: 16
// arg: buf:float:16=0.1, -0.5, 1, 3, -3.1415927, 1.5707964, 10, 100.5, -1000, 12345.678, 1000000,
//   1e10, -1e20, 1e30, 1e-5, 0.7853982
// arg: buf:float:16
// expect: 0.9950042, 0.87758255, 0.5403023, -0.9899925, -1, -4.371139e-8, -0.8390715, 0.9995206,
//   0.56237906, 0.7099323, 0.93675214, 0.87311965, 0.7542593, -0.6116048, 1, 0.70710677 ulp 4
// kernel: floats
// global: 5
// arg: buf:float:5=0, -0, inf, -inf, nan
// arg: buf:float:5
// expect: 1, 1, nan, nan, nan
// kernel: doubles
// needs: f64
// global: 16
// arg: buf:double:16=0.1, -0.5, 1, 3, -3.141592653589793, 1.5707963267948966, 10, 100.5, -1000,
//   12345.678, 1000000, 1e22, -1e100, 1e300, 1e-5, 0.7853981633974483
// arg: buf:double:16
// expect: 0.9950041652780258, 0.8775825618903728, 0.5403023058681398, -0.9899924966004454, -1,
//   6.123233995736766e-17, -0.8390715290764524, 0.9995206253283515, 0.5623790762907029,
//   0.7101193587160628, 0.9367521275331447, 0.523214785395139, 0.9247242387519338,
//   -0.5753861119575491, 0.99999999995, 0.7071067811865476 ulp 4
// kernel: doubles
// needs: f64
// global: 5
// arg: buf:double:5=0, -0, inf, -inf, nan
// arg: buf:double:5
// expect: 1, 1, nan, nan, nan
// kernel: vectors
// needs: f64
// arg: buf:float:4=0.1, -0.5, 1, 3
// arg: buf:float:9
// expect: 0.9950042, 0.87758255, 0.9950042, 0.87758255, 0.5403023, 0.9950042, 0.87758255, 0.5403023,
//   -0.9899925 ulp 4
// arg: buf:double:2=0.1, -0.5
// arg: buf:double:2
// expect: 0.9950041652780258, 0.8775825618903728 ulp 4
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = cos(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = cos(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(cos(vload2(0, x)), 0, out);
    vstore3(cos(vload3(0, x)), 0, out + 2);
    vstore4(cos(vload4(0, x)), 0, out + 5);
    vstore2(cos(vload2(0, dx)), 0, wide);
}
#endif
