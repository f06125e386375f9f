// log1p: log(1 + x) within 2 ulp, near zero too.
// kernel: floats
// global: 20
// arg: buf:float:20=0.1, 0.5, 1, 1.5, 2.75, 10, 100.25, 1000, 0.001, 1e-10, 0.75, 3.25, 7, 20, 0.9,
//   5.5, -0.5, -0.9999, -1e-6, 3.4028235e38
// arg: buf:float:20
// expect: 0.09531018, 0.4054651, 0.6931472, 0.91629076, 1.3217559, 2.3978953, 4.617593, 6.908755,
//   0.0009995004, 1e-10, 0.5596158, 1.446919, 2.0794415, 3.0445225, 0.64185387, 1.8718022,
//   -0.6931472, -9.210175, -1.0000005e-6, 88.72284 ulp 2
// kernel: floats
// global: 9
// arg: buf:float:9=0, -0, -1, -2, inf, -inf, nan, 1e-45, -1e-45
// arg: buf:float:9
// expect: 0, -0, -inf, nan, inf, nan, nan, 1e-45, -1e-45
// kernel: doubles
// needs: f64
// global: 20
// arg: buf:double:20=0.1, 0.5, 1, 1.5, 2.75, 10, 100.25, 1000, 0.001, 1e-10, 0.75, 3.25, 7, 20, 0.9,
//   5.5, -0.5, -0.9999, -1e-6, 1.7976931348623157e308
// arg: buf:double:20
// expect: 0.09531017980432487, 0.4054651081081644, 0.6931471805599453, 0.9162907318741551,
//   1.3217558399823195, 2.3978952727983707, 4.617592705986649, 6.90875477931522,
//   0.0009995003330835331, 9.999999999500001e-11, 0.5596157879354227, 1.4469189829363254,
//   2.0794415416798357, 3.044522437723423, 0.6418538861723948, 1.8718021769015913,
//   -0.6931471805599453, -9.210340371976294, -1.0000005000003334e-6, 709.782712893384 ulp 2
// kernel: doubles
// needs: f64
// global: 9
// arg: buf:double:9=0, -0, -1, -2, inf, -inf, nan, 5e-324, -5e-324
// arg: buf:double:9
// expect: 0, -0, -inf, nan, inf, nan, nan, 5e-324, -5e-324
// kernel: vectors
// needs: f64
// arg: buf:float:4=0.1, 0.5, 1, 1.5
// arg: buf:float:9
// expect: 0.09531018, 0.4054651, 0.09531018, 0.4054651, 0.6931472, 0.09531018, 0.4054651, 0.6931472,
//   0.91629076 ulp 2
// arg: buf:double:2=0.1, 0.5
// arg: buf:double:2
// expect: 0.09531017980432487, 0.4054651081081644 ulp 2
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = log1p(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = log1p(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(log1p(vload2(0, x)), 0, out);
    vstore3(log1p(vload3(0, x)), 0, out + 2);
    vstore4(log1p(vload4(0, x)), 0, out + 5);
    vstore2(log1p(vload2(0, dx)), 0, wide);
}
#endif
