// Vector literals: a splat, scalars, and any mix of smaller vectors.
// kernel: run
// arg: buf:int4:5
// expect: 7, 7, 7, 7, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 5, 6, 7, 8
kernel void run(global int4 *out) {
    int2 a = (int2)(1, 2), b = (int2)(3, 4);
    int3 c = (int3)(b.y, 3, 2);
    out[0] = (int4)(7);
    out[1] = (int4)(1, 2, 3, 4);
    out[2] = (int4)(a, b);
    out[3] = (int4)(1, (int2)(2, 3), 4);
    out[4] = ((int8)((int4)(a, b), c.x + 1, 6, (int2)(7, 8))).hi;
}
