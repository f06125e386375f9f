// isordered and isunordered: 1 for true of scalars, -1 of vectors; NaN is unordered.
// kernel: floats
// arg: float8:1, 2, 2, -0, inf, -inf, nan, 1
// arg: float8:2, 1, 2, 0, inf, inf, nan, nan
// arg: buf:int8:2
// expect: -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1
// arg: buf:int:16
// expect: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1
// kernel: doubles
// needs: f64
// arg: double8:1, 2, 2, -0, inf, -inf, nan, 1
// arg: double8:2, 1, 2, 0, inf, inf, nan, nan
// arg: buf:long8:2
// expect: -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1
// arg: buf:int:16
// expect: 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1
kernel void floats(float8 a, float8 b, global int8 *vectors, global int *scalars) {
    float x[8], y[8];
    vstore8(a, 0, x);
    vstore8(b, 0, y);
    vectors[0] = isordered(a, b);
    vectors[1] = isunordered(a, b);
    for (int i = 0; i < 8; i++) {
        scalars[i] = isordered(x[i], y[i]);
        scalars[i + 8] = isunordered(x[i], y[i]);
    }
}
#ifdef cl_khr_fp64
kernel void doubles(double8 a, double8 b, global long8 *vectors, global int *scalars) {
    double x[8], y[8];
    vstore8(a, 0, x);
    vstore8(b, 0, y);
    vectors[0] = isordered(a, b);
    vectors[1] = isunordered(a, b);
    for (int i = 0; i < 8; i++) {
        scalars[i] = isordered(x[i], y[i]);
        scalars[i + 8] = isunordered(x[i], y[i]);
    }
}
#endif
