// round: rounds to the nearest integer, ties away from zero.
// kernel: floats
// global: 16
// arg: buf:float:16=0.1, 0.5, 1, 1.5, 2.5, -2.5, 3.75, -3.75, 8388607.5, -8388607.5, 1e10, 2.9999,
//   -7, 4.25, 100.5, -101.5
// arg: buf:float:16
// expect: 0, 1, 1, 2, 3, -3, 4, -4, 8388608, -8388608, 1e10, 3, -7, 4, 101, -102
// kernel: floats
// global: 12
// arg: buf:float:12=0, -0, inf, -inf, nan, 3.4028235e38, -3.4028235e38, -0.25, 0.5, -0.5, 1e-45,
//   -1e-45
// arg: buf:float:12
// expect: 0, -0, inf, -inf, nan, 3.4028235e38, -3.4028235e38, -0, 1, -1, 0, -0
// kernel: doubles
// needs: f64
// global: 16
// arg: buf:double:16=0.1, 0.5, 1, 1.5, 2.5, -2.5, 3.75, -3.75, 8388607.5, -8388607.5, 10000000000.0,
//   2.9999, -7, 4.25, 100.5, -101.5
// arg: buf:double:16
// expect: 0, 1, 1, 2, 3, -3, 4, -4, 8388608, -8388608, 10000000000.0, 3, -7, 4, 101, -102
// kernel: doubles
// needs: f64
// global: 12
// arg: buf:double:12=0, -0, inf, -inf, nan, 1.7976931348623157e308, -1.7976931348623157e308, -0.25,
//   0.5, -0.5, 5e-324, -5e-324
// arg: buf:double:12
// expect: 0, -0, inf, -inf, nan, 1.7976931348623157e308, -1.7976931348623157e308, -0, 1, -1, 0, -0
// kernel: vectors
// needs: f64
// arg: buf:float:16=0.1, 0.5, 1, 1.5, 2.5, -2.5, 3.75, -3.75, 8388607.5, -8388607.5, 1e10, 2.9999,
//   -7, 4.25, 100.5, -101.5
// arg: buf:float:33
// expect: 0, 1, 0, 1, 1, 0, 1, 1, 2, 0, 1, 1, 2, 3, -3, 4, -4, 0, 1, 1, 2, 3, -3, 4, -4, 8388608,
//   -8388608, 1e10, 3, -7, 4, 101, -102
// arg: buf:double:16=0.1, 0.5, 1, 1.5, 2.5, -2.5, 3.75, -3.75, 8388607.5, -8388607.5, 10000000000.0,
//   2.9999, -7, 4.25, 100.5, -101.5
// arg: buf:double:33
// expect: 0, 1, 0, 1, 1, 0, 1, 1, 2, 0, 1, 1, 2, 3, -3, 4, -4, 0, 1, 1, 2, 3, -3, 4, -4, 8388608,
//   -8388608, 10000000000.0, 3, -7, 4, 101, -102
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = round(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = round(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(round(vload2(0, x)), 0, out);
    vstore3(round(vload3(0, x)), 0, out + 2);
    vstore4(round(vload4(0, x)), 0, out + 5);
    vstore8(round(vload8(0, x)), 0, out + 9);
    vstore16(round(vload16(0, x)), 0, out + 17);
    vstore2(round(vload2(0, dx)), 0, wide);
    vstore3(round(vload3(0, dx)), 0, wide + 2);
    vstore4(round(vload4(0, dx)), 0, wide + 5);
    vstore8(round(vload8(0, dx)), 0, wide + 9);
    vstore16(round(vload16(0, dx)), 0, wide + 17);
}
#endif
