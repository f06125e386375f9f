// asinh: within 4 ulp; zero keeps its sign.
// kernel: floats
// global: 21
// arg: buf:float:21=0.1, -0.5, 1, -1.5, 2.75, -3, 4.25, 5, 0.001, -1e-8, 0.75, -0.25, 6.5, 0.0625,
//   -0.9, 2, 100000, -1e10, 1e30, 3.4028235e38, -3.4028235e38
// arg: buf:float:21
// expect: 0.09983408, -0.4812118, 0.8813736, -1.1947632, 1.7362776, -1.8184465, 2.153628, 2.3124382,
//   0.0009999999, -1e-8, 0.6931472, -0.24746646, 2.5708146, 0.06245938, -0.8088669, 1.4436355,
//   12.206073, -23.718998, 69.7707, 89.415985, -89.415985 ulp 4
// kernel: floats
// global: 7
// arg: buf:float:7=0, -0, inf, -inf, nan, 1e-45, -1e-45
// arg: buf:float:7
// expect: 0, -0, inf, -inf, nan, 1e-45, -1e-45
// kernel: doubles
// needs: f64
// global: 21
// arg: buf:double:21=0.1, -0.5, 1, -1.5, 2.75, -3, 4.25, 5, 0.001, -1e-8, 0.75, -0.25, 6.5, 0.0625,
//   -0.9, 2, 100000, -10000000000.0, 1e30, 1.7976931348623157e308, -1.7976931348623157e308
// arg: buf:double:21
// expect: 0.09983407889920756, -0.48121182505960347, 0.881373587019543, -1.1947632172871092,
//   1.7362775864618003, -1.8184464592320668, 2.153628170462028, 2.3124383412727525,
//   0.0009999998333334083, -1e-8, 0.6931471805599453, -0.24746646154726346, 2.570814678095697,
//   0.062459381255540306, -0.8088669356527824, 1.4436354751788103, 12.206072645555174,
//   -23.7189981105004, 69.77069997038132, 710.475860073944, -710.475860073944 ulp 4
// kernel: doubles
// needs: f64
// global: 7
// arg: buf:double:7=0, -0, inf, -inf, nan, 5e-324, -5e-324
// arg: buf:double:7
// expect: 0, -0, inf, -inf, nan, 5e-324, -5e-324
// kernel: vectors
// needs: f64
// arg: buf:float:4=0.1, -0.5, 1, -1.5
// arg: buf:float:9
// expect: 0.09983408, -0.4812118, 0.09983408, -0.4812118, 0.8813736, 0.09983408, -0.4812118,
//   0.8813736, -1.1947632 ulp 4
// arg: buf:double:2=0.1, -0.5
// arg: buf:double:2
// expect: 0.09983407889920756, -0.48121182505960347 ulp 4
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = asinh(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = asinh(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(asinh(vload2(0, x)), 0, out);
    vstore3(asinh(vload3(0, x)), 0, out + 2);
    vstore4(asinh(vload4(0, x)), 0, out + 5);
    vstore2(asinh(vload2(0, dx)), 0, wide);
}
#endif
