// Bytes of a private variable through a pointer.
// kernel: run
// arg: buf:uint:3
// expect: 0x04, 0x01ff0304, 2
kernel void run(global uint *out) {
    uint x = 0x01020304;
    private uchar *p = (private uchar *)&x;
    out[0] = p[0];
    out[2] = p[2];
    p[2] = 0xff;
    out[1] = x;
}
