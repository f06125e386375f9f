// ++ and -- on vectors and on single components.
// kernel: run
// arg: buf:int4:4
// expect: 1, 2, 3, 4, 2, 3, 4, 5, 2, 3, 4, 4, 12, 3, 4, 4
kernel void run(global int4 *out) {
    int4 v = (int4)(1, 2, 3, 4);
    out[0] = v++;
    out[1] = v;
    v.w--;
    out[2] = v;
    v.x += 10;
    out[3] = v;
}
