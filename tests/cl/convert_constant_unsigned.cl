// A number of 32 bits that is a constant only where the loop behind it has ended has zeros above it when it is extended.
// kernel: run
// global: 1
// arg: buf:uint:8=9,0,0,0,0,0,0,0
// expect: 0xffffffe2, 15, 0, 0, 0, 0, 0, 0
// arg: uint:5
kernel void run(global uint *out, uint n) {
    uint3 u = (uint3)(n);
    int k = 0;
    do {
        u.s0 = n * 3;
        u.s2 = (uint)(char)((uint)(char)(1) - (uint)(char)(31));
    } while (++k < 4 && out[k] != n);
    ulong x = (ulong)u.s2;
    out[0] = (uint)x ^ (uint)(x >> 32);
    out[1] = u.s0;
}
