// exp2: within 3 ulp, down to denormals.
// kernel: floats
// global: 19
// arg: buf:float:19=0.1, -0.5, 1, -1.5, 2.75, -3, 10, 20.5, 0.001, -1e-8, 0.75, -0.25, -20, 50, -80,
//   87, 127.5, -126.5, -140.25
// arg: buf:float:19
// expect: 1.0717734, 0.70710677, 2, 0.35355338, 6.7271714, 0.125, 1024, 1482910.4, 1.0006934, 1,
//   1.6817929, 0.8408964, 9.536743e-7, 1.1258999e15, 8.271806e-25, 1.54742505e26, 2.4061597e38,
//   8.312001e-39, 6.04e-43 ulp 3
// kernel: floats
// global: 10
// arg: buf:float:10=0, -0, inf, -inf, 2000, -2000, 3.4028235e38, -3.4028235e38, 1e-45, nan
// arg: buf:float:10
// expect: 1, 1, inf, 0, inf, 0, inf, 0, 1, nan
// kernel: doubles
// needs: f64
// global: 19
// arg: buf:double:19=0.1, -0.5, 1, -1.5, 2.75, -3, 10, 20.5, 0.001, -1e-8, 0.75, -0.25, -20, 50, -80,
//   87, 1023.5, -1022.5, -1070.25
// arg: buf:double:19
// expect: 1.0717734625362931, 0.7071067811865476, 2, 0.3535533905932738, 6.727171322029716, 0.125,
//   1024, 1482910.4003789306, 1.0006933874625807, 0.9999999930685283, 1.681792830507429,
//   0.8408964152537145, 9.5367431640625e-7, 1125899906842624.0, 8.271806125530277e-25,
//   1.5474250491067253e26, 1.2711610061536464e308, 1.5733648139913585e-308, 6.4e-323 ulp 3
// kernel: doubles
// needs: f64
// global: 10
// arg: buf:double:10=0, -0, inf, -inf, 2000, -2000, 1.7976931348623157e308, -1.7976931348623157e308,
//   5e-324, nan
// arg: buf:double:10
// expect: 1, 1, inf, 0, inf, 0, inf, 0, 1, nan
// kernel: vectors
// needs: f64
// arg: buf:float:4=0.1, -0.5, 1, -1.5
// arg: buf:float:9
// expect: 1.0717734, 0.70710677, 1.0717734, 0.70710677, 2, 1.0717734, 0.70710677, 2, 0.35355338 ulp 3
// arg: buf:double:2=0.1, -0.5
// arg: buf:double:2
// expect: 1.0717734625362931, 0.7071067811865476 ulp 3
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = exp2(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = exp2(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(exp2(vload2(0, x)), 0, out);
    vstore3(exp2(vload3(0, x)), 0, out + 2);
    vstore4(exp2(vload4(0, x)), 0, out + 5);
    vstore2(exp2(vload2(0, dx)), 0, wide);
}
#endif
