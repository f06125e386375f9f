// cross of three and four components; the fourth of the result is 0.
// needs: f64
// kernel: run
// arg: float4:1, 2, 3, 99
// arg: float4:-4, 5, 0.5, -77
// arg: buf:float3:1
// expect: -14, -12.5, 13 ~1e-6
// arg: buf:float4:1
// expect: -14, -12.5, 13, 0 ~1e-6
// arg: buf:double3:1
// expect: -14, -12.5, 13 ~1e-12
// arg: buf:double4:1
// expect: 14, 12.5, -13, 0 ~1e-12
kernel void run(float4 a, float4 b, global float3 *f3, global float4 *f4, global double3 *d3,
                global double4 *d4) {
    *f3 = cross(a.xyz, b.xyz);
    *f4 = cross(a, b);
    *d3 = cross(convert_double3(a.xyz), convert_double3(b.xyz));
    *d4 = cross(convert_double4(b), convert_double4(a));
}
