// .lo .hi .odd .even as lvalues, also one inside the other.
// kernel: run
// arg: buf:int8:4
// expect: 1, 1, 1, 1, 2, 2, 2, 2, 3, 4, 3, 4, 3, 4, 3, 4, 0, 0, 0, 0, 5, 6, 0, 0, 0, 0, 0, 0, 0, 8, 0, 9
kernel void run(global int8 *out) {
    int8 v;
    v.lo = 1;
    v.hi = 2;
    out[0] = v;
    v.even = 3;
    v.odd = 4;
    out[1] = v;
    v = 0;
    v.hi.lo = (int2)(5, 6);
    out[2] = v;
    v = 0;
    v.odd.hi = (int2)(8, 9);
    out[3] = v;
}
