// sinpi: sin(pi x) within 4 ulp; zero at integers, with the sign of x.
// kernel: floats
// global: 16
// arg: buf:float:16=0.1, -0.25, 0.3, 1.1, -1.75, 2.3, 10.125, 100.4, -1000.2, 0.49, 1e-5, 3.75, 0.7,
//   -0.9, 12345.25, 4.0625
// arg: buf:float:16
// expect: 0.309017, -0.70710677, 0.809017, -0.30901706, 0.70710677, 0.8090169, 0.38268343, 0.951058,
//   -0.5878163, 0.99950653, 3.1415926e-5, -0.70710677, 0.809017, -0.30901706, -0.70710677, 0.19509032 ulp 4
// kernel: floats
// global: 14
// arg: buf:float:14=0, -0, 1, -1, 2, -2, 0.5, -0.5, 1.5, 1e20, -1e20, inf, -inf, nan
// arg: buf:float:14
// expect: 0, -0, 0, -0, 0, -0, 1, -1, -1, 0, -0, nan, nan, nan
// kernel: doubles
// needs: f64
// global: 16
// arg: buf:double:16=0.1, -0.25, 0.3, 1.1, -1.75, 2.3, 10.125, 100.4, -1000.2, 0.49, 1e-5, 3.75, 0.7,
//   -0.9, 12345.25, 4.0625
// arg: buf:double:16
// expect: 0.30901699437494745, -0.7071067811865476, 0.8090169943749475, -0.3090169943749477,
//   0.7071067811865476, 0.8090169943749471, 0.3826834323650898, 0.9510565162951591,
//   -0.5877852522925887, 0.9995065603657316, 3.141592653073022e-5, -0.7071067811865476,
//   0.8090169943749475, -0.30901699437494734, -0.7071067811865476, 0.19509032201612828 ulp 4
// kernel: doubles
// needs: f64
// global: 14
// arg: buf:double:14=0, -0, 1, -1, 2, -2, 0.5, -0.5, 1.5, 1e20, -1e20, inf, -inf, nan
// arg: buf:double:14
// expect: 0, -0, 0, -0, 0, -0, 1, -1, -1, 0, -0, nan, nan, nan
// kernel: vectors
// needs: f64
// arg: buf:float:4=0.1, -0.25, 0.3, 1.1
// arg: buf:float:9
// expect: 0.309017, -0.70710677, 0.309017, -0.70710677, 0.809017, 0.309017, -0.70710677, 0.809017,
//   -0.30901706 ulp 4
// arg: buf:double:2=0.1, -0.25
// arg: buf:double:2
// expect: 0.30901699437494745, -0.7071067811865476 ulp 4
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = sinpi(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = sinpi(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(sinpi(vload2(0, x)), 0, out);
    vstore3(sinpi(vload3(0, x)), 0, out + 2);
    vstore4(sinpi(vload4(0, x)), 0, out + 5);
    vstore2(sinpi(vload2(0, dx)), 0, wide);
}
#endif
