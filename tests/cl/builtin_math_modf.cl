// modf: the fraction and the integer part, both with the sign of x.
// kernel: floats
// global: 11
// arg: buf:float:11=3.75, -3.75, 1e10, 0.5, -0.25, 7, 0, -0, inf, -inf, nan
// arg: buf:float:11
// expect: 0.75, -0.75, 0, 0.5, -0.25, 0, 0, -0, 0, -0, nan
// arg: buf:float:11
// expect: 3, -3, 1e10, 0, -0, 7, 0, -0, inf, -inf, nan
// kernel: doubles
// needs: f64
// global: 11
// arg: buf:double:11=3.75, -3.75, 10000000000.0, 0.5, -0.25, 7, 0, -0, inf, -inf, nan
// arg: buf:double:11
// expect: 0.75, -0.75, 0, 0.5, -0.25, 0, 0, -0, 0, -0, nan
// arg: buf:double:11
// expect: 3, -3, 10000000000.0, 0, -0, 7, 0, -0, inf, -inf, nan
// kernel: spaces
// arg: float4:3.75, -2.5, 8, -0.25
// arg: buf:float4:4
// expect: 0.75, -0.5, 0, -0.25
// arg: buf:float4:3
// expect: 3, -2, 8, -0
kernel void floats(global const float *x, global float *out, global float *other) {
    size_t i = get_global_id(0);
    out[i] = modf(x[i], &other[i]);
}
#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out, global double *other) {
    size_t i = get_global_id(0);
    out[i] = modf(x[i], &other[i]);
}
#endif
kernel void spaces(float4 x, global float4 *out, global float4 *other) {
    local float4 shared;
    float4 own;
    out[0] = modf(x, &other[0]);
    out[1] = modf(x, &own);
    out[2] = modf(x, &shared);
    other[1] = own;
    other[2] = shared;
    out[3].lo = modf(x.lo, (private float2 *)&own);
    out[3].hi = modf(x.hi, (private float2 *)&own);
}
