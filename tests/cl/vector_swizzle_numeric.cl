// .s with hexadecimal digits in either case, of 8 and 16 components.
// kernel: run
// arg: buf:int16:1=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
// arg: buf:int8:3
// expect: 15, 14, 13, 12, 11, 10, 9, 8, 0, 0, 10, 10, 15, 15, 3, 3, 7, 5, 3, 1, 6, 4, 2, 0
kernel void run(global int16 *in, global int8 *out) {
    int16 v = in[0];
    out[0] = v.sfedcba98;
    out[1] = v.S00aAFf33;
    out[2] = v.lo.s75316420;
}
