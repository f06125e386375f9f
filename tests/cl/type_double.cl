// double: literals without a suffix, arithmetic beyond float's precision.
// needs: f64
// kernel: run
// arg: double:0.1
// arg: buf:double:5
// expect: 0.1, 0.30000000000000004, 9.999999999999999e+299, 1.0000000000000002, 3.3333333333333335
kernel void run(double x, global double *out) {
    out[0] = x;
    out[1] = x + 0.2;
    out[2] = 1e150 * 1e150;
    out[3] = 1.0 + 0x1p-52;
    out[4] = 10.0 / 3.0;
}
