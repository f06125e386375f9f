// sin: within 4 ulp, large angles too.
// kernel: floats
// global: 16
// arg: buf:float:16=0.1, -0.5, 1, 3, -3.1415927, 1.5707964, 10, 100.5, -1000, 12345.678, 1000000,
//   1e10, -1e20, 1e30, 1e-5, 0.7853982
// arg: buf:float:16
// expect: 0.09983342, -0.47942555, 0.84147096, 0.14112, 8.742278e-8, 1, -0.5440211, -0.030959968,
//   -0.82687956, -0.7042699, -0.3499935, -0.48750603, -0.6565767, -0.79116344, 1e-5, 0.70710677 ulp 4
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
// expect: 0.09983341664682815, -0.479425538604203, 0.8414709848078965, 0.1411200080598672,
//   -1.2246467991473532e-16, 1, -0.5440211108893698, -0.030959966783271346, -0.8268795405320025,
//   -0.7040813137533816, -0.34999350217129294, -0.8522008497671888, 0.3806377310050287,
//   -0.8178819121159085, 9.999999999833334e-6, 0.7071067811865475 ulp 4
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
// expect: 0.09983342, -0.47942555, 0.09983342, -0.47942555, 0.84147096, 0.09983342, -0.47942555,
//   0.84147096, 0.14112 ulp 4
// arg: buf:double:2=0.1, -0.5
// arg: buf:double:2
// expect: 0.09983341664682815, -0.479425538604203 ulp 4
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = sin(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = sin(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(sin(vload2(0, x)), 0, out);
    vstore3(sin(vload3(0, x)), 0, out + 2);
    vstore4(sin(vload4(0, x)), 0, out + 5);
    vstore2(sin(vload2(0, dx)), 0, wide);
}
#endif
