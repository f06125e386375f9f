// cospi: cos(pi x) within 4 ulp; exactly zero at odd halves.
// kernel: floats
// global: 16
// arg: buf:float:16=0.1, -0.25, 0.3, 1.1, -1.75, 2.3, 10.125, 100.4, -1000.2, 0.49, 1e-5, 3.75, 0.7,
//   -0.9, 12345.25, 4.0625
// arg: buf:float:16
// expect: 0.95105654, 0.70710677, 0.58778524, -0.9510565, 0.70710677, 0.58778536, 0.9238795,
//   0.30901244, 0.8089945, 0.031410728, 1, 0.70710677, -0.58778524, -0.9510565, -0.70710677,
//   0.98078525 ulp 4
// kernel: floats
// global: 13
// arg: buf:float:13=0, -0, 1, -1, 2, 0.5, -0.5, 1.5, -2.5, 1e20, inf, -inf, nan
// arg: buf:float:13
// expect: 1, 1, -1, -1, 1, 0, 0, 0, 0, 1, nan, nan, nan
// kernel: doubles
// needs: f64
// global: 16
// arg: buf:double:16=0.1, -0.25, 0.3, 1.1, -1.75, 2.3, 10.125, 100.4, -1000.2, 0.49, 1e-5, 3.75, 0.7,
//   -0.9, 12345.25, 4.0625
// arg: buf:double:16
// expect: 0.9510565162951535, 0.7071067811865476, 0.5877852522924731, -0.9510565162951535,
//   0.7071067811865476, 0.5877852522924736, 0.9238795325112867, 0.30901699437493046,
//   0.8090169943748634, 0.03141075907812832, 0.9999999995065197, 0.7071067811865476,
//   -0.587785252292473, -0.9510565162951536, -0.7071067811865476, 0.9807852804032304 ulp 4
// kernel: doubles
// needs: f64
// global: 13
// arg: buf:double:13=0, -0, 1, -1, 2, 0.5, -0.5, 1.5, -2.5, 1e20, inf, -inf, nan
// arg: buf:double:13
// expect: 1, 1, -1, -1, 1, 0, 0, 0, 0, 1, nan, nan, nan
// kernel: vectors
// needs: f64
// arg: buf:float:4=0.1, -0.25, 0.3, 1.1
// arg: buf:float:9
// expect: 0.95105654, 0.70710677, 0.95105654, 0.70710677, 0.58778524, 0.95105654, 0.70710677,
//   0.58778524, -0.9510565 ulp 4
// arg: buf:double:2=0.1, -0.25
// arg: buf:double:2
// expect: 0.9510565162951535, 0.7071067811865476 ulp 4
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = cospi(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = cospi(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(cospi(vload2(0, x)), 0, out);
    vstore3(cospi(vload3(0, x)), 0, out + 2);
    vstore4(cospi(vload4(0, x)), 0, out + 5);
    vstore2(cospi(vload2(0, dx)), 0, wide);
}
#endif
