// degrees and radians within 2 ulp.
// kernel: floats
// arg: float4:0, 3.14159274, -1.57079637, 1
// arg: buf:float4:1
// expect: 0, 180, -90, 57.29578 ulp 2
// arg: buf:float4:1
// expect: 0, 0.05483114, -0.027415569, 0.017453292 ulp 2
// kernel: doubles
// needs: f64
// arg: double3:3.141592653589793, -0.5, 180
// arg: buf:double3:2
// expect: 180, -28.64788975654116, 10313.240312354817, 0.05483113556160755, -0.008726646259971648,
//   3.141592653589793 ulp 2
kernel void floats(float4 x, global float4 *d, global float4 *r) {
    *d = degrees(x);
    *r = radians(x);
}
#ifdef cl_khr_fp64
kernel void doubles(double3 x, global double3 *out) {
    out[0] = degrees(x);
    out[1] = radians(x);
}
#endif
