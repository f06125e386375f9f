// as_type keeps the bits: between float and int, between widths, between 3 and 4 components.
// kernel: run
// arg: buf:uint:8
// expect: 0x3f800000, 0x40490fdb, 0x04030201, 0x0201, 0x0403, 7, 8, 9
kernel void run(global uint *out) {
    out[0] = as_uint(1.0f);
    out[1] = as_uint2((float2)(0, 3.14159274f)).y;
    out[2] = as_uint((uchar4)(1, 2, 3, 4));
    ushort2 s = as_ushort2(0x04030201);
    out[3] = s.x;
    out[4] = s.y;
    uint4 v = as_uint4((int3)(7, 8, 9));
    out[5] = v.x;
    out[6] = v.y;
    out[7] = as_uint3((int4)(7, 8, 9, 10)).z;
}
