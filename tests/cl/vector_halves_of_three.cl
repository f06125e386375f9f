// A 3-vector's .hi and .odd have a second component that is not defined; the first ones are.
// kernel: run
// arg: int3:10,20,30
// arg: buf:int:6
// expect: 10, 20, 30, 10, 30, 20
kernel void run(int3 v, global int *out) {
    out[0] = v.lo.x;
    out[1] = v.lo.y;
    out[2] = v.hi.x;
    out[3] = v.even.x;
    out[4] = v.even.y;
    out[5] = v.odd.x;
}
