// fabs: clears the sign.
// kernel: floats
// global: 16
// arg: buf:float:16=0.1, 0.5, 1, 1.5, 2.5, -2.5, 3.75, -3.75, 8388607.5, -8388607.5, 1e10, 2.9999,
//   -7, 4.25, 100.5, -101.5
// arg: buf:float:16
// expect: 0.1, 0.5, 1, 1.5, 2.5, 2.5, 3.75, 3.75, 8388607.5, 8388607.5, 1e10, 2.9999, 7, 4.25, 100.5,
//   101.5
// kernel: floats
// global: 5
// arg: buf:float:5=-0, -inf, nan, -1e-45, -3.4028235e38
// arg: buf:float:5
// expect: 0, inf, nan, 1e-45, 3.4028235e38
// kernel: doubles
// needs: f64
// global: 16
// arg: buf:double:16=0.1, 0.5, 1, 1.5, 2.5, -2.5, 3.75, -3.75, 8388607.5, -8388607.5, 10000000000.0,
//   2.9999, -7, 4.25, 100.5, -101.5
// arg: buf:double:16
// expect: 0.1, 0.5, 1, 1.5, 2.5, 2.5, 3.75, 3.75, 8388607.5, 8388607.5, 10000000000.0, 2.9999, 7,
//   4.25, 100.5, 101.5
// kernel: doubles
// needs: f64
// global: 5
// arg: buf:double:5=-0, -inf, nan, -5e-324, -1.7976931348623157e308
// arg: buf:double:5
// expect: 0, inf, nan, 5e-324, 1.7976931348623157e308
// kernel: vectors
// needs: f64
// arg: buf:float:16=0.1, 0.5, 1, 1.5, 2.5, -2.5, 3.75, -3.75, 8388607.5, -8388607.5, 1e10, 2.9999,
//   -7, 4.25, 100.5, -101.5
// arg: buf:float:33
// expect: 0.1, 0.5, 0.1, 0.5, 1, 0.1, 0.5, 1, 1.5, 0.1, 0.5, 1, 1.5, 2.5, 2.5, 3.75, 3.75, 0.1, 0.5,
//   1, 1.5, 2.5, 2.5, 3.75, 3.75, 8388607.5, 8388607.5, 1e10, 2.9999, 7, 4.25, 100.5, 101.5
// arg: buf:double:16=0.1, 0.5, 1, 1.5, 2.5, -2.5, 3.75, -3.75, 8388607.5, -8388607.5, 10000000000.0,
//   2.9999, -7, 4.25, 100.5, -101.5
// arg: buf:double:33
// expect: 0.1, 0.5, 0.1, 0.5, 1, 0.1, 0.5, 1, 1.5, 0.1, 0.5, 1, 1.5, 2.5, 2.5, 3.75, 3.75, 0.1, 0.5,
//   1, 1.5, 2.5, 2.5, 3.75, 3.75, 8388607.5, 8388607.5, 10000000000.0, 2.9999, 7, 4.25, 100.5, 101.5
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = fabs(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = fabs(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(fabs(vload2(0, x)), 0, out);
    vstore3(fabs(vload3(0, x)), 0, out + 2);
    vstore4(fabs(vload4(0, x)), 0, out + 5);
    vstore8(fabs(vload8(0, x)), 0, out + 9);
    vstore16(fabs(vload16(0, x)), 0, out + 17);
    vstore2(fabs(vload2(0, dx)), 0, wide);
    vstore3(fabs(vload3(0, dx)), 0, wide + 2);
    vstore4(fabs(vload4(0, dx)), 0, wide + 5);
    vstore8(fabs(vload8(0, dx)), 0, wide + 9);
    vstore16(fabs(vload16(0, dx)), 0, wide + 17);
}
#endif
