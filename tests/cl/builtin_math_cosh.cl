// cosh: within 4 ulp, up to overflow.
// kernel: floats
// global: 19
// arg: buf:float:19=0.1, -0.5, 1, -1.5, 2.75, -3, 4.25, 5, 0.001, -1e-8, 0.75, -0.25, 6.5, 0.0625,
//   -0.9, 2, 20, -50, 88
// arg: buf:float:19
// expect: 1.0050042, 1.127626, 1.5430807, 2.3524096, 7.85328, 10.067662, 35.059837, 74.209946,
//   1.0000005, 1, 1.2946833, 1.0314131, 332.57156, 1.0019537, 1.4330864, 3.7621956, 2.425826e8,
//   2.5923527e21, 8.2581813e37 ulp 4
// kernel: floats
// global: 7
// arg: buf:float:7=0, -0, inf, -inf, 1000, -1000, nan
// arg: buf:float:7
// expect: 1, 1, inf, inf, inf, inf, nan
// kernel: doubles
// needs: f64
// global: 21
// arg: buf:double:21=0.1, -0.5, 1, -1.5, 2.75, -3, 4.25, 5, 0.001, -1e-8, 0.75, -0.25, 6.5, 0.0625,
//   -0.9, 2, 20, -50, 88, 500, -709
// arg: buf:double:21
// expect: 1.0050041680558035, 1.1276259652063807, 1.5430806348152437, 2.352409615243247,
//   7.853279872697439, 10.067661995777765, 35.05983829029843, 74.20994852478785, 1.0000005000000416,
//   1, 1.2946832846768448, 1.0314130998795732, 332.5715682417774, 1.0019537608656677,
//   1.4330863854487743, 3.7621956910836314, 242582597.70489514, 2.592352764293536e21,
//   8.258181274970009e37, 7.017961089264188e216, 4.109203730777486e307 ulp 4
// kernel: doubles
// needs: f64
// global: 7
// arg: buf:double:7=0, -0, inf, -inf, 1000, -1000, nan
// arg: buf:double:7
// expect: 1, 1, inf, inf, inf, inf, nan
// kernel: vectors
// needs: f64
// arg: buf:float:4=0.1, -0.5, 1, -1.5
// arg: buf:float:9
// expect: 1.0050042, 1.127626, 1.0050042, 1.127626, 1.5430807, 1.0050042, 1.127626, 1.5430807,
//   2.3524096 ulp 4
// arg: buf:double:2=0.1, -0.5
// arg: buf:double:2
// expect: 1.0050041680558035, 1.1276259652063807 ulp 4
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = cosh(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = cosh(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(cosh(vload2(0, x)), 0, out);
    vstore3(cosh(vload3(0, x)), 0, out + 2);
    vstore4(cosh(vload4(0, x)), 0, out + 5);
    vstore2(cosh(vload2(0, dx)), 0, wide);
}
#endif
