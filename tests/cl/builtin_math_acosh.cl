// acosh: within 4 ulp.
// kernel: floats
// global: 14
// arg: buf:float:14=1.0000001, 1.001, 1.1, 1.5, 2, 3, 10, 100, 100000, 1e10, 1e20, 1e30, 1.25,
//   3.4028235e38
// arg: buf:float:14
// expect: 0.00048828125, 0.04471868, 0.44356832, 0.9624236, 1.316958, 1.7627472, 2.993223, 5.298292,
//   12.206073, 23.718998, 46.74485, 69.7707, 0.6931472, 89.415985 ulp 4
// kernel: floats
// global: 6
// arg: buf:float:6=1, 0.5, -1, inf, -inf, nan
// arg: buf:float:6
// expect: 0, nan, nan, inf, nan, nan
// kernel: doubles
// needs: f64
// global: 14
// arg: buf:double:14=1.0000001, 1.001, 1.1, 1.5, 2, 3, 10, 100, 100000, 10000000000.0, 1e20, 1e30,
//   1.25, 1.7976931348623157e308
// arg: buf:double:14
// expect: 0.0004472135919037347, 0.04471763360830685, 0.4435682543851154, 0.9624236501192069,
//   1.3169578969248168, 1.762747174039086, 2.993222846126381, 5.298292365610485, 12.206072645505174,
//   23.7189981105004, 46.74484904044086, 69.77069997038132, 0.6931471805599453, 710.475860073944 ulp 4
// kernel: doubles
// needs: f64
// global: 6
// arg: buf:double:6=1, 0.5, -1, inf, -inf, nan
// arg: buf:double:6
// expect: 0, nan, nan, inf, nan, nan
// kernel: vectors
// needs: f64
// arg: buf:float:4=1.0000001, 1.001, 1.1, 1.5
// arg: buf:float:9
// expect: 0.00048828125, 0.04471868, 0.00048828125, 0.04471868, 0.44356832, 0.00048828125,
//   0.04471868, 0.44356832, 0.9624236 ulp 4
// arg: buf:double:2=1.0000001, 1.001
// arg: buf:double:2
// expect: 0.0004472135919037347, 0.04471763360830685 ulp 4
kernel void floats(global const float *x, global float *out) {
    size_t i = get_global_id(0);
    out[i] = acosh(x[i]);
}

#ifdef cl_khr_fp64
kernel void doubles(global const double *x, global double *out) {
    size_t i = get_global_id(0);
    out[i] = acosh(x[i]);
}

kernel void vectors(global const float *x, global float *out, global const double *dx, global double *wide) {
    vstore2(acosh(vload2(0, x)), 0, out);
    vstore3(acosh(vload3(0, x)), 0, out + 2);
    vstore4(acosh(vload4(0, x)), 0, out + 5);
    vstore2(acosh(vload2(0, dx)), 0, wide);
}
#endif
