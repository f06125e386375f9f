// Infinities, NaN and signed zero in arithmetic and comparisons.
// kernel: run
// arg: float:0
// arg: buf:float:5
// expect: inf, -inf, nan, -0, nan
// arg: buf:int:6
// expect: 0, 1, 0, 0, 1, 1
kernel void run(float zero, global float *out, global int *test) {
    float nan = zero / zero;
    out[0] = 1.0f / zero;
    out[1] = 1.0f / -zero;
    out[2] = nan;
    out[3] = -zero;
    out[4] = out[0] - out[0];
    test[0] = nan == nan;
    test[1] = nan != nan;
    test[2] = nan < 1.0f;
    test[3] = nan >= 1.0f;
    test[4] = zero == -zero;
    test[5] = !(nan < 1.0f);
}
