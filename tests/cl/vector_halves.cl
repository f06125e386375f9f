// .lo .hi .odd .even of every width, as values.
// kernel: run
// arg: buf:int8:1=0,1,2,3,4,5,6,7
// arg: buf:int4:6
// expect: 0, 1, 2, 3, 4, 5, 6, 7, 1, 3, 5, 7, 0, 2, 4, 6, 6, 7, 1, 5, 0, 3, 6, 7
kernel void run(global int8 *in, global int4 *out) {
    int8 v = in[0];
    out[0] = v.lo;
    out[1] = v.hi;
    out[2] = v.odd;
    out[3] = v.even;
    out[4] = (int4)(v.hi.hi, v.odd.even);
    out[5] = (int4)(v.lo.lo.lo, v.odd.lo.hi, v.hi.zw);
}
