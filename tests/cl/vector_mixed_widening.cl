// A scalar operand widens to the vector's element type; it must not have a higher rank.
// kernel: run
// arg: short:-2
// arg: buf:int4:1
// expect: -1, 0, 1, 2
// arg: buf:float2:1
// expect: -1, -4
kernel void run(short s, global int4 *a, global float2 *b) {
    a[0] = (int4)(1, 2, 3, 4) + s;
    b[0] = (float2)(0.5f, 2.0f) * s;
}
