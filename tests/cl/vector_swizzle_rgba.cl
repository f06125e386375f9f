// .rgba name the same components as .xyzw (OpenCL C 3.0).
// options: -cl-std=CL3.0
// kernel: run
// arg: float4:0.1,0.2,0.3,1
// arg: buf:float4:2
// expect: 0.3, 0.2, 0.1, 1, 0.1, 0.1, 1, 1
kernel void run(float4 c, global float4 *out) {
    out[0] = c.bgra;
    out[1] = c.rraa;
}
