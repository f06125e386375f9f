// A cast of a scalar to a vector splats after converting to the element type.
// kernel: run
// arg: float:2.75
// arg: buf:int4:1
// expect: 2, 2, 2, 2
// arg: buf:float2:1
// expect: 3, 3
// arg: buf:uchar4:1
// expect: 44, 44, 44, 44
kernel void run(float x, global int4 *a, global float2 *b, global uchar4 *c) {
    a[0] = (int4)x;
    b[0] = (float2)3;
    c[0] = (uchar4)300;
}
