// erf: within 16 ulp.
// kernel: floats
// global: 16
// arg: buf:float:16=0.1, -0.5, 1, -1.5, 2.75, -3, 4.25, 5, 0.001, -1e-8, 0.75, -0.25, 6.5, 0.0625,
//   -0.9, 2
// arg: buf:float:16
// expect: 0.112462915, -0.5204999, 0.8427008, -0.96610516, 0.9998994, -0.9999779, 1, 1, 0.0011283788,
//   -1.1283792e-8, 0.71115565, -0.2763264, 1, 0.07043198, -0.7969082, 0.9953223 ulp 16
// kernel: floats
// global: 7
// arg: buf:float:7=0, -0, inf, -inf, 10, -10, nan
// arg: buf:float:7
// expect: 0, -0, 1, -1, 1, -1, nan
// kernel: doubles
// needs: f64
// global: 16
// arg: buf:double:16=0.1, -0.5, 1, -1.5, 2.75, -3, 4.25, 5, 0.001, -1e-8, 0.75, -0.25, 6.5, 0.0625,
//   -0.9, 2
// arg: buf:double:16
// expect: 0.1124629160182849, -0.5204998778130465, 0.8427007929497149, -0.9661051464753108,
//   0.9998993780778803, -0.9999779095030014, 0.9999999981494259, 0.9999999999984626,
//   0.0011283787909692365, -1.1283791670955126e-8, 0.7111556336535151, -0.27632639016823696, 1,
//   0.07043197772238707, -0.7969082124228322, 0.9953222650189527 ulp 16
// kernel: doubles
// needs: f64
// global: 7
// arg: buf:double:7=0, -0, inf, -inf, 10, -10, nan
// arg: buf:double:7
// expect: 0, -0, 1, -1, 1, -1, nan
// kernel: vectors
// needs: f64
// arg: buf:float:4=0.1, -0.5, 1, -1.5
// arg: buf:float:9
// expect: 0.112462915, -0.5204999, 0.112462915, -0.5204999, 0.8427008, 0.112462915, -0.5204999,
//   0.8427008, -0.96610516 ulp 16
// arg: buf:double:2=0.1, -0.5
// arg: buf:double:2
// expect: 0.1124629160182849, -0.5204998778130465 ulp 16
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = erf(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = erf(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(erf(vload2(0, x)), 0, out);
    vstore3(erf(vload3(0, x)), 0, out + 2);
    vstore4(erf(vload4(0, x)), 0, out + 5);
    vstore2(erf(vload2(0, dx)), 0, wide);
}
#endif
