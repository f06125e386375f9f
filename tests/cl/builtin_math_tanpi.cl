// tanpi: tan(pi x) within 6 ulp; exact at halves and integers.
// kernel: floats
// global: 16
// arg: buf:float:16=0.1, -0.25, 0.3, 1.1, -1.75, 2.3, 10.125, 100.4, -1000.2, 0.49, 1e-5, 3.75, 0.7,
//   -0.9, 12345.25, 4.0625
// arg: buf:float:16
// expect: 0.3249197, -1, 1.376382, 0.3249198, 1, 1.3763815, 0.41421357, 3.0777338, -0.7266011,
//   31.820547, 3.1415926e-5, -1, -1.376382, 0.3249198, 1, 0.19891237 ulp 6
// kernel: floats
// global: 14
// arg: buf:float:14=0, -0, 1, -1, 2, -2, 0.5, -0.5, 1.5, -1.5, 2.5, inf, -inf, nan
// arg: buf:float:14
// expect: 0, -0, -0, 0, 0, -0, inf, -inf, -inf, inf, inf, nan, nan, nan
// kernel: doubles
// needs: f64
// global: 16
// arg: buf:double:16=0.1, -0.25, 0.3, 1.1, -1.75, 2.3, 10.125, 100.4, -1000.2, 0.49, 1e-5, 3.75, 0.7,
//   -0.9, 12345.25, 4.0625
// arg: buf:double:16
// expect: 0.32491969623290634, -1, 1.3763819204711734, 0.3249196962329066, 1, 1.376381920471172,
//   0.41421356237309503, 3.0776835371754405, -0.7265425280055792, 31.82051595377393,
//   3.141592654623336e-5, -1, -1.376381920471174, 0.32491969623290623, 1, 0.198912367379658 ulp 6
// kernel: doubles
// needs: f64
// global: 14
// arg: buf:double:14=0, -0, 1, -1, 2, -2, 0.5, -0.5, 1.5, -1.5, 2.5, inf, -inf, nan
// arg: buf:double:14
// expect: 0, -0, -0, 0, 0, -0, inf, -inf, -inf, inf, inf, nan, nan, nan
// kernel: vectors
// needs: f64
// arg: buf:float:4=0.1, -0.25, 0.3, 1.1
// arg: buf:float:9
// expect: 0.3249197, -1, 0.3249197, -1, 1.376382, 0.3249197, -1, 1.376382, 0.3249198 ulp 6
// arg: buf:double:2=0.1, -0.25
// arg: buf:double:2
// expect: 0.32491969623290634, -1 ulp 6
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = tanpi(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = tanpi(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(tanpi(vload2(0, x)), 0, out);
    vstore3(tanpi(vload3(0, x)), 0, out + 2);
    vstore4(tanpi(vload4(0, x)), 0, out + 5);
    vstore2(tanpi(vload2(0, dx)), 0, wide);
}
#endif
