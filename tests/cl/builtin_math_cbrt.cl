// cbrt: within 2 ulp, also of negative numbers and denormals.
// kernel: floats
// global: 23
// arg: buf:float:23=0.1, -0.5, 1, -1.5, 2.75, -3, 4.25, 5, 0.001, -1e-8, 0.75, -0.25, 6.5, 0.0625,
//   -0.9, 2, 27, -8, 1e30, 3.4028235e38, 1.1754944e-38, 1e-45, -1e-45
// arg: buf:float:23
// expect: 0.4641589, -0.7937005, 1, -1.1447142, 1.4010197, -1.4422495, 1.6198059, 1.709976, 0.1,
//   -0.0021544348, 0.9085603, -0.62996054, 1.8662555, 0.39685026, -0.9654894, 1.2599211, 3, -2, 1e10,
//   6.9814636e12, 2.2737368e-13, 1.1190347e-15, -1.1190347e-15 ulp 2
// kernel: floats
// global: 5
// arg: buf:float:5=0, -0, inf, -inf, nan
// arg: buf:float:5
// expect: 0, -0, inf, -inf, nan
// kernel: doubles
// needs: f64
// global: 23
// arg: buf:double:23=0.1, -0.5, 1, -1.5, 2.75, -3, 4.25, 5, 0.001, -1e-8, 0.75, -0.25, 6.5, 0.0625,
//   -0.9, 2, 27, -8, 1e30, 1.7976931348623157e308, 2.2250738585072014e-308, 5e-324, -5e-324
// arg: buf:double:23
// expect: 0.4641588833612779, -0.7937005259840998, 1, -1.1447142425533319, 1.4010196653276936,
//   -1.4422495703074083, 1.6198059006387417, 1.709975946676697, 0.1, -0.002154434690031884,
//   0.9085602964160698, -0.6299605249474366, 1.866255578408624, 0.3968502629920499,
//   -0.9654893846056297, 1.2599210498948732, 3, -2, 10000000000.0, 5.643803094122362e102,
//   2.812644285236262e-103, 1.7031839360032603e-108, -1.7031839360032603e-108 ulp 2
// kernel: doubles
// needs: f64
// global: 5
// arg: buf:double:5=0, -0, inf, -inf, nan
// arg: buf:double:5
// expect: 0, -0, inf, -inf, nan
// kernel: vectors
// needs: f64
// arg: buf:float:4=0.1, -0.5, 1, -1.5
// arg: buf:float:9
// expect: 0.4641589, -0.7937005, 0.4641589, -0.7937005, 1, 0.4641589, -0.7937005, 1, -1.1447142 ulp 2
// arg: buf:double:2=0.1, -0.5
// arg: buf:double:2
// expect: 0.4641588833612779, -0.7937005259840998 ulp 2
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = cbrt(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = cbrt(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(cbrt(vload2(0, x)), 0, out);
    vstore3(cbrt(vload3(0, x)), 0, out + 2);
    vstore4(cbrt(vload4(0, x)), 0, out + 5);
    vstore2(cbrt(vload2(0, dx)), 0, wide);
}
#endif
