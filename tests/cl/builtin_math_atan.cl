// atan: within 5 ulp, also of infinities.
// kernel: floats
// global: 21
// arg: buf:float:21=0.1, -0.5, 1, -1.5, 2.75, -3, 4.25, 5, 0.001, -1e-8, 0.75, -0.25, 6.5, 0.0625,
//   -0.9, 2, 100000, -1e10, 3.4028235e38, inf, -inf
// arg: buf:float:21
// expect: 0.09966865, -0.4636476, 0.7853982, -0.98279375, 1.2220253, -1.2490457, 1.3397057,
//   1.3734008, 0.0009999997, -1e-8, 0.6435011, -0.24497867, 1.418147, 0.06241881, -0.7328151,
//   1.1071488, 1.5707864, -1.5707964, 1.5707964, 1.5707964, -1.5707964 ulp 5
// kernel: floats
// global: 5
// arg: buf:float:5=0, -0, nan, 1e-45, -1e-45
// arg: buf:float:5
// expect: 0, -0, nan, 1e-45, -1e-45
// kernel: doubles
// needs: f64
// global: 21
// arg: buf:double:21=0.1, -0.5, 1, -1.5, 2.75, -3, 4.25, 5, 0.001, -1e-8, 0.75, -0.25, 6.5, 0.0625,
//   -0.9, 2, 100000, -10000000000.0, 1.7976931348623157e308, inf, -inf
// arg: buf:double:21
// expect: 0.09966865249116204, -0.4636476090008061, 0.7853981633974483, -0.982793723247329,
//   1.2220253232109897, -1.2490457723982544, 1.3397056595989996, 1.373400766945016,
//   0.0009999996666668668, -1e-8, 0.6435011087932844, -0.24497866312686414, 1.4181469983996315,
//   0.06241880999595735, -0.7328151017865066, 1.1071487177940904, 1.570786326794897,
//   -1.5707963266948965, 1.5707963267948966, 1.5707963267948966, -1.5707963267948966 ulp 5
// kernel: doubles
// needs: f64
// global: 5
// arg: buf:double:5=0, -0, nan, 5e-324, -5e-324
// arg: buf:double:5
// expect: 0, -0, nan, 5e-324, -5e-324
// kernel: vectors
// needs: f64
// arg: buf:float:4=0.1, -0.5, 1, -1.5
// arg: buf:float:9
// expect: 0.09966865, -0.4636476, 0.09966865, -0.4636476, 0.7853982, 0.09966865, -0.4636476,
//   0.7853982, -0.98279375 ulp 5
// arg: buf:double:2=0.1, -0.5
// arg: buf:double:2
// expect: 0.09966865249116204, -0.4636476090008061 ulp 5
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = atan(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = atan(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(atan(vload2(0, x)), 0, out);
    vstore3(atan(vload3(0, x)), 0, out + 2);
    vstore4(atan(vload4(0, x)), 0, out + 5);
    vstore2(atan(vload2(0, dx)), 0, wide);
}
#endif
