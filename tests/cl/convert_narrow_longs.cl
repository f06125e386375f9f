// Vectors of 64-bit integers narrowed to every smaller integer type, cut and saturating.
// kernel: cut
// global: 2
// arg: buf:long:8=0x123456789abcdef0,-1,300,-70000,0x7fffffff80000001,-129,65535,-2147483649
// arg: buf:char:8
// expect: -16, -1, 44, -112, 1, 127, -1, -1
// arg: buf:ushort:8
// expect: 57072, 65535, 300, 61072, 1, 65407, 65535, 65535
// arg: buf:int:8
// expect: -1698898192, -1, 300, -70000, -2147483647, -129, 65535, 2147483647
// kernel: saturated
// global: 2
// arg: buf:long:8=0x123456789abcdef0,-1,300,-70000,0x7fffffff80000001,-129,65535,-2147483649
// arg: buf:char:8
// expect: 127, -1, 127, -128, 127, -128, 127, -128
// arg: buf:uchar:8
// expect: 255, 255, 255, 255, 255, 255, 255, 255
// arg: buf:short:8
// expect: 32767, -1, 300, -32768, 32767, -129, 32767, -32768
// arg: buf:uint:8
// expect: 4294967295, 4294967295, 300, 4294967295, 4294967295, 4294967295, 65535, 4294967295
// kernel: lanes
// global: 1
// arg: buf:long:16=1,2,3,260,5,6,7,-8,9,10,11,12,13,14,15,-16
// arg: buf:uchar:32
// expect: 1, 2, 1, 2, 3, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 248,
//         1, 2, 3, 4, 5, 6, 7, 248, 9, 10, 11, 12, 13, 14, 15, 240
// arg: buf:long:2
// expect: 6, 12
kernel void cut(global const long4 *x, global char4 *c, global ushort4 *s, global int4 *w) {
    int i = get_global_id(0);
    c[i] = convert_char4(x[i]);
    s[i] = convert_ushort4(x[i]);
    w[i] = convert_int4(x[i]);
}

kernel void saturated(global const long4 *x, global char4 *c, global uchar4 *u, global short4 *s, global uint4 *w) {
    int i = get_global_id(0);
    c[i] = convert_char4_sat(x[i]);
    u[i] = convert_uchar4_sat(as_ulong4(x[i]));
    s[i] = convert_short4_sat(x[i]);
    w[i] = convert_uint4_sat(as_ulong4(x[i]));
}

// Two, three, eight and sixteen lanes; the wide value is used on.
kernel void lanes(global const long *x, global uchar *o, global long *sums) {
    long2 two = vload2(0, x);
    long3 three = vload3(0, x);
    vstore2(convert_uchar2(two), 0, o);
    vstore3(convert_uchar3(three), 0, o + 2);
    vstore8(convert_uchar8(vload8(0, x)), 1, o);
    vstore16(convert_uchar16(vload16(0, x)), 1, o);
    sums[0] = three.x + three.y + three.z;
    sums[1] = (two * 4).x * two.y + 4 * x[0];
}
