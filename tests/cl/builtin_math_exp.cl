// exp: within 3 ulp, down to denormals.
// kernel: floats
// global: 19
// arg: buf:float:19=0.1, -0.5, 1, -1.5, 2.75, -3, 10, 20.5, 0.001, -1e-8, 0.75, -0.25, -20, 50, -80,
//   87, 88.5, -88, -100
// arg: buf:float:19
// expect: 1.105171, 0.60653067, 2.7182817, 0.22313017, 15.642632, 0.049787067, 22026.465, 7.999022e8,
//   1.0010005, 1, 2.117, 0.7788008, 2.0611537e-9, 5.1847055e21, 1.8048513e-35, 6.0760303e37,
//   2.723088e38, 6.054601e-39, 3.8e-44 ulp 3
// kernel: floats
// global: 10
// arg: buf:float:10=0, -0, inf, -inf, 2000, -2000, 3.4028235e38, -3.4028235e38, 1e-45, nan
// arg: buf:float:10
// expect: 1, 1, inf, 0, inf, 0, inf, 0, 1, nan
// kernel: doubles
// needs: f64
// global: 19
// arg: buf:double:19=0.1, -0.5, 1, -1.5, 2.75, -3, 10, 20.5, 0.001, -1e-8, 0.75, -0.25, -20, 50, -80,
//   87, 700, -708, -740
// arg: buf:double:19
// expect: 1.1051709180756477, 0.6065306597126334, 2.718281828459045, 0.22313016014842982,
//   15.642631884188171, 0.049787068367863944, 22026.465794806718, 799902177.4755054,
//   1.0010005001667084, 0.9999999900000001, 2.117000016612675, 0.7788007830714049,
//   2.061153622438558e-9, 5.184705528587072e21, 1.8048513878454153e-35, 6.076030225056872e37,
//   1.0142320547350045e304, 3.307553003638408e-308, 4.2e-322 ulp 3
// kernel: doubles
// needs: f64
// global: 10
// arg: buf:double:10=0, -0, inf, -inf, 2000, -2000, 1.7976931348623157e308, -1.7976931348623157e308,
//   5e-324, nan
// arg: buf:double:10
// expect: 1, 1, inf, 0, inf, 0, inf, 0, 1, nan
// kernel: vectors
// needs: f64
// arg: buf:float:4=0.1, -0.5, 1, -1.5
// arg: buf:float:9
// expect: 1.105171, 0.60653067, 1.105171, 0.60653067, 2.7182817, 1.105171, 0.60653067, 2.7182817,
//   0.22313017 ulp 3
// arg: buf:double:2=0.1, -0.5
// arg: buf:double:2
// expect: 1.1051709180756477, 0.6065306597126334 ulp 3
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = exp(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = exp(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(exp(vload2(0, x)), 0, out);
    vstore3(exp(vload3(0, x)), 0, out + 2);
    vstore4(exp(vload4(0, x)), 0, out + 5);
    vstore2(exp(vload2(0, dx)), 0, wide);
}
#endif
