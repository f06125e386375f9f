// length and distance of one to four components.
// needs: f64
// kernel: run
// arg: float4:3, -4, 12, 84
// arg: buf:float:8
// expect: 3, 5, 13, 85, 2, 2.8284271, 3.4641016, 4 ulp 6
// arg: buf:double:8
// expect: 3, 5, 13, 85, 2, 2.8284271247461903, 3.4641016151377544, 4 ulp 6
#define LENGTHS(out, v, two) \
    out[0] = length(v.x); \
    out[1] = length(v.xy); \
    out[2] = length(v.xyz); \
    out[3] = length(v); \
    out[4] = distance(v.x, v.x + two.x); \
    out[5] = distance(v.xy, v.xy - two.xy); \
    out[6] = distance(v.xyz, v.xyz + two.xyz); \
    out[7] = distance(v, v - two)
kernel void run(float4 x, global float *f, global double *d) {
    float4 two = (float4)(2);
    LENGTHS(f, x, two);
    double4 wide = convert_double4(x);
    double4 far = (double4)(2);
    LENGTHS(d, wide, far);
}
