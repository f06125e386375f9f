// frexp: a significand in [0.5, 1) and an exponent.
// kernel: floats
// global: 14
// arg: buf:float:14=1, 3.75, -0.375, 1024, 1e10, 3.4028235e38, 1.1754944e-38, 1e-45, -1e-45, 0, -0,
//   inf, -inf, nan
// arg: buf:float:14
// expect: 0.5, 0.9375, -0.75, 0.5, 0.5820766, 0.99999994, 0.5, 0.5, -0.5, 0, -0, inf, -inf, nan
// arg: buf:int:14
// expect: 1, 2, -1, 11, 34, 128, -125, -148, -148, 0, 0, *, *, *
// kernel: doubles
// needs: f64
// global: 14
// arg: buf:double:14=1, 3.75, -0.375, 1024, 10000000000.0, 1.7976931348623157e308,
//   2.2250738585072014e-308, 5e-324, -5e-324, 0, -0, inf, -inf, nan
// arg: buf:double:14
// expect: 0.5, 0.9375, -0.75, 0.5, 0.5820766091346741, 0.9999999999999999, 0.5, 0.5, -0.5, 0, -0,
//   inf, -inf, nan
// arg: buf:int:14
// expect: 1, 2, -1, 11, 34, 1024, -1021, -1073, -1073, 0, 0, *, *, *
// kernel: spaces
// arg: float4:3.75, -2.5, 8, -0.25
// arg: buf:float4:4
// expect: 0.9375, -0.625, 0.5, -0.5
// arg: buf:int4:3
// expect: 2, 2, 4, -1
kernel void floats(global const float *x, global float *out, global int *other) {
    size_t i = get_global_id(0);
    out[i] = frexp(x[i], &other[i]);
}
#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out, global int *other) {
    size_t i = get_global_id(0);
    out[i] = frexp(x[i], &other[i]);
}
#endif
kernel void spaces(float4 x, global float4 *out, global int4 *other) {
    local int4 shared;
    int4 own;
    out[0] = frexp(x, &other[0]);
    out[1] = frexp(x, &own);
    out[2] = frexp(x, &shared);
    other[1] = own;
    other[2] = shared;
    out[3].lo = frexp(x.lo, (private int2 *)&own);
    out[3].hi = frexp(x.hi, (private int2 *)&own);
}
