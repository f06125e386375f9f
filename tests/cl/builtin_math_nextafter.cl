// nextafter: the neighbour towards y, over zero and the denormals.
// kernel: floats
// global: 18
// arg: buf:float:18=1, 1, -1, 0, -0, 0, 1e-45, -1e-45, 3.4028235e38, inf, -inf, 1.1754944e-38, 2, 0,
//   nan, 1, -3.4028235e38, 1e-45
// arg: buf:float:18=2, 0, -2, 1, 1, -1, -1, 1, inf, 0, 0, 0, 2, -0, 1, nan, -inf, 1
// arg: buf:float:18
// expect: 1.0000001, 0.99999994, -1.0000001, 1e-45, 1e-45, -1e-45, 0, -0, inf, 3.4028235e38,
//   -3.4028235e38, 1.1754942e-38, 2, -0, nan, nan, -inf, 3e-45
// kernel: doubles
// needs: f64
// global: 18
// arg: buf:double:18=1, 1, -1, 0, -0, 0, 5e-324, -5e-324, 1.7976931348623157e308, inf, -inf,
//   2.2250738585072014e-308, 2, 0, nan, 1, -1.7976931348623157e308, 5e-324
// arg: buf:double:18=2, 0, -2, 1, 1, -1, -1, 1, inf, 0, 0, 0, 2, -0, 1, nan, -inf, 1
// arg: buf:double:18
// expect: 1.0000000000000002, 0.9999999999999999, -1.0000000000000002, 5e-324, 5e-324, -5e-324, 0,
//   -0, inf, 1.7976931348623157e308, -1.7976931348623157e308, 2.225073858507201e-308, 2, -0, nan,
//   nan, -inf, 1e-323
// kernel: vectors
// arg: float4:1, -1, 0, 5
// arg: float4:2, 0, 1, 5
// arg: buf:float4:2
// expect: 1.0000001, -0.99999994, 1e-45, 5, 1.0000001, -0.99999994, 1e-45, 0
kernel void floats(global const float *x, global const float *y, global float *out) {
    size_t i = get_global_id(0);
    out[i] = nextafter(x[i], y[i]);
}
#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global const double *y, global double *out) {
    size_t i = get_global_id(0);
    out[i] = nextafter(x[i], y[i]);
}
#endif
kernel void vectors(float4 x, float4 y, global float4 *out) {
    out[0] = nextafter(x, y);
    out[1].xyz = nextafter(x.xyz, y.xyz);
}
