// bitselect(a, b, c) takes from b the bits that c has set; of floats too, bit by bit.
// needs: f64
// kernel: run
// arg: buf:uint:6
// expect: 0x12345678, 0x9abcdef0, 0x1234def0, 0x9a34de78, 0x00ff00ff, 0xff00ff00
// arg: buf:float:3
// expect: -1.5, 2.5, -2
// arg: buf:double2:1
// expect: -3, 7
// arg: buf:char4:1
// expect: -1, 0, 15, -16
// arg: buf:ulong:1
// expect: 0x00ff00ff00ff00ff
kernel void run(global uint *out, global float *f, global double2 *d, global char4 *c, global ulong *l) {
    uint a = 0x12345678, b = 0x9abcdef0;
    out[0] = bitselect(a, b, 0u);
    out[1] = bitselect(a, b, ~0u);
    out[2] = bitselect(a, b, 0xffffu);
    out[3] = bitselect(a, b, 0xff00ff00u);
    uint2 v = bitselect((uint2)(0, ~0u), (uint2)(~0u, 0), (uint2)(0x00ff00ff));
    out[4] = v.x;
    out[5] = v.y;
    f[0] = bitselect(1.5f, -2.5f, as_float(0x80000000u)); /* the sign only */
    f[1] = bitselect(1.5f, 2.5f, as_float(0xffffffffu));
    f[2] = bitselect(-1.5f, 2.5f, as_float(0x7fc00000u));
    *d = bitselect((double2)(3, 5), (double2)(-5, 7), (double2)(-0.0, as_double(~0ul)));
    *c = bitselect((char4)(0, 0, 0, -1), (char4)(-1, -1, -1, 0), (char4)(-1, 0, 15, 15));
    *l = bitselect(0ul, ~0ul, 0x00ff00ff00ff00fful);
}
