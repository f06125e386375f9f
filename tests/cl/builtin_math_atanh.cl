// atanh: within 5 ulp; the poles are at 1 and -1.
// kernel: floats
// global: 16
// arg: buf:float:16=0.1, -0.5, 0.99, -0.999, 0.25, 0.75, 0.001, -1e-8, 0.3, -0.7, 0.0625, 0.875,
//   -0.125, 0.4999, 0.6, -0.95
// arg: buf:float:16
// expect: 0.10033535, -0.54930615, 2.646653, -3.8002076, 0.25541282, 0.97295505, 0.0010000004, -1e-8,
//   0.30951962, -0.8673005, 0.06258157, 1.3540251, -0.12565722, 0.5491728, 0.69314724, -1.8317807 ulp 5
// kernel: floats
// global: 9
// arg: buf:float:9=0, -0, 1, -1, 1.5, -inf, nan, 1e-45, -1e-45
// arg: buf:float:9
// expect: 0, -0, inf, -inf, nan, nan, nan, 1e-45, -1e-45
// kernel: doubles
// needs: f64
// global: 16
// arg: buf:double:16=0.1, -0.5, 0.99, -0.999, 0.25, 0.75, 0.001, -1e-8, 0.3, -0.7, 0.0625, 0.875,
//   -0.125, 0.4999, 0.6, -0.95
// arg: buf:double:16
// expect: 0.10033534773107558, -0.5493061443340549, 2.6466524123622457, -3.8002011672501994,
//   0.25541281188299536, 0.9729550745276566, 0.0010000003333335333, -1e-8, 0.3095196042031117,
//   -0.8673005276940531, 0.06258157147700301, 1.354025100551105, -0.12565721414045303,
//   0.5491728198882279, 0.6931471805599453, -1.8317808230648227 ulp 5
// kernel: doubles
// needs: f64
// global: 9
// arg: buf:double:9=0, -0, 1, -1, 1.5, -inf, nan, 5e-324, -5e-324
// arg: buf:double:9
// expect: 0, -0, inf, -inf, nan, nan, nan, 5e-324, -5e-324
// kernel: vectors
// needs: f64
// arg: buf:float:4=0.1, -0.5, 0.99, -0.999
// arg: buf:float:9
// expect: 0.10033535, -0.54930615, 0.10033535, -0.54930615, 2.646653, 0.10033535, -0.54930615,
//   2.646653, -3.8002076 ulp 5
// arg: buf:double:2=0.1, -0.5
// arg: buf:double:2
// expect: 0.10033534773107558, -0.5493061443340549 ulp 5
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = atanh(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = atanh(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(atanh(vload2(0, x)), 0, out);
    vstore3(atanh(vload3(0, x)), 0, out + 2);
    vstore4(atanh(vload4(0, x)), 0, out + 5);
    vstore2(atanh(vload2(0, dx)), 0, wide);
}
#endif
