// remquo: the remainder, and the low seven bits of the quotient with its sign.
// kernel: floats
// global: 16
// arg: buf:float:16=7, -7, 7, 5, 7, 100.5, 1, 126, -127, 0.75, inf, 1, nan, 1, -0, 5
// arg: buf:float:16=3, 3, -3, 2, 2, 0.25, 3, 1, 1, 0.5, 1, 0, 1, nan, 3, inf
// arg: buf:float:16
// expect: 1, -1, 1, 1, -1, 0, 1, 0, -0, -0.25, nan, nan, nan, nan, -0, 5
// arg: buf:int:16
// expect: 2, -2, -2, 2, 4, 18, 0, 126, -127, 2, 0, 0, 0, 0, 0, 0
// kernel: doubles
// needs: f64
// global: 16
// arg: buf:double:16=7, -7, 7, 5, 7, 100.5, 1, 126, -127, 0.75, inf, 1, nan, 1, -0, 5
// arg: buf:double:16=3, 3, -3, 2, 2, 0.25, 3, 1, 1, 0.5, 1, 0, 1, nan, 3, inf
// arg: buf:double:16
// expect: 1, -1, 1, 1, -1, 0, 1, 0, -0, -0.25, nan, nan, nan, nan, -0, 5
// arg: buf:int:16
// expect: 2, -2, -2, 2, 4, 18, 0, 126, -127, 2, 0, 0, 0, 0, 0, 0
// kernel: spaces
// arg: float4:7, -7, 5, 8
// arg: float4:3, 3, 2, 2
// arg: buf:float4:4
// expect: 1, -1, 1, 0
// arg: buf:int4:3
// expect: 2, -2, 2, 4
kernel void floats(global const float *x, global const float *y, global float *out, global int *other) {
    size_t i = get_global_id(0);
    out[i] = remquo(x[i], y[i], &other[i]);
}
#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global const double *y, global double *out, global int *other) {
    size_t i = get_global_id(0);
    out[i] = remquo(x[i], y[i], &other[i]);
}
#endif
kernel void spaces(float4 x, float4 y, global float4 *out, global int4 *other) {
    local int4 shared;
    int4 own;
    out[0] = remquo(x, y, &other[0]);
    out[1] = remquo(x, y, &own);
    out[2] = remquo(x, y, &shared);
    other[1] = own;
    other[2] = shared;
    out[3].lo = remquo(x.lo, y.lo, (private int2 *)&own);
    out[3].hi = remquo(x.hi, y.hi, (private int2 *)&own);
}
