// normalize: length one, zero stays zero, huge and tiny vectors do not overflow.
// needs: f64
// kernel: run
// arg: float4:3, -4, 0, 12
// arg: buf:float4:5
// expect: 0.6, -0.8, 0, 1, 0.6, -0.8, 0, 0, 0.23076923, -0.30769232, 0, 0.9230769, 0.6, -0.8, 0, 0, 0.6, -0.8, 0, 0 ulp 6
// arg: buf:double4:1
// expect: 0.23076923076923078, -0.3076923076923077, 0, 0.9230769230769231 ulp 6
kernel void run(float4 x, global float4 *out, global double4 *wide) {
    out[0] = (float4)(normalize(x.xy), normalize(x.z), normalize(x.w));
    out[1] = (float4)(normalize(x.xyz), 0);
    out[2] = normalize(x);
    out[3] = (float4)(normalize(x.xy * 1e30f), normalize((float2)(0)));
    out[4] = (float4)(normalize(x.xy * 1e-30f), normalize((float2)(-0.0f)));
    *wide = normalize(convert_double4(x));
}
