// All compound assignments on vectors, with vector and scalar right sides.
// kernel: run
// arg: buf:int4:1
// expect: 27, 34, 41, 47
// arg: buf:uint2:1
// expect: 0x2d, 0x33
kernel void run(global int4 *out, global uint2 *bits) {
    int4 v = (int4)(1, 2, 3, 4);
    v += 2;
    v *= (int4)(10);
    v -= v / 3;
    v /= 1;
    v %= 100;
    v += (int4)(7);
    out[0] = v;
    uint2 u = (uint2)(1, 2);
    u <<= 3;
    u |= 5;
    u ^= (uint2)(0x20, 0x26);
    u &= 0xff;
    u >>= (uint2)(0);
    bits[0] = u;
}
