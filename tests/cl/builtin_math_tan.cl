// tan: within 5 ulp, large angles too.
// kernel: floats
// global: 16
// arg: buf:float:16=0.1, -0.5, 1, 3, -3.1415927, 1.5707964, 10, 100.5, -1000, 12345.678, 1000000,
//   1e10, -1e20, 1e30, 1e-5, 0.7853982
// arg: buf:float:16
// expect: 0.100334674, -0.5463025, 1.5574077, -0.14254655, -8.742278e-8, -22877332, 0.64836085,
//   -0.030974815, -1.4703242, -0.992024, -0.37362444, -0.5583496, -0.870492, 1.2935861, 1e-5, 1 ulp 5
// kernel: floats
// global: 7
// arg: buf:float:7=0, -0, inf, -inf, nan, 1e-45, -1e-45
// arg: buf:float:7
// expect: 0, -0, nan, nan, nan, 1e-45, -1e-45
// kernel: doubles
// needs: f64
// global: 16
// arg: buf:double:16=0.1, -0.5, 1, 3, -3.141592653589793, 1.5707963267948966, 10, 100.5, -1000,
//   12345.678, 1000000, 1e22, -1e100, 1e300, 1e-5, 0.7853981633974483
// arg: buf:double:16
// expect: 0.10033467208545055, -0.5463024898437905, 1.5574077246549023, -0.1425465430742778,
//   1.2246467991473532e-16, 1.633123935319537e16, 0.6483608274590866, -0.030974815325197236,
//   -1.4703241557027185, -0.9914971407432149, -0.373624453987599, -1.6287782256068988,
//   0.4116229628832498, 1.4214488238747245, 1.0000000000333334e-5, 0.9999999999999999 ulp 5
// kernel: doubles
// needs: f64
// global: 7
// arg: buf:double:7=0, -0, inf, -inf, nan, 5e-324, -5e-324
// arg: buf:double:7
// expect: 0, -0, nan, nan, nan, 5e-324, -5e-324
// kernel: vectors
// needs: f64
// arg: buf:float:4=0.1, -0.5, 1, 3
// arg: buf:float:9
// expect: 0.100334674, -0.5463025, 0.100334674, -0.5463025, 1.5574077, 0.100334674, -0.5463025,
//   1.5574077, -0.14254655 ulp 5
// arg: buf:double:2=0.1, -0.5
// arg: buf:double:2
// expect: 0.10033467208545055, -0.5463024898437905 ulp 5
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = tan(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = tan(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(tan(vload2(0, x)), 0, out);
    vstore3(tan(vload3(0, x)), 0, out + 2);
    vstore4(tan(vload4(0, x)), 0, out + 5);
    vstore2(tan(vload2(0, dx)), 0, wide);
}
#endif
