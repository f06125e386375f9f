// The relational functions of every vector width give vectors of that width.
// needs: f64
// kernel: run
// arg: float16:0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, nan
// arg: buf:int:33
// expect: -1, -1, -1, -1, -1, -1, -1, 0, 0, -1, -1, -1, 0, 0, 0, 0, 0, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
// arg: buf:long:9
// expect: -1, -1, -1, -1, -1, -1, -1, -1, 0
kernel void run(float16 x, global int *out, global long *wide) {
    vstore2(isless(x.s01, (float2)(3)), 0, out);
    vstore3(isless(x.s012, (float3)(3)), 0, out + 2);
    vstore4(isless(x.s0123, (float4)(2)), 0, out + 5);
    vstore8(isless(x.lo, (float8)(3)), 0, out + 9);
    vstore16(isless(x, (float16)(3)), 0, out + 17);
    double4 d = convert_double4(x.s0123);
    vstore2(isnotequal(d.xy, d.yx), 0, wide);
    vstore3(isfinite(d.xyz), 0, wide + 2);
    vstore4(islessequal(d, (double4)(2)), 0, wide + 5);
}
