// ilogb and logb: the exponent of denormals, powers of two, and the ends.
// kernel: floats
// global: 10
// arg: buf:float:10=1, 1.5, 0.75, -8, 1e10, 3.4028235e38, 1.1754944e-38, 1e-45, -1e-45, 0.1
// arg: buf:int:10
// expect: 0, 0, -1, 3, 33, 127, -126, -149, -149, -4
// arg: buf:float:10
// expect: 0, 0, -1, 3, 33, 127, -126, -149, -149, -4
// kernel: doubles
// needs: f64
// global: 10
// arg: buf:double:10=1, 1.5, 0.75, -8, 10000000000.0, 1.7976931348623157e308,
//   2.2250738585072014e-308, 5e-324, -5e-324, 0.1
// arg: buf:int:10
// expect: 0, 0, -1, 3, 33, 1023, -1022, -1074, -1074, -4
// arg: buf:double:10
// expect: 0, 0, -1, 3, 33, 1023, -1022, -1074, -1074, -4
// kernel: ends
// needs: f64
// arg: float4:0, -0, inf, nan
// arg: buf:float4:1
// expect: -inf, -inf, inf, nan
// arg: buf:int:6
// expect: 1
kernel void floats(global const float *x, global int *i, global float *f) {
    size_t k = get_global_id(0);
    i[k] = ilogb(x[k]);
    f[k] = logb(x[k]);
}
#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global int *i, global double *f) {
    size_t k = get_global_id(0);
    i[k] = ilogb(x[k]);
    f[k] = logb(x[k]);
}
kernel void ends(float4 x, global float4 *f, global int *ok) {
    int4 i = ilogb(x);
    f[0] = logb(x);
    ok[0] = i.x == FP_ILOGB0 && i.y == FP_ILOGB0;
    ok[1] = i.z == INT_MAX;
    ok[2] = i.w == FP_ILOGBNAN;
    ok[3] = ilogb((double)x.x) == FP_ILOGB0;
    ok[4] = ilogb((double)x.z) == INT_MAX;
    ok[5] = ilogb((double)x.w) == FP_ILOGBNAN;
}
#endif
