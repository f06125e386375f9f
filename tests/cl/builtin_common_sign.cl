// sign: 1, -1, a zero of x's sign, and 0 for NaN.
// needs: f64
// kernel: run
// arg: float8:3, -2, 0, -0, inf, -inf, nan, 1e-40
// arg: buf:float8:1
// expect: 1, -1, 0, -0, 1, -1, 0, 1
// arg: buf:float:8
// expect: 1, -1, 0, -0, 1, -1, 0, 1
// arg: buf:double4:2
// expect: 1, -1, 0, -0, 1, -1, 0, 1
kernel void run(float8 x, global float8 *out, global float *scalars, global double4 *wide) {
    *out = sign(x);
    float all[8];
    vstore8(x, 0, all);
    for (int i = 0; i < 8; i++) scalars[i] = sign(all[i]);
    wide[0] = sign(convert_double4(x.lo));
    wide[1] = sign(convert_double4(x.hi));
}
