// atan2pi: atan2(y, x) / pi within 6 ulp; zeros and infinities give exact fractions.
// kernel: floats
// global: 12
// arg: buf:float:12=1, 1, -1, -1, 0.5, 3, -2, 1e-5, 1e20, 0.001, -5, 100
// arg: buf:float:12=1, -1, 1, -1, 3, 0.5, 7, -1, 1e-20, 1000, 4, -0.25
// arg: buf:float:12
// expect: 0.25, 0.75, -0.25, -0.75, 0.052568458, 0.44743153, -0.08858553, 0.99999684, 0.5,
//   3.183099e-7, -0.28522328, 0.5007958 ulp 6
// kernel: floats
// global: 22
// arg: buf:float:22=0, -0, 0, -0, 0, -0, 0, -0, 3, -3, 1, -1, 1, -1, inf, -inf, inf, inf, -inf, -inf,
//   nan, 1
// arg: buf:float:22=0, 0, -0, -0, -2, -2, 2, 2, 0, -0, -inf, -inf, inf, inf, 2, 2, inf, -inf, inf,
//   -inf, 1, nan
// arg: buf:float:22
// expect: 0, -0, 1, -1, 1, -1, 0, -0, 0.5, -0.5, 1, -1, 0, -0, 0.5, -0.5, 0.25, 0.75, -0.25, -0.75,
//   nan, nan
// kernel: doubles
// needs: f64
// global: 12
// arg: buf:double:12=1, 1, -1, -1, 0.5, 3, -2, 1e-5, 1e20, 0.001, -5, 100
// arg: buf:double:12=1, -1, 1, -1, 3, 0.5, 7, -1, 1e-20, 1000, 4, -0.25
// arg: buf:double:12
// expect: 0.25, 0.75, -0.25, -0.75, 0.05256845671125343, 0.44743154328874657, -0.08858553278290475,
//   0.9999968169011383, 0.5, 3.1830988618368455e-7, -0.28522328747727727, 0.5007957730576017 ulp 6
// kernel: doubles
// needs: f64
// global: 22
// arg: buf:double:22=0, -0, 0, -0, 0, -0, 0, -0, 3, -3, 1, -1, 1, -1, inf, -inf, inf, inf, -inf,
//   -inf, nan, 1
// arg: buf:double:22=0, 0, -0, -0, -2, -2, 2, 2, 0, -0, -inf, -inf, inf, inf, 2, 2, inf, -inf, inf,
//   -inf, 1, nan
// arg: buf:double:22
// expect: 0, -0, 1, -1, 1, -1, 0, -0, 0.5, -0.5, 1, -1, 0, -0, 0.5, -0.5, 0.25, 0.75, -0.25, -0.75,
//   nan, nan
// kernel: vectors
// needs: f64
// arg: buf:float:4=1, 1, -1, -1
// arg: buf:float:4=1, -1, 1, -1
// arg: buf:float:9
// expect: 0.25, 0.75, 0.25, 0.75, -0.25, 0.25, 0.75, -0.25, -0.75 ulp 6
// arg: buf:double:2=1, 1
// arg: buf:double:2=1, -1
// arg: buf:double:2
// expect: 0.25, 0.75 ulp 6
kernel void floats(global const float *x, global const float *y, global float *out) {
    size_t i = get_global_id(0);
    out[i] = atan2pi(x[i], y[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global const double *y, global double *out) {
    size_t i = get_global_id(0);
    out[i] = atan2pi(x[i], y[i]);
}

kernel void vectors(global const float *x, global const float *y, global float *out,
                    global const double *dx, global const double *dy, global double *wide) {
    vstore2(atan2pi(vload2(0, x), vload2(0, y)), 0, out);
    vstore3(atan2pi(vload3(0, x), vload3(0, y)), 0, out + 2);
    vstore4(atan2pi(vload4(0, x), vload4(0, y)), 0, out + 5);
    vstore2(atan2pi(vload2(0, dx), vload2(0, dy)), 0, wide);
}
#endif
