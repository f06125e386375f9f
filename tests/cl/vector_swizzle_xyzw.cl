// .xyzw in any order and with repetition, as values.
// kernel: run
// arg: int4:1,2,3,4
// arg: buf:int4:4
// expect: 4, 3, 2, 1, 1, 1, 3, 3, 2, 4, 2, 4, 1, 2, 1, 2
kernel void run(int4 v, global int4 *out) {
    out[0] = v.wzyx;
    out[1] = v.xxzz;
    out[2] = (int4)(v.yw, v.yw);
    out[3] = v.xy.xyxy;
}
