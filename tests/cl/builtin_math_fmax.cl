// fmax: a number beats NaN.
// kernel: floats
// global: 16
// arg: buf:float:16=1, -1, 3.5, -2, 0.1, 1e10, -7.5, 100, 0.25, -0.25, 6, -8, 12, 1.5, -100000, 2.5
// arg: buf:float:16=2, 2, -1.25, -3, 0.1, -1e-10, 7.5, 99, 0.5, 5, 6.5, -9, 1, 1.5, 3, -1e20
// arg: buf:float:16
// expect: 2, 2, 3.5, -2, 0.1, 1e10, 7.5, 100, 0.5, 5, 6.5, -8, 12, 1.5, 3, 2.5
// kernel: floats
// global: 6
// arg: buf:float:6=nan, 1, nan, inf, -inf, 1e-45
// arg: buf:float:6=1, nan, nan, 1, 1, 0
// arg: buf:float:6
// expect: 1, 1, nan, inf, 1, 1e-45
// kernel: doubles
// needs: f64
// global: 16
// arg: buf:double:16=1, -1, 3.5, -2, 0.1, 10000000000.0, -7.5, 100, 0.25, -0.25, 6, -8, 12, 1.5,
//   -100000, 2.5
// arg: buf:double:16=2, 2, -1.25, -3, 0.1, -1e-10, 7.5, 99, 0.5, 5, 6.5, -9, 1, 1.5, 3, -1e20
// arg: buf:double:16
// expect: 2, 2, 3.5, -2, 0.1, 10000000000.0, 7.5, 100, 0.5, 5, 6.5, -8, 12, 1.5, 3, 2.5
// kernel: doubles
// needs: f64
// global: 6
// arg: buf:double:6=nan, 1, nan, inf, -inf, 5e-324
// arg: buf:double:6=1, nan, nan, 1, 1, 0
// arg: buf:double:6
// expect: 1, 1, nan, inf, 1, 5e-324
// kernel: vectors
// needs: f64
// arg: buf:float:16=1, -1, 3.5, -2, 0.1, 1e10, -7.5, 100, 0.25, -0.25, 6, -8, 12, 1.5, -100000, 2.5
// arg: buf:float:16=2, 2, -1.25, -3, 0.1, -1e-10, 7.5, 99, 0.5, 5, 6.5, -9, 1, 1.5, 3, -1e20
// arg: buf:float:33
// expect: 2, 2, 2, 2, 3.5, 2, 2, 3.5, -2, 2, 2, 3.5, -2, 0.1, 1e10, 7.5, 100, 2, 2, 3.5, -2, 0.1,
//   1e10, 7.5, 100, 0.5, 5, 6.5, -8, 12, 1.5, 3, 2.5
// arg: buf:double:16=1, -1, 3.5, -2, 0.1, 10000000000.0, -7.5, 100, 0.25, -0.25, 6, -8, 12, 1.5,
//   -100000, 2.5
// arg: buf:double:16=2, 2, -1.25, -3, 0.1, -1e-10, 7.5, 99, 0.5, 5, 6.5, -9, 1, 1.5, 3, -1e20
// arg: buf:double:33
// expect: 2, 2, 2, 2, 3.5, 2, 2, 3.5, -2, 2, 2, 3.5, -2, 0.1, 10000000000.0, 7.5, 100, 2, 2, 3.5, -2,
//   0.1, 10000000000.0, 7.5, 100, 0.5, 5, 6.5, -8, 12, 1.5, 3, 2.5
kernel void floats(global const float *x, global const float *y, global float *out) {
    size_t i = get_global_id(0);
    out[i] = fmax(x[i], y[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global const double *y, global double *out) {
    size_t i = get_global_id(0);
    out[i] = fmax(x[i], y[i]);
}

kernel void vectors(global const float *x, global const float *y, global float *out,
                    global const double *dx, global const double *dy, global double *wide) {
    vstore2(fmax(vload2(0, x), vload2(0, y)), 0, out);
    vstore3(fmax(vload3(0, x), vload3(0, y)), 0, out + 2);
    vstore4(fmax(vload4(0, x), vload4(0, y)), 0, out + 5);
    vstore8(fmax(vload8(0, x), vload8(0, y)), 0, out + 9);
    vstore16(fmax(vload16(0, x), vload16(0, y)), 0, out + 17);
    vstore2(fmax(vload2(0, dx), vload2(0, dy)), 0, wide);
    vstore3(fmax(vload3(0, dx), vload3(0, dy)), 0, wide + 2);
    vstore4(fmax(vload4(0, dx), vload4(0, dy)), 0, wide + 5);
    vstore8(fmax(vload8(0, dx), vload8(0, dy)), 0, wide + 9);
    vstore16(fmax(vload16(0, dx), vload16(0, dy)), 0, wide + 17);
}
#endif
