// atan2: within 6 ulp, in all quadrants; zeros and infinities have their own angles.
// kernel: floats
// global: 23
// arg: buf:float:23=1, 1, -1, -1, 0.5, 3, -2, 1e-5, 1e20, 0.001, -5, 100, 2, -2, 0, 1, -1, inf, -inf,
//   inf, inf, -inf, -inf
// arg: buf:float:23=1, -1, 1, -1, 3, 0.5, 7, -1, 1e-20, 1000, 4, -0.25, 0, 0, -3, -inf, -inf, 5, 5,
//   inf, -inf, inf, -inf
// arg: buf:float:23
// expect: 0.7853982, 2.3561945, -0.7853982, -2.3561945, 0.16514868, 1.4056476, -0.27829966,
//   3.1415827, 1.5707964, 1e-6, -0.8960554, 1.5732963, 1.5707964, -1.5707964, 3.1415927, 3.1415927,
//   -3.1415927, 1.5707964, -1.5707964, 0.7853982, 2.3561945, -0.7853982, -2.3561945 ulp 6
// kernel: floats
// global: 8
// arg: buf:float:8=0, -0, 0, -0, 3, -3, nan, 1
// arg: buf:float:8=0, 0, 2, 2, inf, inf, 1, nan
// arg: buf:float:8
// expect: 0, -0, 0, -0, 0, -0, nan, nan
// kernel: doubles
// needs: f64
// global: 23
// arg: buf:double:23=1, 1, -1, -1, 0.5, 3, -2, 1e-5, 1e20, 0.001, -5, 100, 2, -2, 0, 1, -1, inf,
//   -inf, inf, inf, -inf, -inf
// arg: buf:double:23=1, -1, 1, -1, 3, 0.5, 7, -1, 1e-20, 1000, 4, -0.25, 0, 0, -3, -inf, -inf, 5, 5,
//   inf, -inf, inf, -inf
// arg: buf:double:23
// expect: 0.7853981633974483, 2.356194490192345, -0.7853981633974483, -2.356194490192345,
//   0.16514867741462683, 1.4056476493802699, -0.27829965900511133, 3.1415826535897935,
//   1.5707963267948966, 9.999999999996666e-7, -0.8960553845713439, 1.5732963215865827,
//   1.5707963267948966, -1.5707963267948966, 3.141592653589793, 3.141592653589793,
//   -3.141592653589793, 1.5707963267948966, -1.5707963267948966, 0.7853981633974483,
//   2.356194490192345, -0.7853981633974483, -2.356194490192345 ulp 6
// kernel: doubles
// needs: f64
// global: 8
// arg: buf:double:8=0, -0, 0, -0, 3, -3, nan, 1
// arg: buf:double:8=0, 0, 2, 2, inf, inf, 1, nan
// arg: buf:double:8
// expect: 0, -0, 0, -0, 0, -0, nan, nan
// kernel: vectors
// needs: f64
// arg: buf:float:4=1, 1, -1, -1
// arg: buf:float:4=1, -1, 1, -1
// arg: buf:float:9
// expect: 0.7853982, 2.3561945, 0.7853982, 2.3561945, -0.7853982, 0.7853982, 2.3561945, -0.7853982,
//   -2.3561945 ulp 6
// arg: buf:double:2=1, 1
// arg: buf:double:2=1, -1
// arg: buf:double:2
// expect: 0.7853981633974483, 2.356194490192345 ulp 6
kernel void floats(global const float *x, global const float *y, global float *out) {
    size_t i = get_global_id(0);
    out[i] = atan2(x[i], y[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global const double *y, global double *out) {
    size_t i = get_global_id(0);
    out[i] = atan2(x[i], y[i]);
}

kernel void vectors(global const float *x, global const float *y, global float *out,
                    global const double *dx, global const double *dy, global double *wide) {
    vstore2(atan2(vload2(0, x), vload2(0, y)), 0, out);
    vstore3(atan2(vload3(0, x), vload3(0, y)), 0, out + 2);
    vstore4(atan2(vload4(0, x), vload4(0, y)), 0, out + 5);
    vstore2(atan2(vload2(0, dx), vload2(0, dy)), 0, wide);
}
#endif
