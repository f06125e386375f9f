// && || ! on vectors work by component, without short cut, and give 0 or -1.
// kernel: run
// arg: int4:0,1,0,5
// arg: int4:0,0,2,7
// arg: buf:int4:4
// expect: 0, 0, 0, -1, 0, -1, -1, -1, -1, 0, -1, 0, 0, -1, 0, -1
kernel void run(int4 a, int4 b, global int4 *out) {
    out[0] = a && b;
    out[1] = a || b;
    out[2] = !a;
    out[3] = !!a;
}
