// Vectors of floats: a NaN compares unequal to everything.
// kernel: run
// arg: float4:1,nan,-0,inf
// arg: float4:1,nan,0,-inf
// arg: buf:int4:4
// expect: -1, 0, -1, 0, 0, -1, 0, -1, 0, 0, 0, -1, -1, 0, -1, -1
kernel void run(float4 a, float4 b, global int4 *out) {
    out[0] = a == b;
    out[1] = a != b;
    out[2] = a > b;
    out[3] = a >= b;
}
