// dot of one to four components.
// needs: f64
// kernel: run
// arg: float4:1, -2, 3, 0.5
// arg: float4:4, 5, -6, 8
// arg: buf:float:4
// expect: 4, -6, -24, -20 ~1e-6
// arg: buf:double:4
// expect: 4, -6, -24, -20 ~1e-12
kernel void run(float4 a, float4 b, global float *f, global double *d) {
    f[0] = dot(a.x, b.x);
    f[1] = dot(a.xy, b.xy);
    f[2] = dot(a.xyz, b.xyz);
    f[3] = dot(a, b);
    double4 x = convert_double4(a), y = convert_double4(b);
    d[0] = dot(x.x, y.x);
    d[1] = dot(x.xy, y.xy);
    d[2] = dot(x.xyz, y.xyz);
    d[3] = dot(x, y);
}
