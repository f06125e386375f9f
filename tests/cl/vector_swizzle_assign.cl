// Swizzles as lvalues: order matters, other components keep their values.
// kernel: run
// arg: buf:int4:6
// expect: 2, 1, 0, 0, 0, 10, 0, 20, 4, 3, 2, 1, 5, 5, 5, 9, 1, 2, 6, 8, 9, 0, 0, 7
kernel void run(global int4 *out) {
    int4 v = 0;
    v.yx = (int2)(1, 2);
    out[0] = v;
    v = 0;
    v.yw = (int2)(10, 20);
    out[1] = v;
    v = (int4)(1, 2, 3, 4);
    v = v.wzyx;
    out[2] = v;
    v = 5;
    v.s3 = 9;
    out[3] = v;
    v = (int4)(1, 2, 3, 4);
    v.zw += v.zw;
    out[4] = v;
    v = 0;
    v.xw.x = 9;
    v.xw.y = 7;
    out[5] = v;
}
