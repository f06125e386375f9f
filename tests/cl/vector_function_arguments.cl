// Vectors as arguments and results of functions; passed by value.
// kernel: run
// arg: buf:float4:2
// expect: 4, 3, 2, 1, 1, 2, 3, 4
float4 reversed(float4 v) {
    v = v.wzyx;
    return v;
}
kernel void run(global float4 *out) {
    float4 v = (float4)(1, 2, 3, 4);
    out[0] = reversed(v);
    out[1] = v;
}
