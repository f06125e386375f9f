// ldexp: x times a power of two, rounded once.
// kernel: floats
// global: 12
// arg: buf:float:12=1, -1.5, 0.75, 3, 1, 1, 1, 1.5, -1.75, 1e20, 1e-40, 5
// arg: buf:int:12=10, 3, -4, 0, 127, -126, -149, -149, -148, -60, 40, -1
// arg: buf:float:12
// expect: 1024, -12, 0.046875, 3, 1.7014118e38, 1.1754944e-38, 1e-45, 3e-45, -6e-45, 86.736176,
//   1.0995057e-28, 2.5
// kernel: floats
// global: 11
// arg: buf:float:11=0, -0, inf, -inf, nan, 1, -1, 1, -1, 1, 1
// arg: buf:int:11=5, -5, -3, 3, 1, 5000, 5000, -5000, -5000, 2147483647, -2147483647
// arg: buf:float:11
// expect: 0, -0, inf, -inf, nan, inf, -inf, 0, -0, inf, 0
// kernel: doubles
// needs: f64
// global: 15
// arg: buf:double:15=1, -1.5, 0.75, 3, 1, 1, 1, 1.5, -1.75, 1e20, 1e-40, 5, 1, 1, 1.5
// arg: buf:int:15=10, 3, -4, 0, 127, -126, -149, -149, -148, -60, 40, -1, 1023, -1074, -1074
// arg: buf:double:15
// expect: 1024, -12, 0.046875, 3, 1.7014118346046923e38, 1.1754943508222875e-38,
//   1.401298464324817e-45, 2.1019476964872256e-45, -4.90454462513686e-45, 86.73617379884035,
//   1.099511627776e-28, 2.5, 8.98846567431158e307, 5e-324, 1e-323
// kernel: doubles
// needs: f64
// global: 11
// arg: buf:double:11=0, -0, inf, -inf, nan, 1, -1, 1, -1, 1, 1
// arg: buf:int:11=5, -5, -3, 3, 1, 5000, 5000, -5000, -5000, 2147483647, -2147483647
// arg: buf:double:11
// expect: 0, -0, inf, -inf, nan, inf, -inf, 0, -0, inf, 0
// kernel: vectors
// needs: f64
// arg: buf:float:16=1, -1.5, 0.75, 3, 1, 1, 1, 1.5, -1.75, 1e20, 1e-30, 5, 1, -1.5, 0.75, 3
// arg: buf:int:16=10, 3, -4, 0, 127, -126, -149, -149, -148, -60, 40, -1, 10, 3, -4, 0
// arg: buf:float:33
// expect: 1024, -12, 1024, -12, 0.046875, 1024, -12, 0.046875, 3, 1024, -12, 0.046875, 3,
//   1.7014118e38, 1.1754944e-38, 1e-45, 3e-45, 1024, -12, 0.046875, 3, 1.7014118e38, 1.1754944e-38,
//   1e-45, 3e-45, -6e-45, 86.736176, 1.09951163e-18, 2.5, 1024, -12, 0.046875, 3
// arg: buf:double:3=1, -1.5, 0.75
// arg: buf:int:3=10, 3, -4
// arg: buf:double:5
// expect: 1024, -12, 1024, -12, 0.046875
kernel void floats(global const float *x, global const int *y, global float *out) {
    size_t i = get_global_id(0);
    out[i] = ldexp(x[i], y[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global const int *y, global double *out) {
    size_t i = get_global_id(0);
    out[i] = ldexp(x[i], y[i]);
}

kernel void vectors(global const float *x, global const int *y, global float *out,
                    global const double *dx, global const int *ey, global double *wide) {
    vstore2(ldexp(vload2(0, x), vload2(0, y)), 0, out);
    vstore3(ldexp(vload3(0, x), vload3(0, y)), 0, out + 2);
    vstore4(ldexp(vload4(0, x), vload4(0, y)), 0, out + 5);
    vstore8(ldexp(vload8(0, x), vload8(0, y)), 0, out + 9);
    vstore16(ldexp(vload16(0, x), vload16(0, y)), 0, out + 17);
    vstore2(ldexp(vload2(0, dx), vload2(0, ey)), 0, wide);
    vstore3(ldexp(vload3(0, dx), vload3(0, ey)), 0, wide + 2);
}
#endif
