// Components of vectors that are values: of what a function returns, of an expression, of other components.
// kernel: run
// arg: int:1
// arg: buf:int:8
// expect: 11, 12, 13, 24, 26, 13, 14, 12
int4 make(int by) { return (int4)(by, by + 1, by + 2, by + 3); }
kernel void run(int n, global int *o) {
    int4 v = make(11);
    o[0] = make(11)[0];
    o[1] = make(11)[n];
    o[2] = make(11).z;
    o[3] = (v + v)[1];
    o[4] = (v + v)[n + 1];
    o[5] = v.zw[0];
    o[6] = v.zw[n];
    o[7] = make(10).yzw.s12[0];
}
