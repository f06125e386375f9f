// log10: within 3 ulp.
// kernel: floats
// global: 21
// arg: buf:float:21=0.1, 0.5, 1, 1.5, 2.75, 10, 100.25, 1000, 0.001, 1e-10, 0.75, 3.25, 7, 20, 0.9,
//   5.5, 1.0000001, 0.9999999, 3.4028235e38, 1.1754944e-38, 1e-45
// arg: buf:float:21
// expect: -1, -0.30103, 0, 0.17609125, 0.4393327, 1, 2.0010843, 3, -3, -10, -0.124938734, 0.5118834,
//   0.845098, 1.30103, -0.045757502, 0.7403627, 5.1771934e-8, -5.177194e-8, 38.53184, -37.92978,
//   -44.85347 ulp 3
// kernel: floats
// global: 6
// arg: buf:float:6=1, 0, -0, -1, inf, nan
// arg: buf:float:6
// expect: 0, -inf, -inf, nan, inf, nan
// kernel: doubles
// needs: f64
// global: 21
// arg: buf:double:21=0.1, 0.5, 1, 1.5, 2.75, 10, 100.25, 1000, 0.001, 1e-10, 0.75, 3.25, 7, 20, 0.9,
//   5.5, 1.0000001, 0.9999999, 1.7976931348623157e308, 2.2250738585072014e-308, 5e-324
// arg: buf:double:21
// expect: -1, -0.3010299956639812, 0, 0.17609125905568124, 0.43933269383026263, 1, 2.00108438129222,
//   3, -3, -10, -0.12493873660829995, 0.5118833609788743, 0.8450980400142568, 1.3010299956639813,
//   -0.045757490560675115, 0.7403626894942439, 4.3429446044209946e-8, -4.342945033893839e-8,
//   308.25471555991675, -307.6526555685888, -323.3062153431158 ulp 3
// kernel: doubles
// needs: f64
// global: 6
// arg: buf:double:6=1, 0, -0, -1, inf, nan
// arg: buf:double:6
// expect: 0, -inf, -inf, nan, inf, nan
// kernel: vectors
// needs: f64
// arg: buf:float:4=0.1, 0.5, 1, 1.5
// arg: buf:float:9
// expect: -1, -0.30103, -1, -0.30103, 0, -1, -0.30103, 0, 0.17609125 ulp 3
// arg: buf:double:2=0.1, 0.5
// arg: buf:double:2
// expect: -1, -0.3010299956639812 ulp 3
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = log10(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = log10(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(log10(vload2(0, x)), 0, out);
    vstore3(log10(vload3(0, x)), 0, out + 2);
    vstore4(log10(vload4(0, x)), 0, out + 5);
    vstore2(log10(vload2(0, dx)), 0, wide);
}
#endif
