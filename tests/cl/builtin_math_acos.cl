// acos: within 4 ulp.
// kernel: floats
// global: 18
// arg: buf:float:18=0.1, -0.5, 0.99, -0.999, 0.25, 0.75, 0.001, -1e-8, 0.3, -0.7, 0.0625, 0.875,
//   -0.125, 0.4999, 0.6, -0.95, -1, 0
// arg: buf:float:18
// expect: 1.4706289, 2.0943952, 0.14153941, 3.0968678, 1.3181161, 0.7227343, 1.5697963, 1.5707964,
//   1.2661036, 2.3461938, 1.5082556, 0.5053605, 1.6961242, 1.047313, 0.9272952, 2.824032, 3.1415927,
//   1.5707964 ulp 4
// kernel: floats
// global: 5
// arg: buf:float:5=1, 1.5, -2, inf, nan
// arg: buf:float:5
// expect: 0, nan, nan, nan, nan
// kernel: doubles
// needs: f64
// global: 18
// arg: buf:double:18=0.1, -0.5, 0.99, -0.999, 0.25, 0.75, 0.001, -1e-8, 0.3, -0.7, 0.0625, 0.875,
//   -0.125, 0.4999, 0.6, -0.95, -1, 0
// arg: buf:double:18
// expect: 1.4706289056333368, 2.0943951023931957, 0.1415394733244273, 3.09686756642106,
//   1.318116071652818, 0.7227342478134157, 1.56979632662823, 1.5707963367948967, 1.2661036727794992,
//   2.3461938234056494, 1.5082555649984053, 0.5053605102841573, 1.696124157962962, 1.047313017401947,
//   0.9272952180016123, 2.824032224298272, 3.141592653589793, 1.5707963267948966 ulp 4
// kernel: doubles
// needs: f64
// global: 5
// arg: buf:double:5=1, 1.5, -2, inf, nan
// arg: buf:double:5
// expect: 0, nan, nan, nan, nan
// kernel: vectors
// needs: f64
// arg: buf:float:4=0.1, -0.5, 0.99, -0.999
// arg: buf:float:9
// expect: 1.4706289, 2.0943952, 1.4706289, 2.0943952, 0.14153941, 1.4706289, 2.0943952, 0.14153941,
//   3.0968678 ulp 4
// arg: buf:double:2=0.1, -0.5
// arg: buf:double:2
// expect: 1.4706289056333368, 2.0943951023931957 ulp 4
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = acos(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = acos(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(acos(vload2(0, x)), 0, out);
    vstore3(acos(vload3(0, x)), 0, out + 2);
    vstore4(acos(vload4(0, x)), 0, out + 5);
    vstore2(acos(vload2(0, dx)), 0, wide);
}
#endif
