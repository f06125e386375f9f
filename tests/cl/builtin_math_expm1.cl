// expm1: exp(x) - 1 within 3 ulp, also near zero.
// kernel: floats
// global: 16
// arg: buf:float:16=0.1, -0.5, 1, -1.5, 2.75, -3, 10, 20.5, 0.001, -1e-8, 0.75, -0.25, -20, 50, -80,
//   87
// arg: buf:float:16
// expect: 0.10517092, -0.39346933, 1.7182819, -0.77686983, 14.642632, -0.95021296, 22025.465,
//   7.999022e8, 0.0010005002, -1e-8, 1.117, -0.22119921, -1, 5.1847055e21, -1, 6.0760303e37 ulp 3
// kernel: floats
// global: 9
// arg: buf:float:9=0, -0, inf, -inf, 2000, -2000, nan, 1e-45, -1e-45
// arg: buf:float:9
// expect: 0, -0, inf, -1, inf, -1, nan, 1e-45, -1e-45
// kernel: doubles
// needs: f64
// global: 16
// arg: buf:double:16=0.1, -0.5, 1, -1.5, 2.75, -3, 10, 20.5, 0.001, -1e-8, 0.75, -0.25, -20, 50, -80,
//   87
// arg: buf:double:16
// expect: 0.10517091807564763, -0.3934693402873666, 1.7182818284590453, -0.7768698398515702,
//   14.642631884188171, -0.950212931632136, 22025.465794806718, 799902176.4755054,
//   0.0010005001667083417, -9.999999950000001e-9, 1.1170000166126746, -0.22119921692859512,
//   -0.9999999979388464, 5.184705528587072e21, -1, 6.076030225056872e37 ulp 3
// kernel: doubles
// needs: f64
// global: 9
// arg: buf:double:9=0, -0, inf, -inf, 2000, -2000, nan, 5e-324, -5e-324
// arg: buf:double:9
// expect: 0, -0, inf, -1, inf, -1, nan, 5e-324, -5e-324
// kernel: vectors
// needs: f64
// arg: buf:float:4=0.1, -0.5, 1, -1.5
// arg: buf:float:9
// expect: 0.10517092, -0.39346933, 0.10517092, -0.39346933, 1.7182819, 0.10517092, -0.39346933,
//   1.7182819, -0.77686983 ulp 3
// arg: buf:double:2=0.1, -0.5
// arg: buf:double:2
// expect: 0.10517091807564763, -0.3934693402873666 ulp 3
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = expm1(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = expm1(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(expm1(vload2(0, x)), 0, out);
    vstore3(expm1(vload3(0, x)), 0, out + 2);
    vstore4(expm1(vload4(0, x)), 0, out + 5);
    vstore2(expm1(vload2(0, dx)), 0, wide);
}
#endif
