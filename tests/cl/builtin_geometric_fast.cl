// fast_length, fast_distance and fast_normalize, within some 8192 ulp.
// kernel: run
// arg: float4:3, -4, 12, 84
// arg: buf:float:8
// expect: 3, 5, 13, 85, 2, 2.8284271, 3.4641016, 4 ulp 8192
// arg: buf:float4:3
// expect: 1, 0.6, -0.8, 0, 0.23076923, -0.30769232, 0.9230769, 0, 0.035294118, -0.047058824, 0.14117648, 0.9882353 ulp 8192
kernel void run(float4 x, global float *f, global float4 *n) {
    float4 two = (float4)(2);
    f[0] = fast_length(x.x);
    f[1] = fast_length(x.xy);
    f[2] = fast_length(x.xyz);
    f[3] = fast_length(x);
    f[4] = fast_distance(x.x, x.x + two.x);
    f[5] = fast_distance(x.xy, x.xy - two.xy);
    f[6] = fast_distance(x.xyz, x.xyz + two.xyz);
    f[7] = fast_distance(x, x - two);
    n[0] = (float4)(fast_normalize(x.x), fast_normalize(x.xy), 0);
    n[1] = (float4)(fast_normalize(x.xyz), 0);
    n[2] = fast_normalize(x);
}
