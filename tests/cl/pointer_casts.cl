// Casts between pointee types reinterpret the bytes.
// kernel: run
// arg: buf:uint:2=0x11223344, 0x55667788
// expect: 0xaa223344, 0x5566ffff
// arg: buf:uint:5
// expect: 0x44, 0x5566, 0x11223344, 0x3344, 0x55667788
kernel void run(global uint *p, global uint *out) {
    global uchar *bytes = (global uchar *)p;
    global ushort *shorts = (global ushort *)p;
    out[0] = bytes[0];
    out[1] = shorts[3];
    ulong both = *(global ulong *)p;
    out[2] = (uint)both;
    out[3] = *(global ushort *)bytes;
    out[4] = (uint)(both >> 32);
    bytes[3] = 0xaa;
    shorts[2] = 0xffff;
}
