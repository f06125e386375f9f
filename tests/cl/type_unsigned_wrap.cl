// Unsigned arithmetic wraps in every width.
// kernel: run
// arg: uint:0xffffffff
// arg: ulong:0xffffffffffffffff
// arg: buf:ulong:7
// expect: 0, 4294967294, 1, 0, 1, 0, 65535
kernel void run(uint a, ulong b, global ulong *out) {
    out[0] = a + 1u;
    out[1] = a * 2u;
    out[2] = a * a;
    out[3] = b + 1;
    out[4] = b * b;
    uchar c = 255;
    c++;
    out[5] = c;
    ushort d = 0;
    d--;
    out[6] = d;
}
