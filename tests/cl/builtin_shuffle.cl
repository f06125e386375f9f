// shuffle takes components by a mask, whose high bits do not count; the result has as many as the mask.
// needs: f64
// kernel: run
// arg: float4:10, 20, 30, 40
// arg: buf:float4:3
// expect: 40, 30, 20, 10, 10, 10, 40, 40, 20, 30, 20, 30
// arg: buf:float:10
// expect: 40, 10, 10, 20, 30, 40, 40, 30, 20, 10
// arg: buf:uchar:16
// expect: 15, 0, 14, 1, 13, 2, 12, 3, 11, 4, 10, 5, 9, 6, 8, 7
// arg: buf:double2:1
// expect: 40, 20
// arg: buf:long:8
// expect: 2, 1, 2, 1, 1, 2, 1, 2
kernel void run(float4 v, global float4 *out, global float *f, global uchar *bytes, global double2 *d,
                global long *l) {
    out[0] = shuffle(v, (uint4)(3, 2, 1, 0));
    out[1] = shuffle(v, (uint4)(0, 4, 7, 1027)); /* the low two bits of each */
    out[2] = shuffle(v.yz, (uint4)(0, 1, 2, 3));
    vstore2(shuffle(v, (uint2)(3, 0)), 0, f);
    vstore8(shuffle(v, (uint8)(0, 1, 2, 3, 3, 2, 1, 0)), 0, f + 2);
    uchar16 b = (uchar16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    vstore16(shuffle(b, (uchar16)(15, 0, 14, 1, 13, 2, 12, 3, 11, 4, 10, 5, 9, 6, 8, 7)), 0, bytes);
    *d = shuffle(convert_double4(v), (ulong2)(3, 1));
    vstore8(shuffle((long2)(1, 2), (ulong8)(1, 0, 3, 2, 4, 5, 6, 7)), 0, l);
}
