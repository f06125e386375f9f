// powr: within 16 ulp; x must not be negative, and 1 to an infinity is undefined.
// kernel: floats
// global: 13
// arg: buf:float:13=2, 2, 10, 1.5, 0.1, 1.0001, 0.999, 100, 3, 1e-10, 1e10, 7, 0.5
// arg: buf:float:13=0.5, 10, -3, 7.25, 2, 10000, 5000, 5.5, -20, 2.5, 3, 1, 100
// arg: buf:float:13
// expect: 1.4142135, 1024, 0.001, 18.908699, 0.010000001, 2.718597, 0.006721545, 1e11, 2.867972e-10,
//   1e-25, 1e30, 7, 7.888609e-31 ulp 16
// kernel: floats
// global: 18
// arg: buf:float:18=5, 0, -0, 0, 0, -0, 1, -2, 0, -0, inf, 1, 1, 2, nan, nan, 2, 0.5
// arg: buf:float:18=0, -3, -2.5, -inf, 2, 3, 7, 2, 0, -0, 0, inf, -inf, nan, 2, 0, inf, inf
// arg: buf:float:18
// expect: 1, inf, inf, inf, 0, 0, 1, nan, nan, nan, nan, nan, nan, nan, nan, nan, inf, 0
// kernel: doubles
// needs: f64
// global: 13
// arg: buf:double:13=2, 2, 10, 1.5, 0.1, 1.0001, 0.999, 100, 3, 1e-10, 10000000000.0, 7, 0.5
// arg: buf:double:13=0.5, 10, -3, 7.25, 2, 10000, 5000, 5.5, -20, 2.5, 3, 1, 100
// arg: buf:double:13
// expect: 1.4142135623730951, 1024, 0.001, 18.908698112379714, 0.010000000000000002,
//   2.7181459268249255, 0.006721111959865588, 100000000000.0, 2.8679719907924413e-10, 1e-25, 1e30, 7,
//   7.888609052210118e-31 ulp 16
// kernel: doubles
// needs: f64
// global: 18
// arg: buf:double:18=5, 0, -0, 0, 0, -0, 1, -2, 0, -0, inf, 1, 1, 2, nan, nan, 2, 0.5
// arg: buf:double:18=0, -3, -2.5, -inf, 2, 3, 7, 2, 0, -0, 0, inf, -inf, nan, 2, 0, inf, inf
// arg: buf:double:18
// expect: 1, inf, inf, inf, 0, 0, 1, nan, nan, nan, nan, nan, nan, nan, nan, nan, inf, 0
// kernel: vectors
// needs: f64
// arg: buf:float:4=2, 2, 10, 1.5
// arg: buf:float:4=0.5, 10, -3, 7.25
// arg: buf:float:9
// expect: 1.4142135, 1024, 1.4142135, 1024, 0.001, 1.4142135, 1024, 0.001, 18.908699 ulp 16
// arg: buf:double:2=2, 2
// arg: buf:double:2=0.5, 10
// arg: buf:double:2
// expect: 1.4142135623730951, 1024 ulp 16
kernel void floats(global const float *x, global const float *y, global float *out) {
    size_t i = get_global_id(0);
    out[i] = powr(x[i], y[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global const double *y, global double *out) {
    size_t i = get_global_id(0);
    out[i] = powr(x[i], y[i]);
}

kernel void vectors(global const float *x, global const float *y, global float *out,
                    global const double *dx, global const double *dy, global double *wide) {
    vstore2(powr(vload2(0, x), vload2(0, y)), 0, out);
    vstore3(powr(vload3(0, x), vload3(0, y)), 0, out + 2);
    vstore4(powr(vload4(0, x), vload4(0, y)), 0, out + 5);
    vstore2(powr(vload2(0, dx), vload2(0, dy)), 0, wide);
}
#endif
