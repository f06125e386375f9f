// rootn: the n-th root within 16 ulp.
// kernel: floats
// global: 12
// arg: buf:float:12=2, 27, -27, 10, 0.1, 1e20, -32, -32, 1e-20, 100, 5, 1.5
// arg: buf:int:12=2, 3, 3, -2, 5, 10, 5, -5, 7, 100, 1, -3
// arg: buf:float:12
// expect: 1.4142135, 3, -3, 0.31622776, 0.63095737, 100, -2, -0.5, 0.0013894954, 1.0471286, 5,
//   0.87358046 ulp 16
// kernel: floats
// global: 12
// arg: buf:float:12=0, -0, -0, 0, -0, -0, -4, 4, nan, inf, inf, -inf
// arg: buf:int:12=-3, -3, -2, 2, 2, 3, 2, 0, 3, 2, -2, 3
// arg: buf:float:12
// expect: inf, -inf, inf, 0, 0, -0, nan, nan, nan, inf, 0, -inf
// kernel: doubles
// needs: f64
// global: 12
// arg: buf:double:12=2, 27, -27, 10, 0.1, 1e20, -32, -32, 1e-20, 100, 5, 1.5
// arg: buf:int:12=2, 3, 3, -2, 5, 10, 5, -5, 7, 100, 1, -3
// arg: buf:double:12
// expect: 1.4142135623730951, 3, -3, 0.31622776601683794, 0.6309573444801932, 100, -2, -0.5,
//   0.0013894954943731376, 1.0471285480508996, 5, 0.8735804647362989 ulp 16
// kernel: doubles
// needs: f64
// global: 12
// arg: buf:double:12=0, -0, -0, 0, -0, -0, -4, 4, nan, inf, inf, -inf
// arg: buf:int:12=-3, -3, -2, 2, 2, 3, 2, 0, 3, 2, -2, 3
// arg: buf:double:12
// expect: inf, -inf, inf, 0, 0, -0, nan, nan, nan, inf, 0, -inf
// kernel: vectors
// needs: f64
// arg: buf:float:4=2, 27, -27, 10
// arg: buf:int:4=2, 3, 3, -2
// arg: buf:float:9
// expect: 1.4142135, 3, 1.4142135, 3, -3, 1.4142135, 3, -3, 0.31622776 ulp 16
// arg: buf:double:2=2, 27
// arg: buf:int:2=2, 3
// arg: buf:double:2
// expect: 1.4142135623730951, 3 ulp 16
kernel void floats(global const float *x, global const int *y, global float *out) {
    size_t i = get_global_id(0);
    out[i] = rootn(x[i], y[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global const int *y, global double *out) {
    size_t i = get_global_id(0);
    out[i] = rootn(x[i], y[i]);
}

kernel void vectors(global const float *x, global const int *y, global float *out,
                    global const double *dx, global const int *ey, global double *wide) {
    vstore2(rootn(vload2(0, x), vload2(0, y)), 0, out);
    vstore3(rootn(vload3(0, x), vload3(0, y)), 0, out + 2);
    vstore4(rootn(vload4(0, x), vload4(0, y)), 0, out + 5);
    vstore2(rootn(vload2(0, dx), vload2(0, ey)), 0, wide);
}
#endif
