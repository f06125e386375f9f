// ceil: rounds up; a negative fraction gives -0.
// kernel: floats
// global: 16
// arg: buf:float:16=0.1, 0.5, 1, 1.5, 2.5, -2.5, 3.75, -3.75, 8388607.5, -8388607.5, 1e10, 2.9999,
//   -7, 4.25, 100.5, -101.5
// arg: buf:float:16
// expect: 1, 1, 1, 2, 3, -2, 4, -3, 8388608, -8388607, 1e10, 3, -7, 5, 101, -101
// kernel: floats
// global: 10
// arg: buf:float:10=0, -0, inf, -inf, nan, 3.4028235e38, -3.4028235e38, -0.5, -1e-45, 1e-45
// arg: buf:float:10
// expect: 0, -0, inf, -inf, nan, 3.4028235e38, -3.4028235e38, -0, -0, 1
// kernel: doubles
// needs: f64
// global: 16
// arg: buf:double:16=0.1, 0.5, 1, 1.5, 2.5, -2.5, 3.75, -3.75, 8388607.5, -8388607.5, 10000000000.0,
//   2.9999, -7, 4.25, 100.5, -101.5
// arg: buf:double:16
// expect: 1, 1, 1, 2, 3, -2, 4, -3, 8388608, -8388607, 10000000000.0, 3, -7, 5, 101, -101
// kernel: doubles
// needs: f64
// global: 10
// arg: buf:double:10=0, -0, inf, -inf, nan, 1.7976931348623157e308, -1.7976931348623157e308, -0.5,
//   -5e-324, 5e-324
// arg: buf:double:10
// expect: 0, -0, inf, -inf, nan, 1.7976931348623157e308, -1.7976931348623157e308, -0, -0, 1
// kernel: vectors
// needs: f64
// arg: buf:float:16=0.1, 0.5, 1, 1.5, 2.5, -2.5, 3.75, -3.75, 8388607.5, -8388607.5, 1e10, 2.9999,
//   -7, 4.25, 100.5, -101.5
// arg: buf:float:33
// expect: 1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 2, 3, -2, 4, -3, 1, 1, 1, 2, 3, -2, 4, -3, 8388608,
//   -8388607, 1e10, 3, -7, 5, 101, -101
// arg: buf:double:16=0.1, 0.5, 1, 1.5, 2.5, -2.5, 3.75, -3.75, 8388607.5, -8388607.5, 10000000000.0,
//   2.9999, -7, 4.25, 100.5, -101.5
// arg: buf:double:33
// expect: 1, 1, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1, 2, 3, -2, 4, -3, 1, 1, 1, 2, 3, -2, 4, -3, 8388608,
//   -8388607, 10000000000.0, 3, -7, 5, 101, -101
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = ceil(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = ceil(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(ceil(vload2(0, x)), 0, out);
    vstore3(ceil(vload3(0, x)), 0, out + 2);
    vstore4(ceil(vload4(0, x)), 0, out + 5);
    vstore8(ceil(vload8(0, x)), 0, out + 9);
    vstore16(ceil(vload16(0, x)), 0, out + 17);
    vstore2(ceil(vload2(0, dx)), 0, wide);
    vstore3(ceil(vload3(0, dx)), 0, wide + 2);
    vstore4(ceil(vload4(0, dx)), 0, wide + 5);
    vstore8(ceil(vload8(0, dx)), 0, wide + 9);
    vstore16(ceil(vload16(0, dx)), 0, wide + 17);
}
#endif
