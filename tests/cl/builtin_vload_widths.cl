// vload and vstore of every width; the index counts vectors, and a vector of 3 takes 3 places.
// kernel: run
// arg: buf:int:32=0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
//   24, 25, 26, 27, 28, 29, 30, 31
// arg: buf:int:48=-1
// expect: -1, -1, 2, 3, -1, -1, -1, -1, -1, 3, 4, 5, -1, -1, -1, -1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
//   -1, -1, -1, -1, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
kernel void run(global const int *in, global int *out) {
    vstore2(vload2(1, in), 1, out);
    vstore3(vload3(1, in), 3, out);
    vstore4(vload4(1, in), 4, out);
    vstore8(vload8(1, in), 0, out + 20);
    vstore16(vload16(1, in), 2, out);
}
