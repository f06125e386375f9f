// clamp, min and max of floats, doubles and vectors.
// needs: f64
// kernel: run
// arg: float8:-inf, -1, -0.5, 0, 0.25, 0.5, 2, inf
// arg: buf:float8:3
// expect: -0.5, -0.5, -0.5, 0, 0.25, 0.25, 0.25, 0.25, -inf, -1, -0.5, 0, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25,
//   0.25, 0.5, 2, inf
// arg: buf:double:3
// expect: 2, 1.5, 3
kernel void run(float8 x, global float8 *out, global double *wide) {
    out[0] = clamp(x, (float8)(-0.5f), (float8)(0.25f));
    out[1] = min(x, (float8)(0.25f));
    out[2] = max(x, (float8)(0.25f));
    double d = x.s6;
    wide[0] = clamp(d, 1.0, 3.0);
    wide[1] = min(d, 1.5);
    wide[2] = max(3.0, d);
}
