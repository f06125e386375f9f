// min, max, clamp, mix, step and smoothstep of a vector take scalars as their other operands.
// kernel: run
// arg: float4:-1, 0.25, 0.5, 3
// arg: buf:float4:7
// expect: 0.5, 0.5, 0.5, 3, -1, 0.25, 0.5, 0.5, 0, 0.25, 0.5, 1, 0, 0.625, 0.75, 2, 0, 0, 1, 1, 0, 0.15625,
//   0.5, 1, 0.5, 0.5, 0.5, 3
// kernel: doubles
// needs: f64
// arg: double2:-2, 0.75
// arg: buf:double2:4
// expect: 0.5, 0.75, -2, 0.5, 0, 0.75, 0, 1
kernel void run(float4 x, global float4 *out) {
    out[0] = max(x, 0.5f);
    out[1] = min(x, 0.5f);
    out[2] = clamp(x, 0.0f, 1.0f);
    out[3] = mix((float4)(1, 1, 1, 1), x, 0.5f);
    out[4] = step(0.5f, x);
    out[5] = smoothstep(0.0f, 1.0f, x);
    out[6] = fmax(x, 0.5f);
}
#ifdef cl_khr_fp64
kernel void doubles(double2 x, global double2 *out) {
    out[0] = max(x, 0.5);
    out[1] = min(x, 0.5);
    out[2] = clamp(x, 0.0, 1.0);
    out[3] = step(0.5, x);
}
#endif
