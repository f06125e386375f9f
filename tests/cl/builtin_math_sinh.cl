// sinh: within 4 ulp, up to overflow.
// kernel: floats
// global: 19
// arg: buf:float:19=0.1, -0.5, 1, -1.5, 2.75, -3, 4.25, 5, 0.001, -1e-8, 0.75, -0.25, 6.5, 0.0625,
//   -0.9, 2, 20, -50, 88
// arg: buf:float:19
// expect: 0.10016675, -0.5210953, 1.1752012, -2.1292794, 7.789352, -10.017875, 35.045574, 74.20321,
//   0.0010000002, -1e-8, 0.8223167, -0.25261232, 332.57007, 0.062540695, -1.0265167, 3.6268604,
//   2.425826e8, -2.5923527e21, 8.2581813e37 ulp 4
// kernel: floats
// global: 9
// arg: buf:float:9=0, -0, inf, -inf, 1000, -1000, nan, 1e-45, -1e-45
// arg: buf:float:9
// expect: 0, -0, inf, -inf, inf, -inf, nan, 1e-45, -1e-45
// kernel: doubles
// needs: f64
// global: 21
// arg: buf:double:21=0.1, -0.5, 1, -1.5, 2.75, -3, 4.25, 5, 0.001, -1e-8, 0.75, -0.25, 6.5, 0.0625,
//   -0.9, 2, 20, -50, 88, 500, -709
// arg: buf:double:21
// expect: 0.10016675001984403, -0.5210953054937474, 1.1752011936438014, -2.1292794550948173,
//   7.789352011490732, -10.017874927409903, 35.04557405638943, 74.20321057778875,
//   0.001000000166666675, -1e-8, 0.82231673193583, -0.2526123168081683, 332.57006480258445,
//   0.06254069805219183, -1.0265167257081753, 3.6268604078470186, 242582597.70489514,
//   -2.592352764293536e21, 8.258181274970009e37, 7.017961089264188e216, -4.109203730777486e307 ulp 4
// kernel: doubles
// needs: f64
// global: 9
// arg: buf:double:9=0, -0, inf, -inf, 1000, -1000, nan, 5e-324, -5e-324
// arg: buf:double:9
// expect: 0, -0, inf, -inf, inf, -inf, nan, 5e-324, -5e-324
// kernel: vectors
// needs: f64
// arg: buf:float:4=0.1, -0.5, 1, -1.5
// arg: buf:float:9
// expect: 0.10016675, -0.5210953, 0.10016675, -0.5210953, 1.1752012, 0.10016675, -0.5210953,
//   1.1752012, -2.1292794 ulp 4
// arg: buf:double:2=0.1, -0.5
// arg: buf:double:2
// expect: 0.10016675001984403, -0.5210953054937474 ulp 4
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = sinh(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = sinh(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(sinh(vload2(0, x)), 0, out);
    vstore3(sinh(vload3(0, x)), 0, out + 2);
    vstore4(sinh(vload4(0, x)), 0, out + 5);
    vstore2(sinh(vload2(0, dx)), 0, wide);
}
#endif
