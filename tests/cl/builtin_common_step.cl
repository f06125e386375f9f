// step(edge, x) is 0 below the edge and 1 from the edge on; smoothstep goes smoothly between two edges.
// needs: f64
// kernel: run
// arg: float8:-2, 0, 0.5, 1, 1.5, 2, 3, 9
// arg: buf:float8:1
// expect: 0, 0, 0, 1, 1, 1, 1, 1
// arg: buf:float8:1
// expect: 0, 0, 0, 0, 0.15625, 0.5, 1, 1 ~1e-5
// arg: buf:double:4
// expect: 0, 1, 0.5, 0.84375 ~1e-5
kernel void run(float8 x, global float8 *steps, global float8 *smooth, global double *wide) {
    *steps = step((float8)(1), x);
    *smooth = smoothstep((float8)(1), (float8)(3), x);
    wide[0] = step(1.0, (double)x.s2);
    wide[1] = step(1.0, (double)x.s3);
    wide[2] = smoothstep(0.0, 4.0, (double)x.s5);
    wide[3] = smoothstep(0.0, 4.0, (double)x.s6);
}
