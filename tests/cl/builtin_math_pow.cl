// pow: within 16 ulp, and all the special cases of C99.
// kernel: floats
// global: 16
// arg: buf:float:16=2, 2, 10, 1.5, 0.1, -2, -2, -1.5, 1.0001, 0.999, 100, 3, 1e-10, 1e10, 7, 0.5
// arg: buf:float:16=0.5, 10, -3, 7.25, 2, 3, 4, -3, 10000, 5000, 5.5, -20, 2.5, 3, 1, 100
// arg: buf:float:16
// expect: 1.4142135, 1024, 0.001, 18.908699, 0.010000001, -8, 16, -0.2962963, 2.718597, 0.006721545,
//   1e11, 2.867972e-10, 1e-25, 1e30, 7, 7.888609e-31 ulp 16
// kernel: floats
// global: 32
// arg: buf:float:32=1, 1, nan, nan, 5, -1, -1, 0, -0, -0, 0, 0, -0, -0, 0, -2, 0.5, 2, 0.5, 2, -inf,
//   -inf, -inf, -inf, inf, inf, 2, nan, 10, -10, 10, -10
// arg: buf:float:32=nan, inf, 0, -0, 0, inf, -inf, -3, -3, -2, -1.5, -inf, 3, 2, 0.5, 0.5, -inf,
//   -inf, inf, inf, -3, -2, 3, 2, -1, 1, nan, 2, 1000, 1001, -1000, -1001
// arg: buf:float:32
// expect: 1, 1, 1, 1, 1, 1, 1, inf, -inf, inf, inf, inf, -0, 0, 0, nan, inf, 0, 0, inf, -0, 0, -inf,
//   inf, 0, inf, nan, nan, inf, -inf, 0, -0
// kernel: doubles
// needs: f64
// global: 16
// arg: buf:double:16=2, 2, 10, 1.5, 0.1, -2, -2, -1.5, 1.0001, 0.999, 100, 3, 1e-10, 10000000000.0,
//   7, 0.5
// arg: buf:double:16=0.5, 10, -3, 7.25, 2, 3, 4, -3, 10000, 5000, 5.5, -20, 2.5, 3, 1, 100
// arg: buf:double:16
// expect: 1.4142135623730951, 1024, 0.001, 18.908698112379714, 0.010000000000000002, -8, 16,
//   -0.2962962962962963, 2.7181459268249255, 0.006721111959865588, 100000000000.0,
//   2.8679719907924413e-10, 1e-25, 1e30, 7, 7.888609052210118e-31 ulp 16
// kernel: doubles
// needs: f64
// global: 32
// arg: buf:double:32=1, 1, nan, nan, 5, -1, -1, 0, -0, -0, 0, 0, -0, -0, 0, -2, 0.5, 2, 0.5, 2, -inf,
//   -inf, -inf, -inf, inf, inf, 2, nan, 10, -10, 10, -10
// arg: buf:double:32=nan, inf, 0, -0, 0, inf, -inf, -3, -3, -2, -1.5, -inf, 3, 2, 0.5, 0.5, -inf,
//   -inf, inf, inf, -3, -2, 3, 2, -1, 1, nan, 2, 1000, 1001, -1000, -1001
// arg: buf:double:32
// expect: 1, 1, 1, 1, 1, 1, 1, inf, -inf, inf, inf, inf, -0, 0, 0, nan, inf, 0, 0, inf, -0, 0, -inf,
//   inf, 0, inf, nan, nan, inf, -inf, 0, -0
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
    out[i] = pow(x[i], y[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global const double *y, global double *out) {
    size_t i = get_global_id(0);
    out[i] = pow(x[i], y[i]);
}

kernel void vectors(global const float *x, global const float *y, global float *out,
                    global const double *dx, global const double *dy, global double *wide) {
    vstore2(pow(vload2(0, x), vload2(0, y)), 0, out);
    vstore3(pow(vload3(0, x), vload3(0, y)), 0, out + 2);
    vstore4(pow(vload4(0, x), vload4(0, y)), 0, out + 5);
    vstore2(pow(vload2(0, dx), vload2(0, dy)), 0, wide);
}
#endif
