// For vectors the shift count is modulo the element's width, 8 bits here.
// warning: 9: shift count
// warning: 10: shift count
// kernel: run
// arg: buf:uchar4:1=1, 2, 0x80, 0xff
// arg: buf:uchar4:2
// expect: 2, 4, 0, 0xfe, 0, 1, 0x40, 0x7f
kernel void run(global uchar4 *in, global uchar4 *out) {
    out[0] = in[0] << (uchar4)(9);
    out[1] = in[0] >> (uchar4)(17);
}
