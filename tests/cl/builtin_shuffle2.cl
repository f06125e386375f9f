// shuffle2 counts through both vectors.
// kernel: run
// arg: buf:short:16
// expect: 1, 5, 2, 6, 3, 7, 4, 8, 8, 1, 5, 4, 1, 2, 9, 10
// arg: buf:float:16
// expect: 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 31, 15
kernel void run(global short *out, global float *f) {
    short4 a = (short4)(1, 2, 3, 4), b = (short4)(5, 6, 7, 8);
    vstore8(shuffle2(a, b, (ushort8)(0, 4, 1, 5, 2, 6, 3, 7)), 0, out);
    vstore4(shuffle2(a, b, (ushort4)(7, 8, 12, 3)), 0, out + 8);
    vstore4(shuffle2((short2)(1, 2), (short2)(9, 10), (ushort4)(0, 1, 2, 3)), 0, out + 12);
    float16 x = (float16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    vstore16(shuffle2(x, x + 16, (uint16)(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 31, 15)), 0, f);
}
