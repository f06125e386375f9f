// vload and vstore need no more alignment than an element has.
// needs: f64
// kernel: run
// arg: buf:uchar:40=0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
//   26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39
// arg: buf:uchar:20
// expect: 0, 5, 6, 7, 8, 9, 10, 11, 12, 0, 0, 33, 34, 35, 0, 0, 0, 0, 0, 0
// arg: buf:float:9=1, 2, 3, 4, 5, 6, 7, 8, 9
// expect: 1, 3, 4, 5, 6, 6, 7, 8, 9
// arg: buf:double:5=1, 2, 3, 4, 5
// expect: 2, 1, 5, 4, 3
kernel void run(global const uchar *in, global uchar *out, global float *f, global double *d) {
    vstore8(vload8(0, in + 5), 0, out + 1);
    vstore3(vload3(11, in), 0, out + 11);
    vstore4(vload4(0, f + 2), 0, f + 1);
    double4 v = vload4(0, d + 1);
    vstore2((double2)(d[1], d[0]), 0, d);
    vstore3(v.wzy, 0, d + 2);
}
