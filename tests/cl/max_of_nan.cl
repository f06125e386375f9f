// The larger and the smaller of two floats, NaN where one is: an instruction of some devices. Of zeros either may come out, whose sign adding 0 takes away.
// kernel: run
// arg: buf:float:8=1, -2, nan, 3, nan, inf, -inf, -0
// arg: buf:float:8=2, -3, 1, nan, nan, 5, -inf, 0
// arg: buf:float:8
// expect: 2, -2, nan, nan, nan, inf, -inf, 0
// arg: buf:float:8
// expect: 1, -3, nan, nan, nan, 5, -inf, 0
// global: 8
kernel void run(global const float *x, global const float *y, global float *larger, global float *smaller) {
    const size_t i = get_global_id(0);
    const float a = x[i], b = y[i];
    larger[i] = (a != a || b != b ? a + b : fmax(a, b)) + 0.0f;
    smaller[i] = (b != b || a != a ? a + b : fmin(b, a)) + 0.0f;
}
