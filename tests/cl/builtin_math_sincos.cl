// sincos: both within 4 ulp.
// kernel: floats
// global: 14
// arg: buf:float:14=0.1, -0.5, 1, 3, 10, 100.5, -1000, 12345.678, 1000000, 1e10, 1e30, 1e-5, inf, nan
// arg: buf:float:14
// expect: 0.09983342, -0.47942555, 0.84147096, 0.14112, -0.5440211, -0.030959968, -0.82687956,
//   -0.7042699, -0.3499935, -0.48750603, -0.79116344, 1e-5, nan, nan ulp 4
// arg: buf:float:14
// expect: 0.9950042, 0.87758255, 0.5403023, -0.9899925, -0.8390715, 0.9995206, 0.56237906, 0.7099323,
//   0.93675214, 0.87311965, -0.6116048, 1, nan, nan ulp 4
// kernel: doubles
// needs: f64
// global: 14
// arg: buf:double:14=0.1, -0.5, 1, 3, 10, 100.5, -1000, 12345.678, 1000000, 10000000000.0, 1e30,
//   1e-5, inf, nan
// arg: buf:double:14
// expect: 0.09983341664682815, -0.479425538604203, 0.8414709848078965, 0.1411200080598672,
//   -0.5440211108893698, -0.030959966783271346, -0.8268795405320025, -0.7040813137533816,
//   -0.34999350217129294, -0.4875060250875107, 0.009331468931175825, 9.999999999833334e-6, nan, nan ulp 4
// arg: buf:double:14
// expect: 0.9950041652780258, 0.8775825618903728, 0.5403023058681398, -0.9899924966004454,
//   -0.8390715290764524, 0.9995206253283515, 0.5623790762907029, 0.7101193587160628,
//   0.9367521275331447, 0.873119622676856, -0.9999564608959665, 0.99999999995, nan, nan ulp 4
// kernel: spaces
// arg: float4:0.25, -2.5, 8, 100
// arg: buf:float4:4
// expect: 0.24740396, -0.5984721, 0.98935825, -0.50636566 ulp 4
// arg: buf:float4:3
// expect: 0.9689124, -0.8011436, -0.14550003, 0.8623189 ulp 4
kernel void floats(global const float *x, global float *out, global float *other) {
    size_t i = get_global_id(0);
    out[i] = sincos(x[i], &other[i]);
}
#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out, global double *other) {
    size_t i = get_global_id(0);
    out[i] = sincos(x[i], &other[i]);
}
#endif
kernel void spaces(float4 x, global float4 *out, global float4 *other) {
    local float4 shared;
    float4 own;
    out[0] = sincos(x, &other[0]);
    out[1] = sincos(x, &own);
    out[2] = sincos(x, &shared);
    other[1] = own;
    other[2] = shared;
    out[3].lo = sincos(x.lo, (private float2 *)&own);
    out[3].hi = sincos(x.hi, (private float2 *)&own);
}
