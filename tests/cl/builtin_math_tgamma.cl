// tgamma: the gamma function within 16 ulp.
// kernel: floats
// global: 16
// arg: buf:float:16=0.1, 0.5, 1.5, 2.5, 3.25, 5, 7, 10.5, 20, 34, -0.5, -1.5, -2.25, -5.75, 1e-5,
//   -10.1
// arg: buf:float:16
// expect: 9.513508, 1.7724539, 0.88622695, 1.3293403, 2.549257, 24, 720, 1133278.4, 1.21645105e17,
//   8.683318e36, -3.5449078, 2.3632717, -1.7428149, 0.009807455, 99999.42, -2.2134063e-6 ulp 16
// kernel: floats
// global: 10
// arg: buf:float:10=1, 2, 0, -0, -1, -7, inf, -inf, 2000, nan
// arg: buf:float:10
// expect: 1, 1, inf, -inf, nan, nan, inf, nan, inf, nan
// kernel: doubles
// needs: f64
// global: 16
// arg: buf:double:16=0.1, 0.5, 1.5, 2.5, 3.25, 5, 7, 10.5, 20, 170, -0.5, -1.5, -2.25, -5.75, 1e-5,
//   -100.1
// arg: buf:double:16
// expect: 9.51350769866873, 1.772453850905516, 0.886226925452758, 1.329340388179137,
//   2.5492569667185294, 24, 720, 1133278.3889487856, 1.21645100408832e17, 4.269068009004705e304,
//   -3.544907701811032, 2.363271801207355, -1.7428148657282527, 0.009807455518953468,
//   99999.42279422555, -6.869505399212017e-158 ulp 16
// kernel: doubles
// needs: f64
// global: 10
// arg: buf:double:10=1, 2, 0, -0, -1, -7, inf, -inf, 2000, nan
// arg: buf:double:10
// expect: 1, 1, inf, -inf, nan, nan, inf, nan, inf, nan
// kernel: vectors
// needs: f64
// arg: buf:float:4=0.1, 0.5, 1.5, 2.5
// arg: buf:float:9
// expect: 9.513508, 1.7724539, 9.513508, 1.7724539, 0.88622695, 9.513508, 1.7724539, 0.88622695,
//   1.3293403 ulp 16
// arg: buf:double:2=0.1, 0.5
// arg: buf:double:2
// expect: 9.51350769866873, 1.772453850905516 ulp 16
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = tgamma(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = tgamma(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(tgamma(vload2(0, x)), 0, out);
    vstore3(tgamma(vload3(0, x)), 0, out + 2);
    vstore4(tgamma(vload4(0, x)), 0, out + 5);
    vstore2(tgamma(vload2(0, dx)), 0, wide);
}
#endif
