// Initialisers with vectors: by literal, by a scalar, inside arrays and structs.
// kernel: run
// arg: buf:float4:4
// expect: 1, 2, 3, 4, 5, 5, 5, 5, 1, 2, 0, 0, 7, 8, 9, 10
typedef struct { float4 v; float2 w[2]; } item;
kernel void run(global float4 *out) {
    float4 a = (float4)(1, 2, 3, 4), b = 5.0f;
    item i = {(float4)(0), {{1, 2}}};
    float4 list[2] = {a, (float4)(7, 8, 9, 10)};
    out[0] = list[0];
    out[1] = b;
    out[2] = (float4)(i.w[0], i.w[1]);
    out[3] = list[1];
}
